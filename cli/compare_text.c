/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/compare_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare_cell.h"
#include "cli/format.h"
#include "cli/params.h"
#include "cli/table.h"
#include "cli/width.h"

/* What a whole table has in common. */
struct layout {
	const Kgrid__V1__CompareTable *table;
	const struct compare_look *look;
	struct params *params;	    /* owned */
	struct cell_widths *widths; /* owned, one per column */
	int *decimals;		    /* owned, one per row */
	struct cell_usual usual;
	struct footnotes notes; /* owned */
	uint32_t boots_least, iterations_least;
	double cov_most;
};

static const Kgrid__V1__CompareCell *cell_at(const Kgrid__V1__CompareTable *t, size_t row,
					     size_t column)
{
	const Kgrid__V1__CompareRow *r = t->rows[row];

	return column < r->n_cells ? r->cells[column] : NULL;
}

static void measure_cell(struct layout *l, size_t row, size_t column)
{
	const Kgrid__V1__CompareCell *c = cell_at(l->table, row, column);
	struct cell_usual *u = &l->usual;

	cell_measure(c, l->decimals[row], &l->widths[column]);
	if (!cell_has_value(c))
		return;
	u->boots = c->boots > u->boots ? c->boots : u->boots;
	if (l->boots_least == 0 || c->boots < l->boots_least)
		l->boots_least = c->boots;
	u->iterations = c->iterations > u->iterations ? c->iterations : u->iterations;
	if (l->iterations_least == 0 || c->iterations < l->iterations_least)
		l->iterations_least = c->iterations;
	if (c->has_cov_pct && c->cov_pct > l->cov_most)
		l->cov_most = c->cov_pct;
}

static void layout_init(struct layout *l, const Kgrid__V1__CompareTable *t,
			const struct compare_look *look)
{
	const char **texts = cli_alloc(t->n_rows, sizeof(*texts));
	size_t row, column;

	memset(l, 0, sizeof(*l));
	l->table = t;
	l->look = look;
	l->widths = cli_alloc(t->n_columns, sizeof(*l->widths));
	l->decimals = cli_alloc(t->n_rows, sizeof(*l->decimals));
	for (row = 0; row < t->n_rows; row++) {
		double least = 0;

		texts[row] = cli_text(t->rows[row]->params);
		for (column = 0; column < t->n_columns; column++) {
			const Kgrid__V1__CompareCell *c = cell_at(t, row, column);

			if (cell_has_value(c) && c->value != 0 &&
			    (least == 0 || fabs(c->value) < least))
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
	free(l->widths);
	free(l->decimals);
	footnotes_deinit(&l->notes);
}

static void column_title(const struct layout *l, size_t column, struct kg_str *out)
{
	const Kgrid__V1__CompareColumn *c = l->table->columns[column];

	kg_str_clear(out);
	kg_str_addf(out, "%s\n%s", cli_text(c->kernel), cli_text(c->lsm));
}

/* One row of cells, the baseline and the columns first .. end; `second`: their second lines. */
static void add_line(struct layout *l, struct table *t, size_t row, size_t first, size_t end,
		     bool second)
{
	struct kg_str s = {0};
	size_t column;

	for (column = 0; column < end; column = column ? column + 1 : first) {
		const Kgrid__V1__CompareCell *c = cell_at(l->table, row, column);
		enum table_style style = cell_style(c);

		kg_str_clear(&s);
		if (second)
			cell_second_line(c, l->decimals[row], &l->widths[column], &l->usual,
					 &l->notes, &s);
		else
			cell_first_line(c, l->decimals[row], &l->widths[column], &l->usual,
					l->look->brief, &l->notes, &s);
		if (second && style == TABLE_PLAIN)
			style = TABLE_DIM;
		table_styled(t, style, kg_str_text(&s));
	}
	kg_str_deinit(&s);
}

static bool has_second_line(const struct layout *l, size_t row)
{
	size_t column;

	if (l->look->brief)
		return false;
	for (column = 0; column < l->table->n_columns; column++) {
		const Kgrid__V1__CompareCell *c = cell_at(l->table, row, column);

		if (cell_has_value(c) && (cell_has_verdict(c) || c->has_value_lo))
			return true;
		if (cell_has_value(c) && c->boots < l->usual.boots)
			return true;
	}
	return false;
}

/* The table with the baseline and the columns first .. end. */
static struct table *group_table(struct layout *l, size_t first, size_t end)
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
		column_title(l, column, &s);
		table_title(t, kg_str_text(&s));
	}
	for (row = 0; row < l->table->n_rows; row++) {
		for (i = 0; i < n_params; i++)
			table_cell(t, params_value(l->params, row, i));
		add_line(l, t, row, first, end, false);
		if (!has_second_line(l, row))
			continue;
		for (i = 0; i < n_params; i++)
			table_cell(t, "");
		add_line(l, t, row, first, end, true);
	}
	kg_str_deinit(&s);
	return t;
}

static void render_groups(struct layout *l, struct kg_str *out)
{
	size_t first = 1, n = l->table->n_columns;

	do {
		size_t end = n > first ? first + 1 : n;
		struct table *t = group_table(l, first, end);

		while (end < n) {
			struct table *wider = group_table(l, first, end + 1);

			if (2 + table_width(wider) > l->look->width) {
				table_free(wider);
				break;
			}
			table_free(t);
			t = wider;
			end++;
		}
		kg_str_add(out, "\n");
		table_render(t, 2, 0, l->look->color, out);
		table_free(t);
		first = end;
	} while (first < n);
}

static void counts_heading(const struct layout *l, struct kg_str *out)
{
	const struct cell_usual *u = &l->usual;
	bool even = l->boots_least == u->boots && l->iterations_least == u->iterations;

	if (u->boots == 0) {
		kg_str_add(out, " no valid boot yet");
		return;
	}
	kg_str_addf(out, " n=%" PRIu32 " boots", u->boots);
	if (u->iterations)
		kg_str_addf(out, " (%" PRIu32 " iterations)", u->iterations);
	if (!even)
		kg_str_add(out, " where not said otherwise");
}

/* " throughput in KB/s, higher is better;" */
static void metric_heading(const Kgrid__V1__CompareTable *t, struct kg_str *out)
{
	const char *direction = cli_text(t->direction);

	kg_str_addf(out, " %s", t->metric);
	if (t->unit && t->unit[0])
		kg_str_addf(out, " in %s", t->unit);
	if (strcmp(direction, "higher") == 0 || strcmp(direction, "lower") == 0)
		kg_str_addf(out, ", %s is better;", direction);
	else
		kg_str_add(out, ", no direction is better;");
}

static void heading(const struct layout *l, struct kg_str *out)
{
	const Kgrid__V1__CompareTable *t = l->table;
	struct kg_str s = {0}, safe = {0};

	kg_str_addf(&s, "%s%s%s:", cli_text(t->workload), params_common(l->params)[0] ? " " : "",
		    params_common(l->params));
	if (t->metric && t->metric[0])
		metric_heading(t, &s);
	counts_heading(l, &s);
	if (l->cov_most > 0)
		kg_str_addf(&s, "; CoV between boots <= %.2f %%", ceil(l->cov_most * 100) / 100);
	if (t->has_min_effect_pct && isfinite(t->min_effect_pct))
		kg_str_addf(&s, "; smallest change that matters %.3g %%", t->min_effect_pct);
	text_clean(&safe, kg_str_text(&s), s.len, false);
	text_wrap(out, kg_str_text(&safe), 0, 4, l->look->width);
	kg_str_deinit(&safe);
	kg_str_deinit(&s);
}

static void clean_line(struct kg_str *out, const char *text)
{
	text_clean(out, text, strlen(text), false);
}

/* "machine: CPU, vendor, microarchitecture" and what its clock means. */
static void machine_heading(const Kgrid__V1__CompareTable *t, struct kg_str *out)
{
	clean_line(out, cli_text(t->machine));
	kg_str_add(out, ": ");
	clean_line(out, cli_text(t->cpu_name));
	if (t->cpu_vendor && t->cpu_vendor[0]) {
		kg_str_add(out, ", ");
		clean_line(out, t->cpu_vendor);
	}
	if (t->microarchitecture && t->microarchitecture[0]) {
		kg_str_add(out, ", ");
		clean_line(out, t->microarchitecture);
	}
	kg_str_add(out, "\n");
	if (kg_streq(t->clock, "instruction"))
		kg_str_add(out, "instruction clock: counts of instructions, not time of a real "
				"CPU\n");
	else
		kg_str_add(out, "real clock\n");
}

/* Whether a line says itself how the lists differ. */
static bool lists_said(const Kgrid__V1__CompareTable *t)
{
	size_t i;

	for (i = 0; i < t->n_comparability; i++)
		if (strstr(t->comparability[i], "LSM list: "))
			return true;
	return false;
}

/* What the columns themselves say that differs: kernel, list. */
static void columns_differ(const Kgrid__V1__CompareTable *t, struct kg_str *out)
{
	bool kernel = false, lsm = false;
	size_t i;

	for (i = 1; i < t->n_columns; i++) {
		const Kgrid__V1__CompareColumn *a = t->columns[0], *b = t->columns[i];

		kernel = kernel || !kg_streq(cli_text(a->kernel), cli_text(b->kernel));
		lsm = lsm || !kg_streq(cli_text(a->lsm), cli_text(b->lsm)) ||
		      (a->effective && b->effective && !kg_streq(a->effective, b->effective));
	}
	if (kernel)
		kg_str_add(out, "kernel");
	if (lsm && !lists_said(t))
		kg_str_addf(out, "%sLSM list", kernel ? ", " : "");
	else if (!kernel && !lsm)
		kg_str_add(out, "neither kernel nor LSM list");
}

/* What differs, and a line of its own for each thing where there are several. */
static void comparability_text(const struct layout *l, struct kg_str *out)
{
	const Kgrid__V1__CompareTable *t = l->table;
	struct kg_str s = {0}, safe = {0};
	size_t i, start;

	kg_str_add(&s, "differs from the baseline in: ");
	start = s.len;
	columns_differ(t, &s);
	if (t->n_comparability == 1)
		kg_str_addf(&s, "%s%s", s.len > start ? "; " : "", t->comparability[0]);
	else if (t->n_comparability == 0)
		kg_str_add(&s, "; in nothing else that is known");
	text_clean(&safe, kg_str_text(&s), s.len, false);
	text_wrap(out, kg_str_text(&safe), 0, 4, l->look->width);
	for (i = 0; t->n_comparability > 1 && i < t->n_comparability; i++) {
		kg_str_clear(&safe);
		text_clean(&safe, t->comparability[i], strlen(t->comparability[i]), false);
		kg_str_add(out, "  ");
		text_wrap(out, kg_str_text(&safe), 2, 4, l->look->width);
	}
	kg_str_deinit(&safe);
	kg_str_deinit(&s);
}

static bool same_differences(const Kgrid__V1__CompareTable *a, const Kgrid__V1__CompareTable *b)
{
	size_t i;

	if (a->n_columns != b->n_columns || a->n_comparability != b->n_comparability)
		return false;
	for (i = 0; i < a->n_columns; i++)
		if (!kg_streq(cli_text(a->columns[i]->kernel), cli_text(b->columns[i]->kernel)) ||
		    !kg_streq(cli_text(a->columns[i]->lsm), cli_text(b->columns[i]->lsm)) ||
		    !kg_streq(cli_text(a->columns[i]->effective),
			      cli_text(b->columns[i]->effective)))
			return false;
	for (i = 0; i < a->n_comparability; i++)
		if (!kg_streq(a->comparability[i], b->comparability[i]))
			return false;
	return true;
}

static void comparability(const struct layout *l, const Kgrid__V1__CompareTable *above,
			  struct kg_str *out)
{
	if (l->table->n_columns < 2)
		kg_str_add(out, "nothing to compare with: there is one column\n");
	else if (above && l->table->n_comparability > 1 && same_differences(above, l->table))
		kg_str_add(out, "differs from the baseline as above\n");
	else
		comparability_text(l, out);
}

static void everything_moved(const struct layout *l, struct kg_str *out)
{
	bool color = l->look->color;

	if (!l->table->everything_moved)
		return;
	kg_str_addf(out,
		    "%smost of what was measured moved the same way: suspect the environment "
		    "first%s\n",
		    color ? table_style_on(TABLE_BAD) : "", color ? TABLE_STYLE_OFF : "");
}

/* `above`: the table before it on the same machine, whose heading stands there; NULL: none. */
static void table_text(const Kgrid__V1__CompareTable *t, const Kgrid__V1__CompareTable *above,
		       const struct compare_look *look, struct kg_str *out)
{
	struct layout l;

	layout_init(&l, t, look);
	if (!above) {
		machine_heading(t, out);
		everything_moved(&l, out);
	}
	heading(&l, out);
	if (t->n_columns > 0 && t->n_rows > 0) {
		comparability(&l, above, out);
		render_groups(&l, out);
		footnotes_print(&l.notes, look->width, out);
	}
	layout_deinit(&l);
}

void compare_table_text(const Kgrid__V1__CompareTable *t, const struct compare_look *look,
			struct kg_str *out)
{
	table_text(t, NULL, look, out);
}

static const char *const words[COMPARE_WORDS] = {
	[COMPARE_REGRESSION] = "regression",	 [COMPARE_IMPROVEMENT] = "improvement",
	[COMPARE_DIFFERENT] = "different",	 [COMPARE_SAME] = "same",
	[COMPARE_UNKNOWN] = "unknown",		 [COMPARE_UNSTABLE] = "unstable",
	[COMPARE_INCOMPARABLE] = "incomparable",
};

static void count_cell(const Kgrid__V1__CompareCell *c, struct compare_counts *n)
{
	size_t i;

	n->compared += cell_is_compared(c);
	if (!cell_has_verdict(c))
		return;
	for (i = 0; i < COMPARE_WORDS; i++)
		if (strcmp(c->verdict, words[i]) == 0)
			break;
	if (i < COMPARE_WORDS)
		n->words[i]++;
	else
		n->other++;
}

void compare_count(const Kgrid__V1__CompareReply *r, struct compare_counts *ret)
{
	size_t t, row, column;

	memset(ret, 0, sizeof(*ret));
	for (t = 0; t < r->n_tables; t++)
		for (row = 0; row < r->tables[t]->n_rows; row++)
			for (column = 1; column < r->tables[t]->n_columns; column++)
				count_cell(cell_at(r->tables[t], row, column), ret);
}

bool compare_has_values(const Kgrid__V1__CompareReply *r)
{
	size_t t, row, column;

	for (t = 0; t < r->n_tables; t++)
		for (row = 0; row < r->tables[t]->n_rows; row++)
			for (column = 0; column < r->tables[t]->n_columns; column++)
				if (cell_has_value(cell_at(r->tables[t], row, column)))
					return true;
	return false;
}

/* Columns of the widest table. */
static size_t columns_most(const Kgrid__V1__CompareReply *r)
{
	size_t t, most = 0;

	for (t = 0; t < r->n_tables; t++)
		most = r->tables[t]->n_columns > most ? r->tables[t]->n_columns : most;
	return most;
}

void compare_why_nothing(const Kgrid__V1__CompareReply *r, struct kg_str *out)
{
	const Kgrid__V1__Accounting *a = r->accounting ? r->accounting
					 : r->job      ? r->job->accounting
						       : NULL;
	struct compare_counts n;

	compare_count(r, &n);
	kg_str_add(out, "nothing to compare: ");
	if (!compare_has_values(r)) {
		if (a && a->slots == 0)
			kg_str_add(out, "no slot fits the selection");
		else
			kg_str_addf(out, "no slot of %s has a valid result%s",
				    r->accounting ? "the selection" : "this job",
				    a && a->pending ? " yet" : "");
	} else if (columns_most(r) < 2) {
		kg_str_add(out, "there is one kernel with one list; add another to the job, or "
				"select more jobs with --job or --all-jobs");
	} else if (n.words[COMPARE_INCOMPARABLE] > 0) {
		kg_str_add(out, "all is incomparable, for the reasons above; --across-epochs "
				"compares all the same");
	} else {
		kg_str_add(out, "no cell has a valid result on both sides");
	}
}

static bool same_others(const Kgrid__V1__CompareColumn *a, const Kgrid__V1__CompareColumn *b)
{
	size_t i;

	if (a->n_same_as != b->n_same_as)
		return false;
	for (i = 0; i < a->n_same_as; i++)
		if (!kg_streq(a->same_as[i], b->same_as[i]))
			return false;
	return true;
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
			    kg_streq(c->effective, d->effective) && same_others(c, d))
				return true;
		}
	}
	return false;
}

/* "landlock,apparmor; same list as 'ntnb'" */
static void list_text(const Kgrid__V1__CompareColumn *c, struct kg_str *out)
{
	size_t i;

	kg_str_add(out, cli_text(c->effective));
	for (i = 0; i < c->n_same_as; i++)
		kg_str_addf(out, "%s'%s'",
			    i > 0      ? i + 1 < c->n_same_as ? ", " : " and "
			    : out->len ? "; same list as "
				       : "same list as ",
			    c->same_as[i]);
}

static void effective_lists(const Kgrid__V1__CompareReply *r, size_t width, struct kg_str *out)
{
	struct table *list = table_new("ll");
	struct kg_str s = {0};
	size_t t, i;

	for (t = 0; t < r->n_tables; t++) {
		for (i = 0; i < r->tables[t]->n_columns; i++) {
			const Kgrid__V1__CompareColumn *c = r->tables[t]->columns[i];

			if (((!c->effective || !c->effective[0]) && c->n_same_as == 0) ||
			    said_before(r, t, i))
				continue;
			kg_str_clear(&s);
			format_column(c->kernel, c->lsm, &s);
			table_cell(list, kg_str_text(&s));
			kg_str_clear(&s);
			list_text(c, &s);
			table_cell(list, kg_str_text(&s));
		}
	}
	if (table_rows(list) > 0) {
		kg_str_add(out, "effective lists:\n");
		table_render(list, 2, width, false, out);
	}
	table_free(list);
	kg_str_deinit(&s);
}

/* What the words mean, those that stand in the tables. */
static void legend(const Kgrid__V1__CompareReply *r, const struct compare_counts *n,
		   const struct compare_look *look, struct kg_str *out)
{
	static const char *const meaning[COMPARE_WORDS] = {
		"worse by at least the smallest change that matters, p <= alpha and q <= 0.05",
		"as regression, but better",
		"as regression, of a metric without a direction",
		"the whole interval is smaller than the smallest change that matters",
		"not decided",
		"boots differ more than their iterations explain",
		"the machine or the way it was measured is not the same",
	};
	struct kg_str s = {0};
	size_t i;

	if (columns_most(r) < 2)
		return;
	kg_str_addf(&s,
		    "value, and the change against the baseline (the first column) with its 95 %% "
		    "interval over boots; positive is better");
	if (!look->brief && n->compared > 0)
		kg_str_add(&s, "; p: Mann-Whitney over boots, q: among all comparisons shown; "
			       "n: boots (iterations), the baseline's first");
	for (i = 0; i < COMPARE_WORDS; i++)
		if (n->words[i])
			kg_str_addf(&s, "; %s: %s", words[i], meaning[i]);
	text_wrap(out, kg_str_text(&s), 0, 2, look->width);
	kg_str_deinit(&s);
}

static void verdict_line(const struct compare_counts *n, struct kg_str *out)
{
	size_t sum = n->other, i;
	bool first = true;

	for (i = 0; i < COMPARE_WORDS; i++)
		sum += n->words[i];
	if (sum == 0)
		return;
	kg_str_addf(out, "verdicts %zu =", sum);
	for (i = 0; i < COMPARE_WORDS; i++) {
		if (!n->words[i])
			continue;
		kg_str_addf(out, "%s %zu %s", first ? "" : " +", n->words[i], words[i]);
		first = false;
	}
	if (n->other)
		kg_str_addf(out, "%s %zu other", first ? "" : " +", n->other);
	kg_str_add(out, "\n");
}

void compare_text(const Kgrid__V1__CompareReply *r, const struct compare_look *look,
		  struct kg_str *out)
{
	struct compare_counts n;
	size_t i;

	compare_count(r, &n);
	for (i = 0; i < r->n_tables; i++) {
		const Kgrid__V1__CompareTable *t = r->tables[i],
					      *above = i ? r->tables[i - 1] : NULL;

		if (above && !kg_streq(cli_text(above->machine), cli_text(t->machine)))
			above = NULL;
		table_text(t, above, look, out);
		kg_str_add(out, "\n");
	}
	compare_summaries_text(r, look, out);
	if (r->n_tables > 0)
		legend(r, &n, look, out);
	effective_lists(r, look->width, out);
	for (i = 0; i < r->n_notes; i++) {
		struct kg_str s = {0};

		clean_line(&s, r->notes[i]);
		kg_str_add(out, "note: ");
		text_wrap(out, kg_str_text(&s), 6, 6, look->width);
		kg_str_deinit(&s);
	}
	verdict_line(&n, out);
	format_accounting(r->accounting ? r->accounting : r->job ? r->job->accounting : NULL, out);
	kg_str_add(out, "\n");
}
