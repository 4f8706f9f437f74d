/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent costs the machine that is measured: memory when idle, wake-ups and network writes
 * while a workload runs, CPU share while it streams 1,000 samples a second. A real agent against a
 * stand-in coordinator, by the kernel's own books (/proc/PID/smaps_rollup, status, stat).
 *
 * References: for memory, wake-ups and writes the limits that the design sets; for the CPU share a
 * bare program in the same run that reads the same workload's output line by line and keeps nothing.
 * Not a test: nothing is asserted but that all samples arrive.
 */
#include "tests/lib/cmocka_all.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "tests/lib/agent_double.h"

#define LIMIT_IDLE_KB	3072.0 /* anonymous memory */
#define LIMIT_WAKEUPS_S 2.0
#define LIMIT_WRITES_S	1.0
#define STREAM_SECONDS	10
#define STREAM_COMMAND	"seq -f V=%%.1f 1000; sleep 1"

static double since_s(uint64_t began_ns)
{
	return (double)(kg_monotonic_ns() - began_ns) / 1e9;
}

/* Bursts that arrive within `seconds`: a burst is one write of the agent, or several at once. */
static unsigned arrivals(struct double_ *d, double seconds)
{
	uint64_t began = kg_monotonic_ns();
	unsigned n = 0;

	while (since_s(began) < seconds) {
		struct pollfd pfd = {.fd = d->fd, .events = POLLIN};

		if (poll(&pfd, 1, 50) <= 0)
			continue;
		n++;
		do
			kg_msg_free(double_next(d));
		while (d->left > 0);
	}
	return n;
}

static void bench_idle_and_quiet(void **state)
{
	static const char *const runs[] = {"w", NULL};
	struct double_ *d = *state;
	uint64_t wakeups, began;
	unsigned writes;
	double seconds, kb;

	double_workload(d, "w", "sleep 14; echo V=1");
	double_prepare_run(d, runs, 1);
	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_expect_state(d));
	(void)arrivals(d, 2); /* the beginning of the run */
	began = kg_monotonic_ns();
	wakeups = double_proc_number(d, "status", "\nvoluntary_ctxt_switches:");
	writes = arrivals(d, 10);
	wakeups = double_proc_number(d, "status", "\nvoluntary_ctxt_switches:") - wakeups;
	seconds = since_s(began);
	print_message("while a workload runs: %.2f wake-ups/s (limit %.0f, ratio %.2f), "
		      "%.2f network writes/s (limit %.0f, ratio %.2f), over %.1f s\n",
		      (double)wakeups / seconds, LIMIT_WAKEUPS_S,
		      (double)wakeups / seconds / LIMIT_WAKEUPS_S, writes / seconds, LIMIT_WRITES_S,
		      writes / seconds / LIMIT_WRITES_S, seconds);
	double_drop(d); /* it comes again and delivers what is left */
	double_accept(d);
	kg_msg_free(double_expect_state(d));
	kg_msg_free(double_finish(d));
	kg_msg_free(double_expect(d, KG_MSG_AGENT_STATE));
	kb = (double)double_proc_number(d, "smaps_rollup", "\nAnonymous:");
	print_message("idle: anonymous memory %.0f kB (limit %.0f kB, ratio %.2f)\n", kb,
		      LIMIT_IDLE_KB, kb / LIMIT_IDLE_KB);
}

/* CPU share of a bare reader of the same output, in percent; the workload's own is not counted. */
static double reference_share(void)
{
	uint64_t began = kg_monotonic_ns();
	struct rusage before, after;
	char line[256];
	double used;
	FILE *f = popen("for i in 1 2 3 4 5 6 7 8 9 10; do seq -f V=%.1f 1000; sleep 1; done", "r");

	assert_non_null(f);
	(void)getrusage(RUSAGE_SELF, &before);
	while (fgets(line, sizeof(line), f))
		(void)strtod(line + 2, NULL);
	(void)getrusage(RUSAGE_SELF, &after);
	(void)pclose(f);
	used = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
	       (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
	       (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) / 1e6 +
	       (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6;
	return used / since_s(began) * 100;
}

static void bench_streaming(void **state)
{
	static const char *const runs[] = {"w", NULL};
	struct double_ *d = *state;
	uint64_t began, samples = 0;
	double cpu, share, reference;
	char path[160], text[512];
	struct kg_msg *m;
	bool last;

	(void)snprintf(path, sizeof(path), "%s/w.yaml", d->workloads);
	(void)snprintf(text, sizeof(text),
		       "name: w\nparameters: {}\nrequires: [sh]\n"
		       "command: [sh, -c, '" STREAM_COMMAND "']\n"
		       "metrics:\n  - {name: v, unit: s, direction: lower, which: each, "
		       "read: {keyval: V}}\n");
	assert_int_equal(kg_file_replace(path, text, strlen(text), 0644, NULL), 0);
	double_prepare_run(d, runs, STREAM_SECONDS);
	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_expect_state(d));
	cpu = double_cpu_seconds(d);
	began = kg_monotonic_ns();
	do {
		m = double_record(d);
		if (RECORD(m)->body_case == KGRID__V1__RECORD__BODY_SAMPLES)
			samples += RECORD(m)->samples->n_value;
		last = RECORD(m)->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		kg_msg_free(m);
	} while (!last);
	share = (double_cpu_seconds(d) - cpu) / since_s(began) * 100;
	assert_int_equal(samples, STREAM_SECONDS * 1000);
	reference = reference_share();
	print_message(
		"streaming 1,000 samples/s: agent's CPU share %.2f %%, a bare reader of the same "
		"output %.2f %%, difference %.2f %% of a core\n",
		share, reference, share - reference);
}

static int setup(void **state)
{
	struct double_ *d = calloc(1, sizeof(*d));

	double_init(d);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	double_deinit(*state);
	free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest benches[] = {
		cmocka_unit_test_setup_teardown(bench_idle_and_quiet, setup, teardown),
		cmocka_unit_test_setup_teardown(bench_streaming, setup, teardown),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(benches, NULL, NULL);
}
