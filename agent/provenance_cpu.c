/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs: what they are, how they are arranged, how fast they are let run. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/provenance_facts.h"
#include "common/cmdline.h"
#include "common/err.h"
#include "common/sha256.h"
#include "common/str.h"
#include "common/uarch.h"

#define CPU	    "/sys/devices/system/cpu"
#define CPUINFO_MAX (32U * 1024 * 1024)
#define PATH_SIZE   256

/* ---- /proc/cpuinfo ---- */

struct cpuinfo {
	struct kg_str vendor, name, flags, bugs, microcode, microcodes;
	unsigned family, model, stepping;
	bool has_family, has_model, has_stepping;
	uint64_t cpus;
	struct kg_str ids; /* "package:core;" of each core seen */
	uint64_t sockets, cores;
	char package[24];
};

static void cpuinfo_deinit(struct cpuinfo *c)
{
	kg_str_deinit(&c->vendor);
	kg_str_deinit(&c->name);
	kg_str_deinit(&c->flags);
	kg_str_deinit(&c->bugs);
	kg_str_deinit(&c->microcode);
	kg_str_deinit(&c->microcodes);
	kg_str_deinit(&c->ids);
}

static void set_once(struct kg_str *s, const char *value)
{
	if (!s->len)
		kg_str_add(s, value);
}

static void set_number(const char *value, bool *has, unsigned *ret)
{
	uint64_t v;

	if (*has || kg_parse_u64(value, &v) < 0 || v > UINT32_MAX)
		return;
	*has = true;
	*ret = (unsigned)v;
}

/* Whether `word` is new in the list, where each is ended by ';'; adds it then. */
static bool note(struct kg_str *list, const char *word)
{
	char key[96];

	(void)snprintf(key, sizeof(key), ";%.90s;", word);
	if (strstr(kg_str_text(list), key))
		return false;
	if (!list->len)
		kg_str_add(list, ";");
	kg_str_addf(list, "%.90s;", word);
	return true;
}

static void cpuinfo_line(struct cpuinfo *c, const char *key, const char *value)
{
	char id[80];

	if (strcmp(key, "processor") == 0) {
		c->cpus++;
		c->package[0] = '\0';
	} else if (strcmp(key, "vendor_id") == 0) {
		set_once(&c->vendor, value);
	} else if (strcmp(key, "model name") == 0) {
		set_once(&c->name, value);
	} else if (strcmp(key, "cpu family") == 0) {
		set_number(value, &c->has_family, &c->family);
	} else if (strcmp(key, "model") == 0) {
		set_number(value, &c->has_model, &c->model);
	} else if (strcmp(key, "stepping") == 0) {
		set_number(value, &c->has_stepping, &c->stepping);
	} else if (strcmp(key, "flags") == 0) {
		set_once(&c->flags, value);
	} else if (strcmp(key, "bugs") == 0) {
		set_once(&c->bugs, value);
	} else if (strcmp(key, "microcode") == 0) {
		set_once(&c->microcode, value);
		(void)note(&c->microcodes, value);
	} else if (strcmp(key, "physical id") == 0) {
		(void)snprintf(c->package, sizeof(c->package), "%.20s", value);
		(void)snprintf(id, sizeof(id), "p%.20s", value);
		c->sockets += note(&c->ids, id);
	} else if (strcmp(key, "core id") == 0 && c->package[0]) {
		(void)snprintf(id, sizeof(id), "c%s/%.20s", c->package, value);
		c->cores += note(&c->ids, id);
	}
}

static int read_cpuinfo(const char *root, struct cpuinfo *c)
{
	char *text, *line, *rest = NULL;
	size_t len;
	int rc = fact_read(root, "/proc/cpuinfo", CPUINFO_MAX, &text, &len);

	if (rc < 0)
		return rc;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *colon = strchr(line, ':'), *end;

		if (!colon)
			continue;
		for (end = colon; end > line && isspace((unsigned char)end[-1]); end--)
			;
		*end = '\0';
		colon++;
		cpuinfo_line(c, line, colon + strspn(colon, " \t"));
	}
	free(text);
	return c->vendor.failed || c->name.failed || c->flags.failed || c->bugs.failed ||
			       c->microcode.failed || c->microcodes.failed || c->ids.failed
		       ? -ENOMEM
		       : 0;
}

static void add_text(struct fact_list *l, const char *name, const struct kg_str *s, int rc)
{
	if (rc < 0)
		fact_unsupported(l, name, fact_reason(rc));
	else if (!s->len)
		fact_unsupported(l, name, FACT_ABSENT);
	else
		fact_add(l, name, s->text);
}

static void add_count(struct fact_list *l, const char *name, bool has, uint64_t value)
{
	if (has)
		fact_addf(l, name, "%" PRIu64, value);
	else
		fact_unsupported(l, name, FACT_ABSENT);
}

/* "0x1;0x2;" as "0x1,0x2". */
static void add_microcodes(struct fact_list *l, struct kg_str *list)
{
	char *p;

	if (!list->len) {
		fact_unsupported(l, "cpu.microcode.all", FACT_ABSENT);
		return;
	}
	list->text[list->len - 1] = '\0';
	for (p = list->text + 1; *p; p++)
		if (*p == ';')
			*p = ',';
	fact_add(l, "cpu.microcode.all", list->text + 1);
}

static void microcode_of(const char *root, struct fact_list *l, struct cpuinfo *c)
{
	if (c->microcode.len)
		fact_add(l, "cpu.microcode", c->microcode.text);
	else
		fact_file(l, root, "cpu.microcode", CPU "/cpu0/microcode/version");
	add_microcodes(l, &c->microcodes);
}

void provenance_cpu_microcode(const char *root, struct fact_list *l)
{
	struct cpuinfo c = {0};

	if (read_cpuinfo(root, &c) == -ENOMEM)
		l->failed = true;
	microcode_of(root, l, &c);
	cpuinfo_deinit(&c);
}

static void add_flags(struct fact_list *l, const struct cpuinfo *c, int rc)
{
	char hex[KG_SHA256_HEX_SIZE];
	const char *at = kg_str_text(&c->flags), *found = strstr(at, " hypervisor");

	if (!c->flags.len) {
		fact_unsupported(l, "cpu.flags.digest", rc < 0 ? fact_reason(rc) : FACT_ABSENT);
		fact_unsupported(l, "virtualised", rc < 0 ? fact_reason(rc) : FACT_ABSENT);
		return;
	}
	if (kg_sha256_bytes(at, c->flags.len, hex) < 0)
		l->failed = true;
	else
		fact_add(l, "cpu.flags.digest", hex);
	fact_add(l, "virtualised", found && (found[11] == ' ' || !found[11]) ? "yes" : "no");
}

static void add_microarchitecture(struct fact_list *l, const struct cpuinfo *c)
{
	char name[64];

	if (!c->vendor.len || !c->has_family || !c->has_model || !c->has_stepping)
		fact_unsupported(l, "cpu.microarchitecture", FACT_ABSENT);
	else
		fact_add(l, "cpu.microarchitecture",
			 kg_uarch_name(c->vendor.text, c->family, c->model, c->stepping, name,
				       sizeof(name)));
}

static void add_cpuinfo(const char *root, struct fact_list *l)
{
	struct cpuinfo c = {0};
	int rc = read_cpuinfo(root, &c);

	if (rc == -ENOMEM)
		l->failed = true;
	add_text(l, "cpu.vendor", &c.vendor, rc);
	add_text(l, "cpu.name", &c.name, rc);
	add_text(l, "cpu.bugs", &c.bugs, rc);
	add_count(l, "cpu.family", c.has_family, c.family);
	add_count(l, "cpu.model", c.has_model, c.model);
	add_count(l, "cpu.stepping", c.has_stepping, c.stepping);
	add_count(l, "cpu.count", c.cpus > 0, c.cpus);
	add_count(l, "cpu.sockets", c.sockets > 0, c.sockets);
	add_count(l, "cpu.cores", c.cores > 0, c.cores);
	if (c.cores > 0 && c.cpus % c.cores == 0)
		fact_addf(l, "cpu.threads-per-core", "%" PRIu64, c.cpus / c.cores);
	else
		fact_unsupported(l, "cpu.threads-per-core", FACT_ABSENT);
	add_microarchitecture(l, &c);
	add_flags(l, &c, rc);
	microcode_of(root, l, &c);
	cpuinfo_deinit(&c);
}

/* First line, owned; NULL when there is none. */
static char *line_of(struct fact_list *l, const char *root, const char *path)
{
	char *text;
	size_t len;
	int rc = fact_read(root, path, 65536, &text, &len);

	if (rc == -ENOMEM)
		l->failed = true;
	if (rc < 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/* ---- CPUs present ---- */

/* How many a list like "0-3,8" names; 0: not such a list. */
static uint64_t count_list(const char *list)
{
	uint64_t n = 0;

	while (*list) {
		char *end;
		unsigned long long a = strtoull(list, &end, 10), b = a;

		if (end == list)
			return 0;
		if (*end == '-') {
			list = end + 1;
			b = strtoull(list, &end, 10);
			if (end == list || b < a)
				return 0;
		}
		n += b - a + 1;
		if (*end && *end != ',')
			return 0;
		list = *end ? end + 1 : end;
	}
	return n;
}

/* Whether the kernel was told, or built, to look at fewer CPUs than there may be. */
static bool present_is_cut(struct fact_list *l, const char *root, const char *present)
{
	static const char *const words[] = {"nr_cpus=", "possible_cpus=", "nosmp", "acpi=off",
					    "disable_cpu_apicid="};
	struct kg_cmdline line;
	char *text;
	size_t i, j;
	uint64_t max;
	bool cut = false;

	text = line_of(l, root, CPU "/kernel_max");
	if (text) {
		cut = kg_parse_u64(text, &max) == 0 && count_list(present) > max;
		free(text);
	}
	text = line_of(l, root, "/proc/cmdline");
	if (!text)
		return cut;
	if (kg_cmdline_parse(text, &line) < 0) {
		l->failed = true;
	} else {
		for (i = 0; i < line.n; i++)
			for (j = 0; j < sizeof(words) / sizeof(words[0]); j++)
				cut = cut || kg_str_starts(line.words[i], words[j]);
		kg_cmdline_deinit(&line);
	}
	free(text);
	return cut;
}

void provenance_cpu_present(const char *root, struct fact_list *l)
{
	char *text;
	size_t len;
	int rc = fact_read(root, CPU "/present", 65536, &text, &len);

	if (rc < 0) {
		if (rc == -ENOMEM)
			l->failed = true;
		fact_unsupported(l, "cpu.present", fact_reason(rc));
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	if (!present_is_cut(l, root, text))
		fact_add(l, "cpu.present", text);
	free(text);
}

/* ---- arrangement ---- */

static void add_topology(const char *root, struct fact_list *l)
{
	static const char *const files[] = {"physical_package_id", "die_id", "cluster_id",
					    "core_id", "thread_siblings_list"};
	char hex[KG_SHA256_HEX_SIZE], path[PATH_SIZE];
	struct kg_str all = {0};
	size_t n, i, j;
	char **names = fact_names(l, root, CPU, "cpu", &n);
	bool any = false;

	for (i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), CPU "/%.32s/topology", names[i]);
		if (!fact_exists(root, path))
			continue;
		kg_str_add(&all, names[i]);
		for (j = 0; j < sizeof(files) / sizeof(files[0]); j++) {
			char *text;

			(void)snprintf(path, sizeof(path), CPU "/%.32s/topology/%s", names[i],
				       files[j]);
			text = line_of(l, root, path);
			any = any || text;
			kg_str_addf(&all, " %s", text ? text : "-");
			free(text);
		}
		kg_str_add(&all, "\n");
	}
	fact_names_free(names, n);
	if (all.failed || (any && kg_sha256_bytes(all.text, all.len, hex) < 0))
		l->failed = true;
	else if (any)
		fact_add(l, "cpu.topology.digest", hex);
	else
		fact_unsupported(l, "cpu.topology.digest", FACT_ABSENT);
	kg_str_deinit(&all);
}

/* "cpu.cache.l1-data" = "32K shared by 0,64". */
static void add_caches(const char *root, struct fact_list *l)
{
	size_t n, i;
	char **names = fact_names(l, root, CPU "/cpu0/cache", "index", &n);

	if (n == 0)
		fact_unsupported(l, "cpu.cache.l1-data", FACT_ABSENT);
	for (i = 0; i < n; i++) {
		static const char *const files[] = {"level", "type", "size", "shared_cpu_list"};
		char *texts[4], name[64], path[PATH_SIZE], *p;
		size_t j;

		for (j = 0; j < 4; j++) {
			(void)snprintf(path, sizeof(path), CPU "/cpu0/cache/%.32s/%s", names[i],
				       files[j]);
			texts[j] = line_of(l, root, path);
		}
		if (texts[0] && texts[1] && texts[2]) {
			(void)snprintf(name, sizeof(name), "cpu.cache.l%.4s-%.16s", texts[0],
				       texts[1]);
			for (p = name; *p; p++)
				*p = (char)tolower((unsigned char)*p);
			fact_addf(l, name, "%s%s%s", texts[2], texts[3] ? " shared by " : "",
				  texts[3] ? texts[3] : "");
		}
		for (j = 0; j < 4; j++)
			free(texts[j]);
	}
	fact_names_free(names, n);
}

/* ---- throttling ---- */

/* Sum of a counter over all CPUs; unsupported where no CPU has it. */
static void add_throttle(const char *root, struct fact_list *l, char **names, size_t n,
			 const char *fact, const char *file)
{
	uint64_t sum = 0, v;
	bool any = false;
	size_t i;

	for (i = 0; i < n; i++) {
		char path[PATH_SIZE], *text;

		(void)snprintf(path, sizeof(path), CPU "/%.32s/thermal_throttle/%s", names[i],
			       file);
		text = line_of(l, root, path);
		if (text && kg_parse_u64(text, &v) == 0) {
			any = true;
			sum += v;
		}
		free(text);
	}
	add_count(l, fact, any, sum);
}

void provenance_throttle(const char *root, struct fact_list *l)
{
	size_t n;
	char **names = fact_names(l, root, CPU, "cpu", &n);

	add_throttle(root, l, names, n, "throttle.core", "core_throttle_count");
	add_throttle(root, l, names, n, "throttle.package", "package_throttle_count");
	fact_names_free(names, n);
}

/* ---- frequency and idling ---- */

/* The values of one file over all policies, each once: "performance" or "powersave,performance". */
static void add_policies(const char *root, struct fact_list *l, char **names, size_t n,
			 const char *fact, const char *file)
{
	struct kg_str all = {0};
	size_t i;

	for (i = 0; i < n; i++) {
		char path[PATH_SIZE], *text;

		(void)snprintf(path, sizeof(path), CPU "/cpufreq/%.32s/%s", names[i], file);
		text = line_of(l, root, path);
		if (text && text[0])
			(void)note(&all, text);
		free(text);
	}
	if (all.failed) {
		l->failed = true;
	} else if (!all.len) {
		fact_unsupported(l, fact, FACT_ABSENT);
	} else {
		char *p;

		all.text[all.len - 1] = '\0';
		for (p = all.text + 1; *p; p++)
			if (*p == ';')
				*p = ',';
		fact_add(l, fact, all.text + 1);
	}
	kg_str_deinit(&all);
}

void provenance_frequency(const char *root, struct fact_list *l)
{
	size_t n;
	char **names = fact_names(l, root, CPU "/cpufreq", "policy", &n);

	add_policies(root, l, names, n, "frequency.driver", "scaling_driver");
	add_policies(root, l, names, n, "frequency.governor", "scaling_governor");
	add_policies(root, l, names, n, "frequency.min-khz", "scaling_min_freq");
	add_policies(root, l, names, n, "frequency.max-khz", "scaling_max_freq");
	add_policies(root, l, names, n, "frequency.hardware-max-khz", "cpuinfo_max_freq");
	add_policies(root, l, names, n, "frequency.energy-preference",
		     "energy_performance_preference");
	fact_names_free(names, n);
	fact_file(l, root, "turbo.boost", CPU "/cpufreq/boost");
	fact_file(l, root, "intel-pstate.status", CPU "/intel_pstate/status");
	fact_file(l, root, "intel-pstate.no-turbo", CPU "/intel_pstate/no_turbo");
	fact_file(l, root, "intel-pstate.min-percent", CPU "/intel_pstate/min_perf_pct");
	fact_file(l, root, "intel-pstate.max-percent", CPU "/intel_pstate/max_perf_pct");
	fact_file(l, root, "amd-pstate.status", CPU "/amd_pstate/status");
	fact_file(l, root, "amd-pstate.preferred-core", CPU "/amd_pstate/prefcore");
}

/* "POLL C1 C6(off)". */
static void add_idle(const char *root, struct fact_list *l)
{
	struct kg_str all = {0};
	size_t n, i;
	char **names = fact_names(l, root, CPU "/cpu0/cpuidle", "state", &n);

	for (i = 0; i < n; i++) {
		char path[PATH_SIZE], *name, *off;

		(void)snprintf(path, sizeof(path), CPU "/cpu0/cpuidle/%.32s/name", names[i]);
		name = line_of(l, root, path);
		(void)snprintf(path, sizeof(path), CPU "/cpu0/cpuidle/%.32s/disable", names[i]);
		off = line_of(l, root, path);
		if (name)
			kg_str_addf(&all, "%s%s%s", all.len ? " " : "", name,
				    off && strcmp(off, "0") != 0 ? "(off)" : "");
		free(name);
		free(off);
	}
	fact_names_free(names, n);
	if (all.failed)
		l->failed = true;
	else if (all.len)
		fact_add(l, "idle.states", all.text);
	else
		fact_unsupported(l, "idle.states", FACT_ABSENT);
	kg_str_deinit(&all);
	fact_file(l, root, "idle.driver", CPU "/cpuidle/current_driver");
	fact_file(l, root, "idle.governor", CPU "/cpuidle/current_governor");
}

static void add_vulnerabilities(const char *root, struct fact_list *l)
{
	size_t n, i;
	char **names = fact_names(l, root, CPU "/vulnerabilities", "", &n);

	for (i = 0; i < n; i++) {
		char fact[96], path[PATH_SIZE];

		(void)snprintf(fact, sizeof(fact), "vulnerability.%.64s", names[i]);
		(void)snprintf(path, sizeof(path), CPU "/vulnerabilities/%.64s", names[i]);
		fact_file(l, root, fact, path);
	}
	fact_names_free(names, n);
	if (n == 0)
		fact_unsupported(l, "vulnerability.meltdown", FACT_ABSENT);
}

void provenance_cpu(const char *root, struct fact_list *l)
{
	add_cpuinfo(root, l);
	provenance_cpu_present(root, l);
	fact_file(l, root, "cpu.online", CPU "/online");
	fact_file(l, root, "cpu.possible", CPU "/possible");
	fact_file(l, root, "cpu.isolated", CPU "/isolated");
	fact_file(l, root, "cpu.nohz-full", CPU "/nohz_full");
	fact_file(l, root, "cpu.hybrid.core", "/sys/devices/cpu_core/cpus");
	fact_file(l, root, "cpu.hybrid.atom", "/sys/devices/cpu_atom/cpus");
	fact_file(l, root, "smt.active", CPU "/smt/active");
	fact_file(l, root, "smt.control", CPU "/smt/control");
	add_topology(root, l);
	add_caches(root, l);
	provenance_frequency(root, l);
	add_idle(root, l);
	add_vulnerabilities(root, l);
	provenance_throttle(root, l);
}
