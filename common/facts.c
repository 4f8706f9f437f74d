/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/facts.h"

#include <string.h>

/*
 * Sorted by name as bytes.
 *
 * Class machine holds only what a kernel or a command line has no say in: CPUs present, not CPUs
 * online; memory by the DIMMs, not what the kernel calls total, which differs from build to build.
 * What depends on the order in which things come up after a boot (the set of loaded modules) or on
 * the memory that was free then is volatile: a false change would keep results apart that belong
 * together.
 */
static const struct kg_fact_info table[] = {
	{"agent.label", KG_FACT_CONFIGURATION, 60, "lsm", KG_SETTABLE_ENVIRONMENT,
	 "the agent's own label"},
	{"agent.version", KG_FACT_VOLATILE, 5, "software", KG_SETTABLE_ENVIRONMENT, "agent"},
	{"amd-pstate.", KG_FACT_CONFIGURATION, 75, "frequency", KG_SETTABLE_BOOT, "amd_pstate"},
	{"apparmor.", KG_FACT_CONFIGURATION, 75, "lsm", KG_SETTABLE_BOOT, "AppArmor"},
	{"aslr", KG_FACT_CONFIGURATION, 30, "sysctl", KG_SETTABLE_BOOT,
	 "address space randomisation"},
	{"bios.date", KG_FACT_MACHINE, 50, "firmware", KG_SETTABLE_ENVIRONMENT, "BIOS date"},
	{"bios.release", KG_FACT_MACHINE, 40, "firmware", KG_SETTABLE_ENVIRONMENT, "BIOS release"},
	{"bios.vendor", KG_FACT_MACHINE, 40, "firmware", KG_SETTABLE_ENVIRONMENT, "BIOS vendor"},
	{"bios.version", KG_FACT_MACHINE, 55, "firmware", KG_SETTABLE_ENVIRONMENT, "BIOS version"},
	{"board.name", KG_FACT_MACHINE, 70, "machine", KG_SETTABLE_ENVIRONMENT, "board"},
	{"board.vendor", KG_FACT_MACHINE, 50, "machine", KG_SETTABLE_ENVIRONMENT, "board vendor"},
	{"board.version", KG_FACT_MACHINE, 30, "machine", KG_SETTABLE_ENVIRONMENT, "board version"},
	{"boot-id", KG_FACT_VOLATILE, 1, "boot", KG_SETTABLE_ENVIRONMENT, "boot id"},
	{"boot.hops", KG_FACT_VOLATILE, 25, "boot", KG_SETTABLE_ENVIRONMENT,
	 "kexecs since the cold boot"},
	{"boot.method", KG_FACT_VOLATILE, 20, "boot", KG_SETTABLE_ENVIRONMENT, "boot method"},
	{"bpf-lsm.programs", KG_FACT_CONFIGURATION, 75, "lsm", KG_SETTABLE_ENVIRONMENT,
	 "BPF LSM programs"},
	{"bpf.jit", KG_FACT_CONFIGURATION, 30, "sysctl", KG_SETTABLE_KERNEL, "BPF JIT"},
	{"cgroup.version", KG_FACT_CONFIGURATION, 25, "software", KG_SETTABLE_BOOT,
	 "cgroup version"},
	{"chassis.type", KG_FACT_MACHINE, 5, "machine", KG_SETTABLE_ENVIRONMENT, "chassis type"},
	{"clocksource.available", KG_FACT_CONFIGURATION, 20, "time", KG_SETTABLE_BOOT,
	 "clocksources available"},
	{"clocksource.current", KG_FACT_CONFIGURATION, 85, "time", KG_SETTABLE_BOOT, "clocksource"},
	{"cmdline", KG_FACT_SUBJECT, 90, "cmdline", KG_SETTABLE_BOOT, "command line"},
	{"config.digest", KG_FACT_SUBJECT, 85, "config", KG_SETTABLE_KERNEL, "kernel config"},
	{"config.source", KG_FACT_SUBJECT, 5, "config", KG_SETTABLE_KERNEL,
	 "where the config came from"},
	{"cpu.bugs", KG_FACT_CONFIGURATION, 40, "cpu", KG_SETTABLE_KERNEL,
	 "CPU bugs the kernel knows of"},
	{"cpu.cache.", KG_FACT_CONFIGURATION, 50, "cpu", KG_SETTABLE_ENVIRONMENT, "CPU cache"},
	{"cpu.cores", KG_FACT_CONFIGURATION, 80, "cpu", KG_SETTABLE_BOOT, "cores online"},
	{"cpu.count", KG_FACT_CONFIGURATION, 80, "cpu", KG_SETTABLE_BOOT, "CPUs in /proc/cpuinfo"},
	{"cpu.family", KG_FACT_MACHINE, 100, "cpu", KG_SETTABLE_ENVIRONMENT, "CPU family"},
	{"cpu.firmware-count", KG_FACT_MACHINE, 100, "cpu", KG_SETTABLE_ENVIRONMENT,
	 "CPUs the firmware reports"},
	{"cpu.firmware-sockets", KG_FACT_MACHINE, 100, "cpu", KG_SETTABLE_ENVIRONMENT,
	 "CPU sockets in use by the firmware's tables"},
	{"cpu.flags.digest", KG_FACT_CONFIGURATION, 60, "cpu", KG_SETTABLE_BOOT,
	 "CPU flags in use"},
	{"cpu.hybrid.", KG_FACT_CONFIGURATION, 60, "cpu", KG_SETTABLE_ENVIRONMENT,
	 "CPUs of a hybrid part"},
	{"cpu.isolated", KG_FACT_CONFIGURATION, 70, "cpu", KG_SETTABLE_BOOT, "CPUs isolated"},
	{"cpu.microarchitecture", KG_FACT_MACHINE, 100, "cpu", KG_SETTABLE_ENVIRONMENT,
	 "microarchitecture"},
	{"cpu.microcode", KG_FACT_MACHINE, 80, "cpu", KG_SETTABLE_ENVIRONMENT, "microcode"},
	{"cpu.microcode.all", KG_FACT_CONFIGURATION, 75, "cpu", KG_SETTABLE_ENVIRONMENT,
	 "microcode over all CPUs"},
	{"cpu.model", KG_FACT_MACHINE, 100, "cpu", KG_SETTABLE_ENVIRONMENT, "CPU model"},
	{"cpu.name", KG_FACT_MACHINE, 100, "cpu", KG_SETTABLE_ENVIRONMENT, "CPU name"},
	{"cpu.nohz-full", KG_FACT_CONFIGURATION, 60, "cpu", KG_SETTABLE_BOOT, "CPUs without tick"},
	{"cpu.online", KG_FACT_CONFIGURATION, 95, "cpu", KG_SETTABLE_BOOT, "CPUs online"},
	{"cpu.possible", KG_FACT_CONFIGURATION, 30, "cpu", KG_SETTABLE_BOOT, "CPUs possible"},
	{"cpu.present", KG_FACT_MACHINE, 100, "cpu", KG_SETTABLE_ENVIRONMENT, "CPUs present"},
	{"cpu.sockets", KG_FACT_CONFIGURATION, 70, "cpu", KG_SETTABLE_BOOT, "sockets online"},
	{"cpu.stepping", KG_FACT_MACHINE, 90, "cpu", KG_SETTABLE_ENVIRONMENT, "CPU stepping"},
	{"cpu.threads-per-core", KG_FACT_CONFIGURATION, 80, "cpu", KG_SETTABLE_BOOT,
	 "threads per core"},
	{"cpu.topology.digest", KG_FACT_CONFIGURATION, 60, "cpu", KG_SETTABLE_BOOT, "CPU topology"},
	{"cpu.vendor", KG_FACT_MACHINE, 100, "cpu", KG_SETTABLE_ENVIRONMENT, "CPU vendor"},
	{"document.", KG_FACT_VOLATILE, 1, "software", KG_SETTABLE_ENVIRONMENT, "document"},
	{"evm", KG_FACT_CONFIGURATION, 40, "lsm", KG_SETTABLE_BOOT, "EVM"},
	{"firmware.mode", KG_FACT_CONFIGURATION, 20, "firmware", KG_SETTABLE_BOOT, "firmware mode"},
	{"firmware.secure-boot", KG_FACT_CONFIGURATION, 20, "firmware", KG_SETTABLE_ENVIRONMENT,
	 "secure boot"},
	{"frequency.driver", KG_FACT_CONFIGURATION, 85, "frequency", KG_SETTABLE_BOOT,
	 "frequency driver"},
	{"frequency.energy-preference", KG_FACT_CONFIGURATION, 70, "frequency",
	 KG_SETTABLE_ENVIRONMENT, "energy preference"},
	{"frequency.governor", KG_FACT_CONFIGURATION, 85, "frequency", KG_SETTABLE_BOOT,
	 "frequency governor"},
	{"frequency.hardware-max-khz", KG_FACT_CONFIGURATION, 60, "frequency",
	 KG_SETTABLE_ENVIRONMENT, "highest frequency of the hardware"},
	{"frequency.max-khz", KG_FACT_CONFIGURATION, 75, "frequency", KG_SETTABLE_ENVIRONMENT,
	 "highest frequency"},
	{"frequency.min-khz", KG_FACT_CONFIGURATION, 60, "frequency", KG_SETTABLE_ENVIRONMENT,
	 "lowest frequency"},
	{"glibc.version", KG_FACT_MACHINE, 50, "software", KG_SETTABLE_ENVIRONMENT, "C library"},
	{"host.name", KG_FACT_VOLATILE, 1, "machine", KG_SETTABLE_ENVIRONMENT, "host name"},
	{"hugepages.", KG_FACT_CONFIGURATION, 40, "memory", KG_SETTABLE_BOOT, "huge pages"},
	{"hypervisor", KG_FACT_MACHINE, 90, "machine", KG_SETTABLE_ENVIRONMENT, "hypervisor"},
	{"hypervisor.type", KG_FACT_CONFIGURATION, 40, "machine", KG_SETTABLE_KERNEL,
	 "hypervisor interface"},
	{"idle.driver", KG_FACT_CONFIGURATION, 60, "frequency", KG_SETTABLE_BOOT, "idle driver"},
	{"idle.governor", KG_FACT_CONFIGURATION, 50, "frequency", KG_SETTABLE_BOOT,
	 "idle governor"},
	{"idle.states", KG_FACT_CONFIGURATION, 65, "frequency", KG_SETTABLE_BOOT, "idle states"},
	{"ima.measurements", KG_FACT_VOLATILE, 2, "lsm", KG_SETTABLE_ENVIRONMENT,
	 "IMA measurements"},
	{"ima.policy.digest", KG_FACT_CONFIGURATION, 70, "lsm", KG_SETTABLE_BOOT, "IMA policy"},
	{"intel-pstate.", KG_FACT_CONFIGURATION, 75, "frequency", KG_SETTABLE_BOOT, "intel_pstate"},
	{"ipe.", KG_FACT_CONFIGURATION, 50, "lsm", KG_SETTABLE_BOOT, "IPE"},
	{"kernel.arch", KG_FACT_SUBJECT, 60, "kernel", KG_SETTABLE_KERNEL,
	 "architecture of the kernel"},
	{"kernel.build-id", KG_FACT_SUBJECT, 70, "kernel", KG_SETTABLE_KERNEL, "build id"},
	{"kernel.compiler", KG_FACT_SUBJECT, 50, "kernel", KG_SETTABLE_KERNEL, "compiler"},
	{"kernel.release", KG_FACT_SUBJECT, 100, "kernel", KG_SETTABLE_KERNEL, "kernel release"},
	{"kernel.tainted", KG_FACT_VOLATILE, 60, "kernel", KG_SETTABLE_ENVIRONMENT, "taint"},
	{"kernel.version", KG_FACT_SUBJECT, 60, "kernel", KG_SETTABLE_KERNEL,
	 "kernel version line"},
	{"kexec.load-disabled", KG_FACT_CONFIGURATION, 1, "sysctl", KG_SETTABLE_ENVIRONMENT,
	 "kexec_load_disabled"},
	{"ksm.run", KG_FACT_CONFIGURATION, 30, "memory", KG_SETTABLE_ENVIRONMENT, "KSM"},
	{"landlock.abi", KG_FACT_CONFIGURATION, 25, "lsm", KG_SETTABLE_KERNEL, "Landlock ABI"},
	{"load", KG_FACT_VOLATILE, 10, "load", KG_SETTABLE_ENVIRONMENT, "load"},
	{"lockdown", KG_FACT_CONFIGURATION, 50, "lsm", KG_SETTABLE_BOOT, "lockdown"},
	{"lsm", KG_FACT_SUBJECT, 95, "lsm", KG_SETTABLE_BOOT, "LSM list"},
	{"memory.available", KG_FACT_VOLATILE, 10, "memory", KG_SETTABLE_ENVIRONMENT,
	 "memory available"},
	{"memory.dimms", KG_FACT_MACHINE, 70, "memory", KG_SETTABLE_ENVIRONMENT, "DIMM map"},
	{"memory.installed", KG_FACT_MACHINE, 80, "memory", KG_SETTABLE_ENVIRONMENT,
	 "installed memory"},
	{"memory.total", KG_FACT_VOLATILE, 20, "memory", KG_SETTABLE_ENVIRONMENT,
	 "memory the kernel has"},
	{"modules.count", KG_FACT_VOLATILE, 10, "modules", KG_SETTABLE_ENVIRONMENT,
	 "number of modules loaded"},
	{"modules.digest", KG_FACT_VOLATILE, 30, "modules", KG_SETTABLE_ENVIRONMENT,
	 "modules loaded"},
	{"modules.tainting", KG_FACT_CONFIGURATION, 50, "modules", KG_SETTABLE_ENVIRONMENT,
	 "modules that taint"},
	{"nmi-watchdog", KG_FACT_CONFIGURATION, 30, "sysctl", KG_SETTABLE_BOOT, "NMI watchdog"},
	{"numa.balancing", KG_FACT_CONFIGURATION, 60, "memory", KG_SETTABLE_BOOT, "NUMA balancing"},
	{"numa.cpus", KG_FACT_CONFIGURATION, 50, "memory", KG_SETTABLE_BOOT,
	 "CPUs of each NUMA node"},
	{"numa.nodes", KG_FACT_CONFIGURATION, 70, "memory", KG_SETTABLE_BOOT, "NUMA nodes"},
	{"numa.online", KG_FACT_CONFIGURATION, 70, "memory", KG_SETTABLE_BOOT, "NUMA nodes online"},
	{"os", KG_FACT_MACHINE, 40, "software", KG_SETTABLE_ENVIRONMENT, "operating system"},
	{"package-manager", KG_FACT_VOLATILE, 30, "software", KG_SETTABLE_ENVIRONMENT,
	 "package manager at work"},
	{"packages.count", KG_FACT_MACHINE, 10, "software", KG_SETTABLE_ENVIRONMENT,
	 "number of packages"},
	{"packages.digest", KG_FACT_MACHINE, 45, "software", KG_SETTABLE_ENVIRONMENT,
	 "package set"},
	{"packages.stamp", KG_FACT_VOLATILE, 30, "software", KG_SETTABLE_ENVIRONMENT,
	 "package database was written"},
	{"perf.matches-kernel", KG_FACT_SUBJECT, 2, "software", KG_SETTABLE_ENVIRONMENT,
	 "perf is of the running kernel"},
	{"perf.paranoid", KG_FACT_CONFIGURATION, 5, "sysctl", KG_SETTABLE_BOOT,
	 "perf_event_paranoid"},
	{"perf.version", KG_FACT_MACHINE, 40, "software", KG_SETTABLE_ENVIRONMENT, "perf"},
	{"preempt.mode", KG_FACT_CONFIGURATION, 75, "kernel", KG_SETTABLE_BOOT, "preemption"},
	{"pressure.", KG_FACT_VOLATILE, 10, "load", KG_SETTABLE_ENVIRONMENT, "pressure"},
	{"processes", KG_FACT_VOLATILE, 5, "load", KG_SETTABLE_ENVIRONMENT, "processes"},
	{"root.filesystem", KG_FACT_CONFIGURATION, 30, "software", KG_SETTABLE_ENVIRONMENT,
	 "file system of /"},
	{"sched-ext.state", KG_FACT_CONFIGURATION, 70, "kernel", KG_SETTABLE_ENVIRONMENT,
	 "sched_ext"},
	{"sched.", KG_FACT_CONFIGURATION, 50, "kernel", KG_SETTABLE_BOOT, "scheduler setting"},
	{"selinux.", KG_FACT_CONFIGURATION, 80, "lsm", KG_SETTABLE_BOOT, "SELinux"},
	{"sessions", KG_FACT_VOLATILE, 10, "load", KG_SETTABLE_ENVIRONMENT, "login sessions"},
	{"smack.", KG_FACT_CONFIGURATION, 60, "lsm", KG_SETTABLE_BOOT, "Smack"},
	{"smt.active", KG_FACT_CONFIGURATION, 90, "cpu", KG_SETTABLE_BOOT, "SMT active"},
	{"smt.control", KG_FACT_CONFIGURATION, 60, "cpu", KG_SETTABLE_BOOT, "SMT control"},
	{"swap", KG_FACT_CONFIGURATION, 30, "memory", KG_SETTABLE_ENVIRONMENT, "swap"},
	{"sysctl.", KG_FACT_CONFIGURATION, 40, "sysctl", KG_SETTABLE_BOOT, "sysctl"},
	{"sysctl.digest", KG_FACT_CONFIGURATION, 45, "sysctl", KG_SETTABLE_BOOT, "sysctls"},
	{"system.product", KG_FACT_MACHINE, 80, "machine", KG_SETTABLE_ENVIRONMENT,
	 "system product"},
	{"system.vendor", KG_FACT_MACHINE, 70, "machine", KG_SETTABLE_ENVIRONMENT, "system vendor"},
	{"system.version", KG_FACT_MACHINE, 30, "machine", KG_SETTABLE_ENVIRONMENT,
	 "system version"},
	{"tcp.", KG_FACT_CONFIGURATION, 45, "sysctl", KG_SETTABLE_BOOT, "TCP setting"},
	{"temperature.", KG_FACT_VOLATILE, 20, "load", KG_SETTABLE_ENVIRONMENT, "temperature"},
	{"thp.", KG_FACT_CONFIGURATION, 65, "memory", KG_SETTABLE_BOOT, "transparent huge pages"},
	{"throttle.", KG_FACT_VOLATILE, 60, "load", KG_SETTABLE_ENVIRONMENT, "throttle counter"},
	{"time.synchronised", KG_FACT_VOLATILE, 5, "time", KG_SETTABLE_ENVIRONMENT,
	 "clock synchronised"},
	{"tomoyo.", KG_FACT_CONFIGURATION, 60, "lsm", KG_SETTABLE_BOOT, "TOMOYO"},
	{"tomoyo.stat", KG_FACT_VOLATILE, 1, "lsm", KG_SETTABLE_ENVIRONMENT, "TOMOYO counters"},
	{"turbo.boost", KG_FACT_CONFIGURATION, 85, "frequency", KG_SETTABLE_BOOT, "boost"},
	{"uptime", KG_FACT_VOLATILE, 1, "load", KG_SETTABLE_ENVIRONMENT, "uptime"},
	{"virtualised", KG_FACT_MACHINE, 90, "machine", KG_SETTABLE_ENVIRONMENT, "virtual machine"},
	{"vulnerability.", KG_FACT_CONFIGURATION, 85, "mitigations", KG_SETTABLE_BOOT,
	 "mitigation"},
	{"workload.", KG_FACT_MACHINE, 75, "software", KG_SETTABLE_ENVIRONMENT, "workload program"},
	{"workloads.stamp", KG_FACT_VOLATILE, 30, "software", KG_SETTABLE_ENVIRONMENT,
	 "workload programs were written"},
	{"yama.", KG_FACT_CONFIGURATION, 20, "lsm", KG_SETTABLE_BOOT, "Yama"},
	{"zswap.enabled", KG_FACT_CONFIGURATION, 30, "memory", KG_SETTABLE_BOOT, "zswap"},
};

static const struct kg_fact_info unknown = {"",	     KG_FACT_VOLATILE,	      1,
					    "other", KG_SETTABLE_ENVIRONMENT, "other fact"};

static const char *const class_names[KG_FACT_CLASSES] = {
	[KG_FACT_MACHINE] = "machine",
	[KG_FACT_CONFIGURATION] = "configuration",
	[KG_FACT_SUBJECT] = "subject",
	[KG_FACT_VOLATILE] = "volatile",
};

static bool matches(const struct kg_fact_info *f, const char *name, size_t *ret_len)
{
	size_t len = strlen(f->name);

	if (f->name[len - 1] == '.' ? strncmp(name, f->name, len) != 0 || !name[len]
				    : strcmp(name, f->name) != 0)
		return false;
	*ret_len = len;
	return true;
}

const struct kg_fact_info *kg_fact_find(const char *name)
{
	const struct kg_fact_info *best = &unknown;
	size_t best_len = 0, len, i;

	if (!name)
		return best;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		/* The longest fits best: "sysctl.digest" before "sysctl.". */
		if (matches(&table[i], name, &len) && len > best_len) {
			best = &table[i];
			best_len = len;
		}
	}
	return best;
}

const char *kg_fact_class_name(enum kg_fact_class c)
{
	return (unsigned)c < KG_FACT_CLASSES ? class_names[c] : class_names[KG_FACT_VOLATILE];
}

const char *kg_fact_settable_name(enum kg_fact_settable s)
{
	return s == KG_SETTABLE_BOOT ? "boot" : s == KG_SETTABLE_KERNEL ? "kernel" : "environment";
}
