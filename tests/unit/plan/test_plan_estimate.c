/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hours, what a plan can detect, and where a cell came from. */
#include "fixture.h"

#include <math.h>

#include "coordinator/analysis/power.h"

#define SMALL                                                              \
	"name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {few: yama}\n" \
	"workloads:\n"                                                     \
	"  - netperf: {test: UDP_RR, size: [64, 1024], seconds: 1}\n"      \
	"  - hackbench: {groups: 1}\n"

#define SMALL_64  "seconds=1 size=64 test=UDP_RR"
#define SMALL_1K  "seconds=1 size=1024 test=UDP_RR"
#define HACKBENCH "groups=1 mode=process"

/* ---- hours ---- */

static void test_without_history_defaults_are_taken_and_said(void **state)
{
	struct grid *g = *state;

	assert_planned(g, SMALL);
	assert_int_equal(g->plan->machines[0].seconds, 5 * (PLAN_HOP_S + 2 * 6 + 25));
	assert_string_equal(g->plan->machines[0].estimate, "declared defaults");
}

static void test_history_of_this_machine_replaces_the_defaults(void **state)
{
	static const struct plan_pace paces[] = {
		{"lab-amd", "netperf", SMALL_64, 1.5, 40},
		{"lab-amd", "netperf", SMALL_1K, 2.5, 50},
		{"lab-amd", "hackbench", HACKBENCH, 3.25, 30},
		{"lab-intel", "hackbench", HACKBENCH, 1000, 30},
	};
	static const struct plan_hop hops[] = {{"lab-intel", 500, 9}, {"lab-amd", 11.5, 40}};
	struct grid *g = *state;

	g->in.history = (struct plan_history){.hops = hops, .n_hops = 2};
	assert_planned(g, SMALL);
	assert_string_equal(g->plan->machines[0].estimate,
			    "history of 40 boots, declared defaults of runs");
	g->in.history.paces = paces;
	g->in.history.n_paces = 4;
	assert_planned(g, SMALL);
	/* 11.5 s and five iterations of each, rounded up */
	assert_int_equal(g->plan->boots[0].seconds, 48);
	assert_int_equal(g->plan->machines[0].seconds, 5 * 48);
	assert_string_equal(g->plan->machines[0].estimate, "history of 40 boots and 120 runs");
	g->in.history.n_paces = 2;
	assert_planned(g, SMALL);
	assert_string_equal(g->plan->machines[0].estimate,
			    "history of 40 boots and 90 runs, declared defaults of other runs");
	g->in.history.hops = (const struct plan_hop[]){{"lab-amd", 11.5, 1}};
	g->in.history.paces = (const struct plan_pace[]){{"lab-amd", "hackbench", HACKBENCH, 3, 1}};
	g->in.history.n_hops = g->in.history.n_paces = 1;
	assert_planned(g, SMALL);
	assert_string_equal(g->plan->machines[0].estimate,
			    "history of 1 boot and 1 run, declared defaults of other runs");
	g->in.history.hops = hops;
	g->in.history.paces = paces;
	g->in.history.n_paces = 2;
	assert_planned(g, SMALL);
	assert_string_equal(g->plan->machines[0].estimate,
			    "history of 90 runs, declared defaults of other runs, 90 s a boot");
}

static void test_history_that_cannot_be_is_not_believed(void **state)
{
	static const struct plan_pace paces[] = {{"lab-amd", "hackbench", HACKBENCH, NAN, 1},
						 {"lab-amd", "netperf", SMALL_64, -1, 1},
						 {"lab-amd", "netperf", SMALL_1K, INFINITY, 1}};
	static const struct plan_hop hops[] = {{"lab-amd", 0, 1}};
	struct grid *g = *state;

	g->in.history =
		(struct plan_history){.paces = paces, .n_paces = 3, .hops = hops, .n_hops = 1};
	assert_planned(g, SMALL);
	assert_int_equal(g->plan->machines[0].seconds, 5 * (PLAN_HOP_S + 2 * 6 + 25));
	assert_string_equal(g->plan->machines[0].estimate, "declared defaults");
}

/* ---- what can be detected ---- */

static const struct plan_detectable *find(const struct plan *p, const char *params)
{
	size_t i;

	for (i = 0; i < p->n_detectable; i++)
		if (strcmp(p->detectable[i].params, params) == 0)
			return &p->detectable[i];
	fail_msg("nothing about '%s'", params);
	return NULL;
}

static void test_detectable_change_comes_from_the_spread_between_boots(void **state)
{
	static const struct plan_spread spreads[] = {
		{"lab-amd", "netperf", SMALL_64, "throughput", 0.5, 12},
		{"lab-amd", "netperf", SMALL_1K, "throughput", 0.5, 2},
		{"lab-intel", "hackbench", HACKBENCH, "time", 0.5, 12},
	};
	struct grid *g = *state;
	const struct plan_detectable *d;
	struct kg_err err;
	double sd = 0;

	g->in.history = (struct plan_history){.spreads = spreads, .n_spreads = 3};
	assert_planned(g, SMALL);
	assert_int_equal(g->plan->n_detectable, 3);
	d = find(g->plan, SMALL_64);
	assert_string_equal(d->metric, "throughput");
	assert_int_equal(d->boots, 12);
	assert_string_equal(d->note, "");
	/* power.t.test(n = 5 * 3 / pi, sig.level = 0.01, power = 0.8) */
	assert_int_equal(stats_power_effect(5 * 3 / 3.14159265358979, 0.8, 0.01, &sd, &err), 0);
	assert_true(fabs(d->pct - 0.5 * sd) < 1e-4);
	assert_true(d->pct > 1.2 && d->pct < 1.5);
	d = find(g->plan, SMALL_1K);
	assert_true(isnan(d->pct));
	assert_string_equal(d->note, "history of 2 boots: 3 are the least");
	d = find(g->plan, HACKBENCH);
	assert_true(isnan(d->pct));
	assert_string_equal(d->note, "no history of it on this machine");
	g->in.boots = 20; /* more boots see less */
	assert_planned(g, SMALL);
	assert_true(find(g->plan, SMALL_64)->pct < 0.6);
	g->in.boots = 4;
	assert_planned(g, SMALL);
	assert_string_equal(find(g->plan, SMALL_64)->note,
			    "4 boots a side cannot decide anything: 5 are the least");
}

static void test_infeasible_cells_detect_nothing(void **state)
{
	struct grid *g = *state;

	g->offers[1][0].available = false;
	assert_planned(g, SMALL);
	assert_int_equal(g->plan->n_detectable, 1);
	assert_string_equal(g->plan->detectable[0].workload, "hackbench");
}

/* ---- where a cell came from ---- */

static void explain(struct grid *g, uint64_t cell, struct kg_str *s)
{
	struct kg_texts lines;
	size_t i;

	kg_str_clear(s);
	if (plan_explain_cell(&g->in, g->plan, cell, &lines, &g->err) < 0)
		fail_msg("%s", g->err.text);
	for (i = 0; i < lines.n; i++)
		kg_str_addf(s, "%s\n", lines.items[i]);
	kg_texts_deinit(&lines);
}

static void test_explanation_names_the_files_places(void **state)
{
	struct grid *g = *state;
	struct kg_str s = {0};

	assert_planned(g, "name: j\n"
			  "machines: vendor == amd\n"
			  "kernels: [6.1.0-52-cloud-amd64, newer]\n"
			  "lsm: {a: \"yama,bpf\", b: \"yama,smack,bpf\"}\n"
			  "cmdline: quiet\n"
			  "workloads:\n"
			  "  - netperf: {test: UDP_RR, size: [64, 1024, \"2048..4096*2\"]}\n"
			  "  - netperf: {test: UDP_RR, size: 1024}\n"
			  "exclude: [size == 64]\n");
	assert_int_equal(g->plan->n_cells, 2 * 3);
	explain(g, 4, &s);
	assert_contains(s.text, "cell 4 of 6: lab-amd newer a netperf seconds=10 size=1024");
	assert_contains(s.text, "\nidentity: ");
	assert_contains(s.text, "\nmachine 'lab-amd': matches 'vendor == amd' at job.yaml:2:11\n");
	assert_contains(s.text, "\nkernel 'newer' (digest 61bbbbbbbb00): 'newer' at "
				"job.yaml:3:33\n");
	assert_contains(s.text, "\nlsm 'a': yama,bpf, at job.yaml:4:");
	assert_contains(s.text,
			"\n  its list on this kernel: lockdown,capability,yama,bpf,ima,evm\n");
	assert_contains(s.text, "\n  'b' gives the same list as 'a'\n");
	assert_contains(s.text, "\ncommand line: quiet lsm=yama,bpf panic=10\n");
	assert_contains(s.text, "\n  behind the machine's own: console=ttyS0 edd=off\n");
	assert_contains(s.text, "\n  'quiet' at job.yaml:5:10\n");
	assert_contains(s.text, "\nworkload 'netperf' at job.yaml:7:5\n");
	assert_contains(s.text, "\n  seconds=10: default of the workload\n");
	assert_contains(s.text, "\n  size=1024: given, 2 of 4, at job.yaml:7:");
	assert_contains(s.text, "\n  test=UDP_RR: given, 1 of 1, at job.yaml:7:");
	assert_contains(s.text, "\n  asked for once more by 'netperf' at job.yaml:8:5\n");
	assert_contains(s.text, "\nexclude 'size == 64' at job.yaml:9:");
	assert_contains(s.text, "\nboots of this machine that run it: ");
	assert_contains(s.text, "; 5 in all\n");
	kg_str_deinit(&s);
}

static void test_explanation_of_a_derived_list_leads_to_the_one_that_is_written_out(void **state)
{
	struct grid *g = *state;
	struct kg_str s = {0};

	assert_planned(g, "name: j\nmachines: [lab-amd]\nkernels: [newer]\npairwise: true\n"
			  "lsm:\n"
			  "  z: {base: y}\n"
			  "  y: {base: x, without: [yama, bpf], with: smack}\n"
			  "  x: landlock,yama,bpf,apparmor\n"
			  "workloads: [hackbench]\ncanary: {hackbench: {groups: 1}}\n"
			  "exclude: [workload == hackbench and lsm == x]\n");
	explain(g, 2, &s);
	assert_contains(s.text, "\nlsm 'z': landlock,apparmor,smack, at job.yaml:6:3\n"
				"  'z' is 'y' as it is; 'y' is landlock,apparmor,smack, at "
				"job.yaml:7:3\n"
				"  'y' is 'x' without yama, bpf and with smack; 'x' is "
				"landlock,yama,bpf,apparmor, at job.yaml:8:3\n");
	assert_contains(s.text, "\npairwise: chosen for pairs of values that no cell had that was "
				"chosen before it\n");
	assert_contains(s.text, "\nexclude 'workload == hackbench and lsm == x' at job.yaml:11:11: "
				"does not match it\n");
	/* the canary is not asked about */
	explain(g, 1, &s);
	assert_contains(s.text, "\ncanary 'hackbench' ");
	assert_null(strstr(s.text, "\nexclude "));
	assert_null(strstr(s.text, "\npairwise: "));
	kg_str_deinit(&s);
}

/* The list of kernels that are tried is shorter than the file's where two mean the same. */
static void test_explanation_names_what_stands_for_the_kernel(void **state)
{
	struct grid *g = *state;
	struct kg_str s = {0};

	g->kernels[0].added_ns = 1;
	g->kernels[1].added_ns = 2;
	assert_planned(g,
		       "name: j\nmachines: [lab-amd]\ncanary: none\n"
		       "kernels: [newest, newer, 6.1.0-52-cloud-amd64]\nworkloads: [hackbench]\n");
	assert_int_equal(g->plan->n_cells, 2);
	explain(g, 1, &s);
	assert_contains(s.text,
			"\nkernel 'newer' (digest 61bbbbbbbb00): 'newest' at job.yaml:4:11\n");
	assert_contains(s.text,
			"\nlsm 'default': the kernel's own list, for the file asks for none\n");
	explain(g, 2, &s);
	assert_contains(s.text, "(digest 61aaaaaaaa00): '6.1.0-52-cloud-amd64' at job.yaml:4:26\n");
	kg_str_deinit(&s);
}

static void test_explanation_of_a_client_that_machines_does_not_choose(void **state)
{
	struct grid *g = *state;
	struct kg_str s = {0};

	g->netperf->pair = true;
	g->machines[0].address = "10.0.0.1";
	g->machines[1].address = "10.0.0.2";
	assert_planned(g, "name: j\nmachines: vendor == amd\ncanary: none\nkernels: [newer]\n"
			  "workloads:\n  - netperf: {test: UDP_RR, role: {client: [lab-intel], "
			  "server: lab-amd}}\n");
	explain(g, 1, &s);
	assert_contains(s.text, "\nmachine 'lab-intel': none of 'machines', but a client that is "
				"named at job.yaml:6:45\n");
	assert_contains(s.text, "\nserver 'lab-amd': named at job.yaml:6:65\n");
	kg_str_deinit(&s);
}

static void test_explanation_of_what_cannot_run_and_of_what_is_not_there(void **state)
{
	struct grid *g = *state;
	struct kg_texts lines;
	struct kg_str s = {0};

	g->offers[1][0].available = false;
	g->offers[1][0].missing = "program 'netperf' not found";
	assert_planned(g, SMALL);
	explain(g, 1, &s);
	assert_contains(s.text, "\ncannot run: workload 'netperf' is not available on 'lab-amd': "
				"program 'netperf' not found\n");
	assert_contains(s.text, "\nboots: none\n");
	kg_str_deinit(&s);
	assert_int_equal(plan_explain_cell(&g->in, g->plan, 4, &lines, &g->err), KG_ENOTFOUND);
	assert_string_equal(g->err.text, "there is no cell 4: the plan has cells 1 to 3");
	assert_int_equal(plan_explain_cell(&g->in, g->plan, 0, &lines, &g->err), KG_ENOTFOUND);
}

static int setup(void **state)
{
	struct grid *g = malloc(sizeof(*g));

	if (!g)
		return -1;
	grid_init(g);
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	grid_deinit(*state);
	free(*state);
	return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_without_history_defaults_are_taken_and_said),
		T(test_history_of_this_machine_replaces_the_defaults),
		T(test_history_that_cannot_be_is_not_believed),
		T(test_detectable_change_comes_from_the_spread_between_boots),
		T(test_infeasible_cells_detect_nothing),
		T(test_explanation_names_the_files_places),
		T(test_explanation_of_a_derived_list_leads_to_the_one_that_is_written_out),
		T(test_explanation_names_what_stands_for_the_kernel),
		T(test_explanation_of_a_client_that_machines_does_not_choose),
		T(test_explanation_of_what_cannot_run_and_of_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
