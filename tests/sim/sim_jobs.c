/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people do: submit, pause, cancel, reserve, drain. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/sim/sim.h"

struct sched_job *sim_job(struct sim *s, uint32_t job)
{
	return sched_job_find(&s->sched, s->jobs[job].id);
}

static void user_name(char *buf, size_t size, uint32_t user)
{
	(void)snprintf(buf, size, "user%u", user);
}

static void add_slot(struct sim *s, uint32_t job, struct sched_visit *v, uint32_t machine,
		     uint32_t position)
{
	struct sim_slot *slot;

	if (s->n_slots == s->cap_slots) {
		s->cap_slots = s->cap_slots ? 2 * s->cap_slots : 1024;
		s->slots = realloc(s->slots, s->cap_slots * sizeof(*s->slots));
		assert_non_null(s->slots);
	}
	slot = &s->slots[s->n_slots];
	*slot = (struct sim_slot){.job = job,
				  .machine = machine,
				  .eligible_ns = s->now,
				  .shut_ns = sim_shut_ns(s, &s->agents[machine]),
				  .waited_ns = -1};
	assert_int_equal(sched_visit_add_slot(v, &(struct sched_slot){.id = s->n_slots,
								      .position = position,
								      .timeout_s = 600}),
			 0);
	s->n_slots++;
	s->agents[machine].left++;
}

static void add_visits(struct sim *s, struct sched_job *j, const struct sim_plan *p, uint32_t job,
		       uint32_t at)
{
	struct sched_visit like = {.seconds = p->seconds};
	uint32_t b, v, k;

	if (p->peers)
		like.peer = s->agents[p->peers[at]].name;
	for (b = 1; b <= p->blocks; b++) {
		for (v = 1; v <= p->visits; v++) {
			struct sched_visit *visit;

			like.block = b;
			like.visit = (b - 1) * p->visits + v;
			visit = sched_job_add_visit(&s->sched, j, s->agents[p->machines[at]].name,
						    &like);
			assert_non_null(visit);
			for (k = 1; k <= p->slots; k++)
				add_slot(s, job, visit, p->machines[at], k);
		}
	}
}

uint32_t sim_submit(struct sim *s, const struct sim_plan *p)
{
	uint32_t job = (uint32_t)s->n_jobs;
	struct sched_job *j = sched_job_new(job + 1, p->priority, SCHED_JOB_QUEUED);
	char name[32], user[32];
	struct sim_job *mine;
	uint32_t i;

	assert_non_null(j);
	if (s->n_jobs == s->cap_jobs) {
		s->cap_jobs = s->cap_jobs ? 2 * s->cap_jobs : 64;
		s->jobs = realloc(s->jobs, s->cap_jobs * sizeof(*s->jobs));
		assert_non_null(s->jobs);
	}
	mine = &s->jobs[s->n_jobs++];
	*mine = (struct sim_job){.id = job + 1,
				 .user = p->user,
				 .priority = p->priority,
				 .first_slot = (uint32_t)s->n_slots,
				 .after = p->after,
				 .pair = p->peers != NULL};
	(void)snprintf(name, sizeof(name), "job%u", job + 1);
	user_name(user, sizeof(user), p->user);
	assert_int_equal(sched_job_set_texts(j, name, user), 0);
	j->queued_ns = (int64_t)s->now;
	j->budget_ns = p->budget_ns;
	j->queue_timeout_ns = p->queue_timeout_ns;
	j->gate_block = p->gate;
	if (p->after)
		assert_int_equal(sched_job_add_after(j, p->after), 0);
	for (i = 0; i < p->n_machines; i++)
		add_visits(s, j, p, job, i);
	mine->n_slots = (uint32_t)s->n_slots - mine->first_slot;
	mine->pending = mine->n_slots;
	sched_job_added(&s->sched, j, s->now);
	return job;
}

void sim_pause(struct sim *s, uint32_t job, bool paused)
{
	struct sim_job *j = &s->jobs[job];

	if (!sim_job(s, job) || sched_job_pause(&s->sched, j->id, paused, s->now) < 0)
		return;
	if (paused && !j->paused)
		j->paused_from = s->now;
	if (!paused && j->paused)
		j->paused_ns += s->now - j->paused_from;
	j->paused = paused;
}

void sim_cancel(struct sim *s, uint32_t job)
{
	if (sim_job(s, job))
		sched_job_cancelled(&s->sched, s->jobs[job].id, s->now);
}

void sim_reprioritise(struct sim *s, uint32_t job, uint32_t priority)
{
	if (sim_job(s, job))
		(void)sched_job_reprioritise(&s->sched, s->jobs[job].id, priority, s->now);
}

void sim_service(struct sim *s, uint32_t machine, enum sched_service service)
{
	assert_int_equal(sched_machine_service(&s->sched, s->agents[machine].name, service,
					       "somebody changes a disk", s->now),
			 0);
	sim_shut(s, &s->agents[machine]);
}

void sim_reserve(struct sim *s, uint32_t machine, const char *user, uint64_t for_ns)
{
	assert_int_equal(sched_machine_reserve(&s->sched, s->agents[machine].name, user, "tuning",
					       (int64_t)(s->now + for_ns), s->now),
			 0);
	sim_shut(s, &s->agents[machine]);
}
