/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs commands that read files: each test has a folder of its own. Included once per binary. */
#ifndef KG_TESTS_STAT_RUN_H
#define KG_TESTS_STAT_RUN_H

#include <stdio.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "common/file.h"
#include "tests/lib/cmocka_all.h"

static char run_folder[64];
static char *run_out, *run_err; /* of the last command, owned */
static size_t run_out_len, run_err_len;

static int run_set_up(void **state)
{
	(void)state;
	(void)snprintf(run_folder, sizeof(run_folder), "/tmp/kgrid-stat-XXXXXX");
	return mkdtemp(run_folder) ? 0 : -1;
}

static int run_tear_down(void **state)
{
	(void)state;
	free(run_out);
	free(run_err);
	run_out = run_err = NULL;
	return kg_remove_tree(run_folder, NULL);
}

/* A file in the folder; in command lines '@' stands for "folder/". */
static void run_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", run_folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Runs one command line, split at spaces: its exit code; 2 for one that is refused, with its text in
 * run_err. */
static int run_at(const char *address, const char *line)
{
	struct cli cli = {.address = address, .width = 120};
	struct kg_str full = {0};
	char *argv[64], *save = NULL;
	struct cli_args args;
	struct kg_err err = {{0}};
	int argc = 0, rc;

	free(run_out);
	free(run_err);
	kg_str_add(&full, "kgrid ");
	for (; *line; line++) {
		if (*line == '@')
			kg_str_addf(&full, "%s/", run_folder);
		else
			kg_str_addn(&full, line, 1);
	}
	for (char *word = strtok_r(full.text, " ", &save); word && argc < 63;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	cli.out = open_memstream(&run_out, &run_out_len);
	cli.err = open_memstream(&run_err, &run_err_len);
	if (cli_args_parse(argc, argv, &args, &err) < 0) {
		(void)fputs(err.text, cli.err);
		rc = CLI_EXIT_USAGE;
	} else {
		cli.json = cli_args_has(&args, "json");
		rc = args.command->run(&cli, &args);
	}
	(void)fclose(cli.out);
	(void)fclose(cli.err);
	kg_str_deinit(&full);
	return rc;
}

static int run(const char *line)
{
	return run_at("/nonexistent/sock", line);
}

#endif
