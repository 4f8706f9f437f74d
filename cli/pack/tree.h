/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found in the sources of a kernel: for each file that belongs to one, where it came from,
 * which release it is for, its path in the manifest and where its content is in the spool.
 */
#ifndef KG_CLI_PACK_TREE_H
#define KG_CLI_PACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/pack/spool.h"
#include "coordinator/artifact/manifest.h"

#define PACK_PATH_MAX	  1024 /* of a path inside a source */
#define PACK_RELEASES_MAX 16

struct pack_place {
	const char *source;  /* path inside the source, "lib/modules/REL/kernel/x.ko" */
	const char *path;    /* path in the manifest, "modules/kernel/x.ko" */
	const char *release; /* that it is for; "" when its place does not say */
};

struct pack_entry {
	char *source; /* owned; these three as above */
	char *path;   /* owned */
	char release[ARTIFACT_RELEASE_MAX + 1];
	char *link; /* owned: the content is that of this source path; NULL: it is our own */
	char digest[KG_SHA256_HEX_SIZE];
	uint64_t offset; /* in the spool */
	uint64_t size_bytes;
};

struct pack_tree {
	struct pack_spool *spool; /* borrowed */
	const char *only_release; /* borrowed; NULL: any */
	struct pack_entry *entries;
	size_t n;
	/* Releases that have an image or a module, in the order seen. Only content of the wanted
	 * one, else of the first, is taken. */
	char releases[PACK_RELEASES_MAX][ARTIFACT_RELEASE_MAX + 1];
	size_t n_releases;
};

void pack_tree_deinit(struct pack_tree *t);

/* Where a file of a package root belongs: false when it is not part of a kernel. */
bool pack_map(const char *source, char ret_release[ARTIFACT_RELEASE_MAX + 1],
	      char ret_path[PACK_PATH_MAX]);
/* Same for a file below lib/modules/REL: `below` is "kernel/x.ko". */
bool pack_map_module(const char *below, char ret_path[PACK_PATH_MAX]);

/* Path inside an archive without "./" in front and "/" behind; "" for the root. KG_EINVALID with
 * the reason when it is absolute, has "..", "." or empty components, or is too long. */
int pack_clean_path(const char *raw, char ret_path[PACK_PATH_MAX], struct kg_err *err);
/* Where a symbolic link at `source` points to, as a path inside the source. False when it leaves
 * it. */
bool pack_link_target(const char *source, const char *target, char ret_path[PACK_PATH_MAX]);
/* Whether the source path lies in lib/modules/REL/ or usr/lib/modules/REL/, and not at build or
 * source there, which point to where a kernel was built. */
bool pack_in_modules(const char *source);

/* Whether a file is wanted: not when it is for another release. Notes the release when the file is
 * an image or a module. */
bool pack_tree_wants(struct pack_tree *t, const struct pack_place *place);

struct pack_content {
	/* Next bytes, 0 at the end. */
	int (*read)(void *ctx, void *buf, size_t max, size_t *ret_len, struct kg_err *err);
	void *ctx;
};

/* Takes a file: copies its content to the spool. */
int pack_tree_add(struct pack_tree *t, const struct pack_place *place,
		  const struct pack_content *content, struct kg_err *err);
/* Takes a file whose content is that of another source path. */
int pack_tree_add_link(struct pack_tree *t, const struct pack_place *place, const char *link,
		       struct kg_err *err);
/* Gives links their content, sorts by path, and drops equal duplicates. */
int pack_tree_finish(struct pack_tree *t, struct kg_err *err);
/* Entry at a manifest path; NULL when there is none. After pack_tree_finish. Borrows. */
const struct pack_entry *pack_tree_find(const struct pack_tree *t, const char *path);
/* The content of an entry with a NUL behind it. KG_ELIMIT over `max`. Owned (free). */
int pack_tree_content(const struct pack_tree *t, const struct pack_entry *e, uint64_t max,
		      char **ret_bytes, struct kg_err *err);

#endif
