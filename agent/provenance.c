/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/provenance.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/file.h"
#include "common/str.h"

#define LINE_MAX_BYTES	  65536
#define CPUINFO_MAX_BYTES (16U * 1024 * 1024)

struct source {
	const char *name;
	const char *path;
};

/* What can move a result and is one small file. */
static const struct source sources[] = {
	{"cpu.online", "/sys/devices/system/cpu/online"},
	{"cpu.isolated", "/sys/devices/system/cpu/isolated"},
	{"cpu.nohz-full", "/sys/devices/system/cpu/nohz_full"},
	{"smt.active", "/sys/devices/system/cpu/smt/active"},
	{"smt.control", "/sys/devices/system/cpu/smt/control"},
	{"frequency.driver", "/sys/devices/system/cpu/cpufreq/policy0/scaling_driver"},
	{"frequency.governor", "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"},
	{"frequency.min-khz", "/sys/devices/system/cpu/cpufreq/policy0/scaling_min_freq"},
	{"frequency.max-khz", "/sys/devices/system/cpu/cpufreq/policy0/scaling_max_freq"},
	{"frequency.energy-preference",
	 "/sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference"},
	{"turbo.boost", "/sys/devices/system/cpu/cpufreq/boost"},
	{"intel-pstate.status", "/sys/devices/system/cpu/intel_pstate/status"},
	{"intel-pstate.no-turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"},
	{"amd-pstate.status", "/sys/devices/system/cpu/amd_pstate/status"},
	{"idle.driver", "/sys/devices/system/cpu/cpuidle/current_driver"},
	{"idle.governor", "/sys/devices/system/cpu/cpuidle/current_governor"},
	{"numa.online", "/sys/devices/system/node/online"},
	{"numa.balancing", "/proc/sys/kernel/numa_balancing"},
	{"thp.enabled", "/sys/kernel/mm/transparent_hugepage/enabled"},
	{"thp.defrag", "/sys/kernel/mm/transparent_hugepage/defrag"},
	{"clocksource.current", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"clocksource.available",
	 "/sys/devices/system/clocksource/clocksource0/available_clocksource"},
	{"bios.vendor", "/sys/class/dmi/id/bios_vendor"},
	{"bios.version", "/sys/class/dmi/id/bios_version"},
	{"bios.date", "/sys/class/dmi/id/bios_date"},
	{"system.vendor", "/sys/class/dmi/id/sys_vendor"},
	{"system.product", "/sys/class/dmi/id/product_name"},
	{"board.name", "/sys/class/dmi/id/board_name"},
	{"board.version", "/sys/class/dmi/id/board_version"},
	{"hypervisor.type", "/sys/hypervisor/type"},
	{"lockdown", "/sys/kernel/security/lockdown"},
	{"selinux.enforce", "/sys/fs/selinux/enforce"},
	{"selinux.policy-version", "/sys/fs/selinux/policyvers"},
	{"apparmor.enabled", "/sys/module/apparmor/parameters/enabled"},
	{"yama.ptrace-scope", "/proc/sys/kernel/yama/ptrace_scope"},
	{"ipe.enforce", "/sys/kernel/security/ipe/enforce"},
	{"ima.measurements", "/sys/kernel/security/ima/runtime_measurements_count"},
	{"evm", "/sys/kernel/security/evm"},
	{"agent.label", "/proc/self/attr/current"},
	{"sched-ext.state", "/sys/kernel/sched_ext/state"},
	{"sched.autogroup", "/proc/sys/kernel/sched_autogroup_enabled"},
	{"perf.paranoid", "/proc/sys/kernel/perf_event_paranoid"},
	{"nmi-watchdog", "/proc/sys/kernel/nmi_watchdog"},
	{"aslr", "/proc/sys/kernel/randomize_va_space"},
	{"bpf.jit", "/proc/sys/net/core/bpf_jit_enable"},
	{"tcp.congestion-control", "/proc/sys/net/ipv4/tcp_congestion_control"},
	{"tcp.rmem", "/proc/sys/net/ipv4/tcp_rmem"},
	{"tcp.wmem", "/proc/sys/net/ipv4/tcp_wmem"},
	{"load", "/proc/loadavg"},
	{"uptime", "/proc/uptime"},
	{"kexec.load-disabled", "/proc/sys/kernel/kexec_load_disabled"},
};

char *provenance_line(const char *root, const char *path)
{
	struct kg_str full = {0};
	char *text = NULL, *p;
	size_t len;
	int rc;

	kg_str_addf(&full, "%s%s", root, path);
	rc = full.failed ? -ENOMEM : kg_file_read(full.text, LINE_MAX_BYTES, &text, &len, NULL);
	kg_str_deinit(&full);
	if (rc < 0)
		return NULL;
	while (len > 0 && (isspace((unsigned char)text[len - 1]) || text[len - 1] == '\0'))
		text[--len] = '\0';
	if (len == 0 || strlen(text) != len || !kg_utf8_valid(text, len)) {
		free(text);
		return NULL;
	}
	for (p = text; *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	return text;
}

char *provenance_build_id(const uint8_t *notes, size_t len)
{
	size_t at = 0;

	while (len - at >= 12) {
		uint32_t head
			[3]; /* name size, description size, type, of the machine's byte order */
		size_t name, desc;
		struct kg_str hex = {0};
		size_t i;

		memcpy(head, notes + at, sizeof(head));
		name = ((size_t)head[0] + 3) & ~(size_t)3;
		desc = ((size_t)head[1] + 3) & ~(size_t)3;
		at += 12;
		if (name > len - at || desc > len - at - name)
			break;
		if (head[2] != 3 || head[0] != 4 || memcmp(notes + at, "GNU", 4) != 0) {
			at += name + desc;
			continue;
		}
		for (i = 0; i < head[1]; i++)
			kg_str_addf(&hex, "%02x", notes[at + name + i]);
		return kg_str_take(&hex);
	}
	return NULL;
}

static int add_fact(struct provenance *p, const char *name, char *value)
{
	struct provenance_fact *facts;

	if (!value)
		return 0;
	facts = realloc(p->facts, (p->n_facts + 1) * sizeof(*facts));
	if (!facts) {
		free(value);
		return -ENOMEM;
	}
	p->facts = facts;
	facts[p->n_facts].value = value;
	facts[p->n_facts].name = strdup(name);
	p->n_facts++;
	return facts[p->n_facts - 1].name ? 0 : -ENOMEM;
}

static void set_number(struct provenance_number *n, const char *text)
{
	char *end;
	unsigned long long v;

	if (n->has || !isdigit((unsigned char)text[0]))
		return;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno == 0 && (*end == '\0' || *end == ' ')) {
		n->has = true;
		n->value = v;
	}
}

static void set_text(char **slot, const char *text)
{
	if (!*slot && text[0])
		*slot = strdup(text);
}

/* The value of a "key : value" line, or NULL. */
static char *value_of(char *line)
{
	char *colon = strchr(line, ':'), *end;

	if (!colon)
		return NULL;
	for (end = colon; end > line && isspace((unsigned char)end[-1]); end--)
		;
	*end = '\0';
	colon++;
	while (isspace((unsigned char)*colon))
		colon++;
	return colon;
}

static void cpu_line(struct provenance *p, const char *key, const char *value, uint64_t *sockets)
{
	if (strcmp(key, "processor") == 0) {
		p->cpus.has = true;
		p->cpus.value++;
	} else if (strcmp(key, "vendor_id") == 0) {
		set_text(&p->cpu_vendor, value);
	} else if (strcmp(key, "cpu family") == 0) {
		set_number(&p->cpu_family, value);
	} else if (strcmp(key, "model") == 0) {
		set_number(&p->cpu_model, value);
	} else if (strcmp(key, "stepping") == 0) {
		set_number(&p->cpu_stepping, value);
	} else if (strcmp(key, "model name") == 0) {
		set_text(&p->cpu_name, value);
	} else if (strcmp(key, "microcode") == 0) {
		set_text(&p->microcode, value);
	} else if (strcmp(key, "physical id") == 0) {
		unsigned long id = strtoul(value, NULL, 10);

		*sockets |= 1ULL << (id & 63);
	}
}

static void read_cpuinfo(const char *root, struct provenance *p)
{
	struct kg_str path = {0};
	char *text = NULL, *line, *rest = NULL;
	uint64_t sockets = 0;
	bool hypervisor = false;
	size_t len;

	kg_str_addf(&path, "%s/proc/cpuinfo", root);
	if (path.failed || kg_file_read(path.text, CPUINFO_MAX_BYTES, &text, &len, NULL) < 0) {
		kg_str_deinit(&path);
		return;
	}
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *value = value_of(line);

		if (!value)
			continue;
		if (strcmp(line, "flags") == 0 && strstr(value, " hypervisor"))
			hypervisor = true;
		cpu_line(p, line, value, &sockets);
	}
	if (sockets) {
		p->sockets.has = true;
		p->sockets.value = (uint64_t)__builtin_popcountll(sockets);
	}
	if (hypervisor)
		(void)add_fact(p, "virtualised", strdup("yes"));
	free(text);
	kg_str_deinit(&path);
}

static void read_memory(const char *root, struct provenance *p)
{
	char *line = provenance_line(root, "/proc/meminfo");
	char *at = line ? strstr(line, "MemTotal:") : NULL;

	if (at) {
		at += strlen("MemTotal:");
		at += strspn(at, " ");
		set_number(&p->memory_bytes, at);
		p->memory_bytes.value *= 1024;
	}
	free(line);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every file of a folder as "PREFIX.NAME", by name. */
static int read_folder(const char *root, const char *dir, const char *prefix, struct provenance *p)
{
	struct kg_str full = {0};
	char *names[256];
	size_t n = 0, i;
	struct dirent *de;
	DIR *handle;
	int rc = 0;

	kg_str_addf(&full, "%s%s", root, dir);
	handle = full.failed ? NULL : opendir(full.text);
	kg_str_deinit(&full);
	if (!handle)
		return 0;
	while ((de = readdir(handle)) && n < 256)
		if (de->d_name[0] != '.' && (names[n] = strdup(de->d_name)))
			n++;
	closedir(handle);
	qsort(names, n, sizeof(names[0]), compare_names);
	for (i = 0; i < n; i++) {
		struct kg_str path = {0}, name = {0};

		kg_str_addf(&path, "%s/%s", dir, names[i]);
		kg_str_addf(&name, "%s.%s", prefix, names[i]);
		if (rc == 0 && !path.failed && !name.failed)
			rc = add_fact(p, name.text, provenance_line(root, path.text));
		kg_str_deinit(&path);
		kg_str_deinit(&name);
		free(names[i]);
	}
	return rc;
}

static void count_nodes(const char *root, struct provenance *p)
{
	struct kg_str full = {0};
	struct dirent *de;
	DIR *handle;

	kg_str_addf(&full, "%s/sys/devices/system/node", root);
	handle = full.failed ? NULL : opendir(full.text);
	kg_str_deinit(&full);
	if (!handle)
		return;
	while ((de = readdir(handle)))
		if (kg_str_starts(de->d_name, "node") && isdigit((unsigned char)de->d_name[4]))
			p->numa_nodes.value++;
	closedir(handle);
	p->numa_nodes.has = p->numa_nodes.value > 0;
}

static void read_kernel(const char *root, struct provenance *p)
{
	struct kg_str path = {0};
	struct utsname u;
	char *notes, *line;
	size_t len;

	if (uname(&u) == 0) {
		set_text(&p->release, u.release);
		set_text(&p->arch, u.machine);
		set_text(&p->host_name, u.nodename);
	}
	p->version = provenance_line(root, "/proc/version");
	p->cmdline = provenance_line(root, "/proc/cmdline");
	p->host_boot_id = provenance_line(root, "/proc/sys/kernel/random/boot_id");
	line = provenance_line(root, "/proc/sys/kernel/tainted");
	if (line)
		set_number(&p->tainted, line);
	free(line);
	/* Many minimal systems have not mounted it; only the machine itself can. */
	p->lsm = provenance_line(root, "/sys/kernel/security/lsm");
	if (!p->lsm && !root[0] &&
	    mount("securityfs", "/sys/kernel/security", "securityfs",
		  MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
		p->lsm = provenance_line(root, "/sys/kernel/security/lsm");
	kg_str_addf(&path, "%s/sys/kernel/notes", root);
	if (!path.failed && kg_file_read(path.text, 1 << 20, &notes, &len, NULL) == 0) {
		p->build_id = provenance_build_id((const uint8_t *)notes, len);
		free(notes);
	}
	kg_str_deinit(&path);
}

static int read_os(const char *root, struct provenance *p)
{
	char *line = provenance_line(root, "/etc/os-release");
	char *at = line ? strstr(line, "PRETTY_NAME=\"") : NULL;
	char *end = at ? strchr(at + 13, '"') : NULL;
	int rc = end ? add_fact(p, "os", strndup(at + 13, (size_t)(end - at - 13))) : 0;

	free(line);
	return rc;
}

int provenance_read(const char *root, struct provenance *ret_p, struct kg_err *err)
{
	struct provenance p = {0};
	size_t i;
	int rc = 0;

	read_kernel(root, &p);
	read_cpuinfo(root, &p);
	read_memory(root, &p);
	count_nodes(root, &p);
	for (i = 0; i < sizeof(sources) / sizeof(sources[0]) && rc == 0; i++)
		rc = add_fact(&p, sources[i].name, provenance_line(root, sources[i].path));
	if (rc == 0)
		rc = read_folder(root, "/sys/devices/system/cpu/vulnerabilities", "vulnerability",
				 &p);
	if (rc == 0)
		rc = read_os(root, &p);
	if (rc < 0) {
		provenance_deinit(&p);
		return kg_err_set(err, rc, "out of memory");
	}
	*ret_p = p;
	return 0;
}

void provenance_deinit(struct provenance *p)
{
	size_t i;

	free(p->cpu_vendor);
	free(p->cpu_name);
	free(p->microcode);
	free(p->release);
	free(p->version);
	free(p->arch);
	free(p->host_name);
	free(p->cmdline);
	free(p->build_id);
	free(p->lsm);
	free(p->host_boot_id);
	for (i = 0; i < p->n_facts; i++) {
		free(p->facts[i].name);
		free(p->facts[i].value);
	}
	free(p->facts);
	memset(p, 0, sizeof(*p));
}
