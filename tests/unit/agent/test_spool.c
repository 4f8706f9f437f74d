/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/spool.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/file.h"

struct fixture {
	char dir[64];
	char path[128];
	struct kg_err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/kgrid-spool-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/boot-5.spool", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(kg_remove_tree(f->dir, &f->err), 0);
	free(f);
	return 0;
}

static struct spool *open_spool(struct fixture *f, bool fresh)
{
	struct spool *s;

	assert_int_equal(spool_open(f->dir, 5, 4 << 20, fresh, &s, &f->err), 0);
	return s;
}

static void append(struct fixture *f, struct spool *s, uint64_t seq)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "record %u", (unsigned)seq);
	assert_int_equal(
		spool_append(s, seq, (uint32_t)seq * 16, text, strlen(text), false, &f->err), 0);
}

/* Checks that exactly the records from..to follow, with their content. */
static void expect_records(struct fixture *f, struct spool *s, uint64_t after, uint64_t to)
{
	struct spool_entry e;
	char text[32], buf[32];
	bool found;

	for (;;) {
		assert_int_equal(spool_next(s, after, &found, &e, &f->err), 0);
		if (!found)
			break;
		assert_int_equal(e.seq, after + 1);
		(void)snprintf(text, sizeof(text), "record %u", (unsigned)e.seq);
		assert_int_equal(e.len_bytes, strlen(text));
		assert_int_equal(spool_read(s, &e, buf, &f->err), 0);
		assert_memory_equal(buf, text, strlen(text));
		after = e.seq;
	}
	assert_int_equal(after, to);
}

static void test_records_are_there_after_reopening(void **state)
{
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);

	assert_true(spool_empty(s));
	append(f, s, 1);
	append(f, s, 2);
	append(f, s, 3);
	spool_free(s);
	s = open_spool(f, false);
	assert_int_equal(spool_last_seq(s), 3);
	assert_int_equal(spool_last_mark(s), 48);
	expect_records(f, s, 0, 3);
	expect_records(f, s, 2, 3);
	spool_free(s);
	s = open_spool(f, true);
	assert_true(spool_empty(s));
	spool_free(s);
}

static void test_file_cut_at_any_byte_keeps_every_whole_record(void **state)
{
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);
	uint64_t ends[4], size, cut;
	size_t i, len;
	char *bytes;

	ends[0] = spool_size(s);
	for (i = 1; i <= 3; i++) {
		append(f, s, i);
		ends[i] = spool_size(s);
	}
	spool_free(s);
	assert_int_equal(kg_file_read(f->path, 1 << 20, &bytes, &len, &f->err), 0);
	size = len;
	assert_int_equal(size, ends[3]);
	for (cut = 0; cut <= size; cut++) {
		uint64_t whole = 0;

		assert_int_equal(kg_file_replace(f->path, bytes, (size_t)cut, 0600, &f->err), 0);
		for (i = 1; i <= 3; i++)
			if (cut >= ends[i])
				whole = i;
		s = open_spool(f, false);
		assert_int_equal(spool_last_seq(s), whole);
		expect_records(f, s, 0, whole);
		append(f, s, whole + 1); /* goes on where the whole ones end */
		expect_records(f, s, 0, whole + 1);
		spool_free(s);
	}
	free(bytes);
}

static void test_damaged_byte_ends_the_file_there(void **state)
{
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);
	uint64_t first, second;
	char byte;
	int fd;

	append(f, s, 1);
	first = spool_size(s);
	append(f, s, 2);
	second = spool_size(s);
	append(f, s, 3);
	spool_free(s);
	fd = open(f->path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)(second - 1)), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)(second - 1)), 1);
	close(fd);
	s = open_spool(f, false);
	assert_int_equal(spool_last_seq(s), 1);
	assert_int_equal(spool_size(s), first);
	spool_free(s);
}

static void test_acked_is_remembered_and_last_entry_stays(void **state)
{
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);

	append(f, s, 1);
	append(f, s, 2);
	assert_int_equal(spool_ack(s, 2, &f->err), 0);
	assert_int_equal(spool_ack(s, 1, &f->err), 0); /* again, and late */
	assert_int_equal(spool_ack(s, 2, &f->err), 0);
	assert_int_equal(spool_ack(s, 9, &f->err), 0); /* never was */
	assert_int_equal(spool_acked(s), 2);
	spool_free(s);
	s = open_spool(f, false);
	assert_int_equal(spool_acked(s), 2);
	assert_int_equal(spool_last_seq(s), 2);
	assert_int_equal(spool_last_mark(s), 32);
	spool_free(s);
}

static void test_acknowledged_space_is_given_back(void **state)
{
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);
	char *big = calloc(1, 512 * 1024);
	uint64_t before;
	struct stat st;

	assert_non_null(big);
	assert_int_equal(spool_append(s, 1, 1, big, 512 * 1024, false, &f->err), 0);
	assert_int_equal(spool_append(s, 2, 2, big, 512 * 1024, false, &f->err), 0);
	assert_int_equal(spool_append(s, 3, 3, big, 512 * 1024, false, &f->err), 0);
	append(f, s, 4);
	before = spool_size(s);
	assert_int_equal(spool_ack(s, 3, &f->err), 0);
	assert_true(spool_size(s) < before / 10);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal((uint64_t)st.st_size, spool_size(s));
	expect_records(f, s, 3, 4);
	append(f, s, 5);
	assert_int_equal(spool_ack(s, 4, &f->err), 0);
	spool_free(s);
	s = open_spool(f, false);
	assert_int_equal(spool_acked(s), 4);
	expect_records(f, s, 4, 5);
	spool_free(s);
	free(big);
}

static void test_all_acknowledged_big_spool_keeps_only_its_last(void **state)
{
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);
	char *big = calloc(1, 1200 * 1024);

	assert_non_null(big);
	assert_int_equal(spool_append(s, 1, 1, big, 1200 * 1024, false, &f->err), 0);
	append(f, s, 2);
	assert_int_equal(spool_ack(s, 2, &f->err), 0);
	assert_true(spool_size(s) < 200);
	assert_int_equal(spool_last_mark(s), 32);
	append(f, s, 3);
	expect_records(f, s, 2, 3);
	spool_free(s);
	free(big);
}

static void test_full_spool_refuses_but_for_last_words(void **state)
{
	struct fixture *f = *state;
	char *big = calloc(1, 4 << 20);
	struct spool *s = open_spool(f, true);
	size_t room = (4 << 20) - SPOOL_RESERVE_BYTES - 32 - 20;

	assert_non_null(big);
	assert_true(spool_has_room(s, room));
	assert_false(spool_has_room(s, room + 1));
	assert_int_equal(spool_append(s, 1, 0, big, room + 1, false, &f->err), KG_ELIMIT);
	assert_int_equal(spool_append(s, 1, 0, big, room, false, &f->err), 0);
	assert_int_equal(spool_append(s, 2, 0, "x", 1, false, &f->err), KG_ELIMIT);
	assert_int_equal(spool_append(s, 2, 0, "x", 1, true, &f->err), 0);
	assert_int_equal(spool_last_seq(s), 2);
	spool_free(s);
	free(big);
}

static void test_smallest_spool_takes_any_amount_that_is_acknowledged(void **state)
{
	struct fixture *f = *state;
	static char bytes[16384];
	struct spool *s;
	uint64_t seq;

	assert_int_equal(spool_open(f->dir, 5, 1 << 20, true, &s, &f->err), 0);
	for (seq = 1; seq <= 256; seq++) {
		if (spool_append(s, seq, 0, bytes, sizeof(bytes), false, &f->err) < 0)
			fail_msg("record %u: %s", (unsigned)seq, f->err.text);
		assert_int_equal(spool_ack(s, seq, &f->err), 0);
	}
	spool_free(s);
}

static void test_only_the_spool_of_the_boot_that_is_held_stays(void **state)
{
	static const char *const left[] = {"boot-4.spool", "boot-5.spool.new", "boot-55.spool"};
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);
	char path[128];
	size_t i;

	append(f, s, 1);
	spool_free(s);
	for (i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", f->dir, left[i]);
		assert_int_equal(kg_file_replace(path, "x", 1, 0600, &f->err), 0);
	}
	spool_remove_others(f->dir, 5);
	for (i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", f->dir, left[i]);
		assert_int_equal(access(path, F_OK), -1);
	}
	s = open_spool(f, false);
	assert_int_equal(spool_last_seq(s), 1);
	spool_free(s);
	spool_remove_others(f->dir, 0);
	assert_int_equal(access(f->path, F_OK), -1);
}

static void test_number_out_of_order_is_refused(void **state)
{
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);

	append(f, s, 4); /* the first may be any: earlier ones may be gone */
	assert_int_equal(spool_append(s, 4, 0, "x", 1, false, &f->err), KG_ESTATE);
	assert_int_equal(spool_append(s, 6, 0, "x", 1, false, &f->err), KG_ESTATE);
	append(f, s, 5);
	spool_free(s);
}

static void test_spool_of_another_boot_is_corrupt(void **state)
{
	struct fixture *f = *state;
	struct spool *s = open_spool(f, true);
	char other[128];

	append(f, s, 1);
	spool_free(s);
	(void)snprintf(other, sizeof(other), "%s/boot-6.spool", f->dir);
	assert_int_equal(rename(f->path, other), 0);
	assert_int_equal(spool_open(f->dir, 6, 4 << 20, false, &s, &f->err), KG_ECORRUPT);
}

static void test_crc_is_the_usual_one(void **state)
{
	(void)state;
	assert_int_equal(spool_crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(spool_crc32(spool_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_records_are_there_after_reopening),
		T(test_file_cut_at_any_byte_keeps_every_whole_record),
		T(test_damaged_byte_ends_the_file_there),
		T(test_acked_is_remembered_and_last_entry_stays),
		T(test_acknowledged_space_is_given_back),
		T(test_all_acknowledged_big_spool_keeps_only_its_last),
		T(test_full_spool_refuses_but_for_last_words),
		T(test_smallest_spool_takes_any_amount_that_is_acknowledged),
		T(test_only_the_spool_of_the_boot_that_is_held_stays),
		T(test_number_out_of_order_is_refused),
		T(test_spool_of_another_boot_is_corrupt),
		cmocka_unit_test(test_crc_is_the_usual_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
