/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a command line through the table of commands (commands.h). Pure. Global options may stand
 * anywhere, a command's own anywhere after its name, as --name value, --name=value, -n value or
 * -nvalue; "--" ends them.
 */
#ifndef KG_CLI_ARGS_H
#define KG_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/commands.h"
#include "common/err.h"

#define CLI_OPERANDS_MAX 64 /* a comment may be many words */
#define CLI_OPTIONS_MAX	 32

struct cli_given {
	const struct cli_option *option; /* borrows from the table */
	const char *value;		 /* borrows from argv; NULL for a flag */
};

struct cli_args {
	const struct cli_command *command; /* NULL: none was named */
	const char *prefix;		   /* a noun without its verb: "job"; else NULL */
	const char *operands[CLI_OPERANDS_MAX];
	size_t n_operands;
	struct cli_given given[CLI_OPTIONS_MAX];
	size_t n_given;
	char *const *rest; /* pass-through commands: the words after the name, NULL-terminated */
	size_t n_rest;
};

/* KG_EINVALID with a text that says what is wrong, with a suggestion. `argv` must outlive
 * `ret_args`. With --help or --version, missing operands are no error. */
int cli_args_parse(int argc, char *const *argv, struct cli_args *ret_args, struct kg_err *err);

/* Whether an option was given; the value of its last use, or NULL. Asking for an option that the
 * command does not have is a bug. */
bool cli_args_has(const struct cli_args *a, const char *name);
const char *cli_args_text(const struct cli_args *a, const char *name);
/* The value of its i-th use, from 0, for options that add up; NULL after the last. */
const char *cli_args_each(const struct cli_args *a, const char *name, size_t i);
/* Value of a number option, `preset` when it was not given. */
uint64_t cli_args_number(const struct cli_args *a, const char *name, uint64_t preset);
/* The operand, NULL when it was not given. */
const char *cli_args_operand(const struct cli_args *a, size_t i);
/* The JOB operand as a number; 0, the newest, when it was not given. */
uint64_t cli_args_job(const struct cli_args *a);
/* The JOB/CELL operand, which was checked when it was read. */
void cli_args_cell(const struct cli_args *a, uint64_t *ret_job, uint32_t *ret_cell);

#endif
