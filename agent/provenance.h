/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine is and what runs on it. A fact that the machine does not have is left out
 * (NULL, has_* false), never 0 or "".
 */
#ifndef KG_AGENT_PROVENANCE_H
#define KG_AGENT_PROVENANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct provenance_fact {
	char *name;  /* "vulnerability.meltdown" */
	char *value; /* one line */
};

struct provenance_number {
	bool has;
	uint64_t value;
};

struct provenance {
	char *cpu_vendor, *cpu_name, *microcode;
	char *release, *version, *arch, *host_name;
	char *cmdline, *build_id, *lsm, *host_boot_id;
	struct provenance_number cpu_family, cpu_model, cpu_stepping;
	struct provenance_number cpus, sockets, numa_nodes, memory_bytes, tainted;
	struct provenance_fact *facts; /* sorted as read; no duplicates */
	size_t n_facts;
};

/* Reads below `root` ("" for the machine itself, a folder in tests; uname(2) is always the
 * machine's). Fails only when out of memory. */
int provenance_read(const char *root, struct provenance *ret_p, struct kg_err *err);
void provenance_deinit(struct provenance *p);

/* NT_GNU_BUILD_ID out of ELF notes as lower-case hex, owned; NULL when there is none. PURE. */
char *provenance_build_id(const uint8_t *notes, size_t len);

/* One small file below root as one line, owned; NULL when absent or empty. Inner line ends become
 * spaces. */
char *provenance_line(const char *root, const char *path);

#endif
