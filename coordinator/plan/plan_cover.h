/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Covering arrays of strength 2: few rows in which every pair of values of any two axes stands
 * together at least once, but for pairs that no allowed row has. Greedy, row by row, after AETG
 * (Cohen, Dalal, Fredman, Patton 1997, The AETG system, IEEE Trans. Softw. Eng. 23/7): each row
 * starts with a pair that is missing and takes for every further axis the value with the most
 * missing pairs. Without its random candidates: the same input gives the same rows. Pure.
 */
#ifndef KG_PLAN_COVER_H
#define KG_PLAN_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COVER_MAX_PAIRS	   (UINT64_C(1) << 31) /* a bit each */
#define COVER_MAX_RELEVANT (UINT64_C(1) << 22) /* combinations that are asked about */

/* Pairs that are still missing, between axes that several covers may share. */
struct cover_pairs;

/* `sizes`: values of each axis. Owned, cover_pairs_free; NULL: out of memory. The product of no two
 * axes, and the sum over all pairs of axes, may exceed COVER_MAX_PAIRS (cover_pairs_count). */
struct cover_pairs *cover_pairs_new(const uint32_t *sizes, size_t n);
void cover_pairs_free(struct cover_pairs *p);
uint64_t cover_pairs_count(const uint32_t *sizes, size_t n); /* sticks at UINT64_MAX */

struct cover_axis {
	size_t shared;	     /* its number among the axes of the pairs */
	uint32_t n;	     /* values here, at least 1 */
	const uint32_t *map; /* number of each value there; NULL: the same */
	bool relevant;	     /* `allowed` depends on it */
};

struct cover_input { /* all borrow */
	struct cover_pairs *pairs;
	const struct cover_axis *axes;
	size_t n;
	/* Whether a row may be; only looked at for combinations of the relevant axes, the others are
	 * 0 then. NULL: all may. */
	bool (*allowed)(void *arg, const uint32_t *digits);
	/* Takes a row; not 0: ends with that. */
	int (*row)(void *arg, const uint32_t *digits);
	void *arg;
	uint64_t n_refused; /* filled in: combinations of relevant axes that are not allowed */
};

/* Covers what is missing. 0, -ENOMEM, what `row` returned, or KG_ELIMIT: more combinations of the
 * relevant axes than COVER_MAX_RELEVANT. */
int cover_run(struct cover_input *in);

/* Rows that no cover of these axes has fewer of. It needs no pairs, and so little memory. Returns as
 * cover_run. */
int cover_least(struct cover_input *in, uint64_t *ret_least);

#endif
