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
	struct job_place at;
};

struct job_param {
	char *name;		 /* owned */
	struct job_texts values; /* one, or several that are all tried; as written */
	struct job_place at;
};

struct job_workload {
	char *name;		  /* owned */
	struct job_param *params; /* owned */
	size_t n_params;
	struct job_place at;
};

struct job_exclude {
	char *text;		     /* owned */
	struct predicate *predicate; /* owned */
	struct job_place at;
};

enum job_order { JOB_INTERLEAVED, JOB_GROUPED };

struct job_spec {
	char *file_name; /* owned, shown in errors; the other pointers are owned too */
	char *name;
	struct predicate *where; /* machines by predicate; NULL with where_text NULL: all */
	char *where_text;
	struct job_texts machines; /* machines by name; n 0 when by predicate */
	struct job_place machines_at;
	struct job_texts kernels; /* selectors: label, release, prefix of the digest */
	struct job_lsm *lsms;	  /* in the file's order; without `lsm:` one, "default" */
	size_t n_lsms;
	char *cmdline; /* further words for every boot; "" */
	struct job_place cmdline_at;
	struct job_workload *workloads;
	size_t n_workloads;
	struct kg_texts monitors;
	uint32_t boots, boots_max; /* equal unless a range was given */
	uint32_t iterations;
	char *until; /* NULL: none */
	enum job_order order;
	struct job_exclude *excludes;
	size_t n_excludes;
	uint64_t budget_ns;	  /* 0: none */
	uint32_t priority;	  /* 0..100 */
	struct kg_texts notify;	  /* each job_notify_valid */
	bool confirm;		  /* regressions are tried again */
	struct kg_texts warnings; /* what is accepted and not carried out in this version, ... */
};

/* `ret_job` is owned, job_spec_free. KG_EINVALID; KG_ELIMIT where common/yaml.h says so. */
int job_spec_parse(const char *file_name, const char *text, size_t len, struct job_spec **ret_job,
		   struct kg_err *err);
void job_spec_free(struct job_spec *j);
/* mail:ADDRESS or command:NAME */
bool job_notify_valid(const char *target);

/* Sets "FILE:LINE:COLUMN: text" and returns `code`. */
int job_spec_error(const struct job_spec *j, struct job_place at, int code, struct kg_err *err,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* man(7) lines that describe the keys. */
void job_spec_manual(struct kg_str *out);

#endif
