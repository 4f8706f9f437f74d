/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts one process of a run: an argument vector, a fixed environment, never a shell. */
#ifndef KG_AGENT_WORKLOAD_SPAWN_H
#define KG_AGENT_WORKLOAD_SPAWN_H

#include <sys/types.h>

#include "agent/workload_group.h"
#include "common/err.h"
#include "common/yaml.h"

struct workload_spawn {
	const struct kg_texts *argv;	    /* NULL-terminated */
	const struct kg_texts *environment; /* "NAME=value" on top of the fixed one; may be NULL */
	const char *path;		    /* where programs are looked for; becomes PATH */
	struct workload_group *group;
	enum group_part part;
	int out, err; /* descriptors that become stdout and stderr; stdin is /dev/null */
};

/* The child leads a session of its own, is in its group, dies with the agent, and has PATH,
 * LC_ALL=C, TZ=UTC, HOME=/ and the group's marker in its environment. A program that cannot be
 * executed is an error here. */
int workload_spawn(const struct workload_spawn *s, pid_t *ret_pid, struct kg_err *err);

#endif
