/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A/A runs: kgrid calibrate orders them, kgrid noise shows what they said. */
#include <inttypes.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/cmd_watch.h"
#include "cli/json.h"
#include "cli/noise_text.h"
#include "cli/plan_text.h"
#include "cli/stream.h"
#include "cli/width.h"
#include "common/clock.h"

static int usage(struct cli *cli, const char *text)
{
	cli_say(cli, "%s", text);
	return CLI_EXIT_USAGE;
}

/* --every 7d, at least a second. */
static int read_every(struct cli *cli, const struct cli_args *args, Kgrid__V1__CalibrateRequest *q)
{
	const char *every = cli_args_text(args, "every");
	uint64_t ns;

	if (!every)
		return CLI_EXIT_OK;
	if (kg_parse_duration(every, &ns) < 0 || ns < KG_NSEC_PER_SEC) {
		cli_say(cli, "'--every' needs a time such as 7d or 12h, not '%s'", every);
		return CLI_EXIT_USAGE;
	}
	q->has_every_seconds = 1;
	q->every_seconds = ns / KG_NSEC_PER_SEC;
	return CLI_EXIT_OK;
}

static int read_options(struct cli *cli, const struct cli_args *args,
			Kgrid__V1__CalibrateRequest *q, char *workloads[CLI_OPTIONS_MAX])
{
	uint64_t boots = cli_args_number(args, "boots", 0);
	const char *text;

	q->machine = (char *)(uintptr_t)cli_args_operand(args, 0);
	q->kernel = (char *)(uintptr_t)cli_args_text(args, "kernel");
	q->lsm = (char *)(uintptr_t)cli_args_text(args, "lsm");
	q->workloads = workloads;
	while ((text = cli_args_each(args, "workload", q->n_workloads))) {
		if (!kg_utf8_valid(text, strlen(text)))
			return usage(cli, "'--workload' is not a text in UTF-8");
		workloads[q->n_workloads++] = (char *)(uintptr_t)text;
	}
	if (boots > UINT32_MAX)
		return usage(cli, "'--boots' is too large");
	q->boots = (uint32_t)boots;
	q->has_boots = boots != 0;
	q->stop = cli_args_has(args, "stop");
	q->has_stop = q->stop;
	q->dry_run = cli_args_has(args, "dry-run");
	q->has_dry_run = q->dry_run;
	if (q->stop && (q->kernel || q->lsm || q->n_workloads > 0 || boots || q->dry_run ||
			cli_args_has(args, "every") || cli_args_has(args, "wait")))
		return usage(cli, "'--stop' goes with no other option");
	if (q->dry_run && cli_args_has(args, "wait"))
		return usage(cli, "'--dry-run' and '--wait' do not go together; leave one out");
	return read_every(cli, args, q);
}

static void print_plan(struct cli *cli, const Kgrid__V1__CalibrateRequest *q,
		       const Kgrid__V1__SubmitReply *r)
{
	const struct plan_look look = {
		.width = cli->width, .color = cli->color, .dry_run = q->dry_run};
	struct kg_str s = {0};
	char every[64];

	if (r->plan)
		plan_text(r->plan, &look, &s);
	if (r->has_job && r->job)
		kg_str_addf(&s, "job %" PRIu64 "\n", r->job);
	else if (q->dry_run)
		kg_str_add(&s, "dry run: nothing was submitted\n");
	if (q->has_every_seconds && !q->dry_run) {
		(void)snprintf(every, sizeof(every), "%" PRIu64 " s", q->every_seconds);
		if (q->every_seconds % 86400 == 0)
			(void)snprintf(every, sizeof(every), "%" PRIu64 " d",
				       q->every_seconds / 86400);
		else if (q->every_seconds % 3600 == 0)
			(void)snprintf(every, sizeof(every), "%" PRIu64 " h",
				       q->every_seconds / 3600);
		kg_str_addf(&s, "repeated every %s until 'kgrid calibrate %s --stop'\n", every,
			    q->machine);
	}
	cli_print(cli, &s);
	(void)fflush(cli->out);
	kg_str_deinit(&s);
}

static void print_stopped(struct cli *cli, const struct kg_msg *m, const char *machine)
{
	const Kgrid__V1__Done *d = (const Kgrid__V1__Done *)kg_msg_body(m);
	struct kg_str s = {0};

	if (kg_msg_type(m) == KG_MSG_DONE && d->text && d->text[0])
		text_clean(&s, d->text, strlen(d->text), false);
	else
		kg_str_addf(&s, "no more repeated A/A runs of %s", machine);
	kg_str_add(&s, "\n");
	cli_print(cli, &s);
	kg_str_deinit(&s);
}

int cmd_calibrate(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__CalibrateRequest q = KGRID__V1__CALIBRATE_REQUEST__INIT;
	char *workloads[CLI_OPTIONS_MAX];
	const Kgrid__V1__SubmitReply *r;
	struct kg_msg *m;
	int rc = read_options(cli, args, &q, workloads);

	if (rc != CLI_EXIT_OK)
		return rc;
	m = cli_ask_either(cli, KG_MSG_CALIBRATE, &q.base, KG_MSG_SUBMIT_REPLY, KG_MSG_DONE,
			   CLIENT_LONG_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__SubmitReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, kg_msg_body(m));
	else if (q.stop || kg_msg_type(m) == KG_MSG_DONE)
		print_stopped(cli, m, q.machine);
	else
		print_plan(cli, &q, r);
	if (cli_args_has(args, "wait") && kg_msg_type(m) == KG_MSG_SUBMIT_REPLY && r->has_job)
		rc = watch_job(cli, r->job, cli->json ? WATCH_SILENT : WATCH_TEXT);
	kg_msg_free(m);
	return rc;
}

static int no_profiles(struct cli *cli, const Kgrid__V1__NoiseReply *r, const char *machine)
{
	size_t i;

	cli_say(cli, "no noise profile%s%s%s: no A/A run has ended; 'kgrid calibrate %s' makes one",
		machine ? " of '" : "", cli_text(machine), machine ? "'" : "",
		machine ? machine : "MACHINE");
	for (i = 0; i < r->n_notes && (cli->json || cli->csv); i++)
		cli_say(cli, "%s", r->notes[i]);
	return CLI_EXIT_NODATA;
}

int cmd_noise(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__NoiseRequest q = KGRID__V1__NOISE_REQUEST__INIT;
	const Kgrid__V1__NoiseReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = CLI_EXIT_OK;

	q.machine = (char *)(uintptr_t)cli_args_operand(args, 0);
	m = cli_ask(cli, KG_MSG_NOISE, &q.base, KG_MSG_NOISE_REPLY, CLIENT_LONG_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__NoiseReply *)kg_msg_body(m);
	cli->csv = cli_args_has(args, "csv");
	if (cli->json)
		cli_print_json(cli, &r->base);
	else if (cli->csv)
		csv_messages(&s, &kgrid__v1__noise_profile__descriptor, r->n_profiles,
			     (ProtobufCMessage *const *)r->profiles);
	else
		noise_text(r, cli->width, cli->color, &s);
	cli_print(cli, &s);
	if (r->n_profiles == 0)
		rc = no_profiles(cli, r, q.machine);
	kg_str_deinit(&s);
	kg_msg_free(m);
	return rc;
}
