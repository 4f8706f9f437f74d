/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scheduler whose actions become lines of text: short to compare and to read. After each of them
 * the accounts must balance.
 */
#ifndef KG_TESTS_SCHEDULE_WORLD_H
#define KG_TESTS_SCHEDULE_WORLD_H

#include "tests/lib/cmocka_all.h"

#include "common/clock.h"
#include "coordinator/schedule/sched.h"

#define SEC ((uint64_t)KG_NSEC_PER_SEC)
#define H   (3600 * SEC)

struct world {
	struct sched s;
	char log[16384];
};

struct plan {
	uint64_t id;
	uint32_t priority;
	const char *user;
	const char *machine, *peer;
	uint32_t blocks, visits, slots; /* each at least 1 */
	uint32_t seconds;
	uint32_t gate;
	uint64_t budget_ns, queue_timeout_ns, after;
};

int world_setup(void **state);
int world_teardown(void **state);
/* The job, not yet added. Slot k of visit v has the number id * 1000 + v * 10 + k. */
struct sched_job *world_job(struct world *w, const struct plan *p);
void world_add(struct world *w, const struct plan *p, uint64_t now);
void world_visits(struct world *w, struct sched_job *j, const struct plan *p, uint32_t first_block);
void world_up(struct world *w, const char *machine, uint64_t now);
/* What was done since the last time; then forgotten. */
void world_expect(struct world *w, const char *text);
void world_forget(struct world *w);
/* Slots of all jobs: those that are pending are as many as is counted. */
void world_balance(struct world *w);
/* The order is stored, all runs pass, the boot ends well. */
void world_pass(struct world *w, const char *machine, uint64_t now);
struct sched_boot *world_boot(struct world *w, const char *machine);

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

#endif
