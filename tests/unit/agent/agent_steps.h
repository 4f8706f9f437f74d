/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An agent, the events that reach it, and what it does of them. */
#ifndef KG_TESTS_AGENT_STEPS_H
#define KG_TESTS_AGENT_STEPS_H

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "tests/lib/cmocka_all.h"

#define HOST	   "11111111-0000-0000-0000-000000000000"
#define OTHER_HOST "22222222-0000-0000-0000-000000000000"

struct fixture {
	struct agent a;
	struct agent_actions acts;
};

static inline void step(struct fixture *f, struct agent_event ev)
{
	agent_step(&f->a, &ev, &f->acts);
}

static inline void start(struct fixture *f, const struct agent_saved *saved, const char *host,
			 bool nonce)
{
	struct agent_event ev = {.kind = AGENT_EV_START};

	agent_init(&f->a);
	ev.u.start.saved = saved;
	ev.u.start.host_boot_id = host;
	ev.u.start.nonce_seen = nonce;
	step(f, ev);
}

static inline void start_idle(struct fixture *f)
{
	struct agent_saved saved = {.host_boot_id = HOST};

	start(f, &saved, HOST, false);
}

static inline void simple(struct fixture *f, enum agent_event_kind kind)
{
	step(f, (struct agent_event){.kind = kind});
}

static inline void order(struct fixture *f, uint64_t boot, uint64_t epoch, uint32_t runs)
{
	struct agent_event ev = {.kind = AGENT_EV_ORDER};

	ev.u.order.boot = boot;
	ev.u.order.lease_epoch = epoch;
	ev.u.order.n_runs = runs;
	step(f, ev);
}

static inline void done(struct fixture *f, enum agent_event_kind kind, const char *outcome)
{
	struct agent_event ev = {.kind = kind};

	ev.u.done.outcome = outcome;
	ev.u.done.reason = outcome ? "why" : NULL;
	step(f, ev);
}

static inline void ack(struct fixture *f, uint64_t boot, uint64_t epoch, uint64_t seq)
{
	struct agent_event ev = {.kind = AGENT_EV_ACK};

	ev.u.ack.boot = boot;
	ev.u.ack.lease_epoch = epoch;
	ev.u.ack.seq = seq;
	step(f, ev);
}

static inline void provenance(struct fixture *f, enum agent_record_kind kind, const void *body,
			      bool last)
{
	struct agent_event ev = {.kind = AGENT_EV_PROVENANCE};

	ev.u.record.kind = kind;
	ev.u.record.body = body;
	ev.u.record.last = last;
	step(f, ev);
}

static inline void fence(struct fixture *f, uint64_t boot, uint64_t epoch)
{
	struct agent_event ev = {.kind = AGENT_EV_FENCE};

	ev.u.fence.boot = boot;
	ev.u.fence.lease_epoch = epoch;
	ev.u.fence.reason = "fenced";
	step(f, ev);
}

static inline void run_record(struct fixture *f)
{
	struct agent_event ev = {.kind = AGENT_EV_RUN_RECORD};

	ev.u.record.kind = AGENT_REC_SAMPLES;
	step(f, ev);
}

static inline void run_ended(struct fixture *f, const char *outcome)
{
	struct agent_event ev = {.kind = AGENT_EV_RUN_ENDED};

	ev.u.run_ended.outcome = outcome;
	step(f, ev);
}

static inline const struct agent_action *find(const struct fixture *f, enum agent_action_kind kind)
{
	size_t i;

	for (i = 0; i < f->acts.n; i++)
		if (f->acts.items[i].kind == kind)
			return &f->acts.items[i];
	return NULL;
}

static inline size_t position(const struct fixture *f, enum agent_action_kind kind)
{
	const struct agent_action *a = find(f, kind);

	assert_non_null(a);
	return (size_t)(a - f->acts.items);
}

static inline const struct agent_record *record(const struct fixture *f,
						enum agent_record_kind kind)
{
	size_t i;

	for (i = 0; i < f->acts.n; i++)
		if (f->acts.items[i].kind == AGENT_DO_RECORD &&
		    f->acts.items[i].record.kind == kind)
			return &f->acts.items[i].record;
	return NULL;
}

static inline void walk_to_verified(struct fixture *f, uint32_t runs)
{
	struct agent_saved saved;

	start_idle(f);
	order(f, 7, 3, runs);
	done(f, AGENT_EV_FETCHED, NULL);
	done(f, AGENT_EV_LOADED, NULL);
	saved = (struct agent_saved){.stage = AGENT_BOOT,
				     .boot = 7,
				     .lease_epoch = 3,
				     .n_runs = runs,
				     .host_boot_id = HOST,
				     .has_records = true,
				     .last_seq = f->a.next_seq - 1,
				     .mark = AGENT_BOOT};
	start(f, &saved, OTHER_HOST, true);
	done(f, AGENT_EV_VERIFIED, NULL);
	assert_int_equal(f->a.stage, AGENT_RUN);
}

static inline void walk_to_run(struct fixture *f, uint32_t runs)
{
	walk_to_verified(f, runs);
	provenance(f, AGENT_REC_PROVENANCE, NULL, true); /* nothing to record */
}

#define MARK_ACTIVE 0x10U

static inline struct agent_saved saved_run(uint32_t mark)
{
	return (struct agent_saved){.stage = AGENT_VERIFY,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 3,
				    .hops = 1,
				    .host_boot_id = HOST,
				    .has_records = true,
				    .last_seq = 9,
				    .mark = mark};
}

#endif
