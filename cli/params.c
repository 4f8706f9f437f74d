/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/params.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

struct params {
	struct kg_str common;
	size_t n_rows, n_columns;
	char **titles; /* owned, n_columns, each too */
	char **values; /* owned, n_rows x n_columns, each too */
};

/* The value of a parameter in a row and its length; NULL when the row has none. */
static const char *value_of(const char *row, const char *name, size_t *ret_len)
{
	size_t name_len = strlen(name);

	for (; *row; row += strspn(row, " ")) {
		size_t len = strcspn(row, " ");

		if (len > name_len && row[name_len] == '=' && strncmp(row, name, name_len) == 0) {
			*ret_len = len - name_len - 1;
			return row + name_len + 1;
		}
		row += len;
	}
	return NULL;
}

/* Whether all rows have the parameter, with the same value. */
static bool is_shared(const char *const *rows, size_t n, const char *name)
{
	size_t len0 = 0, len, i;
	const char *v0 = value_of(rows[0], name, &len0);

	for (i = 1; v0 && i < n; i++) {
		const char *v = value_of(rows[i], name, &len);

		if (!v || len != len0 || memcmp(v, v0, len) != 0)
			return false;
	}
	return v0 != NULL;
}

static char *copy(const char *s, size_t len)
{
	char *r = cli_alloc(len + 1, 1);

	memcpy(r, s, len);
	return r;
}

static void one_column(struct params *p, const char *const *rows)
{
	size_t i;

	p->n_columns = 1;
	p->titles = cli_alloc(1, sizeof(*p->titles));
	p->titles[0] = cli_strdup("parameters");
	p->values = cli_alloc(p->n_rows, sizeof(*p->values));
	for (i = 0; i < p->n_rows; i++)
		p->values[i] = cli_strdup(rows[i][0] ? rows[i] : "-");
}

/* The names of all rows, in the order in which they appear. False when a word is no name=value. */
static bool all_names(const char *const *rows, size_t n, char ***ret_names, size_t *ret_n)
{
	char **names = NULL;
	size_t count = 0, i, k;
	bool good = true;

	for (i = 0; i < n; i++) {
		const char *p;

		for (p = rows[i]; *p; p += strspn(p, " ")) {
			size_t len = strcspn(p, " "), name = strcspn(p, "= ");

			good = good && name > 0 && p[name] == '=';
			for (k = 0; k < count; k++)
				if (strlen(names[k]) == name && memcmp(names[k], p, name) == 0)
					break;
			if (k == count) {
				names = cli_grow(names, count + 1, sizeof(*names));
				names[count++] = copy(p, name);
			}
			p += len;
		}
	}
	*ret_names = names;
	*ret_n = count;
	return good;
}

/* Makes a column of a parameter. */
static void add_column(struct params *p, const char *const *rows, const char *name, size_t at)
{
	size_t i, len;

	p->titles[at] = cli_strdup(name);
	for (i = 0; i < p->n_rows; i++) {
		const char *v = value_of(rows[i], name, &len);

		p->values[i * p->n_columns + at] = v ? copy(v, len) : cli_strdup("-");
	}
}

static void split_columns(struct params *p, const char *const *rows, char **names, size_t n_names)
{
	size_t k, at = 0;

	for (k = 0; k < n_names; k++)
		p->n_columns += !is_shared(rows, p->n_rows, names[k]);
	p->titles = cli_alloc(p->n_columns, sizeof(*p->titles));
	p->values = cli_alloc(p->n_rows * p->n_columns, sizeof(*p->values));
	for (k = 0; k < n_names; k++) {
		const char *v;
		size_t len = 0;

		if (!is_shared(rows, p->n_rows, names[k])) {
			add_column(p, rows, names[k], at++);
			continue;
		}
		v = value_of(rows[0], names[k], &len);
		kg_str_addf(&p->common, "%s%s=", p->common.len ? " " : "", names[k]);
		kg_str_addn(&p->common, v ? v : "", len);
	}
}

struct params *params_split(const char *const *rows, size_t n)
{
	struct params *p = cli_alloc(1, sizeof(*p));
	size_t n_names, k, differ = 0;
	char **names;

	p->n_rows = n;
	if (all_names(rows, n, &names, &n_names)) {
		for (k = 0; k < n_names; k++)
			differ += !is_shared(rows, n, names[k]);
	}
	if (differ > 0 || n == 1)
		split_columns(p, rows, names, n_names);
	else
		one_column(p, rows);
	for (k = 0; k < n_names; k++)
		free(names[k]);
	free(names);
	return p;
}

void params_free(struct params *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->n_columns; i++)
		free(p->titles[i]);
	for (i = 0; i < p->n_rows * p->n_columns; i++)
		free(p->values[i]);
	free(p->titles);
	free(p->values);
	kg_str_deinit(&p->common);
	free(p);
}

const char *params_common(const struct params *p)
{
	return kg_str_text(&p->common);
}

size_t params_columns(const struct params *p)
{
	return p->n_columns;
}

const char *params_title(const struct params *p, size_t column)
{
	return p->titles[column];
}

const char *params_value(const struct params *p, size_t row, size_t column)
{
	return p->values[row * p->n_columns + column];
}

bool params_numeric(const struct params *p, size_t column)
{
	double v;
	size_t i;

	for (i = 0; i < p->n_rows; i++)
		if (strcmp(params_value(p, i, column), "-") != 0 &&
		    kg_parse_double(params_value(p, i, column), &v) < 0)
			return false;
	return true;
}
