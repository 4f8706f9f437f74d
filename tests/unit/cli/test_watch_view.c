/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/watch_view.h"
#include "cli/width.h"
#include "tests/lib/cmocka_all.h"

static char intel[] = "lab-intel", amd[] = "lab-amd", kernel[] = "6.12", lsm[] = "full";
static char busy[] = "busy", run[] = "run", cell[] = "netperf test=UDP_RR";
static char running[] = "running", name[] = "lsm-cost", pass[] = "pass",
	    infeasible[] = "infeasible";

static Kgrid__V1__OutcomeCount counts[2] = {KGRID__V1__OUTCOME_COUNT__INIT,
					    KGRID__V1__OUTCOME_COUNT__INIT};
static Kgrid__V1__OutcomeCount *count_list[2] = {&counts[0], &counts[1]};
static Kgrid__V1__Accounting accounting = KGRID__V1__ACCOUNTING__INIT;
static Kgrid__V1__JobSummary job = KGRID__V1__JOB_SUMMARY__INIT;
static Kgrid__V1__MachineProgress progress[2] = {KGRID__V1__MACHINE_PROGRESS__INIT,
						 KGRID__V1__MACHINE_PROGRESS__INIT};
static Kgrid__V1__MachineProgress *progress_list[2] = {&progress[0], &progress[1]};

static Kgrid__V1__WatchUpdate update(uint32_t boots_done)
{
	Kgrid__V1__WatchUpdate u = KGRID__V1__WATCH_UPDATE__INIT;

	counts[0].outcome = pass;
	counts[0].count = 3;
	counts[1].outcome = infeasible;
	counts[1].count = 2;
	accounting.slots = 10;
	accounting.pending = 5;
	accounting.n_outcomes = 2;
	accounting.outcomes = count_list;
	job.id = 4;
	job.name = name;
	job.state = running;
	job.accounting = &accounting;
	progress[0].machine = intel;
	progress[0].state = busy;
	progress[0].stage = run;
	progress[0].kernel = kernel;
	progress[0].lsm = lsm;
	progress[0].cell = cell;
	progress[0].iteration = 2;
	progress[0].iterations = 5;
	progress[0].boots_done = boots_done;
	progress[0].boots_total = 4;
	progress[0].samples = 12;
	progress[0].has_seconds_left = 1;
	progress[0].seconds_left = 90;
	progress[1].machine = amd;
	progress[1].state = busy;
	progress[1].boots_total = 4;
	u.job = &job;
	u.n_machines = 2;
	u.machines = progress_list;
	return u;
}

static void test_status_has_a_bar_per_machine_and_the_accounting(void **state)
{
	struct watch_view *v = watch_view_new();
	Kgrid__V1__WatchUpdate u = update(1);
	struct kg_str lines = {0}, s = {0};

	(void)state;
	watch_view_update(v, &u, &lines);
	assert_string_equal(kg_str_text(&lines),
			    "lab-intel: boot 1 of 4 done, about 1 min 30 s left\n");
	assert_int_equal(watch_view_status(v, 200, false, false, &s), 4);
	assert_string_equal(
		kg_str_text(&s),
		"job 4 lsm-cost: running\n"
		"lab-intel [#####...............] 1/4 boots, 12 samples, 1 min 30 s left  run 2/5  "
		"6.12/full  netperf test=UDP_RR\n"
		"lab-amd   [....................] 0/4 boots, 0 samples  busy\n"
		"slots 10 = 3 pass + 2 infeasible + 5 pending\n");
	kg_str_deinit(&lines);
	kg_str_deinit(&s);
	watch_view_free(v);
}

static void test_status_never_wraps(void **state)
{
	struct watch_view *v = watch_view_new();
	Kgrid__V1__WatchUpdate u = update(1);
	struct kg_str lines = {0}, s = {0};
	char *line, *save = NULL;

	(void)state;
	watch_view_update(v, &u, &lines);
	watch_view_status(v, 40, false, true, &s);
	for (line = strtok_r(s.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		assert_true(text_width(line) <= 40);
	kg_str_deinit(&lines);
	kg_str_deinit(&s);
	watch_view_free(v);
}

static void test_samples_and_events_are_a_line_each(void **state)
{
	static char params[] = "test=UDP_RR", metric[] = "rate", unit[] = "1/s";
	static char workload[] = "netperf", event[] = "lab-amd: panic\033[2J", *events[] = {event};
	Kgrid__V1__LiveSample sample = KGRID__V1__LIVE_SAMPLE__INIT, *samples[] = {&sample};
	Kgrid__V1__WatchUpdate u = KGRID__V1__WATCH_UPDATE__INIT;
	struct watch_view *v = watch_view_new();
	struct kg_str lines = {0};

	(void)state;
	sample.machine = intel;
	sample.kernel = kernel;
	sample.lsm = lsm;
	sample.workload = workload;
	sample.params = params;
	sample.metric = metric;
	sample.unit = unit;
	sample.has_iteration = 1;
	sample.iteration = 3;
	sample.value = 4521.1;
	u.n_samples = 1;
	u.samples = samples;
	u.n_events = 1;
	u.events = events;
	watch_view_update(v, &u, &lines);
	assert_string_equal(kg_str_text(&lines),
			    "lab-intel: 6.12/full netperf test=UDP_RR #3: rate 4521.10 1/s\n"
			    "lab-amd: panic?[2J\n");
	kg_str_deinit(&lines);
	watch_view_free(v);
}

static void test_counts_tell_what_could_run(void **state)
{
	struct watch_view *v = watch_view_new();
	Kgrid__V1__WatchUpdate u = update(0);
	struct kg_str lines = {0};

	(void)state;
	assert_int_equal(watch_view_job(v), 0);
	u.blocks_done = 1;
	watch_view_update(v, &u, &lines);
	assert_contains(kg_str_text(&lines), "block 1 is done on every machine");
	kg_str_clear(&lines);
	watch_view_update(v, &u, &lines);
	assert_string_equal(kg_str_text(&lines), "");
	assert_int_equal(watch_view_job(v), 4);
	assert_int_equal(watch_view_counts(v).slots, 10);
	assert_int_equal(watch_view_counts(v).feasible, 8);
	assert_int_equal(watch_view_counts(v).passed, 3);
	kg_str_deinit(&lines);
	watch_view_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_has_a_bar_per_machine_and_the_accounting),
		cmocka_unit_test(test_status_never_wraps),
		cmocka_unit_test(test_samples_and_events_are_a_line_each),
		cmocka_unit_test(test_counts_tell_what_could_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
