/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/commands.h"

#include "cli/cli.h"
#include "cli/commands_jobs.h"
#include "cli/commands_plan.h"
#include "cli/commands_results.h"
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

static const struct cli_operand operand_selector[] = {
	{"SELECTOR", CLI_KERNEL, true, false, "label, release, or the beginning of the digest"},
	{0}};
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

static const struct cli_option options_kernel_add[] = {
	{"label", 'l', CLI_TEXT, "LABEL", NULL, "short name for job files and tables"},
	{"image", 0, CLI_FILE, "FILE", NULL, "the kernel image, with --modules and --config"},
	{"modules", 0, CLI_FOLDER, "DIR", NULL, "its modules, as in /lib/modules/RELEASE"},
	{"config", 0, CLI_FILE, "FILE", NULL, "its configuration"},
	{"system-map", 0, CLI_FILE, "FILE", NULL, "its System.map, if there is one"},
	{"release", 0, CLI_TEXT, "RELEASE", NULL, "take this one where a folder has several"},
	{0},
};
static const struct cli_example examples_kernel_add[] = {
	{"kgrid kernel add linux-image-6.12.57+deb13-cloud-amd64_6.12.57-1_amd64.deb --label 6.12",
	 "a distribution's package"},
	{"kgrid kernel add --image bzImage --modules mods/lib/modules/6.18.0 --config .config",
	 "one that you built"},
	{NULL, NULL}};
static const struct cli_example examples_lab[] = {{"kgrid lab up --machines intel,amd",
						   "two machines that join this coordinator"},
						  {"kgrid lab down", "leaves nothing behind"},
						  {NULL, NULL}};

static const char exits_wait[] =
	"0: every slot that could run passed, but for those that the stop rule "
	"or the budget skipped. 1: some did not, or the job was "
	"cancelled. 5: nothing ran: all is infeasible or skipped. 130: "
	"interrupted (the job goes on).";

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
		.description = SUBMIT_TEXT,
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
		.description = JOB_SHOW_TEXT,
		.operands = operand_job,
		.options = options_job_show,
		.examples = examples_job_show,
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
		.path = "job pause",
		.summary = "let a job rest",
		.description = "A boot that is under way is finished; no other starts for it.",
		.operands = operand_job_required,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_job_pause,
	},
	{
		.path = "job resume",
		.summary = "let a paused job go on",
		.description = "It keeps its place in the queue.",
		.operands = operand_job_required,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_job_resume,
	},
	{
		.path = "job reprioritise",
		.summary = "change a job's priority",
		.description = "Holds for boots that have not started yet.",
		.operands = operand_priority,
		.examples = examples_reprioritise,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_job_reprioritise,
	},
	{
		.path = "job reprioritize",
		.summary = "the same as 'job reprioritise'",
		.description = "Holds for boots that have not started yet.",
		.operands = operand_priority,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_job_reprioritise,
	},
	{
		.path = "job extend",
		.summary = "add boots to a job",
		.description = EXTEND_TEXT,
		.operands = operand_job_required,
		.options = options_job_extend,
		.examples = examples_extend,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_job_extend,
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
		.description = MACHINES_TEXT,
		.options = options_machines,
		.examples = examples_machines,
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
		.path = "machine reserve",
		.summary = "keep a machine to yourself for a time",
		.description = RESERVE_TEXT,
		.operands = operand_machine,
		.options = options_reserve,
		.examples = examples_reserve,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_machine_reserve,
	},
	{
		.path = "machine release",
		.summary = "end a reservation",
		.description = "Other users' jobs may start on the machine again.",
		.operands = operand_machine,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_machine_release,
	},
	{
		.path = "machine drain",
		.summary = "let a machine finish and start nothing more",
		.description = "A boot that is under way is finished, then it stays idle until "
			       "'kgrid machine resume'.",
		.operands = operand_machine,
		.options = options_why_said,
		.examples = examples_drain,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_machine_drain,
	},
	{
		.path = "machine maintenance",
		.summary = "take a machine out of service",
		.description =
			"As 'drain', for work on it: that it goes away is not held against it.",
		.operands = operand_machine,
		.options = options_why_said,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_machine_maintenance,
	},
	{
		.path = "machine resume",
		.summary = "put a machine into service again",
		.description = "Ends 'drain' and 'maintenance'.",
		.operands = operand_machine,
		.json = &kgrid__v1__done__descriptor,
		.run = cmd_machine_resume,
	},
	{
		.path = "why",
		.summary = "why a job, a cell or a machine waits, and what became of it",
		.description = WHY_TEXT,
		.operands = operand_subject,
		.examples = examples_why,
		.json = &kgrid__v1__why_reply__descriptor,
		.run = cmd_why,
	},
	{
		.path = "reproduce",
		.summary = "how to repeat a cell, with and without kgrid",
		.description = REPRODUCE_TEXT,
		.operands = operand_cell,
		.options = options_reproduce,
		.examples = examples_reproduce,
		.json = &kgrid__v1__reproduce_reply__descriptor,
		.run = cmd_reproduce,
	},
	{
		.path = "standing list",
		.summary = "list jobs that are run again and again",
		.description = "Those with 'when:' in their file: for each kernel that is added, "
			       "or every night. 'kgrid standing' alone is the same.",
		.options = options_csv,
		.examples = examples_standing,
		.json = &kgrid__v1__standing_reply__descriptor,
		.run = cmd_standing_list,
	},
	{
		.path = "standing show",
		.summary = "one standing job and its file",
		.description = "Also when it runs next, and why the last time failed if it did.",
		.operands = operand_standing,
		.json = &kgrid__v1__standing_reply__descriptor,
		.run = cmd_standing_show,
	},
	{
		.path = "standing run",
		.summary = "run a standing job now",
		.description = "It also runs as before when its time comes.",
		.operands = operand_standing,
		.json = &kgrid__v1__standing_reply__descriptor,
		.run = cmd_standing_run,
	},
	{
		.path = "standing rm",
		.summary = "remove a standing job",
		.description = "Jobs that it has made stay.",
		.operands = operand_standing,
		.json = &kgrid__v1__standing_reply__descriptor,
		.run = cmd_standing_rm,
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
		.path = "lsm resolve",
		.summary = "which LSMs a kernel will start, and why",
		.description = LSM_RESOLVE_TEXT,
		.options = options_lsm_resolve,
		.examples = examples_lsm_resolve,
		.exits = LSM_RESOLVE_EXITS,
		.json = &kgrid__v1__lsm_resolve_reply__descriptor,
		.run = cmd_lsm_resolve,
	},
	{
		.path = "lsm parse",
		.summary = "which LSMs a boot started, out of its log",
		.description = LSM_PARSE_TEXT,
		.operands = operand_log,
		.examples = examples_lsm_parse,
		.exits = LSM_PARSE_EXITS,
		.json = &kgrid__v1__lsm_resolve_reply__descriptor,
		.json_text = LSM_PARSE_JSON,
		.run = cmd_lsm_parse,
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
