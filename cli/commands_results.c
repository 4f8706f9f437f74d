/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/commands_results.h"

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
const struct cli_option options_compare[] = {
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
const struct cli_option options_regressions[] = {
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
const struct cli_option options_changepoints[] = {
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
const struct cli_option options_history[] = {
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
const struct cli_option options_calibrate[] = {
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
const struct cli_option options_gate[] = {
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
const struct cli_option options_diff[] = {
	{"all", 'a', CLI_FLAG, NULL, NULL, "long lists whole, not their first 20"},
	OPTION_CSV,
	{0},
};
const struct cli_option options_epochs[] = {
	{"all", 'a', CLI_FLAG, NULL, NULL, "long lists whole, not their first 20"},
	{0},
};
const struct cli_option options_provenance[] = {
	{"document", 'd', CLI_TEXT, "NAME", NULL,
	 "print this text instead: config, sysctl, modules, packages, kallsyms"},
	{"all", 'a', CLI_FLAG, NULL, NULL, "of every moment all facts, not only what changed"},
	OPTION_CSV,
	{0},
};
static const char *const formats[] = {"csv", "json", NULL};
const struct cli_option options_samples[] = {
	{"format", 'f', CLI_CHOICE, "FORMAT", formats, "csv (default) or json"},
	OPTION_CSV,
	{"all", 'a', CLI_FLAG, NULL, NULL,
	 "also evidence: warm-up, and samples of attempts that did not pass"},
	{0},
};
const struct cli_option options_logs[] = {
	{"attempt", 'a', CLI_NUMBER, "N", NULL, "logs of this attempt"},
	{"boot", 'b', CLI_NUMBER, "N", NULL, "logs of this boot and of all attempts in it"},
	{0},
};

const struct cli_example examples_compare[] = {
	{"kgrid compare", "the newest job"},
	{"kgrid compare 7 --baseline 6.12/prev --metric throughput", "another baseline"},
	{"kgrid compare --baseline '*/prev'", "what the lists cost on each kernel"},
	{"kgrid compare --all-jobs --machine lab-amd --param size=64 --since 7d",
	 "a week of one machine"},
	{NULL, NULL}};
const struct cli_example examples_regressions[] = {
	{"kgrid regressions --state open --since 7d", "what is new this week"},
	{"kgrid regressions 3", "one, with all that shows it"},
	{"kgrid regression ack 3 known, fixed by the next version", "it is known"},
	{NULL, NULL}};
const struct cli_example examples_history[] = {
	{"kgrid history throughput --machine lab-amd --param size=64", "one series over kernels"},
	{NULL, NULL}};
const struct cli_example examples_calibrate[] = {
	{"kgrid calibrate lab-amd --workload 'netperf: {test: UDP_RR}' --every 7d",
	 "every week, one workload"},
	{"kgrid noise lab-amd", "what they said"},
	{NULL, NULL}};
const struct cli_example examples_gate[] = {{"kgrid gate --against '*/prev' 7 --junit kgrid.xml",
					     "for a CI, after 'kgrid submit'"},
					    {NULL, NULL}};
const struct cli_example examples_diff[] = {
	{"kgrid diff boot:12 boot:31", "two boots"},
	{"kgrid diff kernel:6.1 kernel:6.12", "two kernels' configurations"},
	{"kgrid diff epoch:lab-amd/1 epoch:lab-amd/2", "what changed a machine"},
	{NULL, NULL}};
const struct cli_example examples_samples[] = {
	{"kgrid samples 7 >samples.csv", "for a spreadsheet or R"}, {NULL, NULL}};
const struct cli_example examples_logs[] = {{"kgrid logs --boot 12", "why a boot went wrong"},
					    {NULL, NULL}};
