/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <time.h>

#include "cli/select.h"
#include "cli/when.h"
#include "common/clock.h"
#include "tests/lib/cmocka_all.h"

#define NOW_NS 1700000000000000000 /* 2023-11-14T22:13:20Z */

/* Parses a line (split at spaces) and reads its selection. */
static int selection_of(const char *line, struct cli_args *ret_args, struct selection *ret,
			struct kg_err *err)
{
	static char copy[512];
	char *argv[40], *save = NULL, *word;
	int argc = 0;

	(void)snprintf(copy, sizeof(copy), "kgrid %s", line);
	for (word = strtok_r(copy, " ", &save); word && argc < 39;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	assert_int_equal(cli_args_parse(argc, argv, ret_args, err), 0);
	return selection_read(ret_args, cli_args_job(ret_args), NOW_NS, ret, err);
}

static void test_options_become_a_selection(void **state)
{
	struct cli_args args;
	struct selection s;
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(selection_of("compare 3 --job 4 -j 5 --machine m --kernel k --lsm l "
				      "--workload w --param size=64 -p test=a=b --metric x",
				      &args, &s, &err),
			 0);
	assert_int_equal(s.message.n_jobs, 3);
	assert_int_equal(s.message.jobs[0], 3);
	assert_int_equal(s.message.jobs[2], 5);
	assert_string_equal(s.message.machine, "m");
	assert_string_equal(s.message.kernel, "k");
	assert_string_equal(s.message.lsm, "l");
	assert_string_equal(s.message.workload, "w");
	assert_string_equal(s.message.metric, "x");
	assert_int_equal(s.message.n_params, 2);
	assert_string_equal(s.message.params[1], "test=a=b");
	assert_false(s.message.has_since_ns);
	assert_true(selection_is_wider(&s));
}

static void test_one_job_and_a_metric_are_the_short_form(void **state)
{
	struct cli_args args;
	struct selection s;
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(selection_of("compare", &args, &s, &err), 0);
	assert_false(selection_is_wider(&s));
	assert_int_equal(selection_of("compare 3 --metric rate", &args, &s, &err), 0);
	assert_false(selection_is_wider(&s));
	assert_int_equal(selection_of("compare --since 2d", &args, &s, &err), 0);
	assert_true(selection_is_wider(&s));
	assert_int_equal(s.message.since_ns, NOW_NS - 2 * 86400 * (int64_t)KG_NSEC_PER_SEC);
}

static void test_wrong_values_name_what_is_right(void **state)
{
	static const struct {
		const char *line, *text;
	} rows[] = {
		{"compare --job x", "not the number of a job: 'x'"},
		{"compare --job 0", "not the number of a job: '0'"},
		{"compare --param size", "NAME=VALUE"},
		{"compare --param =64", "NAME=VALUE"},
		{"compare --param size=", "NAME=VALUE"},
		{"compare --since yesterday", "not a time: 'yesterday'"},
		{"compare 3 --all-jobs", "do not go together"},
	};
	struct cli_args args;
	struct selection s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kg_err err = {{0}};

		assert_int_equal(selection_of(rows[i].line, &args, &s, &err), KG_EINVALID);
		assert_contains(err.text, rows[i].text);
	}
}

static int policy_of(const char *line, Kgrid__V1__CompareRequest *q, struct kg_err *err)
{
	struct cli_args args;
	struct selection s;

	*q = (Kgrid__V1__CompareRequest)KGRID__V1__COMPARE_REQUEST__INIT;
	assert_int_equal(selection_of(line, &args, &s, err), 0);
	return policy_read(&args, q, err);
}

static void test_policy_is_absent_unless_given(void **state)
{
	Kgrid__V1__CompareRequest q;
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(policy_of("compare", &q, &err), 0);
	assert_false(q.has_alpha || q.has_min_effect_pct || q.has_across_epochs);
	assert_null(q.correction);
	assert_int_equal(policy_of("compare --alpha 0.05 --min-effect 2% --correction holm "
				   "--across-epochs --baseline */prev",
				   &q, &err),
			 0);
	assert_true(q.has_alpha && q.alpha == 0.05);
	assert_true(q.has_min_effect_pct && q.min_effect_pct == 2);
	assert_true(q.has_across_epochs && q.across_epochs);
	assert_string_equal(q.correction, "holm");
	assert_string_equal(q.baseline, "*/prev");
	assert_int_equal(policy_of("gate --min-effect 0", &q, &err), 0);
	assert_true(q.has_min_effect_pct && q.min_effect_pct == 0);
}

static void test_wrong_policy_is_refused(void **state)
{
	static const char *const lines[] = {"compare --alpha 0",       "compare --alpha 1",
					    "compare --alpha nan",     "compare --alpha 1%",
					    "compare --min-effect -1", "compare --min-effect x",
					    "compare --min-effect %",  "compare --min-effect 1e9",
					    "compare --min-effect inf"};
	Kgrid__V1__CompareRequest q;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct kg_err err = {{0}};

		assert_int_equal(policy_of(lines[i], &q, &err), KG_EINVALID);
		assert_contains(err.text, "needs a p");
	}
}

static int64_t when(const char *text)
{
	struct kg_err err = {{0}};
	int64_t ns = -1;

	if (when_parse(text, NOW_NS, &ns, &err) < 0) {
		assert_contains(err.text, "not a time: ");
		return -1;
	}
	return ns;
}

static void test_times_are_dates_or_how_long_ago(void **state)
{
	const int64_t second = (int64_t)KG_NSEC_PER_SEC;

	(void)state;
	assert_int_equal(when("2023-11-14T22:13:20Z"), NOW_NS);
	assert_int_equal(when("2023-11-14 22:13:20Z"), NOW_NS);
	assert_int_equal(when("2024-02-29T00:00Z"), 1709164800 * second);
	assert_int_equal(when("2d"), NOW_NS - 2 * 86400 * second);
	assert_int_equal(when("12h"), NOW_NS - 12 * 3600 * second);
	assert_int_equal(when("30m"), NOW_NS - 30 * 60 * second);
	assert_int_equal(when("90s"), NOW_NS - 90 * second);
	/* a day is local: the same as its midnight */
	assert_int_equal(when("2026-11-30"), when("2026-11-30T00:00"));
	assert_int_equal(when("2026-11-30T12:00") - when("2026-11-30"), 12 * 3600 * second);
	assert_int_equal(when("60000d"), 1); /* before all boots */
}

static void test_what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = {"",
					    "30",
					    "2026-11-31",
					    "2026-13-01",
					    "2026-00-10",
					    "2026-1-1",
					    "2026-11-30T",
					    "2026-11-30T24:00",
					    "2026-11-30T12",
					    "2026-11-30x",
					    "0000-01-01",
					    "9999-01-01",
					    "2026-11-30T12:60",
					    "d",
					    "2fortnights",
					    "2023-02-29"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(when(texts[i]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_become_a_selection),
		cmocka_unit_test(test_one_job_and_a_metric_are_the_short_form),
		cmocka_unit_test(test_wrong_values_name_what_is_right),
		cmocka_unit_test(test_policy_is_absent_unless_given),
		cmocka_unit_test(test_wrong_policy_is_refused),
		cmocka_unit_test(test_times_are_dates_or_how_long_ago),
		cmocka_unit_test(test_what_is_no_time_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
