/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/compare_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/params.h"
#include "cli/table.h"
#include "cli/width.h"

#define CELL_SIZE 160

/* Widths of the parts of a column's cells, so that they stand below one another. */
struct parts {
	int value, delta, lo, hi;
	bool any_delta;
};

/* What a whole table has in common. */
struct layout {
	const Kgrid__V1__CompareTable *table;
	struct params *params; /* owned */
	struct parts *parts;   /* owned, one per column */
	int *decimals;	       /* owned, one per row */
	uint32_t boots_least, boots_most;
	double cov_most;
};

static const Kgrid__V1__CompareCell *cell_at(const Kgrid__V1__CompareTable *t, size_t row,
					     size_t column)
{
	const Kgrid__V1__CompareRow *r = t->rows[row];

	return column < r->n_cells ? r->cells[column] : NULL;
}

static bool has_value(const Kgrid__V1__CompareCell *c)
{
	return c && c->has_value && isfinite(c->value);
}

static bool has_interval(const Kgrid__V1__CompareCell *c)
{
	return c->has_delta_lo_pct && c->has_delta_hi_pct && isfinite(c->delta_lo_pct) &&
	       isfinite(c->delta_hi_pct);
}

static bool has_delta(const Kgrid__V1__CompareCell *c)
{
	return c->has_delta_pct && isfinite(c->delta_pct);
}

/* Whether the interval excludes 0 and the change is large enough to matter: on a quiet machine an
 * interval of some hundredths of a percent excludes 0 without meaning anything. */
static bool stands_clear(const Kgrid__V1__CompareCell *c)
{
	return has_interval(c) && (c->delta_lo_pct > 0 || c->delta_hi_pct < 0) &&
	       fabs(c->delta_pct) >= COMPARE_MIN_EFFECT_PCT;
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

static int printed(char *buf, size_t size, const char *fmt, double v)
{
	int n = snprintf(buf, size, fmt, v);

	if (strcmp(buf, "-0.00") == 0) { /* rounds to nothing */
		memmove(buf, buf + 1, strlen(buf));
		n--;
	}
	return n;
}

static void measure_cell(struct layout *l, size_t row, size_t column)
{
	const Kgrid__V1__CompareCell *c = cell_at(l->table, row, column);
	struct parts *p = &l->parts[column];
	char buf[64];

	if (!has_value(c))
		return;
	p->value =
		max_int(p->value, snprintf(buf, sizeof(buf), "%.*f", l->decimals[row], c->value));
	l->boots_most = c->boots > l->boots_most ? c->boots : l->boots_most;
	if (l->boots_least == 0 || c->boots < l->boots_least)
		l->boots_least = c->boots;
	if (c->has_cov_pct && c->cov_pct > l->cov_most)
		l->cov_most = c->cov_pct;
	if (!has_delta(c))
		return;
	p->any_delta = true;
	p->delta = max_int(p->delta, printed(buf, sizeof(buf), "%+.2f", c->delta_pct));
	if (!has_interval(c))
		return;
	p->lo = max_int(p->lo, printed(buf, sizeof(buf), "%.2f", c->delta_lo_pct));
	p->hi = max_int(p->hi, printed(buf, sizeof(buf), "%.2f", c->delta_hi_pct));
}

static void layout_init(struct layout *l, const Kgrid__V1__CompareTable *t)
{
	const char **texts = cli_alloc(t->n_rows, sizeof(*texts));
	size_t row, column;

	memset(l, 0, sizeof(*l));
	l->table = t;
	l->parts = cli_alloc(t->n_columns, sizeof(*l->parts));
	l->decimals = cli_alloc(t->n_rows, sizeof(*l->decimals));
	for (row = 0; row < t->n_rows; row++) {
		double least = 0;

		texts[row] = cli_text(t->rows[row]->params);
		for (column = 0; column < t->n_columns; column++) {
			const Kgrid__V1__CompareCell *c = cell_at(t, row, column);

			if (has_value(c) && c->value != 0 && (least == 0 || fabs(c->value) < least))
				least = fabs(c->value);
		}
		l->decimals[row] = format_decimals(least);
	}
	for (row = 0; row < t->n_rows; row++)
		for (column = 0; column < t->n_columns; column++)
			measure_cell(l, row, column);
	l->params = params_split(texts, t->n_rows);
	free(texts);
}

static void layout_deinit(struct layout *l)
{
	params_free(l->params);
	free(l->parts);
	free(l->decimals);
}

/* Why a cell has no value. */
static void no_value(const Kgrid__V1__CompareCell *c, struct kg_str *out)
{
	if (!c || (c->has_present && !c->present)) {
		kg_str_add(out, "-");
		return;
	}
	format_outcomes(c->n_excluded, c->excluded, out);
	if (c->pending)
		kg_str_addf(out, "%s%" PRIu32 " pending", out->len ? " + " : "", c->pending);
	if (out->len == 0)
		kg_str_add(out, "no value");
}

static void cell_text(const struct layout *l, size_t row, size_t column, struct kg_str *out)
{
	const Kgrid__V1__CompareCell *c = cell_at(l->table, row, column);
	const struct parts *p = &l->parts[column];
	char delta[64], lo[64], hi[64];

	if (!has_value(c)) {
		no_value(c, out);
		return;
	}
	kg_str_addf(out, "%*.*f", p->value, l->decimals[row], c->value);
	if (has_delta(c)) {
		(void)printed(delta, sizeof(delta), "%+.2f", c->delta_pct);
		kg_str_addf(out, " (%*s %%", p->delta, delta);
		if (has_interval(c)) {
			(void)printed(lo, sizeof(lo), "%.2f", c->delta_lo_pct);
			(void)printed(hi, sizeof(hi), "%.2f", c->delta_hi_pct);
			kg_str_addf(out, " [%*s, %*s]", p->lo, lo, p->hi, hi);
		}
		kg_str_addf(out, ")%s", stands_clear(c) ? "*" : " ");
	} else if (p->any_delta) {
		kg_str_addf(out, "%*s", p->delta + p->lo + p->hi + (p->lo ? 11 : 6), "");
	}
	/* fewer boots than the others */
	if (c->boots < l->boots_most)
		kg_str_addf(out, " n=%" PRIu32, c->boots);
}

static enum table_style cell_style(const Kgrid__V1__CompareCell *c)
{
	if (!has_value(c))
		return TABLE_DIM;
	if (!has_delta(c) || !stands_clear(c))
		return TABLE_PLAIN;
	return c->delta_pct > 0 ? TABLE_GOOD : TABLE_BAD;
}

/* The table with the baseline and the columns first .. end. */
static struct table *group_table(const struct layout *l, size_t first, size_t end)
{
	size_t n_params = params_columns(l->params), i, row, column;
	char *align = cli_alloc(n_params + end - first + 2, 1);
	struct kg_str s = {0};
	struct table *t;

	for (i = 0; i < n_params; i++)
		align[i] = params_numeric(l->params, i) ? 'r' : 'l';
	memset(align + n_params, 'r', 1 + end - first);
	t = table_new(align);
	free(align);
	for (i = 0; i < n_params; i++)
		table_title(t, params_title(l->params, i));
	for (column = 0; column < end; column = column ? column + 1 : first) {
		const Kgrid__V1__CompareColumn *c = l->table->columns[column];

		kg_str_clear(&s);
		kg_str_addf(&s, "%s%s\n%s%s", cli_text(c->kernel),
			    l->parts[column].any_delta ? " " : "", cli_text(c->lsm),
			    l->parts[column].any_delta ? " " : "");
		table_title(t, kg_str_text(&s));
	}
	for (row = 0; row < l->table->n_rows; row++) {
		for (i = 0; i < n_params; i++)
			table_cell(t, params_value(l->params, row, i));
		for (column = 0; column < end; column = column ? column + 1 : first) {
			kg_str_clear(&s);
			cell_text(l, row, column, &s);
			table_styled(t, cell_style(cell_at(l->table, row, column)),
				     kg_str_text(&s));
		}
	}
	kg_str_deinit(&s);
	return t;
}

static void render_groups(const struct layout *l, size_t width, bool color, struct kg_str *out)
{
	size_t first = 1, n = l->table->n_columns;

	do {
		size_t end = n > first ? first + 1 : n;
		struct table *t = group_table(l, first, end);

		while (end < n) {
			struct table *wider = group_table(l, first, end + 1);

			if (2 + table_width(wider) > width) {
				table_free(wider);
				break;
			}
			table_free(t);
			t = wider;
			end++;
		}
		kg_str_add(out, "\n");
		table_render(t, 2, 0, color, out);
		table_free(t);
		first = end;
	} while (first < n);
}

static void heading(const struct layout *l, size_t width, struct kg_str *out)
{
	const Kgrid__V1__CompareTable *t = l->table;
	const char *direction = cli_text(t->direction);
	struct kg_str s = {0};

	kg_str_addf(&s, "%s%s%s:", cli_text(t->workload), params_common(l->params)[0] ? " " : "",
		    params_common(l->params));
	kg_str_addf(&s, " %s", cli_text(t->metric));
	if (t->unit && t->unit[0])
		kg_str_addf(&s, " in %s", t->unit);
	if (strcmp(direction, "higher") == 0 || strcmp(direction, "lower") == 0)
		kg_str_addf(&s, ", %s is better", direction);
	else
		kg_str_add(&s, ", no direction is better");
	if (l->boots_most == 0)
		kg_str_add(&s, "; no valid boot yet");
	else if (l->boots_least == l->boots_most)
		kg_str_addf(&s, "; n=%" PRIu32 " boots", l->boots_most);
	else
		kg_str_addf(&s, "; n=%" PRIu32 " boots where not said otherwise", l->boots_most);
	if (l->cov_most > 0)
		kg_str_addf(&s, "; CoV between boots <= %.2f %%", ceil(l->cov_most * 100) / 100);
	text_wrap(out, kg_str_text(&s), 0, 4, width);
	kg_str_deinit(&s);
}

static void clean_line(struct kg_str *out, const char *text)
{
	text_clean(out, text, strlen(text), false);
}

/* "machine: CPU, vendor" and what its clock means. */
static void machine_heading(const Kgrid__V1__CompareTable *t, struct kg_str *out)
{
	clean_line(out, cli_text(t->machine));
	kg_str_add(out, ": ");
	clean_line(out, cli_text(t->cpu_name));
	if (t->cpu_vendor && t->cpu_vendor[0]) {
		kg_str_add(out, ", ");
		clean_line(out, t->cpu_vendor);
	}
	kg_str_add(out, "\n");
	if (kg_streq(t->clock, "instruction"))
		kg_str_add(out, "instruction clock: counts of instructions, not time of a real "
				"CPU\n");
	else
		kg_str_add(out, "real clock\n");
}

void compare_table_text(const Kgrid__V1__CompareTable *t, size_t width, bool color,
			struct kg_str *out)
{
	struct layout l;

	layout_init(&l, t);
	machine_heading(t, out);
	heading(&l, width, out);
	if (t->n_columns > 0 && t->n_rows > 0)
		render_groups(&l, width, color, out);
	layout_deinit(&l);
}

bool compare_has_values(const Kgrid__V1__CompareReply *r)
{
	size_t t, row, column;

	for (t = 0; t < r->n_tables; t++)
		for (row = 0; row < r->tables[t]->n_rows; row++)
			for (column = 0; column < r->tables[t]->n_columns; column++)
				if (has_value(cell_at(r->tables[t], row, column)))
					return true;
	return false;
}

/* Whether an earlier table says the same of this column. */
static bool said_before(const Kgrid__V1__CompareReply *r, size_t table, size_t column)
{
	const Kgrid__V1__CompareColumn *c = r->tables[table]->columns[column];
	size_t t, i;

	for (t = 0; t <= table; t++) {
		for (i = 0; i < r->tables[t]->n_columns; i++) {
			const Kgrid__V1__CompareColumn *d = r->tables[t]->columns[i];

			if (t == table && i == column)
				return false;
			if (kg_streq(c->kernel, d->kernel) && kg_streq(c->lsm, d->lsm) &&
			    kg_streq(c->effective, d->effective))
				return true;
		}
	}
	return false;
}

static void effective_lists(const Kgrid__V1__CompareReply *r, size_t width, struct kg_str *out)
{
	struct table *list = table_new("ll");
	struct kg_str s = {0};
	size_t t, i;

	for (t = 0; t < r->n_tables; t++) {
		for (i = 0; i < r->tables[t]->n_columns; i++) {
			const Kgrid__V1__CompareColumn *c = r->tables[t]->columns[i];

			if (!c->effective || !c->effective[0] || said_before(r, t, i))
				continue;
			kg_str_clear(&s);
			format_column(c->kernel, c->lsm, &s);
			table_pair(list, kg_str_text(&s), c->effective);
		}
	}
	if (table_rows(list) > 0) {
		kg_str_add(out, "effective lists:\n");
		table_render(list, 2, width, false, out);
	}
	table_free(list);
	kg_str_deinit(&s);
}

static bool has_deltas(const Kgrid__V1__CompareReply *r)
{
	size_t t;

	for (t = 0; t < r->n_tables; t++)
		if (r->tables[t]->n_columns > 1)
			return true;
	return false;
}

void compare_text(const Kgrid__V1__CompareReply *r, size_t width, bool color, struct kg_str *out)
{
	size_t i;

	for (i = 0; i < r->n_tables; i++) {
		compare_table_text(r->tables[i], width, color, out);
		kg_str_add(out, "\n");
	}
	if (r->n_tables > 0 && has_deltas(r))
		text_wrap(
			out,
			"value (change against the baseline, the first column, in % [95 % "
			"interval over boots]); positive is better; * the interval excludes 0 and "
			"the change is at least 1 %",
			0, 2, width);
	effective_lists(r, width, out);
	for (i = 0; i < r->n_notes; i++) {
		struct kg_str s = {0};

		clean_line(&s, r->notes[i]);
		kg_str_add(out, "note: ");
		text_wrap(out, kg_str_text(&s), 6, 6, width);
		kg_str_deinit(&s);
	}
	format_accounting(r->job ? r->job->accounting : NULL, out);
	kg_str_add(out, "\n");
}
