/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job's visits on one machine: which comes next, and whether it may begin. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/schedule/sched_internal.h"

static uint64_t queue_key(const struct sched_job *j, const struct sched_machine *m)
{
	return sched_hash_mix(j->id) ^ m->number;
}

static struct sched_queue *queue_get(struct sched *s, struct sched_job *j, struct sched_machine *m)
{
	struct sched_queue *q = j->last_queue;

	if (q && q->machine == m)
		return q;
	q = sched_queue_find(s, j, m);
	if (q)
		return q;
	q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->job = j;
	q->machine = m;
	q->client.queue = q->server.queue = q;
	q->passed_ns = -1;
	sched_hash_insert(&s->queue_hash, &q->link, queue_key(j, m));
	if (j->last_queue)
		j->last_queue->next = q;
	else
		j->queues = q;
	j->last_queue = q;
	j->sched = s;
	return q;
}

int sched_queue_add(struct sched *s, struct sched_visit *v)
{
	struct sched_queue *q = queue_get(s, v->job, v->machine);

	if (!q)
		return -ENOMEM;
	if (q->n == q->cap) {
		size_t cap = q->cap ? 2 * q->cap : 4;
		struct sched_visit **p = realloc(q->order, cap * sizeof(struct sched_visit *));

		if (!p)
			return -ENOMEM;
		q->order = p;
		q->cap = cap;
	}
	q->order[q->n++] = v;
	v->queue = q;
	return 0;
}

void sched_queue_free(struct sched_queue *q)
{
	free(q->order);
	free(q->closed_why);
	free(q);
}

/* ---- order ---- */

static int by_visit(const void *pa, const void *pb)
{
	const struct sched_visit *a = *(struct sched_visit *const *)pa;
	const struct sched_visit *b = *(struct sched_visit *const *)pb;

	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->visit != b->visit)
		return a->visit < b->visit ? -1 : 1;
	return a->block < b->block ? -1 : a->block > b->block;
}

static bool same_boot(const struct sched_visit *a, const struct sched_visit *b)
{
	return strcmp(a->kernel, b->kernel) == 0 &&
	       strcmp(a->lsm_effective, b->lsm_effective) == 0 &&
	       strcmp(a->cmdline, b->cmdline) == 0 && strcmp(a->settings, b->settings) == 0 &&
	       kg_streq(a->peer, b->peer);
}

/* Whether the blocks follow one another; else the job is grouped. */
static bool interleaved(const struct sched_queue *q, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (q->order[i]->block < q->order[i - 1]->block)
			return false;
	return true;
}

/* Parts: the visits that are over, retries included, before the next ones begin. A block; of a
 * grouped job all blocks of the same kernel and list. With a stop rule the blocks behind the gate
 * come one after the other, whatever the order is before it. */
static void number_parts(struct sched_queue *q, uint32_t gate)
{
	size_t open_n = 0;
	uint32_t part = 1;
	bool blocks;
	size_t i;

	while (open_n < q->n && (gate == 0 || q->order[open_n]->block <= gate))
		open_n++;
	blocks = interleaved(q, open_n);
	for (i = 0; i < q->n; i++) {
		const struct sched_visit *prev = i ? q->order[i - 1] : NULL;
		struct sched_visit *v = q->order[i];

		if (!prev)
			;
		else if (blocks || i >= open_n)
			part += v->block != prev->block;
		else
			part += v->block <= prev->block || !same_boot(v, prev);
		v->part = part;
		v->place = i;
	}
}

/* The slots that are pending, and the most tries that one of them has behind it. */
static void count_visit(struct sched_visit *v)
{
	size_t i;

	v->pending = 0;
	v->tries = 0;
	for (i = 0; i < v->n_slots; i++) {
		if (v->slots[i].outcome != KG_OUTCOME_NONE)
			continue;
		v->pending++;
		if (v->slots[i].tries > v->tries)
			v->tries = v->slots[i].tries;
	}
}

static int by_tries(const struct sched_node *pa, const struct sched_node *pb)
{
	const struct sched_visit *a = sched_const_owner(pa, struct sched_visit, again);
	const struct sched_visit *b = sched_const_owner(pb, struct sched_visit, again);

	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->tries != b->tries)
		return a->tries < b->tries ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static bool is_fresh(const struct sched_visit *v)
{
	return v->pending > 0 && v->tries == 0 && !v->open;
}

static void advance(struct sched_queue *q)
{
	while (q->cursor < q->sorted && !is_fresh(q->order[q->cursor]))
		q->cursor++;
}

void sched_visit_changed(struct sched_visit *v)
{
	struct sched_queue *q = v->queue;

	sched_tree_remove(&q->again, &v->again);
	count_visit(v);
	if (v->pending > 0 && !v->open) {
		if (v->tries > 0)
			sched_tree_insert(&q->again, &v->again, by_tries);
		else if (v->place < q->cursor)
			q->cursor = v->place;
	}
	advance(q);
}

static bool in_order(const struct sched_queue *q)
{
	size_t i;

	for (i = 1; i < q->n; i++)
		if (by_visit(&q->order[i - 1], &q->order[i]) > 0)
			return false;
	return true;
}

void sched_queue_sort(struct sched_queue *q)
{
	uint32_t gate = q->job->gate_block;
	size_t i;

	for (i = 0; i < q->n; i++) {
		struct sched_visit *v = q->order[i];

		sched_tree_remove(&q->again, &v->again);
		v->part = gate > 0 && v->block > gate ? v->block : 0;
	}
	if (!in_order(q))
		qsort(q->order, q->n, sizeof(struct sched_visit *), by_visit);
	number_parts(q, gate);
	q->sorted = q->n;
	q->cursor = 0;
	q->pending = 0;
	for (i = 0; i < q->n; i++) {
		struct sched_visit *v = q->order[i];

		count_visit(v);
		q->pending += v->pending;
		if (v->pending > 0 && v->tries > 0 && !v->open)
			sched_tree_insert(&q->again, &v->again, by_tries);
	}
	advance(q);
}

struct sched_visit *sched_queue_next(const struct sched_queue *q)
{
	struct sched_node *n = sched_tree_first(&q->again);
	struct sched_visit *again = n ? sched_owner(n, struct sched_visit, again) : NULL;
	struct sched_visit *fresh = q->cursor < q->sorted ? q->order[q->cursor] : NULL;

	if (!again || (fresh && fresh->part <= again->part))
		return fresh;
	return again;
}

bool sched_queue_gated(const struct sched_queue *q, const struct sched_visit *v)
{
	return v->block > q->released;
}

struct sched_visit *sched_pick(const struct sched_job *j, const struct sched_machine *m)
{
	const struct sched_queue *q;

	if (!j->sched)
		return NULL;
	q = sched_queue_find(j->sched, j, m);
	return q ? sched_queue_next(q) : NULL;
}

size_t sched_queue_settle_all(struct sched_queue *q, enum kg_outcome o, bool open_too)
{
	size_t n = 0;
	size_t i, k;

	for (i = 0; i < q->n; i++) {
		struct sched_visit *v = q->order[i];

		if (v->open && !open_too)
			continue;
		for (k = 0; k < v->n_slots; k++) {
			if (v->slots[k].outcome != KG_OUTCOME_NONE)
				continue;
			v->slots[k].outcome = o;
			n++;
		}
		if (v->pending > 0)
			sched_visit_changed(v);
	}
	q->pending -= n;
	q->job->pending -= n;
	return n;
}

/* ---- estimates ---- */

uint64_t sched_estimate(const struct sched_queue *q, const struct sched_visit *v, bool *ret_known)
{
	*ret_known = true;
	if (v->seconds > 0)
		return (uint64_t)((double)v->seconds * 1e9 * (q->pace > 0 ? q->pace : 1));
	if (q->mean_ns > 0)
		return q->mean_ns;
	*ret_known = false;
	return SCHED_ESTIMATE_NS;
}

/* ---- timers ---- */

static int by_time(const struct sched_node *pa, const struct sched_node *pb)
{
	const struct sched_timer *a = sched_const_owner(pa, struct sched_timer, node);
	const struct sched_timer *b = sched_const_owner(pb, struct sched_timer, node);

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void sched_timer_set(struct sched *s, struct sched_timer *t, uint64_t at_ns)
{
	sched_tree_remove(&s->timers, &t->node);
	t->at_ns = at_ns;
	t->number = s->n_timers++;
	sched_tree_insert(&s->timers, &t->node, by_time);
}

void sched_timer_stop(struct sched *s, struct sched_timer *t)
{
	sched_tree_remove(&s->timers, &t->node);
}

/* ---- whether it may begin ---- */

static void put_entry(struct sched *s, struct sched_entry *e, struct sched_machine *m)
{
	if (e->node.in && e->machine == m)
		return;
	if (e->node.in)
		sched_tree_remove(&e->machine->ready, &e->node);
	e->machine = m;
	e->user = e->queue->job->owner;
	if (!m)
		return;
	sched_tree_insert(&m->ready, &e->node, sched_entry_order);
	sched_due(s, m);
}

/* The clock of the queue timeout runs while only machines are in the way. */
static void run_clock(struct sched *s, struct sched_queue *q, bool counts, uint64_t now_ns)
{
	uint64_t limit = q->job->queue_timeout_ns;
	uint64_t left;

	if (counts == q->timeout.node.in)
		return;
	if (!counts) {
		q->waited_ns += now_ns - q->counts_from_ns;
		sched_timer_stop(s, &q->timeout);
		return;
	}
	q->counts_from_ns = now_ns;
	left = limit > q->waited_ns ? limit - q->waited_ns : 0;
	sched_timer_set(s, &q->timeout, left > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + left);
}

static void tell_gate(struct sched *s, struct sched_queue *q, uint32_t block)
{
	if (q->gate_due || q->gate_told == block)
		return;
	q->gate_told = block;
	q->gate_due = true;
	q->next_gate = NULL;
	if (s->gates)
		*s->gates_tail = q;
	else
		s->gates = q;
	s->gates_tail = &q->next_gate;
}

void sched_queue_refresh(struct sched *s, struct sched_queue *q, uint64_t now_ns)
{
	struct sched_job *j = q->job;
	struct sched_visit *v = sched_queue_next(q);
	bool live = !s->restoring && j->added && j->owner && sched_job_live(j);
	bool may = live && !j->paused && !j->waits && q->closed == KG_OUTCOME_NONE;
	bool gated = v && sched_queue_gated(q, v);
	bool ready = may && v && !gated;

	put_entry(s, &q->client, ready ? q->machine : NULL);
	put_entry(s, &q->server, ready ? v->peer_machine : NULL);
	if (!ready || v->peer_machine != q->claimed)
		sched_claim_drop(s, q);
	if (!ready || !v->peer_machine)
		q->passed_ns = -1;
	run_clock(s, q, ready && !q->boot && j->queue_timeout_ns > 0, now_ns);
	if (live && gated && !q->boot)
		tell_gate(s, q, v->block - 1);
}

void sched_job_refresh(struct sched *s, struct sched_job *j, uint64_t now_ns)
{
	struct sched_queue *q;

	for (q = j->queues; q; q = q->next)
		sched_queue_refresh(s, q, now_ns);
}

void sched_queue_withdraw(struct sched *s, struct sched_queue *q)
{
	put_entry(s, &q->client, NULL);
	put_entry(s, &q->server, NULL);
}

void sched_job_withdraw(struct sched *s, struct sched_job *j)
{
	struct sched_queue *q;

	for (q = j->queues; q; q = q->next)
		sched_queue_withdraw(s, q);
}
