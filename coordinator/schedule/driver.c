/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: the scheduler acts, the action becomes a store operation, its callback sends what
 * others may now hear of.
 * Failure modes: the store cannot write (disk full, I/O error): the operation waits here and is
 * tried again each second, and so is everything behind it, so that the order stays; nothing is
 * sent that is not stored. The power command fails or hangs: it is ended after a minute, and the
 * event says so. No memory for an operation: it comes from a reserve; once that is used up, the
 * process ends, for the scheduler would go on from what the store never hears of. The next start
 * goes on from what is stored.
 */
#include "coordinator/schedule/driver.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/fleet/power.h"
#include "coordinator/schedule/driver_internal.h"
#include "coordinator/server/stopper.h"

enum op_kind { OP_BEGIN, OP_STAGE, OP_END, OP_SETTLE, OP_JOB_STATE, OP_CLOSE, OP_GATE };

struct driver_op {
	struct driver_op *next;
	struct driver *d;
	enum op_kind kind;
	uint64_t boot, job, slot, attempt;
	enum sched_stage stage;
	uint64_t deadline_ns;
	enum kg_outcome outcome;
	enum sched_job_state job_state;
	bool count_try;
	uint32_t block;
	int64_t now_ns;
	char machine[64]; /* CLOSE, GATE; "": all */
	char text[512];
};

static void op_run(struct driver_op *op);

static void reserve_fill(struct driver *d)
{
	struct driver_op *op;

	while (d->n_reserve < DRIVER_RESERVE && (op = calloc(1, sizeof(*op)))) {
		op->next = d->reserve;
		d->reserve = op;
		d->n_reserve++;
	}
}

static struct driver_op *reserve_take(struct driver *d)
{
	struct driver_op *op = d->reserve;

	if (!op) {
		kg_log_err(
			"out of memory: what the scheduler decided cannot be stored; ending, the "
			"next start goes on from what is stored");
		_exit(1);
	}
	d->reserve = op->next;
	d->n_reserve--;
	op->next = NULL;
	return op;
}

static void op_queue(struct driver_op *op)
{
	struct driver *d = op->d;

	op->next = NULL;
	*d->waiting_tail = op;
	d->waiting_tail = &op->next;
}

static void op_done(void *arg, const struct store_result *r)
{
	struct driver_op *op = arg;
	struct driver *d = op->d;

	if (d->c->stopping) { /* the next start goes on from what is stored */
		free(op);
		return;
	}
	if (store_rc_transient(r->rc)) {
		kg_log_err("cannot store: %s; trying again", r->text);
		op_queue(op);
		return;
	}
	if (r->rc < 0 && r->rc != KG_ESTATE && r->rc != KG_ENOTFOUND)
		kg_log_err("cannot store (operation %d, boot %llu, job %llu): %s", (int)op->kind,
			   (unsigned long long)op->boot, (unsigned long long)op->job, r->text);
	if (op->kind == OP_BEGIN && r->rc == 0)
		sched_order_stored(&d->c->sched, op->boot, kg_boottime_ns());
	else if (op->kind == OP_BEGIN)
		sched_boot_refused(&d->c->sched, op->boot, r->text, kg_boottime_ns());
	/* Everything before is stored now, so that what is judged is whole. */
	if (op->kind == OP_GATE &&
	    stopper_judge(d->c, op->job, op->machine, op->block) == -ENOMEM) {
		op_queue(op);
		return;
	}
	if (op->kind == OP_JOB_STATE || op->kind == OP_SETTLE || op->kind == OP_CLOSE) {
		watch_dirty(&d->c->server, op->job);
		detector_dirty(&d->c->detector);
	}
	free(op);
}

static struct store_deadline deadline_of(uint64_t boottime_ns)
{
	int64_t left = (int64_t)(boottime_ns - kg_boottime_ns());

	return (struct store_deadline){.boottime_ns = boottime_ns,
				       .realtime_ns = kg_realtime_ns() + left};
}

static const char *role_name(enum sched_role r)
{
	return r == SCHED_ROLE_CLIENT ? "client" : r == SCHED_ROLE_SERVER ? "server" : NULL;
}

static int run_begin(struct driver_op *op, struct store_done done)
{
	struct sched_machine *m;
	struct sched_boot *b = sched_boot_find(&op->d->c->sched, op->boot, &m);
	struct store_attempt *attempts;
	size_t i;
	int rc;

	if (!b)
		return KG_ESTATE; /* cancelled before it was stored */
	attempts = calloc(b->n_attempts + 1, sizeof(*attempts));
	if (!attempts)
		return -ENOMEM;
	for (i = 0; i < b->n_attempts; i++)
		attempts[i] = (struct store_attempt){.id = b->attempts[i].id,
						     .slot = b->attempts[i].slot->id,
						     .position = b->attempts[i].slot->position};
	rc = store_boot_begin(op->d->c->store,
			      &(struct store_boot){
				      .id = b->id,
				      .job = b->visit->job->id,
				      .machine = m->name,
				      .block = b->visit->block,
				      .visit = b->visit->visit,
				      .lease_epoch = b->lease_epoch,
				      .nonce = b->nonce,
				      .kernel = b->visit->kernel,
				      .lsm_request = b->visit->lsm_request,
				      .lsm_effective = b->visit->lsm_effective,
				      .cmdline = b->visit->cmdline,
				      .stage = sched_stage_name(b->stage),
				      .deadline = deadline_of(b->deadline_ns),
				      .started_ns = op->now_ns,
				      .attempts = attempts,
				      .n_attempts = b->n_attempts,
				      .settings = b->visit->settings,
				      .role = role_name(b->role),
				      .peer = b->role == SCHED_ROLE_SERVER ? b->visit->machine->name
					      : b->role == SCHED_ROLE_CLIENT ? b->visit->peer
									     : NULL,
				      .pair = b->pair_id,
			      },
			      done);
	free(attempts);
	return rc;
}

static enum store_job_state job_state(enum sched_job_state s)
{
	static const enum store_job_state map[] = {STORE_JOB_QUEUED, STORE_JOB_RUNNING,
						   STORE_JOB_DONE, STORE_JOB_CANCELLED};

	return map[s];
}

static int op_submit(struct driver_op *op, struct store_done done)
{
	struct store *s = op->d->c->store;
	const char *reason = op->text[0] ? op->text : NULL;
	struct store_deadline deadline;

	switch (op->kind) {
	case OP_BEGIN:
		return run_begin(op, done);
	case OP_STAGE:
		deadline = deadline_of(op->deadline_ns);
		return store_boot_stage(s, op->boot, sched_stage_name(op->stage), &deadline, done);
	case OP_END:
		return store_boot_end(s,
				      &(struct store_boot_end){.boot = op->boot,
							       .outcome = op->outcome,
							       .reason = reason,
							       .now_ns = op->now_ns},
				      done);
	case OP_SETTLE:
		return store_settle(s,
				    &(struct store_settle){.slot = op->slot,
							   .outcome = op->outcome,
							   .reason = reason,
							   .attempt = op->attempt,
							   .count_try = op->count_try},
				    1, op->now_ns, done);
	case OP_JOB_STATE:
		return store_job_state(s, op->job, job_state(op->job_state), op->now_ns, done);
	case OP_CLOSE:
		return store_job_close(s,
				       &(struct store_job_close){
					       .job = op->job,
					       .machine = op->machine[0] ? op->machine : NULL,
					       .outcome = op->outcome,
					       .reason = reason,
					       .now_ns = op->now_ns,
				       },
				       done);
	case OP_GATE: /* an event, for its place in the queue */
		return store_event_add(s,
				       &(struct store_event){
					       .time_ns = op->now_ns,
					       .machine = op->machine,
					       .job = op->job,
					       .kind = "gate",
					       .text = op->text,
				       },
				       done);
	}
	return KG_EINVALID;
}

static void op_run(struct driver_op *op)
{
	int rc = op_submit(op, (struct store_done){.fn = op_done, .arg = op});

	if (rc == 0)
		return;
	if (store_rc_transient(rc)) {
		op_queue(op);
		return;
	}
	free(op);
}

static struct driver_op *op_new(struct driver *d, enum op_kind kind, const struct sched_action *a)
{
	struct driver_op *op = calloc(1, sizeof(*op));

	if (!op)
		op = reserve_take(d);
	op->d = d;
	op->kind = kind;
	op->boot = a->boot ? a->boot->id : 0;
	op->job = a->job ? a->job->id : 0;
	op->outcome = a->outcome;
	op->attempt = a->attempt;
	op->slot = a->slot ? a->slot->id : 0;
	op->count_try = a->count_try;
	op->block = a->block;
	op->now_ns = kg_realtime_ns();
	if (a->machine)
		(void)snprintf(op->machine, sizeof(op->machine), "%s", a->machine->name);
	if (a->text)
		(void)snprintf(op->text, sizeof(op->text), "%s", a->text);
	return op;
}

static void op_start(struct driver_op *op)
{
	if (op->d->waiting) /* keep the order */
		op_queue(op);
	else
		op_run(op);
}

void driver_event(struct driver *d, const char *machine, uint64_t job, uint64_t boot,
		  const char *kind, const char *text)
{
	(void)store_event_add(d->c->store,
			      &(struct store_event){.time_ns = kg_realtime_ns(),
						    .machine = machine,
						    .job = job,
						    .boot = boot,
						    .kind = kind,
						    .text = text},
			      (struct store_done){0});
	if (job)
		watch_dirty(&d->c->server, job);
}

/* The order as the agent gets it. */
static void send_order(struct driver *d, const struct sched_action *a)
{
	struct session *x = server_agent(&d->c->server, a->machine->name);
	const struct sched_boot *b = a->boot;
	const struct sched_visit *v = b->visit;
	struct inv_kernel *k = inventory_kernel(&d->c->inventory, v->kernel);
	int rc;

	if (!x)
		return;
	if (!k) {
		kg_log_err("kernel %s of boot %llu is not in the inventory", v->kernel,
			   (unsigned long long)b->id);
		return;
	}
	rc = driver_send_order(x, b, k);
	if (rc < 0)
		kg_log_err("cannot send boot %llu to '%s': %s", (unsigned long long)b->id,
			   a->machine->name, kg_strerror(rc));
}

static void send_fence(struct driver *d, const struct sched_action *a)
{
	struct session *x = server_agent(&d->c->server, a->machine->name);
	Kgrid__V1__FenceBoot f = KGRID__V1__FENCE_BOOT__INIT;

	f.has_boot = f.has_lease_epoch = 1;
	f.boot = a->boot_id;
	f.lease_epoch = a->lease_epoch;
	f.reason = (char *)(uintptr_t)a->text;
	if (x)
		session_send(x, KG_MSG_FENCE_BOOT, 0, &f.base);
}

static void send_peer_ready(struct driver *d, const struct sched_action *a)
{
	struct session *x = server_agent(&d->c->server, a->machine->name);
	struct inv_machine *peer = inventory_machine(&d->c->inventory, a->peer->name);
	Kgrid__V1__PeerReady r = KGRID__V1__PEER_READY__INIT;

	if (!x || !peer || !peer->facts->address)
		return; /* asked again when it connects; the stage's deadline ends it otherwise */
	r.has_boot = r.has_attempt = r.has_port = 1;
	r.boot = a->boot_id;
	r.attempt = a->attempt;
	r.port = a->port;
	r.address = peer->facts->address;
	session_send(x, KG_MSG_PEER_READY, 0, &r.base);
}

static void send_peer_done(struct driver *d, const struct sched_action *a)
{
	struct session *x = server_agent(&d->c->server, a->machine->name);
	Kgrid__V1__PeerDone p = KGRID__V1__PEER_DONE__INIT;

	if (!x)
		return;
	p.has_boot = p.has_attempt = 1;
	p.boot = a->boot_id;
	p.attempt = a->attempt;
	session_send(x, KG_MSG_PEER_DONE, 0, &p.base);
}

static void act(void *arg, const struct sched_action *a)
{
	struct driver *d = arg;
	struct driver_op *op = NULL;

	switch (a->kind) {
	case SCHED_ACT_BEGIN_BOOT:
		op = op_new(d, OP_BEGIN, a);
		break;
	case SCHED_ACT_SEND_ORDER:
		send_order(d, a);
		break;
	case SCHED_ACT_SET_STAGE:
		op = op_new(d, OP_STAGE, a);
		op->stage = a->boot->stage;
		op->deadline_ns = a->boot->deadline_ns;
		watch_dirty(&d->c->server, a->job->id);
		break;
	case SCHED_ACT_END_BOOT:
		op = op_new(d, OP_END, a);
		if (a->outcome != KG_OUTCOME_PASS) {
			kg_log_warn("boot %llu on '%s' ended: %s%s%s",
				    (unsigned long long)a->boot->id, a->machine->name,
				    kg_outcome_name(a->outcome), a->text[0] ? ": " : "", a->text);
			driver_event(d, a->machine->name, a->job->id, a->boot->id,
				     kg_outcome_name(a->outcome), a->text);
		}
		break;
	case SCHED_ACT_SETTLE:
		op = op_new(d, OP_SETTLE, a);
		break;
	case SCHED_ACT_JOB_STATE:
		/* A cancelled job is stored by the cancel itself, with its slots. */
		if (a->job->state != SCHED_JOB_CANCELLED) {
			op = op_new(d, OP_JOB_STATE, a);
			op->job_state = a->job->state;
		}
		kg_log_info("job %llu is %s", (unsigned long long)a->job->id,
			    sched_job_state_name(a->job->state));
		break;
	case SCHED_ACT_FENCE:
		send_fence(d, a);
		break;
	case SCHED_ACT_POWER_CYCLE:
		power_cycle(d, a->machine->name, a->job ? a->job->id : 0,
			    a->boot ? a->boot->id : a->boot_id);
		break;
	case SCHED_ACT_CLOSE:
		op = op_new(d, OP_CLOSE, a);
		kg_log_notice("job %llu%s%s: %zu slots are %s: %s", (unsigned long long)a->job->id,
			      a->machine ? " on " : "", a->machine ? a->machine->name : "",
			      a->count, kg_outcome_name(a->outcome), a->text);
		break;
	case SCHED_ACT_GATE:
		op = op_new(d, OP_GATE, a);
		(void)snprintf(op->text, sizeof(op->text),
			       "block %u is over: the stop rule is judged", a->block);
		break;
	case SCHED_ACT_PEER_READY:
		send_peer_ready(d, a);
		break;
	case SCHED_ACT_PEER_DONE:
		send_peer_done(d, a);
		break;
	case SCHED_ACT_EVENT:
		driver_event(d, a->machine ? a->machine->name : NULL, a->job ? a->job->id : 0, 0,
			     "deadline", a->text);
		break;
	}
	if (op)
		op_start(op);
}

void driver_init(struct driver *d, struct coordinator *c)
{
	memset(d, 0, sizeof(*d));
	d->c = c;
	d->waiting_tail = &d->waiting;
	reserve_fill(d);
	c->sched.act = act;
	c->sched.arg = d;
	c->sched.nonce = driver_nonce;
}

static void ops_free(struct driver_op *op)
{
	while (op) {
		struct driver_op *next = op->next;

		free(op);
		op = next;
	}
}

void driver_deinit(struct driver *d)
{
	ops_free(d->waiting);
	ops_free(d->reserve);
	d->waiting = d->reserve = NULL;
	d->n_reserve = 0;
	d->waiting_tail = &d->waiting;
}

void driver_tick(struct driver *d, uint64_t now_ns)
{
	struct driver_op *op = d->waiting;

	reserve_fill(d);
	d->waiting = NULL;
	d->waiting_tail = &d->waiting;
	while (op) {
		struct driver_op *next = op->next;

		op_start(op); /* one that must wait again makes those behind it wait, too */
		op = next;
	}
	sched_tick(&d->c->sched, now_ns);
}

uint64_t driver_deadline(const struct store_deadline *d, const struct driver_clock *now,
			 uint64_t limit_ns)
{
	int64_t left;

	if (d->host_boot_id && strcmp(d->host_boot_id, now->host_boot_id) == 0)
		return d->boottime_ns;
	left = d->realtime_ns - now->realtime_ns;
	if (left > (int64_t)limit_ns)
		left = (int64_t)limit_ns;
	if (left < (int64_t)(60 * KG_NSEC_PER_SEC))
		left = (int64_t)(60 * KG_NSEC_PER_SEC);
	return now->boottime_ns + (uint64_t)left;
}
