/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why: what the scheduler says of now, then what the store says of before. A worker thread asks the
 * store, the loop thread adds the scheduler's part. One screen: what does not fit is counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "coordinator/coordinator.h"
#include "coordinator/plan/warn.h"
#include "coordinator/server/jobs.h"

#define SCREEN_LINES 22
#define SHOWN_OTHERS 4 /* machines that the job's predicate leaves out */

enum subject_kind { OF_JOB, OF_CELL, OF_MACHINE };

struct why {
	struct work w;
	enum subject_kind kind;
	uint64_t job;
	uint32_t cell;
	char machine[64];
	struct inv_snapshot inv;
	struct store_cell_detail *detail;
	struct kg_str heading;
	struct kg_texts lines;
};

/* "12", "job:12", "12/3", "cell:12/3", "lab-intel", "machine:lab-intel". */
static int parse_subject(const char *text, struct why *y, struct kg_err *err)
{
	char job[24];
	const char *slash = strchr(text, '/');
	uint64_t cell = 0;
	bool named = kg_str_starts(text, "machine:");

	if (kg_str_starts(text, "job:") || kg_str_starts(text, "cell:"))
		text = strchr(text, ':') + 1;
	else if (named)
		text += strlen("machine:");
	(void)snprintf(job, sizeof(job), "%.*s", slash ? (int)(slash - text) : 23, text);
	if (!named && kg_parse_u64(job, &y->job) == 0) {
		y->kind = slash ? OF_CELL : OF_JOB;
		if (slash && (kg_parse_u64(slash + 1, &cell) < 0 || cell == 0 || cell > UINT32_MAX))
			return kg_err_set(err, KG_EINVALID,
					  "'%.80s': expected JOB/CELL, such as 12/3", text);
		y->cell = (uint32_t)cell;
		return 0;
	}
	if (!kg_name_valid(text))
		return kg_err_set(err, KG_EINVALID,
				  "'%.80s': expected a job (12), a cell (12/3) or a machine", text);
	y->kind = OF_MACHINE;
	(void)snprintf(y->machine, sizeof(y->machine), "%s", text);
	return 0;
}

/* ---- on the worker thread ---- */

static void add(struct why *y, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct why *y, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (plan_texts_add(&y->lines, text) < 0)
		y->w.rc = kg_err_set(&y->w.err, -ENOMEM, "out of memory");
}

static bool has_machine(const Kgrid__V1__JobReply *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n_slots; i++)
		if (kg_streq(r->slots[i]->machine, name))
			return true;
	return false;
}

/* Machines that the job could have had, and which part of its predicate left them out. */
static void add_others(struct why *y, const Kgrid__V1__JobReply *r)
{
	struct job_spec *spec = NULL;
	struct kg_err ignored = {""};
	size_t i, left = 0;

	if (job_reply_parse(r, &spec, &ignored) < 0)
		return;
	for (i = 0; spec->machines.where && i < y->inv.n_machines; i++) {
		const struct predicate_machine *m = &y->inv.plan_machines[i].facts;
		struct kg_str why = {0};

		if (has_machine(r, m->name) || predicate_matches_machine(spec->machines.where, m))
			continue;
		if (left++ < SHOWN_OTHERS) {
			predicate_explain(spec->machines.where, m, &why);
			add(y, "machine %s is not in it: %.300s", m->name, kg_str_text(&why));
		}
		kg_str_deinit(&why);
	}
	if (left > SHOWN_OTHERS)
		add(y, "and %zu more machines do not match '%.160s'", left - SHOWN_OTHERS,
		    spec->machines.where_text);
	job_spec_free(spec);
}

static bool is_over(const Kgrid__V1__JobSummary *j)
{
	return kg_streq(j->state, "done") || kg_streq(j->state, "cancelled");
}

/* A job that ended while it was paused is over like any other. */
static const char *shown_state(const Kgrid__V1__JobSummary *j)
{
	return j->paused && !is_over(j) ? "paused" : j->state;
}

/* " (slots 24 = 10 pass + 14 skipped)" */
static void add_counts(struct kg_str *s, const Kgrid__V1__Accounting *a)
{
	size_t i;

	kg_str_addf(s, " (slots %" PRIu64 " = ", a->slots);
	for (i = 0; i < a->n_outcomes; i++)
		kg_str_addf(s, "%s%" PRIu64 " %s", i ? " + " : "", a->outcomes[i]->count,
			    a->outcomes[i]->outcome);
	kg_str_add(s, ")");
}

static void ask_job(struct why *y)
{
	struct work *w = &y->w;
	Kgrid__V1__JobReply *r = NULL;
	struct kg_texts before = {0};
	size_t i;

	w->rc = query_job(w->c->query, y->job, &r, &w->err);
	if (w->rc < 0)
		return;
	y->job = r->job->id;
	kg_str_addf(&y->heading, "job %" PRIu64 " '%s': %s", y->job, r->job->name,
		    shown_state(r->job));
	if (is_over(r->job) && r->job->accounting)
		add_counts(&y->heading, r->job->accounting);
	kg_str_addf(&y->heading, ", priority %" PRIu32 "%s%s", r->job->priority,
		    r->job->user && r->job->user[0] ? ", of " : "",
		    r->job->user ? r->job->user : "");
	/* In front of what happened before, which may be more than a screen. */
	add_others(y, r);
	if (w->rc == 0)
		w->rc = query_why_job(w->c->query, y->job, 0, &before, &w->err);
	for (i = 0; w->rc == 0 && i < before.n; i++)
		if (plan_texts_add(&y->lines, before.items[i]) < 0)
			w->rc = kg_err_set(&w->err, -ENOMEM, "out of memory");
	kg_texts_deinit(&before);
	protobuf_c_message_free_unpacked(&r->base, NULL);
}

static void ask_cell(struct why *y)
{
	struct work *w = &y->w;
	const struct store_cell *c;

	w->rc = query_cell(w->c->query, y->job, y->cell, &y->detail, &w->err);
	if (w->rc < 0)
		return;
	c = &y->detail->cell;
	y->job = y->detail->job;
	kg_str_addf(&y->heading, "cell %" PRIu64 "/%" PRIu32 ": %s %s %s%s%s %s %s%s%s", y->job,
		    y->cell, c->machine, c->kernel_label, c->lsm_label,
		    c->variant && c->variant[0] ? "+" : "", c->variant ? c->variant : "",
		    c->workload, c->params, c->peer && c->peer[0] ? " peer=" : "",
		    c->peer ? c->peer : "");
	w->rc = query_why_job(w->c->query, y->job, y->cell, &y->lines, &w->err);
}

static void why_run(struct work *w)
{
	struct why *y = (struct why *)w;

	switch (y->kind) {
	case OF_JOB:
		ask_job(y);
		break;
	case OF_CELL:
		ask_cell(y);
		break;
	case OF_MACHINE:
		kg_str_addf(&y->heading, "machine %s", y->machine);
		w->rc = query_why_machine(w->c->query, y->machine, &y->lines, &w->err);
		break;
	}
}

/* ---- on the loop thread ---- */

static int pending_slots(const struct why *y, uint64_t **ret, size_t *ret_n)
{
	const struct store_cell_detail *d = y->detail;
	uint64_t *ids = calloc(d->n_slots + 1, sizeof(*ids));
	size_t i, n = 0;

	if (!ids)
		return -ENOMEM;
	for (i = 0; i < d->n_slots; i++)
		if (d->slots[i].outcome == KG_OUTCOME_NONE)
			ids[n++] = d->slot_ids[i];
	*ret = ids;
	*ret_n = n;
	return 0;
}

static int ask_scheduler(struct why *y, struct kg_texts *ret)
{
	const struct sched *s = &y->w.c->sched;
	uint64_t now = kg_boottime_ns();
	uint64_t *ids = NULL;
	size_t n = 0;
	int rc;

	if (y->kind == OF_JOB)
		return sched_why_job(s, y->job, now, ret);
	if (y->kind == OF_MACHINE)
		return sched_why_machine(s, y->machine, now, ret);
	rc = pending_slots(y, &ids, &n);
	if (rc == 0 && n > 0)
		rc = sched_why_slots(s, y->job, y->detail->cell.machine, ids, n, now, ret);
	free(ids);
	return rc;
}

static void send_lines(struct why *y, const struct kg_texts *now)
{
	Kgrid__V1__WhyReply r = KGRID__V1__WHY_REPLY__INIT;
	char *list[SCREEN_LINES + 1];
	char rest[80];
	size_t i, total = now->n + y->lines.n;

	for (i = 0; i < total && r.n_lines < SCREEN_LINES; i++)
		list[r.n_lines++] = i < now->n ? now->items[i] : y->lines.items[i - now->n];
	if (total > SCREEN_LINES) {
		(void)snprintf(rest, sizeof(rest), "... and %zu more; 'kgrid job show' has all",
			       total - SCREEN_LINES + 1);
		list[SCREEN_LINES - 1] = rest;
	}
	if (total == 0)
		list[r.n_lines++] = (char *)(uintptr_t) "nothing waits, and nothing went wrong";
	r.lines = list;
	r.subject = (char *)(uintptr_t)kg_str_text(&y->heading);
	session_send(y->w.session, KG_MSG_WHY_REPLY, y->w.id, &r.base);
}

static void why_finish(struct work *w)
{
	struct why *y = (struct why *)w;
	struct kg_texts now = {0};
	int rc = 0;

	if (w->rc == 0 && !w->c->stopping)
		rc = ask_scheduler(y, &now);
	if (w->rc < 0)
		session_error(w->session, w->id, w->rc, w->err.text);
	else if (rc < 0 && rc != KG_ENOTFOUND) /* over: the scheduler has nothing to say */
		session_error(w->session, w->id, rc, kg_strerror(rc));
	else
		send_lines(y, &now);
	kg_texts_deinit(&now);
	kg_texts_deinit(&y->lines);
	kg_str_deinit(&y->heading);
	store_cell_detail_free(y->detail);
	inv_snapshot_deinit(&y->inv);
}

void handle_why(const struct request *rq)
{
	const Kgrid__V1__WhyRequest *q = REQUEST_BODY(rq, Kgrid__V1__WhyRequest);
	struct why *y = calloc(1, sizeof(*y));
	struct kg_err err = {""};
	int rc = y ? parse_subject(q->subject ? q->subject : "", y, &err)
		   : kg_err_set(&err, -ENOMEM, "out of memory");

	if (rc == 0 && inventory_snapshot(&rq->c->inventory, &y->inv) < 0)
		rc = kg_err_set(&err, -ENOMEM, "out of memory");
	if (rc < 0) {
		session_error(rq->session, rq->id, rc, err.text);
		free(y);
		return;
	}
	y->w.run = why_run;
	y->w.finish = why_finish;
	work_start(rq, &y->w);
}
