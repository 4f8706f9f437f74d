/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debian packages made in the test. */
#ifndef KG_TESTS_PACK_DEB_H
#define KG_TESTS_PACK_DEB_H

#include <stddef.h>
#include <stdint.h>

#include "tests/unit/artifact/sample.h"

struct member {
	const char *path;   /* as it stands in the archive; "./" goes in front unless `raw` */
	const void *bytes;  /* content of a regular file */
	size_t len;	    /* of the content */
	uint64_t size;	    /* that the header says, and zeros up to it; 0: len */
	const char *link;   /* target of a symbolic link; NULL: none */
	const char *hard;   /* target of a hard link; NULL: none */
	unsigned file_type; /* AE_IF*; 0: regular, or what `link` says */
	int raw;
};

/* A data.tar of the members (up to one without a path), compressed. Owned (free the bytes). */
struct sample_bytes deb_tar(const struct member *members, enum sample_filter filter);
/* A package around a data.tar. Owned. */
struct sample_bytes deb_around(const struct sample_bytes *tar, const char *data_name);
/* The two in one, with xz. */
struct sample_bytes deb_make(const struct member *members);

#endif
