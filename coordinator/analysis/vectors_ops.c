/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/vectors_ops.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/adjust.h"
#include "coordinator/analysis/bootstrap.h"
#include "coordinator/analysis/compat.h"
#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/power.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/rng.h"
#include "coordinator/analysis/student.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/ttest.h"

#define ROUNDINGS	    8	  /* of the largest input */
#define ACCEL_NOISE	    1e-12 /* of symmetric samples */
#define REFERENCE_RESAMPLES 99999
#define REFERENCE_SEED	    42
#define MEDIAN_ORDER_N_MAX  1e9

/* What a few roundings of the largest of the values come to. */
static double rounding_of(const double *x, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(x[i]));
	return ROUNDINGS * DBL_EPSILON * largest;
}

static int run_summary(struct vectors_run *r)
{
	struct stats_summary s;
	size_t n;
	const double *x = vectors_array(r, "x", &n);
	double noise = rounding_of(x, n), ratio = 100 * ROUNDINGS * DBL_EPSILON;
	int rc = stats_summarise(x, n, &s, &r->err);

	if (rc < 0)
		return rc;
	vectors_put(r, "n", (double)s.n);
	vectors_put_near(r, "mean", s.mean, noise);
	vectors_put_near(r, "stddev", s.has_sd ? s.sd : NAN, noise);
	vectors_put_near(r, "cv_pct", s.has_cv ? s.cv_pct : NAN, ratio);
	vectors_put_near(r, "median", s.median, noise);
	vectors_put_near(r, "mad_raw", s.mad, noise);
	vectors_put_near(r, "q25_type7", s.q25, noise);
	vectors_put_near(r, "q75_type7", s.q75, noise);
	vectors_put(r, "min", s.min);
	vectors_put(r, "max", s.max);
	vectors_put(r, "hmean", s.has_hmean ? s.hmean : NAN);
	vectors_put(r, "gmean", s.has_hmean ? s.gmean : NAN);
	vectors_put_near(r, "mmtests_hstddev", s.has_hmean ? s.hstddev : NAN, noise);
	vectors_put_near(r, "mmtests_hcoeffvar", s.has_hmean ? s.hcv_pct : NAN, ratio);
	return 0;
}

static int run_hmean(struct vectors_run *r)
{
	size_t n;
	const double *x = vectors_array(r, "x", &n);
	double hmean;
	int rc = stats_hmean(x, n, &hmean, &r->err);

	if (rc < 0)
		return rc;
	vectors_put(r, "hmean", hmean);
	return 0;
}

typedef int (*test_function)(const double *x, size_t nx, const double *y, size_t ny,
			     struct stats_ttest *ret, struct kg_err *err);

static int run_test(struct vectors_run *r, test_function test)
{
	struct stats_ttest t;
	size_t nx, ny;
	const double *x = vectors_array(r, "x", &nx), *y = vectors_array(r, "y", &ny);
	double noise = fmax(rounding_of(x, nx), rounding_of(y, ny));
	int rc = test(x, nx, y, ny, &t, &r->err);

	if (rc < 0)
		return rc;
	vectors_put_near(r, "diff", t.diff, noise);
	vectors_put(r, "p", t.p);
	vectors_put(r, "t", t.constant ? NAN : t.t);
	vectors_put(r, "df", t.constant ? NAN : t.df);
	vectors_put_near(r, "ci95_lo", t.constant ? NAN : t.lo, noise);
	vectors_put_near(r, "ci95_hi", t.constant ? NAN : t.hi, noise);
	if (t.constant)
		vectors_put_json(
			r, "verdict",
			json_string(t.diff == 0 ? "same"
						: "different (exact data, no noise estimate)"));
	return 0;
}

static int run_welch(struct vectors_run *r)
{
	return run_test(r, stats_welch);
}

static int run_student(struct vectors_run *r)
{
	return run_test(r, stats_student);
}

static int run_t_two_sided(struct vectors_run *r)
{
	double t = vectors_number(r, "t"), df = vectors_number(r, "df");

	vectors_put(r, "p", stats_student_two_tails(fabs(t), df));
	return 0;
}

static int run_quantiles(struct vectors_run *r, bool normal)
{
	size_t n;
	const double *p = vectors_array(r, "p", &n);
	double df = normal ? 0 : vectors_number(r, "df");
	double *q = calloc(n + 1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		q[i] = normal ? stats_norm_quantile(p[i]) : stats_student_quantile(p[i], df);
	vectors_put_array(r, "q", q, n);
	free(q);
	return 0;
}

static int run_t_quantile(struct vectors_run *r)
{
	return run_quantiles(r, false);
}

static int run_norm_quantile(struct vectors_run *r)
{
	return run_quantiles(r, true);
}

static int run_mwu(struct vectors_run *r)
{
	struct stats_mwu m;
	size_t nx, ny;
	const double *x = vectors_array(r, "x", &nx), *y = vectors_array(r, "y", &ny);
	int rc = stats_mwu(x, nx, y, ny, &m, &r->err);

	if (rc < 0)
		return rc;
	vectors_put(r, "U", m.u);
	vectors_put(r, "p", m.p);
	vectors_put(r, "p_exact_permutation", m.method == STATS_METHOD_NORMAL ? NAN : m.p);
	vectors_put(r, "p_asymptotic_tie_cc", m.p_normal);
	vectors_put(r, "cles_x_gt_y", m.cles);
	vectors_put_near(r, "cliffs_delta", m.cliffs_delta, ROUNDINGS * DBL_EPSILON);
	return 0;
}

static int run_mwu_min_p(struct vectors_run *r)
{
	size_t k;
	const double *n = vectors_array(r, "n", &k);
	double *p = calloc(k + 1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < k; i++)
		p[i] = n[i] >= 0 && n[i] < MEDIAN_ORDER_N_MAX
			       ? stats_mwu_min_p((size_t)n[i], (size_t)n[i])
			       : NAN;
	vectors_put_array(r, "p", p, k);
	free(p);
	return 0;
}

static void put_interval(struct vectors_run *r, double level, double lo, double hi, double floor)
{
	static const char *const ends[] = {"lo", "hi"};
	const double values[] = {lo, hi};
	char key[48];

	for (int i = 0; i < 2; i++) {
		(void)snprintf(key, sizeof(key), "ci%g_%s", 100 * level, ends[i]);
		vectors_put_near(r, key, values[i], floor);
		/* Files that vary the level may keep the key: it names the interval asked for. */
		(void)snprintf(key, sizeof(key), "ci95_%s", ends[i]);
		if (level != 0.95)
			vectors_put_near(r, key, values[i], floor);
	}
}

static int run_shift(struct vectors_run *r)
{
	struct stats_shift s;
	struct stats_mwu m;
	size_t nx, ny;
	const double *x = vectors_array(r, "x", &nx), *y = vectors_array(r, "y", &ny);
	double level = vectors_number_or(r, "level", 0.95);
	double noise = fmax(rounding_of(x, nx), rounding_of(y, ny));
	int rc = stats_shift(x, nx, y, ny, level, &s, &r->err);

	if (rc == 0)
		rc = stats_mwu(x, nx, y, ny, &m, &r->err);
	if (rc < 0)
		return rc;
	vectors_put_near(r, "shift", s.shift, noise);
	put_interval(r, level, s.lo, s.hi, noise);
	vectors_put(r, "p", m.p);
	return 0;
}

static int run_center(struct vectors_run *r)
{
	size_t n;
	const double *x = vectors_array(r, "x", &n);
	double center;
	int rc = stats_center(x, n, &center, &r->err);

	if (rc < 0)
		return rc;
	vectors_put_near(r, "center", center, rounding_of(x, n));
	return 0;
}

static int run_ks(struct vectors_run *r)
{
	size_t nx, ny;
	const double *x = vectors_array(r, "x", &nx), *y = vectors_array(r, "y", &ny);
	double d, p;
	int rc = stats_ks(x, nx, y, ny, &d, &p, &r->err);

	if (rc < 0)
		return rc;
	vectors_put_near(r, "D", d, ROUNDINGS * DBL_EPSILON);
	vectors_put(r, "p", p);
	return 0;
}

static int run_median_order(struct vectors_run *r)
{
	size_t k;
	const double *n = vectors_array(r, "n", &k);
	double level = vectors_number(r, "level");
	json_t *list = json_array();

	for (size_t i = 0; i < k; i++) {
		size_t lo, hi;
		double coverage;
		json_t *v = json_null();

		if (n[i] >= 0 && n[i] < MEDIAN_ORDER_N_MAX &&
		    stats_median_order((size_t)n[i], level, &lo, &hi, &coverage))
			v = json_pack("[I,I,f]", (json_int_t)lo, (json_int_t)hi, coverage);
		if (json_array_append_new(list, v) < 0)
			r->no_memory = true;
	}
	vectors_put_json(r, "lo_hi_order_and_coverage", list);
	return 0;
}

static uint64_t seed_of(struct vectors_run *r)
{
	json_t *v = json_object_get(r->input, "seed");

	if (json_is_string(v)) /* above what JSON numbers here hold */
		return strtoull(json_string_value(v), NULL, 0);
	if (!json_is_integer(v))
		(void)vectors_text(r, "seed");
	return (uint64_t)json_integer_value(v);
}

static int run_prng(struct vectors_run *r)
{
	struct stats_rng rng = {.state = seed_of(r)};
	json_t *list = json_array();

	for (int i = 0; i < 8; i++) {
		char hex[17];

		(void)snprintf(hex, sizeof(hex), "%016" PRIx64, stats_rng_next(&rng));
		if (json_array_append_new(list, json_string(hex)) < 0)
			r->no_memory = true;
	}
	vectors_put_json(r, "first8_hex", list);
	return 0;
}

static bootstrap_statistic statistic_of(struct vectors_run *r)
{
	const char *name = vectors_text(r, "stat");

	if (strcmp(name, "mean") == 0)
		return bootstrap_mean;
	if (strcmp(name, "median") == 0)
		return bootstrap_median;
	vectors_broken(r, "input 'stat' is '%s', mean or median is wanted", name);
	return NULL;
}

static int run_bootstrap(struct vectors_run *r)
{
	struct bootstrap_interval b;
	size_t n;
	const double *x = vectors_array(r, "x", &n);
	bootstrap_statistic stat = statistic_of(r);
	double level = vectors_number(r, "level"), resamples = vectors_number(r, "B"), noise;
	uint64_t seed = seed_of(r);
	int rc;

	if (r->broken)
		return 0;
	rc = bootstrap_bca(x, n, stat,
			   resamples >= 0 && resamples < UINT32_MAX ? (unsigned)resamples : 0, seed,
			   level, &b, &r->err);
	if (rc < 0)
		return rc;
	noise = rounding_of(x, n);
	vectors_put_near(r, "theta", b.theta, noise);
	vectors_put_near(r, "z0", b.z0, ROUNDINGS * DBL_EPSILON);
	vectors_put_near(r, "accel", b.accel, ACCEL_NOISE);
	put_interval(r, level, b.lo, b.hi, noise);
	return 0;
}

static int run_bootstrap_reference(struct vectors_run *r)
{
	struct bootstrap_interval b;
	size_t n;
	const double *x = vectors_array(r, "x", &n);
	bootstrap_statistic stat = statistic_of(r);
	double level = vectors_number(r, "level");
	int rc;

	if (r->broken)
		return 0;
	rc = bootstrap_bca(x, n, stat, REFERENCE_RESAMPLES, REFERENCE_SEED, level, &b, &r->err);
	if (rc < 0)
		return rc;
	/* another generator made the reference: the tolerance is a share of the width */
	put_interval(r, level, b.lo, b.hi, r->rtol * (b.hi - b.lo));
	r->rtol = 0;
	return 0;
}

static int run_adjust(struct vectors_run *r)
{
	size_t n;
	const double *p = vectors_array(r, "p", &n);
	double *q = calloc(n + 1, sizeof(*q));
	int rc = q ? 0 : -ENOMEM;

	for (int m = STATS_ADJUST_NONE; rc == 0 && m <= STATS_ADJUST_BONFERRONI; m++) {
		rc = stats_adjust((enum stats_adjust)m, p, n, q);
		if (rc == -EINVAL)
			rc = kg_err_set(&r->err, KG_EINVALID,
					"'p' has a value that is nan or outside of [0, 1]");
		if (rc == 0)
			vectors_put_array(r, stats_adjust_name((enum stats_adjust)m), q, n);
	}
	free(q);
	return rc;
}

static int run_power(struct vectors_run *r)
{
	double n;
	int rc = stats_power_n(vectors_number(r, "effect_sd"), vectors_number(r, "power"),
			       vectors_number_or(r, "alpha", 0.05), &n, &r->err);

	if (rc < 0)
		return rc;
	vectors_put(r, "n_per_group", n);
	vectors_put(r, "n_ceil", ceil(n));
	return 0;
}

static int run_netperf(struct vectors_run *r)
{
	size_t n;
	const double *x = vectors_array(r, "x", &n);
	double level = vectors_number(r, "level"), wanted = vectors_number(r, "width_pct"), width;
	int rc = compat_netperf_interval(x, n, level >= 1 && level <= 99 ? (int)level : 0, &width,
					 &r->err);

	if (rc < 0)
		return rc;
	vectors_put(r, "full_width_pct", width);
	vectors_put_json(r, "reached", json_boolean(width <= wanted));
	return 0;
}

static int run_mmtests_diff(struct vectors_run *r)
{
	double to = vectors_number(r, "new"), from = vectors_number(r, "base");

	vectors_put(r, "pdiff_higher_better", compat_mmtests_pdiff(to, from));
	vectors_put(r, "pndiff_lower_better", compat_mmtests_pndiff(to, from));
	return 0;
}

static int run_mmtests_star(struct vectors_run *r)
{
	struct stats_summary base, new_values;
	size_t n_base, n_new;
	const double *x = vectors_array(r, "base", &n_base), *y = vectors_array(r, "new", &n_new);
	struct compat_side a, b;
	double cidiff;
	bool star;
	int rc = stats_summarise(x, n_base, &base, &r->err);

	if (rc == 0)
		rc = stats_summarise(y, n_new, &new_values, &r->err);
	if (rc < 0)
		return rc;
	a = (struct compat_side){.mean = base.mean, .sd = base.sd, .n = base.n};
	b = (struct compat_side){.mean = new_values.mean, .sd = new_values.sd, .n = new_values.n};
	star = compat_mmtests_star(COMPAT_STAR_SD, &a, &b, &cidiff);
	vectors_put(r, "cidiff", cidiff);
	vectors_put_json(r, "significant", json_boolean(star));
	return 0;
}

static const struct vectors_op ops[] = {
	{"summary", run_summary},
	{"refuse_summary", run_summary},
	{"refuse_hmean", run_hmean},
	{"welch", run_welch},
	{"refuse_welch", run_welch},
	{"welch_degenerate", run_welch},
	{"student", run_student},
	{"t_two_sided_p", run_t_two_sided},
	{"t_quantile", run_t_quantile},
	{"norm_quantile", run_norm_quantile},
	{"mwu_exact", run_mwu},
	{"mwu_ties", run_mwu},
	{"mwu_min_p", run_mwu_min_p},
	{"hodges_lehmann_2s", run_shift},
	{"hodges_lehmann_1s", run_center},
	{"ks_2s_exact", run_ks},
	{"median_ci_order", run_median_order},
	{"prng_splitmix64", run_prng},
	{"bootstrap_bca", run_bootstrap},
	{"bootstrap_bca_reference", run_bootstrap_reference},
	{"p_adjust", run_adjust},
	{"power_t_n", run_power},
	{"netperf_interval", run_netperf},
	{"mmtests_diff", run_mmtests_diff},
	{"mmtests_star", run_mmtests_star},
	{"edivisive_otava", vectors_edivisive_otava},
	{"edivisive_qhat", vectors_edivisive_qhat},
};

const struct vectors_op *vectors_op_find(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(name, ops[i].name) == 0)
			return &ops[i];
	}
	return NULL;
}
