/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>

#include "proto/frame.h"
#include "tests/lib/alloc_fault.h"

/* Three frames: with a payload, without one, with a longer one. */
struct stream {
	uint8_t bytes[3 * KG_FRAME_HEADER_SIZE + 5 + 3000];
	size_t len;
};

static void add_frame(struct stream *s, uint16_t type, uint32_t id, size_t len)
{
	struct kg_frame_header h = {.len_bytes = (uint32_t)len, .type = type, .id = id};
	size_t i;

	kg_frame_header_write(s->bytes + s->len, &h);
	s->len += KG_FRAME_HEADER_SIZE;
	for (i = 0; i < len; i++)
		s->bytes[s->len++] = (uint8_t)(i * 7 + type);
}

static struct stream three_frames(void)
{
	struct stream s = {.len = 0};

	add_frame(&s, 1, 0x01020304, 5);
	add_frame(&s, 2, 0, 0);
	add_frame(&s, 0xffff, 7, 3000);
	return s;
}

static void check_frame(const struct kg_frame *f, unsigned n)
{
	static const struct kg_frame expected[] = {
		{.type = 1, .id = 0x01020304, .len_bytes = 5},
		{.type = 2, .id = 0, .len_bytes = 0},
		{.type = 0xffff, .id = 7, .len_bytes = 3000},
	};
	size_t i;

	assert_true(n < 3);
	assert_int_equal(f->type, expected[n].type);
	assert_int_equal(f->id, expected[n].id);
	assert_int_equal(f->len_bytes, expected[n].len_bytes);
	assert_non_null(f->payload);
	for (i = 0; i < f->len_bytes; i++)
		assert_int_equal(f->payload[i], (uint8_t)(i * 7 + f->type));
}

/* Feeds some bytes and checks the frames that come. */
static unsigned feed(struct kg_frame_decoder *d, const uint8_t *bytes, size_t len, unsigned n)
{
	struct kg_err err;
	struct kg_frame f;
	int rc;

	while ((rc = kg_frame_decoder_feed(d, &bytes, &len, &f, &err)) == 1)
		check_frame(&f, n++);
	assert_int_equal(rc, 0);
	assert_int_equal(len, 0);
	return n;
}

static void test_header_is_big_endian(void **state)
{
	static const uint8_t expected[] = {0, 1, 2, 3, 1, 0, 0x0a, 0x0b, 0xc0, 0xc1, 0xc2, 0xc3};
	struct kg_frame_header h = {.len_bytes = 0x00010203, .type = 0x0a0b, .id = 0xc0c1c2c3};
	struct kg_frame_header back;
	uint8_t bytes[KG_FRAME_HEADER_SIZE];
	struct kg_err err;

	(void)state;
	kg_frame_header_write(bytes, &h);
	assert_memory_equal(bytes, expected, sizeof(expected));
	assert_int_equal(kg_frame_header_read(bytes, 0x00010203, &back, &err), 0);
	assert_int_equal(back.len_bytes, h.len_bytes);
	assert_int_equal(back.type, h.type);
	assert_int_equal(back.id, h.id);
}

static void test_bad_headers_are_refused(void **state)
{
	struct kg_frame_header h = {.len_bytes = 100, .type = 1}, back;
	uint8_t bytes[KG_FRAME_HEADER_SIZE];
	struct kg_err err;

	(void)state;
	kg_frame_header_write(bytes, &h);
	assert_int_equal(kg_frame_header_read(bytes, 99, &back, &err), KG_ELIMIT);
	assert_string_equal(err.text, "declared a frame of 100 bytes, at most 99 are taken");
	bytes[4] = 2;
	assert_int_equal(kg_frame_header_read(bytes, 100, &back, &err), KG_EPROTO);
	assert_string_equal(err.text, "speaks framing version 2, this program 1");
	bytes[4] = 1;
	bytes[5] = 0x80;
	assert_int_equal(kg_frame_header_read(bytes, 100, &back, &err), KG_EPROTO);
	assert_string_equal(err.text, "set unknown frame flags 0x80");
	/* Whoever speaks something else altogether, is refused before its length is believed. */
	assert_int_equal(kg_frame_header_read((const uint8_t *)"GET / HTTP/1.1", SIZE_MAX, &back,
					      &err),
			 KG_EPROTO);
}

static void test_frames_split_at_every_byte(void **state)
{
	struct stream s = three_frames();
	struct kg_frame_decoder d;
	size_t at;
	unsigned n;

	(void)state;
	for (at = 0; at <= s.len; at++) {
		kg_frame_decoder_init(&d, KG_FRAME_MAX);
		n = feed(&d, s.bytes, at, 0);
		n = feed(&d, s.bytes + at, s.len - at, n);
		assert_int_equal(n, 3);
		kg_frame_decoder_deinit(&d);
	}
}

static void test_frames_byte_by_byte(void **state)
{
	struct stream s = three_frames();
	struct kg_frame_decoder d = {.max_bytes = KG_FRAME_MAX};
	unsigned n = 0;
	size_t i;

	(void)state;
	for (i = 0; i < s.len; i++)
		n = feed(&d, s.bytes + i, 1, n);
	assert_int_equal(n, 3);
	assert_int_equal(feed(&d, s.bytes, 0, n), 3);
	kg_frame_decoder_deinit(&d);
}

static void test_whole_payloads_are_not_copied(void **state)
{
	struct stream s = three_frames();
	struct kg_frame_decoder d = {.max_bytes = KG_FRAME_MAX};

	(void)state;
	assert_int_equal(feed(&d, s.bytes, s.len, 0), 3);
	assert_null(d.payload);
	kg_frame_decoder_deinit(&d);
}

static void test_declared_length_costs_nothing_until_bytes_come(void **state)
{
	struct kg_frame_header h = {.len_bytes = KG_FRAME_MAX, .type = 1};
	uint8_t bytes[KG_FRAME_HEADER_SIZE + 10] = {0};
	struct kg_frame_decoder d = {.max_bytes = KG_FRAME_MAX};

	(void)state;
	kg_frame_header_write(bytes, &h);
	assert_int_equal(feed(&d, bytes, KG_FRAME_HEADER_SIZE, 0), 0);
	assert_null(d.payload);
	assert_int_equal(feed(&d, bytes + KG_FRAME_HEADER_SIZE, 10, 0), 0);
	assert_true(d.payload_cap <= 1024);
	kg_frame_decoder_deinit(&d);
}

static void test_oversize_is_refused_before_allocation_and_for_good(void **state)
{
	struct kg_frame_header h = {.len_bytes = KG_FRAME_MAX_HELLO + 1, .type = 1};
	uint8_t bytes[KG_FRAME_HEADER_SIZE];
	struct kg_frame_decoder d;
	const uint8_t *p = bytes;
	size_t len = sizeof(bytes);
	struct kg_frame f;
	struct kg_err err;

	(void)state;
	kg_frame_header_write(bytes, &h);
	kg_frame_decoder_init(&d, KG_FRAME_MAX_HELLO);
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &len, &f, &err), KG_ELIMIT);
	assert_string_equal(err.text, "declared a frame of 4097 bytes, at most 4096 are taken");
	assert_null(d.payload);
	p = bytes;
	len = sizeof(bytes);
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &len, &f, &err), KG_ELIMIT);
	assert_string_equal(err.text, "the stream was lost before: over the limit");
	kg_frame_decoder_deinit(&d);
}

static void test_buffer_of_a_large_frame_is_not_kept(void **state)
{
	static uint8_t bytes[KG_FRAME_HEADER_SIZE + 100000];
	struct kg_frame_header h = {.len_bytes = 100000, .type = 1};
	struct kg_frame_decoder d = {.max_bytes = KG_FRAME_MAX};
	const uint8_t *p = bytes;
	size_t len = 1000;
	struct kg_frame f;
	struct kg_err err;

	(void)state;
	kg_frame_header_write(bytes, &h);
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &len, &f, &err), 0);
	len = sizeof(bytes) - 1000;
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &len, &f, &err), 1);
	assert_int_equal(d.payload_cap, 100000);
	p = bytes;
	len = KG_FRAME_HEADER_SIZE;
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &len, &f, &err), 0);
	assert_null(d.payload);
	kg_frame_decoder_deinit(&d);
}

static void test_out_of_memory_loses_the_stream(void **state)
{
	struct stream s = three_frames();
	struct kg_frame_decoder d = {.max_bytes = KG_FRAME_MAX};
	const uint8_t *p = s.bytes;
	size_t len = KG_FRAME_HEADER_SIZE + 2;
	struct kg_frame f;
	struct kg_err err;

	(void)state;
	alloc_fault_arm(1);
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &len, &f, &err), -ENOMEM);
	assert_true(alloc_fault_disarm());
	len = 1;
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &len, &f, &err), -ENOMEM);
	kg_frame_decoder_deinit(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header_is_big_endian),
		cmocka_unit_test(test_bad_headers_are_refused),
		cmocka_unit_test(test_frames_split_at_every_byte),
		cmocka_unit_test(test_frames_byte_by_byte),
		cmocka_unit_test(test_whole_payloads_are_not_copied),
		cmocka_unit_test(test_declared_length_costs_nothing_until_bytes_come),
		cmocka_unit_test(test_oversize_is_refused_before_allocation_and_for_good),
		cmocka_unit_test(test_buffer_of_a_large_frame_is_not_kept),
		cmocka_unit_test(test_out_of_memory_loses_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
