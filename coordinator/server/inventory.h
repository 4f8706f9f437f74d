/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be planned with: machines with the facts and workloads they reported, and kernels with
 * what their configs say. Items are immutable and counted: a planner on a worker thread holds its
 * own references while the loop thread replaces an item by a newer one.
 */
#ifndef KG_SERVER_INVENTORY_H
#define KG_SERVER_INVENTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/artifact/kernel.h"
#include "coordinator/plan/plan.h"
#include "coordinator/store/types.h"
#include "proto/codec.h"

struct inv_machine {
	atomic_int refs;
	char *name;
	struct kg_msg *facts_msg; /* MachineFacts; owns the texts below */
	const Kgrid__V1__MachineFacts *facts;
	struct kg_workload **decls; /* parallel to facts->workloads; NULL: unreadable */
	struct plan_offer *offers;
	char **problems;		 /* parallel; why a declaration is unreadable */
	struct kg_param_value *settings; /* what can be set there; texts of the facts */
	struct plan_machine plan;
};

struct inv_kernel {
	atomic_int refs;
	char *digest;
	char *label; /* NULL: none */
	char *release;
	char *build_id; /* NULL: not known */
	struct kconfig_facts config;
	bool has_modules;
	bool has_symbols; /* the store has its kallsyms; of the loop thread only, may change */
};

struct inventory {
	struct inv_machine **machines;
	size_t n_machines;
	struct inv_kernel **kernels;
	size_t n_kernels;
};

void inventory_deinit(struct inventory *inv);

/* Makes or replaces a machine from what it reported. */
int inventory_put_machine(struct inventory *inv, const char *name,
			  const Kgrid__V1__MachineFacts *facts, struct kg_err *err);
struct inv_machine *inventory_machine(const struct inventory *inv, const char *name); /* borrows */

/* Reads what planning needs of a kernel's config. Owned: inv_kernel_unref. Any thread. */
int inv_kernel_make(const struct artifact_kernel *k, const char *label, struct inv_kernel **ret_k,
		    struct kg_err *err);
void inv_kernel_unref(struct inv_kernel *k);
/* Adds, or replaces the one with the same digest; takes `k` always. */
int inventory_put_kernel(struct inventory *inv, struct inv_kernel *k);
void inventory_remove_kernel(struct inventory *inv, const char *digest);
struct inv_kernel *inventory_kernel(const struct inventory *inv, const char *digest); /* borrows */

/* References to everything there is now, as plan_make wants it. */
struct inv_snapshot {
	struct inv_machine **machines;
	size_t n_machines;
	struct inv_kernel **kernels;
	size_t n_kernels;
	struct plan_machine *plan_machines;
	struct plan_kernel *plan_kernels;
};
int inventory_snapshot(const struct inventory *inv, struct inv_snapshot *ret);
void inv_snapshot_deinit(struct inv_snapshot *s);

#endif
