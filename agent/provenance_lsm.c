/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the security modules enforce, beyond their list. Sources: Documentation/admin-guide/LSM/,
 * Documentation/userspace-api/landlock.rst, include/uapi/linux/bpf.h of Linux 7.3.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/provenance_facts.h"
#include "common/sha256.h"
#include "common/str.h"

#define SECURITY     "/sys/kernel/security"
#define PROFILES_MAX (4U * 1024 * 1024)
#define PROGRAMS_MAX 100000

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif
#define LANDLOCK_VERSION 1U  /* LANDLOCK_CREATE_RULESET_VERSION */
#define BPF_LSM_TYPE	 29U /* BPF_PROG_TYPE_LSM */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Digest of the lines whatever their order, which for loaded profiles is that of loading. */
static int digest_lines(char **lines, size_t n, char hex[KG_SHA256_HEX_SIZE])
{
	struct kg_sha256 *h = kg_sha256_new();
	size_t i;

	if (!h)
		return -ENOMEM;
	if (n)
		qsort(lines, n, sizeof(*lines), compare_lines);
	for (i = 0; i < n; i++) {
		kg_sha256_update(h, lines[i], strlen(lines[i]));
		kg_sha256_update(h, "\n", 1);
	}
	kg_sha256_final(h, hex);
	kg_sha256_free(h);
	return 0;
}

/* A list whose lines have no order: how many, and their digest. */
static void add_lines(struct fact_list *l, const char *root, const char *count, const char *digest,
		      const char *path)
{
	char hex[KG_SHA256_HEX_SIZE], *text, *line, *rest = NULL, **lines;
	size_t len, n = 0, max = 1;
	int rc = fact_read(root, path, PROFILES_MAX, &text, &len);

	if (rc < 0) {
		if (rc == -ENOMEM)
			l->failed = true;
		fact_unsupported(l, count, fact_reason(rc));
		fact_unsupported(l, digest, fact_reason(rc));
		return;
	}
	for (line = text; (line = strchr(line, '\n')); line++)
		max++;
	lines = calloc(max, sizeof(*lines));
	for (line = strtok_r(text, "\n", &rest); line && lines && n < max;
	     line = strtok_r(NULL, "\n", &rest))
		lines[n++] = line;
	if (!lines || digest_lines(lines, n, hex) < 0) {
		l->failed = true;
	} else {
		fact_addf(l, count, "%zu", n); /* none loaded is a number the machine gives */
		fact_add(l, digest, hex);
	}
	free(lines);
	free(text);
}

static void add_landlock(const char *root, struct fact_list *l)
{
	long abi;

	if (root[0]) {
		fact_unsupported(l, "landlock.abi", FACT_ABSENT);
		return;
	}
	abi = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_VERSION);
	if (abi > 0)
		fact_addf(l, "landlock.abi", "%ld", abi);
	else
		fact_unsupported(l, "landlock.abi", fact_reason(abi < 0 ? -errno : -ENOSYS));
}

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* Type of the program with that id, or -1 when it is gone meanwhile. */
static int64_t program_type(uint32_t id)
{
	struct bpf_prog_info info;
	union bpf_attr attr;
	long fd, rc;

	memset(&attr, 0, sizeof(attr));
	memset(&info, 0, sizeof(info));
	attr.prog_id = id;
	fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	if (fd < 0)
		return -1;
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uint64_t)(uintptr_t)&info;
	rc = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	close((int)fd);
	return rc < 0 ? -1 : (int64_t)info.type;
}

static void add_bpf(const char *root, struct fact_list *l)
{
	union bpf_attr attr;
	unsigned found = 0, seen;
	uint32_t id = 0;

	if (root[0]) {
		fact_unsupported(l, "bpf-lsm.programs", FACT_ABSENT);
		return;
	}
	for (seen = 0; seen < PROGRAMS_MAX; seen++) {
		memset(&attr, 0, sizeof(attr));
		attr.start_id = id;
		if (bpf(BPF_PROG_GET_NEXT_ID, &attr) < 0)
			break;
		id = attr.next_id;
		found += program_type(id) == BPF_LSM_TYPE;
	}
	if (errno == ENOENT && seen < PROGRAMS_MAX)
		fact_addf(l, "bpf-lsm.programs", "%u", found);
	else
		fact_unsupported(l, "bpf-lsm.programs", fact_reason(-errno));
}

static void add_selinux(const char *root, struct fact_list *l)
{
	fact_file(l, root, "selinux.enforce", "/sys/fs/selinux/enforce");
	fact_file(l, root, "selinux.policy-version", "/sys/fs/selinux/policyvers");
	fact_file(l, root, "selinux.kernel-context", "/sys/fs/selinux/initial_contexts/kernel");
	fact_digest(l, root, "selinux.policy.digest", "/sys/fs/selinux/policy");
}

void provenance_lsm(const char *root, struct fact_list *l)
{
	fact_choice(l, root, "lockdown", SECURITY "/lockdown");
	add_selinux(root, l);
	fact_file(l, root, "apparmor.enabled", "/sys/module/apparmor/parameters/enabled");
	fact_file(l, root, "apparmor.mode", "/sys/module/apparmor/parameters/mode");
	add_lines(l, root, "apparmor.profiles", "apparmor.profiles.digest",
		  SECURITY "/apparmor/profiles");
	fact_digest(l, root, "tomoyo.profile.digest", SECURITY "/tomoyo/profile");
	fact_file(l, root, "tomoyo.version", SECURITY "/tomoyo/version");
	fact_file(l, root, "tomoyo.stat", SECURITY "/tomoyo/stat");
	fact_file(l, root, "yama.ptrace-scope", "/proc/sys/kernel/yama/ptrace_scope");
	add_lines(l, root, "smack.rules", "smack.rules.digest", "/sys/fs/smackfs/load2");
	fact_file(l, root, "ipe.enforce", SECURITY "/ipe/enforce");
	fact_file(l, root, "evm", SECURITY "/evm");
	fact_digest(l, root, "ima.policy.digest", SECURITY "/ima/policy");
	fact_file(l, root, "ima.measurements", SECURITY "/ima/runtime_measurements_count");
	add_landlock(root, l);
	add_bpf(root, l);
	fact_file(l, root, "agent.label", "/proc/self/attr/current");
}
