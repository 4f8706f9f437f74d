/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Happy path: a record is encoded, spooled, and sent; ordinary ones wait for up to a second so
 * that many make one write. Failure modes: no connection (the spool keeps them), the send queue is
 * full (on_drained goes on), the spool takes nothing more (the process ends). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/driver_internal.h"
#include "common/clock.h"
#include "common/log.h"

#define FLUSH_MS    1000
#define BATCH_BYTES (256 * 1024)
#define QUEUE_BYTES (1024 * 1024) /* queued to the coordinator before we wait for it */
#define REWIND_NS   (5 * KG_NSEC_PER_SEC)

static char *text(const char *s) /* protobuf-c has no const; it only reads */
{
	return (char *)(uintptr_t)s;
}

static void fill_evidence(const struct driver *d, const struct agent_record *r,
			  Kgrid__V1__BootEvidence *e)
{
	const struct provenance *p = &d->provenance;
	struct kg_cmdline line;
	static char nonce[64];
	char hex[KG_NONCE_HEX_LEN + 1];
	unsigned long long boot;

	nonce[0] = '\0';
	if (p->cmdline && kg_cmdline_parse(p->cmdline, &line) == 0) {
		if (kg_cmdline_nonce(&line, &boot, hex))
			(void)snprintf(nonce, sizeof(nonce), "%llu.%s", boot, hex);
		kg_cmdline_deinit(&line);
	}
	e->has_verified = 1;
	e->verified = r->outcome == NULL;
	e->outcome = text(r->outcome);
	e->reason = text(r->reason);
	e->cmdline = p->cmdline;
	e->nonce = nonce;
	e->release = p->release;
	e->version = p->version;
	e->build_id = p->build_id;
	e->lsm = p->lsm;
	e->host_boot_id = p->host_boot_id;
	if (d->state.previous_host_boot_id[0])
		e->previous_host_boot_id = text(d->state.previous_host_boot_id);
	e->cpu_vendor = p->cpu_vendor;
	e->cpu_name = p->cpu_name;
	e->microcode = p->microcode;
	e->has_hops = 1;
	e->hops = d->agent.hops;
	e->boot_method = text(d->agent.hops ? d->state.boot_method : "cold");
	e->has_tainted = p->tainted.has;
	e->tainted = p->tainted.value;
}

/* Facts as Params; the array is owned by the caller, its texts by the provenance. */
static Kgrid__V1__Param *make_facts(const struct provenance *p, Kgrid__V1__Param ***ret_list)
{
	Kgrid__V1__Param *items = calloc(p->n_facts + 1, sizeof(*items));
	Kgrid__V1__Param **list = calloc(p->n_facts + 1, sizeof(*list));
	size_t i;

	if (!items || !list) {
		free(items);
		free(list);
		return NULL;
	}
	for (i = 0; i < p->n_facts; i++) {
		kgrid__v1__param__init(&items[i]);
		items[i].name = p->facts[i].name;
		items[i].value = p->facts[i].value;
		list[i] = &items[i];
	}
	*ret_list = list;
	return items;
}

/* Ordinary records leave a reserve for those that end things. */
static bool is_last_words(const struct agent_record *r)
{
	return r->kind == AGENT_REC_ATTEMPT_ENDED || r->kind == AGENT_REC_BOOT_ENDED ||
	       r->kind == AGENT_REC_EVIDENCE || r->kind == AGENT_REC_STAGE;
}

static void on_flush(uv_timer_t *t)
{
	driver_flush(t->data);
}

static void store(struct driver *d, const struct agent_record *r, const Kgrid__V1__Record *rec)
{
	struct kg_err err;
	uint8_t *bytes;
	size_t len;

	if (kg_msg_encode(KG_MSG_RECORD, 0, &rec->base, &bytes, &len, &err) < 0)
		driver_die(d, "cannot encode a record: %s", err.text);
	if (spool_append(d->spool, r->seq, r->mark, bytes, len, is_last_words(r), &err) < 0)
		driver_die(d, "%s", err.text);
	free(bytes);
	if (!connect_is_up(d->connect))
		return;
	if (r->urgent)
		driver_flush(d);
	else if (!uv_is_active((uv_handle_t *)&d->flush))
		(void)uv_timer_start(&d->flush, on_flush, FLUSH_MS, 0);
}

static void fill_end(const struct agent_run_end *end, Kgrid__V1__AttemptEnded *e)
{
	e->outcome = text(end->outcome);
	e->reason = text(end->reason);
	e->has_exit_status = end->has_exit_status;
	e->exit_status = end->exit_status;
	e->has_term_signal = end->has_term_signal;
	e->term_signal = end->term_signal;
	e->has_samples = e->has_run_ns = 1;
	e->samples = end->samples;
	e->run_ns = end->run_ns;
}

static void log_record(const struct driver *d, const struct agent_record *r)
{
	unsigned long long boot = d->agent.boot;

	if (r->kind == AGENT_REC_STAGE)
		kg_log_info("boot %llu: %s%s%s", boot, r->stage, r->reason ? ": " : "",
			    r->reason ? r->reason : "");
	else if (r->kind == AGENT_REC_ATTEMPT_ENDED)
		kg_log_info("boot %llu: run %u of %u: %s%s%s", boot, r->run + 1, d->agent.n_runs,
			    r->end.outcome, r->end.reason ? ": " : "",
			    r->end.reason ? r->end.reason : "");
	else if (r->kind == AGENT_REC_BOOT_ENDED)
		kg_log_info("boot %llu: ended: %s%s%s", boot, r->outcome, r->reason ? ": " : "",
			    r->reason ? r->reason : "");
}

void driver_record(struct driver *d, const struct agent_record *r)
{
	Kgrid__V1__Record rec = KGRID__V1__RECORD__INIT;
	Kgrid__V1__StageEntered stage = KGRID__V1__STAGE_ENTERED__INIT;
	Kgrid__V1__BootEvidence evidence = KGRID__V1__BOOT_EVIDENCE__INIT;
	Kgrid__V1__AttemptEnded ended = KGRID__V1__ATTEMPT_ENDED__INIT;
	Kgrid__V1__BootEnded boot_ended = KGRID__V1__BOOT_ENDED__INIT;
	Kgrid__V1__Param *facts = NULL;
	void *body = (void *)(uintptr_t)r->body;

	log_record(d, r);
	rec.has_boot = rec.has_lease_epoch = rec.has_seq = 1;
	rec.boot = d->agent.boot;
	rec.lease_epoch = d->agent.lease_epoch;
	rec.seq = r->seq;
	rec.has_monotonic_ns = rec.has_realtime_ns = 1;
	rec.monotonic_ns = kg_monotonic_ns();
	rec.realtime_ns = kg_realtime_ns();
	if (r->run != AGENT_NO_RUN && r->run < d->order->n_runs) {
		rec.has_attempt = 1;
		rec.attempt = d->order->runs[r->run]->attempt;
	}
	switch (r->kind) {
	case AGENT_REC_STAGE:
		stage.stage = text(r->stage);
		stage.detail = text(r->reason);
		stage.has_attempt = rec.has_attempt;
		stage.attempt = rec.attempt;
		rec.body_case = KGRID__V1__RECORD__BODY_STAGE;
		rec.stage = &stage;
		break;
	case AGENT_REC_EVIDENCE:
		fill_evidence(d, r, &evidence);
		facts = make_facts(&d->provenance, &evidence.facts);
		evidence.n_facts = facts ? d->provenance.n_facts : 0;
		rec.body_case = KGRID__V1__RECORD__BODY_EVIDENCE;
		rec.evidence = &evidence;
		break;
	case AGENT_REC_ATTEMPT_STARTED:
		rec.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_STARTED;
		rec.attempt_started = body;
		break;
	case AGENT_REC_SAMPLES:
		rec.body_case = KGRID__V1__RECORD__BODY_SAMPLES;
		rec.samples = body;
		break;
	case AGENT_REC_LOG:
		rec.body_case = KGRID__V1__RECORD__BODY_LOG;
		rec.log = body;
		break;
	case AGENT_REC_ATTEMPT_ENDED:
		fill_end(&r->end, &ended);
		rec.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_ENDED;
		rec.attempt_ended = &ended;
		break;
	case AGENT_REC_PROVENANCE:
		rec.body_case = KGRID__V1__RECORD__BODY_PROVENANCE;
		rec.provenance = body;
		break;
	case AGENT_REC_DOCUMENT:
		rec.body_case = KGRID__V1__RECORD__BODY_DOCUMENT;
		rec.document = body;
		break;
	case AGENT_REC_BOOT_ENDED:
		boot_ended.outcome = text(r->outcome);
		boot_ended.reason = text(r->reason);
		rec.body_case = KGRID__V1__RECORD__BODY_BOOT_ENDED;
		rec.boot_ended = &boot_ended;
		break;
	}
	store(d, r, &rec);
	if (r->body == &d->boot_chunk)
		kg_str_deinit(&d->boot_log);
	if (facts)
		free(evidence.facts);
	free(facts);
}

/* Joins the next records to one piece, up to BATCH_BYTES. False when there are none. */
static bool next_batch(struct driver *d, uint8_t **ret_bytes, size_t *ret_len)
{
	uint64_t seq = d->sent_seq > d->agent.acked_seq ? d->sent_seq : d->agent.acked_seq;
	uint8_t *bytes = NULL, *more;
	size_t len = 0;
	struct spool_entry e;
	struct kg_err err;
	bool found;

	for (;;) {
		if (spool_next(d->spool, seq, &found, &e, &err) < 0)
			driver_die(d, "%s", err.text);
		if (!found || (len > 0 && len + e.len_bytes > BATCH_BYTES))
			break;
		more = realloc(bytes, len + e.len_bytes);
		if (!more)
			break; /* later */
		bytes = more;
		if (spool_read(d->spool, &e, bytes + len, &err) < 0)
			driver_die(d, "%s", err.text);
		len += e.len_bytes;
		seq = e.seq;
	}
	if (len == 0) {
		free(bytes);
		return false;
	}
	d->sent_seq = seq;
	*ret_bytes = bytes;
	*ret_len = len;
	return true;
}

void driver_flush(struct driver *d)
{
	uint8_t *bytes;
	size_t len;

	(void)uv_timer_stop(&d->flush);
	while (d->spool && connect_is_up(d->connect) &&
	       connect_queued_bytes(d->connect) < QUEUE_BYTES && next_batch(d, &bytes, &len))
		connect_send_bytes(d->connect, bytes, len);
	/* More than the queue takes: go on soon, when some of it is gone. */
	if (d->spool && connect_is_up(d->connect) &&
	    connect_queued_bytes(d->connect) >= QUEUE_BYTES)
		(void)uv_timer_start(&d->flush, on_flush, FLUSH_MS / 10, 0);
}

void driver_resend(struct driver *d)
{
	d->sent_seq = d->agent.acked_seq;
	driver_flush(d);
}

void driver_acked(struct driver *d, const Kgrid__V1__RecordAck *ack)
{
	struct agent_event ev = {.kind = AGENT_EV_ACK};
	uint64_t now = kg_monotonic_ns();

	/* An acknowledgement that brings nothing new tells of a gap: the coordinator has less than
	 * was sent. Old ones still on their way look the same, so not too often. */
	if (d->agent.boot && ack->boot == d->agent.boot && ack->seq == d->agent.acked_seq &&
	    d->sent_seq > ack->seq && now - d->rewound_ns > REWIND_NS) {
		d->rewound_ns = now;
		d->sent_seq = ack->seq;
		driver_flush(d);
		return;
	}
	ev.u.ack.boot = ack->boot;
	ev.u.ack.lease_epoch = ack->lease_epoch;
	ev.u.ack.seq = ack->seq;
	driver_event(d, &ev);
}
