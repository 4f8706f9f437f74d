/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/player.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(s)	  ((char *)(uintptr_t)(s))
#define MAX_FACTS 64

static void keep(struct player *p, const Kgrid__V1__Record *r)
{
	struct kg_msg **grown = realloc(p->kept, (p->n_kept + 1) * sizeof(*grown));

	if (!grown || kg_msg_copy(KG_MSG_RECORD, &r->base, &grown[p->n_kept], NULL) < 0)
		abort();
	p->kept = grown;
	p->n_kept++;
}

static void send(struct player *p, Kgrid__V1__Record *r)
{
	r->has_boot = r->has_lease_epoch = r->has_seq = r->has_monotonic_ns = 1;
	r->boot = p->boot;
	r->lease_epoch = p->epoch;
	r->seq = ++p->seq;
	r->monotonic_ns = 1000 * p->seq;
	if (p->keeps)
		keep(p, r);
	if (p->agent)
		peer_send(p->agent, KG_MSG_RECORD, 0, &r->base);
}

void player_acked(struct player *p, const Kgrid__V1__RecordAck *ack)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_kept; i++) {
		const Kgrid__V1__Record *r = PEER_BODY(p->kept[i], Kgrid__V1__Record);

		if (r->boot == ack->boot && r->lease_epoch == ack->lease_epoch &&
		    r->seq <= ack->seq)
			kg_msg_free(p->kept[i]);
		else
			p->kept[n++] = p->kept[i];
	}
	p->n_kept = n;
}

void player_resend(struct player *p)
{
	for (size_t i = 0; i < p->n_kept; i++)
		peer_send(p->agent, KG_MSG_RECORD, 0, kg_msg_body(p->kept[i]));
}

void player_forget(struct player *p)
{
	for (size_t i = 0; i < p->n_kept; i++)
		kg_msg_free(p->kept[i]);
	free(p->kept);
	p->kept = NULL;
	p->n_kept = 0;
	kg_msg_free(p->order);
	p->order = NULL;
}

static void send_stage(struct player *p, const char *stage, uint64_t attempt)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__StageEntered s = KGRID__V1__STAGE_ENTERED__INIT;

	s.stage = TEXT(stage);
	s.has_attempt = attempt != 0;
	s.attempt = attempt;
	r.body_case = KGRID__V1__RECORD__BODY_STAGE;
	r.stage = &s;
	send(p, &r);
}

static void send_evidence(struct player *p, const Kgrid__V1__BootOrder *o)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__BootEvidence e = KGRID__V1__BOOT_EVIDENCE__INIT;

	e.has_verified = e.verified = 1;
	e.lsm = o->expect_lsm;
	e.release = o->expect_release;
	r.body_case = KGRID__V1__RECORD__BODY_EVIDENCE;
	r.evidence = &e;
	send(p, &r);
}

static void send_facts(struct player *p)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__Provenance v = KGRID__V1__PROVENANCE__INIT;
	Kgrid__V1__Fact facts[MAX_FACTS], *list[MAX_FACTS];

	for (const struct player_fact *f = p->facts; f->name && v.n_facts < MAX_FACTS; f++) {
		kgrid__v1__fact__init(&facts[v.n_facts]);
		facts[v.n_facts].name = TEXT(f->name);
		facts[v.n_facts].value = TEXT(f->value);
		facts[v.n_facts].reason = TEXT(f->value ? NULL : "absent");
		list[v.n_facts] = &facts[v.n_facts];
		v.n_facts++;
	}
	v.phase = TEXT("boot");
	v.facts = list;
	r.body_case = KGRID__V1__RECORD__BODY_PROVENANCE;
	r.provenance = &v;
	send(p, &r);
}

static void send_started(struct player *p, uint64_t attempt)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__AttemptStarted s = KGRID__V1__ATTEMPT_STARTED__INIT;
	Kgrid__V1__MetricInfo info = KGRID__V1__METRIC_INFO__INIT;
	Kgrid__V1__MetricInfo *infos[] = {&info};

	info.has_id = 1;
	info.name = TEXT("rate");
	info.unit = TEXT("1/s");
	info.direction = TEXT(p->direction ? p->direction : "higher");
	s.metrics = infos;
	s.n_metrics = 1;
	r.has_attempt = 1;
	r.attempt = attempt;
	r.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_STARTED;
	r.attempt_started = &s;
	send(p, &r);
}

static void send_samples(struct player *p, const Kgrid__V1__RunOrder *o, struct player_run *run)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__SampleBatch b = KGRID__V1__SAMPLE_BATCH__INIT;
	uint32_t *u = calloc(3 * (size_t)o->iterations + 1, sizeof(*u));
	int64_t *delta = calloc((size_t)o->iterations + 1, sizeof(*delta));
	double *value = calloc((size_t)o->iterations + 1, sizeof(*value));

	if (!u || !delta || !value)
		abort();
	b.index = u;
	b.metric = u + o->iterations;
	b.iteration = u + 2 * (size_t)o->iterations;
	b.time_delta_ns = delta;
	b.value = value;
	b.n_index = b.n_metric = b.n_iteration = b.n_time_delta_ns = b.n_value = o->iterations;
	for (uint32_t i = 0; i < o->iterations; i++) {
		run->iteration = i + 1;
		b.index[i] = i;
		b.iteration[i] = i + 1;
		delta[i] = 1000;
		value[i] = p->value(p->arg, run);
	}
	r.has_attempt = 1;
	r.attempt = o->attempt;
	r.body_case = KGRID__V1__RECORD__BODY_SAMPLES;
	r.samples = &b;
	send(p, &r);
	free(u);
	free(delta);
	free(value);
}

static void send_ended(struct player *p, const Kgrid__V1__RunOrder *o, const char *outcome)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__AttemptEnded e = KGRID__V1__ATTEMPT_ENDED__INIT;

	e.outcome = TEXT(outcome);
	e.reason = TEXT(strcmp(outcome, "pass") == 0 ? NULL : "made up");
	e.has_samples = 1;
	e.samples = o->iterations;
	r.has_attempt = 1;
	r.attempt = o->attempt;
	r.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_ENDED;
	r.attempt_ended = &e;
	send(p, &r);
}

static void send_boot_ended(struct player *p, const char *outcome)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__BootEnded e = KGRID__V1__BOOT_ENDED__INIT;

	e.outcome = TEXT(outcome);
	e.reason = TEXT(strcmp(outcome, "pass") == 0 ? NULL : "made up");
	r.body_case = KGRID__V1__RECORD__BODY_BOOT_ENDED;
	r.boot_ended = &e;
	send(p, &r);
}

static void play_run(struct player *p, const Kgrid__V1__BootOrder *o, const Kgrid__V1__RunOrder *ro)
{
	struct player_run run = {.machine = p->machine,
				 .kernel = o->kernel_digest,
				 .lsm = o->expect_lsm,
				 .workload = ro->workload,
				 .boot = o->boot};
	char params[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < ro->n_params && len < sizeof(params); i++)
		len += (size_t)snprintf(params + len, sizeof(params) - len, "%s%s=%s", i ? " " : "",
					ro->params[i]->name, ro->params[i]->value);
	run.params = params;
	send_started(p, ro->attempt);
	send_samples(p, ro, &run);
	send_ended(p, ro, p->outcome ? p->outcome(p->arg, &run) : "pass");
}

const Kgrid__V1__BootOrder *player_begin(struct player *p)
{
	return player_take(p, peer_expect(p->agent, KG_MSG_BOOT_ORDER));
}

const Kgrid__V1__BootOrder *player_take(struct player *p, struct kg_msg *order)
{
	const Kgrid__V1__BootOrder *o;

	p->order = order;
	o = PEER_BODY(p->order, Kgrid__V1__BootOrder);
	p->boot = o->boot;
	p->epoch = o->lease_epoch;
	p->seq = 0;
	send_stage(p, "fetch", 0);
	send_stage(p, "boot", 0);
	send_evidence(p, o);
	if (p->facts)
		send_facts(p);
	return o;
}

void player_run(struct player *p, size_t run)
{
	const Kgrid__V1__BootOrder *o = PEER_BODY(p->order, Kgrid__V1__BootOrder);

	play_run(p, o, o->runs[run]);
}

void player_stage(struct player *p, const char *stage, uint64_t attempt)
{
	send_stage(p, stage, attempt);
}

void player_end_run(struct player *p, size_t run, const char *outcome)
{
	const Kgrid__V1__BootOrder *o = PEER_BODY(p->order, Kgrid__V1__BootOrder);
	Kgrid__V1__RunOrder none = *o->runs[run];

	none.iterations = 0;
	send_started(p, none.attempt);
	send_ended(p, &none, outcome);
}

void player_finish(struct player *p, const char *outcome)
{
	send_boot_ended(p, outcome);
	kg_msg_free(p->order);
	p->order = NULL;
}

void player_boot(struct player *p)
{
	const Kgrid__V1__BootOrder *o = player_begin(p);

	send_stage(p, "run", 0);
	for (size_t i = 0; i < o->n_runs; i++)
		player_run(p, i);
	player_finish(p, "pass");
}
