/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/noise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/noise_impl.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict_impl.h"

#define AUTOCORRELATION_LEAST 4	    /* boots */
#define RELATIVE_MAX	      1e150 /* differences and squares stay finite */

static int within(const struct verdict_side *boots, struct noise_profile *p, struct kg_err *err)
{
	double *covs = calloc(boots->n, sizeof(*covs));
	size_t n = 0;
	int rc = covs ? 0 : kg_err_set(err, -ENOMEM, "out of memory");

	for (size_t i = 0; rc == 0 && i < boots->n; i++) {
		struct stats_summary s;

		rc = stats_summarise(boots->boots[i].values, boots->boots[i].n, &s, err);
		if (rc == 0 && s.has_cv)
			covs[n++] = s.cv_pct;
		else if (rc == KG_EINVALID)
			rc = 0; /* values too far apart for a deviation */
	}
	p->has_within = rc == 0 && n > 0;
	if (p->has_within)
		p->within_cov_pct = stats_median_inplace(covs, n);
	free(covs);
	return rc;
}

static void autocorrelation(const double *y, size_t n, double mean, struct noise_profile *p)
{
	double products = 0, squares = 0, scale = 0;

	for (size_t i = 0; i < n; i++)
		scale = fmax(scale, fabs(y[i] - mean));
	if (n < AUTOCORRELATION_LEAST || scale == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		double d = (y[i] - mean) / scale;

		squares += d * d;
		if (i + 1 < n)
			products += d * ((y[i + 1] - mean) / scale);
	}
	p->has_autocorrelation = true;
	p->autocorrelation = products / squares;
}

/* Logarithms, or shares of the median where a value is <= 0; false: neither, as the median is 0. */
static bool relative(const double *values, size_t n, double median, double *ret_y)
{
	bool positive = true;

	for (size_t i = 0; i < n; i++)
		positive = positive && values[i] > 0;
	for (size_t i = 0; i < n; i++)
		ret_y[i] = positive ? log(values[i]) : values[i] / fabs(median);
	for (size_t i = 0; i < n; i++) {
		if (!(fabs(ret_y[i]) <= RELATIVE_MAX))
			return false;
	}
	return true;
}

static int profile(const double *values, double *y, size_t n, const struct verdict_policy *policy,
		   uint64_t seed, struct noise_profile *p, struct kg_err *err)
{
	struct stats_rng rng = {seed};
	struct stats_summary s, ys;
	int rc;

	memcpy(y, values, n * sizeof(*y));
	p->median = stats_median_inplace(y, n);
	rc = stats_summarise(values, n, &s, err);
	if (rc == -ENOMEM)
		return rc;
	/* Else values too far apart for a deviation. */
	p->has_between = rc == 0 && s.has_cv;
	p->between_cov_pct = p->has_between ? s.cv_pct : 0;
	rc = noise_splits(values, n, policy, &rng, p, err);
	if (rc < 0 || !relative(values, n, p->median, y))
		return rc;
	rc = stats_summarise(y, n, &ys, err);
	if (rc == 0)
		autocorrelation(y, n, ys.mean, p);
	if (rc == 0)
		rc = noise_drift(y, n, p, err);
	if (rc == 0)
		rc = noise_detectable(y, n, policy, &rng, p, err);
	return rc;
}

int noise_profile(const struct verdict_side *boots, const struct verdict_policy *policy,
		  uint64_t seed, struct noise_profile *ret, struct kg_err *err)
{
	struct noise_profile p = {.boots = boots->n, .min_effect_pct = 1};
	double *values, *iterations, *y;
	size_t n;
	int rc;

	if (boots->n == 0)
		return kg_err_set(err, KG_EINVALID, "no boot to make a noise profile of");
	rc = verdict_boot_values(boots, "the profile", &values, &iterations, &n, err);
	if (rc < 0)
		return rc;
	free(iterations);
	y = calloc(boots->n, sizeof(*y));
	rc = y ? within(boots, &p, err) : kg_err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = profile(values, y, boots->n, policy, seed, &p, err);
	free(y);
	free(values);
	if (rc == 0)
		*ret = p;
	return rc;
}
