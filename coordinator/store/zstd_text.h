/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts out of their zstd form, within bounds: what comes from a machine may be made to hurt. */
#ifndef KG_COORDINATOR_STORE_ZSTD_TEXT_H
#define KG_COORDINATOR_STORE_ZSTD_TEXT_H

#include <stddef.h>

#include "common/err.h"

#define ZSTD_TEXT_MAX	(64U << 20) /* bytes of a text */
#define ZSTD_TEXT_RATIO 1024U	    /* text over stored form, beyond the first 64 KiB */

/* Owned (free), `text_bytes` long with a NUL behind. KG_EINVALID: not zstd, of another length, or over
 * a bound; -ENOMEM. */
int zstd_text(const void *stored, size_t stored_bytes, size_t text_bytes, char **ret_text,
	      struct kg_err *err);

#endif
