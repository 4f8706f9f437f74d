/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * P(T > c) of the noncentral t with df degrees of freedom and noncentrality d: T = (Z + d) / S with Z
 * normal and S^2 chi-square / df. With u = ln S it is the mean of P(Z > c e^u - d); with z = Z it is
 * the mean of P(S < (d + z) / c). The first is used for small d, the second for large d, where the
 * first has a sharp edge. Both integrands are smooth and vanish at both ends, so that the trapezoidal
 * rule converges faster than any power of the step (Trefethen and Weideman 2014, SIAM Rev. 56,
 * 385-458).
 */
#include "coordinator/analysis/power.h"

#include <math.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/student.h"

#define EDGE_FROM  30	/* noncentrality */
#define FAR	   40.0 /* e^-40 is nothing */
#define N_MIN	   1.01
#define N_MAX	   1e12
#define EFFECT_MAX 1e12
#define HALVINGS   200

/* log of the density of u = ln S but for its constant; its peak is 0 at u = 0 */
static double log_density(double u, double df)
{
	return df * (u - expm1(2 * u) / 2);
}

/* Where the density has fallen to e^-FAR on the side of `step`. */
static double end_of_density(double df, double step)
{
	double u = step;

	while (log_density(u, df) > -FAR)
		u += step;
	return u;
}

static double upper_by_scale(double c, double df, double d)
{
	double width = 1 / sqrt(2 * df), step = fmin(width, 1 / fmax(1, d)) / 8;
	double from = end_of_density(df, -width / 4), to = end_of_density(df, width / 4);
	double sum = 0, weights = 0;

	for (double u = from; u <= to; u += step) {
		double w = exp(log_density(u, df));

		sum += w * stats_norm_cdf(d - c * exp(u));
		weights += w;
	}
	return sum / weights;
}

static double upper_by_normal(double c, double df, double d)
{
	double step = fmin(0.05, c / sqrt(2 * df) / 8), sum = 0, weights = 0;

	step = fmax(step, 1e-4);
	for (double z = -9; z <= 9; z += step) {
		double w = exp(-z * z / 2), s = (d + z) / c;

		sum += w * (1 - stats_chi2_upper(df * s * s, df));
		weights += w;
	}
	return sum / weights;
}

static double power_of(double n, double effect, double alpha)
{
	double df = 2 * (n - 1), d = sqrt(n / 2) * effect;
	double c = -stats_student_quantile(alpha / 2, df);

	return d < EDGE_FROM ? upper_by_scale(c, df, d) : upper_by_normal(c, df, d);
}

static int check(double alpha, double power, struct kg_err *err)
{
	if (!(alpha > 0) || !(alpha < 1))
		return kg_err_set(err, KG_EINVALID, "alpha is %g, above 0 and below 1 is wanted",
				  alpha);
	if (!(power > 0) || !(power < 1))
		return kg_err_set(err, KG_EINVALID, "power is %g, above 0 and below 1 is wanted",
				  power);
	return 0;
}

int stats_power(double n, double effect_sd, double alpha, double *ret_power, struct kg_err *err)
{
	int rc = check(alpha, 0.5, err);

	if (rc < 0)
		return rc;
	if (!(n >= 2) || !isfinite(n))
		return kg_err_set(err, KG_EINVALID, "n is %g, at least 2 values a side are wanted",
				  n);
	if (!isfinite(effect_sd))
		return kg_err_set(err, KG_EINVALID, "effect is %g, a finite number is wanted",
				  effect_sd);
	*ret_power = power_of(fmin(n, N_MAX), fabs(effect_sd), alpha);
	return 0;
}

int stats_power_n(double effect_sd, double power, double alpha, double *ret_n, struct kg_err *err)
{
	double lo = N_MIN, hi = 2;
	int rc = check(alpha, power, err);

	if (rc < 0)
		return rc;
	if (!(effect_sd > 0) || !isfinite(effect_sd))
		return kg_err_set(err, KG_EINVALID, "effect is %g, above 0 is wanted", effect_sd);
	while (power_of(hi, effect_sd, alpha) < power) {
		lo = hi;
		hi *= 2;
		if (hi > N_MAX)
			return kg_err_set(err, KG_EINVALID,
					  "effect %g needs more than %g values a side", effect_sd,
					  N_MAX);
	}
	for (int i = 0; i < HALVINGS && hi - lo > 1e-13 * hi; i++) {
		double mid = lo + (hi - lo) / 2;

		if (power_of(mid, effect_sd, alpha) < power)
			lo = mid;
		else
			hi = mid;
	}
	*ret_n = hi;
	return 0;
}

int stats_power_effect(double n, double power, double alpha, double *ret_effect_sd,
		       struct kg_err *err)
{
	double lo = 0, hi = 1;
	int rc = check(alpha, power, err);

	if (rc < 0)
		return rc;
	if (!(n >= 2) || !(n <= N_MAX))
		return kg_err_set(err, KG_EINVALID, "n is %g, at least 2 values a side are wanted",
				  n);
	if (power_of(n, 0, alpha) >= power) {
		*ret_effect_sd = 0;
		return 0;
	}
	while (power_of(n, hi, alpha) < power) {
		hi *= 2;
		if (hi > EFFECT_MAX)
			return kg_err_set(err, KG_EINVALID, "no effect reaches power %g", power);
	}
	for (int i = 0; i < HALVINGS && hi - lo > 1e-13 * hi; i++) {
		double mid = lo + (hi - lo) / 2;

		if (power_of(n, mid, alpha) < power)
			lo = mid;
		else
			hi = mid;
	}
	*ret_effect_sd = hi;
	return 0;
}
