/* SPDX-License-Identifier: GPL-2.0-or-later */
/* No memory for what the scheduler decided: it waits in the reserve's operations, and once these are
 * used up the process ends. */
#include "tests/lib/cmocka_all.h"

#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/coordinator.h"
#include "tests/lib/alloc_fault.h"

static size_t n_waiting(const struct driver_op *op)
{
	size_t n = 0;

	while (op) {
		n++;
		op = *(struct driver_op *const *)op; /* `next` comes first */
	}
	return n;
}

/* The n-th allocation of it fails: the first is the operation, the second the store's own. */
static void decide(struct coordinator *c, struct sched_job *j, unsigned n)
{
	alloc_fault_arm(n);
	c->sched.act(c->sched.arg, &(struct sched_action){.kind = SCHED_ACT_JOB_STATE, .job = j});
	(void)alloc_fault_disarm();
}

static struct coordinator *coordinator_new(void)
{
	struct coordinator *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	driver_init(&c->driver, c);
	return c;
}

static void coordinator_free(struct coordinator *c)
{
	driver_deinit(&c->driver);
	free(c);
}

static void test_a_decision_without_memory_waits_in_the_reserve(void **state)
{
	struct coordinator *c = coordinator_new();
	struct sched_job job = {.id = 7, .state = SCHED_JOB_DONE};
	unsigned i;

	(void)state;
	assert_int_equal(c->driver.n_reserve, DRIVER_RESERVE);
	decide(c, &job, 2);
	assert_int_equal(c->driver.n_reserve, DRIVER_RESERVE);
	for (i = 0; i < DRIVER_RESERVE; i++)
		decide(c, &job, 1);
	assert_int_equal(c->driver.n_reserve, 0);
	assert_int_equal(n_waiting(c->driver.waiting), 1 + DRIVER_RESERVE);
	coordinator_free(c);
}

static void test_without_a_reserve_the_process_ends(void **state)
{
	struct coordinator *c = coordinator_new();
	struct sched_job job = {.id = 7, .state = SCHED_JOB_DONE};
	unsigned i;
	int status;
	pid_t pid;

	(void)state;
	for (i = 0; i < DRIVER_RESERVE + 1; i++)
		decide(c, &job, i ? 1 : 2);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		decide(c, &job, 1);
		_exit(0); /* it went on */
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	coordinator_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_decision_without_memory_waits_in_the_reserve),
		cmocka_unit_test(test_without_a_reserve_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
