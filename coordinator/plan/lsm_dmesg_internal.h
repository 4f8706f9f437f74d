/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the files that read boot logs only: lsm_dmesg_line.c cuts a line down to the kernel's
 * message, lsm_dmesg_read.c collects what messages say, lsm_dmesg.c makes a list of it. */
#ifndef KG_PLAN_LSM_DMESG_INTERNAL_H
#define KG_PLAN_LSM_DMESG_INTERNAL_H

#include <stdint.h>

#include "common/str.h"
#include "coordinator/plan/lsm_dmesg.h"

#define LSM_LOG_NAMES_MAX 64 /* a kernel has far fewer; more is no kernel's log */
#define LSM_LOG_NAME_MAX  32

/* What the log says of one name. */
enum {
	LOG_STATED = 1 << 0,	/* in "initializing lsm=" */
	LOG_STARTED = 1 << 1,	/* "initializing X", "enabling LSM X" */
	LOG_SIGN = 1 << 2,	/* its own message at its start */
	LOG_ORDERED = 1 << 3,	/* "ordered: X (enabled)" */
	LOG_EARLY = 1 << 4,	/* started before the command line was read */
	LOG_OFF = 1 << 5,	/* switched off when it was looked at */
	LOG_IGNORED = 1 << 6,	/* named, and no LSM of the kernel */
	LOG_SKIPPED = 1 << 7,	/* built in, and not named */
	LOG_LEGACY = 1 << 8,	/* security= names another one */
	LOG_EXCLUSIVE = 1 << 9, /* another exclusive one came first */
	LOG_BUILTIN = 1 << 10,	/* "available LSMs" */
};

enum lsm_log_source { FROM_NOTHING, FROM_FIRST, FROM_CONFIG, FROM_LSM, FROM_SECURITY, FROM_LAST };

struct lsm_log_name {
	char name[LSM_LOG_NAME_MAX];
	unsigned said; /* LOG_* */
	enum lsm_log_source source;
	unsigned stated_at;  /* place in the stated list */
	unsigned started_at; /* the line that first said that it starts, in order; 0: none did */
};

/* Everything of one boot. Texts are owned. */
struct lsm_boot {
	char *version; /* the whole line */
	char *cmdline;
	bool cmdline_final;   /* of "Kernel command line:", which knows more than "Command line:" */
	char *lsm, *security; /* as lsm.debug shows them; NULL: absent, or not shown */
	char *config;	      /* CONFIG_LSM, as lsm.debug shows it; NULL: it does not */
	bool lsm_shown, security_shown;
	bool selinux_unheard; /* selinux= is no parameter of this kernel, as it says itself */
	char chosen[LSM_LOG_NAME_MAX]; /* the exclusive one */
	struct lsm_log_name names[LSM_LOG_NAMES_MAX];
	size_t n;
	unsigned lines; /* that said something starts */
	uint32_t signs; /* rows of the table of messages that were seen */
	uint32_t once;	/* lines that a boot has once and that were seen */
	unsigned rank;	/* of the latest line, in the order of a boot */
	bool any;	/* a line of an LSM, or of the framework */
	bool debug;	/* lsm.debug lines */
	bool overflow;	/* too many names */
	bool open;	/* the stated list ends where a name should come */
	bool has_time;
	double newest_s;
};

struct lsm_log_line {
	char *text; /* borrows from the line's buffer: the kernel's message */
	bool has_time;
	double time_s; /* since that boot */
};

/* Cuts time, host, level and the like off a line (changed in place). False: another program's. */
bool lsm_log_line(char *line, struct lsm_log_line *ret);

/* Reads a whole log; `ret_boot` is its last boot. 0 or -ENOMEM. */
int lsm_log_read(const char *text, size_t len, struct lsm_boot *ret_boot, unsigned *ret_boots);
void lsm_boot_deinit(struct lsm_boot *b);
struct lsm_log_name *lsm_boot_find(struct lsm_boot *b, const char *name);

#endif
