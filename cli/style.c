/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/style_impl.h"
#include "cli/width.h"
#include "coordinator/analysis/summary.h"

const char *const style_names[] = {"mmtests", "lkp", "benchstat", "ministat", "csv", NULL};

void style_pad(struct kg_str *out, size_t n)
{
	while (n-- > 0)
		kg_str_add(out, " ");
}

void style_right(struct kg_str *out, const char *text, size_t width)
{
	size_t w = text_width(text);

	style_pad(out, w < width ? width - w : 0);
	text_clean(out, text, strlen(text), false);
}

void style_left(struct kg_str *out, const char *text, size_t width)
{
	size_t w = text_width(text);

	text_clean(out, text, strlen(text), false);
	style_pad(out, w < width ? width - w : 0);
}

void style_line(struct kg_str *out, const char *text)
{
	if (!text)
		return;
	text_clean(out, text, strlen(text), false);
	kg_str_add(out, "\n");
}

void style_column_name(const struct style_column *c, struct kg_str *out)
{
	bool both = c->kernel && c->kernel[0] && c->variant && c->variant[0];

	kg_str_add(out, c->kernel ? c->kernel : "");
	kg_str_add(out, both ? "/" : "");
	kg_str_add(out, c->variant ? c->variant : "");
}

bool style_harmonic(const struct style_row *r)
{
	if (r->stat)
		return strcmp(r->stat, "hmean") == 0;
	return r->direction == VERDICT_HIGHER;
}

bool style_summary(const struct style_cell *c, struct stats_summary *ret)
{
	return c->values && c->n > 0 && stats_summarise(c->values, c->n, ret, NULL) == 0;
}

bool style_mean(const struct style_row *r, const struct style_cell *c, double *ret)
{
	struct stats_summary s;

	if (!c->values) {
		if (c->has_mean && isfinite(c->mean))
			*ret = c->mean;
		return c->has_mean && isfinite(c->mean);
	}
	if (!style_summary(c, &s) || (style_harmonic(r) && !s.has_hmean))
		return false;
	*ret = style_harmonic(r) ? s.hmean : s.mean;
	return isfinite(*ret);
}

/* Rates are better when higher: the declared direction decides, else the kind of mean. */
static bool higher_is_better(const struct style_row *r)
{
	if (r->direction)
		return r->direction == VERDICT_HIGHER;
	return style_harmonic(r);
}

bool style_mmtests_diff(const struct style_row *r, size_t column, double *ret)
{
	double base, v;

	if (!style_mean(r, &r->cells[0], &base) || !style_mean(r, &r->cells[column], &v))
		return false;
	*ret = higher_is_better(r) ? compat_mmtests_pdiff(v, base) : compat_mmtests_pndiff(v, base);
	return isfinite(*ret);
}

/* One line of the CSV: a cell of a table. */
static void csv_cell(const struct style_table *t, const struct style_row *r, size_t column,
		     struct kg_str *out)
{
	const struct style_cell *c = &r->cells[column];
	double mean, diff;

	csv_text(out, t->title ? t->title : "");
	kg_str_add(out, ",");
	csv_text(out, t->benchmark ? t->benchmark : "");
	kg_str_add(out, ",");
	csv_text(out, r->key);
	kg_str_add(out, ",");
	csv_text(out, t->columns[column].kernel ? t->columns[column].kernel : "");
	kg_str_add(out, ",");
	csv_text(out, t->columns[column].variant ? t->columns[column].variant : "");
	kg_str_addf(out, ",%s,", style_harmonic(r) ? "hmean" : "amean");
	if (style_mean(r, c, &mean))
		csv_double(out, mean);
	kg_str_add(out, ",");
	if (style_mmtests_diff(r, column, &diff))
		csv_double(out, diff);
	kg_str_addf(out, ",%zu\n", c->n);
}

void style_csv(const struct style_table *tables, size_t n, struct kg_str *out)
{
	kg_str_add(out, "title,benchmark,key,kernel,variant,stat,value,diff_pct,boots\n");
	for (size_t i = 0; i < n; i++)
		for (size_t r = 0; r < tables[i].n_rows; r++)
			for (size_t c = 0; c < tables[i].n_columns; c++)
				csv_cell(&tables[i], &tables[i].rows[r], c, out);
}

static void render(const char *style, const struct style_table *t, struct kg_str *out)
{
	if (strcmp(style, "mmtests") == 0)
		style_mmtests(t, COMPAT_STAR_SD, out);
	else if (strcmp(style, "lkp") == 0)
		style_lkp(t, out);
	else if (strcmp(style, "benchstat") == 0)
		style_benchstat(t, out);
	else
		style_ministat(t, out);
}

int style_render(const char *style, const struct style_table *tables, size_t n, struct kg_str *out,
		 struct kg_err *err)
{
	size_t known = 0;
	const char *meant;

	if (strcmp(style, "json") == 0) {
		style_json(tables, n, out);
		return 0;
	}
	while (style_names[known] && strcmp(style_names[known], style) != 0)
		known++;
	if (!style_names[known]) {
		meant = kg_suggest(style, style_names, known);
		return kg_err_set(err, KG_EINVALID,
				  "style '%s' is not known, expected mmtests, lkp, benchstat, "
				  "ministat or csv%s%s%s",
				  style, meant ? "; did you mean '" : "", meant ? meant : "",
				  meant ? "'?" : "");
	}
	if (strcmp(style, "csv") == 0) {
		style_csv(tables, n, out);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		kg_str_add(out, i ? "\n" : "");
		render(style, &tables[i], out);
	}
	return 0;
}
