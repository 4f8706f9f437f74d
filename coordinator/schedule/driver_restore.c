/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the store knows -> what the scheduler holds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"

static enum sched_job_state from_store(enum store_job_state s)
{
	static const enum sched_job_state map[] = {
		[STORE_JOB_QUEUED] = SCHED_JOB_QUEUED,
		[STORE_JOB_RUNNING] = SCHED_JOB_RUNNING,
		[STORE_JOB_DONE] = SCHED_JOB_DONE,
		[STORE_JOB_CANCELLED] = SCHED_JOB_CANCELLED,
	};

	return map[s];
}

static char *text_of(const char *s)
{
	return (char *)(uintptr_t)(s ? s : "");
}

/* Slots come ordered by machine, visit, position: a new visit begins where one of them changes. */
static int add_slot(struct sched *s, struct sched_job *j, const struct store_job *in,
		    const struct store_slot *slot, struct sched_visit **v)
{
	const struct store_cell *cell = &in->cells[slot->cell_index];
	struct sched_slot like = {
		.id = slot->id,
		.position = slot->position,
		.tries = slot->tries,
		.outcome = slot->outcome,
		.workload = (char *)(uintptr_t)cell->workload,
		.workload_digest = (char *)(uintptr_t)cell->workload_digest,
		.params = (char *)(uintptr_t)cell->params,
		.iterations = cell->iterations,
		.timeout_s = cell->timeout_s,
		.alone = cell->canary,
	};

	if (slot->outcome == KG_OUTCOME_INFEASIBLE)
		return 0; /* never part of a visit */
	if (!*v || (*v)->visit != slot->visit || strcmp((*v)->machine->name, cell->machine) != 0)
		*v = sched_job_add_visit(
			s, j, cell->machine,
			&(struct sched_visit){
				.block = slot->block,
				.visit = slot->visit,
				.kernel = (char *)(uintptr_t)cell->kernel,
				.kernel_label = (char *)(uintptr_t)cell->kernel_label,
				.lsm_label = (char *)(uintptr_t)cell->lsm_label,
				.lsm_request = (char *)(uintptr_t)cell->lsm_request,
				.lsm_effective = (char *)(uintptr_t)cell->lsm_effective,
				.cmdline = (char *)(uintptr_t)cell->cmdline,
				.variant = text_of(cell->variant),
				.settings = text_of(cell->settings),
				.peer = cell->peer && cell->peer[0] ? text_of(cell->peer) : NULL,
				.leave_by_reboot = cell->leave_by_reboot,
				.seconds = in->hop_s,
			});
	if (!*v || sched_visit_add_slot(*v, &like) < 0)
		return -ENOMEM;
	(*v)->seconds += cell->run_s;
	return 0;
}

/* A moment by the wall clock on the scheduler's clock; it may lie before this host's boot. */
static int64_t boottime_of(int64_t realtime_ns)
{
	return (int64_t)kg_boottime_ns() - (kg_realtime_ns() - realtime_ns);
}

static int fill_job(struct sched_job *j, const struct store_job *in)
{
	size_t i;

	j->paused = in->paused;
	j->queued_ns = boottime_of(in->queued_ns ? in->queued_ns : in->submitted_ns);
	j->started_ns = in->started_ns ? boottime_of(in->started_ns) : INT64_MIN;
	j->budget_ns = in->budget_ns;
	j->queue_timeout_ns = in->queue_timeout_ns;
	j->gate_block = in->blocks_min;
	j->until_pct = in->until_pct;
	j->blocks = in->blocks;
	for (i = 0; i < in->n_after; i++)
		if (sched_job_add_after(j, in->after[i]) < 0)
			return -ENOMEM;
	return sched_job_set_texts(j, in->name, text_of(in->user));
}

static struct sched_job *job_from_store(struct sched *s, const struct store_job *in)
{
	struct sched_job *j = sched_job_new(in->id, in->priority, from_store(in->state));
	struct sched_visit *v = NULL;
	size_t i;

	if (j && fill_job(j, in) < 0) {
		sched_job_free(j);
		return NULL;
	}
	for (i = 0; j && i < in->n_slots; i++) {
		if (add_slot(s, j, in, &in->slots[i], &v) < 0) {
			sched_job_free(j);
			return NULL;
		}
	}
	return j;
}

/* More blocks of a job that the scheduler has. What does not fit into memory comes after a
 * restart. */
static int grow_job(struct driver *d, struct sched_job *j, const struct store_job *in)
{
	struct sched *s = &d->c->sched;
	struct sched_visit *v = NULL;
	uint64_t now = kg_boottime_ns();
	int rc = 0;
	size_t i;

	if (in->blocks <= j->blocks)
		return 0;
	for (i = 0; rc == 0 && i < in->n_slots; i++)
		if (in->slots[i].block > j->blocks)
			rc = add_slot(s, j, in, &in->slots[i], &v);
	j->blocks = in->blocks;
	/* Whoever asks for more blocks wants them made: no stop rule is asked about them. */
	for (i = 0; i < in->n_cells; i++)
		if (i == 0 || strcmp(in->cells[i].machine, in->cells[i - 1].machine) != 0)
			sched_release(s, in->id, in->cells[i].machine, UINT32_MAX, now);
	sched_job_grown(s, in->id, now);
	return rc;
}

int driver_add_job(struct driver *d, const struct store_job *in)
{
	struct sched *s = &d->c->sched;
	struct sched_job *j;

	if (!sched_job_forget(s, in->id))
		return grow_job(d, sched_job_find(s, in->id), in);
	j = job_from_store(s, in);
	if (!j)
		return -ENOMEM;
	sched_job_added(s, j, kg_boottime_ns());
	return 0;
}

static enum sched_role role_of(const struct store_boot *b)
{
	if (!b->role || !b->role[0])
		return SCHED_ROLE_NONE;
	return strcmp(b->role, "server") == 0 ? SCHED_ROLE_SERVER : SCHED_ROLE_CLIENT;
}

/* A server's boot is made for the visit of its client's machine. */
static struct sched_machine *visited_machine(struct sched *s, const struct store_boot *b)
{
	return sched_machine_get(s, role_of(b) == SCHED_ROLE_SERVER ? b->peer : b->machine);
}

static struct sched_visit *find_visit(struct sched_job *j, const struct sched_machine *m,
				      uint32_t visit)
{
	size_t i;

	for (i = 0; i < j->n_visits; i++)
		if (j->visits[i]->machine == m && j->visits[i]->visit == visit)
			return j->visits[i];
	return NULL;
}

static const struct store_slot *store_slot_of(const struct store_job *j, uint64_t id)
{
	size_t i;

	for (i = 0; j && i < j->n_slots; i++)
		if (j->slots[i].id == id)
			return &j->slots[i];
	return NULL;
}

static int fill_attempt(struct sched_visit *v, const struct store_job *job,
			const struct store_attempt *in, bool server, struct sched_attempt *a)
{
	const struct store_slot *slot = store_slot_of(job, in->slot);
	size_t i;

	for (i = 0; i < v->n_slots && !a->slot; i++)
		if (v->slots[i].id == in->slot)
			a->slot = &v->slots[i];
	if (!a->slot || !slot)
		return KG_ECORRUPT;
	a->id = in->id;
	a->outcome = in->outcome;
	a->started = in->started_ns != 0;
	a->settled = slot->attempt == in->id || server;
	if (in->reason) {
		a->reason = strdup(in->reason);
		if (!a->reason)
			return -ENOMEM;
	}
	return 0;
}

static int restore_boot(struct driver *d, const struct store_snapshot *snap,
			const struct store_boot *in, const struct driver_clock *now)
{
	struct sched *s = &d->c->sched;
	struct sched_job *j = sched_job_find(s, in->job);
	struct sched_machine *m = sched_machine_get(s, in->machine);
	const struct store_job *sj = NULL;
	struct sched_visit *v;
	struct sched_boot *b;
	uint64_t limit;
	size_t i;
	int rc = 0;

	for (i = 0; i < snap->n_jobs; i++)
		if (snap->jobs[i].id == in->job)
			sj = &snap->jobs[i];
	v = j && m && !m->boot ? find_visit(j, visited_machine(s, in), in->visit) : NULL;
	b = v ? sched_boot_new(v, in->n_attempts) : NULL;
	if (!b)
		return v ? -ENOMEM : KG_ECORRUPT;
	b->id = in->id;
	b->lease_epoch = in->lease_epoch;
	(void)snprintf(b->nonce, sizeof(b->nonce), "%s", in->nonce);
	b->order_sent = true;
	b->role = role_of(in);
	b->pair_id = in->pair;
	b->stage = sched_stage_parse(in->stage);
	if (b->stage == SCHED_STAGE_COUNT)
		b->stage = SCHED_DISPATCH;
	for (i = 0; i < in->n_attempts && rc == 0; i++)
		rc = fill_attempt(v, sj, &in->attempts[i], b->role == SCHED_ROLE_SERVER,
				  &b->attempts[i]);
	if (in->has_evidence && in->ended_by_agent) {
		b->agent_outcome = in->agent_outcome;
		b->agent_reason = in->agent_reason ? strdup(in->agent_reason) : NULL;
	}
	if (rc < 0) {
		sched_boot_free(b);
		return rc;
	}
	limit = sched_deadline(s, m, b, b->stage, 0);
	b->deadline_ns = driver_deadline(&in->deadline, now, limit);
	sched_restore_boot(s, m, b); /* takes b */
	return 0;
}

/* A boot that does not fit its job, or whose machine has a newer one, is ended as infra, and does not
 * keep the rest from starting. */
static void isolate_boot(struct driver *d, const struct store_boot *in)
{
	kg_log_err("boot %llu on '%s' cannot be taken up again; it is ended as infra",
		   (unsigned long long)in->id, in->machine);
	(void)store_boot_end(d->c->store,
			     &(struct store_boot_end){
				     .boot = in->id,
				     .outcome = KG_OUTCOME_INFRA,
				     .reason = "could not be taken up after a restart",
				     .now_ns = kg_realtime_ns(),
			     },
			     (struct store_done){0});
}

/* Before the jobs: none may begin on a machine that is out of service. */
static void restore_machine(struct sched *s, const struct store_machine *in)
{
	struct sched_machine *m = sched_machine_get(s, in->name);
	uint64_t now = kg_boottime_ns();

	if (!m)
		return;
	if (in->service && strcmp(in->service, "drain") == 0)
		(void)sched_machine_service(s, in->name, SCHED_DRAIN, in->service_why, now);
	else if (in->service && strcmp(in->service, "maintenance") == 0)
		(void)sched_machine_service(s, in->name, SCHED_MAINTENANCE, in->service_why, now);
	if (in->reserved_by)
		(void)sched_machine_reserve(s, in->name, in->reserved_by, in->reserved_why,
					    boottime_of(in->reserved_until_ns), now);
}

int driver_restore(struct driver *d, const struct store_snapshot *snap, struct kg_err *err)
{
	struct sched *s = &d->c->sched;
	struct driver_clock now = {.boottime_ns = kg_boottime_ns(),
				   .realtime_ns = kg_realtime_ns(),
				   .host_boot_id = d->c->host_boot_id};
	size_t i;

	sched_restore(s);
	for (i = 0; i < snap->n_machines; i++)
		restore_machine(s, &snap->machines[i]);
	for (i = 0; i < snap->n_jobs; i++)
		if (driver_add_job(d, &snap->jobs[i]) == -ENOMEM)
			return kg_err_set(err, -ENOMEM, "out of memory");
	for (i = snap->n_boots; i-- > 0;) {
		int rc = restore_boot(d, snap, &snap->boots[i], &now);

		if (rc == -ENOMEM)
			return kg_err_set(err, rc, "out of memory");
		if (rc < 0)
			isolate_boot(d, &snap->boots[i]);
	}
	/* Boots whose last record was committed before the crash are over on the agent's side. */
	for (i = 0; i < snap->n_boots; i++)
		if (snap->boots[i].ended_by_agent)
			sched_boot_ended(s, snap->boots[i].id, snap->boots[i].agent_outcome,
					 snap->boots[i].agent_reason, now.boottime_ns);
	sched_resume(s, now.boottime_ns);
	return 0;
}
