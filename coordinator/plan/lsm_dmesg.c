/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what a boot's log says of LSMs to its list, with the reasons that can be known. */
#include "coordinator/plan/lsm_dmesg.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/lsm_dmesg_internal.h"
#include "coordinator/plan/lsm_internal.h"
#include "coordinator/plan/warn.h"

#define CUT_CMDLINE 900 /* printk keeps about 1000 bytes of a line */

struct builder {
	struct lsm_boot *boot;
	struct lsm_log *log;
	unsigned version; /* LSM_VERSION; 0: not known */
	bool ordered;	  /* 5.1 or later, as far as can be known */
	bool stated;	  /* there is the kernel's own list */
	bool decided;	  /* lsm.debug shows what started */
	bool available;	  /* and what is built in */
	/* what was asked for */
	bool asked; /* it is known */
	struct lsm_resolver words;
	struct lsm_kernel kernel; /* for the words: everything is built in */
	struct lsm_list heard;	  /* for the words: their warnings are not the log's */
};

/* ---- the kernel and its command line ---- */

/* "Linux version 6.4.0-rc3 (user@host) ..." */
static int release_of_version(struct builder *b)
{
	const char *p = b->boot->version + strlen("Linux version ");

	b->log->release = strndup(p, strcspn(p, " \t"));
	return b->log->release ? 0 : -ENOMEM;
}

/* "BOOT_IMAGE=/boot/vmlinuz-6.4.0-vanilla" of a boot loader. */
static int release_of_image(struct builder *b)
{
	const char *p = b->log->cmdline ? strstr(b->log->cmdline, "BOOT_IMAGE=") : NULL;
	const char *image = p ? strstr(p, "vmlinuz-") : NULL;
	unsigned version;
	size_t len;

	if (!image || image > p + strcspn(p, " "))
		return 0;
	image += strlen("vmlinuz-");
	len = strcspn(image, " \"");
	if (!lsm_parse_version(image, &version))
		return 0;
	b->log->release = strndup(image, len);
	if (!b->log->release)
		return -ENOMEM;
	return plan_warn(&b->log->list.warnings,
			 "the release is that of BOOT_IMAGE= on the command line: the log has no "
			 "version line");
}

static int read_release(struct builder *b)
{
	int rc = b->boot->version ? release_of_version(b) : release_of_image(b);

	if (rc == 0 && b->log->release && !lsm_parse_version(b->log->release, &b->version))
		b->version = 0;
	if (rc == 0 && !b->log->release)
		rc = plan_warn(&b->log->list.warnings, "the log does not say the kernel's version");
	b->ordered = b->version ? b->version >= LSM_VERSION(5, 1)
				: b->boot->once || b->boot->debug || b->boot->lsm_shown;
	return rc;
}

/* The words of the command line, and what lsm.debug shows of them, which is what counted. */
static int read_request(struct builder *b)
{
	struct lsm_boot *boot = b->boot;
	unsigned i;
	int rc;

	if (boot->version && strstr(boot->version, "-Ubuntu "))
		b->kernel.profile = LSM_PROFILE_UBUNTU;
	b->kernel.selinux_bootparam = !boot->selinux_unheard;
	for (i = 0; i < LSM_COUNT; i++)
		b->kernel.builtin |= LSM_BIT(i);
	b->words.k = &b->kernel;
	b->words.shown = "";
	b->words.version = b->version ? b->version : LSM_VERSION(6, 0);
	b->words.out = &b->heard;
	rc = lsm_read_cmdline(&b->words, boot->cmdline ? boot->cmdline : "");
	if (rc < 0)
		return rc;
	b->asked = boot->cmdline || boot->lsm_shown;
	if (boot->lsm_shown) {
		free(b->words.lsm);
		b->words.lsm = boot->lsm;
		boot->lsm = NULL;
	}
	if (boot->security_shown) {
		free(b->words.security);
		b->words.security = boot->security;
		boot->security = NULL;
	}
	if (!b->ordered) {
		free(b->words.lsm);
		b->words.lsm = NULL;
	}
	return 0;
}

/* Where `name` stands in a list; SIZE_MAX: nowhere. */
static size_t place_in(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *p = list;

	while (p) {
		size_t n = strcspn(p, ",");

		if (n == len && strncmp(p, name, n) == 0)
			return (size_t)(p - list);
		p = p[n] ? p + n + 1 : NULL;
	}
	return SIZE_MAX;
}

/* Named by lsm=, or by a security= that counts. */
static bool requested(const struct builder *b, const char *name)
{
	if (b->words.lsm)
		return place_in(b->words.lsm, name) != SIZE_MAX;
	return b->words.security && strcmp(b->words.security, name) == 0;
}

/* ---- what started ---- */

static bool is_id(const struct lsm_log_name *n, enum lsm_id id)
{
	return strcmp(n->name, lsm_name(id)) == 0;
}

/* Their messages come from code that was there before they became LSMs. */
static bool counts(const struct builder *b, const struct lsm_log_name *n)
{
	if (!is_id(n, LSM_IMA) && !is_id(n, LSM_EVM))
		return true;
	return (n->said & ~(unsigned)LOG_SIGN) || b->version >= LSM_VERSION(6, 9);
}

static bool started(const struct builder *b, const struct lsm_log_name *n)
{
	if (is_id(n, LSM_INTEGRITY) || !counts(b, n))
		return false;
	if (n->said & (LOG_STATED | LOG_STARTED | LOG_SIGN | LOG_EARLY))
		return true;
	/* of the decisions only the first half is there */
	return !b->stated && !b->decided && (n->said & LOG_ORDERED) && !(n->said & LOG_EXCLUSIVE);
}

static enum lsm_reason reason_of_source(enum lsm_log_source source)
{
	static const enum lsm_reason reasons[] = {
		[FROM_NOTHING] = LSM_IN_LOG,	   [FROM_FIRST] = LSM_IN_FIRST,
		[FROM_CONFIG] = LSM_IN_CONFIG,	   [FROM_LSM] = LSM_IN_REQUEST,
		[FROM_SECURITY] = LSM_IN_SECURITY, [FROM_LAST] = LSM_IN_LAST,
	};

	return reasons[source];
}

/* Where nothing says it: what follows from the version and the command line. */
static enum lsm_reason reason_by_rule(const struct builder *b, const char *name)
{
	enum lsm_id id = lsm_parse_name(name);

	if (id == LSM_CAPABILITY)
		return LSM_IN_FIRST;
	if (id == LSM_IMA || id == LSM_EVM)
		return LSM_IN_LAST;
	if (!b->ordered && (id == LSM_YAMA || id == LSM_LOADPIN))
		return LSM_IN_FIXED;
	if (!b->asked)
		return LSM_IN_LOG;
	if (b->words.lsm)
		return requested(b, name) ? LSM_IN_REQUEST : LSM_IN_LOG;
	return requested(b, name) ? LSM_IN_SECURITY : LSM_IN_CONFIG;
}

static const char *in_text(const struct builder *b, enum lsm_reason reason)
{
	if (reason == LSM_IN_LOG)
		return b->asked ? "the log has it started, and lsm= does not name it"
				: "the log has it started; it does not have the command line that "
				  "would say why";
	/* it is the last one of the list */
	return lsm_in_text(reason, b->ordered, b->log->list.n > 1);
}

static int add_in(struct builder *b, const char *name, enum lsm_reason reason)
{
	struct lsm_entry *e = lsm_list_add(&b->log->list, name, reason);

	if (!e)
		return -ENOMEM;
	e->in = true;
	e->requested = requested(b, name);
	(void)snprintf(e->why, sizeof(e->why), "%s", in_text(b, reason));
	return 0;
}

/* Order of the list: early ones, capability, the stated order, then as they started. */
static unsigned long place(const struct builder *b, const struct lsm_log_name *n)
{
	if (b->stated)
		return n->stated_at ? n->stated_at : 1000000UL + n->started_at;
	if (n->said & LOG_EARLY)
		return n->started_at;
	return (is_id(n, LSM_CAPABILITY) ? 1000000UL : 2000000UL) + n->started_at;
}

static const struct lsm_log_name *next_started(const struct builder *b, unsigned long behind)
{
	const struct lsm_log_name *best = NULL;
	size_t i;

	for (i = 0; i < b->boot->n; i++) {
		const struct lsm_log_name *n = &b->boot->names[i];

		if (started(b, n) && place(b, n) > behind &&
		    (!best || place(b, n) < place(b, best)))
			best = n;
	}
	return best;
}

static int add_started(struct builder *b)
{
	const struct lsm_log_name *n;
	unsigned long at = 0;
	bool capability = false;
	int rc = 0;

	while (rc == 0 && (n = next_started(b, at))) {
		enum lsm_reason reason = reason_of_source(n->source);

		at = place(b, n);
		/* no line says it where there is no debugging, but it is the first of all lists */
		if (!b->stated && !capability && !(n->said & LOG_EARLY) &&
		    !is_id(n, LSM_CAPABILITY)) {
			rc = add_in(b, "capability", LSM_IN_FIRST);
			capability = true;
		}
		/* 6.19 and later call what security= adds "builtin", too */
		if (reason == LSM_IN_CONFIG && requested(b, n->name) && b->boot->config &&
		    place_in(b->boot->config, n->name) == SIZE_MAX)
			reason = LSM_IN_SECURITY;
		if ((n->said & LOG_EARLY) ||
		    (b->stated && n->stated_at && !capability && is_id(n, LSM_LOCKDOWN)))
			reason = LSM_IN_EARLY;
		else if (reason == LSM_IN_LOG)
			reason = reason_by_rule(b, n->name);
		capability = capability || is_id(n, LSM_CAPABILITY);
		if (rc == 0)
			rc = add_in(b, n->name, reason);
	}
	if (rc == 0 && !capability && !b->stated)
		rc = add_in(b, "capability", LSM_IN_FIRST);
	return rc < 0 ? rc : lsm_list_join(&b->log->list);
}

/* ---- what did not ---- */

/* The exclusive one that is in the list, beside which `name` cannot be; NULL: none, or lsm= names it
 * behind `name`, so that it is not to blame. */
static const char *rival(const struct builder *b, const char *name)
{
	enum lsm_profile profile = b->kernel.profile;
	enum lsm_id id = lsm_parse_name(name);
	const char *other = NULL;
	size_t i;

	if (id == LSM_COUNT || !lsm_exclusive(profile, id))
		return NULL;
	for (i = 0; i < b->log->list.n && !other; i++) {
		const struct lsm_entry *e = &b->log->list.entries[i];
		enum lsm_id one = e->in ? lsm_parse_name(e->name) : LSM_COUNT;

		if (one != LSM_COUNT && lsm_exclusive(profile, one))
			other = e->name;
	}
	if (other && b->words.lsm && place_in(b->words.lsm, name) < place_in(b->words.lsm, other))
		return NULL;
	return other;
}

static bool switched_off(const struct builder *b, const char *name)
{
	enum lsm_id id = lsm_parse_name(name);

	return id != LSM_COUNT && b->words.off[id];
}

/* No LSM in the version of the log. */
static bool other_version(const struct builder *b, enum lsm_id id)
{
	bool gone = id == LSM_INTEGRITY && b->version >= LSM_VERSION(6, 9);

	return id != LSM_COUNT && b->version && (gone || b->version < lsm_traits[id].since);
}

/* As the log says it. LSM_OUT_LOG: it does not. */
static enum lsm_reason reason_said(const struct builder *b, const struct lsm_log_name *n)
{
	unsigned said = n->said;

	if (is_id(n, LSM_INTEGRITY) && (said & (LOG_STATED | LOG_STARTED | LOG_ORDERED)))
		return LSM_OUT_HIDDEN;
	if (said & LOG_EXCLUSIVE)
		return LSM_OUT_EXCLUSIVE;
	if (said & LOG_LEGACY)
		return LSM_OUT_SECURITY;
	if (said & LOG_OFF)
		return LSM_OUT_SWITCH;
	if ((said & LOG_IGNORED) && other_version(b, lsm_parse_name(n->name)))
		return LSM_OUT_VERSION;
	if (said & LOG_IGNORED)
		return lsm_parse_name(n->name) == LSM_COUNT ? LSM_OUT_UNKNOWN : LSM_OUT_BUILTIN;
	if (said & (LOG_SKIPPED | LOG_BUILTIN))
		return LSM_OUT_LIST;
	return LSM_OUT_LOG;
}

static const char *beaten_by(const struct builder *b, const char *name)
{
	const char *other = b->boot->chosen[0] ? b->boot->chosen : rival(b, name);

	return other ? other : "another";
}

static void said_text(const struct builder *b, const char *name, enum lsm_reason reason, char *buf,
		      size_t size)
{
	enum lsm_id id = lsm_parse_name(name);
	const char *by = "";
	char when[32];

	if (reason == LSM_OUT_VERSION) {
		lsm_version_text(id, b->version, when, sizeof(when));
		by = when;
	} else if (reason == LSM_OUT_SWITCH) {
		by = switched_off(b, name) ? b->words.off_by[id] : "its own switch or its default";
	} else if (reason == LSM_OUT_SECURITY) {
		by = b->words.security ? b->words.security : "";
	} else if (reason == LSM_OUT_EXCLUSIVE) {
		by = beaten_by(b, name);
	} else if (reason == LSM_OUT_LIST) {
		by = !b->asked	    ? "built in, and not in the list that counted"
		     : b->words.lsm ? "built in, and not in lsm="
				    : "built in, and not in CONFIG_LSM";
	}
	lsm_out_text(reason, by, buf, size);
}

/* Before 6.2 the decisions leave out what started before they could be shown. */
static bool early_is_untold(const struct builder *b)
{
	bool known = b->version >= LSM_VERSION(5, 4) && b->version < LSM_VERSION(6, 2);

	return !b->stated && (known || !b->version) && !lsm_list_find(&b->log->list, "lockdown");
}

static int add_said(struct builder *b, const struct lsm_log_name *n)
{
	enum lsm_reason reason = reason_said(b, n);
	struct lsm_entry *e;

	if (lsm_list_find(&b->log->list, n->name) || reason == LSM_OUT_LOG)
		return 0;
	if (is_id(n, LSM_LOCKDOWN) && reason == LSM_OUT_BUILTIN && early_is_untold(b))
		reason = LSM_UNTOLD;
	e = lsm_list_add(&b->log->list, n->name, reason);
	if (!e)
		return -ENOMEM;
	e->requested = requested(b, n->name);
	if (reason == LSM_UNTOLD)
		(void)snprintf(e->why, sizeof(e->why),
			       "not built in, or started before the command line is read, which "
			       "is not in the log before 6.2");
	else
		said_text(b, n->name, reason, e->why, sizeof(e->why));
	return 0;
}

/* Those that print something where they start. */
static bool speaks(enum lsm_id id)
{
	return id == LSM_YAMA || id == LSM_LOADPIN || id == LSM_APPARMOR || id == LSM_SELINUX ||
	       id == LSM_SMACK || id == LSM_TOMOYO || id == LSM_BPF || id == LSM_LANDLOCK;
}

/* One that was asked for and that the log says nothing of. */
static void silent_text(const struct builder *b, struct lsm_entry *e, enum lsm_id id)
{
	const char *other = rival(b, e->name);
	bool legacy = !b->words.lsm && b->words.security &&
		      (lsm_traits[id].flags & LSM_LEGACY_MAJOR) &&
		      strcmp(b->words.security, e->name) != 0;

	/* before 5.14 the log does not tell whether the kernel has the switch */
	bool doubtful = id == LSM_SELINUX && b->version < LSM_VERSION(5, 14) && other;

	if (switched_off(b, e->name) && doubtful)
		(void)snprintf(e->why, sizeof(e->why),
			       "not started: switched off by %s, or '%s' came first and both are "
			       "exclusive",
			       b->words.off_by[id], other);
	else if (switched_off(b, e->name))
		(void)snprintf(e->why, sizeof(e->why), "not started: switched off by %s",
			       b->words.off_by[id]);
	else if (legacy)
		(void)snprintf(e->why, sizeof(e->why), "not started: security=%.40s",
			       b->words.security);
	else if (b->log->complete && other)
		(void)snprintf(e->why, sizeof(e->why),
			       "not started: not built in, or '%s' came first and both are "
			       "exclusive",
			       other);
	else if (b->log->complete)
		(void)snprintf(e->why, sizeof(e->why),
			       "not started: probably not built in, "
			       "which only lsm.debug shows");
	else if (speaks(id))
		(void)snprintf(e->why, sizeof(e->why), "the log has no message of its start%s%s%s",
			       other ? "; '" : "", other ? other : "",
			       other ? "' started, and both are exclusive" : "");
	else {
		e->reason = LSM_UNTOLD;
		(void)snprintf(e->why, sizeof(e->why),
			       "it says nothing at its start: the log does not tell whether it is "
			       "active");
	}
}

static int add_silent(struct builder *b, const char *name)
{
	enum lsm_id id = lsm_parse_name(name);
	struct lsm_entry *e = lsm_list_find(&b->log->list, name);

	if (e) {
		e->requested = true;
		return 0;
	}
	e = lsm_list_add(&b->log->list, name, LSM_OUT_UNKNOWN);
	if (!e)
		return -ENOMEM;
	e->requested = true;
	if (other_version(b, id))
		e->reason = LSM_OUT_VERSION;
	else if (id != LSM_COUNT && (b->available || (b->decided && b->log->complete)))
		e->reason = LSM_OUT_BUILTIN;
	else if (id != LSM_COUNT)
		e->reason = LSM_OUT_LOG;
	if (e->reason == LSM_OUT_LOG)
		silent_text(b, e, id);
	else
		said_text(b, name, e->reason, e->why, sizeof(e->why));
	return 0;
}

static int add_requested(struct builder *b)
{
	const char *list = b->words.lsm ? b->words.lsm : b->words.security;
	char *copy = strdup(list ? list : "");
	char *p = copy, *name;
	int rc = copy ? 0 : -ENOMEM;

	while (rc == 0 && (name = b->words.lsm ? strsep(&p, ",") : p)) {
		p = b->words.lsm ? p : NULL;
		if (name[0])
			rc = add_silent(b, name);
	}
	free(copy);
	return rc;
}

/* ---- what a reader should know of it ---- */

static const char *what_is_missing(const struct builder *b)
{
	if (b->stated)
		return NULL;
	if (b->decided)
		return early_is_untold(b)
			       ? "a lockdown that starts before the command line is read "
				 "is not in the log before 6.2: it may be active, too"
			       : NULL;
	if (!b->ordered)
		return "the list is made of the messages that LSMs print at their start";
	if (b->version >= LSM_VERSION(6, 2) && b->version < LSM_VERSION(6, 19))
		return "the line 'LSM: initializing lsm=' is missing, so that the log is not "
		       "whole; "
		       "the list is made of the messages that LSMs print at their start, and "
		       "lockdown, safesetid, ipe, ima and evm may be active, too";
	if (b->version)
		return b->version >= LSM_VERSION(6, 19)
			       ? "6.19 and later print no list without lsm.debug; this one is made "
				 "of the messages that LSMs print at their start, and lockdown, "
				 "safesetid, ipe, ima and evm may be active, too"
			       : "kernels before 6.2 print no list without lsm.debug; this one is "
				 "made of the messages that LSMs print at their start, and "
				 "lockdown and safesetid may be active, too";
	return "the log has no list of its own; this one is made of the messages that LSMs print "
	       "at "
	       "their start, and lockdown, safesetid, ipe, ima and evm may be active, too";
}

/* The stated line against everything else. */
static int warn_cut(struct builder *b)
{
	size_t i;
	int rc = 0;

	if (!lsm_boot_find(b->boot, "capability") ||
	    !(lsm_boot_find(b->boot, "capability")->said & LOG_STATED) || b->boot->open) {
		b->log->complete = false;
		rc = plan_warn(&b->log->list.warnings,
			       "the line 'LSM: initializing lsm=' is cut: names are missing");
	}
	for (i = 0; i < b->boot->n && rc == 0; i++) {
		const struct lsm_log_name *n = &b->boot->names[i];

		if ((n->said & LOG_STATED) || !started(b, n))
			continue;
		b->log->complete = false;
		rc = plan_warn(&b->log->list.warnings,
			       "'%s' started and is not in the line 'LSM: initializing lsm=': its "
			       "place is not known",
			       n->name);
	}
	return rc;
}

static int warn_log(struct builder *b)
{
	struct kg_texts *w = &b->log->list.warnings;
	const char *missing = what_is_missing(b);
	int rc = 0;

	b->log->complete = (b->stated || b->decided) && !missing && !b->boot->overflow;
	if (b->log->boots > 1)
		rc = plan_warn(w, "the log has %u boots, this is the last one", b->log->boots);
	if (rc == 0 && missing)
		rc = plan_warn(w, "%s", missing);
	if (rc == 0 && b->stated)
		rc = warn_cut(b);
	if (rc == 0 && b->boot->overflow)
		rc = plan_warn(w, "the log has more than %d names of LSMs: the rest is left out",
			       LSM_LOG_NAMES_MAX);
	if (rc == 0 && !b->log->cmdline)
		rc = plan_warn(w, "the log does not have the command line%s",
			       b->asked ? "" : ": why each LSM is in the list cannot be told");
	if (rc == 0 && b->log->cmdline && strlen(b->log->cmdline) > CUT_CMDLINE)
		rc = plan_warn(w, "the command line is so long that the log may have cut it");
	if (rc == 0 && !b->boot->debug)
		rc = plan_warn(w,
			       "the log shows neither the LSMs that are built in nor CONFIG_LSM: "
			       "why others are not active cannot be told (lsm.debug shows it; "
			       "'kgrid lsm resolve' takes it from the kernel's config)");
	return rc;
}

static int warn_requested(struct builder *b)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < b->log->list.n && rc == 0; i++) {
		const struct lsm_entry *e = &b->log->list.entries[i];

		if (e->requested && !e->in && e->reason != LSM_OUT_HIDDEN)
			rc = plan_warn(&b->log->list.warnings,
				       "'%.64s' is asked for and not in the "
				       "list: %s",
				       e->name, e->why);
	}
	return rc;
}

/* ---- all of it ---- */

static bool is_blank(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isspace((unsigned char)text[i]))
			return false;
	return true;
}

static int no_data(const struct lsm_boot *boot, const struct lsm_log *log, bool empty,
		   struct kg_err *err)
{
	struct kg_str s = {0};
	unsigned version = 0;

	if (log->boots == 0)
		return kg_err_set(err, KG_ENODATA, "%s",
				  empty ? "the log is empty"
					: "the log has no line of a kernel's boot, and none of an "
					  "LSM; where its beginning is missing, the journal has "
					  "it: a kernel keeps its newest lines only");
	if (boot->version)
		(void)lsm_parse_version(boot->version + strlen("Linux version "), &version);
	kg_str_addf(&s, "%s has no line of an LSM",
		    log->boots > 1 ? "the last boot in the log" : "the log");
	if (boot->version)
		kg_str_addf(&s, ", only that it is of %.*s", (int)strcspn(boot->version + 14, " "),
			    boot->version + 14);
	if (boot->cmdline)
		kg_str_addf(&s, "%s",
			    boot->version ? " and the command line" : ", only the command line");
	kg_str_addf(&s, "%s",
		    version >= LSM_VERSION(6, 19)
			    ? "; 6.19 and later print no list without lsm.debug"
			    : "");
	kg_str_addf(&s, "%s",
		    boot->version || boot->cmdline
			    ? "; which LSMs are built in is not in it: 'kgrid lsm resolve' "
			      "with the kernel's config predicts the list"
			    : "");
	(void)kg_err_set(err, KG_ENODATA, "%s", kg_str_text(&s));
	kg_str_deinit(&s);
	return KG_ENODATA;
}

static int build(struct builder *b)
{
	struct lsm_boot *boot = b->boot;
	size_t i;
	int rc;

	if (boot->cmdline) {
		b->log->cmdline = strdup(boot->cmdline);
		if (!b->log->cmdline)
			return -ENOMEM;
	}
	for (i = 0; i < boot->n; i++) {
		b->stated = b->stated || (boot->names[i].said & LOG_STATED);
		b->available = b->available || (boot->names[i].said & LOG_BUILTIN);
		b->decided = b->decided || (boot->names[i].said & LOG_STARTED);
	}
	rc = read_release(b);
	if (rc == 0)
		rc = read_request(b);
	if (rc == 0)
		rc = add_started(b);
	if (rc == 0)
		rc = warn_log(b);
	for (i = 0; i < boot->n && rc == 0; i++)
		rc = add_said(b, &boot->names[i]);
	if (rc == 0)
		rc = add_requested(b);
	return rc < 0 ? rc : warn_requested(b);
}

int lsm_dmesg_parse(const char *text, size_t len, struct lsm_log *ret_log, struct kg_err *err)
{
	struct lsm_boot boot = {0};
	struct lsm_log log = {0};
	struct builder b = {.boot = &boot, .log = &log};
	int rc = lsm_log_read(text, len, &boot, &log.boots);

	if (rc == 0 && !boot.any) {
		rc = no_data(&boot, &log, is_blank(text, len), err);
		lsm_boot_deinit(&boot);
		return rc;
	}
	if (rc == 0)
		rc = build(&b);
	free(b.words.lsm);
	free(b.words.security);
	lsm_list_deinit(&b.heard);
	lsm_boot_deinit(&boot);
	if (rc < 0) {
		lsm_log_deinit(&log);
		return kg_err_set(err, rc, "cannot read the log: %s", kg_strerror(rc));
	}
	*ret_log = log;
	return 0;
}

void lsm_log_deinit(struct lsm_log *l)
{
	free(l->release);
	free(l->cmdline);
	lsm_list_deinit(&l->list);
	memset(l, 0, sizeof(*l));
}
