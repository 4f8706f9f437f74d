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
#include "cli/json.h"
#include "cli/plan_text.h"
#include "common/file.h"
#include "common/yaml.h"

#define KEY_SIZE   33
#define SEND_TRIES 3 /* with the same key: the coordinator makes one job of them */

/* Reads the job file; exit code. `ret_text` is owned (free). */
static int read_file(struct cli *cli, const char *path, char **ret_text, const char **ret_name)
{
	struct kg_err err = {{0}};
	bool standard = strcmp(path, "-") == 0;
	size_t len;
	int rc;

	*ret_name = standard ? "(standard input)" : path;
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

static void print_reply(struct cli *cli, const Kgrid__V1__SubmitReply *r, bool dry_run)
{
	struct kg_str s = {0};

	if (r->plan)
		plan_text(r->plan, dry_run, cli->width, cli->color, &s);
	if (r->has_job)
		kg_str_addf(&s, "job %" PRIu64 "%s\n", r->job,
			    r->existed ? " (was submitted already)" : "");
	else if (dry_run)
		kg_str_add(&s, "dry run: nothing was submitted\n");
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

int cmd_submit(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__SubmitRequest q = KGRID__V1__SUBMIT_REQUEST__INIT;
	const Kgrid__V1__SubmitReply *r;
	const char *name = NULL;
	char key[KEY_SIZE], *text = NULL;
	struct kg_msg *m;
	bool wait = cli_args_has(args, "wait");
	int rc = read_file(cli, cli_args_operand(args, 0), &text, &name);

	if (rc != CLI_EXIT_OK)
		return rc;
	q.text = text;
	q.file_name = (char *)(uintptr_t)name;
	q.has_dry_run = 1;
	q.dry_run = cli_args_has(args, "dry-run");
	q.boots = (uint32_t)cli_args_number(args, "boots", 0);
	q.has_boots = q.boots != 0;
	q.client_key = key;
	if (!make_key(key)) {
		cli_say(cli, "no random numbers");
		free(text);
		return CLI_EXIT_LOCAL;
	}
	m = send_job(cli, &q, &rc);
	free(text);
	if (!m)
		return rc;
	r = (const Kgrid__V1__SubmitReply *)kg_msg_body(m);
	wait = wait && r->has_job;
	if (!cli->json)
		print_reply(cli, r, q.dry_run);
	else if (!wait)
		cli_print_json(cli, &r->base);
	rc = wait ? wait_for_job(cli, r) : CLI_EXIT_OK;
	kg_msg_free(m);
	return rc;
}
