/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the statistics of this program against a file of numbers made elsewhere. */
#include <stdlib.h>

#include <jansson.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "common/file.h"
#include "coordinator/analysis/vectors.h"

#define FILE_BYTES_MAX (256U << 20)

static void print_text(struct cli *cli, const struct vectors_report *r)
{
	struct kg_str s = {0};

	for (size_t i = 0; i < r->n; i++) {
		const struct vectors_case *c = &r->cases[i];

		kg_str_addf(&s, "%-7s  %s", vectors_result_name(c->result), c->id);
		kg_str_addf(&s, "%s%s\n", c->text[0] ? "  " : "", c->text);
	}
	kg_str_addf(&s, "%zu case%s: %zu pass, %zu fail, %zu unknown\n", r->n, r->n == 1 ? "" : "s",
		    r->pass, r->fail, r->unknown);
	cli_print(cli, &s);
	kg_str_deinit(&s);
}

static void print_json(struct cli *cli, const struct vectors_report *r)
{
	struct kg_str s = {0};
	json_t *cases = json_array(), *root;
	char *text;

	for (size_t i = 0; i < r->n; i++) {
		const struct vectors_case *c = &r->cases[i];

		json_array_append_new(
			cases, json_pack("{s:s, s:s, s:s, s:s}", "id", c->id, "op", c->op, "result",
					 vectors_result_name(c->result), "text", c->text));
	}
	root = json_pack("{s:I, s:I, s:I, s:I, s:o}", "total", (json_int_t)r->n, "pass",
			 (json_int_t)r->pass, "fail", (json_int_t)r->fail, "unknown",
			 (json_int_t)r->unknown, "cases", cases);
	text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
	if (!text) /* the command may abort when memory ends */
		abort();
	kg_str_addf(&s, "%s\n", text);
	cli_print(cli, &s);
	kg_str_deinit(&s);
	free(text);
	json_decref(root);
}

int cmd_stat_vectors(struct cli *cli, const struct cli_args *args)
{
	const char *path = cli_args_operand(args, 0);
	struct vectors_report r;
	struct kg_err err = {{0}};
	char *text = NULL;
	size_t len = 0;
	int rc = kg_file_read(path, FILE_BYTES_MAX, &text, &len, &err);

	if (rc < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	rc = vectors_run(text, len, &r, &err);
	free(text);
	if (rc < 0) {
		cli_say(cli, "cannot use vectors '%s': %s", path, err.text);
		return CLI_EXIT_USAGE;
	}
	if (cli->json)
		print_json(cli, &r);
	else if (r.n)
		print_text(cli, &r);
	if (r.n == 0)
		cli_say(cli, "'%s' has no case in it: its list 'cases' is empty", path);
	rc = r.n == 0 ? CLI_EXIT_NODATA : r.pass == r.n ? CLI_EXIT_OK : CLI_EXIT_NO;
	vectors_report_deinit(&r);
	return rc;
}
