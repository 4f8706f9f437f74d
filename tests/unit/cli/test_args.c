/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/args.h"
#include "tests/lib/cmocka_all.h"

#define WORDS_MAX 16

static struct cli_args args;
static struct kg_err err;

/* Splits a line at spaces and parses it. */
static int parse(const char *line)
{
	static char copy[256];
	static char *argv[WORDS_MAX + 1];
	char *save = NULL, *word;
	int argc = 0;

	(void)snprintf(copy, sizeof(copy), "kgrid %s", line);
	for (word = strtok_r(copy, " ", &save); word && argc < WORDS_MAX;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	memset(&args, 0, sizeof(args));
	err.text[0] = '\0';
	return cli_args_parse(argc, argv, &args, &err);
}

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void refused(const char *line, const char *part)
{
	assert_int_equal(parse(line), KG_EINVALID);
	assert_contains(err.text, part);
}

static void test_options_are_found_in_every_form(void **state)
{
	(void)state;
	assert_int_equal(parse("submit --boots 5 file.yaml"), 0);
	assert_int_equal(cli_args_number(&args, "boots", 1), 5);
	assert_string_equal(cli_args_operand(&args, 0), "file.yaml");
	assert_int_equal(parse("submit file.yaml --boots=6"), 0);
	assert_int_equal(cli_args_number(&args, "boots", 1), 6);
	assert_int_equal(parse("submit -b7 -n file.yaml"), 0);
	assert_int_equal(cli_args_number(&args, "boots", 1), 7);
	assert_true(cli_args_has(&args, "dry-run"));
	assert_false(cli_args_has(&args, "wait"));
	assert_int_equal(cli_args_number(&args, "width", 3), 3);
}

static void test_global_options_stand_anywhere(void **state)
{
	(void)state;
	assert_int_equal(parse("--coordinator a:1 job --json show 7"), 0);
	assert_string_equal(args.command->path, "job show");
	assert_string_equal(cli_args_text(&args, "coordinator"), "a:1");
	assert_true(cli_args_has(&args, "json"));
	assert_int_equal(cli_args_job(&args), 7);
	assert_int_equal(parse("job show -c b:2"), 0);
	assert_int_equal(cli_args_job(&args), 0);
}

static void test_two_dashes_end_the_options(void **state)
{
	(void)state;
	assert_int_equal(parse("submit -- --dry-run"), 0);
	assert_string_equal(cli_args_operand(&args, 0), "--dry-run");
	assert_int_equal(parse("submit -"), 0);
	assert_string_equal(cli_args_operand(&args, 0), "-");
}

static void test_unknown_command_suggests_one(void **state)
{
	(void)state;
	refused("comparre", "did you mean 'compare'?");
	refused("job cancell 3", "did you mean 'cancel'?");
	refused("machine list", "'kgrid machine --help' lists them");
	refused("zzz", "'kgrid --help' lists them");
}

static void test_unknown_option_suggests_one(void **state)
{
	(void)state;
	refused("submit --dryrun x", "did you mean '--dry-run'?");
	refused("jobs --jsno", "did you mean '--json'?");
	refused("jobs --boots 3", "'jobs' has no option '--boots'");
	refused("jobs -x", "no option '-x'");
	refused("--dry-run submit x", "kgrid has no option '--dry-run'");
}

static void test_values_are_checked(void **state)
{
	(void)state;
	refused("submit x --boots", "needs a value (N)");
	refused("submit x --boots five", "whole number");
	refused("submit x --boots 0", "whole number");
	refused("submit x --boots=", "whole number");
	refused("submit x --wait=yes", "takes no value");
	refused("submit x -nw", "takes no value");
	refused("samples --format jsn", "did you mean 'json'?");
	refused("lsm resolve --profile redhat", "'redhat'; it is one of upstream, ubuntu");
	refused("samples --format xml", "'xml'; it is one of csv, json");
	refused("compare --metric=", "needs a value");
}

static void test_operands_are_checked(void **state)
{
	(void)state;
	refused("submit", "'submit' needs FILE");
	refused("job cancel", "'job cancel' needs JOB");
	refused("job show x7", "not the number of a job: 'x7'");
	refused("watch 0", "not the number of a job: '0'");
	refused("watch 1 2", "does not take '2'");
	refused("jobs 3", "does not take '3'");
}

static void test_help_needs_no_operands(void **state)
{
	(void)state;
	assert_int_equal(parse("submit --help"), 0);
	assert_true(cli_args_has(&args, "help"));
	assert_int_equal(parse("job --help"), 0);
	assert_null(args.command);
	assert_string_equal(args.prefix, "job");
	assert_int_equal(parse(""), 0);
	assert_null(args.command);
	assert_null(args.prefix);
}

static void test_lab_gets_its_words_untouched(void **state)
{
	(void)state;
	assert_int_equal(parse("--json lab up --machines intel,amd --what -x"), 0);
	assert_string_equal(args.command->path, "lab");
	assert_int_equal(args.n_rest, 5);
	assert_string_equal(args.rest[1], "--machines");
	assert_true(cli_args_has(&args, "json"));
	assert_int_equal(parse("lab up --help"), 0);
	assert_false(cli_args_has(&args, "help"));
	assert_int_equal(parse("lab --help"), 0);
	assert_true(cli_args_has(&args, "help"));
	assert_int_equal(parse("lab"), 0);
	assert_int_equal(args.n_rest, 0);
}

static void test_too_many_words_are_refused(void **state)
{
	char *argv[CLI_OPERANDS_MAX + 5] = {s("kgrid"), s("kernel"), s("add")};
	int argc = 3;

	(void)state;
	while (argc < CLI_OPERANDS_MAX + 3)
		argv[argc++] = s("x");
	assert_int_equal(cli_args_parse(argc, argv, &args, &err), 0);
	argv[argc++] = s("x");
	assert_int_equal(cli_args_parse(argc, argv, &args, &err), KG_EINVALID);
	assert_contains(err.text, "too many words");
}

static void test_options_that_add_up_are_read_one_by_one(void **state)
{
	(void)state;
	assert_int_equal(parse("compare --param a=1 --metric x -p b=2"), 0);
	assert_string_equal(cli_args_each(&args, "param", 0), "a=1");
	assert_string_equal(cli_args_each(&args, "param", 1), "b=2");
	assert_null(cli_args_each(&args, "param", 2));
	assert_null(cli_args_each(&args, "job", 0));
}

static void test_a_noun_alone_is_its_list_where_it_has_one(void **state)
{
	(void)state;
	assert_int_equal(parse("standing"), 0);
	assert_string_equal(args.command->path, "standing list");
	assert_null(args.prefix);
	assert_int_equal(parse("standing --csv"), 0);
	assert_string_equal(args.command->path, "standing list");
	assert_true(cli_args_has(&args, "csv"));
	assert_int_equal(parse("--json standing"), 0);
	assert_string_equal(args.command->path, "standing list");
	assert_int_equal(parse("standing --json show 2"), 0);
	assert_string_equal(args.command->path, "standing show");
	assert_int_equal(parse("standing --help"), 0); /* explains all of its verbs */
	assert_null(args.command);
	assert_string_equal(args.prefix, "standing");
	assert_int_equal(parse("job"), 0); /* has none */
	assert_null(args.command);
	assert_string_equal(args.prefix, "job");
	assert_int_equal(parse("standing --cvs"), KG_EINVALID);
	assert_contains(err.text, "did you mean '--csv'?");
}

static void test_cells_and_subjects_are_checked(void **state)
{
	static const char *const fine[] = {"why 7",	    "why 7/12",	     "why lab-amd",
					   "why machine:7", "why cell:7/12", "why job:7"};
	static const char *const wrong[] = {"why 7/",
					    "why /7",
					    "why 0/1",
					    "why a/1",
					    "why 7/1/2",
					    "reproduce 7",
					    "reproduce 7/0",
					    "reproduce 7/-1",
					    "reproduce lab-amd",
					    "reproduce 7/1x",
					    "reproduce 18446744073709551616/1",
					    "reproduce 123456789012345678901234567890123456789/1"};
	uint64_t job;
	uint32_t cell;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		assert_int_equal(parse(fine[i]), 0);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse(wrong[i]), KG_EINVALID);
		assert_contains(err.text, "not a ");
	}
	assert_int_equal(parse("reproduce 18446744073709551615/4294967295"), 0);
	cli_args_cell(&args, &job, &cell);
	assert_true(job == UINT64_MAX && cell == UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_are_found_in_every_form),
		cmocka_unit_test(test_global_options_stand_anywhere),
		cmocka_unit_test(test_two_dashes_end_the_options),
		cmocka_unit_test(test_unknown_command_suggests_one),
		cmocka_unit_test(test_unknown_option_suggests_one),
		cmocka_unit_test(test_values_are_checked),
		cmocka_unit_test(test_operands_are_checked),
		cmocka_unit_test(test_help_needs_no_operands),
		cmocka_unit_test(test_lab_gets_its_words_untouched),
		cmocka_unit_test(test_too_many_words_are_refused),
		cmocka_unit_test(test_options_that_add_up_are_read_one_by_one),
		cmocka_unit_test(test_a_noun_alone_is_its_list_where_it_has_one),
		cmocka_unit_test(test_cells_and_subjects_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
