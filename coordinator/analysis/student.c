/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/student.h"

#include <float.h>
#include <math.h>

#define STEPS_MAX     10000 /* converges in about sqrt(max(a, b)) steps */
#define TINY	      1e-300
#define NORMAL_FROM   1e8 /* degrees of freedom; the fraction needs about their root in steps */
#define STIRLING_FROM 10.

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

/* What Stirling's formula of log gamma leaves out, for x >= STIRLING_FROM: DLMF 5.11.1. */
static double stirling_rest(double x)
{
	static const double c[] = {1 / 12.,   -1 / 360.,      1 / 1260., -1 / 1680.,
				   1 / 1188., -691 / 360360., 1 / 156.};
	double sum = 0;

	for (int i = (int)(sizeof(c) / sizeof(c[0])) - 1; i >= 0; i--)
		sum = sum / (x * x) + c[i];
	return sum / x;
}

/* log B(a, b). The log gammas of 1e6 have nine digits behind the point left and their difference
 * fewer, so the large parts are taken out before. */
static double log_beta(double a, double b)
{
	double p = fmin(a, b), q = fmax(a, b), share = p / (p + q), rest;

	if (q < STIRLING_FROM)
		return log_gamma(p) + log_gamma(q) - log_gamma(p + q);
	rest = stirling_rest(q) - stirling_rest(p + q);
	if (p < STIRLING_FROM)
		return log_gamma(p) + rest + p - p * log(p + q) + (q - 0.5) * log1p(-share);
	return stirling_rest(p) + rest + log(2 * M_PI) / 2 - log(q) / 2 + (p - 0.5) * log(share) +
	       q * log1p(-share);
}

/* y = 1 - x; the smaller of both is exact. */
static double beta_inc(double a, double b, double x, double y)
{
	double log_x = x > 0.5 ? log1p(-y) : log(x), log_y = y > 0.5 ? log1p(-x) : log(y);

	if (x == 0 || y == 0)
		return x == 0 ? 0 : 1;
	/* DLMF 8.17.4; the fraction converges fast below this point. */
	if (x > (a + 1) / (a + b + 2))
		return 1 - beta_inc(b, a, y, x);
	return exp(a * log_x + b * log_y - log_beta(a, b)) / a * continued_fraction(a, b, x);
}

double stats_beta_inc(double a, double b, double x)
{
	if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1))
		return NAN;
	return beta_inc(a, b, x, 1 - x);
}

double stats_student_two_tails(double t, double df)
{
	double t2 = t * t, x, y;

	if (!(df > 0) || isnan(t))
		return NAN;
	if (isinf(t2))
		return 0;
	if (df > NORMAL_FROM) /* Abramowitz and Stegun 26.7.8, error below t^5 / df^2 */
		return erfc(fabs(t) * (1 - 1 / (4 * df)) / sqrt(1 + t2 / (2 * df)) * M_SQRT1_2);
	x = df / (df + t2);
	y = t2 / (df + t2);
	if (t2 < 3) /* near the middle: 1 - I_y(1/2, df/2), the tails are not small */
		return 1 - beta_inc(0.5, df / 2, y, x);
	return beta_inc(df / 2, 0.5, x, y);
}

double stats_student_cdf(double t, double df)
{
	double half;

	if (!(df > 0) || isnan(t))
		return NAN;
	half = stats_student_two_tails(fabs(t), df) / 2;
	return t > 0 ? 1 - half : half;
}

/* log of the tails beyond t over those wanted; falls with t. */
static double excess(double t, double df, double tails)
{
	return log(stats_student_two_tails(t, df) / tails);
}

/* Where between lo and hi to look next: by the chord of the logarithms, a few units in the last place
 * towards the farther end so that this one comes in too; each fourth time the middle, so that it is
 * never slower than four bisections. */
static double next_place(double lo, double hi, double at_lo, double at_hi, int i)
{
	double mid = lo + (hi - lo) / 2, x;

	if (i % 4 == 3 || !isfinite(at_lo) || !isfinite(at_hi))
		return mid;
	x = lo + (hi - lo) * at_lo / (at_lo - at_hi);
	x += (x < mid ? 4 : -4) * DBL_EPSILON * hi;
	return x > lo && x < hi ? x : mid;
}

double stats_student_quantile(double p, double df)
{
	double tails, lo = 0, hi = 1, at_lo, at_hi;

	if (!(p > 0) || !(p < 1) || !(df > 0))
		return NAN;
	if (p == 0.5)
		return 0;
	tails = 2 * (p < 0.5 ? p : 1 - p);
	at_lo = -log(tails);
	while ((at_hi = excess(hi, df, tails)) > 0 && hi < DBL_MAX / 4) {
		lo = hi;
		at_lo = at_hi;
		hi *= 2;
	}
	for (int i = 0; i < 800; i++) {
		double mid = lo + (hi - lo) / 2, at;

		if (mid <= lo || mid >= hi)
			break;
		mid = next_place(lo, hi, at_lo, at_hi, i);
		at = excess(mid, df, tails);
		if (at > 0) {
			lo = mid;
			at_lo = at;
		} else {
			hi = mid;
			at_hi = at;
		}
	}
	return p < 0.5 ? -hi : hi;
}
