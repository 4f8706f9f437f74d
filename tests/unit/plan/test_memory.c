/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fails the first, second, ... allocation of parsing and planning: each time -ENOMEM comes back,
 * and everything is released (the asan build sees leaks). */
#include "fixture.h"

#include <errno.h>

static long countdown = -1; /* -1: never fail */

static bool fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);
char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

static const char job[] = "name: j\n"
			  "machines: \"vendor in (intel, amd) and not lab not in tags\"\n"
			  "kernels: [6.1.0-52-cloud-amd64, newer]\n"
			  "lsm:\n"
			  "  a: yama,apparmor,selinux,smack,integrity\n"
			  "  b: {base: a, without: [yama], with: [bpf]}\n"
			  "  c: [yama, apparmor]\n"
			  "cmdline: quiet security=none\n"
			  "workloads:\n"
			  "  - netperf: {test: UDP_RR, size: [64, 064]}\n"
			  "  - hackbench\n"
			  "exclude: [\"lsm == b and vendor == amd\"]\n"
			  "monitors: [vmstat]\n"
			  "repeat: {boots: 2..3, until: \"ci95 <= 1%\"}\n"
			  "budget: {wall: 5m}\n";

/* Runs until no allocation is left that could fail. A lost estimate (common/workload.h) is the one
 * thing for which a plan without it is right. */
static long sweep(struct grid *g, const char *text)
{
	bool reached = true;
	long n, succeeded = 0;

	for (n = 0; reached; n++) {
		int rc;

		countdown = n;
		rc = grid_plan(g, text);
		reached = countdown < 0;
		countdown = -1;
		if (!reached)
			assert_int_equal(rc, 0);
		else if (rc == 0)
			succeeded++;
		else
			assert_int_equal(rc, -ENOMEM);
		assert_int_equal(rc < 0, g->err.text[0] != '\0');
	}
	assert_true(succeeded < 8);
	return n;
}

static void test_each_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
	struct grid g;
	char text[sizeof(job)];
	char *security;

	(void)state;
	memcpy(text, job, sizeof(job));
	security = strstr(text, " security=none");
	memset(security, ' ', strlen(" security=none"));
	grid_init(&g);
	g.offers[0][0].available = false;
	assert_true(sweep(&g, text) > 300);
	grid_deinit(&g);
}

static void test_each_failed_allocation_of_an_error_is_survived(void **state)
{
	static const char *const bad[] = {
		"name: j\nkernels: [nower]\nworkloads: [hackbench]\n",
		"name: j\nkernels: [newer]\nworkloads: [hackbnch]\n",
		"name: j\nkernels: [newer]\nworkloads: [netperf: {test: UDP_RR, sise: 4}]\n",
		"name: j\nkernels: [newer]\nmachines: [lab-mad]\nworkloads: [hackbench]\n",
		"name: j\nkernels: [newer]\nmachines: cpus > 99\nworkloads: [hackbench]\n",
		"name: j\nkernels: [newer]\nmachines: vndor == amd\nworkloads: [hackbench]\n",
		"name: j\nkernels: [newer]\nlsm: {a: yama, b: {base: x}}\nworkloads: [hackbench]\n",
		job,
	};
	struct grid g;
	size_t i;
	long n;

	(void)state;
	grid_init(&g);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int want = grid_plan(&g, bad[i]);
		int rc = -ENOMEM;

		assert_true(want < 0);
		for (n = 0; rc != want || n < 5; n++) {
			countdown = n;
			rc = grid_plan(&g, bad[i]);
			countdown = -1;
			assert_true(rc == -ENOMEM || rc == want);
			if (n > 5000)
				fail();
		}
	}
	grid_deinit(&g);
}

/* ---- every kind of axis ---- */

static const char getpid_text[] = "name: getpid\ndescription: x\ncommand: [getpid]\nmetrics:\n"
				  "  - {name: calls, unit: 1/s, direction: higher, read: {keyval: "
				  "C}}\n";

struct wide {
	struct grid g;
	struct hand h;
	struct kg_workload *getpid;
	struct plan_offer offers[2][3];
	struct kg_param_value settings[1];
};

static const struct plan_pace pace = {"lab-amd", "hackbench", "groups=10 mode=thread", 1.5, 7};
static const struct plan_hop hop = {"lab-amd", 40, 3};
static const struct plan_spread spread = {"lab-amd", "hackbench", "groups=10 mode=thread",
					  "time",    1.25,	  9};

static void wide_init(struct wide *w)
{
	static const char *const params[] = {"size"};
	const struct predicate_scope scope = {.axes = true, .params = params, .n_params = 1};
	struct job_workload *hackbench;
	size_t i;

	memset(w, 0, sizeof(*w));
	grid_init(&w->g);
	assert_int_equal(kg_workload_parse("getpid.yaml", getpid_text, strlen(getpid_text),
					   &w->getpid, &w->g.err),
			 0);
	w->getpid->canary = true;
	w->g.netperf->pair = true;
	w->settings[0] = (struct kg_param_value){(char *)"governor", (char *)"performance"};
	for (i = 0; i < 2; i++) {
		memcpy(w->offers[i], w->g.offers[i], sizeof(w->g.offers[i]));
		w->offers[i][2] = (struct plan_offer){"getpid", "cc33", true, NULL, w->getpid};
		w->g.machines[i].offers = w->offers[i];
		w->g.machines[i].n_offers = 3;
		w->g.machines[i].settings = w->settings;
		w->g.machines[i].n_settings = 1;
		w->g.machines[i].settings_known = true;
	}
	w->g.machines[0].address = "10.0.0.1";
	w->g.in.history = (struct plan_history){&pace, 1, &hop, 1, &spread, 1};
	hand_init(&w->h, &w->g,
		  "name: j\nkernels: [newest, 6.1.0-52-cloud-amd64]\nlsm: {a: yama, b: "
		  "\"yama,smack\"}\n"
		  "workloads: [netperf: {test: UDP_RR, size: [\"1..3\", 2]}, hackbench: {}]\n");
	w->g.kernels[1].added_ns = 1;
	hand_variants(&w->h, "x|y");
	hand_setting(&w->h, "governor", "performance|powersave");
	hand_role(&w->h, 0, NULL, NULL);
	hackbench = &w->h.job.workloads[1];
	hackbench->n_sets = 2;
	hackbench->sets = hand_alloc(&w->h, 2 * sizeof(*hackbench->sets));
	for (i = 0; i < 2; i++) {
		hackbench->sets[i].name = hand_text(&w->h, i ? "full" : "quick");
		hackbench->sets[i].n_params = 1;
		hackbench->sets[i].params = hand_alloc(&w->h, sizeof(struct job_param));
		hackbench->sets[i].params[0] = hand_param(&w->h, "mode", i ? "thread" : "process");
	}
	w->h.job.excludes =
		hand_predicates(&w->h, "size == 3 and lsm == a", &scope, &w->h.job.n_excludes);
}

static void wide_deinit(struct wide *w)
{
	grid_deinit(&w->g);
	hand_deinit(&w->h);
	kg_workload_free(w->getpid);
}

static void sweep_hand(struct wide *w)
{
	bool reached = true;
	long n, succeeded = 0;

	for (n = 0; reached; n++) {
		int rc;

		countdown = n;
		rc = grid_plan_hand(&w->g, &w->h);
		reached = countdown < 0;
		countdown = -1;
		if (reached && rc == 0)
			succeeded++;
		else
			assert_int_equal(rc, reached ? -ENOMEM : 0);
		assert_int_equal(rc < 0, w->g.err.text[0] != '\0');
	}
	/* lost estimates of time, and words of an error that names no more than it must */
	assert_true(succeeded < 30);
	assert_true(n > 300);
}

static void test_each_failed_allocation_of_all_axes_is_reported(void **state)
{
	struct wide w;

	(void)state;
	wide_init(&w);
	sweep_hand(&w);
	assert_balanced(w.g.plan);
	w.h.job.pairwise = true;
	sweep_hand(&w);
	assert_balanced(w.g.plan);
	wide_deinit(&w);
}

static void test_each_failed_allocation_of_an_explanation_is_reported(void **state)
{
	struct kg_texts lines;
	struct wide w;
	size_t cell;

	(void)state;
	wide_init(&w);
	assert_planned_hand(&w.g, &w.h);
	for (cell = 1; cell <= w.g.plan->n_cells; cell += 5) {
		int rc = -ENOMEM;
		long n;

		for (n = 0; rc < 0; n++) {
			countdown = n;
			rc = plan_explain_cell(&w.g.in, w.g.plan, cell, &lines, &w.g.err);
			countdown = -1;
			assert_true(rc == 0 || rc == -ENOMEM);
			assert_true(n < 5000);
		}
		assert_true(lines.n > 5);
		kg_texts_deinit(&lines);
	}
	wide_deinit(&w);
}

static void test_each_failed_allocation_of_an_extension_is_reported(void **state)
{
	static const struct plan_known_cell cells[] = {
		{"m", "k1", "l", "c", "", "", false, false, false},
		{"m", "k2", "l", "c", "", "", false, false, true},
		{"n", "k1", "l", "c", "", "", false, true, false},
	};
	static const uint32_t last[3] = {0};
	const struct plan_extend_input in = {
		.cells = cells, .n_cells = 3, .first_block = 3, .n_blocks = 9, .last_visit = last};
	struct plan_slot *slots = NULL;
	struct kg_err err = {{0}};
	int rc = -ENOMEM;
	size_t n_slots = 0;
	long n;

	(void)state;
	for (n = 0; rc < 0; n++) {
		countdown = n;
		rc = plan_extend(&in, &slots, &n_slots, &err);
		countdown = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
	}
	assert_true(n > 4);
	assert_int_equal(n_slots, 27);
	free(slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_failed_allocation_is_reported_and_leaks_nothing),
		cmocka_unit_test(test_each_failed_allocation_of_an_error_is_survived),
		cmocka_unit_test(test_each_failed_allocation_of_all_axes_is_reported),
		cmocka_unit_test(test_each_failed_allocation_of_an_explanation_is_reported),
		cmocka_unit_test(test_each_failed_allocation_of_an_extension_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
