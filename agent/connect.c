/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/connect.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "agent/config.h"
#include "common/clock.h"
#include "common/log.h"
#include "proto/hello.h"
#include "proto/link.h"

#define FIRST_WAIT_MS  250
#define CAP_MS	       30000
#define CAP_IDLE_MS    600000 /* on an instruction clock, where an idle minute is over at once */
#define SETTLED_NS     (10 * KG_NSEC_PER_SEC) /* a connection that held so long was a good one */
#define TICK_MS	       10000
#define SILENT_TICKS   4
#define SEND_QUEUE_CAP (4U * 1024 * 1024)

enum state {
	STATE_WAITING,
	STATE_RESOLVING,
	STATE_CONNECTING,
	STATE_HELLO,
	STATE_UP,
	STATE_COUNT,
};

#define TO(s) (1U << (s))

static const unsigned moves[STATE_COUNT] = {
	[STATE_WAITING] = TO(STATE_RESOLVING) | TO(STATE_CONNECTING),
	[STATE_RESOLVING] = TO(STATE_CONNECTING) | TO(STATE_WAITING),
	[STATE_CONNECTING] = TO(STATE_HELLO) | TO(STATE_WAITING),
	[STATE_HELLO] = TO(STATE_UP) | TO(STATE_WAITING),
	[STATE_UP] = TO(STATE_WAITING),
};

struct conn { /* one try; freed when its handle is closed */
	struct kg_link link;
	uv_connect_t request;
	struct connect *owner;
	bool started; /* kg_link_start was called: kg_link closes the handle */
};

struct connect {
	uv_loop_t *loop;
	const struct connect_ops *ops;
	void *data;
	enum state state;
	char host[256];
	uint16_t port;
	bool is_unix;
	bool instruction_clock;
	char machine[64];
	char state_id[40];
	char instance[40];
	char host_boot_id[40];
	uv_timer_t wait; /* before the next try */
	uv_timer_t tick; /* heartbeat; on a real clock also limits */
	uv_getaddrinfo_t resolve;
	struct conn *conn;
	unsigned tries;
	unsigned silent;
	uint32_t minor;
	bool pinged; /* the answer is not back */
	uint64_t seen_in, seen_out;
	uint64_t up_ns;
	unsigned handles;
	bool closing, resolving;
	char last_reason[256]; /* logged once, not at each try */
	void (*closed)(void *data);
};

static void try_now(struct connect *c);

static void enter(struct connect *c, enum state to)
{
	assert(moves[c->state] & TO(to));
	c->state = to;
}

uint64_t connect_backoff_ms(unsigned tries, uint32_t random, uint64_t cap_ms)
{
	uint64_t ms = FIRST_WAIT_MS;

	while (tries-- > 1 && ms < cap_ms)
		ms *= 2;
	if (ms > cap_ms)
		ms = cap_ms;
	return ms - ms / 4 + random % (ms / 2 + 1);
}

static uint32_t random_number(void)
{
	uint32_t v = 0;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) < 0)
		v = (uint32_t)kg_monotonic_ns();
	return v;
}

static void maybe_closed(struct connect *c)
{
	if (!c->closing || c->handles > 0 || c->conn || c->resolving)
		return;
	c->closed(c->data);
	free(c);
}

static void on_wait_over(uv_timer_t *t)
{
	try_now(t->data);
}

/* The try has ended, its memory is gone. */
static void wait_for_next(struct connect *c, const char *reason)
{
	bool was_up = c->state == STATE_UP;
	uint64_t cap = c->instruction_clock ? CAP_IDLE_MS : CAP_MS;

	(void)uv_timer_stop(&c->tick);
	if (c->state != STATE_WAITING)
		enter(c, STATE_WAITING);
	if (c->up_ns && kg_monotonic_ns() - c->up_ns > SETTLED_NS)
		c->tries = 0;
	c->up_ns = 0;
	if (strcmp(reason, c->last_reason) != 0) {
		kg_log_notice("coordinator: %s", reason);
		(void)snprintf(c->last_reason, sizeof(c->last_reason), "%s", reason);
	}
	if (was_up && !c->closing)
		c->ops->down(c->data);
	if (c->closing) {
		maybe_closed(c);
		return;
	}
	c->tries++;
	(void)uv_timer_start(&c->wait, on_wait_over,
			     connect_backoff_ms(c->tries, random_number(), cap), 0);
}

/* ---- the link ---- */

static void send_hello(struct connect *c)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;

	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_AGENT;
	h.version_min = KG_PROTO_MINOR_OLDEST;
	h.version_max = KG_PROTO_MINOR;
	h.software = (char *)(uintptr_t) "kgrid-agent " KGRID_VERSION;
	h.machine = c->machine;
	h.instance = c->instance;
	h.host_boot_id = c->host_boot_id[0] ? c->host_boot_id : NULL;
	h.state_id = c->state_id;
	(void)kg_link_send(&c->conn->link, KG_MSG_HELLO, 0, &h.base);
}

static void take_hello(struct connect *c, const struct kg_msg *m)
{
	const Kgrid__V1__Hello *h = (const Kgrid__V1__Hello *)kg_msg_body(m);
	struct kg_err err;
	uint32_t minor;
	int rc = kg_hello_check(h, &minor, &err);

	if (rc < 0 || h->role != KGRID__V1__ROLE__ROLE_COORDINATOR) {
		kg_link_drop(&c->conn->link, rc < 0 ? rc : KG_EPROTO, "%s",
			     rc < 0 ? err.text : "the peer is not a coordinator");
		return;
	}
	kg_link_authenticated(&c->conn->link);
	c->minor = minor;
	enter(c, STATE_UP);
	c->up_ns = kg_monotonic_ns();
	c->last_reason[0] = '\0';
	kg_log_info("coordinator: connected to '%s', protocol 1.%u",
		    h->software ? h->software : "?", minor);
	c->ops->up(c->data);
}

static void take_ping(struct connect *c, const struct kg_msg *m, uint32_t id)
{
	const Kgrid__V1__Ping *in = (const Kgrid__V1__Ping *)kg_msg_body(m);
	Kgrid__V1__Pong out = KGRID__V1__PONG__INIT;

	out.has_token = in->has_token;
	out.token = in->token;
	(void)kg_link_send(&c->conn->link, KG_MSG_PONG, id, &out.base);
}

static void take_error(struct connect *c, const struct kg_msg *m, uint32_t id)
{
	const Kgrid__V1__Error *e = (const Kgrid__V1__Error *)kg_msg_body(m);

	if (e->fatal || c->state != STATE_UP)
		kg_link_drop(&c->conn->link, e->code ? e->code : KG_EREFUSED, "refused: %s",
			     e->text ? e->text : "without a reason");
	else
		c->ops->message(c->data, m, id);
}

static void on_message(struct kg_link *l, const struct kg_msg *m, uint32_t id)
{
	struct conn *conn = l->data;
	struct connect *c = conn->owner;

	if (kg_msg_type(m) == KG_MSG_ERROR)
		take_error(c, m, id);
	else if (c->state == STATE_HELLO && kg_msg_type(m) == KG_MSG_HELLO)
		take_hello(c, m);
	else if (c->state != STATE_UP)
		kg_link_drop(l, KG_EPROTO, "the coordinator did not begin with HELLO");
	else if (kg_msg_type(m) == KG_MSG_PING)
		take_ping(c, m, id);
	else if (kg_msg_type(m) == KG_MSG_PONG)
		c->pinged = false;
	else
		c->ops->message(c->data, m, id);
}

static void on_closed(struct kg_link *l, int code, const char *reason)
{
	struct conn *conn = l->data;
	struct connect *c = conn->owner;
	char text[256];

	(void)code;
	(void)snprintf(text, sizeof(text), "%s", reason);
	c->conn = NULL;
	free(conn);
	wait_for_next(c, text);
}

static void on_drained(struct kg_link *l)
{
	struct conn *conn = l->data;

	conn->owner->ops->drained(conn->owner->data);
}

static const struct kg_link_ops link_ops = {
	.on_message = on_message,
	.on_closed = on_closed,
	.on_drained = on_drained,
};

static void on_conn_closed(uv_handle_t *h)
{
	struct conn *conn = h->data;
	struct connect *c = conn->owner;

	c->handles--;
	free(conn);
	maybe_closed(c);
}

/* Gives up a connection that has not become a link. */
static void drop_conn(struct connect *c, const char *reason)
{
	struct conn *conn = c->conn;

	if (conn->started) {
		kg_link_drop(&conn->link, KG_ESTATE, "%s", reason);
		return;
	}
	/* The wait begins at once; the memory goes when libuv is done with it. */
	c->conn = NULL;
	c->handles++;
	conn->link.u.handle.data = conn;
	uv_close(&conn->link.u.handle, on_conn_closed);
	wait_for_next(c, reason);
}

static void on_tick(uv_timer_t *t)
{
	struct connect *c = t->data;
	Kgrid__V1__Ping ping = KGRID__V1__PING__INIT;
	struct kg_link *l;

	if (c->state != STATE_UP) {
		if (!c->instruction_clock && c->conn)
			drop_conn(c, "no answer");
		return;
	}
	l = &c->conn->link;
	c->silent = l->bytes_in == c->seen_in ? c->silent + 1 : 0;
	c->seen_in = l->bytes_in;
	if (c->silent >= SILENT_TICKS && !c->instruction_clock) {
		kg_link_drop(l, UV_ETIMEDOUT, "silent for %d s", SILENT_TICKS * TICK_MS / 1000);
		return;
	}
	/* One at a time: where the clock races, the peer's answers set the pace. */
	if ((l->bytes_out == c->seen_out || c->silent > 0) && !c->pinged) {
		c->pinged = true;
		(void)kg_link_send(l, KG_MSG_PING, 0, &ping.base);
	}
	c->seen_out = l->bytes_out;
}

static void on_connected(uv_connect_t *req, int status)
{
	static const struct kg_link_limits limits = {.frame_bytes = KG_FRAME_MAX,
						     .send_queue_bytes = SEND_QUEUE_CAP};
	struct conn *conn = req->data;
	struct connect *c = conn->owner;
	struct kg_err err;
	char text[320];

	if (c->conn != conn)
		return; /* given up meanwhile; its close callback frees it */
	if (status < 0) {
		(void)snprintf(text, sizeof(text), "cannot connect to '%s': %s", c->host,
			       uv_strerror(status));
		drop_conn(c, text);
		return;
	}
	conn->link.data = conn;
	if (kg_link_start(&conn->link, &link_ops, &limits, &err) < 0) {
		drop_conn(c, err.text);
		return;
	}
	conn->started = true;
	c->silent = 0;
	c->pinged = false;
	c->seen_in = c->seen_out = 0;
	enter(c, STATE_HELLO);
	send_hello(c);
}

static void connect_to(struct connect *c, const struct sockaddr *address)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	int rc;

	if (!conn) {
		wait_for_next(c, "out of memory");
		return;
	}
	conn->owner = c;
	conn->request.data = conn;
	rc = address ? uv_tcp_init(c->loop, &conn->link.u.tcp)
		     : uv_pipe_init(c->loop, &conn->link.u.pipe, 0);
	if (rc < 0) {
		free(conn);
		wait_for_next(c, uv_strerror(rc));
		return;
	}
	c->conn = conn;
	enter(c, STATE_CONNECTING);
	(void)uv_timer_start(&c->tick, on_tick, TICK_MS, TICK_MS);
	if (address) {
		rc = uv_tcp_connect(&conn->request, &conn->link.u.tcp, address, on_connected);
		if (rc < 0)
			drop_conn(c, uv_strerror(rc));
	} else {
		uv_pipe_connect(&conn->request, &conn->link.u.pipe, c->host, on_connected);
	}
}

static void on_resolved(uv_getaddrinfo_t *req, int status, struct addrinfo *list)
{
	struct connect *c = req->data;
	struct sockaddr_storage address;
	char text[320];

	c->resolving = false;
	if (status == 0 && list)
		memcpy(&address, list->ai_addr, list->ai_addrlen);
	uv_freeaddrinfo(list);
	if (c->closing) {
		maybe_closed(c);
		return;
	}
	if (status < 0 || !list) {
		(void)snprintf(text, sizeof(text), "no address for '%s': %s", c->host,
			       uv_strerror(status));
		wait_for_next(c, text);
		return;
	}
	connect_to(c, (const struct sockaddr *)&address);
}

static void resolve(struct connect *c)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
	char service[8];
	int rc;

	(void)snprintf(service, sizeof(service), "%u", c->port);
	enter(c, STATE_RESOLVING);
	c->resolve.data = c;
	rc = uv_getaddrinfo(c->loop, &c->resolve, on_resolved, c->host, service, &hints);
	if (rc < 0)
		wait_for_next(c, uv_strerror(rc));
	else
		c->resolving = true;
}

/* Numeric addresses need no resolver, whose thread would stay. */
static void try_now(struct connect *c)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (c->is_unix)
		connect_to(c, NULL);
	else if (uv_ip4_addr(c->host, c->port, &v4) == 0)
		connect_to(c, (const struct sockaddr *)&v4);
	else if (uv_ip6_addr(c->host, c->port, &v6) == 0)
		connect_to(c, (const struct sockaddr *)&v6);
	else
		resolve(c);
}

/* ---- owner's side ---- */

int connect_start(uv_loop_t *loop, const struct connect_spec *spec, const struct connect_ops *ops,
		  void *data, struct connect **ret_c, struct kg_err *err)
{
	struct connect *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return kg_err_set(err, -ENOMEM, "out of memory");
	rc = agent_address_parse(spec->address, c->host, sizeof(c->host), &c->port, &c->is_unix,
				 err);
	if (rc < 0) {
		free(c);
		return rc;
	}
	c->loop = loop;
	c->ops = ops;
	c->data = data;
	c->instruction_clock = spec->instruction_clock;
	(void)snprintf(c->machine, sizeof(c->machine), "%s", spec->machine);
	(void)snprintf(c->state_id, sizeof(c->state_id), "%s", spec->state_id);
	(void)snprintf(c->host_boot_id, sizeof(c->host_boot_id), "%s", spec->host_boot_id);
	(void)snprintf(c->instance, sizeof(c->instance), "%08x%08x%08x%08x", random_number(),
		       random_number(), random_number(), random_number());
	(void)uv_timer_init(loop, &c->wait);
	(void)uv_timer_init(loop, &c->tick);
	c->wait.data = c->tick.data = c;
	c->handles = 2;
	(void)uv_timer_start(&c->wait, on_wait_over, 0, 0);
	*ret_c = c;
	return 0;
}

static void on_timer_closed(uv_handle_t *h)
{
	struct connect *c = h->data;

	c->handles--;
	maybe_closed(c);
}

void connect_close(struct connect *c, void (*closed)(void *data))
{
	c->closed = closed;
	c->closing = true;
	if (c->conn)
		drop_conn(c, "the agent stops");
	if (c->resolving)
		(void)uv_cancel((uv_req_t *)&c->resolve);
	uv_close((uv_handle_t *)&c->wait, on_timer_closed);
	uv_close((uv_handle_t *)&c->tick, on_timer_closed);
}

uint32_t connect_minor(const struct connect *c)
{
	return c->minor;
}

bool connect_is_up(const struct connect *c)
{
	return c->state == STATE_UP;
}

void connect_send(struct connect *c, uint16_t type, uint32_t id, const ProtobufCMessage *body)
{
	if (c->state == STATE_UP)
		(void)kg_link_send(&c->conn->link, type, id, body);
}

void connect_send_bytes(struct connect *c, uint8_t *bytes, size_t len)
{
	if (c->state == STATE_UP)
		(void)kg_link_send_bytes(&c->conn->link, bytes, len);
	else
		free(bytes);
}

size_t connect_queued_bytes(const struct connect *c)
{
	return c->state == STATE_UP ? kg_link_queued_bytes(&c->conn->link) : 0;
}

void connect_farewell(struct connect *c)
{
	uv_os_fd_t fd;

	if (c->conn && uv_fileno(&c->conn->link.u.handle, &fd) == 0)
		(void)shutdown(fd, SHUT_RDWR);
}

void connect_drop(struct connect *c, const char *reason)
{
	if (c->conn)
		drop_conn(c, reason);
}
