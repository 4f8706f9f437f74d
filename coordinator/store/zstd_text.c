/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/store/zstd_text.h"

#include <errno.h>
#include <stdlib.h>

#include <zstd.h>

int zstd_text(const void *stored, size_t stored_bytes, size_t text_bytes, char **ret_text,
	      struct kg_err *err)
{
	ZSTD_DCtx *ctx;
	char *text;
	size_t n;

	if (text_bytes > ZSTD_TEXT_MAX)
		return kg_err_set(err, KG_EINVALID, "a text of %zu bytes, more than %u", text_bytes,
				  ZSTD_TEXT_MAX);
	if (text_bytes > 65536 && text_bytes / ZSTD_TEXT_RATIO > stored_bytes)
		return kg_err_set(err, KG_EINVALID, "%zu bytes that are to become %zu",
				  stored_bytes, text_bytes);
	text = malloc(text_bytes + 1);
	ctx = ZSTD_createDCtx();
	if (!text || !ctx) {
		(void)ZSTD_freeDCtx(ctx);
		free(text);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	/* Never writes behind text_bytes: a longer text is an error of zstd's. */
	n = ZSTD_decompressDCtx(ctx, text, text_bytes, stored, stored_bytes);
	(void)ZSTD_freeDCtx(ctx);
	if (ZSTD_isError(n) || n != text_bytes) {
		free(text);
		if (ZSTD_isError(n))
			return kg_err_set(err, KG_EINVALID, "zstd: %s", ZSTD_getErrorName(n));
		return kg_err_set(err, KG_EINVALID, "a text of %zu bytes, not %zu", n, text_bytes);
	}
	text[n] = '\0';
	*ret_text = text;
	return 0;
}
