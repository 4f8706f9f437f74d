/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons and warnings; the lists themselves are in test_lsm_vectors.c. */
#include "coordinator/plan/lsm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DEBIAN_LIST \
	"landlock,lockdown,yama,loadpin,safesetid,integrity,apparmor,selinux,smack,tomoyo,bpf,ipe"

static struct lsm_kernel debian(const char *release)
{
	struct lsm_kernel k = {
		.builtin = LSM_BIT(LSM_SELINUX) | LSM_BIT(LSM_TOMOYO) | LSM_BIT(LSM_APPARMOR) |
			   LSM_BIT(LSM_YAMA) | LSM_BIT(LSM_LOCKDOWN) | LSM_BIT(LSM_BPF) |
			   LSM_BIT(LSM_LANDLOCK) | LSM_BIT(LSM_IPE) | LSM_BIT(LSM_INTEGRITY) |
			   LSM_BIT(LSM_IMA) | LSM_BIT(LSM_EVM),
		.lockdown_early = true,
		.config_lsm = DEBIAN_LIST,
	};

	(void)snprintf(k.release, sizeof(k.release), "%s", release);
	return k;
}

static const struct lsm_kernel everything_50 = {
	.release = "5.0",
	.builtin = LSM_BIT(LSM_SELINUX) | LSM_BIT(LSM_SMACK) | LSM_BIT(LSM_TOMOYO) |
		   LSM_BIT(LSM_APPARMOR) | LSM_BIT(LSM_YAMA) | LSM_BIT(LSM_LOADPIN),
	.default_security = "apparmor",
	.selinux_bootparam = true,
};

static void resolve(const struct lsm_kernel *k, const char *cmdline, struct lsm_list *ret)
{
	struct kg_err err = {{0}};

	assert_int_equal(lsm_resolve(k, cmdline, ret, &err), 0);
}

static void expect_list(const struct lsm_kernel *k, const char *cmdline, const char *effective)
{
	struct lsm_list l;

	resolve(k, cmdline, &l);
	assert_string_equal(l.effective, effective);
	lsm_list_deinit(&l);
}

static const struct lsm_entry *entry(const struct lsm_list *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->entries[i].name, name) == 0)
			return &l->entries[i];
	fail_msg("no entry '%s'", name);
	return NULL;
}

static void expect_warning(const struct lsm_kernel *k, const char *cmdline, const char *part)
{
	struct lsm_list l;
	size_t i;

	resolve(k, cmdline, &l);
	for (i = 0; i < l.warnings.n; i++)
		if (strstr(l.warnings.items[i], part))
			break;
	if (i == l.warnings.n)
		fail_msg("no warning '%s' for '%s'", part, cmdline);
	lsm_list_deinit(&l);
}

static void test_plain_boot_has_no_warnings(void **state)
{
	struct lsm_kernel k = debian("6.12.117+deb12-cloud-amd64");
	struct lsm_list l;

	(void)state;
	resolve(&k, "console=ttyS0 quiet", &l);
	assert_int_equal(l.warnings.n, 0);
	lsm_list_deinit(&l);
}

static void test_name_not_built_in_is_a_warning_that_names_kernel(void **state)
{
	struct lsm_kernel k = debian("6.12.117+deb12-cloud-amd64");

	(void)state;
	expect_warning(&k, "lsm=yama,smack",
		       "'smack' is not built into 6.12.117+deb12-cloud-amd64; it will be missing");
}

static void test_warning_uses_the_name_when_the_kernel_has_one(void **state)
{
	struct lsm_kernel k = debian("6.12.1");

	(void)state;
	(void)snprintf(k.name, sizeof(k.name), "6.12.1 (mine)");
	expect_warning(&k, "lsm=smack", "not built into 6.12.1 (mine);");
}

static void test_second_exclusive_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(
		&k, "lsm=apparmor,selinux",
		"'selinux' cannot be active beside 'apparmor': both are exclusive, the first "
		"wins");
}

static void test_lsm_twice_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "lsm=yama lsm=landlock", "lsm= is given 2 times, only the last counts");
}

static void test_security_beside_lsm_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "security=selinux lsm=yama",
		       "security=selinux has no effect beside lsm=");
}

static void test_upper_case_suggests_lower_case(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "lsm=Yama",
		       "no kernel has an LSM 'Yama'; it has no effect (did you mean "
		       "'yama'?)");
}

static void test_none_is_no_keyword(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "lsm=none", "'none' is no keyword");
}

static void test_list_with_a_space_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "lsm=yama, landlock,bpf", "ends at the space before 'landlock,bpf'");
	expect_list(&k, "lsm=yama, landlock,bpf", "lockdown,capability,yama,ima,evm");
}

static void test_name_twice_in_list_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "lsm=yama,yama", "'yama' is named twice in lsm=");
}

static void test_security_without_such_lsm_switches_majors_off_with_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "security=none", "security=none names no LSM of 6.12.117");
}

static void test_selinux_0_without_bootparam_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "selinux=0", "CONFIG_SECURITY_SELINUX_BOOTPARAM");
}

static void test_requested_but_switched_off_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "lsm=apparmor apparmor=0",
		       "'apparmor' is requested and switched off by apparmor=0");
	expect_list(&k, "lsm=apparmor apparmor.enabled=n", "lockdown,capability,ima,evm");
}

static void test_integrity_is_no_lsm_since_6_9(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_warning(&k, "lsm=integrity", "'integrity' is not an LSM in 6.12.117 (since 6.9)");
	k = debian("6.8.1");
	expect_list(&k, "lsm=yama", "lockdown,capability,yama");
}

static void test_lsm_before_5_1_is_ignored_with_a_warning(void **state)
{
	(void)state;
	expect_warning(&everything_50, "lsm=selinux",
		       "lsm= is not a parameter of 5.0 (before 5.1)");
	expect_list(&everything_50, "lsm=selinux", "capability,yama,loadpin,apparmor");
}

static void test_major_switched_off_has_no_fallback_in_5_0(void **state)
{
	struct lsm_kernel k = everything_50;

	(void)state;
	expect_list(&k, "apparmor=0", "capability,yama,loadpin");
	k.apparmor_off = true; /* CONFIG_SECURITY_APPARMOR_BOOTPARAM_VALUE=0 */
	expect_list(&k, "", "capability,yama,loadpin");
	expect_list(&k, "apparmor=1", "capability,yama,loadpin,apparmor");
}

static void test_words_behind_two_dashes_are_for_init(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_list(&k, "lsm=yama -- lsm=bpf", "lockdown,capability,yama,ima,evm");
}

static void test_quotes_around_word_or_value_are_removed(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_list(&k, "lsm=\"yama,bpf\"", "lockdown,capability,yama,bpf,ima,evm");
	expect_list(&k, "\"lsm=yama,bpf\"", "lockdown,capability,yama,bpf,ima,evm");
}

static void test_config_cmdline_stands_before_the_given_one(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	(void)snprintf(k.config_cmdline, sizeof(k.config_cmdline), "lsm=bpf");
	expect_list(&k, "quiet", "lockdown,capability,bpf,ima,evm");
	expect_list(&k, "lsm=yama", "lockdown,capability,yama,ima,evm");
	k.config_cmdline_override = true;
	expect_list(&k, "lsm=yama", "lockdown,capability,bpf,ima,evm");
	expect_warning(&k, "lsm=yama", "CONFIG_CMDLINE_OVERRIDE");
}

static void test_ubuntu_profile_lets_apparmor_and_selinux_stand_together(void **state)
{
	struct lsm_kernel k = debian("6.8.0-31-generic");

	(void)state;
	expect_list(&k, "lsm=apparmor,selinux", "lockdown,capability,apparmor");
	k.profile = LSM_PROFILE_UBUNTU;
	expect_list(&k, "lsm=apparmor,selinux", "lockdown,capability,apparmor,selinux");
}

static void test_every_name_has_a_reason(void **state)
{
	struct lsm_kernel k = debian("6.12.117");
	struct lsm_list l;

	(void)state;
	resolve(&k, "lsm=yama,apparmor,selinux,smack,nosuch apparmor=1", &l);
	assert_string_equal(l.effective, "lockdown,capability,yama,apparmor,ima,evm");
	assert_int_equal(entry(&l, "lockdown")->reason, LSM_IN_EARLY);
	assert_int_equal(entry(&l, "capability")->reason, LSM_IN_FIRST);
	assert_int_equal(entry(&l, "yama")->reason, LSM_IN_REQUEST);
	assert_true(entry(&l, "yama")->in && entry(&l, "yama")->requested);
	assert_int_equal(entry(&l, "ima")->reason, LSM_IN_LAST);
	assert_int_equal(entry(&l, "selinux")->reason, LSM_OUT_EXCLUSIVE);
	assert_string_equal(entry(&l, "selinux")->why,
			    "'apparmor' comes first and both are exclusive");
	assert_int_equal(entry(&l, "smack")->reason, LSM_OUT_BUILTIN);
	assert_int_equal(entry(&l, "nosuch")->reason, LSM_OUT_UNKNOWN);
	assert_int_equal(entry(&l, "tomoyo")->reason, LSM_OUT_LIST);
	assert_string_equal(entry(&l, "tomoyo")->why, "not in lsm=");
	assert_false(entry(&l, "tomoyo")->requested);
	lsm_list_deinit(&l);

	resolve(&k, "security=selinux", &l);
	assert_int_equal(entry(&l, "tomoyo")->reason, LSM_OUT_SECURITY);
	assert_string_equal(entry(&l, "tomoyo")->why, "switched off by security=selinux");
	assert_int_equal(entry(&l, "landlock")->reason, LSM_IN_CONFIG);
	lsm_list_deinit(&l);

	k = debian("6.1.1");
	resolve(&k, "lsm=integrity,ipe", &l);
	assert_int_equal(entry(&l, "integrity")->reason, LSM_OUT_HIDDEN);
	lsm_list_deinit(&l);
}

static void expect_reason(const struct lsm_kernel *k, const char *cmdline, const char *name,
			  enum lsm_reason reason, const char *why)
{
	struct lsm_list l;

	resolve(k, cmdline, &l);
	assert_int_equal(entry(&l, name)->reason, reason);
	assert_string_equal(entry(&l, name)->why, why);
	lsm_list_deinit(&l);
}

static void test_reasons_are_true(void **state)
{
	struct lsm_kernel k = debian("6.12.117");

	(void)state;
	expect_reason(&k, "", "yama", LSM_IN_CONFIG, "named by CONFIG_LSM");
	expect_reason(&k, "", "smack", LSM_OUT_BUILTIN, "not built in");
	expect_reason(&k, "", "integrity", LSM_OUT_VERSION, "not an LSM since 6.9");
	expect_reason(&k, "security=apparmor", "apparmor", LSM_IN_CONFIG,
		      "named by CONFIG_LSM and by security=");
	expect_reason(&k, "apparmor=0x0", "apparmor", LSM_OUT_SWITCH,
		      "switched off by apparmor=0x0");
	expect_reason(&k, "apparmor.enabled=off lsm=apparmor", "apparmor", LSM_OUT_SWITCH,
		      "switched off by apparmor.enabled=off");
	expect_reason(&k, "lsm=yama", "bpf", LSM_OUT_LIST, "not in lsm=");
	expect_reason(&k, "lsm=ima", "ima", LSM_IN_LAST, "always on where built in");
	(void)snprintf(k.config_lsm, sizeof(k.config_lsm), "yama");
	expect_reason(&k, "", "bpf", LSM_OUT_LIST, "not in CONFIG_LSM");
	expect_reason(&k, "security=selinux", "selinux", LSM_IN_SECURITY, "named by security=");
	k = debian("6.6");
	expect_reason(&k, "lsm=ima", "ima", LSM_OUT_VERSION, "not an LSM before 6.9");
	expect_reason(&k, "", "integrity", LSM_OUT_HIDDEN, "active, but never shown in the list");
	k = debian("6.3");
	expect_reason(&k, "lsm=yama", "integrity", LSM_OUT_LIST, "not in lsm=");
}

static void test_reasons_up_to_5_0_are_true(void **state)
{
	struct lsm_kernel k = everything_50;
	struct lsm_list l;

	(void)state;
	k.builtin |= LSM_BIT(LSM_INTEGRITY) | LSM_BIT(LSM_IMA) | LSM_BIT(LSM_LANDLOCK);
	expect_list(&k, "", "capability,yama,loadpin,apparmor");
	expect_reason(&k, "", "apparmor", LSM_IN_CONFIG, "named by CONFIG_DEFAULT_SECURITY");
	expect_reason(&k, "lsm=selinux", "selinux", LSM_OUT_LIST,
		      "CONFIG_DEFAULT_SECURITY is 'apparmor'");
	expect_reason(&k, "lsm=landlock", "landlock", LSM_OUT_VERSION, "not an LSM before 5.13");
	expect_reason(&k, "lsm=integrity", "integrity", LSM_OUT_VERSION, "not an LSM before 5.1");
	expect_reason(&k, "security=selinux", "apparmor", LSM_OUT_SECURITY,
		      "switched off by security=selinux");
	expect_reason(&k, "", "yama", LSM_IN_FIXED, "built in, and cannot be left out before 5.1");
	resolve(&k, "lsm=selinux,nosuch security=tomoyo", &l);
	assert_string_equal(l.effective, "capability,yama,loadpin,tomoyo");
	assert_true(entry(&l, "selinux")->requested && entry(&l, "nosuch")->requested);
	assert_true(entry(&l, "tomoyo")->requested);
	assert_int_equal(l.warnings.n, 1); /* that lsm= is not heard, and nothing on its names */
	lsm_list_deinit(&l);
	k.default_security[0] = '\0';
	expect_reason(&k, "", "tomoyo", LSM_OUT_LIST, "CONFIG_DEFAULT_SECURITY names none");
}

static void test_security_beside_lsm_is_no_request(void **state)
{
	struct lsm_kernel k = debian("6.12");
	struct lsm_list l;

	(void)state;
	resolve(&k, "lsm=yama security=selinux", &l);
	assert_false(entry(&l, "selinux")->requested);
	assert_int_equal(entry(&l, "selinux")->reason, LSM_OUT_LIST);
	lsm_list_deinit(&l);
}

static void test_name_in_config_that_is_not_known_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12");

	(void)state;
	(void)snprintf(k.config_lsm, sizeof(k.config_lsm), "yama,vendorlsm");
	expect_warning(&k, "", "names 'vendorlsm', which is not known here");
	expect_reason(&k, "", "vendorlsm", LSM_OUT_UNKNOWN, "no kernel has an LSM of that name");
}

static void test_no_security_is_an_empty_list_with_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12");

	(void)state;
	k.no_security = true;
	expect_list(&k, "lsm=yama,apparmor", "");
	expect_warning(&k, "lsm=yama", "built without CONFIG_SECURITY");
	expect_reason(&k, "lsm=yama", "yama", LSM_OUT_BUILTIN, "not built in");
	expect_list(&k, "security=selinux", "");
}

/* security/Kconfig of 5.1 to 7.3; no config of these versions lacks the line but one that was made
 * smaller, or one of an older kernel. */
static void test_missing_config_lsm_is_its_default(void **state)
{
	static const struct {
		const char *release, *chosen, *effective, *named;
	} rows[] = {
		{"5.1", "", "capability,yama,loadpin,safesetid,selinux,tomoyo",
		 "'yama,loadpin,safesetid,integrity,selinux,smack,tomoyo,apparmor'"},
		{"5.3", "apparmor", "capability,yama,loadpin,safesetid,apparmor,tomoyo",
		 "'yama,loadpin,safesetid,integrity,apparmor,selinux,smack,tomoyo'"},
		{"5.6", "smack", "capability,lockdown,yama,loadpin,safesetid,smack,tomoyo",
		 "'lockdown,yama,loadpin,safesetid,integrity,smack,selinux,tomoyo,apparmor'"},
		{"5.10", "tomoyo", "capability,lockdown,yama,loadpin,safesetid,tomoyo,bpf",
		 "'lockdown,yama,loadpin,safesetid,integrity,tomoyo,bpf'"},
		{"5.15", "selinux",
		 "capability,landlock,lockdown,yama,loadpin,safesetid,selinux,tomoyo,bpf",
		 "'landlock,lockdown,yama,loadpin,safesetid,integrity,selinux,smack,tomoyo,"
		 "apparmor,bpf'"},
		{"6.11", "dac", "capability,landlock,lockdown,yama,loadpin,safesetid,bpf,ima,evm",
		 "'landlock,lockdown,yama,loadpin,safesetid,bpf'"},
		{"6.12", "apparmor",
		 "capability,landlock,lockdown,yama,loadpin,safesetid,apparmor,tomoyo,ipe,bpf,ima,"
		 "evm",
		 "'landlock,lockdown,yama,loadpin,safesetid,apparmor,selinux,smack,tomoyo,ipe,"
		 "bpf'"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lsm_kernel k = {.builtin = LSM_BIT(LSM_COUNT) - 1, .no_config_lsm = true};
		bool dac = strcmp(rows[i].chosen, "dac") == 0;

		if (strcmp(rows[i].release, "5.1") == 0 || strcmp(rows[i].release, "5.3") == 0)
			k.builtin &= ~(LSM_BIT(LSM_LOCKDOWN) | LSM_BIT(LSM_BPF));
		k.default_dac = dac;
		(void)snprintf(k.release, sizeof(k.release), "%s", rows[i].release);
		(void)snprintf(k.default_security, sizeof(k.default_security), "%s",
			       dac ? "" : rows[i].chosen);
		expect_list(&k, "", rows[i].effective);
		expect_warning(&k, "", "has no CONFIG_LSM, so that its default is taken: ");
		expect_warning(&k, "", rows[i].named);
		expect_reason(&k, "", "yama", LSM_IN_CONFIG, "named by the default of CONFIG_LSM");
	}
}

static void test_default_of_config_lsm_without_selinux_begins_with_what_is_built_in(void **state)
{
	struct lsm_kernel k = debian("6.12");

	(void)state;
	k.no_config_lsm = true;
	k.builtin &= ~LSM_BIT(LSM_SELINUX);
	/* the choice is tomoyo's, whose default names no other */
	expect_list(&k, "", "lockdown,capability,landlock,yama,tomoyo,ipe,bpf,ima,evm");
	expect_reason(&k, "", "apparmor", LSM_OUT_LIST, "not in the default of CONFIG_LSM");
	expect_list(&k, "lsm=apparmor", "lockdown,capability,apparmor,ima,evm");
}

static void test_config_lsm_of_5_0_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("5.0");

	(void)state;
	expect_warning(&k, "", "has CONFIG_LSM, which begins with 5.1");
}

static void test_config_without_a_word_on_security_is_a_warning(void **state)
{
	struct lsm_kernel k = debian("6.12");

	(void)state;
	k.security_unsaid = true;
	expect_warning(&k, "", "does not say whether CONFIG_SECURITY is set: it is not whole");
	k.security_unsaid = false;
	k.no_config_lsm = true; /* cut between the two */
	expect_warning(&k, "lsm=yama", "has no CONFIG_LSM: it is not whole, and what it lacks");
}

static void test_security_that_names_none_says_what_was_meant(void **state)
{
	struct lsm_kernel k = debian("6.12");

	(void)state;
	expect_warning(&k, "security=AppArmor", "are all off (did you mean 'apparmor'?)");
	expect_warning(&k, "security=selinux,yama", "are all off; it takes one name, no list");
}

static void test_capability_is_not_first_behind_an_early_one(void **state)
{
	struct lsm_kernel k = debian("6.12");

	(void)state;
	expect_reason(&k, "", "capability", LSM_IN_FIRST, "always on, behind none but early ones");
	k.lockdown_early = false;
	expect_reason(&k, "", "capability", LSM_IN_FIRST, "always first");
}

static void test_releases_of_vendors_are_read(void **state)
{
	static const struct {
		const char *release, *effective;
	} rows[] = {
		{"6.4.0-rc3", "lockdown,capability,yama"},
		{"6.9-rc1", "lockdown,capability,yama,ima,evm"},
		{"6.8.0-31-generic", "lockdown,capability,yama"},
		{"5.10.0-1160-generic", "lockdown,capability,yama"},
		{"6.12.117+deb12-cloud-amd64", "lockdown,capability,yama,ima,evm"},
		{"5.1", "lockdown,capability,yama"},
		{"5.1.0-rc1+", "lockdown,capability,yama"},
		{"5.0.21", "capability,yama"},
		{"10.0", "lockdown,capability,yama,ima,evm"},
		{"6.100.1", "lockdown,capability,yama,ima,evm"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lsm_kernel k = debian(rows[i].release);

		expect_list(&k, "lsm=yama", rows[i].effective);
	}
}

static void test_words_for_reasons_are_all_different(void **state)
{
	int i, k;

	(void)state;
	for (i = LSM_IN_FIRST; i <= LSM_UNTOLD; i++)
		for (k = LSM_IN_FIRST; k < i; k++)
			assert_string_not_equal(lsm_reason_name((enum lsm_reason)i),
						lsm_reason_name((enum lsm_reason)k));
}

static void test_profile_has_two_words(void **state)
{
	enum lsm_profile p = LSM_PROFILE_UPSTREAM;

	(void)state;
	assert_true(lsm_parse_profile("ubuntu", &p));
	assert_int_equal(p, LSM_PROFILE_UBUNTU);
	assert_true(lsm_parse_profile("upstream", &p));
	assert_int_equal(p, LSM_PROFILE_UPSTREAM);
	assert_false(lsm_parse_profile("Ubuntu", &p));
	assert_false(lsm_parse_profile("", &p));
}

static void test_release_without_version_is_refused(void **state)
{
	static const char *const bad[] = {"",	  "linux", "6",	   "v6.1",   "6.",     ".6",
					  "6.-8", "6. 8",  " 6.8", "6.1234", "1234.5", "6,1"};
	struct lsm_kernel k = debian("6.1");
	struct lsm_list l;
	struct kg_err err = {{0}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(k.release, sizeof(k.release), "%s", bad[i]);
		assert_int_equal(lsm_resolve(&k, "", &l, &err), KG_EINVALID);
		assert_non_null(strstr(err.text, "not a kernel release"));
	}
}

static void test_release_older_than_the_rules_is_refused(void **state)
{
	static const char *const old[] = {"4.20.17", "4.18.0-553.el8_10.x86_64", "3.10", "2.6.32"};
	struct lsm_kernel k = debian("5.0.0-rc1");
	struct lsm_list l;
	size_t i;

	(void)state;
	expect_list(&k, "lsm=apparmor", "capability,yama");
	for (i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		struct kg_err err = {{0}};

		(void)snprintf(k.release, sizeof(k.release), "%s", old[i]);
		assert_int_equal(lsm_resolve(&k, "", &l, &err), KG_EINVALID);
		assert_non_null(strstr(err.text, old[i]));
		assert_non_null(strstr(err.text, "is older than 5.0"));
	}
}

static void test_newer_than_known_follows_the_newest_rules(void **state)
{
	struct lsm_kernel k = debian("9.4.0-rc1");

	(void)state;
	expect_list(&k, "lsm=bpf,yama", "lockdown,capability,bpf,yama,ima,evm");
}

static void check_bad_list(const char *list, const char *part)
{
	struct kg_err err = {{0}};

	assert_int_equal(lsm_check_list(list, &err), KG_EINVALID);
	if (!strstr(err.text, part))
		fail_msg("'%s' is not in '%s'", part, err.text);
}

static void test_check_list_refuses_what_no_kernel_matches(void **state)
{
	struct kg_err err = {{0}};

	(void)state;
	assert_int_equal(lsm_check_list("", &err), 0);
	assert_int_equal(lsm_check_list("landlock,yama,integrity,evm", &err), 0);
	check_bad_list("Yama", "upper case");
	check_bad_list("Yama", "write 'yama'");
	check_bad_list("yama, bpf", "' bpf' has a space");
	check_bad_list("yama,,bpf", "empty name");
	check_bad_list("yama,", "empty name");
	check_bad_list("aparmor", "did you mean 'apparmor'?");
	check_bad_list("!apparmor", "no kernel has an LSM '!apparmor'");
	check_bad_list("none", "no kernel has an LSM 'none'; known are ");
	check_bad_list("none", ", apparmor, ");
	check_bad_list("none", ", and \"\" is the empty list");
	check_bad_list("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		       "70 letters");
}

static void test_builtin_text_is_in_link_order(void **state)
{
	struct lsm_kernel k = debian("6.12");
	char text[LSM_BUILTIN_TEXT_MAX];

	(void)state;
	lsm_builtin_text(&k, text, sizeof(text));
	assert_string_equal(text,
			    "capability,selinux,tomoyo,apparmor,yama,lockdown,bpf,landlock,ipe,"
			    "integrity,ima,evm");
	k.builtin = ~UINT32_C(0);
	lsm_builtin_text(&k, text, sizeof(text));
	assert_non_null(strstr(text, ",evm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_boot_has_no_warnings),
		cmocka_unit_test(test_name_not_built_in_is_a_warning_that_names_kernel),
		cmocka_unit_test(test_warning_uses_the_name_when_the_kernel_has_one),
		cmocka_unit_test(test_second_exclusive_is_a_warning),
		cmocka_unit_test(test_lsm_twice_is_a_warning),
		cmocka_unit_test(test_security_beside_lsm_is_a_warning),
		cmocka_unit_test(test_upper_case_suggests_lower_case),
		cmocka_unit_test(test_none_is_no_keyword),
		cmocka_unit_test(test_list_with_a_space_is_a_warning),
		cmocka_unit_test(test_name_twice_in_list_is_a_warning),
		cmocka_unit_test(test_security_without_such_lsm_switches_majors_off_with_a_warning),
		cmocka_unit_test(test_selinux_0_without_bootparam_is_a_warning),
		cmocka_unit_test(test_requested_but_switched_off_is_a_warning),
		cmocka_unit_test(test_integrity_is_no_lsm_since_6_9),
		cmocka_unit_test(test_lsm_before_5_1_is_ignored_with_a_warning),
		cmocka_unit_test(test_major_switched_off_has_no_fallback_in_5_0),
		cmocka_unit_test(test_words_behind_two_dashes_are_for_init),
		cmocka_unit_test(test_quotes_around_word_or_value_are_removed),
		cmocka_unit_test(test_config_cmdline_stands_before_the_given_one),
		cmocka_unit_test(test_ubuntu_profile_lets_apparmor_and_selinux_stand_together),
		cmocka_unit_test(test_every_name_has_a_reason),
		cmocka_unit_test(test_reasons_are_true),
		cmocka_unit_test(test_reasons_up_to_5_0_are_true),
		cmocka_unit_test(test_security_beside_lsm_is_no_request),
		cmocka_unit_test(test_name_in_config_that_is_not_known_is_a_warning),
		cmocka_unit_test(test_no_security_is_an_empty_list_with_a_warning),
		cmocka_unit_test(test_missing_config_lsm_is_its_default),
		cmocka_unit_test(
			test_default_of_config_lsm_without_selinux_begins_with_what_is_built_in),
		cmocka_unit_test(test_config_lsm_of_5_0_is_a_warning),
		cmocka_unit_test(test_config_without_a_word_on_security_is_a_warning),
		cmocka_unit_test(test_security_that_names_none_says_what_was_meant),
		cmocka_unit_test(test_capability_is_not_first_behind_an_early_one),
		cmocka_unit_test(test_releases_of_vendors_are_read),
		cmocka_unit_test(test_words_for_reasons_are_all_different),
		cmocka_unit_test(test_profile_has_two_words),
		cmocka_unit_test(test_release_without_version_is_refused),
		cmocka_unit_test(test_release_older_than_the_rules_is_refused),
		cmocka_unit_test(test_newer_than_known_follows_the_newest_rules),
		cmocka_unit_test(test_check_list_refuses_what_no_kernel_matches),
		cmocka_unit_test(test_builtin_text_is_in_link_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
