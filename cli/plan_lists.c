/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The long lists of a plan: boots in their order, cells with their numbers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/plan_text.h"
#include "cli/table.h"

#define IDENTITY_SHOWN 16 /* of 64 digits; --json and --csv have all */

/* Which of the columns that most plans do not need have something in them. */
struct columns {
	bool variant, peer, seconds, note;
};

static bool any(const char *s)
{
	return s && s[0];
}

static void add_column(struct kg_str *align, const char **titles, size_t *n, char a,
		       const char *title)
{
	kg_str_addn(align, &a, 1);
	titles[(*n)++] = title;
}

static struct table *new_table(const struct kg_str *align, const char *const *titles, size_t n)
{
	struct table *t = table_new(kg_str_text(align));
	size_t i;

	for (i = 0; i < n; i++)
		table_title(t, titles[i]);
	return t;
}

/* "client, with lab-amd" */
static void peer_cell(struct table *t, const char *role, const char *peer)
{
	struct kg_str s = {0};

	kg_str_add(&s, cli_text(role));
	if (any(peer))
		kg_str_addf(&s, "%swith %s", s.len ? ", " : "", peer);
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
}

static void boot_note(struct table *t, const Kgrid__V1__PlannedBoot *b)
{
	struct kg_str s = {0};

	if (b->canary)
		kg_str_add(&s, "canary");
	if (any(b->leave))
		kg_str_addf(&s, "%sleft by %s", s.len ? ", " : "", b->leave);
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
}

static struct columns boot_columns(const Kgrid__V1__Plan *p)
{
	struct columns c = {0};
	size_t i;

	for (i = 0; i < p->n_boots; i++) {
		const Kgrid__V1__PlannedBoot *b = p->boots[i];

		c.variant = c.variant || any(b->variant);
		c.peer = c.peer || any(b->role) || any(b->peer);
		c.seconds = c.seconds || b->seconds > 0;
		c.note = c.note || b->canary || any(b->leave);
	}
	return c;
}

static struct table *boot_table(const struct columns *c)
{
	struct kg_str align = {0};
	const char *titles[10];
	struct table *t;
	size_t n = 0;

	add_column(&align, titles, &n, 'l', "MACHINE");
	add_column(&align, titles, &n, 'r', "BLOCK");
	add_column(&align, titles, &n, 'r', "POSITION");
	add_column(&align, titles, &n, 'l', "KERNEL");
	add_column(&align, titles, &n, 'l', "LSM");
	if (c->variant)
		add_column(&align, titles, &n, 'l', "VARIANT");
	if (c->peer)
		add_column(&align, titles, &n, 'l', "ROLE");
	add_column(&align, titles, &n, 'r', "SLOTS");
	if (c->seconds)
		add_column(&align, titles, &n, 'l', "TIME");
	if (c->note)
		add_column(&align, titles, &n, 'l', "NOTE");
	t = new_table(&align, titles, n);
	kg_str_deinit(&align);
	return t;
}

static void boot_row(struct table *t, const struct columns *c, const Kgrid__V1__PlannedBoot *b)
{
	char time[FORMAT_SIZE];

	table_cell(t, b->machine);
	table_cellf(t, "%" PRIu32, b->block);
	table_cellf(t, "%" PRIu32, b->position);
	table_cell(t, b->kernel);
	table_cell(t, b->lsm);
	if (c->variant)
		table_cell(t, b->variant);
	if (c->peer)
		peer_cell(t, b->role, b->peer);
	table_cellf(t, "%" PRIu32, b->slots);
	if (c->seconds)
		table_cell(t, format_seconds(b->seconds, time));
	if (c->note)
		boot_note(t, b);
}

static bool same_request(const Kgrid__V1__PlannedBoot *a, const Kgrid__V1__PlannedBoot *b)
{
	return kg_streq(cli_text(a->kernel), cli_text(b->kernel)) &&
	       kg_streq(cli_text(a->lsm), cli_text(b->lsm));
}

/* One boot for each kernel, request and list that it gives; owned (free). */
static const Kgrid__V1__PlannedBoot **distinct_lists(const Kgrid__V1__Plan *p, size_t *ret_n)
{
	const Kgrid__V1__PlannedBoot **lists = NULL;
	size_t n = 0, i, k;

	for (i = 0; i < p->n_boots; i++) {
		const Kgrid__V1__PlannedBoot *b = p->boots[i];

		if (!b->effective)
			continue;
		for (k = 0; k < n; k++)
			if (same_request(lists[k], b) &&
			    strcmp(lists[k]->effective, b->effective) == 0)
				break;
		if (k < n)
			continue;
		lists = cli_grow(lists, n + 1, sizeof(const Kgrid__V1__PlannedBoot *));
		lists[n++] = b;
	}
	*ret_n = n;
	return lists;
}

/* Where a value stands on an axis of the job; behind all where that is not known. */
static size_t place_on(const Kgrid__V1__Plan *p, const char *axis, const char *value)
{
	size_t i, k;

	for (i = 0; i < p->n_axes; i++)
		for (k = 0; kg_streq(p->axes[i]->name, axis) && k < p->axes[i]->n_values; k++)
			if (kg_streq(p->axes[i]->values[k], value))
				return k;
	return SIZE_MAX;
}

/* Whether `a` comes before `b` in the job, which boots do not keep to. */
static bool is_before(const Kgrid__V1__Plan *p, const Kgrid__V1__PlannedBoot *a,
		      const Kgrid__V1__PlannedBoot *b)
{
	const char *const of_a[] = {a->kernel, a->lsm, a->machine};
	const char *const of_b[] = {b->kernel, b->lsm, b->machine};
	static const char *const axes[] = {"kernel", "lsm", "machine"};
	size_t i;

	for (i = 0; i < sizeof(axes) / sizeof(axes[0]); i++) {
		size_t x = place_on(p, axes[i], of_a[i]), y = place_on(p, axes[i], of_b[i]);

		if (x != y)
			return x < y;
	}
	return false;
}

static void put_in_order(const Kgrid__V1__Plan *p, const Kgrid__V1__PlannedBoot **lists, size_t n)
{
	size_t i, k;

	for (i = 1; i < n; i++) {
		const Kgrid__V1__PlannedBoot *b = lists[i];

		for (k = i; k > 0 && is_before(p, b, lists[k - 1]); k--)
			lists[k] = lists[k - 1];
		lists[k] = b;
	}
}

/* What the requests give on each kernel; said of machine and variant where that depends on them. */
static void effective_lists(const Kgrid__V1__Plan *p, const struct plan_look *look,
			    struct kg_str *out)
{
	size_t n, i, k;
	const Kgrid__V1__PlannedBoot **lists = distinct_lists(p, &n);
	struct table *t = table_new("ll");

	put_in_order(p, lists, n);
	for (i = 0; i < n; i++) {
		const Kgrid__V1__PlannedBoot *b = lists[i];
		struct kg_str s = {0};
		bool several = false;

		for (k = 0; k < n; k++)
			several = several || (k != i && same_request(lists[k], b));
		format_column(b->kernel, b->lsm, &s);
		if (several && any(b->variant))
			kg_str_addf(&s, "+%s", b->variant);
		if (several)
			kg_str_addf(&s, " on %s", cli_text(b->machine));
		table_pair(t, kg_str_text(&s), b->effective[0] ? b->effective : "(empty)");
		kg_str_deinit(&s);
	}
	if (n > 0) {
		kg_str_add(out, "effective lists:\n");
		table_render(t, 2, look->width, look->color, out);
	}
	table_free(t);
	free(lists);
}

void plan_boots_text(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out)
{
	struct columns c = boot_columns(p);
	struct table *t = boot_table(&c);
	size_t shown =
		look->all_boots || p->n_boots < PLAN_BOOTS_SHOWN ? p->n_boots : PLAN_BOOTS_SHOWN;
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < shown; i++)
		boot_row(t, &c, p->boots[i]);
	for (i = 0; i < p->n_machines; i++)
		total += p->machines[i]->boots;
	if (total < p->n_boots)
		total = p->n_boots;
	if (shown > 0) {
		effective_lists(p, look, out);
		kg_str_add(out, "boot order:\n");
		table_render(t, 2, look->width, look->color, out);
	}
	if (shown < p->n_boots)
		kg_str_addf(out, "  ... and %" PRIu64 " more boots; --all-boots lists %s\n",
			    total - shown, total > p->n_boots ? "some of them" : "them");
	else if (shown < total && shown > 0)
		kg_str_addf(out,
			    "  ... and %" PRIu64 " more boots, which the coordinator did not "
			    "list\n",
			    total - shown);
	table_free(t);
}

static struct columns cell_columns(const Kgrid__V1__Plan *p)
{
	struct columns c = {0};
	size_t i;

	for (i = 0; i < p->n_listed; i++) {
		const Kgrid__V1__PlannedCell *x = p->listed[i];

		c.variant = c.variant || any(x->variant);
		c.peer = c.peer || any(x->role) || any(x->peer);
		c.note = c.note || x->canary || any(x->infeasible);
	}
	return c;
}

static struct table *cell_table(const struct columns *c)
{
	struct kg_str align = {0};
	const char *titles[10];
	struct table *t;
	size_t n = 0;

	add_column(&align, titles, &n, 'r', "CELL");
	add_column(&align, titles, &n, 'l', "MACHINE");
	add_column(&align, titles, &n, 'l', "KERNEL/LSM");
	if (c->variant)
		add_column(&align, titles, &n, 'l', "VARIANT");
	if (c->peer)
		add_column(&align, titles, &n, 'l', "ROLE");
	add_column(&align, titles, &n, 'l', "WORKLOAD");
	add_column(&align, titles, &n, 'l', "IDENTITY");
	if (c->note)
		add_column(&align, titles, &n, 'l', "NOTE");
	t = new_table(&align, titles, n);
	kg_str_deinit(&align);
	return t;
}

static void cell_row(struct table *t, const struct columns *c, const Kgrid__V1__PlannedCell *x)
{
	struct kg_str s = {0};

	table_cellf(t, "%" PRIu64, x->number);
	table_cell(t, x->machine);
	format_column(x->kernel, x->lsm, &s);
	table_cell(t, kg_str_text(&s));
	if (c->variant)
		table_cell(t, x->variant);
	if (c->peer)
		peer_cell(t, x->role, x->peer);
	kg_str_clear(&s);
	kg_str_addf(&s, "%s%s%s", cli_text(x->workload), any(x->params) ? " " : "",
		    cli_text(x->params));
	table_cell(t, kg_str_text(&s));
	table_cellf(t, "%.*s", IDENTITY_SHOWN, cli_text(x->identity));
	kg_str_clear(&s);
	if (x->canary)
		kg_str_add(&s, "canary");
	if (any(x->infeasible))
		kg_str_addf(&s, "%scannot run: %s", s.len ? ", " : "", x->infeasible);
	if (c->note)
		table_styled(t, any(x->infeasible) ? TABLE_BAD : TABLE_DIM, kg_str_text(&s));
	kg_str_deinit(&s);
}

void plan_cells_text(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out)
{
	struct columns c = cell_columns(p);
	struct table *t = cell_table(&c);
	size_t i;

	for (i = 0; i < p->n_listed; i++)
		cell_row(t, &c, p->listed[i]);
	if (p->n_listed > 0) {
		kg_str_add(out, "list of cells:\n");
		table_render(t, 2, look->width, look->color, out);
	} else if (p->cells > 0) {
		kg_str_add(out, "list of cells: the coordinator sent none\n");
	}
	table_free(t);
}
