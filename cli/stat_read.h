/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * People's own files, read for a comparison.
 *
 * Plain numbers: one a line, one file a side; the label is the file's name without folder and
 * ending, or LABEL of LABEL=FILE.
 *
 * CSV with a header of these names, in any order and case, `value` at least:
 *   machine vendor workload params metric   what is there of them makes the group
 *   kernel lsm                              what is there of them makes the side, "KERNEL/LSM"
 *   job attempt boot                        values that agree in what is there of them, within a
 *                                           file, are iterations of one boot; without `boot` each
 *                                           value is a boot of its own
 *   unit direction                          one per group; direction is higher, lower or empty
 *   outcome warmup                          only rows of outcome pass and warmup 0 are read
 *   iteration block monotonic_ns            not needed, so that `kgrid samples` can be read as it is
 * Others are left out, with a note. Sides are the files where neither kernel nor lsm is there, where
 * a LABEL was given, or where several files hold one side alone.
 *
 * Values of different machines, vendors, workloads, parameters or metrics never share a group. The
 * time is linear in the rows, whatever the number of groups.
 */
#ifndef KG_CLI_STAT_READ_H
#define KG_CLI_STAT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/analysis/verdict.h"

enum stat_key { STAT_MACHINE, STAT_VENDOR, STAT_WORKLOAD, STAT_PARAMS, STAT_METRIC, STAT_KEYS };
extern const char *const stat_key_names[STAT_KEYS];
/* Further keys of a group, where sides are files: kernel and lsm. */
#define STAT_GROUP_KEYS (STAT_KEYS + 2)

struct stat_cell {
	size_t side;		   /* into stat_data.sides */
	struct verdict_side boots; /* in order of appearance */
	size_t n_values;
};

struct stat_group {
	const char *keys[STAT_GROUP_KEYS]; /* NULL: the files do not say */
	const char *unit;		   /* NULL: not said */
	enum verdict_direction direction;
	const struct stat_cell *cells; /* ascending by side; only those with values */
	size_t n_cells;
};

struct stat_side {
	const char *label;
	const char *kernel, *lsm; /* NULL: not said; a plain file's label is its kernel */
};

struct stat_data {
	struct stat_group *groups; /* in order of appearance */
	size_t n_groups;
	struct stat_side *sides; /* in order of appearance */
	size_t n_sides;
	bool has_key[STAT_GROUP_KEYS];
	bool has_boots;	    /* a boot column was there; else every value is a boot */
	bool has_direction; /* some group has one */
	size_t n_values;
	size_t left_out_outcome, left_out_warmup; /* rows */
	const char *unknown;	  /* names of columns that were left out, "a, b"; NULL: none */
	struct stat_store *store; /* holds what is borrowed above */
};

/* `files` as given: FILE, LABEL=FILE, or - for standard input. KG_EINVALID (FILE:LINE:COLUMN: what
 * is wrong and right), KG_ENODATA: no value is left, the text says why; a negative errno when a
 * file cannot be read. */
int stat_read(const char *const *files, size_t n, struct stat_data *ret, struct kg_err *err);
void stat_data_deinit(struct stat_data *d);

/* The side that `name` means: its whole label, its kernel or its list alone, its file, or a part of
 * one label only. KG_ENOTFOUND and KG_EAMBIGUOUS list the labels. NULL: the first one. */
int stat_find_side(const struct stat_data *d, const char *name, size_t *ret, struct kg_err *err);
/* The cell of a side; NULL when the group has no value of it. */
const struct stat_cell *stat_group_cell(const struct stat_group *g, size_t side);
/* Name of group key `k`, for k < STAT_GROUP_KEYS. */
const char *stat_group_key_name(size_t k);

#endif
