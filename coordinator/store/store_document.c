/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Long texts of provenance: put together from their pieces, checked, stored once. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/sha256.h"
#include "common/str.h"
#include "coordinator/store/ingest.h"
#include "coordinator/store/zstd_text.h"

/* Of the stored form: what does not compress at all grows a little. */
#define STORED_MAX (ZSTD_TEXT_MAX + ZSTD_TEXT_MAX / 128)

static int check_piece(struct ingest *in, const Kgrid__V1__Document *b)
{
	size_t len = b->has_data ? b->data.len : 0;

	if (!b->name || !kg_name_valid(b->name))
		return ingest_fault(in, "a document without a name");
	if (in->r->attempt)
		return ingest_fault(in, "document '%s' is of no attempt", b->name);
	if (!b->digest || !kg_sha256_hex_valid(b->digest))
		return ingest_fault(in, "document '%s' has no digest", b->name);
	if (!b->has_text_bytes || b->text_bytes > ZSTD_TEXT_MAX)
		return ingest_fault(in, "document '%s' has no length of at most %u bytes", b->name,
				    ZSTD_TEXT_MAX);
	if (!b->has_stored_bytes || b->stored_bytes == 0 || b->stored_bytes > STORED_MAX)
		return ingest_fault(in, "document '%s' has no stored length of at most %u bytes",
				    b->name, STORED_MAX);
	if (len == 0 || b->offset > b->stored_bytes || len > b->stored_bytes - b->offset)
		return ingest_fault(in, "a piece of document '%s' does not fit into it", b->name);
	return 0;
}

int ingest_document_drop(struct ingest *in, const Kgrid__V1__Document *b)
{
	return db_exec(in->db, &in->op->err,
		       "DELETE FROM document_part WHERE boot = ? AND name = ?", I(in->r->boot),
		       T(b->name ? b->name : ""));
}

/* Pieces follow on each other; one at 0 begins anew, as an agent does that was started again. */
static int add_piece(struct ingest *in, const Kgrid__V1__Document *b)
{
	static const char end[] = "SELECT offset + length(data) FROM document_part"
				  " WHERE boot = ? AND name = ? ORDER BY offset DESC LIMIT 1";
	int64_t have = 0;
	int rc = b->offset == 0
			 ? ingest_document_drop(in, b)
			 : db_int(in->db, &in->op->err, end, &have, I(in->r->boot), T(b->name));

	if (rc < 0)
		return rc;
	if ((uint64_t)have != b->offset)
		return ingest_fault(in, "a piece of document '%s' begins at %llu, expected %lld",
				    b->name, (unsigned long long)b->offset, (long long)have);
	return db_exec(in->db, &in->op->err,
		       "INSERT INTO document_part (boot, name, offset, data) VALUES (?, ?, ?, ?)",
		       I(in->r->boot), T(b->name), I(b->offset), B(b->data.data, b->data.len));
}

/* The stored form out of its pieces, owned. */
static int join(struct ingest *in, const Kgrid__V1__Document *b, uint8_t **ret)
{
	uint8_t *bytes;
	sqlite3_stmt *st;
	size_t at = 0;
	int rc = db_select(in->db, &in->op->err,
			   "SELECT data FROM document_part WHERE boot = ? AND name = ?"
			   " ORDER BY offset",
			   &st, I(in->r->boot), T(b->name));

	if (rc < 0)
		return rc;
	bytes = malloc(b->stored_bytes);
	if (!bytes)
		rc = kg_err_set(&in->op->err, -ENOMEM, "out of memory");
	while (bytes && (rc = db_step(in->db, st, &in->op->err)) > 0) {
		const void *piece = sqlite3_column_blob(st, 0);
		size_t len = (size_t)sqlite3_column_bytes(st, 0);

		if (!piece)
			break;			     /* out of memory */
		assert(len <= b->stored_bytes - at); /* add_piece saw to it */
		memcpy(bytes + at, piece, len);
		at += len;
	}
	db_reset(st);
	if (rc > 0)
		rc = kg_err_set(&in->op->err, -ENOMEM, "out of memory");
	if (rc == 0)
		*ret = bytes;
	else
		free(bytes);
	return rc;
}

/* 0: the text is what the digest says. */
static int check_text(struct ingest *in, const Kgrid__V1__Document *b, const uint8_t *stored)
{
	char digest[KG_SHA256_HEX_SIZE];
	struct kg_err err = {""};
	char *text = NULL;
	int rc = zstd_text(stored, b->stored_bytes, b->text_bytes, &text, &err);

	if (rc == KG_EINVALID)
		return ingest_fault(in, "document '%s': %s", b->name, err.text);
	if (rc == 0)
		rc = kg_sha256_bytes(text, b->text_bytes, digest);
	free(text);
	if (rc < 0)
		return kg_err_set(&in->op->err, rc, "cannot check document '%s': %s", b->name,
				  kg_strerror(rc));
	if (strcmp(digest, b->digest) != 0)
		return ingest_fault(in, "document '%s' does not have the digest it claims",
				    b->name);
	return 0;
}

static int store_whole(struct ingest *in, const Kgrid__V1__Document *b)
{
	static const char link[] = "INSERT INTO boot_document (boot, name, digest)"
				   " VALUES (?1, ?2, ?3)"
				   " ON CONFLICT (boot, name) DO UPDATE SET digest = ?3";
	uint8_t *stored = NULL;
	int rc = join(in, b, &stored);

	if (rc != 0)
		return rc;
	rc = check_text(in, b, stored);
	if (rc == 0)
		rc = db_exec(in->db, &in->op->err,
			     "INSERT OR IGNORE INTO document (digest, text_bytes, stored)"
			     " VALUES (?, ?, ?)",
			     T(b->digest), I(b->text_bytes), B(stored, b->stored_bytes));
	free(stored);
	if (rc == 0)
		rc = db_exec(in->db, &in->op->err, link, I(in->r->boot), T(b->name), T(b->digest));
	return rc == 0 ? ingest_document_drop(in, b) : rc;
}

int ingest_document(struct ingest *in, const Kgrid__V1__Document *b)
{
	int rc = check_piece(in, b);

	if (rc == 0)
		rc = add_piece(in, b);
	if (rc == 0 && b->offset + b->data.len == b->stored_bytes)
		rc = store_whole(in, b);
	return rc;
}
