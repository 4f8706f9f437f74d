/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "tests/lib/chaos_client.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/str.h"
#include "tests/lib/synthetic_kernel.h"

#define TEXT(s)	      ((char *)(uintptr_t)(s))
#define LIMIT_NS      (60 * KG_NSEC_PER_SEC)
#define MAX_JOBS      60 /* numbers that are asked about */
#define PICK(r, list) ((list)[chaos_below((r), sizeof(list) / sizeof((list)[0]))])

static const char *const machines[] = {"m1", "m2", "m3", "m4"};

static void ask(struct chaos_client *c, uint16_t type, const ProtobufCMessage *body)
{
	c->asked = type;
	c->since_ns = kg_monotonic_ns();
	peer_send(c->peer, type, ++c->id, body);
}

static uint64_t some_job(struct chaos_rng *r)
{
	return chaos_one_in(r, 2) ? chaos_below(r, 8) : chaos_below(r, MAX_JOBS);
}

/* ---- requests ---- */

static void job_text(struct chaos_rng *r, struct kg_str *s)
{
	static const char *const where[] = {"[m1]",
					    "[m1, m2]",
					    "[m3]",
					    "[m1, m2, m3, m4]",
					    "\"vendor == amd\"",
					    "\"vendor in (intel, amd)\""};
	static const char *const work[] = {
		"[{fake: {}}]",
		"[{fake: {size: [1, 2]}}]",
		"[{fake: {}}, {canary: {}}]",
		"[{duo: {role: {client: m1, server: m2}}}]",
		"[{duo: {role: {client: m2, server: m1}}}, {fake: {}}]",
		"[{duo: {role: {client: \"vendor == intel\", server: \"vendor == amd\"}}}]"};
	static const char *const lists[] = {"{a: yama}", "{a: yama, b: \"yama,tomoyo\"}",
					    "{a: yama, b: \"yama,apparmor\", c: default}"};
	static const char *const repeat[] = {
		"{boots: 1, iterations: 2}", "{boots: 2, iterations: 1}",
		"{boots: 5, iterations: 2}", "{boots: 2..4, iterations: 2, until: \"ci95 <= 1%\"}",
		"{boots: 2..6, iterations: 1, until: \"ci95 <= 90%\"}"};
	static const char *const more[] = {"",
					   "",
					   "canary: none\n",
					   "order: grouped\n",
					   "priority: 90\n",
					   "confirm: false\n",
					   "budget: {wall: 60s}\n",
					   "cmdline: {vary: [quiet, nosmt]}\n",
					   "settings: {sysctl: {vm.swappiness: [10, 60]}}\n",
					   "pairwise: true\n"};
	static const char *const kernels[] = {"[k1]", "[k1, k2]", "[k2, newest]"};
	bool stands = chaos_one_in(r, 8), added = chaos_one_in(r, 2);

	kg_str_addf(s,
		    "name: j%d\nmachines: %s\nkernels: %s\nlsm: %s\nworkloads: %s\nrepeat: %s\n%s",
		    (int)chaos_below(r, 3), PICK(r, where),
		    stands && added ? "[added]" : PICK(r, kernels), PICK(r, lists), PICK(r, work),
		    PICK(r, repeat), PICK(r, more));
	if (!stands && chaos_one_in(r, 6))
		kg_str_addf(s, "after: [%d]\n", (int)some_job(r));
	if (stands)
		kg_str_addf(s, "when: %s\n", added ? "kernel added" : "nightly");
}

static void submit(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__SubmitRequest q = KGRID__V1__SUBMIT_REQUEST__INIT;
	struct kg_str s = {0};

	job_text(r, &s);
	q.text = s.text;
	q.file_name = TEXT("job.yaml");
	q.has_dry_run = 1;
	q.dry_run = chaos_one_in(r, 4);
	q.has_explain_cell = q.dry_run;
	q.explain_cell = 1;
	q.has_list_cells = 1;
	q.list_cells = chaos_one_in(r, 2);
	ask(c, KG_MSG_SUBMIT, &q.base);
	kg_str_deinit(&s);
}

static void change_job(struct chaos_client *c, struct chaos_rng *r)
{
	static const char *const actions[] = {"pause", "resume", "reprioritise", "extend"};
	Kgrid__V1__JobChange q = KGRID__V1__JOB_CHANGE__INIT;

	q.has_job = q.has_value = 1;
	q.job = some_job(r);
	q.action = TEXT(PICK(r, actions));
	q.value = strcmp(q.action, "extend") == 0 ? 1 : (uint32_t)chaos_below(r, 101);
	ask(c, KG_MSG_JOB_CHANGE, &q.base);
}

static void cancel(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__JobCancelRequest q = KGRID__V1__JOB_CANCEL_REQUEST__INIT;

	q.has_job = 1;
	q.job = some_job(r);
	ask(c, KG_MSG_JOB_CANCEL, &q.base);
}

static void retry(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__JobRetryRequest q = KGRID__V1__JOB_RETRY_REQUEST__INIT;

	q.has_job = 1;
	q.job = some_job(r);
	ask(c, KG_MSG_JOB_RETRY, &q.base);
}

static void change_machine(struct chaos_client *c, struct chaos_rng *r)
{
	static const char *const actions[] = {"reserve", "release", "drain",  "maintenance",
					      "resume",	 "resume",  "release"};
	Kgrid__V1__MachineChange q = KGRID__V1__MACHINE_CHANGE__INIT;

	q.machine = TEXT(PICK(r, machines));
	q.action = TEXT(PICK(r, actions));
	q.has_seconds = 1;
	q.seconds = 60 + chaos_below(r, 600);
	q.why = TEXT("because");
	ask(c, KG_MSG_MACHINE_CHANGE, &q.base);
}

static void standing(struct chaos_client *c, struct chaos_rng *r)
{
	static const char *const actions[] = {"", "remove", "run"};
	Kgrid__V1__StandingRequest q = KGRID__V1__STANDING_REQUEST__INIT;

	q.has_id = 1;
	q.id = chaos_below(r, 6);
	q.action = TEXT(PICK(r, actions));
	ask(c, KG_MSG_STANDING, &q.base);
}

static void why(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__WhyRequest q = KGRID__V1__WHY_REQUEST__INIT;
	char text[64];

	if (chaos_one_in(r, 3))
		(void)snprintf(text, sizeof(text), "%s", PICK(r, machines));
	else if (chaos_one_in(r, 2))
		(void)snprintf(text, sizeof(text), "%d", (int)some_job(r));
	else
		(void)snprintf(text, sizeof(text), "%d/%d", (int)some_job(r),
			       (int)chaos_below(r, 12));
	q.subject = text;
	ask(c, KG_MSG_WHY, &q.base);
}

static void reproduce(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__ReproduceRequest q = KGRID__V1__REPRODUCE_REQUEST__INIT;

	q.has_job = q.has_cell = 1;
	q.job = some_job(r);
	q.cell = (uint32_t)chaos_below(r, 12);
	ask(c, KG_MSG_REPRODUCE, &q.base);
}

static void compare(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__CompareRequest q = KGRID__V1__COMPARE_REQUEST__INIT;

	q.has_job = q.has_values = 1;
	q.job = some_job(r);
	q.values = chaos_one_in(r, 2);
	ask(c, KG_MSG_COMPARE, &q.base);
}

static void watch(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__WatchRequest q = KGRID__V1__WATCH_REQUEST__INIT;

	q.has_job = 1;
	q.job = some_job(r);
	ask(c, KG_MSG_WATCH, &q.base);
}

static void look_at_job(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__SamplesRequest s = KGRID__V1__SAMPLES_REQUEST__INIT;
	Kgrid__V1__JobRequest j = KGRID__V1__JOB_REQUEST__INIT;
	Kgrid__V1__LogsRequest l = KGRID__V1__LOGS_REQUEST__INIT;

	s.has_job = j.has_job = l.has_boot = 1;
	s.job = j.job = some_job(r);
	l.boot = 1 + chaos_below(r, 20);
	switch (chaos_below(r, 3)) {
	case 0:
		ask(c, KG_MSG_SAMPLES, &s.base);
		break;
	case 1:
		ask(c, KG_MSG_JOB, &j.base);
		break;
	default:
		ask(c, KG_MSG_LOGS, &l.base);
		break;
	}
}

static void look_around(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__JobsRequest jobs = KGRID__V1__JOBS_REQUEST__INIT;
	Kgrid__V1__MachinesRequest ms = KGRID__V1__MACHINES_REQUEST__INIT;
	Kgrid__V1__RegressionsRequest rs = KGRID__V1__REGRESSIONS_REQUEST__INIT;
	Kgrid__V1__NoiseRequest noise = KGRID__V1__NOISE_REQUEST__INIT;
	Kgrid__V1__HistoryRequest h = KGRID__V1__HISTORY_REQUEST__INIT;
	Kgrid__V1__Selection sel = KGRID__V1__SELECTION__INIT;

	sel.has_all_jobs = sel.all_jobs = 1;
	h.select = &sel;
	switch (chaos_below(r, 5)) {
	case 0:
		ask(c, KG_MSG_JOBS, &jobs.base);
		break;
	case 1:
		ms.where = TEXT("vendor == amd and cpus >= 2");
		ask(c, KG_MSG_MACHINES, &ms.base);
		break;
	case 2:
		ask(c, KG_MSG_REGRESSIONS, &rs.base);
		break;
	case 3:
		ask(c, KG_MSG_NOISE, &noise.base);
		break;
	default:
		ask(c, KG_MSG_HISTORY, &h.base);
		break;
	}
}

static void regression(struct chaos_client *c, struct chaos_rng *r)
{
	static const char *const actions[] = {"ack", "close", "reopen", "comment", "retest"};
	Kgrid__V1__RegressionAction q = KGRID__V1__REGRESSION_ACTION__INIT;

	q.has_id = 1;
	q.id = chaos_below(r, 4);
	q.action = TEXT(PICK(r, actions));
	q.text = TEXT("said");
	ask(c, KG_MSG_REGRESSION_ACTION, &q.base);
}

static void calibrate(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__CalibrateRequest q = KGRID__V1__CALIBRATE_REQUEST__INIT;

	q.machine = TEXT(PICK(r, machines));
	q.has_boots = 1;
	q.boots = 4;
	q.has_stop = 1;
	q.stop = chaos_one_in(r, 2);
	ask(c, KG_MSG_CALIBRATE, &q.base);
}

static void remove_kernel(struct chaos_client *c, struct chaos_rng *r)
{
	static const char *const labels[] = {"k3", "k3", "k3", "nothing"};
	Kgrid__V1__KernelRemove q = KGRID__V1__KERNEL_REMOVE__INIT;

	q.selector = TEXT(PICK(r, labels));
	ask(c, KG_MSG_KERNEL_REMOVE, &q.base);
}

static void resolve(struct chaos_client *c, struct chaos_rng *r)
{
	Kgrid__V1__LsmResolveRequest q = KGRID__V1__LSM_RESOLVE_REQUEST__INIT;

	q.kernel = TEXT(chaos_one_in(r, 2) ? "k1" : "k3");
	q.cmdline = TEXT("lsm=yama,tomoyo");
	ask(c, KG_MSG_LSM_RESOLVE, &q.base);
}

typedef void (*request_fn)(struct chaos_client *c, struct chaos_rng *r);
static const request_fn requests[] = {
	submit,	     submit,	  submit,     change_job,     change_job,    change_job,
	cancel,	     retry,	  retry,      standing,	      why,	     why,
	reproduce,   compare,	  watch,      change_machine, watch,	     look_at_job,
	look_at_job, look_around, regression, calibrate,      remove_kernel, resolve,
};

/* Without waiting for any of the answers. */
static void burst(struct chaos_client *c, struct chaos_rng *r)
{
	c->mixed = true;
	for (uint64_t n = 1 + chaos_below(r, 20); n > 0; n--)
		requests[chaos_below(r, sizeof(requests) / sizeof(requests[0]))](c, r);
}

/* ---- answers ---- */

static bool goes_on(const struct kg_msg *m)
{
	switch (kg_msg_type(m)) {
	case KG_MSG_PING:
	case KG_MSG_WATCH_UPDATE:
	case KG_MSG_SAMPLES_REPLY:
	case KG_MSG_LOGS_REPLY:
		return true;
	case KG_MSG_REPLY_PART:
		return !PEER_BODY(m, Kgrid__V1__ReplyPart)->last;
	default:
		return false;
	}
}

static void hear(struct chaos_client *c, const struct kg_msg *m)
{
	if (kg_msg_type(m) == KG_MSG_ERROR && getenv("KGRID_CHAOS_ERRORS"))
		print_message("error of %s: %s\n", c->asked ? kg_msg_find(c->asked)->name : "some",
			      PEER_BODY(m, Kgrid__V1__Error)->text);
	c->since_ns = kg_monotonic_ns();
	if (!goes_on(m))
		c->asked = 0;
}

static bool listen_to_it(struct chaos_client *c)
{
	while (!peer_quiet(c->peer, 0)) {
		struct kg_msg *m = peer_next(c->peer);

		if (!m) {
			chaos_client_leave(c);
			return false;
		}
		hear(c, m);
		kg_msg_free(m);
	}
	return true;
}

void chaos_client_leave(struct chaos_client *c)
{
	peer_close(c->peer);
	c->peer = NULL;
	c->asked = 0;
}

static void arrive(struct chaos_client *c)
{
	c->mixed = false;
	c->peer = peer_connect(c->socket);
	peer_hello_client(c->peer);
}

void chaos_client_step(struct chaos_client *c, struct chaos_rng *r, bool calm)
{
	char digest[65];

	if (!c->peer) {
		if (!calm)
			arrive(c);
		return;
	}
	if (!listen_to_it(c))
		return;
	if (c->asked && kg_monotonic_ns() - c->since_ns > LIMIT_NS)
		fail_msg("no answer to %s", kg_msg_find(c->asked)->name);
	if (calm)
		return;
	if (chaos_one_in(r, c->asked == KG_MSG_WATCH ? 100 : 60)) {
		chaos_client_leave(c); /* whatever it waits for */
		return;
	}
	if (c->asked)
		return;
	if (chaos_one_in(r, 40))
		burst(c, r);
	else if (!c->mixed && chaos_one_in(r, 100))
		synthetic_kernel_add(c->peer, "k3", "6.14.1-test", "z", digest);
	else if (chaos_one_in(r, 3))
		requests[chaos_below(r, sizeof(requests) / sizeof(requests[0]))](c, r);
}

/* ---- afterwards ---- */

static struct kg_msg *once(const char *socket, uint16_t type, const ProtobufCMessage *body)
{
	struct peer *p = peer_connect(socket);
	struct kg_msg *m;

	peer_hello_client(p);
	peer_send(p, type, 1, body);
	m = peer_next(p);
	peer_close(p);
	assert_non_null(m);
	return m;
}

void chaos_machine_serve_again(const char *machine, const char *socket)
{
	static const char *const actions[] = {"resume", "release"};
	Kgrid__V1__MachineChange q = KGRID__V1__MACHINE_CHANGE__INIT;

	q.machine = TEXT(machine);
	for (size_t i = 0; i < 2; i++) {
		q.action = TEXT(actions[i]);
		kg_msg_free(once(socket, KG_MSG_MACHINE_CHANGE, &q.base));
	}
}

void chaos_job_resume(const char *socket, uint64_t job)
{
	Kgrid__V1__JobChange q = KGRID__V1__JOB_CHANGE__INIT;

	q.has_job = 1;
	q.job = job;
	q.action = TEXT("resume");
	kg_msg_free(once(socket, KG_MSG_JOB_CHANGE, &q.base));
}

void chaos_why(const char *socket, uint64_t job)
{
	Kgrid__V1__WhyRequest q = KGRID__V1__WHY_REQUEST__INIT;
	char text[32];
	struct kg_msg *m;

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)job);
	q.subject = text;
	m = once(socket, KG_MSG_WHY, &q.base);
	if (kg_msg_type(m) == KG_MSG_WHY_REPLY)
		for (size_t i = 0; i < PEER_BODY(m, Kgrid__V1__WhyReply)->n_lines; i++)
			print_message("%s\n", PEER_BODY(m, Kgrid__V1__WhyReply)->lines[i]);
	kg_msg_free(m);
}
