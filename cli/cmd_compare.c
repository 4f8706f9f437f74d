/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd_compare.h"

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/compare_text.h"

/* An answer without a number says why. */
static void say_empty(struct cli *cli, const Kgrid__V1__CompareReply *r)
{
	size_t i;

	cli_say(cli, "nothing to compare: no slot of this job has a valid result%s",
		r->job && r->job->accounting && r->job->accounting->pending ? " yet" : "");
	for (i = 0; i < r->n_notes && r->n_tables == 0; i++)
		cli_say(cli, "%s", r->notes[i]);
}

int compare_print(struct cli *cli, const Kgrid__V1__CompareReply *r)
{
	struct kg_str s = {0};

	if (cli->csv) {
		compare_csv(r, &s);
		cli_print(cli, &s);
		cli_accounting(cli, r->job ? r->job->accounting : NULL);
	} else {
		compare_text(r, cli->width, cli->color, &s);
		cli_print(cli, &s);
	}
	kg_str_deinit(&s);
	if (compare_has_values(r))
		return CLI_EXIT_OK;
	say_empty(cli, r);
	return CLI_EXIT_NODATA;
}

struct kg_msg *compare_ask(struct cli *cli, uint64_t job, const char *baseline, const char *metric,
			   int *ret_exit)
{
	Kgrid__V1__CompareRequest q = KGRID__V1__COMPARE_REQUEST__INIT;

	q.has_job = 1;
	q.job = job;
	q.baseline = (char *)(uintptr_t)baseline;
	q.metric = (char *)(uintptr_t)metric;
	return cli_ask(cli, KG_MSG_COMPARE, &q.base, KG_MSG_COMPARE_REPLY, CLIENT_LONG_MS,
		       ret_exit);
}

int cmd_compare(struct cli *cli, const struct cli_args *args)
{
	const Kgrid__V1__CompareReply *r;
	struct kg_msg *m;
	int rc = 0;

	m = compare_ask(cli, cli_args_job(args), cli_args_text(args, "baseline"),
			cli_args_text(args, "metric"), &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__CompareReply *)kg_msg_body(m);
	cli->csv = cli_args_has(args, "csv");
	if (cli->json) {
		cli_print_json(cli, &r->base);
		rc = compare_has_values(r) ? CLI_EXIT_OK : CLI_EXIT_NODATA;
		if (rc != CLI_EXIT_OK)
			say_empty(cli, r);
	} else {
		rc = compare_print(cli, r);
	}
	kg_msg_free(m);
	return rc;
}
