/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MMTests' table:
 *
 *                                  6.4.0                  6.4.0
 *       Buffer size         vanilla-prev            vanilla-new
 * Hmean     64        2094.09 (   0.00%)     1938.45 *  -7.43%*
 *
 * The statistic takes 10 columns, the key 5, 10, 15 .. as it needs, a cell 23.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/style_impl.h"
#include "cli/width.h"

#define STAT_WIDTH  10
#define KEY_STEP    5
#define VALUE_WIDTH 12
#define CELL_WIDTH  23

static bool side_of(const struct style_row *r, const struct style_cell *c, struct compat_side *ret)
{
	struct stats_summary s;

	if (!style_summary(c, &s) || (style_harmonic(r) && !s.has_hmean))
		return false;
	*ret = (struct compat_side){.mean = style_harmonic(r) ? s.hmean : s.mean,
				    .sd = style_harmonic(r) ? s.hstddev
					  : s.has_sd	    ? s.sd
							    : 0,
				    .n = c->n};
	return true;
}

static bool is_marked(const struct style_row *r, size_t column, enum compat_star rule)
{
	const struct style_cell *c = &r->cells[column];
	struct compat_side base, side;
	double unused;

	if (c->has_mark)
		return c->mark;
	if (column == 0 || !side_of(r, &r->cells[0], &base) || !side_of(r, c, &side))
		return false;
	return compat_mmtests_star(rule, &base, &side, &unused);
}

/* "-0.00" would say a sign that two decimals do not have. */
static double two_decimals(double v)
{
	return fabs(v) < 0.005 ? 0 : v;
}

static void cell_text(const struct style_row *r, size_t column, enum compat_star rule,
		      struct kg_str *out)
{
	bool marked = is_marked(r, column, rule);
	double mean, diff;

	if (!style_mean(r, &r->cells[column], &mean)) {
		style_right(out, "-", VALUE_WIDTH);
		style_pad(out, CELL_WIDTH - VALUE_WIDTH);
		return;
	}
	kg_str_addf(out, "%*.2f ", VALUE_WIDTH, mean);
	if (style_mmtests_diff(r, column, &diff))
		kg_str_addf(out, "%c%7.2f%%%c", marked ? '*' : '(', two_decimals(diff),
			    marked ? '*' : ')');
	else
		style_pad(out, CELL_WIDTH - VALUE_WIDTH - 1);
}

static void row_text(const struct style_table *t, const struct style_row *r, size_t key_width,
		     enum compat_star rule, struct kg_str *out)
{
	const char *stat = r->stat ? r->stat : style_harmonic(r) ? "hmean" : "amean";
	char name[32];

	(void)snprintf(name, sizeof(name), "%s", stat);
	name[0] = (char)toupper((unsigned char)name[0]);
	style_left(out, name, STAT_WIDTH);
	style_left(out, r->key, key_width);
	for (size_t c = 0; c < t->n_columns; c++)
		cell_text(r, c, rule, out);
	while (out->len > 0 && out->text[out->len - 1] == ' ')
		out->text[--out->len] = '\0';
	kg_str_add(out, "\n");
}

static void header_line(const struct style_table *t, const char *title, size_t key_width,
			bool variants, struct kg_str *out)
{
	size_t first = STAT_WIDTH + key_width + CELL_WIDTH;
	size_t at = 0;

	/* as far left as the widest number of the first cell leaves it */
	if (title) {
		style_right(out, title, first - CELL_WIDTH + 2);
		at = text_width(title);
		if (at < first - CELL_WIDTH + 2)
			at = first - CELL_WIDTH + 2;
	}
	for (size_t c = 0; c < t->n_columns; c++) {
		const char *name = variants ? t->columns[c].variant : t->columns[c].kernel;
		size_t width = c ? CELL_WIDTH : first > at ? first - at : 0;

		if (name && text_width(name) >= width)
			style_pad(out, 1);
		style_right(out, name ? name : "", width);
	}
	kg_str_add(out, "\n");
}

void style_mmtests(const struct style_table *t, enum compat_star rule, struct kg_str *out)
{
	size_t longest = 0, key_width;
	bool variants = false;

	for (size_t i = 0; i < t->n_rows; i++)
		if (text_width(t->rows[i].key) > longest)
			longest = text_width(t->rows[i].key);
	key_width = longest > KEY_STEP ? (longest / KEY_STEP + 1) * KEY_STEP : KEY_STEP;
	for (size_t c = 0; c < t->n_columns; c++)
		variants = variants || (t->columns[c].variant && t->columns[c].variant[0]);
	style_line(out, t->title);
	style_line(out, t->benchmark);
	header_line(t, variants ? NULL : t->key_title, key_width, false, out);
	if (variants)
		header_line(t, t->key_title, key_width, true, out);
	for (size_t i = 0; i < t->n_rows; i++)
		row_text(t, &t->rows[i], key_width, rule, out);
}
