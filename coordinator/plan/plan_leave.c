/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which kernels kexec cannot leave. Sources: kernel/kexec.c and kexec_file.c (6.1 and 7.3:
 * LOCKDOWN_KEXEC, KEXEC_SIG_FORCE), security/lockdown/lockdown.c (levels only rise, and count only
 * where the LSM is active), security/loadpin/loadpin.c.
 */
#include <stdio.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/str.h"
#include "coordinator/plan/plan.h"

/* The line as the kernel sees it, cut into words without allocating: at most so many bytes count. */
struct words {
	const char *at;
	char word[64]; /* quotes removed; longer words are cut, none of ours is that long */
};

static bool next_word(struct words *w)
{
	bool quoted = false;
	size_t n = 0;

	while (*w->at == ' ' || *w->at == '\t' || *w->at == '\n')
		w->at++;
	if (!*w->at)
		return false;
	for (; *w->at && (quoted || (*w->at != ' ' && *w->at != '\t' && *w->at != '\n')); w->at++) {
		if (*w->at == '"')
			quoted = !quoted;
		else if (n + 1 < sizeof(w->word))
			w->word[n++] = *w->at;
	}
	w->word[n] = '\0';
	return true;
}

static bool locks_down(const char *line)
{
	struct words w = {.at = line};

	while (next_word(&w)) {
		if (strcmp(w.word, "--") == 0)
			return false; /* the rest is init's */
		if (strcmp(w.word, "lockdown=integrity") == 0 ||
		    strcmp(w.word, "lockdown=confidentiality") == 0)
			return true;
	}
	return false;
}

/* -1: not said. The last one counts. */
static int loadpin_word(const char *line)
{
	static const char *const names[] = {"loadpin.enforce=", "loadpin.enabled="};
	struct words w = {.at = line};
	int enforce = -1;
	size_t i;

	while (next_word(&w) && strcmp(w.word, "--") != 0)
		for (i = 0; i < 2; i++)
			if (kg_str_starts(w.word, names[i]))
				enforce = strcmp(w.word + strlen(names[i]), "0") != 0;
	return enforce;
}

static bool has_name(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == len && strncmp(list, name, len) == 0)
			return true;
	return false;
}

const char *plan_leave(const struct kconfig_facts *config, const char *effective,
		       const char *cmdline)
{
	const char *built_in = config->lsm.config_cmdline;
	int enforce;

	if (!config->kexec && !config->kexec_file)
		return "it is built without CONFIG_KEXEC and CONFIG_KEXEC_FILE";
	if (has_name(effective, "lockdown")) {
		if (config->lockdown_forced)
			return "it is locked down by its config (CONFIG_LOCK_DOWN_KERNEL_FORCE_*), "
			       "which forbids kexec into images that it does not trust";
		if (locks_down(cmdline) || locks_down(built_in))
			return "it is locked down (lockdown=), which forbids kexec into images "
			       "that it does not trust";
	}
	if (config->kexec_sig_force)
		return "it takes signed images only (CONFIG_KEXEC_SIG_FORCE)";
	if (has_name(effective, "loadpin")) {
		enforce = loadpin_word(cmdline);
		if (enforce < 0)
			enforce = loadpin_word(built_in);
		if (enforce < 0 ? config->loadpin_enforce : enforce)
			return "loadpin takes images from its pinned file system only";
	}
	return NULL;
}
