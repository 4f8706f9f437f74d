/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void check_class(const char *name, enum kg_fact_class class)
{
	const struct kg_fact_info *f = kg_fact_find(name);

	if (f->class != class)
		fail_msg("'%s' is of class %s, expected %s", name, kg_fact_class_name(f->class),
			 kg_fact_class_name(class));
	assert_true(f->weight >= 1 && f->weight <= 100);
	assert_true(f->label[0] && f->section[0]);
}

static void test_row_46_cpu_count_is_of_class_machine(void **state)
{
	(void)state;
	check_class("cpu.present", KG_FACT_MACHINE);
	check_class("cpu.firmware-count", KG_FACT_MACHINE);
	/* These follow the command line. */
	check_class("cpu.online", KG_FACT_CONFIGURATION);
	check_class("smt.active", KG_FACT_CONFIGURATION);
}

static void
test_row_47_microcode_is_of_the_machine_and_mitigations_of_the_configuration(void **state)
{
	(void)state;
	check_class("cpu.microcode", KG_FACT_MACHINE);
	check_class("vulnerability.meltdown", KG_FACT_CONFIGURATION);
	check_class("vulnerability.spectre_v2", KG_FACT_CONFIGURATION);
	assert_true(kg_fact_find("cpu.microcode")->weight > kg_fact_find("bios.date")->weight);
}

static void test_memory_of_the_machine_is_that_of_its_dimms(void **state)
{
	(void)state;
	check_class("memory.installed", KG_FACT_MACHINE);
	check_class("memory.dimms", KG_FACT_MACHINE);
	check_class("memory.total", KG_FACT_VOLATILE);
}

static void test_what_a_cell_chooses_is_subject(void **state)
{
	static const char *const names[] = {"cmdline",	       "lsm",
					    "kernel.release",  "kernel.build-id",
					    "kernel.compiler", "config.digest"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_class(names[i], KG_FACT_SUBJECT);
}

static void test_what_differs_at_every_look_is_volatile(void **state)
{
	static const char *const names[] = {"load",	      "uptime",
					    "boot-id",	      "boot.hops",
					    "throttle.core",  "temperature.x86_pkg_temp",
					    "pressure.cpu",   "modules.digest",
					    "kernel.tainted", "time.synchronised"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_class(names[i], KG_FACT_VOLATILE);
}

static void test_the_longest_name_fits_best(void **state)
{
	(void)state;
	assert_string_equal(kg_fact_find("sysctl.digest")->name, "sysctl.digest");
	assert_string_equal(kg_fact_find("sysctl.vm.swappiness")->name, "sysctl.");
	assert_string_equal(kg_fact_find("workload.netperf.digest")->name, "workload.");
	assert_string_equal(kg_fact_find("cpu.microcode.all")->name, "cpu.microcode.all");
}

static void test_an_unknown_fact_is_volatile_and_light(void **state)
{
	static const char *const names[] = {"",
					    "nosuch",
					    "cpu",
					    "cpu.",
					    "cpu.presen",
					    "cpu.presents",
					    "sysctl.",
					    "sysctl",
					    "workload.",
					    "CPU.microcode",
					    "lsm.",
					    "cpu.microcode.",
					    "cmdline.word"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct kg_fact_info *f = kg_fact_find(names[i]);

		assert_int_equal(f->class, KG_FACT_VOLATILE);
		assert_int_equal(f->weight, 1);
	}
	assert_int_equal(kg_fact_find(NULL)->class, KG_FACT_VOLATILE);
}

static void test_names_of_classes_and_settables(void **state)
{
	(void)state;
	assert_string_equal(kg_fact_class_name(KG_FACT_MACHINE), "machine");
	assert_string_equal(kg_fact_class_name(KG_FACT_CONFIGURATION), "configuration");
	assert_string_equal(kg_fact_class_name(KG_FACT_SUBJECT), "subject");
	assert_string_equal(kg_fact_class_name(KG_FACT_VOLATILE), "volatile");
	assert_string_equal(kg_fact_settable_name(KG_SETTABLE_BOOT), "boot");
	assert_string_equal(kg_fact_settable_name(KG_SETTABLE_KERNEL), "kernel");
	assert_string_equal(kg_fact_settable_name(KG_SETTABLE_ENVIRONMENT), "environment");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row_46_cpu_count_is_of_class_machine),
		cmocka_unit_test(
			test_row_47_microcode_is_of_the_machine_and_mitigations_of_the_configuration),
		cmocka_unit_test(test_memory_of_the_machine_is_that_of_its_dimms),
		cmocka_unit_test(test_what_a_cell_chooses_is_subject),
		cmocka_unit_test(test_what_differs_at_every_look_is_volatile),
		cmocka_unit_test(test_the_longest_name_fits_best),
		cmocka_unit_test(test_an_unknown_fact_is_volatile_and_light),
		cmocka_unit_test(test_names_of_classes_and_settables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
