/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles of A/A boots, and what compare takes from them. */
#include "coordinator/report/noise_report.h"
#include "tests/unit/report/fixture.h"

static Kgrid__V1__NoiseReply *make(struct rows *r)
{
	static const struct noise_schedule schedules[] = {{"m", 86400}};
	const struct noise_input in = {
		.rows = &r->in, .schedules = schedules, .n_schedules = 1, .seed = 1};
	Kgrid__V1__NoiseReply *reply = calloc(1, sizeof(*reply));
	struct kg_err err = {""};

	kgrid__v1__noise_reply__init(reply);
	if (report_noise(&in, reply, &err) < 0)
		fail_msg("%s", err.text);
	return reply;
}

static void drop(Kgrid__V1__NoiseReply *r)
{
	kgrid__v1__noise_reply__free_unpacked(r, NULL);
}

static void test_profile_is_of_the_newest_epoch_and_the_most_frequent_configuration(void **state)
{
	struct rows *r = rows_new();
	Kgrid__V1__NoiseReply *reply;
	const Kgrid__V1__NoiseProfile *p;
	size_t a = rows_cell(r, "m", "a", "x", "net", "size=1"), b;

	(void)state;
	b = rows_cell(r, "m", "b", "x", "net", "size=1");
	rows_boots(r, a, 0, 20, 1, 500, 0.001); /* over */
	rows_boots(r, a, 0, 12, 2, 100, 0.01);
	rows_boots(r, b, 0, 3, 2, 300, 0.01); /* newer, but few */
	reply = make(r);
	assert_int_equal(reply->n_profiles, 1);
	p = reply->profiles[0];
	assert_int_equal(p->boots, 12);
	assert_int_equal(p->epoch, 2);
	assert_true(fabs(p->median - 100) < 2);
	assert_true(p->between_cov_pct > 0.4 && p->between_cov_pct < 2.5);
	assert_true(p->within_cov_pct > 0.2 && p->within_cov_pct < 2.5);
	assert_int_equal(p->every_seconds, 86400);
	assert_int_equal(p->first_ns, 21000);
	assert_int_equal(p->last_ns, 32000);
	assert_int_equal(p->n_detectable_pct, 3);
	assert_true(p->detectable_pct[0] > p->detectable_pct[1] &&
		    p->detectable_pct[1] > p->detectable_pct[2]);
	assert_true(has_note(reply, "20 boots of epochs that are over"));
	assert_true(has_note(reply, "3 boots of another kernel or list"));
	drop(reply);
}

static void test_boots_are_taken_in_time_order(void **state)
{
	struct rows *r = rows_new();
	Kgrid__V1__NoiseReply *reply;
	size_t a = rows_cell(r, "m", "a", "x", "net", "size=1");

	(void)state;
	for (uint64_t i = 0; i < 20; i++) /* numbers of boots run against time; drift of 1 % */
		rows_value(r, a, 0, 100 - i, 100 + (double)i)->time_ns = (int64_t)i;
	reply = make(r);
	assert_true(reply->profiles[0]->has_drift_pct_per_boot);
	assert_true(reply->profiles[0]->drift_pct_per_boot > 0.5);
	drop(reply);
}

static void test_empty_and_few_boots_are_said(void **state)
{
	struct rows *r = rows_new();
	Kgrid__V1__NoiseReply *reply = make(r);
	struct report_min_effect *own;
	size_t n;

	(void)state;
	assert_int_equal(reply->n_profiles, 0);
	assert_true(has_note(reply, "no A/A boot has passed"));
	drop(reply);
	rows_value(r, rows_cell(r, "m", "a", "x", "net", "size=1"), 0, 1, 5);
	reply = make(r);
	assert_int_equal(reply->n_profiles, 1);
	assert_false(reply->profiles[0]->has_min_effect_pct); /* nothing was learnt */
	assert_true(has_note(reply, "too few boots"));
	assert_int_equal(report_noise_min_effects(reply, &own, &n), 0);
	assert_int_equal(n, 0);
	free(own);
	drop(reply);
}

static void test_min_effect_is_found_for_exactly_its_metric(void **state)
{
	struct rows *r = rows_new();
	Kgrid__V1__NoiseReply *reply;
	struct report_min_effect *own;
	struct report_cell other;
	size_t n;

	(void)state;
	rows_boots(r, rows_cell(r, "m", "a", "x", "net", "size=1"), 0, 16, 1, 100, 0.003);
	reply = make(r);
	assert_int_equal(report_noise_min_effects(reply, &own, &n), 0);
	assert_int_equal(n, 1);
	assert_true(own[0].pct == reply->profiles[0]->min_effect_pct && own[0].pct >= 1);
	r->in.min_effects = own;
	r->in.n_min_effects = n;
	assert_ptr_equal(report_find_min_effect(&r->in, &r->cells[0], &rows_metrics[0]), own);
	assert_null(report_find_min_effect(&r->in, &r->cells[0], &rows_metrics[1]));
	other = r->cells[0];
	other.params = "size=2";
	assert_null(report_find_min_effect(&r->in, &other, &rows_metrics[0]));
	other = r->cells[0];
	other.machine = "n";
	assert_null(report_find_min_effect(&r->in, &other, &rows_metrics[0]));
	free(own);
	drop(reply);
}

static void test_udp_and_scheduler_benchmarks_need_two_percent(void **state)
{
	static const struct {
		const char *workload, *params;
		double pct;
	} cases[] = {
		{"netperf", "size=64 test=UDP_RR", 2},
		{"netperf", "size=64 test=TCP_RR", 1},
		{"netperf", "test=udp_stream", 2},
		{"hackbench", "groups=4", 2},
		{"perf-bench", "test=sched-pipe", 2},
		{"perf-bench", "test=syscall-basic", 1},
		{"schbench", "", 2},
		{"scheme", "", 1},
		{NULL, NULL, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_true(report_default_min_effect(cases[i].workload, cases[i].params) ==
			    cases[i].pct);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_profile_is_of_the_newest_epoch_and_the_most_frequent_configuration),
		cmocka_unit_test(test_boots_are_taken_in_time_order),
		cmocka_unit_test(test_empty_and_few_boots_are_said),
		cmocka_unit_test(test_min_effect_is_found_for_exactly_its_metric),
		cmocka_unit_test(test_udp_and_scheduler_benchmarks_need_two_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
