/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether boots are of one state of the machine, and what changed when they are not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/facts.h"
#include "coordinator/report/compare_internal.h"

#define CHANGES_SHOWN 4
#define EPOCHS_SHOWN  8

/* ---- what changed ---- */

struct changes {
	struct epoch_change *items; /* owned */
	size_t n, cap;
	bool known; /* every epoch on the way is there */
};

static int add_change(struct changes *c, const struct epoch_change *e)
{
	struct epoch_change *item;

	for (size_t i = 0; i < c->n; i++) {
		if (strcmp(c->items[i].name, e->name) == 0) {
			c->items[i].b = e->b;
			return 0;
		}
	}
	item = grow(&c->items, &c->n, &c->cap, sizeof(*item));
	if (!item)
		return -ENOMEM;
	*item = *e;
	return 0;
}

static const struct report_epoch *find_epoch(const struct report_input *in, const char *machine,
					     uint32_t number)
{
	for (size_t i = 0; i < in->n_epochs; i++) {
		if (in->epochs[i].number == number && strcmp(in->epochs[i].machine, machine) == 0)
			return &in->epochs[i];
	}
	return NULL;
}

static int order_changes(const void *a, const void *b)
{
	const struct epoch_change *x = a, *y = b;
	unsigned wx = kg_fact_find(x->name)->weight, wy = kg_fact_find(y->name)->weight;

	return wx != wy ? (wx < wy ? 1 : -1) : strcmp(x->name, y->name);
}

/* From one epoch to another, later one; what was changed back is gone. */
static int collect_changes(const struct report_input *in, const char *machine, uint32_t from,
			   uint32_t to, struct changes *c)
{
	size_t n = 0;

	c->known = true;
	for (uint32_t e = from + 1; e <= to; e++) {
		const struct report_epoch *epoch = find_epoch(in, machine, e);

		if (!epoch) {
			c->known = false;
			return 0;
		}
		for (size_t i = 0; i < epoch->n_changes; i++) {
			if (add_change(c, &epoch->changes[i]) < 0)
				return -ENOMEM;
		}
	}
	for (size_t i = 0; i < c->n; i++) {
		if (!kg_streq(c->items[i].a, c->items[i].b))
			c->items[n++] = c->items[i];
	}
	c->n = n;
	if (n)
		qsort(c->items, n, sizeof(*c->items), order_changes);
	return 0;
}

static void add_value_text(struct kg_str *s, const char *value)
{
	const char *end = value ? strchr(value, '\n') : NULL;
	size_t len = value ? end ? (size_t)(end - value) : strlen(value) : 0;

	if (!value)
		kg_str_add(s, "unsupported");
	else if (len == 0)
		kg_str_add(s, "(empty)");
	else if (len <= 48)
		kg_str_addn(s, value, len);
	else { /* never in the middle of a character */
		len = 40;
		while (len && ((unsigned char)value[len] & 0xc0) == 0x80)
			len--;
		kg_str_addn(s, value, len);
		kg_str_add(s, "...");
	}
}

static void add_change_text(struct kg_str *s, const struct epoch_change *e)
{
	const struct kg_fact_info *f = kg_fact_find(e->name);
	size_t len = strlen(f->name);

	if (len == 0) /* not one of the table */
		kg_str_add(s, e->name);
	else if (f->name[len - 1] == '.')
		kg_str_addf(s, "%s %s", f->label, e->name + len);
	else
		kg_str_add(s, f->label);
	kg_str_add(s, " ");
	add_value_text(s, e->a);
	kg_str_add(s, " -> ");
	add_value_text(s, e->b);
}

void add_epoch_changes(const struct report_input *in, const char *machine, uint32_t from,
		       uint32_t to, struct kg_str *s)
{
	struct changes c = {0};

	if (collect_changes(in, machine, from, to, &c) < 0)
		s->failed = true;
	else if (!c.known)
		kg_str_add(s, "what changed is not known");
	else if (c.n == 0)
		kg_str_add(s, "what changed was changed back");
	for (size_t i = 0; c.known && i < c.n && i < CHANGES_SHOWN; i++) {
		kg_str_add(s, i ? ", " : "");
		add_change_text(s, &c.items[i]);
	}
	if (c.known && c.n > CHANGES_SHOWN)
		kg_str_addf(s, " and %zu more", c.n - CHANGES_SHOWN);
	free(c.items);
}

/* ---- whether they may be compared ---- */

struct span {
	uint32_t epochs[EPOCHS_SHOWN]; /* ascending */
	size_t n;		       /* different ones, may be more than are held */
	uint32_t lowest, highest;
	size_t boots, unrecorded;
};

static void span_add(struct span *s, uint32_t epoch)
{
	size_t at = 0, held = s->n < EPOCHS_SHOWN ? s->n : EPOCHS_SHOWN;

	s->boots++;
	if (epoch == 0) {
		s->unrecorded++;
		return;
	}
	if (s->lowest == 0 || epoch < s->lowest)
		s->lowest = epoch;
	if (epoch > s->highest)
		s->highest = epoch;
	while (at < held && s->epochs[at] < epoch)
		at++;
	if (at < held && s->epochs[at] == epoch)
		return;
	s->n++;
	if (held == EPOCHS_SHOWN)
		return;
	memmove(&s->epochs[at + 1], &s->epochs[at], (held - at) * sizeof(s->epochs[0]));
	s->epochs[at] = epoch;
}

static void add_span(const struct span *s, struct kg_str *why)
{
	size_t held = s->n < EPOCHS_SHOWN ? s->n : EPOCHS_SHOWN;

	for (size_t i = 0; i < held; i++)
		kg_str_addf(why, "%s%u",
			    i == 0	    ? ""
			    : i + 1 == s->n ? " and "
					    : ", ",
			    s->epochs[i]);
	if (s->n > held)
		kg_str_add(why, " and more");
}

static void say_span(const struct span *s, const struct report_input *in, const char *machine,
		     struct kg_str *why)
{
	if (s->n > 1) {
		kg_str_add(why, "boots of epochs ");
		add_span(s, why);
		kg_str_add(why, ": ");
		add_epoch_changes(in, machine, s->lowest, s->highest, why);
	}
	if (s->unrecorded)
		kg_str_addf(why, "%sof %zu of %zu boots the machine's state was not recorded", /* */
			    s->n > 1 ? "; " : "", s->unrecorded, s->boots);
}

static void say_mixed(const struct cell_data *d, struct kg_str *why)
{
	const struct report_cell *a = d->cell, *b = d->other;
	const char *what = "lists", *x = a->lsm_effective, *y = b->lsm_effective;

	if (kg_streq(x, y)) {
		what = "command lines";
		x = a->cmdline;
		y = b->cmdline;
	}
	if (kg_streq(x, y)) {
		what = "settings";
		x = a->settings ? a->settings : "";
		y = b->settings ? b->settings : "";
	}
	kg_str_addf(why, "%s%s/%s had different %s: '%s' and '%s'", why->len ? "; " : "", a->kernel,
		    a->lsm, what, x ? x : "not known", y ? y : "not known");
}

int cells_comparable(const struct table *t, const struct cell_data *const *cells, size_t n,
		     bool *ret_comparable, struct kg_str *why)
{
	const struct report_input *in = t->l->in;
	struct span s = {0};

	/* Every boot, not only those of the newest epoch: a side that changed half-way is not one. */
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < cells[i]->n; k++)
			span_add(&s, t->infos[cells[i]->first + k].epoch);
	}
	*ret_comparable = s.n <= 1 && (s.unrecorded == 0 || s.unrecorded == s.boots);
	if (!*ret_comparable)
		say_span(&s, in, cells[0]->cell->machine, why);
	for (size_t i = 0; i < n; i++) {
		if (!cells[i]->mixed)
			continue;
		*ret_comparable = false;
		say_mixed(cells[i], why);
	}
	return why->failed ? -ENOMEM : 0;
}
