/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/width.h"

#define GAP	   2  /* columns between two columns */
#define WRAP_LEAST 20 /* a last column is not wrapped to less */

struct cell {
	char *text; /* owned */
	enum table_style style;
};

struct table {
	char *align; /* owned */
	size_t n_columns;
	char **titles; /* owned, n_titles of n_columns are set */
	size_t n_titles;
	struct cell *cells; /* owned, row after row */
	size_t n_cells;
};

struct table *table_new(const char *align)
{
	struct table *t = cli_alloc(1, sizeof(*t));

	t->align = cli_strdup(align);
	t->n_columns = strlen(align);
	t->titles = cli_alloc(t->n_columns, sizeof(*t->titles));
	return t;
}

void table_free(struct table *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->n_titles; i++)
		free(t->titles[i]);
	for (i = 0; i < t->n_cells; i++)
		free(t->cells[i].text);
	free(t->titles);
	free(t->cells);
	free(t->align);
	free(t);
}

static char *clean(const char *text, bool lines)
{
	struct kg_str s = {0};
	char *r;

	text_clean(&s, text, strlen(text), lines);
	r = kg_str_take(&s);
	return r ? r : cli_strdup("");
}

void table_title(struct table *t, const char *text)
{
	if (t->n_titles < t->n_columns)
		t->titles[t->n_titles++] = clean(text, true);
}

void table_styled(struct table *t, enum table_style style, const char *text)
{
	/* grown by doubling at powers of two */
	if ((t->n_cells & (t->n_cells - 1)) == 0)
		t->cells = cli_grow(t->cells, t->n_cells ? t->n_cells * 2 : 1, sizeof(*t->cells));
	t->cells[t->n_cells].text = clean(cli_text(text), false);
	t->cells[t->n_cells++].style = style;
}

void table_cell(struct table *t, const char *text)
{
	table_styled(t, TABLE_PLAIN, text);
}

void table_cellf(struct table *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_cell(t, text);
}

void table_pair(struct table *t, const char *key, const char *value)
{
	table_cell(t, key);
	table_cell(t, value);
}

size_t table_rows(const struct table *t)
{
	return (t->n_cells + t->n_columns - 1) / t->n_columns;
}

/* The `line`th line of a title counted from the last, or "" */
static void title_line(const char *title, size_t lines, size_t line, struct kg_str *ret)
{
	size_t have = 1, skip;
	const char *p;

	kg_str_clear(ret);
	for (p = title; *p; p++)
		have += *p == '\n';
	if (line + have < lines)
		return;
	skip = line + have - lines;
	for (p = title; skip > 0; skip--)
		p = strchr(p, '\n') + 1;
	kg_str_addn(ret, p, strcspn(p, "\n"));
}

static size_t title_lines(const struct table *t)
{
	size_t most = 0, i;

	for (i = 0; i < t->n_titles; i++) {
		size_t n = 1;
		const char *p;

		for (p = t->titles[i]; *p; p++)
			n += *p == '\n';
		most = n > most ? n : most;
	}
	return most;
}

static void column_widths(const struct table *t, size_t *ret_widths)
{
	size_t lines = title_lines(t), i, line;
	struct kg_str s = {0};

	for (i = 0; i < t->n_titles; i++) {
		for (line = 0; line < lines; line++) {
			size_t w;

			title_line(t->titles[i], lines, line, &s);
			w = text_width(kg_str_text(&s));
			ret_widths[i] = w > ret_widths[i] ? w : ret_widths[i];
		}
	}
	for (i = 0; i < t->n_cells; i++) {
		size_t w = text_width(t->cells[i].text);

		if (w > ret_widths[i % t->n_columns])
			ret_widths[i % t->n_columns] = w;
	}
	kg_str_deinit(&s);
}

size_t table_width(const struct table *t)
{
	size_t *widths = cli_alloc(t->n_columns, sizeof(*widths));
	size_t sum = 0, i;

	column_widths(t, widths);
	for (i = 0; i < t->n_columns; i++)
		sum += widths[i] + (i ? GAP : 0);
	free(widths);
	return sum;
}

static void spaces(struct kg_str *out, size_t n)
{
	while (n-- > 0)
		kg_str_add(out, " ");
}

const char *table_style_on(enum table_style style)
{
	static const char *const on[TABLE_STYLES] = {"", "\033[32m", "\033[31m", "\033[2m"};

	return (unsigned)style < TABLE_STYLES ? on[style] : "";
}

static void add_cell(struct kg_str *out, const char *text, size_t width, char align, bool last)
{
	size_t w = text_width(text);
	size_t pad = width > w ? width - w : 0;

	if (align == 'r')
		spaces(out, pad);
	kg_str_add(out, text);
	if (align != 'r' && !last)
		spaces(out, pad);
}

/* Bytes of `p` for one line of at most `room` columns: up to the last place to break, or all. */
static size_t line_bytes(const char *p, size_t room)
{
	size_t fit = text_fit(p, room), i;

	if (!p[fit] || p[fit] == ' ')
		return fit;
	for (i = fit; i > 0; i--)
		if (p[i - 1] == ' ' || p[i - 1] == ',')
			return i;
	/* no place: take the word whole */
	for (i = fit ? fit : 1; p[i] && p[i] != ' ' && p[i - 1] != ','; i++)
		;
	return i;
}

void text_wrap(struct kg_str *out, const char *text, size_t at, size_t indent, size_t width)
{
	const char *p = text;
	bool first = true;

	do {
		size_t room = width > (first ? at : indent) ? width - (first ? at : indent) : 1;
		size_t n = width ? line_bytes(p, room) : strlen(p);
		size_t shown = n;

		if (!first)
			spaces(out, indent);
		while (shown > 0 && p[shown - 1] == ' ')
			shown--;
		kg_str_addn(out, p, shown);
		kg_str_add(out, "\n");
		p += n;
		while (*p == ' ')
			p++;
		first = false;
	} while (*p);
}

static void trim_line(struct kg_str *out)
{
	while (out->len > 0 && out->text[out->len - 1] == ' ')
		out->text[--out->len] = '\0';
}

static void render_titles(const struct table *t, const size_t *widths, size_t indent,
			  struct kg_str *out)
{
	size_t lines = title_lines(t), line, i;
	struct kg_str s = {0};

	for (line = 0; line < lines; line++) {
		spaces(out, indent);
		for (i = 0; i < t->n_titles; i++) {
			spaces(out, i ? GAP : 0);
			title_line(t->titles[i], lines, line, &s);
			add_cell(out, kg_str_text(&s), widths[i], t->align[i],
				 i + 1 == t->n_columns);
		}
		trim_line(out);
		kg_str_add(out, "\n");
	}
	kg_str_deinit(&s);
}

static void render_row(const struct table *t, const struct cell *row, size_t n,
		       const size_t *widths, size_t indent, size_t width, bool color,
		       struct kg_str *out)
{
	size_t at = indent, i;

	spaces(out, indent);
	for (i = 0; i < n; i++) {
		bool last = i + 1 == t->n_columns;
		const char *on = color ? table_style_on(row[i].style) : "";

		spaces(out, i ? GAP : 0);
		at += i ? GAP : 0;
		kg_str_add(out, on);
		if (last && t->align[i] == 'l') {
			text_wrap(out, row[i].text, at, at, width);
			out->text[--out->len] = '\0'; /* its newline comes below */
		} else {
			add_cell(out, row[i].text, widths[i], t->align[i], last);
		}
		if (on[0])
			kg_str_add(out, TABLE_STYLE_OFF);
		at += widths[i];
	}
	trim_line(out);
	kg_str_add(out, "\n");
}

void table_render(const struct table *t, size_t indent, size_t width, bool color,
		  struct kg_str *out)
{
	size_t *widths = cli_alloc(t->n_columns, sizeof(*widths));
	size_t before = indent, i;

	column_widths(t, widths);
	for (i = 0; i + 1 < t->n_columns; i++)
		before += widths[i] + GAP;
	if (width && width < before + WRAP_LEAST)
		width = before + WRAP_LEAST;
	render_titles(t, widths, indent, out);
	for (i = 0; i < t->n_cells; i += t->n_columns) {
		size_t n = t->n_cells - i < t->n_columns ? t->n_cells - i : t->n_columns;

		render_row(t, t->cells + i, n, widths, indent, width, color, out);
	}
	free(widths);
}
