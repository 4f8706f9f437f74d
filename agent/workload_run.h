/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run: the helper if the workload has one, warm-up, iterations, each a process of its own. With a
 * role only one half of that: a server's run is its helper until workload_run_finish, a client's has
 * its helper on another machine.
 *
 *   HELPER -> ITERATION -> SETTLE -> ITERATION ... -> END -> (ended)
 *      server: -> SERVE -> END
 *
 * Happy path: the helper listens; each iteration ends with status 0, leaves nothing behind, and
 * its output holds the primary metric; samples are handed over as each iteration ends.
 * Failure modes, each ending the run as a whole with everything killed: the program cannot be
 * started or ends otherwise; it takes too long; it writes more than the cap; processes stay behind;
 * the helper ends or never listens; no primary value; the owner kills the run.
 *
 * The agent sleeps while an iteration runs: it wakes for output, the end of a child, and a limit.
 */
#ifndef KG_AGENT_WORKLOAD_RUN_H
#define KG_AGENT_WORKLOAD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "agent/agent.h"
#include "agent/workload_group.h"
#include "common/err.h"
#include "common/workload.h"

#define RUN_OUTPUT_CAP (1024 * 1024) /* of each stream; more is a flood */

struct workload_run; /* opaque */

struct run_sample {
	uint32_t index;	    /* within the run, from 0 */
	uint32_t metric;    /* index into the declaration's metrics */
	uint32_t iteration; /* from 1; warm-up counts on its own */
	uint64_t time_ns;   /* CLOCK_MONOTONIC */
	double value;
};

struct workload_run_ops {
	/* Once, before the first process. */
	void (*started)(void *data, const struct kg_texts *argv);
	void (*stage)(void *data, const char *stage); /* "warm-up", "run", "serve" */
	void (*serving)(void *data, uint16_t port);   /* server: the helper listens */
	void (*samples)(void *data, const struct run_sample *s, size_t n, bool warmup);
	void (*log)(void *data, const char *stream, const void *bytes, size_t len,
		    uint64_t dropped);
	/* Exactly once, last; nothing of the run is left, and the run is freed afterwards. */
	void (*ended)(void *data, const struct agent_run_end *end);
};

enum workload_role { WORKLOAD_BOTH, WORKLOAD_CLIENT, WORKLOAD_SERVER };

struct workload_run_spec {
	struct kg_workload *workload; /* takes */
	struct kg_params params;      /* takes */
	uint32_t iterations;
	uint64_t timeout_ns; /* whole run, a server's from the moment it listens; 0: none */
	struct workload_group *group;
	const char *path; /* program search path */
	enum workload_role role;
	const char *host; /* that the helper listens on; NULL: 127.0.0.1 */
	uint16_t port;	  /* client: of the server's helper */
};

/* Takes what the spec says it takes, always. */
int workload_run_start(uv_loop_t *loop, const struct workload_run_spec *spec,
		       const struct workload_run_ops *ops, void *data, struct workload_run **ret_r,
		       struct kg_err *err);
/* What it runs; borrows until `ended` returns. */
void workload_run_describe(const struct workload_run *r, const struct kg_workload **ret_w,
			   const struct kg_params **ret_params);
/* Server: the client's run is over; `ended` follows with pass. */
void workload_run_finish(struct workload_run *r);
/* Ends it as a whole; `ended` follows with this outcome unless it had failed already. */
void workload_run_kill(struct workload_run *r, const char *outcome, const char *reason);

#endif
