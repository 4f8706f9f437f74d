/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LKP's table:
 *
 *          %stddev     %change         %stddev
 *              \          |                \
 *     194348 ±  2%     +42.5%     276904 ±  9%  cpuidle..usage
 *
 * Arithmetic averages. The deviation is that of the population in per cent of the average, without
 * decimals (cut, not rounded), shown above 2 only. More than two columns go on to the right.
 */
#include <math.h>
#include <string.h>

#include "cli/style_impl.h"

#define VALUE_WIDTH  10
#define CHANGE_WIDTH 10
#define SD_WIDTH     6
#define SD_SHOWN     2	    /* per cent */
#define NO_BASE	     1e-100 /* LKP divides by this in place of 0 */

bool style_lkp_absolute(const char *metric)
{
	size_t len = strlen(metric);

	return strncmp(metric, "perf-profile", 12) == 0 || (len > 0 && metric[len - 1] == '%');
}

void style_lkp_value(double v, struct kg_str *out)
{
	if (fabs(v) < 1000)
		kg_str_addf(out, "%*.2f", VALUE_WIDTH, v);
	else if (fabs(v) > 1e8)
		kg_str_addf(out, "%*.4g", VALUE_WIDTH, v);
	else
		kg_str_addf(out, "%*.0f", VALUE_WIDTH, floor(v));
}

/* LKP has arithmetic averages only. */
static bool average(const struct style_row *r, const struct style_cell *c, double *ret)
{
	struct style_row plain = *r;

	plain.stat = "amean";
	return style_mean(&plain, c, ret);
}

bool style_lkp_change(const struct style_row *r, size_t column, double *ret)
{
	double base, v;

	if (!average(r, &r->cells[0], &base) || !average(r, &r->cells[column], &v))
		return false;
	if (r->absolute)
		*ret = v - base;
	else
		*ret = 100 * (v - base) / (base == 0 ? NO_BASE : base);
	return isfinite(*ret);
}

static bool deviation_pct(const struct style_cell *c, double *ret)
{
	struct stats_summary s;

	if (c->has_sd_pct)
		*ret = c->sd_pct;
	if (c->has_sd_pct || !style_summary(c, &s) || !s.has_sd)
		return c->has_sd_pct;
	*ret = s.sd * sqrt((double)(s.n - 1) / (double)s.n);
	if (s.mean != 0)
		*ret = 100 * *ret / s.mean;
	return true;
}

/* A deviation that a file gives was shown, so that it is above the bound however it was cut. */
static bool deviation_shown(const struct style_cell *c, double pct)
{
	return c->has_sd_pct ? pct >= SD_SHOWN : pct > SD_SHOWN;
}

static void cell_text(const struct style_row *r, const struct style_cell *c, struct kg_str *out)
{
	double v, pct = 0;

	if (average(r, c, &v))
		style_lkp_value(v, out);
	else
		style_right(out, "-", VALUE_WIDTH);
	if (deviation_pct(c, &pct) && deviation_shown(c, pct))
		kg_str_addf(out, " ±%*.0f%%", SD_WIDTH - 3, floor(pct));
	else
		style_pad(out, SD_WIDTH);
}

static void change_text(const struct style_row *r, size_t column, struct kg_str *out)
{
	double change;

	if (!style_lkp_change(r, column, &change)) {
		style_pad(out, CHANGE_WIDTH + 2);
		return;
	}
	if (fabs(change) < 100000)
		kg_str_addf(out, "%+*.1f", CHANGE_WIDTH, change);
	else
		kg_str_addf(out, "%+*.2g", CHANGE_WIDTH, change);
	kg_str_add(out, r->absolute ? "  " : "% ");
}

static void header(const struct style_table *t, struct kg_str *out)
{
	struct kg_str name = {0};
	size_t first = VALUE_WIDTH + SD_WIDTH, more = first + CHANGE_WIDTH + 1;

	for (size_t c = 0; c < t->n_columns; c++) {
		kg_str_clear(&name);
		style_column_name(&t->columns[c], &name);
		style_right(out, kg_str_text(&name), c ? more : first);
		kg_str_add(out, " ");
	}
	kg_str_add(out, "\n");
	kg_str_deinit(&name);
	for (size_t c = 0; c < t->n_columns; c++) {
		for (size_t i = 0; i < (c ? more : first); i++)
			kg_str_add(out, "-");
		kg_str_add(out, " ");
	}
	kg_str_add(out, "\n         %stddev");
	for (size_t c = 1; c < t->n_columns; c++)
		kg_str_add(out, "     %change         %stddev");
	kg_str_add(out, "\n             \\  ");
	for (size_t c = 1; c < t->n_columns; c++)
		kg_str_add(out, "        |                \\  ");
	kg_str_add(out, "\n");
}

void style_lkp(const struct style_table *t, struct kg_str *out)
{
	style_line(out, t->title);
	style_line(out, t->benchmark);
	header(t, out);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct style_row *r = &t->rows[i];

		for (size_t c = 0; c < t->n_columns; c++) {
			if (c)
				change_text(r, c, out);
			cell_text(r, &r->cells[c], out);
		}
		kg_str_add(out, "  ");
		style_line(out, r->key);
	}
}
