/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standing jobs: `when: kernel added`, `when: nightly`. */
#ifndef KG_SERVER_STANDING_H
#define KG_SERVER_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/plan/job.h"

struct coordinator;

struct standing_made {
	uint64_t standing;
	char kernel[65];
};

struct standing {
	struct coordinator *c;
	bool dirty; /* the store may have one that is due */
	bool asking;
	int64_t next_ns; /* realtime of the nearest nightly one; 0: none */
	struct standing_made
		*made; /* owned: kernels x standing jobs that this process has seen to */
	size_t n_made;
};

void standing_init(struct standing *s, struct coordinator *c);
void standing_deinit(struct standing *s);
/* A standing job or a kernel was added. */
void standing_dirty(struct standing *s);
/* Once a second, on the loop thread. */
void standing_tick(struct standing *s);

/* "when a kernel is added", "nightly at 02:00". */
void standing_when(enum job_when when, uint32_t minute, char *buf, size_t size);
/* Next moment after now_ns at that minute of the day, local time, by the C library's rules for
 * daylight saving. Both realtime. */
int64_t standing_next(int64_t now_ns, uint32_t minute);

#endif
