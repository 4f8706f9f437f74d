/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: blocks nobody has looked at -> comparisons of their jobs -> sightings; open
 * regressions -> what is to be tried again, what has been and can be judged.
 * Failure modes: any query fails: the whole look does, and nothing of it is stored.
 */
#include "coordinator/server/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/coordinator.h"
#include "coordinator/server/jobs.h"

#define ARENA_BYTES (256u << 20)

/* ---- making and freeing ---- */

static void look_deinit(struct look *l)
{
	for (size_t i = 0; i < l->n_machines; i++) {
		free((char *)(uintptr_t)l->machines[i].name);
		free((char *)(uintptr_t)l->machines[i].vendor);
	}
	free(l->machines);
	free(l->forced);
	free(l->declined);
	for (size_t i = 0; i < l->n_replies; i++)
		protobuf_c_message_free_unpacked(l->replies[i], NULL);
	free(l->replies);
	store_regressions_free(l->open);
	store_recurrings_free(l->recurrings);
	store_notices_free(l->notices);
	kg_arena_deinit(&l->arena);
}

void look_free(struct look *l)
{
	look_deinit(l);
	free(l);
}

static void look_finish(struct work *w)
{
	struct look *l = (struct look *)w;

	l->finish(l, l->arg);
	look_deinit(l); /* the work frees the rest */
}

/* Keeps a reply, whose texts are used. Takes it always. */
static int keep(struct look *l, ProtobufCMessage *reply)
{
	ProtobufCMessage **grown = realloc(l->replies, (l->n_replies + 1) * sizeof(*grown));

	if (!grown) {
		protobuf_c_message_free_unpacked(reply, NULL);
		return -ENOMEM;
	}
	l->replies = grown;
	grown[l->n_replies++] = reply;
	return 0;
}

/* A list in the arena that grows by doubling. */
static void *grow(struct kg_arena *a, void *list, size_t n, size_t size)
{
	void *grown = list;

	if (n > 0 && (n & (n - 1)) != 0)
		return list;
	grown = kg_arena_alloc(a, (n ? 2 * n : 1) * size);
	if (grown && n)
		memcpy(grown, list, n * size);
	return grown;
}

static char *copy(struct kg_arena *a, const char *text)
{
	return kg_arena_text(a, text, strlen(text));
}

/* ---- new blocks ---- */

static void on_block(void *arg, uint64_t job, const char *machine, uint32_t block)
{
	struct look *l = arg;
	struct look_block *b = grow(&l->arena, l->blocks, l->n_blocks, sizeof(*b));
	char *name = copy(&l->arena, machine);

	if (!b || !name) {
		l->w.rc = -ENOMEM;
		return;
	}
	l->blocks = b;
	b[l->n_blocks++] = (struct look_block){.job = job, .machine = name, .block = block};
}

static int add_sighting(struct look *l, const struct store_sighting *s)
{
	struct store_sighting *list;

	if (s->n_members == 0)
		return 0;
	list = grow(&l->arena, l->sightings, l->n_sightings, sizeof(*list));
	if (!list)
		return -ENOMEM;
	l->sightings = list;
	list[l->n_sightings++] = *s;
	return 0;
}

/* Comparisons of a large history take minutes, and nothing of a look is kept then. */
static int go_on(struct look *l)
{
	return l->w.c->stopping ? kg_err_set(&l->w.err, KG_ESTATE, "the coordinator is ending") : 0;
}

static int ask(struct look *l, uint64_t job, const char *baseline, Kgrid__V1__CompareReply **ret)
{
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	int rc = go_on(l);

	rq.has_job = 1;
	rq.job = job;
	rq.baseline = (char *)(uintptr_t)baseline;
	if (rc == 0)
		rc = query_compare(l->w.c->query, &rq, ret, &l->w.err);
	return rc < 0 ? rc : keep(l, &(*ret)->base);
}

/* The workload of a job's tables on a machine when there is one; NULL: several. */
static char *only_workload(const Kgrid__V1__CompareReply *overview, const char *machine)
{
	char *only = NULL;

	for (size_t i = 0; i < overview->n_tables; i++) {
		const Kgrid__V1__CompareTable *t = overview->tables[i];

		if (!kg_streq(t->machine, machine))
			continue;
		if (only && !kg_streq(only, t->workload))
			return NULL;
		only = t->workload;
	}
	return only;
}

/* Series over kernels on a machine with new blocks: those of other machines are as they were. */
static int sight_series(struct look *l, uint64_t job, const char *machine,
			const Kgrid__V1__CompareReply *overview)
{
	Kgrid__V1__HistoryRequest rq = KGRID__V1__HISTORY_REQUEST__INIT;
	Kgrid__V1__Selection select = KGRID__V1__SELECTION__INIT;
	Kgrid__V1__HistoryReply *h;
	struct store_sighting *list;
	size_t n;
	int rc = go_on(l);

	select.has_all_jobs = select.all_jobs = 1;
	select.machine = (char *)(uintptr_t)machine;
	select.workload = only_workload(overview, machine);
	rq.select = &select;
	if (rc == 0)
		rc = query_history(l->w.c->query, &rq, &h, &l->w.err);
	if (rc < 0)
		return rc;
	rc = keep(l, &h->base);
	if (rc == 0)
		rc = sighting_of_history(h, overview, job, kg_realtime_ns(), &l->arena, &list, &n);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = add_sighting(l, &list[i]);
	return rc;
}

static int sight_history(struct look *l, uint64_t job, const Kgrid__V1__CompareReply *overview)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < l->n_blocks; i++) {
		size_t k = 0;

		if (l->blocks[i].job != job)
			continue;
		while (k < i && (l->blocks[k].job != job ||
				 strcmp(l->blocks[k].machine, l->blocks[i].machine) != 0))
			k++;
		if (k == i) /* of several blocks of a machine once */
			rc = sight_series(l, job, l->blocks[i].machine, overview);
	}
	return rc;
}

static int sight_job(struct look *l, uint64_t job)
{
	Kgrid__V1__CompareReply *r, *overview;
	struct sighting_questions q = {0};
	int rc = ask(l, job, NULL, &overview);

	if (rc == 0)
		rc = sighting_questions(overview, &l->arena, &q);
	for (size_t i = 0; rc == 0 && i < q.n; i++) {
		struct store_sighting s;

		rc = ask(l, job, q.items[i].baseline, &r);
		if (rc == 0)
			rc = sighting_of(r, &q.items[i], job, kg_realtime_ns(), &l->arena, &s);
		if (rc == 0)
			rc = add_sighting(l, &s);
	}
	return rc == 0 ? sight_history(l, job, overview) : rc;
}

static int look_blocks(struct look *l)
{
	uint64_t before = 0;
	int rc = query_undetected(l->w.c->query, 0, on_block, l, &l->w.err);

	if (rc == 0)
		rc = l->w.rc;
	for (size_t i = 0; rc == 0 && i < l->n_blocks; i++) {
		if (l->blocks[i].job == before)
			continue; /* blocks come ordered by job */
		before = l->blocks[i].job;
		rc = sight_job(l, before);
	}
	return rc;
}

/* ---- open regressions ---- */

static bool holds(const uint64_t *list, size_t n, uint64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

/* What this look saw is stored after it: a confirmation that is made now would not know it. */
static bool saw_job(const struct look *l, uint64_t job)
{
	for (size_t i = 0; i < l->n_blocks; i++)
		if (l->blocks[i].job == job)
			return true;
	return false;
}

static void on_newer_block(void *arg, uint64_t job, const char *machine, uint32_t block)
{
	bool *found = arg;

	(void)job;
	(void)machine;
	(void)block;
	*found = true;
}

/* Whether all blocks of a job were looked at by earlier looks. */
static int seen_whole(struct look *l, uint64_t job, bool *ret)
{
	bool newer = false;
	int rc = 0;

	if (!saw_job(l, job))
		rc = query_undetected(l->w.c->query, job, on_newer_block, &newer, &l->w.err);
	*ret = !saw_job(l, job) && !newer;
	return rc;
}

static const Kgrid__V1__JobSummary *find_job(const Kgrid__V1__JobsReply *jobs, uint64_t id)
{
	for (size_t i = 0; i < jobs->n_jobs; i++)
		if (jobs->jobs[i]->id == id)
			return jobs->jobs[i];
	return NULL;
}

static uint64_t newest_job(const struct store_regression *r)
{
	uint64_t job = 0;

	for (size_t i = 0; i < r->n_members; i++)
		if (r->members[i].job > job)
			job = r->members[i].job;
	return job;
}

/* The job file of the job that showed it; NULL with a code when it cannot be read. */
static int read_origin(struct look *l, uint64_t job, struct job_spec **ret)
{
	Kgrid__V1__JobReply *r;
	int rc = query_job(l->w.c->query, job, &r, &l->w.err);

	if (rc == 0)
		rc = keep(l, &r->base);
	if (rc == 0)
		rc = job_reply_parse(r, ret, &l->w.err);
	return rc;
}

/* What the budget of the job has left for a confirmation; false: nothing. */
static bool budget_left(const struct job_spec *origin, const Kgrid__V1__JobSummary *job,
			uint64_t *ret_ns)
{
	int64_t spent = job->ended_ns - job->submitted_ns;

	*ret_ns = 0;
	if (!confirm_fits(origin, spent > 0 ? (uint64_t)spent : 0, 0))
		return false;
	if (origin->budget_ns)
		*ret_ns = origin->budget_ns - (spent > 0 ? (uint64_t)spent : 0);
	return !origin->budget_ns || *ret_ns > 0;
}

static int prepare(struct look *l, const struct store_regression *r,
		   const Kgrid__V1__JobSummary *job, bool forced)
{
	struct look_confirm *x = grow(&l->arena, l->confirms, l->n_confirms, sizeof(*x));
	struct job_spec *origin = NULL;
	struct kg_err err = {""};
	struct kg_str text = {0};
	int rc;

	if (!x)
		return -ENOMEM;
	l->confirms = x;
	x += l->n_confirms++;
	*x = (struct look_confirm){.regression = r->id};
	rc = read_origin(l, job->id, &origin);
	if (rc < 0) {
		x->refused = copy(&l->arena, l->w.err.text);
		return x->refused ? 0 : -ENOMEM;
	}
	if (!forced && !origin->confirm)
		x->refused = "the job file says 'confirm: false'";
	else if (!forced && !budget_left(origin, job, &x->budget_ns))
		x->refused = "the budget of the job is spent";
	else if (confirm_job_text(r, origin, l->machines, l->n_machines, &text, &err) < 0)
		x->refused = copy(&l->arena, err.text);
	else
		x->text = copy(&l->arena, kg_str_text(&text));
	job_spec_free(origin);
	kg_str_deinit(&text);
	return x->refused || x->text ? 0 : -ENOMEM;
}

static int copy_targets(struct look *l, const struct job_spec *origin, struct look_judged *j)
{
	char **targets = kg_arena_alloc(&l->arena, (origin->notify.n + 1) * sizeof(*targets));

	if (!targets)
		return -ENOMEM;
	for (size_t i = 0; i < origin->notify.n; i++) {
		targets[i] = copy(&l->arena, origin->notify.items[i]);
		if (!targets[i])
			return -ENOMEM;
	}
	j->targets = (const char *const *)targets;
	j->n_targets = origin->notify.n;
	return 0;
}

/* People are told of what was confirmed; whoever cannot be found out is not told. */
static int add_notice(struct look *l, const struct store_regression *r, struct look_judged *j)
{
	struct job_spec *origin = NULL;
	struct kg_str s = {0};
	int rc = 0;

	if (read_origin(l, newest_job(r), &origin) < 0)
		return 0;
	confirm_notice(r, j->step.text, &s);
	j->notice = s.failed ? NULL : copy(&l->arena, kg_str_text(&s));
	rc = j->notice ? copy_targets(l, origin, j) : -ENOMEM;
	kg_str_deinit(&s);
	job_spec_free(origin);
	return rc;
}

static int judge(struct look *l, const struct store_regression *r)
{
	struct look_judged *j = grow(&l->arena, l->judged, l->n_judged, sizeof(*j));
	Kgrid__V1__CompareReply *reply;
	struct confirm_result result;
	struct kg_str baseline = {0};
	int rc;

	if (!j)
		return -ENOMEM;
	l->judged = j;
	j += l->n_judged;
	*j = (struct look_judged){0};
	kg_str_addf(&baseline, r->lsm_axis ? "*/%s" : "%s/*", r->from_label);
	rc = ask(l, r->confirm_job, kg_str_text(&baseline), &reply);
	kg_str_deinit(&baseline);
	if (rc == 0)
		rc = confirm_judge(r, reply, l->machines, l->n_machines, &l->arena, &result);
	if (rc < 0)
		return rc;
	j->step = (struct store_regression_step){
		.regression = r->id,
		.stage = result.confirmed ? STORE_STAGE_CONFIRMED : STORE_STAGE_REFUTED,
		.members = result.members,
		.n_members = result.n_members,
		.text = result.text,
		.now_ns = kg_realtime_ns(),
	};
	l->n_judged++;
	return result.confirmed ? add_notice(l, r, j) : 0;
}

/* A confirmation's job was cancelled, or does not say anything: back to a candidate would try for
 * ever. */
static int judge_failed(struct look *l, const struct store_regression *r, const char *why)
{
	struct look_judged *j = grow(&l->arena, l->judged, l->n_judged, sizeof(*j));

	if (!j)
		return -ENOMEM;
	l->judged = j;
	j[l->n_judged++] = (struct look_judged){.step = {
							.regression = r->id,
							.stage = STORE_STAGE_REFUTED,
							.text = why,
							.now_ns = kg_realtime_ns(),
						}};
	return 0;
}

static int look_regression(struct look *l, const struct store_regression *r,
			   const Kgrid__V1__JobsReply *jobs)
{
	bool forced = holds(l->forced, l->n_forced, r->id);
	const Kgrid__V1__JobSummary *job;
	bool whole;
	int rc;

	if (r->stage == STORE_STAGE_CONFIRMING) {
		job = find_job(jobs, r->confirm_job);
		if (!job || kg_streq(job->state, "cancelled"))
			return judge_failed(l, r,
					    "not confirmed: the job that tried it was cancelled");
		return kg_streq(job->state, "done") ? judge(l, r) : 0;
	}
	if (!forced && (holds(l->declined, l->n_declined, r->id) || kg_streq(r->state, "fixed")))
		return 0;
	job = find_job(jobs, newest_job(r));
	if (!job || (!forced && !kg_streq(job->state, "done")))
		return 0; /* more of its blocks may come, or a person has ended it */
	rc = seen_whole(l, job->id, &whole);
	if (rc < 0 || (!forced && !whole))
		return rc; /* with the next look */
	return prepare(l, r, job, forced);
}

static int look_open(struct look *l)
{
	Kgrid__V1__JobsReply *jobs;
	int rc = query_regressions_open(l->w.c->query, &l->open, &l->w.err);

	if (rc < 0 || l->open->n == 0)
		return rc;
	rc = query_jobs(l->w.c->query, &jobs, &l->w.err);
	if (rc == 0)
		rc = keep(l, &jobs->base);
	for (size_t i = 0; rc == 0 && i < l->open->n; i++)
		rc = look_regression(l, &l->open->items[i], jobs);
	return rc;
}

static void look_run(struct work *w)
{
	struct look *l = (struct look *)w;
	int rc = look_blocks(l);

	if (rc == 0)
		rc = look_open(l);
	if (rc == 0)
		rc = query_recurring(w->c->query, &l->recurrings, &w->err);
	if (rc == 0)
		rc = query_notices(w->c->query, &l->notices, &w->err);
	if (rc < 0 && !w->err.text[0])
		kg_err_set(&w->err, rc, "%s", kg_strerror(rc));
	w->rc = rc;
}

struct look *look_new(void (*finish)(struct look *l, void *arg), void *arg)
{
	struct look *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	kg_arena_init(&l->arena, ARENA_BYTES);
	l->finish = finish;
	l->arg = arg;
	l->w.run = look_run;
	l->w.finish = look_finish;
	return l;
}

void look_start(struct coordinator *c, struct look *l)
{
	work_start_internal(c, &l->w);
}
