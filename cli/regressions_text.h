/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Regressions for people: a list, and one with its members and events. Pure. */
#ifndef KG_CLI_REGRESSIONS_TEXT_H
#define KG_CLI_REGRESSIONS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

/* Whether somebody has to look: neither fixed nor acknowledged nor refuted. */
bool regression_is_open(const Kgrid__V1__Regression *r);

/* A line each; "boundary" is what changed, "kernel 6.1 -> 6.12". */
void regressions_text(size_t n, Kgrid__V1__Regression *const *list, size_t width, bool color,
		      struct kg_str *out);
/* All that is known of one. */
void regression_text(const Kgrid__V1__Regression *r, size_t width, bool color, struct kg_str *out);

#endif
