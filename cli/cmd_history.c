/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/history_text.h"
#include "cli/select.h"
#include "common/clock.h"

static size_t points(const Kgrid__V1__HistoryReply *r)
{
	size_t n = 0, i;

	for (i = 0; i < r->n_series; i++)
		n += r->series[i]->n_points;
	return n;
}

static int print_reply(struct cli *cli, const struct cli_args *args,
		       const Kgrid__V1__HistoryReply *r)
{
	struct history_look look = {.width = cli->width,
				    .color = cli->color,
				    .unicode = cli->unicode,
				    .all = cli_args_has(args, "points")};
	struct kg_str s = {0};
	size_t i;

	cli->csv = cli_args_has(args, "csv");
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else if (cli->csv) {
		history_csv(r, &s);
		cli_print(cli, &s);
		if (r->accounting)
			cli_accounting(cli, r->accounting);
	} else {
		history_text(r, &look, &s);
		cli_print(cli, &s);
	}
	kg_str_deinit(&s);
	if (points(r) > 0)
		return CLI_EXIT_OK;
	cli_say(cli, "no history: no valid result fits the selection");
	for (i = 0; i < r->n_notes && (cli->json || cli->csv); i++)
		cli_say(cli, "%s", r->notes[i]);
	return CLI_EXIT_NODATA;
}

int cmd_history(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__HistoryRequest q = KGRID__V1__HISTORY_REQUEST__INIT;
	const char *metric = cli_args_operand(args, 0);
	struct selection s;
	struct kg_err err = {{0}};
	struct kg_msg *m;
	int rc = 0;

	if (selection_read(args, 0, kg_realtime_ns(), &s, &err) < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	if (metric && s.message.metric && strcmp(metric, s.message.metric) != 0) {
		cli_say(cli, "two metrics: '%s' and '%s'; leave one out", metric, s.message.metric);
		return CLI_EXIT_USAGE;
	}
	if (metric)
		s.message.metric = (char *)(uintptr_t)metric;
	if (s.message.n_jobs == 0) { /* a history is over all of them */
		s.message.has_all_jobs = 1;
		s.message.all_jobs = 1;
	}
	q.select = &s.message;
	q.order = (char *)(uintptr_t)cli_args_text(args, "order");
	q.method = (char *)(uintptr_t)cli_args_text(args, "method");
	q.across_epochs = cli_args_has(args, "across-epochs");
	q.has_across_epochs = q.across_epochs;
	m = cli_ask(cli, KG_MSG_HISTORY, &q.base, KG_MSG_HISTORY_REPLY, CLIENT_LONG_MS, &rc);
	if (!m)
		return rc;
	rc = print_reply(cli, args, (const Kgrid__V1__HistoryReply *)kg_msg_body(m));
	kg_msg_free(m);
	return rc;
}
