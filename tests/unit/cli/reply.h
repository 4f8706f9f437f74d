/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A CompareReply of one table with two rows and two columns, in the caller's memory; tests change
 * what they are about. */
#ifndef KG_TESTS_CLI_REPLY_H
#define KG_TESTS_CLI_REPLY_H

#include <string.h>

#include "proto/messages.h"

#define REPLY_ROWS    2
#define REPLY_COLUMNS 2

struct reply {
	Kgrid__V1__CompareReply reply;
	Kgrid__V1__CompareTable table, *tables[1];
	Kgrid__V1__CompareColumn columns[REPLY_COLUMNS], *column_list[REPLY_COLUMNS];
	Kgrid__V1__CompareRow rows[REPLY_ROWS], *row_list[REPLY_ROWS];
	Kgrid__V1__CompareCell cells[REPLY_ROWS][REPLY_COLUMNS];
	Kgrid__V1__CompareCell *cell_list[REPLY_ROWS][REPLY_COLUMNS];
	Kgrid__V1__JobSummary job;
	Kgrid__V1__Accounting accounting;
	Kgrid__V1__OutcomeCount pass, *passes[1];
};

static inline char *reply_text_of(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* A cell with a verdict, `boots` a side. */
static inline void reply_verdict(struct reply *x, size_t row, const char *word, double effect,
				 uint32_t boots)
{
	Kgrid__V1__CompareCell *c = &x->cells[row][1];

	c->verdict = reply_text_of(word);
	c->has_boots = c->has_baseline_boots = c->has_value = c->has_delta_pct = 1;
	c->has_delta_lo_pct = c->has_delta_hi_pct = c->has_p = c->has_q = 1;
	c->boots = c->baseline_boots = boots;
	c->delta_pct = effect;
	c->delta_lo_pct = effect - 0.5;
	c->delta_hi_pct = effect + 0.5;
	c->p = 0.001;
	c->q = 0.002;
}

static inline void reply_make(struct reply *x)
{
	static const char *const lsm[] = {"prev", "full"};
	static const char *const params[] = {"size=64", "size=1024"};
	size_t row, i;

	memset(x, 0, sizeof(*x));
	x->reply = (Kgrid__V1__CompareReply)KGRID__V1__COMPARE_REPLY__INIT;
	x->table = (Kgrid__V1__CompareTable)KGRID__V1__COMPARE_TABLE__INIT;
	x->job = (Kgrid__V1__JobSummary)KGRID__V1__JOB_SUMMARY__INIT;
	x->accounting = (Kgrid__V1__Accounting)KGRID__V1__ACCOUNTING__INIT;
	x->pass = (Kgrid__V1__OutcomeCount)KGRID__V1__OUTCOME_COUNT__INIT;
	x->table.machine = reply_text_of("lab-amd");
	x->table.cpu_name = reply_text_of("AMD EPYC");
	x->table.workload = reply_text_of("netperf");
	x->table.metric = reply_text_of("rate");
	x->table.unit = reply_text_of("1/s");
	x->table.direction = reply_text_of("higher");
	x->table.n_columns = REPLY_COLUMNS;
	x->table.columns = x->column_list;
	x->table.n_rows = REPLY_ROWS;
	x->table.rows = x->row_list;
	for (i = 0; i < REPLY_COLUMNS; i++) {
		x->columns[i] = (Kgrid__V1__CompareColumn)KGRID__V1__COMPARE_COLUMN__INIT;
		x->columns[i].kernel = reply_text_of("6.12");
		x->columns[i].lsm = reply_text_of(lsm[i]);
		x->column_list[i] = &x->columns[i];
	}
	for (row = 0; row < REPLY_ROWS; row++) {
		x->rows[row] = (Kgrid__V1__CompareRow)KGRID__V1__COMPARE_ROW__INIT;
		x->rows[row].params = reply_text_of(params[row]);
		x->rows[row].n_cells = REPLY_COLUMNS;
		x->rows[row].cells = x->cell_list[row];
		x->row_list[row] = &x->rows[row];
		for (i = 0; i < REPLY_COLUMNS; i++) {
			Kgrid__V1__CompareCell *c = &x->cells[row][i];

			*c = (Kgrid__V1__CompareCell)KGRID__V1__COMPARE_CELL__INIT;
			x->cell_list[row][i] = c;
			c->has_present = c->has_value = c->has_boots = 1;
			c->present = 1;
			c->value = 4000;
			c->boots = 8;
		}
		reply_verdict(x, row, "same", 0.1, 8);
	}
	x->pass.outcome = reply_text_of("pass");
	x->pass.has_count = 1;
	x->pass.count = 20;
	x->passes[0] = &x->pass;
	x->accounting.has_slots = x->accounting.has_pending = 1;
	x->accounting.slots = 20;
	x->accounting.n_outcomes = 1;
	x->accounting.outcomes = x->passes;
	x->job.has_id = 1;
	x->job.id = 7;
	x->job.state = reply_text_of("done");
	x->job.accounting = &x->accounting;
	x->tables[0] = &x->table;
	x->reply.job = &x->job;
	x->reply.n_tables = 1;
	x->reply.tables = x->tables;
}

#endif
