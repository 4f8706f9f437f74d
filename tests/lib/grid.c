/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "tests/lib/grid.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "common/clock.h"
#include "common/file.h"

#define GRID_WAIT_NS  (30 * KG_NSEC_PER_SEC)
#define GRID_MAX_ARGS 24

static void pause_ms(long ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	(void)nanosleep(&ts, NULL);
}

void grid_init(struct grid *g)
{
	memset(g, 0, sizeof(*g));
	(void)snprintf(g->dir, sizeof(g->dir), "/tmp/kgrid-test.XXXXXX");
	assert_non_null(mkdtemp(g->dir));
	(void)snprintf(g->socket, sizeof(g->socket), "%s/data/run/kgrid.sock", g->dir);
	(void)snprintf(g->log, sizeof(g->log), "%s/log", g->dir);
}

static void launch(struct grid *g, const char *const *extra)
{
	const char *argv[GRID_MAX_ARGS] = {KGRID_COORDINATOR, "--data-dir", NULL};
	char data[80];
	int n = 3, fd;

	(void)snprintf(data, sizeof(data), "%s/data", g->dir);
	argv[2] = data;
	if (!extra || !extra[0] || strcmp(extra[0], "--listen") != 0) {
		argv[n++] = "--listen";
		argv[n++] = "127.0.0.1:0";
	}
	while (extra && *extra && n < GRID_MAX_ARGS - 1)
		argv[n++] = *extra++;
	argv[n] = NULL;
	g->pid = fork();
	assert_true(g->pid >= 0);
	if (g->pid > 0)
		return;
	fd = open(g->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	(void)dup2(fd, 2);
	(void)execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static int reap(struct grid *g)
{
	int status = 0;

	assert_int_equal(waitpid(g->pid, &status, 0), g->pid);
	g->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void grid_start(struct grid *g, const char *const *extra)
{
	uint64_t end = kg_monotonic_ns() + GRID_WAIT_NS;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/data/run/tcp", g->dir);
	(void)unlink(path);
	launch(g, extra);
	while (kg_file_read_line(path, g->tcp, sizeof(g->tcp), NULL) < 0) {
		int status;

		if (waitpid(g->pid, &status, WNOHANG) == g->pid) {
			char *log = grid_log(g);

			g->pid = 0;
			(void)fputs(log, stderr); /* longer than what fail_msg shows */
			free(log);
			fail_msg("the coordinator did not start: status %d", status);
		}
		if (kg_monotonic_ns() > end)
			fail_msg("the coordinator does not listen");
		pause_ms(10);
	}
}

int grid_run_failing(struct grid *g, const char *const *extra)
{
	launch(g, extra);
	return reap(g);
}

bool grid_died(const struct grid *g)
{
	siginfo_t si = {0};

	return waitid(P_PID, (id_t)g->pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       si.si_pid == g->pid;
}

void grid_kill(struct grid *g)
{
	(void)kill(g->pid, SIGKILL);
	(void)reap(g);
}

int grid_stop(struct grid *g)
{
	(void)kill(g->pid, SIGTERM);
	return reap(g);
}

void grid_deinit(struct grid *g)
{
	if (g->pid)
		grid_kill(g);
	(void)kg_remove_tree(g->dir, NULL);
}

char *grid_log(const struct grid *g)
{
	char *text;
	size_t len;

	if (kg_file_read(g->log, 1 << 24, &text, &len, NULL) < 0)
		return strdup("");
	return text;
}

void grid_sql(const struct grid *g, const char *sql, char *ret_text, size_t size)
{
	sqlite3_stmt *st;
	char path[128];
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/data/kgrid.db", g->dir);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	(void)sqlite3_busy_timeout(db, 5000);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	ret_text[0] = '\0';
	if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0))
		(void)snprintf(ret_text, size, "%s", (const char *)sqlite3_column_text(st, 0));
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
}

void grid_change(const struct grid *g, const char *sql)
{
	char path[128];
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/data/kgrid.db", g->dir);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	(void)sqlite3_close(db);
}

long grid_count(const struct grid *g, const char *sql)
{
	char text[64];

	grid_sql(g, sql, text, sizeof(text));
	return strtol(text, NULL, 10);
}

void grid_wait_count(const struct grid *g, const char *sql, long want)
{
	uint64_t end = kg_monotonic_ns() + GRID_WAIT_NS;
	long got;

	while ((got = grid_count(g, sql)) != want) {
		if (kg_monotonic_ns() > end)
			fail_msg("'%s' gives %ld, not %ld", sql, got, want);
		pause_ms(20);
	}
}
