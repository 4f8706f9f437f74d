/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small well-formed pieces of kernels, and folders to put them in. Failures fail the test. */
#ifndef KG_TESTS_ARTIFACT_SAMPLE_H
#define KG_TESTS_ARTIFACT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct sample_bytes {
	uint8_t *bytes; /* owned (free) */
	size_t len;
};

enum sample_filter {
	SAMPLE_GZIP,
	SAMPLE_XZ,
	SAMPLE_ZSTD,
	SAMPLE_LZ4,
	SAMPLE_BZIP2,
	SAMPLE_PLAIN,
	SAMPLE_FILTERS = SAMPLE_PLAIN,
};

struct sample_bytes sample_compress(enum sample_filter filter, const void *bytes, size_t len);
/* An x86-64 ELF file whose PT_NOTE holds a Xen note and then a build id of 20 times `id`. */
struct sample_bytes sample_vmlinux(uint8_t id);
/* A bzImage of that release around `payload` (the size trailer is added, except for gzip). */
struct sample_bytes sample_image(const char *release, enum sample_filter filter,
				 const struct sample_bytes *payload);
/* The two in one. */
struct sample_bytes sample_kernel(const char *release, enum sample_filter filter, uint8_t id);
/* A relocatable ELF file with .modinfo "name=..." "depends=...". */
struct sample_bytes sample_module(const char *name, const char *depends);
/* The same, with the "vermagic=" of a release. */
struct sample_bytes sample_module_for(const char *release, const char *name, const char *depends);

#define SAMPLE_CONFIG                                                              \
	"#\n# Linux/x86 6.1.0 Kernel Configuration\n#\nCONFIG_X86_64=y\n"          \
	"CONFIG_MODULES=y\n# CONFIG_SECURITY_SMACK is not set\nCONFIG_LSM=\"yama," \
	"apparmor\"\n"

/* A new folder below $TMPDIR, else /tmp; removed by sample_remove, which frees the name too. */
char *sample_folder(void);
void sample_remove(char *folder);
/* Writes a file below a folder, making folders on the way. */
void sample_write(const char *folder, const char *path, const void *bytes, size_t len);

#endif
