/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Submitting, refusing, cancelling and retrying jobs, with an agent played by hand. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "common/err.h"
#include "proto/frame.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"
#include "tests/lib/synthetic_kernel.h"

struct world {
	struct grid g;
	struct peer *client;
	struct peer *agent;
	char kernel[65];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	grid_init(&w->g);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	synthetic_kernel_add(w->client, "k1", "6.12.1-test", "x", w->kernel);
	w->agent = peer_connect(w->g.tcp);
	peer_hello_agent(w->agent, "m1", "state-1");
	peer_agent_ready(w->agent, 0, 0);
	grid_wait_count(&w->g, "SELECT count(*) FROM machine", 1);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	peer_close(w->client);
	peer_close(w->agent);
	assert_int_equal(grid_stop(&w->g), 0);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

static const char good[] = "name: small\n"
			   "machines: [m1]\n"
			   "kernels: [k1]\n"
			   "lsm: {short: yama, long: \"yama,apparmor,tomoyo\"}\n"
			   "workloads: [{fake: {size: [1, 2]}}]\n"
			   "repeat: {boots: 2, iterations: 1}\n";

static uint64_t submit(struct world *w, const char *text)
{
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	struct kg_msg *m;
	uint64_t job;

	rq.text = (char *)(uintptr_t)text;
	rq.file_name = (char *)(uintptr_t) "job.yaml";
	m = peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY);
	job = PEER_BODY(m, Kgrid__V1__SubmitReply)->job;
	kg_msg_free(m);
	return job;
}

static int refused(struct world *w, const char *text, char *ret_text)
{
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	int code;

	rq.text = (char *)(uintptr_t)text;
	rq.file_name = (char *)(uintptr_t) "job.yaml";
	code = peer_call_error(w->client, KG_MSG_SUBMIT, &rq.base, ret_text, 512);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 0); /* nothing half-done */
	return code;
}

static void test_submitted_job_reaches_the_agent_as_a_boot_order(void **state)
{
	struct world *w = *state;
	const Kgrid__V1__BootOrder *o;
	struct kg_msg *m;

	assert_int_equal(submit(w, good), 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM cell"), 4);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome IS NULL"), 8);
	m = peer_expect(w->agent, KG_MSG_BOOT_ORDER);
	o = PEER_BODY(m, Kgrid__V1__BootOrder);
	assert_string_equal(o->kernel_digest, w->kernel);
	assert_string_equal(o->expect_release, "6.12.1-test");
	assert_int_equal(strlen(o->nonce), 32);
	assert_int_equal(o->n_runs, 2);
	assert_string_equal(o->runs[0]->workload, "fake");
	assert_contains(o->cmdline, "lsm=yama");
	assert_contains(o->cmdline, "panic=10");
	assert_contains(o->expect_lsm, "capability,yama");
	/* stored before it was sent */
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot WHERE outcome IS NULL"), 1);
	kg_msg_free(m);
}

static void test_dry_run_stores_nothing_and_shows_the_order(void **state)
{
	struct world *w = *state;
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	const Kgrid__V1__Plan *p;
	struct kg_msg *m;

	rq.text = (char *)(uintptr_t)good;
	rq.file_name = (char *)(uintptr_t) "job.yaml";
	rq.has_dry_run = rq.dry_run = 1;
	m = peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY);
	p = PEER_BODY(m, Kgrid__V1__SubmitReply)->plan;
	assert_false(PEER_BODY(m, Kgrid__V1__SubmitReply)->has_job);
	assert_int_equal(p->cells, 4);
	assert_int_equal(p->slots, 8);
	assert_int_equal(p->n_boots, 4);
	kg_msg_free(m);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 0);
}

static void test_same_client_key_is_the_same_job(void **state)
{
	struct world *w = *state;
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	struct kg_msg *m;
	int i;

	rq.text = (char *)(uintptr_t)good;
	rq.client_key = (char *)(uintptr_t) "key-1";
	for (i = 0; i < 2; i++) {
		m = peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY);
		assert_int_equal(PEER_BODY(m, Kgrid__V1__SubmitReply)->job, 1);
		assert_int_equal(PEER_BODY(m, Kgrid__V1__SubmitReply)->existed, i == 1);
		kg_msg_free(m);
	}
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 1);
}

#define HEAD "name: j\nmachines: [m1]\n"
#define TAIL "workloads: [{fake: {size: 1}}]\n"

static void test_unknown_key_names_place_and_suggestion(void **state)
{
	char text[512];

	assert_int_equal(refused(*state, HEAD "kernel: [k1]\n" TAIL, text), KG_EINVALID);
	assert_contains(text, "job.yaml:3:1");
	assert_contains(text, "kernels");
}

static void test_wrong_type_names_the_place(void **state)
{
	char text[512];

	assert_int_equal(refused(*state, HEAD "kernels: [k1]\npriority: high\n" TAIL, text),
			 KG_EINVALID);
	assert_contains(text, "job.yaml:4:11");
}

static void test_empty_kernels_list_is_refused(void **state)
{
	char text[512];

	assert_int_equal(refused(*state, HEAD "kernels: []\n" TAIL, text), KG_EINVALID);
	assert_contains(text, "job.yaml:3:");
}

static void test_unknown_kernel_is_refused_with_a_suggestion(void **state)
{
	char text[512];

	assert_int_equal(refused(*state, HEAD "kernels: [k2]\n" TAIL, text), KG_ENOTFOUND);
	assert_contains(text, "k2");
	assert_contains(text, "k1");
}

static void test_ambiguous_kernel_is_refused_naming_both(void **state)
{
	struct world *w = *state;
	char text[512], other[65];

	synthetic_kernel_add(w->client, "k1b", "6.12.1-test", "y", other);
	assert_int_equal(refused(w, HEAD "kernels: [6.12.1-test]\n" TAIL, text), KG_EAMBIGUOUS);
	assert_contains(text, "k1");
	assert_contains(text, "k1b");
}

static void test_predicate_that_matches_no_machine_is_refused(void **state)
{
	char text[512];

	assert_int_equal(
		refused(*state, "name: j\nmachines: \"vendor == amd\"\nkernels: [k1]\n" TAIL, text),
		KG_EINVALID);
	assert_contains(text, "job.yaml:2:");
}

static void test_duplicate_label_is_refused(void **state)
{
	char text[512];

	assert_int_equal(refused(*state,
				 HEAD "kernels: [k1]\nlsm:\n  a: yama\n  a: apparmor\n" TAIL, text),
			 KG_EINVALID);
	assert_contains(text, "job.yaml:6:3");
}

static void test_invalid_utf8_is_refused(void **state)
{
	struct world *w = *state;
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	struct kg_msg *m;

	uint8_t frame[256];
	size_t len;

	/* Not even a protobuf string: the frame is refused, and the connection with it. */
	rq.text = (char *)(uintptr_t) "name: \xff\xfe\n";
	len = protobuf_c_message_pack(&rq.base, frame + KG_FRAME_HEADER_SIZE);
	kg_frame_header_write(frame, &(struct kg_frame_header){.len_bytes = (uint32_t)len,
							       .type = KG_MSG_SUBMIT});
	peer_send_raw(w->client, frame, KG_FRAME_HEADER_SIZE + len);
	while ((m = peer_next(w->client)))
		kg_msg_free(m);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 0);
}

static void test_unknown_workload_is_refused(void **state)
{
	char text[512];

	assert_int_equal(refused(*state, HEAD "kernels: [k1]\nworkloads: [{fakee: {}}]\n", text),
			 KG_EINVALID);
	assert_contains(text, "fake");
}

static void test_parameter_out_of_range_says_what_would_be_right(void **state)
{
	char text[512];

	assert_int_equal(refused(*state, HEAD "kernels: [k1]\nworkloads: [{fake: {size: 1000}}]\n",
				 text),
			 KG_EINVALID);
	assert_contains(text, "1 to 100");
}

static void test_kernel_that_a_job_needs_cannot_be_removed(void **state)
{
	struct world *w = *state;
	Kgrid__V1__KernelRemove rm = KGRID__V1__KERNEL_REMOVE__INIT;
	char text[512];

	submit(w, good);
	rm.selector = (char *)(uintptr_t) "k1";
	assert_int_equal(peer_call_error(w->client, KG_MSG_KERNEL_REMOVE, &rm.base, text,
					 sizeof(text)),
			 KG_EBUSY);
	assert_contains(text, "1");
}

static void test_cancelled_job_is_fenced_and_accounted(void **state)
{
	struct world *w = *state;
	Kgrid__V1__JobCancelRequest rq = KGRID__V1__JOB_CANCEL_REQUEST__INIT;
	Kgrid__V1__JobRequest jr = KGRID__V1__JOB_REQUEST__INIT;
	const Kgrid__V1__Accounting *a;
	struct kg_msg *m;

	rq.has_job = 1;
	rq.job = submit(w, good);
	kg_msg_free(peer_expect(w->agent, KG_MSG_BOOT_ORDER));
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_CANCEL, &rq.base, KG_MSG_DONE));
	kg_msg_free(peer_expect(w->agent, KG_MSG_FENCE_BOOT));
	m = peer_call(w->client, KG_MSG_JOB, &jr.base, KG_MSG_JOB_REPLY);
	assert_string_equal(PEER_BODY(m, Kgrid__V1__JobReply)->job->state, "cancelled");
	a = PEER_BODY(m, Kgrid__V1__JobReply)->job->accounting;
	assert_int_equal(a->slots, 8);
	assert_int_equal(a->pending, 0);
	assert_int_equal(a->n_outcomes, 1);
	assert_string_equal(a->outcomes[0]->outcome, "cancelled");
	kg_msg_free(m);
	grid_wait_count(&w->g, "SELECT count(*) FROM boot WHERE outcome IS NULL", 0);
	assert_true(peer_quiet(w->agent, 200)); /* nothing more is ordered */
}

static void test_retry_makes_cancelled_slots_pending_and_runs_them(void **state)
{
	struct world *w = *state;
	Kgrid__V1__JobCancelRequest cancel = KGRID__V1__JOB_CANCEL_REQUEST__INIT;
	Kgrid__V1__JobRetryRequest retry = KGRID__V1__JOB_RETRY_REQUEST__INIT;

	cancel.has_job = retry.has_job = 1;
	cancel.job = retry.job = submit(w, good);
	kg_msg_free(peer_expect(w->agent, KG_MSG_BOOT_ORDER));
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_CANCEL, &cancel.base, KG_MSG_DONE));
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_RETRY, &retry.base, KG_MSG_DONE));
	kg_msg_free(peer_expect(w->agent, KG_MSG_BOOT_ORDER));
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome IS NULL"), 8);
}

static void test_submit_names_machines_that_are_not_connected(void **state)
{
	struct world *w = *state;
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	const Kgrid__V1__Plan *p;
	bool found = false;
	struct kg_msg *m;
	size_t i;

	peer_close(w->agent);
	w->agent = NULL;
	grid_wait_count(&w->g, "SELECT count(*) FROM machine WHERE last_seen_ns > first_seen_ns",
			1);
	rq.text = (char *)(uintptr_t)good;
	m = peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY);
	p = PEER_BODY(m, Kgrid__V1__SubmitReply)->plan;
	for (i = 0; i < p->n_warnings; i++)
		found = found || strstr(p->warnings[i], "machine 'm1' is not connected");
	assert_true(found);
	kg_msg_free(m);
}

/* It has gone to make its boot, and comes back by itself. */
static void test_submit_does_not_call_a_machine_absent_that_boots(void **state)
{
	struct world *w = *state;
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	const Kgrid__V1__Plan *p;
	struct kg_msg *m;
	size_t i;

	(void)submit(w, good);
	kg_msg_free(peer_expect(w->agent, KG_MSG_BOOT_ORDER));
	peer_close(w->agent);
	w->agent = NULL;
	grid_wait_count(&w->g, "SELECT count(*) FROM machine WHERE last_seen_ns > first_seen_ns",
			1);
	rq.text = (char *)(uintptr_t) "name: one\nmachines: [m1]\nkernels: [k1]\n"
				      "workloads: [{fake: {size: 1}}]\n"
				      "repeat: {boots: 1, iterations: 1}\n";
	rq.has_dry_run = rq.dry_run = 1;
	m = peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY);
	p = PEER_BODY(m, Kgrid__V1__SubmitReply)->plan;
	assert_string_equal(p->stop_rule, "1 boot a side is made");
	assert_true(p->n_warnings > 0);
	assert_contains(p->warnings[0], "1 boot a side is too few to decide anything");
	for (i = 0; i < p->n_warnings; i++)
		assert_null(strstr(p->warnings[i], "is not connected"));
	kg_msg_free(m);
}

static void test_label_of_a_kernel_in_use_cannot_be_changed(void **state)
{
	struct world *w = *state;
	Kgrid__V1__KernelsRequest list = KGRID__V1__KERNELS_REQUEST__INIT;
	Kgrid__V1__KernelCommit c = KGRID__V1__KERNEL_COMMIT__INIT;
	char text[512], manifest[4096];
	struct kg_msg *m;

	submit(w, good);
	grid_sql(&w->g, "SELECT manifest FROM kernel", manifest, sizeof(manifest));
	c.manifest = manifest;
	c.label = (char *)(uintptr_t) "renamed";
	assert_int_equal(peer_call_error(w->client, KG_MSG_KERNEL_COMMIT, &c.base, text,
					 sizeof(text)),
			 KG_EBUSY);
	assert_contains(text, "cannot change the label");
	m = peer_call(w->client, KG_MSG_KERNELS, &list.base, KG_MSG_KERNELS_REPLY);
	assert_string_equal(PEER_BODY(m, Kgrid__V1__KernelsReply)->kernels[0]->label, "k1");
	kg_msg_free(m);
}

static void test_watch_ends_when_the_job_has(void **state)
{
	struct world *w = *state;
	Kgrid__V1__JobCancelRequest cancel = KGRID__V1__JOB_CANCEL_REQUEST__INIT;
	Kgrid__V1__WatchRequest rq = KGRID__V1__WATCH_REQUEST__INIT;
	struct peer *second = peer_connect(w->g.socket);
	struct kg_msg *m;

	cancel.has_job = rq.has_job = 1;
	cancel.job = rq.job = submit(w, good);
	peer_hello_client(second);
	m = peer_call(second, KG_MSG_WATCH, &rq.base, KG_MSG_WATCH_UPDATE);
	assert_int_equal(PEER_BODY(m, Kgrid__V1__WatchUpdate)->n_machines, 1);
	assert_int_equal(PEER_BODY(m, Kgrid__V1__WatchUpdate)->machines[0]->boots_total, 4);
	kg_msg_free(m);
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_CANCEL, &cancel.base, KG_MSG_DONE));
	kg_msg_free(peer_expect(second, KG_MSG_STREAM_END));
	peer_close(second);
}

static void change_machine(struct world *w, const char *action)
{
	Kgrid__V1__MachineChange c = KGRID__V1__MACHINE_CHANGE__INIT;

	c.machine = (char *)(uintptr_t) "m1";
	c.action = (char *)(uintptr_t)action;
	kg_msg_free(peer_call(w->client, KG_MSG_MACHINE_CHANGE, &c.base, KG_MSG_DONE));
}

/* The scheduler takes a while to get a large job; what people change meanwhile counts. The machine
 * takes nothing until both are changed, whether they were still on their way then or not. */
static void test_a_job_can_be_paused_and_cancelled_while_it_is_loaded(void **state)
{
	struct world *w = *state;
	Kgrid__V1__JobChange pause = KGRID__V1__JOB_CHANGE__INIT;
	Kgrid__V1__JobCancelRequest cancel = KGRID__V1__JOB_CANCEL_REQUEST__INIT;
	static const char large[] = "name: large\nmachines: [m1]\nkernels: [k1]\n"
				    "lsm: {short: yama, long: \"yama,apparmor\"}\n"
				    "workloads: [{fake: {size: 1..100}}]\n"
				    "repeat: {boots: 100, iterations: 1}\n";

	change_machine(w, "drain");
	pause.has_job = cancel.has_job = 1;
	pause.job = submit(w, large);
	pause.action = (char *)(uintptr_t) "pause";
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_CHANGE, &pause.base, KG_MSG_DONE));
	cancel.job = submit(w, large);
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_CANCEL, &cancel.base, KG_MSG_DONE));
	change_machine(w, "resume");
	assert_true(peer_quiet(w->agent, 3000));
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot"), 0);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job WHERE state = 'running'"), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_submitted_job_reaches_the_agent_as_a_boot_order),
		T(test_dry_run_stores_nothing_and_shows_the_order),
		T(test_same_client_key_is_the_same_job),
		T(test_unknown_key_names_place_and_suggestion),
		T(test_wrong_type_names_the_place),
		T(test_empty_kernels_list_is_refused),
		T(test_unknown_kernel_is_refused_with_a_suggestion),
		T(test_ambiguous_kernel_is_refused_naming_both),
		T(test_predicate_that_matches_no_machine_is_refused),
		T(test_duplicate_label_is_refused),
		T(test_invalid_utf8_is_refused),
		T(test_unknown_workload_is_refused),
		T(test_parameter_out_of_range_says_what_would_be_right),
		T(test_kernel_that_a_job_needs_cannot_be_removed),
		T(test_cancelled_job_is_fenced_and_accounted),
		T(test_retry_makes_cancelled_slots_pending_and_runs_them),
		T(test_submit_names_machines_that_are_not_connected),
		T(test_submit_does_not_call_a_machine_absent_that_boots),
		T(test_label_of_a_kernel_in_use_cannot_be_changed),
		T(test_watch_ends_when_the_job_has),
		T(test_a_job_can_be_paused_and_cancelled_while_it_is_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
