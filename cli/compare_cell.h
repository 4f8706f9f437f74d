/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One cell of a comparison as text, and the numbered lines below a table. Pure.
 *
 *   2175.41  -12.30 % [-12.55, -12.05]      value, effect, interval
 *      regression  p=0.0079  q=0.016        verdict, and what it rests on
 */
#ifndef KG_CLI_COMPARE_CELL_H
#define KG_CLI_COMPARE_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/table.h"
#include "common/str.h"
#include "proto/messages.h"

/* Numbered lines, each text once. */
struct footnotes {
	char **texts; /* owned */
	size_t n;
};
size_t footnotes_add(struct footnotes *f, const char *text); /* its number, from 1 */
void footnotes_print(const struct footnotes *f, size_t width, struct kg_str *out);
void footnotes_deinit(struct footnotes *f);

/* Widths of the parts of a column's cells, so that they stand below one another. Zeroed first. */
struct cell_widths {
	int value, delta, lo, hi;
	int word, p, q;
	bool any_delta;
};

/* What most cells of a table have: only what differs from it stands in a cell. */
struct cell_usual {
	uint32_t boots, iterations;
};

bool cell_has_value(const Kgrid__V1__CompareCell *c);
bool cell_has_delta(const Kgrid__V1__CompareCell *c);
bool cell_has_interval(const Kgrid__V1__CompareCell *c);
bool cell_has_verdict(const Kgrid__V1__CompareCell *c);
/* Whether a verdict was reached on numbers: all words but incomparable, with a change to show. */
bool cell_is_compared(const Kgrid__V1__CompareCell *c);
/* Words that need a reason below the table. */
bool cell_needs_reason(const Kgrid__V1__CompareCell *c);
enum table_style cell_style(const Kgrid__V1__CompareCell *c);

/* Percent as tables show it: "+1.20", without a sign "-0.10"; never "-0.00". Its length. */
int percent_text(char *buf, size_t size, bool sign, double v);
/* "0.0079" */
int probability_text(char *buf, size_t size, double v);
/* " [-1.20, 0.35]", or nothing where a bound is missing. */
void interval_text(bool has, double lo, double hi, struct kg_str *out);

/* Takes a cell into the widths of its column; `decimals` of its value. */
void cell_measure(const Kgrid__V1__CompareCell *c, int decimals, struct cell_widths *w);
/* First line; `verdict`: with the verdict's word behind it. Reasons go to `notes`. */
void cell_first_line(const Kgrid__V1__CompareCell *c, int decimals, const struct cell_widths *w,
		     const struct cell_usual *usual, bool verdict, struct footnotes *notes,
		     struct kg_str *out);
/* Second line; empty for a cell without a value. A baseline has its interval there. */
void cell_second_line(const Kgrid__V1__CompareCell *c, int decimals, const struct cell_widths *w,
		      const struct cell_usual *usual, struct footnotes *notes, struct kg_str *out);

#endif
