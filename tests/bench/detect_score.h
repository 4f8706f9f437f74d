/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Found changes against true ones, and the series they are in. */
#ifndef KG_TESTS_BENCH_DETECT_SCORE_H
#define KG_TESTS_BENCH_DETECT_SCORE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/analysis/changepoint.h"
#include "coordinator/analysis/rng.h"

#define SCORE_MARGIN 2
#define TRUE_MAX     32

struct truth {
	size_t at[TRUE_MAX];
	size_t n;
};

enum score_set { SCORE_NULL, SCORE_SPIKE, SCORE_STEP, SCORE_SETS };

/* Alarms of any kind count. A true change is hit by the nearest found one within SCORE_MARGIN that
 * hits no other. */
struct score {
	double series[SCORE_SETS], alarms[SCORE_SETS];
	double truths, hits, inside; /* of steps; inside: of those hit, in the interval */
};

int score_add(struct score *s, enum score_set set, const double *x, size_t n, const struct truth *t,
	      const struct changepoint_options *o);
double score_precision(const struct score *s);
double score_recall(const struct score *s);
double score_f1(const struct score *s);
double score_alarms(const struct score *s, enum score_set set); /* per series */

/* One to three steps of x by the factor `size` (1.05) up or down, ten points apart and from the
 * ends. */
void score_inject(struct stats_rng *r, double *x, size_t n, double size, struct truth *ret);
/* Three points of x times 1.2. */
void score_spike(struct stats_rng *r, double *x, size_t n);

/* Rows of the bench about fresh draws; `dir` has goperf_aa_runs.csv. */
int detect_changes_fresh(const char *dir, uint64_t seed, FILE *out);
/* Rows about the annotated series and about what other tools say. */
int detect_changes_others(const char *dir, FILE *out);

/* dir/name for reading; NULL, said in a row: absent. */
FILE *detect_open(const char *dir, const char *name, FILE *out);
/* Numbers separated by spaces until the end or a comma; how many. */
size_t detect_numbers(const char *text, double *ret, size_t max);

#endif
