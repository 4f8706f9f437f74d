/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/outcome.h"

#include <string.h>

struct row {
	const char *name;
	enum kg_outcome_owner owner;
	bool retryable;
};

/* wrong-* and boot-* may be the grid's doing (a lost word, a flipped bit), so they are tried
 * again; a workload that fails is a result, and so is an environment that was not valid. */
static const struct row rows[KG_OUTCOME_COUNT] = {
	[KG_OUTCOME_NONE] = {"pending", KG_OWNER_NONE, false},
	[KG_OUTCOME_PASS] = {"pass", KG_OWNER_WORKLOAD, false},
	[KG_OUTCOME_FAIL] = {"fail", KG_OWNER_WORKLOAD, false},
	[KG_OUTCOME_RUN_TIMEOUT] = {"run-timeout", KG_OWNER_WORKLOAD, false},
	[KG_OUTCOME_BOOT_HANG] = {"boot-hang", KG_OWNER_KERNEL, true},
	[KG_OUTCOME_PANIC] = {"panic", KG_OWNER_KERNEL, true},
	[KG_OUTCOME_BOOT_FALLBACK] = {"boot-fallback", KG_OWNER_KERNEL, true},
	[KG_OUTCOME_WRONG_KERNEL] = {"wrong-kernel", KG_OWNER_KERNEL, true},
	[KG_OUTCOME_WRONG_LSM] = {"wrong-lsm", KG_OWNER_KERNEL, true},
	[KG_OUTCOME_WRONG_CMDLINE] = {"wrong-cmdline", KG_OWNER_KERNEL, true},
	[KG_OUTCOME_INVALID_ENV] = {"invalid-env", KG_OWNER_ENVIRONMENT, false},
	[KG_OUTCOME_INFRA] = {"infra", KG_OWNER_GRID, true},
	[KG_OUTCOME_HARNESS_ERROR] = {"harness-error", KG_OWNER_GRID, false},
	[KG_OUTCOME_QUEUE_TIMEOUT] = {"queue-timeout", KG_OWNER_GRID, false},
	[KG_OUTCOME_INFEASIBLE] = {"infeasible", KG_OWNER_PLAN, false},
	[KG_OUTCOME_CANCELLED] = {"cancelled", KG_OWNER_PLAN, false},
	[KG_OUTCOME_SKIPPED] = {"skipped", KG_OWNER_PLAN, false},
};

const char *kg_outcome_name(enum kg_outcome o)
{
	return (unsigned)o < KG_OUTCOME_COUNT ? rows[o].name : "pending";
}

enum kg_outcome kg_outcome_parse(const char *name)
{
	int i;

	for (i = KG_OUTCOME_PASS; i < KG_OUTCOME_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (enum kg_outcome)i;
	return KG_OUTCOME_NONE;
}

enum kg_outcome_owner kg_outcome_owner(enum kg_outcome o)
{
	return (unsigned)o < KG_OUTCOME_COUNT ? rows[o].owner : KG_OWNER_NONE;
}

bool kg_outcome_valid(enum kg_outcome o)
{
	return o == KG_OUTCOME_PASS;
}

bool kg_outcome_retryable(enum kg_outcome o)
{
	return (unsigned)o < KG_OUTCOME_COUNT && rows[o].retryable;
}
