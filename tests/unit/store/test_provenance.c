/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts are stored once by content; what changes a machine makes an epoch, what a cell chooses does
 * not. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

#define INTEL "m1"
#define AMD   "m2"

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct store_machine m = {.name = AMD, .last_seen_ns = 9};
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	assert_int_equal(RUN(f, &a, store_machine_upsert(f->s, &m, answer_done(&a))), 0);
	fixture_job(f, 1, &a);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

#define FACTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* A boot that says what it is and passes; gives its epoch. */
static long long boot(struct fixture *f, uint64_t id, const struct fixture_where *w,
		      const char *const *facts)
{
	char sql[96];

	assert_int_equal(fixture_boot_at(f, id, 1, w, NULL, 0), 0);
	must_ingest(f, w->machine, record_evidence(id, 1, 1));
	must_ingest(f, w->machine, record_provenance(id, 2, 0, "boot", facts));
	fixture_boot_pass(f, id, NULL, 0);
	(void)snprintf(sql, sizeof(sql), "SELECT epoch FROM boot WHERE id = %d", (int)id);
	return fixture_int(f, sql);
}

static const struct fixture_where intel_old = {.machine = INTEL, .kernel = KERNEL_A};
static const struct fixture_where intel_new = {.machine = INTEL, .kernel = KERNEL_B};
static const struct fixture_where amd_old = {.machine = AMD, .kernel = KERNEL_A};

static const char *epoch_event(struct fixture *f)
{
	return fixture_sql(f,
			   "SELECT text FROM event WHERE kind = 'epoch' ORDER BY id DESC LIMIT 1");
}

/* ---- content ---- */

static void test_same_facts_are_one_row_over_many_boots(void **state)
{
	struct fixture *f = *state;

	for (uint64_t id = 1; id <= 120; id++) {
		char load[16];

		(void)snprintf(load, sizeof(load), "0.%d", (int)id);
		assert_int_equal(boot(f, id, &intel_old,
				      FACTS("cpu.present", "0-7", "cpu.microcode", "0x1",
					    "smt.active", "1", "kernel.release", "6.1.0", "load",
					    load)),
				 1);
	}
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot_facts"), 120 * 4);
	assert_int_equal(fixture_int(f, "SELECT count(DISTINCT facts) FROM boot_facts"
					" WHERE class <> 'volatile'"),
			 3);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM fact_set"), 3 + 120);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM epoch"), 1);
	assert_string_equal(epoch_event(f), "");
}

static void test_facts_are_canonical_whatever_their_order(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old, FACTS("cpu.model", "a \"b\"", "cpu.microcode", NULL));
	boot(f, 2, &amd_old, FACTS("cpu.microcode", NULL, "cpu.model", "a \"b\""));
	assert_string_equal(fixture_sql(f, "SELECT facts FROM fact_set"),
			    "{\"cpu.microcode\":null,\"cpu.model\":\"a \\\"b\\\"\"}");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM fact_set"), 1);
	assert_string_equal(fixture_sql(f, "SELECT reasons FROM boot_facts WHERE boot = 1"),
			    "{\"cpu.microcode\":\"denied\"}");
}

static void test_text_that_is_not_utf8_is_no_change_at_the_next_boot(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(boot(f, 1, &intel_old, FACTS("board.name", "X\xe4Y", "os", "a")), 1);
	assert_int_equal(boot(f, 2, &intel_old,
			      FACTS("board.name", "X\xe4Y", "os", "a", "cpu.model", "9")),
			 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM epoch"), 1);
}

/* ---- epochs ---- */

static void test_first_provenance_is_epoch_one_and_no_news(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(boot(f, 1, &intel_old, FACTS("cpu.present", "0-7")), 1);
	assert_int_equal(boot(f, 2, &amd_old, FACTS("cpu.present", "0-15")), 1);
	assert_string_equal(epoch_event(f), "");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM epoch WHERE changes = '[]'"), 2);
}

static void test_row_46_other_number_of_cpus_is_a_new_epoch(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(boot(f, 1, &intel_old, FACTS("cpu.present", "0-191", "os", "a")), 1);
	assert_int_equal(boot(f, 2, &intel_new, FACTS("cpu.present", "0-95", "os", "a")), 2);
	assert_int_equal(boot(f, 3, &intel_old, FACTS("cpu.present", "0-95", "os", "a")), 2);
	assert_string_equal(epoch_event(f), "epoch 2: cpu.present 0-191 -> 0-95");
	assert_string_equal(fixture_sql(f, "SELECT changes FROM epoch WHERE number = 2"),
			    "[{\"name\":\"cpu.present\",\"a\":\"0-191\",\"b\":\"0-95\"}]");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM event WHERE kind = 'epoch'"), 1);
	/* A way back is a period of its own. */
	assert_int_equal(boot(f, 4, &intel_old, FACTS("cpu.present", "0-191", "os", "a")), 3);
}

static void test_row_47_microcode_update_is_an_epoch_of_that_machine_only(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old, FACTS("cpu.microcode", "0x2b"));
	boot(f, 2, &amd_old, FACTS("cpu.microcode", "0xa0011d1"));
	assert_int_equal(boot(f, 3, &intel_old, FACTS("cpu.microcode", "0x2c")), 2);
	assert_int_equal(boot(f, 4, &amd_old, FACTS("cpu.microcode", "0xa0011d1")), 1);
	assert_string_equal(epoch_event(f), "epoch 2: cpu.microcode 0x2b -> 0x2c");
	assert_string_equal(fixture_sql(f, "SELECT machine FROM event WHERE kind = 'epoch'"),
			    INTEL);
}

static void test_row_47_changed_mitigation_of_the_same_kernel_is_an_epoch(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old, FACTS("cpu.model", "6", "vulnerability.mds", "Vulnerable"));
	assert_int_equal(boot(f, 2, &intel_old,
			      FACTS("cpu.model", "6", "vulnerability.mds", "Mitigation: Clear")),
			 2);
	assert_string_equal(epoch_event(f),
			    "epoch 2: vulnerability.mds Vulnerable -> Mitigation: Clear");
}

static void test_row_47_other_mitigations_of_another_kernel_are_no_epoch(void **state)
{
	struct fixture *f = *state;
	const struct fixture_where off = {
		.machine = INTEL, .kernel = KERNEL_A, .cmdline = "lsm=apparmor mitigations=off"};
	const struct fixture_where list = {
		.machine = INTEL, .kernel = KERNEL_A, .lsm_effective = "capability,yama"};

	assert_int_equal(boot(f, 1, &intel_old, FACTS("cpu.model", "6", "vulnerability.mds", "a")),
			 1);
	assert_int_equal(boot(f, 2, &intel_new, FACTS("cpu.model", "6", "vulnerability.mds", "b")),
			 1);
	assert_int_equal(boot(f, 3, &off, FACTS("cpu.model", "6", "vulnerability.mds", "c")), 1);
	assert_int_equal(boot(f, 4, &list, FACTS("cpu.model", "6", "vulnerability.mds", "d")), 1);
	/* And each goes on from its own. */
	assert_int_equal(boot(f, 5, &intel_old, FACTS("cpu.model", "6", "vulnerability.mds", "a")),
			 1);
	assert_int_equal(boot(f, 6, &intel_new, FACTS("cpu.model", "6", "vulnerability.mds", "a")),
			 2);
	/* In the new epoch there is nothing yet to compare the old kernel's with. */
	assert_int_equal(boot(f, 7, &intel_old, FACTS("cpu.model", "6", "vulnerability.mds", "z")),
			 2);
}

static void test_what_the_cell_chooses_is_no_epoch(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old,
	     FACTS("kernel.release", "6.1.0", "cmdline", "a", "lsm", "x", "load", "0.1"));
	assert_int_equal(
		boot(f, 2, &intel_old,
		     FACTS("kernel.release", "6.12.0", "cmdline", "b", "lsm", "y", "load", "9")),
		1);
}

static void test_row_48_host_name_is_no_identity(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old, FACTS("cpu.model", "6", "host.name", "bing3"));
	assert_int_equal(boot(f, 2, &intel_old, FACTS("cpu.model", "6", "host.name", "localhost")),
			 1);
	assert_string_equal(epoch_event(f), "");
}

static void test_row_48_upgraded_packages_are_an_epoch(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old, FACTS("packages.digest", "aa", "packages.stamp", "1"));
	assert_int_equal(
		boot(f, 2, &intel_old, FACTS("packages.digest", "aa", "packages.stamp", "2")), 1);
	assert_int_equal(
		boot(f, 3, &intel_old, FACTS("packages.digest", "bb", "packages.stamp", "3")), 2);
}

static void test_new_fact_name_of_a_newer_agent_is_no_epoch_but_its_change_is(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old, FACTS("cpu.model", "6"));
	assert_int_equal(boot(f, 2, &intel_old, FACTS("cpu.model", "6", "bios.version", "1")), 1);
	assert_int_equal(boot(f, 3, &intel_old, FACTS("cpu.model", "6")), 1); /* the older agent */
	assert_int_equal(boot(f, 4, &intel_old, FACTS("cpu.model", "6", "bios.version", "1")), 1);
	assert_int_equal(boot(f, 5, &intel_old, FACTS("cpu.model", "6", "bios.version", "2")), 2);
	assert_string_equal(epoch_event(f), "epoch 2: bios.version 1 -> 2");
}

static void test_row_54_unsupported_is_not_a_value_and_its_loss_is_told(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old, FACTS("cpu.microcode", "0x1"));
	assert_int_equal(boot(f, 2, &intel_old, FACTS("cpu.microcode", NULL)), 2);
	assert_string_equal(epoch_event(f), "epoch 2: cpu.microcode 0x1 -> unsupported");
	assert_int_equal(boot(f, 3, &intel_old, FACTS("cpu.microcode", NULL)), 2);
	assert_int_equal(boot(f, 4, &intel_old, FACTS("cpu.microcode", "0")), 3);
}

static void test_many_changes_are_cut_in_the_event_and_whole_in_the_epoch(void **state)
{
	struct fixture *f = *state;
	char long_value[200];

	memset(long_value, 'x', sizeof(long_value) - 1);
	long_value[sizeof(long_value) - 1] = '\0';
	boot(f, 1, &intel_old,
	     FACTS("workload.a", "1", "workload.b", "1", "workload.c", "1", "workload.d", "1",
		   "workload.e", "1", "workload.f", "1", "workload.g", "1", "workload.h", "1",
		   "workload.i", "1", "cpu.present", "0-1"));
	boot(f, 2, &intel_old,
	     FACTS("workload.a", "2", "workload.b", "2", "workload.c", "2", "workload.d", "2",
		   "workload.e", "2", "workload.f", "2", "workload.g", "2", "workload.h", "2",
		   "workload.i", "2", "cpu.present", long_value));
	assert_true(kg_str_starts(epoch_event(f), "epoch 2: cpu.present 0-1 -> xxxx"));
	assert_non_null(strstr(epoch_event(f), "xxx..., workload.a 1 -> 2"));
	assert_non_null(strstr(epoch_event(f), ", and 2 more"));
	assert_int_equal(fixture_int(f, "SELECT json_array_length(changes) FROM epoch"
					" WHERE number = 2"),
			 10);
}

static void test_unverified_boot_is_evidence_and_decides_no_epoch(void **state)
{
	struct fixture *f = *state;

	boot(f, 1, &intel_old, FACTS("cpu.microcode", "0x1"));
	assert_int_equal(fixture_boot_at(f, 2, 1, &intel_old, NULL, 0), 0);
	must_ingest(f, INTEL, record_evidence(2, 1, 0));
	must_ingest(f, INTEL, record_provenance(2, 2, 0, "boot", FACTS("cpu.microcode", "0x9")));
	assert_string_equal(fixture_sql(f, "SELECT epoch FROM boot WHERE id = 2"), "");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot_facts WHERE boot = 2"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM epoch"), 1);
}

/* ---- the stream ---- */

static void test_replays_and_late_records_change_nothing(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record r;
	struct answer a;

	boot(f, 1, &intel_old, FACTS("cpu.microcode", "0x1"));
	assert_int_equal(fixture_boot_at(f, 2, 1, &intel_old, NULL, 0), 0);
	must_ingest(f, INTEL, record_evidence(2, 1, 1));
	r = record_provenance(2, 2, 0, "boot", FACTS("cpu.microcode", "0x2"));
	must_ingest(f, INTEL, r);
	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.ingest, STORE_INGEST_DUPLICATE);
	/* The agent was started again and looked again: the first look counts. */
	must_ingest(f, INTEL, record_provenance(2, 3, 0, "boot", FACTS("cpu.microcode", "0x3")));
	assert_int_equal(fixture_int(f, "SELECT max(number) FROM epoch"), 2);
	fixture_boot_pass(f, 2, NULL, 0);
	r = record_provenance(2, 4, 0, "boot", FACTS("cpu.microcode", "0x4"));
	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.ingest, STORE_INGEST_FENCED);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM late_record"), 1);
	assert_int_equal(fixture_int(f, "SELECT max(number) FROM epoch"), 2);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot_facts"), 2);
}

static void expect_fault(struct fixture *f, Kgrid__V1__Record r, const char *text)
{
	struct answer a;
	const char *got;

	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.ingest, STORE_INGEST_COMMITTED);
	assert_true(a.r.fault);
	got = fixture_sql(f,
			  "SELECT text FROM event WHERE kind = 'fault' ORDER BY id DESC LIMIT 1");
	if (!strstr(got, text))
		fail_msg("'%s' does not say '%s'", got, text);
}

static void test_malformed_provenance_is_a_fault_and_leaves_nothing(void **state)
{
	static char long_name[200], long_value[20000];
	struct fixture *f = *state;

	memset(long_name, 'n', sizeof(long_name) - 1);
	memset(long_value, 'v', sizeof(long_value) - 1);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1}, 1), 0);
	must_ingest(f, INTEL, record_evidence(1, 1, 1));
	expect_fault(f, record_provenance(1, 2, 0, "later", FACTS("os", "a")),
		     "unknown phase 'later'");
	expect_fault(f, record_provenance(1, 3, 0, NULL, FACTS("os", "a")), "unknown phase ''");
	expect_fault(f, record_provenance(1, 4, 100, "boot", FACTS("os", "a")), "of no attempt");
	expect_fault(f, record_provenance(1, 5, 0, "before", FACTS("os", "a")), "names no attempt");
	expect_fault(f, record_provenance(1, 6, 999, "after", FACTS("os", "a")),
		     "attempt 999 is not one of this boot");
	expect_fault(f, record_provenance(1, 7, 0, "boot", FACTS("", "a")), "without a name");
	expect_fault(f, record_provenance(1, 8, 0, "boot", FACTS("os", "a", "os", "b")),
		     "fact 'os' is given twice");
	expect_fault(f, record_provenance(1, 9, 0, "boot", FACTS(long_name, "a")),
		     "name of more than 128 bytes");
	expect_fault(f, record_provenance(1, 10, 0, "boot", FACTS("os", long_value)),
		     "value of more than 16384 bytes");
	expect_fault(f, record_provenance(1, 11, 0, "boot", FACTS("o\xe4s", "a")), "not UTF-8");
	expect_fault(f, record_provenance(1, 12, 0, "boot", (const char *const[]){NULL}),
		     "it has no facts");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM fact_set"), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM epoch"), 0);
	must_ingest(f, INTEL, record_provenance(1, 13, 0, "boot", FACTS("os", "a")));
	must_ingest(f, INTEL, record_provenance(1, 14, 100, "before", FACTS("load", "1")));
	must_ingest(f, INTEL, record_provenance(1, 15, 100, "after", FACTS("load", "2")));
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot_facts"), 3);
}

/* ---- what is answered ---- */

static void test_epochs_are_listed_with_their_boots_and_changes(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__EpochsReply *r = NULL;
	struct kg_err err = {""};

	boot(f, 1, &intel_old, FACTS("cpu.present", "0-7", "cpu.microcode", "0x1"));
	boot(f, 2, &intel_old, FACTS("cpu.present", "0-3", "cpu.microcode", NULL));
	boot(f, 3, &intel_new, FACTS("cpu.present", "0-3", "cpu.microcode", NULL));
	boot(f, 4, &amd_old, FACTS("cpu.present", "0-1"));
	assert_int_equal(query_epochs(f->q, INTEL, &r, &err), 0);
	assert_int_equal(r->n_epochs, 2);
	assert_int_equal(r->epochs[0]->boots, 1);
	assert_int_equal(r->epochs[0]->n_changes, 0);
	assert_int_equal(r->epochs[1]->number, 2);
	assert_int_equal(r->epochs[1]->boots, 2);
	assert_int_equal(r->epochs[1]->n_changes, 2);
	assert_string_equal(r->epochs[1]->changes[0]->name, "cpu.present");
	assert_string_equal(r->epochs[1]->changes[0]->section, "cpu");
	assert_string_equal(r->epochs[1]->changes[0]->settable, "environment");
	assert_true(r->epochs[1]->changes[1]->b_unsupported);
	assert_null(r->epochs[1]->changes[1]->b);
	kgrid__v1__epochs_reply__free_unpacked(r, NULL);
	assert_int_equal(query_epochs(f->q, NULL, &r, &err), 0);
	assert_int_equal(r->n_epochs, 3);
	kgrid__v1__epochs_reply__free_unpacked(r, NULL);
	assert_int_equal(query_epochs(f->q, "m9", &r, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "no machine 'm9'; there are m1, m2");
}

static int check_part(void *arg, const Kgrid__V1__ProvenanceReply *part)
{
	(*(int *)arg)++;
	assert_int_equal(part->n_phases, 2);
	assert_string_equal(part->phases[0]->phase, "boot");
	assert_int_equal(part->phases[0]->n_facts, 3);
	assert_string_equal(part->phases[0]->facts[0]->name, "cpu.microcode");
	assert_null(part->phases[0]->facts[0]->value);
	assert_string_equal(part->phases[0]->facts[0]->reason, "denied");
	assert_string_equal(part->phases[0]->facts[1]->value, "0.5");
	assert_string_equal(part->phases[1]->phase, "before attempt 100");
	return 0;
}

static void test_provenance_of_a_boot_comes_back_with_reasons(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__ProvenanceRequest rq = KGRID__V1__PROVENANCE_REQUEST__INIT;
	struct kg_err err = {""};
	int n = 0;

	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1}, 1), 0);
	must_ingest(f, INTEL, record_evidence(1, 1, 1));
	rq.has_boot = 1;
	rq.boot = 1;
	assert_int_equal(query_provenance(f->q, &rq, check_part, &n, &err), KG_ENODATA);
	must_ingest(f, INTEL,
		    record_provenance(1, 2, 0, "boot",
				      FACTS("os", "a", "cpu.microcode", NULL, "load", "0.5")));
	must_ingest(f, INTEL, record_provenance(1, 3, 100, "before", FACTS("load", "1")));
	assert_int_equal(query_provenance(f->q, &rq, check_part, &n, &err), 0);
	assert_int_equal(n, 1);
	rq.boot = 5;
	assert_int_equal(query_provenance(f->q, &rq, check_part, &n, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "no boot 5");
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_same_facts_are_one_row_over_many_boots),
		T_(test_facts_are_canonical_whatever_their_order),
		T_(test_text_that_is_not_utf8_is_no_change_at_the_next_boot),
		T_(test_first_provenance_is_epoch_one_and_no_news),
		T_(test_row_46_other_number_of_cpus_is_a_new_epoch),
		T_(test_row_47_microcode_update_is_an_epoch_of_that_machine_only),
		T_(test_row_47_changed_mitigation_of_the_same_kernel_is_an_epoch),
		T_(test_row_47_other_mitigations_of_another_kernel_are_no_epoch),
		T_(test_what_the_cell_chooses_is_no_epoch),
		T_(test_row_48_host_name_is_no_identity),
		T_(test_row_48_upgraded_packages_are_an_epoch),
		T_(test_new_fact_name_of_a_newer_agent_is_no_epoch_but_its_change_is),
		T_(test_row_54_unsupported_is_not_a_value_and_its_loss_is_told),
		T_(test_many_changes_are_cut_in_the_event_and_whole_in_the_epoch),
		T_(test_unverified_boot_is_evidence_and_decides_no_epoch),
		T_(test_replays_and_late_records_change_nothing),
		T_(test_malformed_provenance_is_a_fault_and_leaves_nothing),
		T_(test_epochs_are_listed_with_their_boots_and_changes),
		T_(test_provenance_of_a_boot_comes_back_with_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
