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

/* "job 3", "jobs 3 and 4" */
static void after_text(const Kgrid__V1__JobSummary *j, struct kg_str *out)
{
	size_t i;

	kg_str_add(out, j->n_after == 1 ? "job" : "jobs");
	for (i = 0; i < j->n_after; i++)
		kg_str_addf(out, "%s %" PRIu64,
			    i == 0		  ? ""
			    : i + 1 == j->n_after ? " and"
						  : ",",
			    j->after[i]);
}

static void job_row(struct table *t, const Kgrid__V1__JobSummary *j, bool users)
{
	struct kg_str s = {0};
	char time[FORMAT_SIZE];

	table_cellf(t, "%" PRIu64, j->id);
	table_cell(t, j->name);
	if (users)
		table_cell(t, j->user && j->user[0] ? j->user : "-");
	table_cell(t, format_job_state(j));
	table_cell(t, format_time(j->submitted_ns, time));
	format_accounting(j->accounting, &s);
	if (j->why && j->why[0]) {
		kg_str_addf(&s, "; %s", j->why);
	} else if (j->n_after > 0 && kg_streq(j->state, "queued")) {
		kg_str_add(&s, "; waits for ");
		after_text(j, &s);
	}
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
}

static void print_jobs(struct cli *cli, const Kgrid__V1__JobsReply *r)
{
	struct kg_str s = {0};
	bool users = false;
	struct table *t;
	size_t i;

	for (i = 0; i < r->n_jobs; i++)
		users = users || (r->jobs[i]->user && r->jobs[i]->user[0]);
	t = table_new(users ? "rlllll" : "rllll");
	table_title(t, "JOB");
	table_title(t, "NAME");
	if (users)
		table_title(t, "USER");
	table_title(t, "STATE");
	table_title(t, "SUBMITTED");
	table_title(t, "SLOTS");
	for (i = 0; i < r->n_jobs; i++)
		job_row(t, r->jobs[i], users);
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

/* Counts of a machine x kernel x lsm x variant x peer, or of a cell. */
struct group {
	const Kgrid__V1__SlotInfo *first;
	Kgrid__V1__Accounting accounting;
	Kgrid__V1__OutcomeCount *counts; /* owned */
};

static bool same_group(const Kgrid__V1__SlotInfo *a, const Kgrid__V1__SlotInfo *b)
{
	return kg_streq(a->machine, b->machine) && kg_streq(a->kernel, b->kernel) &&
	       kg_streq(a->lsm, b->lsm) && kg_streq(cli_text(a->variant), cli_text(b->variant)) &&
	       kg_streq(cli_text(a->peer), cli_text(b->peer));
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

/* Which of the columns that most jobs do not need have something in them. */
struct columns {
	bool variant, peer, cell;
};

static struct columns columns_of(const Kgrid__V1__JobReply *r)
{
	struct columns c = {0};
	size_t i;

	for (i = 0; i < r->n_slots; i++) {
		const Kgrid__V1__SlotInfo *x = r->slots[i];

		c.variant = c.variant || (x->variant && x->variant[0]);
		c.peer = c.peer || (x->peer && x->peer[0]);
		c.cell = c.cell || x->cell;
	}
	return c;
}

static void outcome_cell(struct table *t, struct group *g)
{
	Kgrid__V1__OutcomeCount **list = cli_alloc(g->accounting.n_outcomes, sizeof(*list));
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < g->accounting.n_outcomes; i++)
		list[i] = &g->counts[i];
	g->accounting.outcomes = list;
	format_accounting(&g->accounting, &s);
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
	free(list);
}

static void group_row(struct table *t, struct group *g, const struct columns *c)
{
	table_cell(t, g->first->machine);
	if (c->peer)
		table_cell(t, g->first->peer && g->first->peer[0] ? g->first->peer : "-");
	table_cell(t, g->first->kernel);
	table_cell(t, g->first->lsm);
	if (c->variant)
		table_cell(t, g->first->variant);
	outcome_cell(t, g);
}

static struct table *group_table(const struct columns *c)
{
	struct table *t = table_new(c->variant && c->peer   ? "llllll"
				    : c->variant || c->peer ? "lllll"
							    : "llll");

	table_title(t, "MACHINE");
	if (c->peer)
		table_title(t, "PEER");
	table_title(t, "KERNEL");
	table_title(t, "LSM");
	if (c->variant)
		table_title(t, "VARIANT");
	table_title(t, "SLOTS");
	return t;
}

static void render(struct cli *cli, const struct table *t, const char *above)
{
	struct kg_str s = {0};

	kg_str_add(&s, above);
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	kg_str_deinit(&s);
}

static void print_groups(struct cli *cli, const Kgrid__V1__JobReply *r)
{
	const struct columns c = columns_of(r);
	struct table *t = group_table(&c);
	struct group *groups = NULL;
	size_t n = 0, g = 0, i;

	for (i = 0; i < r->n_slots; i++) {
		/* mostly that of the slot before */
		if (g >= n || !same_group(groups[g].first, r->slots[i]))
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
	for (g = 0; g < n; g++) {
		group_row(t, &groups[g], &c);
		free(groups[g].counts);
	}
	render(cli, t, "\n");
	table_free(t);
	free(groups);
}

/* "6.1/nt", "6.1/nt+mitigations=off" */
static void kernel_cell(struct table *t, const Kgrid__V1__SlotInfo *x)
{
	struct kg_str s = {0};

	format_column(x->kernel, x->lsm, &s);
	if (x->variant && x->variant[0])
		kg_str_addf(&s, "+%s", x->variant);
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
}

static void workload_cell(struct table *t, const Kgrid__V1__SlotInfo *x)
{
	struct kg_str s = {0};

	kg_str_addf(&s, "%s%s%s%s", cli_text(x->workload), x->params && x->params[0] ? " " : "",
		    cli_text(x->params), x->canary ? " (canary)" : "");
	if (x->peer && x->peer[0])
		kg_str_addf(&s, " with %s", x->peer);
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
}

/* Numbers of cells are small and dense: from 1 to as many as there are. */
static void print_cells(struct cli *cli, const Kgrid__V1__JobReply *r)
{
	static const char *const titles[] = {"CELL", "MACHINE", "KERNEL/LSM", "WORKLOAD", "SLOTS"};
	struct table *t = table_new("rllll");
	struct group *cells = NULL;
	size_t n = 0, i;

	for (i = 0; i < r->n_slots; i++)
		n = r->slots[i]->cell > n ? r->slots[i]->cell : n;
	if (n > r->n_slots)
		n = 0; /* no such numbers */
	cells = cli_alloc(n + 1, sizeof(*cells));
	for (i = 0; i < r->n_slots; i++) {
		struct group *g = &cells[r->slots[i]->cell <= n ? r->slots[i]->cell : 0];

		if (!g->first)
			*g = (struct group){r->slots[i], KGRID__V1__ACCOUNTING__INIT, NULL};
		count_slot(g, r->slots[i]);
	}
	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 1; i <= n; i++) {
		if (!cells[i].first)
			continue;
		table_cellf(t, "%zu", i);
		table_cell(t, cells[i].first->machine);
		kernel_cell(t, cells[i].first);
		workload_cell(t, cells[i].first);
		outcome_cell(t, &cells[i]);
	}
	if (table_rows(t) > 0)
		render(cli, t, "\n");
	else
		cli_say(cli, "the coordinator does not number the cells of this job");
	for (i = 0; i <= n; i++)
		free(cells[i].counts);
	table_free(t);
	free(cells);
}

static void add_number(struct table *t, uint64_t v)
{
	if (v)
		table_cellf(t, "%" PRIu64, v);
	else
		table_cell(t, "-");
}

static struct table *slot_table(const struct columns *c)
{
	static const char *const titles[] = {"SLOT",	   "CELL",     "MACHINE", "BLOCK",
					     "KERNEL/LSM", "WORKLOAD", "OUTCOME", "TRIES",
					     "BOOT",	   "ATTEMPT",  "REASON"};
	struct table *t = table_new(c->cell ? "rrlrlllrrrl" : "rlrlllrrrl");
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (i != 1 || c->cell)
			table_title(t, titles[i]);
	return t;
}

static void slot_row(struct table *t, const Kgrid__V1__SlotInfo *x, const struct columns *c)
{
	bool pass = kg_streq(x->outcome, "pass");

	add_number(t, x->slot);
	if (c->cell)
		add_number(t, x->cell);
	table_cell(t, x->machine);
	add_number(t, x->block);
	kernel_cell(t, x);
	workload_cell(t, x);
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

static void print_slots(struct cli *cli, const Kgrid__V1__JobReply *r, bool all)
{
	const struct columns c = columns_of(r);
	struct table *t = slot_table(&c);
	size_t i;

	for (i = 0; i < r->n_slots; i++) {
		const Kgrid__V1__SlotInfo *x = r->slots[i];

		/* of what was skipped, "stopped" says why, once for all */
		if (all || !(kg_streq(x->outcome, "pass") || kg_streq(x->outcome, "skipped") ||
			     is_pending(x)))
			slot_row(t, x, &c);
	}
	if (table_rows(t) > 0)
		render(cli, t, all ? "\n" : "\nwithout a valid result:\n");
	table_free(t);
}

static void print_summary(struct cli *cli, const Kgrid__V1__JobReply *r)
{
	const Kgrid__V1__JobSummary *j = r->job;
	struct table *t = table_new("ll");
	struct kg_str s = {0};
	char time[FORMAT_SIZE];
	size_t i;

	kg_str_addf(&s, "%" PRIu64 " %s", j->id, cli_text(j->name));
	table_pair(t, "job", kg_str_text(&s));
	kg_str_clear(&s);
	format_state_why(format_job_state(j), j->why, &s);
	table_pair(t, "state", kg_str_text(&s));
	if (j->user && j->user[0])
		table_pair(t, "user", j->user);
	table_cell(t, "priority");
	table_cellf(t, "%" PRIu32, j->priority);
	table_pair(t, "submitted", format_time(j->submitted_ns, time));
	if (j->ended_ns)
		table_pair(t, "ended", format_time(j->ended_ns, time));
	if (j->n_after > 0) {
		kg_str_clear(&s);
		after_text(j, &s);
		table_pair(t, "after", kg_str_text(&s));
	}
	if (j->standing) {
		table_cell(t, "made by");
		table_cellf(t, "standing job %" PRIu64, j->standing);
	}
	for (i = 0; i < r->n_files; i++)
		table_pair(t, i ? "" : "includes", r->files[i]->name);
	for (i = 0; i < j->n_stops; i++)
		table_pair(t, i ? "" : "stopped", j->stops[i]);
	for (i = 0; i < r->n_warnings; i++)
		table_pair(t, i ? "" : "warnings", r->warnings[i]);
	render(cli, t, "");
	table_free(t);
	kg_str_deinit(&s);
}

static void print_job(struct cli *cli, const Kgrid__V1__JobReply *r, bool slots, bool cells)
{
	print_summary(cli, r);
	if (cells)
		print_cells(cli, r);
	else
		print_groups(cli, r);
	print_slots(cli, r, slots);
	(void)fputc('\n', cli->out);
	cli_accounting(cli, r->job->accounting);
}

static void print_csv(struct cli *cli, const Kgrid__V1__JobReply *r)
{
	struct kg_str s = {0};

	csv_messages(&s, &kgrid__v1__slot_info__descriptor, r->n_slots,
		     (ProtobufCMessage *const *)r->slots);
	cli_print(cli, &s);
	kg_str_deinit(&s);
	if (r->job)
		cli_accounting(cli, r->job->accounting);
}

static void print_file(struct cli *cli, const Kgrid__V1__JobReply *r)
{
	(void)fputs(cli_text(r->text), cli->out);
	if (r->n_files > 0)
		cli_say(cli, "it includes %zu file%s, which --json has too", r->n_files,
			r->n_files == 1 ? "" : "s");
}

int cmd_job_show(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__JobRequest q = KGRID__V1__JOB_REQUEST__INIT;
	const Kgrid__V1__JobReply *r;
	struct kg_msg *m;
	int rc = 0;

	cli->csv = cli_args_has(args, "csv");
	if (cli->csv && (cli->json || cli_args_has(args, "file"))) {
		cli_say(cli, "'--csv' and '--%s' do not go together; leave one out",
			cli->json ? "json" : "file");
		return CLI_EXIT_USAGE;
	}
	q.has_job = 1;
	q.job = cli_args_job(args);
	m = cli_ask(cli, KG_MSG_JOB, &q.base, KG_MSG_JOB_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__JobReply *)kg_msg_body(m);
	if (cli->json)
		cli_print_json(cli, &r->base);
	else if (cli_args_has(args, "file"))
		print_file(cli, r);
	else if (cli->csv)
		print_csv(cli, r);
	else if (r->job)
		print_job(cli, r, cli_args_has(args, "slots"), cli_args_has(args, "cells"));
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
