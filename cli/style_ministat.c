/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ministat's lines, without its plot: Student's t with pooled variance at 95 %. As it does, the median
 * of an even number is the upper of the two in the middle, t has three decimals, and 1.960 stands for
 * more than 100 degrees of freedom.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/style_impl.h"
#include "coordinator/analysis/student.h"

#define LEVEL	 0.95
#define TABLE_DF 100
#define T_LARGE	 1.960

static char symbol(size_t column)
{
	static const char symbols[] = "x+*%#@O";

	return symbols[column < sizeof(symbols) - 1 ? column : sizeof(symbols) - 2];
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Without memory the ordinary median has to do. */
static double upper_median(const struct style_cell *c, const struct stats_summary *s)
{
	double *x = calloc(c->n, sizeof(*x));
	double m;

	if (!x)
		return s->median;
	memcpy(x, c->values, c->n * sizeof(*x));
	qsort(x, c->n, sizeof(*x), ascending);
	m = x[c->n / 2];
	free(x);
	return m;
}

static void vitals(const struct style_cell *c, size_t column, struct kg_str *out)
{
	struct stats_summary s;

	if (!style_summary(c, &s)) {
		kg_str_addf(out, "%c   0\n", symbol(column));
		return;
	}
	kg_str_addf(out, "%c %3zu %13.8g %13.8g %13.8g %13.8g %13.8g\n", symbol(column), s.n, s.min,
		    s.max, upper_median(c, &s), s.mean, s.has_sd ? s.sd : 0);
}

static double student_t(double df)
{
	if (df > TABLE_DF)
		return T_LARGE;
	return round(1000 * stats_student_quantile(1 - (1 - LEVEL) / 2, df)) / 1000;
}

static void relative(const struct style_cell *base, const struct style_cell *c, struct kg_str *out)
{
	struct stats_summary a, b;
	double df, pooled, d, e;

	if (!style_summary(base, &a) || !style_summary(c, &b) || a.n < 2 || b.n < 2) {
		kg_str_add(out, "No difference can be told: fewer than 2 values on a side\n");
		return;
	}
	df = (double)(a.n + b.n - 2);
	pooled = sqrt(((double)(a.n - 1) * a.sd * a.sd + (double)(b.n - 1) * b.sd * b.sd) / df);
	d = b.mean - a.mean;
	e = student_t(df) * pooled * sqrt(1 / (double)a.n + 1 / (double)b.n);
	if (!(fabs(d) > e)) {
		kg_str_add(out, "No difference proven at 95.0% confidence\n");
		return;
	}
	kg_str_addf(out, "Difference at 95.0%% confidence\n\t%g +/- %g\n", d, e);
	if (a.mean != 0)
		kg_str_addf(out, "\t%g%% +/- %g%%\n", d * 100 / a.mean, e * 100 / a.mean);
	kg_str_addf(out, "\t(Student's t, pooled s = %g)\n", pooled);
}

void style_ministat(const struct style_table *t, struct kg_str *out)
{
	struct kg_str name = {0};

	for (size_t i = 0; i < t->n_rows; i++) {
		const struct style_row *r = &t->rows[i];

		kg_str_add(out, i ? "\n" : "");
		if (i == 0) {
			style_line(out, t->title);
			style_line(out, t->benchmark);
		}
		if (r->key[0])
			style_line(out, r->key);
		for (size_t c = 0; c < t->n_columns; c++) {
			kg_str_clear(&name);
			style_column_name(&t->columns[c], &name);
			kg_str_addf(out, "%c ", symbol(c));
			style_line(out, kg_str_text(&name));
		}
		kg_str_add(out,
			   "    N           Min           Max        Median           Avg        "
			   "Stddev\n");
		for (size_t c = 0; c < t->n_columns; c++) {
			vitals(&r->cells[c], c, out);
			if (c)
				relative(&r->cells[0], &r->cells[c], out);
		}
	}
	kg_str_deinit(&name);
}
