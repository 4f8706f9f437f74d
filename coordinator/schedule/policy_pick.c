/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which visit a free machine begins: candidates by score, pairs by claims (sched.h). */
#include <string.h>

#include "common/clock.h"
#include "coordinator/schedule/sched_internal.h"

#define PATIENCE_NS (10 * KG_NSEC_PER_SEC)

/* ---- what machines are up to ---- */

bool sched_reserved(const struct sched_machine *m, uint64_t now_ns)
{
	return m->reserved_by && m->reserved_until_ns > (int64_t)now_ns;
}

bool sched_machine_serves(const struct sched_machine *m, const char *user, uint64_t now_ns)
{
	if (m->service != SCHED_NORMAL || (!m->up && !m->boot))
		return false;
	return !sched_reserved(m, now_ns) || strcmp(m->reserved_by, user ? user : "") == 0;
}

uint64_t sched_busy_ns(const struct sched_machine *m, uint64_t now_ns)
{
	const struct sched_boot *b = m->boot;

	if (!b)
		return 0;
	return b->ends_ns > now_ns ? b->ends_ns - now_ns : now_ns - b->ends_ns + 1;
}

void sched_due(struct sched *s, struct sched_machine *m)
{
	if (m->due)
		return;
	m->due = true;
	m->next_due = NULL;
	if (s->due)
		*s->due_tail = m;
	else
		s->due = m;
	s->due_tail = &m->next_due;
}

/* ---- claims ---- */

static void unclaim(struct sched *s, struct sched_machine *m, const struct sched_queue *q)
{
	if (m->claim != q)
		return;
	m->claim = NULL;
	sched_due(s, m);
}

void sched_claim_drop(struct sched *s, struct sched_queue *q)
{
	struct sched_machine *peer = q->claimed;

	if (!peer)
		return;
	q->claimed = NULL;
	unclaim(s, q->machine, q);
	unclaim(s, peer, q);
}

static struct sched_machine *other_of(const struct sched_entry *e)
{
	return e == &e->queue->client ? sched_queue_next(e->queue)->peer_machine
				      : e->queue->machine;
}

static void claim(struct sched *s, struct sched_queue *q, struct sched_machine *peer)
{
	if (q->machine->claim)
		sched_claim_drop(s, q->machine->claim);
	if (peer->claim)
		sched_claim_drop(s, peer->claim);
	q->machine->claim = peer->claim = q;
	q->claimed = peer;
}

/* ---- candidates, best first ---- */

struct look {
	struct sched *s;
	struct sched_machine *m;
	uint64_t now_ns;
	struct sched_user *users; /* with candidates here */
	struct sched_frame frame;
};

static bool of_later_user(const struct sched_node *n, const void *arg)
{
	const struct sched_user *after = arg;
	const struct sched_entry *e = sched_const_owner(n, struct sched_entry, node);

	return e->user->number > after->number;
}

static struct sched_entry *entry_of(struct sched_node *n)
{
	return n ? sched_owner(n, struct sched_entry, node) : NULL;
}

/* The same user's next candidate. */
static struct sched_entry *next_of_user(const struct sched_entry *e)
{
	struct sched_entry *next = entry_of(sched_tree_next(&e->node));

	return next && next->user == e->user ? next : NULL;
}

static double score_of(const struct look *l, const struct sched_queue *q)
{
	return sched_score_in(l->s, &l->frame, q->job);
}

static void look_from(struct look *l)
{
	struct sched_machine *m = l->m;
	bool reserved = sched_reserved(m, l->now_ns);
	struct sched_entry *e = entry_of(sched_tree_first(&m->ready));

	l->users = NULL;
	while (e) {
		struct sched_user *u = e->user;

		if (!reserved || strcmp(u->name, m->reserved_by) == 0) {
			u->at = e;
			u->next_at = l->users;
			l->users = u;
		}
		e = entry_of(sched_tree_bound(&m->ready, of_later_user, u));
	}
}

/* Takes the best candidate that has not been looked at; NULL: none is left. */
static struct sched_entry *look_next(struct look *l)
{
	struct sched_user *best = NULL;
	double best_score = 0;
	struct sched_user *u;
	struct sched_entry *e;

	for (u = l->users; u; u = u->next_at) {
		double score;

		if (!u->at)
			continue;
		score = score_of(l, u->at->queue);
		if (best &&
		    (score < best_score ||
		     (score <= best_score && u->at->queue->job->id >= best->at->queue->job->id)))
			continue;
		best = u;
		best_score = score;
	}
	if (!best)
		return NULL;
	e = best->at;
	best->at = next_of_user(e);
	return e;
}

/* ---- the decision ---- */

/* Whether a claim gives way to another queue. */
static bool gives_way(const struct look *l, const struct sched_queue *claim,
		      const struct sched_queue *to)
{
	return score_of(l, to) > score_of(l, claim) + SCHED_CLAIM_POINTS;
}

/* The pair that the machine is kept for: it waits for it, or runs it and may go on with it. */
static const struct sched_queue *kept_for(const struct sched_machine *m, uint64_t now_ns)
{
	const struct sched_queue *q;
	const struct sched_visit *v;

	if (m->claim || !m->boot || m->boot->role == SCHED_ROLE_NONE)
		return m->claim;
	q = m->boot->visit->queue;
	v = q->client.node.in ? sched_queue_next(q) : NULL;
	if (!v || v->peer_machine != m->boot->visit->peer_machine ||
	    !sched_machine_serves(m, q->job->user, now_ns))
		return NULL;
	return q;
}

/* How long a machine may be idle for this pair: the longer it was passed over, the longer. */
static uint64_t patience(const struct sched_queue *q, uint64_t now_ns)
{
	if (q->passed_ns < 0)
		return PATIENCE_NS;
	return PATIENCE_NS + (now_ns - (uint64_t)q->passed_ns) / 16;
}

/* Whether the other machine would take something else as soon as it is free: then it is no use to
 * wait for it. */
static bool loses_at(const struct look *l, const struct sched_queue *q,
		     const struct sched_machine *other)
{
	struct sched_entry *e = entry_of(sched_tree_first(&other->ready));
	bool reserved = sched_reserved(other, l->now_ns);

	while (e) {
		struct sched_user *u = e->user;

		if (e->queue != q && (!reserved || strcmp(u->name, other->reserved_by) == 0) &&
		    gives_way(l, q, e->queue))
			return true;
		e = entry_of(sched_tree_bound(&other->ready, of_later_user, u));
	}
	return false;
}

static struct sched_machine *claimed_with(const struct sched_machine *m)
{
	const struct sched_queue *q = m->claim;

	return q->machine == m ? q->claimed : q->machine;
}

static bool begin(struct look *l, struct sched_visit *v)
{
	if (l->m->claim)
		sched_claim_drop(l->s, l->m->claim);
	if (v->peer_machine) {
		struct sched_machine *o = v->machine == l->m ? v->peer_machine : v->machine;

		if (o->claim)
			sched_claim_drop(l->s, o->claim);
	}
	if (!sched_begin(l->s, v, l->now_ns))
		l->s->short_of_memory = true; /* the next tick tries again */
	return true;
}

static bool try_plain(struct look *l, struct sched_queue *q)
{
	struct sched_visit *v = sched_queue_next(q);
	const struct sched_boot *other;
	bool known;

	if (!l->m->claim || gives_way(l, l->m->claim, q))
		return begin(l, v);
	/* in the time that the peer of what is claimed still takes */
	other = claimed_with(l->m)->boot;
	if (!other || l->now_ns + sched_estimate(q, v, &known) > other->ends_ns || !known)
		return false;
	if (!sched_begin(l->s, v, l->now_ns))
		l->s->short_of_memory = true;
	return true;
}

/* Both machines have just run this pair, or the other one is about to end with it. */
static bool goes_on(const struct look *l, const struct sched_queue *q,
		    const struct sched_machine *other)
{
	if (l->m->last_pair != q)
		return false;
	if (!other->boot)
		return other->last_pair == q;
	return other->boot->visit->queue == q && !other->boot->pair;
}

static bool try_pair(struct look *l, struct sched_entry *e, bool on)
{
	struct sched_queue *q = e->queue;
	struct sched_machine *o = other_of(e);
	const struct sched_queue *kept = kept_for(o, l->now_ns);
	uint64_t left, wait, most;

	if (!sched_machine_serves(o, q->job->user, l->now_ns)) {
		if (l->m->claim == q)
			sched_claim_drop(l->s, q);
		return false;
	}
	if (l->m->claim && l->m->claim != q && !gives_way(l, l->m->claim, q))
		return false;
	if (kept && kept != q && !gives_way(l, kept, q))
		return false;
	if (!o->boot)
		return begin(l, sched_queue_next(q));
	left = sched_busy_ns(o, l->now_ns);
	wait = patience(q, l->now_ns);
	most = 2 * wait + 3 * PATIENCE_NS;
	if (l->m->claim == q) {
		if (left > most)
			sched_claim_drop(l->s, q); /* it takes longer than was thought */
		return false;
	}
	if (left <= (on ? most : wait) && !loses_at(l, q, o))
		claim(l->s, q, q->machine == o ? l->m : o);
	else if (q->passed_ns < 0)
		q->passed_ns = (int64_t)l->now_ns;
	return false;
}

/* The pair that goes on, when nothing is SCHED_CLAIM_POINTS better. */
static bool try_going_on(struct look *l)
{
	struct sched_queue *q = l->m->last_pair;
	struct sched_entry *e = q->machine == l->m ? &q->client : &q->server;
	struct sched_machine *o;
	struct sched_user *u;

	if (!e->node.in || e->machine != l->m ||
	    !sched_machine_serves(l->m, q->job->user, l->now_ns))
		return false;
	o = other_of(e); /* none: what comes next on the client is no pair */
	if (!o || !goes_on(l, q, o))
		return false;
	for (u = l->users; u; u = u->next_at)
		if (u->at->queue != q && gives_way(l, q, u->at->queue))
			return false;
	return try_pair(l, e, true);
}

static void feed(struct sched *s, struct sched_machine *m, uint64_t now_ns)
{
	struct look l = {.s = s, .m = m, .now_ns = now_ns};
	struct sched_entry *e;

	if (!m->up || m->boot || m->service != SCHED_NORMAL || !m->ready.root)
		return;
	l.frame = sched_frame(s, now_ns);
	look_from(&l);
	if (m->last_pair && l.users && try_going_on(&l))
		return;
	while ((e = look_next(&l)) != NULL) {
		struct sched_visit *v = sched_queue_next(e->queue);

		if (v->peer_machine ? try_pair(&l, e, false) : try_plain(&l, e->queue))
			return;
	}
}

static struct sched_queue *next_gate(struct sched *s)
{
	struct sched_queue *q = s->gates;

	if (q) {
		s->gates = q->next_gate;
		q->next_gate = NULL;
		q->gate_due = false;
	}
	return q;
}

static struct sched_machine *next_due(struct sched *s)
{
	struct sched_machine *m = s->due;

	if (m) {
		s->due = m->next_due;
		m->next_due = NULL;
		m->due = false;
	}
	return m;
}

void sched_settle_down(struct sched *s, uint64_t now_ns)
{
	struct sched_queue *q;
	struct sched_machine *m;

	/* Whoever acts goes on with what this event added. */
	if (s->acting || s->restoring)
		return;
	s->acting = true;
	do {
		while ((q = next_gate(s)) != NULL)
			if (sched_job_live(q->job))
				sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_GATE,
								     .machine = q->machine,
								     .job = q->job,
								     .block = q->gate_told});
		m = next_due(s);
		if (m)
			feed(s, m, now_ns);
	} while (m || s->gates);
	s->acting = false;
}
