/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kgrid samples and kgrid logs: streams of parts, written as they come. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/stream.h"
#include "cli/width.h"

struct samples {
	bool started;
	uint64_t rows;
	json_t *accounting; /* owned */
	struct kg_str line; /* the accounting as text */
	uint64_t slots, pending;
};

static void take_accounting(struct samples *s, const Kgrid__V1__Accounting *a)
{
	if (!a || s->line.len > 0)
		return;
	s->accounting = json_of_message(&a->base);
	s->slots = a->slots;
	s->pending = a->pending;
	format_accounting(a, &s->line);
}

static void samples_part(struct cli *cli, const ProtobufCMessage *m, void *ctx)
{
	const Kgrid__V1__SamplesReply *r = (const Kgrid__V1__SamplesReply *)m;
	struct samples *s = ctx;
	struct kg_str text = {0};
	size_t i;

	take_accounting(s, r->accounting);
	if (!s->started && !cli->json)
		csv_names(&text, &kgrid__v1__sample_row__descriptor);
	s->started = true;
	for (i = 0; i < r->n_rows; i++) {
		if (cli->json) {
			json_t *row = json_of_message(&r->rows[i]->base);

			(void)fputs(s->rows ? ",\n    " : "\n    ", cli->out);
			(void)json_dumpf(row, cli->out, JSON_COMPACT);
			json_decref(row);
		} else {
			csv_row(&text, &r->rows[i]->base);
		}
		s->rows++;
	}
	cli_print(cli, &text);
	kg_str_deinit(&text);
}

/* Why there is no sample, in words. */
static int say_none(struct cli *cli, const struct samples *s)
{
	cli_say(cli, "no samples: %s",
		s->slots == 0		 ? "the job has no slots"
		: s->pending == s->slots ? "no slot has ended yet"
					 : "no slot gave a valid result (--all shows evidence of "
					   "attempts that did not pass)");
	return CLI_EXIT_NODATA;
}

int cmd_samples(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__SamplesRequest q = KGRID__V1__SAMPLES_REQUEST__INIT;
	struct samples s = {0};
	int rc;

	q.has_job = q.has_all = 1;
	q.job = cli_args_job(args);
	q.all = cli_args_has(args, "all");
	cli->json = cli->json || kg_streq(cli_args_text(args, "format"), "json");
	if (cli->json &&
	    (cli_args_has(args, "csv") || kg_streq(cli_args_text(args, "format"), "csv"))) {
		cli_say(cli, "CSV and JSON do not go together; leave one out");
		return CLI_EXIT_USAGE;
	}
	cli->csv = !cli->json;
	if (cli->json)
		(void)fputs("{\n  \"rows\": [", cli->out);
	rc = cli_stream(cli, KG_MSG_SAMPLES, &q.base, KG_MSG_SAMPLES_REPLY, samples_part, &s);
	if (cli->json) {
		(void)fputs(s.rows ? "\n  ],\n  \"accounting\": " : "],\n  \"accounting\": ",
			    cli->out);
		if (s.accounting)
			(void)json_dumpf(s.accounting, cli->out, JSON_COMPACT);
		else
			(void)fputs("null", cli->out);
		(void)fputs("\n}\n", cli->out);
	}
	if (s.line.len > 0)
		(void)fprintf(cli->err, "%s\n", kg_str_text(&s.line));
	if (rc == CLI_EXIT_OK && s.rows == 0)
		rc = say_none(cli, &s);
	json_decref(s.accounting);
	kg_str_deinit(&s.line);
	return rc;
}

struct logs {
	json_t *list; /* owned; NULL: as text */
	uint64_t parts;
	uint64_t attempt;
	struct kg_str stream;
	bool line_open; /* the last byte was no newline */
};

static void log_heading(struct cli *cli, struct logs *l, const Kgrid__V1__LogsReply *r)
{
	struct kg_str s = {0};

	if (l->parts > 0 && l->attempt == r->attempt &&
	    strcmp(kg_str_text(&l->stream), cli_text(r->stream)) == 0)
		return;
	if (l->line_open)
		kg_str_add(&s, "\n");
	kg_str_add(&s, l->parts ? "\n== " : "== ");
	text_clean(&s, cli_text(r->heading), strlen(cli_text(r->heading)), false);
	if (r->stream && r->stream[0]) {
		kg_str_add(&s, r->heading && r->heading[0] ? ", " : "");
		text_clean(&s, r->stream, strlen(r->stream), false);
	}
	kg_str_add(&s, "\n");
	cli_print(cli, &s);
	kg_str_deinit(&s);
	l->attempt = r->attempt;
	l->line_open = false;
	kg_str_clear(&l->stream);
	kg_str_add(&l->stream, cli_text(r->stream));
}

static void logs_part(struct cli *cli, const ProtobufCMessage *m, void *ctx)
{
	const Kgrid__V1__LogsReply *r = (const Kgrid__V1__LogsReply *)m;
	const char *data = r->data.data ? (const char *)r->data.data : "";
	struct logs *l = ctx;
	struct kg_str s = {0};

	if (l->list) {
		json_array_append_new(l->list, json_of_message(m));
		l->parts++;
		return;
	}
	log_heading(cli, l, r);
	if (cli->terminal) /* what a test machine wrote must not steer a terminal */
		text_clean(&s, data, r->data.len, true);
	else
		kg_str_addn(&s, data, r->data.len);
	if (r->data.len > 0)
		l->line_open = data[r->data.len - 1] != '\n';
	if (r->dropped_bytes) {
		kg_str_addf(&s, "%s[%" PRIu64 " bytes were dropped: over the limit of the log]\n",
			    l->line_open ? "\n" : "", r->dropped_bytes);
		l->line_open = false;
	}
	cli_print(cli, &s);
	kg_str_deinit(&s);
	l->parts++;
}

int cmd_logs(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__LogsRequest q = KGRID__V1__LOGS_REQUEST__INIT;
	struct logs l = {0};
	int rc;

	q.attempt = cli_args_number(args, "attempt", 0);
	q.boot = cli_args_number(args, "boot", 0);
	if ((q.attempt != 0) == (q.boot != 0)) {
		cli_say(cli, "'logs' needs one of --attempt and --boot");
		return CLI_EXIT_USAGE;
	}
	q.has_attempt = q.attempt != 0;
	q.has_boot = q.boot != 0;
	if (cli->json)
		l.list = json_array();
	rc = cli_stream(cli, KG_MSG_LOGS, &q.base, KG_MSG_LOGS_REPLY, logs_part, &l);
	if (l.line_open)
		(void)fputc('\n', cli->out);
	if (l.list && (rc == CLI_EXIT_OK || l.parts > 0)) {
		json_t *o = json_pack("{s:O}", "logs", l.list);

		(void)json_dumpf(o, cli->out, JSON_INDENT(2));
		(void)fputc('\n', cli->out);
		json_decref(o);
	}
	if (rc == CLI_EXIT_OK && l.parts == 0) {
		cli_say(cli, "no logs: %s %" PRIu64 " wrote none", q.attempt ? "attempt" : "boot",
			q.attempt ? q.attempt : q.boot);
		rc = CLI_EXIT_NODATA;
	}
	json_decref(l.list);
	kg_str_deinit(&l.stream);
	return rc;
}
