/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words of the commands of the planner's models, for the table in commands.c. */
#ifndef KG_CLI_COMMANDS_PLAN_H
#define KG_CLI_COMMANDS_PLAN_H

#include "cli/commands.h"

extern const struct cli_operand operand_log[];
extern const struct cli_option options_lsm_resolve[];
extern const struct cli_example examples_lsm_resolve[], examples_lsm_parse[];

#define LSM_RESOLVE_TEXT                                                                          \
	"Predicts /sys/kernel/security/lsm: out of a kernel's version, its config and a whole "   \
	"command line, without booting it. Each LSM that is in or out is listed with the "        \
	"reason, as the kernel's lsm.debug would show it, and what does not do what it seems "    \
	"to say is warned of. The rules are those of 5.0 up to the newest kernels; an older one " \
	"is refused.\n"                                                                           \
	"The kernel is one that the coordinator stores (--kernel), or a release and a config "    \
	"of your own (--release, --config), which needs no coordinator. The release may be "      \
	"left out where the config's heading names it. The config may be compressed, as "         \
	"/proc/config.gz is; - is standard input.\n"                                              \
	"Upstream, selinux, smack and apparmor exclude each other; Ubuntu's kernels let "         \
	"apparmor and smack stand beside others. Without --profile the config says which it is."
#define LSM_RESOLVE_EXITS                                                                        \
	"0: the list was computed, with warnings or without. 2: the command line or the file "   \
	"is wrong, or the kernel too old. 4: no such kernel, or several fit. 5: the kernel was " \
	"stored without a config."
#define LSM_PARSE_TEXT                                                                          \
	"Reads the log of a boot: what dmesg prints in any of its forms, a journal, a syslog, " \
	"a serial console; it may be compressed. Prints the list that the kernel started in "   \
	"the form of 'kgrid lsm resolve'. Of several boots the last is taken.\n"                \
	"Kernels 6.2 to 6.18 print the whole list in one line. With lsm.debug every kernel "    \
	"shows each decision. Where there is neither, the list is made of the messages that "   \
	"some LSMs print at their start; that it may not be complete, and what else the log "   \
	"cannot tell, is said. Needs no coordinator."
#define LSM_PARSE_EXITS                                                                        \
	"0: a list was found, with warnings or without. 2: the file cannot be read. 5: there " \
	"is no line of an LSM in it; the text says what there is."
#define LSM_PARSE_JSON                                                                \
	"The keys of 'kgrid lsm resolve', and cmdline (null when the log has none), " \
	"boots (in the log) and complete (whether nothing can be missing from the list)."

#endif
