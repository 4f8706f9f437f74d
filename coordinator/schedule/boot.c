/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A boot begins and ends; what that means for its slots, its job and its submitter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/schedule/sched_internal.h"

void sched_emit(struct sched *s, const struct sched_action *a)
{
	if (s->act)
		s->act(s->arg, a);
}

void sched_set_job_state(struct sched *s, struct sched_job *j, enum sched_job_state state,
			 uint64_t now_ns)
{
	if (j->state == state)
		return;
	j->state = state;
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_JOB_STATE, .job = j});
	if (sched_job_live(j))
		return;
	s->n_over++;
	s->n_waiting -= j->n_after > 0;
	sched_job_refresh(s, j, now_ns);
	sched_job_disown(s, j);
	sched_timer_stop(s, &j->budget);
	sched_recheck_waiting(s, now_ns);
}

void sched_finish_job(struct sched *s, struct sched_job *j, uint64_t now_ns)
{
	if (!s->restoring && j->pending == 0 && j->open_boots == 0 &&
	    j->state != SCHED_JOB_CANCELLED)
		sched_set_job_state(s, j, SCHED_JOB_DONE, now_ns);
}

void sched_serving(struct sched *s, struct sched_machine *m)
{
	bool now = m->up || m->boot;

	if (now != m->serving)
		s->n_serving += now ? 1u : (uint32_t)-1;
	m->serving = now;
}

/* ---- begin ---- */

void sched_boot_open(struct sched *s, struct sched_machine *m, struct sched_boot *b)
{
	struct sched_visit *v = b->visit;

	b->machine = m;
	m->boot = b;
	m->last_pair = NULL;
	sched_hash_insert(&s->boot_hash, &b->link, b->id);
	v->job->open_boots++;
	sched_serving(s, m);
	if (b->role == SCHED_ROLE_SERVER)
		return;
	v->open = true;
	v->queue->boot = b;
	sched_visit_changed(v);
}

static struct sched_boot *make(struct sched_visit *v, bool server)
{
	struct sched_boot *b = sched_boot_new(v, v->pending);
	size_t i, n = 0;

	if (!b)
		return NULL;
	for (i = 0; i < v->n_slots; i++)
		if (v->slots[i].outcome == KG_OUTCOME_NONE && !(server && v->slots[i].alone))
			b->attempts[n++].slot = &v->slots[i];
	b->n_attempts = n;
	return b;
}

static void charge_ahead(struct sched *s, struct sched_boot *b, uint64_t now_ns)
{
	bool known;

	b->began_ns = (int64_t)now_ns;
	b->charged_ns = sched_estimate(b->visit->queue, b->visit, &known);
	b->ends_ns = now_ns + b->charged_ns;
	b->payer = b->visit->job->owner;
	sched_pledge(s, b);
}

static void open_new(struct sched *s, struct sched_machine *m, struct sched_boot *b,
		     enum sched_role role, uint64_t now_ns)
{
	size_t i;

	b->id = s->next_boot++;
	b->lease_epoch = b->id; /* ids only grow, so a later order always has the higher epoch */
	if (s->nonce)
		s->nonce(s->arg, b->nonce);
	for (i = 0; i < b->n_attempts; i++) {
		b->attempts[i].id = s->next_attempt++;
		b->attempts[i].settled = role == SCHED_ROLE_SERVER;
	}
	b->role = role;
	b->stage = SCHED_DISPATCH;
	charge_ahead(s, b, now_ns);
	sched_boot_open(s, m, b);
}

static void start_job(struct sched *s, struct sched_job *j, uint64_t now_ns)
{
	if (j->started_ns == INT64_MIN) {
		j->started_ns = (int64_t)now_ns;
		sched_budget_start(s, j);
	}
	s->begun = true;
	sched_set_job_state(s, j, SCHED_JOB_RUNNING, now_ns);
}

bool sched_begin(struct sched *s, struct sched_visit *v, uint64_t now_ns)
{
	struct sched_machine *m = v->machine, *peer = v->peer_machine;
	struct sched_boot *b = make(v, false);
	struct sched_boot *server = b && peer ? make(v, true) : NULL;

	if (!b || (peer && !server)) {
		sched_boot_free(b);
		return false;
	}
	v->queue->waited_ns = 0;
	v->queue->passed_ns = -1;
	open_new(s, m, b, peer ? SCHED_ROLE_CLIENT : SCHED_ROLE_NONE, now_ns);
	if (peer) {
		open_new(s, peer, server, SCHED_ROLE_SERVER, now_ns);
		sched_pair_link(b, server);
		server->deadline_ns = sched_deadline(s, peer, server, SCHED_DISPATCH, now_ns);
	}
	b->deadline_ns = sched_deadline(s, m, b, SCHED_DISPATCH, now_ns);
	start_job(s, v->job, now_ns);
	sched_queue_refresh(s, v->queue, now_ns);
	sched_emit(s,
		   &(struct sched_action){
			   .kind = SCHED_ACT_BEGIN_BOOT, .machine = m, .job = v->job, .boot = b});
	if (peer)
		sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_BEGIN_BOOT,
						     .machine = peer,
						     .job = v->job,
						     .boot = server});
	return true;
}

bool sched_ready_to_go(const struct sched_boot *b)
{
	return b->order_sent && (!b->pair || b->pair->order_sent);
}

/* ---- slots ---- */

void sched_settle_slot(struct sched *s, struct sched_machine *m, struct sched_job *j,
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
	if (o != KG_OUTCOME_NONE) {
		j->pending--;
		m->boot->visit->queue->pending--;
	}
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_SETTLE,
					     .machine = m,
					     .job = j,
					     .boot = m->boot,
					     .slot = slot,
					     .attempt = a->id,
					     .outcome = o,
					     .count_try = true,
					     .text = a->reason ? a->reason : ""});
}

/* What becomes pending again later gets the same outcome. */
static void remember_close(struct sched_queue *q, enum kg_outcome outcome, const char *reason)
{
	if (!q->boot)
		return;
	q->closed = outcome;
	sched_set_text(&q->closed_why, reason);
}

void sched_close_slots(struct sched *s, struct sched_job *j, struct sched_machine *m,
		       enum kg_outcome outcome, const char *reason, uint64_t now_ns)
{
	struct sched_queue *q = m ? sched_queue_find(s, j, m) : j->queues;
	size_t n = 0;

	while (q) {
		n += sched_queue_settle_all(q, outcome, false);
		remember_close(q, outcome, reason);
		sched_queue_refresh(s, q, now_ns);
		q = m ? NULL : q->next;
	}
	if (n > 0)
		sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_CLOSE,
						     .machine = m,
						     .job = j,
						     .outcome = outcome,
						     .text = reason ? reason : "",
						     .count = n});
	sched_finish_job(s, j, now_ns);
}

/* ---- end ---- */

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

static void end_attempts(struct sched_boot *b, const struct sched_ending *e)
{
	bool passed = e->outcome == KG_OUTCOME_PASS;
	size_t i;

	for (i = 0; i < b->n_attempts; i++) {
		struct sched_attempt *a = &b->attempts[i];

		if (a->outcome != KG_OUTCOME_NONE)
			continue;
		/* A boot that went well and left a run without an end is our fault, not a result. */
		a->outcome = passed ? KG_OUTCOME_HARNESS_ERROR : e->outcome;
		sched_set_text(&a->reason, passed ? "the boot ended without this run" : e->reason);
	}
}

/* Mean of what came before and a third of what is new. */
static void learn_pace(struct sched_queue *q, const struct sched_boot *b, uint64_t now_ns)
{
	double took = (double)((int64_t)now_ns - b->began_ns);

	if ((b->began_ns == 0 && b->charged_ns == 0) || b->role == SCHED_ROLE_SERVER || took <= 0)
		return;
	if (b->visit->seconds > 0) {
		double pace = took / ((double)b->visit->seconds * 1e9);

		q->pace += ((pace > 10 ? 10 : pace) - q->pace) * (q->pace > 0 ? 0.3 : 1);
	} else {
		q->mean_ns = q->mean_ns ? (uint64_t)(0.7 * (double)q->mean_ns + 0.3 * took)
					: (uint64_t)took;
	}
}

static void boot_off(struct sched *s, struct sched_machine *m, uint64_t now_ns)
{
	struct sched_boot *b = m->boot;
	struct sched_visit *v = b->visit;

	/* whoever ended it, somebody has to see to the machine's return */
	if (!m->up && sched_needs_power(m)) {
		m->back_by_ns = b->deadline_ns;
		m->away_boot = b->id;
	}
	m->boot = NULL;
	m->last_pair = b->role != SCHED_ROLE_NONE ? v->queue : NULL;
	sched_hash_remove(&s->boot_hash, &b->link);
	v->job->open_boots--;
	sched_serving(s, m);
	if (b->role != SCHED_ROLE_SERVER) {
		v->open = false;
		v->queue->boot = NULL;
		sched_visit_changed(v);
	}
	sched_boot_free(b);
	sched_due(s, m);
	sched_queue_refresh(s, v->queue, now_ns);
}

/* What became pending again although nothing of it is to begin any more. */
static void close_again(struct sched *s, struct sched_queue *q, uint64_t now_ns)
{
	char *why = q->closed_why;
	enum kg_outcome o = q->closed;

	if (q->boot || o == KG_OUTCOME_NONE)
		return;
	q->closed = KG_OUTCOME_NONE;
	q->closed_why = NULL;
	sched_close_slots(s, q->job, q->machine, o, why ? why : "closed while its boot was open",
			  now_ns);
	free(why);
}

void sched_close_boot(struct sched *s, struct sched_machine *m, const struct sched_ending *e,
		      uint64_t now_ns)
{
	struct sched_boot *b = m->boot;
	struct sched_visit *v = b->visit;
	struct sched_job *j = v->job;
	bool spare;
	size_t i;

	end_attempts(b, e);
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_END_BOOT,
					     .machine = m,
					     .job = j,
					     .boot = b,
					     .outcome = e->outcome,
					     .text = e->reason ? e->reason : ""});
	spare = e->outcome != KG_OUTCOME_PASS && cut_off(b);
	for (i = 0; i < b->n_attempts && b->role != SCHED_ROLE_SERVER; i++)
		if (!e->keep_tries && (b->attempts[i].started || !spare))
			sched_settle_slot(s, m, j, &b->attempts[i]);
	sched_redeem(s, b, now_ns);
	if (e->outcome == KG_OUTCOME_PASS)
		learn_pace(v->queue, b, now_ns);
	boot_off(s, m, now_ns);
	close_again(s, v->queue, now_ns);
	sched_finish_job(s, j, now_ns);
}

void sched_end_boot(struct sched *s, struct sched_machine *m, const struct sched_ending *e,
		    uint64_t now_ns)
{
	if (m->boot->pair)
		sched_pair_end(s, m->boot, e, now_ns);
	else
		sched_close_boot(s, m, e, now_ns);
}

void sched_fence(struct sched *s, struct sched_machine *m, const char *why)
{
	sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_FENCE,
					     .machine = m,
					     .job = m->boot->visit->job,
					     .boot_id = m->boot->id,
					     .lease_epoch = m->boot->lease_epoch,
					     .text = why});
}
