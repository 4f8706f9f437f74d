/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Submitting: what a client, the coordinator itself, or a standing job asks for. */
#ifndef KG_SERVER_JOBS_H
#define KG_SERVER_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/plan/job.h"
#include "coordinator/store/types.h"

struct coordinator;
struct request;

struct jobs_order {
	const char *text;	      /* the job file; copied, as the other texts */
	const char *file_name;	      /* shown in errors */
	const struct job_file *files; /* that it includes */
	size_t n_files;
	const char *user;	  /* NULL: "" */
	const char *client_key;	  /* NULL: none */
	const char *added_kernel; /* digest, for JOB_KERNEL_ADDED; NULL: none */
	enum store_job_kind kind;
	uint64_t regression; /* kind confirm */
	uint64_t standing;   /* that is due; 0: none */
	uint64_t budget_ns;  /* refused with KG_ELIMIT when the plan needs more; 0: no limit */
	/* On the loop thread, exactly once after jobs_submit returned 0: the job, or a code with its
	 * reason. May be NULL. */
	void (*done)(void *arg, int rc, uint64_t job, const char *text);
	void *arg;
};

/* Plans on a worker thread, stores, schedules. -ENOMEM. */
int jobs_submit(struct coordinator *c, const struct jobs_order *o);
/* The same for a client, who gets a SubmitReply. */
void jobs_submit_for(const struct request *rq, const struct jobs_order *o, bool dry_run);
/* Gives a job that the store has to the scheduler: a new one, one that is tried again, or the blocks
 * that were added. */
void jobs_load(struct coordinator *c, uint64_t job);
/* Somebody has changed the job in the store: what is on its way to the scheduler is read again. */
void jobs_changed(struct coordinator *c, uint64_t job);

/* The job file of an answer of the store, with what it includes. Any thread. */
int job_reply_parse(const Kgrid__V1__JobReply *r, struct job_spec **ret, struct kg_err *err);

#endif
