/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `kgrid why`: why a job, some of its slots or a machine waits. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/schedule/why_internal.h"

#define SHOWN_QUEUES 6 /* of a job: each may take two lines */
#define SHOWN_JOBS   5 /* of a machine */

/* ---- lines ---- */

void why_add(struct why *w, const char *fmt, ...)
{
	char text[1024];
	char **p;
	va_list ap;

	if (w->failed || w->lines->n >= SCHED_WHY_LINES)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p = realloc(w->lines->items, (w->lines->n + 1) * sizeof(char *));
	if (p) {
		w->lines->items = p;
		p[w->lines->n] = strdup(text);
	}
	if (p && p[w->lines->n])
		w->lines->n++;
	else
		w->failed = true;
}

int why_end(struct why *w)
{
	if (!w->failed)
		return 0;
	kg_texts_deinit(w->lines);
	memset(w->lines, 0, sizeof(*w->lines));
	return -ENOMEM;
}

/* ---- job ---- */

static const struct sched_job *job_of(const struct sched *s, uint64_t id)
{
	const struct sched_link *l = sched_hash_find(&s->job_hash, id);

	return l ? sched_const_owner(l, struct sched_job, link) : NULL;
}

static void after_lines(struct why *w, const struct sched_job *j)
{
	char name[96];
	size_t i;

	for (i = 0; i < j->n_after; i++) {
		const struct sched_job *before = job_of(w->s, j->after[i]);

		if (before && before != j && sched_job_live(before))
			why_add(w, "waits for %s to be over: %zu slots of it are pending%s",
				why_job_name(before, name, sizeof(name)), before->pending,
				before->paused ? ", and it is paused" : "");
	}
}

/* Of a job that neither is paused nor waits for another: how its machines are doing. */
struct tally {
	size_t running, waiting, gated, over;
	const struct sched_queue *first_waiting; /* with a machine that is there, if any */
};

static bool is_there(const struct sched_queue *q)
{
	return q->machine->up || q->machine->boot;
}

static struct tally tally(const struct sched_job *j)
{
	struct tally t = {0};
	const struct sched_queue *q;

	for (q = j->queues; q; q = q->next) {
		const struct sched_visit *v = sched_queue_next(q);

		if (q->boot)
			t.running++;
		else if (!v)
			t.over++;
		else if (sched_queue_gated(q, v))
			t.gated++;
		else {
			t.waiting++;
			if (!t.first_waiting || (!is_there(t.first_waiting) && is_there(q)))
				t.first_waiting = q;
		}
	}
	return t;
}

static void first_line(struct why *w, const struct sched_job *j, const struct tally *t)
{
	char text[SCHED_REASON_BYTES], more[64] = "";

	if (t->running > 0) {
		if (t->waiting > 0)
			(void)snprintf(more, sizeof(more), ", waits for %zu more", t->waiting);
		why_add(w, "runs on %zu of %zu machines%s", t->running,
			t->running + t->waiting + t->gated + t->over, more);
	} else if (t->first_waiting) {
		if (t->waiting > 1)
			(void)snprintf(more, sizeof(more), " (and %zu more machine%s)",
				       t->waiting - 1, t->waiting > 2 ? "s" : "");
		if (!sched_queue_obstacle(w->s, t->first_waiting, w->now_ns, text, sizeof(text)))
			(void)snprintf(text, sizeof(text), "it begins at the next look at '%s'",
				       t->first_waiting->machine->name);
		why_add(w, "waits: %s%s", text, more);
	} else if (t->gated > 0) {
		why_add(w, "waits: the stop rule is being judged on %zu machines", t->gated);
	} else if (j->open_boots > 0) {
		why_add(w, "the server of a pair is about to end");
	} else {
		why_add(w, "nothing of it is left to do");
	}
}

static void budget_line(struct why *w, const struct sched_job *j)
{
	char all[32], left[32];
	uint64_t at = j->budget.at_ns;

	if (!j->budget.node.in)
		return;
	why_add(w, "its budget of %s is spent in %s; what has not begun then is skipped",
		sched_span(j->budget_ns, all, sizeof(all)),
		sched_span(at > w->now_ns ? at - w->now_ns : 0, left, sizeof(left)));
}

static void score_line(struct why *w, const struct sched_job *j)
{
	char text[200];

	why_score(w->s, j, w->now_ns, text, sizeof(text));
	why_add(w, "its score is %.1f: %s", sched_score(w->s, j, w->now_ns), text);
}

static void queue_lines(struct why *w, const struct sched_job *j)
{
	const struct sched_queue *q;
	size_t shown = 0, left = 0;

	for (q = j->queues; q; q = q->next) {
		if (q->pending == 0 && !q->boot)
			continue;
		if (shown < SHOWN_QUEUES)
			(void)why_queue_line(w, q);
		else
			left++;
		shown++;
	}
	if (left > 0)
		why_add(w, "and %zu more machine%s; 'kgrid why MACHINE' shows one", left,
			left > 1 ? "s" : "");
}

int sched_why_job(const struct sched *s, uint64_t job, uint64_t now_ns, struct kg_texts *ret_lines)
{
	const struct sched_job *j = job_of(s, job);
	struct kg_texts lines = {0};
	struct why w = {.s = s, .now_ns = now_ns, .lines = &lines};
	struct tally t;
	int rc;

	if (!j || !j->added || !sched_job_live(j))
		return KG_ENOTFOUND;
	t = tally(j);
	if (j->paused)
		why_add(&w, "paused: no boot of it begins before 'kgrid job resume %llu'%s",
			(unsigned long long)j->id, t.running ? "; those that are open go on" : "");
	if (j->waits)
		after_lines(&w, j);
	if (!j->paused && !j->waits) {
		/* of one machine its own line says it */
		if (t.waiting != 1 || t.running + t.gated > 0)
			first_line(&w, j, &t);
		queue_lines(&w, j);
		if (t.waiting > 0)
			score_line(&w, j);
	}
	budget_line(&w, j);
	rc = why_end(&w);
	if (rc == 0)
		*ret_lines = lines;
	return rc;
}

/* ---- slots ---- */

static bool among(uint64_t id, const uint64_t *slots, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slots[i] == id)
			return true;
	return false;
}

struct asked {
	size_t pending, open, tried, ended;
	const struct sched_visit *first; /* that is to begin */
	uint32_t most_tries;
};

static struct asked ask(const struct sched_queue *q, const uint64_t *slots, size_t n)
{
	struct asked a = {0};
	size_t i, k;

	for (i = 0; i < q->n; i++) {
		const struct sched_visit *v = q->order[i];

		for (k = 0; k < v->n_slots; k++) {
			const struct sched_slot *slot = &v->slots[k];

			if (!among(slot->id, slots, n))
				continue;
			a.ended += slot->outcome != KG_OUTCOME_NONE;
			if (slot->outcome != KG_OUTCOME_NONE)
				continue;
			a.pending++;
			a.open += v->open;
			a.tried += slot->tries > 0;
			if (slot->tries > a.most_tries)
				a.most_tries = slot->tries;
			if (!v->open && !a.first)
				a.first = v;
		}
	}
	return a;
}

/* Boots of the job on the machine that come before this one. */
static size_t boots_before(const struct sched_queue *q, const struct sched_visit *v)
{
	size_t n = 0;
	size_t i;

	for (i = 0; i < q->n; i++) {
		const struct sched_visit *o = q->order[i];

		if (o == v || o->pending == 0 || o->open || o->part > v->part)
			continue;
		if (o->part < v->part || o->tries < v->tries ||
		    (o->tries == v->tries && o->place < v->place))
			n++;
	}
	return n;
}

static void place_lines(struct why *w, const struct sched_queue *q, const struct asked *a)
{
	size_t before = boots_before(q, a->first);

	if (sched_queue_gated(q, a->first))
		why_add(w,
			"its next one is in block %u: the stop rule has let blocks up to %u begin",
			a->first->block, q->released);
	else if (before > 0)
		why_add(w,
			"its next one is in block %u: %zu boots of this job come before it there",
			a->first->block, before);
	if (a->first->peer_machine)
		why_add(w, "its boots are pairs with '%s' as the server", a->first->peer);
}

int sched_why_slots(const struct sched *s, uint64_t job, const char *machine, const uint64_t *slots,
		    size_t n, uint64_t now_ns, struct kg_texts *ret_lines)
{
	const struct sched_job *j = job_of(s, job);
	const struct sched_queue *q = NULL;
	struct kg_texts lines = {0};
	struct why w = {.s = s, .now_ns = now_ns, .lines = &lines};
	char text[128];
	struct asked a;
	int rc;

	if (j && j->added && sched_job_live(j))
		for (q = j->queues; q && strcmp(q->machine->name, machine) != 0; q = q->next)
			;
	if (!q)
		return KG_ENOTFOUND;
	a = ask(q, slots, n);
	if (a.pending == 0)
		why_add(&w, "waits for nothing: %zu of its slots have their outcome", a.ended);
	if (a.open > 0) {
		why_boot(q->boot, now_ns, text, sizeof(text));
		why_add(&w, "runs: %s", text);
	}
	if (a.tried > 0)
		why_add(&w, "%zu of %zu pending slots were tried before, up to %u of %u times",
			a.tried, a.pending, a.most_tries, SCHED_MAX_TRIES);
	if (a.first && j->paused)
		why_add(&w, "paused: no boot of its job begins before 'kgrid job resume %llu'",
			(unsigned long long)j->id);
	if (a.first && j->waits)
		after_lines(&w, j);
	if (a.first)
		place_lines(&w, q, &a);
	if (a.first && !j->paused && !j->waits && !sched_queue_gated(q, a.first) && a.open == 0 &&
	    why_queue_line(&w, q))
		score_line(&w, j);
	rc = why_end(&w);
	if (rc == 0)
		*ret_lines = lines;
	return rc;
}

/* ---- machine ---- */

static void state_lines(struct why *w, const struct sched_machine *m)
{
	char text[SCHED_REASON_BYTES], job[96], span[32];

	if (m->boot) {
		why_boot(m->boot, w->now_ns, text, sizeof(text));
		why_add(w, "busy with %s%s (%s)",
			why_job_name(m->boot->visit->job, job, sizeof(job)),
			m->boot->role == SCHED_ROLE_SERVER   ? " as the server of a pair"
			: m->boot->role == SCHED_ROLE_CLIENT ? " as the client of a pair"
							     : "",
			text);
		if (m->boot->pair)
			why_add(w, "the other side of the pair is boot %llu on '%s'",
				(unsigned long long)m->boot->pair->id,
				m->boot->pair->machine->name);
	} else {
		why_add(w, "%s", m->up ? "idle" : "offline: nothing begins before it connects");
	}
	if (m->service != SCHED_NORMAL)
		why_add(w, "%s%s%.160s",
			m->service == SCHED_DRAIN ? "drained: no further boot begins"
						  : "in maintenance: no boot begins",
			m->service_why ? ": " : "", m->service_why ? m->service_why : "");
	if (sched_reserved(m, w->now_ns))
		why_add(w, "reserved by %.63s for another %s%s%.160s: only jobs of %.63s begin",
			m->reserved_by,
			sched_span((uint64_t)(m->reserved_until_ns - (int64_t)w->now_ns), span,
				   sizeof(span)),
			m->reserved_why ? ": " : "", m->reserved_why ? m->reserved_why : "",
			m->reserved_by);
	if (m->claim)
		why_add(w, "kept for a pair of %s, together with '%s'",
			why_job_name(m->claim->job, job, sizeof(job)),
			m->claim->machine == m ? m->claim->claimed->name : m->claim->machine->name);
}

/* The candidate with the highest score below `under`, by (score, job, machine). */
static const struct sched_entry *next_best(const struct why *w, const struct sched_machine *m,
					   const struct sched_entry *last)
{
	struct sched_frame f = sched_frame(w->s, w->now_ns);
	double limit = last ? sched_score_in(w->s, &f, last->queue->job) : 0, best = 0;
	struct sched_node *n = sched_tree_first(&m->ready);
	const struct sched_entry *found = NULL;

	for (; n; n = sched_tree_next(n)) {
		const struct sched_entry *e = sched_const_owner(n, struct sched_entry, node);
		double score = sched_score_in(w->s, &f, e->queue->job);
		uint64_t id = e->queue->job->id;

		/* a job is shown once, however many of its clients want this server */
		if (last && (score > limit || (score >= limit && id <= last->queue->job->id)))
			continue;
		if (found && (score < best || (score <= best && id >= found->queue->job->id)))
			continue;
		found = e;
		best = score;
	}
	return found;
}

static size_t ready_jobs(const struct sched_machine *m)
{
	struct sched_node *n = sched_tree_first(&m->ready);
	const struct sched_job *last = NULL;
	size_t count = 0;

	for (; n; n = sched_tree_next(n)) { /* entries of a job stand together */
		const struct sched_job *j =
			sched_const_owner(n, struct sched_entry, node)->queue->job;

		count += j != last;
		last = j;
	}
	return count;
}

static void peer_note(const struct why *w, const struct sched_queue *q,
		      const struct sched_machine *peer, char *note, size_t size)
{
	char why[SCHED_REASON_BYTES];

	if (why_machine_shut(peer, q->job->user, w->now_ns, why, sizeof(why)) ||
	    why_machine_taken(peer, q, w->now_ns, why, sizeof(why)))
		(void)snprintf(note, size, "; but %s", why);
	else
		(void)snprintf(note, size, "; with '%s', which is idle", peer->name);
}

static void candidate_line(struct why *w, const struct sched_machine *m,
			   const struct sched_entry *e)
{
	const struct sched_queue *q = e->queue;
	const struct sched_visit *v = sched_queue_next(q);
	char job[96], score[200], note[SCHED_REASON_BYTES + 8] = "";

	why_score(w->s, q->job, w->now_ns, score, sizeof(score));
	if (sched_reserved(m, w->now_ns) && !sched_machine_serves(m, q->job->user, w->now_ns))
		(void)snprintf(note, sizeof(note), "; not while it is reserved");
	else if (v->peer_machine)
		peer_note(w, q, q->machine == m ? v->peer_machine : q->machine, note, sizeof(note));
	why_add(w, "  %s: score %.1f (%s)%s", why_job_name(q->job, job, sizeof(job)),
		sched_score(w->s, q->job, w->now_ns), score, note);
}

/* The job's queue here, or one of those that want this machine as their server; NULL: none. */
static const struct sched_queue *next_here(const struct why *w, const struct sched_job *j,
					   const struct sched_machine *m)
{
	const struct sched_queue *q = sched_queue_find(w->s, j, m);

	if (q && sched_queue_next(q))
		return q;
	for (q = j->has_pairs ? j->queues : NULL; q; q = q->next) {
		const struct sched_visit *v = sched_queue_next(q);

		if (v && v->peer_machine == m)
			return q;
	}
	return NULL;
}

/* Jobs that have something for this machine and may not begin it. */
static void held_lines(struct why *w, const struct sched_machine *m)
{
	size_t paused = 0, after = 0, gated = 0;
	const struct sched_job *j;

	for (j = w->s->jobs; j; j = j->next) {
		const struct sched_queue *q = sched_job_live(j) ? next_here(w, j, m) : NULL;

		if (!q)
			continue;
		if (j->paused)
			paused++;
		else if (j->waits)
			after++;
		else if (sched_queue_gated(q, sched_queue_next(q)))
			gated++;
	}
	if (paused + after + gated > 0)
		why_add(w,
			"held back: %zu paused jobs, %zu that wait for other jobs, %zu whose stop "
			"rule is being judged",
			paused, after, gated);
}

int sched_why_machine(const struct sched *s, const char *machine, uint64_t now_ns,
		      struct kg_texts *ret_lines)
{
	struct sched_machine *m = sched_machine_find((struct sched *)(uintptr_t)s, machine);
	struct kg_texts lines = {0};
	struct why w = {.s = s, .now_ns = now_ns, .lines = &lines};
	const struct sched_entry *e = NULL;
	size_t i, n;
	int rc;

	if (!m)
		return KG_ENOTFOUND;
	state_lines(&w, m);
	n = ready_jobs(m);
	why_add(&w,
		n == 0	 ? "no job has anything ready for it"
		: n == 1 ? "%zu job is ready for it"
			 : "%zu jobs are ready for it, in this order",
		n);
	for (i = 0; i < SHOWN_JOBS && (e = next_best(&w, m, e)) != NULL; i++)
		candidate_line(&w, m, e);
	if (n > SHOWN_JOBS)
		why_add(&w, "  and %zu more", n - SHOWN_JOBS);
	held_lines(&w, m);
	rc = why_end(&w);
	if (rc == 0)
		*ret_lines = lines;
	return rc;
}
