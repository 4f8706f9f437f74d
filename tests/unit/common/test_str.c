/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "common/err.h"
#include "common/str.h"
#include "tests/lib/alloc_fault.h"

static void test_empty_buffer_gives_empty_text(void **state)
{
	struct kg_str s = {0};
	char *text;

	(void)state;
	assert_string_equal(kg_str_text(&s), "");
	text = kg_str_take(&s);
	assert_string_equal(text, "");
	free(text);
}

static void test_buffer_grows_and_formats(void **state)
{
	struct kg_str s = {0};
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		kg_str_addf(&s, "%d,", i % 10);
	kg_str_addn(&s, "xyz", 2);
	assert_false(s.failed);
	assert_int_equal(s.len, 2002);
	assert_string_equal(s.text + 1998, "9,xy");
	kg_str_clear(&s);
	assert_string_equal(kg_str_text(&s), "");
	kg_str_deinit(&s);
}

static void test_failed_allocation_is_sticky(void **state)
{
	struct kg_str s = {0};

	(void)state;
	alloc_fault_arm(1);
	kg_str_add(&s, "lost");
	assert_true(alloc_fault_disarm());
	kg_str_add(&s, "after");
	assert_true(s.failed);
	assert_null(kg_str_take(&s));
	assert_false(s.failed); /* ready for use again */
	kg_str_deinit(&s);
}

static void test_json_escapes_and_replaces_invalid_utf8(void **state)
{
	struct kg_str s = {0};

	(void)state;
	kg_str_add_json(&s, "a\"\\\n\t\x7f\xc3\xa4\xff\xe2\x82");
	assert_string_equal(kg_str_text(&s),
			    "\"a\\\"\\\\\\n\\u0009\\u007f\xc3\xa4\\ufffd\\ufffd\\ufffd\"");
	kg_str_deinit(&s);
}

static void test_streq_null_equals_only_null(void **state)
{
	(void)state;
	assert_true(kg_streq(NULL, NULL));
	assert_false(kg_streq(NULL, ""));
	assert_false(kg_streq("", NULL));
	assert_true(kg_streq("a", "a"));
	assert_true(kg_str_starts("abc", "ab"));
	assert_false(kg_str_starts("a", "ab"));
}

static void test_utf8_rfc3629(void **state)
{
	static const struct {
		const char *text;
		bool valid;
	} rows[] = {
		{"", true},
		{"plain", true},
		{"\xc3\xa4", true},
		{"\xe2\x82\xac", true},
		{"\xf0\x9f\x98\x80", true},
		{"\xf4\x8f\xbf\xbf", true},
		{"\xc0\x80", false},	     /* overlong */
		{"\xe0\x80\x80", false},     /* overlong */
		{"\xf0\x80\x80\x80", false}, /* overlong */
		{"\xed\xa0\x80", false},     /* surrogate */
		{"\xf4\x90\x80\x80", false}, /* above U+10FFFF */
		{"\xf5\x80\x80\x80", false},
		{"\x80", false},
		{"\xc3", false},
		{"\xe2\x82", false},
		{"a\xff", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (kg_utf8_valid(rows[i].text, strlen(rows[i].text)) != rows[i].valid)
			fail_msg("row %zu", i);
}

static void test_mended_text_is_utf8(void **state)
{
	static const struct {
		const char *text, *mended;
	} rows[] = {
		{"", ""},
		{"a\xe2\x82\xac", "a\xe2\x82\xac"},
		{"a\xe2\x82", "a"},
		{"a\xe2", "a"},
		{"'a\xe2\x82' is", "'a' is"}, /* cut by a precision in the middle of the text */
		{"\xf0\x9f\x98' x", "' x"},
		{"\xc3", ""},
		{"caf\xe9!", "caf!"},
		{"\x80"
		 "a",
		 "?a"},
		{"\xff\xfe", "??"},
		{"\xed\xa0\x80", "???"}, /* a surrogate */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[32];

		(void)snprintf(text, sizeof(text), "%s", rows[i].text);
		kg_utf8_mend(text);
		assert_string_equal(text, rows[i].mended);
	}
}

static void test_names_are_safe_as_file_names(void **state)
{
	char longest[65];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[63] = '\0';
	assert_true(kg_name_valid(longest));
	longest[63] = 'a';
	longest[64] = '\0';
	assert_false(kg_name_valid(longest));
	assert_true(kg_name_valid("6.12.117+deb12-cloud-amd64"));
	assert_true(kg_name_valid("_x"));
	assert_false(kg_name_valid(""));
	assert_false(kg_name_valid(".."));
	assert_false(kg_name_valid("-rf"));
	assert_false(kg_name_valid("a/b"));
	assert_false(kg_name_valid("a b"));
	assert_false(kg_name_valid("\xc3\xa4"));
}

static void test_suggest_only_what_is_close(void **state)
{
	static const char *const words[] = {"machines", "kernels", "workloads", "lsm"};

	(void)state;
	assert_string_equal(kg_suggest("machnes", words, 4), "machines");
	assert_string_equal(kg_suggest("kernel", words, 4), "kernels");
	assert_string_equal(kg_suggest("lms", words, 4), "lsm"); /* neighbours swapped */
	assert_string_equal(kg_suggest("lsn", words, 4), "lsm");
	assert_null(kg_suggest("budget", words, 4));
	assert_null(kg_suggest("", words, 4));
	assert_null(kg_suggest("x", words, 0));
}

static void test_parse_bytes(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(kg_parse_bytes("512", &v), 0);
	assert_int_equal(v, 512);
	assert_int_equal(kg_parse_bytes("64KiB", &v), 0);
	assert_int_equal(v, 65536);
	assert_int_equal(kg_parse_bytes("1.5MiB", &v), 0);
	assert_int_equal(v, 1572864);
	assert_int_equal(kg_parse_bytes("2GB", &v), 0);
	assert_int_equal(v, 2000000000);
	assert_int_equal(kg_parse_bytes("", &v), KG_EINVALID);
	assert_int_equal(kg_parse_bytes("KiB", &v), KG_EINVALID);
	assert_int_equal(kg_parse_bytes("-1", &v), KG_EINVALID);
	assert_int_equal(kg_parse_bytes("1 KiB", &v), KG_EINVALID);
	assert_int_equal(kg_parse_bytes("1kib", &v), KG_EINVALID);
	assert_int_equal(kg_parse_bytes("1.2.3", &v), KG_EINVALID);
	assert_int_equal(kg_parse_bytes("99999999999GiB", &v), KG_EINVALID);
}

static void test_sizes_in_another_spelling_are_told_what_there_is(void **state)
{
	static const char *const not_meant[] = {"",   "1",   "k",     "1KiB", "1kB",
						"1x", "1KX", "1Kbit", "x1K",  "1 KB"};
	size_t i;

	(void)state;
	assert_string_equal(kg_bytes_hint("1KB"), "; 'kB' is 1000 bytes, 'KiB' is 1024");
	assert_string_equal(kg_bytes_hint("64k"), "; 'kB' is 1000 bytes, 'KiB' is 1024");
	assert_string_equal(kg_bytes_hint("64kib"), "; 'kB' is 1000 bytes, 'KiB' is 1024");
	assert_string_equal(kg_bytes_hint("1.5M"), "; 'MB' is 1000 kB, 'MiB' is 1024 KiB");
	assert_string_equal(kg_bytes_hint("8Gb"), "; 'GB' is 1000 MB, 'GiB' is 1024 MiB");
	assert_string_equal(kg_bytes_hint("8tib"), "; 'TB' is 1000 GB, 'TiB' is 1024 GiB");
	for (i = 0; i < sizeof(not_meant) / sizeof(not_meant[0]); i++)
		assert_string_equal(kg_bytes_hint(not_meant[i]), "");
}

static void test_parse_duration(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(kg_parse_duration("10", &v), 0);
	assert_int_equal(v, 10000000000ULL);
	assert_int_equal(kg_parse_duration("250ms", &v), 0);
	assert_int_equal(v, 250000000ULL);
	assert_int_equal(kg_parse_duration("5m", &v), 0);
	assert_int_equal(v, 300000000000ULL);
	assert_int_equal(kg_parse_duration("4h", &v), 0);
	assert_int_equal(v, 14400000000000ULL);
	assert_int_equal(kg_parse_duration("2d", &v), 0);
	assert_int_equal(v, 172800000000000ULL);
	assert_int_equal(kg_parse_duration("1 h", &v), KG_EINVALID);
	assert_int_equal(kg_parse_duration("1w", &v), KG_EINVALID);
	assert_int_equal(kg_parse_duration("inf", &v), KG_EINVALID);
	assert_int_equal(kg_parse_duration("400000d", &v), KG_EINVALID);
}

static void test_parse_integers_take_the_whole_string(void **state)
{
	int64_t i;
	uint64_t u;

	(void)state;
	assert_int_equal(kg_parse_i64("-9223372036854775808", &i), 0);
	assert_true(i == INT64_MIN);
	assert_int_equal(kg_parse_u64("18446744073709551615", &u), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(kg_parse_u64("18446744073709551616", &u), KG_EINVALID);
	assert_int_equal(kg_parse_i64("9223372036854775808", &i), KG_EINVALID);
	assert_int_equal(kg_parse_u64("-1", &u), KG_EINVALID);
	assert_int_equal(kg_parse_u64(" 1", &u), KG_EINVALID);
	assert_int_equal(kg_parse_u64("+1", &u), KG_EINVALID);
	assert_int_equal(kg_parse_i64("1x", &i), KG_EINVALID);
	assert_int_equal(kg_parse_i64("", &i), KG_EINVALID);
	assert_int_equal(kg_parse_i64("-", &i), KG_EINVALID);
}

static void test_parse_double_is_finite_and_decimal(void **state)
{
	double v;

	(void)state;
	assert_int_equal(kg_parse_double("-1.5e3", &v), 0);
	assert_true(v == -1500.0);
	assert_int_equal(kg_parse_double(".5", &v), 0);
	assert_int_equal(kg_parse_double("nan", &v), KG_EINVALID);
	assert_int_equal(kg_parse_double("inf", &v), KG_EINVALID);
	assert_int_equal(kg_parse_double("1e999", &v), KG_EINVALID);
	assert_int_equal(kg_parse_double("0x10", &v), KG_EINVALID);
	assert_int_equal(kg_parse_double("1,5", &v), KG_EINVALID);
	assert_int_equal(kg_parse_double("", &v), KG_EINVALID);
	assert_int_equal(kg_parse_double(".", &v), KG_EINVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mended_text_is_utf8),
		cmocka_unit_test(test_empty_buffer_gives_empty_text),
		cmocka_unit_test(test_buffer_grows_and_formats),
		cmocka_unit_test(test_failed_allocation_is_sticky),
		cmocka_unit_test(test_json_escapes_and_replaces_invalid_utf8),
		cmocka_unit_test(test_streq_null_equals_only_null),
		cmocka_unit_test(test_utf8_rfc3629),
		cmocka_unit_test(test_names_are_safe_as_file_names),
		cmocka_unit_test(test_suggest_only_what_is_close),
		cmocka_unit_test(test_parse_bytes),
		cmocka_unit_test(test_sizes_in_another_spelling_are_told_what_there_is),
		cmocka_unit_test(test_parse_duration),
		cmocka_unit_test(test_parse_integers_take_the_whole_string),
		cmocka_unit_test(test_parse_double_is_finite_and_decimal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
