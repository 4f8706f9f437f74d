/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/store/facts.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

static void to_json(const struct epoch_facts *f, struct kg_str *s)
{
	kg_str_add(s, "{");
	for (size_t i = 0; i < f->n; i++) {
		kg_str_add(s, i ? "," : "");
		kg_str_add_json(s, f->items[i].name);
		kg_str_add(s, ":");
		if (f->items[i].value)
			kg_str_add_json(s, f->items[i].value);
		else
			kg_str_add(s, "null");
	}
	kg_str_add(s, "}");
}

int facts_store(struct db *db, const struct epoch_facts *f, char ret_digest[KG_SHA256_HEX_SIZE],
		struct kg_err *err)
{
	struct kg_str s = {0};
	int rc;

	to_json(f, &s);
	rc = s.failed ? -ENOMEM : kg_sha256_bytes(s.text, s.len, ret_digest);
	if (rc < 0)
		kg_err_set(err, rc, "%s", rc == -ENOMEM ? "out of memory" : "no digest");
	else
		rc = db_exec(db, err,
			     "INSERT OR IGNORE INTO fact_set (digest, facts) VALUES (?, ?)",
			     T(ret_digest), T(s.text));
	kg_str_deinit(&s);
	return rc;
}

int facts_read(struct db *db, sqlite3_stmt *st, struct arena *a, struct epoch_facts *ret,
	       struct kg_err *err)
{
	struct epoch_fact *items = NULL;
	size_t n = 0;
	int rc;

	while ((rc = db_step(db, st, err)) > 0) {
		struct epoch_fact *f = arena_push(a, &items, &n, sizeof(*f));

		if (!f)
			break;
		f->name = arena_text(a, db_col_text_or(st, 0, ""));
		f->value = arena_text(a, db_col_text(st, 1));
	}
	db_reset(st);
	if (a->failed)
		return kg_err_set(err, -ENOMEM, "out of memory");
	ret->items = items;
	ret->n = n;
	return rc;
}

int facts_load(struct db *db, struct arena *a, const char *digest, struct epoch_facts *ret,
	       struct kg_err *err)
{
	static const char sql[] =
		"SELECT j.key, j.value FROM fact_set, json_each(fact_set.facts) AS j"
		" WHERE fact_set.digest = ? ORDER BY j.key";
	int64_t there = 0;
	sqlite3_stmt *st;
	int rc = db_int(db, err, "SELECT 1 FROM fact_set WHERE digest = ?", &there, T(digest));

	if (rc == 0)
		rc = kg_err_set(err, KG_ECORRUPT, "no facts '%.12s' are stored", digest);
	if (rc > 0)
		rc = db_select(db, err, sql, &st, T(digest));
	if (rc < 0)
		return rc;
	return facts_read(db, st, a, ret, err);
}

int facts_union(struct arena *arena, const struct epoch_facts *a, const struct epoch_facts *b,
		struct epoch_facts *ret)
{
	struct epoch_fact *items = arena_alloc(arena, a->n + b->n, sizeof(*items));
	size_t i = 0, j = 0, n = 0;

	if (!items)
		return -ENOMEM;
	while (i < a->n || j < b->n) {
		int order = i == a->n	? 1
			    : j == b->n ? -1
					: strcmp(a->items[i].name, b->items[j].name);

		items[n++] = order <= 0 ? a->items[i] : b->items[j];
		i += order <= 0;
		j += order >= 0;
	}
	ret->items = items;
	ret->n = n;
	return 0;
}
