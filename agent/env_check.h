/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the machine stayed the same while a workload ran. PURE: facts before and after (sorted or
 * not) give a reason, or none.
 *
 * Reasons: a core or package was throttled; microcode or clocksource changed; the kernel was
 * tainted by W, D, M, B or L (warning, oops, machine check, bad page, soft lock-up:
 * Documentation/admin-guide/tainted-kernels.rst); packages or the workload's programs were written;
 * a package manager was at work; somebody logged in. The host name is none: identity is not the
 * host name. A fact that either side lacks says nothing, since a missing counter is not 0.
 */
#ifndef KG_AGENT_ENV_CHECK_H
#define KG_AGENT_ENV_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/fact_list.h"

/* True when the run counts. False: `reason` says why not, for people; the first of the list above
 * that holds. */
bool env_check(const struct fact_list *before, const struct fact_list *after, char *reason,
	       size_t size);

#endif
