/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Number of modes of a sample: Silverman's test (1981, JRSS B 43, 97-99) with a Gaussian kernel and
 * the fixed generator. Pure.
 */
#ifndef KG_COORDINATOR_ANALYSIS_MODES_H
#define KG_COORDINATOR_ANALYSIS_MODES_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct modes_result {
	unsigned modes; /* smallest number that is not rejected at 0.05; at most 4 */
	double centers[4];
	double p; /* of one mode */
};
/* Centers are in ascending order. KG_EINVALID: no value, or one that is not finite; -ENOMEM. Fewer than
 * 10 values, or equal ones: one mode, at the median, p = 1. Above 2,000 values a regular subsample of the ordered
 * values is used. */
int modes_find(const double *x, size_t n, uint64_t seed, struct modes_result *ret,
	       struct kg_err *err);

#endif
