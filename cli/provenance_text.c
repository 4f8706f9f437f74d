/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/provenance_text.h"

#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/width.h"

/* "unsupported (denied)": a fact without a value is never shown as a number. */
static void value_text(const Kgrid__V1__Fact *f, struct kg_str *out)
{
	kg_str_clear(out);
	if (f->value)
		kg_str_add(out, f->value[0] ? f->value : "(empty)");
	else if (f->reason && f->reason[0])
		kg_str_addf(out, "unsupported (%s)", f->reason);
	else
		kg_str_add(out, "unsupported");
}

static const Kgrid__V1__Fact *find(const Kgrid__V1__Provenance *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_facts; i++)
		if (kg_streq(p->facts[i]->name, name))
			return p->facts[i];
	return NULL;
}

static bool changed(const Kgrid__V1__Provenance *before, const Kgrid__V1__Fact *f)
{
	const Kgrid__V1__Fact *b = find(before, f->name);

	return !b || !kg_streq(b->value, f->value);
}

static void phase(const Kgrid__V1__ProvenanceReply *r, size_t at, bool all, size_t width,
		  bool color, struct kg_str *out)
{
	const Kgrid__V1__Provenance *p = r->phases[at];
	const Kgrid__V1__Provenance *before = at > 0 && !all ? r->phases[at - 1] : NULL;
	struct table *t = table_new("ll");
	struct kg_str s = {0};
	size_t same = 0, i;

	for (i = 0; i < p->n_facts; i++) {
		if (before && !changed(before, p->facts[i])) {
			same++;
			continue;
		}
		table_cell(t, p->facts[i]->name);
		value_text(p->facts[i], &s);
		table_styled(t, p->facts[i]->value ? TABLE_PLAIN : TABLE_DIM, kg_str_text(&s));
	}
	kg_str_clear(&s);
	text_clean(&s, cli_text(p->phase), strlen(cli_text(p->phase)), false);
	kg_str_addf(out, "%s%s: %zu facts", at ? "\n" : "", kg_str_text(&s), p->n_facts);
	if (before)
		kg_str_addf(out, ", %zu as before%s", same, same ? " (--all lists them)" : "");
	kg_str_add(out, "\n");
	table_render(t, 2, width, color, out);
	table_free(t);
	kg_str_deinit(&s);
}

static void documents(const Kgrid__V1__ProvenanceReply *r, size_t width, bool color,
		      struct kg_str *out)
{
	struct table *t = table_new("lrl");
	char size[FORMAT_SIZE];
	size_t i;

	table_title(t, "DOCUMENT");
	table_title(t, "SIZE");
	table_title(t, "DIGEST");
	for (i = 0; i < r->n_documents; i++) {
		table_cell(t, r->documents[i]->name);
		table_cell(t, format_bytes(r->documents[i]->text_bytes, size));
		table_cellf(t, "%.12s", cli_text(r->documents[i]->digest));
	}
	kg_str_add(out, "\n");
	table_render(t, 0, width, color, out);
	table_free(t);
}

void provenance_text(const Kgrid__V1__ProvenanceReply *r, bool all, size_t width, bool color,
		     struct kg_str *out)
{
	size_t i;

	for (i = 0; i < r->n_phases; i++)
		phase(r, i, all, width, color, out);
	if (r->n_documents > 0)
		documents(r, width, color, out);
}

void provenance_csv(const Kgrid__V1__ProvenanceReply *r, struct kg_str *out)
{
	size_t i, k;

	kg_str_add(out, "phase,name,value,supported,reason\n");
	for (i = 0; i < r->n_phases; i++) {
		for (k = 0; k < r->phases[i]->n_facts; k++) {
			const Kgrid__V1__Fact *f = r->phases[i]->facts[k];

			csv_text(out, cli_text(r->phases[i]->phase));
			kg_str_add(out, ",");
			csv_text(out, cli_text(f->name));
			kg_str_add(out, ",");
			csv_text(out, cli_text(f->value));
			kg_str_add(out, f->value ? ",true," : ",false,");
			csv_text(out, cli_text(f->reason));
			kg_str_add(out, "\n");
		}
	}
}
