/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/env_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* One fact before and after; NULL: unsupported, "-": no row. */
static const char *check(const char *name, const char *before, const char *after)
{
	static char reason[256];
	struct fact_list b = {0}, a = {0};

	reason[0] = '\0';
	if (!before)
		fact_unsupported(&b, name, FACT_ABSENT);
	else if (strcmp(before, "-") != 0)
		fact_add(&b, name, before);
	if (!after)
		fact_unsupported(&a, name, FACT_ABSENT);
	else if (strcmp(after, "-") != 0)
		fact_add(&a, name, after);
	if (env_check(&b, &a, reason, sizeof(reason)))
		assert_string_equal(reason, "");
	else
		assert_true(reason[0]);
	fact_list_deinit(&b);
	fact_list_deinit(&a);
	return reason[0] ? reason : NULL;
}

static void test_row_49_a_throttle_counter_that_rose(void **state)
{
	(void)state;
	assert_string_equal(check("throttle.core", "3", "8"),
			    "a core was throttled 5 times during the run");
	assert_string_equal(check("throttle.package", "0", "1"),
			    "a package was throttled 1 times during the run");
	assert_null(check("throttle.core", "3", "3"));
	assert_null(check("throttle.core", "8", "3")); /* a CPU went offline */
}

static void test_row_54_a_counter_one_side_lacks_is_not_0(void **state)
{
	static const char *const names[] = {"throttle.core",   "throttle.package",
					    "cpu.microcode",   "clocksource.current",
					    "kernel.tainted",  "packages.stamp",
					    "workloads.stamp", "package-manager",
					    "sessions"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_null(check(names[i], NULL, "9"));
		assert_null(check(names[i], "9", NULL));
		assert_null(check(names[i], "-", "9"));
		assert_null(check(names[i], "9", "-"));
		assert_null(check(names[i], NULL, NULL));
	}
	assert_null(check("throttle.core", "x", "9"));
	assert_null(check("kernel.tainted", "0", "many"));
}

static void test_row_47_microcode_and_clocksource(void **state)
{
	(void)state;
	assert_string_equal(check("cpu.microcode", "0x1", "0x2"),
			    "microcode changed during the run from '0x1' to '0x2'");
	assert_non_null(check("cpu.microcode.all", "0x1", "0x1,0x2"));
	assert_string_equal(check("clocksource.current", "tsc", "hpet"),
			    "the clocksource changed during the run from 'tsc' to 'hpet'");
	assert_null(check("clocksource.current", "tsc", "tsc"));
}

static void test_taint_bits_that_tell_of_trouble(void **state)
{
	(void)state;
	assert_non_null(check("kernel.tainted", "0", "512"));	/* W */
	assert_non_null(check("kernel.tainted", "0", "128"));	/* D */
	assert_non_null(check("kernel.tainted", "1", "17"));	/* M */
	assert_non_null(check("kernel.tainted", "0", "32"));	/* B */
	assert_non_null(check("kernel.tainted", "0", "16384")); /* L */
	assert_null(check("kernel.tainted", "512", "512"));	/* it was there before */
	assert_null(check("kernel.tainted", "0", "4097"));	/* P and O: a module was loaded */
	assert_null(check("kernel.tainted", "512", "4608"));
}

static void test_row_48_packages(void **state)
{
	(void)state;
	assert_non_null(
		check("packages.stamp", "/var/lib/dpkg/status 1", "/var/lib/dpkg/status 2"));
	assert_non_null(check("workloads.stamp", "/usr/bin/netperf 1", "/usr/bin/netperf 2"));
	assert_string_equal(check("package-manager", "none", "dpkg[12]"),
			    "a package manager was at work during the run: 'dpkg[12]'");
	assert_non_null(check("package-manager", "apt-get[3]", "none"));
	assert_non_null(check("package-manager", "apt-get[3]", "apt-get[3]"));
	assert_non_null(check("package-manager", "none", "lock-frontend[4]"));
	assert_null(check("package-manager", "none", "none"));
	/* A daemon that waits, against one that was called. */
	assert_null(check("package-manager", "packagekitd[5]", "packagekitd[5]"));
	assert_null(check("package-manager", "packagekitd[5]", "none"));
	assert_non_null(check("package-manager", "none", "packagekitd[6]"));
	assert_non_null(check("package-manager", "packagekitd[5]", "packagekitd[5] rpm[7]"));
}

static void test_sessions(void **state)
{
	(void)state;
	assert_string_equal(check("sessions", "none", "root@pts/0#12"),
			    "a login session began during the run: 'root@pts/0#12'");
	assert_non_null(check("sessions", "a@x#1", "a@x#1 b@y#2"));
	assert_non_null(check("sessions", "a@x#1", "a@x#2"));
	assert_null(check("sessions", "a@x#1 b@y#2", "b@y#2"));
	assert_null(check("sessions", "a@x#1", "none"));
	assert_null(check("sessions", "none", "none"));
}

static void test_row_48_the_host_name_is_not_the_identity(void **state)
{
	(void)state;
	assert_null(check("host.name", "testbox-1", "localhost"));
	assert_null(check("load", "0.01", "9.00"));
	assert_null(check("temperature.0.cpu", "40.0 C", "90.0 C"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row_49_a_throttle_counter_that_rose),
		cmocka_unit_test(test_row_54_a_counter_one_side_lacks_is_not_0),
		cmocka_unit_test(test_row_47_microcode_and_clocksource),
		cmocka_unit_test(test_taint_bits_that_tell_of_trouble),
		cmocka_unit_test(test_row_48_packages),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_row_48_the_host_name_is_not_the_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
