/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the accounts balance, and what a run took. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/sim/sim.h"

/* slots = outcomes + pending: as the scheduler holds them, as its counters say, and as it told. */
void sim_check_job(struct sim *s, uint32_t job)
{
	const struct sim_job *j = &s->jobs[job];
	const struct sched_job *sj = sim_job(s, job);
	uint64_t held[KG_OUTCOME_COUNT] = {0}, sum = 0;
	size_t i, k;

	for (i = 1; i < KG_OUTCOME_COUNT; i++)
		sum += j->outcomes[i];
	assert_int_equal(sum + j->pending, j->n_slots);
	if (!sj) {
		assert_int_equal(j->pending, 0);
		return;
	}
	for (i = 0; i < sj->n_visits; i++)
		for (k = 0; k < sj->visits[i]->n_slots; k++)
			held[sj->visits[i]->slots[k].outcome]++;
	assert_int_equal(held[KG_OUTCOME_NONE], sj->pending);
	assert_int_equal(held[KG_OUTCOME_NONE], j->pending);
	for (i = 1; i < KG_OUTCOME_COUNT; i++)
		assert_int_equal(held[i], j->outcomes[i]);
}

static void check_machine(struct sim *s, uint32_t i)
{
	const struct sched_machine *m = sched_machine_find(&s->sched, s->agents[i].name);
	const struct sched_boot *b = m->boot;

	if (b && b->pair) {
		assert_ptr_equal(b->pair->pair, b);
		assert_ptr_equal(b->pair->visit, b->visit);
		assert_ptr_not_equal(b->pair->machine, m);
	}
	if (b)
		assert_ptr_equal(b->machine, m);
}

void sim_check_all(struct sim *s)
{
	uint32_t i;

	for (i = 0; i < s->n_jobs; i++)
		sim_check_job(s, i);
	for (i = 0; i < s->cfg.machines; i++)
		check_machine(s, i);
}

/* ---- idle for the scheduler's sake ---- */

static bool peer_could(const struct sim *s, const struct sched_visit *v)
{
	const struct sched_machine *p = v->peer_machine;

	return !p || (p->up && !p->boot && p->service == SCHED_NORMAL &&
		      (!p->reserved_by || p->reserved_until_ns <= (int64_t)s->now));
}

static bool runnable(const struct sim *s, const struct sched_machine *m)
{
	const struct sched_job *j;

	for (j = s->sched.jobs; j; j = j->next) {
		const struct sched_visit *v;
		bool waits = false;
		size_t i;

		if ((j->state != SCHED_JOB_QUEUED && j->state != SCHED_JOB_RUNNING) || j->paused)
			continue;
		v = sched_pick(j, m);
		for (i = 0; i < j->n_after; i++)
			waits = waits ||
				(j->after[i] <= s->n_jobs && !s->jobs[j->after[i] - 1].over);
		/* a stop rule is judged within a second: that is not looked at */
		if (v && !waits && (j->gate_block == 0 || v->block <= j->gate_block) &&
		    peer_could(s, v))
			return true;
	}
	return false;
}

void sim_look_at_idle(struct sim *s, uint64_t for_ns)
{
	uint32_t i;

	for (i = 0; i < s->cfg.machines; i++) {
		struct sim_agent *a = &s->agents[i];
		const struct sched_machine *m;

		if (a->left == 0 || a->shut_from >= 0)
			continue;
		a->looked_ns += for_ns;
		m = sched_machine_find(&s->sched, a->name);
		if (m->up && !m->boot && runnable(s, m))
			a->idle_ns += for_ns;
	}
}

double sim_idle_share(const struct sim *s)
{
	uint64_t idle = 0, looked = 0;
	uint32_t i;

	for (i = 0; i < s->cfg.machines; i++) {
		idle += s->agents[i].idle_ns;
		looked += s->agents[i].looked_ns;
	}
	return looked ? (double)idle / (double)looked : 0;
}

/* ---- waiting ---- */

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

/* Time between "could begin as far as its job is concerned" and its first boot, without what its
 * machine was away, drained or reserved, and without pauses of its job. */
struct sim_waits sim_waits(struct sim *s, uint32_t priority)
{
	double *all = calloc(s->n_slots + 1, sizeof(*all));
	struct sim_waits w = {0};
	size_t i;

	assert_non_null(all);
	for (i = 0; i < s->n_slots; i++) {
		const struct sim_slot *slot = &s->slots[i];
		const struct sim_job *j = &s->jobs[slot->job];

		if (j->priority != priority || slot->waited_ns < 0)
			continue;
		all[w.n++] = (double)slot->waited_ns / 3.6e12;
	}
	qsort(all, w.n, sizeof(*all), by_value);
	if (w.n > 0) {
		w.median_h = all[w.n / 2];
		w.most_h = all[w.n - 1];
	}
	free(all);
	return w;
}
