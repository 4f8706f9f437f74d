/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of differences: where items are collected before they are put in order. */
#ifndef KG_COORDINATOR_REPORT_DIFF_INTERNAL_H
#define KG_COORDINATOR_REPORT_DIFF_INTERNAL_H

#include "common/facts.h"
#include "coordinator/report/diff.h"
#include "coordinator/report/parts.h"

struct diff_text {
	const char *text; /* NULL: not there */
	size_t len;
};

struct diff_new {
	const char *section, *kind;
	struct diff_text name, a, b;
	bool a_unsupported, b_unsupported;
	unsigned weight;
	enum kg_fact_settable settable;
};

struct diff {
	Kgrid__V1__DiffItem **items; /* owned */
	size_t n, cap;
	uint64_t same;
	Kgrid__V1__DiffReply *reply;
};

struct diff_text diff_text(const char *text); /* NULL is "not there" */
/* Copies; control characters and bytes that are no UTF-8 are made visible, long texts cut. -ENOMEM */
int diff_add(struct diff *d, const struct diff_new *item);

int diff_configs(struct diff *d, const struct diff_text *a, const struct diff_text *b);
int diff_lists(struct diff *d, const char *a, const char *b);
int diff_cmdlines(struct diff *d, const char *a, const char *b);
int diff_lines(struct diff *d, const char *name, const struct diff_text *a,
	       const struct diff_text *b);

#endif
