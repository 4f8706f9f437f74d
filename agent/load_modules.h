/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `kgrid-agent load-modules`: what a minimal initial system has for modprobe. */
#ifndef KG_AGENT_LOAD_MODULES_H
#define KG_AGENT_LOAD_MODULES_H

/* Loads the modules listed in `dir`/kgrid.order, paths relative to `dir`, in that order; NULL:
 * /lib/modules/RELEASE. Goes on after a failure. Returns the program's exit code. */
int load_modules(const char *dir);

#endif
