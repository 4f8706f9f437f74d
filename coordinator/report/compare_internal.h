/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the comparison tables: what a table is made of, before it is text. */
#ifndef KG_COORDINATOR_REPORT_COMPARE_INTERNAL_H
#define KG_COORDINATOR_REPORT_COMPARE_INTERNAL_H

#include "coordinator/report/compare_tables.h"

struct column {
	const char *kernel;
	const char *lsm;
	const char *effective; /* of the first cell that has it */
	uint32_t kernel_order, lsm_order;
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
	size_t *values; /* value indices, by group and metric */
};

int layout_init(struct layout *l, const struct report_input *in, struct kg_err *err);
void layout_deinit(struct layout *l);

/* Whether a baseline has a star for the kernel or for the list: see compare_tables.h. */
bool report_has_slices(const char *baseline);
typedef int (*report_slice_fn)(const struct report_input *part, void *arg, struct kg_err *err);
/* Calls `fn` for each slice in the job file's order, with the baseline of that slice. */
int report_each_slice(const struct report_input *in, report_slice_fn fn, void *arg,
		      struct kg_err *err);

int add_notes(const struct layout *l, Kgrid__V1__CompareReply *reply);

/* malloc'ed parts, as protobuf-c frees them; -ENOMEM */
int set_text(char **field, const char *text);
int push(void *items, size_t *n, void *item, const ProtobufCMessageDescriptor *d);
void *message_new(const ProtobufCMessageDescriptor *d);

#endif
