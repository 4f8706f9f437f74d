/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of the commands for jobs and machines, for the table in commands.c. */
#ifndef KG_CLI_COMMANDS_JOBS_H
#define KG_CLI_COMMANDS_JOBS_H

#include "cli/commands.h"

extern const struct cli_operand operand_job[], operand_job_required[], operand_file[],
	operand_priority[], operand_subject[], operand_cell[], operand_standing[];
extern const struct cli_operand operand_machine[], operand_machine_maybe[];
extern const struct cli_option options_csv[], options_submit[], options_job_show[],
	options_job_extend[], options_reproduce[], options_machines[], options_reserve[],
	options_why_said[];
extern const struct cli_example examples_submit[], examples_job_show[], examples_reprioritise[],
	examples_extend[], examples_machines[], examples_reserve[], examples_drain[],
	examples_why[], examples_reproduce[], examples_standing[];

#define SUBMIT_TEXT                                                                           \
	"Reads a job file and all that it includes, and has the coordinator plan it: cells, " \
	"boots, an estimate of the time, warnings, and what cannot run with the reason. "     \
	"kgrid-job(5) describes the file. Errors in it are printed as FILE:LINE:COLUMN: "     \
	"text. Files that standard input includes are looked for in the current folder.\n"    \
	"With --dry-run also: the axes and their values; how the cells come about (full "     \
	"product - excluded - duplicates - merged - left by pairwise = cells); the order of " \
	"the boots; the time on each machine and what that estimate rests on; the smallest "  \
	"change that the plan can detect, with 80 % power at alpha 0.01; the stop rule.\n"    \
	"A job with 'when:' is not run but kept: its number is that of 'kgrid standing'.\n"   \
	"A repeated send after a lost connection makes no second job."
#define JOB_SHOW_TEXT                                                                           \
	"Counts outcomes per machine, kernel, list and variant, and lists the slots that did "  \
	"not pass, with the reason and the attempt whose log tells more. The cell's number is " \
	"that of 'kgrid why JOB/CELL' and 'kgrid reproduce JOB/CELL'."
#define EXTEND_TEXT                                                                            \
	"Adds blocks to a job that runs or is over, in the order in which a longer job would " \
	"have had them. Results so far stay, and are compared together with the new ones."
#define MACHINES_TEXT                                                                           \
	"Each with its state, CPU, kernel, clock and what it is doing, or who holds it.\n"      \
	"A predicate is written as under 'machines:' of a job file: comparisons (== != < <= > " \
	">= in) of name, vendor, family, model, stepping, microarchitecture, cpus, sockets, "   \
	"numa, memory, microcode, clock and tags, joined by and, or, not and parentheses."
#define RESERVE_TEXT                                                                           \
	"Until the time is over or 'kgrid machine release' only its user's jobs start on it. " \
	"A boot that is under way is finished."
#define WHY_TEXT                                                                               \
	"One screen. Of a job or a cell that waits: what for (a predicate that no free "       \
	"machine meets, a reservation, the other machine of a pair, jobs of higher priority, " \
	"jobs that must be over first). Of a cell: why it was left out, cannot run or was "    \
	"tried again. Of a machine: what it does, and what it would do next."
#define REPRODUCE_TEXT                                                                         \
	"Prints the smallest job file that runs the cell again, and a shell recipe that does " \
	"the same by hand, without kgrid."

#endif
