/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/server/reply_plan.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT(s) ((char *)(uintptr_t)(s))

/* `n` messages of a type behind each other, and the list of their addresses. */
#define NEW_LIST(a, list, n)                                        \
	((list) = kg_arena_alloc((a), ((n) + 1) * sizeof(*(list))), \
	 (list) ? kg_arena_alloc((a), ((n) + 1) * sizeof(**(list))) : NULL)

static int fill_machines(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	Kgrid__V1__PlannedMachine *m = NEW_LIST(a, out->machines, p->n_machines);
	size_t i;

	if (!m)
		return -ENOMEM;
	for (i = 0; i < p->n_machines; i++, m++) {
		kgrid__v1__planned_machine__init(m);
		m->machine = TEXT(p->machines[i].machine);
		m->has_boots = m->has_slots = m->has_seconds = 1;
		m->boots = p->machines[i].boots;
		m->slots = (uint32_t)p->machines[i].slots;
		m->seconds = p->machines[i].seconds;
		m->has_seconds_least = p->blocks_min < p->blocks;
		m->seconds_least = p->machines[i].seconds_least;
		m->estimate = TEXT(p->machines[i].estimate);
		out->machines[out->n_machines++] = m;
	}
	return 0;
}

static void fill_boot(const struct plan_boot *in, Kgrid__V1__PlannedBoot *b)
{
	kgrid__v1__planned_boot__init(b);
	b->machine = TEXT(in->machine);
	b->has_block = b->has_position = b->has_slots = b->has_seconds = 1;
	b->block = in->block;
	b->position = in->position;
	b->slots = in->slots;
	b->seconds = in->seconds;
	b->kernel = TEXT(in->kernel_label);
	b->lsm = TEXT(in->lsm_label);
	b->effective = TEXT(in->lsm_effective);
	b->variant = TEXT(in->variant);
	if (in->peer && in->peer[0]) {
		b->role = TEXT("client");
		b->peer = TEXT(in->peer);
	}
	b->has_canary = 1;
	b->canary = in->canary;
	if (in->leave_by_reboot)
		b->leave = TEXT("reboot");
}

static int fill_boots(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	size_t i, n = p->n_boots < REPLY_PLAN_MAX_BOOTS ? p->n_boots : REPLY_PLAN_MAX_BOOTS;
	Kgrid__V1__PlannedBoot *b = NEW_LIST(a, out->boots, n);

	if (!b)
		return -ENOMEM;
	for (i = 0; i < n; i++, b++) {
		fill_boot(&p->boots[i], b);
		out->boots[out->n_boots++] = b;
	}
	return 0;
}

static int fill_infeasible(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	size_t i,
		n = p->n_infeasible < REPLY_PLAN_MAX_BOOTS ? p->n_infeasible : REPLY_PLAN_MAX_BOOTS;
	Kgrid__V1__Infeasible *f = NEW_LIST(a, out->infeasible, n);

	if (!f)
		return -ENOMEM;
	for (i = 0; i < n; i++, f++) {
		kgrid__v1__infeasible__init(f);
		f->cell = TEXT(p->infeasible[i].cell);
		f->reason = TEXT(p->infeasible[i].reason);
		f->has_slots = 1;
		f->slots = p->infeasible[i].slots;
		out->infeasible[out->n_infeasible++] = f;
	}
	return 0;
}

static int fill_axes(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	Kgrid__V1__PlannedAxis *x = NEW_LIST(a, out->axes, p->n_axes);
	size_t i;

	if (!x)
		return -ENOMEM;
	for (i = 0; i < p->n_axes; i++, x++) {
		kgrid__v1__planned_axis__init(x);
		x->name = TEXT(p->axes[i].name);
		x->values = (char **)(uintptr_t)p->axes[i].values;
		x->n_values = p->axes[i].n;
		x->unit = TEXT(p->axes[i].unit);
		out->axes[out->n_axes++] = x;
	}
	return 0;
}

static int fill_detect(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	Kgrid__V1__PlannedDetect *d = NEW_LIST(a, out->detect, p->n_detectable);
	size_t i;

	if (!d)
		return -ENOMEM;
	for (i = 0; i < p->n_detectable; i++, d++) {
		const struct plan_detectable *in = &p->detectable[i];

		kgrid__v1__planned_detect__init(d);
		d->machine = TEXT(in->machine);
		d->workload = TEXT(in->workload);
		d->params = TEXT(in->params);
		d->metric = TEXT(in->metric);
		d->has_boots = 1;
		d->boots = p->blocks_min ? p->blocks_min : p->blocks;
		d->has_detectable_pct = d->has_between_cov_pct = !isnan(in->pct);
		d->detectable_pct = in->pct;
		d->between_cov_pct = in->between_cov_pct;
		d->has_history_boots = in->boots > 0;
		d->history_boots = in->boots;
		d->note = TEXT(in->note && in->note[0] ? in->note : NULL);
		out->detect[out->n_detect++] = d;
	}
	return 0;
}

static int fill_cells(const struct plan *p, struct kg_arena *a, Kgrid__V1__Plan *out)
{
	Kgrid__V1__PlannedCell *c = NEW_LIST(a, out->listed, p->n_cells);
	size_t i;

	if (!c)
		return -ENOMEM;
	for (i = 0; i < p->n_cells; i++, c++) {
		const struct plan_cell *in = &p->cells[i];

		kgrid__v1__planned_cell__init(c);
		c->has_number = c->has_canary = 1;
		c->number = i + 1;
		c->identity = TEXT(in->identity);
		c->machine = TEXT(in->machine);
		c->kernel = TEXT(in->kernel_label);
		c->lsm = TEXT(in->lsm_label);
		c->variant = TEXT(in->variant);
		c->workload = TEXT(in->workload);
		c->params = TEXT(in->params);
		if (in->peer && in->peer[0]) {
			c->role = TEXT("client");
			c->peer = TEXT(in->peer);
		}
		c->infeasible = TEXT(in->infeasible);
		c->canary = in->canary;
		out->listed[out->n_listed++] = c;
	}
	return 0;
}

static int fill_rule(const struct plan *p, const struct job_spec *j, struct kg_arena *a,
		     Kgrid__V1__Plan *out)
{
	char text[200];
	int n;

	if (p->blocks_min >= p->blocks || !j->until)
		n = p->blocks == 1 ? snprintf(text, sizeof(text), "1 boot a side is made")
				   : snprintf(text, sizeof(text), "all %u boots a side are made",
					      p->blocks);
	else
		n = snprintf(text, sizeof(text),
			     "%u boots a side, then on to at most %u until %.80s, judged on each "
			     "machine after each block",
			     p->blocks_min, p->blocks, j->until);
	out->stop_rule =
		kg_arena_text(a, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
	return out->stop_rule ? 0 : -ENOMEM;
}

int reply_plan_fill(const struct plan *p, const struct job_spec *j, bool list_cells,
		    struct kg_arena *a, Kgrid__V1__Plan *out)
{
	out->has_cells = out->has_slots = out->has_seed = 1;
	out->has_full_cells = out->has_excluded = out->has_duplicates = out->has_merged =
		out->has_left_by_pairwise = 1;
	out->cells = p->n_cells;
	out->slots = p->n_slots;
	out->seed = p->seed;
	out->full_cells = p->full;
	out->excluded = p->excluded;
	out->duplicates = p->duplicates;
	out->merged = p->merged;
	out->left_by_pairwise = p->pairwise_left;
	out->order = TEXT(p->order == JOB_GROUPED ? "grouped" : "interleaved");
	out->warnings = p->warnings.items;
	out->n_warnings = p->warnings.n;
	if (fill_machines(p, a, out) < 0 || fill_boots(p, a, out) < 0 ||
	    fill_infeasible(p, a, out) < 0 || fill_axes(p, a, out) < 0 ||
	    fill_detect(p, a, out) < 0 || fill_rule(p, j, a, out) < 0 ||
	    (list_cells && fill_cells(p, a, out) < 0))
		return -ENOMEM;
	return 0;
}

int reply_plan_history(const struct store_history *h, struct kg_arena *a, struct plan_history *ret)
{
	struct plan_pace *paces = kg_arena_alloc(a, (h->n_paces + 1) * sizeof(*paces));
	struct plan_hop *hops = kg_arena_alloc(a, (h->n_hops + 1) * sizeof(*hops));
	struct plan_spread *spreads = kg_arena_alloc(a, (h->n_spreads + 1) * sizeof(*spreads));
	size_t i;

	if (!paces || !hops || !spreads)
		return -ENOMEM;
	for (i = 0; i < h->n_paces; i++)
		paces[i] = (struct plan_pace){
			.machine = h->paces[i].machine,
			.workload = h->paces[i].workload,
			.params = h->paces[i].params,
			.iteration_s = h->paces[i].iteration_s,
			.attempts = h->paces[i].attempts,
		};
	for (i = 0; i < h->n_hops; i++)
		hops[i] = (struct plan_hop){
			.machine = h->hops[i].machine,
			.seconds = h->hops[i].seconds,
			.boots = h->hops[i].boots,
		};
	for (i = 0; i < h->n_spreads; i++)
		spreads[i] = (struct plan_spread){
			.machine = h->spreads[i].machine,
			.workload = h->spreads[i].workload,
			.params = h->spreads[i].params,
			.metric = h->spreads[i].metric,
			.between_cov_pct = h->spreads[i].between_cov_pct,
			.boots = h->spreads[i].boots,
		};
	*ret = (struct plan_history){
		.paces = paces,
		.n_paces = h->n_paces,
		.hops = hops,
		.n_hops = h->n_hops,
		.spreads = spreads,
		.n_spreads = h->n_spreads,
	};
	return 0;
}
