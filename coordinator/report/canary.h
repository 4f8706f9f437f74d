/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drift within blocks, as the canary shows it: a workload that does not depend on the kernel runs in
 * the first and in the last boot of a block, so what differs between them is the machine. Pure.
 *
 * Per block the last boot's median over the first's, as a percentage, positive is better; over blocks
 * their median with its 95 % interval (analysis/verdict.h: verdict_level, from 5 blocks on).
 */
#ifndef KG_COORDINATOR_REPORT_CANARY_H
#define KG_COORDINATOR_REPORT_CANARY_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define CANARY_WARN_PCT 1.0 /* drift above this, with an interval without 0, is a warning */

struct canary_value { /* one valid iteration; texts borrow */
	const char *machine, *workload, *params;
	const char *metric, *unit, *direction;
	uint64_t job;
	uint32_t block;
	uint64_t boot;
	int64_t time_ns; /* start of the boot; orders the boots of a block */
	uint32_t epoch;	 /* 0: not recorded */
	double value;
};

/*
 * Adds a note for each machine, canary and metric: "canary lab-intel: last boots of a block are
 * +0.3 % [-0.1, 0.7] against the first (5 blocks)", and a warning where that is drift. Workload,
 * parameters and metric are named where a machine has several of them. Blocks with one boot, with
 * boots of two epochs, or whose first value is not above 0 are left out and counted. `v` is
 * reordered. -ENOMEM.
 */
int report_canary(struct canary_value *v, size_t n, char ***notes, size_t *n_notes,
		  struct kg_err *err);

#endif
