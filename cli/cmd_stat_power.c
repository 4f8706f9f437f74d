/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kgrid stat power: how many boots a side find an effect.
 *
 * The deviation between boots is pooled over the sides of a group, each relative to its mean; its
 * interval is that of a variance of normal values (chi-square), and the interval of the boots
 * follows from it. A rank test needs pi/3 times the values of a t test (power.h), and at least as
 * many as its exact p needs to reach alpha.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/stat_compare.h"
#include "cli/stat_options.h"
#include "cli/stat_power.h"
#include "cli/table.h"
#include "coordinator/analysis/dist.h"
#include "coordinator/analysis/power.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/summary.h"

#define LEVEL	    0.95
#define HALVINGS    200
#define LEAST_MAX   1000 /* boots a side for the exact test; alpha is at least 1e-12 */
#define RANK_FACTOR 1.0471975511965976 /* pi / 3 */

const unsigned stat_power_boots[STAT_POWER_STEPS] = {5, 8, 12, 20};

/* x with P(X > x) = upper, by bisection: called a few times a group. */
static double chi2_quantile(double upper, double df)
{
	double lo = 0, hi = df + 10;

	while (stats_chi2_upper(hi, df) > upper)
		hi *= 2;
	for (int i = 0; i < HALVINGS && hi - lo > 1e-12 * hi; i++) {
		double mid = (lo + hi) / 2;

		if (stats_chi2_upper(mid, df) > upper)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

size_t stat_power_least(double alpha)
{
	size_t n = 1;

	while (n < LEAST_MAX && stats_mwu_min_p(n, n) > alpha)
		n++;
	return n;
}

bool stat_cov(const struct stat_group *g, struct stat_cov *ret)
{
	double squares = 0, df = 0;
	size_t boots = 0;

	for (size_t i = 0; i < g->n_cells; i++) {
		const struct stat_cell *cell = &g->cells[i];
		double *scratch = cli_alloc(cell->boots.n, sizeof(*scratch));
		struct stats_summary s;
		bool valid = stats_summarise(stat_boot_values(cell, scratch), cell->boots.n, &s,
					     NULL) == 0;

		free(scratch);
		boots += cell->boots.n;
		if (!valid || !s.has_cv)
			continue;
		squares += s.cv_pct * s.cv_pct * (double)(s.n - 1);
		df += (double)(s.n - 1);
	}
	*ret = (struct stat_cov){.boots = boots, .df = df};
	if (df == 0)
		return false;
	ret->cov_pct = sqrt(squares / df);
	ret->lo_pct = ret->cov_pct * sqrt(df / chi2_quantile((1 - LEVEL) / 2, df));
	ret->hi_pct = ret->cov_pct * sqrt(df / chi2_quantile((1 + LEVEL) / 2, df));
	return isfinite(ret->cov_pct);
}

/* Boots a side; 0: more than can be said. */
static int boots_for(double cov_pct, const struct stat_power *p, double *ret, struct kg_err *err)
{
	double least = (double)stat_power_least(p->alpha), n = 0;
	int rc;

	*ret = least;
	if (cov_pct <= 0)
		return 0;
	/* beyond this even two values would do */
	if (p->effect_pct / cov_pct > 1e6)
		return 0;
	rc = stats_power_n(p->effect_pct / cov_pct, p->power, p->alpha, &n, err);
	if (rc < 0)
		return rc;
	*ret = fmax(least, ceil(n * RANK_FACTOR - 1e-9));
	return 0;
}

int stat_power_of(const struct stat_cov *cov, const struct stat_power *p,
		  struct stat_power_result *ret, struct kg_err *err)
{
	int rc = boots_for(cov->cov_pct, p, &ret->boots, err);

	if (rc == 0 && cov->df > 0)
		rc = boots_for(cov->lo_pct, p, &ret->boots_lo, err);
	if (rc == 0 && cov->df > 0)
		rc = boots_for(cov->hi_pct, p, &ret->boots_hi, err);
	for (size_t i = 0; i < STAT_POWER_STEPS && rc == 0; i++) {
		double n = stat_power_boots[i], sd = 0;

		ret->can[i] = stat_power_boots[i] >= stat_power_least(p->alpha);
		if (ret->can[i])
			rc = stats_power_effect(n / RANK_FACTOR, p->power, p->alpha, &sd, err);
		ret->smallest_pct[i] = sd * cov->cov_pct;
	}
	return rc;
}

/* CoV between boots of quiet to noisy benchmarks, for who has measured none yet. */
static const double usual_cov_pct[] = {0.25, 0.5, 1, 2, 5};
#define USUAL (sizeof(usual_cov_pct) / sizeof(*usual_cov_pct))

struct line {
	const struct stat_group *group; /* NULL: --cov, or a usual one */
	bool usual;
	struct stat_cov cov;
	bool has;
	struct stat_power_result result;
};

static void group_text(const struct line *l, struct kg_str *out)
{
	const char *const *keys = l->group ? l->group->keys : NULL;

	for (size_t k = 0; keys && k < STAT_GROUP_KEYS; k++)
		if (keys[k] && keys[k][0])
			kg_str_addf(out, "%s%s", out->len ? " " : "", keys[k]);
	if (out->len == 0)
		kg_str_add(out, l->group ? "all values" : l->usual ? "for example" : "given");
}

static void line_cells(struct table *t, const struct line *l)
{
	const struct stat_power_result *r = &l->result;
	struct kg_str name = {0};

	group_text(l, &name);
	table_cell(t, kg_str_text(&name));
	kg_str_deinit(&name);
	if (!l->has) {
		table_cell(t, "one boot a side");
		for (size_t i = 0; i < STAT_POWER_STEPS + 1; i++)
			table_cell(t, "-");
		return;
	}
	if (l->cov.df > 0) {
		table_cellf(t, "%.3g %% [%.3g, %.3g]", l->cov.cov_pct, l->cov.lo_pct,
			    l->cov.hi_pct);
		table_cellf(t, "%.0f [%.0f, %.0f]", r->boots, r->boots_lo, r->boots_hi);
	} else {
		table_cellf(t, "%.3g %%", l->cov.cov_pct);
		table_cellf(t, "%.0f", r->boots);
	}
	for (size_t i = 0; i < STAT_POWER_STEPS; i++) {
		if (r->can[i])
			table_cellf(t, "%.3g %%", r->smallest_pct[i]);
		else
			table_cell(t, "none");
	}
}

static void print_text(struct cli *cli, const struct line *lines, size_t n,
		       const struct stat_power *p)
{
	struct table *t = table_new("lrrrrrr");
	struct kg_str s = {0}, foot = {0};

	table_title(t, "group");
	table_title(t, "CoV between boots\n[95 %]");
	table_title(t, "boots a side\n[95 %]");
	for (size_t i = 0; i < STAT_POWER_STEPS; i++) {
		char title[48];

		(void)snprintf(title, sizeof(title), "%s\n%u boots", i ? "" : "smallest effect at",
			       stat_power_boots[i]);
		table_title(t, title);
	}
	for (size_t i = 0; i < n; i++)
		line_cells(t, &lines[i]);
	table_render(t, 0, cli->width, cli->color, &s);
	table_free(t);
	kg_str_addf(
		&foot,
		"boots a side that find an effect of %g %% with power %g at alpha %g, two-sided "
		"Mann-Whitney over boots (t test by the noncentral t, times pi/3); at least %zu: "
		"fewer cannot reach alpha. This is the test alone: 'kgrid stat compare' tells a "
		"change above its --min-effect only (1 %% if not given), and of an effect just as "
		"large half at most, however many the boots",
		p->effect_pct, p->power, p->alpha, stat_power_least(p->alpha));
	text_wrap(&s, kg_str_text(&foot), 0, 0, cli->width);
	cli_print(cli, &s);
	kg_str_deinit(&s);
	kg_str_deinit(&foot);
}

static json_t *real_or_null(bool has, double v)
{
	return has && isfinite(v) ? json_real(v) : json_null();
}

static json_t *count_or_null(bool has, double v)
{
	return has && v < 1e18 ? json_integer((json_int_t)v) : json_null();
}

static json_t *line_json(const struct line *l)
{
	const struct stat_power_result *r = &l->result;
	json_t *group = json_object(), *effects = json_array();
	bool interval = l->has && l->cov.df > 0;

	for (size_t k = 0; l->group && k < STAT_GROUP_KEYS; k++)
		if (l->group->keys[k])
			json_object_set_new(group, stat_group_key_name(k),
					    json_of_text(l->group->keys[k]));
	for (size_t i = 0; i < STAT_POWER_STEPS; i++)
		json_array_append_new(
			effects,
			json_pack("{s:i,s:o}", "boots", (int)stat_power_boots[i], "effect_pct",
				  real_or_null(l->has && r->can[i], r->smallest_pct[i])));
	return json_pack("{s:o,s:I,s:o,s:[o,o],s:o,s:[o,o],s:o}", "group", group, "boots",
			 (json_int_t)l->cov.boots, "cov_pct", real_or_null(l->has, l->cov.cov_pct),
			 "cov_ci95_pct", real_or_null(interval, l->cov.lo_pct),
			 real_or_null(interval, l->cov.hi_pct), "boots_a_side",
			 count_or_null(l->has, r->boots), "boots_a_side_ci95",
			 count_or_null(interval, r->boots_lo), count_or_null(interval, r->boots_hi),
			 "smallest_effects", effects);
}

static void print_json(struct cli *cli, const struct line *lines, size_t n,
		       const struct stat_power *p)
{
	json_t *groups = json_array(), *o;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(groups, line_json(&lines[i]));
	o = json_pack("{s:f,s:f,s:f,s:I,s:o}", "effect_pct", p->effect_pct, "power", p->power,
		      "alpha", p->alpha, "least_boots_a_side",
		      (json_int_t)stat_power_least(p->alpha), "groups", groups);
	(void)json_dumpf(o, cli->out, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	(void)fputc('\n', cli->out);
	json_decref(o);
}

static int compute(struct line *lines, size_t n, const struct stat_power *p, size_t *ret_known,
		   struct kg_err *err)
{
	*ret_known = 0;
	for (size_t i = 0; i < n; i++) {
		int rc;

		if (lines[i].group)
			lines[i].has = stat_cov(lines[i].group, &lines[i].cov);
		if (!lines[i].has)
			continue;
		(*ret_known)++;
		rc = stat_power_of(&lines[i].cov, p, &lines[i].result, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int run(struct cli *cli, struct line *lines, size_t n, const struct stat_power *p)
{
	struct kg_err err = {{0}};
	size_t known;
	int rc = compute(lines, n, p, &known, &err);

	if (rc < 0)
		return stat_fail(cli, rc, &err);
	if (cli->json)
		print_json(cli, lines, n, p);
	else
		print_text(cli, lines, n, p);
	if (known > 0)
		return CLI_EXIT_OK;
	cli_say(cli,
		"no deviation between boots can be told: each side has one boot, or a mean of 0");
	return CLI_EXIT_NODATA;
}

static int run_file(struct cli *cli, const char *file, const struct stat_power *p)
{
	struct kg_err err = {{0}};
	struct stat_data d;
	struct line *lines;
	int rc = stat_open(cli, &file, 1, &d, &err);

	if (rc < 0)
		return stat_fail(cli, rc, &err);
	if (!d.has_boots)
		cli_say(cli, "no boot column: every value is taken for a boot of its own");
	lines = cli_alloc(d.n_groups, sizeof(*lines));
	for (size_t i = 0; i < d.n_groups; i++)
		lines[i].group = &d.groups[i];
	rc = run(cli, lines, d.n_groups, p);
	free(lines);
	stat_data_deinit(&d);
	return rc;
}

static int run_usual(struct cli *cli, const struct stat_power *p)
{
	struct line lines[USUAL] = {0};

	for (size_t i = 0; i < USUAL; i++)
		lines[i] = (struct line){
			.usual = true, .has = true, .cov = {.cov_pct = usual_cov_pct[i]}};
	cli_say(cli, "no deviation between boots is given (--from FILE, --cov PERCENT): for some "
		     "usual ones");
	return run(cli, lines, USUAL, p);
}

int cmd_stat_power(struct cli *cli, const struct cli_args *args)
{
	struct stat_power p = {.effect_pct = 1, .power = 0.8, .alpha = 0.01};
	const char *file = cli_args_text(args, "from");
	struct line given = {.has = true};
	struct kg_err err = {{0}};
	int rc = stat_option_number(args, "effect", 1e-6, 1e6, &p.effect_pct, &err);

	if (rc == 0)
		rc = stat_option_number(args, "power", 0.05, 0.999999, &p.power, &err);
	if (rc == 0)
		rc = stat_option_number(args, "alpha", 1e-12, 0.5, &p.alpha, &err);
	if (rc == 0)
		rc = stat_option_number(args, "cov", 0, 1e6, &given.cov.cov_pct, &err);
	if (rc == 0 && file && cli_args_text(args, "cov"))
		rc = kg_err_set(&err, KG_EINVALID,
				"--from FILE and --cov PERCENT exclude each other");
	if (rc == 0 && p.power <= p.alpha)
		rc = kg_err_set(&err, KG_EINVALID, "--power must be above --alpha");
	if (rc < 0)
		return stat_fail(cli, rc, &err);
	if (file)
		return run_file(cli, file, &p);
	return cli_args_text(args, "cov") ? run(cli, &given, 1, &p) : run_usual(cli, &p);
}
