/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/file.h"
#include "coordinator/store/migrate.h"
#include "coordinator/store/op.h"

#define BATCH_ROWS  16384 /* a commit then takes about 100 ms */
#define RESERVE_OPS 65536 /* for operations that are not ingests */

struct op_list {
	struct op *first;
	struct op **last;
};

struct store {
	struct store_config cfg;
	char *path;
	char *host_boot_id;
	int lock_fd;
	struct db db;	     /* writer thread's, once it runs */
	uint64_t samples_op; /* writer thread's: of the batch that runs */
	uint64_t last_commit_ns;

	pthread_t thread;
	bool threaded;

	pthread_mutex_t mutex; /* all below */
	pthread_cond_t cond;
	bool stop;    /* no further operation is taken */
	bool refused; /* an operation was: tell when there is room */
	struct op_list queue;
	struct op_list finished;
	size_t queued_ops; /* waiting to run */
	size_t queued_rows;
	size_t pending_ops; /* until the callback has run */
	size_t pending_bytes;
	struct store_stats stats;
};

static void list_init(struct op_list *l)
{
	l->first = NULL;
	l->last = &l->first;
}

static void list_add(struct op_list *l, struct op *op)
{
	op->next = NULL;
	*l->last = op;
	l->last = &op->next;
}

static struct op *list_take(struct op_list *l)
{
	struct op *op = l->first;

	if (op) {
		l->first = op->next;
		if (!l->first)
			l->last = &l->first;
	}
	return op;
}

static void list_append(struct op_list *l, struct op_list *more)
{
	if (!more->first)
		return;
	*l->last = more->first;
	l->last = more->last;
	list_init(more);
}

/* ---- operations ---- */

struct op *op_new(int (*run)(struct store *s, struct op *op), const void *args, size_t size,
		  struct store_done done)
{
	struct op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->run = run;
	op->done = done;
	op->weight = 1;
	op->args = arena_copy(&op->arena, args, 1, size);
	return op;
}

static void op_free(struct op *op)
{
	if (!op)
		return;
	arena_deinit(&op->arena);
	free(op);
}

static bool has_room(const struct store *s, bool bulk)
{
	if (bulk)
		return s->pending_ops < s->cfg.queue_ops && s->pending_bytes < s->cfg.queue_bytes;
	return s->pending_ops < s->cfg.queue_ops + RESERVE_OPS;
}

int op_queue(struct store *s, struct op *op)
{
	int rc = 0;

	if (!op || op->arena.failed) {
		op_free(op);
		return -ENOMEM;
	}
	op->bytes = sizeof(*op) + arena_bytes(&op->arena);
	pthread_mutex_lock(&s->mutex);
	if (s->stop) {
		rc = KG_ESTATE;
	} else if (!has_room(s, op->bulk)) {
		s->refused = true;
		rc = KG_ELIMIT;
	} else {
		list_add(&s->queue, op);
		s->queued_ops++;
		s->queued_rows += op->weight;
		s->pending_ops++;
		s->pending_bytes += op->bytes;
		pthread_cond_signal(&s->cond);
	}
	pthread_mutex_unlock(&s->mutex);
	if (rc < 0)
		op_free(op);
	return rc;
}

struct db *store_db(struct store *s)
{
	return &s->db;
}

const char *store_host_boot_id(const struct store *s)
{
	return s->host_boot_id;
}

void store_count_samples(struct store *s, size_t n)
{
	s->samples_op += n;
}

int op_rollback(struct store *s, struct kg_err *err)
{
	return db_exec(&s->db, err, "ROLLBACK TO op", NIL);
}

/* ---- the writer ---- */

/* Runs one operation in its savepoint. 0: go on (op->result.rc says how it ended); a code: the
 * whole transaction is lost. */
static int run_one(struct store *s, struct op *op)
{
	struct kg_err err = {""};
	int rc = db_exec(&s->db, &op->err, "SAVEPOINT op", NIL);

	if (rc < 0)
		return rc;
	rc = op->run(s, op);
	if (rc < 0 && (db_code_is_fatal(rc) || sqlite3_get_autocommit(s->db.h)))
		return rc;
	op->result.rc = rc;
	if (rc < 0) {
		rc = op_rollback(s, &err);
		if (rc < 0) {
			op->err = err;
			return rc;
		}
	}
	return db_exec(&s->db, &op->err, "RELEASE op", NIL);
}

/* Nothing of the batch is stored: every operation that ran in it says so. */
static void fail_batch(struct op_list *ran, int code, const struct kg_err *err)
{
	for (struct op *op = ran->first; op; op = op->next) {
		memset(&op->result, 0, sizeof(op->result));
		op->result.rc = code;
		op->err = *err;
	}
}

/* Moves operations from `batch` to `ran` until all have run or the transaction is lost. */
static int run_batch(struct store *s, struct op_list *batch, struct op_list *ran,
		     struct kg_err *err)
{
	struct op *op;
	int rc = db_exec(&s->db, err, "BEGIN IMMEDIATE", NIL);

	s->samples_op = 0;
	if (rc < 0) { /* no transaction to be had: none of them can run now */
		list_append(ran, batch);
		return rc;
	}
	while (rc == 0 && (op = list_take(batch))) {
		list_add(ran, op);
		rc = run_one(s, op);
		if (rc < 0)
			*err = op->err;
	}
	KG_FAULT(STORE_BEGUN);
	if (rc == 0)
		rc = db_exec(&s->db, err, "COMMIT", NIL);
	KG_FAULT(STORE_COMMITTED);
	if (rc < 0 && !sqlite3_get_autocommit(s->db.h))
		(void)db_exec(&s->db, NULL, "ROLLBACK", NIL);
	return rc;
}

static void run_all(struct store *s, struct op_list *batch, size_t n_ops)
{
	while (batch->first) {
		struct op_list ran;
		struct kg_err err = {""};
		int rc;

		list_init(&ran);
		rc = run_batch(s, batch, &ran, &err);
		if (rc < 0)
			fail_batch(&ran, rc, &err);
		pthread_mutex_lock(&s->mutex);
		s->stats.commits += rc == 0;
		s->stats.failed_commits += rc < 0;
		if (rc == 0)
			s->stats.samples += s->samples_op;
		list_append(&s->finished, &ran);
		pthread_mutex_unlock(&s->mutex);
	}
	s->last_commit_ns = kg_monotonic_ns();
	pthread_mutex_lock(&s->mutex);
	s->stats.ops += n_ops;
	pthread_mutex_unlock(&s->mutex);
	if (s->cfg.wake)
		s->cfg.wake(s->cfg.arg);
}

/* Takes what one transaction shall hold; the mutex is held. */
static size_t take_batch(struct store *s, struct op_list *batch)
{
	size_t n = 0, rows = 0;

	list_init(batch);
	while (s->queue.first && n < s->cfg.batch_ops && rows < BATCH_ROWS) {
		struct op *op = list_take(&s->queue);

		rows += op->weight;
		n++;
		list_add(batch, op);
	}
	s->queued_ops -= n;
	s->queued_rows -= rows;
	return n;
}

/* Commits are at least batch_ms apart unless a batch is full: a quiet store answers at once, a
 * busy one does not sync for every record. The mutex is held. */
static void wait_for_batch(struct store *s)
{
	uint64_t due_ns;
	struct timespec at;

	while (!s->queue.first && !s->stop)
		pthread_cond_wait(&s->cond, &s->mutex);
	due_ns = s->last_commit_ns + s->cfg.batch_ms * KG_NSEC_PER_MSEC;
	at.tv_sec = (time_t)(due_ns / KG_NSEC_PER_SEC);
	at.tv_nsec = (long)(due_ns % KG_NSEC_PER_SEC);
	while (!s->stop && s->queued_ops < s->cfg.batch_ops && s->queued_rows < BATCH_ROWS) {
		if (pthread_cond_timedwait(&s->cond, &s->mutex, &at) == ETIMEDOUT)
			break;
	}
}

static void *writer_main(void *arg)
{
	struct store *s = arg;
	struct op_list batch;
	size_t n;

	for (;;) {
		pthread_mutex_lock(&s->mutex);
		wait_for_batch(s);
		n = take_batch(s, &batch);
		pthread_mutex_unlock(&s->mutex);
		if (n == 0)
			return NULL; /* stopped, and everything has run */
		run_all(s, &batch, n);
	}
}

/* ---- the loop's side ---- */

static void deliver(struct op *op)
{
	op->result.text = op->err.text;
	if (op->result.rc == 0 && !op->result.fault)
		op->result.text = "";
	else if (!op->err.text[0])
		op->result.text = kg_strerror(op->result.rc);
	if (op->done.fn)
		op->done.fn(op->done.arg, &op->result);
}

size_t store_poll(struct store *s)
{
	struct op_list done;
	struct op *op;
	size_t n = 0;
	bool room;

	list_init(&done);
	pthread_mutex_lock(&s->mutex);
	list_append(&done, &s->finished);
	pthread_mutex_unlock(&s->mutex);
	while ((op = list_take(&done))) {
		deliver(op);
		pthread_mutex_lock(&s->mutex);
		s->pending_ops--;
		s->pending_bytes -= op->bytes;
		pthread_mutex_unlock(&s->mutex);
		op_free(op);
		n++;
	}
	pthread_mutex_lock(&s->mutex);
	room = s->refused && s->pending_ops <= s->cfg.queue_ops / 2 &&
	       s->pending_bytes <= s->cfg.queue_bytes / 2;
	if (room)
		s->refused = false;
	pthread_mutex_unlock(&s->mutex);
	if (room && s->cfg.on_room)
		s->cfg.on_room(s->cfg.arg);
	return n;
}

size_t store_pending(struct store *s)
{
	size_t n;

	pthread_mutex_lock(&s->mutex);
	n = s->pending_ops;
	pthread_mutex_unlock(&s->mutex);
	return n;
}

void store_stats(struct store *s, struct store_stats *ret)
{
	pthread_mutex_lock(&s->mutex);
	*ret = s->stats;
	pthread_mutex_unlock(&s->mutex);
}

bool store_rc_transient(int rc)
{
	return rc == -ENOSPC || rc == -EIO || rc == -ENOMEM || rc == -EBUSY || rc == -EROFS ||
	       rc == -EACCES || rc == KG_ELIMIT;
}

int store_schema_version(void)
{
	return store_migrations[store_n_migrations - 1].version;
}

/* ---- open and close ---- */

/* The lock file stays for ever: removing it would let two processes lock two files of one name. */
static int take_lock(const char *path, int *ret_fd, struct kg_err *err)
{
	char *name = NULL;
	char pid[32] = "";
	int fd, rc = 0;

	if (asprintf(&name, "%s.lock", path) < 0)
		return -ENOMEM;
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		rc = kg_err_errno(err, "cannot open", name);
	} else if ((rc = kg_lock(fd)) < 0) {
		ssize_t n = read(fd, pid, sizeof(pid) - 1);

		pid[n > 0 ? strcspn(pid, "\n") : 0] = '\0';
		rc = rc == -EWOULDBLOCK
			     ? kg_err_set(err, KG_EBUSY,
					  "'%s' is in use by another coordinator%s%s", path,
					  pid[0] ? ", process " : "", pid)
			     : kg_err_set(err, rc, "cannot lock '%s': %s", name, kg_strerror(rc));
		(void)close(fd);
	} else {
		int len = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());

		/* For people only: a failure is no reason to stop. */
		if (ftruncate(fd, 0) == 0)
			(void)kg_write_all(fd, pid, (size_t)len);
		*ret_fd = fd;
	}
	free(name);
	return rc;
}

static int open_database(struct store *s, struct kg_err *err)
{
	/* WAL after the identity check: a foreign file is not touched. wal_autocheckpoint in
	 * pages, journal_size_limit in bytes. */
	static const char pragmas[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
				      "PRAGMA foreign_keys = ON;"
				      "PRAGMA wal_autocheckpoint = 4000;"
				      "PRAGMA journal_size_limit = 67108864;";
	int rc = db_open_writer(&s->db, s->path, err);

	if (rc < 0)
		return rc;
	rc = store_migrate(&s->db, s->path, store_migrations, store_n_migrations, err);
	if (rc == 0)
		rc = db_script(&s->db, err, pragmas);
	if (rc < 0)
		db_close(&s->db);
	return rc;
}

static void set_defaults(struct store_config *c)
{
	if (!c->queue_ops)
		c->queue_ops = 8192;
	if (!c->queue_bytes)
		c->queue_bytes = 64 * 1024 * 1024;
	if (!c->batch_ops)
		c->batch_ops = 512;
	if (!c->batch_ms)
		c->batch_ms = 5;
}

static void init_sync(struct store *s)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&s->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->cond, &attr);
	pthread_condattr_destroy(&attr);
}

static void store_free(struct store *s)
{
	pthread_cond_destroy(&s->cond);
	pthread_mutex_destroy(&s->mutex);
	if (s->lock_fd >= 0)
		(void)close(s->lock_fd);
	free(s->path);
	free(s->host_boot_id);
	free(s);
}

int store_open(const struct store_config *c, struct store **ret_s, struct kg_err *err)
{
	struct store *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return kg_err_set(err, -ENOMEM, "cannot open store: out of memory");
	s->cfg = *c;
	s->lock_fd = -1;
	set_defaults(&s->cfg);
	init_sync(s);
	list_init(&s->queue);
	list_init(&s->finished);
	s->path = strdup(c->path);
	s->host_boot_id = strdup(c->host_boot_id ? c->host_boot_id : "");
	rc = s->path && s->host_boot_id ? 0 : kg_err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = take_lock(s->path, &s->lock_fd, err);
	if (rc == 0)
		rc = open_database(s, err);
	if (rc < 0) {
		store_free(s);
		return kg_err_wrap(err, rc, "cannot open store");
	}
	*ret_s = s;
	return 0;
}

int store_start(struct store *s, struct kg_err *err)
{
	int rc = pthread_create(&s->thread, NULL, writer_main, s);

	if (rc != 0)
		return kg_err_set(err, -rc, "cannot start the store's thread: %s", strerror(rc));
	s->threaded = true;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->mutex);
	s->stop = true;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->mutex);
	if (s->threaded)
		pthread_join(s->thread, NULL);
	else
		(void)writer_main(s);
	(void)store_poll(s);
	(void)db_script(&s->db, NULL, "PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);");
	db_close(&s->db);
	store_free(s);
}
