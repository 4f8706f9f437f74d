/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Series of numbers in order, from people's own files. */
#ifndef KG_CLI_STAT_SERIES_H
#define KG_CLI_STAT_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct csv_file;

struct stat_one_series {
	const char *name; /* borrows from the file; not NUL-terminated */
	size_t name_len;
	const double *values; /* borrows from the set */
	size_t n;	      /* > 0 */
};

struct stat_series {
	struct stat_one_series *series; /* owned; in order of appearance */
	size_t n;
	double *values; /* owned */
	size_t n_values;
	bool unnamed; /* there are several columns, and none is 'series': all values are one series */
};

/* Long CSV: a header with the columns 'series' and 'value' (others are left out), the lines of a
 * series in order, those of several may alternate. A header with 'value' alone, or one column with
 * or without a name: one series, called by its header, else as the file. KG_EINVALID names file and
 * line; KG_ENODATA: no value. `ret` lives no longer than `f`; stat_series_deinit. */
int stat_series_read(struct csv_file *f, struct stat_series *ret, struct kg_err *err);
void stat_series_deinit(struct stat_series *s);

#endif
