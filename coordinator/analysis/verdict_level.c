/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/analysis/bootstrap.h"
#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict_impl.h"

#define LEVEL_SEED	1 /* fixed, so that the same data say the same */
#define LEVEL_RESAMPLES 2000
#define LEVEL_BOOTSTRAP 5 /* boots: the range of fewer holds the median in less than 90 % */

/* `x` is in ascending order. */
static int interval(double *x, size_t n, double level, struct verdict_level *l, struct kg_err *err)
{
	struct bootstrap_interval b;
	size_t lo, hi;
	double coverage;
	int rc;

	if (stats_median_order(n, level, &lo, &hi, &coverage)) {
		l->has_interval = true;
		l->lo = x[lo - 1];
		l->hi = x[hi - 1];
		return 0;
	}
	if (n < LEVEL_BOOTSTRAP)
		return 0;
	rc = bootstrap_bca(x, n, bootstrap_median, LEVEL_RESAMPLES, LEVEL_SEED, level, &b, err);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0; /* else values too far apart for sums */
	l->has_interval = isfinite(b.lo) && isfinite(b.hi);
	if (l->has_interval) {
		l->lo = b.lo;
		l->hi = b.hi;
	}
	return 0;
}

int verdict_level(const struct verdict_side *s, double level, struct verdict_level *ret,
		  struct kg_err *err)
{
	struct verdict_level l = {0};
	struct stats_summary sum;
	double *values, *all;
	size_t n;
	int rc;

	if (s->n == 0)
		return kg_err_set(err, KG_EINVALID, "no boot with a result");
	if (!(level > 0 && level < 1))
		return kg_err_set(err, KG_EINVALID, "level %g is not between 0 and 1", level);
	rc = verdict_boot_values(s, "the side", &values, &all, &n, err);
	if (rc < 0)
		return rc;
	free(all);
	stats_sort(values, s->n);
	l.value = stats_quantile_sorted(values, s->n, 0.5);
	rc = stats_summarise(values, s->n, &sum, err);
	if (rc == 0) {
		l.value = sum.median;
		l.has_cov = sum.has_cv;
		l.cov_pct = sum.has_cv ? sum.cv_pct : 0;
	}
	if (rc != -ENOMEM) /* else values too far apart for a deviation */
		rc = interval(values, s->n, level, &l, err);
	free(values);
	if (rc == 0)
		*ret = l;
	return rc;
}
