/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's rules: what is next, what is final, what is too long. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/schedule/sched_internal.h"

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

static uint64_t timeout_of(const struct sched_boot *b)
{
	size_t i;

	for (i = 0; i < b->n_attempts; i++)
		if (b->attempts[i].id == b->running_attempt)
			return b->attempts[i].slot->timeout_s;
	return 0;
}

/* Run and warm-up have the run's own timeout plus the stage's allowance; the agent, which is
 * nearer, ends a run first. A server waits for its client, which may take as long as the client's
 * own deadlines allow from `pair` to the end of the run. */
uint64_t sched_deadline(const struct sched *s, const struct sched_machine *m,
			const struct sched_boot *b, enum sched_stage stage, uint64_t now_ns)
{
	const uint32_t *limits = s->limits.stage_s;
	uint64_t seconds = limits[stage];
	bool slow = m->instruction_clock;

	if (stage == SCHED_RUN || stage == SCHED_WARMUP)
		seconds += timeout_of(b);
	if (stage == SCHED_SERVE)
		seconds += (uint64_t)limits[SCHED_WARMUP] + limits[SCHED_RUN] +
			   limits[SCHED_COLLECT] + 2 * timeout_of(b);
	if ((stage == SCHED_PAIR || stage == SCHED_SERVE) && b->pair)
		slow = slow || b->pair->machine->instruction_clock;
	if (slow)
		seconds *= s->limits.instruction_factor;
	return now_ns + seconds * KG_NSEC_PER_SEC;
}

bool sched_needs_power(const struct sched_machine *m)
{
	enum sched_stage stage = m->boot->stage;

	if (stage == SCHED_PAIR || stage == SCHED_SERVE)
		return !m->up;
	return stage != SCHED_DISPATCH && stage != SCHED_FETCH && stage != SCHED_LOAD;
}

const char *sched_service_name(enum sched_service s)
{
	static const char *const names[] = {"normal", "drain", "maintenance"};

	return (unsigned)s < sizeof(names) / sizeof(names[0]) ? names[s] : "?";
}

const char *sched_span(uint64_t ns, char *buf, size_t size)
{
	unsigned long long s = ns / KG_NSEC_PER_SEC;
	unsigned long long m = s / 60, h = m / 60;

	if (s < 60)
		(void)snprintf(buf, size, "%llu s", s);
	else if (m < 60 && s % 60 == 0)
		(void)snprintf(buf, size, "%llu min", m);
	else if (m < 60)
		(void)snprintf(buf, size, "%llu min %llu s", m, s % 60);
	else if (h < 48 && m % 60 == 0)
		(void)snprintf(buf, size, "%llu h", h);
	else if (h < 48)
		(void)snprintf(buf, size, "%llu h %llu min", h, m % 60);
	else if (h % 24 == 0)
		(void)snprintf(buf, size, "%llu d", h / 24);
	else
		(void)snprintf(buf, size, "%llu d %llu h", h / 24, h % 24);
	return buf;
}
