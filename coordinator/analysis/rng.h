/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fixed generator of everything that draws: splitmix64 (Steele, Lea and Flood 2014, OOPSLA,
 * 453-472). The seed is part of a result, so that it can be made again. Pure.
 */
#ifndef KG_COORDINATOR_ANALYSIS_RNG_H
#define KG_COORDINATOR_ANALYSIS_RNG_H

#include <stdint.h>

struct stats_rng {
	uint64_t state; /* the seed at first */
};

uint64_t stats_rng_next(struct stats_rng *r);
/* 0 <= index < n: ((next >> 32) * n) >> 32, as the vectors fix it. n > 0. */
uint32_t stats_rng_index(struct stats_rng *r, uint32_t n);
double stats_rng_uniform(struct stats_rng *r); /* [0, 1), 53 bits */
double stats_rng_normal(struct stats_rng *r);  /* mean 0, sd 1 */

#endif
