/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One captured stream of a process: a pipe and what came out of it, up to a cap. */
#ifndef KG_AGENT_WORKLOAD_OUTPUT_H
#define KG_AGENT_WORKLOAD_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

struct workload_output {
	uv_pipe_t pipe;
	bool active; /* the handle exists and is not yet closed */
	bool open;   /* may still bring data */
	char *bytes; /* owned, NUL-terminated when not NULL */
	size_t len, cap;
	size_t limit;
	uint64_t dropped;
	void (*changed)(struct workload_output *o); /* end of stream, overflow, or closed */
	void *data;
};

void workload_output_init(struct workload_output *o, size_t limit,
			  void (*changed)(struct workload_output *o), void *data);
/* Makes a pipe and starts to read it; ret_write is for the child and to be closed by the caller. */
int workload_output_start(struct workload_output *o, uv_loop_t *loop, int *ret_write);
void workload_output_close(struct workload_output *o);
/* Forgets what was captured. */
void workload_output_reset(struct workload_output *o);
const char *workload_output_text(const struct workload_output *o); /* never NULL */

#endif
