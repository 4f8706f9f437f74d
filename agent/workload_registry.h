/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The workloads that are installed here: declarations, and whether their programs are. */
#ifndef KG_AGENT_WORKLOAD_REGISTRY_H
#define KG_AGENT_WORKLOAD_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/digests.h"
#include "common/err.h"
#include "common/sha256.h"
#include "common/workload.h"

/* Where programs of workloads are looked for, whatever the agent's own environment says. */
#define WORKLOAD_PATH		 "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define WORKLOAD_DECLARATION_MAX 65536

struct workload_entry {
	char *name;
	char *path;			      /* of the declaration */
	char digest[KG_SHA256_HEX_SIZE];      /* "" when the declaration cannot be read */
	char text_digest[KG_SHA256_HEX_SIZE]; /* of the declaration alone, as `digest` has it */
	char *missing;			      /* why it cannot run here; NULL: it can */
	char *program;			      /* the command's name without folder; NULL: unknown */
	struct kg_texts paths; /* full paths of its programs; items[n] is NULL, items may be */
	struct kg_texts version_command;
	char *version; /* what the program says of itself; NULL: not asked, or no answer */
};

struct workload_registry {
	struct workload_entry *items; /* sorted by name */
	size_t n;
};

/* Reads all *.yaml in `dir`. A declaration with an error is an entry with `missing`. `path` is a
 * list like WORKLOAD_PATH. */
int workload_registry_load(const char *dir, const char *path, struct digests *d,
			   struct workload_registry *ret_r, struct kg_err *err);
void workload_registry_deinit(struct workload_registry *r);
const struct workload_entry *workload_registry_find(const struct workload_registry *r,
						    const char *name);
/* Text of a declaration, owned (free). KG_ESTATE: it is no longer the one that `digest` tells of. */
int workload_declaration(const struct workload_entry *e, char **ret_text, size_t *ret_len,
			 struct kg_err *err);

/* Asks each available workload's program for its version, where the declaration says how. Answers
 * are kept in the file `notes` by the workload's digest, so a program is asked once in its life. */
void workload_versions_read(struct workload_registry *r, const char *path, const char *notes);

/* Full name of a program, owned (free); NULL when it is not in `path`. Names with '/' must be
 * absolute. */
char *workload_find_program(const char *name, const char *path);

#endif
