/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/connect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/kmsg.h"

static void test_waits_double_up_to_the_cap(void **state)
{
	uint32_t half = 125; /* the middle of the first spread */

	(void)state;
	assert_int_equal(connect_backoff_ms(1, half - 62, 30000), 188 + 63);
	assert_true(connect_backoff_ms(2, 0, 30000) == 375);
	assert_true(connect_backoff_ms(3, 0, 30000) == 750);
	assert_true(connect_backoff_ms(1000, 0, 30000) == 22500);
	assert_true(connect_backoff_ms(0, 0, 30000) == 188);
}

static void test_jitter_stays_within_a_quarter_to_both_sides(void **state)
{
	unsigned tries;
	uint32_t r;

	(void)state;
	for (tries = 1; tries < 12; tries++) {
		uint64_t base = 250ULL << (tries - 1);

		if (base > 30000)
			base = 30000;
		for (r = 0; r < 40000; r += 7) {
			uint64_t ms = connect_backoff_ms(tries, r * 107183U, 30000);

			assert_true(ms >= base - base / 4);
			assert_true(ms <= base - base / 4 + base / 2);
		}
	}
}

static void test_kernel_warnings_become_lines(void **state)
{
	struct kg_str s = {0};

	(void)state;
	assert_true(kmsg_line("4,339,5140900,-;NET: Registered\n SUBSYSTEM=x\n", &s));
	assert_false(kmsg_line("6,340,5690716,-;information\n", &s));
	assert_false(kmsg_line("12,341,5690716,-;of user space\n", &s));
	assert_false(kmsg_line("", &s));
	assert_false(kmsg_line("4,339;text", &s));
	assert_true(kmsg_line("2,342,1,-;", &s));
	assert_string_equal(kg_str_text(&s), "[    5.140900] NET: Registered\n[    0.000001] \n");
	kg_str_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_double_up_to_the_cap),
		cmocka_unit_test(test_jitter_stays_within_a_quarter_to_both_sides),
		cmocka_unit_test(test_kernel_warnings_become_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
