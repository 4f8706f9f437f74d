/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SHA-256 of files that rarely change, remembered over restarts and kexecs: a digest is computed
 * again when size, times, inode or device of the file differ from what was noted. Programs of
 * many megabytes would otherwise be read in every boot.
 */
#ifndef KG_AGENT_DIGESTS_H
#define KG_AGENT_DIGESTS_H

#include "common/err.h"
#include "common/sha256.h"

struct digests; /* opaque */

/* An unreadable or missing file of notes is an empty one. */
struct digests *digests_open(const char *path); /* owned, digests_close; NULL: out of memory */
/* Digest of the file's content; links are followed. */
int digests_file(struct digests *d, const char *path, char ret_hex[KG_SHA256_HEX_SIZE],
		 struct kg_err *err);
/* Writes the notes down where they changed, without those of files that were not asked for. */
void digests_close(struct digests *d);

#endif
