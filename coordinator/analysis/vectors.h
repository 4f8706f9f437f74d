/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs files of test vectors against the statistics. A file is one JSON object with "cases", a list
 * of objects:
 *     id      names the case
 *     op      which function, see vectors_ops.c
 *     input   its arguments; "NaN", "Infinity" and "-Infinity" are numbers there
 *     expect  each key is compared: null is undefined or refused, lists element by element, numbers to
 *             |expected - got| <= rtol |expected|; "error" wants a refusal for the reason it names
 *     rtol    0 or more; left out: 1e-9
 * Where rounding alone makes the expected number (a spread of equal values, a sum that is 0), the
 * difference may also be a few roundings of the largest input; bootstrap_bca_reference's rtol is
 * relative to the width of the interval. Pure.
 */
#ifndef KG_COORDINATOR_ANALYSIS_VECTORS_H
#define KG_COORDINATOR_ANALYSIS_VECTORS_H

#include <stddef.h>

#include "common/err.h"

enum vectors_result { VECTORS_PASS, VECTORS_FAIL, VECTORS_UNKNOWN };
const char *vectors_result_name(enum vectors_result r); /* "pass", "fail", "unknown" */

struct vectors_case {
	char *id, *op;
	enum vectors_result result;
	char *text; /* what differs: expected and got; "" for a pass */
};

struct vectors_report {
	struct vectors_case *cases;
	size_t n, pass, fail, unknown;
};

/* All cases of a file's text (a byte order mark is skipped). KG_EINVALID, with the place (line and
 * column, or the case), when it is no JSON or not of this form: then no case is run. -ENOMEM.
 * `*ret` is owned: vectors_report_deinit. */
int vectors_run(const char *text, size_t len, struct vectors_report *ret, struct kg_err *err);
void vectors_report_deinit(struct vectors_report *r);

#endif
