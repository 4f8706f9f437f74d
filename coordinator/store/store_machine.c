/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines, their service, and events. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/str.h"
#include "coordinator/store/op.h"

static int run_machine_upsert(struct store *s, struct op *op)
{
	static const char sql[] =
		"INSERT INTO machine (name, first_seen_ns, last_seen_ns, state_id, cpu_vendor,"
		" cpu_name, clock, facts) VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7)"
		" ON CONFLICT (name) DO UPDATE SET last_seen_ns = ?2,"
		" state_id = coalesce(?3, state_id),"
		" cpu_vendor = iif(?7 IS NULL, cpu_vendor, ?4),"
		" cpu_name = iif(?7 IS NULL, cpu_name, ?5),"
		" clock = iif(?7 IS NULL, clock, ?6), facts = coalesce(?7, facts)";
	const struct store_machine *m = op->args;
	const Kgrid__V1__MachineFacts *f = m->facts;
	uint8_t *bytes = NULL;
	size_t len = 0;
	int rc;

	if (f) {
		len = kgrid__v1__machine_facts__get_packed_size(f);
		bytes = malloc(len + 1);
		if (!bytes)
			return kg_err_set(&op->err, -ENOMEM, "out of memory");
		len = kgrid__v1__machine_facts__pack(f, bytes);
	}
	rc = db_exec(store_db(s), &op->err, sql, T(m->name), I(m->last_seen_ns), T(m->state_id),
		     T(f ? f->cpu_vendor : NULL), T(f ? f->cpu_name : NULL), T(f ? f->clock : NULL),
		     bytes ? B(bytes, len) : NIL);
	free(bytes);
	return rc;
}

int store_machine_upsert(struct store *s, const struct store_machine *m, struct store_done done)
{
	struct op *op = op_new(run_machine_upsert, m, sizeof(*m), done);
	struct store_machine *copy = op ? op->args : NULL;

	if (copy) {
		copy->name = arena_text(&op->arena, m->name);
		copy->state_id = arena_text(&op->arena, m->state_id);
		if (m->facts)
			copy->facts = arena_message(&op->arena, &m->facts->base);
	}
	return op_queue(s, op);
}

/* ---- service and reservations ---- */

/* " until 2026-11-30 17:33 UTC" */
static void add_until(struct kg_str *s, int64_t ns)
{
	time_t at = (time_t)(ns / (int64_t)KG_NSEC_PER_SEC);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&at, &tm) && strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm) > 0)
		kg_str_addf(s, " until %s UTC", when);
}

static bool given(const char *text)
{
	return text && text[0];
}

static void add_why(struct kg_str *s, const char *why)
{
	if (given(why))
		kg_str_addf(s, ": %s", why);
}

static int service_event(struct db *db, const struct store_service *x, struct kg_err *err)
{
	struct store_event e = {.time_ns = x->now_ns, .machine = x->machine, .kind = "machine"};
	struct kg_str text = {0};
	int rc;

	if (x->service) {
		kg_str_add(&text, kg_streq(x->service, "normal") ? "back in service" : x->service);
		add_why(&text, x->why);
	}
	if (x->set_reserved) {
		kg_str_add(&text, text.len ? "; " : "");
		if (given(x->reserved_by)) {
			kg_str_addf(&text, "reserved for %s", x->reserved_by);
			add_until(&text, x->reserved_until_ns);
			add_why(&text, x->reserved_why);
		} else {
			kg_str_add(&text, "no longer reserved");
		}
	}
	if (given(x->user))
		kg_str_addf(&text, " (%s)", x->user);
	e.text = kg_str_text(&text);
	rc = text.failed ? kg_err_set(err, -ENOMEM, "out of memory") : event_insert(db, err, &e);
	kg_str_deinit(&text);
	return rc;
}

/* 1: something changed. Without a reason, the one that was given before stays. */
static int put_service(struct db *db, const struct store_service *x, struct kg_err *err)
{
	static const char sql[] =
		"UPDATE machine SET service = ?2, service_why = ?3 WHERE name = ?1"
		" AND (service <> ?2 OR (?3 IS NOT NULL AND service_why IS NOT ?3))";
	bool normal = kg_streq(x->service, "normal");
	int rc = db_exec(db, err, sql, T(x->machine), T(x->service),
			 T(normal || !given(x->why) ? NULL : x->why));

	return rc < 0 ? rc : db_changes(db) > 0;
}

/* 1: something changed. A reservation that is over is none. */
static int put_reservation(struct db *db, const struct store_service *x, struct kg_err *err)
{
	static const char sql[] =
		"UPDATE machine SET reserved_by = ?2, reserved_why = ?3, reserved_until_ns = ?4"
		" WHERE name = ?1"
		" AND (?2 IS NOT NULL OR (reserved_by IS NOT NULL AND reserved_until_ns > ?5))";
	bool by = given(x->reserved_by);
	int rc = db_exec(db, err, sql, T(x->machine), T(by ? x->reserved_by : NULL),
			 T(by && given(x->reserved_why) ? x->reserved_why : NULL),
			 by ? I(x->reserved_until_ns) : NIL, I(x->now_ns));

	return rc < 0 ? rc : db_changes(db) > 0;
}

static int run_machine_service(struct store *s, struct op *op)
{
	static const char *const words[] = {"normal", "drain", "maintenance"};
	const struct store_service *x = op->args;
	struct db *db = store_db(s);
	bool known = !x->service;
	int64_t there = 0;
	int rc =
		db_int(db, &op->err, "SELECT 1 FROM machine WHERE name = ?", &there, T(x->machine));

	if (rc == 0)
		rc = kg_err_set(&op->err, KG_ENOTFOUND, "no machine '%s'", x->machine);
	for (size_t i = 0; !known && i < sizeof(words) / sizeof(words[0]); i++)
		known = kg_streq(x->service, words[i]);
	if (rc > 0 && !known)
		rc = kg_err_set(&op->err, KG_EINVALID,
				"unknown service '%s': normal, drain or maintenance", x->service);
	if (rc < 0 || (!x->service && !x->set_reserved))
		return rc < 0 ? rc : 0;
	rc = x->service ? put_service(db, x, &op->err) : 0;
	if (rc >= 0 && x->set_reserved) {
		int other = put_reservation(db, x, &op->err);

		rc = other < 0 ? other : rc | other;
	}
	op->result.existed = rc == 0;
	return rc > 0 ? service_event(db, x, &op->err) : rc;
}

int store_machine_service(struct store *s, const struct store_service *x, struct store_done done)
{
	struct op *op = op_new(run_machine_service, x, sizeof(*x), done);
	struct store_service *copy = op ? op->args : NULL;

	if (copy) {
		copy->machine = arena_text(&op->arena, x->machine);
		copy->service = arena_text(&op->arena, x->service);
		copy->why = arena_text(&op->arena, x->why);
		copy->reserved_by = arena_text(&op->arena, x->reserved_by);
		copy->reserved_why = arena_text(&op->arena, x->reserved_why);
		copy->user = arena_text(&op->arena, x->user);
	}
	return op_queue(s, op);
}

/* ---- events ---- */

int event_insert(struct db *db, struct kg_err *err, const struct store_event *e)
{
	static const char sql[] = "INSERT INTO event (time_ns, machine, job, boot, kind, text)"
				  " VALUES (?, ?, ?, ?, ?, ?)";

	return db_exec(db, err, sql, I(e->time_ns), T(e->machine), I0(e->job), I0(e->boot),
		       T(e->kind), T(e->text));
}

static int run_event_add(struct store *s, struct op *op)
{
	int rc = event_insert(store_db(s), &op->err, op->args);

	op->result.id = (uint64_t)sqlite3_last_insert_rowid(store_db(s)->h);
	return rc;
}

int store_event_add(struct store *s, const struct store_event *e, struct store_done done)
{
	struct op *op = op_new(run_event_add, e, sizeof(*e), done);
	struct store_event *copy = op ? op->args : NULL;

	if (copy) {
		copy->machine = arena_text(&op->arena, e->machine);
		copy->kind = arena_text(&op->arena, e->kind);
		copy->text = arena_text(&op->arena, e->text);
	}
	return op_queue(s, op);
}
