/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the scheduler's files only. */
#ifndef KG_SCHEDULE_SCHED_INTERNAL_H
#define KG_SCHEDULE_SCHED_INTERNAL_H

#include "coordinator/schedule/sched.h"

#define SCHED_NS_PER_H	   3.6e12
#define SCHED_ESTIMATE_NS  600000000000ULL /* of a boot of which nothing is known */
#define SCHED_REASON_BYTES 320

/*
 * A job's visits on one machine. It is in the machine's `ready` (and in the peer's, when its next
 * visit has one) while it could begin if the machine were free:
 *
 *   waiting <-> ready -> open boot -> ready | waiting | over
 *
 * waiting: its job is paused or waits for another one, or a gate is shut.
 */
struct sched_entry {
	struct sched_node node;
	struct sched_queue *queue;
	struct sched_machine *machine; /* in whose `ready` it is */
	struct sched_user *user;       /* of its job, as long as it is there */
};

struct sched_queue {
	struct sched_job *job;
	struct sched_machine *machine;
	struct sched_queue *next; /* of the job */
	struct sched_link link;
	struct sched_visit **order; /* by part, then visit */
	size_t n, cap;		    /* of which `sorted` are in order */
	size_t sorted;
	size_t cursor; /* none before it is to be tried for the first time */
	struct sched_tree again;
	size_t pending;		 /* slots */
	struct sched_boot *boot; /* open; of a pair the client's */
	uint32_t released;	 /* blocks up to this one may begin */
	uint32_t gate_told;	 /* block of the last GATE; 0: none */
	bool gate_due;
	struct sched_queue *next_gate;
	struct sched_entry client, server;
	struct sched_timer timeout;
	uint64_t waited_ns;	       /* towards queue_timeout, before `counts_from_ns` */
	uint64_t counts_from_ns;       /* while timeout is in s->timers */
	struct sched_machine *claimed; /* peer's machine, when the pair has claimed both */
	int64_t passed_ns;	       /* a pair: first passed over since its last boot; -1: not */
	double pace;		/* time taken / estimate, of boots that passed; 0: none yet */
	uint64_t mean_ns;	/* of boots without an estimate; 0: none yet */
	enum kg_outcome closed; /* what becomes pending again gets this; NONE: stays pending */
	char *closed_why;	/* owned */
};

struct sched_user {
	char *name; /* owned */
	double share;
	double used;	/* machine ns, in the units of s->usage_from_ns */
	double pledged; /* part of it: estimates of open boots */
	uint32_t number;
	size_t n_jobs; /* that are not over */
	struct sched_user *next;
	/* while one machine is looked at: */
	struct sched_entry *at;
	struct sched_user *next_at;
};

/* ---- model.c ---- */
void sched_insert_job(struct sched *s, struct sched_job *j);
void sched_unlink_job(struct sched *s, struct sched_job *j);
/* NULL when the attempt is not one of this boot's. */
struct sched_attempt *sched_boot_attempt(struct sched_boot *b, uint64_t attempt);
struct sched_queue *sched_queue_find(const struct sched *s, const struct sched_job *j,
				     const struct sched_machine *m);
bool sched_job_live(const struct sched_job *j);
void sched_set_text(char **text, const char *value);

/* ---- queue.c ---- */
/* Adds a visit behind the others. -ENOMEM. */
int sched_queue_add(struct sched *s, struct sched_visit *v);
void sched_queue_free(struct sched_queue *q);
/* Puts all visits in order and counts. */
void sched_queue_sort(struct sched_queue *q);
/* Next visit of which no boot is open; NULL: none. */
struct sched_visit *sched_queue_next(const struct sched_queue *q);
bool sched_queue_gated(const struct sched_queue *q, const struct sched_visit *v);
/* The visit's slots or its `open` have changed. */
void sched_visit_changed(struct sched_visit *v);
/* Whether, and where, it could begin; its clock; its gate. */
void sched_queue_refresh(struct sched *s, struct sched_queue *q, uint64_t now_ns);
void sched_job_refresh(struct sched *s, struct sched_job *j, uint64_t now_ns);
/* Score or owner are about to change: out of all trees, until the next refresh. */
void sched_job_withdraw(struct sched *s, struct sched_job *j);
void sched_queue_withdraw(struct sched *s, struct sched_queue *q);
/* Pending slots without an open boot get the outcome. Returns how many. */
size_t sched_queue_settle_all(struct sched_queue *q, enum kg_outcome o, bool open_too);
uint64_t sched_estimate(const struct sched_queue *q, const struct sched_visit *v, bool *ret_known);
void sched_timer_set(struct sched *s, struct sched_timer *t, uint64_t at_ns);
void sched_timer_stop(struct sched *s, struct sched_timer *t);

/* ---- policy.c ---- */
/* Finds or makes; NULL: out of memory. */
struct sched_user *sched_user_get(struct sched *s, const char *name);
const struct sched_user *sched_user_find(const struct sched *s, const char *name);
void sched_users_free(struct sched *s);
/* -ENOMEM; the job cannot begin before this went well. */
int sched_job_own(struct sched *s, struct sched_job *j, uint64_t now_ns);
void sched_job_disown(struct sched *s, struct sched_job *j);
/* Counts an open boot with its estimate, and what it took in its place. */
void sched_pledge(struct sched *s, struct sched_boot *b);
void sched_redeem(struct sched *s, struct sched_boot *b, uint64_t now_ns);
void sched_charge(struct sched *s, struct sched_user *u, double ns, uint64_t now_ns);
double sched_ahead_h(const struct sched *s, const struct sched_user *u, uint64_t now_ns);
/* The same in parts: ahead = (used / share - from) * unit. For many scores at one time, since it looks
 * at every submitter. */
struct sched_frame {
	uint64_t now_ns;
	double from, unit;
};
struct sched_frame sched_frame(const struct sched *s, uint64_t now_ns);
double sched_score_in(const struct sched *s, const struct sched_frame *f,
		      const struct sched_job *j);
double sched_score(const struct sched *s, const struct sched_job *j, uint64_t now_ns);
void sched_job_rebase(struct sched *s, struct sched_job *j);
int sched_entry_order(const struct sched_node *a, const struct sched_node *b);

/* ---- policy_pick.c ---- */
/* Marks for `sched_settle_down`. */
void sched_due(struct sched *s, struct sched_machine *m);
/* Tells gates and begins boots on all machines that are due. Last step of every event. */
void sched_settle_down(struct sched *s, uint64_t now_ns);
void sched_claim_drop(struct sched *s, struct sched_queue *q);
bool sched_reserved(const struct sched_machine *m, uint64_t now_ns);
/* Whether `user` may begin there, sooner or later this hour: in service, and reserved for nobody
 * else. */
bool sched_machine_serves(const struct sched_machine *m, const char *user, uint64_t now_ns);
/* Until the machine is free, by the estimate; 0: free. What is over its estimate is thought to take
 * as long again as it is over. */
uint64_t sched_busy_ns(const struct sched_machine *m, uint64_t now_ns);

/* ---- boot.c ---- */
struct sched_ending {
	enum kg_outcome outcome;
	const char *reason; /* NULL: none */
	bool keep_tries;
};
void sched_emit(struct sched *s, const struct sched_action *a);
void sched_set_job_state(struct sched *s, struct sched_job *j, enum sched_job_state state,
			 uint64_t now_ns);
/* Puts a boot on its machine: links and counts. */
void sched_boot_open(struct sched *s, struct sched_machine *m, struct sched_boot *b);
/* Both false: out of memory, nothing has changed. */
bool sched_begin(struct sched *s, struct sched_visit *v, uint64_t now_ns);
void sched_end_boot(struct sched *s, struct sched_machine *m, const struct sched_ending *e,
		    uint64_t now_ns);
void sched_close_boot(struct sched *s, struct sched_machine *m, const struct sched_ending *e,
		      uint64_t now_ns);
void sched_fence(struct sched *s, struct sched_machine *m, const char *why);
void sched_settle_slot(struct sched *s, struct sched_machine *m, struct sched_job *j,
		       struct sched_attempt *a);
void sched_finish_job(struct sched *s, struct sched_job *j, uint64_t now_ns);
void sched_close_slots(struct sched *s, struct sched_job *j, struct sched_machine *m,
		       enum kg_outcome outcome, const char *reason, uint64_t now_ns);
/* The machine is up or has a boot, or not any more. */
void sched_serving(struct sched *s, struct sched_machine *m);
bool sched_ready_to_go(const struct sched_boot *b); /* stored, of a pair both */

/* ---- pair.c ---- */
void sched_pair_link(struct sched_boot *a, struct sched_boot *b);
bool sched_all_ended(const struct sched_boot *b);
/* An attempt of a side has ended. */
void sched_pair_attempt_ended(struct sched *s, struct sched_boot *b, struct sched_attempt *a,
			      uint64_t now_ns);
/* Ends the boot whose link to the other side is cut here, and what follows for the other side. */
void sched_pair_end(struct sched *s, struct sched_boot *b, const struct sched_ending *e,
		    uint64_t now_ns);
void sched_pair_resume(struct sched *s, uint64_t now_ns);

/* ---- jobs.c ---- */
bool sched_job_waits(const struct sched *s, const struct sched_job *j);
/* A job has come or is over: those that wait for it may go on, or have to wait. */
void sched_recheck_waiting(struct sched *s, uint64_t now_ns);
void sched_budget_start(struct sched *s, struct sched_job *j);
/* Frees jobs that are over and have no open boot; the store has them. */
void sched_reap(struct sched *s);
void sched_run_timers(struct sched *s, uint64_t now_ns);

/* ---- rules.c ---- */
/* "42 s", "4 min 10 s", "1 h 20 min", "3 d 4 h". */
const char *sched_span(uint64_t ns, char *buf, size_t size);

/* Whether a machine that is late needs its power cycled: it has left the kernel that we know, or hangs
 * on the way out of it. One that waits for its peer, and says so, needs a word only. */
bool sched_needs_power(const struct sched_machine *m);

/* ---- why_queue.c ---- */
/* The reason that counts most why the queue does not begin now; false: it could. */
bool sched_queue_obstacle(const struct sched *s, const struct sched_queue *q, uint64_t now_ns,
			  char *text, size_t size);

#endif
