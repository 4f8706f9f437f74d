/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From comparisons to sightings: which boundaries of a job made something slower. Pure.
 *
 * A job is compared along two axes. Kernels: each against the one before it in the job file, within
 * each list. Lists: each against the first one, within each kernel. A boundary (6.1 -> 6.12, or
 * prev -> full) is one cause candidate, however many machines, workloads and parameters show it.
 */
#ifndef KG_DETECT_SIGHTING_H
#define KG_DETECT_SIGHTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/err.h"
#include "coordinator/store/types.h"
#include "proto/messages.h"

/* One comparison to make: the baseline of query_compare, and the column that counts in it. */
struct sighting_question {
	bool lsm_axis;
	const char *baseline; /* a kernel with a star for the list, or the other way round */
	const char *from;     /* label */
	const char *to;	      /* label */
};

struct sighting_questions {
	struct sighting_question *items;
	size_t n;
};

/* Out of a comparison of the whole job against its first column: texts borrow from `overview` and
 * the arena. -ENOMEM. */
int sighting_questions(const Kgrid__V1__CompareReply *overview, struct kg_arena *a,
		       struct sighting_questions *ret);

/* What the answer to a question shows as `regression`; n_members 0: nothing. Keys are the kernel's
 * digest and the requested list: what a list resolves to differs between kernels and machines, and
 * one change of a list is one cause. Texts borrow from `r`. -ENOMEM. */
int sighting_of(const Kgrid__V1__CompareReply *r, const struct sighting_question *q, uint64_t job,
		int64_t now_ns, struct kg_arena *a, struct store_sighting *ret);

/* The cell of the new side that a member means, in an answer to the question; `machine` instead of
 * the member's own. NULL: not there. Borrows. */
const Kgrid__V1__CompareCell *sighting_cell(const Kgrid__V1__CompareReply *r,
					    const struct sighting_question *q,
					    const struct store_member *m, const char *machine);

/* Steps in a history to kernels that the job measured (an old step is not news), one sighting a
 * boundary. `overview` as above; `*ret` is of the arena. -ENOMEM. */
int sighting_of_history(const Kgrid__V1__HistoryReply *h, const Kgrid__V1__CompareReply *overview,
			uint64_t job, int64_t now_ns, struct kg_arena *a,
			struct store_sighting **ret, size_t *ret_n);

#endif
