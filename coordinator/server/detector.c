/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: a look finds new blocks, compares their jobs, and stores what it saw, then that the
 * blocks were looked at. A candidate whose job is done becomes a confirmation job; when that is
 * done, the next look judges it and people are told.
 * Failure modes: the store cannot write, or the coordinator dies in between: the blocks are not
 * marked and are looked at again, and a sighting of the same job is not counted twice. A
 * confirmation that cannot be made (budget, no such list any more) is an event of the regression,
 * which stays a candidate.
 */
#include "coordinator/server/detector.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/fleet/notify.h"
#include "coordinator/server/jobs.h"
#include "coordinator/server/look.h"
#include "coordinator/server/recurring.h"

#define RECURRING_EVERY_NS (60 * (int64_t)KG_NSEC_PER_SEC)

void detector_init(struct detector *d, struct coordinator *c)
{
	*d = (struct detector){.c = c, .dirty = true};
}

void detector_deinit(struct detector *d)
{
	free(d->forced);
	free(d->declined);
}

void detector_dirty(struct detector *d)
{
	d->dirty = true;
}

static bool holds(const uint64_t *list, size_t n, uint64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

static int list_add(uint64_t **list, size_t *n, uint64_t id)
{
	uint64_t *grown;

	if (holds(*list, *n, id))
		return 0;
	grown = realloc(*list, (*n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[(*n)++] = id;
	return 0;
}

static void list_remove(uint64_t *list, size_t *n, uint64_t id)
{
	for (size_t i = 0; i < *n; i++)
		if (list[i] == id)
			list[i--] = list[--*n];
}

int detector_retest(struct detector *d, uint64_t regression)
{
	list_remove(d->declined, &d->n_declined, regression);
	d->dirty = true;
	return list_add(&d->forced, &d->n_forced, regression);
}

/* ---- confirmations ---- */

struct confirming {
	struct detector *d;
	uint64_t regression;
	bool forced;
};

static void step(struct detector *d, uint64_t regression, enum store_stage stage, uint64_t job,
		 const char *text)
{
	(void)store_regression_step(d->c->store,
				    &(struct store_regression_step){
					    .regression = regression,
					    .stage = stage,
					    .confirm_job = job,
					    .text = text,
					    .now_ns = kg_realtime_ns(),
				    },
				    (struct store_done){0});
}

static void decline(struct detector *d, uint64_t regression, const char *why)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "not tried again: %.300s; 'kgrid regression retest %llu' tries it, "
		       "whatever the budget",
		       why, (unsigned long long)regression);
	(void)list_add(&d->declined, &d->n_declined, regression);
	step(d, regression, STORE_STAGE_CANDIDATE, 0, text);
	kg_log_notice("regression %llu: %s", (unsigned long long)regression, text);
}

static void on_submitted(void *arg, int rc, uint64_t job, const char *text)
{
	struct confirming *cf = arg;
	struct detector *d = cf->d;
	char said[160];

	if (d->c->stopping) {
		free(cf);
		return;
	}
	list_remove(d->forced, &d->n_forced, cf->regression);
	if (rc < 0) {
		decline(d, cf->regression, text);
	} else {
		(void)snprintf(said, sizeof(said), "job %llu tries it again in three fresh blocks",
			       (unsigned long long)job);
		step(d, cf->regression, STORE_STAGE_CONFIRMING, job, said);
		kg_log_notice("regression %llu: %s", (unsigned long long)cf->regression, said);
	}
	detector_dirty(d);
	d->looking = false;
	free(cf);
}

/* Looks wait for the outcome, so that none makes a second job of the same candidate. */
static bool submit(struct detector *d, const struct look_confirm *x)
{
	struct confirming *cf = calloc(1, sizeof(*cf));
	struct jobs_order o = {
		.text = x->text,
		.file_name = "confirmation",
		.kind = STORE_JOB_CONFIRM,
		.regression = x->regression,
		.budget_ns = x->budget_ns,
		.done = on_submitted,
		.arg = cf,
	};

	if (!cf)
		return false;
	cf->d = d;
	cf->regression = x->regression;
	if (jobs_submit(d->c, &o) == 0)
		return true;
	free(cf);
	return false;
}

/* ---- what a look found ---- */

static void on_seen(void *arg, const struct store_result *r)
{
	struct detector *d = arg;

	if (r->rc < 0)
		kg_log_err("cannot store a regression: %s", r->text);
	else if (!r->existed)
		kg_log_notice("regression %llu: a new candidate", (unsigned long long)r->id);
	detector_dirty(d);
}

static void store_sightings(struct detector *d, const struct look *l)
{
	const struct store_done done = {.fn = on_seen, .arg = d};

	for (size_t i = 0; i < l->n_sightings; i++)
		if (store_regression_seen(d->c->store, &l->sightings[i], done) < 0)
			return; /* the blocks stay unmarked and are looked at again */
	for (size_t i = 0; i < l->n_blocks; i++)
		(void)store_detection_mark(d->c->store, l->blocks[i].job, l->blocks[i].machine,
					   l->blocks[i].block, kg_realtime_ns(),
					   (struct store_done){0});
	if (l->n_blocks)
		detector_dirty(d); /* what was seen last may be what a confirmation waits for */
}

static void store_judgements(struct detector *d, const struct look *l)
{
	for (size_t i = 0; i < l->n_judged; i++) {
		const struct look_judged *j = &l->judged[i];

		kg_log_notice("regression %llu: %s", (unsigned long long)j->step.regression,
			      j->step.text);
		if (store_regression_step(d->c->store, &j->step, (struct store_done){0}) < 0)
			continue; /* judged again with the next look */
		for (size_t k = 0; k < j->n_targets; k++)
			notify_send(d->c, j->step.regression, j->targets[k], j->notice);
	}
}

static bool start_confirmations(struct detector *d, const struct look *l)
{
	for (size_t i = 0; i < l->n_confirms; i++) {
		const struct look_confirm *x = &l->confirms[i];

		if (x->refused) {
			list_remove(d->forced, &d->n_forced, x->regression);
			decline(d, x->regression, x->refused);
		} else if (submit(d, x)) {
			return true; /* the others come with the next look */
		}
	}
	return false;
}

static void on_looked(struct look *l, void *arg)
{
	struct detector *d = arg;
	bool waits = false;

	if (d->c->stopping)
		return;
	if (l->w.rc < 0) {
		kg_log_err("cannot look for regressions: %s", l->w.err.text);
	} else {
		store_sightings(d, l);
		store_judgements(d, l);
		waits = start_confirmations(d, l);
		recurring_start(d->c, l->recurrings);
		if (!d->told_pending)
			notify_resume(d->c, l->notices);
		d->told_pending = true;
	}
	d->looking = waits;
}

/* ---- when ---- */

static int fill_machines(struct coordinator *c, struct look *l)
{
	l->machines = calloc(c->inventory.n_machines + 1, sizeof(*l->machines));
	if (!l->machines)
		return -ENOMEM;
	for (size_t i = 0; i < c->inventory.n_machines; i++) {
		const struct inv_machine *m = c->inventory.machines[i];
		struct confirm_machine *to = &l->machines[l->n_machines++];

		to->name = strdup(m->name);
		to->vendor = m->facts->cpu_vendor ? strdup(m->facts->cpu_vendor) : NULL;
		to->connected = server_agent(&c->server, m->name) != NULL;
		if (!to->name || (m->facts->cpu_vendor && !to->vendor))
			return -ENOMEM;
	}
	return 0;
}

static int fill_lists(const struct detector *d, struct look *l)
{
	l->forced = calloc(d->n_forced + 1, sizeof(*l->forced));
	l->declined = calloc(d->n_declined + 1, sizeof(*l->declined));
	if (!l->forced || !l->declined)
		return -ENOMEM;
	/* An empty list has no address, and memcpy() wants one even for nothing. */
	if (d->n_forced)
		memcpy(l->forced, d->forced, d->n_forced * sizeof(*l->forced));
	if (d->n_declined)
		memcpy(l->declined, d->declined, d->n_declined * sizeof(*l->declined));
	l->n_forced = d->n_forced;
	l->n_declined = d->n_declined;
	return 0;
}

void detector_tick(struct detector *d)
{
	int64_t now = kg_realtime_ns();
	struct look *l;

	if (now >= d->next_recurring_ns || d->next_recurring_ns > now + 2 * RECURRING_EVERY_NS) {
		d->next_recurring_ns = now + RECURRING_EVERY_NS;
		d->dirty = true;
	}
	if (!d->dirty || d->looking || d->c->stopping)
		return;
	l = look_new(on_looked, d);
	if (!l)
		return;
	if (fill_machines(d->c, l) < 0 || fill_lists(d, l) < 0) {
		look_free(l);
		return;
	}
	d->dirty = false;
	d->looking = true;
	look_start(d->c, l);
}
