/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An unnamed temporary file that content is appended to; gone with the process. */
#ifndef KG_CLI_PACK_SPOOL_H
#define KG_CLI_PACK_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct pack_spool {
	int fd;
	uint64_t len;
};

/* In $TMPDIR, else /var/tmp. */
int pack_spool_init(struct pack_spool *s, struct kg_err *err);
void pack_spool_deinit(struct pack_spool *s);
int pack_spool_append(struct pack_spool *s, const void *bytes, size_t len, struct kg_err *err);
/* Reads exactly `len` bytes. */
int pack_spool_read(const struct pack_spool *s, uint64_t offset, void *buf, size_t len,
		    struct kg_err *err);

#endif
