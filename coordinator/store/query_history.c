/* SPDX-License-Identifier: GPL-2.0-or-later */
/* History over kernels: rows are read here, series are made by coordinator/report. */
#include "coordinator/report/history.h"
#include "coordinator/store/query_rows.h"

static int read_history(struct db *db, const Kgrid__V1__HistoryRequest *rq, struct rows *r,
			struct kg_err *err)
{
	int rc;

	r->filter = (struct row_filter){.normal = true, .confirm = true};
	rc = rows_select(db, rq->select, true, r, err);
	if (rc == 0)
		rc = rows_read_cells(db, r, err);
	if (rc == 0)
		rc = rows_read_values(db, r, err);
	return rc == 0 ? rows_read_context(db, r, err) : rc;
}

static int make_history(const Kgrid__V1__HistoryRequest *rq, const struct rows *r,
			Kgrid__V1__HistoryReply *reply, struct kg_err *err)
{
	struct report_input in;
	struct history_input what = {
		.rows = &in,
		.order = text_or_none(rq->order),
		.method = text_or_none(rq->method),
		.across_epochs = rq->across_epochs,
	};

	rows_input(r, &in);
	in.metric = rq->select ? text_or_none(rq->select->metric) : NULL;
	in.selection = true; /* the accounting is wanted for one job too */
	if (rows_note(r, &reply->notes, &reply->n_notes) < 0)
		return reply_oom(err);
	return report_history(&what, reply, err);
}

int query_history(struct query *q, const Kgrid__V1__HistoryRequest *rq,
		  Kgrid__V1__HistoryReply **ret, struct kg_err *err)
{
	Kgrid__V1__HistoryReply *reply = reply_new(&kgrid__v1__history_reply__descriptor);
	struct rows r = {0};
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_history(db, rq, &r, err));
	if (rc == 0)
		rc = make_history(rq, &r, reply, err);
	rows_deinit(&r);
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}
