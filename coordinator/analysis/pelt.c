/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/pelt.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pelt {
	double *sum;	    /* of x[0..i), n + 1 */
	double *cost;	    /* best of x[0..i) less the squares of x[0..i), n + 1 */
	double *inverse;    /* 1 / i */
	size_t *last;	    /* where the last piece of that begins */
	size_t *starts;	    /* candidates for it, ascending */
	size_t *doomed;	    /* when a candidate was beaten, SIZE_MAX: not yet */
	double *start_cost; /* of this round, without the penalty */
	size_t n_starts;
};

/* The squares of x[0..end) are common to all starts and left out: a piece then costs -sum^2 / n. */
static void step(struct pelt *p, size_t end, double penalty, size_t min_piece)
{
	double best = INFINITY;
	double bound;
	size_t best_start = 0;
	size_t kept = 0;
	size_t i;

	for (i = 0; i < p->n_starts; i++) {
		size_t start = p->starts[i];
		double s = p->sum[end] - p->sum[start];

		p->start_cost[i] = p->cost[start] - s * s * p->inverse[end - start];
	}
	for (i = 0; i < p->n_starts && end - p->starts[i] >= min_piece; i++) {
		if (p->start_cost[i] < best) {
			best = p->start_cost[i];
			best_start = p->starts[i];
		}
	}
	p->cost[end] = best + penalty;
	p->last[end] = best_start;
	/* a start that is beaten now may still be the best while `end` is too near to start a piece */
	bound = p->cost[end];
	for (i = 0; i < p->n_starts; i++) {
		size_t start = p->starts[i];

		if (p->doomed[start] == SIZE_MAX && end - start >= min_piece &&
		    p->start_cost[i] > bound)
			p->doomed[start] = end;
		if (p->doomed[start] != SIZE_MAX && end - p->doomed[start] + 1 >= min_piece)
			continue;
		if (end - start >= PELT_PIECE_MAX)
			continue;
		p->starts[kept++] = start;
	}
	p->n_starts = kept;
}

static int trace(const struct pelt *p, size_t n, size_t **ret, size_t *ret_n)
{
	size_t count = 0;
	size_t at;

	for (at = p->last[n]; at > 0; at = p->last[at])
		count++;
	*ret = calloc(count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	*ret_n = count;
	for (at = p->last[n]; at > 0; at = p->last[at])
		(*ret)[--count] = at;
	return 0;
}

static size_t inverses(size_t n)
{
	return (n < PELT_PIECE_MAX ? n : PELT_PIECE_MAX) + 2;
}

static bool allocate(struct pelt *p, size_t n)
{
	p->sum = calloc(n + 1, sizeof(*p->sum));
	p->cost = calloc(n + 1, sizeof(*p->cost));
	p->inverse = calloc(inverses(n), sizeof(*p->inverse));
	p->start_cost = calloc(n + 1, sizeof(*p->start_cost));
	p->last = calloc(n + 1, sizeof(*p->last));
	p->starts = calloc(n + 1, sizeof(*p->starts));
	p->doomed = calloc(n + 1, sizeof(*p->doomed));
	return p->sum && p->cost && p->inverse && p->start_cost && p->last && p->starts &&
	       p->doomed;
}

int pelt_find(const double *x, size_t n, double penalty, size_t min_piece, size_t **ret,
	      size_t *ret_n)
{
	struct pelt p = {.n_starts = 1};
	int rc = -ENOMEM;
	size_t i;

	if (!allocate(&p, n))
		goto out;
	for (i = 0; i < n; i++)
		p.sum[i + 1] = p.sum[i] + x[i];
	for (i = 1; i < inverses(n); i++)
		p.inverse[i] = 1 / (double)i;
	for (i = 0; i <= n; i++)
		p.doomed[i] = SIZE_MAX;
	p.cost[0] = -penalty;
	for (i = min_piece; i <= n; i++) {
		step(&p, i, penalty, min_piece);
		p.starts[p.n_starts++] = i;
	}
	rc = trace(&p, n, ret, ret_n);
out:
	free(p.sum);
	free(p.cost);
	free(p.inverse);
	free(p.start_cost);
	free(p.last);
	free(p.starts);
	free(p.doomed);
	return rc;
}
