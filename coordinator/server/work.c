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

void work_start(const struct request *rq, struct work *w)
{
	struct kg_err err = {""};
	int rc = w ? kg_msg_copy(kg_msg_type(rq->msg), kg_msg_body(rq->msg), &w->msg, &err)
		   : -ENOMEM; /* the request dies after dispatch; work keeps a copy of its own */

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
