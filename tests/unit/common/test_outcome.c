/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "common/outcome.h"

static void test_names_round_trip(void **state)
{
	int i;

	(void)state;
	for (i = KG_OUTCOME_PASS; i < KG_OUTCOME_COUNT; i++)
		assert_int_equal(kg_outcome_parse(kg_outcome_name((enum kg_outcome)i)), i);
	assert_string_equal(kg_outcome_name(KG_OUTCOME_NONE), "pending");
	assert_int_equal(kg_outcome_parse("pending"), KG_OUTCOME_NONE);
	assert_int_equal(kg_outcome_parse("PASS"), KG_OUTCOME_NONE);
	assert_int_equal(kg_outcome_parse(""), KG_OUTCOME_NONE);
	assert_string_equal(kg_outcome_name((enum kg_outcome)99), "pending");
}

static void test_every_outcome_has_an_owner(void **state)
{
	int i;

	(void)state;
	for (i = KG_OUTCOME_PASS; i < KG_OUTCOME_COUNT; i++)
		assert_int_not_equal(kg_outcome_owner((enum kg_outcome)i), KG_OWNER_NONE);
	assert_int_equal(kg_outcome_owner(KG_OUTCOME_NONE), KG_OWNER_NONE);
	assert_int_equal(kg_outcome_owner((enum kg_outcome)99), KG_OWNER_NONE);
	assert_int_equal(kg_outcome_owner(KG_OUTCOME_WRONG_LSM), KG_OWNER_KERNEL);
	assert_int_equal(kg_outcome_owner(KG_OUTCOME_INFRA), KG_OWNER_GRID);
}

static void test_only_pass_reaches_statistics(void **state)
{
	int i;

	(void)state;
	for (i = KG_OUTCOME_NONE; i < KG_OUTCOME_COUNT; i++)
		assert_int_equal(kg_outcome_valid((enum kg_outcome)i), i == KG_OUTCOME_PASS);
}

static void test_results_and_plan_outcomes_are_not_retried(void **state)
{
	int i;

	(void)state;
	for (i = KG_OUTCOME_NONE; i < KG_OUTCOME_COUNT; i++) {
		enum kg_outcome o = (enum kg_outcome)i;

		assert_int_equal(kg_outcome_retryable(o),
				 kg_outcome_owner(o) == KG_OWNER_KERNEL || o == KG_OUTCOME_INFRA);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_round_trip),
		cmocka_unit_test(test_every_outcome_has_an_owner),
		cmocka_unit_test(test_only_pass_reaches_statistics),
		cmocka_unit_test(test_results_and_plan_outcomes_are_not_retried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
