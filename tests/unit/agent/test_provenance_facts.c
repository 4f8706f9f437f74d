/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/provenance_facts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <utmpx.h>

#include <cmocka.h>
#include <zstd.h>

#include "agent/document.h"
#include "agent/env_check.h"
#include "agent/provenance_documents.h"
#include "agent/workload_registry.h"
#include "common/facts.h"
#include "common/str.h"
#include "fake_root.h"

#define CPU "/sys/devices/system/cpu"

struct fixture {
	struct fake_root root;
	struct fact_list facts;
	struct document_list docs;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fake_root_init(&f->root);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fact_list_deinit(&f->facts);
	document_list_deinit(&f->docs);
	fake_root_deinit(&f->root);
	free(f);
	return 0;
}

static void look(struct fixture *f)
{
	struct provenance_input in = {.root = f->root.dir,
				      .boot_method = "kexec-file-load",
				      .hops = 2,
				      .want_kallsyms = true};

	fact_list_deinit(&f->facts);
	document_list_deinit(&f->docs);
	assert_int_equal(provenance_boot(&in, &f->facts, &f->docs), 0);
}

static void has(const struct fixture *f, const char *name, const char *value)
{
	const char *seen = fact_list_value(&f->facts, name);

	if (!seen)
		fail_msg("'%s' has no value", name);
	assert_string_equal(seen, value);
}

static void lacks(const struct fixture *f, const char *name, const char *reason)
{
	const struct fact *fact = fact_list_find(&f->facts, name);

	if (!fact)
		fail_msg("no row for '%s'", name);
	if (fact->value)
		fail_msg("'%s' is '%s'", name, fact->value);
	assert_string_equal(fact->reason, reason);
}

static const struct document *document(const struct fixture *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->docs.n; i++)
		if (strcmp(f->docs.items[i].name, name) == 0)
			return &f->docs.items[i];
	return NULL;
}

static void text_is(const struct fixture *f, const char *name, const char *text)
{
	const struct document *d = document(f, name);
	char buf[8192], hex[KG_SHA256_HEX_SIZE];
	size_t len;

	assert_non_null(d);
	len = ZSTD_decompress(buf, sizeof(buf) - 1, d->stored, d->stored_len);
	assert_false(ZSTD_isError(len));
	buf[len] = '\0';
	assert_string_equal(buf, text);
	assert_int_equal(d->text_bytes, len);
	assert_int_equal(kg_sha256_bytes(buf, len, hex), 0);
	assert_string_equal(d->digest, hex);
}

static void test_an_intel_machine(void **state)
{
	struct fixture *f = *state;

	fake_intel(&f->root);
	look(f);
	has(f, "cpu.vendor", "GenuineIntel");
	has(f, "cpu.microarchitecture", "Cascade Lake-SP");
	has(f, "cpu.microcode", "0x5003604");
	has(f, "cpu.microcode.all", "0x5003604");
	has(f, "cpu.present", "0-7");
	has(f, "cpu.online", "0-3");
	has(f, "cpu.firmware-count", "8");
	has(f, "cpu.firmware-sockets", "2");
	has(f, "cpu.sockets", "2");
	has(f, "cpu.cores", "4");
	has(f, "cpu.threads-per-core", "1");
	has(f, "cpu.cache.l1-data", "32K shared by 0,4");
	has(f, "virtualised", "no");
	has(f, "frequency.governor", "performance,powersave");
	has(f, "frequency.driver", "intel_pstate");
	has(f, "intel-pstate.no-turbo", "0");
	has(f, "idle.states", "POLL C6(off)");
	has(f, "throttle.core", "7");
	has(f, "throttle.package", "0"); /* a counter that says 0 */
	has(f, "temperature.0.x86_pkg_temp", "45.5 C");
	has(f, "bios.version", "2.1.7");
	has(f, "system.product", "Server 9000");
	has(f, "memory.dimms",
	    "DIMM_A1: 16 GiB DDR4 3200 MT/s at 2933 M393A2K43DB3; DIMM_B1: 64 GiB DDR4 3200 MT/s "
	    "at "
	    "2933 M393A8G40");
	has(f, "memory.installed", "85899345920");
	has(f, "memory.total", "84318561280");
	has(f, "firmware.mode", "efi");
	has(f, "firmware.secure-boot", "on");
	has(f, "vulnerability.meltdown", "Mitigation: PTI");
	has(f, "lockdown", "none");
	has(f, "apparmor.profiles", "2");
	has(f, "thp.enabled", "madvise");
	has(f, "clocksource.current", "tsc");
	has(f, "numa.cpus", "0:0-3");
	has(f, "os", "Debian GNU/Linux 12");
	has(f, "boot.method", "kexec-file-load");
	has(f, "boot.hops", "2");
	has(f, "kernel.release", "6.1.0-13-amd64");
	has(f, "kernel.compiler",
	    "gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40");
	has(f, "preempt.mode", "dynamic");
	has(f, "lsm", "lockdown,capability,landlock,yama,apparmor");
}

static void test_an_amd_machine(void **state)
{
	struct fixture *f = *state;

	fake_amd(&f->root);
	look(f);
	has(f, "cpu.microarchitecture", "Zen3");
	has(f, "virtualised", "yes");
	has(f, "turbo.boost", "1");
	has(f, "cpu.sockets", "1");
	lacks(f, "intel-pstate.no-turbo", "absent");
	lacks(f, "smt.active", "absent");
}

static void test_the_command_line_is_without_the_word_of_the_boot(void **state)
{
	struct fixture *f = *state;

	fake_amd(&f->root);
	look(f);
	has(f, "cmdline", "root=/dev/sda ro lsm=landlock,lockdown,yama,apparmor mitigations=auto");
}

static void test_row_54_missing_counter_is_unsupported_never_0(void **state)
{
	struct fixture *f = *state;
	size_t i;

	fake_amd(&f->root);
	look(f);
	lacks(f, "throttle.core", "absent");
	lacks(f, "throttle.package", "absent");
	lacks(f, "temperature.cpu", "absent");
	lacks(f, "pressure.cpu", "absent");
	lacks(f, "frequency.max-khz", "absent");
	/* One CPU's counter is there, but is not a number. */
	fake_put(&f->root, CPU "/cpu0/thermal_throttle/core_throttle_count", "<not supported>\n");
	look(f);
	lacks(f, "throttle.core", "absent");
	for (i = 0; i < f->facts.n; i++) {
		const struct fact *fact = &f->facts.items[i];

		assert_true(fact->value ? fact->value[0] != '\0' : fact->reason != NULL);
	}
}

static void test_a_machine_that_shows_nothing_is_all_unsupported(void **state)
{
	/* What is known without the machine's help: of us, and of a folder that is not there. */
	static const char *const known[] = {"agent.version", "boot.method", "boot.hops",
					    "firmware.mode"};
	struct fixture *f = *state;
	size_t i, j;

	look(f);
	assert_true(f->facts.n > 80);
	assert_int_equal(f->docs.n, 0);
	for (i = 0; i < f->facts.n; i++) {
		const struct fact *fact = &f->facts.items[i];
		bool expected = false;

		for (j = 0; j < sizeof(known) / sizeof(known[0]); j++)
			expected = expected || strcmp(fact->name, known[j]) == 0;
		if (fact->value && !expected)
			fail_msg("'%s' is '%s'", fact->name, fact->value);
		if (!fact->value)
			assert_string_equal(fact->reason, FACT_ABSENT);
	}
	/* This kernel shows no tables: that says nothing of the machine, so there is no row. */
	assert_null(fact_list_find(&f->facts, "memory.dimms"));
	assert_null(fact_list_find(&f->facts, "bios.version"));
}

static void test_every_fact_is_in_the_table_and_there_once(void **state)
{
	struct fixture *f = *state;
	size_t i;

	fake_intel(&f->root);
	look(f);
	for (i = 0; i < f->facts.n; i++) {
		if (strcmp(kg_fact_find(f->facts.items[i].name)->section, "other") == 0)
			fail_msg("'%s' is not in common/facts.c", f->facts.items[i].name);
		if (i)
			assert_true(strcmp(f->facts.items[i - 1].name, f->facts.items[i].name) < 0);
	}
}

static void test_row_46_cpu_count_is_of_class_machine(void **state)
{
	struct fixture *f = *state;

	fake_intel(&f->root);
	look(f);
	has(f, "cpu.present", "0-7");
	assert_int_equal(kg_fact_find("cpu.present")->class, KG_FACT_MACHINE);
	/* Fewer CPUs online is the command line's doing, and no other machine. */
	fake_put(&f->root, CPU "/online", "0\n");
	fake_put(&f->root, "/proc/cmdline", "maxcpus=1\n");
	look(f);
	has(f, "cpu.present", "0-7");
	has(f, "cpu.online", "0");
}

static void test_cpus_that_the_kernel_was_told_to_overlook_say_nothing_of_the_machine(void **state)
{
	struct fixture *f = *state;

	fake_intel(&f->root);
	fake_put(&f->root, CPU "/present", "0-1\n");
	fake_put(&f->root, "/proc/cmdline", "ro nr_cpus=2\n");
	look(f);
	assert_null(fact_list_find(&f->facts, "cpu.present"));
	has(f, "cpu.firmware-count", "8"); /* this does */
	fake_put(&f->root, "/proc/cmdline", "ro\n");
	fake_put(&f->root, CPU "/kernel_max", "1\n"); /* CONFIG_NR_CPUS=2 */
	look(f);
	assert_null(fact_list_find(&f->facts, "cpu.present"));
	fake_put(&f->root, CPU "/kernel_max", "2\n");
	look(f);
	has(f, "cpu.present", "0-1");
}

static void test_row_47_microcode_of_all_cpus_is_told_when_they_differ(void **state)
{
	struct fixture *f = *state;

	fake_put(&f->root, "/proc/cpuinfo",
		 "processor : 0\nmicrocode : 0x1\n\nprocessor : 1\nmicrocode : 0x2\n\n"
		 "processor : 2\nmicrocode : 0x1\n");
	look(f);
	has(f, "cpu.microcode", "0x1");
	has(f, "cpu.microcode.all", "0x1,0x2");
}

static void test_identity_is_the_same_whatever_the_kernel_shows_of_it(void **state)
{
	struct fixture *f = *state;

	fake_intel(&f->root);
	fake_put(&f->root, "/sys/class/dmi/id/bios_version", "as an old kernel cut it\n");
	look(f);
	has(f, "bios.version", "2.1.7");
	fake_remove(&f->root, "/sys/class/dmi");
	look(f);
	has(f, "bios.vendor", "ACME BIOS");
	has(f, "bios.version", "2.1.7");
	has(f, "bios.release", "5.22");
	has(f, "system.product", "Server 9000");
	has(f, "board.name", "X11");
	lacks(f, "chassis.type", "absent"); /* the table has none */
}

static void test_identity_without_the_table_is_what_the_folder_has(void **state)
{
	struct fixture *f = *state;

	fake_intel(&f->root);
	fake_remove(&f->root, "/sys/firmware/dmi");
	look(f);
	has(f, "bios.version", "2.1.7");
	has(f, "system.product", "Server 9000");
	/* Linux before 5.8 has no such file: nothing that could look like a change. */
	assert_null(fact_list_find(&f->facts, "bios.release"));
	assert_null(fact_list_find(&f->facts, "memory.dimms"));
}

static void test_damaged_tables_are_failed_not_less_memory(void **state)
{
	struct fixture *f = *state;
	uint8_t table[1024];
	size_t len = fake_smbios_table(table);

	fake_intel(&f->root);
	fake_put_bytes(&f->root, "/sys/firmware/dmi/tables/DMI", table, len - 60);
	fake_put(&f->root, "/sys/firmware/acpi/tables/APIC", "APICnonsense");
	look(f);
	lacks(f, "memory.installed", "failed");
	lacks(f, "memory.dimms", "failed");
	lacks(f, "cpu.firmware-count", "failed");
}

static void test_hostile_files_are_failed_or_empty(void **state)
{
	struct fixture *f = *state;
	char *big = malloc(200000), path[256];

	assert_non_null(big);
	memset(big, 'x', 199999);
	big[199999] = '\0';
	fake_intel(&f->root);
	fake_put(&f->root, "/sys/kernel/security/lsm", big);
	fake_put_bytes(&f->root, CPU "/online", "0-\0003", 4);
	fake_put(&f->root, CPU "/smt/active", "\n");
	fake_put(&f->root, CPU "/smt/control", "\xff\xfe\n");
	fake_put(&f->root, "/proc/cpuinfo", ":::\n: \n\nflags\nmodel\t: 99999999999999999999\n");
	fake_put(&f->root, "/proc/meminfo", "MemTotal: none\n");
	fake_put(&f->root, CPU "/vulnerabilities/\xff\xfe", "Vulnerable\n");
	fake_put(&f->root, "/proc/modules", "\n\nonlyname\n(\n");
	fake_put_bytes(&f->root, "/var/lib/dpkg/status", "Package: a\0b\n", 13);
	fake_put(&f->root, CPU "/vulnerabilities/l1tf", "two\nlines\twith\ttabs\n");
	(void)snprintf(path, sizeof(path), "%s/proc/loadavg", f->root.dir);
	fake_remove(&f->root, "/proc/loadavg");
	assert_int_equal(mkfifo(path, 0600), 0); /* opening it must not wait for ever */
	look(f);
	for (size_t i = 0; i < f->facts.n; i++)
		assert_true(kg_utf8_valid(f->facts.items[i].name, strlen(f->facts.items[i].name)));
	lacks(f, "lsm", "failed");
	lacks(f, "cpu.online", "failed");
	lacks(f, "smt.active", "empty");
	lacks(f, "smt.control", "failed");
	lacks(f, "cpu.vendor", "absent");
	lacks(f, "cpu.model", "absent");
	lacks(f, "memory.total", "absent");
	lacks(f, "load", "failed");
	lacks(f, "packages.digest", "failed");
	lacks(f, "modules.digest", "empty");
	has(f, "vulnerability.l1tf", "two lines with tabs");
	free(big);
}

static void test_documents(void **state)
{
	struct fixture *f = *state;

	fake_intel(&f->root);
	look(f);
	text_is(f, "config", "CONFIG_SMP=y\n# CONFIG_FOO is not set\n");
	has(f, "config.source", "/boot/config-6.1.0-13-amd64");
	has(f, "config.digest", document(f, "config")->digest);
	text_is(f, "modules", "e1000e 300000\nzfs 4000000 (POE)\n"); /* no addresses, no counts */
	has(f, "modules.tainting", "zfs(POE)");
	has(f, "modules.count", "2");
	text_is(f, "packages", "bash 5.2.15-2 amd64\nzlib1g 1:1.2.13 amd64\n");
	has(f, "packages.count", "2");
	has(f, "packages.digest", document(f, "packages")->digest);
	text_is(f, "sysctl",
		"fs.file-max = 9223372036854775807\nkernel.numa_balancing = 1\n"
		"kernel.osrelease = 6.1.0-13-amd64\nvm.swappiness = 60\n");
	has(f, "document.sysctl", document(f, "sysctl")->digest);
}

static void test_config_of_the_kernel_itself_comes_first(void **state)
{
	/* gzip of "CONFIG_A=y\n" */
	static const uint8_t gz[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
				     0x03, 0x01, 0x0b, 0x00, 0xf4, 0xff, 'C',  'O',  'N',
				     'F',  'I',	 'G',  '_',  'A',  '=',	 'y',  '\n', 0x00,
				     0x00, 0x00, 0x00, 0x0b, 0x00, 0x00, 0x00};
	struct fixture *f = *state;

	fake_intel(&f->root);
	/* Its checksum is wrong: not believed, and the next place is asked. */
	fake_put_bytes(&f->root, "/proc/config.gz", gz, sizeof(gz));
	look(f);
	has(f, "config.source", "/boot/config-6.1.0-13-amd64");
	fake_remove(&f->root, "/boot/config-6.1.0-13-amd64");
	look(f);
	lacks(f, "config.digest", "failed");
	fake_remove(&f->root, "/proc/config.gz");
	look(f);
	lacks(f, "config.digest", "absent");
	fake_put(&f->root, "/usr/lib/modules/6.1.0-13-amd64/config", "CONFIG_B=y\n");
	look(f);
	has(f, "config.source", "/usr/lib/modules/6.1.0-13-amd64/config");
	text_is(f, "config", "CONFIG_B=y\n");
}

static void test_symbols_are_relative_and_the_same_at_every_load_address(void **state)
{
	static const char expected[] = "0 A fixed_percpu_data\n0 T _text\n1000 T start_kernel\n"
				       "0 t init\t[mod]\n20 t work\t[mod]\n";
	struct fixture *f = *state;
	char text[sizeof(expected)], *p;

	memcpy(text, expected, sizeof(text));
	for (p = text; *p; p++)
		if (*p == '\t')
			*p = ' ';
	fake_put(&f->root, "/proc/kallsyms",
		 "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\n"
		 "ffffffff81001000 T start_kernel\nffffffffc0100000 t init\t[mod]\n"
		 "ffffffffc0100020 t work\t[mod]\n");
	look(f);
	text_is(f, "kallsyms", text);
	fake_put(&f->root, "/proc/kallsyms",
		 "0000000000000000 A fixed_percpu_data\nffffffff9a000000 T _text\n"
		 "ffffffff9a001000 T start_kernel\nffffffffc0723000 t init\t[mod]\n"
		 "ffffffffc0723020 t work\t[mod]\n");
	look(f);
	text_is(f, "kallsyms", text);
	fake_put(&f->root, "/proc/kallsyms", "0000000000000000 T _text\n");
	look(f);
	assert_null(document(f, "kallsyms"));
	lacks(f, "document.kallsyms", "denied");
}

static void test_order_of_loading_does_not_change_a_digest(void **state)
{
	struct fixture *f = *state;
	char before[KG_SHA256_HEX_SIZE];

	fake_intel(&f->root);
	look(f);
	(void)snprintf(before, sizeof(before), "%s",
		       fact_list_value(&f->facts, "apparmor.profiles.digest"));
	fake_put(&f->root, "/sys/kernel/security/apparmor/profiles",
		 "lsb_release (enforce)\n/usr/bin/man (enforce)\n");
	look(f);
	has(f, "apparmor.profiles.digest", before);
	fake_put(&f->root, "/sys/kernel/security/apparmor/profiles",
		 "lsb_release (complain)\n/usr/bin/man (enforce)\n");
	look(f);
	assert_string_not_equal(fact_list_value(&f->facts, "apparmor.profiles.digest"), before);
}

static void test_sysctls_that_count_or_follow_memory_do_not_make_a_difference(void **state)
{
	struct fixture *f = *state;
	char stable[KG_SHA256_HEX_SIZE];

	fake_intel(&f->root);
	look(f);
	(void)snprintf(stable, sizeof(stable), "%s", fact_list_value(&f->facts, "sysctl.digest"));
	fake_put(&f->root, "/proc/sys/fs/file-nr", "9999\t0\t1\n");
	fake_put(&f->root, "/proc/sys/fs/file-max", "123456\n");
	fake_put(&f->root, "/proc/sys/kernel/random/entropy_avail", "17\n");
	fake_put(&f->root, "/proc/sys/net/ipv4/conf/eth0/forwarding", "1\n");
	look(f);
	has(f, "sysctl.digest", stable);
	fake_put(&f->root, "/proc/sys/vm/swappiness", "10\n");
	look(f);
	assert_string_not_equal(fact_list_value(&f->facts, "sysctl.digest"), stable);
	assert_true(sysctl_is_volatile("net.ipv4.conf.all0.forwarding"));
	assert_true(sysctl_is_volatile("net.ipv6.neigh.dummy0.x"));
	assert_false(sysctl_is_volatile("net.ipv4.conf.all.forwarding"));
	assert_false(sysctl_is_volatile("net.ipv4.neigh.default.gc_interval"));
	assert_false(sysctl_is_volatile("kernel.randomize_va_space"));
	assert_true(sysctl_is_volatile("net.core.netdev_rss_key"));
	assert_true(sysctl_is_unsteady("net.ipv4.tcp_mem"));
	assert_true(sysctl_is_unsteady("net.netfilter.nf_conntrack_max"));
	assert_true(sysctl_is_unsteady("net.ipv4.tcp_available_congestion_control"));
	assert_false(sysctl_is_unsteady("net.ipv4.tcp_congestion_control"));
	assert_false(sysctl_is_unsteady("net.core.somaxconn"));
	assert_false(sysctl_is_unsteady("vm.swappiness"));
}

static void moment(struct fixture *f, struct fact_list *l)
{
	assert_int_equal(provenance_moment(f->root.dir, NULL, l), 0);
}

static void check_moments(struct fixture *f, struct fact_list *before, const char *reason)
{
	struct fact_list after;
	char text[256] = "";

	moment(f, &after);
	assert_int_equal(env_check(before, &after, text, sizeof(text)), reason == NULL);
	if (reason && !strstr(text, reason))
		fail_msg("'%s' does not name '%s'", text, reason);
	fact_list_deinit(&after);
	fact_list_deinit(before);
}

static void test_quiet_machine_gives_no_reason(void **state)
{
	struct fixture *f = *state;
	struct fact_list before;

	moment(f, &before); /* nothing at all */
	check_moments(f, &before, NULL);
	fake_amd(&f->root);
	moment(f, &before);
	fake_put(&f->root, "/proc/loadavg", "9.01 0.02 0.03 1/200 999\n");
	fake_put(&f->root, "/proc/sys/kernel/hostname", "renamed\n");
	fake_put(&f->root, "/proc/sys/kernel/tainted", "4097\n"); /* a module out of tree */
	check_moments(f, &before, NULL);
}

static void test_row_49_throttled_run_is_invalid_env(void **state)
{
	struct fixture *f = *state;
	struct fact_list before;

	fake_intel(&f->root);
	moment(f, &before);
	fake_put(&f->root, CPU "/cpu1/thermal_throttle/core_throttle_count", "9\n");
	check_moments(f, &before, "a core was throttled 5 times");
	moment(f, &before);
	fake_put(&f->root, CPU "/cpu0/thermal_throttle/package_throttle_count", "1\n");
	check_moments(f, &before, "a package was throttled 1 times");
}

static void test_row_48_package_upgrade_during_a_run_is_invalid_env(void **state)
{
	struct fixture *f = *state;
	struct fact_list before;

	fake_intel(&f->root);
	moment(f, &before);
	fake_put(&f->root, "/var/lib/dpkg/status", "Package: new\n");
	check_moments(f, &before, "packages");
	fake_put(&f->root, "/proc/77/comm", "unattended-upgr\n");
	fake_put_bytes(&f->root, "/proc/77/cmdline",
		       "/usr/bin/python3\0/usr/bin/unattended-upgrade", 44);
	moment(f, &before);
	check_moments(f, &before, "unattended-upgr[77]");
	/* The one that only waits for the shutdown is always there. */
	fake_put_bytes(
		&f->root, "/proc/77/cmdline",
		"/usr/bin/python3\0/usr/share/unattended-upgrades/unattended-upgrade-shutdown\0"
		"--wait-for-signal",
		94);
	moment(f, &before);
	check_moments(f, &before, NULL);
	moment(f, &before);
	fake_put(&f->root, "/proc/78/comm", "apt-get\n");
	check_moments(f, &before, "apt-get[78]");
}

static void test_login_during_a_run_is_invalid_env(void **state)
{
	struct utmpx u = {
		.ut_type = USER_PROCESS, .ut_pid = 4, .ut_user = "root", .ut_line = "pts/0"};
	struct fixture *f = *state;
	struct fact_list before;

	fake_intel(&f->root);
	fake_put_bytes(&f->root, "/run/utmp", &u, sizeof(u));
	fake_put(&f->root, "/run/systemd/sessions/1", "UID=0\nUSER=root\nCLASS=user\n");
	moment(f, &before); /* somebody who was there before */
	check_moments(f, &before, NULL);
	moment(f, &before);
	fake_put(&f->root, "/run/systemd/sessions/c2", "USER=cron\nCLASS=background\n");
	check_moments(f, &before, NULL);
	moment(f, &before);
	fake_put(&f->root, "/run/systemd/sessions/3", "USER=eve\nCLASS=user\n");
	check_moments(f, &before, "session-3#eve");
	moment(f, &before);
	u.ut_pid = 5;
	fake_put_bytes(&f->root, "/run/utmp", &u, sizeof(u));
	check_moments(f, &before, "root@pts/0#5");
}

static void test_row_39_perf_of_another_kernel_is_told(void **state)
{
	static const char debian[] =
		"Linux version 6.1.0-13-amd64 (x) (gcc) #1 SMP Debian 6.1.55-1";

	(void)state;
	assert_true(provenance_perf_matches("perf version 6.1.55", "6.1.0-13-amd64", debian));
	assert_false(provenance_perf_matches("perf version 6.1.5", "6.1.0-13-amd64", debian));
	assert_false(provenance_perf_matches("perf version 6.1", "6.1.0-13-amd64", debian));
	assert_false(provenance_perf_matches("perf version 6.18.4", "6.1.0-13-amd64", debian));
	assert_true(provenance_perf_matches("perf version 6.12.3", "6.12.3-1-default", NULL));
	assert_true(provenance_perf_matches("perf version 7.3.rc1.g12", "7.3-rc1", NULL));
	assert_false(provenance_perf_matches("perf version 6.12.3", "6.12.33", NULL));
	assert_false(provenance_perf_matches("perf version unknown", "6.12.3", NULL));
	assert_false(provenance_perf_matches("", "6.12.3", NULL));
}

static void test_workloads_and_perf_are_facts(void **state)
{
	struct workload_entry items[] = {
		{.name = (char *)"bench",
		 .digest = "aa",
		 .program = (char *)"perf",
		 .version = (char *)"perf version 6.1.55"},
		{.name = (char *)"gone", .digest = "bb", .missing = (char *)"not installed"},
	};
	struct workload_registry r = {items, 2};
	struct fixture *f = *state;
	struct provenance_input in = {.root = f->root.dir, .registry = &r};

	fake_intel(&f->root);
	assert_int_equal(provenance_boot(&in, &f->facts, &f->docs), 0);
	has(f, "workload.bench.digest", "aa");
	has(f, "workload.bench.version", "perf version 6.1.55");
	has(f, "perf.version", "perf version 6.1.55");
	has(f, "perf.matches-kernel", "yes");
	lacks(f, "workload.gone.digest", "absent");
	lacks(f, "workload.gone.version", "absent");
	lacks(f, "boot.method", "absent");
}

static void test_this_machine_is_the_same_at_two_looks(void **state)
{
	struct provenance_input in = {.root = ""};
	struct document_list docs;
	struct fixture *f = *state;
	struct fact_list again;
	size_t i;

	assert_int_equal(provenance_boot(&in, &f->facts, &f->docs), 0);
	assert_int_equal(provenance_boot(&in, &again, &docs), 0);
	for (i = 0; i < f->facts.n; i++) {
		const struct fact *a = &f->facts.items[i], *b = fact_list_find(&again, a->name);

		if (kg_fact_find(a->name)->class == KG_FACT_VOLATILE)
			continue;
		assert_non_null(b);
		assert_int_equal(a->value != NULL, b->value != NULL);
		if (a->value)
			assert_string_equal(a->value, b->value);
	}
	fact_list_deinit(&again);
	document_list_deinit(&docs);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_an_intel_machine),
		T(test_an_amd_machine),
		T(test_the_command_line_is_without_the_word_of_the_boot),
		T(test_row_54_missing_counter_is_unsupported_never_0),
		T(test_a_machine_that_shows_nothing_is_all_unsupported),
		T(test_every_fact_is_in_the_table_and_there_once),
		T(test_row_46_cpu_count_is_of_class_machine),
		T(test_cpus_that_the_kernel_was_told_to_overlook_say_nothing_of_the_machine),
		T(test_row_47_microcode_of_all_cpus_is_told_when_they_differ),
		T(test_identity_is_the_same_whatever_the_kernel_shows_of_it),
		T(test_identity_without_the_table_is_what_the_folder_has),
		T(test_damaged_tables_are_failed_not_less_memory),
		T(test_hostile_files_are_failed_or_empty),
		T(test_documents),
		T(test_config_of_the_kernel_itself_comes_first),
		T(test_symbols_are_relative_and_the_same_at_every_load_address),
		T(test_order_of_loading_does_not_change_a_digest),
		T(test_sysctls_that_count_or_follow_memory_do_not_make_a_difference),
		T(test_quiet_machine_gives_no_reason),
		T(test_row_49_throttled_run_is_invalid_env),
		T(test_row_48_package_upgrade_during_a_run_is_invalid_env),
		T(test_login_during_a_run_is_invalid_env),
		T(test_row_39_perf_of_another_kernel_is_told),
		T(test_workloads_and_perf_are_facts),
		T(test_this_machine_is_the_same_at_two_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
