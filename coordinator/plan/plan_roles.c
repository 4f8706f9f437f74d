/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which workloads each machine runs: alone, and as the client of which servers. Also what they are
 * declared to be there, and why one cannot run.
 *
 * Machines that are named as client or server are taken wherever they are; predicates, and roles
 * without either, choose among the job's machines.
 */
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

/* ---- clients and servers ---- */

static bool named(const struct job_machines *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->names.n; i++)
		if (strcmp(m->names.items[i].text, name) == 0)
			return true;
	return false;
}

/* Whether a role means a machine; `own`: it is one of the job's. */
static bool means(const struct job_machines *role, const struct plan_machine *m, bool own)
{
	if (role->names.n > 0)
		return named(role, m->facts.name);
	return own && (!role->where || predicate_matches_machine(role->where, &m->facts));
}

static bool is_own(const struct plan_builder *b, const struct plan_machine *m)
{
	uint32_t at = b->column_at[m - b->in->machines];

	return at != 0 && at <= b->n_own;
}

/* Clients that are named are machines of the job, too. */
static int add_named_clients(struct plan_builder *b, const struct job_role *role)
{
	const struct plan_machine *m = NULL;
	struct plan_column *c;
	size_t i;
	int rc = 0;

	for (i = 0; i < role->client.names.n && rc == 0; i++) {
		rc = plan_find_machine(b, "client", &role->client.names.items[i], &m);
		if (rc == 0)
			rc = plan_column_of(b, m, &c);
	}
	b->n_own = b->n_columns;
	for (i = 0; i < role->server.names.n && rc == 0; i++)
		rc = plan_find_machine(b, "server", &role->server.names.items[i], &m);
	return rc;
}

static int check_clients(struct plan_builder *b, const struct job_workload *w)
{
	size_t i;

	for (i = 0; i < b->n_own; i++)
		if (means(&w->role->client, b->columns[i].machine, true))
			return 0;
	return job_spec_error(b->job, w->role->client.at, KG_EINVALID, b->err,
			      "'client': no machine of the job matches '%.160s'",
			      w->role->client.where_text ? w->role->client.where_text : "");
}

static int new_peer(struct plan_builder *b, struct plan_column *c, const struct plan_machine *m,
		    bool role, struct plan_peer **ret)
{
	struct plan_peer *p = &c->peers[c->n_peers++];
	size_t n = b->job->n_workloads;

	memset(p, 0, sizeof(*p));
	p->machine = m;
	p->role = role;
	p->workloads = plan_scratch(b, n, sizeof(*p->workloads));
	p->reasons = plan_scratch(b, n, sizeof(*p->reasons));
	p->digests = plan_scratch(b, n, sizeof(*p->digests));
	*ret = p;
	return p->workloads && p->reasons && p->digests ? 0 : plan_no_memory(b->err);
}

/* The peer with this server, made on first use. */
static int peer_of(struct plan_builder *b, struct plan_column *c, const struct plan_machine *m,
		   bool role, struct plan_peer **ret)
{
	struct plan_peer *grown;
	size_t i;

	for (i = c->n_peers; i-- > 0;) {
		if (c->peers[i].machine != m || c->peers[i].role != role)
			continue;
		*ret = &c->peers[i];
		return 0;
	}
	if (c->n_peers == c->size_peers) {
		c->size_peers = c->size_peers ? 2 * c->size_peers : 2;
		grown = plan_scratch(b, c->size_peers, sizeof(*grown));
		if (!grown)
			return plan_no_memory(b->err);
		if (c->n_peers)
			memcpy(grown, c->peers, c->n_peers * sizeof(*grown));
		c->peers = grown;
	}
	return new_peer(b, c, m, role, ret);
}

static int add_pair(struct plan_builder *b, struct plan_column *c, const struct plan_machine *m,
		    size_t workload)
{
	struct plan_column *server;
	struct plan_peer *p;
	int rc = peer_of(b, c, m, true, &p);

	if (rc < 0)
		return rc;
	p->workloads[p->n_workloads++] = workload;
	if (!m)
		return 0;
	if (!m->address || !m->address[0])
		p->infeasible = plan_text(b,
					  "machine '%s' has no address where '%s' could reach it: "
					  "set 'address' in its agent's file",
					  m->facts.name, c->name);
	if ((!m->address || !m->address[0]) && !p->infeasible)
		return plan_no_memory(b->err);
	rc = plan_column_of(b, m, &server);
	if (rc == 0 && server >= b->columns + b->n_own)
		server->server_only = true;
	return rc;
}

static int add_servers(struct plan_builder *b, struct plan_column *c, size_t workload)
{
	const struct job_role *role = b->job->workloads[workload].role;
	size_t n = role->server.names.n ? role->server.names.n : b->n_own;
	size_t i, found = 0;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++) {
		const struct plan_machine *m = b->columns[i < b->n_own ? i : 0].machine;

		if (role->server.names.n)
			rc = plan_find_machine(b, "server", &role->server.names.items[i], &m);
		if (rc < 0 || m == c->machine || !means(&role->server, m, is_own(b, m)))
			continue;
		found++;
		rc = add_pair(b, c, m, workload);
	}
	return rc < 0 || found ? rc : add_pair(b, c, NULL, workload);
}

static int fill_column(struct plan_builder *b, struct plan_column *c)
{
	const struct job_spec *j = b->job;
	struct plan_peer *p;
	size_t i;
	int rc = 0;

	for (i = 0; i < j->n_workloads && rc == 0; i++) {
		if (j->workloads[i].role)
			continue;
		rc = peer_of(b, c, NULL, false, &p);
		if (rc == 0)
			p->workloads[p->n_workloads++] = i;
	}
	for (i = 0; i < j->n_workloads && rc == 0; i++)
		if (j->workloads[i].role && means(&j->workloads[i].role->client, c->machine, true))
			rc = add_servers(b, c, i);
	return rc;
}

int plan_find_roles(struct plan_builder *b)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < b->job->n_workloads && rc == 0; i++)
		if (b->job->workloads[i].role)
			rc = add_named_clients(b, b->job->workloads[i].role);
	for (i = 0; i < b->job->n_workloads && rc == 0; i++)
		if (b->job->workloads[i].role)
			rc = check_clients(b, &b->job->workloads[i]);
	for (i = 0; i < b->n_own && rc == 0; i++)
		rc = fill_column(b, &b->columns[i]);
	return rc;
}

/* ---- what the machines offer ---- */

static int unknown_workload(struct plan_builder *b, const struct job_workload *w, const char *key)
{
	struct kg_texts names = {0};
	struct kg_str all = {0};
	const char *meant;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < b->n_own; i++) {
		const struct plan_machine *m = b->columns[i].machine;

		for (k = 0; k < m->n_offers && rc == 0; k++)
			rc = plan_warn(&names, "%s", m->offers[k].name);
	}
	for (i = 0; i < names.n; i++)
		kg_str_addf(&all, "%s%s", i ? ", " : "", names.items[i]);
	meant = kg_suggest(w->name, (const char *const *)names.items, names.n);
	rc = job_spec_error(b->job, w->at, KG_EINVALID, b->err,
			    "'%s': no machine of the job offers '%s'%s%s%s; offered are %s", key,
			    w->name, meant ? " (did you mean '" : "", meant ? meant : "",
			    meant ? "'?)" : "", names.n ? kg_str_text(&all) : "none");
	kg_str_deinit(&all);
	kg_texts_deinit(&names);
	return rc;
}

/* The declaration to read parameters with: the machine's own, else another's. */
static int find_decl(struct plan_builder *b, const struct plan_offer *own,
		     const struct job_workload *w, const char *key, const struct kg_workload **ret)
{
	const struct plan_offer *unread = NULL;
	size_t i;

	*ret = own ? own->decl : NULL;
	for (i = 0; i < b->n_own && !*ret; i++) {
		const struct plan_offer *o = plan_find_offer(b->columns[i].machine, w->name);

		*ret = o ? o->decl : NULL;
		if (o && !o->decl)
			unread = o;
	}
	if (*ret)
		return 0;
	if (unread)
		return job_spec_error(b->job, w->at, KG_EINVALID, b->err,
				      "'%s': the declaration of '%s' cannot be read: %s", key,
				      w->name,
				      unread->missing ? unread->missing : "no reason given");
	return unknown_workload(b, w, key);
}

/* *ret_reason NULL: it can run there. */
static int why_not(struct plan_builder *b, const struct plan_machine *m, const char *what,
		   const struct plan_offer *own, const char *workload, const char **ret_reason)
{
	const char *name = m->facts.name;

	*ret_reason = NULL;
	if (own && own->available && own->decl)
		return 0;
	if (!own)
		*ret_reason = plan_text(b, "workload '%s' is not installed on %s'%s'", workload,
					what, name);
	else
		*ret_reason = plan_text(b, "workload '%s' is not available on %s'%s': %s", workload,
					what, name,
					own->missing && own->missing[0] ? own->missing
					: own->decl			? "no reason given"
						    : "its declaration cannot be read");
	return *ret_reason ? 0 : plan_no_memory(b->err);
}

static int pair_reason(struct plan_builder *b, const struct plan_column *c,
		       const struct plan_peer *p, const struct plan_entry *e,
		       const char **ret_reason)
{
	const struct job_workload *w = e->workload;
	const struct job_machines *server = &w->role->server;

	if (!e->decl->pair)
		*ret_reason = plan_text(b,
					"workload '%s' cannot run on two machines: its declaration "
					"has no 'pair: true'",
					w->name);
	else if (!p->machine)
		*ret_reason = plan_text(b, "no second machine: none but '%s' matches 'server: %s'",
					c->name,
					server->where_text ? server->where_text
					: server->names.n  ? server->names.items[0].text
							   : "any machine of the job");
	else
		return why_not(b, p->machine, "the server ", plan_find_offer(p->machine, w->name),
			       w->name, ret_reason);
	return *ret_reason ? 0 : plan_no_memory(b->err);
}

/* One workload of one peer. */
static int read_workload(struct plan_builder *b, struct plan_column *c, struct plan_peer *p,
			 size_t at)
{
	const struct job_workload *w = &b->job->workloads[p->workloads[at]];
	const struct plan_offer *own = plan_find_offer(c->machine, w->name);
	const struct plan_entry **entry = &c->entries[p->workloads[at]];
	const struct kg_workload *decl;
	int rc = 0;

	if (!*entry) {
		rc = find_decl(b, own, w, "workloads", &decl);
		if (rc == 0)
			rc = plan_entry_of(b, w, decl, entry);
	}
	if (rc == 0)
		rc = why_not(b, c->machine, "", own, w->name, &p->reasons[at]);
	if (rc == 0 && p->role && !p->reasons[at])
		rc = pair_reason(b, c, p, *entry, &p->reasons[at]);
	if (rc < 0)
		return rc;
	p->digests[at] = plan_keep(b, own && own->digest ? own->digest : "");
	return p->digests[at] ? 0 : plan_no_memory(b->err);
}

static bool declared_somewhere(const struct plan_builder *b, const struct job_default *d)
{
	const struct plan_entry *e;
	size_t i;

	for (e = b->entries; e; e = e->next) {
		if (d->workload && strcmp(d->workload, e->workload->name) != 0)
			continue;
		for (i = 0; i < e->decl->n_params; i++)
			if (strcmp(e->decl->params[i].name, d->param.name) == 0)
				return true;
	}
	return false;
}

static int check_defaults(struct plan_builder *b)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < b->job->n_defaults && rc == 0; i++) {
		const struct job_default *d = &b->job->defaults[i];
		const char *meant;

		if (declared_somewhere(b, d))
			continue;
		meant = d->matrix || d->workload ? NULL : job_near_key(d->param.name);
		if (d->matrix)
			return job_spec_error(
				b->job, d->param.at, KG_EINVALID, b->err,
				"'matrix': no workload of the job has a parameter '%s'",
				d->param.name);
		rc = plan_add_warning(b,
				      "defaults: no workload of the job has a parameter '%s'%s%s%s",
				      d->param.name, meant ? "; did you mean the key '" : "",
				      meant ? meant : "", meant ? "'?" : "");
	}
	return rc;
}

int plan_read_entries(struct plan_builder *b)
{
	size_t i, k, w;
	int rc = 0;

	for (i = 0; i < b->n_own && rc == 0; i++) {
		struct plan_column *c = &b->columns[i];

		c->entries = plan_scratch(b, b->job->n_workloads + 1, sizeof(*c->entries));
		if (!c->entries)
			return plan_no_memory(b->err);
		for (k = 0; k < c->n_peers && rc == 0; k++)
			for (w = 0; w < c->peers[k].n_workloads && rc == 0; w++)
				rc = read_workload(b, c, &c->peers[k], w);
	}
	return rc < 0 ? rc : check_defaults(b);
}

/* ---- the canary ---- */

static bool all_default(const struct kg_workload *w)
{
	size_t i;

	for (i = 0; i < w->n_params; i++)
		if (w->params[i].required)
			return false;
	return true;
}

/* The first by name, so that the machine's order of reporting does not matter. */
static const struct plan_offer *own_canary(const struct plan_machine *m)
{
	const struct plan_offer *found = NULL;
	size_t i;

	for (i = 0; i < m->n_offers; i++) {
		const struct plan_offer *o = &m->offers[i];

		if (!o->available || !o->decl || !o->decl->canary || !all_default(o->decl))
			continue;
		if (!found || strcmp(o->name, found->name) < 0)
			found = o;
	}
	return found;
}

static int set_canary(struct plan_builder *b, struct plan_column *c, const struct plan_offer *o,
		      const struct job_workload *w)
{
	uint32_t *digits;
	int rc = plan_entry_of(b, w, o->decl, &c->canary);

	if (rc == 0 && c->canary->count != 1)
		return job_spec_error(b->job, w->at, KG_EINVALID, b->err,
				      "'canary': '%s' needs one value for each parameter", w->name);
	if (rc == 0)
		rc = plan_entry_fill(b, c->canary);
	if (rc < 0)
		return rc;
	digits = plan_scratch(b, c->canary->alts[0].n_params + 1, sizeof(*digits));
	c->canary_digest = plan_keep(b, o->digest ? o->digest : "");
	if (!digits || !c->canary_digest)
		return plan_no_memory(b->err);
	return plan_set_fill(b, c->canary, 0, digits, &c->canary_set);
}

static int auto_canary(struct plan_builder *b, struct plan_column *c)
{
	const struct plan_offer *o = own_canary(c->machine);
	struct job_workload *w;

	if (!o)
		return 0;
	/* machines side by side with the same declaration share the workload that no file has */
	if (c > b->columns && c[-1].canary && c[-1].canary->decl == o->decl)
		return set_canary(b, c, o, c[-1].canary->workload);
	w = plan_scratch(b, 1, sizeof(*w));
	if (!w)
		return plan_no_memory(b->err);
	w->name = (char *)(uintptr_t)plan_keep(b, o->name);
	if (!w->name)
		return plan_no_memory(b->err);
	return set_canary(b, c, o, w);
}

static int given_canary(struct plan_builder *b, struct plan_column *c)
{
	const struct job_workload *w = b->job->canary;
	const struct plan_offer *o = plan_find_offer(c->machine, w->name);
	const struct kg_workload *decl;
	const char *reason;
	int rc = find_decl(b, o, w, "canary", &decl);

	if (rc == 0)
		rc = why_not(b, c->machine, "", o, w->name, &reason);
	if (rc < 0)
		return rc;
	return reason ? plan_add_warning(b, "no canary on '%s': %s", c->name, reason)
		      : set_canary(b, c, o, w);
}

static int note_missing(struct plan_builder *b)
{
	struct kg_str names = {0};
	size_t i, n = 0;
	int rc;

	for (i = 0; i < b->n_own; i++) {
		if (b->columns[i].canary || b->columns[i].n_peers == 0)
			continue;
		if (n < 4)
			kg_str_addf(&names, "%s%s", n ? ", " : "", b->columns[i].name);
		n++;
	}
	if (n > 4)
		kg_str_addf(&names, " and %zu more", n - 4);
	rc = n == 0 ? 0
		    : plan_add_warning(b,
				       "no canary on %s: none of the workloads there is declared "
				       "'canary: true', so drift within a block is not watched",
				       kg_str_text(&names));
	kg_str_deinit(&names);
	return rc;
}

int plan_choose_canaries(struct plan_builder *b)
{
	size_t i;
	int rc = 0;

	if (b->job->canary_mode == JOB_CANARY_NONE)
		return 0;
	for (i = 0; i < b->n_own && rc == 0; i++)
		rc = b->job->canary_mode == JOB_CANARY_GIVEN ? given_canary(b, &b->columns[i])
							     : auto_canary(b, &b->columns[i]);
	if (rc == 0 && b->job->canary_mode == JOB_CANARY_AUTO)
		rc = note_missing(b);
	return rc;
}
