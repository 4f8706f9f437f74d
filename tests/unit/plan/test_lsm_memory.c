/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fails the first, second, ... allocation of the LSM model: each time -ENOMEM comes back and nothing
 * is left behind (the asan build sees leaks). */
#include "coordinator/plan/lsm.h"
#include "coordinator/plan/lsm_dmesg.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/alloc_fault.h"

static void test_prediction_reports_each_failed_allocation(void **state)
{
	struct lsm_kernel k = {
		.release = "6.12.1",
		.builtin = LSM_BIT(LSM_YAMA) | LSM_BIT(LSM_APPARMOR) | LSM_BIT(LSM_SELINUX),
		.config_lsm = "yama,smack,other,apparmor",
		.config_cmdline = "quiet",
	};
	static const char *const lines[] = {
		"lsm=yama,yama,apparmor,selinux,nosuch lsm.x apparmor=off",
		"security=none security=yama bootconfig"};
	struct kg_err err = {{0}};
	struct lsm_list l;
	unsigned n, total = 0;
	size_t i;
	int rc;

	(void)state;
	for (i = 0; i < 2; i++) {
		for (n = 1; alloc_fault_arm(n), rc = lsm_resolve(&k, lines[i], &l, &err),
		    alloc_fault_disarm();
		     n++)
			assert_int_equal(rc, -ENOMEM);
		assert_int_equal(rc, 0);
		lsm_list_deinit(&l);
		total += n;
	}
	assert_true(total > 30);
}

static void test_log_reports_each_failed_allocation(void **state)
{
	static const char *const logs[] = {
		"Linux version 6.12.1 (x)\nCommand line: lsm=yama,smack,nosuch,selinux apparmor=0\n"
		"Kernel command line: a \\\nKernel command line: lsm=yama,smack,apparmor\n"
		"LSM: legacy security=selinux\nLSM: boot arg lsm=yama,nosuch,smack\n"
		"LSM: initializing lsm=capability,yama\nLSM: cmdline ignored: smack\n",
		"Command line: BOOT_IMAGE=/vmlinuz-6.1.3 security=tomoyo\nYama: becoming mindful.\n"
		"Linux version 5.0 (x)\nCommand line: security=selinux\n"
		"AppArmor: AppArmor initialized\n",
	};
	struct kg_err err = {{0}};
	struct lsm_log l;
	unsigned n, total = 0;
	size_t i;
	int rc;

	(void)state;
	for (i = 0; i < 2; i++) {
		for (n = 1; alloc_fault_arm(n),
		    rc = lsm_dmesg_parse(logs[i], strlen(logs[i]), &l, &err), alloc_fault_disarm();
		     n++)
			assert_int_equal(rc, -ENOMEM);
		assert_int_equal(rc, 0);
		lsm_log_deinit(&l);
		total += n;
	}
	assert_true(total > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prediction_reports_each_failed_allocation),
		cmocka_unit_test(test_log_reports_each_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
