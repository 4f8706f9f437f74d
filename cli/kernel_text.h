/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_CLI_KERNEL_TEXT_H
#define KG_CLI_KERNEL_TEXT_H

#include "cli/cli.h"

/* Prints what is known of a kernel, for people. */
void kernel_print(struct cli *cli, const Kgrid__V1__KernelInfo *k);

#endif
