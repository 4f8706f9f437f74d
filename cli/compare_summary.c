/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What vendors and microarchitectures have in common, and how effects differ between them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare_cell.h"
#include "cli/compare_text.h"
#include "cli/format.h"
#include "cli/params.h"
#include "cli/width.h"

static bool same_column(const Kgrid__V1__CompareColumn *a, const Kgrid__V1__CompareColumn *b)
{
	if (!a || !b)
		return a == b;
	return kg_streq(cli_text(a->kernel), cli_text(b->kernel)) &&
	       kg_streq(cli_text(a->lsm), cli_text(b->lsm));
}

/* Whether two summaries stand in one table. */
static bool same_table(const Kgrid__V1__CompareSummary *a, const Kgrid__V1__CompareSummary *b)
{
	return kg_streq(cli_text(a->kind), cli_text(b->kind)) &&
	       kg_streq(cli_text(a->name), cli_text(b->name)) &&
	       kg_streq(cli_text(a->workload), cli_text(b->workload)) &&
	       kg_streq(cli_text(a->metric), cli_text(b->metric));
}

static void column_text(const Kgrid__V1__CompareColumn *c, struct kg_str *out)
{
	if (c)
		format_column(c->kernel, c->lsm, out);
	else
		kg_str_add(out, "-");
}

static void heading(const Kgrid__V1__CompareSummary *s, const char *common, size_t width,
		    struct kg_str *out)
{
	struct kg_str text = {0}, safe = {0};

	if (kg_streq(s->kind, "all"))
		kg_str_add(&text, "all machines: ");
	else
		kg_str_addf(&text, "%s %s: ", cli_text(s->kind), cli_text(s->name));
	kg_str_addf(&text, "%s%s%s, %s", cli_text(s->workload), common[0] ? " " : "", common,
		    cli_text(s->metric));
	text_clean(&safe, kg_str_text(&text), text.len, false);
	text_wrap(out, kg_str_text(&safe), 0, 4, width);
	kg_str_deinit(&safe);
	kg_str_deinit(&text);
}

static enum table_style style_of(const Kgrid__V1__CompareSummary *s)
{
	if (!s->has_lo_pct || !s->has_hi_pct)
		return TABLE_PLAIN;
	return s->hi_pct < 0 ? TABLE_BAD : s->lo_pct > 0 ? TABLE_GOOD : TABLE_PLAIN;
}

static void effect_cells(struct table *t, const Kgrid__V1__CompareSummary *s)
{
	char buf[64];
	struct kg_str text = {0};

	if (s->has_effect_pct && isfinite(s->effect_pct)) {
		(void)percent_text(buf, sizeof(buf), true, s->effect_pct);
		kg_str_addf(&text, "%s %%", buf);
		interval_text(s->has_lo_pct && s->has_hi_pct, s->lo_pct, s->hi_pct, &text);
	} else {
		kg_str_add(&text, "-");
	}
	table_styled(t, style_of(s), kg_str_text(&text));
	table_cellf(t, "%" PRIu32, s->machines);
	kg_str_clear(&text);
	if (s->has_i2_pct && isfinite(s->i2_pct))
		kg_str_addf(&text, "%.0f %%", s->i2_pct);
	if (s->has_heterogeneity_p && isfinite(s->heterogeneity_p)) {
		(void)probability_text(buf, sizeof(buf), s->heterogeneity_p);
		kg_str_addf(&text, "%s(p=%s)", text.len ? " " : "", buf);
	}
	table_cell(t, text.len ? kg_str_text(&text) : "-");
	kg_str_deinit(&text);
}

static void add_row(struct table *t, const Kgrid__V1__CompareSummary *s, const struct params *p,
		    size_t row, struct footnotes *notes)
{
	struct kg_str text = {0};
	size_t i;

	for (i = 0; i < params_columns(p); i++)
		table_cell(t, params_value(p, row, i));
	column_text(s->column, &text);
	table_cell(t, kg_str_text(&text));
	kg_str_clear(&text);
	column_text(s->baseline, &text);
	table_cell(t, kg_str_text(&text));
	effect_cells(t, s);
	if (s->note && s->note[0])
		table_cellf(t, "(%zu)", footnotes_add(notes, s->note));
	else
		table_cell(t, "");
	kg_str_deinit(&text);
}

/* Index of a text in the list, which it joins when it is new. */
static size_t place_of(const char **texts, size_t *n, const char *text)
{
	size_t i = 0;

	while (i < *n && strcmp(texts[i], text) != 0)
		i++;
	if (i == *n)
		texts[(*n)++] = text;
	return i;
}

/* The table of all summaries that belong with the one at `first`. */
static void one_table(const Kgrid__V1__CompareReply *r, size_t first,
		      const struct compare_look *look, struct kg_str *out)
{
	static const char *const titles[] = {"COLUMN",	 "AGAINST",	     "EFFECT [95 %]",
					     "MACHINES", "HETEROGENEITY I2", "NOTE"};
	const char **texts = cli_alloc(r->n_summaries, sizeof(*texts));
	struct footnotes notes = {0};
	struct params *p;
	struct table *t;
	char *align;
	size_t i, n_texts = 0, n_params;

	for (i = first; i < r->n_summaries; i++)
		if (same_table(r->summaries[first], r->summaries[i]))
			(void)place_of(texts, &n_texts, cli_text(r->summaries[i]->params));
	p = params_split(texts, n_texts);
	n_params = params_columns(p);
	align = cli_alloc(n_params + 7, 1);
	for (i = 0; i < n_params; i++)
		align[i] = params_numeric(p, i) ? 'r' : 'l';
	(void)strcpy(align + n_params, "llrrrl");
	t = table_new(align);
	for (i = 0; i < n_params; i++)
		table_title(t, params_title(p, i));
	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = first; i < r->n_summaries; i++)
		if (same_table(r->summaries[first], r->summaries[i]))
			add_row(t, r->summaries[i], p,
				place_of(texts, &n_texts, cli_text(r->summaries[i]->params)),
				&notes);
	heading(r->summaries[first], params_common(p), look->width, out);
	table_render(t, 2, 0, look->color, out);
	footnotes_print(&notes, look->width, out);
	kg_str_add(out, "\n");
	footnotes_deinit(&notes);
	table_free(t);
	params_free(p);
	free(align);
	free(texts);
}

static bool is_first(const Kgrid__V1__CompareReply *r, size_t at)
{
	size_t i;

	for (i = 0; i < at; i++)
		if (same_table(r->summaries[i], r->summaries[at]))
			return false;
	return true;
}

/* Whether a vendor's row says the same already, because its machines are the same. */
static bool said_of_vendor(const Kgrid__V1__CompareReply *r, const Kgrid__V1__CompareSummary *s)
{
	size_t i;

	for (i = 0; i < r->n_summaries; i++) {
		const Kgrid__V1__CompareSummary *v = r->summaries[i];

		if (kg_streq(v->kind, "vendor") && v->machines == s->machines &&
		    v->has_effect_pct == s->has_effect_pct && v->effect_pct == s->effect_pct &&
		    kg_streq(cli_text(v->workload), cli_text(s->workload)) &&
		    kg_streq(cli_text(v->metric), cli_text(s->metric)) &&
		    kg_streq(cli_text(v->params), cli_text(s->params)) &&
		    same_column(v->column, s->column) && same_column(v->baseline, s->baseline))
			return true;
	}
	return false;
}

static bool says_more(const Kgrid__V1__CompareReply *r, size_t first)
{
	size_t i;

	if (kg_streq(r->summaries[first]->kind, "vendor"))
		return true;
	for (i = first; i < r->n_summaries; i++)
		if (same_table(r->summaries[first], r->summaries[i]) &&
		    !said_of_vendor(r, r->summaries[i]))
			return true;
	return false;
}

static bool same_group(const Kgrid__V1__CompareSummary *a, const Kgrid__V1__CompareSummary *b)
{
	return kg_streq(cli_text(a->kind), cli_text(b->kind)) &&
	       kg_streq(cli_text(a->name), cli_text(b->name));
}

/* Most machines behind any row of a group; whether it begins at `at`. */
static uint32_t group_machines(const Kgrid__V1__CompareReply *r, size_t at, bool *ret_first)
{
	uint32_t machines = 0;
	size_t i;

	*ret_first = true;
	for (i = 0; i < r->n_summaries; i++) {
		if (!same_group(r->summaries[i], r->summaries[at]))
			continue;
		*ret_first = *ret_first && i >= at;
		if (r->summaries[i]->machines > machines)
			machines = r->summaries[i]->machines;
	}
	return machines;
}

/* A group of one machine has no table: it would repeat the machine's own. */
static void of_kind(const Kgrid__V1__CompareReply *r, const char *kind,
		    const struct compare_look *look, struct kg_str *out)
{
	struct kg_str line = {0}, safe = {0};
	bool alone, first;
	size_t i;

	for (i = 0; i < r->n_summaries; i++) {
		const Kgrid__V1__CompareSummary *s = r->summaries[i];

		if (!kg_streq(cli_text(s->kind), kind))
			continue;
		alone = group_machines(r, i, &first) <= 1;
		if (alone && first && kg_streq(kind, "vendor"))
			kg_str_addf(&line, "vendor %s: one machine, whose tables stand above\n",
				    cli_text(s->name));
		if (!alone && is_first(r, i) && says_more(r, i))
			one_table(r, i, look, out);
	}
	text_clean(&safe, kg_str_text(&line), line.len, true);
	if (safe.len)
		kg_str_addf(out, "%s\n", kg_str_text(&safe));
	kg_str_deinit(&safe);
	kg_str_deinit(&line);
}

static void add_detail(struct kg_str *out, const char *text)
{
	kg_str_addf(out, "%s%s", out->len ? ", " : "", text);
}

/* What the sentence itself does not say. */
static void interaction_details(const Kgrid__V1__CompareInteraction *x, struct kg_str *out)
{
	const char *said = cli_text(x->text);
	const char *const names[] = {cli_text(x->workload), cli_text(x->params),
				     cli_text(x->metric)};
	struct kg_str s = {0};
	char buf[64];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i][0] && !strstr(said, names[i]))
			add_detail(out, names[i]);
	if (x->has_difference_pct && isfinite(x->difference_pct) && !strchr(said, '%')) {
		(void)percent_text(buf, sizeof(buf), true, x->difference_pct);
		kg_str_addf(&s, "difference %s %%", buf);
		interval_text(x->has_lo_pct && x->has_hi_pct, x->lo_pct, x->hi_pct, &s);
		add_detail(out, kg_str_text(&s));
	}
	if (x->has_p && isfinite(x->p)) {
		(void)probability_text(buf, sizeof(buf), x->p);
		kg_str_clear(&s);
		kg_str_addf(&s, "p=%s", buf);
		add_detail(out, kg_str_text(&s));
	}
	kg_str_deinit(&s);
}

static void interaction(const Kgrid__V1__CompareInteraction *x, size_t width, struct kg_str *out)
{
	struct kg_str s = {0}, safe = {0}, more = {0};

	interaction_details(x, &more);
	kg_str_addf(&s, "- %s", cli_text(x->text));
	if (more.len)
		kg_str_addf(&s, " (%s)", kg_str_text(&more));
	text_clean(&safe, kg_str_text(&s), s.len, false);
	kg_str_add(out, "  ");
	text_wrap(out, kg_str_text(&safe), 2, 4, width);
	kg_str_deinit(&more);
	kg_str_deinit(&safe);
	kg_str_deinit(&s);
}

/* Kinds that a newer coordinator may have. */
static bool known_kind(const char *kind)
{
	return kg_streq(kind, "vendor") || kg_streq(kind, "microarchitecture") ||
	       kg_streq(kind, "all");
}

void compare_summaries_text(const Kgrid__V1__CompareReply *r, const struct compare_look *look,
			    struct kg_str *out)
{
	size_t i;

	of_kind(r, "vendor", look, out);
	of_kind(r, "microarchitecture", look, out);
	of_kind(r, "all", look, out);
	for (i = 0; i < r->n_summaries; i++)
		if (!known_kind(cli_text(r->summaries[i]->kind)) && is_first(r, i))
			one_table(r, i, look, out);
	if (r->n_interactions == 0)
		return;
	kg_str_add(out, "interactions:\n");
	for (i = 0; i < r->n_interactions; i++)
		interaction(r->interactions[i], look->width, out);
	kg_str_add(out, "\n");
}
