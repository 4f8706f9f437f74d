/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How words of the command line are read: quotes, ends, spellings, repetitions. */
#include "coordinator/plan/lsm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PLAIN "capability,yama,apparmor"
#define NO_AA "capability,yama,selinux"

/* Both switches are heard; apparmor comes first, then selinux. */
static struct lsm_kernel kernel(const char *release)
{
	struct lsm_kernel k = {
		.builtin = LSM_BIT(LSM_SELINUX) | LSM_BIT(LSM_APPARMOR) | LSM_BIT(LSM_YAMA),
		.selinux_bootparam = true,
		.config_lsm = "yama,apparmor,selinux",
	};

	(void)snprintf(k.release, sizeof(k.release), "%s", release);
	return k;
}

static void expect_on(const struct lsm_kernel *k, const char *cmdline, const char *effective)
{
	struct lsm_list l;
	struct kg_err err = {{0}};

	assert_int_equal(lsm_resolve(k, cmdline, &l, &err), 0);
	if (strcmp(l.effective, effective) != 0)
		fail_msg("'%s' on %s: '%s', expected '%s'", cmdline, k->release, l.effective,
			 effective);
	lsm_list_deinit(&l);
}

static void expect(const char *cmdline, const char *effective)
{
	struct lsm_kernel k = kernel("6.6.3");

	expect_on(&k, cmdline, effective);
}

/* A warning with that text; NULL: none at all. */
static void expect_warning_on(const struct lsm_kernel *k, const char *cmdline, const char *part)
{
	struct lsm_list l;
	struct kg_err err = {{0}};
	size_t i;

	assert_int_equal(lsm_resolve(k, cmdline, &l, &err), 0);
	if (!part && l.warnings.n)
		fail_msg("'%s' warns: %s", cmdline, l.warnings.items[0]);
	for (i = 0; part && i < l.warnings.n; i++)
		if (strstr(l.warnings.items[i], part))
			break;
	if (part && i == l.warnings.n)
		fail_msg("no warning '%s' for '%s'", part, cmdline);
	lsm_list_deinit(&l);
}

static void expect_warning(const char *cmdline, const char *part)
{
	struct lsm_kernel k = kernel("6.6.3");

	expect_warning_on(&k, cmdline, part);
}

static void test_quotes_are_taken_off_as_the_kernel_does(void **state)
{
	(void)state;
	expect("lsm=\"yama\"", "capability,yama");
	expect("\"lsm=yama\"", "capability,yama");
	expect("lsm=\"yama", "capability,yama");
	expect("\"lsm=yama quiet", "capability"); /* one word: "yama quiet" is no name */
	expect("lsm=\"", "capability");
	expect("lsm=\"\"", "capability");
	expect("lsm=ya\"\"ma", "capability");	  /* quotes inside stay */
	expect("lsm=yama\"", "capability");	  /* and so does one at the end alone */
	expect("\"lsm=\"yama\"\"", "capability"); /* only one is taken off at the end */
	expect("\"lsm=\"yama\"", "capability,yama");
	expect("lsm=\"yama,apparmor\" quiet", PLAIN);
	expect("lsm=\"yama, apparmor\"", "capability,yama"); /* " apparmor" is no name */
	expect("foo=\"lsm=yama\"", PLAIN);
	expect("foo=\" lsm=yama \"", PLAIN);
}

static void test_any_white_space_ends_a_word(void **state)
{
	(void)state;
	expect("  quiet\tlsm=yama\nro", "capability,yama");
	expect("lsm=yama\r\n", "capability,yama");
	expect("lsm= yama", "capability");
	expect("lsm =yama", PLAIN);
	expect_warning("lsm= yama", "ends at the space before 'yama'");
}

static void test_two_dashes_end_the_kernels_part(void **state)
{
	(void)state;
	expect("-- lsm=yama", PLAIN);
	expect("\"--\" lsm=yama", PLAIN);
	expect("---- lsm=yama", "capability,yama");
	expect("--=1 lsm=yama", "capability,yama");
	expect("lsm=-- lsm=yama", "capability,yama");
	expect("apparmor=0 -- apparmor=1", NO_AA);
}

static void test_a_name_without_a_value_is_another_parameter(void **state)
{
	(void)state;
	expect("lsm", PLAIN);
	expect("security", PLAIN);
	expect("apparmor", PLAIN);
	expect("lsm.debug", PLAIN);
	expect("xlsm=yama", PLAIN);
	expect("lsm.x=yama", PLAIN);
	expect("=lsm=yama", PLAIN);
}

static void test_names_are_matched_with_their_case(void **state)
{
	(void)state;
	expect("LSM=yama", PLAIN);
	expect_warning("LSM=yama", "LSM= is not a parameter of the kernel, lsm= is");
	expect("AppArmor=0", PLAIN);
	expect_warning("AppArmor=0", "apparmor= is");
	expect("lsm=YAMA,yama", "capability,yama");
	expect("security=SELinux", "capability,yama");
}

static void test_the_last_of_several_counts(void **state)
{
	(void)state;
	expect("lsm=apparmor lsm=yama", "capability,yama");
	expect("lsm=yama lsm=", "capability");
	expect("security=selinux security=apparmor", PLAIN);
	expect_warning("security=selinux security=apparmor",
		       "security= is given 2 times, only the last counts");
	expect("apparmor=0 apparmor=1", PLAIN);
	expect("apparmor=1 apparmor=0", NO_AA);
	expect("apparmor=0 apparmor=maybe", NO_AA);
	expect("apparmor=0 apparmor.enabled=y", PLAIN);
	expect("security=selinux lsm=apparmor security=yama", "capability,apparmor");
}

static void test_empty_names_match_nothing(void **state)
{
	(void)state;
	expect("lsm=,", "capability");
	expect("lsm=,,yama,,", "capability,yama");
	expect_warning("lsm=,,yama,,", NULL);
}

static void test_numbers_are_read_as_kstrtoul_does(void **state)
{
	static const char *const off[] = {"0", "00", "0x0", "0X00", "+0", "+0x0", "000000000"};
	static const char *const on[] = {"1", "2", "01", "0x1", "+7", "18446744073709551615"};
	static const char *const neither[] = {
		"",   "off", "no",   "n",      "false",	 "-0",
		"-1", "0x",  "08",   "0b0",    "0.0",	 "0,",
		"+",  "++0", "0x0g", "\"0 \"", "\" 0\"", "18446744073709551616"};
	char word[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		(void)snprintf(word, sizeof(word), "apparmor=%s", off[i]);
		expect(word, NO_AA);
		expect_warning(word, NULL);
		(void)snprintf(word, sizeof(word), "selinux=%s apparmor=0", off[i]);
		expect(word, "capability,yama");
	}
	for (i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		(void)snprintf(word, sizeof(word), "apparmor=0 apparmor=%s", on[i]);
		expect(word, PLAIN);
	}
	for (i = 0; i < sizeof(neither) / sizeof(neither[0]); i++) {
		(void)snprintf(word, sizeof(word), "apparmor=%s", neither[i]);
		expect(word, PLAIN);
		expect_warning(word, "the kernel does not understand the value");
		(void)snprintf(word, sizeof(word), "apparmor=0 apparmor=%s", neither[i]);
		expect(word, NO_AA);
	}
}

static void test_words_for_yes_and_no_depend_on_the_version(void **state)
{
	static const struct {
		const char *value, *first_version; /* NULL: never */
	} off[] = {{"n", "5.1"},   {"N", "5.1"},      {"no", "5.1"},	    {"0", "5.1"},
		   {"0x1", "5.1"}, {"off", "5.1"},    {"OFF", "5.1"},	    {"of", "5.1"},
		   {"f", "5.19"},  {"False", "5.19"}, {"disabled", "6.15"}, {"D", "6.15"},
		   {"o", NULL},	   {"", NULL},	      {"-1", NULL},	    {"x", NULL}},
	  on[] = {{"y", "5.1"},	 {"1", "5.1"},	   {"on", "5.1"},
		  {"t", "5.19"}, {"TRUE", "5.19"}, {"enable", "6.15"}};
	static const char *const versions[] = {"5.1", "5.18", "5.19", "6.14", "6.15", "7.3"};
	char line[80];
	size_t i, v;

	(void)state;
	for (v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		struct lsm_kernel k = kernel(versions[v]);
		bool known = false;

		for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
			size_t w;

			known = false;
			for (w = 0; w <= v && off[i].first_version; w++)
				known = known || strcmp(versions[w], off[i].first_version) == 0;
			(void)snprintf(line, sizeof(line), "apparmor.enabled=%s", off[i].value);
			expect_on(&k, line, known ? NO_AA : PLAIN);
		}
		for (i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
			size_t w;

			known = false;
			for (w = 0; w <= v; w++)
				known = known || strcmp(versions[w], on[i].first_version) == 0;
			(void)snprintf(line, sizeof(line), "apparmor=0 apparmor.enabled=%s",
				       on[i].value);
			expect_on(&k, line, known ? PLAIN : NO_AA);
		}
	}
}

static void test_a_switch_of_what_is_not_built_in_says_nothing(void **state)
{
	struct lsm_kernel k = kernel("6.6");

	(void)state;
	k.builtin &= ~(LSM_BIT(LSM_APPARMOR) | LSM_BIT(LSM_SELINUX));
	expect_on(&k, "apparmor=0 selinux=0", "capability,yama");
	expect_warning_on(&k, "apparmor=off selinux=0", NULL);
}

static void test_a_switch_without_its_option_says_so(void **state)
{
	struct lsm_kernel k = kernel("6.6");

	(void)state;
	k.selinux_bootparam = false;
	expect_on(&k, "selinux=0 lsm=selinux", "capability,selinux");
	expect_warning_on(&k, "selinux=0", "without CONFIG_SECURITY_SELINUX_BOOTPARAM");
	expect_warning_on(&k, "selinux=1", NULL);
}

static void test_default_of_a_switch_ends_with_5_0(void **state)
{
	struct lsm_kernel k = kernel("5.0");

	(void)state;
	(void)snprintf(k.default_security, sizeof(k.default_security), "apparmor");
	k.config_lsm[0] = '\0';
	k.apparmor_off = k.selinux_off = true;
	expect_on(&k, "", "capability,yama");
	expect_on(&k, "apparmor.enabled", PLAIN);
	expect_on(&k, "security=selinux", "capability,yama");
	expect_on(&k, "security=selinux selinux=1", NO_AA);
	k.selinux_bootparam = false; /* then there is no default that could say 0 */
	expect_on(&k, "security=selinux", NO_AA);
	k = kernel("5.1");
	k.apparmor_off = k.selinux_off = true;
	expect_on(&k, "", PLAIN);
	expect_on(&k, "apparmor=0 apparmor.enabled", NO_AA); /* from 5.1 on it needs a value */
}

static void test_security_of_a_minor_switches_majors_off_with_a_warning(void **state)
{
	struct lsm_kernel k = kernel("6.6");

	(void)state;
	expect("security=yama", "capability,yama");
	expect_warning("security=yama", "names none of selinux, smack, tomoyo and apparmor");
	expect_warning("security=", "security= names no LSM of 6.6.3");
	expect_warning("security=selinux", NULL);
	(void)snprintf(k.config_lsm, sizeof(k.config_lsm), "apparmor");
	expect_on(&k, "security=yama", "capability,yama");
	expect_on(&k, "security=capability", "capability");
}

static void test_security_names_place_last_ones_before_others(void **state)
{
	struct lsm_kernel k = kernel("6.12");

	(void)state;
	k.builtin |= LSM_BIT(LSM_IMA) | LSM_BIT(LSM_EVM);
	expect_on(&k, "security=evm", "capability,yama,evm,ima");
	expect_on(&k, "security=ima", "capability,yama,ima,evm");
	expect_on(&k, "lsm=evm", "capability,ima,evm");
}

static void test_config_cmdline_stands_where_its_options_say(void **state)
{
	struct lsm_kernel k = kernel("6.6");

	(void)state;
	(void)snprintf(k.config_cmdline, sizeof(k.config_cmdline), "lsm=selinux");
	expect_on(&k, "lsm=yama", "capability,yama");
	k.config_cmdline_after = true;
	expect_on(&k, "lsm=yama", "capability,selinux");
	k.config_cmdline_after = false;
	k.config_cmdline_fallback = true;
	expect_on(&k, "lsm=yama", "capability,yama");
	expect_on(&k, "quiet", PLAIN);
	expect_on(&k, " ", "capability,selinux");
	k.config_cmdline_override = true;
	expect_on(&k, "lsm=yama", "capability,selinux");
}

static void test_a_quote_left_open_in_config_cmdline_takes_the_rest_with_it(void **state)
{
	struct lsm_kernel k = kernel("6.6");

	(void)state;
	(void)snprintf(k.config_cmdline, sizeof(k.config_cmdline), "foo=\"bar");
	expect_on(&k, "lsm=yama", PLAIN);
}

static void test_what_cannot_be_known_is_a_warning(void **state)
{
	char line[2100];

	(void)state;
	expect_warning("bootconfig quiet", "what the initrd adds");
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	expect_warning(line, "an x86 kernel reads 2047 of them");
	line[2047] = '\0';
	expect_warning(line, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quotes_are_taken_off_as_the_kernel_does),
		cmocka_unit_test(test_any_white_space_ends_a_word),
		cmocka_unit_test(test_two_dashes_end_the_kernels_part),
		cmocka_unit_test(test_a_name_without_a_value_is_another_parameter),
		cmocka_unit_test(test_names_are_matched_with_their_case),
		cmocka_unit_test(test_the_last_of_several_counts),
		cmocka_unit_test(test_empty_names_match_nothing),
		cmocka_unit_test(test_numbers_are_read_as_kstrtoul_does),
		cmocka_unit_test(test_words_for_yes_and_no_depend_on_the_version),
		cmocka_unit_test(test_a_switch_of_what_is_not_built_in_says_nothing),
		cmocka_unit_test(test_a_switch_without_its_option_says_so),
		cmocka_unit_test(test_default_of_a_switch_ends_with_5_0),
		cmocka_unit_test(test_security_of_a_minor_switches_majors_off_with_a_warning),
		cmocka_unit_test(test_security_names_place_last_ones_before_others),
		cmocka_unit_test(test_config_cmdline_stands_where_its_options_say),
		cmocka_unit_test(test_a_quote_left_open_in_config_cmdline_takes_the_rest_with_it),
		cmocka_unit_test(test_what_cannot_be_known_is_a_warning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
