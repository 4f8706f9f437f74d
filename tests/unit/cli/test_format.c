/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/format.h"
#include "tests/lib/cmocka_all.h"

static void test_spans_have_two_units(void **state)
{
	char b[FORMAT_SIZE];

	(void)state;
	assert_string_equal(format_seconds(0, b), "0 s");
	assert_string_equal(format_seconds(59, b), "59 s");
	assert_string_equal(format_seconds(200, b), "3 min 20 s");
	assert_string_equal(format_seconds(3900, b), "1 h 05 min");
	assert_string_equal(format_seconds(3 * 86400 + 7200, b), "3 d 02 h");
	assert_string_equal(format_ago(0, 5, b), "never");
	assert_string_equal(format_ago(1000000000, 13000000000, b), "12 s ago");
	assert_string_equal(format_ago(13000000000, 1000000000, b), "0 s ago");
}

static void test_sizes_are_binary(void **state)
{
	char b[FORMAT_SIZE];

	(void)state;
	assert_string_equal(format_bytes(512, b), "512 B");
	assert_string_equal(format_bytes(12 * 1024 * 1024 + 300 * 1024, b), "12.3 MiB");
}

static void test_values_show_four_digits_at_least(void **state)
{
	(void)state;
	assert_int_equal(format_decimals(4521.1), 2);
	assert_int_equal(format_decimals(4.521), 3);
	assert_int_equal(format_decimals(-0.04521), 5);
	assert_int_equal(format_decimals(99999), 2);
	assert_int_equal(format_decimals(356373.2), 1);
	assert_int_equal(format_decimals(35637311), 0);
	assert_int_equal(format_decimals(0), 2);
	assert_int_equal(format_decimals(1e-300), 9);
}

static void account(const char *const *names, const uint64_t *counts, size_t n, uint64_t slots,
		    uint64_t pending, const char *wanted)
{
	Kgrid__V1__OutcomeCount c[8], *list[8];
	Kgrid__V1__Accounting a = KGRID__V1__ACCOUNTING__INIT;
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < n; i++) {
		c[i] = (Kgrid__V1__OutcomeCount)KGRID__V1__OUTCOME_COUNT__INIT;
		c[i].outcome = (char *)(uintptr_t)names[i];
		c[i].count = counts[i];
		list[i] = &c[i];
	}
	a.slots = slots;
	a.pending = pending;
	a.n_outcomes = n;
	a.outcomes = list;
	format_accounting(&a, &s);
	assert_string_equal(kg_str_text(&s), wanted);
	kg_str_deinit(&s);
}

static void test_accounting_is_in_the_order_of_the_design(void **state)
{
	static const char *const names[] = {"wrong-lsm", "pass", "fail"};
	static const uint64_t counts[] = {2, 71, 0};

	(void)state;
	account(names, counts, 3, 80, 7, "slots 80 = 71 pass + 2 wrong-lsm + 7 pending");
	account(names + 1, counts + 1, 1, 71, 0, "slots 71 = 71 pass");
	account(NULL, NULL, 0, 0, 0, "slots 0 = 0");
}

static void test_accounting_that_does_not_add_up_says_so(void **state)
{
	static const char *const names[] = {"pass", "melted"};
	static const uint64_t counts[] = {3, 1};

	(void)state;
	account(names, counts, 2, 5, 0,
		"slots 5 = 3 pass + 1 melted (does not add up: the sum is 4)");
}

static void test_a_paused_job_says_so_until_it_is_over(void **state)
{
	static const struct {
		const char *state;
		bool paused;
		const char *shown;
	} rows[] = {
		{"queued", false, "queued"}, {"queued", true, "paused"},
		{"running", true, "paused"}, {"running", false, "running"},
		{"done", true, "done"},	     {"cancelled", true, "cancelled"},
		{NULL, false, ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		Kgrid__V1__JobSummary j = KGRID__V1__JOB_SUMMARY__INIT;

		j.state = (char *)(uintptr_t)rows[i].state;
		j.paused = rows[i].paused;
		assert_string_equal(format_job_state(&j), rows[i].shown);
	}
}

static void test_a_reason_that_names_the_state_says_it_once(void **state)
{
	static const struct {
		const char *state, *why, *shown;
	} rows[] = {
		{"queued", "waits: 'm1' is busy", "queued: waits: 'm1' is busy"},
		{"paused", "paused: no boot begins", "paused: no boot begins"},
		{"paused", "paused", "paused: paused"},
		{"done", "", "done"},
		{"done", NULL, "done"},
		{NULL, NULL, ""},
	};
	struct kg_str s = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		kg_str_clear(&s);
		format_state_why(rows[i].state, rows[i].why, &s);
		assert_string_equal(kg_str_text(&s), rows[i].shown);
	}
	kg_str_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans_have_two_units),
		cmocka_unit_test(test_sizes_are_binary),
		cmocka_unit_test(test_values_show_four_digits_at_least),
		cmocka_unit_test(test_accounting_is_in_the_order_of_the_design),
		cmocka_unit_test(test_accounting_that_does_not_add_up_says_so),
		cmocka_unit_test(test_a_paused_job_says_so_until_it_is_over),
		cmocka_unit_test(test_a_reason_that_names_the_state_says_it_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
