/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small made-up kernel artifact for the tests of fetching and packing. */
#ifndef KG_TESTS_AGENT_ARTIFACT_H
#define KG_TESTS_AGENT_ARTIFACT_H

#include <stddef.h>
#include <stdint.h>

#include "common/sha256.h"
#include "common/str.h"

struct artifact_blob {
	char digest[KG_SHA256_HEX_SIZE];
	const char *path; /* NULL: the manifest */
	uint8_t *bytes;
	size_t len;
};

struct artifact {
	struct artifact_blob blobs[8]; /* [0]: the manifest */
	size_t n;
};

/* Release 6.1-test with an image of 600,000 bytes and two modules, b needing a. */
void artifact_make(struct artifact *a);
void artifact_free(struct artifact *a);
const struct artifact_blob *artifact_find(const struct artifact *a, const char *digest);

#endif
