/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings of a job on their way to an agent, which is played by hand against a real coordinator. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "tests/lib/grid.h"
#include "tests/lib/player.h"
#include "tests/lib/synthetic_kernel.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

struct world {
	struct grid g;
	struct peer *client;
	struct player m;
	char kernel[65];
};

static double value_of(void *arg, const struct player_run *run)
{
	(void)arg;
	return 100 + (double)run->iteration;
}

/* A machine with transparent huge pages and nothing else that can be set. */
static void say_facts(struct peer *p)
{
	static const struct peer_workload workloads[] = {
		{"fake", "name: fake\nparameters: {}\ncommand: [fake]\nmetrics:\n"
			 "  - {name: rate, unit: 1/s, direction: higher, read: {keyval: R}}\n"},
		{NULL, NULL}};

	peer_agent_facts(p, &(struct peer_machine){.thp = "always madvise never",
						   .settings_known = true,
						   .workloads = workloads});
	peer_agent_state(p, 0, 0, "");
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	grid_init(&w->g);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	synthetic_kernel_add(w->client, "k1", "6.12.1-test", "x", w->kernel);
	w->m.agent = peer_connect(w->g.tcp);
	w->m.machine = "m";
	w->m.value = value_of;
	peer_hello_agent(w->m.agent, "m", "state-m");
	say_facts(w->m.agent);
	grid_wait_count(&w->g, "SELECT count(*) FROM machine WHERE facts IS NOT NULL", 1);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	kg_msg_free(w->m.order);
	peer_close(w->client);
	peer_close(w->m.agent);
	assert_int_equal(grid_stop(&w->g), 0);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

static void submit(struct world *w, const char *settings)
{
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "name: set\nmachines: [m]\nkernels: [k1]\nlsm: {short: yama}\n"
		       "settings: %s\nworkloads: [{fake: {}}]\ncanary: none\n"
		       "repeat: {boots: 1, iterations: 2}\n",
		       settings);
	rq.text = text;
	rq.file_name = TEXT("set.yaml");
	kg_msg_free(peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY));
}

static const char *setting(const Kgrid__V1__BootOrder *o, const char *name)
{
	for (size_t i = 0; i < o->n_settings; i++)
		if (strcmp(o->settings[i]->name, name) == 0)
			return o->settings[i]->value;
	return "";
}

static void play(struct player *p)
{
	player_stage(p, "settings", 0);
	player_run(p, 0);
	player_finish(p, "pass");
}

static void test_each_value_is_a_boot_that_asks_for_it(void **state)
{
	struct world *w = *state;
	const Kgrid__V1__BootOrder *o;
	int sum = 0;

	submit(w, "{thp: never, sysctl: {vm.swappiness: [10, 60], net.ipv4.tcp_rmem: 4096 1 2}}");
	for (int i = 0; i < 2; i++) {
		o = player_begin(&w->m);
		assert_int_equal(o->n_settings, 3);
		assert_string_equal(setting(o, "thp"), "never");
		assert_string_equal(setting(o, "sysctl.net.ipv4.tcp_rmem"), "4096 1 2");
		sum += atoi(setting(o, "sysctl.vm.swappiness"));
		play(&w->m);
	}
	assert_int_equal(sum, 70);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'pass'"), 2);
}

static void test_a_setting_that_did_not_hold_gives_no_sample(void **state)
{
	struct world *w = *state;

	submit(w, "{thp: never}");
	(void)player_begin(&w->m);
	player_stage(&w->m, "settings", 0);
	player_finish(&w->m, "invalid-env");
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(
		grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'invalid-env'"), 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM sample"), 0);
}

static void test_what_a_machine_cannot_set_is_known_before(void **state)
{
	struct world *w = *state;

	submit(w, "{governor: performance}");
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(
		grid_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'infeasible'"), 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_value_is_a_boot_that_asks_for_it),
		TEST(test_a_setting_that_did_not_hold_gives_no_sample),
		TEST(test_what_a_machine_cannot_set_is_known_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
