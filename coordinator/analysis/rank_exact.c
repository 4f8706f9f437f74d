/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/rank_exact.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* One step of the recurrence: row i goes from j - 1 to j; row i - 1 is there already. */
static void step_row(double *row, const double *above, size_t i, size_t j, size_t last)
{
	double n = (double)(i + j), stay = (double)j / n, shift = (double)i / n;
	size_t end = min_size(last, i * j);

	for (size_t u = 0; u < min_size(j, end + 1); u++)
		row[u] *= stay;
	for (size_t u = j; u <= end; u++)
		row[u] = row[u] * stay + above[u - j] * shift;
}

/* P(U = 0), ..., P(U = last). Owned (free); NULL: out of memory. */
static double *u_density(size_t n, size_t m, size_t last)
{
	size_t a = min_size(n, m), b = n + m - a, width = last + 1;
	double *rows, *ret;

	if (a + 1 > SIZE_MAX / sizeof(*rows) / width)
		return NULL;
	rows = calloc((a + 1) * width, sizeof(*rows));
	if (!rows)
		return NULL;
	for (size_t i = 0; i <= a; i++)
		rows[i * width] = 1; /* j = 0 */
	for (size_t j = 1; j <= b; j++) {
		for (size_t i = 1; i <= a; i++)
			step_row(&rows[i * width], &rows[(i - 1) * width], i, j, last);
	}
	ret = calloc(width, sizeof(*ret));
	for (size_t u = 0; ret && u < width; u++)
		ret[u] = rows[a * width + u];
	free(rows);
	return ret;
}

int rank_u_tails(size_t n, size_t m, size_t u, double *ret_lower, double *ret_upper)
{
	size_t mirrored = n * m - u, last = min_size(u, mirrored);
	double *f = u_density(n, m, last), below = 0, near, far;

	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < last; i++)
		below += f[i];
	near = fmin(1, below + f[last]); /* the tail of the side u is on */
	far = fmin(1, 1 - below);
	*ret_lower = u <= mirrored ? near : far;
	*ret_upper = u <= mirrored ? far : near;
	free(f);
	return 0;
}

int rank_u_quantile(size_t n, size_t m, double p, size_t *ret)
{
	size_t last = n * m / 2, q = 0;
	double *f = u_density(n, m, last), sum;

	if (!f)
		return -ENOMEM;
	for (sum = f[0]; sum < p - 10 * DBL_EPSILON && q < last; sum += f[q])
		q++;
	free(f);
	*ret = q;
	return 0;
}

double rank_choose(size_t n, size_t k, double enough)
{
	double c = 1;

	k = min_size(k, n - k);
	for (size_t i = 1; i <= k && c <= enough; i++)
		c = c * (double)(n - k + i) / (double)i;
	return c;
}

/* The next k of n places in order; false behind the last. */
static int next_choice(size_t *chosen, size_t n, size_t k)
{
	size_t i = k;

	while (i > 0 && chosen[i - 1] == n - k + i - 1)
		i--;
	if (i == 0)
		return 0;
	chosen[i - 1]++;
	for (; i < k; i++)
		chosen[i] = chosen[i - 1] + 1;
	return 1;
}

/* Number of choices for each number of ranks and sum, one rank after the other: whole numbers, as
 * the caller keeps C(n, k) small. Ranks are positive. */
static int tails_by_sums(const int64_t *ranks, size_t n, size_t k, size_t width, int64_t sum,
			 double *ret_lower, double *ret_upper)
{
	double *counts = calloc((k + 1) * width, sizeof(*counts));
	double lower = 0, upper = 0, all = 0;

	if (!counts)
		return -ENOMEM;
	counts[0] = 1;
	for (size_t i = 0; i < n; i++) {
		size_t r = (size_t)ranks[i];

		for (size_t j = min_size(k, i + 1); j > 0; j--) {
			double *to = &counts[j * width], *from = &counts[(j - 1) * width];

			for (size_t s = r; s < width; s++)
				to[s] += from[s - r];
		}
	}
	for (size_t s = 0; s < width; s++) {
		double c = counts[k * width + s];

		lower += (int64_t)s <= sum ? c : 0;
		upper += (int64_t)s >= sum ? c : 0;
		all += c;
	}
	free(counts);
	*ret_lower = lower / all;
	*ret_upper = upper / all;
	return 0;
}

int rank_permutation_tails(const int64_t *ranks, size_t n, size_t k, int64_t sum, double *ret_lower,
			   double *ret_upper)
{
	double lower = 0, upper = 0, all = 0;
	size_t *chosen, width = 1;

	/* Ranks are doubled ones: no sum of k is above 2 n k. Few choices are faster one by one. */
	width += 2 * n * k;
	if ((double)n * (double)width < rank_choose(n, k, INFINITY))
		return tails_by_sums(ranks, n, k, width, sum, ret_lower, ret_upper);
	chosen = calloc(k ? k : 1, sizeof(*chosen));
	if (!chosen)
		return -ENOMEM;
	for (size_t i = 0; i < k; i++)
		chosen[i] = i;
	do {
		int64_t s = 0;

		for (size_t i = 0; i < k; i++)
			s += ranks[chosen[i]];
		lower += s <= sum;
		upper += s >= sum;
		all++;
	} while (next_choice(chosen, n, k));
	free(chosen);
	*ret_lower = lower / all;
	*ret_upper = upper / all;
	return 0;
}
