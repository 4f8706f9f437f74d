/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the agent's records to rows: each once, whatever is repeated, lost or killed between. The
 * agent is played by hand; the coordinator is real and gets real SIGKILLs.
 */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/fault.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"
#include "tests/lib/synthetic_kernel.h"

struct world {
	struct grid g;
	struct peer *agent;
	uint64_t boot, epoch, seq;
	uint64_t attempts[8];
	size_t n_attempts;
	char expect_lsm[256];
};

static const char job_text[] = "name: small\n"
			       "machines: [m1]\n"
			       "kernels: [k1]\n"
			       "lsm: {short: yama}\n"
			       "workloads: [{fake: {size: [1, 2]}}]\n"
			       "repeat: {boots: 1, iterations: 2}\n";

static void take_order(struct world *w)
{
	struct kg_msg *m = peer_expect(w->agent, KG_MSG_BOOT_ORDER);
	const Kgrid__V1__BootOrder *o = PEER_BODY(m, Kgrid__V1__BootOrder);
	size_t i;

	w->boot = o->boot;
	w->epoch = o->lease_epoch;
	w->seq = 0;
	w->n_attempts = o->n_runs;
	assert_true(o->n_runs <= 8);
	for (i = 0; i < o->n_runs; i++)
		w->attempts[i] = o->runs[i]->attempt;
	(void)snprintf(w->expect_lsm, sizeof(w->expect_lsm), "%s", o->expect_lsm);
	kg_msg_free(m);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	struct peer *client;
	char digest[65];

	grid_init(&w->g);
	grid_start(&w->g, NULL);
	client = peer_connect(w->g.socket);
	peer_hello_client(client);
	synthetic_kernel_add(client, "k1", "6.12.1-test", "x", digest);
	w->agent = peer_connect(w->g.tcp);
	peer_hello_agent(w->agent, "m1", "state-1");
	peer_agent_ready(w->agent, 0, 0);
	grid_wait_count(&w->g, "SELECT count(*) FROM machine", 1);
	rq.text = (char *)(uintptr_t)job_text;
	kg_msg_free(peer_call(client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY));
	peer_close(client);
	take_order(w);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	peer_close(w->agent);
	if (w->g.pid)
		assert_int_equal(grid_stop(&w->g), 0);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

static void reconnect(struct world *w, uint64_t boot)
{
	peer_close(w->agent);
	w->agent = peer_connect(w->g.tcp);
	peer_hello_agent(w->agent, "m1", "state-1");
	peer_agent_ready(w->agent, boot, w->epoch);
}

/* ---- records ---- */

static void send_seq(struct world *w, Kgrid__V1__Record *r, uint64_t seq)
{
	r->has_boot = r->has_lease_epoch = r->has_seq = 1;
	r->boot = w->boot;
	r->lease_epoch = w->epoch;
	r->seq = seq;
	r->has_monotonic_ns = 1;
	r->monotonic_ns = 1000 * seq;
	peer_send(w->agent, KG_MSG_RECORD, 0, &r->base);
}

static void send_stage(struct world *w, const char *stage, uint64_t seq)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__StageEntered s = KGRID__V1__STAGE_ENTERED__INIT;

	s.stage = (char *)(uintptr_t)stage;
	r.body_case = KGRID__V1__RECORD__BODY_STAGE;
	r.stage = &s;
	send_seq(w, &r, seq);
}

static void send_evidence(struct world *w, bool verified, const char *outcome, uint64_t seq)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__BootEvidence e = KGRID__V1__BOOT_EVIDENCE__INIT;

	e.has_verified = 1;
	e.verified = verified;
	e.outcome = (char *)(uintptr_t)outcome;
	e.reason = (char *)(uintptr_t)(verified ? NULL : "list differs");
	e.lsm = w->expect_lsm;
	e.release = (char *)(uintptr_t) "6.12.1-test";
	r.body_case = KGRID__V1__RECORD__BODY_EVIDENCE;
	r.evidence = &e;
	send_seq(w, &r, seq);
}

static void send_started(struct world *w, size_t run, uint64_t seq)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__AttemptStarted s = KGRID__V1__ATTEMPT_STARTED__INIT;
	Kgrid__V1__MetricInfo info = KGRID__V1__METRIC_INFO__INIT;
	Kgrid__V1__MetricInfo *infos[] = {&info};

	info.has_id = 1;
	info.name = (char *)(uintptr_t) "rate";
	info.unit = (char *)(uintptr_t) "1/s";
	info.direction = (char *)(uintptr_t) "higher";
	s.metrics = infos;
	s.n_metrics = 1;
	r.has_attempt = 1;
	r.attempt = w->attempts[run];
	r.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_STARTED;
	r.attempt_started = &s;
	send_seq(w, &r, seq);
}

static void send_samples(struct world *w, size_t run, uint32_t n, uint64_t seq)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__SampleBatch b = KGRID__V1__SAMPLE_BATCH__INIT;
	uint32_t index[16], metric[16] = {0}, iteration[16];
	int64_t delta[16];
	double value[16];
	uint32_t i;

	for (i = 0; i < n; i++) {
		index[i] = i;
		iteration[i] = i + 1;
		delta[i] = 1000;
		value[i] = 100 + i;
	}
	b.n_index = b.n_metric = b.n_iteration = b.n_time_delta_ns = b.n_value = n;
	b.index = index;
	b.metric = metric;
	b.iteration = iteration;
	b.time_delta_ns = delta;
	b.value = value;
	r.has_attempt = 1;
	r.attempt = w->attempts[run];
	r.body_case = KGRID__V1__RECORD__BODY_SAMPLES;
	r.samples = &b;
	send_seq(w, &r, seq);
}

static void send_ended(struct world *w, size_t run, const char *outcome, uint32_t samples,
		       uint64_t seq)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__AttemptEnded e = KGRID__V1__ATTEMPT_ENDED__INIT;

	e.outcome = (char *)(uintptr_t)outcome;
	e.has_samples = 1;
	e.samples = samples;
	r.has_attempt = 1;
	r.attempt = w->attempts[run];
	r.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_ENDED;
	r.attempt_ended = &e;
	send_seq(w, &r, seq);
}

static void send_boot_ended(struct world *w, const char *outcome, uint64_t seq)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__BootEnded e = KGRID__V1__BOOT_ENDED__INIT;

	e.outcome = (char *)(uintptr_t)outcome;
	r.body_case = KGRID__V1__RECORD__BODY_BOOT_ENDED;
	r.boot_ended = &e;
	send_seq(w, &r, seq);
}

/* One whole good boot of two runs is 12 records. */
#define GOOD_RECORDS 12

static void send_good(struct world *w, uint64_t seq)
{
	switch (seq) {
	case 1:
		send_stage(w, "fetch", seq);
		break;
	case 2:
		send_stage(w, "boot", seq);
		break;
	case 3:
		send_stage(w, "verify", seq);
		break;
	case 4:
		send_evidence(w, true, NULL, seq);
		break;
	case 5:
		send_stage(w, "run", seq);
		break;
	case 6:
	case 9:
		send_started(w, seq == 9, seq);
		break;
	case 7:
	case 10:
		send_samples(w, seq == 10, 2, seq);
		break;
	case 8:
	case 11:
		send_ended(w, seq == 11, "pass", 2, seq);
		break;
	case 12:
		send_boot_ended(w, "pass", seq);
		break;
	default:
		fail_msg("no record %d", (int)seq);
	}
}

static void wait_ack(struct world *w, uint64_t seq)
{
	for (;;) {
		struct kg_msg *m = peer_expect(w->agent, KG_MSG_RECORD_ACK);
		uint64_t got = PEER_BODY(m, Kgrid__V1__RecordAck)->seq;

		kg_msg_free(m);
		if (got == seq)
			return;
		assert_true(got < seq);
	}
}

static void expect_all_passed_once(struct world *w)
{
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'pass'"), 2);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM attempt WHERE outcome = 'pass'"),
			 2);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM sample"), 4);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM provenance"), 1);
	assert_int_equal(grid_count(&w->g, "SELECT last_seq FROM boot"), GOOD_RECORDS);
}

static void test_each_record_is_acknowledged_after_it_is_stored(void **state)
{
	struct world *w = *state;
	uint64_t seq;

	for (seq = 1; seq <= GOOD_RECORDS; seq++) {
		send_good(w, seq);
		wait_ack(w, seq);
		assert_int_equal(grid_count(&w->g, "SELECT last_seq FROM boot"), seq);
	}
	expect_all_passed_once(w);
}

static void test_duplicated_records_are_stored_once(void **state)
{
	struct world *w = *state;
	uint64_t seq;

	for (seq = 1; seq <= GOOD_RECORDS - 1; seq++) {
		send_good(w, seq);
		send_good(w, seq);
		send_good(w, seq > 1 ? seq - 1 : 1);
	}
	send_good(w, GOOD_RECORDS);
	expect_all_passed_once(w);
}

static void test_record_that_skips_a_number_is_not_stored(void **state)
{
	struct world *w = *state;
	struct kg_msg *m;

	send_good(w, 1);
	wait_ack(w, 1);
	send_good(w, 3);
	m = peer_expect(w->agent, KG_MSG_RECORD_ACK);
	assert_int_equal(PEER_BODY(m, Kgrid__V1__RecordAck)->seq, 1); /* go on from there */
	kg_msg_free(m);
	assert_int_equal(grid_count(&w->g, "SELECT last_seq FROM boot"), 1);
}

/* Killed after each record in turn, acknowledged or not; the agent sends from the last it heard of. */
static void test_coordinator_killed_at_every_record_loses_and_doubles_nothing(void **state)
{
	struct world *w = *state;
	uint64_t seq, acked = 0, k;

	for (seq = 1; seq <= GOOD_RECORDS; seq++) {
		for (k = acked + 1; k <= seq; k++)
			send_good(w, k);
		if (seq % 2 == 0) {
			wait_ack(w, seq);
			acked = seq;
		}
		grid_kill(&w->g);
		grid_start(&w->g, NULL);
		reconnect(w, w->boot);
	}
	for (k = acked + 1; k <= GOOD_RECORDS; k++)
		send_good(w, k);
	expect_all_passed_once(w);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot"), 1);
}

#ifdef KGRID_FAULTS
/* The agent says everything, whatever it hears; over when all is stored, or the coordinator dead. */
static bool dies_of(struct world *w, enum kg_fault_point p, int nth)
{
	static const char over[] = "SELECT count(*) FROM job WHERE state = 'done'";
	const struct timespec pause = {.tv_nsec = 10000000};
	uint64_t end = kg_monotonic_ns() + 10 * KG_NSEC_PER_SEC, seq;
	char wish[48];

	grid_kill(&w->g);
	(void)snprintf(wish, sizeof(wish), "%s:%d", kg_fault_name(p), nth);
	assert_int_equal(setenv("KGRID_FAULT", wish, 1), 0);
	grid_start(&w->g, NULL);
	assert_int_equal(unsetenv("KGRID_FAULT"), 0);
	peer_close(w->agent);
	w->agent = peer_connect(w->g.tcp);
	peer_say_hello_agent(w->agent, "m1", "state-1");
	peer_agent_ready(w->agent, w->boot, w->epoch);
	for (seq = 1; seq <= GOOD_RECORDS; seq++) {
		send_good(w, seq);
		(void)nanosleep(&pause, NULL); /* so that not all of it is one commit */
	}
	while (!grid_died(&w->g) && grid_count(&w->g, over) == 0) {
		assert_true(kg_monotonic_ns() < end);
		(void)nanosleep(&pause, NULL);
	}
	return grid_died(&w->g);
}

static void test_coordinator_that_dies_at_every_point_loses_and_doubles_nothing(void **state)
{
	static const enum kg_fault_point points[] = {KG_FAULT_STORE_BEGUN, KG_FAULT_STORE_COMMITTED,
						     KG_FAULT_LINK_SEND};
	size_t i;
	int nth;

	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		for (nth = 1; nth <= 8; nth++) {
			struct world *w = *state;
			uint64_t seq;

			if (!dies_of(w, points[i], nth))
				assert_true(nth > 3); /* many records may share a commit */
			grid_kill(&w->g);
			grid_start(&w->g, NULL);
			reconnect(w, w->boot);
			for (seq = 1; seq <= GOOD_RECORDS; seq++)
				send_good(w, seq);
			expect_all_passed_once(w);
			(void)teardown(state);
			(void)setup(state);
		}
}
#endif

static void test_boot_whose_last_record_was_committed_before_a_kill_is_ended(void **state)
{
	struct world *w = *state;
	uint64_t seq;

	for (seq = 1; seq <= GOOD_RECORDS; seq++)
		send_good(w, seq);
	wait_ack(w, GOOD_RECORDS);
	grid_kill(&w->g);
	grid_start(&w->g, NULL);
	reconnect(w, 0); /* acknowledged: the agent is idle */
	expect_all_passed_once(w);
}

static void submit_another(struct world *w)
{
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	struct peer *client = peer_connect(w->g.socket);

	peer_hello_client(client);
	rq.text = (char *)(uintptr_t)job_text;
	kg_msg_free(peer_call(client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY));
	peer_close(client);
}

/* Its slots all have outcomes, so that nothing of its job is pending. */
static void test_a_boot_whose_runs_are_over_goes_on_after_a_kill(void **state)
{
	struct world *w = *state;
	uint64_t seq;

	submit_another(w);
	for (seq = 1; seq < GOOD_RECORDS; seq++)
		send_good(w, seq);
	grid_wait_count(&w->g, "SELECT count(*) FROM slot WHERE job = 1 AND outcome = 'pass'", 2);
	grid_kill(&w->g);
	grid_start(&w->g, NULL);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'"), 0);
	reconnect(w, w->boot);
	send_good(w, GOOD_RECORDS);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g,
				    "SELECT count(*) FROM boot WHERE id = 1 AND outcome = 'pass'"),
			 1);
}

static void test_wrong_lsm_stores_no_sample_and_ends_so_after_its_tries(void **state)
{
	struct world *w = *state;
	int i;

	for (i = 0; i < 3; i++) {
		if (i > 0)
			take_order(w);
		send_stage(w, "boot", 1);
		send_evidence(w, false, "wrong-lsm", 2);
		send_boot_ended(w, "wrong-lsm", 3);
	}
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'wrong-lsm'"),
			 2);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot WHERE outcome = 'wrong-lsm'"),
			 3);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM sample"), 0);
}

static void test_samples_of_an_unverified_boot_are_refused(void **state)
{
	struct world *w = *state;

	send_stage(w, "boot", 1);
	send_started(w, 0, 2);
	send_samples(w, 0, 2, 3); /* an agent that skipped the proof */
	wait_ack(w, 3);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM sample"), 0);
}

/* A record of an agent that is broken, or not ours, is a fault of its boot and of nothing else. */
static void test_samples_whose_columns_differ_are_a_fault(void **state)
{
	struct world *w = *state;
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__SampleBatch b = KGRID__V1__SAMPLE_BATCH__INIT;
	double value[2] = {1, 2};

	send_stage(w, "boot", 1);
	send_evidence(w, true, NULL, 2);
	send_started(w, 0, 3);
	b.value = value;
	b.n_value = 2;
	r.has_attempt = 1;
	r.attempt = w->attempts[0];
	r.body_case = KGRID__V1__RECORD__BODY_SAMPLES;
	r.samples = &b;
	send_seq(w, &r, 4);
	wait_ack(w, 4);
	send_samples(w, 0, 2, 5);
	wait_ack(w, 5);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM sample"), 2);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM event WHERE kind = 'fault' AND "
					   "text LIKE '%unequal length%'"),
			 1);
}

/* Every kind of record, with nothing in it; the end of the boot only with an attempt. */
static void send_empty_bodies(struct world *w, uint64_t attempt, uint64_t *seq)
{
	Kgrid__V1__StageEntered stage = KGRID__V1__STAGE_ENTERED__INIT;
	Kgrid__V1__BootEvidence evidence = KGRID__V1__BOOT_EVIDENCE__INIT;
	Kgrid__V1__SampleBatch samples = KGRID__V1__SAMPLE_BATCH__INIT;
	Kgrid__V1__LogChunk log = KGRID__V1__LOG_CHUNK__INIT;
	Kgrid__V1__Provenance provenance = KGRID__V1__PROVENANCE__INIT;
	Kgrid__V1__Document document = KGRID__V1__DOCUMENT__INIT;
	Kgrid__V1__AttemptStarted started = KGRID__V1__ATTEMPT_STARTED__INIT;
	Kgrid__V1__AttemptEnded ended = KGRID__V1__ATTEMPT_ENDED__INIT;
	Kgrid__V1__BootEnded over = KGRID__V1__BOOT_ENDED__INIT;
	const struct {
		Kgrid__V1__Record__BodyCase body_case;
		void *body;
	} bodies[] = {
		{KGRID__V1__RECORD__BODY__NOT_SET, NULL},
		{KGRID__V1__RECORD__BODY_STAGE, &stage},
		{KGRID__V1__RECORD__BODY_EVIDENCE, &evidence},
		{KGRID__V1__RECORD__BODY_SAMPLES, &samples},
		{KGRID__V1__RECORD__BODY_LOG, &log},
		{KGRID__V1__RECORD__BODY_PROVENANCE, &provenance},
		{KGRID__V1__RECORD__BODY_DOCUMENT, &document},
		{KGRID__V1__RECORD__BODY_ATTEMPT_STARTED, &started},
		{KGRID__V1__RECORD__BODY_ATTEMPT_ENDED, &ended},
		{KGRID__V1__RECORD__BODY_BOOT_ENDED, &over},
	};
	size_t i, n = sizeof(bodies) / sizeof(bodies[0]);

	for (i = 0; i < n - (attempt ? 0 : 1); i++) {
		Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;

		r.has_attempt = 1;
		r.attempt = attempt;
		r.body_case = bodies[i].body_case;
		r.stage = bodies[i].body;
		send_seq(w, &r, ++*seq);
	}
	wait_ack(w, *seq);
}

static void test_records_without_their_fields_end_the_boot_and_nothing_else(void **state)
{
	struct world *w = *state;
	uint64_t seq = 0;
	char *log;

	send_empty_bodies(w, 0, &seq);
	send_empty_bodies(w, w->attempts[0], &seq);
	grid_wait_count(&w->g,
			"SELECT count(*) FROM boot WHERE id = 1 AND outcome = 'harness-error'", 1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	log = grid_log(&w->g);
	assert_contains(log, "record 1 of boot 1 from 'm1' is malformed: it says nothing");
	free(log);
}

static void test_late_records_of_a_fenced_boot_are_evidence_only(void **state)
{
	struct world *w = *state;
	Kgrid__V1__JobCancelRequest cancel = KGRID__V1__JOB_CANCEL_REQUEST__INIT;
	struct peer *client = peer_connect(w->g.socket);

	send_stage(w, "boot", 1);
	wait_ack(w, 1);
	peer_hello_client(client);
	cancel.has_job = 1;
	cancel.job = 1;
	kg_msg_free(peer_call(client, KG_MSG_JOB_CANCEL, &cancel.base, KG_MSG_DONE));
	kg_msg_free(peer_expect(w->agent, KG_MSG_FENCE_BOOT));
	grid_wait_count(&w->g, "SELECT count(*) FROM boot WHERE outcome = 'cancelled'", 1);
	send_evidence(w, true, NULL, 2);
	send_started(w, 0, 3);
	send_samples(w, 0, 2, 4);
	wait_ack(w, 4);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM sample"), 0);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM late_record"), 3);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'cancelled'"),
			 2);
	peer_close(client);
}

static void test_agent_that_lost_its_state_is_infra_and_tried_again(void **state)
{
	struct world *w = *state;

	send_stage(w, "fetch", 1);
	wait_ack(w, 1);
	reconnect(w, 0);
	take_order(w);
	assert_int_equal(w->boot, 2);
	grid_wait_count(&w->g, "SELECT count(*) FROM boot WHERE outcome = 'infra'", 1);
}

static void test_another_machine_cannot_speak_for_this_boot(void **state)
{
	struct world *w = *state;
	struct peer *own = w->agent, *thief = peer_connect(w->g.tcp);

	peer_hello_agent(thief, "m2", "state-2");
	peer_agent_ready(thief, 0, 0);
	w->agent = thief;
	send_stage(w, "boot", 1);
	kg_msg_free(peer_expect(thief, KG_MSG_FENCE_BOOT));
	w->agent = own;
	assert_int_equal(grid_count(&w->g, "SELECT last_seq FROM boot"), 0);
	peer_close(thief);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_each_record_is_acknowledged_after_it_is_stored),
		T(test_duplicated_records_are_stored_once),
		T(test_record_that_skips_a_number_is_not_stored),
		T(test_coordinator_killed_at_every_record_loses_and_doubles_nothing),
#ifdef KGRID_FAULTS
		T(test_coordinator_that_dies_at_every_point_loses_and_doubles_nothing),
#endif
		T(test_boot_whose_last_record_was_committed_before_a_kill_is_ended),
		T(test_a_boot_whose_runs_are_over_goes_on_after_a_kill),
		T(test_wrong_lsm_stores_no_sample_and_ends_so_after_its_tries),
		T(test_samples_of_an_unverified_boot_are_refused),
		T(test_samples_whose_columns_differ_are_a_fault),
		T(test_records_without_their_fields_end_the_boot_and_nothing_else),
		T(test_late_records_of_a_fenced_boot_are_evidence_only),
		T(test_agent_that_lost_its_state_is_infra_and_tried_again),
		T(test_another_machine_cannot_speak_for_this_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
