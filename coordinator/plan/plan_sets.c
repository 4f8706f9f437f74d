/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parameter sets: one combination of a workload's parameters each. */
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

#define SHOWN_TWICE 3 /* warnings about parameters written twice, per workload */

const struct plan_offer *plan_find_offer(const struct plan_machine *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->n_offers; i++)
		if (strcmp(m->offers[i].name, name) == 0)
			return &m->offers[i];
	return NULL;
}

/* ---- one set ---- */

/* Time that the run should take, and the limit after which it is ended. */
static void set_times(struct plan_builder *b, const struct plan_entry *e, const struct plan_alt *a,
		      const uint32_t *digits, struct plan_set *s)
{
	/* a warm-up by time ends with the run that was begun in it */
	uint64_t runs =
		(uint64_t)b->job->iterations + e->decl->warmup_runs + (e->decl->warmup_ns > 0);
	uint64_t one = a->duration_ns;
	uint64_t limit, limit_s;

	if (a->duration_varies) {
		const struct kg_params p = plan_set_params(b, a, digits);

		one = kg_workload_duration_ns(e->decl, &p);
	}
	limit = plan_plus(plan_times(runs, plan_plus(one, e->decl->timeout_ns)),
			  e->decl->warmup_ns);
	limit_s = limit / 1000000000 + (limit % 1000000000 != 0);
	s->run_ns = plan_plus(plan_times(runs, one), e->decl->warmup_ns);
	s->timeout_s = limit_s > UINT32_MAX ? UINT32_MAX : (uint32_t)limit_s;
}

/* The value of an item for a combination. */
static const struct plan_value *item_of(const struct plan_alt *a, const uint32_t *digits,
					size_t item)
{
	size_t i;

	for (i = 0; i < a->n_params; i++)
		if (a->params[i].item == item)
			return &a->params[i].values[digits[i]];
	return &a->items[item];
}

int plan_set_fill(struct plan_builder *b, const struct plan_entry *e, uint32_t alt,
		  const uint32_t *digits, struct plan_set *s)
{
	const struct plan_alt *a = &e->alts[alt];
	size_t len = 0;
	size_t i;
	char *text;

	for (i = 0; i < a->n_items; i++)
		len += item_of(a, digits, i)->word_len + 1;
	text = kg_arena_alloc(b->memory, len + 1);
	if (!text)
		return plan_no_memory(b->err);
	s->text = text;
	for (i = 0; i < a->n_items; i++) {
		const struct plan_value *v = item_of(a, digits, i);

		if (i > 0)
			*text++ = ' ';
		memcpy(text, v->word, v->word_len);
		text += v->word_len;
	}
	*text = '\0';
	s->entry = e;
	s->alt = alt;
	s->digits = digits;
	set_times(b, e, a, digits, s);
	return 0;
}

/* ---- all sets of a machine ---- */

/* The next combination, the last parameter varies fastest. False behind the last one. */
static bool next_digits(const struct plan_alt *a, uint32_t *digits)
{
	size_t i = a->n_params;

	while (i-- > 0) {
		if (++digits[i] < a->params[i].n)
			return true;
		digits[i] = 0;
	}
	return false;
}

static int add_alt(struct plan_builder *b, const struct plan_entry *e, uint32_t alt,
		   struct plan_sets *sets, uint64_t order)
{
	const struct plan_alt *a = &e->alts[alt];
	size_t n = a->n_params;
	uint32_t *at = plan_scratch(b, n + 1, sizeof(*at));
	uint32_t *kept = plan_scratch(b, (size_t)a->count * n + 1, sizeof(*kept));
	int rc;

	if (!at || !kept)
		return plan_no_memory(b->err);
	do {
		struct plan_set *s = &sets->items[sets->n];

		if (n)
			memcpy(kept, at, n * sizeof(*kept));
		rc = plan_set_fill(b, e, alt, kept, s);
		kept += n;
		s->order = order < UINT32_MAX ? (uint32_t)order : UINT32_MAX;
		order++;
		sets->n++;
	} while (rc == 0 && next_digits(a, at));
	return rc;
}

static int make_sets(struct plan_builder *b, struct plan_sets *sets)
{
	uint64_t total = 0;
	size_t i;
	uint32_t alt;
	int rc = 0;

	for (i = 0; i < sets->n_entries; i++)
		total += sets->entries[i]->count;
	sets->items = plan_scratch(b, (size_t)total + 1, sizeof(*sets->items));
	if (!sets->items)
		return plan_no_memory(b->err);
	for (i = 0; i < sets->n_entries && rc == 0; i++) {
		const struct plan_entry *e = sets->entries[i];
		uint64_t order = sets->offsets[i];

		rc = plan_entry_fill(b, e);
		for (alt = 0; alt < e->n_alts && rc == 0; alt++) {
			rc = add_alt(b, e, alt, sets, order);
			order += e->alts[alt].count;
		}
	}
	return rc < 0 ? rc : plan_sets_same(b, sets);
}

int plan_sets_of(struct plan_builder *b, const struct plan_entry **entries, size_t n,
		 const uint64_t *offsets, struct plan_sets **ret_sets)
{
	uint64_t h = n ? plan_hash_number(n, (uint64_t)(uintptr_t)entries[0]) : 0;
	struct plan_sets **bucket = &b->set_at[h % PLAN_BUCKETS];
	struct plan_sets *s;
	int rc;

	for (s = *bucket; s; s = s->next) {
		if (s->n_entries != n || memcmp(s->entries, entries, n * sizeof(*entries)) != 0 ||
		    memcmp(s->offsets, offsets, n * sizeof(*offsets)) != 0)
			continue;
		*ret_sets = s;
		return 0;
	}
	s = plan_scratch(b, 1, sizeof(*s));
	if (!s)
		return plan_no_memory(b->err);
	s->entries = entries;
	s->offsets = offsets;
	s->n_entries = n;
	rc = make_sets(b, s);
	s->next = *bucket;
	*bucket = s;
	*ret_sets = s;
	return rc;
}

/* ---- written twice ---- */

static int warn_twice(struct plan_builder *b, const struct plan_set *s, size_t seen)
{
	if (seen < SHOWN_TWICE)
		return plan_add_warning(b,
					"workload '%s' is listed more than once with %s: one cell",
					s->entry->workload->name,
					s->text[0] ? s->text : "no parameters");
	if (seen == SHOWN_TWICE)
		return plan_add_warning(b,
					"workload '%s' is listed more than once with other "
					"parameters, too: one cell each",
					s->entry->workload->name);
	return 0;
}

static bool alike(const struct plan_set *x, const struct plan_set *y)
{
	return strcmp(x->text, y->text) == 0 &&
	       strcmp(x->entry->workload->name, y->entry->workload->name) == 0;
}

/* The same parameters written twice ("64KiB, 65536", or a workload listed again) are one cell. */
int plan_sets_same(struct plan_builder *b, struct plan_sets *sets)
{
	struct plan_table t;
	size_t i, seen = 0;
	uint32_t *last;
	int rc = plan_table_init(b, &t, sets->n);

	last = plan_scratch(b, sets->n + 1, sizeof(*last));
	if (rc == 0 && !last)
		rc = plan_no_memory(b->err);
	for (i = 0; i < sets->n && rc == 0; i++) {
		struct plan_set *s = &sets->items[i];
		uint64_t h = plan_hash_text(plan_hash_text(0, s->entry->workload->name), s->text);
		uint32_t *at;

		for (h = plan_hash_number(0, h); *(at = &t.at[h & t.mask]); h++)
			if (alike(&sets->items[*at - 1], s))
				break;
		s->first = *at ? *at - 1 : (uint32_t)i;
		if (*at) {
			sets->items[last[s->first]].next = (uint32_t)i + 1;
			rc = warn_twice(b, s, seen++);
		}
		last[s->first] = (uint32_t)i;
		*at = s->first + 1;
	}
	return rc;
}
