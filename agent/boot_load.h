/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads the next kernel. */
#ifndef KG_AGENT_BOOT_LOAD_H
#define KG_AGENT_BOOT_LOAD_H

#include <stdbool.h>

#include "common/err.h"

/* kexec_file_load(2); kexec_load(2) through the kexec program only where the kernel lacks the
 * former. `initrd` may be NULL. On success /sys/kernel/kexec_loaded was seen to be 1 and
 * ret_method is "kexec-file-load" or "kexec-load" (static). A refusal says what refused. */
int boot_load(const char *kernel, const char *initrd, const char *cmdline, const char **ret_method,
	      struct kg_err *err);
/* Takes a loaded kernel out again; nothing loaded is fine. */
void boot_unload(void);
/* Whether a refusal is the running kernel's own, so that another kernel may take the image. */
bool boot_load_stuck(int code);
/* Why the running kernel takes no kexec at all, static text; NULL: it may. Lockdown alone is no
 * reason: a signed image is taken under it, which only the load tells. `root` "" is the running
 * system. */
const char *boot_stuck(const char *root);

/* Text for the errno of a load. Static storage. PURE. */
const char *boot_load_reason(int code);

#endif
