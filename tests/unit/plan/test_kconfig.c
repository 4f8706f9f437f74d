/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/kconfig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"

static struct kconfig_facts read_file(const char *name, const char *release)
{
	struct kconfig_facts f;
	struct kg_err err = {{0}};
	char path[512];
	char *text;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/plan/%s", KGRID_TEST_DATA, name);
	assert_int_equal(kg_file_read(path, 1 << 20, &text, &len, &err), 0);
	assert_int_equal(kconfig_read(text, release, &f, &err), 0);
	free(text);
	return f;
}

static void expect_list(const struct kconfig_facts *f, const char *cmdline, const char *effective)
{
	struct lsm_list l;
	struct kg_err err = {{0}};

	assert_int_equal(lsm_resolve(&f->lsm, cmdline, &l, &err), 0);
	assert_string_equal(l.effective, effective);
	lsm_list_deinit(&l);
}

static void test_value_is_found_with_or_without_prefix(void **state)
{
	const char *text = "CONFIG_A=y\nCONFIG_AB=m\n# CONFIG_B is not set\nCONFIG_N=17\n";
	char v[16];

	(void)state;
	assert_true(kconfig_value(text, "A", v, sizeof(v)));
	assert_string_equal(v, "y");
	assert_true(kconfig_value(text, "CONFIG_AB", v, sizeof(v)));
	assert_string_equal(v, "m");
	assert_true(kconfig_value(text, "N", v, sizeof(v)));
	assert_string_equal(v, "17");
	assert_false(kconfig_value(text, "B", v, sizeof(v)));
	assert_false(kconfig_value(text, "C", v, sizeof(v)));
	assert_true(kconfig_enabled(text, "A"));
	assert_false(kconfig_enabled(text, "AB"));
}

static void test_string_value_loses_quotes_and_escapes(void **state)
{
	char v[16];

	(void)state;
	assert_true(kconfig_value("CONFIG_S=\"a \\\"b\\\\\"\n", "S", v, sizeof(v)));
	assert_string_equal(v, "a \"b\\");
	assert_true(kconfig_value("CONFIG_S=\"\"", "S", v, sizeof(v)));
	assert_string_equal(v, "");
	assert_true(kconfig_value("CONFIG_S=\"x\"\r\n", "S", v, sizeof(v)));
	assert_string_equal(v, "x");
}

static void test_value_that_does_not_fit_is_not_cut(void **state)
{
	char v[4];

	(void)state;
	assert_false(kconfig_value("CONFIG_S=\"abcd\"\n", "S", v, sizeof(v)));
	assert_true(kconfig_value("CONFIG_S=\"abc\"\n", "S", v, sizeof(v)));
}

static void test_last_line_of_an_option_wins(void **state)
{
	char v[4];

	(void)state;
	assert_true(kconfig_value("CONFIG_S=1\nCONFIG_S=2\n", "S", v, sizeof(v)));
	assert_string_equal(v, "2");
}

static void test_debian_6_1_predicts_what_it_boots(void **state)
{
	struct kconfig_facts f = read_file("config-6.1.0-52-cloud-amd64", "6.1.0-52-cloud-amd64");
	char text[LSM_BUILTIN_TEXT_MAX];

	(void)state;
	assert_true(f.kexec && f.kexec_file && f.modules && f.securityfs && f.devtmpfs);
	assert_true(f.lsm.lockdown_early);
	assert_false(f.lsm.selinux_bootparam);
	assert_int_equal(f.lsm.profile, LSM_PROFILE_UPSTREAM);
	assert_string_equal(f.lsm.default_security, "apparmor");
	assert_string_equal(f.lsm.config_lsm, "landlock,lockdown,yama,loadpin,safesetid,integrity,"
					      "apparmor,selinux,smack,tomoyo,bpf");
	lsm_builtin_text(&f.lsm, text, sizeof(text));
	assert_string_equal(text, "capability,selinux,tomoyo,apparmor,yama,lockdown,bpf,landlock,"
				  "integrity,ima,evm");
	/* booted: lsm-039, lsm-041 and lsm-046 of the vectors */
	expect_list(&f, "", "lockdown,capability,landlock,yama,apparmor,tomoyo,bpf");
	expect_list(&f, "lsm=none", "lockdown,capability");
	expect_list(&f, "security=selinux", "lockdown,capability,landlock,yama,selinux,bpf");
}

static void test_debian_6_12_predicts_what_it_boots(void **state)
{
	struct kconfig_facts f =
		read_file("config-6.12.117+deb12-cloud-amd64", "6.12.117+deb12-cloud-amd64");

	(void)state;
	/* booted: lsm-077 and lsm-094 of the vectors */
	expect_list(&f, "", "lockdown,capability,landlock,yama,apparmor,tomoyo,bpf,ipe,ima,evm");
	expect_list(&f, "lsm=bpf,lockdown,landlock", "lockdown,capability,bpf,landlock,ima,evm");
}

static void test_release_comes_from_the_heading_when_not_given(void **state)
{
	struct kconfig_facts f = read_file("config-6.12.117+deb12-cloud-amd64", NULL);

	(void)state;
	assert_string_equal(f.lsm.release, "6.12.117");
}

static void test_5_0_takes_the_default_major_and_boot_values(void **state)
{
	struct kconfig_facts f = read_file("config-5.0", NULL);

	(void)state;
	assert_string_equal(f.lsm.default_security, "apparmor");
	assert_true(f.lsm.selinux_off);
	assert_false(f.lsm.apparmor_off);
	assert_false(f.kexec || f.kexec_file);
	expect_list(&f, "", "capability,yama,loadpin,apparmor");
	expect_list(&f, "security=selinux", "capability,yama,loadpin");
	expect_list(&f, "security=selinux selinux=1", "capability,yama,loadpin,selinux");
}

static void test_ubuntu_is_recognised_by_its_signature(void **state)
{
	struct kconfig_facts f = read_file("config-ubuntu", "6.8.0-31-generic");

	(void)state;
	assert_int_equal(f.lsm.profile, LSM_PROFILE_UBUNTU);
	expect_list(&f, "lsm=apparmor,selinux", "lockdown,capability,apparmor,selinux");
}

static void test_built_in_command_line_is_read(void **state)
{
	struct kconfig_facts f;
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(kconfig_read("CONFIG_CMDLINE_BOOL=y\nCONFIG_CMDLINE=\"lsm=bpf quiet\"\n"
				      "CONFIG_CMDLINE_OVERRIDE=y\n",
				      "6.1", &f, &err),
			 0);
	assert_string_equal(f.lsm.config_cmdline, "lsm=bpf quiet");
	assert_true(f.lsm.config_cmdline_override);
}

static void test_last_line_of_an_option_may_take_it_back(void **state)
{
	char v[16];

	(void)state;
	assert_false(kconfig_enabled("CONFIG_A=y\n# CONFIG_A is not set\n", "A"));
	assert_true(kconfig_enabled("# CONFIG_A is not set\nCONFIG_A=y\n", "A"));
	assert_true(kconfig_enabled("CONFIG_A=y\n# CONFIG_AB is not set\n", "A"));
	assert_true(kconfig_enabled("CONFIG_A=y\r\n# CONFIG_A is what it is\r\n", "A"));
	assert_false(kconfig_value("CONFIG_A=\"x\"\r\n# CONFIG_A is not set\r\n", "A", v, 16));
	assert_false(kconfig_enabled("#CONFIG_A=y\n# CONFIG_A=y\n", "A"));
}

static struct lsm_kernel read_text(const char *text)
{
	struct kconfig_facts f;
	struct kg_err err = {{0}};

	assert_int_equal(kconfig_read(text, "6.6", &f, &err), 0);
	return f.lsm;
}

static void test_forms_of_a_built_in_command_line(void **state)
{
	struct lsm_kernel k;

	(void)state;
	k = read_text("CONFIG_CMDLINE=\"a\"\nCONFIG_CMDLINE_FORCE=y\n");
	assert_true(k.config_cmdline_override);
	k = read_text("CONFIG_CMDLINE=\"a\"\nCONFIG_CMDLINE_EXTEND=y\n");
	assert_true(k.config_cmdline_after && !k.config_cmdline_override);
	k = read_text("CONFIG_CMDLINE=\"a\"\nCONFIG_CMDLINE_FROM_BOOTLOADER=y\n");
	assert_true(k.config_cmdline_fallback);
	k = read_text("CONFIG_CMDLINE=\"a\"\nCONFIG_CMDLINE_FALLBACK=y\n");
	assert_true(k.config_cmdline_fallback);
	k = read_text("CONFIG_CMDLINE=\"a\"\nCONFIG_CMDLINE_BOOTLOADER=y\n");
	assert_true(k.config_cmdline_fallback);
}

static void test_what_a_config_lacks_is_not_what_it_denies(void **state)
{
	struct lsm_kernel k;

	(void)state;
	k = read_text("CONFIG_SECURITY_YAMA=y\nCONFIG_LSM=\"\"\n");
	assert_false(k.no_security || k.no_config_lsm);
	k = read_text("CONFIG_A=y\n# CONFIG_SECURITY is not set\n");
	assert_true(k.no_security && k.no_config_lsm);
	k = read_text("CONFIG_A=y\n# CONFIG_SECURITY_YAMA is not set\n");
	assert_false(k.no_security);
	assert_true(k.security_unsaid && !k.default_dac);
	k = read_text("CONFIG_SECURITY=y\nCONFIG_DEFAULT_SECURITY_DAC=y\n");
	assert_true(k.default_dac && !k.security_unsaid && !k.no_security);
	k = read_text("CONFIG_A=y\r\n# CONFIG_SECURITY is not set\r\n");
	assert_true(k.no_security && !k.security_unsaid);
}

static void test_text_that_is_no_config_is_refused(void **state)
{
	struct kconfig_facts f;
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(kconfig_read("", NULL, &f, &err), KG_EINVALID);
	assert_int_equal(kconfig_read("hello CONFIG_A=y", NULL, &f, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "not a kernel config"));
}

static void test_value_too_long_for_its_field_is_refused(void **state)
{
	struct kconfig_facts f;
	struct kg_err err = {{0}};
	char text[1024];

	(void)state;
	(void)snprintf(text, sizeof(text), "CONFIG_LSM=\"%0600d\"\n", 1);
	assert_int_equal(kconfig_read(text, "6.1", &f, &err), KG_EINVALID);
	assert_non_null(strstr(err.text, "CONFIG_LSM"));
	(void)snprintf(text, sizeof(text), "%0200d", 6);
	assert_int_equal(kconfig_read("CONFIG_A=y\n", text, &f, &err), KG_EINVALID);
}

static void test_facts_about_leaving_a_kernel(void **state)
{
	static const char *const forced[] = {"CONFIG_LOCK_DOWN_KERNEL_FORCE_INTEGRITY=y\n",
					     "CONFIG_LOCK_DOWN_KERNEL_FORCE_CONFIDENTIALITY=y\n"};
	struct kconfig_facts f;
	struct kg_err err;
	size_t i;

	(void)state;
	assert_int_equal(kconfig_read("CONFIG_LOCK_DOWN_KERNEL_FORCE_NONE=y\n"
				      "# CONFIG_KEXEC_SIG_FORCE is not set\n",
				      "6.1", &f, &err),
			 0);
	assert_false(f.lockdown_forced || f.kexec_sig_force || f.loadpin_enforce);
	for (i = 0; i < 2; i++) {
		assert_int_equal(kconfig_read(forced[i], "6.1", &f, &err), 0);
		assert_true(f.lockdown_forced);
	}
	assert_int_equal(kconfig_read("CONFIG_KEXEC_SIG_FORCE=y\n"
				      "CONFIG_SECURITY_LOADPIN_ENFORCE=y\n",
				      "6.1", &f, &err),
			 0);
	assert_true(f.kexec_sig_force && f.loadpin_enforce);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts_about_leaving_a_kernel),
		cmocka_unit_test(test_value_is_found_with_or_without_prefix),
		cmocka_unit_test(test_string_value_loses_quotes_and_escapes),
		cmocka_unit_test(test_value_that_does_not_fit_is_not_cut),
		cmocka_unit_test(test_last_line_of_an_option_wins),
		cmocka_unit_test(test_debian_6_1_predicts_what_it_boots),
		cmocka_unit_test(test_debian_6_12_predicts_what_it_boots),
		cmocka_unit_test(test_release_comes_from_the_heading_when_not_given),
		cmocka_unit_test(test_5_0_takes_the_default_major_and_boot_values),
		cmocka_unit_test(test_ubuntu_is_recognised_by_its_signature),
		cmocka_unit_test(test_built_in_command_line_is_read),
		cmocka_unit_test(test_last_line_of_an_option_may_take_it_back),
		cmocka_unit_test(test_forms_of_a_built_in_command_line),
		cmocka_unit_test(test_what_a_config_lacks_is_not_what_it_denies),
		cmocka_unit_test(test_text_that_is_no_config_is_refused),
		cmocka_unit_test(test_value_too_long_for_its_field_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
