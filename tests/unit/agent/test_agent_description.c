/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A boot is described between its evidence and its first run. */
#include "tests/unit/agent/agent_steps.h"

#define MARK_DESCRIBED 0x40U

static void test_boot_is_described_after_the_evidence_and_before_the_first_run(void **state)
{
	static const char facts[] = "facts", piece[] = "piece";
	struct fixture f;

	(void)state;
	walk_to_verified(&f, 1);
	assert_non_null(record(&f, AGENT_REC_EVIDENCE));
	assert_true(position(&f, AGENT_DO_RECORD) < position(&f, AGENT_DO_PROVENANCE));
	assert_null(find(&f, AGENT_DO_START_RUN));
	provenance(&f, AGENT_REC_PROVENANCE, facts, false);
	assert_ptr_equal(record(&f, AGENT_REC_PROVENANCE)->body, facts);
	assert_int_equal(record(&f, AGENT_REC_PROVENANCE)->run, AGENT_NO_RUN);
	assert_false(record(&f, AGENT_REC_PROVENANCE)->mark & MARK_DESCRIBED);
	assert_null(find(&f, AGENT_DO_START_RUN));
	provenance(&f, AGENT_REC_DOCUMENT, piece, false);
	assert_false(record(&f, AGENT_REC_DOCUMENT)->mark & MARK_DESCRIBED);
	provenance(&f, AGENT_REC_DOCUMENT, piece, true);
	/* fetch, load, boot, verify, evidence, facts, piece, piece */
	assert_int_equal(record(&f, AGENT_REC_DOCUMENT)->seq, 8);
	assert_true(record(&f, AGENT_REC_DOCUMENT)->mark & MARK_DESCRIBED);
	assert_int_equal(find(&f, AGENT_DO_START_RUN)->run, 0);
	provenance(&f, AGENT_REC_DOCUMENT, piece, true); /* once */
	assert_int_equal(f.acts.n, 0);
}

static void test_unverified_boot_is_not_described(void **state)
{
	struct fixture f;

	(void)state;
	start(&f,
	      &(struct agent_saved){.stage = AGENT_BOOT,
				    .boot = 7,
				    .lease_epoch = 3,
				    .n_runs = 1,
				    .host_boot_id = HOST,
				    .has_records = true,
				    .last_seq = 3,
				    .mark = AGENT_BOOT},
	      OTHER_HOST, false);
	done(&f, AGENT_EV_VERIFIED, "wrong-lsm");
	assert_null(find(&f, AGENT_DO_PROVENANCE));
}

static void test_boot_without_a_description_goes_on(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_verified(&f, 1);
	provenance(&f, AGENT_REC_PROVENANCE, NULL, true);
	assert_null(find(&f, AGENT_DO_RECORD));
	assert_non_null(find(&f, AGENT_DO_START_RUN));
	walk_to_verified(&f, 0);
	provenance(&f, AGENT_REC_PROVENANCE, NULL, true);
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "pass");
}

static void test_killed_between_evidence_and_the_last_piece_describes_again(void **state)
{
	static const char body[] = "body";
	struct agent_saved saved = saved_run(AGENT_RUN);
	struct fixture f;

	(void)state;
	start(&f, &saved, HOST, true);
	assert_non_null(find(&f, AGENT_DO_PROVENANCE));
	assert_null(find(&f, AGENT_DO_START_RUN));
	assert_null(record(&f, AGENT_REC_ATTEMPT_ENDED)); /* no attempt is lost by that */
	provenance(&f, AGENT_REC_PROVENANCE, body, true);
	assert_int_equal(record(&f, AGENT_REC_PROVENANCE)->seq, 10);
	assert_int_equal(find(&f, AGENT_DO_START_RUN)->run, 0);
}

static void test_killed_after_the_last_piece_goes_on_with_the_first_run(void **state)
{
	struct agent_saved saved = saved_run(AGENT_RUN | MARK_DESCRIBED);
	struct fixture f;

	(void)state;
	start(&f, &saved, HOST, true);
	assert_null(find(&f, AGENT_DO_PROVENANCE));
	assert_int_equal(find(&f, AGENT_DO_START_RUN)->run, 0);
}

static void test_killed_in_the_first_run_does_not_describe_the_boot_any_more(void **state)
{
	struct agent_saved saved = saved_run(AGENT_RUN | MARK_ACTIVE);
	struct fixture f;

	(void)state;
	start(&f, &saved, HOST, true);
	assert_non_null(record(&f, AGENT_REC_ATTEMPT_ENDED));
	assert_null(find(&f, AGENT_DO_PROVENANCE));
	assert_int_equal(find(&f, AGENT_DO_START_RUN)->run, 1);
}

static void test_reboot_before_the_last_piece_is_infra(void **state)
{
	struct agent_saved saved = saved_run(AGENT_RUN);
	struct fixture f;

	(void)state;
	start(&f, &saved, OTHER_HOST, false);
	assert_null(find(&f, AGENT_DO_PROVENANCE));
	assert_string_equal(record(&f, AGENT_REC_BOOT_ENDED)->outcome, "infra");
}

static void test_fence_while_the_boot_is_described_drops_what_is_read(void **state)
{
	static const char body[] = "body";
	struct fixture f;

	(void)state;
	walk_to_verified(&f, 1);
	fence(&f, 7, 3);
	assert_non_null(find(&f, AGENT_DO_KILL_RUN));
	provenance(&f, AGENT_REC_PROVENANCE, body, true);
	assert_int_equal(f.acts.n, 0);
	run_ended(&f, "infra"); /* of a run that had not begun */
	assert_string_equal(record(&f, AGENT_REC_ATTEMPT_ENDED)->end.reason, "fenced");
	assert_non_null(record(&f, AGENT_REC_BOOT_ENDED));
	provenance(&f, AGENT_REC_PROVENANCE, body, true);
	assert_int_equal(f.acts.n, 0);
	walk_to_verified(&f, 0); /* nothing to run: no attempt that could end */
	fence(&f, 7, 3);
	run_ended(&f, "infra");
	assert_null(record(&f, AGENT_REC_ATTEMPT_ENDED));
	assert_non_null(record(&f, AGENT_REC_BOOT_ENDED));
}

static void test_next_boot_is_described_anew(void **state)
{
	struct fixture f;

	(void)state;
	walk_to_run(&f, 1);
	run_ended(&f, "pass");
	ack(&f, 7, 3, f.a.next_seq - 1);
	assert_int_equal(f.a.stage, AGENT_IDLE);
	assert_false(f.a.described);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_boot_is_described_after_the_evidence_and_before_the_first_run),
		cmocka_unit_test(test_unverified_boot_is_not_described),
		cmocka_unit_test(test_boot_without_a_description_goes_on),
		cmocka_unit_test(test_killed_between_evidence_and_the_last_piece_describes_again),
		cmocka_unit_test(test_killed_after_the_last_piece_goes_on_with_the_first_run),
		cmocka_unit_test(test_killed_in_the_first_run_does_not_describe_the_boot_any_more),
		cmocka_unit_test(test_reboot_before_the_last_piece_is_infra),
		cmocka_unit_test(test_fence_while_the_boot_is_described_drops_what_is_read),
		cmocka_unit_test(test_next_boot_is_described_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
