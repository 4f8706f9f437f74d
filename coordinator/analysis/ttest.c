/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/ttest.h"

#include <math.h>

#include "coordinator/analysis/ordering.h"
#include "coordinator/analysis/student.h"
#include "coordinator/analysis/summary.h"

#define CONFIDENCE_UPPER 0.975 /* two-sided 95 % */

struct two {
	struct stats_moments x, y;
	double nx, ny;
	double scale; /* the larger deviation; what follows is in units of it */
	double vx, vy;
	double diff; /* of means, in the values' unit */
};

static int range_error(struct kg_err *err)
{
	return kg_err_set(err, KG_EINVALID,
			  "'x' and 'y' are too far apart, their difference is beyond what a number "
			  "can hold");
}

static int measure(const double *x, size_t nx, const double *y, size_t ny, struct two *ret,
		   struct kg_err *err)
{
	struct two t = {.nx = (double)nx, .ny = (double)ny};
	double min, max, center;
	int rc = stats_check(x, nx, 2, "x", err);

	if (rc == 0)
		rc = stats_check(y, ny, 2, "y", err);
	if (rc < 0)
		return rc;
	min = max = x[0];
	for (size_t i = 0; i < nx + ny; i++) {
		double v = i < nx ? x[i] : y[i - nx];

		min = fmin(min, v);
		max = fmax(max, v);
	}
	if (!isfinite(max - min))
		return range_error(err);
	center = x[0]; /* in the range: no difference from it overflows */
	t.x = stats_moments(x, nx, center);
	t.y = stats_moments(y, ny, center);
	t.diff = t.x.offset - t.y.offset;
	t.scale = fmax(t.x.sd, t.y.sd);
	if (t.scale > 0) {
		t.vx = (t.x.sd / t.scale) * (t.x.sd / t.scale);
		t.vy = (t.y.sd / t.scale) * (t.y.sd / t.scale);
	}
	*ret = t;
	return 0;
}

/* se is in units of the scale */
static int finish(const struct two *t, double se, double df, struct stats_ttest *ret,
		  struct kg_err *err)
{
	struct stats_ttest r = {.diff = t->diff};
	double half;

	if (t->scale == 0) {
		r.constant = true;
		r.p = t->diff == 0 ? 1 : 0;
		*ret = r;
		return 0;
	}
	half = stats_student_quantile(CONFIDENCE_UPPER, df) * se * t->scale;
	r.t = t->diff / t->scale / se;
	r.df = df;
	r.p = stats_student_two_tails(fabs(r.t), df);
	r.lo = t->diff - half;
	r.hi = t->diff + half;
	if (!isfinite(r.lo) || !isfinite(r.hi))
		return range_error(err);
	*ret = r;
	return 0;
}

int stats_welch(const double *x, size_t nx, const double *y, size_t ny, struct stats_ttest *ret,
		struct kg_err *err)
{
	double a, b, df;
	struct two t;
	int rc = measure(x, nx, y, ny, &t, err);

	if (rc < 0)
		return rc;
	a = t.vx / t.nx;
	b = t.vy / t.ny;
	df = (a + b) * (a + b) / (a * a / (t.nx - 1) + b * b / (t.ny - 1));
	return finish(&t, sqrt(a + b), df, ret, err);
}

int stats_student(const double *x, size_t nx, const double *y, size_t ny, struct stats_ttest *ret,
		  struct kg_err *err)
{
	double df, pooled;
	struct two t;
	int rc = measure(x, nx, y, ny, &t, err);

	if (rc < 0)
		return rc;
	df = t.nx + t.ny - 2;
	pooled = ((t.nx - 1) * t.vx + (t.ny - 1) * t.vy) / df;
	return finish(&t, sqrt(pooled * (1 / t.nx + 1 / t.ny)), df, ret, err);
}
