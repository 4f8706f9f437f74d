/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who comes first: priority, waiting and shares (sched.h has the formula). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/schedule/sched_internal.h"

const struct sched_policy sched_policy_default = {
	.age_points = 5,
	.share_points = 100,
	.half_life_h = 24,
	.credit_h = 1,
};

/* ---- submitters ---- */

static struct sched_user *find(const struct sched *s, const char *name)
{
	struct sched_user *u = s->users;

	while (u && strcmp(u->name, name) != 0)
		u = u->next;
	return u;
}

const struct sched_user *sched_user_find(const struct sched *s, const char *name)
{
	return find(s, name);
}

struct sched_user *sched_user_get(struct sched *s, const char *name)
{
	struct sched_user *u = find(s, name);
	struct sched_user **at = &s->users;

	if (u)
		return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->name = strdup(name);
	if (!u->name) {
		free(u);
		return NULL;
	}
	u->share = 1;
	u->number = s->n_users++;
	while (*at)
		at = &(*at)->next;
	*at = u;
	return u;
}

void sched_users_free(struct sched *s)
{
	while (s->users) {
		struct sched_user *u = s->users;

		s->users = u->next;
		free(u->name);
		free(u);
	}
}

int sched_set_policy(struct sched *s, const struct sched_policy *p)
{
	size_t i;

	for (i = 0; i < p->n_shares; i++)
		if (!sched_user_get(s, p->shares[i].user))
			return -ENOMEM;
	for (i = 0; i < p->n_shares; i++)
		if (p->shares[i].share > 0)
			sched_user_get(s, p->shares[i].user)->share = p->shares[i].share;
	s->policy = *p;
	s->policy.shares = NULL; /* kept with the submitters */
	s->policy.n_shares = 0;
	return 0;
}

/* ---- usage ---- */

/* Usage fades for all alike, so that it is enough to write later hours in larger numbers. */
static double growth(const struct sched *s, uint64_t now_ns)
{
	double h = ((double)now_ns - (double)s->usage_from_ns) / SCHED_NS_PER_H;

	return s->policy.half_life_h > 0 ? exp2(h / s->policy.half_life_h) : 1;
}

/* Before the numbers get too large for a double: 2^64 is far from its limit of 2^1023. */
static void rescale(struct sched *s, uint64_t now_ns)
{
	double g = growth(s, now_ns);
	struct sched_user *u;

	if (g < 0x1p64 && g > 0x1p-64)
		return;
	for (u = s->users; u; u = u->next) {
		u->used /= g;
		u->pledged /= g;
	}
	s->usage_from_ns = now_ns;
}

void sched_charge(struct sched *s, struct sched_user *u, double ns, uint64_t now_ns)
{
	rescale(s, now_ns);
	u->used += ns * growth(s, now_ns);
	if (u->used < 0)
		u->used = 0;
}

void sched_pledge(struct sched *s, struct sched_boot *b)
{
	struct sched_user *u = b->payer;
	uint64_t at = (uint64_t)b->began_ns;

	if (!u)
		return;
	sched_charge(s, u, (double)b->charged_ns, at);
	u->pledged += (double)b->charged_ns * growth(s, at);
}

void sched_redeem(struct sched *s, struct sched_boot *b, uint64_t now_ns)
{
	double took = (double)((int64_t)now_ns - b->began_ns);
	struct sched_user *u = b->payer;

	if (!u || (b->began_ns == 0 && b->charged_ns == 0))
		return;	       /* begun before this start, and nobody says when */
	if (b->charged_ns > 0) /* not one of an earlier start */
		u->pledged -= (double)b->charged_ns * growth(s, (uint64_t)b->began_ns);
	sched_charge(s, u, took - (double)b->charged_ns, now_ns);
}

int sched_usage_add(struct sched *s, const char *user, uint64_t used_ns, uint64_t now_ns)
{
	struct sched_user *u = sched_user_get(s, user);

	if (!u)
		return -ENOMEM;
	sched_charge(s, u, (double)used_ns, now_ns);
	return 0;
}

/* Hours of the whole grid for each unit of used / share. */
static double scale(const struct sched *s, uint64_t now_ns)
{
	const struct sched_user *u;
	double shares = 0;

	for (u = s->users; u; u = u->next)
		if (u->n_jobs > 0)
			shares += u->share;
	return shares / (s->n_serving ? s->n_serving : 1) / growth(s, now_ns) / SCHED_NS_PER_H;
}

/* Least used / share of those with work. Unchanged when nobody has any. */
static void least(const struct sched *s, double *ret)
{
	const struct sched_user *u;
	bool any = false;

	for (u = s->users; u; u = u->next) {
		if (u->n_jobs == 0)
			continue;
		if (!any || u->used / u->share < *ret)
			*ret = u->used / u->share;
		any = true;
	}
}

double sched_ahead_h(const struct sched *s, const struct sched_user *u, uint64_t now_ns)
{
	double level = u->used / u->share;
	double from = level;

	least(s, &from);
	return (level - from) * scale(s, now_ns);
}

struct sched_frame sched_frame(const struct sched *s, uint64_t now_ns)
{
	struct sched_frame f = {.now_ns = now_ns, .unit = scale(s, now_ns)};

	least(s, &f.from);
	return f;
}

double sched_score_in(const struct sched *s, const struct sched_frame *f, const struct sched_job *j)
{
	double score = j->base + s->policy.age_points * ((double)f->now_ns / SCHED_NS_PER_H);
	const struct sched_user *u = j->owner;

	if (u)
		score -= s->policy.share_points * (u->used / u->share - f->from) * f->unit;
	return score;
}

double sched_score(const struct sched *s, const struct sched_job *j, uint64_t now_ns)
{
	struct sched_frame f = sched_frame(s, now_ns);

	return sched_score_in(s, &f, j);
}

/* ---- jobs ---- */

/* All jobs of a submitter age alike: this decides between them for good. */
void sched_job_rebase(struct sched *s, struct sched_job *j)
{
	j->base = (double)j->priority -
		  s->policy.age_points * ((double)j->queued_ns / SCHED_NS_PER_H);
}

/* Who comes back starts near the others: near what they have had, not what is only estimated. Not
 * at start, when the store's numbers are what counts. */
static void limit_credit(struct sched *s, struct sched_user *back, uint64_t now_ns)
{
	double level = 0, unit = scale(s, now_ns);
	const struct sched_user *u;
	bool any = false;

	for (u = s->users; u; u = u->next) {
		double had = (u->used - u->pledged) / u->share;

		if (u->n_jobs == 0 || u == back)
			continue;
		if (!any || had < level)
			level = had;
		any = true;
	}
	if (!any || !s->begun || unit <= 0)
		return;
	level -= s->policy.credit_h / unit;
	if (back->used / back->share < level)
		back->used = level * back->share;
}

int sched_job_own(struct sched *s, struct sched_job *j, uint64_t now_ns)
{
	struct sched_user *u;

	if (j->owner)
		return 0;
	u = sched_user_get(s, j->user ? j->user : "");
	if (!u) {
		s->short_of_memory = true;
		return -ENOMEM;
	}
	if (u->n_jobs++ == 0)
		limit_credit(s, u, now_ns);
	j->owner = u;
	return 0;
}

void sched_job_disown(struct sched *s, struct sched_job *j)
{
	(void)s;
	if (j->owner)
		j->owner->n_jobs--;
	j->owner = NULL;
}

/* By submitter, then by score; older jobs first, then the machines' order. */
int sched_entry_order(const struct sched_node *pa, const struct sched_node *pb)
{
	const struct sched_entry *ea = sched_const_owner(pa, struct sched_entry, node);
	const struct sched_entry *eb = sched_const_owner(pb, struct sched_entry, node);
	const struct sched_queue *a = ea->queue, *b = eb->queue;

	if (ea->user != eb->user)
		return ea->user->number < eb->user->number ? -1 : 1;
	if (a->job->base > b->job->base || a->job->base < b->job->base)
		return a->job->base > b->job->base ? -1 : 1;
	if (a->job->id != b->job->id)
		return a->job->id < b->job->id ? -1 : 1;
	return a->machine->number < b->machine->number ? -1
						       : a->machine->number > b->machine->number;
}
