/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries out the actions of the state machine (agent.h) on a libuv loop.
 *
 * Happy path: start -> state file and spool say where we are -> connect -> order -> ... -> hop.
 * Failure modes: what fails becomes an event for the machine; a disk that does not take a record
 * ends the process, since nothing may be said that is not on disk.
 */
#ifndef KG_AGENT_DRIVER_H
#define KG_AGENT_DRIVER_H

#include <uv.h>

#include "agent/config.h"
#include "common/err.h"

struct driver; /* opaque */

/* `c` must outlive the driver. */
int driver_start(uv_loop_t *loop, const struct agent_config *c, struct driver **ret_d,
		 struct kg_err *err);
/* Ends what runs and closes everything; the loop runs empty afterwards. */
void driver_stop(struct driver *d);
/* After the loop has run empty. */
void driver_free(struct driver *d);

#endif
