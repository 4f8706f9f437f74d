/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "coordinator/detect/calibrate.h"
#include "coordinator/plan/job.h"

static char *test_names[] = {(char *)(uintptr_t) "TCP_STREAM", (char *)(uintptr_t) "UDP_RR"};
static struct kg_param_decl of_netperf[] = {
	{.name = (char *)(uintptr_t) "size", .preset = (char *)(uintptr_t) "64"},
	{.name = (char *)(uintptr_t) "test", .choices = {test_names, 2}, .required = true}};
static struct kg_param_decl of_other[] = {
	{.name = (char *)(uintptr_t) "file", .required = true}}; /* which one, a person knows */
static const struct kg_workload hackbench = {.name = (char *)(uintptr_t) "hackbench"};
static const struct kg_workload netperf = {
	.name = (char *)(uintptr_t) "netperf", .params = of_netperf, .n_params = 2};
static const struct kg_workload other = {
	.name = (char *)(uintptr_t) "other", .params = of_other, .n_params = 1};
static const struct kg_workload *const workloads[] = {&hackbench, &netperf, &other};
static const struct calibrate_offer offer = {
	.machine = "amd-1", .kernel = "6.12", .workloads = workloads, .n_workloads = 3};

static struct job_spec *make(const Kgrid__V1__CalibrateRequest *rq)
{
	struct kg_err err = {""};
	struct kg_str s = {0};
	struct job_spec *j = NULL;

	if (calibrate_job_text(rq, &offer, &s, &err) < 0 ||
	    job_spec_parse("job", kg_str_text(&s), s.len, &j, &err) < 0)
		fail_msg("%s\n%s", err.text, kg_str_text(&s));
	kg_str_deinit(&s);
	return j;
}

static void test_all_workloads_on_the_newest_kernel_unless_said_otherwise(void **state)
{
	Kgrid__V1__CalibrateRequest rq = KGRID__V1__CALIBRATE_REQUEST__INIT;
	struct job_spec *j = make(&rq);

	(void)state;
	assert_string_equal(j->machines.names.items[0].text, "amd-1");
	assert_string_equal(j->kernels.items[0].text, "6.12");
	assert_int_equal(j->n_lsms, 1);
	assert_int_equal(j->n_workloads, 2);
	assert_int_equal(j->workloads[0].n_params, 0);
	assert_string_equal(j->workloads[1].params[0].name, "test");
	assert_int_equal(j->workloads[1].params[0].values.n, 2); /* every choice */
	assert_string_equal(j->workloads[1].params[0].values.items[1].text, "UDP_RR");
	assert_int_equal(j->boots, CALIBRATE_BOOTS);
	assert_false(j->confirm); /* noise is not to be confirmed */
	job_spec_free(j);
}

static void test_kernel_list_boots_and_workload_can_be_chosen(void **state)
{
	Kgrid__V1__CalibrateRequest rq = KGRID__V1__CALIBRATE_REQUEST__INIT;
	char *chosen[] = {(char *)(uintptr_t) "netperf: {test: UDP_RR, size: [64, 128]}"};
	struct job_spec *j;

	(void)state;
	rq.kernel = (char *)(uintptr_t) "6.1";
	rq.lsm = (char *)(uintptr_t) "landlock,yama";
	rq.workloads = chosen;
	rq.n_workloads = 1;
	rq.has_boots = 1;
	rq.boots = 20;
	j = make(&rq);
	assert_string_equal(j->kernels.items[0].text, "6.1");
	assert_string_equal(j->lsms[0].request, "landlock,yama");
	assert_int_equal(j->n_workloads, 1);
	assert_int_equal(j->boots, 20);
	job_spec_free(j);
}

static void refused(const Kgrid__V1__CalibrateRequest *rq, const struct calibrate_offer *o,
		    const char *why)
{
	struct kg_err err = {""};
	struct kg_str s = {0};

	assert_true(calibrate_job_text(rq, o, &s, &err) < 0);
	assert_contains(err.text, why);
	kg_str_deinit(&s);
}

static void test_what_cannot_be_calibrated_is_refused_with_the_reason(void **state)
{
	Kgrid__V1__CalibrateRequest rq = KGRID__V1__CALIBRATE_REQUEST__INIT;
	struct calibrate_offer nothing = {.machine = "amd-1"};
	char *two_lines[] = {(char *)(uintptr_t) "netperf\nmachines: [other]"};

	(void)state;
	refused(&rq, &nothing, "no kernel");
	nothing.kernel = "6.1";
	refused(&rq, &nothing, "no workload that can run");
	rq.has_boots = 1;
	rq.boots = 3;
	refused(&rq, &offer, "expected 4 to 1000");
	rq.boots = 12;
	rq.workloads = two_lines;
	rq.n_workloads = 1;
	refused(&rq, &offer, "expected one line");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_workloads_on_the_newest_kernel_unless_said_otherwise),
		cmocka_unit_test(test_kernel_list_boots_and_workload_can_be_chosen),
		cmocka_unit_test(test_what_cannot_be_calibrated_is_refused_with_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
