/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/bench/detect_coverage.h"

#include <errno.h>
#include <math.h>

#include "coordinator/analysis/rng.h"
#include "coordinator/analysis/verdict.h"
#include "tests/bench/detect_table.h"

#define BOOTS_MAX      20
#define ITERATIONS_MAX 25
#define EXPERIMENTS    10000

enum noise { SKEWED, NORMAL, BIMODAL, DRIFT, CORRELATED, OUTLIERS, NOISES };

static const char *const noises[NOISES] = {
	[SKEWED] = "skewed boots",
	[NORMAL] = "normal boots",
	[BIMODAL] = "bimodal boots",
	[DRIFT] = "drift over interleaved boots",
	[CORRELATED] = "iterations that depend on the last",
	[OUTLIERS] = "outliers",
};

struct sample {
	double values[2][BOOTS_MAX][ITERATIONS_MAX];
	struct verdict_boot boots[2][BOOTS_MAX];
	struct verdict_side sides[2];
};

static double exponential(struct stats_rng *r)
{
	return -log(1 - stats_rng_uniform(r));
}

/* Deviation of a boot from the machine's level, in logarithms: about 2 %. */
static double boot_level(enum noise kind, double time, struct stats_rng *r)
{
	switch (kind) {
	case SKEWED:
		return 0.02 * exponential(r);
	case BIMODAL:
		return (stats_rng_uniform(r) < 0.3 ? 0.04 : 0) + 0.007 * stats_rng_normal(r);
	case DRIFT:
		return 0.06 * time + 0.01 * stats_rng_normal(r);
	case OUTLIERS:
		return 0.01 * stats_rng_normal(r) + (stats_rng_uniform(r) < 0.05 ? 0.2 : 0);
	default:
		return 0.02 * stats_rng_normal(r);
	}
}

static void iterations(enum noise kind, double level, struct verdict_boot *b, double *values,
		       struct stats_rng *r)
{
	double last = stats_rng_normal(r);

	b->values = values;
	b->n = 5 + stats_rng_index(r, ITERATIONS_MAX - 4);
	for (size_t i = 0; i < b->n; i++) {
		double e = 0.02 * stats_rng_normal(r);

		if (kind == SKEWED)
			e = 0.02 * exponential(r);
		if (kind == OUTLIERS && stats_rng_uniform(r) < 0.05)
			e += 0.5;
		if (kind == CORRELATED) {
			last = 0.8 * last + 0.6 * stats_rng_normal(r);
			e = 0.02 * last;
		}
		values[i] = 1000 * exp(level + e);
	}
}

/* Side B is `shift` above A, in logarithms. n[2] boots; in time A and B alternate. */
static void simulate(enum noise kind, const size_t n[2], double shift, struct stats_rng *r,
		     struct sample *s)
{
	for (size_t side = 0; side < 2; side++) {
		for (size_t i = 0; i < n[side]; i++) {
			double time = ((double)i + 0.5 * (double)side) / (double)n[side];

			iterations(kind, boot_level(kind, time, r) + (side ? shift : 0),
				   &s->boots[side][i], s->values[side][i], r);
		}
		s->sides[side] = (struct verdict_side){s->boots[side], n[side]};
	}
}

struct counts {
	size_t n, covered, intervals, words[VERDICT_INCOMPARABLE + 1];
};

static int experiment(enum noise kind, const size_t n[2], double shift, struct stats_rng *r,
		      struct counts *c)
{
	struct verdict_policy policy;
	struct sample s;
	struct verdict v;
	struct kg_err err;
	double truth = 100 * expm1(shift);
	int rc;

	verdict_policy_init(&policy);
	policy.brief = true;
	simulate(kind, n, shift, r, &s);
	rc = verdict_pair(&s.sides[0], &s.sides[1], VERDICT_HIGHER, &policy, &v, &err);
	if (rc == 0)
		rc = verdict_family(&v, &policy, 1);
	if (rc < 0)
		return rc;
	c->n++;
	c->intervals += v.has_interval;
	c->covered += v.has_interval && v.lo_pct <= truth && truth <= v.hi_pct;
	c->words[v.word]++;
	return 0;
}

static int coverage_row(enum noise kind, size_t least, size_t most, size_t experiments,
			struct stats_rng *r, FILE *out)
{
	/* A drift is no chance; the rule is to be safe with it, not exact. */
	bool goal = kind != DRIFT;
	struct counts c = {0};
	const char *what;
	double got;

	for (size_t i = 0; i < experiments; i++) {
		size_t n[2];
		double shift = 0.1 * (stats_rng_uniform(r) - 0.5);
		int rc;

		for (int k = 0; k < 2; k++)
			n[k] = least + stats_rng_index(r, (uint32_t)(most - least + 1));
		rc = experiment(kind, n, shift, r, &c);
		if (rc < 0)
			return rc;
	}
	got = 100 * (double)c.covered / (double)c.intervals;
	what = least == most
		       ? detect_text("coverage, %s, %zu a side", noises[kind], least)
		       : detect_text("coverage, %s, %zu-%zu a side", noises[kind], least, most);
	detect_row(out, what, "", detect_text("%.2f %%", got), goal ? "93.5-96.5 %" : "",
		   !goal			? DETECT_NO_GOAL
		   : got >= 93.5 && got <= 96.5 ? DETECT_REACHED
						: DETECT_MISSED);
	return 0;
}

/* Precision and recall of the words over a mix: half without a change, half with 2-10 %. */
static int words_row(enum noise kind, size_t boots, size_t experiments, struct stats_rng *r,
		     FILE *out)
{
	struct counts null = {0}, real = {0};
	size_t n[2] = {boots, boots}, found, wrong;
	double precision, recall;

	for (size_t i = 0; i < experiments; i++) {
		int rc = experiment(kind, n, 0, r, &null);

		if (rc == 0)
			rc = experiment(kind, n, log1p(-(0.02 + 0.08 * stats_rng_uniform(r))), r,
					&real);
		if (rc < 0)
			return rc;
	}
	found = real.words[VERDICT_REGRESSION];
	wrong = null.words[VERDICT_REGRESSION] + null.words[VERDICT_IMPROVEMENT] +
		real.words[VERDICT_IMPROVEMENT];
	precision = found + wrong ? (double)found / (double)(found + wrong) : 0;
	recall = (double)found / (double)real.n;
	detect_row(out,
		   detect_text("simulated, %s, %zu a side: false positives", noises[kind], boots),
		   "", detect_text("%.4f", (double)wrong / (double)null.n), "<=0.025",
		   (double)wrong <= 0.025 * (double)null.n ? DETECT_REACHED : DETECT_MISSED);
	detect_row(out, "    precision, recall, F1 at 2-10 % (as many null)", "",
		   detect_text("%.3f / %.3f / %.3f", precision, recall,
			       2 * precision * recall / fmax(precision + recall, 1e-9)),
		   "", DETECT_NO_GOAL);
	return 0;
}

int detect_coverage(uint64_t seed, bool quick, FILE *out)
{
	struct stats_rng r = {seed};
	size_t experiments = quick ? EXPERIMENTS / 10 : EXPERIMENTS;
	int rc = 0;

	for (int kind = 0; kind < NOISES && rc == 0; kind++)
		rc = coverage_row((enum noise)kind, 5, 12, experiments, &r, out);
	for (size_t n = 4; n <= 20 && rc == 0; n = n < 6 ? n + 1 : n * 2 - 4)
		rc = coverage_row(SKEWED, n, n, experiments, &r, out);
	for (int kind = 0; kind < NOISES && rc == 0; kind++)
		rc = words_row((enum noise)kind, 8, experiments / 10, &r, out);
	return rc;
}
