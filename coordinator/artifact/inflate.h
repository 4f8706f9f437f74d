/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One compressed stream in memory, unpacked piece by piece (libarchive's raw format). The format is
 * recognised: gzip, xz, lzma, bzip2, zstd, lz4; no program is ever run for it. */
#ifndef KG_ARTIFACT_INFLATE_H
#define KG_ARTIFACT_INFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct artifact_inflate; /* opaque */

/* Borrows the bytes until it is freed. At most `max_bytes` are unpacked. Owned,
 * artifact_inflate_free. KG_EINVALID when the bytes are of no known format. */
int artifact_inflate_open(const void *bytes, size_t len, uint64_t max_bytes,
			  struct artifact_inflate **ret_i, struct kg_err *err);
void artifact_inflate_free(struct artifact_inflate *i);

/* Fills `buf` with the next `len` bytes; fewer only at the end. KG_EINVALID when the stream is
 * damaged, KG_ELIMIT beyond max_bytes. */
int artifact_inflate_read(struct artifact_inflate *i, void *buf, size_t len, size_t *ret_len,
			  struct kg_err *err);
/* Moves on to an absolute position at or behind the current one; KG_EINVALID when the stream ends
 * before. */
int artifact_inflate_seek(struct artifact_inflate *i, uint64_t pos, struct kg_err *err);

/* Everything at once, at most `max_bytes`. `ret_bytes` is owned (free). */
int artifact_inflate_all(const void *bytes, size_t len, uint64_t max_bytes, void **ret_bytes,
			 size_t *ret_len, struct kg_err *err);

#endif
