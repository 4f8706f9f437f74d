/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison tables for people and as CSV. Pure.
 *
 *   lab-intel: Intel Xeon Processor (Cascadelake), GenuineIntel
 *   instruction clock: counts of instructions, not time of a real CPU
 *   netperf test=UDP_RR: rate in 1/s, higher is better; n=5 boots; CoV between boots <= 0.12 %
 *
 *                6.1                               6.1
 *     size      prev                              full
 *       64   4521.10  4402.31 (-2.63 % [-2.80, -2.45])*
 *
 * Parameters that all rows share stand in the heading. The baseline comes first and is repeated
 * where the columns do not fit into the width.
 */
#ifndef KG_CLI_COMPARE_TEXT_H
#define KG_CLI_COMPARE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

#define COMPARE_MIN_EFFECT_PCT 1.0 /* a smaller change is never marked */

/* Whether some cell has a value. */
bool compare_has_values(const Kgrid__V1__CompareReply *r);

void compare_table_text(const Kgrid__V1__CompareTable *t, size_t width, bool color,
			struct kg_str *out);
/* All tables, legend, effective lists, notes, accounting. */
void compare_text(const Kgrid__V1__CompareReply *r, size_t width, bool color, struct kg_str *out);
/* One line per machine, workload, metric, parameters and column. */
void compare_csv(const Kgrid__V1__CompareReply *r, struct kg_str *out);

#endif
