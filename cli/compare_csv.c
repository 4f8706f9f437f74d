/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/compare_text.h"

#include <inttypes.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/json.h"

static void add_text(struct kg_str *out, const char *text)
{
	csv_text(out, cli_text(text));
	kg_str_add(out, ",");
}

static void add_double(struct kg_str *out, bool has, double v)
{
	kg_str_add(out, ",");
	if (has)
		csv_double(out, v);
}

static void add_number(struct kg_str *out, bool has, uint32_t v)
{
	kg_str_add(out, ",");
	if (has)
		kg_str_addf(out, "%" PRIu32, v);
}

static void add_flag(struct kg_str *out, bool has, bool v)
{
	kg_str_add(out, has ? v ? ",true" : ",false" : ",");
}

/* What protocol 1.2 says of a cell; empty where it says nothing. */
static void add_verdict(const Kgrid__V1__CompareTable *t, const Kgrid__V1__CompareCell *c,
			struct kg_str *out)
{
	size_t i;

	kg_str_add(out, ",");
	csv_text(out, cli_text(c->verdict));
	add_double(out, c->has_p, c->p);
	add_double(out, c->has_q, c->q);
	add_double(out, c->has_welch_p, c->welch_p);
	add_double(out, c->has_p_worse, c->p_worse);
	add_double(out, c->has_cliffs_delta, c->cliffs_delta);
	add_number(out, c->has_iterations, c->iterations);
	add_number(out, c->has_baseline_boots, c->baseline_boots);
	add_number(out, c->has_baseline_iterations, c->baseline_iterations);
	add_number(out, c->has_more_boots, c->more_boots);
	add_flag(out, c->has_multimodal, c->multimodal);
	kg_str_add(out, ",");
	for (i = 0; i < c->n_epochs; i++)
		kg_str_addf(out, "%s%" PRIu32, i ? ";" : "", c->epochs[i]);
	add_double(out, t->has_min_effect_pct, t->min_effect_pct);
	add_flag(out, t->has_everything_moved, t->everything_moved);
	kg_str_add(out, ",");
	csv_text(out, cli_text(t->microarchitecture));
	kg_str_add(out, ",");
	csv_text(out, cli_text(c->reason));
}

static void add_cell(const Kgrid__V1__CompareTable *t, const Kgrid__V1__CompareRow *row, size_t i,
		     struct kg_str *out)
{
	const Kgrid__V1__CompareColumn *column = t->columns[i];
	const Kgrid__V1__CompareCell *c = row->cells[i];
	struct kg_str excluded = {0};
	size_t k;

	add_text(out, t->machine);
	add_text(out, t->cpu_name);
	add_text(out, t->cpu_vendor);
	add_text(out, t->clock);
	add_text(out, t->workload);
	add_text(out, row->params);
	add_text(out, t->metric);
	add_text(out, t->unit);
	add_text(out, t->direction);
	add_text(out, column->kernel);
	add_text(out, column->lsm);
	kg_str_addf(out, "%s,%" PRIu32, i == 0 ? "true" : "false", c->boots);
	add_double(out, c->has_value, c->value);
	add_double(out, c->has_value_lo, c->value_lo);
	add_double(out, c->has_value_hi, c->value_hi);
	add_double(out, c->has_delta_pct, c->delta_pct);
	add_double(out, c->has_delta_lo_pct, c->delta_lo_pct);
	add_double(out, c->has_delta_hi_pct, c->delta_hi_pct);
	add_double(out, c->has_cov_pct, c->cov_pct);
	format_outcomes(c->n_excluded, c->excluded, &excluded);
	kg_str_addf(out, ",%" PRIu32 ",", c->pending);
	csv_text(out, kg_str_text(&excluded));
	add_verdict(t, c, out);
	kg_str_clear(&excluded);
	for (k = 0; k < column->n_same_as; k++)
		kg_str_addf(&excluded, "%s%s", k ? ";" : "", column->same_as[k]);
	kg_str_add(out, ",");
	csv_text(out, kg_str_text(&excluded));
	kg_str_add(out, "\n");
	kg_str_deinit(&excluded);
}

void compare_csv(const Kgrid__V1__CompareReply *r, struct kg_str *out)
{
	size_t t, row, i;

	kg_str_add(out, "machine,cpu_name,cpu_vendor,clock,workload,params,metric,unit,direction,"
			"kernel,lsm,baseline,boots,value,value_lo,value_hi,delta_pct,delta_lo_pct,"
			"delta_hi_pct,cov_pct,pending,excluded,verdict,p,q,welch_p,p_worse,"
			"cliffs_delta,iterations,baseline_boots,baseline_iterations,more_boots,"
			"multimodal,epochs,min_effect_pct,everything_moved,microarchitecture,"
			"reason,same_as\n");
	for (t = 0; t < r->n_tables; t++) {
		const Kgrid__V1__CompareTable *table = r->tables[t];

		for (row = 0; row < table->n_rows; row++)
			for (i = 0; i < table->n_columns && i < table->rows[row]->n_cells; i++)
				add_cell(table, table->rows[row], i, out);
	}
}
