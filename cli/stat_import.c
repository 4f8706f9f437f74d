/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stat_import.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/csv_read.h"
#include "cli/stat_intern.h"

#define CELLS_MAX \
	((size_t)1 << 24) /* of all tables, so that a sparse file cannot take all memory */
#define NOT_THERE SIZE_MAX

enum {
	/* mmtests */
	C_TABLE,
	C_MACHINE,
	C_CPU,
	C_BENCHMARK,
	C_KERNEL,
	C_SUFFIX,
	C_KEY,
	C_STAT,
	C_VALUE,
	C_DELTA,
	C_SIGNIFICANT,
	/* lkp */
	C_METRIC,
	C_BASE,
	C_BASE_SD,
	C_CHANGE,
	C_CHANGE_IS_PCT,
	C_NEW,
	C_NEW_SD,
	C_COUNT
};

static const char *const names[C_COUNT] = {
	"table",  "machine",	     "cpu",	    "benchmark",
	"kernel", "suffix",	     "key",	    "stat",
	"value",  "delta_pct",	     "significant", "metric",
	"base",	  "base_stddev_pct", "change",	    "change_is_pct",
	"new",	  "new_stddev_pct",
};

/* A published difference. */
struct published {
	bool has;
	double value;
	double half; /* of its last digit */
	size_t line;
};

/* One value of the file, before tables are made. */
struct item {
	uint32_t table, row, column; /* rows and columns over all tables */
	struct style_cell cell;
	double half; /* of the value's last digit: what rounding allows */
	struct published diff;
};

struct import_store {
	struct csv_file *csv;
	struct intern texts; /* all texts of names; copies below */
	char **copies;
	struct intern tables;	      /* by label */
	struct intern_tuples rows;    /* table, key, stat, absolute */
	struct intern_tuples columns; /* table, kernel, suffix */
	uint32_t *titles;	      /* of tables: machine, cpu, benchmark, as texts */
	struct item *items;
	size_t n_items, items_cap;
	struct style_row *out_rows;
	struct style_column *out_columns;
	struct style_cell *cells;
	char **title_texts;
	size_t n_title_texts;
};

struct reader {
	struct import *im;
	struct csv_file *f;
	size_t at[C_COUNT];
	size_t n;
};

static struct csv_field field_of(const struct reader *rd, const struct csv_record *r, int c)
{
	static const struct csv_field none = {.text = ""};

	return rd->at[c] == NOT_THERE ? none : csv_trim(&r->fields[rd->at[c]]);
}

static uint32_t text_of(struct reader *rd, const struct csv_record *r, int c)
{
	struct csv_field t = field_of(rd, r, c);

	return intern_add(&rd->im->store->texts, t.text, t.len);
}

/* Half a unit of the last digit of a decimal as it is written. */
static double half_unit(const struct csv_field *t)
{
	int exponent = 0, decimals = 0;
	bool point = false;

	for (size_t i = 0; i < t->len; i++) {
		char c = t->text[i];

		if (c == 'e' || c == 'E') {
			exponent = (int)strtol(t->text + i + 1, NULL, 10);
			break;
		}
		point = point || c == '.';
		decimals += point && c >= '0' && c <= '9';
	}
	return 0.5 * pow(10, exponent - decimals);
}

/* A number that may be missing: empty is no error. */
static int number_of(struct reader *rd, const struct csv_record *r, int c, bool *ret_has,
		     double *ret, double *ret_half, struct kg_err *err)
{
	struct csv_field t = field_of(rd, r, c);

	*ret_has = t.len > 0;
	if (!*ret_has)
		return 0;
	if (ret_half)
		*ret_half = half_unit(&t);
	return csv_number(rd->f, &t, ret, err);
}

static int flag_of(struct reader *rd, const struct csv_record *r, int c, bool *ret,
		   struct kg_err *err)
{
	struct csv_field t = field_of(rd, r, c);

	*ret = csv_is(&t, "1") || csv_is(&t, "true");
	if (*ret || t.len == 0 || csv_is(&t, "0") || csv_is(&t, "false"))
		return 0;
	return csv_fail(rd->f, &t, err, "column '%s' must be 0 or 1", names[c]);
}

static void add_item(struct import_store *s, const struct item *it)
{
	if (s->n_items == s->items_cap) {
		s->items_cap = s->items_cap ? 2 * s->items_cap : 256;
		s->items = cli_grow(s->items, s->items_cap, sizeof(*s->items));
	}
	s->items[s->n_items++] = *it;
}

static uint32_t add_table(struct reader *rd, const struct csv_field *label, const uint32_t title[3])
{
	struct import_store *s = rd->im->store;
	size_t before = s->tables.n;
	uint32_t t = intern_add(&s->tables, label->text, label->len);

	if (s->tables.n > before) {
		s->titles = cli_grow(s->titles, 3 * s->tables.n, sizeof(*s->titles));
		memcpy(&s->titles[3 * t], title, 3 * sizeof(*title));
	}
	return t;
}

static int read_published(struct reader *rd, const struct csv_record *r, int c,
			  struct published *ret, struct kg_err *err)
{
	ret->line = r->line;
	return number_of(rd, r, c, &ret->has, &ret->value, &ret->half, err);
}

static int read_mmtests(struct reader *rd, const struct csv_record *r, struct kg_err *err)
{
	struct import_store *s = rd->im->store;
	uint32_t title[3] = {text_of(rd, r, C_MACHINE), text_of(rd, r, C_CPU),
			     text_of(rd, r, C_BENCHMARK)};
	struct csv_field label = field_of(rd, r, C_TABLE);
	struct item it = {0};
	uint32_t tuple[4];
	int rc;

	it.table = add_table(rd, &label, title);
	if (memcmp(&s->titles[3 * it.table], title, sizeof(title)) != 0)
		return csv_fail(rd->f, &r->fields[0], err,
				"another machine, cpu or benchmark than the table's first row has");
	tuple[0] = it.table;
	tuple[1] = text_of(rd, r, C_KEY);
	tuple[2] = text_of(rd, r, C_STAT);
	tuple[3] = 0;
	it.row = intern_tuple(&s->rows, tuple);
	tuple[1] = text_of(rd, r, C_KERNEL);
	tuple[2] = text_of(rd, r, C_SUFFIX);
	it.column = intern_tuple(&s->columns, tuple);
	rc = number_of(rd, r, C_VALUE, &it.cell.has_mean, &it.cell.mean, &it.half, err);
	if (rc == 0 && rd->at[C_SIGNIFICANT] != NOT_THERE) {
		it.cell.has_mark = true;
		rc = flag_of(rd, r, C_SIGNIFICANT, &it.cell.mark, err);
	}
	if (rc == 0)
		rc = read_published(rd, r, C_DELTA, &it.diff, err);
	if (rc == 0)
		add_item(s, &it);
	return rc;
}

static int read_lkp(struct reader *rd, const struct csv_record *r, struct kg_err *err)
{
	static const int value[2] = {C_BASE, C_NEW}, sd[2] = {C_BASE_SD, C_NEW_SD};
	struct import_store *s = rd->im->store;
	struct csv_field metric = field_of(rd, r, C_METRIC), none = {.text = ""};
	uint32_t empty = intern_add(&s->texts, "", 0), title[3] = {empty, empty, empty};
	uint32_t tuple[4] = {add_table(rd, &none, title), text_of(rd, r, C_METRIC), empty, 0};
	struct kg_str name = {0};
	bool is_pct = false;
	int rc = flag_of(rd, r, C_CHANGE_IS_PCT, &is_pct, err);

	kg_str_addn(&name, metric.text, metric.len);
	tuple[3] = rd->at[C_CHANGE_IS_PCT] == NOT_THERE ? style_lkp_absolute(kg_str_text(&name))
							: !is_pct;
	kg_str_deinit(&name);
	for (uint32_t k = 0; k < 2 && rc == 0; k++) {
		struct item it = {.table = 0, .row = intern_tuple(&s->rows, tuple)};
		uint32_t column[4] = {0, intern_add(&s->texts, k ? "new" : "base", k ? 3 : 4),
				      empty};

		it.column = intern_tuple(&s->columns, column);
		rc = number_of(rd, r, value[k], &it.cell.has_mean, &it.cell.mean, &it.half, err);
		/* whole numbers were cut, not rounded */
		if (fabs(it.cell.mean) >= 1000 && it.half == 0.5)
			it.half = 1;
		if (rc == 0)
			rc = number_of(rd, r, sd[k], &it.cell.has_sd_pct, &it.cell.sd_pct, NULL,
				       err);
		if (rc == 0 && k == 1)
			rc = read_published(rd, r, C_CHANGE, &it.diff, err);
		if (rc == 0)
			add_item(s, &it);
	}
	return rc;
}

static bool has_all(const struct reader *rd, const int *columns)
{
	for (; *columns < C_COUNT; columns++)
		if (rd->at[*columns] == NOT_THERE)
			return false;
	return true;
}

static int read_header(struct reader *rd, const struct csv_record *r, struct kg_err *err)
{
	static const int mmtests[] = {C_KERNEL, C_KEY, C_VALUE, C_COUNT};
	static const int lkp[] = {C_METRIC, C_BASE, C_NEW, C_COUNT};

	rd->n = r->n;
	for (int c = 0; c < C_COUNT; c++)
		rd->at[c] = NOT_THERE;
	for (size_t i = 0; i < r->n; i++) {
		int c = 0;

		while (c < C_COUNT && !csv_is(&r->fields[i], names[c]))
			c++;
		if (c < C_COUNT && rd->at[c] != NOT_THERE)
			return csv_fail(rd->f, &r->fields[i], err,
					"column '%s' is named twice, expected once", names[c]);
		if (c < C_COUNT)
			rd->at[c] = i;
	}
	if (has_all(rd, mmtests)) {
		rd->im->kind = IMPORT_MMTESTS;
		return 0;
	}
	if (has_all(rd, lkp)) {
		rd->im->kind = IMPORT_LKP;
		return 0;
	}
	return csv_fail(
		rd->f, &r->fields[0], err,
		"no summary that is known: expected the columns kernel, key, value (and table, "
		"machine, cpu, benchmark, suffix, stat, delta_pct, significant), or metric, "
		"base, new (and base_stddev_pct, change, change_is_pct, new_stddev_pct)");
}

static int read_rows(struct reader *rd, struct kg_err *err)
{
	struct csv_record r;
	int rc = csv_next(rd->f, &r, err);

	if (rc == 0)
		return kg_err_set(err, KG_ENODATA, "'%s' is empty", csv_name(rd->f));
	if (rc > 0)
		rc = read_header(rd, &r, err);
	while (rc == 0 && (rc = csv_next(rd->f, &r, err)) > 0) {
		if (r.n != rd->n)
			return csv_fail(rd->f, &r.fields[r.n > rd->n ? rd->n : r.n - 1], err,
					"%zu fields in this line, expected %zu as in the header",
					r.n, rd->n);
		rc = rd->im->kind == IMPORT_LKP ? read_lkp(rd, &r, err) : read_mmtests(rd, &r, err);
	}
	if (rc == 0 && rd->im->store->n_items == 0)
		return kg_err_set(err, KG_ENODATA, "'%s' has a header and no rows",
				  csv_name(rd->f));
	return rc;
}

static const char *copy_of(const struct import_store *s, uint32_t i)
{
	return s->copies[i];
}

static char *copy_text(const struct intern_text *t)
{
	char *copy = cli_alloc(t->len + 1, 1);

	memcpy(copy, t->text, t->len);
	return copy;
}

/* Rows and columns of all tables, sorted by table; `ret_place` is each one's place in its table. */
static void split(const struct intern_tuples *t, size_t n_tables, size_t *ret_first,
		  uint32_t *ret_place)
{
	uint32_t *count = cli_alloc(n_tables + 1, sizeof(*count));

	for (size_t i = 0; i < t->n; i++)
		ret_place[i] = count[t->items[i * t->width]]++;
	ret_first[0] = 0;
	for (size_t k = 0; k < n_tables; k++)
		ret_first[k + 1] = ret_first[k] + count[k];
	free(count);
}

static char *title_text(struct import_store *s, size_t table)
{
	const char *machine = copy_of(s, s->titles[3 * table]);
	const char *cpu = copy_of(s, s->titles[3 * table + 1]);
	struct kg_str text = {0};

	kg_str_addf(&text, "%s%s%s", machine, machine[0] && cpu[0] ? " " : "", cpu);
	s->title_texts[s->n_title_texts] = kg_str_take(&text);
	return s->title_texts[s->n_title_texts++];
}

static bool is_number_text(const char *key)
{
	return key[0] && strspn(key, "0123456789.") == strlen(key);
}

static bool same_columns(const struct style_table *a, const struct style_table *b)
{
	if (a->n_columns != b->n_columns)
		return false;
	for (size_t i = 0; i < a->n_columns; i++)
		if (!kg_streq(a->columns[i].kernel, b->columns[i].kernel) ||
		    !kg_streq(a->columns[i].variant, b->columns[i].variant))
			return false;
	return true;
}

static bool bare_keys(const struct style_table *t)
{
	for (size_t i = 0; i < t->n_rows; i++)
		if (!is_number_text(t->rows[i].key))
			return false;
	return true;
}

/* netperf's keys are sizes: "Buffer size" stands above them where keys are bare numbers. In reports of
 * one machine that have several benchmarks side by side, one of them with keys that name themselves
 * ("send-64"), no word stands above either. */
static void name_keys(struct import *im)
{
	for (size_t i = 0; i < im->n_tables; i++) {
		struct style_table *t = &im->tables[i];
		bool wanted =
			t->benchmark && kg_str_starts(t->benchmark, "netperf") && bare_keys(t);

		for (size_t k = 0; wanted && k < im->n_tables; k++) {
			const struct style_table *u = &im->tables[k];

			if (kg_streq(u->title, t->title) && same_columns(u, t) && !bare_keys(u))
				wanted = false;
		}
		t->key_title = wanted ? "Buffer size" : NULL;
	}
}

static int check_size(const struct import_store *s, const size_t *rows, const size_t *columns,
		      struct kg_err *err)
{
	size_t cells = 0;

	for (size_t k = 0; k < s->tables.n; k++) {
		size_t n_rows = rows[k + 1] - rows[k], n_columns = columns[k + 1] - columns[k];

		if (n_columns > CELLS_MAX / n_rows || cells + n_rows * n_columns > CELLS_MAX)
			return kg_err_set(err, KG_ELIMIT, "more than %zu cells in all tables",
					  CELLS_MAX);
		cells += n_rows * n_columns;
	}
	return 0;
}

static void make_names(struct import *im, const size_t *row_first, const size_t *column_first,
		       const uint32_t *row_place, const uint32_t *column_place)
{
	struct import_store *s = im->store;

	for (size_t i = 0; i < s->columns.n; i++) {
		const uint32_t *t = &s->columns.items[i * s->columns.width];

		s->out_columns[column_first[t[0]] + column_place[i]] =
			(struct style_column){copy_of(s, t[1]), copy_of(s, t[2])};
	}
	for (size_t i = 0; i < s->rows.n; i++) {
		const uint32_t *t = &s->rows.items[i * s->rows.width];
		const char *stat = copy_of(s, t[2]);
		struct style_row *row = &s->out_rows[row_first[t[0]] + row_place[i]];

		row->key = copy_of(s, t[1]);
		row->stat = stat[0] ? stat : "amean";
		row->absolute = t[3];
	}
}

static int duplicate(const struct import *im, const struct item *it, struct kg_err *err)
{
	return kg_err_set(
		err, KG_EINVALID,
		"%s:%zu:1: a second value of '%s' for the same column of table '%s', expected "
		"one",
		csv_name(im->store->csv), it->diff.line,
		copy_of(im->store, im->store->rows.items[it->row * 4 + 1]), im->labels[it->table]);
}

static int make_tables(struct import *im, const size_t *row_first, const size_t *column_first,
		       const uint32_t *row_place, const uint32_t *column_place, struct kg_err *err)
{
	struct import_store *s = im->store;
	size_t at = 0, n_cells = 0;

	for (size_t k = 0; k < im->n_tables; k++)
		n_cells +=
			(row_first[k + 1] - row_first[k]) * (column_first[k + 1] - column_first[k]);
	s->cells = cli_alloc(n_cells, sizeof(*s->cells));
	for (size_t k = 0; k < im->n_tables; k++) {
		struct style_table *t = &im->tables[k];
		const char *benchmark = copy_of(s, s->titles[3 * k + 2]);
		const char *title = title_text(s, k);

		*t = (struct style_table){.title = title[0] ? title : NULL,
					  .benchmark = benchmark[0] ? benchmark : NULL,
					  .columns = &s->out_columns[column_first[k]],
					  .n_columns = column_first[k + 1] - column_first[k],
					  .rows = &s->out_rows[row_first[k]],
					  .n_rows = row_first[k + 1] - row_first[k]};
		for (size_t i = 0; i < t->n_rows; i++, at += t->n_columns)
			s->out_rows[row_first[k] + i].cells = &s->cells[at];
	}
	for (size_t i = 0; i < s->n_items; i++) {
		const struct item *it = &s->items[i];
		const struct style_row *r = &im->tables[it->table].rows[row_place[it->row]];
		struct style_cell *c =
			(struct style_cell *)(uintptr_t)&r->cells[column_place[it->column]];

		if (c->has_mean || c->has_mark)
			return duplicate(im, it, err);
		*c = it->cell;
		im->n_cells += c->has_mean;
	}
	return 0;
}

/* Smallest and largest difference that the values' rounding allows. */
static bool diff_range(const struct import *im, const struct style_row *r, size_t column,
		       double base_half, double half, double *ret_lo, double *ret_hi)
{
	double lo = INFINITY, hi = -INFINITY;

	for (int k = 0; k < 4; k++) {
		struct style_cell cells[2] = {r->cells[0], r->cells[column]};
		struct style_row copy = *r;
		double d;

		cells[0].mean += k & 1 ? base_half : -base_half;
		cells[1].mean += k & 2 ? half : -half;
		copy.cells = cells;
		if (!(im->kind == IMPORT_LKP ? style_lkp_change : style_mmtests_diff)(&copy, 1, &d))
			return false;
		lo = fmin(lo, d);
		hi = fmax(hi, d);
	}
	*ret_lo = lo;
	*ret_hi = hi;
	return true;
}

/* Whether the difference, to as many decimals as were published, is the published one. */
static bool equal_to_digit(double d, const struct published *p)
{
	return fabs(d - p->value) <= p->half * (1 + 1e-9) + 1e-12;
}

static void check_item(struct import *im, const struct item *it, double base_half,
		       const uint32_t *row_place, const uint32_t *column_place)
{
	const struct style_row *r = &im->tables[it->table].rows[row_place[it->row]];
	size_t column = column_place[it->column];
	double d, lo, hi;

	if (!it->diff.has ||
	    !(im->kind == IMPORT_LKP ? style_lkp_change : style_mmtests_diff)(r, column, &d))
		return;
	if (equal_to_digit(d, &it->diff)) {
		im->n_equal++;
		return;
	}
	if (column > 0 && diff_range(im, r, column, base_half, it->half, &lo, &hi) &&
	    it->diff.value >= lo - it->diff.half - 1e-9 &&
	    it->diff.value <= hi + it->diff.half + 1e-9) {
		im->n_rounding++;
		return;
	}
	if (im->n_other++ == 0)
		im->other_line = it->diff.line;
}

static void check_differences(struct import *im, const uint32_t *row_place,
			      const uint32_t *column_place)
{
	struct import_store *s = im->store;
	double *base_half = cli_alloc(s->rows.n, sizeof(*base_half));

	for (size_t i = 0; i < s->n_items; i++)
		if (column_place[s->items[i].column] == 0)
			base_half[s->items[i].row] = s->items[i].half;
	for (size_t i = 0; i < s->n_items; i++)
		check_item(im, &s->items[i], base_half[s->items[i].row], row_place, column_place);
	free(base_half);
}

static int build(struct import *im, struct kg_err *err)
{
	struct import_store *s = im->store;
	size_t n = s->tables.n;
	size_t *row_first = cli_alloc(n + 1, sizeof(*row_first));
	size_t *column_first = cli_alloc(n + 1, sizeof(*column_first));
	uint32_t *row_place = cli_alloc(s->rows.n, sizeof(*row_place));
	uint32_t *column_place = cli_alloc(s->columns.n, sizeof(*column_place));
	int rc;

	im->n_tables = n;
	im->tables = cli_alloc(n, sizeof(*im->tables));
	im->labels = cli_alloc(n, sizeof(*im->labels));
	s->title_texts = cli_alloc(n, sizeof(*s->title_texts));
	s->copies = cli_alloc(s->texts.n, sizeof(*s->copies));
	s->out_rows = cli_alloc(s->rows.n, sizeof(*s->out_rows));
	s->out_columns = cli_alloc(s->columns.n, sizeof(*s->out_columns));
	for (size_t i = 0; i < s->texts.n; i++)
		s->copies[i] = copy_text(&s->texts.texts[i]);
	for (size_t k = 0; k < n; k++)
		im->labels[k] = copy_text(&s->tables.texts[k]);
	split(&s->rows, n, row_first, row_place);
	split(&s->columns, n, column_first, column_place);
	rc = check_size(s, row_first, column_first, err);
	if (rc == 0) {
		make_names(im, row_first, column_first, row_place, column_place);
		rc = make_tables(im, row_first, column_first, row_place, column_place, err);
	}
	if (rc == 0) {
		name_keys(im);
		check_differences(im, row_place, column_place);
	}
	free(row_first);
	free(column_first);
	free(row_place);
	free(column_place);
	return rc;
}

int import_parse(const char *name, const char *text, size_t len, struct import *ret,
		 struct kg_err *err)
{
	struct import im = {.store = cli_alloc(1, sizeof(*im.store))};
	struct reader rd = {.im = &im};
	int rc = csv_open_memory(name, text, len, &im.store->csv, err);

	im.store->rows.width = 4;
	im.store->columns.width = 3;
	rd.f = im.store->csv;
	if (rc == 0)
		rc = read_rows(&rd, err);
	if (rc == 0)
		rc = build(&im, err);
	if (rc == 0 && im.n_cells == 0)
		rc = kg_err_set(err, KG_ENODATA, "'%s' has rows and no value in them", name);
	if (rc < 0) {
		import_deinit(&im);
		return rc;
	}
	*ret = im;
	return 0;
}

void import_deinit(struct import *im)
{
	struct import_store *s = im->store;

	if (!s)
		return;
	for (size_t i = 0; s->copies && i < s->texts.n; i++)
		free(s->copies[i]);
	for (size_t i = 0; i < s->n_title_texts; i++)
		free(s->title_texts[i]);
	for (size_t i = 0; i < im->n_tables; i++)
		free(im->labels[i]);
	intern_deinit(&s->texts);
	intern_deinit(&s->tables);
	intern_tuples_deinit(&s->rows);
	intern_tuples_deinit(&s->columns);
	csv_close(s->csv);
	free(s->copies);
	free(s->titles);
	free(s->items);
	free(s->out_rows);
	free(s->out_columns);
	free(s->cells);
	free(s->title_texts);
	free(s);
	free(im->labels);
	free(im->tables);
	*im = (struct import){0};
}

const char *import_style(const struct import *im)
{
	return im->kind == IMPORT_LKP ? "lkp" : "mmtests";
}

void import_accounting(const struct import *im, struct kg_str *out)
{
	size_t n = im->n_equal + im->n_rounding + im->n_other;

	kg_str_addf(out,
		    "%zu difference%s recomputed from the values: %zu as published, %zu within the "
		    "rounding of the values",
		    n, n == 1 ? "" : "s", im->n_equal, im->n_rounding);
	if (im->n_other)
		kg_str_addf(out, ", %zu others (first in line %zu)", im->n_other, im->other_line);
}

/* A table's label goes before its place: tables may be numbered from anything. */
static size_t find_table(const struct import *im, unsigned table)
{
	char label[16];

	(void)snprintf(label, sizeof(label), "%u", table);
	for (size_t i = 0; i < im->n_tables; i++)
		if (strcmp(im->labels[i], label) == 0)
			return i;
	return table - 1;
}

int import_render(const struct import *im, const char *style, unsigned table, struct kg_str *out,
		  struct kg_err *err)
{
	size_t i = table ? find_table(im, table) : 0;

	if (table && i >= im->n_tables)
		return kg_err_set(err, KG_ENOTFOUND, "no table %u: there are %zu", table,
				  im->n_tables);
	return style_render(style ? style : import_style(im), &im->tables[i],
			    table ? 1 : im->n_tables, out, err);
}
