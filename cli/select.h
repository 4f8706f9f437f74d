/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the results is meant: the options that compare, gate and history share. */
#ifndef KG_CLI_SELECT_H
#define KG_CLI_SELECT_H

#include "cli/args.h"
#include "common/err.h"
#include "proto/messages.h"

#define SELECT_LIST_MAX CLI_OPTIONS_MAX

/* A Selection with the room it needs; texts borrow from the command line. Must not be moved. */
struct selection {
	Kgrid__V1__Selection message;
	uint64_t jobs[SELECT_LIST_MAX + 1];
	char *params[SELECT_LIST_MAX];
};

/* Reads the options; options that the command does not have are no restriction. `job` 0: none was
 * named as an operand. `now_ns`: CLOCK_REALTIME, for --since. KG_EINVALID: a value is wrong, or
 * two of them contradict one another. */
int selection_read(const struct cli_args *args, uint64_t job, int64_t now_ns, struct selection *ret,
		   struct kg_err *err);
/* Whether anything but a job as an operand was asked for. */
bool selection_is_wider(const struct selection *s);

/* --alpha, --min-effect, --correction, --across-epochs, --baseline of a CompareRequest. */
int policy_read(const struct cli_args *args, Kgrid__V1__CompareRequest *q, struct kg_err *err);

/* "2", "2%" or "2 %": percent. KG_EINVALID: no number from 0 to 1000. */
int percent_parse(const char *option, const char *text, double *ret, struct kg_err *err);

#endif
