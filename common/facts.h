/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of facts: what each fact of a machine is called, what it says, and what a change of it
 * means. The agent records by it, the coordinator makes epochs and differences by it. Pure.
 *
 * The paths and their meaning are the kernel's: Documentation/ABI/, Documentation/admin-guide/.
 */
#ifndef KG_COMMON_FACTS_H
#define KG_COMMON_FACTS_H

#include <stdbool.h>
#include <stddef.h>

enum kg_fact_class {
	/* The fingerprint: nothing that a cell chooses has a say in it (microcode, BIOS, DIMMs, number
	 * of present CPUs, package set, workload binaries). Compared between any two boots. */
	KG_FACT_MACHINE,
	/* What kernel and command line shape (mitigations, governor, SMT, THP, clocksource): also the
	 * fingerprint, but compared only between boots of the same kernel, list and command line. */
	KG_FACT_CONFIGURATION,
	/* What the experiment varies or what a cell is known by: command line, LSM list, release, build
	 * id, config. Never a new epoch. */
	KG_FACT_SUBJECT,
	/* Differs at every look: load, temperature, counters, boot id. Never compared. */
	KG_FACT_VOLATILE,
	KG_FACT_CLASSES,
};

enum kg_fact_settable { KG_SETTABLE_BOOT, KG_SETTABLE_KERNEL, KG_SETTABLE_ENVIRONMENT };

struct kg_fact_info {
	const char *name; /* "cpu.microcode"; "vulnerability." ends in a dot: all that begin so */
	enum kg_fact_class class;
	unsigned weight; /* 0..100: how likely a change moves a result */
	const char
		*section; /* cmdline lsm config cpu firmware memory frequency kernel software ... */
	enum kg_fact_settable settable;
	const char *label; /* for people: "microcode" */
};

/* The row for a name; one for everything unknown (class volatile, weight 1) where there is none:
 * never NULL. Static storage. */
const struct kg_fact_info *kg_fact_find(const char *name);
const char *kg_fact_class_name(enum kg_fact_class c);	    /* "machine" */
const char *kg_fact_settable_name(enum kg_fact_settable s); /* boot, kernel, environment */

#endif
