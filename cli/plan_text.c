/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plan_text.h"

#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/table.h"
#include "cli/width.h"

static void machines(const Kgrid__V1__Plan *p, size_t width, struct kg_str *out)
{
	static const char *const titles[] = {"MACHINE", "BOOTS", "SLOTS", "ESTIMATE"};
	struct table *t = table_new("lrrl");
	char time[FORMAT_SIZE];
	uint64_t longest = 0;
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < p->n_machines; i++) {
		const Kgrid__V1__PlannedMachine *m = p->machines[i];

		table_cell(t, m->machine);
		table_cellf(t, "%" PRIu32, m->boots);
		table_cellf(t, "%" PRIu32, m->slots);
		table_cell(t, m->has_seconds ? format_seconds(m->seconds, time) : "not known");
		longest = m->seconds > longest ? m->seconds : longest;
	}
	kg_str_addf(out, "plan: %" PRIu64 " cells, %" PRIu64 " slots", p->cells, p->slots);
	if (p->order && p->order[0])
		kg_str_addf(out, ", %s", p->order);
	if (longest)
		kg_str_addf(out, ", about %s", format_seconds(longest, time));
	if (p->has_seed)
		kg_str_addf(out, " (seed %" PRIu64 ")", p->seed);
	kg_str_add(out, "\n");
	if (p->n_machines > 0)
		table_render(t, 2, width, false, out);
	table_free(t);
}

static void warnings(const Kgrid__V1__Plan *p, size_t width, struct kg_str *out)
{
	size_t i, k;

	for (i = 0; i < p->n_warnings; i++) {
		struct kg_str s = {0};

		for (k = 0; k < i; k++)
			if (strcmp(p->warnings[k], p->warnings[i]) == 0)
				break;
		if (k < i)
			continue;
		text_clean(&s, p->warnings[i], strlen(p->warnings[i]), false);
		kg_str_add(out, "warning: ");
		text_wrap(out, kg_str_text(&s), 9, 9, width);
		kg_str_deinit(&s);
	}
}

static void infeasible(const Kgrid__V1__Plan *p, size_t width, bool color, struct kg_str *out)
{
	struct table *t = table_new("lrl");
	uint64_t slots = 0;
	size_t i;

	table_title(t, "CELL");
	table_title(t, "SLOTS");
	table_title(t, "REASON");
	for (i = 0; i < p->n_infeasible; i++) {
		table_cell(t, p->infeasible[i]->cell);
		table_cellf(t, "%" PRIu64, p->infeasible[i]->slots);
		table_cell(t, p->infeasible[i]->reason);
		slots += p->infeasible[i]->slots;
	}
	if (p->n_infeasible > 0) {
		kg_str_addf(out, "cannot run: %" PRIu64 " slots\n", slots);
		table_render(t, 2, width, color, out);
	}
	table_free(t);
}

static void boot_order(const Kgrid__V1__Plan *p, size_t width, bool color, struct kg_str *out)
{
	static const char *const titles[] = {"MACHINE", "BLOCK", "POSITION",	  "KERNEL",
					     "LSM",	"SLOTS", "EFFECTIVE LIST"};
	struct table *t = table_new("lrrllrl");
	size_t i;

	for (i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		table_title(t, titles[i]);
	for (i = 0; i < p->n_boots; i++) {
		const Kgrid__V1__PlannedBoot *b = p->boots[i];

		table_cell(t, b->machine);
		table_cellf(t, "%" PRIu32, b->block);
		table_cellf(t, "%" PRIu32, b->position);
		table_cell(t, b->kernel);
		table_cell(t, b->lsm);
		table_cellf(t, "%" PRIu32, b->slots);
		table_cell(t, b->effective);
	}
	if (p->n_boots > 0) {
		kg_str_add(out, "boot order:\n");
		table_render(t, 2, width, color, out);
	}
	table_free(t);
}

void plan_text(const Kgrid__V1__Plan *p, bool boots, size_t width, bool color, struct kg_str *out)
{
	machines(p, width, out);
	if (boots)
		boot_order(p, width, color, out);
	infeasible(p, width, color, out);
	warnings(p, width, out);
	if (p->slots == 0)
		kg_str_add(out, "nothing to run\n");
}
