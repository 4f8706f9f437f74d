/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid stat changepoints: no coordinator, only a file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/csv_read.h"
#include "cli/json.h"
#include "cli/stat_options.h"
#include "cli/stat_series.h"
#include "cli/width.h"
#include "coordinator/analysis/changepoint.h"

#define PRINT_BYTES (1 << 16) /* written at a time */

struct changes {
	struct cli *cli;
	struct changepoint_options options;
	struct kg_str out;
	struct kg_str name; /* of the series at hand, NUL-terminated */
	size_t series, with_change, points, total;
};

static int read_options(const struct cli_args *args, struct changepoint_options *o,
			struct kg_err *err)
{
	const char *method = cli_args_text(args, "method");
	double window;
	int rc;

	changepoint_options_init(o);
	window = (double)o->window_len;
	if (method && strcmp(method, "edivisive") == 0)
		o->method = CHANGEPOINT_EDIVISIVE;
	o->trend = cli_args_has(args, "trend");
	o->hampel = cli_args_has(args, "hampel");
	if (o->trend && o->method == CHANGEPOINT_EDIVISIVE)
		return kg_err_set(err, KG_EINVALID,
				  "--trend goes with --method pelt, not with 'edivisive'");
	rc = stat_option_number(args, "min-effect", 0, 1e6, &o->min_effect_pct, err);
	if (rc == 0)
		rc = stat_option_number(args, "max-p", 1e-12, 0.5, &o->max_p, err);
	if (rc == 0)
		rc = stat_option_number(args, "window", 2, 10000, &window, err);
	o->window_len = (size_t)window;
	o->max_pvalue = o->max_p;
	if (cli_args_has(args, "min-effect"))
		o->min_magnitude = o->min_effect_pct / 100;
	return rc;
}

/* Fewest points at which anything can be found, about: the ranks of two equal halves. */
static size_t fewest_points(const struct changepoint_options *o)
{
	double ways = 1;
	size_t n;

	if (o->method == CHANGEPOINT_EDIVISIVE)
		return 3;
	if (o->trend)
		return 10;
	for (n = 2; 2 / ways > o->max_p; n += 2)
		ways *= 4 * (double)(n - 1) / (double)n;
	return n - 2;
}

static void add_number(struct kg_str *out, const char *key, double v)
{
	kg_str_addf(out, ",\"%s\":", key);
	if (isfinite(v))
		csv_double(out, v);
	else
		kg_str_add(out, "null");
}

static void json_series(struct changes *c, size_t n, const struct changepoint *points,
			size_t n_points)
{
	size_t i;

	kg_str_add(&c->out, c->series > 1 ? ",\n  {\"name\":" : "\n  {\"name\":");
	kg_str_add_json(&c->out, kg_str_text(&c->name));
	kg_str_addf(&c->out, ",\"n\":%zu,\"changepoints\":[", n);
	for (i = 0; i < n_points; i++) {
		const struct changepoint *p = &points[i];

		kg_str_addf(&c->out, "%s{\"index\":%zu,\"end\":%zu,\"interval\":[%zu,%zu]",
			    i > 0 ? "," : "", p->index, p->end, p->lo, p->hi);
		add_number(&c->out, "before", p->before);
		add_number(&c->out, "after", p->after);
		add_number(&c->out, "change_pct", p->has_change ? p->change_pct : NAN);
		add_number(&c->out, "p", p->p);
		kg_str_addf(&c->out, ",\"kind\":\"%s\"}", changepoint_kind_name(p->kind));
	}
	kg_str_add(&c->out, "]}");
}

static void text_point(struct kg_str *out, const struct changepoint *p)
{
	kg_str_addf(out, "    at %zu", p->index);
	if (p->kind == CHANGEPOINT_RAMP)
		kg_str_addf(out, " to %zu", p->end);
	kg_str_addf(out, " (%zu-%zu)  %s  %s%.6g -> %.6g", p->lo, p->hi,
		    changepoint_kind_name(p->kind),
		    p->kind == CHANGEPOINT_VARIANCE ? "deviation " : "", p->before, p->after);
	if (p->has_change)
		kg_str_addf(out, "  %+.2f %%", p->change_pct);
	kg_str_addf(out, "  p %.2g\n", p->p);
}

static void text_series(struct changes *c, size_t n, const struct changepoint *points,
			size_t n_points)
{
	size_t fewest = fewest_points(&c->options);
	size_t i;

	text_clean(&c->out, kg_str_text(&c->name), c->name.len, false);
	kg_str_addf(&c->out, ": %zu point%s, ", n, n == 1 ? "" : "s");
	if (n_points > 0)
		kg_str_addf(&c->out, "%zu change%s\n", n_points, n_points == 1 ? "" : "s");
	else if (n < fewest)
		kg_str_addf(&c->out, "no change: too few points, at least %zu can show one\n",
			    fewest);
	else
		kg_str_add(&c->out, "no change\n");
	for (i = 0; i < n_points; i++)
		text_point(&c->out, &points[i]);
}

static int one_series(struct changes *c, const struct stat_one_series *s, struct kg_err *err)
{
	struct changepoint *points = NULL;
	size_t n = 0;
	int rc = changepoint_find(s->values, s->n, &c->options, &points, &n, err);

	if (rc < 0)
		return rc;
	c->series++;
	c->points += s->n;
	c->total += n;
	c->with_change += n > 0;
	kg_str_clear(&c->name);
	kg_str_addn(&c->name, s->name, s->name_len);
	if (c->cli->json)
		json_series(c, s->n, points, n);
	else
		text_series(c, s->n, points, n);
	free(points);
	if (c->out.len >= PRINT_BYTES)
		cli_print(c->cli, &c->out);
	return 0;
}

static int run(struct changes *c, const struct stat_series *s, struct kg_err *err)
{
	size_t i;
	int rc = 0;

	if (c->cli->json)
		kg_str_add(&c->out, "{\"series\":[");
	for (i = 0; rc == 0 && i < s->n; i++)
		rc = one_series(c, &s->series[i], err);
	if (c->cli->json)
		kg_str_add(&c->out, "\n]}\n");
	else
		kg_str_addf(&c->out, "total: %zu change%s in %zu of %zu series, %zu points\n",
			    c->total, c->total == 1 ? "" : "s", c->with_change, c->series,
			    c->points);
	if (rc == 0)
		cli_print(c->cli, &c->out);
	return rc;
}

int cmd_stat_changepoints(struct cli *cli, const struct cli_args *args)
{
	struct changes c = {.cli = cli};
	struct csv_file *f = NULL;
	struct stat_series s;
	struct kg_err err = {{0}};
	int rc = read_options(args, &c.options, &err);

	if (rc < 0)
		return stat_fail(cli, rc, &err);
	rc = csv_open(args->operands[0], &f, &err);
	if (rc < 0)
		return stat_fail(cli, rc, &err);
	rc = stat_series_read(f, &s, &err);
	if (rc == 0) {
		if (s.unnamed)
			cli_say(cli,
				"no column 'series': all %zu values are taken for one series, in "
				"their order",
				s.n_values);
		rc = run(&c, &s, &err);
		stat_series_deinit(&s);
	}
	csv_close(f);
	kg_str_deinit(&c.out);
	kg_str_deinit(&c.name);
	return rc < 0 ? stat_fail(cli, rc, &err) : CLI_EXIT_OK;
}
