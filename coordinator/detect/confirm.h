/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A candidate is tried again before it counts: three fresh blocks of just the two sides that differ,
 * on the machines that showed it and on a second machine of the same vendor each. Pure.
 *
 * Confirmed (ANALYSIS.md): on the fresh blocks alone the new side is worse with a one-sided
 * Mann-Whitney p <= 0.05 (three blocks a side reach exactly that when they separate), and where
 * there is a second machine it shows the same. A second machine without a valid result says
 * nothing.
 */
#ifndef KG_DETECT_CONFIRM_H
#define KG_DETECT_CONFIRM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/err.h"
#include "common/str.h"
#include "coordinator/plan/job.h"
#include "coordinator/store/types.h"
#include "proto/messages.h"

#define CONFIRM_BLOCKS 3
#define CONFIRM_P      0.05

struct confirm_machine {
	const char *name;
	const char *vendor; /* NULL: not known */
	bool connected;
};

/* Another machine of that vendor that is connected, the first by name; NULL: there is none. */
const char *confirm_second(const struct confirm_machine *machines, size_t n, const char *machine);

/* Text of the job that tries a regression, out of the job that showed it. KG_ENODATA, with the
 * reason: nothing of it can be tried (a list is not in the job file any more). */
int confirm_job_text(const struct store_regression *r, const struct job_spec *origin,
		     const struct confirm_machine *machines, size_t n_machines, struct kg_str *ret,
		     struct kg_err *err);

/* Whether the job's budget has room: `spent_ns` since it was submitted, `needed_ns` by the plan. No
 * budget: always. */
bool confirm_fits(const struct job_spec *origin, uint64_t spent_ns, uint64_t needed_ns);

struct confirm_result {
	bool confirmed;
	struct store_confirmed *members; /* of the arena; those with fresh results to judge by */
	size_t n_members;
	const char *text; /* of the arena; one line a person can read */
};
/* `r` compares the confirmation's job along the regression's axis. -ENOMEM. */
int confirm_judge(const struct store_regression *reg, const Kgrid__V1__CompareReply *r,
		  const struct confirm_machine *machines, size_t n_machines, struct kg_arena *a,
		  struct confirm_result *ret);

/* What people are told: subject in the first line. -ENOMEM via ret->failed. */
void confirm_notice(const struct store_regression *reg, const char *text, struct kg_str *ret);

#endif
