/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What agents and the clock say of open boots. */
#include "coordinator/schedule/sched.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/schedule/sched_internal.h"

static void set_stage(struct sched *s, struct sched_machine *m, enum sched_stage stage,
		      uint64_t now_ns)
{
	struct sched_boot *b = m->boot;

	b->stage = stage;
	b->deadline_ns = sched_deadline(s, m, b, stage, now_ns);
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_SET_STAGE,
					     .machine = m,
					     .job = b->visit->job,
					     .boot = b});
}

static void send_order(struct sched *s, struct sched_boot *b, uint64_t now_ns)
{
	b->deadline_ns = sched_deadline(s, b->machine, b, SCHED_DISPATCH, now_ns);
	if (b->machine->up)
		sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_SEND_ORDER,
						     .machine = b->machine,
						     .job = b->visit->job,
						     .boot = b});
}

/* Of a pair both sides are stored before either leaves its kernel. */
void sched_order_stored(struct sched *s, uint64_t boot, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);

	if (!b)
		return;
	b->order_sent = true;
	if (!sched_ready_to_go(b))
		return;
	if (b->pair && b->pair->role == SCHED_ROLE_CLIENT)
		send_order(s, b->pair, now_ns);
	send_order(s, b, now_ns);
	if (b->pair && b->pair->role == SCHED_ROLE_SERVER)
		send_order(s, b->pair, now_ns);
	sched_settle_down(s, now_ns);
}

void sched_stage_entered(struct sched *s, uint64_t boot, enum sched_stage stage, uint64_t attempt,
			 uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);
	struct sched_attempt *a;

	if (!b || stage >= SCHED_STAGE_COUNT)
		return;
	a = sched_boot_attempt(b, attempt);
	/* Waiting for the other side is not yet the run. */
	if (a && stage != SCHED_PAIR && stage != SCHED_SERVE)
		a->started = true;
	b->running_attempt = a ? a->id : 0;
	set_stage(s, m, stage, now_ns);
	sched_settle_down(s, now_ns);
}

void sched_evidence(struct sched *s, uint64_t boot, bool verified, enum kg_outcome outcome,
		    const char *reason, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);

	(void)now_ns;
	if (!b || verified)
		return;
	/* BootEnded follows; should it be lost with the machine, this is what is known. */
	b->agent_outcome = outcome == KG_OUTCOME_NONE ? KG_OUTCOME_HARNESS_ERROR : outcome;
	sched_set_text(&b->agent_reason, reason);
}

void sched_attempt_ended(struct sched *s, uint64_t boot, uint64_t attempt, enum kg_outcome outcome,
			 const char *reason, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);
	struct sched_attempt *a = b ? sched_boot_attempt(b, attempt) : NULL;

	if (!a || a->outcome != KG_OUTCOME_NONE)
		return;
	a->outcome = outcome == KG_OUTCOME_NONE ? KG_OUTCOME_HARNESS_ERROR : outcome;
	sched_set_text(&a->reason, reason);
	b->running_attempt = 0;
	if (b->role == SCHED_ROLE_CLIENT)
		sched_pair_attempt_ended(s, b, a, now_ns);
	sched_settle_slot(s, m, b->visit->job, a);
	if (b->role == SCHED_ROLE_SERVER)
		sched_pair_attempt_ended(s, b, a, now_ns); /* may end both boots */
	sched_settle_down(s, now_ns);
}

void sched_restore(struct sched *s)
{
	s->restoring = true;
}

void sched_restore_boot(struct sched *s, struct sched_machine *m, struct sched_boot *b)
{
	struct sched_machine *om;
	struct sched_boot *other;
	size_t i;

	assert(!m->boot);
	if (b->id >= s->next_boot)
		s->next_boot = b->id + 1;
	for (i = 0; i < b->n_attempts && b->role == SCHED_ROLE_SERVER; i++)
		b->attempts[i].settled = true;
	sched_boot_open(s, m, b);
	b->ends_ns = b->deadline_ns; /* at the latest */
	b->payer = b->visit->job->owner;
	other = b->pair_id ? sched_boot_find(s, b->pair_id, &om) : NULL;
	if (other && other->visit == b->visit && other->role != b->role)
		sched_pair_link(b, other);
}

void sched_resume(struct sched *s, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_job *j;
	size_t i;

	s->restoring = false;
	for (m = s->machines; m; m = m->next)
		for (i = 0; m->boot && i < m->boot->n_attempts; i++)
			if (m->boot->attempts[i].outcome != KG_OUTCOME_NONE)
				sched_settle_slot(s, m, m->boot->visit->job, &m->boot->attempts[i]);
	sched_pair_resume(s, now_ns);
	for (j = s->jobs; j; j = j->next) {
		sched_job_refresh(s, j, now_ns);
		sched_finish_job(s, j, now_ns);
	}
	for (m = s->machines; m; m = m->next)
		sched_due(s, m);
	sched_settle_down(s, now_ns);
}

void sched_boot_ended(struct sched *s, uint64_t boot, enum kg_outcome outcome, const char *reason,
		      uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);
	struct sched_ending e = {.outcome = outcome == KG_OUTCOME_NONE ? KG_OUTCOME_HARNESS_ERROR
								       : outcome,
				 .reason = reason};

	if (!b)
		return;
	sched_end_boot(s, m, &e, now_ns);
	sched_settle_down(s, now_ns);
}

void sched_boot_refused(struct sched *s, uint64_t boot, const char *reason, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);
	size_t i;

	for (i = 0; b && i < b->n_attempts; i++)
		b->attempts[i].id = 0; /* a slot cannot be settled by what is not stored */
	sched_boot_ended(s, boot, KG_OUTCOME_INFRA, reason, now_ns);
}

/* A stage took too long: who is to blame, and does the machine need its power cycled? */
static void stage_timeout(struct sched *s, struct sched_machine *m, uint64_t now_ns)
{
	struct sched_boot *b = m->boot;
	struct sched_ending e = {.outcome = KG_OUTCOME_INFRA};
	bool cycle = sched_needs_power(m);
	char reason[160];

	if (b->stage == SCHED_BOOT) /* it left the old kernel and was not heard of again */
		e.outcome = KG_OUTCOME_BOOT_HANG;
	(void)snprintf(reason, sizeof(reason), "stage '%s' passed its deadline%s",
		       sched_stage_name(b->stage), m->up ? "" : "; the agent is not connected");
	e.reason = reason;
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_EVENT,
					     .machine = m,
					     .job = b->visit->job,
					     .text = reason});
	sched_fence(s, m, reason);
	if (cycle) {
		/* What is connected now is the machine's past; it is fed when it comes back. */
		m->up = false;
		sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_POWER_CYCLE,
						     .machine = m,
						     .job = b->visit->job,
						     .boot = b,
						     .text = reason});
	}
	sched_end_boot(s, m, &e, now_ns);
	if (cycle)
		m->back_by_ns = 0;
}

/* A machine whose boot was ended while it was on its way has not come back. */
static void not_back(struct sched *s, struct sched_machine *m)
{
	char reason[120];

	if (m->service == SCHED_MAINTENANCE)
		return; /* somebody is at it */
	m->back_by_ns = 0;
	(void)snprintf(reason, sizeof(reason), "the machine did not come back from boot %llu",
		       (unsigned long long)m->away_boot);
	sched_emit(s,
		   &(struct sched_action){.kind = SCHED_ACT_EVENT, .machine = m, .text = reason});
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_POWER_CYCLE,
					     .machine = m,
					     .boot_id = m->away_boot,
					     .text = reason});
}

static void expire_reservation(struct sched_machine *m, uint64_t now_ns)
{
	if (!m->reserved_by || sched_reserved(m, now_ns))
		return;
	free(m->reserved_by);
	free(m->reserved_why);
	m->reserved_by = m->reserved_why = NULL;
}

/* What failed for want of memory. */
static void try_again(struct sched *s, uint64_t now_ns)
{
	struct sched_job *j;

	if (!s->short_of_memory)
		return;
	s->short_of_memory = false;
	for (j = s->jobs; j; j = j->next) {
		if (!sched_job_live(j) || j->owner)
			continue;
		if (sched_job_own(s, j, now_ns) == 0)
			sched_job_refresh(s, j, now_ns);
	}
}

void sched_tick(struct sched *s, uint64_t now_ns)
{
	struct sched_machine *m;

	if (!s->acting)
		sched_reap(s);
	try_again(s, now_ns);
	sched_run_timers(s, now_ns);
	for (m = s->machines; m; m = m->next) {
		if (m->boot && sched_ready_to_go(m->boot) && now_ns >= m->boot->deadline_ns)
			stage_timeout(s, m, now_ns);
		if (m->back_by_ns > 0 && now_ns >= m->back_by_ns)
			not_back(s, m);
		expire_reservation(m, now_ns);
		if (m->up && !m->boot && m->ready.root)
			sched_due(s, m);
	}
	sched_settle_down(s, now_ns);
}
