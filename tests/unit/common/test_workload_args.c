/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>

#include "common/workload.h"
#include "tests/lib/alloc_fault.h"

static const char declaration[] =
	"name: w\n"
	"parameters:\n"
	"  test: {type: choice, choices: [A, B], required: true}\n"
	"  size: {type: int, min: 1, max: 100, default: 64}\n"
	"  buffer: {type: bytes, default: 1KiB}\n"
	"  note: {type: text}\n"
	"helper: [serve, '{port}']\n"
	"command: [run, '{test}', '{{{size}}}', -b, 'x{buffer}y{buffer}']\n"
	"arguments:\n"
	"  - {when: {note: [hello, '{size}']}, add: ['{note}']}\n"
	"  - {when: {test: B, size: [1, 2]}, add: [extra]}\n"
	"duration: '{size}ms'\n"
	"metrics: [{name: m, unit: s, direction: lower, when: {test: A}, read: {keyval: K}}]\n";

static struct kg_workload *w;

static int parse(void **state)
{
	struct kg_err err;

	(void)state;
	return kg_workload_parse("f", declaration, sizeof(declaration) - 1, &w, &err);
}

static int unparse(void **state)
{
	(void)state;
	kg_workload_free(w);
	return 0;
}

static struct kg_params completed(const struct kg_param_value *given, size_t n)
{
	struct kg_params p = {0};
	struct kg_err err;

	if (kg_workload_params(w, given, n, &p, &err) < 0)
		fail_msg("refused: %s", err.text);
	return p;
}

static void check_normalised(const char *param, const char *value, const char *expected)
{
	struct kg_err err = {{0}};
	char *text = NULL;
	int rc = kg_workload_normalise(w, param, value, &text, &err);

	if (rc < 0)
		fail_msg("refused: %s", err.text);
	assert_string_equal(text, expected);
	free(text);
}

static void check_not_normalised(const char *param, const char *value, const char *complaint)
{
	struct kg_err err = {{0}};
	char *text = NULL;

	assert_int_equal(kg_workload_normalise(w, param, value, &text, &err), KG_EINVALID);
	assert_null(text);
	assert_string_equal(err.text, complaint);
}

static void test_values_are_normalised(void **state)
{
	(void)state;
	check_normalised("size", "007", "7");
	check_normalised("buffer", "64KiB", "65536");
	check_normalised("buffer", "65536", "65536");
	check_normalised("test", "A", "A");
	check_normalised("note", "two words", "two words");
}

static void test_bad_values_say_what_would_be_right(void **state)
{
	(void)state;
	check_not_normalised("size", "x", "'size': expected a whole number from 1 to 100, not 'x'");
	check_not_normalised("size", "101",
			     "'size': expected a whole number from 1 to 100, not '101'");
	check_not_normalised("size", "1KiB",
			     "'size': expected a whole number from 1 to 100, not '1KiB'");
	check_not_normalised("buffer", "-1", "'buffer': expected a size such as 64KiB, not '-1'");
	check_not_normalised("test", "a",
			     "'test': expected one of A, B, not 'a'; did you mean 'A'?");
	check_not_normalised("note", "-rf",
			     "'note': expected 1 to 256 printable characters that do "
			     "not begin with '-'");
	check_not_normalised("note", "a\nb",
			     "'note': expected 1 to 256 printable characters that do "
			     "not begin with '-'");
	check_not_normalised("note", "\xff",
			     "'note': expected 1 to 256 printable characters that do "
			     "not begin with '-'");
	check_not_normalised("siz", "1", "'w' has no parameter 'siz'; did you mean 'size'?");
	check_not_normalised("colour", "1",
			     "'w' has no parameter 'colour'; it has test, size, buffer, note");
}

/* One parameter with a unit: what a value becomes; NULL: it is refused. */
static void with_unit(const char *type, const char *unit, const char *value, const char *expected)
{
	struct kg_workload *u = NULL;
	struct kg_str text = {0};
	struct kg_err err = {{0}};
	char *got = NULL;
	int rc;

	kg_str_addf(&text,
		    "name: u\nparameters: {p: {type: %s, unit: %s}}\ncommand: [x]\n"
		    "metrics: [{name: m, unit: s, direction: lower, read: {keyval: K}}]\n",
		    type, unit);
	if (kg_workload_parse("f", text.text, text.len, &u, &err) < 0)
		fail_msg("%s", err.text);
	rc = kg_workload_normalise(u, "p", value, &got, &err);
	if (!expected)
		assert_int_equal(rc, KG_EINVALID);
	else if (rc < 0)
		fail_msg("'%s' of %s: %s", value, unit, err.text);
	else
		assert_string_equal(got, expected);
	free(got);
	kg_workload_free(u);
	kg_str_deinit(&text);
}

static void test_numbers_may_have_the_unit_of_their_parameter(void **state)
{
	static const struct {
		const char *unit, *value, *expected;
	} rows[] = {
		{"s", "10s", "10"},
		{"s", "10", "10"},
		{"s", "2min", "120"},
		{"s", "1h", "3600"},
		{"s", "2000ms", "2"},
		{"seconds", "1.5min", "90"},
		{"s", "1500ms", NULL},
		{"s", "1.5s", NULL},
		{"s", "1.5", NULL},
		{"s", "-5s", NULL},
		{"s", "-5", "-5"},
		{"s", "s", NULL},
		{"s", "10 s", NULL},
		{"s", "10x", NULL},
		{"s", "64KiB", NULL},
		{"s", "", NULL},
		{"s", "1e3s", NULL},
		{"s", "0x10", NULL},
		{"s", "0s", "0"},
		{"ms", "1s", "1000"},
		{"ms", "10us", NULL},
		{"us", "3ms", "3000"},
		{"ns", "1us", "1000"},
		{"min", "90min", "90"},
		{"min", "2h", "120"},
		{"min", "90s", NULL},
		{"hours", "1d", "24"},
		{"days", "48h", "2"},
		{"bytes", "64KiB", "65536"},
		{"bytes", "1kB", "1000"},
		{"bytes", "64", "64"},
		{"bytes", "10s", NULL},
		{"KiB", "1MiB", "1024"},
		{"KiB", "512B", NULL},
		{"MB", "3GB", "3000"},
		{"MiB", "1GiB", "1024"},
		{"B", "1.5KiB", "1536"},
		{"pages", "4KiB", NULL},
		{"threads", "10s", NULL},
		{"ns", "99999999999h", NULL},
		{"s", "99999999999999999999", NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		with_unit("int", rows[i].unit, rows[i].value, rows[i].expected);
	with_unit("bytes", "bytes", "64KiB", "65536");
	with_unit("bytes", "bytes", "10s", NULL);
	with_unit("text", "s", "10s", "10s");
}

static void test_params_are_completed_and_sorted(void **state)
{
	struct kg_param_value given[] = {{"test", "A"}};
	struct kg_params p = completed(given, 1);
	char *text = kg_params_text(&p);

	(void)state;
	assert_string_equal(text, "buffer=1024 size=64 test=A");
	assert_string_equal(kg_params_get(&p, "size"), "64");
	assert_null(kg_params_get(&p, "note"));
	free(text);
	kg_params_deinit(&p);
	kg_params_deinit(&p);
}

static void test_params_text_is_unambiguous(void **state)
{
	struct kg_param_value given[] = {{"test", "A"}, {"note", "x size=\"1\\"}};
	struct kg_params p = completed(given, 2);
	char *text = kg_params_text(&p);

	(void)state;
	assert_string_equal(text, "buffer=1024 note=\"x size=\\\"1\\\\\" size=64 test=A");
	free(text);
	kg_params_deinit(&p);
}

static void check_params_refused(const struct kg_param_value *given, size_t n,
				 const char *complaint)
{
	struct kg_params p = {0};
	struct kg_err err = {{0}};

	assert_int_equal(kg_workload_params(w, given, n, &p, &err), KG_EINVALID);
	assert_null(p.items);
	assert_string_equal(err.text, complaint);
}

static void test_missing_undeclared_and_double_parameters_are_refused(void **state)
{
	struct kg_param_value twice[] = {{"test", "A"}, {"test", "B"}};
	struct kg_param_value unknown[] = {{"test", "A"}, {"sizes", "1"}};

	(void)state;
	check_params_refused(NULL, 0, "'w' needs the parameter 'test'");
	check_params_refused(twice, 2, "parameter 'test' is given twice");
	check_params_refused(unknown, 2, "'w' has no parameter 'sizes'; did you mean 'size'?");
}

static void check_argv(const struct kg_param_value *given, size_t n, const char *expected)
{
	struct kg_params p = completed(given, n);
	struct kg_str joined = {0};
	struct kg_texts argv;
	struct kg_err err;
	size_t i;

	assert_int_equal(kg_workload_argv(w, &p, NULL, 0, &argv, &err), 0);
	for (i = 0; i < argv.n; i++)
		kg_str_addf(&joined, "[%s]", argv.items[i]);
	assert_string_equal(kg_str_text(&joined), expected);
	assert_null(argv.items[argv.n]);
	kg_str_deinit(&joined);
	kg_texts_deinit(&argv);
	kg_params_deinit(&p);
}

static void test_argv_is_filled_in_and_extended(void **state)
{
	struct kg_param_value a[] = {{"test", "A"}};
	struct kg_param_value note[] = {{"test", "A"}, {"note", "hello"}};
	struct kg_param_value b[] = {{"test", "B"}, {"size", "2"}};
	struct kg_param_value b3[] = {{"test", "B"}, {"size", "3"}};

	(void)state;
	check_argv(a, 1, "[run][A][{64}][-b][x1024y1024]");
	check_argv(note, 2, "[run][A][{64}][-b][x1024y1024][hello]");
	check_argv(b, 2, "[run][B][{2}][-b][x1024y1024][extra]");
	check_argv(b3, 2, "[run][B][{3}][-b][x1024y1024]");
}

static void test_what_was_filled_in_is_not_filled_in_again(void **state)
{
	struct kg_param_value given[] = {{"test", "A"}, {"note", "{size}"}};

	(void)state;
	check_argv(given, 2, "[run][A][{64}][-b][x1024y1024][{size}]");
}

static void test_helper_takes_extra_names(void **state)
{
	struct kg_param_value given[] = {{"test", "A"}};
	struct kg_param_value port[] = {{"port", "4711"}};
	struct kg_params p = completed(given, 1);
	struct kg_texts argv;
	struct kg_err err;

	(void)state;
	assert_int_equal(kg_workload_helper_argv(w, &p, port, 1, &argv, &err), 0);
	assert_int_equal(argv.n, 2);
	assert_string_equal(argv.items[1], "4711");
	assert_null(argv.items[2]);
	kg_texts_deinit(&argv);
	assert_int_equal(kg_workload_helper_argv(w, &p, NULL, 0, &argv, &err), KG_EINVALID);
	assert_string_equal(err.text, "helper of 'w': '{port}' has no value");
	kg_params_deinit(&p);
}

static void test_a_parameter_host_is_its_own(void **state)
{
	static const char text[] =
		"name: old\nparameters: {host: {type: text, default: box}}\nhelper: [h, '{port}']\n"
		"command: [x, '{host}', '{port}']\n"
		"metrics: [{name: m, unit: s, direction: lower, read: {keyval: K}}]\n";
	struct kg_param_value extra[] = {{"port", "7"}, {"host", "127.0.0.1"}};
	struct kg_texts argv = {0};
	struct kg_workload *u;
	struct kg_params p;
	struct kg_err err;

	(void)state;
	assert_int_equal(kg_workload_parse("f", text, sizeof(text) - 1, &u, &err), 0);
	assert_int_equal(kg_workload_params(u, NULL, 0, &p, &err), 0);
	assert_int_equal(kg_workload_argv(u, &p, extra, 2, &argv, &err), 0);
	assert_string_equal(argv.items[1], "box");
	assert_string_equal(argv.items[2], "7");
	kg_texts_deinit(&argv);
	kg_params_deinit(&p);
	kg_workload_free(u);
}

static void test_duration_follows_the_parameters(void **state)
{
	struct kg_param_value given[] = {{"test", "A"}, {"size", "7"}};
	struct kg_params p = completed(given, 2);
	struct kg_params none = {0};

	(void)state;
	assert_int_equal(kg_workload_duration_ns(w, &p), 7000000);
	assert_int_equal(kg_workload_duration_ns(w, &none), 10000000000ULL);
	kg_params_deinit(&p);
}

static void test_metric_applies_when_its_condition_holds(void **state)
{
	struct kg_param_value a[] = {{"test", "A"}}, b[] = {{"test", "B"}};
	struct kg_params p = completed(a, 1);

	(void)state;
	assert_true(kg_metric_applies(&w->metrics[0], &p));
	kg_params_deinit(&p);
	assert_false(kg_metric_applies(&w->metrics[0], &p));
	p = completed(b, 1);
	assert_false(kg_metric_applies(&w->metrics[0], &p));
	kg_params_deinit(&p);
}

static void test_out_of_memory_leaks_nothing(void **state)
{
	struct kg_param_value given[] = {{"test", "A"}, {"note", "hello"}};
	struct kg_texts argv = {0};
	struct kg_params p = {0};
	struct kg_err err;
	unsigned n;
	int rc;

	(void)state;
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = kg_workload_params(w, given, 2, &p, &err);
		if (rc == 0)
			rc = kg_workload_argv(w, &p, NULL, 0, &argv, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
		kg_params_deinit(&p);
	}
	assert_int_equal(rc, 0);
	assert_true(n > 10);
	kg_params_deinit(&p);
	kg_texts_deinit(&argv);
}

/* "64KiB" does not look like more than 65507. */
static void test_value_over_a_limit_is_shown_in_the_unit_of_the_limit(void **state)
{
	static const char text[] =
		"name: w\ncommand: [x]\nparameters:\n"
		"  size: {type: int, min: 64, max: 65507, default: 64, unit: bytes}\n"
		"  wait: {type: int, min: 1, max: 60, default: 1, unit: s}\n"
		"  buffer: {type: bytes, max: 1MiB, default: 64}\n"
		"metrics: [{name: m, unit: s, direction: lower, read: {keyval: K}}]\n";
	static const char *const cases[][3] = {
		{"size", "64KiB",
		 "'size': expected a whole number from 64 to 65507, not '64KiB', which is 65536 "
		 "bytes and more than the limit"},
		{"size", "10B", "which is 10 bytes and less than the limit"},
		{"size", "65508", "from 64 to 65507, not '65508'"},
		{"wait", "2min", "not '2min'"},
		{"wait", "2m",
		 "'wait': expected a whole number from 1 to 60, not '2m', which is "
		 "120 s and more than the limit"},
		{"buffer", "2MiB", "not '2MiB', which is 2097152 and more than the limit"},
		{"size", "1KB", "not '1KB'; 'kB' is 1000 bytes, 'KiB' is 1024"},
		{"buffer", "1m", "not '1m'; 'MB' is 1000 kB, 'MiB' is 1024 KiB"},
	};
	struct kg_workload *x;
	struct kg_err err = {{0}};
	size_t i;

	(void)state;
	if (kg_workload_parse("f", text, sizeof(text) - 1, &x, &err) < 0)
		fail_msg("%s", err.text);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *value = NULL;

		assert_int_equal(kg_workload_normalise(x, cases[i][0], cases[i][1], &value, &err),
				 KG_EINVALID);
		if (!strstr(err.text, cases[i][2]))
			fail_msg("'%s' is not in '%s'", cases[i][2], err.text);
	}
	kg_workload_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_value_over_a_limit_is_shown_in_the_unit_of_the_limit),
		cmocka_unit_test(test_values_are_normalised),
		cmocka_unit_test(test_bad_values_say_what_would_be_right),
		cmocka_unit_test(test_numbers_may_have_the_unit_of_their_parameter),
		cmocka_unit_test(test_params_are_completed_and_sorted),
		cmocka_unit_test(test_params_text_is_unambiguous),
		cmocka_unit_test(test_missing_undeclared_and_double_parameters_are_refused),
		cmocka_unit_test(test_argv_is_filled_in_and_extended),
		cmocka_unit_test(test_what_was_filled_in_is_not_filled_in_again),
		cmocka_unit_test(test_helper_takes_extra_names),
		cmocka_unit_test(test_a_parameter_host_is_its_own),
		cmocka_unit_test(test_duration_follows_the_parameters),
		cmocka_unit_test(test_metric_applies_when_its_condition_holds),
		cmocka_unit_test(test_out_of_memory_leaks_nothing),
	};

	return cmocka_run_group_tests(tests, parse, unparse);
}
