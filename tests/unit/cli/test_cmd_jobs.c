/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands for jobs and machines against a coordinator that answers as the test says: what they
 * ask, what they print, their exit codes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/fake_coordinator.h"

static char *out, *err_text; /* of the last command, owned */
static size_t out_len, err_len;

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* Runs a command, its words ended by NULL: its exit code, that of a wrong command line included. */
static int run(const char *address, const char *const *words)
{
	struct cli cli = {.address = address, .width = 100};
	struct cli_args args;
	struct kg_err err = {{0}};
	char *argv[32] = {s("kgrid")};
	int argc = 1, rc;

	free(out);
	free(err_text);
	for (; *words; words++)
		argv[argc++] = s(*words);
	cli.out = open_memstream(&out, &out_len);
	cli.err = open_memstream(&err_text, &err_len);
	if (cli_args_parse(argc, argv, &args, &err) < 0) {
		cli_say(&cli, "%s", err.text);
		rc = CLI_EXIT_USAGE;
	} else {
		cli.json = cli_args_has(&args, "json");
		rc = args.command->run(&cli, &args);
	}
	(void)fclose(cli.out);
	(void)fclose(cli.err);
	return rc;
}

/* What the fake answers with, and what it was asked: packed, to be looked at after the thread. */
struct answer {
	uint16_t type;
	const ProtobufCMessage *body;
	uint16_t asked; /* 0: nothing was asked */
	uint8_t bytes[4096];
	size_t len;
};

static int respond(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		   void *ctx)
{
	struct answer *a = ctx;

	a->asked = type;
	a->len = protobuf_c_message_get_packed_size(body);
	if (a->len <= sizeof(a->bytes))
		(void)protobuf_c_message_pack(body, a->bytes);
	fake_send(f, a->type, id, a->body);
	return 0;
}

static int run_with(struct answer *a, const char *const *words)
{
	struct fake *f = fake_start(respond, a);
	int rc = run(fake_address(f), words);

	fake_stop(f);
	return rc;
}

#define WORDS(...)	 ((const char *const[]){__VA_ARGS__, NULL})
#define ASKED(a, prefix) prefix##__unpack(NULL, (a)->len, (a)->bytes)

static Kgrid__V1__Done done = KGRID__V1__DONE__INIT;

static void test_job_changes_say_what_to_do_and_with_which_number(void **state)
{
	static const struct {
		const char *words[6];
		const char *action;
		uint32_t value;
		const char *said;
	} rows[] = {
		{{"job", "pause", "7"}, "pause", 0, "kgrid: job 7: paused\n"},
		{{"job", "resume", "7"}, "resume", 0, "kgrid: job 7: goes on\n"},
		{{"job", "reprioritise", "7", "0"},
		 "reprioritise",
		 0,
		 "kgrid: job 7: priority 0\n"},
		{{"job", "reprioritize", "7", "100"},
		 "reprioritise",
		 100,
		 "kgrid: job 7: priority 100\n"},
		{{"job", "extend", "7", "--blocks", "3"},
		 "extend",
		 3,
		 "kgrid: job 7: 3 blocks added\n"},
		{{"job", "extend", "7", "-n1"}, "extend", 1, "kgrid: job 7: 1 block added\n"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer a = {.type = KG_MSG_DONE, .body = &done.base};
		Kgrid__V1__JobChange *q;

		assert_int_equal(run_with(&a, rows[i].words), 0);
		assert_int_equal(a.asked, KG_MSG_JOB_CHANGE);
		q = ASKED(&a, kgrid__v1__job_change);
		assert_non_null(q);
		assert_int_equal(q->job, 7);
		assert_string_equal(q->action, rows[i].action);
		assert_int_equal(q->value, rows[i].value);
		assert_string_equal(err_text, rows[i].said);
		assert_string_equal(out, "");
		kgrid__v1__job_change__free_unpacked(q, NULL);
	}
}

static void test_what_the_coordinator_says_of_a_change_is_shown(void **state)
{
	Kgrid__V1__Done d = KGRID__V1__DONE__INIT;
	struct answer a = {.type = KG_MSG_DONE, .body = &d.base};

	(void)state;
	d.text = s("job 7 is paused; a boot in progress is finished first");
	assert_int_equal(run_with(&a, WORDS("job", "pause", "7")), 0);
	assert_string_equal(err_text,
			    "kgrid: job 7 is paused; a boot in progress is finished first\n");
	assert_int_equal(run_with(&a, WORDS("job", "pause", "7", "--json")), 0);
	assert_contains(out, "\"text\": \"job 7 is paused");
}

static void test_wrong_changes_are_refused_before_anything_is_sent(void **state)
{
	static const struct {
		const char *words[8];
		const char *said;
	} rows[] = {
		{{"job", "pause"}, "needs JOB"},
		{{"job", "pause", "0"}, "not the number of a job: '0'"},
		{{"job", "pause", "7", "8"}, "does not take '8'"},
		{{"job", "reprioritise", "7"}, "needs PRIORITY"},
		{{"job", "reprioritise", "7", "101"}, "'101'; it is a whole number from 0 to 100"},
		{{"job", "reprioritise", "7", "high"}, "'high'"},
		{{"job", "reprioritise", "7", "-1"}, "'-1'"},
		{{"job", "extend", "7"}, "needs --blocks N"},
		{{"job", "extend", "7", "--blocks", "0"}, "whole number from 1"},
		{{"job", "extend", "7", "--blocks", "4294967296"}, "too large: 4294967296"},
		{{"job", "paus", "7"}, "did you mean 'pause'?"},
		{{"machine", "reserve", "m", "--why", "w"}, "needs --for TIME"},
		{{"machine", "reserve", "m", "--for", "2h"}, "needs --why TEXT"},
		{{"machine", "reserve", "m", "--for", "2x", "--why", "w"}, "not a time: '2x'"},
		{{"machine", "reserve", "m", "--for", "0s", "--why", "w"}, "not a time: '0s'"},
		{{"machine", "reserve", "m", "--for", "10ms", "--why", "w"}, "not a time: '10ms'"},
		{{"machine", "reserve", "m", "--for", "367d", "--why", "w"}, "at most 366 days"},
		{{"machine", "reserve", "--for", "2h", "--why", "w"}, "needs NAME"},
		{{"machine", "drain", "m", "--for", "2h"}, "has no option '--for'"},
		{{"machine", "drains", "m"}, "did you mean 'drain'?"},
		{{"machine", "drain", "m", "--why", "\xff"}, "not in UTF-8"},
		{{"why"}, "needs SUBJECT"},
		{{"why", "7/"}, "not a job, a cell or a machine: '7/'"},
		{{"why", "7/0"}, "'7/0'"},
		{{"why", "a/b/c"}, "'a/b/c'"},
		{{"reproduce", "7"}, "it is JOB/CELL, such as 7/12"},
		{{"reproduce", "7/4294967296"}, "it is JOB/CELL"},
		{{"reproduce", "/3"}, "it is JOB/CELL"},
		{{"reproduce", "7/3", "--job-file", "--recipe"}, "do not go together"},
		{{"standing", "show"}, "needs N"},
		{{"standing", "show", "x"}, "not the number of a standing job: 'x'"},
		{{"standing", "shwo", "3"}, "did you mean 'show'?"},
		{{"machines", "--where", "vendr == amd"}, "did you mean 'vendor'?"},
		{{"machines", "--where", "cpus >= \xff"}, "not in UTF-8"},
		{{"job", "show", "7", "--csv", "--json"}, "do not go together"},
		{{"submit", "--cells", "/dev/null"}, "'--cells' goes with --dry-run"},
		{{"submit", "--csv", "/dev/null"}, "'--csv' goes with --dry-run"},
		{{"submit", "-n", "-w", "/dev/null"}, "leave one out"},
		{{"submit", "-x", "3", "--cells", "/dev/null"}, "leave one out"},
		{{"submit", "-n", "--csv", "--json", "/dev/null"}, "leave one out"},
	};
	struct answer a = {.type = KG_MSG_DONE, .body = &done.base};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(run_with(&a, rows[i].words), CLI_EXIT_USAGE);
		assert_contains(err_text, rows[i].said);
		assert_string_equal(out, "");
		assert_int_equal(a.asked, 0);
	}
}

static void test_machine_changes_name_who_how_long_and_why(void **state)
{
	static const struct {
		const char *words[9];
		const char *action, *why;
		uint64_t seconds;
	} rows[] = {
		{{"machine", "reserve", "lab-amd", "--for", "2h", "--why", "bisecting by hand"},
		 "reserve",
		 "bisecting by hand",
		 7200},
		{{"machine", "reserve", "lab-amd", "-f", "366d", "-y", "w"},
		 "reserve",
		 "w",
		 366 * 86400},
		{{"machine", "release", "lab-amd"}, "release", NULL, 0},
		{{"machine", "drain", "lab-amd", "--why", "new DIMMs"}, "drain", "new DIMMs", 0},
		{{"machine", "drain", "lab-amd"}, "drain", NULL, 0},
		{{"machine", "maintenance", "lab-amd", "-y", "BIOS"}, "maintenance", "BIOS", 0},
		{{"machine", "resume", "lab-amd"}, "resume", NULL, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer a = {.type = KG_MSG_DONE, .body = &done.base};
		Kgrid__V1__MachineChange *q;

		assert_int_equal(run_with(&a, rows[i].words), 0);
		assert_int_equal(a.asked, KG_MSG_MACHINE_CHANGE);
		q = ASKED(&a, kgrid__v1__machine_change);
		assert_non_null(q);
		assert_string_equal(q->machine, "lab-amd");
		assert_string_equal(q->action, rows[i].action);
		assert_true(kg_streq(q->why, rows[i].why));
		assert_true(kg_streq(q->user, cli_user()));
		assert_int_equal(q->seconds, rows[i].seconds);
		assert_contains(err_text, "machine 'lab-amd': ");
		kgrid__v1__machine_change__free_unpacked(q, NULL);
	}
}

static void test_why_wraps_its_lines_and_keeps_their_indentation(void **state)
{
	char *lines[] = {s("waits: no machine is free"),
			 s("  lab-amd is reserved by kai until 17:25, for a bisection that takes "
			   "the whole of this long afternoon\033[2J"),
			 s("  lab-intel runs job 6")};
	Kgrid__V1__WhyReply r = KGRID__V1__WHY_REPLY__INIT;
	struct answer a = {.type = KG_MSG_WHY_REPLY, .body = &r.base};
	Kgrid__V1__WhyRequest *q;

	(void)state;
	r.subject = s("job 7 'lsm-cost'");
	r.lines = lines;
	r.n_lines = 3;
	assert_int_equal(run_with(&a, WORDS("why", "7")), 0);
	assert_string_equal(out, "job 7 'lsm-cost'\n"
				 "waits: no machine is free\n"
				 "  lab-amd is reserved by kai until 17:25, for a bisection that "
				 "takes the whole of this long\n"
				 "    afternoon?[2J\n"
				 "  lab-intel runs job 6\n");
	q = ASKED(&a, kgrid__v1__why_request);
	assert_string_equal(q->subject, "7");
	kgrid__v1__why_request__free_unpacked(q, NULL);
	assert_int_equal(run_with(&a, WORDS("why", "machine:lab-amd")), 0);
	assert_int_equal(run_with(&a, WORDS("why", "7/12", "--json")), 0);
	assert_contains(out, "\"lines\"");
	r.n_lines = 0;
	assert_int_equal(run_with(&a, WORDS("why", "7")), CLI_EXIT_NODATA);
}

static void test_reproduce_prints_both_or_one_alone(void **state)
{
	Kgrid__V1__ReproduceReply r = KGRID__V1__REPRODUCE_REPLY__INIT;
	struct answer a = {.type = KG_MSG_REPRODUCE_REPLY, .body = &r.base};
	Kgrid__V1__ReproduceRequest *q;

	(void)state;
	r.job_file = s("name: again\n");
	r.recipe = s("kexec -e"); /* no newline at its end */
	assert_int_equal(run_with(&a, WORDS("reproduce", "7/12")), 0);
	assert_string_equal(out, "# job file: kgrid submit FILE\n"
				 "name: again\n"
				 "\n"
				 "# recipe: sh FILE, without kgrid\n"
				 "kexec -e\n");
	q = ASKED(&a, kgrid__v1__reproduce_request);
	assert_int_equal(q->job, 7);
	assert_int_equal(q->cell, 12);
	kgrid__v1__reproduce_request__free_unpacked(q, NULL);
	assert_int_equal(run_with(&a, WORDS("reproduce", "7/12", "--job-file")), 0);
	assert_string_equal(out, "name: again\n");
	assert_int_equal(run_with(&a, WORDS("reproduce", "7/12", "--recipe")), 0);
	assert_string_equal(out, "kexec -e\n");
	assert_int_equal(run_with(&a, WORDS("reproduce", "7/12", "--json")), 0);
	assert_contains(out, "\"job_file\": \"name: again\\n\"");
	r.recipe = NULL;
	assert_int_equal(run_with(&a, WORDS("reproduce", "7/12", "--recipe")), CLI_EXIT_NODATA);
	assert_contains(err_text, "has no recipe for '7/12'");
	assert_string_equal(out, "");
}

static void test_standing_alone_is_its_list(void **state)
{
	Kgrid__V1__StandingInfo x = KGRID__V1__STANDING_INFO__INIT, *list[] = {&x};
	Kgrid__V1__StandingReply r = KGRID__V1__STANDING_REPLY__INIT;
	struct answer a = {.type = KG_MSG_STANDING_REPLY, .body = &r.base};
	Kgrid__V1__StandingRequest *q;

	(void)state;
	assert_int_equal(run_with(&a, WORDS("standing")), CLI_EXIT_NODATA);
	assert_contains(err_text, "no standing jobs: submit a file with 'when:");
	x.has_id = 1;
	x.id = 2;
	x.name = s("every-kernel");
	x.when = s("when a kernel is added");
	x.last_error = s("no machine fits");
	r.n_standing = 1;
	r.standing = list;
	assert_int_equal(run_with(&a, WORDS("standing")), 0);
	assert_contains(out, "2  every-kernel  when a kernel is added  -");
	assert_contains(out, "no machine fits");
	q = ASKED(&a, kgrid__v1__standing_request);
	assert_false(q->has_id);
	kgrid__v1__standing_request__free_unpacked(q, NULL);
	assert_int_equal(run_with(&a, WORDS("standing", "--csv")), 0);
	assert_contains(out, "id,name,when,");
	assert_int_equal(run_with(&a, WORDS("standing", "list", "--json")), 0);
	assert_contains(out, "\"when\": \"when a kernel is added\"");
}

static void test_standing_verbs_name_one(void **state)
{
	Kgrid__V1__StandingInfo x = KGRID__V1__STANDING_INFO__INIT, *list[] = {&x};
	Kgrid__V1__StandingReply r = KGRID__V1__STANDING_REPLY__INIT;
	struct answer a = {.type = KG_MSG_STANDING_REPLY, .body = &r.base};
	Kgrid__V1__StandingRequest *q;

	(void)state;
	x.has_id = 1;
	x.id = 2;
	x.name = s("nightly");
	x.when = s("nightly at 02:00");
	x.text = s("name: nightly\nwhen: nightly\n");
	r.n_standing = 1;
	r.standing = list;
	assert_int_equal(run_with(&a, WORDS("standing", "show", "2")), 0);
	assert_contains(out, "standing  2 nightly\n");
	assert_contains(out, "\n\nname: nightly\nwhen: nightly\n");
	r.n_standing = 0;
	assert_int_equal(run_with(&a, WORDS("standing", "show", "3")), CLI_EXIT_REFUSED);
	assert_contains(err_text, "no standing job 3");
	r.done = s("made job 9");
	assert_int_equal(run_with(&a, WORDS("standing", "run", "2")), 0);
	assert_string_equal(err_text, "kgrid: made job 9\n");
	q = ASKED(&a, kgrid__v1__standing_request);
	assert_int_equal(q->id, 2);
	assert_string_equal(q->action, "run");
	kgrid__v1__standing_request__free_unpacked(q, NULL);
	r.done = NULL;
	assert_int_equal(run_with(&a, WORDS("standing", "rm", "2")), 0);
	assert_string_equal(err_text, "kgrid: standing job 2: removed\n");
	q = ASKED(&a, kgrid__v1__standing_request);
	assert_string_equal(q->action, "remove");
	kgrid__v1__standing_request__free_unpacked(q, NULL);
}

static void test_machines_pass_a_predicate_and_show_who_holds_them(void **state)
{
	Kgrid__V1__MachineInfo m = KGRID__V1__MACHINE_INFO__INIT, *list[] = {&m};
	Kgrid__V1__MachinesReply r = KGRID__V1__MACHINES_REPLY__INIT;
	struct answer a = {.type = KG_MSG_MACHINES_REPLY, .body = &r.base};
	Kgrid__V1__MachinesRequest *q;

	(void)state;
	assert_int_equal(run_with(&a, WORDS("machines", "--where", "vendor == amd and cpus >= 2")),
			 CLI_EXIT_NODATA);
	assert_contains(err_text, "no machine fits 'vendor == amd and cpus >= 2'");
	q = ASKED(&a, kgrid__v1__machines_request);
	assert_string_equal(q->where, "vendor == amd and cpus >= 2");
	kgrid__v1__machines_request__free_unpacked(q, NULL);
	m.name = s("lab-amd");
	m.state = s("idle");
	m.service = s("normal");
	r.n_machines = 1;
	r.machines = list;
	assert_int_equal(run_with(&a, WORDS("machines")), 0);
	assert_null(strstr(out, "SERVICE"));
	assert_null(strstr(out, "RESERVED"));
	m.service = s("drain");
	m.service_why = s("new DIMMs");
	m.reserved_by = s("kai");
	m.reserved_why = s("bisecting");
	assert_int_equal(run_with(&a, WORDS("machines")), 0);
	assert_contains(out, "SERVICE");
	assert_contains(out, "drain: new DIMMs");
	assert_contains(out, "by kai: bisecting");
	assert_int_equal(run_with(&a, WORDS("machines", "--csv")), 0);
	assert_contains(out, ",reserved_by,");
}

static void test_a_wrong_predicate_is_marked_at_its_column(void **state)
{
	struct answer a = {.type = KG_MSG_DONE, .body = &done.base};

	(void)state;
	assert_int_equal(run_with(&a, WORDS("machines", "--where", "cpus >= 2 and vendr == amd")),
			 CLI_EXIT_USAGE);
	assert_contains(err_text, "\n  cpus >= 2 and vendr == amd\n"
				  "                ^\n");
	assert_contains(err_text, "column 15: ");
}

static void test_machine_show_has_the_facts_that_predicates_see(void **state)
{
	Kgrid__V1__MachineInfo m = KGRID__V1__MACHINE_INFO__INIT;
	Kgrid__V1__MachineReply r = KGRID__V1__MACHINE_REPLY__INIT;
	struct answer a = {.type = KG_MSG_MACHINE_REPLY, .body = &r.base};

	(void)state;
	r.machine = &m;
	m.name = s("lab-amd");
	m.state = s("idle");
	m.microarchitecture = s("zen3");
	m.has_sockets = m.has_numa_nodes = 1;
	m.sockets = 2;
	m.numa_nodes = 4;
	m.address = s("10.0.0.2");
	m.service = s("maintenance");
	m.service_why = s("BIOS");
	m.reserved_by = s("kai");
	assert_int_equal(run_with(&a, WORDS("machine", "show", "lab-amd")), 0);
	assert_contains(out, "microarch  zen3\n");
	assert_contains(out, "sockets    2\n");
	assert_contains(out, "numa       4\n");
	assert_contains(out, "address    10.0.0.2\n");
	assert_contains(out, "service    maintenance: BIOS\n");
	assert_contains(out, "reserved   by kai\n");
}

/* ---- jobs ---- */

static Kgrid__V1__Accounting accounting = KGRID__V1__ACCOUNTING__INIT;
static Kgrid__V1__JobSummary job = KGRID__V1__JOB_SUMMARY__INIT;

static void set_job(void)
{
	static uint64_t after[] = {3, 4};
	static char stop[] = "lab-amd: the interval of every effect is narrow enough after 6 boots";
	static char *stops[] = {stop};

	accounting.has_slots = accounting.has_pending = job.has_id = 1;
	accounting.slots = accounting.pending = 4;
	job.id = 7;
	job.name = s("lsm-cost");
	job.state = s("queued");
	job.accounting = &accounting;
	job.user = s("kai");
	job.after = after;
	job.n_after = 2;
	job.stops = stops;
	job.n_stops = 1;
	job.has_standing = 1;
	job.standing = 2;
}

static void test_jobs_show_user_pause_and_what_they_come_after(void **state)
{
	Kgrid__V1__JobSummary *list[] = {&job};
	Kgrid__V1__JobsReply r = KGRID__V1__JOBS_REPLY__INIT;
	struct answer a = {.type = KG_MSG_JOBS_REPLY, .body = &r.base};

	(void)state;
	set_job();
	r.n_jobs = 1;
	r.jobs = list;
	assert_int_equal(run_with(&a, WORDS("jobs")), 0);
	assert_contains(out, "  7  lsm-cost  kai   queued  -          slots 4 = 4 pending; waits "
			     "for jobs 3 and 4\n");
	job.has_paused = job.paused = 1;
	assert_int_equal(run_with(&a, WORDS("jobs")), 0);
	assert_contains(out, " paused ");
	job.state = s("done"); /* over is over */
	assert_int_equal(run_with(&a, WORDS("jobs")), 0);
	assert_contains(out, " done ");
	job.paused = 0;
}

static Kgrid__V1__SlotInfo slots[4];
static Kgrid__V1__SlotInfo *slot_list[] = {&slots[0], &slots[1], &slots[2], &slots[3]};

/* Two cells of two blocks each; the second has a variant and a peer, and a slot that failed. */
static Kgrid__V1__JobReply job_reply(void)
{
	Kgrid__V1__JobReply r = KGRID__V1__JOB_REPLY__INIT;
	size_t i;

	set_job();
	for (i = 0; i < 4; i++) {
		slots[i] = (Kgrid__V1__SlotInfo)KGRID__V1__SLOT_INFO__INIT;
		slots[i].has_slot = slots[i].has_cell = slots[i].has_block = 1;
		slots[i].slot = i + 1;
		slots[i].cell = (uint32_t)(i / 2 + 1);
		slots[i].block = (uint32_t)(i % 2 + 1);
		slots[i].machine = s("lab-amd");
		slots[i].kernel = s("6.1");
		slots[i].lsm = s("nt");
		slots[i].workload = s("netperf");
		slots[i].params = s("size=64");
		slots[i].outcome = s("pass");
	}
	slots[2].variant = slots[3].variant = s("mitigations=off");
	slots[2].peer = slots[3].peer = s("lab-intel");
	slots[3].outcome = s("infra");
	slots[3].reason = s("lost");
	slots[0].has_canary = slots[1].has_canary = slots[0].canary = slots[1].canary = 1;
	r.job = &job;
	r.n_slots = 4;
	r.slots = slot_list;
	return r;
}

static void test_job_show_has_user_order_stops_and_variants(void **state)
{
	Kgrid__V1__JobReply r = job_reply();
	struct answer a = {.type = KG_MSG_JOB_REPLY, .body = &r.base};

	(void)state;
	assert_int_equal(run_with(&a, WORDS("job", "show", "7")), 0);
	assert_contains(out, "user       kai\n");
	assert_contains(out, "after      jobs 3 and 4\n");
	assert_contains(out, "made by    standing job 2\n");
	assert_contains(out, "stopped    lab-amd: the interval of every effect is narrow enough "
			     "after 6 boots\n");
	assert_contains(out, "lab-amd  -          6.1     nt                    slots 2 = 2 "
			     "pass\n");
	assert_contains(out, "lab-amd  lab-intel  6.1     nt   mitigations=off  slots 2 = 1 pass + "
			     "1 infra\n");
	assert_contains(out, "6.1/nt+mitigations=off");
	assert_contains(out, "CELL");
}

static void test_job_show_counts_by_cell_when_asked(void **state)
{
	Kgrid__V1__JobReply r = job_reply();
	struct answer a = {.type = KG_MSG_JOB_REPLY, .body = &r.base};

	(void)state;
	assert_int_equal(run_with(&a, WORDS("job", "show", "7", "--cells")), 0);
	assert_contains(out, "   1  lab-amd  6.1/nt                  netperf size=64 (canary)");
	assert_contains(out, "slots 2 = 2 pass\n");
	assert_contains(out, "   2  lab-amd  6.1/nt+mitigations=off  netperf size=64 with "
			     "lab-intel");
	assert_int_equal(run_with(&a, WORDS("job", "show", "7", "--csv")), 0);
	assert_contains(out, "slot,machine,block,");
	assert_contains(out, "\n4,lab-amd,2,6.1,nt,netperf,size=64,infra,lost,");
	assert_contains(err_text, "slots 4 = 4 pending");
	slots[0].cell = slots[1].cell = slots[2].cell = slots[3].cell = 0; /* an old coordinator */
	assert_int_equal(run_with(&a, WORDS("job", "show", "7", "--cells")), 0);
	assert_contains(err_text, "does not number the cells");
}

/* A coordinator of protocol 1.2; `ctx` counts the frames that follow its HELLO. */
static void be_old(struct fake *f, int fd, void *ctx)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;
	unsigned *frames = ctx;
	uint8_t buf[4096];
	ssize_t n;

	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_COORDINATOR;
	h.version_min = 1;
	h.version_max = 2;
	n = recv(fd, buf, sizeof(buf), 0); /* the command's HELLO comes first */
	if (n <= 0)
		return;
	fake_send(f, KG_MSG_HELLO, 0, &h.base);
	while (recv(fd, buf, sizeof(buf), 0) > 0)
		(*frames)++;
}

static void test_an_older_coordinator_is_not_asked_what_it_would_misunderstand(void **state)
{
	static const struct {
		const char *words[6];
		const char *what;
	} rows[] = {
		{{"machines", "--where", "cpus >= 2"}, "and '--where' needs 1.3: upgrade it"},
		{{"why", "7"}, "and this command needs 1.3"},
		{{"standing"}, "protocol 1.2"},
		{{"job", "pause", "7"}, "protocol 1.2"},
		{{"machine", "release", "m"}, "protocol 1.2"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned frames = 0;
		struct fake *f = fake_start_raw(be_old, &frames);

		assert_int_equal(run(fake_address(f), rows[i].words), CLI_EXIT_REFUSED);
		fake_stop(f);
		assert_contains(err_text, rows[i].what);
		assert_string_equal(out, "");
		assert_int_equal(frames, 0);
	}
}

/* ---- submit ---- */

static char folder[64];

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int make_folder(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/kgrid-cmd-jobs-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"job.yaml", "common.yaml"};
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	return rmdir(folder);
}

static void test_submit_sends_included_files_and_who_it_is(void **state)
{
	Kgrid__V1__SubmitReply r = KGRID__V1__SUBMIT_REPLY__INIT;
	struct answer a = {.type = KG_MSG_SUBMIT_REPLY, .body = &r.base};
	Kgrid__V1__SubmitRequest *q;
	char path[128];

	(void)state;
	put_file("job.yaml", "include:\n- common.yaml\nname: x\n");
	put_file("common.yaml", "priority: 3\n");
	(void)snprintf(path, sizeof(path), "%s/job.yaml", folder);
	r.has_job = 1;
	r.job = 9;
	assert_int_equal(run_with(&a, WORDS("submit", path)), 0);
	assert_string_equal(out, "job 9\n");
	q = ASKED(&a, kgrid__v1__submit_request);
	assert_int_equal(q->n_files, 1);
	assert_string_equal(q->files[0]->text, "priority: 3\n");
	assert_contains(q->files[0]->name, "/common.yaml");
	assert_true(kg_streq(q->user, cli_user()));
	assert_false(q->dry_run);
	kgrid__v1__submit_request__free_unpacked(q, NULL);
}

static void test_submit_of_a_standing_job_says_its_number_and_when(void **state)
{
	Kgrid__V1__SubmitReply r = KGRID__V1__SUBMIT_REPLY__INIT;
	struct answer a = {.type = KG_MSG_SUBMIT_REPLY, .body = &r.base};
	char path[128];

	(void)state;
	put_file("job.yaml", "name: x\n");
	(void)snprintf(path, sizeof(path), "%s/job.yaml", folder);
	r.has_standing = 1;
	r.standing = 3;
	r.when = s("nightly at 02:00");
	assert_int_equal(run_with(&a, WORDS("submit", path)), 0);
	assert_string_equal(out, "standing job 3: runs nightly at 02:00\n"
				 "'kgrid standing show 3' shows it\n");
	assert_int_equal(run_with(&a, WORDS("submit", "--wait", path)), 0);
	assert_contains(err_text, "a standing job has no end");
}

static void test_dry_run_asks_for_cells_and_explanations_and_prints_csv(void **state)
{
	char *lines[] = {s("cell 7 of 96"), s("  kernel: job.yaml:3:11")};
	Kgrid__V1__PlannedBoot b = KGRID__V1__PLANNED_BOOT__INIT, *boots[] = {&b};
	Kgrid__V1__PlannedCell c = KGRID__V1__PLANNED_CELL__INIT, *cells[] = {&c};
	Kgrid__V1__Plan p = KGRID__V1__PLAN__INIT;
	Kgrid__V1__SubmitReply r = KGRID__V1__SUBMIT_REPLY__INIT;
	struct answer a = {.type = KG_MSG_SUBMIT_REPLY, .body = &r.base};
	Kgrid__V1__SubmitRequest *q;
	char path[128];

	(void)state;
	put_file("job.yaml", "name: x\n");
	(void)snprintf(path, sizeof(path), "%s/job.yaml", folder);
	r.plan = &p;
	b.machine = c.machine = s("lab-amd");
	c.has_number = 1;
	c.number = 7;
	p.boots = boots;
	p.listed = cells;
	p.n_boots = p.n_listed = 1;
	assert_int_equal(run_with(&a, WORDS("submit", "-n", "--csv", path)), 0);
	assert_contains(out, "machine,block,position,");
	assert_contains(out, "\nlab-amd,");
	assert_int_equal(run_with(&a, WORDS("submit", "-n", "--cells", "--csv", path)), 0);
	assert_contains(out, "number,identity,machine,");
	assert_contains(out, "\n7,,lab-amd,");
	q = ASKED(&a, kgrid__v1__submit_request);
	assert_true(q->dry_run && q->list_cells);
	kgrid__v1__submit_request__free_unpacked(q, NULL);
	assert_int_equal(run_with(&a, WORDS("submit", "-x", "7", path)), CLI_EXIT_NODATA);
	p.explanation = lines;
	p.n_explanation = 2;
	assert_int_equal(run_with(&a, WORDS("submit", "--explain-cell", "7", path)), 0);
	assert_string_equal(out, "cell 7 of 96\n  kernel: job.yaml:3:11\n");
	q = ASKED(&a, kgrid__v1__submit_request);
	assert_true(q->dry_run && q->explain_cell == 7);
	kgrid__v1__submit_request__free_unpacked(q, NULL);
}

static void test_a_request_that_fits_no_frame_is_refused_here(void **state)
{
	struct answer a = {.type = KG_MSG_DONE, .body = &done.base};
	size_t len = 700 * 1024;
	char *big = malloc(len + 1), path[128];

	(void)state;
	assert_non_null(big);
	memset(big, '#', len);
	big[len] = '\0';
	put_file("common.yaml", big);
	memcpy(big, "include:\n- common.yaml\n", 23);
	put_file("job.yaml", big);
	free(big);
	(void)snprintf(path, sizeof(path), "%s/job.yaml", folder);
	assert_int_equal(run_with(&a, WORDS("submit", path)), CLI_EXIT_USAGE);
	assert_contains(err_text, "with the 1 file that it includes the request has 1.4 MiB, and "
				  "one has at most 1 MiB");
	assert_int_equal(a.asked, 0);
}

static int free_texts(void **state)
{
	(void)state;
	free(out);
	free(err_text);
	return 0;
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job_changes_say_what_to_do_and_with_which_number),
		cmocka_unit_test(test_what_the_coordinator_says_of_a_change_is_shown),
		cmocka_unit_test(test_wrong_changes_are_refused_before_anything_is_sent),
		cmocka_unit_test(test_machine_changes_name_who_how_long_and_why),
		cmocka_unit_test(test_why_wraps_its_lines_and_keeps_their_indentation),
		cmocka_unit_test(test_reproduce_prints_both_or_one_alone),
		cmocka_unit_test(test_standing_alone_is_its_list),
		cmocka_unit_test(test_standing_verbs_name_one),
		cmocka_unit_test(test_machines_pass_a_predicate_and_show_who_holds_them),
		cmocka_unit_test(test_a_wrong_predicate_is_marked_at_its_column),
		cmocka_unit_test(test_machine_show_has_the_facts_that_predicates_see),
		cmocka_unit_test(test_jobs_show_user_pause_and_what_they_come_after),
		cmocka_unit_test(test_job_show_has_user_order_stops_and_variants),
		cmocka_unit_test(test_job_show_counts_by_cell_when_asked),
		cmocka_unit_test(
			test_an_older_coordinator_is_not_asked_what_it_would_misunderstand),
		WITH_FOLDER(test_submit_sends_included_files_and_who_it_is),
		WITH_FOLDER(test_submit_of_a_standing_job_says_its_number_and_when),
		WITH_FOLDER(test_dry_run_asks_for_cells_and_explanations_and_prints_csv),
		WITH_FOLDER(test_a_request_that_fits_no_frame_is_refused_here),
	};

	return cmocka_run_group_tests(tests, NULL, free_texts);
}
