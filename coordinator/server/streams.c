/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples, logs, and replies too large for a frame, as streams. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "coordinator/coordinator.h"

/*
 * Parts are made on a worker thread and sent on the loop thread. The worker waits while more than
 * STREAM_AHEAD bytes have not been taken by the socket, so that a slow reader costs no memory.
 * Failure modes: the reader goes away, or the coordinator stops: the worker is told and ends.
 */
#define STREAM_AHEAD (2u << 20)

struct part {
	struct part *next;
	uint8_t *bytes;
	size_t len;
};

struct stream {
	struct work w;
	uv_mutex_t lock;
	uv_cond_t room;
	uv_async_t more;
	uv_timer_t drain; /* looks whether the socket has taken what was sent */
	unsigned handles;
	struct part *first, **tail;
	size_t ahead;  /* bytes made and not taken by the socket */
	size_t handed; /* of these, bytes given to the link */
	bool gone;
	bool finished;
	bool one_reply; /* its last part is the end: no StreamEnd */
	int rc;
	struct kg_err err;
	struct session *session; /* referenced; the work's own reference ends earlier */
	uint32_t id;
};

static void stream_free(struct stream *s)
{
	while (s->first) {
		struct part *p = s->first;

		s->first = p->next;
		free(p->bytes);
		free(p);
	}
	uv_cond_destroy(&s->room);
	uv_mutex_destroy(&s->lock);
	session_unref(s->session);
	free(s);
}

static void on_stream_closed(uv_handle_t *h)
{
	struct stream *s = h->data;

	if (--s->handles == 0)
		stream_free(s);
}

static bool stream_gone(const struct stream *s)
{
	return s->session->closed || s->session->link.state != KG_LINK_OPEN ||
	       s->session->server->c->stopping;
}

static void stream_end(struct stream *s)
{
	Kgrid__V1__StreamEnd end = KGRID__V1__STREAM_END__INIT;

	if (s->rc < 0)
		session_error(s->session, s->id, s->rc, s->err.text);
	else if (!s->one_reply)
		session_send(s->session, KG_MSG_STREAM_END, s->id, &end.base);
	uv_close((uv_handle_t *)&s->more, on_stream_closed);
	uv_close((uv_handle_t *)&s->drain, on_stream_closed);
}

/* Loop thread: hands parts to the link while it takes them. */
static void stream_pump(struct stream *s)
{
	size_t queued;
	bool end;

	if (uv_is_closing((uv_handle_t *)&s->more))
		return;
	uv_mutex_lock(&s->lock);
	s->gone = stream_gone(s);
	while (!s->gone && s->first && kg_link_queued_bytes(&s->session->link) < STREAM_AHEAD) {
		struct part *p = s->first;

		s->first = p->next;
		if (!s->first)
			s->tail = &s->first;
		s->handed += p->len;
		(void)kg_link_send_bytes(&s->session->link, p->bytes, p->len);
		free(p);
	}
	queued = s->gone ? 0 : kg_link_queued_bytes(&s->session->link);
	if (queued < s->handed) {
		s->ahead -= s->handed - queued;
		s->handed = queued;
	}
	uv_cond_signal(&s->room);
	end = s->finished && (s->gone || !s->first);
	uv_mutex_unlock(&s->lock);
	if (end)
		stream_end(s);
}

static void on_more(uv_async_t *a)
{
	stream_pump(a->data);
}

static void on_drain(uv_timer_t *t)
{
	stream_pump(t->data);
}

/* Worker thread. Takes the bytes. */
static int stream_put_bytes(void *arg, uint8_t *bytes, size_t len)
{
	struct stream *s = arg;
	struct part *p = calloc(1, sizeof(*p));

	if (!p) {
		free(bytes);
		return -ENOMEM;
	}
	p->bytes = bytes;
	p->len = len;
	uv_mutex_lock(&s->lock);
	while (s->ahead > STREAM_AHEAD && !s->gone)
		uv_cond_wait(&s->room, &s->lock);
	if (s->gone) {
		uv_mutex_unlock(&s->lock);
		free(p->bytes);
		free(p);
		return -ECONNRESET;
	}
	*s->tail = p;
	s->tail = &p->next;
	s->ahead += p->len;
	uv_mutex_unlock(&s->lock);
	(void)uv_async_send(&s->more);
	return 0;
}

static int stream_put(struct stream *s, uint16_t type, const ProtobufCMessage *body)
{
	uint8_t *bytes;
	size_t len;
	int rc = kg_msg_encode(type, s->id, body, &bytes, &len, NULL);

	return rc < 0 ? rc : stream_put_bytes(s, bytes, len);
}

struct stream_work {
	struct work w;
	struct stream *s;
};

static int on_samples_part(void *arg, const Kgrid__V1__SamplesReply *part)
{
	return stream_put(arg, KG_MSG_SAMPLES_REPLY, &part->base);
}

static int on_logs_part(void *arg, const Kgrid__V1__LogsReply *part)
{
	return stream_put(arg, KG_MSG_LOGS_REPLY, &part->base);
}

static int on_provenance_part(void *arg, const Kgrid__V1__ProvenanceReply *part)
{
	return stream_put(arg, KG_MSG_PROVENANCE_REPLY, &part->base);
}

static void samples_run(struct work *w)
{
	struct stream *s = ((struct stream_work *)w)->s;

	s->rc = query_samples(w->c->query, WORK_BODY(w, Kgrid__V1__SamplesRequest), on_samples_part,
			      s, &s->err);
}

static void logs_run(struct work *w)
{
	struct stream *s = ((struct stream_work *)w)->s;

	s->rc = query_logs(w->c->query, WORK_BODY(w, Kgrid__V1__LogsRequest), on_logs_part, s,
			   &s->err);
}

static void provenance_run(struct work *w)
{
	struct stream *s = ((struct stream_work *)w)->s;

	s->rc = query_provenance(w->c->query, WORK_BODY(w, Kgrid__V1__ProvenanceRequest),
				 on_provenance_part, s, &s->err);
}

static void stream_finish(struct work *w)
{
	struct stream *s = ((struct stream_work *)w)->s;

	uv_mutex_lock(&s->lock);
	s->finished = true;
	uv_mutex_unlock(&s->lock);
	stream_pump(s);
}

static struct stream *stream_new(const struct request *rq)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->tail = &s->first;
	s->id = rq->id;
	s->session = rq->session;
	if (uv_mutex_init(&s->lock) < 0) {
		free(s);
		return NULL;
	}
	if (uv_cond_init(&s->room) < 0) {
		uv_mutex_destroy(&s->lock);
		free(s);
		return NULL;
	}
	session_ref(s->session);
	s->handles = 2;
	/* These fail only for want of file descriptors that the loop has already. */
	(void)uv_async_init(&rq->c->loop, &s->more, on_more);
	(void)uv_timer_init(&rq->c->loop, &s->drain);
	s->more.data = s->drain.data = s;
	(void)uv_timer_start(&s->drain, on_drain, 20, 20);
	return s;
}

struct reply_work {
	struct stream_work sw;
	uint16_t type;
	ProtobufCMessage *reply; /* owned */
};

static void reply_run(struct work *w)
{
	struct reply_work *r = (struct reply_work *)w;
	struct stream *s = r->sw.s;

	s->rc = kg_msg_encode_reply(r->type, s->id, r->reply, stream_put_bytes, s, &s->err);
	protobuf_c_message_free_unpacked(r->reply, NULL);
	r->reply = NULL;
	if (s->rc < 0 && !s->err.text[0])
		kg_err_set(&s->err, s->rc, "%s", kg_strerror(s->rc));
}

void stream_reply(const struct request *rq, uint16_t type, ProtobufCMessage *reply)
{
	struct reply_work *w = calloc(1, sizeof(*w));
	struct stream *s = w ? stream_new(rq) : NULL;

	if (!s) {
		free(w);
		protobuf_c_message_free_unpacked(reply, NULL);
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	s->one_reply = true;
	w->type = type;
	w->reply = reply;
	w->sw.s = s;
	w->sw.w.run = reply_run;
	w->sw.w.finish = stream_finish;
	w->sw.w.session = rq->session;
	w->sw.w.id = rq->id;
	session_ref(rq->session);
	rq->session->work++;
	work_start_internal(rq->c, &w->sw.w);
}

#define REPLY_PART_MINOR 2 /* of the protocol: the first that knows ReplyPart */

bool reply_in_parts(const struct session *x, const ProtobufCMessage *reply)
{
	return x->minor >= REPLY_PART_MINOR &&
	       protobuf_c_message_get_packed_size(reply) > KG_FRAME_MAX;
}

/* A copy on the heap, which the stream takes. */
static ProtobufCMessage *copy_message(const ProtobufCMessage *m)
{
	size_t len = protobuf_c_message_get_packed_size(m);
	uint8_t *bytes = malloc(len + 1);
	ProtobufCMessage *copy = NULL;

	if (bytes) {
		(void)protobuf_c_message_pack(m, bytes);
		copy = protobuf_c_message_unpack(m->descriptor, NULL, len, bytes);
	}
	free(bytes);
	return copy;
}

void reply_send(struct session *x, uint16_t type, uint32_t id, const ProtobufCMessage *reply)
{
	ProtobufCMessage *copy;

	if (!reply_in_parts(x, reply)) {
		session_send(x, type, id, reply);
		return;
	}
	copy = copy_message(reply);
	if (copy)
		stream_reply(&(struct request){.session = x, .c = x->server->c, .id = id}, type,
			     copy);
	else
		session_error(x, id, -ENOMEM, "out of memory for the answer");
}

static void stream_start(const struct request *rq, void (*run)(struct work *w))
{
	struct stream_work *w = calloc(1, sizeof(*w));
	struct stream *s = w ? stream_new(rq) : NULL;

	if (!s) {
		free(w);
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	w->s = s;
	w->w.run = run;
	w->w.finish = stream_finish;
	work_start(rq, &w->w);
}

void handle_samples(const struct request *rq)
{
	stream_start(rq, samples_run);
}

void handle_logs(const struct request *rq)
{
	stream_start(rq, logs_run);
}

void handle_provenance(const struct request *rq)
{
	stream_start(rq, provenance_run);
}
