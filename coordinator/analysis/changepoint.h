/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Change points of a series. Pure.
 *
 * PELT (Killick, Fearnhead and Eckley 2012, JASA 107, 1590-1598) with squared loss, penalty
 * 3 sigma^2 ln n, sigma = 1.4826 MAD(first differences) / sqrt 2; then pruned as ANALYSIS.md
 * "History" says. E-divisive (Matteson and James 2014, JASA 109, 334-345) with the parameters of
 * Apache Otava (window_len, max_pvalue, min_magnitude) and its t-test for significance.
 */
#ifndef KG_COORDINATOR_ANALYSIS_CHANGEPOINT_H
#define KG_COORDINATOR_ANALYSIS_CHANGEPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

enum changepoint_method { CHANGEPOINT_PELT, CHANGEPOINT_EDIVISIVE };
enum changepoint_kind {
	CHANGEPOINT_STEP,
	CHANGEPOINT_RAMP,     /* the level moves over several points */
	CHANGEPOINT_VARIANCE, /* the spread changes, the level does not */
	CHANGEPOINT_SUSPECT,  /* newest points look bad, too few to say */
};

struct changepoint {
	size_t index;	      /* 0-based, first point of the new level */
	size_t lo, hi;	      /* interval of index, both inclusive */
	double before, after; /* medians of the segments, in the series' unit */
	bool has_change;      /* before is not 0 */
	double change_pct;    /* 100 (after / before - 1): the plain change */
	double p;
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

/* `*ret` is owned (free), in ascending order of index. KG_EINVALID: a value that is not finite, with
 * its index; empty and short series give none. -ENOMEM. */
int changepoint_find(const double *x, size_t n, const struct changepoint_options *o,
		     struct changepoint **ret, size_t *ret_n, struct kg_err *err);

/* The statistic of one division (vectors: edivisive_qhat): index of the last point before the best
 * division as the vectors count it, and its q-hat. */
int changepoint_qhat(const double *x, size_t n, size_t *ret_index, double *ret_qhat,
		     struct kg_err *err);

#endif
