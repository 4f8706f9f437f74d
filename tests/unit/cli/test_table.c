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

/* Longest line of a text, in columns of one byte each. */
static size_t longest_line(const char *p)
{
	size_t most = 0;

	while (*p) {
		size_t n = strcspn(p, "\n");

		most = n > most ? n : most;
		p += n + (p[n] == '\n');
	}
	return most;
}

static struct table *wide_table(void)
{
	struct table *t = table_new("lrll");

	table_title(t, "WORKLOAD");
	table_title(t, "BOOTS");
	table_title(t, "LIST");
	table_title(t, "WHY");
	table_cell(t, "netperf test=UDP_RR size=64 seconds=10");
	table_cell(t, "12");
	table_cell(t, "landlock,lockdown,yama,apparmor");
	table_cell(t, "boots differ more than iterations explain");
	table_cell(t, "b");
	table_cell(t, "5");
	table_cell(t, "c");
	table_cell(t, "d");
	return t;
}

static void test_inner_columns_wrap_when_the_last_is_not_enough(void **state)
{
	struct table *t = wide_table();

	(void)state;
	expect(t, 0, 80, false,
	       "WORKLOAD                 BOOTS  LIST                     WHY\n"
	       "netperf test=UDP_RR         12  landlock,lockdown,yama,  boots differ more than\n"
	       "size=64 seconds=10              apparmor                 iterations explain\n"
	       "b                            5  c                        d\n");
	table_free(t);
}

static void test_no_width_is_exceeded_and_no_word_is_lost(void **state)
{
	static const char *const words[] = {"netperf", "test=UDP_RR", "size=64",   "seconds=10",
					    "12",      "landlock,",   "apparmor",  "boots",
					    "explain", "lockdown,",   "iterations"};
	struct table *t = wide_table();
	struct kg_str s = {0};
	size_t width, i;

	(void)state;
	for (width = 24; width < 130; width++) {
		kg_str_clear(&s);
		table_render(t, 2, width, false, &s);
		assert_true(longest_line(kg_str_text(&s)) <= width);
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			assert_contains(kg_str_text(&s), words[i]);
	}
	kg_str_deinit(&s);
	table_free(t);
}

static void test_rows_become_lists_where_words_would_be_broken(void **state)
{
	struct table *t = table_new("lll");

	(void)state;
	table_title(t, "A\nID");
	table_title(t, "DIGEST");
	table_title(t, "MORE");
	table_cell(t, "1");
	table_cell(t, "0123456789abcdef0123456789abcdef");
	table_cell(t, "x");
	table_cell(t, "2");
	table_cell(t, "fedcba9876543210fedcba9876543210");
	table_cell(t, "");
	expect(t, 0, 41, false,
	       "A ID    1\n"
	       "DIGEST  0123456789abcdef0123456789abcdef\n"
	       "MORE    x\n"
	       "\n"
	       "A ID    2\n"
	       "DIGEST  fedcba9876543210fedcba9876543210\n");
	expect(t, 0, 42, false,
	       "A\n"
	       "ID  DIGEST                            MORE\n"
	       "1   0123456789abcdef0123456789abcdef  x\n"
	       "2   fedcba9876543210fedcba9876543210\n");
	table_free(t);
}

static void test_wrapped_cells_are_coloured_line_by_line(void **state)
{
	struct table *t = table_new("ll");

	(void)state;
	table_styled(t, TABLE_BAD, "aaa");
	table_styled(t, TABLE_GOOD, "bbbbbbbbbbbb cccccccccccc");
	expect(t, 0, 26, true,
	       "\033[31maaa\033[0m  \033[32mbbbbbbbbbbbb\033[0m\n"
	       "     \033[32mcccccccccccc\033[0m\n");
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
		cmocka_unit_test(test_inner_columns_wrap_when_the_last_is_not_enough),
		cmocka_unit_test(test_no_width_is_exceeded_and_no_word_is_lost),
		cmocka_unit_test(test_rows_become_lists_where_words_would_be_broken),
		cmocka_unit_test(test_wrapped_cells_are_coloured_line_by_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
