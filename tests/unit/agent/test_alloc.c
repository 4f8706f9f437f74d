/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each constructor with the 1st, 2nd, ... allocation failing: an error, nothing leaked (the
 * sanitizer build looks), nothing written to the result. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/boot_fetch.h"
#include "agent/boot_manifest.h"
#include "agent/boot_verify.h"
#include "agent/document.h"
#include "agent/provenance_facts.h"
#include "agent/settings.h"
#include "agent/spool.h"
#include "agent/state.h"
#include "artifact.h"
#include "common/file.h"
#include "fake_root.h"
#include "tests/lib/alloc_fault.h"

static void test_manifest(void **state)
{
	struct boot_manifest m;
	struct artifact a;
	struct kg_err err;
	unsigned n;
	int rc;

	(void)state;
	artifact_make(&a);
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = boot_manifest_parse((const char *)a.blobs[0].bytes, a.blobs[0].len, &m, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	boot_manifest_deinit(&m);
	artifact_free(&a);
}

static void test_module_order(void **state)
{
	char *items[] = {(char *)"b"};
	struct kg_texts names = {items, 1}, order;
	struct kg_err err;
	unsigned n;
	int rc;

	(void)state;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = boot_modules_order("k/a.ko:\nk/b.ko: k/a.ko\n", "", &names, &order, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(order.n, 2);
	kg_texts_deinit(&order);
}

static void test_spool_and_state(void **state)
{
	char dir[] = "/tmp/kgrid-alloc-XXXXXX", path[64];
	struct agent_state s = {.saved = {.boot = 3, .stage = AGENT_RUN, .host_boot_id = "x"}}, got;
	struct kg_err err;
	struct spool *spool;
	unsigned n;
	int rc;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/state", dir);
	s.order = (uint8_t *)strdup("abc");
	s.order_len = 3;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = spool_open(dir, 3, 1 << 20, true, &spool, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	spool_free(spool);
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = agent_state_save(path, &s, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = agent_state_load(path, &got, &err);
		if (!alloc_fault_disarm())
			break;
		assert_true(rc < 0);
	}
	assert_int_equal(rc, 0);
	agent_state_deinit(&got);
	agent_state_deinit(&s);
	assert_int_equal(kg_remove_tree(dir, NULL), 0);
}

static void test_verification(void **state)
{
	struct boot_expected e = {.boot = 1, .nonce = "0123456789abcdef0123456789abcdef"};
	struct boot_seen s = {.cmdline = "kgrid.boot=1.0123456789abcdef0123456789abcdef"};
	struct kg_err why;
	enum kg_outcome o;
	unsigned n;

	(void)state;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		o = boot_verify(&e, &s, &why);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(o, KG_OUTCOME_HARNESS_ERROR); /* never a wrong kernel */
	}
	assert_int_equal(o, KG_OUTCOME_PASS);
}

static void test_fetch(void **state)
{
	static const struct boot_fetch_ops ops = {0};
	char *items[] = {(char *)"a", (char *)"b"};
	struct kg_texts names = {items, 2};
	struct boot_fetch *f;
	unsigned n;

	(void)state;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		f = boot_fetch_new("/nosuch", "00", &names, &ops, NULL);
		if (!alloc_fault_disarm())
			break;
		assert_null(f);
	}
	assert_non_null(f);
	boot_fetch_free(f);
}

/* What a fake machine says with the n-th allocation failing is an error, never fewer facts. */
static void test_facts_of_a_boot_and_of_a_moment(void **state)
{
	struct provenance_input in = {.want_kallsyms = true};
	struct document_list docs = {.n = 0};
	struct fact_list l = {0};
	struct fake_root root;
	unsigned n;
	size_t whole;
	int rc;

	(void)state;
	fake_root_init(&root);
	fake_intel(&root);
	fake_put(&root, "/proc/kallsyms", "ffffffff81000000 T _text\n");
	in.root = root.dir;
	assert_int_equal(provenance_boot(&in, &l, &docs), 0);
	whole = l.n;
	fact_list_deinit(&l);
	document_list_deinit(&docs);
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = provenance_boot(&in, &l, &docs);
		if (!alloc_fault_disarm())
			break;
		if (rc == 0) { /* libc and zstd get along without some of theirs */
			assert_int_equal(l.n, whole);
			assert_int_equal(docs.n, 5);
			fact_list_deinit(&l);
			document_list_deinit(&docs);
		} else {
			assert_int_equal(rc, -ENOMEM);
		}
	}
	assert_int_equal(rc, 0);
	fact_list_deinit(&l);
	document_list_deinit(&docs);
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = provenance_moment(root.dir, NULL, &l);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	fact_list_deinit(&l);
	fake_root_deinit(&root);
}

/* Settings that are not offered would be called impossible on this machine. */
static void test_settings(void **state)
{
	static const struct kg_param_value wanted[] = {{(char *)"governor", (char *)"performance"}};
	struct fake_root root;
	struct kg_params p;
	struct kg_err err;
	unsigned n;
	int rc;

	(void)state;
	fake_root_init(&root);
	fake_intel(&root);
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = settings_offer(root.dir, &p);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	assert_true(n > 2);
	kg_params_deinit(&p);
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = settings_apply_all(root.dir, wanted, 1, NULL, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	fake_root_deinit(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifest),
		cmocka_unit_test(test_module_order),
		cmocka_unit_test(test_spool_and_state),
		cmocka_unit_test(test_verification),
		cmocka_unit_test(test_fetch),
		cmocka_unit_test(test_facts_of_a_boot_and_of_a_moment),
		cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
