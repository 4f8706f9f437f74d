/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the store keeps, as plain structs: the same ones go in (store.h) and come out (query.h).
 * Texts are UTF-8 and never NULL unless the field says so. In structs given to the store every
 * pointer borrows for the length of the call; in structs given out everything is owned by the
 * outermost struct (its free function is named there).
 */
#ifndef KG_COORDINATOR_STORE_TYPES_H
#define KG_COORDINATOR_STORE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "proto/messages.h"

enum store_job_state {
	STORE_JOB_QUEUED,
	STORE_JOB_RUNNING,
	STORE_JOB_DONE,
	STORE_JOB_CANCELLED,
};

const char *store_job_state_name(enum store_job_state s); /* "queued" */

/* One machine x kernel x lsm request x command line x workload x parameters. */
struct store_cell {
	uint64_t id;	      /* given out only: the store assigns it */
	const char *identity; /* SHA-256 hex; unique within a job */
	const char *machine;
	const char *kernel; /* digest */
	const char *kernel_label;
	const char *lsm_label;
	const char *lsm_request;
	const char *lsm_effective;
	const char *cmdline;
	const char *workload;
	const char *workload_digest;
	const char *params; /* 'seconds=1 size=64', sorted, normalised */
	uint32_t iterations;
	uint32_t timeout_s;
	uint32_t kernel_order; /* position in the job file, from 0 */
	uint32_t lsm_order;
	uint32_t workload_order;
	/* since schema 3; texts NULL: "" */
	uint32_t number;      /* within the job, from 1; 0 at insert: position in `cells` */
	const char *variant;  /* for people: command line and settings that vary */
	const char *settings; /* "governor=performance; sysctl.vm.swappiness=10" */
	const char *peer;     /* machine of the server */
	bool canary;
	bool leave_by_reboot;
	uint32_t run_s; /* estimate of one run; 0: not known */
};

/* A request that gives the same list as another one of the job on a kernel. */
struct store_merge {
	const char *machine, *kernel, *lsm, *into, *effective;
};

struct store_file {
	const char *name, *text;
};

/* One cell in one block. */
struct store_slot {
	uint64_t id;		 /* given out only */
	size_t cell_index;	 /* into the job's cells */
	uint32_t block;		 /* from 1 */
	uint32_t visit;		 /* order of boots on the machine within the job, from 1 */
	uint32_t position;	 /* order of runs within the boot, from 1 */
	uint32_t tries;		 /* attempts that counted against the retry limit */
	enum kg_outcome outcome; /* NONE: pending. At insert: NONE or INFEASIBLE */
	const char *reason;	 /* NULL: none */
	uint64_t attempt;	 /* given out only; the one that decided, 0: none */
};

enum store_job_kind { STORE_JOB_NORMAL, STORE_JOB_CONFIRM, STORE_JOB_CALIBRATE };
const char *store_job_kind_name(enum store_job_kind k); /* "job", "confirm", "calibrate" */

struct store_job {
	uint64_t id; /* given out only */
	enum store_job_kind kind;
	uint64_t regression; /* kind confirm: what it tries; else 0 */
	const char *name;
	const char *text; /* the job file as submitted */
	const char *file_name;
	const char *client_key; /* NULL: none */
	enum store_job_state state;
	uint32_t priority;
	bool grouped;  /* boot order; false: interleaved */
	uint64_t seed; /* all 64 bits are kept */
	uint32_t blocks;
	const char *const *warnings;
	size_t n_warnings;
	int64_t submitted_ns;
	int64_t ended_ns; /* 0: not ended */
	struct store_cell *cells;
	size_t n_cells;
	struct store_slot *slots; /* given out: ordered by machine, visit, position */
	size_t n_slots;
	/* since schema 3; NULL: "" or none */
	const char *user;
	const struct store_file *files; /* that it includes */
	size_t n_files;
	const struct store_merge *merges; /* at insert only */
	size_t n_merges;
	const uint64_t *after; /* jobs that must be over before */
	size_t n_after;
	bool paused;
	uint32_t blocks_min; /* before the stop rule is asked; 0: no stop rule */
	double until_pct;
	uint64_t budget_ns, queue_timeout_ns; /* 0: none */
	uint64_t standing;		      /* that made it; 0: none */
	uint32_t hop_s;			      /* estimate from kernel to kernel; 0: not known */
	/* given out only, realtime: when it was submitted, retried or extended after its end; start of the
	 * first boot since then, 0: none */
	int64_t queued_ns, started_ns;
};

struct store_attempt {
	uint64_t id;   /* the caller assigns it (store_ids) */
	uint64_t slot; /* slot id */
	uint32_t position;
	/* given out only: */
	enum kg_outcome outcome; /* NONE: not ended */
	const char *reason;	 /* NULL: none */
	int64_t started_ns;	 /* 0: not started */
	uint32_t samples;	 /* stored, without warm-up */
};

/* Deadline of a boot's stage, in the clocks that outlive the coordinator and its host. */
struct store_deadline {
	uint64_t boottime_ns;	  /* CLOCK_BOOTTIME; 0: no deadline */
	int64_t realtime_ns;	  /* the same moment by the wall clock */
	const char *host_boot_id; /* given out only: of the host that boottime_ns belongs to */
};

struct store_boot {
	uint64_t id; /* the caller assigns it (store_ids) */
	uint64_t job;
	const char *machine;
	uint32_t block;
	uint32_t visit;
	uint64_t lease_epoch;
	const char *nonce;
	const char *kernel;
	const char *lsm_request;
	const char *lsm_effective;
	const char *cmdline;
	const char *stage;
	struct store_deadline deadline;
	int64_t started_ns;
	struct store_attempt *attempts; /* ordered by position */
	size_t n_attempts;
	/* since schema 3; NULL: "" */
	const char *settings;
	const char *role; /* "client", "server" */
	const char *peer; /* the other machine */
	uint64_t pair;	  /* the other side's boot; 0: none */
	/* given out only: */
	uint64_t last_seq;	       /* newest committed record */
	bool has_evidence;	       /* BootEvidence was recorded ... */
	bool verified;		       /* ... and was as it should be */
	bool ended_by_agent;	       /* a BootEnded record was committed ... */
	enum kg_outcome agent_outcome; /* ... and said this */
	const char *agent_reason;      /* NULL: none */
};

struct store_machine {
	const char *name;
	const char *state_id;		      /* NULL: not known */
	const Kgrid__V1__MachineFacts *facts; /* NULL: never reported (at upsert: unchanged) */
	int64_t first_seen_ns;		      /* given out only */
	int64_t last_seen_ns;
	/* given out only, since schema 3; set by store_machine_service and _reserve. NULL: none */
	const char *service; /* "normal", "drain", "maintenance" */
	const char *service_why;
	const char *reserved_by, *reserved_why;
	int64_t reserved_until_ns; /* realtime */
};

/* ---- standing jobs ---- */

struct store_standing {
	uint64_t id; /* given out only */
	const char *name, *user;
	const char *text, *file_name;
	const struct store_file *files;
	size_t n_files;
	const char *when;	/* "kernel added", "nightly" */
	uint32_t minute;	/* nightly: of the day, local time */
	int64_t next_ns;	/* nightly: realtime; else 0 */
	uint64_t last_job;	/* given out only; 0: none */
	const char *last_error; /* given out only; NULL: none */
	int64_t added_ns;	/* given out only */
};
struct store_standings { /* owned, store_standings_free */
	struct store_standing *items;
	size_t n;
};

/* ---- what planning learns from earlier jobs ---- */

struct store_pace { /* as plan_pace, plan_hop, plan_spread */
	const char *machine, *workload, *params;
	double iteration_s;
	uint32_t attempts;
};
struct store_hop {
	const char *machine;
	double seconds;
	uint32_t boots;
};
struct store_spread {
	const char *machine, *workload, *params, *metric;
	double between_cov_pct;
	uint32_t boots;
};
struct store_history { /* owned, store_history_free */
	struct store_pace *paces;
	size_t n_paces;
	struct store_hop *hops;
	size_t n_hops;
	struct store_spread *spreads;
	size_t n_spreads;
};

struct store_usage {
	const char *user;
	uint64_t used_ns; /* machine time of boots */
};
struct store_usages { /* owned, store_usages_free */
	struct store_usage *items;
	size_t n;
};

struct store_kernel {
	const char *digest; /* SHA-256 of the manifest */
	const char *label;  /* NULL: none */
	const char *release;
	const char *version;
	const char *build_id; /* NULL: not known, as the next three */
	const char *config_digest;
	const char *config_lsm;
	const char *builtin_lsm;
	const char *manifest; /* given out: NULL, see query_kernel_manifest */
	uint32_t files;
	uint64_t size_bytes;
	int64_t added_ns;
};

/* Next free numbers. Numbers of boots and attempts that were given away but never committed may
 * be given away again: nothing has heard of them. */
struct store_ids {
	uint64_t boot;
	uint64_t attempt;
	uint64_t lease_epoch; /* over all machines: no lease ever had it */
};

/* What a coordinator needs to go on after a start. */
struct store_snapshot {
	struct store_job *jobs; /* queued and running, oldest first, with all their slots */
	size_t n_jobs;
	struct store_boot *boots; /* open ones */
	size_t n_boots;
	struct store_machine *machines; /* all that were ever seen */
	size_t n_machines;
	struct store_ids ids;
};

/* ---- regressions ---- */

struct store_member {
	const char *machine, *workload, *params, *metric, *unit;
	const char *kernel, *lsm; /* labels, new side */
	bool history;		  /* source: history; else a block comparison */
	uint64_t job;		  /* newest that showed it */
	double before, after;	  /* medians */
	double effect_pct;	  /* positive is better */
	bool has_interval;
	double lo_pct, hi_pct;
	double p, q;
	uint32_t boots_before, boots_after;
};

/* What one look at one job saw of one boundary. */
struct store_sighting {
	bool lsm_axis;
	const char *from_key, *to_key; /* digest of the kernel, or requested list */
	const char *from_label, *to_label;
	const struct store_member *members;
	size_t n_members;
	uint64_t job;
	int64_t now_ns;
};

enum store_stage {
	STORE_STAGE_CANDIDATE,
	STORE_STAGE_CONFIRMING,
	STORE_STAGE_CONFIRMED,
	STORE_STAGE_REFUTED,
};
const char *store_stage_name(enum store_stage s);

/* What became of the members in a confirmation. */
struct store_confirmed {
	const char *machine, *workload, *params, *metric, *kernel, *lsm;
	bool confirmed;
	double p;		     /* one-sided */
	const char *confirm_machine; /* NULL: none */
};

struct store_regression_step {
	uint64_t regression;
	enum store_stage stage;
	uint64_t confirm_job; /* 0: unchanged */
	const struct store_confirmed *members;
	size_t n_members;
	const char *text; /* event: what was done and why */
	int64_t now_ns;
};

struct store_regression_action { /* by a person */
	uint64_t regression;
	const char *state; /* open, acknowledged, fixed; NULL: unchanged, a comment */
	bool retest;	   /* a candidate again, unless it is being tried already */
	const char *user;  /* NULL: not known */
	const char *text;
	int64_t now_ns;
};

/* One that goes on without a person: a candidate, or one whose confirmation runs. */
struct store_regression {
	uint64_t id;
	bool lsm_axis;
	const char *from_key, *to_key, *from_label, *to_label;
	const char *state; /* open, acknowledged, fixed */
	enum store_stage stage;
	uint64_t confirm_job;
	struct store_member *members; /* job: newest that showed it */
	size_t n_members;
};
struct store_regressions { /* owned, store_regressions_free */
	struct store_regression *items;
	size_t n;
};

struct store_notice {
	uint64_t id;
	uint64_t regression;
	const char *target; /* mail:ADDRESS, command:NAME */
	const char *text;
};
struct store_notices { /* owned, store_notices_free */
	struct store_notice *items;
	size_t n;
};

struct store_recurring {
	const char *machine;
	const Kgrid__V1__CalibrateRequest *request;
	int64_t every_ns, next_ns;
	uint64_t last_job;
};
struct store_recurrings { /* owned, store_recurrings_free */
	struct store_recurring *items;
	size_t n;
};

#endif
