/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only shows in a whole process: pipes, terminals, signals, and programs started. */
#include "tests/lib/cmocka_all.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/command.h"
#include "tests/lib/fake_coordinator.h"

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* INFO, and a WATCH that sends one update and, when asked to by its context, never ends. */
static int respond(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		   void *ctx)
{
	Kgrid__V1__InfoReply info = KGRID__V1__INFO_REPLY__INIT;
	Kgrid__V1__WatchUpdate update = KGRID__V1__WATCH_UPDATE__INIT;
	Kgrid__V1__JobSummary job = KGRID__V1__JOB_SUMMARY__INIT;
	Kgrid__V1__OutcomeCount pass = KGRID__V1__OUTCOME_COUNT__INIT, *counts[] = {&pass};
	Kgrid__V1__Accounting accounting = KGRID__V1__ACCOUNTING__INIT;
	Kgrid__V1__MachineProgress machine = KGRID__V1__MACHINE_PROGRESS__INIT;
	Kgrid__V1__MachineProgress *machines[] = {&machine};
	char *listen[] = {s("[::1]:1"), s("127.0.0.1:17440")};

	(void)body;
	info.version = s("0.1.0");
	info.listen = listen;
	info.n_listen = 2;
	pass.outcome = s("pass");
	pass.has_count = 1;
	pass.count = 2;
	accounting.has_slots = 1;
	accounting.slots = 2;
	accounting.n_outcomes = 1;
	accounting.outcomes = counts;
	job.has_id = 1;
	job.id = 5;
	job.name = s("lsm-cost");
	job.state = s("done");
	job.accounting = &accounting;
	machine.machine = s("lab-intel");
	machine.state = s("busy");
	machine.has_boots_done = machine.has_boots_total = 1;
	machine.boots_done = 2;
	machine.boots_total = 4;
	update.job = &job;
	update.n_machines = 1;
	update.machines = machines;
	if (type == KG_MSG_INFO)
		fake_send(f, KG_MSG_INFO_REPLY, id, &info.base);
	if (type == KG_MSG_WATCH) {
		fake_send(f, KG_MSG_WATCH_UPDATE, id, &update.base);
		if (!ctx)
			fake_end(f, id);
	}
	return 0;
}

static void test_help_and_version_are_0_and_nothing_is_2(void **state)
{
	struct command c = {0};
	struct command_result r;

	(void)state;
	command_run(&c, "--version", &r);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.out, "kgrid " KGRID_VERSION "\n");
	command_result_deinit(&r);
	command_run(&c, "help job show", &r);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "usage: kgrid job show");
	command_result_deinit(&r);
	command_run(&c, "", &r);
	assert_int_equal(r.status, 2);
	assert_string_equal(r.out, "");
	assert_contains(r.err, "usage: kgrid");
	command_result_deinit(&r);
	command_run(&c, "comparre", &r);
	assert_int_equal(r.status, 2);
	assert_contains(r.err, "did you mean 'compare'?");
	command_result_deinit(&r);
}

static void test_full_disk_is_no_success(void **state)
{
	struct command c = {.out_fd = open("/dev/full", O_WRONLY)};
	struct command_result r;

	(void)state;
	assert_true(c.out_fd > 0);
	command_run(&c, "--help", &r);
	assert_int_equal(r.status, 6);
	assert_contains(r.err, "cannot write to standard output");
	command_result_deinit(&r);
	close(c.out_fd);
}

static void test_closed_pipe_is_no_success(void **state)
{
	struct command c = {.ignore_sigpipe = true};
	struct command_result r;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	c.out_fd = fds[1];
	command_run(&c, "--help", &r);
	assert_int_equal(r.status, 6);
	command_result_deinit(&r);
	c.ignore_sigpipe = false;
	command_run(&c, "--help", &r);
	assert_int_equal(r.status, 128 + SIGPIPE);
	command_result_deinit(&r);
	close(fds[1]);
}

static void test_plain_lines_where_there_is_no_terminal(void **state)
{
	struct fake *f = fake_start(respond, NULL);
	struct command c = {.address = fake_address(f)};
	struct command_result r;

	(void)state;
	command_run(&c, "watch", &r);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.out, "lab-intel: boot 2 of 4 done\njob 5: done\nslots 2 = 2 pass\n");
	assert_string_equal(r.err, "");
	command_result_deinit(&r);
	fake_stop(f);
}

static void test_terminal_gets_bars_and_no_color_is_obeyed(void **state)
{
	struct fake *f = fake_start(respond, NULL);
	struct command c = {.address = fake_address(f),
			    .terminal = true,
			    .env = {"LC_ALL=C.UTF-8", "TERM=xterm"}};
	struct command_result r;

	(void)state;
	command_run(&c, "watch", &r);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\xe2\x96\x88\xe2\x96\x91");
	assert_contains(r.out, "\033[2m");
	assert_contains(r.out, "\033[3A\r\033[J");
	command_result_deinit(&r);
	c.env[0] = "LC_ALL=C";
	c.env[2] = "NO_COLOR=1";
	command_run(&c, "watch", &r);
	assert_contains(r.out, "[##########..........] 2/4 boots");
	assert_null(strstr(r.out, "\033[2m"));
	command_result_deinit(&r);
	fake_stop(f);
}

static void test_interrupted_watch_leaves_the_job_and_says_so(void **state)
{
	int never_ends = 1;
	struct fake *f = fake_start(respond, &never_ends);
	struct command c = {.address = fake_address(f),
			    .terminal = true,
			    .wait_for = "slots 2",
			    .signal = SIGINT};
	struct command_result r;

	(void)state;
	command_run(&c, "watch", &r);
	assert_int_equal(r.status, 130);
	assert_contains(r.out, "the job goes on: 'kgrid watch 5'");
	command_result_deinit(&r);
	fake_stop(f);
}

/* A lab's program that says what it was given. */
static void make_script(char path[64])
{
	static const char script[] = "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n";
	int fd;

	(void)strcpy(path, "/tmp/kgrid-lab-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, script, sizeof(script) - 1), (ssize_t)sizeof(script) - 1);
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
}

static void test_lab_becomes_its_program_with_the_coordinators_port(void **state)
{
	struct fake *f = fake_start(respond, NULL);
	char path[64], env[128];
	struct command c = {.address = fake_address(f), .env = {env}};
	struct command_result r;

	(void)state;
	make_script(path);
	(void)snprintf(env, sizeof(env), "KGRID_LAB_SCRIPT=%s", path);
	command_run(&c, "lab up --machines intel:2 --agent /a", &r);
	assert_int_equal(r.status, 7);
	assert_contains(r.out, "<up><--machines><intel:2><--agent></a><--coordinator-port><17440>");
	command_result_deinit(&r);
	command_run(&c, "lab up --coordinator-port 1 --workload-dir /w --agent /a", &r);
	assert_string_equal(r.out, "<up><--coordinator-port><1><--workload-dir></w><--agent></a>");
	command_result_deinit(&r);
	c.address = "/nonexistent/sock"; /* is not asked */
	command_run(&c, "lab down --purge", &r);
	assert_string_equal(r.out, "<down><--purge>");
	command_result_deinit(&r);
	command_run(&c, "lab up", &r);
	assert_int_equal(r.status, 3);
	command_result_deinit(&r);
	(void)unlink(path);
	fake_stop(f);
}

/* Words that bash offers after a line, the last word being typed. */
static void completes(const char *words, int at, const char *wanted)
{
	char command[1024], text[4096];
	size_t n;
	FILE *p;

	(void)snprintf(command, sizeof(command),
		       "bash -c 'compopt() { :; }; . %s; COMP_WORDS=(%s); COMP_CWORD=%d; _kgrid; "
		       "echo \" ${COMPREPLY[*]} \"'",
		       KGRID_COMPLETION, words, at);
	p = popen(command, "r");
	assert_non_null(p);
	n = fread(text, 1, sizeof(text) - 1, p);
	text[n] = '\0';
	assert_int_equal(pclose(p), 0);
	if (!strstr(text, wanted))
		fail_msg("'%s' offers '%s', without '%s'", words, text, wanted);
}

static void test_bash_completes_commands_options_and_values(void **state)
{
	(void)state;
	completes("kgrid \"\"", 1, " submit jobs job watch ");
	completes("kgrid job \"\"", 2, " show cancel retry ");
	completes("kgrid -c a:1 job \"\"", 4, " show cancel retry ");
	completes("kgrid submit --d", 2, " --dry-run ");
	completes("kgrid samples --format \"\"", 3, " csv json ");
	completes("kgrid samples --format j", 3, " json ");
	completes("kgrid help comp", 2, " compare ");
	completes("kgrid submit /etc/pass", 2, " /etc/passwd ");
}

static void test_man_page_is_built_and_clean(void **state)
{
	FILE *p;

	(void)state;
	if (access("/usr/bin/mandoc", X_OK) != 0)
		skip();
	p = popen("mandoc -T lint -W error " KGRID_MANUAL, "r");
	assert_non_null(p);
	assert_int_equal(fgetc(p), EOF);
	assert_int_equal(pclose(p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_and_version_are_0_and_nothing_is_2),
		cmocka_unit_test(test_full_disk_is_no_success),
		cmocka_unit_test(test_closed_pipe_is_no_success),
		cmocka_unit_test(test_plain_lines_where_there_is_no_terminal),
		cmocka_unit_test(test_terminal_gets_bars_and_no_color_is_obeyed),
		cmocka_unit_test(test_interrupted_watch_leaves_the_job_and_says_so),
		cmocka_unit_test(test_lab_becomes_its_program_with_the_coordinators_port),
		cmocka_unit_test(test_bash_completes_commands_options_and_values),
		cmocka_unit_test(test_man_page_is_built_and_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
