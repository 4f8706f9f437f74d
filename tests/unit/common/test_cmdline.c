/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>

#include "common/cmdline.h"
#include "tests/lib/alloc_fault.h"

#define NONCE "0123456789abcdef0123456789abcdef"

static struct kg_cmdline parsed(const char *line)
{
	struct kg_cmdline c;

	assert_int_equal(kg_cmdline_parse(line, &c), 0);
	return c;
}

static void test_spaces_separate_and_quotes_protect(void **state)
{
	struct kg_cmdline c = parsed("  a=1\tb  c=\"x y\" \"d=p q\" e\"f g\"h \n");

	(void)state;
	assert_int_equal(c.n, 5);
	assert_string_equal(c.words[0], "a=1");
	assert_string_equal(c.words[1], "b");
	assert_string_equal(c.words[2], "c=\"x y\"");
	assert_string_equal(c.words[3], "\"d=p q\"");
	assert_string_equal(c.words[4], "e\"f g\"h");
	kg_cmdline_deinit(&c);
}

static void test_open_quote_runs_to_the_end(void **state)
{
	struct kg_cmdline c = parsed("a \"b c d");

	(void)state;
	assert_int_equal(c.n, 2);
	assert_string_equal(c.words[1], "\"b c d");
	kg_cmdline_deinit(&c);
}

static void test_empty_line_has_no_words(void **state)
{
	struct kg_cmdline c = parsed("");
	char value[8];

	(void)state;
	assert_int_equal(c.n, 0);
	assert_false(kg_cmdline_value(&c, "a", value, sizeof(value)));
	kg_cmdline_deinit(&c);
	c = parsed(" \t ");
	assert_int_equal(c.n, 0);
	kg_cmdline_deinit(&c);
}

static void check_value(const char *line, const char *name, const char *expected)
{
	struct kg_cmdline c = parsed(line);
	char value[64];
	bool found = kg_cmdline_value(&c, name, value, sizeof(value));

	if (found != !!expected || (found && strcmp(value, expected) != 0))
		fail_msg("%s of '%s' is '%s'", name, line, found ? value : "(absent)");
	kg_cmdline_deinit(&c);
}

static void test_value_is_what_setup_handlers_see(void **state)
{
	(void)state;
	check_value("lsm=a lsm=b", "lsm", "b"); /* the last one */
	check_value("lsm=a,b", "lsm", "a,b");
	check_value("lsm=\"a b\"", "lsm", "a b");
	check_value("\"lsm=a b\"", "lsm", "a b");
	check_value("lsm=", "lsm", "");
	check_value("lsm", "lsm", "");
	check_value("lsm=a=b", "lsm", "a=b");
	check_value("lsmx=1 xlsm=2", "lsm", NULL);
	check_value("LSM=1", "lsm", NULL);
	check_value("edd-off=1", "edd_off", "1"); /* a dash equals an underscore */
	check_value("a.b-c=1", "a.b_c", "1");
	check_value("lsm=a -- lsm=b", "lsm", "a"); /* behind -- it is for init */
	check_value("lsm=a --x lsm=b", "lsm", "b");
	check_value("lsm=\"", "lsm", "");
	check_value("lsm=a\"b c\"", "lsm", "a\"b c\"");
}

static void test_value_that_does_not_fit_is_absent_not_cut(void **state)
{
	struct kg_cmdline c = parsed("lsm=abcd");
	char value[5];

	(void)state;
	assert_true(kg_cmdline_value(&c, "lsm", value, 5));
	assert_string_equal(value, "abcd");
	assert_false(kg_cmdline_value(&c, "lsm", value, 4));
	kg_cmdline_deinit(&c);
}

static void test_line_has_the_words_that_it_is_cut_into(void **state)
{
	static const char *const lines[] = {"", " ", "quiet ro", "  a=\"x y\"\tb ", "a \"open end"};
	static const char *const words[] = {"",		 "quiet", "qui", "ro",	       "a",
					    "a=\"x y\"", "y\"",	  "b",	 "\"open end", "end"};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct kg_cmdline c;

		assert_int_equal(kg_cmdline_parse(lines[i], &c), 0);
		for (k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			assert_int_equal(kg_cmdline_line_has(lines[i], words[k]),
					 words[k][0] && kg_cmdline_has_word(&c, words[k]));
		kg_cmdline_deinit(&c);
	}
	assert_true(kg_cmdline_line_has(" a b", "b"));
	assert_true(kg_cmdline_line_has("x=\"1 2\" b", "x=\"1 2\""));
}

static void test_has_word_is_the_whole_word(void **state)
{
	struct kg_cmdline c = parsed("quiet ro=1");

	(void)state;
	assert_true(kg_cmdline_has_word(&c, "quiet"));
	assert_false(kg_cmdline_has_word(&c, "ro"));
	assert_false(kg_cmdline_has_word(&c, "qui"));
	kg_cmdline_deinit(&c);
}

static void check_covers(const char *seen, const char *wanted, const char *complaint)
{
	struct kg_cmdline s = parsed(seen), w = parsed(wanted);
	struct kg_err err = {{0}};
	int rc = kg_cmdline_covers(&s, &w, &err);

	assert_int_equal(rc, complaint ? KG_ENOTFOUND : 0);
	if (complaint)
		assert_string_equal(err.text, complaint);
	kg_cmdline_deinit(&s);
	kg_cmdline_deinit(&w);
}

static void test_covers_wants_every_word_in_order(void **state)
{
	(void)state;
	check_covers("a b c", "a c", NULL);
	check_covers("a b c", "", NULL);
	check_covers("x a=1 y", "a=1", NULL);
	check_covers("a b", "b a", "word 'a' stands in another order");
	check_covers("a", "a a", "word 'a' stands in another order");
	check_covers("a=1", "a=2", "word 'a=2' is missing");
	check_covers("", "lsm=x", "word 'lsm=x' is missing");
	check_covers("lsm=xy", "lsm=x", "word 'lsm=x' is missing");
}

static void check_nonce(const char *line, unsigned long long expected)
{
	struct kg_cmdline c = parsed(line);
	char nonce[KG_NONCE_HEX_LEN + 1];
	unsigned long long boot = 0;

	if (kg_cmdline_nonce(&c, &boot, nonce) != (expected != 0) || boot != expected)
		fail_msg("'%s' gives %llu", line, boot);
	if (expected)
		assert_string_equal(nonce, NONCE);
	kg_cmdline_deinit(&c);
}

static void test_nonce_is_a_whole_well_formed_word(void **state)
{
	(void)state;
	check_nonce("ro kgrid.boot=42." NONCE " panic=10", 42);
	check_nonce("kgrid.boot=18446744073709551615." NONCE, 18446744073709551615ULL);
	check_nonce("ro", 0);
	check_nonce("kgrid.boot=", 0);
	check_nonce("kgrid.boot=42", 0);
	check_nonce("kgrid.boot=42.", 0);
	check_nonce("kgrid.boot=." NONCE, 0);
	check_nonce("kgrid.boot=0." NONCE, 0);
	check_nonce("kgrid.boot=042." NONCE, 0);
	check_nonce("kgrid.boot=-1." NONCE, 0);
	check_nonce("kgrid.boot=18446744073709551616." NONCE, 0);
	check_nonce("kgrid.boot=1." NONCE "0", 0);
	check_nonce("kgrid.boot=1.X123456789abcdef0123456789abcdef", 0);
	check_nonce("xkgrid.boot=1." NONCE, 0);
	check_nonce("\"kgrid.boot=1." NONCE "\"", 0);
	check_nonce("kgrid.boot=1." NONCE " kgrid.boot=2." NONCE, 0);
}

static void test_out_of_memory_leaks_nothing(void **state)
{
	struct kg_cmdline c;
	unsigned n;
	int rc;

	(void)state;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = kg_cmdline_parse("a b c", &c);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(n, 3);
	kg_cmdline_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spaces_separate_and_quotes_protect),
		cmocka_unit_test(test_open_quote_runs_to_the_end),
		cmocka_unit_test(test_empty_line_has_no_words),
		cmocka_unit_test(test_value_is_what_setup_handlers_see),
		cmocka_unit_test(test_value_that_does_not_fit_is_absent_not_cut),
		cmocka_unit_test(test_has_word_is_the_whole_word),
		cmocka_unit_test(test_line_has_the_words_that_it_is_cut_into),
		cmocka_unit_test(test_covers_wants_every_word_in_order),
		cmocka_unit_test(test_nonce_is_a_whole_well_formed_word),
		cmocka_unit_test(test_out_of_memory_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
