/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Series over kernels, and what is blamed on them. */
#include "coordinator/report/history.h"
#include "tests/unit/report/fixture.h"

static const struct epoch_change microcode[] = {{"cpu.microcode", "0x1", "0x2"}};
static const struct report_epoch epochs[] = {{"m", 2, microcode, 1}};

static char names[128][32];

/* A point per kernel 6.1, 6.2, ...: 5 boots a kernel. From `step` on the level is `after` %, from
 * `boundary` on the epoch is 2. */
static struct rows *series(size_t metric, size_t n, size_t step, double after, size_t boundary)
{
	struct rows *r = rows_new();

	for (size_t i = 0; i < n; i++) {
		size_t c;

		(void)snprintf(names[i], sizeof(names[i]), "6.%zu", i + 1);
		c = rows_cell(r, "m", names[i], "x", "net", "size=1");
		r->cells[c].release = names[i];
		rows_boots(r, c, metric, 5, i < boundary ? 1 : 2, i < step ? 100 : 100 + after,
			   0.003);
	}
	r->in.epochs = epochs;
	r->in.n_epochs = 1;
	return r;
}

static Kgrid__V1__HistoryReply *make(struct rows *r, const char *order, bool across)
{
	const struct history_input in = {.rows = &r->in, .order = order, .across_epochs = across};
	Kgrid__V1__HistoryReply *reply = calloc(1, sizeof(*reply));
	struct kg_err err = {""};

	kgrid__v1__history_reply__init(reply);
	if (report_history(&in, reply, &err) < 0)
		fail_msg("%s", err.text);
	return reply;
}

static void drop(Kgrid__V1__HistoryReply *r)
{
	kgrid__v1__history_reply__free_unpacked(r, NULL);
}

static void test_points_stand_by_version_or_by_date(void **state)
{
	static const char *const labels[] = {"n", "o", "p", "q"};
	static const char *const releases[] = {"6.16", "6.2", "6.16-rc1", "6.12"};
	static const char *const by_version[] = {"o", "q", "p", "n"};
	struct rows *r = rows_new();

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		size_t c = rows_cell(r, "m", labels[i], "x", "net", "");

		r->cells[c].release = releases[i];
		rows_boots(r, c, 0, 3, 1, 100, 0.01);
	}
	for (int round = 0; round < 2; round++) {
		Kgrid__V1__HistoryReply *reply = make(r, round ? "date" : NULL, false);

		assert_int_equal(reply->n_series, 1);
		assert_int_equal(reply->series[0]->n_points, 4);
		for (size_t i = 0; i < 4; i++)
			assert_string_equal(reply->series[0]->points[i]->kernel,
					    round ? labels[i] : by_version[i]);
		assert_int_equal(reply->series[0]->points[0]->boots, 3);
		assert_true(has_note(reply, "1 of 1 series has fewer than 14 points"));
		assert_true(has_note(reply, "7 points before it and 7 after, or 21 and 3"));
		assert_int_equal(reply->accounting->slots, 12);
		drop(reply);
	}
}

static void test_step_has_its_place_size_and_word(void **state)
{
	static const struct {
		size_t metric;
		double after;
		const char *word;
	} cases[] = {{0, -10, "regression"},
		     {0, 10, "improvement"},
		     {1, 10, "regression"},
		     {1, -10, "improvement"},
		     {2, 10, "different"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rows *r = series(cases[i].metric, 40, 25, cases[i].after, 1000);
		Kgrid__V1__HistoryReply *reply = make(r, "version", false);
		const Kgrid__V1__HistoryChange *c;

		assert_int_equal(reply->series[0]->n_points, 40);
		assert_int_equal(reply->series[0]->n_changes, 1);
		c = reply->series[0]->changes[0];
		assert_string_equal(c->kind, "step");
		assert_string_equal(c->verdict, cases[i].word);
		assert_int_equal(c->index, 25);
		assert_true(c->lo <= 25 && c->hi >= 25);
		assert_true(fabs(fabs(c->effect_pct) - 10) < 1);
		assert_true(c->has_lo_pct && c->has_hi_pct);
		assert_true(c->lo_pct < c->effect_pct && c->effect_pct < c->hi_pct);
		assert_true(c->hi_pct - c->lo_pct < 1 && (c->lo_pct > 0) == (c->hi_pct > 0));
		assert_true((c->effect_pct > 0) ==
			    (cases[i].metric == 1 ? cases[i].after < 0 : cases[i].after > 0));
		assert_int_equal(reply->n_notes, 0);
		drop(reply);
	}
}

static void test_row_47_a_step_at_an_epoch_is_not_the_kernels(void **state)
{
	struct rows *r = series(0, 40, 25, -10, 25);
	Kgrid__V1__HistoryReply *reply = make(r, NULL, false);
	const Kgrid__V1__HistoryChange *c = reply->series[0]->changes[0];

	(void)state;
	assert_int_equal(reply->series[0]->n_changes, 1);
	assert_string_equal(c->kind, "epoch");
	assert_string_equal(c->verdict, "incomparable");
	assert_int_equal(c->index, 25);
	assert_true(c->has_before && fabs(c->before - 100) < 1 && fabs(c->after - 90) < 1);
	assert_true(has_note(reply, "'m', epoch 1 to 2: microcode 0x1 -> 0x2"));
	drop(reply);

	reply = make(r, NULL, true); /* asked for: both are said, and that they coincide */
	assert_int_equal(reply->series[0]->n_changes, 2);
	assert_string_equal(reply->series[0]->changes[0]->kind, "epoch");
	assert_string_equal(reply->series[0]->changes[1]->kind, "step");
	assert_string_equal(reply->series[0]->changes[1]->verdict, "regression");
	assert_true(has_note(reply, "1 step is where the epoch changes too"));
	drop(reply);
}

static void test_step_away_from_an_epoch_stays_the_kernels(void **state)
{
	struct rows *r = series(0, 50, 30, -10, 10);
	Kgrid__V1__HistoryReply *reply = make(r, NULL, false);

	(void)state;
	assert_int_equal(reply->series[0]->n_changes, 2);
	assert_string_equal(reply->series[0]->changes[0]->kind, "epoch");
	assert_int_equal(reply->series[0]->changes[0]->index, 10);
	assert_false(reply->series[0]->changes[0]->has_before);
	assert_string_equal(reply->series[0]->changes[1]->kind, "step");
	assert_int_equal(reply->series[0]->changes[1]->index, 30);
	drop(reply);
}

static void test_row_46_a_kernel_measured_in_two_epochs_is_two_points(void **state)
{
	struct rows *r = rows_new();
	Kgrid__V1__HistoryReply *reply;
	size_t a = rows_cell(r, "m", "6.1", "x", "net", ""), b;

	(void)state;
	b = rows_cell(r, "m", "6.2", "x", "net", "");
	rows_boots(r, b, 0, 3, 1, 200, 0.001);
	rows_boots(r, a, 0, 3, 1, 200, 0.001);
	rows_boots(r, a, 0, 4, 2, 100, 0.001);
	reply = make(r, NULL, false);
	assert_int_equal(reply->series[0]->n_points, 3);
	assert_string_equal(reply->series[0]->points[2]->kernel, "6.1");
	assert_true(fabs(reply->series[0]->points[2]->value - 100) < 1);
	assert_int_equal(reply->series[0]->points[2]->epoch, 2);
	drop(reply);
	reply = make(r, NULL, true);
	assert_int_equal(reply->series[0]->n_points, 2);
	assert_int_equal(reply->series[0]->points[0]->boots, 7);
	drop(reply);
}

static void test_series_are_kept_apart(void **state)
{
	struct rows *r = rows_new();
	Kgrid__V1__HistoryReply *reply;

	(void)state;
	rows_value(r, rows_cell(r, "m", "a", "x", "net", "size=1"), 0, 1, 1);
	rows_value(r, 0, 1, 1, 1);
	rows_value(r, rows_cell(r, "n", "a", "x", "net", "size=1"), 0, 2, 1);
	rows_value(r, rows_cell(r, "m", "a", "y", "net", "size=1"), 0, 3, 1);
	rows_value(r, rows_cell(r, "m", "a", "x", "net", "size=2"), 0, 4, 1);
	rows_value(r, rows_cell(r, "m", "a", "x", "hack", "size=1"), 0, 5, NAN);
	reply = make(r, NULL, false);
	assert_int_equal(reply->n_series, 5);
	assert_true(has_note(reply, "1 value that is no finite number"));
	drop(reply);
	r->in.metric = "latency";
	reply = make(r, NULL, false);
	assert_int_equal(reply->n_series, 1);
	assert_string_equal(reply->series[0]->direction, "lower");
	drop(reply);
}

static void test_empty_history_says_so_and_options_are_checked(void **state)
{
	struct rows *r = rows_new();
	Kgrid__V1__HistoryReply *reply = make(r, NULL, false), bad = KGRID__V1__HISTORY_REPLY__INIT;
	struct history_input in = {.rows = &r->in, .order = "name"};
	struct kg_err err;

	(void)state;
	assert_int_equal(reply->n_series, 0);
	assert_true(has_note(reply, "no valid result"));
	drop(reply);
	assert_int_equal(report_history(&in, &bad, &err), KG_EINVALID);
	assert_has(err.text, "'name' is not one of version, date");
	in = (struct history_input){.rows = &r->in, .method = "cusum"};
	assert_int_equal(report_history(&in, &bad, &err), KG_EINVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points_stand_by_version_or_by_date),
		cmocka_unit_test(test_step_has_its_place_size_and_word),
		cmocka_unit_test(test_row_47_a_step_at_an_epoch_is_not_the_kernels),
		cmocka_unit_test(test_step_away_from_an_epoch_stays_the_kernels),
		cmocka_unit_test(test_row_46_a_kernel_measured_in_two_epochs_is_two_points),
		cmocka_unit_test(test_series_are_kept_apart),
		cmocka_unit_test(test_empty_history_says_so_and_options_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
