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
	plan_text(&p, false, 80, false, &s);
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

static void test_dry_run_shows_the_boot_order(void **state)
{
	Kgrid__V1__Plan p = plan();
	struct kg_str s = {0};

	(void)state;
	plan_text(&p, true, 80, false, &s);
	assert_contains(kg_str_text(&s),
			"boot order:\n"
			"  MACHINE    BLOCK  POSITION  KERNEL  LSM   SLOTS  EFFECTIVE LIST\n"
			"  lab-intel      1         2  6.1     prev      4  capability,apparmor\n");
	kg_str_deinit(&s);
}

static void test_empty_plan_says_so(void **state)
{
	Kgrid__V1__Plan p = KGRID__V1__PLAN__INIT;
	struct kg_str s = {0};

	(void)state;
	plan_text(&p, true, 80, false, &s);
	assert_string_equal(kg_str_text(&s), "plan: 0 cells, 0 slots\nnothing to run\n");
	kg_str_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_shows_cost_faults_and_each_warning_once),
		cmocka_unit_test(test_dry_run_shows_the_boot_order),
		cmocka_unit_test(test_empty_plan_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
