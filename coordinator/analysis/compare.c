/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/student.h"

#define CONFIDENCE_UPPER 0.975 /* two-sided 95 % */

struct compare_summary compare_summarise(const double *values, size_t n)
{
	struct compare_summary s = {.n = n};
	double scale = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		scale = fmax(scale, fabs(values[i]));
	if (n == 0 || scale == 0)
		return s;
	for (size_t i = 0; i < n; i++)
		sum += values[i] / scale;
	s.mean = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = values[i] / scale - s.mean;

		squares += d * d;
	}
	if (n >= 2)
		s.sd = sqrt(squares / (double)(n - 1)) * scale;
	s.mean *= scale;
	return s;
}

static int order_observations(const void *a, const void *b)
{
	const struct stats_observation *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	if (x->boot != y->boot)
		return x->boot < y->boot ? -1 : 1;
	/* Sums of floating point depend on the order: always the same one. */
	return x->value < y->value ? -1 : x->value > y->value;
}

static bool same_cell(const struct stats_observation *a, const struct stats_observation *b)
{
	return a->row == b->row && a->column == b->column;
}

/* Means of the boots of the cell that begins at `o`, into `means`; moves *at to the next cell. */
static size_t boot_means(const struct stats_compare_input *in, size_t *at, double *means,
			 double *values)
{
	const struct stats_observation *o = in->observations;
	size_t first = *at, i = first, n = 0;

	while (i < in->n && same_cell(&o[first], &o[i])) {
		size_t begin = i, k = 0;

		while (i < in->n && same_cell(&o[first], &o[i]) && o[i].boot == o[begin].boot)
			values[k++] = o[i++].value;
		means[n++] = compare_summarise(values, k).mean;
	}
	*at = i;
	return n;
}

static void fill_cell(const struct compare_summary *s, struct stats_cell *c)
{
	double half;

	c->boots = (uint32_t)s->n;
	c->mean = s->mean;
	if (s->n < 2)
		return;
	half = stats_student_quantile(CONFIDENCE_UPPER, (double)(s->n - 1)) * s->sd /
	       sqrt((double)s->n);
	c->has_interval = true;
	c->lo = s->mean - half;
	c->hi = s->mean + half;
	if (s->mean != 0) {
		c->has_cov = true;
		c->cov_pct = 100 * s->sd / fabs(s->mean);
	}
}

static double signed_pct(double ratio, enum stats_direction direction)
{
	return 100 * (direction == STATS_LOWER ? 1 - ratio : ratio - 1);
}

static void fill_delta(const struct compare_summary *base, const struct compare_summary *s,
		       enum stats_direction direction, struct stats_cell *c)
{
	double ratio, cv0, cv1, v0, v1, df, width = 0;

	if (base->n == 0 || s->n == 0 || base->mean == 0)
		return;
	ratio = s->mean / base->mean;
	if (!isfinite(ratio))
		return;
	c->has_delta = true;
	c->delta_pct = signed_pct(ratio, direction);
	if (base->n < 2 || s->n < 2 || base->mean <= 0 || s->mean <= 0)
		return;
	cv0 = base->sd / base->mean;
	cv1 = s->sd / s->mean;
	v0 = cv0 * cv0 / (double)base->n;
	v1 = cv1 * cv1 / (double)s->n;
	if (v0 + v1 > 0) {
		df = (v0 + v1) * (v0 + v1) /
		     (v0 * v0 / (double)(base->n - 1) + v1 * v1 / (double)(s->n - 1));
		width = stats_student_quantile(CONFIDENCE_UPPER, df) * sqrt(v0 + v1);
	}
	if (!isfinite(width) || !isfinite(ratio * exp(width)))
		return;
	c->has_delta_interval = true;
	c->delta_lo_pct =
		signed_pct(ratio * exp(direction == STATS_LOWER ? width : -width), direction);
	c->delta_hi_pct =
		signed_pct(ratio * exp(direction == STATS_LOWER ? -width : width), direction);
}

static int check_input(const struct stats_compare_input *in)
{
	if (in->baseline >= in->n_columns)
		return -EINVAL;
	for (size_t i = 0; i < in->n; i++) {
		const struct stats_observation *o = &in->observations[i];

		if (o->row >= in->n_rows || o->column >= in->n_columns || !isfinite(o->value))
			return -EINVAL;
	}
	return 0;
}

int stats_compare(const struct stats_compare_input *in, struct stats_cell *ret_cells)
{
	size_t n_cells = (size_t)in->n_rows * in->n_columns;
	struct compare_summary *sums = calloc(n_cells + 1, sizeof(*sums));
	double *means = calloc(in->n + 1, sizeof(*means));
	double *values = calloc(in->n + 1, sizeof(*values));
	int rc = sums && means && values ? check_input(in) : -ENOMEM;

	if (rc < 0)
		goto out_free;
	memset(ret_cells, 0, n_cells * sizeof(*ret_cells));
	if (in->n)
		qsort(in->observations, in->n, sizeof(*in->observations), order_observations);
	for (size_t at = 0; at < in->n;) {
		const struct stats_observation *o = &in->observations[at];
		size_t cell = (size_t)o->row * in->n_columns + o->column;
		size_t n = boot_means(in, &at, means, values);

		sums[cell] = compare_summarise(means, n);
		fill_cell(&sums[cell], &ret_cells[cell]);
	}
	for (size_t cell = 0; cell < n_cells; cell++) {
		size_t base = cell - cell % in->n_columns + in->baseline;

		if (cell != base)
			fill_delta(&sums[base], &sums[cell], in->direction, &ret_cells[cell]);
	}
out_free:
	free(values);
	free(means);
	free(sums);
	return rc;
}
