/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Happy path: the question that people ask (`kgrid compare`), on a worker thread; until_judge; the
 * next block, or the rest is skipped with the reason.
 * Failure modes: the comparison fails (nothing to compare yet, the database): the next block is
 * made, since more data is what was asked for; the coordinator dies: the scheduler asks again
 * when it takes the job up.
 */
#include "coordinator/server/stopper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/coordinator.h"
#include "coordinator/report/until.h"

struct judge {
	struct work w;
	uint64_t job;
	char machine[64];
	uint32_t block, min, max;
	double pct;
	struct until_answer answer;
};

static void judge_run(struct work *w)
{
	struct judge *j = (struct judge *)w;
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__CompareReply *reply = NULL;

	rq.has_job = 1;
	rq.job = j->job;
	w->rc = query_compare(w->c->query, &rq, &reply, &w->err);
	if (w->rc < 0)
		return;
	until_judge(
		&(struct until_question){
			.compare = reply,
			.machine = j->machine,
			.pct = j->pct,
			.blocks_done = j->block,
			.blocks_min = j->min,
			.blocks_max = j->max,
		},
		&j->answer);
	protobuf_c_message_free_unpacked(&reply->base, NULL);
}

static void judge_finish(struct work *w)
{
	struct judge *j = (struct judge *)w;
	struct coordinator *c = w->c;
	uint64_t now = kg_boottime_ns();

	if (c->stopping)
		return;
	if (w->rc < 0)
		kg_log_warn("job %llu on '%s': cannot judge the stop rule, the next block is made: "
			    "%s",
			    (unsigned long long)j->job, j->machine, w->err.text);
	else if (j->answer.text[0])
		kg_log_info("job %llu on '%s': %s", (unsigned long long)j->job, j->machine,
			    j->answer.text);
	if (w->rc == 0 && j->answer.text[0])
		driver_event(&c->driver, j->machine, j->job, 0, "until", j->answer.text);
	if (w->rc == 0 && j->answer.stop)
		sched_close(&c->sched, j->job, j->machine, KG_OUTCOME_SKIPPED, j->answer.text, now);
	else
		sched_release(&c->sched, j->job, j->machine, j->block + 1, now);
}

int stopper_judge(struct coordinator *c, uint64_t job, const char *machine, uint32_t block)
{
	const struct sched_job *sj = sched_job_find(&c->sched, job);
	struct judge *j = sj ? calloc(1, sizeof(*j)) : NULL;

	if (!sj)
		return 0; /* over meanwhile */
	if (!j)
		return -ENOMEM;
	j->job = job;
	(void)snprintf(j->machine, sizeof(j->machine), "%s", machine);
	j->block = block;
	j->min = sj->gate_block;
	j->max = sj->blocks;
	j->pct = sj->until_pct;
	j->w.run = judge_run;
	j->w.finish = judge_finish;
	work_start_internal(c, &j->w);
	return 0;
}
