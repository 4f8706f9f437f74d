/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/lsm_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

const struct lsm_traits lsm_traits[LSM_COUNT] = {
	[LSM_CAPABILITY] = {"capability", 0, 0},
	[LSM_SELINUX] = {"selinux", LSM_LEGACY_MAJOR | LSM_EXCLUSIVE, 0},
	[LSM_SMACK] = {"smack", LSM_LEGACY_MAJOR | LSM_EXCLUSIVE, 0},
	[LSM_TOMOYO] = {"tomoyo", LSM_LEGACY_MAJOR, 0},
	[LSM_APPARMOR] = {"apparmor", LSM_LEGACY_MAJOR | LSM_EXCLUSIVE, 0},
	[LSM_YAMA] = {"yama", 0, 0},
	[LSM_LOADPIN] = {"loadpin", 0, 0},
	[LSM_SAFESETID] = {"safesetid", 0, LSM_VERSION(5, 1)},
	[LSM_LOCKDOWN] = {"lockdown", 0, LSM_VERSION(5, 4)},
	[LSM_BPF] = {"bpf", 0, LSM_VERSION(5, 7)},
	[LSM_LANDLOCK] = {"landlock", 0, LSM_VERSION(5, 13)},
	[LSM_IPE] = {"ipe", 0, LSM_VERSION(6, 12)},
	[LSM_INTEGRITY] = {"integrity", 0, LSM_VERSION(5, 1)},
	[LSM_IMA] = {"ima", 0, LSM_VERSION(6, 9)},
	[LSM_EVM] = {"evm", 0, LSM_VERSION(6, 9)},
};

bool lsm_exclusive(enum lsm_profile profile, enum lsm_id id)
{
	if (profile == LSM_PROFILE_UBUNTU && (id == LSM_APPARMOR || id == LSM_SMACK))
		return false;
	return lsm_traits[id].flags & LSM_EXCLUSIVE;
}

const char *lsm_name(enum lsm_id id)
{
	return lsm_traits[id].name;
}

enum lsm_id lsm_parse_name(const char *name)
{
	unsigned i;

	for (i = 0; i < LSM_COUNT; i++)
		if (strcmp(lsm_traits[i].name, name) == 0)
			return (enum lsm_id)i;
	return LSM_COUNT;
}

const char *lsm_reason_name(enum lsm_reason reason)
{
	static const char *const names[] = {
		[LSM_IN_FIRST] = "first",
		[LSM_IN_EARLY] = "early",
		[LSM_IN_FIXED] = "fixed",
		[LSM_IN_REQUEST] = "requested",
		[LSM_IN_CONFIG] = "config",
		[LSM_IN_SECURITY] = "security",
		[LSM_IN_LAST] = "last",
		[LSM_OUT_UNKNOWN] = "unknown",
		[LSM_OUT_VERSION] = "version",
		[LSM_OUT_BUILTIN] = "not-built-in",
		[LSM_OUT_EXCLUSIVE] = "exclusive",
		[LSM_OUT_SWITCH] = "switched-off",
		[LSM_OUT_SECURITY] = "legacy-major",
		[LSM_OUT_LIST] = "not-listed",
		[LSM_OUT_HIDDEN] = "hidden",
		[LSM_IN_LOG] = "log",
		[LSM_OUT_LOG] = "not-started",
		[LSM_UNTOLD] = "untold",
	};

	return names[reason];
}

bool lsm_parse_profile(const char *word, enum lsm_profile *ret_profile)
{
	if (strcmp(word, "upstream") != 0 && strcmp(word, "ubuntu") != 0)
		return false;
	*ret_profile = word[1] == 'p' ? LSM_PROFILE_UPSTREAM : LSM_PROFILE_UBUNTU;
	return true;
}

static bool read_number(const char **p, unsigned *ret)
{
	size_t len = strspn(*p, "0123456789");
	unsigned n = 0;
	size_t i;

	if (len == 0 || len > 3) /* LSM_VERSION has three digits for the minor */
		return false;
	for (i = 0; i < len; i++)
		n = n * 10 + (unsigned)((*p)[i] - '0');
	*ret = n;
	*p += len;
	return true;
}

bool lsm_parse_version(const char *release, unsigned *ret_version)
{
	const char *p = release;
	unsigned major, minor;

	if (!read_number(&p, &major) || *p++ != '.' || !read_number(&p, &minor))
		return false;
	*ret_version = LSM_VERSION(major, minor);
	return true;
}

int lsm_check_release(const char *release, struct kg_err *err)
{
	unsigned version;

	if (!lsm_parse_version(release, &version))
		return kg_err_set(err, KG_EINVALID,
				  "'%s' is not a kernel release: expected something like '6.12.3'",
				  release);
	if (version < LSM_VERSION(5, 0))
		return kg_err_set(err, KG_EINVALID,
				  "kernel %s is older than 5.0, the first one whose rules for LSMs "
				  "are known here: its list cannot be predicted",
				  release);
	return 0;
}

const char *lsm_suggest(const char *name)
{
	const char *names[LSM_COUNT];
	char lower[32];
	size_t i;

	for (i = 0; i < LSM_COUNT; i++)
		names[i] = lsm_traits[i].name;
	for (i = 0; name[i] && i < sizeof(lower) - 1; i++)
		lower[i] = (char)tolower((unsigned char)name[i]);
	lower[i] = '\0';
	return kg_suggest(lower, names, LSM_COUNT);
}

static int refuse_unknown(const char *name, struct kg_err *err)
{
	const char *meant = lsm_suggest(name);
	struct kg_str all = {0};
	size_t i;

	if (meant)
		return kg_err_set(err, KG_EINVALID, "no kernel has an LSM '%s', did you mean '%s'?",
				  name, meant);
	for (i = 0; i < LSM_COUNT; i++)
		kg_str_addf(&all, "%s%s", i ? ", " : "", lsm_traits[i].name);
	(void)kg_err_set(err, KG_EINVALID,
			 "no kernel has an LSM '%s'; known are %s, and \"\" is the empty list",
			 name, kg_str_text(&all));
	kg_str_deinit(&all);
	return KG_EINVALID;
}

/* One name of a list that a job writes. */
static int check_name(const char *name, struct kg_err *err)
{
	const char *meant;
	const char *p;

	if (!name[0])
		return kg_err_set(err, KG_EINVALID, "an empty name in the list");
	if (lsm_parse_name(name) != LSM_COUNT)
		return 0;
	meant = lsm_suggest(name);
	for (p = name; *p; p++) {
		if (isspace((unsigned char)*p))
			return kg_err_set(err, KG_EINVALID,
					  "'%s' has a space: the kernel would end the list there",
					  name);
		if (isupper((unsigned char)*p))
			return kg_err_set(err, KG_EINVALID,
					  "'%s' has upper case letters, which the kernel does not "
					  "match%s%s%s",
					  name, meant ? ": write '" : "", meant ? meant : "",
					  meant ? "'" : "");
	}
	return refuse_unknown(name, err);
}

int lsm_check_list(const char *list, struct kg_err *err)
{
	char name[64];
	const char *p = list;

	if (!list[0])
		return 0;
	for (;;) {
		size_t len = strcspn(p, ",");
		int rc;

		if (len >= sizeof(name))
			return kg_err_set(err, KG_EINVALID,
					  "no kernel has an LSM with a name of %zu "
					  "letters",
					  len);
		memcpy(name, p, len);
		name[len] = '\0';
		rc = check_name(name, err);
		if (rc < 0)
			return rc;
		if (!p[len])
			return 0;
		p += len + 1;
	}
}

void lsm_builtin_text(const struct lsm_kernel *k, char *buf, size_t size)
{
	size_t len = 0;
	unsigned i;

	if (size == 0)
		return;
	buf[0] = '\0';
	for (i = 0; i < LSM_COUNT && len < size; i++) {
		int n;

		if (i != LSM_CAPABILITY && !(k->builtin & LSM_BIT(i)))
			continue;
		n = snprintf(buf + len, size - len, "%s%s", len ? "," : "", lsm_traits[i].name);
		len += n > 0 ? (size_t)n : 0;
	}
}
