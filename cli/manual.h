/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything that is made from the table of commands (commands.h). Pure. */
#ifndef KG_CLI_MANUAL_H
#define KG_CLI_MANUAL_H

#include "cli/commands.h"
#include "common/err.h"
#include "common/str.h"

/* "kgrid submit [OPTION]... FILE" */
void manual_usage(const struct cli_command *c, struct kg_str *out);
/* What `kgrid --help` and `kgrid COMMAND --help` print. */
void manual_overview(size_t width, struct kg_str *out);
void manual_command(const struct cli_command *c, size_t width, struct kg_str *out);
/* What `kgrid job` prints: the verbs of a noun. */
void manual_noun(const char *noun, size_t width, struct kg_str *out);

/* `kgrid --generate WHAT`: "man" is kgrid(1) as man(7) source; "bash" and "zsh" are completions.
 * KG_EINVALID for another. */
int manual_generate(const char *what, struct kg_str *out, struct kg_err *err);

void manual_bash(struct kg_str *out);
void manual_zsh(struct kg_str *out);

#endif
