/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel's .config text: single options, and the facts that planning needs. Pure. */
#ifndef KG_PLAN_KCONFIG_H
#define KG_PLAN_KCONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "coordinator/plan/lsm.h"

struct kconfig_facts {
	struct lsm_kernel lsm;
	bool kexec;	       /* CONFIG_KEXEC: can be left by kexec_load(2) */
	bool kexec_file;       /* CONFIG_KEXEC_FILE: can be left by kexec_file_load(2) */
	bool kexec_sig_force;  /* CONFIG_KEXEC_SIG_FORCE: takes signed images only */
	bool lockdown_forced;  /* CONFIG_LOCK_DOWN_KERNEL_FORCE_INTEGRITY or _CONFIDENTIALITY */
	bool loadpin_enforce;  /* CONFIG_SECURITY_LOADPIN_ENFORCE (up to 5.0 _ENABLED) */
	bool modules;	       /* CONFIG_MODULES */
	bool securityfs;       /* CONFIG_SECURITYFS: /sys/kernel/security/lsm can be read */
	bool devtmpfs;	       /* CONFIG_DEVTMPFS */
	char localversion[64]; /* CONFIG_LOCALVERSION without quotes */
};

/* Value of CONFIG_<option> (`option` with or without "CONFIG_"): "y", "m", "1000", a string without
 * its quotes and escapes. False when not set, or when `size` is too small. The last line wins. */
bool kconfig_value(const char *text, const char *option, char *ret_value, size_t size);
bool kconfig_enabled(const char *text, const char *option); /* =y */

/* Reads the facts. Refuses text that is no kernel config at all (KG_EINVALID), and values too long
 * for their field. A release may be given (NULL: none yet) and is put into facts.lsm.release. The
 * profile is ubuntu when CONFIG_VERSION_SIGNATURE says so. */
int kconfig_read(const char *text, const char *release, struct kconfig_facts *ret_facts,
		 struct kg_err *err);

#endif
