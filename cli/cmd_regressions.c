/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid regressions, and what a person says of one: kgrid regression ack, close, ... */
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/json.h"
#include "cli/regressions_text.h"
#include "cli/stream.h"
#include "cli/when.h"
#include "cli/width.h"
#include "common/clock.h"

/* An operand that is the number of a regression; false: it is none, which was said. */
static bool read_id(struct cli *cli, const char *text, uint64_t *ret)
{
	if (kg_parse_u64(text, ret) == 0 && *ret > 0)
		return true;
	cli_say(cli, "not the number of a regression: '%s'", text);
	return false;
}

/* An empty list says why. */
static void say_none(struct cli *cli, const Kgrid__V1__RegressionsReply *r,
		     const Kgrid__V1__RegressionsRequest *q)
{
	if (r->n_notes > 0)
		return; /* the notes say it */
	cli_say(cli, "no regressions: none %s%s%s was found%s%s%s%s", q->state ? "that is '" : "",
		cli_text(q->state),
		q->state ? "'"
		: q->all ? "at all"
			 : "that is not fixed",
		q->has_since_ns ? " since then" : "", q->machine ? " on '" : "",
		cli_text(q->machine), q->machine ? "'" : "");
}

static void print_csv(struct cli *cli, const Kgrid__V1__RegressionsReply *r, bool members)
{
	struct kg_str s = {0};
	size_t i;

	if (members) {
		csv_names(&s, &kgrid__v1__regression_member__descriptor);
		for (i = 0; r->n_regressions > 0 && i < r->regressions[0]->n_members; i++)
			csv_row(&s, &r->regressions[0]->members[i]->base);
	} else {
		csv_messages(&s, &kgrid__v1__regression__descriptor, r->n_regressions,
			     (ProtobufCMessage *const *)r->regressions);
	}
	cli_print(cli, &s);
	kg_str_deinit(&s);
}

static void print_text(struct cli *cli, const Kgrid__V1__RegressionsReply *r, bool one)
{
	struct kg_str s = {0};
	size_t i;

	if (one && r->n_regressions > 0)
		regression_text(r->regressions[0], cli->width, cli->color, &s);
	else if (r->n_regressions > 0)
		regressions_text(r->n_regressions, r->regressions, cli->width, cli->color, &s);
	cli_print(cli, &s);
	for (i = 0; i < r->n_notes; i++)
		cli_say(cli, "%s", r->notes[i]);
	kg_str_deinit(&s);
}

static int answer(struct cli *cli, const Kgrid__V1__RegressionsReply *r, bool one, bool csv)
{
	bool open = false;
	size_t i;

	if (cli->json)
		cli_print_json(cli, &r->base);
	else if (csv)
		print_csv(cli, r, one);
	else
		print_text(cli, r, one);
	for (i = 0; i < r->n_regressions; i++)
		open = open || regression_is_open(r->regressions[i]);
	return open ? CLI_EXIT_NO : CLI_EXIT_OK;
}

int cmd_regressions(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__RegressionsRequest q = KGRID__V1__REGRESSIONS_REQUEST__INIT;
	const Kgrid__V1__RegressionsReply *r;
	const char *id = cli_args_operand(args, 0), *since = cli_args_text(args, "since");
	struct kg_err err = {{0}};
	struct kg_msg *m;
	int rc = 0;

	if (id && !read_id(cli, id, &q.id))
		return CLI_EXIT_USAGE;
	q.has_id = id != NULL;
	if (since && when_parse(since, kg_realtime_ns(), &q.since_ns, &err) < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	q.has_since_ns = since != NULL;
	q.machine = (char *)(uintptr_t)cli_args_text(args, "machine");
	q.state = (char *)(uintptr_t)cli_args_text(args, "state");
	q.all = cli_args_has(args, "all");
	q.has_all = q.all;
	if (q.all && q.state) {
		cli_say(cli, "'--all' and '--state' do not go together; leave one out");
		return CLI_EXIT_USAGE;
	}
	m = cli_ask(cli, KG_MSG_REGRESSIONS, &q.base, KG_MSG_REGRESSIONS_REPLY, CLIENT_LONG_MS,
		    &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__RegressionsReply *)kg_msg_body(m);
	if (id && r->n_regressions == 0) {
		cli_say(cli, "no regression %" PRIu64, q.id);
		rc = CLI_EXIT_REFUSED;
	} else {
		rc = answer(cli, r, id != NULL, cli_args_has(args, "csv"));
		if (r->n_regressions == 0)
			say_none(cli, r, &q);
	}
	kg_msg_free(m);
	return rc;
}

/* Who says it: the name of the account, which the environment may not know. */
static const char *user_name(void)
{
	const char *name = getenv("USER");
	const struct passwd *pw;

	if (name && name[0])
		return name;
	pw = getpwuid(getuid());
	return pw && pw->pw_name[0] ? pw->pw_name : "unknown";
}

/* The words after the number as one text; NULL: there are none. Owned (free). */
static char *joined(const struct cli_args *args)
{
	struct kg_str s = {0};
	size_t i;

	for (i = 1; i < args->n_operands; i++)
		kg_str_addf(&s, "%s%s", i > 1 ? " " : "", args->operands[i]);
	return s.len ? kg_str_take(&s) : NULL;
}

/* Prints what the coordinator answers: a word, or the regression as it is now. */
static void print_action(struct cli *cli, const struct kg_msg *m, const char *done, uint64_t id)
{
	const ProtobufCMessage *body = kg_msg_body(m);
	const Kgrid__V1__Done *d = (const Kgrid__V1__Done *)body;

	if (cli->json) {
		cli_print_json(cli, body);
	} else if (kg_msg_type(m) == KG_MSG_REGRESSIONS_REPLY) {
		print_text(cli, (const Kgrid__V1__RegressionsReply *)body, true);
	} else {
		struct kg_str s = {0};

		if (d->text && d->text[0])
			text_clean(&s, d->text, strlen(d->text), false);
		else
			kg_str_addf(&s, "regression %" PRIu64 ": %s", id, done);
		kg_str_add(&s, "\n");
		cli_print(cli, &s);
		kg_str_deinit(&s);
	}
}

static int act(struct cli *cli, const struct cli_args *args, const char *action, const char *done,
	       bool needs_text)
{
	Kgrid__V1__RegressionAction q = KGRID__V1__REGRESSION_ACTION__INIT;
	struct kg_msg *m;
	int rc = 0;

	if (!read_id(cli, cli_args_operand(args, 0), &q.id))
		return CLI_EXIT_USAGE;
	if (needs_text && args->n_operands < 2) {
		cli_say(cli, "'regression %s' needs a text after the number", action);
		return CLI_EXIT_USAGE;
	}
	q.has_id = 1;
	q.action = (char *)(uintptr_t)action;
	q.text = joined(args);
	q.user = (char *)(uintptr_t)user_name();
	if (q.text && !kg_utf8_valid(q.text, strlen(q.text))) {
		cli_say(cli, "the text is not in UTF-8");
		rc = CLI_EXIT_USAGE;
	} else {
		m = cli_ask_either(cli, KG_MSG_REGRESSION_ACTION, &q.base, KG_MSG_DONE,
				   KG_MSG_REGRESSIONS_REPLY, CLIENT_ANSWER_MS, &rc);
		if (m)
			print_action(cli, m, done, q.id);
		kg_msg_free(m);
	}
	free(q.text);
	return rc;
}

int cmd_regression_ack(struct cli *cli, const struct cli_args *args)
{
	return act(cli, args, "ack", "acknowledged", false);
}

int cmd_regression_close(struct cli *cli, const struct cli_args *args)
{
	return act(cli, args, "close", "fixed", false);
}

int cmd_regression_reopen(struct cli *cli, const struct cli_args *args)
{
	return act(cli, args, "reopen", "open again", false);
}

int cmd_regression_comment(struct cli *cli, const struct cli_args *args)
{
	return act(cli, args, "comment", "comment added", true);
}

int cmd_regression_retest(struct cli *cli, const struct cli_args *args)
{
	return act(cli, args, "retest", "will be tested again", false);
}
