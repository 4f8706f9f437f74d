/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks, the order of boots, slots, and the sums over them. */
#include "coordinator/plan/plan_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

/* splitmix64 and xoshiro256** by David Blackman and Sebastiano Vigna, in the public domain:
 * https://prng.di.unimi.it/splitmix64.c and xoshiro256starstar.c */
static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

struct prng {
	uint64_t s[4];
};

static uint64_t rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint64_t prng_next(struct prng *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

/* FNV-1a, 64 bit (draft-eastlake-fnv): mixes the machine's name into the seed. */
static uint64_t fnv1a(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

static void prng_init(struct prng *r, uint64_t seed, const char *machine, uint32_t block)
{
	uint64_t state = seed;
	int i;

	state = splitmix(&state) ^ fnv1a(machine);
	state = splitmix(&state) ^ block;
	for (i = 0; i < 4; i++)
		r->s[i] = splitmix(&state);
}

/* Evenly from 0 to n - 1, by rejection. */
static uint64_t prng_below(struct prng *r, uint64_t n)
{
	uint64_t threshold = (UINT64_C(0) - n) % n;
	uint64_t x;

	do
		x = prng_next(r);
	while (x < threshold);
	return x % n;
}

static void shuffle(struct prng *r, size_t *items, size_t n)
{
	size_t i;

	for (i = n; i > 1; i--) {
		size_t k = (size_t)prng_below(r, i);
		size_t t = items[i - 1];

		items[i - 1] = items[k];
		items[k] = t;
	}
}

/* ---- slots and boots ---- */

static void add_boot(struct plan_builder *b, const struct plan_group *g, uint32_t block,
		     uint32_t position, uint32_t visit)
{
	const struct plan_cell *first = &b->p->cells[g->first_cell];
	struct plan_boot *x = &b->p->boots[b->p->n_boots++];
	const struct plan_cell *c;
	uint32_t run = 0;
	size_t i;

	/* a boot is shown under the label of its first cell that runs */
	for (i = 0; first[i].infeasible; i++)
		;
	x->machine = first[i].machine;
	x->block = block;
	x->position = position;
	x->visit = visit;
	x->kernel = first[i].kernel;
	x->kernel_label = first[i].kernel_label;
	x->lsm_label = first[i].lsm_label;
	x->lsm_request = first[i].lsm_request;
	x->lsm_effective = first[i].lsm_effective;
	x->cmdline = first[i].cmdline;
	x->slots = g->feasible;
	x->seconds = PLAN_HOP_S + g->run_ns / 1000000000 + (g->run_ns % 1000000000 != 0);
	for (i = 0; i < g->n_cells; i++) {
		struct plan_slot *s;

		c = &b->p->cells[g->first_cell + i];
		if (c->infeasible)
			continue;
		s = &b->p->slots[b->p->n_slots++];
		s->cell = g->first_cell + i;
		s->block = block;
		s->visit = visit;
		s->position = ++run;
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

/* Boots of one machine; `order` holds the indices of its groups that can run. */
static void add_machine_boots(struct plan_builder *b, size_t *order, size_t n, const char *machine)
{
	uint32_t visit = 0;
	uint32_t block;
	size_t i;

	if (b->p->order == JOB_GROUPED) {
		for (i = 0; i < n; i++)
			for (block = 1; block <= b->p->blocks; block++)
				add_boot(b, &b->groups[order[i]], block, (uint32_t)i + 1, ++visit);
		return;
	}
	for (block = 1; block <= b->p->blocks; block++) {
		struct prng r;

		/* each permutation starts from the file's order: it depends on nothing before */
		for (i = 0; i < n; i++)
			order[n + i] = order[i];
		prng_init(&r, b->in->seed, machine, block);
		shuffle(&r, order + n, n);
		for (i = 0; i < n; i++)
			add_boot(b, &b->groups[order[n + i]], block, (uint32_t)i + 1, ++visit);
	}
}

static int order_machine(struct plan_builder *b, size_t machine, size_t *order)
{
	struct plan_machine_sum *sum = &b->p->machines[b->p->n_machines++];
	size_t first_slot = b->p->n_slots;
	size_t first_boot = b->p->n_boots;
	size_t n = 0;
	size_t i;

	sum->machine = plan_text(b, "%s", b->machines[machine]->facts.name);
	if (!sum->machine)
		return plan_no_memory(b->err);
	for (i = 0; i < b->n_groups; i++) {
		if (b->groups[i].machine != machine)
			continue;
		add_infeasible_slots(b, &b->groups[i]);
		if (b->groups[i].feasible > 0)
			order[n++] = i;
	}
	if (n > 0)
		add_machine_boots(b, order, n, sum->machine);
	sum->slots = b->p->n_slots - first_slot;
	sum->boots = (uint32_t)(b->p->n_boots - first_boot);
	for (i = first_boot; i < b->p->n_boots; i++)
		sum->seconds += b->p->boots[i].seconds;
	return 0;
}

/* ---- what cannot run ---- */

/* Cells of one machine with the same reason are one entry. */
struct reason {
	const struct plan_cell *first;
	size_t cells;
	bool one_workload, one_group;
};

static const char *cell_text(struct plan_builder *b, const struct reason *r)
{
	const struct plan_cell *c = r->first;

	if (r->cells == 1)
		return plan_text(b, "%s %s %s %s%s%s", c->machine, c->kernel_label, c->lsm_label,
				 c->workload, c->params[0] ? " " : "", c->params);
	if (r->one_group)
		return plan_text(b, "%s %s %s (%zu cells)", c->machine, c->kernel_label,
				 c->lsm_label, r->cells);
	if (r->one_workload)
		return plan_text(b, "%s %s (%zu cells)", c->machine, c->workload, r->cells);
	return plan_text(b, "%s %s (%zu cells)", c->machine, c->kernel_label, r->cells);
}

/* A reason's text is the same piece of memory for all cells that it was found for. */
static void count_reason(struct reason *reasons, size_t *n, const struct plan_cell *c)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (reasons[i].first->infeasible == c->infeasible &&
		    strcmp(reasons[i].first->machine, c->machine) == 0)
			break;
	if (i == *n) {
		reasons[(*n)++] = (struct reason){c, 1, true, true};
		return;
	}
	reasons[i].cells++;
	reasons[i].one_workload =
		reasons[i].one_workload && strcmp(reasons[i].first->workload, c->workload) == 0;
	reasons[i].one_group = reasons[i].one_group && reasons[i].first->group == c->group;
}

static int list_reasons(struct plan_builder *b, struct reason *reasons)
{
	struct plan *p = b->p;
	size_t n = 0;
	size_t i;

	for (i = 0; i < p->n_cells; i++)
		if (p->cells[i].infeasible)
			count_reason(reasons, &n, &p->cells[i]);
	p->infeasible = calloc(n + 1, sizeof(*p->infeasible));
	if (!p->infeasible)
		return plan_no_memory(b->err);
	for (i = 0; i < n; i++) {
		struct plan_infeasible *x = &p->infeasible[p->n_infeasible++];

		x->cell = cell_text(b, &reasons[i]);
		x->reason = reasons[i].first->infeasible;
		x->slots = (uint64_t)reasons[i].cells * p->blocks;
		if (!x->cell)
			return plan_no_memory(b->err);
	}
	return 0;
}

static int add_infeasible(struct plan_builder *b)
{
	/* at most one reason per group and one per workload and machine */
	size_t most = b->n_groups + b->n_machines * b->job->n_workloads + 1;
	struct reason *reasons = calloc(most, sizeof(*reasons));
	int rc;

	if (!reasons)
		return plan_no_memory(b->err);
	rc = list_reasons(b, reasons);
	free(reasons);
	if (rc == 0 && b->p->n_boots == 0)
		rc = plan_add_warning(b, "nothing can run: all %zu cells are infeasible",
				      b->p->n_cells);
	return rc;
}

int plan_make_order(struct plan_builder *b)
{
	struct plan *p = b->p;
	size_t *order = calloc(2 * b->n_groups, sizeof(*order));
	size_t i;
	int rc = 0;

	p->slots = calloc(p->n_cells * p->blocks, sizeof(*p->slots));
	p->boots = calloc(b->n_groups * p->blocks, sizeof(*p->boots));
	p->machines = calloc(b->n_machines, sizeof(*p->machines));
	if (!order || !p->slots || !p->boots || !p->machines)
		rc = plan_no_memory(b->err);
	for (i = 0; i < b->n_machines && rc == 0; i++)
		rc = order_machine(b, i, order);
	free(order);
	return rc < 0 ? rc : add_infeasible(b);
}
