/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/diff_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/width.h"
#include "common/facts.h"

static const char *value_text(const char *value, bool unsupported)
{
	if (unsupported)
		return "unsupported";
	if (!value)
		return "(absent)";
	return value[0] ? value : "(empty)";
}

#define DIGEST_LEN   64
#define DIGEST_SHOWN 12

/* A digest says only whether two things are equal: its beginning does. */
static void add_value(const char *value, bool unsupported, struct kg_str *out)
{
	if (value && strlen(value) == DIGEST_LEN && strspn(value, "0123456789abcdef") == DIGEST_LEN)
		kg_str_addf(out, "%.*s...", DIGEST_SHOWN, value);
	else
		kg_str_add(out, value_text(value, unsupported));
}

static void titles(struct table *t)
{
	static const char *const names[] = {"NAME", "CHANGE", "SET BACK BY", "A -> B"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		table_title(t, names[i]);
}

/* "microcode", "mitigation spectre_v2"; an unknown name as it is. */
static void fact_name(const char *name, struct kg_str *out)
{
	const struct kg_fact_info *f = kg_fact_find(name);
	size_t len = strlen(f->name);

	if (len == 0)
		kg_str_add(out, name);
	else if (f->name[len - 1] == '.')
		kg_str_addf(out, "%s %s", f->label, name + len);
	else
		kg_str_add(out, f->label);
}

/* Long values wrap in the last column. */
static void item_row(struct table *t, const Kgrid__V1__DiffItem *item, bool facts)
{
	struct kg_str s = {0};

	if (facts)
		fact_name(cli_text(item->name), &s);
	table_cell(t, facts ? kg_str_text(&s) : item->name);
	kg_str_clear(&s);
	table_cell(t, item->kind);
	table_cell(t, item->settable);
	add_value(item->a, item->a_unsupported, &s);
	kg_str_add(&s, " -> ");
	add_value(item->b, item->b_unsupported, &s);
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
}

static void section(size_t n, Kgrid__V1__DiffItem *const *items, size_t first, size_t indent,
		    const struct diff_look *look, struct kg_str *out)
{
	struct table *t = table_new("llll");
	size_t count = 0, i;

	titles(t);
	for (i = first; i < n; i++) {
		if (!kg_streq(cli_text(items[i]->section), cli_text(items[first]->section)))
			continue;
		if (count++ < DIFF_SHOWN || look->all)
			item_row(t, items[i], look->facts);
	}
	kg_str_addf(out, "%*s", (int)indent, "");
	text_clean(out, cli_text(items[first]->section), strlen(cli_text(items[first]->section)),
		   false);
	kg_str_addf(out, ": %zu\n", count);
	table_render(t, indent + 2, look->width, look->color, out);
	if (count > DIFF_SHOWN && !look->all)
		kg_str_addf(out, "%*s... and %zu more; --all lists them\n", (int)indent + 2, "",
			    count - DIFF_SHOWN);
	table_free(t);
}

/* Items by weight, those of one weight in the order they came. */
static int by_weight(const void *a, const void *b)
{
	Kgrid__V1__DiffItem *const *x = *(Kgrid__V1__DiffItem *const *const *)a;
	Kgrid__V1__DiffItem *const *y = *(Kgrid__V1__DiffItem *const *const *)b;

	if ((*x)->weight != (*y)->weight)
		return (*x)->weight > (*y)->weight ? -1 : 1;
	return (x > y) - (x < y);
}

void diff_items_text(size_t n, Kgrid__V1__DiffItem *const *items, size_t indent,
		     const struct diff_look *look, struct kg_str *out)
{
	Kgrid__V1__DiffItem *const **places = cli_alloc(n, sizeof(*places));
	Kgrid__V1__DiffItem **sorted = cli_alloc(n, sizeof(*sorted));
	size_t i, k;

	for (i = 0; i < n; i++)
		places[i] = &items[i];
	qsort(places, n, sizeof(*places), by_weight);
	for (i = 0; i < n; i++)
		sorted[i] = *places[i];
	for (i = 0; i < n; i++) {
		for (k = 0; k < i; k++)
			if (kg_streq(cli_text(sorted[k]->section), cli_text(sorted[i]->section)))
				break;
		if (k == i)
			section(n, sorted, i, indent, look, out);
	}
	free(sorted);
	free(places);
}

static void side(const char *letter, const char *text, size_t width, struct kg_str *out)
{
	struct kg_str s = {0};

	kg_str_addf(&s, "%s: ", letter);
	text_clean(&s, cli_text(text), strlen(cli_text(text)), false);
	text_wrap(out, kg_str_text(&s), 0, 3, width);
	kg_str_deinit(&s);
}

static void note(const char *text, size_t width, struct kg_str *out)
{
	struct kg_str s = {0};

	text_clean(&s, text, strlen(text), false);
	kg_str_add(out, "note: ");
	text_wrap(out, kg_str_text(&s), 6, 6, width);
	kg_str_deinit(&s);
}

void diff_text(const Kgrid__V1__DiffReply *r, const struct diff_look *look, struct kg_str *out)
{
	size_t i;

	side("A", r->a, look->width, out);
	side("B", r->b, look->width, out);
	if (r->n_items > 0)
		diff_items_text(r->n_items, r->items, 0, look, out);
	for (i = 0; i < r->n_notes; i++)
		note(r->notes[i], look->width, out);
	if (r->n_items == 0)
		kg_str_add(out, "no difference");
	else
		kg_str_addf(out, "%zu difference%s, most likely to matter first", r->n_items,
			    r->n_items == 1 ? "" : "s");
	if (r->has_same)
		kg_str_addf(out, "; %" PRIu64 " facts are equal", r->same);
	kg_str_add(out, "\n");
}

void epochs_text(size_t n, Kgrid__V1__Epoch *const *epochs, const struct diff_look *look,
		 struct kg_str *out)
{
	struct diff_look facts = *look;
	char time[FORMAT_SIZE];
	size_t i;

	facts.facts = true;
	for (i = 0; i < n; i++) {
		const Kgrid__V1__Epoch *e = epochs[i];

		text_clean(out, cli_text(e->machine), strlen(cli_text(e->machine)), false);
		kg_str_addf(out, " epoch %" PRIu32 ": since %s, %" PRIu64 " boot%s", e->number,
			    format_time(e->started_ns, time), e->boots, e->boots == 1 ? "" : "s");
		if (e->n_changes == 0)
			kg_str_add(out, e->number <= 1 ? ", the first\n"
						       : ", what changed is not known\n");
		else
			kg_str_addf(out, ", %zu change%s\n", e->n_changes,
				    e->n_changes == 1 ? "" : "s");
		if (e->n_changes > 0)
			diff_items_text(e->n_changes, e->changes, 2, &facts, out);
	}
}
