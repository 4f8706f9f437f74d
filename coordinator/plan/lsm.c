/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/lsm_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/warn.h"

enum order { FIRST, MUTABLE, LAST };

/* Newer ones are taken from the config alone, since distributions port them back; ima, evm and
 * integrity exist as code in versions in which they are not LSMs, and up to 5.0 the list has fixed
 * places. */
bool lsm_exists(const struct lsm_resolver *r, enum lsm_id id)
{
	if (id == LSM_CAPABILITY)
		return true;
	if (!(r->k->builtin & LSM_BIT(id)))
		return false;
	if (!lsm_ordered(r))
		return lsm_traits[id].since == 0;
	if (id == LSM_IMA || id == LSM_EVM)
		return r->version >= LSM_VERSION(6, 9);
	if (id == LSM_INTEGRITY)
		return r->version <= LSM_VERSION(6, 8);
	return true;
}

static bool early(const struct lsm_resolver *r, enum lsm_id id)
{
	return id == LSM_LOCKDOWN && r->k->lockdown_early && lsm_exists(r, id);
}

static enum order order_of(const struct lsm_resolver *r, enum lsm_id id)
{
	if (id == LSM_CAPABILITY)
		return FIRST;
	if (id == LSM_IMA || id == LSM_EVM)
		return LAST;
	if (id == LSM_INTEGRITY && r->version >= LSM_VERSION(6, 4))
		return LAST;
	return MUTABLE;
}

int lsm_warn(struct lsm_resolver *r, const char *fmt, ...)
{
	char text[640];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return plan_warn(&r->out->warnings, "%s", text);
}

static void append(struct lsm_resolver *r, enum lsm_id id, enum lsm_reason why)
{
	if (r->listed[id])
		return;
	r->listed[id] = true;
	r->why[r->n_order] = why;
	r->order[r->n_order++] = id;
}

/* Up to 5.0: the fixed ones, then the one major that was chosen, if its switch lets it. */
static void resolve_fixed(struct lsm_resolver *r)
{
	static const enum lsm_id majors[] = {LSM_SELINUX, LSM_SMACK, LSM_TOMOYO, LSM_APPARMOR};
	const char *chosen = r->security ? r->security : r->k->default_security;
	enum lsm_reason why = r->security ? LSM_IN_SECURITY : LSM_IN_CONFIG;
	size_t i;

	append(r, LSM_CAPABILITY, LSM_IN_FIRST);
	if (lsm_exists(r, LSM_YAMA))
		append(r, LSM_YAMA, LSM_IN_FIXED);
	if (lsm_exists(r, LSM_LOADPIN))
		append(r, LSM_LOADPIN, LSM_IN_FIXED);
	for (i = 0; i < sizeof(majors) / sizeof(majors[0]); i++) {
		enum lsm_id id = majors[i];

		/* SECURITY_NAME_MAX is 10: the kernel keeps that much of security= */
		if (!lsm_exists(r, id))
			continue;
		if (strncmp(lsm_traits[id].name, chosen, 10) == 0)
			append(r, id, why);
		else if (r->security)
			r->legacy_off[id] = true;
	}
}

/* Calls `append` for each name of a list that may be placed by it. */
static void append_list(struct lsm_resolver *r, const char *list, enum lsm_reason why)
{
	const char *p = list;

	for (;;) {
		size_t len = strcspn(p, ",");
		unsigned i;

		for (i = 0; i < LSM_COUNT; i++) {
			enum lsm_id id = (enum lsm_id)i;

			if (strlen(lsm_traits[i].name) == len &&
			    strncmp(lsm_traits[i].name, p, len) == 0 && lsm_exists(r, id) &&
			    !early(r, id) && order_of(r, id) == MUTABLE)
				append(r, id, why);
		}
		if (!p[len])
			return;
		p += len + 1;
	}
}

/* 5.1 and later. The steps are those of ordered_lsm_parse(). */
static void resolve_ordered(struct lsm_resolver *r)
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
		append_list(r, r->config_lsm, LSM_IN_CONFIG);
	for (i = 0; security && i < LSM_COUNT; i++)
		if (strcmp(lsm_traits[i].name, security) == 0 && lsm_exists(r, (enum lsm_id)i))
			append(r, (enum lsm_id)i, LSM_IN_SECURITY);
	for (i = 0; i < LSM_COUNT; i++)
		if (lsm_exists(r, (enum lsm_id)i) && order_of(r, (enum lsm_id)i) == LAST)
			append(r, (enum lsm_id)i, LSM_IN_LAST);
}

/* Walks the list: what is switched off drops out first, so that it does not block a second
 * exclusive one. */
static void accept(struct lsm_resolver *r)
{
	size_t i;

	r->winner = LSM_COUNT;
	for (i = 0; i < r->n_order; i++) {
		enum lsm_id id = r->order[i];

		if (r->off[id] || r->legacy_off[id])
			continue;
		if (lsm_exclusive(r->k->profile, id)) {
			if (r->winner != LSM_COUNT) {
				r->beaten_by[id] = r->winner;
				continue;
			}
			r->winner = id;
		}
		r->active[id] = true;
	}
}

/* Adds those of `names` that are LSMs in this version. */
static void add_default(struct lsm_resolver *r, const char *names)
{
	size_t i, len;

	for (; *names; names += len + (names[len] == ',')) {
		size_t used = strlen(r->default_lsm);

		len = strcspn(names, ",");
		for (i = 0; i < LSM_COUNT; i++) {
			const struct lsm_traits *t = &lsm_traits[i];
			bool gone = i == LSM_INTEGRITY && r->version >= LSM_VERSION(6, 4);

			if (strlen(t->name) == len && strncmp(t->name, names, len) == 0 &&
			    t->since <= r->version && !gone)
				(void)snprintf(r->default_lsm + used, sizeof(r->default_lsm) - used,
					       "%s%s", used ? "," : "", t->name);
		}
	}
}

/* The default of CONFIG_LSM in security/Kconfig, which depends on CONFIG_DEFAULT_SECURITY_*; of
 * these the default is the first one that is built in. */
static void default_list(struct lsm_resolver *r)
{
	static const struct {
		enum lsm_id chosen;
		const char *majors;
	} rows[] = {{LSM_SELINUX, "selinux,smack,tomoyo,apparmor"},
		    {LSM_SMACK, "smack,selinux,tomoyo,apparmor"},
		    {LSM_TOMOYO, "tomoyo"},
		    {LSM_APPARMOR, "apparmor,selinux,smack,tomoyo"}};
	const char *majors = "";
	size_t i;

	for (i = 0; i < 4 && !majors[0] && !r->k->default_dac; i++) {
		enum lsm_id id = rows[i].chosen;
		const char *chosen = r->k->default_security;

		if (chosen[0] ? strcmp(chosen, lsm_name(id)) == 0 : lsm_exists(r, id))
			majors = rows[i].majors;
	}
	add_default(r, "landlock,lockdown,yama,loadpin,safesetid,integrity");
	add_default(r, majors);
	add_default(r, "ipe,bpf");
}

int lsm_resolve(const struct lsm_kernel *k, const char *cmdline, struct lsm_list *ret_list,
		struct kg_err *err)
{
	struct lsm_list list = {0};
	struct lsm_resolver r = {.k = k, .out = &list};
	int rc;

	r.shown = k->name[0] ? k->name : k->release;
	rc = lsm_check_release(k->release, err);
	if (rc < 0)
		return rc;
	(void)lsm_parse_version(k->release, &r.version);
	if (k->no_config_lsm)
		default_list(&r);
	r.config_lsm = k->no_config_lsm ? r.default_lsm : k->config_lsm;
	rc = lsm_read_cmdline(&r, cmdline);
	if (rc == 0) {
		if (!k->no_security && lsm_ordered(&r))
			resolve_ordered(&r);
		else if (!k->no_security)
			resolve_fixed(&r);
		accept(&r);
		rc = lsm_account(&r);
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
