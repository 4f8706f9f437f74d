/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command and a real coordinator, with an agent played by hand. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/command.h"
#include "tests/lib/fake_coordinator.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"
#include "tests/lib/synthetic_kernel.h"

struct world {
	struct grid g;
	struct peer *client;
	struct peer *agent;
	char file[96]; /* a job file */
	char kernel[65];
};

static const char good[] = "name: small\n"
			   "machines: [m1]\n"
			   "kernels: [k1]\n"
			   "lsm: {short: yama, long: \"yama,apparmor,smack\"}\n"
			   "workloads: [{fake: {size: [1, 2]}}]\n"
			   "repeat: {boots: 2, iterations: 1}\n";

static void write_job(struct world *w, const char *text)
{
	FILE *f = fopen(w->file, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
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
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	peer_close(w->client);
	peer_close(w->agent);
	assert_int_equal(grid_stop(&w->g), 0);
	(void)unlink(w->file);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

static void make_machine(struct world *w)
{
	synthetic_kernel_add(w->client, "k1", "6.12.1-test", "x", w->kernel);
	w->agent = peer_connect(w->g.tcp);
	peer_hello_agent(w->agent, "m1", "state-1");
	peer_agent_ready(w->agent, 0, 0);
	grid_wait_count(&w->g, "SELECT count(*) FROM machine", 1);
}

/* Runs a line, checks the exit code and a part of what it printed (out, then err). */
static void expect(struct world *w, const char *line, int status, const char *out, const char *err)
{
	struct command c = {.address = w->g.socket};
	struct command_result r;

	command_run(&c, line, &r);
	if (r.status != status)
		fail_msg("'%s' exits with %d, not %d: %s%s", line, r.status, status, r.out, r.err);
	assert_contains(r.out, out);
	assert_contains(r.err, err);
	command_result_deinit(&r);
}

static void test_empty_grid_says_why_it_is_empty(void **state)
{
	struct world *w = *state;

	expect(w, "info", 0, "0 connected", "");
	expect(w, "jobs", 5, "", "no jobs");
	expect(w, "machines", 5, "", "no machines");
	expect(w, "kernels", 5, "", "no kernels");
	expect(w, "job show 3", 4, "", "3");
	expect(w, "kernel show x", 4, "", "'x'");
	expect(w, "machine show x", 4, "", "'x'");
	expect(w, "compare 3", 4, "", "3");
}

static void test_job_goes_from_plan_to_comparison(void **state)
{
	struct world *w = *state;
	char line[160];

	make_machine(w);
	write_job(w, good);
	(void)snprintf(line, sizeof(line), "submit --dry-run %s", w->file);
	expect(w, line, 0, "plan: 4 cells, 8 slots", "");
	expect(w, line, 0, "boot order:\n", "");
	expect(w, line, 0, "warning: ", "");
	expect(w, "jobs", 5, "", "no jobs");
	(void)snprintf(line, sizeof(line), "submit %s --json", w->file);
	expect(w, line, 0, "\"job\": 1", "");
	expect(w, "jobs", 0, "slots 8 = 8 pending", "");
	expect(w, "job show", 0, "m1       k1      short  slots 4 = 4 pending", "");
	expect(w, "job show --file", 0, good, "");
	expect(w, "compare", 5, "slots 8 = 8 pending", "nothing to compare");
	expect(w, "samples", 5, "machine,vendor,", "slots 8 = 8 pending");
	expect(w, "kernel rm k1", 4, "", "");
	expect(w, "job cancel 1", 0, "", "");
	grid_wait_count(&w->g, "SELECT count(*) FROM slot WHERE outcome = 'cancelled'", 8);
	expect(w, "watch 1", 1, "slots 8 = 8 cancelled", "");
	expect(w, "job cancel 1", 4, "", "");
}

static void restart_and_cancel(void *ctx)
{
	struct world *w = ctx;

	grid_kill(&w->g);
	grid_start(&w->g, NULL);
	expect(w, "job cancel 1", 0, "", "");
}

static void test_watch_survives_a_restart_of_the_coordinator(void **state)
{
	struct world *w = *state;
	struct command c = {.address = w->g.socket,
			    .terminal = true,
			    .wait_for = "slots 8 = 8 pending",
			    .then = restart_and_cancel,
			    .ctx = w};
	struct command_result r;
	char line[160];

	make_machine(w);
	write_job(w, good);
	(void)snprintf(line, sizeof(line), "submit %s", w->file);
	expect(w, line, 0, "job 1", "");
	command_run(&c, "watch 1", &r);
	assert_int_equal(r.status, 1);
	assert_contains(r.out, "connected again");
	assert_contains(r.out, "slots 8 = 8 cancelled");
	command_result_deinit(&r);
}

static void test_kernels_and_machines_are_shown(void **state)
{
	struct world *w = *state;

	make_machine(w);
	expect(w, "kernels", 0, "yama,apparmor,tomoyo,bpf", "");
	expect(w, "kernel show 6.12.1-test", 0, w->kernel, "");
	expect(w, "kernels --csv", 0, ",k1,6.12.1-test,", "");
	expect(w, "machines", 0, "Test CPU", "");
	expect(w, "machine show m1", 0, "fake", "");
	expect(w, "machines --json", 0, "\"cpu_vendor\": \"GenuineIntel\"", "");
	expect(w, "kernel rm k1", 0, "", "");
	expect(w, "kernels", 5, "", "no kernels");
}

static void make_folder(char path[64], size_t padding)
{
	char modules[128];

	(void)strcpy(path, "/tmp/kgrid-kernel-XXXXXX");
	assert_non_null(mkdtemp(path));
	synthetic_kernel_write(path, "6.12.7-test", "y", padding);
	(void)snprintf(modules, sizeof(modules), "%s/modules", path);
	assert_int_equal(mkdir(modules, 0700), 0);
}

static void remove_folder(const char *path)
{
	static const char *const names[] = {"vmlinuz", "config"};
	char file[128];
	size_t i;

	for (i = 0; i < 2; i++) {
		(void)snprintf(file, sizeof(file), "%s/%s", path, names[i]);
		(void)unlink(file);
	}
	(void)snprintf(file, sizeof(file), "%s/modules", path);
	(void)rmdir(file);
	(void)rmdir(path);
}

static void test_kernel_add_stores_a_folder_once(void **state)
{
	struct world *w = *state;
	char path[64], line[128];

	make_folder(path, 700 * 1000);
	(void)snprintf(line, sizeof(line), "kernel add %s --label k2", path);
	expect(w, line, 0, "6.12.7-test", "sent 2 of 2 files");
	expect(w, line, 0, "yama,apparmor,tomoyo,bpf", "stored already");
	expect(w, "kernel show k2", 0, "6.12.7-test", "");
	remove_folder(path);
	expect(w, line, 2, "", path);
}

/* What a coordinator that has the first part of each blob is asked. */
struct resumed {
	uint64_t offsets[8];
	size_t n;
	uint64_t total;
};

static int have_a_part(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		       void *ctx)
{
	Kgrid__V1__KernelOfferReply offer = KGRID__V1__KERNEL_OFFER_REPLY__INIT;
	Kgrid__V1__BlobPutReply put = KGRID__V1__BLOB_PUT_REPLY__INIT;
	Kgrid__V1__KernelReply kernel = KGRID__V1__KERNEL_REPLY__INIT;
	struct resumed *r = ctx;
	char digest[65], *missing[] = {digest};

	if (type == KG_MSG_KERNEL_OFFER) {
		/* the last line of the manifest: file DIGEST SIZE MODE vmlinuz */
		const char *manifest = ((const Kgrid__V1__KernelOffer *)body)->manifest;
		const char *line = strstr(manifest, " vmlinuz\n");

		while (line > manifest && line[-1] != '\n')
			line--;
		(void)snprintf(digest, sizeof(digest), "%.64s", line + 5);
		offer.n_missing = 1;
		offer.missing = missing;
		fake_send(f, KG_MSG_KERNEL_OFFER_REPLY, id, &offer.base);
	} else if (type == KG_MSG_BLOB_PUT) {
		const Kgrid__V1__BlobPut *q = (const Kgrid__V1__BlobPut *)body;

		r->offsets[r->n++] = q->offset;
		r->total = q->total_bytes;
		put.has_next_offset = put.has_complete = 1;
		put.next_offset = q->offset ? q->offset + q->data.len : 500000;
		put.complete = put.next_offset == q->total_bytes;
		fake_send(f, KG_MSG_BLOB_PUT_REPLY, id, &put.base);
	} else {
		fake_send(f, KG_MSG_KERNEL_REPLY, id, &kernel.base);
	}
	return 0;
}

static void test_kernel_add_goes_on_where_an_upload_stopped(void **state)
{
	struct resumed seen = {.n = 0};
	struct fake *f = fake_start(have_a_part, &seen);
	struct command c = {.address = fake_address(f)};
	struct command_result r;
	char path[64], line[128];

	(void)state;
	make_folder(path, 700 * 1000);
	(void)snprintf(line, sizeof(line), "kernel add %s", path);
	command_run(&c, line, &r);
	if (r.status != 0)
		fail_msg("%s", r.err);
	command_result_deinit(&r);
	fake_stop(f);
	remove_folder(path);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.offsets[0], 0);
	assert_int_equal(seen.offsets[1], 500000);
	assert_true(seen.total > 700 * 1000);
}

static void test_faults_of_a_job_file_have_their_place(void **state)
{
	struct world *w = *state;
	struct command c = {.address = w->g.socket};
	struct command_result r;
	char line[160];

	make_machine(w);
	write_job(w, "name: x\nkernel: [k1]\n");
	(void)snprintf(line, sizeof(line), "submit %s", w->file);
	command_run(&c, line, &r);
	assert_int_equal(r.status, 2);
	assert_int_equal(strncmp(r.err, w->file, strlen(w->file)), 0);
	assert_contains(r.err, ":2:1: ");
	command_result_deinit(&r);
	write_job(w, "name: x\nmachines: \"vendor == amd\"\nkernels: [k1]\n"
		     "workloads: [{fake: {size: 1}}]\n");
	expect(w, line, 2, "", "");
	expect(w, "submit /nonexistent.yaml", 2, "", "/nonexistent.yaml");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_empty_grid_says_why_it_is_empty, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_job_goes_from_plan_to_comparison, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_watch_survives_a_restart_of_the_coordinator,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernels_and_machines_are_shown, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_kernel_add_stores_a_folder_once, setup,
						teardown),
		cmocka_unit_test(test_kernel_add_goes_on_where_an_upload_stopped),
		cmocka_unit_test_setup_teardown(test_faults_of_a_job_file_have_their_place, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
