/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges stop rules: `repeat: {boots: 5..12, until: "ci95 <= 1%"}`. */
#ifndef KG_SERVER_STOPPER_H
#define KG_SERVER_STOPPER_H

#include <stdint.h>

struct coordinator;
struct sched_action;

/* All blocks that may run on a machine are over, and that is stored: compare, judge, then release
 * the next block or skip the rest. -ENOMEM: nothing was begun. */
int stopper_judge(struct coordinator *c, uint64_t job, const char *machine, uint32_t block);

#endif
