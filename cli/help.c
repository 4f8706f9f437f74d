/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/manual.h"

#include <string.h>

#include "cli/table.h"

static const char indent_text[] = "  ";

static void heading(struct kg_str *out, const char *text)
{
	kg_str_addf(out, "\n%s:\n", text);
}

void manual_usage(const struct cli_command *c, struct kg_str *out)
{
	const struct cli_operand *o;

	kg_str_addf(out, "kgrid %s", c->path);
	if (c->options)
		kg_str_add(out, " [OPTION]...");
	for (o = c->operands; o && o->name; o++)
		kg_str_addf(out, o->required ? " %s%s" : " [%s]%s", o->name,
			    o->repeated ? "..." : "");
}

/* An aligned list of terms and texts, texts wrapped. */
static void print_list(struct table *t, size_t width, struct kg_str *out)
{
	table_render(t, sizeof(indent_text) - 1, width, false, out);
	table_free(t);
}

static void add_options(struct table *t, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		struct kg_str term = {0};

		if (o->letter)
			kg_str_addf(&term, "-%c, --%s", o->letter, o->name);
		else
			kg_str_addf(&term, "    --%s", o->name);
		if (o->meta)
			kg_str_addf(&term, " %s", o->meta);
		table_pair(t, kg_str_text(&term), o->help);
		kg_str_deinit(&term);
	}
}

static void paragraphs(const char *text, size_t width, struct kg_str *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		struct kg_str p = {0};

		kg_str_addn(&p, text, n);
		kg_str_add(out, "\n");
		text_wrap(out, kg_str_text(&p), 0, 0, width);
		kg_str_deinit(&p);
		text += n;
		text += *text == '\n';
	}
}

static void add_examples(const struct cli_example *e, struct kg_str *out)
{
	if (!e)
		return;
	heading(out, "Examples");
	for (; e->line; e++)
		kg_str_addf(out, "%s%s\n%s    %s\n", indent_text, e->line, indent_text, e->text);
}

void manual_command(const struct cli_command *c, size_t width, struct kg_str *out)
{
	const struct cli_operand *o;
	struct table *t;

	kg_str_add(out, "usage: ");
	manual_usage(c, out);
	kg_str_addf(out, "\n\n%s\n", c->summary);
	paragraphs(c->description, width, out);
	if (c->operands) {
		heading(out, "Operands");
		t = table_new("ll");
		for (o = c->operands; o->name; o++)
			table_pair(t, o->name, o->help);
		print_list(t, width, out);
	}
	if (c->options) {
		heading(out, "Options");
		t = table_new("ll");
		add_options(t, c->options);
		print_list(t, width, out);
	}
	heading(out, "Options of every command");
	t = table_new("ll");
	add_options(t, cli_global_options);
	print_list(t, width, out);
	add_examples(c->examples, out);
	if (c->exits) {
		heading(out, "Exit status");
		kg_str_add(out, indent_text);
		text_wrap(out, c->exits, 2, 2, width);
	}
}

static void command_list(const char *noun, size_t width, struct kg_str *out)
{
	const struct cli_command *c;
	struct table *t = table_new("ll");
	size_t len = noun ? strlen(noun) : 0;

	for (c = cli_commands; c->path; c++) {
		struct kg_str term = {0};
		const struct cli_operand *o;

		if (noun && (strncmp(c->path, noun, len) != 0 || c->path[len] != ' '))
			continue;
		kg_str_add(&term, c->path);
		for (o = c->operands; o && o->name; o++)
			kg_str_addf(&term, o->required ? " %s" : " [%s]", o->name);
		table_pair(t, kg_str_text(&term), c->summary);
		kg_str_deinit(&term);
	}
	print_list(t, width, out);
}

void manual_noun(const char *noun, size_t width, struct kg_str *out)
{
	kg_str_addf(out, "usage: kgrid %s COMMAND\n", noun);
	heading(out, "Commands");
	command_list(noun, width, out);
}

void manual_overview(size_t width, struct kg_str *out)
{
	const struct cli_exit_text *e;
	struct table *t;

	kg_str_add(out, "usage: kgrid [OPTION]... COMMAND [ARGUMENT]...\n\n");
	text_wrap(out,
		  "Runs performance workloads on every machine x kernel x lsm= of a job, each "
		  "reached by a real kexec and proven, and says what made what slower.",
		  0, 0, width);
	heading(out, "Commands");
	command_list(NULL, width, out);
	heading(out, "Options");
	t = table_new("ll");
	add_options(t, cli_global_options);
	print_list(t, width, out);
	heading(out, "Exit status");
	t = table_new("rl");
	for (e = cli_exits; e->text; e++) {
		table_cellf(t, "%d", e->code);
		table_cell(t, e->text);
	}
	print_list(t, width, out);
	kg_str_add(out, "\n'kgrid COMMAND --help' explains a command, kgrid(1) all of them.\n");
}
