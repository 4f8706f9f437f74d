/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison: rows are read here, numbers and tables are made by coordinator/report. */
#include "coordinator/report/canary.h"
#include "coordinator/store/query_min_effect.h"

/* What is read beside the rows; in their arena. */
struct beside {
	struct report_min_effect *min_effects;
	size_t n_min_effects;
	struct canary_value *canary;
	size_t n_canary;
};

static int read_compare(struct db *db, const Kgrid__V1__CompareRequest *rq,
			const struct query_texts *texts, struct rows *r,
			Kgrid__V1__CompareReply *reply, struct kg_err *err)
{
	Kgrid__V1__Selection one = KGRID__V1__SELECTION__INIT;
	uint64_t job = rq->job;
	int rc;

	one.n_jobs = 1;
	one.jobs = &job;
	r->filter = (struct row_filter){.normal = true, .confirm = true};
	rc = rows_select(db, rq->select ? rq->select : &one, false, r, err);
	r->filter.after_block = rq->after_block;
	if (rc == 0)
		rc = rows_read_cells(db, r, err);
	if (rc == 0 && r->one_job)
		rc = read_job_summary(db, r->jobs[0], &reply->job, err);
	if (rc == 0)
		rc = rows_read_values(db, r, err);
	if (rc == 0)
		rc = rows_read_context(db, r, err);
	return rc == 0 ? rows_read_configs(db, texts, r, err) : rc;
}

static int make_tables(const Kgrid__V1__CompareRequest *rq, const struct rows *r,
		       const struct beside *b, Kgrid__V1__CompareReply *reply, struct kg_err *err)
{
	struct report_input in;
	const char *metric = text_or_none(rq->metric);
	int rc;

	rows_input(r, &in);
	if (!metric && rq->select)
		metric = text_or_none(rq->select->metric);
	in.baseline = text_or_none(rq->baseline);
	in.metric = metric;
	in.min_effects = b->min_effects;
	in.n_min_effects = b->n_min_effects;
	in.across_epochs = rq->across_epochs;
	in.gate = rq->gate;
	in.with_values = rq->values;
	in.has_alpha = rq->has_alpha;
	in.alpha = rq->alpha;
	in.has_min_effect = rq->has_min_effect_pct;
	in.min_effect_pct = rq->min_effect_pct;
	in.correction = text_or_none(rq->correction);
	if (rows_note(r, &reply->notes, &reply->n_notes) < 0)
		return reply_oom(err);
	if (r->n_cells == 0)
		return 0;
	rc = report_compare_tables(&in, reply, err);
	return rc == 0 ? report_canary(b->canary, b->n_canary, &reply->notes, &reply->n_notes, err)
		       : rc;
}

int query_compare(struct query *q, const Kgrid__V1__CompareRequest *rq,
		  Kgrid__V1__CompareReply **ret, struct kg_err *err)
{
	Kgrid__V1__CompareReply *reply = reply_new(&kgrid__v1__compare_reply__descriptor);
	struct rows r = {0};
	struct beside b = {0};
	struct db *db;
	int rc = reply ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0) {
		rc = read_compare(db, rq, query_texts(q), &r, reply, err);
		if (rc == 0)
			rc = read_min_effects(query_min_effects(q), db, &r, &b.min_effects,
					      &b.n_min_effects, err);
		if (rc == 0)
			rc = rows_read_canary(db, &r, &b.canary, &b.n_canary, err);
		rc = query_end(q, db, rc);
	}
	if (rc == 0)
		rc = make_tables(rq, &r, &b, reply, err);
	rows_deinit(&r);
	if (rc < 0)
		reply_free(reply);
	else
		*ret = reply;
	return rc;
}
