/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_CLI_CMD_WATCH_H
#define KG_CLI_CMD_WATCH_H

#include "cli/cli.h"

enum watch_form { WATCH_TEXT, WATCH_JSON_LINES, WATCH_SILENT };

/* Follows a job to its end and prints the accounting (not when silent): the exit code as
 * documented for 'kgrid watch'. A lost connection is tried again for a minute. */
int watch_job(struct cli *cli, uint64_t job, enum watch_form form);

#endif
