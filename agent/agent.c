/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const stage_names[AGENT_STAGE_COUNT] = {
	[AGENT_IDLE] = "",	  [AGENT_FETCH] = "fetch",   [AGENT_LOAD] = "load",
	[AGENT_BOOT] = "boot",	  [AGENT_VERIFY] = "verify", [AGENT_RUN] = "run",
	[AGENT_STOP] = "collect", [AGENT_UPLOAD] = "upload", [AGENT_LEAVE] = "leave",
};

#define TO(stage) (1U << (stage))

/* Allowed moves. A restart of the agent before the hop takes LOAD and BOOT back to FETCH. */
static const unsigned moves[AGENT_STAGE_COUNT] = {
	[AGENT_IDLE] = TO(AGENT_LEAVE) | TO(AGENT_FETCH) | TO(AGENT_VERIFY) | TO(AGENT_RUN) |
		       TO(AGENT_UPLOAD),
	[AGENT_LEAVE] = TO(AGENT_FETCH) | TO(AGENT_UPLOAD),
	[AGENT_FETCH] = TO(AGENT_LOAD) | TO(AGENT_UPLOAD),
	[AGENT_LOAD] = TO(AGENT_BOOT) | TO(AGENT_LEAVE) | TO(AGENT_UPLOAD),
	[AGENT_BOOT] = TO(AGENT_UPLOAD),
	[AGENT_VERIFY] = TO(AGENT_RUN) | TO(AGENT_UPLOAD),
	[AGENT_RUN] = TO(AGENT_STOP) | TO(AGENT_UPLOAD),
	[AGENT_STOP] = TO(AGENT_UPLOAD),
	[AGENT_UPLOAD] = TO(AGENT_IDLE),
};

/* mark: stage in bits 0..3, run active in 4, boot ended in 5, described in 6, run index from
 * 8 */
#define MARK_ACTIVE    0x10U
#define MARK_ENDED     0x20U
#define MARK_DESCRIBED 0x40U

const char *agent_stage_name(enum agent_stage s)
{
	return (unsigned)s < AGENT_STAGE_COUNT ? stage_names[s] : "";
}

enum agent_stage agent_stage_parse(const char *name)
{
	int i;

	for (i = AGENT_FETCH; i < AGENT_STAGE_COUNT; i++)
		if (strcmp(stage_names[i], name) == 0)
			return (enum agent_stage)i;
	return AGENT_IDLE;
}

static uint32_t mark_of(const struct agent *a)
{
	return (uint32_t)a->stage | (a->run_active ? MARK_ACTIVE : 0) |
	       (a->ended ? MARK_ENDED : 0) | (a->described ? MARK_DESCRIBED : 0) | a->run << 8;
}

static struct agent_action *add(struct agent_actions *out, enum agent_action_kind kind)
{
	struct agent_action *act;

	assert(out->n < AGENT_ACTIONS_MAX);
	act = &out->items[out->n++];
	memset(act, 0, sizeof(*act));
	act->kind = kind;
	act->run = AGENT_NO_RUN;
	act->record.run = AGENT_NO_RUN;
	return act;
}

/* Adds a record; its mark is the state as it is now, so change that first. */
static struct agent_record *add_record(struct agent *a, struct agent_actions *out,
				       enum agent_record_kind kind)
{
	struct agent_record *r = &add(out, AGENT_DO_RECORD)->record;

	r->kind = kind;
	r->seq = a->next_seq++;
	r->mark = mark_of(a);
	return r;
}

static void move(struct agent *a, enum agent_stage to)
{
	assert(moves[a->stage] & TO(to));
	a->stage = to;
}

/* Enters a stage that the coordinator has a deadline for. */
static void enter(struct agent *a, struct agent_actions *out, enum agent_stage to,
		  const char *detail)
{
	struct agent_record *r;

	move(a, to);
	add(out, AGENT_DO_SAVE);
	r = add_record(a, out, AGENT_REC_STAGE);
	r->stage = agent_stage_name(to);
	r->reason = detail;
	r->urgent = true;
}

static void end_boot(struct agent *a, struct agent_actions *out, const char *outcome,
		     const char *reason)
{
	struct agent_record *r;

	move(a, AGENT_UPLOAD);
	a->ended = true;
	a->run_active = false;
	r = add_record(a, out, AGENT_REC_BOOT_ENDED);
	r->outcome = outcome;
	r->reason = reason;
	r->urgent = true;
	add(out, AGENT_DO_SAVE);
}

static void end_attempt(struct agent *a, struct agent_actions *out, const struct agent_run_end *end)
{
	struct agent_record *r;
	uint32_t run = a->run;

	a->run_active = false;
	a->run++;
	r = add_record(a, out, AGENT_REC_ATTEMPT_ENDED);
	r->run = run;
	r->end = *end;
	r->urgent = true;
}

static void next_run(struct agent *a, struct agent_actions *out)
{
	if (a->run < a->n_runs)
		add(out, AGENT_DO_START_RUN)->run = a->run;
	else
		end_boot(a, out, "pass", NULL);
}

/* The record comes first: the coordinator has a deadline for it. */
static void describe(struct agent *a, struct agent_actions *out)
{
	struct agent_record *r;

	if (a->settings) {
		r = add_record(a, out, AGENT_REC_STAGE);
		r->stage = "settings";
		r->urgent = true;
	}
	add(out, AGENT_DO_PROVENANCE);
}

/* Before the first run the boot is described. A run that has begun needs no description of its boot
 * any more, and could be disturbed by it. */
static void begin_runs(struct agent *a, struct agent_actions *out)
{
	if (a->run > 0)
		a->described = true;
	if (a->described)
		next_run(a, out);
	else
		describe(a, out);
}

static void become_idle(struct agent *a, struct agent_actions *out)
{
	bool leave = a->leave;

	move(a, AGENT_IDLE);
	a->settings = false;
	a->leave = false;
	a->left = false;
	a->boot = 0;
	a->lease_epoch = 0;
	a->n_runs = 0;
	a->run = 0;
	a->run_active = false;
	a->described = false;
	a->ended = false;
	a->fenced = false;
	a->next_seq = 1;
	a->acked_seq = 0;
	/* First the state that knows no boot, then its files: a leftover spool is harmless, a boot
	 * without its spool would start to count from 1 again. */
	add(out, AGENT_DO_SAVE);
	add(out, AGENT_DO_FORGET);
	if (leave && !a->shutting_down) {
		a->shutting_down = true;
		add(out, AGENT_DO_REBOOT);
	} else if (a->connected && !a->shutting_down) {
		add(out, AGENT_DO_SEND_STATE);
	}
}

static void set_stop(struct agent *a, const char *outcome, const char *reason)
{
	(void)snprintf(a->stop_outcome, sizeof(a->stop_outcome), "%s", outcome);
	(void)snprintf(a->stop_reason, sizeof(a->stop_reason), "%s", reason);
}

static void end_interrupted(struct agent *a, struct agent_actions *out, const char *outcome,
			    const char *reason)
{
	struct agent_run_end end = {.outcome = outcome, .reason = reason};

	if (a->run_active)
		end_attempt(a, out, &end);
}

/* Like a hop: what is recorded should be on its way first. */
static void leave(struct agent *a, struct agent_actions *out, const char *why)
{
	enter(a, out, AGENT_LEAVE, why);
	if (a->connected) {
		add(out, AGENT_DO_WAIT);
	} else {
		a->shutting_down = true;
		add(out, AGENT_DO_REBOOT);
	}
}

static void begin_fetch(struct agent *a, struct agent_actions *out, const char *detail)
{
	enter(a, out, AGENT_FETCH, detail);
	add(out, AGENT_DO_FETCH);
}

/* The process is new, the kernel the same. */
static void resume(struct agent *a, enum agent_stage stage, struct agent_actions *out)
{
	if (a->fenced && stage != AGENT_UPLOAD) {
		end_interrupted(a, out, "infra", "the lease was fenced");
		end_boot(a, out, "infra", "the lease was fenced");
		return;
	}
	switch (stage) {
	case AGENT_LEAVE: /* on_start has looked whether it is still needed */
	case AGENT_FETCH:
	case AGENT_LOAD:
	case AGENT_BOOT: /* what was loaded is loaded again: all of it is in the cache */
		begin_fetch(a, out, "agent restarted");
		break;
	case AGENT_VERIFY:
		enter(a, out, AGENT_VERIFY, "agent restarted");
		add(out, AGENT_DO_VERIFY);
		break;
	case AGENT_RUN:
		move(a, AGENT_RUN);
		end_interrupted(a, out, "infra", "agent restarted during the run");
		begin_runs(a, out);
		break;
	case AGENT_STOP: /* the spool was full, or the fence was not yet saved */
		move(a, AGENT_RUN);
		move(a, AGENT_STOP);
		end_interrupted(a, out, "infra", "agent restarted while it stopped the run");
		end_boot(a, out, "infra", "agent restarted while it stopped the run");
		break;
	case AGENT_UPLOAD:
	case AGENT_IDLE:
	case AGENT_STAGE_COUNT:
		if (a->ended)
			move(a, AGENT_UPLOAD);
		else
			end_boot(a, out, "infra", "agent restarted while it ended the boot");
		break;
	}
}

/* Another kernel runs than when the state was saved. */
static void come_back(struct agent *a, enum agent_stage stage, struct agent_actions *out)
{
	switch (stage) {
	case AGENT_LEAVE:
		a->left = true;
		begin_fetch(a, out, "left by a plain reboot");
		break;
	case AGENT_FETCH:
	case AGENT_LOAD:
		resume(a, stage, out);
		break;
	case AGENT_BOOT: /* the kernel asked for, or a fallback: verification tells */
		enter(a, out, AGENT_VERIFY, NULL);
		add(out, AGENT_DO_VERIFY);
		break;
	case AGENT_VERIFY:
		move(a, AGENT_VERIFY);
		end_boot(a, out, "infra", "machine rebooted during the verification");
		break;
	case AGENT_RUN:
	case AGENT_STOP:
		move(a, AGENT_RUN);
		end_interrupted(a, out, "infra", "machine rebooted during the run");
		end_boot(a, out, "infra", "machine rebooted during the run");
		break;
	case AGENT_UPLOAD:
	case AGENT_IDLE:
	case AGENT_STAGE_COUNT:
		resume(a, AGENT_UPLOAD, out);
		break;
	}
}

/* The default kernel is no better: that is not this boot's fault, and trying again does not help. */
static void refuse_stuck(struct agent *a, struct agent_actions *out, const char *why)
{
	char reason[AGENT_REASON_SIZE];

	(void)snprintf(reason, sizeof(reason),
		       "kexec cannot leave this machine's default kernel either: %.180s", why);
	set_stop(a, "harness-error", reason);
	end_boot(a, out, a->stop_outcome, a->stop_reason);
}

static void on_start(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	const struct agent_saved *s = ev->u.start.saved;
	bool same_host = strcmp(s->host_boot_id, ev->u.start.host_boot_id) == 0;
	enum agent_stage stage = s->stage;

	add(out, AGENT_DO_KILL_LEFTOVERS);
	a->hops = same_host ? s->hops : 0;
	if (s->boot == 0) {
		add(out, AGENT_DO_SAVE);
		return;
	}
	a->boot = s->boot;
	a->lease_epoch = s->lease_epoch;
	a->n_runs = s->n_runs;
	a->fenced = s->fenced;
	if (s->has_records) {
		enum agent_stage recorded = (enum agent_stage)(s->mark & 0xf);

		/* the saved state is newer than a record of leaving */
		if (recorded > stage && recorded < AGENT_LEAVE)
			stage = recorded;
		a->next_seq = s->last_seq + 1;
		a->acked_seq = s->acked_seq < s->last_seq ? s->acked_seq : s->last_seq;
		a->run_active = s->mark & MARK_ACTIVE;
		a->ended = s->mark & MARK_ENDED;
		a->described = s->mark & MARK_DESCRIBED;
		a->run = s->mark >> 8;
		if (a->ended) /* all it has to do is to be heard, whatever was saved */
			stage = AGENT_UPLOAD;
	}
	if (!same_host && stage == AGENT_BOOT && ev->u.start.nonce_seen)
		a->hops = s->hops + 1;
	a->settings = ev->u.start.settings;
	/* Before the hop, or after a fallback, there is nothing that kexec could not leave. */
	a->leave = ev->u.start.leave && ev->u.start.nonce_seen;
	a->left = s->left;
	if (stage == AGENT_LEAVE && ev->u.start.stuck && !a->fenced) {
		if (same_host)
			leave(a, out, ev->u.start.stuck);
		else
			refuse_stuck(a, out, ev->u.start.stuck);
		return;
	}
	if (same_host)
		resume(a, stage, out);
	else
		come_back(a, stage, out);
}

static void on_connected(struct agent *a, struct agent_actions *out)
{
	a->connected = true;
	add(out, AGENT_DO_SEND_FACTS);
	add(out, AGENT_DO_SEND_STATE);
	if (a->boot)
		add(out, AGENT_DO_RESEND);
}

static void hop(struct agent *a, struct agent_actions *out)
{
	if ((a->stage != AGENT_BOOT && a->stage != AGENT_LEAVE) || a->shutting_down)
		return;
	a->shutting_down = true;
	add(out, a->stage == AGENT_LEAVE ? AGENT_DO_REBOOT : AGENT_DO_HOP);
}

static void on_hop_failed(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	if (a->forced) /* the shutdown that was begun before may still come */
		a->lost = true;
	else
		a->shutting_down = false;
	if (a->stage == AGENT_BOOT || a->stage == AGENT_LEAVE)
		end_boot(a, out, ev->u.done.outcome, ev->u.done.reason);
	else if (a->stage == AGENT_IDLE && a->connected &&
		 !a->shutting_down) /* the next order leaves, or says why not */
		add(out, AGENT_DO_SEND_STATE);
}

/* First by force; then the boot is given up. The machine may still go down, so no order is taken. */
static void on_still_up(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	if (!a->shutting_down)
		return;
	if (!a->forced) {
		a->forced = true;
		add(out, AGENT_DO_FORCE);
	} else {
		on_hop_failed(a, ev, out);
	}
}

static void on_order(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	if (a->boot == ev->u.order.boot && a->lease_epoch == ev->u.order.lease_epoch)
		return; /* known: the coordinator repeats itself after a reconnect */
	if (a->stage != AGENT_IDLE) {
		add(out, AGENT_DO_SEND_STATE);
		return;
	}
	if (a->lost)
		return;
	a->boot = ev->u.order.boot;
	a->lease_epoch = ev->u.order.lease_epoch;
	a->n_runs = ev->u.order.n_runs;
	a->settings = ev->u.order.settings;
	add(out, AGENT_DO_ADOPT_ORDER);
	if (a->shutting_down) /* held, nothing of it is begun before the machine was down */
		enter(a, out, AGENT_LEAVE, "the machine goes down first");
	else if (ev->u.order.stuck)
		leave(a, out, ev->u.order.stuck);
	else
		begin_fetch(a, out, NULL);
}

static void on_fence(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	char reason[AGENT_REASON_SIZE];

	if (a->boot == 0 || a->boot != ev->u.fence.boot ||
	    ev->u.fence.lease_epoch < a->lease_epoch) {
		add(out, AGENT_DO_SEND_STATE);
		return;
	}
	(void)snprintf(reason, sizeof(reason), "%s",
		       ev->u.fence.reason ? ev->u.fence.reason : "the lease was fenced");
	if (a->stage == AGENT_UPLOAD && a->fenced) {
		become_idle(a, out); /* said twice: nobody waits for these records */
		return;
	}
	a->fenced = true;
	set_stop(a, "infra", reason);
	switch (a->stage) {
	case AGENT_LEAVE:
	case AGENT_FETCH:
	case AGENT_LOAD:
	case AGENT_BOOT:
		/* Without its kernel a shutdown that has begun ends in the default one. */
		add(out, AGENT_DO_CANCEL);
		end_boot(a, out, a->stop_outcome, a->stop_reason);
		break;
	case AGENT_VERIFY:
		end_boot(a, out, a->stop_outcome, a->stop_reason);
		break;
	case AGENT_RUN:
		move(a, AGENT_STOP);
		add(out, AGENT_DO_SAVE);
		add(out, AGENT_DO_KILL_RUN);
		break;
	case AGENT_STOP:
	case AGENT_UPLOAD:
		add(out, AGENT_DO_SAVE);
		break;
	case AGENT_IDLE:
	case AGENT_STAGE_COUNT:
		break;
	}
}

static void on_ack(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	uint64_t last = a->next_seq - 1;
	uint64_t seq = ev->u.ack.seq;

	if (a->boot == 0 || ev->u.ack.boot != a->boot || ev->u.ack.lease_epoch != a->lease_epoch ||
	    seq > last)
		return;
	if (seq > a->acked_seq) {
		a->acked_seq = seq;
		add(out, AGENT_DO_TRIM);
	}
	if (a->acked_seq < last)
		return;
	if (a->stage == AGENT_BOOT || a->stage == AGENT_LEAVE)
		hop(a, out);
	else if (a->stage == AGENT_UPLOAD && a->ended)
		become_idle(a, out);
}

static void on_fetched(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	if (a->stage != AGENT_FETCH)
		return;
	if (ev->u.done.outcome) {
		end_boot(a, out, ev->u.done.outcome, ev->u.done.reason);
		return;
	}
	enter(a, out, AGENT_LOAD, NULL);
	add(out, AGENT_DO_LOAD);
}

static void on_loaded(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	if (a->stage != AGENT_LOAD)
		return;
	if (ev->u.done.outcome && ev->u.done.stuck && !a->left) {
		leave(a, out, ev->u.done.reason);
		return;
	}
	if (ev->u.done.outcome) {
		end_boot(a, out, ev->u.done.outcome, ev->u.done.reason);
		return;
	}
	enter(a, out, AGENT_BOOT, ev->u.done.reason);
	if (a->connected)
		add(out, AGENT_DO_WAIT);
	else
		hop(a, out);
}

static void on_verified(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	struct agent_record *r;

	if (a->stage != AGENT_VERIFY)
		return;
	/* No AGENT_DO_SAVE: only the record, with its mark, may say that the boot is verified. */
	if (!ev->u.done.outcome)
		move(a, AGENT_RUN);
	r = add_record(a, out, AGENT_REC_EVIDENCE);
	r->outcome = ev->u.done.outcome;
	r->reason = ev->u.done.reason;
	r->urgent = true;
	if (ev->u.done.outcome)
		end_boot(a, out, ev->u.done.outcome, ev->u.done.reason);
	else
		begin_runs(a, out);
}

static void on_provenance(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	if (a->stage != AGENT_RUN || a->described)
		return; /* fenced meanwhile */
	a->described = ev->u.record.last;
	if (ev->u.record.body)
		add_record(a, out, ev->u.record.kind)->body = ev->u.record.body;
	if (a->described)
		next_run(a, out);
}

static void on_settings_failed(struct agent *a, const struct agent_event *ev,
			       struct agent_actions *out)
{
	if (a->stage == AGENT_RUN && !a->described)
		end_boot(a, out, ev->u.done.outcome, ev->u.done.reason);
}

static void on_boot_log(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	if (a->stage == AGENT_VERIFY)
		add_record(a, out, AGENT_REC_LOG)->body = ev->u.record.body;
}

static void on_run_record(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	struct agent_record *r;

	if (a->stage != AGENT_RUN)
		return; /* fenced: no more of it is wanted */
	a->run_active = true;
	r = add_record(a, out, ev->u.record.kind);
	r->run = a->run;
	r->stage = ev->u.record.stage;
	r->body = ev->u.record.body;
	r->urgent = ev->u.record.urgent;
}

static void on_run_ended(struct agent *a, const struct agent_event *ev, struct agent_actions *out)
{
	struct agent_run_end end = ev->u.run_ended;

	if (a->stage == AGENT_RUN) {
		end_attempt(a, out, &end);
		next_run(a, out);
	} else if (a->stage == AGENT_STOP) {
		end.outcome = a->stop_outcome;
		end.reason = a->stop_reason;
		if (a->run < a->n_runs)
			end_attempt(a, out, &end);
		end_boot(a, out, a->stop_outcome, a->stop_reason);
	}
}

void agent_init(struct agent *a)
{
	memset(a, 0, sizeof(*a));
	a->stage = AGENT_IDLE;
	a->next_seq = 1;
}

void agent_step(struct agent *a, const struct agent_event *ev, struct agent_actions *ret_actions)
{
	ret_actions->n = 0;
	switch (ev->kind) {
	case AGENT_EV_START:
		on_start(a, ev, ret_actions);
		break;
	case AGENT_EV_CONNECTED:
		on_connected(a, ret_actions);
		break;
	case AGENT_EV_DISCONNECTED:
		a->connected = false;
		hop(a, ret_actions); /* nobody left to wait for */
		break;
	case AGENT_EV_ORDER:
		on_order(a, ev, ret_actions);
		break;
	case AGENT_EV_DISCARD:
		if (a->stage == AGENT_UPLOAD)
			become_idle(a, ret_actions);
		break;
	case AGENT_EV_FENCE:
		on_fence(a, ev, ret_actions);
		break;
	case AGENT_EV_ACK:
		on_ack(a, ev, ret_actions);
		break;
	case AGENT_EV_FETCHED:
		on_fetched(a, ev, ret_actions);
		break;
	case AGENT_EV_LOADED:
		on_loaded(a, ev, ret_actions);
		break;
	case AGENT_EV_WAITED:
		hop(a, ret_actions);
		break;
	case AGENT_EV_HOP_FAILED:
		on_hop_failed(a, ev, ret_actions);
		break;
	case AGENT_EV_STILL_UP:
		on_still_up(a, ev, ret_actions);
		break;
	case AGENT_EV_VERIFIED:
		on_verified(a, ev, ret_actions);
		break;
	case AGENT_EV_BOOT_LOG:
		on_boot_log(a, ev, ret_actions);
		break;
	case AGENT_EV_SETTINGS_FAILED:
		on_settings_failed(a, ev, ret_actions);
		break;
	case AGENT_EV_PROVENANCE:
		on_provenance(a, ev, ret_actions);
		break;
	case AGENT_EV_RUN_RECORD:
		on_run_record(a, ev, ret_actions);
		break;
	case AGENT_EV_RUN_ENDED:
		on_run_ended(a, ev, ret_actions);
		break;
	case AGENT_EV_SPOOL_FULL:
		if (a->stage != AGENT_RUN)
			break;
		set_stop(a, "infra", "the spool is full");
		move(a, AGENT_STOP);
		add(ret_actions, AGENT_DO_KILL_RUN);
		break;
	}
}
