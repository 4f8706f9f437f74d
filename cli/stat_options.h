/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands below `kgrid stat` share. */
#ifndef KG_CLI_STAT_OPTIONS_H
#define KG_CLI_STAT_OPTIONS_H

#include <stddef.h>

#include "cli/stat_read.h"
#include "common/err.h"

struct cli;
struct cli_args;

/* A number from `lo` to `hi`, a per cent sign may follow; *ret stays when the option was not given.
 * KG_EINVALID. */
int stat_option_number(const struct cli_args *args, const char *name, double lo, double hi,
		       double *ret, struct kg_err *err);
/* stat_read(), and a word on standard error about columns that are not known. */
int stat_open(struct cli *cli, const char *const *files, size_t n, struct stat_data *ret,
	      struct kg_err *err);
/* Says it, and gives the exit code: no data, else bad usage. */
int stat_fail(struct cli *cli, int rc, const struct kg_err *err);

#endif
