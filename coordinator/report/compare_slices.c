/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A baseline in each slice of the results: every kernel, every LSM list, or every machine's workload
 * is a comparison of its own, with its own columns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/compare_internal.h"
#include "coordinator/report/kernel_version.h"

enum slice_by { BY_KERNEL, BY_LSM, BY_MACHINE };

struct slice {
	const struct report_cell *of; /* its first cell */
	uint32_t order;		      /* smallest in the job files */
	bool by_version;
};

static bool same_slice(const struct report_cell *a, const struct report_cell *b, enum slice_by by)
{
	if (by == BY_KERNEL)
		return strcmp(a->kernel, b->kernel) == 0;
	if (by == BY_LSM)
		return strcmp(a->lsm, b->lsm) == 0;
	return strcmp(a->machine, b->machine) == 0 && strcmp(a->workload, b->workload) == 0;
}

static int order_kernels(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int rc = (x->order > y->order) - (x->order < y->order);

	if (x->by_version)
		rc = kernel_version_compare(x->of->release ? x->of->release : x->of->kernel,
					    y->of->release ? y->of->release : y->of->kernel);
	return rc ? rc : strcmp(x->of->kernel, y->of->kernel);
}

static int order_lsms(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int rc = (x->order > y->order) - (x->order < y->order);

	if (rc == 0 && !x->by_version) /* variants of one list, as the job has them */
		rc = (x->of->id > y->of->id) - (x->of->id < y->of->id);
	return rc ? rc : strcmp(x->of->lsm, y->of->lsm);
}

static int order_machines(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int rc = strcmp(x->of->machine, y->of->machine);

	if (rc == 0)
		rc = (x->order > y->order) - (x->order < y->order);
	return rc ? rc : strcmp(x->of->workload, y->of->workload);
}

static uint32_t order_of(const struct report_cell *c, enum slice_by by)
{
	if (by == BY_KERNEL)
		return c->kernel_order;
	return by == BY_LSM ? c->lsm_order : c->workload_order;
}

/* The slices, in order; owned. */
static struct slice *list_slices(const struct report_input *in, enum slice_by by, size_t *ret_n)
{
	static int (*const orders[])(const void *, const void *) = {order_kernels, order_lsms,
								    order_machines};
	struct slice *list = calloc(in->n_cells + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; list && i < in->n_cells; i++) {
		const struct report_cell *c = &in->cells[i];
		uint32_t order = order_of(c, by);
		size_t k = 0;

		while (k < n && !same_slice(list[k].of, c, by))
			k++;
		if (k == n)
			list[n++] = (struct slice){c, order, in->selection};
		else if (order < list[k].order)
			list[k].order = order;
	}
	if (n)
		qsort(list, n, sizeof(*list), orders[by]);
	*ret_n = n;
	return list;
}

/* The input with only the cells of one slice, and their values. */
static int take_slice(const struct report_input *in, enum slice_by by, const struct report_cell *of,
		      struct report_input *ret)
{
	struct report_cell *cells = calloc(in->n_cells + 1, sizeof(*cells));
	struct report_value *values = calloc(in->n_values + 1, sizeof(*values));
	size_t *moved = calloc(in->n_cells + 1, sizeof(*moved)); /* new index + 1 */
	size_t n_cells = 0, n_values = 0;

	if (!cells || !values || !moved) {
		free(cells);
		free(values);
		free(moved);
		return -ENOMEM;
	}
	for (size_t i = 0; i < in->n_cells; i++) {
		if (!same_slice(&in->cells[i], of, by))
			continue;
		cells[n_cells++] = in->cells[i];
		moved[i] = n_cells;
	}
	for (size_t i = 0; i < in->n_values; i++) {
		if (!moved[in->values[i].cell])
			continue;
		values[n_values] = in->values[i];
		values[n_values++].cell = moved[in->values[i].cell] - 1;
	}
	free(moved);
	*ret = *in;
	ret->cells = cells;
	ret->n_cells = n_cells;
	ret->values = values;
	ret->n_values = n_values;
	return 0;
}

bool report_has_slices(const char *baseline)
{
	size_t len = baseline ? strlen(baseline) : 0;

	return len > 2 &&
	       (strncmp(baseline, "*/", 2) == 0 || strcmp(baseline + len - 2, "/*") == 0);
}

static int do_slice(const struct report_input *in, enum slice_by by, const struct report_cell *of,
		    report_slice_fn fn, void *arg, struct kg_err *err)
{
	struct report_input part;
	struct kg_str baseline = {0};
	int rc;

	if (by == BY_KERNEL) {
		kg_str_addf(&baseline, "%s/%s", of->kernel, in->baseline + 2);
	} else if (by == BY_LSM) {
		kg_str_addn(&baseline, in->baseline, strlen(in->baseline) - 1);
		kg_str_add(&baseline, of->lsm);
	}
	rc = baseline.failed ? -ENOMEM : take_slice(in, by, of, &part);
	if (rc < 0) {
		kg_str_deinit(&baseline);
		return kg_err_set(err, rc, "out of memory");
	}
	part.baseline = baseline.len ? kg_str_text(&baseline) : NULL;
	rc = fn(&part, arg, err);
	kg_str_deinit(&baseline);
	free((void *)(uintptr_t)part.cells);
	free((void *)(uintptr_t)part.values);
	return rc;
}

int report_each_slice(const struct report_input *in, report_slice_fn fn, void *arg,
		      struct kg_err *err)
{
	enum slice_by by = BY_MACHINE;
	struct slice *list;
	size_t n = 0;
	int rc;

	if (in->baseline)
		by = in->baseline[0] == '*' ? BY_KERNEL : BY_LSM;
	list = list_slices(in, by, &n);
	rc = list ? 0 : kg_err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = do_slice(in, by, list[i].of, fn, arg, err);
	free(list);
	return rc;
}
