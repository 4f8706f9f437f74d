/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command over results that a real coordinator has: machines played by hand, a new kernel that
 * costs 5 % on both. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/lib/command.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"
#include "tests/lib/player.h"
#include "tests/lib/synthetic_kernel.h"

#define BOOTS 8

struct world {
	struct grid g;
	struct peer *client;
	struct player m1, m2;
	char file[96], junit[96];
	char old_kernel[65], new_kernel[65];
	double loss; /* of the new kernel, as a share */
};

static const struct player_fact facts[] = {
	{"cpu.microcode", "0x1"}, {"cpu.boost", NULL}, {"config.digest", "abc"}, {NULL, NULL}};

/* 0.2 % of noise by boot, none within it. */
static double value(void *arg, const struct player_run *run)
{
	struct world *w = arg;
	uint64_t h = (run->boot + 1) * 0x9e3779b97f4a7c15ULL;
	double noise = ((double)(h >> 40) / 16777216.0 - 0.5) * 0.004;

	return 1000.0 * (1 + noise) * (strcmp(run->kernel, w->new_kernel) ? 1 : 1 - w->loss);
}

static void connect_player(struct world *w, struct player *p, const char *name, const char *state)
{
	*p = (struct player){.agent = peer_connect(w->g.tcp),
			     .machine = name,
			     .value = value,
			     .arg = w,
			     .facts = facts};
	peer_hello_agent(p->agent, name, state);
	peer_agent_ready(p->agent, 0, 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	grid_init(&w->g);
	grid_start(&w->g, NULL);
	(void)snprintf(w->file, sizeof(w->file), "%s/job.yaml", w->g.dir);
	(void)snprintf(w->junit, sizeof(w->junit), "%s/junit.xml", w->g.dir);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	synthetic_kernel_add(w->client, "old", "6.1.1-test", "x", w->old_kernel);
	synthetic_kernel_add(w->client, "new", "6.12.1-test", "y", w->new_kernel);
	connect_player(w, &w->m1, "m1", "state-1");
	connect_player(w, &w->m2, "m2", "state-2");
	grid_wait_count(&w->g, "SELECT count(*) FROM machine", 2);
	w->loss = 0.05;
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
	(void)unlink(w->file);
	(void)unlink(w->junit);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

/* Submits a job of both kernels and plays its boots on both machines. */
static void run_job(struct world *w, int boots)
{
	struct command c = {.address = w->g.socket};
	struct command_result r;
	FILE *f = fopen(w->file, "w");
	char line[160];
	int i;

	assert_non_null(f);
	assert_true(fprintf(f,
			    "name: nightly\nmachines: [m1, m2]\nkernels: [old, new]\n"
			    "lsm: {short: yama}\nworkloads: [{fake: {size: [1, 2]}}]\n"
			    "repeat: {boots: %d, iterations: 2}\n",
			    boots) > 0);
	assert_int_equal(fclose(f), 0);
	(void)snprintf(line, sizeof(line), "submit %s", w->file);
	command_run(&c, line, &r);
	if (r.status != 0)
		fail_msg("%s%s", r.out, r.err);
	command_result_deinit(&r);
	for (i = 0; i < 2 * boots; i++) {
		player_boot(&w->m1);
		player_boot(&w->m2);
	}
	grid_wait_count(&w->g,
			"SELECT count(*) FROM slot s JOIN cell c ON c.id = s.cell "
			"WHERE c.job = 1 AND s.outcome IS NULL",
			0);
}

/* Runs a line, checks the exit code and parts of what it printed (out, then err). */
static void expect(struct world *w, const char *line, int status, const char *out, const char *err)
{
	struct command c = {.address = w->g.socket};
	struct command_result r;

	command_run(&c, line, &r);
	if (r.status != status)
		fail_msg("'%s' exits with %d, not %d: %s%s", line, r.status, status, r.out, r.err);
	if (!strstr(r.out, out) || !strstr(r.err, err))
		fail_msg("'%s' does not say '%s' and '%s': %.600s%s", line, out, err, r.err, r.out);
	command_result_deinit(&r);
}

static void compare_and_gate(struct world *w)
{
	char line[160];

	expect(w, "compare 1", 1, "verdicts 4 = 4 regression\nslots 64 = 64 pass\n", "");
	expect(w, "compare 1", 1, "vendor GenuineIntel: fake, rate\n", "");
	expect(w, "compare 1", 1, "differs from the baseline in: kernel\n  ", "");
	expect(w, "compare 1 --brief", 1, "]  regression\n", "");
	expect(w, "compare 1 --baseline new", 0, "verdicts 4 = 4 improvement\n", "");
	expect(w, "compare 1 --machine m1 --param size=2", 1, "verdicts 1 = 1 regression\n", "");
	expect(w, "compare 1 --csv", 1, ",regression,0.00", "slots 64 = 64 pass");
	expect(w, "compare 1 --json", 1, "\"verdict\": \"regression\"", "");
	expect(w, "compare 1 --kernel new", 5, "there is one column", "one kernel with one list");
	expect(w, "compare 1 --machine nobody", 4, "", "'nobody'");
	expect(w, "compare 1 --style mmtests", 1, "Hmean     1", "");
	expect(w, "compare 1 --style lkp", 1, "fake.rate size=1", "");
	expect(w, "compare 1 --style benchstat", 1, "new/short", "");
	expect(w, "gate 1 --against old", 1, "comparisons 4 = 0 passed + 4 failed", "");
	expect(w, "gate 1 --against new/short", 0, "comparisons 4 = 4 passed", "");
	expect(w, "gate 1 --against */nothing", 4, "", "nothing");
	(void)snprintf(line, sizeof(line), "gate 1 --against old --junit %s", w->junit);
	expect(w, line, 1, "", "");
	assert_int_equal(access(w->junit, R_OK), 0);
}

static void regressions(struct world *w)
{
	expect(w, "regressions", 1, " 1  kernel old -> new  open   ", "");
	expect(w, "regressions --machine m2 --since 1h", 1, "old -> new", "");
	expect(w, "regressions --state fixed", 0, "", "kgrid: ");
	expect(w, "regressions 1", 1, "boundary      kernel old -> new\n", "");
	expect(w, "regression comment 1 it is the new hook", 0, "regression 1", "");
	expect(w, "regression ack 1", 0, "acknowledged", "");
	expect(w, "regressions", 0, "acknowledged", ""); /* known: none is open */
	expect(w, "regressions 1", 0, "it is the new hook", "");
	expect(w, "regression close 1", 0, "", "");
	expect(w, "regressions --state fixed", 0, "old -> new", "");
	expect(w, "regression ack 9", 4, "", "9");
}

static void test_results_of_a_slower_kernel(void **state)
{
	struct world *w = *state;

	run_job(w, BOOTS);
	grid_wait_count(&w->g, "SELECT count(*) FROM regression", 1);
	compare_and_gate(w);
	regressions(w);
	expect(w, "history --machine m1 --param size=1", 0, "2 points, old .. new\n", "");
	expect(w, "history rate --csv --job 1", 0, ",new,", "slots 64 = 64 pass");
	expect(w, "history nothing", 4, "", "nothing");
	expect(w, "diff boot:1 boot:1", 0, "no difference", "");
	expect(w, "diff boot:1 boot:99", 4, "", "99");
	expect(w, "epochs m1", 0, "m1 epoch 1: since ", "");
	expect(w, "machine show m1", 0, "m1 epoch 1: since ", "");
	expect(w, "provenance 1", 0, "cpu.boost      unsupported (absent)\n", "");
	expect(w, "provenance 1 --document config", 0, "#", ""); /* out of its package */
	expect(w, "provenance 1 --document kallsyms", 4, "", "'kallsyms'");
}

static void test_few_boots_do_not_pass_a_gate(void **state)
{
	struct world *w = *state;

	w->loss = 0;
	run_job(w, 3);
	expect(w, "compare 1", 0, "(1) ", "");
	expect(w, "gate 1 --against old", 5, "4 undecided", "a gate needs 8 boots a side");
	expect(w, "regressions", 0, "", "kgrid: ");
}

static void test_noise_comes_from_calibration(void **state)
{
	struct world *w = *state;
	int i;

	expect(w, "noise m1", 5, "", "kgrid calibrate m1");
	expect(w, "calibrate m1 --dry-run", 0, "dry run: nothing was submitted\n", "");
	expect(w, "calibrate m1 --kernel old --boots 6 --every 7d", 0,
	       "job 1\nrepeated every 7 d until 'kgrid calibrate m1 --stop'\n", "");
	for (i = 0; i < 6; i++)
		player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM slot WHERE outcome IS NULL", 0);
	expect(w, "noise m1", 0, "m1, epoch 1: ", "");
	expect(w, "noise --csv", 0, "\nm1,fake,", "");
	expect(w, "calibrate m1 --stop", 0, "no more", "");
	expect(w, "calibrate m9", 4, "", "'m9'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_results_of_a_slower_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_few_boots_do_not_pass_a_gate, setup, teardown),
		cmocka_unit_test_setup_teardown(test_noise_comes_from_calibration, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
