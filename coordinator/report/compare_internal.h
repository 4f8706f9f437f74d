/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the comparison tables: what a table is made of, before it is text. */
#ifndef KG_COORDINATOR_REPORT_COMPARE_INTERNAL_H
#define KG_COORDINATOR_REPORT_COMPARE_INTERNAL_H

#include "common/str.h"
#include "coordinator/analysis/verdict.h"
#include "coordinator/report/compare_tables.h"
#include "coordinator/report/parts.h"

#define NO_METRIC SIZE_MAX

struct column {
	const char *kernel;
	const char *lsm;
	const char *digest; /* of the kernel; NULL: not known */
	const char *release;
	const char *effective; /* of the first cell that has it, as the next */
	const char *request;
	char *shown; /* owned: the kernel's label, with the digest where two had the label */
	uint32_t kernel_order, lsm_order;
	uint64_t
		first_id; /* of its first cell: in one job, variants of a list stand in its order */
};

/* One machine x workload. */
struct group {
	size_t first; /* into order[] */
	size_t n;
	const char **rows; /* parameter texts, borrow */
	uint32_t n_rows;
	bool *has_value; /* row: of any metric */
};

struct layout {
	const struct report_input *in;
	size_t *order;		/* cell indices: by machine, workload, job order */
	uint32_t *row_of;	/* by cell index: row in its group */
	uint32_t *column_of;	/* by cell index */
	size_t *group_of;	/* by cell index */
	struct column *columns; /* baseline first */
	uint32_t n_columns;
	struct group *groups;
	size_t n_groups;
	size_t *values; /* value indices, by group and metric; only finite ones */
	size_t n_values;
	size_t n_not_finite;
};

int layout_init(struct layout *l, const struct report_input *in, struct kg_err *err);
void layout_deinit(struct layout *l);

/* Whether a baseline has a star for the kernel or for the list: see compare_tables.h. */
bool report_has_slices(const char *baseline);
typedef int (*report_slice_fn)(const struct report_input *part, void *arg, struct kg_err *err);
/* Calls `fn` for each slice in the job file's order, with the baseline of that slice: every kernel or
 * list for a baseline with a star; without a baseline every machine's workload, which begins with what
 * was measured there. */
int report_each_slice(const struct report_input *in, report_slice_fn fn, void *arg,
		      struct kg_err *err);

/* ---- one table in numbers: compare_data.c ---- */

struct boot_info {
	uint64_t boot, job;
	uint32_t block, epoch;
};

/* One cell of a table. Its boots are those of one epoch, the newest, unless across_epochs. */
struct cell_data {
	const struct report_cell *cell; /* NULL: not planned */
	size_t first, n;		/* all boots, by epoch and number; into table.boots */
	size_t used, n_used;		/* those that count */
	bool mixed; /* values under one column with other lists or command lines */
	const struct report_cell *other; /* mixed: the one that is not as `cell` */
};

/* What was said of two configs; digests borrow from the input. */
struct config_note {
	const char *a, *b;
	char *text;
};

struct config_cache {
	struct config_note *items;
	size_t n, cap;
};
void config_cache_deinit(struct config_cache *c);

/* One table while it is made. */
struct table {
	const struct layout *l;
	size_t group;
	size_t metric;	/* or NO_METRIC */
	size_t *values; /* indices; sorted in place */
	size_t n_values;
	bool first;	 /* of its group: with rows that have no value at all */
	uint32_t *shown; /* row of the group -> row of the table, UINT32_MAX: not shown */
	const char **rows;
	uint32_t n_rows;
	struct cell_data *cells; /* n_rows x n_columns */
	double *numbers;
	struct verdict_boot *boots;
	struct boot_info *infos; /* beside boots */
	size_t n_boots;
	struct config_cache *configs; /* borrows; for add_comparability */
};

int table_init(struct table *t);
void table_deinit(struct table *t);
struct cell_data *table_cell(const struct table *t, uint32_t row, uint32_t column);
struct verdict_side table_side(const struct table *t, const struct cell_data *c);
const struct report_metric *table_metric(const struct table *t); /* NULL: none */
/* Calls `fn` for each table in order. */
typedef int (*table_fn)(struct table *t, void *arg, struct kg_err *err);
int each_table(const struct layout *l, table_fn fn, void *arg, struct kg_err *err);

/* Medians of the boots that count; owned, NULL: out of memory. */
double *table_medians(const struct table *t, const struct cell_data *d);

/* ---- more than one mode: compare_modes.c ---- */

struct modes_budget {
	size_t used, left_out; /* cells that were tested, that were not for want of time */
};
int cell_multimodal(const struct table *t, const struct cell_data *d, struct modes_budget *budget,
		    bool *ret); /* -ENOMEM */

/* ---- epochs: compare_epochs.c ---- */

/* Whether the boots of the cells may be compared. When not: text why goes to `why`, and, with
 * across_epochs, what the numbers are across. -ENOMEM. */
int cells_comparable(const struct table *t, const struct cell_data *const *cells, size_t n,
		     bool *ret_comparable, struct kg_str *why);
/* "microcode 0x1 -> 0x2, BIOS version ..." of a machine between two epochs. */
void add_epoch_changes(const struct report_input *in, const char *machine, uint32_t from,
		       uint32_t to, struct kg_str *s);

/* ---- pairs: compare_pairs.c ---- */

struct pair {
	Kgrid__V1__CompareTable *table; /* of the reply */
	Kgrid__V1__CompareCell *cell;
	const char *machine, *vendor, *microarchitecture, *workload, *params;
	const struct report_metric *metric; /* NULL: no value of any */
	uint32_t column;		    /* into table->columns; the baseline is 0 */
	char *why;			    /* owned: what stands before the verdict's own reason */
};

struct pairs {
	struct pair *items; /* owned, as the next two; all of n */
	struct verdict *verdicts;
	struct verdict_policy *policies;
	size_t n, cap;
	struct modes_budget modes;
};

void pairs_deinit(struct pairs *p);
/* Policy of a request; KG_EINVALID. */
int compare_policy(const struct report_input *in, struct verdict_policy *ret, struct kg_err *err);
/* Adds all pairs of a table and fills the values of its cells. */
int add_pairs(struct pairs *p, const struct table *t, const struct verdict_policy *policy,
	      Kgrid__V1__CompareTable *m, struct kg_err *err);
/* q and words over everything, into the reply's cells; everything_moved. */
int finish_pairs(struct pairs *p, Kgrid__V1__CompareReply *reply);
double row_min_effect(const struct report_input *in, const struct report_cell *cell,
		      const struct report_metric *metric, bool *ret_raised);

/* ---- what stands around the tables ---- */

/* Comparability lines of one table. */
int add_comparability(const struct table *t, Kgrid__V1__CompareTable *m);
int add_notes(const struct layout *l, Kgrid__V1__CompareReply *reply);
/* Sum of the cells' slots; owned message, NULL: out of memory. */
Kgrid__V1__Accounting *cells_accounting(const struct report_input *in);
int check_metric(const struct report_input *in, struct kg_err *err);

#endif
