/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A link: frames over one connection, whatever carries it. Today a uv_tcp_t or a uv_pipe_t in
 * plain text; TLS will be one more transport below, without a change in any handler.
 *
 * Happy path: kg_link_start on a connected stream, on_message per decoded message, kg_link_send.
 * Failure modes: the peer closes or resets; it breaks the protocol or goes over a cap; our send
 * queue goes over its cap because the peer does not read. Each ends in kg_link_drop(reason), and
 * on_closed comes exactly once, after which the owner may free the link's memory.
 *
 *   (init) --start--> OPEN --refuse--> LINGER --EOF, drop, time--> CLOSING --> CLOSED
 *                      |                                              ^
 *                      +-----------------drop-------------------------+
 *
 * LINGER: the Error was queued; what comes is thrown away until the peer closes, because closing a
 * socket with unread bytes resets it, and the peer would lose the Error.
 *
 * Memory of a link: one unfinished frame, one decoded message, the send queue, and while it is
 * paused what was read and not yet handed over (at most 64 KiB).
 */
#ifndef KG_PROTO_LINK_H
#define KG_PROTO_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "common/err.h"
#include "proto/codec.h"
#include "proto/frame.h"

struct kg_link;

struct kg_link_ops {
	/* A decoded message; it is freed when the call returns. Dropping the link from inside is
	 * fine. */
	void (*on_message)(struct kg_link *l, const struct kg_msg *m, uint32_t id);
	/* The connection is gone and no callback will follow. `reason` borrows. */
	void (*on_closed)(struct kg_link *l, int code, const char *reason);
	/* Send queue fell below half of its cap again; may be NULL. */
	void (*on_drained)(struct kg_link *l);
};

struct kg_link_limits {
	size_t frame_bytes; /* 0: KG_FRAME_MAX; KG_FRAME_MAX_HELLO until kg_link_authenticated */
	size_t send_queue_bytes; /* queued to the peer; over it the link is dropped; 0: 8 MiB */
	unsigned linger_ms;	 /* how long a refused peer has to close; 0: 2000 */
};

enum kg_link_state { KG_LINK_OPEN, KG_LINK_LINGER, KG_LINK_CLOSING, KG_LINK_CLOSED };

/* Embedded by value in its owner; `data` is the owner's. */
struct kg_link {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} u;
	const struct kg_link_ops *ops;
	struct kg_link_limits limits;
	struct kg_frame_decoder decoder;
	enum kg_link_state state;
	bool paused;
	bool delivering; /* inside of on_message: what was read is handed over by the outer loop */
	bool congested;	 /* the send queue was over half of its cap: on_drained is due */
	uint8_t *held;	 /* owned; read before a pause, handed over after it */
	size_t held_len;
	size_t discarded; /* while lingering */
	uv_timer_t timer; /* of lingering, set up by kg_link_refuse */
	uv_shutdown_t shutdown;
	unsigned handles; /* that are not closed yet */
	bool timer_open;
	int close_code;
	char close_reason[256];
	uint64_t frames_in, frames_out, bytes_in, bytes_out;
	void *data;
};

/* The stream handle in `l->u` must be initialised (uv_tcp_init or uv_pipe_init) and connected or
 * accepted; the rest is set here, except `data`. Starts reading. On failure the link is OPEN and
 * quiet, and kg_link_drop closes it as always (or the owner closes the handle). */
int kg_link_start(struct kg_link *l, const struct kg_link_ops *ops,
		  const struct kg_link_limits *limits, struct kg_err *err);
/* HELLO was accepted: the frame cap rises to limits.frame_bytes. */
void kg_link_authenticated(struct kg_link *l);
/* Queues a message. KG_ESTATE when closing; over the queue cap the link is dropped, KG_ELIMIT. */
int kg_link_send(struct kg_link *l, uint16_t type, uint32_t id, const ProtobufCMessage *body);
/* Same for an encoded frame; takes `bytes` always. */
int kg_link_send_bytes(struct kg_link *l, uint8_t *bytes, size_t len);
size_t kg_link_queued_bytes(const struct kg_link *l);
/* Back-pressure: stop and go on reading. After a pause no on_message comes. kg_link_resume hands
 * over what was read before, so on_message may be called from inside of it. */
void kg_link_pause(struct kg_link *l);
void kg_link_resume(struct kg_link *l);
/* Closes from any state of a started link; repeated calls are fine, the first reason stays. */
void kg_link_drop(struct kg_link *l, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Sends Error{fatal} and drops the link when the peer has closed, at the latest after
 * limits.linger_ms. */
void kg_link_refuse(struct kg_link *l, int code, const char *text);

#endif
