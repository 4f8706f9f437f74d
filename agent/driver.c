/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/driver.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "agent/boot_load.h"
#include "agent/driver_internal.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"

#define WAIT_MS 5000 /* for the last acknowledgement before a hop */

void driver_die(struct driver *d, const char *fmt, ...)
{
	char text[KG_ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	kg_log_err("%s", text);
	workload_group_kill(&d->group, GROUP_MAIN);
	workload_group_kill(&d->group, GROUP_HELPER);
	_exit(1);
}

/* ---- state ---- */

static void save_state(struct driver *d)
{
	struct agent_saved *v = &d->state.saved;
	struct kg_err err;

	v->stage = d->agent.stage;
	v->boot = d->agent.boot;
	v->lease_epoch = d->agent.lease_epoch;
	v->n_runs = d->agent.n_runs;
	v->hops = d->agent.hops;
	v->fenced = d->agent.fenced;
	v->left = d->agent.left;
	if (strcmp(v->host_boot_id, d->host_boot_id) != 0) {
		memcpy(d->state.previous_host_boot_id, v->host_boot_id,
		       sizeof(d->state.previous_host_boot_id));
		memcpy(v->host_boot_id, d->host_boot_id, sizeof(v->host_boot_id));
	}
	if (agent_state_save(d->state_path, &d->state, &err) < 0)
		driver_die(d, "cannot save the state: %s", err.text);
}

/* Takes the message. */
static void hold_order(struct driver *d, struct kg_msg *m)
{
	kg_msg_free(d->order_msg);
	d->order_msg = m;
	d->order = (const Kgrid__V1__BootOrder *)kg_msg_body(m);
}

static void forget(struct driver *d)
{
	struct kg_err err;

	d->order = NULL;
	kg_msg_free(d->order_msg);
	d->order_msg = NULL;
	if (d->spool) {
		uint64_t boot = spool_boot(d->spool);

		spool_free(d->spool);
		d->spool = NULL;
		if (spool_remove(d->spool_dir, boot, &err) < 0)
			kg_log_warn("%s", err.text);
	}
	free(d->state.order);
	d->state.order = NULL;
	d->state.order_len = 0;
	d->state.boot_method[0] = '\0';
	d->state.minor = 0;
	d->sent_seq = 0;
	(void)malloc_trim(0);
}

static void adopt_order(struct driver *d)
{
	const ProtobufCMessage *body = kg_msg_body(d->offered);
	size_t len = protobuf_c_message_get_packed_size(body);
	uint8_t *bytes = malloc(len ? len : 1);
	struct kg_err err = {.text = "out of memory"};

	if (!bytes)
		driver_die(d, "cannot keep the order: %s", err.text);
	(void)protobuf_c_message_pack(body, bytes);
	hold_order(d, d->offered);
	d->offered = NULL;
	if (spool_open(d->spool_dir, d->agent.boot, d->config->spool_bytes, true, &d->spool, &err) <
	    0)
		driver_die(d, "cannot keep the order: %s", err.text);
	free(d->state.order);
	d->state.order = bytes;
	d->state.order_len = len;
	d->state.previous_host_boot_id[0] = '\0';
	d->state.minor = connect_minor(d->connect);
	d->sent_seq = 0;
	kg_log_info("boot %llu: %s, %zu runs", (unsigned long long)d->agent.boot,
		    d->order->cell_name ? d->order->cell_name : "ordered", d->order->n_runs);
}

static void trim(struct driver *d)
{
	struct kg_err err;

	if (d->spool && spool_ack(d->spool, d->agent.acked_seq, &err) < 0)
		driver_die(d, "%s", err.text);
}

static void on_waited(uv_timer_t *t)
{
	struct agent_event ev = {.kind = AGENT_EV_WAITED};

	driver_event(t->data, &ev);
}

/* ---- actions ---- */

static void carry_out(struct driver *d, const struct agent_action *a)
{
	switch (a->kind) {
	case AGENT_DO_SEND_FACTS:
		driver_send_facts(d);
		break;
	case AGENT_DO_SEND_STATE:
		driver_send_state(d);
		break;
	case AGENT_DO_RESEND:
		driver_resend(d);
		break;
	case AGENT_DO_ADOPT_ORDER:
		adopt_order(d);
		break;
	case AGENT_DO_SAVE:
		save_state(d);
		break;
	case AGENT_DO_RECORD:
		driver_record(d, &a->record);
		break;
	case AGENT_DO_TRIM:
		trim(d);
		break;
	case AGENT_DO_FORGET:
		forget(d);
		break;
	case AGENT_DO_KILL_LEFTOVERS: /* done when the group was set up, before anything else */
		break;
	case AGENT_DO_FETCH:
		driver_begin_fetch(d);
		break;
	case AGENT_DO_LOAD:
		driver_begin_load(d);
		break;
	case AGENT_DO_CANCEL:
		driver_cancel(d);
		break;
	case AGENT_DO_WAIT:
		driver_flush(d);
		/* Where an idle clock races, the time would be over before the answer is back. */
		if (d->config->clock == AGENT_CLOCK_REAL)
			(void)uv_timer_start(&d->wait, on_waited, WAIT_MS, 0);
		break;
	case AGENT_DO_HOP:
		(void)uv_timer_stop(&d->wait);
		driver_hop(d);
		break;
	case AGENT_DO_REBOOT:
		(void)uv_timer_stop(&d->wait);
		driver_reboot(d);
		break;
	case AGENT_DO_FORCE:
		driver_force(d);
		break;
	case AGENT_DO_VERIFY:
		driver_verify(d);
		break;
	case AGENT_DO_PROVENANCE:
		driver_describe(d);
		break;
	case AGENT_DO_START_RUN:
		driver_start_run(d, a->run);
		break;
	case AGENT_DO_KILL_RUN:
		driver_kill_run(d);
		break;
	}
}

static void process(struct driver *d, const struct agent_event *ev)
{
	struct agent_actions *actions = malloc(sizeof(*actions));
	size_t i;

	if (!actions)
		driver_die(d, "out of memory");
	agent_step(&d->agent, ev, actions);
	for (i = 0; i < actions->n; i++)
		carry_out(d, &actions->items[i]);
	free(actions);
}

void driver_later(struct driver *d, const struct agent_event *ev)
{
	struct driver_queued *q;

	assert(d->n_queued < DRIVER_QUEUE);
	q = &d->queue[d->n_queued++];
	q->ev = *ev;
	q->outcome[0] = q->reason[0] = '\0';
	if (ev->kind == AGENT_EV_RUN_ENDED) {
		const struct agent_run_end *end = &ev->u.run_ended;

		(void)snprintf(q->outcome, sizeof(q->outcome), "%s", end->outcome);
		(void)snprintf(q->reason, sizeof(q->reason), "%s", end->reason ? end->reason : "");
		q->ev.u.run_ended.outcome = q->outcome;
		q->ev.u.run_ended.reason = end->reason ? q->reason : NULL;
	} else if (ev->kind == AGENT_EV_FETCHED || ev->kind == AGENT_EV_LOADED ||
		   ev->kind == AGENT_EV_VERIFIED || ev->kind == AGENT_EV_HOP_FAILED ||
		   ev->kind == AGENT_EV_STILL_UP || ev->kind == AGENT_EV_SETTINGS_FAILED) {
		const char *outcome = ev->u.done.outcome, *reason = ev->u.done.reason;

		(void)snprintf(q->outcome, sizeof(q->outcome), "%s", outcome ? outcome : "");
		(void)snprintf(q->reason, sizeof(q->reason), "%s", reason ? reason : "");
		q->ev.u.done.outcome = outcome ? q->outcome : NULL;
		q->ev.u.done.reason = reason ? q->reason : NULL;
	}
}

/* Actions may bring events at once (a cached kernel is fetched in no time): they wait until the
 * actions before them are done. */
void driver_event(struct driver *d, const struct agent_event *ev)
{
	struct driver_queued q;

	if (d->stopping)
		return;
	if (d->busy) {
		/* A run that is being killed may still speak; nobody listens then. */
		if (ev->kind != AGENT_EV_RUN_RECORD)
			driver_later(d, ev);
		return;
	}
	d->busy = true;
	process(d, ev);
	while (d->n_queued > 0) {
		q = d->queue[0];
		if (q.ev.kind == AGENT_EV_RUN_ENDED) {
			q.ev.u.run_ended.outcome = q.outcome;
			if (q.ev.u.run_ended.reason)
				q.ev.u.run_ended.reason = q.reason;
		} else {
			if (q.outcome[0])
				q.ev.u.done.outcome = q.outcome;
			if (q.reason[0])
				q.ev.u.done.reason = q.reason;
		}
		memmove(d->queue, d->queue + 1, --d->n_queued * sizeof(d->queue[0]));
		process(d, &q.ev);
	}
	d->busy = false;
}

void driver_done(struct driver *d, enum agent_event_kind kind, const char *outcome,
		 const char *reason)
{
	struct agent_event ev = {.kind = kind};

	ev.u.done.outcome = outcome;
	ev.u.done.reason = reason;
	driver_event(d, &ev);
}

/* ---- messages ---- */

static bool makes_sense(const Kgrid__V1__BootOrder *o)
{
	static const char hex[] = "0123456789abcdef";

	return o->boot && o->nonce && strlen(o->nonce) == KG_NONCE_HEX_LEN &&
	       strspn(o->nonce, hex) == KG_NONCE_HEX_LEN && o->kernel_digest &&
	       kg_sha256_hex_valid(o->kernel_digest) && o->n_runs <= 0xffffff;
}

static void take_order(struct driver *d, const Kgrid__V1__BootOrder *o)
{
	struct agent_event ev = {.kind = AGENT_EV_DISCARD};
	struct kg_err err;

	if (!makes_sense(o)) {
		connect_drop(d->connect, "the coordinator sent an order that makes no sense");
		return;
	}
	/* As it will be read after a restart. */
	if (kg_msg_copy(KG_MSG_BOOT_ORDER, &o->base, &d->offered, &err) < 0) {
		connect_drop(d->connect, err.text);
		return;
	}
	if (d->agent.boot && d->agent.boot != o->boot)
		driver_event(d, &ev);
	ev.kind = AGENT_EV_ORDER;
	ev.u.order.boot = o->boot;
	ev.u.order.lease_epoch = o->lease_epoch;
	ev.u.order.n_runs = (uint32_t)o->n_runs;
	ev.u.order.settings = o->n_settings > 0;
	ev.u.order.stuck = d->config->shutdown.reboot ? boot_stuck("") : NULL;
	driver_event(d, &ev);
	kg_msg_free(d->offered);
	d->offered = NULL;
}

static void take_fence(struct driver *d, const Kgrid__V1__FenceBoot *f)
{
	struct agent_event ev = {.kind = AGENT_EV_FENCE};
	char reason[AGENT_REASON_SIZE];

	(void)snprintf(reason, sizeof(reason), "fenced: %.200s",
		       f->reason ? f->reason : "no reason");
	kg_log_notice("boot %llu %s", (unsigned long long)f->boot, reason);
	ev.u.fence.boot = f->boot;
	ev.u.fence.lease_epoch = f->lease_epoch;
	ev.u.fence.reason = reason;
	driver_event(d, &ev);
}

static void take_chunk(struct driver *d, const Kgrid__V1__BlobChunk *c)
{
	if (d->fetch && c->digest)
		boot_fetch_chunk(d->fetch, c->digest, c->offset, c->total_bytes, c->data.data,
				 c->data.len);
}

static void take_error(struct driver *d, const Kgrid__V1__Error *e, uint32_t id)
{
	const char *text = e->text ? e->text : kg_strerror(e->code);

	if (d->fetch && id == d->fetch_id)
		boot_fetch_refused(d->fetch, e->code < 0 ? e->code : KG_EREFUSED, text);
	else
		kg_log_warn("coordinator: %s", text);
}

static void on_message(void *data, const struct kg_msg *m, uint32_t id)
{
	struct driver *d = data;
	const void *body = kg_msg_body(m);

	switch (kg_msg_type(m)) {
	case KG_MSG_BOOT_ORDER:
		take_order(d, body);
		break;
	case KG_MSG_FENCE_BOOT:
		take_fence(d, body);
		break;
	case KG_MSG_RECORD_ACK:
		driver_acked(d, body);
		break;
	case KG_MSG_BLOB_CHUNK:
		take_chunk(d, body);
		break;
	case KG_MSG_PEER_READY:
		driver_peer_ready(d, body);
		break;
	case KG_MSG_PEER_DONE:
		driver_peer_done(d, body);
		break;
	case KG_MSG_ERROR:
		take_error(d, body, id);
		break;
	default:
		connect_drop(d->connect, "the coordinator sent what is not for agents");
		break;
	}
}

static void on_up(void *data)
{
	struct agent_event ev = {.kind = AGENT_EV_CONNECTED};
	struct driver *d = data;

	driver_event(d, &ev);
	driver_peer_resend(d);
	if (d->fetch && d->agent.stage == AGENT_FETCH)
		boot_fetch_resume(d->fetch);
}

static void on_down(void *data)
{
	struct agent_event ev = {.kind = AGENT_EV_DISCONNECTED};
	struct driver *d = data;

	(void)uv_timer_stop(&d->flush);
	driver_event(d, &ev);
	(void)malloc_trim(0);
}

static void on_drained(void *data)
{
	driver_flush(data);
}

/* ---- start ---- */

static int make_id(const char *path, char ret_id[33], struct kg_err *err)
{
	unsigned char bytes[16];
	size_t i;

	if (kg_file_read_line(path, ret_id, 33, NULL) == 0 && strlen(ret_id) == 32)
		return 0;
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return kg_err_errno(err, "cannot make", path);
	for (i = 0; i < sizeof(bytes); i++)
		(void)snprintf(ret_id + 2 * i, 3, "%02x", bytes[i]);
	return kg_file_replace(path, ret_id, 32, 0600, err);
}

int driver_lock(struct driver *d, struct kg_err *err)
{
	char path[CACHE_PATH_SIZE];
	int rc;

	(void)snprintf(path, sizeof(path), "%s/lock", d->config->state_dir);
	d->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock_fd < 0)
		return kg_err_errno(err, "cannot open", path);
	rc = kg_lock(d->lock_fd);
	if (rc == -EWOULDBLOCK)
		return kg_err_set(err, KG_EBUSY, "another agent uses '%s'", d->config->state_dir);
	if (rc < 0)
		return kg_err_set(err, rc, "cannot lock '%s': %s", path, kg_strerror(rc));
	return 0;
}

static int prepare_folders(struct driver *d, struct kg_err *err)
{
	const char *dir = d->config->state_dir;
	char path[CACHE_PATH_SIZE];
	int rc;

	if (strlen(dir) > CACHE_PATH_SIZE - 256)
		return kg_err_set(err, -ENAMETOOLONG, "path too long: '%s'", dir);
	(void)snprintf(d->state_path, sizeof(d->state_path), "%s/state", dir);
	(void)snprintf(d->spool_dir, sizeof(d->spool_dir), "%s/spool", dir);
	(void)snprintf(d->cache_dir, sizeof(d->cache_dir), "%s/cache", dir);
	(void)snprintf(d->digests_path, sizeof(d->digests_path), "%s/digests", dir);
	(void)snprintf(d->undo_path, sizeof(d->undo_path), "%s/settings-before", dir);
	d->undo = (struct settings_undo){d->undo_path, d->host_boot_id};
	rc = kg_mkdir_p(d->spool_dir, 0700, err);
	if (rc == 0)
		rc = cache_init(d->cache_dir, err);
	if (rc == 0)
		rc = driver_lock(d, err);
	(void)snprintf(path, sizeof(path), "%s/id", dir);
	return rc < 0 ? rc : make_id(path, d->state_id, err);
}

static int load_workloads(struct driver *d, struct kg_err *err)
{
	struct digests *digests = digests_open(d->digests_path);
	char notes[CACHE_PATH_SIZE + 16];
	size_t i;
	int rc;

	if (!digests)
		return kg_err_set(err, -ENOMEM, "out of memory");
	rc = workload_registry_load(d->config->workload_dir, WORKLOAD_PATH, digests, &d->registry,
				    err);
	digests_close(digests);
	(void)snprintf(notes, sizeof(notes), "%s/versions", d->config->state_dir);
	if (rc == 0)
		workload_versions_read(&d->registry, WORKLOAD_PATH, notes);
	for (i = 0; i < d->registry.n; i++)
		if (d->registry.items[i].missing)
			kg_log_notice("workload '%s' is not available: %s",
				      d->registry.items[i].name, d->registry.items[i].missing);
	return rc;
}

/* What was before: state file, order, spool. A damaged state is put aside; the coordinator sees an
 * idle agent and treats the boot as lost. */
static int load_state(struct driver *d, struct kg_err *err)
{
	struct agent_saved *v = &d->state.saved;
	char aside[CACHE_PATH_SIZE + 8];
	int rc = agent_state_load(d->state_path, &d->state, err);

	if (rc == -ENOENT)
		return 0;
	if (rc == 0 && v->boot) {
		struct kg_msg *m;

		rc = kg_msg_decode(KG_MSG_BOOT_ORDER, d->state.order, d->state.order_len, &m, err);
		if (rc == 0) {
			hold_order(d, m);
			rc = spool_open(d->spool_dir, v->boot, d->config->spool_bytes, false,
					&d->spool, err);
		}
	}
	if (rc < 0 && rc > -5000)
		return rc; /* the disk, not the content */
	if (rc < 0) {
		kg_log_err("%s; starting idle", err->text);
		(void)snprintf(aside, sizeof(aside), "%s.bad", d->state_path);
		(void)rename(d->state_path, aside);
		forget(d);
		agent_state_deinit(&d->state);
		return 0;
	}
	if (v->boot && !spool_empty(d->spool)) {
		v->has_records = true;
		v->last_seq = spool_last_seq(d->spool);
		v->mark = spool_last_mark(d->spool);
		v->acked_seq = spool_acked(d->spool);
	}
	return 0;
}

static void on_stop_signal(uv_signal_t *s, int number)
{
	kg_log_notice("ending: signal %d", number);
	driver_stop(s->data);
}

static void init_handles(struct driver *d)
{
	(void)uv_timer_init(d->loop, &d->flush);
	(void)uv_timer_init(d->loop, &d->wait);
	(void)uv_timer_init(d->loop, &d->down);
	(void)uv_signal_init(d->loop, &d->term);
	(void)uv_signal_init(d->loop, &d->intr);
	d->flush.data = d->wait.data = d->down.data = d->term.data = d->intr.data = d;
	d->handles = 5;
	(void)uv_signal_start(&d->term, on_stop_signal, SIGTERM);
	(void)uv_signal_start(&d->intr, on_stop_signal, SIGINT);
}

static int prepare(struct driver *d, struct kg_err *err)
{
	bool use_cgroup = true;
	int rc = prepare_folders(d, err);

	if (rc == 0)
		rc = workload_group_init(&d->group, d->config->machine, use_cgroup, err);
	if (rc == 0)
		rc = provenance_read("", &d->provenance, err);
	if (rc == 0 && !d->provenance.host_boot_id)
		rc = kg_err_set(err, KG_ENODATA, "this host has no boot id");
	if (rc < 0)
		return rc;
	(void)snprintf(d->host_boot_id, sizeof(d->host_boot_id), "%s", d->provenance.host_boot_id);
	rc = load_workloads(d, err);
	if (rc == 0)
		rc = load_state(d, err);
	if (rc == 0)
		spool_remove_others(d->spool_dir, d->state.saved.boot);
	return rc;
}

static void begin(struct driver *d)
{
	struct agent_event ev = {.kind = AGENT_EV_START};
	struct agent_saved saved = d->state.saved;

	ev.u.start.saved = &saved;
	ev.u.start.host_boot_id = d->host_boot_id;
	ev.u.start.nonce_seen = driver_nonce_seen(d);
	ev.u.start.settings = d->order && d->order->n_settings > 0;
	ev.u.start.leave = d->order && d->order->leave_by_reboot && d->config->shutdown.reboot;
	ev.u.start.stuck = d->config->shutdown.reboot ? boot_stuck("") : NULL;
	driver_event(d, &ev);
}

int driver_start(uv_loop_t *loop, const struct agent_config *c, struct driver **ret_d,
		 struct kg_err *err)
{
	static const struct connect_ops ops = {
		.up = on_up, .down = on_down, .message = on_message, .drained = on_drained};
	struct connect_spec spec = {.address = c->coordinator,
				    .machine = c->machine,
				    .instruction_clock = c->clock == AGENT_CLOCK_INSTRUCTION};
	struct driver *d = calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return kg_err_set(err, -ENOMEM, "out of memory");
	d->loop = loop;
	d->config = c;
	d->lock_fd = -1;
	agent_init(&d->agent);
	/* Timers of a quiet process may be late by this much, and then come together. */
	(void)prctl(PR_SET_TIMERSLACK, 20 * KG_NSEC_PER_MSEC, 0, 0, 0);
	rc = prepare(d, err);
	if (rc == 0) {
		spec.state_id = d->state_id;
		spec.host_boot_id = d->host_boot_id;
		rc = connect_start(loop, &spec, &ops, d, &d->connect, err);
	}
	if (rc < 0) {
		driver_free(d);
		return rc;
	}
	init_handles(d);
	begin(d);
	(void)malloc_trim(0);
	*ret_d = d;
	return 0;
}

/* ---- end ---- */

static void on_handle_closed(uv_handle_t *h)
{
	struct driver *d = h->data;

	d->handles--;
}

static void on_connect_closed(void *data)
{
	struct driver *d = data;

	d->connect_closed = true;
}

void driver_close_handles(struct driver *d)
{
	uv_close((uv_handle_t *)&d->flush, on_handle_closed);
	uv_close((uv_handle_t *)&d->wait, on_handle_closed);
	uv_close((uv_handle_t *)&d->down, on_handle_closed);
	uv_close((uv_handle_t *)&d->term, on_handle_closed);
	uv_close((uv_handle_t *)&d->intr, on_handle_closed);
	connect_close(d->connect, on_connect_closed);
}

void driver_stop(struct driver *d)
{
	if (d->stopping)
		return;
	/* Nothing is recorded from here on: what was going on is seen by the next start. */
	d->stopping = true;
	if (d->run)
		workload_run_kill(d->run, "infra", "agent stopped");
	driver_close_handles(d);
}

void driver_free(struct driver *d)
{
	assert(d->handles == 0);
	if (d->group.marker[0])
		workload_group_deinit(&d->group);
	boot_fetch_free(d->fetch);
	kg_str_deinit(&d->boot_log);
	fact_list_deinit(&d->before);
	fact_list_deinit(&d->describe.facts);
	document_list_deinit(&d->describe.documents);
	spool_free(d->spool);
	kg_msg_free(d->order_msg);
	agent_state_deinit(&d->state);
	provenance_deinit(&d->provenance);
	workload_registry_deinit(&d->registry);
	if (d->lock_fd >= 0)
		close(d->lock_fd);
	free(d);
}
