/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sample ingest over TCP (framing on loopback, decode, queue, writer thread, commit, acknowledge)
 * against the same rows inserted by a bare prepared-statement loop with the same schema, pragmas
 * and rows a transaction, in one run on the same disk. The ratio is what counts.
 */
#include "bench_ingest.h"

#include <getopt.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"

#define ROUNDS_MAX 99

void bench_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fputs("bench_ingest: ", stderr);
	(void)vfprintf(stderr, fmt, ap);
	(void)fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

double bench_now(void)
{
	return (double)kg_monotonic_ns() / 1e9;
}

double bench_value(uint32_t agent, uint32_t record, uint32_t i)
{
	return 1000 + agent + 0.001 * ((record * 2654435761U + i * 40503U) % 1000);
}

/* ---- the bare loop ---- */

static void must(sqlite3 *db, int rc, int wanted)
{
	if (rc != wanted)
		bench_die("sqlite: %s", sqlite3_errmsg(db));
}

static void script(sqlite3 *db, const char *sql)
{
	must(db, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void insert_row(sqlite3 *db, sqlite3_stmt *st, uint32_t agent, uint32_t idx, double value)
{
	(void)sqlite3_bind_int64(st, 1, (sqlite3_int64)bench_attempt(agent));
	(void)sqlite3_bind_int64(st, 2, idx);
	(void)sqlite3_bind_int64(st, 3, 1);
	(void)sqlite3_bind_int64(st, 4, idx + 1);
	(void)sqlite3_bind_int64(st, 5, 0);
	(void)sqlite3_bind_int64(st, 6, (sqlite3_int64)BENCH_STEP_NS * (idx + 1));
	(void)sqlite3_bind_double(st, 7, value);
	must(db, sqlite3_step(st), SQLITE_DONE);
	(void)sqlite3_reset(st);
}

/* Records in turn from each agent, as they arrive. */
static uint64_t insert_all(const struct bench *b, sqlite3 *db, sqlite3_stmt *st,
			   double rows_per_txn)
{
	uint64_t commits = 0;
	double in_txn = 0;

	for (uint32_t record = 0; record < b->records; record++) {
		for (uint32_t agent = 0; agent < b->agents; agent++) {
			if (in_txn == 0)
				script(db, "BEGIN IMMEDIATE");
			for (uint32_t i = 0; i < b->per_record; i++)
				insert_row(db, st, agent, record * b->per_record + i,
					   bench_value(agent, record, i));
			in_txn += b->per_record;
			if (in_txn + b->per_record / 2.0 >= rows_per_txn) {
				script(db, "COMMIT");
				commits++;
				in_txn = 0;
			}
		}
	}
	if (in_txn > 0)
		script(db, "COMMIT");
	return commits + (in_txn > 0);
}

struct bench_result bench_run_bare(const struct bench *b, double rows_per_txn)
{
	struct bench_result r;
	sqlite3_stmt *st;
	sqlite3 *db;
	double begin;

	must(NULL, sqlite3_open_v2(b->path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL),
	     SQLITE_OK);
	script(db, "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768;"
		   "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
		   "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;");
	must(db,
	     sqlite3_prepare_v2(db,
				"INSERT INTO sample (attempt, idx, metric, iteration, warmup,"
				" monotonic_ns, value) VALUES (?, ?, ?, ?, ?, ?, ?)",
				-1, &st, NULL),
	     SQLITE_OK);
	begin = bench_now();
	r.commits = insert_all(b, db, st, rows_per_txn);
	r.seconds = bench_now() - begin;
	r.rows_per_txn = (double)b->rows / (double)r.commits;
	(void)sqlite3_finalize(st);
	must(db, sqlite3_close(db), SQLITE_OK);
	return r;
}

/* ---- rounds ---- */

static void check_rows(const struct bench *b)
{
	sqlite3_stmt *st;
	sqlite3 *db;

	must(NULL, sqlite3_open_v2(b->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	must(db,
	     sqlite3_prepare_v2(db, "SELECT count(*), count(DISTINCT attempt) FROM sample", -1, &st,
				NULL),
	     SQLITE_OK);
	must(db, sqlite3_step(st), SQLITE_ROW);
	if (sqlite3_column_int64(st, 0) != b->rows || sqlite3_column_int64(st, 1) != b->agents)
		bench_die("%lld rows are stored, not %u", sqlite3_column_int64(st, 0), b->rows);
	(void)sqlite3_finalize(st);
	must(db, sqlite3_close(db), SQLITE_OK);
}

static void tell(const char *what, const struct bench *b, const struct bench_result *r)
{
	printf("%-7s %9.0f rows/s  %6.2f s  %4llu commits of %6.0f rows\n", what,
	       b->rows / r->seconds, r->seconds, (unsigned long long)r->commits, r->rows_per_txn);
}

static double run_round(struct bench *b, unsigned round)
{
	struct bench_result ingest, bare;

	(void)snprintf(b->path, sizeof(b->path), "%s/ingest%u.db", b->dir, round);
	bench_setup(b);
	ingest = bench_run_store(b);
	check_rows(b);
	(void)snprintf(b->path, sizeof(b->path), "%s/bare%u.db", b->dir, round);
	bench_setup(b);
	bare = bench_run_bare(b, ingest.rows_per_txn);
	check_rows(b);
	tell("ingest", b, &ingest);
	tell("bare", b, &bare);
	return bare.seconds / ingest.seconds;
}

static int order_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static uint32_t number(const char *text, uint32_t max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || n == 0 || n > max)
		bench_die("'%s' is not a number from 1 to %u", text, max);
	return (uint32_t)n;
}

static void usage(void)
{
	puts("usage: bench_ingest [--rows N] [--rounds N] [--agents N] [--per-record N] [--window "
	     "N]\n"
	     "                    [--dir DIR]\n"
	     "Ratio of sample ingest over TCP to a bare insert loop. DIR must be on a real disk.");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"rows", required_argument, NULL, 'n'},
						{"rounds", required_argument, NULL, 'r'},
						{"agents", required_argument, NULL, 'a'},
						{"per-record", required_argument, NULL, 'p'},
						{"window", required_argument, NULL, 'w'},
						{"dir", required_argument, NULL, 'd'},
						{"help", no_argument, NULL, 'h'},
						{NULL, 0, NULL, 0}};
	struct bench b = {.rows = 500000, .agents = 4, .per_record = 500, .window = 64, .dir = "."};
	double ratios[ROUNDS_MAX];
	uint32_t rounds = 3;
	char dir[256];
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'n':
			b.rows = number(optarg, 100000000);
			break;
		case 'r':
			rounds = number(optarg, ROUNDS_MAX);
			break;
		case 'a':
			b.agents = number(optarg, 64);
			break;
		case 'p':
			b.per_record = number(optarg, 10000);
			break;
		case 'w':
			b.window = number(optarg, 1000);
			break;
		case 'd':
			b.dir = optarg;
			break;
		case 'h':
			usage();
			return 0;
		default:
			return 2;
		}
	}
	b.records = b.rows / b.agents / b.per_record;
	b.records += b.records == 0;
	b.rows = b.records * b.agents * b.per_record;
	(void)snprintf(dir, sizeof(dir), "%s/bench-ingest-XXXXXX", b.dir);
	if (!mkdtemp(dir))
		bench_die("cannot make a directory in '%s'", b.dir);
	b.dir = dir;
	for (unsigned i = 0; i < rounds; i++)
		ratios[i] = run_round(&b, i);
	(void)kg_remove_tree(dir, NULL);
	qsort(ratios, rounds, sizeof(ratios[0]), order_doubles);
	printf("ratio   %.3f  median of %u (%.3f .. %.3f); %u rows, %u agents, %u a record\n",
	       ratios[rounds / 2], rounds, ratios[0], ratios[rounds - 1], b.rows, b.agents,
	       b.per_record);
	return 0;
}
