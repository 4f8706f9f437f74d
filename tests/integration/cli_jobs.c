/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands that plan, hold, explain and repeat, and a real coordinator; the agent is played by
 * hand. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/lib/command.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"
#include "tests/lib/player.h"
#include "tests/lib/synthetic_kernel.h"

struct world {
	struct grid g;
	struct peer *client;
	struct player m1;
	char job[96], common[96]; /* files */
	char kernel[65];
};

static const char common_text[] = "lsm: {short: yama, long: \"yama,apparmor\"}\n"
				  "repeat: {boots: 2, iterations: 1}\n";
static const char job_text[] = "include: [common.yaml]\n"
			       "name: small\n"
			       "machines: \"cpus >= 1\"\n"
			       "kernels: [k1]\n"
			       "workloads: [{fake: {size: [1, 2]}}]\n";

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static double value(void *arg, const struct player_run *run)
{
	(void)arg;
	(void)run;
	return 100;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	grid_init(&w->g);
	grid_start(&w->g, NULL);
	(void)snprintf(w->job, sizeof(w->job), "%s/job.yaml", w->g.dir);
	(void)snprintf(w->common, sizeof(w->common), "%s/common.yaml", w->g.dir);
	write_text(w->common, common_text);
	write_text(w->job, job_text);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	synthetic_kernel_add(w->client, "k1", "6.12.1-test", "x", w->kernel);
	w->m1.machine = "m1";
	w->m1.value = value;
	w->m1.agent = peer_connect(w->g.tcp);
	peer_hello_agent(w->m1.agent, "m1", "state-1");
	peer_agent_ready(w->m1.agent, 0, 0);
	grid_wait_count(&w->g, "SELECT count(*) FROM machine", 1);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	peer_close(w->client);
	peer_close(w->m1.agent);
	assert_int_equal(grid_stop(&w->g), 0);
	(void)unlink(w->job);
	(void)unlink(w->common);
	grid_deinit(&w->g);
	free(w);
	return 0;
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
		fail_msg("'%s' does not say '%s' and '%s': %.900s%s", line, out, err, r.err, r.out);
	command_result_deinit(&r);
}

static void expect_submit(struct world *w, const char *options, int status, const char *out)
{
	char line[200];

	(void)snprintf(line, sizeof(line), "submit %s %s", options, w->job);
	expect(w, line, status, out, "");
}

static void test_dry_run_shows_where_cells_come_from_and_what_they_cost(void **state)
{
	struct world *w = *state;

	expect_submit(w, "--dry-run", 0, "cells: 4 of the full product = 4 cells");
	expect_submit(w, "--dry-run", 0, "2 blocks");
	expect_submit(w, "--dry-run", 0, "axes:\n");
	expect_submit(w, "--dry-run", 0, "stop rule: ");
	expect_submit(w, "--dry-run", 0, "smallest change that it can detect");
	expect_submit(w, "--dry-run", 0, "boot order:\n");
	expect_submit(w, "--dry-run --cells", 0, "list of cells:\n");
	expect_submit(w, "--dry-run --cells --csv", 0, "number,identity,machine,");
	expect_submit(w, "--explain-cell 2", 0, "job.yaml:");
	expect(w, "jobs", 5, "", "no jobs");
}

static void test_a_job_rests_goes_on_and_grows(void **state)
{
	struct world *w = *state;

	expect(w, "machine drain m1 --why test", 0, "", "m1");
	expect_submit(w, "", 0, "job 1\n");
	expect(w, "job pause 1", 0, "", "job 1");
	expect(w, "jobs", 0, "paused", "");
	expect(w, "job pause 9", 4, "", "9");
	expect(w, "job resume 1", 0, "", "job 1");
	expect(w, "jobs", 0, "queued", "");
	expect(w, "job reprioritise 1 80", 0, "", "job 1");
	expect(w, "job show 1", 0, "priority   80\n", "");
	expect(w, "job show 1", 0, "slots 8 = 8 pending", "");
	expect(w, "job extend 1 --blocks 1", 0, "", "job 1");
	expect(w, "job show 1", 0, "slots 12 = 12 pending", "");
	expect(w, "job show 1 --cells", 0, "slots 3 = 3 pending", "");
	expect(w, "job cancel 1", 0, "", "");
}

static void test_machines_are_held_and_say_for_whom(void **state)
{
	struct world *w = *state;

	expect(w, "machines --where cpus>=1", 0, "m1", "");
	expect(w, "machines --where cpus>=4000", 5, "", "no machine fits 'cpus>=4000'");
	expect(w, "machines --where cpu>=1", 2, "", "did you mean 'cpus'?");
	expect(w, "machine reserve m1 --for 2h --why bisecting", 0, "", "m1");
	expect(w, "machines", 0, "RESERVED", "");
	expect(w, "machine show m1", 0, "bisecting", "");
	expect(w, "machine release m1", 0, "", "machine 'm1' is no longer reserved\n");
	expect(w, "machine release m1", 0, "", "machine 'm1' is not reserved: nothing changed\n");
	expect(w, "machine maintenance m1 --why BIOS", 0, "", "m1");
	expect(w, "machine maintenance m1", 0, "", "is in maintenance already: nothing changed\n");
	expect(w, "machines", 0, "maintenance: BIOS", "");
	expect(w, "machine resume m1", 0, "", "machine 'm1' is in service again\n");
	expect(w, "machine resume m1", 0, "", "machine 'm1' is in service: nothing changed\n");
	expect(w, "machine drain nobody", 4, "", "nobody");
}

static void test_waiting_and_done_are_explained_and_repeated(void **state)
{
	struct world *w = *state;
	struct command c = {.address = w->g.socket};
	struct command_result r;

	expect(w, "machine drain m1 --why new-DIMMs", 0, "", "m1");
	expect_submit(w, "", 0, "job 1\n");
	expect(w, "why 1", 0, "job 1", "");
	expect(w, "why 1/1", 0, "1/1", "");
	expect(w, "why m1", 0, "new-DIMMs", "");
	expect(w, "why 1/99", 4, "", "99");
	expect(w, "why nobody", 4, "", "nobody");
	expect(w, "reproduce 1/1", 0, "# recipe", "");
	command_run(&c, "reproduce 1/1 --job-file", &r);
	assert_int_equal(r.status, 0);
	write_text(w->job, r.out);
	command_result_deinit(&r);
	expect_submit(w, "--dry-run", 0, "1 of the full product = 1 cell;");
	expect(w, "reproduce 1/99", 4, "", "99");
}

static void test_standing_jobs_are_kept_and_run_when_asked(void **state)
{
	struct world *w = *state;

	expect(w, "machine drain m1", 0, "", "m1");
	expect(w, "standing", 5, "", "no standing jobs");
	write_text(w->job, "include: [common.yaml]\nname: small\nkernels: [k1]\nwhen: nightly\n"
			   "workloads: [{fake: {size: 1}}]\n");
	expect_submit(w, "", 0, "standing job 1: runs nightly at 02:00");
	expect(w, "jobs", 5, "", "no jobs");
	expect(w, "standing", 0, "small", "");
	expect(w, "standing show 1", 0, "when: nightly", "");
	expect(w, "standing run 1", 0, "", "job 1");
	expect(w, "job show 1", 0, "made by    standing job 1\n", "");
	expect(w, "standing rm 1", 0, "", "1");
	expect(w, "standing show 1", 4, "", "1");
	expect(w, "job show 1", 0, "small", "");
}

static void test_a_job_runs_to_its_end_and_names_its_cells(void **state)
{
	struct world *w = *state;
	int i;

	expect_submit(w, "", 0, "job 1\n");
	for (i = 0; i < 4; i++)
		player_boot(&w->m1);
	grid_wait_count(&w->g,
			"SELECT count(*) FROM slot s JOIN cell c ON c.id = s.cell "
			"WHERE c.job = 1 AND s.outcome = 'pass'",
			8);
	expect(w, "job show 1 --cells", 0, "slots 2 = 2 pass", "");
	expect(w, "job show 1 --csv", 0, "slot,machine,block,", "slots 8 = 8 pass");
	expect(w, "why 1/4", 0, "1/4", "");
	expect(w, "compare 1", 0, "verdicts 2 = 2 unknown", "");
}

#define ON_A_GRID(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_GRID(test_dry_run_shows_where_cells_come_from_and_what_they_cost),
		ON_A_GRID(test_a_job_rests_goes_on_and_grows),
		ON_A_GRID(test_machines_are_held_and_say_for_whom),
		ON_A_GRID(test_waiting_and_done_are_explained_and_repeated),
		ON_A_GRID(test_standing_jobs_are_kept_and_run_when_asked),
		ON_A_GRID(test_a_job_runs_to_its_end_and_names_its_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
