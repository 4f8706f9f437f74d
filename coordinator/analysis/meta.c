/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/meta.h"

#include <math.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/student.h"
#include "coordinator/analysis/summary.h"

#define UPPER	      0.975 /* two-sided 95 % */
#define LOG_RATIO_MAX 1e6   /* doubles have no larger one */
#define SE_LEAST      1e-12 /* a machine without noise does not weigh infinitely */

static int effects_check(const struct meta_effect *e, size_t n, struct kg_err *err)
{
	if (n == 0)
		return kg_err_set(err, KG_EINVALID, "no machine to sum up");
	for (size_t i = 0; i < n; i++) {
		if (!(fabs(e[i].log_ratio) <= LOG_RATIO_MAX) || !(e[i].se <= LOG_RATIO_MAX) ||
		    !(e[i].se > 0))
			return kg_err_set(err, KG_EINVALID,
					  "effect %zu: %g with standard error %g, which has to be "
					  "finite and above 0",
					  i + 1, e[i].log_ratio, e[i].se);
	}
	return 0;
}

/* Weighted mean with weights 1 / (se^2 + tau2). */
struct weighted {
	double mean;
	double sum, products; /* of weights, and of all pairs of them; in 1 / unit and its square */
	double unit;	      /* smallest variance */
	double q;	      /* sum of weight (effect - mean)^2 */
};

static double variance(const struct meta_effect *e, double tau2)
{
	double se = fmax(e->se, SE_LEAST);

	return se * se + tau2;
}

static struct weighted weigh(const struct meta_effect *e, size_t n, double tau2)
{
	struct weighted w = {.unit = INFINITY};

	for (size_t i = 0; i < n; i++)
		w.unit = fmin(w.unit, variance(&e[i], tau2));
	for (size_t i = 0; i < n; i++) {
		double weight = w.unit / variance(&e[i], tau2);

		w.products += weight * w.sum;
		w.sum += weight;
		w.mean += weight * e[i].log_ratio;
	}
	w.mean /= w.sum;
	for (size_t i = 0; i < n; i++) {
		double d = e[i].log_ratio - w.mean;

		w.q += d * d / variance(&e[i], tau2);
	}
	return w;
}

int meta_summarise(const struct meta_effect *e, size_t n, struct meta_summary *ret,
		   struct kg_err *err)
{
	struct meta_summary s = {.machines = n, .q_p = 1};
	struct weighted w;
	double k = (double)n, se2, half;
	int rc = effects_check(e, n, err);

	if (rc < 0)
		return rc;
	w = weigh(e, n, 0);
	s.log_ratio = w.mean;
	if (n == 1) {
		*ret = s;
		return 0;
	}
	s.q = w.q;
	s.q_p = stats_chi2_upper(s.q, k - 1);
	if (s.q > k - 1) {
		/* sum w - sum w^2 / sum w, without the cancellation when one weighs most. */
		s.tau2 = (s.q - (k - 1)) * w.unit * w.sum / (2 * w.products);
		s.i2_pct = 100 * (s.q - (k - 1)) / s.q;
	}
	w = weigh(e, n, s.tau2);
	s.log_ratio = w.mean;
	/* Hartung and Knapp's factor q / (k - 1), not below 1. */
	se2 = w.unit / w.sum * fmax(1, w.q / (k - 1));
	half = stats_student_quantile(UPPER, k - 1) * sqrt(se2);
	s.has_interval = true;
	s.lo = s.log_ratio - half;
	s.hi = s.log_ratio + half;
	*ret = s;
	return 0;
}

/* Difference d with variance sum(v[i]), each with df[i], as Welch and Satterthwaite. */
static int welch(double d, const double *v, const double *df, size_t n, double *ret_lo,
		 double *ret_hi, double *ret_p)
{
	double top = 0, sum = 0, below = 0, t, half;

	for (size_t i = 0; i < n; i++)
		top = fmax(top, v[i]);
	if (top == 0) {
		*ret_lo = *ret_hi = d;
		*ret_p = d == 0;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		double share = v[i] / top;

		sum += share;
		below += share * share / df[i];
	}
	t = sum * sum / below; /* degrees of freedom */
	*ret_p = stats_student_two_tails(fabs(d) / sqrt(sum * top), t);
	half = stats_student_quantile(UPPER, t) * sqrt(sum * top);
	*ret_lo = d - half;
	*ret_hi = d + half;
	return 0;
}

int meta_difference(const struct meta_summary *a, const struct meta_summary *b, double *ret_diff,
		    double *ret_lo, double *ret_hi, double *ret_p, struct kg_err *err)
{
	const struct meta_summary *g[2] = {a, b};
	double v[2], df[2], d = b->log_ratio - a->log_ratio;

	for (int i = 0; i < 2; i++) {
		double se;

		if (!g[i]->has_interval || g[i]->machines < 2)
			return kg_err_set(err, KG_EINVALID,
					  "a group of one machine: its spread is not known");
		df[i] = (double)g[i]->machines - 1;
		se = (g[i]->hi - g[i]->lo) / (2 * stats_student_quantile(UPPER, df[i]));
		v[i] = se * se;
	}
	*ret_diff = d;
	return welch(d, v, df, 2, ret_lo, ret_hi, ret_p);
}

int meta_interaction(const struct meta_side cells[4], double *ret_log, double *ret_lo,
		     double *ret_hi, double *ret_p, struct kg_err *err)
{
	double v[4], df[4], m[4], d;

	for (int i = 0; i < 4; i++) {
		struct stats_summary s;
		int rc;

		if (cells[i].n < 2)
			return kg_err_set(err, KG_EINVALID,
					  "an interaction needs two boots in each of its cells");
		rc = stats_summarise(cells[i].log_values, cells[i].n, &s, err);
		if (rc < 0)
			return rc;
		m[i] = s.mean;
		v[i] = s.sd * s.sd / (double)s.n;
		df[i] = (double)(s.n - 1);
	}
	d = (m[3] - m[2]) - (m[1] - m[0]);
	*ret_log = d;
	return welch(d, v, df, 4, ret_lo, ret_hi, ret_p);
}
