/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proto/link.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fault.h"
#include "proto/messages.h"

#define READ_BUFFER_BYTES (64 * 1024)
#define SEND_QUEUE_BYTES  (8 * 1024 * 1024)
#define LINGER_MS	  2000
#define LINGER_BYTES	  (1024 * 1024) /* a peer that sends on and on is not listened to for longer */

/* libuv asks for a buffer right before it reads and hands it over right after: one per thread is
 * enough for all links of a loop, and an idle link costs no buffer. */
static _Thread_local uint8_t read_buffer[READ_BUFFER_BYTES];

struct write_request {
	uv_write_t req;
	struct kg_link *link;
	uint8_t *bytes; /* owned */
};

static const bool moves[KG_LINK_CLOSED + 1][KG_LINK_CLOSED + 1] = {
	[KG_LINK_OPEN] = {[KG_LINK_LINGER] = true, [KG_LINK_CLOSING] = true},
	[KG_LINK_LINGER] = {[KG_LINK_CLOSING] = true},
	[KG_LINK_CLOSING] = {[KG_LINK_CLOSED] = true},
};

static void enter(struct kg_link *l, enum kg_link_state to)
{
	assert(moves[l->state][to]);
	l->state = to;
}

static void on_handle_closed(struct kg_link *l)
{
	assert(l->handles > 0);
	if (--l->handles > 0)
		return;
	kg_frame_decoder_deinit(&l->decoder);
	free(l->held);
	l->held = NULL;
	l->held_len = 0;
	enter(l, KG_LINK_CLOSED);
	l->ops->on_closed(l, l->close_code, l->close_reason); /* may free the link */
}

static void on_stream_closed(uv_handle_t *handle)
{
	on_handle_closed((struct kg_link *)((char *)handle - offsetof(struct kg_link, u)));
}

static void on_timer_closed(uv_handle_t *handle)
{
	on_handle_closed((struct kg_link *)((char *)handle - offsetof(struct kg_link, timer)));
}

static void set_reason(struct kg_link *l, int code, const char *reason)
{
	size_t len = strnlen(reason, sizeof(l->close_reason) - 1);

	l->close_code = code;
	memcpy(l->close_reason, reason, len);
	l->close_reason[len] = '\0';
}

static void close_handles(struct kg_link *l)
{
	enter(l, KG_LINK_CLOSING);
	if (l->timer_open)
		uv_close((uv_handle_t *)&l->timer, on_timer_closed);
	uv_close(&l->u.handle, on_stream_closed);
}

void kg_link_drop(struct kg_link *l, int code, const char *fmt, ...)
{
	char reason[sizeof(l->close_reason)];
	va_list ap;

	if (!l->ops || (l->state != KG_LINK_OPEN && l->state != KG_LINK_LINGER))
		return;
	if (l->state == KG_LINK_OPEN) {
		va_start(ap, fmt);
		(void)vsnprintf(reason, sizeof(reason), fmt, ap);
		va_end(ap);
		set_reason(l, code, reason);
	}
	close_handles(l);
}

/* Hands over one frame. */
static void deliver(struct kg_link *l, const struct kg_frame *f)
{
	struct kg_err err = {{0}};
	struct kg_msg *m;
	int rc = kg_msg_decode(f->type, f->payload, f->len_bytes, &m, &err);

	if (rc < 0) {
		kg_link_drop(l, rc, "peer sent what is refused: %s", err.text);
		return;
	}
	l->frames_in++;
	l->ops->on_message(l, m, f->id);
	kg_msg_free(m);
}

/* Hands over frames until the bytes are used up, the link is paused or closed. */
static void deliver_all(struct kg_link *l, const uint8_t **bytes, size_t *len)
{
	struct kg_err err = {{0}};
	struct kg_frame f;
	int rc;

	l->delivering = true;
	while (l->state == KG_LINK_OPEN && !l->paused) {
		rc = kg_frame_decoder_feed(&l->decoder, bytes, len, &f, &err);
		if (rc < 0)
			kg_link_drop(l, rc, "peer %s%s", err.text,
				     l->decoder.max_bytes < l->limits.frame_bytes ? " before HELLO"
										  : "");
		if (rc <= 0)
			break;
		deliver(l, &f);
	}
	l->delivering = false;
}

/* Keeps what a pause left over. */
static void hold(struct kg_link *l, const uint8_t *bytes, size_t len)
{
	if (l->state != KG_LINK_OPEN || len == 0)
		return;
	assert(!l->held);
	l->held = malloc(len);
	if (!l->held) {
		kg_link_drop(l, UV_ENOMEM, "out of memory");
		return;
	}
	memcpy(l->held, bytes, len);
	l->held_len = len;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	(void)handle;
	(void)suggested;
	*ret_buf = uv_buf_init((char *)read_buffer, sizeof(read_buffer));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct kg_link *l = (struct kg_link *)((char *)stream - offsetof(struct kg_link, u));
	const uint8_t *bytes = (const uint8_t *)buf->base;
	size_t len = n > 0 ? (size_t)n : 0;

	if (l->state != KG_LINK_OPEN && l->state != KG_LINK_LINGER)
		return;
	if (n < 0) {
		kg_link_drop(l, (int)n,
			     n == UV_EOF ? "peer closed the connection" : "cannot read: %s",
			     uv_strerror((int)n));
		return;
	}
	l->bytes_in += len;
	if (l->state == KG_LINK_LINGER) {
		l->discarded += len;
		if (l->discarded > LINGER_BYTES)
			kg_link_drop(l, l->close_code, "refused");
		return;
	}
	deliver_all(l, &bytes, &len);
	hold(l, bytes, len);
}

int kg_link_start(struct kg_link *l, const struct kg_link_ops *ops,
		  const struct kg_link_limits *limits, struct kg_err *err)
{
	size_t cap;
	int rc;

	l->ops = ops;
	l->limits = *limits;
	if (!l->limits.frame_bytes || l->limits.frame_bytes > KG_FRAME_MAX)
		l->limits.frame_bytes = KG_FRAME_MAX;
	if (!l->limits.send_queue_bytes)
		l->limits.send_queue_bytes = SEND_QUEUE_BYTES;
	if (!l->limits.linger_ms)
		l->limits.linger_ms = LINGER_MS;
	cap = l->limits.frame_bytes;
	kg_frame_decoder_init(&l->decoder, cap < KG_FRAME_MAX_HELLO ? cap : KG_FRAME_MAX_HELLO);
	l->state = KG_LINK_OPEN;
	l->paused = l->delivering = l->congested = l->timer_open = false;
	l->held = NULL;
	l->held_len = l->discarded = 0;
	l->close_code = 0;
	l->close_reason[0] = '\0';
	l->frames_in = l->frames_out = l->bytes_in = l->bytes_out = 0;
	l->handles = 1;
	if (l->u.handle.type == UV_TCP)
		(void)uv_tcp_nodelay(&l->u.tcp, 1); /* small answers must not wait for more */
	rc = uv_read_start(&l->u.stream, on_alloc, on_read);
	if (rc < 0)
		return kg_err_set(err, rc, "cannot read from the connection: %s", uv_strerror(rc));
	return 0;
}

void kg_link_authenticated(struct kg_link *l)
{
	l->decoder.max_bytes = l->limits.frame_bytes;
}

size_t kg_link_queued_bytes(const struct kg_link *l)
{
	return uv_stream_get_write_queue_size(&l->u.stream);
}

static void on_written(uv_write_t *req, int status)
{
	struct write_request *w = req->data;
	struct kg_link *l = w->link;

	free(w->bytes);
	free(w);
	if (l->state == KG_LINK_CLOSING)
		return;
	if (status < 0) {
		kg_link_drop(l, status, "cannot write: %s", uv_strerror(status));
		return;
	}
	if (l->state != KG_LINK_OPEN || !l->congested ||
	    kg_link_queued_bytes(l) >= l->limits.send_queue_bytes / 2)
		return;
	l->congested = false;
	if (l->ops->on_drained)
		l->ops->on_drained(l);
}

static int write_bytes(struct kg_link *l, uint8_t *bytes, size_t len)
{
	struct write_request *w = malloc(sizeof(*w));
	uv_buf_t buf = uv_buf_init((char *)bytes, (unsigned)len);
	int rc;

	if (!w) {
		free(bytes);
		kg_link_drop(l, UV_ENOMEM, "out of memory");
		return UV_ENOMEM;
	}
	w->req.data = w;
	w->link = l;
	w->bytes = bytes;
	KG_FAULT(LINK_SEND);
	rc = uv_write(&w->req, &l->u.stream, &buf, 1, on_written);
	if (rc < 0) {
		free(bytes);
		free(w);
		kg_link_drop(l, rc, "cannot write: %s", uv_strerror(rc));
		return rc;
	}
	l->frames_out++;
	l->bytes_out += len;
	return 0;
}

int kg_link_send_bytes(struct kg_link *l, uint8_t *bytes, size_t len)
{
	size_t queued;
	int rc;

	if (!l->ops || l->state != KG_LINK_OPEN) {
		free(bytes);
		return KG_ESTATE;
	}
	queued = kg_link_queued_bytes(l);
	if (len > l->limits.send_queue_bytes || queued > l->limits.send_queue_bytes - len) {
		free(bytes);
		kg_link_drop(l, KG_ELIMIT, "peer does not read: %zu bytes are queued, at most %zu",
			     queued + len, l->limits.send_queue_bytes);
		return KG_ELIMIT;
	}
	rc = write_bytes(l, bytes, len);
	if (rc == 0 && kg_link_queued_bytes(l) > l->limits.send_queue_bytes / 2)
		l->congested = true;
	return rc;
}

int kg_link_send(struct kg_link *l, uint16_t type, uint32_t id, const ProtobufCMessage *body)
{
	struct kg_err err = {{0}};
	uint8_t *bytes;
	size_t len;
	int rc;

	if (!l->ops || l->state != KG_LINK_OPEN)
		return KG_ESTATE;
	rc = kg_msg_encode(type, id, body, &bytes, &len, &err);
	if (rc < 0)
		return rc; /* nothing was sent, the link is as before */
	return kg_link_send_bytes(l, bytes, len);
}

void kg_link_pause(struct kg_link *l)
{
	if (!l->ops || l->state != KG_LINK_OPEN || l->paused)
		return;
	l->paused = true;
	(void)uv_read_stop(&l->u.stream);
}

void kg_link_resume(struct kg_link *l)
{
	uint8_t *held = l->held;
	const uint8_t *bytes = held;
	size_t len = l->held_len;
	int rc;

	if (!l->ops || l->state != KG_LINK_OPEN || !l->paused)
		return;
	l->paused = false;
	if (!l->delivering) { /* else the loop that called us goes on */
		l->held = NULL;
		l->held_len = 0;
		deliver_all(l, &bytes, &len);
		hold(l, bytes, len);
		free(held);
	}
	if (l->state != KG_LINK_OPEN || l->paused)
		return;
	rc = uv_read_start(&l->u.stream, on_alloc, on_read);
	if (rc < 0 && rc != UV_EALREADY)
		kg_link_drop(l, rc, "cannot read: %s", uv_strerror(rc));
}

static void on_linger_timeout(uv_timer_t *timer)
{
	struct kg_link *l = (struct kg_link *)((char *)timer - offsetof(struct kg_link, timer));

	kg_link_drop(l, l->close_code, "refused");
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
	struct kg_link *l = req->data;

	if (status < 0 && l->state == KG_LINK_LINGER)
		kg_link_drop(l, l->close_code, "refused");
}

/* Waits until the peer has read the Error and closed. */
static int linger(struct kg_link *l)
{
	int rc = uv_timer_init(l->u.handle.loop, &l->timer);

	if (rc < 0)
		return rc;
	l->timer_open = true;
	l->handles++;
	rc = uv_timer_start(&l->timer, on_linger_timeout, l->limits.linger_ms, 0);
	if (rc < 0)
		return rc;
	l->shutdown.data = l;
	rc = uv_shutdown(&l->shutdown, &l->u.stream, on_shutdown);
	if (rc < 0)
		return rc;
	rc = uv_read_start(&l->u.stream, on_alloc, on_read);
	return rc == UV_EALREADY ? 0 : rc;
}

void kg_link_refuse(struct kg_link *l, int code, const char *text)
{
	Kgrid__V1__Error error = KGRID__V1__ERROR__INIT;

	if (!l->ops || l->state != KG_LINK_OPEN)
		return;
	error.has_code = 1;
	error.code = code;
	error.has_fatal = 1;
	error.fatal = 1;
	error.text = (char *)(uintptr_t)text; /* only read */
	if (kg_link_send(l, KG_MSG_ERROR, 0, &error.base) < 0) {
		kg_link_drop(l, code, "%s", text);
		return;
	}
	set_reason(l, code, text);
	enter(l, KG_LINK_LINGER);
	if (linger(l) < 0)
		kg_link_drop(l, code, "%s", text);
}
