/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Client and server on two machines, the canary, and kernels that kexec cannot leave. */
#include "fixture.h"

#define ONE                                                                \
	"name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {few: yama}\n" \
	"workloads: [netperf: {test: UDP_RR}]\n"
#define LISTS                                                                       \
	"name: j\nkernels: [6.1.0-52-cloud-amd64, newer]\nworkloads: [hackbench]\n" \
	"lsm: {a: yama, b: bpf, c: landlock, d: tomoyo}\nrepeat: {boots: 6}\n"

struct both {
	struct grid g;
	struct hand h;
	struct kg_workload *getpid;
	struct plan_offer offers[2][3];
};

static const char getpid_text[] =
	"name: getpid\ndescription: x\nparameters:\n"
	"  loops: {type: int, min: 1, max: 100, default: 7}\n"
	"command: [getpid, \"{loops}\"]\nduration: 2s\ntimeout: 10s\nmetrics:\n"
	"  - {name: calls, unit: 1/s, direction: higher, read: {keyval: C}}\n";

static void pair(struct both *b)
{
	b->g.netperf->pair = true;
	b->g.machines[0].address = "10.0.0.1";
	b->g.machines[1].address = "10.0.0.2";
}

/* ---- roles ---- */

static void test_pair_belongs_to_the_client_and_takes_both_machines_time(void **state)
{
	struct both *b = *state;
	const struct plan *p;

	pair(b);
	hand_init(&b->h, &b->g, ONE);
	hand_role(&b->h, 0, NULL, "lab-intel");
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(p->n_cells, 1);
	assert_string_equal(p->cells[0].machine, "lab-amd");
	assert_string_equal(p->cells[0].peer, "lab-intel");
	assert_null(p->cells[0].infeasible);
	assert_int_equal(p->n_boots, 5);
	assert_string_equal(p->boots[0].peer, "lab-intel");
	assert_int_equal(p->n_machines, 2);
	assert_int_equal(p->machines[0].boots, 5);
	assert_string_equal(p->machines[1].machine, "lab-intel");
	assert_int_equal(p->machines[1].boots, 0);
	assert_int_equal(p->machines[1].slots, 0);
	assert_int_equal(p->machines[1].seconds, p->machines[0].seconds);
	assert_int_equal(p->machines[0].seconds, 5 * (PLAN_HOP_S + 6 * 10));
	assert_balanced(p);
}

static void test_each_client_is_paired_with_each_other_server(void **state)
{
	struct both *b = *state;
	const struct plan *p;
	size_t i;

	pair(b);
	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nlsm: {few: yama}\n"
		  "workloads: [netperf: {test: UDP_RR}, hackbench: {}]\n");
	hand_role(&b->h, 0, NULL, NULL);
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(p->n_cells, 4);
	for (i = 0; i < p->n_cells; i++)
		assert_string_not_equal(p->cells[i].machine, p->cells[i].peer);
	/* never in one boot with what has no roles */
	assert_int_equal(p->n_boots, 4 * 5);
	assert_int_equal(p->cells[0].peer[0] == '\0', true);
	assert_string_equal(p->cells[0].workload, "hackbench");
	assert_string_equal(p->cells[1].peer, "lab-intel");
	assert_int_equal(p->machines[0].seconds, p->machines[1].seconds);
	assert_balanced(p);
}

static void test_role_and_peer_are_part_of_the_identity(void **state)
{
	struct both *b = *state;
	char alone[KG_SHA256_HEX_SIZE];

	pair(b);
	hand_init(&b->h, &b->g, ONE);
	assert_planned_hand(&b->g, &b->h);
	memcpy(alone, b->g.plan->cells[0].identity, sizeof(alone));
	hand_role(&b->h, 0, NULL, "lab-intel");
	assert_planned_hand(&b->g, &b->h);
	assert_string_not_equal(b->g.plan->cells[0].identity, alone);
}

static const char *why(struct both *b)
{
	hand_init(&b->h, &b->g, ONE);
	hand_role(&b->h, 0, "lab-amd", "lab-intel");
	assert_planned_hand(&b->g, &b->h);
	assert_int_equal(b->g.plan->n_boots, 0);
	assert_balanced(b->g.plan);
	return b->g.plan->cells[0].infeasible ? b->g.plan->cells[0].infeasible : "";
}

static void test_pair_that_cannot_run_says_why(void **state)
{
	struct both *b = *state;

	pair(b);
	b->g.netperf->pair = false;
	assert_contains(why(b), "its declaration has no 'pair: true'");
	b->g.netperf->pair = true;
	b->g.machines[0].address = NULL;
	assert_contains(why(b), "machine 'lab-intel' has no address");
	b->g.machines[0].address = "10.0.0.1";
	b->g.offers[0][0].available = false;
	b->g.offers[0][0].missing = "program 'netserver' not found";
	assert_string_equal(why(b), "workload 'netperf' is not available on the server "
				    "'lab-intel': program 'netserver' not found");
	b->g.offers[0][0] = b->g.offers[0][1];
	assert_string_equal(why(b),
			    "workload 'netperf' is not installed on the server 'lab-intel'");
	b->g.machines[0].n_offers = 0;
	b->g.offers[1][0].available = false;
	b->g.offers[1][0].missing = NULL;
	assert_contains(why(b), "is not available on 'lab-amd': no reason given");
}

static void test_server_must_get_the_same_line_and_list(void **state)
{
	struct both *b = *state;

	pair(b);
	b->g.machines[0].base_cmdline = "panic=3";
	assert_contains(why(b), "lead to different lines: 'lsm=yama panic=10' and 'lsm=yama'");
	hand_init(&b->h, &b->g,
		  "name: j\nkernels: [newer]\nmachines: lab-amd\nlsm: {a: apparmor}\n"
		  "workloads: [netperf: {test: UDP_RR}]\n");
	hand_role(&b->h, 0, "lab-amd", "lab-intel");
	b->g.machines[0].base_cmdline = "apparmor=0";
	assert_planned_hand(&b->g, &b->h);
	assert_contains(b->g.plan->cells[0].infeasible, "on its server 'lab-intel'");
}

static void test_no_second_machine_is_infeasible_and_unknown_ones_are_refused(void **state)
{
	struct both *b = *state;

	pair(b);
	hand_init(&b->h, &b->g, ONE);
	hand_role(&b->h, 0, NULL, NULL);
	assert_planned_hand(&b->g, &b->h);
	assert_string_equal(b->g.plan->cells[0].infeasible,
			    "no second machine: none but 'lab-amd' matches 'server: any machine of "
			    "the job'");
	assert_string_equal(b->g.plan->cells[0].peer, "");
	assert_balanced(b->g.plan);
	hand_role(&b->h, 0, NULL, "lab-intl");
	assert_int_equal(grid_plan_hand(&b->g, &b->h), KG_ENOTFOUND);
	assert_contains(b->g.err.text, "job.yaml:100:1: 'server': there is no machine 'lab-intl', "
				       "did you mean 'lab-intel'?");
}

static void test_named_client_is_a_machine_of_the_job(void **state)
{
	struct both *b = *state;

	pair(b);
	hand_init(&b->h, &b->g, ONE);
	hand_role(&b->h, 0, "lab-intel", "lab-amd");
	assert_planned_hand(&b->g, &b->h);
	assert_int_equal(b->g.plan->n_cells, 1);
	assert_string_equal(b->g.plan->cells[0].machine, "lab-intel");
	assert_string_equal(b->g.plan->machines[0].machine, "lab-amd");
	assert_int_equal(b->g.plan->machines[0].boots, 0);
	assert_true(b->g.plan->machines[0].seconds > 0);
	assert_string_equal(b->g.plan->machines[0].estimate, "as its clients'");
}

/* ---- the canary ---- */

static void offer_canary(struct both *b)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		memcpy(b->offers[i], b->g.offers[i], sizeof(b->g.offers[i]));
		b->offers[i][2] = (struct plan_offer){"getpid", "cc33", true, NULL, b->getpid};
		b->g.machines[i].offers = b->offers[i];
		b->g.machines[i].n_offers = 3;
	}
}

static void test_canary_runs_first_in_the_first_and_last_boot_of_each_block(void **state)
{
	struct both *b = *state;
	const struct plan *p;
	size_t i, canaries = 0;

	offer_canary(b);
	assert_planned(&b->g, LISTS);
	p = b->g.plan;
	assert_int_equal(p->canaries, 2 * 8);
	assert_int_equal(p->n_cells, 2 * 8 * 2);
	assert_int_equal(p->full, 2 * 8);
	assert_balanced(p);
	for (i = 0; i < p->n_boots; i++) {
		bool ends = p->boots[i].position == 1 || p->boots[i].position == 8;

		assert_int_equal(p->boots[i].canary, ends);
		assert_int_equal(p->boots[i].slots, ends ? 2 : 1);
		assert_int_equal(p->boots[i].seconds, PLAN_HOP_S + 25 + (ends ? 10 : 0));
	}
	for (i = 0; i < p->n_slots; i++) {
		const struct plan_cell *c = &p->cells[p->slots[i].cell];

		if (!c->canary)
			continue;
		canaries++;
		assert_string_equal(c->workload, "getpid");
		assert_string_equal(c->params, "loops=7");
		assert_int_equal(p->slots[i].position, 1);
		assert_int_equal(p->slots[i + 1].visit, p->slots[i].visit);
		assert_int_equal(p->slots[i + 1].position, 2);
	}
	assert_int_equal(canaries, 2 * 2 * 6);
	assert_int_equal(p->n_slots, 2 * 8 * 6 + canaries);
	assert_false(warns(p, "canary"));
}

static void test_single_boot_blocks_have_the_canary_once(void **state)
{
	struct both *b = *state;

	offer_canary(b);
	assert_planned(&b->g, "name: j\nkernels: [newer]\nmachines: lab-amd\n"
			      "workloads: [hackbench]\n");
	assert_int_equal(b->g.plan->n_boots, 5);
	assert_int_equal(b->g.plan->n_slots, 10);
	assert_true(b->g.plan->boots[0].canary);
}

static void test_canary_that_is_also_a_workload_is_another_cell(void **state)
{
	struct both *b = *state;
	const struct plan *p;

	offer_canary(b);
	assert_planned(&b->g,
		       "name: j\nkernels: [newer]\nmachines: lab-amd\nworkloads: [getpid]\n");
	p = b->g.plan;
	assert_int_equal(p->n_cells, 2);
	assert_true(p->cells[0].canary);
	assert_false(p->cells[1].canary);
	assert_string_not_equal(p->cells[0].identity, p->cells[1].identity);
}

static void test_no_canary_is_a_note_and_not_an_error(void **state)
{
	struct both *b = *state;

	assert_planned(&b->g, LISTS);
	assert_true(warns(b->g.plan, "no canary on lab-amd, lab-intel: none of the workloads there "
				     "is declared 'canary: true'"));
	assert_int_equal(b->g.plan->canaries, 0);
	offer_canary(b);
	b->offers[0][2].available = false;
	assert_planned(&b->g, LISTS);
	assert_true(warns(b->g.plan, "no canary on lab-intel: "));
	assert_int_equal(b->g.plan->canaries, 8);
	hand_init(&b->h, &b->g, LISTS);
	b->h.job.canary_mode = JOB_CANARY_NONE;
	assert_planned_hand(&b->g, &b->h);
	assert_int_equal(b->g.plan->canaries, 0);
	assert_false(warns(b->g.plan, "canary"));
}

static void test_given_canary_is_taken_with_its_parameters(void **state)
{
	struct both *b = *state;
	struct job_workload *w;

	offer_canary(b);
	hand_init(&b->h, &b->g, LISTS);
	w = hand_alloc(&b->h, sizeof(*w));
	w->name = hand_text(&b->h, "hackbench");
	w->at = (struct job_place){NULL, 50, 3};
	w->params = hand_alloc(&b->h, sizeof(*w->params));
	w->n_params = 1;
	w->params[0] = hand_param(&b->h, "groups", "3");
	b->h.job.canary_mode = JOB_CANARY_GIVEN;
	b->h.job.canary = w;
	assert_planned_hand(&b->g, &b->h);
	assert_string_equal(b->g.plan->cells[0].workload, "hackbench");
	assert_string_equal(b->g.plan->cells[0].params, "groups=3 mode=process");
	assert_true(b->g.plan->cells[0].canary);
	w->params[0] = hand_param(&b->h, "groups", "3|4");
	assert_int_equal(grid_plan_hand(&b->g, &b->h), KG_EINVALID);
	assert_contains(b->g.err.text, "job.yaml:50:3: 'canary': 'hackbench' needs one value");
	w->params[0] = hand_param(&b->h, "groups", "x");
	assert_int_equal(grid_plan_hand(&b->g, &b->h), KG_EINVALID);
	w->name = hand_text(&b->h, "hackbnch");
	assert_int_equal(grid_plan_hand(&b->g, &b->h), KG_EINVALID);
	assert_contains(b->g.err.text, "'canary': no machine of the job offers 'hackbnch' (did you "
				       "mean 'hackbench'?)");
}

static void test_group_without_a_run_is_not_booted_for_its_canary(void **state)
{
	struct both *b = *state;

	offer_canary(b);
	b->offers[1][1].available = false;
	assert_planned(&b->g, LISTS "machines: lab-amd\n");
	assert_int_equal(b->g.plan->n_boots, 0);
	assert_int_equal(b->g.plan->canaries, 0);
	assert_int_equal(b->g.plan->n_slots, 8 * 6);
}

static void test_pair_boot_has_the_clients_canary(void **state)
{
	struct both *b = *state;
	const struct plan *p;

	pair(b);
	offer_canary(b);
	hand_init(&b->h, &b->g, ONE);
	hand_role(&b->h, 0, NULL, "lab-intel");
	assert_planned_hand(&b->g, &b->h);
	p = b->g.plan;
	assert_int_equal(p->n_cells, 2);
	assert_true(p->cells[0].canary);
	assert_string_equal(p->cells[0].peer, "lab-intel");
	assert_int_equal(p->boots[0].slots, 2);
}

/* ---- kernels that kexec cannot leave ---- */

static void test_locked_down_kernels_come_last_in_each_block(void **state)
{
	struct both *b = *state;
	const struct plan *p;
	size_t i;
	bool varies = false;

	b->g.configs[1].lockdown_forced = true;
	assert_planned(&b->g, LISTS);
	p = b->g.plan;
	for (i = 0; i < p->n_boots; i++) {
		bool last = strcmp(p->boots[i].kernel, DIGEST_612) == 0;

		assert_int_equal(p->boots[i].leave_by_reboot, last);
		assert_int_equal(p->boots[i].position > 4, last);
		varies = varies || p->boots[i].lsm_label[0] != "abcdabcd"[p->boots[i].position - 1];
	}
	assert_true(varies); /* in random order of their own */
	for (i = 0; i < p->n_cells; i++)
		assert_int_equal(p->cells[i].leave_by_reboot,
				 strcmp(p->cells[i].kernel, DIGEST_612) == 0);
}

static void test_leaving_does_not_change_the_order_of_the_others(void **state)
{
	struct both *b = *state;
	char order[2][64] = {"", ""};
	size_t k, i;

	for (k = 0; k < 2; k++) {
		b->g.configs[1].kexec = b->g.configs[1].kexec_file = k == 0;
		assert_planned(&b->g, k ? LISTS "machines: lab-amd\n"
					: "name: j\nkernels: [6.1.0-52-cloud-amd64]\n"
					  "workloads: [hackbench]\nmachines: lab-amd\n"
					  "lsm: {a: yama, b: bpf, c: landlock, d: tomoyo}\n"
					  "repeat: {boots: 6}\n");
		for (i = 0; i < b->g.plan->n_boots; i++)
			if (strcmp(b->g.plan->boots[i].kernel, DIGEST_61) == 0)
				strncat(order[k], b->g.plan->boots[i].lsm_label, 1);
	}
	assert_int_equal(strlen(order[0]), 24);
	assert_string_equal(order[0], order[1]);
}

static void test_what_kexec_cannot_leave(void **state)
{
	struct kconfig_facts c = {.kexec = true, .kexec_file = true};

	(void)state;
	assert_null(plan_leave(&c, "lockdown,capability,yama", "quiet"));
	assert_null(plan_leave(&c, "lockdown,capability", "lockdown=none"));
	assert_null(plan_leave(&c, "capability,yama", "lockdown=integrity"));
	assert_null(plan_leave(&c, "capability,xlockdown", "lockdown=integrity"));
	assert_null(plan_leave(&c, "lockdown", "x.lockdown=integrity"));
	assert_null(plan_leave(&c, "lockdown", "-- lockdown=integrity"));
	assert_contains(plan_leave(&c, "lockdown,capability", "a lockdown=integrity"), "lockdown=");
	assert_non_null(plan_leave(&c, "capability,yama,lockdown", "lockdown=confidentiality b"));
	assert_non_null(plan_leave(&c, "lockdown", "\"lockdown=integrity\""));
	assert_non_null(plan_leave(&c, "lockdown", "lockdown=\"integrity\""));
	/* levels only rise */
	assert_non_null(plan_leave(&c, "lockdown", "lockdown=integrity lockdown=none"));
	(void)snprintf(c.lsm.config_cmdline, sizeof(c.lsm.config_cmdline), "lockdown=integrity");
	assert_non_null(plan_leave(&c, "lockdown", ""));
	c.lsm.config_cmdline[0] = '\0';
	c.lockdown_forced = true;
	assert_contains(plan_leave(&c, "lockdown", ""), "LOCK_DOWN_KERNEL_FORCE");
	assert_null(plan_leave(&c, "capability", ""));
	c.lockdown_forced = false;
	c.kexec_sig_force = true;
	assert_contains(plan_leave(&c, "", ""), "CONFIG_KEXEC_SIG_FORCE");
	c.kexec_sig_force = false;
	c.loadpin_enforce = true;
	assert_contains(plan_leave(&c, "loadpin", ""), "loadpin");
	assert_null(plan_leave(&c, "loadpin", "loadpin.enforce=0"));
	c.loadpin_enforce = false;
	assert_null(plan_leave(&c, "loadpin", ""));
	assert_non_null(plan_leave(&c, "loadpin", "loadpin.enforce=1"));
	c.kexec = false;
	assert_null(plan_leave(&c, "yama", ""));
	c.kexec_file = false;
	assert_contains(plan_leave(&c, "yama", ""), "CONFIG_KEXEC");
}

static int setup(void **state)
{
	struct both *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	grid_init(&b->g);
	if (kg_workload_parse("getpid.yaml", getpid_text, strlen(getpid_text), &b->getpid,
			      &b->g.err) < 0)
		fail_msg("%s", b->g.err.text);
	b->getpid->canary = true;
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct both *b = *state;

	grid_deinit(&b->g);
	hand_deinit(&b->h);
	kg_workload_free(b->getpid);
	free(b);
	return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_pair_belongs_to_the_client_and_takes_both_machines_time),
		T(test_each_client_is_paired_with_each_other_server),
		T(test_role_and_peer_are_part_of_the_identity),
		T(test_pair_that_cannot_run_says_why),
		T(test_server_must_get_the_same_line_and_list),
		T(test_no_second_machine_is_infeasible_and_unknown_ones_are_refused),
		T(test_named_client_is_a_machine_of_the_job),
		T(test_canary_runs_first_in_the_first_and_last_boot_of_each_block),
		T(test_single_boot_blocks_have_the_canary_once),
		T(test_canary_that_is_also_a_workload_is_another_cell),
		T(test_no_canary_is_a_note_and_not_an_error),
		T(test_given_canary_is_taken_with_its_parameters),
		T(test_group_without_a_run_is_not_booted_for_its_canary),
		T(test_pair_boot_has_the_clients_canary),
		T(test_locked_down_kernels_come_last_in_each_block),
		T(test_leaving_does_not_change_the_order_of_the_others),
		T(test_what_kexec_cannot_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
