/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Listeners and sessions. A session is one connection: HELLO, then messages dispatched by one
 * table (dispatch.c), one row per message with the role that may send it.
 *
 *   GREETING --HELLO accepted--> OPEN --drop, close, silence--> CLOSED (freed with its last reference)
 */
#ifndef KG_SERVER_SERVER_H
#define KG_SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "common/err.h"
#include "coordinator/schedule/tree.h"
#include "proto/hello.h"
#include "proto/link.h"

struct coordinator;

#define SERVER_MAX_SESSIONS 12000
#define SERVER_GREETING_NS  (20ULL * 1000000000ULL) /* HELLO must come within */

struct watch; /* watch.c */

struct session {
	struct kg_link link;
	struct server *server;
	struct session *next, *prev;
	struct sched_link by_machine; /* agent, from HELLO to the end of the connection */
	uint64_t id;
	unsigned refs; /* work that will come back to it; it is freed after the last */
	bool greeted;
	bool closed;
	uint32_t minor; /* of the protocol, that both speak */
	Kgrid__V1__Role role;
	char user[64];	   /* client over the Unix socket: its user's name; else "" */
	char machine[64];  /* agent */
	char instance[40]; /* agent */
	char state_id[40]; /* agent */
	bool ready;	   /* agent: FACTS and AGENT_STATE came */
	bool instruction_clock;
	struct kg_msg *started; /* agent: newest AttemptStarted record, names its metrics; owned */
	uint64_t opened_ns;
	uint64_t last_in_ns;
	/* records committed and not yet acknowledged: one ack for many, at the end of a poll */
	bool ack_due;
	struct session *next_due, **due_at; /* while it is due */
	uint64_t ack_boot, ack_epoch, ack_seq;
	struct watch *watch; /* client that watches a job */
	unsigned work;	     /* requests of this session on worker threads */
};

struct listener {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} u;
	struct server *server;
	bool is_pipe;
	bool open;
	char address[128]; /* "127.0.0.1:7440" */
};

#define SERVER_MAX_LISTENERS 8

struct server {
	struct coordinator *c;
	struct listener listeners[SERVER_MAX_LISTENERS];
	unsigned n_listeners;
	unsigned open_listeners;
	char *socket_path; /* owned; removed at the end */
	struct session *sessions;
	struct sched_hash agents;     /* by machine */
	struct watch *watches;	      /* of all sessions */
	struct session *due_sessions; /* that have an acknowledgement due */
	unsigned n_sessions;
	uint64_t next_id;
	uv_timer_t watch_timer;
	bool watch_timer_open;
};

/* Binds everything or nothing. Refuses an address that is not loopback unless allowed, and says
 * why. */
int server_start(struct server *s, struct coordinator *c, struct kg_err *err);
/* Stops listening and drops every session. */
void server_stop(struct server *s, const char *reason);
/* Nothing of the server is open any more. */
bool server_idle(const struct server *s);
void server_deinit(struct server *s);
/* Once a second: greetings that never came, silence. */
void server_tick(struct server *s, uint64_t now_ns);
/* A record of the session was committed: it gets an acknowledgement at the next flush. */
void server_ack_due(struct session *x);
/* After the store's callbacks: acknowledges what was committed. */
void server_flush_acks(struct server *s);

/* The newest open connection of the machine's agent; NULL: not connected. */
struct session *server_agent(const struct server *s, const char *machine);

void session_ref(struct session *x);
void session_unref(struct session *x);
/* Answers of a request; all check that the session is still open. */
void session_send(struct session *x, uint16_t type, uint32_t id, const ProtobufCMessage *body);
void session_error(struct session *x, uint32_t id, int code, const char *text);
void session_done(struct session *x, uint32_t id, const char *text);
/* Who asks: over the Unix socket the peer's own name, else what it claims; "" when neither says. */
const char *session_user(const struct session *x, const char *claimed);

/* dispatch.c */
void session_dispatch(struct session *x, const struct kg_msg *m, uint32_t id);

/* Handlers, one file per message family; all run on the loop thread. */
struct request {
	struct session *session;
	struct coordinator *c;
	const struct kg_msg *msg; /* borrows, for the call */
	uint32_t id;
};
#define REQUEST_BODY(rq, Type) ((const Type *)kg_msg_body((rq)->msg))

/* agents.c */
void handle_facts(const struct request *rq);
void handle_agent_state(const struct request *rq);
void handle_record(const struct request *rq);
void handle_blob_request(const struct request *rq);
void handle_peer_serving(const struct request *rq);
void handle_peer_wanted(const struct request *rq);
void agents_session_closed(struct session *x);
/* jobs.c */
void handle_submit(const struct request *rq);
void handle_job_cancel(const struct request *rq);
void handle_job_retry(const struct request *rq);
void handle_job_change(const struct request *rq);
/* machines.c */
void handle_machine_change(const struct request *rq);
/* why.c, reproduce.c */
void handle_why(const struct request *rq);
void handle_reproduce(const struct request *rq);
/* lsm.c */
void handle_lsm_resolve(const struct request *rq);
/* standing.c */
void handle_standing(const struct request *rq);
/* kernels.c */
void handle_kernel_offer(const struct request *rq);
void handle_blob_put(const struct request *rq);
void handle_kernel_commit(const struct request *rq);
void handle_kernel_remove(const struct request *rq);
/* questions.c */
void handle_info(const struct request *rq);
void handle_question(const struct request *rq); /* what the store answers */
/* streams.c */
void handle_samples(const struct request *rq);
void handle_logs(const struct request *rq);
void handle_provenance(const struct request *rq);
/* Answers with a reply that may be larger than a frame, in parts. Takes the reply; the request's
 * message is not used. */
void stream_reply(const struct request *rq, uint16_t type, ProtobufCMessage *reply);
/* Whether a reply has to go that way, and its reader knows it. */
bool reply_in_parts(const struct session *x, const ProtobufCMessage *reply);
/* Sends a reply that may be larger than a frame; it stays the caller's. */
void reply_send(struct session *x, uint16_t type, uint32_t id, const ProtobufCMessage *reply);
/* findings.c */
void handle_import(const struct request *rq);
void handle_regression_action(const struct request *rq);
/* recurring.c */
void handle_calibrate(const struct request *rq);
/* watch.c */
void handle_watch(const struct request *rq);
void watch_session_closed(struct session *x);
void watch_dirty(struct server *s, uint64_t job);
struct watch_sample {
	uint64_t job;
	const char *machine, *kernel, *lsm, *workload, *params, *metric, *unit;
	double value;
	uint32_t iteration;
	uint64_t attempt;
};
void watch_sample(struct server *s, const struct watch_sample *sample);

/* work.c: a request's slow part on a worker thread. `run` must not touch the coordinator except
 * query, blobs' read side and what it was given; `finish` runs on the loop thread, also when the
 * session has gone (then sends do nothing). */
struct work {
	uv_work_t uv;
	struct coordinator *c;
	struct session *session; /* referenced */
	uint32_t id;
	int rc;
	struct kg_err err;
	void (*run)(struct work *w);
	void (*finish)(struct work *w);
	struct kg_msg *msg; /* copy of the request, owned */
};
/* `w` (first member of a larger struct, calloc'ed) is taken always; freed after finish. */
void work_start(const struct request *rq, struct work *w);
void work_start_internal(struct coordinator *c, struct work *w); /* without a session */
#define WORK_BODY(w, Type) ((const Type *)kg_msg_body((w)->msg))

#endif
