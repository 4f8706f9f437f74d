/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernel modules need: read from the modules themselves, written as modules.dep. */
#ifndef KG_CLI_PACK_MODINFO_H
#define KG_CLI_PACK_MODINFO_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/str.h"

#define PACK_MODULE_MAX (256ull << 20) /* bytes of an unpacked module */

/* The `depends=` entry ("a,b") of a module's .modinfo section, "" when it has none, and the release of
 * its `vermagic=` ("" when it has none; `ret_release` may be NULL). `bytes` may be compressed (gzip,
 * xz, zstd). `ret_depends` is owned (free). KG_EINVALID: not a module. */
int pack_module_info(const void *bytes, size_t len, char **ret_depends, char *ret_release,
		     size_t size, struct kg_err *err);

struct pack_module {
	const char *path;    /* below lib/modules/REL: "kernel/fs/ext4/ext4.ko.xz" */
	const char *depends; /* "mbcache,jbd2" */
};

struct pack_depend_input {
	const struct pack_module *modules; /* sorted by path */
	size_t n;
	const char *order;   /* text of modules.order, "" when there is none */
	const char *builtin; /* text of modules.builtin, "" when there is none */
};

/*
 * Appends modules.dep as depmod(8) writes it: a line per module, in modules.order's order, the rest
 * by path; behind the colon everything it needs, directly or not, such that each stands left of what
 * it needs itself (load from right to left). What is needed and neither a module here nor built in
 * is left out, with a line in `warnings`. KG_EINVALID: modules need each other in a circle.
 */
int pack_depend(const struct pack_depend_input *in, struct kg_str *out, struct kg_str *warnings,
		struct kg_err *err);

#endif
