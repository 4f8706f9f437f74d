/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "coordinator/artifact/inflate.h"

#include "tests/unit/artifact/sample.h"

#define LEN 300000u

static uint8_t *content(void)
{
	uint8_t *bytes = malloc(LEN);
	uint32_t v = 1;
	size_t i;

	assert_non_null(bytes);
	for (i = 0; i < LEN; i++) {
		v = v * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(v >> 27); /* compresses a little */
	}
	return bytes;
}

static void test_every_method_is_unpacked(void **state)
{
	uint8_t *bytes = content();
	enum sample_filter filter;

	(void)state;
	for (filter = 0; filter < SAMPLE_FILTERS; filter++) {
		struct sample_bytes s = sample_compress(filter, bytes, LEN);
		struct kg_err err;
		void *out;
		size_t len;

		assert_int_equal(artifact_inflate_all(s.bytes, s.len, LEN, &out, &len, &err), 0);
		assert_int_equal(len, LEN);
		assert_memory_equal(out, bytes, LEN);
		free(out);
		free(s.bytes);
	}
	free(bytes);
}

static void test_more_than_the_limit_is_refused(void **state)
{
	uint8_t *bytes = content();
	struct sample_bytes s = sample_compress(SAMPLE_XZ, bytes, LEN);
	struct kg_err err;
	void *out;
	size_t len;

	(void)state;
	assert_int_equal(artifact_inflate_all(s.bytes, s.len, LEN - 1, &out, &len, &err),
			 KG_ELIMIT);
	free(s.bytes);
	free(bytes);
}

static void test_what_is_not_compressed_is_refused(void **state)
{
	uint8_t *bytes = content();
	struct kg_err err;
	void *out;
	size_t len;

	(void)state;
	assert_int_equal(artifact_inflate_all(bytes, LEN, LEN, &out, &len, &err), KG_EINVALID);
	assert_int_equal(artifact_inflate_all(bytes, 0, LEN, &out, &len, &err), KG_EINVALID);
	free(bytes);
}

static void test_damaged_stream_is_refused(void **state)
{
	uint8_t *bytes = content();
	struct sample_bytes s = sample_compress(SAMPLE_XZ, bytes, LEN);
	struct kg_err err;
	void *out;
	size_t len;

	(void)state;
	assert_int_equal(artifact_inflate_all(s.bytes, s.len / 2, LEN, &out, &len, &err),
			 KG_EINVALID);
	s.bytes[s.len / 2] ^= 0xff;
	assert_int_equal(artifact_inflate_all(s.bytes, s.len, LEN, &out, &len, &err), KG_EINVALID);
	free(s.bytes);
	free(bytes);
}

static void test_seek_goes_forward_to_a_place(void **state)
{
	uint8_t *bytes = content();
	struct sample_bytes s = sample_compress(SAMPLE_ZSTD, bytes, LEN);
	struct artifact_inflate *i;
	struct kg_err err;
	uint8_t buf[100];
	size_t len;

	(void)state;
	assert_int_equal(artifact_inflate_open(s.bytes, s.len, LEN, &i, &err), 0);
	assert_int_equal(artifact_inflate_seek(i, 200001, &err), 0);
	assert_int_equal(artifact_inflate_read(i, buf, sizeof(buf), &len, &err), 0);
	assert_int_equal(len, sizeof(buf));
	assert_memory_equal(buf, bytes + 200001, sizeof(buf));
	assert_int_equal(artifact_inflate_seek(i, 5, &err), KG_EINVALID);
	assert_int_equal(artifact_inflate_seek(i, LEN + 1, &err), KG_EINVALID);
	artifact_inflate_free(i);
	free(s.bytes);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_method_is_unpacked),
		cmocka_unit_test(test_more_than_the_limit_is_refused),
		cmocka_unit_test(test_what_is_not_compressed_is_refused),
		cmocka_unit_test(test_damaged_stream_is_refused),
		cmocka_unit_test(test_seek_goes_forward_to_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
