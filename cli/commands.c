/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/commands_stat.h"

const struct cli_option cli_global_options[] = {
	{"coordinator", 'c', CLI_TEXT, "ADDR", NULL,
	 "the coordinator: unix:PATH, a PATH with a slash, or HOST:PORT; else $KGRID_COORDINATOR, "
	 "else /run/kgrid/kgrid.sock"},
	{"json", 0, CLI_FLAG, NULL, NULL,
	 "print one JSON document, with stable keys, for programs"},
	{"no-color", 0, CLI_FLAG, NULL, NULL, "no colours on a terminal ($NO_COLOR does it too)"},
	{"width", 0, CLI_NUMBER, "COLUMNS", NULL,
	 "make tables this wide; else the terminal's width, else 100"},
	{"help", 'h', CLI_FLAG, NULL, NULL, "say how a command is used"},
	{"version", 'V', CLI_FLAG, NULL, NULL, "print the version"},
	{0},
};

const struct cli_exit_text cli_exits[] = {
	{CLI_EXIT_OK, "done, or yes"},
	{CLI_EXIT_NO, "no: a slot of the job did not pass"},
	{CLI_EXIT_USAGE, "the command line, a job file or a package is wrong"},
	{CLI_EXIT_UNREACHABLE, "the coordinator cannot be reached, or went away"},
	{CLI_EXIT_REFUSED, "the coordinator refused, or knows no such thing"},
	{CLI_EXIT_NODATA, "there is nothing to show; the text says why"},
	{CLI_EXIT_LOCAL, "something failed on this side, such as writing standard output"},
	{CLI_EXIT_INTERRUPTED, "interrupted; a job that runs goes on"},
	{0, NULL},
};

const struct cli_variable cli_variables[] = {
	{"KGRID_COORDINATOR", "address of the coordinator, as for --coordinator"},
	{"KGRID_LAB_SCRIPT", "the program that 'kgrid lab' starts, in place of the installed one"},
	{"NO_COLOR", "when set and not empty: no colours"},
	{NULL, NULL},
};

#define OPTION_CSV                                                                          \
	{                                                                                   \
		"csv", 0, CLI_FLAG, NULL, NULL, "print CSV with a line of names (RFC 4180)" \
	}

static const struct cli_operand operand_job[] = {
	{"JOB", CLI_JOB, false, false, "number of the job; the newest when left out"}, {0}};
static const struct cli_operand operand_job_required[] = {
	{"JOB", CLI_JOB, true, false, "number of the job"}, {0}};
static const struct cli_operand operand_machine[] = {
	{"NAME", CLI_MACHINE, true, false, "name of the machine"}, {0}};
static const struct cli_operand operand_selector[] = {
	{"SELECTOR", CLI_KERNEL, true, false, "label, release, or the beginning of the digest"},
	{0}};
static const struct cli_operand operand_file[] = {
	{"FILE", CLI_FILE, true, false, "job file (YAML); - is standard input"}, {0}};
static const struct cli_operand operand_source[] = {
	{"SOURCE", CLI_PATH, false, true,
	 "a linux-image .deb, or a folder with vmlinuz, config and modules; several where a "
	 "distribution splits a kernel into packages"},
	{0}};
static const struct cli_operand operand_verb[] = {
	{"COMMAND", CLI_VERB, false, true, "the command to explain"}, {0}};
static const struct cli_operand operand_vectors[] = {
	{"FILE", CLI_FILE, true, false, "file of test vectors (JSON)"}, {0}};
static const struct cli_operand operand_lab[] = {
	{"ARGUMENT", CLI_TEXT, false, true,
	 "up, down, status, console NAME, power NAME ACTION, kernels"},
	{0}};

static const struct cli_option options_submit[] = {
	{"dry-run", 'n', CLI_FLAG, NULL, NULL, "show the plan and the boot order, run nothing"},
	{"wait", 'w', CLI_FLAG, NULL, NULL, "watch the job to its end, then compare"},
	{"boots", 'b', CLI_NUMBER, "N", NULL,
	 "boots of each kernel and list, in place of the file's"},
	{0},
};
static const struct cli_option options_csv[] = {OPTION_CSV, {0}};
static const struct cli_option options_job_show[] = {
	{"slots", 0, CLI_FLAG, NULL, NULL, "list every slot, not only those that did not pass"},
	{"file", 0, CLI_FLAG, NULL, NULL, "print the job file as it was submitted, nothing else"},
	{0},
};
static const struct cli_option options_kernel_add[] = {
	{"label", 'l', CLI_TEXT, "LABEL", NULL, "short name for job files and tables"},
	{"image", 0, CLI_FILE, "FILE", NULL, "the kernel image, with --modules and --config"},
	{"modules", 0, CLI_FOLDER, "DIR", NULL, "its modules, as in /lib/modules/RELEASE"},
	{"config", 0, CLI_FILE, "FILE", NULL, "its configuration"},
	{"system-map", 0, CLI_FILE, "FILE", NULL, "its System.map, if there is one"},
	{"release", 0, CLI_TEXT, "RELEASE", NULL, "take this one where a folder has several"},
	{0},
};
static const struct cli_option options_compare[] = {
	{"baseline", 'B', CLI_TEXT, "KERNEL/LSM", NULL,
	 "what to compare with, or an unambiguous part of it; else the job's first; */LSM compares "
	 "within each kernel, KERNEL/* within each list"},
	{"metric", 'm', CLI_TEXT, "NAME", NULL, "only this metric"},
	OPTION_CSV,
	{0},
};
static const char *const formats[] = {"csv", "json", NULL};
static const struct cli_option options_samples[] = {
	{"format", 'f', CLI_CHOICE, "FORMAT", formats, "csv (default) or json"},
	{"all", 'a', CLI_FLAG, NULL, NULL,
	 "also evidence: warm-up, and samples of attempts that did not pass"},
	{0},
};
static const struct cli_option options_logs[] = {
	{"attempt", 'a', CLI_NUMBER, "N", NULL, "logs of this attempt"},
	{"boot", 'b', CLI_NUMBER, "N", NULL, "logs of this boot and of all attempts in it"},
	{0},
};

static const struct cli_example examples_submit[] = {
	{"kgrid submit --dry-run lsm-cost.yaml", "what would run, what cannot, how long it takes"},
	{"kgrid submit --wait lsm-cost.yaml", "run it, watch it, read the comparison"},
	{NULL, NULL}};
static const struct cli_example examples_kernel_add[] = {
	{"kgrid kernel add linux-image-6.12.57+deb13-cloud-amd64_6.12.57-1_amd64.deb --label 6.12",
	 "a distribution's package"},
	{"kgrid kernel add --image bzImage --modules mods/lib/modules/6.18.0 --config .config",
	 "one that you built"},
	{NULL, NULL}};
static const struct cli_example examples_compare[] = {
	{"kgrid compare", "the newest job"},
	{"kgrid compare 7 --baseline 6.12/prev --metric throughput", "another baseline"},
	{"kgrid compare --baseline '*/prev'", "what the lists cost on each kernel"},
	{NULL, NULL}};
static const struct cli_example examples_samples[] = {
	{"kgrid samples 7 >samples.csv", "for a spreadsheet or R"}, {NULL, NULL}};
static const struct cli_example examples_logs[] = {
	{"kgrid logs --boot 12", "why a boot went wrong"}, {NULL, NULL}};
static const struct cli_example examples_lab[] = {{"kgrid lab up --machines intel,amd",
						   "two machines that join this coordinator"},
						  {"kgrid lab down", "leaves nothing behind"},
						  {NULL, NULL}};

static const char exits_wait[] = "0: every slot that could run passed. 1: some did not, or the job "
				 "was cancelled. 5: nothing "
				 "could run. 130: interrupted (the job goes on).";

const struct cli_command cli_commands[] = {
	{
		.path = "submit",
		.summary = "give a job to the grid",
		.description =
			"Reads a job file and has the coordinator plan it: cells, boots, an "
			"estimate of the time, warnings, and what cannot run with the reason. "
			"Errors in the file are printed as FILE:LINE:COLUMN: text.\n"
			"A repeated send after a lost connection makes no second job.",
		.operands = operand_file,
		.options = options_submit,
		.examples = examples_submit,
		.exits = "With --wait as for 'kgrid watch'.",
		.json = &kgrid__v1__submit_reply__descriptor,
		.json_text =
			"With --wait: an object with 'submit' (this), 'job' (a JobSummary) and "
			"'compare' (as 'kgrid compare' prints it).",
		.run = cmd_submit,
	},
	{
		.path = "jobs",
		.summary = "list jobs, newest last",
		.description = "Each with its accounting, and why it waits when it does.",
		.options = options_csv,
		.json = &kgrid__v1__jobs_reply__descriptor,
		.run = cmd_jobs,
	},
	{
		.path = "job show",
		.summary = "one job: its slots and what became of them",
		.description = "Counts outcomes per machine, kernel and list, and lists the slots "
			       "that did not pass, with the reason and the attempt whose log tells "
			       "more.",
		.operands = operand_job,
		.options = options_job_show,
		.json = &kgrid__v1__job_reply__descriptor,
		.run = cmd_job_show,
	},
	{
		.path = "job cancel",
		.summary = "end a job; results so far are kept",
		.description = "Slots that are still pending become 'cancelled'.",
		.operands = operand_job_required,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_job_cancel,
	},
	{
		.path = "job retry",
		.summary = "try again what gave no valid result",
		.description = "Puts the slots that ended without a valid result back to pending. "
			       "Earlier attempts are kept.",
		.operands = operand_job_required,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_job_retry,
	},
	{
		.path = "watch",
		.summary = "follow a job to its end",
		.description = "On a terminal: a line per machine with stage, kernel and list, "
			       "cell, boots "
			       "and time left, and new samples above them. Else: plain lines, one "
			       "per event "
			       "or sample. Ctrl-C ends the watching, not the job.",
		.operands = operand_job,
		.exits = exits_wait,
		.json = &kgrid__v1__watch_update__descriptor,
		.json_text = "One document a line, one line per update.",
		.run = cmd_watch,
	},
	{
		.path = "machines",
		.summary = "list machines",
		.description = "Each with its state, CPU, kernel, clock and what it is doing.",
		.options = options_csv,
		.json = &kgrid__v1__machines_reply__descriptor,
		.run = cmd_machines,
	},
	{
		.path = "machine show",
		.summary = "one machine: facts, workloads, events",
		.description = "What could change a result on it, which workloads it has or why "
			       "not, and what happened lately.",
		.operands = operand_machine,
		.json = &kgrid__v1__machine_reply__descriptor,
		.run = cmd_machine_show,
	},
	{
		.path = "kernels",
		.summary = "list stored kernels",
		.description =
			"Each with label, release, digest, build id, configuration digest and "
			"CONFIG_LSM.",
		.options = options_csv,
		.json = &kgrid__v1__kernels_reply__descriptor,
		.run = cmd_kernels,
	},
	{
		.path = "kernel add",
		.summary = "store a kernel",
		.description =
			"Packs an image, its modules and its configuration, sends what the "
			"coordinator does not have yet, and prints what it found in them. The same "
			"kernel twice is stored once. An upload that broke off goes on where it "
			"was.",
		.operands = operand_source,
		.options = options_kernel_add,
		.examples = examples_kernel_add,
		.json = &kgrid__v1__kernel_reply__descriptor,
		.run = cmd_kernel_add,
	},
	{
		.path = "kernel show",
		.summary = "one kernel: what is known of it, and who uses it",
		.description = "A selector that fits several kernels is refused, naming them.",
		.operands = operand_selector,
		.json = &kgrid__v1__kernel_reply__descriptor,
		.run = cmd_kernel_show,
	},
	{
		.path = "kernel rm",
		.summary = "remove a stored kernel",
		.description = "Refused while a job needs it.",
		.operands = operand_selector,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_kernel_rm,
	},
	{
		.path = "compare",
		.summary = "compare kernels and lists of a job",
		.description =
			"One table per machine, workload and metric: rows are parameters, columns "
			"are kernel and list, the baseline first. A cell is the mean over boots "
			"and the change against the baseline in percent with its 95 % interval. "
			"Positive is better, whatever the metric's direction. A star marks a "
			"change of at least 1 % whose interval excludes 0.",
		.operands = operand_job,
		.options = options_compare,
		.examples = examples_compare,
		.json = &kgrid__v1__compare_reply__descriptor,
		.run = cmd_compare,
	},
	{
		.path = "samples",
		.summary = "the numbers themselves",
		.description = "One line per sample. The accounting line goes to standard error.",
		.operands = operand_job,
		.options = options_samples,
		.examples = examples_samples,
		.json = &kgrid__v1__samples_reply__descriptor,
		.run = cmd_samples,
	},
	{
		.path = "logs",
		.summary = "what a boot or an attempt wrote",
		.description = "One of --attempt and --boot must be given; 'kgrid job show' and "
			       "'kgrid samples' name them.",
		.options = options_logs,
		.examples = examples_logs,
		.json = &kgrid__v1__logs_reply__descriptor,
		.json_text = "An object with 'logs', an array of these.",
		.run = cmd_logs,
	},
	{
		.path = "stat compare",
		.summary = "compare your own files",
		.description = STAT_COMPARE_TEXT,
		.operands = operand_stat_files,
		.options = options_stat_compare,
		.examples = examples_stat_compare,
		.exits = STAT_COMPARE_EXITS,
		.json_text = STAT_COMPARE_JSON,
		.run = cmd_stat_compare,
	},
	{
		.path = "stat power",
		.summary = "how many boots find an effect",
		.description = STAT_POWER_TEXT,
		.options = options_stat_power,
		.examples = examples_stat_power,
		.json_text = STAT_POWER_JSON,
		.run = cmd_stat_power,
	},
	{
		.path = "stat table",
		.summary = "show a published summary in its own form",
		.description = "Needs no coordinator. " SUMMARY_TEXT,
		.operands = operand_summary,
		.options = options_stat_table,
		.examples = examples_stat_table,
		.run = cmd_stat_table,
	},
	{
		.path = "import summary",
		.summary = "keep a published summary with the grid's results",
		.description = "The file is checked here first. " SUMMARY_TEXT,
		.operands = operand_summary,
		.options = options_import,
		.examples = examples_import,
		.json_text = "An object with id, name, existed (it was there), style, tables, cells.",
		.run = cmd_import_summary,
	},
	{
		.path = "imports",
		.summary = "list summaries that were imported",
		.description = "'kgrid compare --import NAME' shows one.",
		.options = options_csv,
		.json = &kgrid__v1__imports_reply__descriptor,
		.run = cmd_imports,
	},
	{
		.path = "stat vectors",
		.summary = "check the statistics against known numbers",
		.description =
			"Runs every case of a file of test vectors (JSON: cases with id, op, input, "
			"expect and rtol) and prints pass, fail or unknown (no such op) for each, "
			"with what differs. Needs no coordinator.",
		.operands = operand_vectors,
		.exits = "0: all cases pass. 1: some fail or have an unknown op. 2: the file "
			 "cannot be read or is malformed. 5: there is no case in it.",
		.json_text = "An object with total, pass, fail, unknown, and cases, an array of "
			     "objects with id, op, result and text.",
		.run = cmd_stat_vectors,
	},
	{
		.path = "lab",
		.summary = "virtual machines that really kexec",
		.description =
			"Starts the lab's own program with the words that follow; 'kgrid lab up "
			"--help' shows what it takes. For 'up' the coordinator is asked for its "
			"port on the loopback interface, and the agent and the workloads that "
			"belong to this kgrid are named.",
		.operands = operand_lab,
		.examples = examples_lab,
		.pass_through = true,
		.exits = "Those of the lab's program.",
		.json_text = "Printed by the lab's program: 'kgrid lab status --json'.",
		.run = cmd_lab,
	},
	{
		.path = "info",
		.summary = "the coordinator: version, addresses, load",
		.description = "Also a way to see whether it answers.",
		.json = &kgrid__v1__info_reply__descriptor,
		.run = cmd_info,
	},
	{
		.path = "help",
		.summary = "explain a command",
		.description = "The same as COMMAND --help; without a command, the list of all.",
		.operands = operand_verb,
		.run = cmd_help,
	},
	{0},
};
