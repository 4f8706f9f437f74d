/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The k-th of all sums a[i] + b[j] of two sorted arrays, without making them: each row i keeps the
 * places [lo[i], hi[i]) of b that are still candidates; pivots are quantiles of a sample of the
 * candidates, a little off the target on both sides in turn; one walk along the staircase of the
 * pivot narrows all rows. A few dozen walks at most, each O(n + m). Rounded sums are ordered like
 * exact ones, so that the result is the very number that sorting all of them would give.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/rank_exact.h"
#include "coordinator/analysis/rng.h"

#define SAMPLES	      8192
#define ENUMERATE_MIN 65536 /* so few candidates are listed and sorted out */
#define ROWS_MAX      UINT32_MAX

struct staircase {
	const double *a, *b; /* ascending */
	size_t n, m;
	bool upper; /* only j >= i: each pair of one array once, with itself too */
	uint32_t *lo, *hi, *cut;
	double *sample;
	size_t sample_max;
	struct stats_rng rng;
	uint64_t below; /* sums that are known to be under the candidates */
	uint64_t candidates;
};

static uint64_t row_first(const struct staircase *s, size_t i)
{
	return s->upper ? i : 0;
}

/* Sums that are < v (or <= v with `equal`); cut[i]: the first place of row i that is not. */
static uint64_t walk(struct staircase *s, double v, bool equal)
{
	uint64_t count = 0;
	size_t j = s->m;

	for (size_t i = 0; i < s->n; i++) {
		double a = s->a[i];
		size_t first = row_first(s, i);

		if (equal) {
			while (j > 0 && a + s->b[j - 1] > v)
				j--;
		} else {
			while (j > 0 && a + s->b[j - 1] >= v)
				j--;
		}
		s->cut[i] = (uint32_t)(j > first ? j : first);
		count += s->cut[i] - first;
	}
	return count;
}

static void keep_below(struct staircase *s, uint64_t count)
{
	memcpy(s->hi, s->cut, s->n * sizeof(*s->hi));
	s->candidates = count - s->below;
}

static void keep_above(struct staircase *s, uint64_t count)
{
	uint64_t end = s->below + s->candidates;

	memcpy(s->lo, s->cut, s->n * sizeof(*s->lo));
	s->below = count;
	s->candidates = end - count;
}

static void reset(struct staircase *s)
{
	s->below = 0;
	s->candidates = 0;
	for (size_t i = 0; i < s->n; i++) {
		s->lo[i] = (uint32_t)row_first(s, i);
		s->hi[i] = (uint32_t)s->m;
		s->candidates += s->hi[i] - s->lo[i];
	}
}

/* One candidate at a random place in each of SAMPLES equal parts of the candidates. */
static void draw_sample(struct staircase *s)
{
	double part = (double)s->candidates / SAMPLES;
	uint64_t passed = 0;
	size_t i = 0;

	for (size_t k = 0; k < SAMPLES; k++) {
		double at = ((double)k + stats_rng_uniform(&s->rng)) * part;
		uint64_t place = (uint64_t)at;

		if (place >= s->candidates)
			place = s->candidates - 1;
		while (place >= passed + (s->hi[i] - s->lo[i])) {
			passed += s->hi[i] - s->lo[i];
			i++;
		}
		s->sample[k] = s->a[i] + s->b[s->lo[i] + (place - passed)];
	}
	stats_sort(s->sample, SAMPLES);
}

static double pivot_near(const struct staircase *s, uint64_t k, bool above)
{
	double q = ((double)(k - s->below) + 0.5) / (double)s->candidates;
	double off = 3 * sqrt(SAMPLES * q * (1 - q)) + 2;
	double at = q * SAMPLES + (above ? off : -off);

	if (at < 0)
		at = 0;
	if (at > SAMPLES - 1)
		at = SAMPLES - 1;
	return s->sample[(size_t)at];
}

/* True: the pivot is the k-th sum. */
static bool narrow(struct staircase *s, uint64_t k, double pivot, bool above)
{
	uint64_t count = walk(s, pivot, !above);

	if (above ? k < count : k >= count) { /* as it was aimed: one walk is enough */
		if (above)
			keep_below(s, count);
		else
			keep_above(s, count);
		return false;
	}
	count = walk(s, pivot, above);
	if (above ? k < count : k >= count)
		return true; /* not under, not over */
	if (above)
		keep_above(s, count);
	else
		keep_below(s, count);
	return false;
}

static double list_candidates(struct staircase *s, uint64_t k)
{
	size_t at = 0;

	for (size_t i = 0; i < s->n; i++) {
		for (size_t j = s->lo[i]; j < s->hi[i]; j++)
			s->sample[at++] = s->a[i] + s->b[j];
	}
	return stats_select(s->sample, at, (size_t)(k - s->below));
}

static double select_sum(struct staircase *s, uint64_t k)
{
	bool above = false;

	reset(s);
	while (s->candidates > s->sample_max) {
		double pivot;

		draw_sample(s);
		above = !above;
		pivot = pivot_near(s, k, above);
		if (narrow(s, k, pivot, above))
			return pivot;
	}
	return list_candidates(s, k);
}

/* The sum at place k + 1 when v is the one at k. */
static double next_sum(struct staircase *s, uint64_t k, double v)
{
	double next = INFINITY;

	if (walk(s, v, true) > k + 1)
		return v;
	for (size_t i = 0; i < s->n; i++) {
		if (s->cut[i] < s->m)
			next = fmin(next, s->a[i] + s->b[s->cut[i]]);
	}
	return next;
}

static double median_sum(struct staircase *s, uint64_t n_sums)
{
	uint64_t k = (n_sums - 1) / 2;
	double low = select_sum(s, k);

	return n_sums % 2 ? low : stats_middle(low, next_sum(s, k, low));
}

static void staircase_deinit(struct staircase *s)
{
	free(s->lo);
	free(s->hi);
	free(s->cut);
	free(s->sample);
}

static int staircase_init(struct staircase *s, const double *a, size_t n, const double *b, size_t m,
			  bool upper)
{
	size_t max = 2 * (n + m);

	*s = (struct staircase){.a = a, .n = n, .b = b, .m = m, .upper = upper};
	if (max < ENUMERATE_MIN)
		max = n <= ENUMERATE_MIN / m ? n * m : ENUMERATE_MIN;
	s->sample_max = max;
	s->lo = calloc(n, sizeof(*s->lo));
	s->hi = calloc(n, sizeof(*s->hi));
	s->cut = calloc(n, sizeof(*s->cut));
	s->sample = calloc(max > SAMPLES ? max : SAMPLES, sizeof(*s->sample));
	if (!s->lo || !s->hi || !s->cut || !s->sample) {
		staircase_deinit(s);
		return -ENOMEM;
	}
	return 0;
}

/* How many of the smallest differences the interval leaves out on each side, plus one: the quantile
 * of U as R's qwilcox, or its normal approximation. 0: the level is out of reach. */
static int interval_place(size_t nx, size_t ny, double level, uint64_t *ret)
{
	double n = (double)nx, m = (double)ny, sd, place;
	size_t q;
	int rc;

	if (nx <= STATS_EXACT_PAIRS_MAX / ny) {
		rc = rank_u_quantile(nx, ny, (1 - level) / 2, &q);
		*ret = rc == 0 ? q : 0;
		return rc;
	}
	sd = sqrt(n * m / 12 * (n + m + 1));
	place = n * m / 2 + stats_norm_quantile((1 - level) / 2) * sd + 0.5;
	*ret = place < 1 ? 0 : (uint64_t)place;
	return 0;
}

static int check_shift(const double *x, size_t nx, const double *y, size_t ny, double level,
		       struct kg_err *err)
{
	int rc = stats_check(x, nx, 1, "x", err);

	if (rc == 0)
		rc = stats_check(y, ny, 1, "y", err);
	if (rc < 0)
		return rc;
	if (!(level > 0) || !(level < 1))
		return kg_err_set(err, KG_EINVALID, "level is %g, above 0 and below 1 is wanted",
				  level);
	if (nx > ROWS_MAX || ny > ROWS_MAX)
		return kg_err_set(err, KG_EINVALID, "more than %u values a side", ROWS_MAX);
	return 0;
}

static void fill_shift(struct staircase *s, uint64_t place, struct stats_shift *r)
{
	uint64_t n = (uint64_t)s->n * s->m;

	r->shift = median_sum(s, n);
	r->has_interval = place > 0;
	if (place <= 1) {
		r->lo = s->a[0] + s->b[0];
		r->hi = s->a[s->n - 1] + s->b[s->m - 1];
		return;
	}
	r->lo = select_sum(s, place - 1);
	r->hi = select_sum(s, n - place);
}

int stats_shift(const double *x, size_t nx, const double *y, size_t ny, double level,
		struct stats_shift *ret, struct kg_err *err)
{
	double *a = NULL, *b = NULL;
	struct stats_shift r = {0};
	struct staircase s;
	uint64_t place = 0;
	int rc = check_shift(x, nx, y, ny, level, err);

	if (rc < 0)
		return rc;
	rc = interval_place(nx, ny, level, &place);
	a = stats_sorted_copy(x, nx);
	b = calloc(ny, sizeof(*b));
	if (rc < 0 || !a || !b)
		goto out_memory;
	for (size_t j = 0; j < ny; j++)
		b[j] = -y[j];
	stats_sort(b, ny);
	rc = staircase_init(&s, a, nx, b, ny, false);
	if (rc < 0)
		goto out_memory;
	fill_shift(&s, place, &r);
	staircase_deinit(&s);
	free(a);
	free(b);
	if (!isfinite(r.shift) || !isfinite(r.lo) || !isfinite(r.hi))
		return kg_err_set(err, KG_EINVALID,
				  "'x' and 'y' are too far apart, their differences are beyond "
				  "what a number can hold");
	*ret = r;
	return 0;
out_memory:
	free(a);
	free(b);
	return kg_err_set(err, -ENOMEM, "out of memory for %zu values", nx + ny);
}

int stats_center(const double *x, size_t n, double *ret, struct kg_err *err)
{
	bool halve;
	double *a, median;
	struct staircase s;
	int rc = stats_check(x, n, 1, "x", err);

	if (rc < 0)
		return rc;
	if (n > ROWS_MAX)
		return kg_err_set(err, KG_EINVALID, "more than %u values", ROWS_MAX);
	a = stats_sorted_copy(x, n);
	if (!a)
		return kg_err_set(err, -ENOMEM, "out of memory for %zu values", n);
	halve = fmax(fabs(a[0]), fabs(a[n - 1])) > DBL_MAX / 2; /* so that no sum overflows */
	for (size_t i = 0; halve && i < n; i++)
		a[i] /= 2;
	rc = staircase_init(&s, a, n, a, n, true);
	if (rc < 0) {
		free(a);
		return kg_err_set(err, rc, "out of memory for %zu values", n);
	}
	median = median_sum(&s, (uint64_t)n * (n + 1) / 2);
	staircase_deinit(&s);
	free(a);
	*ret = halve ? median : median / 2;
	return 0;
}
