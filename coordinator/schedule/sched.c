/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/schedule/sched.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/schedule/sched_internal.h"

static void emit(struct sched *s, const struct sched_action *a)
{
	if (s->act)
		s->act(s->arg, a);
}

static void event(struct sched *s, struct sched_machine *m, struct sched_job *j, const char *text)
{
	emit(s,
	     &(struct sched_action){.kind = SCHED_ACT_EVENT, .machine = m, .job = j, .text = text});
}

static void set_job_state(struct sched *s, struct sched_job *j, enum sched_job_state state)
{
	if (j->state == state)
		return;
	j->state = state;
	emit(s, &(struct sched_action){.kind = SCHED_ACT_JOB_STATE, .job = j});
}

static void set_stage(struct sched *s, struct sched_machine *m, enum sched_stage stage,
		      uint64_t now_ns)
{
	struct sched_boot *b = m->boot;

	b->stage = stage;
	b->deadline_ns = sched_deadline(s, m, b, stage, now_ns);
	emit(s,
	     &(struct sched_action){
		     .kind = SCHED_ACT_SET_STAGE, .machine = m, .job = b->visit->job, .boot = b});
}

static void settle_slot(struct sched *s, struct sched_machine *m, struct sched_job *j,
			struct sched_attempt *a)
{
	struct sched_slot *slot = a->slot;
	enum kg_outcome o;

	if (a->settled || slot->outcome != KG_OUTCOME_NONE)
		return; /* counted, or final before: cancelled */
	a->settled = true;
	o = sched_settle(a->outcome, slot->tries);
	slot->tries++;
	slot->outcome = o;
	if (o != KG_OUTCOME_NONE)
		j->pending--;
	emit(s, &(struct sched_action){.kind = SCHED_ACT_SETTLE,
				       .machine = m,
				       .job = j,
				       .boot = m->boot,
				       .slot = slot,
				       .attempt = a->id,
				       .outcome = o,
				       .text = a->reason ? a->reason : ""});
}

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = value && value[0] ? strdup(value) : NULL;
}

/* Begins the next boot on an idle machine, if any job has one for it. */
static void feed_machine(struct sched *s, struct sched_machine *m, uint64_t now_ns)
{
	struct sched_visit *v = NULL;
	struct sched_job *j;
	struct sched_boot *b;
	size_t i, n = 0;

	if (!m->up || m->boot)
		return;
	for (j = s->jobs; j && !v; j = j->next)
		if (j->state == SCHED_JOB_QUEUED || j->state == SCHED_JOB_RUNNING)
			v = sched_pick(j, m);
	if (!v)
		return;
	for (i = 0; i < v->n_slots; i++)
		n += v->slots[i].outcome == KG_OUTCOME_NONE;
	b = sched_boot_new(v, n);
	if (!b)
		return; /* out of memory: the next tick tries again */
	b->id = s->next_boot++;
	b->lease_epoch = b->id; /* ids only grow, so a later order always has the higher epoch */
	if (s->nonce)
		s->nonce(s->arg, b->nonce);
	n = 0;
	for (i = 0; i < v->n_slots; i++) {
		if (v->slots[i].outcome != KG_OUTCOME_NONE)
			continue;
		b->attempts[n].id = s->next_attempt++;
		b->attempts[n++].slot = &v->slots[i];
	}
	b->deadline_ns = sched_deadline(s, m, b, SCHED_DISPATCH, now_ns);
	m->boot = b;
	set_job_state(s, v->job, SCHED_JOB_RUNNING);
	emit(s, &(struct sched_action){
			.kind = SCHED_ACT_BEGIN_BOOT, .machine = m, .job = v->job, .boot = b});
}

static void feed_all(struct sched *s, uint64_t now_ns)
{
	struct sched_machine *m;

	for (m = s->machines; m; m = m->next)
		feed_machine(s, m, now_ns);
}

static void finish_job_if_done(struct sched *s, struct sched_job *j)
{
	struct sched_machine *m;

	if (j->pending > 0 || j->state == SCHED_JOB_CANCELLED)
		return;
	for (m = s->machines; m; m = m->next)
		if (m->boot && m->boot->visit->job == j)
			return;
	set_job_state(s, j, SCHED_JOB_DONE);
}

/* Whether a run that had begun was cut off by the end of its boot: the kernel went down under it, or
 * the machine did. What was to run behind it is not to blame, and keeps its tries. */
static bool cut_off(const struct sched_boot *b)
{
	size_t i;

	for (i = 0; i < b->n_attempts; i++)
		if (b->attempts[i].started && kg_outcome_retryable(b->attempts[i].outcome))
			return true;
	return false;
}

/* Ends the open boot of a machine: attempts that did not end get the boot's outcome, every slot is
 * settled, the machine is free. */
static void end_boot(struct sched *s, struct sched_machine *m, enum kg_outcome outcome,
		     const char *reason, uint64_t now_ns)
{
	struct sched_boot *b = m->boot;
	struct sched_job *j = b->visit->job;
	bool spare;
	size_t i;

	for (i = 0; i < b->n_attempts; i++) {
		struct sched_attempt *a = &b->attempts[i];

		if (a->outcome != KG_OUTCOME_NONE)
			continue;
		/* A boot that went well and left a run without an end is our fault, not a result. */
		a->outcome = outcome == KG_OUTCOME_PASS ? KG_OUTCOME_HARNESS_ERROR : outcome;
		set_text(&a->reason,
			 outcome == KG_OUTCOME_PASS ? "the boot ended without this run" : reason);
	}
	emit(s, &(struct sched_action){.kind = SCHED_ACT_END_BOOT,
				       .machine = m,
				       .job = j,
				       .boot = b,
				       .outcome = outcome,
				       .text = reason ? reason : ""});
	spare = outcome != KG_OUTCOME_PASS && cut_off(b);
	for (i = 0; i < b->n_attempts; i++)
		if (b->attempts[i].started || !spare)
			settle_slot(s, m, j, &b->attempts[i]);
	m->boot = NULL;
	sched_boot_free(b);
	finish_job_if_done(s, j);
	feed_machine(s, m, now_ns);
}

void sched_job_added(struct sched *s, struct sched_job *j, uint64_t now_ns)
{
	sched_insert_job(s, j);
	finish_job_if_done(s, j); /* every cell infeasible */
	feed_all(s, now_ns);
}

void sched_job_cancelled(struct sched *s, uint64_t job, uint64_t now_ns)
{
	struct sched_job *j = sched_job_find(s, job);
	struct sched_machine *m;
	size_t i, k;

	if (!j)
		return;
	set_job_state(s, j, SCHED_JOB_CANCELLED);
	for (i = 0; i < j->n_visits; i++)
		for (k = 0; k < j->visits[i]->n_slots; k++)
			if (j->visits[i]->slots[k].outcome == KG_OUTCOME_NONE)
				j->visits[i]->slots[k].outcome = KG_OUTCOME_CANCELLED;
	j->pending = 0;
	for (m = s->machines; m; m = m->next) {
		if (!m->boot || m->boot->visit->job != j)
			continue;
		emit(s, &(struct sched_action){.kind = SCHED_ACT_FENCE,
					       .machine = m,
					       .job = j,
					       .boot_id = m->boot->id,
					       .lease_epoch = m->boot->lease_epoch,
					       .text = "the job was cancelled"});
		end_boot(s, m, KG_OUTCOME_CANCELLED, "the job was cancelled", now_ns);
	}
}

/* The agent connected and says what it holds; both sides must agree on the lease. */
void sched_machine_up(struct sched *s, const char *machine, bool instruction_clock,
		      const struct sched_agent_state *state, uint64_t now_ns)
{
	struct sched_machine *m = sched_machine_get(s, machine);
	struct sched_boot *b;

	if (!m)
		return;
	m->up = true;
	m->instruction_clock = instruction_clock;
	b = m->boot;
	if (state->boot != 0 && (!b || b->id != state->boot))
		emit(s, &(struct sched_action){.kind = SCHED_ACT_FENCE,
					       .machine = m,
					       .boot_id = state->boot,
					       .lease_epoch = state->lease_epoch,
					       .text = "its lease has ended"});
	if (!b) {
		feed_machine(s, m, now_ns);
		return;
	}
	if (b->id == state->boot)
		return; /* goes on; records that were not acknowledged come again */
	if (b->stage == SCHED_DISPATCH) {
		if (b->order_sent)
			emit(s, &(struct sched_action){.kind = SCHED_ACT_SEND_ORDER,
						       .machine = m,
						       .job = b->visit->job,
						       .boot = b});
		return;
	}
	if (b->agent_outcome != KG_OUTCOME_NONE)
		end_boot(s, m, b->agent_outcome, b->agent_reason, now_ns);
	else
		end_boot(s, m, KG_OUTCOME_INFRA, "the agent came back without this boot's state",
			 now_ns);
}

void sched_machine_down(struct sched *s, const char *machine, uint64_t now_ns)
{
	struct sched_machine *m = sched_machine_find(s, machine);

	(void)now_ns; /* the stage's deadline decides how long is too long */
	if (m)
		m->up = false;
}

void sched_order_stored(struct sched *s, uint64_t boot, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);

	if (!b)
		return;
	b->order_sent = true;
	b->deadline_ns = sched_deadline(s, m, b, SCHED_DISPATCH, now_ns);
	if (m->up)
		emit(s, &(struct sched_action){.kind = SCHED_ACT_SEND_ORDER,
					       .machine = m,
					       .job = b->visit->job,
					       .boot = b});
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
	if (a)
		a->started = true;
	b->running_attempt = a ? a->id : 0;
	set_stage(s, m, stage, now_ns);
}

void sched_evidence(struct sched *s, uint64_t boot, bool verified, enum kg_outcome outcome,
		    const char *reason, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);

	(void)s;
	(void)now_ns;
	if (!b || verified)
		return;
	/* BootEnded follows; should it be lost with the machine, this is what is known. */
	b->agent_outcome = outcome == KG_OUTCOME_NONE ? KG_OUTCOME_HARNESS_ERROR : outcome;
	set_text(&b->agent_reason, reason);
}

void sched_attempt_ended(struct sched *s, uint64_t boot, uint64_t attempt, enum kg_outcome outcome,
			 const char *reason, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);
	struct sched_attempt *a = b ? sched_boot_attempt(b, attempt) : NULL;

	(void)now_ns;
	if (!a || a->outcome != KG_OUTCOME_NONE)
		return;
	a->outcome = outcome == KG_OUTCOME_NONE ? KG_OUTCOME_HARNESS_ERROR : outcome;
	set_text(&a->reason, reason);
	b->running_attempt = 0;
	settle_slot(s, m, b->visit->job, a);
}

void sched_resume(struct sched *s, uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_job *j;
	size_t i;

	for (m = s->machines; m; m = m->next)
		for (i = 0; m->boot && i < m->boot->n_attempts; i++)
			if (m->boot->attempts[i].outcome != KG_OUTCOME_NONE)
				settle_slot(s, m, m->boot->visit->job, &m->boot->attempts[i]);
	for (j = s->jobs; j; j = j->next)
		finish_job_if_done(s, j);
	feed_all(s, now_ns);
}

void sched_boot_ended(struct sched *s, uint64_t boot, enum kg_outcome outcome, const char *reason,
		      uint64_t now_ns)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(s, boot, &m);

	if (b)
		end_boot(s, m, outcome == KG_OUTCOME_NONE ? KG_OUTCOME_HARNESS_ERROR : outcome,
			 reason, now_ns);
}

/* A stage took too long: who is to blame, and does the machine need its power cycled? */
static void stage_timeout(struct sched *s, struct sched_machine *m, uint64_t now_ns)
{
	struct sched_boot *b = m->boot;
	enum kg_outcome outcome = KG_OUTCOME_INFRA;
	bool cycle = b->stage >= SCHED_BOOT;
	char reason[160];

	if (b->stage == SCHED_BOOT) /* it left the old kernel and was not heard of again */
		outcome = KG_OUTCOME_BOOT_HANG;
	(void)snprintf(reason, sizeof(reason), "stage '%s' passed its deadline%s",
		       sched_stage_name(b->stage), m->up ? "" : "; the agent is not connected");
	event(s, m, b->visit->job, reason);
	emit(s, &(struct sched_action){.kind = SCHED_ACT_FENCE,
				       .machine = m,
				       .job = b->visit->job,
				       .boot_id = b->id,
				       .lease_epoch = b->lease_epoch,
				       .text = reason});
	if (cycle) {
		/* What is connected now is the machine's past; it is fed when it comes back. */
		m->up = false;
		emit(s, &(struct sched_action){.kind = SCHED_ACT_POWER_CYCLE,
					       .machine = m,
					       .job = b->visit->job,
					       .boot = b,
					       .text = reason});
	}
	end_boot(s, m, outcome, reason, now_ns);
}

static bool is_over(const struct sched *s, const struct sched_job *j)
{
	const struct sched_machine *m;

	if (j->state != SCHED_JOB_DONE && j->state != SCHED_JOB_CANCELLED)
		return false;
	for (m = s->machines; m; m = m->next)
		if (m->boot && m->boot->visit->job == j)
			return false;
	return true;
}

/* Jobs that are over and have no open boot need no memory; the store has them. */
static void reap_jobs(struct sched *s)
{
	struct sched_job **at = &s->jobs;

	while (*at) {
		struct sched_job *j = *at;

		if (!is_over(s, j)) {
			at = &j->next;
			continue;
		}
		*at = j->next;
		sched_job_free(j);
	}
}

bool sched_job_forget(struct sched *s, uint64_t id)
{
	struct sched_job *j = sched_job_find(s, id);

	if (j && !is_over(s, j))
		return false;
	reap_jobs(s);
	return true;
}

void sched_tick(struct sched *s, uint64_t now_ns)
{
	struct sched_machine *m;

	reap_jobs(s);

	for (m = s->machines; m; m = m->next) {
		if (m->boot && m->boot->order_sent && now_ns >= m->boot->deadline_ns)
			stage_timeout(s, m, now_ns);
		feed_machine(s, m, now_ns);
	}
}
