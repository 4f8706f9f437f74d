/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/analysis/noise_impl.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict_shift.h"

#define SPLITS	   200 /* of each kind, at most */
#define SIDE_LEAST 5   /* boots: the rule says nothing below */
#define SIDE_MOST  25  /* of a side, the next such blocks; more only cost time */
#define SIGMAS	   3
#define DRAWS	   400
#define FOUND	   0.8

struct tally {
	size_t n, false_positives;
	double *effects; /* logarithms, or shares of the median */
};

static struct verdict_side side_of(struct verdict_boot *boots, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		boots[i] = (struct verdict_boot){&values[i], 1};
	return (struct verdict_side){boots, n};
}

static int compare(const double *a, const double *b, size_t n, const struct verdict_policy *policy,
		   struct tally *t, struct kg_err *err)
{
	struct verdict_boot boots[2][SIDE_MOST];
	struct verdict_side x = side_of(boots[0], a, n), y = side_of(boots[1], b, n);
	struct verdict v;
	int rc = verdict_pair(&x, &y, VERDICT_NO_DIRECTION, policy, &v, err);

	if (rc == 0 && verdict_family(&v, policy, 1) < 0)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	if (rc < 0)
		return rc;
	t->false_positives += v.word == VERDICT_DIFFERENT;
	t->effects[t->n++] = v.has_log ? v.log_ratio : v.has_effect ? v.effect_pct / 100 : 0;
	return 0;
}

/* Of each two that follow each other one to either side, at random: as blocks of A and B are run. */
static int interleaved(const double *values, size_t n, size_t side,
		       const struct verdict_policy *policy, struct stats_rng *rng, struct tally *t,
		       struct kg_err *err)
{
	double halves[2][SIDE_MOST];
	size_t first = n > 2 * side ? stats_rng_index(rng, (uint32_t)(n - 2 * side + 1)) : 0;

	for (size_t i = 0; i < side; i++) {
		uint32_t to = stats_rng_index(rng, 2);

		halves[to][i] = values[first + 2 * i];
		halves[1 - to][i] = values[first + 2 * i + 1];
	}
	return compare(halves[0], halves[1], side, policy, t, err);
}

/* One block and another one later: as a baseline of another day is used. */
static int blocks(const double *values, size_t n, size_t side, const struct verdict_policy *policy,
		  struct stats_rng *rng, struct tally *t, struct kg_err *err)
{
	size_t slack = n - 2 * side;
	size_t i = stats_rng_index(rng, (uint32_t)(slack + 1));
	size_t k = stats_rng_index(rng, (uint32_t)(slack + 1));

	return compare(&values[i < k ? i : k], &values[side + (i < k ? k : i)], side, policy, t,
		       err);
}

static double rate(const struct tally *t)
{
	return t->n ? (double)t->false_positives / (double)t->n : 0;
}

/* Around 0, which is what an A/A effect is but for noise: around their own mean, a drift that moves
 * all of them to one side would not show. */
static double deviation(const struct tally *t)
{
	double squares = 0;

	for (size_t i = 0; i < t->n; i++)
		squares += t->effects[i] * t->effects[i];
	return t->n ? sqrt(squares / (double)t->n) : 0;
}

static void conclude(const struct tally *in, const struct tally *across,
		     const struct verdict_policy *policy, struct noise_profile *p)
{
	const struct tally *worse = rate(across) > rate(in) ? across : in;

	p->splits = in->n + across->n;
	p->false_positive_rate = rate(worse);
	p->log_ratio_sd = deviation(worse);
	p->raised = p->false_positive_rate > 2 * policy->alpha;
	if (p->raised)
		p->min_effect_pct = fmin(DBL_MAX, fmax(p->min_effect_pct,
						       100 * expm1(SIGMAS * p->log_ratio_sd)));
}

int noise_splits(const double *values, size_t n, const struct verdict_policy *policy,
		 struct stats_rng *rng, struct noise_profile *p, struct kg_err *err)
{
	struct verdict_policy rule = *policy;
	struct tally in = {0}, across = {0};
	size_t side = n / 2 < SIDE_MOST ? n / 2 : SIDE_MOST;
	int rc = 0;

	rule.brief = true;
	rule.gate = false;
	rule.correction = STATS_ADJUST_NONE;
	if (side < SIDE_LEAST)
		return 0;
	in.effects = calloc(SPLITS, sizeof(*in.effects));
	across.effects = calloc(SPLITS, sizeof(*across.effects));
	if (!in.effects || !across.effects)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; rc == 0 && i < SPLITS; i++)
		rc = interleaved(values, n, side, &rule, rng, &in, err);
	/* Halves of few boots are one and the same pair of blocks: smaller ones, where they do. */
	if (side > 2 * SIDE_LEAST)
		side /= 2;
	else if (side > SIDE_LEAST)
		side = SIDE_LEAST;
	for (size_t i = 0; rc == 0 && i < (n == 2 * side ? 1 : SPLITS); i++)
		rc = blocks(values, n, side, &rule, rng, &across, err);
	if (rc == 0)
		conclude(&in, &across, policy, p);
	free(in.effects);
	free(across.effects);
	return rc;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Smoothed bootstrap that keeps the variance (Silverman 1986, Density Estimation, 6.4.1). */
struct kernel {
	const double *y;
	size_t n;
	double mean, width, shrink;
};

static double draw(const struct kernel *k, struct stats_rng *rng)
{
	double d = k->y[stats_rng_index(rng, (uint32_t)k->n)] - k->mean;

	return (d + k->width * stats_rng_normal(rng)) * k->shrink;
}

/* Smallest shift of one side that the rule calls a change, for `side` boots drawn on each: all of
 * the rule's conditions move with the shift. */
static double threshold(const struct kernel *k, size_t side, const struct verdict_policy *policy,
			struct stats_rng *rng)
{
	double a[12], b[12], d[144], least = log1p(policy->min_effect_pct / 100);
	double band = log1p(VERDICT_NEAR_SHARE * policy->min_effect_pct / 100);
	double p_at = verdict_shift_place(side, side, 1 - policy->alpha);
	double near_at = verdict_shift_place(side, side, policy->level);
	size_t n = side * side;

	if (!(p_at >= 1) || !(near_at >= 1))
		return INFINITY;
	for (size_t i = 0; i < side; i++) {
		a[i] = draw(k, rng);
		b[i] = draw(k, rng);
	}
	for (size_t i = 0; i < n; i++)
		d[i] = b[i / side] - a[i % side];
	qsort(d, n, sizeof(*d), by_value);
	return fmax(-d[(size_t)p_at - 1], fmax(least - verdict_shift_at(d, (double)(n + 1) / 2),
					       band - verdict_shift_at(d, near_at)));
}

int noise_detectable(const double *y, size_t n, const struct verdict_policy *policy,
		     struct stats_rng *rng, struct noise_profile *p, struct kg_err *err)
{
	static const size_t sides[3] = {5, 8, 12};
	struct stats_summary s;
	struct kernel k;
	double shifts[DRAWS];
	int rc = stats_summarise(y, n, &s, err);

	if (rc < 0 || !s.has_sd)
		return rc;
	/* Scott's width for normal data. */
	k = (struct kernel){y, n, s.mean, 1.06 * s.sd * pow((double)n, -0.2), 1};
	if (s.sd > 0)
		k.shrink = 1 / sqrt(1 + k.width * k.width / (s.sd * s.sd));
	for (size_t i = 0; i < 3; i++) {
		for (size_t r = 0; r < DRAWS; r++)
			shifts[r] = threshold(&k, sides[i], policy, rng);
		qsort(shifts, DRAWS, sizeof(*shifts), by_value);
		p->detectable_pct[i] = 100 * expm1(shifts[(size_t)(FOUND * DRAWS) - 1]);
		if (!isfinite(p->detectable_pct[i]))
			p->detectable_pct[i] = 0; /* never, at this alpha */
	}
	return 0;
}
