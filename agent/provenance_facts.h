/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that is recorded of a machine after a verified boot, and the few things that are
 * looked at again before and after each attempt. Names and classes: common/facts.h.
 *
 * Facts of class machine must not depend on the kernel that looks. Where a kernel can be built or
 * told not to show them (no DMI, no ACPI tables, nr_cpus=), the row is left out: it says nothing.
 * Everything else that is missing is a row without a value, with the reason.
 */
#ifndef KG_AGENT_PROVENANCE_FACTS_H
#define KG_AGENT_PROVENANCE_FACTS_H

#include <stdint.h>

#include "agent/fact_list.h"

struct workload_registry; /* agent/workload_registry.h */
struct document_list;	  /* agent/document.h */

struct provenance_input {
	const char *root;	 /* "" for the machine itself */
	const char *boot_method; /* kexec-file-load, kexec-load, cold; NULL: not known */
	uint32_t hops;
	const struct workload_registry *registry; /* may be NULL */
	bool want_kallsyms;
};

/* Facts (sorted) and documents of the boot. Reads a few hundred files: not on the loop. -ENOMEM is
 * the only failure. Both results are owned, fact_list_deinit and document_list_deinit. */
int provenance_boot(const struct provenance_input *in, struct fact_list *ret_l,
		    struct document_list *ret_docs);

/* What can change during an attempt; a few milliseconds. `programs` are full paths of the workload's
 * programs, ended by NULL. -ENOMEM. */
int provenance_moment(const char *root, const char *const *programs, struct fact_list *ret_l);

/* ---- the parts ---- */

void provenance_cpu(const char *root, struct fact_list *l);
void provenance_cpu_microcode(const char *root, struct fact_list *l);
void provenance_cpu_present(const char *root, struct fact_list *l);
void provenance_throttle(const char *root, struct fact_list *l);
void provenance_frequency(const char *root, struct fact_list *l);
void provenance_firmware(const char *root, struct fact_list *l);
void provenance_lsm(const char *root, struct fact_list *l);
void provenance_kernel(const char *root, struct fact_list *l);
void provenance_settings(const char *root, struct fact_list *l); /* memory, time, sysctl, ... */
void provenance_load(const char *root, struct fact_list *l);	 /* load, pressure, heat */
void provenance_software(const struct provenance_input *in, struct fact_list *l);
/* Who else is at work: sessions, package-manager, packages.stamp. */
void provenance_others(const char *root, struct fact_list *l);
void provenance_programs_stamp(const char *const *programs, struct fact_list *l);

/* Whether a perf of that version ("perf version 6.1.192") was made from the source of the kernel
 * with that uname -r and /proc/version. PURE. */
bool provenance_perf_matches(const char *perf, const char *release, const char *version);

#endif
