/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds for verdicts of any data, over random ones. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "coordinator/analysis/rng.h"
#include "coordinator/analysis/verdict.h"
#include "tests/lib/alloc_fault.h"
#include "tests/lib/cmocka_all.h"

#define BOOTS	   20
#define ITERATIONS 9
#define CASES	   400
#ifdef KGRID_SANITIZED /* ten times as slow; what it looks for shows with fewer values */
#define LARGE 1000000
#else
#define LARGE 10000000
#endif

/* Boots with iterations, of one side. */
struct sample {
	double values[BOOTS][ITERATIONS];
	struct verdict_boot boots[BOOTS];
	struct verdict_side side;
};

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance * fmax(1, fabs(want))))
		fail_msg("%.12g, not %.12g", got, want);
}

static void bind(struct sample *s, size_t n, size_t iterations)
{
	for (size_t i = 0; i < n; i++)
		s->boots[i] = (struct verdict_boot){s->values[i], iterations};
	s->side = (struct verdict_side){s->boots, n};
}

static void copy(const struct sample *from, struct sample *to)
{
	memcpy(to->values, from->values, sizeof(to->values));
	bind(to, from->side.n, from->boots[0].n);
}

/* Noise of several shapes; every third case rounded, so that there are ties. */
static void make(struct sample *s, size_t n, size_t iterations, double level, unsigned which,
		 struct stats_rng *r)
{
	double between = which % 4 == 0 ? 0.002 : 0.02;

	for (size_t i = 0; i < n; i++) {
		double boot = between * stats_rng_normal(r);

		if (which % 5 == 1)
			boot = -between * log(1 - stats_rng_uniform(r));
		if (which % 5 == 2 && stats_rng_uniform(r) < 0.3)
			boot += 0.05;
		for (size_t k = 0; k < iterations; k++) {
			double v = level * exp(boot + 0.005 * stats_rng_normal(r));

			s->values[i][k] = which % 3 == 0 ? round(v) : v;
		}
	}
	bind(s, n, iterations);
}

struct two {
	struct sample a, b;
	struct verdict_policy policy;
};

static void make_two(struct two *t, unsigned which, struct stats_rng *r)
{
	static const double factors[] = {1, 1.005, 1.02, 0.95, 1.2};
	size_t iterations = which % 2 ? 1 : 1 + stats_rng_index(r, ITERATIONS);

	make(&t->a, 1 + stats_rng_index(r, BOOTS), iterations, 200, which, r);
	make(&t->b, 1 + stats_rng_index(r, BOOTS), iterations, 200 * factors[which % 5], which, r);
	verdict_policy_init(&t->policy);
	t->policy.brief = true;
}

static struct verdict decide(const struct sample *a, const struct sample *b,
			     enum verdict_direction direction, const struct verdict_policy *policy)
{
	struct verdict v;
	struct kg_err err = {""};

	if (verdict_pair(&a->side, &b->side, direction, policy, &v, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(verdict_family(&v, policy, 1), 0);
	return v;
}

static enum verdict_word flipped(enum verdict_word w)
{
	return w == VERDICT_REGRESSION	  ? VERDICT_IMPROVEMENT
	       : w == VERDICT_IMPROVEMENT ? VERDICT_REGRESSION
					  : w;
}

/* The same numbers but for rounding; words too, unless an effect is at a bound. */
static void same_answers(const struct verdict *x, const struct verdict *y)
{
	near(y->p, x->p, 1e-9);
	near(y->effect_pct, x->effect_pct, 1e-9);
	assert_int_equal(y->has_interval, x->has_interval);
	near(y->lo_pct, x->lo_pct, 1e-9);
	near(y->hi_pct, x->hi_pct, 1e-9);
	near(y->p_worse, x->p_worse, 1e-9);
	near(y->p_iterations, x->p_iterations, 1e-9);
	near(y->noise_pct, x->noise_pct, 1e-7);
	near(y->cliffs_delta, x->cliffs_delta, 1e-9);
	assert_int_equal(y->boots_differ, x->boots_differ);
	assert_int_equal(y->word, x->word);
}

static void test_a_unit_changes_nothing(void **state)
{
	static const double units[] = {1e-6, 3.7, 1e9}, exact[] = {0x1p-40, 0x1p100, 0.25};
	struct stats_rng r = {101};

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		struct two t;
		struct verdict before, after;
		/* Medians of two that tie must do so in the other unit too: no rounding then. */
		double unit = (i % 3 ? units : exact)[i / 3 % 3];

		make_two(&t, i, &r);
		before = decide(&t.a, &t.b, VERDICT_LOWER, &t.policy);
		for (size_t m = 0; m < BOOTS; m++) {
			for (size_t k = 0; k < ITERATIONS; k++) {
				t.a.values[m][k] *= unit;
				t.b.values[m][k] *= unit;
			}
		}
		after = decide(&t.a, &t.b, VERDICT_LOWER, &t.policy);
		same_answers(&before, &after);
	}
}

static void test_logarithms_that_are_stretched_stretch_the_effect(void **state)
{
	struct stats_rng r = {102};

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		struct two t;
		struct verdict before, after;

		make_two(&t, i | 1, &r); /* one iteration: a median of two is no power of them */
		before = decide(&t.a, &t.b, VERDICT_HIGHER, &t.policy);
		for (size_t m = 0; m < BOOTS; m++) {
			t.a.values[m][0] = pow(t.a.values[m][0], 2);
			t.b.values[m][0] = pow(t.b.values[m][0], 2);
		}
		after = decide(&t.a, &t.b, VERDICT_HIGHER, &t.policy);
		near(after.p, before.p, 0);
		near(after.log_ratio, 2 * before.log_ratio, 1e-9);
		near(after.log_se, 2 * before.log_se, 1e-9);
	}
}

/* r and 1 / r are not as many per cent: 1 % up is 0.99 % down. */
static bool at_a_bound(const struct verdict *v)
{
	const double numbers[3] = {v->effect_pct, v->lo_pct, v->hi_pct};

	for (size_t i = 0; i < 3; i++) {
		if (fabs(fabs(numbers[i]) - 1) < 0.02 ||
		    fabs(fabs(numbers[i]) - VERDICT_NEAR_SHARE) < 0.02)
			return true;
	}
	return fabs(fabs(v->effect_iterations_pct) - 1) < 0.02;
}

static void test_swapped_sides_turn_the_ratio_and_the_word(void **state)
{
	struct stats_rng r = {103};
	unsigned flips = 0;

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		enum verdict_direction d = (enum verdict_direction)(i % 3);
		struct verdict ab, ba;
		struct two t;
		double turn = d == VERDICT_LOWER ? -1 : 1;

		make_two(&t, i, &r);
		ab = decide(&t.a, &t.b, d, &t.policy);
		ba = decide(&t.b, &t.a, d, &t.policy);
		near(ba.p, ab.p, 1e-12);
		near((1 + turn * ba.effect_pct / 100) * (1 + turn * ab.effect_pct / 100), 1, 1e-9);
		if (ab.has_interval) {
			double lo = 1 + turn * ba.lo_pct / 100, hi = 1 + turn * ab.hi_pct / 100;

			near(lo * hi, 1, 1e-9);
		}
		near(ba.cliffs_delta, -ab.cliffs_delta, 1e-12);
		near(ba.sign, -ab.sign, 0);
		if (!at_a_bound(&ab)) {
			assert_int_equal(ba.word, flipped(ab.word));
			flips += ba.word != ab.word;
		}
	}
	assert_true(flips > CASES / 10);
}

static void test_the_other_direction_turns_the_sign_and_the_word(void **state)
{
	struct stats_rng r = {104};

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		struct verdict up, down, plain;
		struct two t;

		make_two(&t, i, &r);
		up = decide(&t.a, &t.b, VERDICT_HIGHER, &t.policy);
		down = decide(&t.a, &t.b, VERDICT_LOWER, &t.policy);
		plain = decide(&t.a, &t.b, VERDICT_NO_DIRECTION, &t.policy);
		near(down.effect_pct, -up.effect_pct, 0);
		near(down.lo_pct, -up.hi_pct, 0);
		near(down.cliffs_delta, -up.cliffs_delta, 0);
		assert_int_equal(down.word, flipped(up.word));
		near(plain.effect_pct, up.effect_pct, 0);
		assert_false(plain.word == VERDICT_REGRESSION || plain.word == VERDICT_IMPROVEMENT);
		assert_int_equal(plain.word == VERDICT_DIFFERENT,
				 up.word == VERDICT_REGRESSION || up.word == VERDICT_IMPROVEMENT);
	}
}

static void shuffle(struct sample *s, struct stats_rng *r)
{
	for (size_t i = s->side.n; i > 1; i--) {
		size_t k = stats_rng_index(r, (uint32_t)i);
		double row[ITERATIONS];

		memcpy(row, s->values[i - 1], sizeof(row));
		memcpy(s->values[i - 1], s->values[k], sizeof(row));
		memcpy(s->values[k], row, sizeof(row));
	}
	for (size_t i = 0; i < s->side.n; i++) {
		double first = s->values[i][0];
		size_t last = s->boots[i].n - 1;

		s->values[i][0] = s->values[i][last];
		s->values[i][last] = first;
	}
}

static void test_order_of_boots_and_iterations_does_not_count(void **state)
{
	struct stats_rng r = {105};

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		struct verdict before, after;
		struct two t, u;

		make_two(&t, i, &r);
		copy(&t.a, &u.a);
		copy(&t.b, &u.b);
		shuffle(&u.a, &r);
		shuffle(&u.b, &r);
		before = decide(&t.a, &t.b, VERDICT_LOWER, &t.policy);
		after = decide(&u.a, &u.b, VERDICT_LOWER, &t.policy);
		same_answers(&before, &after);
	}
}

static void test_a_repeated_iteration_is_no_new_boot(void **state)
{
	struct stats_rng r = {106};

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		struct verdict one, many;
		struct two t;

		make_two(&t, i | 1, &r);
		one = decide(&t.a, &t.b, VERDICT_LOWER, &t.policy);
		for (size_t m = 0; m < BOOTS; m++) {
			for (size_t k = 1; k < ITERATIONS; k++) {
				t.a.values[m][k] = t.a.values[m][0];
				t.b.values[m][k] = t.b.values[m][0];
			}
		}
		bind(&t.a, t.a.side.n, ITERATIONS);
		bind(&t.b, t.b.side.n, ITERATIONS);
		many = decide(&t.a, &t.b, VERDICT_LOWER, &t.policy);
		near(many.p, one.p, 0);
		near(many.effect_pct, one.effect_pct, 0);
		near(many.lo_pct, one.lo_pct, 0);
		/* It may make the levels disagree; it makes no change and hides none. */
		assert_int_equal(many.word == VERDICT_REGRESSION, one.word == VERDICT_REGRESSION);
		assert_int_equal(many.word == VERDICT_IMPROVEMENT, one.word == VERDICT_IMPROVEMENT);
	}
}

static void test_no_word_contradicts_its_interval(void **state)
{
	struct stats_rng r = {107};

	(void)state;
	for (unsigned i = 0; i < 10 * CASES; i++) {
		struct verdict v;
		struct two t;

		make_two(&t, i, &r);
		t.policy.gate = i % 7 == 0;
		v = decide(&t.a, &t.b, VERDICT_HIGHER, &t.policy);
		assert_true(!v.has_interval ||
			    (v.lo_pct <= v.effect_pct && v.effect_pct <= v.hi_pct));
		switch (v.word) {
		case VERDICT_REGRESSION:
			assert_true(v.has_interval && v.hi_pct < 0 && v.effect_pct <= -1);
			assert_true(v.p <= 0.01 && v.q <= 0.05 && v.p_worse <= 0.005 + 1e-12);
			break;
		case VERDICT_IMPROVEMENT:
			assert_true(v.has_interval && v.lo_pct > 0 && v.effect_pct >= 1);
			assert_true(v.p <= 0.01 && v.q <= 0.05);
			break;
		case VERDICT_SAME:
			assert_true(v.has_interval && v.lo_pct >= -1 && v.hi_pct <= 1);
			break;
		case VERDICT_UNSTABLE:
			assert_true(v.p > 0.01 && v.p_iterations <= 0.01);
			assert_string_not_equal(v.reason, "");
			break;
		case VERDICT_UNKNOWN:
			assert_string_not_equal(v.reason, "");
			break;
		default:
			fail_msg("no word");
		}
	}
}

/* Share of 250 experiments in which a change is told. */
static double power(size_t n, double factor, unsigned shape, struct stats_rng *r)
{
	const unsigned experiments = 250;
	unsigned found = 0;
	struct verdict_policy policy;

	verdict_policy_init(&policy);
	policy.brief = true;
	for (unsigned i = 0; i < experiments; i++) {
		struct sample a, b;

		/* Shapes 1, 2 and 4 of five, none of them rounded. */
		make(&a, n, 1, 1000, shape, r);
		make(&b, n, 1, 1000 * factor, shape, r);
		found += decide(&a, &b, VERDICT_LOWER, &policy).word == VERDICT_REGRESSION;
	}
	return (double)found / experiments;
}

static void test_more_boots_never_lose_a_regression(void **state)
{
	static const size_t sizes[] = {5, 8, 12, 20};
	static const double factors[] = {1.02, 1.05};
	static const unsigned shapes[] = {4, 11, 7, 14};
	struct stats_rng r = {108};

	(void)state;
	for (size_t s = 0; s < 4; s++) {
		for (size_t f = 0; f < 2; f++) {
			double last = 0;

			for (size_t k = 0; k < 4; k++) {
				double now = power(sizes[k], factors[f], shapes[s], &r);

				/* Three sigma of the difference of two shares at most. */
				if (now < last - 3 * sqrt(2 * 0.25 / 250))
					fail_msg("shape %u, %g: %g after %g at %zu a side",
						 shapes[s], factors[f], now, last, sizes[k]);
				last = fmax(last, now);
			}
		}
	}
}

static void test_ten_million_iterations_and_many_boots_have_an_answer(void **state)
{
	enum { VALUES = LARGE / 2, MANY = 3000 };
	struct verdict_policy policy;
	double *values = malloc(2 * sizeof(*values) * VALUES);
	struct verdict_boot *boots = malloc(2 * sizeof(*boots) * MANY);
	struct verdict_side a = {boots, 5}, b = {boots + MANY, 5};
	struct stats_rng r = {3};
	struct verdict v;

	(void)state;
	verdict_policy_init(&policy);
	assert_non_null(values);
	assert_non_null(boots);
	for (size_t i = 0; i < 2 * (size_t)VALUES; i++)
		values[i] = (i < VALUES ? 100 : 97) + stats_rng_uniform(&r);
	for (size_t i = 0; i < 5; i++) {
		boots[i] = (struct verdict_boot){&values[i * VALUES / 5], VALUES / 5};
		boots[MANY + i] =
			(struct verdict_boot){&values[VALUES + i * VALUES / 5], VALUES / 5};
	}
	assert_int_equal(verdict_pair(&a, &b, VERDICT_HIGHER, &policy, &v, NULL), 0);
	assert_int_equal(verdict_family(&v, &policy, 1), 0);
	assert_int_equal(v.word, VERDICT_REGRESSION);
	assert_int_equal(v.iterations[0] + v.iterations[1], 2 * (size_t)VALUES);
	/* Above the limit of the interpolated interval. */
	for (size_t i = 0; i < MANY; i++) {
		boots[i] = (struct verdict_boot){&values[i], 1};
		boots[MANY + i] = (struct verdict_boot){&values[VALUES + i], 1};
	}
	a.n = b.n = MANY;
	assert_int_equal(verdict_pair(&a, &b, VERDICT_HIGHER, &policy, &v, NULL), 0);
	assert_int_equal(verdict_family(&v, &policy, 1), 0);
	assert_int_equal(v.word, VERDICT_REGRESSION);
	near(v.effect_pct, -3, 0.01);
	assert_true(v.has_interval && v.hi_pct - v.lo_pct < 0.1);
	free(values);
	free(boots);
}

static void test_out_of_memory_is_said_at_every_place(void **state)
{
	struct stats_rng r = {110};
	struct verdict_policy policy;
	struct verdict v = {.p = 42};
	struct sample a, b;
	unsigned n;
	int rc;

	(void)state;
	make(&a, 12, 3, 1000, 1, &r);
	make(&b, 12, 3, 1000, 1, &r);
	verdict_policy_init(&policy);
	for (n = 1;; n++) {
		struct kg_err err = {""};

		alloc_fault_arm(n);
		rc = verdict_pair(&a.side, &b.side, VERDICT_LOWER, &policy, &v, &err);
		if (!alloc_fault_disarm())
			break;
		/* Welch's test stands beside: without memory it is left out. */
		if (rc != 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_string_not_equal(err.text, "");
		}
	}
	assert_int_equal(rc, 0);
	assert_true(n > 10);
	for (n = 1;; n++) {
		alloc_fault_arm(n);
		rc = verdict_family(&v, &policy, 1);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_unit_changes_nothing),
		cmocka_unit_test(test_logarithms_that_are_stretched_stretch_the_effect),
		cmocka_unit_test(test_swapped_sides_turn_the_ratio_and_the_word),
		cmocka_unit_test(test_the_other_direction_turns_the_sign_and_the_word),
		cmocka_unit_test(test_order_of_boots_and_iterations_does_not_count),
		cmocka_unit_test(test_a_repeated_iteration_is_no_new_boot),
		cmocka_unit_test(test_no_word_contradicts_its_interval),
		cmocka_unit_test(test_more_boots_never_lose_a_regression),
		cmocka_unit_test(test_ten_million_iterations_and_many_boots_have_an_answer),
		cmocka_unit_test(test_out_of_memory_is_said_at_every_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
