/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the firmware's own tables say of the machine: no kernel or command line has a say in them.
 * PURE; every length is checked.
 * Sources: DMTF DSP0134 (SMBIOS 3.7) sections 7.1-7.5, 7.18; ACPI 6.5 section 5.2.12 (MADT).
 */
#ifndef KG_AGENT_SMBIOS_H
#define KG_AGENT_SMBIOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/fact_list.h"

/*
 * The structure table (/sys/firmware/dmi/tables/DMI) as facts: what it has of bios.*, system.*,
 * board.*, chassis.type; and always memory.dimms, memory.installed and cpu.firmware-sockets. A table
 * that is cut short or makes no sense gives what stands before the fault and no more; a memory map
 * that is not whole is unsupported.
 */
void smbios_facts(const uint8_t *table, size_t len, struct fact_list *l);

/* Enabled local APICs of a MADT, header included: CPUs the firmware hands over. False when it is
 * none, or damaged. */
bool madt_cpus(const uint8_t *table, size_t len, unsigned *ret_cpus);

#endif
