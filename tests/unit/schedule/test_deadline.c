/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stage's deadline over a restart of the coordinator and of its host. */
#include "tests/lib/cmocka_all.h"

#include "common/clock.h"
#include "coordinator/schedule/driver.h"

#define SEC	  ((uint64_t)KG_NSEC_PER_SEC)
#define LIMIT	  (600 * SEC)
#define WALL_LEFT (1000 * (int64_t)SEC)

static const struct driver_clock now = {
	.boottime_ns = 50 * SEC, .realtime_ns = 5000 * (int64_t)SEC, .host_boot_id = "this boot"};

static uint64_t deadline(const char *host_boot_id, uint64_t boottime_ns, int64_t realtime_ns)
{
	struct store_deadline d = {.boottime_ns = boottime_ns,
				   .realtime_ns = realtime_ns,
				   .host_boot_id = host_boot_id};

	return driver_deadline(&d, &now, LIMIT);
}

static void test_restart_of_the_coordinator_neither_extends_nor_shortens(void **state)
{
	(void)state;
	/* whatever the wall clock did meanwhile */
	assert_int_equal(deadline("this boot", 70 * SEC, 0), 70 * SEC);
	assert_int_equal(deadline("this boot", 70 * SEC, INT64_MAX), 70 * SEC);
	assert_int_equal(deadline("this boot", 10 * SEC, 0), 10 * SEC); /* passed while down */
}

static void test_after_a_reboot_of_the_host_the_wall_clock_counts(void **state)
{
	(void)state;
	assert_int_equal(deadline("other boot", 999999 * SEC, now.realtime_ns + 200 * (int64_t)SEC),
			 now.boottime_ns + 200 * SEC);
}

static void test_after_a_reboot_at_least_a_minute_is_left(void **state)
{
	(void)state;
	assert_int_equal(deadline("other boot", 0, now.realtime_ns - WALL_LEFT),
			 now.boottime_ns + 60 * SEC);
}

static void test_a_wall_clock_that_was_set_back_gives_no_more_than_the_limit(void **state)
{
	(void)state;
	assert_int_equal(deadline("other boot", 0, now.realtime_ns + WALL_LEFT),
			 now.boottime_ns + LIMIT);
	assert_int_equal(deadline(NULL, 0, now.realtime_ns + WALL_LEFT), now.boottime_ns + LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restart_of_the_coordinator_neither_extends_nor_shortens),
		cmocka_unit_test(test_after_a_reboot_of_the_host_the_wall_clock_counts),
		cmocka_unit_test(test_after_a_reboot_at_least_a_minute_is_left),
		cmocka_unit_test(test_a_wall_clock_that_was_set_back_gives_no_more_than_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
