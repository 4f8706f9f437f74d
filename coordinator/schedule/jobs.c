/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs come, wait for one another, are changed by people, run out of time, and go. */
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/schedule/sched_internal.h"

/* What has begun does not wait any more, whatever becomes of the others. */
bool sched_job_waits(const struct sched *s, const struct sched_job *j)
{
	size_t i;

	for (i = 0; i < j->n_after && j->started_ns == INT64_MIN; i++) {
		const struct sched_link *l = sched_hash_find(&s->job_hash, j->after[i]);

		if (l && j->after[i] != j->id &&
		    sched_job_live(sched_const_owner(l, struct sched_job, link)))
			return true;
	}
	return false;
}

void sched_recheck_waiting(struct sched *s, uint64_t now_ns)
{
	struct sched_job *j;

	for (j = s->n_waiting ? s->jobs : NULL; j; j = j->next) {
		if (j->n_after == 0 || !sched_job_live(j) || sched_job_waits(s, j) == j->waits)
			continue;
		j->waits = !j->waits;
		sched_job_refresh(s, j, now_ns);
	}
}

/* ---- budget and queue timeout ---- */

void sched_budget_start(struct sched *s, struct sched_job *j)
{
	uint64_t from = j->started_ns > 0 ? (uint64_t)j->started_ns : 0;
	uint64_t at = from > UINT64_MAX - j->budget_ns ? UINT64_MAX : from + j->budget_ns;

	if (j->budget_ns == 0 || j->started_ns == INT64_MIN)
		return;
	if (j->started_ns < 0) { /* before the host booted */
		uint64_t before = (uint64_t)-j->started_ns;

		at = j->budget_ns > before ? j->budget_ns - before : 0;
	}
	sched_timer_set(s, &j->budget, at);
}

static void budget_spent(struct sched *s, struct sched_job *j, uint64_t now_ns)
{
	char span[32], text[SCHED_REASON_BYTES];

	(void)snprintf(text, sizeof(text), "the budget of %s is spent",
		       sched_span(j->budget_ns, span, sizeof(span)));
	sched_close_slots(s, j, NULL, KG_OUTCOME_SKIPPED, text, now_ns);
}

static void queue_timed_out(struct sched *s, struct sched_queue *q, uint64_t now_ns)
{
	char span[32], why[SCHED_REASON_BYTES / 2], text[SCHED_REASON_BYTES];

	q->waited_ns = q->job->queue_timeout_ns;
	if (!sched_queue_obstacle(s, q, now_ns, why, sizeof(why)))
		(void)snprintf(why, sizeof(why), "it is free");
	(void)snprintf(text, sizeof(text), "no boot has begun on '%s' for %s: %s", q->machine->name,
		       sched_span(q->job->queue_timeout_ns, span, sizeof(span)), why);
	sched_close_slots(s, q->job, q->machine, KG_OUTCOME_QUEUE_TIMEOUT, text, now_ns);
}

void sched_run_timers(struct sched *s, uint64_t now_ns)
{
	struct sched_node *n;

	while ((n = sched_tree_first(&s->timers)) != NULL) {
		struct sched_timer *t = sched_owner(n, struct sched_timer, node);

		if (t->at_ns > now_ns)
			break;
		sched_timer_stop(s, t);
		if (t->of_job)
			budget_spent(s, sched_owner(t, struct sched_job, budget), now_ns);
		else
			queue_timed_out(s, sched_owner(t, struct sched_queue, timeout), now_ns);
	}
}

/* ---- come and go ---- */

static void sort_queues(struct sched_job *j)
{
	struct sched_queue *q;

	j->pending = 0;
	for (q = j->queues; q; q = q->next) {
		if (q->sorted == 0)
			q->released = j->gate_block ? j->gate_block : UINT32_MAX;
		sched_queue_sort(q);
		j->pending += q->pending;
	}
}

void sched_job_added(struct sched *s, struct sched_job *j, uint64_t now_ns)
{
	j->sched = s;
	sched_insert_job(s, j);
	sched_hash_insert(&s->job_hash, &j->link, j->id);
	j->added = true;
	sched_job_rebase(s, j);
	sort_queues(j);
	j->waits = sched_job_waits(s, j);
	if (sched_job_live(j)) {
		(void)sched_job_own(s, j, now_ns); /* the next tick tries again */
		sched_budget_start(s, j);
		s->n_waiting += j->n_after > 0;
	} else {
		s->n_over++;
	}
	sched_finish_job(s, j, now_ns); /* every cell infeasible */
	sched_job_refresh(s, j, now_ns);
	sched_recheck_waiting(s, now_ns); /* one that came before may wait for it */
	sched_settle_down(s, now_ns);
}

/* The person asked for these: neither stop rule nor budget is in their way. */
void sched_job_grown(struct sched *s, uint64_t job, uint64_t now_ns)
{
	struct sched_job *j = sched_job_find(s, job);
	struct sched_queue *q;

	if (!j || !sched_job_live(j))
		return;
	j->budget_ns = 0;
	sched_timer_stop(s, &j->budget);
	for (q = j->queues; q; q = q->next) {
		if (q->sorted == q->n)
			continue;
		q->released = UINT32_MAX;
		q->closed = KG_OUTCOME_NONE;
	}
	sort_queues(j);
	sched_job_refresh(s, j, now_ns);
	sched_finish_job(s, j, now_ns);
	sched_settle_down(s, now_ns);
}

void sched_job_cancelled(struct sched *s, uint64_t job, uint64_t now_ns)
{
	static const struct sched_ending e = {.outcome = KG_OUTCOME_CANCELLED,
					      .reason = "the job was cancelled"};
	struct sched_job *j = sched_job_find(s, job);
	struct sched_machine *m;
	struct sched_queue *q;

	if (!j || !sched_job_live(j))
		return;
	for (q = j->queues; q; q = q->next)
		(void)sched_queue_settle_all(q, KG_OUTCOME_CANCELLED, true);
	sched_set_job_state(s, j, SCHED_JOB_CANCELLED, now_ns);
	for (m = s->machines; m && j->open_boots > 0; m = m->next) {
		if (!m->boot || m->boot->visit->job != j)
			continue;
		if (m->boot->pair)
			m->boot->pair = m->boot->pair->pair = NULL;
		sched_fence(s, m, e.reason);
		sched_close_boot(s, m, &e, now_ns);
	}
	sched_settle_down(s, now_ns);
}

static bool is_over(const struct sched_job *j)
{
	return !sched_job_live(j) && j->open_boots == 0;
}

static void leave_machines(struct sched *s, struct sched_job *j)
{
	struct sched_machine *m;

	for (m = j->has_pairs ? s->machines : NULL; m; m = m->next)
		if (m->last_pair && m->last_pair->job == j)
			m->last_pair = NULL;
}

static void let_go(struct sched *s, struct sched_job *j)
{
	struct sched_queue *q;

	for (q = j->queues; q; q = q->next) {
		sched_claim_drop(s, q);
		sched_queue_withdraw(s, q);
		sched_timer_stop(s, &q->timeout);
	}
	sched_timer_stop(s, &j->budget);
	sched_job_disown(s, j);
	leave_machines(s, j);
	sched_hash_remove(&s->job_hash, &j->link);
	sched_job_free(j);
}

void sched_reap(struct sched *s)
{
	struct sched_job **at = &s->jobs;

	while (*at && s->n_over > 0) {
		struct sched_job *j = *at;

		if (!is_over(j)) {
			at = &j->next;
			continue;
		}
		*at = j->next;
		s->n_over--;
		let_go(s, j);
	}
}

bool sched_job_forget(struct sched *s, uint64_t id)
{
	struct sched_job *j = sched_job_find(s, id);

	if (j && !is_over(j))
		return false;
	if (!s->acting)
		sched_reap(s);
	return true;
}

/* ---- people ---- */

static int find_live(struct sched *s, uint64_t job, struct sched_job **ret)
{
	struct sched_job *j = sched_job_find(s, job);

	if (!j)
		return KG_ENOTFOUND;
	if (!sched_job_live(j))
		return KG_ESTATE;
	*ret = j;
	return 0;
}

int sched_job_pause(struct sched *s, uint64_t job, bool paused, uint64_t now_ns)
{
	struct sched_job *j;
	int rc = find_live(s, job, &j);

	if (rc < 0)
		return rc;
	j->paused = paused;
	sched_job_refresh(s, j, now_ns);
	sched_settle_down(s, now_ns);
	return 0;
}

int sched_job_reprioritise(struct sched *s, uint64_t job, uint32_t priority, uint64_t now_ns)
{
	struct sched_job *j;
	int rc = find_live(s, job, &j);

	if (rc < 0)
		return rc;
	sched_job_withdraw(s, j);
	sched_unlink_job(s, j);
	j->priority = priority;
	sched_insert_job(s, j);
	sched_job_rebase(s, j);
	sched_job_refresh(s, j, now_ns);
	sched_settle_down(s, now_ns);
	return 0;
}

/* ---- stop rule ---- */

void sched_release(struct sched *s, uint64_t job, const char *machine, uint32_t block,
		   uint64_t now_ns)
{
	struct sched_job *j = sched_job_find(s, job);
	struct sched_machine *m = sched_machine_find(s, machine);
	struct sched_queue *q = j && m ? sched_queue_find(s, j, m) : NULL;

	if (!q || block <= q->released)
		return;
	q->released = block;
	sched_queue_refresh(s, q, now_ns);
	sched_settle_down(s, now_ns);
}

void sched_close(struct sched *s, uint64_t job, const char *machine, enum kg_outcome outcome,
		 const char *reason, uint64_t now_ns)
{
	struct sched_job *j = sched_job_find(s, job);
	struct sched_machine *m = machine ? sched_machine_find(s, machine) : NULL;

	if (!j || !sched_job_live(j) || outcome == KG_OUTCOME_NONE || (machine && !m))
		return;
	sched_close_slots(s, j, m, outcome, reason, now_ns);
	sched_settle_down(s, now_ns);
}
