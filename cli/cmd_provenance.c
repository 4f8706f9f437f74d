/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/json.h"
#include "cli/provenance_text.h"
#include "cli/stream.h"
#include "cli/width.h"

/* A document as it comes in. */
struct document {
	size_t parts;
	struct kg_str text; /* with --json: all parts */
	bool line_open;	    /* the last byte was no newline */
};

static void document_part(struct cli *cli, const ProtobufCMessage *body, void *ctx)
{
	const Kgrid__V1__ProvenanceReply *r = (const Kgrid__V1__ProvenanceReply *)body;
	const char *data = r->text.data ? (const char *)r->text.data : "";
	struct document *d = ctx;
	struct kg_str s = {0};

	d->parts++;
	if (r->text.len == 0)
		return;
	if (cli->json) {
		kg_str_addn(&d->text, data, r->text.len);
		return;
	}
	if (cli->terminal) /* what a test machine wrote must not steer a terminal */
		text_clean(&s, data, r->text.len, true);
	else
		kg_str_addn(&s, data, r->text.len);
	d->line_open = data[r->text.len - 1] != '\n';
	cli_print(cli, &s);
	kg_str_deinit(&s);
}

/* One reply with the whole text, whatever the parts were. */
static void document_json(struct cli *cli, const Kgrid__V1__ProvenanceRequest *q,
			  struct document *d)
{
	Kgrid__V1__ProvenanceReply all = KGRID__V1__PROVENANCE_REPLY__INIT;

	all.has_boot = 1;
	all.boot = q->boot;
	all.has_text = 1;
	all.text.data = (uint8_t *)(uintptr_t)kg_str_text(&d->text);
	all.text.len = d->text.len;
	cli_print_json(cli, &all.base);
}

static int print_document(struct cli *cli, const Kgrid__V1__ProvenanceRequest *q)
{
	struct document d = {0};
	int rc = cli_stream(cli, KG_MSG_PROVENANCE, &q->base, KG_MSG_PROVENANCE_REPLY,
			    document_part, &d);

	if (rc == CLI_EXIT_OK && cli->json)
		document_json(cli, q, &d);
	if (d.line_open)
		(void)fputc('\n', cli->out);
	if (rc == CLI_EXIT_OK && d.parts == 0) {
		cli_say(cli, "boot %" PRIu64 " has no document '%s'", q->boot, q->document);
		rc = CLI_EXIT_NODATA;
	}
	kg_str_deinit(&d.text);
	return rc;
}

static int print_facts(struct cli *cli, const struct cli_args *args,
		       const Kgrid__V1__ProvenanceRequest *q)
{
	const Kgrid__V1__ProvenanceReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	m = cli_ask(cli, KG_MSG_PROVENANCE, &q->base, KG_MSG_PROVENANCE_REPLY, CLIENT_ANSWER_MS,
		    &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__ProvenanceReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &r->base);
	else if (cli_args_has(args, "csv"))
		provenance_csv(r, &s);
	else
		provenance_text(r, cli_args_has(args, "all"), cli->width, cli->color, &s);
	cli_print(cli, &s);
	if (r->n_phases == 0) {
		cli_say(cli,
			"no facts were recorded of boot %" PRIu64
			": it did not get as far, or its agent is older than protocol 1.2",
			q->boot);
		rc = CLI_EXIT_NODATA;
	}
	kg_str_deinit(&s);
	kg_msg_free(m);
	return rc;
}

int cmd_provenance(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__ProvenanceRequest q = KGRID__V1__PROVENANCE_REQUEST__INIT;
	const char *boot = cli_args_operand(args, 0);

	if (kg_str_starts(boot, "boot:"))
		boot += 5;
	if (kg_parse_u64(boot, &q.boot) < 0 || q.boot == 0) {
		cli_say(cli, "not the number of a boot: '%s'", boot);
		return CLI_EXIT_USAGE;
	}
	q.has_boot = 1;
	q.document = (char *)(uintptr_t)cli_args_text(args, "document");
	if (q.document && (cli_args_has(args, "all") || cli_args_has(args, "csv"))) {
		cli_say(cli, "'--document' prints a text: neither --all nor --csv goes with it");
		return CLI_EXIT_USAGE;
	}
	return q.document ? print_document(cli, &q) : print_facts(cli, args, &q);
}
