/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Epochs, and what a boot recorded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/facts.h"
#include "common/str.h"
#include "coordinator/store/facts.h"
#include "coordinator/store/query_rows.h"

#define PART_BYTES (256U << 10) /* a frame holds at most 1 MiB */

/* ---- epochs ---- */

static int fill_change(sqlite3_stmt *st, const char *name, Kgrid__V1__DiffItem *d)
{
	const struct kg_fact_info *info = kg_fact_find(name);
	const char *a = db_col_text(st, 6), *b = db_col_text(st, 7);

	d->has_a_unsupported = d->has_b_unsupported = d->has_weight = 1;
	d->a_unsupported = !a;
	d->b_unsupported = !b;
	d->weight = info->weight;
	return reply_text(&d->section, info->section) | reply_text(&d->name, name) |
	       reply_text(&d->kind, "changed") | reply_text(&d->a, a) | reply_text(&d->b, b) |
	       reply_text(&d->settable, kg_fact_settable_name(info->settable));
}

static int push_change(sqlite3_stmt *st, Kgrid__V1__Epoch *e)
{
	const char *name = db_col_text(st, 5);
	Kgrid__V1__DiffItem *d;

	if (!name)
		return 0; /* an epoch without changes: the first */
	d = reply_new(&kgrid__v1__diff_item__descriptor);
	if (!d || fill_change(st, name, d) != 0) {
		reply_free(d);
		return -ENOMEM;
	}
	return reply_push(&e->changes, &e->n_changes, d, &kgrid__v1__diff_item__descriptor);
}

static Kgrid__V1__Epoch *push_epoch(sqlite3_stmt *st, Kgrid__V1__EpochsReply *reply)
{
	Kgrid__V1__Epoch *e = reply_new(&kgrid__v1__epoch__descriptor);

	if (!e || reply_text(&e->machine, db_col_text_or(st, 0, "")) < 0) {
		reply_free(e);
		return NULL;
	}
	e->has_number = e->has_started_ns = e->has_boots = 1;
	e->number = (uint32_t)sqlite3_column_int64(st, 1);
	e->started_ns = sqlite3_column_int64(st, 2);
	e->boots = (uint64_t)sqlite3_column_int64(st, 3);
	return reply_push(&reply->epochs, &reply->n_epochs, e, &kgrid__v1__epoch__descriptor) < 0
		       ? NULL
		       : e;
}

static int read_epochs(struct db *db, const char *machine, Kgrid__V1__EpochsReply *reply,
		       struct kg_err *err)
{
	static const char sql[] =
		"SELECT e.machine, e.number, e.started_ns,"
		" (SELECT count(*) FROM boot WHERE boot.machine = e.machine"
		"  AND boot.epoch = e.number),"
		" j.id, json_extract(j.value, '$.name'), json_extract(j.value, '$.a'),"
		" json_extract(j.value, '$.b')"
		" FROM epoch AS e LEFT JOIN json_each(e.changes) AS j"
		" WHERE ?1 IS NULL OR e.machine = ?1 ORDER BY e.machine, e.number, j.id";
	Kgrid__V1__Epoch *e = NULL;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, T(machine));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		if (!e || e->number != (uint32_t)sqlite3_column_int64(st, 1) ||
		    strcmp(e->machine, db_col_text_or(st, 0, "")) != 0)
			e = push_epoch(st, reply);
		rc = e ? push_change(st, e) : -ENOMEM;
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

int query_epochs(struct query *q, const char *machine, Kgrid__V1__EpochsReply **ret,
		 struct kg_err *err)
{
	Kgrid__V1__EpochsReply *reply = reply_new(&kgrid__v1__epochs_reply__descriptor);
	const char *name = machine && machine[0] ? machine : NULL;
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0) {
		rc = check_machine(db, name, err);
		if (rc == 0)
			rc = read_epochs(db, name, reply, err);
		rc = query_end(q, db, rc);
	}
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}

/* ---- provenance of a boot ---- */

static int check_boot(struct db *db, uint64_t boot, struct kg_err *err)
{
	int64_t there = 0;
	int rc = db_int(db, err, "SELECT 1 FROM boot WHERE id = ?", &there, I(boot));

	if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no boot %llu", (unsigned long long)boot);
	return rc < 0 ? rc : 0;
}

static Kgrid__V1__Provenance *push_phase(sqlite3_stmt *st, Kgrid__V1__ProvenanceReply *reply)
{
	Kgrid__V1__Provenance *p = reply_new(&kgrid__v1__provenance__descriptor);
	int64_t attempt = sqlite3_column_int64(st, 0);
	struct kg_str phase = {0};

	if (!p)
		return NULL;
	kg_str_add(&phase, db_col_text_or(st, 1, ""));
	if (attempt)
		kg_str_addf(&phase, " attempt %lld", (long long)attempt);
	p->phase = kg_str_take(&phase);
	if (!p->phase) {
		reply_free(p);
		return NULL;
	}
	return reply_push(&reply->phases, &reply->n_phases, p, &kgrid__v1__provenance__descriptor) <
			       0
		       ? NULL
		       : p;
}

static int push_fact(sqlite3_stmt *st, Kgrid__V1__Provenance *p)
{
	Kgrid__V1__Fact *f = reply_new(&kgrid__v1__fact__descriptor);

	if (!f || (reply_text(&f->name, db_col_text_or(st, 2, "")) |
		   reply_text(&f->value, db_col_text(st, 3)) |
		   reply_text(&f->reason, db_col_text(st, 4)))) {
		reply_free(f);
		return -ENOMEM;
	}
	return reply_push(&p->facts, &p->n_facts, f, &kgrid__v1__fact__descriptor);
}

static int read_facts(struct db *db, uint64_t boot, Kgrid__V1__ProvenanceReply *reply,
		      struct kg_err *err)
{
	static const char sql[] =
		"SELECT b.attempt, b.phase, j.key, j.value,"
		" (SELECT r.value FROM json_each(b.reasons) AS r WHERE r.key = j.key)"
		" FROM boot_facts AS b JOIN fact_set ON fact_set.digest = b.facts"
		" JOIN json_each(fact_set.facts) AS j WHERE b.boot = ?"
		" ORDER BY b.attempt, b.phase <> 'before', b.phase, j.key";
	Kgrid__V1__Provenance *p = NULL;
	int64_t attempt = -1;
	char phase[16] = "";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(boot));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		if (sqlite3_column_int64(st, 0) != attempt ||
		    strcmp(phase, db_col_text_or(st, 1, "")) != 0) {
			p = push_phase(st, reply);
			attempt = sqlite3_column_int64(st, 0);
			(void)snprintf(phase, sizeof(phase), "%s", db_col_text_or(st, 1, ""));
		}
		rc = p ? push_fact(st, p) : -ENOMEM;
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

static int read_documents(struct db *db, uint64_t boot, Kgrid__V1__ProvenanceReply *reply,
			  struct kg_err *err)
{
	static const char sql[] =
		"SELECT boot_document.name, boot_document.digest, document.text_bytes,"
		" length(document.stored) FROM boot_document"
		" JOIN document ON document.digest = boot_document.digest"
		" WHERE boot_document.boot = ? ORDER BY boot_document.name";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(boot));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__Document *d = reply_new(&kgrid__v1__document__descriptor);

		if (!d || (reply_text(&d->name, db_col_text(st, 0)) |
			   reply_text(&d->digest, db_col_text(st, 1)))) {
			reply_free(d);
			rc = reply_oom(err);
			break;
		}
		d->has_text_bytes = d->has_stored_bytes = 1;
		d->text_bytes = (uint64_t)sqlite3_column_int64(st, 2);
		d->stored_bytes = (uint64_t)sqlite3_column_int64(st, 3);
		rc = reply_push(&reply->documents, &reply->n_documents, d,
				&kgrid__v1__document__descriptor);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

/* The digest under which the boot has a document of that name; KG_ENOTFOUND names what it has. */
static int find_document(uint64_t boot, const char *name, const Kgrid__V1__ProvenanceReply *reply,
			 const char **ret_digest, struct kg_err *err)
{
	struct kg_str s = {0};

	for (size_t i = 0; i < reply->n_documents; i++) {
		if (strcmp(reply->documents[i]->name, name) == 0) {
			*ret_digest = reply->documents[i]->digest;
			kg_str_deinit(&s);
			return 0;
		}
		kg_str_addf(&s, "%s%s", i ? ", " : "", reply->documents[i]->name);
	}
	kg_err_set(err, 0, "boot %llu has no document '%s'%s%s", (unsigned long long)boot, name,
		   s.len ? "; it has " : "", kg_str_text(&s));
	kg_str_deinit(&s);
	return KG_ENOTFOUND;
}

static int send_text(const char *text, size_t len, Kgrid__V1__ProvenanceReply *reply,
		     int (*on_part)(void *arg, const Kgrid__V1__ProvenanceReply *part), void *arg)
{
	size_t at = 0;
	int rc = 0;

	do {
		size_t n = len - at < PART_BYTES ? len - at : PART_BYTES;
		Kgrid__V1__ProvenanceReply part = KGRID__V1__PROVENANCE_REPLY__INIT;

		part.has_boot = 1;
		part.boot = reply->boot;
		if (at == 0) {
			part.n_documents = reply->n_documents;
			part.documents = reply->documents;
		}
		part.has_text = 1;
		part.text.data = (uint8_t *)(uintptr_t)(text + at);
		part.text.len = n;
		rc = on_part(arg, &part);
		at += n;
	} while (rc == 0 && at < len);
	return rc;
}

/* The config that the boot's kernel was packed with: most kernels do not show theirs. */
static int read_packed_config(struct db *db, const struct query_texts *texts, uint64_t boot,
			      char **ret_text, size_t *ret_len, struct kg_err *err)
{
	char digest[KG_SHA256_HEX_SIZE] = "";
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT kernel.config_digest FROM boot"
			   " JOIN kernel ON kernel.digest = boot.kernel WHERE boot.id = ?",
			   &st, I(boot));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		(void)snprintf(digest, sizeof(digest), "%s", db_col_text_or(st, 0, ""));
	db_reset(st);
	if (rc < 0)
		return rc;
	return digest[0] ? read_config_text(db, texts, digest, ret_text, ret_len, err)
			 : KG_ENOTFOUND;
}

/* A document that is taken once of each kernel: which boot of this one has it. */
static int name_other_boot(struct db *db, uint64_t boot, const char *name, struct kg_err *err)
{
	struct kg_err why = {""}, text = *err;
	int64_t other = 0;
	int rc = db_int(db, &why,
			"SELECT d.boot FROM boot b JOIN boot o ON o.kernel = b.kernel"
			" JOIN boot_document d ON d.boot = o.id AND d.name = ?2"
			" WHERE b.id = ?1 ORDER BY o.machine <> b.machine, d.boot DESC LIMIT 1",
			&other, I(boot), T(name));

	if (rc >= 0 && other)
		kg_err_set(err, 0, "%.400s; boot %lld of the same kernel has '%s'", text.text,
			   (long long)other, name);
	return KG_ENOTFOUND;
}

static int read_named(struct db *db, const struct query_texts *texts, uint64_t boot,
		      const char *name, const Kgrid__V1__ProvenanceReply *reply, char **ret_text,
		      size_t *ret_len, struct kg_err *err)
{
	const char *digest = NULL;
	struct kg_err why = {""};
	int rc = find_document(boot, name, reply, &digest, err);

	if (rc == 0)
		return read_document(db, digest, ret_text, ret_len, err);
	if (strcmp(name, "config") == 0 &&
	    read_packed_config(db, texts, boot, ret_text, ret_len, &why) == 0)
		return 0;
	return name_other_boot(db, boot, name, err);
}

static int read_provenance(struct db *db, const struct query_texts *texts,
			   const Kgrid__V1__ProvenanceRequest *rq, const char *document,
			   Kgrid__V1__ProvenanceReply *reply, char **ret_text, size_t *ret_len,
			   struct kg_err *err)
{
	int rc = check_boot(db, rq->boot, err);

	if (rc == 0)
		rc = read_documents(db, rq->boot, reply, err);
	if (rc == 0 && document)
		return read_named(db, texts, rq->boot, document, reply, ret_text, ret_len, err);
	if (rc == 0)
		rc = read_facts(db, rq->boot, reply, err);
	if (rc == 0 && reply->n_phases == 0 && reply->n_documents == 0)
		rc = kg_err_set(
			err, KG_ENODATA,
			"boot %llu has no provenance: it did not get so far, or its agent is "
			"older than 0.2",
			(unsigned long long)rq->boot);
	return rc;
}

int query_provenance(struct query *q, const Kgrid__V1__ProvenanceRequest *rq,
		     int (*on_part)(void *arg, const Kgrid__V1__ProvenanceReply *part), void *arg,
		     struct kg_err *err)
{
	Kgrid__V1__ProvenanceReply *reply = reply_new(&kgrid__v1__provenance_reply__descriptor);
	const char *document = rq->document && rq->document[0] ? rq->document : NULL;
	char *text = NULL;
	size_t len = 0;
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db,
			       read_provenance(db, query_texts(q), rq, document, reply, &text, &len,
					       err));
	if (rc == 0) {
		reply->has_boot = 1;
		reply->boot = rq->boot;
		rc = document ? send_text(text, len, reply, on_part, arg) : on_part(arg, reply);
	}
	free(text);
	reply_free(reply);
	return rc;
}

int query_kernel_document(struct query *q, const char *kernel, const char *name, bool *ret_has,
			  struct kg_err *err)
{
	int64_t there = 0;
	struct db *db;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = db_int(db, err,
		    "SELECT 1 FROM boot JOIN boot_document ON boot_document.boot = boot.id"
		    " WHERE boot.kernel = ? AND boot_document.name = ? LIMIT 1",
		    &there, T(kernel), T(name));
	rc = query_end(q, db, rc < 0 ? rc : 0);
	if (rc == 0)
		*ret_has = there != 0;
	return rc;
}
