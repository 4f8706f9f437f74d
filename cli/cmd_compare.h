/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_CLI_CMD_COMPARE_H
#define KG_CLI_CMD_COMPARE_H

#include "cli/cli.h"
#include "cli/compare_text.h"
#include "proto/codec.h"

/* Asks for the comparison of a job. NULL: it was said why. Owned, kg_msg_free. */
struct kg_msg *compare_ask(struct cli *cli, uint64_t job, int *ret_exit);
/* Prints it as tables; without anything to compare, says why on standard error. */
void compare_print(struct cli *cli, const Kgrid__V1__CompareReply *r, bool brief);
/* 0: no regression, 1: one was found, 5: nothing could be compared. */
int compare_exit(const Kgrid__V1__CompareReply *r);
/* Says why nothing could be compared, with the coordinator's notes when there is no table. */
void compare_say_nothing(struct cli *cli, const Kgrid__V1__CompareReply *r);

#endif
