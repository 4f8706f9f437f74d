/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Played agents. What an agent has to say while it is not connected it says when it is again, as the
 * real one does out of its spool; what is sent to it meanwhile is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/sim/sim.h"

struct sim_agent *sim_agent_of(struct sim *s, const struct sched_machine *m)
{
	return &s->agents[m->number];
}

/* ---- whether it can serve ---- */

static bool can_serve(const struct sim *s, const struct sim_agent *a)
{
	struct sched_machine *m = sched_machine_find((struct sched *)(uintptr_t)&s->sched, a->name);

	return (m->up || m->boot) && m->service == SCHED_NORMAL &&
	       (!m->reserved_by || m->reserved_until_ns <= (int64_t)s->now);
}

uint64_t sim_shut_ns(const struct sim *s, const struct sim_agent *a)
{
	return a->shut_ns + (a->shut_from < 0 ? 0 : s->now - (uint64_t)a->shut_from);
}

void sim_shut(struct sim *s, struct sim_agent *a)
{
	bool can = can_serve(s, a);

	if (can && a->shut_from >= 0) {
		a->shut_ns += s->now - (uint64_t)a->shut_from;
		a->shut_from = -1;
	} else if (!can && a->shut_from < 0) {
		a->shut_from = (int64_t)s->now;
	}
}

/* ---- one boot, step by step ---- */

static void on_step(struct sim *s, const struct sim_event *e);

static void next_step(struct sim *s, struct sim_agent *a, uint64_t in_ns, enum sim_step step)
{
	sim_at(s, s->now + in_ns,
	       (struct sim_event){.run = on_step, .who = a->index, .life = a->life, .step = step});
}

static void connect_agent(struct sim *s, struct sim_agent *a)
{
	struct sched_agent_state state = {.boot = a->boot, .lease_epoch = a->epoch};

	a->connected = true;
	sched_machine_up(&s->sched, a->name, false, &state, s->now);
	sim_shut(s, a);
}

static void disconnect_agent(struct sim *s, struct sim_agent *a)
{
	a->connected = false;
	sched_machine_down(&s->sched, a->name, s->now);
	sim_shut(s, a);
}

static void forget_boot(struct sim_agent *a)
{
	a->boot = a->epoch = 0;
	a->running = false;
	a->life++;
}

static void say_part(struct sim *s, struct sim_agent *a)
{
	if (!a->connected || a->boot == 0 || a->at >= a->n || a->running)
		return;
	if (a->role == SCHED_ROLE_CLIENT)
		sched_peer_wanted(&s->sched, a->boot, a->attempts[a->at], s->now);
	else
		sched_peer_serving(&s->sched, a->boot, a->attempts[a->at], 5001, s->now);
}

/* The next run, or the end. */
static void next_run(struct sim *s, struct sim_agent *a)
{
	if (a->at == a->n) {
		sched_stage_entered(&s->sched, a->boot, SCHED_UPLOAD, 0, s->now);
		next_step(s, a, 3 * SEC, STEP_ENDS);
		return;
	}
	if (a->role == SCHED_ROLE_NONE) {
		next_step(s, a, SEC, STEP_RUN);
		return;
	}
	sched_stage_entered(&s->sched, a->boot,
			    a->role == SCHED_ROLE_CLIENT ? SCHED_PAIR : SCHED_SERVE,
			    a->attempts[a->at], s->now);
	if (a->boot == 0)
		return;
	if (a->role == SCHED_ROLE_SERVER && a->helper_fails) {
		sched_attempt_ended(&s->sched, a->boot, a->attempts[a->at], KG_OUTCOME_FAIL,
				    "the helper exited", s->now);
		return;
	}
	say_part(s, a);
}

static void run_ends(struct sim *s, struct sim_agent *a)
{
	bool fails = rng_chance(&s->rng, s->cfg.faults.run_fails);
	uint32_t life = a->life;

	a->running = false;
	sched_attempt_ended(&s->sched, a->boot, a->attempts[a->at],
			    fails ? KG_OUTCOME_FAIL : KG_OUTCOME_PASS, fails ? "exit 1" : NULL,
			    s->now);
	if (a->life != life)
		return; /* fenced meanwhile */
	a->at++;
	next_run(s, a);
}

static void comes_up(struct sim *s, struct sim_agent *a)
{
	uint32_t life = a->life;

	connect_agent(s, a);
	if (a->life != life)
		return;
	sched_stage_entered(&s->sched, a->boot, SCHED_VERIFY, 0, s->now);
	sched_evidence(&s->sched, a->boot, !a->wrong,
		       a->wrong ? KG_OUTCOME_WRONG_LSM : KG_OUTCOME_NONE, "the list differs",
		       s->now);
	if (a->wrong) {
		uint64_t boot = a->boot;

		forget_boot(a);
		sched_boot_ended(&s->sched, boot, KG_OUTCOME_WRONG_LSM, "the list differs", s->now);
		return;
	}
	next_run(s, a);
}

static void vanish(struct sim *s, struct sim_agent *a);

static void on_step(struct sim *s, const struct sim_event *e)
{
	struct sim_agent *a = &s->agents[e->who];
	uint64_t boot = a->boot;

	if (e->life != a->life)
		return;
	if (!a->connected && e->step != STEP_UP) { /* it waits in the spool */
		sim_at(s, s->now + 5 * SEC, *e);
		return;
	}
	switch (e->step) {
	case STEP_FETCH:
		sched_stage_entered(&s->sched, a->boot, SCHED_FETCH, 0, s->now);
		next_step(s, a, 5 * SEC, STEP_BOOT);
		break;
	case STEP_BOOT:
		sched_stage_entered(&s->sched, a->boot, SCHED_BOOT, 0, s->now);
		disconnect_agent(s, a);
		if (!a->hangs)
			next_step(s, a, a->hop_ns, STEP_UP);
		break;
	case STEP_UP:
		comes_up(s, a);
		break;
	case STEP_RUN:
		a->running = true;
		sched_stage_entered(&s->sched, a->boot, SCHED_RUN, a->attempts[a->at], s->now);
		if (a->lost)
			vanish(s, a);
		else
			next_step(s, a, a->run_ns, STEP_RUN_ENDS);
		break;
	case STEP_RUN_ENDS:
		run_ends(s, a);
		break;
	case STEP_ENDS:
		forget_boot(a);
		sched_boot_ended(&s->sched, boot, KG_OUTCOME_PASS, NULL, s->now);
		break;
	case STEP_WAITS:
		break;
	}
}

/* ---- what the coordinator sends ---- */

void sim_agent_order(struct sim *s, const struct sched_action *a)
{
	struct sim_agent *g = sim_agent_of(s, a->machine);
	const struct sched_boot *b = a->boot;
	double takes = (double)(b->visit->seconds ? b->visit->seconds : 600) *
		       (0.8 + 0.5 * rng_unit(&s->rng));
	size_t i;

	if (!g->connected || g->boot == b->id)
		return;
	g->life++;
	g->running = false;
	g->boot = b->id;
	g->epoch = b->lease_epoch;
	g->role = b->role;
	g->n = g->at = 0;
	free(g->attempts);
	g->attempts = calloc(b->n_attempts + 1, sizeof(*g->attempts));
	assert_non_null(g->attempts);
	for (i = 0; i < b->n_attempts; i++)
		if (b->attempts[i].outcome == KG_OUTCOME_NONE)
			g->attempts[g->n++] = b->attempts[i].id;
	g->hop_ns = (uint64_t)(takes * 0.3 * 1e9);
	g->run_ns = (uint64_t)(takes * 0.7 * 1e9 / (double)(g->n ? g->n : 1));
	g->hangs = rng_chance(&s->rng, s->cfg.faults.hang);
	g->wrong = rng_chance(&s->rng, s->cfg.faults.wrong);
	g->lost = rng_chance(&s->rng, s->cfg.faults.lost);
	g->helper_fails = rng_chance(&s->rng, s->cfg.faults.helper_fails);
	next_step(s, g, SEC, STEP_FETCH);
}

void sim_agent_fence(struct sim *s, const struct sched_action *a)
{
	struct sim_agent *g = sim_agent_of(s, a->machine);

	(void)s;
	if (!g->connected || g->boot != a->boot_id)
		return;
	forget_boot(g);
}

static void on_back(struct sim *s, const struct sim_event *e)
{
	struct sim_agent *a = &s->agents[e->who];

	if (e->life == a->life)
		connect_agent(s, a);
}

void sim_agent_power(struct sim *s, const struct sched_action *a)
{
	struct sim_agent *g = sim_agent_of(s, a->machine);

	forget_boot(g);
	g->connected = false;
	sim_at(s, s->now + 2 * MINUTE,
	       (struct sim_event){.run = on_back, .who = g->index, .life = g->life});
}

/* The client may go on. */
void sim_agent_ready(struct sim *s, const struct sched_action *a)
{
	struct sim_agent *g = sim_agent_of(s, a->machine);

	assert_true(a->port == 5001 && a->peer);
	if (!g->connected || g->boot != a->boot_id || g->running || g->at >= g->n ||
	    g->attempts[g->at] != a->attempt)
		return;
	g->life++; /* it may be told more than once: one run is enough */
	next_step(s, g, SEC, STEP_RUN);
}

static void on_served(struct sim *s, const struct sim_event *e)
{
	struct sim_agent *a = &s->agents[e->who];

	if (e->life != a->life || a->at >= a->n || a->attempts[a->at] != e->arg)
		return;
	if (!a->connected) {
		sim_at(s, s->now + 5 * SEC, *e);
		return;
	}
	sched_attempt_ended(&s->sched, a->boot, a->attempts[a->at], KG_OUTCOME_PASS, NULL, s->now);
	if (e->life != a->life)
		return;
	a->at++;
	next_run(s, a);
}

void sim_agent_done(struct sim *s, const struct sched_action *a)
{
	struct sim_agent *g = sim_agent_of(s, a->machine);

	if (!g->connected || g->boot != a->boot_id)
		return;
	sim_at(s, s->now + SEC / 10,
	       (struct sim_event){
		       .run = on_served, .who = g->index, .life = g->life, .arg = a->attempt});
}

/* ---- faults ---- */

/* Power lost: the boot is gone with it. */
static void vanish(struct sim *s, struct sim_agent *a)
{
	forget_boot(a);
	disconnect_agent(s, a);
	sim_at(s, s->now + 3 * MINUTE,
	       (struct sim_event){.run = on_back, .who = a->index, .life = a->life});
}

static void on_reconnect(struct sim *s, const struct sim_event *e)
{
	struct sim_agent *a = &s->agents[e->who];

	if (a->connected || e->life != a->life)
		return;
	connect_agent(s, a);
	say_part(s, a);
}

static void on_flap(struct sim *s, const struct sim_event *e)
{
	struct sim_agent *a = &s->agents[e->who];

	if (!a->connected)
		return;
	disconnect_agent(s, a);
	sim_at(s, s->now + (uint64_t)(rng_unit(&s->rng) * 60e9),
	       (struct sim_event){.run = on_reconnect, .who = a->index, .life = a->life});
}

static void on_away(struct sim *s, const struct sim_event *e)
{
	struct sim_agent *a = &s->agents[e->who];

	if (!a->connected)
		return;
	forget_boot(a);
	disconnect_agent(s, a);
	sim_at(s, s->now + MINUTE + (uint64_t)(rng_unit(&s->rng) * 2 * (double)HOUR),
	       (struct sim_event){.run = on_back, .who = a->index, .life = a->life});
}

void sim_agent_faults(struct sim *s, uint32_t machine, uint64_t until_ns)
{
	double days = (double)(until_ns - s->now) / (24.0 * (double)HOUR);
	double n;

	for (n = s->cfg.faults.flaps_a_day * days; n > 0 && rng_chance(&s->rng, n); n--)
		sim_at(s, s->now + (uint64_t)(rng_unit(&s->rng) * (double)(until_ns - s->now)),
		       (struct sim_event){.run = on_flap, .who = machine});
	for (n = s->cfg.faults.away_a_day * days; n > 0 && rng_chance(&s->rng, n); n--)
		sim_at(s, s->now + (uint64_t)(rng_unit(&s->rng) * (double)(until_ns - s->now)),
		       (struct sim_event){.run = on_away, .who = machine});
}
