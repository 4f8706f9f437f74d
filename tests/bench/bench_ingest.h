/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of bench_ingest: the coordinator's end, the agents' end, and the bare loop. */
#ifndef KG_TESTS_BENCH_INGEST_H
#define KG_TESTS_BENCH_INGEST_H

#include <stdint.h>

#include "proto/messages.h"

struct bench {
	/* options */
	uint32_t rows;	     /* in all */
	uint32_t agents;     /* connections, each with one attempt */
	uint32_t per_record; /* samples in a record */
	uint32_t window;     /* records that an agent has under way */
	const char *dir;
	/* made of them */
	uint32_t records; /* per agent */
	char path[512];	  /* of the database of this round */
};

struct bench_result {
	double seconds;
	double rows_per_txn;
	uint64_t commits;
};

/* All numbers are made of (agent, record, i), so that both sides write the same rows. */
double bench_value(uint32_t agent, uint32_t record, uint32_t i);
#define BENCH_EPOCH	     7
#define BENCH_STEP_NS	     1000003 /* between samples */
#define BENCH_FIRST_SEQ	     3	     /* after evidence and start */
#define bench_boot(agent)    ((uint64_t)(agent) + 1)
#define bench_attempt(agent) ((uint64_t)(agent) + 1)

/* Exits with a text when something is wrong. */
void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
double bench_now(void); /* seconds, monotonic */

/* A new database with a job, boots and started attempts. */
void bench_setup(const struct bench *b);
/* Over TCP, through decode, queue and writer thread, until the last acknowledgement is back. */
struct bench_result bench_run_store(const struct bench *b);
/* The same rows in the same order by one prepared statement, rows_per_txn of them a transaction. */
struct bench_result bench_run_bare(const struct bench *b, double rows_per_txn);

/* Encodes an agent's frames, before the clock runs; then sends them over a new connection and
 * reads acknowledgements, on a thread of its own. */
struct bench_client;
struct bench_client *bench_client_new(const struct bench *b, uint32_t agent);
void bench_client_start(struct bench_client *c, uint16_t port);
void bench_client_join(struct bench_client *c); /* and frees */

#endif
