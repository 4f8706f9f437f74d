/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A person who asks for anything, one request at a time on a connection that may be dropped at any
 * time. Whoever stays gets an answer, or the test fails. */
#ifndef KG_TESTS_CHAOS_CLIENT_H
#define KG_TESTS_CHAOS_CLIENT_H

#include "tests/lib/chaos_rng.h"
#include "tests/lib/peer.h"

struct chaos_client {
	const char *socket;
	struct peer *peer;
	uint32_t id;
	uint16_t asked; /* type of the request that has no answer yet; 0: none */
	bool mixed;	/* answers of several requests may come in any order */
	uint64_t since_ns;
};

/* `calm`: asks nothing new. */
void chaos_client_step(struct chaos_client *c, struct chaos_rng *r, bool calm);
void chaos_client_leave(struct chaos_client *c);

/* What was taken out of service serves again, what was paused goes on. */
void chaos_machine_serve_again(const char *machine, const char *socket);
void chaos_job_resume(const char *socket, uint64_t job);
/* Prints why a job waits. */
void chaos_why(const char *socket, uint64_t job);

#endif
