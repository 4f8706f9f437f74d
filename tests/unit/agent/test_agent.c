/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/agent/agent_steps.h"

static void test_order_is_kept_and_saved_before_its_first_record(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	order(&f, 7, 3, 2);
	assert_int_equal(f.a.stage, AGENT_FETCH);
	assert_true(position(&f, AGENT_DO_ADOPT_ORDER) < position(&f, AGENT_DO_SAVE));
	assert_true(position(&f, AGENT_DO_SAVE) < position(&f, AGENT_DO_RECORD));
	assert_true(position(&f, AGENT_DO_RECORD) < position(&f, AGENT_DO_FETCH));
	assert_string_equal(record(&f, AGENT_REC_STAGE)->stage, "fetch");
	assert_int_equal(record(&f, AGENT_REC_STAGE)->seq, 1);
}

static void test_same_order_again_changes_nothing(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	order(&f, 7, 3, 2);
	order(&f, 7, 3, 2);
	assert_int_equal(f.acts.n, 0);
}

static void test_other_order_while_busy_is_answered_by_the_state(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	order(&f, 7, 3, 2);
	order(&f, 8, 1, 1);
	assert_int_equal(f.a.boot, 7);
	assert_int_equal(f.acts.n, 1);
	assert_non_null(find(&f, AGENT_DO_SEND_STATE));
}

static void test_whole_boot_numbers_records_without_gap(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 1);
	assert_non_null(find(&f, AGENT_DO_START_RUN));
	assert_int_equal(f.a.hops, 1);
	run_record(&f);
	run_ended(&f, "pass");
	assert_int_equal(f.a.stage, AGENT_UPLOAD);
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "pass");
	/* fetch, load, boot, verify, evidence, sample, attempt ended, boot ended */
	assert_int_equal(record(&f, AGENT_REC_BOOT_ENDED)->seq, 8);
	ack(&f, 7, 3, 8);
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_non_null(find(&f, AGENT_DO_FORGET));
	assert_true(position(&f, AGENT_DO_SAVE) < position(&f, AGENT_DO_FORGET));
}

static void test_ack_of_less_than_all_keeps_the_boot(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 1);
	run_ended(&f, "pass");
	ack(&f, 7, 3, f.a.next_seq - 2);
	assert_int_equal(f.a.stage, AGENT_UPLOAD);
	assert_non_null(find(&f, AGENT_DO_TRIM));
	ack(&f, 7, 3, f.a.next_seq - 2);
	assert_int_equal(f.acts.n, 0);
}

static void test_ack_of_other_boot_epoch_or_future_is_ignored(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 1);
	run_ended(&f, "pass");
	ack(&f, 6, 3, f.a.next_seq - 1);
	assert_int_equal(f.acts.n, 0);
	ack(&f, 7, 2, f.a.next_seq - 1);
	assert_int_equal(f.acts.n, 0);
	ack(&f, 7, 3, f.a.next_seq);
	assert_int_equal(f.acts.n, 0);
	assert_int_equal(f.a.stage, AGENT_UPLOAD);
}

static void test_failed_fetch_and_load_end_the_boot(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	order(&f, 7, 3, 2);
	done(&f, AGENT_EV_FETCHED, "infra");
	assert_int_equal(f.a.stage, AGENT_UPLOAD);
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->reason, "why");

	start_idle(&f);
	order(&f, 7, 3, 2);
	done(&f, AGENT_EV_FETCHED, NULL);
	assert_non_null(find(&f, AGENT_DO_LOAD));
	done(&f, AGENT_EV_LOADED, "harness-error");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "harness-error");
}

static void test_hop_waits_for_the_last_ack_when_connected(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	simple(&f, AGENT_EV_CONNECTED);
	order(&f, 7, 3, 2);
	done(&f, AGENT_EV_FETCHED, NULL);
	done(&f, AGENT_EV_LOADED, NULL);
	assert_int_equal(f.a.stage, AGENT_BOOT);
	assert_non_null(find(&f, AGENT_DO_WAIT));
	assert_null(find(&f, AGENT_DO_HOP));
	ack(&f, 7, 3, 2);
	assert_null(find(&f, AGENT_DO_HOP));
	ack(&f, 7, 3, 3);
	assert_non_null(find(&f, AGENT_DO_HOP));
	simple(&f, AGENT_EV_WAITED);
	assert_null(find(&f, AGENT_DO_HOP)); /* once */
}

static void test_hop_does_not_wait_for_ever_nor_without_connection(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	simple(&f, AGENT_EV_CONNECTED);
	order(&f, 7, 3, 2);
	done(&f, AGENT_EV_FETCHED, NULL);
	done(&f, AGENT_EV_LOADED, NULL);
	simple(&f, AGENT_EV_DISCONNECTED);
	assert_non_null(find(&f, AGENT_DO_HOP));

	start_idle(&f);
	order(&f, 7, 3, 2);
	done(&f, AGENT_EV_FETCHED, NULL);
	done(&f, AGENT_EV_LOADED, NULL);
	assert_non_null(find(&f, AGENT_DO_HOP));
	assert_true(position(&f, AGENT_DO_SAVE) < position(&f, AGENT_DO_HOP));
	done(&f, AGENT_EV_HOP_FAILED, "infra");
	assert_int_equal(f.a.stage, AGENT_UPLOAD);
}

static void test_unverified_boot_has_evidence_and_no_run(void **state)
{
	struct agent_saved saved = {.stage = AGENT_BOOT,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 2,
				    .hops = 4,
				    .host_boot_id = HOST,
				    .has_records = true,
				    .last_seq = 3,
				    .mark = AGENT_BOOT};
	struct fixture f;

	(void)state;
	start(&f, &saved, OTHER_HOST, false);
	assert_int_equal(f.a.hops, 0); /* a cold boot */
	assert_non_null(find(&f, AGENT_DO_VERIFY));
	done(&f, AGENT_EV_VERIFIED, "boot-fallback");
	assert_string_equal(record(&f, AGENT_REC_EVIDENCE)->outcome, "boot-fallback");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "boot-fallback");
	assert_null(find(&f, AGENT_DO_START_RUN));
	assert_int_equal(record(&f, AGENT_REC_EVIDENCE)->seq, 5);
}

static void test_restart_before_the_hop_goes_back_to_fetch(void **state)
{
	static const enum agent_stage stages[] = {AGENT_FETCH, AGENT_LOAD, AGENT_BOOT};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct agent_saved saved = {.stage = stages[i],
					    .boot = 7,
					    .lease_epoch = 3,
					    .n_runs = 1,
					    .hops = 2,
					    .host_boot_id = HOST,
					    .has_records = true,
					    .last_seq = 2,
					    .mark = stages[i]};
		struct fixture f;

		start(&f, &saved, HOST, false);
		assert_int_equal(f.a.stage, AGENT_FETCH);
		assert_non_null(find(&f, AGENT_DO_FETCH));
		assert_int_equal(record(&f, AGENT_REC_STAGE)->seq, 3);
		assert_int_equal(f.a.hops, 2);
	}
}

static void test_restart_without_records_begins_with_the_first(void **state)
{
	struct agent_saved saved = {.stage = AGENT_FETCH,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 1,
				    .host_boot_id = HOST};
	struct fixture f;

	(void)state;
	start(&f, &saved, HOST, false);
	assert_int_equal(record(&f, AGENT_REC_STAGE)->seq, 1);
}

static void test_restart_during_a_run_ends_it_as_infra_and_goes_on(void **state)
{
	struct agent_saved saved = saved_run(AGENT_RUN | MARK_ACTIVE | 1U << 8);
	const struct agent_record *r;
	struct fixture f;

	(void)state;
	start(&f, &saved, HOST, true);
	assert_true(position(&f, AGENT_DO_KILL_LEFTOVERS) == 0);
	r = record(&f, AGENT_REC_ATTEMPT_ENDED);
	assert_int_equal(r->seq, 10);
	assert_int_equal(r->run, 1);
	assert_string_equal(r->end.outcome, "infra");
	assert_string_equal(r->end.reason, "agent restarted during the run");
	assert_int_equal(find(&f, AGENT_DO_START_RUN)->run, 2);
}

static void test_restart_between_runs_loses_none(void **state)
{
	struct agent_saved saved = saved_run(AGENT_RUN | 2U << 8);
	struct fixture f;

	(void)state;
	start(&f, &saved, HOST, true);
	assert_null(record(&f, AGENT_REC_ATTEMPT_ENDED));
	assert_int_equal(find(&f, AGENT_DO_START_RUN)->run, 2);
}

static void test_restart_after_the_last_run_ends_the_boot(void **state)
{
	struct agent_saved saved = saved_run(AGENT_RUN | 3U << 8);
	struct fixture f;

	(void)state;
	start(&f, &saved, HOST, true);
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "pass");
}

static void test_reboot_during_a_run_is_infra_for_run_and_boot(void **state)
{
	struct agent_saved saved = saved_run(AGENT_RUN | MARK_ACTIVE);
	struct fixture f;

	(void)state;
	start(&f, &saved, OTHER_HOST, false);
	assert_string_equal(record(&f, AGENT_REC_ATTEMPT_ENDED)->end.outcome, "infra");
	assert_string_equal(record(&f, AGENT_REC_ATTEMPT_ENDED)->end.reason,
			    "machine rebooted during the run");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
	assert_null(find(&f, AGENT_DO_START_RUN));
	assert_int_equal(f.a.hops, 0);
}

static void test_restart_in_verify_verifies_again(void **state)
{
	struct agent_saved saved = saved_run(AGENT_VERIFY);
	struct fixture f;

	(void)state;
	start(&f, &saved, HOST, true);
	assert_non_null(find(&f, AGENT_DO_VERIFY));
	start(&f, &saved, OTHER_HOST, false);
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
}

static void test_restart_in_upload_only_sends(void **state)
{
	struct agent_saved saved = saved_run(AGENT_UPLOAD | 0x20 | 3U << 8);
	struct fixture f;

	(void)state;
	saved.acked_seq = 4;
	start(&f, &saved, OTHER_HOST, false);
	assert_int_equal(f.a.stage, AGENT_UPLOAD);
	assert_null(find(&f, AGENT_DO_RECORD));
	simple(&f, AGENT_EV_CONNECTED);
	assert_non_null(find(&f, AGENT_DO_RESEND));
	assert_int_equal(f.a.acked_seq, 4);
	ack(&f, 7, 3, 9);
	assert_int_equal(f.a.stage, AGENT_IDLE);
}

static void test_connection_says_facts_then_state_then_records(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 1);
	simple(&f, AGENT_EV_CONNECTED);
	assert_int_equal(f.acts.n, 3);
	assert_int_equal(f.acts.items[0].kind, AGENT_DO_SEND_FACTS);
	assert_int_equal(f.acts.items[1].kind, AGENT_DO_SEND_STATE);
	assert_int_equal(f.acts.items[2].kind, AGENT_DO_RESEND);
}

static void test_fence_kills_the_run_and_drops_what_it_still_says(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 2);
	run_record(&f);
	fence(&f, 7, 3);
	assert_int_equal(f.a.stage, AGENT_STOP);
	assert_non_null(find(&f, AGENT_DO_KILL_RUN));
	run_record(&f);
	assert_int_equal(f.acts.n, 0);
	run_ended(&f, "fail");
	assert_string_equal(record(&f, AGENT_REC_ATTEMPT_ENDED)->end.outcome, "infra");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->reason, "fenced");
	assert_null(find(&f, AGENT_DO_START_RUN));
	ack(&f, 7, 3, f.a.next_seq - 1);
	assert_int_equal(f.a.stage, AGENT_IDLE);
}

static void test_fence_before_the_hop_unloads_the_kernel(void **state)
{
	struct fixture f;

	(void)state;
	start_idle(&f);
	simple(&f, AGENT_EV_CONNECTED);
	order(&f, 7, 3, 2);
	done(&f, AGENT_EV_FETCHED, NULL);
	done(&f, AGENT_EV_LOADED, NULL);
	fence(&f, 7, 3);
	assert_non_null(find(&f, AGENT_DO_CANCEL));
	assert_int_equal(f.a.stage, AGENT_UPLOAD);
	simple(&f, AGENT_EV_WAITED);
	assert_null(find(&f, AGENT_DO_HOP));
	done(&f, AGENT_EV_LOADED, NULL); /* too late */
	assert_int_equal(f.acts.n, 0);
}

static void test_fence_of_another_boot_or_older_lease_is_answered_by_the_state(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 2);
	fence(&f, 6, 3);
	assert_int_equal(f.acts.n, 1);
	assert_non_null(find(&f, AGENT_DO_SEND_STATE));
	fence(&f, 7, 2);
	assert_non_null(find(&f, AGENT_DO_SEND_STATE));
	assert_int_equal(f.a.stage, AGENT_RUN);
}

static void test_second_fence_gives_the_records_up(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 1);
	run_ended(&f, "pass");
	fence(&f, 7, 3);
	assert_int_equal(f.a.stage, AGENT_UPLOAD);
	fence(&f, 7, 3);
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_non_null(find(&f, AGENT_DO_FORGET));
}

static void test_fence_survives_a_restart(void **state)
{
	struct agent_saved saved = saved_run(AGENT_RUN | MARK_ACTIVE);
	struct fixture f;

	(void)state;
	saved.fenced = true;
	start(&f, &saved, HOST, true);
	assert_non_null(record(&f, AGENT_REC_ATTEMPT_ENDED));
	assert_non_null(record(&f, AGENT_REC_BOOT_ENDED));
	assert_null(find(&f, AGENT_DO_START_RUN));
}

static void test_full_spool_stops_the_run_and_says_so(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 2);
	run_record(&f);
	simple(&f, AGENT_EV_SPOOL_FULL);
	assert_non_null(find(&f, AGENT_DO_KILL_RUN));
	run_ended(&f, "pass");
	assert_string_equal(record(&f, AGENT_REC_ATTEMPT_ENDED)->end.outcome, "infra");
	assert_string_equal(record(&f, AGENT_REC_ATTEMPT_ENDED)->end.reason, "the spool is full");
	assert_non_null(record(&f, AGENT_REC_BOOT_ENDED));
}

static void test_new_order_takes_the_place_of_an_old_upload(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 1);
	run_ended(&f, "pass");
	simple(&f, AGENT_EV_DISCARD);
	assert_non_null(find(&f, AGENT_DO_FORGET));
	order(&f, 8, 4, 1);
	assert_int_equal(f.a.boot, 8);
	assert_int_equal(record(&f, AGENT_REC_STAGE)->seq, 1);
	simple(&f, AGENT_EV_DISCARD); /* not while it works */
	assert_int_equal(f.acts.n, 0);
}

static void test_stage_names_are_those_of_the_protocol(void **state)
{
	(void)state;
	assert_string_equal(agent_stage_name(AGENT_FETCH), "fetch");
	assert_int_equal(agent_stage_parse("verify"), AGENT_VERIFY);
	assert_int_equal(agent_stage_parse("nosuch"), AGENT_IDLE);
	assert_int_equal(agent_stage_parse(""), AGENT_IDLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_is_kept_and_saved_before_its_first_record),
		cmocka_unit_test(test_same_order_again_changes_nothing),
		cmocka_unit_test(test_other_order_while_busy_is_answered_by_the_state),
		cmocka_unit_test(test_whole_boot_numbers_records_without_gap),
		cmocka_unit_test(test_ack_of_less_than_all_keeps_the_boot),
		cmocka_unit_test(test_ack_of_other_boot_epoch_or_future_is_ignored),
		cmocka_unit_test(test_failed_fetch_and_load_end_the_boot),
		cmocka_unit_test(test_hop_waits_for_the_last_ack_when_connected),
		cmocka_unit_test(test_hop_does_not_wait_for_ever_nor_without_connection),
		cmocka_unit_test(test_unverified_boot_has_evidence_and_no_run),
		cmocka_unit_test(test_restart_before_the_hop_goes_back_to_fetch),
		cmocka_unit_test(test_restart_without_records_begins_with_the_first),
		cmocka_unit_test(test_restart_during_a_run_ends_it_as_infra_and_goes_on),
		cmocka_unit_test(test_restart_between_runs_loses_none),
		cmocka_unit_test(test_restart_after_the_last_run_ends_the_boot),
		cmocka_unit_test(test_reboot_during_a_run_is_infra_for_run_and_boot),
		cmocka_unit_test(test_restart_in_verify_verifies_again),
		cmocka_unit_test(test_restart_in_upload_only_sends),
		cmocka_unit_test(test_connection_says_facts_then_state_then_records),
		cmocka_unit_test(test_fence_kills_the_run_and_drops_what_it_still_says),
		cmocka_unit_test(test_fence_before_the_hop_unloads_the_kernel),
		cmocka_unit_test(
			test_fence_of_another_boot_or_older_lease_is_answered_by_the_state),
		cmocka_unit_test(test_second_fence_gives_the_records_up),
		cmocka_unit_test(test_fence_survives_a_restart),
		cmocka_unit_test(test_full_spool_stops_the_run_and_says_so),
		cmocka_unit_test(test_new_order_takes_the_place_of_an_old_upload),
		cmocka_unit_test(test_stage_names_are_those_of_the_protocol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
