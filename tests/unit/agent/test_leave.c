/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel that kexec cannot leave is left by a plain reboot; settings come before anything runs. */
#include "tests/unit/agent/agent_steps.h"

static bool has(const struct fixture *f, enum agent_action_kind kind)
{
	return find(f, kind) != NULL;
}

static void stage_is(const struct fixture *f, const char *stage)
{
	const struct agent_record *r = record(f, AGENT_REC_STAGE);

	assert_non_null(r);
	assert_string_equal(r->stage, stage);
}

static void order_stuck(struct fixture *f, const char *stuck)
{
	struct agent_event ev = {.kind = AGENT_EV_ORDER};

	ev.u.order.boot = 7;
	ev.u.order.lease_epoch = 3;
	ev.u.order.n_runs = 1;
	ev.u.order.stuck = stuck;
	step(f, ev);
}

static void start_stuck(struct fixture *f, enum agent_stage stage, const char *host,
			const char *stuck)
{
	struct agent_saved saved = {
		.stage = stage, .boot = 7, .lease_epoch = 3, .n_runs = 1, .host_boot_id = HOST};
	struct agent_event ev = {.kind = AGENT_EV_START};

	agent_init(&f->a);
	ev.u.start.saved = &saved;
	ev.u.start.host_boot_id = host;
	ev.u.start.stuck = stuck;
	step(f, ev);
}

static void refuse_load(struct fixture *f)
{
	struct agent_event ev = {.kind = AGENT_EV_LOADED};

	ev.u.done.outcome = "harness-error";
	ev.u.done.reason = "lockdown";
	ev.u.done.stuck = true;
	step(f, ev);
}

static void test_an_order_under_a_kernel_without_kexec_reboots_first(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	order_stuck(&f, "no kexec");
	assert_int_equal(f.a.stage, AGENT_LEAVE);
	assert_true(has(&f, AGENT_DO_ADOPT_ORDER) && has(&f, AGENT_DO_SAVE));
	stage_is(&f, "leave");
	assert_true(has(&f, AGENT_DO_REBOOT)); /* nobody is connected who could be told first */
	assert_false(has(&f, AGENT_DO_FETCH));
}

static void test_what_is_recorded_goes_out_before_the_reboot(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	simple(&f, AGENT_EV_CONNECTED);
	order_stuck(&f, "no kexec");
	assert_true(has(&f, AGENT_DO_WAIT));
	assert_false(has(&f, AGENT_DO_REBOOT));
	ack(&f, 7, 3, 1);
	assert_true(has(&f, AGENT_DO_REBOOT));
	simple(&f, AGENT_EV_WAITED);
	assert_false(has(&f, AGENT_DO_REBOOT)); /* once is enough */
}

static void test_the_order_goes_on_in_the_default_kernel(void **state)
{
	struct fixture f;

	(void)state;
	start_stuck(&f, AGENT_LEAVE, OTHER_HOST, NULL);
	assert_int_equal(f.a.stage, AGENT_FETCH);
	assert_true(has(&f, AGENT_DO_FETCH));
	stage_is(&f, "fetch");
}

static void test_a_default_kernel_that_is_stuck_too_is_a_harness_error(void **state)
{
	struct fixture f;

	(void)state;
	start_stuck(&f, AGENT_LEAVE, OTHER_HOST, "no kexec");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "harness-error");
	assert_non_null(strstr(record(&f, AGENT_REC_BOOT_ENDED)->reason, "no kexec"));
	assert_false(has(&f, AGENT_DO_REBOOT));
}

static void test_an_agent_that_died_before_the_reboot_makes_it(void **state)
{
	struct fixture f;

	(void)state;
	start_stuck(&f, AGENT_LEAVE, HOST, "no kexec");
	assert_int_equal(f.a.stage, AGENT_LEAVE);
	assert_true(has(&f, AGENT_DO_REBOOT));
}

static void test_a_refused_load_reboots_once_and_then_is_final(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	order(&f, 7, 3, 1);
	done(&f, AGENT_EV_FETCHED, NULL);
	refuse_load(&f);
	assert_int_equal(f.a.stage, AGENT_LEAVE);
	assert_true(has(&f, AGENT_DO_REBOOT));
	start_stuck(&f, AGENT_LEAVE, OTHER_HOST, NULL);
	done(&f, AGENT_EV_FETCHED, NULL);
	refuse_load(&f);
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "harness-error");
	assert_false(has(&f, AGENT_DO_REBOOT));
}

/* The agent may die between coming back and the refusal: the machine is not rebooted for ever. */
static void test_that_the_machine_was_left_outlives_the_agent(void **state)
{
	struct agent_saved saved = {.stage = AGENT_FETCH,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 1,
				    .left = true,
				    .host_boot_id = HOST};
	struct fixture f;

	(void)state;
	start_stuck(&f, AGENT_LEAVE, OTHER_HOST, NULL);
	assert_true(f.a.left && position(&f, AGENT_DO_SAVE) < position(&f, AGENT_DO_FETCH));
	start(&f, &saved, HOST, false);
	assert_true(f.a.left);
	done(&f, AGENT_EV_FETCHED, NULL);
	refuse_load(&f);
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "harness-error");
	assert_false(has(&f, AGENT_DO_REBOOT));
}

static void test_each_order_may_leave_once(void **state)
{
	struct fixture f;

	(void)state;
	start_stuck(&f, AGENT_LEAVE, OTHER_HOST, NULL);
	simple(&f, AGENT_EV_CONNECTED);
	done(&f, AGENT_EV_FETCHED, "infra");
	ack(&f, 7, 3, f.a.next_seq - 1);
	assert_int_equal(f.a.stage, AGENT_IDLE);
	order(&f, 8, 4, 1);
	assert_false(f.a.left);
	done(&f, AGENT_EV_FETCHED, NULL);
	refuse_load(&f);
	assert_int_equal(f.a.stage, AGENT_LEAVE);
}

static void test_a_fence_while_leaving_ends_the_boot(void **state)
{
	struct agent_event ev = {.kind = AGENT_EV_FENCE};
	struct fixture f;

	(void)state;
	start_idle(&f);
	simple(&f, AGENT_EV_CONNECTED);
	order_stuck(&f, "no kexec");
	ev.u.fence.boot = 7;
	ev.u.fence.lease_epoch = 3;
	ev.u.fence.reason = "cancelled";
	step(&f, ev);
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
	assert_false(has(&f, AGENT_DO_REBOOT));
}

static void test_a_failed_reboot_is_infra(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	order_stuck(&f, "no kexec");
	done(&f, AGENT_EV_HOP_FAILED, "infra");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
}

/* Up to the verified boot of an order. */
static void verified(struct fixture *f, bool settings, bool leave)
{
	struct agent_saved saved = {.stage = AGENT_BOOT,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 1,
				    .host_boot_id = HOST};
	struct agent_event ev = {.kind = AGENT_EV_START};

	agent_init(&f->a);
	ev.u.start.saved = &saved;
	ev.u.start.host_boot_id = OTHER_HOST;
	ev.u.start.nonce_seen = true;
	ev.u.start.settings = settings;
	ev.u.start.leave = leave;
	step(f, ev);
	done(f, AGENT_EV_VERIFIED, NULL);
}

static void test_settings_are_a_stage_of_their_own_before_the_runs(void **state)
{
	struct fixture f;

	(void)state;
	verified(&f, true, false);
	stage_is(&f, "settings");
	assert_true(has(&f, AGENT_DO_PROVENANCE));
	verified(&f, false, false);
	assert_null(record(&f, AGENT_REC_STAGE));
}

static void test_settings_that_do_not_hold_let_nothing_run(void **state)
{
	struct fixture f;

	(void)state;
	verified(&f, true, false);
	done(&f, AGENT_EV_SETTINGS_FAILED, "invalid-env");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "invalid-env");
	assert_false(has(&f, AGENT_DO_START_RUN));
}

static void test_a_locked_boot_is_left_once_everything_is_delivered(void **state)
{
	struct fixture f;

	(void)state;
	verified(&f, false, true);
	done(&f, AGENT_EV_SETTINGS_FAILED, "invalid-env"); /* any end of the boot */
	assert_false(has(&f, AGENT_DO_REBOOT));
	simple(&f, AGENT_EV_CONNECTED);
	ack(&f, 7, 3, f.a.next_seq - 1);
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_true(has(&f, AGENT_DO_FORGET) && has(&f, AGENT_DO_REBOOT));
	assert_false(has(&f, AGENT_DO_SEND_STATE)); /* no order is wanted before it is back */
}

static void test_no_machine_is_rebooted_that_does_not_run_the_boots_kernel(void **state)
{
	struct agent_saved saved = {.stage = AGENT_BOOT,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 1,
				    .host_boot_id = HOST};
	struct agent_event ev = {.kind = AGENT_EV_START};
	struct fixture f;

	(void)state;
	agent_init(&f.a);
	ev.u.start.saved = &saved;
	ev.u.start.host_boot_id = OTHER_HOST;
	ev.u.start.leave = true; /* the order says so, but a fallback has booted */
	step(&f, ev);
	simple(&f, AGENT_EV_CONNECTED);
	done(&f, AGENT_EV_VERIFIED, "boot-fallback");
	ack(&f, 7, 3, f.a.next_seq - 1);
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_false(has(&f, AGENT_DO_REBOOT));
	assert_true(has(&f, AGENT_DO_SEND_STATE));
}

static void test_a_fenced_boot_is_left_too(void **state)
{
	struct fixture f;

	(void)state;
	verified(&f, false, true);
	simple(&f, AGENT_EV_CONNECTED);
	done(&f, AGENT_EV_SETTINGS_FAILED, "invalid-env");
	fence(&f, 7, 3);
	fence(&f, 7, 3); /* nobody waits for its records */
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_true(has(&f, AGENT_DO_REBOOT));
}

static void test_an_agent_restarted_during_the_upload_leaves_all_the_same(void **state)
{
	struct agent_saved saved = {.stage = AGENT_UPLOAD,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 1,
				    .host_boot_id = HOST,
				    .has_records = true,
				    .last_seq = 9,
				    .mark = AGENT_UPLOAD | 0x20U}; /* ended */
	struct agent_event ev = {.kind = AGENT_EV_START};
	struct fixture f;

	(void)state;
	agent_init(&f.a);
	ev.u.start.saved = &saved;
	ev.u.start.host_boot_id = HOST;
	ev.u.start.nonce_seen = ev.u.start.leave = true;
	step(&f, ev);
	simple(&f, AGENT_EV_CONNECTED);
	ack(&f, 7, 3, 9);
	assert_true(has(&f, AGENT_DO_REBOOT));
	ev.u.start.host_boot_id = OTHER_HOST; /* somebody has switched it off and on */
	ev.u.start.nonce_seen = false;
	agent_init(&f.a);
	step(&f, ev);
	simple(&f, AGENT_EV_CONNECTED);
	ack(&f, 7, 3, 9);
	assert_false(has(&f, AGENT_DO_REBOOT));
}

static void test_a_machine_that_cannot_be_left_says_that_it_is_idle(void **state)
{
	struct fixture f;

	(void)state;
	verified(&f, false, true);
	simple(&f, AGENT_EV_CONNECTED);
	done(&f, AGENT_EV_SETTINGS_FAILED, "invalid-env");
	ack(&f, 7, 3, f.a.next_seq - 1);
	assert_true(has(&f, AGENT_DO_REBOOT));
	done(&f, AGENT_EV_HOP_FAILED, "infra");
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_true(has(&f, AGENT_DO_SEND_STATE));
}

/* Up to a shutdown that has begun: the hop of order 7. */
static void hopping(struct fixture *f)
{
	start_idle(f);
	simple(f, AGENT_EV_CONNECTED);
	order(f, 7, 3, 1);
	done(f, AGENT_EV_FETCHED, NULL);
	done(f, AGENT_EV_LOADED, NULL);
	simple(f, AGENT_EV_WAITED);
	assert_true(has(f, AGENT_DO_HOP));
}

static void test_a_machine_that_stays_up_is_forced_and_then_given_up(void **state)
{
	struct fixture f;

	(void)state;
	hopping(&f);
	done(&f, AGENT_EV_STILL_UP, "infra");
	assert_true(has(&f, AGENT_DO_FORCE));
	assert_int_equal(f.acts.n, 1);
	assert_int_equal(f.a.stage, AGENT_BOOT);
	done(&f, AGENT_EV_STILL_UP, "infra");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->reason, "why");
	ack(&f, 7, 3, f.a.next_seq - 1);
	assert_int_equal(f.a.stage, AGENT_IDLE);
	order(&f, 8, 4, 1); /* it may still go down */
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_int_equal(f.acts.n, 0);
	done(&f, AGENT_EV_STILL_UP, "infra");
	assert_int_equal(f.acts.n, 0);
}

static void test_a_force_that_fails_leaves_a_machine_that_may_go_down(void **state)
{
	struct fixture f;

	(void)state;
	hopping(&f);
	done(&f, AGENT_EV_STILL_UP, "infra");
	done(&f, AGENT_EV_HOP_FAILED, "infra");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
	ack(&f, 7, 3, f.a.next_seq - 1);
	order(&f, 8, 4, 1);
	assert_int_equal(f.a.stage, AGENT_IDLE);
}

static void test_a_shutdown_that_did_not_begin_leaves_a_machine_for_the_next_order(void **state)
{
	struct fixture f;

	(void)state;
	hopping(&f);
	done(&f, AGENT_EV_HOP_FAILED, "infra");
	ack(&f, 7, 3, f.a.next_seq - 1);
	done(&f, AGENT_EV_STILL_UP, "infra"); /* nothing waits for it */
	assert_int_equal(f.acts.n, 0);
	order(&f, 8, 4, 1);
	assert_int_equal(f.a.stage, AGENT_FETCH);
}

static void test_a_fence_during_the_shutdown_ends_the_boot_at_once(void **state)
{
	struct agent_event ev = {.kind = AGENT_EV_FENCE};
	struct fixture f;

	(void)state;
	hopping(&f);
	ev.u.fence.boot = 7;
	ev.u.fence.lease_epoch = 3;
	ev.u.fence.reason = "cancelled";
	step(&f, ev);
	assert_true(
		has(&f, AGENT_DO_CANCEL)); /* no loaded kernel: it comes back in the default one */
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->reason, "cancelled");
	ack(&f, 7, 3, f.a.next_seq - 1);
	order(&f, 8, 4, 1);
	assert_int_equal(f.a.stage, AGENT_LEAVE);
	done(&f, AGENT_EV_STILL_UP, "infra");
	assert_true(has(&f, AGENT_DO_FORCE));
}

static void
test_an_order_while_a_finished_boot_is_left_is_held_until_the_machine_was_down(void **state)
{
	struct fixture f;

	(void)state;
	verified(&f, false, true);
	simple(&f, AGENT_EV_CONNECTED);
	done(&f, AGENT_EV_SETTINGS_FAILED, "invalid-env");
	ack(&f, 7, 3, f.a.next_seq - 1);
	assert_true(has(&f, AGENT_DO_REBOOT));
	order(&f, 8, 4, 1);
	assert_int_equal(f.a.stage, AGENT_LEAVE);
	assert_true(has(&f, AGENT_DO_ADOPT_ORDER));
	assert_false(has(&f, AGENT_DO_FETCH));
	ack(&f, 8, 4, 1);
	assert_false(has(&f, AGENT_DO_REBOOT)); /* one is on its way */
	done(&f, AGENT_EV_STILL_UP, "infra");
	assert_true(has(&f, AGENT_DO_FORCE));
	done(&f, AGENT_EV_STILL_UP, "infra");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
	ack(&f, 8, 4, f.a.next_seq - 1);
	order(&f, 9, 5, 1);
	assert_int_equal(f.a.stage, AGENT_IDLE);
}

/* The fence's last record was written, the state file not yet. */
static void test_a_boot_that_ended_while_leaving_is_not_left_again(void **state)
{
	struct agent_saved saved = {.stage = AGENT_LEAVE,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 1,
				    .host_boot_id = HOST,
				    .has_records = true,
				    .last_seq = 2,
				    .mark = AGENT_UPLOAD | 0x20U}; /* ended */
	static const char *const hosts[] = {HOST, OTHER_HOST};
	static const char *const stuck[] = {"no kexec", NULL};
	struct agent_event ev = {.kind = AGENT_EV_START};
	struct fixture f;
	int i;

	(void)state;
	ev.u.start.saved = &saved;
	for (i = 0; i < 4; i++) {
		ev.u.start.host_boot_id = hosts[i / 2];
		ev.u.start.stuck = stuck[i % 2];
		agent_init(&f.a);
		step(&f, ev);
		assert_int_equal(f.a.stage, AGENT_UPLOAD);
		assert_int_equal(f.a.next_seq, 3);
		assert_false(has(&f, AGENT_DO_REBOOT) || has(&f, AGENT_DO_FETCH) ||
			     has(&f, AGENT_DO_RECORD));
	}
}

/* The spool's numbers of stages are those of 0.2.0: what it recorded before an update counts. */
static void test_marks_of_release_0_2_mean_what_they_meant(void **state)
{
	static const struct {
		uint32_t mark;
		enum agent_stage stage;
	} old[] = {
		{1, AGENT_FETCH},  {2, AGENT_FETCH},  {3, AGENT_FETCH},	    {4, AGENT_VERIFY},
		{0x45, AGENT_RUN}, {6, AGENT_UPLOAD}, {0x27, AGENT_UPLOAD},
	};
	struct agent_saved saved = {.stage = AGENT_FETCH,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 2,
				    .host_boot_id = HOST,
				    .has_records = true,
				    .last_seq = 4};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		saved.mark = old[i].mark;
		start(&f, &saved, HOST, false);
		assert_int_equal(f.a.stage, old[i].stage);
	}
}

/* An order for another boot comes while the last one of a locked kernel is not yet delivered: the
 * machine is left first, and the order is kept for then. */
static void test_a_new_order_does_not_keep_a_machine_in_its_locked_kernel(void **state)
{
	struct fixture f;

	(void)state;
	verified(&f, false, true);
	simple(&f, AGENT_EV_CONNECTED);
	done(&f, AGENT_EV_SETTINGS_FAILED, "invalid-env");
	simple(&f, AGENT_EV_DISCARD);
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_true(position(&f, AGENT_DO_SAVE) < position(&f, AGENT_DO_REBOOT));
	order(&f, 8, 4, 1);
	assert_int_equal(f.a.boot, 8);
	assert_int_equal(f.a.stage, AGENT_LEAVE);
	assert_false(f.a.leave);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_order_under_a_kernel_without_kexec_reboots_first),
		cmocka_unit_test(test_what_is_recorded_goes_out_before_the_reboot),
		cmocka_unit_test(test_the_order_goes_on_in_the_default_kernel),
		cmocka_unit_test(test_a_default_kernel_that_is_stuck_too_is_a_harness_error),
		cmocka_unit_test(test_an_agent_that_died_before_the_reboot_makes_it),
		cmocka_unit_test(test_a_refused_load_reboots_once_and_then_is_final),
		cmocka_unit_test(test_that_the_machine_was_left_outlives_the_agent),
		cmocka_unit_test(test_each_order_may_leave_once),
		cmocka_unit_test(test_a_fence_while_leaving_ends_the_boot),
		cmocka_unit_test(test_a_failed_reboot_is_infra),
		cmocka_unit_test(test_settings_are_a_stage_of_their_own_before_the_runs),
		cmocka_unit_test(test_settings_that_do_not_hold_let_nothing_run),
		cmocka_unit_test(test_a_locked_boot_is_left_once_everything_is_delivered),
		cmocka_unit_test(test_no_machine_is_rebooted_that_does_not_run_the_boots_kernel),
		cmocka_unit_test(test_a_fenced_boot_is_left_too),
		cmocka_unit_test(test_an_agent_restarted_during_the_upload_leaves_all_the_same),
		cmocka_unit_test(test_a_machine_that_cannot_be_left_says_that_it_is_idle),
		cmocka_unit_test(test_a_machine_that_stays_up_is_forced_and_then_given_up),
		cmocka_unit_test(test_a_force_that_fails_leaves_a_machine_that_may_go_down),
		cmocka_unit_test(
			test_a_shutdown_that_did_not_begin_leaves_a_machine_for_the_next_order),
		cmocka_unit_test(test_a_fence_during_the_shutdown_ends_the_boot_at_once),
		cmocka_unit_test(
			test_an_order_while_a_finished_boot_is_left_is_held_until_the_machine_was_down),
		cmocka_unit_test(test_a_boot_that_ended_while_leaving_is_not_left_again),
		cmocka_unit_test(test_marks_of_release_0_2_mean_what_they_meant),
		cmocka_unit_test(test_a_new_order_does_not_keep_a_machine_in_its_locked_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
