/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a Linux x86 boot image (bzImage) says about itself. The image is untrusted: every offset in
 * it is checked. Format: Documentation/arch/x86/boot.rst (setup header at 0x1f1, magic "HdrS" at
 * 0x202, version string at the 16-bit value at 0x20e plus 0x200, compressed payload from protocol
 * 2.08 on at 0x248/0x24c). The payload is an ELF file compressed by gzip, xz, lzma, bzip2, zstd or
 * lz4; the build id is the GNU note (type 3) in its PT_NOTE segment.
 */
#ifndef KG_ARTIFACT_IMAGE_H
#define KG_ARTIFACT_IMAGE_H

#include <stddef.h>

#include "common/err.h"
#include "coordinator/artifact/manifest.h"

#define ARTIFACT_IMAGE_MAX    (256u << 20)   /* bytes of an image */
#define ARTIFACT_PAYLOAD_MAX  (512ull << 20) /* bytes looked at after decompression */
#define ARTIFACT_BUILD_ID_MAX 64u	     /* hex digits; 40 with the usual SHA-1 */
#define ARTIFACT_VERSION_MAX  511u

struct artifact_image {
	char release[ARTIFACT_RELEASE_MAX + 1];	  /* "6.12.117+deb12-cloud-amd64" */
	char version[ARTIFACT_VERSION_MAX + 1];	  /* release, builder, "#1 SMP ..." */
	char build_id[ARTIFACT_BUILD_ID_MAX + 1]; /* lower-case hex; "" when the kernel has none */
	unsigned protocol;			  /* boot protocol, 0x20f for 2.15 */
};

/* Header only: release, version and protocol; build_id is "". Microseconds. KG_EINVALID: not a
 * kernel image, with the reason. */
int artifact_image_header(const void *bytes, size_t len, struct artifact_image *ret_image,
			  struct kg_err *err);
/* Header and build id. Decompresses most of the kernel (about a second for xz), so not for an event
 * loop; needs little memory, has no global state. */
int artifact_image_inspect(const void *bytes, size_t len, struct artifact_image *ret_image,
			   struct kg_err *err);
int artifact_image_inspect_file(const char *path, struct artifact_image *ret_image,
				struct kg_err *err);

#endif
