/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "cli/csv_read.h"

static struct csv_file *open_text(const char *text)
{
	struct csv_file *f = NULL;
	struct kg_err err = {{0}};

	assert_int_equal(csv_open_memory("f.csv", text, strlen(text), &f, &err), 0);
	return f;
}

/* Records as "field|field;field|field;". */
static void expect_records(const char *text, const char *want)
{
	struct csv_file *f = open_text(text);
	struct csv_record r;
	struct kg_err err = {{0}};
	char got[512] = "";
	size_t at = 0;
	size_t i;
	int rc;

	while ((rc = csv_next(f, &r, &err)) == 1)
		for (i = 0; i < r.n; i++)
			at += (size_t)snprintf(got + at, sizeof(got) - at, "%.*s%s",
					       (int)r.fields[i].len, r.fields[i].text,
					       i + 1 == r.n ? ";" : "|");
	assert_int_equal(rc, 0);
	assert_string_equal(got, want);
	csv_close(f);
}

static void test_records_and_line_ends(void **state)
{
	(void)state;
	expect_records("", "");
	expect_records("\n\n", "");
	expect_records("a,b\n1,2\n", "a|b;1|2;");
	expect_records("a,b\r\n1,2", "a|b;1|2;");
	expect_records("a,b\r1,2\r", "a|b;1|2;");
	expect_records("a,\n,b\n,\n", "a|;|b;|;");
	expect_records("\xef\xbb\xbf"
		       "a\n1\n",
		       "a;1;");
	expect_records("\xef\xbb\xbf", "");
}

static void test_comments_and_blank_lines_are_left_out(void **state)
{
	(void)state;
	expect_records("# c, d\na\n  # x\n \t\n\r\n\"#q\"\nb # no comment\n#",
		       "a;#q;b # no comment;");
}

static void test_quotes(void **state)
{
	(void)state;
	expect_records("\"a,b\",\"c\"\"d\",\"\"\n", "a,b|c\"d|;");
	expect_records("\"two\nlines\",x\r\n\"y\"\r\n", "two\nlines|x;y;");
}

static void expect_broken(const char *text, const char *place)
{
	struct csv_file *f = open_text(text);
	struct csv_record r;
	struct kg_err err = {{0}};
	int rc;

	do
		rc = csv_next(f, &r, &err);
	while (rc == 1);
	assert_int_equal(rc, KG_EINVALID);
	assert_memory_equal(err.text, place, strlen(place));
	csv_close(f);
}

static void test_broken_quotes_name_their_place(void **state)
{
	(void)state;
	expect_broken("a\nb,\"open\n\n", "f.csv:2:3: ");
	expect_broken("\"a\"b\n", "f.csv:1:1: ");
	expect_broken("\"x\ny\",1\nq\"r\n", "f.csv:3:1: ");
	expect_broken("\"x\r\ny\",q\"r\n", "f.csv:2:4: ");
}

static int number(const char *text, double *ret, struct kg_err *err)
{
	struct csv_file *f = open_text(text);
	struct csv_record r;
	int rc;

	assert_int_equal(csv_next(f, &r, err), 1);
	rc = csv_number(f, &r.fields[0], ret, err);
	csv_close(f);
	return rc;
}

static void test_numbers_are_the_nearest_double(void **state)
{
	static const char *const texts[] = {
		"0",
		"-0",
		"1",
		"+1",
		"1.",
		".5",
		"-12.75e-3",
		"1e22",
		"1e23",
		"123456789012345678901234567890",
		"0.1",
		"4.35",
		"2.2250738585072011e-308",
		"5e-324",
		"1.7976931348623157e308",
		"9007199254740993",
		"0.000000000000000000000000000000000000000000000000000000000000000000001",
		"100000000000000000000000000000000000e-30",
		"1e-400",
		"3.58542e+06",
		"18446744073709551615",
		"18446744073709551616.5",
	};
	struct kg_err err = {{0}};
	double got = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		double want = strtod(texts[i], NULL);

		assert_int_equal(number(texts[i], &got, &err), 0);
		assert_memory_equal(&got, &want, sizeof(got));
	}
	assert_int_equal(number(" \t7\t ", &got, &err), 0);
	assert_true(got == 7);
	assert_int_equal(number("\" 7\"", &got, &err), 0);
	assert_true(got == 7);
}

static void test_random_numbers_read_back(void **state)
{
	uint64_t s = 42;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		struct kg_err err = {{0}};
		char text[64];
		double v, got = 0;

		s = s * 6364136223846793005u + 1442695040888963407u;
		memcpy(&v, &s, sizeof(v));
		if (!isfinite(v))
			continue;
		(void)snprintf(text, sizeof(text), "%.*g", 1 + (int)(s % 19), v);
		v = strtod(text, NULL);
		if (!isfinite(v))
			continue;
		assert_int_equal(number(text, &got, &err), 0);
		assert_memory_equal(&got, &v, sizeof(v));
	}
}

static void test_what_is_no_finite_number_is_refused_with_its_place(void **state)
{
	static const char *const texts[] = {"nan",   "-NaN",   "inf",  "Infinity", "+INF",
					    "1e309", "-1e400", "0x10", "5x",	   "1e",
					    "1e+",   ".",      "-",    "1 2",	   "1;2",
					    "e5",    "12abc",  "--1",  "1_000"};
	struct kg_err err = {{0}};
	double got = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(number(texts[i], &got, &err), KG_EINVALID);
		assert_memory_equal(err.text, "f.csv:1:1: ", 11);
	}
	assert_int_equal(number("  x", &got, &err), KG_EINVALID);
	assert_memory_equal(err.text, "f.csv:1:3: ", 11);
	assert_int_equal(number("\"\"", &got, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "empty"));
}

static void test_a_locale_with_a_comma_changes_nothing(void **state)
{
	struct kg_err err = {{0}};
	double got = 0;

	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		skip();
	assert_int_equal(number("0.12345678901234567890123", &got, &err), 0);
	(void)setlocale(LC_ALL, "C");
	assert_true(fabs(got - 0.12345678901234568) < 1e-17);
}

static void test_binary_and_missing_files_are_refused(void **state)
{
	struct csv_file *f = NULL;
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(csv_open_memory("f", "a\0b", 3, &f, &err), KG_EINVALID);
	assert_int_equal(csv_open_memory("f",
					 "\xff\xfe"
					 "1\0",
					 4, &f, &err),
			 KG_EINVALID);
	assert_non_null(strstr(err.text, "UTF-16"));
	assert_true(csv_open("/nonexistent/x.csv", &f, &err) < 0);
	assert_non_null(strstr(err.text, "/nonexistent/x.csv"));
	assert_true(csv_open("/", &f, &err) < 0);
	csv_close(NULL);
}

static void test_words_and_headers(void **state)
{
	struct csv_file *f = open_text(" Value ,\"nan\",x1,-3e5\n");
	struct csv_record r;
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(csv_next(f, &r, &err), 1);
	assert_true(csv_is(&r.fields[0], "value"));
	assert_false(csv_is(&r.fields[0], "val"));
	assert_false(csv_looks_number(&r.fields[0]));
	assert_true(csv_looks_number(&r.fields[1]));
	assert_false(csv_looks_number(&r.fields[2]));
	assert_true(csv_looks_number(&r.fields[3]));
	csv_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_and_line_ends),
		cmocka_unit_test(test_comments_and_blank_lines_are_left_out),
		cmocka_unit_test(test_quotes),
		cmocka_unit_test(test_broken_quotes_name_their_place),
		cmocka_unit_test(test_numbers_are_the_nearest_double),
		cmocka_unit_test(test_random_numbers_read_back),
		cmocka_unit_test(test_what_is_no_finite_number_is_refused_with_its_place),
		cmocka_unit_test(test_a_locale_with_a_comma_changes_nothing),
		cmocka_unit_test(test_binary_and_missing_files_are_refused),
		cmocka_unit_test(test_words_and_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
