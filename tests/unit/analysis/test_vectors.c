/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every case of tests/data/stats_vectors.json is a test of its own, named by its id; and what the
 * runner itself says of cases that are wrong. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "coordinator/analysis/vectors.h"

#define CASES_MIN 110

static void test_case(void **state)
{
	const struct vectors_case *c = *state;

	if (c->result != VECTORS_PASS)
		fail_msg("%s: %s", vectors_result_name(c->result), c->text);
}

/* The one case {op, input, expect} with rtol 1e-9; its text, or that of the whole file's error. */
static enum vectors_result run_one(const char *op, const char *input, const char *expect,
				   char *ret_text, size_t size)
{
	struct vectors_report r;
	struct kg_err err = {{0}};
	char file[2048];
	enum vectors_result result;
	int len = snprintf(file, sizeof(file),
			   "{\"cases\": [{\"id\": \"one\", \"op\": \"%s\", \"input\": %s, "
			   "\"expect\": %s, \"rtol\": 1e-9}]}",
			   op, input, expect);

	assert_in_range(len, 1, sizeof(file) - 1);
	if (vectors_run(file, (size_t)len, &r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.pass + r.fail + r.unknown, 1);
	result = r.cases[0].result;
	(void)snprintf(ret_text, size, "%s", r.cases[0].text);
	vectors_report_deinit(&r);
	return result;
}

static void test_what_is_expected_and_not_met_fails_with_both_numbers(void **state)
{
	static const struct {
		const char *op, *input, *expect, *text;
	} rows[] = {
		{"summary", "{\"x\": [1, 2, 3]}", "{\"mean\": 2.1}", "mean: expected 2.1"},
		{"summary", "{\"x\": [1, 2, 3]}", "{\"mean\": null}", "mean: expected null, got 2"},
		{"summary", "{\"x\": [1, 2, 3]}", "{\"mean\": \"2\"}", "mean: expected \"2\""},
		{"summary", "{\"x\": [1]}", "{\"stddev\": 0}", "stddev: expected 0, got null"},
		{"summary", "{\"x\": [1]}", "{\"kurtosis\": 0}",
		 "kurtosis: expected 0, got nothing"},
		{"summary", "{\"x\": [1, \"NaN\"]}", "{\"mean\": 1}", "refused: 'x[1]' is nan"},
		{"summary", "{\"x\": []}", "{\"error\": \"NaN refused\"}", "error: expected"},
		{"summary", "{\"x\": [1, 2]}", "{\"error\": \"NaN refused\"}",
		 "got \"no refusal\""},
		{"summary", "{\"x\": [1, \"two\"]}", "{\"error\": \"refused\"}",
		 "'x[1]' is no number"},
		{"summary", "{\"y\": [1]}", "{\"error\": \"refused\"}", "input 'x' is missing"},
		{"welch", "{\"x\": [1, 2], \"y\": 3}", "{\"p\": 1}",
		 "input 'y' is of another type"},
		{"mwu_min_p", "{\"n\": [1, 2]}", "{\"p\": [1]}", "p: expected [1]"},
		{"mwu_min_p", "{\"n\": [3, 4]}", "{\"p\": [0.1, 0.03]}", "p[1]: expected 0.0"},
		{"netperf_interval", "{\"x\": [1, 2], \"level\": 95, \"width_pct\": 5}",
		 "{\"reached\": true}", "reached: expected true, got false"},
		{"prng_splitmix64", "{\"seed\": 0}", "{\"first8_hex\": [\"0\"]}", "first8_hex: "},
	};
	char text[600];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(run_one(rows[i].op, rows[i].input, rows[i].expect, text,
					 sizeof(text)),
				 VECTORS_FAIL);
		if (!strstr(text, rows[i].text))
			fail_msg("'%s' has no '%s'", text, rows[i].text);
	}
}

static void test_an_unknown_op_is_neither_a_pass_nor_a_fail(void **state)
{
	char text[600];

	(void)state;
	assert_int_equal(run_one("anova", "{}", "{\"p\": 1}", text, sizeof(text)), VECTORS_UNKNOWN);
	assert_string_equal(text, "unknown op 'anova'");
}

static void test_malformed_files_are_refused_with_the_place(void **state)
{
	static const struct {
		const char *file, *text;
	} rows[] = {
		{"", "line 1"},
		{"{\"cases\": [\n{\"id\": 1,,}]}", "line 2, column 10"},
		{"[]", "no JSON object"},
		{"{}", "no 'cases'"},
		{"{\"cases\": {}}", "no 'cases'"},
		{"{\"cases\": [7]}", "case 1 is no object"},
		{"{\"cases\": [{}]}", "case 1 ('') has no 'id'"},
		{"{\"cases\": [{\"id\": \"a\"}]}", "case 1 ('a') has no 'op'"},
		{"{\"cases\": [{\"id\": \"a\", \"op\": \"b\"}]}", "('a') has no 'input'"},
		{"{\"cases\": [{\"id\": \"a\", \"op\": \"b\", \"input\": {}, \"expect\": {}}]}",
		 "('a') has no 'expect'"},
		{"{\"cases\": [{\"id\": \"a\", \"op\": \"b\", \"input\": {}, \"expect\": {\"p\": "
		 "1}, "
		 "\"rtol\": -1}]}",
		 "'rtol' of case 1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vectors_report r;
		struct kg_err err = {{0}};

		assert_int_equal(vectors_run(rows[i].file, strlen(rows[i].file), &r, &err),
				 KG_EINVALID);
		if (!strstr(err.text, rows[i].text))
			fail_msg("'%s' has no '%s'", err.text, rows[i].text);
	}
}

static void test_a_byte_order_mark_and_no_cases_are_fine(void **state)
{
	static const char file[] = "\xef\xbb\xbf{\"cases\": []}\r\n";
	struct vectors_report r;
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(vectors_run(file, sizeof(file) - 1, &r, &err), 0);
	assert_int_equal(r.n, 0);
	vectors_report_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest own[] = {
		cmocka_unit_test(test_what_is_expected_and_not_met_fails_with_both_numbers),
		cmocka_unit_test(test_an_unknown_op_is_neither_a_pass_nor_a_fail),
		cmocka_unit_test(test_malformed_files_are_refused_with_the_place),
		cmocka_unit_test(test_a_byte_order_mark_and_no_cases_are_fine),
	};
	struct vectors_report r;
	struct kg_err err = {{0}};
	struct CMUnitTest *tests;
	char *text, (*names)[96];
	size_t len;
	int rc;

	if (kg_file_read(KGRID_TEST_DATA "/stats_vectors.json", 1U << 24, &text, &len, &err) < 0 ||
	    vectors_run(text, len, &r, &err) < 0 || r.n < CASES_MIN) {
		(void)fprintf(stderr, "cannot read the vectors: %s\n", err.text);
		return 1;
	}
	tests = calloc(r.n + 1, sizeof(*tests));
	names = calloc(r.n + 1, sizeof(*names));
	for (size_t i = 0; tests && names && i < r.n; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "test_%s", r.cases[i].id);
		tests[i].name = names[i];
		tests[i].test_func = test_case;
		tests[i].initial_state = &r.cases[i];
	}
	rc = tests && names ? _cmocka_run_group_tests("stats_vectors", tests, r.n, NULL, NULL) : 1;
	rc += cmocka_run_group_tests(own, NULL, NULL);
	free(tests);
	free(names);
	free(text);
	vectors_report_deinit(&r);
	return rc;
}
