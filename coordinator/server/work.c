/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/coordinator.h"

static void run_cb(uv_work_t *uv)
{
	struct work *w = uv->data;

	w->run(w);
}

static void after_cb(uv_work_t *uv, int status)
{
	struct work *w = uv->data;

	if (status < 0 && w->rc == 0)
		w->rc = kg_err_set(&w->err, status, "cancelled");
	w->finish(w);
	kg_msg_free(w->msg);
	if (w->session) {
		w->session->work--;
		session_unref(w->session);
	}
	free(w);
}

/* The request dies after dispatch; work keeps a copy of its own. */
static int copy_request(const struct request *rq, struct kg_msg **ret, struct kg_err *err)
{
	const ProtobufCMessage *body = kg_msg_body(rq->msg);
	size_t len = protobuf_c_message_get_packed_size(body);
	uint8_t *bytes = malloc(len ? len : 1);
	int rc;

	if (!bytes)
		return kg_err_set(err, -ENOMEM, "out of memory");
	protobuf_c_message_pack(body, bytes);
	rc = kg_msg_decode(kg_msg_type(rq->msg), bytes, len, ret, err);
	free(bytes);
	return rc;
}

void work_start(const struct request *rq, struct work *w)
{
	struct kg_err err = {""};
	int rc = w ? copy_request(rq, &w->msg, &err) : -ENOMEM;

	if (rc < 0) {
		session_error(rq->session, rq->id, rc, w ? err.text : "out of memory");
		free(w);
		return;
	}
	w->session = rq->session;
	w->id = rq->id;
	session_ref(w->session);
	w->session->work++;
	work_start_internal(rq->c, w);
}

void work_start_internal(struct coordinator *c, struct work *w)
{
	w->c = c;
	w->uv.data = w;
	/* Fails only without a work callback. */
	(void)uv_queue_work(&c->loop, &w->uv, run_cb, after_cb);
}
