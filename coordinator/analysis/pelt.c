/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/pelt.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pelt {
	double *sum;	 /* of x[0..i), n + 1 */
	double *cost;	 /* best of x[0..i) less the squares of x[0..i), n + 1 */
	double *inverse; /* 1 / i */
	size_t *last;	 /* where the last piece of that begins */
	/* Candidates for it, ascending, at [head, tail): */
	size_t *starts;
	double *start_sum, *start_base; /* their sum[] and cost[] */
	size_t *doomed;			/* when it was beaten, SIZE_MAX: not yet */
	double *start_cost;		/* of this round, without the penalty */
	size_t head, tail;
	size_t n_doomed;
};

static void add_start(struct pelt *p, size_t start)
{
	p->starts[p->tail] = start;
	p->start_sum[p->tail] = p->sum[start];
	p->start_base[p->tail] = p->cost[start];
	p->doomed[p->tail] = SIZE_MAX;
	p->tail++;
}

/* The squares of x[0..end) are common to all starts and left out: a piece then costs -sum^2 / n.
 * Starts at [head, ready) are far enough from `end`. */
static void price(struct pelt *p, size_t end, size_t ready)
{
	double sum = p->sum[end], best = INFINITY;
	size_t best_at = p->head;

	for (size_t i = p->head; i < ready; i++) {
		double s = sum - p->start_sum[i];
		double cost = p->start_base[i] - s * s * p->inverse[end - p->starts[i]];

		p->start_cost[i] = cost;
		if (cost < best) {
			best = cost;
			best_at = i;
		}
	}
	p->cost[end] = best;
	p->last[end] = best < INFINITY ? p->starts[best_at] : 0;
}

/* Takes out what was beaten long enough ago. */
static void compact(struct pelt *p, size_t end, size_t min_piece)
{
	size_t kept = p->head;

	for (size_t i = p->head; i < p->tail; i++) {
		if (p->doomed[i] != SIZE_MAX && end - p->doomed[i] + 1 >= min_piece) {
			p->n_doomed--;
			continue;
		}
		p->starts[kept] = p->starts[i];
		p->start_sum[kept] = p->start_sum[i];
		p->start_base[kept] = p->start_base[i];
		p->doomed[kept] = p->doomed[i];
		kept++;
	}
	p->tail = kept;
}

static void step(struct pelt *p, size_t end, double penalty, size_t min_piece)
{
	size_t ready = p->tail;
	double bound;

	while (ready > p->head && end - p->starts[ready - 1] < min_piece)
		ready--;
	price(p, end, ready);
	p->cost[end] += penalty;
	/* a start that is beaten now may still be the best while `end` is too near to start a piece */
	bound = p->cost[end];
	for (size_t i = p->head; i < ready; i++) {
		if (p->start_cost[i] > bound && p->doomed[i] == SIZE_MAX) {
			p->doomed[i] = end;
			p->n_doomed++;
		}
	}
	while (p->head < p->tail && end - p->starts[p->head] >= PELT_PIECE_MAX) {
		p->n_doomed -= p->doomed[p->head] != SIZE_MAX;
		p->head++;
	}
	if (p->n_doomed > 0)
		compact(p, end, min_piece);
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
	p->start_sum = calloc(n + 1, sizeof(*p->start_sum));
	p->start_base = calloc(n + 1, sizeof(*p->start_base));
	p->doomed = calloc(n + 1, sizeof(*p->doomed));
	return p->sum && p->cost && p->inverse && p->start_cost && p->last && p->starts &&
	       p->start_sum && p->start_base && p->doomed;
}

int pelt_find(const double *x, size_t n, double penalty, size_t min_piece, size_t **ret,
	      size_t *ret_n)
{
	struct pelt p = {0};
	int rc = -ENOMEM;
	size_t i;

	if (!allocate(&p, n))
		goto out;
	for (i = 0; i < n; i++)
		p.sum[i + 1] = p.sum[i] + x[i];
	for (i = 1; i < inverses(n); i++)
		p.inverse[i] = 1 / (double)i;
	p.cost[0] = -penalty;
	add_start(&p, 0);
	for (i = min_piece; i <= n; i++) {
		step(&p, i, penalty, min_piece);
		add_start(&p, i);
	}
	rc = trace(&p, n, ret, ret_n);
out:
	free(p.sum);
	free(p.cost);
	free(p.inverse);
	free(p.start_cost);
	free(p.last);
	free(p.starts);
	free(p.start_sum);
	free(p.start_base);
	free(p.doomed);
	return rc;
}
