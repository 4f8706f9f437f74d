/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One look for regressions, on a worker thread: what it is given, what it found. */
#ifndef KG_SERVER_LOOK_H
#define KG_SERVER_LOOK_H

#include "common/arena.h"
#include "coordinator/detect/confirm.h"
#include "coordinator/detect/sighting.h"
#include "coordinator/server/server.h"
#include "coordinator/store/query.h"

struct look_block {
	uint64_t job;
	const char *machine;
	uint32_t block;
};

/* A candidate that is to be tried again. */
struct look_confirm {
	uint64_t regression;
	const char *text;    /* the job file */
	uint64_t budget_ns;  /* what the job's budget has left; 0: no limit */
	const char *refused; /* not NULL: it cannot be, and why */
};

struct look_judged {
	struct store_regression_step step;
	const char *notice;	    /* text for people; NULL: nobody is told */
	const char *const *targets; /* mail:..., command:... */
	size_t n_targets;
};

struct look {
	struct work w; /* first: freed by it */
	void (*finish)(struct look *l, void *arg);
	void *arg;
	/* given, owned */
	struct confirm_machine *machines;
	size_t n_machines;
	uint64_t *forced, *declined;
	size_t n_forced, n_declined;
	/* found; texts are of the arena or of `replies` */
	struct kg_arena arena;
	ProtobufCMessage **replies; /* owned */
	size_t n_replies;
	struct look_block *blocks;
	size_t n_blocks;
	struct store_sighting *sightings;
	size_t n_sightings;
	struct look_confirm *confirms;
	size_t n_confirms;
	struct look_judged *judged;
	size_t n_judged;
	struct store_regressions *open;	     /* owned */
	struct store_recurrings *recurrings; /* owned */
	struct store_notices *notices;	     /* owned: pending ones */
};

/* `finish` runs on the loop thread; afterwards the look is freed. NULL: out of memory. */
struct look *look_new(void (*finish)(struct look *l, void *arg), void *arg);
void look_free(struct look *l); /* one that was not started */
void look_start(struct coordinator *c, struct look *l);

#endif
