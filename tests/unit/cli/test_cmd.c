/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole commands against a coordinator that answers as the test says: output and exit codes. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/fake_coordinator.h"

static char *out, *err_text; /* of the last command, owned */
static size_t out_len, err_len;

/* Runs one command line (split at spaces): its exit code. */
static int run(const char *address, const char *line)
{
	struct cli cli = {.address = address, .width = 100};
	char copy[512], *argv[32], *save = NULL, *word;
	struct cli_args args;
	struct kg_err err;
	int argc = 0, rc;

	free(out);
	free(err_text);
	(void)snprintf(copy, sizeof(copy), "kgrid %s", line);
	for (word = strtok_r(copy, " ", &save); word && argc < 31;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	assert_int_equal(cli_args_parse(argc, argv, &args, &err), 0);
	cli.out = open_memstream(&out, &out_len);
	cli.err = open_memstream(&err_text, &err_len);
	cli.json = cli_args_has(&args, "json");
	rc = args.command->run(&cli, &args);
	(void)fclose(cli.out);
	(void)fclose(cli.err);
	return rc;
}

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* What the fake answers with, whatever is asked. */
struct answer {
	uint16_t type;
	const ProtobufCMessage *body;
	int code; /* not 0: an Error */
	const char *text, *detail;
	bool stream;
	unsigned vanish; /* so many connections end without an answer first */
	char key[64];	 /* client_key of the last submit */
	unsigned keys;	 /* different ones */
};

static int respond(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		   void *ctx)
{
	struct answer *a = ctx;

	if (type == KG_MSG_SUBMIT) {
		const Kgrid__V1__SubmitRequest *q = (const Kgrid__V1__SubmitRequest *)body;

		a->keys += strcmp(a->key, q->client_key) != 0;
		(void)snprintf(a->key, sizeof(a->key), "%s", q->client_key);
	}
	if (a->vanish > 0) {
		a->vanish--;
		return -1;
	}
	if (a->code) {
		fake_error(f, id, a->code, a->text, a->detail);
		return 0;
	}
	if (a->body)
		fake_send(f, a->type, id, a->body);
	if (a->stream)
		fake_end(f, id);
	return 0;
}

/* Runs a command against one answer. */
static int run_with(struct answer *a, const char *line)
{
	struct fake *f = fake_start(respond, a);
	int rc = run(fake_address(f), line);

	fake_stop(f);
	return rc;
}

static void test_unreachable_coordinator_is_3_and_says_how_to_start_one(void **state)
{
	(void)state;
	assert_int_equal(run("/nonexistent/sock", "jobs"), CLI_EXIT_UNREACHABLE);
	assert_contains(err_text, "'/nonexistent/sock'");
	assert_contains(err_text, "kgrid-coordinator --data-dir");
	assert_string_equal(out, "");
	assert_int_equal(run("nowhere", "jobs"), CLI_EXIT_USAGE);
}

static void test_errors_map_to_exit_codes(void **state)
{
	static const struct {
		int code, exit;
	} rows[] = {
		{KG_EINVALID, CLI_EXIT_USAGE},	 {KG_ENOTFOUND, CLI_EXIT_REFUSED},
		{KG_EBUSY, CLI_EXIT_REFUSED},	 {KG_EAMBIGUOUS, CLI_EXIT_REFUSED},
		{KG_EREFUSED, CLI_EXIT_REFUSED}, {KG_ESTATE, CLI_EXIT_REFUSED},
		{KG_ENODATA, CLI_EXIT_NODATA},	 {-5, CLI_EXIT_REFUSED},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer a = {.code = rows[i].code, .text = "because"};

		assert_int_equal(run_with(&a, "job show 3"), rows[i].exit);
		assert_string_equal(err_text, "kgrid: because\n");
		assert_string_equal(out, "");
	}
}

static void test_error_text_cannot_steer_the_terminal(void **state)
{
	struct answer a = {.code = KG_EREFUSED, .text = "a\033[2J", .detail = "b\007"};

	(void)state;
	assert_int_equal(run_with(&a, "job cancel 3"), CLI_EXIT_REFUSED);
	assert_string_equal(err_text, "b?\nkgrid: a?[2J\n");
}

static void test_empty_lists_say_why_and_are_5(void **state)
{
	Kgrid__V1__JobsReply jobs = KGRID__V1__JOBS_REPLY__INIT;
	Kgrid__V1__MachinesReply machines = KGRID__V1__MACHINES_REPLY__INIT;
	Kgrid__V1__KernelsReply kernels = KGRID__V1__KERNELS_REPLY__INIT;
	struct answer a = {.type = KG_MSG_JOBS_REPLY, .body = &jobs.base};

	(void)state;
	assert_int_equal(run_with(&a, "jobs"), CLI_EXIT_NODATA);
	assert_contains(err_text, "no jobs: ");
	assert_int_equal(run_with(&a, "jobs --json"), CLI_EXIT_NODATA);
	assert_string_equal(out, "{\n  \"jobs\": []\n}\n");
	a = (struct answer){.type = KG_MSG_MACHINES_REPLY, .body = &machines.base};
	assert_int_equal(run_with(&a, "machines"), CLI_EXIT_NODATA);
	assert_contains(err_text, "no machines: ");
	a = (struct answer){.type = KG_MSG_KERNELS_REPLY, .body = &kernels.base};
	assert_int_equal(run_with(&a, "kernels --csv"), CLI_EXIT_NODATA);
	assert_contains(out, "digest,label,release,");
	assert_contains(err_text, "no kernels: ");
}

static Kgrid__V1__OutcomeCount pass_count = KGRID__V1__OUTCOME_COUNT__INIT;
static Kgrid__V1__OutcomeCount *counts[] = {&pass_count};
static Kgrid__V1__Accounting accounting = KGRID__V1__ACCOUNTING__INIT;
static Kgrid__V1__JobSummary job = KGRID__V1__JOB_SUMMARY__INIT;

static void set_job(uint64_t slots, uint64_t passed, uint64_t pending)
{
	pass_count.outcome = s("pass");
	pass_count.has_count = 1;
	pass_count.count = passed;
	accounting.has_slots = accounting.has_pending = 1;
	accounting.slots = slots;
	accounting.pending = pending;
	accounting.n_outcomes = 1;
	accounting.outcomes = counts;
	job.has_id = 1;
	job.id = 3;
	job.name = s("lsm-cost");
	job.state = s("done");
	job.accounting = &accounting;
}

static void test_what_a_machine_does_not_tell_is_unsupported_never_0(void **state)
{
	Kgrid__V1__MachinesReply machines = KGRID__V1__MACHINES_REPLY__INIT;
	Kgrid__V1__MachineReply one = KGRID__V1__MACHINE_REPLY__INIT;
	Kgrid__V1__MachineInfo m = KGRID__V1__MACHINE_INFO__INIT, *list[] = {&m};
	struct answer a = {.type = KG_MSG_MACHINES_REPLY, .body = &machines.base};

	(void)state;
	m.name = s("silent");
	m.state = s("idle");
	machines.n_machines = 1;
	machines.machines = list;
	one.machine = &m;
	assert_int_equal(run_with(&a, "machines"), 0);
	assert_contains(out, "silent");
	assert_null(strchr(out, '0'));
	a = (struct answer){.type = KG_MSG_MACHINE_REPLY, .body = &one.base};
	assert_int_equal(run_with(&a, "machine show silent"), 0);
	assert_contains(out, "cpus       unsupported\n");
	assert_contains(out, "memory     unsupported\n");
	assert_contains(out, "vendor     unsupported\n");
	assert_contains(out, "microcode  unsupported\n");
	assert_null(strchr(out, '0'));
	m.has_cpus = m.has_cpu_family = m.has_cpu_model = m.has_cpu_stepping = 1;
	m.cpus = 4;
	m.cpu_vendor = s("GenuineIntel");
	m.cpu_family = 6; /* model and stepping 0 are numbers when they are told */
	assert_int_equal(run_with(&a, "machine show silent"), 0);
	assert_contains(out, "GenuineIntel, family 6, model 0, stepping 0\n");
	assert_contains(out, "cpus       4\n");
}

static void test_job_show_counts_and_lists_what_did_not_pass(void **state)
{
	Kgrid__V1__SlotInfo slots[3] = {KGRID__V1__SLOT_INFO__INIT, KGRID__V1__SLOT_INFO__INIT,
					KGRID__V1__SLOT_INFO__INIT};
	Kgrid__V1__SlotInfo *list[3] = {&slots[0], &slots[1], &slots[2]};
	Kgrid__V1__JobReply r = KGRID__V1__JOB_REPLY__INIT;
	struct answer a = {.type = KG_MSG_JOB_REPLY, .body = &r.base};
	size_t i;

	(void)state;
	set_job(3, 1, 1);
	for (i = 0; i < 3; i++) {
		slots[i].has_slot = 1;
		slots[i].slot = i + 1;
		slots[i].machine = s("lab-amd");
		slots[i].kernel = s("6.1");
		slots[i].lsm = s("prev");
		slots[i].workload = s("netperf");
		slots[i].params = s("size=64");
	}
	slots[0].outcome = s("pass");
	slots[1].outcome = s("wrong-lsm");
	slots[1].reason = s("tomoyo is missing");
	r.job = &job;
	r.text = s("name: lsm-cost\n");
	r.n_slots = 3;
	r.slots = list;
	assert_int_equal(run_with(&a, "job show"), 0);
	assert_contains(out, "lab-amd  6.1     prev  slots 3 = 1 pass + 1 wrong-lsm + 1 pending\n");
	assert_contains(out, "  tomoyo is\n"); /* wrapped: no line is wider than asked */
	assert_null(strstr(out, " pass  "));
	assert_contains(out, "\nslots 3 = 1 pass + 1 pending (does not add up: the sum is 2)\n");
	assert_int_equal(run_with(&a, "job show --slots"), 0);
	assert_contains(out, " pending  ");
	assert_int_equal(run_with(&a, "job show 3 --file"), 0);
	assert_string_equal(out, "name: lsm-cost\n");
}

static void write_file(char path[32], const void *bytes, size_t len)
{
	int fd;

	(void)strcpy(path, "/tmp/kgrid-cmd-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

/* kgrid submit of a file with these bytes. */
static int submit(struct answer *a, const void *bytes, size_t len, const char *options)
{
	char path[32], line[128];
	int rc;

	write_file(path, bytes, len);
	(void)snprintf(line, sizeof(line), "submit %s %s", options, path);
	rc = run_with(a, line);
	(void)unlink(path);
	return rc;
}

static void test_submit_prints_each_fault_of_the_file(void **state)
{
	struct answer a = {.code = KG_EINVALID,
			   .text = "the job file has faults",
			   .detail = "job.yaml:3:1: unknown key 'kernel'; did you mean 'kernels'?"};

	(void)state;
	assert_int_equal(submit(&a, "name: x\n", 8, ""), CLI_EXIT_USAGE);
	assert_contains(err_text, "job.yaml:3:1: unknown key");
	assert_int_equal(strncmp(err_text, "job.yaml", 8), 0);
}

static void test_submit_sends_the_same_key_again_after_a_lost_connection(void **state)
{
	Kgrid__V1__SubmitReply r = KGRID__V1__SUBMIT_REPLY__INIT;
	struct answer a = {.type = KG_MSG_SUBMIT_REPLY, .body = &r.base, .vanish = 1};

	(void)state;
	r.has_job = r.has_existed = 1;
	r.job = 9;
	r.existed = 1;
	assert_int_equal(submit(&a, "name: x\n", 8, ""), 0);
	assert_int_equal(a.keys, 1);
	assert_int_equal(strlen(a.key), 32);
	assert_contains(out, "job 9 (was submitted already)\n");
}

static void test_files_that_cannot_be_jobs_are_refused_here(void **state)
{
	struct answer a = {.code = KG_EREFUSED, .text = "must not be asked"};
	char *large = calloc(1, 2 * 1024 * 1024);

	(void)state;
	assert_non_null(large);
	assert_int_equal(submit(&a, "name: \xff\n", 8, ""), CLI_EXIT_USAGE);
	assert_contains(err_text, "UTF-8");
	assert_int_equal(submit(&a, "na\0me", 5, ""), CLI_EXIT_USAGE);
	memset(large, '#', 2 * 1024 * 1024);
	assert_int_equal(submit(&a, large, 2 * 1024 * 1024, ""), CLI_EXIT_USAGE);
	assert_contains(err_text, "at most 1048576 bytes");
	assert_int_equal(run_with(&a, "submit /nonexistent.yaml"), CLI_EXIT_USAGE);
	assert_contains(err_text, "/nonexistent.yaml");
	free(large);
}

static int watch_with(uint64_t slots, uint64_t passed, const char *line)
{
	Kgrid__V1__WatchUpdate u = KGRID__V1__WATCH_UPDATE__INIT;
	struct answer a = {.type = KG_MSG_WATCH_UPDATE, .body = &u.base, .stream = true};

	set_job(slots, passed, slots - passed);
	u.job = &job;
	return run_with(&a, line);
}

static void test_watch_is_0_only_when_all_that_could_run_passed(void **state)
{
	(void)state;
	assert_int_equal(watch_with(4, 4, "watch"), CLI_EXIT_OK);
	assert_contains(out, "job 3: done\nslots 4 = 4 pass\n");
	assert_int_equal(watch_with(4, 3, "watch 3"), CLI_EXIT_NO);
	assert_int_equal(watch_with(0, 0, "watch"), CLI_EXIT_NODATA);
	assert_contains(err_text, "no slot of this job was run");
	assert_int_equal(watch_with(4, 4, "watch --json"), CLI_EXIT_OK);
	assert_int_equal(strncmp(out, "{\"job\":{\"id\":3,", 15), 0);
}

/* Stopped as the job asked for, by its stop rule or its budget. */
static void test_watch_counts_skipped_slots_as_not_to_run(void **state)
{
	static Kgrid__V1__OutcomeCount skipped = KGRID__V1__OUTCOME_COUNT__INIT;
	Kgrid__V1__OutcomeCount *both[] = {&pass_count, &skipped};
	Kgrid__V1__WatchUpdate u = KGRID__V1__WATCH_UPDATE__INIT;
	struct answer a = {.type = KG_MSG_WATCH_UPDATE, .body = &u.base, .stream = true};

	(void)state;
	set_job(24, 10, 0);
	skipped.outcome = s("skipped");
	skipped.has_count = 1;
	skipped.count = 14;
	accounting.n_outcomes = 2;
	accounting.outcomes = both;
	u.job = &job;
	assert_int_equal(run_with(&a, "watch"), CLI_EXIT_OK);
	assert_contains(out, "slots 24 = 10 pass + 14 skipped\n");
	pass_count.count = 9;
	skipped.count = 14;
	accounting.slots = 24;
	accounting.pending = 1;
	assert_int_equal(run_with(&a, "watch"), CLI_EXIT_NO);
	pass_count.count = 0;
	skipped.count = 24;
	accounting.pending = 0;
	assert_int_equal(run_with(&a, "watch"), CLI_EXIT_NODATA);
}

static void test_samples_are_csv_with_the_accounting_aside(void **state)
{
	Kgrid__V1__SampleRow row = KGRID__V1__SAMPLE_ROW__INIT, *rows[] = {&row};
	Kgrid__V1__SamplesReply r = KGRID__V1__SAMPLES_REPLY__INIT;
	struct answer a = {.type = KG_MSG_SAMPLES_REPLY, .body = &r.base, .stream = true};
	json_t *j;

	(void)state;
	set_job(1, 1, 0);
	r.accounting = &accounting;
	row.machine = s("lab-amd");
	row.has_value = 1;
	row.value = 0.1;
	r.n_rows = 1;
	r.rows = rows;
	assert_int_equal(run_with(&a, "samples"), 0);
	assert_contains(out, "machine,vendor,kernel,lsm,");
	assert_contains(out, "\nlab-amd,,,,,,,,,,,,,0.1,,,\n");
	assert_string_equal(err_text, "slots 1 = 1 pass\n");
	assert_int_equal(run_with(&a, "samples --csv --json"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "samples --csv"), 0);
	assert_int_equal(run_with(&a, "samples --format json"), 0);
	j = json_loads(out, 0, NULL);
	assert_non_null(j);
	assert_int_equal(json_array_size(json_object_get(j, "rows")), 1);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(j, "accounting"), "slots")), 1);
	json_decref(j);
	r.n_rows = 0;
	assert_int_equal(run_with(&a, "samples --json"), CLI_EXIT_NODATA);
	j = json_loads(out, 0, NULL);
	assert_non_null(j);
	json_decref(j);
	assert_contains(err_text, "no samples: ");
}

static void test_logs_are_headed_and_say_what_was_dropped(void **state)
{
	Kgrid__V1__LogsReply r = KGRID__V1__LOGS_REPLY__INIT;
	struct answer a = {.type = KG_MSG_LOGS_REPLY, .body = &r.base, .stream = true};

	(void)state;
	r.heading = s("attempt 12: netperf, 6.12/full: fail (exit 1)");
	r.stream = s("stderr");
	r.has_data = r.has_dropped_bytes = 1;
	r.data.data = (uint8_t *)s("no route");
	r.data.len = 8;
	r.dropped_bytes = 5;
	assert_int_equal(run_with(&a, "logs --attempt 12"), 0);
	assert_string_equal(out, "== attempt 12: netperf, 6.12/full: fail (exit 1), stderr\n"
				 "no route\n[5 bytes were dropped: over the limit of the log]\n");
	assert_int_equal(run_with(&a, "logs"), CLI_EXIT_USAGE);
	assert_int_equal(run_with(&a, "logs --attempt 1 --boot 2"), CLI_EXIT_USAGE);
	a.body = NULL;
	assert_int_equal(run_with(&a, "logs --boot 2"), CLI_EXIT_NODATA);
}

static void test_compare_without_values_is_5_and_says_why(void **state)
{
	Kgrid__V1__CompareReply r = KGRID__V1__COMPARE_REPLY__INIT;
	struct answer a = {.type = KG_MSG_COMPARE_REPLY, .body = &r.base};
	char note[] = "5 slots of lab-amd were wrong-lsm", *notes[] = {note};

	(void)state;
	set_job(5, 0, 5);
	r.job = &job;
	r.n_notes = 1;
	r.notes = notes;
	assert_int_equal(run_with(&a, "compare"), CLI_EXIT_NODATA);
	assert_contains(out, "slots 5 = 5 pending");
	assert_contains(err_text, "nothing to compare");
	assert_contains(err_text, note);
}

static void test_kernel_add_wants_one_kind_of_source(void **state)
{
	(void)state;
	assert_int_equal(run("/nonexistent", "kernel add"), CLI_EXIT_USAGE);
	assert_int_equal(run("/nonexistent", "kernel add x.deb --image vmlinuz"), CLI_EXIT_USAGE);
	assert_int_equal(run("/nonexistent", "kernel add --image vmlinuz"), CLI_EXIT_USAGE);
	assert_contains(err_text, "belong together");
	assert_int_equal(run("/nonexistent", "kernel add x.deb --label a/b"), CLI_EXIT_USAGE);
	assert_contains(err_text, "not a label");
	assert_int_equal(run("/nonexistent", "kernel add /nonexistent.deb"), CLI_EXIT_USAGE);
	assert_contains(err_text, "/nonexistent.deb");
}

static void refuse(struct fake *f, int fd, void *ctx)
{
	char c;

	fake_error(f, 0, *(int *)ctx, "protocol 1.9 is not 1.1 to 1.1", NULL);
	while (recv(fd, &c, 1, 0) > 0)
		;
}

static void test_other_protocol_version_is_refused_not_unreachable(void **state)
{
	int code = KG_EVERSION;
	struct fake *f = fake_start_raw(refuse, &code);

	(void)state;
	assert_int_equal(run(fake_address(f), "info"), CLI_EXIT_REFUSED);
	assert_contains(err_text, "refuses: protocol 1.9");
	fake_stop(f);
}

static int free_texts(void **state)
{
	(void)state;
	free(out);
	free(err_text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unreachable_coordinator_is_3_and_says_how_to_start_one),
		cmocka_unit_test(test_errors_map_to_exit_codes),
		cmocka_unit_test(test_error_text_cannot_steer_the_terminal),
		cmocka_unit_test(test_empty_lists_say_why_and_are_5),
		cmocka_unit_test(test_what_a_machine_does_not_tell_is_unsupported_never_0),
		cmocka_unit_test(test_job_show_counts_and_lists_what_did_not_pass),
		cmocka_unit_test(test_submit_prints_each_fault_of_the_file),
		cmocka_unit_test(test_submit_sends_the_same_key_again_after_a_lost_connection),
		cmocka_unit_test(test_files_that_cannot_be_jobs_are_refused_here),
		cmocka_unit_test(test_watch_is_0_only_when_all_that_could_run_passed),
		cmocka_unit_test(test_watch_counts_skipped_slots_as_not_to_run),
		cmocka_unit_test(test_samples_are_csv_with_the_accounting_aside),
		cmocka_unit_test(test_logs_are_headed_and_say_what_was_dropped),
		cmocka_unit_test(test_compare_without_values_is_5_and_says_why),
		cmocka_unit_test(test_kernel_add_wants_one_kind_of_source),
		cmocka_unit_test(test_other_protocol_version_is_refused_not_unreachable),
	};

	return cmocka_run_group_tests(tests, NULL, free_texts);
}
