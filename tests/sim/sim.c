/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"

/* splitmix64 (Vigna, public domain, prng.di.unimi.it) */
uint64_t rng_next(struct rng *r)
{
	return sched_hash_mix(r->state++);
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

bool rng_chance(struct rng *r, double p)
{
	return rng_unit(r) < p;
}

static void *grow(void *p, size_t *cap, size_t n, size_t size)
{
	if (n < *cap)
		return p;
	*cap = *cap ? 2 * *cap : 64;
	p = realloc(p, *cap * size);
	assert_non_null(p);
	return p;
}

/* ---- events: a binary heap by (time, number) ---- */

static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->number < b->number;
}

void sim_at(struct sim *s, uint64_t at_ns, struct sim_event e)
{
	size_t i;

	s->heap = grow(s->heap, &s->cap_heap, s->n_heap, sizeof(*s->heap));
	e.at_ns = at_ns;
	e.number = s->n_events++;
	for (i = s->n_heap++; i > 0 && earlier(&e, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = e;
}

static struct sim_event take(struct sim *s)
{
	struct sim_event first = s->heap[0], last = s->heap[--s->n_heap];
	size_t i = 0;

	for (;;) {
		size_t k = 2 * i + 1;

		if (k + 1 < s->n_heap && earlier(&s->heap[k + 1], &s->heap[k]))
			k++;
		if (k >= s->n_heap || earlier(&last, &s->heap[k]))
			break;
		s->heap[i] = s->heap[k];
		i = k;
	}
	s->heap[i] = last;
	return first;
}

void sim_run(struct sim *s, uint64_t until_ns)
{
	while (s->n_heap > 0 && s->heap[0].at_ns <= until_ns) {
		struct sim_event e = take(s);

		s->now = e.at_ns;
		e.run(s, &e);
		if (s->cfg.deep)
			sim_check_all(s);
	}
}

/* ---- what the scheduler does ---- */

static void trace(struct sim *s, const struct sched_action *a)
{
	static const char *const names[] = {"begin", "order", "stage", "end",	"settle",
					    "job",   "fence", "power", "event", "close",
					    "gate",  "ready", "done"};
	uint64_t what[] = {s->now,
			   a->kind,
			   a->machine ? a->machine->number : UINT64_MAX,
			   a->job ? a->job->id : 0,
			   a->boot ? a->boot->id : a->boot_id,
			   a->outcome,
			   a->slot ? a->slot->id : 0,
			   a->attempt,
			   a->count};
	char line[256];
	size_t i;
	int n;

	for (i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		s->trace_hash = sched_hash_mix(s->trace_hash ^ what[i]);
	if (!s->cfg.trace)
		return;
	n = snprintf(line, sizeof(line), "%9.1f %-6s %s job=%llu boot=%llu", (double)s->now / 1e9,
		     names[a->kind], a->machine ? a->machine->name : "-",
		     (unsigned long long)(a->job ? a->job->id : 0),
		     (unsigned long long)(a->boot ? a->boot->id : a->boot_id));
	if (a->kind == SCHED_ACT_BEGIN_BOOT)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " b%u/v%u n=%zu",
			      a->boot->visit->block, a->boot->visit->visit, a->boot->n_attempts);
	if (a->kind == SCHED_ACT_BEGIN_BOOT && a->boot->pair_id)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %s of %llu",
			      a->boot->role == SCHED_ROLE_CLIENT ? "client" : "server",
			      (unsigned long long)a->boot->pair_id);
	if (a->kind == SCHED_ACT_SET_STAGE)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %s",
			      sched_stage_name(a->boot->stage));
	if (a->kind == SCHED_ACT_END_BOOT || a->kind == SCHED_ACT_SETTLE ||
	    a->kind == SCHED_ACT_CLOSE)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %s",
			      kg_outcome_name(a->outcome));
	if (a->kind == SCHED_ACT_SETTLE)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " slot=%llu",
			      (unsigned long long)a->slot->id);
	if (a->kind == SCHED_ACT_CLOSE)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " count=%zu %s", a->count,
			      a->text);
	if (a->kind == SCHED_ACT_GATE)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " block=%u", a->block);
	if (a->kind == SCHED_ACT_JOB_STATE)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %s",
			      sched_job_state_name(a->job->state));
	(void)fprintf(s->cfg.trace, "%s\n", line);
}

static void on_stored(struct sim *s, const struct sim_event *e)
{
	sched_order_stored(&s->sched, e->arg, s->now);
}

/* Without what its machine was away, drained or reserved, and without pauses of its job. */
static int64_t waited(struct sim *s, const struct sim_slot *slot)
{
	uint64_t shut = sim_shut_ns(s, &s->agents[slot->machine]) - slot->shut_ns;
	uint64_t paused = s->jobs[slot->job].paused_ns - slot->paused_ns;
	int64_t ns = (int64_t)(s->now - slot->eligible_ns) - (int64_t)shut - (int64_t)paused;

	return ns > 0 ? ns : 0;
}

/* Nothing begins against what people said, whichever way it was chosen. */
static void check_begin(const struct sim *s, const struct sched_action *a)
{
	const struct sched_machine *m = a->machine;
	const struct sched_job *j = a->job;
	size_t i;

	assert_int_equal(m->service, SCHED_NORMAL);
	if (m->reserved_by && m->reserved_until_ns > (int64_t)s->now)
		assert_string_equal(m->reserved_by, j->user);
	assert_false(j->paused);
	for (i = 0; i < j->n_after && s->jobs[j->id - 1].pending == s->jobs[j->id - 1].n_slots; i++)
		assert_true(j->after[i] > s->n_jobs || s->jobs[j->after[i] - 1].over);
}

static void on_begin(struct sim *s, const struct sched_action *a)
{
	struct sim_agent *g = sim_agent_of(s, a->machine);
	size_t i;

	check_begin(s, a);
	s->boots++;
	s->began[g->index] = s->now;
	for (i = 0; i < a->boot->n_attempts; i++) {
		struct sim_slot *slot = &s->slots[a->boot->attempts[i].slot->id];

		if (slot->waited_ns < 0)
			slot->waited_ns = waited(s, slot);
	}
	sim_at(s, s->now + SEC / 50, (struct sim_event){.run = on_stored, .arg = a->boot->id});
}

/* The part of [began, now] that is counted. */
static void count_usage(struct sim *s, const struct sched_action *a)
{
	struct sim_agent *g = sim_agent_of(s, a->machine);
	uint64_t from = s->began[g->index], to = s->now;

	if (from < s->count_from)
		from = s->count_from;
	if (to > s->count_to)
		to = s->count_to;
	if (to > from)
		s->used_ns[s->jobs[a->job->id - 1].user] += to - from;
	s->began[g->index] = UINT64_MAX;
}

static void on_settle(struct sim *s, const struct sched_action *a)
{
	struct sim_job *j = &s->jobs[a->job->id - 1];

	if (a->outcome == KG_OUTCOME_NONE)
		return;
	assert_true(j->pending > 0);
	j->pending--;
	j->outcomes[a->outcome]++;
	s->agents[s->slots[a->slot->id].machine].left--;
}

static void recount_left(struct sim *s, const struct sched_job *sj)
{
	const struct sched_visit *v;
	size_t i, k;

	for (i = 0; i < sj->n_visits; i++) {
		v = sj->visits[i];
		for (k = 0; k < v->n_slots; k++)
			if (v->slots[k].outcome == KG_OUTCOME_NONE)
				sim_agent_of(s, v->machine)->left++;
	}
}

static void on_close(struct sim *s, const struct sched_action *a)
{
	struct sim_job *j = &s->jobs[a->job->id - 1];
	struct sched_job *sj;
	uint32_t i;

	assert_true(a->count > 0 && a->count <= j->pending);
	assert_true(a->text[0] != '\0');
	j->pending -= a->count;
	j->outcomes[a->outcome] += a->count;
	if (a->machine) {
		sim_agent_of(s, a->machine)->left -= (uint32_t)a->count;
		return;
	}
	for (i = 0; i < s->cfg.machines; i++)
		s->agents[i].left = 0;
	for (sj = s->sched.jobs; sj; sj = sj->next)
		recount_left(s, sj);
}

static void since_now(struct sim *s, struct sim_slot *slot)
{
	slot->eligible_ns = s->now;
	slot->shut_ns = sim_shut_ns(s, &s->agents[slot->machine]);
	slot->paused_ns = s->jobs[slot->job].paused_ns;
}

static void on_over(struct sim *s, const struct sim_job *over)
{
	size_t i, k;

	for (i = 0; i < s->n_jobs; i++)
		for (k = 0; s->jobs[i].after == over->id && k < s->jobs[i].n_slots; k++)
			since_now(s, &s->slots[s->jobs[i].first_slot + k]);
	if (s->on_job_over)
		s->on_job_over(s, (uint32_t)(over->id - 1));
}

static void on_job_state(struct sim *s, const struct sched_action *a)
{
	struct sim_job *j = &s->jobs[a->job->id - 1];

	if (a->job->state == SCHED_JOB_CANCELLED) {
		struct sched_job *sj;
		uint32_t i;

		j->cancelled = true;
		j->outcomes[KG_OUTCOME_CANCELLED] += j->pending;
		j->pending = 0;
		for (i = 0; i < s->cfg.machines; i++)
			s->agents[i].left = 0;
		for (sj = s->sched.jobs; sj; sj = sj->next)
			recount_left(s, sj);
	}
	if (a->job->state == SCHED_JOB_DONE || a->job->state == SCHED_JOB_CANCELLED) {
		assert_false(j->over);
		j->over = true;
		on_over(s, j);
	}
}

static void on_judged(struct sim *s, const struct sim_event *e)
{
	struct sched_job *j = sim_job(s, e->who);
	uint32_t block = (uint32_t)e->arg;
	const char *machine = s->agents[e->life].name;

	if (!j)
		return;
	if (rng_chance(&s->rng, s->stop_early)) {
		sched_close(&s->sched, j->id, machine, KG_OUTCOME_SKIPPED,
			    "the intervals are narrow enough", s->now);
		return;
	}
	sched_release(&s->sched, j->id, machine, block + 1, s->now);
}

static void on_gate(struct sim *s, const struct sched_action *a)
{
	sim_at(s, s->now + SEC,
	       (struct sim_event){.run = on_judged,
				  .who = (uint32_t)(a->job->id - 1),
				  .life = sim_agent_of(s, a->machine)->index,
				  .arg = a->block});
}

static void act(void *arg, const struct sched_action *a)
{
	struct sim *s = arg;

	s->n_actions++;
	trace(s, a);
	switch (a->kind) {
	case SCHED_ACT_BEGIN_BOOT:
		on_begin(s, a);
		break;
	case SCHED_ACT_SEND_ORDER:
		sim_agent_order(s, a);
		break;
	case SCHED_ACT_END_BOOT:
		count_usage(s, a);
		break;
	case SCHED_ACT_SETTLE:
		on_settle(s, a);
		break;
	case SCHED_ACT_JOB_STATE:
		on_job_state(s, a);
		break;
	case SCHED_ACT_FENCE:
		sim_agent_fence(s, a);
		break;
	case SCHED_ACT_POWER_CYCLE:
		assert_int_not_equal(a->machine->service, SCHED_MAINTENANCE);
		sim_agent_power(s, a);
		break;
	case SCHED_ACT_CLOSE:
		on_close(s, a);
		break;
	case SCHED_ACT_GATE:
		on_gate(s, a);
		break;
	case SCHED_ACT_PEER_READY:
		sim_agent_ready(s, a);
		break;
	case SCHED_ACT_PEER_DONE:
		sim_agent_done(s, a);
		break;
	case SCHED_ACT_SET_STAGE:
	case SCHED_ACT_EVENT:
		break;
	}
}

static void on_tick(struct sim *s, const struct sim_event *e)
{
	uint32_t i;

	sched_tick(&s->sched, s->now);
	for (i = 0; i < s->cfg.machines; i++)
		sim_shut(s, &s->agents[i]); /* reservations end by themselves */
	sim_look_at_idle(s, s->cfg.tick_ns);
	if (!s->stop_ticks || s->sched.jobs)
		sim_at(s, s->now + s->cfg.tick_ns, *e);
}

void sim_init(struct sim *s, const struct sim_config *cfg)
{
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->cfg = *cfg;
	s->rng.state = sched_hash_mix(cfg->seed) ^ 0x51;
	s->trace_hash = 0xcbf29ce484222325ULL;
	s->count_to = UINT64_MAX;
	s->now = 100 * HOUR; /* the host has been up for a while */
	sched_init(&s->sched, &sched_limits_default, 1, 1);
	assert_int_equal(sched_set_policy(&s->sched, &cfg->policy), 0);
	s->sched.act = act;
	s->sched.arg = s;
	s->agents = calloc(cfg->machines, sizeof(*s->agents));
	s->began = calloc(cfg->machines, sizeof(*s->began));
	assert_true(s->agents && s->began);
	for (i = 0; i < cfg->machines; i++) {
		struct sim_agent *a = &s->agents[i];

		a->index = i;
		a->shut_from = -1;
		(void)snprintf(a->name, sizeof(a->name), "m%04u", i);
		assert_non_null(sched_machine_get(&s->sched, a->name));
		a->connected = true;
		sched_machine_up(&s->sched, a->name, false, &(struct sched_agent_state){0}, s->now);
	}
	sim_at(s, s->now + cfg->tick_ns, (struct sim_event){.run = on_tick});
}

void sim_deinit(struct sim *s)
{
	uint32_t i;

	sched_deinit(&s->sched);
	for (i = 0; i < s->cfg.machines; i++)
		free(s->agents[i].attempts);
	free(s->agents);
	free(s->began);
	free(s->heap);
	free(s->jobs);
	free(s->slots);
}
