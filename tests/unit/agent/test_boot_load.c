/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a refusal to load a kernel means. Nothing is loaded here. */
#include "tests/lib/cmocka_all.h"

#include <errno.h>

#include "agent/boot_load.h"
#include "tests/unit/agent/fake_root.h"

static void test_a_refusal_that_another_kernel_would_not_make(void **state)
{
	static const int own[] = {EPERM,   EACCES,  EKEYREJECTED, ENOKEY, ENOPKG,
				  EBADMSG, ELIBBAD, ENODATA,	  ENOSYS};
	static const int common[] = {ENOEXEC, EINVAL, ENOMEM, EADDRNOTAVAIL, EBUSY, EIO, ENOENT};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		assert_true(boot_load_stuck(-own[i]));
		assert_non_null(strstr(boot_load_reason(-own[i]), "the running kernel"));
	}
	for (i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		assert_false(boot_load_stuck(-common[i]));
	assert_false(boot_load_stuck(0));
}

static void test_a_kernel_that_takes_no_kexec_is_known_before(void **state)
{
	struct fake_root r;

	(void)state;
	fake_root_init(&r);
	assert_string_equal(boot_stuck(r.dir), "the running kernel has no kexec");
	fake_put(&r, "/sys/kernel/kexec_loaded", "0\n");
	assert_null(boot_stuck(r.dir));
	fake_put(&r, "/proc/sys/kernel/kexec_load_disabled", "0\n");
	assert_null(boot_stuck(r.dir));
	fake_put(&r, "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	assert_null(boot_stuck(r.dir)); /* it takes signed images */
	fake_put(&r, "/proc/sys/kernel/kexec_load_disabled", "1\n");
	assert_string_equal(boot_stuck(r.dir), "kernel.kexec_load_disabled is 1");
	fake_root_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_refusal_that_another_kernel_would_not_make),
		cmocka_unit_test(test_a_kernel_that_takes_no_kexec_is_known_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
