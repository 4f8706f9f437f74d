/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that the coordinator makes itself: confirmations and calibrations. */
#ifndef KG_SERVER_JOBS_H
#define KG_SERVER_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/store/types.h"

struct coordinator;
struct request;

struct jobs_order {
	const char *text;      /* the job file; copied */
	const char *file_name; /* static storage; shown in errors */
	enum store_job_kind kind;
	uint64_t regression; /* kind confirm */
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

#endif
