/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records: exactly once, in order, whole, fenced. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A job of one block and boot 1 with attempts 100 and 101 on slots 1 and 2. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	fixture_job(f, 1, &a);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1, 2}, 2), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

static void expect(struct fixture *f, Kgrid__V1__Record r, enum store_ingest how, uint64_t seq)
{
	struct answer a;

	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.ingest, how);
	assert_int_equal(a.r.last_seq, seq);
	assert_false(a.r.fault);
}

static void expect_fault(struct fixture *f, Kgrid__V1__Record r, const char *text)
{
	struct answer a;
	const char *got;

	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.ingest, STORE_INGEST_COMMITTED);
	assert_int_equal(a.r.last_seq, r.seq);
	assert_true(a.r.fault);
	got = fixture_sql(f,
			  "SELECT text FROM event WHERE kind = 'fault' ORDER BY id DESC LIMIT 1");
	if (!strstr(got, text))
		fail_msg("'%s' does not say '%s'", got, text);
}

/* seq 1 and 2: verified, attempt 100 started */
static void begin_run(struct fixture *f)
{
	expect(f, record_evidence(1, 1, 1), STORE_INGEST_COMMITTED, 1);
	expect(f, record_started(1, 2, 100), STORE_INGEST_COMMITTED, 2);
}

static long long samples(struct fixture *f)
{
	return fixture_int(f, "SELECT count(*) FROM sample");
}

static void test_each_record_counts_once(void **state)
{
	struct fixture *f = *state;

	begin_run(f);
	expect(f, record_samples(1, 3, 100, 0, 10, 1), STORE_INGEST_COMMITTED, 3);
	expect(f, record_samples(1, 3, 100, 0, 10, 1), STORE_INGEST_DUPLICATE, 3);
	expect(f, record_started(1, 2, 100), STORE_INGEST_DUPLICATE, 3);
	assert_int_equal(samples(f), 10);
	expect(f, record_ended(1, 4, 100, "pass", 10), STORE_INGEST_COMMITTED, 4);
	assert_string_equal(fixture_sql(f, "SELECT outcome || samples || run_ns FROM attempt"
					   " WHERE id = 100"),
			    "pass1012345");
}

static void test_gap_stores_nothing_and_tells_where_to_go_on(void **state)
{
	struct fixture *f = *state;

	begin_run(f);
	expect(f, record_samples(1, 5, 100, 20, 10, 1), STORE_INGEST_GAP, 2);
	expect(f, record_samples(1, 4, 100, 10, 10, 1), STORE_INGEST_GAP, 2);
	assert_int_equal(samples(f), 0);
	expect(f, record_samples(1, 3, 100, 0, 10, 1), STORE_INGEST_COMMITTED, 3);
	expect(f, record_samples(1, 4, 100, 10, 10, 1), STORE_INGEST_COMMITTED, 4);
	expect(f, record_samples(1, 5, 100, 20, 10, 1), STORE_INGEST_COMMITTED, 5);
	assert_int_equal(samples(f), 30);
}

static void test_any_order_of_arrival_ends_the_same(void **state)
{
	struct fixture *f = *state;
	uint64_t next = 3;
	unsigned rnd = 12345;

	begin_run(f);
	for (int i = 0; i < 400 && next <= 12; i++) {
		uint64_t seq;
		struct answer a;
		Kgrid__V1__Record r;

		rnd = rnd * 1103515245 + 12345;
		seq = 3 + (rnd >> 16) % 10;
		r = record_samples(1, seq, 100, (uint32_t)(seq - 3) * 5, 5, 1);
		assert_int_equal(ingest(f, &a, &r), 0);
		assert_int_equal(a.r.ingest, seq == next  ? STORE_INGEST_COMMITTED
					     : seq < next ? STORE_INGEST_DUPLICATE
							  : STORE_INGEST_GAP);
		next += seq == next;
		assert_int_equal(a.r.last_seq, next - 1);
	}
	assert_int_equal(next, 13);
	assert_int_equal(samples(f), 50);
	assert_int_equal(fixture_int(f, "SELECT max(idx) FROM sample"), 49);
}

static void test_another_epoch_is_fenced_and_kept_as_evidence(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record r;

	begin_run(f);
	r = record_samples(1, 3, 100, 0, 10, 1);
	r.lease_epoch = EPOCH - 1;
	expect(f, r, STORE_INGEST_FENCED, 2);
	expect(f, r, STORE_INGEST_FENCED, 2);
	assert_int_equal(samples(f), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM late_record WHERE lease_epoch = 6"),
			 1);
}

static void test_record_of_an_ended_boot_is_evidence_only(void **state)
{
	struct fixture *f = *state;
	struct store_boot_end e = {.boot = 1, .outcome = KG_OUTCOME_INFRA};
	struct answer a;

	begin_run(f);
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	expect(f, record_ended(1, 3, 100, "pass", 0), STORE_INGEST_FENCED, 2);
	assert_string_equal(fixture_sql(f, "SELECT outcome FROM attempt WHERE id = 100"), "infra");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM late_record WHERE seq = 3"), 1);
	/* What was committed before is still acknowledged, so that the spool empties. */
	expect(f, record_started(1, 2, 100), STORE_INGEST_DUPLICATE, 2);
}

static void test_other_machines_cannot_write_into_a_boot(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record r = record_evidence(1, 1, 1);
	struct answer a;

	assert_int_equal(RUN(f, &a, store_ingest(f->s, "m2", &r, 1, answer_done(&a))), 0);
	assert_int_equal(a.r.ingest, STORE_INGEST_FENCED);
	assert_int_equal(a.r.last_seq, 0);
	expect(f, record_evidence(99, 1, 1), STORE_INGEST_FENCED, 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM late_record"), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM provenance"), 0);
}

static void test_first_evidence_wins(void **state)
{
	struct fixture *f = *state;

	expect(f, record_evidence(1, 1, 0), STORE_INGEST_COMMITTED, 1);
	expect(f, record_evidence(1, 2, 1), STORE_INGEST_COMMITTED, 2);
	assert_int_equal(fixture_int(f, "SELECT verified FROM provenance"), 0);
	assert_string_equal(fixture_sql(f, "SELECT json_extract(facts, '$.governor')"
					   " FROM provenance"),
			    "say \"performance\"");
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'evidence'"),
			    "wrong-lsm: apparmor is missing");
}

static void test_no_sample_of_a_boot_that_is_not_verified(void **state)
{
	struct fixture *f = *state;

	expect_fault(f, record_started(1, 1, 100), "not verified");
	expect(f, record_evidence(1, 2, 0), STORE_INGEST_COMMITTED, 2);
	expect_fault(f, record_started(1, 3, 100), "not verified");
	expect_fault(f, record_samples(1, 4, 100, 0, 1, 1), "not verified");
	assert_int_equal(samples(f), 0);
}

static void test_malformed_samples_leave_nothing_and_the_stream_goes_on(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record r;

	begin_run(f);
	r = record_samples(1, 3, 100, 0, 10, 1);
	r.samples->n_iteration = 9;
	expect_fault(f, r, "record 3 is malformed: columns of unequal length");
	r = record_samples(1, 4, 100, 0, 10, 1);
	r.samples->value[9] = NAN;
	expect_fault(f, r, "value 9 is not a number");
	r = record_samples(1, 5, 100, 0, 10, 1);
	r.samples->value[0] = -INFINITY;
	expect_fault(f, r, "value 0 is not a number");
	r = record_samples(1, 6, 100, 0, 10, 1);
	r.samples->metric[5] = 4;
	expect_fault(f, r, "metric number 4 was not declared");
	r = record_samples(1, 7, 100, 0, 10, 1);
	r.samples->index[8] = 3;
	expect_fault(f, r, "sample number 3 is there already");
	r = record_samples(1, 8, 100, 0, 10, 1);
	r.samples->time_delta_ns[0] = -1;
	expect_fault(f, r, "time 0 is out of range");
	r = record_samples(1, 9, 100, 0, 10, 1);
	r.samples->time_delta_ns[0] = INT64_MAX;
	expect_fault(f, r, "time 1 is out of range");
	assert_int_equal(samples(f), 0);
	assert_int_equal(fixture_int(f, "SELECT samples FROM attempt WHERE id = 100"), 0);
	expect(f, record_samples(1, 10, 100, 0, 10, 1), STORE_INGEST_COMMITTED, 10);
	assert_int_equal(samples(f), 10);
}

static void test_attempt_must_be_of_the_records_boot(void **state)
{
	struct fixture *f = *state;
	struct store_boot_end e = {.boot = 1, .outcome = KG_OUTCOME_INFRA};
	struct answer a;

	begin_run(f);
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	assert_int_equal(fixture_boot(f, 2, 1, (uint64_t[]){3}, 1), 0);
	expect(f, record_evidence(2, 1, 1), STORE_INGEST_COMMITTED, 1);
	expect_fault(f, record_started(2, 2, 100), "attempt 100 is not one of this boot");
	expect_fault(f, record_started(2, 3, 0), "names no attempt");
	expect_fault(f, record_started(2, 4, 12345), "attempt 12345 is not one of this boot");
	expect(f, record_started(2, 5, 200), STORE_INGEST_COMMITTED, 5);
}

static void test_samples_only_between_start_and_end(void **state)
{
	struct fixture *f = *state;

	begin_run(f);
	expect_fault(f, record_samples(1, 3, 101, 0, 1, 1), "before the attempt's start");
	expect(f, record_ended(1, 4, 100, "fail", 0), STORE_INGEST_COMMITTED, 4);
	expect_fault(f, record_samples(1, 5, 100, 0, 1, 1), "after the attempt's end");
	expect_fault(f, record_ended(1, 6, 100, "pass", 0), "has ended already");
	expect_fault(f, record_started(1, 7, 100), "has ended already");
	expect_fault(f, record_ended(1, 8, 101, "pass", 0), "a pass without a start");
	assert_string_equal(fixture_sql(f, "SELECT outcome FROM attempt WHERE id = 100"), "fail");
}

static void test_unknown_words_are_faults(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record r;
	Kgrid__V1__StageEntered stage = KGRID__V1__STAGE_ENTERED__INIT;
	Kgrid__V1__BootEnded ended = KGRID__V1__BOOT_ENDED__INIT;

	begin_run(f);
	expect_fault(f, record_ended(1, 3, 100, "splendid", 0), "'splendid' is not an outcome");
	expect_fault(f, record_ended(1, 4, 100, "cancelled", 0), "'cancelled' is not an outcome");
	r = record(1, 5, 0);
	r.body_case = KGRID__V1__RECORD__BODY_STAGE;
	r.stage = &stage;
	stage.stage = (char *)(uintptr_t) "lunch";
	expect_fault(f, r, "unknown stage 'lunch'");
	r = record(1, 6, 0);
	expect_fault(f, r, "it says nothing");
	r = record(1, 7, 0);
	r.body_case = KGRID__V1__RECORD__BODY_BOOT_ENDED;
	r.boot_ended = &ended;
	expect_fault(f, r, "'' is not an outcome");
	r = record_started(1, 8, 101);
	r.attempt_started->metrics[0]->direction = NULL;
	expect_fault(f, r, "metric 'rate' has no direction");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM attempt WHERE outcome IS NULL"), 2);
	assert_int_equal(fixture_int(f, "SELECT started_ns IS NULL FROM attempt WHERE id = 101"),
			 1);
}

static void test_pass_with_lost_samples_is_a_harness_error(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record r;
	struct answer a;

	begin_run(f);
	expect(f, record_samples(1, 3, 100, 0, 10, 1), STORE_INGEST_COMMITTED, 3);
	r = record_ended(1, 4, 100, "pass", 11);
	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.attempt_outcome, KG_OUTCOME_HARNESS_ERROR);
	assert_string_equal(fixture_sql(f, "SELECT outcome || ': ' || reason FROM attempt"
					   " WHERE id = 100"),
			    "harness-error: the agent recorded 11 samples, 10 are stored");
}

static void test_warmup_is_kept_apart(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record r;
	struct answer a;

	begin_run(f);
	r = record_samples(1, 3, 100, 0, 2, 1);
	r.samples->has_warmup = r.samples->warmup = 1;
	expect(f, r, STORE_INGEST_COMMITTED, 3);
	expect(f, record_samples(1, 4, 100, 2, 5, 1), STORE_INGEST_COMMITTED, 4);
	assert_int_equal(fixture_int(f, "SELECT samples FROM attempt WHERE id = 100"), 5);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM sample WHERE warmup = 1"), 2);
	r = record_ended(1, 5, 100, "pass", 5);
	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.attempt_outcome, KG_OUTCOME_PASS);
}

static void test_stages_logs_and_the_end_are_told(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__StageEntered stage = KGRID__V1__STAGE_ENTERED__INIT;
	Kgrid__V1__LogChunk log = KGRID__V1__LOG_CHUNK__INIT;
	Kgrid__V1__BootEnded ended = KGRID__V1__BOOT_ENDED__INIT;
	Kgrid__V1__Record r;

	begin_run(f);
	r = record(1, 3, 0);
	r.body_case = KGRID__V1__RECORD__BODY_STAGE;
	r.stage = &stage;
	stage.stage = (char *)(uintptr_t) "run";
	stage.detail = (char *)(uintptr_t) "netperf";
	expect(f, r, STORE_INGEST_COMMITTED, 3);
	r = record(1, 4, 100);
	r.body_case = KGRID__V1__RECORD__BODY_LOG;
	r.log = &log;
	log.stream = (char *)(uintptr_t) "stdout";
	log.has_data = 1;
	log.data.data = (uint8_t *)(uintptr_t) "a\0b";
	log.data.len = 3;
	expect(f, r, STORE_INGEST_COMMITTED, 4);
	r = record(1, 5, 0);
	r.body_case = KGRID__V1__RECORD__BODY_BOOT_ENDED;
	r.boot_ended = &ended;
	ended.outcome = (char *)(uintptr_t) "pass";
	expect(f, r, STORE_INGEST_COMMITTED, 5);
	r.seq = 6;
	expect_fault(f, r, "the boot has ended already");
	assert_string_equal(fixture_sql(f, "SELECT stage || agent_outcome FROM boot"), "runpass");
	assert_string_equal(fixture_sql(f, "SELECT hex(data) FROM log WHERE attempt = 100"),
			    "610062");
	assert_string_equal(fixture_sql(f, "SELECT text FROM event WHERE kind = 'stage'"),
			    "run: netperf");
	/* That is the scheduler's to decide. */
	assert_string_equal(fixture_sql(f, "SELECT outcome FROM boot"), "");
}

static void test_metric_numbers_survive_a_restart(void **state)
{
	struct fixture *f = *state;

	begin_run(f);
	fixture_close(f);
	fixture_open(f);
	expect(f, record_samples(1, 3, 100, 0, 10, 1), STORE_INGEST_COMMITTED, 3);
	assert_string_equal(fixture_sql(f, "SELECT DISTINCT name || unit || direction FROM sample"
					   " JOIN metric ON metric.id = sample.metric"),
			    "rateop/shigher");
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_each_record_counts_once),
		T_(test_gap_stores_nothing_and_tells_where_to_go_on),
		T_(test_any_order_of_arrival_ends_the_same),
		T_(test_another_epoch_is_fenced_and_kept_as_evidence),
		T_(test_record_of_an_ended_boot_is_evidence_only),
		T_(test_other_machines_cannot_write_into_a_boot),
		T_(test_first_evidence_wins),
		T_(test_no_sample_of_a_boot_that_is_not_verified),
		T_(test_malformed_samples_leave_nothing_and_the_stream_goes_on),
		T_(test_attempt_must_be_of_the_records_boot),
		T_(test_samples_only_between_start_and_end),
		T_(test_unknown_words_are_faults),
		T_(test_pass_with_lost_samples_is_a_harness_error),
		T_(test_warmup_is_kept_apart),
		T_(test_stages_logs_and_the_end_are_told),
		T_(test_metric_numbers_survive_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
