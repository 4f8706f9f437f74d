/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaves the running system for the kernel that is loaded. */
#ifndef KG_AGENT_BOOT_SHUTDOWN_H
#define KG_AGENT_BOOT_SHUTDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/config.h"
#include "common/err.h"

/* Whether this configuration asks systemd to do it. */
bool boot_shutdown_by_systemd(const struct agent_config *c);
/*
 * Starts `systemctl VERB` ("kexec", or "reboot": the machine's boot loader starts its default kernel);
 * the agent is ended by the shutdown that follows. `force`: without waiting for the units to stop.
 * -ETIME: systemctl had no answer by `limit_ns` and was killed; the machine may still go down.
 */
int boot_systemctl(const char *verb, bool force, uint64_t limit_ns, struct kg_err *err);
/* sync, unmount, reboot(2). Returns only on failure. The caller holds no file open below what is
 * unmounted. A file system that cannot be unmounted is mounted read-only; where that fails too,
 * nothing was given up and the boot is not made. */
int boot_shutdown_direct(const struct agent_config *c, struct kg_err *err);

/* The same without a loaded kernel: the machine's boot loader starts its default one. */
int boot_reboot_direct(const struct agent_config *c, struct kg_err *err);

#endif
