/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A baseline in each slice of the job: every kernel, or every LSM list, is a comparison of its own, with
 * its own columns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/compare_internal.h"
#include "coordinator/report/kernel_version.h"

static const char *slice_of(const struct report_cell *c, bool by_kernel)
{
	return by_kernel ? c->kernel : c->lsm;
}

struct slice {
	const char *name;
	const char *release;
	uint32_t order; /* smallest in the job files */
	bool by_version;
};

static int order_slices(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int rc = x->by_version ? kernel_version_compare(x->release, y->release)
			       : (x->order > y->order) - (x->order < y->order);

	return rc ? rc : strcmp(x->name, y->name);
}

/* Names of the slices, in order; owned. */
static struct slice *list_slices(const struct report_input *in, bool by_kernel, size_t *ret_n)
{
	struct slice *list = calloc(in->n_cells + 1, sizeof(*list));
	size_t n = 0;

	for (size_t i = 0; list && i < in->n_cells; i++) {
		const struct report_cell *c = &in->cells[i];
		uint32_t order = by_kernel ? c->kernel_order : c->lsm_order;
		size_t k = 0;

		while (k < n && strcmp(list[k].name, slice_of(c, by_kernel)) != 0)
			k++;
		if (k == n)
			list[n++] = (struct slice){slice_of(c, by_kernel),
						   c->release ? c->release : c->kernel, order,
						   by_kernel && in->selection};
		else if (order < list[k].order)
			list[k].order = order;
	}
	if (n)
		qsort(list, n, sizeof(*list), order_slices);
	*ret_n = n;
	return list;
}

/* The input with only the cells of one slice, and their values. */
static int take_slice(const struct report_input *in, bool by_kernel, const char *name,
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
		if (strcmp(slice_of(&in->cells[i], by_kernel), name) != 0)
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

static int do_slice(const struct report_input *in, bool by_kernel, const char *name,
		    report_slice_fn fn, void *arg, struct kg_err *err)
{
	size_t len = strlen(in->baseline) - 2;
	struct report_input part;
	char baseline[512];
	int rc;

	if (by_kernel)
		(void)snprintf(baseline, sizeof(baseline), "%s/%s", name, in->baseline + 2);
	else
		(void)snprintf(baseline, sizeof(baseline), "%.*s/%s", (int)len, in->baseline, name);
	rc = take_slice(in, by_kernel, name, &part);
	if (rc < 0)
		return kg_err_set(err, rc, "out of memory");
	part.baseline = baseline;
	rc = fn(&part, arg, err);
	free((void *)(uintptr_t)part.cells);
	free((void *)(uintptr_t)part.values);
	return rc;
}

int report_each_slice(const struct report_input *in, report_slice_fn fn, void *arg,
		      struct kg_err *err)
{
	bool by_kernel = in->baseline[0] == '*';
	size_t n = 0;
	struct slice *list = list_slices(in, by_kernel, &n);
	int rc = list ? 0 : kg_err_set(err, -ENOMEM, "out of memory");

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = do_slice(in, by_kernel, list[i].name, fn, arg, err);
	free(list);
	return rc;
}
