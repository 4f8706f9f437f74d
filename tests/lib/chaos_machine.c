/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "tests/lib/chaos_machine.h"

#include <stdio.h>

#include "common/clock.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static const char single[] =
	"name: fake\nparameters:\n  size: {type: int, min: 1, max: 100, default: 1}\n"
	"command: [echo, \"{size}\"]\nduration: \"1\"\ntimeout: 2s\n"
	"metrics:\n  - {name: rate, unit: 1/s, direction: higher, read: {keyval: R}}\n";
static const char steady[] =
	"name: canary\nparameters: {}\ncommand: [echo, x]\ncanary: true\nduration: \"1\"\n"
	"timeout: 2s\n"
	"metrics:\n  - {name: rate, unit: 1/s, direction: higher, read: {keyval: R}}\n";
static const char pair[] =
	"name: duo\nparameters:\n  size: {type: int, min: 1, max: 100, default: 1}\n"
	"helper: [duod, -p, \"{port}\", -L, \"{host}\"]\n"
	"command: [duo, \"{host}\", \"{port}\", \"{size}\"]\npair: true\nduration: \"1\"\n"
	"timeout: 2s\n"
	"metrics:\n  - {name: rate, unit: 1/s, direction: higher, read: {keyval: R}}\n";

/* Slower on newer kernels, so that there is something to find. */
static double value_of(void *arg, const struct player_run *run)
{
	const struct chaos_machine *m = arg;

	return (strstr(m->name, "1") ? 100 : 80) + (double)(run->boot * 7 % 10) / 10 +
	       (double)(run->kernel[0] % 2) * 20;
}

void chaos_machine_init(struct chaos_machine *m, const char *name, const char *vendor)
{
	memset(m, 0, sizeof(*m));
	m->name = m->p.machine = name;
	m->vendor = vendor;
	m->p.value = value_of;
	m->p.arg = m;
	m->p.keeps = true;
}

static void join(struct chaos_machine *m)
{
	static const struct peer_workload workloads[] = {
		{"fake", single}, {"canary", steady}, {"duo", pair}, {NULL, NULL}};
	bool busy = m->p.order;
	char id[64];

	(void)snprintf(id, sizeof(id), "state-%s", m->name);
	m->p.agent = peer_connect(m->address);
	peer_hello_agent(m->p.agent, m->name, id);
	peer_agent_facts(m->p.agent, &(struct peer_machine){.vendor = m->vendor,
							    .address = "192.0.2.1",
							    .settings_known = true,
							    .workloads = workloads});
	peer_agent_state(m->p.agent, busy ? m->p.boot : 0, busy ? m->p.epoch : 0,
			 busy ? "run" : "");
	player_resend(&m->p);
	m->asked = false;
}

void chaos_machine_leave(struct chaos_machine *m)
{
	peer_close(m->p.agent);
	m->p.agent = NULL;
}

static void take_order(struct chaos_machine *m, struct kg_msg *order)
{
	const Kgrid__V1__BootOrder *o = PEER_BODY(order, Kgrid__V1__BootOrder);

	if (m->p.order && o->boot == m->p.boot && o->lease_epoch == m->p.epoch) {
		kg_msg_free(order);
		return;
	}
	kg_msg_free(m->p.order);
	m->p.order = order;
	m->p.boot = o->boot;
	m->p.epoch = o->lease_epoch;
	m->run = 0;
	m->begun = m->asked = m->ready = m->done = false;
}

static void drop_order(struct chaos_machine *m)
{
	kg_msg_free(m->p.order);
	m->p.order = NULL;
}

static void hear(struct chaos_machine *m, struct kg_msg *msg)
{
	Kgrid__V1__Pong pong = KGRID__V1__PONG__INIT;

	switch (kg_msg_type(msg)) {
	case KG_MSG_BOOT_ORDER:
		take_order(m, msg);
		return;
	case KG_MSG_FENCE_BOOT:
		if (m->p.order && PEER_BODY(msg, Kgrid__V1__FenceBoot)->boot == m->p.boot)
			drop_order(m);
		break;
	case KG_MSG_RECORD_ACK:
		player_acked(&m->p, PEER_BODY(msg, Kgrid__V1__RecordAck));
		break;
	case KG_MSG_PEER_READY:
		m->ready = true;
		break;
	case KG_MSG_PEER_DONE:
		m->done = true;
		break;
	case KG_MSG_PING:
		peer_send(m->p.agent, KG_MSG_PONG, 0, &pong.base);
		break;
	default:
		break;
	}
	kg_msg_free(msg);
}

static bool listen_to_it(struct chaos_machine *m)
{
	while (!peer_quiet(m->p.agent, 0)) {
		struct kg_msg *msg = peer_next(m->p.agent);

		if (!msg) {
			chaos_machine_leave(m);
			return false;
		}
		hear(m, msg);
	}
	return true;
}

static const char *bad_outcome(struct chaos_rng *r)
{
	static const char *const words[] = {"fail",	   "run-timeout", "infra",
					    "invalid-env", "panic",	  "boot-fallback",
					    "wrong-lsm",   "boot-hang",	  "nonsense"};

	return words[chaos_below(r, sizeof(words) / sizeof(words[0]))];
}

static void say_part(struct chaos_machine *m, const Kgrid__V1__RunOrder *run)
{
	Kgrid__V1__PeerServing s = KGRID__V1__PEER_SERVING__INIT;
	Kgrid__V1__PeerWanted w = KGRID__V1__PEER_WANTED__INIT;

	m->asked = true;
	if (strcmp(run->role, "server") == 0) {
		s.has_boot = s.has_attempt = s.has_port = 1;
		s.boot = m->p.boot;
		s.attempt = run->attempt;
		s.port = 4711;
		player_stage(&m->p, "serve", run->attempt);
		peer_send(m->p.agent, KG_MSG_PEER_SERVING, 0, &s.base);
		return;
	}
	w.has_boot = w.has_attempt = 1;
	w.boot = m->p.boot;
	w.attempt = run->attempt;
	player_stage(&m->p, "pair", run->attempt);
	peer_send(m->p.agent, KG_MSG_PEER_WANTED, 0, &w.base);
}

static void make_run(struct chaos_machine *m, struct chaos_rng *r, bool calm)
{
	const Kgrid__V1__BootOrder *o = PEER_BODY(m->p.order, Kgrid__V1__BootOrder);
	const Kgrid__V1__RunOrder *run = o->runs[m->run];
	bool server = run->role && strcmp(run->role, "server") == 0;

	if (run->role && run->role[0] && !m->asked) {
		say_part(m, run);
		return;
	}
	if (run->role && run->role[0] && !(server ? m->done : m->ready) &&
	    (calm || !chaos_one_in(r, 50)))
		return;
	if (!calm && chaos_one_in(r, 6))
		player_end_run(&m->p, m->run, bad_outcome(r));
	else if (server)
		player_end_run(&m->p, m->run, "pass");
	else
		player_run(&m->p, m->run);
	m->run++;
	m->asked = m->ready = m->done = false;
}

static void work(struct chaos_machine *m, struct chaos_rng *r, bool calm)
{
	struct kg_msg *order = m->p.order;

	if (!order)
		return;
	if (!calm && chaos_one_in(r, 40)) {
		player_finish(&m->p, bad_outcome(r)); /* whatever it was at */
	} else if (!m->begun) {
		(void)player_take(&m->p, order);
		m->begun = true;
	} else if (m->run < PEER_BODY(order, Kgrid__V1__BootOrder)->n_runs) {
		make_run(m, r, calm);
	} else {
		player_finish(&m->p, calm || !chaos_one_in(r, 10) ? "pass" : bad_outcome(r));
	}
}

/* What no agent of ours says: records without their fields, of any attempt; other machines' boots. */
static void say_nonsense(struct chaos_machine *m, struct chaos_rng *r)
{
	Kgrid__V1__StageEntered stage = KGRID__V1__STAGE_ENTERED__INIT;
	Kgrid__V1__SampleBatch samples = KGRID__V1__SAMPLE_BATCH__INIT;
	Kgrid__V1__AttemptStarted started = KGRID__V1__ATTEMPT_STARTED__INIT;
	Kgrid__V1__AttemptEnded ended = KGRID__V1__ATTEMPT_ENDED__INIT;
	Kgrid__V1__Document document = KGRID__V1__DOCUMENT__INIT;
	void *bodies[] = {NULL, &stage, &started, &samples, &ended, &document};
	const Kgrid__V1__Record__BodyCase cases[] = {
		KGRID__V1__RECORD__BODY__NOT_SET,	 KGRID__V1__RECORD__BODY_STAGE,
		KGRID__V1__RECORD__BODY_ATTEMPT_STARTED, KGRID__V1__RECORD__BODY_SAMPLES,
		KGRID__V1__RECORD__BODY_ATTEMPT_ENDED,	 KGRID__V1__RECORD__BODY_DOCUMENT};
	Kgrid__V1__Record rec = KGRID__V1__RECORD__INIT;
	Kgrid__V1__PeerServing serving = KGRID__V1__PEER_SERVING__INIT;
	double value[3] = {1, 2, 3};
	size_t which = chaos_below(r, sizeof(cases) / sizeof(cases[0]));

	samples.value = value;
	samples.n_value = chaos_below(r, 4);
	rec.has_boot = rec.has_lease_epoch = rec.has_seq = rec.has_attempt = 1;
	rec.boot = chaos_one_in(r, 4) ? chaos_below(r, 50) : m->p.boot;
	rec.lease_epoch = m->p.epoch;
	rec.seq = ++m->p.seq;
	rec.attempt = chaos_below(r, 100);
	rec.body_case = cases[which];
	rec.stage = bodies[which];
	peer_send(m->p.agent, KG_MSG_RECORD, 0, &rec.base);
	serving.has_boot = serving.has_attempt = serving.has_port = 1;
	serving.boot = rec.boot;
	serving.attempt = rec.attempt;
	serving.port = (uint32_t)chaos_below(r, 70000);
	peer_send(m->p.agent, KG_MSG_PEER_SERVING, 0, &serving.base);
}

void chaos_machine_step(struct chaos_machine *m, struct chaos_rng *r, bool calm)
{
	if (!m->p.agent) {
		if (calm || chaos_one_in(r, 20))
			join(m);
		return;
	}
	if (!listen_to_it(m))
		return;
	if (!calm && kg_monotonic_ns() < m->silent_until_ns)
		return;
	if (!calm && chaos_one_in(r, 300)) {
		m->silent_until_ns =
			kg_monotonic_ns() + chaos_below(r, 4000) * (KG_NSEC_PER_SEC / 1000);
	} else if (!calm && chaos_one_in(r, 100)) {
		chaos_machine_leave(m);
		if (chaos_one_in(r, 3))
			player_forget(&m->p);
	} else if (!calm && chaos_one_in(r, 100)) {
		player_resend(&m->p);
	} else if (!calm && chaos_one_in(r, 200)) {
		say_nonsense(m, r);
	} else {
		work(m, r, calm);
	}
}
