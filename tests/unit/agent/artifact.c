/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "artifact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add(struct artifact *a, const char *path, const void *bytes, size_t len)
{
	struct artifact_blob *b = &a->blobs[a->n++];

	b->path = path;
	b->len = len;
	b->bytes = malloc(len + 1);
	assert_non_null(b->bytes);
	memcpy(b->bytes, bytes, len);
	assert_int_equal(kg_sha256_bytes(bytes, len, b->digest), 0);
}

static void add_text(struct artifact *a, const char *path, const char *text)
{
	add(a, path, text, strlen(text));
}

void artifact_make(struct artifact *a)
{
	uint8_t *image = malloc(600000);
	struct kg_str manifest = {0};
	struct artifact_blob *b;
	size_t i;

	assert_non_null(image);
	for (i = 0; i < 600000; i++)
		image[i] = (uint8_t)(i * 7 + i / 255);
	a->n = 1;
	/* in the order of their paths, as a manifest has them */
	add_text(a, "modules/kernel/a.ko", "module a");
	add_text(a, "modules/kernel/net/b.ko", "module b is longer");
	add_text(a, "modules/modules.builtin", "kernel/fs/ext4.ko\n");
	add_text(a, "modules/modules.dep", "kernel/a.ko:\nkernel/net/b.ko: kernel/a.ko\n");
	add(a, "vmlinuz", image, 600000);
	free(image);
	kg_str_add(&manifest, "kgrid-kernel 1\nrelease 6.1-test\n");
	for (i = 1; i < a->n; i++)
		kg_str_addf(&manifest, "file %s %zu 644 %s\n", a->blobs[i].digest, a->blobs[i].len,
			    a->blobs[i].path);
	b = &a->blobs[0];
	b->path = NULL;
	b->len = manifest.len;
	b->bytes = (uint8_t *)kg_str_take(&manifest);
	assert_int_equal(kg_sha256_bytes(b->bytes, b->len, b->digest), 0);
}

void artifact_free(struct artifact *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		free(a->blobs[i].bytes);
}

const struct artifact_blob *artifact_find(const struct artifact *a, const char *digest)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (strcmp(a->blobs[i].digest, digest) == 0)
			return &a->blobs[i];
	return NULL;
}
