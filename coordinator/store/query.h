/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store, reading side: a small pool of read-only connections, apart from the writer. Every
 * function may be called from any thread (worker threads, not the loop: they read from disk),
 * waits for a free connection, and uses one short read transaction, so that its answer is one
 * state of the database. What was acknowledged before the call is seen.
 *
 * Replies are protobuf messages, owned: kgrid__v1__<message>__free_unpacked(reply, NULL). What only
 * the running coordinator knows (connected, idle or busy, stage, why a job waits) is left absent
 * for the caller to fill in.
 *
 * job 0 means the newest that was submitted (not a confirmation or an A/A run, unless there is
 * nothing else). Errors: KG_ENOTFOUND, KG_EAMBIGUOUS, KG_EINVALID, KG_ECORRUPT, -ENOMEM,
 * -EIO.
 */
#ifndef KG_COORDINATOR_STORE_QUERY_H
#define KG_COORDINATOR_STORE_QUERY_H

#include <stdint.h>

#include "common/err.h"
#include "common/yaml.h"
#include "coordinator/store/types.h"
#include "proto/messages.h"

struct query;

/* `connections` 0: 2. They are opened when first needed. store_open comes first (it creates and
 * migrates). */
int query_open(const char *path, unsigned connections, struct query **ret_q, struct kg_err *err);
void query_close(struct query *q); /* no call may be running; NULL is fine */

/* Texts of kernel configs that no boot has brought come from the blobs: called with the config's own
 * digest, gives an owned text or a code (KG_ENOTFOUND: it is not there any more), in any thread. */
struct query_texts {
	int (*read)(void *arg, const char *digest, char **ret_text, size_t *ret_len,
		    struct kg_err *err);
	void *arg;
};
/* Before the first question. Without it such texts are not known. */
void query_set_texts(struct query *q, const struct query_texts *texts);

/* ---- for the scheduler, at start and after a retry ---- */

int query_snapshot(struct query *q, struct store_snapshot **ret, struct kg_err *err);
void store_snapshot_free(struct store_snapshot *s);
/* One job with cells and slots. */
int query_job_load(struct query *q, uint64_t job, struct store_job **ret, struct kg_err *err);
void store_job_free(struct store_job *j);

/* ---- kernels, for planning and serving ---- */

struct store_kernels {
	struct store_kernel *items; /* not removed ones, oldest first; manifest is NULL */
	size_t n;
};
int query_kernel_list(struct query *q, struct store_kernels **ret, struct kg_err *err);
void store_kernels_free(struct store_kernels *k);
/* Digest by label, else release, else prefix (6 or more) of the digest. KG_EAMBIGUOUS names what
 * fits. */
int query_kernel_find(struct query *q, const char *selector, char ret_digest[65],
		      struct kg_err *err);
/* Manifest text of a kernel that is not removed, owned (free). */
int query_kernel_manifest(struct query *q, const char *digest, char **ret_text, struct kg_err *err);
/* Whether a kernel that is not removed lists this blob. */
int query_blob_used(struct query *q, const char *blob_digest, bool *ret_used, struct kg_err *err);

/* ---- answers for the kgrid command ---- */

int query_accounting(struct query *q, uint64_t job, Kgrid__V1__Accounting **ret,
		     struct kg_err *err);
int query_jobs(struct query *q, Kgrid__V1__JobsReply **ret, struct kg_err *err);
int query_job(struct query *q, uint64_t job, Kgrid__V1__JobReply **ret, struct kg_err *err);
int query_machines(struct query *q, Kgrid__V1__MachinesReply **ret, struct kg_err *err);
/* With the newest 20 events. */
int query_machine(struct query *q, const char *name, Kgrid__V1__MachineReply **ret,
		  struct kg_err *err);
int query_kernels(struct query *q, Kgrid__V1__KernelsReply **ret, struct kg_err *err);
int query_kernel(struct query *q, const char *selector, Kgrid__V1__KernelReply **ret,
		 struct kg_err *err);

/* Job summary, per machine boots_done, boots_total and samples, blocks_done, and the text of the job's
 * events after *after_event (at most 100), which moves on; start with 0. */
int query_watch(struct query *q, uint64_t job, uint64_t *after_event, Kgrid__V1__WatchUpdate **ret,
		struct kg_err *err);

/* At most 1000 rows a part; the first part holds the accounting and comes even when there is no
 * row. `part` borrows. A callback that returns a negative code ends the query with that code. */
int query_samples(struct query *q, const Kgrid__V1__SamplesRequest *rq,
		  int (*on_part)(void *arg, const Kgrid__V1__SamplesReply *part), void *arg,
		  struct kg_err *err);
/* One reply per stored chunk, in order; heading in the first of each attempt and stream. KG_ENODATA:
 * the attempt or boot exists and has no log. */
int query_logs(struct query *q, const Kgrid__V1__LogsRequest *rq,
	       int (*on_part)(void *arg, const Kgrid__V1__LogsReply *part), void *arg,
	       struct kg_err *err);

struct store_event_row {
	uint64_t id;
	int64_t time_ns;
	const char *machine; /* NULL: none */
	uint64_t job;
	uint64_t boot;
	const char *kind;
	const char *text;
};
/* Events after an id, oldest first, of a machine (NULL: any) and a job (0: any), at most `max`. */
int query_events(struct query *q, const char *machine, uint64_t job, uint64_t after_id,
		 unsigned max, void (*on_event)(void *arg, const struct store_event_row *e),
		 void *arg, struct kg_err *err);

/* Tables: one per machine x workload x metric. KG_ENOTFOUND for a baseline or metric that the job
 * does not have, KG_EAMBIGUOUS for a baseline that fits several columns. */
int query_compare(struct query *q, const Kgrid__V1__CompareRequest *rq,
		  Kgrid__V1__CompareReply **ret, struct kg_err *err);

/* ---- since schema 2 ---- */

int query_epochs(struct query *q, const char *machine, Kgrid__V1__EpochsReply **ret,
		 struct kg_err *err);
int query_diff(struct query *q, const Kgrid__V1__DiffRequest *rq, Kgrid__V1__DiffReply **ret,
	       struct kg_err *err);
/* Facts of a boot in one part, or a document's text in parts. */
int query_provenance(struct query *q, const Kgrid__V1__ProvenanceRequest *rq,
		     int (*on_part)(void *arg, const Kgrid__V1__ProvenanceReply *part), void *arg,
		     struct kg_err *err);
int query_history(struct query *q, const Kgrid__V1__HistoryRequest *rq,
		  Kgrid__V1__HistoryReply **ret, struct kg_err *err);
int query_regressions(struct query *q, const Kgrid__V1__RegressionsRequest *rq,
		      Kgrid__V1__RegressionsReply **ret, struct kg_err *err);
int query_noise(struct query *q, const Kgrid__V1__NoiseRequest *rq, Kgrid__V1__NoiseReply **ret,
		struct kg_err *err);
int query_imports(struct query *q, const Kgrid__V1__ImportsRequest *rq,
		  Kgrid__V1__ImportsReply **ret, struct kg_err *err);

/* ---- since schema 3 ---- */

/* Of machines that are named (n 0: all): the newest epoch's attempts that passed, at most 90 days
 * old. A workload's newest digest only, of each set of parameters the newest 100 attempts. Spreads
 * leave canaries and metrics without a direction out; they want two boots of one configuration. */
int query_plan_history(struct query *q, const char *const *machines, size_t n, int64_t now_ns,
		       struct store_history **ret, struct kg_err *err);
void store_history_free(struct store_history *h);
/* Machine time per submitter of boots that ended after since_ns, weighted by 0.5^(age / half_life). */
int query_usage(struct query *q, int64_t since_ns, int64_t now_ns, int64_t half_life_ns,
		struct store_usages **ret, struct kg_err *err);
void store_usages_free(struct store_usages *u);
int query_standing(struct query *q, struct store_standings **ret, struct kg_err *err);
void store_standings_free(struct store_standings *s);
/* Jobs by name, newest first, that are not over; or by number. For `after:`. KG_ENOTFOUND says when one
 * of that name is over. */
int query_job_find(struct query *q, const char *selector, uint64_t *ret_job, struct kg_err *err);

/* One cell of a job by its number, with what reproducing it needs. */
struct store_cell_detail { /* owned, store_cell_detail_free */
	struct store_cell cell;
	uint64_t job;
	const char *job_name, *text, *file_name; /* the job file */
	struct store_file *files;
	size_t n_files;
	const char *kernel_release, *config_lsm; /* config_lsm NULL: not known */
	const char *base_cmdline;		 /* of the machine, as last reported */
	const char *argv;	  /* JSON array of the newest attempt; NULL: never ran */
	struct store_slot *slots; /* in order of block */
	uint64_t *slot_ids;
	size_t n_slots;
};
int query_cell(struct query *q, uint64_t job, uint32_t number, struct store_cell_detail **ret,
	       struct kg_err *err);
void store_cell_detail_free(struct store_cell_detail *d);
/* What the store knows for `kgrid why`: what ended the job early, outcomes that are not pass with their
 * reasons and counts, retried slots' attempts, the newest events (without stages). At most
 * SCHED_WHY_LINES lines together. `cell` 0: the job. `ret_lines` is owned, kg_texts_deinit. */
int query_why_job(struct query *q, uint64_t job, uint32_t cell, struct kg_texts *ret_lines,
		  struct kg_err *err);
int query_why_machine(struct query *q, const char *machine, struct kg_texts *ret_lines,
		      struct kg_err *err);

/* For the detector. */
/* Blocks that are finished on a machine (every slot has its outcome, at least one passed) and not
 * marked by store_detection_mark, of jobs of kind normal. job 0: any. */
int query_undetected(struct query *q, uint64_t job,
		     void (*on_block)(void *arg, uint64_t job, const char *machine, uint32_t block),
		     void *arg, struct kg_err *err);
int query_regressions_open(struct query *q, struct store_regressions **ret, struct kg_err *err);
void store_regressions_free(struct store_regressions *r);
int query_notices(struct query *q, struct store_notices **ret, struct kg_err *err); /* pending */
void store_notices_free(struct store_notices *n);
int query_recurring(struct query *q, struct store_recurrings **ret, struct kg_err *err);
void store_recurrings_free(struct store_recurrings *r);
/* Whether a kernel's document of that name is stored already (kallsyms is asked for once). */
int query_kernel_document(struct query *q, const char *kernel, const char *name, bool *ret_has,
			  struct kg_err *err);

#endif
