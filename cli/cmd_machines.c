/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/diff_text.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/width.h"
#include "common/clock.h"
#include "coordinator/plan/predicate.h"

#define UNSUPPORTED "unsupported" /* as provenance says it */

/* "running job 3, boot 12, run" or when it was last seen */
static void doing(const Kgrid__V1__MachineInfo *x, struct kg_str *out)
{
	char ago[FORMAT_SIZE];

	kg_str_clear(out);
	if (x->job) {
		kg_str_addf(out, "job %" PRIu64, x->job);
		if (x->boot)
			kg_str_addf(out, ", boot %" PRIu64, x->boot);
		if (x->stage && x->stage[0])
			kg_str_addf(out, ", %s", x->stage);
	} else if (!kg_streq(x->state, "idle")) {
		kg_str_addf(out, "seen %s", format_ago(x->last_seen_ns, kg_realtime_ns(), ago));
	}
}

/* What a machine did not tell is no number, and no 0. */
static void number_cell(struct table *t, bool has, uint32_t value, const char *without)
{
	if (has)
		table_cellf(t, "%" PRIu32, value);
	else
		table_cell(t, without);
}

static bool is_reserved(const Kgrid__V1__MachineInfo *x)
{
	return x->reserved_by && x->reserved_by[0];
}

/* In service is what a machine is when nothing is said. */
static bool out_of_service(const Kgrid__V1__MachineInfo *x)
{
	return x->service && x->service[0] && !kg_streq(x->service, "normal");
}

/* "by kai until 2026-11-30 17:25:03: bisecting" */
static void reservation(const Kgrid__V1__MachineInfo *x, struct kg_str *out)
{
	char time[FORMAT_SIZE];

	kg_str_addf(out, "by %s", x->reserved_by);
	if (x->reserved_until_ns)
		kg_str_addf(out, " until %s", format_time(x->reserved_until_ns, time));
	if (x->reserved_why && x->reserved_why[0])
		kg_str_addf(out, ": %s", x->reserved_why);
}

static void service(const Kgrid__V1__MachineInfo *x, struct kg_str *out)
{
	kg_str_add(out, x->service && x->service[0] ? x->service : "normal");
	if (x->service_why && x->service_why[0])
		kg_str_addf(out, ": %s", x->service_why);
}

/* Which of the columns that most grids do not need have something in them. */
struct columns {
	bool service, reserved;
};

static void machine_row(struct table *t, const Kgrid__V1__MachineInfo *x, const struct columns *c)
{
	struct kg_str s = {0};
	char size[FORMAT_SIZE];

	table_cell(t, x->name);
	table_styled(t, kg_streq(x->state, "offline") ? TABLE_BAD : TABLE_GOOD, x->state);
	if (c->service) {
		service(x, &s);
		table_styled(t, out_of_service(x) ? TABLE_BAD : TABLE_PLAIN, kg_str_text(&s));
	}
	table_cell(t, x->cpu_name);
	number_cell(t, x->has_cpus, x->cpus, "-");
	table_cell(t, x->has_memory_bytes ? format_bytes(x->memory_bytes, size) : "-");
	table_cell(t, x->clock);
	table_cell(t, x->kernel_release);
	if (c->reserved) {
		kg_str_clear(&s);
		if (is_reserved(x))
			reservation(x, &s);
		table_cell(t, kg_str_text(&s));
	}
	doing(x, &s);
	table_cell(t, kg_str_text(&s));
	kg_str_deinit(&s);
}

static void print_machines(struct cli *cli, const Kgrid__V1__MachinesReply *r)
{
	struct columns c = {0};
	struct kg_str s = {0};
	struct table *t;
	size_t i;

	for (i = 0; i < r->n_machines; i++) {
		c.service = c.service || out_of_service(r->machines[i]);
		c.reserved = c.reserved || is_reserved(r->machines[i]);
	}
	kg_str_addf(&s, "ll%slrrll%sl", c.service ? "l" : "", c.reserved ? "l" : "");
	t = table_new(kg_str_text(&s));
	table_title(t, "MACHINE");
	table_title(t, "STATE");
	if (c.service)
		table_title(t, "SERVICE");
	table_title(t, "CPU");
	table_title(t, "CPUS");
	table_title(t, "MEMORY");
	table_title(t, "CLOCK");
	table_title(t, "KERNEL");
	if (c.reserved)
		table_title(t, "RESERVED");
	table_title(t, "DOING");
	for (i = 0; i < r->n_machines; i++)
		machine_row(t, r->machines[i], &c);
	kg_str_clear(&s);
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

/* Says what is wrong with a predicate, with a mark below the place: "column N: text". */
static void predicate_fault(struct cli *cli, const char *text, const struct kg_err *err)
{
	struct kg_str before = {0}, line = {0};
	uint64_t column = 0;
	const char *colon = strchr(err->text, ':');
	char number[24];

	if (kg_str_starts(err->text, "column ") && colon) {
		(void)snprintf(number, sizeof(number), "%.*s", (int)(colon - err->text - 7),
			       err->text + 7);
		if (kg_parse_u64(number, &column) < 0 || column > strlen(text) + 1)
			column = 0;
	}
	cli_say(cli, "'--where': %s", err->text);
	if (column == 0)
		return;
	text_clean(&line, text, strlen(text), false);
	text_clean(&before, text, column - 1, false);
	(void)fprintf(cli->err, "  %s\n  %*s^\n", kg_str_text(&line),
		      (int)text_width(kg_str_text(&before)), "");
	kg_str_deinit(&before);
	kg_str_deinit(&line);
}

static bool predicate_fine(struct cli *cli, const char *text)
{
	struct predicate *p = NULL;
	struct kg_err err = {{0}};

	if (!kg_utf8_valid(text, strlen(text))) {
		cli_say(cli, "'--where': not in UTF-8");
		return false;
	}
	if (predicate_parse(text, NULL, &p, &err) < 0) {
		predicate_fault(cli, text, &err);
		return false;
	}
	predicate_free(p);
	return true;
}

int cmd_machines(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__MachinesRequest q = KGRID__V1__MACHINES_REQUEST__INIT;
	const Kgrid__V1__MachinesReply *r;
	struct kg_str s = {0};
	struct kg_msg *m;
	int rc = 0;

	q.where = (char *)(uintptr_t)cli_args_text(args, "where");
	if (q.where && !predicate_fine(cli, q.where))
		return CLI_EXIT_USAGE;
	m = cli_ask(cli, KG_MSG_MACHINES, &q.base, KG_MSG_MACHINES_REPLY, CLIENT_ANSWER_MS, &rc);
	if (!m)
		return rc;
	r = (const Kgrid__V1__MachinesReply *)kg_msg_body(m);
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else if (cli_args_has(args, "csv")) {
		csv_messages(&s, &kgrid__v1__machine_info__descriptor, r->n_machines,
			     (ProtobufCMessage *const *)r->machines);
		cli_print(cli, &s);
	} else if (r->n_machines > 0) {
		print_machines(cli, r);
	}
	if (r->n_machines == 0 && q.where) {
		cli_say(cli, "no machine fits '%s'; 'kgrid machines' lists them all", q.where);
		rc = CLI_EXIT_NODATA;
	} else if (r->n_machines == 0) {
		cli_say(cli, "no machines: no agent has joined yet ('kgrid lab up' starts virtual "
			     "ones, kgrid-agent(8) says how real ones join)");
		rc = CLI_EXIT_NODATA;
	}
	kg_str_deinit(&s);
	kg_msg_free(m);
	return rc;
}

static void pair_joined(struct table *t, const char *key, size_t n, char *const *texts)
{
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < n; i++)
		kg_str_addf(&s, "%s%s", i ? ", " : "", texts[i]);
	table_pair(t, key, n ? kg_str_text(&s) : "-");
	kg_str_deinit(&s);
}

static const char *or_unsupported(const char *text)
{
	return text && text[0] ? text : UNSUPPORTED;
}

static void print_facts(struct cli *cli, const Kgrid__V1__MachineInfo *x)
{
	struct table *t = table_new("ll");
	struct kg_str s = {0};
	char text[FORMAT_SIZE];

	table_pair(t, "machine", cli_text(x->name));
	table_pair(t, "state", cli_text(x->state));
	doing(x, &s);
	if (s.len > 0)
		table_pair(t, "doing", kg_str_text(&s));
	kg_str_clear(&s);
	service(x, &s);
	if (out_of_service(x))
		table_pair(t, "service", kg_str_text(&s));
	kg_str_clear(&s);
	if (is_reserved(x)) {
		reservation(x, &s);
		table_pair(t, "reserved", kg_str_text(&s));
	}
	table_pair(t, "last seen", format_time(x->last_seen_ns, text));
	table_pair(t, "cpu", or_unsupported(x->cpu_name));
	table_cell(t, "vendor");
	if (x->has_cpu_family && x->has_cpu_model && x->has_cpu_stepping)
		table_cellf(t, "%s, family %" PRIu32 ", model %" PRIu32 ", stepping %" PRIu32,
			    or_unsupported(x->cpu_vendor), x->cpu_family, x->cpu_model,
			    x->cpu_stepping);
	else
		table_cell(t, or_unsupported(x->cpu_vendor));
	if (x->microarchitecture && x->microarchitecture[0])
		table_pair(t, "microarch", x->microarchitecture);
	table_pair(t, "microcode", or_unsupported(x->microcode));
	table_cell(t, "cpus");
	number_cell(t, x->has_cpus, x->cpus, UNSUPPORTED);
	table_cell(t, "sockets");
	number_cell(t, x->has_sockets && x->sockets, x->sockets, UNSUPPORTED);
	table_cell(t, "numa");
	number_cell(t, x->has_numa_nodes && x->numa_nodes, x->numa_nodes, UNSUPPORTED);
	table_pair(t, "memory",
		   x->has_memory_bytes ? format_bytes(x->memory_bytes, text) : UNSUPPORTED);
	table_pair(t, "kernel", cli_text(x->kernel_release));
	table_cell(t, "clock");
	table_cellf(t, "%s%s", cli_text(x->clock),
		    kg_streq(x->clock, "instruction")
			    ? ": counts of instructions, not time of a real CPU"
			    : "");
	table_pair(t, "address", x->address && x->address[0] ? x->address : "-");
	pair_joined(t, "tags", x->n_tags, x->tags);
	kg_str_clear(&s);
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

static void print_workloads(struct cli *cli, const Kgrid__V1__MachineInfo *x)
{
	static const char *const titles[] = {"WORKLOAD", "VERSION", "DIGEST", "STATE"};
	struct table *t = table_new("llll");
	struct kg_str s = {0};
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < x->n_workloads; i++) {
		const Kgrid__V1__WorkloadState *w = x->workloads[i];

		table_cell(t, w->name);
		table_cell(t, w->version);
		table_cellf(t, "%.12s", cli_text(w->digest));
		if (w->available)
			table_styled(t, TABLE_GOOD, "available");
		else
			table_cellf(t, "missing: %s", cli_text(w->missing));
	}
	kg_str_add(&s, "\n");
	table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

static void print_events(struct cli *cli, const Kgrid__V1__MachineInfo *x)
{
	struct table *t = table_new("l");
	struct kg_str s = {0};
	size_t i;

	table_title(t, "\nEVENTS");
	for (i = 0; i < x->n_events; i++)
		table_cell(t, x->events[i]);
	if (i > 0)
		table_render(t, 0, cli->width, cli->color, &s);
	cli_print(cli, &s);
	table_free(t);
	kg_str_deinit(&s);
}

/* The epoch it is in and what made it one. A coordinator that has no epochs says nothing here. */
static void print_epoch(struct cli *cli, struct client *c, const Kgrid__V1__MachineInfo *x)
{
	Kgrid__V1__EpochsRequest q = KGRID__V1__EPOCHS_REQUEST__INIT;
	struct diff_look look = {.width = cli->width, .color = cli->color};
	const Kgrid__V1__EpochsReply *r;
	struct kg_err err = {{0}};
	struct kg_str s = {0};
	struct kg_msg *m;

	q.machine = x->name;
	if (client_call(c, KG_MSG_EPOCHS, &q.base, KG_MSG_EPOCHS_REPLY, CLIENT_ANSWER_MS, &m,
			&err) < 0)
		return;
	r = (const Kgrid__V1__EpochsReply *)kg_msg_body(m);
	if (r->n_epochs > 0) {
		kg_str_add(&s, "\n");
		epochs_text(1, r->epochs + r->n_epochs - 1, &look, &s);
		cli_print(cli, &s);
	}
	kg_str_deinit(&s);
	kg_msg_free(m);
}

int cmd_machine_show(struct cli *cli, const struct cli_args *args)
{
	Kgrid__V1__MachineRequest q = KGRID__V1__MACHINE_REQUEST__INIT;
	const Kgrid__V1__MachineReply *r;
	struct kg_err err = {{0}};
	struct kg_msg *m = NULL;
	struct client *c;
	int rc = 0;

	c = cli_connect(cli, &rc);
	if (!c)
		return rc;
	q.name = (char *)(uintptr_t)cli_args_operand(args, 0);
	rc = client_call(c, KG_MSG_MACHINE, &q.base, KG_MSG_MACHINE_REPLY, CLIENT_ANSWER_MS, &m,
			 &err);
	if (rc < 0) {
		rc = cli_fail(cli, c, rc, &err);
		client_close(c);
		return rc;
	}
	r = (const Kgrid__V1__MachineReply *)kg_msg_body(m);
	if (cli->json) {
		cli_print_json(cli, &r->base);
	} else if (r->machine) {
		print_facts(cli, r->machine);
		print_epoch(cli, c, r->machine);
		print_workloads(cli, r->machine);
		print_events(cli, r->machine);
	}
	client_close(c);
	kg_msg_free(m);
	return CLI_EXIT_OK;
}
