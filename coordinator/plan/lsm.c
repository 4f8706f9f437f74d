/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/lsm_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/str.h"
#include "coordinator/plan/warn.h"

enum order { FIRST, MUTABLE, LAST };

struct resolver {
	const struct lsm_kernel *k;
	const char *shown; /* the kernel in texts */
	unsigned version;
	/* what the command line says */
	char *lsm;	/* value of the last lsm=; NULL: absent. Owned, as the next */
	char *security; /* value of the last security= */
	unsigned n_lsm;
	bool off[LSM_COUNT]; /* apparmor=0, selinux=0 */
	bool selinux_ignored;
	/* the decision */
	enum lsm_id order[LSM_COUNT];
	enum lsm_reason why[LSM_COUNT]; /* of each in order[] */
	size_t n_order;
	bool listed[LSM_COUNT];
	bool active[LSM_COUNT];
	bool legacy_off[LSM_COUNT]; /* security= names another one */
	enum lsm_id winner;	    /* the exclusive one that came first; LSM_COUNT: none */
	enum lsm_id beaten_by[LSM_COUNT];
	struct lsm_list *out;
};

/* Whether the kernel has it as an LSM. Newer ones are taken from the config alone, since
 * distributions port them back; ima, evm and integrity exist as code in versions in which they
 * are not LSMs. */
static bool exists(const struct resolver *r, enum lsm_id id)
{
	if (id == LSM_CAPABILITY)
		return true;
	if (!(r->k->builtin & LSM_BIT(id)))
		return false;
	if (id == LSM_IMA || id == LSM_EVM)
		return r->version >= LSM_VERSION(6, 9);
	if (id == LSM_INTEGRITY)
		return r->version <= LSM_VERSION(6, 8);
	return true;
}

static bool early(const struct resolver *r, enum lsm_id id)
{
	return id == LSM_LOCKDOWN && r->k->lockdown_early && exists(r, id);
}

static enum order order_of(const struct resolver *r, enum lsm_id id)
{
	if (id == LSM_CAPABILITY)
		return FIRST;
	if (id == LSM_IMA || id == LSM_EVM)
		return LAST;
	if (id == LSM_INTEGRITY && r->version >= LSM_VERSION(6, 4))
		return LAST;
	return MUTABLE;
}

static bool exclusive(const struct resolver *r, enum lsm_id id)
{
	if (r->k->profile == LSM_PROFILE_UBUNTU && (id == LSM_APPARMOR || id == LSM_SMACK))
		return false;
	return lsm_traits[id].flags & LSM_EXCLUSIVE;
}

static int warn(struct resolver *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int warn(struct resolver *r, const char *fmt, ...)
{
	char text[640];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return plan_warn(&r->out->warnings, "%s", text);
}

/* ---- the command line ---- */

/* As lib/cmdline.c next_arg: quotes around the word or around its value are removed. */
static char *split_word(char *word, char **ret_name)
{
	size_t len = strlen(word);
	char *value;

	if (word[0] == '"') {
		word++;
		len--;
		if (len > 0 && word[len - 1] == '"')
			word[--len] = '\0';
	}
	*ret_name = word;
	value = strchr(word, '=');
	if (!value)
		return NULL;
	*value++ = '\0';
	if (value[0] == '"') {
		value++;
		len = strlen(value);
		if (len > 0 && value[len - 1] == '"')
			value[len - 1] = '\0';
	}
	return value;
}

static int replace(char **slot, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*slot);
	*slot = copy;
	return 0;
}

/* kstrtoul(value, 0, ...) as __setup("apparmor=") and __setup("selinux=") use it: what is not a
 * number changes nothing. */
static void read_switch(const char *value, bool *off)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)value[0]))
		return;
	n = strtoul(value, &end, 0);
	if (*end == '\0')
		*off = n == 0;
}

/* The module parameter apparmor.enabled= takes the words of kstrtobool. */
static void read_bool(const char *value, bool *off)
{
	if (strchr("yYtT1", value[0]) && value[0])
		*off = false;
	else if (strchr("nNfF0", value[0]) && value[0])
		*off = true;
	else if (tolower((unsigned char)value[0]) == 'o' && value[1])
		*off = tolower((unsigned char)value[1]) == 'f';
}

static int read_word(struct resolver *r, const char *name, const char *value)
{
	if (strcmp(name, "lsm") == 0) {
		r->n_lsm++;
		return replace(&r->lsm, value);
	}
	if (strcmp(name, "security") == 0)
		return replace(&r->security, value);
	if (strcmp(name, "apparmor") == 0)
		read_switch(value, &r->off[LSM_APPARMOR]);
	else if (strcmp(name, "apparmor.enabled") == 0)
		read_bool(value, &r->off[LSM_APPARMOR]);
	else if (strcmp(name, "selinux") == 0 && r->k->selinux_bootparam)
		read_switch(value, &r->off[LSM_SELINUX]);
	else if (strcmp(name, "selinux") == 0)
		read_switch(value, &r->selinux_ignored);
	return 0;
}

/* "lsm=a, b": the second name is a word of its own. */
static int check_split_list(struct resolver *r, const char *word)
{
	char name[32];
	size_t len = strcspn(word, ",");

	if (len >= sizeof(name))
		return 0;
	memcpy(name, word, len);
	name[len] = '\0';
	if (lsm_parse_name(name) == LSM_COUNT)
		return 0;
	return warn(r, "the list of lsm= ends at the space before '%.64s', which is not part of it",
		    word);
}

static int read_words(struct resolver *r, struct kg_cmdline *c)
{
	bool after_list = false;
	size_t i;
	int rc;

	for (i = 0; i < c->n; i++) {
		char *name;
		char *value;

		if (strcmp(c->words[i], "--") == 0)
			break; /* the rest is for init */
		value = split_word(c->words[i], &name);
		if (value) {
			rc = read_word(r, name, value);
			after_list = strcmp(name, "lsm") == 0;
		} else {
			rc = after_list ? check_split_list(r, name) : 0;
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_cmdline(struct resolver *r, const char *cmdline)
{
	struct kg_str line = {0};
	struct kg_cmdline c;
	int rc;

	kg_str_add(&line, r->k->config_cmdline);
	if (!r->k->config_cmdline_override) {
		kg_str_add(&line, " ");
		kg_str_add(&line, cmdline);
	}
	rc = line.failed ? -ENOMEM : kg_cmdline_parse(kg_str_text(&line), &c);
	kg_str_deinit(&line);
	if (rc < 0)
		return rc;
	r->off[LSM_SELINUX] = r->k->selinux_off;
	r->off[LSM_APPARMOR] = r->k->apparmor_off;
	rc = read_words(r, &c);
	kg_cmdline_deinit(&c);
	return rc;
}

/* ---- the decision ---- */

static void append(struct resolver *r, enum lsm_id id, enum lsm_reason why)
{
	if (r->listed[id])
		return;
	r->listed[id] = true;
	r->why[r->n_order] = why;
	r->order[r->n_order++] = id;
}

/* Up to 5.0: the fixed ones, then the one major that was chosen, if its switch lets it. */
static void resolve_fixed(struct resolver *r)
{
	static const enum lsm_id majors[] = {LSM_SELINUX, LSM_SMACK, LSM_TOMOYO, LSM_APPARMOR};
	const char *chosen = r->security ? r->security : r->k->default_security;
	enum lsm_reason why = r->security ? LSM_IN_SECURITY : LSM_IN_CONFIG;
	size_t i;

	append(r, LSM_CAPABILITY, LSM_IN_FIRST);
	if (exists(r, LSM_YAMA))
		append(r, LSM_YAMA, LSM_IN_FIXED);
	if (exists(r, LSM_LOADPIN))
		append(r, LSM_LOADPIN, LSM_IN_FIXED);
	for (i = 0; i < sizeof(majors) / sizeof(majors[0]); i++) {
		enum lsm_id id = majors[i];

		/* SECURITY_NAME_MAX is 10: the kernel keeps that much of security= */
		if (!exists(r, id))
			continue;
		if (strncmp(lsm_traits[id].name, chosen, 10) == 0)
			append(r, id, why);
		else if (r->security)
			r->legacy_off[id] = true;
	}
}

/* Calls `append` for each name of a list that may be placed by it. */
static void append_list(struct resolver *r, const char *list, enum lsm_reason why)
{
	const char *p = list;

	for (;;) {
		size_t len = strcspn(p, ",");
		unsigned i;

		for (i = 0; i < LSM_COUNT; i++) {
			enum lsm_id id = (enum lsm_id)i;

			if (strlen(lsm_traits[i].name) == len &&
			    strncmp(lsm_traits[i].name, p, len) == 0 && exists(r, id) &&
			    !early(r, id) && order_of(r, id) == MUTABLE)
				append(r, id, why);
		}
		if (!p[len])
			return;
		p += len + 1;
	}
}

/* 5.1 and later. The steps are those of ordered_lsm_parse(). */
static void resolve_ordered(struct resolver *r)
{
	const char *security = r->lsm ? NULL : r->security;
	unsigned i;

	if (early(r, LSM_LOCKDOWN))
		append(r, LSM_LOCKDOWN, LSM_IN_EARLY);
	append(r, LSM_CAPABILITY, LSM_IN_FIRST);
	for (i = 0; security && i < LSM_COUNT; i++)
		r->legacy_off[i] = (lsm_traits[i].flags & LSM_LEGACY_MAJOR) &&
				   strcmp(lsm_traits[i].name, security) != 0;
	if (r->lsm)
		append_list(r, r->lsm, LSM_IN_REQUEST);
	else
		append_list(r, r->k->config_lsm, LSM_IN_CONFIG);
	for (i = 0; security && i < LSM_COUNT; i++)
		if (strcmp(lsm_traits[i].name, security) == 0 && exists(r, (enum lsm_id)i))
			append(r, (enum lsm_id)i, LSM_IN_SECURITY);
	for (i = 0; i < LSM_COUNT; i++)
		if (exists(r, (enum lsm_id)i) && order_of(r, (enum lsm_id)i) == LAST)
			append(r, (enum lsm_id)i, LSM_IN_LAST);
}

/* Walks the list: what is switched off drops out first, so that it does not block a second
 * exclusive one. */
static void accept(struct resolver *r)
{
	size_t i;

	r->winner = LSM_COUNT;
	for (i = 0; i < r->n_order; i++) {
		enum lsm_id id = r->order[i];

		if (r->off[id] || r->legacy_off[id])
			continue;
		if (exclusive(r, id)) {
			if (r->winner != LSM_COUNT) {
				r->beaten_by[id] = r->winner;
				continue;
			}
			r->winner = id;
		}
		r->active[id] = true;
	}
}

/* ---- the account of it ---- */

static const char *const in_texts[] = {
	[LSM_IN_FIRST] = "always first",
	[LSM_IN_EARLY] = "started before the command line is read",
	[LSM_IN_FIXED] = "cannot be left out in this version",
	[LSM_IN_REQUEST] = "named by lsm=",
	[LSM_IN_CONFIG] = "named by the kernel's config",
	[LSM_IN_SECURITY] = "named by security=",
	[LSM_IN_LAST] = "always on where built in",
};

static struct lsm_entry *new_entry(struct resolver *r, const char *name, enum lsm_reason reason)
{
	struct lsm_list *l = r->out;
	struct lsm_entry *items = realloc(l->entries, (l->n + 1) * sizeof(*items));
	struct lsm_entry *e;

	if (!items)
		return NULL;
	l->entries = items;
	e = &items[l->n];
	memset(e, 0, sizeof(*e));
	e->name = strdup(name);
	if (!e->name)
		return NULL;
	e->reason = reason;
	l->n++;
	return e;
}

static int add_in(struct resolver *r)
{
	struct kg_str text = {0};
	size_t i;

	for (i = 0; i < r->n_order; i++) {
		enum lsm_id id = r->order[i];
		struct lsm_entry *e;

		if (!r->active[id] || id == LSM_INTEGRITY)
			continue;
		e = new_entry(r, lsm_traits[id].name, r->why[i]);
		if (!e) {
			kg_str_deinit(&text);
			return -ENOMEM;
		}
		e->in = true;
		e->requested = r->why[i] == LSM_IN_REQUEST || r->why[i] == LSM_IN_SECURITY;
		(void)snprintf(e->why, sizeof(e->why), "%s", in_texts[r->why[i]]);
		if (text.len)
			kg_str_add(&text, ",");
		kg_str_add(&text, lsm_traits[id].name);
	}
	r->out->effective = kg_str_take(&text);
	return r->out->effective ? 0 : -ENOMEM;
}

static enum lsm_reason reason_out(const struct resolver *r, enum lsm_id id)
{
	if (!(r->k->builtin & LSM_BIT(id)))
		return r->version < lsm_traits[id].since ? LSM_OUT_VERSION : LSM_OUT_BUILTIN;
	if (!exists(r, id))
		return LSM_OUT_VERSION;
	if (r->listed[id] && r->active[id])
		return LSM_OUT_HIDDEN;
	if (r->off[id])
		return LSM_OUT_SWITCH;
	if (r->legacy_off[id])
		return LSM_OUT_SECURITY;
	return r->listed[id] ? LSM_OUT_EXCLUSIVE : LSM_OUT_LIST;
}

/* Why `id` is out, into `buf`. */
static void out_text(const struct resolver *r, enum lsm_id id, enum lsm_reason reason, char *buf,
		     size_t size)
{
	const char *name = lsm_traits[id].name;

	switch (reason) {
	case LSM_OUT_VERSION:
		if (id == LSM_INTEGRITY)
			(void)snprintf(buf, size, "not an LSM since 6.9");
		else
			(void)snprintf(buf, size, "not an LSM before %u.%u",
				       lsm_traits[id].since / 1000, lsm_traits[id].since % 1000);
		break;
	case LSM_OUT_BUILTIN:
		(void)snprintf(buf, size, "not built in");
		break;
	case LSM_OUT_HIDDEN:
		(void)snprintf(buf, size, "active, but never shown in the list");
		break;
	case LSM_OUT_SWITCH:
		(void)snprintf(buf, size, "switched off by %s=0", name);
		break;
	case LSM_OUT_SECURITY:
		(void)snprintf(buf, size, "switched off by security=%.40s", r->security);
		break;
	case LSM_OUT_EXCLUSIVE:
		(void)snprintf(buf, size, "'%s' comes first and both are exclusive",
			       lsm_traits[r->beaten_by[id]].name);
		break;
	default:
		(void)snprintf(buf, size, "not in %s",
			       r->lsm				? "lsm="
			       : r->version < LSM_VERSION(5, 1) ? "CONFIG_DEFAULT_SECURITY"
								: "CONFIG_LSM");
		break;
	}
}

static int warn_out(struct resolver *r, enum lsm_id id, enum lsm_reason reason)
{
	const char *name = lsm_traits[id].name;

	switch (reason) {
	case LSM_OUT_BUILTIN:
		return warn(r, "'%s' is not built into %s; it will be missing", name, r->shown);
	case LSM_OUT_VERSION:
		if (id == LSM_INTEGRITY)
			return warn(r,
				    "'integrity' is not an LSM in %s (since 6.9); it has no effect",
				    r->shown);
		return warn(r, "'%s' is not an LSM in %s (before %u.%u); it will be missing", name,
			    r->shown, lsm_traits[id].since / 1000, lsm_traits[id].since % 1000);
	case LSM_OUT_EXCLUSIVE:
		return warn(r,
			    "'%s' cannot be active beside '%s': both are exclusive, the first wins",
			    name, lsm_traits[r->beaten_by[id]].name);
	case LSM_OUT_SWITCH:
		return warn(r, "'%s' is requested and switched off by %s=0", name, name);
	default:
		return 0;
	}
}

static int add_unknown(struct resolver *r, const char *name)
{
	const char *meant = lsm_suggest(name);
	struct lsm_entry *e = new_entry(r, name, LSM_OUT_UNKNOWN);

	if (!e)
		return -ENOMEM;
	e->requested = true;
	(void)snprintf(e->why, sizeof(e->why), "no kernel has an LSM of that name");
	if (strcmp(name, "none") == 0)
		return warn(r, "'none' is no keyword of the kernel and no LSM; it has no effect");
	return warn(r, "no kernel has an LSM '%s'; it has no effect%s%s%s", name,
		    meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "");
}

/* Whether an entry of that name is there. */
static struct lsm_entry *find_entry(struct lsm_list *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->entries[i].name, name) == 0)
			return &l->entries[i];
	return NULL;
}

/* One name of lsm= or security=: an entry when it is out, and a warning. */
static int account_name(struct resolver *r, const char *name)
{
	enum lsm_id id = lsm_parse_name(name);
	struct lsm_entry *e = find_entry(r->out, name);
	enum lsm_reason reason;

	if (e) {
		e->requested = true;
		return 0;
	}
	if (id == LSM_COUNT)
		return add_unknown(r, name);
	reason = reason_out(r, id);
	e = new_entry(r, name, reason);
	if (!e)
		return -ENOMEM;
	e->requested = true;
	out_text(r, id, reason, e->why, sizeof(e->why));
	return warn_out(r, id, reason);
}

/* security= that names nothing that could start still switches the legacy majors off. */
static int account_security(struct resolver *r)
{
	enum lsm_id id = lsm_parse_name(r->security);
	struct lsm_entry *e;

	if (id != LSM_COUNT && exists(r, id))
		return account_name(r, r->security);
	e = new_entry(r, r->security, id == LSM_COUNT ? LSM_OUT_UNKNOWN : reason_out(r, id));
	if (!e)
		return -ENOMEM;
	e->requested = true;
	if (id == LSM_COUNT)
		(void)snprintf(e->why, sizeof(e->why), "no kernel has an LSM of that name");
	else
		out_text(r, id, e->reason, e->why, sizeof(e->why));
	return warn(
		r,
		"security=%s names no LSM of %s: selinux, smack, tomoyo and apparmor are all off",
		r->security, r->shown);
}

static int account_list(struct resolver *r)
{
	char *list = strdup(r->lsm);
	char *p = list;
	char *name;
	unsigned seen = 0;
	int rc = list ? 0 : -ENOMEM;

	while (rc == 0 && (name = strsep(&p, ","))) {
		enum lsm_id id = lsm_parse_name(name);

		if (!name[0])
			continue;
		if (id != LSM_COUNT && (seen & LSM_BIT(id)))
			rc = warn(r, "'%s' is named twice in lsm=; the second has no effect", name);
		else
			rc = account_name(r, name);
		if (id != LSM_COUNT)
			seen |= LSM_BIT(id);
	}
	free(list);
	return rc;
}

/* What is built in, out, and was not asked for. */
static int add_out(struct resolver *r)
{
	unsigned i;

	for (i = 0; i < LSM_COUNT; i++) {
		enum lsm_id id = (enum lsm_id)i;
		struct lsm_entry *e;

		if (!exists(r, id) || find_entry(r->out, lsm_traits[i].name))
			continue;
		e = new_entry(r, lsm_traits[i].name, reason_out(r, id));
		if (!e)
			return -ENOMEM;
		out_text(r, id, e->reason, e->why, sizeof(e->why));
	}
	return 0;
}

static int warn_line(struct resolver *r)
{
	int rc = 0;

	if (r->n_lsm > 1)
		rc = warn(r, "lsm= is given %u times, only the last counts", r->n_lsm);
	if (rc == 0 && r->lsm && r->version < LSM_VERSION(5, 1))
		rc = warn(r, "lsm= is not a parameter of %s (before 5.1); it has no effect",
			  r->shown);
	else if (rc == 0 && r->lsm && r->security)
		rc = warn(r, "security=%s has no effect beside lsm=", r->security);
	if (rc == 0 && r->selinux_ignored)
		rc = warn(r,
			  "selinux=0 has no effect: %s is built without "
			  "CONFIG_SECURITY_SELINUX_BOOTPARAM",
			  r->shown);
	if (rc == 0 && r->k->config_cmdline_override)
		rc = warn(r, "%s has CONFIG_CMDLINE_OVERRIDE: it ignores every command line",
			  r->shown);
	return rc;
}

static int account(struct resolver *r)
{
	bool lsm_heard = r->lsm && r->version >= LSM_VERSION(5, 1);
	int rc = add_in(r);

	if (rc == 0)
		rc = warn_line(r);
	if (rc == 0 && lsm_heard)
		rc = account_list(r);
	else if (rc == 0 && r->security && r->security[0])
		rc = account_security(r);
	if (rc == 0)
		rc = add_out(r);
	return rc;
}

static int parse_version(const char *release, unsigned *ret_version)
{
	unsigned major, minor;

	if (!isdigit((unsigned char)release[0]) || sscanf(release, "%3u.%3u", &major, &minor) != 2)
		return KG_EINVALID;
	*ret_version = LSM_VERSION(major, minor);
	return 0;
}

int lsm_resolve(const struct lsm_kernel *k, const char *cmdline, struct lsm_list *ret_list,
		struct kg_err *err)
{
	struct lsm_list list = {0};
	struct resolver r = {.k = k, .out = &list};
	int rc;

	r.shown = k->name[0] ? k->name : k->release;
	if (parse_version(k->release, &r.version) < 0)
		return kg_err_set(err, KG_EINVALID,
				  "'%s' is not a kernel release: expected something like '6.12.3'",
				  k->release);
	rc = read_cmdline(&r, cmdline);
	if (rc == 0) {
		if (r.version < LSM_VERSION(5, 1))
			resolve_fixed(&r);
		else
			resolve_ordered(&r);
		accept(&r);
		rc = account(&r);
	}
	free(r.lsm);
	free(r.security);
	if (rc < 0) {
		lsm_list_deinit(&list);
		return kg_err_set(err, rc, "cannot resolve the lsm list: %s", kg_strerror(rc));
	}
	*ret_list = list;
	return 0;
}

void lsm_list_deinit(struct lsm_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->entries[i].name);
	free(l->entries);
	free(l->effective);
	kg_texts_deinit(&l->warnings);
	memset(l, 0, sizeof(*l));
}
