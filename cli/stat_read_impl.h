/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by stat_read.c, which reads rows, and stat_arrange.c, which makes groups of them. */
#ifndef KG_CLI_STAT_READ_IMPL_H
#define KG_CLI_STAT_READ_IMPL_H

#include "cli/stat_intern.h"
#include "cli/stat_read.h"
#include "common/str.h"

enum column {
	COLUMN_KERNEL = STAT_KEYS,
	COLUMN_LSM,
	COLUMN_JOB,
	COLUMN_ATTEMPT,
	COLUMN_BOOT,
	COLUMN_UNIT,
	COLUMN_DIRECTION,
	COLUMN_OUTCOME,
	COLUMN_WARMUP,
	COLUMN_ITERATION,
	COLUMN_BLOCK,
	COLUMN_MONOTONIC,
	COLUMN_VALUE,
	COLUMNS
};

#define NONE	  UINT32_MAX		/* number of a text that is not there */
#define BOOT_OWN  UINT32_C(0x80000000)	/* with the value's number: a boot of its own */
#define RAW_WIDTH (STAT_GROUP_KEYS + 1) /* group keys, kernel, lsm, file */

struct stat_file {
	const char *path; /* borrows */
	char *label;	  /* owned */
	struct csv_file *csv;
	bool labelled; /* LABEL=FILE */
	bool plain, no_boots;
};

struct stat_row {
	uint32_t raw, boot;
	double value;
};

/* Rows that agree in all texts and the file. */
struct raw_cell {
	uint32_t unit, group, side;
	enum verdict_direction direction;
	size_t line; /* of its first row */
};

#define BOOT_TABLES    4
#define BOOT_TABLE_MAX (1U << 21) /* entries, 16 MiB with room to grow */

/* Boots that have small numbers, of one file, job and attempt: by number, which costs no hash. */
struct boot_numbers {
	uint32_t *ids; /* owned; id + 1, 0: not seen */
	size_t n;
};

struct stat_store {
	struct stat_file *files;
	size_t n_files;
	struct intern texts[COLUMNS];
	char **copies[COLUMNS]; /* the texts with a NUL, made when asked for */
	size_t n_copies[COLUMNS];
	struct intern_tuples raws;		  /* RAW_WIDTH */
	struct intern_tuples scopes;		  /* file, job, attempt */
	struct boot_numbers numbers[BOOT_TABLES]; /* of the first scopes */
	struct intern_tuples boot_names;	  /* scope, boot as a text */
	uint32_t *name_ids;			  /* of boot_names */
	size_t n_names;
	size_t n_boots;		/* ids given */
	struct raw_cell *cells; /* of raws */
	size_t n_cells, cells_cap;
	struct stat_row *rows;
	size_t n_rows, rows_cap;
	size_t n_own; /* boots that are one value */
	struct intern unknown;
	size_t n_unknown;
	struct kg_str unknown_text;
	/* what stat_data lends */
	double *values;
	struct verdict_boot *boots;
	struct stat_cell *out_cells;
};

/* Fills everything of `d` but has_key, left_out_* and store. */
int stat_arrange(struct stat_data *d, struct kg_err *err);

#endif
