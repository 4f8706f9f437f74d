/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plan_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/width.h"

/* `text` made safe, wrapped behind what the line begins with. */
static void wrapped(struct kg_str *out, const char *begin, const char *text, size_t width)
{
	struct kg_str s = {0};

	text_clean(&s, text, strlen(text), false);
	kg_str_add(out, begin);
	text_wrap(out, kg_str_text(&s), strlen(begin), strlen(begin), width);
	kg_str_deinit(&s);
}

static void axes(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out)
{
	struct table *t = table_new("lrl");
	struct kg_str s = {0};
	size_t i, k;

	for (i = 0; i < p->n_axes; i++) {
		const Kgrid__V1__PlannedAxis *a = p->axes[i];

		kg_str_clear(&s);
		for (k = 0; k < a->n_values; k++)
			kg_str_addf(&s, "%s%s", k ? ", " : "",
				    a->values[k][0] ? a->values[k] : "(none)");
		if (a->unit && a->unit[0] && k > 0)
			kg_str_addf(&s, " %s", a->unit);
		table_cell(t, a->name);
		table_cellf(t, "%zu", a->n_values);
		table_cell(t, kg_str_text(&s));
	}
	if (p->n_axes > 0) {
		kg_str_add(out, "axes:\n");
		table_render(t, 2, look->width, look->color, out);
	}
	table_free(t);
	kg_str_deinit(&s);
}

/* Blocks of the plan: the last that a boot has. 0: not known. */
static uint64_t blocks_of(const Kgrid__V1__Plan *p, uint64_t cells)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < p->n_boots; i++)
		most = p->boots[i]->block > most ? p->boots[i]->block : most;
	if (most == 0 && cells > 0 && p->slots % cells == 0)
		most = p->slots / cells;
	return most;
}

/* "1 cell", "4 cells" */
static void count(struct kg_str *s, const char *before, uint64_t n, const char *what)
{
	kg_str_addf(s, "%s%" PRIu64 " %s%s", before, n, what, n == 1 ? "" : "s");
}

static void minus(struct kg_str *s, uint64_t n, const char *what)
{
	if (n > 0)
		kg_str_addf(s, " - %" PRIu64 " %s", n, what);
}

/* The boots that are listed may be only the first ones. */
static bool all_listed(const Kgrid__V1__Plan *p)
{
	uint64_t boots = 0;
	size_t i;

	for (i = 0; i < p->n_machines; i++)
		boots += p->machines[i]->boots;
	return boots <= p->n_boots;
}

/* "160 of the full product - 40 excluded ... = 96 cells; 92 cells x 5 blocks + 20 ... = 480 slots" */
static void sums(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out)
{
	uint64_t less = p->excluded + p->duplicates + p->merged + p->left_by_pairwise;
	uint64_t cells = p->full_cells - less, blocks;
	struct kg_str s = {0};

	if (!p->has_full_cells)
		return;
	kg_str_addf(&s, "%" PRIu64 " of the full product", p->full_cells);
	minus(&s, p->excluded, "excluded");
	minus(&s, p->duplicates, "written twice");
	minus(&s, p->merged, "with the same list as another");
	minus(&s, p->left_by_pairwise, "left out by pairwise");
	if (less > p->full_cells || p->cells < cells) {
		count(&s, " = ", p->cells, "cell");
		kg_str_add(&s, " (does not add up)");
	} else {
		count(&s, " = ", cells, "cell");
		if (p->cells > cells)
			kg_str_addf(&s, ", + %" PRIu64 " of the canary", p->cells - cells);
		blocks = all_listed(p) ? blocks_of(p, cells) : 0;
		if (blocks > 0 && p->slots >= cells * blocks) {
			kg_str_addf(&s, "; %" PRIu64, cells);
			count(&s, " x ", blocks, "block");
			if (p->slots > cells * blocks)
				kg_str_addf(&s, " + %" PRIu64 " of the canary",
					    p->slots - cells * blocks);
			count(&s, " = ", p->slots, "slot");
		}
	}
	wrapped(out, "cells: ", kg_str_text(&s), look->width);
	kg_str_deinit(&s);
}

struct time_range {
	uint64_t least, most; /* seconds */
};

static struct time_range range_of(const Kgrid__V1__PlannedMachine *m)
{
	bool open = m->has_seconds_least && m->seconds_least < m->seconds;

	return (struct time_range){open ? m->seconds_least : m->seconds, m->seconds};
}

/* The machines work side by side: the job takes as long as the slowest, which at its soonest may be
 * another one than at its latest. */
static struct time_range whole_range(const Kgrid__V1__Plan *p)
{
	struct time_range all = {0, 0};
	size_t i;

	for (i = 0; i < p->n_machines; i++) {
		struct time_range r = range_of(p->machines[i]);

		all.least = r.least > all.least ? r.least : all.least;
		all.most = r.most > all.most ? r.most : all.most;
	}
	return all;
}

/* "24 min 36 s", or "24 min 36 s to 49 min 12 s" where the stop rule may end it sooner */
static void add_range(struct kg_str *out, struct time_range r)
{
	char time[FORMAT_SIZE];

	if (r.least < r.most)
		kg_str_addf(out, "%s to ", format_seconds(r.least, time));
	kg_str_add(out, format_seconds(r.most, time));
}

static void machines(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out)
{
	static const char *const titles[] = {"MACHINE", "BOOTS", "SLOTS", "ESTIMATE", "RESTS ON"};
	struct time_range all = whole_range(p);
	struct kg_str time = {0};
	bool rests = false;
	struct table *t;
	size_t i;

	for (i = 0; i < p->n_machines; i++)
		rests = rests || (p->machines[i]->estimate && p->machines[i]->estimate[0]);
	t = table_new(rests ? "lrrll" : "lrrl");
	for (i = 0; i < (rests ? 5 : 4); i++)
		table_title(t, titles[i]);
	for (i = 0; i < p->n_machines; i++) {
		const Kgrid__V1__PlannedMachine *m = p->machines[i];

		table_cell(t, m->machine);
		table_cellf(t, "%" PRIu32, m->boots);
		table_cellf(t, "%" PRIu32, m->slots);
		kg_str_clear(&time);
		add_range(&time, range_of(m));
		table_cell(t, m->has_seconds ? kg_str_text(&time) : "not known");
		if (rests)
			table_cell(t, m->estimate);
	}
	count(out, "plan: ", p->cells, "cell");
	count(out, ", ", p->slots, "slot");
	if (p->order && p->order[0])
		kg_str_addf(out, ", %s", p->order);
	if (all.most) {
		kg_str_add(out, ", about ");
		add_range(out, all);
	}
	if (p->has_seed)
		kg_str_addf(out, " (seed %" PRIu64 ")", p->seed);
	kg_str_add(out, "\n");
	if (p->n_machines > 0)
		table_render(t, 2, look->width, false, out);
	table_free(t);
	kg_str_deinit(&time);
}

/* "1.2 % with 5 boots a side (CoV between boots 0.4 % from 24 boots)" */
static void detectable(const Kgrid__V1__PlannedDetect *d, struct kg_str *out)
{
	if (!d->has_detectable_pct || !isfinite(d->detectable_pct)) {
		kg_str_addf(out, "not known%s%s", d->note && d->note[0] ? ": " : "",
			    cli_text(d->note));
		return;
	}
	kg_str_addf(out, "%.*f %%", d->detectable_pct < 1 ? 2 : 1, d->detectable_pct);
	if (d->has_boots)
		kg_str_addf(out, " with %" PRIu32 " boot%s a side", d->boots,
			    d->boots == 1 ? "" : "s");
	if (d->has_between_cov_pct && isfinite(d->between_cov_pct)) {
		kg_str_addf(out, " (CoV between boots %.*f %%", d->between_cov_pct < 1 ? 2 : 1,
			    d->between_cov_pct);
		if (d->has_history_boots)
			kg_str_addf(out, " from %" PRIu32 " boots", d->history_boots);
		kg_str_add(out, ")");
	}
	if (d->note && d->note[0])
		kg_str_addf(out, "; %s", d->note);
}

/* Whether all rows say the same. */
static bool all_alike(const Kgrid__V1__Plan *p)
{
	struct kg_str a = {0}, b = {0};
	bool alike = true;
	size_t i;

	for (i = 0; i < p->n_detect && alike; i++) {
		kg_str_clear(&b);
		detectable(p->detect[i], &b);
		if (i == 0)
			kg_str_add(&a, kg_str_text(&b));
		alike = strcmp(kg_str_text(&a), kg_str_text(&b)) == 0;
	}
	kg_str_deinit(&a);
	kg_str_deinit(&b);
	return alike;
}

static void detect(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out)
{
	static const char what[] = "smallest change that it can detect (80 % power, alpha 0.01): ";
	static const char *const titles[] = {"MACHINE", "WORKLOAD", "METRIC", "CHANGE"};
	struct table *t = table_new("llll");
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < p->n_detect; i++) {
		const Kgrid__V1__PlannedDetect *d = p->detect[i];

		table_cell(t, d->machine);
		kg_str_clear(&s);
		kg_str_addf(&s, "%s%s%s", cli_text(d->workload),
			    d->params && d->params[0] ? " " : "", cli_text(d->params));
		table_cell(t, kg_str_text(&s));
		table_cell(t, d->metric && d->metric[0] ? d->metric : "-");
		kg_str_clear(&s);
		detectable(d, &s);
		table_cell(t, kg_str_text(&s));
	}
	if (p->n_detect > 0 && all_alike(p)) {
		struct kg_str line = {0};

		kg_str_addf(&line, "%s%s", what, kg_str_text(&s));
		text_wrap(out, kg_str_text(&line), 0, 2, look->width);
		kg_str_deinit(&line);
	} else if (p->n_detect > 0) {
		text_wrap(out, what, 0, 2, look->width);
		table_render(t, 2, look->width, look->color, out);
	}
	table_free(t);
	kg_str_deinit(&s);
}

static void warnings(const Kgrid__V1__Plan *p, size_t width, struct kg_str *out)
{
	size_t i, k;

	for (i = 0; i < p->n_warnings; i++) {
		for (k = 0; k < i; k++)
			if (strcmp(p->warnings[k], p->warnings[i]) == 0)
				break;
		if (k == i)
			wrapped(out, "warning: ", p->warnings[i], width);
	}
}

static void infeasible(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out)
{
	struct table *t = table_new("lrl");
	uint64_t slots = 0;
	size_t i;

	table_title(t, "CELL");
	table_title(t, "SLOTS");
	table_title(t, "REASON");
	for (i = 0; i < p->n_infeasible; i++) {
		slots += p->infeasible[i]->slots;
		if (i >= PLAN_FAULTS_SHOWN && !look->all_boots)
			continue;
		table_cell(t, p->infeasible[i]->cell);
		table_cellf(t, "%" PRIu64, p->infeasible[i]->slots);
		table_cell(t, p->infeasible[i]->reason);
	}
	if (p->n_infeasible > 0) {
		count(out, "cannot run: ", slots, "slot");
		kg_str_add(out, "\n");
		table_render(t, 2, look->width, look->color, out);
	}
	if (table_rows(t) < p->n_infeasible)
		kg_str_addf(out, "  ... and %zu more cells; --json lists them\n",
			    p->n_infeasible - table_rows(t));
	table_free(t);
}

void plan_text(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out)
{
	if (look->dry_run) {
		axes(p, look, out);
		sums(p, look, out);
	}
	machines(p, look, out);
	if (p->stop_rule && p->stop_rule[0])
		wrapped(out, "stop rule: ", p->stop_rule, look->width);
	if (look->dry_run) {
		detect(p, look, out);
		plan_boots_text(p, look, out);
	}
	if (look->cells)
		plan_cells_text(p, look, out);
	infeasible(p, look, out);
	warnings(p, look->width, out);
	if (p->slots == 0)
		kg_str_add(out, "nothing to run\n");
}

void plan_explanation_text(const Kgrid__V1__Plan *p, size_t width, struct kg_str *out)
{
	size_t i;

	for (i = 0; i < p->n_explanation; i++) {
		struct kg_str safe = {0};
		size_t indent;

		text_clean(&safe, p->explanation[i], strlen(p->explanation[i]), false);
		indent = strspn(kg_str_text(&safe), " ");
		kg_str_addf(out, "%*s", (int)indent, "");
		text_wrap(out, kg_str_text(&safe) + indent, indent, indent + 4, width);
		kg_str_deinit(&safe);
	}
}
