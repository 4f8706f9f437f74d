/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Row 40: nothing is filed from one flaky failure; row 43: only fresh boots confirm. */
#include "tests/lib/cmocka_all.h"

#include "coordinator/detect/confirm.h"
#include "tests/unit/detect/reply.h"

static const struct confirm_machine machines[] = {
	{"intel-2", "GenuineIntel", false},
	{"amd-1", "AuthenticAMD", true},
	{"intel-3", "GenuineIntel", true},
	{"intel-1", "GenuineIntel", true},
	{"odd", NULL, true},
};
#define N_MACHINES (sizeof(machines) / sizeof(machines[0]))

static const char origin_text[] = "name: nightly\n"
				  "machines: [intel-1]\n"
				  "kernels: [6.1, 6.12]\n"
				  "lsm:\n"
				  "  prev: integrity,apparmor\n"
				  "  full: landlock,tomoyo\n"
				  "  plain: default\n"
				  "cmdline: mitigations=auto\n"
				  "workloads:\n"
				  "  - netperf: {test: TCP_STREAM, size: [64, 128]}\n"
				  "repeat: {boots: 8, iterations: 3}\n"
				  "priority: 70\n"
				  "budget: {wall: 1h}\n";

static struct job_spec *parse(const char *text)
{
	struct kg_err err = {""};
	struct job_spec *j;

	if (job_spec_parse("job", text, strlen(text), &j, &err) < 0)
		fail_msg("%s\n%s", err.text, text);
	return j;
}

static struct store_member member(const char *machine, const char *params, const char *kernel,
				  const char *lsm)
{
	return (struct store_member){.machine = machine,
				     .workload = "netperf",
				     .params = params,
				     .metric = "throughput",
				     .unit = "Mbit/s",
				     .kernel = kernel,
				     .lsm = lsm,
				     .job = 7,
				     .before = 2000,
				     .after = 1800,
				     .effect_pct = -10};
}

static void test_the_second_machine_is_a_connected_one_of_the_vendor(void **state)
{
	(void)state;
	assert_string_equal(confirm_second(machines, N_MACHINES, "intel-1"), "intel-3");
	assert_string_equal(confirm_second(machines, N_MACHINES, "intel-3"), "intel-1");
	assert_null(confirm_second(machines, N_MACHINES, "amd-1"));
	assert_null(confirm_second(machines, N_MACHINES, "odd"));
	assert_null(confirm_second(machines, N_MACHINES, "gone"));
}

static void test_the_job_has_three_blocks_of_just_the_two_kernels(void **state)
{
	struct store_member m[] = {
		member("intel-1", "size=64 test=TCP_STREAM", "6.12", "prev"),
		member("intel-1", "size=128 test=TCP_STREAM", "6.12", "prev"),
		member("amd-1", "size=64 test=TCP_STREAM", "6.12", "plain"),
	};
	struct store_regression r = {.id = 4,
				     .from_key = "aaaaaaaaaaaa",
				     .to_key = "bbbbbbbbbbbb",
				     .from_label = "6.1",
				     .to_label = "6.12",
				     .members = m,
				     .n_members = 3};
	struct job_spec *origin = parse(origin_text), *j;
	struct kg_err err = {""};
	struct kg_str s = {0};

	(void)state;
	assert_int_equal(confirm_job_text(&r, origin, machines, N_MACHINES, &s, &err), 0);
	j = parse(kg_str_text(&s));
	assert_string_equal(j->name, "confirm-4");
	assert_int_equal(j->boots, CONFIRM_BLOCKS);
	assert_int_equal(j->iterations, 3);
	assert_int_equal(j->priority, 70);
	assert_false(j->confirm); /* or it would go on for ever */
	assert_int_equal(j->kernels.n, 2);
	assert_string_equal(j->kernels.items[0].text, "aaaaaaaaaaaa");
	assert_int_equal(j->machines.names.n, 3);
	assert_string_equal(j->machines.names.items[1].text, "intel-3");
	assert_int_equal(j->n_lsms, 2);
	assert_string_equal(j->lsms[1].request, JOB_LSM_DEFAULT);
	assert_string_equal(j->cmdline, "mitigations=auto");
	assert_int_equal(j->n_workloads, 2);
	assert_string_equal(j->workloads[1].params[0].values.items[0].text, "128");
	job_spec_free(j);
	job_spec_free(origin);
	kg_str_deinit(&s);
}

static void test_lists_are_tried_with_the_baseline_first(void **state)
{
	struct store_member m[] = {member("amd-1", "size=64", "6.12", "prev")};
	struct store_regression r = {.id = 5,
				     .lsm_axis = true,
				     .from_key = "a",
				     .to_key = "b",
				     .from_label = "full",
				     .to_label = "prev",
				     .members = m,
				     .n_members = 1};
	struct job_spec *origin = parse(origin_text), *j;
	struct kg_err err = {""};
	struct kg_str s = {0};

	(void)state;
	assert_int_equal(confirm_job_text(&r, origin, machines, N_MACHINES, &s, &err), 0);
	j = parse(kg_str_text(&s));
	assert_int_equal(j->n_lsms, 2);
	assert_string_equal(j->lsms[0].label, "full");
	assert_string_equal(j->lsms[1].label, "prev");
	assert_int_equal(j->kernels.n, 1);
	assert_string_equal(j->kernels.items[0].text, "6.12");
	job_spec_free(j);
	r.to_label = "gone";
	assert_int_equal(confirm_job_text(&r, origin, machines, N_MACHINES, &s, &err), KG_ENODATA);
	assert_contains(err.text, "not in the job file");
	job_spec_free(origin);
	kg_str_deinit(&s);
}

static void test_confirmation_stays_within_the_budget(void **state)
{
	const uint64_t minute = 60000000000ULL;
	struct job_spec *j = parse(origin_text);

	(void)state;
	assert_true(confirm_fits(j, 40 * minute, 20 * minute));
	assert_false(confirm_fits(j, 40 * minute, 21 * minute));
	assert_false(confirm_fits(j, 61 * minute, 0));
	j->budget_ns = 0;
	assert_true(confirm_fits(j, 1000 * minute, 1000 * minute));
	job_spec_free(j);
}

struct trial {
	struct reply x;
	struct store_member m;
	struct store_regression r;
	struct confirm_result result;
};

/* Effect and one-sided p on the machine itself and, when p_second > 0, on the second one. */
static void judge(struct trial *t, double effect, double p, double second, double p_second)
{
	Kgrid__V1__CompareTable *table;

	reply_init(&t->x);
	t->m = member("intel-1", "size=64", "6.12", "prev");
	t->r = (struct store_regression){
		.from_label = "6.1", .to_label = "6.12", .members = &t->m, .n_members = 1};
	if (p > 0) {
		table = reply_table(&t->x, "intel-1", "netperf", "throughput",
				    "6.1/prev 6.12/prev");
		reply_cell(reply_row(&t->x, table, "size=64"), 1, "unknown", effect, p);
	}
	if (p_second > 0) {
		table = reply_table(&t->x, "intel-3", "netperf", "throughput",
				    "6.1/prev 6.12/prev");
		reply_cell(reply_row(&t->x, table, "size=64"), 1, "unknown", second, p_second);
	}
	assert_int_equal(
		confirm_judge(&t->r, &t->x.r, machines, N_MACHINES, &t->x.arena, &t->result), 0);
}

static void test_worse_again_on_both_machines_is_confirmed(void **state)
{
	struct trial t;

	(void)state;
	judge(&t, -9, 0.05, -8, 0.05);
	assert_true(t.result.confirmed);
	assert_true(t.result.members[0].confirmed);
	assert_string_equal(t.result.members[0].confirm_machine, "intel-3");
	assert_contains(t.result.text, "-9.00 %");
	assert_contains(t.result.text, "and on intel-3");
	reply_deinit(&t.x);
}

static void test_row_40_a_flaky_failure_is_refuted(void **state)
{
	struct trial t;

	(void)state;
	judge(&t, -0.2, 0.35, -0.1, 0.5);
	assert_false(t.result.confirmed);
	assert_contains(t.result.text, "none of 1 shows it again");
	reply_deinit(&t.x);
}

static void test_worse_on_its_own_machine_only_is_not_confirmed(void **state)
{
	struct trial t;

	(void)state;
	judge(&t, -9, 0.05, 0, 0.5);
	assert_false(t.result.confirmed);
	assert_contains(t.result.text, "none on a second machine");
	reply_deinit(&t.x);
}

static void test_a_second_machine_without_a_result_says_nothing(void **state)
{
	struct trial t;

	(void)state;
	judge(&t, -9, 0.05, 0, 0);
	assert_true(t.result.confirmed);
	assert_null(t.result.members[0].confirm_machine);
	reply_deinit(&t.x);
}

static void test_no_valid_result_confirms_nothing_and_says_so(void **state)
{
	struct trial t;

	(void)state;
	judge(&t, 0, 0, -9, 0.05);
	assert_false(t.result.confirmed);
	assert_contains(t.result.text, "no valid result");
	assert_int_equal(t.result.n_members, 0);
	reply_deinit(&t.x);
}

static void test_what_was_not_tried_is_not_refuted(void **state)
{
	struct store_member m[] = {member("intel-1", "size=64", "6.12", "prev"),
				   member("amd-1", "size=64", "6.12", "prev")};
	struct trial t;

	(void)state;
	judge(&t, -9, 0.05, -8, 0.05);
	t.r.members = m;
	t.r.n_members = 2;
	assert_int_equal(confirm_judge(&t.r, &t.x.r, machines, N_MACHINES, &t.x.arena, &t.result),
			 0);
	assert_true(t.result.confirmed);
	assert_int_equal(t.result.n_members, 1);
	assert_string_equal(t.result.members[0].machine, "intel-1");
	assert_contains(t.result.text, "confirmed: 1 of 1 show it again");
	assert_contains(t.result.text, "; of 1 more there is no valid result");
	reply_deinit(&t.x);
}

static void test_a_notice_names_boundary_size_and_job(void **state)
{
	struct store_member m[] = {member("intel-1", "size=64", "6.12", "prev")};
	struct store_regression r = {
		.id = 4, .from_label = "6.1", .to_label = "6.12", .members = m, .n_members = 1};
	struct kg_str s = {0};

	(void)state;
	confirm_notice(&r, "confirmed: again", &s);
	assert_contains(kg_str_text(&s), "kgrid: regression 4, kernel 6.1 -> 6.12\n");
	assert_contains(kg_str_text(&s), "-10.00 %, 2000 -> 1800 Mbit/s, job 7");
	kg_str_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_second_machine_is_a_connected_one_of_the_vendor),
		cmocka_unit_test(test_the_job_has_three_blocks_of_just_the_two_kernels),
		cmocka_unit_test(test_lists_are_tried_with_the_baseline_first),
		cmocka_unit_test(test_confirmation_stays_within_the_budget),
		cmocka_unit_test(test_worse_again_on_both_machines_is_confirmed),
		cmocka_unit_test(test_row_40_a_flaky_failure_is_refuted),
		cmocka_unit_test(test_worse_on_its_own_machine_only_is_not_confirmed),
		cmocka_unit_test(test_a_second_machine_without_a_result_says_nothing),
		cmocka_unit_test(test_no_valid_result_confirms_nothing_and_says_so),
		cmocka_unit_test(test_what_was_not_tried_is_not_refuted),
		cmocka_unit_test(test_a_notice_names_boundary_size_and_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
