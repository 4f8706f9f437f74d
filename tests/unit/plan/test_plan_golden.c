/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan of the experiment that the project began with, deploy/examples/netperf-lsm-6.0-6.4.yaml,
 * on two of the machines that measured it, as text. KGRID_GOLDEN_WRITE=1 writes it anew; look at the
 * difference before it is kept.
 */
#include "fixture.h"

#include <math.h>

#define GOLDEN KGRID_TEST_DATA "/plan/plan-netperf-lsm.txt"
#define TOP    KGRID_TEST_DATA "/../.."

struct field {
	struct kg_workload *netperf, *canary;
	struct plan_offer offers[2][2];
	struct plan_machine machines[2];
	struct kconfig_facts configs[5];
	struct plan_kernel kernels[5];
	char digests[5][KG_SHA256_HEX_SIZE], labels[5][8], releases[5][24];
	struct job_spec *job;
	struct plan_input in;
	struct plan *plan;
	struct kg_err err;
};

static const char canary_text[] =
	"name: spin\ndescription: arithmetic in user space\ncommand: [spin]\n"
	"duration: 2s\ntimeout: 10s\nmetrics:\n"
	"  - {name: rounds, unit: 1/s, direction: higher, read: {keyval: R}}\n";

/* As if one of the machines had run it before. */
static const struct plan_hop hops[] = {{"bing1", 212.4, 40}};
static const struct plan_spread spreads[] = {
	{"bing1", "netperf", "seconds=10 size=64 test=TCP_STREAM", "throughput", 0.62, 40},
	{"bing1", "netperf", "seconds=10 size=128 test=TCP_STREAM", "throughput", 0.55, 40},
	{"bing1", "netperf", "seconds=10 size=16384 test=TCP_STREAM", "throughput", 0.31, 40},
	{"bing1", "netperf", "seconds=10 size=64 test=UDP_STREAM", "throughput", 1.9, 2},
};

static char *read_file(const char *path)
{
	struct kg_err err = {{0}};
	char *text = NULL;
	size_t len;

	if (kg_file_read(path, 1 << 20, &text, &len, &err) < 0)
		fail_msg("%s", err.text);
	return text;
}

static void make_kernels(struct field *f)
{
	size_t i;

	for (i = 0; i < 5; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "config-field-6.%zu", i);
		(void)snprintf(f->labels[i], sizeof(f->labels[i]), "6.%zu", i);
		(void)snprintf(f->releases[i], sizeof(f->releases[i]), "6.%zu.0-1-default", i);
		(void)snprintf(f->digests[i], sizeof(f->digests[i]), "6%zu%062d", i, 0);
		grid_config(name, f->releases[i], &f->configs[i]);
		f->kernels[i] = (struct plan_kernel){.digest = f->digests[i],
						     .label = f->labels[i],
						     .release = f->releases[i],
						     .config = &f->configs[i],
						     .has_modules = true};
	}
}

static void make_machines(struct field *f)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		f->offers[i][0] = (struct plan_offer){"netperf", "aa11", true, NULL, f->netperf};
		f->offers[i][1] = (struct plan_offer){"spin", "bb22", true, NULL, f->canary};
		f->machines[i] = (struct plan_machine){
			.facts = {.name = i ? "deandre" : "bing1",
				  .cpu_vendor = i ? "AuthenticAMD" : "GenuineIntel",
				  .cpu_name = i ? "AMD EPYC 9654"
						: "Intel(R) Xeon(R) Gold 5218R CPU @ 2.10GHz",
				  .cpus = i ? 192 : 40,
				  .sockets = 2,
				  .clock = "real"},
			.offers = f->offers[i],
			.n_offers = 2,
			.base_cmdline = "console=ttyS0,115200",
			.initrd_policy = "overlay",
		};
	}
}

static void make_plan(struct field *f)
{
	char *text = read_file(TOP "/deploy/workloads/netperf.yaml");

	if (kg_workload_parse("netperf.yaml", text, strlen(text), &f->netperf, &f->err) < 0)
		fail_msg("%s", f->err.text);
	free(text);
	if (kg_workload_parse("spin.yaml", canary_text, strlen(canary_text), &f->canary, &f->err) <
	    0)
		fail_msg("%s", f->err.text);
	f->canary->canary = true;
	make_kernels(f);
	make_machines(f);
	text = read_file(TOP "/deploy/examples/netperf-lsm-6.0-6.4.yaml");
	if (job_spec_parse("netperf-lsm-6.0-6.4.yaml", text, strlen(text), &f->job, &f->err) < 0)
		fail_msg("%s", f->err.text);
	free(text);
	f->in = (struct plan_input){
		.job = f->job,
		.machines = f->machines,
		.n_machines = 2,
		.kernels = f->kernels,
		.n_kernels = 5,
		.seed = 20230807,
		.history = {.hops = hops, .n_hops = 1, .spreads = spreads, .n_spreads = 4}};
	if (plan_make(&f->in, &f->plan, &f->err) < 0)
		fail_msg("%s", f->err.text);
}

/* ---- as text ---- */

static void render_expansion(const struct plan *p, struct kg_str *s)
{
	size_t i, k;

	kg_str_add(s, "axes\n");
	for (i = 0; i < p->n_axes; i++) {
		kg_str_addf(s, "  %-16s %2zu:", p->axes[i].name, p->axes[i].n);
		for (k = 0; k < p->axes[i].n; k++)
			kg_str_addf(s, " %s", p->axes[i].values[k]);
		kg_str_add(s, "\n");
	}
	kg_str_addf(s,
		    "cells: %llu = %zu + %llu excluded + %llu duplicates + %llu merged + %llu not "
		    "needed for a pair; %llu of the canary beside them\n",
		    (unsigned long long)p->full, p->n_cells - (size_t)p->canaries,
		    (unsigned long long)p->excluded, (unsigned long long)p->duplicates,
		    (unsigned long long)p->merged, (unsigned long long)p->pairwise_left,
		    (unsigned long long)p->canaries);
	kg_str_addf(s, "slots: %zu, blocks: %u to %u, infeasible: %zu, merges: %zu\n", p->n_slots,
		    p->blocks_min, p->blocks, p->n_infeasible, p->n_merges);
	for (i = 0; i < p->n_merges; i++)
		kg_str_addf(s, "  %s %.8s: '%s' as '%s'\n", p->merges[i].machine,
			    p->merges[i].kernel, p->merges[i].lsm, p->merges[i].into);
}

static void render_lists(const struct plan *p, struct kg_str *s)
{
	const char *kernel = "", *lsm = "";
	size_t i;

	kg_str_add(s, "lists\n");
	for (i = 0; i < p->n_cells && strcmp(p->cells[i].machine, p->cells[0].machine) == 0; i++) {
		const struct plan_cell *c = &p->cells[i];

		if (strcmp(c->kernel_label, kernel) == 0 && strcmp(c->lsm_label, lsm) == 0)
			continue;
		kernel = c->kernel_label;
		lsm = c->lsm_label;
		kg_str_addf(s, "  %s %-4s %s\n", kernel, lsm, c->lsm_effective);
	}
}

static void render_boots(const struct plan *p, struct kg_str *s)
{
	size_t i;

	kg_str_add(s, "machines\n");
	for (i = 0; i < p->n_machines; i++)
		kg_str_addf(s, "  %-8s %u boots, %llu slots, %.1f hours at most (%s)\n",
			    p->machines[i].machine, p->machines[i].boots,
			    (unsigned long long)p->machines[i].slots,
			    (double)p->machines[i].seconds / 3600, p->machines[i].estimate);
	kg_str_add(s, "first block\n");
	for (i = 0; i < p->n_boots; i++) {
		const struct plan_boot *b = &p->boots[i];

		if (b->block == 1)
			kg_str_addf(s, "  %-8s %2u  %s %-4s %2u slots, %4llu s%s%s\n", b->machine,
				    b->position, b->kernel_label, b->lsm_label, b->slots,
				    (unsigned long long)b->seconds, b->canary ? ", canary" : "",
				    b->leave_by_reboot ? ", left by reboot" : "");
	}
}

static void render_detectable(const struct plan *p, struct kg_str *s)
{
	size_t i;

	kg_str_addf(s, "detectable with %u boots a side\n", p->blocks);
	for (i = 0; i < p->n_detectable; i++) {
		const struct plan_detectable *d = &p->detectable[i];

		kg_str_addf(s, "  %-8s %s %s %s: ", d->machine, d->workload, d->params, d->metric);
		if (isnan(d->pct))
			kg_str_addf(s, "not known, %s\n", d->note);
		else
			kg_str_addf(s, "%.2f %% (CoV %.2f %% over %u boots)\n", d->pct,
				    d->between_cov_pct, d->boots);
	}
	kg_str_add(s, "warnings\n");
	for (i = 0; i < p->warnings.n; i++)
		kg_str_addf(s, "  %s\n", p->warnings.items[i]);
}

static void test_plan_of_the_first_experiment_is_the_golden_one(void **state)
{
	struct field *f = *state;
	struct kg_str s = {0};
	char *golden;

	render_expansion(f->plan, &s);
	render_lists(f->plan, &s);
	render_boots(f->plan, &s);
	render_detectable(f->plan, &s);
	assert_false(s.failed);
	if (getenv("KGRID_GOLDEN_WRITE")) {
		FILE *out = fopen(GOLDEN, "w");

		assert_non_null(out);
		assert_true(fputs(kg_str_text(&s), out) >= 0);
		assert_int_equal(fclose(out), 0);
	}
	golden = read_file(GOLDEN);
	assert_string_equal(kg_str_text(&s), golden);
	free(golden);
	kg_str_deinit(&s);
}

static void test_what_the_experiment_is_made_of(void **state)
{
	struct field *f = *state;
	const struct plan *p = f->plan;
	size_t i;

	/* two machines, five kernels, four lists, two tests, nine sizes */
	assert_int_equal(p->full, 2 * 5 * 4 * 2 * 9);
	assert_balanced(p);
	assert_int_equal(p->n_boots, 2 * 5 * 4 * p->blocks);
	/* tomoyo and bpf are the difference that was not seen */
	for (i = 0; i < p->n_cells; i++) {
		bool has = strstr(p->cells[i].lsm_effective, "tomoyo,bpf") != NULL;

		assert_int_equal(has, strcmp(p->cells[i].lsm_label, "new") == 0);
	}
}

static int setup(void **state)
{
	struct field *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	make_plan(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct field *f = *state;

	plan_free(f->plan);
	job_spec_free(f->job);
	kg_workload_free(f->netperf);
	kg_workload_free(f->canary);
	free(f);
	return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_plan_of_the_first_experiment_is_the_golden_one),
		T(test_what_the_experiment_is_made_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
