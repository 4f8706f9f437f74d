/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A short command whose output is a fact. Blocks: for start-up and worker threads only, and never
 * while a workload runs. */
#ifndef KG_AGENT_COMMAND_H
#define KG_AGENT_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/*
 * Runs argv[0] (a full path) with an environment of PATH, LC_ALL=C and TZ=UTC, nothing on stdin,
 * and takes stdout up to `max` bytes; stderr is lost. Whatever is left of it after `timeout_ns` is
 * killed with its process group. 0 with an owned, NUL-terminated text when it ended with status 0;
 * -ETIME, KG_ELIMIT, KG_ENODATA (another status), or a negative errno.
 */
int command_output(const char *const *argv, size_t max, uint64_t timeout_ns, char **ret_text,
		   size_t *ret_len);

#endif
