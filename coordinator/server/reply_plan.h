/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_SERVER_REPLY_PLAN_H
#define KG_SERVER_REPLY_PLAN_H

#include "common/arena.h"
#include "coordinator/plan/plan.h"
#include "proto/messages.h"

#define REPLY_PLAN_MAX_BOOTS 4000 /* listed; a frame has to hold them */

/* A plan as people are shown it. Texts borrow from the plan, lists live in the arena. */
int reply_plan_fill(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out);

#endif
