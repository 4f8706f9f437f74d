/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison tables in the forms of other tools, for people who know those. Pure: a neutral table
 * in, text out. Every difference is computed here from what the cells hold; none is taken over from
 * a file. The first column is the baseline.
 *
 *   mmtests    MMTests' compare-mmtests.pl: Hmean (rates) or Amean (times), difference with positive
 *              better, `*  -5.57%*` marked, kernel on one header line and its variant on the next
 *   lkp        LKP's compare: base +- sd %, change %, new +- sd %, metric; one block a column
 *   benchstat  golang.org/x/perf/cmd/benchstat: median +- interval %, change of medians, p, n
 *   ministat   FreeBSD's ministat without its plot: N, Min, Max, Median, Avg, Stddev, Student's t
 *   csv        one line a cell, with the means and differences of the first two
 */
#ifndef KG_CLI_STYLE_H
#define KG_CLI_STYLE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/str.h"
#include "coordinator/analysis/compat.h"
#include "coordinator/analysis/verdict.h"

struct style_column {
	const char *kernel;  /* "6.4.0" */
	const char *variant; /* "vanilla-nt", the list's name; NULL or "": none */
};

/* All zero: an empty cell. */
struct style_cell {
	const double *values; /* one a boot; borrows; NULL: only the summary below is known */
	size_t n;	      /* of values */
	bool has_mean;	      /* without values: */
	double mean;	      /* of the kind that the row's `stat` says */
	bool has_sd_pct;
	double sd_pct;
	bool has_mark; /* mmtests: the mark is given (imported); else it is computed from values */
	bool mark;
};

struct style_row {
	const char *key;  /* "64", "send-64", "size=64"; in lkp the metric's name */
	const char *stat; /* "hmean", "amean"; NULL: by the direction, amean without one */
	enum verdict_direction
		direction;		/* none: hmean is for rates, others for times in mmtests */
	const char *unit;		/* NULL: not known */
	bool absolute;			/* lkp: the change is a difference (percentages) */
	const struct style_cell *cells; /* as many as the table has columns */
};

struct style_table {
	const char *title;     /* machine and CPU; NULL: no such line */
	const char *benchmark; /* NULL: no such line */
	const char *key_title; /* above the keys: "Buffer size"; NULL: nothing */
	const struct style_column *columns;
	size_t n_columns;
	const struct style_row *rows;
	size_t n_rows;
};

extern const char *const style_names[]; /* of the list above, NULL-terminated */

/* Mean of a cell as `stat` says; false when there is none (empty, a harmonic mean of a value <= 0,
 * not finite). */
bool style_mean(const struct style_row *r, const struct style_cell *c, double *ret);
/* Difference in per cent as MMTests has it, positive is better. False without two means or with a
 * base of 0. */
bool style_mmtests_diff(const struct style_row *r, size_t column, double *ret);
/* LKP's change: per cent of the base or, in absolute rows, the difference. */
bool style_lkp_change(const struct style_row *r, size_t column, double *ret);
/* Whether LKP shows a metric's change as a difference: names ending in '%' and perf-profile. */
bool style_lkp_absolute(const char *metric);
/* A value as LKP prints it: two decimals below 1000, then none, 4 digits above 1e8. */
void style_lkp_value(double v, struct kg_str *out);

void style_mmtests(const struct style_table *t, enum compat_star rule, struct kg_str *out);
void style_lkp(const struct style_table *t, struct kg_str *out);
void style_benchstat(const struct style_table *t, struct kg_str *out);
void style_ministat(const struct style_table *t, struct kg_str *out);
void style_csv(const struct style_table *tables, size_t n, struct kg_str *out);
/* An object with 'tables': title, benchmark and rows, these with key, stat and cells: kernel, variant,
 * value, diff_pct (MMTests': positive is better) and change_pct (LKP's; 'change' where it is a
 * difference). null: not known. */
void style_json(const struct style_table *tables, size_t n, struct kg_str *out);

/* Tables one after the other, an empty line between; also 'json'. KG_EINVALID with a suggestion for an unknown
 * style. mmtests marks by the rule of today (COMPAT_STAR_SD). */
int style_render(const char *style, const struct style_table *tables, size_t n, struct kg_str *out,
		 struct kg_err *err);

struct cli;
/* Renders an imported summary (cli/stat_import.h): table `table` from 1, 0 for all, in `style` (NULL:
 * the one that the file's columns belong to). Talks to cli->err, returns the exit code. */
int style_import_show(struct cli *cli, const char *csv_text, const char *style, unsigned table);

#endif
