/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The level below the boots: what iterations say, and whether they may say it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict_impl.h"

#define BOOTS_DIFFER_P	 0.05
#define ITERATIONS_EXACT 400 /* pairs of them: the exact count above is slow and tells the same */

struct labelled {
	double value;
	size_t group;
};

static int by_value(const void *a, const void *b)
{
	const struct labelled *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Kruskal and Wallis 1952 (JASA 47, 583-621) with mid-ranks and the tie correction: p of "the groups
 * are alike"; 1 when there is nothing to test. With two groups it is Mann-Whitney by the normal
 * approximation. */
static int groups_alike(const struct verdict_boot *groups, size_t n_groups, double *ret_p)
{
	size_t n = 0, at = 0;
	struct labelled *l;
	double *ranks, ties = 0, h = 0, total, correction;

	for (size_t i = 0; i < n_groups; i++)
		n += groups[i].n;
	total = (double)n;
	l = calloc(n + 1, sizeof(*l));
	ranks = calloc(n_groups + 1, sizeof(*ranks));
	if (!l || !ranks) {
		free(l);
		free(ranks);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_groups; i++) {
		for (size_t k = 0; k < groups[i].n; k++)
			l[at++] = (struct labelled){groups[i].values[k], i};
	}
	qsort(l, n, sizeof(*l), by_value);
	for (size_t i = 0, j; i < n; i = j) {
		double size;

		for (j = i + 1; j < n && l[j].value <= l[i].value;)
			j++;
		for (size_t k = i; k < j; k++)
			ranks[l[k].group] += (double)(i + j + 1) / 2;
		size = (double)(j - i);
		ties += size * size * size - size;
	}
	for (size_t i = 0; i < n_groups; i++) {
		double size = (double)groups[i].n, d = ranks[i] / size - (total + 1) / 2;

		h += size * d * d;
	}
	correction = 1 - ties / (total * total * total - total);
	*ret_p = n_groups < 2 || !(correction > 0)
			 ? 1
			 : stats_chi2_upper(12 * h / (total * (total + 1)) / correction,
					    (double)(n_groups - 1));
	free(l);
	free(ranks);
	return 0;
}

int verdict_iterations_differ(const struct verdict_iterations *in, double *ret_p,
			      double *ret_change, struct kg_err *err)
{
	struct verdict_boot groups[2] = {{in->a, in->na}, {in->b, in->nb}};
	struct stats_mwu u;
	double a, b;
	int rc;

	if (in->na <= ITERATIONS_EXACT / in->nb) {
		rc = stats_mwu(in->b, in->nb, in->a, in->na, &u, err);
		if (rc == 0)
			*ret_p = u.p;
	} else {
		rc = groups_alike(groups, 2, ret_p);
	}
	if (rc < 0)
		return rc == -ENOMEM ? kg_err_set(err, rc, "out of memory") : rc;
	a = stats_median_inplace(in->a, in->na);
	b = stats_median_inplace(in->b, in->nb);
	*ret_change = a < 0 || a > 0 ? (b / fabs(a)) - (a / fabs(a)) : 0;
	return 0;
}

static int side_differs(const struct verdict_side *s, bool *ret_differ)
{
	double p = 1;
	int rc = groups_alike(s->boots, s->n, &p);

	*ret_differ = *ret_differ || p <= BOOTS_DIFFER_P;
	return rc;
}

int verdict_boots_differ(const struct verdict_side *a, const struct verdict_side *b,
			 bool *ret_differ, struct kg_err *err)
{
	*ret_differ = false;
	if (side_differs(a, ret_differ) < 0 || side_differs(b, ret_differ) < 0)
		return kg_err_set(err, -ENOMEM, "out of memory");
	return 0;
}
