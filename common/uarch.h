/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Name of a CPU's microarchitecture. Pure. Sources: tools/perf/pmu-events/arch/x86/mapfile.csv and
 * arch/x86/include/asm/intel-family.h of Linux 7.3; AMD ranges of arch/x86/kernel/cpu/amd.c.
 */
#ifndef KG_COMMON_UARCH_H
#define KG_COMMON_UARCH_H

#include <stddef.h>

/* "Zen3", "Cascade Lake-SP"; an unknown one is "FAMILY-MODEL-STEPPING", never a guess. `vendor` as in
 * /proc/cpuinfo. Returns buf. */
const char *kg_uarch_name(const char *vendor, unsigned family, unsigned model, unsigned stepping,
			  char *buf, size_t size);

/* Every name that kg_uarch_name can give, once, for suggestions; returns how many. Static texts. */
#define KG_UARCH_MAX 128
size_t kg_uarch_known(const char *ret_names[], size_t max);

#endif
