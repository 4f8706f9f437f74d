/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initial image by policy 'overlay': the machine's base image, padding to four bytes, and a
 * cpio archive with the modules that the machine needs and kgrid.order, their load order. */
#ifndef KG_AGENT_BOOT_INITRD_H
#define KG_AGENT_BOOT_INITRD_H

#include "agent/boot_fetch.h"
#include "agent/cache.h"
#include "agent/digests.h"
#include "common/err.h"

/* Makes the image in the cache unless it is there: one per kernel, module list and base image. */
int boot_initrd_make(const char *cache_dir, const char *kernel_digest, const char *base,
		     const struct boot_artifact *a, struct digests *d,
		     char ret_path[CACHE_PATH_SIZE], struct kg_err *err);
/* Only the archive of modules, to fd, whose position is a multiple of four. */
int boot_initrd_write_overlay(int fd, const char *cache_dir, const struct boot_artifact *a,
			      struct kg_err *err);

#endif
