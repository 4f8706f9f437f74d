/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/table.h"
#include "tests/lib/cmocka_all.h"

static void expect(const struct table *t, size_t indent, size_t width, bool color,
		   const char *wanted)
{
	struct kg_str s = {0};

	table_render(t, indent, width, color, &s);
	assert_string_equal(kg_str_text(&s), wanted);
	kg_str_deinit(&s);
}

static void test_columns_are_aligned_and_lines_not_padded(void **state)
{
	struct table *t = table_new("lrl");

	(void)state;
	table_title(t, "NAME");
	table_title(t, "CPUS");
	table_title(t, "STATE");
	table_cell(t, "lab-intel");
	table_cell(t, "1");
	table_cell(t, "idle");
	table_cell(t, "a");
	table_cellf(t, "%d", 128);
	table_cell(t, "");
	assert_int_equal(table_rows(t), 2);
	assert_int_equal(table_width(t), 9 + 2 + 4 + 2 + 5);
	expect(t, 0, 0, false,
	       "NAME       CPUS  STATE\n"
	       "lab-intel     1  idle\n"
	       "a           128\n");
	table_free(t);
}

static void test_wide_text_is_aligned_by_columns_not_bytes(void **state)
{
	struct table *t = table_new("ll");

	(void)state;
	table_pair(t, "\xe6\x9d\xb1\xe4\xba\xac", "x");
	table_pair(t, "\xc3\xa9", "y");
	table_pair(t, "abcd", "z");
	expect(t, 1, 0, false,
	       " \xe6\x9d\xb1\xe4\xba\xac  x\n"
	       " \xc3\xa9     y\n"
	       " abcd  z\n");
	table_free(t);
}

static void test_last_column_wraps_without_losing_text(void **state)
{
	struct table *t = table_new("ll");

	(void)state;
	table_pair(t, "list", "landlock,lockdown,yama,loadpin,safesetid and apparmor");
	expect(t, 0, 32, false,
	       "list  landlock,lockdown,yama,\n"
	       "      loadpin,safesetid and\n"
	       "      apparmor\n");
	table_free(t);
}

static void test_word_longer_than_the_column_stays_whole(void **state)
{
	struct table *t = table_new("ll");

	(void)state;
	table_pair(t, "d", "0123456789abcdef0123456789abcdef x");
	expect(t, 0, 25, false, "d  0123456789abcdef0123456789abcdef\n   x\n");
	table_free(t);
}

static void test_titles_of_two_lines_stand_on_the_bottom(void **state)
{
	struct table *t = table_new("lr");

	(void)state;
	table_title(t, "size");
	table_title(t, "6.1.0\nprev");
	table_cell(t, "64");
	table_cell(t, "1");
	expect(t, 0, 0, false,
	       "      6.1.0\n"
	       "size   prev\n"
	       "64        1\n");
	table_free(t);
}

static void test_colour_changes_no_alignment(void **state)
{
	struct table *t = table_new("lr");

	(void)state;
	table_styled(t, TABLE_GOOD, "a");
	table_styled(t, TABLE_BAD, "1");
	table_cell(t, "bb");
	table_cell(t, "22");
	expect(t, 0, 0, true, "\033[32ma \033[0m  \033[31m 1\033[0m\nbb  22\n");
	expect(t, 0, 0, false, "a    1\nbb  22\n");
	table_free(t);
}

static void test_cells_cannot_steer_the_terminal(void **state)
{
	struct table *t = table_new("l");

	(void)state;
	table_cell(t, "a\033[31m\nb");
	table_cell(t, NULL);
	expect(t, 0, 0, false, "a?[31m?b\n\n");
	table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_aligned_and_lines_not_padded),
		cmocka_unit_test(test_wide_text_is_aligned_by_columns_not_bytes),
		cmocka_unit_test(test_last_column_wraps_without_losing_text),
		cmocka_unit_test(test_word_longer_than_the_column_stays_whole),
		cmocka_unit_test(test_titles_of_two_lines_stand_on_the_bottom),
		cmocka_unit_test(test_colour_changes_no_alignment),
		cmocka_unit_test(test_cells_cannot_steer_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
