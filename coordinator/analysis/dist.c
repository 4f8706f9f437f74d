/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/dist.h"

#include <float.h>
#include <math.h>

#define STEPS_MAX 100000
#define TINY	  1e-300

double stats_norm_cdf(double z)
{
	return erfc(-z * M_SQRT1_2) / 2;
}

double stats_norm_two_tails(double z)
{
	return erfc(fabs(z) * M_SQRT1_2);
}

static double ratio(const double num[8], const double den[8], double r)
{
	double a = num[7], b = den[7];

	for (int i = 6; i >= 0; i--) {
		a = a * r + num[i];
		b = b * r + den[i];
	}
	return a / b;
}

/* The coefficients of algorithm AS 241, PPND16. */
static const double middle_num[8] = {
	3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
	1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
	3.3430575583588128105e4, 2.5090809287301226727e3,
};
static const double middle_den[8] = {
	1.0,
	4.2313330701600911252e1,
	6.8718700749205790830e2,
	5.3941960214247511077e3,
	2.1213794301586595867e4,
	3.9307895800092710610e4,
	2.8729085735721942674e4,
	5.2264952788528545610e3,
};
static const double near_num[8] = {
	1.42343711074968357734e0,  4.63033784615654529590e0,  5.76949722146069140550e0,
	3.64784832476320460504e0,  1.27045825245236838258e0,  2.41780725177450611770e-1,
	2.27238449892691845833e-2, 7.74545014278341407640e-4,
};
static const double near_den[8] = {
	1.0,
	2.05319162663775882187e0,
	1.67638483018380384940e0,
	6.89767334985100004550e-1,
	1.48103976427480074590e-1,
	1.51986665636164571966e-2,
	5.47593808499534494600e-4,
	1.05075007164441684324e-9,
};
static const double far_num[8] = {
	6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
	2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
	2.71155556874348757815e-5, 2.01033439929228813265e-7,
};
static const double far_den[8] = {
	1.0,
	5.99832206555887937690e-1,
	1.36929880922735805310e-1,
	1.48753612908506148525e-2,
	7.86869131145613259100e-4,
	1.84631831751005468180e-5,
	1.42151175831644588870e-7,
	2.04426310338993978564e-15,
};

double stats_norm_quantile(double p)
{
	double q = p - 0.5, r, z;

	if (!(p > 0) || !(p < 1))
		return NAN;
	if (fabs(q) <= 0.425)
		return q * ratio(middle_num, middle_den, 0.180625 - q * q);
	r = sqrt(-log(q < 0 ? p : 1 - p));
	if (r <= 5)
		z = ratio(near_num, near_den, r - 1.6);
	else
		z = ratio(far_num, far_den, r - 5);
	return q < 0 ? -z : z;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* P(a, x) by the series DLMF 8.11.4, for x < a + 1. */
static double gamma_lower_series(double a, double x)
{
	double term = 1 / a, sum = term;

	for (int i = 1; i < STEPS_MAX; i++) {
		term *= x / (a + i);
		sum += term;
		if (term < sum * DBL_EPSILON)
			break;
	}
	return sum * exp(-x + a * log(x) - log_gamma(a));
}

/* Q(a, x) by the continued fraction DLMF 8.9.2 (its even part, by the modified Lentz method). */
static double gamma_upper_fraction(double a, double x)
{
	double b = x + 1 - a, c = 1 / TINY, d = 1 / b, f = d;

	for (int i = 1; i < STEPS_MAX; i++) {
		double an = -i * (i - a), step;

		b += 2;
		d = an * d + b;
		d = 1 / (fabs(d) < TINY ? TINY : d);
		c = b + an / c;
		c = fabs(c) < TINY ? TINY : c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < DBL_EPSILON)
			break;
	}
	return f * exp(-x + a * log(x) - log_gamma(a));
}

double stats_chi2_upper(double x, double df)
{
	double a = df / 2, h = x / 2;

	if (!(df > 0) || isnan(x) || isinf(df))
		return NAN;
	if (x <= 0)
		return 1;
	if (isinf(x))
		return 0;
	if (h < a + 1)
		return fmax(0, 1 - gamma_lower_series(a, h));
	return gamma_upper_fraction(a, h);
}
