/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/server/reply_plan.h"

#include <errno.h>
#include <stdint.h>

#define TEXT(s) ((char *)(uintptr_t)(s))

static int fill_machines(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	size_t i;

	out->machines = kg_arena_alloc(a, (p->n_machines + 1) * sizeof(*out->machines));
	if (!out->machines)
		return -ENOMEM;
	for (i = 0; i < p->n_machines; i++) {
		Kgrid__V1__PlannedMachine *m = kg_arena_alloc(a, sizeof(*m));

		if (!m)
			return -ENOMEM;
		kgrid__v1__planned_machine__init(m);
		m->machine = TEXT(p->machines[i].machine);
		m->has_boots = m->has_slots = m->has_seconds = 1;
		m->boots = p->machines[i].boots;
		m->slots = (uint32_t)p->machines[i].slots;
		m->seconds = p->machines[i].seconds;
		out->machines[out->n_machines++] = m;
	}
	return 0;
}

static int fill_boots(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	size_t i, n = p->n_boots < REPLY_PLAN_MAX_BOOTS ? p->n_boots : REPLY_PLAN_MAX_BOOTS;

	out->boots = kg_arena_alloc(a, (n + 1) * sizeof(*out->boots));
	if (!out->boots)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct plan_boot *in = &p->boots[i];
		Kgrid__V1__PlannedBoot *b = kg_arena_alloc(a, sizeof(*b));

		if (!b)
			return -ENOMEM;
		kgrid__v1__planned_boot__init(b);
		b->machine = TEXT(in->machine);
		b->has_block = b->has_position = b->has_slots = 1;
		b->block = in->block;
		b->position = in->position;
		b->slots = in->slots;
		b->kernel = TEXT(in->kernel_label);
		b->lsm = TEXT(in->lsm_label);
		b->effective = TEXT(in->lsm_effective);
		out->boots[out->n_boots++] = b;
	}
	return 0;
}

static int fill_infeasible(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	size_t i,
		n = p->n_infeasible < REPLY_PLAN_MAX_BOOTS ? p->n_infeasible : REPLY_PLAN_MAX_BOOTS;

	out->infeasible = kg_arena_alloc(a, (n + 1) * sizeof(*out->infeasible));
	if (!out->infeasible)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		Kgrid__V1__Infeasible *f = kg_arena_alloc(a, sizeof(*f));

		if (!f)
			return -ENOMEM;
		kgrid__v1__infeasible__init(f);
		f->cell = TEXT(p->infeasible[i].cell);
		f->reason = TEXT(p->infeasible[i].reason);
		f->has_slots = 1;
		f->slots = p->infeasible[i].slots;
		out->infeasible[out->n_infeasible++] = f;
	}
	return 0;
}

int reply_plan_fill(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	out->has_cells = out->has_slots = out->has_seed = 1;
	out->cells = p->n_cells;
	out->slots = p->n_slots;
	out->seed = p->seed;
	out->order = TEXT(p->order == JOB_GROUPED ? "grouped" : "interleaved");
	out->warnings = p->warnings.items;
	out->n_warnings = p->warnings.n;
	if (fill_machines(p, a, out) < 0 || fill_boots(p, a, out) < 0 ||
	    fill_infeasible(p, a, out) < 0)
		return -ENOMEM;
	return 0;
}
