/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a run, as two groups that can be counted and killed as a whole: the workload
 * and its helper. A cgroup (v2) each where the agent may make one below its own; else sessions,
 * with the agent as the subreaper to which orphans come.
 */
#ifndef KG_AGENT_WORKLOAD_GROUP_H
#define KG_AGENT_WORKLOAD_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

enum group_part { GROUP_MAIN, GROUP_HELPER, GROUP_PARTS };

#define GROUP_PATH_SIZE 1024
#define GROUP_MARKER	"KGRID_RUN" /* environment variable of everything that a run starts */

struct workload_group {
	bool cgroup;
	char base[GROUP_PATH_SIZE]; /* the folder of this agent's runs in the cgroup file system */
	char marker[160];	    /* "KGRID_RUN=NAME" */
	pid_t leader[GROUP_PARTS];  /* 0: none; leads a session */
};

/* `name` tells this agent's runs from those of others on the host. Kills what an earlier process
 * of this agent left behind and waits until it is gone. With `use_cgroup` false, or where cgroups
 * cannot be used, sessions are. */
int workload_group_init(struct workload_group *g, const char *name, bool use_cgroup,
			struct kg_err *err);
void workload_group_deinit(struct workload_group *g);

/* Descriptor that a child writes "0" to before exec, to become a member; ret_fd is -1 without
 * cgroups. */
int workload_group_open(struct workload_group *g, enum group_part part, int *ret_fd,
			struct kg_err *err);
/* Living members, `except` (0: none) not counted. */
size_t workload_group_count(const struct workload_group *g, enum group_part part, pid_t except);
/* SIGKILL to all members. */
void workload_group_kill(const struct workload_group *g, enum group_part part);

#endif
