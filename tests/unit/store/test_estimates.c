/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What planning and sharing learn from earlier jobs. */
#include "plans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DAY (86400 * SECOND)
#define NOW (1000 * DAY)

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

static struct store_history *history_of(struct fixture *f, const char *const *machines, size_t n)
{
	struct store_history *h = NULL;
	struct kg_err err = {""};

	if (query_plan_history(f->q, machines, n, NOW, &h, &err) < 0)
		fail_msg("%s", err.text);
	return h;
}

static struct store_history *history(struct fixture *f)
{
	return history_of(f, NULL, 0);
}

static const struct store_pace *pace_of(const struct store_history *h, const char *workload,
					const char *params)
{
	for (size_t i = 0; i < h->n_paces; i++)
		if (strcmp(h->paces[i].workload, workload) == 0 &&
		    strcmp(h->paces[i].params, params) == 0)
			return &h->paces[i];
	return NULL;
}

/* A job of `blocks` blocks of both kernels; boots from `boot` on, a day before now, an hour apart. */
static uint64_t run_job(struct fixture *f, uint64_t boot, uint32_t blocks, const double *values,
			void (*tweak)(struct plan_job *p))
{
	struct plan_job p;
	struct answer a;
	uint64_t job;

	plan_init(&p, "measured");
	(void)plan_cell(&p, false);
	(void)plan_cell(&p, true);
	if (tweak)
		tweak(&p);
	plan_slots(&p, blocks);
	job = plan_insert(f, &p, &a);
	for (uint32_t i = 0; i < 2 * blocks; i++)
		plan_boot(f, boot + i, job,
			  &(struct fixture_where){.kernel = i % 2 ? KERNEL_B : KERNEL_A,
						  .block = i / 2 + 1,
						  .started_ns = NOW - DAY + (int64_t)i},
			  (uint64_t[]){a.r.first_slot + i}, &values[i], 1);
	return job;
}

static const double six[] = {100, 200, 102, 204, 104, 208};

static void test_paces_hops_and_spreads_are_of_what_passed(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;
	const double a = 2.0 / 102, b = 4.0 / 204; /* deviations of 100 102 104 and 200 204 208 */

	(void)run_job(f, 1, 3, six, NULL);
	h = history(f);
	assert_int_equal(h->n_paces, 1);
	assert_string_equal(h->paces[0].machine, MACHINE);
	assert_string_equal(h->paces[0].workload, "netperf");
	assert_string_equal(h->paces[0].params, "seconds=1 size=64");
	assert_int_equal(h->paces[0].attempts, 6);
	assert_true(fabs(h->paces[0].iteration_s - 10) < 1e-9); /* 30 s, three iterations */
	assert_int_equal(h->n_hops, 1);
	assert_true(fabs(h->hops[0].seconds - 70) < 1e-9); /* 100 s less the run */
	assert_int_equal(h->hops[0].boots, 6);
	assert_int_equal(h->n_spreads, 1);
	assert_string_equal(h->spreads[0].metric, "rate");
	assert_int_equal(h->spreads[0].boots, 6);
	assert_true(fabs(h->spreads[0].between_cov_pct - 100 * sqrt((2 * a * a + 2 * b * b) / 4)) <
		    1e-6);
	store_history_free(h);
}

static void test_medians_are_not_moved_by_one_slow_run(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;

	(void)run_job(f, 1, 3, six, NULL);
	(void)fixture_sql(f, "UPDATE attempt SET run_ns = 3000000000000 WHERE id = 300");
	(void)fixture_sql(f, "UPDATE boot SET ended_ns = started_ns - 5 WHERE id = 2");
	h = history(f);
	assert_true(fabs(h->paces[0].iteration_s - 10) < 1e-9);
	assert_true(fabs(h->hops[0].seconds - 70) < 1e-9);
	assert_int_equal(h->hops[0].boots, 4); /* neither of the two is a length of time */
	store_history_free(h);
}

static void test_configurations_of_one_boot_have_no_spread(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;

	(void)run_job(f, 1, 1, six, NULL);
	h = history(f);
	assert_int_equal(h->n_paces, 1);
	assert_int_equal(h->n_spreads, 0);
	store_history_free(h);
	(void)run_job(f, 11, 1, &six[2], NULL); /* the same configurations in another job */
	h = history(f);
	assert_int_equal(h->n_spreads, 1);
	assert_int_equal(h->spreads[0].boots, 4);
	store_history_free(h);
}

static void test_old_boots_and_old_epochs_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;

	(void)run_job(f, 1, 3, six, NULL);
	(void)fixture_sql(f, "UPDATE boot SET started_ns = started_ns - 90 * 86400000000000,"
			     " ended_ns = ended_ns - 90 * 86400000000000 WHERE id = 1");
	h = history(f);
	assert_int_equal(h->paces[0].attempts, 5);
	assert_int_equal(h->hops[0].boots, 5);
	assert_int_equal(h->spreads[0].boots, 5);
	store_history_free(h);
	(void)fixture_sql(f, "INSERT INTO epoch VALUES ('" MACHINE "', 2, 1, 3, 'x', '[]')");
	(void)fixture_sql(f, "UPDATE boot SET epoch = iif(id < 5, 1, 2)");
	h = history(f);
	assert_int_equal(h->paces[0].attempts, 2);
	assert_int_equal(h->hops[0].boots, 2);
	assert_int_equal(h->n_spreads, 0);
	store_history_free(h);
}

static void new_digest(struct plan_job *p)
{
	p->cells[0].workload_digest = p->cells[1].workload_digest = "e";
}

static void no_digest(struct plan_job *p)
{
	p->cells[0].workload_digest = p->cells[1].workload_digest = "";
}

static void test_only_the_newest_digest_of_a_workload_counts(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;

	(void)run_job(f, 1, 2, six, NULL);
	(void)run_job(f, 11, 1, six, new_digest);
	h = history(f);
	assert_int_equal(h->n_paces, 1);
	assert_int_equal(h->paces[0].attempts, 2);
	store_history_free(h);
	(void)run_job(f, 21, 0, six, no_digest); /* the workload was missing when it was planned */
	h = history(f);
	assert_int_equal(h->paces[0].attempts, 2);
	store_history_free(h);
}

static void several_subjects(struct plan_job *p)
{
	p->cells[0].params = "";
	p->cells[1].workload = "hackbench";
	p->cells[1].params = "groups=4";
}

static void test_every_workload_and_set_of_parameters_is_found(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;

	(void)run_job(f, 1, 1, six, NULL);
	(void)run_job(f, 11, 1, six, several_subjects);
	h = history(f);
	assert_int_equal(h->n_paces, 3);
	assert_non_null(pace_of(h, "hackbench", "groups=4"));
	assert_int_equal(pace_of(h, "netperf", "")->attempts, 1);
	assert_int_equal(pace_of(h, "netperf", "seconds=1 size=64")->attempts, 2);
	store_history_free(h);
}

static void canaries(struct plan_job *p)
{
	p->cells[0].canary = p->cells[1].canary = true;
}

static void test_canaries_have_a_pace_and_no_spread(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;

	(void)run_job(f, 1, 3, six, canaries);
	h = history(f);
	assert_int_equal(h->n_paces, 1);
	assert_int_equal(h->n_spreads, 0);
	store_history_free(h);
}

static void with_peer(struct plan_job *p)
{
	p->cells[0].peer = p->cells[1].peer = "m2";
}

static void test_servers_and_pairs_wait_and_say_nothing_of_hops(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;

	(void)run_job(f, 1, 1, six, with_peer);
	(void)fixture_sql(f, "UPDATE boot SET role = iif(id = 1, 'client', 'server')");
	h = history(f);
	assert_int_equal(h->n_hops, 0);
	assert_int_equal(h->n_paces, 1);
	assert_int_equal(h->paces[0].attempts, 1);
	assert_string_equal(h->paces[0].params, "seconds=1 size=64"); /* as the plan writes them */
	store_history_free(h);
}

static void test_machines_are_those_that_are_named_once_each(void **state)
{
	static const char *const twice[] = {MACHINE, "m9", MACHINE};
	static const char *const other[] = {"m9"};
	struct fixture *f = *state;
	struct store_history *h;

	(void)run_job(f, 1, 1, six, NULL);
	h = history_of(f, twice, 3);
	assert_int_equal(h->n_paces, 1);
	assert_int_equal(h->n_hops, 1);
	store_history_free(h);
	h = history_of(f, other, 1);
	assert_int_equal(h->n_paces + h->n_hops + h->n_spreads, 0);
	store_history_free(h);
}

static void test_no_history_at_all_is_empty(void **state)
{
	struct fixture *f = *state;
	struct store_history *h = history(f);

	assert_int_equal(h->n_paces + h->n_hops + h->n_spreads, 0);
	store_history_free(h);
	store_history_free(NULL);
}

static void test_no_more_than_the_newest_hundred_are_read(void **state)
{
	struct fixture *f = *state;
	struct store_history *h;
	double values[240];

	for (size_t i = 0; i < 240; i++)
		values[i] = 100;
	(void)run_job(f, 1, 60, values, NULL); /* 120 attempts in two cells */
	h = history(f);
	assert_int_equal(h->paces[0].attempts, 100);
	assert_int_equal(h->hops[0].boots, 100);
	assert_int_equal(h->spreads[0].boots, 100);
	assert_true(h->spreads[0].between_cov_pct == 0);
	store_history_free(h);
}

/* ---- usage ---- */

static struct store_usages *usage(struct fixture *f, int64_t since, int64_t half_life)
{
	struct store_usages *u = NULL;
	struct kg_err err = {""};

	if (query_usage(f->q, since, NOW, half_life, &u, &err) < 0)
		fail_msg("%s", err.text);
	return u;
}

/* Three boots of 100 s, ended a day less 100 s ago. */
static void test_usage_fades_with_its_half_life(void **state)
{
	struct fixture *f = *state;
	struct store_usages *u;
	double age = (double)(DAY - 100 * SECOND) / (double)DAY;

	(void)run_job(f, 1, 1, six, NULL);
	(void)run_job(f, 11, 2, six, NULL);
	(void)fixture_sql(f, "UPDATE job SET user = 'alice' WHERE id = 2");
	u = usage(f, 0, 0);
	assert_int_equal(u->n, 2);
	assert_string_equal(u->items[0].user, "");
	assert_true(u->items[0].used_ns == 200 * (uint64_t)SECOND);
	assert_string_equal(u->items[1].user, "alice");
	assert_true(u->items[1].used_ns == 400 * (uint64_t)SECOND);
	store_usages_free(u);
	u = usage(f, 0, DAY);
	assert_true(fabs((double)u->items[1].used_ns - 400e9 * exp2(-age)) < 1000);
	store_usages_free(u);
	u = usage(f, NOW, DAY);
	assert_int_equal(u->n, 0);
	store_usages_free(u);
	store_usages_free(NULL);
}

static void test_usage_is_not_misled_by_clocks(void **state)
{
	struct fixture *f = *state;
	struct store_usages *u;

	(void)run_job(f, 1, 1, six, NULL);
	(void)fixture_sql(f, "UPDATE boot SET ended_ns = started_ns - 1 WHERE id = 1");
	(void)fixture_sql(f, "UPDATE boot SET started_ns = started_ns + 2 * 86400000000000,"
			     " ended_ns = ended_ns + 2 * 86400000000000 WHERE id = 2");
	u = usage(f, 0, DAY);
	assert_int_equal(u->n, 1);
	assert_true(u->items[0].used_ns == 100 * (uint64_t)SECOND); /* of the future: as of now */
	store_usages_free(u);
}

static void test_an_open_boot_is_not_used_time_yet(void **state)
{
	struct fixture *f = *state;
	struct store_usages *u;
	struct answer a;

	fixture_job(f, 1, &a);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1}, 1), 0);
	u = usage(f, 0, 0);
	assert_int_equal(u->n, 0);
	store_usages_free(u);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_paces_hops_and_spreads_are_of_what_passed),
		T_(test_medians_are_not_moved_by_one_slow_run),
		T_(test_configurations_of_one_boot_have_no_spread),
		T_(test_old_boots_and_old_epochs_are_left_out),
		T_(test_only_the_newest_digest_of_a_workload_counts),
		T_(test_every_workload_and_set_of_parameters_is_found),
		T_(test_canaries_have_a_pace_and_no_spread),
		T_(test_servers_and_pairs_wait_and_say_nothing_of_hops),
		T_(test_machines_are_those_that_are_named_once_each),
		T_(test_no_history_at_all_is_empty),
		T_(test_no_more_than_the_newest_hundred_are_read),
		T_(test_usage_fades_with_its_half_life),
		T_(test_usage_is_not_misled_by_clocks),
		T_(test_an_open_boot_is_not_used_time_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
