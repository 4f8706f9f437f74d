/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions that the store answers: one row each. A worker thread asks, the loop thread adds what
 * only the running coordinator knows, and sends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/coordinator.h"

/* ---- what only the running coordinator knows ---- */

/* Why a job waits: the first thing that the scheduler says of it. */
static void fill_why(struct coordinator *c, Kgrid__V1__JobSummary *j)
{
	struct sched_job *sj = sched_job_find(&c->sched, j->id);
	struct kg_texts lines = {0};

	if (!sj || j->why || (sj->state != SCHED_JOB_QUEUED && sj->state != SCHED_JOB_RUNNING))
		return;
	if (sched_why_job(&c->sched, j->id, kg_boottime_ns(), &lines) == 0 && lines.n > 0)
		j->why = strdup(lines.items[0]);
	kg_texts_deinit(&lines);
}

static void fill_state(struct coordinator *c, Kgrid__V1__MachineInfo *m)
{
	struct sched_machine *sm = sched_machine_find(&c->sched, m->name);
	bool connected = server_agent(&c->server, m->name) != NULL;
	const char *state = "offline";

	if (connected) {
		state = sm && sm->boot ? "busy" : "idle";
		m->last_seen_ns = kg_realtime_ns(); /* the store has when it came */
	} else if (sm && sm->boot)
		state = "away"; /* in the middle of a boot, or lost */
	if (!m->state)
		m->state = strdup(state);
	if (!sm || !sm->boot)
		return;
	m->has_job = m->has_boot = 1;
	m->job = sm->boot->visit->job->id;
	m->boot = sm->boot->id;
	if (!m->stage)
		m->stage = strdup(sched_stage_name(sm->boot->stage));
}

static void fill_jobs(struct coordinator *c, const ProtobufCMessage *body, ProtobufCMessage *reply)
{
	Kgrid__V1__JobsReply *r = (Kgrid__V1__JobsReply *)reply;
	size_t i;

	(void)body;
	for (i = 0; i < r->n_jobs; i++)
		fill_why(c, r->jobs[i]);
}

static void fill_job(struct coordinator *c, const ProtobufCMessage *body, ProtobufCMessage *reply)
{
	(void)body;
	fill_why(c, ((Kgrid__V1__JobReply *)reply)->job);
}

/* `where` is one that ask_machines has parsed. */
static void keep_matching(struct coordinator *c, const char *where, Kgrid__V1__MachinesReply *r)
{
	struct predicate *p = NULL;
	struct kg_err ignored = {""};
	size_t i, n = 0;

	if (predicate_parse(where, NULL, &p, &ignored) < 0)
		return;
	for (i = 0; i < r->n_machines; i++) {
		const struct inv_machine *m =
			inventory_machine(&c->inventory, r->machines[i]->name);

		if (m && predicate_matches_machine(p, &m->plan.facts))
			r->machines[n++] = r->machines[i];
		else
			kgrid__v1__machine_info__free_unpacked(r->machines[i], NULL);
	}
	r->n_machines = n;
	predicate_free(p);
}

static void fill_machines(struct coordinator *c, const ProtobufCMessage *body,
			  ProtobufCMessage *reply)
{
	const Kgrid__V1__MachinesRequest *rq = (const Kgrid__V1__MachinesRequest *)body;
	Kgrid__V1__MachinesReply *r = (Kgrid__V1__MachinesReply *)reply;
	size_t i;

	if (rq->where && rq->where[0])
		keep_matching(c, rq->where, r);
	for (i = 0; i < r->n_machines; i++)
		fill_state(c, r->machines[i]);
}

static void fill_machine(struct coordinator *c, const ProtobufCMessage *body,
			 ProtobufCMessage *reply)
{
	(void)body;
	fill_state(c, ((Kgrid__V1__MachineReply *)reply)->machine);
}

/* ---- the questions ---- */

#define ASK(name, Request, Reply, call)                                      \
	static int name(struct coordinator *c, const ProtobufCMessage *body, \
			ProtobufCMessage **ret, struct kg_err *err)          \
	{                                                                    \
		const Request *rq = (const Request *)body;                   \
		struct query *q = c->query;                                  \
		Reply *reply = NULL;                                         \
		int rc = call;                                               \
                                                                             \
		(void)rq;                                                    \
		if (rc == 0)                                                 \
			*ret = &reply->base;                                 \
		return rc;                                                   \
	}

static const char *text_of(const char *s)
{
	return s ? s : "";
}

ASK(ask_jobs, Kgrid__V1__JobsRequest, Kgrid__V1__JobsReply, query_jobs(q, &reply, err))
ASK(ask_job, Kgrid__V1__JobRequest, Kgrid__V1__JobReply, query_job(q, rq->job, &reply, err))
static int check_where(const char *where, struct kg_err *err)
{
	struct predicate *p = NULL;
	int rc = where && where[0] ? predicate_parse(where, NULL, &p, err) : 0;

	predicate_free(p);
	return rc;
}

static int ask_machines(struct coordinator *c, const ProtobufCMessage *body, ProtobufCMessage **ret,
			struct kg_err *err)
{
	const Kgrid__V1__MachinesRequest *rq = (const Kgrid__V1__MachinesRequest *)body;
	Kgrid__V1__MachinesReply *reply = NULL;
	int rc = check_where(rq->where, err);

	if (rc == 0)
		rc = query_machines(c->query, &reply, err);
	if (rc == 0)
		*ret = &reply->base;
	return rc;
}

ASK(ask_machine, Kgrid__V1__MachineRequest, Kgrid__V1__MachineReply,
    query_machine(q, text_of(rq->name), &reply, err))
ASK(ask_kernels, Kgrid__V1__KernelsRequest, Kgrid__V1__KernelsReply, query_kernels(q, &reply, err))
ASK(ask_kernel, Kgrid__V1__KernelRequest, Kgrid__V1__KernelReply,
    query_kernel(q, text_of(rq->selector), &reply, err))
ASK(ask_compare, Kgrid__V1__CompareRequest, Kgrid__V1__CompareReply,
    query_compare(q, rq, &reply, err))
ASK(ask_epochs, Kgrid__V1__EpochsRequest, Kgrid__V1__EpochsReply,
    query_epochs(q, rq->machine, &reply, err))
ASK(ask_history, Kgrid__V1__HistoryRequest, Kgrid__V1__HistoryReply,
    query_history(q, rq, &reply, err))
ASK(ask_regressions, Kgrid__V1__RegressionsRequest, Kgrid__V1__RegressionsReply,
    query_regressions(q, rq, &reply, err))
ASK(ask_noise, Kgrid__V1__NoiseRequest, Kgrid__V1__NoiseReply, query_noise(q, rq, &reply, err))
ASK(ask_imports, Kgrid__V1__ImportsRequest, Kgrid__V1__ImportsReply,
    query_imports(q, rq, &reply, err))

ASK(ask_diff, Kgrid__V1__DiffRequest, Kgrid__V1__DiffReply, query_diff(q, rq, &reply, err))

struct row {
	uint16_t type;
	uint16_t reply_type;
	int (*ask)(struct coordinator *c, const ProtobufCMessage *body, ProtobufCMessage **ret,
		   struct kg_err *err);
	/* NULL: complete as it is */
	void (*fill)(struct coordinator *c, const ProtobufCMessage *body, ProtobufCMessage *reply);
};

static const struct row rows[] = {
	{KG_MSG_JOBS, KG_MSG_JOBS_REPLY, ask_jobs, fill_jobs},
	{KG_MSG_JOB, KG_MSG_JOB_REPLY, ask_job, fill_job},
	{KG_MSG_MACHINES, KG_MSG_MACHINES_REPLY, ask_machines, fill_machines},
	{KG_MSG_MACHINE, KG_MSG_MACHINE_REPLY, ask_machine, fill_machine},
	{KG_MSG_KERNELS, KG_MSG_KERNELS_REPLY, ask_kernels, NULL},
	{KG_MSG_KERNEL, KG_MSG_KERNEL_REPLY, ask_kernel, NULL},
	{KG_MSG_COMPARE, KG_MSG_COMPARE_REPLY, ask_compare, NULL},
	{KG_MSG_EPOCHS, KG_MSG_EPOCHS_REPLY, ask_epochs, NULL},
	{KG_MSG_DIFF, KG_MSG_DIFF_REPLY, ask_diff, NULL},
	{KG_MSG_HISTORY, KG_MSG_HISTORY_REPLY, ask_history, NULL},
	{KG_MSG_REGRESSIONS, KG_MSG_REGRESSIONS_REPLY, ask_regressions, NULL},
	{KG_MSG_NOISE, KG_MSG_NOISE_REPLY, ask_noise, NULL},
	{KG_MSG_IMPORTS, KG_MSG_IMPORTS_REPLY, ask_imports, NULL},
};

struct question {
	struct work w;
	const struct row *row;
	ProtobufCMessage *reply;
};

static void question_run(struct work *w)
{
	struct question *qu = (struct question *)w;

	w->rc = qu->row->ask(w->c, kg_msg_body(w->msg), &qu->reply, &w->err);
}

static void question_finish(struct work *w)
{
	struct question *qu = (struct question *)w;

	if (w->rc < 0) {
		session_error(w->session, w->id, w->rc, w->err.text);
		return;
	}
	if (qu->row->fill)
		qu->row->fill(w->c, kg_msg_body(w->msg), qu->reply);
	if (reply_in_parts(w->session, qu->reply)) {
		stream_reply(&(struct request){.session = w->session, .c = w->c, .id = w->id},
			     qu->row->reply_type, qu->reply);
		return;
	}
	session_send(w->session, qu->row->reply_type, w->id, qu->reply);
	protobuf_c_message_free_unpacked(qu->reply, NULL);
}

void handle_question(const struct request *rq)
{
	struct question *qu = calloc(1, sizeof(*qu));
	size_t i;

	for (i = 0; rows[i].type != kg_msg_type(rq->msg); i++)
		; /* dispatch sends only what has a row */
	if (qu) {
		qu->w.run = question_run;
		qu->w.finish = question_finish;
		qu->row = &rows[i];
	}
	work_start(rq, qu ? &qu->w : NULL);
}

void handle_info(const struct request *rq)
{
	struct coordinator *c = rq->c;
	Kgrid__V1__InfoReply r = KGRID__V1__INFO_REPLY__INIT;
	char *listen[SERVER_MAX_LISTENERS];
	struct sched_machine *m;
	struct sched_job *j;
	unsigned i;

	for (i = 0; i < c->server.n_listeners; i++)
		listen[i] = c->server.listeners[i].address;
	r.version = (char *)(uintptr_t)KGRID_VERSION;
	r.listen = listen;
	r.n_listen = c->server.n_listeners;
	r.data_dir = c->cfg.data_dir;
	r.has_machines_connected = r.has_jobs_active = r.has_schema_version = 1;
	for (m = c->sched.machines; m; m = m->next)
		r.machines_connected += server_agent(&c->server, m->name) != NULL;
	for (j = c->sched.jobs; j; j = j->next)
		r.jobs_active += j->state == SCHED_JOB_QUEUED || j->state == SCHED_JOB_RUNNING;
	r.schema_version = (uint32_t)store_schema_version();
	session_send(rq->session, KG_MSG_INFO_REPLY, rq->id, &r.base);
}
