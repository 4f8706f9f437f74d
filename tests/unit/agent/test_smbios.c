/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/smbios.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_root.h"

static void test_whole_table(void **state)
{
	struct fact_list l = {0};
	uint8_t table[1024];
	size_t len = fake_smbios_table(table);

	(void)state;
	smbios_facts(table, len, &l);
	assert_string_equal(fact_list_value(&l, "bios.version"), "2.1.7");
	assert_string_equal(fact_list_value(&l, "memory.installed"), "85899345920");
	assert_string_equal(fact_list_value(&l, "cpu.firmware-sockets"), "2");
	fact_list_deinit(&l);
}

static void test_table_cut_off_anywhere_never_gives_less_memory(void **state)
{
	uint8_t table[1024];
	size_t len = fake_smbios_table(table), cut;

	(void)state;
	for (cut = 0; cut < len; cut++) {
		/* A copy of exactly that size: reading on is seen by the sanitizers. */
		uint8_t *copy = malloc(cut ? cut : 1);
		struct fact_list l = {0};
		const char *bytes;

		assert_non_null(copy);
		memcpy(copy, table, cut);
		smbios_facts(copy, cut, &l);
		bytes = fact_list_value(&l, "memory.installed");
		assert_null(bytes);
		assert_string_equal(fact_list_find(&l, "memory.installed")->reason, FACT_FAILED);
		assert_string_equal(fact_list_find(&l, "cpu.firmware-sockets")->reason,
				    FACT_FAILED);
		fact_list_deinit(&l);
		free(copy);
	}
}

static void test_any_bytes_do_no_harm(void **state)
{
	uint8_t table[257];
	unsigned seed, i;

	(void)state;
	for (seed = 1; seed < 2000; seed++) {
		struct fact_list l = {0};
		uint32_t x = seed;
		unsigned cpus;

		for (i = 0; i < sizeof(table); i++) {
			x = x * 1664525 + 1013904223;
			table[i] = (uint8_t)(x >> 24) & (seed % 3 ? 0x1f : 0xff);
		}
		smbios_facts(table, sizeof(table), &l);
		fact_list_deinit(&l);
		memcpy(table, "APIC", 4);
		table[4] = (uint8_t)(seed % 256);
		table[5] = (uint8_t)(seed % 2);
		table[6] = table[7] = 0;
		(void)madt_cpus(table, sizeof(table), &cpus);
	}
}

static void test_module_of_unknown_size_makes_the_map_unsupported(void **state)
{
	uint8_t table[1024], d[0x5c] = {17, 0x5c, 0, 1};
	static const uint8_t end[] = {127, 4, 0, 2};
	struct fact_list l = {0};
	size_t n;

	(void)state;
	d[0x0c] = d[0x0d] = 0xff;
	n = fake_smbios(table, d, sizeof(d), NULL);
	n += fake_smbios(table + n, end, sizeof(end), NULL);
	smbios_facts(table, n, &l);
	assert_null(fact_list_value(&l, "memory.installed"));
	assert_string_equal(fact_list_find(&l, "memory.installed")->reason, FACT_FAILED);
	assert_string_equal(fact_list_find(&l, "cpu.firmware-sockets")->reason, FACT_ABSENT);
	fact_list_deinit(&l);
}

static void test_small_modules_and_missing_strings(void **state)
{
	static const char *const strings[] = {"SLOT", NULL};
	uint8_t table[1024], d[0x1c] = {17, 0x1c, 0, 1};
	static const uint8_t end[] = {127, 4, 0, 2};
	struct fact_list l = {0};
	size_t n;

	(void)state;
	d[0x0c] = 0x00; /* 512 KiB, in the smaller unit */
	d[0x0d] = 0x82;
	d[0x10] = 9; /* a string that is not there */
	n = fake_smbios(table, d, sizeof(d), strings);
	d[0x0c] = 0x00; /* 512 MiB */
	d[0x0d] = 0x02;
	d[0x10] = 1;
	n += fake_smbios(table + n, d, sizeof(d), strings);
	n += fake_smbios(table + n, end, sizeof(end), NULL);
	smbios_facts(table, n, &l);
	assert_string_equal(fact_list_value(&l, "memory.dimms"), "?: 512 KiB; SLOT: 512 MiB");
	assert_string_equal(fact_list_value(&l, "memory.installed"), "537395200");
	fact_list_deinit(&l);
}

static void test_madt_counts_what_is_enabled(void **state)
{
	uint8_t table[1024];
	size_t len = fake_madt(table, 5, 3), cut;
	unsigned cpus = 0;

	(void)state;
	assert_true(madt_cpus(table, len, &cpus));
	assert_int_equal(cpus, 5);
	for (cut = 0; cut < len; cut++)
		assert_false(madt_cpus(table, cut, &cpus));
	table[45] = 0; /* a length that would never end */
	assert_false(madt_cpus(table, len, &cpus));
	len = fake_madt(table, 0, 3);
	assert_false(madt_cpus(table, len, &cpus));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_table),
		cmocka_unit_test(test_table_cut_off_anywhere_never_gives_less_memory),
		cmocka_unit_test(test_any_bytes_do_no_harm),
		cmocka_unit_test(test_module_of_unknown_size_makes_the_map_unsupported),
		cmocka_unit_test(test_small_modules_and_missing_strings),
		cmocka_unit_test(test_madt_counts_what_is_enabled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
