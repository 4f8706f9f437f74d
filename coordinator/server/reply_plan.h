/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_SERVER_REPLY_PLAN_H
#define KG_SERVER_REPLY_PLAN_H

#include <stdbool.h>

#include "common/arena.h"
#include "coordinator/plan/plan.h"
#include "coordinator/store/types.h"
#include "proto/messages.h"

#define REPLY_PLAN_MAX_BOOTS 4000 /* listed; nobody reads more */

/* A plan as people are shown it. Texts borrow from the plan and the job, lists live in the arena. */
int reply_plan_fill(const struct plan *p, const struct job_spec *j, bool list_cells,
		    struct kg_arena *a, Kgrid__V1__Plan *out);
/* What the store learned from earlier jobs, as the planner takes it; texts borrow. -ENOMEM. */
int reply_plan_history(const struct store_history *h, struct kg_arena *a, struct plan_history *ret);

#endif
