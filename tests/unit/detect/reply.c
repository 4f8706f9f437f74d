/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/detect/reply.h"

#include <stdio.h>
#include <string.h>

#define TEXT(s)	 ((char *)(uintptr_t)(s))
#define MAX_ROWS 16

static char *text(struct reply *x, const char *prefix, const char *s, size_t len)
{
	char *p = kg_arena_alloc(&x->arena, strlen(prefix) + len + 1);

	(void)snprintf(p, strlen(prefix) + len + 1, "%s%.*s", prefix, (int)len, s);
	return p;
}

void reply_init(struct reply *x)
{
	kg_arena_init(&x->arena, 16 << 20);
	kgrid__v1__compare_reply__init(&x->r);
	x->r.tables = kg_arena_alloc(&x->arena, MAX_ROWS * sizeof(*x->r.tables));
}

void reply_deinit(struct reply *x)
{
	kg_arena_deinit(&x->arena);
}

Kgrid__V1__CompareTable *reply_table(struct reply *x, const char *machine, const char *workload,
				     const char *metric, const char *columns)
{
	Kgrid__V1__CompareTable *t = kg_arena_alloc(&x->arena, sizeof(*t));

	kgrid__v1__compare_table__init(t);
	t->machine = TEXT(machine);
	t->workload = TEXT(workload);
	t->metric = TEXT(metric);
	t->unit = TEXT("1/s");
	t->direction = TEXT("higher");
	t->columns = kg_arena_alloc(&x->arena, 8 * sizeof(*t->columns));
	t->rows = kg_arena_alloc(&x->arena, MAX_ROWS * sizeof(*t->rows));
	while (*columns) {
		size_t len = strcspn(columns, " ");
		const char *slash = memchr(columns, '/', len);
		Kgrid__V1__CompareColumn *c = kg_arena_alloc(&x->arena, sizeof(*c));
		size_t kernel = (size_t)(slash - columns);

		kgrid__v1__compare_column__init(c);
		c->kernel = text(x, "", columns, kernel);
		c->kernel_digest = text(x, "d-", columns, kernel);
		c->lsm = text(x, "", slash + 1, len - kernel - 1);
		c->effective = text(x, "capability,", slash + 1, len - kernel - 1);
		c->lsm_request = text(x, "r-", slash + 1, len - kernel - 1);
		t->columns[t->n_columns++] = c;
		columns += len;
		columns += *columns == ' ';
	}
	x->r.tables[x->r.n_tables++] = t;
	return t;
}

Kgrid__V1__CompareRow *reply_row(struct reply *x, Kgrid__V1__CompareTable *t, const char *params)
{
	Kgrid__V1__CompareRow *row = kg_arena_alloc(&x->arena, sizeof(*row));

	kgrid__v1__compare_row__init(row);
	row->params = TEXT(params);
	row->n_cells = t->n_columns;
	row->cells = kg_arena_alloc(&x->arena, t->n_columns * sizeof(*row->cells));
	for (size_t i = 0; i < t->n_columns; i++) {
		row->cells[i] = kg_arena_alloc(&x->arena, sizeof(**row->cells));
		kgrid__v1__compare_cell__init(row->cells[i]);
		row->cells[i]->has_value = row->cells[i]->has_boots = 1;
		row->cells[i]->value = 1000;
		row->cells[i]->boots = 5;
		if (i > 0)
			reply_cell(row, i, "same", 0, 0.5);
	}
	t->rows[t->n_rows++] = row;
	return row;
}

void reply_cell(Kgrid__V1__CompareRow *row, size_t column, const char *verdict, double effect,
		double p_worse)
{
	Kgrid__V1__CompareCell *c = row->cells[column];

	c->verdict = TEXT(verdict);
	c->has_delta_pct = c->has_p = c->has_q = c->has_p_worse = 1;
	c->delta_pct = effect;
	c->value = 1000 * (1 + effect / 100);
	c->p_worse = p_worse;
	c->p = 2 * p_worse;
	c->q = c->p;
	c->has_baseline_boots = 1;
	c->baseline_boots = 5;
}
