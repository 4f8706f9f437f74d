/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The 1st, 2nd, 3rd .. allocation fails: it is said, nothing leaks, nothing is half done. */
#include "fixture.h"

#include <errno.h>

#include "coordinator/store/query_internal.h"
#include "tests/lib/alloc_fault.h"

/* A job with a finished boot, a log and samples. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	Kgrid__V1__LogChunk log = KGRID__V1__LOG_CHUNK__INIT;
	struct store_settle st[2] = {
		{.slot = 1, .outcome = KG_OUTCOME_PASS, .attempt = 100},
		{.slot = 2, .outcome = KG_OUTCOME_FAIL, .attempt = 101, .reason = "exit 1"}};
	Kgrid__V1__Record r[6];
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	fixture_job(f, 2, &a);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1, 2}, 2), 0);
	r[0] = record_evidence(1, 1, 1);
	assert_int_equal(ingest(f, &a, &r[0]), 0);
	r[1] = record_started(1, 2, 100);
	assert_int_equal(ingest(f, &a, &r[1]), 0);
	r[2] = record_samples(1, 3, 100, 0, 5, 10);
	assert_int_equal(ingest(f, &a, &r[2]), 0);
	r[3] = record(1, 4, 100);
	r[3].body_case = KGRID__V1__RECORD__BODY_LOG;
	r[3].log = &log;
	log.stream = (char *)(uintptr_t) "stdout";
	assert_int_equal(ingest(f, &a, &r[3]), 0);
	r[4] = record_ended(1, 5, 100, "pass", 5);
	assert_int_equal(ingest(f, &a, &r[4]), 0);
	assert_int_equal(RUN(f, &a, store_settle(f->s, st, 2, 5, answer_done(&a))), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

/* A query's call for a fresh pool, so that opening connections is swept too. */
#define SWEEP(call, release)                                                      \
	do {                                                                      \
		bool hit = true;                                                  \
		for (unsigned n = 1; hit; n++) {                                  \
			struct kg_err err = {""};                                 \
			int rc;                                                   \
			query_close(f->q);                                        \
			assert_int_equal(query_open(f->path, 1, &f->q, &err), 0); \
			alloc_fault_arm(n);                                       \
			rc = (call);                                              \
			hit = alloc_fault_disarm();                               \
			assert_int_equal(rc, hit ? -ENOMEM : 0);                  \
			if (rc == 0) {                                            \
				release;                                          \
			}                                                         \
			assert_true(n < 5000);                                    \
		}                                                                 \
	} while (0)

static int ignore_samples(void *arg, const Kgrid__V1__SamplesReply *part)
{
	(void)arg;
	(void)part;
	return 0;
}

static int ignore_log(void *arg, const Kgrid__V1__LogsReply *part)
{
	(void)arg;
	(void)part;
	return 0;
}

static void test_answers_out_of_memory_are_errors(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__JobsReply *jobs;
	Kgrid__V1__JobReply *job;
	Kgrid__V1__MachinesReply *machines;
	Kgrid__V1__MachineReply *machine;
	Kgrid__V1__KernelsReply *kernels;
	Kgrid__V1__KernelReply *kernel;
	Kgrid__V1__WatchUpdate *watch;
	uint64_t after = 0;

	SWEEP(query_jobs(f->q, &jobs, &err), reply_free(jobs));
	SWEEP(query_job(f->q, 1, &job, &err), reply_free(job));
	SWEEP(query_machines(f->q, &machines, &err), reply_free(machines));
	SWEEP(query_machine(f->q, MACHINE, &machine, &err), reply_free(machine));
	SWEEP(query_kernels(f->q, &kernels, &err), reply_free(kernels));
	SWEEP(query_kernel(f->q, "old", &kernel, &err), reply_free(kernel));
	SWEEP((after = 0, query_watch(f->q, 1, &after, &watch, &err)), reply_free(watch));
}

static void test_results_out_of_memory_are_errors(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest compare_rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__SamplesRequest samples_rq = KGRID__V1__SAMPLES_REQUEST__INIT;
	Kgrid__V1__LogsRequest logs_rq = KGRID__V1__LOGS_REQUEST__INIT;
	Kgrid__V1__CompareReply *compare;

	samples_rq.all = 1;
	logs_rq.boot = 1;
	SWEEP(query_compare(f->q, &compare_rq, &compare, &err), reply_free(compare));
	SWEEP(query_samples(f->q, &samples_rq, ignore_samples, NULL, &err), (void)0);
	SWEEP(query_logs(f->q, &logs_rq, ignore_log, NULL, &err), (void)0);
}

static void test_snapshots_out_of_memory_are_errors(void **state)
{
	struct fixture *f = *state;
	struct store_snapshot *snapshot;
	struct store_job *job;
	struct store_kernels *kernels;
	char *text;

	SWEEP(query_snapshot(f->q, &snapshot, &err), store_snapshot_free(snapshot));
	SWEEP(query_job_load(f->q, 1, &job, &err), store_job_free(job));
	SWEEP(query_kernel_list(f->q, &kernels, &err), store_kernels_free(kernels));
	SWEEP(query_kernel_manifest(f->q, KERNEL_A, &text, &err), free(text));
}

static void test_open_out_of_memory_leaves_nothing_open(void **state)
{
	struct fixture *f = *state;
	struct store_config c = {.path = f->path, .host_boot_id = "h"};
	bool hit = true;

	fixture_close(f);
	for (unsigned n = 1; hit; n++) {
		struct kg_err err = {""};
		struct store *s = NULL;
		int rc;

		alloc_fault_arm(n);
		rc = store_open(&c, &s, &err);
		hit = alloc_fault_disarm();
		assert_int_equal(rc, hit ? -ENOMEM : 0);
		store_close(s); /* and the lock is free again */
	}
	fixture_open(f);
}

/* One operation on a store without a thread: it runs in store_close. */
static int run_one(struct fixture *f, unsigned n, int which, bool *ret_hit)
{
	struct store_config c = {.path = f->path, .host_boot_id = "h"};
	Kgrid__V1__MachineFacts facts = KGRID__V1__MACHINE_FACTS__INIT;
	struct store_machine m = {.name = "m2", .facts = &facts};
	Kgrid__V1__Record r = record_started(1, 6, 101);
	struct answer a = {0};
	struct store *s = NULL;
	int rc;

	assert_int_equal(store_open(&c, &s, NULL), 0);
	r.lease_epoch = which == 2 ? EPOCH + 1 : EPOCH; /* late: kept as bytes */
	alloc_fault_arm(n);
	rc = which ? store_ingest(s, MACHINE, &r, 1, answer_done(&a))
		   : store_machine_upsert(s, &m, answer_done(&a));
	store_close(s);
	*ret_hit = alloc_fault_disarm();
	assert_int_equal(a.n, rc == 0);
	return rc < 0 ? rc : a.r.rc;
}

static void test_operations_out_of_memory_store_nothing(void **state)
{
	static const char *const counts[] = {
		"SELECT count(*) FROM machine WHERE name = 'm2'",
		"SELECT count(*) FROM attempt WHERE id = 101 AND started_ns IS NOT NULL",
		"SELECT count(*) FROM late_record",
	};
	struct fixture *f = *state;

	fixture_close(f);
	for (int which = 0; which < 3; which++) {
		bool hit = true;

		for (unsigned n = 1; hit; n++) {
			int rc = run_one(f, n, which, &hit);

			assert_int_equal(rc, hit ? -ENOMEM : 0);
			assert_int_equal(fixture_int(f, counts[which]), hit ? 0 : 1);
		}
	}
	fixture_open(f);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_answers_out_of_memory_are_errors),
		T_(test_results_out_of_memory_are_errors),
		T_(test_snapshots_out_of_memory_are_errors),
		T_(test_open_out_of_memory_leaves_nothing_open),
		T_(test_operations_out_of_memory_store_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
