/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of LSMs from the command to the coordinator and back: the prediction of a stored kernel, and
 * requests that are one boot because they give the same list. */
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
	char file[96];
	char old_kernel[65], new_kernel[65];
};

static double value(void *arg, const struct player_run *run)
{
	(void)arg;
	return 100 + (double)(run->boot % 3);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	grid_init(&w->g);
	grid_start(&w->g, NULL);
	(void)snprintf(w->file, sizeof(w->file), "%s/job.yaml", w->g.dir);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	/* CONFIG_LSM "yama,apparmor,tomoyo,bpf", and these are built in */
	synthetic_kernel_add(w->client, "old", "6.1.1-test", "x", w->old_kernel);
	synthetic_kernel_add(w->client, "new", "6.12.1-test", "y", w->new_kernel);
	w->m1 = (struct player){
		.agent = peer_connect(w->g.tcp), .machine = "m1", .value = value, .arg = w};
	peer_hello_agent(w->m1.agent, "m1", "state-1");
	peer_agent_ready(w->m1.agent, 0, 0);
	grid_wait_count(&w->g, "SELECT count(*) FROM machine WHERE facts IS NOT NULL", 1);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	peer_close(w->client);
	peer_close(w->m1.agent);
	assert_int_equal(grid_stop(&w->g), 0);
	(void)unlink(w->file);
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
		fail_msg("'%s' does not say '%s' and '%s': %s%s", line, out, err, r.err, r.out);
	command_result_deinit(&r);
}

static void test_prediction_of_a_stored_kernel(void **state)
{
	struct world *w = *state;
	char line[160];

	expect(w, "lsm resolve --kernel new", 0,
	       "kernel: 6.12.1-test\nlist: capability,yama,apparmor,tomoyo,bpf\n", "");
	expect(w, "lsm resolve --kernel old --cmdline lsm=bpf,smack,yama", 0,
	       "list: capability,bpf,yama\n", "");
	expect(w, "lsm resolve --kernel old --cmdline lsm=bpf,smack,yama", 0,
	       "warning: 'smack' is not built into 6.1.1-test", "");
	expect(w, "lsm resolve --kernel new --cmdline lsm=landlock --json", 0,
	       "\"release\": \"6.12.1-test\",\n  \"effective\": [\n    \"capability\"\n  ],\n", "");
	expect(w, "lsm resolve --kernel new --cmdline lsm=landlock --json", 0,
	       "\"name\": \"landlock\",\n      \"in\": false,\n      \"requested\": true,\n      "
	       "\"reason\": \"not-built-in\",\n      \"why\": \"not built in\"\n",
	       "");
	expect(w, "lsm resolve --kernel new --cmdline security=none --profile ubuntu", 0,
	       "list: capability,yama,bpf\n", "");
	(void)snprintf(line, sizeof(line), "lsm resolve --kernel %.12s", w->old_kernel);
	expect(w, line, 0, "kernel: 6.1.1-test\n", "");
}

static void test_no_such_kernel_is_refused_with_a_suggestion(void **state)
{
	struct world *w = *state;
	char other[65];

	expect(w, "lsm resolve --kernel nwe", 4, "", "did you mean 'new'?");
	synthetic_kernel_add(w->client, "third", "6.12.1-test", "z", other);
	expect(w, "lsm resolve --kernel 6.12.1-test", 4, "", "fits 2 kernels");
}

static void write_job(struct world *w)
{
	FILE *f = fopen(w->file, "w");

	assert_non_null(f);
	assert_true(fputs("name: lists\nmachines: [m1]\nkernels: [old, new]\n"
			  "lsm:\n  short: yama\n  nt: yama,apparmor\n"
			  "  ntnb: yama,smack,apparmor\n  three: [yama, apparmor, landlock]\n"
			  "workloads: [{fake: {size: 1}}]\ncanary: none\n"
			  "repeat: {boots: 1, iterations: 1}\n",
			  f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* The three that give "yama,apparmor" are one boot on each kernel; the plan and the results say so. */
static void test_requests_with_the_same_list_share_a_boot_and_say_so(void **state)
{
	struct world *w = *state;
	char line[160];
	int i;

	write_job(w);
	(void)snprintf(line, sizeof(line), "submit --dry-run %s", w->file);
	expect(w, line, 0, "same list as 'nt'", "");
	expect(w, line, 0, "'smack' is not built into 6.12.1-test", "");
	(void)snprintf(line, sizeof(line), "submit %s", w->file);
	expect(w, line, 0, "job 1\n", "");
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM slot"), 4);
	for (i = 0; i < 4; i++)
		player_boot(&w->m1);
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM boot"), 4);
	assert_int_equal(grid_count(&w->g, "SELECT count(DISTINCT lsm_effective) FROM boot"), 2);
	expect(w, "compare 1", 0, "same list as 'ntnb' and 'three'", "");
	expect(w, "compare 1", 0, "slots 4 = 4 pass\n", "");
	expect(w, "compare 1 --json", 0, "\"same_as\": [\n", "");
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_prediction_of_a_stored_kernel),
		T(test_no_such_kernel_is_refused_with_a_suggestion),
		T(test_requests_with_the_same_list_share_a_boot_and_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
