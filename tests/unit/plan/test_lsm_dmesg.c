/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real boot logs, and the forms in which tools hand them over. */
#include "coordinator/plan/lsm_dmesg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"
#include "common/str.h"

#define STATED	"LSM: initializing lsm=lockdown,capability,landlock,yama,apparmor,bpf,integrity\n"
#define LIST	"lockdown,capability,landlock,yama,apparmor,bpf"
#define VERSION "Linux version 6.4.3-1-default (geeko@buildhost) (gcc 13) #1 SMP\n"

static void parse(const char *text, struct lsm_log *ret)
{
	struct kg_err err = {{0}};
	int rc = lsm_dmesg_parse(text, strlen(text), ret, &err);

	if (rc != 0)
		fail_msg("%d: %s", rc, err.text);
}

static void parse_file(const char *name, struct lsm_log *ret)
{
	struct kg_err err = {{0}};
	char path[512];
	char *text;
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/%s", KGRID_TEST_DATA, name);
	assert_int_equal(kg_file_read(path, 1 << 20, &text, &len, &err), 0);
	parse(text, ret);
	free(text);
}

static const struct lsm_entry *entry(const struct lsm_log *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->list.n; i++)
		if (strcmp(l->list.entries[i].name, name) == 0)
			return &l->list.entries[i];
	fail_msg("no entry '%s'", name);
	return NULL;
}

static void expect_entry(const struct lsm_log *l, const char *name, enum lsm_reason reason,
			 const char *why)
{
	const struct lsm_entry *e = entry(l, name);

	if (e->reason != reason || !strstr(e->why, why))
		fail_msg("'%s' is %s: '%s'", name, lsm_reason_name(e->reason), e->why);
}

static bool warns(const struct lsm_log *l, const char *part)
{
	size_t i;

	for (i = 0; i < l->list.warnings.n; i++)
		if (strstr(l->list.warnings.items[i], part))
			return true;
	return false;
}

static void expect_list(const char *text, const char *effective)
{
	struct lsm_log l;

	parse(text, &l);
	if (strcmp(l.list.effective, effective) != 0)
		fail_msg("'%s': '%s', expected '%s'", text, l.list.effective, effective);
	lsm_log_deinit(&l);
}

static void expect_none(const char *text, const char *part)
{
	struct lsm_log l;
	struct kg_err err = {{0}};

	assert_int_equal(lsm_dmesg_parse(text, strlen(text), &l, &err), KG_ENODATA);
	if (!strstr(err.text, part))
		fail_msg("'%s' is not in '%s'", part, err.text);
}

/* ---- logs of real boots ---- */

static void test_log_with_a_stated_list(void **state)
{
	struct lsm_log l;

	(void)state;
	parse_file("dmesg_lsm_6.4.0_grid.txt", &l);
	assert_string_equal(l.list.effective,
			    "lockdown,capability,landlock,yama,apparmor,tomoyo,bpf");
	assert_true(l.complete);
	assert_int_equal(l.boots, 1);
	assert_string_equal(l.release, "6.4.0-vanilla");
	assert_true(warns(&l, "is that of BOOT_IMAGE="));
	assert_true(warns(&l, "neither the LSMs that are built in nor CONFIG_LSM"));
	expect_entry(&l, "lockdown", LSM_IN_EARLY, "before the command line");
	expect_entry(&l, "capability", LSM_IN_FIRST, "behind none but early ones");
	expect_entry(&l, "tomoyo", LSM_IN_CONFIG, "named by CONFIG_LSM");
	expect_entry(&l, "integrity", LSM_OUT_HIDDEN, "never shown");
	lsm_log_deinit(&l);
}

static void test_log_of_a_boot_with_security(void **state)
{
	struct lsm_log l;

	(void)state;
	parse_file("dmesg_lsm_6.4.1_security_selinux.txt", &l);
	assert_string_equal(l.list.effective, "lockdown,capability,landlock,yama,selinux,bpf");
	assert_string_equal(l.release, "6.4.1-1-default");
	assert_non_null(strstr(l.cmdline, "security=selinux selinux=1"));
	expect_entry(&l, "selinux", LSM_IN_SECURITY, "named by security=");
	assert_true(entry(&l, "selinux")->requested);
	expect_entry(&l, "bpf", LSM_IN_CONFIG, "named by CONFIG_LSM");
	assert_false(entry(&l, "bpf")->requested);
	lsm_log_deinit(&l);
}

static void test_log_with_lsm_debug_has_every_reason(void **state)
{
	struct lsm_log l;

	(void)state;
	parse_file("dmesg_lsm_debug_6.4.1.txt", &l);
	assert_string_equal(l.list.effective, "lockdown,capability,landlock,yama,selinux,bpf");
	assert_true(l.complete);
	assert_null(l.release);
	assert_null(l.cmdline);
	expect_entry(&l, "lockdown", LSM_IN_EARLY, "before the command line");
	expect_entry(&l, "landlock", LSM_IN_CONFIG, "named by CONFIG_LSM");
	expect_entry(&l, "selinux", LSM_IN_CONFIG, "named by CONFIG_LSM");
	assert_true(entry(&l, "selinux")->requested);
	expect_entry(&l, "tomoyo", LSM_OUT_SECURITY, "security=selinux");
	expect_entry(&l, "apparmor", LSM_OUT_SECURITY, "security=selinux");
	expect_entry(&l, "loadpin", LSM_OUT_BUILTIN, "not built in");
	expect_entry(&l, "smack", LSM_OUT_BUILTIN, "not built in");
	expect_entry(&l, "integrity", LSM_OUT_HIDDEN, "never shown");
	assert_false(warns(&l, "built in nor"));
	lsm_log_deinit(&l);
}

/* ---- wordings of the versions ---- */

static void test_debug_lines_of_5_10(void **state)
{
	static const char text[] =
		"[    0.000000] Linux version 5.10.0-46-cloud-amd64 (debian-kernel@x) #1\n"
		"[    0.000000] Command line: lsm.debug lsm=landlock,yama,selinux,apparmor,nosuch\n"
		"[    0.021000] LSM: Security Framework initializing\n"
		"[    0.021100] LSM: first ordering: capability (enabled)\n"
		"[    0.021200] LSM: cmdline ignored: landlock\n"
		"[    0.021300] LSM: cmdline ordering: yama (enabled)\n"
		"[    0.021400] LSM: cmdline ordering: selinux (enabled)\n"
		"[    0.021500] LSM: cmdline ordering: apparmor (enabled)\n"
		"[    0.021500] LSM: cmdline ignored: nosuch\n"
		"[    0.021600] LSM: cmdline disabled: tomoyo\n"
		"[    0.021700] LSM: cmdline disabled: bpf\n"
		"[    0.021800] LSM: exclusive chosen: selinux\n"
		"[    0.021900] LSM: exclusive disabled: apparmor\n"
		"[    0.022000] LSM: cred blob size     = 24\n"
		"[    0.022100] LSM: initializing capability\n"
		"[    0.022200] LSM: initializing yama\n"
		"[    0.022300] Yama: becoming mindful.\n"
		"[    0.022400] LSM: initializing selinux\n"
		"[    0.022500] SELinux:  Initializing.\n";
	struct lsm_log l;

	(void)state;
	parse(text, &l);
	assert_string_equal(l.list.effective, "capability,yama,selinux");
	assert_string_equal(l.release, "5.10.0-46-cloud-amd64");
	expect_entry(&l, "yama", LSM_IN_REQUEST, "named by lsm=");
	expect_entry(&l, "landlock", LSM_OUT_VERSION, "not an LSM before 5.13");
	expect_entry(&l, "nosuch", LSM_OUT_UNKNOWN, "no kernel has");
	expect_entry(&l, "apparmor", LSM_OUT_EXCLUSIVE, "'selinux' comes first");
	expect_entry(&l, "tomoyo", LSM_OUT_LIST, "built in, and not in lsm=");
	/* Debian's early lockdown was there and left no line */
	assert_false(l.complete);
	assert_true(warns(&l, "a lockdown that starts before the command line is read"));
	lsm_log_deinit(&l);
}

static void test_debug_lines_of_6_19(void **state)
{
	static const char text[] =
		"[    0.000000] Linux version 7.0.13-cloud-amd64 (debian-kernel@x) #1\n"
		"[    0.000000] Command line: lsm.debug security=selinux apparmor=0\n"
		"[    0.030000] LSM: available LSMs: "
		"lockdown(E),capability,selinux,tomoyo,apparmor,"
		"yama,bpf,landlock,ipe,ima,evm\n"
		"[    0.030000] LSM: built-in LSM config: landlock,lockdown,yama,apparmor,smack\n"
		"[    0.030000] LSM: legacy LSM parameter: selinux\n"
		"[    0.030000] LSM: boot LSM parameter: (null)\n"
		"[    0.030000] LSM: enabled LSM early:lockdown\n"
		"[    0.030000] LSM: skip legacy LSM conflict builtin:tomoyo\n"
		"[    0.030000] LSM: skip legacy LSM conflict builtin:apparmor\n"
		"[    0.030000] LSM: enabling LSM first:capability\n"
		"[    0.030000] LSM: enabling LSM builtin:landlock\n"
		"[    0.030000] LSM: enabling LSM builtin:yama\n"
		"[    0.030000] LSM: skip previously disabled LSM builtin:apparmor\n"
		"[    0.030000] LSM: select exclusive LSM builtin:selinux\n"
		"[    0.030000] LSM: enabling LSM builtin:selinux\n"
		"[    0.030000] LSM: enabling LSM last:ima\n"
		"[    0.030000] LSM: enabling LSM last:evm\n"
		"[    0.030000] LSM: skip disabled LSM builtin:tomoyo\n"
		"[    0.030000] LSM: skip disabled LSM builtin:bpf\n"
		"[    0.030000] LSM: blob(cred) size 32\n"
		"[    0.030000] LSM: initializing capability\n"
		"[    0.030000] LSM: initializing landlock\n"
		"[    0.030000] landlock: Up and running.\n"
		"[    0.030000] LSM: initializing yama\n"
		"[    0.030000] LSM: initializing selinux\n"
		"[    0.030000] LSM: initializing ima\n"
		"[    0.030000] LSM: initializing evm\n"
		"[    1.000000] LSM: running selinux device initcall\n"
		"[    1.100000] LSM: all enabled LSMs fully activated\n";
	struct lsm_log l;

	(void)state;
	parse(text, &l);
	assert_string_equal(l.list.effective, "lockdown,capability,landlock,yama,selinux,ima,evm");
	assert_true(l.complete);
	assert_int_equal(l.list.warnings.n, 0);
	expect_entry(&l, "lockdown", LSM_IN_EARLY, "before");
	expect_entry(&l, "ima", LSM_IN_LAST, "always on");
	expect_entry(&l, "tomoyo", LSM_OUT_SECURITY, "security=selinux");
	expect_entry(&l, "apparmor", LSM_OUT_SECURITY, "security=selinux");
	expect_entry(&l, "bpf", LSM_OUT_LIST, "not in CONFIG_LSM");
	expect_entry(&l, "ipe", LSM_OUT_LIST, "not in CONFIG_LSM");
	assert_true(entry(&l, "selinux")->requested);
	lsm_log_deinit(&l);
}

static void test_switched_off_in_6_19(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("Linux version 6.19.2\nKernel command line: lsm.debug lsm=apparmor,yama apparmor=0\n"
	      "LSM: available LSMs: capability,apparmor,yama,smack\n"
	      "LSM: boot LSM parameter: apparmor,yama\n"
	      "LSM: enabling LSM first:capability\n"
	      "LSM: skip previously disabled LSM cmdline:apparmor\n"
	      "LSM: enabling LSM cmdline:yama\n"
	      "LSM: skip disabled LSM cmdline:apparmor\n"
	      "LSM: initializing capability\nLSM: initializing yama\n",
	      &l);
	assert_string_equal(l.list.effective, "capability,yama");
	expect_entry(&l, "apparmor", LSM_OUT_SWITCH, "switched off by apparmor=0");
	expect_entry(&l, "smack", LSM_OUT_LIST, "not in lsm=");
	expect_entry(&l, "yama", LSM_IN_REQUEST, "named by lsm=");
	assert_true(warns(&l, "'apparmor' is asked for and not in the list"));
	lsm_log_deinit(&l);
}

static void test_messages_alone_make_a_list_that_is_not_complete(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("[    0.000000] Linux version 7.0.13 (x@y) #1\n"
	      "[    0.000000] Command line: "
	      "lsm=lockdown,landlock,yama,apparmor,selinux,ipe,nosuch\n"
	      "[    0.030000] landlock: Up and running.\n"
	      "[    0.030000] Yama: becoming mindful.\n"
	      "[    0.030000] AppArmor: AppArmor initialized\n"
	      "[    0.900000] ima: Allocated hash algorithm: sha256\n"
	      "[    0.910000] evm: Initialising EVM extended attributes:\n",
	      &l);
	assert_string_equal(l.list.effective, "capability,landlock,yama,apparmor,ima,evm");
	assert_false(l.complete);
	assert_true(warns(&l, "6.19 and later print no list without lsm.debug"));
	assert_true(warns(&l, "neither the LSMs that are built in nor CONFIG_LSM"));
	expect_entry(&l, "yama", LSM_IN_REQUEST, "named by lsm=");
	expect_entry(&l, "ima", LSM_IN_LAST, "always on");
	expect_entry(&l, "lockdown", LSM_UNTOLD, "says nothing at its start");
	expect_entry(&l, "ipe", LSM_UNTOLD, "says nothing at its start");
	expect_entry(&l, "selinux", LSM_OUT_LOG, "'apparmor' started, and both are exclusive");
	expect_entry(&l, "nosuch", LSM_OUT_UNKNOWN, "no kernel has");
	assert_false(entry(&l, "lockdown")->in);
	lsm_log_deinit(&l);
}

static void test_ima_and_evm_are_no_lsms_before_6_9(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("Linux version 6.1.192\nYama: becoming mindful.\n"
	      "ima: Allocated hash algorithm: sha256\nevm: Initialising EVM extended attributes:\n",
	      &l);
	assert_string_equal(l.list.effective, "capability,yama");
	assert_true(warns(&l, "kernels before 6.2 print no list without lsm.debug"));
	lsm_log_deinit(&l);
}

static void test_log_of_5_0(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("[    0.000000] Linux version 5.0.21 (x)\n"
	      "[    0.000000] Command line: lsm=selinux\n"
	      "[    0.010000] LSM: Security Framework initializing\n"
	      "[    0.010000] Yama: becoming mindful.\n"
	      "[    0.010000] LoadPin: ready to pin (currently enforcing)\n"
	      "[    0.010000] AppArmor: AppArmor initialized\n",
	      &l);
	assert_string_equal(l.list.effective, "capability,yama,loadpin,apparmor");
	expect_entry(&l, "yama", LSM_IN_FIXED, "cannot be left out");
	expect_entry(&l, "apparmor", LSM_IN_CONFIG, "CONFIG_DEFAULT_SECURITY");
	lsm_log_deinit(&l);
	parse("Linux version 4.19.0\nCommand line: security=selinux selinux=0\n"
	      "Security Framework initialized\nSELinux:  Disabled at boot.\n",
	      &l);
	assert_string_equal(l.list.effective, "capability");
	expect_entry(&l, "selinux", LSM_OUT_SWITCH, "switched off by selinux=0");
	lsm_log_deinit(&l);
}

static void test_framework_line_alone_is_capability(void **state)
{
	(void)state;
	expect_list("[    0.1] LSM: Security Framework initializing\n", "capability");
}

static void test_missing_list_of_6_12_is_said(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("Linux version 6.12.117\nYama: becoming mindful.\n", &l);
	assert_true(warns(&l, "is missing, so that the log is not whole"));
	assert_true(warns(&l, "does not have the command line"));
	expect_entry(&l, "yama", LSM_IN_LOG, "does not have the command line");
	lsm_log_deinit(&l);
}

static void test_superseded_security_is_not_a_request(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("Linux version 6.4.1\n"
	      "LSM: security=selinux is ignored because it is superseded by lsm=yama,smack\n"
	      "LSM: initializing lsm=capability,yama,integrity\nYama: becoming mindful.\n",
	      &l);
	assert_string_equal(l.list.effective, "capability,yama");
	expect_entry(&l, "yama", LSM_IN_REQUEST, "named by lsm=");
	expect_entry(&l, "smack", LSM_OUT_LOG, "probably not built in");
	lsm_log_deinit(&l);
}

static void test_requested_that_did_not_start_says_what_can_be_known(void **state)
{
	struct lsm_log l;

	(void)state;
	parse(VERSION "Command line: lsm=apparmor,selinux,smack,tomoyo,ima apparmor=1\n"
		      "LSM: initializing lsm=capability,apparmor,integrity\n",
	      &l);
	assert_true(l.complete);
	expect_entry(&l, "selinux", LSM_OUT_LOG, "not built in, or 'apparmor' came first");
	expect_entry(&l, "tomoyo", LSM_OUT_LOG, "probably not built in");
	expect_entry(&l, "ima", LSM_OUT_VERSION, "not an LSM before 6.9");
	lsm_log_deinit(&l);
	parse(VERSION "Command line: lsm=apparmor,yama apparmor=0\n"
		      "LSM: initializing lsm=capability,yama,integrity\n",
	      &l);
	expect_entry(&l, "apparmor", LSM_OUT_LOG, "switched off by apparmor=0");
	lsm_log_deinit(&l);
}

static void test_a_switch_that_the_kernel_did_not_read_is_no_reason(void **state)
{
	static const char words[] = "Kernel command line: lsm=apparmor,selinux selinux=0\n";
	static const char list[] = "LSM: initializing lsm=lockdown,capability,apparmor\n";
	char text[512];
	struct lsm_log l;

	(void)state;
	(void)snprintf(text, sizeof(text),
		       "Linux version 6.1.0-52-amd64 (x)\n%sUnknown kernel command line parameters "
		       "\"BOOT_IMAGE=/vmlinuz selinux=0\", will be passed to user space.\n%s",
		       words, list);
	parse(text, &l);
	expect_entry(&l, "selinux", LSM_OUT_LOG, "'apparmor' came first and both are exclusive");
	assert_null(strstr(entry(&l, "selinux")->why, "selinux=0"));
	lsm_log_deinit(&l);
	(void)snprintf(
		text, sizeof(text),
		"Linux version 6.1.0-1-default (x)\n%sUnknown kernel command line parameters "
		"\"noselinux=0 BOOT_IMAGE=selinux\", will be passed to user space.\n%s",
		words, list);
	parse(text, &l);
	expect_entry(&l, "selinux", LSM_OUT_LOG, "not started: switched off by selinux=0");
	assert_null(strstr(entry(&l, "selinux")->why, "apparmor"));
	lsm_log_deinit(&l);
	(void)snprintf(text, sizeof(text),
		       "Linux version 5.10.0-46-amd64 (x)\n%sAppArmor: AppArmor initialized\n",
		       words);
	parse(text, &l);
	expect_entry(&l, "selinux", LSM_OUT_LOG,
		     "switched off by selinux=0, or 'apparmor' came first");
	lsm_log_deinit(&l);
}

static void test_only_an_exclusive_one_that_comes_first_is_to_blame(void **state)
{
	static const char apparmor[] = "LSM: initializing lsm=capability,apparmor\n";
	char text[512];
	struct lsm_log l;

	(void)state;
	(void)snprintf(text, sizeof(text),
		       "Linux version 6.1.2 (x)\nCommand line: lsm=selinux,apparmor,smack\n%s",
		       apparmor);
	parse(text, &l);
	expect_entry(&l, "selinux", LSM_OUT_LOG, "not started: probably not built in");
	expect_entry(&l, "smack", LSM_OUT_LOG, "'apparmor' came first and both are exclusive");
	lsm_log_deinit(&l);
	(void)snprintf(text, sizeof(text),
		       "Linux version 6.8.0-31-generic (buildd@x) #31-Ubuntu SMP PREEMPT_DYNAMIC\n"
		       "Command line: lsm=apparmor,selinux\n%s",
		       apparmor);
	parse(text, &l);
	expect_entry(&l, "selinux", LSM_OUT_LOG, "not started: probably not built in");
	lsm_log_deinit(&l);
}

static void test_lsm_debug_tells_what_is_not_built_in(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("Linux version 7.0.13 (x)\nKernel command line: lsm.debug security=smack\n"
	      "LSM: available LSMs: capability,smack,yama\n"
	      "LSM: built-in LSM config: yama,bpf\nLSM: legacy LSM parameter: smack\n"
	      "LSM: boot LSM parameter: (null)\nLSM: enabling LSM first:capability\n"
	      "LSM: enabling LSM builtin:yama\nLSM: select exclusive LSM builtin:smack\n"
	      "LSM: enabling LSM builtin:smack\nLSM: initializing capability\n"
	      "LSM: initializing yama\nLSM: initializing smack\n",
	      &l);
	expect_entry(&l, "yama", LSM_IN_CONFIG, "named by CONFIG_LSM");
	expect_entry(&l, "smack", LSM_IN_SECURITY, "named by security=");
	lsm_log_deinit(&l);
	parse("Linux version 7.0.13 (x)\nKernel command line: lsm.debug "
	      "lsm=yama,apparmor,integrity\n"
	      "LSM: available LSMs: capability,smack,yama\n"
	      "LSM: boot LSM parameter: yama,apparmor,integrity\n"
	      "LSM: enabling LSM first:capability\nLSM: enabling LSM cmdline:yama\n"
	      "LSM: skip disabled LSM cmdline:smack\n"
	      "LSM: initializing capability\nLSM: initializing yama\n",
	      &l);
	expect_entry(&l, "apparmor", LSM_OUT_BUILTIN, "not built in");
	expect_entry(&l, "integrity", LSM_OUT_VERSION, "not an LSM since 6.9");
	expect_entry(&l, "smack", LSM_OUT_LIST, "built in, and not in lsm=");
	lsm_log_deinit(&l);
	parse("Linux version 6.5.0 (x)\nKernel command line: lsm.debug security=safesetid\n"
	      "LSM: legacy security=safesetid\nLSM:   first ordered: capability (enabled)\n"
	      "LSM: builtin ordered: yama (enabled)\nLSM: initializing lsm=capability,yama\n"
	      "LSM: initializing capability\nLSM: initializing yama\n",
	      &l);
	expect_entry(&l, "safesetid", LSM_OUT_BUILTIN, "not built in");
	lsm_log_deinit(&l);
}

/* ---- what stands in front of messages ---- */

static void test_every_form_of_a_line_is_read(void **state)
{
	static const char *const prefixes[] = {
		"",
		"[    0.039846] ",
		"[    0.039846][    T0] ",
		"[    0.039846] [    T0] ",
		"[   T0] ",
		"<6>[    0.039846] ",
		"<6>",
		"6,339,39846,-;",
		"6,339,39846,-,caller=T0;",
		"Dec  1 10:00:00 host kernel: ",
		"Dec  1 10:00:00 host kernel: [    0.039846] ",
		"2026-12-01T10:00:00.123456+00:00 host kernel: ",
		"2026-12-01T10:00:00,123456+00:00 ",
		"[Tue Dec  1 10:00:00 2026] ",
		"[Tue Dec  1 10:00:00 2026] [    T0] ",
		"[Di Dez  1 10:00:00 2026] ",
		"[mar. d\xc3\xa9 1 10:00:00 2026] ",
		"[Dec 1 10:00] ",
		"[Dec11 10:00] ",
		"[2026-12-01 10:00:00] ",
		"[2026-12-01T10:00:00.123Z] [    0.039846] ",
		"[    0.039846][T0@C0] ",
		"[    0.039846] host kernel: ",
		"kern  :info  : [    0.039846] ",
		"kern  :info  : ",
		"[    0.039846 <    0.000012>] ",
		"[  +0.000012] ",
		"\033[32m[    0.039846] \033[0m\033[33m",
		"guest1| [    0.039846] ",
		"\t[    0.039846] ",
	};
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		(void)snprintf(text, sizeof(text), "%s%s", prefixes[i], STATED);
		expect_list(text, LIST);
		(void)snprintf(text, sizeof(text), "%s%.*s\r\n", prefixes[i],
			       (int)strlen(STATED) - 1, STATED);
		expect_list(text, LIST);
		(void)snprintf(text, sizeof(text), "%s%.*s", prefixes[i], (int)strlen(STATED) - 1,
			       STATED);
		expect_list(text, LIST); /* without an end of line */
	}
}

static void test_lines_of_other_programs_are_left_out(void **state)
{
	(void)state;
	expect_none("Dec  1 10:00:00 host dracut[12]: LSM: initializing lsm=yama\n",
		    "no line of a kernel's boot");
	expect_none("[    5.1] systemd[1]: Command line: lsm=yama\n", "no line of a kernel's boot");
	expect_none("Dec  1 10:00:00 host logger[7]: kernel: Yama: becoming mindful.\n",
		    "no line of a kernel's boot");
	expect_list("Dec  1 10:00:00 host kernel: " STATED
		    "Dec  1 10:00:00 host prog: LSM: initializing lsm=yama\n"
		    "audit: Yama: becoming mindful.\n",
		    LIST);
}

static void test_any_bytes_are_read(void **state)
{
	static const char text[] = "\0\0[    0.1] " STATED "\xff\xfe\n\0\n\n\n";
	struct lsm_log l;
	struct kg_err err = {{0}};
	char *large;

	(void)state;
	assert_int_equal(lsm_dmesg_parse(text, sizeof(text) - 1, &l, &err), 0);
	assert_string_equal(l.list.effective, LIST);
	lsm_log_deinit(&l);
	large = calloc(1, 400000);
	assert_non_null(large);
	memset(large, 'x', 300000); /* a line that is no kernel's */
	(void)snprintf(large + 300000, 1000, "\n%s", STATED);
	expect_list(large, LIST);
	free(large);
}

static void test_log_with_a_mark_of_byte_order(void **state)
{
	(void)state;
	expect_list("\xef\xbb\xbf" STATED, LIST);
}

/* ---- several boots ---- */

static void test_the_last_of_several_boots_is_taken(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("[    0.0] " VERSION "[    0.0] Command line: quiet\n"
	      "[    0.1] LSM: initializing lsm=capability,yama,integrity\n"
	      "[    0.1] Yama: becoming mindful.\n[   99.0] reboot: Restarting system\n"
	      "[    0.0] Linux version 6.12.117 (x)\n[    0.0] Command line: lsm=bpf\n"
	      "[    0.1] LSM: initializing lsm=lockdown,capability,bpf,ima,evm\n"
	      "[    0.1] LSM support for eBPF active\n",
	      &l);
	assert_int_equal(l.boots, 2);
	assert_true(warns(&l, "the log has 2 boots, this is the last one"));
	assert_string_equal(l.release, "6.12.117");
	assert_string_equal(l.cmdline, "lsm=bpf");
	assert_string_equal(l.list.effective, "lockdown,capability,bpf,ima,evm");
	expect_entry(&l, "bpf", LSM_IN_REQUEST, "lsm=");
	lsm_log_deinit(&l);
}

static void test_boots_of_which_only_some_lines_are_left(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("[    0.039] LSM: initializing lsm=capability,yama\n[    0.040] Yama: becoming "
	      "mindful.\n"
	      "[    0.020] Kernel command line: lsm=bpf\n"
	      "[    0.038] LSM: initializing lsm=capability,bpf\n",
	      &l);
	assert_int_equal(l.boots, 2);
	assert_string_equal(l.cmdline, "lsm=bpf");
	assert_string_equal(l.list.effective, "capability,bpf");
	lsm_log_deinit(&l);
	/* messages only: one that comes again, and a clock that goes back */
	parse("[    0.030] Yama: becoming mindful.\n[    0.031] AppArmor: AppArmor initialized\n"
	      "[    0.029] Yama: becoming mindful.\n",
	      &l);
	assert_int_equal(l.boots, 2);
	assert_string_equal(l.list.effective, "capability,yama");
	lsm_log_deinit(&l);
	parse("[    9.030] Yama: becoming mindful.\n[    0.031] AppArmor: AppArmor initialized\n",
	      &l);
	assert_int_equal(l.boots, 2);
	assert_string_equal(l.list.effective, "capability,apparmor");
	lsm_log_deinit(&l);
}

static void test_last_boot_without_an_lsm_line_is_no_data(void **state)
{
	(void)state;
	expect_none(VERSION STATED "Linux version 6.12.3 (x)\nCommand line: quiet\n",
		    "the last boot in the log has no line of an LSM, only that it is of 6.12.3 and "
		    "the command line");
}

static void test_lines_that_an_early_console_shows_twice_are_one_boot(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("[    0.0] " VERSION "[    0.0] Command line: quiet\n[    0.0] " VERSION
	      "[    0.0] Command line: quiet\n[    0.0] Kernel command line: quiet\n" STATED,
	      &l);
	assert_int_equal(l.boots, 1);
	assert_string_equal(l.list.effective, LIST);
	lsm_log_deinit(&l);
}

/* ---- lines that are cut or split ---- */

static void test_a_log_that_says_everything_twice_is_one_boot(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("[    0.00] Linux version 6.12.1 (x)\r\n[    0.00] Linux version 6.12.1 (x)\r\n"
	      "[    0.00] Command line: lsm=yama,bpf\r\n[    0.00] Command line: lsm=yama,bpf\r\n"
	      "[    0.04] LSM: initializing lsm=capability,yama,bpf\r\n"
	      "[    0.04] LSM: initializing lsm=capability,yama,bpf\r\n"
	      "[    0.04] Yama: becoming mindful.\r\n[    0.04] Yama: becoming mindful.\r\n"
	      "[    0.05] LSM support for eBPF active\r\n[    0.05] LSM support for eBPF active",
	      &l);
	assert_int_equal(l.boots, 1);
	assert_string_equal(l.release, "6.12.1");
	assert_string_equal(l.list.effective, "capability,yama,bpf");
	assert_true(l.complete);
	expect_entry(&l, "yama", LSM_IN_REQUEST, "named by lsm=");
	lsm_log_deinit(&l);
}

static void test_a_list_in_parts_is_put_together(void **state)
{
	(void)state;
	expect_list("[    0.1] LSM: initializing lsm=\n[    0.1] lockdown\n[    0.1] ,capability\n"
		    "[    0.1] landlock: Up and running.\n[    0.1] ,landlock,yama\n",
		    "lockdown,capability,landlock,yama");
	expect_list("LSM: initializing lsm=lockdown,\ncapability,yama\n",
		    "lockdown,capability,yama");
	expect_list("LSM: initializing lsm=lockdown,capability\nyama\n", "lockdown,capability");
}

static void test_a_cut_list_is_said(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("LSM: initializing lsm=lockdown\n", &l);
	assert_true(warns(&l, "is cut"));
	assert_false(l.complete);
	lsm_log_deinit(&l);
	parse("LSM: initializing lsm=capability,yama\nYama: becoming mindful.\n"
	      "LSM support for eBPF active\n",
	      &l);
	assert_string_equal(l.list.effective, "capability,yama,bpf");
	assert_true(warns(&l, "'bpf' started and is not in the line"));
	assert_false(l.complete);
	lsm_log_deinit(&l);
}

static void test_a_long_command_line_is_put_together(void **state)
{
	struct lsm_log l;

	(void)state;
	parse("Linux version 6.19.0\nKernel command line: quiet \\\n"
	      "Kernel command line: lsm=yama,bpf \\\nKernel command line: ro\n"
	      "Yama: becoming mindful.\n",
	      &l);
	assert_int_equal(l.boots, 1);
	assert_string_equal(l.cmdline, "quiet lsm=yama,bpf ro");
	expect_entry(&l, "yama", LSM_IN_REQUEST, "lsm=");
	lsm_log_deinit(&l);
}

static void test_decisions_without_their_end_are_taken(void **state)
{
	(void)state;
	expect_list("LSM: first ordering: capability (enabled)\n"
		    "LSM: builtin ordering: yama (enabled)\n"
		    "LSM: builtin ordering: apparmor (enabled)\n"
		    "LSM: builtin ordering: selinux (enabled)\n"
		    "LSM: builtin ordering: tomoyo (disabled)\n"
		    "LSM: exclusive chosen: apparmor\nLSM: exclusive disabled: selinux\n",
		    "capability,yama,apparmor");
}

static void test_more_names_than_a_kernel_has_are_cut_off(void **state)
{
	struct kg_str s = {0};
	struct lsm_log l;
	int i;

	(void)state;
	kg_str_add(&s, "LSM: initializing lsm=capability");
	for (i = 0; i < 500; i++)
		kg_str_addf(&s, ",x%d", i);
	kg_str_add(&s, ",yama\n");
	parse(kg_str_text(&s), &l);
	assert_true(warns(&l, "more than 64 names"));
	assert_false(l.complete);
	lsm_log_deinit(&l);
	kg_str_deinit(&s);
}

/* ---- nothing to read ---- */

static void test_logs_without_an_lsm_line_say_what_there_is(void **state)
{
	(void)state;
	expect_none("", "the log is empty");
	expect_none("\r\n\n", "the log is empty");
	expect_none("[ 4711.123456] usb 1-1: new device\n",
		    "no line of a kernel's boot, and none of an LSM; where its beginning is "
		    "missing, the journal has it");
	expect_none("hello\nworld\n", "no line of a kernel's boot");
	expect_none(
		"[    0.0] Linux version 7.0.13 (x)\n[    0.0] Command line: quiet lsm=yama\n",
		"the log has no line of an LSM, only that it is of 7.0.13 and the command line; "
		"6.19 and later print no list without lsm.debug");
	expect_none("Kernel command line: quiet\n", "only the command line");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_with_a_stated_list),
		cmocka_unit_test(test_log_of_a_boot_with_security),
		cmocka_unit_test(test_log_with_lsm_debug_has_every_reason),
		cmocka_unit_test(test_debug_lines_of_5_10),
		cmocka_unit_test(test_debug_lines_of_6_19),
		cmocka_unit_test(test_switched_off_in_6_19),
		cmocka_unit_test(test_messages_alone_make_a_list_that_is_not_complete),
		cmocka_unit_test(test_ima_and_evm_are_no_lsms_before_6_9),
		cmocka_unit_test(test_log_of_5_0),
		cmocka_unit_test(test_framework_line_alone_is_capability),
		cmocka_unit_test(test_missing_list_of_6_12_is_said),
		cmocka_unit_test(test_superseded_security_is_not_a_request),
		cmocka_unit_test(test_requested_that_did_not_start_says_what_can_be_known),
		cmocka_unit_test(test_a_switch_that_the_kernel_did_not_read_is_no_reason),
		cmocka_unit_test(test_only_an_exclusive_one_that_comes_first_is_to_blame),
		cmocka_unit_test(test_lsm_debug_tells_what_is_not_built_in),
		cmocka_unit_test(test_every_form_of_a_line_is_read),
		cmocka_unit_test(test_lines_of_other_programs_are_left_out),
		cmocka_unit_test(test_any_bytes_are_read),
		cmocka_unit_test(test_log_with_a_mark_of_byte_order),
		cmocka_unit_test(test_the_last_of_several_boots_is_taken),
		cmocka_unit_test(test_boots_of_which_only_some_lines_are_left),
		cmocka_unit_test(test_last_boot_without_an_lsm_line_is_no_data),
		cmocka_unit_test(test_lines_that_an_early_console_shows_twice_are_one_boot),
		cmocka_unit_test(test_a_log_that_says_everything_twice_is_one_boot),
		cmocka_unit_test(test_a_list_in_parts_is_put_together),
		cmocka_unit_test(test_a_cut_list_is_said),
		cmocka_unit_test(test_a_long_command_line_is_put_together),
		cmocka_unit_test(test_decisions_without_their_end_are_taken),
		cmocka_unit_test(test_more_names_than_a_kernel_has_are_cut_off),
		cmocka_unit_test(test_logs_without_an_lsm_line_say_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
