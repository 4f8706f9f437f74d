/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's rules: what is next, what is final, what is too long. */
#include <string.h>

#include "common/clock.h"
#include "coordinator/schedule/sched.h"

static const char *const stage_names[SCHED_STAGE_COUNT] = {
	[SCHED_DISPATCH] = "dispatch", [SCHED_FETCH] = "fetch",	      [SCHED_LOAD] = "load",
	[SCHED_BOOT] = "boot",	       [SCHED_VERIFY] = "verify",     [SCHED_WARMUP] = "warm-up",
	[SCHED_RUN] = "run",	       [SCHED_COLLECT] = "collect",   [SCHED_UPLOAD] = "upload",
	[SCHED_LEAVE] = "leave",       [SCHED_SETTINGS] = "settings", [SCHED_PAIR] = "pair",
	[SCHED_SERVE] = "serve",
};

/* Seconds. Boot: a server with much memory takes minutes through its firmware even under kexec
 * (device probing); dispatch: one round trip to an agent that is connected. */
const struct sched_limits sched_limits_default = {
	.stage_s =
		{
			[SCHED_DISPATCH] = 60,
			[SCHED_FETCH] = 900,
			[SCHED_LOAD] = 180,
			[SCHED_BOOT] = 600,
			[SCHED_VERIFY] = 120,
			[SCHED_WARMUP] = 300,
			[SCHED_RUN] = 300,
			[SCHED_COLLECT] = 300,
			[SCHED_UPLOAD] = 600,
			[SCHED_LEAVE] = 600,
			[SCHED_SETTINGS] = 60,
			[SCHED_PAIR] = 1800,
			[SCHED_SERVE] = 1800,
		},
	.instruction_factor = 4,
};

const char *sched_stage_name(enum sched_stage s)
{
	return (unsigned)s < SCHED_STAGE_COUNT ? stage_names[s] : "?";
}

enum sched_stage sched_stage_parse(const char *name)
{
	int i;

	for (i = 0; i < SCHED_STAGE_COUNT; i++)
		if (strcmp(stage_names[i], name) == 0)
			break;
	return (enum sched_stage)i;
}

const char *sched_job_state_name(enum sched_job_state s)
{
	static const char *const names[] = {"queued", "running", "done", "cancelled"};

	return names[s];
}

enum kg_outcome sched_settle(enum kg_outcome o, uint32_t tries)
{
	if (kg_outcome_retryable(o) && tries + 1 < SCHED_MAX_TRIES)
		return KG_OUTCOME_NONE;
	return o;
}

/* Tries that the pending slots of a visit have behind them; SIZE_MAX when none is pending. */
static size_t visit_tries(const struct sched_visit *v)
{
	size_t most = 0;
	bool pending = false;
	size_t i;

	for (i = 0; i < v->n_slots; i++) {
		if (v->slots[i].outcome != KG_OUTCOME_NONE)
			continue;
		pending = true;
		if (v->slots[i].tries > most)
			most = v->slots[i].tries;
	}
	return pending ? most : SIZE_MAX;
}

struct sched_visit *sched_pick(const struct sched_job *j, const struct sched_machine *m)
{
	struct sched_visit *best = NULL;
	size_t best_tries = SIZE_MAX;
	size_t i;

	for (i = 0; i < j->n_visits; i++) {
		struct sched_visit *v = j->visits[i];
		size_t tries;

		if (v->machine != m)
			continue;
		tries = visit_tries(v);
		if (tries == SIZE_MAX)
			continue;
		if (best && v->block > best->block)
			continue;
		if (!best || v->block < best->block || tries < best_tries ||
		    (tries == best_tries && v->visit < best->visit)) {
			best = v;
			best_tries = tries;
		}
	}
	return best;
}

/* Run and warm-up have the run's own timeout plus the stage's allowance; the agent, which is
 * nearer, ends a run first. */
uint64_t sched_deadline(const struct sched *s, const struct sched_machine *m,
			const struct sched_boot *b, enum sched_stage stage, uint64_t now_ns)
{
	uint64_t seconds = s->limits.stage_s[stage];
	size_t i;

	if (stage == SCHED_RUN || stage == SCHED_WARMUP)
		for (i = 0; i < b->n_attempts; i++)
			if (b->attempts[i].id == b->running_attempt)
				seconds += b->attempts[i].slot->timeout_s;
	if (m->instruction_clock)
		seconds *= s->limits.instruction_factor;
	return now_ns + seconds * KG_NSEC_PER_SEC;
}
