/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real program dies at each point where something becomes durable or visible, with no coordinator
 * in reach, and is started again: what it then delivers is each record once, in order, each attempt
 * with one end, and of those that passed as many samples as they promise.
 */
#include "tests/lib/cmocka_all.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fault.h"
#include "tests/lib/agent_double.h"

#define RUNS	   2
#define ITERATIONS 2
#define DEATHS	   5		   /* of each point, the first so many passages */
#define SETTLED_NS (1500000000ULL) /* an agent that has not died by then does not come there */

static void start_to_die(struct double_ *d, enum kg_fault_point p, int nth)
{
	char wish[48];

	(void)snprintf(wish, sizeof(wish), "%s:%d", kg_fault_name(p), nth);
	assert_int_equal(setenv("KGRID_FAULT", wish, 1), 0);
	double_start_agent(d);
	assert_int_equal(unsetenv("KGRID_FAULT"), 0);
}

/* Whether it did; it is gone afterwards in any case. */
static bool died(struct double_ *d, uint64_t limit_ns)
{
	uint64_t end = kg_monotonic_ns() + limit_ns;
	const struct timespec pause = {.tv_nsec = 10000000};
	int status;

	do {
		if (waitpid(d->agent, &status, WNOHANG) == d->agent) {
			d->agent = 0;
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
			return true;
		}
		(void)nanosleep(&pause, NULL);
	} while (kg_monotonic_ns() < end);
	double_kill_agent(d, SIGKILL);
	return false;
}

/* Connections that the dead one has left in the queue. */
static void forget_connections(const struct double_ *d)
{
	struct pollfd p = {.fd = d->listener, .events = POLLIN};

	while (poll(&p, 1, 0) == 1)
		(void)close(accept(d->listener, NULL, NULL));
}

static void expect_all_delivered(struct double_ *d)
{
	uint32_t samples[RUNS] = {0}, ends[RUNS] = {0};
	bool over = false;
	size_t i;

	while (!over) {
		struct kg_msg *m = double_record(d); /* the number follows, or the test fails */
		const Kgrid__V1__Record *r = RECORD(m);
		size_t run = r->has_attempt ? (size_t)(r->attempt - 100) : 0;

		assert_true(run < RUNS);
		if (r->body_case == KGRID__V1__RECORD__BODY_SAMPLES)
			samples[run] += (uint32_t)r->samples->n_value;
		if (r->body_case == KGRID__V1__RECORD__BODY_ATTEMPT_ENDED) {
			ends[run]++;
			if (strcmp(r->attempt_ended->outcome, "pass") == 0) {
				assert_int_equal(samples[run], r->attempt_ended->samples);
				assert_int_equal(samples[run], ITERATIONS);
			} else {
				assert_string_equal(r->attempt_ended->outcome, "infra");
			}
		}
		over = r->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		double_ack(d, d->last_seq);
		kg_msg_free(m);
	}
	for (i = 0; i < RUNS; i++)
		assert_int_equal(ends[i], 1);
}

static bool dies_and_delivers(enum kg_fault_point p, int nth)
{
	static const char *const runs[] = {"w", "w", NULL};
	struct double_ d;
	bool was;

	double_init(&d);
	double_workload(&d, "w", "echo V=1");
	double_prepare_run(&d, runs, ITERATIONS);
	start_to_die(&d, p, nth);
	was = died(&d, SETTLED_NS * (nth == 1 ? 4 : 1));
	forget_connections(&d);
	double_start_agent(&d);
	double_accept(&d);
	kg_msg_free(double_expect_state(&d));
	expect_all_delivered(&d);
	double_deinit(&d);
	return was;
}

static void test_an_agent_that_dies_anywhere_delivers_each_record_once(void **state)
{
	static const enum kg_fault_point points[] = {
		KG_FAULT_SPOOL_HEAD, KG_FAULT_SPOOL_WRITTEN, KG_FAULT_SPOOL_SYNCED,
		KG_FAULT_RUN_SPAWN,  KG_FAULT_RUN_SPAWNED,
	};
	size_t i;
	int nth;

	(void)state;
	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		for (nth = 1; nth <= DEATHS; nth++)
			if (!dies_and_delivers(points[i], nth)) {
				/* each run spawns once; the spool is written more often */
				assert_true(nth > RUNS);
				break;
			}
}

static void test_a_fault_that_does_not_exist_is_refused(void **state)
{
	struct double_ d;
	int status;

	(void)state;
	double_init(&d);
	assert_int_equal(setenv("KGRID_FAULT", "no-such-point", 1), 0);
	double_start_agent(&d);
	assert_int_equal(unsetenv("KGRID_FAULT"), 0);
	assert_int_equal(waitpid(d.agent, &status, 0), d.agent);
	d.agent = 0;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	double_deinit(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_agent_that_dies_anywhere_delivers_each_record_once),
		cmocka_unit_test(test_a_fault_that_does_not_exist_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
