/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/detect/sighting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/analysis/verdict.h"

static const char *text_of(const char *s)
{
	return s ? s : "";
}

/* ---- questions ---- */

struct labels {
	const char **items;
	size_t n;
};

static void labels_add(struct labels *l, const char *label)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->items[i], label) == 0)
			return;
	l->items[l->n++] = label;
}

static const char *printed(struct kg_arena *a, const char *before, const char *label,
			   const char *after)
{
	size_t len = strlen(before) + strlen(label) + strlen(after);
	char *text = kg_arena_alloc(a, len + 1);

	if (text)
		(void)snprintf(text, len + 1, "%s%s%s", before, label, after);
	return text;
}

int sighting_questions(const Kgrid__V1__CompareReply *overview, struct kg_arena *a,
		       struct sighting_questions *ret)
{
	const Kgrid__V1__CompareTable *t;
	struct labels kernels = {0}, lsms = {0};
	struct sighting_questions q = {0};

	*ret = q;
	if (overview->n_tables == 0)
		return 0;
	t = overview->tables[0]; /* all tables of a job have the same columns */
	kernels.items = kg_arena_alloc(a, (t->n_columns + 1) * sizeof(char *));
	lsms.items = kg_arena_alloc(a, (t->n_columns + 1) * sizeof(char *));
	q.items = kg_arena_alloc(a, (2 * t->n_columns + 1) * sizeof(*q.items));
	if (!kernels.items || !lsms.items || !q.items)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_columns; i++) {
		labels_add(&kernels, text_of(t->columns[i]->kernel));
		labels_add(&lsms, text_of(t->columns[i]->lsm));
	}
	for (size_t i = 1; i < kernels.n; i++)
		q.items[q.n++] = (struct sighting_question){
			.baseline = printed(a, "", kernels.items[i - 1], "/*"),
			.from = kernels.items[i - 1],
			.to = kernels.items[i],
		};
	for (size_t i = 1; i < lsms.n; i++)
		q.items[q.n++] = (struct sighting_question){
			.lsm_axis = true,
			.baseline = printed(a, "*/", lsms.items[0], ""),
			.from = lsms.items[0],
			.to = lsms.items[i],
		};
	for (size_t i = 0; i < q.n; i++)
		if (!q.items[i].baseline)
			return -ENOMEM;
	*ret = q;
	return 0;
}

/* ---- sightings ---- */

/* Place of the pair of columns that a question is about; false: not in this table. */
static bool find_pair(const Kgrid__V1__CompareTable *t, const struct sighting_question *q,
		      size_t *ret_to)
{
	const Kgrid__V1__CompareColumn *base, *c;

	if (t->n_columns == 0)
		return false;
	base = t->columns[0];
	if (strcmp(text_of(q->lsm_axis ? base->lsm : base->kernel), q->from) != 0)
		return false;
	for (size_t i = 1; i < t->n_columns; i++) {
		c = t->columns[i];
		if (strcmp(text_of(q->lsm_axis ? c->lsm : c->kernel), q->to) == 0 &&
		    strcmp(text_of(q->lsm_axis ? c->kernel : c->lsm),
			   text_of(q->lsm_axis ? base->kernel : base->lsm)) == 0) {
			*ret_to = i;
			return true;
		}
	}
	return false;
}

static void fill_member(const Kgrid__V1__CompareTable *t, const Kgrid__V1__CompareRow *row,
			size_t to, uint64_t job, struct store_member *m)
{
	const Kgrid__V1__CompareCell *base = row->cells[0], *c = row->cells[to];

	*m = (struct store_member){
		.machine = text_of(t->machine),
		.workload = text_of(t->workload),
		.params = text_of(row->params),
		.metric = text_of(t->metric),
		.unit = text_of(t->unit),
		.kernel = text_of(t->columns[to]->kernel),
		.lsm = text_of(t->columns[to]->lsm),
		.job = job,
		.before = base->value,
		.after = c->value,
		.effect_pct = c->delta_pct,
		.has_interval = c->has_delta_lo_pct && c->has_delta_hi_pct,
		.lo_pct = c->delta_lo_pct,
		.hi_pct = c->delta_hi_pct,
		.p = c->p,
		.q = c->q,
		.boots_before = c->baseline_boots,
		.boots_after = c->boots,
	};
}

static const char *key_of(const Kgrid__V1__CompareColumn *c, bool lsm_axis)
{
	const char *key = lsm_axis ? c->lsm_request : c->kernel_digest;

	if (key && key[0])
		return key;
	return text_of(lsm_axis ? c->lsm : c->kernel);
}

static bool shows(const Kgrid__V1__CompareRow *row, size_t to)
{
	return row->n_cells > to && row->cells[to]->verdict &&
	       verdict_parse(row->cells[to]->verdict) == VERDICT_REGRESSION;
}

static size_t count_rows(const Kgrid__V1__CompareReply *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_tables; i++)
		n += r->tables[i]->n_rows;
	return n;
}

int sighting_of(const Kgrid__V1__CompareReply *r, const struct sighting_question *q, uint64_t job,
		int64_t now_ns, struct kg_arena *a, struct store_sighting *ret)
{
	struct store_member *members = kg_arena_alloc(a, (count_rows(r) + 1) * sizeof(*members));
	struct store_sighting s = {.lsm_axis = q->lsm_axis,
				   .from_label = q->from,
				   .to_label = q->to,
				   .members = members,
				   .job = job,
				   .now_ns = now_ns};

	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_tables; i++) {
		const Kgrid__V1__CompareTable *t = r->tables[i];
		size_t to;

		if (!find_pair(t, q, &to))
			continue;
		for (size_t row = 0; row < t->n_rows; row++) {
			if (!shows(t->rows[row], to))
				continue;
			if (!s.from_key) {
				s.from_key = key_of(t->columns[0], q->lsm_axis);
				s.to_key = key_of(t->columns[to], q->lsm_axis);
			}
			fill_member(t, t->rows[row], to, job, &members[s.n_members++]);
		}
	}
	*ret = s;
	return 0;
}

const Kgrid__V1__CompareCell *sighting_cell(const Kgrid__V1__CompareReply *r,
					    const struct sighting_question *q,
					    const struct store_member *m, const char *machine)
{
	for (size_t i = 0; i < r->n_tables; i++) {
		const Kgrid__V1__CompareTable *t = r->tables[i];
		size_t to;

		if (strcmp(text_of(t->machine), machine) != 0 ||
		    strcmp(text_of(t->workload), m->workload) != 0 ||
		    strcmp(text_of(t->metric), m->metric) != 0 || !find_pair(t, q, &to))
			continue;
		if (strcmp(text_of(q->lsm_axis ? t->columns[to]->kernel : t->columns[to]->lsm),
			   q->lsm_axis ? m->kernel : m->lsm) != 0)
			continue;
		for (size_t row = 0; row < t->n_rows; row++)
			if (strcmp(text_of(t->rows[row]->params), m->params) == 0 &&
			    t->rows[row]->n_cells > to)
				return t->rows[row]->cells[to];
	}
	return NULL;
}

/* ---- history ---- */

static void history_member(const Kgrid__V1__HistorySeries *s, const Kgrid__V1__HistoryChange *c,
			   uint64_t job, struct store_member *m)
{
	*m = (struct store_member){
		.machine = text_of(s->machine),
		.workload = text_of(s->workload),
		.params = text_of(s->params),
		.metric = text_of(s->metric),
		.unit = text_of(s->unit),
		.kernel = text_of(s->points[c->index]->kernel),
		.lsm = text_of(s->lsm),
		.history = true,
		.job = job,
		.before = c->before,
		.after = c->after,
		.effect_pct = c->effect_pct,
		.has_interval = c->has_lo_pct && c->has_hi_pct,
		.lo_pct = c->lo_pct,
		.hi_pct = c->hi_pct,
		.p = c->p,
		.q = c->p, /* the search has its own guard against many looks */
	};
	for (size_t i = 0; i < s->n_points; i++)
		*(i < c->index ? &m->boots_before : &m->boots_after) += s->points[i]->boots;
}

static bool is_step(const Kgrid__V1__HistorySeries *s, const Kgrid__V1__HistoryChange *c)
{
	return c->index > 0 && c->index < s->n_points && kg_streq(c->kind, "step") && c->verdict &&
	       verdict_parse(c->verdict) == VERDICT_REGRESSION;
}

static const char *digest_of(const Kgrid__V1__HistoryPoint *p)
{
	return p->digest && p->digest[0] ? p->digest : text_of(p->kernel);
}

static bool measured(const Kgrid__V1__CompareReply *overview, const char *digest)
{
	const Kgrid__V1__CompareTable *t = overview->n_tables ? overview->tables[0] : NULL;

	for (size_t i = 0; t && i < t->n_columns; i++)
		if (strcmp(key_of(t->columns[i], false), digest) == 0)
			return true;
	return false;
}

static struct store_sighting *boundary(struct store_sighting *list, size_t *n,
				       const Kgrid__V1__HistoryPoint *from,
				       const Kgrid__V1__HistoryPoint *to)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp(list[i].from_key, digest_of(from)) == 0 &&
		    strcmp(list[i].to_key, digest_of(to)) == 0)
			return &list[i];
	list[*n] = (struct store_sighting){.from_key = digest_of(from),
					   .to_key = digest_of(to),
					   .from_label = text_of(from->kernel),
					   .to_label = text_of(to->kernel)};
	return &list[(*n)++];
}

int sighting_of_history(const Kgrid__V1__HistoryReply *h, const Kgrid__V1__CompareReply *overview,
			uint64_t job, int64_t now_ns, struct kg_arena *a,
			struct store_sighting **ret, size_t *ret_n)
{
	struct store_sighting *list;
	size_t steps = 0, n = 0;

	for (size_t i = 0; i < h->n_series; i++)
		steps += h->series[i]->n_changes;
	list = kg_arena_alloc(a, (steps + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_series; i++) {
		const Kgrid__V1__HistorySeries *s = h->series[i];

		for (size_t k = 0; k < s->n_changes; k++) {
			const Kgrid__V1__HistoryChange *c = s->changes[k];
			struct store_sighting *b;
			struct store_member *members;

			if (!is_step(s, c) || !measured(overview, digest_of(s->points[c->index])))
				continue;
			b = boundary(list, &n, s->points[c->index - 1], s->points[c->index]);
			members = (struct store_member *)(uintptr_t)b->members;
			if (!members)
				members = kg_arena_alloc(a, steps * sizeof(*members));
			if (!members)
				return -ENOMEM;
			history_member(s, c, job, &members[b->n_members++]);
			b->members = members;
			b->job = job;
			b->now_ns = now_ns;
		}
	}
	*ret = list;
	*ret_n = n;
	return 0;
}
