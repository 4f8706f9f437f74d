/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keeps a job from beginning on one machine, in words. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/schedule/why_internal.h"

const char *why_job_name(const struct sched_job *j, char *buf, size_t size)
{
	unsigned long long id = j->id;

	if (j->name && j->name[0])
		(void)snprintf(buf, size, "job %llu '%.63s'", id, j->name);
	else
		(void)snprintf(buf, size, "job %llu", id);
	return buf;
}

void why_boot(const struct sched_boot *b, uint64_t now_ns, char *buf, size_t size)
{
	uint64_t left = b->deadline_ns > now_ns ? b->deadline_ns - now_ns : 0;
	char span[32];

	(void)snprintf(buf, size, "boot %llu, stage '%s', at most %s left of it",
		       (unsigned long long)b->id, sched_stage_name(b->stage),
		       sched_span(left, span, sizeof(span)));
}

void why_score(const struct sched *s, const struct sched_job *j, uint64_t now_ns, char *buf,
	       size_t size)
{
	uint64_t waited = (int64_t)now_ns > j->queued_ns ? now_ns - (uint64_t)j->queued_ns : 0;
	double ahead = j->owner ? sched_ahead_h(s, j->owner, now_ns) : 0;
	char span[32];
	int n;

	n = snprintf(buf, size, "priority %u, submitted %s ago", j->priority,
		     sched_span(waited, span, sizeof(span)));
	if (n > 0 && (size_t)n < size && ahead >= 0.005)
		(void)snprintf(buf + n, size - (size_t)n,
			       ", '%.63s' has had %.2f h of the grid more than others",
			       j->user ? j->user : "", ahead);
}

bool why_machine_shut(const struct sched_machine *m, const char *user, uint64_t now_ns, char *buf,
		      size_t size)
{
	const char *why = m->service_why ? m->service_why : "";
	char span[32];

	if (m->service != SCHED_NORMAL) {
		(void)snprintf(buf, size, "'%s' is %s%s%.120s", m->name,
			       m->service == SCHED_DRAIN ? "drained: no boot begins there"
							 : "in maintenance",
			       why[0] ? ": " : "", why);
		return true;
	}
	if (sched_reserved(m, now_ns) && (!user || strcmp(m->reserved_by, user) != 0)) {
		(void)snprintf(buf, size, "'%s' is reserved by %.63s for another %s%s%.120s",
			       m->name, m->reserved_by,
			       sched_span((uint64_t)(m->reserved_until_ns - (int64_t)now_ns), span,
					  sizeof(span)),
			       m->reserved_why ? ": " : "", m->reserved_why ? m->reserved_why : "");
		return true;
	}
	if (!m->up && !m->boot) {
		(void)snprintf(buf, size, "'%s' is offline", m->name);
		return true;
	}
	return false;
}

bool why_machine_taken(const struct sched_machine *m, const struct sched_queue *q, uint64_t now_ns,
		       char *buf, size_t size)
{
	const struct sched_boot *b = m->boot;
	char job[96], boot[128];

	if (b) {
		why_boot(b, now_ns, boot, sizeof(boot));
		if (b->visit->job == q->job)
			(void)snprintf(buf, size, "'%s' is busy with another boot of this job (%s)",
				       m->name, boot);
		else
			(void)snprintf(buf, size, "'%s' is busy with %s (%s)", m->name,
				       why_job_name(b->visit->job, job, sizeof(job)), boot);
		return true;
	}
	if (m->claim && m->claim != q) {
		(void)snprintf(buf, size, "'%s' is kept for a pair of %s, whose peer is free soon",
			       m->name, why_job_name(m->claim->job, job, sizeof(job)));
		return true;
	}
	return false;
}

size_t why_before(const struct sched *s, const struct sched_machine *m, const struct sched_queue *q,
		  uint64_t now_ns, const struct sched_job **ret_first)
{
	struct sched_frame f = sched_frame(s, now_ns);
	double mine = sched_score_in(s, &f, q->job), best = 0;
	struct sched_node *n = sched_tree_first(&m->ready);
	const struct sched_job *first = NULL;
	size_t count = 0;

	for (; n; n = sched_tree_next(n)) {
		const struct sched_job *j =
			sched_const_owner(n, struct sched_entry, node)->queue->job;
		double score;

		if (j == q->job)
			continue;
		score = sched_score_in(s, &f, j);
		if (score < mine || (score <= mine && j->id > q->job->id))
			continue;
		count++;
		if (!first || score > best) {
			first = j;
			best = score;
		}
	}
	*ret_first = first;
	return count;
}

static bool pair_obstacle(const struct sched_queue *q, const struct sched_machine *peer,
			  uint64_t now_ns, char *text, size_t size)
{
	char why[SCHED_REASON_BYTES];

	if (!why_machine_shut(peer, q->job->user, now_ns, why, sizeof(why)) &&
	    !why_machine_taken(peer, q, now_ns, why, sizeof(why)))
		return false;
	(void)snprintf(text, size, "it needs both '%s' and '%s': %s", q->machine->name, peer->name,
		       why);
	return true;
}

static bool others_first(const struct sched *s, const struct sched_queue *q, uint64_t now_ns,
			 char *text, size_t size)
{
	const struct sched_job *first;
	char job[96];

	if (why_before(s, q->machine, q, now_ns, &first) == 0)
		return false;
	(void)snprintf(text, size, "%s comes first there", why_job_name(first, job, sizeof(job)));
	return true;
}

bool sched_queue_obstacle(const struct sched *s, const struct sched_queue *q, uint64_t now_ns,
			  char *text, size_t size)
{
	const struct sched_visit *v = sched_queue_next(q);

	if (why_machine_shut(q->machine, q->job->user, now_ns, text, size) ||
	    why_machine_taken(q->machine, q, now_ns, text, size))
		return true;
	if (v && v->peer_machine && pair_obstacle(q, v->peer_machine, now_ns, text, size))
		return true;
	return others_first(s, q, now_ns, text, size);
}

/* Of a job that comes before another: by how much, and where that does not show, by what. */
static void by_score(const struct why *w, const struct sched_job *first, const struct sched_job *j,
		     char *buf, size_t size)
{
	double a = sched_score(w->s, first, w->now_ns), b = sched_score(w->s, j, w->now_ns);
	char mine[32], its[32];

	(void)snprintf(its, sizeof(its), "%.1f", a);
	(void)snprintf(mine, sizeof(mine), "%.1f", b);
	if (strcmp(its, mine) != 0)
		(void)snprintf(buf, size, "score %s against %s", its, mine);
	else if (a <= b || (first->owner == j->owner && first->priority == j->priority))
		(void)snprintf(buf, size, "both have the score %s, and it was submitted first",
			       its);
	else
		(void)snprintf(buf, size, "score %.4f against %.4f", a, b);
}

/* Of a pair either machine may have something better to do. */
static bool competitor_line(struct why *w, const struct sched_queue *q)
{
	const struct sched_machine *peer = sched_queue_next(q)->peer_machine;
	const struct sched_job *first;
	size_t n = why_before(w->s, q->machine, q, w->now_ns, &first);
	char job[96], by[80], score[200], where[80] = "there", more[48] = "";

	if (n == 0 && peer) {
		n = why_before(w->s, peer, q, w->now_ns, &first);
		(void)snprintf(where, sizeof(where), "on '%.63s'", peer->name);
	}
	if (n == 0)
		return false;
	if (n > 1)
		(void)snprintf(more, sizeof(more), ", and %zu more after it", n - 1);
	why_score(w->s, first, w->now_ns, score, sizeof(score));
	by_score(w, first, q->job, by, sizeof(by));
	why_add(w, "  %s comes first %s: %s (%s)%s", why_job_name(first, job, sizeof(job)), where,
		by, score, more);
	return true;
}

static void left_of_timeout(const struct why *w, const struct sched_queue *q, char *buf,
			    size_t size)
{
	char span[32];

	buf[0] = '\0';
	if (q->timeout.node.in && q->timeout.at_ns > w->now_ns)
		(void)snprintf(buf, size, "; given up in %s",
			       sched_span(q->timeout.at_ns - w->now_ns, span, sizeof(span)));
}

bool why_queue_line(struct why *w, const struct sched_queue *q)
{
	const struct sched_visit *v = sched_queue_next(q);
	char text[SCHED_REASON_BYTES + 100], left[64];

	if (q->boot) {
		why_boot(q->boot, w->now_ns, text, sizeof(text));
		why_add(w, "%s: runs: %s, %zu of its slots pending here", q->machine->name, text,
			q->pending);
		return false;
	}
	if (q->pending == 0 || !v) {
		why_add(w, "%s: nothing is left to do there", q->machine->name);
		return false;
	}
	if (sched_queue_gated(q, v)) {
		why_add(w, "%s: the stop rule is being judged: block %u waits for it",
			q->machine->name, v->block);
		return false;
	}
	left_of_timeout(w, q, left, sizeof(left));
	if (!sched_queue_obstacle(w->s, q, w->now_ns, text, sizeof(text)))
		(void)snprintf(text, sizeof(text), "it begins at the next look at the machine");
	why_add(w, "%s: waits: %s%s", q->machine->name, text, left);
	return (q->machine->up || q->machine->boot) && competitor_line(w, q);
}
