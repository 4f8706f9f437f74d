/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/compat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/student.h"
#include "coordinator/analysis/summary.h"

#define STAR_UPPER	 0.975 /* 1.96 sd, as the normal quantile gives it */
#define STAR_ALPHA	 0.05
#define LKP_MARGIN_SHIFT 5 /* n >> 5 values are left out at each end */
#define LKP_INDEX_RATIO	 1.01
#define LKP_RATIO	 1.05
#define BEST_PERCENT	 95

/* 100 a / b, in MMTests' order of operations as long as that does not overflow */
static double percent_of(double a, double b)
{
	double hundred = a * 100;

	return isfinite(hundred) ? hundred / b : a / b * 100;
}

double compat_mmtests_pdiff(double new_value, double base)
{
	if (new_value == base || new_value == 0)
		return 0;
	if (base == 0)
		return 100;
	return percent_of(new_value, base) - 100;
}

double compat_mmtests_pndiff(double new_value, double base)
{
	if (new_value == base)
		return 0;
	if (new_value == 0)
		return 100;
	if (base == 0)
		return -99;
	return 100 - percent_of(new_value, base);
}

static bool star_welch(const struct compat_side *a, const struct compat_side *b, double diff)
{
	double va, vb, df;

	if (a->n < 2 || b->n < 2)
		return false;
	if (a->sd == 0 && b->sd == 0)
		return diff != 0;
	va = a->sd / fmax(a->sd, b->sd);
	vb = b->sd / fmax(a->sd, b->sd);
	va = va * va / (double)a->n;
	vb = vb * vb / (double)b->n;
	df = (va + vb) * (va + vb) / (va * va / (double)(a->n - 1) + vb * vb / (double)(b->n - 1));
	/* rounded down; a df that is whole but for rounding stays */
	df = floor(df * (1 + 1e-12));
	return fabs(diff) / fmax(a->sd, b->sd) / sqrt(va + vb) >
	       -stats_student_quantile(STAR_ALPHA / 2, df);
}

bool compat_mmtests_star(enum compat_star rule, const struct compat_side *base,
			 const struct compat_side *new_side, double *ret_cidiff)
{
	double diff = base->mean - new_side->mean;
	double sum = stats_norm_quantile(STAR_UPPER) * (base->sd + new_side->sd);

	*ret_cidiff = sum == 0 ? diff : diff / sum;
	if (rule == COMPAT_STAR_WELCH)
		return star_welch(base, new_side, diff);
	return fabs(diff) > sum;
}

struct lkp_range {
	double min, median, max;
};

static bool lkp_measure(const double *x, size_t n, struct lkp_range *ret)
{
	size_t margin = n >> LKP_MARGIN_SHIFT, kept = n - 2 * margin;
	double *sorted = stats_sorted_copy(x, n);

	if (!sorted)
		return false;
	ret->min = sorted[margin];
	ret->median = sorted[margin + kept / 2]; /* the upper one of two */
	ret->max = sorted[n - 1 - margin];
	free(sorted);
	return true;
}

bool compat_lkp_changed(const double *base, size_t n_base, const double *new_values, size_t n_new,
			bool index_metric)
{
	struct lkp_range a, b;
	double high, low;

	if (stats_check(base, n_base, 1, "base", NULL) < 0 ||
	    stats_check(new_values, n_new, 1, "new", NULL) < 0 || !lkp_measure(base, n_base, &a) ||
	    !lkp_measure(new_values, n_new, &b))
		return false;
	if (!(b.min > a.median && b.median > a.max) && !(a.min > b.median && a.median > b.max))
		return false;
	high = fmax(fabs(a.median), fabs(b.median));
	low = fmin(fabs(a.median), fabs(b.median));
	if (low == 0 || (a.median < 0) != (b.median < 0)) /* beyond any ratio */
		return true;
	return high / low > (index_metric ? LKP_INDEX_RATIO : LKP_RATIO);
}

double compat_best95(const double *x, size_t n, bool higher_is_better)
{
	size_t kept = n / 100 * BEST_PERCENT + n % 100 * BEST_PERCENT / 100;
	struct stats_moments m;
	double *sorted, center;

	if (stats_check(x, n, 1, "x", NULL) < 0)
		return NAN;
	sorted = stats_sorted_copy(x, n);
	if (!sorted)
		return NAN;
	if (kept == 0)
		kept = 1;
	center = sorted[n / 2];
	m = stats_moments(higher_is_better ? sorted + (n - kept) : sorted, kept, center);
	free(sorted);
	return center + m.offset;
}

int compat_netperf_interval(const double *x, size_t n, int level_pct, double *ret_width_pct,
			    struct kg_err *err)
{
	struct stats_moments m;
	double mean, t;
	int rc = stats_check(x, n, 2, "x", err);

	if (rc < 0)
		return rc;
	if (level_pct < 1 || level_pct > 99)
		return kg_err_set(err, KG_EINVALID, "level is %d %%, 95 or 99 %% is wanted",
				  level_pct);
	m = stats_moments(x, n, x[0]);
	mean = x[0] + m.offset;
	if (mean == 0 || !isfinite(mean))
		return kg_err_set(err, KG_EINVALID,
				  "the mean is %g, an interval in percent of it has no meaning",
				  mean);
	t = -stats_student_quantile((100 - level_pct) / 200., (double)(n - 1));
	*ret_width_pct = 100 * (2 * t / sqrt((double)n) * (m.sd / fabs(mean)));
	return 0;
}
