/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Student's t distribution, for intervals. Pure.
 *
 * P(T <= t) by the regularised incomplete beta function, NIST DLMF 8.17.2 and its continued
 * fraction 8.17.22 (also Abramowitz and Stegun 26.7.1, 26.5.8), evaluated by the modified Lentz
 * method (Lentz 1976; Thompson and Barnett 1986, J. Comput. Phys. 64, 490-509). The quantile is
 * its inverse by chords of the logarithm and bisection: right to the last digits.
 */
#ifndef KG_COORDINATOR_ANALYSIS_STUDENT_H
#define KG_COORDINATOR_ANALYSIS_STUDENT_H

/* I_x(a, b) for a, b > 0 and x in [0, 1]; NaN outside. */
double stats_beta_inc(double a, double b, double x);
/* P(T <= t); df > 0, need not be whole. NaN for other df. */
double stats_student_cdf(double t, double df);
/* P(|T| > t) for t >= 0, right in the far tail too. */
double stats_student_two_tails(double t, double df);
/* t with P(T <= t) = p, for 0 < p < 1; NaN outside. Relative error below 1e-11 for df from
 * 1 to 1,000, below 1e-8 to 1e6. */
double stats_student_quantile(double p, double df);

#endif
