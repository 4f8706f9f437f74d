/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers: what the scheduler starts from, and what people are shown. */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A job of three blocks on both kernels: 12 slots. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	fixture_job(f, 3, &a);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

static void must(struct fixture *f, Kgrid__V1__Record r)
{
	struct answer a;

	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.ingest, STORE_INGEST_COMMITTED);
	assert_false(a.r.fault);
}

/* Boot `id` runs two slots: each warms up with one sample and measures three around `base`. */
static void run_boot(struct fixture *f, uint64_t id, const uint64_t slots[2], double base)
{
	struct store_settle st[2];
	struct store_boot_end e = {
		.boot = id, .outcome = KG_OUTCOME_PASS, .settles = st, .n_settles = 2};
	uint64_t seq = 1;
	struct answer a;

	assert_int_equal(fixture_boot(f, id, 1, slots, 2), 0);
	must(f, record_evidence(id, seq++, 1));
	for (unsigned i = 0; i < 2; i++) {
		uint64_t attempt = id * 100 + i;
		Kgrid__V1__Record warmup;

		must(f, record_started(id, seq++, attempt));
		warmup = record_samples(id, seq++, attempt, 0, 1, 1e6);
		warmup.samples->has_warmup = warmup.samples->warmup = 1;
		must(f, warmup);
		must(f, record_samples(id, seq++, attempt, 1, 3, base + 1000 * i - 1));
		must(f, record_ended(id, seq++, attempt, "pass", 3));
		st[i] = (struct store_settle){
			.slot = slots[i], .outcome = KG_OUTCOME_PASS, .attempt = attempt};
	}
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
}

/* Old kernel: boots of mean 100 and 102; new kernel: 110 and 114; size 1024 is 1000 more. One
 * block is left: old failed once and was tried again, new is cancelled. */
static void run_all(struct fixture *f)
{
	struct store_settle st[] = {
		{.slot = 9, .outcome = KG_OUTCOME_FAIL, .attempt = 500, .reason = "exit 1"},
		{.slot = 10, .outcome = KG_OUTCOME_INFRA, .attempt = 501, .reason = "power"},
	};
	struct store_boot_end e = {
		.boot = 5, .outcome = KG_OUTCOME_INFRA, .settles = st, .n_settles = 2};
	struct answer a;

	run_boot(f, 1, (uint64_t[]){1, 2}, 100);
	run_boot(f, 2, (uint64_t[]){3, 4}, 110);
	run_boot(f, 3, (uint64_t[]){7, 8}, 114);
	run_boot(f, 4, (uint64_t[]){5, 6}, 102);
	assert_int_equal(fixture_boot(f, 5, 1, (uint64_t[]){9, 10}, 2), 0);
	must(f, record_evidence(5, 1, 1));
	must(f, record_started(5, 2, 500));
	must(f, record_samples(5, 3, 500, 0, 3, 7777)); /* evidence, not a result */
	must(f, record_ended(5, 4, 500, "fail", 3));
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
	check_accounting(f, 1, 12);
}

static void test_snapshot_has_what_the_scheduler_needs(void **state)
{
	struct fixture *f = *state;
	struct store_snapshot *s = NULL;
	struct kg_err err = {""};
	const struct store_boot *b;
	struct answer a;

	run_boot(f, 1, (uint64_t[]){1, 2}, 100);
	assert_int_equal(fixture_boot(f, 2, 1, (uint64_t[]){3, 4}, 2), 0);
	must(f, record_evidence(2, 1, 1));
	must(f, record_started(2, 2, 200));
	must(f, record_samples(2, 3, 200, 0, 5, 1));
	must(f, record_ended(2, 4, 200, "pass", 5));
	fixture_close(f);
	fixture_open(f);
	assert_int_equal(query_snapshot(f->q, &s, &err), 0);
	assert_int_equal(s->n_jobs, 1);
	assert_int_equal(s->jobs[0].n_cells, 4);
	assert_int_equal(s->jobs[0].n_slots, 12);
	assert_true(s->jobs[0].seed == 0xfedcba9876543210ULL);
	assert_string_equal(s->jobs[0].warnings[0], "'foo' is not built in");
	assert_int_equal(s->jobs[0].slots[0].outcome, KG_OUTCOME_PASS);
	assert_int_equal(s->jobs[0].slots[0].attempt, 100);
	assert_int_equal(s->jobs[0].slots[5].visit, 3);
	assert_int_equal(s->jobs[0].slots[5].cell_index, 1);
	assert_string_equal(s->jobs[0].cells[1].params, "seconds=1 size=1024");
	assert_int_equal(s->n_boots, 1);
	b = &s->boots[0];
	assert_int_equal(b->id, 2);
	assert_int_equal(b->lease_epoch, EPOCH);
	assert_int_equal(b->last_seq, 4);
	assert_true(b->has_evidence && b->verified && !b->ended_by_agent);
	assert_int_equal(b->deadline.boottime_ns, 1000);
	assert_string_equal(b->deadline.host_boot_id, "host-1");
	assert_int_equal(b->n_attempts, 2);
	assert_int_equal(b->attempts[0].outcome, KG_OUTCOME_PASS);
	assert_int_equal(b->attempts[0].samples, 5);
	assert_int_equal(b->attempts[1].started_ns, 0);
	assert_int_equal(s->n_machines, 1);
	assert_string_equal(s->machines[0].state_id, "s1");
	assert_null(s->machines[0].facts);
	assert_int_equal(s->ids.boot, 3);
	assert_int_equal(s->ids.attempt, 202);
	assert_int_equal(s->ids.lease_epoch, EPOCH + 1);
	store_snapshot_free(s);
	assert_int_equal(RUN(f, &a, store_job_cancel(f->s, 1, 5, NULL, answer_done(&a))), 0);
	assert_int_equal(query_snapshot(f->q, &s, &err), 0);
	assert_int_equal(s->n_jobs, 0); /* ended; its boot is still open */
	assert_int_equal(s->n_boots, 1);
	store_snapshot_free(s);
}

static void test_facts_of_a_machine_come_back(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__MachineFacts facts = KGRID__V1__MACHINE_FACTS__INIT;
	Kgrid__V1__WorkloadOffer w = KGRID__V1__WORKLOAD_OFFER__INIT, *ws[] = {&w};
	char *tags[] = {(char *)(uintptr_t) "lab", (char *)(uintptr_t) "icount"};
	struct store_machine m = {.name = MACHINE, .facts = &facts, .last_seen_ns = 50};
	struct store_snapshot *s = NULL;
	Kgrid__V1__MachineReply *reply = NULL;
	struct kg_err err = {""};
	struct answer a;

	facts.cpu_vendor = (char *)(uintptr_t) "AuthenticAMD";
	facts.has_cpus = 1;
	facts.cpus = 4;
	facts.n_tags = 2;
	facts.tags = tags;
	w.name = (char *)(uintptr_t) "netperf";
	w.missing = (char *)(uintptr_t) "netserver is not installed";
	facts.n_workloads = 1;
	facts.workloads = ws;
	assert_int_equal(RUN(f, &a, store_machine_upsert(f->s, &m, answer_done(&a))), 0);
	m.facts = NULL; /* seen again: the facts stay */
	m.last_seen_ns = 60;
	assert_int_equal(RUN(f, &a, store_machine_upsert(f->s, &m, answer_done(&a))), 0);
	assert_int_equal(query_snapshot(f->q, &s, &err), 0);
	assert_int_equal(s->machines[0].facts->cpus, 4);
	assert_string_equal(s->machines[0].facts->tags[1], "icount");
	assert_int_equal(s->machines[0].last_seen_ns, 60);
	assert_int_equal(s->machines[0].first_seen_ns, 9);
	store_snapshot_free(s);
	assert_int_equal(query_machine(f->q, MACHINE, &reply, &err), 0);
	assert_string_equal(reply->machine->cpu_vendor, "AuthenticAMD");
	assert_string_equal(reply->machine->workloads[0]->missing, "netserver is not installed");
	kgrid__v1__machine_reply__free_unpacked(reply, NULL);
	assert_int_equal(query_machine(f->q, "m9", &reply, &err), KG_ENOTFOUND);
}

static void test_job_shows_every_slot_and_adds_up(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__JobReply *r = NULL;
	struct kg_err err = {""};

	run_all(f);
	assert_int_equal(query_job(f->q, 0, &r, &err), 0);
	assert_int_equal(r->n_slots, 12);
	assert_string_equal(r->text, "name: demo\n");
	assert_string_equal(r->warnings[0], "'foo' is not built in");
	assert_int_equal(r->job->accounting->slots, 12);
	assert_int_equal(r->job->accounting->pending, 2);
	assert_string_equal(r->slots[8]->outcome, "fail");
	assert_string_equal(r->slots[8]->reason, "exit 1");
	assert_int_equal(r->slots[8]->last_attempt, 500);
	assert_int_equal(r->slots[8]->last_boot, 5);
	assert_null(r->slots[11]->outcome);
	kgrid__v1__job_reply__free_unpacked(r, NULL);
	assert_int_equal(query_job(f->q, 42, &r, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "no job 42");
}

static void test_progress_counts_boots_blocks_and_new_events(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__WatchUpdate *u = NULL;
	struct kg_err err = {""};
	uint64_t after = 0;

	run_all(f);
	assert_int_equal(query_watch(f->q, 1, &after, &u, &err), 0);
	assert_int_equal(u->blocks_done, 2);
	assert_int_equal(u->n_machines, 1);
	assert_int_equal(u->machines[0]->boots_total, 6);
	assert_int_equal(u->machines[0]->boots_done, 5);
	assert_int_equal(u->machines[0]->samples, 4 * 2 * 3 + 3);
	assert_int_equal(u->n_events, 2);
	assert_contains(u->events[0], "m1: settle old/full netperf");
	kgrid__v1__watch_update__free_unpacked(u, NULL);
	assert_int_equal(query_watch(f->q, 1, &after, &u, &err), 0);
	assert_int_equal(u->n_events, 0);
	kgrid__v1__watch_update__free_unpacked(u, NULL);
}

struct parts {
	unsigned parts;
	size_t rows;
	size_t warmup;
	uint64_t slots;
	double largest;
	int stop;
};

static int on_samples(void *arg, const Kgrid__V1__SamplesReply *part)
{
	struct parts *p = arg;

	assert_true(part->n_rows <= 1000);
	assert_true((p->parts == 0) == (part->accounting != NULL));
	if (part->accounting)
		p->slots = part->accounting->slots;
	p->parts++;
	p->rows += part->n_rows;
	for (size_t i = 0; i < part->n_rows; i++) {
		p->warmup += part->rows[i]->warmup != 0;
		p->largest = fmax(p->largest, part->rows[i]->value);
		assert_string_equal(part->rows[i]->vendor, "GenuineIntel");
		assert_string_equal(part->rows[i]->unit, "op/s");
	}
	return p->stop;
}

static void test_samples_are_valid_ones_unless_all_are_asked_for(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__SamplesRequest rq = KGRID__V1__SAMPLES_REQUEST__INIT;
	struct kg_err err = {""};
	struct parts p = {0};

	run_all(f);
	assert_int_equal(query_samples(f->q, &rq, on_samples, &p, &err), 0);
	assert_int_equal(p.rows, 24);
	assert_int_equal(p.warmup, 0);
	assert_int_equal(p.slots, 12);
	assert_true(p.largest < 2000);
	memset(&p, 0, sizeof(p));
	rq.all = 1;
	assert_int_equal(query_samples(f->q, &rq, on_samples, &p, &err), 0);
	assert_int_equal(p.rows, 24 + 8 + 3);
	assert_int_equal(p.warmup, 8);
	memset(&p, 0, sizeof(p));
	p.stop = -77;
	assert_int_equal(query_samples(f->q, &rq, on_samples, &p, &err), -77);
	assert_int_equal(p.parts, 1);
}

static void test_many_samples_come_in_parts_and_none_is_lost(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__SamplesRequest rq = KGRID__V1__SAMPLES_REQUEST__INIT;
	struct kg_err err = {""};
	struct parts p = {0};

	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1, 2}, 2), 0);
	must(f, record_evidence(1, 1, 1));
	must(f, record_started(1, 2, 100));
	must(f, record_samples(1, 3, 100, 0, 2500, 1));
	must(f, record_started(1, 4, 101));
	must(f, record_samples(1, 5, 101, 0, 500, 1));
	rq.all = 1;
	assert_int_equal(query_samples(f->q, &rq, on_samples, &p, &err), 0);
	assert_int_equal(p.rows, 3000);
	assert_int_equal(p.parts, 3);
}

static void test_a_job_without_samples_still_gives_its_accounting(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__SamplesRequest rq = KGRID__V1__SAMPLES_REQUEST__INIT;
	struct kg_err err = {""};
	struct parts p = {0};

	assert_int_equal(query_samples(f->q, &rq, on_samples, &p, &err), 0);
	assert_int_equal(p.parts, 1);
	assert_int_equal(p.rows, 0);
	assert_int_equal(p.slots, 12);
}

struct logs {
	unsigned n, headings;
	char last[200];
};

static int on_log(void *arg, const Kgrid__V1__LogsReply *part)
{
	struct logs *l = arg;

	l->n++;
	if (part->heading) {
		l->headings++;
		(void)snprintf(l->last, sizeof(l->last), "%s", part->heading);
	}
	return 0;
}

static void test_logs_have_a_heading_for_each_attempt(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__LogsRequest rq = KGRID__V1__LOGS_REQUEST__INIT;
	Kgrid__V1__LogChunk log = KGRID__V1__LOG_CHUNK__INIT;
	Kgrid__V1__Record r;
	struct kg_err err = {""};
	struct logs l = {0};

	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1, 2}, 2), 0);
	rq.attempt = 100;
	assert_int_equal(query_logs(f->q, &rq, on_log, &l, &err), KG_ENODATA);
	log.stream = (char *)(uintptr_t) "stdout";
	log.has_data = 1;
	log.data.data = (uint8_t *)(uintptr_t) "text";
	log.data.len = 4;
	for (uint64_t seq = 1; seq <= 5; seq++) {
		r = record(1, seq, seq <= 3 ? 100 : seq == 4 ? 101 : 0);
		r.body_case = KGRID__V1__RECORD__BODY_LOG;
		r.log = &log;
		must(f, r);
	}
	assert_int_equal(query_logs(f->q, &rq, on_log, &l, &err), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.headings, 1);
	assert_string_equal(l.last, "attempt 100: netperf seconds=1 size=64, old/full on m1: "
				    "not ended");
	memset(&l, 0, sizeof(l));
	rq.attempt = 0;
	rq.boot = 1;
	assert_int_equal(query_logs(f->q, &rq, on_log, &l, &err), 0);
	assert_int_equal(l.n, 5);
	assert_int_equal(l.headings, 3);
	assert_string_equal(l.last, "boot 1 of m1: dispatch");
	rq.boot = 9;
	assert_int_equal(query_logs(f->q, &rq, on_log, &l, &err), KG_ENOTFOUND);
}

static void test_kernel_is_found_by_label_release_or_digest(void **state)
{
	struct fixture *f = *state;
	struct store_kernel k = {.digest = "aaaaaabb",
				 .release = "6.1.0",
				 .version = "v",
				 .manifest = "m",
				 .added_ns = 99};
	char digest[65] = "";
	struct kg_err err = {""};
	struct answer a;
	char *text = NULL;
	bool used = false;

	assert_int_equal(query_kernel_find(f->q, "old", digest, &err), 0);
	assert_string_equal(digest, KERNEL_A);
	assert_int_equal(query_kernel_find(f->q, "6.12.0", digest, &err), 0);
	assert_string_equal(digest, KERNEL_B);
	assert_int_equal(query_kernel_find(f->q, "aaaaaa", digest, &err), 0);
	assert_int_equal(query_kernel_find(f->q, "aaaaa", digest, &err), KG_ENOTFOUND);
	assert_int_equal(RUN(f, &a, store_kernel_insert(f->s, &k, answer_done(&a))), 0);
	assert_int_equal(query_kernel_find(f->q, "6.1.0", digest, &err), KG_EAMBIGUOUS);
	assert_string_equal(err.text, "kernel '6.1.0' fits 2: old aaaaaaaaaaaa, 6.1.0 aaaaaabb; "
				      "use a label or a digest");
	assert_int_equal(query_kernel_find(f->q, "aaaaaa", digest, &err), KG_EAMBIGUOUS);
	assert_int_equal(query_kernel_find(f->q, "", digest, &err), KG_EINVALID);
	assert_int_equal(query_kernel_manifest(f->q, KERNEL_A, &text, &err), 0);
	assert_contains(text, "release 6.1.0");
	free(text);
	assert_int_equal(query_blob_used(f->q, KERNEL_B, &used, &err), 0);
	assert_true(used);
	assert_int_equal(query_blob_used(f->q, KERNEL_A, &used, &err), 0);
	assert_false(used);
}

static void test_kernels_show_which_jobs_need_them(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__KernelsReply *r = NULL;
	Kgrid__V1__KernelReply *one = NULL;
	struct kg_err err = {""};

	assert_int_equal(query_kernels(f->q, &r, &err), 0);
	assert_int_equal(r->n_kernels, 2);
	assert_int_equal(r->kernels[1]->n_used_by, 1);
	assert_string_equal(r->kernels[1]->used_by[0], "1 demo");
	kgrid__v1__kernels_reply__free_unpacked(r, NULL);
	assert_int_equal(query_kernel(f->q, "new", &one, &err), 0);
	assert_string_equal(one->kernel->release, "6.12.0");
	kgrid__v1__kernel_reply__free_unpacked(one, NULL);
}

static Kgrid__V1__CompareReply *compare(struct fixture *f, const char *baseline)
{
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};

	rq.baseline = (char *)(uintptr_t)baseline;
	if (query_compare(f->q, &rq, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void has_note(const Kgrid__V1__CompareReply *r, const char *text)
{
	for (size_t i = 0; i < r->n_notes; i++) {
		if (strstr(r->notes[i], text))
			return;
	}
	fail_msg("no note says '%s'", text);
}

static void test_comparison_counts_only_deciding_passes_and_no_warmup(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareReply *r;
	Kgrid__V1__CompareTable *t;
	Kgrid__V1__CompareCell *c;

	run_all(f);
	r = compare(f, NULL);
	assert_int_equal(r->n_tables, 1);
	t = r->tables[0];
	assert_string_equal(t->machine, "m1");
	assert_string_equal(t->metric, "rate");
	assert_int_equal(t->n_columns, 2);
	assert_string_equal(t->columns[0]->kernel, "old");
	assert_string_equal(t->columns[1]->kernel, "new");
	assert_int_equal(t->n_rows, 2);
	assert_string_equal(t->rows[0]->params, "seconds=1 size=64");
	assert_string_equal(t->rows[1]->params, "seconds=1 size=1024");
	c = t->rows[0]->cells[0];
	assert_int_equal(c->boots, 2);
	assert_true(fabs(c->value - 101) < 1e-9);
	assert_false(c->has_delta_pct);
	assert_int_equal(c->n_excluded, 1);
	assert_string_equal(c->excluded[0]->outcome, "fail");
	assert_int_equal(c->pending, 0);
	c = t->rows[0]->cells[1];
	assert_true(fabs(c->value - 112) < 1e-9);
	/* Hodges-Lehmann over the logarithms of boots 100, 102 and 110, 114 */
	assert_true(fabs(c->delta_pct - 100 * (sqrt(110.0 / 100 * 114 / 102) - 1)) < 1e-9);
	assert_false(c->has_delta_lo_pct); /* two boots a side carry no interval */
	assert_true(c->has_cov_pct);
	assert_string_equal(c->verdict, "unknown");
	assert_int_equal(c->pending, 1);
	has_note(r, "excluded: 1 slot on 'm1': fail: exit 1");
	has_note(r, "excluded: 1 slot on 'm1': infra: power");
	has_note(r, "2 slots are pending");
	assert_int_equal(r->job->accounting->slots, 12);
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static void test_baseline_can_be_chosen_by_any_clear_part(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"new/full", "new", "new/", "ne"};
	Kgrid__V1__CompareRequest rq = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__CompareReply *r = NULL;
	struct kg_err err = {""};

	run_all(f);
	for (size_t i = 0; i < 4; i++) {
		r = compare(f, names[i]);
		assert_string_equal(r->tables[0]->columns[0]->kernel, "new");
		assert_true(r->tables[0]->rows[0]->cells[1]->delta_pct < 0);
		kgrid__v1__compare_reply__free_unpacked(r, NULL);
	}
	rq.baseline = (char *)(uintptr_t) "full";
	assert_int_equal(query_compare(f->q, &rq, &r, &err), KG_EAMBIGUOUS);
	assert_string_equal(err.text, "baseline 'full' fits 2 columns: old/full, new/full");
	rq.baseline = (char *)(uintptr_t) "5.4";
	assert_int_equal(query_compare(f->q, &rq, &r, &err), KG_ENOTFOUND);
	rq.baseline = NULL;
	rq.metric = (char *)(uintptr_t) "latency";
	assert_int_equal(query_compare(f->q, &rq, &r, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "the job has no value of a metric 'latency'; it has rate");
}

static void test_nothing_measured_is_a_table_that_says_so(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__CompareReply *r = compare(f, NULL);

	assert_int_equal(r->n_tables, 1);
	assert_null(r->tables[0]->metric);
	assert_int_equal(r->tables[0]->n_rows, 2);
	assert_int_equal(r->tables[0]->rows[0]->cells[0]->boots, 0);
	assert_int_equal(r->tables[0]->rows[0]->cells[0]->pending, 3);
	has_note(r, "12 slots are pending");
	has_note(r, "no slot has passed yet");
	kgrid__v1__compare_reply__free_unpacked(r, NULL);
}

static void count_event(void *arg, const struct store_event_row *e)
{
	unsigned *n = arg;

	(*n)++;
	assert_string_equal(e->kind, "settle");
}

static void test_events_of_a_machine_or_a_job(void **state)
{
	struct fixture *f = *state;
	struct kg_err err = {""};
	unsigned n = 0;

	run_all(f);
	assert_int_equal(query_events(f->q, MACHINE, 0, 0, 50, count_event, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(query_events(f->q, NULL, 1, 1, 50, count_event, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(query_events(f->q, MACHINE, 9, 0, 50, count_event, &n, &err), 0);
	assert_int_equal(query_events(f->q, NULL, 0, 0, 1, count_event, &n, &err), 0);
	assert_int_equal(n, 4);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_snapshot_has_what_the_scheduler_needs),
		T_(test_facts_of_a_machine_come_back),
		T_(test_job_shows_every_slot_and_adds_up),
		T_(test_progress_counts_boots_blocks_and_new_events),
		T_(test_samples_are_valid_ones_unless_all_are_asked_for),
		T_(test_many_samples_come_in_parts_and_none_is_lost),
		T_(test_a_job_without_samples_still_gives_its_accounting),
		T_(test_logs_have_a_heading_for_each_attempt),
		T_(test_kernel_is_found_by_label_release_or_digest),
		T_(test_kernels_show_which_jobs_need_them),
		T_(test_comparison_counts_only_deciding_passes_and_no_warmup),
		T_(test_baseline_can_be_chosen_by_any_clear_part),
		T_(test_nothing_measured_is_a_table_that_says_so),
		T_(test_events_of_a_machine_or_a_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
