/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that are kept and run again and again. */
#include <inttypes.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/width.h"

static void last_job(struct table *t, const Kgrid__V1__StandingInfo *x)
{
	if (x->last_job)
		table_cellf(t, "%" PRIu64, x->last_job);
	else
		table_cell(t, "-");
}

static void print_list(struct cli *cli, const Kgrid__V1__StandingReply *r)
{
	static const char *const titles[] = {"N",    "NAME",	 "WHEN",	  "NEXT",
					     "USER", "LAST JOB", "FAILED BECAUSE"};
	struct table *t = table_new("rllllrl");
	struct kg_str s = {0};
	char time[FORMAT_SIZE];
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < r->n_standing; i++) {
		const Kgrid__V1__StandingInfo *x = r->standing[i];

		table_cellf(t, "%" PRIu64, x->id);
		table_cell(t, x->name);
		table_cell(t, x->when);
		table_cell(t, format_time(x->next_ns, time));
		table_cell(t, x->user && x->user[0] ? x->user : "-");
		last_job(t, x);
		table_styled(t, TABLE_BAD, x->last_error);
	}
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

static void print_one(struct cli *cli, const Kgrid__V1__StandingInfo *x)
{
	struct table *t = table_new("ll");
	struct kg_str s = {0};
	char time[FORMAT_SIZE];

	table_cell(t, "standing");
	table_cellf(t, "%" PRIu64 " %s", x->id, cli_text(x->name));
	table_pair(t, "when", cli_text(x->when));
	if (x->has_next_ns && x->next_ns)
		table_pair(t, "next", format_time(x->next_ns, time));
	table_pair(t, "user", x->user && x->user[0] ? x->user : "-");
	table_cell(t, "last job");
	last_job(t, x);
	if (x->last_error && x->last_error[0])
		table_pair(t, "failed", x->last_error);
	table_render(t, 0, cli->width, cli->color, &s);
	if (x->text && x->text[0]) {
		kg_str_add(&s, "\n");
		text_clean(&s, x->text, strlen(x->text), true);
		if (s.text[s.len - 1] != '\n')
			kg_str_add(&s, "\n");
	}
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

static struct kg_msg *ask(struct cli *cli, const char *id, const char *action, int *ret_exit)
{
	Kgrid__V1__StandingRequest q = KGRID__V1__STANDING_REQUEST__INIT;

	if (id) {
		(void)kg_parse_u64(id, &q.id); /* checked when the command line was read */
		q.has_id = 1;
	}
	q.action = (char *)(uintptr_t)action;
	return cli_ask(cli, KG_MSG_STANDING, &q.base, KG_MSG_STANDING_REPLY, CLIENT_LONG_MS,
		       ret_exit);
}

int cmd_standing_list(struct cli *cli, const struct cli_args *args)
{
	const Kgrid__V1__StandingReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	m = ask(cli, NULL, NULL, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__StandingReply *)kg_msg_body(m);
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else if (cli_args_has(args, "csv")) {
		csv_messages(&s, &kgrid__v1__standing_info__descriptor, r->n_standing,
			     (ProtobufCMessage *const *)r->standing);
		cli_print(cli, &s);
	} else if (r->n_standing > 0) {
		print_list(cli, r);
	}
	if (r->n_standing == 0) {
		cli_say(cli, "no standing jobs: submit a file with 'when: kernel added' or "
			     "'when: nightly'");
		rc = CLI_EXIT_NODATA;
	}
	kg_str_deinit(&s);
	kg_msg_free(m);
	return rc;
}

int cmd_standing_show(struct cli *cli, const struct cli_args *args)
{
	const Kgrid__V1__StandingReply *r;
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	m = ask(cli, cli_args_operand(args, 0), NULL, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__StandingReply *)kg_msg_body(m);
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else if (r->n_standing > 0) {
		print_one(cli, r->standing[0]);
	}
	if (r->n_standing == 0) {
		cli_say(cli, "no standing job %s; 'kgrid standing' lists them",
			cli_args_operand(args, 0));
		rc = CLI_EXIT_REFUSED;
	}
	kg_msg_free(m);
	return rc;
}

static int act(struct cli *cli, const struct cli_args *args, const char *action, const char *done)
{
	const char *id = cli_args_operand(args, 0);
	const Kgrid__V1__StandingReply *r;
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	m = ask(cli, id, action, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__StandingReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &r->base);
	else if (r->done && r->done[0])
		cli_say(cli, "%s", r->done);
	else
		cli_say(cli, "standing job %s: %s", id, done);
	kg_msg_free(m);
	return rc;
}

int cmd_standing_run(struct cli *cli, const struct cli_args *args)
{
	return act(cli, args, "run", "submitted");
}

int cmd_standing_rm(struct cli *cli, const struct cli_args *args)
{
	return act(cli, args, "remove", "removed");
}
