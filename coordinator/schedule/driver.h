/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries out the scheduler's actions: stores them, and only then sends orders. An operation that
 * the store could not do (disk full) is repeated, in order, until it could.
 */
#ifndef KG_SCHEDULE_DRIVER_H
#define KG_SCHEDULE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/schedule/sched.h"
#include "coordinator/store/store.h"

struct coordinator;
struct driver_op;
struct power_run;

#define DRIVER_RESERVE 64

struct driver {
	struct coordinator *c;
	struct driver_op *waiting, **waiting_tail; /* to be tried (again), in order */
	struct driver_op *reserve; /* unused ones, for when there is no memory for more */
	unsigned n_reserve;	   /* of DRIVER_RESERVE; filled up at each tick */
	struct power_run *power;   /* commands that run */
};

void driver_init(struct driver *d, struct coordinator *c);
void driver_deinit(struct driver *d);
/* Puts what the store knows into the scheduler. Deadlines of another boot of this host are taken
 * over by the wall clock. */
int driver_restore(struct driver *d, const struct store_snapshot *snap, struct kg_err *err);
/* Adds a job that the store has to the scheduler; of one that the scheduler has already and that is not
 * over, the blocks that are new. */
int driver_add_job(struct driver *d, const struct store_job *j);
void driver_tick(struct driver *d, uint64_t now_ns);
/* A stored deadline in CLOCK_BOOTTIME of this boot of the host. Same boot: as it is, so that a
 * restart of the coordinator neither extends nor shortens it. Another boot: what is left by the
 * wall clock, but at least a minute (agents have to find us again) and at most `limit_ns`, the
 * stage's whole limit (the wall clock may have been wrong). Pure. */
struct driver_clock {
	uint64_t boottime_ns;
	int64_t realtime_ns;
	const char *host_boot_id;
};
uint64_t driver_deadline(const struct store_deadline *d, const struct driver_clock *now,
			 uint64_t limit_ns);
void driver_event(struct driver *d, const char *machine, uint64_t job, uint64_t boot,
		  const char *kind, const char *text);

#endif
