/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows 46 and 47 end to end: a machine that is not what it was enters a new epoch, its results are
 * not compared with older ones, and the answer names what changed. With it: differences, provenance,
 * calibration, imports, by a real coordinator with machines played by hand.
 */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "common/err.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"
#include "tests/lib/player.h"
#include "tests/lib/synthetic_kernel.h"

#define TEXT(s) ((char *)(uintptr_t)(s))
#define BLOCKS	6

struct world {
	struct grid g;
	struct peer *client;
	struct player m1, m2;
	char old_kernel[65], new_kernel[65];
};

static const struct player_fact before[] = {
	{"cpu.microcode", "0x100"}, {"cpu.present", "0-191"},	  {"vulnerability.spectre_v2", "A"},
	{"load.average", "0.1"},    {"frequency.governor", NULL}, {NULL, NULL}};
static const struct player_fact updated[] = {
	{"cpu.microcode", "0x101"}, {"cpu.present", "0-191"},	  {"vulnerability.spectre_v2", "A"},
	{"load.average", "0.9"},    {"frequency.governor", NULL}, {NULL, NULL}};
static const struct player_fact mitigated[] = {
	{"cpu.microcode", "0x100"}, {"cpu.present", "0-191"},	  {"vulnerability.spectre_v2", "B"},
	{"load.average", "0.1"},    {"frequency.governor", NULL}, {NULL, NULL}};

static double value(void *arg, const struct player_run *run)
{
	uint64_t h = (run->boot + 1) * 0x9e3779b97f4a7c15ULL;

	(void)arg;
	return 1000.0 * (1 + ((double)(h >> 40) / 16777216.0 - 0.5) * 0.002);
}

static void connect_player(struct world *w, struct player *p, const char *name, const char *state)
{
	*p = (struct player){.agent = peer_connect(w->g.tcp),
			     .machine = name,
			     .value = value,
			     .arg = w,
			     .facts = before};
	peer_hello_agent(p->agent, name, state);
	peer_agent_ready(p->agent, 0, 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	grid_init(&w->g);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	synthetic_kernel_add(w->client, "old", "6.1.1-test", "x", w->old_kernel);
	synthetic_kernel_add(w->client, "new", "6.12.1-test", "y", w->new_kernel);
	connect_player(w, &w->m1, "m1", "state-1");
	connect_player(w, &w->m2, "m2", "state-2");
	grid_wait_count(&w->g, "SELECT count(*) FROM machine", 2);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	peer_close(w->client);
	peer_close(w->m1.agent);
	peer_close(w->m2.agent);
	assert_int_equal(grid_stop(&w->g), 0);
	grid_deinit(&w->g);
	free(w);
	return 0;
}

static void play(struct player *p, int boots)
{
	for (int i = 0; i < boots; i++)
		player_boot(p);
}

static void submit(struct world *w, const char *machines, const char *kernels, int boots)
{
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	char text[512];

	(void)snprintf(text, sizeof(text),
		       "name: j\nmachines: [%s]\nkernels: [%s]\nlsm: {short: yama}\n"
		       "workloads: [{fake: {size: 1}}]\nrepeat: {boots: %d, iterations: 1}\n"
		       "confirm: false\n",
		       machines, kernels, boots);
	rq.text = text;
	rq.file_name = TEXT("job.yaml");
	kg_msg_free(peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY));
}

static void wait_done(struct world *w, long jobs)
{
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE state = 'done'", jobs);
}

static struct kg_msg *compare(struct world *w, bool across, const Kgrid__V1__CompareCell **ret)
{
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	const Kgrid__V1__CompareReply *r;
	struct kg_msg *m;

	rq.has_across_epochs = 1;
	rq.across_epochs = across;
	m = peer_call(w->client, KG_MSG_COMPARE, &rq.base, KG_MSG_COMPARE_REPLY);
	r = PEER_BODY(m, Kgrid__V1__CompareReply);
	assert_int_equal(r->n_tables, 1);
	*ret = r->tables[0]->rows[0]->cells[1];
	return m;
}

static void test_row_47_a_microcode_update_makes_a_new_epoch_and_no_comparison(void **state)
{
	struct world *w = *state;
	const Kgrid__V1__CompareCell *c;
	struct kg_msg *m;

	submit(w, "m1", "old, new", BLOCKS);
	play(&w->m1, BLOCKS);
	w->m1.facts = updated;
	play(&w->m1, BLOCKS);
	wait_done(w, 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM epoch WHERE machine='m1'"), 2);
	grid_wait_count(&w->g,
			"SELECT count(*) FROM event WHERE kind = 'epoch' AND text LIKE "
			"'%0x100%0x101%'",
			1);
	m = compare(w, false, &c);
	assert_string_equal(c->verdict, "incomparable");
	assert_false(c->has_delta_pct);
	assert_contains(c->reason, "0x100");
	assert_contains(c->reason, "0x101");
	assert_contains(c->reason, "--across-epochs");
	kg_msg_free(m);
	m = compare(w, true, &c);
	assert_string_equal(c->verdict, "same");
	assert_true(c->has_delta_pct);
	kg_msg_free(m);
}

static void test_row_47_only_the_machine_that_changed_enters_a_new_epoch(void **state)
{
	struct world *w = *state;
	Kgrid__V1__EpochsRequest rq = KGRID__V1__EPOCHS_REQUEST__INIT;
	const Kgrid__V1__EpochsReply *r;
	struct kg_msg *m;

	submit(w, "m1, m2", "old, new", 2);
	play(&w->m1, 4);
	play(&w->m2, 2);
	w->m2.facts = updated;
	play(&w->m2, 2);
	wait_done(w, 1);
	m = peer_call(w->client, KG_MSG_EPOCHS, &rq.base, KG_MSG_EPOCHS_REPLY);
	r = PEER_BODY(m, Kgrid__V1__EpochsReply);
	assert_int_equal(r->n_epochs, 3);
	for (size_t i = 0; i < r->n_epochs; i++) {
		bool second = r->epochs[i]->number == 2;

		assert_string_equal(r->epochs[i]->machine,
				    second || i > 0 ? "m2" : r->epochs[i]->machine);
		assert_int_equal(r->epochs[i]->n_changes, second ? 1 : 0);
		if (second) {
			assert_string_equal(r->epochs[i]->changes[0]->name, "cpu.microcode");
			assert_string_equal(r->epochs[i]->changes[0]->b, "0x101");
		}
	}
	kg_msg_free(m);
}

static void test_another_mitigation_of_another_kernel_is_no_new_epoch(void **state)
{
	struct world *w = *state;

	submit(w, "m1", "old", 2);
	play(&w->m1, 2);
	wait_done(w, 1);
	w->m1.facts = mitigated;
	submit(w, "m1", "new", 2);
	play(&w->m1, 2);
	wait_done(w, 2);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM epoch"), 1);
	submit(w, "m1", "old", 2); /* the same kernel as before says something else now */
	play(&w->m1, 2);
	wait_done(w, 3);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM epoch"), 2);
}

static const Kgrid__V1__DiffItem *item(const Kgrid__V1__DiffReply *r, const char *name)
{
	for (size_t i = 0; i < r->n_items; i++)
		if (strcmp(r->items[i]->name, name) == 0)
			return r->items[i];
	return NULL;
}

static struct kg_msg *diff(struct world *w, const char *a, const char *b)
{
	Kgrid__V1__DiffRequest rq = KGRID__V1__DIFF_REQUEST__INIT;

	rq.a = TEXT(a);
	rq.b = TEXT(b);
	return peer_call(w->client, KG_MSG_DIFF, &rq.base, KG_MSG_DIFF_REPLY);
}

static void test_boots_epochs_and_kernels_are_told_apart_by_what_differs(void **state)
{
	struct world *w = *state;
	const Kgrid__V1__DiffReply *r;
	const Kgrid__V1__DiffItem *x;
	struct kg_msg *m;
	Kgrid__V1__DiffRequest rq = KGRID__V1__DIFF_REQUEST__INIT;
	char text[512];

	submit(w, "m1", "old", 2);
	play(&w->m1, 1);
	w->m1.facts = updated;
	play(&w->m1, 1);
	wait_done(w, 1);
	m = diff(w, "boot:1", "boot:2");
	r = PEER_BODY(m, Kgrid__V1__DiffReply);
	x = item(r, "microcode");
	assert_non_null(x);
	assert_string_equal(x->a, "0x100");
	assert_string_equal(x->b, "0x101");
	assert_string_equal(x->settable, "environment");
	assert_null(item(r, "load.average"));	    /* differs at every look */
	assert_null(item(r, "frequency.governor")); /* unsupported on both */
	kg_msg_free(m);
	m = diff(w, "epoch:m1/1", "epoch:m1/2");
	assert_non_null(item(PEER_BODY(m, Kgrid__V1__DiffReply), "microcode"));
	kg_msg_free(m);
	m = diff(w, "kernel:old", "kernel:new");
	assert_true(PEER_BODY(m, Kgrid__V1__DiffReply)->n_items > 0);
	kg_msg_free(m);
	m = diff(w, "boot:1", "boot:1");
	assert_int_equal(PEER_BODY(m, Kgrid__V1__DiffReply)->n_items, 0);
	kg_msg_free(m);
	rq.a = TEXT("boot:77");
	rq.b = TEXT("boot:1");
	assert_int_equal(peer_call_error(w->client, KG_MSG_DIFF, &rq.base, text, sizeof(text)),
			 KG_ENOTFOUND);
	assert_contains(text, "77");
}

static void test_the_same_facts_are_one_row(void **state)
{
	struct world *w = *state;
	long sets;

	submit(w, "m1", "old", 2);
	play(&w->m1, 2);
	wait_done(w, 1);
	sets = grid_count(&w->g, "SELECT count(*) FROM fact_set");
	submit(w, "m1", "old", 10);
	play(&w->m1, 10);
	wait_done(w, 2);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM fact_set"), sets);
	assert_true(grid_count(&w->g, "SELECT count(*) FROM boot_facts") >= 12);
}

static void test_provenance_of_a_boot_says_what_is_unsupported(void **state)
{
	struct world *w = *state;
	Kgrid__V1__ProvenanceRequest rq = KGRID__V1__PROVENANCE_REQUEST__INIT;
	const Kgrid__V1__ProvenanceReply *r;
	struct kg_msg *m;
	bool seen = false;

	submit(w, "m1", "old", 2);
	play(&w->m1, 2);
	wait_done(w, 1);
	rq.has_boot = 1;
	rq.boot = 1;
	m = peer_call(w->client, KG_MSG_PROVENANCE, &rq.base, KG_MSG_PROVENANCE_REPLY);
	r = PEER_BODY(m, Kgrid__V1__ProvenanceReply);
	assert_true(r->n_phases >= 1);
	for (size_t i = 0; i < r->n_phases; i++)
		for (size_t k = 0; k < r->phases[i]->n_facts; k++)
			if (strcmp(r->phases[i]->facts[k]->name, "frequency.governor") == 0) {
				assert_null(r->phases[i]->facts[k]->value);
				seen = true;
			}
	assert_true(seen);
	kg_msg_free(m);
	kg_msg_free(peer_expect(w->client, KG_MSG_STREAM_END));
}

static void test_a_calibration_gives_a_noise_profile(void **state)
{
	struct world *w = *state;
	Kgrid__V1__CalibrateRequest rq = KGRID__V1__CALIBRATE_REQUEST__INIT;
	Kgrid__V1__NoiseRequest nq = KGRID__V1__NOISE_REQUEST__INIT;
	const Kgrid__V1__NoiseReply *r;
	struct kg_msg *m;

	rq.machine = TEXT("m1");
	rq.has_boots = 1;
	rq.boots = 12;
	rq.has_every_seconds = 1;
	rq.every_seconds = 7 * 86400;
	kg_msg_free(peer_call(w->client, KG_MSG_CALIBRATE, &rq.base, KG_MSG_SUBMIT_REPLY));
	play(&w->m1, 12);
	wait_done(w, 1);
	m = peer_call(w->client, KG_MSG_NOISE, &nq.base, KG_MSG_NOISE_REPLY);
	r = PEER_BODY(m, Kgrid__V1__NoiseReply);
	assert_int_equal(r->n_profiles, 1);
	assert_int_equal(r->profiles[0]->boots, 12);
	assert_true(r->profiles[0]->between_cov_pct > 0.02 &&
		    r->profiles[0]->between_cov_pct < 0.12);
	assert_true(r->profiles[0]->min_effect_pct >= 1);
	assert_int_equal(r->profiles[0]->every_seconds, 7 * 86400);
	kg_msg_free(m);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM recurring"), 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job WHERE kind='calibrate'"), 1);
	rq.has_stop = rq.stop = 1;
	kg_msg_free(peer_call(w->client, KG_MSG_CALIBRATE, &rq.base, KG_MSG_DONE));
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM recurring"), 0);
}

static void test_a_recurring_calibration_comes_again(void **state)
{
	struct world *w = *state;
	Kgrid__V1__CalibrateRequest rq = KGRID__V1__CALIBRATE_REQUEST__INIT;
	char newest[65];

	rq.machine = TEXT("m1");
	rq.has_boots = 1;
	rq.boots = 4;
	rq.has_every_seconds = 1;
	rq.every_seconds = 3600;
	kg_msg_free(peer_call(w->client, KG_MSG_CALIBRATE, &rq.base, KG_MSG_SUBMIT_REPLY));
	play(&w->m1, 4);
	wait_done(w, 1);
	/* One that is added later is not taken: its boots would not go with those before. */
	synthetic_kernel_add(w->client, "newest", "6.18.1-test", "z", newest);
	/* As if an hour had passed while the coordinator was down. */
	assert_int_equal(grid_stop(&w->g), 0);
	grid_change(&w->g, "UPDATE recurring SET next_ns = next_ns - 3600000000000");
	peer_close(w->client);
	peer_close(w->m1.agent);
	peer_close(w->m2.agent);
	grid_start(&w->g, NULL);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	connect_player(w, &w->m1, "m1", "state-1");
	connect_player(w, &w->m2, "m2", "state-2");
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE kind = 'calibrate'", 2);
	play(&w->m1, 4);
	wait_done(w, 2);
	grid_wait_count(&w->g, "SELECT count(*) FROM recurring WHERE last_job = 2", 1);
	grid_wait_count(&w->g, "SELECT count(DISTINCT kernel) FROM boot", 1);
}

static void test_an_import_is_kept_as_it_was_given(void **state)
{
	struct world *w = *state;
	Kgrid__V1__ImportRequest rq = KGRID__V1__IMPORT_REQUEST__INIT;
	Kgrid__V1__ImportsRequest lq = KGRID__V1__IMPORTS_REQUEST__INIT;
	struct kg_msg *m;
	char text[512];

	rq.name = TEXT("field");
	rq.text = TEXT("table,machine\r\n1,\"b \"\"x\"\"\"\r\n");
	kg_msg_free(peer_call(w->client, KG_MSG_IMPORT, &rq.base, KG_MSG_DONE));
	kg_msg_free(peer_call(w->client, KG_MSG_IMPORT, &rq.base, KG_MSG_DONE)); /* the same */
	rq.text = TEXT("other");
	assert_int_equal(peer_call_error(w->client, KG_MSG_IMPORT, &rq.base, text, sizeof(text)),
			 KG_EEXISTS);
	lq.selector = TEXT("field");
	m = peer_call(w->client, KG_MSG_IMPORTS, &lq.base, KG_MSG_IMPORTS_REPLY);
	assert_int_equal(PEER_BODY(m, Kgrid__V1__ImportsReply)->n_imports, 1);
	assert_string_equal(PEER_BODY(m, Kgrid__V1__ImportsReply)->imports[0]->text,
			    "table,machine\r\n1,\"b \"\"x\"\"\"\r\n");
	kg_msg_free(m);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_row_47_a_microcode_update_makes_a_new_epoch_and_no_comparison),
		T(test_row_47_only_the_machine_that_changed_enters_a_new_epoch),
		T(test_another_mitigation_of_another_kernel_is_no_new_epoch),
		T(test_boots_epochs_and_kernels_are_told_apart_by_what_differs),
		T(test_the_same_facts_are_one_row),
		T(test_provenance_of_a_boot_says_what_is_unsupported),
		T(test_a_calibration_gives_a_noise_profile),
		T(test_a_recurring_calibration_comes_again),
		T(test_an_import_is_kept_as_it_was_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
