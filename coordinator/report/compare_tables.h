/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison tables out of a job's cells and values: one table per machine x workload x metric, rows
 * are parameters, columns are kernel x lsm in the job file's order with the baseline first. Pure.
 *
 * Rows keep all their parameters: who shows them may leave out what is the same in all. Rows that
 * gave no value of any metric stand in the first table of their machine and workload, so that
 * nothing that was planned is missing.
 */
#ifndef KG_COORDINATOR_REPORT_COMPARE_TABLES_H
#define KG_COORDINATOR_REPORT_COMPARE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/outcome.h"
#include "proto/messages.h"

/* One cell of the job: machine x kernel x lsm x workload x parameters. Texts borrow. */
struct report_cell {
	uint64_t id;
	const char *machine;
	const char *cpu_name; /* NULL: not known, as the next two */
	const char *cpu_vendor;
	const char *clock;
	const char *kernel; /* label */
	const char *lsm;    /* label of the request */
	const char *lsm_effective;
	const char *workload;
	const char *params;
	uint32_t kernel_order, lsm_order, workload_order;
	uint64_t slots[KG_OUTCOME_COUNT]; /* by outcome; [KG_OUTCOME_NONE]: pending */
};

struct report_metric {
	const char *name;
	const char *unit;
	const char *direction; /* higher, lower, none */
};

/* One valid iteration: of an attempt that passed and decided its slot, not warm-up. */
struct report_value {
	size_t cell;   /* index */
	size_t metric; /* index */
	uint64_t boot;
	double value;
};

struct report_exclusion { /* slots without a valid value, by reason */
	const char *machine;
	const char *outcome;
	const char *reason; /* NULL: none */
	uint64_t slots;
};

struct report_input {
	const struct report_cell *cells;
	size_t n_cells;
	const struct report_metric *metrics;
	size_t n_metrics;
	const struct report_value *values;
	size_t n_values;
	const struct report_exclusion *exclusions;
	size_t n_exclusions;
	bool grouped; /* boot order */
	/* "KERNEL/LSM" or a part of it; NULL: the first column. A star in place of the kernel compares
	 * within each kernel against that list, one in place of the list within each list against that
	 * kernel. */
	const char *baseline;
	const char *metric; /* only this one; NULL: all */
};

/* Adds tables and notes to the reply. KG_ENOTFOUND, KG_EAMBIGUOUS (baseline, metric), -ENOMEM. */
int report_compare_tables(const struct report_input *in, Kgrid__V1__CompareReply *reply,
			  struct kg_err *err);

#endif
