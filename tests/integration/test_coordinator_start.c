/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a coordinator refuses to start with, and how it says so. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include <sqlite3.h>

#include "common/file.h"
#include "tests/lib/grid.h"

static int setup(void **state)
{
	struct grid *g = calloc(1, sizeof(*g));

	grid_init(g);
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	grid_deinit(*state);
	free(*state);
	return 0;
}

static void expect_log(struct grid *g, const char *part)
{
	char *log = grid_log(g);

	assert_contains(log, part);
	free(log);
}

static void test_starts_and_ends_clean_on_sigterm(void **state)
{
	struct grid *g = *state;

	grid_start(g, NULL);
	assert_int_equal(grid_stop(g), 0);
}

static void test_refuses_an_address_that_is_not_loopback_and_says_why(void **state)
{
	struct grid *g = *state;

	assert_int_equal(grid_run_failing(g, (const char *const[]){"--listen", "0.0.0.0:0", NULL}),
			 1);
	expect_log(g, "refusing to listen on '0.0.0.0:0': connections are not encrypted");
	expect_log(g, "--insecure-plaintext");
}

static void test_listens_anywhere_with_insecure_plaintext(void **state)
{
	struct grid *g = *state;

	grid_start(g, (const char *const[]){"--listen", "0.0.0.0:0", "--insecure-plaintext", NULL});
	assert_int_equal(grid_stop(g), 0);
}

static void test_a_port_in_use_is_named(void **state)
{
	struct grid *g = *state, other;

	grid_start(g, NULL);
	grid_init(&other);
	assert_int_equal(grid_run_failing(&other, (const char *const[]){"--listen", g->tcp, NULL}),
			 1);
	expect_log(&other, "the port is in use");
	expect_log(&other, g->tcp);
	grid_deinit(&other);
}

static void test_a_socket_in_use_is_named_and_left_alone(void **state)
{
	struct grid *g = *state, other;

	grid_start(g, NULL);
	grid_init(&other);
	assert_int_equal(
		grid_run_failing(&other, (const char *const[]){"--socket", g->socket, NULL}), 1);
	expect_log(&other, "the socket is in use");
	assert_int_equal(access(g->socket, F_OK), 0);
	grid_deinit(&other);
}

static void test_a_second_coordinator_on_one_database_is_refused(void **state)
{
	struct grid *g = *state;

	grid_start(g, NULL);
	{
		struct grid second = *g;

		second.pid = 0;
		assert_int_equal(grid_run_failing(&second, NULL), 1);
	}
	expect_log(g, "cannot start");
	assert_int_equal(grid_stop(g), 0);
}

static void test_a_newer_database_is_refused_with_both_versions(void **state)
{
	struct grid *g = *state;
	char path[128];
	sqlite3 *db;

	grid_start(g, NULL);
	assert_int_equal(grid_stop(g), 0);
	(void)snprintf(path, sizeof(path), "%s/data/kgrid.db", g->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 4711", NULL, NULL, NULL),
			 SQLITE_OK);
	(void)sqlite3_close(db);
	assert_int_equal(grid_run_failing(g, NULL), 1);
	expect_log(g, "4711");
	expect_log(g, "version");
}

static void test_a_file_that_is_no_database_is_refused(void **state)
{
	struct grid *g = *state;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/data", g->dir);
	assert_int_equal(kg_mkdir_p(path, 0700, NULL), 0);
	(void)snprintf(path, sizeof(path), "%s/data/kgrid.db", g->dir);
	assert_int_equal(kg_file_replace(path, "this is a letter to my aunt, and long enough", 44,
					 0600, NULL),
			 0);
	assert_int_equal(grid_run_failing(g, NULL), 1);
	expect_log(g, "cannot start");
}

static void write_config(struct grid *g, const char *text, char *ret_path, size_t size)
{
	(void)snprintf(ret_path, size, "%s/config.yaml", g->dir);
	assert_int_equal(kg_file_replace(ret_path, text, strlen(text), 0600, NULL), 0);
}

static void test_config_with_an_unknown_key_names_place_and_suggestion(void **state)
{
	struct grid *g = *state;
	char path[128];

	write_config(g, "silence: 3m\ninsecure-plaintxt: true\n", path, sizeof(path));
	assert_int_equal(grid_run_failing(g, (const char *const[]){"--config", path, NULL}), 2);
	expect_log(g, "config.yaml:2:1");
	expect_log(g, "insecure-plaintext");
}

static void test_config_with_a_wrong_type_names_the_place(void **state)
{
	struct grid *g = *state;
	char path[128];

	write_config(g, "limits:\n  boot: soon\n", path, sizeof(path));
	assert_int_equal(grid_run_failing(g, (const char *const[]){"--config", path, NULL}), 2);
	expect_log(g, "config.yaml:2:9");
}

static void test_unknown_option_is_a_usage_error(void **state)
{
	struct grid *g = *state;

	assert_int_equal(grid_run_failing(g, (const char *const[]){"--nonsense", NULL}), 2);
}

static void test_restart_finds_its_socket_again(void **state)
{
	struct grid *g = *state;

	grid_start(g, NULL);
	grid_kill(g); /* leaves the socket file behind */
	grid_start(g, NULL);
	assert_int_equal(grid_stop(g), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_starts_and_ends_clean_on_sigterm),
		T(test_refuses_an_address_that_is_not_loopback_and_says_why),
		T(test_listens_anywhere_with_insecure_plaintext),
		T(test_a_port_in_use_is_named),
		T(test_a_socket_in_use_is_named_and_left_alone),
		T(test_a_second_coordinator_on_one_database_is_refused),
		T(test_a_newer_database_is_refused_with_both_versions),
		T(test_a_file_that_is_no_database_is_refused),
		T(test_config_with_an_unknown_key_names_place_and_suggestion),
		T(test_config_with_a_wrong_type_names_the_place),
		T(test_unknown_option_is_a_usage_error),
		T(test_restart_finds_its_socket_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
