/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/commands_stat.h"

static const char *const corrections[] = {"bh", "holm", "none", NULL};
static const char *const compare_styles[] = {"kgrid", "benchstat", "ministat", "mmtests",
					     "lkp",   "csv",	   NULL};
static const char *const table_styles[] = {"mmtests", "lkp", "csv", NULL};

const struct cli_operand operand_stat_files[] = {
	{"FILE", CLI_FILE, true, true,
	 "numbers or CSV, LABEL=FILE names its side; - is standard input"},
	{0}};
const struct cli_operand operand_summary[] = {
	{"FILE", CLI_FILE, true, false, "summary as CSV; - is standard input"}, {0}};

const struct cli_option options_stat_compare[] = {
	{"baseline", 'B', CLI_TEXT, "LABEL", NULL,
	 "the side to compare with: its label, an unambiguous part of it, or its file; else the "
	 "first in the "
	 "files"},
	{"higher-is-better", 0, CLI_FLAG, NULL, NULL, "for all metrics, such as rates"},
	{"lower-is-better", 0, CLI_FLAG, NULL, NULL, "for all metrics, such as times"},
	{"unit", 'u', CLI_TEXT, "UNIT", NULL, "unit of the values, to be shown"},
	{"alpha", 0, CLI_TEXT, "P", NULL, "a change needs a p of at most this; else 0.01"},
	{"min-effect", 0, CLI_TEXT, "PERCENT", NULL, "the smallest effect that matters; else 1"},
	{"correction", 0, CLI_CHOICE, "METHOD", corrections,
	 "for many comparisons: bh (Benjamini-Hochberg, default), holm or none"},
	{"gate", 0, CLI_FLAG, NULL, NULL, "for CI: Holm, and at least 8 boots a side"},
	{"style", 's', CLI_CHOICE, "STYLE", compare_styles,
	 "kgrid (default), benchstat, ministat, mmtests, lkp or csv"},
	{0},
};
const struct cli_option options_stat_power[] = {
	{"effect", 'e', CLI_TEXT, "PERCENT", NULL, "the effect to find; else 1"},
	{"from", 'f', CLI_FILE, "FILE", NULL, "take the deviation between boots from these values"},
	{"cov", 0, CLI_TEXT, "PERCENT", NULL,
	 "the deviation between boots, in per cent of the mean"},
	{"power", 0, CLI_TEXT, "P", NULL, "probability to find the effect; else 0.8"},
	{"alpha", 0, CLI_TEXT, "P", NULL, "of the test, two-sided; else 0.01"},
	{0},
};
const struct cli_option options_stat_table[] = {
	{"style", 's', CLI_CHOICE, "STYLE", table_styles,
	 "mmtests, lkp or csv; else the form that the columns belong to"},
	{"table", 't', CLI_NUMBER, "N", NULL, "this table only"},
	{0},
};
const struct cli_option options_import[] = {
	{"name", 'n', CLI_TEXT, "NAME", NULL, "short name; else the file's without its ending"},
	{0},
};

const struct cli_example examples_stat_compare[] = {
	{"kgrid stat compare old.txt new.txt --lower-is-better --unit ms",
	 "one number a line each"},
	{"kgrid stat compare old=runs/1.txt new=runs/2.txt --style benchstat",
	 "labels of your own"},
	{"kgrid stat compare samples.csv --baseline 6.12/prev", "out of 'kgrid samples'"},
	{NULL, NULL}};
const struct cli_example examples_stat_power[] = {
	{"kgrid stat power --effect 1% --from samples.csv", "boots for 1 %, for each metric"},
	{"kgrid stat power --effect 2% --cov 1.5%", "out of a known deviation"},
	{NULL, NULL}};
const struct cli_example examples_stat_table[] = {
	{"kgrid stat table lsm_netperf.csv --table 6", "one of its tables"}, {NULL, NULL}};
const struct cli_example examples_import[] = {
	{"kgrid import summary lsm_netperf.csv --name lsm-netperf", "keep it with the grid's own"},
	{"kgrid compare --import lsm-netperf --style mmtests", "and show it"},
	{NULL, NULL}};
