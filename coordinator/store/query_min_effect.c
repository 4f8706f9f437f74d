/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest effects that matter: by the machines' own A/A runs, else as workloads declare. A profile takes a tenth of a
 * second, comparisons are asked for often and A/A runs come seldom: what was worked out is kept with
 * the pool of connections, by machine, workload and parameters, for as long as the values are the same.
 */
#include "coordinator/store/query_min_effect.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/report/noise_report.h"

#define ENTRIES_MAX 4096 /* then all are forgotten */

/* One machine x workload x parameters. */
struct entry {
	const char *machine, *workload, *params;
	uint64_t values; /* their digest; texts and effects are in the cache's arena */
	struct report_min_effect *effects;
	size_t n_effects;
};

struct min_effect_cache {
	pthread_mutex_t mutex;
	struct arena arena;
	struct entry *entries;
	size_t n;
};

struct min_effect_cache *min_effect_cache_new(void)
{
	struct min_effect_cache *c = calloc(1, sizeof(*c));

	if (c)
		pthread_mutex_init(&c->mutex, NULL);
	return c;
}

void min_effect_cache_free(struct min_effect_cache *c)
{
	if (!c)
		return;
	pthread_mutex_destroy(&c->mutex);
	arena_deinit(&c->arena);
	free(c);
}

/* ---- groups of A/A values ---- */

struct group {
	const struct report_cell *cell; /* the first of it */
	uint64_t values;
	bool known;
};

struct work {
	struct rows aa;
	struct group *groups;
	size_t n_groups;
	size_t *group_of; /* by cell of aa */
};

static bool alike(const struct report_cell *x, const struct report_cell *y)
{
	return strcmp(x->machine, y->machine) == 0 && strcmp(x->workload, y->workload) == 0 &&
	       strcmp(x->params, y->params) == 0;
}

/* Only cells of A/A runs that belong to what is compared. */
static void keep_alike(struct rows *aa, const struct rows *r)
{
	size_t n = 0;

	for (size_t i = 0; i < aa->n_raw; i++) {
		size_t j = 0;

		while (j < r->n_cells && !alike(&aa->raw[i].cell, &r->cells[j]))
			j++;
		if (j < r->n_cells)
			aa->raw[n++] = aa->raw[i];
	}
	aa->n_raw = n;
}

static uint64_t mix(uint64_t h, const void *bytes, size_t len) /* FNV-1a */
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3ULL;
	return h;
}

static uint64_t mix_value(uint64_t h, const struct rows *aa, const struct report_value *v)
{
	const struct report_cell *c = &aa->cells[v->cell];

	h = mix(h, &v->boot, sizeof(v->boot));
	h = mix(h, &v->value, sizeof(v->value));
	h = mix(h, &v->epoch, sizeof(v->epoch));
	h = mix(h, &v->time_ns, sizeof(v->time_ns));
	h = mix(h, &aa->metric_ids[v->metric], sizeof(aa->metric_ids[v->metric]));
	h = mix(h, c->kernel_digest, strlen(c->kernel_digest) + 1);
	h = mix(h, c->lsm, strlen(c->lsm) + 1);
	h = mix(h, c->settings, strlen(c->settings) + 1);
	return mix(h, c->lsm_effective, strlen(c->lsm_effective) + 1);
}

static int make_groups(struct work *w, struct kg_err *err)
{
	struct rows *aa = &w->aa;

	w->group_of = arena_alloc(&aa->arena, aa->n_cells + 1, sizeof(*w->group_of));
	for (size_t i = 0; w->group_of && i < aa->n_cells; i++) {
		struct group *g = NULL;
		size_t j = 0;

		while (j < w->n_groups && !alike(w->groups[j].cell, &aa->cells[i]))
			j++;
		w->group_of[i] = j;
		if (j == w->n_groups)
			g = arena_push(&aa->arena, &w->groups, &w->n_groups, sizeof(*g));
		if (g)
			*g = (struct group){.cell = &aa->cells[i], .values = 0xcbf29ce484222325ULL};
		if (aa->arena.failed)
			break;
	}
	if (aa->arena.failed)
		return reply_oom(err);
	for (size_t i = 0; i < aa->n_values; i++) {
		struct group *g = &w->groups[w->group_of[aa->values[i].cell]];

		g->values = mix_value(g->values, aa, &aa->values[i]);
	}
	return 0;
}

/* ---- what is known ---- */

static int add_effects(struct arena *a, const struct report_min_effect *from, size_t n,
		       struct report_min_effect **ret, size_t *ret_n)
{
	for (size_t i = 0; i < n; i++) {
		struct report_min_effect *e = arena_push(a, ret, ret_n, sizeof(*e));

		if (!e)
			break;
		*e = from[i];
		e->machine = arena_text(a, from[i].machine);
		e->workload = arena_text(a, from[i].workload);
		e->params = arena_text(a, from[i].params);
		e->metric = arena_text(a, from[i].metric);
		e->unit = arena_text(a, from[i].unit);
	}
	return a->failed ? -ENOMEM : 0;
}

static struct entry *find_entry(struct min_effect_cache *c, const struct group *g)
{
	for (size_t i = 0; i < c->n; i++) {
		struct entry *e = &c->entries[i];

		if (e->values == g->values && strcmp(e->machine, g->cell->machine) == 0 &&
		    strcmp(e->workload, g->cell->workload) == 0 &&
		    strcmp(e->params, g->cell->params) == 0)
			return e;
	}
	return NULL;
}

static int take_known(struct min_effect_cache *c, struct work *w, struct rows *r,
		      struct report_min_effect **ret, size_t *ret_n)
{
	int rc = 0;

	pthread_mutex_lock(&c->mutex);
	for (size_t i = 0; rc == 0 && i < w->n_groups; i++) {
		const struct entry *e = find_entry(c, &w->groups[i]);

		w->groups[i].known = e != NULL;
		if (e)
			rc = add_effects(&r->arena, e->effects, e->n_effects, ret, ret_n);
	}
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

static void forget(struct min_effect_cache *c)
{
	arena_deinit(&c->arena);
	c->arena = (struct arena){0};
	c->entries = NULL;
	c->n = 0;
}

static void keep_group(struct min_effect_cache *c, const struct group *g,
		       const struct report_min_effect *all, size_t n)
{
	struct arena *a = &c->arena;
	struct entry *e = arena_push(a, &c->entries, &c->n, sizeof(*e));

	if (!e)
		return;
	e->values = g->values;
	e->machine = arena_text(a, g->cell->machine);
	e->workload = arena_text(a, g->cell->workload);
	e->params = arena_text(a, g->cell->params);
	for (size_t i = 0; i < n; i++) {
		if (kg_streq(all[i].machine, g->cell->machine) &&
		    kg_streq(all[i].workload, g->cell->workload) &&
		    kg_streq(all[i].params, g->cell->params))
			(void)add_effects(a, &all[i], 1, &e->effects, &e->n_effects);
	}
}

static int keep(struct min_effect_cache *c, const struct work *w,
		const struct report_min_effect *all, size_t n)
{
	int rc = 0;

	pthread_mutex_lock(&c->mutex);
	for (size_t i = 0; i < w->n_groups; i++) {
		if (c->n >= ENTRIES_MAX)
			forget(c);
		if (!w->groups[i].known && !c->arena.failed)
			keep_group(c, &w->groups[i], all, n);
	}
	if (c->arena.failed) {
		forget(c);
		rc = -ENOMEM;
	}
	pthread_mutex_unlock(&c->mutex);
	return rc;
}

/* ---- what is not ---- */

static int work_out(struct min_effect_cache *c, struct work *w, struct rows *r,
		    struct report_min_effect **ret, size_t *ret_n, struct kg_err *err)
{
	Kgrid__V1__NoiseReply *noise = reply_new(&kgrid__v1__noise_reply__descriptor);
	struct rows *aa = &w->aa;
	struct report_min_effect *made = NULL;
	struct report_input in;
	struct noise_input what = {.rows = &in};
	size_t n = 0, n_made = 0;
	int rc = noise ? 0 : -ENOMEM;

	for (size_t i = 0; i < aa->n_values; i++) {
		if (!w->groups[w->group_of[aa->values[i].cell]].known)
			aa->values[n++] = aa->values[i];
	}
	aa->n_values = n;
	rows_input(aa, &in);
	if (rc == 0 && n)
		rc = report_noise(&what, noise, err);
	if (rc == 0 && n)
		rc = report_noise_min_effects(noise, &made, &n_made);
	if (rc == 0 && n)
		rc = keep(c, w, made, n_made);
	if (rc == 0)
		rc = add_effects(&r->arena, made, n_made, ret, ret_n);
	free(made);
	reply_free(noise);
	return rc;
}

/* ---- what is declared ---- */

/* Until the machine's own A/A runs say otherwise. Cells come by machine, workload and parameters
 * several times, once for each kernel and list: the last one counts. */
static int add_declared(struct rows *r, struct report_min_effect **ret, size_t *ret_n)
{
	for (size_t i = r->n_declared; i > 0; i--) {
		const struct row_declared *d = &r->declared[i - 1];
		const struct report_cell *c = &r->cells[d->cell];
		const struct report_metric *m = &r->metrics[d->metric];
		struct report_min_effect *e = NULL;

		for (size_t j = 0; !e && j < *ret_n; j++) {
			struct report_min_effect *x = &(*ret)[j];

			if (strcmp(x->machine, c->machine) == 0 &&
			    strcmp(x->workload, c->workload) == 0 &&
			    strcmp(x->params, c->params) == 0 && strcmp(x->metric, m->name) == 0 &&
			    (!x->unit || strcmp(x->unit, m->unit) == 0))
				e = x;
		}
		if (e)
			continue; /* measured, or declared by a newer attempt */
		e = arena_push(&r->arena, ret, ret_n, sizeof(*e));
		if (!e)
			return -ENOMEM;
		*e = (struct report_min_effect){.machine = c->machine,
						.workload = c->workload,
						.params = c->params,
						.metric = m->name,
						.unit = m->unit,
						.pct = d->min_effect_pct};
	}
	return 0;
}

int read_min_effects(struct min_effect_cache *c, struct db *db, struct rows *r,
		     struct report_min_effect **ret, size_t *ret_n, struct kg_err *err)
{
	struct work w = {.aa = {.filter = {.calibrate = true}}};
	int rc = rows_read_cells(db, &w.aa, err);

	if (rc == 0) {
		keep_alike(&w.aa, r);
		rc = rows_read_values(db, &w.aa, err);
	}
	if (rc == 0)
		rc = make_groups(&w, err);
	if (rc == 0)
		rc = take_known(c, &w, r, ret, ret_n);
	if (rc == 0)
		rc = work_out(c, &w, r, ret, ret_n, err);
	if (rc == 0)
		rc = add_declared(r, ret, ret_n);
	rows_deinit(&w.aa);
	return rc == -ENOMEM ? reply_oom(err) : rc;
}
