/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/manual.h"
#include "cli/table.h"

static void print_info(struct cli *cli, const Kgrid__V1__InfoReply *r)
{
	struct table *t = table_new("ll");
	struct kg_str s = {0};
	size_t i;

	table_pair(t, "coordinator", cli->address);
	table_pair(t, "version", cli_text(r->version));
	for (i = 0; i < r->n_listen; i++)
		table_pair(t, i ? "" : "listens on", r->listen[i]);
	table_pair(t, "data", cli_text(r->data_dir));
	table_cell(t, "schema");
	table_cellf(t, "%" PRIu32, r->schema_version);
	table_cell(t, "machines");
	table_cellf(t, "%" PRIu32 " connected", r->machines_connected);
	table_cell(t, "jobs");
	table_cellf(t, "%" PRIu32 " active", r->jobs_active);
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

int cmd_info(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__InfoRequest q = KGRID__V1__INFO_REQUEST__INIT;
	struct kg_msg *m;
	int rc = 0;

	(void)args;
	m = cli_ask(cli, KG_MSG_INFO, &q.base, KG_MSG_INFO_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	if (cli->json)
		cli_print_json(cli, kg_msg_body(m));
	else
		print_info(cli, (const Kgrid__V1__InfoReply *)kg_msg_body(m));
	kg_msg_free(m);
	return rc;
}

int cmd_help(struct cli *cli, const struct cli_args *args)
{
	const struct cli_command *c;
	struct kg_str path = {0}, s = {0};
	int rc = CLI_EXIT_OK;
	size_t i;

	for (i = 0; i < args->n_operands; i++)
		kg_str_addf(&path, "%s%s", i ? " " : "", args->operands[i]);
	if (args->n_operands == 0)
		manual_overview(cli->width, &s);
	for (c = cli_commands; c->path && s.len == 0; c++) {
		if (strcmp(c->path, kg_str_text(&path)) == 0)
			manual_command(c, cli->width, &s);
		else if (strncmp(c->path, kg_str_text(&path), path.len) == 0 &&
			 c->path[path.len] == ' ')
			manual_noun(kg_str_text(&path), cli->width, &s);
	}
	if (s.len == 0) {
		cli_say(cli, "no command '%s', see 'kgrid --help'", kg_str_text(&path));
		rc = CLI_EXIT_USAGE;
	}
	cli_print(cli, &s);
	kg_str_deinit(&s);
	kg_str_deinit(&path);
	return rc;
}
