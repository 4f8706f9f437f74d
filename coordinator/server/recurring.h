/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A/A jobs that come again. */
#ifndef KG_SERVER_RECURRING_H
#define KG_SERVER_RECURRING_H

#include "coordinator/store/types.h"

struct coordinator;

/* Submits those that are due by the wall clock, and sets when they are next. NULL is fine. */
void recurring_start(struct coordinator *c, const struct store_recurrings *all);

#endif
