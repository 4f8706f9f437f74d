/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid stat vectors: its lines, its JSON and its exit codes. */
#include "tests/lib/cmocka_all.h"

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"

#define GOOD                                                                                       \
	"{\"id\": \"a\", \"op\": \"summary\", \"input\": {\"x\": [1, 3]}, \"expect\": {\"mean\": " \
	"2}}"
#define BAD                                                                                        \
	"{\"id\": \"b\", \"op\": \"summary\", \"input\": {\"x\": [1, 3]}, \"expect\": {\"mean\": " \
	"1}}"
#define NEW "{\"id\": \"c\", \"op\": \"anova\", \"input\": {}, \"expect\": {\"p\": 1}}"

struct output {
	char *out, *err;
	int rc;
};

static struct output run_path(const char *path, bool json)
{
	struct output o = {0};
	size_t n_out, n_err;
	struct cli cli = {.json = json, .width = 80};
	struct cli_args args = {.operands = {path}, .n_operands = 1};

	cli.out = open_memstream(&o.out, &n_out);
	cli.err = open_memstream(&o.err, &n_err);
	assert_non_null(cli.out);
	assert_non_null(cli.err);
	o.rc = cmd_stat_vectors(&cli, &args);
	(void)fclose(cli.out);
	(void)fclose(cli.err);
	return o;
}

static struct output run(const char *cases, bool json)
{
	char path[] = "/tmp/kgrid-vectors-XXXXXX";
	int fd = mkstemp(path);
	struct output o;

	assert_true(fd >= 0);
	assert_true(dprintf(fd, "{\"cases\": [%s]}", cases) > 0);
	(void)close(fd);
	o = run_path(path, json);
	(void)unlink(path);
	return o;
}

static void release(struct output *o)
{
	free(o->out);
	free(o->err);
}

static void test_each_case_has_a_line_and_the_total_the_last(void **state)
{
	struct output o = run(GOOD "," BAD "," NEW, false);

	(void)state;
	assert_string_equal(o.out, "pass     a\n"
				   "fail     b  mean: expected 1, got 2.0\n"
				   "unknown  c  unknown op 'anova'\n"
				   "3 cases: 1 pass, 1 fail, 1 unknown\n");
	assert_int_equal(o.rc, CLI_EXIT_NO);
	release(&o);
}

static void test_exit_codes(void **state)
{
	static const struct {
		const char *cases, *err;
		int rc;
	} rows[] = {
		{GOOD, "", CLI_EXIT_OK},
		{BAD, "", CLI_EXIT_NO},
		{GOOD "," NEW, "", CLI_EXIT_NO},
		{"", "no case in it", CLI_EXIT_NODATA},
		{"{}", "case 1 ('') has no 'id'", CLI_EXIT_USAGE},
		{"{,}", "line 1, column", CLI_EXIT_USAGE},
	};
	struct output o;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		o = run(rows[i].cases, false);
		assert_int_equal(o.rc, rows[i].rc);
		assert_contains(o.err, rows[i].err);
		release(&o);
	}
	o = run_path("/nowhere/at/all.json", false);
	assert_int_equal(o.rc, CLI_EXIT_USAGE);
	assert_contains(o.err, "/nowhere/at/all.json");
	release(&o);
}

static void test_json_counts_and_lists_the_same(void **state)
{
	struct output o = run(GOOD "," BAD "," NEW, true);
	json_t *root = json_loads(o.out, 0, NULL), *c;

	(void)state;
	assert_non_null(root);
	assert_int_equal(json_integer_value(json_object_get(root, "total")), 3);
	assert_int_equal(json_integer_value(json_object_get(root, "pass")), 1);
	assert_int_equal(json_integer_value(json_object_get(root, "fail")), 1);
	assert_int_equal(json_integer_value(json_object_get(root, "unknown")), 1);
	c = json_array_get(json_object_get(root, "cases"), 1);
	assert_string_equal(json_string_value(json_object_get(c, "id")), "b");
	assert_string_equal(json_string_value(json_object_get(c, "op")), "summary");
	assert_string_equal(json_string_value(json_object_get(c, "result")), "fail");
	assert_contains(json_string_value(json_object_get(c, "text")), "expected 1");
	assert_int_equal(o.rc, CLI_EXIT_NO);
	json_decref(root);
	release(&o);
	o = run("", true); /* a document all the same */
	root = json_loads(o.out, 0, NULL);
	assert_non_null(root);
	assert_int_equal(o.rc, CLI_EXIT_NODATA);
	json_decref(root);
	release(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_case_has_a_line_and_the_total_the_last),
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_json_counts_and_lists_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
