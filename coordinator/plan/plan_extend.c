/* SPDX-License-Identifier: GPL-2.0-or-later */
/* More blocks of cells that were planned before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

struct known_group {
	size_t first, n; /* cells, side by side */
	bool leave;
	size_t feasible; /* the canary apart */
};

struct extension {
	const struct plan_extend_input *in;
	struct known_group *groups; /* owned, of the machine at hand */
	size_t *order;		    /* owned: its groups, those that kexec can leave first */
	size_t *scratch;	    /* owned */
	struct plan_slot *slots;    /* owned */
	size_t n, size;
	bool failed;
};

static bool same_group(const struct plan_known_cell *x, const struct plan_known_cell *y)
{
	return strcmp(x->kernel, y->kernel) == 0 &&
	       strcmp(x->lsm_effective, y->lsm_effective) == 0 &&
	       strcmp(x->cmdline, y->cmdline) == 0 && strcmp(x->settings, y->settings) == 0 &&
	       strcmp(x->peer, y->peer) == 0;
}

static void add_slot(struct extension *x, size_t cell, const struct plan_slot *at, uint32_t run)
{
	if (x->failed || plan_grow((void **)&x->slots, &x->size, x->n + 1, sizeof(*x->slots)) < 0) {
		x->failed = true;
		return;
	}
	x->slots[x->n] = *at;
	x->slots[x->n].cell = cell;
	x->slots[x->n++].position = run;
}

static void add_boot(void *arg, size_t group, const struct plan_slot *at, bool ends)
{
	struct extension *x = arg;
	const struct known_group *g = &x->groups[x->order[group]];
	uint32_t run = 0;
	size_t i;

	for (i = g->first; i < g->first + g->n; i++) {
		const struct plan_known_cell *c = &x->in->cells[i];

		if (c->infeasible || (c->canary && !ends))
			continue;
		add_slot(x, i, at, ++run);
	}
}

/* Slots of cells that cannot run, cell by cell. */
static void add_infeasible(struct extension *x, size_t first, size_t last)
{
	uint32_t k;
	size_t i;

	for (i = first; i < last; i++) {
		for (k = 0; x->in->cells[i].infeasible && k < x->in->n_blocks; k++) {
			const struct plan_slot at = {.block = x->in->first_block + k};

			add_slot(x, i, &at, 0);
		}
	}
}

static size_t find_groups(struct extension *x, size_t first, size_t last)
{
	const struct plan_known_cell *cells = x->in->cells;
	size_t n = 0, i;

	for (i = first; i < last; i++) {
		struct known_group *g;

		if (i == first || !same_group(&cells[i - 1], &cells[i]))
			x->groups[n++] = (struct known_group){.first = i};
		g = &x->groups[n - 1];
		g->n++;
		g->feasible += !cells[i].infeasible && !cells[i].canary;
		g->leave = g->leave || cells[i].leave_by_reboot;
	}
	return n;
}

static void extend_machine(struct extension *x, size_t first, size_t last)
{
	size_t n_groups = find_groups(x, first, last), i;
	struct plan_visits v = {
		.machine = x->in->cells[first].machine,
		.seed = x->in->seed,
		.order = x->in->order,
		.first_block = x->in->first_block,
		.n_blocks = x->in->n_blocks,
		.last_visit = x->in->last_visit[first],
		.boot = add_boot,
		.arg = x,
		.scratch = x->scratch,
	};
	int leave;

	add_infeasible(x, first, last);
	for (leave = 0; leave < 2; leave++) {
		for (i = 0; i < n_groups; i++)
			if (x->groups[i].feasible > 0 && x->groups[i].leave == (leave == 1))
				x->order[v.n++] = i;
		if (!leave)
			v.n_normal = v.n;
	}
	plan_visit(&v);
}

int plan_extend(const struct plan_extend_input *in, struct plan_slot **ret_slots, size_t *ret_n,
		struct kg_err *err)
{
	struct extension x = {.in = in};
	uint64_t slots = 0;
	size_t first, last;

	for (first = 0; first < in->n_cells; first++)
		slots += !in->cells[first].canary;
	slots = plan_times(slots, in->n_blocks);
	if (in->first_block < 1 || in->n_blocks < 1 || in->n_blocks > UINT32_MAX - in->first_block)
		return kg_err_set(err, KG_EINVALID, "a job is extended by 1 block or more");
	if (slots > (in->max_slots ? in->max_slots : PLAN_MAX_SLOTS))
		return kg_err_set(err, KG_ELIMIT,
				  "%u more blocks of %zu cells are %llu slots, the limit is %llu",
				  in->n_blocks, in->n_cells, (unsigned long long)slots,
				  (unsigned long long)(in->max_slots ? in->max_slots
								     : PLAN_MAX_SLOTS));
	x.groups = calloc(in->n_cells + 1, sizeof(*x.groups));
	x.order = calloc(in->n_cells + 1, sizeof(*x.order));
	x.scratch = calloc(in->n_cells + 1, sizeof(*x.scratch));
	x.failed = !x.groups || !x.order || !x.scratch;
	for (first = 0; first < in->n_cells && !x.failed; first = last) {
		for (last = first + 1; last < in->n_cells; last++)
			if (strcmp(in->cells[last].machine, in->cells[first].machine) != 0)
				break;
		extend_machine(&x, first, last);
	}
	free(x.groups);
	free(x.order);
	free(x.scratch);
	if (x.failed) {
		free(x.slots);
		return plan_no_memory(err);
	}
	*ret_slots = x.slots;
	*ret_n = x.n;
	return 0;
}
