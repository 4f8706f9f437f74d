/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cells of each group. Every cell of the whole product is counted once, as what becomes of it:
 * left out by a predicate; the first one that asks for what a cell measures, which is the cell; or
 * another that asks for the same: a duplicate under the same list, merged under another.
 */
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

/* ---- exclude and only ---- */

bool plan_excluded(struct plan_builder *b, const struct plan_ask *q)
{
	const struct job_spec *j = b->job;
	const struct plan_kernel *k = b->kernels[q->kernel].kernel;
	const struct plan_alt *a = &q->entry->alts[q->alt];
	struct kg_params params;
	struct predicate_cell c = {
		.machine = &q->column->machine->facts,
		.kernel_label = k->label,
		.kernel_release = k->release,
		.lsm = j->lsms[q->lsm].label,
		.workload = q->entry->workload->name,
		.params = &params,
		.decl = q->entry->decl,
		.cmdline_label = b->variants[q->variant].label,
		.cmdline_words = b->variants[q->variant].words,
		.settings = &b->settings[q->settings].params,
		.set = a->set ? a->set->name : NULL,
		.peer = q->peer->machine ? q->peer->machine->facts.name : NULL,
	};
	bool out = false;
	size_t i;

	if (j->n_excludes == 0 && j->n_onlys == 0)
		return false;
	params = plan_set_params(b, a, q->digits);
	for (i = 0; i < j->n_excludes; i++) {
		if (out && b->exclude_used[i])
			continue;
		if (!predicate_matches_cell(j->excludes[i].predicate, &c))
			continue;
		b->exclude_used[i] = true;
		out = true;
	}
	for (i = 0; i < j->n_onlys && !out; i++)
		out = !predicate_matches_cell(j->onlys[i].predicate, &c);
	return out;
}

static int warn_excludes(struct plan_builder *b)
{
	const struct job_spec *j = b->job;
	const char *key = j->n_onlys == 0      ? "exclude"
			  : j->n_excludes == 0 ? "only"
					       : "exclude and only";
	size_t i;
	int rc = 0;

	for (i = 0; i < j->n_excludes && rc == 0; i++)
		if (!b->exclude_used[i])
			rc = plan_add_warning(b, "exclude: '%.160s' matches no cell",
					      j->excludes[i].text);
	if (rc == 0 && b->p->excluded > 0)
		rc = plan_add_warning(b, "%s: %llu cell%s left out", key,
				      (unsigned long long)b->p->excluded,
				      b->p->excluded == 1 ? " is" : "s are");
	return rc;
}

static int nothing_left(struct plan_builder *b)
{
	const struct job_spec *j = b->job;
	const struct job_exclude *first = j->n_excludes ? &j->excludes[0] : &j->onlys[0];
	const char *key = j->n_onlys == 0      ? "'exclude' leaves"
			  : j->n_excludes == 0 ? "'only' leaves"
					       : "'exclude' and 'only' leave";

	return job_spec_error(j, first->at, KG_EINVALID, b->err,
			      "%s out all %llu cells: nothing is left to run", key,
			      (unsigned long long)b->p->excluded);
}

/* ---- identity ---- */

/* Digests that go on from each other: up to the group, up to the workload, the cell. */
struct identity {
	struct kg_sha256 *empty, *group, *workload, *cell;
};

static void identity_deinit(struct identity *x)
{
	kg_sha256_free(x->empty);
	kg_sha256_free(x->group);
	kg_sha256_free(x->workload);
	kg_sha256_free(x->cell);
}

static int identity_init(struct plan_builder *b, struct identity *x)
{
	x->empty = kg_sha256_new();
	x->group = kg_sha256_new();
	x->workload = kg_sha256_new();
	x->cell = kg_sha256_new();
	return x->empty && x->group && x->workload && x->cell ? 0 : plan_no_memory(b->err);
}

static void hash_text(struct kg_sha256 *h, const char *text)
{
	kg_sha256_update(h, text, strlen(text) + 1);
}

/* What makes a cell the same cell in another job; labels, order and repeats do not. */
static int begin_group(struct plan_builder *b, struct identity *x, const struct plan_cell *like)
{
	if (kg_sha256_copy(x->group, x->empty) < 0)
		return plan_no_memory(b->err);
	hash_text(x->group, "kgrid-cell 1");
	hash_text(x->group, like->machine);
	hash_text(x->group, like->kernel);
	hash_text(x->group, like->lsm_request);
	hash_text(x->group, like->cmdline);
	return 0;
}

static int begin_workload(struct plan_builder *b, struct identity *x, const char *workload,
			  const char *digest)
{
	if (kg_sha256_copy(x->workload, x->group) < 0)
		return plan_no_memory(b->err);
	hash_text(x->workload, workload);
	hash_text(x->workload, digest);
	return 0;
}

/* What cells of older releases do not have follows with its name in front, so that theirs stay. */
static int identify(struct plan_builder *b, struct identity *x, const struct plan_peer *p,
		    struct plan_cell *c)
{
	if (kg_sha256_copy(x->cell, x->workload) < 0)
		return plan_no_memory(b->err);
	hash_text(x->cell, c->params);
	if (c->settings[0]) {
		hash_text(x->cell, "settings");
		hash_text(x->cell, c->settings);
	}
	if (p->role) {
		hash_text(x->cell, "role");
		hash_text(x->cell, "client");
		hash_text(x->cell, c->peer);
	}
	if (c->canary)
		hash_text(x->cell, "canary");
	kg_sha256_final(x->cell, c->identity);
	return 0;
}

/* ---- one cell ---- */

struct filler { /* of one group */
	struct plan_builder *b;
	struct plan_column *column;
	const struct plan_peer *peer;
	struct plan_group *group;
	size_t index;
	struct plan_cell like;
	struct identity *identity;
	size_t last_workload; /* whose digest is in identity->workload */
};

static int new_cell(struct filler *f, struct plan_cell **ret)
{
	struct plan *p = f->b->p;

	if (plan_grow((void **)&p->cells, &f->b->size_cells, p->n_cells + 1, sizeof(*p->cells)) < 0)
		return plan_no_memory(f->b->err);
	*ret = &p->cells[p->n_cells++];
	**ret = f->like;
	f->group->n_cells++;
	return 0;
}

/* Which of the peer's workloads a set belongs to. */
static size_t workload_at(const struct filler *f, const struct plan_set *s)
{
	const struct job_workload *w = s->entry->workload;
	size_t at = f->last_workload < f->peer->n_workloads ? f->last_workload : 0;

	while (&f->b->job->workloads[f->peer->workloads[at]] != w)
		at = at + 1 < f->peer->n_workloads ? at + 1 : 0;
	return at;
}

static int add_cell(struct filler *f, uint32_t lsm, const struct plan_set *s)
{
	struct plan_builder *b = f->b;
	struct plan_group *g = f->group;
	size_t at = workload_at(f, s);
	const char *digest = f->peer->digests[at];
	struct plan_cell *c;
	int rc = new_cell(f, &c);

	if (rc < 0)
		return rc;
	c->lsm_label = b->lsm_labels[lsm];
	c->lsm_order = lsm;
	c->workload = b->workload_names[s->entry->workload - b->job->workloads];
	c->workload_digest = digest;
	c->params = s->text;
	c->timeout_s = s->timeout_s;
	c->workload_order = s->order;
	c->infeasible = g->infeasible ? g->infeasible : f->peer->reasons[at];
	c->run_ns = s->run_ns;
	if (!c->infeasible) {
		c->run_ns = plan_run_ns(b, f->column, c->workload, c->params, s->run_ns);
		g->feasible++;
		g->run_ns = plan_plus(g->run_ns, c->run_ns);
	}
	if (at != f->last_workload)
		rc = begin_workload(b, f->identity, c->workload, digest);
	f->last_workload = at;
	return rc < 0 ? rc : identify(b, f->identity, f->peer, c);
}

/* The canary stands first in its group; whether the group boots at all shows later. */
static int add_canary(struct filler *f)
{
	const struct plan_column *col = f->column;
	struct plan_cell *c;
	int rc;

	if (!col->canary || f->group->infeasible)
		return 0;
	rc = new_cell(f, &c);
	if (rc < 0)
		return rc;
	c->lsm_label = f->b->lsm_labels[f->group->lsm];
	c->lsm_order = f->group->lsm;
	c->workload = f->b->canary_name ? f->b->canary_name : col->canary->workload->name;
	c->workload_digest = col->canary_digest;
	c->params = col->canary_set.text;
	c->timeout_s = col->canary_set.timeout_s;
	c->workload_order = UINT32_MAX; /* behind what was asked for, in tables */
	c->canary = true;
	c->run_ns = plan_run_ns(f->b, f->column, c->workload, c->params, col->canary_set.run_ns);
	f->group->canary = true;
	rc = begin_workload(f->b, f->identity, c->workload, col->canary_digest);
	return rc < 0 ? rc : identify(f->b, f->identity, f->peer, c);
}

/* A group where nothing can run is not booted for the canary. */
static void drop_canary(struct filler *f)
{
	struct plan *p = f->b->p;
	struct plan_group *g = f->group;

	if (!g->canary)
		return;
	if (g->feasible > 0) {
		p->canaries++;
		return;
	}
	g->canary = false;
	g->n_cells--;
	p->n_cells--;
	memmove(&p->cells[g->first_cell], &p->cells[g->first_cell + 1],
		g->n_cells * sizeof(*p->cells));
}

/* ---- a group of the whole product ---- */

/* All that ask for the same as one set of the group: who is first is the cell. */
static int add_set(struct filler *f, struct plan_sets *sets, uint32_t first)
{
	struct plan_builder *b = f->b;
	const struct plan_set *cell = NULL;
	uint32_t lsm = 0, combo, s;

	for (combo = f->group->first_combo + 1; combo; combo = b->combos[combo - 1].next) {
		const struct plan_combo *x = &b->combos[combo - 1];

		for (s = first + 1; s; s = sets->items[s - 1].next) {
			const struct plan_set *set = &sets->items[s - 1];
			const struct plan_ask q = {f->column,  f->peer,	   x->kernel,
						   x->lsm,     x->variant, x->settings,
						   set->entry, set->alt,   set->digits};

			if (plan_excluded(b, &q)) {
				b->p->excluded++;
			} else if (!cell) {
				cell = set;
				lsm = x->lsm;
			} else if (x->lsm == lsm) {
				b->p->duplicates++;
			} else {
				b->p->merged++;
			}
		}
	}
	return cell ? add_cell(f, lsm, cell) : 0;
}

static int fill_full(struct filler *f)
{
	struct plan_sets *sets = f->peer->sets;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < sets->n && rc == 0; i++)
		if (sets->items[i].first == i)
			rc = add_set(f, sets, i);
	return rc;
}

/* ---- a group of chosen cells ---- */

struct wanted {
	uint32_t first, order, set, lsm;
};

static int by_set(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static size_t collect(const struct plan_builder *b, const struct plan_group *g,
		      const struct plan_sets *sets, struct wanted *w)
{
	uint32_t combo;
	size_t i, n = 0;

	for (combo = g->first_combo + 1; combo; combo = b->combos[combo - 1].next) {
		const struct plan_combo *x = &b->combos[combo - 1];

		for (i = 0; i < x->n_sets; i++, n++) {
			uint32_t set = b->chosen[x->first_set + i];

			if (w)
				w[n] = (struct wanted){sets->items[set].first, (uint32_t)n, set,
						       x->lsm};
		}
	}
	return n;
}

static int fill_chosen(struct filler *f)
{
	struct plan_builder *b = f->b;
	const struct plan_sets *sets = f->peer->sets;
	size_t n = collect(b, f->group, sets, NULL);
	struct wanted *w = calloc(n + 1, sizeof(*w));
	size_t i;
	int rc = 0;

	if (!w)
		return plan_no_memory(b->err);
	(void)collect(b, f->group, sets, w);
	qsort(w, n, sizeof(*w), by_set);
	for (i = 0; i < n && rc == 0; i++) {
		size_t first = i;

		rc = add_cell(f, w[i].lsm, &sets->items[w[i].set]);
		for (; i + 1 < n && w[i + 1].first == w[first].first; i++) {
			if (w[i + 1].lsm == w[first].lsm)
				b->p->duplicates++;
			else
				b->p->merged++;
		}
	}
	free(w);
	return rc;
}

/* ---- all ---- */

static int fill_group(struct plan_builder *b, struct plan_column *c, size_t index,
		      struct identity *identity)
{
	struct plan_group *g = &b->groups[index];
	const struct plan_selected *k = &b->kernels[g->kernel];
	const struct plan_peer *p = &c->peers[g->peer];
	struct filler f = {
		.b = b,
		.column = c,
		.peer = p,
		.group = g,
		.index = index,
		.identity = identity,
		.last_workload = SIZE_MAX,
		.like =
			{
				.machine = c->name,
				.kernel = k->digest,
				.kernel_label = k->shown,
				.lsm_request = b->lsm_requests[g->lsm],
				.lsm_effective = g->effective,
				.cmdline = g->cmdline,
				.variant = g->shown_variant,
				.settings = b->settings[g->settings].text,
				.peer = p->machine ? b->columns[b->column_at[p->machine -
									     b->in->machines] -
								1]
							     .name
						   : "",
				.leave_by_reboot = g->leave,
				.iterations = b->job->iterations,
				.kernel_order = g->kernel,
				.group = index,
			},
	};
	int rc = begin_group(b, identity, &f.like);

	g->first_cell = b->p->n_cells;
	if (rc == 0)
		rc = add_canary(&f);
	if (rc == 0)
		rc = b->job->pairwise ? fill_chosen(&f) : fill_full(&f);
	if (rc == 0)
		drop_canary(&f);
	return rc;
}

static int fill_column(struct plan_builder *b, struct plan_column *c, struct identity *identity)
{
	size_t i;
	int rc;

	b->p->full = plan_plus(b->p->full, plan_full_of(b, c));
	c->n_settings_reasons = b->job->pairwise ? 0 : (size_t)plan_settings_count(b->job);
	c->settings_reasons = plan_scratch(b, c->n_settings_reasons + 1, sizeof(char *));
	if (!c->settings_reasons)
		return plan_no_memory(b->err);
	rc = b->job->pairwise ? plan_pairwise_combos(b, c) : plan_full_combos(b, c);
	if (rc == 0)
		rc = plan_make_groups(b, c);
	for (i = 0; i < c->n_groups && rc == 0; i++)
		rc = fill_group(b, c, c->first_group + i, identity);
	return rc;
}

/* Texts of the job that cells share. */
static int keep_texts(struct plan_builder *b)
{
	const struct job_spec *j = b->job;
	size_t i;

	b->lsm_labels = plan_scratch(b, j->n_lsms, sizeof(*b->lsm_labels));
	b->lsm_requests = plan_scratch(b, j->n_lsms, sizeof(*b->lsm_requests));
	b->workload_names = plan_scratch(b, j->n_workloads, sizeof(*b->workload_names));
	b->exclude_used = plan_scratch(b, j->n_excludes + 1, sizeof(*b->exclude_used));
	if (!b->lsm_labels || !b->lsm_requests || !b->workload_names || !b->exclude_used)
		return plan_no_memory(b->err);
	for (i = 0; i < j->n_lsms; i++) {
		b->lsm_labels[i] = plan_keep(b, j->lsms[i].label);
		b->lsm_requests[i] = plan_keep(b, j->lsms[i].request);
		if (!b->lsm_labels[i] || !b->lsm_requests[i])
			return plan_no_memory(b->err);
	}
	for (i = 0; i < j->n_workloads; i++) {
		b->workload_names[i] = plan_keep(b, j->workloads[i].name);
		if (!b->workload_names[i])
			return plan_no_memory(b->err);
	}
	if (j->canary)
		b->canary_name = plan_keep(b, j->canary->name);
	return j->canary && !b->canary_name ? plan_no_memory(b->err) : 0;
}

int plan_make_cells(struct plan_builder *b)
{
	struct identity identity = {0};
	size_t i;
	int rc = keep_texts(b);

	if (rc == 0)
		rc = identity_init(b, &identity);
	for (i = 0; i < b->n_own && rc == 0; i++)
		rc = fill_column(b, &b->columns[i], &identity);
	identity_deinit(&identity);
	if (rc == 0 && b->p->n_cells == 0)
		return nothing_left(b);
	return rc < 0 ? rc : warn_excludes(b);
}
