/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent does next: events in, actions out. PURE: no libuv, no clock, no files.
 *
 * A kernel that kexec cannot leave is left by a plain reboot into the machine's default kernel:
 *
 *   IDLE --order--> LEAVE --default kernel--> FETCH      LOAD --refused once--> LEAVE
 *
 *          order        fetched       loaded        new kernel      verified
 *   IDLE --------> FETCH ------> LOAD ------> BOOT ----------> VERIFY ------> RUN
 *    ^               |             |            |                 |        |   |
 *    |               +------------ failure, fence ----------------+--------+   | fence or full
 *    |                                  |                              last run| spool while a
 *    |  all records acknowledged        v                                ended |  v run goes on
 *    +------------------------------ UPLOAD <---------------------------------+- STOP
 *
 * Records are numbered here, in the order in which they are made. Each carries a mark, which the
 * spool stores with it: after a restart the last entry's mark says how far the boot had come, so
 * that a record and the progress it stands for are one write. What describes the boot (facts, then
 * documents in pieces) follows the evidence; the last of those records carries the mark that they are
 * all there. Without it a restart describes the boot again from the start, under new numbers.
 */
#ifndef KG_AGENT_AGENT_H
#define KG_AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum agent_stage {
	AGENT_IDLE,
	AGENT_FETCH,
	AGENT_LOAD,
	AGENT_BOOT,
	AGENT_VERIFY,
	AGENT_RUN,
	AGENT_STOP,
	AGENT_UPLOAD,
	AGENT_LEAVE, /* last: older spools have the numbers before it */
	AGENT_STAGE_COUNT,
};

#define AGENT_HOST_BOOT_ID_SIZE 40
#define AGENT_REASON_SIZE	256
#define AGENT_NO_RUN		UINT32_MAX

/* How far a boot had come when the agent was last here. */
struct agent_saved {
	enum agent_stage stage;
	uint64_t boot; /* 0: idle */
	uint64_t lease_epoch;
	uint32_t n_runs;
	uint32_t hops;
	bool fenced;
	bool left; /* the machine was rebooted plainly for this order */
	char host_boot_id[AGENT_HOST_BOOT_ID_SIZE]; /* of the host when this was saved */
	bool has_records;
	uint64_t last_seq; /* of the spool, when it has records */
	uint32_t mark;	   /* of its last entry */
	uint64_t acked_seq;
};

struct agent {
	enum agent_stage stage;
	uint64_t boot;
	uint64_t lease_epoch;
	uint32_t n_runs;
	uint32_t run; /* next to make, or the one in progress */
	bool run_active;
	bool described; /* facts and documents of the boot are recorded, or not wanted */
	bool ended;	/* BootEnded is recorded */
	bool fenced;
	bool lost; /* nor by force: it may still go down, and takes no order until then */
	bool connected;
	bool shutting_down; /* the machine may go down any moment: nothing is begun */
	bool forced;	    /* it did not go down by itself, and was told to without its units */
	bool settings;	    /* the order has some: applied before the boot is described */
	bool leave; /* the machine runs the boot's kernel and is rebooted once the boot is over */
	bool left;  /* it was, for this order: a second refusal is final */
	uint64_t next_seq;
	uint64_t acked_seq;
	uint32_t hops;
	char stop_outcome[24];
	char stop_reason[AGENT_REASON_SIZE];
};

enum agent_event_kind {
	AGENT_EV_START,	    /* u.start; first event, exactly once */
	AGENT_EV_CONNECTED, /* HELLO was exchanged */
	AGENT_EV_DISCONNECTED,
	AGENT_EV_ORDER,	     /* u.order */
	AGENT_EV_DISCARD,    /* before an order for another boot: nobody waits for an old upload */
	AGENT_EV_FENCE,	     /* u.fence */
	AGENT_EV_ACK,	     /* u.ack */
	AGENT_EV_FETCHED,    /* u.done */
	AGENT_EV_LOADED,     /* u.done */
	AGENT_EV_WAITED,     /* the wait for the last acknowledgement before the hop is over */
	AGENT_EV_HOP_FAILED, /* u.done: the shutdown into the new kernel did not happen */
	AGENT_EV_STILL_UP,   /* u.done: a shutdown that had begun is not over by its deadline */
	AGENT_EV_VERIFIED,   /* u.done */
	AGENT_EV_BOOT_LOG,   /* u.record: what the kernel said, before AGENT_EV_VERIFIED */
	AGENT_EV_PROVENANCE, /* u.record, after AGENT_DO_PROVENANCE; body NULL: nothing to record */
	AGENT_EV_SETTINGS_FAILED, /* u.done, after AGENT_DO_PROVENANCE: nothing may run */
	AGENT_EV_RUN_RECORD,	  /* u.record: something the run has to say */
	AGENT_EV_RUN_ENDED,	  /* u.run_ended; nothing of it is left */
	AGENT_EV_SPOOL_FULL,
};

struct agent_run_end {
	const char *outcome;
	const char *reason; /* may be NULL */
	bool has_exit_status;
	int32_t exit_status;
	bool has_term_signal;
	int32_t term_signal;
	uint32_t samples;
	uint64_t run_ns;
};

enum agent_record_kind {
	AGENT_REC_STAGE,
	AGENT_REC_EVIDENCE,
	AGENT_REC_ATTEMPT_STARTED,
	AGENT_REC_SAMPLES,
	AGENT_REC_LOG,
	AGENT_REC_ATTEMPT_ENDED,
	AGENT_REC_BOOT_ENDED,
	AGENT_REC_PROVENANCE,
	AGENT_REC_DOCUMENT,
};

struct agent_event {
	enum agent_event_kind kind;
	union {
		struct {
			const struct agent_saved *saved;
			const char *host_boot_id;
			bool nonce_seen; /* this kernel's command line carries the boot's nonce */
			bool settings, leave; /* of the order that is held */
			/* Why kexec cannot leave this kernel; NULL: it may. Lockdown shows only when
			 * an image is refused: a signed one would be taken. */
			const char *stuck;
		} start;
		struct {
			uint64_t boot, lease_epoch;
			uint32_t n_runs;
			bool settings;
			const char *stuck;
		} order;
		struct {
			uint64_t boot, lease_epoch;
			const char *reason;
		} fence;
		struct {
			uint64_t boot, lease_epoch, seq;
		} ack;
		struct {
			const char *outcome; /* NULL: it worked */
			const char *reason;
			bool stuck; /* LOADED: the running kernel refuses, another would not */
		} done;
		struct {
			enum agent_record_kind kind;
			const char *stage; /* AGENT_REC_STAGE */
			const void *body;  /* passed through */
			bool last;	   /* AGENT_EV_PROVENANCE: no more follows */
			bool urgent;	   /* AGENT_EV_RUN_RECORD: somebody waits for it */
		} record;
		struct agent_run_end run_ended;
	} u;
};

enum agent_action_kind {
	AGENT_DO_SEND_FACTS,
	AGENT_DO_SEND_STATE,
	AGENT_DO_RESEND,	 /* all records after acked_seq, over a new connection */
	AGENT_DO_ADOPT_ORDER,	 /* keep the order of this event and open its spool */
	AGENT_DO_SAVE,		 /* state file, durable before the next action */
	AGENT_DO_RECORD,	 /* encode, spool, send */
	AGENT_DO_TRIM,		 /* records up to acked_seq are committed */
	AGENT_DO_FORGET,	 /* the boot is over: remove its order and spool */
	AGENT_DO_KILL_LEFTOVERS, /* of a run that an earlier process of the agent started */
	AGENT_DO_FETCH,
	AGENT_DO_LOAD,
	AGENT_DO_CANCEL, /* whatever of fetch or load goes on; a loaded kernel is unloaded */
	AGENT_DO_WAIT,	 /* send at once, then AGENT_EV_WAITED after a short time */
	AGENT_DO_HOP,
	AGENT_DO_VERIFY,
	AGENT_DO_REBOOT,     /* plainly, into the default kernel */
	AGENT_DO_FORCE,	     /* what HOP or REBOOT began, without waiting for the units */
	AGENT_DO_PROVENANCE, /* settings, then facts and documents, as AGENT_EV_PROVENANCE */
	AGENT_DO_START_RUN,  /* run */
	AGENT_DO_KILL_RUN,
};

struct agent_record {
	enum agent_record_kind kind;
	uint64_t seq;
	uint32_t mark;
	uint32_t run;	     /* AGENT_NO_RUN: belongs to the boot */
	bool urgent;	     /* worth a network write of its own */
	const char *stage;   /* STAGE */
	const char *outcome; /* EVIDENCE (NULL: verified), BOOT_ENDED */
	const char *reason;  /* detail, or NULL */
	const void *body;
	struct agent_run_end end; /* ATTEMPT_ENDED */
};

struct agent_action {
	enum agent_action_kind kind;
	uint32_t run;
	struct agent_record record;
};

#define AGENT_ACTIONS_MAX 16

struct agent_actions {
	struct agent_action items[AGENT_ACTIONS_MAX];
	size_t n;
};

void agent_init(struct agent *a);
/* Takes one step. Texts in the actions borrow from the event and from `a`: carry them out before
 * the next step. */
void agent_step(struct agent *a, const struct agent_event *ev, struct agent_actions *ret_actions);

/* "fetch", ..., as records and AgentState name it; "" for idle. */
const char *agent_stage_name(enum agent_stage s);
/* AGENT_IDLE for an unknown name. */
enum agent_stage agent_stage_parse(const char *name);

#endif
