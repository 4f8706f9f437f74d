/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "coordinator/report/kernel_version.h"

static const char *const ascending[] = {
	"",
	"mainline",
	"next-20251101",
	"2.6.32",
	"4.19.0-27-amd64",
	"5.4.0-9-generic",
	"5.4.0-200-generic",
	"5.10~rc1",
	"5.10",
	"6.1.0-9-amd64",
	"6.1.0-52-amd64",
	"6.1.9",
	"6.1.10",
	"6.12.0-0.rc2.20.fc42",
	"6.12",
	"6.12.0",
	"6.12.0-1",
	"6.12.9",
	"6.12.117",
	"6.12.117-lsm",
	"6.16-rc1",
	"6.16-rc2",
	"6.16.0-061600rc3-generic",
	"6.16-rc9",
	"6.16-rc10",
	"6.16-rc10+",
	"6.16-rc10-00012-gabcdef",
	"6.16",
	"6.16.0",
	"6.16+",
	"6.16.0-061600-generic",
	"6.16.1",
	"7.0.0-rc1-next-20260501",
	"7.0.0",
	"7.99999999999999999999999999999999999998",
	"7.99999999999999999999999999999999999999",
	"10.0",
};

#define N (sizeof(ascending) / sizeof(ascending[0]))

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void test_releases_stand_in_the_order_they_came_in(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		for (size_t k = 0; k < N; k++) {
			int want = (i > k) - (i < k);

			if (sign(kernel_version_compare(ascending[i], ascending[k])) != want)
				fail_msg("'%s' against '%s'", ascending[i], ascending[k]);
		}
	}
	assert_int_equal(kernel_version_compare(NULL, ""), 0);
	assert_true(kernel_version_compare(NULL, "6.1") < 0);
}

/* All texts of four of a few awkward characters: a sort needs an order without circles. */
static void test_order_is_total(void **state)
{
	static const char letters[] = "01.-~rc+";
	enum { LETTERS = 8, TEXTS = 600 };
	static char texts[TEXTS][8];
	size_t n = 0;

	(void)state;
	for (unsigned i = 0; n < TEXTS; i++) {
		unsigned v = i * 2654435761u >> 8;

		for (int k = 0; k < 6; k++, v /= LETTERS)
			texts[n][k] = letters[v % LETTERS];
		texts[n++][2 + i % 5] = '\0';
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			int ik = sign(kernel_version_compare(texts[i], texts[k]));

			assert_int_equal(ik, -sign(kernel_version_compare(texts[k], texts[i])));
			assert_int_equal(ik == 0, strcmp(texts[i], texts[k]) == 0);
		}
	}
	for (size_t i = 0; i < n; i += 3) {
		for (size_t k = 0; k < n; k += 3) {
			for (size_t j = 0; j < n; j += 3) {
				if (kernel_version_compare(texts[i], texts[k]) < 0 &&
				    kernel_version_compare(texts[k], texts[j]) < 0 &&
				    kernel_version_compare(texts[i], texts[j]) >= 0)
					fail_msg("'%s' '%s' '%s'", texts[i], texts[k], texts[j]);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_releases_stand_in_the_order_they_came_in),
		cmocka_unit_test(test_order_is_total),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
