/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CompareReply messages made by hand, as the coordinator's report makes them. */
#ifndef KG_TESTS_DETECT_REPLY_H
#define KG_TESTS_DETECT_REPLY_H

#include "common/arena.h"
#include "proto/messages.h"

struct reply {
	struct kg_arena arena;
	Kgrid__V1__CompareReply r;
};

void reply_init(struct reply *x);
void reply_deinit(struct reply *x);
/* A table of two or more columns, "6.1/prev 6.12/prev"; the first is the baseline. Kernels get the
 * digest "d-LABEL", lists the effective list "capability,LABEL" and the
 * request "r-LABEL". */
Kgrid__V1__CompareTable *reply_table(struct reply *x, const char *machine, const char *workload,
				     const char *metric, const char *columns);
/* A row whose cells are all `same` with effect 0 and p_worse 0.5. */
Kgrid__V1__CompareRow *reply_row(struct reply *x, Kgrid__V1__CompareTable *t, const char *params);
void reply_cell(Kgrid__V1__CompareRow *row, size_t column, const char *verdict, double effect,
		double p_worse);

#endif
