/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/schedule/world.h"

#include <stdio.h>

static void line(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void line(struct world *w, const char *fmt, ...)
{
	size_t len = strlen(w->log);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(w->log + len, sizeof(w->log) - len, fmt, ap);
	va_end(ap);
}

static void record(void *arg, const struct sched_action *a)
{
	struct world *w = arg;
	unsigned long long boot = a->boot ? a->boot->id : a->boot_id;
	const char *m = a->machine ? a->machine->name : "all";
	static const char *const roles[] = {"", " client", " server"};

	switch (a->kind) {
	case SCHED_ACT_BEGIN_BOOT:
		line(w, "begin %s boot=%llu job=%llu b%u/v%u n=%zu%s\n", m, boot,
		     (unsigned long long)a->job->id, a->boot->visit->block, a->boot->visit->visit,
		     a->boot->n_attempts, roles[a->boot->role]);
		break;
	case SCHED_ACT_SEND_ORDER:
		line(w, "order %s boot=%llu\n", m, boot);
		break;
	case SCHED_ACT_SET_STAGE:
		line(w, "stage %s %s\n", m, sched_stage_name(a->boot->stage));
		break;
	case SCHED_ACT_END_BOOT:
		line(w, "end %s boot=%llu %s\n", m, boot, kg_outcome_name(a->outcome));
		break;
	case SCHED_ACT_SETTLE:
		assert_true(a->count_try);
		line(w, "settle slot=%llu %s tries=%u\n", (unsigned long long)a->slot->id,
		     kg_outcome_name(a->outcome), a->slot->tries);
		break;
	case SCHED_ACT_JOB_STATE:
		line(w, "job %llu %s\n", (unsigned long long)a->job->id,
		     sched_job_state_name(a->job->state));
		break;
	case SCHED_ACT_FENCE:
		line(w, "fence %s boot=%llu\n", m, boot);
		break;
	case SCHED_ACT_POWER_CYCLE:
		line(w, "power %s boot=%llu\n", m, boot);
		break;
	case SCHED_ACT_CLOSE:
		line(w, "close job=%llu %s %s count=%zu: %s\n", (unsigned long long)a->job->id, m,
		     kg_outcome_name(a->outcome), a->count, a->text);
		break;
	case SCHED_ACT_GATE:
		line(w, "gate job=%llu %s block=%u\n", (unsigned long long)a->job->id, m, a->block);
		break;
	case SCHED_ACT_PEER_READY:
		line(w, "ready %s boot=%llu attempt=%llu port=%u at %s\n", m, boot,
		     (unsigned long long)a->attempt, a->port, a->peer->name);
		break;
	case SCHED_ACT_PEER_DONE:
		line(w, "done %s boot=%llu attempt=%llu\n", m, boot,
		     (unsigned long long)a->attempt);
		break;
	case SCHED_ACT_EVENT:
		break;
	}
}

int world_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	sched_init(&w->s, &sched_limits_default, 1, 1);
	w->s.act = record;
	w->s.arg = w;
	*state = w;
	return 0;
}

int world_teardown(void **state)
{
	struct world *w = *state;

	world_balance(w);
	sched_deinit(&w->s);
	free(w);
	return 0;
}

void world_visits(struct world *w, struct sched_job *j, const struct plan *p, uint32_t first_block)
{
	uint32_t b, v, k;

	for (b = first_block; b < first_block + p->blocks; b++)
		for (v = 1; v <= p->visits; v++) {
			struct sched_visit like = {.block = b,
						   .visit = (b - 1) * p->visits + v,
						   .seconds = p->seconds,
						   .peer = (char *)(uintptr_t)p->peer};
			struct sched_visit *visit =
				sched_job_add_visit(&w->s, j, p->machine, &like);

			assert_non_null(visit);
			for (k = 1; k <= p->slots; k++)
				assert_int_equal(
					sched_visit_add_slot(
						visit,
						&(struct sched_slot){.id = p->id * 1000 +
									   like.visit * 10 + k,
								     .position = k,
								     .timeout_s = 30}),
					0);
		}
}

struct sched_job *world_job(struct world *w, const struct plan *p)
{
	struct sched_job *j = sched_job_new(p->id, p->priority, SCHED_JOB_QUEUED);

	assert_non_null(j);
	assert_int_equal(sched_job_set_texts(j, "nightly", p->user ? p->user : "ann"), 0);
	j->gate_block = p->gate;
	j->budget_ns = p->budget_ns;
	j->queue_timeout_ns = p->queue_timeout_ns;
	if (p->after)
		assert_int_equal(sched_job_add_after(j, p->after), 0);
	world_visits(w, j, p, 1);
	return j;
}

void world_add(struct world *w, const struct plan *p, uint64_t now)
{
	struct sched_job *j = world_job(w, p);

	j->queued_ns = (int64_t)now;
	sched_job_added(&w->s, j, now);
}

void world_up(struct world *w, const char *machine, uint64_t now)
{
	sched_machine_up(&w->s, machine, false, &(struct sched_agent_state){0}, now);
}

void world_balance(struct world *w)
{
	const struct sched_job *j;
	size_t i, k;

	for (j = w->s.jobs; j; j = j->next) {
		size_t pending = 0;

		for (i = 0; i < j->n_visits; i++)
			for (k = 0; k < j->visits[i]->n_slots; k++)
				pending += j->visits[i]->slots[k].outcome == KG_OUTCOME_NONE;
		assert_int_equal(pending, j->pending);
	}
}

void world_expect(struct world *w, const char *text)
{
	world_balance(w);
	assert_string_equal(w->log, text);
	w->log[0] = '\0';
}

void world_forget(struct world *w)
{
	world_balance(w);
	w->log[0] = '\0';
}

struct sched_boot *world_boot(struct world *w, const char *machine)
{
	struct sched_machine *m = sched_machine_find(&w->s, machine);

	assert_non_null(m);
	assert_non_null(m->boot);
	return m->boot;
}

void world_pass(struct world *w, const char *machine, uint64_t now)
{
	struct sched_boot *b = world_boot(w, machine);
	uint64_t id = b->id;
	size_t i;

	sched_order_stored(&w->s, id, now);
	for (i = 0; i < b->n_attempts; i++)
		sched_attempt_ended(&w->s, id, b->attempts[i].id, KG_OUTCOME_PASS, NULL, now);
	world_forget(w);
	sched_boot_ended(&w->s, id, KG_OUTCOME_PASS, NULL, now);
}
