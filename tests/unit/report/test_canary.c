/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drift within blocks as the canary shows it, and early ends in words. */
#include "tests/lib/cmocka_all.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/canary.h"
#include "coordinator/report/stops.h"
#include "tests/lib/alloc_fault.h"

#define VALUES 400

struct bench {
	struct canary_value v[VALUES];
	size_t n;
	char **notes;
	size_t n_notes;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct bench));
	return *state ? 0 : -1;
}

static void clear(struct bench *b)
{
	for (size_t i = 0; i < b->n_notes; i++)
		free(b->notes[i]);
	free(b->notes);
	b->notes = NULL;
	b->n_notes = 0;
}

static int teardown(void **state)
{
	clear(*state);
	free(*state);
	return 0;
}

/* Boots are numbered by their time. */
static struct canary_value *add(struct bench *b, uint32_t block, uint64_t boot, double value)
{
	struct canary_value *v = &b->v[b->n++];

	assert_true(b->n <= VALUES);
	*v = (struct canary_value){.machine = "m1",
				   .workload = "spin",
				   .params = "seconds=1",
				   .metric = "rate",
				   .unit = "op/s",
				   .direction = "higher",
				   .job = 1,
				   .block = block,
				   .boot = boot,
				   .time_ns = (int64_t)boot,
				   .value = value};
	return v;
}

/* `blocks` blocks whose last boot is at `ratio[i]` of the first. */
static void add_blocks(struct bench *b, uint32_t blocks, const double *ratio)
{
	for (uint32_t i = 0; i < blocks; i++) {
		(void)add(b, i + 1, 10 * i + 1, 200);
		(void)add(b, i + 1, 10 * i + 2, 200 * ratio[i]);
	}
}

static void run(struct bench *b)
{
	struct kg_err err = {""};

	clear(b);
	if (report_canary(b->v, b->n, &b->notes, &b->n_notes, &err) < 0)
		fail_msg("%s", err.text);
}

static void test_ratios_are_paired_within_blocks(void **state)
{
	static const double ratio[] = {1.01, 1.02, 1.03, 1.04, 1.05, 1.06};
	struct bench *b = *state;

	add_blocks(b, 6, ratio);
	for (size_t i = 8; i < 12; i++)
		b->v[i].value *= 5; /* another level in two blocks changes no ratio */
	run(b);
	assert_int_equal(b->n_notes, 2);
	assert_string_equal(b->notes[0], "canary m1: last boots of a block are +3.5 % [1.0, 6.0]"
					 " against the first (6 blocks)");
	assert_non_null(strstr(b->notes[1], "warning: 'm1' gets better by 3.5 % within a block"));
}

static void test_lower_is_better_turns_the_sign(void **state)
{
	static const double ratio[] = {1.02, 1.02, 1.02, 1.02, 1.02, 1.02};
	struct bench *b = *state;

	add_blocks(b, 6, ratio);
	for (size_t i = 0; i < b->n; i++)
		b->v[i].direction = "lower";
	run(b);
	assert_string_equal(b->notes[0], "canary m1: last boots of a block are -2.0 % [-2.0, -2.0]"
					 " against the first (6 blocks)");
	assert_non_null(strstr(b->notes[1], "gets worse by 2.0 %"));
}

static void test_small_drift_and_wide_intervals_are_no_warning(void **state)
{
	static const double small[] = {1.009, 1.009, 1.009, 1.009, 1.009, 1.009};
	static const double wide[] = {0.90, 1.04, 1.05, 1.06, 1.07, 1.08};
	struct bench *b = *state;

	add_blocks(b, 6, small);
	run(b);
	assert_int_equal(b->n_notes, 1);
	b->n = 0;
	add_blocks(b, 6, wide);
	run(b);
	assert_int_equal(b->n_notes, 1);
	assert_non_null(strstr(b->notes[0], "+5.5 % [-10.0, 8.0]"));
}

static void test_few_blocks_have_no_interval_and_no_warning(void **state)
{
	static const double ratio[] = {2, 2, 2, 2};
	struct bench *b = *state;

	add_blocks(b, 4, ratio);
	run(b);
	assert_int_equal(b->n_notes, 1);
	assert_string_equal(b->notes[0], "canary m1: last boots of a block are +100.0 % against"
					 " the first (4 blocks, too few for an interval)");
	b->n = 0;
	add_blocks(b, 1, ratio);
	run(b);
	assert_string_equal(b->notes[0], "canary m1: last boots of a block are +100.0 % against"
					 " the first (1 block, too few for an interval)");
}

static void test_a_boot_is_its_median_and_the_order_of_values_is_of_no_matter(void **state)
{
	struct bench *b = *state;

	(void)add(b, 1, 2, 30); /* the later boot comes first, and has an outlier */
	(void)add(b, 1, 2, 9999);
	(void)add(b, 1, 2, 20);
	(void)add(b, 1, 1, 10);
	(void)add(b, 1, 1, 30);
	run(b); /* 30 against 20 */
	assert_non_null(strstr(b->notes[0], "+50.0 %"));
}

static void test_the_first_and_the_last_of_several_boots_count(void **state)
{
	struct bench *b = *state;

	(void)add(b, 1, 5, 110);
	(void)add(b, 1, 3, 500);
	(void)add(b, 1, 1, 100);
	run(b);
	assert_non_null(strstr(b->notes[0], "+10.0 %"));
}

static void test_what_cannot_be_compared_is_counted(void **state)
{
	struct bench *b = *state;

	(void)add(b, 1, 1, 100);
	(void)add(b, 2, 3, 0); /* no ratio to 0 */
	(void)add(b, 2, 4, 100);
	add(b, 3, 5, 100)->epoch = 1;
	add(b, 3, 6, 150)->epoch = 2;
	(void)add(b, 4, 7, NAN);
	(void)add(b, 4, 8, 1e308);
	add(b, 5, 9, 1e-308)->epoch = 1;
	add(b, 5, 10, 1e308)->epoch = 1; /* beyond a double */
	run(b);
	assert_int_equal(b->n_notes, 1);
	assert_string_equal(b->notes[0],
			    "canary m1: no block has a first and a last boot to "
			    "compare; 2 blocks with one boot; 3 blocks not comparable");
	(void)add(b, 6, 11, 100);
	(void)add(b, 6, 12, 101);
	run(b);
	assert_string_equal(b->notes[0], "canary m1: last boots of a block are +1.0 % against the "
					 "first (1 block, too few for an interval); 2 blocks with "
					 "one boot; 3 blocks not comparable");
}

static void test_machines_metrics_and_jobs_are_told_apart(void **state)
{
	struct bench *b = *state;

	(void)add(b, 1, 1, 100);
	(void)add(b, 1, 2, 110);
	add(b, 1, 3, 100)->job = 2; /* block 1 of another job is another block */
	add(b, 1, 4, 130)->job = 2;
	add(b, 1, 5, 100)->machine = "m2";
	add(b, 1, 6, 90)->machine = "m2";
	add(b, 1, 5, 7)->machine = "m2";
	b->v[b->n - 1].metric = "latency";
	add(b, 1, 6, 7)->machine = "m2";
	b->v[b->n - 1].metric = "latency";
	run(b);
	assert_int_equal(b->n_notes, 3);
	assert_non_null(strstr(b->notes[0], "canary m1: last boots of a block are +20.0 %"));
	assert_non_null(strstr(b->notes[0], "(2 blocks"));
	assert_non_null(strstr(b->notes[1],
			       "canary m2, spin seconds=1 latency: last boots of a block are "
			       "+0.0 %"));
	assert_non_null(strstr(b->notes[2],
			       "canary m2, spin seconds=1 rate: last boots of a block are "
			       "-10.0 %"));
}

static void test_no_canary_is_no_note(void **state)
{
	struct bench *b = *state;

	run(b);
	assert_int_equal(b->n_notes, 0);
	(void)add(b, 1, 1, INFINITY);
	run(b);
	assert_int_equal(b->n_notes, 0);
}

static void test_out_of_memory_is_an_error(void **state)
{
	static const double ratio[] = {1.05, 1.05, 1.05, 1.05, 1.05, 1.05};
	struct bench *b = *state;
	bool hit = true;

	for (unsigned n = 1; hit; n++) {
		struct kg_err err = {""};
		int rc;

		clear(b);
		b->n = 0;
		add_blocks(b, 6, ratio);
		alloc_fault_arm(n);
		rc = report_canary(b->v, b->n, &b->notes, &b->n_notes, &err);
		hit = alloc_fault_disarm();
		assert_int_equal(rc, hit ? -ENOMEM : 0);
		assert_true(n < 1000);
	}
	assert_int_equal(b->n_notes, 2);
}

/* ---- early ends ---- */

static void check_stop(struct report_stop x, const char *expected)
{
	struct kg_str s = {0};

	report_stop_text(&x, &s);
	assert_string_equal(kg_str_text(&s), expected);
	kg_str_deinit(&s);
}

static void test_stops_say_who_when_and_why(void **state)
{
	(void)state;
	check_stop((struct report_stop){"m1", "skipped", "narrow", 12, 1, 7, 7},
		   "m1: stopped after 7 blocks, 12 slots are skipped: narrow");
	check_stop((struct report_stop){"m1", "queue-timeout", "", 1, 1, 1, 1},
		   "m1: stopped after 1 block, 1 slot is queue-timeout");
	check_stop((struct report_stop){NULL, "skipped", NULL, 9, 3, 2, 5},
		   "3 machines: stopped after 2 to 5 blocks, 9 slots are skipped");
	check_stop((struct report_stop){NULL, "skipped", "x", 9, 1, 0, 0},
		   "1 machine: stopped before the first block, 9 slots are skipped: x");
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_ratios_are_paired_within_blocks),
		T_(test_lower_is_better_turns_the_sign),
		T_(test_small_drift_and_wide_intervals_are_no_warning),
		T_(test_few_blocks_have_no_interval_and_no_warning),
		T_(test_a_boot_is_its_median_and_the_order_of_values_is_of_no_matter),
		T_(test_the_first_and_the_last_of_several_boots_count),
		T_(test_what_cannot_be_compared_is_counted),
		T_(test_machines_metrics_and_jobs_are_told_apart),
		T_(test_no_canary_is_no_note),
		T_(test_out_of_memory_is_an_error),
		cmocka_unit_test(test_stops_say_who_when_and_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
