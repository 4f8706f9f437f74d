/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/uarch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define AMD   "AuthenticAMD"
#define INTEL "GenuineIntel"

static void check(const char *vendor, unsigned family, unsigned model, unsigned stepping,
		  const char *name)
{
	char buf[64];

	assert_string_equal(kg_uarch_name(vendor, family, model, stepping, buf, sizeof(buf)), name);
}

static void test_amd_ranges_at_their_ends(void **state)
{
	(void)state;
	check(AMD, 0x17, 0x01, 2, "Zen1/Zen+");
	check(AMD, 0x17, 0x2f, 0, "Zen1/Zen+");
	check(AMD, 0x17, 0x30, 0, "Zen2");
	check(AMD, 0x17, 0x50, 0, "Zen1/Zen+");
	check(AMD, 0x17, 0x71, 0, "Zen2");
	check(AMD, 0x17, 0x80, 0, "23-128-0");
	check(AMD, 0x17, 0xaf, 0, "Zen2");
	check(AMD, 0x19, 0x01, 1, "Zen3");
	check(AMD, 0x19, 0x0f, 1, "Zen3");
	check(AMD, 0x19, 0x11, 1, "Zen4");
	check(AMD, 0x19, 0x21, 0, "Zen3");
	check(AMD, 0x19, 0x61, 2, "Zen4");
	check(AMD, 0x19, 0xb0, 2, "25-176-2");
	check(AMD, 0x1a, 0x02, 1, "Zen5");
	check(AMD, 0x1a, 0x30, 1, "26-48-1");
	check(AMD, 0x1a, 0x50, 0, "Zen6");
	check(AMD, 0x1a, 0xd7, 0, "Zen5");
	check(AMD, 0x1a, 0xd8, 0, "Zen6");
}

static void test_intel_model_55_is_three_by_its_stepping(void **state)
{
	(void)state;
	check(INTEL, 6, 0x55, 0, "Skylake-SP");
	check(INTEL, 6, 0x55, 4, "Skylake-SP");
	check(INTEL, 6, 0x55, 5, "Cascade Lake-SP");
	check(INTEL, 6, 0x55, 7, "Cascade Lake-SP");
	check(INTEL, 6, 0x55, 0xb, "Cooper Lake");
	check(INTEL, 6, 0x55, 0xf, "Cascade Lake-SP");
	check(INTEL, 6, 0x55, 0x10, "6-85-16");
}

static void test_intel_models(void **state)
{
	(void)state;
	check(INTEL, 6, 0x2d, 7, "Sandy Bridge-EP");
	check(INTEL, 6, 0x3f, 2, "Haswell-EP");
	check(INTEL, 6, 0x6a, 6, "Ice Lake-SP");
	check(INTEL, 6, 0x8f, 8, "Sapphire Rapids");
	check(INTEL, 6, 0xcf, 2, "Emerald Rapids");
	check(INTEL, 6, 0xad, 1, "Granite Rapids");
	check(INTEL, 6, 0xaf, 3, "Sierra Forest");
	check(INTEL, 6, 0x5e, 3, "Skylake client");
	check(INTEL, 19, 0x01, 0, "Diamond Rapids");
	check(INTEL, 18, 0x03, 0, "Nova Lake");
	check(INTEL, 18, 0x02, 0, "18-2-0");
}

static void test_unknown_is_numbers_never_a_guess(void **state)
{
	(void)state;
	check(AMD, 15, 107, 1, "15-107-1");
	check("Unheard", 6, 0x8f, 8, "6-143-8");
	check("", 0, 0, 0, "0-0-0");
	check(NULL, 6, 1, 2, "6-1-2");
	check("HygonGenuine", 0x18, 1, 1, "Dhyana");
	/* The numbers of one vendor mean nothing for another. */
	check(INTEL, 0x19, 0x01, 1, "25-1-1");
	check(AMD, 6, 0x8f, 8, "6-143-8");
}

static void test_a_small_buffer_is_cut_and_ended(void **state)
{
	char buf[4];

	(void)state;
	assert_string_equal(kg_uarch_name(AMD, 0x17, 0x01, 0, buf, sizeof(buf)), "Zen");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd_ranges_at_their_ends),
		cmocka_unit_test(test_intel_model_55_is_three_by_its_stepping),
		cmocka_unit_test(test_intel_models),
		cmocka_unit_test(test_unknown_is_numbers_never_a_guess),
		cmocka_unit_test(test_a_small_buffer_is_cut_and_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
