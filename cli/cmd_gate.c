/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid gate: a comparison as the yes or no of a CI. */
#include <errno.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/cmd_watch.h"
#include "cli/format.h"
#include "cli/gate.h"
#include "cli/junit.h"
#include "cli/select.h"

/* Writes the report; false: it could not, which was said. */
static bool write_junit(struct cli *cli, const struct gate *g, const Kgrid__V1__CompareReply *r,
			const char *path)
{
	struct kg_str s = {0};
	bool ok = true;
	FILE *f;

	junit_text(g, r, &s);
	if (strcmp(path, "-") == 0) {
		cli_print(cli, &s);
		kg_str_deinit(&s);
		return true;
	}
	f = fopen(path, "we");
	if (!f) {
		cli_say(cli, "cannot write '%s': %s", path, strerror(errno));
		ok = false;
	} else {
		ok = fwrite(kg_str_text(&s), 1, s.len, f) == s.len;
		if (fclose(f) != 0 || !ok) {
			cli_say(cli, "cannot write '%s': %s", path, strerror(errno));
			ok = false;
		}
	}
	kg_str_deinit(&s);
	return ok;
}

/* The table, unless standard output belongs to a program. */
static void print_text(struct cli *cli, const struct gate *g, const Kgrid__V1__CompareReply *r,
		       bool all, FILE *to)
{
	struct kg_str s = {0};
	size_t i;

	gate_text(g, all, cli->width, cli->color && to == cli->out, &s);
	format_accounting(r->accounting ? r->accounting : r->job ? r->job->accounting : NULL, &s);
	kg_str_add(&s, "\n");
	(void)fwrite(kg_str_text(&s), 1, s.len, to);
	for (i = 0; i < r->n_tables; i++) {
		const char *machine = cli_text(r->tables[i]->machine);

		/* said of a machine, not of each of its tables */
		if (r->tables[i]->everything_moved &&
		    (i == 0 || !kg_streq(cli_text(r->tables[i - 1]->machine), machine)))
			cli_say(cli,
				"most of what was measured on '%s' moved the same way: suspect the "
				"environment first",
				machine);
	}
	kg_str_deinit(&s);
}

static int answer(struct cli *cli, const struct cli_args *args, const Kgrid__V1__CompareReply *r)
{
	const char *path = cli_args_text(args, "junit");
	bool own = !path || strcmp(path, "-") != 0; /* standard output is for people */
	struct kg_str why = {0};
	struct gate g;
	bool ok;
	int rc;

	if (cli->json && !own) {
		cli_say(cli, "'--json' and '--junit -' do not go together: both write standard "
			     "output");
		return CLI_EXIT_USAGE;
	}
	gate_init(&g, r);
	if (cli->json)
		cli_print_json(cli, &r->base);
	print_text(cli, &g, r, cli_args_has(args, "all"), cli->json || !own ? cli->err : cli->out);
	ok = !path || write_junit(cli, &g, r, path);
	gate_why(&g, &why);
	if (why.len > 0)
		cli_say(cli, "%s", kg_str_text(&why));
	rc = gate_exit(&g);
	if (rc == CLI_EXIT_OK && g.counts[GATE_SKIPPED] + g.counts[GATE_ERROR] > 0)
		cli_say(cli, "no regression; %zu comparisons are undecided or without data",
			g.counts[GATE_SKIPPED] + g.counts[GATE_ERROR]);
	kg_str_deinit(&why);
	gate_deinit(&g);
	return ok || rc == CLI_EXIT_NO ? rc : CLI_EXIT_LOCAL;
}

int cmd_gate(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__CompareRequest q = KGRID__V1__COMPARE_REQUEST__INIT;
	struct kg_err err = {{0}};
	struct kg_msg *m;
	int rc;

	if (!cli_args_has(args, "against")) {
		cli_say(cli, "'gate' needs --against KERNEL/LSM: what the job is compared with");
		return CLI_EXIT_USAGE;
	}
	if (policy_read(args, &q, &err) < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	q.has_job = 1;
	q.job = cli_args_job(args);
	q.baseline = (char *)(uintptr_t)cli_args_text(args, "against");
	q.metric = (char *)(uintptr_t)cli_args_text(args, "metric");
	q.has_gate = 1;
	q.gate = 1;
	if (cli_args_has(args, "wait")) {
		rc = watch_job(cli, q.job, WATCH_SILENT);
		if (rc != CLI_EXIT_OK && rc != CLI_EXIT_NO && rc != CLI_EXIT_NODATA)
			return rc;
	}
	m = cli_ask(cli, KG_MSG_COMPARE, &q.base, KG_MSG_COMPARE_REPLY, CLIENT_LONG_MS, &rc);
	if (!m)
		return rc;
	rc = answer(cli, args, (const Kgrid__V1__CompareReply *)kg_msg_body(m));
	kg_msg_free(m);
	return rc;
}
