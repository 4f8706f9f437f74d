/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Covering arrays by themselves: the least number of rows that is told before any is made. */
#include "coordinator/plan/plan_cover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"

#define MAX_AXES 6

struct table { /* what is allowed, by the digits of the relevant axes */
	const struct cover_axis *axes;
	size_t n;
	bool allowed[1 << 12];
	uint64_t rows;
};

static bool is_allowed(void *arg, const uint32_t *digits)
{
	const struct table *t = arg;
	size_t i, at = 0;

	for (i = 0; i < t->n; i++)
		if (t->axes[i].relevant)
			at = at * t->axes[i].n + digits[i];
	return t->allowed[at];
}

static int count_row(void *arg, const uint32_t *digits)
{
	struct table *t = arg;

	assert_true(is_allowed(arg, digits));
	t->rows++;
	return 0;
}

static uint64_t state = 88172645463325252U;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state % n);
}

static uint64_t rows_of(struct table *t, uint64_t *ret_least)
{
	struct cover_input in = {
		.axes = t->axes, .n = t->n, .allowed = is_allowed, .row = count_row, .arg = t};
	uint32_t sizes[MAX_AXES];
	size_t i;

	for (i = 0; i < t->n; i++)
		sizes[i] = t->axes[i].n;
	assert_int_equal(cover_least(&in, ret_least), 0);
	in.pairs = cover_pairs_new(sizes, t->n);
	assert_non_null(in.pairs);
	t->rows = 0;
	assert_int_equal(cover_run(&in), 0);
	cover_pairs_free(in.pairs);
	return t->rows;
}

static void test_no_cover_has_fewer_rows_than_the_least(void **unused)
{
	static struct table t;
	struct cover_axis axes[MAX_AXES];
	size_t i, k, exact = 0;

	(void)unused;
	for (k = 0; k < 500; k++) {
		uint32_t out = below(4);
		uint64_t least = 99, rows;

		t.axes = axes;
		t.n = 2 + below(MAX_AXES - 1);
		for (i = 0; i < t.n; i++)
			axes[i] = (struct cover_axis){i, 1 + below(4), NULL, below(2) == 0};
		for (i = 0; i < sizeof(t.allowed); i++)
			t.allowed[i] = out == 0 || below(out + 1) == 0;
		rows = rows_of(&t, &least);
		assert_true(least <= rows);
		exact += least == rows;
	}
	assert_true(exact > 100);
}

static void test_least_counts_what_is_allowed(void **unused)
{
	static struct table t;
	const struct cover_axis axes[] = {
		{0, 4, NULL, true}, {1, 3, NULL, true}, {2, 5, NULL, false}};
	uint64_t least = 99;
	size_t i;

	(void)unused;
	t.axes = axes;
	t.n = 3;
	for (i = 0; i < 12; i++)
		t.allowed[i] = true;
	(void)rows_of(&t, &least);
	assert_int_equal(least, 4 * 5);
	for (i = 3; i < 12; i++)
		t.allowed[i] = false; /* one value of the first axis is left, three of the second */
	(void)rows_of(&t, &least);
	assert_int_equal(least, 3 * 5);
	t.allowed[0] = t.allowed[1] = t.allowed[2] = false;
	assert_int_equal(rows_of(&t, &least), 0);
	assert_int_equal(least, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_cover_has_fewer_rows_than_the_least),
		cmocka_unit_test(test_least_counts_what_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
