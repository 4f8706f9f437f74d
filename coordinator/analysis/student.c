/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/student.h"

#include <float.h>
#include <math.h>

#define STEPS_MAX 10000 /* converges in about sqrt(max(a, b)) steps */
#define TINY	  1e-300

static double not_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* lgamma() writes a global. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* DLMF 8.17.22: I_x(a, b) = x^a (1-x)^b / (a B(a, b)) * 1/(1 + d1/(1 + d2/(1 + ...))) */
static double continued_fraction(double a, double b, double x)
{
	double f = 1, c = 1, d = 0;

	for (int i = 0; i < STEPS_MAX; i++) {
		double m = i / 2; /* whole part */
		double coefficient, step;

		if (i == 0)
			coefficient = 1;
		else if (i % 2 == 0)
			coefficient = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		else
			coefficient = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / not_zero(1 + coefficient * d);
		c = not_zero(1 + coefficient / c);
		step = c * d;
		f *= step;
		if (fabs(step - 1) < DBL_EPSILON)
			break;
	}
	return f - 1;
}

double stats_beta_inc(double a, double b, double x)
{
	double front;

	if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1))
		return NAN;
	if (x == 0 || x == 1)
		return x;
	/* DLMF 8.17.4; the fraction converges fast below this point. */
	if (x > (a + 1) / (a + b + 2))
		return 1 - stats_beta_inc(b, a, 1 - x);
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x)) /
		a;
	return front * continued_fraction(a, b, x);
}

double stats_student_two_tails(double t, double df)
{
	double t2 = t * t;

	if (!(df > 0) || isnan(t))
		return NAN;
	if (t2 < 3) /* near the middle: 1 - I_y(1/2, df/2), the tails are not small */
		return 1 - stats_beta_inc(0.5, df / 2, t2 / (df + t2));
	return stats_beta_inc(df / 2, 0.5, df / (df + t2));
}

double stats_student_cdf(double t, double df)
{
	double half;

	if (!(df > 0) || isnan(t))
		return NAN;
	half = stats_student_two_tails(fabs(t), df) / 2;
	return t > 0 ? 1 - half : half;
}

double stats_student_quantile(double p, double df)
{
	double tails, lo = 0, hi = 1;

	if (!(p > 0) || !(p < 1) || !(df > 0))
		return NAN;
	if (p == 0.5)
		return 0;
	tails = 2 * (p < 0.5 ? p : 1 - p);
	while (stats_student_two_tails(hi, df) > tails && hi < DBL_MAX / 4)
		hi *= 2;
	for (int i = 0; i < 200; i++) {
		double mid = lo + (hi - lo) / 2;

		if (mid <= lo || mid >= hi)
			break;
		if (stats_student_two_tails(mid, df) > tails)
			lo = mid;
		else
			hi = mid;
	}
	return p < 0.5 ? -hi : hi;
}
