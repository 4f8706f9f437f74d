/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deep copies of messages: equal to, and independent of, what they were made from. */
#include "fixture.h"

#include "coordinator/store/arena.h"
#include "tests/unit/proto/fill.h"

static uint8_t *pack(const ProtobufCMessage *m, size_t *ret_len)
{
	uint8_t *bytes;

	*ret_len = protobuf_c_message_get_packed_size(m);
	bytes = calloc(1, *ret_len + 1);
	assert_non_null(bytes);
	assert_int_equal(protobuf_c_message_pack(m, bytes), *ret_len);
	return bytes;
}

static void check_copy(const ProtobufCMessageDescriptor *d, unsigned variant)
{
	struct kg_arena source;
	struct arena a = {0};
	ProtobufCMessage *m;
	const ProtobufCMessage *copy;
	uint8_t *before, *after;
	size_t len, copied;

	kg_arena_init(&source, SIZE_MAX);
	m = fill_message(&source, d, variant);
	assert_non_null(m);
	before = pack(m, &len);
	copy = arena_message(&a, m);
	assert_non_null(copy);
	kg_arena_deinit(&source); /* the copy holds nothing of it */
	after = pack(copy, &copied);
	assert_int_equal(copied, len);
	assert_memory_equal(after, before, len);
	arena_deinit(&a);
	free(before);
	free(after);
}

static void test_copy_of_every_message_is_equal_and_independent(void **state)
{
	(void)state;
#define X(number, name, type, prefix, from)                \
	for (unsigned variant = 0; variant < 8; variant++) \
		check_copy(&prefix##__descriptor, variant);
	KG_MESSAGES(X)
#undef X
}

static void test_pushed_items_stay_when_the_array_grows(void **state)
{
	struct arena a = {0};
	uint64_t *items = NULL;
	size_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t *item = arena_push(&a, &items, &n, sizeof(*items));

		assert_non_null(item);
		assert_int_equal(*item, 0);
		*item = i;
	}
	assert_int_equal(n, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	arena_deinit(&a);
}

static void test_size_that_overflows_fails_and_stays_failed(void **state)
{
	struct arena a = {0};

	(void)state;
	assert_null(arena_alloc(&a, SIZE_MAX, 2));
	assert_true(a.failed);
	assert_null(arena_alloc(&a, 1, 1));
	arena_deinit(&a);
	assert_non_null(arena_alloc(&a, 1, 1));
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_of_every_message_is_equal_and_independent),
		cmocka_unit_test(test_pushed_items_stay_when_the_array_grows),
		cmocka_unit_test(test_size_that_overflows_fails_and_stays_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
