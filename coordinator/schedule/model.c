/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making, finding and freeing what the scheduler holds. */
#include <stdlib.h>
#include <string.h>

#include "coordinator/schedule/sched.h"
#include "coordinator/schedule/sched_internal.h"

void sched_init(struct sched *s, const struct sched_limits *limits, uint64_t next_boot,
		uint64_t next_attempt)
{
	memset(s, 0, sizeof(*s));
	s->limits = *limits;
	s->next_boot = next_boot;
	s->next_attempt = next_attempt;
}

void sched_boot_free(struct sched_boot *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; i < b->n_attempts; i++)
		free(b->attempts[i].reason);
	free(b->attempts);
	free(b->agent_reason);
	free(b);
}

static void visit_free(struct sched_visit *v)
{
	size_t i;

	for (i = 0; i < v->n_slots; i++) {
		free(v->slots[i].workload);
		free(v->slots[i].workload_digest);
		free(v->slots[i].params);
	}
	free(v->slots);
	free(v->kernel);
	free(v->kernel_label);
	free(v->lsm_label);
	free(v->lsm_request);
	free(v->lsm_effective);
	free(v->cmdline);
	free(v);
}

void sched_job_free(struct sched_job *j)
{
	size_t i;

	if (!j)
		return;
	for (i = 0; i < j->n_visits; i++)
		visit_free(j->visits[i]);
	free(j->visits);
	free(j);
}

void sched_deinit(struct sched *s)
{
	while (s->machines) {
		struct sched_machine *m = s->machines;

		s->machines = m->next;
		sched_boot_free(m->boot);
		free(m->name);
		free(m);
	}
	while (s->jobs) {
		struct sched_job *j = s->jobs;

		s->jobs = j->next;
		sched_job_free(j);
	}
}

struct sched_machine *sched_machine_find(struct sched *s, const char *name)
{
	struct sched_machine *m;

	for (m = s->machines; m; m = m->next)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

struct sched_machine *sched_machine_get(struct sched *s, const char *name)
{
	struct sched_machine *m = sched_machine_find(s, name);

	if (m)
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->name = strdup(name);
	if (!m->name) {
		free(m);
		return NULL;
	}
	m->next = s->machines;
	s->machines = m;
	return m;
}

struct sched_job *sched_job_find(struct sched *s, uint64_t id)
{
	struct sched_job *j;

	for (j = s->jobs; j; j = j->next)
		if (j->id == id)
			return j;
	return NULL;
}

struct sched_boot *sched_boot_find(struct sched *s, uint64_t boot, struct sched_machine **ret_m)
{
	struct sched_machine *m;

	for (m = s->machines; m; m = m->next) {
		if (!m->boot || m->boot->id != boot)
			continue;
		*ret_m = m;
		return m->boot;
	}
	return NULL;
}

struct sched_attempt *sched_boot_attempt(struct sched_boot *b, uint64_t attempt)
{
	size_t i;

	for (i = 0; i < b->n_attempts; i++)
		if (b->attempts[i].id == attempt)
			return &b->attempts[i];
	return NULL;
}

struct sched_job *sched_job_new(uint64_t id, uint32_t priority, enum sched_job_state state)
{
	struct sched_job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->id = id;
	j->priority = priority;
	j->state = state;
	return j;
}

void sched_insert_job(struct sched *s, struct sched_job *j)
{
	struct sched_job **at = &s->jobs;
	size_t i, k;

	j->pending = 0;
	for (i = 0; i < j->n_visits; i++)
		for (k = 0; k < j->visits[i]->n_slots; k++)
			j->pending += j->visits[i]->slots[k].outcome == KG_OUTCOME_NONE;
	while (*at && ((*at)->priority > j->priority ||
		       ((*at)->priority == j->priority && (*at)->id < j->id)))
		at = &(*at)->next;
	j->next = *at;
	*at = j;
}

static char *copy(const char *s)
{
	return strdup(s ? s : "");
}

struct sched_visit *sched_job_add_visit(struct sched *s, struct sched_job *j, const char *machine,
					const struct sched_visit *like)
{
	struct sched_machine *m = sched_machine_get(s, machine);
	struct sched_visit **p;
	struct sched_visit *v;

	p = realloc(j->visits, (j->n_visits + 1) * sizeof(struct sched_visit *));
	if (!p || !m)
		return NULL;
	j->visits = p;
	v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	v->job = j;
	v->machine = m;
	v->block = like->block;
	v->visit = like->visit;
	v->kernel = copy(like->kernel);
	v->kernel_label = copy(like->kernel_label);
	v->lsm_label = copy(like->lsm_label);
	v->lsm_request = copy(like->lsm_request);
	v->lsm_effective = copy(like->lsm_effective);
	v->cmdline = copy(like->cmdline);
	if (!v->kernel || !v->kernel_label || !v->lsm_label || !v->lsm_request ||
	    !v->lsm_effective || !v->cmdline) {
		visit_free(v);
		return NULL;
	}
	j->visits[j->n_visits++] = v;
	return v;
}

int sched_visit_add_slot(struct sched_visit *v, const struct sched_slot *like)
{
	struct sched_slot *p = realloc(v->slots, (v->n_slots + 1) * sizeof(*p));
	struct sched_slot *slot;

	if (!p)
		return -1;
	v->slots = p;
	slot = &p[v->n_slots];
	*slot = *like;
	slot->workload = copy(like->workload);
	slot->workload_digest = copy(like->workload_digest);
	slot->params = copy(like->params);
	if (!slot->workload || !slot->workload_digest || !slot->params) {
		free(slot->workload);
		free(slot->workload_digest);
		free(slot->params);
		return -1;
	}
	v->n_slots++;
	return 0;
}

struct sched_boot *sched_boot_new(struct sched_visit *v, size_t n_attempts)
{
	struct sched_boot *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->visit = v;
	b->attempts = calloc(n_attempts ? n_attempts : 1, sizeof(*b->attempts));
	b->n_attempts = n_attempts;
	if (!b->attempts) {
		free(b);
		return NULL;
	}
	return b;
}

void sched_restore_boot(struct sched *s, struct sched_machine *m, struct sched_boot *b)
{
	if (b->id >= s->next_boot)
		s->next_boot = b->id + 1;
	sched_boot_free(m->boot);
	m->boot = b;
}
