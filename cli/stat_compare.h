/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every side of every group against the baseline, and how that is shown. */
#ifndef KG_CLI_STAT_COMPARE_H
#define KG_CLI_STAT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/stat_read.h"
#include "common/err.h"
#include "common/str.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/verdict.h"

struct stat_options {
	const char *baseline;		  /* NULL: the first side of the files */
	enum verdict_direction direction; /* none: as the files say */
	const char *unit;		  /* NULL: as the files say */
	struct verdict_policy policy;
};

struct stat_pair {
	size_t group;			  /* into stat_data.groups */
	size_t baseline, candidate;	  /* into stat_data.sides */
	const struct stat_cell *cells[2]; /* NULL: no value of that side here */
	struct verdict verdict;
};

struct stat_comparison {
	const struct stat_data *data; /* borrows */
	struct stat_options options;
	size_t baseline;
	struct stat_pair *pairs; /* group by group, sides in order */
	size_t n_pairs;
	size_t n_compared;   /* pairs with both sides */
	size_t n_worse;	     /* regressions */
	size_t n_alone;	     /* groups that hold the baseline alone */
	struct kg_str notes; /* one a line: what a reader must know of all of it */
};

/* Errors of stat_find_side() and verdict_pair(). KG_ENODATA: no two sides; the text says why. `d` must
 * outlive `ret`. */
int stat_compare(const struct stat_data *d, const struct stat_options *o,
		 struct stat_comparison *ret, struct kg_err *err);
void stat_comparison_deinit(struct stat_comparison *c);

enum verdict_direction stat_direction(const struct stat_comparison *c, const struct stat_group *g);
const char *stat_unit(const struct stat_comparison *c, const struct stat_group *g); /* or NULL */

/* Boots' values (medians of their iterations) of a cell: the file's own when each boot has one
 * value, else put into `scratch`, which must have room for cell->boots.n. */
const double *stat_boot_values(const struct stat_cell *cell, double *scratch);

void stat_print_text(const struct stat_comparison *c, size_t width, bool color, struct kg_str *out);
void stat_print_json(const struct stat_comparison *c, struct kg_str *out);
void stat_print_csv(const struct stat_comparison *c, struct kg_str *out);
/* In a form of style.h: a table per machine, vendor, workload and metric, rows are parameters. */
int stat_print_style(const struct stat_comparison *c, const char *style, struct kg_str *out,
		     struct kg_err *err);

#endif
