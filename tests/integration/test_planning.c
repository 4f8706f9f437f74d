/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people do to jobs and machines, and what the coordinator then does: two agents that are
 * played by hand against a real coordinator. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/err.h"
#include "tests/lib/grid.h"
#include "tests/lib/player.h"
#include "tests/lib/synthetic_kernel.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

struct world {
	struct grid g;
	struct peer *client;
	struct player m1, m2;
	char kernel[65];
	double step; /* of the value from boot to boot */
};

static double value_of(void *arg, const struct player_run *run)
{
	const struct world *w = arg;

	return 100 + w->step * (double)(run->boot % 3);
}

static void connect_machine(struct world *w, struct player *p, const char *name)
{
	char state[64];

	(void)snprintf(state, sizeof(state), "state-%s", name);
	p->agent = peer_connect(w->g.tcp);
	p->machine = name;
	p->value = value_of;
	p->arg = w;
	peer_hello_agent(p->agent, name, state);
	peer_agent_ready(p->agent, 0, 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	grid_init(&w->g);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	synthetic_kernel_add(w->client, "k1", "6.12.1-test", "x", w->kernel);
	connect_machine(w, &w->m1, "m1");
	connect_machine(w, &w->m2, "m2");
	grid_wait_count(&w->g, "SELECT count(*) FROM machine WHERE facts IS NOT NULL", 2);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	peer_close(w->client);
	peer_close(w->m1.agent);
	peer_close(w->m2.agent);
	assert_int_equal(grid_stop(&w->g), 0);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

static struct kg_msg *submit_full(struct world *w, Kgrid__V1__SubmitRequest *rq, const char *text)
{
	rq->text = TEXT(text);
	rq->file_name = TEXT("job.yaml");
	return peer_call(w->client, KG_MSG_SUBMIT, &rq->base, KG_MSG_SUBMIT_REPLY);
}

static uint64_t submit(struct world *w, const char *text)
{
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	struct kg_msg *m = submit_full(w, &rq, text);
	uint64_t job = PEER_BODY(m, Kgrid__V1__SubmitReply)->job;

	kg_msg_free(m);
	assert_true(job > 0);
	return job;
}

static void change_job(struct world *w, uint64_t job, const char *action, uint32_t value)
{
	Kgrid__V1__JobChange c = KGRID__V1__JOB_CHANGE__INIT;

	c.has_job = c.has_value = 1;
	c.job = job;
	c.action = TEXT(action);
	c.value = value;
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_CHANGE, &c.base, KG_MSG_DONE));
}

static void change_machine(struct world *w, const char *machine, const char *action,
			   uint64_t seconds, const char *why)
{
	Kgrid__V1__MachineChange c = KGRID__V1__MACHINE_CHANGE__INIT;

	c.machine = TEXT(machine);
	c.action = TEXT(action);
	c.has_seconds = 1;
	c.seconds = seconds;
	c.why = TEXT(why);
	kg_msg_free(peer_call(w->client, KG_MSG_MACHINE_CHANGE, &c.base, KG_MSG_DONE));
}

/* All lines in one text. */
static void why(struct world *w, const char *subject, char *ret, size_t size)
{
	Kgrid__V1__WhyRequest q = KGRID__V1__WHY_REQUEST__INIT;
	const Kgrid__V1__WhyReply *r;
	struct kg_msg *m;
	size_t len, i;

	q.subject = TEXT(subject);
	m = peer_call(w->client, KG_MSG_WHY, &q.base, KG_MSG_WHY_REPLY);
	r = PEER_BODY(m, Kgrid__V1__WhyReply);
	len = (size_t)snprintf(ret, size, "%s\n", r->subject);
	for (i = 0; i < r->n_lines && len < size; i++)
		len += (size_t)snprintf(ret + len, size - len, "%s\n", r->lines[i]);
	assert_true(r->n_lines > 0 && r->n_lines <= 22);
	kg_msg_free(m);
}

static const char one_machine[] = "name: one\n"
				  "machines: [m1]\n"
				  "kernels: [k1]\n"
				  "lsm: {short: yama}\n"
				  "workloads: [{fake: {size: 1}}]\n"
				  "canary: none\n"
				  "repeat: {boots: 2, iterations: 1}\n";

static void test_a_paused_job_begins_no_boot_until_it_goes_on(void **state)
{
	struct world *w = *state;
	char text[4096];
	uint64_t job;

	change_machine(w, "m1", "drain", 0, "disk");
	job = submit(w, one_machine);
	change_job(w, job, "pause", 0);
	change_machine(w, "m1", "resume", 0, "");
	why(w, "1", text, sizeof(text));
	assert_contains(text, "paused");
	assert_true(peer_quiet(w->m1.agent, 300));
	/* what is stored outlives the coordinator */
	assert_int_equal(grid_count(&w->g, "SELECT paused FROM job WHERE id = 1"), 1);
	change_job(w, job, "resume", 0);
	player_boot(&w->m1);
	player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
}

static void test_why_of_a_job_that_is_over_says_what_became_of_it(void **state)
{
	struct world *w = *state;
	Kgrid__V1__JobCancelRequest q = KGRID__V1__JOB_CANCEL_REQUEST__INIT;
	char text[4096];

	(void)submit(w, one_machine);
	player_boot(&w->m1);
	player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	why(w, "1", text, sizeof(text));
	assert_contains(text, "job 1 'one': done (slots 2 = 2 pass), priority 50");
	why(w, "1/1", text, sizeof(text));
	assert_contains(text, "blocks 1 to 2 (2): pass");
	/* cancelled while it was paused */
	change_machine(w, "m1", "drain", 0, "disk");
	(void)submit(w, one_machine);
	change_job(w, 2, "pause", 0);
	q.has_job = 1;
	q.job = 2;
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_CANCEL, &q.base, KG_MSG_DONE));
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'cancelled'", 1);
	why(w, "2", text, sizeof(text));
	assert_contains(text, "job 2 'one': cancelled (slots 2 = 2 cancelled), priority 50");
}

static void test_drained_and_reserved_machines_say_why_nothing_runs(void **state)
{
	struct world *w = *state;
	char text[4096];

	change_machine(w, "m1", "drain", 0, "disk is being replaced");
	(void)submit(w, one_machine);
	assert_true(peer_quiet(w->m1.agent, 300));
	why(w, "1", text, sizeof(text));
	assert_contains(text, "m1");
	assert_contains(text, "disk is being replaced");
	why(w, "m1", text, sizeof(text));
	assert_contains(text, "drain");
	why(w, "1/1", text, sizeof(text));
	assert_contains(text, "drain");
	/* the holder's jobs do run */
	change_machine(w, "m1", "reserve", 3600, "bisecting by hand");
	change_machine(w, "m1", "resume", 0, "");
	player_boot(&w->m1);
	player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM machine WHERE name = 'm1' AND "
					   "reserved_why = 'bisecting by hand'"),
			 1);
}

static void test_a_reservation_outlives_a_restart_and_keeps_others_out(void **state)
{
	struct world *w = *state;
	char text[4096];

	change_machine(w, "m1", "reserve", 3600, "mine");
	grid_kill(&w->g);
	grid_change(&w->g, "UPDATE machine SET reserved_by = 'somebody-else' WHERE name = 'm1'");
	grid_start(&w->g, NULL);
	peer_close(w->client);
	peer_close(w->m1.agent);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	connect_machine(w, &w->m1, "m1");
	(void)submit(w, one_machine);
	assert_true(peer_quiet(w->m1.agent, 300));
	why(w, "job:1", text, sizeof(text));
	assert_contains(text, "somebody-else");
	change_machine(w, "m1", "release", 0, "");
	player_boot(&w->m1);
}

static void test_a_job_waits_for_the_one_before(void **state)
{
	struct world *w = *state;
	char text[4096];

	(void)submit(w, one_machine);
	(void)submit(w,
		     "name: second\nmachines: [m2]\nkernels: [k1]\nworkloads: [{fake: {size: 1}}]\n"
		     "canary: none\nrepeat: {boots: 1, iterations: 1}\nafter: [one]\n");
	assert_true(peer_quiet(w->m2.agent, 300));
	why(w, "2", text, sizeof(text));
	assert_contains(text, "job 1");
	player_boot(&w->m1);
	player_boot(&w->m1);
	player_boot(&w->m2);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 2);
}

static void test_extend_adds_blocks_to_a_job_that_is_done(void **state)
{
	struct world *w = *state;

	(void)submit(w, one_machine);
	player_boot(&w->m1);
	player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	change_job(w, 1, "extend", 2);
	player_boot(&w->m1);
	change_job(w, 1, "extend", 1); /* and to one that runs */
	player_boot(&w->m1);
	player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT blocks FROM job"), 5);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'pass'"), 5);
	assert_int_equal(grid_count(&w->g, "SELECT count(DISTINCT block) FROM slot"), 5);
}

static void test_stop_rule_skips_what_is_not_needed(void **state)
{
	struct world *w = *state;
	int i;

	w->step = 0.01; /* intervals of a hundredth of a percent */
	(void)submit(w, "name: until\nmachines: [m1]\nkernels: [k1]\n"
			"lsm: {short: yama, long: \"yama,apparmor\"}\n"
			"workloads: [{fake: {size: 1}}]\ncanary: none\n"
			"repeat: {boots: 5..12, iterations: 1, until: \"ci95 <= 1%\"}\n");
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot"), 24);
	for (i = 0; i < 10; i++)
		player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'pass'"), 10);
	assert_int_equal(grid_count(&w->g,
				    "SELECT count(*) FROM slot WHERE outcome = 'skipped' AND "
				    "reason LIKE '%ci95%' OR reason LIKE '%until%'"),
			 14);
}

static void test_stop_rule_goes_on_while_intervals_are_wide(void **state)
{
	struct world *w = *state;
	int i;

	w->step = 30; /* 100, 130, 160: never narrow */
	(void)submit(w, "name: until\nmachines: [m1]\nkernels: [k1]\n"
			"lsm: {short: yama, long: \"yama,apparmor\"}\n"
			"workloads: [{fake: {size: 1}}]\ncanary: none\n"
			"repeat: {boots: 5..7, iterations: 1, until: \"ci95 <= 1%\"}\n");
	for (i = 0; i < 14; i++)
		player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'pass'"), 14);
}

static void test_a_standing_job_runs_when_a_kernel_is_added(void **state)
{
	struct world *w = *state;
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	const Kgrid__V1__SubmitReply *r;
	char kernel[65];
	struct kg_msg *m = submit_full(w, &rq,
				       "name: each\nwhen: kernel added\nmachines: [m1]\n"
				       "kernels: [added]\nworkloads: [{fake: {size: 1}}]\n"
				       "canary: none\nrepeat: {boots: 1, iterations: 1}\n");

	r = PEER_BODY(m, Kgrid__V1__SubmitReply);
	assert_int_equal(r->standing, 1);
	assert_false(r->has_job);
	assert_contains(r->when, "kernel");
	kg_msg_free(m);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 0);
	synthetic_kernel_add(w->client, "k2", "6.12.2-test", "y", kernel);
	player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done' AND standing = 1", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot b JOIN kernel k ON "
					   "k.digest = b.kernel WHERE k.label = 'k2'"),
			 1);
	/* after a restart the same kernel is not tried again */
	grid_kill(&w->g);
	grid_start(&w->g, NULL);
	peer_close(w->client);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	peer_close(w->m1.agent);
	connect_machine(w, &w->m1, "m1");
	assert_true(peer_quiet(w->m1.agent, 2500));
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 1);
}

static void test_included_files_are_part_of_the_job(void **state)
{
	struct world *w = *state;
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	Kgrid__V1__JobFile f = KGRID__V1__JOB_FILE__INIT, *files[] = {&f};

	f.name = TEXT("lists.yaml");
	f.text = TEXT("lsm: {short: yama}\n");
	rq.files = files;
	rq.n_files = 1;
	kg_msg_free(submit_full(w, &rq,
				"name: inc\ninclude: lists.yaml\nmachines: [m1]\nkernels: [k1]\n"
				"workloads: [{fake: {size: 1}}]\ncanary: none\n"
				"repeat: {boots: 1, iterations: 1}\n"));
	player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM cell WHERE lsm_label = 'short'"),
			 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job_file"), 1);
}

static void test_machines_where(void **state)
{
	struct world *w = *state;
	Kgrid__V1__MachinesRequest q = KGRID__V1__MACHINES_REQUEST__INIT;
	const Kgrid__V1__MachinesReply *r;
	char text[512];
	int64_t before = kg_realtime_ns();
	struct kg_msg *m;

	q.where = TEXT("vendor == intel and name != m1");
	m = peer_call(w->client, KG_MSG_MACHINES, &q.base, KG_MSG_MACHINES_REPLY);
	r = PEER_BODY(m, Kgrid__V1__MachinesReply);
	assert_int_equal(r->n_machines, 1);
	assert_string_equal(r->machines[0]->name, "m2");
	/* a machine that is connected is seen now, not when it came */
	assert_true(r->machines[0]->last_seen_ns >= before);
	kg_msg_free(m);
	q.where = TEXT("vender == intel");
	assert_int_equal(peer_call_error(w->client, KG_MSG_MACHINES, &q.base, text, sizeof(text)),
			 KG_EINVALID);
	assert_contains(text, "column 1");
	assert_contains(text, "vendor");
}

static void test_why_names_what_left_a_machine_out(void **state)
{
	struct world *w = *state;
	Kgrid__V1__JobCancelRequest cancel = KGRID__V1__JOB_CANCEL_REQUEST__INIT;
	const char *excluded, *outcome;
	char text[4096];

	cancel.has_job = 1;
	cancel.job = submit(w, "name: by-name\nmachines: \"name == m1\"\nkernels: [k1]\n"
			       "workloads: [{fake: {size: 1}}]\ncanary: none\n"
			       "repeat: {boots: 1, iterations: 1}\n");
	why(w, "1", text, sizeof(text));
	assert_contains(text, "machine m2 is not in it: name == m1 (it is m2)\n");
	/* what became of slots may fill the screen: it does not push this off */
	kg_msg_free(peer_call(w->client, KG_MSG_JOB_CANCEL, &cancel.base, KG_MSG_DONE));
	why(w, "1", text, sizeof(text));
	excluded = strstr(text, "machine m2 is not in it");
	outcome = strstr(text, "m1: 1 slot cancelled");
	assert_non_null(excluded);
	assert_non_null(outcome);
	assert_true(excluded < outcome);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_paused_job_begins_no_boot_until_it_goes_on),
		TEST(test_why_of_a_job_that_is_over_says_what_became_of_it),
		TEST(test_drained_and_reserved_machines_say_why_nothing_runs),
		TEST(test_a_reservation_outlives_a_restart_and_keeps_others_out),
		TEST(test_a_job_waits_for_the_one_before),
		TEST(test_extend_adds_blocks_to_a_job_that_is_done),
		TEST(test_stop_rule_skips_what_is_not_needed),
		TEST(test_stop_rule_goes_on_while_intervals_are_wide),
		TEST(test_a_standing_job_runs_when_a_kernel_is_added),
		TEST(test_included_files_are_part_of_the_job),
		TEST(test_machines_where),
		TEST(test_why_names_what_left_a_machine_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
