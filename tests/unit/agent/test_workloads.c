/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The declarations that are shipped, against real output of their programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/workload.h"

struct given {
	const char *name, *value;
};

static struct kg_workload *load(const char *name)
{
	char path[512], *text;
	struct kg_workload *w;
	struct kg_err err = {""};
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/%s.yaml", KGRID_WORKLOADS, name);
	assert_int_equal(kg_file_read(path, 65536, &text, &len, &err), 0);
	if (kg_workload_parse(path, text, len, &w, &err) < 0)
		fail_msg("%s", err.text);
	free(text);
	assert_string_equal(w->name, name);
	return w;
}

static void complete(const struct kg_workload *w, const struct given *g, struct kg_params *p)
{
	struct kg_param_value values[8];
	struct kg_err err = {""};
	size_t n = 0;

	for (; g[n].name; n++) {
		values[n].name = (char *)(uintptr_t)g[n].name;
		values[n].value = (char *)(uintptr_t)g[n].value;
	}
	if (kg_workload_params(w, values, n, p, &err) < 0)
		fail_msg("%s", err.text);
}

/* The argument vector, joined by spaces. */
static void expect_argv(const char *name, const struct given *g, const char *want)
{
	struct kg_param_value extra[] = {{(char *)"port", (char *)"7777"},
					 {(char *)"host", (char *)"127.0.0.1"}};
	struct kg_workload *w = load(name);
	struct kg_texts argv = {0};
	struct kg_params p;
	struct kg_str s = {0};
	struct kg_err err = {""};
	size_t i;

	complete(w, g, &p);
	if (kg_workload_argv(w, &p, extra, w->helper.n ? 2 : 0, &argv, &err) < 0)
		fail_msg("%s", err.text);
	for (i = 0; i < argv.n; i++)
		kg_str_addf(&s, "%s%s", i ? " " : "", argv.items[i]);
	assert_string_equal(kg_str_text(&s), want);
	kg_str_deinit(&s);
	kg_texts_deinit(&argv);
	kg_params_deinit(&p);
	kg_workload_free(w);
}

/* Value of a metric read from a file of outputs; -1: refused. */
static double read_value(const char *name, const struct given *g, const char *metric,
			 const char *file)
{
	struct kg_workload *w = load(name);
	char path[512], *text;
	struct kg_params p;
	struct kg_err err;
	double *values, value = -1;
	size_t len, n, i;

	complete(w, g, &p);
	(void)snprintf(path, sizeof(path), "%s/agent/outputs/%s", KGRID_TEST_DATA, file);
	assert_int_equal(kg_file_read(path, 1 << 20, &text, &len, &err), 0);
	for (i = 0; i < w->n_metrics; i++) {
		if (strcmp(w->metrics[i].name, metric) != 0 ||
		    !kg_metric_applies(&w->metrics[i], &p))
			continue;
		if (kg_metric_read(&w->metrics[i], text, &values, &n, &err) == 0) {
			assert_int_equal(n, 1);
			value = values[0];
			free(values);
		}
	}
	free(text);
	kg_params_deinit(&p);
	kg_workload_free(w);
	return value;
}

static void test_netperf_stream_sends_messages_of_the_size(void **state)
{
	static const struct given g[] = {{"test", "TCP_STREAM"}, {"seconds", "3"}, {NULL, NULL}};

	(void)state;
	expect_argv(
		"netperf", g,
		"netperf -P 0 -4 -H 127.0.0.1 -p 7777 -t TCP_STREAM -l 3 -- -m 64 -k THROUGHPUT");
}

static void test_netperf_rr_asks_and_answers_with_the_size(void **state)
{
	static const struct given g[] = {{"test", "UDP_RR"}, {"size", "1"}, {NULL, NULL}};

	(void)state;
	expect_argv("netperf", g,
		    "netperf -P 0 -4 -H 127.0.0.1 -p 7777 -t UDP_RR -l 10 -- -r 1,1 -k THROUGHPUT");
	assert_true(read_value("netperf", g, "transactions", "netperf_UDP_RR_keyval.txt") ==
		    7549.56);
}

static void test_netperf_udp_stream_counts_what_arrived(void **state)
{
	static const struct given g[] = {{"test", "UDP_STREAM"}, {NULL, NULL}};

	(void)state;
	assert_true(read_value("netperf", g, "throughput", "netperf_UDP_STREAM_keyval.txt") ==
		    31.87);
	assert_true(read_value("netperf", g, "sent", "netperf_UDP_STREAM_keyval.txt") == 56.57);
}

static void test_netperf_without_result_has_no_value(void **state)
{
	static const struct given g[] = {{"test", "TCP_STREAM"}, {NULL, NULL}};

	(void)state;
	assert_true(read_value("netperf", g, "throughput", "netperf_noserver.txt") < 0);
	assert_true(read_value("netperf", g, "throughput", "netperf_TCP_STREAM_P0.txt") < 0);
}

static void test_netperf_warnings_are_no_values(void **state)
{
	static const struct given g[] = {{"test", "TCP_RR"}, {NULL, NULL}};

	(void)state;
	assert_true(read_value("netperf", g, "transactions", "netperf_warning_keyval.txt") ==
		    29411.19);
}

static void test_netperf_has_one_primary_metric_for_each_test(void **state)
{
	static const char *const tests[] = {"TCP_STREAM", "UDP_STREAM", "TCP_RR", "UDP_RR",
					    "TCP_CRR"};
	size_t t, i;

	(void)state;
	for (t = 0; t < 5; t++) {
		struct given g[] = {{"test", tests[t]}, {NULL, NULL}};
		struct kg_workload *w = load("netperf");
		struct kg_params p;

		complete(w, g, &p);
		for (i = 0; i < w->n_metrics; i++)
			if (kg_metric_applies(&w->metrics[i], &p))
				break;
		assert_true(i < w->n_metrics);
		assert_int_equal(w->metrics[i].direction, KG_DIR_HIGHER);
		kg_params_deinit(&p);
		kg_workload_free(w);
	}
}

static void test_hackbench_modes_and_channels(void **state)
{
	static const struct given a[] = {{"groups", "4"}, {"loops", "500"}, {NULL, NULL}};
	static const struct given b[] = {{"mode", "thread"}, {"channel", "socket"}, {NULL, NULL}};

	(void)state;
	expect_argv("hackbench", a, "hackbench -g 4 -l 500 -P -p");
	expect_argv("hackbench", b, "hackbench -g 1 -l 100 -T");
	assert_true(read_value("hackbench", a, "time", "hackbench_pipe_process.txt") == 0.865);
	assert_true(read_value("hackbench", b, "time", "hackbench_socket_threads.txt") == 3.368);
}

static void test_perf_bench_reads_time_per_operation(void **state)
{
	static const struct given a[] = {{"test", "sched-pipe"}, {"loops", "100000"}, {NULL, NULL}};
	static const struct given b[] = {{"test", "syscall-basic"}, {NULL, NULL}};

	(void)state;
	expect_argv("perf-bench", a, "perf bench sched pipe -l 100000");
	expect_argv("perf-bench", b, "perf bench syscall basic -l 1000000");
	assert_true(read_value("perf-bench", a, "time-per-operation", "perf_bench_pipe.txt") ==
		    33.015980);
	assert_true(read_value("perf-bench", b, "time-per-operation", "perf_bench_syscall.txt") ==
		    0.739694);
}

static void test_canary_reads_bytes_per_second(void **state)
{
	static const char output[] = "# function 'default' (Default memcpy() provided by glibc)\n"
				     "24750997285.495102\n";
	static const struct given g[] = {{"loops", "7"}, {NULL, NULL}};
	struct kg_workload *w = load("canary");
	double *values = NULL;
	struct kg_err err;
	size_t n;

	(void)state;
	assert_true(w->canary);
	assert_false(w->pair);
	expect_argv("canary", g, "perf bench -f simple mem memcpy -f default -s 4KB -l 7");
	if (kg_metric_read(&w->metrics[0], output, &values, &n, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(n, 1);
	assert_true(values[0] == 24750997285.495102);
	free(values);
	kg_workload_free(w);
}

/* Of the shipped ones only netperf has a server, which listens on the one address it is given. */
static void test_what_can_be_a_pair(void **state)
{
	static const char *const names[] = {"netperf", "hackbench", "perf-bench", "canary"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct kg_workload *w = load(names[i]);

		assert_int_equal(w->pair, i == 0);
		assert_int_equal(w->canary, i == 3);
		kg_workload_free(w);
	}
}

static void test_netperf_talks_to_the_server_of_its_peer(void **state)
{
	static const struct given g[] = {{"test", "TCP_RR"}, {NULL, NULL}};
	struct kg_param_value extra[] = {{(char *)"port", (char *)"7777"},
					 {(char *)"host", (char *)"192.0.2.7"}};
	struct kg_workload *w = load("netperf");
	struct kg_texts argv = {0};
	struct kg_params p;
	struct kg_err err;

	(void)state;
	complete(w, g, &p);
	assert_int_equal(kg_workload_argv(w, &p, extra, 2, &argv, &err), 0);
	assert_string_equal(argv.items[4], "-H");
	assert_string_equal(argv.items[5], "192.0.2.7");
	kg_texts_deinit(&argv);
	assert_int_equal(kg_workload_helper_argv(w, &p, extra, 2, &argv, &err), 0);
	assert_string_equal(argv.items[3], "-L");
	assert_string_equal(argv.items[4], "192.0.2.7");
	kg_texts_deinit(&argv);
	kg_params_deinit(&p);
	kg_workload_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netperf_stream_sends_messages_of_the_size),
		cmocka_unit_test(test_netperf_rr_asks_and_answers_with_the_size),
		cmocka_unit_test(test_netperf_udp_stream_counts_what_arrived),
		cmocka_unit_test(test_netperf_without_result_has_no_value),
		cmocka_unit_test(test_netperf_warnings_are_no_values),
		cmocka_unit_test(test_netperf_has_one_primary_metric_for_each_test),
		cmocka_unit_test(test_hackbench_modes_and_channels),
		cmocka_unit_test(test_perf_bench_reads_time_per_operation),
		cmocka_unit_test(test_canary_reads_bytes_per_second),
		cmocka_unit_test(test_what_can_be_a_pair),
		cmocka_unit_test(test_netperf_talks_to_the_server_of_its_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
