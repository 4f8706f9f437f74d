/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the built kgrid (KGRID_COMMAND) as people do. */
#ifndef KG_TESTS_COMMAND_H
#define KG_TESTS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct command {
	const char *address; /* KGRID_COORDINATOR; NULL: none */
	const char *env[8];  /* further NAME=value, NULL-terminated */
	int out_fd;	     /* standard output goes there; 0: captured */
	bool ignore_sigpipe;
	bool terminal;		 /* standard output and error are a terminal of 100 columns */
	const char *wait_for;	 /* with `terminal`: once this was seen ... */
	int signal;		 /* ... send this, */
	void (*then)(void *ctx); /* or call this */
	void *ctx;
};

struct command_result {
	int status; /* exit code, or 128 + signal */
	char *out;  /* owned */
	char *err;  /* owned; with a terminal both are in `out` */
};

/* `line` is split at spaces. Fails the test when it does not end within 30 s. */
void command_run(const struct command *c, const char *line, struct command_result *ret_result);
void command_result_deinit(struct command_result *r);

#endif
