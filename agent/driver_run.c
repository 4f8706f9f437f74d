/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Happy path: a RunOrder becomes a run, its callbacks become records. Failure modes: the workload
 * is not what was planned with (another digest, not available), its parameters are refused, the
 * spool is full. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/driver_internal.h"
#include "common/clock.h"
#include "common/str.h"
#include "proto/frame.h"

#define LOG_CHUNK_BYTES 65536
#define PEER_S		(4 * 3600) /* the coordinator, which knows both sides, is to end it sooner */
#define RECORD_OVERHEAD 512	   /* of a record beside its payload */

static const char *direction_name(enum kg_direction dir)
{
	return dir == KG_DIR_HIGHER ? "higher" : dir == KG_DIR_LOWER ? "lower" : "none";
}

static bool has_room(const struct driver *d, size_t payload)
{
	size_t len = payload + RECORD_OVERHEAD;

	return len <= KG_FRAME_MAX && (!d->spool || spool_has_room(d->spool, len));
}

void driver_run_record(struct driver *d, enum agent_record_kind kind, const ProtobufCMessage *body)
{
	struct agent_event ev = {.kind = AGENT_EV_RUN_RECORD};

	if (d->stopping)
		return;
	if (!has_room(d, protobuf_c_message_get_packed_size(body))) {
		ev.kind = AGENT_EV_SPOOL_FULL;
	} else {
		ev.u.record.kind = kind;
		ev.u.record.body = body;
	}
	driver_event(d, &ev);
}

static void on_started(void *data, const struct kg_texts *argv)
{
	struct driver *d = data;
	const struct kg_workload *w = d->run_workload;
	Kgrid__V1__AttemptStarted s = KGRID__V1__ATTEMPT_STARTED__INIT;
	Kgrid__V1__MetricInfo *infos = calloc(w->n_metrics + 1, sizeof(*infos));
	Kgrid__V1__MetricInfo **list = calloc(w->n_metrics + 1, sizeof(*list));
	size_t i;

	for (i = 0; infos && list && i < w->n_metrics; i++) {
		Kgrid__V1__MetricInfo *m = &infos[s.n_metrics];

		if (!kg_metric_applies(&w->metrics[i], d->run_params))
			continue;
		kgrid__v1__metric_info__init(m);
		m->has_id = 1;
		m->id = (uint32_t)i;
		m->name = w->metrics[i].name;
		m->unit = w->metrics[i].unit;
		m->direction = (char *)(uintptr_t)direction_name(w->metrics[i].direction);
		m->has_min_effect_pct = 1;
		m->min_effect_pct = w->metrics[i].min_effect_pct;
		list[s.n_metrics++] = m;
	}
	s.metrics = list;
	s.argv = argv->items;
	s.n_argv = argv->n;
	driver_run_record(d, AGENT_REC_ATTEMPT_STARTED, &s.base);
	driver_before_run(d);
	free(infos);
	free(list);
}

static void on_stage(void *data, const char *stage)
{
	struct agent_event ev = {.kind = AGENT_EV_RUN_RECORD};

	ev.u.record.kind = AGENT_REC_STAGE;
	ev.u.record.stage = stage;
	ev.u.record.urgent = strcmp(stage, "serve") == 0;
	driver_event(data, &ev); /* the spool has a reserve for stages */
}

/* ---- the other machine of a pair ---- */

static const Kgrid__V1__RunOrder *current_run(const struct driver *d)
{
	return d->order && d->agent.run < d->order->n_runs ? d->order->runs[d->agent.run] : NULL;
}

/* Said again over each new connection: what the coordinator missed is one more message, no state. */
void driver_peer_resend(struct driver *d)
{
	Kgrid__V1__PeerServing serving = KGRID__V1__PEER_SERVING__INIT;
	Kgrid__V1__PeerWanted wanted = KGRID__V1__PEER_WANTED__INIT;
	const Kgrid__V1__RunOrder *o = current_run(d);

	if (!o || !connect_is_up(d->connect))
		return;
	if (d->peer_wanted) {
		wanted.has_boot = wanted.has_attempt = 1;
		wanted.boot = d->agent.boot;
		wanted.attempt = o->attempt;
		connect_send(d->connect, KG_MSG_PEER_WANTED, 0, &wanted.base);
	}
	if (d->peer_port) {
		serving.has_boot = serving.has_attempt = serving.has_port = 1;
		serving.boot = d->agent.boot;
		serving.attempt = o->attempt;
		serving.port = d->peer_port;
		connect_send(d->connect, KG_MSG_PEER_SERVING, 0, &serving.base);
	}
}

static void on_serving(void *data, uint16_t port)
{
	struct driver *d = data;

	d->peer_port = port;
	driver_peer_resend(d);
}

void driver_peer_done(struct driver *d, const Kgrid__V1__PeerDone *p)
{
	const Kgrid__V1__RunOrder *o = current_run(d);

	if (o && d->run && d->peer_port && p->boot == d->agent.boot && p->attempt == o->attempt)
		workload_run_finish(d->run);
}

struct columns {
	uint32_t *index, *metric, *iteration;
	int64_t *delta;
	double *value;
};

static bool make_columns(struct columns *c, const struct run_sample *s, size_t n)
{
	uint64_t before = 0;
	size_t i;

	c->index = calloc(n, sizeof(*c->index));
	c->metric = calloc(n, sizeof(*c->metric));
	c->iteration = calloc(n, sizeof(*c->iteration));
	c->delta = calloc(n, sizeof(*c->delta));
	c->value = calloc(n, sizeof(*c->value));
	if (!c->index || !c->metric || !c->iteration || !c->delta || !c->value)
		return false;
	for (i = 0; i < n; i++) {
		c->index[i] = s[i].index;
		c->metric[i] = s[i].metric;
		c->iteration[i] = s[i].iteration;
		c->delta[i] = (int64_t)(s[i].time_ns - before);
		c->value[i] = s[i].value;
		before = s[i].time_ns;
	}
	return true;
}

#define BATCH_ROWS 4096 /* of one record */

static void pass_samples(struct driver *d, const struct run_sample *s, size_t n, bool warmup)
{
	Kgrid__V1__SampleBatch b = KGRID__V1__SAMPLE_BATCH__INIT;
	struct columns c;

	if (make_columns(&c, s, n)) {
		b.n_index = b.n_metric = b.n_iteration = b.n_time_delta_ns = b.n_value = n;
		b.index = c.index;
		b.metric = c.metric;
		b.iteration = c.iteration;
		b.time_delta_ns = c.delta;
		b.value = c.value;
		b.has_warmup = warmup;
		b.warmup = warmup;
		driver_run_record(d, AGENT_REC_SAMPLES, &b.base);
	} else {
		driver_die(d, "out of memory for samples");
	}
	free(c.index);
	free(c.metric);
	free(c.iteration);
	free(c.delta);
	free(c.value);
}

static void on_samples(void *data, const struct run_sample *s, size_t n, bool warmup)
{
	while (n > 0) {
		size_t part = n < BATCH_ROWS ? n : BATCH_ROWS;

		pass_samples(data, s, part, warmup);
		s += part;
		n -= part;
	}
}

static void on_log(void *data, const char *stream, const void *bytes, size_t len, uint64_t dropped)
{
	const uint8_t *p = bytes;

	do {
		Kgrid__V1__LogChunk c = KGRID__V1__LOG_CHUNK__INIT;
		size_t part = len < LOG_CHUNK_BYTES ? len : LOG_CHUNK_BYTES;

		c.stream = (char *)(uintptr_t)stream;
		c.has_data = 1;
		c.data.data = (uint8_t *)(uintptr_t)p;
		c.data.len = part;
		p += part;
		len -= part;
		if (len == 0 && dropped) {
			c.has_dropped_bytes = 1;
			c.dropped_bytes = dropped;
		}
		driver_run_record(data, AGENT_REC_LOG, &c.base);
	} while (len > 0);
}

static void on_ended(void *data, const struct agent_run_end *end)
{
	struct driver *d = data;
	struct agent_event ev = {.kind = AGENT_EV_RUN_ENDED};
	char reason[AGENT_REASON_SIZE];

	d->run = NULL;
	d->run_workload = NULL;
	d->run_params = NULL;
	d->peer_port = 0;
	ev.u.run_ended = *end;
	driver_after_run(d, &ev.u.run_ended, reason);
	driver_event(d, &ev);
	(void)malloc_trim(0);
}

static void refuse(struct driver *d, const char *outcome, const char *reason)
{
	struct agent_event ev = {.kind = AGENT_EV_RUN_ENDED};

	ev.u.run_ended.outcome = outcome;
	ev.u.run_ended.reason = reason;
	driver_event(d, &ev);
}

/* The declaration that the order was planned with, or an outcome and a reason. */
static struct kg_workload *find_workload(struct driver *d, const Kgrid__V1__RunOrder *o,
					 const char **ret_outcome, struct kg_err *err)
{
	const struct workload_entry *e =
		workload_registry_find(&d->registry, o->workload ? o->workload : "");
	struct kg_workload *w = NULL;
	char *text;
	size_t len;
	int rc;

	*ret_outcome = "harness-error";
	if (!e) {
		kg_err_set(err, 0, "workload '%s' is not declared on this machine",
			   o->workload ? o->workload : "");
		return NULL;
	}
	if (e->missing) {
		kg_err_set(err, 0, "workload '%s' cannot run here: %s", e->name, e->missing);
		return NULL;
	}
	if (o->workload_digest && strcmp(o->workload_digest, e->digest) != 0) {
		*ret_outcome = "invalid-env";
		kg_err_set(err, 0,
			   "workload '%s' changed on this machine since the job was planned",
			   e->name);
		return NULL;
	}
	rc = workload_declaration(e, &text, &len, err);
	if (rc == KG_ESTATE)
		*ret_outcome = "invalid-env";
	if (rc < 0)
		return NULL;
	if (kg_workload_parse(e->path, text, len, &w, err) < 0)
		w = NULL;
	free(text);
	return w;
}

static int make_params(const struct kg_workload *w, const Kgrid__V1__RunOrder *o,
		       struct kg_params *ret_params, struct kg_err *err)
{
	struct kg_param_value *given = calloc(o->n_params + 1, sizeof(*given));
	size_t i, n = 0;
	int rc = 0;

	if (!given)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < o->n_params && rc == 0; i++) {
		const Kgrid__V1__Param *p = o->params[i];

		/* Checked again here: nothing from the wire reaches a command unchecked. */
		rc = kg_workload_normalise(w, p->name ? p->name : "", p->value ? p->value : "",
					   &given[n].value, err);
		if (rc == 0)
			given[n++].name = p->name;
	}
	if (rc == 0)
		rc = kg_workload_params(w, given, n, ret_params, err);
	for (i = 0; i < n; i++)
		free(given[i].value);
	free(given);
	return rc;
}

static bool has_role(const Kgrid__V1__RunOrder *o, const char *role)
{
	return o->role && strcmp(o->role, role) == 0;
}

/* Where an idle clock races, hours are over at once. */
static bool waits_are_real(const struct driver *d)
{
	return d->config->clock == AGENT_CLOCK_REAL;
}

/* What is known of a run without its peer. Owned: workload and params. */
static int make_spec(struct driver *d, const Kgrid__V1__RunOrder *o, struct workload_run_spec *ret,
		     const char **ret_outcome, struct kg_err *err)
{
	struct workload_run_spec s = {.iterations = o->iterations ? o->iterations : 1,
				      .timeout_ns = o->timeout_seconds * KG_NSEC_PER_SEC,
				      .group = &d->group,
				      .path = WORKLOAD_PATH};
	int rc = 0;

	s.workload = find_workload(d, o, ret_outcome, err);
	if (!s.workload)
		return KG_EREFUSED;
	*ret_outcome = "harness-error";
	if (has_role(o, "client")) {
		s.role = WORKLOAD_CLIENT;
	} else if (has_role(o, "server")) {
		s.role = WORKLOAD_SERVER;
		s.host = d->config->address;
		s.timeout_ns = waits_are_real(d) ? s.timeout_ns + PEER_S * KG_NSEC_PER_SEC : 0;
	}
	if (s.role != WORKLOAD_BOTH && !s.workload->pair)
		rc = kg_err_set(err, KG_EREFUSED,
				"the declaration of '%s' here does not say 'pair: true'",
				s.workload->name);
	else if (s.role == WORKLOAD_SERVER && !s.host)
		rc = kg_err_set(err, KG_EREFUSED,
				"this machine serves nobody: its agent has no 'address'");
	else
		rc = make_params(s.workload, o, &s.params, err);
	if (rc < 0)
		kg_workload_free(s.workload);
	else
		*ret = s;
	return rc;
}

/* `host` and `port` are those of the server, for its client; else NULL and 0. */
static void start_run(struct driver *d, uint32_t index, const char *host, uint16_t port)
{
	static const struct workload_run_ops ops = {.started = on_started,
						    .stage = on_stage,
						    .samples = on_samples,
						    .serving = on_serving,
						    .log = on_log,
						    .ended = on_ended};
	struct workload_run_spec spec;
	const char *outcome;
	struct kg_err err;

	if (make_spec(d, d->order->runs[index], &spec, &outcome, &err) < 0) {
		refuse(d, outcome, err.text);
		return;
	}
	if (host) {
		spec.host = host;
		spec.port = port;
	}
	if (workload_run_start(d->loop, &spec, &ops, d, &d->run, &err) < 0) {
		refuse(d, "infra", err.text);
		return;
	}
	workload_run_describe(d->run, &d->run_workload, &d->run_params);
}

static void stop_waiting(struct driver *d)
{
	d->peer_wanted = false;
	(void)uv_timer_stop(&d->wait);
}

static void on_wait_over(uv_timer_t *t)
{
	struct driver *d = t->data;

	if (!d->peer_wanted)
		return;
	stop_waiting(d);
	refuse(d, "infra", "its server did not come, and nobody said so");
}

static void wait_for_server(struct driver *d, uint32_t index)
{
	struct agent_event ev = {.kind = AGENT_EV_RUN_RECORD};
	struct workload_run_spec spec;
	const char *outcome;
	struct kg_err err;

	/* What cannot run here needs no server. */
	if (make_spec(d, d->order->runs[index], &spec, &outcome, &err) < 0) {
		refuse(d, outcome, err.text);
		return;
	}
	kg_workload_free(spec.workload);
	kg_params_deinit(&spec.params);
	ev.u.record.kind = AGENT_REC_STAGE;
	ev.u.record.stage = "pair";
	ev.u.record.urgent = true;
	driver_later(d, &ev);
	d->peer_wanted = true;
	if (waits_are_real(d))
		(void)uv_timer_start(&d->wait, on_wait_over, PEER_S * UINT64_C(1000), 0);
	driver_peer_resend(d);
}

void driver_peer_ready(struct driver *d, const Kgrid__V1__PeerReady *p)
{
	const Kgrid__V1__RunOrder *o = current_run(d);

	if (!o || !d->peer_wanted || p->boot != d->agent.boot || p->attempt != o->attempt)
		return; /* said twice, or of a run that is over */
	stop_waiting(d);
	/* Both become words of a command line. */
	if (!p->address || !agent_ip_valid(p->address) || p->port == 0 || p->port > UINT16_MAX)
		refuse(d, "harness-error", "the server's address and port make no sense");
	else
		start_run(d, d->agent.run, p->address, (uint16_t)p->port);
}

void driver_start_run(struct driver *d, uint32_t index)
{
	struct agent_event full = {.kind = AGENT_EV_SPOOL_FULL};

	if (!has_room(d, 0)) /* what is left is for ends, and each run has one */
		driver_event(d, &full);
	else if (has_role(d->order->runs[index], "client"))
		wait_for_server(d, index);
	else
		start_run(d, index, NULL, 0);
}

void driver_kill_run(struct driver *d)
{
	stop_waiting(d);
	d->peer_port = 0; /* no client is to be sent there any more */
	if (d->run)
		workload_run_kill(d->run, "infra", "stopped by the agent");
	else
		refuse(d, "infra", "stopped by the agent"); /* it had not begun */
}
