/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan for people. Pure. */
#ifndef KG_CLI_PLAN_TEXT_H
#define KG_CLI_PLAN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

#define PLAN_BOOTS_SHOWN  400 /* unless all are asked for */
#define PLAN_FAULTS_SHOWN 40  /* of cells that cannot run */

struct plan_look {
	size_t width;
	bool color;
	bool dry_run;	/* also axes, how the cells come about, what can be detected, boot order */
	bool cells;	/* also the cells, where the plan lists them */
	bool all_boots; /* not only the first */
};

/* Cells, boots and estimate per machine, the stop rule, warnings (each once), what cannot run. */
void plan_text(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out);

/* Where one cell comes from. */
void plan_explanation_text(const Kgrid__V1__Plan *p, size_t width, struct kg_str *out);

/* plan_lists.c: parts of plan_text. */
void plan_boots_text(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out);
void plan_cells_text(const Kgrid__V1__Plan *p, const struct plan_look *look, struct kg_str *out);

#endif
