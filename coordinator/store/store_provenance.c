/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Provenance: facts by class and content, and the epochs that they make. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/facts.h"
#include "common/str.h"
#include "coordinator/store/facts.h"
#include "coordinator/store/ingest.h"

#define FACTS_MAX	4096
#define NAME_MAX_BYTES	128
#define VALUE_MAX_BYTES 16384
#define CHANGES_TOLD	8  /* in an event; the epoch has all of them */
#define VALUE_TOLD	60 /* bytes of a value there */

/* A record's facts while they are stored. */
struct work {
	struct ingest *in;
	struct arena arena;
	const Kgrid__V1__Fact **sorted;
	enum kg_fact_class *class; /* beside sorted */
	size_t n;
	struct epoch_facts by_class[KG_FACT_CLASSES];
	char digest[KG_FACT_CLASSES][KG_SHA256_HEX_SIZE];
};

static int out_of_memory(struct ingest *in)
{
	return kg_err_set(&in->op->err, -ENOMEM, "out of memory");
}

/* ---- what came ---- */

static int order_by_name(const void *a, const void *b)
{
	const Kgrid__V1__Fact *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int check_fact(struct ingest *in, const Kgrid__V1__Fact *f)
{
	if (!f->name || !f->name[0])
		return ingest_fault(in, "a fact without a name");
	if (strlen(f->name) > NAME_MAX_BYTES)
		return ingest_fault(in, "fact '%.60s...' has a name of more than %d bytes", f->name,
				    NAME_MAX_BYTES);
	if (f->value && strlen(f->value) > VALUE_MAX_BYTES)
		return ingest_fault(in, "fact '%s' has a value of more than %d bytes", f->name,
				    VALUE_MAX_BYTES);
	if (!kg_utf8_valid(f->name, strlen(f->name)))
		return ingest_fault(in, "a fact has a name that is not UTF-8");
	return 0;
}

static int sort_facts(struct work *w, const Kgrid__V1__Provenance *b)
{
	if (b->n_facts == 0)
		return ingest_fault(w->in, "it has no facts");
	if (b->n_facts > FACTS_MAX)
		return ingest_fault(w->in, "it has %zu facts, more than %d", b->n_facts, FACTS_MAX);
	for (size_t i = 0; i < b->n_facts; i++) {
		int rc = check_fact(w->in, b->facts[i]);

		if (rc != 0)
			return rc;
	}
	w->n = b->n_facts;
	w->sorted = arena_copy(&w->arena, b->facts, w->n, sizeof(Kgrid__V1__Fact *));
	w->class = arena_alloc(&w->arena, w->n, sizeof(*w->class));
	if (!w->sorted || !w->class)
		return out_of_memory(w->in);
	qsort(w->sorted, w->n, sizeof(Kgrid__V1__Fact *), order_by_name);
	for (size_t i = 0; i < w->n; i++) {
		w->class[i] = kg_fact_find(w->sorted[i]->name)->class;
		if (i && strcmp(w->sorted[i - 1]->name, w->sorted[i]->name) == 0)
			return ingest_fault(w->in, "fact '%s' is given twice", w->sorted[i]->name);
	}
	return 0;
}

/* ---- storing ---- */

/* Why facts of a class are unsupported, as JSON; empty when nothing is said. */
static void add_reasons(const struct work *w, enum kg_fact_class class, struct kg_str *s)
{
	for (size_t i = 0; i < w->n; i++) {
		const Kgrid__V1__Fact *f = w->sorted[i];

		if (f->value || !f->reason || w->class[i] != class)
			continue;
		kg_str_add(s, s->len ? "," : "{");
		kg_str_add_json(s, f->name);
		kg_str_add(s, ":");
		kg_str_add_json(s, f->reason);
	}
	if (s->len)
		kg_str_add(s, "}");
}

static int store_class(struct work *w, const char *phase, enum kg_fact_class class)
{
	static const char sql[] =
		"INSERT INTO boot_facts (boot, attempt, phase, class, facts, reasons)"
		" VALUES (?, ?, ?, ?, ?, ?)";
	struct epoch_facts *facts = &w->by_class[class];
	struct ingest *in = w->in;
	struct epoch_fact *items = arena_alloc(&w->arena, w->n, sizeof(*items));
	struct kg_str reasons = {0};
	int rc;

	if (!items)
		return out_of_memory(in);
	facts->items = items;
	for (size_t i = 0; i < w->n; i++) {
		if (w->class[i] == class)
			items[facts->n++] =
				(struct epoch_fact){w->sorted[i]->name, w->sorted[i]->value};
	}
	/* An epoch refers to facts of class machine, be they none. */
	if (facts->n == 0 && (class != KG_FACT_MACHINE || strcmp(phase, "boot") != 0))
		return 0;
	rc = facts_store(in->db, facts, w->digest[class], &in->op->err);
	if (rc < 0)
		return rc;
	add_reasons(w, class, &reasons);
	rc = reasons.failed ? out_of_memory(in)
			    : db_exec(in->db, &in->op->err, sql, I(in->r->boot), I(in->r->attempt),
				      T(phase), T(kg_fact_class_name(class)), T(w->digest[class]),
				      T(reasons.text));
	kg_str_deinit(&reasons);
	return rc;
}

/* ---- epochs ---- */

struct epoch_row {
	int64_t number; /* 0: the machine has none yet */
	char machine[KG_SHA256_HEX_SIZE];
	char configuration[KG_SHA256_HEX_SIZE]; /* "": no boot to compare with */
};

static int read_text(struct ingest *in, sqlite3_stmt *st, int column, char ret[KG_SHA256_HEX_SIZE],
		     int64_t *ret_number)
{
	int rc = db_step(in->db, st, &in->op->err);

	if (rc > 0) {
		(void)snprintf(ret, KG_SHA256_HEX_SIZE, "%s", db_col_text_or(st, column, ""));
		if (ret_number)
			*ret_number = sqlite3_column_int64(st, 0);
	}
	db_reset(st);
	return rc < 0 ? rc : 0;
}

static int read_epoch(struct ingest *in, struct epoch_row *ret)
{
	/* Newest boot in the epoch that differs from this one in nothing that was asked for. */
	static const char newest[] =
		"SELECT boot_facts.facts FROM boot AS me"
		" JOIN boot ON boot.kernel = me.kernel AND boot.machine = me.machine"
		"  AND boot.epoch = ?2 AND boot.lsm_effective = me.lsm_effective"
		"  AND boot.cmdline = me.cmdline"
		" JOIN boot_facts ON boot_facts.boot = boot.id AND boot_facts.attempt = 0"
		"  AND boot_facts.phase = 'boot' AND boot_facts.class = 'configuration'"
		" WHERE me.id = ?1 ORDER BY boot.id DESC LIMIT 1";
	sqlite3_stmt *st;
	int rc = db_select(in->db, &in->op->err,
			   "SELECT number, facts FROM epoch WHERE machine = ?"
			   " ORDER BY number DESC LIMIT 1",
			   &st, T(in->a->machine));

	if (rc == 0)
		rc = read_text(in, st, 1, ret->machine, &ret->number);
	if (rc == 0 && ret->number)
		rc = db_select(in->db, &in->op->err, newest, &st, I(in->r->boot), I(ret->number));
	if (rc == 0 && ret->number)
		rc = read_text(in, st, 0, ret->configuration, NULL);
	return rc;
}

/* Machine's and configuration's facts as one list; no configuration when its digest is "". */
static int load_both(struct work *w, const char *machine, const char *configuration,
		     struct epoch_facts *ret)
{
	struct epoch_facts a = {0}, b = {0};
	struct ingest *in = w->in;
	int rc = facts_load(in->db, &w->arena, machine, &a, &in->op->err);

	if (rc == 0 && configuration[0])
		rc = facts_load(in->db, &w->arena, configuration, &b, &in->op->err);
	if (rc == 0 && facts_union(&w->arena, &a, &b, ret) < 0)
		rc = out_of_memory(in);
	return rc;
}

static const char *told(const char *value, char *buf, size_t size)
{
	if (!value)
		return "unsupported";
	(void)snprintf(buf, size, "%.*s%s", VALUE_TOLD, value,
		       strlen(value) > VALUE_TOLD ? "..." : "");
	return buf;
}

static int tell_epoch(struct ingest *in, int64_t number, const struct epoch_change *c, size_t n)
{
	struct kg_str s = {0};
	int rc;

	kg_str_addf(&s, "epoch %lld: ", (long long)number);
	for (size_t i = 0; i < n && i < CHANGES_TOLD; i++) {
		char a[VALUE_TOLD + 4], b[VALUE_TOLD + 4];

		kg_str_addf(&s, "%s%s %s -> %s", i ? ", " : "", c[i].name,
			    told(c[i].a, a, sizeof(a)), told(c[i].b, b, sizeof(b)));
	}
	if (n > CHANGES_TOLD)
		kg_str_addf(&s, ", and %zu more", n - CHANGES_TOLD);
	rc = s.failed ? out_of_memory(in) : ingest_event(in, "epoch", s.text);
	kg_str_deinit(&s);
	return rc;
}

static void add_value(struct kg_str *s, const char *name, const char *value)
{
	kg_str_addf(s, ",\"%s\":", name);
	if (value)
		kg_str_add_json(s, value);
	else
		kg_str_add(s, "null");
}

static int insert_epoch(struct ingest *in, int64_t number, const char *digest,
			const struct epoch_change *c, size_t n)
{
	static const char sql[] = "INSERT INTO epoch (machine, number, started_ns, first_boot,"
				  " facts, changes) VALUES (?, ?, ?, ?, ?, ?)";
	struct kg_str s = {0};
	int rc;

	kg_str_add(&s, "[");
	for (size_t i = 0; i < n; i++) {
		kg_str_add(&s, i ? ",{\"name\":" : "{\"name\":");
		kg_str_add_json(&s, c[i].name);
		add_value(&s, "a", c[i].a);
		add_value(&s, "b", c[i].b);
		kg_str_add(&s, "}");
	}
	kg_str_add(&s, "]");
	rc = s.failed ? out_of_memory(in)
		      : db_exec(in->db, &in->op->err, sql, T(in->a->machine), I(number),
				I(ingest_ns(in)), I(in->r->boot), T(digest), T(s.text));
	kg_str_deinit(&s);
	return rc;
}

/* Names that the epoch has not heard of join it: a newer agent looks at more, and what it saw first
 * is what a later change is told by. */
static int widen_epoch(struct work *w, const struct epoch_row *e)
{
	struct epoch_facts known = {0}, now = {0}, all = {0};
	char digest[KG_SHA256_HEX_SIZE] = "";
	struct ingest *in = w->in;
	int rc = facts_load(in->db, &w->arena, e->machine, &known, &in->op->err);

	if (rc == 0)
		rc = facts_load(in->db, &w->arena, w->digest[KG_FACT_MACHINE], &now, &in->op->err);
	if (rc == 0 && facts_union(&w->arena, &known, &now, &all) < 0)
		rc = out_of_memory(in);
	if (rc < 0 || all.n == known.n)
		return rc;
	rc = facts_store(in->db, &all, digest, &in->op->err);
	if (rc < 0)
		return rc;
	return db_exec(in->db, &in->op->err,
		       "UPDATE epoch SET facts = ?3 WHERE machine = ?1 AND number = ?2",
		       T(in->a->machine), I(e->number), T(digest));
}

/* *number is the epoch that the boot belongs to. */
static int choose_epoch(struct work *w, int64_t *number)
{
	const char *machine = w->digest[KG_FACT_MACHINE];
	const char *configuration = w->digest[KG_FACT_CONFIGURATION];
	struct epoch_facts before = {0}, now = {0};
	struct epoch_change *changes;
	struct epoch_row e = {0};
	struct ingest *in = w->in;
	size_t n;
	int rc = read_epoch(in, &e);

	*number = e.number ? e.number : 1;
	if (rc == 0 && e.number == 0)
		return insert_epoch(in, 1, machine, NULL, 0);
	if (rc < 0 || (strcmp(e.machine, machine) == 0 &&
		       (!e.configuration[0] || strcmp(e.configuration, configuration) == 0)))
		return rc; /* as nearly always */
	rc = load_both(w, e.machine, e.configuration, &before);
	if (rc == 0)
		rc = load_both(w, machine, configuration, &now);
	if (rc < 0)
		return rc;
	changes = arena_alloc(&w->arena, before.n + 1, sizeof(*changes));
	if (!changes)
		return out_of_memory(in);
	n = epoch_changes(&before, &now, changes, before.n);
	if (n == 0)
		return widen_epoch(w, &e);
	*number = e.number + 1;
	rc = insert_epoch(in, *number, machine, changes, n);
	return rc < 0 ? rc : tell_epoch(in, *number, changes, n);
}

static int assign_epoch(struct work *w)
{
	struct ingest *in = w->in;
	int64_t verified = 0, number = 0;
	int rc = db_int(in->db, &in->op->err, "SELECT verified FROM provenance WHERE boot = ?",
			&verified, I(in->r->boot));

	if (rc < 0 ||
	    !verified) /* what another kernel says is evidence, not this machine's state */
		return rc < 0 ? rc : 0;
	rc = choose_epoch(w, &number);
	if (rc < 0)
		return rc;
	return db_exec(in->db, &in->op->err, "UPDATE boot SET epoch = ?2 WHERE id = ?1",
		       I(in->r->boot), I(number));
}

/* ---- the record ---- */

static int check_phase(struct ingest *in, const char *phase)
{
	struct attempt_row at = {0};

	if (kg_streq(phase, "boot"))
		return in->r->attempt ? ingest_fault(in, "phase 'boot' is of no attempt") : 0;
	if (kg_streq(phase, "before") || kg_streq(phase, "after"))
		return ingest_attempt(in, &at);
	return ingest_fault(in, "unknown phase '%.60s'", phase ? phase : "");
}

/* Whether these facts are there. The first look counts, as with evidence: an agent that starts again
 * looks again. 1, 0 or a code. */
static int is_known(struct ingest *in, const char *phase)
{
	static const char sql[] = "SELECT 1 FROM boot_facts WHERE boot = ? AND attempt = ?"
				  " AND phase = ? LIMIT 1";
	int64_t there = 0;

	return db_int(in->db, &in->op->err, sql, &there, I(in->r->boot), I(in->r->attempt),
		      T(phase));
}

static int store_facts(struct work *w, const Kgrid__V1__Provenance *b)
{
	int rc = is_known(w->in, b->phase);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	for (int class = 0; rc == 0 && class < KG_FACT_CLASSES; class ++)
		rc = store_class(w, b->phase, (enum kg_fact_class) class);
	if (rc == 0 && strcmp(b->phase, "boot") == 0)
		rc = assign_epoch(w);
	return rc;
}

int ingest_provenance(struct ingest *in, const Kgrid__V1__Provenance *b)
{
	struct work w = {.in = in};
	int rc = check_phase(in, b->phase);

	if (rc == 0)
		rc = sort_facts(&w, b);
	if (rc == 0)
		rc = store_facts(&w, b);
	arena_deinit(&w.arena);
	return rc;
}
