/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * benchstat's table:
 *
 *          |    old     |              new                |
 *          |   sec/op   |   sec/op    vs base             |
 * Encode     13.65m ± 1%   11.83m ± 1%  -13.31% (p=0.002 n=6)
 * geomean    13.65m        11.83m       -13.31%
 *
 * Center: median; after +- the larger distance of its 95 % interval (order statistics) in per cent,
 * infinite below 6 values. vs base: change of the medians, `~` unless Mann-Whitney's p is below
 * 0.05. Numbers have four digits and a decimal prefix.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/style_impl.h"
#include "cli/width.h"
#include "coordinator/analysis/rank.h"

#define ALPHA	    0.05
#define LEVEL	    0.95
#define CELL_WIDTH  16
#define DELTA_WIDTH 28

struct center {
	bool has;
	double median;
	bool has_range;
	double range_pct;
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct center center_of(const struct style_cell *c)
{
	struct center r = {.has = c->has_mean, .median = c->mean};
	size_t lo = 0, hi = 0;
	double coverage;
	double *x;

	if (!c->values || c->n == 0)
		return r;
	x = calloc(c->n, sizeof(*x));
	if (!x)
		return r;
	memcpy(x, c->values, c->n * sizeof(*x));
	qsort(x, c->n, sizeof(*x), ascending);
	r.has = true;
	r.median = stats_quantile_sorted(x, c->n, 0.5);
	r.has_range = r.median != 0 && stats_median_order(c->n, LEVEL, &lo, &hi, &coverage);
	if (r.has_range)
		r.range_pct =
			100 * fmax(fabs(x[hi - 1] / r.median - 1), fabs(1 - x[lo - 1] / r.median));
	free(x);
	return r;
}

/* "13.65m", "1.234", "52.10k" */
static void scaled(double v, char buf[32])
{
	static const struct {
		double factor;
		const char *prefix;
	} prefixes[] = {{1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},
			{1, ""},     {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}};
	size_t n = sizeof(prefixes) / sizeof(prefixes[0]), i = 0;
	double a = fabs(v), s;

	if (a == 0 || !isfinite(v)) {
		(void)snprintf(buf, 32, "%.3f", v);
		return;
	}
	/* 999.95 of a unit shows as 1.000 of the next */
	while (i + 1 < n && a < 0.99995 * prefixes[i].factor)
		i++;
	s = a / prefixes[i].factor;
	if (s >= 1e5 || s < 1e-3)
		(void)snprintf(buf, 32, "%.4g", v);
	else
		(void)snprintf(buf, 32, "%.*f%s",
			       s < 9.9995   ? 3
			       : s < 99.995 ? 2
			       : s < 999.95 ? 1
					    : 0,
			       v / prefixes[i].factor, prefixes[i].prefix);
}

static void center_text(const struct center *c, struct kg_str *out)
{
	char number[32];
	struct kg_str s = {0};

	if (!c->has) {
		style_pad(out, CELL_WIDTH);
		return;
	}
	scaled(c->median, number);
	if (c->has_range)
		kg_str_addf(&s, "%s ± %.0f%%", number, c->range_pct);
	else
		kg_str_addf(&s, "%s ± ∞", number);
	style_right(out, kg_str_text(&s), CELL_WIDTH);
	kg_str_deinit(&s);
}

static void delta_text(const struct style_cell *a, const struct style_cell *b,
		       const struct center *base, const struct center *c, struct kg_str *out)
{
	struct kg_str s = {0};
	struct stats_mwu u;
	char change[32];

	if (!a->values || !b->values || stats_mwu(a->values, a->n, b->values, b->n, &u, NULL) < 0) {
		style_pad(out, DELTA_WIDTH);
		return;
	}
	if (!(u.p < ALPHA) || base->median == c->median)
		(void)snprintf(change, sizeof(change), "~");
	else if (base->median == 0)
		(void)snprintf(change, sizeof(change), "?");
	else
		(void)snprintf(change, sizeof(change), "%+.2f%%",
			       (c->median / base->median - 1) * 100);
	kg_str_addf(&s, "%s (p=%.3f n=%zu", change, u.p, a->n);
	if (a->n != b->n)
		kg_str_addf(&s, "+%zu", b->n);
	kg_str_add(&s, ")");
	style_right(out, kg_str_text(&s), DELTA_WIDTH);
	kg_str_deinit(&s);
}

static void header(const struct style_table *t, size_t key_width, struct kg_str *out)
{
	const char *unit = t->n_rows > 0 ? t->rows[0].unit : NULL;
	struct kg_str name = {0};

	style_pad(out, key_width);
	for (size_t c = 0; c < t->n_columns; c++) {
		kg_str_clear(&name);
		style_column_name(&t->columns[c], &name);
		kg_str_add(out, "│");
		style_right(out, kg_str_text(&name),
			    (c ? CELL_WIDTH + DELTA_WIDTH : CELL_WIDTH) - 1);
	}
	kg_str_add(out, "│\n");
	style_pad(out, key_width);
	for (size_t c = 0; c < t->n_columns; c++) {
		kg_str_add(out, "│");
		style_right(out, unit ? unit : "value", CELL_WIDTH - 1);
		if (c)
			style_right(out, "vs base", DELTA_WIDTH);
	}
	kg_str_add(out, "│\n");
	kg_str_deinit(&name);
}

static void row_text(const struct style_table *t, const struct style_row *r, size_t key_width,
		     struct kg_str *out)
{
	struct center base = center_of(&r->cells[0]);

	style_left(out, r->key, key_width);
	for (size_t c = 0; c < t->n_columns; c++) {
		struct center now = c ? center_of(&r->cells[c]) : base;

		center_text(&now, out);
		if (c)
			delta_text(&r->cells[0], &r->cells[c], &base, &now, out);
	}
	kg_str_add(out, "\n");
}

/* Over the rows that have both; nothing when a center is not above 0. */
static bool geomean(const struct style_table *t, size_t column, double *ret, double *ret_ratio)
{
	double sum = 0, ratio = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		struct center a = center_of(&t->rows[i].cells[0]);
		struct center b = center_of(&t->rows[i].cells[column]);

		if (!a.has || !b.has || !(a.median > 0) || !(b.median > 0))
			return false;
		sum += log(b.median);
		ratio += log(b.median / a.median);
	}
	*ret = exp(sum / (double)t->n_rows);
	*ret_ratio = exp(ratio / (double)t->n_rows);
	return true;
}

static void geomean_text(const struct style_table *t, size_t key_width, struct kg_str *out)
{
	char text[32];
	double mean, ratio;

	style_left(out, "geomean", key_width);
	for (size_t c = 0; c < t->n_columns; c++) {
		bool has = geomean(t, c, &mean, &ratio);

		if (has)
			scaled(mean, text);
		style_right(out, has ? text : "", CELL_WIDTH);
		if (c == 0)
			continue;
		(void)snprintf(text, sizeof(text), "%+.2f%%", has ? (ratio - 1) * 100 : 0);
		style_right(out, has ? text : "", DELTA_WIDTH);
	}
	kg_str_add(out, "\n");
}

void style_benchstat(const struct style_table *t, struct kg_str *out)
{
	size_t key_width = strlen("geomean");
	bool few = false;

	for (size_t i = 0; i < t->n_rows; i++) {
		if (text_width(t->rows[i].key) > key_width)
			key_width = text_width(t->rows[i].key);
		for (size_t c = 0; c < t->n_columns; c++)
			few = few || (t->rows[i].cells[c].n > 0 && t->rows[i].cells[c].n < 6);
	}
	key_width += 2;
	style_line(out, t->title);
	style_line(out, t->benchmark);
	header(t, key_width, out);
	for (size_t i = 0; i < t->n_rows; i++)
		row_text(t, &t->rows[i], key_width, out);
	if (t->n_rows > 1)
		geomean_text(t, key_width, out);
	if (few)
		kg_str_add(out, "need >= 6 samples for confidence interval at level 0.95\n");
}
