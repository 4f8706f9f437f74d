/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The job file: what a person asks for, read and checked as far as that goes without knowing the
 * machines and kernels (plan.h goes on from here). Every error is "FILE:LINE:COLUMN: text" and says
 * what would be right. Pure.
 */
#ifndef KG_PLAN_JOB_H
#define KG_PLAN_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/yaml.h"
#include "coordinator/plan/predicate.h"

#define JOB_MAX_BOOTS	   1000
#define JOB_MAX_ITERATIONS 100000
#define JOB_BOOTS	   5 /* the least a side that can decide; also the default */
#define JOB_ITERATIONS	   5
#define JOB_LSM_DEFAULT	   "default" /* a request: no lsm= word, the kernel's own list */

struct job_place {
	const char *file;      /* borrows from the job; NULL: the job file itself */
	unsigned line, column; /* from 1 */
};

struct job_text {
	char *text; /* owned */
	struct job_place at;
};

struct job_texts {
	struct job_text *items; /* owned */
	size_t n;
};

struct job_lsm {
	char *label;   /* owned */
	char *request; /* owned: "a,b,c", "" for the empty list, or JOB_LSM_DEFAULT */
	char *base;    /* owned: label of the list that it is derived from; NULL: written out */
	char *changes; /* owned: " without a, b and with c"; NULL as `base` is */
	struct job_place at;
};

struct job_param {
	char *name;		 /* owned */
	struct job_texts values; /* one, or several that are all tried; as written */
	struct job_place at;
};

/* A named parameter set, `parameters: {quick: {size: 64}}`, as a workload uses it. */
struct job_set {
	char *name;		  /* owned */
	struct job_param *params; /* owned; includes those of the sets that it uses */
	size_t n_params;
	struct job_place at;
};

/* Which machines: by predicate, by name, or (both absent) all. */
struct job_machines {
	struct predicate *where; /* owned; NULL: not by predicate */
	char *where_text;
	struct job_texts names; /* n 0: not by name */
	struct job_place at;
};

/* Client and server of a workload on two machines, reserved together. Each machine that `client`
 * matches is paired with each other one that `server` matches. */
struct job_role {
	struct job_machines client, server;
	struct job_place at;
};

struct job_workload {
	char *name;		  /* owned */
	struct job_param *params; /* owned */
	size_t n_params;
	/* Each is tried, an axis of the workload; what `params` gives wins over the set's. n 0: none */
	struct job_set *sets;
	size_t n_sets;
	struct job_role *role; /* owned; NULL: runs on one machine */
	struct job_place at;
};

/* `defaults:` and `matrix:`: a parameter for the workloads that declare it and do not give it. */
struct job_default {
	char *workload; /* owned; NULL: every one that declares it */
	struct job_param param;
	bool matrix; /* refused when no workload of the job declares it */
};

/* `cmdline: {vary: [...]}`; always at least one, then with label and words "". */
struct job_variant {
	char *label; /* owned; the words themselves when the file gives no label */
	char *words; /* owned */
	struct job_place at;
};

/* A setting that the agent applies and reads back after the boot. */
struct job_setting {
	char *name; /* owned: "governor", "thp", "thp-defrag", "smt", "turbo", "epp", "sysctl.NAME" */
	struct job_texts values; /* one, or several that are all tried */
	struct job_place at;
};

enum job_canary { JOB_CANARY_AUTO, JOB_CANARY_NONE, JOB_CANARY_GIVEN };
enum job_when { JOB_WHEN_NOW, JOB_WHEN_KERNEL_ADDED, JOB_WHEN_NIGHTLY };
#define JOB_NIGHTLY_MINUTE  120 /* 02:00, local time of the coordinator */
#define JOB_QUEUE_TIMEOUT_S (7 * 86400)
/* Selectors of kernels beside label, release and digest. added: of `when: kernel added` only, the
 * one that was; newest, previous: by the time when they were added. */
#define JOB_KERNEL_ADDED    "added"
#define JOB_KERNEL_NEWEST   "newest"
#define JOB_KERNEL_PREVIOUS "previous"

struct job_exclude {
	char *text;		     /* owned */
	struct predicate *predicate; /* owned */
	struct job_place at;
};

enum job_order { JOB_INTERLEAVED, JOB_GROUPED };

struct job_spec {
	char *file_name; /* owned, shown in errors; the other pointers are owned too */
	char *name;
	char **file_names; /* of included files, for places */
	size_t n_file_names;
	struct job_machines machines;
	struct job_texts kernels; /* selectors: label, release, prefix of the digest */
	struct job_lsm *lsms;	  /* in the file's order; without `lsm:` one, "default" */
	size_t n_lsms;
	char *cmdline; /* further words for every boot; "" */
	struct job_place cmdline_at;
	struct job_variant *variants; /* of the command line, at least one */
	size_t n_variants;
	struct job_setting *settings;
	size_t n_settings;
	struct job_default *defaults; /* those of one workload before the general ones */
	size_t n_defaults;
	bool pairwise; /* all pairs of values of all axes but the machine, not the full product */
	enum job_canary canary_mode;
	struct job_workload *canary; /* owned; NULL unless given */
	uint64_t queue_timeout_ns;
	struct job_texts after; /* jobs by number or name that must be over before */
	enum job_when when;
	uint32_t nightly_minute; /* of the day, local time */
	struct job_workload *workloads;
	size_t n_workloads;
	struct kg_texts monitors;
	uint32_t boots, boots_max; /* equal unless a range was given */
	uint32_t iterations;
	/* Stop rule, judged per machine after each block from `boots` on: every effect's 95 % interval
	 * (without anything to compare, every median's) is at most this wide, in percent. 0: none, all
	 * of boots_max are made (a fixed horizon). */
	double until_pct;
	char *until; /* as written; NULL: none */
	enum job_order order;
	struct job_exclude *excludes; /* a cell that matches one is left out */
	size_t n_excludes;
	struct job_exclude *onlys; /* a cell that does not match all is left out */
	size_t n_onlys;
	uint64_t budget_ns;	  /* 0: none */
	uint32_t priority;	  /* 0..100 */
	struct kg_texts notify;	  /* each job_notify_valid */
	bool confirm;		  /* regressions are tried again */
	struct kg_texts warnings; /* what is accepted and not carried out in this version, ... */
};

struct job_file {	  /* what `include:` names; all borrow */
	const char *name; /* job_include_path */
	const char *text;
	size_t len;
};

struct job_source { /* all borrow */
	const char *file_name;
	const char *text;
	size_t len;
	const struct job_file *files;
	size_t n_files;
};

/*
 * A job with what it includes. An included file is a mapping with the keys of a job file and
 * need not be complete. The including file wins key by key; the labels under lsm, parameters,
 * defaults, settings (sysctl too), matrix, repeat and budget are put together; any other value is
 * replaced as a whole, and so is what a label stands for, whatever it is called. Later includes win
 * over earlier ones. A file that several include is read once. Refused: a circle, a file that is not
 * among `files`, more than JOB_MAX_FILES (KG_ELIMIT).
 */
#define JOB_MAX_FILES 64
#define JOB_MAX_KEYS  512  /* of one mapping; more are refused, as are lists of more items than */
#define JOB_MAX_ITEMS 1000 /* workloads, kernels, variants, predicates, settings, ... */
/* Parameters and values that `use` takes from sets, all together. */
#define JOB_MAX_SET_VALUES 250000
int job_spec_parse_source(const struct job_source *src, struct job_spec **ret_job,
			  struct kg_err *err);
/* Names under `include:` of one file, as written. Only that key is looked at. */
int job_includes(const char *file_name, const char *text, size_t len, struct kg_texts *ret_names,
		 struct kg_err *err);
/* Name of an included file: relative ones start from the including file's folder; "a/../b" becomes
 * "b". Owned; NULL: out of memory. */
char *job_include_path(const char *including, const char *name);

/* The same without includes. `ret_job` is owned, job_spec_free. KG_EINVALID; KG_ELIMIT where
 * common/yaml.h says so. */
int job_spec_parse(const char *file_name, const char *text, size_t len, struct job_spec **ret_job,
		   struct kg_err *err);
void job_spec_free(struct job_spec *j);
/* mail:ADDRESS or command:NAME */
bool job_notify_valid(const char *target);

/* Sets "FILE:LINE:COLUMN: text" and returns `code`. */
int job_spec_error(const struct job_spec *j, struct job_place at, int code, struct kg_err *err,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The key of a job file that a word is close to; NULL: none. Static. */
const char *job_near_key(const char *word);

/* man(7) lines that describe the keys. */
void job_spec_manual(struct kg_str *out);
/* kgrid-job(5) without its .TH line. */
void job_manual(struct kg_str *out);
/* The example of that page; includes "site.yaml". */
const char *job_manual_example(void);

#endif
