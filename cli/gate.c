/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/gate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare_cell.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/width.h"

/* "-8.79 % [-9.10, -8.40], p=0.0002, q=0.001, 8+8 boots" */
static void numbers_text(const Kgrid__V1__CompareCell *c, struct kg_str *out)
{
	char buf[64];

	if (cell_has_delta(c)) {
		(void)percent_text(buf, sizeof(buf), true, c->delta_pct);
		kg_str_addf(out, "%s %%", buf);
		interval_text(cell_has_interval(c), c->delta_lo_pct, c->delta_hi_pct, out);
	}
	if (c->has_p && isfinite(c->p)) {
		(void)probability_text(buf, sizeof(buf), c->p);
		kg_str_addf(out, "%sp=%s", out->len ? ", " : "", buf);
	}
	if (c->has_q && isfinite(c->q)) {
		(void)probability_text(buf, sizeof(buf), c->q);
		kg_str_addf(out, "%sq=%s", out->len ? ", " : "", buf);
	}
	kg_str_addf(out, "%s%" PRIu32 "+%" PRIu32 " boots", out->len ? ", " : "", c->baseline_boots,
		    c->boots);
}

static uint32_t missing(uint32_t boots)
{
	return boots < GATE_BOOTS ? GATE_BOOTS - boots : 0;
}

/* Why a pair gave no answer, where the coordinator does not say it. */
static void reason_text(const struct gate_pair *p, struct kg_str *out)
{
	const Kgrid__V1__CompareCell *c = p->cell;

	kg_str_add(out, cli_text(c->reason));
	if (out->len > 0)
		return;
	if (!cell_has_value(c)) {
		format_outcomes(c->n_excluded, c->excluded, out);
		if (c->pending)
			kg_str_addf(out, "%s%" PRIu32 " pending", out->len ? " + " : "",
				    c->pending);
		if (out->len == 0)
			kg_str_add(out, "no valid result");
	} else if (c->has_baseline_boots && c->baseline_boots == 0) {
		kg_str_add(out, "the baseline has no valid result");
	} else if (missing(c->boots) || missing(c->baseline_boots)) {
		kg_str_addf(out, "%" PRIu32 "+%" PRIu32 " boots; a gate needs %d a side",
			    c->baseline_boots, c->boots, GATE_BOOTS);
	} else if (c->more_boots) {
		kg_str_addf(out, "about %" PRIu32 " more boots a side would decide", c->more_boots);
	} else {
		kg_str_add(out, "not decided");
	}
}

static enum gate_result result_of(const Kgrid__V1__CompareCell *c)
{
	if (kg_streq(c->verdict, "incomparable") || !cell_has_value(c) ||
	    (c->has_baseline_boots && c->baseline_boots == 0))
		return GATE_ERROR;
	if (kg_streq(c->verdict, "regression"))
		return GATE_FAILED;
	if (kg_streq(c->verdict, "same") || kg_streq(c->verdict, "improvement") ||
	    kg_streq(c->verdict, "different"))
		return GATE_PASSED;
	return GATE_SKIPPED;
}

static void fill(struct gate *g, struct gate_pair *p)
{
	const Kgrid__V1__CompareCell *c = p->cell;
	struct kg_str s = {0};

	p->result = result_of(c);
	g->counts[p->result]++;
	if (p->result == GATE_SKIPPED || p->result == GATE_ERROR)
		reason_text(p, &s);
	else
		numbers_text(c, &s);
	p->reason = kg_str_take(&s);
	if (kg_streq(c->verdict, "incomparable"))
		return;
	if (cell_has_value(c) && !missing(c->boots) && !missing(c->baseline_boots)) {
		g->decidable++;
	} else {
		uint32_t lacks = missing(c->boots) + missing(c->baseline_boots);

		if (g->missing_boots == 0 || lacks < g->missing_boots)
			g->missing_boots = lacks;
	}
}

static void add_table(struct gate *g, const Kgrid__V1__CompareTable *t)
{
	size_t row, i;

	for (row = 0; row < t->n_rows; row++) {
		const Kgrid__V1__CompareRow *r = t->rows[row];

		for (i = 1; i < t->n_columns && i < r->n_cells; i++) {
			struct gate_pair *p;

			if (r->cells[i]->has_present && !r->cells[i]->present)
				continue; /* no part of the job */
			g->pairs = cli_grow(g->pairs, g->n + 1, sizeof(*g->pairs));
			p = &g->pairs[g->n++];
			memset(p, 0, sizeof(*p));
			p->table = t;
			p->row = r;
			p->column = t->columns[i];
			p->baseline = t->columns[0];
			p->cell = r->cells[i];
			fill(g, p);
		}
	}
}

void gate_init(struct gate *g, const Kgrid__V1__CompareReply *r)
{
	const Kgrid__V1__Accounting *a = r->accounting ? r->accounting
					 : r->job      ? r->job->accounting
						       : NULL;
	size_t i;

	memset(g, 0, sizeof(*g));
	for (i = 0; i < r->n_tables; i++)
		add_table(g, r->tables[i]);
	g->pending = a ? a->pending : 0;
}

void gate_deinit(struct gate *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		free(g->pairs[i].reason);
	free(g->pairs);
	memset(g, 0, sizeof(*g));
}

int gate_exit(const struct gate *g)
{
	if (g->counts[GATE_FAILED] > 0)
		return CLI_EXIT_NO;
	return g->decidable > 0 && g->pending == 0 ? CLI_EXIT_OK : CLI_EXIT_NODATA;
}

void gate_why(const struct gate *g, struct kg_str *out)
{
	if (gate_exit(g) != CLI_EXIT_NODATA)
		return;
	if (g->n == 0)
		kg_str_add(out, "nothing could be decided: there is nothing to compare with the "
				"baseline");
	else if (g->decidable > 0)
		kg_str_addf(out,
			    "no regression so far, but %" PRIu64 " slots are pending; --wait "
			    "waits for them",
			    g->pending);
	else if (g->missing_boots > 0)
		kg_str_addf(out,
			    "nothing could be decided: a gate needs %d boots a side; the pair that "
			    "needs the least lacks %" PRIu32 " boots in all",
			    GATE_BOOTS, g->missing_boots);
	else
		kg_str_add(out, "nothing could be decided: all is incomparable");
}

static const char *const result_names[GATE_RESULTS] = {"passed", "failed", "undecided", "error"};

static void pair_row(struct table *t, const struct gate_pair *p)
{
	static const enum table_style styles[GATE_RESULTS] = {TABLE_GOOD, TABLE_BAD, TABLE_PLAIN,
							      TABLE_BAD};
	struct kg_str column = {0};

	format_column(p->column->kernel, p->column->lsm, &column);
	table_styled(t, styles[p->result], result_names[p->result]);
	table_cell(t, p->table->machine);
	table_cellf(t, "%s%s%s", cli_text(p->table->workload),
		    p->row->params && p->row->params[0] ? " " : "", cli_text(p->row->params));
	table_cell(t, p->table->metric);
	table_cell(t, kg_str_text(&column));
	table_cell(t, p->cell->verdict && p->cell->verdict[0] ? p->cell->verdict : "no data");
	table_cell(t, p->reason);
	kg_str_deinit(&column);
}

void gate_text(const struct gate *g, bool all, size_t width, bool color, struct kg_str *out)
{
	static const char *const titles[] = {"RESULT", "MACHINE", "WORKLOAD", "METRIC",
					     "COLUMN", "VERDICT", "WHY"};
	static const enum gate_result order[] = {GATE_FAILED, GATE_ERROR, GATE_SKIPPED,
						 GATE_PASSED};
	struct table *t = table_new("lllllll");
	size_t i, k;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (k = 0; k < (all ? 4 : 3); k++)
		for (i = 0; i < g->n; i++)
			if (g->pairs[i].result == order[k])
				pair_row(t, &g->pairs[i]);
	if (table_rows(t) > 0)
		table_render(t, 0, width, color, out);
	kg_str_addf(out, "comparisons %zu = %zu passed + %zu failed + %zu undecided + %zu error\n",
		    g->n, g->counts[GATE_PASSED], g->counts[GATE_FAILED], g->counts[GATE_SKIPPED],
		    g->counts[GATE_ERROR]);
	table_free(t);
}
