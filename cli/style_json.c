/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables for programs: the values and differences that the other forms round. */
#include <stdlib.h>

#include <jansson.h>

#include "cli/json.h"
#include "cli/style_impl.h"

static json_t *text_or_null(const char *s)
{
	return s && s[0] ? json_of_text(s) : json_null();
}

static json_t *number_or_null(bool has, double v)
{
	return has ? json_real(v) : json_null();
}

static json_t *cell_json(const struct style_table *t, const struct style_row *r, size_t column)
{
	double mean = 0, diff = 0, change = 0;
	bool has_mean = style_mean(r, &r->cells[column], &mean);
	/* without any of them nothing says what is better */
	bool has_diff = (r->stat || r->direction) && style_mmtests_diff(r, column, &diff);
	bool has_change = column > 0 && style_lkp_change(r, column, &change);

	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "kernel", text_or_null(t->columns[column].kernel),
			 "variant", text_or_null(t->columns[column].variant), "value",
			 number_or_null(has_mean, mean), "diff_pct", number_or_null(has_diff, diff),
			 r->absolute ? "change" : "change_pct", number_or_null(has_change, change));
}

static json_t *row_json(const struct style_table *t, const struct style_row *r)
{
	json_t *cells = json_array();

	for (size_t c = 0; c < t->n_columns; c++)
		json_array_append_new(cells, cell_json(t, r, c));
	return json_pack("{s:o,s:s,s:o}", "key", text_or_null(r->key), "stat",
			 style_harmonic(r) ? "hmean" : "amean", "cells", cells);
}

void style_json(const struct style_table *tables, size_t n, struct kg_str *out)
{
	json_t *list = json_array(), *o;
	char *text;

	for (size_t i = 0; i < n; i++) {
		json_t *rows = json_array();

		for (size_t r = 0; r < tables[i].n_rows; r++)
			json_array_append_new(rows, row_json(&tables[i], &tables[i].rows[r]));
		json_array_append_new(list,
				      json_pack("{s:o,s:o,s:o}", "title",
						text_or_null(tables[i].title), "benchmark",
						text_or_null(tables[i].benchmark), "rows", rows));
	}
	o = json_pack("{s:o}", "tables", list);
	text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	kg_str_addf(out, "%s\n", text ? text : "{\"tables\": []}");
	free(text);
	json_decref(o);
}
