/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison tables for people and as CSV. Pure.
 *
 *   lab-intel: Intel Xeon Processor (Cascadelake), GenuineIntel, cascadelake
 *   instruction clock: counts of instructions, not time of a real CPU
 *   netperf test=UDP_RR: rate in 1/s, higher is better; n=8 boots (40 iterations); CoV between
 *       boots <= 0.12 %; smallest change that matters 1 %
 *   differs from the baseline in: LSM list; microcode 0x1 -> 0x2
 *
 *                  6.1                              6.1
 *     size        prev                             full
 *       64     4521.10  4402.31  -2.63 % [-2.80, -2.45]
 *     [4518.20, 4523.00]    regression  p=0.0079  q=0.016
 *
 * Parameters that all rows share stand in the heading. The baseline comes first and is repeated
 * where the columns do not fit into the width. Reasons are numbered lines below the table.
 */
#ifndef KG_CLI_COMPARE_TEXT_H
#define KG_CLI_COMPARE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

struct compare_look {
	size_t width; /* columns */
	bool color;
	bool brief; /* one line per row: without p, q and counts that are as usual */
};

/* Whether some cell has a value. */
bool compare_has_values(const Kgrid__V1__CompareReply *r);

/* The words of all cells: [0] regression, then as below, cells without a word not counted. */
enum {
	COMPARE_REGRESSION,
	COMPARE_IMPROVEMENT,
	COMPARE_DIFFERENT,
	COMPARE_SAME,
	COMPARE_UNKNOWN,
	COMPARE_UNSTABLE,
	COMPARE_INCOMPARABLE,
	COMPARE_WORDS
};
struct compare_counts {
	size_t words[COMPARE_WORDS];
	size_t other;	 /* words of a newer coordinator */
	size_t compared; /* cells with a verdict on numbers, or at least a change */
};
void compare_count(const Kgrid__V1__CompareReply *r, struct compare_counts *ret);

/* Why nothing could be compared, one line: no values, one column only, all incomparable. */
void compare_why_nothing(const Kgrid__V1__CompareReply *r, struct kg_str *out);

void compare_table_text(const Kgrid__V1__CompareTable *t, const struct compare_look *look,
			struct kg_str *out);
/* Vendors and microarchitectures, then interactions (compare_summary.c). */
void compare_summaries_text(const Kgrid__V1__CompareReply *r, const struct compare_look *look,
			    struct kg_str *out);
/* All tables, summaries, legend, effective lists, notes, accounting. */
void compare_text(const Kgrid__V1__CompareReply *r, const struct compare_look *look,
		  struct kg_str *out);
/* One line per machine, workload, metric, parameters and column. */
void compare_csv(const Kgrid__V1__CompareReply *r, struct kg_str *out);

#endif
