/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which LSMs a real boot started, out of its log, in the form of a prediction (lsm.h). Pure.
 *
 * What kernels print differs by version (security/security.c, from 6.19 security/lsm_init.c):
 *   6.2 - 6.18  one line with the whole list, "LSM: initializing lsm=a,b,c"
 *   others      no list; with lsm.debug each decision is a line, in three wordings
 *   all         messages of those LSMs that say something at their start, such as "Yama: becoming
 *               mindful."; lockdown, safesetid and ipe say nothing
 * The best that is there is taken. What a log cannot tell is said in the warnings, and the entry of
 * a name that was asked for and left no trace says so (LSM_OUT_LOG, LSM_UNTOLD).
 *
 * Lines may be as dmesg prints them (with any of its forms of time, with -x, in colour), as
 * journalctl and syslog do, as a serial console or /dev/kmsg gives them, or bare; lines of other
 * programs are left out. Of several boots in one log the last is taken.
 */
#ifndef KG_PLAN_LSM_DMESG_H
#define KG_PLAN_LSM_DMESG_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "coordinator/plan/lsm.h"

struct lsm_log {
	char *release;	      /* owned; NULL: the log does not say */
	char *cmdline;	      /* owned; NULL: the log does not say */
	unsigned boots;	      /* in the log */
	bool complete;	      /* the kernel's own account: nothing can be missing from the list */
	struct lsm_list list; /* effective, entries, warnings */
};

/* `text` of `len` bytes may hold any bytes. KG_ENODATA when the last boot has no line of an LSM (the
 * text says what there is), or -ENOMEM. `ret_log` is owned: lsm_log_deinit. */
int lsm_dmesg_parse(const char *text, size_t len, struct lsm_log *ret_log, struct kg_err *err);
void lsm_log_deinit(struct lsm_log *l);

#endif
