/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stat_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/csv_read.h"
#include "cli/stat_read_impl.h"

#define COLUMN_NONE SIZE_MAX

const char *const stat_key_names[STAT_KEYS] = {"machine", "vendor", "workload", "params", "metric"};

/* The first STAT_GROUP_KEYS are those of a group. */
static const char *const column_names[COLUMNS] = {
	"machine", "vendor", "workload",  "params", "metric",	    "kernel",
	"lsm",	   "job",    "attempt",	  "boot",   "unit",	    "direction",
	"outcome", "warmup", "iteration", "block",  "monotonic_ns", "value",
};

const char *stat_group_key_name(size_t k)
{
	return column_names[k];
}

/* Where the columns of one file stand. */
struct layout {
	size_t at[COLUMNS]; /* COLUMN_NONE: not there */
	size_t n;
};

static void note_unknown(struct stat_store *s, const struct csv_field *name)
{
	char copy[64];
	const char *meant;

	(void)snprintf(copy, sizeof(copy), "%.*s", (int)(name->len < 60 ? name->len : 60),
		       name->text);
	intern_add(&s->unknown, name->text, name->len);
	if (s->unknown.n == s->n_unknown)
		return;
	s->n_unknown = s->unknown.n;
	meant = kg_suggest(copy, column_names, COLUMNS);
	kg_str_addf(&s->unknown_text, "%s'%s'%s%s%s", s->n_unknown > 1 ? ", " : "", copy,
		    meant ? " (did you mean '" : "", meant ? meant : "", meant ? "'?)" : "");
}

static int no_value_column(const struct csv_file *f, const struct csv_record *r, struct kg_err *err)
{
	const struct csv_field *first = &r->fields[0];
	bool numbers = true;

	for (size_t i = 0; i < r->n; i++)
		numbers = numbers && csv_looks_number(&r->fields[i]);
	if (numbers)
		return csv_fail(
			f, first, err,
			"%zu numbers in a line, expected one a line, or a header that names "
			"the columns, with one of them 'value'",
			r->n);
	for (size_t i = 0; r->n == 1 && i < first->len; i++)
		if (first->text[i] == ';' || first->text[i] == '\t')
			return csv_fail(
				f, first, err,
				"no column 'value': fields are separated by '%s' here, expected "
				"commas",
				first->text[i] == ';' ? ";" : "tabs");
	return csv_fail(f, first, err,
			"%s, expected a number, or a header with a column 'value' (and any of "
			"machine, vendor, kernel, lsm, workload, params, metric, boot, iteration)",
			r->n == 1 ? "neither a number nor a header"
				  : "no column 'value' in the header");
}

static int read_header(struct stat_store *s, const struct csv_file *f, const struct csv_record *r,
		       struct layout *ret, struct kg_err *err)
{
	ret->n = r->n;
	for (size_t c = 0; c < COLUMNS; c++)
		ret->at[c] = COLUMN_NONE;
	for (size_t i = 0; i < r->n; i++) {
		size_t c = 0;

		while (c < COLUMNS && !csv_is(&r->fields[i], column_names[c]))
			c++;
		if (c < COLUMNS && ret->at[c] != COLUMN_NONE)
			return csv_fail(f, &r->fields[i], err,
					"column '%s' is named twice, expected once",
					column_names[c]);
		if (c < COLUMNS)
			ret->at[c] = i;
	}
	if (ret->at[COLUMN_VALUE] == COLUMN_NONE)
		return no_value_column(f, r, err);
	for (size_t i = 0; i < r->n; i++) {
		struct csv_field name = csv_trim(&r->fields[i]);
		size_t c = 0;

		while (c < COLUMNS && ret->at[c] != i)
			c++;
		if (c == COLUMNS && name.len > 0)
			note_unknown(s, &name);
	}
	return 0;
}

static uint32_t text_of(struct stat_store *s, const struct csv_record *r, const struct layout *l,
			enum column c)
{
	struct csv_field t;

	if (l->at[c] == COLUMN_NONE)
		return NONE;
	t = csv_trim(&r->fields[l->at[c]]);
	return intern_add(&s->texts[c], t.text, t.len);
}

/* Whether a row counts. -1: an error is set. */
static int row_counts(struct stat_data *d, const struct csv_file *f, const struct csv_record *r,
		      const struct layout *l, struct kg_err *err)
{
	const struct csv_field *field;

	if (l->at[COLUMN_OUTCOME] != COLUMN_NONE &&
	    !csv_is(&r->fields[l->at[COLUMN_OUTCOME]], "pass")) {
		d->left_out_outcome++;
		return 0;
	}
	if (l->at[COLUMN_WARMUP] == COLUMN_NONE)
		return 1;
	field = &r->fields[l->at[COLUMN_WARMUP]];
	if (csv_is(field, "0") || csv_is(field, "false") || csv_is(field, ""))
		return 1;
	if (csv_is(field, "1") || csv_is(field, "true")) {
		d->left_out_warmup++;
		return 0;
	}
	(void)csv_fail(f, field, err, "warmup must be 0 or 1");
	return -1;
}

static int read_direction(const struct csv_file *f, const struct csv_field *field,
			  enum verdict_direction *ret, struct kg_err *err)
{
	static const struct {
		const char *word;
		enum verdict_direction direction;
	} words[] = {
		{"", VERDICT_NO_DIRECTION},	    {"higher", VERDICT_HIGHER},
		{"lower", VERDICT_LOWER},	    {"higher-is-better", VERDICT_HIGHER},
		{"lower-is-better", VERDICT_LOWER},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (csv_is(field, words[i].word)) {
			*ret = words[i].direction;
			return 0;
		}
	}
	return csv_fail(f, field, err, "direction must be higher, lower or empty");
}

/* Unit and direction are one per group: here within a cell, in stat_arrange() over its cells. */
static int row_meaning(struct stat_store *s, struct raw_cell *cell, const struct csv_file *f,
		       const struct csv_record *r, const struct layout *l, struct kg_err *err)
{
	uint32_t unit = text_of(s, r, l, COLUMN_UNIT);
	enum verdict_direction direction = VERDICT_NO_DIRECTION;
	int rc = 0;

	if (unit != NONE && s->texts[COLUMN_UNIT].texts[unit].len == 0)
		unit = NONE;
	if (l->at[COLUMN_DIRECTION] != COLUMN_NONE)
		rc = read_direction(f, &r->fields[l->at[COLUMN_DIRECTION]], &direction, err);
	if (rc < 0)
		return rc;
	if (unit != NONE && cell->unit != NONE && cell->unit != unit)
		return csv_fail(f, &r->fields[l->at[COLUMN_UNIT]], err,
				"another unit than line %zu has for the same metric, expected one",
				cell->line);
	if (direction && cell->direction && cell->direction != direction)
		return csv_fail(f, &r->fields[l->at[COLUMN_DIRECTION]], err,
				"another direction than line %zu has for the same metric, expected "
				"one",
				cell->line);
	if (unit != NONE)
		cell->unit = unit;
	if (direction)
		cell->direction = direction;
	return 0;
}

static void add_row(struct stat_store *s, uint32_t raw, uint32_t boot, double value)
{
	if (s->n_rows == s->rows_cap) {
		s->rows_cap = s->rows_cap ? 2 * s->rows_cap : 4096;
		s->rows = cli_grow(s->rows, s->rows_cap, sizeof(*s->rows));
	}
	s->rows[s->n_rows++] = (struct stat_row){.raw = raw, .boot = boot, .value = value};
}

/* The cell of a row's texts, before it is known what the sides are. */
static uint32_t raw_of(struct stat_store *s, const uint32_t *tuple, size_t line)
{
	uint32_t raw = intern_tuple(&s->raws, tuple);

	if (raw < s->n_cells)
		return raw;
	if (s->n_cells == s->cells_cap) {
		s->cells_cap = s->cells_cap ? 2 * s->cells_cap : 64;
		s->cells = cli_grow(s->cells, s->cells_cap, sizeof(*s->cells));
	}
	s->cells[s->n_cells++] = (struct raw_cell){.unit = NONE, .line = line};
	return raw;
}

/* The number that a short decimal without leading zeros has; false for other texts. */
static bool small_number(const struct csv_field *t, size_t *ret)
{
	size_t v = 0;

	if (t->len == 0 || t->len > 9 || (t->text[0] == '0' && t->len > 1))
		return false;
	for (size_t i = 0; i < t->len; i++) {
		if (t->text[i] < '0' || t->text[i] > '9')
			return false;
		v = 10 * v + (size_t)(t->text[i] - '0');
	}
	*ret = v;
	return true;
}

/* A table each for the first scopes, so that a boot goes the same way each time it comes. */
static bool boot_by_number(struct stat_store *s, uint32_t scope, size_t v, uint32_t *ret)
{
	struct boot_numbers *b;

	if (scope >= BOOT_TABLES || v >= BOOT_TABLE_MAX)
		return false;
	b = &s->numbers[scope];
	if (v >= b->n) {
		size_t n = 2 * v + 64;

		b->ids = cli_grow(b->ids, n, sizeof(*b->ids));
		memset(&b->ids[b->n], 0, (n - b->n) * sizeof(*b->ids));
		b->n = n;
	}
	if (!b->ids[v])
		b->ids[v] = (uint32_t)++s->n_boots;
	*ret = b->ids[v] - 1;
	return true;
}

static uint32_t boot_by_name(struct stat_store *s, uint32_t scope, const struct csv_field *t)
{
	uint32_t tuple[2] = {scope, intern_add(&s->texts[COLUMN_BOOT], t->text, t->len)};
	uint32_t i = intern_tuple(&s->boot_names, tuple);

	if (i == s->n_names) {
		s->name_ids = cli_grow(s->name_ids, s->boot_names.cap, sizeof(*s->name_ids));
		s->name_ids[s->n_names++] = (uint32_t)s->n_boots++;
	}
	return s->name_ids[i];
}

static int boot_of(struct stat_store *s, const struct csv_file *f, const struct csv_record *r,
		   const struct layout *l, uint32_t file, uint32_t *ret, struct kg_err *err)
{
	uint32_t tuple[3] = {file}, scope;
	struct csv_field t;
	size_t number;

	if (l->at[COLUMN_BOOT] == COLUMN_NONE) {
		*ret = BOOT_OWN | (uint32_t)s->n_own++;
		return 0;
	}
	t = csv_trim(&r->fields[l->at[COLUMN_BOOT]]);
	if (t.len == 0)
		return csv_fail(f, &r->fields[l->at[COLUMN_BOOT]], err,
				"an empty boot, expected its number or name");
	tuple[1] = text_of(s, r, l, COLUMN_JOB);
	tuple[2] = text_of(s, r, l, COLUMN_ATTEMPT);
	scope = intern_tuple(&s->scopes, tuple);
	if (!small_number(&t, &number) || !boot_by_number(s, scope, number, ret))
		*ret = boot_by_name(s, scope, &t);
	return 0;
}

static int read_row(struct stat_data *d, const struct csv_file *f, const struct csv_record *r,
		    const struct layout *l, uint32_t file, struct kg_err *err)
{
	struct stat_store *s = d->store;
	uint32_t tuple[RAW_WIDTH], raw, boot = 0;
	double value = 0;
	int rc;

	if (r->n != l->n)
		return csv_fail(f, &r->fields[r->n > l->n ? l->n : r->n - 1], err,
				"%zu field%s in this line, expected %zu as in the header", r->n,
				r->n == 1 ? "" : "s", l->n);
	rc = row_counts(d, f, r, l, err);
	if (rc <= 0)
		return rc < 0 ? KG_EINVALID : 0;
	rc = csv_number(f, &r->fields[l->at[COLUMN_VALUE]], &value, err);
	if (rc < 0)
		return rc;
	for (unsigned c = 0; c < STAT_GROUP_KEYS; c++)
		tuple[c] = text_of(s, r, l, (enum column)c);
	tuple[STAT_GROUP_KEYS] = file;
	raw = raw_of(s, tuple, r->line);
	rc = row_meaning(s, &s->cells[raw], f, r, l, err);
	if (rc == 0)
		rc = boot_of(s, f, r, l, file, &boot, err);
	if (rc == 0)
		add_row(s, raw, boot, value);
	return rc;
}

static int read_csv(struct stat_data *d, struct csv_file *f, const struct csv_record *header,
		    uint32_t file, struct kg_err *err)
{
	struct layout l;
	struct csv_record r;
	int rc = read_header(d->store, f, header, &l, err);

	if (rc < 0)
		return rc;
	for (size_t c = 0; c < STAT_GROUP_KEYS; c++)
		d->has_key[c] = d->has_key[c] || l.at[c] != COLUMN_NONE;
	if (l.at[COLUMN_BOOT] == COLUMN_NONE)
		d->store->files[file].no_boots = true;
	while (rc == 0 && (rc = csv_next(f, &r, err)) > 0)
		rc = read_row(d, f, &r, &l, file, err);
	return rc;
}

static int read_plain(struct stat_data *d, struct csv_file *f, const struct csv_record *first,
		      uint32_t file, struct kg_err *err)
{
	struct stat_store *s = d->store;
	struct csv_record r = *first;
	uint32_t tuple[RAW_WIDTH], raw;
	int rc;

	for (size_t c = 0; c < STAT_GROUP_KEYS; c++)
		tuple[c] = NONE;
	tuple[STAT_GROUP_KEYS] = file;
	raw = raw_of(s, tuple, r.line);
	s->files[file].plain = s->files[file].no_boots = true;
	do {
		double value = 0;

		if (r.n > 1)
			return csv_fail(
				f, &r.fields[1], err,
				"a second field in a file of plain numbers, expected one number "
				"a line");
		rc = csv_number(f, &r.fields[0], &value, err);
		if (rc < 0)
			return rc;
		add_row(s, raw, BOOT_OWN | (uint32_t)s->n_own++, value);
	} while ((rc = csv_next(f, &r, err)) > 0);
	return rc;
}

static int read_file(struct stat_data *d, uint32_t file, struct kg_err *err)
{
	struct stat_file *in = &d->store->files[file];
	struct csv_record r;
	int rc = csv_open(in->path, &in->csv, err);

	if (rc < 0)
		return rc;
	rc = csv_next(in->csv, &r, err);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return kg_err_set(err, KG_ENODATA, "'%s' holds no value", csv_name(in->csv));
	if (r.n == 1 && csv_looks_number(&r.fields[0]))
		return read_plain(d, in->csv, &r, file, err);
	return read_csv(d, in->csv, &r, file, err);
}

/* "dir/old.txt" -> "old" */
static char *label_of_path(const char *path)
{
	const char *base = strrchr(path, '/');
	char *label;
	char *dot;

	if (strcmp(path, "-") == 0)
		return cli_strdup("stdin");
	label = cli_strdup(base && base[1] ? base + 1 : path);
	dot = strrchr(label, '.');
	if (dot && dot > label)
		*dot = '\0';
	return label;
}

static bool same_label(const struct stat_store *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(s->files[k].label, s->files[i].label) == 0)
			return true;
	return false;
}

/* Files of one name in different folders go by their paths, the same file twice by a number. Only
 * labels that were given may be shared. */
static void tell_apart(struct stat_store *s)
{
	for (size_t i = 1; i < s->n_files; i++) {
		struct stat_file *f = &s->files[i];
		struct kg_str name = {0};

		if (f->labelled || !same_label(s, i))
			continue;
		free(f->label);
		f->label = cli_strdup(f->path);
		for (unsigned k = 2; same_label(s, i); k++) {
			kg_str_clear(&name);
			kg_str_addf(&name, "%s#%u", f->path, k);
			free(f->label);
			f->label = cli_strdup(kg_str_text(&name));
		}
		kg_str_deinit(&name);
	}
}

static int name_files(struct stat_store *s, const char *const *files, size_t n, struct kg_err *err)
{
	s->files = cli_alloc(n, sizeof(*s->files));
	s->n_files = n;
	for (size_t i = 0; i < n; i++) {
		const char *eq = strchr(files[i], '=');
		struct stat_file *f = &s->files[i];

		if (!eq || access(files[i], F_OK) == 0) {
			f->path = files[i];
			f->label = label_of_path(files[i]);
			continue;
		}
		if (eq == files[i] || !eq[1])
			return kg_err_set(err, KG_EINVALID, "'%s' is no file, expected LABEL=FILE",
					  files[i]);
		f->path = eq + 1;
		f->labelled = true;
		f->label = cli_strdup(files[i]);
		f->label[eq - files[i]] = '\0';
	}
	tell_apart(s);
	return 0;
}

static int nothing_left(const struct stat_data *d, struct kg_err *err)
{
	if (d->left_out_outcome + d->left_out_warmup == 0)
		return kg_err_set(err, KG_ENODATA,
				  "no values: the files have a header and no rows");
	return kg_err_set(err, KG_ENODATA,
			  "no values: %zu rows have another outcome than pass, %zu are warm-up",
			  d->left_out_outcome, d->left_out_warmup);
}

int stat_read(const char *const *files, size_t n, struct stat_data *ret, struct kg_err *err)
{
	struct stat_data d = {.store = cli_alloc(1, sizeof(*d.store))};
	int rc = name_files(d.store, files, n, err);

	d.store->raws.width = RAW_WIDTH;
	d.store->scopes.width = 3;
	d.store->boot_names.width = 2;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = read_file(&d, (uint32_t)i, err);
	if (rc == 0 && d.store->n_rows == 0)
		rc = nothing_left(&d, err);
	if (rc == 0)
		rc = stat_arrange(&d, err);
	if (rc < 0) {
		stat_data_deinit(&d);
		return rc;
	}
	*ret = d;
	return 0;
}

void stat_data_deinit(struct stat_data *d)
{
	struct stat_store *s = d->store;

	if (!s)
		return;
	for (size_t i = 0; i < s->n_files; i++) {
		csv_close(s->files[i].csv);
		free(s->files[i].label);
	}
	for (size_t c = 0; c < COLUMNS; c++) {
		intern_deinit(&s->texts[c]);
		for (size_t i = 0; i < s->n_copies[c]; i++)
			free(s->copies[c][i]);
		free(s->copies[c]);
	}
	for (size_t i = 0; i < d->n_sides; i++)
		free((void *)(uintptr_t)d->sides[i].label);
	intern_deinit(&s->unknown);
	intern_tuples_deinit(&s->raws);
	intern_tuples_deinit(&s->scopes);
	intern_tuples_deinit(&s->boot_names);
	for (size_t i = 0; i < BOOT_TABLES; i++)
		free(s->numbers[i].ids);
	free(s->name_ids);
	kg_str_deinit(&s->unknown_text);
	free(s->files);
	free(s->rows);
	free(s->cells);
	free(s->values);
	free(s->boots);
	free(s->out_cells);
	free(s);
	free(d->groups);
	free(d->sides);
	*d = (struct stat_data){0};
}
