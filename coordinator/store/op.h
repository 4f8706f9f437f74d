/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the store's writing side: an operation, and what the verbs need to queue and run it. */
#ifndef KG_COORDINATOR_STORE_OP_H
#define KG_COORDINATOR_STORE_OP_H

#include "coordinator/store/arena.h"
#include "coordinator/store/db.h"
#include "coordinator/store/store.h"

struct op {
	struct op *next;
	/* On the writer thread, inside savepoint "op". 0, or a code with op->err set. */
	int (*run)(struct store *s, struct op *op);
	void *args; /* in the arena */
	struct arena arena;
	size_t weight; /* rows that it may write, for the size of a batch */
	bool bulk;     /* an ingest: may not use the reserve of the queue */
	size_t bytes;
	struct store_done done;
	struct store_result result;
	struct kg_err err;
};

/* A new operation with `size` bytes of arguments, copied from `args`; NULL: out of memory. Texts in
 * them are then to be replaced by copies in op->arena. */
struct op *op_new(int (*run)(struct store *s, struct op *op), const void *args, size_t size,
		  struct store_done done);
/* Queues it; takes `op` always (NULL or with a failed arena: -ENOMEM). */
int op_queue(struct store *s, struct op *op);

struct db *store_db(struct store *s); /* writer thread only */
const char *store_host_boot_id(const struct store *s);
void store_count_samples(struct store *s, size_t n);

/* Within an operation: the events that the store itself adds. */
int event_insert(struct db *db, struct kg_err *err, const struct store_event *e);

/* Within an operation: the settles of store_settle and of a boot's end. */
int settle_all(struct store *s, struct op *op, const struct store_settle *items, size_t n,
	       int64_t now_ns);

/* Undoes what the operation has done so far; it goes on. */
int op_rollback(struct store *s, struct kg_err *err);

#endif
