/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>

#include "common/workload.h"
#include "tests/lib/alloc_fault.h"

#define METRIC "metrics: [{name: m, unit: s, direction: lower, read: {keyval: K}}]\n"

static const char whole[] =
	"name: netperf\n"
	"description: network performance over loopback\n"
	"parameters:\n"
	"  test: {type: choice, choices: [TCP_STREAM, UDP_RR], required: true}\n"
	"  size: {type: int, min: 1, max: 65507, default: 64, unit: bytes}\n"
	"  seconds: {type: int, min: 1, max: 3600, default: 10}\n"
	"  buffer: {type: bytes, min: 1KiB, max: 1MiB, default: 64KiB}\n"
	"  note: {type: text, help: free words}\n"
	"requires: [netperf, netserver]\n"
	"version: [netperf, -V]\n"
	"helper: [netserver, -D, -p, \"{port}\"]\n"
	"command: [netperf, -P, \"0\", -p, \"{port}\", -t, \"{test}\", -l, \"{seconds}\"]\n"
	"arguments:\n"
	"  - {when: {test: [TCP_STREAM]}, add: [\"--\", -m, \"{size}\"]}\n"
	"  - {when: {test: UDP_RR, buffer: 64KiB}, add: [\"--\", -r, \"{size},{size}\"]}\n"
	"environment: {LC_ALL: C, N2: two words}\n"
	"warm-up: {seconds: 2}\n"
	"duration: \"{seconds}\"\n"
	"timeout: 90s\n"
	"metrics:\n"
	"  - name: throughput\n"
	"    unit: Mbit/s\n"
	"    direction: higher\n"
	"    when: {test: TCP_STREAM}\n"
	"    read: {keyval: THROUGHPUT}\n"
	"  - {name: time, unit: s, direction: lower, stream: stderr, which: last,\n"
	"     read: {line: \"Time: {value} s\"}}\n"
	"  - {name: ops, unit: ops/s, direction: none, min-effect: 2.5,\n"
	"     read: {regex: \"^ +([0-9.]+) ops/sec$\", which: each}}\n";

static struct kg_workload *parsed(const char *text)
{
	struct kg_workload *w = NULL;
	struct kg_err err;

	if (kg_workload_parse("f", text, strlen(text), &w, &err) < 0)
		fail_msg("refused: %s", err.text);
	return w;
}

static void check_refused(const char *text, const char *complaint)
{
	struct kg_workload *w = NULL;
	struct kg_err err = {{0}};

	if (kg_workload_parse("f", text, strlen(text), &w, &err) != KG_EINVALID)
		fail_msg("accepted, expected '%s'", complaint);
	assert_null(w);
	assert_contains(err.text, complaint);
}

static void test_whole_declaration_is_read(void **state)
{
	struct kg_workload *w = parsed(whole);

	(void)state;
	assert_string_equal(w->name, "netperf");
	assert_int_equal(w->n_params, 5);
	assert_int_equal(w->params[0].type, KG_PARAM_CHOICE);
	assert_true(w->params[0].required);
	assert_int_equal(w->params[0].choices.n, 2);
	assert_string_equal(w->params[1].preset, "64");
	assert_string_equal(w->params[1].unit, "bytes");
	assert_int_equal(w->params[3].min, 1024);
	assert_string_equal(w->params[3].preset, "65536");
	assert_null(w->params[4].preset);
	assert_int_equal(w->requires.n, 2);
	assert_int_equal(w->version.n, 2);
	assert_string_equal(w->version.items[1], "-V");
	assert_int_equal(w->n_arguments, 2);
	assert_string_equal(w->arguments[1].when.items[1].values.items[0], "65536");
	assert_string_equal(w->environment.items[1], "N2=two words");
	assert_int_equal(w->warmup_runs, 0);
	assert_int_equal(w->warmup_ns, 2000000000);
	assert_int_equal(w->timeout_ns, 90000000000ULL);
	assert_int_equal(w->n_metrics, 3);
	assert_int_equal(w->metrics[0].direction, KG_DIR_HIGHER);
	assert_true(w->metrics[0].min_effect_pct == 1);
	assert_true(w->metrics[2].min_effect_pct == 2.5);
	assert_int_equal(w->metrics[0].which, KG_READ_ONE);
	assert_int_equal(w->metrics[0].when.n, 1);
	assert_true(w->metrics[1].from_stderr);
	assert_int_equal(w->metrics[1].which, KG_READ_LAST);
	assert_int_equal(w->metrics[2].which, KG_READ_EACH);
	assert_int_equal(w->metrics[2].direction, KG_DIR_NONE);
	kg_workload_free(w);
}

static void test_smallest_declaration_has_defaults(void **state)
{
	struct kg_workload *w = parsed("name: w\ncommand: [true]\n" METRIC);

	(void)state;
	assert_int_equal(w->timeout_ns, 60000000000ULL);
	assert_null(w->duration);
	assert_int_equal(w->n_params, 0);
	assert_int_equal(w->helper.n, 0);
	assert_int_equal(w->version.n, 0);
	kg_workload_free(w);
	kg_workload_free(NULL);
}

static void test_parameters_are_checked(void **state)
{
	(void)state;
#define P(body) "name: w\nparameters:\n  " body "\ncommand: [x]\n" METRIC
	check_refused(P("a: {type: integer}"),
		      "f:3:13: 'type': expected one of int, bytes, choice, text");
	check_refused(P("a: {}"), "f:3:6: missing key 'type'");
	check_refused(P("a: int"), "expected a mapping");
	check_refused(P("a: {type: int, min: 5, max: 4}"),
		      "f:3:23: parameter 'a': 'min' is larger than 'max'");
	check_refused(P("a: {type: int, min: x}"), "'min' is not a number");
	check_refused(P("a: {type: bytes, max: 1x}"), "'max' is not a number");
	check_refused(P("a: {type: text, min: 1}"), "only int and bytes have a range");
	check_refused(P("a: {type: int, choices: [1]}"), "'choices' needs 'type: choice'");
	check_refused(P("a: {type: choice}"), "a choice needs 'choices: [...]'");
	check_refused(P("a: {type: choice, choices: [x, x]}"), "a choice stands twice");
	check_refused(P("a: {type: choice, choices: ['']}"), "1 to 256 printable");
	check_refused(P("a: {type: choice, choices: [-f]}"), "not first '-'");
	check_refused(P("a: {type: int, max: 3, default: 4}"),
		      "f:3:35: default: 'a': expected a whole number of at most 3, not '4'");
	check_refused(P("a: {type: int, default: 4, required: true}"),
		      "a required parameter has no default");
	check_refused(P("port: {type: int}"), "f:3:3: 'port' cannot be the name of a parameter");
	kg_workload_free(parsed(P("host: {type: int}"))); /* from before pairs */
	check_refused(P("host: {type: int}") "helper: [h]\npair: true\n",
		      "f:3:3: 'host' cannot be the name of a parameter");
	check_refused(P("a b: {type: int}"), "cannot be the name of a parameter");
	check_refused("name: w\nparameters: [a]\ncommand: [x]\n" METRIC,
		      "'parameters': expected a mapping");
#undef P
}

static void test_commands_are_checked(void **state)
{
	(void)state;
#define C(body) \
	"name: w\nparameters: {a: {type: int}, b: {type: int, default: 1}}\n" body "\n" METRIC
	check_refused(C("command: []"), "f:3:10: 'command': the program is missing");
	check_refused(C("command: ['']"), "the program is missing");
	check_refused(C("command: ['{b}']"), "the program itself cannot be a parameter");
	check_refused(C("command: [x, '{c}']"),
		      "f:3:14: 'c' is not a declared parameter; did you mean 'a'?");
	check_refused(C("command: [x, '{a}']"), "parameter 'a' may have no value here");
	check_refused(C("command: [x, '{b']"), "bad '{' or '}'");
	check_refused(C("command: [x, 'b}']"), "bad '{' or '}'");
	check_refused(C("command: [x, '{}']"), "bad '{' or '}'");
	check_refused(C("command: [x, '{b{b}}']"), "bad '{' or '}'");
	check_refused(C("command: [x, '{port}']"),
		      "f:3:14: '{port}' is for workloads with a helper");
	check_refused(C("command: [x]\nversion: []"), "'version': the program is missing");
	check_refused(C("command: [x]\nversion: [x, '{b}']"), "there are no parameters here");
	check_refused(C("command: [x]\nhelper: ['{b}']"), "'helper': the program itself");
	check_refused(C("command: [x]\narguments: [{add: ['{a}']}]"), "may have no value here");
	check_refused(C("command: [x]\narguments: [{when: {c: 1}, add: [y]}]"),
		      "f:4:21: 'c' is not a declared parameter");
	check_refused(C("command: [x]\narguments: [{when: {b: z}, add: [y]}]"),
		      "f:4:24: 'b': expected a whole number");
	check_refused(C("command: [x]\narguments: [{when: {b: []}, add: [y]}]"),
		      "expected a value or a list");
	check_refused(C("command: [x]\narguments: [{when: b, add: [y]}]"),
		      "'when': expected a mapping");
	check_refused(C("command: [x]\narguments: {add: [y]}"), "'arguments': expected a list");
	check_refused(C("command: [x]\nduration: soon"), "'duration': expected a time");
	check_refused(C("command: [x]\nduration: '{c}'"), "'c' is not a declared parameter");
	check_refused(C("command: [x]\nenvironment: {1A: x}"),
		      "'1A' is not the name of an environment variable");
	check_refused(C("command: [x]\nenvironment: {A: [x]}"), "'A': expected text");
	check_refused(C("command: [x]\nenvironment: A"), "'environment': expected a mapping");
	check_refused(C("command: [x]\nwarm-up: {runs: 1, seconds: 2}"), "either runs or seconds");
	check_refused(C("command: [x]\ncomand: [x]"),
		      "unknown key 'comand'; did you mean 'command'?");
#undef C
}

static void test_pairs_and_canaries(void **state)
{
	struct kg_workload *w = parsed("name: w\nhelper: [h, '{host}', '{port}']\n"
				       "command: [x, '{host}:{port}']\npair: true\n" METRIC);

	(void)state;
	assert_true(w->pair);
	assert_false(w->canary);
	kg_workload_free(w);
	w = parsed("name: w\nparameters: {a: {type: int}}\nhelper: [h]\ncommand: [x]\n"
		   "arguments: [{when: {a: 1}, add: ['{host}']}]\npair: true\n" METRIC);
	assert_true(w->pair);
	kg_workload_free(w);
	w = parsed("name: w\ncommand: [x]\ncanary: true\npair: false\n" METRIC);
	assert_true(w->canary);
	assert_false(w->pair);
	kg_workload_free(w);
	check_refused("name: w\ncommand: [x]\npair: true\n" METRIC,
		      "f:3:7: 'pair': there is no 'helper'");
	check_refused(
		"name: w\nhelper: [h, '{host}']\ncommand: [x, '{{host}}']\npair: true\n" METRIC,
		"f:4:7: 'pair': nothing in 'command' names {host}");
	check_refused("name: w\ncommand: [x, '{host}']\n" METRIC,
		      "'{host}' is for workloads with a helper");
	check_refused("name: w\ncommand: [x]\ncanary: perhaps\n" METRIC, "'canary'");
}

static void test_argument_may_use_what_its_condition_names(void **state)
{
	(void)state;
	kg_workload_free(parsed("name: w\nparameters: {a: {type: int}}\ncommand: [x]\n"
				"arguments: [{when: {a: [1, 2]}, add: ['{a}']}]\n" METRIC));
}

static void test_metrics_are_checked(void **state)
{
	(void)state;
#define M(body) "name: w\ncommand: [x]\nmetrics: [{name: m, unit: s, direction: lower, " body "}]\n"
	check_refused("name: w\ncommand: [x]\n", "missing key 'metrics'");
	check_refused("name: w\ncommand: [x]\nmetrics: []\n",
		      "f:3:10: 'metrics': expected a list of 1 to");
	check_refused("name: w\ncommand: [x]\nmetrics: {}\n", "'metrics': expected a list");
	check_refused(M("read: {}"), "'read': expected exactly one of keyval, line, regex");
	check_refused(M("read: {keyval: A, line: '{value}'}"), "exactly one of");
	check_refused(M("read: {keyval: A=}"), "'keyval': expected the word before '='");
	check_refused(M("read: {line: Time}"), "exactly one {value}");
	check_refused(M("read: {line: '{value} {value}'}"), "exactly one {value}");
	check_refused(M("read: {line: \"a\\n{value}\"}"), "expected one line");
	check_refused(M("read: {regex: 'a'}"), "expected one group around the number, not 0");
	check_refused(M("read: {regex: '(a)(b)'}"), "not 2");
	check_refused(M("read: {regex: '('}"), "'regex': ");
	check_refused(M("read: {regex: '(a)\\1'}"), "back references");
	check_refused(M("read: {regex: '(a{1001})'}"), "repeats too much");
	check_refused(M("read: {regex: '((a{40}){40})'}"), "repeats too much");
	check_refused(M("which: first, read: {keyval: A, which: last}"),
		      "'which' stands here and in 'read'");
	check_refused(M("which: all, read: {keyval: A}"),
		      "'which': expected one of one, first, last, each");
	check_refused(M("stream: tty, read: {keyval: A}"),
		      "'stream': expected one of stdout, stderr");
	check_refused("name: w\ncommand: [x]\nmetrics: [{name: m, unit: s, read: {keyval: A}}]\n",
		      "missing key 'direction'");
#undef M
}

static void test_out_of_memory_leaks_nothing(void **state)
{
	struct kg_workload *w;
	struct kg_err err;
	unsigned n;
	int rc;

	(void)state;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = kg_workload_parse("f", whole, sizeof(whole) - 1, &w, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_true(n > 100);
	assert_int_equal(rc, 0);
	kg_workload_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_declaration_is_read),
		cmocka_unit_test(test_smallest_declaration_has_defaults),
		cmocka_unit_test(test_parameters_are_checked),
		cmocka_unit_test(test_commands_are_checked),
		cmocka_unit_test(test_pairs_and_canaries),
		cmocka_unit_test(test_argument_may_use_what_its_condition_names),
		cmocka_unit_test(test_metrics_are_checked),
		cmocka_unit_test(test_out_of_memory_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
