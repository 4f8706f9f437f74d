/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A long text of provenance: its digest, and its zstd form (RFC 8878), made as the text comes in,
 * so that only the compressed form is ever held whole.
 */
#ifndef KG_AGENT_DOCUMENT_H
#define KG_AGENT_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/sha256.h"

#define DOCUMENT_PIECE_BYTES (256 * 1024)	 /* of one record */
#define DOCUMENT_STORED_MAX  (32U * 1024 * 1024) /* compressed; more is refused */
#define DOCUMENT_TEXT_MAX    (64U * 1024 * 1024) /* as much as the coordinator takes */

struct document {
	const char *name; /* static */
	char digest[KG_SHA256_HEX_SIZE];
	uint64_t text_bytes;
	uint8_t *stored; /* owned */
	size_t stored_len;
};

struct document_list {
	struct document items[8];
	size_t n;
};
void document_list_deinit(struct document_list *l);

struct document_writer; /* opaque */

struct document_writer *document_begin(void); /* owned, document_end; NULL: out of memory */
/* A failure is kept, and told at the end. */
void document_add(struct document_writer *w, const void *bytes, size_t len);
/* Ends and frees the writer; false `keep` gives the text up. Adds it to the list, else -ENOMEM,
 * KG_ELIMIT (too long, or one too many), or KG_ENODATA for an empty text. */
int document_end(struct document_writer *w, const char *name, bool keep, struct document_list *l);

#endif
