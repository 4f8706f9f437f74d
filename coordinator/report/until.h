/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a machine's part of a job has been measured long enough. Pure; works on the answer to the
 * same question that people ask, `kgrid compare JOB`. */
#ifndef KG_REPORT_UNTIL_H
#define KG_REPORT_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "proto/messages.h"

struct until_question {
	const Kgrid__V1__CompareReply *compare; /* of the job */
	const char *machine;
	double pct;	      /* widest 95 % interval allowed: hi - lo, percent */
	uint32_t blocks_done; /* complete ones on this machine */
	uint32_t blocks_min, blocks_max;
};

struct until_answer {
	bool stop;	   /* narrow enough: nothing more is needed */
	bool judged;	   /* false: there is no interval yet, go on */
	double widest_pct; /* of the cells that have an interval; 0 when none has */
	uint32_t cells;	   /* that count, waiting ones included */
	uint32_t waiting;  /* of these: no interval yet */
	uint32_t left_out; /* cells that cannot have an interval any more */
	char text
		[320]; /* for people: "after 7 blocks the widest 95 % interval is 0.8 % (netperf size=64
			* throughput, 6.12/nt against 6.1/prev), 'until' asks for 1 %"; says so under 8
			* boots */
};

/*
 * Every cell of the machine with a direction counts: its effect's interval against the baseline; where
 * the job has one column, the interval of the median relative to it. So does a cell whose row has no
 * baseline that could be measured. A cell that can have no more values (nothing pending, too few boots)
 * is left out and named; so is one that no percentage can be said of, because the baseline is 0. Cells
 * that are incomparable, or whose numbers are not finite, have no interval: the job goes on.
 *
 * Rows without any value yet count while they have pending slots, whatever their metric is going to be.
 * blocks_max is no reason to `stop`: then there is nothing left to do, and the text says so.
 *
 * An effect has an interval from 4 boots a side on (3 against 5), a median from 5.
 */
void until_judge(const struct until_question *q, struct until_answer *ret);

#endif
