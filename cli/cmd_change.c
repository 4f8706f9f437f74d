/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people do to jobs and machines: pause, resume, priority, more blocks; reserve, drain. */
#include <inttypes.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"

#define PRIORITY_MOST	100
#define RESERVE_DAYS	366 /* longer is a mistake more often than a plan */
#define SECONDS_OF(ns)	((ns) / 1000000000U)
#define SECONDS_OF_DAYS 86400U

static int change_job(struct cli *cli, const struct cli_args *args, const char *action,
		      uint32_t value, const char *done)
{
	Kgrid__V1__JobChange q = KGRID__V1__JOB_CHANGE__INIT;
	char what[96];

	q.has_job = 1;
	q.job = cli_args_job(args);
	q.action = (char *)(uintptr_t)action;
	q.value = value;
	q.has_value = strcmp(action, "reprioritise") == 0 || strcmp(action, "extend") == 0;
	(void)snprintf(what, sizeof(what), "job %" PRIu64 ": %s", q.job, done);
	return cli_change(cli, KG_MSG_JOB_CHANGE, &q.base, what);
}

int cmd_job_pause(struct cli *cli, const struct cli_args *args)
{
	return change_job(cli, args, "pause", 0, "paused");
}

int cmd_job_resume(struct cli *cli, const struct cli_args *args)
{
	return change_job(cli, args, "resume", 0, "goes on");
}

int cmd_job_reprioritise(struct cli *cli, const struct cli_args *args)
{
	const char *text = cli_args_operand(args, 1);
	char done[32];
	uint64_t v;

	if (kg_parse_u64(text, &v) < 0 || v > PRIORITY_MOST) {
		cli_say(cli, "not a priority: '%s'; it is a whole number from 0 to %d", text,
			PRIORITY_MOST);
		return CLI_EXIT_USAGE;
	}
	(void)snprintf(done, sizeof(done), "priority %u", (unsigned)v);
	return change_job(cli, args, "reprioritise", (uint32_t)v, done);
}

int cmd_job_extend(struct cli *cli, const struct cli_args *args)
{
	uint64_t blocks = cli_args_number(args, "blocks", 0);
	char done[48];

	if (blocks == 0) {
		cli_say(cli, "'job extend' needs --blocks N: how many more boots of every kernel "
			     "and list");
		return CLI_EXIT_USAGE;
	}
	if (blocks > UINT32_MAX) {
		cli_say(cli, "'--blocks' is too large: %" PRIu64, blocks);
		return CLI_EXIT_USAGE;
	}
	(void)snprintf(done, sizeof(done), "%" PRIu64 " block%s added", blocks,
		       blocks == 1 ? "" : "s");
	return change_job(cli, args, "extend", (uint32_t)blocks, done);
}

static int change_machine(struct cli *cli, const struct cli_args *args, const char *action,
			  uint64_t seconds, const char *why, const char *done)
{
	Kgrid__V1__MachineChange q = KGRID__V1__MACHINE_CHANGE__INIT;
	char what[160];

	if (why && !kg_utf8_valid(why, strlen(why))) {
		cli_say(cli, "the text of '--why' is not in UTF-8");
		return CLI_EXIT_USAGE;
	}
	q.machine = (char *)(uintptr_t)cli_args_operand(args, 0);
	q.action = (char *)(uintptr_t)action;
	q.why = (char *)(uintptr_t)why;
	q.user = cli_user();
	q.seconds = seconds;
	q.has_seconds = seconds != 0;
	(void)snprintf(what, sizeof(what), "machine '%.64s': %s", q.machine, done);
	return cli_change(cli, KG_MSG_MACHINE_CHANGE, &q.base, what);
}

int cmd_machine_reserve(struct cli *cli, const struct cli_args *args)
{
	const char *time = cli_args_text(args, "for"), *why = cli_args_text(args, "why");
	uint64_t ns;

	if (!time) {
		cli_say(cli, "'machine reserve' needs --for TIME: how long, such as 2h");
		return CLI_EXIT_USAGE;
	}
	if (!why) {
		cli_say(cli, "'machine reserve' needs --why TEXT: those who wait for it see that");
		return CLI_EXIT_USAGE;
	}
	if (kg_parse_duration(time, &ns) < 0 || SECONDS_OF(ns) == 0) {
		cli_say(cli, "not a time: '%s'; try 30m, 2h or 3d", time);
		return CLI_EXIT_USAGE;
	}
	if (SECONDS_OF(ns) > (uint64_t)RESERVE_DAYS * SECONDS_OF_DAYS) {
		cli_say(cli,
			"a machine is reserved for at most %d days, not for '%s'; 'kgrid "
			"machine drain' has no end",
			RESERVE_DAYS, time);
		return CLI_EXIT_USAGE;
	}
	return change_machine(cli, args, "reserve", SECONDS_OF(ns), why, "reserved");
}

int cmd_machine_release(struct cli *cli, const struct cli_args *args)
{
	return change_machine(cli, args, "release", 0, NULL, "released");
}

int cmd_machine_drain(struct cli *cli, const struct cli_args *args)
{
	return change_machine(cli, args, "drain", 0, cli_args_text(args, "why"),
			      "finishes what it does and starts nothing more");
}

int cmd_machine_maintenance(struct cli *cli, const struct cli_args *args)
{
	return change_machine(cli, args, "maintenance", 0, cli_args_text(args, "why"),
			      "in maintenance");
}

int cmd_machine_resume(struct cli *cli, const struct cli_args *args)
{
	return change_machine(cli, args, "resume", 0, NULL, "in service");
}
