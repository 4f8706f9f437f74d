/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/regressions_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare_cell.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/width.h"

bool regression_is_open(const Kgrid__V1__Regression *r)
{
	return !kg_streq(r->state, "fixed") && !kg_streq(r->state, "acknowledged") &&
	       !kg_streq(r->stage, "refuted");
}

static void boundary(const Kgrid__V1__Regression *r, struct kg_str *out)
{
	kg_str_addf(out, "%s %s -> %s", cli_text(r->axis), cli_text(r->from), cli_text(r->to));
}

/* How many different machines (or parameters of workloads) the members have. */
static size_t distinct(const Kgrid__V1__Regression *r, bool machines)
{
	size_t n = 0, i, k;

	for (i = 0; i < r->n_members; i++) {
		const Kgrid__V1__RegressionMember *a = r->members[i];

		for (k = 0; k < i; k++) {
			const Kgrid__V1__RegressionMember *b = r->members[k];

			if (machines ? kg_streq(a->machine, b->machine)
				     : kg_streq(a->workload, b->workload) &&
					       kg_streq(a->params, b->params))
				break;
		}
		n += k == i;
	}
	return n;
}

static enum table_style state_style(const Kgrid__V1__Regression *r)
{
	if (!regression_is_open(r))
		return TABLE_DIM;
	return kg_streq(r->stage, "confirmed") ? TABLE_BAD : TABLE_PLAIN;
}

static void count_cell(struct table *t, const Kgrid__V1__Regression *r, bool machines)
{
	if (r->n_members)
		table_cellf(t, "%zu", distinct(r, machines));
	else
		table_cell(t, "-");
}

/* `wide`: times to the minute, and the worst effect on the same line. */
static void list_row(struct table *t, const Kgrid__V1__Regression *r, bool wide)
{
	struct kg_str s = {0};
	char time[FORMAT_SIZE];
	int digits = wide ? 16 : 10;

	boundary(r, &s);
	table_cellf(t, "%" PRIu64, r->id);
	table_cell(t, kg_str_text(&s));
	table_styled(t, state_style(r), r->state);
	table_styled(t, state_style(r), r->stage);
	count_cell(t, r, true);
	count_cell(t, r, false);
	table_cellf(t, "%" PRIu32, r->seen);
	table_cellf(t, "%.*s", digits, format_time(r->first_ns, time));
	table_cellf(t, "%.*s", digits, format_time(r->last_ns, time));
	if (r->confirm_job)
		table_cellf(t, "job %" PRIu64, r->confirm_job);
	else
		table_cell(t, "-");
	if (wide)
		table_cell(t, r->worst && r->worst[0] ? r->worst : "-");
	kg_str_deinit(&s);
}

static struct table *list_table(size_t n, Kgrid__V1__Regression *const *list, bool wide)
{
	static const char *const titles[] = {"ID",	 "BOUNDARY", "STATE",	    "STAGE",
					     "MACHINES", "PARAMS",   "JOBS",	    "FIRST",
					     "LAST",	 "CONFIRM",  "WORST [95 %]"};
	struct table *t = table_new(wide ? "rlllrrrllll" : "rlllrrrlll");
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < n; i++)
		list_row(t, list[i], wide);
	return t;
}

void regressions_text(size_t n, Kgrid__V1__Regression *const *list, size_t width, bool color,
		      struct kg_str *out)
{
	struct table *t = list_table(n, list, true), *worst = table_new("rl");
	bool wide = table_width(t) <= width;
	size_t i;

	if (!wide) {
		table_free(t);
		t = list_table(n, list, false);
	}
	table_render(t, 0, width, color, out);
	table_title(worst, "ID");
	table_title(worst, "WORST [95 %]");
	for (i = 0; i < n && !wide; i++) {
		table_cellf(worst, "%" PRIu64, list[i]->id);
		table_cell(worst, list[i]->worst && list[i]->worst[0] ? list[i]->worst : "-");
	}
	if (!wide) {
		kg_str_add(out, "\n");
		table_render(worst, 0, width, color, out);
	}
	table_free(worst);
	table_free(t);
}

static void facts(const Kgrid__V1__Regression *r, size_t width, struct kg_str *out)
{
	struct table *t = table_new("ll");
	struct kg_str s = {0};
	char time[FORMAT_SIZE];

	table_cell(t, "regression");
	table_cellf(t, "%" PRIu64, r->id);
	boundary(r, &s);
	table_pair(t, "boundary", kg_str_text(&s));
	table_cell(t, "state");
	table_cellf(t, "%s, %s", cli_text(r->state), cli_text(r->stage));
	table_pair(t, "worst", r->worst && r->worst[0] ? r->worst : "-");
	table_pair(t, "first seen", format_time(r->first_ns, time));
	table_pair(t, "last seen", format_time(r->last_ns, time));
	table_cell(t, "shown by");
	table_cellf(t, "%" PRIu32 " job%s", r->seen, r->seen == 1 ? "" : "s");
	table_cell(t, "confirmation");
	if (r->confirm_job)
		table_cellf(t, "job %" PRIu64, r->confirm_job);
	else
		table_cell(t, "none was scheduled");
	table_render(t, 0, width, false, out);
	table_free(t);
	kg_str_deinit(&s);
}

static void value_cell(struct table *t, bool has, double v, int decimals)
{
	if (has && isfinite(v))
		table_cellf(t, "%.*f", decimals, v);
	else
		table_cell(t, "-");
}

static void probability_cell(struct table *t, bool has, double v)
{
	char buf[64];

	if (has && isfinite(v))
		(void)probability_text(buf, sizeof(buf), v);
	table_cell(t, has && isfinite(v) ? buf : "-");
}

static void effect_cell(struct table *t, const Kgrid__V1__RegressionMember *m)
{
	struct kg_str s = {0};
	char buf[64];

	if (m->has_effect_pct && isfinite(m->effect_pct)) {
		(void)percent_text(buf, sizeof(buf), true, m->effect_pct);
		kg_str_addf(&s, "%s %%", buf);
		interval_text(m->has_lo_pct && m->has_hi_pct, m->lo_pct, m->hi_pct, &s);
	}
	table_styled(t, m->effect_pct < 0 ? TABLE_BAD : TABLE_GOOD, s.len ? kg_str_text(&s) : "-");
	kg_str_deinit(&s);
}

/* "confirmed (p=0.02 on lab-amd2)" */
static void stage_cell(struct table *t, const Kgrid__V1__RegressionMember *m)
{
	struct kg_str s = {0};
	char buf[64];

	kg_str_add(&s, cli_text(m->stage));
	if (m->has_confirm_p && isfinite(m->confirm_p)) {
		(void)probability_text(buf, sizeof(buf), m->confirm_p);
		kg_str_addf(&s, " (fresh blocks p=%s%s%s)", buf,
			    m->confirm_machine && m->confirm_machine[0] ? ", also on " : "",
			    cli_text(m->confirm_machine));
	}
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
}

/* `wide`: with the vendor, the column, the values and where it was seen. */
static void member_row(struct table *t, const Kgrid__V1__RegressionMember *m, bool wide)
{
	int decimals = format_decimals(fmin(fabs(m->before), fabs(m->after)));
	struct kg_str column = {0};

	format_column(m->kernel, m->lsm, &column);
	table_cellf(t, "%s%s%s", cli_text(m->machine),
		    wide && m->vendor && m->vendor[0] ? ", " : "", wide ? cli_text(m->vendor) : "");
	table_cellf(t, "%s%s%s", cli_text(m->workload), m->params && m->params[0] ? " " : "",
		    cli_text(m->params));
	table_cellf(t, "%s%s%s", cli_text(m->metric), m->unit && m->unit[0] ? " in " : "",
		    cli_text(m->unit));
	if (wide) {
		table_cell(t, kg_str_text(&column));
		value_cell(t, m->has_before, m->before, decimals);
		value_cell(t, m->has_after, m->after, decimals);
	}
	effect_cell(t, m);
	probability_cell(t, m->has_p, m->p);
	probability_cell(t, m->has_q, m->q);
	table_cellf(t, "%" PRIu32 "+%" PRIu32, m->boots_before, m->boots_after);
	if (wide && m->job)
		table_cellf(t, "%s, job %" PRIu64, cli_text(m->source), m->job);
	else if (wide)
		table_cell(t, m->source);
	stage_cell(t, m);
	kg_str_deinit(&column);
}

static struct table *member_table(const Kgrid__V1__Regression *r, bool wide)
{
	static const char *const all[] = {"MACHINE", "WORKLOAD", "METRIC",	  "COLUMN",
					  "BEFORE",  "AFTER",	 "EFFECT [95 %]", "P",
					  "Q",	     "BOOTS",	 "SOURCE",	  "STAGE"};
	static const char *const few[] = {"MACHINE", "WORKLOAD", "METRIC", "EFFECT [95 %]",
					  "P",	     "Q",	 "BOOTS",  "STAGE"};
	struct table *t = table_new(wide ? "llllrrrrrrll" : "lllrrrrl");
	size_t n = wide ? sizeof(all) / sizeof(all[0]) : sizeof(few) / sizeof(few[0]), i;

	for (i = 0; i < n; i++)
		table_title(t, wide ? all[i] : few[i]);
	for (i = 0; i < r->n_members; i++)
		member_row(t, r->members[i], wide);
	return t;
}

static void members(const Kgrid__V1__Regression *r, size_t width, bool color, struct kg_str *out)
{
	struct table *t = member_table(r, true);
	size_t needs = table_width(t) + 2;

	kg_str_add(out, "\nmembers:\n");
	if (needs > width) {
		table_free(t);
		t = member_table(r, false);
	}
	table_render(t, 2, width, color, out);
	if (needs > width)
		kg_str_addf(out, "  (--width %zu shows values and columns too)\n", needs);
	table_free(t);
}

static void events(const Kgrid__V1__Regression *r, size_t width, struct kg_str *out)
{
	struct table *t = table_new("lll");
	char time[FORMAT_SIZE];
	size_t i;

	for (i = 0; i < r->n_events; i++) {
		const Kgrid__V1__RegressionEvent *e = r->events[i];

		table_cell(t, format_time(e->time_ns, time));
		table_cell(t, e->user && e->user[0] ? e->user : "kgrid");
		table_cell(t, e->text);
	}
	kg_str_add(out, "\nevents:\n");
	table_render(t, 2, width, false, out);
	table_free(t);
}

void regression_text(const Kgrid__V1__Regression *r, size_t width, bool color, struct kg_str *out)
{
	facts(r, width, out);
	if (r->n_members > 0)
		members(r, width, color, out);
	if (r->n_events > 0)
		events(r, width, out);
}
