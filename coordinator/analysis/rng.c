/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/rng.h"

#include <math.h>

uint64_t stats_rng_next(struct stats_rng *r)
{
	uint64_t z;

	r->state += UINT64_C(0x9e3779b97f4a7c15);
	z = r->state;
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t stats_rng_index(struct stats_rng *r, uint32_t n)
{
	return (uint32_t)(((stats_rng_next(r) >> 32) * n) >> 32);
}

double stats_rng_uniform(struct stats_rng *r)
{
	return (double)(stats_rng_next(r) >> 11) * 0x1p-53;
}

double stats_rng_normal(struct stats_rng *r)
{
	double radius = sqrt(-2 * log(1 - stats_rng_uniform(r)));
	double angle = 2 * M_PI * stats_rng_uniform(r);

	return radius * cos(angle);
}
