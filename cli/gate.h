/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a comparison means to a CI: every pair of a cell with its baseline is passed, failed,
 * skipped (not decided) or in error (no data, incomparable). Pure.
 *
 * The gate says no with one regression; yes when nothing is pending and at least one pair has the
 * boots that a decision in gate mode takes; else that it does not know.
 */
#ifndef KG_CLI_GATE_H
#define KG_CLI_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/str.h"
#include "proto/messages.h"

#define GATE_BOOTS 8 /* a side: below them Holm over seven comparisons can never fail one */

enum gate_result { GATE_PASSED, GATE_FAILED, GATE_SKIPPED, GATE_ERROR, GATE_RESULTS };

struct gate_pair {
	const Kgrid__V1__CompareTable *table; /* borrows from the reply, as all of these */
	const Kgrid__V1__CompareRow *row;
	const Kgrid__V1__CompareColumn *column, *baseline;
	const Kgrid__V1__CompareCell *cell;
	enum gate_result result;
	char *reason; /* owned: why, of skipped and error; else the numbers */
};

struct gate {
	struct gate_pair *pairs; /* owned, in the order of the reply */
	size_t n;
	size_t counts[GATE_RESULTS];
	size_t decidable;	/* pairs with GATE_BOOTS a side */
	uint32_t missing_boots; /* of the pair that lacks the least, over both sides; 0: no pair */
	uint64_t pending;
};

void gate_init(struct gate *g, const Kgrid__V1__CompareReply *r);
void gate_deinit(struct gate *g);
int gate_exit(const struct gate *g); /* CLI_EXIT_OK, _NO, _NODATA */
/* Why the answer is 5, one line; empty when it is another one. */
void gate_why(const struct gate *g, struct kg_str *out);
/* All that did not pass, and how many did; `all`: those too. */
void gate_text(const struct gate *g, bool all, size_t width, bool color, struct kg_str *out);

#endif
