/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid why, kgrid reproduce: what the coordinator says of one job, cell or machine. */
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/table.h"
#include "cli/width.h"

/* A line of the answer, its own indentation kept where it wraps. */
static void wrapped(struct cli *cli, const char *text)
{
	struct kg_str safe = {0}, out = {0};
	size_t indent;

	text_clean(&safe, text, strlen(text), false);
	indent = strspn(kg_str_text(&safe), " ");
	kg_str_addf(&out, "%*s", (int)indent, "");
	text_wrap(&out, kg_str_text(&safe) + indent, indent, indent + 2, cli->width);
	cli_print(cli, &out);
	kg_str_deinit(&safe);
	kg_str_deinit(&out);
}

int cmd_why(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__WhyRequest q = KGRID__V1__WHY_REQUEST__INIT;
	const Kgrid__V1__WhyReply *r;
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;
	size_t i;

	q.subject = (char *)(uintptr_t)cli_args_operand(args, 0);
	m = cli_ask(cli, KG_MSG_WHY, &q.base, KG_MSG_WHY_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__WhyReply *)kg_msg_body(m);
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else {
		wrapped(cli, r->subject && r->subject[0] ? r->subject : q.subject);
		for (i = 0; i < r->n_lines; i++)
			wrapped(cli, r->lines[i]);
	}
	if (r->n_lines == 0) {
		cli_say(cli, "nothing is known of '%s' beyond that it is there", q.subject);
		rc = CLI_EXIT_NODATA;
	}
	kg_msg_free(m);
	return rc;
}

/* A text that is a file: as it came, but for what could steer a terminal; it ends with a newline. */
static void print_file(struct cli *cli, const char *text)
{
	struct kg_str s = {0};

	text_clean(&s, text, strlen(text), true);
	if (s.len > 0 && s.text[s.len - 1] != '\n')
		kg_str_add(&s, "\n");
	cli_print(cli, &s);
	kg_str_deinit(&s);
}

static int lacks(struct cli *cli, const char *what, const char *cell)
{
	cli_say(cli, "the coordinator has no %s for '%s'", what, cell);
	return CLI_EXIT_NODATA;
}

int cmd_reproduce(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__ReproduceRequest q = KGRID__V1__REPRODUCE_REQUEST__INIT;
	bool file = cli_args_has(args, "job-file"), recipe = cli_args_has(args, "recipe");
	const char *cell = cli_args_operand(args, 0);
	const Kgrid__V1__ReproduceReply *r;
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	if (file && recipe) {
		cli_say(cli, "'--job-file' and '--recipe' do not go together; without them both "
			     "are printed");
		return CLI_EXIT_USAGE;
	}
	q.has_job = q.has_cell = 1;
	cli_args_cell(args, &q.job, &q.cell);
	m = cli_ask(cli, KG_MSG_REPRODUCE, &q.base, KG_MSG_REPRODUCE_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__ReproduceReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &r->base);
	if (!recipe && !(r->job_file && r->job_file[0]))
		rc = lacks(cli, "job file", cell);
	else if (!recipe && !cli->json)
		(void)fputs(file ? "" : "# job file: kgrid submit FILE\n", cli->out);
	if (!recipe && !cli->json && r->job_file)
		print_file(cli, r->job_file);
	if (!file && !(r->recipe && r->recipe[0]))
		rc = lacks(cli, "recipe", cell);
	else if (!file && !cli->json)
		(void)fputs(recipe ? "" : "\n# recipe: sh FILE, without kgrid\n", cli->out);
	if (!file && !cli->json && r->recipe)
		print_file(cli, r->recipe);
	kg_msg_free(m);
	return rc;
}
