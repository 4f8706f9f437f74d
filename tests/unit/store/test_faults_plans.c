/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A disk that fails at the 1st, 2nd, 3rd .. call, and a coordinator that is killed, in the operations of
 * schema 3: each is there as a whole or not at all, and repeating it does not double it. */
#include "plans.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault_vfs.h"

#define TRIES 50

static const struct store_file files[] = {{"a.yaml", "x: 1\n"}};

static void open_fixture(struct fixture *f)
{
	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
}

/* Two cells in two blocks; `key` makes a repeat the same job. */
static int insert_job(struct fixture *f, const char *key, struct answer *a)
{
	struct plan_job p;

	plan_init(&p, "x");
	plan_cell(&p, false)->variant = "v";
	(void)plan_cell(&p, true);
	plan_slots(&p, 2);
	p.job.client_key = key;
	p.job.files = files;
	p.job.n_files = 1;
	return RUN(f, a, store_job_insert(f->s, &p.job, answer_done(a)));
}

/* ---- a failing disk ---- */

enum step { INSERT, CHANGE, EXTEND, CLOSE, ADD, RAN, SERVICE, REMOVE, STEPS };

static int take_step(struct fixture *f, enum step step, struct answer *a)
{
	static const struct store_slot slots[] = {{.cell_index = 0, .block = 3, .visit = 5},
						  {.cell_index = 1, .block = 3, .visit = 6}};
	struct store_job_change change = {.job = 1, .set_paused = true, .paused = true};
	struct store_job_extend extend = {
		.job = 1, .first_block = 3, .n_blocks = 1, .slots = slots, .n_slots = 2};
	struct store_job_close close_ = {.job = 1, .outcome = KG_OUTCOME_SKIPPED, .reason = "r"};
	struct store_service service = {.machine = MACHINE, .service = "drain"};
	struct store_standing standing = {
		.name = "n", .text = "t", .when = "nightly", .files = files, .n_files = 1};

	switch (step) {
	case INSERT:
		return insert_job(f, "key", a);
	case CHANGE:
		return RUN(f, a, store_job_change(f->s, &change, answer_done(a)));
	case EXTEND:
		return RUN(f, a, store_job_extend(f->s, &extend, answer_done(a)));
	case CLOSE:
		return RUN(f, a, store_job_close(f->s, &close_, answer_done(a)));
	case ADD:
		return RUN(f, a, store_standing_add(f->s, &standing, 1, answer_done(a)));
	case RAN:
		return RUN(f, a, store_standing_ran(f->s, 1, 1, NULL, 5, answer_done(a)));
	case SERVICE:
		return RUN(f, a, store_machine_service(f->s, &service, answer_done(a)));
	default:
		return RUN(f, a, store_standing_remove(f->s, 1, 5, answer_done(a)));
	}
}

/* Repeats until it is told; the answer may have been an error though it is on disk: then the repeat
 * says so. */
static void must_step(struct fixture *f, enum step step)
{
	struct answer a;
	int rc, tries = 0;

	while ((rc = take_step(f, step, &a)) < 0) {
		if (tries > 0 &&
		    ((step == EXTEND && rc == KG_ESTATE) || (step == REMOVE && rc == KG_ENOTFOUND)))
			break;
		if (rc != -ENOSPC && rc != -EIO)
			fail_msg("step %d: %d %s", (int)step, rc, a.text);
		assert_true(++tries < TRIES);
	}
}

static void check_once(struct fixture *f)
{
	assert_string_equal(fixture_sql(f, "PRAGMA integrity_check"), "ok");
	assert_string_equal(fixture_sql(f, "PRAGMA foreign_key_check"), "");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM job_file"), 1);
	assert_int_equal(fixture_int(f, "SELECT blocks * 10 + paused FROM job"), 31);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM slot WHERE outcome = 'skipped'"), 6);
	assert_int_equal(fixture_int(f, "SELECT json_array_length(stops) FROM job"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'job'"), 2);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'close'"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'standing'"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM standing_file"), 0);
	assert_string_equal(fixture_sql(f, "SELECT service FROM machine"), "drain");
	check_accounting(f, 1, 6);
}

static void sweep(enum fault_kind kind, long times)
{
	long hit = 1;

	for (long nth = 1; hit > 0; nth += nth < 12 ? 1 : 5) {
		struct fixture f;

		open_fixture(&f);
		fault_vfs_arm(kind, nth, times);
		for (int step = 0; step < STEPS; step++)
			must_step(&f, (enum step)step);
		hit = fault_vfs_disarm();
		check_once(&f);
		fixture_close(&f);
		fixture_open(&f); /* as it is on disk, not only in this process */
		check_once(&f);
		fixture_deinit(&f);
		assert_true(nth < 1000);
	}
}

static void test_a_full_disk_loses_and_doubles_nothing(void **state)
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

/* ---- a coordinator that is killed ---- */

#define ROUNDS 10

static void tell(void *arg, const struct store_result *r)
{
	const int *fd = arg;
	int rc = r->rc;

	if (write(*fd, &rc, sizeof(rc)) < 0)
		_exit(3);
}

/* Never returns: extends the job block by block and closes each, without waiting. */
static void churn(struct fixture *f, uint32_t block, int fd)
{
	struct store_config c = {.path = f->path, .host_boot_id = "h", .batch_ms = 1};
	struct store_done done = {tell, &fd};
	struct timespec pause = {0, 50000};
	struct store *s = NULL;

	if (store_open(&c, &s, NULL) < 0 || store_start(s, NULL) < 0)
		_exit(1);
	for (;; block++) {
		const struct store_slot slots[] = {
			{.cell_index = 0, .block = block, .visit = 2 * block - 1},
			{.cell_index = 1, .block = block, .visit = 2 * block}};
		struct store_job_extend x = {.job = 1,
					     .first_block = block,
					     .n_blocks = 1,
					     .slots = slots,
					     .n_slots = 2};
		struct store_job_close y = {.job = 1, .outcome = KG_OUTCOME_SKIPPED, .reason = "r"};

		if (store_job_extend(s, &x, done) < 0 || store_job_close(s, &y, done) < 0)
			_exit(2);
		while (store_pending(s) > 16) {
			if (store_poll(s) == 0)
				(void)nanosleep(&pause, NULL);
		}
	}
}

/* Gives how many operations were told to be done. */
static unsigned run_and_kill(struct fixture *f, uint32_t block, unsigned answers, unsigned extra_us)
{
	unsigned n = 0;
	int fds[2], rc = 0, status = 0;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(fds[0]);
		churn(f, block, fds[1]);
	}
	(void)close(fds[1]);
	while (n < answers && read(fds[0], &rc, sizeof(rc)) == (ssize_t)sizeof(rc))
		n += rc == 0;
	(void)usleep(extra_us);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (read(fds[0], &rc, sizeof(rc)) == (ssize_t)sizeof(rc))
		n += rc == 0;
	(void)close(fds[0]);
	return n;
}

static void test_a_kill_leaves_whole_blocks_and_whole_ends(void **state)
{
	struct fixture f;
	struct answer a;
	uint32_t blocks = 2;

	(void)state;
	open_fixture(&f);
	assert_int_equal(insert_job(&f, NULL, &a), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned told;
		uint32_t now;

		fixture_close(&f);
		told = run_and_kill(&f, blocks + 1, 1 + 3 * i, i * 731 % 3000);
		fixture_open(&f);
		assert_string_equal(fixture_sql(&f, "PRAGMA quick_check"), "ok");
		now = (uint32_t)fixture_int(&f, "SELECT blocks FROM job");
		assert_true(now - blocks >= told / 2); /* every second one was an extension */
		assert_int_equal(fixture_int(&f, "SELECT count(*) FROM slot"), 2 * now);
		assert_int_equal(fixture_int(&f, "SELECT count(*) FROM event WHERE kind = 'job'"),
				 now - 2);
		/* Each end has its line, its event and all of its slots. */
		assert_int_equal(fixture_int(&f,
					     "SELECT count(*) - (SELECT json_array_length(stops)"
					     " FROM job) FROM event WHERE kind = 'close'"),
				 0);
		assert_int_equal(fixture_int(&f, "SELECT (SELECT sum(value ->> 'slots') FROM job,"
						 " json_each(job.stops)) - count(*) FROM slot"
						 " WHERE outcome = 'skipped'"),
				 0);
		blocks = now;
	}
	check_accounting(&f, 1, 2 * (uint64_t)blocks);
	fixture_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_full_disk_loses_and_doubles_nothing),
		cmocka_unit_test(test_failing_writes_lose_and_double_nothing),
		cmocka_unit_test(test_failing_syncs_lose_and_double_nothing),
		cmocka_unit_test(test_a_kill_leaves_whole_blocks_and_whole_ends),
	};

	fault_vfs_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
