/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd_compare.h"

#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/compare_style.h"
#include "cli/select.h"
#include "cli/style.h"
#include "common/clock.h"

void compare_say_nothing(struct cli *cli, const Kgrid__V1__CompareReply *r)
{
	struct kg_str s = {0};
	size_t i;

	compare_why_nothing(r, &s);
	cli_say(cli, "%s", kg_str_text(&s));
	for (i = 0; i < r->n_notes && (cli->json || cli->csv || r->n_tables == 0); i++)
		cli_say(cli, "%s", r->notes[i]);
	kg_str_deinit(&s);
}

int compare_exit(const Kgrid__V1__CompareReply *r)
{
	struct compare_counts n;

	compare_count(r, &n);
	if (n.compared == 0)
		return CLI_EXIT_NODATA;
	return n.words[COMPARE_REGRESSION] ? CLI_EXIT_NO : CLI_EXIT_OK;
}

void compare_print(struct cli *cli, const Kgrid__V1__CompareReply *r, bool brief)
{
	struct compare_look look = {.width = cli->width, .color = cli->color, .brief = brief};
	struct kg_str s = {0};

	compare_text(r, &look, &s);
	cli_print(cli, &s);
	kg_str_deinit(&s);
	if (compare_exit(r) == CLI_EXIT_NODATA)
		compare_say_nothing(cli, r);
}

static const Kgrid__V1__Accounting *accounting_of(const Kgrid__V1__CompareReply *r)
{
	return r->accounting ? r->accounting : r->job ? r->job->accounting : NULL;
}

struct kg_msg *compare_ask(struct cli *cli, uint64_t job, int *ret_exit)
{
	Kgrid__V1__CompareRequest q = KGRID__V1__COMPARE_REQUEST__INIT;

	q.has_job = 1;
	q.job = job;
	return cli_ask(cli, KG_MSG_COMPARE, &q.base, KG_MSG_COMPARE_REPLY, CLIENT_LONG_MS,
		       ret_exit);
}

static bool is_foreign(const char *style)
{
	return strcmp(style, "mmtests") == 0 || strcmp(style, "lkp") == 0 ||
	       strcmp(style, "benchstat") == 0 || strcmp(style, "ministat") == 0;
}

/* Everything but the kgrid and JSON forms: with the accounting line aside where programs read. */
static int print_style(struct cli *cli, const Kgrid__V1__CompareReply *r, const char *style)
{
	struct kg_str s = {0};
	struct kg_err err = {{0}};
	int rc = 0;

	if (strcmp(style, "csv") == 0) {
		compare_csv(r, &s);
		cli->csv = true;
	} else {
		rc = compare_style(r, style, &s, &err);
	}
	if (rc == 0)
		cli_print(cli, &s);
	else
		cli_say(cli, "%s", err.text);
	kg_str_deinit(&s);
	if (rc < 0)
		return CLI_EXIT_USAGE;
	cli_accounting(cli, accounting_of(r));
	if (compare_exit(r) == CLI_EXIT_NODATA)
		compare_say_nothing(cli, r);
	return compare_exit(r);
}

static int print_reply(struct cli *cli, const Kgrid__V1__CompareReply *r, const char *style,
		       bool brief)
{
	if (strcmp(style, "json") == 0) {
		cli_print_json(cli, &r->base);
		cli->json = true;
		if (compare_exit(r) == CLI_EXIT_NODATA)
			compare_say_nothing(cli, r);
	} else if (strcmp(style, "kgrid") != 0) {
		return print_style(cli, r, style);
	} else {
		compare_print(cli, r, brief);
	}
	return compare_exit(r);
}

/* --csv and --json are short for styles. NULL: two of them contradict, which was said. */
static const char *style_of(struct cli *cli, const struct cli_args *args)
{
	const char *style = cli_args_text(args, "style"), *other = NULL;

	if (cli_args_has(args, "csv"))
		other = "csv";
	if (cli->json && other) {
		cli_say(cli, "'--csv' and '--json' do not go together; leave one out");
		return NULL;
	}
	if (cli->json)
		other = "json";
	if (style && other && strcmp(style, other) != 0) {
		cli_say(cli, "'--style %s' and '--%s' do not go together; leave one out", style,
			other);
		return NULL;
	}
	return style ? style : other ? other : "kgrid";
}

/* A table of somebody else's grid that was stored with 'kgrid import'. */
static int show_import(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__ImportsRequest q = KGRID__V1__IMPORTS_REQUEST__INIT;
	uint64_t table = cli_args_number(args, "table", 0);
	const char *style = style_of(cli, args);
	const Kgrid__V1__ImportsReply *r;
	struct kg_msg *m;
	int rc = 0;

	q.selector = (char *)(uintptr_t)cli_args_text(args, "import");
	if (args->n_operands > 0 || table > UINT32_MAX) {
		cli_say(cli, args->n_operands ? "'--import' and a job do not go together"
					      : "'--table' is too large");
		return CLI_EXIT_USAGE;
	}
	if (!style)
		return CLI_EXIT_USAGE;
	if (strcmp(style, "kgrid") == 0)
		style = NULL; /* the file's own */
	m = cli_ask(cli, KG_MSG_IMPORTS, &q.base, KG_MSG_IMPORTS_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__ImportsReply *)kg_msg_body(m);
	if (style && strcmp(style, "json") == 0) {
		cli_print_json(cli, &r->base);
	} else if (r->n_imports == 1 && r->imports[0]->text) {
		rc = style_import_show(cli, r->imports[0]->text, style, (unsigned)table);
	} else {
		cli_say(cli, "the coordinator has no import '%s'; 'kgrid imports' lists them",
			q.selector);
		rc = CLI_EXIT_REFUSED;
	}
	kg_msg_free(m);
	return rc;
}

/* Runs the request: the exit code. */
static int compare(struct cli *cli, const struct cli_args *args, const char *style)
{
	Kgrid__V1__CompareRequest q = KGRID__V1__COMPARE_REQUEST__INIT;
	struct selection s;
	struct kg_err err = {{0}};
	struct kg_msg *m;
	int rc;

	rc = selection_read(args, cli_args_job(args), kg_realtime_ns(), &s, &err);
	if (rc == 0)
		rc = policy_read(args, &q, &err);
	if (rc < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	q.has_job = 1;
	q.job = s.message.n_jobs ? s.message.jobs[0] : 0;
	q.metric = s.message.metric;
	if (selection_is_wider(&s))
		q.select = &s.message;
	q.values = is_foreign(style);
	q.has_values = q.values;
	m = cli_ask(cli, KG_MSG_COMPARE, &q.base, KG_MSG_COMPARE_REPLY, CLIENT_LONG_MS, &rc);
	if (!m)
		return rc;
	rc = print_reply(cli, (const Kgrid__V1__CompareReply *)kg_msg_body(m), style,
			 cli_args_has(args, "brief"));
	kg_msg_free(m);
	return rc;
}

int cmd_compare(struct cli *cli, const struct cli_args *args)
{
	const char *style;

	if (cli_args_has(args, "import"))
		return show_import(cli, args);
	if (cli_args_has(args, "table")) {
		cli_say(cli, "'--table' belongs to '--import'");
		return CLI_EXIT_USAGE;
	}
	style = style_of(cli, args);
	return style ? compare(cli, args, style) : CLI_EXIT_USAGE;
}
