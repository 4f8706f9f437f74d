/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Change points on fresh draws. Real noise: the runs of one commit, 23 days of 25, as means of 5
 * (115 points), drawn anew in two ways: runs shuffled within their days, which keeps what differs
 * from day to day (some of it is real shifts of the machine, which count as false here), and over
 * all days, which leaves no change by construction. Simulated noise: kinds that kernel benchmarks
 * show, 0.3 to 1.5 % wide.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/detect_score.h"
#include "tests/bench/detect_table.h"

#define BENCHES_MAX 64
#define RUNS_MAX    1024
#define MEAN_OF	    5
#define DAY	    25
#define POINTS	    115
#define REPEATS	    10
#define SIMULATED   400 /* series of each kind and set */

static const double sizes[] = {1.02, 1.03, 1.05, 1.10};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct bench {
	char name[192];
	double runs[RUNS_MAX];
	size_t n;
};

struct benches {
	struct bench b[BENCHES_MAX];
	size_t n;
};

/* name,date,arm,runs: arm "base" only, full days only. */
static void take_line(struct benches *all, char *line)
{
	char *fields[3];
	double runs[64];
	size_t n, i;

	for (i = 3; i > 0; i--) {
		fields[i - 1] = strrchr(line, ',');
		if (!fields[i - 1])
			return;
		*fields[i - 1]++ = '\0';
	}
	if (strcmp(fields[1], "base") != 0)
		return;
	n = detect_numbers(fields[2], runs, 64);
	for (i = 0; i < all->n && strcmp(all->b[i].name, line) != 0; i++)
		continue;
	if (n < DAY || i == BENCHES_MAX || strlen(line) >= sizeof(all->b[i].name))
		return;
	if (i == all->n) {
		strcpy(all->b[i].name, line);
		all->n++;
	}
	if (all->b[i].n + DAY > RUNS_MAX)
		return;
	memcpy(all->b[i].runs + all->b[i].n, runs, DAY * sizeof(*runs));
	all->b[i].n += DAY;
}

static void shuffle(struct stats_rng *r, double *x, size_t n)
{
	size_t i;

	for (i = n; i > 1; i--) {
		size_t k = stats_rng_index(r, (uint32_t)i);
		double v = x[i - 1];

		x[i - 1] = x[k];
		x[k] = v;
	}
}

/* A series of means: how many points. */
static size_t resample(struct stats_rng *r, const struct bench *b, bool days, double *ret)
{
	double runs[RUNS_MAX];
	size_t i, k;

	memcpy(runs, b->runs, b->n * sizeof(*runs));
	if (days)
		for (i = 0; i < b->n; i += DAY)
			shuffle(r, runs + i, DAY);
	else
		shuffle(r, runs, b->n);
	for (i = 0; i < b->n / MEAN_OF; i++) {
		ret[i] = 0;
		for (k = 0; k < MEAN_OF; k++)
			ret[i] += runs[i * MEAN_OF + k] / MEAN_OF;
	}
	return b->n / MEAN_OF;
}

static int one_resampled(struct stats_rng *r, const struct bench *b, bool days, struct score *s)
{
	struct changepoint_options o;
	struct truth none = {.n = 0};
	double x[RUNS_MAX / MEAN_OF];
	size_t n = resample(r, b, days, x);
	size_t i;
	int rc;

	if (n < 60)
		return 0;
	changepoint_options_init(&o);
	rc = score_add(s, SCORE_NULL, x, n, &none, &o);
	n = resample(r, b, days, x);
	score_spike(r, x, n);
	if (rc == 0)
		rc = score_add(s, SCORE_SPIKE, x, n, &none, &o);
	for (i = 0; rc == 0 && i < SIZES; i++) {
		struct truth t;

		n = resample(r, b, days, x);
		score_inject(r, x, n, sizes[i], &t);
		rc = score_add(s, SCORE_STEP, x, n, &t, &o);
	}
	return rc;
}

static void rows(FILE *out, const char *what, const struct score *s)
{
	detect_row(out, detect_text("%s: precision, recall, F1", what), "",
		   detect_text("%.3f, %.3f, %.3f", score_precision(s), score_recall(s),
			       score_f1(s)),
		   "", DETECT_NO_GOAL);
	detect_row(out, "  alarms per null, spike series; place in its interval", "",
		   detect_text("%.3f, %.3f; %.2f", score_alarms(s, SCORE_NULL),
			       score_alarms(s, SCORE_SPIKE), s->hits > 0 ? s->inside / s->hits : 0),
		   "", DETECT_NO_GOAL);
}

static int resampled(const char *dir, struct stats_rng *r, FILE *out)
{
	FILE *f = detect_open(dir, "goperf_aa_runs.csv", out);
	struct benches *all;
	char *line = NULL;
	size_t cap = 0;
	size_t i;
	int rc = 0;
	int days;

	if (!f)
		return 0;
	all = calloc(1, sizeof(*all));
	while (all && getline(&line, &cap, f) > 0)
		take_line(all, line);
	free(line);
	fclose(f);
	if (!all)
		return -ENOMEM;
	for (days = 1; rc == 0 && days >= 0; days--) {
		struct score s = {0};

		for (i = 0; rc == 0 && i < REPEATS * all->n; i++)
			rc = one_resampled(r, &all->b[i % all->n], days, &s);
		rows(out, days ? "fresh real noise, days in order" : "fresh real noise, shuffled",
		     &s);
	}
	free(all);
	return rc;
}

enum noise { NORMAL, SKEWED, BIMODAL, DRIFT, AUTOCORRELATED, OUTLIERS, NOISES };
static const char *const noise_names[] = {"normal", "skewed",	      "bimodal",
					  "drift",  "autocorrelated", "outliers"};

/* Deviation about 1, but for outliers; `last` carries the autocorrelation, 0.4. */
static double draw(struct stats_rng *r, enum noise kind, size_t i, double *last)
{
	double z = stats_rng_normal(r);

	switch (kind) {
	case SKEWED:
		return (exp(0.8 * z) - 1.377) / 1.3;
	case BIMODAL:
		return (stats_rng_uniform(r) < 0.3 ? 1.3 : -0.56) + 0.55 * z;
	case DRIFT:
		return z + 1.5 * (double)i / POINTS;
	case AUTOCORRELATED:
		*last = 0.4 * *last + 0.917 * z;
		return *last;
	case OUTLIERS:
		return stats_rng_uniform(r) < 0.04 ? 8 * z : z;
	default:
		return z;
	}
}

static void simulate(struct stats_rng *r, enum noise kind, double *x)
{
	double width = 0.003 + 0.012 * stats_rng_uniform(r);
	double last = 0;
	size_t i;

	for (i = 0; i < POINTS; i++)
		x[i] = 1000 * exp(width * draw(r, kind, i, &last));
}

static int simulated(struct stats_rng *r, FILE *out)
{
	struct changepoint_options o;
	struct truth t = {.n = 0};
	double x[POINTS];
	int rc = 0;
	size_t kind, i;

	changepoint_options_init(&o);
	for (kind = 0; rc == 0 && kind < NOISES; kind++) {
		struct score s = {0};

		for (i = 0; rc == 0 && i < SIMULATED; i++) {
			t.n = 0;
			simulate(r, (enum noise)kind, x);
			rc = score_add(&s, SCORE_NULL, x, POINTS, &t, &o);
			score_spike(r, x, POINTS);
			if (rc == 0)
				rc = score_add(&s, SCORE_SPIKE, x, POINTS, &t, &o);
			simulate(r, (enum noise)kind, x);
			score_inject(r, x, POINTS, sizes[i % SIZES], &t);
			if (rc == 0)
				rc = score_add(&s, SCORE_STEP, x, POINTS, &t, &o);
		}
		rows(out, detect_text("simulated, %s", noise_names[kind]), &s);
	}
	return rc;
}

int detect_changes_fresh(const char *dir, uint64_t seed, FILE *out)
{
	struct stats_rng r = {.state = seed ^ UINT64_C(0x6368616e676573)};
	int rc = resampled(dir, &r, out);

	return rc < 0 ? rc : simulated(&r, out);
}
