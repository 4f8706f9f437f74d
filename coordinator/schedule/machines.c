/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines connect and go away, are reserved, drained and taken into maintenance. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/schedule/sched_internal.h"

/* The agent holds no boot, or another one, although one is open here. */
static void lost_boot(struct sched *s, struct sched_machine *m, uint64_t now_ns)
{
	struct sched_boot *b = m->boot;
	struct sched_ending e = {.outcome = KG_OUTCOME_INFRA,
				 .reason = "the agent came back without this boot's state"};
	char *reason = b->agent_reason;

	if (b->stage == SCHED_DISPATCH) {
		if (sched_ready_to_go(b))
			sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_SEND_ORDER,
							     .machine = m,
							     .job = b->visit->job,
							     .boot = b});
		return;
	}
	if (b->agent_outcome != KG_OUTCOME_NONE) {
		b->agent_reason = NULL; /* outlives the boot */
		e.outcome = b->agent_outcome;
		e.reason = reason;
		sched_end_boot(s, m, &e, now_ns);
		free(reason);
		return;
	}
	sched_end_boot(s, m, &e, now_ns);
}

/* The agent connected and says what it holds; both sides must agree on the lease. */
void sched_machine_up(struct sched *s, const char *machine, bool instruction_clock,
		      const struct sched_agent_state *state, uint64_t now_ns)
{
	struct sched_machine *m = sched_machine_get(s, machine);
	struct sched_boot *b;

	if (!m)
		return;
	m->up = true;
	m->back_by_ns = 0;
	m->instruction_clock = instruction_clock;
	sched_serving(s, m);
	sched_due(s, m);
	b = m->boot;
	if (state->boot != 0 && (!b || b->id != state->boot))
		sched_emit(s, &(struct sched_action){.kind = SCHED_ACT_FENCE,
						     .machine = m,
						     .boot_id = state->boot,
						     .lease_epoch = state->lease_epoch,
						     .text = "its lease has ended"});
	/* The same boot goes on; records that were not acknowledged come again. */
	if (b && b->id != state->boot)
		lost_boot(s, m, now_ns);
	sched_settle_down(s, now_ns);
}

void sched_machine_down(struct sched *s, const char *machine, uint64_t now_ns)
{
	struct sched_machine *m = sched_machine_find(s, machine);

	if (!m)
		return;
	m->up = false;
	sched_serving(s, m);
	/* With a boot the stage's deadline decides how long is too long. */
	if (!m->boot && m->claim)
		sched_claim_drop(s, m->claim);
	sched_settle_down(s, now_ns);
}

int sched_machine_reserve(struct sched *s, const char *machine, const char *user, const char *why,
			  int64_t until_ns, uint64_t now_ns)
{
	struct sched_machine *m = sched_machine_find(s, machine);
	char *by = user ? strdup(user) : NULL;

	if (!m || (user && !by)) {
		free(by);
		return m ? -ENOMEM : KG_ENOTFOUND;
	}
	free(m->reserved_by);
	m->reserved_by = by;
	sched_set_text(&m->reserved_why, user ? why : NULL);
	m->reserved_until_ns = user ? until_ns : 0;
	if (m->claim && !sched_machine_serves(m, m->claim->job->user, now_ns))
		sched_claim_drop(s, m->claim);
	sched_due(s, m);
	sched_settle_down(s, now_ns);
	return 0;
}

static void into_maintenance(struct sched *s, struct sched_machine *m, uint64_t now_ns)
{
	struct sched_ending e = {.outcome = KG_OUTCOME_INFRA, .keep_tries = true};
	char text[SCHED_REASON_BYTES];

	if (!m->boot)
		return;
	(void)snprintf(text, sizeof(text), "the machine was taken into maintenance%s%s",
		       m->service_why ? ": " : "", m->service_why ? m->service_why : "");
	e.reason = text;
	sched_fence(s, m, text);
	sched_end_boot(s, m, &e, now_ns);
}

int sched_machine_service(struct sched *s, const char *machine, enum sched_service service,
			  const char *why, uint64_t now_ns)
{
	struct sched_machine *m = sched_machine_find(s, machine);

	if (!m)
		return KG_ENOTFOUND;
	m->service = service;
	sched_set_text(&m->service_why, why);
	if (service != SCHED_NORMAL && m->claim)
		sched_claim_drop(s, m->claim);
	if (service == SCHED_MAINTENANCE)
		into_maintenance(s, m, now_ns);
	sched_due(s, m);
	sched_settle_down(s, now_ns);
	return 0;
}
