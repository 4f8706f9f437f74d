/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/compare_style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/params.h"
#include "cli/style.h"

/* One table with the room of all it points to. */
struct room {
	struct style_table table;
	struct style_column *columns; /* owned */
	struct style_row *rows;	      /* owned */
	struct style_cell *cells;     /* owned, row after row */
	char **texts;		      /* owned, n_texts */
	size_t n_texts;
	double **values; /* owned, one per cell, may be NULL */
	struct params *params;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median of a boot's iterations; false without a finite one. */
static bool boot_median(const Kgrid__V1__BootValues *b, double *ret)
{
	double *v = cli_alloc(b->n_value, sizeof(*v));
	size_t i, n = 0;

	for (i = 0; i < b->n_value; i++)
		if (isfinite(b->value[i]))
			v[n++] = b->value[i];
	qsort(v, n, sizeof(*v), compare_doubles);
	if (n > 0)
		*ret = n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
	free(v);
	return n > 0;
}

static void fill_cell(const Kgrid__V1__CompareCell *c, struct style_cell *ret, double **ret_values)
{
	double *v;
	size_t i, n = 0;

	if (!c || c->n_boots_values == 0)
		return;
	v = cli_alloc(c->n_boots_values, sizeof(*v));
	for (i = 0; i < c->n_boots_values; i++)
		n += boot_median(c->boots_values[i], &v[n]);
	ret->values = v;
	ret->n = n;
	*ret_values = v;
}

static const char *keep(struct room *r, struct kg_str *s)
{
	char *text = kg_str_take(s);

	r->texts[r->n_texts++] = text ? text : cli_strdup("");
	return r->texts[r->n_texts - 1];
}

/* "64", or "size=64 test=TCP_RR" where rows differ in more than one parameter. */
static void key_text(const struct room *r, size_t row, struct kg_str *out)
{
	size_t n = params_columns(r->params), i;

	for (i = 0; i < n; i++)
		if (n == 1)
			kg_str_add(out, params_value(r->params, row, i));
		else
			kg_str_addf(out, "%s%s=%s", i ? " " : "", params_title(r->params, i),
				    params_value(r->params, row, i));
}

static const char *row_key(struct room *r, const Kgrid__V1__CompareTable *t, bool lkp, size_t row)
{
	struct kg_str s = {0};

	if (lkp)
		kg_str_addf(&s, "%s.%s%s", cli_text(t->workload), cli_text(t->metric),
			    params_columns(r->params) ? " " : "");
	if (lkp && params_columns(r->params) == 1)
		kg_str_addf(&s, "%s=", params_title(r->params, 0));
	key_text(r, row, &s);
	if (s.len == 0)
		kg_str_add(&s, cli_text(t->metric));
	return keep(r, &s);
}

static enum verdict_direction direction_of(const char *name)
{
	if (kg_streq(name, "higher"))
		return VERDICT_HIGHER;
	return kg_streq(name, "lower") ? VERDICT_LOWER : VERDICT_NO_DIRECTION;
}

static void fill_titles(struct room *r, const Kgrid__V1__CompareTable *t)
{
	struct kg_str s = {0};

	kg_str_addf(&s, "%s: %s%s", cli_text(t->machine), cli_text(t->cpu_name),
		    kg_streq(t->clock, "instruction") ? " (instruction clock)" : "");
	r->table.title = keep(r, &s);
	kg_str_addf(&s, "%s%s%s %s%s%s%s", cli_text(t->workload),
		    params_common(r->params)[0] ? " " : "", params_common(r->params),
		    cli_text(t->metric), t->unit && t->unit[0] ? " (" : "", cli_text(t->unit),
		    t->unit && t->unit[0] ? ")" : "");
	r->table.benchmark = keep(r, &s);
	if (params_columns(r->params) == 1)
		r->table.key_title = params_title(r->params, 0);
}

static void room_init(struct room *r, const Kgrid__V1__CompareTable *t, bool lkp)
{
	const char **texts = cli_alloc(t->n_rows, sizeof(*texts));
	size_t i, row;

	memset(r, 0, sizeof(*r));
	r->columns = cli_alloc(t->n_columns, sizeof(*r->columns));
	r->rows = cli_alloc(t->n_rows, sizeof(*r->rows));
	r->cells = cli_alloc(t->n_rows * t->n_columns, sizeof(*r->cells));
	r->values = cli_alloc(t->n_rows * t->n_columns, sizeof(*r->values));
	r->texts = cli_alloc(t->n_rows + 2, sizeof(*r->texts));
	for (row = 0; row < t->n_rows; row++)
		texts[row] = cli_text(t->rows[row]->params);
	r->params = params_split(texts, t->n_rows);
	free(texts);
	fill_titles(r, t);
	for (i = 0; i < t->n_columns; i++) {
		r->columns[i].kernel = cli_text(t->columns[i]->kernel);
		r->columns[i].variant = cli_text(t->columns[i]->lsm);
	}
	for (row = 0; row < t->n_rows; row++) {
		struct style_cell *cells = r->cells + row * t->n_columns;

		for (i = 0; i < t->n_columns && i < t->rows[row]->n_cells; i++)
			fill_cell(t->rows[row]->cells[i], &cells[i],
				  &r->values[row * t->n_columns + i]);
		r->rows[row] = (struct style_row){
			.key = row_key(r, t, lkp, row),
			.direction = direction_of(t->direction),
			.unit = t->unit && t->unit[0] ? t->unit : NULL,
			.absolute = style_lkp_absolute(cli_text(t->metric)),
			.cells = cells,
		};
	}
	r->table.columns = r->columns;
	r->table.n_columns = t->n_columns;
	r->table.rows = r->rows;
	r->table.n_rows = t->n_rows;
}

static void room_deinit(struct room *r)
{
	size_t i;

	for (i = 0; i < r->n_texts; i++)
		free(r->texts[i]);
	for (i = 0; i < r->table.n_rows * r->table.n_columns; i++)
		free(r->values[i]);
	params_free(r->params);
	free(r->texts);
	free(r->values);
	free(r->cells);
	free(r->rows);
	free(r->columns);
}

int compare_style(const Kgrid__V1__CompareReply *r, const char *style, struct kg_str *out,
		  struct kg_err *err)
{
	struct room *rooms = cli_alloc(r->n_tables, sizeof(*rooms));
	struct style_table *tables = cli_alloc(r->n_tables, sizeof(*tables));
	size_t i;
	int rc;

	for (i = 0; i < r->n_tables; i++) {
		room_init(&rooms[i], r->tables[i], strcmp(style, "lkp") == 0);
		tables[i] = rooms[i].table;
	}
	rc = style_render(style, tables, r->n_tables, out, err);
	for (i = 0; i < r->n_tables; i++)
		room_deinit(&rooms[i]);
	free(tables);
	free(rooms);
	return rc;
}
