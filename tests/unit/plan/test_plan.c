/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fixture.h"

#include "common/cmdline.h"

#define SMALL                                                          \
	"name: j\n"                                                    \
	"kernels: [6.1.0-52-cloud-amd64, newer]\n"                     \
	"lsm: {few: \"yama\", many: \"landlock,yama,apparmor,bpf\"}\n" \
	"workloads:\n"                                                 \
	"  - netperf: {test: UDP_RR, size: [64, 1024], seconds: 1}\n"  \
	"  - hackbench: {groups: 1}\n"

static void expect_error(struct grid *g, const char *text, int code, const char *part)
{
	int rc = grid_plan(g, text);

	if (rc != code)
		fail_msg("expected %d, not %d: %s", code, rc, g->err.text);
	assert_contains(g->err.text, part);
}

/* ---- cells ---- */

static void test_cells_are_the_product_of_all_axes(void **state)
{
	struct grid *g = *state;
	const struct plan_cell *c;

	assert_planned(g, SMALL);
	assert_int_equal(g->plan->n_cells, 2 * 2 * 2 * 3);
	assert_int_equal(g->plan->n_slots, 24 * 5);
	assert_int_equal(g->plan->n_boots, 2 * 4 * 5);
	assert_int_equal(g->plan->n_infeasible, 0);
	assert_int_equal(g->plan->blocks, 5);
	c = &g->plan->cells[0];
	assert_string_equal(c->machine, "lab-amd"); /* by name */
	assert_string_equal(c->kernel, DIGEST_61);
	assert_string_equal(c->kernel_label, "6.1.0-52-cloud-amd64");
	assert_string_equal(c->lsm_label, "few");
	assert_string_equal(c->lsm_request, "yama");
	assert_string_equal(c->lsm_effective, "lockdown,capability,yama");
	assert_string_equal(c->cmdline, "lsm=yama panic=10");
	assert_string_equal(c->workload, "netperf");
	assert_string_equal(c->workload_digest, "aa11");
	assert_string_equal(c->params, "seconds=1 size=64 test=UDP_RR");
	assert_int_equal(c->iterations, 5);
	assert_int_equal(c->timeout_s, 6 * 61); /* five iterations and a warm-up, 1 s + 60 s each */
	assert_int_equal(c->kernel_order, 0);
	assert_int_equal(c->lsm_order, 0);
	assert_int_equal(c->workload_order, 0);
	c = &g->plan->cells[11];
	assert_string_equal(c->kernel_label, "newer");
	assert_string_equal(c->lsm_label, "many");
	assert_string_equal(c->lsm_effective,
			    "lockdown,capability,landlock,yama,apparmor,bpf,ima,evm");
	assert_string_equal(c->params, "groups=1 mode=process");
	assert_int_equal(c->kernel_order, 1);
	assert_int_equal(c->workload_order, 2);
}

static void test_identities_are_unique_and_depend_on_nothing_else(void **state)
{
	struct grid *g = *state;
	char first[KG_SHA256_HEX_SIZE];
	size_t i, k;

	assert_planned(g, SMALL);
	for (i = 0; i < g->plan->n_cells; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(g->plan->cells[i].identity,
						g->plan->cells[k].identity);
	memcpy(first, g->plan->cells[0].identity, sizeof(first));
	assert_true(kg_sha256_hex_valid(first));
	/* another label, order and number of boots: the same cell */
	assert_planned(g, "name: other\nkernels: [6.1.0-52-cloud-amd64]\nlsm: {x: \"yama\"}\n"
			  "repeat: {boots: 7, iterations: 2}\npriority: 3\n"
			  "workloads: [netperf: {size: 64, seconds: 1, test: UDP_RR}]\n");
	assert_string_equal(g->plan->cells[0].identity, first);
	/* another workload digest: another cell */
	g->offers[1][0].digest = "aa12";
	assert_planned(g, SMALL);
	assert_string_not_equal(g->plan->cells[0].identity, first);
}

/* tests/data/plan/identities-0.2.0.txt was written by that release. */
static void test_identity_stays_between_releases(void **state)
{
	struct grid *g = *state;
	char *text, *line, *next;
	size_t len, i = 0, files = 0;

	assert_int_equal(kg_file_read(KGRID_TEST_DATA "/plan/identities-0.2.0.txt", 1 << 20, &text,
				      &len, &g->err),
			 0);
	for (line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		*next++ = '\0';
		if (line[0] == '#') {
			if (g->plan)
				assert_int_equal(i, g->plan->n_cells);
			grid_plan_file(g, line + 2);
			files++;
			i = 0;
			continue;
		}
		line[strcspn(line, " ")] = '\0';
		assert_true(i < g->plan->n_cells);
		assert_string_equal(g->plan->cells[i++].identity, line);
	}
	assert_int_equal(i, g->plan->n_cells);
	assert_int_equal(files, 3);
	free(text);
}

static void test_same_parameters_twice_are_one_cell(void **state)
{
	struct grid *g = *state;

	assert_planned(g, "name: j\nkernels: [newer]\nmachines: lab-amd\nworkloads:\n"
			  "  - netperf: {test: UDP_RR, size: [64, 064]}\n"
			  "  - netperf: {test: UDP_RR}\n");
	assert_int_equal(g->plan->n_cells, 1);
	assert_true(warns(g->plan, "workload 'netperf' is listed more than once with seconds=10 "
				   "size=64 test=UDP_RR: one cell"));
}

static void test_requests_with_the_same_result_are_one_boot(void **state)
{
	struct grid *g = *state;

	assert_planned(g, "name: j\nkernels: [newer]\nmachines: lab-amd\n"
			  "lsm: {a: \"yama,bpf\", b: \"yama,smack,bpf\", c: bpf}\n"
			  "workloads: [hackbench]\nrepeat: {boots: 5}\n");
	assert_int_equal(g->plan->n_cells, 2);
	assert_int_equal(g->plan->n_boots, 10);
	assert_int_equal(g->plan->n_merges, 1);
	assert_string_equal(g->plan->merges[0].lsm, "b");
	assert_string_equal(g->plan->merges[0].into, "a");
	assert_string_equal(g->plan->cells[0].lsm_label, "a");
	assert_string_equal(g->plan->cells[0].lsm_request, "yama,bpf");
	assert_string_equal(g->plan->cells[1].lsm_label, "c");
	assert_true(warns(g->plan,
			  "lsm 'b' gives the same list as 'a' on newer "
			  "(lockdown,capability,yama,bpf,ima,evm): one boot, shown as 'a'"));
}

static void test_merged_cell_stays_when_only_one_label_is_excluded(void **state)
{
	struct grid *g = *state;

	assert_planned(g, "name: j\nkernels: [newer]\nmachines: lab-amd\n"
			  "lsm: {a: \"yama,bpf\", b: \"yama,smack,bpf\"}\nexclude: [lsm == a]\n"
			  "workloads: [hackbench]\n");
	assert_int_equal(g->plan->n_cells, 1);
	assert_string_equal(g->plan->cells[0].lsm_label, "b");
	assert_string_equal(g->plan->cells[0].lsm_request, "yama,smack,bpf");
	assert_string_equal(g->plan->cells[0].cmdline, "lsm=yama,smack,bpf panic=10");
	assert_string_equal(g->plan->boots[0].cmdline, g->plan->cells[0].cmdline);
	assert_int_equal(g->plan->excluded, 1);
	assert_int_equal(g->plan->merged, 0);
	assert_balanced(g->plan);
}

/* Nothing of the first request is left: the second stands for itself, as in a job without the first
 * and as with `pairwise:`. */
static void test_request_that_is_left_out_gives_nobody_its_boot(void **state)
{
	static const char *const jobs[] = {
		"lsm: {a: \"yama,bpf\", b: \"yama,smack,bpf\"}\nexclude: [lsm == a]\n",
		"lsm: {a: \"yama,bpf\", b: \"yama,smack,bpf\"}\nonly: [lsm == b]\n",
		"pairwise: on\nexclude: [lsm==a]\nlsm: {a: \"yama,bpf\", b: \"yama,smack,bpf\"}\n",
		"lsm: {b: \"yama,smack,bpf\"}\n",
	};
	struct grid *g = *state;
	char identity[KG_SHA256_HEX_SIZE] = "";
	size_t i, n = sizeof(jobs) / sizeof(jobs[0]);

	for (i = 0; i < n; i++) {
		char text[512];

		(void)snprintf(text, sizeof(text),
			       "name: j\nkernels: [newer]\nmachines: lab-amd\nworkloads: "
			       "[hackbench]\n%s",
			       jobs[i]);
		assert_planned(g, text);
		assert_int_equal(g->plan->n_cells, 1);
		assert_int_equal(g->plan->n_merges, 0);
		assert_false(warns(g->plan, "gives the same list"));
		if (i > 0)
			assert_string_equal(g->plan->cells[0].identity, identity);
		memcpy(identity, g->plan->cells[0].identity, sizeof(identity));
		assert_balanced(g->plan);
	}
	/* what is left out in part shares the boot */
	assert_planned(g, "name: j\nkernels: [newer]\nmachines: lab-amd\n"
			  "lsm: {a: \"yama,bpf\", b: \"yama,smack,bpf\"}\n"
			  "exclude: [lsm == a and groups == 1]\n"
			  "workloads: [{hackbench: {groups: [1, 2]}}]\n");
	assert_int_equal(g->plan->n_cells, 2);
	assert_int_equal(g->plan->n_merges, 1);
	assert_int_equal(g->plan->n_boots, 5);
	assert_balanced(g->plan);
}

static void test_default_request_adds_no_word(void **state)
{
	struct grid *g = *state;

	assert_planned(g, "name: j\nkernels: [newer]\nmachines: lab-amd\nworkloads: [hackbench]\n");
	assert_string_equal(g->plan->cells[0].lsm_request, "default");
	assert_string_equal(g->plan->cells[0].cmdline, "panic=10");
	assert_string_equal(g->plan->cells[0].lsm_effective,
			    "lockdown,capability,landlock,yama,apparmor,tomoyo,bpf,ipe,ima,evm");
}

static void test_exclude_leaves_cells_out_and_says_how_many(void **state)
{
	struct grid *g = *state;
	size_t i;

	assert_planned(g, SMALL "exclude: [\"vendor == amd and lsm == many\", \"size > 100\"]\n");
	assert_int_equal(g->plan->n_cells, 2 * 2 * 2 * 2 - 2 * 2);
	assert_int_equal(g->plan->excluded, 24 - 12);
	assert_true(warns(g->plan, "exclude: 12 cells are left out"));
	for (i = 0; i < g->plan->n_cells; i++)
		assert_false(strcmp(g->plan->cells[i].machine, "lab-amd") == 0 &&
			     strcmp(g->plan->cells[i].lsm_label, "many") == 0);
}

static void test_exclude_without_effect_is_a_warning(void **state)
{
	struct grid *g = *state;

	assert_planned(g, SMALL "exclude: [cpus > 100]\n");
	assert_true(warns(g->plan, "exclude: 'cpus > 100' matches no cell"));
}

static void test_exclude_of_everything_is_refused(void **state)
{
	expect_error(*state, SMALL "exclude: [cpus > 1]\n", KG_EINVALID,
		     "job.yaml:7:11: 'exclude' leaves out all 24 cells");
}

/* ---- machines and kernels ---- */

static void test_predicate_without_a_match_is_refused(void **state)
{
	expect_error(
		*state, SMALL "machines: cpus >= 64\n", KG_EINVALID,
		"job.yaml:7:11: 'machines': no machine matches 'cpus >= 64'; known are lab-intel, "
		"lab-amd");
}

static void test_unknown_machine_is_refused_with_a_suggestion(void **state)
{
	expect_error(*state, SMALL "machines: [lab-amd, lab-intl]\n", KG_ENOTFOUND,
		     "job.yaml:7:21: 'machines': there is no machine 'lab-intl', did you mean "
		     "'lab-intel'?");
}

static void test_no_machine_at_all_is_refused(void **state)
{
	struct grid *g = *state;

	g->in.n_machines = 0;
	expect_error(g, SMALL, KG_EINVALID, "no machine is known yet");
}

static void test_unknown_kernel_is_refused_with_a_suggestion(void **state)
{
	expect_error(
		*state, "name: j\nkernels: [newer, 6.1.0-53-cloud-amd64]\nworkloads: [hackbench]\n",
		KG_ENOTFOUND,
		"job.yaml:2:18: 'kernels': there is no kernel '6.1.0-53-cloud-amd64', did you mean "
		"'6.1.0-52-cloud-amd64'?");
}

static void test_no_kernel_at_all_says_how_to_add_one(void **state)
{
	struct grid *g = *state;

	g->in.n_kernels = 0;
	expect_error(g, SMALL, KG_ENOTFOUND, "'kgrid kernel add'");
}

static void test_kernel_is_found_by_label_release_or_digest(void **state)
{
	struct grid *g = *state;
	struct kg_err err;
	size_t i;

	assert_int_equal(plan_find_kernel(g->kernels, 2, "newer", &i, &err), 0);
	assert_int_equal(i, 1);
	assert_int_equal(plan_find_kernel(g->kernels, 2, "6.12.117+deb12-cloud-amd64", &i, &err),
			 0);
	assert_int_equal(i, 1);
	assert_int_equal(plan_find_kernel(g->kernels, 2, "61aaaaaa", &i, &err), 0);
	assert_int_equal(i, 0);
	assert_int_equal(plan_find_kernel(g->kernels, 2, DIGEST_612, &i, &err), 0);
	assert_int_equal(i, 1);
	assert_int_equal(plan_find_kernel(g->kernels, 2, "61aaaaa", &i, &err), KG_ENOTFOUND);
	assert_int_equal(plan_find_kernel(g->kernels, 2, "6.12", &i, &err), KG_ENOTFOUND);
}

static void test_selector_that_fits_two_kernels_names_both(void **state)
{
	struct grid *g = *state;

	g->kernels[2] = (struct plan_kernel){
		"77cccccccc00000000000000000000000000000000000000000000000000000000",
		"short",
		"6.1.0-52-cloud-amd64",
		NULL,
		&g->configs[1],
		true,
		0};
	g->in.n_kernels = 3;
	expect_error(g, SMALL, KG_EAMBIGUOUS, "'6.1.0-52-cloud-amd64' fits 2 kernels");
	assert_contains(g->err.text, "digest 61aaaaaaaa00, CONFIG_LSM \"landlock,lockdown,");
	assert_contains(g->err.text, "short (digest 77cccccccc00, CONFIG_LSM \"");
	/* the digest tells them apart, and so do the names in the plan */
	assert_planned(g, "name: j\nkernels: [61aaaaaa, short]\nworkloads: [hackbench]\n"
			  "lsm: {a: smack}\nmachines: lab-amd\n");
	assert_string_equal(g->plan->cells[0].kernel_label, "6.1.0-52-cloud-amd64~61aaaaaa");
	assert_true(warns(g->plan, "'smack' is not built into 6.1.0-52-cloud-amd64 (short)"));
}

static void test_same_kernel_by_two_selectors_is_refused(void **state)
{
	expect_error(*state, "name: j\nkernels: [newer, 61bbbbbb]\nworkloads: [hackbench]\n",
		     KG_EINVALID,
		     "job.yaml:2:18: 'kernels': '61bbbbbb' is the same kernel as 'newer'");
}

static void test_kernel_without_kexec_is_a_warning(void **state)
{
	struct grid *g = *state;

	g->configs[1].kexec = g->configs[1].kexec_file = false;
	g->kernels[1].has_modules = false;
	assert_planned(g, SMALL);
	assert_true(warns(g->plan, "kernel 'newer' is built without CONFIG_KEXEC"));
	assert_true(warns(g->plan, "kernel 'newer' comes without modules"));
}

static void test_kernel_whose_boot_cannot_be_proven_is_infeasible(void **state)
{
	struct grid *g = *state;

	g->kernels[0].config = NULL;
	g->configs[1].lsm.config_cmdline_override = true;
	assert_planned(g, SMALL);
	assert_int_equal(g->plan->n_boots, 0);
	assert_contains(g->plan->cells[0].infeasible, "has no config");
	assert_contains(g->plan->cells[6].infeasible, "CONFIG_CMDLINE_OVERRIDE");
	assert_true(warns(g->plan, "nothing can run: all 24 cells are infeasible"));
	g->kernels[0].config = &g->configs[0];
	g->kernels[0].label = "6.1.0-52-cloud-amd64"; /* as SMALL calls it */
	g->kernels[0].release = "4.18.0-553.el8_10.x86_64";
	assert_planned(g, SMALL);
	assert_contains(g->plan->cells[0].infeasible, "4.18.0-553.el8_10.x86_64 is older than 5.0");
	g->kernels[0].release = "5.0.21";
	g->configs[0].securityfs = false;
	assert_planned(g, SMALL);
	assert_contains(g->plan->cells[0].infeasible, "CONFIG_SECURITYFS");
	g->configs[0].lsm.no_security = true;
	assert_planned(g, SMALL);
	assert_contains(g->plan->cells[0].infeasible, "has no lsm list");
}

/* ---- workloads ---- */

static void test_unknown_workload_lists_what_is_offered(void **state)
{
	expect_error(
		*state, "name: j\nkernels: [newer]\nworkloads: [hackbench, netprf: {}]\n",
		KG_EINVALID,
		"job.yaml:3:24: 'workloads': no machine of the job offers 'netprf' (did you mean "
		"'netperf'?); offered are netperf, hackbench");
}

static void test_refused_parameter_says_what_would_be_right(void **state)
{
	struct grid *g = *state;

	expect_error(
		g,
		"name: j\nkernels: [newer]\nworkloads:\n  - netperf: {test: UDP_RR, size: [64, "
		"big]}\n",
		KG_EINVALID, "job.yaml:4:40: netperf: ");
	assert_contains(g->err.text, "'big'");
	expect_error(
		g, "name: j\nkernels: [newer]\nworkloads:\n  - netperf: {test: UDP_RR, sise: 64}\n",
		KG_EINVALID, "job.yaml:4:29: netperf: ");
	assert_contains(g->err.text, "'size'");
	expect_error(g, "name: j\nkernels: [newer]\nworkloads:\n  - netperf: {size: 64}\n",
		     KG_EINVALID, "job.yaml:4:5: netperf: 'netperf' needs the parameter 'test'");
}

static void test_workload_missing_on_a_machine_is_infeasible_with_its_reason(void **state)
{
	struct grid *g = *state;
	size_t i, infeasible = 0;

	g->offers[0][0].available = false;
	g->offers[0][0].missing = "program 'netserver' not found";
	assert_planned(g, SMALL);
	for (i = 0; i < g->plan->n_cells; i++)
		if (g->plan->cells[i].infeasible)
			infeasible++;
	assert_int_equal(infeasible, 2 * 2 * 2);
	assert_int_equal(g->plan->n_infeasible, 1);
	assert_string_equal(g->plan->infeasible[0].cell, "lab-intel netperf (8 cells)");
	assert_string_equal(
		g->plan->infeasible[0].reason,
		"workload 'netperf' is not available on 'lab-intel': program 'netserver' not "
		"found");
	assert_int_equal(g->plan->infeasible[0].slots, 8 * 5);
	assert_int_equal(g->plan->n_boots, 2 * 4 * 5); /* hackbench still runs everywhere */
}

static void test_workload_not_installed_on_one_machine_is_infeasible_there(void **state)
{
	struct grid *g = *state;
	const struct plan_cell *c;

	g->offers[0][0] = g->offers[0][1];
	g->machines[0].n_offers = 1;
	assert_planned(g, SMALL);
	c = &g->plan->cells[12];
	assert_string_equal(c->machine, "lab-intel");
	assert_string_equal(c->infeasible, "workload 'netperf' is not installed on 'lab-intel'");
	assert_string_equal(c->workload_digest, "");
	assert_string_equal(c->params, "seconds=1 size=64 test=UDP_RR");
}

static void test_every_slot_is_feasible_or_infeasible_once(void **state)
{
	struct grid *g = *state;
	size_t i, in_boots = 0, infeasible = 0, sum = 0, without_visit = 0;

	g->offers[0][0].available = false;
	assert_planned(g, SMALL);
	for (i = 0; i < g->plan->n_boots; i++)
		in_boots += g->plan->boots[i].slots;
	for (i = 0; i < g->plan->n_infeasible; i++)
		infeasible += g->plan->infeasible[i].slots;
	for (i = 0; i < g->plan->n_machines; i++)
		sum += g->plan->machines[i].slots;
	for (i = 0; i < g->plan->n_slots; i++) {
		const struct plan_slot *s = &g->plan->slots[i];

		assert_int_equal(s->visit == 0, g->plan->cells[s->cell].infeasible != NULL);
		assert_int_equal(s->visit == 0, s->position == 0);
		without_visit += s->visit == 0;
	}
	assert_int_equal(in_boots + infeasible, g->plan->n_slots);
	assert_int_equal(without_visit, infeasible);
	assert_int_equal(sum, g->plan->n_slots);
}

/* ---- command line ---- */

static char *compose(const char *base, const char *job, const char *request, char *buf, size_t size)
{
	char *line = plan_boot_cmdline(base, job, request);

	assert_non_null(line);
	(void)snprintf(buf, size, "%s", line);
	free(line);
	return buf;
}

static void test_boot_line_is_job_words_lsm_and_panic(void **state)
{
	char b[128];

	(void)state;
	assert_string_equal(compose("", "", "yama", b, sizeof(b)), "lsm=yama panic=10");
	assert_string_equal(compose("", " quiet  ", "", b, sizeof(b)), "quiet lsm= panic=10");
	assert_string_equal(compose("", "", "default", b, sizeof(b)), "panic=10");
}

static void test_panic_is_only_added_when_nobody_gives_one(void **state)
{
	char b[128];

	(void)state;
	assert_string_equal(compose("panic=5 edd=off", "quiet", "yama", b, sizeof(b)),
			    "quiet lsm=yama");
	assert_string_equal(compose("", "panic=1", "yama", b, sizeof(b)), "panic=1 lsm=yama");
	assert_string_equal(compose("panic=5", "", "default", b, sizeof(b)), "");
	assert_string_equal(compose("oops.panic=5", "", "default", b, sizeof(b)), "panic=10");
}

static void test_machine_base_line_counts_in_the_prediction(void **state)
{
	struct grid *g = *state;

	g->machines[1].base_cmdline = "apparmor=0";
	assert_planned(g, SMALL);
	assert_string_equal(g->plan->cells[3].lsm_label, "many");
	assert_string_equal(g->plan->cells[3].lsm_effective,
			    "lockdown,capability,landlock,yama,bpf");
	assert_true(warns(g->plan, "'apparmor' is requested and switched off by apparmor=0"));
}

static void test_command_line_over_the_limit_is_infeasible(void **state)
{
	struct grid *g = *state;
	char line[2100];
	/* the longest base with which "lsm=yama panic=10" fits */
	size_t most = KG_CMDLINE_MAX - PLAN_BOOT_WORD_MAX - strlen(" lsm=yama panic=10");

	assert_int_equal(PLAN_BOOT_WORD_MAX, strlen(" kgrid.boot=18446744073709551615."
						    "0123456789abcdef0123456789abcdef"));
	memset(line, 'x', sizeof(line));
	line[most] = '\0';
	g->machines[1].base_cmdline = line;
	assert_planned(g, SMALL "machines: lab-amd\n");
	assert_null(g->plan->cells[0].infeasible); /* lsm=yama */
	assert_contains(g->plan->cells[3].infeasible, "the command line has ");
	assert_string_equal(g->plan->infeasible[0].cell, "lab-amd many (6 cells)");
	line[most] = 'x';
	line[most + 1] = '\0';
	assert_planned(g, SMALL "machines: lab-amd\n");
	assert_contains(g->plan->cells[0].infeasible, "2017 characters, 1 more than kexec takes");
}

static void test_unknown_initrd_policy_is_infeasible(void **state)
{
	struct grid *g = *state;

	g->machines[1].initrd_policy = "magic";
	assert_planned(g, SMALL);
	assert_contains(g->plan->cells[0].infeasible, "initrd policy 'magic'");
}

/* ---- order ---- */

static void test_number_of_boots_can_be_replaced(void **state)
{
	struct grid *g = *state;

	g->in.boots = 2;
	assert_planned(g, SMALL "repeat: {boots: 5..12}\n");
	assert_int_equal(g->plan->blocks, 2);
	assert_int_equal(g->plan->n_slots, 24 * 2);
	assert_true(warns(g->plan, "2 boots a side are too few to decide anything"));
	g->in.boots = 0;
	assert_planned(g, SMALL "repeat: {boots: 5..12, until: \"ci95 <= 1%\"}\n");
	assert_int_equal(g->plan->blocks, 12);
	assert_int_equal(g->plan->blocks_min, 5);
	assert_int_equal(g->plan->machines[0].seconds_least * 12, g->plan->machines[0].seconds * 5);
	plan_free(g->plan);
	g->plan = NULL;
	g->job->until_pct = 0; /* nothing may end it early */
	assert_int_equal(plan_make(&g->in, &g->plan, &g->err), 0);
	assert_int_equal(g->plan->blocks, 12);
	assert_int_equal(g->plan->blocks_min, 12);
}

/* ---- estimates and limits ---- */

static void test_estimate_is_hop_and_runs(void **state)
{
	struct grid *g = *state;
	/* netperf: 5 x 1 s and one warm-up of 1 s, twice; hackbench: 5 x 5 s */
	const uint64_t boot = PLAN_HOP_S + 2 * 6 + 25;

	assert_planned(g, SMALL);
	assert_int_equal(g->plan->boots[0].seconds, boot);
	assert_int_equal(g->plan->machines[0].seconds, boot * 20);
	assert_int_equal(g->plan->machines[0].boots, 20);
}

static void test_estimate_over_the_budget_is_a_warning(void **state)
{
	struct grid *g = *state;

	assert_planned(g, SMALL "budget: {wall: 10m}\n");
	assert_true(warns(g->plan, "will take about 42 minutes, more than the budget of 10"));
	assert_planned(g, SMALL "budget: {wall: 10h}\n");
	assert_false(warns(g->plan, "more than the budget"));
}

static void test_too_many_slots_are_refused_with_the_count(void **state)
{
	struct grid *g = *state;

	g->in.max_slots = 24 * 1000;
	assert_planned(g, SMALL "repeat: {boots: 1000}\n");
	g->in.max_slots--;
	expect_error(g, SMALL "repeat: {boots: 1000}\n", KG_ELIMIT,
		     "job.yaml: the job has 24000 slots (2 kernels x 2 lsm lists x 1 command lines "
		     "x 1 settings x 6 parameter sets of 2 machines x 1000 boots), the limit is "
		     "23999");
	g->in.max_slots = 0;
	expect_error(g,
		     "name: j\nkernels: [newer]\nmachines: lab-amd\nworkloads:\n"
		     "  - netperf: {test: UDP_RR, size: 1..60000, seconds: 1..3600}\n",
		     KG_ELIMIT, "the job has 1080000000 slots");
	assert_contains(g->err.text, "the limit is 1000000");
}

static void test_largest_plan_is_made(void **state)
{
	struct grid *g = *state;

	assert_planned(g, "name: j\nkernels: [newer]\nmachines: lab-amd\nrepeat: {boots: 20}\n"
			  "workloads:\n  - netperf: {test: UDP_RR, size: 1..50000}\n");
	assert_int_equal(g->plan->n_slots, 1000000);
}

static void test_example_warns_about_names_that_cannot_be_active(void **state)
{
	struct grid *g = *state;
	struct kg_err err = {{0}};
	char *text;
	size_t len, i, k;

	g->kernels[1].label = NULL;
	assert_int_equal(kg_file_read(KGRID_TEST_DATA "/plan/job-example.yaml", 1 << 20, &text,
				      &len, &err),
			 0);
	assert_planned(g, text);
	free(text);
	for (i = 0; i < 2; i++) {
		static const char *const names[] = {"loadpin", "safesetid", "smack"};

		for (k = 0; k < 3; k++) {
			char part[128];

			(void)snprintf(part, sizeof(part),
				       "'%s' is not built into %s; it will be missing", names[k],
				       g->kernels[i].release);
			assert_true(warns(g->plan, part));
		}
	}
	assert_true(warns(g->plan, "'selinux' cannot be active beside 'apparmor'"));
	for (i = 0; i < g->plan->warnings.n; i++)
		for (k = 0; k < i; k++)
			assert_string_not_equal(g->plan->warnings.items[i],
						g->plan->warnings.items[k]);
	/* intel: 2 kernels x 4 lists, amd: without 'nt'; 4 sizes and 4 hackbenches each */
	assert_int_equal(g->plan->n_cells, (8 + 6) * 8);
	assert_int_equal(g->plan->n_infeasible, 0);
	assert_string_equal(g->plan->cells[0].cmdline,
			    "mitigations=auto lsm=integrity,apparmor panic=10");
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
		T(test_cells_are_the_product_of_all_axes),
		T(test_identities_are_unique_and_depend_on_nothing_else),
		T(test_identity_stays_between_releases),
		T(test_same_parameters_twice_are_one_cell),
		T(test_requests_with_the_same_result_are_one_boot),
		T(test_merged_cell_stays_when_only_one_label_is_excluded),
		T(test_request_that_is_left_out_gives_nobody_its_boot),
		T(test_default_request_adds_no_word),
		T(test_exclude_leaves_cells_out_and_says_how_many),
		T(test_exclude_without_effect_is_a_warning),
		T(test_exclude_of_everything_is_refused),
		T(test_predicate_without_a_match_is_refused),
		T(test_unknown_machine_is_refused_with_a_suggestion),
		T(test_no_machine_at_all_is_refused),
		T(test_unknown_kernel_is_refused_with_a_suggestion),
		T(test_no_kernel_at_all_says_how_to_add_one),
		T(test_kernel_is_found_by_label_release_or_digest),
		T(test_selector_that_fits_two_kernels_names_both),
		T(test_same_kernel_by_two_selectors_is_refused),
		T(test_kernel_without_kexec_is_a_warning),
		T(test_kernel_whose_boot_cannot_be_proven_is_infeasible),
		T(test_unknown_workload_lists_what_is_offered),
		T(test_refused_parameter_says_what_would_be_right),
		T(test_workload_missing_on_a_machine_is_infeasible_with_its_reason),
		T(test_workload_not_installed_on_one_machine_is_infeasible_there),
		T(test_every_slot_is_feasible_or_infeasible_once),
		T(test_boot_line_is_job_words_lsm_and_panic),
		T(test_panic_is_only_added_when_nobody_gives_one),
		T(test_machine_base_line_counts_in_the_prediction),
		T(test_command_line_over_the_limit_is_infeasible),
		T(test_unknown_initrd_policy_is_infeasible),
		T(test_number_of_boots_can_be_replaced),
		T(test_estimate_is_hop_and_runs),
		T(test_estimate_over_the_budget_is_a_warning),
		T(test_too_many_slots_are_refused_with_the_count),
		T(test_largest_plan_is_made),
		T(test_example_warns_about_names_that_cannot_be_active),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
