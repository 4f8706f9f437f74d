/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/canary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict.h"
#include "coordinator/report/parts.h"

static int order_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int order_machine(const struct canary_value *x, const struct canary_value *y)
{
	return strcmp(x->machine, y->machine);
}

/* What is measured there. */
static int order_metric(const struct canary_value *x, const struct canary_value *y)
{
	int rc = order_machine(x, y);

	if (rc == 0)
		rc = strcmp(x->workload, y->workload);
	if (rc == 0)
		rc = strcmp(x->params, y->params);
	if (rc == 0)
		rc = strcmp(x->metric, y->metric);
	if (rc == 0)
		rc = strcmp(x->unit, y->unit);
	return rc ? rc : strcmp(x->direction, y->direction);
}

static int order_block(const struct canary_value *x, const struct canary_value *y)
{
	int rc = order_u64(x->job, y->job);

	return rc ? rc : order_u64(x->block, y->block);
}

static int order_boot(const struct canary_value *x, const struct canary_value *y)
{
	int rc = (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);

	return rc ? rc : order_u64(x->boot, y->boot);
}

static int order_values(const void *a, const void *b)
{
	const struct canary_value *x = a, *y = b;
	int rc = order_metric(x, y);

	if (rc == 0)
		rc = order_block(x, y);
	if (rc == 0)
		rc = order_boot(x, y);
	return rc ? rc : (x->value > y->value) - (x->value < y->value);
}

/* How many of v[0..n) from the first on are not told apart from it. */
static size_t run_of(const struct canary_value *v, size_t n,
		     int (*order)(const struct canary_value *, const struct canary_value *))
{
	size_t i = 1;

	while (i < n && order(&v[0], &v[i]) == 0)
		i++;
	return i;
}

/* Of values in ascending order, as a boot's are. */
static double median(const struct canary_value *v, size_t n)
{
	return n % 2 ? v[n / 2].value : v[n / 2 - 1].value / 2 + v[n / 2].value / 2;
}

struct drift {
	struct verdict_boot *boots; /* one a block, of one value: what verdict_level takes */
	double *pct;
	size_t n, single, other; /* blocks: compared; of one boot; not to be compared */
};

/* v[0..n) are of one metric and block, by boot. */
static void add_block(const struct canary_value *v, size_t n, struct drift *d)
{
	size_t first_n = run_of(v, n, order_boot), last = n - 1;
	double first, pct;

	while (last > 0 && order_boot(&v[last - 1], &v[n - 1]) == 0)
		last--;
	if (last < first_n) {
		d->single++;
		return;
	}
	first = median(v, first_n);
	pct = 100 * (median(&v[last], n - last) / first - 1);
	if (v[0].epoch != v[n - 1].epoch || !(first > 0) || !isfinite(pct)) {
		d->other++;
		return;
	}
	d->pct[d->n] = verdict_direction(v->direction) == VERDICT_LOWER ? -pct : pct;
	d->boots[d->n] = (struct verdict_boot){&d->pct[d->n], 1};
	d->n++;
}

static void say_name(const struct canary_value *v, bool several, struct kg_str *s)
{
	kg_str_addf(s, "canary %s", v->machine);
	if (several)
		kg_str_addf(s, ", %s %s%s%s", v->workload, v->params, v->params[0] ? " " : "",
			    v->metric);
}

static int say_left_out(const struct drift *d, struct kg_str *s)
{
	if (d->single)
		kg_str_addf(s, "; %zu block%s with one boot", d->single, plural(d->single));
	if (d->other)
		kg_str_addf(s, "; %zu block%s not comparable", d->other, plural(d->other));
	return s->failed ? -ENOMEM : 0;
}

static int say_drift(const struct canary_value *v, bool several, const struct drift *d,
		     const struct verdict_level *l, char ***notes, size_t *n_notes)
{
	bool real = l->has_interval && (l->lo > 0 || l->hi < 0) && fabs(l->value) > CANARY_WARN_PCT;
	struct kg_str s = {0};
	int rc;

	say_name(v, several, &s);
	if (d->n == 0) {
		kg_str_add(&s, ": no block has a first and a last boot to compare");
	} else {
		kg_str_addf(&s, ": last boots of a block are %+.1f %%", l->value);
		if (l->has_interval)
			kg_str_addf(&s, " [%.1f, %.1f]", l->lo, l->hi);
		kg_str_addf(&s, " against the first (%zu block%s%s)", d->n, plural(d->n),
			    l->has_interval ? "" : ", too few for an interval");
	}
	rc = say_left_out(d, &s);
	if (rc == 0)
		rc = add_text(notes, n_notes, "%s", kg_str_text(&s));
	if (rc == 0 && real)
		rc = add_text(notes, n_notes,
			      "warning: '%s' %s by %.1f %% within a block, whatever the kernel: "
			      "the order of boots is random, so that this is noise and not an "
			      "effect, but it hides what is smaller",
			      v->machine, l->value < 0 ? "gets worse" : "gets better",
			      fabs(l->value));
	kg_str_deinit(&s);
	return rc;
}

/* v[0..n) are of one metric. */
static int one_metric(const struct canary_value *v, size_t n, bool several, char ***notes,
		      size_t *n_notes, struct kg_err *err)
{
	struct drift d = {.boots = calloc(n, sizeof(*d.boots)), .pct = calloc(n, sizeof(*d.pct))};
	struct verdict_level level = {0};
	struct verdict_side side;
	int rc = d.boots && d.pct ? 0 : -ENOMEM;

	for (size_t i = 0, k; rc == 0 && i < n; i += k) {
		k = run_of(&v[i], n - i, order_block);
		add_block(&v[i], k, &d);
	}
	side = (struct verdict_side){d.boots, d.n};
	if (rc == 0 && d.n)
		rc = verdict_level(&side, 0.95, &level, err);
	if (rc == 0)
		rc = say_drift(v, several, &d, &level, notes, n_notes);
	free(d.boots);
	free(d.pct);
	return rc;
}

/* v[0..n) are of one machine; what they are of is named where that is several things. */
static int one_machine(const struct canary_value *v, size_t n, char ***notes, size_t *n_notes,
		       struct kg_err *err)
{
	int rc = 0;

	for (size_t i = 0, k; rc == 0 && i < n; i += k) {
		k = run_of(&v[i], n - i, order_metric);
		rc = one_metric(&v[i], k, k < n, notes, n_notes, err);
	}
	return rc;
}

int report_canary(struct canary_value *v, size_t n, char ***notes, size_t *n_notes,
		  struct kg_err *err)
{
	size_t finite = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i].value))
			v[finite++] = v[i];
	if (finite)
		qsort(v, finite, sizeof(*v), order_values);
	for (size_t i = 0, k; rc == 0 && i < finite; i += k) {
		k = run_of(&v[i], finite - i, order_machine);
		rc = one_machine(&v[i], k, notes, n_notes, err);
	}
	return rc == -ENOMEM ? kg_err_set(err, rc, "out of memory") : rc;
}
