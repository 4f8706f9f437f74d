/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/manual.h"

#include <stdlib.h>
#include <string.h>

/*
 * Both completions are one function with two case statements: what may follow a command, and what
 * may follow an option that takes a value. Names of jobs, machines and kernels are asked of the
 * coordinator.
 */

static void options_words(struct kg_str *out, const struct cli_option *o)
{
	for (; o && o->name; o++) {
		kg_str_addf(out, " --%s", o->name);
		if (o->letter)
			kg_str_addf(out, " -%c", o->letter);
	}
}

/* The first words of all commands, each once. */
static void first_words(struct kg_str *out)
{
	const struct cli_command *c;
	const char *before = "";

	for (c = cli_commands; c->path; c++) {
		size_t len = strcspn(c->path, " ");

		if (strncmp(before, c->path, len) == 0 && strcspn(before, " ") == len)
			continue;
		kg_str_addn(out, " ", 1);
		kg_str_addn(out, c->path, len);
		before = c->path;
	}
}

static void second_words(struct kg_str *out, const char *noun, size_t len)
{
	const struct cli_command *c;

	for (c = cli_commands; c->path; c++)
		if (strncmp(c->path, noun, len) == 0 && c->path[len] == ' ')
			kg_str_addf(out, " %s", c->path + len + 1);
}

static const char *kind_word(enum cli_kind kind)
{
	switch (kind) {
	case CLI_FILE:
	case CLI_PATH:
		return "file";
	case CLI_FOLDER:
		return "folder";
	case CLI_JOB:
		return "job";
	case CLI_MACHINE:
		return "machine";
	case CLI_KERNEL:
		return "kernel";
	case CLI_VERB:
		return "verb";
	case CLI_CELL:
		return "cell";
	case CLI_SUBJECT:
		return "subject";
	case CLI_STANDING:
		return "standing";
	default:
		return "none";
	}
}

/* case "$verb" in ...: sets `words` and `kind` */
static void case_commands(struct kg_str *out)
{
	const struct cli_command *c;

	kg_str_add(out, "\tcase \"$verb\" in\n");
	for (c = cli_commands; c->path; c++) {
		const char *space = strchr(c->path, ' ');
		size_t len = space ? (size_t)(space - c->path) : 0;

		if (space && (c == cli_commands || strncmp(c[-1].path, c->path, len + 1) != 0)) {
			kg_str_addf(out, "\t\"%.*s\") offer=\"", (int)len, c->path);
			second_words(out, c->path, len);
			kg_str_add(out, "\" ;;\n");
		}
		kg_str_addf(out, "\t\"%s\") offer=\"$offer", c->path);
		options_words(out, c->options);
		if (c->pass_through)
			kg_str_add(out, " up down status console power kernels");
		kg_str_addf(out, "\" kind=%s ;;\n",
			    c->operands ? kind_word(c->operands[0].kind) : "none");
	}
	kg_str_add(out, "\t\"\") offer=\"$offer");
	first_words(out);
	kg_str_add(out, "\" ;;\n\tesac\n");
}

static void case_option(struct kg_str *out, const struct cli_option *o)
{
	size_t i;

	for (; o && o->name; o++) {
		if (o->kind == CLI_FLAG)
			continue;
		kg_str_addf(out, "\t--%s", o->name);
		if (o->letter)
			kg_str_addf(out, " | -%c", o->letter);
		kg_str_addf(out, ") kind=%s offer=\"", kind_word(o->kind));
		for (i = 0; o->choices && o->choices[i]; i++)
			kg_str_addf(out, "%s%s", i ? " " : "", o->choices[i]);
		kg_str_add(out, "\" ;;\n");
	}
}

static void case_options(struct kg_str *out)
{
	const struct cli_command *c;

	kg_str_add(out, "\tcase \"$before\" in\n");
	case_option(out, cli_global_options);
	kg_str_add(out, "\tesac\n\tcase \"$verb $before\" in\n");
	for (c = cli_commands; c->path; c++) {
		struct kg_str s = {0};
		char *line, *save = NULL, *text;

		case_option(&s, c->options);
		text = kg_str_take(&s);
		for (line = text ? strtok_r(text, "\n", &save) : NULL; line;
		     line = strtok_r(NULL, "\n", &save)) {
			const char *bar = strstr(line, " | ");
			const char *end = strchr(line, ')');

			if (bar && end && bar < end)
				kg_str_addf(out, "\t\"%s %.*s\" | \"%s %.*s\"%s\n", c->path,
					    (int)(bar - line - 1), line + 1, c->path,
					    (int)(end - bar - 3), bar + 3, end);
			else if (end)
				kg_str_addf(out, "\t\"%s %.*s\"%s\n", c->path,
					    (int)(end - line - 1), line + 1, end);
		}
		free(text);
	}
	kg_str_add(out, "\tesac\n");
}

/* Which words are names of the command; a value of a global option is none. */
static void scan_line(struct kg_str *out)
{
	const struct cli_option *o;

	kg_str_add(out, "\tfor ((i = 1; i < cword; i++)); do\n\t\tcase \"${line[i]}\" in\n\t\t");
	for (o = cli_global_options; o->name; o++) {
		if (o->kind == CLI_FLAG)
			continue;
		kg_str_addf(out, "--%s | ", o->name);
		if (o->letter)
			kg_str_addf(out, "-%c | ", o->letter);
	}
	kg_str_add(out, "--generate) ((i++)) ;;\n\t\t-*) ;;\n\t\t");
	kg_str_add(out, "*)\n\t\t\tcase \"$verb\" in\n\t\t\t\"\") verb=${line[i]} ;;\n\t\t\t");
	{
		const struct cli_command *c;
		bool first = true;

		for (c = cli_commands; c->path; c++) {
			const char *space = strchr(c->path, ' ');

			if (!space ||
			    (c > cli_commands &&
			     strncmp(c[-1].path, c->path, (size_t)(space - c->path) + 1) == 0))
				continue;
			kg_str_addf(out, "%s%.*s", first ? "" : " | ", (int)(space - c->path),
				    c->path);
			first = false;
		}
	}
	kg_str_add(out, ") verb=\"$verb ${line[i]}\" ;;\n\t\t\tesac\n\t\t\t;;\n\t\tesac\n\tdone\n");
}

static const char ask_names[] =
	"_kgrid_names() {\n"
	"\tcase \"$1\" in\n"
	"\tjob) kgrid jobs --csv 2>/dev/null | tail -n +2 | cut -d, -f1 ;;\n"
	"\tcell) kgrid jobs --csv 2>/dev/null | tail -n +2 | cut -d, -f1 | sed 's,$,/,' ;;\n"
	"\tstanding) kgrid standing list --csv 2>/dev/null | tail -n +2 | cut -d, -f1 ;;\n"
	"\tsubject) _kgrid_names job; _kgrid_names machine ;;\n"
	"\tmachine) kgrid machines --csv 2>/dev/null | tail -n +2 | cut -d, -f1 ;;\n"
	"\tkernel) kgrid kernels --csv 2>/dev/null | tail -n +2 | cut -d, -f2,3 | tr , '\\n' "
	"| grep . ;;\n";

static void common(struct kg_str *out)
{
	kg_str_add(out, ask_names);
	kg_str_add(out, "\tverb) echo");
	first_words(out);
	kg_str_add(out, " ;;\n\tesac\n}\n\n");
}

static void body(struct kg_str *out)
{
	scan_line(out);
	kg_str_add(out, "\toffer=\"");
	options_words(out, cli_global_options);
	kg_str_add(out, "\"\n");
	case_commands(out);
	case_options(out);
}

void manual_bash(struct kg_str *out)
{
	kg_str_add(out, "# SPDX-License-Identifier: GPL-2.0-or-later\n"
			"# bash completion of kgrid, made by 'kgrid --generate bash'\n\n");
	common(out);
	kg_str_add(out, "_kgrid() {\n"
			"\tlocal cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
			"\tlocal verb='' offer='' kind=none i cword=$COMP_CWORD\n"
			"\tlocal line=(\"${COMP_WORDS[@]}\")\n\n");
	body(out);
	kg_str_add(out, "\tcase \"$kind\" in\n"
			"\tfile) COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames ;;\n"
			"\tfolder) COMPREPLY=($(compgen -d -- \"$cur\")); compopt -o filenames ;;\n"
			"\tnone) COMPREPLY=() ;;\n"
			"\t*) offer=\"$offer $(_kgrid_names \"$kind\")\"; COMPREPLY=() ;;\n"
			"\tesac\n"
			"\tif [[ $kind != file && $kind != folder ]] || [[ $cur == -* ]]; then\n"
			"\t\tCOMPREPLY+=($(compgen -W \"$offer\" -- \"$cur\"))\n"
			"\tfi\n"
			"}\n\ncomplete -F _kgrid kgrid\n");
}

void manual_zsh(struct kg_str *out)
{
	kg_str_add(out, "#compdef kgrid\n"
			"# SPDX-License-Identifier: GPL-2.0-or-later\n"
			"# zsh completion of kgrid, made by 'kgrid --generate zsh'\n\n");
	common(out);
	kg_str_add(out, "_kgrid() {\n"
			"\tsetopt local_options ksh_arrays\n"
			"\tlocal verb='' before cword=$((CURRENT - 1)) i offer kind=none\n"
			"\tlocal -a line=(\"${words[@]}\")\n"
			"\tbefore=${line[cword-1]}\n\n");
	body(out);
	kg_str_add(out, "\tunsetopt ksh_arrays\n"
			"\tcase \"$kind\" in\n"
			"\tfile) _files ;;\n"
			"\tfolder) _files -/ ;;\n"
			"\tnone) ;;\n"
			"\t*) offer=\"$offer $(_kgrid_names \"$kind\")\" ;;\n"
			"\tesac\n"
			"\tcompadd -- ${=offer}\n"
			"}\n\n_kgrid \"$@\"\n");
}
