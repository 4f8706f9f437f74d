/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blobs: files named by the SHA-256 of their content.
 *
 *   DIR/ab/cdef...            whole, verified, durable; never changed once there
 *   DIR/incoming/<digest>.part    being put
 *   DIR/incoming/<digest>.done    whole and verified, waiting to be made durable
 *
 * A blob gets its name only after its content was verified and fsynced, so neither a crash nor a
 * power cut can show a partial one. Putting does not wait for the disk: artifact_blobs_settle()
 * makes all that is done durable together (the first fsync commits the journal for the rest) and
 * gives it its name. Until then artifact_blobs_has() answers yes, but there is nothing to read.
 * What was not settled is at worst lost, never wrong, and is asked for again by the next offer.
 *
 * Threads may use one store together. Putting or reading a chunk of 256 KiB takes well under a
 * millisecond and may happen on an event loop; settling and removing take as long as the disk and
 * may not. (An upload of an earlier process, when it goes on, is hashed from its start.)
 */
#ifndef KG_ARTIFACT_BLOB_H
#define KG_ARTIFACT_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/artifact/manifest.h"

struct artifact_blobs; /* opaque */

/* Opens the store in DIR (made when missing, mode 0700). Owned, artifact_blobs_free. */
int artifact_blobs_open(const char *dir, struct artifact_blobs **ret_b, struct kg_err *err);
/* Closes without settling. NULL is fine. */
void artifact_blobs_free(struct artifact_blobs *b);

bool artifact_blobs_has(const struct artifact_blobs *b, const char *digest);
/* Size and path of a settled blob. KG_ENOTFOUND when there is none. */
int artifact_blobs_path(const struct artifact_blobs *b, const char *digest, char *ret_path,
			size_t path_size, uint64_t *ret_size_bytes, struct kg_err *err);

/* Which files of a manifest have no blob: one entry per digest, in manifest order, borrowed from
 * the manifest. `ret_files` is owned (free), NULL when nothing is missing. Blobs that are there are
 * marked as just used, so that a removal of unreferenced ones with an age limit leaves them. */
int artifact_blobs_missing(const struct artifact_blobs *b, const struct artifact_manifest *m,
			   const struct artifact_file ***ret_files, size_t *ret_n,
			   struct kg_err *err);

struct artifact_chunk {
	const char *digest; /* of the whole blob */
	uint64_t offset;
	uint64_t total_bytes; /* of the whole blob, at most ARTIFACT_FILE_MAX */
	const void *data;
	size_t len;
};

struct artifact_progress {
	uint64_t next_offset; /* where the next chunk has to start */
	bool complete;	      /* verified; nothing more is wanted */
};

/* Takes the next chunk. A chunk that does not start where the part ends is not stored: 0 is
 * returned and next_offset says where to go on (that is how an upload is resumed; an empty chunk at
 * offset 0 asks). KG_EINVALID: bad digest, or beyond the total. KG_ELIMIT: too large. KG_ECORRUPT:
 * all bytes are there and the digest is another one; the part is gone, start again at 0. */
int artifact_blobs_put(struct artifact_blobs *b, const struct artifact_chunk *c,
		       struct artifact_progress *ret_progress, struct kg_err *err);

/* Makes every completed blob durable and visible. Needed before artifact_kernel_open(). */
int artifact_blobs_settle(struct artifact_blobs *b, struct kg_err *err);

/* Reads up to `max` bytes from `offset`; 0 bytes at the end. KG_ENOTFOUND; KG_EINVALID when the
 * offset is beyond the end. */
int artifact_blobs_read(const struct artifact_blobs *b, const char *digest, uint64_t offset,
			void *buf, size_t max, size_t *ret_len, uint64_t *ret_total_bytes,
			struct kg_err *err);

struct artifact_removal {
	/* Whether a blob is still referred to by some kernel. */
	bool (*keep)(const char *digest, void *ctx);
	void *ctx;
	/* Only what was not written or offered for so long: an upload whose kernel is not committed
	 * yet refers to blobs that nothing else does. 0: everything unreferenced. */
	unsigned min_age_s;
};

/* Removes what no kernel refers to, and parts that nobody is putting. Both counts may be NULL. */
int artifact_blobs_remove_unreferenced(struct artifact_blobs *b, const struct artifact_removal *r,
				       size_t *ret_n, uint64_t *ret_bytes, struct kg_err *err);

#endif
