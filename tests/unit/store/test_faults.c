/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A disk that fails at the 1st, 2nd, 3rd .. call: nothing is lost, nothing is doubled, and every
 * operation is answered. */
#include "fixture.h"

#include <stdio.h>

#include "fault_vfs.h"

#define SEQS	  9 /* evidence, start, 6 batches, end */
#define PER_BATCH 40
#define TRIES	  50

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	fixture_job(f, 1, &a);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1}, 1), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

static Kgrid__V1__Record nth_record(uint64_t seq)
{
	if (seq == 1)
		return record_evidence(1, 1, 1);
	if (seq == 2)
		return record_started(1, 2, 100);
	if (seq == SEQS)
		return record_ended(1, seq, 100, "pass", 6 * PER_BATCH);
	return record_samples(1, seq, 100, (uint32_t)(seq - 3) * PER_BATCH, PER_BATCH, 1);
}

/* As an agent does: sends all that is not acknowledged, takes acks, sends again after errors. */
static void deliver_records(struct fixture *f)
{
	uint64_t acked = 0;

	for (int tries = 0; acked < SEQS; tries++) {
		struct answer a[SEQS + 1];

		assert_true(tries < TRIES);
		memset(a, 0, sizeof(a));
		for (uint64_t seq = acked + 1; seq <= SEQS; seq++) {
			Kgrid__V1__Record r = nth_record(seq);

			assert_int_equal(store_ingest(f->s, MACHINE, &r, 1, answer_done(&a[seq])),
					 0);
		}
		for (uint64_t seq = acked + 1; seq <= SEQS; seq++) {
			answer_wait(f, &a[seq]);
			if (a[seq].r.rc < 0) {
				assert_true(a[seq].r.rc == -28 || a[seq].r.rc == -5);
				assert_true(a[seq].text[0] != '\0');
				continue;
			}
			assert_false(a[seq].r.fault);
			assert_true(a[seq].r.last_seq >= acked); /* never goes back */
			acked = a[seq].r.last_seq;
		}
	}
}

/* As the scheduler does: repeats until it is told. */
static void end_boot(struct fixture *f)
{
	struct store_settle st = {
		.slot = 1, .outcome = KG_OUTCOME_PASS, .attempt = 100, .count_try = true};
	struct store_boot_end e = {
		.boot = 1, .outcome = KG_OUTCOME_PASS, .settles = &st, .n_settles = 1};
	struct answer a;
	int tries = 0;

	while (RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))) < 0) {
		/* The answer was an error, yet it may be on disk: then it says so. */
		if (a.r.rc == KG_ESTATE)
			break;
		assert_true(++tries < TRIES);
	}
}

static void check_all_there(struct fixture *f)
{
	assert_string_equal(fixture_sql(f, "PRAGMA integrity_check"), "ok");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM sample"), 6 * PER_BATCH);
	assert_int_equal(fixture_int(f, "SELECT max(idx) FROM sample"), 6 * PER_BATCH - 1);
	assert_int_equal(fixture_int(f, "SELECT samples FROM attempt WHERE outcome = 'pass'"),
			 6 * PER_BATCH);
	assert_int_equal(fixture_int(f, "SELECT last_seq FROM boot WHERE outcome = 'pass'"), SEQS);
	assert_int_equal(fixture_int(f, "SELECT tries FROM slot WHERE outcome = 'pass'"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'fault'"), 0);
	check_accounting(f, 1, 4);
}

/* Moves the fault through the whole of a run. */
static void sweep(enum fault_kind kind, long times)
{
	long hit = 1;
	void *state = NULL;

	for (long nth = 1; hit > 0; nth += nth < 12 ? 1 : 5) {
		struct fixture *f;

		(void)setup(&state);
		f = state;
		fault_vfs_arm(kind, nth, times);
		deliver_records(f);
		end_boot(f);
		hit = fault_vfs_disarm();
		check_all_there(f);
		fixture_close(f);
		fixture_open(f); /* as it is on disk, not only in this process */
		check_all_there(f);
		(void)teardown(&state);
		assert_true(nth < 1000);
	}
}

static void test_full_disk_loses_and_doubles_nothing(void **state)
{
	(void)state;
	sweep(FAULT_FULL, 1);
	sweep(FAULT_FULL, 7);
}

static void test_failing_writes_lose_and_double_nothing(void **state)
{
	(void)state;
	sweep(FAULT_WRITE, 1);
	sweep(FAULT_WRITE, 7);
}

static void test_failing_syncs_lose_and_double_nothing(void **state)
{
	(void)state;
	sweep(FAULT_SYNC, 1);
	sweep(FAULT_SYNC, 4);
}

static void test_every_operation_of_a_lost_batch_is_told(void **state)
{
	struct fixture *f = *state;
	struct store_event e = {.time_ns = 1, .kind = "test", .text = "x"};
	struct answer a[20];
	unsigned errors = 0;

	memset(a, 0, sizeof(a));
	fault_vfs_arm(FAULT_FULL, 1, 100000);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(store_event_add(f->s, &e, answer_done(&a[i])), 0);
	for (unsigned i = 0; i < 20; i++) {
		answer_wait(f, &a[i]);
		errors += a[i].r.rc == -28;
	}
	assert_true(fault_vfs_disarm() > 0);
	assert_int_equal(errors, 20);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'test'"), 0);
	assert_int_equal(RUN(f, &a[0], store_event_add(f->s, &e, answer_done(&a[0]))), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'test'"), 1);
}

static void test_open_on_a_failing_disk_can_be_repeated(void **state)
{
	struct store_config c = {.host_boot_id = "h"};
	struct kg_err err = {""};
	long hit = 1;

	(void)state;
	for (int kind = FAULT_FULL; kind <= FAULT_SYNC; kind++) {
		for (long nth = 1; hit > 0; nth++) {
			struct fixture f;
			struct store *s = NULL;

			fixture_init(&f);
			c.path = f.path;
			fault_vfs_arm((enum fault_kind)kind, nth, 1);
			if (store_open(&c, &s, &err) == 0)
				store_close(s);
			hit = fault_vfs_disarm();
			fixture_open(&f);
			assert_int_equal(fixture_int(&f, "PRAGMA user_version"),
					 store_schema_version());
			assert_string_equal(fixture_sql(&f, "PRAGMA integrity_check"), "ok");
			fixture_deinit(&f);
			assert_true(nth < 1000);
		}
		hit = 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_disk_loses_and_doubles_nothing),
		cmocka_unit_test(test_failing_writes_lose_and_double_nothing),
		cmocka_unit_test(test_failing_syncs_lose_and_double_nothing),
		cmocka_unit_test_setup_teardown(test_every_operation_of_a_lost_batch_is_told, setup,
						teardown),
		cmocka_unit_test(test_open_on_a_failing_disk_can_be_repeated),
	};

	fault_vfs_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
