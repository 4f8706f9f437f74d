/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The documents of a boot. Each adds its text and, beside it, facts: NAME.digest and the like. A
 * text that differs at every boot of the same configuration would be stored again each time, so
 * counters, random numbers and addresses are left out.
 */
#ifndef KG_AGENT_PROVENANCE_DOCUMENTS_H
#define KG_AGENT_PROVENANCE_DOCUMENTS_H

#include "agent/document.h"
#include "agent/fact_list.h"

/*
 * "config" with config.digest and config.source. Looks at /proc/config.gz, /boot/config-R,
 * /usr/lib/modules/R/config, /lib/modules/R/build/.config for the running release R.
 */
void provenance_config(const char *root, struct fact_list *l, struct document_list *docs);
/* "sysctl": "name = value" lines, in an order that is always the same. sysctl.digest is over those
 * that follow neither from the size of memory nor from the modules that happen to be loaded, both of
 * which differ a little from boot to boot. */
void provenance_sysctl(const char *root, struct fact_list *l, struct document_list *docs);
/* "modules": "name size [taint]" lines, sorted; modules.digest, .count, .tainting. */
void provenance_modules(const char *root, struct fact_list *l, struct document_list *docs);
/* "packages": "name version architecture" lines, sorted; packages.digest, .count. dpkg's status
 * file, else what rpm answers. */
void provenance_packages(const char *root, struct fact_list *l, struct document_list *docs);
/* "kallsyms": as the kernel gives it, addresses relative to _text, those of a module to its lowest
 * symbol. Megabytes: on demand only. */
void provenance_kallsyms(const char *root, struct fact_list *l, struct document_list *docs);

/* Whether a sysctl is left out of the document, or of the digest. PURE. */
bool sysctl_is_volatile(const char *name);
bool sysctl_is_unsteady(const char *name);

#endif
