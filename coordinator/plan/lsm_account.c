/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of a decision: an entry for each name with the reason why it is in or out, and a
 * warning where the result is not what the command line seems to ask for. */
#include "coordinator/plan/lsm_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

/* ---- entries ---- */

struct lsm_entry *lsm_list_add(struct lsm_list *l, const char *name, enum lsm_reason reason)
{
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

struct lsm_entry *lsm_list_find(struct lsm_list *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->entries[i].name, name) == 0)
			return &l->entries[i];
	return NULL;
}

int lsm_list_join(struct lsm_list *l)
{
	struct kg_str text = {0};
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (!l->entries[i].in)
			continue;
		if (text.len)
			kg_str_add(&text, ",");
		kg_str_add(&text, l->entries[i].name);
	}
	l->effective = kg_str_take(&text);
	return l->effective ? 0 : -ENOMEM;
}

/* ---- what is in ---- */

static bool named_by_security(const struct lsm_resolver *r, enum lsm_id id)
{
	bool heard = r->security && (!r->lsm || !lsm_ordered(r));

	return heard && strcmp(r->security, lsm_traits[id].name) == 0;
}

static const char *config_name(const struct lsm_resolver *r)
{
	return r->k->no_config_lsm ? "the default of CONFIG_LSM" : "CONFIG_LSM";
}

/* Why the one at place `i` of the order is in. */
static const char *in_text(const struct lsm_resolver *r, size_t i)
{
	bool given = !r->k->no_config_lsm, ordered = lsm_ordered(r);

	if (r->why[i] == LSM_IN_CONFIG && ordered && named_by_security(r, r->order[i]))
		return given ? "named by CONFIG_LSM and by security="
			     : "named by the default of CONFIG_LSM and by security=";
	if (r->why[i] == LSM_IN_CONFIG && ordered && !given)
		return "named by the default of CONFIG_LSM";
	return lsm_in_text(r->why[i], ordered, i > 0);
}

static int add_in(struct lsm_resolver *r)
{
	size_t i;

	for (i = 0; i < r->n_order; i++) {
		enum lsm_id id = r->order[i];
		struct lsm_entry *e;

		if (!r->active[id] || id == LSM_INTEGRITY)
			continue;
		e = lsm_list_add(r->out, lsm_traits[id].name, r->why[i]);
		if (!e)
			return -ENOMEM;
		e->in = true;
		e->requested = r->why[i] == LSM_IN_REQUEST || r->why[i] == LSM_IN_SECURITY;
		(void)snprintf(e->why, sizeof(e->why), "%s", in_text(r, i));
	}
	return lsm_list_join(r->out);
}

/* ---- what is out ---- */

static enum lsm_reason reason_out(const struct lsm_resolver *r, enum lsm_id id)
{
	bool gone = id == LSM_INTEGRITY && r->version > LSM_VERSION(6, 8);

	if (r->version < lsm_traits[id].since && !lsm_exists(r, id))
		return LSM_OUT_VERSION;
	if (gone)
		return LSM_OUT_VERSION;
	if (!lsm_exists(r, id) || r->k->no_security)
		return LSM_OUT_BUILTIN;
	if (r->listed[id] && r->active[id])
		return LSM_OUT_HIDDEN;
	if (r->off[id])
		return LSM_OUT_SWITCH;
	if (r->legacy_off[id])
		return LSM_OUT_SECURITY;
	return r->listed[id] ? LSM_OUT_EXCLUSIVE : LSM_OUT_LIST;
}

/* Why one is out that is built in and switched off by nothing. */
static void unlisted_text(const struct lsm_resolver *r, char *buf, size_t size)
{
	const char *chosen = r->k->default_security;

	if (lsm_ordered(r))
		(void)snprintf(buf, size, "not in %s", r->lsm ? "lsm=" : config_name(r));
	else if (chosen[0])
		(void)snprintf(buf, size, "CONFIG_DEFAULT_SECURITY is '%s'", chosen);
	else
		(void)snprintf(buf, size, "CONFIG_DEFAULT_SECURITY names none");
}

/* Why `id` is out, into `buf`. */
static void out_text(const struct lsm_resolver *r, enum lsm_id id, enum lsm_reason reason,
		     char *buf, size_t size)
{
	const char *by = "";
	char text[96];

	if (reason == LSM_OUT_VERSION) {
		lsm_version_text(id, r->version, text, sizeof(text));
		by = text;
	} else if (reason == LSM_OUT_SWITCH) {
		by = r->off_by[id];
	} else if (reason == LSM_OUT_SECURITY) {
		by = r->security;
	} else if (reason == LSM_OUT_EXCLUSIVE) {
		by = lsm_traits[r->beaten_by[id]].name;
	} else if (reason == LSM_OUT_LIST) {
		unlisted_text(r, text, sizeof(text));
		by = text;
	}
	lsm_out_text(reason, by, buf, size);
}

static int warn_out(struct lsm_resolver *r, enum lsm_id id, enum lsm_reason reason)
{
	const char *name = lsm_traits[id].name;
	char when[32];

	if (r->k->no_security)
		return 0; /* said once for all */
	switch (reason) {
	case LSM_OUT_BUILTIN:
		return lsm_warn(r, "'%s' is not built into %s; it will be missing", name, r->shown);
	case LSM_OUT_VERSION:
		lsm_version_text(id, r->version, when, sizeof(when));
		return lsm_warn(r, "'%s' is not an LSM in %s (%s); it %s", name, r->shown, when,
				id == LSM_INTEGRITY ? "has no effect" : "will be missing");
	case LSM_OUT_EXCLUSIVE:
		return lsm_warn(r,
				"'%s' cannot be active beside '%s': both are exclusive, the first "
				"wins",
				name, lsm_traits[r->beaten_by[id]].name);
	case LSM_OUT_SWITCH:
		return lsm_warn(r, "'%s' is requested and switched off by %s", name, r->off_by[id]);
	default:
		return 0;
	}
}

static struct lsm_entry *add_out(struct lsm_resolver *r, enum lsm_id id)
{
	enum lsm_reason reason = reason_out(r, id);
	struct lsm_entry *e = lsm_list_add(r->out, lsm_traits[id].name, reason);

	if (e)
		out_text(r, id, reason, e->why, sizeof(e->why));
	return e;
}

static struct lsm_entry *add_unknown(struct lsm_resolver *r, const char *name)
{
	struct lsm_entry *e = lsm_list_add(r->out, name, LSM_OUT_UNKNOWN);

	if (e)
		lsm_out_text(LSM_OUT_UNKNOWN, "", e->why, sizeof(e->why));
	return e;
}

static int warn_unknown(struct lsm_resolver *r, const char *name)
{
	const char *meant = lsm_suggest(name);

	if (strcmp(name, "none") == 0)
		return lsm_warn(r, "'none' is no keyword of the kernel and no LSM; it has no "
				   "effect");
	return lsm_warn(r, "no kernel has an LSM '%.64s'; it has no effect%s%s%s", name,
			meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "");
}

/* ---- what was asked for ---- */

/* One name of lsm= or security=: an entry when it is out, and a warning when it counts. */
static int account_name(struct lsm_resolver *r, const char *name, bool heard)
{
	enum lsm_id id = lsm_parse_name(name);
	struct lsm_entry *e = lsm_list_find(r->out, name);

	if (e) {
		e->requested = true;
		return 0;
	}
	e = id == LSM_COUNT ? add_unknown(r, name) : add_out(r, id);
	if (!e)
		return -ENOMEM;
	e->requested = true;
	if (!heard)
		return 0;
	return id == LSM_COUNT ? warn_unknown(r, name) : warn_out(r, id, e->reason);
}

/* Calls account_name for each name of lsm=. */
static int account_list(struct lsm_resolver *r)
{
	bool heard = lsm_ordered(r);
	char *list = strdup(r->lsm);
	char *p = list;
	char *name;
	unsigned seen = 0;
	int rc = list ? 0 : -ENOMEM;

	while (rc == 0 && (name = strsep(&p, ","))) {
		enum lsm_id id = lsm_parse_name(name);

		if (!name[0])
			continue;
		if (heard && id != LSM_COUNT && (seen & LSM_BIT(id)))
			rc = lsm_warn(r, "'%s' is named twice in lsm=; the second has no effect",
				      name);
		else
			rc = account_name(r, name, heard);
		if (id != LSM_COUNT)
			seen |= LSM_BIT(id);
	}
	free(list);
	return rc;
}

/* security= switches the other legacy majors off, whatever it names. */
static int account_security(struct lsm_resolver *r)
{
	enum lsm_id id = lsm_parse_name(r->security);
	bool known = id != LSM_COUNT && lsm_exists(r, id) && !r->k->no_security;
	int rc = 0;

	if (r->security[0])
		rc = account_name(r, r->security, known);
	if (rc < 0 || r->k->no_security)
		return rc;
	if (!known) {
		const char *meant = id == LSM_COUNT ? lsm_suggest(r->security) : NULL;

		return lsm_warn(r,
				"security=%.64s names no LSM of %s: selinux, smack, tomoyo and "
				"apparmor are all off%s%s%s%s",
				r->security, r->shown,
				strchr(r->security, ',') ? "; it takes one name, no list" : "",
				meant ? " (did you mean '" : "", meant ? meant : "",
				meant ? "'?)" : "");
	}
	if (!(lsm_traits[id].flags & LSM_LEGACY_MAJOR))
		return lsm_warn(r,
				"security=%s names none of selinux, smack, tomoyo and apparmor: "
				"they are all off",
				r->security);
	return 0;
}

/* ---- the rest ---- */

/* Names of the kernel's own list that are not in it: not built in, or no LSM that is known here. */
static int account_config(struct lsm_resolver *r)
{
	char list[sizeof(r->k->config_lsm)]; /* the longest of them */
	char *p = list;
	char *name;
	int rc = 0;

	(void)snprintf(list, sizeof(list), "%s",
		       lsm_ordered(r) ? r->config_lsm : r->k->default_security);
	while (rc == 0 && (name = strsep(&p, ","))) {
		enum lsm_id id = lsm_parse_name(name);

		if (!name[0] || lsm_list_find(r->out, name))
			continue;
		if (!(id == LSM_COUNT ? add_unknown(r, name) : add_out(r, id)))
			return -ENOMEM;
		if (id == LSM_COUNT && lsm_ordered(r))
			rc = lsm_warn(r,
				      "CONFIG_LSM of %s names '%.64s', which is not known here: "
				      "the list is wrong if the kernel has it",
				      r->shown, name);
	}
	return rc;
}

/* What is built in, out, and was not asked for. */
static int add_rest(struct lsm_resolver *r)
{
	unsigned i;

	for (i = 0; i < LSM_COUNT; i++)
		if (lsm_exists(r, (enum lsm_id)i) && !r->k->no_security &&
		    !lsm_list_find(r->out, lsm_traits[i].name) && !add_out(r, (enum lsm_id)i))
			return -ENOMEM;
	return 0;
}

/* Words of the command line that do not count. */
static int warn_words(struct lsm_resolver *r)
{
	int rc = 0;

	if (r->n_lsm > 1)
		rc = lsm_warn(r, "lsm= is given %u times, only the last counts", r->n_lsm);
	if (rc == 0 && r->n_security > 1)
		rc = lsm_warn(r, "security= is given %u times, only the last counts",
			      r->n_security);
	if (rc == 0 && r->lsm && !lsm_ordered(r))
		rc = lsm_warn(r, "lsm= is not a parameter of %s (before 5.1); it has no effect",
			      r->shown);
	else if (rc == 0 && r->lsm && r->security)
		rc = lsm_warn(r, "security=%.64s has no effect beside lsm=", r->security);
	return rc;
}

/* What the kernel's config says against the line, or leaves open. */
static int warn_config(struct lsm_resolver *r)
{
	const struct lsm_kernel *k = r->k;
	int rc = 0;

	if (k->no_security)
		return lsm_warn(r,
				"%s is built without CONFIG_SECURITY: it has no LSM, and no list "
				"to read",
				r->shown);
	if (k->config_cmdline_override)
		rc = lsm_warn(r, "%s has CONFIG_CMDLINE_OVERRIDE: it ignores every command line",
			      r->shown);
	if (rc == 0 && k->security_unsaid)
		rc = lsm_warn(r,
			      "the config of %s does not say whether CONFIG_SECURITY is set: it is "
			      "not whole, and the list is wrong where it lacks more",
			      r->shown);
	else if (rc == 0 && k->no_config_lsm && lsm_ordered(r) && r->lsm)
		rc = lsm_warn(r,
			      "the config of %s has no CONFIG_LSM: it is not whole, and what it "
			      "lacks counts as not built in",
			      r->shown);
	if (rc == 0 && k->no_config_lsm && lsm_ordered(r) && !r->lsm)
		rc = lsm_warn(r,
			      "the config of %s has no CONFIG_LSM, so that its default is taken: "
			      "'%s'",
			      r->shown, r->default_lsm);
	if (rc == 0 && k->config_lsm[0] && !lsm_ordered(r))
		rc = lsm_warn(r,
			      "%s has CONFIG_LSM, which begins with 5.1: the list is wrong if it "
			      "was ported back",
			      r->shown);
	return rc;
}

int lsm_account(struct lsm_resolver *r)
{
	int rc = add_in(r);

	if (rc == 0)
		rc = warn_words(r);
	if (rc == 0)
		rc = warn_config(r);
	if (rc == 0 && r->lsm)
		rc = account_list(r);
	if (rc == 0 && r->security && (!r->lsm || !lsm_ordered(r)))
		rc = account_security(r);
	if (rc == 0 && (!r->lsm || !lsm_ordered(r)))
		rc = account_config(r);
	if (rc == 0)
		rc = add_rest(r);
	return rc;
}
