/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which boundary a comparison blames. */
#include "tests/lib/cmocka_all.h"

#include "coordinator/detect/sighting.h"
#include "tests/unit/detect/reply.h"

static const struct sighting_question kernel_question = {
	.baseline = "6.1/*", .from = "6.1", .to = "6.12"};
static const struct sighting_question lsm_question = {
	.lsm_axis = true, .baseline = "*/prev", .from = "prev", .to = "full"};

static struct store_sighting sight(struct reply *x, const struct sighting_question *q)
{
	struct store_sighting s;

	assert_int_equal(sighting_of(&x->r, q, 7, 99, &x->arena, &s), 0);
	return s;
}

static void test_kernels_are_compared_with_the_one_before_and_lists_with_the_first(void **state)
{
	struct sighting_questions q;
	struct reply x;

	(void)state;
	reply_init(&x);
	reply_table(&x, "m", "w", "rate",
		    "6.1/prev 6.1/full 6.12/prev 6.12/full 6.18/prev 6.18/full");
	assert_int_equal(sighting_questions(&x.r, &x.arena, &q), 0);
	assert_int_equal(q.n, 3);
	assert_string_equal(q.items[0].baseline, "6.1/*");
	assert_string_equal(q.items[0].to, "6.12");
	assert_string_equal(q.items[1].baseline, "6.12/*");
	assert_string_equal(q.items[1].to, "6.18");
	assert_string_equal(q.items[2].baseline, "*/prev");
	assert_string_equal(q.items[2].to, "full");
	assert_true(q.items[2].lsm_axis);
	reply_deinit(&x);
}

static void test_a_job_of_one_column_has_nothing_to_ask(void **state)
{
	struct sighting_questions q;
	struct reply x;

	(void)state;
	reply_init(&x);
	assert_int_equal(sighting_questions(&x.r, &x.arena, &q), 0);
	assert_int_equal(q.n, 0);
	reply_table(&x, "m", "w", "rate", "6.1/prev");
	assert_int_equal(sighting_questions(&x.r, &x.arena, &q), 0);
	assert_int_equal(q.n, 0);
	reply_deinit(&x);
}

static void test_machines_and_parameters_of_one_boundary_are_one_sighting(void **state)
{
	struct store_sighting s;
	struct reply x;
	Kgrid__V1__CompareTable *t;

	(void)state;
	reply_init(&x);
	t = reply_table(&x, "intel", "netperf", "rate", "6.1/prev 6.12/prev");
	reply_cell(reply_row(&x, t, "size=64"), 1, "regression", -8.8, 0.004);
	reply_cell(reply_row(&x, t, "size=128"), 1, "regression", -9.4, 0.004);
	(void)reply_row(&x, t, "size=1024");
	t = reply_table(&x, "amd", "netperf", "rate", "6.1/full 6.12/full");
	reply_cell(reply_row(&x, t, "size=64"), 1, "regression", -3.0, 0.004);
	s = sight(&x, &kernel_question);
	assert_int_equal(s.n_members, 3);
	assert_string_equal(s.from_key, "d-6.1");
	assert_string_equal(s.to_key, "d-6.12");
	assert_string_equal(s.members[1].params, "size=128");
	assert_string_equal(s.members[2].machine, "amd");
	assert_string_equal(s.members[2].lsm, "full");
	assert_true(s.members[0].effect_pct == -8.8);
	assert_true(s.members[0].before == 1000 && s.members[0].after < 913);
	assert_int_equal(s.job, 7);
	reply_deinit(&x);
}

static void test_other_words_than_regression_are_no_sighting(void **state)
{
	static const char *const words[] = {"improvement", "different", "same",
					    "unknown",	   "unstable",	"incomparable"};
	struct reply x;
	Kgrid__V1__CompareTable *t;

	(void)state;
	reply_init(&x);
	t = reply_table(&x, "m", "w", "rate", "6.1/prev 6.12/prev");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		reply_cell(reply_row(&x, t, "a=1"), 1, words[i], -50, 0.0001);
	assert_int_equal(sight(&x, &kernel_question).n_members, 0);
	reply_deinit(&x);
}

static void test_only_the_column_that_the_question_names_counts(void **state)
{
	struct store_sighting s;
	struct reply x;
	Kgrid__V1__CompareTable *t;
	Kgrid__V1__CompareRow *row;

	(void)state;
	reply_init(&x);
	t = reply_table(&x, "m", "w", "rate", "6.1/prev 6.12/prev 6.18/prev");
	row = reply_row(&x, t, "");
	reply_cell(row, 2, "regression", -5, 0.001);
	assert_int_equal(sight(&x, &kernel_question).n_members, 0);
	t = reply_table(&x, "m", "w", "rate", "6.12/prev 6.12/full");
	reply_cell(reply_row(&x, t, ""), 1, "regression", -5, 0.001);
	s = sight(&x, &lsm_question);
	assert_int_equal(s.n_members, 1);
	assert_string_equal(s.to_key, "r-full");
	assert_string_equal(s.members[0].kernel, "6.12");
	reply_deinit(&x);
}

static void test_a_step_in_a_history_blames_the_kernels_beside_it(void **state)
{
	Kgrid__V1__HistoryReply h = KGRID__V1__HISTORY_REPLY__INIT;
	Kgrid__V1__HistorySeries series = KGRID__V1__HISTORY_SERIES__INIT, *list = &series;
	Kgrid__V1__HistoryPoint points[3], *p[3];
	Kgrid__V1__HistoryChange changes[3], *c[3];
	static const char *const labels[] = {"6.1", "6.2", "6.3"};
	static const char *const kinds[] = {"step", "epoch", "ramp"};
	struct store_sighting *s;
	struct reply x;
	size_t n;

	(void)state;
	reply_init(&x);
	for (int i = 0; i < 3; i++) {
		kgrid__v1__history_point__init(&points[i]);
		points[i].kernel = (char *)(uintptr_t)labels[i];
		points[i].boots = 4;
		p[i] = &points[i];
		kgrid__v1__history_change__init(&changes[i]);
		changes[i].index = 2;
		changes[i].kind = (char *)(uintptr_t)kinds[i];
		changes[i].verdict = (char *)(uintptr_t) "regression";
		changes[i].effect_pct = -4;
		changes[i].has_lo_pct = changes[i].has_hi_pct = 1;
		changes[i].lo_pct = -5;
		changes[i].hi_pct = -3;
		c[i] = &changes[i];
	}
	series.points = p;
	series.n_points = 3;
	series.changes = c;
	series.n_changes = 3;
	h.series = &list;
	h.n_series = 1;
	assert_int_equal(sighting_of_history(&h, &x.r, 7, 99, &x.arena, &s, &n), 0);
	assert_int_equal(n, 0); /* the job did not measure 6.3: an old step is not news */
	points[2].digest = (char *)(uintptr_t) "d-6.3";
	reply_table(&x, "m", "w", "rate", "6.3/prev");
	assert_int_equal(sighting_of_history(&h, &x.r, 7, 99, &x.arena, &s, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(s[0].from_label, "6.2");
	assert_string_equal(s[0].to_label, "6.3");
	assert_int_equal(s[0].n_members, 1);
	assert_true(s[0].members[0].history);
	assert_int_equal(s[0].members[0].boots_before, 8);
	assert_true(s[0].members[0].has_interval);
	assert_true(s[0].members[0].lo_pct == -5 && s[0].members[0].hi_pct == -3);
	reply_deinit(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_kernels_are_compared_with_the_one_before_and_lists_with_the_first),
		cmocka_unit_test(test_a_job_of_one_column_has_nothing_to_ask),
		cmocka_unit_test(test_machines_and_parameters_of_one_boundary_are_one_sighting),
		cmocka_unit_test(test_other_words_than_regression_are_no_sighting),
		cmocka_unit_test(test_only_the_column_that_the_question_names_counts),
		cmocka_unit_test(test_a_step_in_a_history_blames_the_kernels_beside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
