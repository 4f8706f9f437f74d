/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_CLI_CMD_COMPARE_H
#define KG_CLI_CMD_COMPARE_H

#include "cli/cli.h"
#include "proto/codec.h"

/* Asks for a comparison; strings may be NULL. NULL: it was said why. Owned, kg_msg_free. */
struct kg_msg *compare_ask(struct cli *cli, uint64_t job, const char *baseline, const char *metric,
			   int *ret_exit);
/* Prints it as tables or CSV; the exit code. */
int compare_print(struct cli *cli, const Kgrid__V1__CompareReply *r);

#endif
