/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Smallest effects that matter: out of A/A runs, worked out once for the same values, else declared. */
#ifndef KG_COORDINATOR_STORE_QUERY_MIN_EFFECT_H
#define KG_COORDINATOR_STORE_QUERY_MIN_EFFECT_H

#include "coordinator/store/query_rows.h"

struct min_effect_cache;

struct min_effect_cache *min_effect_cache_new(void); /* owned; NULL: out of memory */
void min_effect_cache_free(struct min_effect_cache *c);
/* Of the machines, workloads and parameters in `r`, in its arena. Any thread. */
int read_min_effects(struct min_effect_cache *c, struct db *db, struct rows *r,
		     struct report_min_effect **ret, size_t *ret_n, struct kg_err *err);

/* The pool's own. */
struct min_effect_cache *query_min_effects(struct query *q);

#endif
