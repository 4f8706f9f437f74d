/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/plan_text.h"
#include "tests/lib/cmocka_all.h"

static char lab[] = "lab-intel", kernel[] = "6.1", prev[] = "prev", list[] = "capability,apparmor";
static char cell[] = "lab-intel 6.1/prev netperf", reason[] = "netperf is not installed";
static char warning[] = "'smack' is not built into 6.1", order[] = "interleaved";

static Kgrid__V1__PlannedMachine machine = KGRID__V1__PLANNED_MACHINE__INIT;
static Kgrid__V1__PlannedBoot boot = KGRID__V1__PLANNED_BOOT__INIT;
static Kgrid__V1__Infeasible bad = KGRID__V1__INFEASIBLE__INIT;
static Kgrid__V1__PlannedMachine *machines[] = {&machine};
static Kgrid__V1__PlannedBoot *boots[] = {&boot};
static Kgrid__V1__Infeasible *bads[] = {&bad};
static char *warnings[] = {warning, warning};

static const struct plan_look submit_look = {.width = 80};
static const struct plan_look dry_look = {.width = 80, .dry_run = true};

static Kgrid__V1__Plan plan(void)
{
	Kgrid__V1__Plan p = KGRID__V1__PLAN__INIT;

	machine.machine = lab;
	machine.boots = 10;
	machine.slots = 40;
	machine.has_seconds = 1;
	machine.seconds = 200;
	boot.machine = lab;
	boot.block = 1;
	boot.position = 2;
	boot.kernel = kernel;
	boot.lsm = prev;
	boot.effective = list;
	boot.slots = 4;
	bad.cell = cell;
	bad.reason = reason;
	bad.slots = 5;
	p.cells = 9;
	p.slots = 45;
	p.order = order;
	p.n_machines = p.n_boots = p.n_infeasible = 1;
	p.machines = machines;
	p.boots = boots;
	p.infeasible = bads;
	p.n_warnings = 2;
	p.warnings = warnings;
	return p;
}

static void test_plan_shows_cost_faults_and_each_warning_once(void **state)
{
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};

	(void)state;
	plan_text(&p, &submit_look, &s);
	assert_string_equal(kg_str_text(&s),
			    "plan: 9 cells, 45 slots, interleaved, about 3 min 20 s\n"
			    "  MACHINE    BOOTS  SLOTS  ESTIMATE\n"
			    "  lab-intel     10     40  3 min 20 s\n"
			    "cannot run: 5 slots\n"
			    "  CELL                        SLOTS  REASON\n"
			    "  lab-intel 6.1/prev netperf      5  netperf is not installed\n"
			    "warning: 'smack' is not built into 6.1\n");
	kg_str_deinit(&s);
}

static void test_time_is_a_range_where_the_stop_rule_may_end_it_sooner(void **state)
{
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};

	(void)state;
	machine.has_seconds_least = 1;
	machine.seconds_least = 100;
	plan_text(&p, &submit_look, &s);
	assert_contains(kg_str_text(&s), ", about 1 min 40 s to 3 min 20 s");
	assert_contains(kg_str_text(&s), "     40  1 min 40 s to 3 min 20 s\n");
	machine.has_seconds_least = 0;
	kg_str_deinit(&s);
}

static void test_a_job_takes_at_least_what_its_slowest_machine_does(void **state)
{
	Kgrid__V1__PlannedMachine other = KGRID__V1__PLANNED_MACHINE__INIT,
				  *both[] = {&machine, &other};
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};

	(void)state;
	machine.has_seconds_least = 1;
	machine.seconds_least = 100;
	other.machine = (char *)(uintptr_t) "lab-amd";
	other.has_seconds = 1;
	other.seconds = 150; /* without a stop rule that could end it sooner */
	p.machines = both;
	p.n_machines = 2;
	plan_text(&p, &submit_look, &s);
	assert_contains(kg_str_text(&s), ", about 2 min 30 s to 3 min 20 s");
	machine.has_seconds_least = 0;
	kg_str_deinit(&s);
}

static void test_dry_run_shows_the_boot_order(void **state)
{
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};

	(void)state;
	plan_text(&p, &dry_look, &s);
	assert_contains(kg_str_text(&s),
			"effective lists:\n"
			"  6.1/prev  capability,apparmor\n"
			"boot order:\n"
			"  MACHINE    BLOCK  POSITION  KERNEL  LSM   SLOTS\n"
			"  lab-intel      1         2  6.1     prev      4\n"
			"  ... and 9 more boots, which the coordinator did not list\n");
	kg_str_deinit(&s);
}

/* Boots are in an order of chance; lists are read from the job's first to its last. */
static void test_effective_lists_are_in_the_jobs_order(void **state)
{
	static char kernel_axis[] = "kernel", lsm_axis[] = "lsm", newer[] = "6.12", next[] = "new";
	char *kernels[] = {kernel, newer}, *lsms[] = {prev, next};
	Kgrid__V1__PlannedAxis k = KGRID__V1__PLANNED_AXIS__INIT, l = k, *axes[] = {&k, &l};
	Kgrid__V1__PlannedBoot b[4], *shuffled[] = {&b[2], &b[0], &b[3], &b[1]};
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};
	size_t i;

	(void)state;
	k.name = kernel_axis;
	k.values = kernels;
	l.name = lsm_axis;
	l.values = lsms;
	k.n_values = l.n_values = p.n_axes = 2;
	p.axes = axes;
	for (i = 0; i < 4; i++) {
		b[i] = boot;
		b[i].kernel = kernels[i / 2];
		b[i].lsm = lsms[i % 2];
	}
	p.boots = shuffled;
	p.n_boots = 4;
	plan_text(&p, &dry_look, &s);
	assert_contains(kg_str_text(&s), "effective lists:\n"
					 "  6.1/prev   capability,apparmor\n"
					 "  6.1/new    capability,apparmor\n"
					 "  6.12/prev  capability,apparmor\n"
					 "  6.12/new   capability,apparmor\n");
	kg_str_deinit(&s);
}

static void test_empty_plan_says_so(void **state)
{
	Kgrid__V1__Plan p = KGRID__V1__PLAN__INIT;
	struct kg_str s = {0};

	(void)state;
	plan_text(&p, &dry_look, &s);
	assert_string_equal(kg_str_text(&s), "plan: 0 cells, 0 slots\nnothing to run\n");
	kg_str_deinit(&s);
}

static void test_sum_line_goes_from_the_full_product_to_slots(void **state)
{
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};
	struct plan_look wide = dry_look;

	(void)state;
	wide.width = 300;
	machine.boots = 1;
	boot.block = 5;
	p.has_full_cells = 1;
	p.full_cells = 160;
	p.excluded = 40;
	p.duplicates = 8;
	p.merged = 16;
	p.left_by_pairwise = 4;
	p.cells = 96; /* 92 and 4 of the canary */
	p.slots = 92 * 5 + 20;
	plan_text(&p, &wide, &s);
	assert_contains(kg_str_text(&s),
			"cells: 160 of the full product - 40 excluded - 8 written twice - 16 with "
			"the same list as another - 4 left out by pairwise = 92 cells, + 4 of the "
			"canary; 92 x 5 blocks + 20 of the canary = 480 slots\n");
	kg_str_clear(&s);
	p.cells = 90; /* fewer than the sum says */
	plan_text(&p, &wide, &s);
	assert_contains(kg_str_text(&s), "= 90 cells (does not add up)\n");
	kg_str_clear(&s);
	p.excluded = p.duplicates = p.merged = p.left_by_pairwise = 0;
	p.full_cells = p.cells = 9;
	p.slots = 45;
	plan_text(&p, &wide, &s);
	assert_contains(kg_str_text(&s),
			"cells: 9 of the full product = 9 cells; 9 x 5 blocks = 45 slots\n");
	kg_str_clear(&s);
	machine.boots = 2; /* not all are listed: the last block is not known */
	plan_text(&p, &wide, &s);
	assert_contains(kg_str_text(&s), "cells: 9 of the full product = 9 cells\n");
	kg_str_deinit(&s);
}

static void test_one_is_no_plural(void **state)
{
	Kgrid__V1__Plan p = KGRID__V1__PLAN__INIT;
	struct kg_str s = {0};

	(void)state;
	p.has_full_cells = 1;
	p.full_cells = p.cells = p.slots = 1;
	plan_text(&p, &dry_look, &s);
	assert_string_equal(kg_str_text(&s),
			    "cells: 1 of the full product = 1 cell; 1 x 1 block = 1 slot\n"
			    "plan: 1 cell, 1 slot\n");
	kg_str_deinit(&s);
}

static void test_axes_are_listed_with_all_their_values(void **state)
{
	char name[] = "cmdline", on[] = "mitigations=auto", off[] = "mitigations=off", none[] = "";
	char *values[] = {none, on, off};
	char bytes[] = "bytes", small[] = "64", large[] = "32768", *sizes[] = {small, large};
	Kgrid__V1__PlannedAxis axis = KGRID__V1__PLANNED_AXIS__INIT, *axes[] = {&axis};
	Kgrid__V1__Plan p = plan();
	struct plan_look narrow = dry_look;
	struct kg_str s = {0};

	(void)state;
	axis.name = name;
	axis.values = values;
	axis.n_values = 3;
	p.axes = axes;
	p.n_axes = 1;
	narrow.width = 45;
	plan_text(&p, &narrow, &s);
	assert_contains(kg_str_text(&s), "axes:\n"
					 "  cmdline  3  (none), mitigations=auto,\n"
					 "              mitigations=off\n");
	axis.unit = bytes;
	axis.values = sizes;
	axis.n_values = 2;
	kg_str_clear(&s);
	plan_text(&p, &narrow, &s);
	assert_contains(kg_str_text(&s), "  cmdline  2  64, 32768 bytes\n");
	kg_str_deinit(&s);
}

static void test_boots_show_variant_role_canary_and_reboot_where_there_are_any(void **state)
{
	char variant[] = "mitigations=off", role[] = "client", peer[] = "lab-amd",
	     leave[] = "reboot";
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};
	struct plan_look wide = dry_look;

	(void)state;
	wide.width = 140;
	boot.variant = variant;
	boot.role = role;
	boot.peer = peer;
	boot.leave = leave;
	boot.has_canary = boot.has_seconds = 1;
	boot.canary = 1;
	boot.seconds = 95;
	plan_text(&p, &wide, &s);
	boot.variant = boot.role = boot.peer = boot.leave = NULL;
	boot.has_canary = boot.canary = boot.has_seconds = 0;
	boot.seconds = 0;
	assert_contains(
		kg_str_text(&s),
		"  MACHINE    BLOCK  POSITION  KERNEL  LSM   VARIANT          ROLE           "
		"       SLOTS  TIME        NOTE\n");
	assert_contains(kg_str_text(&s), "client, with lab-amd      4  1 min 35 s  canary, left by "
					 "reboot\n");
	kg_str_deinit(&s);
}

static void test_lists_that_depend_on_the_variant_say_of_which(void **state)
{
	char off[] = "apparmor=0", without[] = "capability";
	Kgrid__V1__PlannedBoot other = KGRID__V1__PLANNED_BOOT__INIT, *two[] = {&boot, &other};
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};

	(void)state;
	other.machine = lab;
	other.kernel = kernel;
	other.lsm = prev;
	other.variant = off;
	other.effective = without;
	p.boots = two;
	p.n_boots = 2;
	plan_text(&p, &dry_look, &s);
	assert_contains(kg_str_text(&s), "  6.1/prev on lab-intel             capability,apparmor\n"
					 "  6.1/prev+apparmor=0 on lab-intel  capability\n");
	kg_str_deinit(&s);
}

static void test_what_can_be_detected_says_what_it_rests_on(void **state)
{
	char netperf[] = "netperf", params[] = "size=64", metric[] = "throughput";
	char note[] = "no boots of it on this machine";
	Kgrid__V1__PlannedDetect a = KGRID__V1__PLANNED_DETECT__INIT, b = a, *list_of[] = {&a, &b};
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};
	struct plan_look wide = dry_look;

	(void)state;
	wide.width = 150;
	a.machine = b.machine = lab;
	a.workload = b.workload = netperf;
	a.params = params;
	a.metric = b.metric = metric;
	a.has_detectable_pct = a.has_between_cov_pct = a.has_boots = a.has_history_boots = 1;
	a.detectable_pct = 1.2;
	a.between_cov_pct = 0.4;
	a.boots = 5;
	a.history_boots = 24;
	b.note = note;
	p.detect = list_of;
	p.n_detect = 2;
	plan_text(&p, &wide, &s);
	assert_contains(kg_str_text(&s),
			"smallest change that it can detect (80 % power, alpha 0.01):\n");
	assert_contains(kg_str_text(&s), "netperf size=64  throughput  1.2 % with 5 boots a side "
					 "(CoV between boots 0.40 % from 24 boots)\n");
	assert_contains(kg_str_text(&s), "not known: no boots of it on this machine\n");
	kg_str_clear(&s);
	a = b; /* all the same: one line */
	plan_text(&p, &wide, &s);
	assert_contains(kg_str_text(&s), "alpha 0.01): not known: no boots of it on this "
					 "machine\n");
	kg_str_deinit(&s);
}

static void test_long_boot_order_is_cut_with_a_count_unless_all_are_asked_for(void **state)
{
	static Kgrid__V1__PlannedBoot *many[PLAN_BOOTS_SHOWN + 7];
	struct plan_look all = dry_look;
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};
	size_t i;

	(void)state;
	for (i = 0; i < PLAN_BOOTS_SHOWN + 7; i++)
		many[i] = &boot;
	machine.boots = PLAN_BOOTS_SHOWN + 7;
	p.boots = many;
	p.n_boots = PLAN_BOOTS_SHOWN + 7;
	plan_text(&p, &dry_look, &s);
	assert_contains(kg_str_text(&s), "  ... and 7 more boots; --all-boots lists them\n");
	kg_str_clear(&s);
	all.all_boots = true;
	plan_text(&p, &all, &s);
	assert_null(strstr(kg_str_text(&s), "more boots"));
	kg_str_deinit(&s);
}

static void test_cells_have_numbers_identities_and_why_they_cannot_run(void **state)
{
	char identity[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char netperf[] = "netperf";
	Kgrid__V1__PlannedCell x = KGRID__V1__PLANNED_CELL__INIT, *cells[] = {&x};
	Kgrid__V1__Plan p = plan();
	struct plan_look look = {.width = 120, .cells = true};
	struct kg_str s = {0};

	(void)state;
	x.number = 7;
	x.identity = identity;
	x.machine = lab;
	x.kernel = kernel;
	x.lsm = prev;
	x.workload = netperf;
	x.infeasible = reason;
	p.listed = cells;
	p.n_listed = 1;
	plan_text(&p, &look, &s);
	assert_contains(kg_str_text(&s),
			"  CELL  MACHINE    KERNEL/LSM  WORKLOAD  IDENTITY          NOTE\n"
			"     7  lab-intel  6.1/prev    netperf   0123456789abcdef  cannot run: "
			"netperf is not installed\n");
	kg_str_clear(&s);
	p.n_listed = 0;
	plan_text(&p, &look, &s);
	assert_contains(kg_str_text(&s), "list of cells: the coordinator sent none\n");
	kg_str_deinit(&s);
}

static void test_stop_rule_and_what_an_estimate_rests_on_are_said(void **state)
{
	char rule[] = "5 boots a side, then on to at most 12 until ci95 <= 1%";
	char rests[] = "history of 40 boots";
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};

	(void)state;
	p.stop_rule = rule;
	machine.estimate = rests;
	plan_text(&p, &submit_look, &s);
	assert_contains(kg_str_text(&s), "ESTIMATE    RESTS ON\n");
	assert_contains(kg_str_text(&s), "3 min 20 s  history of 40 boots\n");
	assert_contains(kg_str_text(&s), "stop rule: 5 boots a side, then on to at most 12");
	machine.estimate = NULL;
	kg_str_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_shows_cost_faults_and_each_warning_once),
		cmocka_unit_test(test_time_is_a_range_where_the_stop_rule_may_end_it_sooner),
		cmocka_unit_test(test_a_job_takes_at_least_what_its_slowest_machine_does),
		cmocka_unit_test(test_dry_run_shows_the_boot_order),
		cmocka_unit_test(test_effective_lists_are_in_the_jobs_order),
		cmocka_unit_test(test_empty_plan_says_so),
		cmocka_unit_test(test_sum_line_goes_from_the_full_product_to_slots),
		cmocka_unit_test(test_axes_are_listed_with_all_their_values),
		cmocka_unit_test(
			test_boots_show_variant_role_canary_and_reboot_where_there_are_any),
		cmocka_unit_test(test_lists_that_depend_on_the_variant_say_of_which),
		cmocka_unit_test(test_what_can_be_detected_says_what_it_rests_on),
		cmocka_unit_test(test_long_boot_order_is_cut_with_a_count_unless_all_are_asked_for),
		cmocka_unit_test(test_cells_have_numbers_identities_and_why_they_cannot_run),
		cmocka_unit_test(test_stop_rule_and_what_an_estimate_rests_on_are_said),
		cmocka_unit_test(test_one_is_no_plural),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
