/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/table.h"

static void print_jobs(struct cli *cli, const Kgrid__V1__JobsReply *r)
{
	static const char *const titles[] = {"JOB", "NAME", "STATE", "SUBMITTED", "SLOTS"};
	struct table *t = table_new("rllll");
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < r->n_jobs; i++) {
		const Kgrid__V1__JobSummary *j = r->jobs[i];
		char time[FORMAT_SIZE];

		table_cellf(t, "%" PRIu64, j->id);
		table_cell(t, j->name);
		table_cell(t, j->state);
		table_cell(t, format_time(j->submitted_ns, time));
		kg_str_clear(&s);
		format_accounting(j->accounting, &s);
		if (j->why && j->why[0])
			kg_str_addf(&s, "; %s", j->why);
		table_cell(t, kg_str_text(&s));
	}
	kg_str_clear(&s);
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

int cmd_jobs(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__JobsRequest q = KGRID__V1__JOBS_REQUEST__INIT;
	const Kgrid__V1__JobsReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = 0;

	m = cli_ask(cli, KG_MSG_JOBS, &q.base, KG_MSG_JOBS_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__JobsReply *)kg_msg_body(m);
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else if (cli_args_has(args, "csv")) {
		csv_messages(&s, &kgrid__v1__job_summary__descriptor, r->n_jobs,
			     (ProtobufCMessage *const *)r->jobs);
		cli_print(cli, &s);
	} else if (r->n_jobs > 0) {
		print_jobs(cli, r);
	}
	if (r->n_jobs == 0) {
		cli_say(cli, "no jobs: nothing was submitted yet ('kgrid submit FILE')");
		rc = CLI_EXIT_NODATA;
	}
	kg_str_deinit(&s);
	kg_msg_free(m);
	return rc;
}

/* Counts of a machine x kernel x lsm. */
struct group {
	const Kgrid__V1__SlotInfo *first;
	Kgrid__V1__Accounting accounting;
	Kgrid__V1__OutcomeCount *counts; /* owned */
};

static bool same_group(const Kgrid__V1__SlotInfo *a, const Kgrid__V1__SlotInfo *b)
{
	return kg_streq(a->machine, b->machine) && kg_streq(a->kernel, b->kernel) &&
	       kg_streq(a->lsm, b->lsm);
}

static bool is_pending(const Kgrid__V1__SlotInfo *s)
{
	return !s->outcome || !s->outcome[0];
}

static void count_slot(struct group *g, const Kgrid__V1__SlotInfo *s)
{
	size_t i;

	g->accounting.slots++;
	if (is_pending(s)) {
		g->accounting.pending++;
		return;
	}
	for (i = 0; i < g->accounting.n_outcomes; i++)
		if (strcmp(g->counts[i].outcome, s->outcome) == 0)
			break;
	if (i == g->accounting.n_outcomes) {
		g->counts = cli_grow(g->counts, i + 1, sizeof(*g->counts));
		g->counts[i] = (Kgrid__V1__OutcomeCount)KGRID__V1__OUTCOME_COUNT__INIT;
		g->counts[i].outcome = s->outcome;
		g->accounting.n_outcomes++;
	}
	g->counts[i].count++;
}

static void print_group(struct table *t, struct group *g)
{
	Kgrid__V1__OutcomeCount **list = cli_alloc(g->accounting.n_outcomes, sizeof(*list));
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < g->accounting.n_outcomes; i++)
		list[i] = &g->counts[i];
	g->accounting.outcomes = list;
	table_cell(t, g->first->machine);
	table_cell(t, g->first->kernel);
	table_cell(t, g->first->lsm);
	format_accounting(&g->accounting, &s);
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
	free(list);
}

static void print_groups(struct cli *cli, const Kgrid__V1__JobReply *r)
{
	static const char *const titles[] = {"MACHINE", "KERNEL", "LSM", "SLOTS"};
	struct table *t = table_new("llll");
	struct group *groups = NULL;
	struct kg_str s = {0};
	size_t n = 0, i, g;

	for (i = 0; i < r->n_slots; i++) {
		for (g = 0; g < n; g++)
			if (same_group(groups[g].first, r->slots[i]))
				break;
		if (g == n) {
			groups = cli_grow(groups, n + 1, sizeof(*groups));
			groups[n++] =
				(struct group){r->slots[i], KGRID__V1__ACCOUNTING__INIT, NULL};
		}
		count_slot(&groups[g], r->slots[i]);
	}
	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (g = 0; g < n; g++) {
		print_group(t, &groups[g]);
		free(groups[g].counts);
	}
	kg_str_add(&s, "\n");
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	free(groups);
	kg_str_deinit(&s);
}

static void add_number(struct table *t, uint64_t v)
{
	if (v)
		table_cellf(t, "%" PRIu64, v);
	else
		table_cell(t, "-");
}

static void print_slots(struct cli *cli, const Kgrid__V1__JobReply *r, bool all)
{
	static const char *const titles[] = {"SLOT",	 "MACHINE", "BLOCK", "KERNEL/LSM",
					     "WORKLOAD", "OUTCOME", "TRIES", "BOOT",
					     "ATTEMPT",	 "REASON"};
	struct table *t = table_new("rlrlllrrrl");
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < r->n_slots; i++) {
		const Kgrid__V1__SlotInfo *x = r->slots[i];
		bool pass = kg_streq(x->outcome, "pass");

		if (!all && (pass || is_pending(x)))
			continue;
		add_number(t, x->slot);
		table_cell(t, x->machine);
		add_number(t, x->block);
		kg_str_clear(&s);
		format_column(x->kernel, x->lsm, &s);
		table_cell(t, kg_str_text(&s));
		kg_str_clear(&s);
		kg_str_addf(&s, "%s %s", cli_text(x->workload), cli_text(x->params));
		table_cell(t, kg_str_text(&s));
		table_styled(t,
			     pass	     ? TABLE_GOOD
			     : is_pending(x) ? TABLE_DIM
					     : TABLE_BAD,
			     is_pending(x) ? "pending" : x->outcome);
		table_cellf(t, "%" PRIu32, x->attempts);
		add_number(t, x->last_boot);
		add_number(t, x->last_attempt);
		table_cell(t, x->reason);
	}
	if (table_rows(t) > 0) {
		kg_str_clear(&s);
		kg_str_add(&s, all ? "\n" : "\nwithout a valid result:\n");
		table_render(t, 0, cli->width, cli->color, &s);
		cli_print(cli, &s);
	}
	table_free(t);
	kg_str_deinit(&s);
}

static void print_job(struct cli *cli, const Kgrid__V1__JobReply *r, bool all)
{
	const Kgrid__V1__JobSummary *j = r->job;
	struct table *t = table_new("ll");
	struct kg_str s = {0};
	char time[FORMAT_SIZE];
	size_t i;

	table_cell(t, "job");
	table_cellf(t, "%" PRIu64 " %s", j->id, cli_text(j->name));
	table_cell(t, "state");
	table_cellf(t, "%s%s%s", cli_text(j->state), j->why && j->why[0] ? ": " : "",
		    cli_text(j->why));
	table_cell(t, "priority");
	table_cellf(t, "%" PRIu32, j->priority);
	table_pair(t, "submitted", format_time(j->submitted_ns, time));
	if (j->ended_ns)
		table_pair(t, "ended", format_time(j->ended_ns, time));
	for (i = 0; i < r->n_warnings; i++)
		table_pair(t, i ? "" : "warnings", r->warnings[i]);
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
	print_groups(cli, r);
	print_slots(cli, r, all);
	(void)fputc('\n', cli->out);
	cli_accounting(cli, j->accounting);
}

int cmd_job_show(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__JobRequest q = KGRID__V1__JOB_REQUEST__INIT;
	const Kgrid__V1__JobReply *r;
	struct kg_msg *m;
	int rc = 0;

	q.has_job = 1;
	q.job = cli_args_job(args);
	m = cli_ask(cli, KG_MSG_JOB, &q.base, KG_MSG_JOB_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__JobReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &r->base);
	else if (cli_args_has(args, "file"))
		(void)fputs(cli_text(r->text), cli->out);
	else if (r->job)
		print_job(cli, r, cli_args_has(args, "slots"));
	kg_msg_free(m);
	return rc;
}

int cmd_job_cancel(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__JobCancelRequest q = KGRID__V1__JOB_CANCEL_REQUEST__INIT;

	q.has_job = 1;
	q.job = cli_args_job(args);
	return cli_change(cli, KG_MSG_JOB_CANCEL, &q.base, "cancelled");
}

int cmd_job_retry(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__JobRetryRequest q = KGRID__V1__JOB_RETRY_REQUEST__INIT;

	q.has_job = 1;
	q.job = cli_args_job(args);
	return cli_change(cli, KG_MSG_JOB_RETRY, &q.base, "put back to pending");
}

int cmd_kernel_rm(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__KernelRemove q = KGRID__V1__KERNEL_REMOVE__INIT;

	q.selector = (char *)(uintptr_t)cli_args_operand(args, 0);
	return cli_change(cli, KG_MSG_KERNEL_REMOVE, &q.base, "removed");
}
