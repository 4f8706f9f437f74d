/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noise of A/A runs: rows are read here, profiles are made by coordinator/report. */
#include <errno.h>

#include "coordinator/report/noise_report.h"
#include "coordinator/store/query_rows.h"

struct schedules {
	struct noise_schedule *items;
	size_t n;
};

static int read_schedules(struct db *db, struct arena *a, struct schedules *ret, struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err,
			   "SELECT machine, every_ns / 1000000000 FROM recurring ORDER BY machine",
			   &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		struct noise_schedule *s = arena_push(a, &ret->items, &ret->n, sizeof(*s));

		if (!s)
			break;
		s->machine = arena_text(a, db_col_text_or(st, 0, ""));
		s->every_seconds = (uint64_t)sqlite3_column_int64(st, 1);
	}
	db_reset(st);
	return a->failed ? reply_oom(err) : rc;
}

static int read_noise(struct db *db, const char *machine, struct rows *r, struct schedules *s,
		      struct kg_err *err)
{
	/* One that has no A/A run is no error when it is known. */
	int rc = check_machine(db, machine, err);

	r->filter = (struct row_filter){.calibrate = true, .machine = machine};
	if (rc == 0)
		rc = rows_read_cells(db, r, err);
	if (rc == KG_ENOTFOUND && r->n_jobs) /* others have A/A runs, this one not */
		rc = 0;
	if (rc == 0)
		rc = rows_read_values(db, r, err);
	return rc == 0 ? read_schedules(db, &r->arena, s, err) : rc;
}

int query_noise(struct query *q, const Kgrid__V1__NoiseRequest *rq, Kgrid__V1__NoiseReply **ret,
		struct kg_err *err)
{
	Kgrid__V1__NoiseReply *reply = reply_new(&kgrid__v1__noise_reply__descriptor);
	struct schedules schedules = {0};
	struct report_input in;
	struct noise_input what = {.rows = &in};
	struct rows r = {0};
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db,
			       read_noise(db, text_or_none(rq->machine), &r, &schedules, err));
	rows_input(&r, &in);
	what.schedules = schedules.items;
	what.n_schedules = schedules.n;
	if (rc == 0 && r.n_cells == 0)
		rc = reply_push_text(
			&reply->notes, &reply->n_notes,
			"there is no calibration run yet: 'kgrid calibrate MACHINE' makes one");
	if (rc == 0 && r.n_cells)
		rc = report_noise(&what, reply, err);
	rows_deinit(&r);
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}
