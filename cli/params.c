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

static size_t count_words(const char *s)
{
	size_t n = 0;

	for (; *s; s += strspn(s, " ")) {
		n++;
		s += strcspn(s, " ");
	}
	return n;
}

/* The `i`th word and its length. */
static const char *word_at(const char *s, size_t i, size_t *ret_len)
{
	for (; i > 0; i--) {
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	*ret_len = strcspn(s, " ");
	return s;
}

/* Length of the name of "name=value", 0 if it is none. */
static size_t name_length(const char *word, size_t len)
{
	const char *eq = memchr(word, '=', len);

	return eq ? (size_t)(eq - word) : 0;
}

/* Whether all rows have the same names in the same order. */
static bool same_names(const char *const *rows, size_t n, size_t n_words)
{
	size_t i, k;

	for (k = 0; k < n_words; k++) {
		size_t len0, len, name;
		const char *w0 = word_at(rows[0], k, &len0);

		name = name_length(w0, len0);
		if (name == 0)
			return false;
		for (i = 1; i < n; i++) {
			const char *w = word_at(rows[i], k, &len);

			if (name_length(w, len) != name || memcmp(w, w0, name) != 0)
				return false;
		}
	}
	return true;
}

static bool same_word(const char *const *rows, size_t n, size_t k)
{
	size_t len0, len, i;
	const char *w0 = word_at(rows[0], k, &len0);

	for (i = 1; i < n; i++) {
		const char *w = word_at(rows[i], k, &len);

		if (len != len0 || memcmp(w, w0, len) != 0)
			return false;
	}
	return true;
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

static void split_columns(struct params *p, const char *const *rows, size_t n_words)
{
	size_t k, i, at = 0, len;

	for (k = 0; k < n_words; k++)
		p->n_columns += !same_word(rows, p->n_rows, k);
	p->titles = cli_alloc(p->n_columns, sizeof(*p->titles));
	p->values = cli_alloc(p->n_rows * p->n_columns, sizeof(*p->values));
	for (k = 0; k < n_words; k++) {
		const char *w = word_at(rows[0], k, &len);
		size_t name = name_length(w, len);

		if (same_word(rows, p->n_rows, k)) {
			kg_str_add(&p->common, p->common.len ? " " : "");
			kg_str_addn(&p->common, w, len);
			continue;
		}
		p->titles[at] = copy(w, name);
		for (i = 0; i < p->n_rows; i++) {
			w = word_at(rows[i], k, &len);
			p->values[i * p->n_columns + at] = copy(w + name + 1, len - name - 1);
		}
		at++;
	}
}

struct params *params_split(const char *const *rows, size_t n)
{
	struct params *p = cli_alloc(1, sizeof(*p));
	size_t n_words = n ? count_words(rows[0]) : 0, i, differ = 0;
	bool split = n > 1;

	p->n_rows = n;
	for (i = 1; i < n; i++)
		split = split && count_words(rows[i]) == n_words;
	split = split && same_names(rows, n, n_words);
	for (i = 0; split && i < n_words; i++)
		differ += !same_word(rows, n, i);
	if (split && differ > 0)
		split_columns(p, rows, n_words);
	else
		one_column(p, rows);
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
		if (kg_parse_double(params_value(p, i, column), &v) < 0)
			return false;
	return true;
}
