/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: a kernel is added, or the hour comes: the stored file is planned and submitted like
 * any other, under a key of its own (standing job and kernel, or standing job and hour), so that no
 * crash makes two jobs of one reason.
 * Failure modes: it cannot be planned any more (machine gone, list unknown): the reason is kept with
 * the standing job, and the next time is tried in its turn; its last job is not over yet: it is left
 * out once, and says so; the coordinator was down: a night is made up for once, kernels of the last
 * day are.
 */
#include "coordinator/server/standing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/server/jobs.h"

#define DAY_NS	  (86400 * (int64_t)KG_NSEC_PER_SEC)
#define MINUTE_NS (60 * (int64_t)KG_NSEC_PER_SEC)

/* ---- when ---- */

void standing_when(enum job_when when, uint32_t minute, char *buf, size_t size)
{
	if (when == JOB_WHEN_NIGHTLY)
		(void)snprintf(buf, size, "nightly at %02u:%02u, local time of the coordinator",
			       minute / 60, minute % 60);
	else if (when == JOB_WHEN_KERNEL_ADDED)
		(void)snprintf(buf, size, "when a kernel is added");
	else
		(void)snprintf(buf, size, "now");
}

int64_t standing_next(int64_t now_ns, uint32_t minute)
{
	time_t now = (time_t)(now_ns / (int64_t)KG_NSEC_PER_SEC);
	struct tm tm;
	time_t at;
	int days;

	for (days = 0; days < 3; days++) {
		if (!localtime_r(&now, &tm))
			break;
		tm.tm_mday += days;
		tm.tm_hour = (int)(minute / 60);
		tm.tm_min = (int)(minute % 60);
		tm.tm_sec = 0;
		tm.tm_isdst = -1;
		at = mktime(&tm);
		if (at > now)
			return (int64_t)at * (int64_t)KG_NSEC_PER_SEC;
	}
	return now_ns + DAY_NS;
}

void standing_init(struct standing *s, struct coordinator *c)
{
	*s = (struct standing){.c = c, .dirty = true};
}

void standing_deinit(struct standing *s)
{
	free(s->made);
}

void standing_dirty(struct standing *s)
{
	s->dirty = true;
}

static bool was_made(const struct standing *s, uint64_t id, const char *kernel)
{
	size_t i;

	for (i = 0; i < s->n_made; i++)
		if (s->made[i].standing == id && strcmp(s->made[i].kernel, kernel) == 0)
			return true;
	return false;
}

static void note_made(struct standing *s, uint64_t id, const char *kernel)
{
	struct standing_made *grown = realloc(s->made, (s->n_made + 1) * sizeof(*grown));

	if (!grown)
		return; /* submitted again, and known by its key */
	s->made = grown;
	grown[s->n_made].standing = id;
	(void)snprintf(grown[s->n_made++].kernel, sizeof(grown->kernel), "%s", kernel);
}

/* ---- making a job of one ---- */

struct due {
	struct coordinator *c;
	struct session *session; /* referenced; a person asked: `kgrid standing run` */
	uint32_t request;
	uint64_t standing, last_job;
	int64_t next_ns;
};

static void due_free(struct due *d)
{
	if (d->session)
		session_unref(d->session);
	free(d);
}

static void on_due_submitted(void *arg, int rc, uint64_t job, const char *text)
{
	struct due *d = arg;
	Kgrid__V1__StandingReply r = KGRID__V1__STANDING_REPLY__INIT;
	char said[480];

	if (d->c->stopping) {
		due_free(d);
		return;
	}
	if (rc < 0)
		(void)snprintf(said, sizeof(said), "no job was made: %s", text);
	else
		(void)snprintf(said, sizeof(said), "made job %llu", (unsigned long long)job);
	kg_log_info("standing job %llu: %s", (unsigned long long)d->standing, said);
	(void)store_standing_ran(d->c->store, d->standing, rc < 0 ? 0 : job, rc < 0 ? said : NULL,
				 d->next_ns, (struct store_done){0});
	r.done = said;
	if (d->session && rc < 0)
		session_error(d->session, d->request, rc, said);
	else if (d->session)
		session_send(d->session, KG_MSG_STANDING_REPLY, d->request, &r.base);
	due_free(d);
}

static bool is_live(const struct coordinator *c, uint64_t job)
{
	const struct sched_job *j = sched_job_find((struct sched *)(uintptr_t)&c->sched, job);

	return j && (j->state == SCHED_JOB_QUEUED || j->state == SCHED_JOB_RUNNING);
}

static int submit_due(struct due *d, const struct store_standing *x, const char *key,
		      const char *kernel)
{
	struct job_file *files = calloc(x->n_files + 1, sizeof(*files));
	size_t i;
	int rc;

	if (!files)
		return -ENOMEM;
	for (i = 0; i < x->n_files; i++)
		files[i] = (struct job_file){.name = x->files[i].name, .text = x->files[i].text};
	rc = jobs_submit(d->c, &(struct jobs_order){
				       .text = x->text,
				       .file_name = x->file_name,
				       .files = files,
				       .n_files = x->n_files,
				       .user = x->user,
				       .client_key = key,
				       .standing = x->id,
				       .added_kernel = kernel,
				       .done = on_due_submitted,
				       .arg = d,
			       });
	free(files);
	return rc;
}

static struct due *due_new(struct coordinator *c, const struct store_standing *x)
{
	struct due *d = calloc(1, sizeof(*d));

	if (d) {
		d->c = c;
		d->standing = x->id;
		d->last_job = x->last_job;
		d->next_ns = x->next_ns;
	}
	return d;
}

static void start(struct coordinator *c, const struct store_standing *x, const char *key,
		  const char *kernel, int64_t next_ns)
{
	struct due *d = due_new(c, x);
	char text[120];

	if (!d)
		return;
	d->next_ns = next_ns;
	if (!kernel && is_live(c, x->last_job)) {
		(void)snprintf(text, sizeof(text), "its last job %llu is not over yet",
			       (unsigned long long)x->last_job);
		on_due_submitted(d, KG_ESTATE, 0, text);
		return;
	}
	if (submit_due(d, x, key, kernel) < 0)
		due_free(d); /* the next look tries again */
}

/* ---- looking for what is due ---- */

struct look {
	struct work w;
	struct store_standings *all;
	struct store_kernels *kernels;
};

static void look_run(struct work *w)
{
	struct look *l = (struct look *)w;

	w->rc = query_standing(w->c->query, &l->all, &w->err);
	if (w->rc == 0 && l->all->n > 0)
		w->rc = query_kernel_list(w->c->query, &l->kernels, &w->err);
}

static void look_kernels(struct standing *s, const struct store_standing *x,
			 const struct store_kernels *kernels, int64_t now)
{
	char key[96];
	size_t i;

	for (i = 0; i < kernels->n; i++) {
		const struct store_kernel *k = &kernels->items[i];

		if (k->added_ns <= x->added_ns || k->added_ns < now - DAY_NS ||
		    was_made(s, x->id, k->digest) || !inventory_kernel(&s->c->inventory, k->digest))
			continue;
		note_made(s, x->id, k->digest);
		(void)snprintf(key, sizeof(key), "standing-%llu-%.64s", (unsigned long long)x->id,
			       k->digest);
		start(s->c, x, key, k->digest, 0);
	}
}

static void look_night(struct standing *s, const struct store_standing *x, int64_t now)
{
	char key[96];
	int64_t next = standing_next(now, x->minute);

	/* A clock that was set back must not put it off for years. */
	if (x->next_ns <= now || x->next_ns > now + 2 * DAY_NS) {
		(void)snprintf(key, sizeof(key), "standing-%llu-%lld", (unsigned long long)x->id,
			       (long long)x->next_ns);
		start(s->c, x, key, NULL, next);
	} else {
		next = x->next_ns;
	}
	if (s->next_ns == 0 || next < s->next_ns)
		s->next_ns = next;
}

static void look_finish(struct work *w)
{
	struct look *l = (struct look *)w;
	struct standing *s = &w->c->standing;
	int64_t now = kg_realtime_ns();
	size_t i;

	s->asking = false;
	if (w->rc < 0)
		kg_log_err("cannot look for standing jobs: %s", w->err.text);
	else if (!w->c->stopping)
		for (s->next_ns = 0, i = 0; i < l->all->n; i++) {
			const struct store_standing *x = &l->all->items[i];

			if (strcmp(x->when, "nightly") == 0)
				look_night(s, x, now);
			else
				look_kernels(s, x, l->kernels, now);
		}
	store_standings_free(l->all);
	store_kernels_free(l->kernels);
}

void standing_tick(struct standing *s)
{
	int64_t now = kg_realtime_ns();
	struct look *l;

	if (s->next_ns && (now >= s->next_ns || s->next_ns > now + 2 * DAY_NS))
		s->dirty = true;
	if (!s->dirty || s->asking || s->c->stopping)
		return;
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	s->dirty = false;
	s->asking = true;
	s->next_ns = now + MINUTE_NS; /* until the look knows better */
	l->w.run = look_run;
	l->w.finish = look_finish;
	work_start_internal(s->c, &l->w);
}

/* ---- requests ---- */

struct ask {
	struct work w;
	struct store_standings *all;
};

static void ask_run(struct work *w)
{
	struct ask *a = (struct ask *)w;

	w->rc = query_standing(w->c->query, &a->all, &w->err);
}

static const struct store_standing *find(const struct store_standings *all, uint64_t id)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->items[i].id == id)
			return &all->items[i];
	return NULL;
}

static void fill(const struct store_standing *x, bool text, Kgrid__V1__StandingInfo *i,
		 char when[160])
{
	bool nightly = strcmp(x->when, "nightly") == 0;

	kgrid__v1__standing_info__init(i);
	standing_when(nightly ? JOB_WHEN_NIGHTLY : JOB_WHEN_KERNEL_ADDED, x->minute, when, 160);
	i->has_id = 1;
	i->id = x->id;
	i->name = (char *)(uintptr_t)x->name;
	i->user = (char *)(uintptr_t)x->user;
	i->when = when;
	i->has_next_ns = nightly;
	i->next_ns = x->next_ns;
	i->has_last_job = x->last_job != 0;
	i->last_job = x->last_job;
	i->last_error = (char *)(uintptr_t)x->last_error;
	i->text = text ? (char *)(uintptr_t)x->text : NULL;
}

static void show(struct ask *a, uint64_t id)
{
	Kgrid__V1__StandingReply r = KGRID__V1__STANDING_REPLY__INIT;
	Kgrid__V1__StandingInfo *infos = calloc(a->all->n + 1, sizeof(*infos));
	Kgrid__V1__StandingInfo **list = calloc(a->all->n + 1, sizeof(*list));
	char(*when)[160] = calloc(a->all->n + 1, sizeof(*when));
	size_t i;

	if (!infos || !list || !when) {
		session_error(a->w.session, a->w.id, -ENOMEM, "out of memory");
	} else {
		for (i = 0; i < a->all->n; i++) {
			if (id && a->all->items[i].id != id)
				continue;
			fill(&a->all->items[i], id != 0, &infos[i], when[i]);
			list[r.n_standing++] = &infos[i];
		}
		r.standing = list;
		session_send(a->w.session, KG_MSG_STANDING_REPLY, a->w.id, &r.base);
	}
	free(infos);
	free(list);
	free(when);
}

struct removal {
	struct session *session; /* referenced */
	uint32_t id;
	uint64_t standing;
};

static void on_removed(void *arg, const struct store_result *r)
{
	struct removal *rm = arg;
	Kgrid__V1__StandingReply reply = KGRID__V1__STANDING_REPLY__INIT;
	char text[96];

	(void)snprintf(text, sizeof(text), "standing job %llu is removed; jobs that it made stay",
		       (unsigned long long)rm->standing);
	reply.done = text;
	if (r->rc < 0)
		session_error(rm->session, rm->id, r->rc, r->text);
	else
		session_send(rm->session, KG_MSG_STANDING_REPLY, rm->id, &reply.base);
	session_unref(rm->session);
	free(rm);
}

static void remove_one(struct ask *a, uint64_t id)
{
	struct removal *rm = calloc(1, sizeof(*rm));
	int rc = -ENOMEM;

	if (rm) {
		rm->session = a->w.session;
		rm->id = a->w.id;
		rm->standing = id;
		session_ref(rm->session);
		rc = store_standing_remove(a->w.c->store, id, kg_realtime_ns(),
					   (struct store_done){.fn = on_removed, .arg = rm});
	}
	if (rc == 0)
		return;
	session_error(a->w.session, a->w.id, rc, kg_strerror(rc));
	if (rm)
		session_unref(rm->session);
	free(rm);
}

static void run_one(struct ask *a, const struct store_standing *x)
{
	struct coordinator *c = a->w.c;
	struct due *d = due_new(c, x);
	const struct inventory *inv = &c->inventory;
	bool nightly = strcmp(x->when, "nightly") == 0;
	const char *kernel =
		nightly || !inv->n_kernels ? NULL : inv->kernels[inv->n_kernels - 1]->digest;

	if (!d) {
		session_error(a->w.session, a->w.id, -ENOMEM, "out of memory");
		return;
	}
	d->session = a->w.session;
	d->request = a->w.id;
	session_ref(d->session);
	if (submit_due(d, x, NULL, kernel) < 0)
		on_due_submitted(d, -ENOMEM, 0, "out of memory");
}

static void ask_finish(struct work *w)
{
	struct ask *a = (struct ask *)w;
	const Kgrid__V1__StandingRequest *rq = WORK_BODY(w, Kgrid__V1__StandingRequest);
	const struct store_standing *x;
	char text[96];

	if (w->rc < 0) {
		session_error(w->session, w->id, w->rc, w->err.text);
		return;
	}
	x = rq->id ? find(a->all, rq->id) : NULL;
	(void)snprintf(text, sizeof(text), "there is no standing job %llu",
		       (unsigned long long)rq->id);
	if (w->c->stopping)
		session_error(w->session, w->id, KG_ESTATE, "the coordinator is ending");
	else if (rq->id && !x)
		session_error(w->session, w->id, KG_ENOTFOUND, text);
	else if (!rq->action || !rq->action[0])
		show(a, rq->id);
	else if (!x)
		session_error(w->session, w->id, KG_EINVALID, "which standing job?");
	else if (strcmp(rq->action, "remove") == 0)
		remove_one(a, x->id);
	else if (strcmp(rq->action, "run") == 0)
		run_one(a, x);
	else
		session_error(w->session, w->id, KG_EINVALID,
			      "unknown action; expected remove or run");
	store_standings_free(a->all);
	a->all = NULL;
}

void handle_standing(const struct request *rq)
{
	struct ask *a = calloc(1, sizeof(*a));

	if (a) {
		a->w.run = ask_run;
		a->w.finish = ask_finish;
	}
	work_start(rq, a ? &a->w : NULL);
}
