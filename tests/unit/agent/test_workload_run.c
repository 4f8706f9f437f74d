/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of real processes: small programs of the system, never a shell string from outside. Each
 * test runs with cgroups where the host lets us, and with sessions. */
#include "agent/workload_run.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/workload_registry.h"
#include "common/clock.h"
#include "common/str.h"

struct fixture {
	uv_loop_t loop;
	struct workload_group group;
	struct workload_run *run;
	struct workload_run_ops ops; /* of a run with a role */
	uint16_t port;
	bool finish; /* as soon as it serves */
	bool kill_at_start;
	uv_timer_t kill_timer;
	char stages[64];
	struct kg_texts argv;
	double values[64];
	uint32_t iterations[64], indexes[64];
	bool warmups[64];
	size_t n_values;
	struct kg_str out, err, agent;
	uint64_t dropped;
	bool ended;
	struct agent_run_end end;
	char outcome[32], reason[256];
	size_t left; /* members of the groups when the run had ended */
};

static void on_started(void *data, const struct kg_texts *argv)
{
	struct fixture *f = data;

	assert_false(f->ended);
	assert_true(argv->n > 0);
	if (f->kill_at_start)
		workload_run_kill(f->run, "infra", "no room");
}

static void on_stage(void *data, const char *stage)
{
	struct fixture *f = data;

	(void)strncat(f->stages, stage, sizeof(f->stages) - strlen(f->stages) - 1);
	(void)strncat(f->stages, " ", sizeof(f->stages) - strlen(f->stages) - 1);
}

static void on_samples(void *data, const struct run_sample *s, size_t n, bool warmup)
{
	struct fixture *f = data;
	size_t i;

	for (i = 0; i < n && f->n_values < 64; i++) {
		f->values[f->n_values] = s[i].value;
		f->iterations[f->n_values] = s[i].iteration;
		f->indexes[f->n_values] = s[i].index;
		f->warmups[f->n_values++] = warmup;
	}
}

static void on_log(void *data, const char *stream, const void *bytes, size_t len, uint64_t dropped)
{
	struct fixture *f = data;
	struct kg_str *s = strcmp(stream, "stdout") == 0   ? &f->out
			   : strcmp(stream, "stderr") == 0 ? &f->err
							   : &f->agent;

	kg_str_addn(s, bytes, len);
	f->dropped += dropped;
}

static void on_ended(void *data, const struct agent_run_end *end)
{
	struct fixture *f = data;

	assert_false(f->ended);
	f->ended = true;
	f->end = *end;
	(void)snprintf(f->outcome, sizeof(f->outcome), "%s", end->outcome);
	(void)snprintf(f->reason, sizeof(f->reason), "%s", end->reason ? end->reason : "");
	f->left = workload_group_count(&f->group, GROUP_MAIN, 0) +
		  workload_group_count(&f->group, GROUP_HELPER, 0);
}

static const struct workload_run_ops ops = {
	.started = on_started,
	.stage = on_stage,
	.samples = on_samples,
	.log = on_log,
	.ended = on_ended,
};

static bool use_cgroup;

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char name[64];
	struct kg_err err;

	assert_non_null(f);
	(void)snprintf(name, sizeof(name), "test-%d", (int)getpid());
	assert_int_equal(workload_group_init(&f->group, name, use_cgroup, &err), 0);
	assert_int_equal(uv_loop_init(&f->loop), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(uv_loop_close(&f->loop), 0);
	workload_group_deinit(&f->group);
	kg_str_deinit(&f->out);
	kg_str_deinit(&f->err);
	kg_str_deinit(&f->agent);
	free(f);
	return 0;
}

static void start(struct fixture *f, const char *yaml, uint32_t iterations, uint64_t timeout_ns)
{
	struct workload_run_spec spec = {.iterations = iterations,
					 .timeout_ns = timeout_ns,
					 .group = &f->group,
					 .path = WORKLOAD_PATH};
	struct kg_err err = {""};

	if (kg_workload_parse("test", yaml, strlen(yaml), &spec.workload, &err) < 0)
		fail_msg("%s", err.text);
	if (kg_workload_params(spec.workload, NULL, 0, &spec.params, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(workload_run_start(&f->loop, &spec, &ops, f, &f->run, &err), 0);
}

static void finish(struct fixture *f)
{
	assert_int_equal(uv_run(&f->loop, UV_RUN_DEFAULT), 0);
	assert_true(f->ended);
	assert_int_equal(f->left, 0); /* whatever happened: the next run starts clean */
}

static void run(struct fixture *f, const char *yaml, uint32_t iterations)
{
	start(f, yaml, iterations, 0);
	finish(f);
}

/* A declaration around a command. Only what hangs has a limit that comes soon: a loaded machine may
 * take seconds for what ends by itself. */
#define LIMITED(timeout, command, more)                                                       \
	"name: t\nparameters: {}\ncommand: [" command "]\nduration: \"1\"\ntimeout: " timeout \
	"\n" more "metrics:\n  - {name: value, unit: s, direction: lower, read: {keyval: V}}\n"
#define WORKLOAD(command, more) LIMITED("60s", command, more)
#define HANGING(command)	LIMITED("1s", command, "")

static void test_each_iteration_gives_its_sample(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("printf, 'V=1.5\\nnoise\\n'", ""), 3);
	assert_string_equal(f->outcome, "pass");
	assert_int_equal(f->n_values, 3);
	assert_true(f->values[2] == 1.5);
	assert_int_equal(f->iterations[0], 1);
	assert_int_equal(f->iterations[2], 3);
	assert_int_equal(f->indexes[2], 2);
	assert_int_equal(f->end.samples, 3);
	assert_true(f->end.has_exit_status);
	assert_string_equal(f->stages, "run ");
	assert_string_equal(kg_str_text(&f->out), "V=1.5\nnoise\nV=1.5\nnoise\nV=1.5\nnoise\n");
}

static void test_a_nul_in_the_output_hides_nothing_behind_it(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("printf, 'a\\000b\\nV=1.5\\n'", ""), 1);
	assert_string_equal(f->outcome, "pass");
	assert_int_equal(f->n_values, 1);
	assert_string_equal(kg_str_text(&f->out), "a?b\nV=1.5\n");
}

static void test_warmup_is_kept_apart(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("echo, V=2", "warm-up: {runs: 2}\n"), 1);
	assert_string_equal(f->outcome, "pass");
	assert_string_equal(f->stages, "warm-up run ");
	assert_int_equal(f->n_values, 3);
	assert_true(f->warmups[0] && f->warmups[1] && !f->warmups[2]);
	assert_int_equal(f->iterations[1], 2);
	assert_int_equal(f->iterations[2], 1);
	assert_int_equal(f->indexes[2], 2);
	assert_int_equal(f->end.samples, 1);
}

static void test_environment_is_fixed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(setenv("KGRID_TEST_LEAK", "1", 1), 0);
	run(f, WORKLOAD("env", "environment: {V: \"3\"}\n"), 1);
	assert_string_equal(f->outcome, "pass");
	assert_non_null(strstr(f->out.text, "LC_ALL=C\n"));
	assert_non_null(strstr(f->out.text, "TZ=UTC\n"));
	assert_non_null(strstr(f->out.text, "PATH=" WORKLOAD_PATH "\n"));
	assert_null(strstr(f->out.text, "KGRID_TEST_LEAK"));
	assert_true(f->values[0] == 3);
}

static void test_streams_are_captured_apart(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("sh, -c, 'echo V=1; echo oops >&2'", ""), 1);
	assert_string_equal(f->outcome, "pass");
	assert_string_equal(kg_str_text(&f->out), "V=1\n");
	assert_string_equal(kg_str_text(&f->err), "oops\n");
}

static void test_other_exit_status_is_fail(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("sh, -c, 'echo V=1; exit 7'", ""), 3);
	assert_string_equal(f->outcome, "fail");
	assert_string_equal(f->reason, "exit status 7");
	assert_int_equal(f->end.exit_status, 7);
	assert_int_equal(f->n_values, 0);
	assert_string_equal(kg_str_text(&f->out), "V=1\n");
}

static void test_crash_is_fail(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("sh, -c, 'kill -SEGV $$'", ""), 1);
	assert_string_equal(f->outcome, "fail");
	assert_true(f->end.has_term_signal);
	assert_int_equal(f->end.term_signal, SIGSEGV);
}

static void test_no_primary_value_is_fail(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("echo, nothing", ""), 1);
	assert_string_equal(f->outcome, "fail");
	assert_non_null(strstr(f->reason, "no primary value"));
}

static void test_hang_is_run_timeout(void **state)
{
	struct fixture *f = *state;
	uint64_t before = kg_monotonic_ns();

	run(f, HANGING("sleep, \"1000\""), 1);
	assert_string_equal(f->outcome, "run-timeout");
	assert_string_equal(f->reason, "iteration 1 took longer than 2 s");
	assert_true(kg_monotonic_ns() - before < 20 * KG_NSEC_PER_SEC);
}

static void test_whole_run_has_a_limit_of_its_own(void **state)
{
	struct fixture *f = *state;

	start(f, WORKLOAD("sh, -c, 'echo V=1; sleep 0.3'", ""), 1000, KG_NSEC_PER_SEC);
	finish(f);
	assert_string_equal(f->outcome, "run-timeout");
	assert_string_equal(f->reason, "the run took longer than 1 s");
	assert_true(f->n_values >= 1); /* what had ended was handed over */
}

static void test_flood_is_ended_as_fail(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("yes", ""), 1);
	assert_string_equal(f->outcome, "fail");
	assert_non_null(strstr(f->reason, "flooded its output"));
	assert_int_equal(f->out.len, RUN_OUTPUT_CAP);
	assert_true(f->dropped > 0);
}

static void test_process_left_behind_is_killed_and_said(void **state)
{
	struct fixture *f = *state;

	/* A daemon: a session of its own, pipes closed. */
	run(f, WORKLOAD("sh, -c, 'echo V=1; setsid sleep 1000 >/dev/null 2>&1 </dev/null &'", ""),
	    2);
	assert_string_equal(f->outcome, "fail");
	assert_non_null(strstr(f->reason, "left processes behind"));
}

static void test_child_that_holds_the_pipe_does_not_hang_the_run(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("sh, -c, 'echo V=1; sleep 1000 &'", ""), 1);
	assert_string_equal(f->outcome, "fail");
	assert_non_null(strstr(f->reason, "left processes behind"));
}

static void test_fork_tree_is_killed_with_its_root(void **state)
{
	struct fixture *f = *state;

	run(f, HANGING("sh, -c, '(sleep 1000 | sleep 1000) & setsid sleep 1000 & wait'"), 1);
	assert_string_equal(f->outcome, "run-timeout");
}

static void test_missing_program_is_harness_error(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("no-such-program-here", ""), 1);
	assert_string_equal(f->outcome, "harness-error");
	assert_non_null(strstr(f->reason, "no-such-program-here"));
}

static void on_kill_timer(uv_timer_t *t)
{
	struct fixture *f = t->data;

	workload_run_kill(f->run, "infra", "told to");
	uv_close((uv_handle_t *)t, NULL);
}

static void test_run_can_be_killed_from_outside(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(uv_timer_init(&f->loop, &f->kill_timer), 0);
	f->kill_timer.data = f;
	start(f, WORKLOAD("sleep, \"1000\"", ""), 1, 0);
	assert_int_equal(uv_timer_start(&f->kill_timer, on_kill_timer, 100, 0), 0);
	finish(f);
	assert_string_equal(f->outcome, "infra");
	assert_string_equal(f->reason, "told to");
}

static void test_run_killed_before_it_began_ends_once(void **state)
{
	struct fixture *f = *state;

	start(f, WORKLOAD("sleep, \"1000\"", ""), 1, 0);
	workload_run_kill(f->run, "infra", "told to");
	finish(f);
	assert_string_equal(f->outcome, "infra");
}

/* Its owner has no room for what it says of its beginning. */
static void test_run_killed_as_it_says_that_it_begins_ends_once(void **state)
{
	struct fixture *f = *state;

	f->kill_at_start = true;
	run(f, WORKLOAD("sleep, \"1000\"", ""), 1);
	assert_string_equal(f->outcome, "infra");
	assert_string_equal(f->reason, "no room");
	assert_string_equal(f->stages, "");
}

/* A server for the helper tests: python is part of the build's tools on Debian only by chance, so
 * perl-base, which is essential there. */
#define LISTEN                                                                                \
	"helper: [perl, -MIO::Socket::INET, -e, 'my $s = IO::Socket::INET->new(Listen => 5, " \
	"LocalAddr => q(127.0.0.1), LocalPort => $ARGV[0], ReuseAddr => 1) or exit 3; "       \
	"my $c; close $c while $c = $s->accept', \"{port}\"]\n"
#define CONNECT                                                                                   \
	"perl, -MIO::Socket::INET, -e, 'my $c = IO::Socket::INET->new(PeerAddr => q(127.0.0.1), " \
	"PeerPort => $ARGV[0]) or exit 4; print qq(V=1\\n)', \"{port}\""

static void test_helper_listens_before_the_command_and_is_gone_after(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD(CONNECT, LISTEN), 3);
	assert_string_equal(f->reason, "");
	assert_string_equal(f->outcome, "pass");
	assert_int_equal(f->n_values, 3);
}

static void test_helper_that_ends_is_fail(void **state)
{
	struct fixture *f = *state;

	run(f, WORKLOAD("echo, V=1", "helper: [sh, -c, 'echo no luck; exit 1', \"{port}\"]\n"), 1);
	assert_string_equal(f->outcome, "fail");
	assert_non_null(strstr(f->reason, "helper 'sh' ends at once: no luck"));
	assert_int_equal(f->n_values, 0);
}

/* ---- one side of a pair ---- */

static void on_serving(void *data, uint16_t port)
{
	struct fixture *f = data;

	f->port = port;
	if (f->finish)
		workload_run_finish(f->run);
}

static void start_role(struct fixture *f, const char *yaml, enum workload_role role,
		       const char *host, uint64_t timeout_ns)
{
	struct workload_run_ops with_serving = ops;
	struct workload_run_spec spec = {.iterations = 2,
					 .timeout_ns = timeout_ns,
					 .group = &f->group,
					 .path = WORKLOAD_PATH,
					 .role = role,
					 .host = host,
					 .port = 7777};
	struct kg_err err = {""};

	with_serving.serving = on_serving;
	f->ops = with_serving;
	if (kg_workload_parse("test", yaml, strlen(yaml), &spec.workload, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(kg_workload_params(spec.workload, NULL, 0, &spec.params, &err), 0);
	assert_int_equal(workload_run_start(&f->loop, &spec, &f->ops, f, &f->run, &err), 0);
}

static void test_server_runs_no_command_and_passes_when_told_that_it_is_over(void **state)
{
	struct fixture *f = *state;

	f->finish = true;
	start_role(f, WORKLOAD("no-such-program-here", LISTEN), WORKLOAD_SERVER, "127.0.0.1", 0);
	finish(f);
	assert_string_equal(f->reason, "");
	assert_string_equal(f->outcome, "pass");
	assert_string_equal(f->stages, "serve ");
	assert_true(f->port >= 1024);
	assert_int_equal(f->n_values, 0);
}

static void test_server_that_nobody_tells_anything_ends_by_itself(void **state)
{
	struct fixture *f = *state;

	start_role(f, WORKLOAD("echo, V=1", LISTEN), WORKLOAD_SERVER, "127.0.0.1",
		   KG_NSEC_PER_SEC / 10);
	finish(f);
	assert_string_equal(f->outcome, "infra");
	assert_non_null(strstr(f->reason, "nobody said"));
}

static void test_server_needs_its_address(void **state)
{
	struct fixture *f = *state;

	start_role(f, WORKLOAD("echo, V=1", LISTEN), WORKLOAD_SERVER, "192.0.2.254", 0);
	finish(f);
	assert_string_equal(f->outcome, "harness-error");
	assert_string_equal(f->reason, "this machine does not have the address 192.0.2.254");
}

static void test_client_starts_no_helper_and_goes_to_its_server(void **state)
{
	struct fixture *f = *state;

	start_role(f,
		   WORKLOAD("echo, V=1, \"{host}\", \"{port}\"",
			    "helper: [no-such-program-here]\n"),
		   WORKLOAD_CLIENT, "192.0.2.7", 0);
	finish(f);
	assert_string_equal(f->outcome, "pass");
	assert_string_equal(kg_str_text(&f->out), "V=1 192.0.2.7 7777\nV=1 192.0.2.7 7777\n");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	T(test_each_iteration_gives_its_sample),
	T(test_a_nul_in_the_output_hides_nothing_behind_it),
	T(test_warmup_is_kept_apart),
	T(test_environment_is_fixed),
	T(test_streams_are_captured_apart),
	T(test_other_exit_status_is_fail),
	T(test_crash_is_fail),
	T(test_no_primary_value_is_fail),
	T(test_hang_is_run_timeout),
	T(test_whole_run_has_a_limit_of_its_own),
	T(test_flood_is_ended_as_fail),
	T(test_process_left_behind_is_killed_and_said),
	T(test_child_that_holds_the_pipe_does_not_hang_the_run),
	T(test_fork_tree_is_killed_with_its_root),
	T(test_missing_program_is_harness_error),
	T(test_run_can_be_killed_from_outside),
	T(test_run_killed_before_it_began_ends_once),
	T(test_run_killed_as_it_says_that_it_begins_ends_once),
	T(test_helper_listens_before_the_command_and_is_gone_after),
	T(test_helper_that_ends_is_fail),
	T(test_server_runs_no_command_and_passes_when_told_that_it_is_over),
	T(test_server_that_nobody_tells_anything_ends_by_itself),
	T(test_server_needs_its_address),
	T(test_client_starts_no_helper_and_goes_to_its_server),
};

int main(void)
{
	int failed;

	(void)signal(SIGPIPE, SIG_IGN);
	use_cgroup = false;
	failed = cmocka_run_group_tests_name("sessions", tests, NULL, NULL);
	use_cgroup = true; /* falls back to sessions where it cannot */
	return failed + cmocka_run_group_tests_name("cgroups", tests, NULL, NULL);
}
