/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/until.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/analysis/verdict.h"
#include "coordinator/analysis/verdict_shift.h"

#define LEVEL	     0.95
#define MEDIAN_BOOTS 5	   /* verdict_level(): fewer have no interval */
#define ROUNDING     1e-9  /* of a difference of two percentages */
#define BOOTS_MANY   10000 /* more do not change whether there can be an interval */
#define NAME_BYTES   110
#define PARAMS_BYTES 64

enum cell_state { CELL_NOTHING, CELL_WIDTH, CELL_WAITS, CELL_LEFT_OUT };

struct place {
	const Kgrid__V1__CompareTable *table;
	const Kgrid__V1__CompareRow *row;
	size_t column;
	bool effect; /* else the median alone */
};

struct judging {
	const struct until_question *q;
	struct until_answer *a;
	bool found;		/* the machine */
	bool without_direction; /* it has rows with values, none with a direction so far */
	struct place widest, waits, left_out; /* the first of each; table NULL: none */
	uint32_t least_boots;		      /* behind an interval */
};

/* ---- one cell ---- */

static uint32_t boots_of(const Kgrid__V1__CompareCell *c)
{
	return c->has_boots ? c->boots : 0;
}

static uint32_t pending_of(const Kgrid__V1__CompareCell *c)
{
	return c->has_pending ? c->pending : 0;
}

/* Boots there will be at most. */
static size_t possible(const Kgrid__V1__CompareCell *c)
{
	uint64_t n = (uint64_t)boots_of(c) + pending_of(c);

	return n < BOOTS_MANY ? (size_t)n : BOOTS_MANY;
}

static bool is_present(const Kgrid__V1__CompareCell *c)
{
	return c->has_present ? c->present : possible(c) > 0;
}

static bool effect_possible(const Kgrid__V1__CompareCell *base, const Kgrid__V1__CompareCell *c)
{
	size_t a = possible(base), b = possible(c);

	return a > 0 && b > 0 && verdict_shift_place(a, b, LEVEL) >= 1;
}

/* Width of the effect's interval. */
static enum cell_state judge_effect(const Kgrid__V1__CompareCell *base,
				    const Kgrid__V1__CompareCell *c, double *ret_width)
{
	double width = c->has_delta_lo_pct && c->has_delta_hi_pct
			       ? c->delta_hi_pct - c->delta_lo_pct
			       : NAN;

	if (c->has_delta_pct && isfinite(width)) {
		*ret_width = fabs(width);
		return CELL_WIDTH;
	}
	/* tested, and no percentage: the baseline's median is 0 */
	if (c->has_p && !c->has_delta_pct)
		return CELL_LEFT_OUT;
	return pending_of(base) || pending_of(c) ? CELL_WAITS : CELL_LEFT_OUT;
}

static enum cell_state judge_median(const Kgrid__V1__CompareCell *c, double *ret_width)
{
	double width = c->has_value && c->has_value_lo && c->has_value_hi
			       ? fabs(c->value_hi - c->value_lo)
			       : NAN;

	if (possible(c) < MEDIAN_BOOTS)
		return CELL_LEFT_OUT;
	if (isfinite(width) && isfinite(c->value) && (c->value != 0 || width == 0)) {
		*ret_width = width > 0 ? 100 * width / fabs(c->value) : 0;
		if (isfinite(*ret_width))
			return CELL_WIDTH;
	}
	if (isfinite(width) && c->value == 0)
		return CELL_LEFT_OUT; /* no percentage of 0 */
	return pending_of(c) ? CELL_WAITS : CELL_LEFT_OUT;
}

static void note_boots(struct judging *j, const Kgrid__V1__CompareCell *c)
{
	if (boots_of(c) < j->least_boots)
		j->least_boots = boots_of(c);
}

static void count(struct judging *j, const struct place *at, enum cell_state state, double width)
{
	switch (state) {
	case CELL_NOTHING:
		return;
	case CELL_LEFT_OUT:
		j->a->left_out++;
		if (!j->left_out.table)
			j->left_out = *at;
		return;
	case CELL_WAITS:
		j->a->cells++;
		j->a->waiting++;
		if (!j->waits.table)
			j->waits = *at;
		return;
	case CELL_WIDTH:
		break;
	}
	j->a->cells++;
	note_boots(j, at->row->cells[at->column]);
	if (at->effect)
		note_boots(j, at->row->cells[0]);
	if (!j->widest.table || width > j->a->widest_pct) {
		j->widest = *at;
		j->a->widest_pct = width;
	}
}

/* ---- rows ---- */

/* Whether the column's effect counts, or is waited for. */
static bool judge_column(struct judging *j, const struct place *at)
{
	const Kgrid__V1__CompareCell *base = at->row->cells[0], *c = at->row->cells[at->column];
	bool effect = is_present(base) && effect_possible(base, c);
	struct place here = *at;
	double width = 0;
	enum cell_state state;

	here.effect = effect;
	state = effect ? judge_effect(base, c, &width) : judge_median(c, &width);
	count(j, &here, state, width);
	return effect && state != CELL_LEFT_OUT;
}

static void judge_row(struct judging *j, const Kgrid__V1__CompareTable *t,
		      const Kgrid__V1__CompareRow *r)
{
	struct place at = {.table = t, .row = r};
	bool effects = false;
	double width = 0;

	for (at.column = 1; at.column < r->n_cells; at.column++) {
		if (is_present(r->cells[at.column]) && judge_column(j, &at))
			effects = true;
	}
	at.column = 0;
	if (r->n_cells && is_present(r->cells[0]) && !effects) {
		enum cell_state state = judge_median(r->cells[0], &width);

		count(j, &at, state, width);
	}
}

/* Rows that have no value of any metric stand in the first table, whatever that one's metric is. */
static void judge_empty_row(struct judging *j, const Kgrid__V1__CompareTable *t,
			    const Kgrid__V1__CompareRow *r)
{
	struct place at = {.table = t, .row = r};

	for (size_t i = 0; i < r->n_cells; i++) {
		const Kgrid__V1__CompareCell *c = r->cells[i];

		at.column = i;
		if (is_present(c))
			count(j, &at, pending_of(c) ? CELL_WAITS : CELL_LEFT_OUT, 0);
	}
}

static bool has_values(const Kgrid__V1__CompareRow *r)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		if (boots_of(r->cells[i]))
			return true;
	}
	return false;
}

static void judge_table(struct judging *j, const Kgrid__V1__CompareTable *t)
{
	bool directed = verdict_direction(t->direction) != VERDICT_NO_DIRECTION;

	for (size_t i = 0; i < t->n_rows; i++) {
		const Kgrid__V1__CompareRow *r = t->rows[i];

		if (!has_values(r))
			judge_empty_row(j, t, r);
		else if (directed)
			judge_row(j, t, r);
		else
			j->without_direction = true;
	}
}

/* ---- text ---- */

/* Cut to `max` bytes, not within a character, with an ellipsis. */
static void cut(char *text, size_t max)
{
	size_t n = strlen(text);

	if (n <= max)
		return;
	n = max - 3;
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	memcpy(&text[n], "...", 4);
}

__attribute__((format(printf, 2, 3))) static void say(struct until_answer *a, const char *fmt, ...)
{
	char whole[1024];
	size_t n = strlen(a->text);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(whole, sizeof(whole), fmt, ap);
	va_end(ap);
	if (n + 4 >= sizeof(a->text))
		return;
	cut(whole, sizeof(a->text) - 1 - n);
	memcpy(&a->text[n], whole, strlen(whole) + 1);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void name_column(const struct place *at, size_t column, char *ret, size_t size)
{
	const Kgrid__V1__CompareColumn *c =
		column < at->table->n_columns ? at->table->columns[column] : NULL;

	(void)snprintf(ret, size, "%s/%s", c ? or_empty(c->kernel) : "", c ? or_empty(c->lsm) : "");
}

/* "netperf size=64 throughput, 6.12/nt against 6.1/prev" */
static void name_place(const struct place *at, char *ret, size_t size)
{
	const char *metric = has_values(at->row) ? or_empty(at->table->metric) : "";
	char columns[2][96], params[256];

	(void)snprintf(params, sizeof(params), "%s", or_empty(at->row->params));
	cut(params, PARAMS_BYTES);
	name_column(at, at->column, columns[0], sizeof(columns[0]));
	name_column(at, 0, columns[1], sizeof(columns[1]));
	(void)snprintf(ret, size, "%s%s%s%s%s, %s%s%s", or_empty(at->table->workload),
		       params[0] ? " " : "", params, metric[0] ? " " : "", metric, columns[0],
		       at->effect ? " against " : "", at->effect ? columns[1] : "");
	cut(ret, NAME_BYTES);
}

/* Two percentages with as many digits as tell them apart. */
static void percents(double a, double b, char *ret_a, char *ret_b, size_t size)
{
	for (int digits = 2; digits <= 9; digits++) {
		(void)snprintf(ret_a, size, "%.*g", a < 100 ? digits : 15, a < 100 ? a : round(a));
		(void)snprintf(ret_b, size, "%.*g", b < 100 ? digits : 15, b < 100 ? b : round(b));
		if (a == b || strcmp(ret_a, ret_b) != 0)
			return;
	}
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static void say_widest(const struct judging *j)
{
	const struct until_question *q = j->q;
	char name[512], widest[32], pct[32];
	struct until_answer *a = j->a;
	bool last = q->blocks_max && q->blocks_done >= q->blocks_max;

	name_place(&j->widest, name, sizeof(name));
	percents(a->widest_pct, q->pct, widest, pct, sizeof(pct));
	say(a, "after %s%u block%s the widest 95 %% interval is %s %% (%s), 'until' asks for %s %%",
	    last ? "all " : "", q->blocks_done, plural(q->blocks_done), widest, name, pct);
	if (!a->stop && q->blocks_done < q->blocks_min && a->widest_pct <= q->pct && a->judged)
		say(a, " after at least %u blocks", q->blocks_min);
	if (a->stop && !last && j->least_boots < VERDICT_GATE_BOOTS)
		say(a,
		    "; stopped early with %u boots a side: below %d false alarms are more frequent "
		    "than they look",
		    j->least_boots, VERDICT_GATE_BOOTS);
}

static void say_waiting(const struct judging *j)
{
	struct until_answer *a = j->a;
	char name[512];

	name_place(&j->waits, name, sizeof(name));
	say(a, "after %u block%s %u of %u cells %s no 95 %% interval yet, as %s", j->q->blocks_done,
	    plural(j->q->blocks_done), a->waiting, a->cells, a->waiting == 1 ? "has" : "have",
	    name);
	if (kg_streq(j->waits.row->cells[j->waits.column]->verdict,
		     verdict_name(VERDICT_INCOMPARABLE)))
		say(a, ", which is incomparable");
}

static void say_nothing(const struct judging *j)
{
	const struct until_question *q = j->q;

	if (!j->found)
		say(j->a, "'until' cannot be judged: the job has no result of machine '%s'",
		    or_empty(q->machine));
	else if (j->a->left_out)
		say(j->a, "'until' cannot be judged: no cell can have an interval");
	else if (j->without_direction)
		say(j->a, "'until' cannot be judged: no metric has a direction");
	else
		say(j->a, "'until' cannot be judged: nothing was measured on '%s'",
		    or_empty(q->machine));
}

static void say_all(const struct judging *j)
{
	char name[512];

	if (j->a->waiting)
		say_waiting(j);
	else if (j->widest.table)
		say_widest(j);
	else
		say_nothing(j);
	if (!j->a->left_out)
		return;
	name_place(&j->left_out, name, sizeof(name));
	say(j->a, "; left out: %s", name);
	if (j->a->left_out > 1)
		say(j->a, " and %u more", j->a->left_out - 1);
}

void until_judge(const struct until_question *q, struct until_answer *ret)
{
	struct judging j = {.q = q, .a = ret, .least_boots = UINT32_MAX};

	*ret = (struct until_answer){0};
	for (size_t i = 0; i < q->compare->n_tables; i++) {
		if (!kg_streq(q->compare->tables[i]->machine, q->machine))
			continue;
		j.found = true;
		judge_table(&j, q->compare->tables[i]);
	}
	ret->judged = ret->cells > 0 && ret->waiting == 0;
	/* an unknown limit (not a number) is never met */
	ret->stop = ret->judged && q->pct > 0 && ret->widest_pct <= q->pct * (1 + ROUNDING) &&
		    q->blocks_done >= q->blocks_min;
	say_all(&j);
}
