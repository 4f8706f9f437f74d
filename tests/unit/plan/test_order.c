/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of boots and runs. */
#include "fixture.h"

#define GOLDEN_ORDER "BdcCbDAaDBCbdcaA"

#define SMALL                                                          \
	"name: j\n"                                                    \
	"kernels: [6.1.0-52-cloud-amd64, newer]\n"                     \
	"lsm: {few: \"yama\", many: \"landlock,yama,apparmor,bpf\"}\n" \
	"workloads:\n"                                                 \
	"  - netperf: {test: UDP_RR, size: [64, 1024], seconds: 1}\n"  \
	"  - hackbench: {groups: 1}\n"

#define MANY_LISTS                                                                  \
	"name: j\nkernels: [6.1.0-52-cloud-amd64, newer]\nworkloads: [hackbench]\n" \
	"lsm: {a: yama, b: bpf, c: landlock, d: tomoyo}\nrepeat: {boots: 6}\n"

static void test_each_block_visits_every_boot_once(void **state)
{
	struct grid *g = *state;
	unsigned seen[2][7][8] = {{{0}}};
	uint32_t visit[2] = {0, 0};
	size_t i;

	assert_planned(g, MANY_LISTS);
	assert_int_equal(g->plan->n_boots, 2 * 6 * 8);
	for (i = 0; i < g->plan->n_boots; i++) {
		const struct plan_boot *b = &g->plan->boots[i];
		size_t m = strcmp(b->machine, "lab-amd") == 0;
		size_t cell =
			(size_t)(b->lsm_label[0] - 'a') + (strcmp(b->kernel, DIGEST_61) ? 4 : 0);

		assert_int_equal(b->visit, ++visit[m]);
		assert_int_equal(b->block, (b->visit - 1) / 8 + 1);
		assert_int_equal(b->position, (b->visit - 1) % 8 + 1);
		seen[m][b->block][cell]++;
		assert_int_equal(seen[m][b->block][cell], 1);
	}
}

static bool same_order(const struct plan *p, size_t first, size_t second, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(p->boots[first + i].kernel, p->boots[second + i].kernel) != 0 ||
		    strcmp(p->boots[first + i].lsm_label, p->boots[second + i].lsm_label) != 0)
			return false;
	return true;
}

static void test_blocks_and_machines_have_different_orders(void **state)
{
	struct grid *g = *state;
	size_t i;

	assert_planned(g, MANY_LISTS);
	for (i = 1; i < 12; i++)
		assert_false(same_order(g->plan, 0, i * 8, 8));
}

static void test_same_seed_gives_the_same_plan_and_another_does_not(void **state)
{
	struct grid *g = *state;
	struct plan *first;
	size_t i, differ = 0;

	assert_planned(g, MANY_LISTS);
	first = g->plan;
	g->plan = NULL;
	assert_planned(g, MANY_LISTS);
	assert_int_equal(first->n_slots, g->plan->n_slots);
	assert_memory_equal(first->slots, g->plan->slots, first->n_slots * sizeof(*first->slots));
	g->in.seed = 43;
	assert_planned(g, MANY_LISTS);
	for (i = 0; i < first->n_slots; i++)
		differ += first->slots[i].cell != g->plan->slots[i].cell;
	assert_true(differ > 0);
	plan_free(first);
}

static void test_order_stays_between_releases(void **state)
{
	struct grid *g = *state;
	char order[32] = "";
	size_t i;

	assert_planned(g, MANY_LISTS "machines: lab-amd\n");
	for (i = 0; i < 16; i++)
		(void)snprintf(order + strlen(order), sizeof(order) - strlen(order), "%c",
			       g->plan->boots[i].lsm_label[0] -
				       (strcmp(g->plan->boots[i].kernel, DIGEST_61) ? 32 : 0));
	assert_string_equal(order, GOLDEN_ORDER);
}

static void test_another_machine_does_not_change_this_ones_order(void **state)
{
	struct grid *g = *state;
	struct plan *both;
	size_t i;

	assert_planned(g, MANY_LISTS);
	both = g->plan;
	g->plan = NULL;
	assert_planned(g, MANY_LISTS "machines: lab-amd\n");
	for (i = 0; i < g->plan->n_boots; i++) {
		assert_string_equal(both->boots[i].machine, "lab-amd");
		assert_string_equal(both->boots[i].lsm_label, g->plan->boots[i].lsm_label);
		assert_string_equal(both->boots[i].kernel, g->plan->boots[i].kernel);
	}
	plan_free(both);
}

static void test_first_positions_are_evenly_spread(void **state)
{
	struct grid *g = *state;
	unsigned first[8] = {0};
	size_t i;

	g->in.boots = 800;
	assert_planned(g, MANY_LISTS "machines: lab-amd\n");
	for (i = 0; i < g->plan->n_boots; i += 8)
		first[(size_t)(g->plan->boots[i].lsm_label[0] - 'a') +
		      (strcmp(g->plan->boots[i].kernel, DIGEST_61) ? 4 : 0)]++;
	for (i = 0; i < 8; i++) /* 100 expected; five standard deviations */
		assert_in_range(first[i], 53, 147);
}

static void test_grouped_makes_all_blocks_of_one_before_the_next(void **state)
{
	struct grid *g = *state;
	size_t i;

	assert_planned(g, MANY_LISTS "machines: lab-amd\norder: grouped\n");
	for (i = 0; i < g->plan->n_boots; i++) {
		const struct plan_boot *b = &g->plan->boots[i];

		assert_int_equal(b->visit, i + 1);
		assert_int_equal(b->position, i / 6 + 1);
		assert_int_equal(b->block, i % 6 + 1);
		assert_int_equal(b->lsm_label[0], "abcdabcd"[i / 6]);
	}
	assert_true(warns(g->plan, "drift of the machine between boots is not controlled"));
}

static void test_runs_of_a_boot_keep_the_files_order(void **state)
{
	struct grid *g = *state;
	size_t i;

	assert_planned(g, SMALL);
	for (i = 0; i < g->plan->n_slots; i++) {
		const struct plan_slot *s = &g->plan->slots[i];

		assert_int_equal(s->position, g->plan->cells[s->cell].workload_order + 1);
		if (i > 0 && s->position > 1) {
			assert_int_equal(s->visit, s[-1].visit);
			assert_int_equal(s->position, s[-1].position + 1);
		}
	}
}

static int setup(void **state)
{
	struct grid *g = malloc(sizeof(*g));

	if (!g)
		return -1;
	grid_init(g);
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	grid_deinit(*state);
	free(*state);
	return 0;
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_each_block_visits_every_boot_once),
		T(test_blocks_and_machines_have_different_orders),
		T(test_same_seed_gives_the_same_plan_and_another_does_not),
		T(test_order_stays_between_releases),
		T(test_another_machine_does_not_change_this_ones_order),
		T(test_first_positions_are_evenly_spread),
		T(test_grouped_makes_all_blocks_of_one_before_the_next),
		T(test_runs_of_a_boot_keep_the_files_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
