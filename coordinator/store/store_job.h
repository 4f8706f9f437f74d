/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the store's writing side: what the verbs on jobs share. */
#ifndef KG_COORDINATOR_STORE_STORE_JOB_H
#define KG_COORDINATOR_STORE_STORE_JOB_H

#include "common/str.h"
#include "coordinator/store/op.h"

/* The job's state by name; KG_ENOTFOUND. */
int job_state(struct db *db, uint64_t job, char ret[16], struct kg_err *err);
/* KG_EREFUSED: a kernel of the job was removed; `what` is wanted with it: "retry". */
int job_kernels_kept(struct db *db, uint64_t job, const char *what, struct kg_err *err);
/* One that was over waits again, and is not paused. */
int job_queue_again(struct db *db, uint64_t job, int64_t now_ns, struct kg_err *err);
/* What people read of it under `why`; `machine` may be NULL. */
int job_event(struct db *db, uint64_t job, const char *machine, int64_t now_ns, const char *kind,
	      struct kg_str *text, struct kg_err *err);
/* KG_EINVALID: it has an outcome other than infeasible, or the cell is in the block already. */
int job_insert_slot(struct db *db, const struct store_slot *sl, int64_t job, int64_t cell,
		    int64_t id, struct kg_err *err);

/* Copies of arguments, texts too. */
const struct store_file *op_copy_files(struct arena *a, const struct store_file *files, size_t n);
struct store_slot *op_copy_slots(struct arena *a, const struct store_slot *slots, size_t n);

#endif
