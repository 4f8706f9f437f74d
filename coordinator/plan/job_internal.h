/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that read a job file only. */
#ifndef KG_PLAN_JOB_INTERNAL_H
#define KG_PLAN_JOB_INTERNAL_H

#include "coordinator/plan/job.h"

struct job_input { /* all borrow */
	const struct kg_yaml_doc *doc;
	struct job_spec *job; /* being filled */
	struct kg_err *err;
};

/* Each fills its part of in->job; `n` NULL: the key is absent. */
int job_read_lsms(const struct job_input *in, const struct kg_yaml_node *n);
int job_read_workloads(const struct job_input *in, const struct kg_yaml_node *n);
int job_read_excludes(const struct job_input *in, const struct kg_yaml_node *n);

struct job_place job_place_of(const struct kg_yaml_node *node);
int job_no_memory(struct kg_err *err); /* sets the text, returns -ENOMEM */
bool job_is_null(const struct kg_yaml_node *n);
/* Adds a copy of a scalar. */
int job_texts_add(const struct job_input *in, struct job_texts *t, const struct kg_yaml_node *n);
void job_texts_deinit(struct job_texts *t);

#endif
