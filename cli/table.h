/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aligned tables. Pure: cells in, text out. Cells are made safe to show (width.h) when added.
 * A table that is wider than asked wraps its last column, then its widest ones, at spaces and
 * commas; where words would have to be broken, each row becomes a list of titles and cells. No text
 * is lost, and no line is longer than asked but for a single long word.
 */
#ifndef KG_CLI_TABLE_H
#define KG_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"

enum table_style { TABLE_PLAIN, TABLE_GOOD, TABLE_BAD, TABLE_DIM, TABLE_STYLES };

struct table;

/* `align`: one letter per column, 'l' or 'r'; its length is the number of columns. Titles are
 * added like cells, with table_title; a newline in a title makes another title line, and titles
 * stand on the bottom line. Owned, table_free. */
struct table *table_new(const char *align);
void table_free(struct table *t);
void table_title(struct table *t, const char *text);
/* The next cell, rows fill from the left. */
void table_cell(struct table *t, const char *text);
void table_cellf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_styled(struct table *t, enum table_style style, const char *text);
/* A titleless two-column table is a list of "key  value" lines. */
void table_pair(struct table *t, const char *key, const char *value);

size_t table_rows(const struct table *t);
/* Columns that the table takes when nothing wraps. */
size_t table_width(const struct table *t);

/* `indent` spaces in front of each line. `width` 0: no limit. */
void table_render(const struct table *t, size_t indent, size_t width, bool color,
		  struct kg_str *out);

/* "\033[..m" that begins a style, "" for plain. */
const char *table_style_on(enum table_style style);
#define TABLE_STYLE_OFF "\033[0m"

/* Appends text wrapped at spaces and commas to `width` columns, continuation lines indented. The
 * first line starts at column `at`. Ends with a newline. */
void text_wrap(struct kg_str *out, const char *text, size_t at, size_t indent, size_t width);

#endif
