/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_root.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/file.h"

#define CPU "/sys/devices/system/cpu"

void fake_root_init(struct fake_root *r)
{
	(void)snprintf(r->dir, sizeof(r->dir), "/tmp/kgrid-root-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
}

void fake_root_deinit(struct fake_root *r)
{
	assert_int_equal(kg_remove_tree(r->dir, NULL), 0);
}

void fake_put_bytes(const struct fake_root *r, const char *path, const void *bytes, size_t len)
{
	char full[512], dir[512];
	FILE *f;

	(void)snprintf(full, sizeof(full), "%s%s", r->dir, path);
	memcpy(dir, full, sizeof(dir));
	*strrchr(dir, '/') = '\0';
	assert_int_equal(kg_mkdir_p(dir, 0755, NULL), 0);
	f = fopen(full, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

void fake_put(const struct fake_root *r, const char *path, const char *text)
{
	fake_put_bytes(r, path, text, strlen(text));
}

void fake_remove(const struct fake_root *r, const char *path)
{
	char full[512];

	(void)snprintf(full, sizeof(full), "%s%s", r->dir, path);
	assert_int_equal(kg_remove_tree(full, NULL), 0);
}

size_t fake_smbios(uint8_t *out, const uint8_t *data, size_t len, const char *const *strings)
{
	size_t n = len, i;

	memcpy(out, data, len);
	for (i = 0; strings && strings[i] && strings[i][0]; i++) { /* "" would end the list */
		memcpy(out + n, strings[i], strlen(strings[i]) + 1);
		n += strlen(strings[i]) + 1;
	}
	if (i == 0)
		out[n++] = 0;
	out[n++] = 0;
	return n;
}

static size_t add_dimm(uint8_t *out, unsigned size, uint32_t extended, const char *locator,
		       const char *part)
{
	const char *strings[] = {locator, part, NULL};
	uint8_t d[0x5c] = {17, 0x5c, 0, 0x11};

	d[0x0c] = size & 0xff;
	d[0x0d] = (uint8_t)(size >> 8);
	d[0x10] = 1;	/* locator */
	d[0x12] = 0x1a; /* DDR4 */
	d[0x15] = 3200 & 0xff;
	d[0x16] = 3200 >> 8;
	d[0x1a] = 2; /* part number */
	memcpy(d + 0x1c, &extended, 4);
	d[0x20] = 2933 & 0xff;
	d[0x21] = 2933 >> 8;
	return fake_smbios(out, d, sizeof(d), strings);
}

size_t fake_smbios_table(uint8_t *out)
{
	static const char *const bios[] = {"ACME BIOS", "2.1.7", "11/30/2025", NULL};
	static const char *const system[] = {"ACME", "Server 9000", "A01", NULL};
	static const char *const board[] = {"ACME Boards", "X11", "1.02", NULL};
	uint8_t b[0x18] = {0, 0x18, 0, 0, 1, 2, 0, 0, 3}, s[0x1b] = {1, 0x1b, 0, 1, 1, 2, 3};
	uint8_t base[0x0f] = {2, 0x0f, 0, 2, 1, 2, 3}, cpu[0x30] = {4, 0x30, 0, 4, 0, 3};
	static const uint8_t end[] = {127, 4, 0, 0x7f};
	size_t n = 0;

	b[0x14] = 5;
	b[0x15] = 22;
	cpu[0x18] = 0x41; /* populated, enabled */
	n += fake_smbios(out + n, b, sizeof(b), bios);
	n += fake_smbios(out + n, s, sizeof(s), system);
	n += fake_smbios(out + n, base, sizeof(base), board);
	n += fake_smbios(out + n, cpu, sizeof(cpu), NULL);
	n += fake_smbios(out + n, cpu, sizeof(cpu), NULL);
	n += add_dimm(out + n, 16384, 0, "DIMM_A1", "M393A2K43DB3");
	n += add_dimm(out + n, 0, 0, "DIMM_A2", "");
	n += add_dimm(out + n, 0x7fff, 65536, "DIMM_B1", "M393A8G40");
	n += fake_smbios(out + n, end, sizeof(end), NULL);
	return n;
}

size_t fake_madt(uint8_t *out, unsigned enabled, unsigned disabled)
{
	size_t n = 44;
	unsigned i;

	memset(out, 0, 44);
	memcpy(out, "APIC", 4);
	for (i = 0; i < enabled + disabled; i++) {
		const uint8_t lapic[8] = {0, 8, (uint8_t)i, (uint8_t)i, i < enabled};

		memcpy(out + n, lapic, 8);
		n += 8;
	}
	out[4] = (uint8_t)n;
	out[5] = (uint8_t)(n >> 8);
	return n;
}

static void put_cpus(const struct fake_root *r, const char *head, unsigned n, unsigned per_socket)
{
	char text[16384] = "", path[128];
	size_t len = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"processor\t: %u\n%sphysical id\t: %u\ncore id\t\t: %u\n\n",
					i, head, i / per_socket, i % per_socket);
		(void)snprintf(path, sizeof(path), CPU "/cpu%u/topology/core_id", i);
		fake_put(r, path, "0\n");
	}
	fake_put(r, "/proc/cpuinfo", text);
}

static void put_common(const struct fake_root *r)
{
	fake_put(r, "/proc/cmdline",
		 "root=/dev/sda ro lsm=landlock,lockdown,yama,apparmor "
		 "kgrid.boot=12.0123456789abcdef0123456789abcdef mitigations=auto\n");
	fake_put(r, "/proc/version",
		 "Linux version 6.1.0-13-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian "
		 "12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP "
		 "PREEMPT_DYNAMIC Debian 6.1.55-1 (2023-09-29)\n");
	fake_put(r, "/proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
	fake_put(r, "/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
	fake_put(r, "/proc/sys/kernel/tainted", "0\n");
	fake_put(r, "/proc/sys/kernel/numa_balancing", "1\n");
	fake_put(r, "/proc/sys/vm/swappiness", "60\n");
	fake_put(r, "/proc/sys/fs/file-max", "9223372036854775807\n");
	fake_put(r, "/proc/sys/fs/file-nr", "1024\t0\t9223372036854775807\n");
	fake_put(r, "/proc/meminfo", "MemTotal:       82342345 kB\nMemAvailable:  80000000 kB\n");
	fake_put(r, "/proc/loadavg", "0.01 0.02 0.03 1/200 999\n");
	fake_put(r, "/proc/1/comm", "systemd\n");
	fake_put(r, "/proc/modules",
		 "zfs 4000000 6 - Live 0xffffffffc0a00000 (POE)\n"
		 "e1000e 300000 0 - Live 0xffffffffc0500000\n");
	fake_put(r, "/sys/kernel/security/lsm", "lockdown,capability,landlock,yama,apparmor");
	fake_put(r, "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	fake_put(r, "/sys/kernel/security/apparmor/profiles",
		 "/usr/bin/man (enforce)\nlsb_release (enforce)\n");
	fake_put(r, "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	fake_put(r, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	fake_put(r, "/sys/devices/system/node/node0/cpulist", "0-3\n");
	fake_put(r, CPU "/vulnerabilities/meltdown", "Mitigation: PTI\n");
	fake_put(r, CPU "/vulnerabilities/l1tf", "Not affected\n");
	fake_put(r, CPU "/kernel_max", "8191\n");
	fake_put(r, "/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
	fake_put(r, "/boot/config-6.1.0-13-amd64", "CONFIG_SMP=y\n# CONFIG_FOO is not set\n");
	fake_put(r, "/var/lib/dpkg/status",
		 "Package: zlib1g\nStatus: install ok installed\nArchitecture: amd64\n"
		 "Version: 1:1.2.13\nDescription: compression\n Package: not this one\n\n"
		 "Package: gone\nStatus: deinstall ok config-files\nArchitecture: all\n"
		 "Version: 3\n\n"
		 "Package: bash\nStatus: install ok installed\nArchitecture: amd64\n"
		 "Version: 5.2.15-2\n");
}

void fake_intel(const struct fake_root *r)
{
	uint8_t table[1024];

	put_common(r);
	put_cpus(r,
		 "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: "
		 "Intel(R) Xeon(R) Gold 6230\nstepping\t: 7\nmicrocode\t: 0x5003604\n"
		 "flags\t\t: fpu vme aes\nbugs\t\t: spectre_v1\n",
		 4, 2);
	fake_put(r, CPU "/present", "0-7\n");
	fake_put(r, CPU "/online", "0-3\n");
	fake_put(r, CPU "/smt/active", "0\n");
	fake_put(r, CPU "/cpufreq/policy0/scaling_governor", "performance\n");
	fake_put(r, CPU "/cpufreq/policy1/scaling_governor", "performance\n");
	fake_put(r, CPU "/cpufreq/policy2/scaling_governor", "powersave\n");
	fake_put(r, CPU "/cpufreq/policy0/scaling_driver", "intel_pstate\n");
	fake_put(r, CPU "/intel_pstate/no_turbo", "0\n");
	fake_put(r, CPU "/cpu0/cpuidle/state0/name", "POLL\n");
	fake_put(r, CPU "/cpu0/cpuidle/state0/disable", "0\n");
	fake_put(r, CPU "/cpu0/cpuidle/state1/name", "C6\n");
	fake_put(r, CPU "/cpu0/cpuidle/state1/disable", "1\n");
	fake_put(r, CPU "/cpu0/cache/index0/level", "1\n");
	fake_put(r, CPU "/cpu0/cache/index0/type", "Data\n");
	fake_put(r, CPU "/cpu0/cache/index0/size", "32K\n");
	fake_put(r, CPU "/cpu0/cache/index0/shared_cpu_list", "0,4\n");
	fake_put(r, CPU "/cpu0/thermal_throttle/core_throttle_count", "3\n");
	fake_put(r, CPU "/cpu1/thermal_throttle/core_throttle_count", "4\n");
	fake_put(r, CPU "/cpu0/thermal_throttle/package_throttle_count", "0\n");
	fake_put(r, "/sys/class/dmi/id/bios_version", "2.1.7\n");
	fake_put(r, "/sys/class/dmi/id/product_name", "Server 9000   \n");
	fake_put(r, "/sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
	fake_put(r, "/sys/class/thermal/thermal_zone0/temp", "45500\n");
	fake_put_bytes(r, "/sys/firmware/dmi/tables/DMI", table, fake_smbios_table(table));
	fake_put_bytes(r, "/sys/firmware/acpi/tables/APIC", table, fake_madt(table, 8, 2));
	fake_put_bytes(r,
		       "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
		       "\6\0\0\0\1", 5);
}

void fake_amd(const struct fake_root *r)
{
	put_common(r);
	put_cpus(r,
		 "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD "
		 "EPYC 7763\nstepping\t: 1\nmicrocode\t: 0xa0011d5\nflags\t\t: fpu sev "
		 "hypervisor\n",
		 4, 4);
	fake_put(r, CPU "/present", "0-3\n");
	fake_put(r, CPU "/online", "0-3\n");
	fake_put(r, CPU "/cpufreq/boost", "1\n");
	fake_put(r, CPU "/cpufreq/policy0/scaling_driver", "acpi-cpufreq\n");
	fake_put(r, CPU "/cpufreq/policy0/scaling_governor", "schedutil\n");
}
