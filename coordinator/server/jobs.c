/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that are there: cancel, retry, pause, resume, another priority, more blocks. The store
 * decides (it knows jobs that are over), then the scheduler follows; a cancel goes the other way
 * round, so that nothing begins between the two.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/plan/plan.h"
#include "coordinator/server/jobs.h"

enum change_kind { CANCEL, RETRY, PAUSE, RESUME, PRIORITY, EXTEND };

struct change {
	struct session *session; /* referenced */
	uint32_t id;
	uint64_t job;
	enum change_kind kind;
	uint32_t value; /* priority; blocks */
};

static struct change *change_new(struct session *x, uint32_t id, uint64_t job,
				 enum change_kind kind)
{
	struct change *ch = calloc(1, sizeof(*ch));

	if (!ch) {
		session_error(x, id, -ENOMEM, "out of memory");
		return NULL;
	}
	ch->session = x;
	session_ref(x);
	ch->id = id;
	ch->job = job;
	ch->kind = kind;
	return ch;
}

static void change_free(struct change *ch)
{
	session_unref(ch->session);
	free(ch);
}

static void say(const struct change *ch, const struct store_result *r)
{
	char text[160];
	unsigned long long job = ch->job, count = r->count;

	switch (ch->kind) {
	case CANCEL:
		(void)snprintf(text, sizeof(text), "job %llu: %llu slot%s cancelled", job, count,
			       count == 1 ? "" : "s");
		break;
	case RETRY:
		(void)snprintf(text, sizeof(text), "job %llu: %llu slot%s pending again", job,
			       count, count == 1 ? "" : "s");
		break;
	case PAUSE:
		(void)snprintf(text, sizeof(text),
			       "job %llu is paused: boots in progress are finished, none begins",
			       job);
		break;
	case RESUME:
		(void)snprintf(text, sizeof(text), "job %llu goes on", job);
		break;
	case PRIORITY:
		(void)snprintf(text, sizeof(text), "job %llu has priority %u", job, ch->value);
		break;
	case EXTEND:
		(void)snprintf(text, sizeof(text), "job %llu: %u more block%s, %llu slot%s", job,
			       ch->value, ch->value == 1 ? "" : "s", count, count == 1 ? "" : "s");
		break;
	}
	session_done(ch->session, ch->id, text);
}

/* What the store has, the scheduler does. A job that it no longer holds is over. */
static void follow(const struct change *ch)
{
	struct coordinator *c = ch->session->server->c;
	uint64_t now = kg_boottime_ns();

	if (c->stopping)
		return;
	jobs_changed(c, ch->job);
	switch (ch->kind) {
	case CANCEL: /* it may have come since */
		sched_job_cancelled(&c->sched, ch->job, now);
		break;
	case RETRY:
	case EXTEND:
		jobs_load(c, ch->job);
		break;
	case PAUSE:
	case RESUME:
		(void)sched_job_pause(&c->sched, ch->job, ch->kind == PAUSE, now);
		break;
	case PRIORITY:
		(void)sched_job_reprioritise(&c->sched, ch->job, ch->value, now);
		break;
	}
}

static void on_changed(void *arg, const struct store_result *r)
{
	struct change *ch = arg;

	if (r->rc < 0) {
		session_error(ch->session, ch->id, r->rc, r->text);
	} else {
		follow(ch);
		say(ch, r);
		watch_dirty(ch->session->server, ch->job);
	}
	change_free(ch);
}

static int store_change(struct coordinator *c, struct change *ch)
{
	struct store_done done = {.fn = on_changed, .arg = ch};
	int64_t now = kg_realtime_ns();

	if (ch->kind == CANCEL)
		return store_job_cancel(c->store, ch->job, now, ch->session->user, done);
	if (ch->kind == RETRY)
		return store_job_retry(c->store, ch->job, now, ch->session->user, done);
	return store_job_change(c->store,
				&(struct store_job_change){
					.job = ch->job,
					.set_paused = ch->kind != PRIORITY,
					.paused = ch->kind == PAUSE,
					.set_priority = ch->kind == PRIORITY,
					.priority = ch->value,
					.now_ns = now,
					.user = ch->session->user,
				},
				done);
}

static void change_job(const struct request *rq, uint64_t job, enum change_kind kind,
		       uint32_t value)
{
	struct change *ch = change_new(rq->session, rq->id, job, kind);
	int rc;

	if (!ch)
		return;
	ch->value = value;
	rc = store_change(rq->c, ch);
	if (rc < 0) {
		session_error(rq->session, rq->id, rc, kg_strerror(rc));
		change_free(ch);
	}
}

void handle_job_cancel(const struct request *rq)
{
	uint64_t job = REQUEST_BODY(rq, Kgrid__V1__JobCancelRequest)->job;

	if (!job) {
		session_error(rq->session, rq->id, KG_EINVALID,
			      "which job? cancel needs its number");
		return;
	}
	/* The scheduler first: what it settles goes into the store's queue before the cancel. */
	sched_job_cancelled(&rq->c->sched, job, kg_boottime_ns());
	change_job(rq, job, CANCEL, 0);
}

void handle_job_retry(const struct request *rq)
{
	uint64_t job = REQUEST_BODY(rq, Kgrid__V1__JobRetryRequest)->job;

	if (!job) {
		session_error(rq->session, rq->id, KG_EINVALID,
			      "which job? retry needs its number");
		return;
	}
	change_job(rq, job, RETRY, 0);
}

/* ---- more blocks ---- */

struct extend {
	struct work w;
	uint64_t job;
	uint32_t blocks;
	uint32_t first_block;
	struct plan_slot *slots;
	size_t n_slots;
};

static int plan_more(struct extend *e, const struct store_job *j)
{
	struct plan_known_cell *cells = calloc(j->n_cells + 1, sizeof(*cells));
	uint32_t *last = calloc(j->n_cells + 1, sizeof(*last));
	size_t i;
	int rc;

	for (i = 0; cells && i < j->n_cells; i++)
		cells[i] = (struct plan_known_cell){
			.machine = j->cells[i].machine,
			.kernel = j->cells[i].kernel,
			.lsm_effective = j->cells[i].lsm_effective,
			.cmdline = j->cells[i].cmdline,
			.settings = j->cells[i].settings,
			.peer = j->cells[i].peer,
			.canary = j->cells[i].canary,
			.leave_by_reboot = j->cells[i].leave_by_reboot,
		};
	for (i = 0; cells && last && i < j->n_slots; i++) {
		const struct store_slot *s = &j->slots[i];
		size_t first = s->cell_index;

		cells[s->cell_index].infeasible |= s->outcome == KG_OUTCOME_INFEASIBLE;
		while (first > 0 &&
		       strcmp(j->cells[first - 1].machine, j->cells[s->cell_index].machine) == 0)
			first--;
		if (s->visit > last[first])
			last[first] = s->visit;
	}
	if (!cells || !last)
		rc = kg_err_set(&e->w.err, -ENOMEM, "out of memory");
	else
		rc = plan_extend(
			&(struct plan_extend_input){
				.cells = cells,
				.n_cells = j->n_cells,
				.seed = j->seed,
				.order = j->grouped ? JOB_GROUPED : JOB_INTERLEAVED,
				.first_block = e->first_block,
				.n_blocks = e->blocks,
				.last_visit = last,
				.max_slots = (uint64_t)e->w.c->cfg.max_slots,
			},
			&e->slots, &e->n_slots, &e->w.err);
	free(cells);
	free(last);
	return rc;
}

static void extend_run(struct work *w)
{
	struct extend *e = (struct extend *)w;
	struct store_job *j = NULL;

	w->rc = query_job_load(w->c->query, e->job, &j, &w->err);
	if (w->rc < 0)
		return;
	e->job = j->id; /* 0 was the newest */
	e->first_block = j->blocks + 1;
	if (e->blocks > JOB_MAX_BOOTS - (j->blocks < JOB_MAX_BOOTS ? j->blocks : JOB_MAX_BOOTS))
		w->rc = kg_err_set(&w->err, KG_ELIMIT,
				   "job %llu has %u blocks; with %u more it would have over %d",
				   (unsigned long long)j->id, j->blocks, e->blocks, JOB_MAX_BOOTS);
	else
		w->rc = plan_more(e, j);
	store_job_free(j);
}

static int store_more(struct extend *e, struct change *ch)
{
	struct store_slot *slots = calloc(e->n_slots + 1, sizeof(*slots));
	size_t i;
	int rc;

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < e->n_slots; i++)
		slots[i] = (struct store_slot){
			.cell_index = e->slots[i].cell,
			.block = e->slots[i].block,
			.visit = e->slots[i].visit,
			.position = e->slots[i].position,
			.outcome = e->slots[i].visit ? KG_OUTCOME_NONE : KG_OUTCOME_INFEASIBLE,
			.reason = e->slots[i].visit ? NULL : "as in the blocks before",
		};
	rc = store_job_extend(e->w.c->store,
			      &(struct store_job_extend){
				      .job = e->job,
				      .first_block = e->first_block,
				      .n_blocks = e->blocks,
				      .slots = slots,
				      .n_slots = e->n_slots,
				      .now_ns = kg_realtime_ns(),
			      },
			      (struct store_done){.fn = on_changed, .arg = ch});
	free(slots);
	return rc;
}

static void extend_finish(struct work *w)
{
	struct extend *e = (struct extend *)w;
	struct change *ch = NULL;
	int rc;

	if (w->rc < 0) {
		session_error(w->session, w->id, w->rc, w->err.text);
	} else if (!w->c->stopping) {
		ch = change_new(w->session, w->id, e->job, EXTEND);
	}
	if (ch) {
		ch->value = e->blocks;
		rc = store_more(e, ch);
		if (rc < 0) {
			session_error(w->session, w->id, rc, kg_strerror(rc));
			change_free(ch);
		}
	}
	free(e->slots);
}

static void extend_job(const struct request *rq, uint64_t job, uint32_t blocks)
{
	struct extend *e;

	if (blocks == 0 || blocks > JOB_MAX_BOOTS) {
		session_error(rq->session, rq->id, KG_EINVALID,
			      "blocks: expected a whole number from 1 to 1000");
		return;
	}
	e = calloc(1, sizeof(*e));
	if (e) {
		e->job = job;
		e->blocks = blocks;
		e->w.run = extend_run;
		e->w.finish = extend_finish;
	}
	work_start(rq, e ? &e->w : NULL);
}

void handle_job_change(const struct request *rq)
{
	const Kgrid__V1__JobChange *ch = REQUEST_BODY(rq, Kgrid__V1__JobChange);
	const char *action = ch->action ? ch->action : "";

	if (!ch->job)
		session_error(rq->session, rq->id, KG_EINVALID, "which job?");
	else if (strcmp(action, "pause") == 0)
		change_job(rq, ch->job, PAUSE, 0);
	else if (strcmp(action, "resume") == 0)
		change_job(rq, ch->job, RESUME, 0);
	else if (strcmp(action, "reprioritise") == 0 && ch->value <= 100)
		change_job(rq, ch->job, PRIORITY, ch->value);
	else if (strcmp(action, "reprioritise") == 0)
		session_error(rq->session, rq->id, KG_EINVALID,
			      "priority: expected a whole number from 0 to 100");
	else if (strcmp(action, "extend") == 0)
		extend_job(rq, ch->job, ch->value);
	else
		session_error(rq->session, rq->id, KG_EINVALID,
			      "unknown action; expected pause, resume, reprioritise or extend");
}
