/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/address.h"
#include "cli/cli.h"
#include "common/clock.h"
#include "proto/frame.h"
#include "proto/hello.h"

#define READ_SIZE (64 * 1024)

struct client {
	int fd;
	uint32_t next_id;
	uint32_t minor; /* of the protocol, that both speak */
	struct kg_frame_decoder decoder;
	uint8_t buf[READ_SIZE];
	const uint8_t *unread; /* borrows from buf */
	size_t n_unread;
	bool pinged; /* no frame came since a ping */
	bool answered;
	char **details; /* owned, each too */
	size_t n_details;
	uint8_t *parts; /* owned; of a reply that has not come in whole */
	size_t n_parts, cap_parts;
};

static void clear_details(struct client *c)
{
	size_t i;

	for (i = 0; i < c->n_details; i++)
		free(c->details[i]);
	free(c->details);
	c->details = NULL;
	c->n_details = 0;
	c->answered = false;
}

void client_close(struct client *c)
{
	if (!c)
		return;
	clear_details(c);
	free(c->parts);
	kg_frame_decoder_deinit(&c->decoder);
	close(c->fd);
	free(c);
}

bool client_answered(const struct client *c)
{
	return c->answered;
}

const char *client_detail(const struct client *c, size_t i)
{
	return i < c->n_details ? c->details[i] : NULL;
}

/* Waits for `events` until the deadline: 0, -ETIMEDOUT or -EINTR. */
static int wait_for(int fd, short events, uint64_t deadline_ns, struct kg_err *err)
{
	struct pollfd p = {.fd = fd, .events = events};
	uint64_t now = kg_monotonic_ns();
	int ms = now >= deadline_ns ? 0 : (int)((deadline_ns - now) / KG_NSEC_PER_MSEC) + 1;
	int n = poll(&p, 1, ms);

	if (n > 0)
		return 0;
	if (n == 0)
		return kg_err_set(err, -ETIMEDOUT, "the coordinator does not answer");
	if (errno == EINTR)
		return kg_err_set(err, -EINTR, "interrupted");
	return kg_err_set(err, -errno, "cannot wait for the coordinator: %s", strerror(errno));
}

static uint64_t deadline_in(int timeout_ms)
{
	return kg_monotonic_ns() + (unsigned)timeout_ms * KG_NSEC_PER_MSEC;
}

static int write_all(struct client *c, const uint8_t *bytes, size_t len, struct kg_err *err)
{
	uint64_t deadline = deadline_in(CLIENT_ANSWER_MS);

	while (len > 0) {
		ssize_t n = send(c->fd, bytes, len, MSG_NOSIGNAL);
		int rc;

		if (n >= 0) {
			bytes += n;
			len -= (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return kg_err_set(err, -errno, "the coordinator went away: %s",
					  strerror(errno));
		rc = wait_for(c->fd, POLLOUT, deadline, err);
		if (rc < 0 && rc != -EINTR) /* half a frame must not stay behind */
			return rc;
	}
	return 0;
}

static int send_message(struct client *c, uint16_t type, uint32_t id, const ProtobufCMessage *body,
			struct kg_err *err)
{
	uint8_t *bytes;
	size_t len;
	int rc = kg_msg_encode(type, id, body, &bytes, &len, err);

	if (rc < 0)
		return rc;
	rc = write_all(c, bytes, len, err);
	free(bytes);
	return rc;
}

/* What of a request only a coordinator of protocol 1.3 heeds: an older one would leave it out without
 * a word, or not know the request. NULL: nothing. */
static const char *needs_1_3(uint16_t type, const ProtobufCMessage *body)
{
	if (type >= KG_MSG_LSM_RESOLVE && type <= KG_MSG_STANDING)
		return "this command";
	if (type == KG_MSG_MACHINES && ((const Kgrid__V1__MachinesRequest *)body)->where)
		return "'--where'";
	if (type == KG_MSG_SUBMIT && ((const Kgrid__V1__SubmitRequest *)body)->n_files > 0)
		return "'include:'";
	return NULL;
}

int client_send(struct client *c, uint16_t type, const ProtobufCMessage *body, uint32_t *ret_id,
		struct kg_err *err)
{
	const char *what = c->minor < 3 ? needs_1_3(type, body) : NULL;
	uint32_t id = ++c->next_id;
	int rc;

	clear_details(c);
	c->n_parts = 0;
	if (what)
		return kg_err_set(
			err, KG_EVERSION,
			"the coordinator speaks protocol 1.%u, and %s needs 1.3: upgrade it",
			(unsigned)c->minor, what);
	rc = send_message(c, type, id, body, err);
	if (rc == 0)
		*ret_id = id;
	return rc;
}

/* Reads more bytes once there are any. */
static int fill(struct client *c, uint64_t deadline_ns, struct kg_err *err)
{
	for (;;) {
		ssize_t n = recv(c->fd, c->buf, sizeof(c->buf), 0);
		int rc;

		if (n > 0) {
			c->unread = c->buf;
			c->n_unread = (size_t)n;
			return 0;
		}
		if (n == 0)
			return kg_err_set(err, -EPIPE, "the coordinator closed the connection");
		if (errno != EAGAIN && errno != EINTR)
			return kg_err_set(err, -errno, "the connection broke: %s", strerror(errno));
		rc = wait_for(c->fd, POLLIN, deadline_ns, err);
		if (rc < 0)
			return rc;
	}
}

/* One frame, decoded. */
static int receive(struct client *c, uint64_t deadline_ns, uint32_t *ret_id,
		   struct kg_msg **ret_msg, struct kg_err *err)
{
	struct kg_frame frame;
	int rc;

	for (;;) {
		rc = kg_frame_decoder_feed(&c->decoder, &c->unread, &c->n_unread, &frame, err);
		if (rc < 0)
			return kg_err_wrap(err, rc, "the peer does not speak kgrid's protocol");
		if (rc == 1)
			break;
		rc = fill(c, deadline_ns, err);
		if (rc < 0)
			return rc;
	}
	rc = kg_msg_decode_reply(frame.type, frame.payload, frame.len_bytes, ret_msg, err);
	if (rc < 0)
		return kg_err_wrap(err, rc, "the coordinator sent what cannot be read");
	c->pinged = false;
	*ret_id = frame.id;
	return 0;
}

/* Keeps what an Error says; returns its code. */
static int take_error(struct client *c, const Kgrid__V1__Error *e, struct kg_err *err)
{
	int code = e->has_code && e->code < 0 ? e->code : KG_EREFUSED;
	size_t i;

	clear_details(c);
	c->answered = true;
	c->details = cli_alloc(e->n_details + 1, sizeof(*c->details));
	for (i = 0; i < e->n_details; i++)
		c->details[c->n_details++] = cli_strdup(e->details[i]);
	return kg_err_set(err, code, "%s", e->text && e->text[0] ? e->text : kg_strerror(code));
}

/* Adds a part to the others: 0, 1 with the message when it was the last, or a code. */
static int take_part(struct client *c, const Kgrid__V1__ReplyPart *p, struct kg_msg **ret_msg,
		     struct kg_err *err)
{
	int rc;

	if (p->data.len > KG_REPLY_MAX - c->n_parts)
		return kg_err_set(err, KG_ELIMIT, "the coordinator's reply is larger than %d MiB",
				  KG_REPLY_MAX >> 20);
	if (p->data.len > c->cap_parts - c->n_parts) {
		size_t cap = 2 * (c->n_parts + p->data.len);
		uint8_t *grown = cli_alloc(cap, 1);

		if (c->n_parts)
			memcpy(grown, c->parts, c->n_parts);
		free(c->parts);
		c->parts = grown;
		c->cap_parts = cap;
	}
	if (p->data.len)
		memcpy(c->parts + c->n_parts, p->data.data, p->data.len);
	c->n_parts += p->data.len;
	if (!p->last)
		return 0;
	rc = kg_msg_decode_reply((uint16_t)p->type, c->parts, c->n_parts, ret_msg, err);
	c->n_parts = 0;
	return rc < 0 ? kg_err_wrap(err, rc, "the coordinator sent what cannot be read") : 1;
}

int client_next(struct client *c, uint32_t id, int timeout_ms, struct kg_msg **ret_msg,
		struct kg_err *err)
{
	uint64_t deadline = deadline_in(timeout_ms);

	for (;;) {
		struct kg_msg *m;
		uint32_t got;
		int rc = receive(c, deadline, &got, &m, err);

		if (rc < 0)
			return rc;
		if (kg_msg_type(m) == KG_MSG_PING) {
			const Kgrid__V1__Ping *ping = (const Kgrid__V1__Ping *)kg_msg_body(m);
			Kgrid__V1__Pong pong = KGRID__V1__PONG__INIT;

			pong.has_token = ping->has_token;
			pong.token = ping->token;
			rc = send_message(c, KG_MSG_PONG, got, &pong.base, err);
		} else if (kg_msg_type(m) == KG_MSG_ERROR) {
			const Kgrid__V1__Error *e = (const Kgrid__V1__Error *)kg_msg_body(m);

			if (got == id || e->fatal || got == 0)
				rc = take_error(c, e, err);
		} else if (got == id && kg_msg_type(m) == KG_MSG_REPLY_PART) {
			rc = take_part(c, (const Kgrid__V1__ReplyPart *)kg_msg_body(m), ret_msg,
				       err);
			deadline = deadline_in(timeout_ms);
		} else if (got == id) {
			if (kg_msg_type(m) != KG_MSG_STREAM_END) {
				*ret_msg = m;
				return 1;
			}
			kg_msg_free(m);
			return 0;
		}
		kg_msg_free(m);
		if (rc != 0)
			return rc;
	}
}

int client_call(struct client *c, uint16_t type, const ProtobufCMessage *body, uint16_t want,
		int timeout_ms, struct kg_msg **ret_msg, struct kg_err *err)
{
	struct kg_msg *m = NULL;
	uint32_t id;
	int rc = client_send(c, type, body, &id, err);

	if (rc == 0)
		rc = client_next(c, id, timeout_ms, &m, err);
	if (rc < 0)
		return rc;
	if (rc == 0 || kg_msg_type(m) != want) {
		const struct kg_msg_info *info = rc ? kg_msg_find(kg_msg_type(m)) : NULL;

		if (rc)
			kg_msg_free(m);
		return kg_err_set(err, KG_EPROTO, "the coordinator answered with %s",
				  info ? info->name : "nothing");
	}
	*ret_msg = m;
	return 0;
}

int client_ping(struct client *c, struct kg_err *err)
{
	Kgrid__V1__Ping ping = KGRID__V1__PING__INIT;
	int rc;

	if (c->pinged)
		return kg_err_set(err, -ETIMEDOUT, "the coordinator does not answer");
	c->pinged = true;
	rc = send_message(c, KG_MSG_PING, 0, &ping.base, err);
	return rc < 0 ? rc : 1;
}

static int say_hello(struct client *c, struct kg_err *err)
{
	Kgrid__V1__Hello hello = KGRID__V1__HELLO__INIT;
	static char software[] = "kgrid " KGRID_VERSION;
	unsigned char random[8];
	char instance[17];
	size_t i;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return kg_err_set(err, -EIO, "no random numbers");
	for (i = 0; i < sizeof(random); i++)
		(void)snprintf(instance + 2 * i, 3, "%02x", random[i]);
	hello.has_role = 1;
	hello.role = KGRID__V1__ROLE__ROLE_CLIENT;
	hello.has_version_min = 1;
	hello.version_min = KG_PROTO_MINOR_OLDEST;
	hello.has_version_max = 1;
	hello.version_max = KG_PROTO_MINOR;
	hello.software = software;
	hello.instance = instance;
	return send_message(c, KG_MSG_HELLO, 0, &hello.base, err);
}

static int hear_hello(struct client *c, int timeout_ms, struct kg_err *err)
{
	struct kg_msg *m = NULL;
	uint32_t id;
	int rc = receive(c, deadline_in(timeout_ms), &id, &m, err);

	if (rc < 0)
		return rc;
	if (kg_msg_type(m) == KG_MSG_ERROR)
		rc = take_error(c, (const Kgrid__V1__Error *)kg_msg_body(m), err);
	else if (kg_msg_type(m) != KG_MSG_HELLO)
		rc = kg_err_set(err, KG_EPROTO, "the peer did not begin with HELLO");
	else
		rc = kg_hello_check((const Kgrid__V1__Hello *)kg_msg_body(m), &c->minor, err);
	kg_msg_free(m);
	return rc;
}

int client_open_fd(int fd, int timeout_ms, struct client **ret_client, struct kg_err *err)
{
	struct client *c = cli_alloc(1, sizeof(*c));
	int flags = fcntl(fd, F_GETFL), rc;

	c->fd = fd;
	c->unread = c->buf;
	kg_frame_decoder_init(&c->decoder, KG_FRAME_MAX_HELLO);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		rc = kg_err_set(err, -errno, "cannot set up the connection: %s", strerror(errno));
		goto close_client;
	}
	rc = say_hello(c, err);
	if (rc == 0)
		rc = hear_hello(c, timeout_ms, err);
	if (rc < 0)
		goto close_client;
	c->decoder.max_bytes = KG_FRAME_MAX;
	*ret_client = c;
	return 0;
close_client:
	client_close(c);
	return rc;
}

int client_open(const char *address, struct client **ret_client, struct kg_err *err)
{
	int fd = -1;
	int rc = address_connect(address, CLIENT_CONNECT_MS, &fd, err);

	return rc < 0 ? rc : client_open_fd(fd, CLIENT_CONNECT_MS, ret_client, err);
}
