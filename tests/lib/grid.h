/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A real coordinator process with a data directory of its own. */
#ifndef KG_TESTS_GRID_H
#define KG_TESTS_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct grid {
	char dir[64]; /* temporary; data in dir/data */
	char socket[96];
	char tcp[64]; /* "127.0.0.1:PORT" */
	char log[96]; /* stderr of the coordinator */
	pid_t pid;    /* 0: not running */
};

void grid_init(struct grid *g);
/* Starts and waits until it listens; `extra` ends with NULL, may be NULL. Fails the test. */
void grid_start(struct grid *g, const char *const *extra);
/* Starts one that is expected to give up by itself: returns its exit status. */
int grid_run_failing(struct grid *g, const char *const *extra);
/* It has ended by itself; it is still to be reaped by grid_kill. */
bool grid_died(const struct grid *g);
void grid_kill(struct grid *g); /* SIGKILL */
int grid_stop(struct grid *g);	/* SIGTERM; returns the exit status */
void grid_deinit(struct grid *g);
/* What it logged so far, owned (free). */
char *grid_log(const struct grid *g);
/* First column of the first row, as text. */
void grid_sql(const struct grid *g, const char *sql, char *ret_text, size_t size);
/* Changes the database behind the coordinator's back, while it does not run. */
void grid_change(const struct grid *g, const char *sql);
long grid_count(const struct grid *g, const char *sql);
/* Waits until `sql` gives `want`. */
void grid_wait_count(const struct grid *g, const char *sql, long want);

#endif
