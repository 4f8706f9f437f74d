/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Did the machine boot what was asked for? PURE: expected against seen. */
#ifndef KG_AGENT_BOOT_VERIFY_H
#define KG_AGENT_BOOT_VERIFY_H

#include <stdint.h>

#include "common/err.h"
#include "common/outcome.h"

struct boot_expected {
	uint64_t boot;
	const char *nonce;
	const char *release;  /* NULL or "": not compared */
	const char *build_id; /* hex; NULL or "": not compared */
	const char *lsm;      /* effective list; NULL: not compared, "" is compared */
	const char *cmdline;  /* the words asked for, kgrid.boot= not among them */
};

struct boot_seen {
	const char *cmdline;
	const char *release;
	const char *build_id; /* NULL: this kernel shows none */
	const char *lsm;      /* NULL: could not be read */
};

/*
 * KG_OUTCOME_PASS, or the first of these that holds, with the reason in `why`:
 *   boot-fallback  the nonce is not on the command line: some other boot
 *   wrong-kernel   nonce right; release or build id are not
 *   wrong-lsm      the effective list differs, in names or in order
 *   wrong-cmdline  a word that was asked for is missing or out of order
 * KG_OUTCOME_HARNESS_ERROR: out of memory.
 */
enum kg_outcome boot_verify(const struct boot_expected *expected, const struct boot_seen *seen,
			    struct kg_err *why);

#endif
