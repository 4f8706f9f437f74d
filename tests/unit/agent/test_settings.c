/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/lib/cmocka_all.h"

#include "agent/settings.h"
#include "common/err.h"
#include "common/file.h"
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

/* A second name of the same file: what is written there shows here. */
static void link_to(const struct fake_root *r, const char *path, const char *other)
{
	char from[256], to[256];

	fake_put(r, other, "");
	(void)snprintf(from, sizeof(from), "%s%s", r->dir, path);
	(void)snprintf(to, sizeof(to), "%s%s", r->dir, other);
	assert_int_equal(unlink(to), 0);
	assert_int_equal(link(from, to), 0);
}

static int apply_noted(const struct fake_root *r, const char *const *words,
		       const struct settings_undo *undo, struct kg_err *err)
{
	struct kg_param_value list[8] = {{NULL, NULL}};
	size_t n;

	for (n = 0; words[2 * n]; n++)
		list[n] = (struct kg_param_value){(char *)(uintptr_t)words[2 * n],
						  (char *)(uintptr_t)words[2 * n + 1]};
	return settings_apply_all(r->dir, list, n, undo, err);
}

static int apply_all(const struct fake_root *r, const char *const *words, struct kg_err *err)
{
	return apply_noted(r, words, NULL, err);
}

static void test_all_are_read_again_once_the_last_is_made(void **state)
{
	static const char *const words[] = {"sysctl.vm.swappiness", "10", "sysctl.vm.dirty_ratio",
					    "20", NULL};
	const struct fake_root *r = *state;
	struct kg_err err = {""};

	link_to(r, "/proc/sys/vm/swappiness", "/proc/sys/vm/dirty_ratio");
	assert_int_equal(apply_all(r, words, &err), KG_ESTATE);
	assert_string_equal(err.text, "setting 'sysctl.vm.swappiness': wanted '10', found '20' "
				      "once the other settings were made");
}

static void shows(const struct fake_root *r, const char *path, const char *text)
{
	char name[256], line[64];

	(void)snprintf(name, sizeof(name), "%s%s", r->dir, path);
	assert_int_equal(kg_file_read_line(name, line, sizeof(line), NULL), 0);
	assert_string_equal(line, text);
}

static void test_what_is_set_otherwise_later_is_found(void **state)
{
	const struct kg_param_value list[] = {
		{(char *)(uintptr_t) "sysctl.vm.swappiness", (char *)(uintptr_t) "10"},
		{(char *)(uintptr_t) "governor", (char *)(uintptr_t) "performance"}};
	const struct fake_root *r = *state;
	struct kg_err err = {""};

	assert_int_equal(settings_apply_all(r->dir, list, 2, NULL, &err), 0);
	assert_int_equal(settings_check_all(r->dir, list, 2, " after the run", &err), 0);
	fake_put(r, CPU "/cpu1/cpufreq/scaling_governor", "powersave\n");
	assert_int_equal(settings_check_all(r->dir, list, 2, " after the run", &err), KG_ESTATE);
	assert_non_null(strstr(err.text, "wanted 'performance', found 'powersave' after the run"));
	shows(r, CPU "/cpu1/cpufreq/scaling_governor", "powersave"); /* it only looks */
}

static struct settings_undo notes_in(const struct fake_root *r, char path[128], const char *host)
{
	(void)snprintf(path, 128, "%s/settings-before", r->dir);
	return (struct settings_undo){path, host};
}

/* Names of one length and longer: a file is not cut when it is written, unlike the kernel's. */
static void test_what_the_hardware_keeps_is_undone(void **state)
{
	static const char *const words[] = {
		"sysctl.vm.swappiness", "10", "turbo", "off", "governor", "userspace", NULL};
	static const char *const more[] = {"governor", "performance", NULL};
	const struct fake_root *r = *state;
	struct kg_err err = {""};
	char path[128];
	const struct settings_undo undo = notes_in(r, path, "host-boot-1");

	assert_int_equal(apply_noted(r, words, &undo, &err), 0);
	assert_int_equal(apply_noted(r, words, &undo, &err), 0); /* an agent that was restarted */
	assert_int_equal(apply_noted(r, more, &undo, &err), 0);
	shows(r, CPU "/cpu1/cpufreq/scaling_governor", "performance");
	fake_put(r, CPU "/cpu0/cpufreq/scaling_governor", "");
	fake_put(r, CPU "/cpu1/cpufreq/scaling_governor", "");
	assert_int_equal(settings_undo_all(&undo), 0);
	shows(r, CPU "/cpu0/cpufreq/scaling_governor", "schedutil");
	shows(r, CPU "/cpu1/cpufreq/scaling_governor", "schedutil");
	shows(r, CPU "/intel_pstate/no_turbo", "0");
	shows(r, "/proc/sys/vm/swappiness", "10"); /* a new kernel has its own */
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(settings_undo_all(&undo), 0);
}

static void test_a_reset_has_undone_it(void **state)
{
	static const char *const words[] = {"turbo", "off", NULL};
	const struct fake_root *r = *state;
	struct kg_err err = {""};
	char path[128];
	const struct settings_undo old = notes_in(r, path, "host-boot-1");
	const struct settings_undo new = notes_in(r, path, "host-boot-2");

	assert_int_equal(apply_noted(r, words, &old, &err), 0);
	assert_int_equal(settings_undo_all(&new), 0);
	shows(r, CPU "/intel_pstate/no_turbo", "1");
	fake_put(r, CPU "/intel_pstate/no_turbo", "0\n");
	assert_int_equal(apply_noted(r, words, &old, &err), 0);
	fake_put(r, CPU "/intel_pstate/no_turbo", "0\n");
	assert_int_equal(apply_noted(r, words, &new, &err), 0);
	fake_remove(r, CPU "/intel_pstate/no_turbo");
	assert_int_equal(settings_undo_all(&new), 1); /* the note of the new one */
}

static void test_without_its_note_nothing_is_overwritten(void **state)
{
	static const char *const words[] = {"turbo", "off", NULL};
	const struct fake_root *r = *state;
	const struct settings_undo undo = {"/nonexistent/settings-before", "host-boot-1"};
	struct kg_err err = {""};

	assert_int_equal(apply_noted(r, words, &undo, &err), -ENOENT);
	assert_non_null(strstr(err.text, "'turbo': '0' cannot be noted"));
	shows(r, CPU "/intel_pstate/no_turbo", "0");
}

static void test_which_cpus_there_are_is_settled_first(void **state)
{
	static const char *const words[] = {"governor", "performance", "smt", "off", NULL};
	const struct fake_root *r = *state;
	struct kg_err err = {""};

	/* the governor is in one file with it, and the last one that was written shows */
	link_to(r, CPU "/smt/control", CPU "/cpu0/cpufreq/scaling_governor");
	assert_int_equal(apply_all(r, words, &err), KG_ESTATE);
	assert_non_null(strstr(err.text, "'smt': wanted 'off', found 'performance'"));
}

static void test_no_settings_are_none(void **state)
{
	static const char *const words[] = {NULL};
	struct kg_err err = {""};

	assert_int_equal(apply_all(*state, words, &err), 0);
}

static void test_a_number_may_be_written_in_another_way(void **state)
{
	static const char *const same[] = {"sysctl.vm.swappiness", "16 a", "sysctl.vm.dirty_ratio",
					   "0x10 a", NULL};
	static const char *const other[] = {"sysctl.vm.swappiness", "16 a", "sysctl.vm.dirty_ratio",
					    "0x11 a", NULL};
	static const char *const more[] = {"sysctl.vm.swappiness", "16 b", "sysctl.vm.dirty_ratio",
					   "16 b 7", NULL};
	const struct fake_root *r = *state;
	struct kg_err err = {""};

	link_to(r, "/proc/sys/vm/swappiness", "/proc/sys/vm/dirty_ratio");
	if (apply_all(r, same, &err) < 0)
		fail_msg("%s", err.text);
	fake_put(r, "/proc/sys/vm/swappiness", "");
	assert_int_equal(apply_all(r, other, &err), KG_ESTATE);
	link_to(r, "/proc/sys/vm/swappiness", "/proc/sys/vm/dirty_ratio");
	fake_put(r, "/proc/sys/vm/swappiness", "");
	link_to(r, "/proc/sys/vm/swappiness", "/proc/sys/vm/dirty_ratio");
	assert_int_equal(apply_all(r, more, &err), KG_ESTATE);
}

static void test_a_cpu_that_is_off_line_has_no_governor(void **state)
{
	const struct fake_root *r = *state;

	fake_put(r, CPU "/cpu2/online", "0\n");
	applied(r, "governor", "performance");
	fake_put(r, CPU "/cpu2/online", "1\n");
	refused(r, "governor", "performance", KG_ENODATA, "'cpu2' is on line and has no");
}

static void test_turbo_is_said_in_the_words_of_the_job(void **state)
{
	const struct fake_root *r = *state;

	fake_put(r, CPU "/intel_pstate/no_turbo", "00\n"); /* shows 10 once 1 is written */
	refused(r, "turbo", "off", KG_ESTATE, "wanted 'off', found '10'");
	fake_remove(r, CPU "/intel_pstate/no_turbo");
	refused(r, "turbo", "on", KG_ENODATA, "does not have it");
	fake_put(r, CPU "/cpufreq/boost", "0\n");
	applied(r, "turbo", "on");
	applied(r, "turbo", "off");
}

static void test_an_interface_may_have_a_dot_in_its_name(void **state)
{
	const struct fake_root *r = *state;

	fake_put(r, "/proc/sys/net/ipv4/conf/eth0.1/forwarding", "0\n");
	applied(r, "sysctl.net.ipv4.conf.eth0/1.forwarding", "1");
	applied(r, "sysctl.net/ipv4/conf/eth0.1/forwarding", "0");
}

static void test_no_name_leads_out_of_proc_sys(void **state)
{
	static const char *const names[] = {
		"...etc.passwd",
		"vm/../../etc/passwd",
		"a.//.b",
		"a//b",
		"",
		".",
		"/",
		"/etc/passwd",
		".vm",
		"vm.",
		"vm..x",
		"vm/",
		"vm/.hidden",
		"vm swappiness",
		"vm.swapp\xc3",
		"vm.a*b",
		"vm.a\nb",
	};
	const struct fake_root *r = *state;
	char name[400];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(name, sizeof(name), "sysctl.%s", names[i]);
		refused(r, name, "x", KG_EINVALID, "no name of a sysctl");
	}
	(void)snprintf(name, sizeof(name), "sysctl.%0300d", 0);
	refused(r, name, "x", KG_EINVALID, "no name of a sysctl");
}

static void test_what_is_no_setting_is_refused(void **state)
{
	const struct fake_root *r = *state;
	char big[1100];

	memset(big, '1', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	refused(r, "sysctl.vm.swappiness", big, KG_EINVALID, "expected one line");
	refused(r, "sysctl.vm.swappiness", "1\n2", KG_EINVALID, "expected one line");
	refused(r, "sysctl.vm.swappiness", "1\r", KG_EINVALID, "expected one line");
	refused(r, "colour", "red", KG_EINVALID, "not known");
	refused(r, "", "red", KG_EINVALID, "not known");
	refused(r, "sysctl", "red", KG_EINVALID, "not known");
	refused(r, "turbo", "maybe", KG_EINVALID, "expected on or off");
	refused(r, "smt", "forceoff", KG_EINVALID, "expected on or off");
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
		TEST(test_all_are_read_again_once_the_last_is_made),
		TEST(test_what_is_set_otherwise_later_is_found),
		TEST(test_what_the_hardware_keeps_is_undone),
		TEST(test_a_reset_has_undone_it),
		TEST(test_without_its_note_nothing_is_overwritten),
		TEST(test_which_cpus_there_are_is_settled_first),
		TEST(test_no_settings_are_none),
		TEST(test_a_number_may_be_written_in_another_way),
		TEST(test_a_cpu_that_is_off_line_has_no_governor),
		TEST(test_turbo_is_said_in_the_words_of_the_job),
		TEST(test_an_interface_may_have_a_dot_in_its_name),
		TEST(test_no_name_leads_out_of_proc_sys),
		TEST(test_what_is_no_setting_is_refused),
		TEST(test_the_machine_tells_what_can_be_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
