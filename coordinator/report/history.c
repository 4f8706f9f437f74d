/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/changepoint.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/report/compare_internal.h"
#include "coordinator/report/history_effect.h"
#include "coordinator/report/kernel_version.h"

#define BOUNDARIES_NAMED 20
#define NEWEST_POINTS	 3 /* after a change, at least */

/* ---- points ---- */

/* One kernel, in one epoch unless across_epochs. */
struct point {
	const size_t *values; /* indices, by boot */
	size_t n;
	const struct report_cell *cell;
	int64_t first_ns;
	uint32_t epoch; /* newest */
	struct verdict_level level;
	size_t boots;
};

struct boundary {
	const char *machine;
	uint32_t from, to;
	size_t series;
};

struct history {
	const struct history_input *in;
	const struct report_input *rows;
	bool by_date;
	struct changepoint_options options;
	Kgrid__V1__HistoryReply *reply;
	struct boundary *boundaries; /* owned */
	size_t n_boundaries, cap_boundaries;
	size_t short_series, least_points;
	size_t coinciding; /* steps at a boundary, with across_epochs */
};

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static const char *kernel_key(const struct report_cell *c)
{
	return c->kernel_digest ? c->kernel_digest : c->kernel;
}

static const char *release_of(const struct report_cell *c)
{
	return c->release ? c->release : c->kernel;
}

static int order_series(const struct report_input *in, size_t i, size_t k)
{
	const struct report_value *x = &in->values[i], *y = &in->values[k];
	const struct report_cell *a = &in->cells[x->cell], *b = &in->cells[y->cell];
	int rc = strcmp(a->machine, b->machine);

	if (rc == 0)
		rc = strcmp(a->workload, b->workload);
	if (rc == 0)
		rc = strcmp(a->params, b->params);
	if (rc == 0)
		rc = strcmp(a->lsm, b->lsm);
	if (rc == 0) /* settings that every cell of a job has are not part of the label */
		rc = strcmp(or_empty(a->settings), or_empty(b->settings));
	return rc ? rc : (x->metric > y->metric) - (x->metric < y->metric);
}

static int order_point(const struct history *h, size_t i, size_t k)
{
	const struct report_value *x = &h->rows->values[i], *y = &h->rows->values[k];
	int rc = h->in->across_epochs ? 0 : (x->epoch > y->epoch) - (x->epoch < y->epoch);

	return rc ? rc
		  : strcmp(kernel_key(&h->rows->cells[x->cell]),
			   kernel_key(&h->rows->cells[y->cell]));
}

static int order_values(const void *p, const void *q, void *arg)
{
	const struct history *h = arg;
	size_t i = *(const size_t *)p, k = *(const size_t *)q;
	const struct report_value *x = &h->rows->values[i], *y = &h->rows->values[k];
	int rc = order_series(h->rows, i, k);

	if (rc == 0)
		rc = order_point(h, i, k);
	if (rc == 0)
		rc = (x->boot > y->boot) - (x->boot < y->boot);
	return rc ? rc : (i > k) - (i < k);
}

static int order_points(const void *p, const void *q, void *arg)
{
	const struct history *h = arg;
	const struct point *x = p, *y = q;
	int rc = h->in->across_epochs ? 0 : (x->epoch > y->epoch) - (x->epoch < y->epoch);

	if (rc == 0)
		rc = h->by_date ? (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns)
				: kernel_version_compare(release_of(x->cell), release_of(y->cell));
	if (rc == 0)
		rc = (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
	return rc ? rc : strcmp(kernel_key(x->cell), kernel_key(y->cell));
}

static int fill_level(const struct report_input *in, struct point *p, struct kg_err *err)
{
	double *numbers = calloc(p->n, sizeof(*numbers));
	struct verdict_boot *boots = calloc(p->n, sizeof(*boots));
	struct verdict_side side = {.boots = boots};
	int rc = numbers && boots ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		const struct report_value *v = &in->values[p->values[i]];

		numbers[i] = v->value;
		if (i == 0 || v->boot != in->values[p->values[i - 1]].boot)
			boots[side.n++].values = &numbers[i];
		boots[side.n - 1].n++;
	}
	if (rc == 0)
		rc = verdict_level(&side, 0.95, &p->level, err);
	p->boots = side.n;
	free(numbers);
	free(boots);
	return rc;
}

static int make_point(const struct report_input *in, const size_t *values, size_t n,
		      struct point *p, struct kg_err *err)
{
	*p = (struct point){.values = values,
			    .n = n,
			    .cell = &in->cells[in->values[values[0]].cell],
			    .first_ns = in->values[values[0]].time_ns};
	for (size_t i = 0; i < n; i++) {
		const struct report_value *v = &in->values[values[i]];

		if (v->time_ns < p->first_ns)
			p->first_ns = v->time_ns;
		if (v->epoch > p->epoch)
			p->epoch = v->epoch;
	}
	return fill_level(in, p, err);
}

static int add_point(const struct point *p, Kgrid__V1__HistorySeries *s)
{
	Kgrid__V1__HistoryPoint *m = message_new(&kgrid__v1__history_point__descriptor);
	int rc = push(&s->points, &s->n_points, m, &kgrid__v1__history_point__descriptor);

	if (rc < 0)
		return rc;
	m->has_time_ns = m->has_boots = m->has_value = 1;
	m->time_ns = p->first_ns;
	m->boots = (uint32_t)p->boots;
	m->value = p->level.value;
	m->has_lo = m->has_hi = p->level.has_interval;
	m->lo = p->level.lo;
	m->hi = p->level.hi;
	m->has_epoch = p->epoch > 0;
	m->epoch = p->epoch;
	return set_text(&m->kernel, p->cell->kernel) | set_text(&m->digest, p->cell->kernel_digest)
		       ? -ENOMEM
		       : 0;
}

/* ---- changes ---- */

static const char *verdict_of(const struct changepoint *c, enum verdict_direction direction)
{
	bool up = c->after > c->before;

	if (c->kind == CHANGEPOINT_SUSPECT)
		return verdict_name(VERDICT_UNKNOWN);
	if (c->kind == CHANGEPOINT_VARIANCE || direction == VERDICT_NO_DIRECTION)
		return verdict_name(VERDICT_DIFFERENT);
	return verdict_name(up == (direction == VERDICT_HIGHER) ? VERDICT_IMPROVEMENT
								: VERDICT_REGRESSION);
}

/* What the change points of one series were found in. */
struct found {
	const double *x;
	const struct point *points;
	size_t n;
	const struct changepoint *c;
	size_t n_c;
	enum verdict_direction direction;
};

/* Of a change of the spread the effect is that of the spread, and has no interval. */
static int fill_effect(const struct found *f, size_t k, Kgrid__V1__HistoryChange *m,
		       struct kg_err *err)
{
	bool lower = f->direction == VERDICT_LOWER;
	struct history_effect e;
	int rc = history_effect(f->x, f->n, f->c, f->n_c, k, &e, err);

	if (rc < 0)
		return rc;
	if (!e.has_effect) {
		e.has_effect = f->c[k].has_change;
		e.pct = f->c[k].change_pct;
	}
	m->has_effect_pct = e.has_effect;
	m->effect_pct = (lower ? -e.pct : e.pct) + 0.0;
	m->has_lo_pct = m->has_hi_pct = e.has_interval;
	m->lo_pct = (lower ? -e.hi_pct : e.lo_pct) + 0.0;
	m->hi_pct = (lower ? -e.lo_pct : e.hi_pct) + 0.0;
	return 0;
}

static int fill_change(const struct found *f, size_t k, Kgrid__V1__HistoryChange *m,
		       struct kg_err *err)
{
	const struct changepoint *c = &f->c[k];

	m->has_index = m->has_lo = m->has_hi = m->has_before = m->has_after = m->has_p = 1;
	m->index = (uint32_t)c->index;
	m->lo = (uint32_t)c->lo;
	m->hi = (uint32_t)c->hi;
	m->before = c->before;
	m->after = c->after;
	m->p = c->p;
	return fill_effect(f, k, m, err);
}

static Kgrid__V1__HistoryChange *new_change(Kgrid__V1__HistorySeries *s, const char *kind,
					    const char *verdict)
{
	Kgrid__V1__HistoryChange *m = message_new(&kgrid__v1__history_change__descriptor);

	if (push(&s->changes, &s->n_changes, m, &kgrid__v1__history_change__descriptor) < 0)
		return NULL;
	return set_text(&m->kind, kind) | set_text(&m->verdict, verdict) ? NULL : m;
}

static bool is_boundary(const struct point *p, size_t i)
{
	return i > 0 && p[i].epoch != p[i - 1].epoch;
}

/* The boundary that a change may as well be: within the interval of its place, the nearest one. n:
 * none. */
static size_t boundary_of(const struct point *p, size_t n, const struct changepoint *c)
{
	size_t found = n, best = SIZE_MAX;
	size_t lo = c->lo < c->index ? c->lo : c->index, hi = c->hi > c->index ? c->hi : c->index;

	for (size_t i = lo; i <= hi && i < n; i++) {
		size_t away = i > c->index ? i - c->index : c->index - i;

		if (is_boundary(p, i) && away < best) {
			found = i;
			best = away;
		}
	}
	return found;
}

static int note_boundary(struct history *h, const struct point *p)
{
	const char *machine = p->cell->machine;
	struct boundary *b;

	for (size_t i = 0; i < h->n_boundaries; i++) {
		b = &h->boundaries[i];
		if (b->from == p[-1].epoch && b->to == p->epoch &&
		    strcmp(b->machine, machine) == 0) {
			b->series++;
			return 0;
		}
	}
	b = grow(&h->boundaries, &h->n_boundaries, &h->cap_boundaries, sizeof(*b));
	if (!b)
		return -ENOMEM;
	*b = (struct boundary){machine, p[-1].epoch, p->epoch, 1};
	return 0;
}

/* One change of kind epoch, with the numbers of the step that coincides with it, if there is one. */
static int add_boundary(struct history *h, const struct found *f, size_t at,
			Kgrid__V1__HistorySeries *s, struct kg_err *err)
{
	Kgrid__V1__HistoryChange *m = new_change(s, "epoch", verdict_name(VERDICT_INCOMPARABLE));
	int rc = m ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < f->n_c; i++) {
		if (boundary_of(f->points, f->n, &f->c[i]) == at)
			rc = fill_change(f, i, m, err);
	}
	if (rc < 0)
		return rc;
	m->has_index = m->has_lo = m->has_hi = 1;
	m->index = (uint32_t)at;
	if (!m->has_before)
		m->lo = m->hi = (uint32_t)at;
	return note_boundary(h, &f->points[at]);
}

static int add_change(struct history *h, const struct found *f, size_t k,
		      Kgrid__V1__HistorySeries *s, struct kg_err *err)
{
	const struct changepoint *c = &f->c[k];
	bool coincides = boundary_of(f->points, f->n, c) < f->n;
	Kgrid__V1__HistoryChange *m;

	h->coinciding += coincides && h->in->across_epochs;
	if (coincides && !h->in->across_epochs)
		return 0; /* said at the boundary */
	m = new_change(s, changepoint_kind_name(c->kind), verdict_of(c, f->direction));
	return m ? fill_change(f, k, m, err) : -ENOMEM;
}

static int add_changes(struct history *h, const struct found *f, Kgrid__V1__HistorySeries *s,
		       struct kg_err *err)
{
	size_t next = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		if (is_boundary(f->points, i))
			rc = add_boundary(h, f, i, s, err);
		for (; rc == 0 && next < f->n_c && f->c[next].index <= i; next++)
			rc = add_change(h, f, next, s, err);
	}
	return rc;
}

/* Points below which the test of the pruning cannot reach its p, however they are divided. */
static size_t least_points(double max_p)
{
	size_t n = 2;

	while (n < 200 && stats_mwu_min_p(n / 2, n - n / 2) > max_p)
		n++;
	return n;
}

static int find_changes(struct history *h, const struct point *p, size_t n,
			enum verdict_direction direction, Kgrid__V1__HistorySeries *s,
			struct kg_err *err)
{
	double *x = calloc(n + 1, sizeof(*x));
	struct changepoint *c = NULL;
	size_t n_c = 0;
	int rc = x ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < n; i++)
		x[i] = p[i].level.value;
	if (rc == 0)
		rc = changepoint_find(x, n, &h->options, &c, &n_c, err);
	if (rc == 0) {
		const struct found f = {x, p, n, c, n_c, direction};

		rc = add_changes(h, &f, s, err);
	}
	h->short_series += n < h->least_points;
	free(c);
	free(x);
	return rc;
}

/* ---- series ---- */

static int fill_head(const struct report_cell *c, const struct report_metric *metric,
		     Kgrid__V1__HistorySeries *s)
{
	return set_text(&s->machine, c->machine) | set_text(&s->workload, c->workload) |
			       set_text(&s->params, c->params) | set_text(&s->lsm, c->lsm) |
			       set_text(&s->metric, metric->name) |
			       set_text(&s->unit, metric->unit) |
			       set_text(&s->direction, metric->direction)
		       ? -ENOMEM
		       : 0;
}

/* values[0..n) are of one series, by point and boot. */
static int one_series(struct history *h, const size_t *values, size_t n, struct kg_err *err)
{
	const struct report_value *first = &h->rows->values[values[0]];
	const struct report_metric *metric = &h->rows->metrics[first->metric];
	Kgrid__V1__HistorySeries *s = message_new(&kgrid__v1__history_series__descriptor);
	struct point *points = calloc(n, sizeof(*points));
	size_t n_points = 0;
	int rc = push(&h->reply->series, &h->reply->n_series, s,
		      &kgrid__v1__history_series__descriptor);

	if (rc == 0 && !points)
		rc = -ENOMEM;
	if (rc == 0)
		rc = fill_head(&h->rows->cells[first->cell], metric, s);
	for (size_t i = 0, k; rc == 0 && i < n; i = k) {
		for (k = i + 1; k < n && order_point(h, values[i], values[k]) == 0;)
			k++;
		rc = make_point(h->rows, &values[i], k - i, &points[n_points++], err);
	}
	if (rc == 0)
		qsort_r(points, n_points, sizeof(*points), order_points, h);
	for (size_t i = 0; rc == 0 && i < n_points; i++)
		rc = add_point(&points[i], s);
	if (rc == 0)
		rc = find_changes(h, points, n_points, verdict_direction(metric->direction), s,
				  err);
	free(points);
	return rc;
}

static int each_series(struct history *h, struct kg_err *err)
{
	const struct report_input *rows = h->rows;
	size_t *order = calloc(rows->n_values + 1, sizeof(*order)), n = 0;
	int rc = order ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < rows->n_values; i++) {
		const struct report_value *v = &rows->values[i];

		if (isfinite(v->value) &&
		    (!rows->metric || kg_streq(rows->metrics[v->metric].name, rows->metric)))
			order[n++] = i;
	}
	if (n)
		qsort_r(order, n, sizeof(*order), order_values, h);
	for (size_t i = 0, k; rc == 0 && i < n; i = k) {
		for (k = i + 1; k < n && order_series(rows, order[i], order[k]) == 0;)
			k++;
		rc = one_series(h, &order[i], k - i, err);
	}
	free(order);
	return rc;
}

/* ---- notes ---- */

#define note(h, ...) add_text(&(h)->reply->notes, &(h)->reply->n_notes, __VA_ARGS__)

static int note_epochs(struct history *h)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < h->n_boundaries && i < BOUNDARIES_NAMED; i++) {
		const struct boundary *b = &h->boundaries[i];
		struct kg_str s = {0};

		if (b->from == 0 || b->to == 0)
			kg_str_add(&s, "the machine's state was not recorded on one side");
		else if (b->from < b->to)
			add_epoch_changes(h->rows, b->machine, b->from, b->to, &s);
		else
			add_epoch_changes(h->rows, b->machine, b->to, b->from, &s);
		rc = s.failed
			     ? -ENOMEM
			     : note(h, "'%s', epoch %u to %u: %s; a step there is not the kernel's",
				    b->machine, b->from, b->to, kg_str_text(&s));
		kg_str_deinit(&s);
	}
	if (rc == 0 && h->n_boundaries > BOUNDARIES_NAMED)
		rc = note(h, "%zu more boundaries of epochs", h->n_boundaries - BOUNDARIES_NAMED);
	if (rc == 0 && h->coinciding)
		rc = note(h, "%zu step%s where the epoch changes too: the machine may be the cause",
			  h->coinciding, h->coinciding == 1 ? " is" : "s are");
	return rc;
}

static int note_short(struct history *h)
{
	size_t before = 1;

	if (h->short_series == 0 || h->options.method != CHANGEPOINT_PELT)
		return 0;
	while (before < 200 && stats_mwu_min_p(before, NEWEST_POINTS) > h->options.max_p)
		before++;
	return note(
		h,
		"%zu of %zu series %s fewer than %zu points, too few for a change to be told: the "
		"earliest is %zu points before it and %zu after, or %zu and %u",
		h->short_series, h->reply->n_series, h->short_series == 1 ? "has" : "have",
		h->least_points, h->least_points / 2, h->least_points - h->least_points / 2, before,
		NEWEST_POINTS);
}

static int add_history_notes(struct history *h)
{
	size_t not_finite = 0;
	int rc = 0;

	for (size_t i = 0; i < h->rows->n_values; i++) {
		if (!isfinite(h->rows->values[i].value))
			not_finite++;
	}
	if (h->reply->n_series == 0 && h->reply->n_notes == 0)
		rc = note(h, "no valid result in what was selected");
	if (rc == 0 && not_finite)
		rc = note(h, "excluded: %zu value%s that %s no finite number", not_finite,
			  plural(not_finite), not_finite == 1 ? "is" : "are");
	if (rc == 0)
		rc = note_epochs(h);
	return rc == 0 ? note_short(h) : rc;
}

static int read_options(struct history *h, struct kg_err *err)
{
	const char *order = or_empty(h->in->order), *method = or_empty(h->in->method);

	changepoint_options_init(&h->options);
	h->by_date = strcmp(order, "date") == 0;
	if (order[0] && !h->by_date && strcmp(order, "version") != 0)
		return kg_err_set(err, KG_EINVALID, "order '%s' is not one of version, date",
				  order);
	if (strcmp(method, "edivisive") == 0)
		h->options.method = CHANGEPOINT_EDIVISIVE;
	else if (method[0] && strcmp(method, "pelt") != 0)
		return kg_err_set(err, KG_EINVALID, "method '%s' is not one of pelt, edivisive",
				  method);
	h->least_points = least_points(h->options.max_p);
	return 0;
}

int report_history(const struct history_input *in, Kgrid__V1__HistoryReply *reply,
		   struct kg_err *err)
{
	struct history h = {.in = in, .rows = in->rows, .reply = reply};
	int rc = read_options(&h, err);

	if (rc == 0)
		rc = check_metric(in->rows, err);
	if (rc == 0)
		rc = each_series(&h, err);
	if (rc == 0)
		rc = add_history_notes(&h);
	if (rc == 0 && !reply->accounting) {
		reply->accounting = cells_accounting(in->rows);
		rc = reply->accounting ? 0 : -ENOMEM;
	}
	free(h.boundaries);
	return rc == -ENOMEM ? kg_err_set(err, rc, "out of memory") : rc;
}
