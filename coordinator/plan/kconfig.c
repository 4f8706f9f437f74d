/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/kconfig.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"

static const struct {
	const char *option;
	enum lsm_id id;
} options[] = {
	{"SECURITY_SELINUX", LSM_SELINUX},
	{"SECURITY_SMACK", LSM_SMACK},
	{"SECURITY_TOMOYO", LSM_TOMOYO},
	{"SECURITY_APPARMOR", LSM_APPARMOR},
	{"SECURITY_YAMA", LSM_YAMA},
	{"SECURITY_LOADPIN", LSM_LOADPIN},
	{"SECURITY_SAFESETID", LSM_SAFESETID},
	{"SECURITY_LOCKDOWN_LSM", LSM_LOCKDOWN},
	{"BPF_LSM", LSM_BPF},
	{"SECURITY_LANDLOCK", LSM_LANDLOCK},
	{"SECURITY_IPE", LSM_IPE},
	{"INTEGRITY", LSM_INTEGRITY},
	{"IMA", LSM_IMA},
	{"EVM", LSM_EVM},
};

/* Removes the quotes of a string value and its escapes (\" and \\). */
static bool unquote(const char *value, size_t len, char *buf, size_t size)
{
	size_t i = 0, n = 0;
	bool quoted = len >= 2 && value[0] == '"' && value[len - 1] == '"';

	if (quoted) {
		i = 1;
		len--;
	}
	for (; i < len; i++) {
		if (quoted && value[i] == '\\' && i + 1 < len)
			i++;
		if (n + 1 >= size)
			return false;
		buf[n++] = value[i];
	}
	buf[n] = '\0';
	return true;
}

/* What a line says of an option. */
enum says { NOTHING, VALUE, NOT_SET };

static enum says read_line(const char *line, size_t len, const char *option)
{
	static const char unset[] = " is not set";
	size_t name_len = strlen(option);
	bool off = len > 2 && strncmp(line, "# ", 2) == 0;

	if (off) {
		line += 2;
		len -= 2;
	}
	if (len <= 7 + name_len || strncmp(line, "CONFIG_", 7) != 0 ||
	    strncmp(line + 7, option, name_len) != 0)
		return NOTHING;
	line += 7 + name_len;
	if (off)
		return strncmp(line, unset, sizeof(unset) - 1) == 0 ? NOT_SET : NOTHING;
	return line[0] == '=' ? VALUE : NOTHING;
}

/* The value's bytes as they stand behind "=" in the last line that says something of the option,
 * or NULL when it is not set. `ret_unset`: a line says so. */
static const char *find(const char *text, const char *option, size_t *ret_len, bool *ret_unset)
{
	const char *found = NULL;
	const char *line = text;

	*ret_unset = false;
	if (kg_str_starts(option, "CONFIG_"))
		option += 7;
	while (*line) {
		size_t len = strcspn(line, "\n");
		enum says says = read_line(line, len, option);

		if (says != NOTHING) {
			size_t begin = 8 + strlen(option);

			found = says == VALUE ? line + begin : NULL;
			*ret_unset = says == NOT_SET;
			*ret_len = found ? len - begin : 0;
			if (*ret_len > 0 && found[*ret_len - 1] == '\r')
				(*ret_len)--;
		}
		line += len;
		line += *line == '\n';
	}
	return found;
}

bool kconfig_value(const char *text, const char *option, char *ret_value, size_t size)
{
	bool unset;
	size_t len;
	const char *value = find(text, option, &len, &unset);

	return value && size > 0 && unquote(value, len, ret_value, size);
}

bool kconfig_enabled(const char *text, const char *option)
{
	bool unset;
	size_t len;
	const char *value = find(text, option, &len, &unset);

	return value && len == 1 && value[0] == 'y';
}

/* A string option into its field: "" when it is not set, KG_EINVALID when it does not fit. */
static int read_string(const char *text, const char *option, char *buf, size_t size,
		       struct kg_err *err)
{
	bool unset;
	size_t len;
	const char *value = find(text, option, &len, &unset);

	buf[0] = '\0';
	if (!value || unquote(value, len, buf, size))
		return 0;
	return kg_err_set(err, KG_EINVALID, "CONFIG_%s is longer than %zu characters", option,
			  size - 1);
}

static bool is_zero(const char *text, const char *option)
{
	char value[16];

	return kconfig_value(text, option, value, sizeof(value)) && strcmp(value, "0") == 0;
}

/* From 5.1 on the choice is only left as one of CONFIG_DEFAULT_SECURITY_*. */
static void read_default_security(const char *text, struct lsm_kernel *k)
{
	static const char *const majors[] = {"SELINUX", "SMACK", "TOMOYO", "APPARMOR"};
	static const enum lsm_id ids[] = {LSM_SELINUX, LSM_SMACK, LSM_TOMOYO, LSM_APPARMOR};
	char option[48];
	size_t i;

	for (i = 0; i < 4 && !k->default_security[0]; i++) {
		(void)snprintf(option, sizeof(option), "DEFAULT_SECURITY_%s", majors[i]);
		if (kconfig_enabled(text, option))
			(void)snprintf(k->default_security, sizeof(k->default_security), "%s",
				       lsm_name(ids[i]));
	}
}

static int read_lsm(const char *text, struct lsm_kernel *k, struct kg_err *err)
{
	char signature[64] = "";
	const char *security;
	size_t i, len;
	bool unset;
	int rc;

	k->builtin = LSM_BIT(LSM_CAPABILITY);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (kconfig_enabled(text, options[i].option))
			k->builtin |= LSM_BIT(options[i].id);
	k->lockdown_early = kconfig_enabled(text, "SECURITY_LOCKDOWN_LSM_EARLY");
	k->selinux_bootparam = kconfig_enabled(text, "SECURITY_SELINUX_BOOTPARAM");
	k->selinux_off = is_zero(text, "SECURITY_SELINUX_BOOTPARAM_VALUE");
	k->apparmor_off = is_zero(text, "SECURITY_APPARMOR_BOOTPARAM_VALUE");
	(void)kconfig_value(text, "VERSION_SIGNATURE", signature, sizeof(signature));
	k->profile = kg_str_starts(signature, "Ubuntu") ? LSM_PROFILE_UBUNTU : LSM_PROFILE_UPSTREAM;
	rc = read_string(text, "LSM", k->config_lsm, sizeof(k->config_lsm), err);
	if (rc < 0)
		return rc;
	rc = read_string(text, "DEFAULT_SECURITY", k->default_security, sizeof(k->default_security),
			 err);
	if (rc < 0)
		return rc;
	read_default_security(text, k);
	k->default_dac = kconfig_enabled(text, "DEFAULT_SECURITY_DAC");
	k->no_config_lsm = !find(text, "LSM", &len, &unset);
	/* only where the config says so: an excerpt may lack the line */
	security = find(text, "SECURITY", &len, &unset);
	k->no_security = unset;
	k->security_unsaid = !unset && !security;
	k->config_cmdline_override =
		kconfig_enabled(text, "CMDLINE_OVERRIDE") || kconfig_enabled(text, "CMDLINE_FORCE");
	k->config_cmdline_after = kconfig_enabled(text, "CMDLINE_EXTEND");
	k->config_cmdline_fallback = kconfig_enabled(text, "CMDLINE_FROM_BOOTLOADER") || /* arm */
				     kconfig_enabled(text, "CMDLINE_BOOTLOADER") || /* loongarch */
				     kconfig_enabled(text, "CMDLINE_FALLBACK");	    /* riscv */
	/* x86 has CMDLINE_BOOL and CMDLINE; without the first the second does not exist */
	return read_string(text, "CMDLINE", k->config_cmdline, sizeof(k->config_cmdline), err);
}

/* "# Linux/x86 6.12.117 Kernel Configuration" -> "6.12.117", where no release was given. */
static void read_version(const char *text, char *buf, size_t size)
{
	const char *line = strstr(text, "# Linux/");
	const char *p;
	size_t len;

	if (!line)
		return;
	p = line + strcspn(line, " \n") + 1;
	p += strcspn(p, " \n");
	if (*p != ' ')
		return;
	p++;
	len = strcspn(p, " \n");
	if (len < size && kg_str_starts(p + len, " Kernel Configuration")) {
		memcpy(buf, p, len);
		buf[len] = '\0';
	}
}

int kconfig_read(const char *text, const char *release, struct kconfig_facts *ret_facts,
		 struct kg_err *err)
{
	struct kconfig_facts f = {0};
	int rc;

	if (!kg_str_starts(text, "CONFIG_") && !strstr(text, "\nCONFIG_"))
		return kg_err_set(err, KG_EINVALID,
				  "not a kernel config: no line begins with 'CONFIG_'");
	if (release && strlen(release) >= sizeof(f.lsm.release))
		return kg_err_set(err, KG_EINVALID, "release '%.40s...' is too long", release);
	if (release)
		(void)snprintf(f.lsm.release, sizeof(f.lsm.release), "%s", release);
	else
		read_version(text, f.lsm.release, sizeof(f.lsm.release));
	rc = read_lsm(text, &f.lsm, err);
	if (rc < 0)
		return rc;
	f.kexec = kconfig_enabled(text, "KEXEC");
	f.kexec_file = kconfig_enabled(text, "KEXEC_FILE");
	f.kexec_sig_force = kconfig_enabled(text, "KEXEC_SIG_FORCE");
	f.lockdown_forced = kconfig_enabled(text, "LOCK_DOWN_KERNEL_FORCE_INTEGRITY") ||
			    kconfig_enabled(text, "LOCK_DOWN_KERNEL_FORCE_CONFIDENTIALITY");
	f.loadpin_enforce = kconfig_enabled(text, "SECURITY_LOADPIN_ENFORCE") ||
			    kconfig_enabled(text, "SECURITY_LOADPIN_ENABLED");
	f.modules = kconfig_enabled(text, "MODULES");
	f.securityfs = kconfig_enabled(text, "SECURITYFS");
	f.devtmpfs = kconfig_enabled(text, "DEVTMPFS");
	rc = read_string(text, "LOCALVERSION", f.localversion, sizeof(f.localversion), err);
	if (rc < 0)
		return rc;
	*ret_facts = f;
	return 0;
}
