/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tiny, well-formed kernel for tests that need one in the store and never boot it: a bzImage header
 * with a gzip payload that is an ELF file with a build id, a config, and no modules. */
#ifndef KG_TESTS_SYNTHETIC_KERNEL_H
#define KG_TESTS_SYNTHETIC_KERNEL_H

#include "tests/lib/peer.h"

/* Adds it through a client connection; `salt` makes builds of the same release differ. Copies the
 * digest. */
void synthetic_kernel_add(struct peer *client, const char *label, const char *release,
			  const char *salt, char ret_digest[65]);
/* Writes it into a folder, as vmlinuz and config, with so many bytes behind the image. */
void synthetic_kernel_write(const char *dir, const char *release, const char *salt, size_t padding);

#endif
