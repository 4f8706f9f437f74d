/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long it takes, and what it can show: from history where there is any. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/power.h"
#include "coordinator/plan/plan_internal.h"

#define POWER		0.8
#define ALPHA		0.01
#define MIN_HISTORY	3	/* boots from which a variance is one */
#define RANK_EFFICIENCY 0.95493 /* 3 / pi: analysis/power.h */

/* ---- history ---- */

static uint64_t pace_hash(const char *machine, const char *workload, const char *params)
{
	uint64_t h = plan_hash_text(plan_hash_text(plan_hash_text(0, machine), workload), params);

	return plan_hash_number(0, h);
}

static bool usable(double seconds)
{
	return isfinite(seconds) && seconds > 0 && seconds < 1e9;
}

int plan_index_history(struct plan_builder *b)
{
	const struct plan_history *h = &b->in->history;
	size_t i, k;
	int rc;

	for (i = 0; i < h->n_hops; i++)
		for (k = 0; k < b->n_columns; k++)
			if (usable(h->hops[i].seconds) &&
			    strcmp(h->hops[i].machine, b->columns[k].name) == 0) {
				b->columns[k].hop_s = h->hops[i].seconds;
				b->columns[k].hop_boots = h->hops[i].boots;
			}
	if (h->n_paces == 0)
		return 0;
	b->pace_used = plan_scratch(b, h->n_paces, sizeof(*b->pace_used));
	rc = b->pace_used ? plan_table_init(b, &b->paces, h->n_paces) : plan_no_memory(b->err);
	for (i = 0; i < h->n_paces && rc == 0; i++) {
		const struct plan_pace *p = &h->paces[i];
		uint64_t at = pace_hash(p->machine, p->workload, p->params);

		if (!usable(p->iteration_s))
			continue;
		while (b->paces.at[at & b->paces.mask])
			at++;
		b->paces.at[at & b->paces.mask] = (uint32_t)i + 1;
	}
	return rc;
}

uint64_t plan_run_ns(struct plan_builder *b, struct plan_column *c, const char *workload,
		     const char *params, uint64_t declared_ns)
{
	const struct plan_pace *p;
	uint64_t at;
	size_t i;

	if (b->in->history.n_paces == 0) {
		c->declared_runs = true;
		return declared_ns;
	}
	for (at = pace_hash(c->name, workload, params); b->paces.at[at & b->paces.mask]; at++) {
		i = b->paces.at[at & b->paces.mask] - 1;
		p = &b->in->history.paces[i];
		if (strcmp(p->params, params) != 0 || strcmp(p->workload, workload) != 0 ||
		    strcmp(p->machine, c->name) != 0)
			continue;
		if (!b->pace_used[i])
			c->pace_runs += p->attempts;
		b->pace_used[i] = true;
		/* a run's time has its warm-up in it */
		return (uint64_t)(p->iteration_s * (double)b->job->iterations * 1e9);
	}
	c->declared_runs = true;
	return declared_ns;
}

double plan_hop_s(struct plan_builder *b, struct plan_column *c, const struct plan_peer *peer)
{
	double own = usable(c->hop_s) ? c->hop_s : PLAN_HOP_S;
	double other = 0;

	if (peer->machine) {
		const struct plan_column *s =
			&b->columns[b->column_at[peer->machine - b->in->machines] - 1];

		other = usable(s->hop_s) ? s->hop_s : PLAN_HOP_S;
	}
	return own > other ? own : other;
}

#define PLURAL(n) ((n) == 1 ? "" : "s")

static const char *estimate_text(struct plan_builder *b, const struct plan_column *c,
				 const struct plan_machine_sum *sum)
{
	const char *rest = c->declared_runs ? ", declared defaults of other runs" : "";

	if (sum->boots == 0 && sum->seconds > 0)
		return plan_text(b, "as its clients'");
	if (c->hop_boots && c->pace_runs)
		return plan_text(b, "history of %llu boot%s and %llu run%s%s",
				 (unsigned long long)c->hop_boots, PLURAL(c->hop_boots),
				 (unsigned long long)c->pace_runs, PLURAL(c->pace_runs), rest);
	if (c->hop_boots)
		return plan_text(b, "history of %llu boot%s, declared defaults of runs",
				 (unsigned long long)c->hop_boots, PLURAL(c->hop_boots));
	if (c->pace_runs)
		return plan_text(b, "history of %llu run%s%s, %d s a boot",
				 (unsigned long long)c->pace_runs, PLURAL(c->pace_runs), rest,
				 PLAN_HOP_S);
	return plan_text(b, "declared defaults");
}

int plan_estimate_machines(struct plan_builder *b)
{
	size_t i;

	for (i = 0; i < b->p->n_machines; i++) {
		b->p->machines[i].estimate = estimate_text(b, &b->columns[i], &b->p->machines[i]);
		if (!b->p->machines[i].estimate)
			return plan_no_memory(b->err);
	}
	return 0;
}

/* ---- what can be detected ---- */

struct detection {
	struct plan_builder *b;
	struct plan_column *column;
	struct plan_table used; /* texts of parameters of cells that run, by address */
	const char **texts;	/* of `used` */
	size_t n_texts;
	struct plan_table spreads;   /* of the history */
	struct plan_interned listed; /* metrics of this machine that have an entry */
	size_t size;
	size_t unknown;
	double effect_sd; /* NAN: too few boots */
	const char *few;  /* then: why */
};

static uint64_t spread_hash(const char *machine, const char *workload, const char *params,
			    const char *metric)
{
	return plan_hash_number(0, plan_hash_text(pace_hash(machine, workload, params), metric));
}

static int index_spreads(struct detection *d)
{
	const struct plan_history *h = &d->b->in->history;
	size_t i;
	int rc = plan_table_init(d->b, &d->spreads, h->n_spreads);

	for (i = 0; i < h->n_spreads && rc == 0; i++) {
		const struct plan_spread *s = &h->spreads[i];
		uint64_t at = spread_hash(s->machine, s->workload, s->params, s->metric);

		while (d->spreads.at[at & d->spreads.mask])
			at++;
		d->spreads.at[at & d->spreads.mask] = (uint32_t)i + 1;
	}
	return rc;
}

static const struct plan_spread *find_spread(const struct detection *d, const char *workload,
					     const char *params, const char *metric)
{
	uint64_t at = spread_hash(d->column->name, workload, params, metric);

	for (; d->spreads.at[at & d->spreads.mask]; at++) {
		const struct plan_spread *s =
			&d->b->in->history.spreads[d->spreads.at[at & d->spreads.mask] - 1];

		if (strcmp(s->machine, d->column->name) == 0 &&
		    strcmp(s->workload, workload) == 0 && strcmp(s->params, params) == 0 &&
		    strcmp(s->metric, metric) == 0)
			return s;
	}
	return NULL;
}

static int fill_entry(struct detection *d, const struct plan_spread *s, struct plan_detectable *x)
{
	struct plan_builder *b = d->b;

	x->pct = NAN;
	x->between_cov_pct = s ? s->between_cov_pct : NAN;
	x->boots = s ? s->boots : 0;
	x->note = "";
	if (!s)
		x->note = "no history of it on this machine";
	else if (s->boots < MIN_HISTORY)
		x->note = plan_text(b, "history of %u boots: %d are the least", s->boots,
				    MIN_HISTORY);
	else if (!(s->between_cov_pct >= 0) || !isfinite(s->between_cov_pct))
		x->note = "the history has no variance";
	else if (isnan(d->effect_sd))
		x->note = d->few;
	else
		x->pct = d->effect_sd * s->between_cov_pct;
	return x->note ? 0 : plan_no_memory(b->err);
}

static int add_metric(struct detection *d, const struct plan_set *s, const char *metric)
{
	struct plan_builder *b = d->b;
	const char *workload = b->workload_names[s->entry->workload - b->job->workloads];
	const struct plan_spread *spread = find_spread(d, workload, s->text, metric);
	struct plan_detectable *x;
	uint32_t index, known = d->listed.n;
	struct kg_str key = {0};
	int rc;

	if (!spread && d->unknown >= PLAN_MAX_DETECTABLE)
		return 0;
	kg_str_addf(&key, "%s\n%s\n%s", workload, s->text, metric);
	rc = key.failed ? plan_no_memory(b->err)
			: plan_intern(b, &d->listed, kg_str_text(&key), &index);
	kg_str_deinit(&key);
	if (rc < 0 || index < known)
		return rc; /* with another server, or by another of its definitions */
	if (plan_grow((void **)&b->p->detectable, &d->size, b->p->n_detectable + 1,
		      sizeof(*b->p->detectable)) < 0)
		return plan_no_memory(b->err);
	x = &b->p->detectable[b->p->n_detectable++];
	memset(x, 0, sizeof(*x));
	x->machine = d->column->name;
	x->workload = workload;
	x->params = s->text;
	x->metric = plan_keep(b, metric);
	d->unknown += spread == NULL;
	return x->metric ? fill_entry(d, spread, x) : plan_no_memory(b->err);
}

static int add_set(struct detection *d, const struct plan_set *s)
{
	const struct kg_workload *decl = s->entry->decl;
	const struct plan_alt *a = &s->entry->alts[s->alt];
	size_t i;
	int rc = 0;

	for (i = 0; i < decl->n_metrics && rc == 0; i++) {
		const struct kg_params params = plan_set_params(d->b, a, s->digits);

		if (decl->metrics[i].direction != KG_DIR_NONE &&
		    kg_metric_applies(&decl->metrics[i], &params))
			rc = add_metric(d, s, decl->metrics[i].name);
	}
	return rc;
}

/* Address in the table, or the free one where it belongs. */
static uint32_t *find_text(const struct detection *d, const char *text)
{
	uint64_t h = plan_hash_number(0, (uint64_t)(uintptr_t)text);
	uint32_t *at;

	for (; *(at = &d->used.at[h & d->used.mask]); h++)
		if (d->texts[*at - 1] == text)
			break;
	return at;
}

static void note_used(struct detection *d)
{
	const struct plan_builder *b = d->b;
	const struct plan_column *c = d->column;
	size_t g, i;

	memset(d->used.at, 0, (d->used.mask + 1) * sizeof(*d->used.at));
	d->n_texts = 0;
	for (g = c->first_group; g < c->first_group + c->n_groups; g++) {
		for (i = 0; i < b->groups[g].n_cells; i++) {
			const struct plan_cell *x = &b->p->cells[b->groups[g].first_cell + i];
			uint32_t *at;

			if (x->infeasible || x->canary)
				continue;
			at = find_text(d, x->params);
			if (*at)
				continue;
			d->texts[d->n_texts++] = x->params;
			*at = (uint32_t)d->n_texts;
		}
	}
}

static int add_column(struct detection *d)
{
	const struct plan_column *c = d->column;
	size_t i, k;
	int rc = 0;

	if (d->unknown >= PLAN_MAX_DETECTABLE && d->b->in->history.n_spreads == 0)
		return 0;
	note_used(d);
	free(d->listed.texts);
	d->listed = (struct plan_interned){0};
	for (i = 0; i < c->n_peers && rc == 0; i++) {
		const struct plan_sets *s = c->peers[i].sets;

		for (k = 0; s && k < s->n && rc == 0; k++) {
			if (d->unknown >= PLAN_MAX_DETECTABLE && d->b->in->history.n_spreads == 0)
				return 0;
			if (*find_text(d, s->items[k].text))
				rc = add_set(d, &s->items[k]);
		}
	}
	return rc;
}

static int prepare(struct detection *d)
{
	struct plan_builder *b = d->b;
	struct kg_err why = {{0}};
	size_t most = 0, i, n = 0, g = 0;

	for (i = 0; i<b->n_own; i++, most = n> most ? n : most, n = 0)
		for (; g < b->columns[i].first_group + b->columns[i].n_groups; g++)
			n += b->groups[g].n_cells;
	d->texts = plan_scratch(b, most + 1, sizeof(*d->texts));
	if (!d->texts)
		return plan_no_memory(b->err);
	d->effect_sd = NAN;
	d->few = plan_text(b, "%u boots a side cannot decide anything: %d are the least",
			   b->p->blocks, JOB_BOOTS);
	if (!d->few)
		return plan_no_memory(b->err);
	if (b->p->blocks >= JOB_BOOTS && stats_power_effect(b->p->blocks * RANK_EFFICIENCY, POWER,
							    ALPHA, &d->effect_sd, &why) < 0)
		d->effect_sd = NAN;
	return plan_table_init(b, &d->used, most);
}

int plan_list_detectable(struct plan_builder *b)
{
	struct detection d = {.b = b};
	size_t i;
	int rc = prepare(&d);

	if (rc == 0)
		rc = index_spreads(&d);
	for (i = 0; i < b->n_own && rc == 0; i++) {
		d.column = &b->columns[i];
		rc = add_column(&d);
	}
	free(d.listed.texts);
	return rc;
}
