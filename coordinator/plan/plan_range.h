/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of a number parameter: "A..B", "A..B+STEP", "A..B*FACTOR"; A is always in it, B where it is
 * met exactly. A, B and STEP may have the units that the parameter takes. Pure. */
#ifndef KG_PLAN_RANGE_H
#define KG_PLAN_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/workload.h"

struct plan_range {
	int64_t first, last;
	uint64_t step; /* or the factor */
	bool multiply;
	uint64_t n; /* values, at least 1 */
};

/* Whether `text` is meant as a range: two dots, for a parameter that is a number. */
bool plan_is_range(const struct kg_param_decl *d, const char *text);
/* KG_EINVALID says what would be right; -ENOMEM. */
int plan_range_parse(const struct kg_workload *w, const struct kg_param_decl *d, const char *text,
		     struct plan_range *ret_range, struct kg_err *err);
/* The value behind `value`. */
int64_t plan_range_next(const struct plan_range *r, int64_t value);

#endif
