/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The 1st, 2nd, 3rd .. allocation fails, for what schema 2 brought: it is said, nothing leaks, nothing
 * is half done. */
#include "fixture.h"

#include <errno.h>

#include "coordinator/store/query_internal.h"
#include "tests/lib/alloc_fault.h"

static const char *const facts_before[] = {"cpu.microcode", "0x1", "os", NULL, NULL};
static const char *const facts_after[] = {"cpu.microcode",     "0x2", "os", NULL,
					  "vulnerability.mds", "a",   NULL};

/* Boot `id` of a job, on two slots of it. */
static void run_boot(struct fixture *f, uint64_t id, uint64_t job, uint64_t slot,
		     const char *const *facts)
{
	uint64_t slots[] = {slot, slot + 1}, seq = 1;

	assert_int_equal(fixture_boot(f, id, job, slots, 2), 0);
	must_ingest(f, MACHINE, record_evidence(id, seq++, 1));
	must_ingest(f, MACHINE, record_provenance(id, seq++, 0, "boot", facts));
	must_ingest(f, MACHINE, record_document(id, seq++, "config", "CONFIG_A=y\n"));
	must_ingest(f, MACHINE, record_document(id, seq++, "sysctl", "a 1\n"));
	for (uint64_t i = 0; i < 2; i++) {
		must_ingest(f, MACHINE, record_started(id, seq++, id * 100 + i));
		must_ingest(f, MACHINE, record_samples(id, seq++, id * 100 + i, 0, 3, 10));
		must_ingest(f, MACHINE, record_ended(id, seq++, id * 100 + i, "pass", 3));
	}
	fixture_boot_pass(f, id, slots, 2);
}

static const struct store_member a_member = {.machine = MACHINE,
					     .workload = "netperf",
					     .params = "size=64",
					     .metric = "rate",
					     .unit = "op/s",
					     .kernel = "new",
					     .lsm = "full",
					     .job = 1,
					     .before = 100,
					     .after = 90,
					     .effect_pct = -10};

static struct store_sighting a_sighting(void)
{
	return (struct store_sighting){.from_key = KERNEL_A,
				       .to_key = KERNEL_B,
				       .from_label = "old",
				       .to_label = "new",
				       .members = &a_member,
				       .n_members = 1,
				       .job = 1,
				       .now_ns = 5};
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	Kgrid__V1__CalibrateRequest rq = KGRID__V1__CALIBRATE_REQUEST__INIT;
	struct store_recurring r = {.machine = MACHINE, .request = &rq, .every_ns = 1000000000};
	struct store_sighting x = a_sighting();
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	fixture_job(f, 1, &a);
	fixture_job(f, 2, &a);
	(void)fixture_sql(f, "UPDATE job SET kind = 'calibrate' WHERE id = 2");
	run_boot(f, 1, 1, 1, facts_before);
	run_boot(f, 2, 2, 5, facts_after);
	run_boot(f, 3, 2, 9, facts_after);
	(void)fixture_sql(f, "UPDATE slot SET outcome = 'fail' WHERE outcome IS NULL AND job = 1");
	assert_int_equal(RUN(f, &a, store_regression_seen(f->s, &x, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_notice_add(f->s, 1, "mail:a", "t", 1, answer_done(&a))),
			 0);
	assert_int_equal(RUN(f, &a, store_recurring_set(f->s, &r, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_import_add(f->s, "n", "t", 1, answer_done(&a))), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

#define SWEEP(call, release)                                                       \
	do {                                                                       \
		bool hit = true;                                                   \
		for (unsigned n = 1; hit; n++) {                                   \
			struct kg_err err = {""};                                  \
			int rc;                                                    \
			query_close(f->q);                                         \
			assert_int_equal(query_open(f->path, 1, &f->q, &err), 0);  \
			alloc_fault_arm(n);                                        \
			rc = (call);                                               \
			hit = alloc_fault_disarm();                                \
			if (rc != (hit ? -ENOMEM : 0))                             \
				fail_msg("allocation %u: %d %s", n, rc, err.text); \
			if (rc == 0) {                                             \
				release;                                           \
			}                                                          \
			assert_true(n < 5000);                                     \
		}                                                                  \
	} while (0)

static int ignore_part(void *arg, const Kgrid__V1__ProvenanceReply *part)
{
	(void)arg;
	(void)part;
	return 0;
}

static void ignore_block(void *arg, uint64_t job, const char *machine, uint32_t block)
{
	(void)arg;
	(void)job;
	(void)machine;
	(void)block;
}

static void test_provenance_out_of_memory_is_an_error(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__ProvenanceRequest rq = KGRID__V1__PROVENANCE_REQUEST__INIT;
	Kgrid__V1__DiffRequest diff_rq = KGRID__V1__DIFF_REQUEST__INIT;
	Kgrid__V1__EpochsReply *epochs;
	Kgrid__V1__DiffReply *diff;
	bool has;

	rq.boot = 2;
	SWEEP(query_epochs(f->q, MACHINE, &epochs, &err), reply_free(epochs));
	SWEEP(query_provenance(f->q, &rq, ignore_part, NULL, &err), (void)0);
	rq.document = (char *)(uintptr_t) "config";
	SWEEP(query_provenance(f->q, &rq, ignore_part, NULL, &err), (void)0);
	SWEEP(query_kernel_document(f->q, KERNEL_A, "config", &has, &err), (void)0);
	diff_rq.a = (char *)(uintptr_t) "1";
	diff_rq.b = (char *)(uintptr_t) "machine:m1";
	SWEEP(query_diff(f->q, &diff_rq, &diff, &err), reply_free(diff));
	diff_rq.a = (char *)(uintptr_t) "m1/1";
	diff_rq.b = (char *)(uintptr_t) "kernel:old";
	SWEEP(query_diff(f->q, &diff_rq, &diff, &err), reply_free(diff));
}

static void test_selections_out_of_memory_are_errors(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest compare_rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__HistoryRequest history_rq = KGRID__V1__HISTORY_REQUEST__INIT;
	Kgrid__V1__NoiseRequest noise_rq = KGRID__V1__NOISE_REQUEST__INIT;
	Kgrid__V1__Selection all = KGRID__V1__SELECTION__INIT;
	Kgrid__V1__CompareReply *compare;
	Kgrid__V1__HistoryReply *history;
	Kgrid__V1__NoiseReply *noise;

	all.has_all_jobs = all.all_jobs = 1;
	all.has_since_ns = 1;
	all.since_ns = 1;
	compare_rq.select = &all;
	SWEEP(query_compare(f->q, &compare_rq, &compare, &err), reply_free(compare));
	SWEEP(query_history(f->q, &history_rq, &history, &err), reply_free(history));
	SWEEP(query_noise(f->q, &noise_rq, &noise, &err), reply_free(noise));
}

static void test_regressions_out_of_memory_are_errors(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__RegressionsRequest rq = KGRID__V1__REGRESSIONS_REQUEST__INIT;
	Kgrid__V1__ImportsRequest imports_rq = KGRID__V1__IMPORTS_REQUEST__INIT;
	Kgrid__V1__RegressionsReply *regressions;
	Kgrid__V1__ImportsReply *imports;
	struct store_regressions *open;
	struct store_notices *notices;
	struct store_recurrings *recurring;

	rq.id = 1;
	SWEEP(query_regressions(f->q, &rq, &regressions, &err), reply_free(regressions));
	SWEEP(query_regressions_open(f->q, &open, &err), store_regressions_free(open));
	SWEEP(query_notices(f->q, &notices, &err), store_notices_free(notices));
	SWEEP(query_recurring(f->q, &recurring, &err), store_recurrings_free(recurring));
	SWEEP(query_imports(f->q, &imports_rq, &imports, &err), reply_free(imports));
	SWEEP(query_undetected(f->q, 0, ignore_block, NULL, &err), (void)0);
}

/* ---- operations ---- */

enum { OP_FACTS, OP_DOCUMENT, OP_SEEN, OP_STEP, OP_ACT, OP_NOTICE, OP_RECURRING, OP_IMPORT, OPS };

static const char *const counts[OPS] = {
	[OP_FACTS] = "SELECT count(*) FROM boot_facts WHERE boot = 9",
	[OP_DOCUMENT] = "SELECT count(*) FROM boot_document WHERE boot = 9",
	[OP_SEEN] = "SELECT seen - 1 FROM regression",
	[OP_STEP] = "SELECT count(*) FROM regression WHERE stage = 'confirmed'",
	[OP_ACT] = "SELECT count(*) FROM regression_event WHERE user = 'ada'",
	[OP_NOTICE] = "SELECT count(*) FROM notice WHERE target = 'mail:b'",
	[OP_RECURRING] = "SELECT count(*) FROM recurring WHERE machine = 'm2'",
	[OP_IMPORT] = "SELECT count(*) FROM import WHERE name = 'm'",
};

/* The record of an operation, made before allocations fail. */
static Kgrid__V1__Record record_of(int which)
{
	return which == OP_FACTS ? record_provenance(9, 2, 0, "boot", facts_before)
				 : record_document(9, 3, "config", "b\n");
}

static int queue(struct store *s, int which, const Kgrid__V1__Record *record,
		 struct store_done done)
{
	static const Kgrid__V1__CalibrateRequest rq = KGRID__V1__CALIBRATE_REQUEST__INIT;
	static const struct store_confirmed c = {MACHINE, "netperf", "size=64", "rate", "new",
						 "full",  true,	     0.01,	"m2"};
	const struct store_recurring r = {.machine = "m2", .request = &rq, .every_ns = 5};
	const struct store_regression_step step = {.regression = 1,
						   .stage = STORE_STAGE_CONFIRMED,
						   .members = &c,
						   .n_members = 1,
						   .text = "t"};
	const struct store_regression_action act = {
		.regression = 1, .state = "acknowledged", .user = "ada", .text = "t"};
	struct store_sighting x = a_sighting();

	x.job = 3;
	switch (which) {
	case OP_FACTS:
	case OP_DOCUMENT:
		return store_ingest(s, MACHINE, record, 1, done);
	case OP_SEEN:
		return store_regression_seen(s, &x, done);
	case OP_STEP:
		return store_regression_step(s, &step, done);
	case OP_ACT:
		return store_regression_act(s, &act, done);
	case OP_NOTICE:
		return store_notice_add(s, 1, "mail:b", "t", 1, done);
	case OP_RECURRING:
		return store_recurring_set(s, &r, done);
	default:
		return store_import_add(s, "m", "t", 1, done);
	}
}

/* On a store without a thread: the operation runs in store_close. */
static int run_one(struct fixture *f, unsigned n, int which, bool *ret_hit)
{
	struct store_config c = {.path = f->path, .host_boot_id = "h"};
	Kgrid__V1__Record record = record_of(which);
	struct answer a = {0};
	struct store *s = NULL;
	int rc;

	assert_int_equal(store_open(&c, &s, NULL), 0);
	alloc_fault_arm(n);
	rc = queue(s, which, &record, answer_done(&a));
	store_close(s);
	*ret_hit = alloc_fault_disarm();
	assert_int_equal(a.n, rc == 0);
	return rc < 0 ? rc : a.r.rc;
}

static void test_operations_out_of_memory_store_nothing(void **state)
{
	struct fixture *f = *state;
	struct answer a;

	fixture_job(f, 1, &a);
	assert_int_equal(fixture_boot(f, 9, 3, NULL, 0), 0);
	must_ingest(f, MACHINE, record_evidence(9, 1, 1));
	fixture_close(f);
	for (int which = 0; which < OPS; which++) {
		bool hit = true;

		for (unsigned n = 1; hit; n++) {
			int rc = run_one(f, n, which, &hit);

			if (rc != (hit ? -ENOMEM : 0))
				fail_msg("operation %d, allocation %u: %d", which, n, rc);
			if (hit)
				assert_int_equal(fixture_int(f, counts[which]), 0);
			else
				assert_true(fixture_int(f, counts[which]) > 0);
		}
	}
	assert_int_equal(fixture_int(f, "SELECT max(number) FROM epoch"), 3);
	fixture_open(f);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_provenance_out_of_memory_is_an_error),
		T_(test_selections_out_of_memory_are_errors),
		T_(test_regressions_out_of_memory_are_errors),
		T_(test_operations_out_of_memory_store_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
