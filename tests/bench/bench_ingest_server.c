/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The coordinator's end: a loop with links, and the store behind it. */
#include "bench_ingest.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store/store.h"
#include "proto/link.h"

#define AGENTS_MAX 64

struct server;

struct peer {
	struct kg_link link;
	struct server *server;
	char machine[16];
	uint64_t boot;
	uint64_t acked; /* told */
	uint64_t stored;
};

struct server {
	uv_loop_t loop;
	uv_tcp_t listener;
	uv_async_t wake;
	struct store *store;
	const struct bench *b;
	struct peer peers[AGENTS_MAX];
	uint32_t n_peers, n_closed;
};

/* ---- setup ---- */

static void on_setup(void *arg, const struct store_result *r)
{
	(void)arg;
	if (r->rc < 0 || r->fault)
		bench_die("setup: %s", r->rc < 0 ? r->text : "a record is malformed");
}

static const struct store_done check = {on_setup, NULL};

static void setup_job(struct store *s, const struct bench *b)
{
	struct store_kernel k = {.digest = "d", .release = "6.1", .version = "v", .manifest = "m"};
	struct store_cell cells[AGENTS_MAX];
	struct store_slot slots[AGENTS_MAX];
	char names[AGENTS_MAX][16];
	struct store_job j = {.name = "bench",
			      .text = "",
			      .file_name = "",
			      .blocks = 1,
			      .cells = cells,
			      .n_cells = b->agents,
			      .slots = slots,
			      .n_slots = b->agents};

	for (uint32_t i = 0; i < b->agents; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "m%u", i);
		cells[i] = (struct store_cell){.identity = names[i],
					       .machine = names[i],
					       .kernel = "d",
					       .kernel_label = "k",
					       .lsm_label = "l",
					       .lsm_request = "",
					       .lsm_effective = "",
					       .cmdline = "",
					       .workload = "w",
					       .workload_digest = "",
					       .params = ""};
		slots[i] =
			(struct store_slot){.cell_index = i, .block = 1, .visit = 1, .position = 1};
	}
	(void)store_kernel_insert(s, &k, check);
	(void)store_job_insert(s, &j, check);
}

static void setup_boot(struct store *s, uint32_t agent)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__BootEvidence evidence = KGRID__V1__BOOT_EVIDENCE__INIT;
	Kgrid__V1__AttemptStarted started = KGRID__V1__ATTEMPT_STARTED__INIT;
	Kgrid__V1__MetricInfo metric = KGRID__V1__METRIC_INFO__INIT, *metrics[] = {&metric};
	char machine[16];
	struct store_attempt a = {
		.id = bench_attempt(agent), .slot = (uint64_t)agent + 1, .position = 1};
	struct store_boot b = {.id = bench_boot(agent),
			       .job = 1,
			       .machine = machine,
			       .block = 1,
			       .visit = 1,
			       .lease_epoch = BENCH_EPOCH,
			       .nonce = "n",
			       .kernel = "d",
			       .lsm_request = "",
			       .lsm_effective = "",
			       .cmdline = "",
			       .stage = "run",
			       .attempts = &a,
			       .n_attempts = 1};

	(void)snprintf(machine, sizeof(machine), "m%u", agent);
	(void)store_boot_begin(s, &b, check);
	r.boot = b.id;
	r.lease_epoch = BENCH_EPOCH;
	r.seq = 1;
	r.body_case = KGRID__V1__RECORD__BODY_EVIDENCE;
	r.evidence = &evidence;
	evidence.verified = 1;
	(void)store_ingest(s, machine, &r, 0, check);
	r.seq = 2;
	r.attempt = a.id;
	r.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_STARTED;
	r.attempt_started = &started;
	metric.has_id = 1;
	metric.name = (char *)(uintptr_t) "rate";
	metric.direction = (char *)(uintptr_t) "higher";
	started.metrics = metrics;
	started.n_metrics = 1;
	(void)store_ingest(s, machine, &r, 0, check);
}

void bench_setup(const struct bench *b)
{
	struct store_config c = {.path = b->path};
	struct store *s = NULL;
	struct kg_err err;

	if (b->agents > AGENTS_MAX)
		bench_die("at most %d agents", AGENTS_MAX);
	if (store_open(&c, &s, &err) < 0)
		bench_die("%s", err.text);
	setup_job(s, b);
	for (uint32_t i = 0; i < b->agents; i++)
		setup_boot(s, i);
	store_close(s); /* runs all of it */
}

/* ---- serving ---- */

static void on_stored(void *arg, const struct store_result *r)
{
	struct peer *p = arg;

	if (r->rc < 0 || r->fault || r->ingest != STORE_INGEST_COMMITTED)
		bench_die("ingest: %s", r->rc < 0 ? r->text : "not committed");
	p->stored = r->last_seq;
}

static void on_message(struct kg_link *l, const struct kg_msg *m, uint32_t id)
{
	struct peer *p = l->data;
	const Kgrid__V1__Record *r = (const void *)kg_msg_body(m);

	(void)id;
	if (!p->boot) {
		p->boot = r->boot;
		(void)snprintf(p->machine, sizeof(p->machine), "m%u", (unsigned)r->boot - 1);
	}
	if (store_ingest(p->server->store, p->machine, r, 1, (struct store_done){on_stored, p}) < 0)
		bench_die("the store's queue is full: make --window smaller");
}

static void on_closed(struct kg_link *l, int code, const char *reason)
{
	struct peer *p = l->data;
	struct server *s = p->server;

	(void)code;
	(void)reason;
	if (++s->n_closed < s->b->agents)
		return;
	uv_close((uv_handle_t *)&s->listener, NULL);
	uv_close((uv_handle_t *)&s->wake, NULL);
}

static const struct kg_link_ops ops = {.on_message = on_message, .on_closed = on_closed};

static void on_connection(uv_stream_t *listener, int status)
{
	struct server *s = listener->data;
	struct peer *p = &s->peers[s->n_peers++];
	struct kg_link_limits limits = {0};
	struct kg_err err;

	if (status < 0 || s->n_peers > s->b->agents)
		bench_die("cannot accept");
	p->server = s;
	p->link.data = p;
	(void)uv_tcp_init(&s->loop, &p->link.u.tcp);
	if (uv_accept(listener, &p->link.u.stream) < 0 ||
	    kg_link_start(&p->link, &ops, &limits, &err) < 0)
		bench_die("cannot start a link");
	kg_link_authenticated(&p->link);
}

/* One acknowledgement for all that a connection has stored. */
static void on_wake(uv_async_t *wake)
{
	struct server *s = wake->data;

	(void)store_poll(s->store);
	for (uint32_t i = 0; i < s->n_peers; i++) {
		struct peer *p = &s->peers[i];
		Kgrid__V1__RecordAck ack = KGRID__V1__RECORD_ACK__INIT;

		if (p->stored == p->acked)
			continue;
		ack.has_boot = ack.has_lease_epoch = ack.has_seq = 1;
		ack.boot = p->boot;
		ack.lease_epoch = BENCH_EPOCH;
		ack.seq = p->acked = p->stored;
		(void)kg_link_send(&p->link, KG_MSG_RECORD_ACK, 0, &ack.base);
	}
}

static void wake_loop(void *arg)
{
	struct server *s = arg;

	(void)uv_async_send(&s->wake);
}

static uint16_t listen_somewhere(struct server *s)
{
	struct sockaddr_in at;
	int len = sizeof(at);

	(void)uv_loop_init(&s->loop);
	(void)uv_tcp_init(&s->loop, &s->listener);
	s->listener.data = s;
	s->wake.data = s;
	(void)uv_async_init(&s->loop, &s->wake, on_wake);
	(void)uv_ip4_addr("127.0.0.1", 0, &at);
	if (uv_tcp_bind(&s->listener, (struct sockaddr *)&at, 0) < 0 ||
	    uv_listen((uv_stream_t *)&s->listener, AGENTS_MAX, on_connection) < 0 ||
	    uv_tcp_getsockname(&s->listener, (struct sockaddr *)&at, &len) < 0)
		bench_die("cannot listen");
	return ntohs(at.sin_port);
}

struct bench_result bench_run_store(const struct bench *b)
{
	struct server *s = calloc(1, sizeof(*s));
	struct bench_client *clients[AGENTS_MAX];
	struct store_config c = {.path = b->path, .wake = wake_loop, .arg = s};
	struct store_stats before, after;
	struct bench_result r;
	struct kg_err err;
	uint16_t port;
	double begin;

	if (!s)
		bench_die("out of memory");
	s->b = b;
	for (uint32_t i = 0; i < b->agents; i++)
		clients[i] = bench_client_new(b, i);
	port = listen_somewhere(s);
	if (store_open(&c, &s->store, &err) < 0 || store_start(s->store, &err) < 0)
		bench_die("%s", err.text);
	store_stats(s->store, &before);
	begin = bench_now();
	for (uint32_t i = 0; i < b->agents; i++)
		bench_client_start(clients[i], port);
	(void)uv_run(&s->loop, UV_RUN_DEFAULT); /* until all agents have closed */
	r.seconds = bench_now() - begin;
	store_stats(s->store, &after);
	r.commits = after.commits - before.commits;
	r.rows_per_txn = (double)(after.samples - before.samples) / (double)r.commits;
	for (uint32_t i = 0; i < b->agents; i++)
		bench_client_join(clients[i]);
	store_close(s->store);
	if (uv_loop_close(&s->loop) != 0)
		bench_die("a handle was left open");
	free(s);
	return r;
}
