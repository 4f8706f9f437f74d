/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Axes beyond kernel, list and workload: command lines, settings, sets, defaults, ranges. */
#include "fixture.h"

#define SMALL                                                          \
	"name: j\n"                                                    \
	"kernels: [6.1.0-52-cloud-amd64, newer]\n"                     \
	"lsm: {few: \"yama\", many: \"landlock,yama,apparmor,bpf\"}\n" \
	"workloads:\n"                                                 \
	"  - netperf: {test: UDP_RR, size: [64, 1024], seconds: 1}\n"  \
	"  - hackbench: {groups: 1}\n"
#define ONE                                                                \
	"name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {few: yama}\n" \
	"workloads: [hackbench]\n"

static struct kg_param_value offered[] = {{"governor", "performance schedutil"},
					  {"thp", "always madvise never"}};

static void offer_settings(struct grid *g)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		g->machines[i].settings = offered;
		g->machines[i].n_settings = 2;
		g->machines[i].settings_known = true;
	}
}

struct both {
	struct grid g;
	struct hand h;
};

static void expect_error(struct both *b, int code, const char *part)
{
	int rc = grid_plan_hand(&b->g, &b->h);

	if (rc != code)
		fail_msg("expected %d, not %d: %s", code, rc, b->g.err.text);
	assert_contains(b->g.err.text, part);
}

/* ---- command lines ---- */

static void test_variants_multiply_boots_and_follow_the_jobs_words(void **state)
{
	struct both *b = *state;
	struct plan *p;

	hand_init(&b->h, &b->g, ONE);
	b->h.job.cmdline = (char *)"quiet";
	hand_variants(&b->h, "mitigations=auto|mitigations=off");
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(p->n_cells, 2);
	assert_int_equal(p->n_boots, 10);
	assert_string_equal(p->cells[0].cmdline, "quiet mitigations=auto lsm=yama panic=10");
	assert_string_equal(p->cells[1].cmdline, "quiet mitigations=off lsm=yama panic=10");
	assert_string_equal(p->cells[1].variant, "mitigations=off");
	assert_string_not_equal(p->cells[0].identity, p->cells[1].identity);
	assert_balanced(p);
}

static void test_variants_with_the_same_words_are_duplicates(void **state)
{
	struct both *b = *state;

	hand_init(&b->h, &b->g, ONE);
	hand_variants(&b->h, "a=1 b|a=1  b||c");
	assert_planned_hand(&b->g, &b->h);
	assert_int_equal(b->g.plan->full, 4);
	assert_int_equal(b->g.plan->n_cells, 3);
	assert_int_equal(b->g.plan->duplicates, 1);
	assert_string_equal(b->g.plan->cells[1].cmdline, "lsm=yama panic=10");
	assert_balanced(b->g.plan);
}

static void test_variant_may_change_the_list(void **state)
{
	struct both *b = *state;

	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nmachines: lab-amd\nworkloads: [hackbench]\n"
		  "lsm: {a: \"yama\", b: \"yama,apparmor\"}\n");
	hand_variants(&b->h, "apparmor=0|apparmor=1");
	assert_planned_hand(&b->g, &b->h);
	/* without apparmor both lists are the same */
	assert_int_equal(b->g.plan->n_cells, 3);
	assert_int_equal(b->g.plan->merged, 1);
	assert_int_equal(b->g.plan->n_merges, 1);
	assert_balanced(b->g.plan);
}

/* ---- settings ---- */

static void test_settings_are_an_axis_each_and_part_of_the_identity(void **state)
{
	struct both *b = *state;
	struct plan *p;
	char before[KG_SHA256_HEX_SIZE];

	offer_settings(&b->g);
	hand_init(&b->h, &b->g, ONE);
	assert_planned_hand(&b->g, &b->h);
	memcpy(before, b->g.plan->cells[0].identity, sizeof(before));
	hand_setting(&b->h, "sysctl.vm.swappiness", "10");
	hand_setting(&b->h, "governor", "performance|schedutil");
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(p->n_cells, 2);
	assert_string_equal(p->cells[0].settings, "governor=performance; sysctl.vm.swappiness=10");
	assert_string_equal(p->cells[0].variant, "governor=performance");
	assert_string_equal(p->boots[0].settings[0] ? p->cells[1].variant : "",
			    "governor=schedutil");
	assert_string_not_equal(p->cells[0].identity, before);
	assert_string_not_equal(p->cells[0].identity, p->cells[1].identity);
	assert_string_equal(p->cells[0].cmdline, "lsm=yama panic=10");
	assert_int_equal(p->n_boots, 10);
	assert_balanced(p);
}

static void test_setting_that_is_not_offered_says_what_is(void **state)
{
	struct both *b = *state;
	struct plan *p;

	offer_settings(&b->g);
	hand_init(&b->h, &b->g, ONE);
	hand_setting(&b->h, "governor", "performance|powersave");
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_null(p->cells[0].infeasible);
	assert_string_equal(p->cells[1].infeasible,
			    "'governor' cannot be 'powersave' on 'lab-amd': it can be performance "
			    "schedutil");
	assert_string_equal(
		p->infeasible[0].cell,
		"lab-amd newer few governor=powersave hackbench groups=10 mode=process");
	hand_init(&b->h, &b->g, ONE);
	hand_setting(&b->h, "turbo", "off");
	assert_planned_hand(&b->g, &b->h);
	assert_string_equal(
		b->g.plan->cells[0].infeasible,
		"'turbo' cannot be set on 'lab-amd': what can is governor, thp, sysctl");
}

static void test_old_agent_makes_settings_infeasible(void **state)
{
	struct both *b = *state;

	hand_init(&b->h, &b->g, ONE);
	hand_setting(&b->h, "sysctl.vm.swappiness", "10");
	assert_planned_hand(&b->g, &b->h);
	assert_contains(b->g.plan->cells[0].infeasible,
			"the agent of 'lab-amd' is too old to apply settings");
	assert_int_equal(b->g.plan->n_boots, 0);
	b->g.machines[1].settings_known = true; /* and nothing but sysctl */
	assert_planned_hand(&b->g, &b->h);
	assert_null(b->g.plan->cells[0].infeasible);
}

static void test_value_written_twice_is_a_duplicate(void **state)
{
	struct both *b = *state;

	offer_settings(&b->g);
	hand_init(&b->h, &b->g, ONE);
	hand_setting(&b->h, "thp", "never|always|never");
	assert_planned_hand(&b->g, &b->h);
	assert_int_equal(b->g.plan->n_cells, 2);
	assert_int_equal(b->g.plan->duplicates, 1);
	assert_balanced(b->g.plan);
}

static void test_setting_that_forbids_kexec_is_left_by_reboot(void **state)
{
	struct both *b = *state;
	const struct plan_boot *boot;
	size_t i;

	offer_settings(&b->g);
	hand_init(&b->h, &b->g, ONE);
	hand_setting(&b->h, "sysctl.kernel.kexec_load_disabled", "1|0");
	assert_planned_hand(&b->g, &b->h);
	for (i = 0; i < b->g.plan->n_boots; i++) {
		boot = &b->g.plan->boots[i];
		assert_int_equal(boot->leave_by_reboot, boot->position == 2);
		assert_int_equal(boot->leave_by_reboot,
				 strstr(boot->settings, "disabled=1") != NULL);
	}
}

/* ---- sets and defaults ---- */

static struct job_set make_set(struct hand *h, const char *name, const char *param,
			       const char *values)
{
	struct job_set s = {.name = hand_text(h, name), .n_params = 1};

	s.params = hand_alloc(h, sizeof(*s.params));
	s.params[0] = hand_param(h, param, values);
	return s;
}

static void test_sets_are_alternatives_and_the_workloads_own_values_win(void **state)
{
	struct both *b = *state;
	struct plan *p;
	struct job_workload *w;

	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {few: yama}\n"
		  "workloads: [hackbench: {mode: thread}]\n");
	w = &b->h.job.workloads[0];
	w->sets = hand_alloc(&b->h, 2 * sizeof(*w->sets));
	w->n_sets = 2;
	w->sets[0] = make_set(&b->h, "quick", "groups", "1");
	w->sets[1] = make_set(&b->h, "full", "groups", "1|2|4");
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(p->full, 4);
	assert_int_equal(p->n_cells, 3);
	assert_int_equal(p->duplicates, 1); /* groups=1 is in both */
	assert_string_equal(p->cells[0].params, "groups=1 mode=thread");
	assert_string_equal(p->cells[2].params, "groups=4 mode=thread");
	assert_balanced(p);
	w->sets[1] = make_set(&b->h, "full", "mode", "process");
	assert_planned_hand(&b->g, &b->h);
	assert_string_equal(b->g.plan->cells[1].params, "groups=10 mode=thread");
}

static void add_default(struct hand *h, const char *workload, const char *param, const char *values,
			bool matrix)
{
	struct job_default *d = hand_alloc(h, (h->job.n_defaults + 1) * sizeof(*d));

	if (h->job.n_defaults)
		memcpy(d, h->job.defaults, h->job.n_defaults * sizeof(*d));
	d[h->job.n_defaults++] = (struct job_default){workload ? hand_text(h, workload) : NULL,
						      hand_param(h, param, values), matrix};
	h->job.defaults = d;
}

static void test_defaults_reach_only_workloads_that_declare_and_do_not_give_them(void **state)
{
	struct both *b = *state;
	struct plan *p;

	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {few: yama}\nworkloads:\n"
		  "  - netperf: {test: UDP_RR}\n  - netperf: {test: UDP_RR, seconds: 5}\n"
		  "  - hackbench\n");
	add_default(&b->h, "netperf", "size", "128", false);
	add_default(&b->h, NULL, "size", "256", false);
	add_default(&b->h, NULL, "seconds", "1|2", true);
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(p->n_cells, 4);
	assert_string_equal(p->cells[0].params, "seconds=1 size=128 test=UDP_RR");
	assert_string_equal(p->cells[1].params, "seconds=2 size=128 test=UDP_RR");
	assert_string_equal(p->cells[2].params, "seconds=5 size=128 test=UDP_RR");
	assert_string_equal(p->cells[3].params, "groups=10 mode=process");
}

static void test_matrix_over_what_nobody_declares_is_refused(void **state)
{
	struct both *b = *state;

	hand_init(&b->h, &b->g, ONE);
	add_default(&b->h, NULL, "size", "1", false);
	assert_planned_hand(&b->g, &b->h);
	assert_true(warns(b->g.plan, "defaults: no workload of the job has a parameter 'size'"));
	add_default(&b->h, NULL, "sise", "1", true);
	expect_error(b, KG_EINVALID,
		     "job.yaml:90:7: 'matrix': no workload of the job has a parameter 'sise'");
	hand_init(&b->h, &b->g, ONE);
	add_default(&b->h, "hackbench", "group", "1", false);
	expect_error(b, KG_EINVALID, "job.yaml:90:7: hackbench: ");
	assert_contains(b->g.err.text, "'groups'");
}

/* ---- ranges ---- */

static void expect_params(struct both *b, const char *values, const char *first, const char *last,
			  size_t n)
{
	char text[256];
	struct plan *p;

	(void)snprintf(text, sizeof(text),
		       "name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {few: yama}\n"
		       "workloads: [netperf: {test: UDP_RR, size: \"%s\"}]\n",
		       values);
	hand_init(&b->h, &b->g, text);
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(p->n_cells, n);
	assert_contains(p->cells[0].params, first);
	assert_contains(p->cells[n - 1].params, last);
}

static void test_ranges_are_expanded(void **state)
{
	struct both *b = *state;

	expect_params(b, "3..10", "size=3 ", "size=10 ", 8);
	expect_params(b, "3..10+4", "size=3 ", "size=7 ", 2);
	expect_params(b, "64..1024*2", "size=64 ", "size=1024 ", 5);
	expect_params(b, "64..1000*2", "size=64 ", "size=512 ", 4);
	expect_params(b, "7..7", "size=7 ", "size=7 ", 1);
	expect_params(b, " 1 .. 65507 + 65506 ", "size=1 ", "size=65507 ", 2);
	expect_params(b, "1..65507*65507", "size=1 ", "size=65507 ", 2);
}

static void expect_range_error(struct both *b, const char *values, const char *part)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "name: j\nkernels: [newer]\nmachines: lab-amd\n"
		       "workloads: [netperf: {test: UDP_RR, size: \"%s\"}]\n",
		       values);
	hand_init(&b->h, &b->g, text);
	expect_error(b, KG_EINVALID, "job.yaml:4:43: netperf: 'size': ");
	assert_contains(b->g.err.text, part);
}

static void test_impossible_ranges_are_refused(void **state)
{
	struct both *b = *state;

	expect_range_error(b, "10..5", "the range '10..5' ends before it begins; write '5..10'");
	expect_range_error(b, "1..99999", "from 1 to 65507, not '99999'");
	expect_range_error(b, "0..5", "not '0'");
	expect_range_error(b, "1..9+0", "the step behind '+' must be at least 1");
	expect_range_error(b, "1..9*1",
			   "the factor behind '*' must be a whole number of at least 2");
	expect_range_error(b, "1..9*x", "not 'x'");
	expect_range_error(b, "..9", "a range has two ends");
	expect_range_error(b, "1..", "a range has two ends");
	expect_range_error(b, "1...9", "not '.9'");
}

static void test_two_dots_in_a_text_are_no_range(void **state)
{
	struct both *b = *state;

	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nmachines: lab-amd\n"
		  "workloads: [netperf: {test: \"1..2\"}]\n");
	expect_error(b, KG_EINVALID, "expected one of TCP_STREAM, UDP_RR");
}

static void test_huge_job_is_refused_before_memory_is_spent(void **state)
{
	struct both *b = *state;
	size_t i;

	/* 10^12 cells, then more than 64 bits can count */
	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nmachines: lab-amd\nworkloads:\n"
		  "  - netperf: {test: UDP_RR, size: 1..50000, seconds: 1..2000}\n");
	for (i = 0; i < 4; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "sysctl.kernel.x%zu", i);
		hand_setting(&b->h, name, "0|1|2|3|4|5|6|7|8|9");
	}
	expect_error(b, KG_ELIMIT,
		     "the job has 5000000000000 slots (1 kernels x 1 lsm lists x 1 "
		     "command lines x 10000 settings x 100000000 parameter sets");
	for (; i < 20; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "sysctl.kernel.x%zu", i);
		hand_setting(&b->h, name, "0|1|2|3|4|5|6|7|8|9");
	}
	expect_error(b, KG_ELIMIT, "the job has more than 4611686018427387904 slots");
	b->h.job.pairwise = true;
	expect_error(b, KG_ELIMIT, "more than 4611686018427387904 slots");
}

static void test_predicates_take_the_units_that_parameters_take(void **state)
{
	struct grid *g = &((struct both *)*state)->g;
	char *unit = g->netperf->params[2].unit;

	assert_string_equal(g->netperf->params[2].name, "seconds");
	g->netperf->params[2].unit = (char *)"s";
	assert_planned(g, "name: j\nkernels: [newer]\nmachines: lab-amd\n"
			  "workloads: [netperf: {test: UDP_RR, seconds: [10s, 1m, 90]}]\n"
			  "exclude: [\"seconds >= 1m and seconds < 1.5m\"]\n");
	g->netperf->params[2].unit = unit;
	assert_int_equal(g->plan->n_cells, 2);
	assert_contains(g->plan->cells[0].params, "seconds=10 ");
	assert_contains(g->plan->cells[1].params, "seconds=90 ");
}

/* With all pairs and predicates what is left is not known at first; the count still comes before rows,
 * pairs and, where the axes alone say it, values. */
static void test_all_pairs_of_too_much_are_refused_before_memory_is_spent(void **state)
{
	static const struct {
		const char *predicate, *sizes, *error;
	} cases[] = {
		{"size == 3", "size: 1..50000, seconds: 1..3600",
		 "job.yaml: the job has at least 18000 slots (all pairs: 3600 cells x 5 boots), "
		 "the "
		 "limit is 10000"},
		{"size == 3 and seconds == 3", "size: 1..50000, seconds: 1..3600",
		 "job.yaml: pairwise: the axes of workload 'netperf' that 'exclude' and 'only' "
		 "name "
		 "have 180000000 combinations, the limit is 4194304"},
		{"size == 3", "size: 1..50000",
		 "job.yaml: the job has at least 249995 slots (all pairs: 49999 cells x 5 boots), "
		 "the limit is 10000"},
		{"size == 3 and seconds == 3", "size: 1..100, seconds: 1..100",
		 "job.yaml: the job has at least 49995 slots (all pairs: 9999 cells x 5 boots), "
		 "the "
		 "limit is 10000"},
		{"size > 20", "size: 1..100, seconds: 1..100",
		 NULL}, /* 2000 cells, 10000 slots: as many as may be */
		{"size > 21", "size: 1..100, seconds: 1..100",
		 "job.yaml: the job has at least 10500 slots (all pairs: 2100 cells x 5 boots), "
		 "the "
		 "limit is 10000"},
	};
	struct grid *g = &((struct both *)*state)->g;
	size_t i;

	g->in.max_slots = 10000;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		int rc;

		(void)snprintf(text, sizeof(text),
			       "name: j\nkernels: [newer]\nmachines: lab-amd\npairwise: true\n"
			       "canary: none\nexclude: [\"%s\"]\n"
			       "workloads: [netperf: {test: UDP_RR, %s}]\n",
			       cases[i].predicate, cases[i].sizes);
		rc = grid_plan(g, text);
		assert_int_equal(rc, cases[i].error ? KG_ELIMIT : 0);
		if (cases[i].error)
			assert_string_equal(g->err.text, cases[i].error);
		else
			assert_int_equal(g->plan->n_cells, 2000);
	}
}

/* ---- kernels by when they were added ---- */

static void test_newest_and_previous_kernel(void **state)
{
	struct both *b = *state;
	struct grid *g = &b->g;

	g->kernels[0].added_ns = 200;
	g->kernels[1].added_ns = 100;
	assert_planned(g, "name: j\nkernels: [previous, newest]\nmachines: lab-amd\n"
			  "workloads: [hackbench]\n");
	assert_string_equal(g->plan->cells[0].kernel, DIGEST_612);
	assert_string_equal(g->plan->cells[1].kernel, DIGEST_61);
	g->in.n_kernels = 1;
	assert_int_equal(grid_plan(g, "name: j\nkernels: [previous]\nworkloads: [hackbench]\n"),
			 KG_ENOTFOUND);
	assert_contains(g->err.text, "there is no kernel before '6.1.0-52-cloud-amd64'");
}

static void test_added_kernel_is_the_one_that_was_added(void **state)
{
	struct both *b = *state;
	struct grid *g = &b->g;
	const char *text = "name: j\nkernels: [added, previous]\nmachines: lab-amd\n"
			   "workloads: [hackbench]\nwhen: kernel added\n";

	g->kernels[2] = g->kernels[1];
	g->kernels[2].digest = "77cccccccc00000000000000000000000000000000000000000000000000000000";
	g->kernels[2].label = "third";
	g->kernels[2].added_ns = 300;
	g->kernels[1].added_ns = 200;
	g->kernels[0].added_ns = 100;
	g->in.n_kernels = 3;
	assert_int_equal(grid_plan(g, text), KG_EINVALID);
	assert_contains(g->err.text, "job.yaml:2:11: 'kernels': 'added' is the kernel of");
	g->in.added_kernel = DIGEST_612; /* not the newest any more */
	assert_planned(g, text);
	assert_string_equal(g->plan->cells[0].kernel, DIGEST_612);
	assert_string_equal(g->plan->cells[1].kernel, DIGEST_61);
	g->in.added_kernel = "ffff";
	assert_int_equal(grid_plan(g, text), KG_ENOTFOUND);
	/* a kernel that is called so is meant */
	g->kernels[0].label = "added";
	assert_planned(g,
		       "name: j\nkernels: [added]\nworkloads: [hackbench]\nwhen: kernel added\n");
	assert_string_equal(g->plan->cells[0].kernel, DIGEST_61);
}

static void test_default_that_is_almost_a_key_is_asked_about(void **state)
{
	struct both *b = *state;

	assert_planned(&b->g, "name: j\nkernels: [newer]\nworkloads: [hackbench]\n"
			      "defaults: {priorty: 40, colour: red}\n");
	assert_true(
		warns(b->g.plan, "has a parameter 'priorty'; did you mean the key 'priority'?"));
	assert_true(warns(b->g.plan, "has a parameter 'colour'"));
}

static void test_kernel_that_a_word_means_too_is_tried_once(void **state)
{
	struct both *b = *state;
	struct grid *g = &b->g;

	g->kernels[0].added_ns = 100;
	g->kernels[1].added_ns = 200;
	g->in.added_kernel = DIGEST_612;
	assert_planned(g, "name: j\nkernels: [newer, added, previous, newest]\n"
			  "machines: lab-amd\nworkloads: [hackbench]\nwhen: kernel added\n");
	assert_int_equal(g->plan->n_cells, 2);
	assert_string_equal(g->plan->cells[0].kernel, DIGEST_612);
	assert_string_equal(g->plan->cells[1].kernel, DIGEST_61);
	assert_true(warns(g->plan, "'added' is the same kernel as 'newer' this time"));
	assert_true(warns(g->plan, "'newest' is the same kernel as 'newer' this time"));
	/* two names of one kernel stay a slip */
	assert_int_equal(grid_plan(g, "name: j\nkernels: [added, newer, 61bbbbbb]\n"
				      "workloads: [hackbench]\nwhen: kernel added\n"),
			 0);
	assert_int_equal(grid_plan(g, "name: j\nkernels: [newer, 61bbbbbb]\n"
				      "workloads: [hackbench]\n"),
			 KG_EINVALID);
	assert_contains(g->err.text, "job.yaml:2:18: 'kernels': '61bbbbbb' is the same kernel");
}

/* ---- warnings ---- */

static void test_warnings_come_once_not_for_each_machine_variant_and_setting(void **state)
{
	struct both *b = *state;
	size_t i, same = 0, built_in = 0;

	offer_settings(&b->g);
	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nworkloads: [hackbench]\n"
		  "lsm: {a: \"yama,bpf\", b: \"yama,smack,bpf\"}\n");
	hand_setting(&b->h, "governor", "performance|schedutil");
	hand_variants(&b->h, "x|y");
	assert_planned_hand(&b->g, &b->h);
	for (i = 0; i < b->g.plan->warnings.n; i++) {
		same += strstr(b->g.plan->warnings.items[i], "same list as") != NULL;
		built_in += strstr(b->g.plan->warnings.items[i], "'smack'") != NULL;
	}
	assert_int_equal(same, 1);
	assert_int_equal(built_in, 1);
	assert_int_equal(b->g.plan->n_merges, 2); /* one a machine */
	assert_int_equal(b->g.plan->merged, 2 * 2 * 2);
	assert_balanced(b->g.plan);
}

static void test_axes_are_listed_in_the_order_of_the_expansion(void **state)
{
	struct both *b = *state;
	const struct plan *p;
	struct kg_str s = {0};
	size_t i, k;

	offer_settings(&b->g);
	hand_init(&b->h, &b->g, SMALL);
	hand_setting(&b->h, "governor", "performance|schedutil");
	hand_variants(&b->h, "x|y");
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	for (i = 0; i < p->n_axes; i++) {
		kg_str_addf(&s, "%s:", p->axes[i].name);
		for (k = 0; k < p->axes[i].n; k++)
			kg_str_addf(&s, " %s", p->axes[i].values[k]);
		kg_str_add(&s, "\n");
	}
	assert_string_equal(kg_str_text(&s), "machine: lab-amd lab-intel\n"
					     "kernel: 6.1.0-52-cloud-amd64 newer\n"
					     "lsm: few many\n"
					     "cmdline: x y\n"
					     "governor: performance schedutil\n"
					     "workload: netperf hackbench\n"
					     "netperf.test: UDP_RR\n"
					     "netperf.size: 64 1024\n"
					     "netperf.seconds: 1\n"
					     "hackbench.groups: 1\n");
	kg_str_deinit(&s);
}

static const struct plan_axis *axis(const struct plan *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_axes; i++)
		if (strcmp(p->axes[i].name, name) == 0)
			return &p->axes[i];
	fail_msg("no axis '%s'", name);
	return NULL;
}

/* Wherever on its axis it stands for the second time. */
static void test_what_is_written_twice_is_one_value_of_its_axis(void **state)
{
	struct both *b = *state;
	const struct plan *p;

	offer_settings(&b->g);
	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {few: yama}\n"
		  "workloads:\n  - netperf: {test: UDP_RR, size: [64, 1024, 64, 1..3, 2]}\n");
	hand_setting(&b->h, "governor", "performance|schedutil|performance");
	hand_variants(&b->h, "x|y|x");
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(axis(p, "cmdline")->n, 2);
	assert_int_equal(axis(p, "governor")->n, 2);
	assert_int_equal(axis(p, "netperf.size")->n, 5);
	assert_string_equal(axis(p, "netperf.size")->values[1], "1024");
	assert_string_equal(axis(p, "netperf.size")->values[4], "3");
	assert_int_equal(p->n_cells, 2 * 2 * 5);
	assert_balanced(p);
}

static void test_numbers_have_the_unit_that_is_declared(void **state)
{
	static char bytes[] = "bytes";
	struct both *b = *state;
	struct kg_texts lines = {0};
	struct kg_str s = {0};
	size_t i;

	b->g.netperf->params[1].unit = bytes;
	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {few: yama}\n"
		  "workloads:\n  - netperf: {test: UDP_RR, size: 32KiB}\n");
	assert_planned_hand(&b->g, &b->h);
	assert_string_equal(axis(b->g.plan, "netperf.size")->values[0], "32768");
	assert_string_equal(axis(b->g.plan, "netperf.size")->unit, "bytes");
	assert_null(axis(b->g.plan, "netperf.test")->unit);
	assert_null(axis(b->g.plan, "kernel")->unit);
	assert_int_equal(plan_explain_cell(&b->g.in, b->g.plan, 1, &lines, &b->g.err), 0);
	for (i = 0; i < lines.n; i++)
		kg_str_addf(&s, "%s\n", lines.items[i]);
	assert_contains(kg_str_text(&s), "\n  size=32768 bytes: given, 1 of 1, at ");
	assert_contains(kg_str_text(&s), "\n  seconds=10: default of the workload\n");
	assert_string_equal(b->g.plan->cells[0].params, "seconds=10 size=32768 test=UDP_RR");
	b->g.netperf->params[1].unit = NULL;
	kg_texts_deinit(&lines);
	kg_str_deinit(&s);
}

/* The same through the job file, every key that makes an axis. */
static void test_whole_language_is_planned(void **state)
{
	struct both *b = *state;
	struct grid *g = &b->g;
	const struct plan *p;
	size_t i;

	offer_settings(g);
	g->netperf->pair = true;
	g->machines[0].address = "10.0.0.1";
	g->machines[1].address = "10.0.0.2";
	assert_planned(
		g, "name: j\nkernels: [newer]\nlsm: {few: yama, many: \"yama,bpf\"}\n"
		   "cmdline: {base: quiet, vary: [mitigations=auto, mitigations=off]}\n"
		   "settings: {governor: [performance, schedutil], sysctl: {vm.swappiness: 10}}\n"
		   "parameters: {quick: {seconds: 1}, slow: {seconds: 5}}\n"
		   "matrix: {groups: [1, 2]}\n"
		   "workloads:\n"
		   "  - netperf: {use: [quick, slow], test: UDP_RR, size: 64..256*2,\n"
		   "              role: {client: vendor == amd, server: vendor == intel}}\n"
		   "  - hackbench\n"
		   "exclude: [\"cmdline == 'mitigations=off' and governor == schedutil\"]\n"
		   "only: [\"workload != netperf or set == quick or size == 64\"]\n");
	p = g->plan;
	/* amd: 8 kinds of boots x (6 netperfs with the server + 2 hackbenchs), intel: 8 x 2 */
	assert_int_equal(p->full, 8 * (6 + 2) + 8 * 2);
	assert_balanced(p);
	assert_int_equal(p->n_cells, 6 * (4 + 2) + 6 * 2);
	for (i = 0; i < p->n_cells; i++) {
		bool pair = strcmp(p->cells[i].workload, "netperf") == 0;

		assert_null(p->cells[i].infeasible);
		assert_string_equal(p->cells[i].peer, pair ? "lab-intel" : "");
		assert_contains(p->cells[i].settings, "; sysctl.vm.swappiness=10");
		assert_contains(p->cells[i].cmdline, "quiet mitigations=");
		assert_contains(p->cells[i].variant, "mitigations=");
		assert_contains(p->cells[i].variant, " governor=");
	}
	assert_int_equal(p->n_boots, (6 + 6 + 6) * 5);
}

static int setup(void **state)
{
	struct both *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	grid_init(&b->g);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct both *b = *state;

	grid_deinit(&b->g);
	hand_deinit(&b->h);
	free(b);
	return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_variants_multiply_boots_and_follow_the_jobs_words),
		T(test_variants_with_the_same_words_are_duplicates),
		T(test_variant_may_change_the_list),
		T(test_settings_are_an_axis_each_and_part_of_the_identity),
		T(test_setting_that_is_not_offered_says_what_is),
		T(test_old_agent_makes_settings_infeasible),
		T(test_value_written_twice_is_a_duplicate),
		T(test_setting_that_forbids_kexec_is_left_by_reboot),
		T(test_sets_are_alternatives_and_the_workloads_own_values_win),
		T(test_defaults_reach_only_workloads_that_declare_and_do_not_give_them),
		T(test_matrix_over_what_nobody_declares_is_refused),
		T(test_ranges_are_expanded),
		T(test_impossible_ranges_are_refused),
		T(test_two_dots_in_a_text_are_no_range),
		T(test_huge_job_is_refused_before_memory_is_spent),
		T(test_predicates_take_the_units_that_parameters_take),
		T(test_all_pairs_of_too_much_are_refused_before_memory_is_spent),
		T(test_newest_and_previous_kernel),
		T(test_added_kernel_is_the_one_that_was_added),
		T(test_kernel_that_a_word_means_too_is_tried_once),
		T(test_default_that_is_almost_a_key_is_asked_about),
		T(test_warnings_come_once_not_for_each_machine_variant_and_setting),
		T(test_axes_are_listed_in_the_order_of_the_expansion),
		T(test_what_is_written_twice_is_one_value_of_its_axis),
		T(test_numbers_have_the_unit_that_is_declared),
		T(test_whole_language_is_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
