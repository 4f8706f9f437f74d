/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs: submit, list, show, cancel, retry. Planning runs on a worker thread against a snapshot of
 * the inventory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/plan/job.h"
#include "coordinator/plan/plan.h"
#include "coordinator/server/jobs.h"
#include "coordinator/server/reply_plan.h"

struct submit {
	struct work w; /* a session, or none: then `order.done` hears what became of it */
	struct inv_snapshot inv;
	uint64_t seed;
	struct jobs_order order; /* its texts are of the request's message, or of `text` */
	char *text;		 /* owned; NULL: of the message */
	bool dry_run;
	uint32_t boots;
	const char *client_key; /* NULL: none */
	struct job_spec *job;
	struct plan *plan;
};

static int check_budget(const struct submit *s, struct kg_err *err)
{
	uint64_t longest_s = 0;
	size_t i;

	for (i = 0; i < s->plan->n_machines; i++)
		if (s->plan->machines[i].seconds > longest_s)
			longest_s = s->plan->machines[i].seconds;
	if (longest_s * KG_NSEC_PER_SEC <= s->order.budget_ns)
		return 0;
	return kg_err_set(err, KG_ELIMIT,
			  "it would take about %llu min, and the budget of the job that showed it "
			  "has %llu min left",
			  (unsigned long long)(longest_s / 60),
			  (unsigned long long)(s->order.budget_ns / KG_NSEC_PER_SEC / 60));
}

static void submit_run(struct work *w)
{
	struct submit *s = (struct submit *)w;
	const char *text = s->order.text;
	struct plan_input in = {
		.machines = s->inv.plan_machines,
		.n_machines = s->inv.n_machines,
		.kernels = s->inv.plan_kernels,
		.n_kernels = s->inv.n_kernels,
		.seed = s->seed,
		.boots = s->boots,
	};

	w->rc = job_spec_parse(s->order.file_name, text, strlen(text), &s->job, &w->err);
	if (w->rc < 0)
		return;
	in.job = s->job;
	w->rc = plan_make(&in, &s->plan, &w->err);
	if (w->rc == 0 && s->order.budget_ns)
		w->rc = check_budget(s, &w->err);
}

/* Tells whoever asked. */
static void submit_failed(struct submit *s, int rc, const char *text)
{
	if (s->w.session)
		session_error(s->w.session, s->w.id, rc, text);
	if (s->order.done)
		s->order.done(s->order.arg, rc, 0, text);
}

static void submit_reply(struct submit *s, uint64_t job, bool existed)
{
	Kgrid__V1__SubmitReply r = KGRID__V1__SUBMIT_REPLY__INIT;
	Kgrid__V1__Plan p = KGRID__V1__PLAN__INIT;
	struct kg_arena a;

	kg_arena_init(&a, 256u << 20);
	r.has_job = job != 0;
	r.job = job;
	r.has_existed = 1;
	r.existed = existed;
	if (reply_plan_fill(s->plan, &a, &p) == 0) {
		r.plan = &p;
		session_send(s->w.session, KG_MSG_SUBMIT_REPLY, s->w.id, &r.base);
	} else {
		session_error(s->w.session, s->w.id, -ENOMEM, "out of memory for the answer");
	}
	kg_arena_deinit(&a);
}

/* ---- a job that the store has goes to the scheduler ---- */

struct load {
	struct work w;
	uint64_t job;
	struct store_job *loaded;
};

static void load_run(struct work *w)
{
	struct load *l = (struct load *)w;

	w->rc = query_job_load(w->c->query, l->job, &l->loaded, &w->err);
}

static void load_finish(struct work *w)
{
	struct load *l = (struct load *)w;

	if (w->rc == 0 && !w->c->stopping)
		w->rc = driver_add_job(&w->c->driver, l->loaded);
	if (w->rc < 0 && w->rc != KG_EEXISTS)
		kg_log_err("job %llu is stored but cannot be scheduled before a restart: %s",
			   (unsigned long long)l->job,
			   w->err.text[0] ? w->err.text : kg_strerror(w->rc));
	store_job_free(l->loaded);
	watch_dirty(&w->c->server, l->job);
}

static void load_job(struct coordinator *c, uint64_t job)
{
	struct load *l = calloc(1, sizeof(*l));

	if (!l) {
		kg_log_err("out of memory: job %llu waits for a restart", (unsigned long long)job);
		return;
	}
	l->job = job;
	l->w.run = load_run;
	l->w.finish = load_finish;
	work_start_internal(c, &l->w);
}

/* ---- storing a plan ---- */

static void submit_free(struct submit *s)
{
	job_spec_free(s->job);
	plan_free(s->plan);
	inv_snapshot_deinit(&s->inv);
	free(s->text);
}

static void on_stored(void *arg, const struct store_result *r)
{
	struct submit *s = arg;
	struct coordinator *c = s->w.c;

	if (r->rc < 0) {
		submit_failed(s, r->rc, r->text);
	} else {
		if (s->w.session)
			submit_reply(s, r->id, r->existed);
		if (s->order.done)
			s->order.done(s->order.arg, 0, r->id, "");
		if (!r->existed && !c->stopping) {
			kg_log_info("job %llu '%s' submitted: %zu cells, %zu slots, %zu boots",
				    (unsigned long long)r->id, s->job->name, s->plan->n_cells,
				    s->plan->n_slots, s->plan->n_boots);
			load_job(c, r->id);
		}
	}
	submit_free(s);
	kg_msg_free(s->w.msg);
	if (s->w.session)
		session_unref(s->w.session);
	free(s);
}

static void fill_cells(const struct plan *p, struct store_cell *cells)
{
	size_t i;

	for (i = 0; i < p->n_cells; i++) {
		const struct plan_cell *in = &p->cells[i];

		cells[i] = (struct store_cell){
			.identity = in->identity,
			.machine = in->machine,
			.kernel = in->kernel,
			.kernel_label = in->kernel_label,
			.lsm_label = in->lsm_label,
			.lsm_request = in->lsm_request,
			.lsm_effective = in->lsm_effective,
			.cmdline = in->cmdline,
			.workload = in->workload,
			.workload_digest = in->workload_digest,
			.params = in->params,
			.iterations = in->iterations,
			.timeout_s = in->timeout_s,
			.kernel_order = in->kernel_order,
			.lsm_order = in->lsm_order,
			.workload_order = in->workload_order,
		};
	}
}

static void fill_slots(const struct plan *p, struct store_slot *slots)
{
	size_t i;

	for (i = 0; i < p->n_slots; i++) {
		const struct plan_slot *in = &p->slots[i];
		const char *infeasible = p->cells[in->cell].infeasible;

		slots[i] = (struct store_slot){
			.cell_index = in->cell,
			.block = in->block,
			.visit = in->visit,
			.position = in->position,
			.outcome = infeasible ? KG_OUTCOME_INFEASIBLE : KG_OUTCOME_NONE,
			.reason = infeasible,
		};
	}
}

/* Queues the plan for the store; on success `copy` belongs to on_stored. */
static int store_plan(struct submit *copy)
{
	const struct plan *p = copy->plan;
	struct store_cell *cells = calloc(p->n_cells + 1, sizeof(*cells));
	struct store_slot *slots = calloc(p->n_slots + 1, sizeof(*slots));
	int rc = -ENOMEM;

	if (cells && slots) {
		fill_cells(p, cells);
		fill_slots(p, slots);
		rc = store_job_insert(copy->w.c->store,
				      &(struct store_job){
					      .kind = copy->order.kind,
					      .regression = copy->order.regression,
					      .name = copy->job->name,
					      .text = copy->order.text,
					      .file_name = copy->job->file_name,
					      .client_key = copy->client_key,
					      .state = STORE_JOB_QUEUED,
					      .priority = copy->job->priority,
					      .grouped = p->order == JOB_GROUPED,
					      .seed = p->seed,
					      .blocks = p->blocks,
					      .warnings = (const char *const *)p->warnings.items,
					      .n_warnings = p->warnings.n,
					      .submitted_ns = kg_realtime_ns(),
					      .cells = cells,
					      .n_cells = p->n_cells,
					      .slots = slots,
					      .n_slots = p->n_slots,
				      },
				      (struct store_done){.fn = on_stored, .arg = copy});
	}
	free(cells);
	free(slots);
	return rc;
}

/* Machines are planned with whether they are there or not; a person should know which are not. */
static int warn_of_absent(struct coordinator *c, struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_machines; i++) {
		struct kg_str s = {0};
		char **items;

		if (server_agent(&c->server, p->machines[i].machine))
			continue;
		kg_str_addf(&s, "machine '%s' is not connected: its %u boots wait until it is",
			    p->machines[i].machine, p->machines[i].boots);
		items = realloc(p->warnings.items, (p->warnings.n + 1) * sizeof(char *));
		if (!items || s.failed) {
			p->warnings.items = items ? items : p->warnings.items;
			kg_str_deinit(&s);
			return -ENOMEM;
		}
		p->warnings.items = items;
		p->warnings.items[p->warnings.n] = kg_str_take(&s);
		p->warnings.n += p->warnings.items[p->warnings.n] != NULL;
	}
	return 0;
}

static void submit_finish(struct work *w)
{
	struct submit *s = (struct submit *)w;
	struct submit *copy;
	int rc;

	if (w->rc == 0)
		w->rc = warn_of_absent(w->c, s->plan);
	if (w->rc < 0 || s->dry_run || w->c->stopping) {
		if (w->rc < 0)
			submit_failed(s, w->rc, w->err.text);
		else if (s->dry_run)
			submit_reply(s, 0, false);
		else if (s->order.done)
			s->order.done(s->order.arg, KG_ESTATE, 0, "the coordinator is ending");
		submit_free(s);
		return;
	}
	copy = malloc(sizeof(*copy));
	rc = -ENOMEM;
	if (copy) {
		*copy = *s; /* the work is freed after this call; its parts move on */
		if (copy->w.session)
			session_ref(copy->w.session);
		rc = store_plan(copy);
		if (rc == 0) {
			w->msg = NULL;
			return;
		}
		if (copy->w.session)
			session_unref(copy->w.session);
		free(copy);
	}
	submit_failed(s, rc, kg_strerror(rc));
	submit_free(s);
}

static struct submit *submit_new(struct coordinator *c)
{
	struct submit *s = calloc(1, sizeof(*s));

	if (!s || inventory_snapshot(&c->inventory, &s->inv) < 0) {
		free(s);
		return NULL;
	}
	/* The seed is kept with the job, so that the order can be made again. */
	s->seed = kg_monotonic_ns() ^ (uint64_t)kg_realtime_ns();
	s->w.run = submit_run;
	s->w.finish = submit_finish;
	return s;
}

/* The work's copy of the request's message is there from its start on. */
static void submit_request_run(struct work *w)
{
	struct submit *s = (struct submit *)w;
	const Kgrid__V1__SubmitRequest *rq = WORK_BODY(w, Kgrid__V1__SubmitRequest);

	s->order.text = rq->text ? rq->text : "";
	s->order.file_name = rq->file_name ? rq->file_name : "job";
	s->client_key = rq->client_key;
	s->dry_run = rq->dry_run;
	s->boots = rq->boots;
	submit_run(w);
}

void handle_submit(const struct request *rq)
{
	struct submit *s = submit_new(rq->c);

	if (!s) {
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	s->w.run = submit_request_run;
	work_start(rq, &s->w);
}

static struct submit *submit_order(struct coordinator *c, const struct jobs_order *o)
{
	struct submit *s = submit_new(c);

	if (!s)
		return NULL;
	s->order = *o;
	s->text = strdup(o->text);
	if (!s->text) {
		submit_free(s);
		free(s);
		return NULL;
	}
	s->order.text = s->text;
	return s;
}

int jobs_submit(struct coordinator *c, const struct jobs_order *o)
{
	struct submit *s = submit_order(c, o);

	if (!s)
		return -ENOMEM;
	work_start_internal(c, &s->w);
	return 0;
}

void jobs_submit_for(const struct request *rq, const struct jobs_order *o, bool dry_run)
{
	struct submit *s = submit_order(rq->c, o);

	if (!s) {
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	s->dry_run = dry_run;
	work_start(rq, &s->w);
}

/* ---- cancel, retry ---- */

struct change {
	struct session *session; /* referenced */
	uint32_t id;
	uint64_t job;
	bool retry;
};

static void on_changed(void *arg, const struct store_result *r)
{
	struct change *ch = arg;
	char text[96];

	if (r->rc < 0) {
		session_error(ch->session, ch->id, r->rc, r->text);
	} else {
		(void)snprintf(text, sizeof(text), "job %llu: %llu slots %s",
			       (unsigned long long)ch->job, (unsigned long long)r->count,
			       ch->retry ? "pending again" : "cancelled");
		session_done(ch->session, ch->id, text);
		if (ch->retry)
			load_job(ch->session->server->c, ch->job);
		watch_dirty(ch->session->server, ch->job);
	}
	session_unref(ch->session);
	free(ch);
}

static void change_job(const struct request *rq, uint64_t job, bool retry)
{
	struct change *ch = calloc(1, sizeof(*ch));
	struct store_done done = {.fn = on_changed, .arg = ch};
	int64_t now = kg_realtime_ns();
	int rc;

	if (!ch) {
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	ch->session = rq->session;
	session_ref(ch->session);
	ch->id = rq->id;
	ch->job = job;
	ch->retry = retry;
	rc = retry ? store_job_retry(rq->c->store, job, now, done)
		   : store_job_cancel(rq->c->store, job, now, done);
	if (rc < 0) {
		session_error(rq->session, rq->id, rc, kg_strerror(rc));
		session_unref(ch->session);
		free(ch);
	}
}

void handle_job_cancel(const struct request *rq)
{
	uint64_t job = REQUEST_BODY(rq, Kgrid__V1__JobCancelRequest)->job;

	if (!job) {
		session_error(rq->session, rq->id, KG_EINVALID,
			      "which job? cancel needs its number");
		return;
	}
	/* The scheduler first: what it settles goes into the store's queue before the cancel. */
	sched_job_cancelled(&rq->c->sched, job, kg_boottime_ns());
	change_job(rq, job, false);
}

void handle_job_retry(const struct request *rq)
{
	uint64_t job = REQUEST_BODY(rq, Kgrid__V1__JobRetryRequest)->job;

	if (!job) {
		session_error(rq->session, rq->id, KG_EINVALID,
			      "which job? retry needs its number");
		return;
	}
	change_job(rq, job, true);
}
