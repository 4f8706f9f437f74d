/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "agent/settings.h"
#include "common/err.h"
#include "tests/unit/agent/fake_root.h"

#define CPU "/sys/devices/system/cpu"
#define THP "/sys/kernel/mm/transparent_hugepage"

static int setup(void **state)
{
	struct fake_root *r = calloc(1, sizeof(*r));

	fake_root_init(r);
	fake_put(r, "/proc/sys/vm/swappiness", "60\n");
	fake_put(r, "/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
	fake_put(r, CPU "/cpu0/cpufreq/scaling_governor", "schedutil\n");
	fake_put(r, CPU "/cpu1/cpufreq/scaling_governor", "schedutil\n");
	fake_put(r, CPU "/cpu0/cpufreq/scaling_available_governors", "performance schedutil \n");
	fake_put(r, CPU "/cpuidle/current_driver", "none\n");
	fake_put(r, CPU "/smt/control", "on\n");
	fake_put(r, CPU "/intel_pstate/no_turbo", "0\n");
	fake_put(r, THP "/enabled", "always [madvise] never\n");
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	fake_root_deinit(*state);
	free(*state);
	return 0;
}

static void applied(const struct fake_root *r, const char *name, const char *value)
{
	struct kg_err err = {""};

	if (settings_apply(r->dir, name, value, &err) < 0)
		fail_msg("%s", err.text);
}

static void refused(const struct fake_root *r, const char *name, const char *value, int code,
		    const char *text)
{
	struct kg_err err = {""};

	assert_int_equal(settings_apply(r->dir, name, value, &err), code);
	assert_non_null(strstr(err.text, text));
}

static void test_what_is_written_is_read_back(void **state)
{
	const struct fake_root *r = *state;

	applied(r, "sysctl.vm.swappiness", "10");
	applied(r, "governor", "performance");
	applied(r, "smt", "off");
	applied(r, "turbo", "off"); /* no_turbo is 1 then, and reads as it was written */
	applied(r, "turbo", "on");
}

static void test_blanks_between_numbers_do_not_count(void **state)
{
	applied(*state, "sysctl.net.ipv4.tcp_rmem", "4096 131072  6291456");
}

static void test_a_file_that_shows_something_else_is_named_with_both(void **state)
{
	/* the fake file keeps the whole text; a kernel would mark the chosen word */
	refused(*state, "thp", "[never] x", KG_ESTATE, "wanted '[never] x', found 'never'");
}

static void test_what_a_machine_does_not_have_is_said(void **state)
{
	const struct fake_root *r = *state;

	refused(r, "epp", "performance", KG_ENODATA, "does not have it");
	refused(r, "sysctl.kernel.no_such", "1", KG_ENODATA, "does not have it");
	refused(r, "thp-defrag", "never", KG_ENODATA, "does not have it");
}

static void test_no_name_leads_out_of_proc_sys(void **state)
{
	const struct fake_root *r = *state;

	refused(r, "sysctl...etc.passwd", "x", KG_EINVALID, "no name of a sysctl");
	refused(r, "sysctl.vm/../../etc/passwd", "x", KG_EINVALID, "no name of a sysctl");
	refused(r, "sysctl.", "x", KG_EINVALID, "no name of a sysctl");
	refused(r, "sysctl.vm.swappiness", "1\n2", KG_EINVALID, "expected one line");
	refused(r, "colour", "red", KG_EINVALID, "not known");
	refused(r, "turbo", "maybe", KG_EINVALID, "expected on or off");
}

static const char *offer(const struct kg_params *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return p->items[i].value;
	return NULL;
}

static void test_the_machine_tells_what_can_be_set(void **state)
{
	const struct fake_root *r = *state;
	struct kg_params p;

	assert_int_equal(settings_offer(r->dir, &p), 0);
	assert_string_equal(offer(&p, "governor"), "performance schedutil");
	assert_string_equal(offer(&p, "thp"), "always madvise never");
	assert_string_equal(offer(&p, "smt"), "on off");
	assert_string_equal(offer(&p, "turbo"), "on off");
	assert_null(offer(&p, "epp"));
	assert_null(offer(&p, "sysctl"));
	kg_params_deinit(&p);
	fake_put(r, CPU "/smt/control", "notsupported\n");
	assert_int_equal(settings_offer(r->dir, &p), 0);
	assert_null(offer(&p, "smt"));
	kg_params_deinit(&p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_is_written_is_read_back),
		TEST(test_blanks_between_numbers_do_not_count),
		TEST(test_a_file_that_shows_something_else_is_named_with_both),
		TEST(test_what_a_machine_does_not_have_is_said),
		TEST(test_no_name_leads_out_of_proc_sys),
		TEST(test_the_machine_tells_what_can_be_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
