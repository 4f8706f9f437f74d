/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "coordinator/analysis/changepoint_impl.h"
#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/summary.h"

#define MAD_SCALE      1.4826 /* deviation of a normal / its median absolute deviation */
#define HAMPEL_WINDOW  3
#define HAMPEL_MADS    4
#define WINSOR_SIGMAS  2.5
#define AUTOCORR_MAX   0.8 /* beyond it a change of level is not told from wandering */
#define AUTOCORR_N_MIN 40  /* with fewer points its own error is too large */
/* What a piece takes away from the sum of lag-1 products, in points: one for its centre, one for
 * the choice of its ends. */
#define AUTOCORR_PIECE_BIAS 2
#define AUTOCORR_ERRORS	    1.5 /* standard errors, 1 / sqrt n each, from which it counts */

double changepoint_sigma(const double *x, size_t n, double *room)
{
	size_t m = n > 0 ? n - 1 : 0;
	size_t moved = 0;
	double center, mad;
	size_t i;

	if (m == 0)
		return 0;
	for (i = 0; i < m; i++)
		room[i] = x[i + 1] - x[i];
	center = stats_median_inplace(room, m);
	for (i = 0; i < m; i++)
		room[i] = fabs(x[i + 1] - x[i] - center);
	mad = stats_median_inplace(room, m);
	if (mad > 0)
		return MAD_SCALE * mad / M_SQRT2;
	for (i = 0; i < m; i++)
		if (fabs(x[i + 1] - x[i]) > 0)
			room[moved++] = fabs(x[i + 1] - x[i]);
	if (moved == 0)
		return 0;
	return stats_median_inplace(room, moved) * sqrt((double)moved / (double)m) / M_SQRT2;
}

double changepoint_autocorr(const double *x, size_t n, const size_t *cuts, size_t n_cuts,
			    double *room)
{
	double *left = room;
	double *work = room + n;
	double limit, r;
	double squares = 0;
	double products = 0;
	size_t i, k;

	if (n < AUTOCORR_N_MIN)
		return 0;
	for (k = 0; k <= n_cuts; k++) {
		size_t start = k > 0 ? cuts[k - 1] : 0;
		size_t end = k < n_cuts ? cuts[k] : n;
		double m;

		memcpy(work, x + start, (end - start) * sizeof(*work));
		m = stats_median_inplace(work, end - start);
		for (i = start; i < end; i++)
			left[i] = x[i] - m;
	}
	for (i = 0; i < n; i++)
		work[i] = fabs(left[i]);
	limit = WINSOR_SIGMAS * MAD_SCALE * stats_median_inplace(work, n);
	for (i = 0; i < n; i++) {
		left[i] = fmax(-limit, fmin(limit, left[i]));
		squares += left[i] * left[i];
		if (i > 0)
			products += left[i] * left[i - 1];
	}
	if (!(squares > 0))
		return 0;
	r = products / squares + AUTOCORR_PIECE_BIAS * (double)(n_cuts + 1) / (double)n;
	if (r * sqrt((double)n) < AUTOCORR_ERRORS)
		return 0;
	return fmin(r, AUTOCORR_MAX);
}

double changepoint_dependent_p(double p, double autocorr)
{
	if (!(autocorr > 0) || !(p > 0) || p >= 1)
		return p;
	return stats_norm_two_tails(stats_norm_quantile(p / 2) *
				    sqrt((1 - autocorr) / (1 + autocorr)));
}

void changepoint_hampel(const double *x, size_t n, double *ret)
{
	size_t i, k;

	for (i = 0; i < n; i++) {
		size_t start = i > HAMPEL_WINDOW ? i - HAMPEL_WINDOW : 0;
		size_t end = n - i > HAMPEL_WINDOW ? i + HAMPEL_WINDOW + 1 : n;
		double w[2 * HAMPEL_WINDOW + 1];
		double m, mad;

		memcpy(w, x + start, (end - start) * sizeof(*w));
		m = stats_median_inplace(w, end - start);
		for (k = start; k < end; k++)
			w[k - start] = fabs(x[k] - m);
		mad = MAD_SCALE * stats_median_inplace(w, end - start);
		ret[i] = fabs(x[i] - m) > HAMPEL_MADS * mad ? m : x[i];
	}
}
