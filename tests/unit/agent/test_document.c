/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "common/err.h"

static void test_text_comes_back_whatever_its_pieces(void **state)
{
	static const size_t parts[] = {1, 7, 4096, 1 << 20};
	size_t len = 300000, i, at;
	char *text = malloc(len), *back = malloc(len), hex[KG_SHA256_HEX_SIZE];
	uint32_t x = 1;

	(void)state;
	for (i = 0; i < len; i++) {
		x = x * 1664525 + 1013904223;
		text[i] = (char)('a' + (x >> 28));
	}
	assert_int_equal(kg_sha256_bytes(text, len, hex), 0);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct document_list l = {.n = 0};
		struct document_writer *w = document_begin();

		assert_non_null(w);
		for (at = 0; at < len; at += parts[i])
			document_add(w, text + at, len - at < parts[i] ? len - at : parts[i]);
		assert_int_equal(document_end(w, "t", true, &l), 0);
		assert_string_equal(l.items[0].digest, hex);
		assert_int_equal(l.items[0].text_bytes, len);
		assert_true(l.items[0].stored_len < len);
		assert_int_equal(
			ZSTD_decompress(back, len, l.items[0].stored, l.items[0].stored_len), len);
		assert_memory_equal(back, text, len);
		document_list_deinit(&l);
	}
	free(text);
	free(back);
}

static void test_empty_or_given_up_is_no_document(void **state)
{
	struct document_list l = {.n = 0};
	struct document_writer *w = document_begin();

	(void)state;
	document_add(w, "", 0);
	assert_int_equal(document_end(w, "t", true, &l), KG_ENODATA);
	w = document_begin();
	document_add(w, "x", 1);
	assert_int_equal(document_end(w, "t", false, &l), KG_ENODATA);
	assert_int_equal(l.n, 0);
}

static void test_what_does_not_compress_is_limited(void **state)
{
	struct document_list l = {.n = 0};
	struct document_writer *w = document_begin();
	size_t len = 1 << 20, i, k;
	unsigned char *noise = malloc(len);
	uint64_t x = 88172645463325252U;

	(void)state;
	for (k = 0; k < 40; k++) {
		for (i = 0; i < len; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			noise[i] = (unsigned char)x;
		}
		document_add(w, noise, len);
	}
	assert_int_equal(document_end(w, "t", true, &l), KG_ELIMIT);
	assert_int_equal(l.n, 0);
	free(noise);
}

static void test_one_document_too_many(void **state)
{
	struct document_list l = {.n = 0};
	size_t i, max = sizeof(l.items) / sizeof(l.items[0]);

	(void)state;
	for (i = 0; i <= max; i++) {
		struct document_writer *w = document_begin();

		document_add(w, "x", 1);
		assert_int_equal(document_end(w, "t", true, &l), i < max ? 0 : KG_ELIMIT);
	}
	assert_int_equal(l.n, max);
	document_list_deinit(&l);
	assert_int_equal(l.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_comes_back_whatever_its_pieces),
		cmocka_unit_test(test_empty_or_given_up_is_no_document),
		cmocka_unit_test(test_what_does_not_compress_is_limited),
		cmocka_unit_test(test_one_document_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
