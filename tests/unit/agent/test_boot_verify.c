/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NONCE "0123456789abcdef0123456789abcdef"

static const struct boot_expected expected = {
	.boot = 12,
	.nonce = NONCE,
	.release = "6.12.117+deb12-cloud-amd64",
	.build_id = "aabbcc",
	.lsm = "lockdown,capability,landlock,yama",
	.cmdline = "console=ttyS0 panic=5 lsm=landlock,yama",
};

static const struct boot_seen right = {
	.cmdline = "console=ttyS0 panic=5 lsm=landlock,yama kgrid.boot=12." NONCE,
	.release = "6.12.117+deb12-cloud-amd64",
	.build_id = "aabbcc",
	.lsm = "lockdown,capability,landlock,yama",
};

static enum kg_outcome judge(const struct boot_seen *seen)
{
	struct kg_err why;
	enum kg_outcome o = boot_verify(&expected, seen, &why);

	assert_true((o == KG_OUTCOME_PASS) == (why.text[0] == '\0'));
	return o;
}

static void test_what_was_asked_for_passes(void **state)
{
	(void)state;
	assert_int_equal(judge(&right), KG_OUTCOME_PASS);
}

static void test_attempt_without_nonce_is_boot_fallback(void **state)
{
	struct boot_seen s = right;

	(void)state;
	s.cmdline = "console=ttyS0 panic=5 lsm=landlock,yama";
	assert_int_equal(judge(&s), KG_OUTCOME_BOOT_FALLBACK);
	s.cmdline = "console=ttyS0 kgrid.boot=12.ffffffffffffffffffffffffffffffff";
	assert_int_equal(judge(&s), KG_OUTCOME_BOOT_FALLBACK);
	s.cmdline = "console=ttyS0 kgrid.boot=13." NONCE;
	assert_int_equal(judge(&s), KG_OUTCOME_BOOT_FALLBACK);
	s.cmdline = "console=ttyS0 xkgrid.boot=12." NONCE;
	assert_int_equal(judge(&s), KG_OUTCOME_BOOT_FALLBACK);
	s.cmdline = NULL;
	assert_int_equal(judge(&s), KG_OUTCOME_BOOT_FALLBACK);
}

static void test_fallback_wins_over_all_other_differences(void **state)
{
	struct boot_seen s = {.cmdline = "quiet", .release = "5.10", .build_id = "00", .lsm = "x"};

	(void)state;
	assert_int_equal(judge(&s), KG_OUTCOME_BOOT_FALLBACK);
}

static void test_other_release_or_build_id_is_wrong_kernel(void **state)
{
	struct boot_seen s = right;

	(void)state;
	s.release = "6.12.118+deb12-cloud-amd64";
	s.lsm = "capability"; /* what the kernel is comes first */
	assert_int_equal(judge(&s), KG_OUTCOME_WRONG_KERNEL);
	s = right;
	s.build_id = "aabbcd";
	assert_int_equal(judge(&s), KG_OUTCOME_WRONG_KERNEL);
	s.build_id = "AABBCC";
	assert_int_equal(judge(&s), KG_OUTCOME_PASS);
	s.build_id = NULL; /* this kernel shows none */
	assert_int_equal(judge(&s), KG_OUTCOME_PASS);
}

static void test_list_must_be_exact_in_names_and_order(void **state)
{
	static const char *const wrong[] = {
		"lockdown,capability,yama,landlock",
		"lockdown,capability,landlock,yama,bpf",
		"lockdown,capability,landlock",
		"",
		NULL,
	};
	struct boot_seen s = right;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		s.lsm = wrong[i];
		assert_int_equal(judge(&s), KG_OUTCOME_WRONG_LSM);
	}
}

static void test_lost_lsm_word_is_wrong_lsm_when_the_list_differs(void **state)
{
	struct boot_seen s = right;

	(void)state;
	s.cmdline = "console=ttyS0 panic=5 kgrid.boot=12." NONCE;
	s.lsm = "lockdown,capability,landlock,yama,apparmor,tomoyo,bpf";
	assert_int_equal(judge(&s), KG_OUTCOME_WRONG_LSM);
}

static void test_lost_word_is_wrong_cmdline_when_the_list_is_right(void **state)
{
	struct boot_seen s = right;

	(void)state;
	s.cmdline = "console=ttyS0 lsm=landlock,yama kgrid.boot=12." NONCE;
	assert_int_equal(judge(&s), KG_OUTCOME_WRONG_CMDLINE);
	s.cmdline = "lsm=landlock,yama console=ttyS0 panic=5 kgrid.boot=12." NONCE;
	assert_int_equal(judge(&s), KG_OUTCOME_WRONG_CMDLINE);
}

static void test_words_added_by_a_loader_do_not_matter(void **state)
{
	struct boot_seen s = right;

	(void)state;
	s.cmdline = "BOOT_IMAGE=/x console=ttyS0 quiet panic=5 lsm=landlock,yama elfcorehdr=1 "
		    "kgrid.boot=12." NONCE;
	assert_int_equal(judge(&s), KG_OUTCOME_PASS);
}

static void test_what_is_not_known_is_not_compared(void **state)
{
	struct boot_expected e = {.boot = 12, .nonce = NONCE};
	struct boot_seen s = {.cmdline = "kgrid.boot=12." NONCE, .release = "x", .lsm = "y"};
	struct kg_err why;

	(void)state;
	assert_int_equal(boot_verify(&e, &s, &why), KG_OUTCOME_PASS);
	e.lsm = ""; /* no LSM at all is something to compare */
	assert_int_equal(boot_verify(&e, &s, &why), KG_OUTCOME_WRONG_LSM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_was_asked_for_passes),
		cmocka_unit_test(test_attempt_without_nonce_is_boot_fallback),
		cmocka_unit_test(test_fallback_wins_over_all_other_differences),
		cmocka_unit_test(test_other_release_or_build_id_is_wrong_kernel),
		cmocka_unit_test(test_list_must_be_exact_in_names_and_order),
		cmocka_unit_test(test_lost_lsm_word_is_wrong_lsm_when_the_list_differs),
		cmocka_unit_test(test_lost_word_is_wrong_cmdline_when_the_list_is_right),
		cmocka_unit_test(test_words_added_by_a_loader_do_not_matter),
		cmocka_unit_test(test_what_is_not_known_is_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
