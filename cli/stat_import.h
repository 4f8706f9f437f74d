/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Summaries of other grids as CSV, recognised by their header:
 *
 *   mmtests   table,machine,cpu,benchmark,kernel,suffix,key,stat,value,delta_pct,significant
 *             needs kernel, key, value; a row is one cell. The first (kernel, suffix) of a table is
 *             its baseline. stat: hmean (rates) or amean (times). significant: the published mark.
 *   lkp       metric,base,base_stddev_pct,change,change_is_pct,new,new_stddev_pct
 *             needs metric, base, new; a row is one line.
 *
 * Other columns are left alone. delta_pct and change are what was published: never shown, only held
 * against the difference that the values give.
 */
#ifndef KG_CLI_STAT_IMPORT_H
#define KG_CLI_STAT_IMPORT_H

#include <stddef.h>

#include "cli/style.h"
#include "common/err.h"

enum import_kind { IMPORT_MMTESTS, IMPORT_LKP };

struct import {
	enum import_kind kind;
	struct style_table *tables;
	char **labels; /* of tables: what the column `table` says, else "1", "2", .. */
	size_t n_tables;
	size_t n_cells; /* with a value */
	/* Published differences against those of the values: */
	size_t n_equal;	   /* to the last digit */
	size_t n_rounding; /* within what rounding of the values allows */
	size_t n_other;	   /* neither */
	size_t other_line; /* of the first such, 0: none */
	struct import_store *store;
};

/* `name` stands in errors. KG_EINVALID with FILE:LINE:COLUMN; KG_ENODATA: a header alone. */
int import_parse(const char *name, const char *text, size_t len, struct import *ret,
		 struct kg_err *err);
void import_deinit(struct import *im);
const char *import_style(const struct import *im); /* "mmtests", "lkp" */
/* "363 differences: 362 as published, 1 within the rounding of its values" */
void import_accounting(const struct import *im, struct kg_str *out);
/* Renders table `table` (its label, else its place from 1; 0: all). KG_ENOTFOUND. */
int import_render(const struct import *im, const char *style, unsigned table, struct kg_str *out,
		  struct kg_err *err);

#endif
