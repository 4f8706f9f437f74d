/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/history_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/compare_cell.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/width.h"

#define LEVELS 8

static const char *const blocks[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const letters[LEVELS] = {"_", ".", "-", ":", "=", "+", "*", "#"};

/* Mean of the finite values in [first, end); NaN without one. */
static double mean_of(const double *values, size_t first, size_t end)
{
	double sum = 0;
	size_t n = 0, i;

	for (i = first; i < end; i++) {
		if (!isfinite(values[i]))
			continue;
		n++;
		sum += (values[i] - sum) / (double)n; /* the running mean: sums may overflow */
	}
	return n ? sum : (double)NAN;
}

static size_t points_per_mark(size_t n, size_t columns)
{
	columns = columns ? columns : 1;
	return n <= columns ? 1 : (n + columns - 1) / columns;
}

void history_spark(const double *values, size_t n, size_t columns, bool unicode, struct kg_str *out,
		   size_t *ret_per)
{
	size_t per = points_per_mark(n, columns), i;
	double least = (double)INFINITY, most = -(double)INFINITY;

	for (i = 0; i < n; i += per) {
		double v = mean_of(values, i, i + per < n ? i + per : n);

		if (isfinite(v)) {
			least = v < least ? v : least;
			most = v > most ? v : most;
		}
	}
	for (i = 0; i < n; i += per) {
		double v = mean_of(values, i, i + per < n ? i + per : n), share = 0.5;
		size_t level;

		if (!isfinite(v)) {
			kg_str_add(out, " ");
			continue;
		}
		/* halves, as the span of huge values overflows; a flat series is in the middle */
		if (most / 2 - least / 2 > 0)
			share = (v / 2 - least / 2) / (most / 2 - least / 2);
		level = (size_t)(share * LEVELS);
		level = level < LEVELS ? level : LEVELS - 1;
		kg_str_add(out, unicode ? blocks[level] : letters[level]);
	}
	*ret_per = per;
}

static char change_mark(const Kgrid__V1__HistoryChange *c)
{
	if (kg_streq(c->kind, "epoch"))
		return '|';
	if (kg_streq(c->kind, "ramp"))
		return '/';
	if (kg_streq(c->kind, "variance"))
		return '~';
	return kg_streq(c->kind, "suspect") ? '?' : '^';
}

/* The line below the marks; none without changes. A step wins over what shares its column. */
static void change_marks(const Kgrid__V1__HistorySeries *s, size_t per, struct kg_str *out)
{
	size_t columns = (s->n_points + per - 1) / per, i;
	char *line = cli_alloc(columns + 1, 1);

	memset(line, ' ', columns);
	for (i = 0; i < s->n_changes; i++) {
		const Kgrid__V1__HistoryChange *c = s->changes[i];
		char mark = change_mark(c);

		if (c->index < s->n_points && line[c->index / per] != '^')
			line[c->index / per] = mark;
	}
	while (columns > 0 && line[columns - 1] == ' ')
		line[--columns] = '\0';
	if (columns > 0)
		kg_str_addf(out, "  %s\n", line);
	free(line);
}

/* Decimals for the values of a series. */
static int decimals_of(const Kgrid__V1__HistorySeries *s)
{
	double least = 0;
	size_t i;

	for (i = 0; i < s->n_points; i++) {
		double v = fabs(s->points[i]->value);

		if (isfinite(v) && v > 0 && (least == 0 || v < least))
			least = v;
	}
	return format_decimals(least);
}

static const char *kernel_at(const Kgrid__V1__HistorySeries *s, size_t i)
{
	const Kgrid__V1__HistoryPoint *p = i < s->n_points ? s->points[i] : NULL;

	if (!p)
		return "?";
	return p->kernel && p->kernel[0] ? p->kernel : cli_text(p->digest);
}

static void heading(const Kgrid__V1__HistorySeries *s, size_t width, struct kg_str *out)
{
	const char *direction = cli_text(s->direction);
	struct kg_str t = {0}, safe = {0};

	kg_str_addf(&t, "%s %s%s%s", cli_text(s->machine), cli_text(s->workload),
		    s->params && s->params[0] ? " " : "", cli_text(s->params));
	if (s->lsm && s->lsm[0])
		kg_str_addf(&t, " %s", s->lsm);
	kg_str_addf(&t, ": %s", cli_text(s->metric));
	if (s->unit && s->unit[0])
		kg_str_addf(&t, " in %s", s->unit);
	if (strcmp(direction, "higher") == 0 || strcmp(direction, "lower") == 0)
		kg_str_addf(&t, ", %s is better", direction);
	else
		kg_str_add(&t, ", no direction is better");
	kg_str_addf(&t, "; %zu point%s", s->n_points, s->n_points == 1 ? "" : "s");
	if (s->n_points > 1)
		kg_str_addf(&t, ", %.64s .. %.64s", kernel_at(s, 0), kernel_at(s, s->n_points - 1));
	text_clean(&safe, kg_str_text(&t), t.len, false);
	text_wrap(out, kg_str_text(&safe), 0, 4, width);
	kg_str_deinit(&safe);
	kg_str_deinit(&t);
}

/* "4376.4 .. 4530.2 1/s", least and largest point */
static void range_text(const Kgrid__V1__HistorySeries *s, int decimals, struct kg_str *out)
{
	double least = (double)INFINITY, most = -(double)INFINITY;
	size_t i;

	for (i = 0; i < s->n_points; i++) {
		double v = s->points[i]->value;

		if (isfinite(v)) {
			least = fmin(least, v);
			most = fmax(most, v);
		}
	}
	if (least <= most)
		kg_str_addf(out, "%.*f .. %.*f %s", decimals, least, decimals, most,
			    cli_text(s->unit));
}

static void spark(const Kgrid__V1__HistorySeries *s, const struct history_look *look,
		  struct kg_str *out)
{
	double *values = cli_alloc(s->n_points, sizeof(*values));
	struct kg_str range = {0}, safe = {0};
	size_t i, per, room;

	for (i = 0; i < s->n_points; i++)
		values[i] = s->points[i]->has_value ? s->points[i]->value : (double)NAN;
	range_text(s, decimals_of(s), &range);
	text_clean(&safe, kg_str_text(&range), range.len, false);
	room = text_width(kg_str_text(&safe)) + 5;
	room = look->width > room + 20 ? look->width - room : 20;
	kg_str_add(out, "  ");
	history_spark(values, s->n_points, room, look->unicode, out, &per);
	kg_str_addf(out, "   %s\n", kg_str_text(&safe));
	change_marks(s, per, out);
	if (per > 1)
		kg_str_addf(out, "  a mark is the mean of %zu points\n", per);
	kg_str_deinit(&safe);
	kg_str_deinit(&range);
	free(values);
}

/* "step at 6.12 (first bad between 6.11 and 6.12)": where, and how sure that is */
static void place_text(const Kgrid__V1__HistorySeries *s, const Kgrid__V1__HistoryChange *c,
		       struct kg_str *out)
{
	kg_str_addf(out, "%s at %s", c->kind && c->kind[0] ? c->kind : "step",
		    kernel_at(s, c->index));
	if (c->has_lo && c->has_hi && (c->lo != c->index || c->hi != c->index))
		kg_str_addf(out, ", between %s and %s", kernel_at(s, c->lo), kernel_at(s, c->hi));
	else if (c->index > 0)
		kg_str_addf(out, ", %s was before", kernel_at(s, c->index - 1));
}

static void change_line(const Kgrid__V1__HistorySeries *s, const Kgrid__V1__HistoryChange *c,
			const struct history_look *look, struct kg_str *out)
{
	int decimals = decimals_of(s);
	struct kg_str t = {0}, safe = {0};
	enum table_style style = TABLE_PLAIN;
	char buf[64];

	kg_str_addf(&t, "%c ", change_mark(c));
	place_text(s, c, &t);
	if (c->has_effect_pct && isfinite(c->effect_pct)) {
		(void)percent_text(buf, sizeof(buf), true, c->effect_pct);
		kg_str_addf(&t, ": %s %%", buf);
		interval_text(c->has_lo_pct && c->has_hi_pct, c->lo_pct, c->hi_pct, &t);
	}
	if (c->has_before && c->has_after && isfinite(c->before) && isfinite(c->after))
		kg_str_addf(&t, " (%.*f -> %.*f %s)", decimals, c->before, decimals, c->after,
			    cli_text(s->unit));
	if (c->has_p && isfinite(c->p)) {
		(void)probability_text(buf, sizeof(buf), c->p);
		kg_str_addf(&t, ", p=%s", buf);
	}
	if (c->verdict && c->verdict[0])
		kg_str_addf(&t, ": %s", c->verdict);
	if (kg_streq(c->verdict, "regression"))
		style = TABLE_BAD;
	else if (kg_streq(c->verdict, "improvement"))
		style = TABLE_GOOD;
	text_clean(&safe, kg_str_text(&t), t.len, false);
	kg_str_add(out, look->color ? table_style_on(style) : "");
	kg_str_add(out, "  ");
	text_wrap(out, kg_str_text(&safe), 2, 4, look->width);
	if (look->color && style != TABLE_PLAIN) {
		out->text[--out->len] = '\0'; /* the newline comes behind the colour's end */
		kg_str_add(out, TABLE_STYLE_OFF "\n");
	}
	kg_str_deinit(&safe);
	kg_str_deinit(&t);
}

static bool many_epochs(const Kgrid__V1__HistorySeries *s)
{
	size_t i;

	for (i = 1; i < s->n_points; i++)
		if (s->points[i]->epoch != s->points[0]->epoch)
			return true;
	return false;
}

static void point_row(struct table *t, const Kgrid__V1__HistorySeries *s, size_t i, int decimals,
		      bool epochs)
{
	const Kgrid__V1__HistoryPoint *p = s->points[i];
	struct kg_str marks = {0};
	char time[FORMAT_SIZE];
	size_t k;

	table_cell(t, kernel_at(s, i));
	table_cellf(t, "%.10s", format_time(p->time_ns, time));
	table_cellf(t, "%" PRIu32, p->boots);
	if (p->has_value && isfinite(p->value))
		table_cellf(t, "%.*f", decimals, p->value);
	else
		table_cell(t, "-");
	if (p->has_lo && p->has_hi && isfinite(p->lo) && isfinite(p->hi))
		table_cellf(t, "[%.*f, %.*f]", decimals, p->lo, decimals, p->hi);
	else
		table_cell(t, "-");
	if (epochs)
		table_cellf(t, "%" PRIu32, p->epoch);
	for (k = 0; k < s->n_changes; k++)
		if (s->changes[k]->index == i)
			kg_str_addf(&marks, "%s%c %s", marks.len ? ", " : "",
				    change_mark(s->changes[k]), cli_text(s->changes[k]->kind));
	table_cell(t, kg_str_text(&marks));
	kg_str_deinit(&marks);
}

static void points(const Kgrid__V1__HistorySeries *s, const struct history_look *look,
		   struct kg_str *out)
{
	bool epochs = many_epochs(s);
	struct table *t = table_new(epochs ? "llrrrrl" : "llrrrl");
	size_t first = 0, i;
	int decimals = decimals_of(s);

	if (!look->all && s->n_points > HISTORY_POINTS_SHOWN)
		first = s->n_points - HISTORY_POINTS_SHOWN;
	table_title(t, "KERNEL");
	table_title(t, "SINCE");
	table_title(t, "BOOTS");
	table_title(t, s->unit && s->unit[0] ? s->unit : "VALUE");
	table_title(t, "[95 %]");
	if (epochs)
		table_title(t, "EPOCH");
	table_title(t, "CHANGE");
	for (i = first; i < s->n_points; i++)
		point_row(t, s, i, decimals, epochs);
	table_render(t, 2, look->width, look->color, out);
	if (first > 0)
		kg_str_addf(out, "  the first %zu points are left out; --points lists all\n",
			    first);
	table_free(t);
}

void history_series_text(const Kgrid__V1__HistorySeries *s, const struct history_look *look,
			 struct kg_str *out)
{
	size_t i;

	heading(s, look->width, out);
	if (s->n_points == 0) {
		kg_str_add(out, "  no kernel has a valid value\n");
		return;
	}
	spark(s, look, out);
	for (i = 0; i < s->n_changes; i++)
		change_line(s, s->changes[i], look, out);
	if (s->n_changes == 0)
		kg_str_add(out, "  no change found\n");
	points(s, look, out);
}

void history_text(const Kgrid__V1__HistoryReply *r, const struct history_look *look,
		  struct kg_str *out)
{
	size_t i, changes = 0;

	for (i = 0; i < r->n_series; i++) {
		history_series_text(r->series[i], look, out);
		kg_str_add(out, "\n");
		changes += r->series[i]->n_changes;
	}
	if (changes > 0)
		text_wrap(out,
			  "^ step, / ramp, ~ change of variance, | new epoch of the machine, ? "
			  "suspect: newest points that look bad, too few to say; positive is "
			  "better; values are medians over boots with 95 % intervals",
			  0, 2, look->width);
	for (i = 0; i < r->n_notes; i++) {
		struct kg_str s = {0};

		text_clean(&s, r->notes[i], strlen(r->notes[i]), false);
		kg_str_add(out, "note: ");
		text_wrap(out, kg_str_text(&s), 6, 6, look->width);
		kg_str_deinit(&s);
	}
	if (r->accounting) {
		format_accounting(r->accounting, out);
		kg_str_add(out, "\n");
	}
}

static void csv_word(struct kg_str *out, const char *text)
{
	csv_text(out, cli_text(text));
	kg_str_add(out, ",");
}

static void csv_value(struct kg_str *out, bool has, double v)
{
	kg_str_add(out, ",");
	if (has)
		csv_double(out, v);
}

static void csv_point(const Kgrid__V1__HistorySeries *s, size_t i,
		      const Kgrid__V1__HistoryChange *c, struct kg_str *out)
{
	const Kgrid__V1__HistoryPoint *p = s->points[i];

	csv_word(out, s->machine);
	csv_word(out, s->workload);
	csv_word(out, s->params);
	csv_word(out, s->lsm);
	csv_word(out, s->metric);
	csv_word(out, s->unit);
	csv_word(out, s->direction);
	kg_str_addf(out, "%zu,", i);
	csv_word(out, p->kernel);
	csv_word(out, p->digest);
	kg_str_addf(out, "%" PRId64 ",%" PRIu32 ",%" PRIu32, p->time_ns, p->epoch, p->boots);
	csv_value(out, p->has_value, p->value);
	csv_value(out, p->has_lo, p->lo);
	csv_value(out, p->has_hi, p->hi);
	if (!c) {
		kg_str_add(out, ",,,,,,,,,,\n");
		return;
	}
	kg_str_add(out, ",");
	csv_word(out, c->kind);
	csv_text(out, cli_text(c->verdict));
	csv_value(out, c->has_effect_pct, c->effect_pct);
	csv_value(out, c->has_before, c->before);
	csv_value(out, c->has_after, c->after);
	csv_value(out, c->has_p, c->p);
	if (c->has_lo && c->has_hi)
		kg_str_addf(out, ",%" PRIu32 ",%" PRIu32, c->lo, c->hi);
	else
		kg_str_add(out, ",,");
	csv_value(out, c->has_lo_pct, c->lo_pct);
	csv_value(out, c->has_hi_pct, c->hi_pct);
	kg_str_add(out, "\n");
}

void history_csv(const Kgrid__V1__HistoryReply *r, struct kg_str *out)
{
	size_t k, i, j;

	kg_str_add(out, "machine,workload,params,lsm,metric,unit,direction,index,kernel,digest,"
			"time_ns,epoch,boots,value,value_lo,value_hi,change,verdict,effect_pct,"
			"before,after,p,change_lo,change_hi,"
			"effect_lo_pct,effect_hi_pct\n");
	for (k = 0; k < r->n_series; k++) {
		const Kgrid__V1__HistorySeries *s = r->series[k];

		for (i = 0; i < s->n_points; i++) {
			bool any = false;

			for (j = 0; j < s->n_changes; j++) {
				if (s->changes[j]->index != i)
					continue;
				csv_point(s, i, s->changes[j], out);
				any = true;
			}
			if (!any)
				csv_point(s, i, NULL, out);
		}
	}
}
