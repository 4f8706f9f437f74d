/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who comes first: priority, waiting, shares. */
#include "tests/unit/schedule/world.h"

#include <math.h>

#include "coordinator/schedule/sched_internal.h"

static double score(struct world *w, uint64_t job, uint64_t now)
{
	return sched_score(&w->s, sched_job_find(&w->s, job), now);
}

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 0.01)

static void one(struct world *w, uint64_t id, uint32_t priority, const char *user, uint64_t now)
{
	world_add(w, &(struct plan){id, priority, user, "a", NULL, 1, 9, 1, .seconds = 600}, now);
}

static void test_score_is_priority_and_ageing(void **state)
{
	struct world *w = *state;

	one(w, 1, 40, "ann", 0);
	assert_near(score(w, 1, 0), 40);
	assert_near(score(w, 1, 2 * H), 50); /* 5 points an hour */
}

static void test_who_waits_overtakes_higher_priority_in_the_end(void **state)
{
	struct world *w = *state;

	one(w, 1, 20, "ann", 0);
	one(w, 2, 50, "ann", 6 * H - SEC); /* 30 points are 6 hours */
	one(w, 3, 50, "ann", 6 * H + SEC);
	world_up(w, "a", 6 * H + SEC);
	world_expect(w, "job 2 running\nbegin a boot=1 job=2 b1/v1 n=1\n");
	sched_job_cancelled(&w->s, 2, 7 * H);
	assert_contains(w->log, "begin a boot=2 job=1 b1/v1 n=1\n");
	world_forget(w);
}

/* A job may be older than the boot of the coordinator's host. */
static void test_submission_may_lie_before_the_clock(void **state)
{
	struct world *w = *state;
	struct sched_job *j;

	j = world_job(w, &(struct plan){1, 0, "ann", "a", NULL, 1, 1, 1, .seconds = 1});
	j->queued_ns = -(int64_t)(10 * H);
	sched_job_added(&w->s, j, 0);
	one(w, 2, 49, "ann", 0);
	world_up(w, "a", 0);
	world_expect(w, "job 1 running\nbegin a boot=1 job=1 b1/v1 n=1\n");
}

static void test_submitter_who_had_more_comes_later(void **state)
{
	struct world *w = *state;

	assert_int_equal(sched_usage_add(&w->s, "ann", 2 * H, 0), 0);
	one(w, 1, 50, "ann", 0);
	one(w, 2, 50, "bob", 0);
	world_up(w, "a", 0);
	world_expect(w, "job 2 running\nbegin a boot=1 job=2 b1/v1 n=1\n");
}

static void test_shares_divide_what_was_used(void **state)
{
	static const struct sched_share shares[] = {{"ann", 3}, {"bob", 1}};
	struct sched_policy p = sched_policy_default;
	struct world *w = *state;

	p.shares = shares;
	p.n_shares = 2;
	assert_int_equal(sched_set_policy(&w->s, &p), 0);
	world_up(w, "a", 0);
	world_up(w, "b", 0);
	assert_int_equal(sched_usage_add(&w->s, "ann", 3 * H, 0), 0);
	assert_int_equal(sched_usage_add(&w->s, "bob", H, 0), 0);
	world_add(w, &(struct plan){1, 50, "ann", "x", NULL, 1, 1, 1, .seconds = 600}, 0);
	world_add(w, &(struct plan){2, 50, "bob", "x", NULL, 1, 1, 1, .seconds = 600}, 0);
	assert_near(score(w, 1, 0), 50);
	assert_near(score(w, 2, 0), 50);
	assert_int_equal(sched_usage_add(&w->s, "ann", 3 * H, 0), 0);
	/* one hour for each share, of 4 shares, on 2 machines: 2 h of the grid */
	assert_near(score(w, 1, 0), 50 - p.share_points * 2);
	assert_near(score(w, 2, 0), 50);
}

static void test_usage_fades(void **state)
{
	struct world *w = *state;
	double at_once;

	world_up(w, "b", 0);
	assert_int_equal(sched_usage_add(&w->s, "ann", H, 0), 0);
	world_add(w, &(struct plan){1, 50, "ann", "x", NULL, 1, 1, 1, .seconds = 600}, 0);
	world_add(w, &(struct plan){2, 50, "bob", "x", NULL, 1, 1, 1, .seconds = 600}, 0);
	at_once = score(w, 2, 0) - score(w, 1, 0);
	assert_true(at_once > 0);
	assert_near(score(w, 2, 24 * H) - score(w, 1, 24 * H), at_once / 2);
	/* a thousand half-lives later numbers are still numbers */
	assert_int_equal(sched_usage_add(&w->s, "bob", H, 24000 * H), 0);
	assert_true(isfinite(score(w, 1, 24000 * H)));
	assert_near(score(w, 1, 24000 * H) - score(w, 2, 24000 * H), at_once);
}

/* Machines that begin together must not all go to whoever is behind. */
static void test_open_boots_count_by_their_estimate(void **state)
{
	struct world *w = *state;
	static const char *const m[] = {"a", "b", "c", "d"};
	struct plan p = {1, 50, "ann", "a", NULL, 1, 1, 1, .seconds = 600};
	struct sched_job *j = world_job(w, &p), *k;
	unsigned i, ann = 0;

	p.id = 2;
	p.user = "bob";
	k = world_job(w, &p);
	for (i = 1; i < 4; i++) {
		p.machine = m[i];
		p.id = 1;
		world_visits(w, j, &p, 1);
		p.id = 2;
		world_visits(w, k, &p, 1);
	}
	sched_job_added(&w->s, j, 0);
	sched_job_added(&w->s, k, 0);
	for (i = 0; i < 4; i++)
		world_up(w, m[i], 0);
	for (i = 0; i < 4; i++)
		ann += world_boot(w, m[i])->visit->job->id == 1;
	assert_int_equal(ann, 2);
}

static void test_absence_earns_no_right_to_the_whole_grid(void **state)
{
	struct world *w = *state;
	double ahead;

	world_up(w, "a", 0);
	world_add(w, &(struct plan){1, 50, "ann", "a", NULL, 1, 1, 1, .seconds = 600}, 0);
	world_add(w, &(struct plan){3, 50, "ann", "x", NULL, 1, 1, 1, .seconds = 600}, 0);
	world_pass(w, "a", 100 * H); /* 100 h all alone */
	world_forget(w);
	world_add(w, &(struct plan){2, 50, "bob", "x", NULL, 1, 1, 1, .seconds = 600}, 100 * H);
	ahead = sched_ahead_h(&w->s, sched_user_find(&w->s, "ann"), 100 * H);
	assert_near(ahead, sched_policy_default.credit_h);
}

/* What the store says at start is not a return. */
static void test_usage_at_start_is_taken_as_it_is(void **state)
{
	struct world *w = *state;

	assert_int_equal(sched_usage_add(&w->s, "ann", 90 * H, 0), 0);
	one(w, 1, 50, "ann", 0);
	one(w, 2, 50, "bob", 0);
	assert_near(sched_ahead_h(&w->s, sched_user_find(&w->s, "ann"), 0), 180); /* 2 shares */
}

static void test_cancelled_boot_counts_what_it_took(void **state)
{
	struct world *w = *state;

	world_up(w, "a", 0);
	world_add(w, &(struct plan){1, 50, "ann", "a", NULL, 1, 1, 1, .seconds = 36000}, 0);
	one(w, 2, 50, "bob", 0);
	one(w, 3, 50, "ann", 0);
	sched_job_cancelled(&w->s, 1, 60 * SEC);
	assert_true(sched_ahead_h(&w->s, sched_user_find(&w->s, "ann"), 60 * SEC) < 0.05);
	world_forget(w);
}

static void test_ties_go_to_the_older_job(void **state)
{
	struct world *w = *state;

	one(w, 9, 50, "zoe", 0);
	one(w, 4, 50, "ann", 0);
	one(w, 5, 50, "bob", 0);
	world_up(w, "a", 0);
	world_expect(w, "job 4 running\nbegin a boot=1 job=4 b1/v1 n=1\n");
}

/* ---- trees and tables ---- */

struct item {
	struct sched_node node;
	struct sched_link link;
	uint32_t value;
};

static int by_value(const struct sched_node *a, const struct sched_node *b)
{
	const struct item *x = sched_const_owner(a, struct item, node);
	const struct item *y = sched_const_owner(b, struct item, node);

	return x->value < y->value ? -1 : x->value > y->value;
}

static bool from(const struct sched_node *n, const void *arg)
{
	return sched_const_owner(n, struct item, node)->value >= *(const uint32_t *)arg;
}

#define ITEMS 1000

static void test_tree_keeps_order_while_things_come_and_go(void **state)
{
	struct item *items = calloc(ITEMS, sizeof(*items));
	struct sched_tree t = {0};
	struct sched_node *n;
	uint32_t i, last = 0, count = 0, want = 501;

	(void)state;
	assert_non_null(items);
	for (i = 0; i < ITEMS; i++) {
		items[i].value = (i * 617) % ITEMS + 1; /* each number once */
		sched_tree_insert(&t, &items[i].node, by_value);
	}
	for (i = 0; i < ITEMS; i++)
		if (items[i].value % 3 == 0)
			sched_tree_remove(&t, &items[i].node);
	sched_tree_remove(&t, &items[0].node);
	sched_tree_remove(&t, &items[0].node); /* twice is harmless */
	sched_tree_insert(&t, &items[0].node, by_value);
	for (n = sched_tree_first(&t); n; n = sched_tree_next(n)) {
		uint32_t v = sched_const_owner(n, struct item, node)->value;

		assert_true(v > last);
		assert_true(v % 3 != 0);
		last = v;
		count++;
	}
	assert_int_equal(count, ITEMS - ITEMS / 3);
	n = sched_tree_bound(&t, from, &want);
	assert_int_equal(sched_const_owner(n, struct item, node)->value, 502);
	want = ITEMS + 1;
	assert_null(sched_tree_bound(&t, from, &want));
	free(items);
}

static void test_table_finds_what_is_in_it(void **state)
{
	struct item *items = calloc(ITEMS, sizeof(*items));
	struct sched_hash h = {0};
	uint32_t i;

	(void)state;
	assert_non_null(items);
	assert_null(sched_hash_find(&h, 5));
	for (i = 0; i < ITEMS; i++)
		sched_hash_insert(&h, &items[i].link, i / 2); /* two of each */
	for (i = 0; i < ITEMS; i += 2)
		sched_hash_remove(&h, &items[i].link);
	sched_hash_remove(&h, &items[0].link);
	for (i = 0; i < ITEMS / 2; i++) {
		struct sched_link *l = sched_hash_find(&h, i);

		assert_ptr_equal(l, &items[2 * i + 1].link);
		assert_null(sched_hash_again(l));
	}
	assert_int_equal(h.n, ITEMS / 2);
	sched_hash_deinit(&h);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_score_is_priority_and_ageing),
		T(test_who_waits_overtakes_higher_priority_in_the_end),
		T(test_submission_may_lie_before_the_clock),
		T(test_submitter_who_had_more_comes_later),
		T(test_shares_divide_what_was_used),
		T(test_usage_fades),
		T(test_open_boots_count_by_their_estimate),
		T(test_absence_earns_no_right_to_the_whole_grid),
		T(test_usage_at_start_is_taken_as_it_is),
		T(test_cancelled_boot_counts_what_it_took),
		T(test_ties_go_to_the_older_job),
		cmocka_unit_test(test_tree_keeps_order_while_things_come_and_go),
		cmocka_unit_test(test_table_finds_what_is_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
