/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

/* man(7) source of text: a leading dot or quote is no request, - is a minus, \ is itself. With
 * `sentences` each of them begins a line. */
static void roff_text(struct kg_str *out, const char *text, bool sentences)
{
	bool begin = true;

	for (; *text; text++) {
		if (sentences && *text == ' ' && text[1] && !begin && strchr(".:;", text[-1])) {
			kg_str_add(out, "\n");
			begin = true;
			continue;
		}
		if (begin && (*text == '.' || *text == '\''))
			kg_str_add(out, "\\&");
		if (*text == '\\')
			kg_str_add(out, "\\(rs");
		else if (*text == '-')
			kg_str_add(out, "\\-");
		else if (*text == '\'')
			kg_str_add(out, "\\(aq");
		else
			kg_str_addn(out, text, 1);
		begin = *text == '\n';
	}
}

static void roff(struct kg_str *out, const char *text)
{
	roff_text(out, text, true);
}

static void roff_line(struct kg_str *out, const char *request, const char *text)
{
	kg_str_add(out, request);
	roff(out, text);
	kg_str_add(out, "\n");
}

static void roff_upper(struct kg_str *out, const char *path)
{
	kg_str_add(out, ".SS ");
	roff(out, path);
	kg_str_add(out, "\n");
}

/* Whether the last line is a heading, after which no paragraph has to begin. */
static bool after_heading(const struct kg_str *out)
{
	const char *p = out->text + out->len - 1;

	while (p > out->text && p[-1] != '\n')
		p--;
	return kg_str_starts(p, ".SH") || kg_str_starts(p, ".SS");
}

static void roff_paragraphs(struct kg_str *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		struct kg_str p = {0};

		kg_str_addn(&p, text, n);
		if (!after_heading(out))
			kg_str_add(out, ".PP\n");
		roff_line(out, "", kg_str_text(&p));
		kg_str_deinit(&p);
		text += n;
		text += *text == '\n';
	}
}

static void roff_options(struct kg_str *out, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		kg_str_add(out, ".TP\n");
		if (o->letter)
			kg_str_addf(out, "\\fB\\-%c\\fR, ", o->letter);
		kg_str_add(out, "\\fB\\-\\-");
		roff(out, o->name);
		kg_str_add(out, "\\fR");
		if (o->meta)
			kg_str_addf(out, " \\fI%s\\fR", o->meta);
		kg_str_add(out, "\n");
		roff_line(out, "", o->help);
	}
}

static void roff_usage(struct kg_str *out, const struct cli_command *c)
{
	const struct cli_operand *o;

	kg_str_add(out, "\\fBkgrid ");
	roff(out, c->path);
	kg_str_add(out, "\\fR");
	if (c->options)
		kg_str_add(out, " [\\fIOPTION\\fR]...");
	for (o = c->operands; o && o->name; o++)
		kg_str_addf(out, o->required ? " \\fI%s\\fR%s" : " [\\fI%s\\fR]%s", o->name,
			    o->repeated ? "..." : "");
	kg_str_add(out, "\n");
}

/* "Kgrid.V1.JobSummary" -> "JobSummary" */
static const char *short_name(const ProtobufCMessageDescriptor *d)
{
	return d->short_name;
}

static void roff_command(struct kg_str *out, const struct cli_command *c)
{
	const struct cli_operand *o;
	const struct cli_example *e;

	roff_upper(out, c->path);
	roff_usage(out, c);
	kg_str_add(out, ".PP\n");
	kg_str_addf(out, "%c", toupper((unsigned char)c->summary[0]));
	roff(out, c->summary + 1);
	kg_str_add(out, ".\n");
	roff_paragraphs(out, c->description);
	for (o = c->operands; o && o->name; o++) {
		kg_str_addf(out, ".TP\n\\fI%s\\fR\n", o->name);
		roff_line(out, "", o->help);
	}
	roff_options(out, c->options);
	if (c->exits)
		roff_line(out, ".PP\nExit status: ", c->exits);
	if (c->json || c->json_text)
		kg_str_add(out, ".PP\nWith \\fB\\-\\-json\\fR:");
	if (c->json)
		kg_str_addf(out, " \\fI%s\\fR.", short_name(c->json));
	if (c->json_text) {
		kg_str_add(out, " ");
		roff(out, c->json_text);
	}
	if (c->json || c->json_text)
		kg_str_add(out, "\n");
	for (e = c->examples; e && e->line; e++) {
		roff_line(out, ".PP\n", e->text);
		kg_str_add(out, ".RS 4\n.EX\n");
		roff_text(out, e->line, false); /* lines of an example stay as they are */
		kg_str_add(out, "\n.EE\n.RE\n");
	}
}

#define MESSAGES_MAX 128

struct seen {
	const ProtobufCMessageDescriptor *items[MESSAGES_MAX];
	size_t n;
};

/* Adds a message and those inside it, each once. */
static void collect(struct seen *s, const ProtobufCMessageDescriptor *d)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->items[i] == d)
			return;
	if (s->n == MESSAGES_MAX)
		return;
	s->items[s->n++] = d;
	for (i = 0; i < d->n_fields; i++)
		if (d->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
			collect(s, d->fields[i].descriptor);
}

static const char *type_text(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_ENUM:
		return "string";
	case PROTOBUF_C_TYPE_BOOL:
		return "boolean";
	case PROTOBUF_C_TYPE_MESSAGE:
		return short_name(f->descriptor);
	default:
		return "number";
	}
}

static void roff_json(struct kg_str *out)
{
	const struct cli_command *c;
	struct seen s = {0};
	size_t i, j;

	for (c = cli_commands; c->path; c++)
		if (c->json)
			collect(&s, c->json);
	kg_str_add(out, ".SH JSON\n");
	roff_paragraphs(
		out,
		"Every key is always there: null where nothing is known, [] where a list is empty. "
		"Keys are only ever added. Names that end in _ns are nanoseconds (of the realtime "
		"clock, where they say when), in _pct percent, in _bytes bytes. A number over "
		"9223372036854775807 is a string. Errors are text on standard error.");
	for (i = 0; i < s.n; i++) {
		const ProtobufCMessageDescriptor *d = s.items[i];

		kg_str_addf(out, ".TP\n\\fI%s\\fR\n", short_name(d));
		if (d->n_fields == 0)
			kg_str_add(out, "no keys");
		for (j = 0; j < d->n_fields; j++) {
			const ProtobufCFieldDescriptor *f = &d->fields[j];
			bool many = f->label == PROTOBUF_C_LABEL_REPEATED;

			kg_str_addf(out, "%s\\fB%s\\fR (%s%s)", j ? ",\n" : "", f->name,
				    many ? "list of " : "", type_text(f));
		}
		kg_str_add(out, "\n");
	}
}

static void roff_tail(struct kg_str *out)
{
	const struct cli_exit_text *e;
	const struct cli_variable *v;

	kg_str_add(out, ".SH EXIT STATUS\n");
	for (e = cli_exits; e->text; e++) {
		kg_str_addf(out, ".TP\n\\fB%d\\fR\n", e->code);
		roff_line(out, "", e->text);
	}
	kg_str_add(out, ".SH ENVIRONMENT\n");
	for (v = cli_variables; v->name; v++) {
		kg_str_addf(out, ".TP\n\\fB%s\\fR\n", v->name);
		roff_line(out, "", v->text);
	}
	kg_str_add(out, ".SH FILES\n.TP\n\\fI/run/kgrid/kgrid.sock\\fR\n");
	kg_str_add(out, "the coordinator's socket, when no other address is given\n");
	kg_str_add(out, ".SH SEE ALSO\n.BR kgrid-job (5),\n.BR kgrid-coordinator (8),\n"
			".BR kgrid-agent (8)\n");
}

static void manual_roff(struct kg_str *out)
{
	const struct cli_command *c;

	kg_str_add(out, ".\\\" Made from the table of commands by 'kgrid --generate man'.\n");
	kg_str_add(out, ".TH KGRID 1 \"2026-11-30\" \"kgrid " KGRID_VERSION "\" \"kgrid\"\n");
	kg_str_add(out, ".SH NAME\nkgrid \\- kernel performance test grid\n");
	kg_str_add(out, ".SH SYNOPSIS\n\\fBkgrid\\fR [\\fIOPTION\\fR]... \\fICOMMAND\\fR "
			"[\\fIARGUMENT\\fR]...\n");
	for (c = cli_commands; c->path; c++) {
		kg_str_add(out, ".br\n");
		roff_usage(out, c);
	}
	kg_str_add(out, ".SH DESCRIPTION\n");
	roff_paragraphs(
		out,
		"Runs performance workloads on every cell of a machine x kernel x lsm= x workload "
		"matrix, on machines that kexec into each kernel, proves what booted, and "
		"compares.\n"
		"Results go to standard output, all talk to standard error. Under every result "
		"stands the accounting line: the slots of the job are the sum of their outcomes "
		"and "
		"of those still pending, always.\n"
		"Positive is better in every comparison. Numbers of a machine with an instruction "
		"clock are counts of instructions, not times of a real CPU.");
	kg_str_add(out, ".SH OPTIONS\nThese stand anywhere on the command line.\n");
	roff_options(out, cli_global_options);
	kg_str_add(out, ".SH COMMANDS\n");
	for (c = cli_commands; c->path; c++)
		roff_command(out, c);
	roff_json(out);
	roff_tail(out);
}

int manual_generate(const char *what, struct kg_str *out, struct kg_err *err)
{
	if (strcmp(what, "man") == 0)
		manual_roff(out);
	else if (strcmp(what, "bash") == 0)
		manual_bash(out);
	else if (strcmp(what, "zsh") == 0)
		manual_zsh(out);
	else
		return kg_err_set(err, KG_EINVALID, "cannot generate '%s'; try man, bash or zsh",
				  what);
	return 0;
}
