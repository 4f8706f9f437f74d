/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every verb of the kgrid command gets: where to write, how wide, in which form, and whom to
 * ask. The command may abort when memory ends (cli_alloc and friends).
 */
#ifndef KG_CLI_CLI_H
#define KG_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"
#include "common/str.h"
#include "proto/messages.h"

enum cli_exit {
	CLI_EXIT_OK = 0,
	CLI_EXIT_NO =
		1, /* the answer is no: a regression, a slot that did not pass, a difference */
	CLI_EXIT_USAGE = 2,	  /* bad command line, job file, package */
	CLI_EXIT_UNREACHABLE = 3, /* no coordinator, or it went away */
	CLI_EXIT_REFUSED = 4,	  /* the coordinator said no: refused, not found, ambiguous */
	CLI_EXIT_NODATA = 5,	  /* nothing to show; the text says why */
	CLI_EXIT_LOCAL = 6, /* failed on this side: standard output, a program that is missing */
	CLI_EXIT_INTERRUPTED = 130,
};

#define CLI_WIDTH_FALLBACK 100 /* columns, when standard output is no terminal */

struct client;
struct cli_args;
struct kg_msg;

struct cli {
	FILE *out;
	FILE *err;
	const char *address; /* borrows; as given or found */
	bool json;
	bool csv;
	bool terminal; /* out is one */
	bool color;
	bool unicode; /* out is a terminal that shows UTF-8 */
	unsigned width;
};

/* The verbs: one file cmd_*.c each. They return an enum cli_exit. */
int cmd_submit(struct cli *cli, const struct cli_args *args);
int cmd_jobs(struct cli *cli, const struct cli_args *args);
int cmd_job_show(struct cli *cli, const struct cli_args *args);
int cmd_job_cancel(struct cli *cli, const struct cli_args *args);
int cmd_job_retry(struct cli *cli, const struct cli_args *args);
int cmd_job_pause(struct cli *cli, const struct cli_args *args);
int cmd_job_resume(struct cli *cli, const struct cli_args *args);
int cmd_job_reprioritise(struct cli *cli, const struct cli_args *args);
int cmd_job_extend(struct cli *cli, const struct cli_args *args);
int cmd_watch(struct cli *cli, const struct cli_args *args);
int cmd_machines(struct cli *cli, const struct cli_args *args);
int cmd_machine_show(struct cli *cli, const struct cli_args *args);
int cmd_machine_reserve(struct cli *cli, const struct cli_args *args);
int cmd_machine_release(struct cli *cli, const struct cli_args *args);
int cmd_machine_drain(struct cli *cli, const struct cli_args *args);
int cmd_machine_maintenance(struct cli *cli, const struct cli_args *args);
int cmd_machine_resume(struct cli *cli, const struct cli_args *args);
int cmd_why(struct cli *cli, const struct cli_args *args);
int cmd_reproduce(struct cli *cli, const struct cli_args *args);
int cmd_standing_list(struct cli *cli, const struct cli_args *args);
int cmd_standing_show(struct cli *cli, const struct cli_args *args);
int cmd_standing_run(struct cli *cli, const struct cli_args *args);
int cmd_standing_rm(struct cli *cli, const struct cli_args *args);
int cmd_kernels(struct cli *cli, const struct cli_args *args);
int cmd_kernel_add(struct cli *cli, const struct cli_args *args);
int cmd_kernel_show(struct cli *cli, const struct cli_args *args);
int cmd_kernel_rm(struct cli *cli, const struct cli_args *args);
int cmd_compare(struct cli *cli, const struct cli_args *args);
int cmd_gate(struct cli *cli, const struct cli_args *args);
int cmd_regressions(struct cli *cli, const struct cli_args *args);
int cmd_regression_ack(struct cli *cli, const struct cli_args *args);
int cmd_regression_close(struct cli *cli, const struct cli_args *args);
int cmd_regression_reopen(struct cli *cli, const struct cli_args *args);
int cmd_regression_comment(struct cli *cli, const struct cli_args *args);
int cmd_regression_retest(struct cli *cli, const struct cli_args *args);
int cmd_history(struct cli *cli, const struct cli_args *args);
int cmd_calibrate(struct cli *cli, const struct cli_args *args);
int cmd_noise(struct cli *cli, const struct cli_args *args);
int cmd_diff(struct cli *cli, const struct cli_args *args);
int cmd_epochs(struct cli *cli, const struct cli_args *args);
int cmd_provenance(struct cli *cli, const struct cli_args *args);
int cmd_samples(struct cli *cli, const struct cli_args *args);
int cmd_logs(struct cli *cli, const struct cli_args *args);
int cmd_stat_compare(struct cli *cli, const struct cli_args *args);
int cmd_stat_power(struct cli *cli, const struct cli_args *args);
int cmd_stat_table(struct cli *cli, const struct cli_args *args);
int cmd_import_summary(struct cli *cli, const struct cli_args *args);
int cmd_imports(struct cli *cli, const struct cli_args *args);
int cmd_stat_changepoints(struct cli *cli, const struct cli_args *args);
int cmd_stat_vectors(struct cli *cli, const struct cli_args *args);
int cmd_lsm_resolve(struct cli *cli, const struct cli_args *args);
int cmd_lsm_parse(struct cli *cli, const struct cli_args *args);
int cmd_lab(struct cli *cli, const struct cli_args *args);
int cmd_info(struct cli *cli, const struct cli_args *args);
int cmd_help(struct cli *cli, const struct cli_args *args);

/* One line of talk to standard error: "kgrid: text". */
void cli_say(struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same, but for a text that begins with a place: "FILE:LINE: text". */
void cli_say_place(struct cli *cli, const char *text);

/* Connects, or says why not. NULL: the caller returns *ret_exit. Owned, client_close. */
struct client *cli_connect(struct cli *cli, int *ret_exit);
/* Says what went wrong with a call that returned `rc`, and gives the exit code for it. */
int cli_fail(struct cli *cli, const struct client *c, int rc, const struct kg_err *err);

/* Connects, sends one request, waits for its one answer of type `want`, closes. NULL: it was said
 * why, the caller returns *ret_exit. Owned, kg_msg_free. */
struct kg_msg *cli_ask(struct cli *cli, uint16_t type, const ProtobufCMessage *body, uint16_t want,
		       int timeout_ms, int *ret_exit);

/* The same for a request that is answered by Done: says what was done, `what` when the answer does
 * not; exit code. */
int cli_change(struct cli *cli, uint16_t type, const ProtobufCMessage *body, const char *what);

/* Prints the accounting line: to standard error when standard output is for a program. */
void cli_accounting(struct cli *cli, const Kgrid__V1__Accounting *a);

/* Prints a buffer to standard output and empties it. */
void cli_print(struct cli *cli, struct kg_str *s);
/* Prints a message as one JSON document. */
void cli_print_json(struct cli *cli, const ProtobufCMessage *m);
/* The same in one line. */
void cli_print_json_line(struct cli *cli, const ProtobufCMessage *m);

/* The login name of who runs the command; NULL: not known. Borrows until the next call. */
char *cli_user(void);

void *cli_alloc(size_t n, size_t size); /* zeroed, owned (free) */
void *cli_grow(void *p, size_t n, size_t size);
char *cli_strdup(const char *s);
const char *cli_text(const char *s); /* "" for NULL */

#endif
