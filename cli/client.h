/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A blocking connection to the coordinator: requests by id, one answer or a stream each.
 *
 * Codes of a lost or broken connection: -ECONNREFUSED, -ENOENT, -ETIMEDOUT, -EPIPE,
 * -ECONNRESET, KG_EPROTO, KG_ELIMIT, KG_EVERSION ...: client_answered() is false. When the
 * coordinator answered with an error, its code comes back and client_answered() is true.
 * Happy path: connect, HELLO both ways, request, answer. Failure modes: nobody listens; another
 * version; no answer in time; the peer vanishes in the middle of a frame or sends what is none.
 * After any failure that was not answered the connection is unusable; close it.
 */
#ifndef KG_CLI_CLIENT_H
#define KG_CLI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "proto/codec.h"
#include "proto/messages.h"

#define CLIENT_SOCKET_DEFAULT "/run/kgrid/kgrid.sock"
#define CLIENT_CONNECT_MS     5000
#define CLIENT_ANSWER_MS      30000
#define CLIENT_LONG_MS	      600000 /* planning a large job, checking a kernel */

struct client;

/* Address: unix:PATH, a PATH with a slash, HOST:PORT or [HOST]:PORT. `ret_client` is owned,
 * client_close. */
int client_open(const char *address, struct client **ret_client, struct kg_err *err);
/* Takes a connected socket, always. */
int client_open_fd(int fd, int timeout_ms, struct client **ret_client, struct kg_err *err);
void client_close(struct client *c); /* NULL is fine */

/* Sends a request; `ret_id` names it. KG_EVERSION, with nothing sent, where an older coordinator would
 * not know the request, or would answer another question than was asked. */
int client_send(struct client *c, uint16_t type, const ProtobufCMessage *body, uint32_t *ret_id,
		struct kg_err *err);

/* Next answer to `id`: 1 with a message (owned, kg_msg_free), 0 at StreamEnd, or a code. Pings are
 * answered on the way. -EINTR when a signal came, after which it may be called again. */
int client_next(struct client *c, uint32_t id, int timeout_ms, struct kg_msg **ret_msg,
		struct kg_err *err);

/* Request and its one answer, which must be of type `want`. */
int client_call(struct client *c, uint16_t type, const ProtobufCMessage *body, uint16_t want,
		int timeout_ms, struct kg_msg **ret_msg, struct kg_err *err);

/* Asks the coordinator for a sign of life, which counts as one when client_next() gets to it within
 * its timeout; a second silence is then the end. 1, or a code. */
int client_ping(struct client *c, struct kg_err *err);

/* Whether the last code came from the coordinator's own Error, and its further lines. */
bool client_answered(const struct client *c);
const char *client_detail(const struct client *c, size_t i); /* NULL after the last */

#endif
