/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/width.h"

static void out_of_memory(void)
{
	(void)fputs("kgrid: out of memory\n", stderr);
	abort();
}

void *cli_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		out_of_memory();
	return p;
}

void *cli_grow(void *p, size_t n, size_t size)
{
	void *q = reallocarray(p, n, size);

	if (!q)
		out_of_memory();
	return q;
}

char *cli_strdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		out_of_memory();
	return p;
}

const char *cli_text(const char *s)
{
	return s ? s : "";
}

/* A line on standard error, safe to show whatever the coordinator sent. */
static void say(struct cli *cli, const char *prefix, const char *text)
{
	struct kg_str s = {0};

	kg_str_add(&s, prefix);
	text_clean(&s, text, strlen(text), false);
	(void)fprintf(cli->err, "%s\n", kg_str_text(&s));
	kg_str_deinit(&s);
}

void cli_say(struct cli *cli, const char *fmt, ...)
{
	char text[2 * KG_ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(cli, "kgrid: ", text);
}

struct client *cli_connect(struct cli *cli, int *ret_exit)
{
	struct client *c = NULL;
	struct kg_err err = {{0}};
	int rc = client_open(cli->address, &c, &err);

	if (rc == 0)
		return c;
	if (rc == KG_EINVALID) {
		cli_say(cli, "%s", err.text);
		*ret_exit = CLI_EXIT_USAGE;
		return NULL;
	}
	if (rc == KG_EVERSION || rc == KG_EREFUSED || rc == KG_EBUSY) {
		cli_say(cli, "the coordinator at '%s' refuses: %s", cli->address, err.text);
		*ret_exit = CLI_EXIT_REFUSED;
		return NULL;
	}
	cli_say(cli, "cannot reach the coordinator at '%s': %s", cli->address, err.text);
	if (rc == -EACCES || rc == -EPERM)
		(void)fputs("  its socket belongs to somebody else: ask for access, or start your "
			    "own\n",
			    cli->err);
	(void)fputs("  to start one: kgrid-coordinator --data-dir DIR   (its socket is "
		    "DIR/run/kgrid.sock)\n"
		    "  to name one:  kgrid --coordinator ADDR, or KGRID_COORDINATOR=ADDR in the "
		    "environment\n",
		    cli->err);
	*ret_exit = CLI_EXIT_UNREACHABLE;
	return NULL;
}

/* Whether a text begins with "FILE:LINE:COLUMN: " or "FILE:LINE: ", which editors find and a prefix
 * would hide. */
static bool names_a_place(const char *text)
{
	const char *p = text;

	while ((p = strchr(p, ':'))) {
		size_t line = strspn(++p, "0123456789");
		size_t column = p[line] == ':' ? strspn(p + line + 1, "0123456789") : 0;

		if (line > 0 && kg_str_starts(p + line, ": "))
			return true;
		if (line > 0 && column > 0 && kg_str_starts(p + line + 1 + column, ": "))
			return true;
	}
	return false;
}

void cli_say_place(struct cli *cli, const char *text)
{
	say(cli, names_a_place(text) ? "" : "kgrid: ", text);
}

int cli_fail(struct cli *cli, const struct client *c, int rc, const struct kg_err *err)
{
	const char *detail;
	bool said = false;
	size_t i;

	if (!client_answered(c)) {
		cli_say(cli, "%s", err->text[0] ? err->text : kg_strerror(rc));
		return rc == KG_EVERSION ? CLI_EXIT_REFUSED : CLI_EXIT_UNREACHABLE;
	}
	for (i = 0; (detail = client_detail(c, i)); i++) {
		say(cli, "", detail);
		said = said || strcmp(detail, err->text) == 0;
	}
	if (!said)
		cli_say_place(cli, err->text);
	if (rc == KG_EINVALID)
		return CLI_EXIT_USAGE;
	return rc == KG_ENODATA ? CLI_EXIT_NODATA : CLI_EXIT_REFUSED;
}

struct kg_msg *cli_ask(struct cli *cli, uint16_t type, const ProtobufCMessage *body, uint16_t want,
		       int timeout_ms, int *ret_exit)
{
	struct kg_err err = {{0}};
	struct kg_msg *m = NULL;
	struct client *c = cli_connect(cli, ret_exit);
	int rc;

	if (!c)
		return NULL;
	rc = client_call(c, type, body, want, timeout_ms, &m, &err);
	if (rc < 0)
		*ret_exit = cli_fail(cli, c, rc, &err);
	client_close(c);
	return m;
}

int cli_change(struct cli *cli, uint16_t type, const ProtobufCMessage *body, const char *what)
{
	const Kgrid__V1__Done *d;
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	m = cli_ask(cli, type, body, KG_MSG_DONE, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	d = (const Kgrid__V1__Done *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &d->base);
	else
		cli_say(cli, "%s", d->text && d->text[0] ? d->text : what);
	kg_msg_free(m);
	return rc;
}

char *cli_user(void)
{
	const struct passwd *pw = getpwuid(getuid());

	if (!pw || !pw->pw_name || !kg_utf8_valid(pw->pw_name, strlen(pw->pw_name)))
		return NULL;
	return pw->pw_name;
}

void cli_accounting(struct cli *cli, const Kgrid__V1__Accounting *a)
{
	struct kg_str s = {0};

	format_accounting(a, &s);
	kg_str_add(&s, "\n");
	if (cli->csv || cli->json)
		(void)fputs(kg_str_text(&s), cli->err);
	else
		cli_print(cli, &s);
	kg_str_deinit(&s);
}

void cli_print(struct cli *cli, struct kg_str *s)
{
	if (s->failed)
		out_of_memory();
	(void)fwrite(kg_str_text(s), 1, s->len, cli->out);
	kg_str_clear(s);
}

static void print_json(struct cli *cli, const ProtobufCMessage *m, size_t flags)
{
	json_t *j = json_of_message(m);

	(void)json_dumpf(j, cli->out, flags);
	(void)fputc('\n', cli->out);
	json_decref(j);
}

void cli_print_json(struct cli *cli, const ProtobufCMessage *m)
{
	print_json(cli, m, JSON_INDENT(2));
}

void cli_print_json_line(struct cli *cli, const ProtobufCMessage *m)
{
	print_json(cli, m, JSON_COMPACT);
}
