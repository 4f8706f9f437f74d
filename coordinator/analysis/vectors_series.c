/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "coordinator/analysis/changepoint.h"
#include "coordinator/analysis/vectors_ops.h"

#define QHAT_MAX_P 0.01

/* One number of each change under its key. */
static int put_each(struct vectors_run *r, const char *key, const struct changepoint *c, size_t n,
		    double (*of)(const struct changepoint *c))
{
	double *values = calloc(n + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		values[i] = of(&c[i]);
	vectors_put_array(r, key, values, n);
	free(values);
	return 0;
}

static double index_of(const struct changepoint *c)
{
	return (double)c->index;
}

static double p_of(const struct changepoint *c)
{
	return c->p;
}

static double before_of(const struct changepoint *c)
{
	return c->before;
}

static double after_of(const struct changepoint *c)
{
	return c->after;
}

static int put_changes(struct vectors_run *r, const char *key, const double *x, size_t n,
		       const struct changepoint_options *o)
{
	struct changepoint *changes = NULL;
	size_t n_changes = 0;
	int rc = changepoint_find(x, n, o, &changes, &n_changes, &r->err);

	if (rc < 0)
		return rc;
	rc = put_each(r, key, changes, n_changes, index_of);
	if (rc == 0)
		rc = put_each(r, "pvalues", changes, n_changes, p_of);
	if (rc == 0)
		rc = put_each(r, "mean_before", changes, n_changes, before_of);
	if (rc == 0)
		rc = put_each(r, "mean_after", changes, n_changes, after_of);
	free(changes);
	return rc;
}

static void otava_options(struct changepoint_options *o)
{
	changepoint_options_init(o);
	o->method = CHANGEPOINT_EDIVISIVE;
	o->hampel = false;
	o->trend = false;
}

int vectors_edivisive_otava(struct vectors_run *r)
{
	json_t *params = json_object_get(r->input, "params");
	struct vectors_run inner = {.input = params};
	struct changepoint_options o;
	double window;
	size_t n;
	const double *x = vectors_array(r, "x", &n);

	otava_options(&o);
	window = vectors_number_or(&inner, "window_len", (double)o.window_len);
	o.max_pvalue = vectors_number_or(&inner, "max_pvalue", o.max_pvalue);
	o.min_magnitude = vectors_number_or(&inner, "min_magnitude", o.min_magnitude);
	if (inner.broken || !(window >= 1) || !(window < 1e9)) {
		vectors_broken(r, "input 'params' wants window_len from 1, max_pvalue and "
				  "min_magnitude");
		return 0;
	}
	o.window_len = (size_t)window;
	return put_changes(r, "indexes", x, n, &o);
}

int vectors_edivisive_qhat(struct vectors_run *r)
{
	struct changepoint_options o;
	size_t n, index;
	double qhat;
	const double *x = vectors_array(r, "x", &n);
	int rc = changepoint_qhat(x, n, &index, &qhat, &r->err);

	if (rc < 0)
		return rc;
	vectors_put(r, "index", (double)index);
	vectors_put(r, "qhat", qhat);
	otava_options(&o);
	o.max_pvalue = QHAT_MAX_P;
	if (o.window_len < n) /* Otava's detector alone has no windows */
		o.window_len = n;
	return put_changes(r, "change_points_p01", x, n, &o);
}
