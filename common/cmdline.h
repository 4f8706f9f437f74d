/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel command lines, word by word, as the kernel splits them (lib/cmdline.c next_arg: spaces
 * separate, double quotes protect). Pure. */
#ifndef KG_COMMON_CMDLINE_H
#define KG_COMMON_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define KG_CMDLINE_MAX 2016 /* longest that kexec_file_load takes on x86: TECH.md 2.2 */

struct kg_cmdline {
	char *text;   /* owned; words are cut out of it */
	char **words; /* owned array, each borrows from text; quotes are kept */
	size_t n;
};

int kg_cmdline_parse(const char *line, struct kg_cmdline *ret_c);
void kg_cmdline_deinit(struct kg_cmdline *c);

/* Value of the last NAME=value (quotes around the value removed), as __setup handlers see it: a
 * dash equals an underscore in the name, and what stands behind "--" does not count. False when
 * absent or when `size` is too small (KG_CMDLINE_MAX + 1 suffices); a bare NAME gives "". */
bool kg_cmdline_value(const struct kg_cmdline *c, const char *name, char *ret_value, size_t size);
bool kg_cmdline_has_word(const struct kg_cmdline *c, const char *word);

/* The same of a line that was not parsed; needs no memory. */
bool kg_cmdline_line_has(const char *line, const char *word);

/* Whether `seen` has every word of `wanted`, in order, word for word; other words may stand
 * between (a boot loader may add some). On mismatch the text names the first missing word. */
int kg_cmdline_covers(const struct kg_cmdline *seen, const struct kg_cmdline *wanted,
		      struct kg_err *err);

/* The kgrid.boot=ID.NONCE word. Returns false when absent, malformed, or there more than once. */
#define KG_NONCE_HEX_LEN 32
bool kg_cmdline_nonce(const struct kg_cmdline *c, unsigned long long *ret_boot,
		      char ret_nonce[KG_NONCE_HEX_LEN + 1]);

#endif
