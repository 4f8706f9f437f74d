/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `kgrid watch` shows. Pure: updates in, text out. On a terminal the view is two parts: lines
 * that scroll (samples, events) and, below them, a status that is drawn again at each update.
 */
#ifndef KG_CLI_WATCH_VIEW_H
#define KG_CLI_WATCH_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/str.h"
#include "proto/messages.h"

struct watch_view; /* keeps the newest state of each machine and of the job */

struct watch_view *watch_view_new(void); /* owned, watch_view_free */
void watch_view_free(struct watch_view *v);

/* Takes what is new and appends its lines: one per event and sample, and one when a boot of a
 * machine or a block is done. */
void watch_view_update(struct watch_view *v, const Kgrid__V1__WatchUpdate *u, struct kg_str *lines);

/* The status: a line per machine with a bar, and the accounting. Each line fits in `width`. Returns
 * the number of lines. */
size_t watch_view_status(const struct watch_view *v, size_t width, bool color, bool unicode,
			 struct kg_str *out);

/* The job as last heard of; NULL before the first update. Borrows. */
uint64_t watch_view_job(const struct watch_view *v); /* 0: not known yet */
const char *watch_view_state(const struct watch_view *v);
void watch_view_accounting(const struct watch_view *v, struct kg_str *out);
/* Slots, those that were to run (neither infeasible nor skipped), and those that passed. */
struct watch_counts {
	uint64_t slots, feasible, passed;
};
struct watch_counts watch_view_counts(const struct watch_view *v);

#endif
