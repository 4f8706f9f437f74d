/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `kgrid reproduce JOB/CELL`: the store knows the cell, the inventory its workload's declaration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/coordinator.h"
#include "coordinator/report/reproduce.h"

struct reproduce {
	struct work w;
	struct inv_snapshot inv;
	char *job_file, *recipe;
};

static const struct kg_workload *find_decl(const struct inv_snapshot *inv, const char *machine,
					   const char *workload)
{
	size_t i, k;

	for (i = 0; i < inv->n_machines; i++) {
		const struct plan_machine *m = &inv->plan_machines[i];

		for (k = 0; strcmp(m->facts.name, machine) == 0 && k < m->n_offers; k++)
			if (strcmp(m->offers[k].name, workload) == 0)
				return m->offers[k].decl;
	}
	return NULL;
}

static uint32_t blocks_of(const struct store_cell_detail *d, bool passed)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < d->n_slots; i++)
		n += !passed || d->slots[i].outcome == KG_OUTCOME_PASS;
	return n;
}

static int make_texts(struct reproduce *r, const struct store_cell_detail *d, uint32_t number)
{
	const struct store_cell *c = &d->cell;
	struct reproduce_input in = {
		.job = d->job,
		.job_name = d->job_name,
		.number = number,
		.machine = c->machine,
		.peer = c->peer,
		.kernel_label = c->kernel_label,
		.kernel_release = d->kernel_release,
		.kernel_digest = c->kernel,
		.lsm_label = c->lsm_label,
		.lsm_request = c->lsm_request,
		.lsm_effective = c->lsm_effective,
		.base_cmdline = d->base_cmdline,
		.cmdline = c->cmdline,
		.settings = c->settings,
		.workload = c->workload,
		.params = c->params,
		.iterations = c->iterations,
		.blocks = blocks_of(d, false),
		.blocks_done = blocks_of(d, true),
		.argv = d->argv,
		.decl = find_decl(&r->inv, c->machine, c->workload),
	};
	int rc = reproduce_job_file(&in, &r->job_file, &r->w.err);

	return rc < 0 ? rc : reproduce_recipe(&in, &r->recipe, &r->w.err);
}

static void reproduce_run(struct work *w)
{
	struct reproduce *r = (struct reproduce *)w;
	const Kgrid__V1__ReproduceRequest *rq = WORK_BODY(w, Kgrid__V1__ReproduceRequest);
	struct store_cell_detail *d = NULL;

	w->rc = query_cell(w->c->query, rq->job, rq->cell, &d, &w->err);
	if (w->rc == 0)
		w->rc = make_texts(r, d, rq->cell);
	store_cell_detail_free(d);
}

static void reproduce_finish(struct work *w)
{
	struct reproduce *r = (struct reproduce *)w;
	Kgrid__V1__ReproduceReply reply = KGRID__V1__REPRODUCE_REPLY__INIT;

	reply.job_file = r->job_file;
	reply.recipe = r->recipe;
	if (w->rc < 0)
		session_error(w->session, w->id, w->rc, w->err.text);
	else
		session_send(w->session, KG_MSG_REPRODUCE_REPLY, w->id, &reply.base);
	free(r->job_file);
	free(r->recipe);
	inv_snapshot_deinit(&r->inv);
}

void handle_reproduce(const struct request *rq)
{
	struct reproduce *r = calloc(1, sizeof(*r));

	if (r && inventory_snapshot(&rq->c->inventory, &r->inv) < 0) {
		free(r);
		r = NULL;
	}
	if (r) {
		r->w.run = reproduce_run;
		r->w.finish = reproduce_finish;
	}
	work_start(rq, r ? &r->w : NULL);
}
