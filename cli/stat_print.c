/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as text, JSON and CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/stat_compare.h"
#include "cli/table.h"
#include "cli/width.h"

/* What is shown of one side. */
struct shown {
	struct stats_summary s;
	struct verdict_level level;
	bool valid;
};

static void summarise(const struct stat_cell *cell, bool interval, struct shown *ret)
{
	double *scratch;
	const double *x;

	*ret = (struct shown){0};
	if (!cell)
		return;
	scratch =
		cell->n_values == cell->boots.n ? NULL : cli_alloc(cell->boots.n, sizeof(*scratch));
	x = stat_boot_values(cell, scratch);
	ret->valid = stats_summarise(x, cell->boots.n, &ret->s, NULL) == 0;
	if (interval)
		(void)verdict_level(&cell->boots, 0.95, &ret->level, NULL);
	free(scratch);
}

/* The mean that ANALYSIS has for the direction: harmonic for rates. */
static bool is_rate(const struct stat_comparison *c, const struct stat_group *g)
{
	return stat_direction(c, g) == VERDICT_HIGHER;
}

static double mean_of(const struct shown *s, bool rate)
{
	return rate ? s->s.hmean : s->s.mean;
}

/* A harmonic mean wants values above 0: no other mean stands in under its name. */
static bool has_mean(const struct shown *s, bool rate)
{
	return s->valid && (!rate || s->s.has_hmean);
}

static const char *direction_name(enum verdict_direction d)
{
	return d == VERDICT_HIGHER ? "higher" : d == VERDICT_LOWER ? "lower" : "";
}

/* Names come from files: none of them may steer the terminal. */
static void add_name(struct kg_str *out, const char *name)
{
	text_clean(out, name, strlen(name), false);
}

static void heading(const struct stat_comparison *c, const struct stat_group *g, struct kg_str *out)
{
	enum verdict_direction direction = stat_direction(c, g);
	const char *unit = stat_unit(c, g);
	bool any = false;

	for (size_t k = 0; k < STAT_GROUP_KEYS; k++) {
		if (!g->keys[k] || !g->keys[k][0])
			continue;
		kg_str_addf(out, "%s%s ", any ? ", " : "", stat_group_key_name(k));
		add_name(out, g->keys[k]);
		any = true;
	}
	kg_str_add(out, any ? ": " : "");
	add_name(out, unit ? unit : "no unit given");
	kg_str_addf(out, "%s%s\n", direction ? ", " : ", no direction",
		    direction == VERDICT_HIGHER	 ? "higher is better"
		    : direction == VERDICT_LOWER ? "lower is better"
						 : "");
}

static void value_cell(struct table *t, double v)
{
	table_cellf(t, "%.*f", fabs(v) < 1e15 ? format_decimals(fabs(v)) : 0, v);
}

static void level_cell(struct table *t, const struct shown *s)
{
	int dec = format_decimals(fabs(s->s.median));

	if (fabs(s->s.median) >= 1e15 || (s->s.median != 0 && fabs(s->s.median) < 1e-7)) {
		table_cellf(t, "%.6g", s->s.median);
		return;
	}
	if (s->level.has_interval)
		table_cellf(t, "%.*f [%.*f, %.*f]", dec, s->s.median, dec, s->level.lo, dec,
			    s->level.hi);
	else
		table_cellf(t, "%.*f", dec, s->s.median);
}

static void percent_text(double v, char buf[32])
{
	if (fabs(v) >= 1e6)
		(void)snprintf(buf, 32, "%+.3g", v);
	else
		(void)snprintf(buf, 32, "%+.2f", v);
}

static void effect_cell(struct table *t, const struct verdict *v)
{
	char e[32], lo[32], hi[32];

	if (!v->has_effect) {
		table_cell(t, "-");
		return;
	}
	percent_text(v->effect_pct, e);
	percent_text(v->lo_pct, lo);
	percent_text(v->hi_pct, hi);
	if (v->has_interval)
		table_cellf(t, "%s %% [%s, %s]", e, lo, hi);
	else
		table_cellf(t, "%s %%", e);
}

static void p_cell(struct table *t, bool has, double p)
{
	if (!has)
		table_cell(t, "-");
	else if (p == 0)
		table_cell(t, "<1e-300");
	else if (p < 1e-4)
		table_cellf(t, "%.1e", p);
	else
		table_cellf(t, "%.4f", p);
}

static enum table_style style_of(enum verdict_word w)
{
	switch (w) {
	case VERDICT_REGRESSION:
		return TABLE_BAD;
	case VERDICT_IMPROVEMENT:
		return TABLE_GOOD;
	case VERDICT_NONE:
	case VERDICT_DIFFERENT:
	case VERDICT_SAME:
		return TABLE_PLAIN;
	case VERDICT_UNKNOWN:
	case VERDICT_UNSTABLE:
	case VERDICT_INCOMPARABLE:
		break;
	}
	return TABLE_DIM;
}

static void side_cells(struct table *t, const struct stat_comparison *c, size_t side,
		       const struct stat_cell *cell, bool rate)
{
	struct shown s;

	summarise(cell, true, &s);
	table_cell(t, c->data->sides[side].label);
	if (!s.valid) {
		for (int i = 0; i < 2; i++)
			table_cell(t, "0");
		for (int i = 0; i < 3; i++)
			table_cell(t, "-");
		return;
	}
	table_cellf(t, "%zu", cell->n_values);
	table_cellf(t, "%zu", cell->boots.n);
	level_cell(t, &s);
	if (has_mean(&s, rate))
		value_cell(t, mean_of(&s, rate));
	else
		table_cell(t, "-");
	if (s.s.has_cv)
		table_cellf(t, "%.2f %%", fabs(s.s.cv_pct));
	else
		table_cell(t, "-");
}

static void pair_row(struct table *t, const struct stat_comparison *c, const struct stat_pair *p,
		     bool rate)
{
	const struct verdict *v = &p->verdict;

	side_cells(t, c, p->candidate, p->cells[1], rate);
	effect_cell(t, v);
	p_cell(t, v->has_p, v->p);
	p_cell(t, v->has_p, v->q);
	p_cell(t, v->has_welch, v->welch_p);
	table_styled(t, style_of(v->word), verdict_name(v->word));
}

/* Sides with several modes, and why a word is no plain answer. */
static void pair_lines(const struct stat_comparison *c, const struct stat_pair *p, size_t width,
		       struct kg_str *out)
{
	const struct verdict *v = &p->verdict;
	struct kg_str line = {0};

	if (v->reason[0]) {
		add_name(&line, c->data->sides[p->candidate].label);
		kg_str_addf(&line, ": %s", v->reason);
		kg_str_add(out, "  ");
		text_wrap(out, kg_str_text(&line), 2, 4, width);
	}
	for (int i = 0; i < 2; i++) {
		if (!v->multimodal[i])
			continue;
		kg_str_add(out, "  ");
		add_name(out, c->data->sides[i ? p->candidate : p->baseline].label);
		kg_str_add(out, " has more than one mode\n");
	}
	kg_str_deinit(&line);
}

/* The pairs [from, to) of one group. */
static void group_text(const struct stat_comparison *c, size_t from, size_t to, size_t width,
		       bool color, struct kg_str *out)
{
	const struct stat_group *g = &c->data->groups[c->pairs[from].group];
	struct table *t = table_new("lrrrrrrrrrl");
	bool rate = is_rate(c, g);

	heading(c, g, out);
	table_title(t, "side");
	table_title(t, "n");
	table_title(t, "boots");
	table_title(t, "median [95 %]");
	table_title(t, rate ? "Hmean" : "Amean");
	table_title(t, "CoV");
	table_title(t, "effect [95 %]");
	table_title(t, "p");
	table_title(t, "q");
	table_title(t, "Welch p");
	table_title(t, "verdict");
	side_cells(t, c, c->baseline, c->pairs[from].cells[0], rate);
	for (int i = 0; i < 4; i++)
		table_cell(t, "");
	table_cell(t, "baseline");
	for (size_t i = from; i < to; i++)
		pair_row(t, c, &c->pairs[i], rate);
	table_render(t, 2, width, color, out);
	table_free(t);
	for (size_t i = from; i < to; i++)
		pair_lines(c, &c->pairs[i], width, out);
	kg_str_add(out, "\n");
}

static void legend(const struct stat_comparison *c, size_t width, struct kg_str *out)
{
	const struct verdict_policy *p = &c->options.policy;
	struct kg_str line = {0};
	const char *correction = p->gate || p->correction == STATS_ADJUST_HOLM ? "Holm"
				 : p->correction == STATS_ADJUST_BH ? "Benjamini-Hochberg"
								    : "no correction";

	kg_str_addf(
		&line,
		"p: Mann-Whitney over boots; q: %s over %zu comparison%s; effect: Hodges-Lehmann, "
		"positive is %s; a change: p <= %g and at least %g %%%s; Welch p beside, as "
		"information",
		correction, c->n_compared, c->n_compared == 1 ? "" : "s",
		c->options.direction || c->data->has_direction ? "better" : "more", p->alpha,
		p->min_effect_pct, p->gate ? ", as a gate" : "");
	text_wrap(out, kg_str_text(&line), 0, 0, width);
	kg_str_deinit(&line);
}

static void notes_text(const struct stat_comparison *c, size_t width, struct kg_str *out)
{
	const char *p = kg_str_text(&c->notes);

	while (*p) {
		size_t len = strcspn(p, "\n");
		struct kg_str line = {0};

		kg_str_add(&line, "note: ");
		text_clean(&line, p, len, false);
		text_wrap(out, kg_str_text(&line), 0, 6, width);
		kg_str_deinit(&line);
		p += len + (p[len] == '\n');
	}
}

void stat_print_text(const struct stat_comparison *c, size_t width, bool color, struct kg_str *out)
{
	for (size_t i = 0, j; i < c->n_pairs; i = j) {
		for (j = i; j < c->n_pairs && c->pairs[j].group == c->pairs[i].group; j++)
			;
		group_text(c, i, j, width, color, out);
	}
	legend(c, width, out);
	notes_text(c, width, out);
}

/* 12 digits: more than any of the inputs' noise, and quick for 10^5 groups. */
static void json_number(struct kg_str *out, bool has, double v)
{
	if (has && isfinite(v))
		kg_str_addf(out, "%.12g", v);
	else
		kg_str_add(out, "null");
}

static void json_two(struct kg_str *out, const char *name, bool has_a, double a, bool has_b,
		     double b)
{
	kg_str_addf(out, ", \"%s\": [", name);
	json_number(out, has_a, a);
	kg_str_add(out, ", ");
	json_number(out, has_b, b);
	kg_str_add(out, "]");
}

static void json_group(const struct stat_comparison *c, const struct stat_group *g,
		       struct kg_str *out)
{
	bool any = false;

	kg_str_add(out, "{");
	for (size_t k = 0; k < STAT_GROUP_KEYS; k++) {
		if (!c->data->has_key[k] || !g->keys[k])
			continue;
		kg_str_addf(out, "%s\"%s\": ", any ? ", " : "", stat_group_key_name(k));
		kg_str_add_json(out, g->keys[k]);
		any = true;
	}
	kg_str_add(out, "}");
}

static void json_text_or_null(struct kg_str *out, const char *text)
{
	if (text && text[0])
		kg_str_add_json(out, text);
	else
		kg_str_add(out, "null");
}

static void json_verdict(const struct verdict *v, struct kg_str *out)
{
	kg_str_addf(out, ", \"verdict\": \"%s\", \"effect_pct\": ", verdict_name(v->word));
	json_number(out, v->has_effect, v->effect_pct);
	kg_str_add(out, ", \"ci95_pct\": [");
	json_number(out, v->has_interval, v->lo_pct);
	kg_str_add(out, ", ");
	json_number(out, v->has_interval, v->hi_pct);
	kg_str_add(out, "], \"p\": ");
	json_number(out, v->has_p, v->p);
	kg_str_add(out, ", \"q\": ");
	json_number(out, v->has_p, v->q);
	kg_str_addf(out, ", \"n\": [%zu, %zu], \"boots\": [%zu, %zu], \"values\": [%zu, %zu]",
		    v->boots[0], v->boots[1], v->boots[0], v->boots[1], v->iterations[0],
		    v->iterations[1]);
	kg_str_add(out, ", \"welch_p\": ");
	json_number(out, v->has_welch, v->welch_p);
	kg_str_add(out, ", \"cliffs_delta\": ");
	json_number(out, v->has_p, v->cliffs_delta);
	kg_str_add(out, ", \"more_boots\": ");
	json_number(out, v->more_boots > 0, v->more_boots);
	kg_str_addf(out,
		    ", \"multimodal\": [%s, %s], \"reason\": ", v->multimodal[0] ? "true" : "false",
		    v->multimodal[1] ? "true" : "false");
	json_text_or_null(out, v->reason);
}

static void json_pair(const struct stat_comparison *c, const struct stat_pair *p, struct shown s[2],
		      struct kg_str *out)
{
	const struct stat_group *g = &c->data->groups[p->group];
	bool rate = is_rate(c, g);

	kg_str_add(out, "\n    {\"group\": ");
	json_group(c, g, out);
	kg_str_add(out, ", \"baseline\": ");
	kg_str_add_json(out, c->data->sides[p->baseline].label);
	kg_str_add(out, ", \"candidate\": ");
	kg_str_add_json(out, c->data->sides[p->candidate].label);
	json_verdict(&p->verdict, out);
	kg_str_add(out, ", \"unit\": ");
	json_text_or_null(out, stat_unit(c, g));
	kg_str_add(out, ", \"direction\": ");
	json_text_or_null(out, direction_name(stat_direction(c, g)));
	json_two(out, "median", s[0].valid, s[0].s.median, s[1].valid, s[1].s.median);
	json_two(out, rate ? "hmean" : "amean", has_mean(&s[0], rate), mean_of(&s[0], rate),
		 has_mean(&s[1], rate), mean_of(&s[1], rate));
	kg_str_add(out, ", \"cov_pct\": [");
	json_number(out, s[0].s.has_cv, fabs(s[0].s.cv_pct));
	kg_str_add(out, ", ");
	json_number(out, s[1].s.has_cv, fabs(s[1].s.cv_pct));
	kg_str_add(out, "]}");
}

void stat_print_json(const struct stat_comparison *c, struct kg_str *out)
{
	const char *p = kg_str_text(&c->notes);
	const struct stat_cell *last = NULL;
	struct shown s[2] = {0};
	bool first = true;

	kg_str_add(out, "{\n  \"comparisons\": [");
	for (size_t i = 0; i < c->n_pairs; i++) {
		kg_str_add(out, i ? "," : "");
		if (c->pairs[i].cells[0] != last || i == 0)
			summarise(c->pairs[i].cells[0], false, &s[0]);
		last = c->pairs[i].cells[0];
		summarise(c->pairs[i].cells[1], false, &s[1]);
		json_pair(c, &c->pairs[i], s, out);
	}
	kg_str_add(out, "\n  ],\n  \"notes\": [");
	for (; *p; first = false) {
		size_t len = strcspn(p, "\n");
		struct kg_str line = {0};

		kg_str_addn(&line, p, len);
		kg_str_add(out, first ? "\n    " : ",\n    ");
		kg_str_add_json(out, kg_str_text(&line));
		kg_str_deinit(&line);
		p += len + (p[len] == '\n');
	}
	kg_str_add(out, "\n  ]\n}\n");
}

static void csv_number_or_empty(struct kg_str *out, bool has, double v)
{
	kg_str_add(out, ",");
	if (has && isfinite(v))
		kg_str_addf(out, "%.12g", v);
}

static void csv_pair(const struct stat_comparison *c, const struct stat_pair *p, struct kg_str *out)
{
	const struct stat_group *g = &c->data->groups[p->group];
	const struct verdict *v = &p->verdict;
	struct shown s[2];

	for (size_t k = 0; k < STAT_GROUP_KEYS; k++) {
		csv_text(out, cli_text(g->keys[k]));
		kg_str_add(out, ",");
	}
	csv_text(out, cli_text(stat_unit(c, g)));
	kg_str_addf(out, ",%s,", direction_name(stat_direction(c, g)));
	csv_text(out, c->data->sides[p->baseline].label);
	kg_str_add(out, ",");
	csv_text(out, c->data->sides[p->candidate].label);
	kg_str_addf(out, ",%s", verdict_name(v->word));
	csv_number_or_empty(out, v->has_effect, v->effect_pct);
	csv_number_or_empty(out, v->has_interval, v->lo_pct);
	csv_number_or_empty(out, v->has_interval, v->hi_pct);
	csv_number_or_empty(out, v->has_p, v->p);
	csv_number_or_empty(out, v->has_p, v->q);
	csv_number_or_empty(out, v->has_welch, v->welch_p);
	kg_str_addf(out, ",%zu,%zu,%zu,%zu", v->boots[0], v->boots[1], v->iterations[0],
		    v->iterations[1]);
	for (int i = 0; i < 2; i++)
		summarise(p->cells[i], false, &s[i]);
	csv_number_or_empty(out, s[0].valid, s[0].s.median);
	csv_number_or_empty(out, s[1].valid, s[1].s.median);
	csv_number_or_empty(out, has_mean(&s[0], is_rate(c, g)), mean_of(&s[0], is_rate(c, g)));
	csv_number_or_empty(out, has_mean(&s[1], is_rate(c, g)), mean_of(&s[1], is_rate(c, g)));
	kg_str_add(out, ",");
	csv_text(out, v->reason);
	kg_str_add(out, "\n");
}

void stat_print_csv(const struct stat_comparison *c, struct kg_str *out)
{
	for (size_t k = 0; k < STAT_GROUP_KEYS; k++)
		kg_str_addf(out, "%s,", stat_group_key_name(k));
	kg_str_add(out,
		   "unit,direction,baseline,candidate,verdict,effect_pct,lo_pct,hi_pct,p,q,welch_p,"
		   "baseline_boots,candidate_boots,baseline_values,candidate_values,"
		   "baseline_median,candidate_median,baseline_mean,candidate_mean,reason\n");
	for (size_t i = 0; i < c->n_pairs; i++)
		csv_pair(c, &c->pairs[i], out);
}
