/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a decision of the scheduler costs: a boot has ended, its slot is settled, the next boot on
 * that machine is chosen and begun. Grid: 1,000 machines, 100,000 queued cells. References of the
 * same run: a binary search among as many sorted numbers, and one look at every cell, which is what
 * choosing without an index takes at the least.
 *
 *   bench_sched [--machines N] [--cells N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/schedule/sched.h"

struct shape {
	const char *name;
	uint32_t jobs, users;
	bool pairs; /* a tenth of the jobs */
};

static const struct shape shapes[] = {
	{"200 jobs of 10 submitters", 200, 10, false},
	{"200 jobs of 10 submitters, a tenth of them pairs", 200, 10, true},
	{"10,000 jobs of 100 submitters", 10000, 100, false},
};

struct bench {
	struct sched s;
	uint32_t machines, cells;
	uint64_t *begun; /* boots to be stored and ended, in order */
	size_t n_begun, cap_begun;
};

static void die(const char *what)
{
	(void)fprintf(stderr, "bench_sched: %s\n", what);
	exit(1);
}

static void *need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static void act(void *arg, const struct sched_action *a)
{
	struct bench *b = arg;

	if (a->kind != SCHED_ACT_BEGIN_BOOT)
		return;
	if (b->n_begun == b->cap_begun) {
		b->cap_begun = b->cap_begun ? 2 * b->cap_begun : 1024;
		b->begun = need(realloc(b->begun, b->cap_begun * sizeof(*b->begun)));
	}
	b->begun[b->n_begun++] = a->boot->id;
}

static void add_job(struct bench *b, const struct shape *sh, uint32_t i, uint32_t per_job)
{
	struct sched_job *j = need(sched_job_new(i + 1, (i * 37) % 101, SCHED_JOB_QUEUED));
	char name[32], user[32], machine[32], peer[32];
	bool pair = sh->pairs && i % 10 == 0;
	uint32_t k;

	(void)snprintf(name, sizeof(name), "job%u", i);
	(void)snprintf(user, sizeof(user), "user%u", i % sh->users);
	if (sched_job_set_texts(j, name, user) < 0)
		die("out of memory");
	for (k = 0; k < per_job; k++) {
		struct sched_visit like = {.block = 1, .visit = 1, .seconds = 300 + i % 600};
		uint32_t m = (i * 131 + k) % b->machines;

		like.visit = k / b->machines + 1;
		(void)snprintf(machine, sizeof(machine), "machine-%04u", m);
		(void)snprintf(peer, sizeof(peer), "machine-%04u", (m + 1) % b->machines);
		like.peer = pair ? peer : NULL;
		if (sched_visit_add_slot(need(sched_job_add_visit(&b->s, j, machine, &like)),
					 &(struct sched_slot){.id = (uint64_t)i * per_job + k + 1,
							      .timeout_s = 60}) < 0)
			die("out of memory");
	}
	sched_job_added(&b->s, j, 0);
}

static int by_value(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

struct cost {
	double mean_us, p99_us;
	size_t n;
};

/* Until half of the cells are done: the queues stay long. */
static struct cost decisions(struct bench *b)
{
	uint64_t *ns = need(calloc(b->cells, sizeof(*ns)));
	uint64_t now = KG_NSEC_PER_SEC, sum = 0;
	struct cost c = {0};
	size_t at = 0;

	while (at < b->n_begun && c.n < b->cells / 2) {
		uint64_t id = b->begun[at++], from;
		struct sched_machine *m;
		struct sched_boot *boot = sched_boot_find(&b->s, id, &m);
		size_t i;

		if (!boot)
			continue;
		now += 600 * KG_NSEC_PER_SEC / b->machines;
		sched_order_stored(&b->s, id, now);
		from = kg_monotonic_ns();
		for (i = 0; i < boot->n_attempts; i++)
			sched_attempt_ended(&b->s, id, boot->attempts[i].id, KG_OUTCOME_PASS, NULL,
					    now);
		sched_boot_ended(&b->s, id, KG_OUTCOME_PASS, NULL, now);
		ns[c.n] = kg_monotonic_ns() - from;
		sum += ns[c.n++];
	}
	qsort(ns, c.n, sizeof(*ns), by_value);
	c.mean_us = c.n ? (double)sum / (double)c.n / 1e3 : 0;
	c.p99_us = c.n ? (double)ns[c.n * 99 / 100] / 1e3 : 0;
	free(ns);
	return c;
}

/* A binary search among `n` sorted numbers, in microseconds. */
static double search_us(uint32_t n)
{
	uint64_t *keys = need(calloc(n, sizeof(*keys)));
	uint64_t from, found = 0, x = 1;
	uint32_t i;

	for (i = 0; i < n; i++)
		keys[i] = (uint64_t)i * 7;
	from = kg_monotonic_ns();
	for (i = 0; i < n; i++) {
		uint64_t key;

		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		key = (x >> 33) % n * 7;
		found += *(uint64_t *)need(bsearch(&key, keys, n, sizeof(*keys), by_value));
	}
	from = kg_monotonic_ns() - from;
	free(keys);
	return found ? (double)from / n / 1e3 : 0;
}

/* One look at every visit of every job, in microseconds. */
static double scan_us(struct bench *b)
{
	uint64_t from = kg_monotonic_ns();
	const struct sched_job *j;
	size_t pending = 0;
	size_t i;

	for (j = b->s.jobs; j; j = j->next)
		for (i = 0; i < j->n_visits; i++)
			pending += j->visits[i]->slots[0].outcome == KG_OUTCOME_NONE;
	from = kg_monotonic_ns() - from;
	return pending > 0 ? (double)from / 1e3 : 0;
}

static double tick_us(struct bench *b)
{
	uint64_t from = kg_monotonic_ns();
	unsigned i;

	for (i = 0; i < 100; i++)
		sched_tick(&b->s, KG_NSEC_PER_SEC + i);
	return (double)(kg_monotonic_ns() - from) / 100 / 1e3;
}

static void run(const struct shape *sh, uint32_t machines, uint32_t cells)
{
	struct bench b = {.machines = machines, .cells = cells};
	uint32_t jobs = sh->jobs < cells ? sh->jobs : cells, i;
	double scan, tick, search;
	char name[32];
	struct cost c;

	sched_init(&b.s, &sched_limits_default, 1, 1);
	b.s.act = act;
	b.s.arg = &b;
	for (i = 0; i < jobs; i++)
		add_job(&b, sh, i, cells / jobs);
	for (i = 0; i < machines; i++) {
		(void)snprintf(name, sizeof(name), "machine-%04u", i);
		sched_machine_up(&b.s, name, false, &(struct sched_agent_state){0}, 0);
	}
	scan = scan_us(&b);
	tick = tick_us(&b);
	search = search_us(cells);
	c = decisions(&b);
	printf("%s, %u machines, %u cells:\n", sh->name, machines, cells);
	printf("  decision          %8.2f us, 99 %% under %.2f us, %zu decisions (aim: under 20 "
	       "us)\n",
	       c.mean_us, c.p99_us, c.n);
	printf("  to binary search  %8.1f (%.3f us among %u numbers)\n", c.mean_us / search, search,
	       cells);
	printf("  to looking at all %8.5f (%.0f us)\n", c.mean_us / scan, scan);
	printf("  tick              %8.1f us, nothing due\n", tick);
	sched_deinit(&b.s);
	free(b.begun);
}

int main(int argc, char **argv)
{
	uint32_t machines = 1000, cells = 100000;
	size_t i;
	int k;

	for (k = 1; k + 1 < argc; k += 2) {
		uint32_t n = (uint32_t)strtoul(argv[k + 1], NULL, 10);

		if (strcmp(argv[k], "--machines") == 0 && n > 1)
			machines = n;
		else if (strcmp(argv[k], "--cells") == 0 && n > 0)
			cells = n;
		else
			die("usage: bench_sched [--machines N] [--cells N]");
	}
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		run(&shapes[i], machines, cells);
	return 0;
}
