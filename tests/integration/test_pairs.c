/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Workloads on two machines: both agents are played by hand against a real coordinator. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "tests/lib/grid.h"
#include "tests/lib/player.h"
#include "tests/lib/synthetic_kernel.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static const char pair_workload[] =
	"name: duo\n"
	"parameters:\n  size: {type: int, min: 1, max: 100, default: 1}\n"
	"helper: [duod, -p, \"{port}\", -L, \"{host}\"]\n"
	"command: [duo, \"{host}\", \"{port}\", \"{size}\"]\n"
	"pair: true\n"
	"metrics:\n  - {name: rate, unit: 1/s, direction: higher, read: {keyval: R}}\n";

struct world {
	struct grid g;
	struct peer *client;
	struct player a, b;
	char kernel[65];
};

static double value_of(void *arg, const struct player_run *run)
{
	(void)arg;
	return 100 + (double)run->iteration;
}

static void say_facts(struct peer *p, const char *address, uint64_t boot, uint64_t epoch)
{
	static const struct peer_workload workloads[] = {{"duo", pair_workload}, {NULL, NULL}};

	peer_agent_facts(p, &(struct peer_machine){.address = address,
						   .settings_known = true,
						   .workloads = workloads});
	peer_agent_state(p, boot, epoch, boot ? "run" : "");
}

static void join(struct world *w, struct player *p, const char *name, const char *address,
		 uint64_t boot, uint64_t epoch)
{
	char state[64];

	(void)snprintf(state, sizeof(state), "state-%s", name);
	p->agent = peer_connect(w->g.tcp);
	p->machine = name;
	p->value = value_of;
	peer_hello_agent(p->agent, name, state);
	say_facts(p->agent, address, boot, epoch);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	grid_init(&w->g);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	synthetic_kernel_add(w->client, "k1", "6.12.1-test", "x", w->kernel);
	join(w, &w->a, "a", "192.0.2.1", 0, 0);
	join(w, &w->b, "b", "192.0.2.2", 0, 0);
	grid_wait_count(&w->g, "SELECT count(*) FROM machine WHERE facts IS NOT NULL", 2);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	kg_msg_free(w->a.order);
	kg_msg_free(w->b.order);
	peer_close(w->client);
	peer_close(w->a.agent);
	peer_close(w->b.agent);
	assert_int_equal(grid_stop(&w->g), 0);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

static void submit(struct world *w, uint32_t boots)
{
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;

	rq.text = TEXT("name: pairs\nmachines: [a]\nkernels: [k1]\nlsm: {short: yama}\n"
		       "workloads: [{duo: {role: {client: a, server: b}}}]\ncanary: none\n"
		       "repeat: {boots: 1, iterations: 2}\n");
	rq.file_name = TEXT("pairs.yaml");
	rq.has_boots = 1;
	rq.boots = boots;
	kg_msg_free(peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY));
}

static void say_serving(struct player *p, uint64_t attempt, uint32_t port)
{
	Kgrid__V1__PeerServing s = KGRID__V1__PEER_SERVING__INIT;

	s.has_boot = s.has_attempt = s.has_port = 1;
	s.boot = p->boot;
	s.attempt = attempt;
	s.port = port;
	peer_send(p->agent, KG_MSG_PEER_SERVING, 0, &s.base);
}

static void say_wanted(struct player *p, uint64_t attempt)
{
	Kgrid__V1__PeerWanted s = KGRID__V1__PEER_WANTED__INIT;

	s.has_boot = s.has_attempt = 1;
	s.boot = p->boot;
	s.attempt = attempt;
	peer_send(p->agent, KG_MSG_PEER_WANTED, 0, &s.base);
}

static void expect_ready(struct player *p, uint64_t attempt, const char *address, uint32_t port)
{
	struct kg_msg *m = peer_expect(p->agent, KG_MSG_PEER_READY);
	const Kgrid__V1__PeerReady *r = PEER_BODY(m, Kgrid__V1__PeerReady);

	assert_int_equal(r->attempt, attempt);
	assert_string_equal(r->address, address);
	assert_int_equal(r->port, port);
	kg_msg_free(m);
}

static void expect_done(struct player *p, uint64_t attempt)
{
	struct kg_msg *m = peer_expect(p->agent, KG_MSG_PEER_DONE);

	assert_int_equal(PEER_BODY(m, Kgrid__V1__PeerDone)->attempt, attempt);
	kg_msg_free(m);
}

static void test_both_boot_the_same_and_the_client_is_measured(void **state)
{
	struct world *w = *state;
	const Kgrid__V1__BootOrder *oa, *ob;

	submit(w, 1);
	oa = player_begin(&w->a);
	ob = player_begin(&w->b);
	assert_string_equal(oa->runs[0]->role, "client");
	assert_string_equal(oa->runs[0]->peer, "b");
	assert_string_equal(ob->runs[0]->role, "server");
	assert_string_equal(ob->runs[0]->peer, "a");
	assert_string_equal(oa->kernel_digest, ob->kernel_digest);
	assert_string_equal(oa->cmdline, ob->cmdline);
	player_stage(&w->a, "pair", oa->runs[0]->attempt);
	say_wanted(&w->a, oa->runs[0]->attempt);
	player_stage(&w->b, "serve", ob->runs[0]->attempt);
	say_serving(&w->b, ob->runs[0]->attempt, 4711);
	expect_ready(&w->a, oa->runs[0]->attempt, "192.0.2.2", 4711);
	player_run(&w->a, 0);
	expect_done(&w->b, ob->runs[0]->attempt);
	player_end_run(&w->b, 0, "pass");
	player_finish(&w->a, "pass");
	player_finish(&w->b, "pass");
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'pass'"), 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM sample"), 2);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot x JOIN boot y ON "
					   "y.id = x.pair AND x.id = y.pair"),
			 2);
}

static void test_nothing_begins_while_one_half_is_away(void **state)
{
	struct world *w = *state;

	peer_close(w->b.agent);
	grid_wait_count(&w->g, "SELECT count(*) FROM machine WHERE name = 'b'", 1);
	assert_true(peer_quiet(w->a.agent, 300));
	submit(w, 1);
	assert_true(peer_quiet(w->a.agent, 500));
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot"), 0);
	join(w, &w->b, "b", "192.0.2.2", 0, 0);
	(void)player_begin(&w->a);
	(void)player_begin(&w->b);
}

static void test_a_server_that_fails_ends_both_and_the_slot_is_tried_again(void **state)
{
	struct world *w = *state;
	const Kgrid__V1__BootOrder *oa, *ob;
	struct kg_msg *m;

	submit(w, 1);
	oa = player_begin(&w->a);
	ob = player_begin(&w->b);
	(void)ob;
	say_wanted(&w->a, oa->runs[0]->attempt);
	player_finish(&w->b, "infra");
	m = peer_expect(w->a.agent, KG_MSG_FENCE_BOOT);
	assert_int_equal(PEER_BODY(m, Kgrid__V1__FenceBoot)->boot, w->a.boot);
	kg_msg_free(m);
	kg_msg_free(w->a.order);
	w->a.order = NULL;
	/* both halves come again, together */
	oa = player_begin(&w->a);
	ob = player_begin(&w->b);
	say_serving(&w->b, ob->runs[0]->attempt, 4712);
	say_wanted(&w->a, oa->runs[0]->attempt);
	expect_ready(&w->a, oa->runs[0]->attempt, "192.0.2.2", 4712);
	player_run(&w->a, 0);
	expect_done(&w->b, ob->runs[0]->attempt);
	player_end_run(&w->b, 0, "pass");
	player_finish(&w->b, "pass"); /* in either order */
	player_finish(&w->a, "pass");
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT tries FROM slot WHERE outcome = 'pass'"), 2);
}

static void test_a_coordinator_that_dies_in_between_goes_on(void **state)
{
	struct world *w = *state;
	const Kgrid__V1__BootOrder *oa, *ob;
	uint64_t client, server;

	submit(w, 1);
	oa = player_begin(&w->a);
	ob = player_begin(&w->b);
	client = oa->runs[0]->attempt;
	server = ob->runs[0]->attempt;
	say_serving(&w->b, server, 4713);
	grid_wait_count(&w->g, "SELECT count(*) FROM boot WHERE last_seq >= 3", 2);
	grid_kill(&w->g);
	peer_close(w->client);
	peer_close(w->a.agent);
	peer_close(w->b.agent);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	join(w, &w->a, "a", "192.0.2.1", w->a.boot, w->a.epoch);
	join(w, &w->b, "b", "192.0.2.2", w->b.boot, w->b.epoch);
	/* each says its part again */
	say_wanted(&w->a, client);
	say_serving(&w->b, server, 4713);
	expect_ready(&w->a, client, "192.0.2.2", 4713);
	player_run(&w->a, 0);
	expect_done(&w->b, server);
	player_end_run(&w->b, 0, "pass");
	player_finish(&w->a, "pass");
	player_finish(&w->b, "pass");
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot WHERE outcome = 'pass'"), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_both_boot_the_same_and_the_client_is_measured),
		TEST(test_nothing_begins_while_one_half_is_away),
		TEST(test_a_server_that_fails_ends_both_and_the_slot_is_tried_again),
		TEST(test_a_coordinator_that_dies_in_between_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
