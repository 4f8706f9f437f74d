/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots with everything that may come between: fences, orders, lost connections, crashes of the agent
 * after any of its actions, and of the machine. What is on disk is all that survives. */
#include "tests/unit/agent/agent_steps.h"

#define SEEDS 3000
#define STEPS 120
#define RUNS  3

struct world {
	struct fixture f;
	uint64_t random;
	unsigned seed;
	struct agent_saved disk; /* state file and spool */
	bool settings, leave;	 /* of the order */
	char host[AGENT_HOST_BOOT_ID_SIZE];
	unsigned hosts;
	bool nonce; /* the kernel is the order's */
	bool stuck;
	bool fetching, loading, waiting, hopping, rebooting, verifying, describing, running;
	/* what the coordinator has heard of the boot */
	uint32_t next_end;
	bool over;
	uint64_t boots, passed;
};

static unsigned pick(struct world *w, unsigned n)
{
	w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(w->random >> 33) % n;
}

static void quiet(struct world *w)
{
	w->fetching = w->loading = w->waiting = w->hopping = w->rebooting = false;
	w->verifying = w->describing = w->running = false;
}

static void check(const struct world *w, bool good, const char *rule)
{
	if (!good)
		fail_msg("seed %u: %s", w->seed, rule);
}

static void save(struct world *w)
{
	const struct agent *a = &w->f.a;

	w->disk.stage = a->stage;
	w->disk.boot = a->boot;
	w->disk.lease_epoch = a->lease_epoch;
	w->disk.n_runs = a->n_runs;
	w->disk.hops = a->hops;
	w->disk.fenced = a->fenced;
	w->disk.left = a->left;
	(void)snprintf(w->disk.host_boot_id, sizeof(w->disk.host_boot_id), "%s", w->host);
}

static void keep(struct world *w, const struct agent_record *r)
{
	check(w, r->seq == w->disk.last_seq + 1, "records are numbered without a gap");
	check(w, !w->over, "nothing follows the end of a boot");
	w->disk.has_records = true;
	w->disk.last_seq = r->seq;
	w->disk.mark = r->mark;
	if (r->kind == AGENT_REC_ATTEMPT_ENDED) {
		check(w, r->run == w->next_end, "each run ends once, in order");
		w->next_end++;
	}
	w->over = r->kind == AGENT_REC_BOOT_ENDED;
	if (w->over && strcmp(r->outcome, "pass") == 0) {
		check(w, w->next_end == RUNS, "a boot passes with all of its runs");
		w->passed++;
	}
}

static void clear_spool(struct world *w)
{
	w->disk.has_records = false;
	w->disk.last_seq = w->disk.acked_seq = 0;
	w->disk.mark = 0;
	w->next_end = 0;
	w->over = false;
}

static void carry_out(struct world *w, const struct agent_action *a)
{
	bool down;

	switch (a->kind) {
	case AGENT_DO_SAVE:
		save(w);
		break;
	case AGENT_DO_RECORD:
		keep(w, &a->record);
		break;
	case AGENT_DO_ADOPT_ORDER:
	case AGENT_DO_FORGET:
		clear_spool(w);
		break;
	case AGENT_DO_TRIM:
		w->disk.acked_seq = w->f.a.acked_seq;
		break;
	case AGENT_DO_FETCH:
		w->fetching = true;
		break;
	case AGENT_DO_LOAD:
		w->loading = true;
		break;
	case AGENT_DO_CANCEL: /* a shutdown that has begun goes on, without the kernel */
		down = w->hopping || w->rebooting;
		quiet(w);
		w->rebooting = down;
		break;
	case AGENT_DO_WAIT:
		w->waiting = true;
		break;
	case AGENT_DO_HOP:
		check(w, !w->over && w->f.a.stage == AGENT_BOOT, "it hops into a boot");
		w->hopping = true;
		break;
	case AGENT_DO_REBOOT:
		check(w, w->f.a.stage == AGENT_LEAVE || w->f.a.stage == AGENT_IDLE,
		      "it leaves for a boot, or after one");
		w->rebooting = true;
		break;
	case AGENT_DO_VERIFY:
		w->verifying = true;
		break;
	case AGENT_DO_PROVENANCE:
		w->describing = true;
		break;
	case AGENT_DO_START_RUN:
		check(w, w->nonce && a->run == w->next_end && a->run < RUNS, "the next run begins");
		w->running = true;
		break;
	case AGENT_DO_KILL_RUN:
		w->running = true; /* its end comes, whether it had begun or not */
		w->describing = false;
		break;
	default:
		break;
	}
}

static void restart(struct world *w);

/* Carries the actions out, unless the agent dies on the way. */
static void act(struct world *w)
{
	struct agent_actions acts = w->f.acts;
	size_t i, n = pick(w, 12) == 0 ? pick(w, (unsigned)acts.n + 1) : acts.n + 1;

	for (i = 0; i < acts.n && i < n; i++)
		carry_out(w, &acts.items[i]);
	if (n <= acts.n)
		restart(w);
}

static void new_host(struct world *w, bool nonce)
{
	(void)snprintf(w->host, sizeof(w->host), "%08u-host", ++w->hosts);
	w->nonce = nonce;
	w->stuck = nonce ? pick(w, 4) == 0 : pick(w, 20) == 0;
}

static void restart(struct world *w)
{
	struct agent_saved saved = w->disk;
	struct agent_event ev = {.kind = AGENT_EV_START};

	if (pick(w, 8) == 0)
		new_host(w, false); /* power was lost */
	quiet(w);
	agent_init(&w->f.a);
	ev.u.start.saved = &saved;
	ev.u.start.host_boot_id = w->host;
	ev.u.start.nonce_seen = w->nonce;
	ev.u.start.settings = w->settings && saved.boot;
	ev.u.start.leave = w->leave && saved.boot;
	ev.u.start.stuck = w->stuck ? "stuck" : NULL;
	step(&w->f, ev);
	act(w);
}

static void offer_order(struct world *w)
{
	struct agent_event ev = {.kind = AGENT_EV_ORDER};

	if (w->f.a.stage == AGENT_IDLE) {
		w->settings = pick(w, 2);
		w->leave = pick(w, 3) == 0;
		w->nonce = false;
	}
	ev.u.order.boot = w->f.a.boot ? w->f.a.boot + pick(w, 2) : ++w->boots;
	ev.u.order.lease_epoch = 3;
	ev.u.order.n_runs = RUNS;
	ev.u.order.settings = w->settings;
	ev.u.order.stuck = w->stuck ? "stuck" : NULL;
	step(&w->f, ev);
}

/* What was begun, and goes well or not. */
static bool progress(struct world *w)
{
	const char *outcome = pick(w, 10) == 0 ? "infra" : NULL;
	struct agent_event stuck = {.kind = AGENT_EV_LOADED,
				    .u.done = {.outcome = "infra", .stuck = true}};

	if (w->fetching) {
		w->fetching = false;
		done(&w->f, AGENT_EV_FETCHED, outcome);
	} else if (w->loading) {
		w->loading = false;
		if (pick(w, 6) == 0)
			step(&w->f, stuck);
		else
			done(&w->f, AGENT_EV_LOADED, outcome);
	} else if (w->waiting) {
		w->waiting = false;
		simple(&w->f, AGENT_EV_WAITED);
	} else if (w->verifying) {
		w->verifying = false;
		done(&w->f, AGENT_EV_VERIFIED, w->nonce ? outcome : "boot-fallback");
	} else if (w->describing) {
		w->describing = pick(w, 2);
		if (!w->describing && w->settings && outcome)
			done(&w->f, AGENT_EV_SETTINGS_FAILED, "invalid-env");
		else
			provenance(&w->f, AGENT_REC_PROVENANCE, w, !w->describing);
	} else if (w->running) {
		w->running = pick(w, 2);
		if (w->running)
			run_record(&w->f);
		else
			run_ended(&w->f, outcome ? outcome : "pass");
	} else {
		return false;
	}
	return true;
}

static void disturb(struct world *w)
{
	struct agent *a = &w->f.a;

	switch (pick(w, 7)) {
	case 0:
		simple(&w->f, AGENT_EV_CONNECTED);
		break;
	case 1:
		simple(&w->f, AGENT_EV_DISCONNECTED);
		break;
	case 2:
		fence(&w->f, a->boot, a->lease_epoch + pick(w, 2));
		break;
	case 3:
		simple(&w->f, AGENT_EV_DISCARD);
		break;
	case 4:
		simple(&w->f, AGENT_EV_SPOOL_FULL);
		break;
	case 5:
		offer_order(w);
		break;
	default:
		ack(&w->f, a->boot, a->lease_epoch, pick(w, (unsigned)a->next_seq + 2));
		break;
	}
}

static void turn(struct world *w)
{
	if (w->hopping || w->rebooting) {
		bool there = w->hopping && pick(w, 8) != 0;

		if (pick(w, 8) == 0) { /* it stays */
			w->hopping = w->rebooting = false;
			done(&w->f, AGENT_EV_HOP_FAILED, "infra");
			act(w);
			return;
		}
		if (pick(w, 4) == 0) { /* still up; orders and fences come in meanwhile */
			w->f.acts.n = 0;
			if (pick(w, 2))
				done(&w->f, AGENT_EV_STILL_UP, "infra");
			else if (w->f.a.stage == AGENT_IDLE)
				offer_order(w);
			else
				disturb(w);
			check(w, !w->fetching && !w->running, "nothing is begun that late");
			act(w);
			return;
		}
		new_host(w, there);
		restart(w);
		return;
	}
	w->f.acts.n = 0;
	if (pick(w, 5) == 0 || !progress(w)) {
		if (w->f.a.stage == AGENT_IDLE)
			offer_order(w);
		else if (w->f.a.stage == AGENT_UPLOAD && pick(w, 2))
			ack(&w->f, w->f.a.boot, w->f.a.lease_epoch, w->f.a.next_seq - 1);
		else
			disturb(w);
	}
	act(w);
}

static void test_a_boot_has_one_end_whatever_happens(void **state)
{
	unsigned seed, i;
	uint64_t passed = 0;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		struct world w = {.random = seed, .seed = seed};

		new_host(&w, false);
		restart(&w);
		for (i = 0; i < STEPS; i++)
			turn(&w);
		passed += w.passed;
	}
	assert_true(passed > SEEDS); /* not all of them end early */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_boot_has_one_end_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
