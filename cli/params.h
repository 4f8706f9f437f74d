/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "seconds=1 size=64 test=UDP_RR" of many rows -> what they share, and a column for each parameter
 * in which they differ. Pure. */
#ifndef KG_CLI_PARAMS_H
#define KG_CLI_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

struct params;

/* Owned, params_free. What a row lacks is "-". A single row shares all it has and leaves no column.
 * Rows that are not of the form above, or all the same, stay whole in one column. */
struct params *params_split(const char *const *rows, size_t n);
void params_free(struct params *p);

const char *params_common(const struct params *p); /* "" when nothing is shared; borrows */
size_t params_columns(const struct params *p);	   /* 0 only with one row */
const char *params_title(const struct params *p, size_t column);
bool params_numeric(const struct params *p, size_t column); /* every value is a number */
const char *params_value(const struct params *p, size_t row, size_t column);

#endif
