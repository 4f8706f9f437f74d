/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slots and values of a selection's cells, and what makes them comparable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/str.h"
#include "coordinator/store/query_rows.h"
#include "coordinator/store/zstd_text.h"

/* ---- slots ---- */

static struct report_exclusion *find_exclusion(struct rows *r, const char *machine,
					       const char *outcome, const char *reason)
{
	struct report_exclusion *e;

	for (size_t i = 0; i < r->n_exclusions; i++) {
		e = &r->exclusions[i];
		if (strcmp(e->machine, machine) == 0 && strcmp(e->outcome, outcome) == 0 &&
		    kg_streq(e->reason, reason))
			return e;
	}
	e = arena_push(&r->arena, &r->exclusions, &r->n_exclusions, sizeof(*e));
	if (e) {
		e->machine = machine;
		e->outcome = arena_text(&r->arena, outcome);
		e->reason = arena_text(&r->arena, reason);
	}
	return e;
}

static int order_exclusion(const void *a, const void *b)
{
	const struct report_exclusion *x = a, *y = b;
	int order = x->slots > y->slots ? -1 : x->slots < y->slots;

	if (!order)
		order = strcmp(x->machine, y->machine);
	if (!order)
		order = strcmp(x->outcome, y->outcome);
	return order ? order : strcmp(x->reason ? x->reason : "", y->reason ? y->reason : "");
}

/* A slot that no boot decided is as old as its job's end. */
static int read_slots(struct db *db, struct rows *r, const struct raw_cell *raw, struct kg_err *err)
{
	static const char sql[] =
		"SELECT slot.outcome, slot.reason, count(*) FROM slot"
		" JOIN job ON job.id = slot.job"
		" LEFT JOIN attempt ON attempt.id = slot.attempt"
		" LEFT JOIN boot ON boot.id = attempt.boot"
		" WHERE slot.cell = ?1 AND slot.block > ?2"
		" AND (?3 = 0 OR coalesce(boot.started_ns, job.ended_ns, ?3) >= ?3)"
		" GROUP BY slot.outcome, slot.reason";
	struct report_cell *c = &r->cells[raw->index];
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(raw->id), I(r->filter.after_block),
			   I(r->filter.since_ns));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		const char *name = db_col_text(st, 0);
		enum kg_outcome o = name ? kg_outcome_parse(name) : KG_OUTCOME_NONE;
		uint64_t n = (uint64_t)sqlite3_column_int64(st, 2);

		if (name && o == KG_OUTCOME_NONE)
			o = KG_OUTCOME_HARNESS_ERROR; /* a word of another version */
		c->slots[o] += n;
		if (name && o != KG_OUTCOME_PASS) {
			struct report_exclusion *e =
				find_exclusion(r, c->machine, name, db_col_text(st, 1));

			if (!e)
				break;
			e->slots += n;
		}
	}
	db_reset(st);
	return r->arena.failed ? reply_oom(err) : rc;
}

/* ---- values ---- */

static int read_metric(struct db *db, int64_t id, struct rows *r, struct kg_err *err)
{
	struct arena *a = &r->arena;
	struct report_metric *m = arena_push(a, &r->metrics, &r->n_metrics, sizeof(*m));
	int64_t *kept = arena_push(a, &r->metric_ids, &r->n_metric_ids, sizeof(*kept));
	sqlite3_stmt *st;
	int rc = m && kept ? db_select(db, err,
				       "SELECT name, unit, direction FROM metric WHERE id = ?", &st,
				       I(id))
			   : reply_oom(err);

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	*kept = id;
	m->name = arena_text(a, rc > 0 ? db_col_text_or(st, 0, "") : "");
	m->unit = arena_text(a, rc > 0 ? db_col_text_or(st, 1, "") : "");
	m->direction = arena_text(a, rc > 0 ? db_col_text_or(st, 2, "none") : "none");
	db_reset(st);
	return rc < 0 ? rc : 0;
}

/* Index of a metric, read when it is met first. */
static int find_metric(struct db *db, int64_t id, struct rows *r, size_t *ret, struct kg_err *err)
{
	size_t i = 0;

	while (i < r->n_metric_ids && r->metric_ids[i] != id)
		i++;
	*ret = i;
	return i < r->n_metric_ids ? 0 : read_metric(db, id, r, err);
}

static int add_value(struct rows *r, const struct report_value *v)
{
	if (r->n_values == r->cap_values) {
		size_t cap = r->cap_values ? 2 * r->cap_values : 1024;
		struct report_value *grown = realloc(r->values, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		r->values = grown;
		r->cap_values = cap;
	}
	r->values[r->n_values++] = *v;
	return 0;
}

static int read_values(struct db *db, struct rows *r, const struct raw_cell *raw,
		       struct kg_err *err)
{
	static const char sql[] =
		"SELECT attempt.boot, boot.job, boot.started_ns, slot.block, boot.epoch,"
		" sample.metric, sample.value"
		" FROM slot JOIN attempt ON attempt.id = slot.attempt"
		" JOIN boot ON boot.id = attempt.boot JOIN sample ON sample.attempt = attempt.id"
		" WHERE slot.cell = ?1 AND slot.block > ?2 AND boot.started_ns >= ?3"
		" AND boot.role <> 'server' AND slot.outcome = 'pass' AND attempt.outcome = 'pass'"
		" AND sample.warmup = 0 ORDER BY slot.block, sample.idx";
	const struct row_filter *f = &r->filter;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(raw->id), I(f->after_block),
			   f->since_ns ? I(f->since_ns) : I(INT64_MIN));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct report_value v = {
			.cell = raw->index,
			.boot = (uint64_t)sqlite3_column_int64(st, 0),
			.job = (uint64_t)sqlite3_column_int64(st, 1),
			.time_ns = sqlite3_column_int64(st, 2),
			.block = (uint32_t)sqlite3_column_int64(st, 3),
			.epoch = (uint32_t)sqlite3_column_int64(st, 4),
			.value = sqlite3_column_double(st, 6),
		};

		rc = find_metric(db, sqlite3_column_int64(st, 5), r, &v.metric, err);
		if (rc == 0)
			rc = add_value(r, &v);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

static uint64_t slots_of(const struct report_cell *c)
{
	uint64_t n = 0;

	for (int o = 0; o < KG_OUTCOME_COUNT; o++)
		n += c->slots[o];
	return n;
}

/* Cells that have nothing in the window would be empty columns. */
static int drop_empty_cells(struct rows *r, struct kg_err *err)
{
	size_t *moved = arena_alloc(&r->arena, r->n_cells + 1, sizeof(*moved));
	size_t n = 0, raws = 0;

	if (!moved)
		return reply_oom(err);
	for (size_t i = 0; i < r->n_cells; i++) {
		moved[i] = SIZE_MAX;
		if (slots_of(&r->cells[i]) == 0)
			continue;
		moved[i] = n;
		r->cells[n++] = r->cells[i];
	}
	for (size_t i = 0; i < r->n_values; i++)
		r->values[i].cell = moved[r->values[i].cell];
	for (size_t i = 0; i < r->n_raw; i++) {
		if (moved[r->raw[i].index] == SIZE_MAX)
			continue;
		r->raw[raws] = r->raw[i];
		r->raw[raws].index = moved[r->raw[i].index];
		raws++;
	}
	r->n_raw = raws;
	r->n_cells = n;
	return 0;
}

int rows_read_values(struct db *db, struct rows *r, struct kg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < r->n_raw; i++) {
		rc = read_slots(db, r, &r->raw[i], err);
		if (rc == 0)
			rc = read_values(db, r, &r->raw[i], err);
	}
	if (rc == 0 && (r->filter.since_ns || r->filter.after_block))
		rc = drop_empty_cells(r, err);
	if (rc == 0 && r->n_exclusions)
		qsort(r->exclusions, r->n_exclusions, sizeof(*r->exclusions), order_exclusion);
	return rc;
}

int rows_note(const struct rows *r, char ***notes, size_t *n_notes)
{
	const struct row_filter *f = &r->filter;
	char when[32] = "", text[160];
	time_t at = (time_t)(f->since_ns / (int64_t)KG_NSEC_PER_SEC);
	struct tm tm;

	if (r->n_jobs == 0)
		return reply_push_text(notes, n_notes,
				       f->calibrate && !f->normal
					       ? "there is no calibration run yet"
					       : "there is no job yet that the selection fits");
	if (r->n_values)
		return 0;
	if (r->n_cells == 0 && !f->since_ns && !f->after_block)
		return reply_push_text(
			notes, n_notes,
			"no cell fits the whole selection: what it names occurs, but "
			"not together");
	if (f->after_block) {
		(void)snprintf(text, sizeof(text), "no value after block %u yet", f->after_block);
		return reply_push_text(notes, n_notes, text);
	}
	if (!f->since_ns)
		return 0; /* the tables say what became of each cell */
	if (gmtime_r(&at, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	(void)snprintf(text, sizeof(text), "no boot of the selection since %s gave a value", when);
	return reply_push_text(notes, n_notes, text);
}

/* ---- what makes them comparable ---- */

static int read_epochs_of(struct db *db, const char *machine, struct rows *r, struct kg_err *err)
{
	static const char sql[] =
		"SELECT e.number, json_extract(j.value, '$.name'), json_extract(j.value, '$.a'),"
		" json_extract(j.value, '$.b')"
		" FROM epoch AS e LEFT JOIN json_each(e.changes) AS j"
		" WHERE e.machine = ? ORDER BY e.number, j.id";
	struct arena *a = &r->arena;
	struct report_epoch *e = NULL;
	struct epoch_change *changes = NULL;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, T(machine));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		uint32_t number = (uint32_t)sqlite3_column_int64(st, 0);
		struct epoch_change *c;

		if (!e || e->number != number) {
			e = arena_push(a, &r->epochs, &r->n_epochs, sizeof(*e));
			if (!e)
				break;
			*e = (struct report_epoch){.machine = machine, .number = number};
			changes = NULL;
		}
		if (!db_col_text(st, 1))
			continue;
		c = arena_push(a, &changes, &e->n_changes, sizeof(*c));
		if (!c)
			break;
		c->name = arena_text(a, db_col_text(st, 1));
		c->a = arena_text(a, db_col_text(st, 2));
		c->b = arena_text(a, db_col_text(st, 3));
		e->changes = changes;
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

static int read_epochs(struct db *db, struct rows *r, struct kg_err *err)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		size_t j = 0;
		int rc = 0;

		while (j < i && strcmp(r->cells[j].machine, r->cells[i].machine) != 0)
			j++;
		if (j == i)
			rc = read_epochs_of(db, r->cells[i].machine, r, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The CPU that the values come from, and not the one that the machine has today. */
static void fill_cpu(struct arena *a, sqlite3_stmt *st, int column, struct report_cell *c)
{
	const char *name = db_col_text(st, column), *vendor = db_col_text(st, column + 1),
		   *uarch = db_col_text(st, column + 2);

	if (!name)
		return;
	if (uarch || !kg_streq(name, c->cpu_name))
		c->microarchitecture = arena_text(a, uarch);
	c->cpu_name = arena_text(a, name);
	if (vendor)
		c->cpu_vendor = arena_text(a, vendor);
}

/* Of the newest boot that gave the cell a value: what it said of itself. */
static int read_boot_facts(struct db *db, struct rows *r, const struct raw_cell *raw,
			   struct kg_err *err)
{
	static const char sql[] =
		"SELECT provenance.microcode, boot_document.digest,"
		" json_extract(fact_set.facts, '$.\"kernel.compiler\"'),"
		" json_extract(own.facts, '$.\"cpu.name\"'),"
		" json_extract(own.facts, '$.\"cpu.vendor\"'),"
		" json_extract(own.facts, '$.\"cpu.microarchitecture\"'), max(attempt.boot)"
		" FROM slot JOIN attempt ON attempt.id = slot.attempt"
		" LEFT JOIN provenance ON provenance.boot = attempt.boot"
		" LEFT JOIN boot_document ON boot_document.boot = attempt.boot"
		"  AND boot_document.name = 'config'"
		" LEFT JOIN boot_facts ON boot_facts.boot = attempt.boot"
		"  AND boot_facts.attempt = 0 AND boot_facts.phase = 'boot'"
		"  AND boot_facts.class = 'subject'"
		" LEFT JOIN fact_set ON fact_set.digest = boot_facts.facts"
		" LEFT JOIN boot_facts AS machine ON machine.boot = attempt.boot"
		"  AND machine.attempt = 0 AND machine.phase = 'boot'"
		"  AND machine.class = 'machine'"
		" LEFT JOIN fact_set AS own ON own.digest = machine.facts"
		" WHERE slot.cell = ? AND slot.outcome = 'pass'";
	struct report_cell *c = &r->cells[raw->index];
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(raw->id));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0 && db_col_text(st, 0) && db_col_text(st, 0)[0])
		c->microcode = arena_text(&r->arena, db_col_text(st, 0));
	if (rc > 0 && db_col_text(st, 1))
		c->config_digest = arena_text(&r->arena, db_col_text(st, 1));
	if (rc > 0 && db_col_text(st, 2))
		c->compiler = arena_text(&r->arena, db_col_text(st, 2));
	if (rc > 0)
		fill_cpu(&r->arena, st, 3, c);
	db_reset(st);
	return r->arena.failed ? reply_oom(err) : rc < 0 ? rc : 0;
}

static int read_declared(struct db *db, struct rows *r, const struct raw_cell *raw,
			 struct kg_err *err)
{
	static const char sql[] =
		"SELECT attempt_metric.metric, attempt_metric.min_effect_pct, max(slot.attempt)"
		" FROM slot JOIN attempt_metric ON attempt_metric.attempt = slot.attempt"
		" WHERE slot.cell = ? AND slot.outcome = 'pass'"
		" AND attempt_metric.min_effect_pct IS NOT NULL GROUP BY attempt_metric.metric";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(raw->id));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct row_declared *d;
		size_t metric = 0, i = 0;

		while (metric < r->n_metric_ids &&
		       r->metric_ids[metric] != sqlite3_column_int64(st, 0))
			metric++;
		if (metric == r->n_metric_ids)
			continue; /* it gave no value */
		while (i < r->n_declared &&
		       (r->declared[i].cell != raw->index || r->declared[i].metric != metric))
			i++;
		d = i < r->n_declared
			    ? &r->declared[i]
			    : arena_push(&r->arena, &r->declared, &r->n_declared, sizeof(*d));
		if (!d)
			break;
		*d = (struct row_declared){raw->index, metric, sqlite3_column_double(st, 1)};
	}
	db_reset(st);
	return r->arena.failed ? reply_oom(err) : rc;
}

int read_document(struct db *db, const char *digest, char **ret_text, size_t *ret_len,
		  struct kg_err *err)
{
	sqlite3_stmt *st;
	size_t len = 0;
	int rc = db_select(db, err, "SELECT stored, text_bytes FROM document WHERE digest = ?", &st,
			   T(digest));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc == 0)
		rc = kg_err_set(err, KG_ENOTFOUND, "no document '%.12s' is stored", digest);
	if (rc > 0) {
		const void *stored = sqlite3_column_blob(st, 0);

		len = (size_t)sqlite3_column_int64(st, 1);
		rc = stored ? zstd_text(stored, (size_t)sqlite3_column_bytes(st, 0), len, ret_text,
					err)
			    : reply_oom(err);
		if (rc == KG_EINVALID)
			rc = kg_err_wrap(err, KG_ECORRUPT, "stored document '%.12s'", digest);
	}
	db_reset(st);
	if (rc == 0)
		*ret_len = len;
	return rc;
}

int read_config_text(struct db *db, const struct query_texts *texts, const char *digest,
		     char **ret_text, size_t *ret_len, struct kg_err *err)
{
	int rc = read_document(db, digest, ret_text, ret_len, err);

	if (rc == KG_ENOTFOUND && texts->read)
		rc = texts->read(texts->arg, digest, ret_text, ret_len, err);
	return rc;
}

int rows_read_configs(struct db *db, const struct query_texts *texts, struct rows *r,
		      struct kg_err *err)
{
	for (size_t i = 0; i < r->n_cells; i++) {
		const char *digest = r->cells[i].config_digest;
		struct report_config *c;
		size_t j = 0, len = 0;
		char *text = NULL;
		int rc;

		while (digest && j < i && !kg_streq(r->cells[j].config_digest, digest))
			j++;
		if (!digest || j < i)
			continue;
		rc = read_config_text(db, texts, digest, &text, &len, err);
		if (rc == -ENOMEM)
			return rc;
		if (rc < 0)
			continue; /* a blob that is gone is a text that is not known */
		c = arena_push(&r->arena, &r->configs, &r->n_configs, sizeof(*c));
		if (!c) {
			free(text);
			return reply_oom(err);
		}
		*c = (struct report_config){digest, text, len};
	}
	return 0;
}

int rows_read_context(struct db *db, struct rows *r, struct kg_err *err)
{
	int rc = read_epochs(db, r, err);

	for (size_t i = 0; rc == 0 && i < r->n_raw; i++) {
		rc = read_boot_facts(db, r, &r->raw[i], err);
		if (rc == 0)
			rc = read_declared(db, r, &r->raw[i], err);
	}
	return rc;
}
