/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What two boots, kernels, machines or epochs are, for coordinator/report/diff.h to compare.
 *
 * A machine is its current epoch and its newest boot. An epoch is its facts and a boot of it: the
 * newest, and between two epochs those newest boots that asked for the same kernel, list and command
 * line, so that what the kernel shapes is compared where it can be.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/str.h"
#include "coordinator/report/diff.h"
#include "coordinator/store/facts.h"
#include "coordinator/store/labels.h"
#include "coordinator/store/query_rows.h"

enum kind { KIND_BOOT, KIND_KERNEL, KIND_MACHINE, KIND_EPOCH, KINDS };

static const char *const prefixes[KINDS] = {"boot:", "kernel:", "machine:", "epoch:"};

struct side {
	enum kind kind;
	const char *machine; /* machine, epoch */
	int64_t epoch;	     /* 0: the machine has none */
	int64_t boot;	     /* 0: none */
	char kernel[KG_SHA256_HEX_SIZE];
	struct arena arena;
	struct kg_str name;
	struct diff_document *documents; /* texts malloc'ed */
	size_t n_documents;
	char *config; /* malloc'ed */
	struct diff_side out;
};

static void side_deinit(struct side *s)
{
	for (size_t i = 0; i < s->n_documents; i++)
		free((void *)(uintptr_t)s->documents[i].text);
	free(s->config);
	kg_str_deinit(&s->name);
	arena_deinit(&s->arena);
}

/* ---- selectors ---- */

static int find_boot(struct db *db, const char *text, struct side *s, struct kg_err *err)
{
	uint64_t id = 0;
	int rc = kg_parse_u64(text, &id) < 0 || id > INT64_MAX
			 ? 0
			 : db_int(db, err, "SELECT id FROM boot WHERE id = ?", &s->boot, I(id));

	return rc == 0 ? kg_err_set(err, KG_ENOTFOUND, "no boot '%s'", text) : rc < 0 ? rc : 0;
}

/* The machine's newest epoch, or the newest boot of one that has none. */
static int find_machine(struct db *db, const char *text, struct side *s, struct kg_err *err)
{
	int rc = check_machine(db, text, err);

	if (rc < 0)
		return rc;
	s->machine = arena_text(&s->arena, text);
	rc = s->machine ? 0 : reply_oom(err);
	if (rc == 0)
		rc = db_int(db, err, "SELECT max(number) FROM epoch WHERE machine = ?", &s->epoch,
			    T(text));
	if (rc >= 0)
		rc = db_int(db, err, "SELECT max(id) FROM boot WHERE machine = ?1 AND epoch IS ?2",
			    &s->boot, T(text), I0(s->epoch));
	return rc < 0 ? rc : 0;
}

static int find_epoch(struct db *db, const char *text, struct side *s, struct kg_err *err)
{
	const char *slash = strrchr(text, '/');
	uint64_t number = 0;
	char name[64];
	int rc = 0;

	if (!slash || slash == text || (size_t)(slash - text) >= sizeof(name) ||
	    kg_parse_u64(slash + 1, &number) < 0 || number > INT64_MAX)
		return kg_err_set(err, KG_ENOTFOUND, "no epoch '%s': MACHINE/N names one", text);
	(void)snprintf(name, sizeof(name), "%.*s", (int)(slash - text), text);
	s->machine = arena_text(&s->arena, name);
	if (!s->machine)
		return reply_oom(err);
	rc = db_int(db, err, "SELECT number FROM epoch WHERE machine = ? AND number = ?", &s->epoch,
		    T(name), I(number));
	if (rc == 0)
		rc = check_machine(db, name, err);
	if (rc == 0 && s->epoch == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "machine '%s' has no epoch %llu", name,
				(unsigned long long)number);
	if (rc >= 0)
		rc = db_int(db, err, "SELECT max(id) FROM boot WHERE machine = ? AND epoch = ?",
			    &s->boot, T(name), I(s->epoch));
	return rc < 0 ? rc : 0;
}

static int find_as(struct db *db, enum kind kind, const char *text, struct side *s,
		   struct kg_err *err)
{
	s->kind = kind;
	switch (kind) {
	case KIND_BOOT:
		return find_boot(db, text, s, err);
	case KIND_KERNEL:
		return find_kernel(db, text, s->kernel, err);
	case KIND_MACHINE:
		return find_machine(db, text, s, err);
	default:
		return find_epoch(db, text, s, err);
	}
}

/* Without a prefix: what it can only be. */
static int find_any(struct db *db, const char *text, struct side *ret, struct kg_err *err)
{
	struct kg_err ignored = {""};
	enum kind found = KINDS;
	int n = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		struct side s = {0};
		int rc = find_as(db, (enum kind)kind, text, &s, &ignored);

		side_deinit(&s);
		if (rc == 0 && n++ == 0)
			found = (enum kind)kind;
		if (rc == KG_EAMBIGUOUS && n == 0)
			return find_as(db, (enum kind)kind, text, ret, err);
		if (rc < 0 && rc != KG_ENOTFOUND && rc != KG_EAMBIGUOUS && rc != KG_EINVALID) {
			*err = ignored;
			return rc;
		}
	}
	if (n == 0)
		return kg_err_set(
			err, KG_ENOTFOUND,
			"nothing is called '%s'; say boot:N, kernel:LABEL, machine:NAME or "
			"epoch:MACHINE/N",
			text);
	if (n > 1)
		return kg_err_set(
			err, KG_EAMBIGUOUS,
			"'%s' fits several things; put boot:, kernel:, machine: or epoch: "
			"before it",
			text);
	return find_as(db, found, text, ret, err);
}

static int find_side(struct db *db, const char *text, struct side *s, struct kg_err *err)
{
	if (!text || !text[0])
		return kg_err_set(err, KG_EINVALID, "two things are needed for a difference");
	for (int kind = 0; kind < KINDS; kind++) {
		if (kg_str_starts(text, prefixes[kind]))
			return find_as(db, (enum kind)kind, text + strlen(prefixes[kind]), s, err);
	}
	return find_any(db, text, s, err);
}

/* Two epochs: the newest boots of the same kernel, list and command line, if there are such. */
static int match_epochs(struct db *db, struct side *a, struct side *b, struct kg_err *err)
{
	static const char sql[] =
		"SELECT max(x.id), y.id FROM boot AS y JOIN boot AS x ON x.kernel = y.kernel"
		" AND x.lsm_effective = y.lsm_effective AND x.cmdline = y.cmdline"
		" AND x.settings = y.settings"
		" WHERE x.machine = ?1 AND x.epoch = ?2 AND y.machine = ?3 AND y.epoch = ?4"
		" GROUP BY y.id ORDER BY y.id DESC LIMIT 1";
	sqlite3_stmt *st;
	int rc;

	if (a->kind != KIND_EPOCH || b->kind != KIND_EPOCH)
		return 0;
	rc = db_select(db, err, sql, &st, T(a->machine), I(a->epoch), T(b->machine), I(b->epoch));
	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	/* Without such a pair the epochs' own facts are all that says something. */
	a->boot = rc > 0 ? sqlite3_column_int64(st, 0) : 0;
	b->boot = rc > 0 ? sqlite3_column_int64(st, 1) : 0;
	db_reset(st);
	return rc < 0 ? rc : 0;
}

/* ---- what they are ---- */

/* " on 2026-11-30" */
static void add_date(struct kg_str *s, int64_t ns)
{
	time_t at = (time_t)(ns / (int64_t)KG_NSEC_PER_SEC);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&at, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%d", &tm);
	kg_str_addf(s, ", %s", when);
}

/* Kernel, list and command line of the side's boot, and its name. */
static int read_boot(struct db *db, struct side *s, struct kg_err *err)
{
	static const char sql[] =
		"SELECT boot.kernel, coalesce(provenance.lsm, boot.lsm_effective),"
		" coalesce(provenance.cmdline, boot.cmdline), boot.machine, boot.started_ns,"
		" coalesce((SELECT cell.kernel_label || ' ' || " CELL_LSM " FROM attempt"
		"  JOIN slot ON slot.id = attempt.slot JOIN cell ON cell.id = slot.cell"
		"  WHERE attempt.boot = boot.id LIMIT 1), kernel.label, kernel.release)"
		" FROM boot JOIN kernel ON kernel.digest = boot.kernel"
		" LEFT JOIN provenance ON provenance.boot = boot.id WHERE boot.id = ?";
	sqlite3_stmt *st;
	int rc = s->boot ? db_select(db, err, sql, &st, I(s->boot)) : 0;

	if (rc < 0 || !s->boot)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		(void)snprintf(s->kernel, sizeof(s->kernel), "%s", db_col_text_or(st, 0, ""));
		s->out.lsm = arena_text(&s->arena, db_col_text(st, 1));
		s->out.cmdline = arena_text(&s->arena, db_col_text(st, 2));
		if (s->kind == KIND_BOOT) {
			kg_str_addf(&s->name, "boot %lld: %s on %s", (long long)s->boot,
				    db_col_text_or(st, 5, ""), db_col_text_or(st, 3, ""));
			add_date(&s->name, sqlite3_column_int64(st, 4));
		}
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int name_side(struct db *db, struct side *s, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (s->kind == KIND_MACHINE && s->epoch == 0)
		kg_str_addf(&s->name, "machine %s", s->machine);
	if (s->kind == KIND_BOOT || (s->kind == KIND_MACHINE && s->epoch == 0))
		return 0;
	rc = s->kind == KIND_KERNEL
		     ? db_select(db, err,
				 "SELECT coalesce(label, release), release, digest FROM kernel"
				 " WHERE digest = ?",
				 &st, T(s->kernel))
		     : db_select(db, err,
				 "SELECT started_ns FROM epoch WHERE machine = ? AND number = ?",
				 &st, T(s->machine), I(s->epoch));
	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0 && s->kind == KIND_KERNEL) {
		kg_str_addf(&s->name, "kernel %s: %s, %.12s", db_col_text_or(st, 0, ""),
			    db_col_text_or(st, 1, ""), db_col_text_or(st, 2, ""));
	} else if (rc > 0) {
		kg_str_addf(&s->name,
			    s->kind == KIND_MACHINE ? "machine %s: epoch %lld" : "epoch %s/%lld",
			    s->machine, (long long)s->epoch);
		kg_str_add(&s->name, ", since");
		add_date(&s->name, sqlite3_column_int64(st, 0));
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

/* Facts of the epoch, then those of the boot, which are newer. */
static int read_facts(struct db *db, struct side *s, struct kg_err *err)
{
	static const char sql[] =
		"SELECT j.key, j.value FROM epoch JOIN fact_set ON fact_set.digest = epoch.facts"
		" JOIN json_each(fact_set.facts) AS j WHERE epoch.machine = ?1 AND epoch.number = "
		"?2"
		" UNION ALL"
		" SELECT j.key, j.value FROM boot_facts AS b"
		" JOIN fact_set ON fact_set.digest = b.facts JOIN json_each(fact_set.facts) AS j"
		" WHERE b.boot = ?3 AND b.attempt = 0 AND b.phase = 'boot'";
	struct epoch_facts facts = {0};
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, T(s->machine), I(s->epoch), I(s->boot));

	if (rc < 0)
		return rc;
	rc = facts_read(db, st, &s->arena, &facts, err);
	s->out.facts = facts.items;
	s->out.n_facts = facts.n;
	s->out.has_facts = facts.n != 0;
	return rc;
}

/* What a kernel says of itself without a boot. */
static int read_kernel_facts(struct db *db, struct side *s, struct kg_err *err)
{
	static const char *const names[] = {"kernel.build-id", "kernel.release"};
	struct epoch_fact *items = arena_alloc(&s->arena, 2, sizeof(*items));
	sqlite3_stmt *st;
	size_t n = 0;
	int rc = items ? db_select(db, err, "SELECT build_id, release FROM kernel WHERE digest = ?",
				   &st, T(s->kernel))
		       : reply_oom(err);

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	for (int i = 0; rc > 0 && i < 2; i++) {
		const char *value = db_col_text(st, i);

		if (value)
			items[n++] = (struct epoch_fact){names[i], arena_text(&s->arena, value)};
	}
	db_reset(st);
	s->out.facts = items;
	s->out.n_facts = n;
	s->out.has_facts = n != 0;
	return rc < 0 ? rc : 0;
}

static int add_document(struct db *db, sqlite3_stmt *st, struct side *s, struct kg_err *err)
{
	const char *name = db_col_text_or(st, 0, ""), *digest = db_col_text_or(st, 1, "");
	struct diff_document *d;
	char *text = NULL;
	size_t len = 0;
	int rc;

	if (strcmp(name, "kallsyms") == 0)
		return 0; /* addresses differ at every boot */
	rc = read_document(db, digest, &text, &len, err);
	if (rc < 0)
		return rc;
	if (strcmp(name, "config") == 0) {
		s->config = text;
		s->out.config = text;
		s->out.config_len = len;
		return 0;
	}
	d = arena_push(&s->arena, &s->documents, &s->n_documents, sizeof(*d));
	if (!d) {
		free(text);
		return reply_oom(err);
	}
	d->text = text;
	d->len = len;
	d->name = arena_text(&s->arena, name);
	d->digest = arena_text(&s->arena, digest);
	return s->arena.failed ? reply_oom(err) : 0;
}

static int read_documents(struct db *db, struct side *s, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT name, digest FROM boot_document WHERE boot = ? ORDER BY name",
			   &st, I(s->boot));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		rc = add_document(db, st, s, err);
		if (rc < 0)
			break;
	}
	db_reset(st);
	s->out.documents = s->documents;
	s->out.n_documents = s->n_documents;
	return rc;
}

/* Where no boot brought the config: the document of another boot, or the blob. */
static int read_config(struct db *db, const struct query_texts *texts, struct side *s,
		       struct kg_err *err)
{
	char digest[KG_SHA256_HEX_SIZE] = "";
	size_t len = 0;
	sqlite3_stmt *st;
	int rc;

	if (s->config || !s->kernel[0])
		return 0;
	rc = db_select(db, err, "SELECT config_digest FROM kernel WHERE digest = ?", &st,
		       T(s->kernel));
	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0)
		(void)snprintf(digest, sizeof(digest), "%s", db_col_text_or(st, 0, ""));
	db_reset(st);
	if (rc < 0 || !digest[0])
		return rc < 0 ? rc : 0;
	rc = read_config_text(db, texts, digest, &s->config, &len, err);
	if (rc == 0) {
		s->out.config = s->config;
		s->out.config_len = len;
	}
	return rc == -ENOMEM ? rc : 0; /* a blob that is gone is a text that is not known */
}

static int read_side(struct db *db, const struct query_texts *texts, struct side *s,
		     struct kg_err *err)
{
	int rc = read_boot(db, s, err);

	if (rc == 0)
		rc = name_side(db, s, err);
	if (rc == 0)
		rc = s->kind == KIND_KERNEL ? read_kernel_facts(db, s, err)
					    : read_facts(db, s, err);
	if (rc == 0)
		rc = read_documents(db, s, err);
	if (rc == 0)
		rc = read_config(db, texts, s, err);
	if (rc == 0 && (s->arena.failed || s->name.failed))
		rc = reply_oom(err);
	s->out.name = kg_str_text(&s->name);
	return rc;
}

static int read_sides(struct db *db, const Kgrid__V1__DiffRequest *rq,
		      const struct query_texts *texts, struct side *a, struct side *b,
		      struct kg_err *err)
{
	int rc = find_side(db, rq->a, a, err);

	if (rc == 0)
		rc = find_side(db, rq->b, b, err);
	if (rc == 0)
		rc = match_epochs(db, a, b, err);
	if (rc == 0)
		rc = read_side(db, texts, a, err);
	return rc == 0 ? read_side(db, texts, b, err) : rc;
}

int query_diff(struct query *q, const Kgrid__V1__DiffRequest *rq, Kgrid__V1__DiffReply **ret,
	       struct kg_err *err)
{
	Kgrid__V1__DiffReply *reply = reply_new(&kgrid__v1__diff_reply__descriptor);
	struct side a = {0}, b = {0};
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_sides(db, rq, query_texts(q), &a, &b, err));
	if (rc == 0)
		rc = report_diff(&a.out, &b.out, reply, err);
	side_deinit(&a);
	side_deinit(&b);
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}
