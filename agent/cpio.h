/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a cpio archive in the newc format, as the kernel unpacks it (Documentation/driver-api/
 * early-userspace/buffer-format.rst). The same content gives the same bytes: no times, no owners,
 * inode numbers from 1. */
#ifndef KG_AGENT_CPIO_H
#define KG_AGENT_CPIO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

struct cpio {
	int fd; /* borrows */
	uint64_t written;
	uint32_t next_inode;
};

/* What is written before the archive must be a multiple of four bytes. */
void cpio_init(struct cpio *c, int fd);
int cpio_add_dir(struct cpio *c, const char *path, struct kg_err *err);
int cpio_add_bytes(struct cpio *c, const char *path, mode_t mode, const void *bytes, size_t len,
		   struct kg_err *err);
/* From a file; its size must be the one given. */
int cpio_add_file(struct cpio *c, const char *path, mode_t mode, const char *from,
		  uint64_t size_bytes, struct kg_err *err);
int cpio_end(struct cpio *c, struct kg_err *err);
/* Copies a file in pieces; returns what was copied. */
int cpio_copy_file(int fd, const char *from, uint64_t *ret_bytes, struct kg_err *err);

#endif
