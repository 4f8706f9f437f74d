/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: bind, accept, HELLO, messages, close.
 * Failure modes: an address is not loopback or in use (refused at start, with the reason); a peer
 * says nothing (dropped after SERVER_GREETING_NS, later after the configured silence), speaks
 * another version, has the name of a machine that is connected, or breaks the protocol: each is
 * dropped with a reason that is logged once.
 */
#include "coordinator/server/server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "coordinator/coordinator.h"

#define SEND_QUEUE_AGENT  (8u << 20)
#define SEND_QUEUE_CLIENT (32u << 20)

static const char *peer_name(const struct session *x)
{
	return x->machine[0]				 ? x->machine
	       : x->role == KGRID__V1__ROLE__ROLE_CLIENT ? "client"
							 : "peer";
}

/* ---- life of a session ---- */

void session_ref(struct session *x)
{
	x->refs++;
}

void session_unref(struct session *x)
{
	if (--x->refs > 0)
		return;
	assert(x->closed);
	kg_msg_free(x->started);
	free(x);
}

void server_ack_due(struct session *x)
{
	struct server *s = x->server;

	if (x->ack_due || x->closed)
		return;
	x->ack_due = true;
	x->next_due = s->due_sessions;
	x->due_at = &s->due_sessions;
	if (x->next_due)
		x->next_due->due_at = &x->next_due;
	s->due_sessions = x;
}

static void ack_not_due(struct session *x)
{
	if (!x->ack_due)
		return;
	x->ack_due = false;
	*x->due_at = x->next_due;
	if (x->next_due)
		x->next_due->due_at = x->due_at;
}

static void on_closed(struct kg_link *l, int code, const char *reason)
{
	struct session *x = l->data;
	struct server *s = x->server;

	x->closed = true;
	if (code < 0 && code != UV_EOF)
		kg_log_warn("%s (connection %" PRIu64 ") dropped: %s", peer_name(x), x->id, reason);
	if (x->prev)
		x->prev->next = x->next;
	else
		s->sessions = x->next;
	if (x->next)
		x->next->prev = x->prev;
	s->n_sessions--;
	if (x->machine[0])
		sched_hash_remove(&s->agents, &x->by_machine);
	ack_not_due(x);
	if (x->role == KGRID__V1__ROLE__ROLE_AGENT && x->greeted)
		agents_session_closed(x);
	watch_session_closed(x);
	session_unref(x);
}

struct session *server_agent(const struct server *s, const char *machine)
{
	struct sched_link *l = sched_hash_find(&s->agents, sched_hash_text(machine));
	struct session *newest = NULL;

	/* Oldest first; one that was replaced stays until its handle is closed. */
	for (; l; l = sched_hash_again(l)) {
		struct session *x = sched_owner(l, struct session, by_machine);

		if (x->greeted && !x->closed && x->link.state == KG_LINK_OPEN &&
		    strcmp(x->machine, machine) == 0)
			newest = x;
	}
	return newest;
}

static void copy_field(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from ? from : "");
}

/* Same name twice: the newcomer replaces a connection of its own agent (a restart, a line that is
 * half open); an agent with another state is somebody else and is refused. */
static bool admit_agent(struct session *x, const Kgrid__V1__Hello *h)
{
	struct session *other;
	char text[200];

	if (!kg_name_valid(h->machine)) {
		kg_link_refuse(&x->link, KG_EINVALID,
			       "the machine name has to be 1 to 63 of A-Z a-z 0-9 . _ + -");
		return false;
	}
	other = server_agent(x->server, h->machine);
	if (other &&
	    (!other->state_id[0] || !h->state_id || strcmp(other->state_id, h->state_id) != 0)) {
		(void)snprintf(text, sizeof(text),
			       "an agent named '%s' is connected already, with another state "
			       "directory; every machine needs a name of its own",
			       h->machine);
		kg_log_warn("refused a second agent: %s", text);
		driver_event(&x->server->c->driver, h->machine, 0, 0, "refused", text);
		kg_link_refuse(&x->link, KG_EEXISTS, text);
		return false;
	}
	if (other)
		kg_link_drop(&other->link, UV_ECONNRESET, "replaced by a newer connection of '%s'",
			     h->machine);
	copy_field(x->machine, sizeof(x->machine), h->machine);
	copy_field(x->instance, sizeof(x->instance), h->instance);
	copy_field(x->state_id, sizeof(x->state_id), h->state_id);
	sched_hash_insert(&x->server->agents, &x->by_machine, sched_hash_text(x->machine));
	return true;
}

static void handle_hello(struct session *x, const Kgrid__V1__Hello *h, uint32_t id)
{
	Kgrid__V1__Hello mine = KGRID__V1__HELLO__INIT;
	struct kg_err err = {""};
	uint32_t minor;
	int rc = kg_hello_check(h, &minor, &err);

	if (rc == 0 && h->role != KGRID__V1__ROLE__ROLE_AGENT &&
	    h->role != KGRID__V1__ROLE__ROLE_CLIENT)
		rc = kg_err_set(&err, KG_EPROTO, "only agents and clients may connect");
	if (rc < 0) {
		kg_log_warn("refused a peer (%s): %s", h->software ? h->software : "unnamed",
			    err.text);
		kg_link_refuse(&x->link, rc, err.text);
		return;
	}
	if (h->role == KGRID__V1__ROLE__ROLE_AGENT && !admit_agent(x, h))
		return;
	x->role = h->role;
	x->minor = minor;
	x->greeted = true;
	x->link.limits.send_queue_bytes =
		x->role == KGRID__V1__ROLE__ROLE_AGENT ? SEND_QUEUE_AGENT : SEND_QUEUE_CLIENT;
	kg_link_authenticated(&x->link);
	mine.has_role = mine.has_version_min = mine.has_version_max = 1;
	mine.role = KGRID__V1__ROLE__ROLE_COORDINATOR;
	mine.version_min = KG_PROTO_MINOR_OLDEST;
	mine.version_max = KG_PROTO_MINOR;
	mine.software = (char *)(uintptr_t)("kgrid-coordinator " KGRID_VERSION);
	mine.host_boot_id = x->server->c->host_boot_id;
	session_send(x, KG_MSG_HELLO, id, &mine.base);
}

static void on_message(struct kg_link *l, const struct kg_msg *m, uint32_t id)
{
	struct session *x = l->data;

	x->last_in_ns = kg_boottime_ns();
	if (!x->greeted && kg_msg_type(m) == KG_MSG_HELLO)
		handle_hello(x, (const Kgrid__V1__Hello *)kg_msg_body(m), id);
	else if (!x->greeted)
		kg_link_drop(l, KG_EPROTO, "first message is not HELLO");
	else
		session_dispatch(x, m, id);
}

void session_send(struct session *x, uint16_t type, uint32_t id, const ProtobufCMessage *body)
{
	int rc;

	if (x->closed || x->link.state != KG_LINK_OPEN)
		return;
	rc = kg_link_send(&x->link, type, id, body);
	/* A peer that is told nothing waits for minutes. */
	if (rc < 0 && type != KG_MSG_ERROR && x->link.state == KG_LINK_OPEN)
		session_error(x, id, rc,
			      rc == KG_ELIMIT ? "the answer is too large for one message"
					      : kg_strerror(rc));
}

void session_error(struct session *x, uint32_t id, int code, const char *text)
{
	Kgrid__V1__Error e = KGRID__V1__ERROR__INIT;

	e.has_code = 1;
	e.code = code;
	e.text = (char *)(uintptr_t)text;
	session_send(x, KG_MSG_ERROR, id, &e.base);
}

void session_done(struct session *x, uint32_t id, const char *text)
{
	Kgrid__V1__Done d = KGRID__V1__DONE__INIT;

	d.text = (char *)(uintptr_t)text;
	session_send(x, KG_MSG_DONE, id, &d.base);
}

const char *session_user(const struct session *x, const char *claimed)
{
	if (x->user[0])
		return x->user;
	return claimed && kg_name_valid(claimed) ? claimed : "";
}

/* The kernel says who is at the other end of a Unix socket. */
static void read_user(struct session *x)
{
	struct passwd pw, *found = NULL;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	char buf[4096];
	int fd;

	if (uv_fileno(&x->link.u.handle, &fd) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return;
	if (getpwuid_r(cred.uid, &pw, buf, sizeof(buf), &found) == 0 && found)
		(void)snprintf(x->user, sizeof(x->user), "%.63s", pw.pw_name);
	else
		(void)snprintf(x->user, sizeof(x->user), "uid-%u", (unsigned)cred.uid);
}

static const struct kg_link_ops link_ops = {.on_message = on_message, .on_closed = on_closed};

static void on_stray_closed(uv_handle_t *h)
{
	free(h->data);
}

static void on_connection(uv_stream_t *stream, int status)
{
	struct listener *ln = stream->data;
	struct server *s = ln->server;
	struct kg_link_limits limits = {.frame_bytes = KG_FRAME_MAX, .send_queue_bytes = 64 * 1024};
	struct session *x;
	struct kg_err err = {""};
	int rc;

	if (status < 0 || s->c->stopping)
		return;
	x = calloc(1, sizeof(*x));
	if (!x)
		return; /* stays in the backlog */
	x->server = s;
	x->id = ++s->next_id;
	x->refs = 1;
	x->link.data = x;
	x->opened_ns = x->last_in_ns = kg_boottime_ns();
	rc = ln->is_pipe ? uv_pipe_init(&s->c->loop, &x->link.u.pipe, 0)
			 : uv_tcp_init(&s->c->loop, &x->link.u.tcp);
	if (rc < 0) {
		free(x);
		return;
	}
	rc = uv_accept(stream, &x->link.u.stream);
	if (rc == 0 && s->n_sessions >= SERVER_MAX_SESSIONS)
		rc = KG_ELIMIT;
	if (rc == 0 && !ln->is_pipe)
		(void)uv_tcp_nodelay(&x->link.u.tcp, 1);
	else if (rc == 0)
		read_user(x);
	if (rc == 0)
		rc = kg_link_start(&x->link, &link_ops, &limits, &err);
	if (rc < 0) {
		kg_log_warn("cannot take a connection: %s",
			    err.text[0] ? err.text : kg_strerror(rc));
		x->link.u.handle.data = x;
		uv_close(&x->link.u.handle, on_stray_closed);
		return;
	}
	x->next = s->sessions;
	if (x->next)
		x->next->prev = x;
	s->sessions = x;
	s->n_sessions++;
}

/* ---- listeners ---- */

static void on_listener_closed(uv_handle_t *h)
{
	struct listener *ln = h->data;

	ln->open = false;
	ln->server->open_listeners--;
}

static bool is_loopback(const struct sockaddr_storage *sa)
{
	if (sa->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)sa;

		return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
	}
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

/* "127.0.0.1:7440" or "[::1]:7440"; numeric only, so that a name server cannot open us up. */
static int parse_address(const char *text, struct sockaddr_storage *ret, struct kg_err *err)
{
	char host[64];
	const char *colon = strrchr(text, ':');
	uint64_t port;
	size_t len = colon ? (size_t)(colon - text) : 0;

	if (!colon || len == 0 || len >= sizeof(host) || kg_parse_u64(colon + 1, &port) < 0 ||
	    port > 65535)
		return kg_err_set(err, KG_EINVALID,
				  "'%s' is no listen address; write ADDRESS:PORT, such as "
				  "127.0.0.1:7440 or [::1]:7440",
				  text);
	memcpy(host, text, len);
	host[len] = '\0';
	if (host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		if (uv_ip6_addr(host + 1, (int)port, (struct sockaddr_in6 *)ret) == 0)
			return 0;
	} else if (uv_ip4_addr(host, (int)port, (struct sockaddr_in *)ret) == 0) {
		return 0;
	}
	return kg_err_set(err, KG_EINVALID, "'%s' is not a numeric IP address", text);
}

static struct listener *new_listener(struct server *s, bool is_pipe)
{
	struct listener *ln;
	int rc;

	assert(s->n_listeners < SERVER_MAX_LISTENERS);
	ln = &s->listeners[s->n_listeners];
	ln->server = s;
	ln->is_pipe = is_pipe;
	rc = is_pipe ? uv_pipe_init(&s->c->loop, &ln->u.pipe, 0)
		     : uv_tcp_init(&s->c->loop, &ln->u.tcp);
	if (rc < 0)
		return NULL;
	ln->u.handle.data = ln;
	ln->open = true;
	s->n_listeners++;
	s->open_listeners++;
	return ln;
}

static int note_port(struct listener *ln)
{
	struct sockaddr_storage sa;
	int len = sizeof(sa);
	char host[64];
	int rc = uv_tcp_getsockname(&ln->u.tcp, (struct sockaddr *)&sa, &len);

	if (rc < 0)
		return rc;
	if (sa.ss_family == AF_INET) {
		(void)uv_ip4_name((struct sockaddr_in *)&sa, host, sizeof(host));
		(void)snprintf(ln->address, sizeof(ln->address), "%s:%u", host,
			       ntohs(((struct sockaddr_in *)&sa)->sin_port));
	} else {
		(void)uv_ip6_name((struct sockaddr_in6 *)&sa, host, sizeof(host));
		(void)snprintf(ln->address, sizeof(ln->address), "[%s]:%u", host,
			       ntohs(((struct sockaddr_in6 *)&sa)->sin6_port));
	}
	return 0;
}

static int listen_tcp(struct server *s, const char *address, struct kg_err *err)
{
	struct sockaddr_storage sa = {0};
	struct listener *ln;
	int rc = parse_address(address, &sa, err);

	if (rc < 0)
		return rc;
	if (!is_loopback(&sa) && !s->c->cfg.insecure_plaintext)
		return kg_err_set(
			err, KG_EREFUSED,
			"refusing to listen on '%s': connections are not encrypted yet, and "
			"whoever reaches this port can boot any kernel on every machine; use "
			"a loopback address (127.0.0.1), or --insecure-plaintext on a network "
			"that nobody else is on",
			address);
	ln = new_listener(s, false);
	if (!ln)
		return kg_err_set(err, -ENOMEM, "cannot make a socket");
	rc = uv_tcp_bind(&ln->u.tcp, (struct sockaddr *)&sa, 0);
	if (rc == 0)
		rc = uv_listen(&ln->u.stream, 1024, on_connection);
	if (rc == 0)
		rc = note_port(ln);
	if (rc == UV_EADDRINUSE)
		return kg_err_set(
			err, rc,
			"cannot listen on '%s': the port is in use; is another coordinator "
			"running?",
			address);
	if (rc < 0)
		return kg_err_set(err, rc, "cannot listen on '%s': %s", address, uv_strerror(rc));
	return 0;
}

static bool is_listened_on(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	bool answers;
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	/* EAGAIN: its queue is full. */
	answers = connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 || errno == EAGAIN;
	close(fd);
	return answers;
}

/* An old socket that nobody listens on is left over from a crash. */
static int listen_unix(struct server *s, const char *path, struct kg_err *err)
{
	struct listener *ln = new_listener(s, true);
	struct stat st;
	int rc;

	if (!ln)
		return kg_err_set(err, -ENOMEM, "cannot make a socket");
	if (strlen(path) >= 108)
		return kg_err_set(err, KG_EINVALID,
				  "socket path is longer than 107 characters: '%s'", path);
	if (lstat(path, &st) == 0) {
		if (!S_ISSOCK(st.st_mode))
			return kg_err_set(err, KG_EEXISTS, "'%s' exists and is not a socket", path);
		if (is_listened_on(path))
			return kg_err_set(err, KG_EEXISTS,
					  "cannot listen on '%s': the socket is in use; is another "
					  "coordinator running?",
					  path);
		(void)unlink(path);
	}
	rc = uv_pipe_bind(&ln->u.pipe, path);
	if (rc == 0 && chmod(path, 0660) < 0)
		rc = -errno;
	if (rc == 0)
		rc = uv_listen(&ln->u.stream, 128, on_connection);
	if (rc < 0)
		return kg_err_set(err, rc, "cannot listen on '%s': %s", path, uv_strerror(rc));
	s->socket_path = strdup(path);
	(void)snprintf(ln->address, sizeof(ln->address), "unix:%.120s", path);
	return 0;
}

/* DATA_DIR/run/tcp holds the first TCP address, for scripts that let us choose the port. */
static int publish_port(struct server *s, struct kg_err *err)
{
	char path[512], line[160];
	unsigned i;

	for (i = 0; i < s->n_listeners && s->listeners[i].is_pipe; i++)
		;
	if (i == s->n_listeners)
		return 0;
	(void)snprintf(path, sizeof(path), "%s/run/tcp", s->c->cfg.data_dir);
	(void)snprintf(line, sizeof(line), "%s\n", s->listeners[i].address);
	return kg_file_replace(path, line, strlen(line), 0644, err);
}

int server_start(struct server *s, struct coordinator *c, struct kg_err *err)
{
	size_t i;
	int rc;

	s->c = c;
	rc = listen_unix(s, c->cfg.socket, err);
	if (rc == 0 && c->cfg.listen.n >= SERVER_MAX_LISTENERS)
		rc = kg_err_set(err, KG_ELIMIT, "more than %d listen addresses",
				SERVER_MAX_LISTENERS - 1);
	for (i = 0; rc == 0 && i < c->cfg.listen.n; i++)
		rc = listen_tcp(s, c->cfg.listen.items[i], err);
	if (rc == 0)
		rc = publish_port(s, err);
	if (rc < 0) {
		server_stop(s, "start failed");
		return rc;
	}
	for (i = 0; i < s->n_listeners; i++)
		kg_log_info("listening on %s", s->listeners[i].address);
	return 0;
}

void server_stop(struct server *s, const char *reason)
{
	struct session *x, *next;
	unsigned i;

	for (i = 0; i < s->n_listeners; i++)
		if (s->listeners[i].open && !uv_is_closing(&s->listeners[i].u.handle))
			uv_close(&s->listeners[i].u.handle, on_listener_closed);
	for (x = s->sessions; x; x = next) {
		next = x->next;
		kg_link_drop(&x->link, UV_EOF, "%s", reason);
	}
	if (s->socket_path)
		(void)unlink(s->socket_path);
}

bool server_idle(const struct server *s)
{
	return s->open_listeners == 0 && !s->sessions;
}

void server_deinit(struct server *s)
{
	free(s->socket_path);
	s->socket_path = NULL;
	sched_hash_deinit(&s->agents);
}

void server_tick(struct server *s, uint64_t now_ns)
{
	struct session *x, *next;

	for (x = s->sessions; x; x = next) {
		next = x->next;
		if (x->link.state != KG_LINK_OPEN)
			continue;
		if (!x->greeted && now_ns - x->opened_ns > SERVER_GREETING_NS)
			kg_link_drop(&x->link, KG_EPROTO, "no HELLO within %llu seconds",
				     SERVER_GREETING_NS / KG_NSEC_PER_SEC);
		else if (x->greeted && x->role == KGRID__V1__ROLE__ROLE_AGENT &&
			 now_ns - x->last_in_ns > s->c->cfg.silence_ns)
			kg_link_drop(&x->link, UV_ETIMEDOUT, "no sign of life for %llu s",
				     (unsigned long long)(s->c->cfg.silence_ns / KG_NSEC_PER_SEC));
	}
}

void server_flush_acks(struct server *s)
{
	struct session *x;

	while ((x = s->due_sessions)) {
		Kgrid__V1__RecordAck a = KGRID__V1__RECORD_ACK__INIT;

		ack_not_due(x);
		a.has_boot = a.has_lease_epoch = a.has_seq = 1;
		a.boot = x->ack_boot;
		a.lease_epoch = x->ack_epoch;
		a.seq = x->ack_seq;
		session_send(x, KG_MSG_RECORD_ACK, 0, &a.base);
	}
}
