/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "common/arena.h"
#include "tests/lib/alloc_fault.h"

static void test_pieces_are_aligned_zeroed_and_apart(void **state)
{
	struct kg_arena a;
	unsigned char *p[500];
	size_t i, j;

	(void)state;
	kg_arena_init(&a, 1024 * 1024);
	for (i = 0; i < 500; i++) {
		p[i] = kg_arena_alloc(&a, i * 5);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % _Alignof(max_align_t), 0);
		for (j = 0; j < i * 5; j++)
			assert_int_equal(p[i][j], 0);
		memset(p[i], (int)i, i * 5);
	}
	for (i = 0; i < 500; i++)
		for (j = 0; j < i * 5; j++)
			assert_int_equal(p[i][j], i & 0xff);
	kg_arena_deinit(&a);
}

static void test_budget_is_never_exceeded(void **state)
{
	struct kg_arena a;
	size_t budget;

	(void)state;
	for (budget = 0; budget < 5000; budget += 37) {
		kg_arena_init(&a, budget);
		while (kg_arena_alloc(&a, 40))
			assert_true(a.held_bytes <= budget);
		assert_true(a.over);
		assert_false(a.failed);
		kg_arena_deinit(&a);
	}
}

static void test_huge_sizes_are_over_the_budget(void **state)
{
	struct kg_arena a;

	(void)state;
	kg_arena_init(&a, SIZE_MAX);
	assert_null(kg_arena_alloc(&a, SIZE_MAX));
	assert_null(kg_arena_alloc(&a, SIZE_MAX - 8));
	assert_null(kg_arena_text(&a, "", SIZE_MAX));
	assert_true(a.over);
	kg_arena_deinit(&a);
}

static void test_large_pieces_can_be_given_back(void **state)
{
	struct kg_arena a;
	void *p, *q;
	size_t before;

	(void)state;
	kg_arena_init(&a, 10000);
	assert_non_null(kg_arena_alloc(&a, 10));
	before = a.held_bytes;
	p = kg_arena_alloc(&a, 4000);
	q = kg_arena_alloc(&a, 4000);
	assert_null(kg_arena_alloc(&a, 4000));
	kg_arena_give_back(&a, p);
	p = kg_arena_alloc(&a, 4000);
	assert_non_null(p);
	kg_arena_give_back(&a, q);
	kg_arena_give_back(&a, p);
	kg_arena_give_back(&a, p); /* gone already: nothing happens */
	kg_arena_give_back(&a, (void *)(uintptr_t)0xdeadbeef);
	kg_arena_give_back(&a, NULL);
	assert_int_equal(a.held_bytes, before);
	kg_arena_deinit(&a);
}

static void test_system_without_memory_is_told_from_the_budget(void **state)
{
	struct kg_arena a;

	(void)state;
	kg_arena_init(&a, 10000);
	alloc_fault_arm(1);
	assert_null(kg_arena_alloc(&a, 10));
	assert_true(alloc_fault_disarm());
	assert_true(a.failed);
	assert_false(a.over);
	kg_arena_deinit(&a);
}

static void test_text_is_terminated(void **state)
{
	struct kg_arena a;

	(void)state;
	kg_arena_init(&a, 10000);
	assert_string_equal(kg_arena_text(&a, "abcdef", 3), "abc");
	assert_string_equal(kg_arena_text(&a, NULL, 0), "");
	kg_arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_are_aligned_zeroed_and_apart),
		cmocka_unit_test(test_budget_is_never_exceeded),
		cmocka_unit_test(test_huge_sizes_are_over_the_budget),
		cmocka_unit_test(test_large_pieces_can_be_given_back),
		cmocka_unit_test(test_system_without_memory_is_told_from_the_budget),
		cmocka_unit_test(test_text_is_terminated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
