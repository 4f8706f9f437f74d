/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots and slots of all blocks, the sums over them, and what cannot run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

/* ---- slots and boots ---- */

struct making { /* one machine's boots */
	struct plan_builder *b;
	struct plan_column *column;
	const size_t *order; /* its groups */
};

static uint64_t boot_seconds(struct making *m, const struct plan_group *g, bool canary)
{
	const struct plan_peer *p = &m->column->peers[g->peer];
	uint64_t run_ns = g->run_ns;
	double s;

	if (canary)
		run_ns = plan_plus(run_ns, m->b->p->cells[g->first_cell].run_ns);
	s = plan_hop_s(m->b, m->column, p) + (double)run_ns / 1e9;
	/* a part of a second is one, but for what rounding leaves of nothing */
	return (uint64_t)ceil(s - 1e-6);
}

static void fill_boot(struct making *m, const struct plan_group *g, struct plan_boot *x)
{
	const struct plan_cell *first = &m->b->p->cells[g->first_cell];

	/* a boot is shown under the label of its first cell that runs and was asked for */
	while (first->infeasible || first->canary)
		first++;
	x->machine = first->machine;
	x->kernel = first->kernel;
	x->kernel_label = first->kernel_label;
	x->lsm_label = first->lsm_label;
	x->lsm_request = first->lsm_request;
	x->lsm_effective = first->lsm_effective;
	x->cmdline = first->cmdline;
	x->variant = first->variant;
	x->settings = first->settings;
	x->peer = first->peer;
	x->leave_by_reboot = g->leave;
}

static void add_server(struct plan_column *server, const struct plan_boot *x, uint32_t blocks_min)
{
	server->server_s += x->seconds;
	if (x->block <= blocks_min)
		server->server_least_s += x->seconds;
}

static void add_boot(void *arg, size_t group, const struct plan_slot *at, bool ends)
{
	struct making *m = arg;
	struct plan *p = m->b->p;
	struct plan_group *g = &m->b->groups[m->order[group]];
	const struct plan_peer *peer = &m->column->peers[g->peer];
	struct plan_boot *x = &p->boots[p->n_boots++];
	uint32_t run = 0;
	size_t i;

	fill_boot(m, g, x);
	x->block = at->block;
	x->position = at->position;
	x->visit = at->visit;
	x->canary = ends && g->canary;
	x->slots = g->feasible + x->canary;
	x->seconds = boot_seconds(m, g, x->canary);
	if (peer->machine)
		add_server(&m->b->columns[m->b->column_at[peer->machine - m->b->in->machines] - 1],
			   x, p->blocks_min);
	for (i = g->first_cell; i < g->first_cell + g->n_cells; i++) {
		if (p->cells[i].infeasible || (p->cells[i].canary && !x->canary))
			continue;
		p->slots[p->n_slots++] = (struct plan_slot){
			.cell = i, .block = at->block, .visit = at->visit, .position = ++run};
	}
}

static void add_infeasible_slots(struct plan_builder *b, const struct plan_group *g)
{
	uint32_t block;
	size_t i;

	for (i = g->first_cell; i < g->first_cell + g->n_cells; i++)
		for (block = 1; b->p->cells[i].infeasible && block <= b->p->blocks; block++)
			b->p->slots[b->p->n_slots++] =
				(struct plan_slot){.cell = i, .block = block};
}

/* Groups that can run, those that kexec can leave first; in `order`. */
static size_t sort_groups(const struct plan_builder *b, const struct plan_column *c, size_t *order,
			  size_t *ret_normal)
{
	size_t n = 0, i;
	int leave;

	for (leave = 0; leave < 2; leave++) {
		for (i = c->first_group; i < c->first_group + c->n_groups; i++)
			if (b->groups[i].feasible > 0 && b->groups[i].leave == (leave == 1))
				order[n++] = i;
		if (!leave)
			*ret_normal = n;
	}
	return n;
}

static void order_machine(struct plan_builder *b, struct plan_column *c, size_t *scratch)
{
	struct making m = {b, c, scratch};
	struct plan_visits v = {
		.machine = c->name,
		.seed = b->in->seed,
		.order = b->p->order,
		.first_block = 1,
		.n_blocks = b->p->blocks,
		.boot = add_boot,
		.arg = &m,
	};
	size_t i;

	for (i = c->first_group; i < c->first_group + c->n_groups; i++)
		add_infeasible_slots(b, &b->groups[i]);
	v.n = sort_groups(b, c, scratch, &v.n_normal);
	v.scratch = scratch + v.n;
	plan_visit(&v);
}

static void sum_machine(struct plan_builder *b, struct plan_column *c, size_t first_slot,
			size_t first_boot)
{
	struct plan_machine_sum *sum = &b->p->machines[b->p->n_machines++];
	size_t i;

	sum->machine = c->name;
	sum->slots = b->p->n_slots - first_slot;
	sum->boots = (uint32_t)(b->p->n_boots - first_boot);
	for (i = first_boot; i < b->p->n_boots; i++) {
		sum->seconds += b->p->boots[i].seconds;
		if (b->p->boots[i].block <= b->p->blocks_min)
			sum->seconds_least += b->p->boots[i].seconds;
	}
}

/* ---- what cannot run ---- */

/* Cells of one machine with the same reason are one entry, which says what they have in common. */
struct reason {
	const struct plan_cell *first;
	size_t cells;
	bool kernel, lsm, variant, workload, params, peer; /* the same for all */
};

static void compare_cells(struct reason *r, const struct plan_cell *c)
{
	const struct plan_cell *x = r->first;

	r->cells++;
	r->kernel = r->kernel && x->kernel == c->kernel;
	r->lsm = r->lsm && x->lsm_label == c->lsm_label;
	r->variant = r->variant && strcmp(x->variant, c->variant) == 0;
	r->workload = r->workload && strcmp(x->workload, c->workload) == 0;
	r->params = r->params && r->workload && strcmp(x->params, c->params) == 0;
	r->peer = r->peer && x->peer == c->peer;
}

static void add_part(struct kg_str *s, bool shared, const char *prefix, const char *text)
{
	if (shared && text[0])
		kg_str_addf(s, " %s%s", prefix, text);
}

static const char *cell_text(struct plan_builder *b, const struct reason *r)
{
	const struct plan_cell *c = r->first;
	struct kg_str s = {0};
	const char *text;

	kg_str_add(&s, c->machine);
	add_part(&s, r->kernel, "", c->kernel_label);
	add_part(&s, r->lsm, "", c->lsm_label);
	add_part(&s, r->variant, "", c->variant);
	add_part(&s, r->workload, "", c->workload);
	add_part(&s, r->params, "", c->params);
	add_part(&s, r->peer, "with ", c->peer);
	if (r->cells > 1)
		kg_str_addf(&s, " (%zu cells)", r->cells);
	text = s.failed ? NULL : plan_keep(b, kg_str_text(&s));
	kg_str_deinit(&s);
	return text;
}

/* Texts of the plan that are alike are often one piece of memory, and not always. */
static bool same_reason(const struct plan_cell *x, const struct plan_cell *y)
{
	return x->machine == y->machine &&
	       (x->infeasible == y->infeasible || strcmp(x->infeasible, y->infeasible) == 0);
}

struct reasons {
	struct plan_table table;
	struct reason *items; /* owned */
	size_t n, size;
};

static int count_reason(struct plan_builder *b, struct reasons *all, const struct plan_cell *c)
{
	uint64_t h = plan_hash_text(0, c->infeasible);
	struct reason *r;

	for (h = plan_hash_number(h, (uint64_t)(uintptr_t)c->machine);
	     all->table.at[h & all->table.mask]; h++) {
		r = &all->items[all->table.at[h & all->table.mask] - 1];
		if (!same_reason(r->first, c))
			continue;
		compare_cells(r, c);
		return 0;
	}
	if (plan_grow((void **)&all->items, &all->size, all->n + 1, sizeof(*all->items)) < 0)
		return plan_no_memory(b->err);
	all->items[all->n++] = (struct reason){c, 1, true, true, true, true, true, true};
	all->table.at[h & all->table.mask] = (uint32_t)all->n;
	return 0;
}

static int list_reasons(struct plan_builder *b, struct reasons *all, size_t n_infeasible)
{
	struct plan *p = b->p;
	size_t i;
	int rc = plan_table_init(b, &all->table, n_infeasible);

	for (i = 0; i < p->n_cells && rc == 0; i++)
		if (p->cells[i].infeasible)
			rc = count_reason(b, all, &p->cells[i]);
	if (rc < 0)
		return rc;
	p->infeasible = calloc(all->n + 1, sizeof(*p->infeasible));
	if (!p->infeasible)
		return plan_no_memory(b->err);
	for (i = 0; i < all->n; i++) {
		struct plan_infeasible *x = &p->infeasible[p->n_infeasible++];

		x->cell = cell_text(b, &all->items[i]);
		x->reason = all->items[i].first->infeasible;
		x->slots = (uint64_t)all->items[i].cells * p->blocks;
		if (!x->cell)
			return plan_no_memory(b->err);
	}
	return 0;
}

static int add_infeasible(struct plan_builder *b, size_t n_infeasible)
{
	struct reasons all = {0};
	int rc = n_infeasible ? list_reasons(b, &all, n_infeasible) : 0;

	free(all.items);
	if (rc == 0 && b->p->n_boots == 0)
		rc = plan_add_warning(b, "nothing can run: all %zu cells are infeasible",
				      b->p->n_cells);
	return rc;
}

/* ---- all ---- */

static int make_room(struct plan_builder *b, size_t *ret_infeasible)
{
	struct plan *p = b->p;
	size_t boots = 0, canaries = 0, i;

	*ret_infeasible = 0;
	for (i = 0; i < b->n_groups; i++) {
		boots += b->groups[i].feasible > 0;
		canaries += b->groups[i].canary;
		*ret_infeasible +=
			b->groups[i].n_cells - b->groups[i].canary - b->groups[i].feasible;
	}
	/* of a canary, at most two a block and machine have slots */
	if (canaries > 2 * b->n_own)
		canaries = 2 * b->n_own;
	p->slots = calloc((p->n_cells - (size_t)p->canaries + canaries) * p->blocks + 1,
			  sizeof(*p->slots));
	p->boots = calloc(boots * p->blocks + 1, sizeof(*p->boots));
	p->machines = calloc(b->n_columns, sizeof(*p->machines));
	return p->slots && p->boots && p->machines ? 0 : plan_no_memory(b->err);
}

int plan_make_boots(struct plan_builder *b)
{
	size_t *scratch = plan_scratch(b, 2 * b->n_groups + 1, sizeof(*scratch));
	size_t i, infeasible = 0;
	int rc = make_room(b, &infeasible);

	if (rc == 0 && !scratch)
		rc = plan_no_memory(b->err);
	for (i = 0; i < b->n_columns && rc == 0; i++) {
		size_t first_slot = b->p->n_slots, first_boot = b->p->n_boots;

		if (i < b->n_own)
			order_machine(b, &b->columns[i], scratch);
		sum_machine(b, &b->columns[i], first_slot, first_boot);
	}
	/* a server's time is known when all clients have their boots */
	for (i = 0; i < b->n_columns && rc == 0; i++) {
		b->p->machines[i].seconds += b->columns[i].server_s;
		b->p->machines[i].seconds_least += b->columns[i].server_least_s;
	}
	return rc < 0 ? rc : add_infeasible(b, infeasible);
}
