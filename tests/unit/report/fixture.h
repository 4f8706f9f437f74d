/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows as the store reads them, made by hand. */
#ifndef KG_TESTS_UNIT_REPORT_FIXTURE_H
#define KG_TESTS_UNIT_REPORT_FIXTURE_H

#include <math.h>
#include <stdio.h>

#include "coordinator/analysis/rng.h"
#include "coordinator/report/compare_tables.h"
#include "tests/lib/cmocka_all.h"

#define ROWS_CELLS_MAX	512
#define ROWS_VALUES_MAX 20000

struct rows {
	struct report_cell cells[ROWS_CELLS_MAX];
	struct report_value values[ROWS_VALUES_MAX];
	struct report_input in;
	uint64_t boots;
	struct stats_rng rng;
};

static const struct report_metric rows_metrics[] = {
	{"rate", "op/s", "higher"}, {"latency", "us", "lower"}, {"switches", "n/s", "none"},
	{"m3", "op/s", "higher"},   {"m4", "op/s", "higher"},
};

/* One at a time: it is large. */
static inline struct rows *rows_new(void)
{
	static struct rows r;

	memset(&r, 0, sizeof(r));
	r.in.cells = r.cells;
	r.in.values = r.values;
	r.in.metrics = rows_metrics;
	r.in.n_metrics = sizeof(rows_metrics) / sizeof(rows_metrics[0]);
	r.rng.state = 42;
	return &r;
}

/* Orders follow the first letters of kernel and list. */
static inline size_t rows_cell(struct rows *r, const char *machine, const char *kernel,
			       const char *lsm, const char *workload, const char *params)
{
	struct report_cell *c = &r->cells[r->in.n_cells];

	assert_true(r->in.n_cells < ROWS_CELLS_MAX);
	*c = (struct report_cell){.id = r->in.n_cells + 1,
				  .machine = machine,
				  .kernel = kernel,
				  .lsm = lsm,
				  .lsm_effective = lsm,
				  .workload = workload,
				  .params = params,
				  .kernel_order = (unsigned char)kernel[0],
				  .lsm_order = (unsigned char)lsm[0]};
	return r->in.n_cells++;
}

static inline struct report_value *rows_value(struct rows *r, size_t cell, size_t metric,
					      uint64_t boot, double value)
{
	struct report_value *v = &r->values[r->in.n_values];

	assert_true(r->in.n_values < ROWS_VALUES_MAX);
	*v = (struct report_value){.cell = cell,
				   .metric = metric,
				   .boot = boot,
				   .value = value,
				   .job = 1,
				   .time_ns = (int64_t)boot * 1000,
				   .block = (uint32_t)boot};
	r->in.n_values++;
	return v;
}

/* Boots of an epoch, each of 3 iterations, around a level with a deviation of `cov` (a fraction). */
static inline void rows_boots(struct rows *r, size_t cell, size_t metric, unsigned boots,
			      uint32_t epoch, double level, double cov)
{
	for (unsigned i = 0; i < boots; i++) {
		double boot = level * (1 + cov * stats_rng_normal(&r->rng));

		r->boots++;
		for (int k = 0; k < 3; k++) {
			double v = boot * (1 + cov * stats_rng_normal(&r->rng));

			rows_value(r, cell, metric, r->boots, v)->epoch = epoch;
		}
	}
	r->cells[cell].slots[KG_OUTCOME_PASS] += boots;
}

static inline Kgrid__V1__CompareReply *rows_compare(struct rows *r)
{
	Kgrid__V1__CompareReply *reply = calloc(1, sizeof(*reply));
	struct kg_err err = {""};

	kgrid__v1__compare_reply__init(reply);
	if (report_compare_tables(&r->in, reply, &err) < 0)
		fail_msg("%s", err.text);
	return reply;
}

static inline void rows_drop(Kgrid__V1__CompareReply *reply)
{
	kgrid__v1__compare_reply__free_unpacked(reply, NULL);
}

static inline bool texts_have(char **texts, size_t n, const char *part)
{
	for (size_t i = 0; i < n; i++) {
		if (strstr(texts[i], part))
			return true;
	}
	return false;
}

#define has_note(reply, part) texts_have((reply)->notes, (reply)->n_notes, part)

static inline void assert_has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("'%s' does not contain '%s'", text ? text : "(nothing)", part);
}

#endif
