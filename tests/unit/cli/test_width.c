/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/width.h"
#include "tests/lib/cmocka_all.h"

static void test_ascii_takes_a_column_a_byte(void **state)
{
	(void)state;
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("netperf"), 7);
}

static void test_accents_take_no_column_of_their_own(void **state)
{
	(void)state;
	assert_int_equal(text_width("\xc3\xa9t\xc3\xa9"), 3);	/* composed */
	assert_int_equal(text_width("e\xcc\x81te\xcc\x81"), 3); /* combining */
}

static void test_east_asian_text_takes_two_columns_each(void **state)
{
	(void)state;
	assert_int_equal(text_width("\xe6\x9d\xb1\xe4\xba\xac"), 4);
	assert_int_equal(text_width("\xf0\x9f\x98\x80"), 2);
}

static void test_invalid_byte_takes_one_column(void **state)
{
	(void)state;
	assert_int_equal(text_width("a\xff"
				    "b"),
			 3);
	assert_int_equal(text_width("a\xe6\x9d"), 3); /* cut in the middle */
}

static void test_fit_never_cuts_a_character(void **state)
{
	(void)state;
	assert_int_equal(text_fit("\xe6\x9d\xb1\xe4\xba\xac", 3), 3);
	assert_int_equal(text_fit("abc", 2), 2);
	assert_int_equal(text_fit("abc", 10), 3);
}

static void test_clean_takes_away_what_steers_a_terminal(void **state)
{
	static const char evil[] = "a\033[2J\x07\xc2\x9b"
				   "1m\xe2\x80\xae"
				   "b\n";
	struct kg_str s = {0};

	(void)state;
	text_clean(&s, evil, sizeof(evil) - 1, false);
	assert_string_equal(kg_str_text(&s), "a?[2J??1m?b?");
	kg_str_clear(&s);
	text_clean(&s, "a\n\tb\r", 5, true);
	assert_string_equal(kg_str_text(&s), "a\n\tb?");
	kg_str_clear(&s);
	text_clean(&s, "x\xffy", 3, false);
	assert_string_equal(kg_str_text(&s), "x\xef\xbf\xbdy");
	kg_str_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ascii_takes_a_column_a_byte),
		cmocka_unit_test(test_accents_take_no_column_of_their_own),
		cmocka_unit_test(test_east_asian_text_takes_two_columns_each),
		cmocka_unit_test(test_invalid_byte_takes_one_column),
		cmocka_unit_test(test_fit_never_cuts_a_character),
		cmocka_unit_test(test_clean_takes_away_what_steers_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
