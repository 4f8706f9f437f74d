/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole scheduler with played agents under a virtual clock: seeded, so that a run can be made
 * again. Everything random comes from the seed; nothing here reads a clock.
 */
#ifndef KG_TESTS_SIM_H
#define KG_TESTS_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/clock.h"
#include "coordinator/schedule/sched.h"

#define SEC	      ((uint64_t)KG_NSEC_PER_SEC)
#define MINUTE	      (60 * SEC)
#define HOUR	      (3600 * SEC)
#define SIM_MAX_USERS 16

struct sim;

struct rng {
	uint64_t state;
};
uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* 0..n-1 */
double rng_unit(struct rng *r);		       /* [0, 1) */
bool rng_chance(struct rng *r, double p);

/* How often what goes wrong; probabilities for each boot, or rates for each machine and day. */
struct sim_faults {
	double hang, wrong, lost, run_fails, helper_fails;
	double flaps_a_day, away_a_day;
};

struct sim_config {
	uint64_t seed;
	uint32_t machines;
	uint64_t tick_ns;
	struct sched_policy policy;
	struct sim_faults faults;
	FILE *trace; /* NULL: only its hash is kept */
	bool deep;   /* walk all slots after each event */
};

/* What the played agent of a machine does. */
enum sim_step { STEP_FETCH, STEP_BOOT, STEP_UP, STEP_RUN, STEP_RUN_ENDS, STEP_ENDS, STEP_WAITS };

struct sim_agent {
	uint32_t index;
	char name[16];
	bool connected;
	uint64_t boot, epoch; /* 0: idle */
	uint32_t life;	      /* changes whenever what it was about to do is off */
	enum sched_role role;
	bool hangs, wrong, lost;
	uint64_t hop_ns, run_ns;
	uint64_t *attempts; /* owned */
	size_t n, at;
	bool helper_fails, running;
	struct sched_job *job; /* of the boot: only to be compared */
	/* measured */
	uint64_t shut_ns;   /* time for which it could not serve, up to `shut_from` */
	int64_t shut_from;  /* -1: it can serve */
	uint64_t idle_ns;   /* idle although there was something to do */
	uint64_t looked_ns; /* time for which that was looked at */
	uint32_t left;	    /* slots that are pending here as the client */
};

struct sim_slot {
	uint32_t job; /* index */
	uint32_t machine;
	/* Since when its job may begin: submitted, and the one before it over. What waits for the
	 * blocks before it waits, whether a stop rule stands between or not: that is judged within a
	 * second, and the hours are those of the queue. */
	uint64_t eligible_ns;
	uint64_t shut_ns;   /* of its machine then */
	uint64_t paused_ns; /* of its job then */
	int64_t waited_ns;  /* to its first boot; -1: none yet */
};

struct sim_job {
	uint64_t id;
	uint32_t user, priority;
	uint32_t first_slot, n_slots;
	uint64_t after;
	bool pair, over, cancelled;
	bool paused;
	uint64_t paused_from, paused_ns;
	uint64_t pending;		     /* as the actions say */
	uint64_t outcomes[KG_OUTCOME_COUNT]; /* as the actions say */
};

struct sim_event {
	uint64_t at_ns, number;
	void (*run)(struct sim *s, const struct sim_event *e);
	uint32_t who; /* machine or job */
	uint32_t life;
	uint64_t arg;
	enum sim_step step;
};

struct sim {
	struct sim_config cfg;
	struct sched sched;
	struct rng rng;
	uint64_t now;
	struct sim_event *heap;
	size_t n_heap, cap_heap;
	uint64_t n_events;
	struct sim_agent *agents;
	struct sim_job *jobs;
	size_t n_jobs, cap_jobs;
	struct sim_slot *slots;
	size_t n_slots, cap_slots;
	uint64_t trace_hash, n_actions;
	uint64_t boots;
	bool stop_ticks;
	uint64_t used_ns[SIM_MAX_USERS]; /* machine time by submitter */
	uint64_t count_from, count_to;	 /* within which it is counted */
	uint64_t *began;		 /* by machine: open boot's begin */
	void (*on_job_over)(struct sim *s, uint32_t job);
	double stop_early; /* probability that a gate closes */
};

void sim_init(struct sim *s, const struct sim_config *cfg);
void sim_deinit(struct sim *s);
void sim_at(struct sim *s, uint64_t at_ns, struct sim_event e);
/* Until nothing is left to happen, or this time. */
void sim_run(struct sim *s, uint64_t until_ns);

/* ---- jobs ---- */
struct sim_plan {
	uint32_t user, priority;
	const uint32_t *machines; /* clients */
	const uint32_t *peers;	  /* servers, one for each; NULL: none */
	uint32_t n_machines, blocks, visits, slots;
	uint32_t seconds; /* of a boot */
	uint32_t gate;
	uint64_t budget_ns, queue_timeout_ns;
	uint64_t after; /* job's number; 0: none */
};
/* Submits it now. Returns its index. */
uint32_t sim_submit(struct sim *s, const struct sim_plan *p);
struct sched_job *sim_job(struct sim *s, uint32_t job); /* NULL: over and forgotten */

/* ---- people ---- */
void sim_pause(struct sim *s, uint32_t job, bool paused);
void sim_cancel(struct sim *s, uint32_t job);
void sim_reprioritise(struct sim *s, uint32_t job, uint32_t priority);
void sim_service(struct sim *s, uint32_t machine, enum sched_service service);
void sim_reserve(struct sim *s, uint32_t machine, const char *user, uint64_t for_ns);

/* ---- agents ---- */
void sim_agent_order(struct sim *s, const struct sched_action *a);
void sim_agent_fence(struct sim *s, const struct sched_action *a);
void sim_agent_power(struct sim *s, const struct sched_action *a);
void sim_agent_ready(struct sim *s, const struct sched_action *a);
void sim_agent_done(struct sim *s, const struct sched_action *a);
void sim_agent_faults(struct sim *s, uint32_t machine, uint64_t until_ns);
struct sim_agent *sim_agent_of(struct sim *s, const struct sched_machine *m);
/* The machine can serve from now on, or cannot. */
void sim_shut(struct sim *s, struct sim_agent *a);
uint64_t sim_shut_ns(const struct sim *s, const struct sim_agent *a);

/* ---- figures ---- */
void sim_check_job(struct sim *s, uint32_t job);
void sim_check_all(struct sim *s);
void sim_look_at_idle(struct sim *s, uint64_t for_ns);

struct sim_waits {
	uint64_t n;
	double median_h, most_h;
};
struct sim_waits sim_waits(struct sim *s, uint32_t priority);
double sim_idle_share(const struct sim *s); /* idle for the scheduler's sake / time of machines */

#endif
