/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fails each allocation of each statistic in turn: -ENOMEM, or the right answer without it. */
#include "tests/unit/analysis/numbers.h"

#include <errno.h>

#include "coordinator/analysis/adjust.h"
#include "coordinator/analysis/bootstrap.h"
#include "coordinator/analysis/compat.h"
#include "coordinator/analysis/modes.h"
#include "coordinator/analysis/rank.h"
#include "coordinator/analysis/summary.h"
#include "coordinator/analysis/vectors.h"
#include "tests/lib/alloc_fault.h"

#define N 2000 /* sorted by radix, and beyond the exact methods */

static double *x, *y;

/* Each gives its code, and one number of the answer. */
typedef int (*call)(double *ret, struct kg_err *err);

static int call_summary(double *ret, struct kg_err *err)
{
	struct stats_summary s = {0};
	int rc = stats_summarise(x, N, &s, err);

	*ret = s.mad;
	return rc;
}

static int call_mwu_normal(double *ret, struct kg_err *err)
{
	struct stats_mwu m = {0};
	int rc = stats_mwu(x, N, y, N, &m, err);

	*ret = m.p;
	return rc;
}

static int call_mwu_exact(double *ret, struct kg_err *err)
{
	struct stats_mwu m = {0};
	int rc = stats_mwu(x, 6, y, 7, &m, err);

	*ret = m.p;
	return rc;
}

static int call_mwu_ties(double *ret, struct kg_err *err)
{
	const double a[] = {1, 2, 2, 3}, b[] = {2, 3, 4};
	struct stats_mwu m = {0};
	int rc = stats_mwu(a, 4, b, 3, &m, err);

	*ret = m.p;
	return rc;
}

static int call_shift(double *ret, struct kg_err *err)
{
	struct stats_shift s = {0};
	int rc = stats_shift(x, N, y, N, 0.95, &s, err);

	*ret = s.lo;
	return rc;
}

static int call_shift_exact(double *ret, struct kg_err *err)
{
	struct stats_shift s = {0};
	int rc = stats_shift(x, 8, y, 9, 0.95, &s, err);

	*ret = s.lo;
	return rc;
}

static int call_center(double *ret, struct kg_err *err)
{
	*ret = 0;
	return stats_center(x, N, ret, err);
}

static int call_ks(double *ret, struct kg_err *err)
{
	double d;

	*ret = 0;
	return stats_ks(x, 100, y, 120, &d, ret, err);
}

static int call_bootstrap(double *ret, struct kg_err *err)
{
	struct bootstrap_interval b = {0};
	int rc = bootstrap_bca(x, 10, bootstrap_mean, 100, 1, 0.95, &b, err);

	*ret = b.hi;
	return rc;
}

static int call_modes(double *ret, struct kg_err *err)
{
	struct modes_result m = {0};
	int rc = modes_find(x, 12, 1, &m, err);

	*ret = m.p;
	return rc;
}

static int call_adjust(double *ret, struct kg_err *err)
{
	double p[] = {0.1, 0.2, 0.01};
	int rc = stats_adjust(STATS_ADJUST_BH, p, 3, p);

	(void)err;
	*ret = rc == 0 ? p[0] : 0;
	return rc;
}

static int call_best95(double *ret, struct kg_err *err)
{
	(void)err;
	*ret = compat_best95(x, N, true);
	return isnan(*ret) ? -ENOMEM : 0;
}

static void test_every_allocation_may_fail(void **state)
{
	static const call calls[] = {
		call_summary,	call_mwu_normal,  call_mwu_exact, call_mwu_ties,
		call_shift,	call_shift_exact, call_center,	  call_ks,
		call_bootstrap, call_modes,	  call_adjust,	  call_best95,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(calls); i++) {
		struct kg_err err = {{0}};
		double want, got;
		unsigned n, refused = 0;
		bool failed = true;

		assert_int_equal(calls[i](&want, &err), 0);
		for (n = 1; failed; n++) {
			int rc;

			alloc_fault_arm(n);
			rc = calls[i](&got, &err);
			failed = alloc_fault_disarm();
			if (rc == 0)
				assert_true(got == want);
			else
				assert_int_equal(rc, -ENOMEM);
			refused += rc != 0;
		}
		assert_true(refused > 0);
	}
}

static void test_vectors_leave_nothing_behind(void **state)
{
	static const char file[] =
		"{\"cases\": [{\"id\": \"a\", \"op\": \"mwu_exact\", \"input\": {\"x\": [1, 2], "
		"\"y\": [3]}, \"expect\": {\"U\": 0, \"p\": 0.666666666666}}]}";
	bool failed = true;

	(void)state;
	for (unsigned n = 1; failed; n++) {
		struct vectors_report r;
		struct kg_err err = {{0}};
		int rc;

		alloc_fault_arm(n);
		rc = vectors_run(file, sizeof(file) - 1, &r, &err);
		failed = alloc_fault_disarm();
		if (rc == 0) {
			assert_int_equal(r.pass, 1);
			vectors_report_deinit(&r);
		}
		assert_true(rc == 0 || failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_allocation_may_fail),
		cmocka_unit_test(test_vectors_leave_nothing_behind),
	};
	int rc;

	x = draw(N, 10, 1, 0, 1);
	y = draw(N, 10.1, 1, 0, 2);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(x);
	free(y);
	return rc;
}
