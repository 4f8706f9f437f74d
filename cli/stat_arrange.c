/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes groups, sides and boots of rows. Sorting is by counting, stable, so that the time is linear
 * and everything stays in the order of the files. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/stat_read_impl.h"

/* Text `i` of a column with a NUL; NULL for NONE. */
static const char *text_copy(struct stat_store *s, size_t column, uint32_t i)
{
	const struct intern *t = &s->texts[column];

	if (i == NONE)
		return NULL;
	if (!s->copies[column]) {
		s->n_copies[column] = t->n;
		s->copies[column] = cli_alloc(t->n, sizeof(char *));
	}
	if (!s->copies[column][i]) {
		char *copy = cli_alloc(t->texts[i].len + 1, 1);

		memcpy(copy, t->texts[i].text, t->texts[i].len);
		s->copies[column][i] = copy;
	}
	return s->copies[column][i];
}

/* Whether files are the sides, see stat_read.h. */
static bool sides_are_files(const struct stat_data *d)
{
	const struct stat_store *s = d->store;
	const uint32_t *first = s->raws.items;

	if (!d->has_key[COLUMN_KERNEL] && !d->has_key[COLUMN_LSM])
		return true;
	for (size_t i = 0; i < s->n_files; i++)
		if (s->files[i].labelled && !s->files[i].plain)
			return true;
	if (s->n_files < 2)
		return false;
	for (size_t i = 0; i < s->raws.n; i++) {
		const uint32_t *t = &s->raws.items[i * RAW_WIDTH];

		if (t[COLUMN_KERNEL] != first[COLUMN_KERNEL] || t[COLUMN_LSM] != first[COLUMN_LSM])
			return false;
	}
	return true;
}

static char *side_label(const char *kernel, const char *lsm)
{
	struct kg_str s = {0};

	kg_str_add(&s, cli_text(kernel));
	if (kernel && kernel[0] && lsm && lsm[0])
		kg_str_add(&s, "/");
	kg_str_add(&s, cli_text(lsm));
	return kg_str_take(&s);
}

/* The number of a file among the sides: files of one label share it. */
static uint32_t file_number(const struct stat_store *s, uint32_t file)
{
	for (uint32_t i = 0; i < file; i++)
		if (strcmp(s->files[i].label, s->files[file].label) == 0)
			return i;
	return file;
}

struct sorter {
	struct intern_tuples groups; /* STAT_GROUP_KEYS */
	struct intern_tuples sides;  /* kernel, lsm, file */
};

static void number_cells(struct stat_data *d, bool files, struct sorter *k)
{
	struct stat_store *s = d->store;

	for (size_t i = 0; i < s->raws.n; i++) {
		uint32_t t[RAW_WIDTH], side[3];

		memcpy(t, &s->raws.items[i * RAW_WIDTH], sizeof(t));
		if (files || s->files[t[STAT_GROUP_KEYS]].plain) {
			side[0] = side[1] = NONE;
			side[2] = file_number(s, t[STAT_GROUP_KEYS]);
		} else {
			side[0] = t[COLUMN_KERNEL];
			side[1] = t[COLUMN_LSM];
			side[2] = NONE;
			t[COLUMN_KERNEL] = t[COLUMN_LSM] = NONE;
		}
		s->cells[i].group = intern_tuple(&k->groups, t);
		s->cells[i].side = intern_tuple(&k->sides, side);
	}
}

static void name_sides(struct stat_data *d, const struct sorter *k)
{
	d->n_sides = k->sides.n;
	d->sides = cli_alloc(d->n_sides, sizeof(*d->sides));
	for (size_t i = 0; i < d->n_sides; i++) {
		const uint32_t *t = &k->sides.items[i * 3];
		struct stat_side *side = &d->sides[i];

		if (t[2] != NONE) {
			side->label = cli_strdup(d->store->files[t[2]].label);
			side->kernel = side->label;
			continue;
		}
		side->kernel = text_copy(d->store, COLUMN_KERNEL, t[0]);
		side->lsm = text_copy(d->store, COLUMN_LSM, t[1]);
		side->label = side_label(side->kernel, side->lsm);
	}
}

static int name_groups(struct stat_data *d, const struct sorter *k, struct kg_err *err)
{
	struct stat_store *s = d->store;

	d->n_groups = k->groups.n;
	d->groups = cli_alloc(d->n_groups, sizeof(*d->groups));
	for (size_t i = 0; i < d->n_groups; i++)
		for (size_t c = 0; c < STAT_GROUP_KEYS; c++)
			d->groups[i].keys[c] =
				text_copy(s, c, k->groups.items[i * STAT_GROUP_KEYS + c]);
	for (size_t i = 0; i < s->n_cells; i++) {
		struct stat_group *g = &d->groups[s->cells[i].group];
		const char *unit = text_copy(s, COLUMN_UNIT, s->cells[i].unit);
		enum verdict_direction direction = s->cells[i].direction;
		const char *file = s->files[s->raws.items[i * RAW_WIDTH + STAT_GROUP_KEYS]].path;

		if ((unit && g->unit && strcmp(unit, g->unit) != 0) ||
		    (direction && g->direction && direction != g->direction))
			return kg_err_set(
				err, KG_EINVALID,
				"%s:%zu:1: another %s than earlier lines have for the same "
				"metric, expected one",
				file, s->cells[i].line,
				direction != g->direction ? "direction" : "unit");
		if (unit)
			g->unit = unit;
		if (direction)
			g->direction = direction;
		d->has_direction = d->has_direction || direction;
	}
	return 0;
}

enum sort_key { BY_BOOT, BY_SIDE, BY_GROUP };

static uint32_t key_of(const struct stat_store *s, const struct stat_row *r, enum sort_key by)
{
	switch (by) {
	case BY_BOOT:
		return r->boot;
	case BY_SIDE:
		return s->cells[r->raw].side;
	case BY_GROUP:
		break;
	}
	return s->cells[r->raw].group;
}

static void sort_rows(struct stat_store *s, enum sort_key by, size_t n_keys)
{
	struct stat_row *sorted;
	size_t *at;
	bool in_order = true;

	for (size_t i = 1; in_order && i < s->n_rows; i++)
		in_order = key_of(s, &s->rows[i - 1], by) <= key_of(s, &s->rows[i], by);
	if (in_order)
		return;
	at = cli_alloc(n_keys + 1, sizeof(*at));
	sorted = cli_alloc(s->n_rows, sizeof(*sorted));
	for (size_t i = 0; i < s->n_rows; i++)
		at[key_of(s, &s->rows[i], by) + 1]++;
	for (size_t k = 1; k <= n_keys; k++)
		at[k] += at[k - 1];
	for (size_t i = 0; i < s->n_rows; i++)
		sorted[at[key_of(s, &s->rows[i], by)]++] = s->rows[i];
	free(at);
	free(s->rows);
	s->rows = sorted;
	s->rows_cap = s->n_rows;
}

/* One pass over the sorted rows makes values, boots and cells. */
static void make_cells(struct stat_data *d)
{
	struct stat_store *s = d->store;
	const struct raw_cell *last = NULL;
	struct stat_cell *cell = NULL;
	struct verdict_boot *boot = NULL;
	size_t n_cells = 0, n_boots = 0;

	s->values = cli_alloc(s->n_rows, sizeof(*s->values));
	s->boots = cli_alloc(s->n_rows, sizeof(*s->boots));
	s->out_cells = cli_alloc(s->n_cells, sizeof(*s->out_cells));
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct stat_row *r = &s->rows[i];
		const struct raw_cell *now = &s->cells[r->raw];
		bool new_group = !last || now->group != last->group;
		bool new_cell = new_group || now->side != last->side;

		s->values[i] = r->value;
		if (new_cell) {
			cell = &s->out_cells[n_cells++];
			*cell = (struct stat_cell){.side = now->side,
						   .boots = {&s->boots[n_boots], 0}};
			if (new_group)
				d->groups[now->group].cells = cell;
			d->groups[now->group].n_cells++;
		}
		if (new_cell || r->boot != s->rows[i - 1].boot) {
			boot = &s->boots[n_boots++];
			*boot = (struct verdict_boot){&s->values[i], 0};
			cell->boots.n++;
		}
		boot->n++;
		cell->n_values++;
		last = now;
	}
}

int stat_arrange(struct stat_data *d, struct kg_err *err)
{
	struct stat_store *s = d->store;
	struct sorter k = {.groups = {.width = STAT_GROUP_KEYS}, .sides = {.width = 3}};
	bool files = sides_are_files(d);
	int rc;

	number_cells(d, files, &k);
	name_sides(d, &k);
	rc = name_groups(d, &k, err);
	if (rc == 0) {
		if (!files)
			d->has_key[COLUMN_KERNEL] = d->has_key[COLUMN_LSM] = false;
		d->has_boots = true;
		for (size_t i = 0; i < s->n_files; i++)
			d->has_boots = d->has_boots && !s->files[i].no_boots;
		for (size_t i = 0; i < s->n_rows; i++)
			if (s->rows[i].boot & BOOT_OWN)
				s->rows[i].boot =
					(uint32_t)s->n_boots + (s->rows[i].boot & ~BOOT_OWN);
		sort_rows(s, BY_BOOT, s->n_boots + s->n_own);
		sort_rows(s, BY_SIDE, d->n_sides);
		sort_rows(s, BY_GROUP, d->n_groups);
		make_cells(d);
		d->n_values = s->n_rows;
		d->unknown = s->unknown_text.len > 0 ? kg_str_text(&s->unknown_text) : NULL;
	}
	intern_tuples_deinit(&k.groups);
	intern_tuples_deinit(&k.sides);
	return rc;
}

const struct stat_cell *stat_group_cell(const struct stat_group *g, size_t side)
{
	size_t lo = 0, hi = g->n_cells;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (g->cells[mid].side < side)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < g->n_cells && g->cells[lo].side == side ? &g->cells[lo] : NULL;
}

/* How a side fits a name. */
enum fit { FIT_WHOLE, FIT_NAME, FIT_FILE, FIT_PART, FITS };

/* Whether `name` is the file, with its folder or without, that made the label. */
static bool is_file(const struct stat_store *store, const char *label, const char *name)
{
	for (size_t i = 0; i < store->n_files; i++) {
		const char *path = store->files[i].path, *base = strrchr(path, '/');

		if (strcmp(store->files[i].label, label) == 0 &&
		    (strcmp(path, name) == 0 || (base && strcmp(base + 1, name) == 0)))
			return true;
	}
	return false;
}

static bool fits(const struct stat_data *d, const struct stat_side *s, const char *name,
		 enum fit how)
{
	switch (how) {
	case FIT_WHOLE:
		return strcmp(s->label, name) == 0;
	case FIT_NAME:
		return kg_streq(s->kernel, name) || kg_streq(s->lsm, name);
	case FIT_FILE:
		return is_file(d->store, s->label, name);
	case FIT_PART:
	case FITS:
		break;
	}
	return strstr(s->label, name) != NULL;
}

static void list_labels(const struct stat_data *d, struct kg_str *out)
{
	for (size_t i = 0; i < d->n_sides && i < 12; i++)
		kg_str_addf(out, "%s%s", i ? ", " : "", d->sides[i].label);
	if (d->n_sides > 12)
		kg_str_addf(out, " and %zu more", d->n_sides - 12);
}

/* The label that was meant, when one is near: " (did you mean 'x'?)". */
static void suggest_label(const struct stat_data *d, const char *name, struct kg_str *out)
{
	const char **labels = cli_alloc(d->n_sides, sizeof(*labels));
	const char *meant;

	for (size_t i = 0; i < d->n_sides; i++)
		labels[i] = d->sides[i].label;
	meant = kg_suggest(name, labels, d->n_sides);
	if (meant)
		kg_str_addf(out, " (did you mean '%s'?)", meant);
	free(labels);
}

int stat_find_side(const struct stat_data *d, const char *name, size_t *ret, struct kg_err *err)
{
	struct kg_str labels = {0}, meant = {0};
	size_t found = 0;
	int rc;

	if (!name) {
		*ret = 0;
		return 0;
	}
	for (enum fit how = FIT_WHOLE; how < FITS; how++) {
		found = 0;
		for (size_t i = 0; i < d->n_sides; i++) {
			if (!fits(d, &d->sides[i], name, how))
				continue;
			found++;
			*ret = i;
		}
		if (found == 1)
			return 0;
		if (found > 1)
			break;
	}
	if (!found)
		suggest_label(d, name, &meant);
	list_labels(d, &labels);
	rc = kg_err_set(err, found ? KG_EAMBIGUOUS : KG_ENOTFOUND, "%s '%s'%s, expected one of %s",
			found ? "several sides fit the baseline" : "no side is named", name,
			kg_str_text(&meant), kg_str_text(&labels));
	kg_str_deinit(&labels);
	kg_str_deinit(&meant);
	return rc;
}
