/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/epoch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define N(a)	 (sizeof(a) / sizeof((a)[0]))
#define FACTS(a) (&(struct epoch_facts){(a), N(a)})

static void test_same_facts_are_no_change(void **state)
{
	static const struct epoch_fact a[] = {{"cpu.microcode", "0x1"}, {"os", NULL}};
	static const struct epoch_fact b[] = {{"cpu.microcode", "0x1"}, {"os", NULL}};
	struct epoch_change c[4];
	struct epoch_facts none = {NULL, 0};

	(void)state;
	assert_int_equal(epoch_changes(FACTS(a), FACTS(b), c, 4), 0);
	assert_int_equal(epoch_changes(&none, &none, c, 4), 0);
	assert_int_equal(epoch_changes(FACTS(a), &none, c, 4), 0);
	assert_int_equal(epoch_changes(&none, FACTS(a), c, 4), 0);
}

static void test_row_46_half_the_cpus_are_named_first(void **state)
{
	static const struct epoch_fact a[] = {
		{"bios.date", "01/01/2024"}, {"cpu.microcode", "0x1"}, {"cpu.present", "0-191"}};
	static const struct epoch_fact b[] = {
		{"bios.date", "02/02/2026"}, {"cpu.microcode", "0x2"}, {"cpu.present", "0-95"}};
	struct epoch_change c[4];

	(void)state;
	assert_int_equal(epoch_changes(FACTS(a), FACTS(b), c, 4), 3);
	assert_string_equal(c[0].name, "cpu.present");
	assert_string_equal(c[0].a, "0-191");
	assert_string_equal(c[0].b, "0-95");
	assert_string_equal(c[1].name, "cpu.microcode");
	assert_string_equal(c[2].name, "bios.date");
}

static void test_row_47_a_mitigation_that_changed_is_named(void **state)
{
	static const struct epoch_fact a[] = {{"vulnerability.gds", "Vulnerable"},
					      {"vulnerability.l1tf", "Not affected"}};
	static const struct epoch_fact b[] = {{"vulnerability.gds", "Mitigation: Microcode"},
					      {"vulnerability.l1tf", "Not affected"}};
	struct epoch_change c[4];

	(void)state;
	assert_int_equal(epoch_changes(FACTS(a), FACTS(b), c, 4), 1);
	assert_string_equal(c[0].name, "vulnerability.gds");
}

static void test_a_fact_only_one_side_has_says_nothing(void **state)
{
	static const struct epoch_fact a[] = {{"aa", "1"}, {"cpu.microcode", "0x1"}, {"zz", "1"}};
	static const struct epoch_fact b[] = {{"bb", "1"}, {"cpu.microcode", "0x2"}};
	struct epoch_change c[4];

	(void)state;
	assert_int_equal(epoch_changes(FACTS(a), FACTS(b), c, 4), 1);
	assert_string_equal(c[0].name, "cpu.microcode");
	assert_int_equal(epoch_changes(FACTS(b), FACTS(a), c, 4), 1);
	assert_string_equal(c[0].a, "0x2");
}

static void test_turning_unsupported_and_back_is_a_change(void **state)
{
	static const struct epoch_fact a[] = {{"turbo.boost", "1"}};
	static const struct epoch_fact b[] = {{"turbo.boost", NULL}};
	static const struct epoch_fact zero[] = {{"turbo.boost", ""}};
	struct epoch_change c[1];

	(void)state;
	assert_int_equal(epoch_changes(FACTS(a), FACTS(b), c, 1), 1);
	assert_string_equal(c[0].a, "1");
	assert_null(c[0].b);
	assert_int_equal(epoch_changes(FACTS(b), FACTS(a), c, 1), 1);
	assert_null(c[0].a);
	assert_int_equal(epoch_changes(FACTS(b), FACTS(zero), c, 1), 1); /* empty is a value */
}

static void test_more_changes_than_room_keeps_the_heaviest_and_counts_all(void **state)
{
	static const struct epoch_fact a[] = {{"bios.date", "1"},     {"chassis.type", "1"},
					      {"cpu.microcode", "1"}, {"cpu.present", "1"},
					      {"nosuch.a", "1"},      {"nosuch.b", "1"}};
	static const struct epoch_fact b[] = {{"bios.date", "2"},     {"chassis.type", "2"},
					      {"cpu.microcode", "2"}, {"cpu.present", "2"},
					      {"nosuch.a", "2"},      {"nosuch.b", "2"}};
	struct epoch_change c[6];

	(void)state;
	assert_int_equal(epoch_changes(FACTS(a), FACTS(b), NULL, 0), 6);
	assert_int_equal(epoch_changes(FACTS(a), FACTS(b), c, 2), 6);
	assert_string_equal(c[0].name, "cpu.present");
	assert_string_equal(c[1].name, "cpu.microcode");
	assert_int_equal(epoch_changes(FACTS(a), FACTS(b), c, 6), 6);
	assert_string_equal(c[2].name, "bios.date");
	assert_string_equal(c[3].name, "chassis.type");
	assert_string_equal(c[4].name, "nosuch.a"); /* of the same weight by name */
	assert_string_equal(c[5].name, "nosuch.b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_facts_are_no_change),
		cmocka_unit_test(test_row_46_half_the_cpus_are_named_first),
		cmocka_unit_test(test_row_47_a_mitigation_that_changed_is_named),
		cmocka_unit_test(test_a_fact_only_one_side_has_says_nothing),
		cmocka_unit_test(test_turning_unsupported_and_back_is_a_change),
		cmocka_unit_test(test_more_changes_than_room_keeps_the_heaviest_and_counts_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
