/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fetches what a boot needs of a kernel artifact into the cache: the manifest, the image, and,
 * for an overlay, the modules named by the machine's policy with all that they depend on.
 * No libuv: it asks through a callback and is told of the answers, so that tests need no network.
 *
 *   MANIFEST -> INDEX (image, modules.dep, modules.builtin) -> MODULES -> done
 *
 * Happy path: one request at a time, answered by chunks of at most 256 KiB in order; a file is
 * renamed into place when its SHA-256 is right.
 * Failure modes: the connection breaks (boot_fetch_resume asks again from where the .part file
 * ends); the coordinator does not have a blob; a file's digest is wrong (fetched again once); the
 * disk is full.
 */
#ifndef KG_AGENT_BOOT_FETCH_H
#define KG_AGENT_BOOT_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/boot_manifest.h"
#include "common/err.h"
#include "common/yaml.h"

#define BOOT_CHUNK_BYTES (256 * 1024)

struct boot_fetch; /* opaque */

struct boot_artifact { /* what was fetched; all owned by the fetch */
	const struct boot_manifest *manifest;
	const struct kg_texts *modules; /* in load order, relative to lib/modules/RELEASE/ */
};

struct boot_fetch_ops {
	void (*request)(void *data, const char *digest, uint64_t offset, uint32_t max_bytes);
	/* Exactly once: code 0, or what went wrong. */
	void (*done)(void *data, int code, const char *reason);
};

/* Copies its arguments. With `modules` NULL (policy none) only manifest and image are fetched. */
struct boot_fetch *boot_fetch_new(const char *cache_dir, const char *kernel_digest,
				  const struct kg_texts *modules, const struct boot_fetch_ops *ops,
				  void *data);
void boot_fetch_free(struct boot_fetch *f);
/* Starts, or goes on after a reconnect. */
void boot_fetch_resume(struct boot_fetch *f);
/* An answer. Chunks that were not asked for are ignored. */
void boot_fetch_chunk(struct boot_fetch *f, const char *digest, uint64_t offset,
		      uint64_t total_bytes, const uint8_t *bytes, size_t len);
void boot_fetch_refused(struct boot_fetch *f, int code, const char *text);
/* Valid once done(0) was called. */
void boot_fetch_artifact(const struct boot_fetch *f, struct boot_artifact *ret_a);

#endif
