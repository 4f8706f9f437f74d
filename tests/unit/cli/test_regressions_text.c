/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "cli/regressions_text.h"
#include "cli/width.h"
#include "tests/lib/cmocka_all.h"

static Kgrid__V1__Regression item;
static Kgrid__V1__RegressionMember members[3], *member_list[3];
static Kgrid__V1__RegressionEvent event, *events[1];

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void make(void)
{
	size_t i;

	item = (Kgrid__V1__Regression)KGRID__V1__REGRESSION__INIT;
	event = (Kgrid__V1__RegressionEvent)KGRID__V1__REGRESSION_EVENT__INIT;
	events[0] = &event;
	for (i = 0; i < 3; i++) {
		Kgrid__V1__RegressionMember *m = &members[i];

		*m = (Kgrid__V1__RegressionMember)KGRID__V1__REGRESSION_MEMBER__INIT;
		m->machine = s(i == 2 ? "lab-intel" : "lab-amd");
		m->workload = s("netperf");
		m->params = s(i == 1 ? "size=1024" : "size=64");
		m->metric = s("rate");
		m->unit = s("1/s");
		m->kernel = s("6.13");
		m->lsm = s("full");
		m->has_before = m->has_after = m->has_effect_pct = m->has_lo_pct = 1;
		m->has_hi_pct = m->has_p = m->has_q = 1;
		m->before = 4500;
		m->after = 4100;
		m->effect_pct = -8.79;
		m->lo_pct = -9.1;
		m->hi_pct = -8.4;
		m->p = 0.0002;
		m->q = 0.001;
		m->boots_before = m->boots_after = 8;
		m->source = s("block");
		m->job = 12;
		m->stage = s("candidate");
		member_list[i] = m;
	}
	item.id = 3;
	item.axis = s("kernel");
	item.from = s("6.12");
	item.to = s("6.13");
	item.state = s("open");
	item.stage = s("confirming");
	item.seen = 2;
	item.confirm_job = 14;
	item.n_members = 3;
	item.members = member_list;
	item.worst = s("-8.79 % [-9.1, -8.4] netperf size=64 on lab-amd");
}

static void test_list_has_boundary_state_worst_and_counts(void **state)
{
	Kgrid__V1__Regression *list[] = {&item};
	struct kg_str out = {0};

	(void)state;
	make();
	regressions_text(1, list, 200, false, &out);
	assert_string_equal(
		kg_str_text(&out),
		"ID  BOUNDARY             STATE  STAGE       MACHINES  PARAMS  JOBS  "
		"FIRST  LAST  CONFIRM  WORST [95 %]\n"
		" 3  kernel 6.12 -> 6.13  open   confirming         2       2     2  "
		"-      -     job 14   -8.79 % [-9.1, -8.4] netperf size=64 on lab-amd\n");
	kg_str_deinit(&out);
}

static void test_list_without_members_does_not_claim_none(void **state)
{
	Kgrid__V1__Regression *list[] = {&item};
	struct kg_str out = {0};

	(void)state;
	make();
	item.n_members = 0;
	item.worst = NULL;
	item.confirm_job = 0;
	regressions_text(1, list, 200, false, &out);
	assert_contains(kg_str_text(&out), "confirming         -       -     2  -      -     -     "
					   "   -\n");
	kg_str_deinit(&out);
}

static void test_one_shows_members_and_events(void **state)
{
	struct kg_str out = {0};

	(void)state;
	make();
	members[0].stage = s("confirmed");
	members[0].has_confirm_p = 1;
	members[0].confirm_p = 0.02;
	members[0].confirm_machine = s("lab-amd2");
	members[1].effect_pct = NAN;
	members[1].has_before = 0;
	event.text = s("three fresh blocks scheduled: job 14\033[2J");
	item.n_events = 1;
	item.events = events;
	regression_text(&item, 300, false, &out);
	assert_contains(kg_str_text(&out), "boundary      kernel 6.12 -> 6.13\n");
	assert_contains(kg_str_text(&out), "confirmation  job 14\n");
	assert_contains(kg_str_text(&out), "-8.79 % [-9.10, -8.40]  0.0002  0.001    8+8  block, "
					   "job 12  confirmed (fresh blocks p=0.02, also on "
					   "lab-amd2)\n");
	assert_contains(kg_str_text(&out), "4500.00  4100.00");
	assert_contains(kg_str_text(&out),
			"  -  kgrid  three fresh blocks scheduled: job 14?[2J\n");
	assert_null(strstr(kg_str_text(&out), "nan"));
	kg_str_deinit(&out);
}

static void test_narrow_lists_fit_and_lose_no_effect(void **state)
{
	Kgrid__V1__Regression *list[] = {&item};
	struct kg_str out = {0};
	char *line, *save = NULL;

	(void)state;
	make();
	regressions_text(1, list, 100, false, &out);
	kg_str_add(&out, "\n");
	regression_text(&item, 100, false, &out);
	assert_contains(kg_str_text(&out), "\nID  WORST [95 %]\n 3  -8.79 % [-9.1, -8.4] netperf "
					   "size=64 on lab-amd\n");
	assert_contains(kg_str_text(&out),
			"-8.79 % [-9.10, -8.40]  0.0002  0.001    8+8  candidate\n");
	assert_contains(kg_str_text(&out), " shows values and columns too)\n");
	for (line = strtok_r(out.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		assert_true(text_width(line) <= 100);
	kg_str_deinit(&out);
}

static void test_acknowledged_fixed_and_refuted_are_not_open(void **state)
{
	(void)state;
	make();
	assert_true(regression_is_open(&item));
	item.state = s("acknowledged");
	assert_false(regression_is_open(&item));
	item.state = s("fixed");
	assert_false(regression_is_open(&item));
	item.state = s("open");
	item.stage = s("refuted");
	assert_false(regression_is_open(&item));
}

/* Longest line of a text. */
static size_t longest_line(const char *p)
{
	size_t most = 0;

	while (*p) {
		size_t n = strcspn(p, "\n");

		most = n > most ? n : most;
		p += n + (p[n] == '\n');
	}
	return most;
}

static void test_no_line_is_wider_than_asked(void **state)
{
	Kgrid__V1__Regression *list[] = {&item};
	struct kg_str out = {0};
	size_t width;

	(void)state;
	make();
	item.from = s("6.1.0-52-cloud-amd64");
	item.to = s("6.12.117+deb12-cloud-amd64");
	members[0].params = s("proto=tcp seconds=10 size=64 streams=8 test=TCP_STREAM");
	members[0].has_confirm_p = 1;
	members[0].confirm_p = 0.02;
	members[0].confirm_machine = s("lab-amd2");
	for (width = 60; width < 200; width++) {
		kg_str_clear(&out);
		regressions_text(1, list, width, false, &out);
		assert_contains(kg_str_text(&out), "6.12.117+deb12-cloud-amd64");
		regression_text(&item, width, false, &out);
		assert_true(longest_line(kg_str_text(&out)) <= width);
		assert_contains(kg_str_text(&out), "test=TCP_STREAM");
		assert_contains(kg_str_text(&out), "lab-amd2)");
	}
	kg_str_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_has_boundary_state_worst_and_counts),
		cmocka_unit_test(test_list_without_members_does_not_claim_none),
		cmocka_unit_test(test_one_shows_members_and_events),
		cmocka_unit_test(test_narrow_lists_fit_and_lose_no_effect),
		cmocka_unit_test(test_acknowledged_fixed_and_refuted_are_not_open),
		cmocka_unit_test(test_no_line_is_wider_than_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
