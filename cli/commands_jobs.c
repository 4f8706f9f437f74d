/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/commands_jobs.h"

const struct cli_operand operand_job[] = {
	{"JOB", CLI_JOB, false, false, "number of the job; the newest when left out"}, {0}};
const struct cli_operand operand_job_required[] = {
	{"JOB", CLI_JOB, true, false, "number of the job"}, {0}};
const struct cli_operand operand_file[] = {
	{"FILE", CLI_FILE, true, false, "job file (YAML); - is standard input"}, {0}};
const struct cli_operand operand_priority[] = {{"JOB", CLI_JOB, true, false, "number of the job"},
					       {"PRIORITY", CLI_TEXT, true, false,
						"from 0 to 100; more goes first"},
					       {0}};
const struct cli_operand operand_subject[] = {
	{"SUBJECT", CLI_SUBJECT, true, false,
	 "JOB, JOB/CELL (numbers, as in 'kgrid job show --cells'), or the name of a machine"},
	{0}};
const struct cli_operand operand_cell[] = {
	{"JOB/CELL", CLI_CELL, true, false,
	 "numbers of the job and of the cell in it, as in 'kgrid job show --cells'"},
	{0}};
const struct cli_operand operand_standing[] = {
	{"N", CLI_STANDING, true, false, "number of the standing job"}, {0}};
const struct cli_operand operand_machine[] = {
	{"NAME", CLI_MACHINE, true, false, "name of the machine"}, {0}};
const struct cli_operand operand_machine_maybe[] = {
	{"MACHINE", CLI_MACHINE, false, false, "name of the machine; all when left out"}, {0}};

const struct cli_option options_csv[] = {OPTION_CSV, {0}};
const struct cli_option options_submit[] = {
	{"dry-run", 'n', CLI_FLAG, NULL, NULL, "show the plan and the boot order, run nothing"},
	{"wait", 'w', CLI_FLAG, NULL, NULL, "watch the job to its end, then compare"},
	{"boots", 'b', CLI_NUMBER, "N", NULL,
	 "boots of each kernel and list, in place of the file's"},
	{"cells", 0, CLI_FLAG, NULL, NULL,
	 "of a dry run: list the cells with their numbers and identities"},
	{"all-boots", 0, CLI_FLAG, NULL, NULL, "of a dry run: every boot, not only the first 400"},
	{"explain-cell", 'x', CLI_NUMBER, "K", NULL,
	 "show where cell K of the plan comes from, run nothing"},
	{"csv", 0, CLI_FLAG, NULL, NULL,
	 "of a dry run: print the boots, or with --cells the cells, as CSV (RFC 4180)"},
	{0},
};
const struct cli_option options_job_show[] = {
	{"slots", 0, CLI_FLAG, NULL, NULL, "list every slot, not only those that did not pass"},
	{"cells", 0, CLI_FLAG, NULL, NULL, "list the cells with their numbers and outcomes"},
	{"file", 0, CLI_FLAG, NULL, NULL, "print the job file as it was submitted, nothing else"},
	{"csv", 0, CLI_FLAG, NULL, NULL, "print all slots as CSV with a line of names (RFC 4180)"},
	{0},
};
const struct cli_option options_job_extend[] = {
	{"blocks", 'n', CLI_NUMBER, "N", NULL, "so many more visits of every kernel and list"},
	{0},
};
const struct cli_option options_reproduce[] = {
	{"job-file", 0, CLI_FLAG, NULL, NULL, "the job file alone, for 'kgrid submit -'"},
	{"recipe", 0, CLI_FLAG, NULL, NULL, "the shell recipe alone"},
	{0},
};
const struct cli_option options_machines[] = {
	{"where", 'w', CLI_TEXT, "PREDICATE", NULL, "only machines that it is true for"},
	OPTION_CSV,
	{0},
};
const struct cli_option options_reserve[] = {
	{"for", 'f', CLI_TEXT, "TIME", NULL, "how long: 30m, 2h, 3d"},
	{"why", 'y', CLI_TEXT, "TEXT", NULL, "what for; others see it"},
	{0},
};
const struct cli_option options_why_said[] = {
	{"why", 'y', CLI_TEXT, "TEXT", NULL, "what for; others see it"},
	{0},
};

const struct cli_example examples_submit[] = {
	{"kgrid submit --dry-run lsm-cost.yaml", "what would run, what cannot, how long it takes"},
	{"kgrid submit --dry-run --cells --csv lsm-cost.yaml", "its cells, for a program"},
	{"kgrid submit --explain-cell 7 lsm-cost.yaml", "where the seventh cell comes from"},
	{"kgrid submit --wait lsm-cost.yaml", "run it, watch it, read the comparison"},
	{NULL, NULL}};
const struct cli_example examples_job_show[] = {
	{"kgrid job show 7 --cells", "its cells and their numbers"},
	{"kgrid job show 7 --file >again.yaml", "the job file"},
	{NULL, NULL}};
const struct cli_example examples_reprioritise[] = {
	{"kgrid job reprioritise 7 80", "before the others"}, {NULL, NULL}};
const struct cli_example examples_extend[] = {
	{"kgrid job extend 7 --blocks 3", "three more boots a side"}, {NULL, NULL}};
const struct cli_example examples_machines[] = {
	{"kgrid machines --where 'vendor == amd and cpus >= 16'", "some of them"},
	{"kgrid machines --where 'not (nvme in tags)' --csv", "for a spreadsheet"},
	{NULL, NULL}};
const struct cli_example examples_reserve[] = {
	{"kgrid machine reserve lab-amd --for 2h --why 'bisecting by hand'", "for yourself"},
	{"kgrid machine release lab-amd", "done before the time is over"},
	{NULL, NULL}};
const struct cli_example examples_drain[] = {
	{"kgrid machine drain lab-amd --why 'new DIMMs tomorrow'", "no new boots"},
	{"kgrid machine resume lab-amd", "it may work again"},
	{NULL, NULL}};
const struct cli_example examples_why[] = {{"kgrid why 7", "why a job waits"},
					   {"kgrid why 7/12", "what became of a cell"},
					   {"kgrid why lab-amd", "why a machine is idle"},
					   {NULL, NULL}};
const struct cli_example examples_reproduce[] = {
	{"kgrid reproduce 7/12 --job-file | kgrid submit -", "the same once more"},
	{"kgrid reproduce 7/12 --recipe", "for somebody without a grid"},
	{NULL, NULL}};
const struct cli_example examples_standing[] = {{"kgrid standing",
						 "what waits for kernels and nights"},
						{"kgrid standing run 2", "now, and as usual later"},
						{NULL, NULL}};
