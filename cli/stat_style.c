/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison of files in the forms of style.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/stat_compare.h"
#include "cli/stat_intern.h"
#include "cli/style.h"

/* The groups of one table, one after the other. */
struct style_set {
	struct style_table *tables;
	size_t n_tables;
	struct style_column *columns; /* the baseline first */
	size_t *order;		      /* side of each column */
	struct style_row *rows;	      /* of all tables */
	struct style_cell *cells;     /* of all rows */
	double **values;	      /* owned; boots' values where a boot has several */
	size_t n_values;
};

static void add_key(struct kg_str *out, const char *text, const char *between)
{
	if (!text || !text[0])
		return;
	kg_str_add(out, out->len > 0 ? between : "");
	kg_str_add(out, text);
}

/* What names the table: all keys but the parameters; in lkp, whose rows carry the metric, the machine
 * alone. */
static char *title_of(const struct stat_group *g, bool lkp)
{
	struct kg_str s = {0};

	add_key(&s, g->keys[STAT_MACHINE], " ");
	add_key(&s, g->keys[STAT_VENDOR], " ");
	for (size_t k = STAT_KEYS; k < STAT_GROUP_KEYS; k++)
		add_key(&s, g->keys[k], " ");
	if (!lkp) {
		add_key(&s, g->keys[STAT_WORKLOAD], "\n");
		add_key(&s, g->keys[STAT_METRIC], " ");
	}
	return kg_str_take(&s);
}

static char *row_key(const struct stat_group *g, bool lkp)
{
	struct kg_str s = {0};

	if (lkp)
		add_key(&s, g->keys[STAT_WORKLOAD], ".");
	add_key(&s, g->keys[STAT_PARAMS], ".");
	if (lkp)
		add_key(&s, g->keys[STAT_METRIC], ".");
	if (s.len == 0 && lkp)
		kg_str_add(&s, "value");
	return kg_str_take(&s);
}

static void fill_columns(const struct stat_comparison *c, struct style_set *s)
{
	const struct stat_data *d = c->data;
	size_t n = 0;

	s->columns = cli_alloc(d->n_sides, sizeof(*s->columns));
	s->order = cli_alloc(d->n_sides, sizeof(*s->order));
	s->order[n++] = c->baseline;
	for (size_t i = 0; i < d->n_sides; i++)
		if (i != c->baseline)
			s->order[n++] = i;
	for (size_t i = 0; i < n; i++) {
		const struct stat_side *side = &d->sides[s->order[i]];
		bool both = side->kernel && side->kernel[0];

		s->columns[i] = (struct style_column){both ? side->kernel : side->label,
						      both ? side->lsm : NULL};
	}
}

static void fill_row(const struct stat_comparison *c, const struct stat_group *g, bool lkp,
		     struct style_set *s, struct style_row *row, struct style_cell *cells)
{
	const struct stat_data *d = c->data;

	*row = (struct style_row){.key = row_key(g, lkp),
				  .direction = stat_direction(c, g),
				  .unit = stat_unit(c, g),
				  .cells = cells};
	row->absolute = lkp && style_lkp_absolute(row->key);
	for (size_t i = 0; i < d->n_sides; i++) {
		const struct stat_cell *cell = stat_group_cell(g, s->order[i]);
		double *scratch = NULL;

		if (!cell)
			continue;
		if (cell->n_values != cell->boots.n)
			scratch = s->values[s->n_values++] =
				cli_alloc(cell->boots.n, sizeof(*scratch));
		cells[i].values = stat_boot_values(cell, scratch);
		cells[i].n = cell->boots.n;
	}
}

/* Numbers groups by their titles, in order of appearance. The titles are owned by *ret_titles. */
static uint32_t *number_tables(const struct stat_data *d, bool lkp, char ***ret_titles,
			       size_t *ret_n)
{
	uint32_t *of = cli_alloc(d->n_groups, sizeof(*of));
	char **titles = cli_alloc(d->n_groups, sizeof(*titles));
	struct intern t = {0};
	size_t n = 0;

	for (size_t i = 0; i < d->n_groups; i++) {
		char *title = title_of(&d->groups[i], lkp);

		of[i] = intern_add(&t, title, strlen(title));
		if (t.n > n)
			titles[n++] = title;
		else
			free(title);
	}
	intern_deinit(&t);
	*ret_titles = titles;
	*ret_n = n;
	return of;
}

static void split_title(struct style_table *t, char *title)
{
	char *second = strchr(title, '\n');

	if (second)
		*second++ = '\0';
	t->title = title[0] ? title : NULL;
	t->benchmark = second;
}

static void fill(const struct stat_comparison *c, bool lkp, struct style_set *s, char ***ret_titles)
{
	const struct stat_data *d = c->data;
	uint32_t *of = number_tables(d, lkp, ret_titles, &s->n_tables);
	size_t *at = cli_alloc(s->n_tables + 1, sizeof(*at));

	fill_columns(c, s);
	s->tables = cli_alloc(s->n_tables, sizeof(*s->tables));
	s->rows = cli_alloc(d->n_groups, sizeof(*s->rows));
	s->cells = cli_alloc(d->n_groups * d->n_sides, sizeof(*s->cells));
	s->values = cli_alloc(d->n_groups * d->n_sides, sizeof(*s->values));
	for (size_t i = 0; i < d->n_groups; i++)
		at[of[i] + 1]++;
	for (size_t i = 0; i < s->n_tables; i++) {
		at[i + 1] += at[i];
		s->tables[i] = (struct style_table){
			.columns = s->columns, .n_columns = d->n_sides, .rows = &s->rows[at[i]]};
		split_title(&s->tables[i], (*ret_titles)[i]);
	}
	for (size_t i = 0; i < d->n_groups; i++) {
		size_t row = at[of[i]]++;

		fill_row(c, &d->groups[i], lkp, s, &s->rows[row], &s->cells[row * d->n_sides]);
		s->tables[of[i]].n_rows++;
	}
	free(at);
	free(of);
}

int stat_print_style(const struct stat_comparison *c, const char *style, struct kg_str *out,
		     struct kg_err *err)
{
	struct style_set s = {0};
	char **titles = NULL;
	int rc;

	fill(c, strcmp(style, "lkp") == 0, &s, &titles);
	rc = style_render(style, s.tables, s.n_tables, out, err);
	for (size_t i = 0; i < c->data->n_groups; i++)
		free((void *)(uintptr_t)s.rows[i].key);
	for (size_t i = 0; i < s.n_values; i++)
		free(s.values[i]);
	for (size_t i = 0; i < s.n_tables; i++)
		free(titles[i]);
	free(titles);
	free(s.values);
	free(s.cells);
	free(s.rows);
	free(s.tables);
	free(s.order);
	free(s.columns);
	return rc;
}
