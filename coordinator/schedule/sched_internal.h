/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the scheduler's files only. */
#ifndef KG_SCHEDULE_SCHED_INTERNAL_H
#define KG_SCHEDULE_SCHED_INTERNAL_H

#include "coordinator/schedule/sched.h"

void sched_insert_job(struct sched *s, struct sched_job *j);
void sched_boot_free(struct sched_boot *b);
/* NULL when the attempt is not one of this boot's. */
struct sched_attempt *sched_boot_attempt(struct sched_boot *b, uint64_t attempt);

#endif
