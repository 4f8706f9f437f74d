/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/lsm_text.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "cli/width.h"

static char *borrow(const char *s)
{
	return (char *)(uintptr_t)s;
}

static size_t count_in(const struct lsm_list *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		n += l->entries[i].in;
	return n;
}

void lsm_reply_of(const char *release, const struct lsm_list *l, Kgrid__V1__LsmResolveReply *ret)
{
	Kgrid__V1__LsmEntry *entries = cli_alloc(l->n + 1, sizeof(*entries));
	size_t i;

	kgrid__v1__lsm_resolve_reply__init(ret);
	ret->release = borrow(release);
	ret->effective = cli_alloc(count_in(l) + 1, sizeof(char *));
	ret->entries = cli_alloc(l->n + 1, sizeof(*ret->entries));
	for (i = 0; i < l->n; i++) {
		const struct lsm_entry *e = &l->entries[i];

		kgrid__v1__lsm_entry__init(&entries[i]);
		entries[i].name = e->name;
		entries[i].has_in = entries[i].has_requested = 1;
		entries[i].in = e->in;
		entries[i].requested = e->requested;
		entries[i].reason = borrow(lsm_reason_name(e->reason));
		entries[i].why = borrow(e->why);
		if (e->in)
			ret->effective[ret->n_effective++] = e->name;
		ret->entries[ret->n_entries++] = &entries[i];
	}
	if (l->n == 0)
		free(entries);
	ret->warnings = l->warnings.items;
	ret->n_warnings = l->warnings.n;
}

void lsm_reply_release(Kgrid__V1__LsmResolveReply *r)
{
	if (r->n_entries)
		free(r->entries[0]); /* they are one array */
	free(r->entries);
	free(r->effective);
	memset(r, 0, sizeof(*r));
}

static void render_list(const Kgrid__V1__LsmResolveReply *r, size_t width, struct kg_str *out)
{
	struct kg_str list = {0};
	size_t i;

	for (i = 0; i < r->n_effective; i++) {
		kg_str_add(&list, i ? "," : "");
		text_clean(&list, r->effective[i], strlen(r->effective[i]), false);
	}
	kg_str_add(out, "list: ");
	text_wrap(out, list.len ? kg_str_text(&list) : "(empty)", 6, 6, width);
	kg_str_deinit(&list);
}

static void render_entries(const Kgrid__V1__LsmResolveReply *r, size_t width, bool color,
			   struct kg_str *out)
{
	struct table *t = table_new("llll");
	size_t i;

	table_title(t, "lsm");
	table_title(t, "state");
	table_title(t, "asked for");
	table_title(t, "why");
	for (i = 0; i < r->n_entries; i++) {
		const Kgrid__V1__LsmEntry *e = r->entries[i];
		bool untold = strcmp(cli_text(e->reason), "untold") == 0;

		table_cell(t, cli_text(e->name));
		table_styled(t,
			     e->in	    ? TABLE_GOOD
			     : e->requested ? TABLE_BAD
					    : TABLE_DIM,
			     e->in    ? "in"
			     : untold ? "?"
				      : "out");
		table_cell(t, e->requested ? "yes" : "");
		table_cell(t, cli_text(e->why));
	}
	table_render(t, 0, width, color, out);
	table_free(t);
}

void lsm_render(const Kgrid__V1__LsmResolveReply *r, const char *title, size_t width, bool color,
		struct kg_str *out)
{
	size_t i;

	text_clean(out, title, strlen(title), false);
	kg_str_add(out, "\n");
	render_list(r, width, out);
	if (r->n_entries) {
		kg_str_add(out, "\n");
		render_entries(r, width, color, out);
	}
	for (i = 0; i < r->n_warnings; i++) {
		struct kg_str text = {0};

		text_clean(&text, r->warnings[i], strlen(r->warnings[i]), false);
		kg_str_add(out, i ? "" : "\n");
		kg_str_add(out, "warning: ");
		text_wrap(out, kg_str_text(&text), 9, 9, width);
		kg_str_deinit(&text);
	}
}
