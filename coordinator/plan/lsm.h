/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which LSMs a kernel starts, computed from its version, its config and its command line: the
 * text that /sys/kernel/security/lsm will show, and for each name why it is in or out.
 *
 * Three generations of the selection are modelled (security/security.c, from 6.19
 * security/lsm_init.c):
 *   5.0         capability, yama, loadpin are fixed; one major LSM by CONFIG_DEFAULT_SECURITY or
 *               security=; lsm= is not a parameter
 *   5.1 - 6.18  ordered list from lsm= or CONFIG_LSM; security= switches the legacy majors
 *   6.19 -      the code was rewritten, with the same results
 * with the changes between: early lockdown (5.4), integrity always on (6.4 to 6.8), ima and evm
 * as LSMs that are always on (6.9).
 *
 * Words of the command line are read as the kernel does: quotes, "--", the last of several, numbers
 * and yes or no in the spellings that version takes.
 *
 * Not modelled: an LSM whose own start fails (out of memory), bootconfig in the initrd. Pure.
 */
#ifndef KG_PLAN_LSM_H
#define KG_PLAN_LSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/yaml.h"

/* In link order: the order of the obj- lines in security/Makefile. */
enum lsm_id {
	LSM_CAPABILITY,
	LSM_SELINUX,
	LSM_SMACK,
	LSM_TOMOYO,
	LSM_APPARMOR,
	LSM_YAMA,
	LSM_LOADPIN,
	LSM_SAFESETID,
	LSM_LOCKDOWN,
	LSM_BPF,
	LSM_LANDLOCK,
	LSM_IPE,
	LSM_INTEGRITY,
	LSM_IMA,
	LSM_EVM,
	LSM_COUNT,
};
#define LSM_BIT(id) (UINT32_C(1) << (id))

/* Upstream: selinux, smack and apparmor exclude each other. Ubuntu patched apparmor and smack to
 * be not exclusive. */
enum lsm_profile { LSM_PROFILE_UPSTREAM, LSM_PROFILE_UBUNTU };

/* What the prediction needs to know of a kernel. Plain values: copy freely. */
struct lsm_kernel {
	char release[128];	/* "6.12.117+deb12-cloud-amd64", "5.4" */
	char name[192];		/* how warnings call it; "": the release */
	uint32_t builtin;	/* LSM_BIT() of each that is compiled in; capability implied */
	bool lockdown_early;	/* CONFIG_SECURITY_LOCKDOWN_LSM_EARLY */
	bool selinux_bootparam; /* CONFIG_SECURITY_SELINUX_BOOTPARAM: selinux= is heard */
	bool selinux_off;	/* CONFIG_SECURITY_SELINUX_BOOTPARAM_VALUE=0 (up to 5.0) */
	bool apparmor_off;	/* CONFIG_SECURITY_APPARMOR_BOOTPARAM_VALUE=0 (up to 5.0) */
	enum lsm_profile profile;
	char config_lsm[512];	      /* CONFIG_LSM without quotes */
	char default_security[32];    /* CONFIG_DEFAULT_SECURITY without quotes, or the name of
				       * the CONFIG_DEFAULT_SECURITY_* that is set */
	char config_cmdline[2048];    /* CONFIG_CMDLINE: stands before the boot loader's line ... */
	bool config_cmdline_override; /* ... or instead of it (CONFIG_CMDLINE_OVERRIDE, _FORCE) */
	bool config_cmdline_after;    /* ... or behind it (CONFIG_CMDLINE_EXTEND) */
	bool config_cmdline_fallback; /* ... or where it is empty (CONFIG_CMDLINE_FROM_BOOTLOADER) */
	bool no_security;     /* CONFIG_SECURITY is not set: no LSM at all, no list to read */
	bool security_unsaid; /* the config has no line on CONFIG_SECURITY, as every whole one has */
	bool default_dac;     /* CONFIG_DEFAULT_SECURITY_DAC */
	bool no_config_lsm;   /* the config has no CONFIG_LSM, as it is up to 5.0; later ones then
			       * have its default */
};

enum lsm_reason {
	LSM_IN_FIRST,	   /* capability */
	LSM_IN_EARLY,	   /* started before the command line is read */
	LSM_IN_FIXED,	   /* up to 5.0: yama and loadpin cannot be left out */
	LSM_IN_REQUEST,	   /* named by lsm= */
	LSM_IN_CONFIG,	   /* named by CONFIG_LSM or CONFIG_DEFAULT_SECURITY */
	LSM_IN_SECURITY,   /* named by security= */
	LSM_IN_LAST,	   /* integrity, ima, evm: always on where built in */
	LSM_OUT_UNKNOWN,   /* no kernel has an LSM of that name */
	LSM_OUT_VERSION,   /* not an LSM in this version */
	LSM_OUT_BUILTIN,   /* not built in */
	LSM_OUT_EXCLUSIVE, /* another exclusive one came first */
	LSM_OUT_SWITCH,	   /* apparmor=0, selinux=0 */
	LSM_OUT_SECURITY,  /* security= names another legacy major */
	LSM_OUT_LIST,	   /* built in, and not in the list */
	LSM_OUT_HIDDEN,	   /* integrity: active, and never shown */
	/* lsm_dmesg.h: what a log says without saying why */
	LSM_IN_LOG,  /* the log has it started */
	LSM_OUT_LOG, /* named, and not started */
	LSM_UNTOLD,  /* named, and the log does not tell whether it started */
};

struct lsm_entry {
	char *name;	/* owned; as written in the request when that is not a known name */
	bool in;	/* part of the effective list */
	bool requested; /* named by lsm=, or by a security= that counts */
	enum lsm_reason reason;
	char why[160]; /* "named by lsm=", "'apparmor' comes first and both are exclusive" */
};

struct lsm_list {
	char *effective;	   /* owned: "lockdown,capability,yama" */
	struct lsm_entry *entries; /* owned: first what is in, in order; then what is out */
	size_t n;
	struct kg_texts warnings; /* where the result is not what the line seems to ask for */
};

/* No kernel reads a longer line; who takes lines from people refuses them, since the account of many
 * names takes its time. */
#define LSM_CMDLINE_MAX 4096
/* Whether the rules of that release are known, which are those of 5.0 and later; if not, the text
 * says so (KG_EINVALID). */
int lsm_check_release(const char *release, struct kg_err *err);
/* Resolves for a whole command line ("" is fine). Refuses only what lsm_check_release does.
 * `ret_list` is owned: lsm_list_deinit. */
int lsm_resolve(const struct lsm_kernel *k, const char *cmdline, struct lsm_list *ret_list,
		struct kg_err *err);
void lsm_list_deinit(struct lsm_list *l);

const char *lsm_name(enum lsm_id id);
/* One word: "first", "requested", "exclusive", "not-built-in"; a stable word for programs. */
const char *lsm_reason_name(enum lsm_reason reason);
/* "upstream" or "ubuntu"; false for other words. */
bool lsm_parse_profile(const char *word, enum lsm_profile *ret_profile);
/* LSM_COUNT when no kernel knows the name (names are case-sensitive). */
enum lsm_id lsm_parse_name(const char *name);
/* Checks a list as a job writes it, "landlock,yama": no upper case, spaces or empty names, and only
 * names that some kernel knows; "" is the empty list. KG_EINVALID with a suggestion. */
int lsm_check_list(const char *list, struct kg_err *err);
/* "capability,selinux,..." in link order into `buf` (LSM_BUILTIN_TEXT_MAX is enough for all). */
#define LSM_BUILTIN_TEXT_MAX 160
void lsm_builtin_text(const struct lsm_kernel *k, char *buf, size_t size);

#endif
