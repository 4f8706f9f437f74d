/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan for people. Pure. */
#ifndef KG_CLI_PLAN_TEXT_H
#define KG_CLI_PLAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

/* Cells, boots and estimate per machine, warnings (each once), what cannot run; `boots`: also the
 * boot order. */
void plan_text(const Kgrid__V1__Plan *p, bool boots, size_t width, bool color, struct kg_str *out);

#endif
