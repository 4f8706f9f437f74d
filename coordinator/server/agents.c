/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What agents send.
 *
 * Happy path: FACTS, AGENT_STATE, then records; each is stored, then the scheduler hears of it and
 * the agent is acknowledged.
 * Failure modes: the store is behind (the link is paused until half of its queue is done), cannot
 * write (the link is dropped; the agent keeps its records and comes again), or the lease is gone
 * (the record is kept as evidence, acknowledged, and the agent is fenced).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"

#define STORE_BACKLOG 4096 /* operations queued, over which agents are not read from */

static void machine_seen(struct coordinator *c, const struct session *x,
			 const Kgrid__V1__MachineFacts *facts)
{
	(void)store_machine_upsert(c->store,
				   &(struct store_machine){
					   .name = x->machine,
					   .state_id = x->state_id[0] ? x->state_id : NULL,
					   .facts = facts,
					   .last_seen_ns = kg_realtime_ns(),
				   },
				   (struct store_done){0});
}

void handle_facts(const struct request *rq)
{
	const Kgrid__V1__MachineFacts *f = REQUEST_BODY(rq, Kgrid__V1__MachineFacts);
	struct session *x = rq->session;
	struct kg_err err = {""};
	int rc = inventory_put_machine(&rq->c->inventory, x->machine, f, &err);

	if (rc < 0) {
		kg_link_drop(&x->link, rc, "cannot take the facts of '%s': %s", x->machine,
			     err.text);
		return;
	}
	x->instruction_clock = f->clock && strcmp(f->clock, "instruction") == 0;
	machine_seen(rq->c, x, f);
}

void handle_agent_state(const struct request *rq)
{
	const Kgrid__V1__AgentState *a = REQUEST_BODY(rq, Kgrid__V1__AgentState);
	struct session *x = rq->session;
	struct sched_agent_state state = {.boot = a->boot, .lease_epoch = a->lease_epoch};
	char text[160];

	if (!inventory_machine(&rq->c->inventory, x->machine)) {
		kg_link_drop(&x->link, KG_EPROTO, "AGENT_STATE before FACTS");
		return;
	}
	if (!x->ready) {
		if (a->boot)
			(void)snprintf(text, sizeof(text),
				       "connected, holds boot %llu in stage '%.40s'",
				       (unsigned long long)a->boot, a->stage ? a->stage : "?");
		else
			(void)snprintf(text, sizeof(text), "connected, idle");
		kg_log_info("machine '%s': %s", x->machine, text);
		driver_event(&rq->c->driver, x->machine, 0, a->boot, "connect", text);
	}
	x->ready = true;
	sched_machine_up(&rq->c->sched, x->machine, x->instruction_clock, &state, kg_boottime_ns());
}

void agents_session_closed(struct session *x)
{
	struct coordinator *c = x->server->c;

	if (c->stopping || server_agent(x->server, x->machine))
		return; /* a newer connection took over */
	if (x->ready)
		kg_log_info("machine '%s': connection closed", x->machine);
	sched_machine_down(&c->sched, x->machine, kg_boottime_ns());
	machine_seen(c, x, NULL);
}

/* What the scheduler and watchers need of a record once it is committed. */
struct ingest {
	struct session *session; /* referenced */
	struct kg_msg *msg;	 /* Record, owned */
};

static const char *text_of(const char *s)
{
	return s ? s : "";
}

/* Name and unit of a metric, as the attempt's start declared it; after a restart of the coordinator
 * in the middle of an attempt they are not known here (the store knows). */
static const Kgrid__V1__MetricInfo *metric_of(const struct session *x, const Kgrid__V1__Record *r,
					      uint32_t metric)
{
	const Kgrid__V1__Record *start;
	size_t i;

	if (!x->started)
		return NULL;
	start = (const Kgrid__V1__Record *)kg_msg_body(x->started);
	if (start->boot != r->boot || start->attempt != r->attempt)
		return NULL;
	for (i = 0; i < start->attempt_started->n_metrics; i++)
		if (start->attempt_started->metrics[i]->id == metric)
			return start->attempt_started->metrics[i];
	return NULL;
}

static void live_samples(struct coordinator *c, const struct session *x, const Kgrid__V1__Record *r)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(&c->sched, r->boot, &m);
	const Kgrid__V1__SampleBatch *s = r->samples;
	struct sched_attempt *a = NULL;
	size_t i;

	for (i = 0; b && i < b->n_attempts; i++)
		if (b->attempts[i].id == r->attempt)
			a = &b->attempts[i];
	if (!a)
		return;
	b->samples += s->n_value;
	if (s->warmup)
		return;
	for (i = 0; i < s->n_value; i++) {
		const Kgrid__V1__MetricInfo *info = metric_of(x, r, s->metric[i]);

		watch_sample(&c->server, &(struct watch_sample){
						 .job = b->visit->job->id,
						 .machine = m->name,
						 .kernel = b->visit->kernel_label,
						 .lsm = b->visit->lsm_label,
						 .workload = a->slot->workload,
						 .params = a->slot->params,
						 .metric = info ? text_of(info->name) : "",
						 .unit = info ? text_of(info->unit) : "",
						 .value = s->value[i],
						 .iteration = s->iteration[i],
						 .attempt = r->attempt,
					 });
	}
}

/* The last piece of a kernel's symbols has come: other boots of it need not send them. */
static void symbols_stored(struct coordinator *c, const Kgrid__V1__Record *r)
{
	const Kgrid__V1__Document *doc = r->document;
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(&c->sched, r->boot, &m);
	struct inv_kernel *k = b ? inventory_kernel(&c->inventory, b->visit->kernel) : NULL;

	if (k && strcmp(text_of(doc->name), "kallsyms") == 0 &&
	    doc->offset + doc->data.len >= doc->stored_bytes)
		k->has_symbols = true;
}

/* The scheduler hears of a record only after it is on disk. */
static void committed(struct ingest *in, const Kgrid__V1__Record *r, const struct store_result *res)
{
	struct coordinator *c = in->session->server->c;
	uint64_t now = kg_boottime_ns();
	struct sched *s = &c->sched;

	switch (r->body_case) {
	case KGRID__V1__RECORD__BODY_STAGE:
		sched_stage_entered(s, r->boot, sched_stage_parse(text_of(r->stage->stage)),
				    r->stage->has_attempt ? r->stage->attempt : r->attempt, now);
		break;
	case KGRID__V1__RECORD__BODY_EVIDENCE:
		sched_evidence(s, r->boot, r->evidence->verified,
			       kg_outcome_parse(text_of(r->evidence->outcome)), r->evidence->reason,
			       now);
		break;
	case KGRID__V1__RECORD__BODY_ATTEMPT_STARTED:
		kg_msg_free(in->session->started);
		in->session->started = in->msg;
		in->msg = NULL; /* kept */
		break;
	case KGRID__V1__RECORD__BODY_SAMPLES:
		if (!res->fault) /* its columns are what they should be */
			live_samples(c, in->session, r);
		break;
	case KGRID__V1__RECORD__BODY_ATTEMPT_ENDED:
		sched_attempt_ended(
			s, r->boot, r->attempt, res->attempt_outcome,
			res->attempt_outcome == kg_outcome_parse(text_of(r->attempt_ended->outcome))
				? r->attempt_ended->reason
				: "the agent's count of samples is not what arrived",
			now);
		break;
	case KGRID__V1__RECORD__BODY_BOOT_ENDED:
		sched_boot_ended(s, r->boot, kg_outcome_parse(text_of(r->boot_ended->outcome)),
				 r->boot_ended->reason, now);
		break;
	case KGRID__V1__RECORD__BODY_DOCUMENT:
		if (!res->fault)
			symbols_stored(c, r);
		break;
	default:
		break;
	}
}

static void acknowledge(struct session *x, const Kgrid__V1__Record *r, uint64_t seq)
{
	if (x->ack_due && (x->ack_boot != r->boot || x->ack_epoch != r->lease_epoch))
		server_flush_acks(x->server);
	server_ack_due(x);
	x->ack_boot = r->boot;
	x->ack_epoch = r->lease_epoch;
	x->ack_seq = seq;
}

static void fence(struct session *x, const Kgrid__V1__Record *r)
{
	Kgrid__V1__FenceBoot f = KGRID__V1__FENCE_BOOT__INIT;

	f.has_boot = f.has_lease_epoch = 1;
	f.boot = r->boot;
	f.lease_epoch = r->lease_epoch;
	f.reason = (char *)(uintptr_t) "its lease has ended";
	session_send(x, KG_MSG_FENCE_BOOT, 0, &f.base);
}

static void on_ingested(void *arg, const struct store_result *res)
{
	struct ingest *in = arg;
	struct session *x = in->session;
	struct coordinator *c = x->server->c;
	const Kgrid__V1__Record *r = (const Kgrid__V1__Record *)kg_msg_body(in->msg);

	if (res->rc < 0) {
		if (!c->stopping)
			kg_link_drop(&x->link, res->rc, "a record could not be stored: %s",
				     res->text);
	} else if (res->ingest == STORE_INGEST_FENCED) {
		acknowledge(x, r, r->seq);
		fence(x, r);
	} else {
		acknowledge(x, r, res->last_seq);
		if (res->fault)
			kg_log_warn("record %llu of boot %llu from '%s' is malformed: %s",
				    (unsigned long long)r->seq, (unsigned long long)r->boot,
				    x->machine, res->text);
		if (res->ingest == STORE_INGEST_COMMITTED && !c->stopping)
			committed(in, r, res);
	}
	if (x->link.paused && store_pending(c->store) < STORE_BACKLOG / 2)
		kg_link_resume(&x->link);
	kg_msg_free(in->msg);
	session_unref(x);
	free(in);
}

void handle_record(const struct request *rq)
{
	const Kgrid__V1__Record *r = REQUEST_BODY(rq, Kgrid__V1__Record);
	struct session *x = rq->session;
	struct ingest *in = calloc(1, sizeof(*in));
	int rc;

	if (!in || kg_msg_copy(KG_MSG_RECORD, &r->base, &in->msg, NULL) < 0) {
		free(in);
		kg_link_drop(&x->link, -ENOMEM, "out of memory for a record");
		return;
	}
	in->session = x;
	session_ref(x);
	rc = store_ingest(rq->c->store, x->machine, r, kg_realtime_ns(),
			  (struct store_done){.fn = on_ingested, .arg = in});
	if (rc < 0) {
		kg_msg_free(in->msg);
		free(in);
		session_unref(x);
		kg_link_drop(&x->link, rc, "the store's queue is full");
		return;
	}
	if (store_pending(rq->c->store) > STORE_BACKLOG)
		kg_link_pause(&x->link);
}

void handle_peer_serving(const struct request *rq)
{
	const Kgrid__V1__PeerServing *p = REQUEST_BODY(rq, Kgrid__V1__PeerServing);
	struct sched_machine *m;

	/* An agent speaks for its own machine's boot only. */
	if (!sched_boot_find(&rq->c->sched, p->boot, &m) ||
	    strcmp(m->name, rq->session->machine) != 0)
		return;
	sched_peer_serving(&rq->c->sched, p->boot, p->attempt, p->port, kg_boottime_ns());
}

void handle_peer_wanted(const struct request *rq)
{
	const Kgrid__V1__PeerWanted *p = REQUEST_BODY(rq, Kgrid__V1__PeerWanted);
	struct sched_machine *m;

	if (!sched_boot_find(&rq->c->sched, p->boot, &m) ||
	    strcmp(m->name, rq->session->machine) != 0)
		return;
	sched_peer_wanted(&rq->c->sched, p->boot, p->attempt, kg_boottime_ns());
}

void handle_blob_request(const struct request *rq)
{
	const Kgrid__V1__BlobRequest *b = REQUEST_BODY(rq, Kgrid__V1__BlobRequest);
	Kgrid__V1__BlobChunk out = KGRID__V1__BLOB_CHUNK__INIT;
	uint32_t max = b->max_bytes && b->max_bytes < 256 * 1024 ? b->max_bytes : 256 * 1024;
	struct kg_err err = {""};
	uint8_t *buf = malloc(max);
	size_t len = 0;
	uint64_t total = 0;
	int rc;

	if (!buf) {
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	rc = artifact_blobs_read(rq->c->blobs, text_of(b->digest), b->offset, buf, max, &len,
				 &total, &err);
	if (rc < 0) {
		session_error(rq->session, rq->id, rc, err.text);
	} else {
		out.digest = b->digest;
		out.has_offset = out.has_total_bytes = out.has_data = 1;
		out.offset = b->offset;
		out.total_bytes = total;
		out.data.data = buf;
		out.data.len = len;
		session_send(rq->session, KG_MSG_BLOB_CHUNK, rq->id, &out.base);
	}
	free(buf);
}
