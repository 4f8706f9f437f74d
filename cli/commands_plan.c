/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/commands_plan.h"

static const char *const profiles[] = {"upstream", "ubuntu", NULL};

const struct cli_operand operand_log[] = {
	{"FILE", CLI_FILE, false, false, "the log; standard input when left out, or -"}, {0}};

const struct cli_option options_lsm_resolve[] = {
	{"kernel", 'k', CLI_KERNEL, "KERNEL", NULL,
	 "a stored kernel: label, release, or the beginning of the digest"},
	{"release", 'r', CLI_TEXT, "RELEASE", NULL, "as 'uname -r' prints it, with --config"},
	{"config", 'f', CLI_FILE, "FILE", NULL, "the kernel's .config, perhaps compressed"},
	{"profile", 'p', CLI_CHOICE, "PROFILE", profiles,
	 "upstream or ubuntu; else what the config says"},
	{"cmdline", 'l', CLI_LINE, "TEXT", NULL, "the whole command line; else an empty one"},
	{0},
};

const struct cli_example examples_lsm_resolve[] = {
	{"kgrid lsm resolve --kernel 6.12 --cmdline 'lsm=landlock,yama,apparmor'",
	 "of a stored kernel"},
	{"kgrid lsm resolve --release \"$(uname -r)\" --config /proc/config.gz --cmdline "
	 "\"$(cat /proc/cmdline)\"",
	 "of the running one"},
	{NULL, NULL}};
const struct cli_example examples_lsm_parse[] = {
	{"kgrid lsm parse < dmesg.txt", "what that boot started"},
	{"kgrid lsm parse console.log --json", "for a program"},
	{NULL, NULL}};
