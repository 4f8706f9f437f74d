/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts as they are stored: one row for the same facts. The text is a JSON object with its names in
 * the order of their bytes and without white space, so that the same facts are the same bytes; null
 * is "unsupported". Text that is not UTF-8 is stored with U+FFFD, so compare what was read back.
 */
#ifndef KG_COORDINATOR_STORE_FACTS_H
#define KG_COORDINATOR_STORE_FACTS_H

#include "common/sha256.h"
#include "coordinator/analysis/epoch.h"
#include "coordinator/store/arena.h"
#include "coordinator/store/db.h"

/* Stores the facts (sorted by name) unless they are there, and gives their digest. */
int facts_store(struct db *db, const struct epoch_facts *f, char ret_digest[KG_SHA256_HEX_SIZE],
		struct kg_err *err);
/* Rows of name and value, as the statement orders them; the statement is reset. */
int facts_read(struct db *db, sqlite3_stmt *st, struct arena *a, struct epoch_facts *ret,
	       struct kg_err *err);
/* Sorted by name; KG_ECORRUPT when there is no such row. */
int facts_load(struct db *db, struct arena *a, const char *digest, struct epoch_facts *ret,
	       struct kg_err *err);
/* All names of both; where both have one, the value of `a`. */
int facts_union(struct arena *arena, const struct epoch_facts *a, const struct epoch_facts *b,
		struct epoch_facts *ret);

#endif
