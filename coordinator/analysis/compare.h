/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of a comparison, in numbers: rows x columns, each column against the baseline's in the
 * same row. Pure.
 *
 * The boot is the sampling unit: a boot's value is the arithmetic mean of its iterations, and
 * everything below is over boots, so that ten iterations of one boot are one observation.
 *
 * Interval of the mean: mean +- t(0.975, n - 1) s / sqrt(n) (Student 1908).
 *
 * Change: ratio r = m1 / m0 of the means, baseline 0. Its interval is made on the logarithm by the
 * delta method (Casella and Berger, Statistical Inference, 2nd ed., 5.5.4): ln r has the variance
 * v0 + v1 with vi = si^2 / (ni mi^2), and as many degrees of freedom as Welch and Satterthwaite give
 * to such a sum (Satterthwaite 1946, Biometrics Bull. 2, 110-114; Welch 1947, Biometrika 34,
 * 28-35): (v0 + v1)^2 / (v0^2 / (n0 - 1) + v1^2 / (n1 - 1)). So r exp(+-t sqrt(v0 + v1)); swapping
 * the sides turns the interval around, and it never includes a negative ratio.
 *
 * Sign (ANALYSIS.md, as MMTests): positive is better. higher: 100 (r - 1); lower: 100 (1 - r);
 * no direction: 100 (r - 1), the plain change.
 */
#ifndef KG_COORDINATOR_ANALYSIS_COMPARE_H
#define KG_COORDINATOR_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stats_direction { STATS_NONE, STATS_HIGHER, STATS_LOWER };

/* One iteration's number. */
struct stats_observation {
	uint32_t row;
	uint32_t column;
	uint64_t boot;
	double value;
};

struct stats_cell {
	uint32_t boots; /* 0: nothing below is set */
	double mean;
	bool has_interval; /* two boots or more */
	double lo, hi;	   /* 95 %, of the mean */
	bool has_cov;	   /* two boots or more and a mean that is not 0 */
	double cov_pct;	   /* s / |mean|, between boots */
	bool has_delta;	   /* not the baseline, which has values and a mean that is not 0 */
	double delta_pct;
	bool has_delta_interval; /* two boots a side or more, both means positive */
	double delta_lo_pct, delta_hi_pct;
};

struct stats_compare_input {
	uint32_t n_rows;
	uint32_t n_columns;
	uint32_t baseline; /* column */
	enum stats_direction direction;
	struct stats_observation *observations; /* is sorted in place */
	size_t n;
};

/* cells[row * n_columns + column], all set. -EINVAL: an index out of range or a value that is not
 * finite. */
int stats_compare(const struct stats_compare_input *in, struct stats_cell *ret_cells);

/* n, mean and deviation (n - 1) of values; scaled, so that squares neither overflow nor vanish. */
struct compare_summary {
	size_t n;
	double mean;
	double sd; /* 0 when n < 2 */
};
struct compare_summary compare_summarise(const double *values, size_t n);

#endif
