/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between why*.c only. */
#ifndef KG_SCHEDULE_WHY_INTERNAL_H
#define KG_SCHEDULE_WHY_INTERNAL_H

#include "coordinator/schedule/sched_internal.h"

struct why {
	const struct sched *s;
	uint64_t now_ns;
	struct kg_texts *lines;
	bool failed; /* out of memory */
};

/* Drops what is behind SCHED_WHY_LINES. */
void why_add(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 0 or -ENOMEM, then without lines. */
int why_end(struct why *w);

/* "job 7 'nightly'" */
const char *why_job_name(const struct sched_job *j, char *buf, size_t size);
/* "boot 12, stage 'run', at most 4 min 10 s left" */
void why_boot(const struct sched_boot *b, uint64_t now_ns, char *buf, size_t size);
/* "priority 70, waited 1 h 12 min, alice is 0.3 h ahead of her share" */
void why_score(const struct sched *s, const struct sched_job *j, uint64_t now_ns, char *buf,
	       size_t size);
/* Why the machine takes no boot of this user, whatever it is: offline, service, reserved. */
bool why_machine_shut(const struct sched_machine *m, const char *user, uint64_t now_ns, char *buf,
		      size_t size);
/* Who has the machine, or whom it is kept for; false: it is free for `q`. */
bool why_machine_taken(const struct sched_machine *m, const struct sched_queue *q, uint64_t now_ns,
		       char *buf, size_t size);
/* Jobs that come before `q` on a machine by their score. Returns how many; the first of them. */
size_t why_before(const struct sched *s, const struct sched_machine *m, const struct sched_queue *q,
		  uint64_t now_ns, const struct sched_job **ret_first);
/* The queue's state in a line, with the machine's name in front, and who comes first, if anybody:
 * true. */
bool why_queue_line(struct why *w, const struct sched_queue *q);

#endif
