/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packs a kernel for the coordinator: finds image, configuration and modules in a package or a
 * folder, makes the manifest, and keeps the content readable by digest.
 *
 * Sources
 *   a .deb            linux-image-* of Debian and alike. Several together where a distribution
 *                     splits a kernel (Ubuntu: linux-image, linux-modules, linux-modules-extra).
 *   a folder          an unpacked package root: boot/vmlinuz-REL, boot/config-REL and
 *                     [usr/]lib/modules/REL/, or all in [usr/]lib/modules/REL/ ;
 *                     or vmlinuz, config, System.map beside modules/ ;
 *                     or a folder like /lib/modules/REL that holds vmlinuz and config
 *   single files      vmlinuz, config, the modules folder, System.map
 *
 * What becomes part of a kernel: image, configuration, System.map, *.ko[.xz|.zst|.gz], modules.order,
 * modules.builtin, modules.builtin.modinfo, and modules.dep, which is made from the modules
 * themselves. All with mode 0644. Other files (documentation, depmod's indexes, vdso) do not count.
 * So a package and the same kernel installed have the same digest.
 *
 * The content is copied to an unnamed temporary file ($TMPDIR, else /var/tmp) that is gone with the
 * process; what is sent is what was hashed, whatever happens to the source meanwhile.
 */
#ifndef KG_CLI_KERNEL_PACK_H
#define KG_CLI_KERNEL_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/artifact/manifest.h"

struct kernel_pack; /* opaque */

/* All strings are borrowed; zero-initialise, then set either `paths` or the single files. */
struct kernel_pack_source {
	const char *const *paths; /* packages and folders */
	size_t n_paths;
	const char *vmlinuz;	/* file */
	const char *config;	/* file */
	const char *modules;	/* folder: lib/modules/REL, or a root that holds one */
	const char *system_map; /* file; NULL: none */
	const char *release;	/* takes this one where a folder has several; NULL: exactly one */
};

/* Owned, kernel_pack_free. KG_EINVALID with a text that names the source: not a package, truncated,
 * no kernel image, several releases, an unsafe path, ... KG_ELIMIT: over a cap. */
int kernel_pack_open(const struct kernel_pack_source *source, struct kernel_pack **ret_pack,
		     struct kg_err *err);
void kernel_pack_free(struct kernel_pack *p); /* NULL is fine */

const char *kernel_pack_text(const struct kernel_pack *p, size_t *ret_len); /* manifest; borrows */
const char *kernel_pack_digest(const struct kernel_pack *p); /* the kernel's identity; borrows */
/* Release, files, sizes; borrows. */
const struct artifact_manifest *kernel_pack_manifest(const struct kernel_pack *p);
/* Lines worth telling the user ("module 'x' depends on 'y', which is not there"); "" when none. */
const char *kernel_pack_warnings(const struct kernel_pack *p);

/* Reads the content of one digest, up to `max` bytes from `offset`; 0 bytes at the end.
 * KG_ENOTFOUND when the pack has no such content. */
int kernel_pack_read(const struct kernel_pack *p, const char *digest, uint64_t offset, void *buf,
		     size_t max, size_t *ret_len, struct kg_err *err);

#endif
