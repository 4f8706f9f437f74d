/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of a job: what is written below /proc/sys and /sys after the boot, and read back. A new
 * kernel begins with its own values, so nothing has to be set back.
 *
 *   sysctl.NAME   /proc/sys/NAME, blanks between numbers do not count
 *   governor, epp every CPU's cpufreq/scaling_governor, cpufreq/energy_performance_preference
 *   turbo         on, off: intel_pstate/no_turbo, else cpufreq/boost
 *   smt           on, off: cpu/smt/control
 *   thp, thp-defrag   transparent_hugepage/enabled, transparent_hugepage/defrag
 */
#ifndef KG_AGENT_SETTINGS_H
#define KG_AGENT_SETTINGS_H

#include <stddef.h>

#include "common/err.h"
#include "common/workload.h"

/* What can be set here and to what, "governor" -> "performance schedutil"; sysctl is not listed.
 * `root` "" is the running system. Owned: kg_params_deinit. -ENOMEM. */
int settings_offer(const char *root, struct kg_params *ret_offer);
/* Writes and reads back. KG_EINVALID: no such setting or value; KG_ENODATA: this machine does not have
 * it; KG_ESTATE: it was written and reads otherwise; -errno. The text names setting, wanted and
 * found. */
int settings_apply(const char *root, const char *name, const char *value, struct kg_err *err);

#endif
