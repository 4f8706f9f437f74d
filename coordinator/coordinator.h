/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The coordinator: one struct that owns the loop, the store, the scheduler, the inventory and the
 * connections. coordinator.c starts and stops them in order; the rest reaches its neighbours here.
 *
 *   sessions --records--> store --committed--> driver --events--> scheduler
 *      ^                                          |
 *      +------------- orders, fences, acks <------+ actions
 */
#ifndef KG_COORDINATOR_H
#define KG_COORDINATOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "common/err.h"
#include "common/yaml.h"
#include "coordinator/artifact/blob.h"
#include "coordinator/schedule/driver.h"
#include "coordinator/schedule/sched.h"
#include "coordinator/server/detector.h"
#include "coordinator/server/inventory.h"
#include "coordinator/server/server.h"
#include "coordinator/server/standing.h"
#include "coordinator/store/query.h"
#include "coordinator/store/store.h"

struct coordinator_config {
	char *data_dir;
	struct kg_texts listen; /* HOST:PORT; default 127.0.0.1:7440 */
	char *socket;		/* Unix socket; default DATA_DIR/run/kgrid.sock */
	bool insecure_plaintext;
	struct kg_texts power_cycle;	 /* argument vector, {machine} is replaced; empty: none */
	struct kg_texts sendmail;	 /* argument vector; the address is added */
	struct kg_texts notify_commands; /* "NAME PROGRAM ARGUMENT..." */
	uint64_t silence_ns;		 /* a connection that says nothing for so long is dropped */
	uint64_t stage_ns[SCHED_STAGE_COUNT];
	int64_t instruction_factor;
	int64_t max_slots;
	struct kg_texts shares; /* "NAME NUMBER" */
	uint64_t queue_timeout_ns;
};

/* Reads the file (may be NULL) over the defaults. */
int coordinator_config_read(const char *path, struct coordinator_config *ret_c, struct kg_err *err);
void coordinator_config_deinit(struct coordinator_config *c);
void coordinator_config_manual(struct kg_str *out);

struct coordinator {
	struct coordinator_config cfg;
	char host_boot_id[64];
	uv_loop_t loop;
	uv_async_t wake; /* the store has results */
	uv_timer_t tick; /* once a second: deadlines, silence, retries */
	uv_signal_t sigint, sigterm;
	unsigned open_handles; /* of the four above */
	atomic_bool stopping;  /* workers may look at it */
	struct store *store;
	struct query *query;
	struct artifact_blobs *blobs;
	struct inventory inventory;
	struct sched sched;
	struct driver driver;
	struct detector detector;
	struct standing standing;
	struct notice *notices; /* whose programs run, notify.c */
	struct load *loads;	/* jobs on their way from the store to the scheduler, submit.c */
	struct server server;
};

/* Opens everything, takes up what the store knows, listens. On failure nothing stays open. */
int coordinator_start(struct coordinator *c, struct kg_err *err);
/* Runs until SIGINT, SIGTERM or coordinator_stop; 0, or a code when the loop did not end clean. */
int coordinator_run(struct coordinator *c);
void coordinator_stop(struct coordinator *c);
void coordinator_deinit(struct coordinator *c);

#endif
