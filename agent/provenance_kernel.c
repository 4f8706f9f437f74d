/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel that runs, and how it is set. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#include "agent/provenance.h"
#include "agent/provenance_facts.h"
#include "common/str.h"

struct source {
	const char *name, *path;
};

#define SYS "/proc/sys/"

static const struct source choices[] = {
	{"thp.enabled", "/sys/kernel/mm/transparent_hugepage/enabled"},
	{"thp.defrag", "/sys/kernel/mm/transparent_hugepage/defrag"},
	{"thp.shmem", "/sys/kernel/mm/transparent_hugepage/shmem_enabled"},
};

static const struct source files[] = {
	{"thp.khugepaged-defrag", "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag"},
	{"hugepages.count", SYS "vm/nr_hugepages"},
	{"hugepages.overcommit", SYS "vm/nr_overcommit_hugepages"},
	{"ksm.run", "/sys/kernel/mm/ksm/run"},
	{"zswap.enabled", "/sys/module/zswap/parameters/enabled"},
	{"numa.online", "/sys/devices/system/node/online"},
	{"numa.balancing", SYS "kernel/numa_balancing"},
	{"clocksource.current", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"clocksource.available",
	 "/sys/devices/system/clocksource/clocksource0/available_clocksource"},
	{"sched-ext.state", "/sys/kernel/sched_ext/state"},
	{"sched.autogroup", SYS "kernel/sched_autogroup_enabled"},
	{"sched.rt-runtime-us", SYS "kernel/sched_rt_runtime_us"},
	{"sched.schedstats", SYS "kernel/sched_schedstats"},
	{"perf.paranoid", SYS "kernel/perf_event_paranoid"},
	{"nmi-watchdog", SYS "kernel/nmi_watchdog"},
	{"aslr", SYS "kernel/randomize_va_space"},
	{"bpf.jit", SYS "net/core/bpf_jit_enable"},
	{"tcp.congestion-control", SYS "net/ipv4/tcp_congestion_control"},
	{"kexec.load-disabled", SYS "kernel/kexec_load_disabled"},
	{"sysctl.vm.swappiness", SYS "vm/swappiness"},
	{"sysctl.vm.dirty_ratio", SYS "vm/dirty_ratio"},
	{"sysctl.vm.dirty_background_ratio", SYS "vm/dirty_background_ratio"},
	{"sysctl.vm.overcommit_memory", SYS "vm/overcommit_memory"},
	{"sysctl.vm.zone_reclaim_mode", SYS "vm/zone_reclaim_mode"},
	{"sysctl.net.core.default_qdisc", SYS "net/core/default_qdisc"},
	{"sysctl.net.core.somaxconn", SYS "net/core/somaxconn"},
	{"sysctl.net.core.rmem_max", SYS "net/core/rmem_max"},
	{"sysctl.net.core.wmem_max", SYS "net/core/wmem_max"},
	{"sysctl.net.ipv4.tcp_mtu_probing", SYS "net/ipv4/tcp_mtu_probing"},
};

static char *text_of(struct fact_list *l, const char *root, const char *path)
{
	char *text;
	size_t len;
	int rc = fact_read(root, path, 1 << 20, &text, &len);

	if (rc == -ENOMEM)
		l->failed = true;
	return rc < 0 ? NULL : text;
}

/* The line without the word that differs in every boot by our own doing. */
static void add_cmdline(const char *root, struct fact_list *l)
{
	char *text = text_of(l, root, "/proc/cmdline"), *word, *rest = NULL;
	struct kg_str out = {0};

	if (!text) {
		fact_file(l, root, "cmdline", "/proc/cmdline"); /* for the reason */
		return;
	}
	for (word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		if (!kg_str_starts(word, "kgrid.boot="))
			kg_str_addf(&out, "%s%s", out.len ? " " : "", word);
	if (out.failed)
		l->failed = true;
	else
		fact_add(l, "cmdline", kg_str_text(&out));
	kg_str_deinit(&out);
	free(text);
}

/* What /proc/version has in the second pair of parentheses, where it names a compiler:
 * "Linux version R (who@where) (gcc (Debian 12.2.0-14) 12.2.0, GNU ld ...) #1 SMP ...". */
static void add_compiler(struct fact_list *l, const char *version)
{
	const char *at = strchr(version, '('), *start = NULL;
	char text[512];
	int depth = 0;

	for (; at && *at; at++) {
		if (*at == '(' && depth++ == 0)
			start = at + 1;
		else if (*at == ')' && --depth == 0) {
			size_t len = (size_t)(at - start);

			if (len < sizeof(text)) {
				memcpy(text, start, len);
				text[len] = '\0';
				if (strstr(text, "gcc") || strstr(text, "clang")) {
					fact_add(l, "kernel.compiler", text);
					return;
				}
			}
			if (at[1] != ' ' || at[2] != '(')
				break;
		}
	}
	fact_unsupported(l, "kernel.compiler", FACT_ABSENT);
}

/* What runs, by the switch of a kernel that can change it, else by the word of its version. */
static void add_preempt(const char *root, struct fact_list *l, const char *version)
{
	static const char *const words[][2] = {{" PREEMPT_RT ", "rt"},
					       {" PREEMPT_LAZY ", "lazy"},
					       {" PREEMPT_DYNAMIC ", "dynamic"},
					       {" PREEMPT ", "full"}};
	char *text = text_of(l, root, "/sys/kernel/debug/sched/preempt");
	char *open = text ? strchr(text, '(') : NULL, *end = open ? strchr(open, ')') : NULL;
	size_t i;

	if (end) {
		*end = '\0';
		fact_add(l, "preempt.mode", open + 1);
	}
	free(text);
	for (i = 0; !end && version && i < 4; i++)
		if (strstr(version, words[i][0])) {
			fact_add(l, "preempt.mode", words[i][1]);
			return;
		}
	if (!end && version)
		fact_add(l, "preempt.mode", "none or voluntary");
	else if (!end)
		fact_unsupported(l, "preempt.mode", FACT_ABSENT);
}

static void add_build_id(const char *root, struct fact_list *l)
{
	char *notes, *id;
	size_t len;
	int rc = fact_read(root, "/sys/kernel/notes", 1 << 20, &notes, &len);

	if (rc < 0) {
		if (rc == -ENOMEM)
			l->failed = true;
		fact_unsupported(l, "kernel.build-id", fact_reason(rc));
		return;
	}
	id = provenance_build_id((const uint8_t *)notes, len);
	free(notes);
	if (id)
		fact_add(l, "kernel.build-id", id);
	else
		fact_unsupported(l, "kernel.build-id", FACT_ABSENT);
	free(id);
}

void provenance_kernel(const char *root, struct fact_list *l)
{
	char *version = text_of(l, root, "/proc/version");
	struct utsname u;

	/* uname(2) cannot be pointed at a folder: what the files say comes first. */
	if (root[0])
		fact_file(l, root, "kernel.release", SYS "kernel/osrelease");
	if (uname(&u) == 0 && !root[0]) {
		fact_add(l, "kernel.release", u.release);
		fact_add(l, "kernel.arch", u.machine);
		fact_add(l, "host.name", u.nodename);
	}
	if (version)
		fact_add(l, "kernel.version", version);
	else
		fact_file(l, root, "kernel.version", "/proc/version");
	if (version)
		add_compiler(l, version);
	else
		fact_unsupported(l, "kernel.compiler", FACT_ABSENT);
	add_preempt(root, l, version);
	free(version);
	add_cmdline(root, l);
	add_build_id(root, l);
	fact_file(l, root, "lsm", "/sys/kernel/security/lsm");
	fact_file(l, root, "boot-id", SYS "kernel/random/boot_id");
}

/* "0:0-15 1:16-31" */
static void add_nodes(const char *root, struct fact_list *l)
{
	struct kg_str all = {0};
	size_t n, i;
	char **names = fact_names(l, root, "/sys/devices/system/node", "node", &n);

	for (i = 0; i < n; i++) {
		char path[128], *text;

		(void)snprintf(path, sizeof(path), "/sys/devices/system/node/%.32s/cpulist",
			       names[i]);
		text = text_of(l, root, path);
		if (text) {
			text[strcspn(text, "\n")] = '\0';
			kg_str_addf(&all, "%s%.16s:%s", all.len ? " " : "", names[i] + 4, text);
		}
		free(text);
	}
	fact_names_free(names, n);
	if (n)
		fact_addf(l, "numa.nodes", "%zu", n);
	else
		fact_unsupported(l, "numa.nodes", FACT_ABSENT);
	if (all.len)
		fact_add(l, "numa.cpus", all.text);
	else
		fact_unsupported(l, "numa.cpus", FACT_ABSENT);
	l->failed = l->failed || all.failed;
	kg_str_deinit(&all);
}

static void add_memory(const char *root, struct fact_list *l)
{
	static const char *const keys[][2] = {{"memory.total", "MemTotal:"},
					      {"memory.available", "MemAvailable:"}};
	char *text = text_of(l, root, "/proc/meminfo");
	size_t i;

	for (i = 0; i < 2; i++) {
		char *at = text ? strstr(text, keys[i][1]) : NULL;
		unsigned long long kb = 0;

		if (at && sscanf(at + strlen(keys[i][1]), " %llu kB", &kb) == 1 && kb)
			fact_addf(l, keys[i][0], "%llu", kb * 1024);
		else
			fact_unsupported(l, keys[i][0], FACT_ABSENT);
	}
	free(text);
}

/* Devices and sizes; how much is in use changes all the time. */
static void add_swap(const char *root, struct fact_list *l)
{
	char *text = text_of(l, root, "/proc/swaps"), *line, *rest = NULL;
	struct kg_str all = {0};
	char device[256], type[32];
	unsigned long long kb;

	if (!text) {
		fact_unsupported(l, "swap", FACT_ABSENT);
		return;
	}
	(void)strtok_r(text, "\n", &rest); /* the heading */
	while ((line = strtok_r(NULL, "\n", &rest)))
		if (sscanf(line, "%255s %31s %llu", device, type, &kb) == 3)
			kg_str_addf(&all, "%s%s %s %llu kB", all.len ? ", " : "", device, type, kb);
	if (all.failed)
		l->failed = true;
	else
		fact_add(l, "swap", all.len ? all.text : "none");
	kg_str_deinit(&all);
	free(text);
}

static void add_root_file_system(const char *root, struct fact_list *l)
{
	char *text = text_of(l, root, "/proc/self/mounts"), *line, *rest = NULL;
	char device[256], where[256], type[64], found[64] = "";

	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		if (sscanf(line, "%255s %255s %63s", device, where, type) == 3 &&
		    strcmp(where, "/") == 0)
			memcpy(found, type, sizeof(found)); /* the last one lies on top */
	if (found[0])
		fact_add(l, "root.filesystem", found);
	else
		fact_unsupported(l, "root.filesystem", FACT_ABSENT);
	free(text);
}

static void add_clock(const char *root, struct fact_list *l)
{
	struct timex t = {0};
	int state = root[0] ? -1 : adjtimex(&t);

	if (state < 0)
		fact_unsupported(l, "time.synchronised", FACT_ABSENT);
	else
		fact_add(l, "time.synchronised",
			 state == TIME_ERROR || t.status & STA_UNSYNC ? "no" : "yes");
}

void provenance_settings(const char *root, struct fact_list *l)
{
	size_t i;

	for (i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		fact_choice(l, root, choices[i].name, choices[i].path);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		fact_file(l, root, files[i].name, files[i].path);
	add_nodes(root, l);
	add_memory(root, l);
	add_swap(root, l);
	add_root_file_system(root, l);
	add_clock(root, l);
	if (fact_exists(root, "/sys/fs/cgroup/cgroup.controllers"))
		fact_add(l, "cgroup.version", "2");
	else if (fact_exists(root, "/sys/fs/cgroup/cpu"))
		fact_add(l, "cgroup.version", "1");
	else
		fact_unsupported(l, "cgroup.version", FACT_ABSENT);
}
