/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What planning and sharing learn from earlier jobs.
 *
 * A subject is machine x workload x parameters. Its newest attempts are read by index, and no more of
 * them than a median needs, so that the time depends on the number of subjects and not on how much
 * was ever measured.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/store/query_internal.h"

#define SUBJECT_ATTEMPTS 100 /* newest ones; also boots of a machine, for its hops */
#define HISTORY_DAYS	 90

/* The public struct is the first member: freeing it frees the arena that holds everything. */
struct history_owner {
	struct store_history pub;
	struct arena arena;
};

struct usages_owner {
	struct store_usages pub;
	struct arena arena;
};

/* What is read for one machine. */
struct machine_history {
	struct db *db;
	struct arena *a;
	struct store_history *out;
	const char *machine;
	int64_t since_ns;
	int64_t epoch; /* newest; 0: none was recorded */
	const char *workload, *digest, *params;
	struct kg_err *err;
};

/* ---- pace ---- */

static int read_pace(struct machine_history *h)
{
	static const char sql[] =
		"SELECT CAST(attempt.run_ns AS REAL) / (1e9 * cell.iterations)"
		" FROM cell JOIN slot ON slot.cell = cell.id"
		" JOIN attempt ON attempt.id = slot.attempt JOIN boot ON boot.id = attempt.boot"
		" WHERE cell.machine = ?1 AND cell.workload = ?2 AND cell.workload_digest = ?3"
		" AND cell.params = ?4 AND slot.outcome = 'pass' AND attempt.outcome = 'pass'"
		" AND attempt.run_ns > 0 AND cell.iterations > 0 AND boot.role <> 'server'"
		" AND boot.epoch IS ?5 AND boot.started_ns >= ?6 ORDER BY cell.id DESC LIMIT ?7";
	double seconds[SUBJECT_ATTEMPTS];
	struct store_pace *p;
	sqlite3_stmt *st;
	uint32_t n = 0;
	int rc = db_select(h->db, h->err, sql, &st, T(h->machine), T(h->workload), T(h->digest),
			   T(h->params), I0(h->epoch), I(h->since_ns), I(SUBJECT_ATTEMPTS));

	if (rc < 0)
		return rc;
	while (n < SUBJECT_ATTEMPTS && (rc = db_step(h->db, st, h->err)) > 0)
		seconds[n++] = sqlite3_column_double(st, 0);
	db_reset(st);
	if (rc < 0 || n == 0)
		return rc < 0 ? rc : 0;
	p = arena_push(h->a, &h->out->paces, &h->out->n_paces, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->machine = h->machine;
	p->workload = h->workload;
	p->params = h->params;
	p->iteration_s = stats_median_inplace(seconds, n);
	p->attempts = n;
	return 0;
}

/* ---- spread ---- */

/* Boots of one metric: sums over configurations of (n - 1) CoV^2, and of n - 1. */
struct spread {
	char metric[128];
	double weighted, free; /* degrees of freedom */
	uint32_t boots;
	/* of the configuration that is being read */
	double values[SUBJECT_ATTEMPTS];
	size_t n;
};

/* Takes up the configuration that has been read; a single boot says nothing of a spread. */
static void spread_fold(struct spread *s)
{
	struct stats_moments m;
	double mean;

	if (s->n >= 2) {
		m = stats_moments(s->values, s->n, s->values[0]);
		mean = s->values[0] + m.offset;
		if (mean != 0 && isfinite(m.sd / mean)) {
			s->weighted += (double)(s->n - 1) * (m.sd / mean) * (m.sd / mean);
			s->free += (double)(s->n - 1);
			s->boots += (uint32_t)s->n;
		}
	}
	s->n = 0;
}

static int spread_end(struct machine_history *h, struct spread *s)
{
	struct store_spread *x;

	spread_fold(s);
	if (s->free == 0)
		return 0;
	x = arena_push(h->a, &h->out->spreads, &h->out->n_spreads, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->machine = h->machine;
	x->workload = h->workload;
	x->params = h->params;
	x->metric = arena_text(h->a, s->metric);
	x->between_cov_pct = 100 * sqrt(s->weighted / s->free);
	x->boots = s->boots;
	return 0;
}

static bool text_is(sqlite3_stmt *st, int column, const char *text)
{
	return strcmp(db_col_text_or(st, column, ""), text) == 0;
}

/* Rows come by metric and configuration. */
static int read_spread_rows(struct machine_history *h, sqlite3_stmt *st, struct spread *s)
{
	int64_t configuration = 0;
	int rc;

	s->metric[0] = '\0';
	while ((rc = db_step(h->db, st, h->err)) > 0) {
		if (!text_is(st, 0, s->metric)) {
			rc = spread_end(h, s);
			if (rc < 0)
				return rc;
			memset(s, 0, sizeof(*s));
			(void)snprintf(s->metric, sizeof(s->metric), "%s",
				       db_col_text_or(st, 0, ""));
		} else if (sqlite3_column_int64(st, 1) != configuration) {
			spread_fold(s);
		}
		configuration = sqlite3_column_int64(st, 1);
		if (s->n < SUBJECT_ATTEMPTS)
			s->values[s->n++] = sqlite3_column_double(st, 2);
	}
	return rc < 0 ? rc : spread_end(h, s);
}

static int read_spreads(struct machine_history *h, struct spread *s)
{
	/* A boot's value is the median of its iterations; the same configuration of several jobs is
	 * one. Metrics with a direction are those that verdicts are about. */
	static const char sql[] =
		"WITH newest AS (SELECT attempt.id AS attempt, cell.kernel AS kernel,"
		"  cell.lsm_effective AS list, cell.cmdline AS cmdline, cell.settings AS settings,"
		"  cell.peer AS peer"
		" FROM cell JOIN slot ON slot.cell = cell.id"
		" JOIN attempt ON attempt.id = slot.attempt JOIN boot ON boot.id = attempt.boot"
		" WHERE cell.machine = ?1 AND cell.workload = ?2 AND cell.workload_digest = ?3"
		" AND cell.params = ?4 AND NOT cell.canary AND slot.outcome = 'pass'"
		" AND attempt.outcome = 'pass' AND boot.role <> 'server'"
		" AND boot.epoch IS ?5 AND boot.started_ns >= ?6 ORDER BY cell.id DESC LIMIT ?7),"
		" told AS (SELECT attempt, dense_rank() OVER"
		"  (ORDER BY kernel, list, cmdline, settings, peer) AS c FROM newest),"
		" ranked AS (SELECT told.attempt AS attempt, told.c AS c, sample.metric AS m,"
		"  sample.value AS v, row_number() OVER w AS r,"
		"  count(*) OVER (PARTITION BY told.attempt, sample.metric) AS n"
		" FROM told JOIN sample ON sample.attempt = told.attempt"
		" WHERE NOT sample.warmup"
		" WINDOW w AS (PARTITION BY told.attempt, sample.metric ORDER BY sample.value))"
		" SELECT metric.name, ranked.c, avg(ranked.v) FROM ranked"
		" JOIN metric ON metric.id = ranked.m"
		" WHERE ranked.r IN ((ranked.n + 1) / 2, (ranked.n + 2) / 2)"
		" AND metric.direction <> 'none'"
		" GROUP BY ranked.m, ranked.attempt ORDER BY metric.name, ranked.c";
	sqlite3_stmt *st;
	int rc = db_select(h->db, h->err, sql, &st, T(h->machine), T(h->workload), T(h->digest),
			   T(h->params), I0(h->epoch), I(h->since_ns), I(SUBJECT_ATTEMPTS));

	if (rc < 0)
		return rc;
	memset(s, 0, sizeof(*s));
	rc = read_spread_rows(h, st, s);
	db_reset(st);
	return rc;
}

/* ---- hops ---- */

/* A boot's time less its runs'. A server's boot and a client's wait for each other. */
static int read_hop(struct machine_history *h)
{
	static const char sql[] =
		"SELECT (boot.ended_ns - boot.started_ns - (SELECT coalesce(sum(run_ns), 0)"
		"  FROM attempt WHERE attempt.boot = boot.id)) / 1e9 FROM boot"
		" WHERE boot.machine = ?1 AND boot.epoch IS ?2 AND boot.outcome = 'pass'"
		" AND boot.role = '' AND boot.started_ns >= ?3 ORDER BY boot.id DESC LIMIT ?4";
	double seconds[SUBJECT_ATTEMPTS];
	struct store_hop *x;
	sqlite3_stmt *st;
	uint32_t n = 0;
	int rc = db_select(h->db, h->err, sql, &st, T(h->machine), I0(h->epoch), I(h->since_ns),
			   I(SUBJECT_ATTEMPTS));

	if (rc < 0)
		return rc;
	while (n < SUBJECT_ATTEMPTS && (rc = db_step(h->db, st, h->err)) > 0) {
		double s = sqlite3_column_double(st, 0);

		if (s > 0) /* else the clock was set in it */
			seconds[n++] = s;
	}
	db_reset(st);
	if (rc < 0 || n == 0)
		return rc < 0 ? rc : 0;
	x = arena_push(h->a, &h->out->hops, &h->out->n_hops, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->machine = h->machine;
	x->seconds = stats_median_inplace(seconds, n);
	x->boots = n;
	return 0;
}

/* ---- subjects ---- */

/* One text of one row, in the arena; NULL: no row, or out of memory (then a->failed). */
static int read_next(struct machine_history *h, const char *sql, const char *b, const char *c,
		     const char *d, const char **ret)
{
	sqlite3_stmt *st;
	int rc = db_select(h->db, h->err, sql, &st, T(h->machine), T(b), T(c), T(d));

	*ret = NULL;
	if (rc < 0)
		return rc;
	rc = db_step(h->db, st, h->err);
	if (rc > 0)
		*ret = arena_text(h->a, db_col_text(st, 0));
	db_reset(st);
	return rc < 0 ? rc : h->a->failed ? -ENOMEM : 0;
}

/* Goes from one set of parameters to the next in the index, past all cells that have the same. */
static int read_workload(struct machine_history *h, struct spread *s)
{
	static const char next[] =
		"SELECT params FROM cell WHERE machine = ?1 AND workload = ?2"
		" AND workload_digest = ?3 AND params > ?4 ORDER BY params LIMIT 1";
	static const char first[] =
		"SELECT params FROM cell WHERE machine = ?1 AND workload = ?2"
		" AND workload_digest = ?3 AND ?4 IS NULL ORDER BY params LIMIT 1";
	int rc = read_next(h, first, h->workload, h->digest, NULL, &h->params);

	while (rc == 0 && h->params) {
		rc = read_pace(h);
		if (rc == 0)
			rc = read_spreads(h, s);
		if (rc == 0)
			rc = read_next(h, next, h->workload, h->digest, h->params, &h->params);
	}
	return rc;
}

static int read_workloads(struct machine_history *h)
{
	static const char next[] = "SELECT workload FROM cell WHERE machine = ?1 AND workload > ?2"
				   " AND ?3 IS ?4 ORDER BY workload LIMIT 1";
	static const char digest[] =
		"SELECT workload_digest FROM cell WHERE machine = ?1 AND workload = ?2"
		" AND workload_digest <> '' AND ?3 IS ?4"
		" GROUP BY workload_digest ORDER BY max(id) DESC LIMIT 1";
	struct spread *s = arena_alloc(h->a, 1, sizeof(*s));
	int rc = s ? read_next(h, next, "", NULL, NULL, &h->workload) : -ENOMEM;

	while (rc == 0 && h->workload) {
		rc = read_next(h, digest, h->workload, NULL, NULL, &h->digest);
		if (rc == 0 && h->digest)
			rc = read_workload(h, s);
		if (rc == 0)
			rc = read_next(h, next, h->workload, NULL, NULL, &h->workload);
	}
	return rc;
}

static int read_machine(struct machine_history *h)
{
	int rc;

	h->epoch = 0;
	rc = db_int(h->db, h->err, "SELECT max(number) FROM epoch WHERE machine = ?", &h->epoch,
		    T(h->machine));
	if (rc >= 0)
		rc = read_hop(h);
	return rc < 0 ? rc : read_workloads(h);
}

static int all_machines(struct db *db, struct arena *a, const char ***ret, size_t *ret_n,
			struct kg_err *err)
{
	sqlite3_stmt *st;
	int rc = db_select(db, err, "SELECT name FROM machine ORDER BY name", &st, NIL);

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		const char **p = arena_push(a, ret, ret_n, sizeof(*p));

		if (!p)
			break;
		*p = arena_text(a, db_col_text_or(st, 0, ""));
	}
	db_reset(st);
	return a->failed ? -ENOMEM : rc;
}

static bool named_before(const char *const *machines, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(machines[k], machines[i]) == 0)
			return true;
	return false;
}

static int read_history(struct db *db, const char *const *machines, size_t n, int64_t now_ns,
			struct history_owner *o, struct kg_err *err)
{
	struct machine_history h = {.db = db, .a = &o->arena, .out = &o->pub, .err = err};
	const char **all = NULL;
	int rc = n ? 0 : all_machines(db, &o->arena, &all, &n, err);

	h.since_ns = now_ns - (int64_t)(HISTORY_DAYS * 86400 * KG_NSEC_PER_SEC);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const char *const *list = all ? all : machines;

		if (!all && named_before(list, i))
			continue;
		h.machine = arena_text(&o->arena, list[i]);
		rc = h.machine ? read_machine(&h) : -ENOMEM;
	}
	if (rc == 0 && o->arena.failed)
		rc = -ENOMEM;
	return rc == -ENOMEM ? reply_oom(err) : rc;
}

int query_plan_history(struct query *q, const char *const *machines, size_t n, int64_t now_ns,
		       struct store_history **ret, struct kg_err *err)
{
	struct history_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_history(db, machines, n, now_ns, o, err));
	if (rc < 0)
		store_history_free(o ? &o->pub : NULL);
	else
		*ret = &o->pub;
	return rc;
}

void store_history_free(struct store_history *h)
{
	struct history_owner *o = (struct history_owner *)h;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}

/* ---- usage ---- */

static double weight_of(int64_t age_ns, int64_t half_life_ns)
{
	if (half_life_ns <= 0 || age_ns <= 0)
		return 1; /* never forgotten; from the future: the clock was set */
	return exp2(-(double)age_ns / (double)half_life_ns);
}

static int read_usage(struct db *db, int64_t since_ns, int64_t now_ns, int64_t half_life_ns,
		      struct usages_owner *o, struct kg_err *err)
{
	static const char sql[] =
		"SELECT job.user, boot.started_ns, boot.ended_ns FROM boot"
		" JOIN job ON job.id = boot.job WHERE boot.ended_ns > ? ORDER BY job.user";
	struct store_usage *u = NULL;
	double used = 0;
	sqlite3_stmt *st;
	int rc = db_select(db, err, sql, &st, I(since_ns));

	if (rc < 0)
		return rc;
	while ((rc = db_step(db, st, err)) > 0) {
		int64_t ended = sqlite3_column_int64(st, 2);
		int64_t took = ended - sqlite3_column_int64(st, 1);

		if (!u || strcmp(u->user, db_col_text_or(st, 0, "")) != 0) {
			u = arena_push(&o->arena, &o->pub.items, &o->pub.n, sizeof(*u));
			if (!u)
				break;
			u->user = arena_text(&o->arena, db_col_text_or(st, 0, ""));
			if (!u->user)
				break;
			used = 0;
		}
		if (took > 0)
			used += (double)took * weight_of(now_ns - ended, half_life_ns);
		u->used_ns = (uint64_t)used;
	}
	db_reset(st);
	return o->arena.failed ? reply_oom(err) : rc;
}

int query_usage(struct query *q, int64_t since_ns, int64_t now_ns, int64_t half_life_ns,
		struct store_usages **ret, struct kg_err *err)
{
	struct usages_owner *o = calloc(1, sizeof(*o));
	struct db *db;
	int rc = o ? query_begin(q, &db, err) : reply_oom(err);

	if (rc == 0)
		rc = query_end(q, db, read_usage(db, since_ns, now_ns, half_life_ns, o, err));
	if (rc < 0)
		store_usages_free(o ? &o->pub : NULL);
	else
		*ret = &o->pub;
	return rc;
}

void store_usages_free(struct store_usages *u)
{
	struct usages_owner *o = (struct usages_owner *)u;

	if (!o)
		return;
	arena_deinit(&o->arena);
	free(o);
}
