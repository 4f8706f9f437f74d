/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "common/str.h"

static char *out, *err_text; /* of the last command, owned */
static size_t out_len, err_len;

/* Runs `kgrid stat changepoints FILE options` on a file with `text`: its exit code. */
static int run(const char *text, size_t len, const char *options)
{
	struct cli cli = {.width = 100};
	char path[] = "/tmp/kgrid-changepoints-XXXXXX";
	char line[512], *argv[32], *save = NULL, *word;
	struct cli_args args;
	struct kg_err err;
	int argc = 0, fd, rc;

	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	(void)close(fd);
	free(out);
	free(err_text);
	(void)snprintf(line, sizeof(line), "kgrid stat changepoints %s %s", path, options);
	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	assert_int_equal(cli_args_parse(argc, argv, &args, &err), 0);
	cli.out = open_memstream(&out, &out_len);
	cli.err = open_memstream(&err_text, &err_len);
	cli.json = cli_args_has(&args, "json");
	rc = args.command->run(&cli, &args);
	(void)fclose(cli.out);
	(void)fclose(cli.err);
	(void)unlink(path);
	return rc;
}

static int run_text(const char *text, const char *options)
{
	return run(text, strlen(text), options);
}

static int release(void **state)
{
	(void)state;
	free(out);
	free(err_text);
	out = err_text = NULL;
	return 0;
}

/* Sixty values about 100, then forty about `after`: i-th value. */
static double value(size_t i, double after)
{
	return (i < 60 ? 100 : after) + (double)(i * 7 % 11) / 10;
}

static char *two_series(bool interleaved)
{
	struct kg_str s = {0};

	kg_str_add(&s, "\xef\xbb\xbf"
		       "series,value\r\n# a comment\r\n");
	for (size_t i = 0; i < 200; i++) {
		bool first = interleaved ? i % 2 == 0 : i < 100;
		size_t k = interleaved ? i / 2 : i % 100;

		kg_str_addf(&s, "%s,%.1f\r\n\r\n", first ? "\"a, \"\"x\"\"\"" : "b",
			    value(k, first ? 110 : 100));
	}
	return kg_str_take(&s);
}

static void test_series_may_alternate(void **state)
{
	char *one = two_series(false);
	char *other = two_series(true);
	char *text;

	(void)state;
	assert_int_equal(run_text(one, ""), CLI_EXIT_OK);
	text = strdup(out);
	assert_contains(out, "a, \"x\": 100 points, 1 change\n    at 60 (60-60)  step  ");
	assert_contains(out, "b: 100 points, no change\n");
	assert_contains(out, "total: 1 change in 1 of 2 series, 200 points\n");
	assert_int_equal(run_text(other, ""), CLI_EXIT_OK);
	assert_string_equal(out, text);
	free(text);
	free(one);
	free(other);
}

static void test_json_has_every_key(void **state)
{
	char *text = two_series(true);
	json_t *root, *s, *c;
	size_t lo, hi;

	(void)state;
	assert_int_equal(run_text(text, "--json"), CLI_EXIT_OK);
	root = json_loads(out, 0, NULL);
	assert_non_null(root);
	s = json_array_get(json_object_get(root, "series"), 0);
	assert_string_equal(json_string_value(json_object_get(s, "name")), "a, \"x\"");
	assert_int_equal(json_integer_value(json_object_get(s, "n")), 100);
	c = json_array_get(json_object_get(s, "changepoints"), 0);
	assert_int_equal(json_integer_value(json_object_get(c, "index")), 60);
	lo = (size_t)json_integer_value(json_array_get(json_object_get(c, "interval"), 0));
	hi = (size_t)json_integer_value(json_array_get(json_object_get(c, "interval"), 1));
	assert_true(lo <= 60 && 60 <= hi);
	assert_true(json_number_value(json_object_get(c, "before")) > 100);
	assert_true(json_number_value(json_object_get(c, "after")) > 110);
	assert_true(json_number_value(json_object_get(c, "change_pct")) > 9);
	assert_true(json_number_value(json_object_get(c, "p")) < 0.001);
	assert_string_equal(json_string_value(json_object_get(c, "kind")), "step");
	s = json_array_get(json_object_get(root, "series"), 1);
	assert_int_equal(json_array_size(json_object_get(s, "changepoints")), 0);
	json_decref(root);
	free(text);
}

static void test_one_column_needs_no_name(void **state)
{
	struct kg_str s = {0};

	(void)state;
	kg_str_add(&s, "ns/op\n");
	for (size_t i = 0; i < 100; i++)
		kg_str_addf(&s, " %.1f\n", value(i, 110));
	assert_int_equal(run_text(kg_str_text(&s), ""), CLI_EXIT_OK);
	assert_contains(out, "ns/op: 100 points, 1 change\n    at 60 ");
	assert_int_equal(run_text(kg_str_text(&s) + strlen("ns/op\n"), ""), CLI_EXIT_OK);
	assert_contains(out, ": 100 points, 1 change\n    at 60 ");
	assert_int_equal(run_text(kg_str_text(&s), "--method edivisive"), CLI_EXIT_OK);
	assert_contains(out, "    at 60 ");
	assert_int_equal(run_text(kg_str_text(&s), "--trend"), CLI_EXIT_OK);
	assert_contains(out, "    at 60 ");
	assert_int_equal(run_text(kg_str_text(&s), "--min-effect 20%"), CLI_EXIT_OK);
	assert_contains(out, "no change");
	assert_int_equal(run_text(kg_str_text(&s), "--min-effect 20 --method edivisive"),
			 CLI_EXIT_OK);
	assert_contains(out, "no change");
	kg_str_deinit(&s);
}

static void test_short_series_say_why_there_is_none(void **state)
{
	(void)state;
	assert_int_equal(run_text("1\n2\n3\n", ""), CLI_EXIT_OK);
	assert_contains(out, "3 points, no change: too few points, at least 14 can show one");
}

static void test_bad_lines_are_named(void **state)
{
	(void)state;
	assert_int_equal(run_text("series,value\na,1\na,x\n", ""), CLI_EXIT_USAGE);
	assert_contains(err_text, ":3:3: 'x' is no number");
	assert_string_equal(out, "");
	assert_int_equal(run_text("series,value\na,1\na,nan\n", "--json"), CLI_EXIT_USAGE);
	assert_contains(err_text, ":3:3: 'nan' is not finite");
	assert_string_equal(out, "");
	assert_int_equal(run_text("series,value\na,1\na\n", ""), CLI_EXIT_USAGE);
	assert_contains(err_text, ":3:1: 1 fields, expected 2");
	assert_int_equal(run_text("a,1\na,2\n", ""), CLI_EXIT_USAGE);
	assert_contains(err_text, ":1:1: no column 'value'");
	assert_int_equal(run_text("value,value\n1,2\n", ""), CLI_EXIT_USAGE);
	assert_int_equal(run_text("1\n\"2\n", ""), CLI_EXIT_USAGE);
	assert_contains(err_text, ":2:1: ");
	assert_int_equal(run("1\n\0002\n", 5, ""), CLI_EXIT_USAGE);
	assert_int_equal(run_text("1\n", "--min-effect -1"), CLI_EXIT_USAGE);
	assert_int_equal(run_text("1\n", "--trend --method edivisive"), CLI_EXIT_USAGE);
}

static void test_no_value_is_no_data(void **state)
{
	(void)state;
	assert_int_equal(run_text("", ""), CLI_EXIT_NODATA);
	assert_int_equal(run_text("# nothing\n\n", ""), CLI_EXIT_NODATA);
	assert_int_equal(run_text("series,value\n", ""), CLI_EXIT_NODATA);
	assert_contains(err_text, "no values");
	assert_string_equal(out, "");
}

static void test_names_cannot_steer_the_terminal(void **state)
{
	(void)state;
	assert_int_equal(run_text("series,value\n\"\033[31m\",1\n", ""), CLI_EXIT_OK);
	assert_null(strchr(out, '\033'));
}

static void test_values_of_no_named_series_are_said_to_be_taken_for_one(void **state)
{
	(void)state;
	assert_int_equal(run_text("machine,value\na,1\nb,2\n", ""), CLI_EXIT_OK);
	assert_contains(err_text, "no column 'series'");
	assert_int_equal(run_text("series,date,value\na,x,1\n", ""), CLI_EXIT_OK);
	assert_string_equal(err_text, "");
	assert_int_equal(run_text("value\n1\n", ""), CLI_EXIT_OK);
	assert_string_equal(err_text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series_may_alternate),
		cmocka_unit_test(test_json_has_every_key),
		cmocka_unit_test(test_one_column_needs_no_name),
		cmocka_unit_test(test_short_series_say_why_there_is_none),
		cmocka_unit_test(test_bad_lines_are_named),
		cmocka_unit_test(test_no_value_is_no_data),
		cmocka_unit_test(test_values_of_no_named_series_are_said_to_be_taken_for_one),
		cmocka_unit_test(test_names_cannot_steer_the_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
