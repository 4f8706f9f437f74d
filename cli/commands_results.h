/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of the commands that show results, for the table in commands.c. */
#ifndef KG_CLI_COMMANDS_RESULTS_H
#define KG_CLI_COMMANDS_RESULTS_H

#include "cli/commands.h"

extern const struct cli_option options_compare[], options_regressions[], options_changepoints[],
	options_history[], options_calibrate[], options_gate[], options_diff[], options_epochs[],
	options_provenance[], options_samples[], options_logs[];
extern const struct cli_example examples_compare[], examples_regressions[], examples_history[],
	examples_calibrate[], examples_gate[], examples_diff[], examples_samples[], examples_logs[];

#endif
