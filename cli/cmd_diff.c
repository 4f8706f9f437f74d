/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/diff_text.h"
#include "cli/json.h"

int cmd_diff(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__DiffRequest q = KGRID__V1__DIFF_REQUEST__INIT;
	struct diff_look look = {
		.width = cli->width, .color = cli->color, .all = cli_args_has(args, "all")};
	const Kgrid__V1__DiffReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	q.a = (char *)(uintptr_t)cli_args_operand(args, 0);
	q.b = (char *)(uintptr_t)cli_args_operand(args, 1);
	m = cli_ask(cli, KG_MSG_DIFF, &q.base, KG_MSG_DIFF_REPLY, CLIENT_LONG_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__DiffReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &r->base);
	else if (cli_args_has(args, "csv"))
		csv_messages(&s, &kgrid__v1__diff_item__descriptor, r->n_items,
			     (ProtobufCMessage *const *)r->items);
	else
		diff_text(r, &look, &s);
	cli_print(cli, &s);
	rc = r->n_items > 0 ? CLI_EXIT_NO : CLI_EXIT_OK;
	kg_str_deinit(&s);
	kg_msg_free(m);
	return rc;
}
