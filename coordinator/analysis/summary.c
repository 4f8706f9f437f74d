/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/student.h"

#define BINOMIAL_EXACT_MAX 1000	 /* 2^-n is a normal number */
#define ROUNDING	   1e-12 /* a coverage that is the level but for rounding is enough */

/* A sum with the error of each addition carried along (Neumaier 1974, ZAMM 54, 39-51). */
struct sum {
	double total, rest;
};

static void sum_add(struct sum *s, double v)
{
	double next = s->total + v;

	if (fabs(s->total) >= fabs(v))
		s->rest += (s->total - next) + v;
	else
		s->rest += (v - next) + s->total;
	s->total = next;
}

static double sum_value(const struct sum *s)
{
	return s->total + s->rest;
}

struct stats_moments stats_moments(const double *x, size_t n, double center)
{
	struct stats_moments m = {0};
	struct sum sum = {0}, squares = {0};
	double largest = 0, mean;
	bool equal = true;
	int exponent;

	for (size_t i = 0; i < n; i++) {
		largest = fmax(largest, fabs(x[i] - center));
		equal = equal && x[i] == x[0];
	}
	if (equal) {
		m.offset = x[0] - center;
		return m;
	}
	(void)frexp(largest, &exponent);
	for (size_t i = 0; i < n; i++)
		sum_add(&sum, ldexp(x[i] - center, -exponent));
	mean = sum_value(&sum) / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = ldexp(x[i] - center, -exponent) - mean;

		sum_add(&squares, d * d);
	}
	m.offset = ldexp(mean, exponent);
	if (n >= 2)
		m.sd = ldexp(sqrt(sum_value(&squares) / (double)(n - 1)), exponent);
	return m;
}

/* Harmonic and geometric mean of values > 0, by min / x and x / min: 1 / x may overflow, and
 * 1 - min / x = (x - min) / x keeps the digits of values that are close to each other. */
static void fill_hmean(const double *x, size_t n, struct stats_summary *s)
{
	struct sum lacks = {0}, logs = {0}, ratios = {0}, squares = {0};
	double min = s->min, lack, ratio, sd;

	for (size_t i = 0; i < n; i++) {
		double above = x[i] - min;
		double grown = above / min;

		sum_add(&lacks, above / x[i]);
		sum_add(&ratios, min / x[i]);
		sum_add(&logs, isfinite(grown) ? log1p(grown) : log(x[i]) - log(min));
	}
	lack = sum_value(&lacks) / (double)n;
	ratio = sum_value(&ratios) / (double)n; /* min / hmean */
	for (size_t i = 0; i < n; i++) {
		double d = (x[i] - min) / x[i] - lack;

		sum_add(&squares, d * d);
	}
	sd = sqrt(sum_value(&squares) / (double)n);
	s->has_hmean = true;
	s->hmean = fmin(fmax(min / ratio, s->min), s->max);
	s->gmean = fmin(fmax(min * exp(sum_value(&logs) / (double)n), s->min), s->max);
	s->hcv_pct = 100 * sd / ratio;
	s->hstddev = s->hmean * (sd / ratio);
}

static void fill_order(double *copy, size_t n, struct stats_summary *s)
{
	const double quantiles[3] = {0.25, 0.5, 0.75};
	double *targets[3] = {&s->q25, &s->median, &s->q75};

	for (int i = 0; i < 3; i++) {
		double h = (double)(n - 1) * quantiles[i];
		size_t k = (size_t)h;
		double pair[2];

		pair[0] = stats_select(copy, n, k);
		pair[1] = k + 1 < n ? stats_select(copy, n, k + 1) : pair[0];
		if (i == 1 && n % 2 == 0)
			*targets[i] = stats_middle(pair[0], pair[1]);
		else
			*targets[i] = stats_quantile_sorted(pair, 2, h - (double)k);
	}
	for (size_t i = 0; i < n; i++)
		copy[i] = fabs(copy[i] - s->median);
	s->mad = stats_median_inplace(copy, n);
}

int stats_summarise(const double *x, size_t n, struct stats_summary *ret, struct kg_err *err)
{
	struct stats_summary s = {.n = n};
	struct stats_moments m;
	double *copy;
	int rc = stats_check(x, n, 1, "x", err);

	if (rc < 0)
		return rc;
	s.min = s.max = x[0];
	for (size_t i = 1; i < n; i++) {
		s.min = fmin(s.min, x[i]);
		s.max = fmax(s.max, x[i]);
	}
	if (!isfinite(s.max - s.min))
		return kg_err_set(err, KG_EINVALID,
				  "'x' reaches from %g to %g, a range that a number cannot hold",
				  s.min, s.max);
	copy = calloc(n, sizeof(*copy));
	if (!copy)
		return kg_err_set(err, -ENOMEM, "out of memory for %zu values", n);
	memcpy(copy, x, n * sizeof(*copy));
	fill_order(copy, n, &s);
	free(copy);
	/* about a value inside the range, so that no difference overflows */
	m = stats_moments(x, n, s.median);
	s.mean = fmin(fmax(s.median + m.offset, s.min), s.max);
	s.has_sd = n >= 2;
	s.sd = m.sd;
	s.has_cv = s.has_sd && s.mean != 0 && isfinite(100 * (s.sd / s.mean));
	if (s.has_cv)
		s.cv_pct = 100 * (s.sd / s.mean);
	if (s.min > 0)
		fill_hmean(x, n, &s);
	*ret = s;
	return 0;
}

int stats_hmean(const double *x, size_t n, double *ret, struct kg_err *err)
{
	struct stats_summary s = {.n = n};
	int rc = stats_check(x, n, 1, "x", err);

	if (rc < 0)
		return rc;
	s.min = s.max = x[0];
	for (size_t i = 0; i < n; i++) {
		if (x[i] <= 0)
			return kg_err_set(err, KG_EINVALID,
					  "'x[%zu]' is %g, a harmonic mean (hmean) wants values "
					  "above 0",
					  i, x[i]);
		s.min = fmin(s.min, x[i]);
		s.max = fmax(s.max, x[i]);
	}
	fill_hmean(x, n, &s);
	*ret = s.hmean;
	return 0;
}

double stats_median_inplace(double *x, size_t n)
{
	double high = stats_select(x, n, n / 2), low;

	if (n % 2)
		return high;
	low = x[0];
	for (size_t i = 1; i < n / 2; i++)
		low = fmax(low, x[i]);
	return stats_middle(low, high);
}

double stats_quantile_sorted(const double *sorted, size_t n, double q)
{
	double h, part, a, b;
	size_t k;

	if (n == 0 || !(q >= 0) || !(q <= 1))
		return NAN;
	h = (double)(n - 1) * q;
	k = (size_t)h;
	if (k + 1 >= n)
		return sorted[n - 1];
	part = h - (double)k;
	a = sorted[k];
	b = sorted[k + 1];
	if (part == 0 || a == b)
		return a;
	if (!isfinite(b - a))
		return a * (1 - part) + b * part;
	return a + (b - a) * part;
}

/* P(B <= k) for B binomial(n, 1/2), k < n. */
static double binomial_lower(size_t n, size_t k)
{
	double term, sum;

	if (n > BINOMIAL_EXACT_MAX)
		return stats_beta_inc((double)(n - k), (double)k + 1, 0.5);
	term = ldexp(1, -(int)n);
	sum = term;
	for (size_t i = 1; i <= k; i++) {
		term = term * (double)(n - i + 1) / (double)i;
		sum += term;
	}
	return sum;
}

bool stats_median_order(size_t n, double level, size_t *ret_lo, size_t *ret_hi,
			double *ret_coverage)
{
	double tail_max = (1 - level) / 2 + ROUNDING, guess;
	size_t lo = 1;

	if (n < 2 || !(level > 0) || !(level < 1) || binomial_lower(n, 0) > tail_max)
		return false;
	guess = (double)n / 2 + stats_norm_quantile((1 - level) / 2) * sqrt((double)n) / 2;
	if (guess > 3)
		lo = (size_t)guess - 2;
	while (lo > 1 && binomial_lower(n, lo - 1) > tail_max)
		lo--;
	while (lo + 1 <= n / 2 && binomial_lower(n, lo) <= tail_max)
		lo++;
	*ret_lo = lo;
	*ret_hi = n + 1 - lo;
	*ret_coverage = 1 - 2 * binomial_lower(n, lo - 1);
	return true;
}
