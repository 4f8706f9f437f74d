/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the comparison tables: groups of machines, and interactions. */
#ifndef KG_COORDINATOR_REPORT_COMPARE_GROUPS_H
#define KG_COORDINATOR_REPORT_COMPARE_GROUPS_H

#include "coordinator/analysis/meta.h"
#include "coordinator/report/compare_internal.h"

enum group_kind { GROUP_VENDOR, GROUP_MICROARCHITECTURE, GROUP_ALL, GROUP_KINDS };

/* One summary: of one workload, metric, parameters and column. */
struct summed {
	enum group_kind kind;
	const char *name;	 /* "AuthenticAMD" */
	const struct pair *pair; /* the first of the subject */
	enum verdict_direction direction;
	double min_effect_pct;
	struct meta_summary summary;
};

struct groups {
	struct summed *items; /* owned; those of one subject stand together */
	size_t n, cap;
	size_t without; /* subjects that no machine has an interval for */
};

int groups_sum_up(const struct pairs *p, struct groups *groups, Kgrid__V1__CompareReply *reply);
/* Same workload, metric, parameters, baseline and column. */
int groups_order_subject(const struct pair *x, const struct pair *y);
/* Of a log ratio; positive is better. */
double groups_percent(double log_ratio, enum verdict_direction direction);

/* One interaction that was looked at. */
struct interaction {
	char *subject;	     /* owned: what costs more, "6.12/full" or "full" */
	char *where, *base;  /* owned: "on AuthenticAMD", "on GenuineIntel" */
	const char *machine; /* NULL: over machines */
	const char *workload, *params;
	const struct report_metric *metric;
	enum verdict_direction direction;
	double min_effect_pct;
	double log_ratio, lo, hi, p; /* not turned by the direction */
};

struct interactions {
	struct interaction *items; /* owned */
	size_t n, cap;
};

void interactions_deinit(struct interactions *x);
/* Between vendors, and between microarchitectures. */
int interactions_of_groups(const struct groups *g, struct interactions *x);
/* Kernel x list on each machine. */
int interactions_of_cells(const struct report_input *in, struct interactions *x,
			  struct kg_err *err);
/* Those that stand out after correction, as text, and how many were looked at. */
int interactions_report(const struct interactions *x, const struct verdict_policy *policy,
			Kgrid__V1__CompareReply *reply);

#endif
