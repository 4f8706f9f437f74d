/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exact distributions behind the rank tests; for rank.c and rank_shift.c. Pure.
 *
 * U of n and m values without ties: the largest of the i + j values is one of the i with the
 * probability i / (i + j), and then stands above all j:
 *     f(i, j, u) = i / (i + j) f(i - 1, j, u - j) + j / (i + j) f(i, j - 1, u)
 * (Mann and Whitney 1947, (3)); all terms are positive, so that small tails keep their digits. About
 * (n m)^2 / 4 steps and min(n, m) n m / 2 numbers.
 */
#ifndef KG_COORDINATOR_ANALYSIS_RANK_EXACT_H
#define KG_COORDINATOR_ANALYSIS_RANK_EXACT_H

#include <stddef.h>
#include <stdint.h>

/* P(U <= u), P(U >= u); u <= n m. -ENOMEM. */
int rank_u_tails(size_t n, size_t m, size_t u, double *ret_lower, double *ret_upper);
/* Smallest q with P(U <= q) >= p, for p <= 1/2; a p that is met but for rounding is met. -ENOMEM. */
int rank_u_quantile(size_t n, size_t m, double p, size_t *ret);

/* C(n, k); a number above `enough` once it is above it. */
double rank_choose(size_t n, size_t k, double enough);

/* Of all ways to choose k of the n ranks: the share whose sum is <= sum, >= sum. */
int rank_permutation_tails(const int64_t *ranks, size_t n, size_t k, int64_t sum, double *ret_lower,
			   double *ret_upper);

#endif
