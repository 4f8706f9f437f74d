/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/rank.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/rank_exact.h"

/* Both sides in order, and what one walk over them gives. */
struct pooled {
	double *x, *y;
	size_t nx, ny;
	double u2;	 /* 2 U: twice the pairs x > y, plus the equal ones; whole */
	double tie_term; /* sum of t^3 - t */
	bool ties;
};

static void pooled_deinit(struct pooled *s)
{
	free(s->x);
	free(s->y);
}

static int pooled_init(struct pooled *s, const double *x, size_t nx, const double *y, size_t ny,
		       struct kg_err *err)
{
	int rc = stats_check(x, nx, 1, "x", err);

	if (rc == 0)
		rc = stats_check(y, ny, 1, "y", err);
	if (rc < 0)
		return rc;
	*s = (struct pooled){.nx = nx, .ny = ny};
	s->x = stats_sorted_copy(x, nx);
	s->y = stats_sorted_copy(y, ny);
	if (!s->x || !s->y) {
		pooled_deinit(s);
		return kg_err_set(err, -ENOMEM, "out of memory for %zu values", nx + ny);
	}
	return 0;
}

/* How many values at the front of sorted[at..n) equal v. */
static size_t run_of(const double *sorted, size_t at, size_t n, double v)
{
	size_t end = at;

	while (end < n && sorted[end] == v)
		end++;
	return end - at;
}

/* Walks the groups of equal values. `ret_ranks`, if not NULL, gets twice the mid-rank of each of the
 * pooled values. */
static void walk_groups(struct pooled *s, int64_t *ret_ranks)
{
	size_t i = 0, j = 0;

	while (i < s->nx || j < s->ny) {
		bool from_x = j == s->ny || (i < s->nx && s->x[i] < s->y[j]);
		double v = from_x ? s->x[i] : s->y[j];
		size_t tx = run_of(s->x, i, s->nx, v), ty = run_of(s->y, j, s->ny, v);
		size_t t = tx + ty;

		s->u2 += (double)tx * (2 * (double)j + (double)ty);
		if (t > 1) {
			s->ties = true;
			s->tie_term += (double)t * ((double)t * (double)t - 1);
		}
		for (size_t k = 0; ret_ranks && k < t; k++)
			ret_ranks[i + j + k] = (int64_t)(2 * (i + j) + t + 1);
		i += tx;
		j += ty;
	}
}

static void p_normal(const struct pooled *s, double u, double *ret_less, double *ret_greater,
		     double *ret_two)
{
	double nx = (double)s->nx, ny = (double)s->ny, n = nx + ny;
	double mean = nx * ny / 2, variance = nx * ny / 12 * (n + 1);
	double sd;

	if (s->ties)
		variance -= nx * ny / 12 * (s->tie_term / (n * (n - 1)));
	if (fmin(s->x[0], s->y[0]) == fmax(s->x[s->nx - 1], s->y[s->ny - 1]) || variance <= 0) {
		*ret_less = *ret_greater = *ret_two = 1; /* all equal */
		return;
	}
	sd = sqrt(variance);
	*ret_less = fmin(1, stats_norm_cdf((u - mean + 0.5) / sd));
	*ret_greater = fmin(1, stats_norm_cdf((mean - u + 0.5) / sd));
	*ret_two = fmin(1, 2 * fmin(*ret_less, *ret_greater));
}

static double p_two_sided(double less, double greater)
{
	return fmin(1, 2 * fmin(less, greater));
}

/* By permutation, with the mid-ranks of the smaller side. */
static int p_permutation(struct pooled *s, struct stats_mwu *r)
{
	int64_t *ranks = calloc(s->nx + s->ny, sizeof(*ranks));
	bool x_chosen = s->nx <= s->ny;
	double chosen = (double)(x_chosen ? s->nx : s->ny), u2, lower, upper;
	struct pooled again = *s;
	int rc;

	if (!ranks)
		return -ENOMEM;
	walk_groups(&again, ranks);
	/* twice the rank sum of the chosen side: 2 U + k (k + 1) */
	u2 = x_chosen ? s->u2 : 2 * (double)s->nx * (double)s->ny - s->u2;
	rc = rank_permutation_tails(ranks, s->nx + s->ny, (size_t)chosen,
				    (int64_t)(u2 + chosen * (chosen + 1)), &lower, &upper);
	free(ranks);
	if (rc < 0)
		return rc;
	r->p_less = x_chosen ? lower : upper;
	r->p_greater = x_chosen ? upper : lower;
	return 0;
}

static int fill_p(struct pooled *s, struct stats_mwu *r)
{
	double less, greater;
	int rc = 0;

	p_normal(s, r->u, &less, &greater, &r->p_normal);
	if (!s->ties && s->nx <= STATS_EXACT_PAIRS_MAX / s->ny) {
		r->method = STATS_METHOD_EXACT;
		rc = rank_u_tails(s->nx, s->ny, (size_t)r->u, &r->p_less, &r->p_greater);
	} else if (s->ties && rank_choose(s->nx + s->ny, s->nx, STATS_PERMUTATIONS_MAX) <=
				      STATS_PERMUTATIONS_MAX) {
		r->method = STATS_METHOD_PERMUTATION;
		rc = p_permutation(s, r);
	} else {
		r->method = STATS_METHOD_NORMAL;
		r->p_less = less;
		r->p_greater = greater;
		r->p = r->p_normal;
		return 0;
	}
	r->p = p_two_sided(r->p_less, r->p_greater);
	return rc;
}

int stats_mwu(const double *x, size_t nx, const double *y, size_t ny, struct stats_mwu *ret,
	      struct kg_err *err)
{
	struct stats_mwu r = {0};
	struct pooled s;
	int rc = pooled_init(&s, x, nx, y, ny, err);

	if (rc < 0)
		return rc;
	walk_groups(&s, NULL);
	r.u = s.u2 / 2;
	r.ties = s.ties;
	r.cles = r.u / ((double)nx * (double)ny);
	r.cliffs_delta = 2 * r.cles - 1;
	rc = fill_p(&s, &r);
	pooled_deinit(&s);
	if (rc < 0)
		return kg_err_set(err, rc, "out of memory for %zu values", nx + ny);
	*ret = r;
	return 0;
}

double stats_mwu_min_p(size_t nx, size_t ny)
{
	double choose;

	if (nx == 0 || ny == 0)
		return 1;
	choose = rank_choose(nx + ny, nx, INFINITY);
	return fmin(1, 2 / choose);
}

/* Largest |Fx - Fy| times nx ny: whole. */
static int64_t ks_distance(const struct pooled *s)
{
	int64_t nx = (int64_t)s->nx, ny = (int64_t)s->ny, largest = 0;
	size_t i = 0, j = 0;

	while (i < s->nx && j < s->ny) {
		double v = fmin(s->x[i], s->y[j]);
		int64_t d;

		i += run_of(s->x, i, s->nx, v);
		j += run_of(s->y, j, s->ny, v);
		d = llabs((int64_t)i * ny - (int64_t)j * nx);
		if (d > largest)
			largest = d;
	}
	return largest;
}

/* 2 sum (-1)^(k-1) exp(-2 k^2 l^2) (Smirnov 1948, Ann. Math. Stat. 19, 279-281) */
static double ks_asymptotic(double lambda)
{
	double sum = 0;

	if (lambda < 0.2) /* 1 - 1e-12 there already */
		return 1;
	for (int k = 1; k <= 100; k++) {
		double term = exp(-2 * k * k * lambda * lambda);

		sum += k % 2 ? term : -term;
		if (term < 1e-18)
			break;
	}
	return fmax(0, fmin(1, 2 * sum));
}

/* The share of all orders of the pooled values that reach the distance: of those that pass i values
 * of x and j of y, h[j] have reached it; only behind a group of equal values it is looked at. All
 * terms are positive, so that small shares keep their digits (Hodges 1958, Ark. Mat. 3, 469-486). */
static int ks_exact(const struct pooled *s, int64_t distance, double *ret)
{
	size_t n = s->nx + s->ny, at = 0;
	double *h = calloc(s->ny + 1, sizeof(*h));
	bool *ends = calloc(n + 1, sizeof(*ends)); /* a group ends behind k values */
	int rc = h && ends ? 0 : -ENOMEM;

	if (rc < 0)
		goto out_free;
	for (size_t i = 0, j = 0; i < s->nx || j < s->ny;) {
		double v = j == s->ny || (i < s->nx && s->x[i] < s->y[j]) ? s->x[i] : s->y[j];
		size_t tx = run_of(s->x, i, s->nx, v), ty = run_of(s->y, j, s->ny, v);

		i += tx;
		j += ty;
		at += tx + ty;
		ends[at] = true;
	}
	for (size_t i = 0; i <= s->nx; i++) {
		for (size_t j = 0; j <= s->ny; j++) {
			int64_t d = llabs((int64_t)(i * s->ny) - (int64_t)(j * s->nx));
			double k = (double)(i + j);

			if (ends[i + j] && d >= distance)
				h[j] = 1;
			else if (i + j == 0)
				h[j] = 0;
			else
				h[j] = (i ? (double)i / k * h[j] : 0) +
				       (j ? (double)j / k * h[j - 1] : 0);
		}
	}
	*ret = fmin(1, h[s->ny]);
out_free:
	free(ends);
	free(h);
	return rc;
}

int stats_ks(const double *x, size_t nx, const double *y, size_t ny, double *ret_d, double *ret_p,
	     struct kg_err *err)
{
	struct pooled s;
	int64_t distance;
	double d, p = 1;
	int rc = pooled_init(&s, x, nx, y, ny, err);

	if (rc < 0)
		return rc;
	distance = ks_distance(&s);
	d = (double)distance / ((double)nx * (double)ny);
	if (distance > 0 && nx <= STATS_KS_EXACT_MAX / ny)
		rc = ks_exact(&s, distance, &p);
	else if (distance > 0)
		p = ks_asymptotic(d * sqrt((double)nx / ((double)nx + (double)ny) * (double)ny));
	pooled_deinit(&s);
	if (rc < 0)
		return kg_err_set(err, rc, "out of memory for %zu values", nx + ny);
	*ret_d = d;
	*ret_p = p;
	return 0;
}
