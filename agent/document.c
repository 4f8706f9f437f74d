/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "common/err.h"

#define LEVEL	   3
#define WINDOW_LOG 18 /* bounds the memory of both ends to a few MiB */

struct document_writer {
	ZSTD_CCtx *zstd;
	struct kg_sha256 *sha;
	uint8_t *out;
	size_t len, cap;
	uint64_t text_bytes;
	int code;
};

void document_list_deinit(struct document_list *l)
{
	while (l->n > 0)
		free(l->items[--l->n].stored);
}

static void free_writer(struct document_writer *w)
{
	ZSTD_freeCCtx(w->zstd);
	kg_sha256_free(w->sha);
	free(w->out);
	free(w);
}

struct document_writer *document_begin(void)
{
	struct document_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->zstd = ZSTD_createCCtx();
	w->sha = kg_sha256_new();
	if (!w->zstd || !w->sha ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_windowLog, WINDOW_LOG)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1))) {
		free_writer(w);
		return NULL;
	}
	return w;
}

static bool make_room(struct document_writer *w)
{
	size_t cap = w->cap ? 2 * w->cap : 64 * 1024;
	uint8_t *out;

	if (w->len < w->cap)
		return true;
	if (cap > DOCUMENT_STORED_MAX) {
		w->code = KG_ELIMIT;
		return false;
	}
	out = realloc(w->out, cap);
	if (!out) {
		w->code = -ENOMEM;
		return false;
	}
	w->out = out;
	w->cap = cap;
	return true;
}

static void compress(struct document_writer *w, const void *bytes, size_t len,
		     ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {bytes, len, 0};
	size_t left;

	do {
		ZSTD_outBuffer out;

		if (!make_room(w))
			return;
		out = (ZSTD_outBuffer){w->out, w->cap, w->len};
		left = ZSTD_compressStream2(w->zstd, &out, &in, end);
		w->len = out.pos;
		if (ZSTD_isError(left)) {
			w->code = -ENOMEM; /* nothing else can fail with these parameters */
			return;
		}
	} while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
}

void document_add(struct document_writer *w, const void *bytes, size_t len)
{
	if (w->code < 0 || len == 0)
		return;
	if (w->text_bytes + len > DOCUMENT_TEXT_MAX) {
		w->code = KG_ELIMIT;
		return;
	}
	w->text_bytes += len;
	kg_sha256_update(w->sha, bytes, len);
	compress(w, bytes, len, ZSTD_e_continue);
}

int document_end(struct document_writer *w, const char *name, bool keep, struct document_list *l)
{
	struct document *d = &l->items[l->n];
	int rc = w->code;

	if (rc == 0 && (!keep || w->text_bytes == 0))
		rc = KG_ENODATA;
	if (rc == 0 && l->n == sizeof(l->items) / sizeof(l->items[0]))
		rc = KG_ELIMIT;
	if (rc == 0) {
		compress(w, NULL, 0, ZSTD_e_end);
		rc = w->code;
	}
	if (rc == 0) {
		kg_sha256_final(w->sha, d->digest);
		d->name = name;
		d->text_bytes = w->text_bytes;
		d->stored = w->out;
		d->stored_len = w->len;
		w->out = NULL;
		l->n++;
	}
	free_writer(w);
	return rc;
}
