/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How an attempt, and in the end a slot, ended: exactly one of these (DESIGN.md). */
#ifndef KG_COMMON_OUTCOME_H
#define KG_COMMON_OUTCOME_H

#include <stdbool.h>

enum kg_outcome {
	KG_OUTCOME_NONE = 0, /* pending */
	/* workload */
	KG_OUTCOME_PASS,
	KG_OUTCOME_FAIL,
	KG_OUTCOME_RUN_TIMEOUT,
	/* kernel */
	KG_OUTCOME_BOOT_HANG,
	KG_OUTCOME_PANIC,
	KG_OUTCOME_BOOT_FALLBACK,
	KG_OUTCOME_WRONG_KERNEL,
	KG_OUTCOME_WRONG_LSM,
	KG_OUTCOME_WRONG_CMDLINE,
	/* environment */
	KG_OUTCOME_INVALID_ENV,
	/* grid */
	KG_OUTCOME_INFRA,
	KG_OUTCOME_HARNESS_ERROR,
	KG_OUTCOME_QUEUE_TIMEOUT,
	/* plan */
	KG_OUTCOME_INFEASIBLE,
	KG_OUTCOME_CANCELLED,
	KG_OUTCOME_SKIPPED,
	KG_OUTCOME_COUNT,
};

enum kg_outcome_owner {
	KG_OWNER_NONE,
	KG_OWNER_WORKLOAD,
	KG_OWNER_KERNEL,
	KG_OWNER_ENVIRONMENT,
	KG_OWNER_GRID,
	KG_OWNER_PLAN,
};

const char *kg_outcome_name(enum kg_outcome o); /* "boot-hang"; "pending" for NONE */
/* KG_OUTCOME_NONE when the name is not one of the list. */
enum kg_outcome kg_outcome_parse(const char *name);
enum kg_outcome_owner kg_outcome_owner(enum kg_outcome o);
bool kg_outcome_valid(enum kg_outcome o);     /* reaches statistics: pass only */
bool kg_outcome_retryable(enum kg_outcome o); /* infra and boot ones, a bounded number of times */

#endif
