/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summaries of other grids: kgrid import summary, kgrid imports, and kgrid stat table without a
 * coordinator. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/stat_import.h"
#include "cli/stat_options.h"
#include "cli/style.h"
#include "cli/table.h"
#include "common/file.h"

#define IMPORT_BYTES_MAX 1000000 /* one message of the protocol holds 1 MiB */
#define FILE_BYTES_MAX	 (256U << 20)

static int read_file(const char *path, size_t max, char **ret_text, size_t *ret_len,
		     struct kg_err *err)
{
	return kg_file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, max, ret_text, ret_len,
			    err);
}

static void say_accounting(struct cli *cli, const struct import *im)
{
	struct kg_str s = {0};

	if (im->n_equal + im->n_rounding + im->n_other == 0)
		return;
	import_accounting(im, &s);
	cli_say(cli, "%s", kg_str_text(&s));
	kg_str_deinit(&s);
}

static int show(struct cli *cli, const char *name, const char *text, size_t len, const char *style,
		unsigned table)
{
	struct kg_err err = {{0}};
	struct kg_str s = {0};
	struct import im;
	int rc = import_parse(name, text, len, &im, &err);

	if (rc < 0)
		return stat_fail(cli, rc, &err);
	rc = import_render(&im, cli->json ? "json" : style, table, &s, &err);
	if (rc == 0) {
		cli_print(cli, &s);
		say_accounting(cli, &im);
	}
	kg_str_deinit(&s);
	import_deinit(&im);
	return rc < 0 ? stat_fail(cli, rc, &err) : CLI_EXIT_OK;
}

int style_import_show(struct cli *cli, const char *csv_text, const char *style, unsigned table)
{
	return show(cli, "import", csv_text, strlen(csv_text), style, table);
}

static int table_option(const struct cli_args *args, unsigned *ret, struct kg_err *err)
{
	uint64_t n = cli_args_number(args, "table", 0);

	if (n > UINT32_MAX)
		return kg_err_set(err, KG_EINVALID, "--table %" PRIu64 ": no file has so many", n);
	*ret = (unsigned)n;
	return 0;
}

int cmd_stat_table(struct cli *cli, const struct cli_args *args)
{
	const char *path = cli_args_operand(args, 0);
	struct kg_err err = {{0}};
	unsigned table = 0;
	char *text = NULL;
	size_t len = 0;
	int rc = table_option(args, &table, &err);

	if (rc == 0)
		rc = read_file(path, FILE_BYTES_MAX, &text, &len, &err);
	if (rc < 0)
		return stat_fail(cli, rc, &err);
	rc = show(cli, path, text, len, cli_args_text(args, "style"), table);
	free(text);
	return rc;
}

/* The file's name without folder and ending, with '-' for what a name cannot have. */
static void name_of_path(const char *path, char ret[64])
{
	const char *base = strrchr(path, '/');
	const char *dot;
	size_t len;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	len = dot && dot > base ? (size_t)(dot - base) : strlen(base);
	if (len > 63)
		len = 63;
	(void)snprintf(ret, 64, "%.*s", (int)len, base);
	for (size_t i = 0; i < len; i++) {
		char c = ret[i];
		bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			     (c >= 'a' && c <= 'z') || strchr("._+-", c);

		if (!plain)
			ret[i] = '-';
	}
	if (!kg_name_valid(ret))
		(void)snprintf(ret, 64, "summary");
}

static void print_imported(struct cli *cli, const struct import *im, const char *name,
			   const char *answer)
{
	struct kg_str s = {0};
	uint64_t id = 0;

	if (kg_str_starts(answer, "import "))
		id = strtoull(answer + 7, NULL, 10);
	if (cli->json) {
		json_t *o = json_pack("{s:I,s:s,s:b,s:s,s:I,s:I}", "id", (json_int_t)id, "name",
				      name, "existed", strstr(answer, "was there") != NULL, "style",
				      import_style(im), "tables", (json_int_t)im->n_tables, "cells",
				      (json_int_t)im->n_cells);

		(void)json_dumpf(o, cli->out, JSON_INDENT(2));
		(void)fputc('\n', cli->out);
		json_decref(o);
		return;
	}
	kg_str_addf(&s, "%s: %s, %zu table%s, %zu cells\n", answer, name, im->n_tables,
		    im->n_tables == 1 ? "" : "s", im->n_cells);
	kg_str_addf(&s, "show: kgrid compare --import %s --style %s\n", name, import_style(im));
	cli_print(cli, &s);
	kg_str_deinit(&s);
}

static int send_import(struct cli *cli, const struct import *im, const char *name, char *text)
{
	Kgrid__V1__ImportRequest q = KGRID__V1__IMPORT_REQUEST__INIT;
	const Kgrid__V1__Done *done;
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	q.name = (char *)(uintptr_t)name;
	q.text = text;
	m = cli_ask(cli, KG_MSG_IMPORT, &q.base, KG_MSG_DONE, CLIENT_LONG_MS, &rc);
	if (!m)
		return rc;
	done = (const Kgrid__V1__Done *)kg_msg_body(m);
	print_imported(cli, im, name, cli_text(done->text));
	kg_msg_free(m);
	return CLI_EXIT_OK;
}

int cmd_import_summary(struct cli *cli, const struct cli_args *args)
{
	const char *path = cli_args_operand(args, 0), *given = cli_args_text(args, "name");
	struct kg_err err = {{0}};
	struct import im;
	char name[64];
	char *text = NULL;
	size_t len = 0;
	int rc = 0;

	if (given && !kg_name_valid(given))
		rc = kg_err_set(&err, KG_EINVALID,
				"--name '%s': expected 1 to 63 letters, digits and '._+-'", given);
	if (given)
		(void)snprintf(name, sizeof(name), "%s", given);
	else
		name_of_path(path, name);
	if (rc == 0)
		rc = read_file(path, IMPORT_BYTES_MAX, &text, &len, &err);
	if (rc < 0)
		return stat_fail(cli, rc, &err);
	rc = import_parse(path, text, len, &im, &err);
	if (rc == 0 && !kg_utf8_valid(text, len)) {
		import_deinit(&im);
		rc = kg_err_set(&err, KG_EINVALID, "'%s' is not UTF-8", path);
	}
	if (rc < 0) {
		free(text);
		return stat_fail(cli, rc, &err);
	}
	rc = send_import(cli, &im, name, text);
	if (rc == CLI_EXIT_OK)
		say_accounting(cli, &im);
	import_deinit(&im);
	free(text);
	return rc;
}

int cmd_imports(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__ImportsRequest q = KGRID__V1__IMPORTS_REQUEST__INIT;
	const Kgrid__V1__ImportsReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	m = cli_ask(cli, KG_MSG_IMPORTS, &q.base, KG_MSG_IMPORTS_REPLY, CLIENT_LONG_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__ImportsReply *)kg_msg_body(m);
	cli->csv = cli_args_has(args, "csv");
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else if (cli->csv) {
		csv_messages(&s, &kgrid__v1__import_info__descriptor, r->n_imports,
			     (ProtobufCMessage *const *)r->imports);
	} else if (r->n_imports > 0) {
		struct table *t = table_new("rll");
		char when[FORMAT_SIZE];

		table_title(t, "import");
		table_title(t, "name");
		table_title(t, "added");
		for (size_t i = 0; i < r->n_imports; i++) {
			table_cellf(t, "%" PRIu64, r->imports[i]->id);
			table_cell(t, cli_text(r->imports[i]->name));
			table_cell(t, format_time(r->imports[i]->added_ns, when));
		}
		table_render(t, 0, cli->width, cli->color, &s);
		table_free(t);
	}
	cli_print(cli, &s);
	kg_str_deinit(&s);
	if (r->n_imports == 0) {
		cli_say(cli, "no imports: 'kgrid import summary FILE' adds one");
		rc = CLI_EXIT_NODATA;
	}
	kg_msg_free(m);
	return rc;
}
