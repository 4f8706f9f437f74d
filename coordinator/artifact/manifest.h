/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The manifest of a kernel: which files it has, by content. The SHA-256 of its text is the kernel's
 * identity, so there is exactly one way to write a given kernel and everything else is refused.
 * Pure.
 *
 *   kgrid-kernel 1
 *   release 6.12.117+deb12-cloud-amd64
 *   file <sha256> <size in bytes> <mode, octal> <path>
 *   file ...
 *
 * LF ends every line, single spaces separate, numbers have no leading zeros, files are sorted by
 * path (strcmp) and unique. Paths: `vmlinuz` and `config` always, `System.map` and `initrd`
 * optionally, `modules/<path below lib/modules/RELEASE/>`; printable ASCII without spaces, relative,
 * no empty, "." or ".." component, and no path that is a folder of another.
 */
#ifndef KG_ARTIFACT_MANIFEST_H
#define KG_ARTIFACT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/sha256.h"
#include "common/str.h"

#define ARTIFACT_MANIFEST_MAX (8u << 20) /* bytes of text */
/* What fits into one frame (1 MiB) beside the rest of the message; `kgrid kernel add` refuses
 * larger ones. A Debian cloud kernel needs about 160 KiB, a full one about 650 KiB. */
#define ARTIFACT_MANIFEST_SEND_MAX (1000u << 10)
#define ARTIFACT_FILES_MAX	   20000u
#define ARTIFACT_FILE_MAX	   (1ull << 30) /* bytes of one file */
#define ARTIFACT_TOTAL_MAX	   (4ull << 30) /* bytes of all files */
#define ARTIFACT_PATH_MAX	   255u		/* characters of a path */
#define ARTIFACT_RELEASE_MAX	   64u		/* characters: what uname(2) can hold */

struct artifact_file {
	char digest[KG_SHA256_HEX_SIZE];
	uint64_t size_bytes;
	uint32_t mode; /* 0 .. 0777 */
	char *path;    /* owned */
};

struct artifact_manifest {
	char release[ARTIFACT_RELEASE_MAX + 1];
	struct artifact_file *files; /* owned, sorted by path */
	size_t n;
	uint64_t size_bytes; /* of all files */
};

/* Parses and checks a text. KG_EINVALID with "line N: reason", KG_EVERSION for another version,
 * KG_ELIMIT over a cap. */
int artifact_manifest_parse(const char *text, size_t len, struct artifact_manifest *ret_m,
			    struct kg_err *err);
void artifact_manifest_deinit(struct artifact_manifest *m);

/* Adds a file in any order (a copy); artifact_manifest_write sorts. -ENOMEM or KG_ELIMIT. */
int artifact_manifest_add(struct artifact_manifest *m, const struct artifact_file *file,
			  struct kg_err *err);
/* Sorts the files, checks everything that parsing checks, and appends the text to `out`. */
int artifact_manifest_write(struct artifact_manifest *m, struct kg_str *out, struct kg_err *err);

/* Identity of a manifest text. */
int artifact_manifest_digest(const char *text, size_t len, char ret_hex[KG_SHA256_HEX_SIZE]);

/* File at a path; NULL when there is none. Borrows. The manifest must be sorted (parsed or
 * written). */
const struct artifact_file *artifact_manifest_find(const struct artifact_manifest *m,
						   const char *path);
/* First file with that content; NULL when there is none. Linear. */
const struct artifact_file *artifact_manifest_find_digest(const struct artifact_manifest *m,
							  const char *digest);
/* Whether there is a module (modules/<...>.ko, .ko.xz, .ko.zst, .ko.gz). */
bool artifact_manifest_has_modules(const struct artifact_manifest *m);

/* NULL when the path may stand in a manifest, else the reason ("has a '..' component"). */
const char *artifact_path_problem(const char *path);
bool artifact_path_is_module(const char *path); /* ends in .ko, .ko.xz, .ko.zst or .ko.gz */
/* A release as uname(2) gives it: 1..64 of [A-Za-z0-9._+~-], starting with a letter or digit. */
bool artifact_release_valid(const char *release);

#endif
