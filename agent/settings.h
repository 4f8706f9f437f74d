/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of a job: what is written below /proc/sys and /sys after the boot, and read back. A new
 * kernel begins with its own values, but for those that the hardware keeps: settings_undo.h.
 *
 *   sysctl.NAME   /proc/sys/NAME. NAME as for sysctl(8): where its first separator is a dot, dots
 *                 separate and a slash stands for a dot within a part. Blanks between words do not
 *                 count, nor how a number is written
 *   governor, epp every CPU's cpufreq/scaling_governor, cpufreq/energy_performance_preference
 *   turbo         on, off: intel_pstate/no_turbo, else cpufreq/boost
 *   smt           on, off: cpu/smt/control
 *   thp, thp-defrag   transparent_hugepage/enabled, transparent_hugepage/defrag
 */
#ifndef KG_AGENT_SETTINGS_H
#define KG_AGENT_SETTINGS_H

#include <stddef.h>

#include "agent/settings_undo.h"
#include "common/err.h"
#include "common/workload.h"

/* What can be set here and to what, "governor" -> "performance schedutil"; sysctl is not listed.
 * `root` "" is the running system. Owned: kg_params_deinit. -ENOMEM. */
int settings_offer(const char *root, struct kg_params *ret_offer);
/* Writes one and reads it back. KG_EINVALID: no such setting or value; KG_ENODATA: this machine does
 * not have it; KG_ESTATE: it was written and reads otherwise; -errno. The text names setting, wanted
 * and found. */
int settings_apply(const char *root, const char *name, const char *value, struct kg_err *err);
/* All of them: first what decides which CPUs there are, then the governor, which may decide the epp,
 * then the others as they come. At the end each is read once more, since one may change another.
 * Ends at the first that fails. What the hardware keeps is noted in `undo` before; NULL: nowhere. */
int settings_apply_all(const char *root, const struct kg_param_value *settings, size_t n,
		       const struct settings_undo *undo, struct kg_err *err);
/* Whether all of them still are as they were made; `when` ends the text of KG_ESTATE. */
int settings_check_all(const char *root, const struct kg_param_value *settings, size_t n,
		       const char *when, struct kg_err *err);

#endif
