/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs as a test puts them together, cell by cell, and boots that measure what it says. */
#ifndef KG_TESTS_STORE_PLANS_H
#define KG_TESTS_STORE_PLANS_H

#include "fixture.h"

#define PLAN_CELLS 24
#define PLAN_SLOTS 256
#define SECOND	   1000000000LL

struct plan_job {
	struct store_job job; /* lists point to the arrays below */
	struct store_cell cells[PLAN_CELLS];
	struct store_slot slots[PLAN_SLOTS];
	char identities[PLAN_CELLS][8];
};

/* A job of one block without cells on kernels "old" and "new" of fixture_kernels. */
void plan_init(struct plan_job *p, const char *name);
/* A netperf cell on MACHINE with list "nt"; gives it for changes. `fresh` digests are KERNEL_A, _B. */
struct store_cell *plan_cell(struct plan_job *p, bool fresh);
/* A slot of each cell in each block; visits are one per kernel x variant, in the order of cells. */
void plan_slots(struct plan_job *p, uint32_t blocks);
/* Inserts it; the job's number. Slots of the first job of a file are numbered from 1. */
uint64_t plan_insert(struct fixture *f, struct plan_job *p, struct answer *ret);

/* One boot, from its order to its end, whose attempts all pass with three values around base[i]. */
void plan_boot(struct fixture *f, uint64_t id, uint64_t job, const struct fixture_where *w,
	       const uint64_t *slots, const double *base, size_t n);

#endif
