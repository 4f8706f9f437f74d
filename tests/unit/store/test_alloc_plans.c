/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The 1st, 2nd, 3rd .. allocation fails, for what schema 3 brought: it is said, nothing leaks, nothing
 * is half done. */
#include "plans.h"

#include <errno.h>
#include <string.h>

#include "coordinator/store/query_internal.h"
#include "tests/lib/alloc_fault.h"

static const struct store_file files[] = {{"a.yaml", "x: 1\n"}};
static const struct store_merge merges[] = {
	{MACHINE, KERNEL_A, "ntnb", "nt", "capability,apparmor"}};
static const uint64_t after[] = {1};

/* Job 2 has everything; two blocks of it are measured, one slot was tried twice, the rest is closed. */
static void measured_job(struct fixture *f)
{
	struct store_job_close c = {
		.job = 2, .machine = MACHINE, .outcome = KG_OUTCOME_SKIPPED, .reason = "enough"};
	struct store_boot_end e = {.boot = 9, .outcome = KG_OUTCOME_INFRA, .reason = "power"};
	struct plan_job p;
	struct answer a;

	plan_init(&p, "all");
	plan_cell(&p, false)->variant = "mitigations=off";
	plan_cell(&p, true)->settings = "thp=never";
	plan_cell(&p, false)->canary = true;
	plan_cell(&p, true)->canary = true;
	p.cells[2].variant = p.cells[0].variant;
	p.job.user = "alice";
	p.job.files = files;
	p.job.merges = merges;
	p.job.after = after;
	p.job.n_files = p.job.n_merges = p.job.n_after = 1;
	plan_slots(&p, 4);
	(void)plan_insert(f, &p, &a);
	assert_int_equal(fixture_boot(f, 9, 2, (uint64_t[]){2}, 1), 0);
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	for (uint64_t b = 0; b < 4; b++)
		plan_boot(f, b + 1, 2,
			  &(struct fixture_where){.kernel = b % 2 ? KERNEL_B : KERNEL_A,
						  .block = (uint32_t)b / 2 + 1,
						  .started_ns = (int64_t)(b + 1) * SECOND},
			  (uint64_t[]){2 + 4 * (b / 2) + b % 2, 4 + 4 * (b / 2) + b % 2},
			  (double[]){100 + (double)b, 1000}, 2);
	assert_int_equal(RUN(f, &a, store_job_close(f->s, &c, answer_done(&a))), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct store_standing s = {.name = "s",
				   .user = "alice",
				   .text = "t",
				   .file_name = "f",
				   .when = "nightly",
				   .files = files,
				   .n_files = 1};
	struct store_service v = {.machine = MACHINE,
				  .service = "drain",
				  .why = "w",
				  .set_reserved = true,
				  .reserved_by = "bob",
				  .reserved_why = "r",
				  .user = "u"};
	struct plan_job p;
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	plan_init(&p, "one");
	(void)plan_cell(&p, false);
	plan_slots(&p, 1);
	(void)plan_insert(f, &p, &a);
	measured_job(f);
	assert_int_equal(RUN(f, &a, store_standing_add(f->s, &s, 5, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_standing_ran(f->s, 1, 1, "why", 5, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_machine_service(f->s, &v, answer_done(&a))), 0);
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
			assert_true(n < 20000);                                    \
		}                                                                  \
	} while (0)

static void test_answers_out_of_memory_are_errors(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareRequest compare_rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__HistoryRequest history_rq = KGRID__V1__HISTORY_REQUEST__INIT;
	Kgrid__V1__CompareReply *compare;
	Kgrid__V1__HistoryReply *history;
	Kgrid__V1__JobReply *job;
	Kgrid__V1__MachineReply *machine;

	SWEEP(query_job(f->q, 2, &job, &err), reply_free(job));
	SWEEP(query_machine(f->q, MACHINE, &machine, &err), reply_free(machine));
	SWEEP(query_compare(f->q, &compare_rq, &compare, &err), reply_free(compare));
	SWEEP(query_history(f->q, &history_rq, &history, &err), reply_free(history));
}

static void test_plans_out_of_memory_are_errors(void **state)
{
	static const char *const named[] = {MACHINE};
	struct fixture *f = *state;
	struct store_snapshot *snapshot;
	struct store_standings *standings;
	struct store_history *history;
	struct store_usages *usages;
	struct store_cell_detail *cell;
	struct store_job *job;
	struct kg_texts lines;
	uint64_t found;

	SWEEP(query_snapshot(f->q, &snapshot, &err), store_snapshot_free(snapshot));
	SWEEP(query_job_load(f->q, 2, &job, &err), store_job_free(job));
	SWEEP(query_standing(f->q, &standings, &err), store_standings_free(standings));
	SWEEP(query_plan_history(f->q, NULL, 0, SECOND, &history, &err),
	      store_history_free(history));
	SWEEP(query_plan_history(f->q, named, 1, SECOND, &history, &err),
	      store_history_free(history));
	SWEEP(query_usage(f->q, 0, 1, 1, &usages, &err), store_usages_free(usages));
	SWEEP(query_cell(f->q, 2, 1, &cell, &err), store_cell_detail_free(cell));
	SWEEP(query_job_find(f->q, "one", &found, &err), (void)found);
	SWEEP(query_why_job(f->q, 2, 0, &lines, &err), kg_texts_deinit(&lines));
	SWEEP(query_why_job(f->q, 2, 1, &lines, &err), kg_texts_deinit(&lines));
	SWEEP(query_why_machine(f->q, MACHINE, &lines, &err), kg_texts_deinit(&lines));
}

/* ---- writing ---- */

enum which { INSERT, CHANGE, EXTEND, CLOSE, SERVICE, ADD, RAN, REMOVE, WHICH_COUNT };

static int start(struct store *s, enum which which, struct store_done done)
{
	static const struct store_slot slot = {.cell_index = 0, .block = 2, .reason = ""};
	struct store_job_change change = {
		.job = 1, .set_priority = true, .priority = 7, .user = "u"};
	struct store_job_extend extend = {
		.job = 1, .first_block = 2, .n_blocks = 1, .slots = &slot, .n_slots = 1};
	struct store_job_close close_ = {
		.job = 1, .machine = MACHINE, .outcome = KG_OUTCOME_SKIPPED, .reason = "r"};
	struct store_service service = {.machine = MACHINE,
					.service = "maintenance",
					.why = "w",
					.set_reserved = true,
					.reserved_by = "carol",
					.reserved_why = "x",
					.user = "u"};
	struct store_standing standing = {
		.name = "n", .text = "u", .when = "nightly", .files = files, .n_files = 1};
	struct plan_job p;

	switch (which) {
	case INSERT:
		plan_init(&p, "third");
		plan_cell(&p, false)->variant = "v";
		plan_slots(&p, 1);
		p.job.user = "alice";
		p.job.files = files;
		p.job.merges = merges;
		p.job.after = after;
		p.job.n_files = p.job.n_merges = p.job.n_after = 1;
		return store_job_insert(s, &p.job, done);
	case CHANGE:
		return store_job_change(s, &change, done);
	case EXTEND:
		return store_job_extend(s, &extend, done);
	case CLOSE:
		return store_job_close(s, &close_, done);
	case SERVICE:
		return store_machine_service(s, &service, done);
	case ADD:
		return store_standing_add(s, &standing, 6, done);
	case RAN:
		return store_standing_ran(s, 1, 2, "because", 99, done);
	default:
		return store_standing_remove(s, 1, 7, done);
	}
}

/* One operation on a store without a thread: it runs in store_close. */
static int run_one(struct fixture *f, unsigned n, enum which which, bool *ret_hit)
{
	struct store_config c = {.path = f->path, .host_boot_id = "h"};
	struct answer a = {0};
	struct store *s = NULL;
	int rc;

	assert_int_equal(store_open(&c, &s, NULL), 0);
	alloc_fault_arm(n);
	rc = start(s, which, answer_done(&a));
	store_close(s);
	*ret_hit = alloc_fault_disarm();
	assert_int_equal(a.n, rc == 0);
	return rc < 0 ? rc : a.r.rc;
}

static void test_operations_out_of_memory_store_nothing(void **state)
{
	static const char *const counts[WHICH_COUNT] = {
		"SELECT (SELECT count(*) FROM job WHERE id = 3)"
		" + (SELECT count(*) FROM job_file WHERE job = 3)"
		" + (SELECT count(*) FROM job_merge WHERE job = 3)"
		" + (SELECT count(*) FROM job_after WHERE job = 3)"
		" + (SELECT count(*) FROM cell WHERE job = 3 AND variant = 'v')"
		" + (SELECT count(*) FROM slot WHERE job = 3) - 5",
		"SELECT (SELECT priority = 7 FROM job WHERE id = 1)"
		" + (SELECT count(*) FROM event WHERE kind = 'job' AND text LIKE 'priority%') - 1",
		"SELECT (SELECT blocks - 1 FROM job WHERE id = 1)"
		" + (SELECT count(*) FROM slot WHERE job = 1 AND block = 2)"
		" + (SELECT count(*) FROM event WHERE kind = 'job' AND text LIKE 'extended%') - 2",
		"SELECT (SELECT stops <> '[]' FROM job WHERE id = 1)"
		" + (SELECT count(*) > 0 FROM slot WHERE job = 1 AND outcome = 'skipped')"
		" + (SELECT count(*) FROM event WHERE kind = 'close' AND job = 1) - 2",
		"SELECT (SELECT service = 'maintenance' AND reserved_by = 'carol' FROM machine)"
		" + (SELECT count(*) FROM event WHERE kind = 'machine' AND text LIKE '%carol%') - "
		"1",
		"SELECT (SELECT count(*) FROM standing WHERE id = 2)"
		" + (SELECT count(*) FROM standing_file WHERE standing = 2) - 1",
		"SELECT last_job = 2 AND last_error = 'because' FROM standing WHERE id = 1",
		"SELECT (SELECT count(*) = 0 FROM standing WHERE id = 1)"
		" + (SELECT count(*) FROM event WHERE kind = 'standing') - 1",
	};
	static const int before[WHICH_COUNT] = {-5, -1, -2, -2, -1, -1, 0, -1};
	struct fixture *f = *state;

	fixture_close(f);
	for (int which = 0; which < WHICH_COUNT; which++) {
		bool hit = true;

		for (unsigned n = 1; hit; n++) {
			int rc = run_one(f, n, (enum which)which, &hit);

			if (rc != (hit ? -ENOMEM : 0))
				fail_msg("operation %d, allocation %u: %d", which, n, rc);
			assert_int_equal(fixture_int(f, counts[which]), hit ? before[which] : 1);
		}
	}
	fixture_open(f);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_answers_out_of_memory_are_errors),
		T_(test_plans_out_of_memory_are_errors),
		T_(test_operations_out_of_memory_store_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
