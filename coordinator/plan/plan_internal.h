/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that make a plan only. */
#ifndef KG_PLAN_PLAN_INTERNAL_H
#define KG_PLAN_PLAN_INTERNAL_H

#include "common/arena.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/warn.h"

struct plan_group {	/* machine x kernel x effective list: one boot a block */
	size_t machine; /* index into builder.machines */
	size_t kernel;	/* index into builder.kernels */
	size_t lsm;	/* the first label's index */
	const char *cmdline, *effective, *infeasible; /* in the plan's memory */
	size_t first_cell, n_cells;		      /* its cells stand side by side */
	uint32_t feasible;
	uint64_t run_ns; /* of all feasible cells */
};

struct plan_set { /* one workload with one set of parameters, on one machine */
	const struct job_workload *workload;
	const char *digest, *infeasible; /* in the plan's memory */
	struct kg_params params;	 /* owned */
	char *text;			 /* of the parameters, owned */
	uint32_t order;
	uint32_t timeout_s;
	uint64_t run_ns;
	bool duplicate;
};

struct plan_sets { /* all of one machine */
	struct plan_set *items;
	size_t n;
};

struct plan_selected { /* a kernel of the job */
	const struct plan_kernel *kernel;
	const char *shown;	/* label or release; in the plan's memory */
	struct lsm_kernel lsm;	/* with the name that warnings use */
	const char *infeasible; /* NULL: none */
};

struct plan_builder {
	const struct plan_input *in;
	const struct job_spec *job;
	struct kg_err *err;
	struct plan *p;
	struct kg_arena *memory;
	const struct plan_machine **machines; /* selected, by name or in the file's order */
	size_t n_machines;
	struct plan_selected *kernels; /* in the file's order */
	size_t n_kernels;
	struct plan_sets *sets;	   /* per machine */
	struct plan_group *groups; /* by machine, kernel, first label */
	size_t n_groups;
	size_t *group_of;   /* [machine][kernel][lsm] */
	bool *exclude_used; /* per exclude: it has matched some cell */
};

/* The steps, in order; each 0 or an error with its text set. */
int plan_select(struct plan_builder *b);
int plan_make_sets(struct plan_builder *b);
int plan_make_groups(struct plan_builder *b);
int plan_make_cells(struct plan_builder *b);
int plan_make_order(struct plan_builder *b);
void plan_sets_deinit(struct plan_sets *s);

int plan_no_memory(struct kg_err *err); /* sets the text, returns -ENOMEM */
/* Formatted text in the plan's memory; NULL: out of memory. */
const char *plan_text(struct plan_builder *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Warning of the plan; 0 or an error with its text set. */
int plan_add_warning(struct plan_builder *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const struct plan_offer *plan_find_offer(const struct plan_machine *m, const char *name);

#endif
