/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one table of the kgrid command. Parsing, --help, the man page and the shell completions are
 * made from it, so they cannot differ. */
#ifndef KG_CLI_COMMANDS_H
#define KG_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

struct cli;
struct cli_args;

enum cli_kind {
	CLI_FLAG, /* an option without a value */
	CLI_TEXT,
	CLI_LINE,   /* a text that may be empty */
	CLI_NUMBER, /* whole number from 1 */
	CLI_CHOICE,
	CLI_FILE,
	CLI_FOLDER,
	CLI_PATH, /* file or folder */
	CLI_JOB,  /* number of a job */
	CLI_MACHINE,
	CLI_KERNEL, /* label, release or digest prefix */
	CLI_VERB,
	CLI_CELL,     /* JOB/CELL, two numbers */
	CLI_SUBJECT,  /* JOB, JOB/CELL or the name of a machine */
	CLI_STANDING, /* number of a standing job */
};

struct cli_option {
	const char *name; /* without dashes; NULL ends a list */
	char letter;	  /* 0: none */
	enum cli_kind kind;
	const char *meta;	    /* what the help calls the value */
	const char *const *choices; /* CLI_CHOICE: NULL-terminated */
	const char *help;
};

/* For those that print tables. */
#define OPTION_CSV                                                                          \
	{                                                                                   \
		"csv", 0, CLI_FLAG, NULL, NULL, "print CSV with a line of names (RFC 4180)" \
	}

struct cli_operand {
	const char *name; /* NULL ends a list */
	enum cli_kind kind;
	bool required;
	bool repeated; /* the last one may */
	const char *help;
};

struct cli_example {
	const char *line; /* NULL ends a list */
	const char *text;
};

struct cli_command {
	const char *path;		    /* "job show"; NULL ends the table */
	const char *summary;		    /* half a line, no full stop */
	const char *description;	    /* paragraphs, separated by newlines */
	const struct cli_operand *operands; /* NULL: none */
	const struct cli_option *options;   /* NULL: none; the global ones come on top */
	const struct cli_example *examples; /* NULL: none */
	const char *exits; /* what exit codes mean here beyond the general list; NULL: nothing */
	const ProtobufCMessageDescriptor *json; /* document that --json prints; NULL: see text */
	const char *json_text;			/* said of --json besides; NULL: nothing */
	bool pass_through;			/* words after the name are not read here */
	int (*run)(struct cli *cli, const struct cli_args *args); /* enum cli_exit */
};

extern const struct cli_command cli_commands[];
extern const struct cli_option cli_global_options[];

struct cli_exit_text {
	int code;
	const char *text; /* NULL ends the list */
};
extern const struct cli_exit_text cli_exits[];

struct cli_variable {
	const char *name; /* NULL ends the list */
	const char *text;
};
extern const struct cli_variable cli_variables[];

#endif
