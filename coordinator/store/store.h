/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store, writing side: one SQLite connection on a thread of its own.
 *
 * Operations are queued by the loop thread, run in order, and committed together: what came since
 * the last commit, at most `batch_ops` operations, at most one commit in `batch_ms` unless a batch is
 * full, so that a quiet store answers at once. Their callbacks run on the loop thread, in the order of
 * queueing, from store_poll(): so a callback with rc 0 means on disk (WAL, synchronous=FULL).
 *
 * Happy path: store_open, query_open + query_snapshot, store_start, store_<verb>(.., done),
 * wake() -> store_poll() -> done, store_close.
 *
 * Failure modes:
 *  - an operation is refused (unknown slot, kernel in use): its savepoint is rolled back, its
 *    callback gets the code and the text, the others of its batch are untouched;
 *  - the disk is full or broken: the batch is rolled back and every operation of it reports
 *    -ENOSPC or -EIO. Nothing of it is stored. The store stays usable, and what is queued behind
 *    is tried in turn. Whoever queued the operation repeats it (records: the agent does);
 *  - the queue is full: store_ingest returns KG_ELIMIT and takes nothing (pause the link, go on
 *    from on_room); other operations have a reserve of their own;
 *  - the process dies: what was acknowledged is there, of what was not, each operation is there
 *    as a whole or not at all.
 *
 * All functions but store_open and store_close return at once. A function that returns 0 will
 * call `done` exactly once, at the latest from store_close; one that returns a code never does
 * (-ENOMEM, KG_ELIMIT). done.fn may be NULL. All calls come from one thread, the loop's; `wake`
 * is called on the writer thread.
 */
#ifndef KG_COORDINATOR_STORE_H
#define KG_COORDINATOR_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/store/types.h"

struct store;

struct store_config {
	const char *path;	  /* DIR/kgrid.db; PATH.lock keeps a second coordinator out */
	const char *host_boot_id; /* of this host: kept with deadlines */
	/* Something is to be polled; called on the writer thread: uv_async_send. May be NULL. */
	void (*wake)(void *arg);
	/* The queue has room again after KG_ELIMIT; called by store_poll. May be NULL. */
	void (*on_room)(void *arg);
	void *arg;
	/* 0: the default */
	size_t queue_ops;   /* 8192 */
	size_t queue_bytes; /* 64 MiB */
	size_t batch_ops;   /* 512 */
	unsigned batch_ms;  /* 5 */
};

enum store_ingest {
	STORE_INGEST_NONE,
	STORE_INGEST_COMMITTED, /* acknowledge last_seq */
	STORE_INGEST_DUPLICATE, /* was there: acknowledge last_seq again */
	STORE_INGEST_GAP,	/* not stored: acknowledge last_seq, the agent goes on from there */
	STORE_INGEST_FENCED, /* lease gone: kept as evidence, no state changed; fence the agent */
};

struct store_result {
	int rc;		     /* 0, or why nothing of the operation is stored */
	const char *text;    /* "" or the reason; borrows, for the call */
	uint64_t id;	     /* job insert: the job; event: the event */
	bool existed;	     /* job insert: client_key known; kernel insert: digest known; machine
				service: it was so before, nothing changed */
	uint64_t first_cell; /* job insert: ids are consecutive, in the order given */
	uint64_t first_slot;
	uint64_t count; /* settle: slots that changed; cancel, retry: slots */
	/* ingest: */
	enum store_ingest ingest;
	uint64_t last_seq; /* newest committed record of the boot */
	bool fault; /* COMMITTED, but the content was malformed: `text` says how, an event is stored */
	enum kg_outcome attempt_outcome; /* AttemptEnded: as stored (see store_ingest) */
};

struct store_done {
	void (*fn)(void *arg, const struct store_result *r);
	void *arg;
};

/* Whether the same operation may succeed later: no space, no memory, an I/O error, a database that
 * somebody else holds. */
bool store_rc_transient(int rc);

int store_schema_version(void); /* newest that this program knows */

/* Opens or creates, takes the lock, migrates (with a backup PATH.v<N>.backup before an upgrade).
 * Blocks. KG_EBUSY: another coordinator has it; KG_EVERSION: a newer kgrid made it; KG_EINVALID:
 * not a kgrid database; else -errno. The writer thread does not run yet. */
int store_open(const struct store_config *c, struct store **ret_s, struct kg_err *err);
/* Starts the writer thread. Operations may be queued before. */
int store_start(struct store *s, struct kg_err *err);
/* Runs everything queued, delivers all callbacks, closes. NULL is fine. */
void store_close(struct store *s);
/* Runs the callbacks of finished operations; returns how many. */
size_t store_poll(struct store *s);
/* Operations that are queued or running, or whose callbacks wait for store_poll. */
size_t store_pending(struct store *s);

struct store_stats {
	uint64_t ops;
	uint64_t commits;
	uint64_t failed_commits;
	uint64_t samples;
};
void store_stats(struct store *s, struct store_stats *ret);

/* ---- machines, events, kernels ---- */

int store_machine_upsert(struct store *s, const struct store_machine *m, struct store_done done);

struct store_event {
	int64_t time_ns;
	const char *machine; /* NULL: none */
	uint64_t job;	     /* 0: none */
	uint64_t boot;	     /* 0: none */
	const char *kind;
	const char *text;
};
int store_event_add(struct store *s, const struct store_event *e, struct store_done done);

/* Known digest: existed, and the label is changed to the one given, if any. A removed kernel comes
 * back. KG_EEXISTS: another kernel has the label. */
int store_kernel_insert(struct store *s, const struct store_kernel *k, struct store_done done);
/* The row stays without its label (results refer to it); the caller deletes the blobs that no other
 * kernel uses. KG_EBUSY while a queued or running job refers to it, naming the jobs;
 * KG_ENOTFOUND. */
int store_kernel_remove(struct store *s, const char *digest, int64_t now_ns,
			struct store_done done);

/* ---- jobs ---- */

/* The whole plan in one transaction. KG_EINVALID: a kernel unknown or removed, two cells of the same
 * identity or number, a cell twice in a block, a job to come after that does not exist. */
int store_job_insert(struct store *s, const struct store_job *j, struct store_done done);
/* queued <-> running, -> done. KG_ESTATE for a cancelled job, or for done with pending slots. */
int store_job_state(struct store *s, uint64_t job, enum store_job_state state, int64_t now_ns,
		    struct store_done done);
/* Pending slots become cancelled. KG_ESTATE when the job has ended. With an event of kind 'job', that
 * names `user` (NULL: not known). */
int store_job_cancel(struct store *s, uint64_t job, int64_t now_ns, const char *user,
		     struct store_done done);
/* Slots that ended without a valid result become pending again, tries 0: also those that nothing came
 * for in time (queue-timeout). infeasible stays, and so does skipped: the stop rule or the budget
 * said that the job has enough, and store_job_extend is how to have more. The job is queued again, not
 * paused (query_job_load gives it to the scheduler). KG_ENODATA: no such slot; KG_ESTATE: not ended
 * yet; KG_EREFUSED: a kernel it needs was removed. With an event, as of a cancel. */
int store_job_retry(struct store *s, uint64_t job, int64_t now_ns, const char *user,
		    struct store_done done);

struct store_job_change {
	uint64_t job;
	bool set_paused, paused;
	bool set_priority;
	uint32_t priority;
	int64_t now_ns;
	const char *user; /* for the event; NULL: not known */
};
/* KG_ESTATE when the job is over. With an event of kind 'job'; result.count 0 and no event when it is so
 * already. */
int store_job_change(struct store *s, const struct store_job_change *x, struct store_done done);

/* More slots of cells that the job has: blocks + n_blocks. The job's stop rule and budget are taken
 * away (blocks_min 0, budget_ns 0): they would end the new blocks at once. What was skipped stays so;
 * the new blocks come instead. A job that was done is queued again, not paused. result.count: slots,
 * result.first_slot. KG_ESTATE: cancelled, or first_block is not the next (extended already);
 * KG_EINVALID: a slot of another block, of no cell, or twice; KG_EREFUSED: a kernel it needs was
 * removed. With an event of kind 'job'. */
struct store_job_extend {
	uint64_t job;
	uint32_t first_block, n_blocks; /* first_block = job.blocks + 1, else KG_ESTATE */
	const struct store_slot *slots; /* cell_index: the cell's number - 1 */
	size_t n_slots;
	int64_t now_ns;
};
int store_job_extend(struct store *s, const struct store_job_extend *x, struct store_done done);

/* Pending slots without an open boot's attempt get this outcome: `skipped`, `queue-timeout`, else
 * KG_EINVALID. machine NULL: everywhere; it is the client's for slots with roles. With an event of kind
 * 'close', and a line under job.stops. result.count: slots; 0, without event and line, when there is
 * none. */
struct store_job_close {
	uint64_t job;
	const char *machine;
	enum kg_outcome outcome;
	const char *reason;
	int64_t now_ns;
};
int store_job_close(struct store *s, const struct store_job_close *x, struct store_done done);

/* One slot's end, or (outcome NONE) one try that counted and left it pending. */
struct store_settle {
	uint64_t slot;
	enum kg_outcome outcome;
	const char *reason; /* NULL: none */
	uint64_t attempt;   /* the one that decided; 0: none did */
	bool count_try;	    /* tries + 1 */
};
/* All of them in one transaction. A slot that has its outcome already keeps it and is not counted in
 * result.count: so repeating is harmless, and a cancelled slot stays cancelled. KG_EINVALID: the
 * attempt is of another slot or a server's part of one, or the slot would pass by an attempt that is
 * not stored as `pass`. */
int store_settle(struct store *s, const struct store_settle *items, size_t n, int64_t now_ns,
		 struct store_done done);

/* ---- boots ---- */

/* Of a pair each side's boot has attempts at the client's slots; the server's are parts of the
 * client's and never a result, whatever becomes of them. */
int store_boot_begin(struct store *s, const struct store_boot *b, struct store_done done);
/* New stage (NULL: unchanged) and its deadline. KG_ESTATE: the boot has ended. */
int store_boot_stage(struct store *s, uint64_t boot, const char *stage,
		     const struct store_deadline *d, struct store_done done);

struct store_boot_end {
	uint64_t boot;
	enum kg_outcome outcome;
	const char *reason; /* NULL: none */
	int64_t now_ns;
	const struct store_settle *settles; /* in the same transaction, as store_settle */
	size_t n_settles;
};
/* The lease is over: later records are evidence. Attempts that have no outcome get the boot's (when
 * that is `pass`: harness-error). Ended already: KG_ESTATE, and nothing is settled. */
int store_boot_end(struct store *s, const struct store_boot_end *e, struct store_done done);

/* ---- records ---- */

/*
 * One record of an agent, in one transaction with boot.last_seq. The record is copied. `machine` is
 * the one the session speaks for: a record for another machine's boot is FENCED and not kept.
 *
 * Malformed content (columns of unequal length, NaN, an attempt of another boot, an unknown metric
 * or outcome, samples before verified evidence or after the attempt's end) is committed as an
 * event of kind 'fault' with result.fault set, so that the stream goes on; nothing else of
 * the record is stored. An AttemptEnded that says `pass` with another number of samples than is
 * stored (with or without warm-up) is stored, and reported, as harness-error.
 */
int store_ingest(struct store *s, const char *machine, const Kgrid__V1__Record *r,
		 int64_t received_ns, struct store_done done);

/*
 * Provenance (since 1.2): its facts are stored by class and content. phase `boot` also gives the
 * boot its epoch: the machine's current one, or a new one (with an event of kind 'epoch' that names
 * what changed) when analysis/epoch.h says so. Documents are put together from their pieces, checked
 * against their digest, and stored once; a piece that does not fit is a fault.
 */

/* ---- detection and regressions ---- */

/* Block of a job on a machine was looked at; result.existed: it was before. */
int store_detection_mark(struct store *s, uint64_t job, const char *machine, uint32_t block,
			 int64_t now_ns, struct store_done done);
/* A boundary was seen: a new candidate, or the old item with its members updated (a member that was
 * confirmed stays so); one that was fixed is open again, one that was refuted a candidate again, but
 * not by the same job twice. result.id, .existed. */
int store_regression_seen(struct store *s, const struct store_sighting *x, struct store_done done);
int store_regression_step(struct store *s, const struct store_regression_step *x,
			  struct store_done done);
/* KG_ENOTFOUND. */
int store_regression_act(struct store *s, const struct store_regression_action *x,
			 struct store_done done);
int store_notice_add(struct store *s, uint64_t regression, const char *target, const char *text,
		     int64_t now_ns, struct store_done done);
int store_notice_end(struct store *s, uint64_t id, bool sent, const char *reason, int64_t now_ns,
		     struct store_done done);

/* ---- machines' service, standing jobs; since schema 3 ---- */

struct store_service {
	const char *machine;
	const char *service; /* "normal", "drain", "maintenance"; NULL: unchanged */
	const char *why;
	bool set_reserved;
	const char *reserved_by; /* NULL: no longer */
	const char *reserved_why;
	int64_t reserved_until_ns; /* realtime */
	int64_t now_ns;
	const char *user; /* for the event */
};
/* With an event of kind 'machine'. KG_ENOTFOUND; KG_EINVALID: another word than these. */
int store_machine_service(struct store *s, const struct store_service *x, struct store_done done);

/* result.id. The same text, files and user again: existed. */
int store_standing_add(struct store *s, const struct store_standing *x, int64_t now_ns,
		       struct store_done done);
/* KG_ENOTFOUND. Jobs that it made stay. */
int store_standing_remove(struct store *s, uint64_t id, int64_t now_ns, struct store_done done);
/* It was due: the job it made (0: none, and why not; the one before stays the last), and when it is due
 * again (0: not by time). KG_ENOTFOUND; KG_EINVALID: no such job. */
int store_standing_ran(struct store *s, uint64_t id, uint64_t job, const char *error,
		       int64_t next_ns, struct store_done done);

/* ---- calibration and imports ---- */

/* Sets or replaces; every_ns 0 takes it away (KG_ENOTFOUND when there is none). */
int store_recurring_set(struct store *s, const struct store_recurring *r, struct store_done done);
/* KG_EEXISTS: the name is taken by another text (the same text again: existed, its id). */
int store_import_add(struct store *s, const char *name, const char *text, int64_t now_ns,
		     struct store_done done);

#endif
