/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An agent that says of every boot it is given that it went well, with numbers that a test makes up.
 * It speaks the real protocol to a real coordinator; only the machine is not there. */
#ifndef KG_TESTS_PLAYER_H
#define KG_TESTS_PLAYER_H

#include <stdint.h>

#include "tests/lib/peer.h"

struct player_run {
	const char *machine;
	const char *kernel; /* digest */
	const char *lsm;    /* expected effective list */
	const char *workload;
	const char *params; /* "size=1" */
	uint64_t boot;
	uint32_t iteration; /* from 1 */
};

struct player_fact {
	const char *name;  /* NULL ends a list */
	const char *value; /* NULL: unsupported */
};

struct player {
	struct peer *agent;
	const char *machine;
	double (*value)(void *arg, const struct player_run *run);
	const char *(*outcome)(void *arg, const struct player_run *run); /* NULL: "pass" */
	void *arg;
	const char *direction;		 /* NULL: "higher" */
	const struct player_fact *facts; /* recorded after the boot; NULL: none is sent */
	/* the boot in hand */
	uint64_t boot, epoch, seq;
	struct kg_msg *order; /* owned, between player_begin and player_finish */
	/* what is sent is kept until it is acknowledged, as in an agent's spool */
	bool keeps;
	struct kg_msg **kept; /* Records, owned */
	size_t n_kept;
};

/* Takes the next order and plays it to its end. */
void player_boot(struct player *p);

/* The same in steps: up to the first run, one run of the order (from 0), the end with an outcome. */
const Kgrid__V1__BootOrder *player_begin(struct player *p);
const Kgrid__V1__BootOrder *player_take(struct player *p, struct kg_msg *order); /* takes it */
void player_run(struct player *p, size_t run);
void player_stage(struct player *p, const char *stage, uint64_t attempt);
/* A run that ends without samples: a server's, or one that fails. */
void player_end_run(struct player *p, size_t run, const char *outcome);
void player_finish(struct player *p, const char *outcome);

/* Of a player that keeps: an acknowledgement came; all that is kept, once more; nothing of it and of
 * the boot in hand is known any more. */
void player_acked(struct player *p, const Kgrid__V1__RecordAck *ack);
void player_resend(struct player *p);
void player_forget(struct player *p);

#endif
