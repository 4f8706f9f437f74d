/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/verdict.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/student.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/ttest.h"
#include "coordinator/analysis/verdict_impl.h"
#include "coordinator/analysis/verdict_shift.h"

#define LARGEST_PCT DBL_MAX /* shown instead of what a double cannot hold */

static const char *const names[] = {
	[VERDICT_NONE] = "",
	[VERDICT_REGRESSION] = "regression",
	[VERDICT_IMPROVEMENT] = "improvement",
	[VERDICT_DIFFERENT] = "different",
	[VERDICT_SAME] = "same",
	[VERDICT_UNKNOWN] = "unknown",
	[VERDICT_UNSTABLE] = "unstable",
	[VERDICT_INCOMPARABLE] = "incomparable",
};

/* One side: the boots' values, and all iterations one after the other, boot by boot. */
struct side {
	double *values, *logs, *iterations;
	size_t n, n_iterations;
	bool several; /* a boot with more than one iteration */
};

const char *verdict_name(enum verdict_word w)
{
	return (unsigned)w < sizeof(names) / sizeof(names[0]) ? names[w] : "";
}

enum verdict_word verdict_parse(const char *name)
{
	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0)
			return (enum verdict_word)i;
	}
	return VERDICT_NONE;
}

enum verdict_direction verdict_direction(const char *name)
{
	if (name && strcmp(name, "higher") == 0)
		return VERDICT_HIGHER;
	if (name && strcmp(name, "lower") == 0)
		return VERDICT_LOWER;
	return VERDICT_NO_DIRECTION;
}

void verdict_policy_init(struct verdict_policy *p)
{
	*p = (struct verdict_policy){.alpha = 0.01,
				     .q_max = 0.05,
				     .level = 0.95,
				     .min_effect_pct = 1,
				     .correction = STATS_ADJUST_BH};
}

static void side_free(struct side *s)
{
	free(s->values);
	free(s->logs);
	free(s->iterations);
}

static int side_check(const struct verdict_side *in, const char *which, size_t *ret_n,
		      struct kg_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < in->n; i++) {
		const struct verdict_boot *b = &in->boots[i];

		if (b->n == 0)
			return kg_err_set(err, KG_EINVALID, "boot %zu of %s has no value", i + 1,
					  which);
		for (size_t k = 0; k < b->n; k++) {
			if (!isfinite(b->values[k]))
				return kg_err_set(err, KG_EINVALID,
						  "value %zu of boot %zu of %s is not finite",
						  k + 1, i + 1, which);
		}
		n += b->n;
	}
	*ret_n = n;
	return 0;
}

int verdict_boot_values(const struct verdict_side *in, const char *which, double **ret_values,
			double **ret_iterations, size_t *ret_n_iterations, struct kg_err *err)
{
	size_t n = 0, at = 0;
	double *values, *all, *scratch;
	int rc = side_check(in, which, &n, err);

	if (rc < 0)
		return rc;
	values = calloc(in->n + 1, sizeof(*values));
	all = calloc(n + 1, sizeof(*all));
	scratch = calloc(n + 1, sizeof(*scratch));
	if (!values || !all || !scratch) {
		free(values);
		free(all);
		free(scratch);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < in->n; i++) {
		size_t k = in->boots[i].n;

		memcpy(&all[at], in->boots[i].values, k * sizeof(*all));
		memcpy(scratch, in->boots[i].values, k * sizeof(*scratch));
		values[i] = stats_median_inplace(scratch, k);
		at += k;
	}
	free(scratch);
	*ret_values = values;
	*ret_iterations = all;
	*ret_n_iterations = n;
	return 0;
}

static int side_init(struct side *s, const struct verdict_side *in, const char *which,
		     struct kg_err *err)
{
	int rc = verdict_boot_values(in, which, &s->values, &s->iterations, &s->n_iterations, err);

	if (rc < 0)
		return rc;
	s->n = in->n;
	s->several = s->n_iterations > in->n;
	return 0;
}

static bool all_positive(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0))
			return false;
	}
	return true;
}

/* Copies for a shift: logarithms, or the values over a power of two so that differences of huge
 * ones do not overflow. */
static double *scaled(const double *x, size_t n, bool log_scale, int exponent)
{
	double *r = calloc(n + 1, sizeof(*r));

	for (size_t i = 0; r && i < n; i++)
		r[i] = log_scale ? log(x[i]) : ldexp(x[i], -exponent);
	return r;
}

static int exponent_of(const double *x, size_t nx, const double *y, size_t ny)
{
	double top = 0;
	int e = 0;

	for (size_t i = 0; i < nx; i++)
		top = fmax(top, fabs(x[i]));
	for (size_t i = 0; i < ny; i++)
		top = fmax(top, fabs(y[i]));
	frexp(top, &e);
	return e;
}

struct effect {
	bool log_scale;
	struct stats_shift shift; /* B - A, of logarithms or scaled values */
	double base;		  /* |median of A|, scaled; 1 for logarithms */
};

/* `a` and `b` as they are measured. */
static int effect_of(const double *a, size_t na, const double *b, size_t nb, double level,
		     struct effect *ret, struct kg_err *err)
{
	bool log_scale = all_positive(a, na) && all_positive(b, nb);
	int e = exponent_of(a, na, b, nb), rc = -ENOMEM;
	double *x = scaled(a, na, log_scale, e), *y = scaled(b, nb, log_scale, e);

	if (!x || !y)
		goto out;
	ret->log_scale = log_scale;
	rc = verdict_shift(y, nb, x, na, level, &ret->shift, err);
	if (rc == 0)
		ret->base = log_scale ? 1 : fabs(stats_median_inplace(x, na));
out:
	free(x);
	free(y);
	return rc == -ENOMEM ? kg_err_set(err, rc, "out of memory") : rc;
}

static double clamp(double v)
{
	return fmin(LARGEST_PCT, fmax(-LARGEST_PCT, v));
}

static double percent(const struct effect *e, double shift, enum verdict_direction direction)
{
	double change = shift == 0 ? 0 : e->log_scale ? expm1(shift) : shift / e->base;

	return clamp(100 * (direction == VERDICT_LOWER ? -change : change));
}

static void fill_effect(const struct effect *e, enum verdict_direction direction, struct verdict *v)
{
	bool zero = e->shift.shift == 0 && e->shift.lo == 0 && e->shift.hi == 0;
	double lo, hi;

	v->sign = (double)((e->shift.shift > 0) - (e->shift.shift < 0));
	if (direction == VERDICT_LOWER)
		v->sign = -v->sign;
	v->has_effect = e->log_scale || e->base > 0 || zero;
	if (!v->has_effect)
		return;
	v->effect_pct = percent(e, e->shift.shift, direction) + 0.0;
	lo = percent(e, e->shift.lo, direction);
	hi = percent(e, e->shift.hi, direction);
	v->has_interval = e->shift.has_interval;
	if (v->has_interval) {
		v->lo_pct = fmin(lo, hi);
		v->hi_pct = fmax(lo, hi);
	}
}

/* Standard error for meta.h: an interval of ranks tells it without trusting a normal shape. */
static void fill_log(const struct effect *e, double level, struct verdict *v)
{
	size_t n = v->boots[0] + v->boots[1];
	double t;

	v->has_log = e->log_scale && e->shift.has_interval;
	if (!v->has_log)
		return;
	t = stats_student_quantile(0.5 + level / 2, (double)(n - 2));
	v->log_ratio = e->shift.shift;
	v->log_se = (e->shift.hi - e->shift.lo) / (2 * t);
}

static int fill_effects(const struct side *a, const struct side *b,
			enum verdict_direction direction, const struct verdict_policy *policy,
			struct verdict *v, struct kg_err *err)
{
	struct effect e;
	int rc = effect_of(a->values, a->n, b->values, b->n, policy->level, &e, err);

	if (rc < 0)
		return rc;
	fill_effect(&e, direction, v);
	fill_log(&e, policy->level, v);
	return 0;
}

static int fill_tests(const struct side *a, const struct side *b, enum verdict_direction direction,
		      const struct verdict_policy *policy, struct verdict *v, struct kg_err *err)
{
	struct stats_ttest t;
	struct stats_mwu u;
	int rc = stats_mwu(b->values, b->n, a->values, a->n, &u, err);

	if (rc < 0)
		return rc;
	v->has_p = true;
	v->p = v->q = u.p;
	v->p_worse = direction == VERDICT_HIGHER  ? u.p_less
		     : direction == VERDICT_LOWER ? u.p_greater
						  : 1;
	v->cliffs_delta = (direction == VERDICT_LOWER ? -u.cliffs_delta : u.cliffs_delta) + 0.0;
	if (policy->brief || a->n < 2 || b->n < 2)
		return 0;
	/* Beside the verdict: values too far apart for sums of squares only have none. */
	v->has_welch = stats_welch(b->values, b->n, a->values, a->n, &t, NULL) == 0;
	v->welch_p = v->has_welch ? t.p : 1;
	return 0;
}

/* Pooled deviation between boots: of the logarithms, or of the values over the median of A. */
static int fill_noise(const struct side *a, const struct side *b, struct verdict *v,
		      struct kg_err *err)
{
	const struct side *sides[2] = {a, b};
	bool log_scale = all_positive(a->values, a->n) && all_positive(b->values, b->n);
	int e = exponent_of(a->values, a->n, b->values, b->n), rc = 0;
	double squares = 0, df = 0, base = 1;

	for (int i = 0; i < 2 && rc == 0; i++) {
		double *x = scaled(sides[i]->values, sides[i]->n, log_scale, e);
		struct stats_summary s;

		if (!x)
			return kg_err_set(err, -ENOMEM, "out of memory");
		rc = stats_summarise(x, sides[i]->n, &s, err);
		free(x);
		if (rc < 0)
			break;
		if (i == 0 && !log_scale)
			base = fabs(s.median);
		if (s.has_sd) {
			squares += s.sd * s.sd * (double)(s.n - 1);
			df += (double)(s.n - 1);
		}
	}
	if (rc < 0)
		return rc;
	v->has_noise = df > 0 && base > 0;
	if (v->has_noise)
		v->noise_pct = clamp(100 * sqrt(squares / df) / base);
	return 0;
}

/* What the iterations say, when there are more of them than boots. */
static int fill_levels(const struct verdict_side *in_a, const struct verdict_side *in_b,
		       const struct side *a, const struct side *b, enum verdict_direction direction,
		       struct verdict *v, struct kg_err *err)
{
	struct verdict_iterations in = {a->iterations, a->n_iterations, b->iterations,
					b->n_iterations};
	double ratio;
	int rc;

	v->p_iterations = v->p;
	v->effect_iterations_pct = v->effect_pct;
	if (!a->several && !b->several)
		return 0;
	rc = verdict_iterations_differ(&in, &v->p_iterations, &ratio, err);
	if (rc == 0)
		rc = verdict_boots_differ(in_a, in_b, &v->boots_differ, err);
	if (rc == 0)
		v->effect_iterations_pct =
			clamp(100 * (direction == VERDICT_LOWER ? -ratio : ratio));
	return rc;
}

static int fill(const struct verdict_side *in_a, const struct verdict_side *in_b,
		const struct side *a, const struct side *b, enum verdict_direction direction,
		const struct verdict_policy *policy, struct verdict *v, struct kg_err *err)
{
	int rc = fill_tests(a, b, direction, policy, v, err);

	if (rc == 0)
		rc = fill_effects(a, b, direction, policy, v, err);
	if (rc == 0)
		rc = fill_noise(a, b, v, err);
	if (rc == 0)
		rc = fill_levels(in_a, in_b, a, b, direction, v, err);
	if (rc == 0 && !policy->brief)
		rc = verdict_several_modes(in_a, a->values, &v->multimodal[0], err);
	if (rc == 0 && !policy->brief)
		rc = verdict_several_modes(in_b, b->values, &v->multimodal[1], err);
	return rc;
}

static int policy_check(const struct verdict_policy *p, struct kg_err *err)
{
	if (!(p->level > 0 && p->level < 1))
		return kg_err_set(err, KG_EINVALID, "level %g is not between 0 and 1", p->level);
	return 0;
}

int verdict_pair(const struct verdict_side *a, const struct verdict_side *b,
		 enum verdict_direction direction, const struct verdict_policy *policy,
		 struct verdict *ret, struct kg_err *err)
{
	struct verdict v = {.direction = direction,
			    .p = 1,
			    .q = 1,
			    .p_worse = 1,
			    .p_iterations = 1,
			    .boots = {a->n, b->n}};
	struct side x = {0}, y = {0};
	int rc = policy_check(policy, err);

	if (rc == 0)
		rc = side_init(&x, a, "the baseline", err);
	if (rc == 0)
		rc = side_init(&y, b, "the other side", err);
	if (rc < 0)
		goto out;
	v.iterations[0] = x.n_iterations;
	v.iterations[1] = y.n_iterations;
	if (a->n == 0 || b->n == 0) {
		v.word = VERDICT_UNKNOWN;
		verdict_reason(&v, "insufficient: %s no boot with a result",
			       a->n   ? "the other side has"
			       : b->n ? "the baseline has"
				      : "both sides have");
	} else {
		rc = fill(a, b, &x, &y, direction, policy, &v, err);
	}
	if (rc == 0)
		*ret = v;
out:
	side_free(&x);
	side_free(&y);
	return rc;
}
