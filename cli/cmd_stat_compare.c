/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid stat compare: no coordinator, only files. */
#include <math.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/stat_compare.h"
#include "cli/stat_options.h"

int stat_option_number(const struct cli_args *args, const char *name, double lo, double hi,
		       double *ret, struct kg_err *err)
{
	const char *text = cli_args_text(args, name);
	char copy[64];
	size_t len;
	double v;

	if (!text)
		return 0;
	(void)snprintf(copy, sizeof(copy), "%s", text);
	len = strlen(copy);
	if (len > 0 && copy[len - 1] == '%') {
		copy[--len] = '\0';
		if (len > 0 && copy[len - 1] == ' ')
			copy[--len] = '\0';
	}
	if (kg_parse_double(copy, &v) < 0 || !(v >= lo && v <= hi))
		return kg_err_set(err, KG_EINVALID, "--%s '%s': expected a number from %g to %g",
				  name, text, lo, hi);
	*ret = v;
	return 0;
}

static int read_policy(const struct cli_args *args, struct verdict_policy *p, struct kg_err *err)
{
	const char *correction = cli_args_text(args, "correction");
	int rc;

	verdict_policy_init(p);
	rc = stat_option_number(args, "alpha", 1e-12, 0.5, &p->alpha, err);
	if (rc == 0)
		rc = stat_option_number(args, "min-effect", 0, 1e6, &p->min_effect_pct, err);
	if (rc < 0)
		return rc;
	if (p->alpha > p->q_max) /* asked for: q must not be stricter than p */
		p->q_max = p->alpha;
	p->gate = cli_args_has(args, "gate");
	if (correction && p->gate && strcmp(correction, "holm") != 0)
		return kg_err_set(err, KG_EINVALID,
				  "--gate goes with --correction holm, not with '%s'", correction);
	if (correction)
		p->correction = (enum stats_adjust)stats_adjust_parse(correction);
	return 0;
}

static int read_options(const struct cli_args *args, struct stat_options *o, struct kg_err *err)
{
	bool higher = cli_args_has(args, "higher-is-better");
	bool lower = cli_args_has(args, "lower-is-better");

	*o = (struct stat_options){.baseline = cli_args_text(args, "baseline"),
				   .unit = cli_args_text(args, "unit")};
	if (higher && lower)
		return kg_err_set(err, KG_EINVALID,
				  "--higher-is-better and --lower-is-better exclude each other");
	o->direction = higher ? VERDICT_HIGHER : lower ? VERDICT_LOWER : VERDICT_NO_DIRECTION;
	return read_policy(args, &o->policy, err);
}

int stat_fail(struct cli *cli, int rc, const struct kg_err *err)
{
	cli_say(cli, "%s", err->text);
	return rc == KG_ENODATA ? CLI_EXIT_NODATA : CLI_EXIT_USAGE;
}

int stat_open(struct cli *cli, const char *const *files, size_t n, struct stat_data *ret,
	      struct kg_err *err)
{
	int rc = stat_read(files, n, ret, err);

	if (rc == 0 && ret->unknown)
		cli_say(cli, "columns left out, their names are not known here: %s", ret->unknown);
	return rc;
}

static int print(struct cli *cli, const struct stat_comparison *c, const char *style,
		 struct kg_err *err)
{
	struct kg_str s = {0};
	int rc = 0;

	if (cli->json)
		stat_print_json(c, &s);
	else if (!style || strcmp(style, "kgrid") == 0)
		stat_print_text(c, cli->width, cli->color, &s);
	else if (strcmp(style, "csv") == 0)
		stat_print_csv(c, &s);
	else
		rc = stat_print_style(c, style, &s, err);
	if (rc == 0)
		cli_print(cli, &s);
	kg_str_deinit(&s);
	return rc;
}

/* Groups there are, but none with both sides. */
static int say_apart(struct cli *cli, const struct stat_comparison *c)
{
	const struct stat_data *d = c->data;

	cli_say(cli,
		"nothing to compare: no group has values of the baseline '%s' and of another side; "
		"machines, vendors, workloads, parameters and metrics are never mixed",
		d->sides[c->baseline].label);
	return CLI_EXIT_NODATA;
}

/* Like 'kgrid gate': a yes takes one comparison at least that could have been a no. */
static bool undecided(const struct stat_comparison *c)
{
	if (!c->options.policy.gate || c->n_worse > 0)
		return false;
	for (size_t i = 0; i < c->n_pairs; i++) {
		const size_t *boots = c->pairs[i].verdict.boots;

		if (boots[0] >= VERDICT_GATE_BOOTS && boots[1] >= VERDICT_GATE_BOOTS)
			return false;
	}
	return true;
}

static int say_undecided(struct cli *cli)
{
	cli_say(cli, "not decided: no comparison has the %d boots a side that a gate needs",
		VERDICT_GATE_BOOTS);
	return CLI_EXIT_NODATA;
}

int cmd_stat_compare(struct cli *cli, const struct cli_args *args)
{
	struct stat_comparison c;
	struct stat_options o;
	struct kg_err err = {{0}};
	struct stat_data d;
	int rc = read_options(args, &o, &err);

	if (rc < 0)
		return stat_fail(cli, rc, &err);
	rc = stat_open(cli, args->operands, args->n_operands, &d, &err);
	if (rc < 0)
		return stat_fail(cli, rc, &err);
	rc = stat_compare(&d, &o, &c, &err);
	if (rc < 0) {
		stat_data_deinit(&d);
		return stat_fail(cli, rc, &err);
	}
	rc = print(cli, &c, cli_args_text(args, "style"), &err);
	if (rc < 0)
		rc = stat_fail(cli, rc, &err);
	else if (c.n_compared == 0)
		rc = say_apart(cli, &c);
	else if (undecided(&c))
		rc = say_undecided(cli);
	else
		rc = c.n_worse ? CLI_EXIT_NO : CLI_EXIT_OK;
	stat_comparison_deinit(&c);
	stat_data_deinit(&d);
	return rc;
}
