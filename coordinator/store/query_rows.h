/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of results for coordinator/report: cells, metrics, values and what makes them comparable, of
 * one job or of any selection. Cells of several jobs that ask for the same (machine, kernel, list,
 * command line, settings, workload with its digest, parameters, peer) are one cell. Only samples of
 * attempts that passed and decided their slot, never warm-up, and never of a canary.
 */
#ifndef KG_COORDINATOR_STORE_QUERY_ROWS_H
#define KG_COORDINATOR_STORE_QUERY_ROWS_H

#include "coordinator/report/compare_tables.h"
#include "coordinator/store/query_internal.h"

/* Everything absent: every row of every job of the kinds. Texts borrow. */
struct row_filter {
	const uint64_t *jobs; /* NULL with n_jobs 0: all */
	size_t n_jobs;
	bool normal, confirm, calibrate; /* kinds, when all jobs are meant */
	const char *machine;
	const char *kernel; /* label, release, or 6 or more digits that a digest begins with */
	const char *lsm;    /* label: with all its variants; or as it is shown: one of them */
	const char *workload;
	char *const *params; /* "size=64" */
	size_t n_params;
	int64_t since_ns; /* boots started from then on; 0: any */
	uint32_t after_block;
};

/* One cell of one job. */
struct raw_cell {
	uint64_t id;
	uint64_t job;
	size_t index; /* of the cell that it belongs to, in rows.cells */
	const char *workload_digest;
	const char *lsm_label, *variant; /* cell.lsm is made of these */
	struct report_cell cell;
};

/* What a workload declares of a metric, newest attempt. */
struct row_declared {
	size_t cell, metric; /* indices */
	double min_effect_pct;
};

struct rows {
	struct arena arena;
	struct row_filter filter;
	uint64_t *jobs;
	size_t n_jobs;
	struct raw_cell *raw;
	size_t n_raw;
	struct report_cell *cells;
	size_t n_cells;
	struct report_metric *metrics;
	int64_t *metric_ids; /* beside metrics */
	size_t n_metrics, n_metric_ids;
	struct report_exclusion *exclusions;
	size_t n_exclusions;
	struct report_value *values; /* malloc'ed: there may be many */
	size_t n_values, cap_values;
	struct report_epoch *epochs;
	size_t n_epochs;
	struct report_config *configs; /* texts malloc'ed */
	size_t n_configs;
	struct row_declared *declared;
	size_t n_declared;
	struct report_stop *stops;
	size_t n_stops;
	bool one_job; /* was asked for, not several or all */
	bool grouped;
	bool stopped_early;
};

/* Takes the filter out of a request's selection: jobs are checked, 0 and none are the newest, or all
 * when `all_by_default`. In the rows' arena. KG_ENOTFOUND, KG_EINVALID. */
int rows_select(struct db *db, const Kgrid__V1__Selection *s, bool all_by_default, struct rows *r,
		struct kg_err *err);
/* Cells first (KG_ENOTFOUND when a name of the filter occurs nowhere in the jobs, naming what does),
 * then their slots and values. */
int rows_read_cells(struct db *db, struct rows *r, struct kg_err *err);
int rows_read_values(struct db *db, struct rows *r, struct kg_err *err);
/* Epochs of the cells' machines; microcode, kernel configs and declarations of their newest boots. */
int rows_read_context(struct db *db, struct rows *r, struct kg_err *err);
/* Texts of the cells' configs, as far as they are known; after the context. */
int rows_read_configs(struct db *db, const struct query_texts *texts, struct rows *r,
		      struct kg_err *err);
void rows_deinit(struct rows *r);

/* Boots with a canary, of the same jobs, machine and time; in the rows' arena. */
struct canary_value;
int rows_read_canary(struct db *db, struct rows *r, struct canary_value **ret, size_t *ret_n,
		     struct kg_err *err);

/* All but the policy. Borrows. */
void rows_input(const struct rows *r, struct report_input *ret);

/* Why there is nothing, or nothing with a value: at most one note. */
int rows_note(const struct rows *r, char ***notes, size_t *n_notes);

/* Text of a stored document, owned (free). KG_ENOTFOUND, KG_ECORRUPT. */
int read_document(struct db *db, const char *digest, char **ret_text, size_t *ret_len,
		  struct kg_err *err);
/* Name of a machine's microarchitecture by its packed facts; NULL: not known. */
const char *machine_uarch(struct arena *a, sqlite3_stmt *st, int column);

#endif
