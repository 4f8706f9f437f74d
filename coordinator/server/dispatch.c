/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One row per message that may come in: who may send it, who handles it. */
#include <stdio.h>

#include "common/log.h"
#include "coordinator/coordinator.h"

#define CLIENT_MAX_WORK 16 /* requests of one client on worker threads at a time */

struct row {
	uint16_t type;
	void (*handle)(const struct request *rq);
};

static void handle_ping(const struct request *rq)
{
	const Kgrid__V1__Ping *in = REQUEST_BODY(rq, Kgrid__V1__Ping);
	Kgrid__V1__Pong out = KGRID__V1__PONG__INIT;

	out.has_token = in->has_token;
	out.token = in->token;
	session_send(rq->session, KG_MSG_PONG, rq->id, &out.base);
}

static void handle_nothing(const struct request *rq)
{
	(void)rq;
}

static void handle_error(const struct request *rq)
{
	const Kgrid__V1__Error *e = REQUEST_BODY(rq, Kgrid__V1__Error);

	kg_log_warn("'%s' reports: %s", rq->session->machine, e->text ? e->text : "no text");
}

static const struct row rows[] = {
	{KG_MSG_PING, handle_ping},
	{KG_MSG_PONG, handle_nothing},
	{KG_MSG_ERROR, handle_error},
	{KG_MSG_FACTS, handle_facts},
	{KG_MSG_AGENT_STATE, handle_agent_state},
	{KG_MSG_RECORD, handle_record},
	{KG_MSG_BLOB_REQUEST, handle_blob_request},
	{KG_MSG_PEER_SERVING, handle_peer_serving},
	{KG_MSG_PEER_WANTED, handle_peer_wanted},
	{KG_MSG_INFO, handle_info},
	{KG_MSG_SUBMIT, handle_submit},
	{KG_MSG_JOBS, handle_question},
	{KG_MSG_JOB, handle_question},
	{KG_MSG_JOB_CANCEL, handle_job_cancel},
	{KG_MSG_JOB_RETRY, handle_job_retry},
	{KG_MSG_JOB_CHANGE, handle_job_change},
	{KG_MSG_WHY, handle_why},
	{KG_MSG_REPRODUCE, handle_reproduce},
	{KG_MSG_MACHINE_CHANGE, handle_machine_change},
	{KG_MSG_STANDING, handle_standing},
	{KG_MSG_LSM_RESOLVE, handle_lsm_resolve},
	{KG_MSG_WATCH, handle_watch},
	{KG_MSG_MACHINES, handle_question},
	{KG_MSG_MACHINE, handle_question},
	{KG_MSG_KERNELS, handle_question},
	{KG_MSG_KERNEL, handle_question},
	{KG_MSG_KERNEL_OFFER, handle_kernel_offer},
	{KG_MSG_BLOB_PUT, handle_blob_put},
	{KG_MSG_KERNEL_COMMIT, handle_kernel_commit},
	{KG_MSG_KERNEL_REMOVE, handle_kernel_remove},
	{KG_MSG_COMPARE, handle_question},
	{KG_MSG_SAMPLES, handle_samples},
	{KG_MSG_LOGS, handle_logs},
	{KG_MSG_EPOCHS, handle_question},
	{KG_MSG_DIFF, handle_question},
	{KG_MSG_PROVENANCE, handle_provenance},
	{KG_MSG_HISTORY, handle_question},
	{KG_MSG_REGRESSIONS, handle_question},
	{KG_MSG_REGRESSION_ACTION, handle_regression_action},
	{KG_MSG_CALIBRATE, handle_calibrate},
	{KG_MSG_NOISE, handle_question},
	{KG_MSG_IMPORT, handle_import},
	{KG_MSG_IMPORTS, handle_question},
};

void session_dispatch(struct session *x, const struct kg_msg *m, uint32_t id)
{
	const struct kg_msg_info *info = kg_msg_find(kg_msg_type(m));
	unsigned sender = x->role == KGRID__V1__ROLE__ROLE_AGENT ? KG_FROM_AGENT : KG_FROM_CLIENT;
	struct request rq = {.session = x, .c = x->server->c, .msg = m, .id = id};
	char text[96];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].type == kg_msg_type(m))
			break;
	if (i == sizeof(rows) / sizeof(rows[0]) || !(info->senders & sender)) {
		(void)snprintf(text, sizeof(text), "%s may not send %s",
			       sender == KG_FROM_AGENT ? "an agent" : "a client",
			       info ? info->name : "this");
		kg_link_refuse(&x->link, KG_EPROTO, text);
		return;
	}
	if (sender == KG_FROM_CLIENT && x->work >= CLIENT_MAX_WORK) {
		session_error(x, id, KG_ELIMIT, "too many requests at once on one connection");
		return;
	}
	rows[i].handle(&rq);
}
