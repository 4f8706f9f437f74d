/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PELT (Killick, Fearnhead and Eckley 2012, JASA 107, 1590-1598) with squared loss: the division of
 * a series into pieces that minimises the squares around the pieces' means plus a penalty for each
 * change. Pure.
 *
 * Without changes PELT's pruning takes nothing away and its time grows with n^2; so a piece has at
 * most PELT_PIECE_MAX points, longer ones are cut. Such a cut is no finding: whoever tests the
 * changes afterwards takes it out again. Time O(n PELT_PIECE_MAX), memory O(n).
 */
#ifndef KG_COORDINATOR_ANALYSIS_PELT_H
#define KG_COORDINATOR_ANALYSIS_PELT_H

#include <stddef.h>

#define PELT_PIECE_MAX 512

/* `x` is finite, of the size of 1. Pieces have min_piece points or more. `*ret` are the first points
 * of the pieces but the first, ascending, owned (free). -ENOMEM. */
int pelt_find(const double *x, size_t n, double penalty, size_t min_piece, size_t **ret,
	      size_t *ret_n);

#endif
