/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the store's reading side: the pool of connections and the building of replies. */
#ifndef KG_COORDINATOR_STORE_QUERY_INTERNAL_H
#define KG_COORDINATOR_STORE_QUERY_INTERNAL_H

#include "coordinator/report/stops.h"
#include "coordinator/store/arena.h"
#include "coordinator/store/db.h"
#include "coordinator/store/query.h"

/* Waits for a free connection and begins a read transaction on it. */
int query_begin(struct query *q, struct db **ret_db, struct kg_err *err);
/* Ends the transaction and gives the connection back; returns `rc`. */
int query_end(struct query *q, struct db *db, int rc);

/* ---- replies: malloc'ed, as protobuf-c frees them. All return 0 or -ENOMEM. ---- */

int reply_oom(struct kg_err *err);
/* Sets a text field; NULL leaves it absent. */
int reply_text(char **field, const char *text);
int reply_bytes(ProtobufCBinaryData *field, const void *bytes, size_t len);
/* Appends to a repeated message or string field; takes `item` always (NULL: -ENOMEM), frees it as
 * a message when `d` is given. */
int reply_push(void *items, size_t *n, void *item, const ProtobufCMessageDescriptor *d);
int reply_push_text(char ***items, size_t *n, const char *text);
void *reply_new(const ProtobufCMessageDescriptor *d);
void reply_free(void *message); /* NULL is fine */
/* An empty text of a request is as good as an absent one. */
static inline const char *text_or_none(const char *s)
{
	return s && s[0] ? s : NULL;
}

/* ---- shared parts of answers, within a transaction ---- */

/* job 0 becomes the newest of kind 'job', or of any kind when there is none; KG_ENOTFOUND. */
int find_job(struct db *db, uint64_t job, uint64_t *ret_job, struct kg_err *err);
int read_accounting(struct db *db, uint64_t job, Kgrid__V1__Accounting **ret, struct kg_err *err);
int read_job_summary(struct db *db, uint64_t job, Kgrid__V1__JobSummary **ret, struct kg_err *err);
/* Files that a job (JOB_FILES) or a standing one includes; in the arena, which is to be looked at. */
#define JOB_FILES "SELECT name, text FROM job_file WHERE job = ? ORDER BY position"
int read_files(struct db *db, struct arena *a, const char *sql, uint64_t id,
	       struct store_file **ret, size_t *ret_n, struct kg_err *err);
/* A cell in the order of these columns; in the arena. */
#define CELL_COLUMNS                                                                            \
	"cell.id, cell.identity, cell.machine, cell.kernel, cell.kernel_label, cell.lsm_label," \
	" cell.lsm_request, cell.lsm_effective, cell.cmdline, cell.workload,"                   \
	" cell.workload_digest, cell.params, cell.iterations, cell.timeout_s,"                  \
	" cell.kernel_order, cell.lsm_order, cell.workload_order, cell.number, cell.variant,"   \
	" cell.settings, cell.peer, cell.canary, cell.leave_by_reboot, cell.run_s"
void read_cell_row(struct arena *a, sqlite3_stmt *st, struct store_cell *c);
/* What ended slots of a job early, in the order in which it did; in the arena. */
int read_stops(struct db *db, struct arena *a, uint64_t job, struct report_stop **ret,
	       size_t *ret_n, struct kg_err *err);
/* KG_ENOTFOUND, naming what there is. NULL is fine. */
int check_machine(struct db *db, const char *name, struct kg_err *err);
int find_kernel(struct db *db, const char *selector, char ret_digest[65], struct kg_err *err);

/* What query_set_texts gave; its `read` may be NULL. */
const struct query_texts *query_texts(const struct query *q);
/* The text by its digest, owned: a document that a boot brought, else the blobs. KG_ENOTFOUND. */
int read_config_text(struct db *db, const struct query_texts *texts, const char *digest,
		     char **ret_text, size_t *ret_len, struct kg_err *err);

#endif
