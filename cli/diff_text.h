/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences of boots, kernels, machines and epochs for people. Pure. */
#ifndef KG_CLI_DIFF_TEXT_H
#define KG_CLI_DIFF_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

#define DIFF_SHOWN 20 /* items of a section, unless all are asked for */

struct diff_look {
	size_t width; /* columns */
	bool color;
	bool all;
	bool facts; /* names are those of facts (common/facts.h): their labels are shown */
};

/* Items by section, the section with the heaviest item first. `indent` spaces in front. */
void diff_items_text(size_t n, Kgrid__V1__DiffItem *const *items, size_t indent,
		     const struct diff_look *look, struct kg_str *out);
/* What the two are, the items, notes, how much is equal. */
void diff_text(const Kgrid__V1__DiffReply *r, const struct diff_look *look, struct kg_str *out);
/* One machine's epochs, newest last, each with what it changed. */
void epochs_text(size_t n, Kgrid__V1__Epoch *const *epochs, const struct diff_look *look,
		 struct kg_str *out);

#endif
