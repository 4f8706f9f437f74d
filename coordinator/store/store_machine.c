/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines and events. */
#include <errno.h>
#include <stdlib.h>

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
