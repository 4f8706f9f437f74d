/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A metric over kernels: a line of marks, the points, the changes. Pure.
 *
 *   lab-amd netperf size=64 full: rate in 1/s, higher is better; 12 points, 6.1 .. 6.12
 *     ▇▇█▇▇▇▂▂▁▂▂▁   4376.4 .. 4530.2 1/s
 *           ^
 */
#ifndef KG_CLI_HISTORY_TEXT_H
#define KG_CLI_HISTORY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

struct history_look {
	size_t width; /* columns */
	bool color;
	bool unicode; /* block elements; else _.-:=+*# */
	bool all;     /* every point in the table, however many */
};

#define HISTORY_POINTS_SHOWN 40 /* of a series, in its table */

/* Marks for `n` values in at most `columns` columns, scaled to what is finite among them; a value
 * that is not finite is a blank. `*ret_per` points share a mark (their mean), 1 where all fit. */
void history_spark(const double *values, size_t n, size_t columns, bool unicode, struct kg_str *out,
		   size_t *ret_per);

void history_series_text(const Kgrid__V1__HistorySeries *s, const struct history_look *look,
			 struct kg_str *out);
/* All series, legend, notes, accounting. */
void history_text(const Kgrid__V1__HistoryReply *r, const struct history_look *look,
		  struct kg_str *out);
/* One line per point, with the change that begins at it. */
void history_csv(const Kgrid__V1__HistoryReply *r, struct kg_str *out);

#endif
