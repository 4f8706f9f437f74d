/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The coordinator is killed in the middle of ingest: what it acknowledged is there, each record as
 * a whole, none twice. */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PER_BATCH 25
#define WINDOW	  20
#define ROUNDS	  12

struct feeder {
	int fd;
	unsigned waiting;
};

/* In the child: tells the parent each acknowledgement, as a socket would the agent. */
static void on_ack(void *arg, const struct store_result *r)
{
	struct feeder *fd = arg;

	fd->waiting--;
	if (r->rc == 0 && write(fd->fd, &r->last_seq, sizeof(r->last_seq)) < 0)
		_exit(3);
}

static Kgrid__V1__Record nth_record(uint64_t seq)
{
	return record_samples(1, seq, 100, (uint32_t)(seq - 3) * PER_BATCH, PER_BATCH, 1);
}

#define PIECE 16

/* A document of many small pieces that is never whole. */
static Kgrid__V1__Record nth_piece(uint64_t seq)
{
	static uint8_t data[PIECE];
	static Kgrid__V1__Document d;
	Kgrid__V1__Record r = record(1, seq, 0);

	kgrid__v1__document__init(&d);
	d.name = (char *)(uintptr_t) "config";
	d.digest = (char *)(uintptr_t)KERNEL_A;
	d.has_text_bytes = d.has_stored_bytes = d.has_offset = d.has_data = 1;
	d.text_bytes = d.stored_bytes = 60 << 20;
	d.offset = (seq - 3) * PIECE;
	d.data.data = data;
	d.data.len = PIECE;
	r.body_case = KGRID__V1__RECORD__BODY_DOCUMENT;
	r.document = &d;
	return r;
}

/* Never returns. cmocka's asserts have no place here: exit codes say what went wrong. */
static void feed(struct fixture *f, Kgrid__V1__Record (*make)(uint64_t seq), int fd, uint64_t next)
{
	struct store_config c = {.path = f->path, .host_boot_id = "h", .batch_ms = 1};
	struct timespec pause = {0, 50000};
	struct feeder feeder = {.fd = fd};
	struct store *s = NULL;

	if (store_open(&c, &s, NULL) < 0 || store_start(s, NULL) < 0)
		_exit(1);
	for (;;) {
		Kgrid__V1__Record r = make(next);

		if (feeder.waiting < WINDOW) {
			if (store_ingest(s, MACHINE, &r, 1, (struct store_done){on_ack, &feeder}) <
			    0)
				_exit(2);
			feeder.waiting++;
			next++;
		}
		if (store_poll(s) == 0 && feeder.waiting >= WINDOW)
			(void)nanosleep(&pause, NULL);
	}
}

/* Lets a child ingest, kills it after a few acknowledgements; the newest one that came. */
static uint64_t run_and_kill(struct fixture *f, Kgrid__V1__Record (*make)(uint64_t seq),
			     uint64_t last, unsigned acks, unsigned extra_us)
{
	uint64_t seq, newest = last;
	int fds[2], status = 0;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(fds[0]);
		feed(f, make, fds[1], last + 1);
	}
	(void)close(fds[1]);
	for (unsigned i = 0; i < acks; i++) {
		assert_int_equal(read(fds[0], &seq, sizeof(seq)), sizeof(seq));
		newest = seq > newest ? seq : newest;
	}
	(void)usleep(extra_us);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (read(fds[0], &seq, sizeof(seq)) == (ssize_t)sizeof(seq))
		newest = seq > newest ? seq : newest;
	(void)close(fds[0]);
	return newest;
}

static void test_kill_in_the_middle_keeps_what_was_acknowledged(void **state)
{
	struct fixture f;
	struct answer a;
	Kgrid__V1__Record r;
	uint64_t last = 2;

	(void)state;
	fixture_init(&f);
	fixture_open(&f);
	fixture_kernels(&f);
	fixture_job(&f, 1, &a);
	assert_int_equal(fixture_boot(&f, 1, 1, (uint64_t[]){1}, 1), 0);
	r = record_evidence(1, 1, 1);
	assert_int_equal(ingest(&f, &a, &r), 0);
	r = record_started(1, 2, 100);
	assert_int_equal(ingest(&f, &a, &r), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t acked, stored;

		fixture_close(&f);
		acked = run_and_kill(&f, nth_record, last, 1 + i * 7, i * 731 % 3000);
		fixture_open(&f); /* the lock went with the process; WAL is recovered */
		assert_string_equal(fixture_sql(&f, "PRAGMA quick_check"), "ok");
		stored = (uint64_t)fixture_int(&f, "SELECT last_seq FROM boot");
		assert_true(stored >= acked);
		assert_int_equal(fixture_int(&f, "SELECT count(*) FROM sample"),
				 (stored - 2) * PER_BATCH);
		assert_int_equal(fixture_int(&f, "SELECT samples FROM attempt WHERE id = 100"),
				 (stored - 2) * PER_BATCH);
		r = nth_record(stored); /* the agent sends what it has no answer for again */
		assert_int_equal(ingest(&f, &a, &r), 0);
		assert_int_equal(a.r.ingest, STORE_INGEST_DUPLICATE);
		last = stored;
	}
	check_accounting(&f, 1, 4);
	fixture_deinit(&f);
}

static void test_kill_in_the_middle_of_a_document_loses_no_piece(void **state)
{
	struct fixture f;
	struct answer a;
	Kgrid__V1__Record r;
	uint64_t last = 2;

	(void)state;
	fixture_init(&f);
	fixture_open(&f);
	fixture_kernels(&f);
	fixture_job(&f, 1, &a);
	assert_int_equal(fixture_boot(&f, 1, 1, (uint64_t[]){1}, 1), 0);
	must_ingest(&f, MACHINE, record_evidence(1, 1, 1));
	must_ingest(&f, MACHINE, record_started(1, 2, 100));
	for (unsigned i = 0; i < 4; i++) {
		uint64_t acked, stored;

		fixture_close(&f);
		acked = run_and_kill(&f, nth_piece, last, 5 + i * 11, i * 731 % 3000);
		fixture_open(&f);
		stored = (uint64_t)fixture_int(&f, "SELECT last_seq FROM boot");
		assert_true(stored >= acked);
		assert_int_equal(fixture_int(&f, "SELECT sum(length(data)) FROM document_part"),
				 (stored - 2) * PIECE);
		assert_int_equal(fixture_int(&f, "SELECT max(offset) FROM document_part"),
				 (stored - 3) * PIECE);
		assert_int_equal(fixture_int(&f, "SELECT count(*) FROM event"
						 " WHERE kind = 'fault'"),
				 0);
		r = nth_piece(stored);
		assert_int_equal(ingest(&f, &a, &r), 0);
		assert_int_equal(a.r.ingest, STORE_INGEST_DUPLICATE);
		last = stored;
	}
	fixture_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kill_in_the_middle_keeps_what_was_acknowledged),
		cmocka_unit_test(test_kill_in_the_middle_of_a_document_loses_no_piece),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
