/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of the commands that work on people's own files, for the table in commands.c. */
#ifndef KG_CLI_COMMANDS_STAT_H
#define KG_CLI_COMMANDS_STAT_H

#include "cli/commands.h"

extern const struct cli_operand operand_stat_files[], operand_summary[];
extern const struct cli_option options_stat_compare[], options_stat_power[], options_stat_table[],
	options_import[];
extern const struct cli_example examples_stat_compare[], examples_stat_power[],
	examples_stat_table[], examples_import[];

#define STAT_COMPARE_TEXT                                                                          \
	"Needs no coordinator. Either plain numbers, one a line, one file a side; the label is "   \
	"the "                                                                                     \
	"file's name without folder and ending, or LABEL=FILE. Or CSV (RFC 4180) with a header "   \
	"of "                                                                                      \
	"any of machine, vendor, kernel, lsm, workload, params, metric, boot, iteration, value, "  \
	"also unit, direction (higher, lower), job, attempt, outcome, warmup, as 'kgrid samples' " \
	"prints them: only rows of outcome pass and warmup 0 are read. Other columns are left "    \
	"out, "                                                                                    \
	"with a word on standard error.\n"                                                         \
	"Sides are KERNEL/LSM, or the one that is there, or the files. What else is there "        \
	"(machine, "                                                                               \
	"vendor, workload, params, metric) makes the groups; values of different groups are "      \
	"never "                                                                                   \
	"mixed. The boot is the unit: rows with the same boot are its iterations. Without a "      \
	"column "                                                                                  \
	"'boot' every value is taken for a boot of its own.\n"                                     \
	"Words: regression, improvement (different without a declared direction), same (the "      \
	"whole "                                                                                   \
	"interval lies within the smallest effect that matters), unknown (with how many more "     \
	"boots "                                                                                   \
	"would decide), unstable, incomparable."
#define STAT_COMPARE_JSON                                                                     \
	"An object with 'comparisons', an array of objects with group, baseline, candidate, " \
	"verdict, effect_pct (positive is better), ci95_pct [lo, hi], p, q, n [boots of the " \
	"baseline, of the candidate], and more; numbers that do not exist are null. And 'notes'."
#define STAT_COMPARE_EXITS                                                                         \
	"0: nothing is worse. 1: a regression was found. 2: the command line or a file is wrong. " \
	"5: nothing to compare; with --gate also: no comparison has the boots to decide."
#define STAT_POWER_TEXT                                                                            \
	"Needs no coordinator. Takes the deviation between boots from a file, read as 'kgrid "     \
	"stat "                                                                                    \
	"compare' does, per group, with its interval; or as given with --cov; else shows some "    \
	"usual ones. Prints the boots a "                                                          \
	"side that find the effect with Mann-Whitney's test, and the smallest effects that 5, 8, " \
	"12 and 20 boots find."
#define STAT_POWER_JSON                                                                          \
	"An object with effect_pct, power, alpha, least_boots_a_side and 'groups', an array of " \
	"objects with group, boots, cov_pct, cov_ci95_pct, boots_a_side, boots_a_side_ci95, "    \
	"smallest_effects."
#define STAT_TABLE_EXITS \
	"0: shown. 2: the command line or the file is wrong. 5: there is no value in it."
#define STAT_TABLE_JSON                                                                         \
	"An object with 'tables', an array of objects with title, benchmark and 'rows', these " \
	"with key, stat and 'cells': kernel, variant, value, diff_pct (as MMTests has it: "     \
	"positive is better), change_pct (as LKP; 'change' where it is a difference)."
#define SUMMARY_TEXT                                                                              \
	"The header tells the form. MMTests: table, machine, cpu, benchmark, kernel, suffix, "    \
	"key, "                                                                                   \
	"stat (hmean for rates, amean for times), value, delta_pct, significant (1: marked); of " \
	"these kernel, key and value must be there, and the first kernel and suffix of a table "  \
	"is "                                                                                     \
	"its baseline. LKP: metric, base, base_stddev_pct, change, change_is_pct (0: a "          \
	"difference), "                                                                           \
	"new, new_stddev_pct; of these metric, base and new must be there. Differences are "      \
	"computed "                                                                               \
	"from the values; how many agree with the published ones is said on standard error."

#endif
