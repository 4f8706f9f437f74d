/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorting and selecting numbers, and refusing what is no number: what the statistics share. Pure.
 *
 * Sorting is by the radix of the bits above a thousand values (O(n), as much memory again), by
 * comparison below. Selection is Hoare's 1961 (CACM 4, 321-322) with three parts, so that equal
 * values cost nothing, and with a fixed generator for the pivots, so that no order of values is slow.
 */
#ifndef KG_COORDINATOR_ANALYSIS_ORDERING_H
#define KG_COORDINATOR_ANALYSIS_ORDERING_H

#include <stddef.h>

#include "common/err.h"

/* KG_EINVALID, naming the place ("'x[3]' is nan, ..."): `n` below `min_n`, or a value that is not
 * finite. `name` is how the text calls the values. */
int stats_check(const double *x, size_t n, size_t min_n, const char *name, struct kg_err *err);

/* Ascending; finite values. */
void stats_sort(double *x, size_t n);
/* Owned (free), in ascending order; NULL: out of memory. */
double *stats_sorted_copy(const double *x, size_t n);
/* The value at place k (from 0) of the sorted values, k < n; values before place k are not above it
 * afterwards, those behind not below. */
double stats_select(double *x, size_t n, size_t k);

/* (a + b) / 2 without overflow. */
double stats_middle(double a, double b);

#endif
