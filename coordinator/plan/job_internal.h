/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that read a job file only. */
#ifndef KG_PLAN_JOB_INTERNAL_H
#define KG_PLAN_JOB_INTERNAL_H

#include "common/arena.h"
#include "coordinator/plan/job.h"

struct job_input { /* all borrow */
	const struct kg_yaml_doc *doc;
	struct job_spec *job; /* being filled */
	struct kg_err *err;
};

/* ---- job_util.c ---- */

struct job_place job_place_of(const struct job_input *in, const struct kg_yaml_node *node);
int job_no_memory(struct kg_err *err); /* sets the text, returns -ENOMEM */
#define JOB_LINE_MAX 256
/* "line 3", or "line 3 of 'site.yaml'" of an included file; returns buf. */
const char *job_line(const struct job_place *at, char *buf, size_t size);
bool job_is_null(const struct kg_yaml_node *n);
/* Adds a copy of a scalar. */
int job_texts_add(const struct job_input *in, struct job_texts *t, const struct kg_yaml_node *n);
void job_texts_deinit(struct job_texts *t);
/* A list of single values that are not empty, or one of them. `what` names the key in errors. */
int job_read_texts(const struct job_input *in, const struct kg_yaml_node *n, const char *what,
		   struct job_texts *ret);
/* The names of machines, jobs: those that cannot be one are refused; `what` as above. */
int job_check_names(const struct job_input *in, const struct job_texts *t, const char *what,
		    const char *expected);
/* The second of two equal texts is an error. */
int job_check_unique(const struct job_input *in, const struct job_texts *t, const char *what);
/* Refuses more than JOB_MAX_ITEMS. */
int job_check_count(const struct job_input *in, const struct kg_yaml_node *n, const char *what);
/* "WHAT 'text', did you mean 'x'?", or "; known are ..." */
int job_unknown(const struct job_input *in, const struct kg_yaml_node *n, const char *what,
		const char *const *known, size_t n_known);
void job_machines_deinit(struct job_machines *m);
void job_param_deinit(struct job_param *p);
void job_workload_deinit(struct job_workload *w);

/* ---- job_merge.c: several files as one mapping ---- */

#define JOB_DOCS_MAX (JOB_MAX_FILES + 1)

struct job_docs {
	struct kg_yaml_doc *items[JOB_DOCS_MAX]; /* owned; the job file first */
	const struct kg_yaml_node
		*maps[JOB_DOCS_MAX]; /* each with what it includes; NULL: not yet */
	size_t n;
	struct kg_arena arena; /* of mappings that were put together */
};

/* The root with everything that it includes, without the key `include` and with the job keys of
 * `defaults` filled in. `keys` are the job's keys. */
int job_docs_load(const struct job_source *src, const struct kg_field *keys, struct job_docs *d,
		  const struct kg_yaml_node **ret_root, struct kg_err *err);
void job_docs_deinit(struct job_docs *d);

/* ---- each fills its part of in->job; `n` NULL: the key is absent ---- */

int job_read_machines(const struct job_input *in, const struct kg_yaml_node *n, const char *what,
		      struct job_machines *ret);
int job_read_lsms(const struct job_input *in, const struct kg_yaml_node *n);
/* After the lists. `extra`: more variants, matrix.cmdline. */
int job_read_cmdline(const struct job_input *in, const struct kg_yaml_node *n,
		     const struct kg_yaml_node *extra);
int job_read_settings(const struct job_input *in, const struct kg_yaml_node *n);
#define JOB_SYSCTL "sysctl"
/* Adds one part of a sysctl's name, ".vm.swappiness"; vm/swappiness is the same, as in sysctl(8). */
void job_sysctl_add(struct kg_str *name, const char *part);
/* Those keys of `defaults` that are no job keys, and of `matrix` that are parameters. */
int job_read_defaults(const struct job_input *in, const struct kg_yaml_node *defaults,
		      const struct kg_yaml_node *matrix, const struct kg_field *keys);
/* `sets`: the key `parameters`; `role`: of all workloads that have none of their own. */
int job_read_workloads(const struct job_input *in, const struct kg_yaml_node *n,
		       const struct kg_yaml_node *sets, const struct kg_yaml_node *role);
int job_read_canary(const struct job_input *in, const struct kg_yaml_node *n);
/* One workload without sets and roles: the canary. */
int job_read_plain_workload(const struct job_input *in, const struct kg_yaml_node *n,
			    struct job_workload *w);
int job_read_param(const struct job_input *in, const struct kg_yaml_node *key,
		   const struct kg_yaml_node *value, const char *of, struct job_param *ret);
int job_read_predicates(const struct job_input *in, const struct kg_yaml_node *exclude,
			const struct kg_yaml_node *only);
struct job_repeat { /* as the table reads it */
	const struct kg_yaml_node *boots;
	int64_t iterations;
	const struct kg_yaml_node *until;
};
int job_read_repeat(const struct job_input *in, const struct job_repeat *r);
int job_read_when(const struct job_input *in, const struct kg_yaml_node *n);

/* ---- for the man page ---- */

extern const struct kg_field job_cmdline_fields[], job_role_fields[], job_lsm_fields[];
const char *const *job_monitor_names(size_t *ret_n);
void job_settings_manual(struct kg_str *out);
void job_manual_item(struct kg_str *out, const char *name, const char *help);

#endif
