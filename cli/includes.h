/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a job file includes, read here because the coordinator cannot see them. */
#ifndef KG_CLI_INCLUDES_H
#define KG_CLI_INCLUDES_H

#include <stddef.h>

#include "common/err.h"
#include "proto/messages.h"

#define INCLUDES_STDIN "(standard input)" /* name of a job file that has no other */

struct includes {		    /* all zero: none */
	Kgrid__V1__JobFile **files; /* owned, in the order in which they are named */
	size_t n;
};

/* Reads all that `text` includes, and what that includes. Names start from the including file's
 * folder, those of standard input from the current one. Errors are "FILE:LINE: text": KG_ENOTFOUND
 * and other codes of reading, KG_EINVALID for a circle or no text, KG_ELIMIT over JOB_MAX_FILES. A
 * file whose `include:` cannot be understood ends its own branch: the coordinator says what is wrong
 * with it, with everything else that is. */
int includes_read(const char *file_name, const char *text, size_t len, struct includes *ret,
		  struct kg_err *err);
void includes_deinit(struct includes *in);

#endif
