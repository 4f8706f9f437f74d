/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stored kernel, read from its own blobs: what the coordinator believes about a kernel comes from
 * here and not from whoever sent it.
 */
#ifndef KG_ARTIFACT_KERNEL_H
#define KG_ARTIFACT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/artifact/blob.h"
#include "coordinator/artifact/image.h"

#define ARTIFACT_CONFIG_MAX (4u << 20) /* bytes of a kernel configuration */

struct artifact_kernel {
	char digest[KG_SHA256_HEX_SIZE]; /* of the manifest: the kernel's identity */
	struct artifact_image image;	 /* release, version, build id */
	char config_digest[KG_SHA256_HEX_SIZE];
	char *config; /* owned: the text, NUL-terminated */
	size_t config_len;
	size_t files;
	uint64_t size_bytes;
	struct artifact_manifest manifest; /* owned */
};

/*
 * Checks a manifest against the blobs and reads the kernel. All blobs must be there and settled
 * (artifact_blobs_settle) with the sizes of the manifest; their content was verified when they were
 * put. Refused: another release in the image than in the manifest, an image that is none, no
 * config, a config that is none, no modules although the config has CONFIG_MODULES.
 * KG_ENOTFOUND: a blob is missing. Takes about a second (see artifact_image_inspect): call it from
 * a worker thread; it only reads and may run beside puts.
 */
int artifact_kernel_open(const struct artifact_blobs *b, const char *manifest, size_t len,
			 struct artifact_kernel *ret_kernel, struct kg_err *err);
/* The same for a kernel that was opened before, when `build_id` ("" or NULL: none) was found in it:
 * blobs are named by their content, so it is not looked for again. Milliseconds. */
int artifact_kernel_reopen(const struct artifact_blobs *b, const char *manifest, size_t len,
			   const char *build_id, struct artifact_kernel *ret_kernel,
			   struct kg_err *err);
void artifact_kernel_deinit(struct artifact_kernel *k);

/* The value of CONFIG_NAME in a configuration: "y", "m", text without its quotes, or "" with false
 * when it is not set. Also false when it does not fit. */
bool artifact_config_value(const char *config, const char *name, char *ret_value, size_t size);

#endif
