/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Change points of a series. Pure.
 *
 * PELT (Killick, Fearnhead and Eckley 2012, JASA 107, 1590-1598) with squared loss, penalty
 * 3 sigma^2 ln n, sigma = 1.4826 MAD(first differences) / sqrt 2; then pruned as ANALYSIS.md
 * "History" says, with what changepoint_prune.c adds and why. Ramps, changes of the spread and
 * suspects are found in the rest. E-divisive (Matteson and James 2014, JASA 109, 334-345) with the
 * parameters of Apache Otava (window_len, max_pvalue, min_magnitude) and its t-test for
 * significance: steps only.
 *
 * Time: PELT n times at most 512, pruning linear in n for the changes there are (quadratic, a
 * nanosecond for each pair, in the number of candidates); E-divisive n window_len.
 */
#ifndef KG_COORDINATOR_ANALYSIS_CHANGEPOINT_H
#define KG_COORDINATOR_ANALYSIS_CHANGEPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define CHANGEPOINT_SEGMENT_MAX 15 /* for min_segment */

enum changepoint_method { CHANGEPOINT_PELT, CHANGEPOINT_EDIVISIVE };
enum changepoint_kind {
	CHANGEPOINT_STEP,
	CHANGEPOINT_RAMP,     /* the level moves over several points */
	CHANGEPOINT_VARIANCE, /* the spread changes, the level does not */
	CHANGEPOINT_SUSPECT,  /* newest points look bad, too few to say */
};

struct changepoint {
	size_t index;  /* 0-based, first point of the new level; of a ramp, first off the old one */
	size_t end;    /* of a ramp, first point of the new level; else index */
	size_t lo, hi; /* 95 % interval of index, both inclusive */
	/* In the series' unit: medians of the segments, or of the 30 points on either side where the
	 * segments' differ by less than the min effect (E-divisive: means, as Otava reports them); of a
	 * VARIANCE robust deviations, 1.4826 MAD; of a SUSPECT medians of what was looked at. */
	double before, after;
	bool has_change;   /* before is not 0 */
	double change_pct; /* 100 (after / before - 1): the plain change */
	double p;	   /* two-sided, the larger of the tests' */
	enum changepoint_kind kind;
};

struct changepoint_options {
	enum changepoint_method method;
	bool hampel;	       /* filter (window 3, 4 MAD) before */
	bool trend;	       /* trends and seasons are no changes */
	double min_effect_pct; /* 1 */
	double max_p;	       /* 0.001 */
	size_t min_segment;    /* 3 */
	/* e-divisive, Otava's: */
	size_t window_len;    /* 50 */
	double max_pvalue;    /* 0.001 */
	double min_magnitude; /* 0 */
};
void changepoint_options_init(struct changepoint_options *o);

const char *changepoint_kind_name(enum changepoint_kind k); /* "step" */

/* `*ret` is owned (free; NULL when there is none), in ascending order of index. KG_EINVALID: a value
 * that is not finite, with its index, or an option that makes no sense; empty and short series give
 * none. -ENOMEM. */
int changepoint_find(const double *x, size_t n, const struct changepoint_options *o,
		     struct changepoint **ret, size_t *ret_n, struct kg_err *err);

/* The statistic of one division (vectors: edivisive_qhat): first point of the right side of the best
 * division, and its q-hat; 0 and 0 for fewer than two points. KG_EINVALID, -ENOMEM as above. */
int changepoint_qhat(const double *x, size_t n, size_t *ret_index, double *ret_qhat,
		     struct kg_err *err);

#endif
