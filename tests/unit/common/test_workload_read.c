/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>
#include <stdio.h>

#include "common/str.h"
#include "common/workload.h"
#include "tests/lib/alloc_fault.h"

static struct kg_metric_decl metric(enum kg_read_kind kind, const char *pattern,
				    enum kg_read_which which)
{
	struct kg_metric_decl m = {.read_kind = kind, .which = which};

	m.name = (char *)(uintptr_t) "m";
	m.pattern = (char *)(uintptr_t)pattern;
	return m;
}

/* Values joined by blanks, or the complaint. */
static const char *read_as(enum kg_read_kind kind, const char *pattern, enum kg_read_which which,
			   const char *output)
{
	static char text[KG_ERR_TEXT_MAX];
	struct kg_metric_decl m = metric(kind, pattern, which);
	struct kg_err err = {{0}};
	double *values = NULL;
	size_t n = 0, i;
	int len = 0;

	if (kg_metric_read(&m, output, &values, &n, &err) < 0) {
		assert_null(values);
		(void)snprintf(text, sizeof(text), "%s", err.text);
		return text;
	}
	for (i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%s%g", i ? " " : "",
				values[i]);
	free(values);
	return text;
}

#define KEY(pattern, output)   read_as(KG_READ_KEYVAL, pattern, KG_READ_ONE, output)
#define LINE(pattern, output)  read_as(KG_READ_LINE, pattern, KG_READ_ONE, output)
#define REGEX(pattern, output) read_as(KG_READ_REGEX, pattern, KG_READ_ONE, output)

static void test_keyval(void **state)
{
	(void)state;
	assert_string_equal(KEY("T", "A=1\nT=2543.10\nT_UNITS=10^6bits/s\n"), "2543.1");
	assert_string_equal(KEY("T", "  T=5\r\n"), "5");
	assert_string_equal(KEY("T", "T=5 MB/s"), "5");
	assert_string_equal(KEY("T", "XT=5\nT =6\nT\n"),
			    "metric 'm': not found in the output (keyval 'T')");
	assert_string_equal(KEY("T", "T=\n"), "metric 'm': line 1: '' is not a number");
}

static void test_line(void **state)
{
	(void)state;
	assert_string_equal(LINE("Time: {value}", "Running\nTime: 0.865\n"), "0.865");
	assert_string_equal(LINE("Time: {value}", "Time:     0.865  "), "0.865");
	assert_string_equal(LINE("{value} ops/sec", "\n   1351909 ops/sec\n"), "1.35191e+06");
	assert_string_equal(LINE("Total time: {value} [sec]", "     Total time: 0.173 [sec]"),
			    "0.173");
	assert_string_equal(LINE("rate={value}MiB", "rate=3MiB"), "3");
	assert_string_equal(LINE("{value}", "3.365\n"), "3.365");
	assert_string_equal(LINE("Time: {value}", "Time: 1 2\nXTime: 3\nTime:\n"),
			    "metric 'm': not found in the output (line 'Time: {value}')");
}

static void test_regex_works_within_one_line(void **state)
{
	(void)state;
	assert_string_equal(REGEX("^ +([0-9.]+) ops$", "x\n  12.5 ops\n"), "12.5");
	assert_string_equal(REGEX("a(.*)b", "a1\n2b"),
			    "metric 'm': not found in the output (regex 'a(.*)b')");
	assert_string_equal(REGEX("x(1)?", "x"), "metric 'm': line 1: the group is empty");
}

static void test_what_is_no_measurement_is_refused(void **state)
{
	(void)state;
	assert_string_equal(KEY("T", "T=nan"), "metric 'm': line 1: 'nan' is not a number");
	assert_string_equal(KEY("T", "T=inf"), "metric 'm': line 1: 'inf' is not a number");
	assert_string_equal(KEY("T", "T=-1"), "metric 'm': line 1: '-1' is negative");
	assert_string_equal(KEY("T", "T=-0"), "metric 'm': line 1: '-0' is negative");
	assert_string_equal(KEY("T", "T=1e999"), "metric 'm': line 1: '1e999' is not a number");
	assert_string_equal(KEY("T", "T=1,351"), "metric 'm': line 1: '1,351' is not a number");
	assert_string_equal(KEY("T", "T=0x10"), "metric 'm': line 1: '0x10' is not a number");
	assert_string_equal(KEY("T", ""), "metric 'm': not found in the output (keyval 'T')");
}

static void test_which_of_several_matches(void **state)
{
	static const char output[] = "T=1\nT=2\n\nT=3\n";

	(void)state;
	assert_string_equal(read_as(KG_READ_KEYVAL, "T", KG_READ_ONE, output),
			    "metric 'm': expected once, found again in line 2 (first in line 1)");
	assert_string_equal(read_as(KG_READ_KEYVAL, "T", KG_READ_FIRST, output), "1");
	assert_string_equal(read_as(KG_READ_KEYVAL, "T", KG_READ_LAST, output), "3");
	assert_string_equal(read_as(KG_READ_KEYVAL, "T", KG_READ_EACH, output), "1 2 3");
}

static void test_very_long_lines_are_passed_over(void **state)
{
	struct kg_str s = {0};
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		kg_str_add(&s, "junk");
	kg_str_add(&s, "\nT=4\n");
	assert_string_equal(KEY("T", kg_str_text(&s)), "4");
	kg_str_deinit(&s);
}

static void test_out_of_memory_leaks_nothing(void **state)
{
	struct kg_metric_decl m = metric(KG_READ_LINE, "T {value}", KG_READ_EACH);
	struct kg_err err;
	double *values;
	unsigned n;
	size_t count;
	int rc;

	(void)state;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = kg_metric_read(&m, "T 1\nT 2\nT 3\nT 4\nT 5\nT 6\nT 7\nT 8\nT 9\n", &values,
				    &count, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(n, 6);
	assert_int_equal(count, 9);
	free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keyval),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_regex_works_within_one_line),
		cmocka_unit_test(test_what_is_no_measurement_is_refused),
		cmocka_unit_test(test_which_of_several_matches),
		cmocka_unit_test(test_very_long_lines_are_passed_over),
		cmocka_unit_test(test_out_of_memory_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
