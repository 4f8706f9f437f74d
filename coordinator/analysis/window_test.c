/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/window_test.h"

#include <math.h>
#include <string.h>

#include "coordinator/analysis/student.h"

/* The normal approximation is off by less than this factor where an exact count would matter. */
#define APPROXIMATION_FACTOR 30

#define TRIM 0.15 /* of a side, at each end */

#define RANKS_MAX (2 * (2 * WINDOW_MAX)) /* doubled mid-ranks: whole numbers */

static void sort_small(double *x, size_t n)
{
	size_t i, k;

	for (i = 1; i < n; i++) {
		double v = x[i];

		for (k = i; k > 0 && x[k - 1] > v; k--)
			x[k] = x[k - 1];
		x[k] = v;
	}
}

static double median_sorted(const double *x, size_t n)
{
	return n % 2 ? x[n / 2] : x[n / 2 - 1] / 2 + x[n / 2] / 2;
}

struct ranks {
	unsigned doubled[2 * WINDOW_MAX]; /* mid-ranks of all values, ascending */
	unsigned left_sum;		  /* doubled, of the left side */
	double tie_term;		  /* sum of t^3 - t */
	bool ties;
};

/* Both sides are sorted. */
static void rank_all(const double *l, size_t nl, const double *r, size_t nr, struct ranks *ret)
{
	size_t i = 0;
	size_t j = 0;

	*ret = (struct ranks){.ties = false};
	while (i < nl || j < nr) {
		double v = j >= nr || (i < nl && l[i] <= r[j]) ? l[i] : r[j];
		size_t before = i + j;
		size_t i0 = i;
		size_t t, k;

		while (i < nl && l[i] <= v)
			i++;
		while (j < nr && r[j] <= v)
			j++;
		t = i + j - before;
		for (k = before; k < i + j; k++)
			ret->doubled[k] = (unsigned)(2 * before + t + 1);
		ret->left_sum += (unsigned)((i - i0) * (2 * before + t + 1));
		if (t > 1) {
			ret->ties = true;
			ret->tie_term += (double)(t * t * t - t);
		}
	}
}

/* P(U <= u) without ties: the number of ways is a coefficient of the Gaussian binomial, built up one
 * factor (1 - q^(m+i)) / (1 - q^i) at a time. */
static double exact_tail(size_t n, size_t m, size_t u)
{
	double ways[WINDOW_MAX * WINDOW_MAX + 1] = {0};
	double total = 1;
	double tail = 0;
	size_t i, k;

	ways[0] = 1;
	for (i = 1; i <= n; i++) {
		for (k = u; k >= m + i; k--)
			ways[k] -= ways[k - m - i];
		for (k = i; k <= u; k++)
			ways[k] += ways[k - i];
		total *= (double)(m + i) / (double)i;
	}
	for (k = 0; k <= u; k++)
		tail += ways[k];
	return tail / total;
}

/* P(sum of k of the doubled mid-ranks <= sum): k is the smaller side. */
static double tied_tail(const unsigned *doubled, size_t total, size_t k, unsigned sum)
{
	/* share[c][s]: ways to take c ranks with the sum s */
	static const size_t width = WINDOW_EXACT_TIES * RANKS_MAX + 1;
	double share[WINDOW_EXACT_TIES + 1][WINDOW_EXACT_TIES * RANKS_MAX + 1];
	double all = 1;
	double tail = 0;
	size_t i, c, s;

	if (sum >= width)
		return 1;
	for (c = 0; c <= k; c++)
		memset(share[c], 0, (sum + 1) * sizeof(share[c][0]));
	share[0][0] = 1;
	for (i = 0; i < total; i++)
		for (c = i + 1 < k ? i + 1 : k; c > 0; c--)
			for (s = sum; s + 1 > doubled[i]; s--)
				share[c][s] += share[c - 1][s - doubled[i]];
	for (i = 1; i <= k; i++)
		all *= (double)(total - k + i) / (double)i;
	for (s = 0; s <= sum; s++)
		tail += share[k][s];
	return tail / all;
}

/* The lower tail of the sum of the shorter side's ranks, and the upper one as the lower tail of the
 * mirror image: the smaller of them. */
static double tied_p(const struct ranks *r, size_t nl, size_t nr)
{
	size_t n = nl + nr;
	size_t k = nl < nr ? nl : nr;
	unsigned all = (unsigned)(n * (n + 1));
	unsigned sum = nl < nr ? r->left_sum : all - r->left_sum;
	unsigned mirrored = (unsigned)(2 * k * (n + 1)) - sum;
	unsigned flipped[2 * WINDOW_MAX];
	size_t i;

	if (sum <= mirrored)
		return tied_tail(r->doubled, n, k, sum);
	for (i = 0; i < n; i++)
		flipped[i] = (unsigned)(2 * (n + 1)) - r->doubled[n - 1 - i];
	return tied_tail(flipped, n, k, mirrored);
}

static double rank_p(const struct ranks *r, size_t nl, size_t nr, double needed)
{
	double n = (double)(nl + nr);
	double u = (double)r->left_sum / 2 - (double)(nl * (nl + 1)) / 2;
	double pairs = (double)nl * (double)nr;
	double variance = pairs / 12 * (n + 1 - r->tie_term / (n * (n - 1)));
	double low = fmin(u, pairs - u);
	double p;

	if (!(variance > 0))
		return 1; /* all equal */
	p = erfc(fmax(0, pairs / 2 - low - 0.5) / sqrt(variance) / M_SQRT2);
	if (p > needed * APPROXIMATION_FACTOR)
		return p;
	if (!r->ties)
		return fmin(1, 2 * exact_tail(nl, nr, (size_t)low));
	if (nl <= WINDOW_EXACT_TIES || nr <= WINDOW_EXACT_TIES)
		return fmin(1, 2 * tied_p(r, nl, nr));
	return p;
}

struct trimmed {
	double kept; /* values */
	double mean;
	double squares; /* winsorised, around the winsorised mean */
};

/* Of sorted values. */
static struct trimmed trim(const double *x, size_t n)
{
	size_t cut = (size_t)(TRIM * (double)n);
	struct trimmed t = {.kept = (double)(n - 2 * cut)};
	double center = 0;
	size_t i;

	for (i = cut; i < n - cut; i++)
		t.mean += x[i];
	center = t.mean + (double)cut * (x[cut] + x[n - cut - 1]);
	center /= (double)n;
	t.mean /= t.kept;
	for (i = cut; i < n - cut; i++)
		t.squares += (x[i] - center) * (x[i] - center);
	t.squares += (double)cut * (x[cut] - center) * (x[cut] - center);
	t.squares += (double)cut * (x[n - cut - 1] - center) * (x[n - cut - 1] - center);
	return t;
}

static double mean_p(const double *l, size_t nl, const double *r, size_t nr, bool pooled)
{
	struct trimmed a = trim(l, nl);
	struct trimmed b = trim(r, nr);
	double d = fabs(a.mean - b.mean);
	double va, vb, se2, df;

	if (nl + nr < 3 || (!pooled && (nl < 2 || nr < 2)))
		return 1;
	if (pooled) {
		df = a.kept + b.kept - 2;
		se2 = (a.squares + b.squares) / df * (1 / a.kept + 1 / b.kept);
	} else {
		va = a.squares / (a.kept * (a.kept - 1));
		vb = b.squares / (b.kept * (b.kept - 1));
		se2 = va + vb;
		df = 1;
		if (se2 > 0)
			df = 1 / (va / se2 * (va / se2) / (a.kept - 1) +
				  vb / se2 * (vb / se2) / (b.kept - 1));
	}
	if (!(se2 > 0))
		return d > 0 ? 0 : 1;
	return stats_student_two_tails(d / sqrt(se2), df);
}

static double spread_of(const double *l, size_t nl, double ml, const double *r, size_t nr,
			double mr)
{
	double d[2 * WINDOW_MAX];
	size_t i;

	for (i = 0; i < nl; i++)
		d[i] = fabs(l[i] - ml);
	for (i = 0; i < nr; i++)
		d[nl + i] = fabs(r[i] - mr);
	sort_small(d, nl + nr);
	return 1.4826 * median_sorted(d, nl + nr);
}

void window_test(const struct window_sides *w, double needed, struct window_result *ret)
{
	size_t nl = w->n_left;
	size_t nr = w->n_right;
	double l[WINDOW_MAX], r[WINDOW_MAX];
	struct ranks ranks;

	memcpy(l, w->left, nl * sizeof(*l));
	memcpy(r, w->right, nr * sizeof(*r));
	sort_small(l, nl);
	sort_small(r, nr);
	rank_all(l, nl, r, nr, &ranks);
	ret->median_left = median_sorted(l, nl);
	ret->median_right = median_sorted(r, nr);
	ret->rank_p = rank_p(&ranks, nl, nr, needed);
	ret->mean_p = mean_p(l, nl, r, nr, w->pooled);
	ret->spread = spread_of(l, nl, ret->median_left, r, nr, ret->median_right);
}
