/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/verdict.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/rng.h"
#include "coordinator/analysis/verdict_shift.h"
#include "tests/lib/cmocka_all.h"

#define N(a)	  (sizeof(a) / sizeof((a)[0]))
#define BOOTS_MAX 64

struct boots {
	struct verdict_boot b[BOOTS_MAX];
};

/* One iteration a boot. */
static struct verdict_side singles(struct boots *b, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		b->b[i] = (struct verdict_boot){&values[i], 1};
	return (struct verdict_side){b->b, n};
}

static struct verdict pair_of(const struct verdict_side *a, const struct verdict_side *b,
			      enum verdict_direction direction, const struct verdict_policy *policy)
{
	struct verdict_policy standard;
	struct verdict v;
	struct kg_err err = {""};

	verdict_policy_init(&standard);
	if (verdict_pair(a, b, direction, policy ? policy : &standard, &v, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(v.word == VERDICT_NONE || v.word == VERDICT_UNKNOWN, 1);
	assert_int_equal(verdict_family(&v, policy ? policy : &standard, 1), 0);
	return v;
}

static struct verdict compare(const double *a, size_t na, const double *b, size_t nb,
			      enum verdict_direction direction)
{
	struct boots x, y;
	struct verdict_side sa = singles(&x, a, na), sb = singles(&y, b, nb);

	return pair_of(&sa, &sb, direction, NULL);
}

static void expect(const struct verdict *v, enum verdict_word word)
{
	if (v->word != word)
		fail_msg("'%s' (%s), not '%s'", verdict_name(v->word), v->reason,
			 verdict_name(word));
}

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.12g, not %.12g", got, want);
}

static const double base8[8] = {100, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1};

static void scaled8(double factor, double *ret)
{
	for (size_t i = 0; i < 8; i++)
		ret[i] = base8[i] * factor;
}

static void test_names_are_read_back(void **state)
{
	(void)state;
	for (int w = VERDICT_NONE; w <= VERDICT_INCOMPARABLE; w++)
		assert_int_equal(verdict_parse(verdict_name((enum verdict_word)w)), w);
	assert_string_equal(verdict_name(VERDICT_REGRESSION), "regression");
	assert_string_equal(verdict_name(VERDICT_NONE), "");
	assert_string_equal(verdict_name((enum verdict_word)99), "");
	assert_int_equal(verdict_parse("Regression"), VERDICT_NONE);
	assert_int_equal(verdict_parse(NULL), VERDICT_NONE);
	assert_int_equal(verdict_direction("higher"), VERDICT_HIGHER);
	assert_int_equal(verdict_direction("lower"), VERDICT_LOWER);
	assert_int_equal(verdict_direction("hihger"), VERDICT_NO_DIRECTION);
	assert_int_equal(verdict_direction(NULL), VERDICT_NO_DIRECTION);
}

static void test_the_word_follows_the_declared_direction_only(void **state)
{
	double up[8];
	struct verdict v;

	(void)state;
	scaled8(1.05, up);
	v = compare(base8, 8, up, 8, VERDICT_HIGHER);
	expect(&v, VERDICT_IMPROVEMENT);
	near(v.effect_pct, 5, 1e-9);
	v = compare(base8, 8, up, 8, VERDICT_LOWER);
	expect(&v, VERDICT_REGRESSION);
	near(v.effect_pct, -5, 1e-9);
	assert_true(v.hi_pct < 0 && v.lo_pct < v.hi_pct && v.cliffs_delta < 0);
	/* Row 52: without a direction nothing is good or bad, however large. */
	v = compare(base8, 8, up, 8, VERDICT_NO_DIRECTION);
	expect(&v, VERDICT_DIFFERENT);
	near(v.effect_pct, 5, 1e-9);
	near(v.p_worse, 1, 0);
	v = compare(up, 8, base8, 8, VERDICT_NO_DIRECTION);
	expect(&v, VERDICT_DIFFERENT);
	assert_true(v.effect_pct < 0);
}

static void test_p_worse_is_one_sided(void **state)
{
	double down[8];
	struct verdict v;

	(void)state;
	scaled8(0.9, down);
	v = compare(base8, 8, down, 8, VERDICT_HIGHER);
	near(v.p_worse, v.p / 2, 1e-12);
	v = compare(base8, 8, down, 8, VERDICT_LOWER);
	near(v.p_worse, 1, 1e-12);
}

static void test_same_needs_the_whole_interval_inside(void **state)
{
	static const double quiet[8] = {100.1, 100, 99.9, 100.05, 99.95, 100.02, 99.98, 100.03};
	static const double loud[8] = {100, 103, 97, 101, 99, 102, 98, 100.5};
	double shifted[8];
	struct verdict v;

	(void)state;
	v = compare(quiet, 8, quiet, 8, VERDICT_HIGHER);
	expect(&v, VERDICT_SAME);
	v = compare(loud, 8, loud, 8, VERDICT_HIGHER);
	expect(&v, VERDICT_UNKNOWN);
	assert_true(v.lo_pct < -1 && v.hi_pct > 1);
	assert_true(v.more_boots > 0);
	assert_contains(v.reason, "more boots");
	/* Surely there, and too small to matter. */
	for (size_t i = 0; i < 8; i++)
		shifted[i] = quiet[i] * 1.004;
	v = compare(quiet, 8, shifted, 8, VERDICT_HIGHER);
	expect(&v, VERDICT_SAME);
	assert_true(v.p <= 0.01 && v.lo_pct > 0 && v.hi_pct < 1);
}

static void test_too_few_boots_are_said_with_the_number_that_would_do(void **state)
{
	/* ANALYSIS.md, principle 7: below this no result of n boots a side can go */
	static const char *const floors[] = {"below 1,", "below 0.33,", "below 0.1,",
					     "below 0.029,"};
	double b[8];
	struct verdict v;

	(void)state;
	scaled8(0.5, b);
	for (size_t n = 1; n <= 8; n++) {
		v = compare(base8, n, b, n, VERDICT_HIGHER);
		if (n >= 5) {
			expect(&v, VERDICT_REGRESSION);
			continue;
		}
		expect(&v, VERDICT_UNKNOWN);
		assert_contains(v.reason, "few boots");
		assert_contains(v.reason, "5 a side");
		assert_contains(v.reason, floors[n - 1]);
		assert_int_equal(v.more_boots, 5 - n);
	}
	/* One lucky boot against many is no evidence, whatever p can reach. */
	v = compare(base8, 8, b, 2, VERDICT_HIGHER);
	expect(&v, VERDICT_UNKNOWN);
	assert_contains(v.reason, "8 and 2");
}

static void test_a_side_without_boots_is_named(void **state)
{
	struct verdict v;

	(void)state;
	v = compare(base8, 0, base8, 8, VERDICT_HIGHER);
	expect(&v, VERDICT_UNKNOWN);
	assert_false(v.has_p || v.has_effect || v.has_interval);
	assert_contains(v.reason, "the baseline has");
	v = compare(base8, 8, base8, 0, VERDICT_HIGHER);
	assert_contains(v.reason, "the other side has");
	v = compare(base8, 0, base8, 0, VERDICT_HIGHER);
	assert_contains(v.reason, "both sides have");
}

/* boots[i] iterations are level[i] + small noise; more of them make no boot. */
static struct verdict_side side_of(struct boots *b, double (*values)[25], const double *levels,
				   size_t n, size_t iterations, struct stats_rng *r)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < iterations; k++)
			values[i][k] = levels[i] * (1 + 0.001 * stats_rng_normal(r));
		b->b[i] = (struct verdict_boot){values[i], iterations};
	}
	return (struct verdict_side){b->b, n};
}

static void test_iterations_of_one_boot_confirm_nothing(void **state)
{
	/* Row 43: one boot a side, 25 iterations each, 5 % apart. */
	static const double one[1] = {100}, other[1] = {95};
	double va[1][25], vb[1][25];
	struct stats_rng r = {43};
	struct boots a, b;
	struct verdict_side sa = side_of(&a, va, one, 1, 25, &r);
	struct verdict_side sb = side_of(&b, vb, other, 1, 25, &r);
	struct verdict v;

	(void)state;
	v = pair_of(&sa, &sb, VERDICT_HIGHER, NULL);
	expect(&v, VERDICT_UNKNOWN);
	assert_true(v.p_iterations < 1e-6);
	near(v.p, 1, 1e-12);
	assert_int_equal(v.boots[0], 1);
	assert_int_equal(v.iterations[0], 25);
	assert_contains(v.reason, "few boots: 1 and 1");
}

static void test_levels_that_disagree_are_unstable(void **state)
{
	/* Boots spread by 3 %; by chance B has more of the low ones. */
	static const double la[6] = {100, 103, 101, 104, 99, 102};
	static const double lb[6] = {98, 101.5, 99.5, 100.5, 97.5, 101.2};
	double va[6][25], vb[6][25];
	struct stats_rng r = {1};
	struct boots a, b;
	struct verdict_side sa = side_of(&a, va, la, 6, 25, &r);
	struct verdict_side sb = side_of(&b, vb, lb, 6, 25, &r);
	struct verdict v;

	(void)state;
	v = pair_of(&sa, &sb, VERDICT_HIGHER, NULL);
	assert_true(v.p > 0.01 && v.p_iterations <= 0.01 && v.boots_differ);
	expect(&v, VERDICT_UNSTABLE);
	assert_contains(v.reason, "between-boot variance");
	/* The same boots with their medians only: not known, that is all. */
	for (size_t i = 0; i < 6; i++)
		a.b[i].n = b.b[i].n = 1;
	v = pair_of(&sa, &sb, VERDICT_HIGHER, NULL);
	expect(&v, VERDICT_UNKNOWN);
	assert_false(v.boots_differ);
	near(v.p_iterations, v.p, 0);
}

static void test_boots_that_carry_the_difference_are_not_unstable(void **state)
{
	static const double la[6] = {100, 101, 100.5, 101.5, 99, 100.2};
	static const double lb[6] = {90, 91, 90.5, 91.5, 89, 90.2};
	double va[6][25], vb[6][25];
	struct stats_rng r = {2};
	struct boots a, b;
	struct verdict_side sa = side_of(&a, va, la, 6, 25, &r);
	struct verdict_side sb = side_of(&b, vb, lb, 6, 25, &r);
	struct verdict v = pair_of(&sa, &sb, VERDICT_LOWER, NULL);

	(void)state;
	expect(&v, VERDICT_IMPROVEMENT);
	assert_true(v.boots_differ);
}

static void test_a_boots_value_is_the_median_of_its_iterations(void **state)
{
	static const double a[5][3] = {
		{1, 100, 9999}, {2, 101, 9999}, {3, 102, 9999}, {4, 103, 9999}, {5, 104, 9999}};
	struct boots x, y;
	struct verdict_side sa = {x.b, 5}, sb = {y.b, 5};
	static const double b[5] = {110, 111.1, 112.2, 113.3, 114.4};
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		x.b[i] = (struct verdict_boot){a[i], 3};
		y.b[i] = (struct verdict_boot){&b[i], 1};
	}
	v = pair_of(&sa, &sb, VERDICT_HIGHER, NULL);
	near(v.effect_pct, 10, 1e-9);
	near(v.p, 2.0 / 252, 1e-12);
	expect(&v, VERDICT_IMPROVEMENT);
}

static void test_a_gate_wants_eight_boots_and_holm(void **state)
{
	struct verdict_policy policy, policies[7];
	struct verdict v[7];
	double b[8];
	struct boots x, y;
	struct verdict_side sa, sb;

	(void)state;
	verdict_policy_init(&policy);
	policy.gate = true;
	scaled8(0.5, b);
	for (size_t n = 5; n <= 8; n++) {
		sa = singles(&x, base8, n);
		sb = singles(&y, b, n);
		v[0] = pair_of(&sa, &sb, VERDICT_HIGHER, &policy);
		expect(&v[0], n < 8 ? VERDICT_UNKNOWN : VERDICT_REGRESSION);
		if (n < 8) {
			assert_contains(v[0].reason, "a gate needs 8 a side");
			assert_int_equal(v[0].more_boots, 8 - n);
		}
		/* Few boots make no 'same' in a gate either. */
		v[0] = pair_of(&sa, &sa, VERDICT_HIGHER, &policy);
		if (n < 8)
			expect(&v[0], VERDICT_UNKNOWN);
	}
	for (size_t i = 0; i < 7; i++) {
		policies[i] = policy;
		assert_int_equal(
			verdict_pair(&sa, i ? &sa : &sb, VERDICT_HIGHER, &policy, &v[i], NULL), 0);
	}
	assert_int_equal(verdict_family(v, policies, 7), 0);
	near(v[0].q, 7 * v[0].p, 1e-12);
	expect(&v[0], VERDICT_REGRESSION);
}

static void test_q_counts_all_pairs_of_the_report(void **state)
{
	enum { PAIRS = 100 };
	static struct verdict v[PAIRS];
	static struct verdict_policy policies[PAIRS];
	double b[8];
	struct boots x, y;
	struct verdict_side sa = singles(&x, base8, 5), sb;

	(void)state;
	scaled8(0.5, b);
	sb = singles(&y, b, 5);
	for (size_t i = 0; i < PAIRS; i++) {
		verdict_policy_init(&policies[i]);
		assert_int_equal(verdict_pair(&sa, i ? &sa : &sb, VERDICT_HIGHER, &policies[i],
					      &v[i], NULL),
				 0);
	}
	assert_int_equal(verdict_family(v, policies, PAIRS), 0);
	near(v[0].q, PAIRS * 2.0 / 252, 1e-9);
	expect(&v[0], VERDICT_UNKNOWN);
	assert_contains(v[0].reason, "among 100 comparisons");
	/* What is not compared does not count. */
	for (size_t i = 1; i < PAIRS - 1; i++)
		v[i].word = VERDICT_INCOMPARABLE;
	v[0].word = v[PAIRS - 1].word = VERDICT_NONE;
	snprintf(v[1].reason, sizeof(v[1].reason), "other machine");
	assert_int_equal(verdict_family(v, policies, PAIRS), 0);
	near(v[0].q, 2 * 2.0 / 252, 1e-9);
	expect(&v[0], VERDICT_REGRESSION);
	expect(&v[1], VERDICT_INCOMPARABLE);
	assert_string_equal(v[1].reason, "other machine");
	assert_int_equal(verdict_family(NULL, NULL, 0), 0);
}

static void test_min_effects_are_each_pairs_own(void **state)
{
	struct verdict_policy policies[2];
	struct verdict v[2];
	double b[8];
	struct boots x, y;
	struct verdict_side sa = singles(&x, base8, 8), sb;

	(void)state;
	scaled8(1.03, b);
	sb = singles(&y, b, 8);
	for (size_t i = 0; i < 2; i++) {
		verdict_policy_init(&policies[i]);
		policies[i].min_effect_pct = i ? 5 : 1;
		assert_int_equal(verdict_pair(&sa, &sb, VERDICT_HIGHER, &policies[i], &v[i], NULL),
				 0);
	}
	assert_int_equal(verdict_family(v, policies, 2), 0);
	expect(&v[0], VERDICT_IMPROVEMENT);
	expect(&v[1], VERDICT_SAME);
}

static void test_an_interval_near_zero_is_no_change_yet(void **state)
{
	/* Effect above 1 %, p below 0.01, the interval begins at less than 0.625 %. */
	static const double a[10] = {100, 100.9, 99.2, 101.3, 98.9, 100.4, 99.7, 101, 99.4, 100.1};
	double b[10];
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < 10; i++)
		b[i] = a[i] * 1.0125;
	v = compare(a, 10, b, 10, VERDICT_HIGHER);
	assert_true(v.p <= 0.01 && v.effect_pct >= 1 && v.lo_pct > 0);
	assert_true(v.lo_pct < VERDICT_NEAR_SHARE);
	expect(&v, VERDICT_UNKNOWN);
	assert_true(v.more_boots > 0);
}

static void test_constant_sides_have_answers(void **state)
{
	static const double a[5] = {100, 100, 100, 100, 100}, b[5] = {90, 90, 90, 90, 90};
	struct verdict v = compare(a, 5, a, 5, VERDICT_HIGHER);

	(void)state;
	expect(&v, VERDICT_SAME);
	near(v.p, 1, 0);
	assert_true(v.effect_pct == 0 && v.lo_pct == 0 && v.hi_pct == 0);
	v = compare(a, 5, b, 5, VERDICT_HIGHER);
	expect(&v, VERDICT_REGRESSION);
	near(v.effect_pct, -10, 1e-9);
	near(v.lo_pct, -10, 1e-9);
	near(v.p, 2.0 / 252, 1e-12);
	v = compare(a, 1, a, 1, VERDICT_HIGHER);
	expect(&v, VERDICT_UNKNOWN);
	near(v.effect_pct, 0, 0);
	assert_false(v.has_interval || v.has_welch);
}

static void test_zeros_and_negative_values_go_by_the_median_of_the_baseline(void **state)
{
	static const double a[5] = {-100, -101, -99, -100.5, -99.5};
	static const double b[5] = {-50, -51, -49, -50.5, -49.5};
	static const double zero[5] = {0, 0, 0, 0, 0}, few[5] = {3, 4, 5, 6, 7};
	static const double mixed[5] = {0, 100, 101, 99, 100};
	struct verdict v = compare(a, 5, b, 5, VERDICT_HIGHER);

	(void)state;
	near(v.effect_pct, 50, 1e-9); /* up by half of 100 */
	assert_false(v.has_log);
	expect(&v, VERDICT_IMPROVEMENT);
	v = compare(zero, 5, zero, 5, VERDICT_LOWER);
	expect(&v, VERDICT_SAME);
	assert_true(v.has_effect && v.effect_pct == 0);
	/* Errors that were none before. */
	v = compare(zero, 5, few, 5, VERDICT_LOWER);
	expect(&v, VERDICT_REGRESSION);
	assert_false(v.has_effect || v.has_interval);
	assert_contains(v.reason, "no percentage");
	v = compare(few, 5, zero, 5, VERDICT_LOWER);
	expect(&v, VERDICT_IMPROVEMENT);
	near(v.effect_pct, 100, 1e-9);
	v = compare(mixed, 5, mixed, 5, VERDICT_HIGHER);
	assert_true(v.has_effect && v.effect_pct == 0 && !v.has_log);
}

static void test_what_is_no_number_is_refused_by_its_place(void **state)
{
	static const double bad[3] = {NAN, INFINITY, -INFINITY};
	struct verdict_policy policy;
	struct boots x, y;
	struct verdict_side a = singles(&x, base8, 8), b;
	struct verdict v = {.p = 42};
	double values[8];
	struct kg_err err;

	(void)state;
	verdict_policy_init(&policy);
	for (size_t i = 0; i < 3; i++) {
		scaled8(1, values);
		values[3] = bad[i];
		b = singles(&y, values, 8);
		assert_int_equal(verdict_pair(&a, &b, VERDICT_HIGHER, &policy, &v, &err),
				 KG_EINVALID);
		assert_contains(err.text, "boot 4 of the other side");
		assert_int_equal(verdict_pair(&b, &a, VERDICT_HIGHER, &policy, &v, &err),
				 KG_EINVALID);
		assert_contains(err.text, "boot 4 of the baseline");
	}
	y.b[3].n = 0;
	assert_int_equal(verdict_pair(&a, &b, VERDICT_HIGHER, &policy, &v, &err), KG_EINVALID);
	assert_contains(err.text, "has no value");
	policy.level = 1;
	assert_int_equal(verdict_pair(&a, &a, VERDICT_HIGHER, &policy, &v, &err), KG_EINVALID);
	near(v.p, 42, 0); /* written only on success */
}

static void test_extreme_numbers_leave_finite_ones(void **state)
{
	static const double rows[][5] = {
		{5e-324, 1e-323, 1.5e-323, 2e-323, 2.5e-323},
		{1e308, 1.1e308, 1.2e308, 1.3e308, 1.7e308},
		{-1e308, -1.1e308, -1.2e308, -1.3e308, -1.7e308},
		{1, 1.1, 1.2, 1.3, 1.4},
		{0, 0, 0, 0, 0},
		{-5e-324, 0, 5e-324, 1e308, -1e308},
		{1e150, 1e150, 1e150, 1e150, 1e150},
		{1e9, 1e9 + 1e-6, 1e9 + 2e-6, 1e9 + 3e-6, 1e9},
	};

	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		for (size_t k = 0; k < N(rows); k++) {
			struct verdict v = compare(rows[i], 5, rows[k], 5, VERDICT_LOWER);
			double all[] = {v.effect_pct,
					v.lo_pct,
					v.hi_pct,
					v.p,
					v.q,
					v.p_worse,
					v.cliffs_delta,
					v.log_ratio,
					v.log_se,
					v.noise_pct,
					v.effect_iterations_pct};

			for (size_t m = 0; m < N(all); m++) {
				if (!isfinite(all[m]))
					fail_msg("rows %zu, %zu: number %zu is %g", i, k, m,
						 all[m]);
			}
			assert_true(!v.has_interval || v.lo_pct <= v.hi_pct);
			assert_true(!v.has_interval ||
				    (v.lo_pct <= v.effect_pct && v.effect_pct <= v.hi_pct));
			assert_true(v.word != VERDICT_NONE);
			if (i == k)
				assert_false(v.word == VERDICT_REGRESSION ||
					     v.word == VERDICT_IMPROVEMENT);
		}
	}
}

static void test_the_interval_lies_between_the_two_of_order_statistics(void **state)
{
	struct stats_rng r = {11};

	(void)state;
	for (size_t n = 4; n <= VERDICT_SHIFT_EXACT; n++) {
		double x[VERDICT_SHIFT_EXACT], y[VERDICT_SHIFT_EXACT];
		struct stats_shift wide, ours, narrow;

		for (size_t i = 0; i < n; i++) {
			x[i] = stats_rng_normal(&r);
			y[i] = stats_rng_normal(&r);
		}
		assert_int_equal(stats_shift(x, n, y, n, 0.95, &wide, NULL), 0);
		assert_int_equal(verdict_shift(x, n, y, n, 0.95, &ours, NULL), 0);
		assert_int_equal(stats_shift(x, n, y, n, 0.9, &narrow, NULL), 0);
		assert_true(wide.has_interval && ours.has_interval);
		near(ours.shift, wide.shift, 1e-12);
		assert_true(wide.lo <= ours.lo && ours.hi <= wide.hi);
		if (n >= 8)
			assert_true(ours.lo <= narrow.lo && narrow.hi <= ours.hi);
	}
}

static void test_places_meet_where_the_normal_approximation_begins(void **state)
{
	const size_t n = VERDICT_SHIFT_EXACT;
	double exact = verdict_shift_place(n, n, 0.95), above = verdict_shift_place(n, n + 1, 0.95);
	double below = verdict_shift_place(n, n - 1, 0.95);

	(void)state;
	/* One more value moves it about as much as the one before did. */
	near(above - exact, exact - below, 0.5);
	assert_true(above > exact && exact > below);
}

static void test_an_interval_excludes_zero_when_p_is_below_its_complement(void **state)
{
	struct stats_rng r = {12};

	(void)state;
	for (size_t i = 0; i < 3000; i++) {
		size_t n = 4 + i % 9, m = 4 + i / 9 % 9;
		double x[12], y[12];
		struct stats_shift s;
		struct stats_mwu u;

		for (size_t k = 0; k < 12; k++) {
			x[k] = stats_rng_normal(&r) + 1;
			y[k] = stats_rng_normal(&r);
		}
		assert_int_equal(verdict_shift(x, n, y, m, 0.95, &s, NULL), 0);
		assert_int_equal(stats_mwu(x, n, y, m, &u, NULL), 0);
		if (u.p <= 0.05)
			assert_true(s.lo > 0 || s.hi < 0);
		assert_true(!s.has_interval || (s.lo <= s.shift && s.shift <= s.hi));
	}
}

static void test_level_is_the_median_of_the_boots(void **state)
{
	struct verdict_level l;
	struct boots x;
	struct verdict_side s = singles(&x, base8, 8);
	struct kg_err err;

	(void)state;
	assert_int_equal(verdict_level(&s, 0.95, &l, NULL), 0);
	near(l.value, 100.05, 1e-12);
	/* 8 values: the extremes hold the median with 99.2 %, the next ones with 93 % only. */
	assert_true(l.has_interval && l.lo == 99 && l.hi == 101);
	assert_true(l.has_cov && l.cov_pct > 0.5 && l.cov_pct < 0.7);
	for (s.n = 1; s.n < 5; s.n++) {
		assert_int_equal(verdict_level(&s, 0.95, &l, NULL), 0);
		assert_false(l.has_interval);
		assert_int_equal(l.has_cov, s.n > 1);
	}
	assert_int_equal(verdict_level(&s, 0.95, &l, NULL), 0);
	assert_true(l.has_interval && l.lo >= 99 && l.hi <= 101 && l.lo < l.value &&
		    l.value < l.hi);
	s.n = 0;
	assert_int_equal(verdict_level(&s, 0.95, &l, &err), KG_EINVALID);
	x.b[0] = (struct verdict_boot){&(double){NAN}, 1};
	s.n = 1;
	assert_int_equal(verdict_level(&s, 0.95, &l, &err), KG_EINVALID);
	assert_contains(err.text, "not finite");
}

static void test_two_modes_are_noticed(void **state)
{
	struct stats_rng r = {5};
	double a[40], b[40];
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		a[i] = 100 + stats_rng_normal(&r);
		b[i] = (i % 2 ? 100 : 120) + stats_rng_normal(&r);
	}
	v = compare(a, 40, b, 40, VERDICT_HIGHER);
	assert_false(v.multimodal[0]);
	assert_true(v.multimodal[1]);
}

static void test_modes_of_iterations_are_those_within_boots(void **state)
{
	static const double levels[12] = {100, 104, 97, 102, 99, 106, 95, 101, 103, 98, 96, 105};
	double va[12][25], vb[12][25];
	struct stats_rng r = {6};
	struct boots a, b;
	struct verdict_side sa = side_of(&a, va, levels, 12, 25, &r);
	struct verdict_side sb = side_of(&b, vb, levels, 12, 25, &r);
	struct verdict v;

	(void)state;
	/* In every boot of B each second iteration is slow. */
	for (size_t i = 0; i < 12; i++) {
		for (size_t k = 1; k < 25; k += 2)
			vb[i][k] *= 1.05;
	}
	v = pair_of(&sa, &sb, VERDICT_HIGHER, NULL);
	assert_false(v.multimodal[0]); /* boots that differ are no modes */
	assert_true(v.multimodal[1]);
}

static void test_everything_moved_is_most_of_them_to_one_side(void **state)
{
	struct verdict v[8] = {{.has_p = true}};

	(void)state;
	for (size_t i = 0; i < 8; i++)
		v[i] = (struct verdict){.has_p = true, .word = VERDICT_REGRESSION, .sign = -1};
	assert_true(verdict_everything_moved(v, 8));
	assert_false(verdict_everything_moved(v, 3)); /* too few to say that of a machine */
	assert_false(verdict_everything_moved(v, 0));
	v[0].word = v[1].word = v[2].word = VERDICT_UNKNOWN;
	assert_true(verdict_everything_moved(v, 8));
	v[3].word = VERDICT_UNKNOWN;
	assert_false(verdict_everything_moved(v, 8)); /* four of eight are not most */
	v[1].word = v[2].word = v[3].word = VERDICT_REGRESSION;
	v[0].word = VERDICT_SAME;
	assert_true(verdict_everything_moved(v, 8));
	v[1].word = VERDICT_SAME; /* two that are proven to stand still: not the environment */
	assert_false(verdict_everything_moved(v, 8));
	for (size_t i = 0; i < 8; i++) {
		v[i].word = i % 2 ? VERDICT_IMPROVEMENT : VERDICT_REGRESSION;
		v[i].sign = i % 2 ? 1 : -1;
	}
	assert_false(verdict_everything_moved(v, 8)); /* not together */
	for (size_t i = 0; i < 8; i++)
		v[i] = (struct verdict){.has_p = true, .word = VERDICT_DIFFERENT, .sign = 1};
	assert_true(verdict_everything_moved(v, 8));
	for (size_t i = 0; i < 5; i++)
		v[i].word = VERDICT_INCOMPARABLE;
	assert_false(verdict_everything_moved(v, 8)); /* three are left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_read_back),
		cmocka_unit_test(test_the_word_follows_the_declared_direction_only),
		cmocka_unit_test(test_p_worse_is_one_sided),
		cmocka_unit_test(test_same_needs_the_whole_interval_inside),
		cmocka_unit_test(test_too_few_boots_are_said_with_the_number_that_would_do),
		cmocka_unit_test(test_a_side_without_boots_is_named),
		cmocka_unit_test(test_iterations_of_one_boot_confirm_nothing),
		cmocka_unit_test(test_levels_that_disagree_are_unstable),
		cmocka_unit_test(test_boots_that_carry_the_difference_are_not_unstable),
		cmocka_unit_test(test_a_boots_value_is_the_median_of_its_iterations),
		cmocka_unit_test(test_a_gate_wants_eight_boots_and_holm),
		cmocka_unit_test(test_q_counts_all_pairs_of_the_report),
		cmocka_unit_test(test_min_effects_are_each_pairs_own),
		cmocka_unit_test(test_an_interval_near_zero_is_no_change_yet),
		cmocka_unit_test(test_constant_sides_have_answers),
		cmocka_unit_test(test_zeros_and_negative_values_go_by_the_median_of_the_baseline),
		cmocka_unit_test(test_what_is_no_number_is_refused_by_its_place),
		cmocka_unit_test(test_extreme_numbers_leave_finite_ones),
		cmocka_unit_test(test_the_interval_lies_between_the_two_of_order_statistics),
		cmocka_unit_test(test_places_meet_where_the_normal_approximation_begins),
		cmocka_unit_test(test_an_interval_excludes_zero_when_p_is_below_its_complement),
		cmocka_unit_test(test_level_is_the_median_of_the_boots),
		cmocka_unit_test(test_two_modes_are_noticed),
		cmocka_unit_test(test_modes_of_iterations_are_those_within_boots),
		cmocka_unit_test(test_everything_moved_is_most_of_them_to_one_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
