/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid stat compare: what it reads, what it says, and with which exit code. */
#include <math.h>

#include <jansson.h>

#include "tests/unit/cli/stat_run.h"

static const char slow[] = "10.1\n10.2\n10.0\n10.3\n9.9\n10.05\n";
static const char fast[] = "11.1\n11.2\n11.0\n11.3\n10.9\n11.07\n";

static json_t *document; /* of the last json() */

static int json_tear_down(void **state)
{
	json_decref(document);
	document = NULL;
	return run_tear_down(state);
}

/* Runs with --json; comparison `i` of the answer, NULL when there are fewer. */
static json_t *json(const char *line, int want, size_t i)
{
	char full[512];

	(void)snprintf(full, sizeof(full), "%s --json", line);
	assert_int_equal(run(full), want);
	json_decref(document);
	document = json_loads(run_out, 0, NULL);
	assert_non_null(document);
	return json_array_get(json_object_get(document, "comparisons"), i);
}

static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static double number(const json_t *o, const char *key)
{
	assert_true(json_is_number(json_object_get(o, key)));
	return json_number_value(json_object_get(o, key));
}

static double item(const json_t *o, const char *key, size_t i)
{
	return json_number_value(json_array_get(json_object_get(o, key), i));
}

/* Rows "kernel,boot,iteration,value" of `boots` boots around `mean`. */
static void add_rows(struct kg_str *s, const char *prefix, double mean, int boots, int iterations)
{
	for (int b = 0; b < boots; b++)
		for (int i = 0; i < iterations; i++)
			kg_str_addf(s, "%s,%d,%d,%.4f\n", prefix, b, i,
				    mean + 0.01 * ((b * 7) % 5) + 0.001 * ((i * 3) % 7));
}

static void test_plain_files_are_sides_named_after_themselves(void **state)
{
	json_t *c;

	(void)state;
	run_file("old.txt", slow);
	run_file("new.v2.txt", fast);
	c = json("stat compare @old.txt @new.v2.txt --higher-is-better", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "baseline"), "old");
	assert_string_equal(text(c, "candidate"), "new.v2");
	assert_string_equal(text(c, "verdict"), "improvement");
	assert_int_equal(item(c, "n", 0), 6);
	assert_int_equal(item(c, "n", 1), 6);
	assert_int_equal(json_object_size(json_object_get(c, "group")), 0);
	/* exact: 2 / C(12, 6) */
	assert_true(fabs(number(c, "p") - 2.0 / 924) < 1e-12);
	assert_true(item(c, "ci95_pct", 0) < number(c, "effect_pct"));
	assert_true(item(c, "ci95_pct", 1) > number(c, "effect_pct"));
	assert_null(json_array_get(json_object_get(document, "comparisons"), 1));
}

static void test_a_regression_is_exit_1_in_either_direction(void **state)
{
	json_t *c;

	(void)state;
	run_file("old.txt", slow);
	run_file("new.txt", fast);
	c = json("stat compare @old.txt @new.txt --lower-is-better", CLI_EXIT_NO, 0);
	assert_string_equal(text(c, "verdict"), "regression");
	assert_true(number(c, "effect_pct") < 0);
	c = json("stat compare @old.txt @new.txt --baseline new --higher-is-better", CLI_EXIT_NO,
		 0);
	assert_string_equal(text(c, "verdict"), "regression");
	assert_string_equal(text(c, "candidate"), "old");
	assert_true(number(c, "effect_pct") < 0);
}

static void test_without_direction_a_change_is_different_and_no_failure(void **state)
{
	json_t *c;

	(void)state;
	run_file("old.txt", slow);
	run_file("new.txt", fast);
	c = json("stat compare @old.txt @new.txt", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "verdict"), "different");
	assert_int_equal(run("stat compare @old.txt @new.txt"), CLI_EXIT_OK);
	assert_contains(run_out, "no direction is declared");
	assert_contains(run_out, "no boot column");
}

static void test_labels_can_be_given_and_files_of_one_name_are_told_apart(void **state)
{
	char a[256], b[256];
	json_t *c;

	(void)state;
	run_file("x.txt", slow);
	run_file("y.txt", fast);
	c = json("stat compare base=@x.txt cand=@y.txt", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "baseline"), "base");
	assert_string_equal(text(c, "candidate"), "cand");
	(void)snprintf(a, sizeof(a), "%s/a", run_folder);
	(void)snprintf(b, sizeof(b), "%s/a/x.txt", run_folder);
	assert_int_equal(kg_mkdir_p(a, 0755, NULL), 0);
	run_file("a/x.txt", fast);
	c = json("stat compare @x.txt @a/x.txt", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "baseline"), "x");
	assert_string_equal(text(c, "candidate"), b);
	/* one label for two files: one side */
	c = json("stat compare old=@x.txt old=@x.txt new=@y.txt", CLI_EXIT_OK, 0);
	assert_int_equal(item(c, "n", 0), 12);
	c = json("stat compare @x.txt @x.txt", CLI_EXIT_OK, 0);
	assert_true(number(c, "p") == 1);
	/* a baseline may be called as its file is */
	c = json("stat compare @x.txt @y.txt --baseline y.txt", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "baseline"), "y");
	c = json("stat compare @x.txt @y.txt --baseline @y.txt", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "baseline"), "y");
}

static void test_the_boot_is_the_unit(void **state)
{
	struct kg_str s = {0};
	json_t *c;

	(void)state;
	kg_str_add(&s, "kernel,boot,iteration,value\n");
	add_rows(&s, "6.0", 100, 6, 20);
	add_rows(&s, "6.1", 90, 6, 20);
	run_file("x.csv", kg_str_text(&s));
	c = json("stat compare @x.csv --higher-is-better", CLI_EXIT_NO, 0);
	assert_int_equal(item(c, "n", 0), 6);
	assert_int_equal(item(c, "boots", 1), 6);
	assert_int_equal(item(c, "values", 0), 120);
	assert_true(fabs(number(c, "p") - 2.0 / 924) < 1e-12);
	assert_int_equal(json_array_size(json_object_get(document, "notes")), 0);
	kg_str_deinit(&s);
}

static void test_order_of_rows_does_not_matter(void **state)
{
	json_t *c;

	(void)state;
	run_file("x.csv", "value,boot,kernel\n1,b1,a\n5,b1,b\n2,b2,a\n6,b2,b\n1.5,b1,a\n7,b2,b\n"
			  "2.5,b2,a\n5.5,b1,b\n");
	c = json("stat compare @x.csv", CLI_EXIT_OK, 0);
	assert_int_equal(item(c, "n", 0), 2);
	assert_int_equal(item(c, "values", 0), 4);
	assert_true(item(c, "median", 0) == 1.75); /* of 1.25 and 2.25 */
	assert_true(item(c, "median", 1) == 5.875);
}

static void test_a_boot_is_one_within_job_attempt_and_file(void **state)
{
	json_t *c;

	(void)state;
	run_file("x.csv", "kernel,job,boot,value\na,1,1,1\na,2,1,2\na,2,01,2\nb,1,1,3\nb,1,1,4\n");
	c = json("stat compare @x.csv", CLI_EXIT_OK, 0);
	assert_int_equal(item(c, "n", 0), 3); /* "1" and "01" are two names */
	assert_int_equal(item(c, "n", 1), 1);
	run_file("1.csv", "kernel,boot,value\na,1,1\nb,1,1\n");
	run_file("2.csv", "kernel,boot,value\na,1,2\nb,1,2\n");
	c = json("stat compare @1.csv @2.csv", CLI_EXIT_OK, 0);
	assert_int_equal(item(c, "n", 0), 2);
	/* far numbers go another way inside */
	run_file(
		"3.csv",
		"kernel,boot,value\na,5,1\na,99999999,2\na,5,1\na,99999999,3\nb,4000000000000,1\n");
	c = json("stat compare @3.csv", CLI_EXIT_OK, 0);
	assert_int_equal(item(c, "n", 0), 2);
}

static void test_what_is_there_makes_groups_and_they_are_never_mixed(void **state)
{
	struct kg_str s = {0};
	json_t *c;

	(void)state;
	kg_str_add(&s, "machine,vendor,params,kernel,lsm,boot,iteration,value\n");
	add_rows(&s, "m1,intel,size=64,6.0,prev", 100, 6, 2);
	add_rows(&s, "m1,intel,size=64,6.0,full", 90, 6, 2);
	add_rows(&s, "m2,amd,size=64,6.0,prev", 50, 6, 2);
	add_rows(&s, "m2,amd,size=64,6.0,full", 50, 6, 2);
	run_file("x.csv", kg_str_text(&s));
	c = json("stat compare @x.csv --higher-is-better --baseline prev", CLI_EXIT_NO, 0);
	assert_string_equal(text(c, "verdict"), "regression");
	assert_string_equal(text(c, "baseline"), "6.0/prev");
	assert_string_equal(text(json_object_get(c, "group"), "machine"), "m1");
	assert_string_equal(text(json_object_get(c, "group"), "vendor"), "intel");
	assert_string_equal(text(json_object_get(c, "group"), "params"), "size=64");
	c = json_array_get(json_object_get(document, "comparisons"), 1);
	assert_string_equal(text(c, "verdict"), "same");
	assert_string_equal(text(json_object_get(c, "group"), "machine"), "m2");
	assert_int_equal(json_array_size(json_object_get(document, "comparisons")), 2);
	kg_str_deinit(&s);
}

static void test_sides_on_different_machines_are_incomparable(void **state)
{
	struct kg_str s = {0};
	json_t *c;

	(void)state;
	kg_str_add(&s, "machine,kernel,boot,iteration,value\n");
	add_rows(&s, "m1,6.0", 100, 6, 1);
	add_rows(&s, "m2,6.1", 90, 6, 1);
	run_file("x.csv", kg_str_text(&s));
	c = json("stat compare @x.csv --higher-is-better", CLI_EXIT_NODATA, 0);
	assert_string_equal(text(c, "verdict"), "incomparable");
	assert_true(json_is_null(json_object_get(c, "p")));
	assert_true(json_is_null(json_object_get(c, "effect_pct")));
	assert_contains(run_err, "nothing to compare");
	kg_str_deinit(&s);
}

/* As 'kgrid samples' prints it. */
static void test_samples_are_read_as_they_are(void **state)
{
	struct kg_str s = {0};
	json_t *c;

	(void)state;
	kg_str_add(&s, "machine,vendor,kernel,lsm,workload,params,metric,unit,direction,block,boot,"
		       "attempt,iteration,value,outcome,warmup,monotonic_ns\n");
	for (int b = 0; b < 12; b++) {
		const char *lsm = b % 2 ? "full" : "prev";

		kg_str_addf(&s, "m,intel,6.1,%s,np,,tput,Mbit/s,higher,%d,%d,%d,0,1,pass,1,5\n",
			    lsm, b / 2, b, b);
		kg_str_addf(&s, "m,intel,6.1,%s,np,,tput,Mbit/s,higher,%d,%d,%d,1,%d,pass,0,6\n",
			    lsm, b / 2, b, b, b % 2 ? 90 + b % 3 : 100 + b % 3);
		kg_str_addf(&s, "m,intel,6.1,%s,np,,tput,Mbit/s,higher,%d,%d,%d,2,,infra,0,7\n",
			    lsm, b / 2, b, b);
	}
	run_file("s.csv", kg_str_text(&s));
	c = json("stat compare @s.csv", CLI_EXIT_NO, 0);
	assert_string_equal(text(c, "verdict"), "regression");
	assert_string_equal(text(c, "unit"), "Mbit/s");
	assert_string_equal(text(c, "direction"), "higher");
	assert_int_equal(item(c, "values", 0), 6);
	assert_string_equal(run_err, "");
	assert_int_equal(run("stat compare @s.csv"), CLI_EXIT_NO);
	assert_contains(run_out, "left out: 12 rows of another outcome than pass, 12 of warm-up");
	kg_str_deinit(&s);
}

static void test_bad_files_are_refused_with_the_place(void **state)
{
	static const struct {
		const char *file, *want;
	} rows[] = {
		{"1\n2\nx3\n", ":3:1: 'x3' is no number"},
		{"1\n2\nNaN\n", ":3:1: 'NaN' is not finite"},
		{"1\n-inf\n", ":2:1: '-inf' is not finite"},
		{"1\n1e999\n", ":2:1: '1e999' is too large"},
		{"1\n2,3\n", ":2:3: a second field in a file of plain numbers"},
		{"1,2\n", ":1:1: 2 numbers in a line"},
		{"kernel,boot\na,1\n", ":1:1: no column 'value' in the header"},
		{"kernel;value\na;1\n", "separated by ';'"},
		{"kernel,value,Kernel\na,1,b\n", ":1:14: column 'kernel' is named twice"},
		{"kernel,value\na,1\nb\n", ":3:1: 1 field in this line, expected 2"},
		{"kernel,value\na,1\nb,2,3\n", ":3:5: 3 fields in this line, expected 2"},
		{"kernel,value\na,\n", ":2:3: an empty field, expected a number"},
		{"kernel,value\n\"a,1\n", ":2:1: the quote that begins here is not closed"},
		{"kernel,boot,value\na,,1\n", ":2:3: an empty boot"},
		{"kernel,value,direction\na,1,up\n",
		 ":2:5: direction must be higher, lower or empty"},
		{"kernel,value,direction\na,1,lower\na,1,higher\n",
		 ":3:5: another direction than line 2"},
		{"kernel,value,direction\na,1,lower\nb,1,higher\n", "another direction"},
		{"kernel,value,unit\na,1,ms\nb,1,s\n", "another unit"},
		{"kernel,value,warmup\na,1,maybe\n", ":2:5: warmup must be 0 or 1"},
	};

	(void)state;
	run_file("good.txt", slow);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run_file("bad.csv", rows[i].file);
		assert_int_equal(run("stat compare @bad.csv @good.txt"), CLI_EXIT_USAGE);
		assert_contains(run_err, "/bad.csv");
		assert_contains(run_err, rows[i].want);
		assert_string_equal(run_out, "");
	}
	assert_int_equal(run("stat compare @missing.txt @good.txt"), CLI_EXIT_USAGE);
	assert_contains(run_err, "missing.txt");
	assert_int_equal(run("stat compare =@good.txt"), CLI_EXIT_USAGE);
}

static void test_no_data_is_exit_5_and_says_why(void **state)
{
	(void)state;
	run_file("good.txt", slow);
	run_file("empty.txt", "# nothing\n\n");
	run_file("head.csv", "kernel,value\n");
	run_file("failed.csv", "kernel,value,outcome\na,1,infra\nb,2,panic\n");
	assert_int_equal(run("stat compare @good.txt @empty.txt"), CLI_EXIT_NODATA);
	assert_contains(run_err, "empty.txt' holds no value");
	assert_int_equal(run("stat compare @head.csv"), CLI_EXIT_NODATA);
	assert_contains(run_err, "no rows");
	assert_int_equal(run("stat compare @failed.csv"), CLI_EXIT_NODATA);
	assert_contains(run_err, "2 rows have another outcome");
	assert_int_equal(run("stat compare @good.txt"), CLI_EXIT_NODATA);
	assert_contains(run_err, "all of one side");
}

static void test_options_are_checked(void **state)
{
	static const struct {
		const char *line, *want;
	} rows[] = {
		{"stat compare @a.txt @b.txt --alpha 2", "--alpha"},
		{"stat compare @a.txt @b.txt --alpha x", "--alpha"},
		{"stat compare @a.txt @b.txt --min-effect -1", "--min-effect"},
		{"stat compare @a.txt @b.txt --min-effect nan", "--min-effect"},
		{"stat compare @a.txt @b.txt --higher-is-better --lower-is-better", "exclude"},
		{"stat compare @a.txt @b.txt --correction bonferroni", "bonferroni"},
		{"stat compare @a.txt @b.txt --gate --correction bh", "holm"},
		{"stat compare @a.txt @b.txt --style minitest", "minitest"},
		{"stat compare @a.txt @b.txt --baseline c", "expected one of a, b"},
		{"stat compare old=@a.txt new=@b.txt --baseline odl", "did you mean 'old'?"},
		{"stat compare", "FILE"},
	};

	(void)state;
	run_file("a.txt", slow);
	run_file("b.txt", fast);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(run(rows[i].line), CLI_EXIT_USAGE);
		assert_contains(run_err, rows[i].want);
	}
	assert_int_equal(
		run("stat compare @a.txt @b.txt --min-effect 20% --higher-is-better --json"),
		CLI_EXIT_OK);
	assert_contains(run_out, "\"verdict\": \"same\"");
	assert_int_equal(run("stat compare @a.txt @b.txt --gate --lower-is-better --json"),
			 CLI_EXIT_NODATA);
	assert_contains(run_out, "\"verdict\": \"unknown\""); /* 6 boots are too few for a gate */
}

static void test_unknown_columns_are_left_out_with_a_word(void **state)
{
	(void)state;
	run_file("x.csv", "kernel,colour,value,kernl\na,red,1,x\na,red,2,x\nb,blue,3,x\n");
	assert_int_equal(run("stat compare @x.csv --json"), CLI_EXIT_OK);
	assert_contains(run_err, "'colour'");
	assert_contains(run_err, "'kernl' (did you mean 'kernel'?)");
}

static void test_csv_comes_with_marks_quotes_comments_and_crlf(void **state)
{
	json_t *c;

	(void)state;
	run_file("x.csv", "\xef\xbb\xbf# made by hand\r\n Kernel , LSM ,\"value\"\r\n"
			  "\"6,0\",\"a \"\"b\"\"\", 1e1 \r\n\r\n\"6,0\",\"a \"\"b\"\"\",\"11\"\r\n"
			  "6.1,,12");
	c = json("stat compare @x.csv", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "baseline"), "6,0/a \"b\"");
	assert_string_equal(text(c, "candidate"), "6.1");
	assert_true(item(c, "median", 0) == 10.5);
}

static void test_negative_zero_and_huge_values_have_defined_answers(void **state)
{
	json_t *c;

	(void)state;
	run_file("a.txt", "-1\n-2\n-3\n-4\n-5\n-6\n");
	run_file("b.txt", "1\n2\n3\n4\n5\n6\n");
	c = json("stat compare @a.txt @b.txt --higher-is-better", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "verdict"), "improvement");
	run_file("a.txt", "0\n0\n0\n0\n0\n");
	c = json("stat compare @a.txt @b.txt", CLI_EXIT_OK, 0);
	assert_true(json_is_null(json_object_get(c, "effect_pct")));
	run_file("b.txt", "0\n0\n0\n0\n0\n");
	c = json("stat compare @a.txt @b.txt", CLI_EXIT_OK, 0);
	assert_true(number(c, "p") == 1);
	run_file("a.txt", "1e300\n1.1e300\n1.2e300\n1.3e300\n1.25e300\n");
	run_file("b.txt", "1e308\n1.1e308\n1.2e308\n1.3e308\n1.25e308\n");
	c = json("stat compare @a.txt @b.txt --higher-is-better", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "verdict"), "improvement");
	assert_int_equal(run("stat compare @a.txt @b.txt"), CLI_EXIT_OK);
	run_file("a.txt", "5\n");
	run_file("b.txt", "6\n");
	c = json("stat compare @a.txt @b.txt", CLI_EXIT_OK, 0);
	assert_string_equal(text(c, "verdict"), "unknown");
	assert_true(json_is_null(json_array_get(json_object_get(c, "ci95_pct"), 0)));
	assert_true(json_is_null(json_object_get(c, "welch_p")));
}

static void test_ministat_lines_are_those_of_ministat(void **state)
{
	(void)state;
	run_file("a.txt", slow);
	run_file("b.txt", fast);
	assert_int_equal(run("stat compare @a.txt @b.txt --style ministat"), CLI_EXIT_OK);
	assert_string_equal(
		run_out,
		"x a\n+ b\n"
		"    N           Min           Max        Median           Avg        Stddev\n"
		"x   6           9.9          10.3          10.1     10.091667     0.1428869\n"
		"+   6          10.9          11.3          11.1        11.095     0.1419507\n"
		"Difference at 95.0% confidence\n\t1.00333 +/- 0.183199\n"
		"\t9.9422% +/- 1.81535%\n\t(Student's t, pooled s = 0.14242)\n");
	run_file("b.txt", "10.1\n10.6\n10.0\n9.3\n9.9\n");
	assert_int_equal(run("stat compare @a.txt @b.txt --style ministat"), CLI_EXIT_OK);
	assert_contains(run_out, "No difference proven at 95.0% confidence\n");
}

static void test_benchstat_lines_have_prefixes_intervals_and_p(void **state)
{
	(void)state;
	run_file("x.csv", "params,kernel,value\n"
			  "e,o,0.0135\ne,o,0.0136\ne,o,0.0137\ne,o,0.0136\ne,o,0.0136\ne,o,0.0136\n"
			  "e,n,0.0118\ne,n,0.0119\ne,n,0.0117\ne,n,0.0118\ne,n,0.0118\ne,n,0.0118\n"
			  "f,o,1\nf,n,1\n");
	assert_int_equal(run("stat compare @x.csv --style benchstat"), CLI_EXIT_OK);
	assert_contains(run_out, "13.60m ± 1%");
	assert_contains(run_out, "11.80m ± 1%");
	assert_contains(run_out, "-13.24% (p=0.002 n=6)");
	assert_contains(run_out, "1.000 ± ∞");
	assert_contains(run_out, "~ (p=1.000 n=1)");
	assert_contains(run_out, "geomean");
	assert_contains(run_out, "need >= 6 samples");
}

/* Whatever the word: here the sides are not found different. */
static void test_several_modes_are_told(void **state)
{
	struct kg_str s = {0};
	json_t *c, *two;

	(void)state;
	kg_str_add(&s, "kernel,metric,value\n");
	for (int i = 0; i < 20; i++) {
		kg_str_addf(&s, "a,m,%.2f\nb,m,%.2f\n", 100 + 0.05 * ((i * 7) % 11),
			    (i % 2 ? 100 : 110) + 0.05 * ((i * 5) % 11));
	}
	run_file("x.csv", kg_str_text(&s));
	c = json("stat compare @x.csv", CLI_EXIT_OK, 0);
	two = json_object_get(c, "multimodal");
	assert_true(json_is_false(json_array_get(two, 0)));
	assert_true(json_is_true(json_array_get(two, 1)));
	assert_int_equal(run("stat compare @x.csv"), CLI_EXIT_OK);
	assert_contains(run_out, "b has more than one mode");
	kg_str_deinit(&s);
}

static void test_no_other_mean_goes_by_the_name_of_the_harmonic_one(void **state)
{
	json_t *c, *means;

	(void)state;
	run_file("a.txt", "1\n2\n3\n4\n5\n6\n");
	run_file("b.txt", "0\n2\n3\n4\n5\n6\n");
	c = json("stat compare @a.txt @b.txt --higher-is-better", CLI_EXIT_OK, 0);
	means = json_object_get(c, "hmean");
	assert_true(fabs(json_number_value(json_array_get(means, 0)) - 6 / 2.45) < 1e-9);
	assert_true(json_is_null(json_array_get(means, 1)));
}

/* Six boots a side are no yes: the gate could not have said no. */
static void test_a_gate_without_the_boots_to_decide_is_exit_5(void **state)
{
	struct kg_str s = {0};

	(void)state;
	run_file("a.txt", slow);
	run_file("b.txt", fast);
	assert_int_equal(run("stat compare @a.txt @b.txt --gate --lower-is-better"),
			 CLI_EXIT_NODATA);
	assert_contains(run_err, "8 boots a side");
	kg_str_add(&s, "kernel,boot,iteration,value\n");
	add_rows(&s, "a", 10, 8, 1);
	add_rows(&s, "b", 10, 8, 1);
	run_file("x.csv", kg_str_text(&s));
	assert_int_equal(run("stat compare @x.csv --gate --lower-is-better"), CLI_EXIT_OK);
	kg_str_deinit(&s);
}

static void test_names_cannot_steer_the_terminal_and_make_no_bad_json(void **state)
{
	json_t *c, *group;

	(void)state;
	run_file("x.csv", "metric,kernel,value\n\"\033[31mx\xff\",\"b\033[1m\",1\n"
			  "\"\033[31mx\xff\",a\033[1m,2\n");
	assert_int_equal(run("stat compare @x.csv"), CLI_EXIT_OK);
	assert_null(strchr(run_out, '\033'));
	assert_null(strchr(run_out, '\xff'));
	c = json("stat compare @x.csv", CLI_EXIT_OK, 0);
	group = json_object_get(c, "group");
	assert_string_equal(text(group, "metric"), "\033[31mx\xef\xbf\xbd");
	assert_int_equal(run("stat power --from @x.csv --json"), CLI_EXIT_NODATA);
	assert_contains(run_out, "\"metric\"");
}

static void test_csv_has_a_line_per_comparison(void **state)
{
	size_t lines = 0;

	(void)state;
	run_file("x.csv", "params,kernel,value\na,o,1\na,n,2\na,p,2\nb,o,1\nb,n,2\n");
	assert_int_equal(run("stat compare @x.csv --style csv"), CLI_EXIT_OK);
	for (const char *p = run_out; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 4);
	assert_contains(run_out, ",,,b,,,,,,o,n,unknown,");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, run_set_up, json_tear_down)
	const struct CMUnitTest tests[] = {
		T(test_plain_files_are_sides_named_after_themselves),
		T(test_a_regression_is_exit_1_in_either_direction),
		T(test_without_direction_a_change_is_different_and_no_failure),
		T(test_labels_can_be_given_and_files_of_one_name_are_told_apart),
		T(test_the_boot_is_the_unit),
		T(test_order_of_rows_does_not_matter),
		T(test_a_boot_is_one_within_job_attempt_and_file),
		T(test_what_is_there_makes_groups_and_they_are_never_mixed),
		T(test_sides_on_different_machines_are_incomparable),
		T(test_samples_are_read_as_they_are),
		T(test_bad_files_are_refused_with_the_place),
		T(test_no_data_is_exit_5_and_says_why),
		T(test_options_are_checked),
		T(test_unknown_columns_are_left_out_with_a_word),
		T(test_csv_comes_with_marks_quotes_comments_and_crlf),
		T(test_negative_zero_and_huge_values_have_defined_answers),
		T(test_ministat_lines_are_those_of_ministat),
		T(test_benchstat_lines_have_prefixes_intervals_and_p),
		T(test_several_modes_are_told),
		T(test_names_cannot_steer_the_terminal_and_make_no_bad_json),
		T(test_a_gate_without_the_boots_to_decide_is_exit_5),
		T(test_no_other_mean_goes_by_the_name_of_the_harmonic_one),
		T(test_csv_has_a_line_per_comparison),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
