/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: a job file becomes a plan on a worker thread (parse, history, plan), the plan goes to
 * the store, the stored job to the scheduler, the answer to whoever asked. A file with `when:` is
 * planned for its answer and stored as a standing job.
 * Failure modes: anything wrong with the file or the plan: an error with its place, nothing stored;
 * the store refuses: the same; the coordinator dies before the commit: nothing is there, a client
 * sends the same key again and gets one job.
 */
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
#include "coordinator/server/standing.h"

struct submit {
	struct work w; /* a session, or none: then `order.done` hears what became of it */
	struct inv_snapshot inv;
	struct jobs_order order; /* its texts are in `memory` */
	struct kg_arena memory;
	uint64_t seed;
	bool dry_run, list_cells;
	uint32_t boots;
	uint64_t explain_cell;
	struct job_spec *job;
	struct plan *plan;
	struct store_history *history;
	struct kg_texts explanation;
	uint64_t *after; /* owned, as many as the job names */
};

int job_reply_parse(const Kgrid__V1__JobReply *r, struct job_spec **ret, struct kg_err *err)
{
	struct job_file *files = calloc(r->n_files + 1, sizeof(*files));
	const char *text = r->text ? r->text : "";
	struct job_source src = {.file_name = "job",
				 .text = text,
				 .len = strlen(text),
				 .files = files,
				 .n_files = r->n_files};
	size_t i;
	int rc;

	if (!files)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < r->n_files; i++)
		files[i] = (struct job_file){
			.name = r->files[i]->name ? r->files[i]->name : "",
			.text = r->files[i]->text ? r->files[i]->text : "",
			.len = r->files[i]->text ? strlen(r->files[i]->text) : 0,
		};
	rc = job_spec_parse_source(&src, ret, err);
	free(files);
	return rc;
}

/* ---- on the worker thread ---- */

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

static int find_after(struct submit *s, struct kg_err *err)
{
	const struct job_texts *after = &s->job->after;
	size_t i;

	s->after = calloc(after->n + 1, sizeof(*s->after));
	if (!s->after)
		return kg_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < after->n; i++) {
		struct kg_err why = {""};
		int rc = query_job_find(s->w.c->query, after->items[i].text, &s->after[i], &why);

		if (rc < 0)
			return job_spec_error(s->job, after->items[i].at, rc, err, "'after': %s",
					      why.text);
	}
	return 0;
}

static bool machine_wanted(const struct job_machines *m, const struct plan_machine *machine)
{
	size_t i;

	for (i = 0; i < m->names.n; i++)
		if (strcmp(m->names.items[i].text, machine->facts.name) == 0)
			return true;
	if (m->names.n)
		return false;
	return !m->where || predicate_matches_machine(m->where, &machine->facts);
}

static bool machine_planned(const struct job_spec *j, const struct plan_machine *m)
{
	bool wanted = machine_wanted(&j->machines, m);
	size_t i;

	for (i = 0; i < j->n_workloads && !wanted; i++) {
		const struct job_role *r = j->workloads[i].role;

		wanted = r && (machine_wanted(&r->client, m) || machine_wanted(&r->server, m));
	}
	return wanted;
}

/* What earlier jobs took on the machines that are meant. Without it the plan uses defaults. */
static int ask_history(struct submit *s, struct plan_input *in)
{
	const char **names = calloc(s->inv.n_machines + 1, sizeof(*names));
	struct store_history *h = NULL;
	size_t i, n = 0;
	int rc;

	if (!names)
		return kg_err_set(&s->w.err, -ENOMEM, "out of memory");
	for (i = 0; i < s->inv.n_machines; i++)
		if (machine_planned(s->job, &s->inv.plan_machines[i]))
			names[n++] = s->inv.machines[i]->name;
	rc = n ? query_plan_history(s->w.c->query, names, n, kg_realtime_ns(), &h, &s->w.err) : 0;
	free(names);
	if (rc < 0 || !h)
		return rc;
	s->history = h;
	/* The structs are the same on purpose (store/types.h); each field is copied by name. */
	return reply_plan_history(h, &s->memory, &in->history);
}

static int make_plan(struct submit *s)
{
	struct work *w = &s->w;
	struct plan_input in = {
		.machines = s->inv.plan_machines,
		.n_machines = s->inv.n_machines,
		.kernels = s->inv.plan_kernels,
		.n_kernels = s->inv.n_kernels,
		.seed = s->seed,
		.boots = s->boots,
		.max_slots = (uint64_t)w->c->cfg.max_slots,
		.added_kernel = s->order.added_kernel,
		.job = s->job,
	};
	int rc;

	/* A standing job is planned as if the newest kernel had just been added. */
	if (!in.added_kernel && s->job->when == JOB_WHEN_KERNEL_ADDED && s->inv.n_kernels)
		in.added_kernel = s->inv.kernels[s->inv.n_kernels - 1]->digest;
	rc = ask_history(s, &in);
	if (rc == 0)
		rc = plan_make(&in, &s->plan, &w->err);
	if (rc == 0 && s->order.budget_ns)
		rc = check_budget(s, &w->err);
	if (rc == 0 && s->explain_cell)
		rc = plan_explain_cell(&in, s->plan, s->explain_cell, &s->explanation, &w->err);
	return rc;
}

static void submit_run(struct work *w)
{
	struct submit *s = (struct submit *)w;
	struct job_source src = {
		.file_name = s->order.file_name,
		.text = s->order.text,
		.len = strlen(s->order.text),
		.files = s->order.files,
		.n_files = s->order.n_files,
	};

	w->rc = job_spec_parse_source(&src, &s->job, &w->err);
	if (w->rc == 0)
		w->rc = find_after(s, &w->err);
	if (w->rc == 0)
		w->rc = make_plan(s);
}

/* ---- answers ---- */

/* Tells whoever asked. */
static void submit_failed(struct submit *s, int rc, const char *text)
{
	if (s->w.session)
		session_error(s->w.session, s->w.id, rc, text);
	if (s->order.done)
		s->order.done(s->order.arg, rc, 0, text);
}

struct answer {
	uint64_t job, standing;
	bool existed;
	const char *when;
};

static void submit_reply(struct submit *s, const struct answer *answer)
{
	Kgrid__V1__SubmitReply r = KGRID__V1__SUBMIT_REPLY__INIT;
	Kgrid__V1__Plan p = KGRID__V1__PLAN__INIT;
	struct kg_arena a;

	kg_arena_init(&a, 1u << 30);
	r.has_job = answer->job != 0;
	r.job = answer->job;
	r.has_standing = answer->standing != 0;
	r.standing = answer->standing;
	r.when = (char *)(uintptr_t)answer->when;
	r.has_existed = 1;
	r.existed = answer->existed;
	if (reply_plan_fill(s->plan, s->job, s->list_cells, &a, &p) == 0) {
		r.plan = &p;
		p.explanation = s->explanation.items;
		p.n_explanation = s->explanation.n;
		reply_send(s->w.session, KG_MSG_SUBMIT_REPLY, s->w.id, &r.base);
	} else {
		session_error(s->w.session, s->w.id, -ENOMEM, "out of memory for the answer");
	}
	kg_arena_deinit(&a);
}

static void submit_free(struct submit *s)
{
	job_spec_free(s->job);
	plan_free(s->plan);
	store_history_free(s->history);
	kg_texts_deinit(&s->explanation);
	inv_snapshot_deinit(&s->inv);
	kg_arena_deinit(&s->memory);
	free(s->after);
}

/* One that outlived its work. */
static void submit_release(struct submit *s)
{
	submit_free(s);
	kg_msg_free(s->w.msg);
	if (s->w.session)
		session_unref(s->w.session);
	free(s);
}

/* ---- a job that the store has goes to the scheduler ---- */

struct load {
	struct work w;
	struct load *next; /* in coordinator.loads */
	uint64_t job;
	bool outdated;
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
	struct load **at = &w->c->loads;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	if (l->outdated && !w->c->stopping)
		jobs_load(w->c, l->job);
	else if (w->rc == 0 && !w->c->stopping)
		w->rc = driver_add_job(&w->c->driver, l->loaded);
	if (w->rc < 0)
		kg_log_err("job %llu is stored but cannot be scheduled before a restart: %s",
			   (unsigned long long)l->job,
			   w->err.text[0] ? w->err.text : kg_strerror(w->rc));
	store_job_free(l->loaded);
	watch_dirty(&w->c->server, l->job);
}

void jobs_changed(struct coordinator *c, uint64_t job)
{
	struct load *l;

	for (l = c->loads; l; l = l->next)
		l->outdated |= l->job == job;
}

void jobs_load(struct coordinator *c, uint64_t job)
{
	struct load *l = calloc(1, sizeof(*l));

	if (!l) {
		kg_log_err("out of memory: job %llu waits for a restart", (unsigned long long)job);
		return;
	}
	l->job = job;
	l->next = c->loads;
	c->loads = l;
	l->w.run = load_run;
	l->w.finish = load_finish;
	work_start_internal(c, &l->w);
}

/* ---- storing a plan ---- */

static void on_stored(void *arg, const struct store_result *r)
{
	struct submit *s = arg;
	struct coordinator *c = s->w.c;

	if (r->rc < 0) {
		submit_failed(s, r->rc, r->text);
	} else {
		if (s->w.session)
			submit_reply(s, &(struct answer){.job = r->id, .existed = r->existed});
		if (s->order.done)
			s->order.done(s->order.arg, 0, r->id, "");
		if (!r->existed && !c->stopping) {
			kg_log_info("job %llu '%s' submitted: %zu cells, %zu slots, %zu boots",
				    (unsigned long long)r->id, s->job->name, s->plan->n_cells,
				    s->plan->n_slots, s->plan->n_boots);
			jobs_load(c, r->id);
		}
	}
	submit_release(s);
}

static void fill_cells(const struct plan *p, struct store_cell *cells)
{
	size_t i;

	for (i = 0; i < p->n_cells; i++) {
		const struct plan_cell *in = &p->cells[i];
		uint64_t run_s = in->run_ns / KG_NSEC_PER_SEC;

		cells[i] = (struct store_cell){
			.identity = in->identity,
			.machine = in->machine,
			.kernel = in->kernel,
			.kernel_label = in->kernel_label,
			.lsm_label = in->lsm_label,
			.lsm_request = in->lsm_request,
			.lsm_effective = in->lsm_effective,
			.cmdline = in->cmdline,
			.variant = in->variant,
			.settings = in->settings,
			.peer = in->peer,
			.canary = in->canary,
			.leave_by_reboot = in->leave_by_reboot,
			.run_s = run_s < UINT32_MAX ? (uint32_t)run_s : UINT32_MAX,
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

/* From kernel to kernel: what a boot takes beside its runs. */
static uint32_t hop_seconds(const struct plan *p)
{
	uint64_t runs_ns = 0;
	size_t i;

	if (p->n_boots == 0)
		return 0;
	for (i = 0; i < p->n_slots; i++)
		if (p->slots[i].visit == p->boots[0].visit &&
		    strcmp(p->cells[p->slots[i].cell].machine, p->boots[0].machine) == 0)
			runs_ns += p->cells[p->slots[i].cell].run_ns;
	runs_ns /= KG_NSEC_PER_SEC;
	return p->boots[0].seconds > runs_ns ? (uint32_t)(p->boots[0].seconds - runs_ns) : 0;
}

static void fill_job(const struct submit *s, struct store_job *j)
{
	const struct plan *p = s->plan;

	*j = (struct store_job){
		.kind = s->order.kind,
		.regression = s->order.regression,
		.name = s->job->name,
		.text = s->order.text,
		.file_name = s->job->file_name,
		.client_key = s->order.client_key,
		.state = STORE_JOB_QUEUED,
		.priority = s->job->priority,
		.grouped = p->order == JOB_GROUPED,
		.seed = p->seed,
		.blocks = p->blocks,
		.warnings = (const char *const *)p->warnings.items,
		.n_warnings = p->warnings.n,
		.submitted_ns = kg_realtime_ns(),
		.user = s->order.user,
		.after = s->after,
		.n_after = s->job->after.n,
		.blocks_min = p->blocks_min < p->blocks ? p->blocks_min : 0,
		.until_pct = s->job->until_pct,
		.budget_ns = s->job->budget_ns,
		.queue_timeout_ns = s->job->queue_timeout_ns ? s->job->queue_timeout_ns
							     : s->w.c->cfg.queue_timeout_ns,
		.standing = s->order.standing,
		.hop_s = hop_seconds(p),
		.n_cells = p->n_cells,
		.n_slots = p->n_slots,
	};
}

static int fill_parts(const struct submit *s, struct store_job *j, struct kg_arena *a)
{
	const struct plan *p = s->plan;
	struct store_cell *cells = kg_arena_alloc(a, (p->n_cells + 1) * sizeof(*cells));
	struct store_slot *slots = kg_arena_alloc(a, (p->n_slots + 1) * sizeof(*slots));
	struct store_file *files = kg_arena_alloc(a, (s->order.n_files + 1) * sizeof(*files));
	struct store_merge *merges = kg_arena_alloc(a, (p->n_merges + 1) * sizeof(*merges));
	size_t i;

	if (!cells || !slots || !files || !merges)
		return -ENOMEM;
	fill_cells(p, cells);
	fill_slots(p, slots);
	for (i = 0; i < s->order.n_files; i++)
		files[i] = (struct store_file){s->order.files[i].name, s->order.files[i].text};
	for (i = 0; i < p->n_merges; i++)
		merges[i] = (struct store_merge){
			.machine = p->merges[i].machine,
			.kernel = p->merges[i].kernel,
			.lsm = p->merges[i].lsm,
			.into = p->merges[i].into,
			.effective = p->merges[i].effective,
		};
	j->cells = cells;
	j->slots = slots;
	j->files = files;
	j->n_files = s->order.n_files;
	j->merges = merges;
	j->n_merges = p->n_merges;
	return 0;
}

/* Queues the plan for the store; on success `copy` belongs to on_stored. */
static int store_plan(struct submit *copy)
{
	struct kg_arena a;
	struct store_job j;
	int rc;

	kg_arena_init(&a, SIZE_MAX);
	fill_job(copy, &j);
	rc = fill_parts(copy, &j, &a);
	if (rc == 0)
		rc = store_job_insert(copy->w.c->store, &j,
				      (struct store_done){.fn = on_stored, .arg = copy});
	kg_arena_deinit(&a);
	return rc;
}

/* ---- a standing job ---- */

static void on_standing(void *arg, const struct store_result *r)
{
	struct submit *s = arg;
	char when[160];

	if (r->rc < 0) {
		submit_failed(s, r->rc, r->text);
	} else {
		standing_when(s->job->when, s->job->nightly_minute, when, sizeof(when));
		kg_log_info("standing job %llu '%s': %s", (unsigned long long)r->id, s->job->name,
			    when);
		standing_dirty(&s->w.c->standing);
		if (s->w.session)
			submit_reply(s, &(struct answer){
						.standing = r->id,
						.existed = r->existed,
						.when = when,
					});
	}
	submit_release(s);
}

static int store_standing(struct submit *copy)
{
	const struct job_spec *j = copy->job;
	struct store_file *files = calloc(copy->order.n_files + 1, sizeof(*files));
	bool nightly = j->when == JOB_WHEN_NIGHTLY;
	int64_t now = kg_realtime_ns();
	size_t i;
	int rc;

	if (!files)
		return -ENOMEM;
	for (i = 0; i < copy->order.n_files; i++)
		files[i] =
			(struct store_file){copy->order.files[i].name, copy->order.files[i].text};
	rc = store_standing_add(copy->w.c->store,
				&(struct store_standing){
					.name = j->name,
					.user = copy->order.user ? copy->order.user : "",
					.text = copy->order.text,
					.file_name = copy->order.file_name,
					.files = files,
					.n_files = copy->order.n_files,
					.when = nightly ? "nightly" : "kernel added",
					.minute = j->nightly_minute,
					.next_ns =
						nightly ? standing_next(now, j->nightly_minute) : 0,
				},
				now, (struct store_done){.fn = on_standing, .arg = copy});
	free(files);
	return rc;
}

/* ---- back on the loop thread ---- */

/* Machines are planned with whether they are there or not; a person should know which are not. One in
 * the middle of a boot comes back by itself. */
static int warn_of_absent(struct coordinator *c, struct plan *p)
{
	size_t i;

	for (i = 0; i < p->n_machines; i++) {
		const char *name = p->machines[i].machine;
		const struct sched_machine *m = sched_machine_find(&c->sched, name);
		struct kg_str s = {0};
		char **items;

		if (server_agent(&c->server, name) || (m && m->boot))
			continue;
		kg_str_addf(&s, "machine '%s' is not connected: its boots wait until it is", name);
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

static bool is_standing(const struct submit *s)
{
	return s->job->when != JOB_WHEN_NOW && !s->order.standing;
}

static void dry_reply(struct submit *s)
{
	char when[160];

	standing_when(s->job->when, s->job->nightly_minute, when, sizeof(when));
	submit_reply(s, &(struct answer){.when = is_standing(s) ? when : NULL});
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
			dry_reply(s);
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
		rc = is_standing(copy) ? store_standing(copy) : store_plan(copy);
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

/* ---- ways in ---- */

static bool copy_text(struct submit *s, const char **text)
{
	if (*text)
		*text = kg_arena_text(&s->memory, *text, strlen(*text));
	return *text != NULL;
}

static int copy_order(struct submit *s, const struct jobs_order *o)
{
	struct job_file *files = kg_arena_alloc(&s->memory, (o->n_files + 1) * sizeof(*files));
	size_t i;

	s->order = *o;
	if (!files || !copy_text(s, &s->order.text) || !copy_text(s, &s->order.file_name) ||
	    (o->user && !copy_text(s, &s->order.user)) ||
	    (o->client_key && !copy_text(s, &s->order.client_key)) ||
	    (o->added_kernel && !copy_text(s, &s->order.added_kernel)))
		return -ENOMEM;
	for (i = 0; i < o->n_files; i++) {
		files[i] = o->files[i];
		if (!copy_text(s, &files[i].name) || !copy_text(s, &files[i].text))
			return -ENOMEM;
		files[i].len = strlen(files[i].text);
	}
	s->order.files = files;
	return 0;
}

static struct submit *submit_new(struct coordinator *c, const struct jobs_order *o)
{
	struct submit *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	kg_arena_init(&s->memory, 64u << 20);
	if (inventory_snapshot(&c->inventory, &s->inv) < 0 || copy_order(s, o) < 0) {
		submit_free(s);
		free(s);
		return NULL;
	}
	/* The seed is kept with the job, so that the order can be made again. */
	s->seed = kg_monotonic_ns() ^ (uint64_t)kg_realtime_ns();
	s->w.run = submit_run;
	s->w.finish = submit_finish;
	return s;
}

void handle_submit(const struct request *rq)
{
	const Kgrid__V1__SubmitRequest *q = REQUEST_BODY(rq, Kgrid__V1__SubmitRequest);
	struct job_file *files = calloc(q->n_files + 1, sizeof(*files));
	struct submit *s = NULL;
	size_t i;

	for (i = 0; files && i < q->n_files; i++)
		files[i] = (struct job_file){
			.name = q->files[i]->name ? q->files[i]->name : "",
			.text = q->files[i]->text ? q->files[i]->text : "",
		};
	if (files)
		s = submit_new(rq->c, &(struct jobs_order){
					      .text = q->text ? q->text : "",
					      .file_name = q->file_name ? q->file_name : "job",
					      .files = files,
					      .n_files = q->n_files,
					      .user = session_user(rq->session, q->user),
					      .client_key = q->client_key,
				      });
	free(files);
	if (!s) {
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	s->dry_run = q->dry_run;
	s->boots = q->boots;
	s->list_cells = q->list_cells;
	s->explain_cell = q->dry_run ? q->explain_cell : 0;
	work_start(rq, &s->w);
}

int jobs_submit(struct coordinator *c, const struct jobs_order *o)
{
	struct submit *s = submit_new(c, o);

	if (!s)
		return -ENOMEM;
	work_start_internal(c, &s->w);
	return 0;
}

void jobs_submit_for(const struct request *rq, const struct jobs_order *o, bool dry_run)
{
	struct submit *s = submit_new(rq->c, o);

	if (!s) {
		session_error(rq->session, rq->id, -ENOMEM, "out of memory");
		return;
	}
	s->dry_run = dry_run;
	work_start(rq, &s->w);
}
