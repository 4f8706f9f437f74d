/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every vector of tests/data/lsm_vectors.json is a test of its own, named by its id. None can be
 * left out unseen: the tests are counted against the ids in the file's own text.
 */
#include "coordinator/plan/lsm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/file.h"
#include "common/str.h"

#define VECTORS KGRID_TEST_DATA "/lsm_vectors.json"

struct all {
	json_t *vectors;
	size_t in_text; /* ids in the text of the file */
};

static const char *text_of(json_t *v, const char *key)
{
	const char *text = json_string_value(json_object_get(v, key));

	return text ? text : "";
}

static void add_names(struct lsm_kernel *k, json_t *names)
{
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
	{
		enum lsm_id id = lsm_parse_name(json_string_value(name));

		assert_int_not_equal(id, LSM_COUNT);
		k->builtin |= LSM_BIT(id);
	}
}

static void read_kernel(json_t *v, struct lsm_kernel *k)
{
	memset(k, 0, sizeof(*k));
	(void)snprintf(k->release, sizeof(k->release), "%s", text_of(v, "kernel"));
	(void)snprintf(k->config_lsm, sizeof(k->config_lsm), "%s", text_of(v, "config_lsm"));
	(void)snprintf(k->default_security, sizeof(k->default_security), "%s",
		       text_of(v, "default_security"));
	add_names(k, json_object_get(v, "builtin"));
	add_names(k, json_object_get(v, "early"));
	k->lockdown_early = json_array_size(json_object_get(v, "early")) > 0;
	k->selinux_bootparam = json_is_true(json_object_get(v, "selinux_bootparam"));
	if (strstr(k->release, "(Ubuntu)"))
		k->profile = LSM_PROFILE_UBUNTU;
}

/* Those that are in make up the list, every entry has a reason of its side, and no name has two. */
static void check_entries(const struct lsm_list *l)
{
	struct kg_str in = {0};
	size_t i, k;

	for (i = 0; i < l->n; i++) {
		const struct lsm_entry *e = &l->entries[i];

		assert_int_equal(e->in, e->reason <= LSM_IN_LAST);
		assert_int_not_equal(e->why[0], '\0');
		for (k = 0; k < i; k++)
			assert_string_not_equal(e->name, l->entries[k].name);
		if (e->in)
			kg_str_addf(&in, "%s%s", in.len ? "," : "", e->name);
	}
	assert_string_equal(kg_str_text(&in), l->effective);
	kg_str_deinit(&in);
}

/* The kernel's own line, where the version prints one, holds integrity too, which is never shown. */
static void check_printed(const struct lsm_list *l, const char *printed)
{
	bool hidden = false;
	size_t i;

	for (i = 0; i < l->n; i++)
		hidden = hidden || l->entries[i].reason == LSM_OUT_HIDDEN;
	assert_int_equal(hidden, strstr(printed, "integrity") != NULL);
}

static void test_vector(void **state)
{
	json_t *v = *state;
	struct lsm_kernel k;
	struct lsm_list list;
	struct kg_err err = {{0}};

	read_kernel(v, &k);
	assert_int_equal(lsm_resolve(&k, text_of(v, "cmdline"), &list, &err), 0);
	assert_string_equal(list.effective, text_of(v, "expect"));
	check_entries(&list);
	if (json_is_string(json_object_get(v, "expect_dmesg_initializing")))
		check_printed(&list, text_of(v, "expect_dmesg_initializing"));
	lsm_list_deinit(&list);
}

static void test_every_vector_of_the_file_is_a_test(void **state)
{
	const struct all *all = *state;
	size_t n = json_array_size(all->vectors);
	size_t i, k;

	assert_int_equal(n, all->in_text);
	assert_true(n >= 253); /* those that there were when the file was taken over */
	for (i = 0; i < n; i++) {
		const char *id = text_of(json_array_get(all->vectors, i), "id");

		assert_int_equal(strncmp(id, "lsm-", 4), 0);
		for (k = 0; k < i; k++)
			assert_string_not_equal(id, text_of(json_array_get(all->vectors, k), "id"));
	}
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static json_t *read_vectors(size_t *ret_in_text)
{
	struct kg_err err = {{0}};
	json_t *root;
	char *text;
	size_t len;

	if (kg_file_read(VECTORS, 4U << 20, &text, &len, &err) < 0)
		return NULL;
	*ret_in_text = count(text, "\"id\":");
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return root;
}

int main(void)
{
	struct all all = {0};
	json_t *root = read_vectors(&all.in_text);
	struct CMUnitTest *tests;
	size_t i, n;
	int rc;

	all.vectors = json_object_get(root, "vectors");
	n = json_array_size(all.vectors);
	tests = calloc(n + 1, sizeof(*tests));
	if (n == 0 || !tests) {
		(void)fprintf(stderr, "cannot read %s\n", VECTORS);
		return 1;
	}
	for (i = 0; i < n; i++) {
		json_t *v = json_array_get(all.vectors, i);

		tests[i].name = text_of(v, "id");
		tests[i].test_func = test_vector;
		tests[i].initial_state = v;
	}
	tests[n].name = "test_every_vector_of_the_file_is_a_test";
	tests[n].test_func = test_every_vector_of_the_file_is_a_test;
	tests[n].initial_state = &all;
	rc = _cmocka_run_group_tests("lsm_vectors", tests, n + 1, NULL, NULL);
	free(tests);
	json_decref(root);
	return rc;
}
