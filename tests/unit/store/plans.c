/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plans.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"

void plan_init(struct plan_job *p, const char *name)
{
	memset(p, 0, sizeof(*p));
	p->job = (struct store_job){.name = name,
				    .text = "name: x\n",
				    .file_name = "x.yaml",
				    .priority = 50,
				    .blocks = 1,
				    .submitted_ns = 100,
				    .cells = p->cells,
				    .slots = p->slots};
}

struct store_cell *plan_cell(struct plan_job *p, bool fresh)
{
	size_t i = p->job.n_cells++;
	struct store_cell *c = &p->cells[i];

	assert_true(i < PLAN_CELLS);
	(void)snprintf(p->identities[i], sizeof(p->identities[i]), "i%zu", i);
	*c = (struct store_cell){.identity = p->identities[i],
				 .machine = MACHINE,
				 .kernel = fresh ? KERNEL_B : KERNEL_A,
				 .kernel_label = fresh ? "new" : "old",
				 .lsm_label = "nt",
				 .lsm_request = "apparmor",
				 .lsm_effective = "capability,apparmor",
				 .cmdline = "lsm=apparmor",
				 .workload = "netperf",
				 .workload_digest = "d",
				 .params = "seconds=1 size=64",
				 .iterations = 3,
				 .timeout_s = 60,
				 .kernel_order = fresh};
	return c;
}

static bool same_boot(const struct store_cell *a, const struct store_cell *b)
{
	return kg_streq(a->machine, b->machine) && kg_streq(a->kernel, b->kernel) &&
	       kg_streq(a->lsm_label, b->lsm_label) && kg_streq(a->variant, b->variant) &&
	       kg_streq(a->peer, b->peer);
}

void plan_slots(struct plan_job *p, uint32_t blocks)
{
	struct store_job *j = &p->job;
	uint32_t visits[PLAN_CELLS], n = 0;

	for (size_t i = 0; i < j->n_cells; i++) {
		visits[i] = n + 1;
		for (size_t k = 0; k < i; k++)
			if (same_boot(&p->cells[k], &p->cells[i]))
				visits[i] = visits[k];
		n += visits[i] > n;
	}
	j->blocks = blocks;
	for (uint32_t b = 0; b < blocks; b++)
		for (size_t i = 0; i < j->n_cells; i++) {
			assert_true(j->n_slots < PLAN_SLOTS);
			p->slots[j->n_slots++] = (struct store_slot){.cell_index = i,
								     .block = b + 1,
								     .visit = b * n + visits[i],
								     .position = (uint32_t)i + 1};
		}
}

uint64_t plan_insert(struct fixture *f, struct plan_job *p, struct answer *ret)
{
	if (RUN(f, ret, store_job_insert(f->s, &p->job, answer_done(ret))) != 0)
		fail_msg("%s", ret->text);
	return ret->r.id;
}

void plan_boot(struct fixture *f, uint64_t id, uint64_t job, const struct fixture_where *w,
	       const uint64_t *slots, const double *base, size_t n)
{
	const char *machine = w->machine ? w->machine : MACHINE;
	struct store_settle st[16];
	struct store_boot_end e = {.boot = id,
				   .outcome = KG_OUTCOME_PASS,
				   .settles = st,
				   .n_settles = n,
				   .now_ns = w->started_ns + 100 * SECOND};
	struct answer a;
	uint64_t seq = 1;

	assert_int_equal(fixture_boot_at(f, id, job, w, slots, n), 0);
	must_ingest(f, machine, record_evidence(id, seq++, 1));
	for (size_t i = 0; i < n; i++) {
		uint64_t attempt = id * 100 + i;
		Kgrid__V1__Record end;

		must_ingest(f, machine, record_started(id, seq++, attempt));
		must_ingest(f, machine, record_samples(id, seq++, attempt, 0, 3, base[i] - 1));
		end = record_ended(id, seq++, attempt, "pass", 3);
		end.attempt_ended->run_ns = (uint64_t)(30 * SECOND);
		must_ingest(f, machine, end);
		st[i] = (struct store_settle){.slot = slots[i],
					      .outcome = KG_OUTCOME_PASS,
					      .attempt = attempt,
					      .count_try = true};
	}
	if (RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))) != 0)
		fail_msg("%s", a.text);
}
