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
	{CLI_EXIT_NO, "no: a regression was found, a slot did not pass, two things differ"},
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
static const struct cli_operand operand_series[] = {
	{"FILE", CLI_FILE, true, false,
	 "CSV with the columns series and value, or one column of numbers; - is standard input"},
	{0}};
static const struct cli_operand operand_machine_maybe[] = {
	{"MACHINE", CLI_MACHINE, false, false, "name of the machine; all when left out"}, {0}};
static const struct cli_operand operand_calibrate[] = {
	{"MACHINE", CLI_MACHINE, true, false, "name of the machine"}, {0}};
static const struct cli_operand operand_metric[] = {
	{"METRIC", CLI_TEXT, false, false, "name of the metric; all when left out"}, {0}};
static const struct cli_operand operand_regression_maybe[] = {
	{"ID", CLI_TEXT, false, false, "number of one: its members and what happened to it"}, {0}};
static const struct cli_operand operand_regression[] = {
	{"ID", CLI_TEXT, true, false, "number of the regression"},
	{"TEXT", CLI_TEXT, false, true, "why, for those who read it later"},
	{0}};
static const struct cli_operand operand_regression_text[] = {
	{"ID", CLI_TEXT, true, false, "number of the regression"},
	{"TEXT", CLI_TEXT, true, true, "what to say of it"},
	{0}};
static const struct cli_operand operand_diff[] = {
	{"A", CLI_TEXT, true, false,
	 "boot:N, kernel:SELECTOR, machine:NAME or epoch:MACHINE/N; the word in front may be left "
	 "out where only one can be meant"},
	{"B", CLI_TEXT, true, false, "what to compare it with, in the same form"},
	{0}};
static const struct cli_operand operand_boot[] = {
	{"BOOT", CLI_TEXT, true, false, "number of the boot"}, {0}};
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
/* What of the results: cli/select.h reads these. */
#define OPTIONS_SELECT                                                                            \
	{"machine", 'M', CLI_MACHINE, "NAME", NULL, "only results of this machine"},              \
		{"kernel",   'k',                                                                 \
		 CLI_KERNEL, "KERNEL",                                                            \
		 NULL,	     "only this kernel: label, release, or the beginning of the digest"}, \
		{"lsm", 'l', CLI_TEXT, "LIST", NULL, "only this list, by its label"},             \
		{"workload", 'W', CLI_TEXT, "NAME", NULL, "only this workload"},                  \
		{"param",  'p',                                                                   \
		 CLI_TEXT, "NAME=VALUE",                                                          \
		 NULL,	   "only rows with this parameter; several: rows that have them all"},    \
		{"metric", 'm', CLI_TEXT, "NAME", NULL, "only this metric"},                      \
	{                                                                                         \
		"since", 's', CLI_TEXT, "TIME", NULL,                                             \
			"only boots from then on: 2026-11-30, 2026-11-30T12:00, or 2d, 12h for "  \
			"how long "                                                               \
			"ago"                                                                     \
	}
#define OPTION_ACROSS                                                  \
	{                                                              \
		"across-epochs", 0, CLI_FLAG, NULL, NULL,              \
			"also where the machine is not the one it was" \
	}
/* When a change is called one. */
#define OPTIONS_POLICY                                                                       \
	{"alpha", 0, CLI_TEXT, "P", NULL, "probability of a false alarm, in place of 0.01"}, \
	{                                                                                    \
		"min-effect", 0, CLI_TEXT, "PERCENT", NULL,                                  \
			"smallest change that matters, in place of the machine's own (1 % "  \
			"without "                                                           \
			"A/A runs)"                                                          \
	}

static const char *const styles[] = {"kgrid",	 "mmtests", "lkp",  "benchstat",
				     "ministat", "csv",	    "json", NULL};
static const char *const corrections[] = {"bh", "holm", "none", NULL};
static const struct cli_option options_compare[] = {
	{"job", 'j', CLI_JOB, "JOB", NULL, "also this job; several may be given"},
	{"all-jobs", 'a', CLI_FLAG, NULL, NULL, "results of all jobs"},
	OPTIONS_SELECT,
	{"baseline", 'B', CLI_TEXT, "KERNEL/LSM", NULL,
	 "what to compare with, or an unambiguous part of it; else the job's first; */LSM compares "
	 "within each kernel, KERNEL/* within each list"},
	OPTION_ACROSS,
	OPTIONS_POLICY,
	{"correction", 0, CLI_CHOICE, "NAME", corrections,
	 "for many comparisons: bh (default), holm or none"},
	{"style", 'S', CLI_CHOICE, "STYLE", styles,
	 "kgrid (default), csv, json, or as mmtests, lkp, benchstat or ministat print it"},
	{"brief", 'b', CLI_FLAG, NULL, NULL,
	 "one line per row: without p, q and intervals of values"},
	OPTION_CSV,
	{"import", 0, CLI_TEXT, "ID", NULL,
	 "show a stored summary of another grid instead (kgrid import)"},
	{"table", 0, CLI_NUMBER, "N", NULL, "only the Nth table of it"},
	{0},
};
static const char *const regression_states[] = {"open", "acknowledged", "fixed", NULL};
static const struct cli_option options_regressions[] = {
	{"since", 's', CLI_TEXT, "TIME", NULL,
	 "seen from then on: 2026-11-30, 2026-11-30T12:00, or 2d, 12h for how long ago"},
	{"machine", 'M', CLI_MACHINE, "NAME", NULL, "only those that this machine shows"},
	{"state", 0, CLI_CHOICE, "STATE", regression_states,
	 "only open, acknowledged or fixed ones; else all but the fixed"},
	{"all", 'a', CLI_FLAG, NULL, NULL, "whatever their state"},
	OPTION_CSV,
	{0},
};
static const char *const orders[] = {"version", "date", NULL};
static const char *const methods[] = {"pelt", "edivisive", NULL};
static const struct cli_option options_changepoints[] = {
	{"method", 0, CLI_CHOICE, "METHOD", methods,
	 "pelt (default), or edivisive as Apache Otava runs it"},
	{"trend", 0, CLI_FLAG, NULL, NULL,
	 "the series has trends or seasons: find where these change"},
	{"min-effect", 0, CLI_TEXT, "PCT", NULL,
	 "smallest change that counts, per cent (default 1; edivisive 0)"},
	{"max-p", 0, CLI_TEXT, "P", NULL, "largest p of a change (default 0.001)"},
	{"window", 0, CLI_TEXT, "POINTS", NULL, "window of edivisive (default 50)"},
	{"hampel", 0, CLI_FLAG, NULL, NULL, "put single spikes on the median around them first"},
	{0},
};
static const struct cli_option options_history[] = {
	{"job", 'j', CLI_JOB, "JOB", NULL, "only results of this job; several may be given"},
	OPTIONS_SELECT,
	{"order", 'o', CLI_CHOICE, "ORDER", orders,
	 "points by version of the kernel (default) or by date"},
	{"method", 0, CLI_CHOICE, "METHOD", methods,
	 "how changes are found: pelt (default), edivisive"},
	OPTION_ACROSS,
	{"points", 0, CLI_FLAG, NULL, NULL, "list every point, not only the newest 40 of a series"},
	OPTION_CSV,
	{0},
};
static const struct cli_option options_calibrate[] = {
	{"kernel", 'k', CLI_KERNEL, "KERNEL", NULL, "boot this one; else the newest added"},
	{"lsm", 'l', CLI_TEXT, "LIST", NULL, "with this list; else the kernel's own"},
	{"workload", 'W', CLI_TEXT, "YAML", NULL,
	 "run this, as in a job file: 'netperf: {test: UDP_RR}'; several may be given; else all "
	 "that the machine has"},
	{"boots", 'b', CLI_NUMBER, "N", NULL, "boots, in place of 12"},
	{"every", 'e', CLI_TEXT, "TIME", NULL, "again and again: 7d, 12h"},
	{"stop", 0, CLI_FLAG, NULL, NULL, "no more of those that repeat"},
	{"dry-run", 'n', CLI_FLAG, NULL, NULL, "show the plan, run nothing"},
	{"wait", 'w', CLI_FLAG, NULL, NULL, "watch the job to its end"},
	{0},
};
static const struct cli_option options_gate[] = {
	{"against", 'B', CLI_TEXT, "KERNEL/LSM", NULL,
	 "what to compare with: a column of the job; */LSM within each kernel, KERNEL/* within "
	 "each "
	 "list"},
	{"metric", 'm', CLI_TEXT, "NAME", NULL, "only this metric"},
	OPTIONS_POLICY,
	{"junit", 'J', CLI_FILE, "FILE", NULL, "write JUnit XML there; - is standard output"},
	{"all", 'a', CLI_FLAG, NULL, NULL, "list also what passed"},
	{"wait", 'w', CLI_FLAG, NULL, NULL, "wait for the job's end first"},
	{0},
};
static const struct cli_option options_diff[] = {
	{"all", 'a', CLI_FLAG, NULL, NULL, "long lists whole, not their first 20"},
	OPTION_CSV,
	{0},
};
static const struct cli_option options_epochs[] = {
	{"all", 'a', CLI_FLAG, NULL, NULL, "long lists whole, not their first 20"},
	{0},
};
static const struct cli_option options_provenance[] = {
	{"document", 'd', CLI_TEXT, "NAME", NULL,
	 "print this text instead: config, sysctl, modules, packages, kallsyms"},
	{"all", 'a', CLI_FLAG, NULL, NULL, "of every moment all facts, not only what changed"},
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
	{"kgrid compare --all-jobs --machine lab-amd --param size=64 --since 7d",
	 "a week of one machine"},
	{NULL, NULL}};
static const struct cli_example examples_regressions[] = {
	{"kgrid regressions --state open --since 7d", "what is new this week"},
	{"kgrid regressions 3", "one, with all that shows it"},
	{"kgrid regression ack 3 known, fixed by the next version", "it is known"},
	{NULL, NULL}};
static const struct cli_example examples_history[] = {
	{"kgrid history throughput --machine lab-amd --param size=64", "one series over kernels"},
	{NULL, NULL}};
static const struct cli_example examples_calibrate[] = {
	{"kgrid calibrate lab-amd --workload 'netperf: {test: UDP_RR}' --every 7d",
	 "every week, one workload"},
	{"kgrid noise lab-amd", "what they said"},
	{NULL, NULL}};
static const struct cli_example examples_gate[] = {
	{"kgrid gate --against '*/prev' 7 --junit kgrid.xml", "for a CI, after 'kgrid submit'"},
	{NULL, NULL}};
static const struct cli_example examples_diff[] = {
	{"kgrid diff boot:12 boot:31", "two boots"},
	{"kgrid diff kernel:6.1 kernel:6.12", "two kernels' configurations"},
	{"kgrid diff epoch:lab-amd/1 epoch:lab-amd/2", "what changed a machine"},
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

static const struct cli_example examples_changepoints[] = {
	{"kgrid stat changepoints history.csv", "a line for each series, its changes below it"},
	{"kgrid stat changepoints --method edivisive --json - < numbers.txt",
	 "one column of numbers, for a program"},
	{0},
};
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
		.description =
			"What could change a result on it, its epoch, which workloads it has "
			"or why not, and what happened lately.",
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
		.summary = "compare kernels and lists of jobs",
		.description =
			"One table per machine, workload and metric: rows are parameters, columns "
			"are kernel and list, the baseline first. A cell is the median over boots, "
			"the change against the baseline in percent with its 95 % interval over "
			"boots, the verdict, and p and q. Positive is better, whatever the "
			"metric's "
			"direction. Then a table per vendor and microarchitecture, which takes "
			"machines as a random sample, and how effects differ between them.\n"
			"Verdicts: regression, improvement (different, for a metric without a "
			"direction), same, unknown, unstable, incomparable; the last three say why "
			"below the table.\n"
			"Without a job, --job and --all-jobs: the newest job.",
		.operands = operand_job,
		.options = options_compare,
		.examples = examples_compare,
		.exits = "0: no regression. 1: a regression was found. 5: nothing could be "
			 "compared; the text says why.",
		.json = &kgrid__v1__compare_reply__descriptor,
		.json_text = "With --import: an ImportsReply.",
		.run = cmd_compare,
	},
	{
		.path = "gate",
		.summary = "a job's comparison as the yes or no of a CI",
		.description =
			"Compares with Holm's correction; a comparison with fewer than 8 boots a "
			"side is not decided. Prints what did not pass. In JUnit XML each machine "
			"is a suite, each workload, parameters, metric and column a test case: "
			"regressions are failures, undecided ones skipped, those without data or "
			"incomparable ones errors.",
		.operands = operand_job,
		.options = options_gate,
		.examples = examples_gate,
		.exits = "0: no regression, and at least one comparison could be decided. 1: a "
			 "regression was found. 5: none could be decided, or slots are still "
			 "pending.",
		.json = &kgrid__v1__compare_reply__descriptor,
		.run = cmd_gate,
	},
	{
		.path = "regressions",
		.summary = "regressions that were found, and what became of them",
		.description =
			"One item per cause candidate: the same boundary between two kernels or "
			"lists, however many machines and parameters show it. A candidate becomes "
			"confirmed by fresh blocks, or refuted.",
		.operands = operand_regression_maybe,
		.options = options_regressions,
		.examples = examples_regressions,
		.exits = "0: none is open. 1: some are.",
		.json = &kgrid__v1__regressions_reply__descriptor,
		.run = cmd_regressions,
	},
	{
		.path = "regression ack",
		.summary = "say that a regression is known",
		.description = "It stays in the list, and no longer counts as open.",
		.operands = operand_regression,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_regression_ack,
	},
	{
		.path = "regression close",
		.summary = "say that a regression is fixed",
		.description = "It opens again when the same boundary shows again.",
		.operands = operand_regression,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_regression_close,
	},
	{
		.path = "regression reopen",
		.summary = "open a regression again",
		.description = "For one that was acknowledged or closed too early.",
		.operands = operand_regression,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_regression_reopen,
	},
	{
		.path = "regression comment",
		.summary = "add a remark to a regression",
		.description = "It stands among its events, with your name and the time.",
		.operands = operand_regression_text,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_regression_comment,
	},
	{
		.path = "regression retest",
		.summary = "have a regression tested again",
		.description = "Schedules fresh blocks, as for a new candidate.",
		.operands = operand_regression,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_regression_retest,
	},
	{
		.path = "history",
		.summary = "a metric over kernels, with its changes",
		.description =
			"Per machine, workload, parameters and list: a line of marks, the changes, "
			"and the points with their intervals. The newest points that look bad are "
			"'suspect' until three of them stand.",
		.operands = operand_metric,
		.options = options_history,
		.examples = examples_history,
		.json = &kgrid__v1__history_reply__descriptor,
		.run = cmd_history,
	},
	{
		.path = "calibrate",
		.summary = "measure a machine's own noise (A/A)",
		.description =
			"Boots one kernel again and again and measures the same each time. From "
			"these boots come the smallest change that matters, how often equal things "
			"look different, and whether the machine drifts: 'kgrid noise' shows it.",
		.operands = operand_calibrate,
		.options = options_calibrate,
		.examples = examples_calibrate,
		.exits = "With --wait as for 'kgrid watch'.",
		.json = &kgrid__v1__submit_reply__descriptor,
		.json_text = "With --stop: a Done.",
		.run = cmd_calibrate,
	},
	{
		.path = "noise",
		.summary = "what A/A runs say of the machines",
		.description =
			"Per workload and metric: variation between boots and within one, "
			"autocorrelation, false alarms, the smallest change that matters, what can "
			"be detected with 5, 8 and 12 boots a side, drift.",
		.operands = operand_machine_maybe,
		.options = options_csv,
		.json = &kgrid__v1__noise_reply__descriptor,
		.run = cmd_noise,
	},
	{
		.path = "diff",
		.summary = "what differs between two boots, kernels, machines or epochs",
		.description =
			"By section, what is most likely to matter first, and where it could be "
			"set "
			"back: at boot (command line, sysctl), in the kernel (configuration) or in "
			"the environment (firmware, hardware).",
		.operands = operand_diff,
		.options = options_diff,
		.examples = examples_diff,
		.exits = "0: equal. 1: they differ. 4: one of them is not known.",
		.json = &kgrid__v1__diff_reply__descriptor,
		.run = cmd_diff,
	},
	{
		.path = "epochs",
		.summary = "when a machine became another one",
		.description = "A machine whose firmware, hardware or software changes enters a "
			       "new epoch; "
			       "results are not compared across epochs unless asked.",
		.operands = operand_machine_maybe,
		.options = options_epochs,
		.json = &kgrid__v1__epochs_reply__descriptor,
		.run = cmd_epochs,
	},
	{
		.path = "provenance",
		.summary = "what was recorded of a boot",
		.description = "Facts right after the verified boot, and what changed around each "
			       "run. What the machine does not offer is 'unsupported', never 0.",
		.operands = operand_boot,
		.options = options_provenance,
		.json = &kgrid__v1__provenance_reply__descriptor,
		.run = cmd_provenance,
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
		.exits = STAT_TABLE_EXITS,
		.json_text = STAT_TABLE_JSON,
		.run = cmd_stat_table,
	},
	{
		.path = "stat changepoints",
		.summary = "where series of numbers change",
		.description =
			"Per change: the 0-based index of the first new point with the interval of "
			"its place, the levels before and after, the change, p, and the kind: "
			"step, ramp (the level moves over several points), variance (the spread "
			"changes, the level does not) or suspect (the newest points look different "
			"and are too few to say). Lines of several series may alternate; empty "
			"lines and lines that begin with # are left out. Needs no coordinator.",
		.operands = operand_series,
		.options = options_changepoints,
		.examples = examples_changepoints,
		.exits = "0: the series were looked at, with changes or without. 2: the file "
			 "cannot be read or is malformed. 5: there is no value in it.",
		.json_text = "An object with series, an array of objects with name, n and "
			     "changepoints, an array of objects with index, end, interval, before, "
			     "after, change_pct, p and kind.",
		.run = cmd_stat_changepoints,
	},
	{
		.path = "stat vectors",
		.summary = "check the statistics against known numbers",
		.description =
			"Runs every case of a file of test vectors (JSON: cases with id, op, "
			"input, "
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
		.path = "import summary",
		.summary = "keep a published summary with the grid's results",
		.description = "The file is checked here first. " SUMMARY_TEXT,
		.operands = operand_summary,
		.options = options_import,
		.examples = examples_import,
		.json_text =
			"An object with id, name, existed (it was there), style, tables, cells.",
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
