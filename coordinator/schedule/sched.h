/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler: which machine makes which boot, what each record means for its slots, and when a
 * stage has taken too long. PURE: events go in with their time, actions come out; the driver
 * carries them out and stores them before anybody else hears of them.
 *
 * A machine has at most one open boot. Within a job a machine takes its visits block by block, what
 * has to be tried again last in its block (of a grouped job: last among the boots of its kernel and
 * list). Between jobs the highest score is served:
 *
 *     score = priority + age_points * hours since submission - share_points * hours ahead
 *
 *     ahead = (used / share - the least used / share of the submitters that have work)
 *             * sum of the shares of the submitters that have work / machines in service
 *
 * used: machine hours, of which half are forgotten after half_life_h; an open boot counts with its
 * estimate, so that boots that begin together do not all go to the same submitter. `ahead` is
 * therefore in hours of the whole grid, whatever its size: over a day all submitters who always have
 * work advance by 24 h. Priority (0..100) buys a bounded advance: 100 points are worth
 * 100 / share_points hours. Waiting always wins in the end, and over a day machine hours go by shares.
 * Who comes back after a time without work starts at most credit_h behind the others: an absence
 * earns no right to the whole grid.
 *
 * A visit with a peer needs both machines. It begins when both are free, or both are claimed in one
 * step, or neither is; a machine has at most one claim, and no circle of machines that wait can form.
 * A claimed machine that is free before its peer may take other visits that end (by their estimate)
 * before the peer is free. What is claimed gives way only to what scores SCHED_CLAIM_POINTS more, and
 * a pair that has just run goes on with the same advantage, since both its machines are free at the
 * same time. Claiming a machine whose peer is busy costs idle time, so that it is done only when the
 * peer is free soon; how soon is soon enough grows with the time for which the pair has been passed
 * over (a sixteenth of it), so that no pair starves.
 *
 *   boot:   dispatch -> leave -> fetch -> load -> boot -> verify -> settings
 *             -> (pair | serve | warm-up | run | collect)* -> upload -> ended
 *   slot:   pending -> (attempt in a boot) -> outcome, or pending again while it may be retried
 *
 * A pair of boots ends together: the server's attempts follow the client's; when one side fails, the
 * other is fenced, and the slots get the outcome of the side that failed.
 */
#ifndef KG_SCHEDULE_SCHED_H
#define KG_SCHEDULE_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"
#include "common/yaml.h"
#include "coordinator/schedule/tree.h"

enum sched_stage {
	SCHED_DISPATCH,
	SCHED_FETCH,
	SCHED_LOAD,
	SCHED_BOOT,
	SCHED_VERIFY,
	SCHED_WARMUP,
	SCHED_RUN,
	SCHED_COLLECT,
	SCHED_UPLOAD,
	SCHED_LEAVE,	/* a plain reboot out of a kernel that kexec cannot leave, before fetch */
	SCHED_SETTINGS, /* applied and read back, after verify */
	SCHED_PAIR,	/* client: waits for its server */
	SCHED_SERVE,	/* server: until the client's run is over; deadline as run, plus pair's */
	SCHED_STAGE_COUNT,
};
const char *sched_stage_name(enum sched_stage s);
/* SCHED_STAGE_COUNT when the word is not a stage. */
enum sched_stage sched_stage_parse(const char *name);

#define SCHED_MAX_TRIES	   3 /* attempts at a slot before a retryable outcome becomes final */
#define SCHED_CLAIM_POINTS 25.0

struct sched_queue; /* a job's visits on one machine */
struct sched_user;

struct sched_limits {
	uint32_t stage_s
		[SCHED_STAGE_COUNT]; /* seconds; run and warm-up: added to the run's timeout */
	uint32_t instruction_factor; /* limits of a machine on an instruction clock are longer */
};
extern const struct sched_limits sched_limits_default;

/* Same kernel x lsm request on a machine in one block: what one boot visits. */
struct sched_visit {
	uint32_t block;
	uint32_t visit; /* order on the machine within the job */
	char *kernel;	/* digest; owned, as are the next */
	char *kernel_label;
	char *lsm_label;
	char *lsm_request;
	char *lsm_effective;
	char *cmdline;
	char *variant;	/* for people; "" */
	char *settings; /* "governor=performance; sysctl.vm.swappiness=10"; "" */
	char *peer;	/* machine of the server; NULL: none */
	bool leave_by_reboot;
	uint32_t seconds; /* estimate of the whole boot; 0: not known */
	struct sched_slot *slots;
	size_t n_slots;
	struct sched_job *job;		    /* borrows */
	struct sched_machine *machine;	    /* borrows */
	struct sched_machine *peer_machine; /* borrows; NULL: none, or the machine itself */
	/* the scheduler's own: */
	struct sched_queue *queue;
	struct sched_node again; /* in queue.again: to be tried again */
	size_t pending;		 /* slots without an outcome */
	size_t place;		 /* in queue.order */
	uint32_t part;		 /* those of a lower part come first */
	uint32_t tries;
	bool open; /* a boot of it is open */
};

struct sched_slot {
	uint64_t id;
	uint32_t position;
	uint32_t tries;
	enum kg_outcome outcome;
	char *workload; /* owned */
	char *workload_digest;
	char *params; /* "seconds=1 size=64", owned */
	uint32_t iterations;
	uint32_t timeout_s;
	bool alone; /* a canary: of a pair the client's machine runs it without its server */
};

struct sched_attempt {
	uint64_t id;
	struct sched_slot *slot; /* borrows from the visit */
	enum kg_outcome outcome; /* NONE: not ended */
	char *reason;		 /* owned or NULL */
	bool started;
	bool settled;	       /* its slot has counted it; always for a server's attempt */
	uint64_t peer_attempt; /* of the other side; 0: none */
	uint32_t port;	       /* server: the helper listens; 0: not yet */
	bool wanted;	       /* client: waits for it */
};

enum sched_role { SCHED_ROLE_NONE, SCHED_ROLE_CLIENT, SCHED_ROLE_SERVER };

struct sched_boot {
	uint64_t id;
	uint64_t lease_epoch;
	char nonce[33];
	struct sched_visit *visit; /* borrows */
	struct sched_attempt *attempts;
	size_t n_attempts;
	enum sched_stage stage;
	uint64_t deadline_ns;	       /* CLOCK_BOOTTIME of the coordinator's host */
	uint64_t running_attempt;      /* 0: none */
	bool order_sent;	       /* stored, so that the agent may have it */
	enum kg_outcome agent_outcome; /* what BootEnded or BootEvidence said */
	char *agent_reason;
	uint64_t samples;
	enum sched_role role;
	struct sched_boot *pair; /* borrows; the other side while both are open */
	uint64_t pair_id;	 /* its number; 0: none */
	/* Begun, CLOCK_BOOTTIME, may lie before 0; who restores a boot sets it. 0: not known */
	int64_t began_ns;
	/* the scheduler's own: */
	struct sched_machine *machine;
	struct sched_link link;
	struct sched_user *payer;
	uint64_t charged_ns; /* to `payer`, in advance */
	uint64_t ends_ns;    /* by the estimate */
};

enum sched_service {
	SCHED_NORMAL,
	SCHED_DRAIN,	   /* the open boot goes on, none begins */
	SCHED_MAINTENANCE, /* the open boot is ended, without counting a try; no power cycling */
};
const char *sched_service_name(enum sched_service s); /* "normal", "drain", "maintenance" */

struct sched_machine {
	char *name;
	bool up;
	bool instruction_clock;
	struct sched_boot *boot; /* open boot, owned; NULL: idle */
	enum sched_service service;
	char *service_why; /* owned; NULL: none */
	/* Reserved: only this submitter's jobs begin. Times are CLOCK_BOOTTIME, may lie before 0. */
	char *reserved_by; /* owned; NULL: not reserved */
	char *reserved_why;
	int64_t reserved_until_ns;
	struct sched_machine *next;
	/* the scheduler's own: */
	uint32_t number; /* from 0, in the order of being made */
	struct sched_link link;
	struct sched_tree ready;       /* queues that could begin here, as client or as server */
	struct sched_queue *claim;     /* the pair that it waits for */
	struct sched_queue *last_pair; /* its last boot was a pair's */
	struct sched_machine *next_due;
	/* It was on its way into a kernel when its boot ended otherwise: has to be back by then, else
	 * its power is cycled. 0: nothing of the kind. */
	uint64_t back_by_ns;
	uint64_t away_boot;
	bool due, serving;
};

enum sched_job_state { SCHED_JOB_QUEUED, SCHED_JOB_RUNNING, SCHED_JOB_DONE, SCHED_JOB_CANCELLED };
const char *sched_job_state_name(enum sched_job_state s);

struct sched_job {
	uint64_t id;
	char *name; /* owned, as user; for `why` */
	char *user; /* submitter, whose share counts */
	uint32_t priority;
	enum sched_job_state state;
	bool paused;
	int64_t queued_ns;  /* submitted, CLOCK_BOOTTIME; may lie before 0 */
	int64_t started_ns; /* first boot; INT64_MIN: none yet */
	uint64_t budget_ns; /* wall time from started_ns; 0: none. Then `skipped` */
	/* Without a boot's begin on a machine for so long, 0: none. Pauses, jobs before it and gates do
	 * not count; after a restart it counts anew. */
	uint64_t queue_timeout_ns;
	uint32_t gate_block; /* blocks after this one wait for sched_release; 0: no stop rule */
	double until_pct;    /* of the stop rule, for whoever judges it, as is the next */
	uint32_t blocks;     /* at most */
	uint64_t *after;     /* owned: jobs that must be over before */
	size_t n_after;
	struct sched_visit **visits; /* owned, by machine, then visit */
	size_t n_visits;
	size_t pending; /* slots without an outcome */
	struct sched_job *next;
	/* the scheduler's own: */
	struct sched *sched;
	struct sched_link link;
	struct sched_user *owner;
	struct sched_queue *queues, *last_queue; /* in the order of their first visit */
	double base;				 /* score without shares, at time 0 */
	size_t open_boots;
	struct sched_timer {
		struct sched_node node;
		uint64_t at_ns, number;
		bool of_job;
	} budget;
	bool added, waits; /* for a job that must be over before */
	bool has_pairs;
};

/* ---- actions ---- */

enum sched_action_kind {
	SCHED_ACT_BEGIN_BOOT, /* store the boot and its attempts, then send the order */
	SCHED_ACT_SEND_ORDER, /* send the order (again); it is stored already */
	SCHED_ACT_SET_STAGE,  /* store stage and deadline */
	SCHED_ACT_END_BOOT,   /* store the boot's outcome and its unfinished attempts' */
	SCHED_ACT_SETTLE,     /* store a slot's outcome, or one more try */
	SCHED_ACT_JOB_STATE,
	SCHED_ACT_FENCE,
	/* boot and job NULL, boot_id set: the boot had ended (cancelled, its peer failed) while the
	 * machine was on its way, and it did not come back. */
	SCHED_ACT_POWER_CYCLE,
	SCHED_ACT_EVENT, /* something people should be able to read later */
	/* Pending slots of a job (machine NULL: on all machines) that are in no open boot have this
	 * outcome: store it. Their number is in `count`. */
	SCHED_ACT_CLOSE,
	/* All blocks that may run on this machine are over, and there are more: judge the stop rule,
	 * then sched_release or sched_close. `block`: the last one that is over. */
	SCHED_ACT_GATE,
	SCHED_ACT_PEER_READY, /* to the client's machine: boot, attempt, port, `peer` */
	SCHED_ACT_PEER_DONE,  /* to the server's machine: boot, attempt */
};

struct sched_action {
	enum sched_action_kind kind;
	struct sched_machine *machine; /* borrows; may be NULL */
	struct sched_job *job;	       /* borrows; may be NULL */
	struct sched_boot *boot; /* borrows; END_BOOT: freed by the scheduler after the callback */
	struct sched_slot *slot;
	uint64_t boot_id, lease_epoch; /* FENCE: may be a boot the scheduler no longer has */
	uint64_t attempt;	       /* SETTLE: that decided; END_BOOT: unused */
	enum kg_outcome outcome;       /* END_BOOT, SETTLE (NONE: pending again), CLOSE */
	const char *text;	       /* reason; valid during the callback */
	bool count_try;		       /* SETTLE */
	uint32_t block;		       /* GATE */
	uint32_t port;		       /* PEER_READY */
	struct sched_machine *peer;    /* PEER_READY: the server's machine */
	size_t count;		       /* CLOSE */
};

typedef void (*sched_act_fn)(void *arg, const struct sched_action *a);

struct sched_share {
	const char *user; /* borrows, for sched_set_policy */
	double share;	  /* over 0; who is not named has 1 */
};
struct sched_policy {
	double age_points;   /* per hour since the job was submitted; default 5 */
	double share_points; /* per hour of the whole grid ahead; default 100 */
	double half_life_h;  /* of usage; default 24; 0: never forgotten */
	double credit_h;     /* of the whole grid; default 1 */
	const struct sched_share *shares;
	size_t n_shares;
};
extern const struct sched_policy sched_policy_default;

struct sched {
	struct sched_limits limits;
	struct sched_machine *machines;
	struct sched_job *jobs; /* by priority (highest first), then id */
	uint64_t next_boot;
	uint64_t next_attempt;
	sched_act_fn act;
	void *arg;
	/* 32 hex digits of randomness; a seam, since randomness is no business of pure code */
	void (*nonce)(void *arg, char ret_hex[33]);
	/* the scheduler's own: */
	struct sched_policy policy;
	struct sched_user *users;
	uint64_t usage_from_ns; /* usage is kept in the units of this time */
	struct sched_machine *last_machine, *due, **due_tail;
	struct sched_queue *gates, **gates_tail;
	struct sched_hash machine_hash, job_hash, boot_hash, queue_hash;
	struct sched_tree timers;
	uint64_t n_timers;
	uint32_t n_machines, n_users, n_serving;
	size_t n_waiting; /* live jobs with `after` */
	size_t n_over;	  /* jobs to be freed */
	bool acting, begun, short_of_memory;
	bool restoring; /* jobs and open boots are not all here yet */
};

void sched_init(struct sched *s, const struct sched_limits *limits, uint64_t next_boot,
		uint64_t next_attempt);
/* Copies. Before the first job. -ENOMEM. */
int sched_set_policy(struct sched *s, const struct sched_policy *p);
/* Machine time that a submitter has used, as the store knows it (at start). -ENOMEM. */
int sched_usage_add(struct sched *s, const char *user, uint64_t used_ns, uint64_t now_ns);
void sched_deinit(struct sched *s);

struct sched_machine *sched_machine_find(struct sched *s, const char *name);
/* Finds or makes; NULL: out of memory. */
struct sched_machine *sched_machine_get(struct sched *s, const char *name);
struct sched_job *sched_job_find(struct sched *s, uint64_t id);
struct sched_boot *sched_boot_find(struct sched *s, uint64_t boot, struct sched_machine **ret_m);

/* ---- loading what the store knows (no actions) ---- */

/* At start, before the first job: until sched_resume nothing is concluded from what is not here yet,
 * such as that a job is over because none of its boots is open. */
void sched_restore(struct sched *s);

/* Further fields (but visits, state and lists inside) may be set until it is added; texts by
 * sched_job_set_texts, -ENOMEM. */
struct sched_job *sched_job_new(uint64_t id, uint32_t priority, enum sched_job_state state);
int sched_job_set_texts(struct sched_job *j, const char *name, const char *user);
int sched_job_add_after(struct sched_job *j, uint64_t job);
void sched_job_free(struct sched_job *j);
/* Adds a visit; strings are copied. Visits must come ordered by machine, then visit. */
struct sched_visit *sched_job_add_visit(struct sched *s, struct sched_job *j, const char *machine,
					const struct sched_visit *like);
/* Adds a slot to a visit, in order of position; strings are copied. */
int sched_visit_add_slot(struct sched_visit *v, const struct sched_slot *like);
/* Puts an open boot back on its machine, which has none; takes `b`. */
void sched_restore_boot(struct sched *s, struct sched_machine *m, struct sched_boot *b);
/* Takes up what a crash left between a committed record and what follows from it. */
void sched_resume(struct sched *s, uint64_t now_ns);
/* For sched_restore_boot: of a pair both sides have the client's visit. `machine` need not be set,
 * peer_attempt is found by the slot. */
struct sched_boot *sched_boot_new(struct sched_visit *v, size_t n_attempts);
void sched_boot_free(struct sched_boot *b);

/* Frees a job that is over (a retry brings it back anew). False: it is not over. */
bool sched_job_forget(struct sched *s, uint64_t id);
/* Extends a live job: the visits were added by sched_job_add_visit since; feeds machines. */
void sched_job_grown(struct sched *s, uint64_t job, uint64_t now_ns);

/* ---- events; `now_ns` is CLOCK_BOOTTIME ---- */

struct sched_agent_state {
	uint64_t boot; /* 0: idle */
	uint64_t lease_epoch;
};

void sched_job_added(struct sched *s, struct sched_job *j, uint64_t now_ns); /* takes j */
void sched_job_cancelled(struct sched *s, uint64_t job, uint64_t now_ns);
void sched_machine_up(struct sched *s, const char *machine, bool instruction_clock,
		      const struct sched_agent_state *state, uint64_t now_ns);
void sched_machine_down(struct sched *s, const char *machine, uint64_t now_ns);
/* The order was stored: the driver may send it, and deadlines count from here. */
void sched_order_stored(struct sched *s, uint64_t boot, uint64_t now_ns);

/* Committed records. Unknown boots are ignored: their lease is gone. */
void sched_stage_entered(struct sched *s, uint64_t boot, enum sched_stage stage, uint64_t attempt,
			 uint64_t now_ns);
void sched_evidence(struct sched *s, uint64_t boot, bool verified, enum kg_outcome outcome,
		    const char *reason, uint64_t now_ns);
void sched_attempt_ended(struct sched *s, uint64_t boot, uint64_t attempt, enum kg_outcome outcome,
			 const char *reason, uint64_t now_ns);
void sched_boot_ended(struct sched *s, uint64_t boot, enum kg_outcome outcome, const char *reason,
		      uint64_t now_ns);
/* The store did not take the boot that was to begin: no agent has heard of it, and no attempt of it is
 * known. Its slots are tried again, as after any infra failure, so that a refusal that stays ends
 * them. */
void sched_boot_refused(struct sched *s, uint64_t boot, const char *reason, uint64_t now_ns);
void sched_tick(struct sched *s, uint64_t now_ns);

/* People's and the stop rule's events. Unknown jobs and machines: KG_ENOTFOUND; a job that is over:
 * KG_ESTATE; nothing changes then. */
int sched_job_pause(struct sched *s, uint64_t job, bool paused, uint64_t now_ns);
int sched_job_reprioritise(struct sched *s, uint64_t job, uint32_t priority, uint64_t now_ns);
/* Blocks up to this one may begin on the machine (UINT32_MAX: all). */
void sched_release(struct sched *s, uint64_t job, const char *machine, uint32_t block,
		   uint64_t now_ns);
/* Pending slots that are in no open boot end (`skipped`, `queue-timeout`); machine NULL: everywhere. */
void sched_close(struct sched *s, uint64_t job, const char *machine, enum kg_outcome outcome,
		 const char *reason, uint64_t now_ns);
/* `user` NULL: no longer. A boot in progress goes on. */
int sched_machine_reserve(struct sched *s, const char *machine, const char *user, const char *why,
			  int64_t until_ns, uint64_t now_ns);
int sched_machine_service(struct sched *s, const char *machine, enum sched_service service,
			  const char *why, uint64_t now_ns);
/* What agents of a pair say. */
void sched_peer_serving(struct sched *s, uint64_t boot, uint64_t attempt, uint32_t port,
			uint64_t now_ns);
void sched_peer_wanted(struct sched *s, uint64_t boot, uint64_t attempt, uint64_t now_ns);

/* ---- why: at most WHY_LINES lines of text for a person. Pure, changes nothing ---- */

#define SCHED_WHY_LINES 20
/* Why a job (cell: its slots on one machine that are pending, by slot ids) does not run now: state,
 * paused, dependency, per machine: offline, busy with what until when, service, reservation, pair,
 * gate, which jobs come first and by which score. KG_ENOTFOUND: not in the scheduler (over). */
int sched_why_job(const struct sched *s, uint64_t job, uint64_t now_ns, struct kg_texts *ret_lines);
int sched_why_slots(const struct sched *s, uint64_t job, const char *machine, const uint64_t *slots,
		    size_t n, uint64_t now_ns, struct kg_texts *ret_lines);
int sched_why_machine(const struct sched *s, const char *machine, uint64_t now_ns,
		      struct kg_texts *ret_lines);

/* ---- rules, for tests and for messages ---- */

/* What a slot becomes after an attempt with outcome `o`, having been tried `tries` times before:
 * NONE when it is to be tried again. */
enum kg_outcome sched_settle(enum kg_outcome o, uint32_t tries);
/* Next visit of a job on a machine, NULL when it has none. */
struct sched_visit *sched_pick(const struct sched_job *j, const struct sched_machine *m);
uint64_t sched_deadline(const struct sched *s, const struct sched_machine *m,
			const struct sched_boot *b, enum sched_stage stage, uint64_t now_ns);

#endif
