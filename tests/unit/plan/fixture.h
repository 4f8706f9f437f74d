/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two machines and two real kernels to plan for. */
#ifndef KG_TESTS_PLAN_FIXTURE_H
#define KG_TESTS_PLAN_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "common/arena.h"
#include "common/file.h"
#include "coordinator/plan/plan.h"

#define DIGEST_61  "61aaaaaaaa000000000000000000000000000000000000000000000000000061"
#define DIGEST_612 "61bbbbbbbb000000000000000000000000000000000000000000000000000612"

static const char netperf_text[] =
	"name: netperf\n"
	"description: network performance\n"
	"parameters:\n"
	"  test: {type: choice, choices: [TCP_STREAM, UDP_RR], required: true}\n"
	"  size: {type: int, min: 1, max: 65507, default: 64}\n"
	"  seconds: {type: int, min: 1, max: 3600, default: 10}\n"
	"command: [netperf, -l, \"{seconds}\", -m, \"{size}\", -t, \"{test}\"]\n"
	"warm-up: {runs: 1}\n"
	"duration: \"{seconds}\"\n"
	"timeout: 60s\n"
	"metrics:\n"
	"  - {name: throughput, unit: Mbit/s, direction: higher, read: {keyval: THROUGHPUT}}\n";

static const char hackbench_text[] =
	"name: hackbench\n"
	"description: scheduler\n"
	"parameters:\n"
	"  groups: {type: int, min: 1, max: 1000, default: 10}\n"
	"  mode: {type: choice, choices: [process, thread], default: process}\n"
	"command: [hackbench, -g, \"{groups}\"]\n"
	"arguments:\n"
	"  - {when: {mode: [thread]}, add: [-T]}\n"
	"duration: 5s\n"
	"timeout: 60s\n"
	"metrics:\n"
	"  - {name: time, unit: s, direction: lower, read: {line: \"Time: {value}\"}}\n";

struct grid {
	struct kg_workload *netperf, *hackbench;
	struct plan_offer offers[2][2];
	struct plan_machine machines[2];
	struct kconfig_facts configs[2];
	struct plan_kernel kernels[3];
	struct job_spec *job;
	struct plan_input in;
	struct plan *plan;
	struct kg_err err;
};

static const char *const grid_tags[] = {"lab", "icount"};

static void grid_config(const char *name, const char *release, struct kconfig_facts *ret)
{
	char path[512];
	char *text;
	size_t len;
	struct kg_err err = {{0}};

	(void)snprintf(path, sizeof(path), "%s/plan/%s", KGRID_TEST_DATA, name);
	assert_int_equal(kg_file_read(path, 1 << 20, &text, &len, &err), 0);
	assert_int_equal(kconfig_read(text, release, ret, &err), 0);
	free(text);
}

static inline void grid_init(struct grid *g)
{
	size_t i;

	memset(g, 0, sizeof(*g));
	if (kg_workload_parse("netperf.yaml", netperf_text, strlen(netperf_text), &g->netperf,
			      &g->err) < 0 ||
	    kg_workload_parse("hackbench.yaml", hackbench_text, strlen(hackbench_text),
			      &g->hackbench, &g->err) < 0)
		fail_msg("%s", g->err.text);
	grid_config("config-6.1.0-52-cloud-amd64", "6.1.0-52-cloud-amd64", &g->configs[0]);
	grid_config("config-6.12.117+deb12-cloud-amd64", "6.12.117+deb12-cloud-amd64",
		    &g->configs[1]);
	for (i = 0; i < 2; i++) {
		g->offers[i][0] = (struct plan_offer){"netperf", "aa11", true, NULL, g->netperf};
		g->offers[i][1] =
			(struct plan_offer){"hackbench", "bb22", true, NULL, g->hackbench};
		g->machines[i] = (struct plan_machine){
			.facts = {.name = i ? "lab-amd" : "lab-intel",
				  .cpu_vendor = i ? "AuthenticAMD" : "GenuineIntel",
				  .cpu_family = i ? 25 : 6,
				  .cpu_model = i ? 1 : 85,
				  .cpus = 2,
				  .sockets = 1,
				  .memory_bytes = 512ULL << 20,
				  .clock = "instruction",
				  .tags = grid_tags,
				  .n_tags = 2},
			.offers = g->offers[i],
			.n_offers = 2,
			.base_cmdline = "console=ttyS0 edd=off",
			.initrd_policy = "overlay",
		};
	}
	g->kernels[0] = (struct plan_kernel){
		DIGEST_61, NULL, "6.1.0-52-cloud-amd64", NULL, &g->configs[0], true, 0};
	g->kernels[1] = (struct plan_kernel){
		DIGEST_612, "newer", "6.12.117+deb12-cloud-amd64", NULL, &g->configs[1], true, 0};
	g->in = (struct plan_input){
		.machines = g->machines,
		.n_machines = 2,
		.kernels = g->kernels,
		.n_kernels = 2,
		.seed = 42,
	};
}

/* 0, or the error of parsing or planning, with its text in g->err. */
static inline int grid_plan(struct grid *g, const char *text)
{
	int rc;

	plan_free(g->plan);
	job_spec_free(g->job);
	g->plan = NULL;
	g->job = NULL;
	g->err.text[0] = '\0';
	rc = job_spec_parse("job.yaml", text, strlen(text), &g->job, &g->err);
	if (rc < 0)
		return rc;
	g->in.job = g->job;
	return plan_make(&g->in, &g->plan, &g->err);
}

/* Plans a job of tests/data/plan. */
static inline void grid_plan_file(struct grid *g, const char *name)
{
	char path[512];
	char *text;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/plan/%s", KGRID_TEST_DATA, name);
	assert_int_equal(kg_file_read(path, 1 << 20, &text, &len, &g->err), 0);
	if (grid_plan(g, text) < 0)
		fail_msg("%s: %s", name, g->err.text);
	free(text);
}

static inline void grid_deinit(struct grid *g)
{
	plan_free(g->plan);
	job_spec_free(g->job);
	kg_workload_free(g->netperf);
	kg_workload_free(g->hackbench);
}

/* ---- jobs by hand ---- */

/* A copy of a parsed job that is changed by hand; what it gets lives in the arena. */
struct hand {
	struct job_spec job;
	struct kg_arena memory;
	struct predicate *predicates[16]; /* owned */
	size_t n_predicates;
};

/* Also of a zeroed one. */
static inline void hand_deinit(struct hand *h)
{
	while (h->n_predicates > 0)
		predicate_free(h->predicates[--h->n_predicates]);
	kg_arena_deinit(&h->memory);
}

static inline void *hand_alloc(struct hand *h, size_t size)
{
	void *p = kg_arena_alloc(&h->memory, size);

	assert_non_null(p);
	return p;
}

static inline char *hand_text(struct hand *h, const char *text)
{
	char *p = kg_arena_text(&h->memory, text, strlen(text));

	assert_non_null(p);
	return p;
}

/* Texts out of one: "a|b|c". */
static inline struct job_texts hand_texts(struct hand *h, const char *all)
{
	struct job_texts t = {hand_alloc(h, 1000 * sizeof(struct job_text)), 0};

	for (;;) {
		size_t len = strcspn(all, "|");

		t.items[t.n].text = kg_arena_text(&h->memory, all, len);
		assert_non_null(t.items[t.n].text);
		t.items[t.n].at = (struct job_place){NULL, 100 + (unsigned)t.n, 1};
		t.n++;
		if (!all[len])
			return t;
		all += len + 1;
	}
}

static inline struct job_param hand_param(struct hand *h, const char *name, const char *values)
{
	return (struct job_param){hand_text(h, name), hand_texts(h, values), {NULL, 90, 7}};
}

static inline struct job_machines hand_machines(struct hand *h, const char *names)
{
	struct job_machines m = {.at = {NULL, 80, 3}};

	if (names)
		m.names = hand_texts(h, names);
	return m;
}

static inline struct job_setting *hand_setting(struct hand *h, const char *name, const char *values)
{
	struct job_setting *all = hand_alloc(h, (h->job.n_settings + 1) * sizeof(*all));

	if (h->job.n_settings)
		memcpy(all, h->job.settings, h->job.n_settings * sizeof(*all));
	all[h->job.n_settings++] =
		(struct job_setting){hand_text(h, name), hand_texts(h, values), {NULL, 70, 1}};
	h->job.settings = all;
	return &all[h->job.n_settings - 1];
}

static inline void hand_variants(struct hand *h, const char *words)
{
	const struct job_texts t = hand_texts(h, words);
	size_t i;

	h->job.variants = hand_alloc(h, t.n * sizeof(*h->job.variants));
	h->job.n_variants = t.n;
	for (i = 0; i < t.n; i++)
		h->job.variants[i] =
			(struct job_variant){t.items[i].text, t.items[i].text, t.items[i].at};
}

static inline void hand_role(struct hand *h, size_t workload, const char *client,
			     const char *server)
{
	struct job_role *r = hand_alloc(h, sizeof(*r));

	r->client = hand_machines(h, client);
	r->server = hand_machines(h, server);
	h->job.workloads[workload].role = r;
}

static inline struct job_exclude *hand_predicates(struct hand *h, const char *text,
						  const struct predicate_scope *scope,
						  size_t *ret_n)
{
	struct job_exclude *x = hand_alloc(h, sizeof(*x));
	struct kg_err err = {{0}};

	x->text = hand_text(h, text);
	x->at = (struct job_place){NULL, 60, 5};
	if (predicate_parse(text, scope, &x->predicate, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_true(h->n_predicates < 16);
	h->predicates[h->n_predicates++] = x->predicate;
	*ret_n = 1;
	return x;
}

/* Parses a job and takes a copy; grid_plan_hand plans the copy. */
static inline void hand_init(struct hand *h, struct grid *g, const char *text)
{
	hand_deinit(h);
	memset(h, 0, sizeof(*h));
	kg_arena_init(&h->memory, SIZE_MAX / 4);
	job_spec_free(g->job);
	g->job = NULL;
	if (job_spec_parse("job.yaml", text, strlen(text), &g->job, &g->err) < 0)
		fail_msg("%s", g->err.text);
	h->job = *g->job;
	/* workloads may be changed, too */
	h->job.workloads = hand_alloc(h, h->job.n_workloads * sizeof(*h->job.workloads));
	memcpy(h->job.workloads, g->job->workloads, h->job.n_workloads * sizeof(*h->job.workloads));
}

static inline int grid_plan_hand(struct grid *g, struct hand *h)
{
	plan_free(g->plan);
	g->plan = NULL;
	g->err.text[0] = '\0';
	g->in.job = &h->job;
	return plan_make(&g->in, &g->plan, &g->err);
}

#define assert_planned_hand(g, h)                      \
	do {                                           \
		if (grid_plan_hand((g), (h)) != 0)     \
			fail_msg("%s", (g)->err.text); \
	} while (0)

/* What plan.h says about the numbers. */
static inline void assert_balanced(const struct plan *p)
{
	assert_int_equal(p->full, p->n_cells - p->canaries + p->excluded + p->duplicates +
					  p->merged + p->pairwise_left);
}

/* A test fixture's error is shown before the comparison fails. */
#define assert_planned(g, job_text)                    \
	do {                                           \
		if (grid_plan((g), (job_text)) != 0)   \
			fail_msg("%s", (g)->err.text); \
	} while (0)

#define assert_contains(text, part)                                      \
	do {                                                             \
		if (!strstr((text), (part)))                             \
			fail_msg("'%s' is not in '%s'", (part), (text)); \
	} while (0)

static inline bool warns(const struct plan *p, const char *part)
{
	size_t i;

	for (i = 0; i < p->warnings.n; i++)
		if (strstr(p->warnings.items[i], part))
			return true;
	return false;
}

#endif
