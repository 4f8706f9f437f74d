/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the styles. */
#ifndef KG_CLI_STYLE_IMPL_H
#define KG_CLI_STYLE_IMPL_H

#include "cli/style.h"
#include "coordinator/analysis/summary.h"

void style_pad(struct kg_str *out, size_t n);
/* Text made safe, in so many columns of a terminal at least. */
void style_right(struct kg_str *out, const char *text, size_t width);
void style_left(struct kg_str *out, const char *text, size_t width);
void style_line(struct kg_str *out, const char *text); /* NULL: nothing */
/* "6.4.0/vanilla-nt" */
void style_column_name(const struct style_column *c, struct kg_str *out);
bool style_harmonic(const struct style_row *r);
/* False for a cell without values. */
bool style_summary(const struct style_cell *c, struct stats_summary *ret);

#endif
