/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups (what one boot covers) and the cells in them. */
#include "coordinator/plan/plan_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmdline.h"
#include "coordinator/plan/lsm.h"
#include "coordinator/plan/warn.h"

/* ---- groups ---- */

static const char *base_of(const struct plan_machine *m)
{
	return m->base_cmdline ? m->base_cmdline : "";
}

/* Why a boot with this line cannot be made; *ret_reason NULL: it can. */
static int check_line(struct plan_builder *b, const struct plan_machine *m, const char *cmdline,
		      const char **ret_reason)
{
	const char *policy = m->initrd_policy;
	size_t base = strlen(base_of(m));
	size_t own = strlen(cmdline);
	size_t total = base + (base && own ? 1 : 0) + own + PLAN_BOOT_WORD_MAX;

	*ret_reason = NULL;
	if (total > KG_CMDLINE_MAX)
		*ret_reason =
			plan_text(b,
				  "the command line has %zu characters, %zu more than kexec "
				  "takes: %zu of machine '%s', %zu of the job, %zu for kgrid.boot=",
				  total, total - KG_CMDLINE_MAX, base, m->facts.name, own,
				  PLAN_BOOT_WORD_MAX);
	else if (policy && policy[0] && strcmp(policy, "overlay") != 0 &&
		 strcmp(policy, "none") != 0)
		*ret_reason =
			plan_text(b,
				  "initrd policy '%.64s' of machine '%s' is not known to this "
				  "version",
				  policy, m->facts.name);
	else
		return 0;
	return *ret_reason ? 0 : plan_no_memory(b->err);
}

/* Predicts the list for the whole line and takes over the warnings. */
static int predict(struct plan_builder *b, const struct plan_selected *k,
		   const struct plan_machine *m, struct plan_group *g)
{
	struct kg_str line = {0};
	struct lsm_list list;
	size_t i;
	int rc;

	kg_str_addf(&line, "%s %s", base_of(m), g->cmdline);
	rc = line.failed ? plan_no_memory(b->err)
			 : lsm_resolve(&k->lsm, kg_str_text(&line), &list, b->err);
	kg_str_deinit(&line);
	if (rc < 0)
		return kg_err_wrap(b->err, rc, "kernel '%s'", k->shown);
	g->effective = plan_text(b, "%s", list.effective);
	if (!g->effective)
		rc = plan_no_memory(b->err);
	for (i = 0; i < list.warnings.n && rc == 0; i++)
		rc = plan_add_warning(b, "%s", list.warnings.items[i]);
	lsm_list_deinit(&list);
	return rc;
}

static int fill_group(struct plan_builder *b, struct plan_group *g)
{
	const struct plan_machine *m = b->machines[g->machine];
	const struct plan_selected *k = &b->kernels[g->kernel];
	char *line = plan_boot_cmdline(base_of(m), b->job->cmdline, b->job->lsms[g->lsm].request);
	int rc;

	if (!line)
		return plan_no_memory(b->err);
	g->cmdline = kg_arena_text(b->memory, line, strlen(line));
	free(line);
	g->effective = "";
	if (!g->cmdline)
		return plan_no_memory(b->err);
	rc = check_line(b, m, g->cmdline, &g->infeasible);
	if (rc < 0)
		return rc;
	if (k->infeasible)
		g->infeasible = k->infeasible;
	/* without a config nothing can be predicted */
	return k->kernel->config ? predict(b, k, m, g) : 0;
}

static int add_merge(struct plan_builder *b, const struct plan_group *g,
		     const struct plan_group *into)
{
	struct plan *p = b->p;
	const struct plan_selected *k = &b->kernels[g->kernel];
	struct plan_merge *items = realloc(p->merges, (p->n_merges + 1) * sizeof(*items));
	struct plan_merge *x;

	if (!items)
		return plan_no_memory(b->err);
	p->merges = items;
	x = &items[p->n_merges];
	x->machine = plan_text(b, "%s", b->machines[g->machine]->facts.name);
	x->kernel = plan_text(b, "%s", k->kernel->digest);
	x->lsm = plan_text(b, "%s", b->job->lsms[g->lsm].label);
	x->into = plan_text(b, "%s", b->job->lsms[into->lsm].label);
	x->effective = into->effective;
	if (!x->machine || !x->kernel || !x->lsm || !x->into)
		return plan_no_memory(b->err);
	p->n_merges++;
	return plan_add_warning(
		b,
		"lsm '%s' gives the same list as '%s' on %s (%s): one boot, shown as "
		"'%s'",
		x->lsm, x->into, k->shown, x->effective, x->into);
}

/* All labels of one kernel on one machine; first_group is where its groups begin. */
static int make_kernel_groups(struct plan_builder *b, size_t machine, size_t kernel)
{
	size_t first_group = b->n_groups;
	size_t *map = &b->group_of[(machine * b->n_kernels + kernel) * b->job->n_lsms];
	size_t lsm, i;

	for (lsm = 0; lsm < b->job->n_lsms; lsm++) {
		struct plan_group *g = &b->groups[b->n_groups];
		int rc;

		g->machine = machine;
		g->kernel = kernel;
		g->lsm = lsm;
		rc = fill_group(b, g);
		if (rc < 0)
			return rc;
		for (i = first_group; i < b->n_groups; i++)
			if (!g->infeasible && !b->groups[i].infeasible &&
			    strcmp(b->groups[i].effective, g->effective) == 0)
				break;
		map[lsm] = i;
		if (i == b->n_groups)
			b->n_groups++;
		else
			rc = add_merge(b, g, &b->groups[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int plan_make_groups(struct plan_builder *b)
{
	size_t n = b->n_machines * b->n_kernels * b->job->n_lsms;
	size_t m, k;
	int rc = 0;

	b->groups = calloc(n, sizeof(*b->groups));
	b->group_of = calloc(n, sizeof(*b->group_of));
	if (!b->groups || !b->group_of)
		return plan_no_memory(b->err);
	for (m = 0; m < b->n_machines && rc == 0; m++)
		for (k = 0; k < b->n_kernels && rc == 0; k++)
			rc = make_kernel_groups(b, m, k);
	return rc;
}

/* ---- cells ---- */

static bool excluded(struct plan_builder *b, const struct plan_group *g, size_t lsm,
		     const struct plan_set *s)
{
	struct predicate_cell c = {
		.machine = &b->machines[g->machine]->facts,
		.kernel_label = b->kernels[g->kernel].kernel->label,
		.kernel_release = b->kernels[g->kernel].kernel->release,
		.lsm = b->job->lsms[lsm].label,
		.workload = s->workload->name,
		.params = &s->params,
	};
	bool out = false;
	size_t i;

	for (i = 0; i < b->job->n_excludes; i++) {
		if (!predicate_matches_cell(b->job->excludes[i].predicate, &c))
			continue;
		b->exclude_used[i] = true;
		out = true;
	}
	return out;
}

/* The first label of the group under which the cell is wanted. */
static bool wanted_label(struct plan_builder *b, size_t group, const struct plan_set *s,
			 size_t *ret_lsm)
{
	const struct plan_group *g = &b->groups[group];
	const size_t *map = &b->group_of[(g->machine * b->n_kernels + g->kernel) * b->job->n_lsms];
	bool found = false;
	size_t lsm;

	for (lsm = 0; lsm < b->job->n_lsms; lsm++) {
		if (map[lsm] != group || excluded(b, g, lsm, s) || found)
			continue;
		*ret_lsm = lsm;
		found = true;
	}
	return found;
}

static void hash_text(struct kg_sha256 *h, const char *text)
{
	kg_sha256_update(h, text, strlen(text) + 1);
}

/* What makes a cell the same cell in another job; labels, order and repeats do not. */
static int identify(struct plan_builder *b, struct plan_cell *c)
{
	struct kg_sha256 *h = kg_sha256_new();

	if (!h)
		return plan_no_memory(b->err);
	hash_text(h, "kgrid-cell 1");
	hash_text(h, c->machine);
	hash_text(h, c->kernel);
	hash_text(h, c->lsm_request);
	hash_text(h, c->cmdline);
	hash_text(h, c->workload);
	hash_text(h, c->workload_digest);
	hash_text(h, c->params);
	kg_sha256_final(h, c->identity);
	kg_sha256_free(h);
	return 0;
}

static const char *keep(struct plan_builder *b, const char *text)
{
	return kg_arena_text(b->memory, text, strlen(text));
}

static int add_cell(struct plan_builder *b, size_t group, size_t lsm, const struct plan_set *s,
		    const struct plan_cell *like)
{
	struct plan_group *g = &b->groups[group];
	struct plan_cell *c = &b->p->cells[b->p->n_cells];

	*c = *like;
	c->lsm_label = keep(b, b->job->lsms[lsm].label);
	c->lsm_order = (uint32_t)lsm;
	c->workload = keep(b, s->workload->name);
	c->workload_digest = s->digest;
	c->params = keep(b, s->text);
	c->timeout_s = s->timeout_s;
	c->workload_order = s->order;
	c->infeasible = g->infeasible ? g->infeasible : s->infeasible;
	c->run_ns = s->run_ns;
	c->group = group;
	if (!c->lsm_label || !c->workload || !c->params)
		return plan_no_memory(b->err);
	b->p->n_cells++;
	g->n_cells++;
	if (!c->infeasible) {
		g->feasible++;
		g->run_ns += c->run_ns;
	}
	return identify(b, c);
}

static int add_group_cells(struct plan_builder *b, size_t group)
{
	struct plan_group *g = &b->groups[group];
	const struct plan_selected *k = &b->kernels[g->kernel];
	const struct plan_sets *sets = &b->sets[g->machine];
	struct plan_cell like = {
		.machine = keep(b, b->machines[g->machine]->facts.name),
		.kernel = keep(b, k->kernel->digest),
		.kernel_label = k->shown,
		.lsm_request = keep(b, b->job->lsms[g->lsm].request),
		.lsm_effective = g->effective,
		.cmdline = g->cmdline,
		.iterations = b->job->iterations,
		.kernel_order = (uint32_t)g->kernel,
	};
	size_t lsm = 0;
	size_t i;

	if (!like.machine || !like.kernel || !like.lsm_request)
		return plan_no_memory(b->err);
	g->first_cell = b->p->n_cells;
	for (i = 0; i < sets->n; i++) {
		int rc;

		if (sets->items[i].duplicate)
			continue;
		if (!wanted_label(b, group, &sets->items[i], &lsm)) {
			b->p->excluded++;
			continue;
		}
		rc = add_cell(b, group, lsm, &sets->items[i], &like);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int warn_excludes(struct plan_builder *b)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < b->job->n_excludes && rc == 0; i++)
		if (!b->exclude_used[i])
			rc = plan_add_warning(b, "exclude: '%.160s' matches no cell",
					      b->job->excludes[i].text);
	if (rc == 0 && b->p->excluded > 0)
		rc = plan_add_warning(b, "exclude: %llu cells are left out",
				      (unsigned long long)b->p->excluded);
	return rc;
}

int plan_make_cells(struct plan_builder *b)
{
	size_t most = 0;
	size_t i;
	int rc = 0;

	for (i = 0; i < b->n_groups; i++)
		most += b->sets[b->groups[i].machine].n;
	b->p->cells = calloc(most, sizeof(*b->p->cells));
	b->exclude_used = calloc(b->job->n_excludes + 1, sizeof(*b->exclude_used));
	if (!b->p->cells || !b->exclude_used)
		return plan_no_memory(b->err);
	for (i = 0; i < b->n_groups && rc == 0; i++)
		rc = add_group_cells(b, i);
	if (rc == 0 && b->p->n_cells == 0)
		return job_spec_error(b->job, b->job->excludes[0].at, KG_EINVALID, b->err,
				      "'exclude' leaves out all %llu cells: nothing is left to run",
				      (unsigned long long)b->p->excluded);
	return rc < 0 ? rc : warn_excludes(b);
}
