/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/diff_text.h"

int cmd_epochs(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__EpochsRequest q = KGRID__V1__EPOCHS_REQUEST__INIT;
	struct diff_look look = {
		.width = cli->width, .color = cli->color, .all = cli_args_has(args, "all")};
	const Kgrid__V1__EpochsReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	q.machine = (char *)(uintptr_t)cli_args_operand(args, 0);
	m = cli_ask(cli, KG_MSG_EPOCHS, &q.base, KG_MSG_EPOCHS_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__EpochsReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &r->base);
	else
		epochs_text(r->n_epochs, r->epochs, &look, &s);
	cli_print(cli, &s);
	if (r->n_epochs == 0) {
		cli_say(cli, "no epochs: no boot with recorded facts%s%s%s yet",
			q.machine ? " on '" : "", cli_text(q.machine), q.machine ? "'" : "");
		rc = CLI_EXIT_NODATA;
	}
	kg_str_deinit(&s);
	kg_msg_free(m);
	return rc;
}
