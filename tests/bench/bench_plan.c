/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A million cells: how long a plan takes, how much memory, and how that compares with the least that
 * must be done, hashing each cell's identity text once (SHA-256, OpenSSL). Each case runs in a
 * process of its own, so that its peak is its own.
 *
 *     bench_plan [--quick]      a hundredth of the size
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/file.h"
#include "coordinator/plan/plan.h"

#define MAX_MACHINES 4000
#define MAX_KERNELS  64

struct bench {
	const char *name;
	size_t machines, kernels, lists;
	const char *rest; /* of the job file */
	unsigned boots;
	size_t cells;	/* that must come out */
	bool own_lines; /* each machine has another base command line */
};

static const char workload_text[] =
	"name: load\n"
	"description: x\n"
	"parameters:\n"
	"  size: {type: int, min: 1, max: 10000000, default: 64}\n"
	"  depth: {type: int, min: 1, max: 10000000, default: 1}\n"
	"  mode: {type: choice, choices: [process, thread], default: process}\n"
	"  seconds: {type: int, min: 1, max: 3600, default: 10}\n"
	"command: [load, -l, \"{seconds}\", -m, \"{size}\"]\n"
	"duration: \"{seconds}\"\n"
	"timeout: 60s\n"
	"metrics:\n"
	"  - {name: throughput, unit: Mbit/s, direction: higher, read: {keyval: T}}\n";

static const struct bench cases[] = {
	{"parameters: 1000 x 1000", 1, 1, 1, "workloads: [load: {size: 1..1000, depth: 1..1000}]\n",
	 1, 1000000, false},
	{"one range", 1, 1, 1, "workloads: [load: {size: 1..1000000}]\n", 1, 1000000, false},
	{"10 machines, 5 kernels, 8 lists", 10, 5, 8,
	 "workloads: [load: {size: 1..1250, mode: [process, thread]}]\n", 1, 1000000, false},
	{"the same, 5 boots", 10, 5, 8,
	 "workloads: [load: {size: 1..1250, mode: [process, thread]}]\n", 5, 1000000, false},
	{"2000 machines", 2000, 5, 10, "workloads: [load: {size: 1..10}]\n", 1, 1000000, false},
	{"1000 machines, base lines of their own", 1000, 5, 8, "workloads: [load: {size: 1..25}]\n",
	 1, 1000000, true},
	{"each cell a boot, base lines of their own", 1000, 20, 50, "workloads: [load]\n", 1,
	 1000000, true},
	{"two of three written twice", 1, 5, 8,
	 "workloads: [load: {size: 1..8333}, load: {size: 1..8333}, load: {size: 1..8334}]\n", 1,
	 333360, false},
	{"a predicate", 10, 5, 8,
	 "workloads: [load: {size: 1..2500}]\nexclude: [\"lsm == l3 and size > 1250\"]\n", 1,
	 937500, false},
};

static struct plan_machine machines[MAX_MACHINES];
static char names[MAX_MACHINES][16], lines[MAX_MACHINES][80];
static struct plan_offer offer;
static struct plan_kernel kernels[MAX_KERNELS];
static char digests[MAX_KERNELS][KG_SHA256_HEX_SIZE], labels[MAX_KERNELS][16];
static struct kconfig_facts config;

/* Of this process: what else the machine does hardly matters. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what, const struct kg_err *err)
{
	fprintf(stderr, "bench_plan: %s: %s\n", what, err->text);
	exit(1);
}

static void make_grid(void)
{
	const char *release = "6.12.117+deb12-cloud-amd64";
	struct kg_workload *w = NULL;
	struct kg_err err = {{0}};
	char *text = NULL;
	size_t len, i;

	if (kg_workload_parse("load.yaml", workload_text, strlen(workload_text), &w, &err) < 0 ||
	    kg_file_read(KGRID_TEST_DATA "/plan/config-6.12.117+deb12-cloud-amd64", 1 << 20, &text,
			 &len, &err) < 0 ||
	    kconfig_read(text, release, &config, &err) < 0)
		fail("fixture", &err);
	free(text);
	offer = (struct plan_offer){
		"load", "aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11aa11", true,
		NULL, w};
	for (i = 0; i < MAX_MACHINES; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "box%04zu", i);
		machines[i] = (struct plan_machine){
			.facts = {.name = names[i], .cpus = 2},
			.offers = &offer,
			.n_offers = 1,
			.base_cmdline = "console=ttyS0",
			.initrd_policy = "overlay",
		};
	}
	for (i = 0; i < MAX_KERNELS; i++) {
		(void)snprintf(digests[i], sizeof(digests[i]), "%064zx", i + 1);
		(void)snprintf(labels[i], sizeof(labels[i]), "k%zu", i);
		kernels[i] = (struct plan_kernel){.digest = digests[i],
						  .label = labels[i],
						  .release = release,
						  .config = &config,
						  .has_modules = true};
	}
}

/* Lists that differ: the bits of their number say which of six names are in. */
static void add_list(struct kg_str *s, size_t i)
{
	static const char *const lsms[] = {"landlock", "yama", "apparmor", "tomoyo", "bpf", "ipe"};
	size_t k;
	int n = 0;

	kg_str_addf(s, "  l%zu: \"", i);
	for (k = 0; k < 6; k++)
		if ((i >> k) & 1)
			kg_str_addf(s, "%s%s", n++ ? "," : "", lsms[k]);
	kg_str_add(s, "\"\n");
}

static void make_job(const struct bench *c, const char *rest, struct kg_str *s)
{
	size_t i;

	kg_str_addf(s, "name: bench\nrepeat: {boots: %u}\nkernels: [", c->boots);
	for (i = 0; i < c->kernels; i++)
		kg_str_addf(s, "%sk%zu", i ? ", " : "", i);
	kg_str_add(s, "]\nlsm:\n");
	for (i = 0; i < c->lists; i++)
		add_list(s, i);
	kg_str_add(s, rest);
}

/* Hashes what identifies each cell, without sharing anything. */
static double reference(const struct plan *p)
{
	struct kg_sha256 *empty = kg_sha256_new(), *h = kg_sha256_new();
	char hex[KG_SHA256_HEX_SIZE];
	double start = now();
	size_t i;

	for (i = 0; i < p->n_cells && empty && h; i++) {
		const struct plan_cell *c = &p->cells[i];

		if (kg_sha256_copy(h, empty) < 0)
			break;
		kg_sha256_update(h, "kgrid-cell 1", 13);
		kg_sha256_update(h, c->machine, strlen(c->machine) + 1);
		kg_sha256_update(h, c->kernel, strlen(c->kernel) + 1);
		kg_sha256_update(h, c->lsm_request, strlen(c->lsm_request) + 1);
		kg_sha256_update(h, c->cmdline, strlen(c->cmdline) + 1);
		kg_sha256_update(h, c->workload, strlen(c->workload) + 1);
		kg_sha256_update(h, c->workload_digest, strlen(c->workload_digest) + 1);
		kg_sha256_update(h, c->params, strlen(c->params) + 1);
		kg_sha256_final(h, hex);
		if (strcmp(hex, c->identity) != 0) {
			fprintf(stderr, "bench_plan: the reference hashes something else\n");
			exit(1);
		}
	}
	kg_sha256_free(empty);
	kg_sha256_free(h);
	return now() - start;
}

static void run(const struct bench *c, bool quick)
{
	struct kg_str text = {0};
	struct job_spec *job = NULL;
	struct plan *plan = NULL;
	struct kg_err err = {{0}};
	struct plan_input in = {
		.machines = machines,
		.n_machines = quick && c->machines > 20 ? 20 : c->machines,
		.kernels = kernels,
		.n_kernels = c->kernels,
		.seed = 42,
		.max_slots = 10000000,
	};
	struct rusage after;
	double parse, make, hash;
	size_t i;

	for (i = 0; c->own_lines && i < c->machines; i++) {
		(void)snprintf(lines[i], sizeof(lines[i]),
			       "console=ttyS0 root=UUID=%08zx-fb80-41a2-b1fb-75c26a4a1801", i);
		machines[i].base_cmdline = lines[i];
	}
	make_job(c, c->rest, &text);
	parse = now();
	if (job_spec_parse("bench.yaml", kg_str_text(&text), text.len, &job, &err) < 0)
		fail(c->name, &err);
	in.job = job;
	make = now();
	parse = make - parse;
	if (plan_make(&in, &plan, &err) < 0)
		fail(c->name, &err);
	make = now() - make;
	getrusage(RUSAGE_SELF, &after);
	if (!quick && plan->n_cells != c->cells) {
		fprintf(stderr, "bench_plan: %s: %zu cells, not %zu\n", c->name, plan->n_cells,
			c->cells);
		exit(1);
	}
	hash = reference(plan);
	printf("%-42s %8zu %8zu %8zu %7.3f %7.3f %6ld %7.3f %6.2f\n", c->name, plan->n_cells,
	       plan->n_slots, plan->n_boots, parse, make, after.ru_maxrss / 1024, hash,
	       hash > 0 ? make / hash : 0);
	plan_free(plan);
	job_spec_free(job);
	kg_str_deinit(&text);
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	size_t i;

	make_grid();
	printf("%-42s %8s %8s %8s %7s %7s %6s %7s %6s\n", "case", "cells", "slots", "boots",
	       "parse s", "plan s", "MiB", "hash s", "ratio");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = 0;
		pid_t child;

		if (quick && cases[i].machines < 100 && i != 6)
			continue;
		fflush(stdout);
		child = fork();
		if (child == 0) {
			run(&cases[i], quick);
			fflush(stdout);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
			return 1;
	}
	printf("ratio: time of the plan / time to hash every cell's identity text on its own\n");
	return 0;
}
