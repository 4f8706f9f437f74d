/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions beside Student's t (student.h). Pure. Ours instead of GSL: GSL is GPL-3.0-or-later,
 * which would bind the binaries to it; its error handler aborts by default; and what is needed is
 * small and checked by vectors.
 */
#ifndef KG_COORDINATOR_ANALYSIS_DIST_H
#define KG_COORDINATOR_ANALYSIS_DIST_H

double stats_norm_cdf(double z);	      /* by erfc */
double stats_norm_two_tails(double z);	      /* P(|Z| > |z|) */
double stats_norm_quantile(double p);	      /* Wichura 1988, AS 241; NaN outside (0, 1) */
double stats_chi2_upper(double x, double df); /* P(X > x); incomplete gamma, DLMF 8.9.2, 8.11.4 */

#endif
