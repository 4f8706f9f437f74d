/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/workload_registry.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/workload_port.h"
#include "common/file.h"

struct fixture {
	char dir[64], bin[80], path[96], notes[80];
	struct digests *d;
	struct workload_registry r;
};

#define DECLARATION(name, program)                                                          \
	"name: " name "\nparameters: {}\nrequires: [" program "]\ncommand: [" program "]\n" \
	"metrics:\n  - {name: v, unit: s, direction: lower, read: {keyval: V}}\n"

static void put(const char *dir, const char *name, const char *text, mode_t mode)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(kg_file_replace(path, text, strlen(text), mode, NULL), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/kgrid-registry-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->bin, sizeof(f->bin), "%s/bin", f->dir);
	(void)snprintf(f->path, sizeof(f->path), "/nosuch:%s", f->bin);
	(void)snprintf(f->notes, sizeof(f->notes), "%s/notes", f->dir);
	assert_int_equal(mkdir(f->bin, 0755), 0);
	put(f->bin, "tool", "#!/bin/sh\n", 0755);
	put(f->bin, "plain", "not executable", 0644);
	put(f->dir, "good.yaml", DECLARATION("good", "tool"), 0644);
	put(f->dir, "lacking.yaml", DECLARATION("lacking", "tool, missing-tool, plain"), 0644);
	put(f->dir, "broken.yaml", "name: broken\nnonsense: 1\n", 0644);
	put(f->dir, "named.yaml", DECLARATION("other", "tool"), 0644);
	put(f->dir, "readme.txt", "no workload", 0644);
	f->d = digests_open(f->notes);
	assert_non_null(f->d);
	assert_int_equal(workload_registry_load(f->dir, f->path, f->d, &f->r, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	workload_registry_deinit(&f->r);
	digests_close(f->d);
	assert_int_equal(kg_remove_tree(f->dir, NULL), 0);
	free(f);
	return 0;
}

static void test_installed_programs_make_a_workload_available(void **state)
{
	struct fixture *f = *state;
	const struct workload_entry *e = workload_registry_find(&f->r, "good");

	assert_int_equal(f->r.n, 4);
	assert_non_null(e);
	assert_null(e->missing);
	assert_true(kg_sha256_hex_valid(e->digest));
	assert_null(workload_registry_find(&f->r, "readme"));
}

static void test_missing_programs_are_named(void **state)
{
	struct fixture *f = *state;
	const struct workload_entry *e = workload_registry_find(&f->r, "lacking");

	assert_non_null(strstr(e->missing, "program 'missing-tool' is not installed"));
	assert_non_null(strstr(e->missing, "program 'plain' is not installed"));
}

static void test_wrong_declaration_says_where(void **state)
{
	struct fixture *f = *state;

	assert_non_null(strstr(workload_registry_find(&f->r, "broken")->missing, "broken.yaml:"));
	assert_non_null(
		strstr(workload_registry_find(&f->r, "named")->missing, "declares 'other'"));
}

static void test_digest_changes_with_the_program(void **state)
{
	struct fixture *f = *state;
	struct workload_registry again;

	put(f->bin, "tool", "#!/bin/sh\necho\n", 0755);
	assert_int_equal(workload_registry_load(f->dir, f->path, f->d, &again, NULL), 0);
	assert_string_not_equal(workload_registry_find(&again, "good")->digest,
				workload_registry_find(&f->r, "good")->digest);
	workload_registry_deinit(&again);
}

static void test_digest_is_remembered_over_a_restart(void **state)
{
	struct fixture *f = *state;
	char first[KG_SHA256_HEX_SIZE], second[KG_SHA256_HEX_SIZE], path[128], *text;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/tool", f->bin);
	assert_int_equal(digests_file(f->d, path, first, NULL), 0);
	digests_close(f->d);
	assert_int_equal(kg_file_read(f->notes, 1 << 20, &text, &len, NULL), 0);
	assert_non_null(strstr(text, first));
	memset(strstr(text, first), 'a', 4); /* shows that the note is used */
	assert_int_equal(kg_file_replace(f->notes, text, len, 0600, NULL), 0);
	free(text);
	f->d = digests_open(f->notes);
	assert_int_equal(digests_file(f->d, path, second, NULL), 0);
	assert_memory_equal(second, "aaaa", 4);
}

/* What is told and run is what the digest stands for. */
static void test_declaration_that_changed_meanwhile_is_refused(void **state)
{
	struct fixture *f = *state;
	const struct workload_entry *e = workload_registry_find(&f->r, "good");
	struct kg_err err = {""};
	char *text;
	size_t len;

	assert_int_equal(workload_declaration(e, &text, &len, &err), 0);
	assert_string_equal(text, DECLARATION("good", "tool"));
	free(text);
	put(f->dir, "good.yaml", DECLARATION("good", "tool") "# more\n", 0644);
	assert_int_equal(workload_declaration(e, &text, &len, &err), KG_ESTATE);
	assert_non_null(strstr(err.text, "changed since this agent started"));
	e = workload_registry_find(&f->r, "broken");
	assert_int_equal(workload_declaration(e, &text, &len, &err), 0); /* to be shown */
	free(text);
}

static void test_only_absolute_names_may_have_a_slash(void **state)
{
	struct fixture *f = *state;
	char path[128], *found;

	(void)snprintf(path, sizeof(path), "%s/tool", f->bin);
	found = workload_find_program(path, "/nosuch");
	assert_string_equal(found, path);
	free(found);
	assert_null(workload_find_program("bin/tool", f->path));
	assert_null(workload_find_program("", f->path));
}

static void test_listening_port_is_seen_in_the_table(void **state)
{
	static const char table[] =
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n"
		"   1: 0100007F:1F91 0100007F:8000 01 00000000:00000000 00:00000000 00000000\n"
		"   2: 00000000:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n";

	(void)state;
	assert_true(workload_port_in_table(table, "127.0.0.1", 8080));
	assert_false(workload_port_in_table(table, "192.0.2.1", 8080)); /* nobody hears us there */
	assert_false(workload_port_in_table(table, "127.0.0.1", 8081)); /* connected */
	assert_true(workload_port_in_table(table, "192.0.2.1", 8082));	/* on all addresses */
	assert_false(workload_port_in_table(table, "127.0.0.1", 8083));
	assert_false(workload_port_in_table("", "127.0.0.1", 8080));
	assert_false(workload_port_in_table("heading", "127.0.0.1", 8080));
}

static void test_listening_port_of_ipv6_is_seen_in_its_table(void **state)
{
	static const char table[] =
		"  sl  local_address                         remote_address                st\n"
		"   0: 00000000000000000000000001000000:1F90 "
		"00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000\n"
		"   1: 0000000000000000FFFF00000100007F:1F91 "
		"00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000\n"
		"   2: 00000000000000000000000000000000:1F92 "
		"00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000\n";

	(void)state;
	assert_true(workload_port_in_table(table, "::1", 8080));
	assert_false(workload_port_in_table(table, "127.0.0.1", 8080));
	assert_true(workload_port_in_table(table, "127.0.0.1", 8081)); /* mapped */
	assert_false(workload_port_in_table(table, "127.0.0.2", 8081));
	assert_true(workload_port_in_table(table, "127.0.0.1", 8082));
	assert_true(workload_port_in_table(table, "2001:db8::1", 8082));
}

static void test_an_address_of_this_machine_is_known(void **state)
{
	(void)state;
	assert_true(workload_port_is_ours("127.0.0.1"));
	assert_false(workload_port_is_ours("192.0.2.254")); /* for documents only */
	assert_false(workload_port_is_ours("0.0.0.0"));
	assert_false(workload_port_is_ours("localhost"));
}

static void test_free_port_has_no_listener(void **state)
{
	uint16_t port = 0;

	(void)state;
	assert_int_equal(workload_port_free("127.0.0.1", &port), 0);
	assert_true(port >= 1024);
	assert_false(workload_port_listens("127.0.0.1", port));
	assert_int_equal(workload_port_free("192.0.2.254", &port), -EADDRNOTAVAIL);
	assert_int_equal(workload_port_free("localhost", &port), -EINVAL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_installed_programs_make_a_workload_available),
		T(test_missing_programs_are_named),
		T(test_wrong_declaration_says_where),
		T(test_digest_changes_with_the_program),
		T(test_digest_is_remembered_over_a_restart),
		T(test_declaration_that_changed_meanwhile_is_refused),
		T(test_only_absolute_names_may_have_a_slash),
		cmocka_unit_test(test_listening_port_is_seen_in_the_table),
		cmocka_unit_test(test_listening_port_of_ipv6_is_seen_in_its_table),
		cmocka_unit_test(test_an_address_of_this_machine_is_known),
		cmocka_unit_test(test_free_port_has_no_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
