/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making, finding and freeing what the scheduler holds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "coordinator/schedule/sched.h"
#include "coordinator/schedule/sched_internal.h"

void sched_init(struct sched *s, const struct sched_limits *limits, uint64_t next_boot,
		uint64_t next_attempt)
{
	memset(s, 0, sizeof(*s));
	s->limits = *limits;
	s->next_boot = next_boot;
	s->next_attempt = next_attempt;
	s->policy = sched_policy_default;
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
	free(v->variant);
	free(v->settings);
	free(v->peer);
	free(v);
}

void sched_job_free(struct sched_job *j)
{
	size_t i;

	if (!j)
		return;
	while (j->queues) {
		struct sched_queue *q = j->queues;

		j->queues = q->next;
		sched_hash_remove(&j->sched->queue_hash, &q->link);
		sched_queue_free(q);
	}
	for (i = 0; i < j->n_visits; i++)
		visit_free(j->visits[i]);
	free(j->visits);
	free(j->after);
	free(j->name);
	free(j->user);
	free(j);
}

static void machine_free(struct sched_machine *m)
{
	sched_boot_free(m->boot);
	free(m->name);
	free(m->service_why);
	free(m->reserved_by);
	free(m->reserved_why);
	free(m);
}

void sched_deinit(struct sched *s)
{
	while (s->jobs) {
		struct sched_job *j = s->jobs;

		s->jobs = j->next;
		sched_job_free(j);
	}
	while (s->machines) {
		struct sched_machine *m = s->machines;

		s->machines = m->next;
		machine_free(m);
	}
	sched_users_free(s);
	sched_hash_deinit(&s->machine_hash);
	sched_hash_deinit(&s->job_hash);
	sched_hash_deinit(&s->boot_hash);
	sched_hash_deinit(&s->queue_hash);
}

struct sched_machine *sched_machine_find(struct sched *s, const char *name)
{
	struct sched_link *l = sched_hash_find(&s->machine_hash, sched_hash_text(name));

	for (; l; l = sched_hash_again(l)) {
		struct sched_machine *m = sched_owner(l, struct sched_machine, link);

		if (strcmp(m->name, name) == 0)
			return m;
	}
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
	m->number = s->n_machines++;
	sched_hash_insert(&s->machine_hash, &m->link, sched_hash_text(name));
	if (s->last_machine)
		s->last_machine->next = m;
	else
		s->machines = m;
	s->last_machine = m;
	return m;
}

struct sched_job *sched_job_find(struct sched *s, uint64_t id)
{
	struct sched_link *l = sched_hash_find(&s->job_hash, id);

	return l ? sched_owner(l, struct sched_job, link) : NULL;
}

struct sched_boot *sched_boot_find(struct sched *s, uint64_t boot, struct sched_machine **ret_m)
{
	struct sched_link *l = sched_hash_find(&s->boot_hash, boot);
	struct sched_boot *b = l ? sched_owner(l, struct sched_boot, link) : NULL;

	if (b)
		*ret_m = b->machine;
	return b;
}

/* A boot's attempts are numbered through, unless they come from somewhere else. */
struct sched_attempt *sched_boot_attempt(struct sched_boot *b, uint64_t attempt)
{
	size_t i;

	if (b->n_attempts > 0 && attempt >= b->attempts[0].id) {
		uint64_t at = attempt - b->attempts[0].id;

		if (at < b->n_attempts && b->attempts[at].id == attempt)
			return &b->attempts[at];
	}
	for (i = 0; i < b->n_attempts; i++)
		if (b->attempts[i].id == attempt)
			return &b->attempts[i];
	return NULL;
}

struct sched_queue *sched_queue_find(const struct sched *s, const struct sched_job *j,
				     const struct sched_machine *m)
{
	uint64_t key = sched_hash_mix(j->id) ^ m->number;
	struct sched_link *l = sched_hash_find(&s->queue_hash, key);

	for (; l; l = sched_hash_again(l)) {
		struct sched_queue *q = sched_owner(l, struct sched_queue, link);

		if (q->job == j && q->machine == m)
			return q;
	}
	return NULL;
}

bool sched_job_live(const struct sched_job *j)
{
	return j->state == SCHED_JOB_QUEUED || j->state == SCHED_JOB_RUNNING;
}

/* A text that cannot be kept for want of memory is left out: it is for people only. */
void sched_set_text(char **text, const char *value)
{
	char *copy = value && value[0] ? strdup(value) : NULL;

	free(*text);
	*text = copy;
}

struct sched_job *sched_job_new(uint64_t id, uint32_t priority, enum sched_job_state state)
{
	struct sched_job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->id = id;
	j->priority = priority;
	j->state = state;
	j->started_ns = INT64_MIN;
	j->budget.of_job = true;
	return j;
}

int sched_job_set_texts(struct sched_job *j, const char *name, const char *user)
{
	char *n = strdup(name ? name : "");
	char *u = strdup(user ? user : "");

	if (!n || !u) {
		free(n);
		free(u);
		return -ENOMEM;
	}
	free(j->name);
	free(j->user);
	j->name = n;
	j->user = u;
	return 0;
}

int sched_job_add_after(struct sched_job *j, uint64_t job)
{
	uint64_t *p = realloc(j->after, (j->n_after + 1) * sizeof(*p));

	if (!p)
		return -ENOMEM;
	j->after = p;
	j->after[j->n_after++] = job;
	return 0;
}

void sched_insert_job(struct sched *s, struct sched_job *j)
{
	struct sched_job **at = &s->jobs;

	while (*at && ((*at)->priority > j->priority ||
		       ((*at)->priority == j->priority && (*at)->id < j->id)))
		at = &(*at)->next;
	j->next = *at;
	*at = j;
}

void sched_unlink_job(struct sched *s, struct sched_job *j)
{
	struct sched_job **at = &s->jobs;

	while (*at && *at != j)
		at = &(*at)->next;
	if (*at)
		*at = j->next;
	j->next = NULL;
}

static char *copy(const char *s)
{
	return strdup(s ? s : "");
}

static struct sched_visit *visit_copy(const struct sched_visit *like)
{
	struct sched_visit *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->block = like->block;
	v->visit = like->visit;
	v->leave_by_reboot = like->leave_by_reboot;
	v->seconds = like->seconds;
	v->kernel = copy(like->kernel);
	v->kernel_label = copy(like->kernel_label);
	v->lsm_label = copy(like->lsm_label);
	v->lsm_request = copy(like->lsm_request);
	v->lsm_effective = copy(like->lsm_effective);
	v->cmdline = copy(like->cmdline);
	v->variant = copy(like->variant);
	v->settings = copy(like->settings);
	v->peer = like->peer && like->peer[0] ? strdup(like->peer) : NULL;
	if (!v->kernel || !v->kernel_label || !v->lsm_label || !v->lsm_request ||
	    !v->lsm_effective || !v->cmdline || !v->variant || !v->settings ||
	    (like->peer && like->peer[0] && !v->peer)) {
		visit_free(v);
		return NULL;
	}
	return v;
}

static bool room_for_visit(struct sched_job *j)
{
	struct sched_visit **p;
	size_t cap;

	/* a power of two is full */
	if (j->n_visits & (j->n_visits - 1))
		return true;
	cap = j->n_visits ? 2 * j->n_visits : 1;
	p = realloc(j->visits, cap * sizeof(struct sched_visit *));
	if (!p)
		return false;
	j->visits = p;
	return true;
}

struct sched_visit *sched_job_add_visit(struct sched *s, struct sched_job *j, const char *machine,
					const struct sched_visit *like)
{
	struct sched_machine *m = sched_machine_get(s, machine);
	struct sched_visit *v;

	if (!m || !room_for_visit(j))
		return NULL;
	v = visit_copy(like);
	if (!v)
		return NULL;
	v->job = j;
	v->machine = m;
	if (v->peer)
		v->peer_machine = sched_machine_get(s, v->peer);
	if ((v->peer && !v->peer_machine) || sched_queue_add(s, v) < 0) {
		visit_free(v);
		return NULL;
	}
	if (v->peer_machine == m)
		v->peer_machine = NULL; /* both roles on one machine: an ordinary boot */
	j->has_pairs = j->has_pairs || v->peer_machine;
	j->visits[j->n_visits++] = v;
	return v;
}

static bool room_for_slot(struct sched_visit *v)
{
	struct sched_slot *p;

	if (v->n_slots & (v->n_slots - 1))
		return true;
	p = realloc(v->slots, (v->n_slots ? 2 * v->n_slots : 1) * sizeof(*p));
	if (!p)
		return false;
	v->slots = p;
	return true;
}

int sched_visit_add_slot(struct sched_visit *v, const struct sched_slot *like)
{
	struct sched_slot *slot;

	if (!room_for_slot(v))
		return -ENOMEM;
	slot = &v->slots[v->n_slots];
	*slot = *like;
	slot->workload = copy(like->workload);
	slot->workload_digest = copy(like->workload_digest);
	slot->params = copy(like->params);
	if (!slot->workload || !slot->workload_digest || !slot->params) {
		free(slot->workload);
		free(slot->workload_digest);
		free(slot->params);
		return -ENOMEM;
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
