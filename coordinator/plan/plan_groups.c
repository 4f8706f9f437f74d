/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups: what one boot of a block covers. */
#include <stdlib.h>
#include <string.h>

#include "common/cmdline.h"
#include "coordinator/plan/plan_internal.h"

/* ---- the product ---- */

uint64_t plan_settings_count(const struct job_spec *j)
{
	uint64_t n = 1;
	size_t i;

	for (i = 0; i < j->n_settings; i++)
		n = plan_times(n, j->settings[i].values.n);
	return n;
}

uint64_t plan_full_of(const struct plan_builder *b, const struct plan_column *c)
{
	uint64_t boots = plan_times(plan_times(b->n_kernels, b->job->n_lsms),
				    plan_times(b->n_variants, plan_settings_count(b->job)));
	uint64_t sets = 0;
	size_t i, k;

	for (i = 0; i < c->n_peers; i++)
		for (k = 0; k < c->peers[i].n_workloads; k++)
			sets = plan_plus(sets, c->entries[c->peers[i].workloads[k]]->count);
	return plan_times(boots, sets);
}

int plan_add_combo(struct plan_builder *b, const struct plan_combo *x)
{
	if (plan_grow((void **)&b->combos, &b->size_combos, b->n_combos + 1, sizeof(*b->combos)) <
	    0)
		return plan_no_memory(b->err);
	b->combos[b->n_combos++] = *x;
	return 0;
}

static int make_all_settings(struct plan_builder *b)
{
	const struct job_spec *j = b->job;
	uint32_t *digits = plan_scratch(b, j->n_settings + 1, sizeof(*digits));
	uint64_t n = plan_settings_count(j);
	uint32_t index;
	size_t i;
	int rc = 0;

	if (!digits)
		return plan_no_memory(b->err);
	while (rc == 0 && b->n_settings < n) {
		rc = plan_settings_of(b, digits, &index);
		for (i = j->n_settings; i-- > 0; digits[i] = 0)
			if (++digits[i] < j->settings[i].values.n)
				break;
	}
	return rc;
}

/* The sets of each peer's workloads, numbered through as the file lists them. */
static int make_peer_sets(struct plan_builder *b, struct plan_column *c)
{
	uint64_t *first = plan_scratch(b, b->job->n_workloads + 1, sizeof(*first));
	size_t i, k;
	int rc = 0;

	if (!first)
		return plan_no_memory(b->err);
	for (i = 0; i < b->job->n_workloads; i++)
		first[i + 1] = first[i] + (c->entries[i] ? c->entries[i]->count : 0);
	for (i = 0; i < c->n_peers && rc == 0; i++) {
		struct plan_peer *p = &c->peers[i];
		const struct plan_entry **entries =
			plan_scratch(b, p->n_workloads, sizeof(*entries));
		uint64_t *offsets = plan_scratch(b, p->n_workloads, sizeof(*offsets));

		if (!entries || !offsets)
			return plan_no_memory(b->err);
		for (k = 0; k < p->n_workloads; k++) {
			entries[k] = c->entries[p->workloads[k]];
			offsets[k] = first[p->workloads[k]];
		}
		rc = plan_sets_of(b, entries, p->n_workloads, offsets, &p->sets);
	}
	return rc;
}

int plan_full_combos(struct plan_builder *b, struct plan_column *c)
{
	struct plan_combo x = {0};
	int rc = b->n_settings ? 0 : make_all_settings(b);

	if (rc == 0)
		rc = make_peer_sets(b, c);
	b->n_combos = 0;
	for (x.kernel = 0; x.kernel < b->n_kernels && rc == 0; x.kernel++)
		for (x.lsm = 0; x.lsm < b->job->n_lsms && rc == 0; x.lsm++)
			for (x.variant = 0; x.variant < b->n_variants && rc == 0; x.variant++)
				for (x.settings = 0; x.settings < b->n_settings && rc == 0;
				     x.settings++)
					for (x.peer = 0; x.peer < c->n_peers && rc == 0; x.peer++)
						rc = plan_add_combo(b, &x);
	return rc;
}

/* ---- whether a boot can be made ---- */

static size_t base_len(const struct plan_machine *m)
{
	return m->base_cmdline ? strlen(m->base_cmdline) : 0;
}

static size_t line_total(const struct plan_machine *m, const struct plan_line *line)
{
	size_t base = base_len(m);

	return base + (base && line->len ? 1 : 0) + line->len + PLAN_BOOT_WORD_MAX;
}

static bool policy_known(const char *policy)
{
	return !policy || !policy[0] || strcmp(policy, "overlay") == 0 ||
	       strcmp(policy, "none") == 0;
}

static bool line_possible(const struct plan_machine *m, const struct plan_line *line)
{
	return line_total(m, line) <= KG_CMDLINE_MAX && policy_known(m->initrd_policy);
}

/* Why a boot with this line cannot be made on a machine; *ret_reason NULL: it can. */
static int check_line(struct plan_builder *b, const struct plan_machine *m,
		      const struct plan_line *line, const char **ret_reason)
{
	size_t total = line_total(m, line), base = base_len(m);

	if (line_possible(m, line))
		return 0;
	if (total > KG_CMDLINE_MAX)
		*ret_reason =
			plan_text(b,
				  "the command line has %zu characters, %zu more than kexec "
				  "takes: %zu of machine '%s', %zu of the job, %zu for kgrid.boot=",
				  total, total - KG_CMDLINE_MAX, base, m->facts.name, line->len,
				  PLAN_BOOT_WORD_MAX);
	else
		*ret_reason =
			plan_text(b,
				  "initrd policy '%.64s' of machine '%s' is not known to this "
				  "version",
				  m->initrd_policy, m->facts.name);
	return *ret_reason ? 0 : plan_no_memory(b->err);
}

/* The server boots the same: the same list must come out of its own base line. */
static int check_server(struct plan_builder *b, struct plan_column *c, const struct plan_peer *p,
			const struct plan_combo *x, struct plan_group *g)
{
	const struct plan_selected *k = &b->kernels[x->kernel];
	const struct plan_line *line;
	const char *list;
	int rc = plan_line_of(b, p->line_class, x->kernel, x->variant, x->lsm, &line);

	if (rc == 0)
		rc = check_line(b, p->machine, line, &g->infeasible);
	if (rc == 0 && !g->infeasible)
		rc = plan_settings_reason(b, c, p->machine, x->settings, &g->infeasible);
	if (rc < 0 || g->infeasible || !k->kernel->config)
		return rc;
	list = b->effective.texts[line->effective];
	if (strcmp(line->cmdline, g->cmdline) != 0)
		g->infeasible =
			plan_text(b,
				  "the base command lines of '%s' and its server '%s' lead "
				  "to different lines: '%s' and '%s'",
				  c->name, p->machine->facts.name, g->cmdline, line->cmdline);
	else if (strcmp(list, g->effective) != 0)
		g->infeasible =
			plan_text(b, "the list would be %s on '%s', and %s on its server '%s'",
				  g->effective, c->name, list, p->machine->facts.name);
	else
		return 0;
	return g->infeasible ? 0 : plan_no_memory(b->err);
}

static bool leaves_by_reboot(const struct plan_builder *b, const struct plan_group *g,
			     const struct plan_machine *m)
{
	const struct kconfig_facts *config = b->kernels[g->kernel].kernel->config;

	return plan_leave(config, g->effective, g->cmdline) ||
	       (m->base_cmdline && plan_leave(config, g->effective, m->base_cmdline));
}

static int fill_group(struct plan_builder *b, struct plan_column *c, const struct plan_combo *x,
		      struct plan_group *g)
{
	const struct plan_selected *k = &b->kernels[x->kernel];
	const struct plan_peer *p = &c->peers[x->peer];
	const struct plan_line *line;
	int rc = plan_line_of(b, c->line_class, x->kernel, x->variant, x->lsm, &line);

	if (rc < 0)
		return rc;
	*g = (struct plan_group){
		.column = (uint32_t)(c - b->columns),
		.kernel = x->kernel,
		.lsm = x->lsm,
		.variant = x->variant,
		.settings = x->settings,
		.peer = x->peer,
		.cmdline = line->cmdline,
		.effective = b->effective.texts[line->effective],
	};
	g->infeasible = k->infeasible;
	if (!g->infeasible)
		rc = check_line(b, c->machine, line, &g->infeasible);
	if (rc == 0 && !g->infeasible)
		rc = plan_settings_reason(b, c, c->machine, x->settings, &g->infeasible);
	if (rc == 0 && !g->infeasible)
		g->infeasible = p->infeasible;
	if (rc == 0 && !g->infeasible && p->machine)
		rc = check_server(b, c, p, x, g);
	if (rc < 0 || !k->kernel->config)
		return rc;
	g->leave = leaves_by_reboot(b, g, c->machine) ||
		   (p->machine && leaves_by_reboot(b, g, p->machine)) ||
		   b->settings[x->settings].stops_kexec;
	return 0;
}

/* check_server without a reason. */
static int server_possible(struct plan_builder *b, const struct plan_peer *p,
			   const struct plan_combo *x, const struct plan_line *client, bool *ret)
{
	const struct plan_line *line;
	int rc = plan_line_of(b, p->line_class, x->kernel, x->variant, x->lsm, &line);

	if (rc < 0)
		return rc;
	*ret = line_possible(p->machine, line) &&
	       plan_settings_possible(p->machine, &b->settings[x->settings]) &&
	       (!b->kernels[x->kernel].kernel->config ||
		(strcmp(line->cmdline, client->cmdline) == 0 &&
		 strcmp(b->effective.texts[line->effective],
			b->effective.texts[client->effective]) == 0));
	return 0;
}

int plan_boot_possible(struct plan_builder *b, const struct plan_column *c,
		       const struct plan_combo *x, bool *ret)
{
	const struct plan_peer *p = &c->peers[x->peer];
	const struct plan_line *line;
	int rc;

	*ret = false;
	if (b->kernels[x->kernel].infeasible || p->infeasible ||
	    !plan_settings_possible(c->machine, &b->settings[x->settings]))
		return 0;
	rc = plan_line_of(b, c->line_class, x->kernel, x->variant, x->lsm, &line);
	if (rc < 0 || !line_possible(c->machine, line))
		return rc;
	*ret = true;
	return p->machine ? server_possible(b, p, x, line, ret) : 0;
}

/* ---- the same list ---- */

static int add_merge(struct plan_builder *b, const struct plan_column *c,
		     const struct plan_combo *x, const struct plan_group *into)
{
	struct plan *p = b->p;
	const struct plan_selected *k = &b->kernels[x->kernel];
	const char *lsm = b->lsm_labels[x->lsm];
	struct plan_merge *m;
	size_t i;

	/* combinations come list by list: those of this one are the last ones */
	for (i = p->n_merges; i-- > 0 && p->merges[i].machine == c->name &&
			      p->merges[i].kernel == k->digest && p->merges[i].lsm == lsm;)
		if (p->merges[i].into == b->lsm_labels[into->lsm] &&
		    p->merges[i].effective == into->effective)
			return 0;
	if (plan_grow((void **)&p->merges, &b->size_merges, p->n_merges + 1, sizeof(*p->merges)) <
	    0)
		return plan_no_memory(b->err);
	m = &p->merges[p->n_merges++];
	m->machine = c->name;
	m->kernel = k->digest;
	m->lsm = lsm;
	m->into = b->lsm_labels[into->lsm];
	m->effective = into->effective;
	return plan_add_warning(
		b,
		"lsm '%s' gives the same list as '%s' on %s (%s): one boot, shown as "
		"'%s'",
		m->lsm, m->into, k->shown, m->effective, m->into);
}

/* What makes two boots one: kernel, list, words beside it, settings and server. */
static uint64_t group_hash(const struct plan_builder *b, const struct plan_group *g)
{
	const struct job_spec *j = b->job;
	const struct plan_settings *s = &b->settings[g->settings];
	uint64_t h = plan_hash_number(g->kernel, b->same_variant[g->variant]);
	size_t i;

	h = plan_hash_number(h, g->peer);
	/* texts of lists are one piece of memory each */
	h = plan_hash_number(h, g->infeasible ? b->same_lsm[g->lsm]
					      : (uint64_t)(uintptr_t)g->effective);
	for (i = 0; i < j->n_settings; i++)
		h = plan_hash_number(h, b->same_value[i][s->digits[i]]);
	return h;
}

static bool same_group(const struct plan_builder *b, const struct plan_group *x,
		       const struct plan_group *y)
{
	const uint32_t *dx = b->settings[x->settings].digits;
	const uint32_t *dy = b->settings[y->settings].digits;
	size_t i;

	if (x->kernel != y->kernel || x->peer != y->peer || !x->infeasible != !y->infeasible ||
	    b->same_variant[x->variant] != b->same_variant[y->variant])
		return false;
	if (x->infeasible ? b->same_lsm[x->lsm] != b->same_lsm[y->lsm]
			  : x->effective != y->effective)
		return false;
	for (i = 0; i < b->job->n_settings; i++)
		if (b->same_value[i][dx[i]] != b->same_value[i][dy[i]])
			return false;
	return true;
}

/* Puts a combination into the group that it belongs to, which may be a new one. */
static int place(struct plan_builder *b, struct plan_column *c, struct plan_table *t, uint32_t at)
{
	struct plan_combo *x = &b->combos[at];
	struct plan_group g;
	uint64_t h;
	int rc = fill_group(b, c, x, &g);

	if (rc < 0)
		return rc;
	for (h = group_hash(b, &g); t->at[h & t->mask]; h++) {
		struct plan_group *y = &b->groups[t->at[h & t->mask] - 1];

		if (!same_group(b, &g, y))
			continue;
		x->group = t->at[h & t->mask] - 1;
		b->combos[y->last_combo].next = at + 1;
		y->last_combo = at;
		return x->lsm == y->lsm || y->infeasible ? 0 : add_merge(b, c, x, y);
	}
	if (plan_grow((void **)&b->groups, &b->size_groups, b->n_groups + 1, sizeof(*b->groups)) <
	    0)
		return plan_no_memory(b->err);
	g.first_combo = g.last_combo = at;
	rc = plan_shown_variant(b, x->variant, x->settings, &g.shown_variant);
	b->groups[b->n_groups] = g;
	x->group = (uint32_t)b->n_groups++;
	t->at[h & t->mask] = x->group + 1;
	return rc;
}

/* Whether `exclude:` and `only:` leave out all that a boot would run; then that is counted. No boot
 * comes of it, which another request with the same list would have to share. */
static bool left_out(struct plan_builder *b, const struct plan_column *c,
		     const struct plan_combo *x)
{
	const struct plan_peer *p = &c->peers[x->peer];
	uint32_t i;

	if (b->job->pairwise || (b->job->n_excludes == 0 && b->job->n_onlys == 0))
		return false;
	for (i = 0; i < p->sets->n; i++) {
		const struct plan_set *s = &p->sets->items[i];
		const struct plan_ask q = {c,		p,	  x->kernel, x->lsm,   x->variant,
					   x->settings, s->entry, s->alt,    s->digits};

		if (!plan_excluded(b, &q))
			return false;
	}
	b->p->excluded += p->sets->n;
	return true;
}

int plan_make_groups(struct plan_builder *b, struct plan_column *c)
{
	uint32_t i;
	int rc = 0;

	/* one table serves all machines, emptied for each */
	if (!b->group_table.at || b->group_table.mask + 1 < 2 * b->n_combos)
		rc = plan_table_init(b, &b->group_table, b->n_combos);
	else
		memset(b->group_table.at, 0,
		       (b->group_table.mask + 1) * sizeof(*b->group_table.at));
	c->first_group = b->n_groups;
	for (i = 0; i < b->n_combos && rc == 0; i++)
		if (!left_out(b, c, &b->combos[i]))
			rc = place(b, c, &b->group_table, i);
	c->n_groups = b->n_groups - c->first_group;
	return rc;
}
