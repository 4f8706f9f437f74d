/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/width.h"

#define GAP	   2  /* columns between two columns */
#define WRAP_LEAST 20 /* columns are not wrapped to less while that is enough */

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

/* `len` bytes of `text`, padded to a column, but not at the end of a line. */
static void add_cell(struct kg_str *out, const char *text, size_t len, size_t width, char align,
		     bool last, const char *on)
{
	struct kg_str s = {0};
	size_t w, pad;

	kg_str_addn(&s, text, len);
	w = text_width(kg_str_text(&s));
	pad = width > w ? width - w : 0;
	on = len > 0 ? on : "";
	kg_str_add(out, on);
	if (align == 'r')
		spaces(out, pad);
	kg_str_add(out, kg_str_text(&s));
	if (align != 'r' && !last)
		spaces(out, pad);
	if (on[0])
		kg_str_add(out, TABLE_STYLE_OFF);
	kg_str_deinit(&s);
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
			add_cell(out, kg_str_text(&s), s.len, widths[i], t->align[i],
				 i + 1 == t->n_columns, "");
		}
		trim_line(out);
		kg_str_add(out, "\n");
	}
	kg_str_deinit(&s);
}

/* The next line of a cell's text: bytes to show, *p goes on behind it. */
static size_t next_line(const char **p, size_t width)
{
	const char *text = *p;
	size_t n, shown;

	if (text_width(text) <= width) { /* whole, with the spaces that it was given */
		*p += strlen(text);
		return strlen(text);
	}
	n = line_bytes(text, width ? width : 1);
	shown = n;

	while (shown > 0 && text[shown - 1] == ' ')
		shown--;
	*p += n;
	while (**p == ' ')
		(*p)++;
	return shown;
}

static void render_row(const struct table *t, const struct cell *row, size_t n,
		       const size_t *widths, size_t indent, bool color, struct kg_str *out)
{
	const char **rest = cli_alloc(n, sizeof(*rest));
	bool more = true;
	size_t i;

	for (i = 0; i < n; i++)
		rest[i] = row[i].text;
	while (more) {
		more = false;
		spaces(out, indent);
		for (i = 0; i < n; i++) {
			const char *text = rest[i];
			size_t len = next_line(&rest[i], widths[i]);

			spaces(out, i ? GAP : 0);
			add_cell(out, text, len, widths[i], t->align[i], i + 1 == t->n_columns,
				 color ? table_style_on(row[i].style) : "");
			more = more || *rest[i];
		}
		trim_line(out);
		kg_str_add(out, "\n");
	}
	free(rest);
}

/* Columns of the longest piece of a text that is never broken. */
static size_t longest_word(const char *text)
{
	size_t most = 0;

	while (*text) {
		struct kg_str word = {0};
		size_t n = 0, w;

		while (text[n] && text[n] != ' ' && text[n] != ',')
			n++;
		n += text[n] == ',';
		kg_str_addn(&word, text, n);
		w = text_width(kg_str_text(&word));
		most = w > most ? w : most;
		kg_str_deinit(&word);
		text += n;
		text += *text == ' ';
	}
	return most;
}

/* What each column needs at the least: its titles whole, and its longest word. */
static void least_widths(const struct table *t, const size_t *natural, size_t *ret_least)
{
	struct table titles = *t;
	size_t i;

	titles.n_cells = 0;
	column_widths(&titles, ret_least);
	for (i = 0; i < t->n_columns; i++)
		if (t->align[i] == 'r')
			ret_least[i] = natural[i];
	for (i = 0; i < t->n_cells; i++) {
		size_t column = i % t->n_columns, w;

		if (t->align[column] == 'r' || ret_least[column] >= natural[column])
			continue;
		w = longest_word(t->cells[i].text);
		ret_least[column] = w > ret_least[column] ? w : ret_least[column];
	}
}

static size_t sum_widths(const size_t *widths, size_t n)
{
	size_t sum = n > 0 ? (n - 1) * GAP : 0, i;

	for (i = 0; i < n; i++)
		sum += widths[i];
	return sum;
}

/* Takes columns from the widest of `first` .. until all fit into `room`. */
static bool squeeze(size_t *widths, const size_t *floors, size_t first, size_t n, size_t room)
{
	size_t over = sum_widths(widths, n), i;

	over = over > room ? over - room : 0;
	for (; over > 0; over--) {
		size_t widest = n;

		for (i = first; i < n; i++)
			if (widths[i] > floors[i] && (widest == n || widths[i] >= widths[widest]))
				widest = i;
		if (widest == n)
			return false;
		widths[widest]--;
	}
	return true;
}

/* Widths with which the table fits into `room`: the last column gives way first, then the widest.
 * False: words would have to be broken. */
static bool fit_widths(const struct table *t, size_t *widths, size_t room)
{
	size_t n = t->n_columns, i;
	size_t *natural = cli_alloc(n, sizeof(*natural)), *least = cli_alloc(n, sizeof(*least));
	size_t *floors = cli_alloc(n, sizeof(*floors));
	bool fits;

	memcpy(natural, widths, n * sizeof(*widths));
	least_widths(t, natural, least);
	for (i = 0; i < n; i++) {
		floors[i] = natural[i] < WRAP_LEAST ? natural[i] : WRAP_LEAST;
		floors[i] = least[i] > floors[i] ? least[i] : floors[i];
	}
	fits = squeeze(widths, floors, n - 1, n, room);
	if (!fits) {
		memcpy(widths, natural, n * sizeof(*widths));
		fits = squeeze(widths, floors, 0, n, room) || squeeze(widths, least, 0, n, room);
	}
	free(natural);
	free(least);
	free(floors);
	return fits;
}

static void render_rows(const struct table *t, const size_t *widths, size_t indent, bool color,
			struct kg_str *out)
{
	size_t i;

	render_titles(t, widths, indent, out);
	for (i = 0; i < t->n_cells; i += t->n_columns) {
		size_t n = t->n_cells - i < t->n_columns ? t->n_cells - i : t->n_columns;

		render_row(t, t->cells + i, n, widths, indent, color, out);
	}
}

/* Each row as a list of titles and cells. */
static void render_lists(const struct table *t, size_t indent, size_t width, bool color,
			 struct kg_str *out)
{
	size_t i, k;

	for (i = 0; i < t->n_cells; i += t->n_columns) {
		struct table *list = table_new("ll");

		for (k = i; k < t->n_cells && k < i + t->n_columns; k++) {
			const struct cell *c = &t->cells[k];
			char *title, *p;

			if (!c->text[0])
				continue;
			title = cli_strdup(t->titles[k - i]);
			while ((p = strchr(title, '\n')))
				*p = ' ';
			table_cell(list, title + strspn(title, " "));
			table_styled(list, c->style, c->text);
			free(title);
		}
		if (i > 0)
			kg_str_add(out, "\n");
		table_render(list, indent, width, color, out);
		table_free(list);
	}
}

void table_render(const struct table *t, size_t indent, size_t width, bool color,
		  struct kg_str *out)
{
	size_t *widths = cli_alloc(t->n_columns, sizeof(*widths));
	bool fits;

	column_widths(t, widths);
	fits = width == 0 || fit_widths(t, widths, width > indent ? width - indent : 1);
	/* A list of lists is no narrower; without titles nothing would say what is what. */
	if (fits || t->n_columns < 3 || t->n_titles < t->n_columns)
		render_rows(t, widths, indent, color, out);
	else
		render_lists(t, indent, width, color, out);
	free(widths);
}
