/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: a request becomes the text of an A/A job and goes the way of every submit; with
 * `every` it is kept and comes again, with the kernel that was the newest then.
 * Failure modes: a due one cannot be planned (kernel removed, machine gone): a line in the log and
 * an event of the machine, and the next one is tried in its time.
 */
#include "coordinator/server/recurring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/detect/calibrate.h"
#include "coordinator/server/jobs.h"

/* The newest kernel is the last of the inventory. */
static const char *newest_kernel(const struct coordinator *c)
{
	const struct inventory *inv = &c->inventory;

	return inv->n_kernels ? inv->kernels[inv->n_kernels - 1]->digest : NULL;
}

static int job_text(struct coordinator *c, const Kgrid__V1__CalibrateRequest *rq,
		    struct kg_str *ret, struct kg_err *err)
{
	const struct inv_machine *m = inventory_machine(&c->inventory, rq->machine);
	struct calibrate_offer offer = {.machine = rq->machine, .kernel = newest_kernel(c)};
	const struct kg_workload **list;
	int rc;

	if (!m)
		return kg_err_set(err, KG_ENOTFOUND, "there is no machine '%s'", rq->machine);
	list = calloc(m->facts->n_workloads + 1, sizeof(*list));
	if (!list)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < m->facts->n_workloads; i++)
		if (m->facts->workloads[i]->available && m->decls[i])
			list[offer.n_workloads++] = m->decls[i];
	offer.workloads = list;
	rc = calibrate_job_text(rq, &offer, ret, err);
	free(list);
	return rc;
}

static int keep(struct coordinator *c, const Kgrid__V1__CalibrateRequest *rq, uint64_t job,
		int64_t every_ns, struct store_done done)
{
	return store_recurring_set(c->store,
				   &(struct store_recurring){
					   .machine = rq->machine,
					   .request = rq,
					   .every_ns = every_ns,
					   .next_ns = kg_realtime_ns() + every_ns,
					   .last_job = job,
				   },
				   done);
}

/* What comes again names its kernel: boots of one kernel only can show that the machine drifts. */
static int keep_first(struct coordinator *c, const Kgrid__V1__CalibrateRequest *rq)
{
	Kgrid__V1__CalibrateRequest first = *rq;

	if (!first.kernel || !first.kernel[0])
		first.kernel = (char *)(uintptr_t)newest_kernel(c);
	return keep(c, &first, 0, (int64_t)(rq->every_seconds * KG_NSEC_PER_SEC),
		    (struct store_done){0});
}

/* ---- those that are due ---- */

struct due {
	struct coordinator *c;
	struct kg_msg *msg; /* CalibrateRequest, owned */
	int64_t every_ns;
	uint64_t last_job;
};

static void due_free(struct due *d)
{
	kg_msg_free(d->msg);
	free(d);
}

static void on_due_submitted(void *arg, int rc, uint64_t job, const char *text)
{
	struct due *d = arg;
	const Kgrid__V1__CalibrateRequest *rq =
		(const Kgrid__V1__CalibrateRequest *)kg_msg_body(d->msg);
	char said[400];

	if (d->c->stopping) {
		due_free(d);
		return;
	}
	if (rc < 0) {
		(void)snprintf(said, sizeof(said), "recurring A/A job was not made: %s", text);
		kg_log_warn("machine '%s': %s", rq->machine, said);
		driver_event(&d->c->driver, rq->machine, 0, 0, "calibrate", said);
	}
	(void)keep(d->c, rq, rc < 0 ? d->last_job : job, d->every_ns, (struct store_done){0});
	due_free(d);
}

static void start_due(struct coordinator *c, const struct store_recurring *r)
{
	struct due *d = calloc(1, sizeof(*d));
	struct kg_err err = {""};
	struct kg_str text = {0};
	int rc = -ENOMEM;

	if (!d)
		return;
	d->c = c;
	d->every_ns = r->every_ns;
	d->last_job = r->last_job;
	if (kg_msg_copy(KG_MSG_CALIBRATE, &r->request->base, &d->msg, &err) == 0)
		rc = job_text(c, r->request, &text, &err);
	if (rc == 0)
		rc = jobs_submit(c, &(struct jobs_order){.text = kg_str_text(&text),
							 .file_name = "calibration",
							 .kind = STORE_JOB_CALIBRATE,
							 .done = on_due_submitted,
							 .arg = d});
	if (rc < 0 && d->msg)
		on_due_submitted(d, rc, 0, err.text);
	else if (rc < 0)
		due_free(d);
	kg_str_deinit(&text);
}

void recurring_start(struct coordinator *c, const struct store_recurrings *all)
{
	int64_t now = kg_realtime_ns();

	for (size_t i = 0; all && i < all->n; i++) {
		const struct store_recurring *r = &all->items[i];

		/* A clock that was set back must not put it off for years. */
		if (r->next_ns <= now || r->next_ns > now + r->every_ns)
			start_due(c, r);
	}
}

/* ---- requests ---- */

struct ending {
	struct session *session; /* referenced */
	uint32_t id;
};

static void on_stopped(void *arg, const struct store_result *r)
{
	struct ending *e = arg;

	if (r->rc < 0)
		session_error(e->session, e->id, r->rc, r->text);
	else
		session_done(e->session, e->id, "no more A/A jobs by themselves");
	session_unref(e->session);
	free(e);
}

static void stop(const struct request *rq, const Kgrid__V1__CalibrateRequest *cr)
{
	struct ending *e = calloc(1, sizeof(*e));
	int rc = -ENOMEM;

	if (e) {
		e->session = rq->session;
		e->id = rq->id;
		session_ref(e->session);
		rc = keep(rq->c, cr, 0, 0, (struct store_done){.fn = on_stopped, .arg = e});
	}
	if (rc == 0)
		return;
	session_error(rq->session, rq->id, rc, kg_strerror(rc));
	if (e)
		session_unref(e->session);
	free(e);
}

void handle_calibrate(const struct request *rq)
{
	const Kgrid__V1__CalibrateRequest *cr = REQUEST_BODY(rq, Kgrid__V1__CalibrateRequest);
	struct jobs_order o = {.file_name = "calibration", .kind = STORE_JOB_CALIBRATE};
	const uint64_t hour = 3600, year = 366 * 24 * hour;
	struct kg_err err = {""};
	struct kg_str text = {0};
	int rc;

	if (!cr->machine || !cr->machine[0]) {
		session_error(rq->session, rq->id, KG_EINVALID, "which machine?");
		return;
	}
	if (cr->stop) {
		stop(rq, cr);
		return;
	}
	if (cr->every_seconds && (cr->every_seconds < hour || cr->every_seconds > year)) {
		session_error(rq->session, rq->id, KG_EINVALID,
			      "every: expected an hour to a year, such as '7d'");
		return;
	}
	rc = job_text(rq->c, cr, &text, &err);
	if (rc < 0) {
		session_error(rq->session, rq->id, rc, err.text);
	} else {
		o.text = kg_str_text(&text);
		jobs_submit_for(rq, &o, cr->dry_run);
		if (cr->every_seconds && !cr->dry_run)
			(void)keep_first(rq->c, cr);
	}
	kg_str_deinit(&text);
}
