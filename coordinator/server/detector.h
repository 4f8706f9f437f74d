/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at finished blocks, keeps regressions, has candidates tried again, tells people.
 *
 *   block done --> look (worker thread: compare, judge) --> sightings, steps --> store
 *                    ^                                           |
 *                    +---- confirmation job done <--- job <------+ candidate, its job done
 */
#ifndef KG_SERVER_DETECTOR_H
#define KG_SERVER_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coordinator;

struct detector {
	struct coordinator *c;
	bool dirty;	  /* something ended since the last look began */
	bool looking;	  /* one look at a time */
	uint64_t *forced; /* regressions that a person wants tried again, whatever the budget */
	size_t n_forced;
	uint64_t *declined; /* candidates that could not be tried: said once in a run */
	size_t n_declined;
	int64_t next_recurring_ns;
	bool told_pending; /* notices of an earlier run were taken up */
};

void detector_init(struct detector *d, struct coordinator *c);
void detector_deinit(struct detector *d);
/* A slot was settled, a job has ended: to be looked at with the next tick. */
void detector_dirty(struct detector *d);
void detector_tick(struct detector *d);
/* 0 or -ENOMEM. */
int detector_retest(struct detector *d, uint64_t regression);

#endif
