/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From blocks to a confirmed regression: a real coordinator, machines played by hand. Row 40: one
 * flaky failure files nothing; row 43: what confirms are fresh boots.
 */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"
#include "tests/lib/player.h"
#include "tests/lib/synthetic_kernel.h"

#define BLOCKS 6

struct world {
	struct grid g;
	char dir[64];
	char config[128], told[128], mailed[128];
	struct peer *client;
	struct player m1, m2;
	char old_kernel[65], new_kernel[65];
	double loss;	   /* of the new kernel, as a share */
	bool in_first_job; /* the loss goes away after it */
	bool by_machine;   /* m1 loses with size=1, m2 with size=2 */
	uint64_t last_boot_of_first;
};

/* 0.2 % of noise by boot, none within it. */
static double value(void *arg, const struct player_run *run)
{
	struct world *w = arg;
	uint64_t h = (run->boot + 1) * 0x9e3779b97f4a7c15ULL;
	double noise = ((double)(h >> 40) / 16777216.0 - 0.5) * 0.004;
	bool slow = strcmp(run->kernel, w->new_kernel) == 0 &&
		    (!w->in_first_job || run->boot <= w->last_boot_of_first);

	if (w->by_machine && !strstr(run->params, strcmp(run->machine, "m1") == 0 ? "1" : "2"))
		slow = false;
	return 1000.0 * (1 + noise) * (slow ? 1 - w->loss : 1);
}

static void connect_player(struct world *w, struct player *p, const char *name, const char *state)
{
	*p = (struct player){
		.agent = peer_connect(w->g.tcp), .machine = name, .value = value, .arg = w};
	peer_hello_agent(p->agent, name, state);
	peer_agent_ready(p->agent, 0, 0);
}

static void write_text(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char text[512], script[128], mailer[128];
	const char *extra[] = {"--config", NULL, NULL};

	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/kgrid-tell-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	(void)snprintf(w->config, sizeof(w->config), "%s/coordinator.yaml", w->dir);
	(void)snprintf(w->told, sizeof(w->told), "%s/told", w->dir);
	(void)snprintf(w->mailed, sizeof(w->mailed), "%s/mailed", w->dir);
	(void)snprintf(script, sizeof(script), "%s/tell", w->dir);
	(void)snprintf(text, sizeof(text), "#!/bin/sh\ncat >>%s\n", w->told);
	write_text(script, text, 0700);
	(void)snprintf(text, sizeof(text),
		       "#!/bin/sh\n[ \"$*\" = '-i perf-team@example.org' ] && cat >>%s\n",
		       w->mailed);
	(void)snprintf(mailer, sizeof(mailer), "%s/sendmail", w->dir);
	write_text(mailer, text, 0700);
	(void)snprintf(text, sizeof(text), "notify-commands: [\"tell %s\"]\nsendmail: [%s, -i]\n",
		       script, mailer);
	write_text(w->config, text, 0600);
	extra[1] = w->config;
	grid_init(&w->g);
	grid_start(&w->g, extra);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	synthetic_kernel_add(w->client, "old", "6.1.1-test", "x", w->old_kernel);
	synthetic_kernel_add(w->client, "new", "6.12.1-test", "y", w->new_kernel);
	connect_player(w, &w->m1, "m1", "state-1");
	connect_player(w, &w->m2, "m2", "state-2");
	grid_wait_count(&w->g, "SELECT count(*) FROM machine", 2);
	w->loss = 0.05;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char line[128];

	peer_close(w->client);
	peer_close(w->m1.agent);
	peer_close(w->m2.agent);
	if (w->g.pid)
		assert_int_equal(grid_stop(&w->g), 0);
	grid_deinit(&w->g);
	(void)snprintf(line, sizeof(line), "rm -r %s", w->dir);
	assert_int_equal(system(line), 0);
	free(w);
	return 0;
}

static void submit(struct world *w, const char *more)
{
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	char text[1024];

	(void)snprintf(text, sizeof(text),
		       "name: nightly\nmachines: [m1]\nkernels: [old, new]\nlsm: {short: yama}\n"
		       "workloads: [{fake: {size: [1, 2]}}]\n"
		       "repeat: {boots: %d, iterations: 2}\n%s",
		       BLOCKS, more);
	rq.text = text;
	rq.file_name = (char *)(uintptr_t) "job.yaml";
	kg_msg_free(peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY));
}

static void play(struct player *p, int boots)
{
	for (int i = 0; i < boots; i++)
		player_boot(p);
}

static void wait_stage(struct world *w, const char *stage)
{
	char sql[160];

	(void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM regression WHERE stage = '%s'",
		       stage);
	grid_wait_count(&w->g, sql, 1);
}

static Kgrid__V1__RegressionsReply *ask(struct world *w, uint64_t id, struct kg_msg **ret_m)
{
	Kgrid__V1__RegressionsRequest rq = KGRID__V1__REGRESSIONS_REQUEST__INIT;

	rq.has_id = id != 0;
	rq.id = id;
	*ret_m = peer_call(w->client, KG_MSG_REGRESSIONS, &rq.base, KG_MSG_REGRESSIONS_REPLY);
	return (Kgrid__V1__RegressionsReply *)(uintptr_t)kg_msg_body(*ret_m);
}

static void read_text(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	(void)fclose(f);
}

static void test_a_regression_is_tried_again_on_two_machines_and_people_are_told(void **state)
{
	struct world *w = *state;
	Kgrid__V1__RegressionsReply *r;
	struct kg_msg *m;
	char text[4096];
	size_t n;

	submit(w, "notify: [command:tell, mail:perf-team@example.org, command:unknown]\n");
	play(&w->m1, 2 * BLOCKS);
	wait_stage(w, "confirming");
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE kind = 'confirm'", 1);
	/* three blocks of two kernels, on m1 and on the second machine of the vendor */
	play(&w->m1, 6);
	play(&w->m2, 6);
	wait_stage(w, "confirmed");
	m = NULL;
	r = ask(w, 1, &m);
	assert_int_equal(r->n_regressions, 1); /* two sizes, one cause */
	assert_string_equal(r->regressions[0]->axis, "kernel");
	assert_string_equal(r->regressions[0]->from, "old");
	assert_string_equal(r->regressions[0]->to, "new");
	assert_string_equal(r->regressions[0]->state, "open");
	assert_int_equal(r->regressions[0]->n_members, 2);
	for (n = 0; n < 2; n++) {
		const Kgrid__V1__RegressionMember *x = r->regressions[0]->members[n];

		assert_true(x->effect_pct < -4.5 && x->effect_pct > -5.5);
		/* One draw in twenty has an interval beside the true effect. */
		assert_true(x->lo_pct < x->effect_pct && x->hi_pct > x->effect_pct);
		assert_true(x->lo_pct > -7 && x->hi_pct < -3);
		assert_string_equal(x->stage, "confirmed");
		assert_string_equal(x->confirm_machine, "m2");
	}
	assert_true(r->regressions[0]->n_events >= 3); /* seen, tried, confirmed */
	kg_msg_free(m);
	grid_wait_count(&w->g, "SELECT count(*) FROM notice WHERE state = 'sent'", 2);
	grid_wait_count(&w->g,
			"SELECT count(*) FROM notice WHERE state = 'failed' AND target = "
			"'command:unknown' AND reason LIKE 'no such command%'",
			1);
	read_text(w->mailed, text, sizeof(text));
	assert_contains(text, "To: perf-team@example.org\nSubject: kgrid: regression 1, kernel old "
			      "-> new\n");
	assert_contains(text, "\n\nkgrid: regression 1, kernel old -> new\nconfirmed: ");
	read_text(w->told, text, sizeof(text));
	assert_contains(text, "kgrid: regression 1, kernel old -> new");
	assert_contains(text, "m1  fake size=2  rate  new/short: -");
}

static void retest(struct world *w)
{
	Kgrid__V1__RegressionAction act = KGRID__V1__REGRESSION_ACTION__INIT;

	act.has_id = 1;
	act.id = 1;
	act.action = (char *)(uintptr_t) "retest";
	act.user = (char *)(uintptr_t) "ada";
	kg_msg_free(peer_call(w->client, KG_MSG_REGRESSION_ACTION, &act.base, KG_MSG_DONE));
}

static void test_row_40_what_does_not_come_again_is_refuted(void **state)
{
	struct world *w = *state;

	w->in_first_job = true;
	w->last_boot_of_first = 2 * BLOCKS;
	submit(w, "notify: [\"command:tell\"]\n");
	play(&w->m1, 2 * BLOCKS);
	wait_stage(w, "confirming");
	play(&w->m1, 6);
	play(&w->m2, 6);
	wait_stage(w, "refuted");
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM notice"), 0);
	retest(w); /* a person does not believe it */
	grid_wait_count(&w->g, "SELECT count(*) FROM job WHERE kind = 'confirm'", 2);
	play(&w->m1, 6);
	play(&w->m2, 6);
	wait_stage(w, "refuted");
}

static void test_nothing_is_tried_where_the_job_says_so_until_a_person_asks(void **state)
{
	struct world *w = *state;

	submit(w, "confirm: false\n");
	play(&w->m1, 2 * BLOCKS);
	grid_wait_count(&w->g,
			"SELECT count(*) FROM regression_event WHERE text LIKE "
			"'not tried again: the job file says%'",
			1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 1);
	retest(w);
	wait_stage(w, "confirming");
	play(&w->m1, 6);
	play(&w->m2, 6);
	wait_stage(w, "confirmed");
}

static void test_a_spent_budget_is_said_and_nothing_runs(void **state)
{
	struct world *w = *state;

	submit(w, "budget: {wall: 1m}\n");
	play(&w->m1, 2 * BLOCKS);
	grid_wait_count(&w->g,
			"SELECT count(*) FROM regression_event WHERE text LIKE "
			"'not tried again: it would take about % min, and the budget%'",
			1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 1);
}

static void test_no_loss_no_regression(void **state)
{
	struct world *w = *state;
	Kgrid__V1__RegressionsReply *r;
	struct kg_msg *m;
	char sql[96];

	w->loss = 0;
	submit(w, "");
	play(&w->m1, 2 * BLOCKS);
	(void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM detection WHERE block <= %d",
		       BLOCKS);
	grid_wait_count(&w->g, sql, BLOCKS);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM regression"), 0);
	r = ask(w, 0, &m);
	assert_int_equal(r->n_regressions, 0);
	assert_true(r->n_notes > 0); /* why it is empty */
	kg_msg_free(m);
}

static void test_it_goes_on_after_a_killed_coordinator(void **state)
{
	struct world *w = *state;
	const char *extra[] = {"--config", w->config, NULL};

	submit(w, "");
	play(&w->m1, 2 * BLOCKS);
	wait_stage(w, "confirming");
	grid_kill(&w->g);
	peer_close(w->client);
	peer_close(w->m1.agent);
	peer_close(w->m2.agent);
	grid_start(&w->g, extra);
	w->client = peer_connect(w->g.socket);
	peer_hello_client(w->client);
	connect_player(w, &w->m1, "m1", "state-1");
	connect_player(w, &w->m2, "m2", "state-2");
	play(&w->m1, 6);
	play(&w->m2, 6);
	wait_stage(w, "confirmed");
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM job"), 2);
}

static void test_carry_over_a_fixed_one_that_shows_again_is_open(void **state)
{
	struct world *w = *state;
	Kgrid__V1__RegressionAction act = KGRID__V1__REGRESSION_ACTION__INIT;

	submit(w, "confirm: false\n");
	play(&w->m1, 2 * BLOCKS);
	grid_wait_count(&w->g, "SELECT count(*) FROM regression", 1);
	act.has_id = 1;
	act.id = 1;
	act.action = (char *)(uintptr_t) "close";
	act.text = (char *)(uintptr_t) "by the next one";
	kg_msg_free(peer_call(w->client, KG_MSG_REGRESSION_ACTION, &act.base, KG_MSG_DONE));
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM regression WHERE state='fixed'"),
			 1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM regression_event WHERE text = "
					   "'fixed: by the next one'"),
			 1);
	submit(w, "confirm: false\npriority: 60\n");
	play(&w->m1, 2 * BLOCKS);
	grid_wait_count(&w->g, "SELECT count(*) FROM regression WHERE state = 'open' AND seen = 2",
			1);
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM regression"), 1);
}

/* The job is done when the last machine's last block is seen, and that block alone shows what m2
 * loses: a confirmation made before it is stored would leave m2's rows out. */
static void test_a_confirmation_tries_what_the_last_block_showed(void **state)
{
	struct world *w = *state;
	Kgrid__V1__SubmitRequest rq = KGRID__V1__SUBMIT_REQUEST__INIT;
	char text[] = "name: nightly\nmachines: [m1, m2]\nkernels: [old, new]\n"
		      "lsm: {short: yama}\nworkloads: [{fake: {size: [1, 2]}}]\n"
		      "repeat: {boots: 5, iterations: 2}\n";

	w->by_machine = true;
	rq.text = text;
	rq.file_name = (char *)(uintptr_t) "job.yaml";
	kg_msg_free(peer_call(w->client, KG_MSG_SUBMIT, &rq.base, KG_MSG_SUBMIT_REPLY));
	play(&w->m1, 10);
	grid_wait_count(&w->g, "SELECT count(*) FROM regression_member", 1);
	play(&w->m2, 10);
	wait_stage(w, "confirming");
	assert_int_equal(grid_count(&w->g, "SELECT count(*) FROM regression_member"), 2);
	assert_int_equal(grid_count(&w->g, "SELECT count(DISTINCT params) FROM cell JOIN job ON "
					   "job.id = cell.job WHERE job.kind = 'confirm'"),
			 2);
}

/* A frame holds 1 MiB; what people wrote may be more. */
static void test_an_answer_larger_than_a_frame_comes_whole(void **state)
{
	struct world *w = *state;
	Kgrid__V1__RegressionAction act = KGRID__V1__REGRESSION_ACTION__INIT;
	Kgrid__V1__RegressionsRequest rq = KGRID__V1__REGRESSIONS_REQUEST__INIT;
	char text[4001];
	uint8_t *bytes = NULL;
	size_t len = 0;
	struct kg_err err;
	struct kg_msg *m;
	bool last = false;

	submit(w, "confirm: false\n");
	play(&w->m1, 2 * BLOCKS);
	grid_wait_count(&w->g, "SELECT count(*) FROM regression", 1);
	memset(text, 'c', 4000);
	text[4000] = '\0';
	act.has_id = rq.has_id = 1;
	act.id = rq.id = 1;
	act.action = (char *)(uintptr_t) "comment";
	act.text = text;
	for (int i = 0; i < 300; i++)
		kg_msg_free(peer_call(w->client, KG_MSG_REGRESSION_ACTION, &act.base, KG_MSG_DONE));
	peer_send(w->client, KG_MSG_REGRESSIONS, 77, &rq.base);
	while (!last) {
		const Kgrid__V1__ReplyPart *p;

		m = peer_expect(w->client, KG_MSG_REPLY_PART);
		p = PEER_BODY(m, Kgrid__V1__ReplyPart);
		assert_int_equal(p->type, KG_MSG_REGRESSIONS_REPLY);
		bytes = realloc(bytes, len + p->data.len);
		memcpy(bytes + len, p->data.data, p->data.len);
		len += p->data.len;
		last = p->last;
		kg_msg_free(m);
	}
	assert_int_equal(kg_msg_decode_reply(KG_MSG_REGRESSIONS_REPLY, bytes, len, &m, &err), 0);
	assert_true(PEER_BODY(m, Kgrid__V1__RegressionsReply)->regressions[0]->n_events >= 300);
	kg_msg_free(m);
	free(bytes);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_regression_is_tried_again_on_two_machines_and_people_are_told),
		T(test_row_40_what_does_not_come_again_is_refuted),
		T(test_nothing_is_tried_where_the_job_says_so_until_a_person_asks),
		T(test_a_spent_budget_is_said_and_nothing_runs),
		T(test_no_loss_no_regression),
		T(test_it_goes_on_after_a_killed_coordinator),
		T(test_carry_over_a_fixed_one_that_shows_again_is_open),
		T(test_a_confirmation_tries_what_the_last_block_showed),
		T(test_an_answer_larger_than_a_frame_comes_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
