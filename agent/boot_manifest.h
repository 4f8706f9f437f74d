/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel artifact as the agent reads it: the manifest and the order of its modules. PURE. */
#ifndef KG_AGENT_BOOT_MANIFEST_H
#define KG_AGENT_BOOT_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/yaml.h"

#define BOOT_MANIFEST_MAX_BYTES (16U * 1024 * 1024)

struct boot_file {
	const char *digest; /* borrows from the manifest's text */
	const char *path;
	uint64_t size_bytes;
	unsigned mode;
};

struct boot_manifest {
	char *text;		 /* owned, cut into pieces */
	struct boot_file *files; /* owned */
	size_t n;
	const char *release;
};

/* `text` need not be NUL-terminated. KG_EVERSION for another format, KG_EINVALID otherwise; paths
 * with '..', a leading '/', or out of order are refused. */
int boot_manifest_parse(const char *text, size_t len, struct boot_manifest *ret_m,
			struct kg_err *err);
void boot_manifest_deinit(struct boot_manifest *m);
/* NULL when there is no such path. */
const struct boot_file *boot_manifest_find(const struct boot_manifest *m, const char *path);

/* Files to load for the modules `names`, in load order, relative to lib/modules/RELEASE/, from the
 * texts of modules.dep and modules.builtin (both NUL-terminated). A name that is neither is an
 * error that names it. Names fit with '-' for '_'. ret_order is owned (kg_texts_deinit). */
int boot_modules_order(const char *dep, const char *builtin, const struct kg_texts *names,
		       struct kg_texts *ret_order, struct kg_err *err);

#endif
