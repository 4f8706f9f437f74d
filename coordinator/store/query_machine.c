/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines and events. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/str.h"
#include "common/uarch.h"
#include "coordinator/store/query_internal.h"

#define MACHINE_EVENTS 20

/* ---- machines ---- */

static int fill_workload(const Kgrid__V1__WorkloadOffer *w, Kgrid__V1__MachineInfo *m)
{
	Kgrid__V1__WorkloadState *s = reply_new(&kgrid__v1__workload_state__descriptor);

	if (!s)
		return -ENOMEM;
	s->has_available = w->has_available;
	s->available = w->available;
	if (reply_text(&s->name, w->name) | reply_text(&s->missing, w->missing) |
	    reply_text(&s->digest, w->digest) | reply_text(&s->version, w->version)) {
		reply_free(s);
		return -ENOMEM;
	}
	return reply_push(&m->workloads, &m->n_workloads, s,
			  &kgrid__v1__workload_state__descriptor);
}

static int fill_uarch(const Kgrid__V1__MachineFacts *f, Kgrid__V1__MachineInfo *m)
{
	char buf[64];

	if (!f->cpu_vendor || !f->has_cpu_family || !f->has_cpu_model)
		return 0;
	return reply_text(&m->microarchitecture,
			  kg_uarch_name(f->cpu_vendor, f->cpu_family, f->cpu_model, f->cpu_stepping,
					buf, sizeof(buf)));
}

static int fill_facts(const Kgrid__V1__MachineFacts *f, Kgrid__V1__MachineInfo *m)
{
	int rc = fill_uarch(f, m) | reply_text(&m->address, text_or_none(f->address));

	m->has_cpu_family = f->has_cpu_family;
	m->cpu_family = f->cpu_family;
	m->has_cpu_model = f->has_cpu_model;
	m->cpu_model = f->cpu_model;
	m->has_cpu_stepping = f->has_cpu_stepping;
	m->cpu_stepping = f->cpu_stepping;
	m->has_cpus = f->has_cpus;
	m->cpus = f->cpus;
	m->has_memory_bytes = f->has_memory_bytes;
	m->memory_bytes = f->memory_bytes;
	m->has_sockets = f->has_sockets;
	m->sockets = f->sockets;
	m->has_numa_nodes = f->has_numa_nodes;
	m->numa_nodes = f->numa_nodes;
	rc |= reply_text(&m->cpu_vendor, f->cpu_vendor) | reply_text(&m->cpu_name, f->cpu_name) |
	      reply_text(&m->microcode, f->microcode) |
	      reply_text(&m->kernel_release, f->kernel_release) | reply_text(&m->clock, f->clock);
	for (size_t i = 0; rc == 0 && i < f->n_tags; i++)
		rc = reply_push_text(&m->tags, &m->n_tags, f->tags[i]);
	for (size_t i = 0; rc == 0 && i < f->n_workloads; i++)
		rc = fill_workload(f->workloads[i], m);
	return rc;
}

#define MACHINE_COLUMNS                                                                      \
	"SELECT name, last_seen_ns, facts, service, service_why, reserved_by, reserved_why," \
	" reserved_until_ns FROM machine"

static int fill_service(sqlite3_stmt *st, Kgrid__V1__MachineInfo *m)
{
	m->has_reserved_until_ns = db_col_text(st, 5) && sqlite3_column_type(st, 7) != SQLITE_NULL;
	m->reserved_until_ns = sqlite3_column_int64(st, 7);
	return reply_text(&m->service, db_col_text(st, 3)) |
	       reply_text(&m->service_why, db_col_text(st, 4)) |
	       reply_text(&m->reserved_by, db_col_text(st, 5)) |
	       reply_text(&m->reserved_why, db_col_text(st, 6));
}

/* Of MACHINE_COLUMNS. NULL: out of memory. */
static Kgrid__V1__MachineInfo *machine_at(sqlite3_stmt *st)
{
	Kgrid__V1__MachineInfo *m = reply_new(&kgrid__v1__machine_info__descriptor);
	size_t len = (size_t)sqlite3_column_bytes(st, 2);
	const void *bytes = sqlite3_column_blob(st, 2);
	Kgrid__V1__MachineFacts *f = NULL;
	int rc = m && (reply_text(&m->name, db_col_text(st, 0)) | fill_service(st, m)) == 0
			 ? 0
			 : -ENOMEM;

	if (rc == 0) {
		m->has_last_seen_ns = 1;
		m->last_seen_ns = sqlite3_column_int64(st, 1);
	}
	if (rc == 0 && bytes)
		f = kgrid__v1__machine_facts__unpack(NULL, len, bytes);
	if (f)
		rc = fill_facts(f, m);
	if (f)
		kgrid__v1__machine_facts__free_unpacked(f, NULL);
	if (rc == 0)
		return m;
	reply_free(m);
	return NULL;
}

/* An open boot is what the machine works on. */
static int read_open_boot(struct db *db, Kgrid__V1__MachineInfo *m, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT job, id, stage FROM boot"
			   " WHERE machine = ? AND outcome IS NULL ORDER BY id DESC LIMIT 1",
			   &st, T(m->name));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc > 0) {
		m->has_job = m->has_boot = 1;
		m->job = (uint64_t)sqlite3_column_int64(st, 0);
		m->boot = (uint64_t)sqlite3_column_int64(st, 1);
		rc = reply_text(&m->stage, db_col_text(st, 2));
	}
	db_reset(st);
	return rc;
}

static int read_machines(struct db *db, Kgrid__V1__MachinesReply *reply, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, MACHINE_COLUMNS " ORDER BY name", &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		Kgrid__V1__MachineInfo *m = machine_at(st);

		rc = m ? read_open_boot(db, m, err) : reply_oom(err);
		if (rc == 0)
			rc = reply_push(&reply->machines, &reply->n_machines, m,
					&kgrid__v1__machine_info__descriptor);
		else
			reply_free(m);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

int query_machines(struct query *q, Kgrid__V1__MachinesReply **ret, struct kg_err *err)
{
	Kgrid__V1__MachinesReply *reply = reply_new(&kgrid__v1__machines_reply__descriptor);
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_machines(db, reply, err));
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}

int check_machine(struct db *db, const char *name, struct kg_err *err)
{
	struct kg_str names = {0};
	bool found = !name;
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT name FROM machine ORDER BY name", &st, NIL);

	if (rc < 0)
		return rc;
	while (!found && (rc = db_step(db, st, err)) > 0) {
		found = kg_streq(db_col_text(st, 0), name);
		kg_str_addf(&names, "%s%s", names.len ? ", " : "", db_col_text_or(st, 0, ""));
	}
	db_reset(st);
	if (rc >= 0 && names.failed)
		rc = reply_oom(err);
	else if (rc >= 0 && !found)
		rc = kg_err_set(err, KG_ENOTFOUND, "no machine '%s'%s%s", name,
				names.len ? "; there are " : "", kg_str_text(&names));
	kg_str_deinit(&names);
	return rc < 0 ? rc : 0;
}

/* "2026-11-30 17:33:58 stage: run", in UTC */
static int push_event_line(sqlite3_stmt *st, Kgrid__V1__MachineInfo *m)
{
	int64_t ns = sqlite3_column_int64(st, 0);
	time_t at = (time_t)(ns / (int64_t)KG_NSEC_PER_SEC);
	char when[32] = "";
	char *line = NULL;
	struct tm tm;

	if (gmtime_r(&at, &tm))
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	if (asprintf(&line, "%s %s: %s", when, db_col_text_or(st, 1, ""),
		     db_col_text_or(st, 2, "")) < 0)
		return -ENOMEM;
	return reply_push(&m->events, &m->n_events, line, NULL);
}

static int read_machine_events(struct db *db, Kgrid__V1__MachineInfo *m, struct kg_err *err)
{
	static const char sql[] =
		"SELECT time_ns, kind, text FROM (SELECT id, time_ns, kind, text FROM event"
		" WHERE machine = ? ORDER BY id DESC LIMIT ?) ORDER BY id";
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, T(m->name), I(MACHINE_EVENTS));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		rc = push_event_line(st, m);
		if (rc < 0)
			break;
	}
	db_reset(st);
	return rc;
}

static int read_machine(struct db *db, const char *name, Kgrid__V1__MachineInfo **ret,
			struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, MACHINE_COLUMNS " WHERE name = ?", &st, T(name));

	if (rc < 0)
		return rc;
	rc = db_step(db, st, err);
	if (rc == 0) {
		rc = kg_err_set(err, KG_ENOTFOUND, "no machine '%s'", name);
	} else if (rc > 0) {
		*ret = machine_at(st);
		rc = *ret ? 0 : reply_oom(err);
	}
	db_reset(st);
	if (rc == 0)
		rc = read_open_boot(db, *ret, err);
	if (rc == 0)
		rc = read_machine_events(db, *ret, err);
	return rc;
}

int query_machine(struct query *q, const char *name, Kgrid__V1__MachineReply **ret,
		  struct kg_err *err)
{
	Kgrid__V1__MachineReply *reply = reply_new(&kgrid__v1__machine_reply__descriptor);
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_machine(db, name, &reply->machine, err));
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}

/* ---- events ---- */

int query_events(struct query *q, const char *machine, uint64_t job, uint64_t after_id,
		 unsigned max, void (*on_event)(void *arg, const struct store_event_row *e),
		 void *arg, struct kg_err *err)
{
	static const char of_machine[] =
		"SELECT id, time_ns, machine, job, boot, kind, text FROM event"
		" WHERE machine = ?1 AND id > ?3 AND (?2 IS NULL OR job = ?2)"
		" ORDER BY id LIMIT ?4";
	static const char of_job[] =
		"SELECT id, time_ns, machine, job, boot, kind, text FROM event"
		" WHERE job = ?2 AND id > ?3 AND ?1 IS NULL ORDER BY id LIMIT ?4";
	static const char of_any[] =
		"SELECT id, time_ns, machine, job, boot, kind, text FROM event"
		" WHERE id > ?3 AND ?1 IS NULL AND ?2 IS NULL ORDER BY id LIMIT ?4";
	const char *sql = machine ? of_machine : job ? of_job : of_any;
	sqlite3_stmt *st;
	struct db *db;
	int rc = query_begin(q, &db, err);

	if (rc < 0)
		return rc;
	rc = db_select(db, err, sql, &st, T(machine), I0(job), I(after_id), I(max));
	if (rc < 0)
		return query_end(q, db, rc);
	while ((rc = db_step(db, st, err)) > 0) {
		struct store_event_row e = {
			.id = (uint64_t)sqlite3_column_int64(st, 0),
			.time_ns = sqlite3_column_int64(st, 1),
			.machine = db_col_text(st, 2),
			.job = (uint64_t)sqlite3_column_int64(st, 3),
			.boot = (uint64_t)sqlite3_column_int64(st, 4),
			.kind = db_col_text_or(st, 5, ""),
			.text = db_col_text_or(st, 6, ""),
		};

		on_event(arg, &e);
	}
	db_reset(st);
	return query_end(q, db, rc);
}
