/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "cli/noise_text.h"
#include "tests/lib/cmocka_all.h"

static Kgrid__V1__NoiseReply reply;
static Kgrid__V1__NoiseProfile profiles[2], *list[2];
static double detectable[3];

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void make(void)
{
	size_t i;

	reply = (Kgrid__V1__NoiseReply)KGRID__V1__NOISE_REPLY__INIT;
	for (i = 0; i < 2; i++) {
		Kgrid__V1__NoiseProfile *p = &profiles[i];

		*p = (Kgrid__V1__NoiseProfile)KGRID__V1__NOISE_PROFILE__INIT;
		p->machine = s(i ? "lab-intel" : "lab-amd");
		p->workload = s("netperf");
		p->params = s("size=64");
		p->metric = s("rate");
		p->unit = s("1/s");
		p->boots = 12;
		p->has_median = p->has_between_cov_pct = p->has_within_cov_pct = 1;
		p->has_autocorrelation = p->has_false_positive_rate = 1;
		p->has_min_effect_pct = p->has_drift_pct_per_boot = 1;
		p->has_drift_lo = p->has_drift_hi = 1;
		p->median = 4500;
		p->between_cov_pct = 0.8;
		p->within_cov_pct = 0.31;
		p->autocorrelation = -0.12;
		p->false_positive_rate = 0.04;
		p->min_effect_pct = 2.4;
		p->drift_pct_per_boot = 0.01;
		p->drift_lo = -0.02;
		p->drift_hi = 0.04;
		list[i] = p;
	}
	detectable[0] = 2.1;
	detectable[1] = 1.5;
	detectable[2] = 1.2;
	profiles[0].n_detectable_pct = 3;
	profiles[0].detectable_pct = detectable;
	profiles[0].raised = 1;
	profiles[0].epoch = 2;
	profiles[0].every_seconds = 7 * 86400;
	reply.n_profiles = 2;
	reply.profiles = list;
}

static void test_profile_has_all_its_numbers_with_units(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make();
	noise_text(&reply, 200, false, &out);
	assert_contains(kg_str_text(&out), "lab-amd, epoch 2: - to -, repeated every 7 d 00 h\n");
	assert_contains(kg_str_text(&out),
			"  netperf size=64  rate       12  4500.00 1/s   0.80 %  0.31 %     -0.12  "
			"4.00 %  2.40 % raised  2.10 / 1.50 / 1.20 %  +0.010 % [-0.020, 0.040]\n");
	assert_contains(kg_str_text(&out), "lab-intel: - to -\n");
	assert_contains(kg_str_text(&out), "2.40 %           -  +0.010 %");
	kg_str_deinit(&out);
}

static void test_narrow_profiles_are_two_tables(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make();
	noise_text(&reply, 80, false, &out);
	assert_contains(kg_str_text(&out),
			"  netperf size=64  rate       12  4500.00 1/s   0.80 %  "
			"0.31 %     -0.12  4.00 %\n");
	assert_contains(kg_str_text(&out), "  netperf         rate    2.40 % raised  2.10 / 1.50 / "
					   "1.20 %  +0.010 % [-0.020,\n"
					   "  size=64                                              "
					   "        0.040]\n");
	kg_str_deinit(&out);
}

static void test_what_is_not_known_is_a_dash_not_0(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make();
	profiles[1].has_median = profiles[1].has_between_cov_pct = 0;
	profiles[1].within_cov_pct = NAN;
	profiles[1].has_autocorrelation = profiles[1].has_false_positive_rate = 0;
	profiles[1].has_min_effect_pct = profiles[1].has_drift_pct_per_boot = 0;
	list[0] = &profiles[1];
	reply.n_profiles = 1;
	noise_text(&reply, 200, false, &out);
	assert_contains(kg_str_text(&out),
			"   12       -        -       -         -       -      - "
			"          -  -\n");
	assert_null(strstr(kg_str_text(&out), "nan"));
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile_has_all_its_numbers_with_units),
		cmocka_unit_test(test_narrow_profiles_are_two_tables),
		cmocka_unit_test(test_what_is_not_known_is_a_dash_not_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
