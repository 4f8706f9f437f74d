/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stat_series.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/csv_read.h"
#include "cli/stat_intern.h"

#define NO_COLUMN SIZE_MAX

struct reading {
	struct csv_file *f;
	size_t series, value; /* columns; series may be NO_COLUMN */
	size_t columns;
	struct intern names;
	uint32_t *ids; /* owned; the series of each value, NULL without a column for it */
	double *values;
	size_t n, cap;
};

static void grow(struct reading *r)
{
	r->cap = r->cap ? 2 * r->cap : 1024;
	r->values = cli_grow(r->values, r->cap, sizeof(*r->values));
	if (r->series != NO_COLUMN)
		r->ids = cli_grow(r->ids, r->cap, sizeof(*r->ids));
}

static int add(struct reading *r, const struct csv_record *rec, struct kg_err *err)
{
	int rc;

	if (rec->n != r->columns)
		return csv_fail(r->f, &rec->fields[0], err, "%zu fields, expected %zu", rec->n,
				r->columns);
	if (r->n == r->cap)
		grow(r);
	rc = csv_number(r->f, &rec->fields[r->value], &r->values[r->n], err);
	if (rc < 0)
		return rc;
	if (r->series != NO_COLUMN) {
		struct csv_field name = csv_trim(&rec->fields[r->series]);

		r->ids[r->n] = intern_add(&r->names, name.text, name.len);
	}
	r->n++;
	return 0;
}

/* Columns by the first record; *ret_is_data: it is no header. */
static int read_header(struct reading *r, const struct csv_record *rec, bool *ret_is_data,
		       struct kg_err *err)
{
	size_t i;

	r->columns = rec->n;
	r->series = r->value = NO_COLUMN;
	*ret_is_data = rec->n == 1 && csv_looks_number(&rec->fields[0]);
	for (i = 0; i < rec->n && !*ret_is_data; i++) {
		size_t *column = csv_is(&rec->fields[i], "series")  ? &r->series
				 : csv_is(&rec->fields[i], "value") ? &r->value
								    : NULL;

		if (column && *column != NO_COLUMN)
			return csv_fail(r->f, &rec->fields[i], err, "the column stands twice");
		if (column)
			*column = i;
	}
	if (rec->n == 1 && r->series == NO_COLUMN) {
		struct csv_field name = csv_trim(&rec->fields[0]);

		r->value = 0;
		if (*ret_is_data)
			(void)intern_add(&r->names, csv_name(r->f), strlen(csv_name(r->f)));
		else
			(void)intern_add(&r->names, name.text, name.len);
		return 0;
	}
	if (r->value == NO_COLUMN)
		return csv_fail(r->f, &rec->fields[0], err,
				"no column 'value', expected a header such as 'series,value', or "
				"one column of numbers");
	if (r->series == NO_COLUMN)
		(void)intern_add(&r->names, "value", strlen("value"));
	return 0;
}

static int read_all(struct reading *r, struct kg_err *err)
{
	struct csv_record rec;
	bool is_data = false;
	int rc = csv_next(r->f, &rec, err);

	if (rc == 1) {
		rc = read_header(r, &rec, &is_data, err);
		if (rc == 0 && is_data)
			rc = add(r, &rec, err);
		while (rc == 0 && (rc = csv_next(r->f, &rec, err)) == 1)
			rc = add(r, &rec, err);
	}
	if (rc == 0 && r->n == 0)
		return kg_err_set(err, KG_ENODATA, "'%s' has no values", csv_name(r->f));
	return rc;
}

/* Values of one series next to each other, in their order. */
static void arrange(struct reading *r, struct stat_series *ret)
{
	size_t *at;
	size_t i;

	ret->n = r->names.n;
	ret->n_values = r->n;
	ret->unnamed = r->columns > 1 && r->series == NO_COLUMN;
	ret->series = cli_alloc(ret->n, sizeof(*ret->series));
	for (i = 0; i < ret->n; i++) {
		ret->series[i].name = r->names.texts[i].text;
		ret->series[i].name_len = r->names.texts[i].len;
	}
	if (!r->ids) {
		ret->series[0].n = r->n;
		ret->series[0].values = ret->values = r->values;
		r->values = NULL;
		return;
	}
	ret->values = cli_alloc(r->n, sizeof(*ret->values));
	at = cli_alloc(ret->n, sizeof(*at));
	for (i = 0; i < r->n; i++)
		ret->series[r->ids[i]].n++;
	for (i = 1; i < ret->n; i++)
		at[i] = at[i - 1] + ret->series[i - 1].n;
	for (i = 0; i < ret->n; i++)
		ret->series[i].values = ret->values + at[i];
	for (i = 0; i < r->n; i++)
		ret->values[at[r->ids[i]]++] = r->values[i];
	free(at);
}

int stat_series_read(struct csv_file *f, struct stat_series *ret, struct kg_err *err)
{
	struct reading r = {.f = f};
	int rc = read_all(&r, err);

	if (rc == 0) {
		*ret = (struct stat_series){0};
		arrange(&r, ret);
	}
	intern_deinit(&r.names);
	free(r.ids);
	free(r.values);
	return rc;
}

void stat_series_deinit(struct stat_series *s)
{
	free(s->series);
	free(s->values);
}
