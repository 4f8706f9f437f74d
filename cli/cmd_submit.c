/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/cmd_compare.h"
#include "cli/cmd_watch.h"
#include "cli/format.h"
#include "cli/includes.h"
#include "cli/json.h"
#include "cli/plan_text.h"
#include "cli/width.h"
#include "common/file.h"
#include "common/yaml.h"
#include "proto/frame.h"

#define KEY_SIZE   33
#define SEND_TRIES 3 /* with the same key: the coordinator makes one job of them */

/* Reads the job file; exit code. `ret_text` is owned (free). */
static int read_file(struct cli *cli, const char *path, char **ret_text, const char **ret_name)
{
	struct kg_err err = {{0}};
	bool standard = strcmp(path, "-") == 0;
	size_t len;
	int rc;

	*ret_name = standard ? INCLUDES_STDIN : path;
	rc = kg_file_read(standard ? "/dev/stdin" : path, KG_YAML_MAX_BYTES, ret_text, &len, &err);
	if (rc == KG_ELIMIT) {
		cli_say(cli, "%s: a job file has at most %d bytes", *ret_name, KG_YAML_MAX_BYTES);
		return CLI_EXIT_USAGE;
	}
	if (rc < 0) {
		cli_say(cli, "%s", err.text);
		return CLI_EXIT_USAGE;
	}
	if (memchr(*ret_text, '\0', len) || !kg_utf8_valid(*ret_text, len)) {
		cli_say(cli, "%s: not a text in UTF-8", *ret_name);
		free(*ret_text);
		return CLI_EXIT_USAGE;
	}
	return CLI_EXIT_OK;
}

static bool make_key(char ret_key[KEY_SIZE])
{
	unsigned char random[(KEY_SIZE - 1) / 2];
	size_t i;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	for (i = 0; i < sizeof(random); i++)
		(void)snprintf(ret_key + 2 * i, 3, "%02x", random[i]);
	return true;
}

/* Sends the request; when the connection breaks, sends it again. */
static struct kg_msg *send_job(struct cli *cli, const Kgrid__V1__SubmitRequest *q, int *ret_exit)
{
	struct kg_msg *m = NULL;
	int tries;

	for (tries = 0; tries < SEND_TRIES; tries++) {
		struct client *c = cli_connect(cli, ret_exit);
		struct kg_err err = {{0}};
		bool answered;
		int rc;

		if (!c)
			return NULL;
		rc = client_call(c, KG_MSG_SUBMIT, &q->base, KG_MSG_SUBMIT_REPLY, CLIENT_LONG_MS,
				 &m, &err);
		if (rc < 0)
			*ret_exit = cli_fail(cli, c, rc, &err);
		answered = client_answered(c);
		client_close(c);
		if (rc == 0)
			return m;
		if (answered || (rc != -EPIPE && rc != -ECONNRESET))
			break;
		if (tries + 1 < SEND_TRIES)
			sleep(1);
	}
	return NULL;
}

/* What of the plan goes to standard output. */
struct show {
	bool dry_run, cells, all_boots, csv, explain;
};

/* The boots or the cells, for a program. */
static void print_csv(struct cli *cli, const Kgrid__V1__Plan *p, bool cells)
{
	struct kg_str s = {0};

	if (cells)
		csv_messages(&s, &kgrid__v1__planned_cell__descriptor, p ? p->n_listed : 0,
			     p ? (ProtobufCMessage *const *)p->listed : NULL);
	else
		csv_messages(&s, &kgrid__v1__planned_boot__descriptor, p ? p->n_boots : 0,
			     p ? (ProtobufCMessage *const *)p->boots : NULL);
	cli_print(cli, &s);
	kg_str_deinit(&s);
}

static void print_reply(struct cli *cli, const Kgrid__V1__SubmitReply *r, const struct show *show)
{
	const struct plan_look look = {.width = cli->width,
				       .color = cli->color,
				       .dry_run = show->dry_run,
				       .cells = show->cells,
				       .all_boots = show->all_boots};
	struct kg_str s = {0};

	if (show->explain && r->plan)
		plan_explanation_text(r->plan, cli->width, &s);
	else if (r->plan)
		plan_text(r->plan, &look, &s);
	if (r->has_standing && r->standing) {
		kg_str_addf(&s, "standing job %" PRIu64 "%s", r->standing,
			    r->existed ? " (was submitted already)" : "");
		if (r->when && r->when[0]) {
			kg_str_add(&s, ": runs ");
			text_clean(&s, r->when, strlen(r->when), false);
		}
		kg_str_addf(&s, "\n'kgrid standing show %" PRIu64 "' shows it\n", r->standing);
	} else if (r->has_job) {
		kg_str_addf(&s, "job %" PRIu64 "%s\n", r->job,
			    r->existed ? " (was submitted already)" : "");
	} else if (show->dry_run && !show->explain) {
		kg_str_add(&s, "dry run: nothing was submitted");
		if (r->when && r->when[0]) {
			kg_str_add(&s, "; it would run ");
			text_clean(&s, r->when, strlen(r->when), false);
		}
		kg_str_add(&s, "\n");
	}
	cli_print(cli, &s);
	(void)fflush(cli->out);
	kg_str_deinit(&s);
}

/* --wait: watch, then compare. */
static int wait_for_job(struct cli *cli, const Kgrid__V1__SubmitReply *r)
{
	const Kgrid__V1__CompareReply *compare;
	struct kg_msg *m;
	json_t *all;
	int rc = watch_job(cli, r->job, cli->json ? WATCH_SILENT : WATCH_TEXT), rc2 = 0;

	if (rc != CLI_EXIT_OK && rc != CLI_EXIT_NO && rc != CLI_EXIT_NODATA)
		return rc;
	m = compare_ask(cli, r->job, &rc2);
	if (!m)
		return rc ? rc : rc2;
	compare = (const Kgrid__V1__CompareReply *)kg_msg_body(m);
	if (cli->json) {
		all = json_pack("{s:o,s:o,s:o}", "submit", json_of_message(&r->base), "job",
				compare->job ? json_of_message(&compare->job->base) : json_null(),
				"compare", json_of_message(&compare->base));
		(void)json_dumpf(all, cli->out, JSON_INDENT(2));
		(void)fputc('\n', cli->out);
		json_decref(all);
	} else {
		(void)fputc('\n', cli->out);
		compare_print(cli, compare, false);
	}
	kg_msg_free(m);
	return rc; /* whether the slots passed; 'kgrid compare' says whether one is slower */
}

/* Options that only go together in some ways; exit code. */
static int read_options(struct cli *cli, const struct cli_args *args, struct show *ret,
			Kgrid__V1__SubmitRequest *q)
{
	const char *lone = cli_args_has(args, "cells")	     ? "--cells"
			   : cli_args_has(args, "all-boots") ? "--all-boots"
			   : cli_args_has(args, "csv")	     ? "--csv"
							     : NULL;
	uint64_t boots = cli_args_number(args, "boots", 0);

	q->explain_cell = cli_args_number(args, "explain-cell", 0);
	q->has_explain_cell = q->explain_cell != 0;
	*ret = (struct show){.dry_run = cli_args_has(args, "dry-run") || q->has_explain_cell,
			     .cells = cli_args_has(args, "cells"),
			     .all_boots = cli_args_has(args, "all-boots"),
			     .csv = cli_args_has(args, "csv"),
			     .explain = q->has_explain_cell};
	if (lone && !ret->dry_run) {
		cli_say(cli, "'%s' goes with --dry-run; 'kgrid job show' shows a job that runs",
			lone);
		return CLI_EXIT_USAGE;
	}
	if (ret->explain && lone) {
		cli_say(cli, "'--explain-cell' and '%s' do not go together; leave one out", lone);
		return CLI_EXIT_USAGE;
	}
	if (ret->csv && cli->json) {
		cli_say(cli, "'--csv' and '--json' do not go together; leave one out");
		return CLI_EXIT_USAGE;
	}
	if (ret->dry_run && cli_args_has(args, "wait")) {
		cli_say(cli, "'--wait' waits for a job, and a dry run makes none; leave one out");
		return CLI_EXIT_USAGE;
	}
	if (boots > UINT32_MAX) {
		cli_say(cli, "'--boots' is too large: %" PRIu64, boots);
		return CLI_EXIT_USAGE;
	}
	q->has_dry_run = q->has_list_cells = 1;
	q->dry_run = ret->dry_run;
	q->list_cells = ret->cells;
	q->boots = (uint32_t)boots;
	q->has_boots = boots != 0;
	return CLI_EXIT_OK;
}

/* Whether the job and all that it includes fit into one request. */
static bool fits(struct cli *cli, const Kgrid__V1__SubmitRequest *q)
{
	size_t bytes = kgrid__v1__submit_request__get_packed_size(q);
	char size[FORMAT_SIZE];

	if (bytes <= KG_FRAME_MAX)
		return true;
	if (q->n_files == 0)
		cli_say(cli, "%s: the request has %s, and one has at most 1 MiB", q->file_name,
			format_bytes(bytes, size));
	else
		cli_say(cli,
			"%s: with the %zu file%s that it includes the request has %s, and one has "
			"at most 1 MiB",
			q->file_name, q->n_files, q->n_files == 1 ? "" : "s",
			format_bytes(bytes, size));
	return false;
}

/* What a program reads must not look whole when it is not. */
static void say_what_is_left_out(struct cli *cli, const Kgrid__V1__Plan *p)
{
	uint64_t boots = 0;
	size_t i;

	for (i = 0; i < p->n_machines; i++)
		boots += p->machines[i]->boots;
	if (boots > p->n_boots)
		cli_say(cli, "the coordinator lists the first %zu of %" PRIu64 " boots", p->n_boots,
			boots);
}

/* Shows the answer and waits when that was asked for; exit code. */
static int answer(struct cli *cli, const Kgrid__V1__SubmitReply *r, const struct show *show,
		  bool wait)
{
	bool watched = wait && r->has_job && !(r->has_standing && r->standing);

	if (show->dry_run && r->plan && (cli->json || (show->csv && !show->cells)))
		say_what_is_left_out(cli, r->plan);
	if (show->csv)
		print_csv(cli, r->plan, show->cells);
	else if (!cli->json)
		print_reply(cli, r, show);
	else if (!watched)
		cli_print_json(cli, &r->base);
	if (wait && !watched)
		cli_say(cli, "not waiting: a standing job has no end");
	if (show->explain && (!r->plan || r->plan->n_explanation == 0)) {
		cli_say(cli, "the coordinator explains no cells; it is older than this kgrid");
		return CLI_EXIT_NODATA;
	}
	return watched ? wait_for_job(cli, r) : CLI_EXIT_OK;
}

static int submit(struct cli *cli, const struct cli_args *args, const struct show *show,
		  Kgrid__V1__SubmitRequest *q)
{
	struct kg_msg *m;
	char key[KEY_SIZE];
	int rc = CLI_EXIT_OK;

	if (!make_key(key)) {
		cli_say(cli, "no random numbers");
		return CLI_EXIT_LOCAL;
	}
	q->client_key = key;
	q->user = cli_user();
	if (!fits(cli, q))
		return CLI_EXIT_USAGE;
	m = send_job(cli, q, &rc);
	if (m)
		rc = answer(cli, (const Kgrid__V1__SubmitReply *)kg_msg_body(m), show,
			    cli_args_has(args, "wait"));
	kg_msg_free(m);
	return rc;
}

int cmd_submit(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__SubmitRequest q = KGRID__V1__SUBMIT_REQUEST__INIT;
	struct includes in = {0};
	struct kg_err err = {{0}};
	const char *name = NULL;
	struct show show;
	char *text = NULL;
	int rc = read_options(cli, args, &show, &q);

	if (rc == CLI_EXIT_OK)
		rc = read_file(cli, cli_args_operand(args, 0), &text, &name);
	if (rc != CLI_EXIT_OK)
		return rc;
	if (includes_read(name, text, strlen(text), &in, &err) < 0) {
		cli_say_place(cli, err.text);
		free(text);
		return CLI_EXIT_USAGE;
	}
	q.text = text;
	q.file_name = (char *)(uintptr_t)name;
	q.files = in.files;
	q.n_files = in.n;
	rc = submit(cli, args, &show, &q);
	includes_deinit(&in);
	free(text);
	return rc;
}
