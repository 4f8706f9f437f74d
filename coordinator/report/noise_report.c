/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/noise_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/analysis/noise.h"
#include "coordinator/report/parts.h"

/* ---- order ---- */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int order_number(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* What a profile is of. */
static int order_subject(const struct report_input *in, size_t i, size_t k)
{
	const struct report_value *x = &in->values[i], *y = &in->values[k];
	const struct report_cell *a = &in->cells[x->cell], *b = &in->cells[y->cell];
	int rc = strcmp(a->machine, b->machine);

	if (rc == 0)
		rc = strcmp(a->workload, b->workload);
	if (rc == 0)
		rc = strcmp(a->params, b->params);
	return rc ? rc : (x->metric > y->metric) - (x->metric < y->metric);
}

/* What may stand in one profile. */
static int order_configuration(const struct report_input *in, size_t i, size_t k)
{
	const struct report_value *x = &in->values[i], *y = &in->values[k];
	const struct report_cell *a = &in->cells[x->cell], *b = &in->cells[y->cell];
	int rc = order_number(x->epoch, y->epoch);

	if (rc == 0)
		rc = strcmp(or_empty(a->kernel_digest), or_empty(b->kernel_digest));
	if (rc == 0)
		rc = strcmp(a->kernel, b->kernel);
	if (rc == 0)
		rc = strcmp(a->lsm, b->lsm);
	if (rc == 0)
		rc = strcmp(or_empty(a->lsm_effective), or_empty(b->lsm_effective));
	return rc ? rc : strcmp(or_empty(a->settings), or_empty(b->settings));
}

static int order_values(const void *p, const void *q, void *arg)
{
	const struct report_input *in = arg;
	size_t i = *(const size_t *)p, k = *(const size_t *)q;
	const struct report_value *x = &in->values[i], *y = &in->values[k];
	int rc = order_subject(in, i, k);

	if (rc == 0)
		rc = order_configuration(in, i, k);
	if (rc == 0)
		rc = order_number(x->time_ns, y->time_ns);
	if (rc == 0)
		rc = (x->boot > y->boot) - (x->boot < y->boot);
	return rc ? rc : (i > k) - (i < k);
}

/* ---- one profile ---- */

/* Values of one configuration; indices in time order. */
struct run {
	const size_t *values;
	size_t n;
	size_t boots;
	int64_t last_ns;
	uint32_t epoch;
};

static struct run run_of(const struct report_input *in, const size_t *values, size_t n)
{
	struct run r = {.values = values, .epoch = in->values[values[0]].epoch};

	while (r.n < n && order_configuration(in, values[0], values[r.n]) == 0) {
		const struct report_value *v = &in->values[values[r.n]];

		if (r.n == 0 || v->boot != in->values[values[r.n - 1]].boot)
			r.boots++;
		r.last_ns = v->time_ns;
		r.n++;
	}
	return r;
}

static bool is_better(const struct run *a, const struct run *b)
{
	if (a->epoch != b->epoch)
		return a->epoch > b->epoch;
	return a->boots != b->boots ? a->boots > b->boots : a->last_ns > b->last_ns;
}

static int profile_of(const struct report_input *in, const struct run *r, uint64_t seed,
		      struct noise_profile *ret, struct kg_err *err)
{
	double *numbers = calloc(r->n, sizeof(*numbers));
	struct verdict_boot *boots = calloc(r->boots, sizeof(*boots));
	struct verdict_side side = {.boots = boots};
	struct verdict_policy policy;
	int rc = numbers && boots ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < r->n; i++) {
		const struct report_value *v = &in->values[r->values[i]];

		numbers[i] = v->value;
		if (i == 0 || v->boot != in->values[r->values[i - 1]].boot)
			boots[side.n++].values = &numbers[i];
		boots[side.n - 1].n++;
	}
	verdict_policy_init(&policy);
	policy.brief = true; /* splits are many, and words are all that counts */
	if (rc == 0)
		rc = noise_profile(&side, &policy, seed, ret, err);
	free(numbers);
	free(boots);
	return rc;
}

static void fill_numbers(const struct noise_profile *p, Kgrid__V1__NoiseProfile *m)
{
	m->has_boots = m->has_median = 1;
	m->boots = (uint32_t)p->boots;
	m->median = p->median;
	m->has_between_cov_pct = p->has_between;
	m->between_cov_pct = p->between_cov_pct;
	m->has_within_cov_pct = p->has_within;
	m->within_cov_pct = p->within_cov_pct;
	m->has_autocorrelation = p->has_autocorrelation;
	m->autocorrelation = p->autocorrelation;
	/* Without halves that could be compared nothing was learnt of the rule. */
	m->has_false_positive_rate = m->has_min_effect_pct = m->has_raised = p->splits > 0;
	m->false_positive_rate = p->false_positive_rate;
	m->min_effect_pct = p->min_effect_pct;
	m->raised = p->raised;
	m->has_drift_pct_per_boot = m->has_drift_lo = m->has_drift_hi = p->has_drift;
	m->drift_pct_per_boot = p->drift_pct_per_boot;
	m->drift_lo = p->drift_lo;
	m->drift_hi = p->drift_hi;
}

static int fill_detectable(const struct noise_profile *p, Kgrid__V1__NoiseProfile *m)
{
	size_t n = sizeof(p->detectable_pct) / sizeof(p->detectable_pct[0]);

	if (!p->has_between)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(p->detectable_pct[i]))
			return 0;
	}
	m->detectable_pct = calloc(n, sizeof(*m->detectable_pct));
	if (!m->detectable_pct)
		return -ENOMEM;
	memcpy(m->detectable_pct, p->detectable_pct, n * sizeof(*m->detectable_pct));
	m->n_detectable_pct = n;
	return 0;
}

static int fill_head(const struct noise_input *in, const struct run *r, Kgrid__V1__NoiseProfile *m)
{
	const struct report_value *v = &in->rows->values[r->values[0]];
	const struct report_cell *c = &in->rows->cells[v->cell];
	const struct report_metric *metric = &in->rows->metrics[v->metric];

	for (size_t i = 0; i < in->n_schedules; i++) {
		if (strcmp(in->schedules[i].machine, c->machine) != 0)
			continue;
		m->has_every_seconds = 1;
		m->every_seconds = in->schedules[i].every_seconds;
	}
	m->has_epoch = r->epoch > 0;
	m->epoch = r->epoch;
	m->has_first_ns = m->has_last_ns = 1;
	m->first_ns = v->time_ns;
	m->last_ns = r->last_ns;
	return set_text(&m->machine, c->machine) | set_text(&m->workload, c->workload) |
			       set_text(&m->params, c->params) |
			       set_text(&m->metric, metric->name) | set_text(&m->unit, metric->unit)
		       ? -ENOMEM
		       : 0;
}

static int add_profile(const struct noise_input *in, const struct run *r,
		       Kgrid__V1__NoiseReply *reply, struct kg_err *err)
{
	Kgrid__V1__NoiseProfile *m = message_new(&kgrid__v1__noise_profile__descriptor);
	struct noise_profile p;
	int rc = push(&reply->profiles, &reply->n_profiles, m,
		      &kgrid__v1__noise_profile__descriptor);

	if (rc == 0)
		rc = fill_head(in, r, m);
	if (rc == 0)
		rc = profile_of(in->rows, r, in->seed, &p, err);
	if (rc < 0)
		return rc;
	fill_numbers(&p, m);
	return fill_detectable(&p, m);
}

/* ---- all ---- */

struct left_out {
	size_t older, other; /* boots of older epochs, of another kernel or list */
	size_t few;	     /* profiles without halves to compare */
};

/* values[0..n) are of one subject. */
static int one_subject(const struct noise_input *in, const size_t *values, size_t n,
		       struct left_out *left, Kgrid__V1__NoiseReply *reply, struct kg_err *err)
{
	struct run best = {0};
	int rc;

	for (size_t i = 0; i < n;) {
		struct run r = run_of(in->rows, &values[i], n - i);

		if (best.n == 0 || is_better(&r, &best))
			best = r;
		i += r.n;
	}
	for (size_t i = 0; i < n;) {
		struct run r = run_of(in->rows, &values[i], n - i);

		if (r.epoch != best.epoch)
			left->older += r.boots;
		else if (r.values != best.values)
			left->other += r.boots;
		i += r.n;
	}
	rc = add_profile(in, &best, reply, err);
	if (rc == 0)
		left->few += !reply->profiles[reply->n_profiles - 1]->has_min_effect_pct;
	return rc;
}

static int add_notes(const struct left_out *left, size_t not_finite, Kgrid__V1__NoiseReply *reply)
{
	int rc = 0;

	if (reply->n_profiles == 0)
		rc = add_text(&reply->notes, &reply->n_notes,
			      "no A/A boot has passed: 'kgrid calibrate MACHINE' makes some");
	if (rc == 0 && left->older)
		rc = add_text(&reply->notes, &reply->n_notes,
			      "left out: %zu boot%s of epochs that are over", left->older,
			      plural(left->older));
	if (rc == 0 && left->other)
		rc = add_text(
			&reply->notes, &reply->n_notes,
			"left out: %zu boot%s of another kernel or list than the most frequent",
			left->other, plural(left->other));
	if (rc == 0 && left->few)
		rc = add_text(&reply->notes, &reply->n_notes,
			      "%zu profile%s of too few boots to try the verdict's rule on",
			      left->few, plural(left->few));
	if (rc == 0 && not_finite)
		rc = add_text(&reply->notes, &reply->n_notes,
			      "left out: %zu value%s that %s no finite number", not_finite,
			      plural(not_finite), not_finite == 1 ? "is" : "are");
	return rc;
}

int report_noise(const struct noise_input *in, Kgrid__V1__NoiseReply *reply, struct kg_err *err)
{
	const struct report_input *rows = in->rows;
	size_t *order = calloc(rows->n_values + 1, sizeof(*order)), n = 0;
	struct left_out left = {0};
	int rc = order ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < rows->n_values; i++) {
		if (isfinite(rows->values[i].value))
			order[n++] = i;
	}
	if (n)
		qsort_r(order, n, sizeof(*order), order_values, (void *)(uintptr_t)rows);
	for (size_t i = 0, k; rc == 0 && i < n; i = k) {
		for (k = i + 1; k < n && order_subject(rows, order[i], order[k]) == 0;)
			k++;
		rc = one_subject(in, &order[i], k - i, &left, reply, err);
	}
	if (rc == 0)
		rc = add_notes(&left, rows->n_values - n, reply);
	free(order);
	return rc == -ENOMEM ? kg_err_set(err, rc, "out of memory") : rc;
}
