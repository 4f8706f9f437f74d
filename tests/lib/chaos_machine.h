/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine that mostly does what it is told, by the seed's will. */
#ifndef KG_TESTS_CHAOS_MACHINE_H
#define KG_TESTS_CHAOS_MACHINE_H

#include "tests/lib/chaos_rng.h"
#include "tests/lib/player.h"

struct chaos_machine {
	struct player p;
	const char *name, *vendor;
	const char *address; /* of the coordinator */
	size_t run;	     /* next of the order */
	bool begun;	     /* stages and evidence of the boot were sent */
	bool asked;	     /* the run's part of a pair was said */
	bool ready, done;    /* and answered */
	uint64_t silent_until_ns;
};

void chaos_machine_init(struct chaos_machine *m, const char *name, const char *vendor);
/* One thing happens to it. `calm`: nothing bad. */
void chaos_machine_step(struct chaos_machine *m, struct chaos_rng *r, bool calm);
void chaos_machine_leave(struct chaos_machine *m);

#endif
