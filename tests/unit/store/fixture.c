/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#include "common/file.h"
#include "common/sha256.h"

void fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	/* Killed processes and failing calls are tested, not power cuts: memory will do, and is
	 * twenty times faster than a disk that syncs. */
	(void)snprintf(f->dir, sizeof(f->dir), "%s/kgrid-store-XXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/kgrid.db", f->dir);
}

void fixture_open(struct fixture *f)
{
	struct store_config c = {.path = f->path, .host_boot_id = "host-1", .batch_ms = 1};
	struct kg_err err = {""};

	if (store_open(&c, &f->s, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(store_start(f->s, &err), 0);
	assert_int_equal(query_open(f->path, 2, &f->q, &err), 0);
}

void fixture_close(struct fixture *f)
{
	query_close(f->q);
	store_close(f->s);
	f->q = NULL;
	f->s = NULL;
}

void fixture_deinit(struct fixture *f)
{
	fixture_close(f);
	assert_int_equal(kg_remove_tree(f->dir, NULL), 0);
}

const char *fixture_sql(struct fixture *f, const char *sql)
{
	static char text[1024];
	sqlite3_stmt *st;
	sqlite3 *db;

	text[0] = '\0';
	assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL)
		(void)snprintf(text, sizeof(text), "%s", (const char *)sqlite3_column_text(st, 0));
	assert_int_equal(sqlite3_finalize(st), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return text;
}

long long fixture_int(struct fixture *f, const char *sql)
{
	return strtoll(fixture_sql(f, sql), NULL, 10);
}

static void on_done(void *arg, const struct store_result *r)
{
	struct answer *a = arg;

	a->n++;
	a->r = *r;
	(void)snprintf(a->text, sizeof(a->text), "%s", r->text);
	a->r.text = a->text;
}

struct store_done answer_done(struct answer *a)
{
	return (struct store_done){on_done, a};
}

void answer_wait(struct fixture *f, struct answer *a)
{
	struct timespec pause = {0, 100000};

	for (int i = 0; a->n == 0 && i < 100000; i++) {
		if (store_poll(f->s) == 0)
			(void)nanosleep(&pause, NULL);
	}
	assert_int_equal(a->n, 1);
}

void fixture_kernels(struct fixture *f)
{
	struct store_kernel k = {.digest = KERNEL_A,
				 .label = "old",
				 .release = "6.1.0",
				 .version = "6.1.0 #1",
				 .config_lsm = "apparmor",
				 .manifest = "kgrid-kernel 1\nrelease 6.1.0\n"
					     "file " KERNEL_B " 10 644 vmlinuz\n",
				 .files = 1,
				 .size_bytes = 10,
				 .added_ns = 5};
	struct store_machine m = {.name = MACHINE, .state_id = "s1", .last_seen_ns = 9};
	struct answer a;

	assert_int_equal(RUN(f, &a, store_kernel_insert(f->s, &k, answer_done(&a))), 0);
	k.digest = KERNEL_B;
	k.label = "new";
	k.release = "6.12.0";
	assert_int_equal(RUN(f, &a, store_kernel_insert(f->s, &k, answer_done(&a))), 0);
	assert_int_equal(RUN(f, &a, store_machine_upsert(f->s, &m, answer_done(&a))), 0);
}

/* Cells: old/64, old/1024, new/64, new/1024. Slots per block: two boots of two runs. */
uint64_t fixture_job(struct fixture *f, unsigned blocks, struct answer *ret)
{
	static const char *const warnings[] = {"'foo' is not built in"};
	struct store_cell cells[4];
	struct store_slot slots[4 * 16];
	struct store_job j = {.name = "demo",
			      .text = "name: demo\n",
			      .file_name = "demo.yaml",
			      .priority = 50,
			      .seed = 0xfedcba9876543210ULL,
			      .blocks = blocks,
			      .warnings = warnings,
			      .n_warnings = 1,
			      .submitted_ns = 100,
			      .cells = cells,
			      .n_cells = 4,
			      .slots = slots,
			      .n_slots = 4 * (size_t)blocks};

	for (unsigned i = 0; i < 4; i++) {
		cells[i] = (struct store_cell){
			.identity = (const char *[]){"i0", "i1", "i2", "i3"}[i],
			.machine = MACHINE,
			.kernel = i < 2 ? KERNEL_A : KERNEL_B,
			.kernel_label = i < 2 ? "old" : "new",
			.lsm_label = "full",
			.lsm_request = "apparmor",
			.lsm_effective = "capability,apparmor",
			.cmdline = "lsm=apparmor",
			.workload = "netperf",
			.workload_digest = "d",
			.params = i % 2 ? "seconds=1 size=1024" : "seconds=1 size=64",
			.iterations = 3,
			.timeout_s = 60,
			.kernel_order = i / 2};
	}
	for (unsigned i = 0; i < 4 * blocks; i++)
		slots[i] = (struct store_slot){.cell_index = i % 4,
					       .block = i / 4 + 1,
					       .visit = i / 2 + 1,
					       .position = i % 2 + 1};
	assert_int_equal(RUN(f, ret, store_job_insert(f->s, &j, answer_done(ret))), 0);
	return ret->r.id;
}

int fixture_boot(struct fixture *f, uint64_t id, uint64_t job, const uint64_t *slots, size_t n)
{
	static const struct fixture_where here;

	return fixture_boot_at(f, id, job, &here, slots, n);
}

int fixture_boot_at(struct fixture *f, uint64_t id, uint64_t job, const struct fixture_where *w,
		    const uint64_t *slots, size_t n)
{
	struct store_attempt attempts[16];
	struct store_boot b = {.id = id,
			       .job = job,
			       .machine = w->machine ? w->machine : MACHINE,
			       .block = w->block ? w->block : 1,
			       .visit = 1,
			       .lease_epoch = EPOCH,
			       .nonce = "00112233445566778899aabbccddeeff",
			       .kernel = w->kernel ? w->kernel : KERNEL_A,
			       .lsm_request = "apparmor",
			       .lsm_effective =
				       w->lsm_effective ? w->lsm_effective : "capability,apparmor",
			       .cmdline = w->cmdline ? w->cmdline : "lsm=apparmor",
			       .stage = "dispatch",
			       .deadline = {.boottime_ns = 1000, .realtime_ns = 2000},
			       .started_ns = w->started_ns ? w->started_ns : 1,
			       .role = w->role,
			       .peer = w->peer,
			       .pair = w->pair,
			       .settings = w->settings,
			       .attempts = attempts,
			       .n_attempts = n};
	struct answer a;

	for (size_t i = 0; i < n; i++)
		attempts[i] = (struct store_attempt){
			.id = id * 100 + i, .slot = slots[i], .position = (uint32_t)i + 1};
	return RUN(f, &a, store_boot_begin(f->s, &b, answer_done(&a)));
}

void fixture_boot_pass(struct fixture *f, uint64_t id, const uint64_t *slots, size_t n)
{
	struct store_settle st[16];
	struct store_boot_end e = {
		.boot = id, .outcome = KG_OUTCOME_PASS, .settles = st, .n_settles = n};
	struct answer a;

	for (size_t i = 0; i < n; i++)
		st[i] = (struct store_settle){
			.slot = slots[i], .outcome = KG_OUTCOME_PASS, .attempt = id * 100 + i};
	assert_int_equal(RUN(f, &a, store_boot_end(f->s, &e, answer_done(&a))), 0);
}

/* ---- records ---- */

int ingest_from(struct fixture *f, struct answer *a, const char *machine, Kgrid__V1__Record *r)
{
	return RUN(f, a, store_ingest(f->s, machine, r, 1000, answer_done(a)));
}

int ingest(struct fixture *f, struct answer *a, Kgrid__V1__Record *r)
{
	return ingest_from(f, a, MACHINE, r);
}

void must_ingest(struct fixture *f, const char *machine, Kgrid__V1__Record r)
{
	struct answer a;

	assert_int_equal(ingest_from(f, &a, machine, &r), 0);
	assert_int_equal(a.r.ingest, STORE_INGEST_COMMITTED);
	if (a.r.fault)
		fail_msg("%s", fixture_sql(f, "SELECT text FROM event WHERE kind = 'fault'"
					      " ORDER BY id DESC LIMIT 1"));
}

Kgrid__V1__Record record(uint64_t boot, uint64_t seq, uint64_t attempt)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;

	r.has_boot = r.has_lease_epoch = r.has_seq = 1;
	r.boot = boot;
	r.lease_epoch = EPOCH;
	r.seq = seq;
	r.has_attempt = attempt != 0;
	r.attempt = attempt;
	return r;
}

Kgrid__V1__Record record_evidence(uint64_t boot, uint64_t seq, int verified)
{
	static Kgrid__V1__BootEvidence b;
	static Kgrid__V1__Param fact, *facts[] = {&fact};
	Kgrid__V1__Record r = record(boot, seq, 0);

	kgrid__v1__boot_evidence__init(&b);
	kgrid__v1__param__init(&fact);
	fact.name = (char *)(uintptr_t) "governor";
	fact.value = (char *)(uintptr_t) "say \"performance\"";
	b.n_facts = 1;
	b.facts = facts;
	b.has_verified = 1;
	b.verified = verified;
	b.release = (char *)(uintptr_t) "6.1.0";
	b.lsm = (char *)(uintptr_t) "capability,apparmor";
	b.cpu_vendor = (char *)(uintptr_t) "GenuineIntel";
	if (!verified) {
		b.outcome = (char *)(uintptr_t) "wrong-lsm";
		b.reason = (char *)(uintptr_t) "apparmor is missing";
	}
	r.body_case = KGRID__V1__RECORD__BODY_EVIDENCE;
	r.evidence = &b;
	return r;
}

Kgrid__V1__Record record_started(uint64_t boot, uint64_t seq, uint64_t attempt)
{
	static Kgrid__V1__AttemptStarted b;
	static Kgrid__V1__MetricInfo m, *metrics[] = {&m};
	static char *argv[] = {(char *)(uintptr_t) "netperf", (char *)(uintptr_t) "-l"};
	Kgrid__V1__Record r = record(boot, seq, attempt);

	kgrid__v1__attempt_started__init(&b);
	kgrid__v1__metric_info__init(&m);
	m.has_id = 1;
	m.name = (char *)(uintptr_t) "rate";
	m.unit = (char *)(uintptr_t) "op/s";
	m.direction = (char *)(uintptr_t) "higher";
	b.n_metrics = 1;
	b.metrics = metrics;
	b.n_argv = 2;
	b.argv = argv;
	r.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_STARTED;
	r.attempt_started = &b;
	return r;
}

Kgrid__V1__Record record_samples(uint64_t boot, uint64_t seq, uint64_t attempt, uint32_t first,
				 uint32_t n, double base)
{
	static Kgrid__V1__SampleBatch b;
	static uint32_t index[4096], metric[4096], iteration[4096];
	static int64_t time_delta[4096];
	static double value[4096];
	Kgrid__V1__Record r = record(boot, seq, attempt);

	kgrid__v1__sample_batch__init(&b);
	for (uint32_t i = 0; i < n; i++) {
		index[i] = first + i;
		iteration[i] = i + 1;
		metric[i] = 0;
		time_delta[i] = 10;
		value[i] = base + i;
	}
	b.n_index = b.n_metric = b.n_iteration = b.n_time_delta_ns = b.n_value = n;
	b.index = index;
	b.metric = metric;
	b.iteration = iteration;
	b.time_delta_ns = time_delta;
	b.value = value;
	r.body_case = KGRID__V1__RECORD__BODY_SAMPLES;
	r.samples = &b;
	return r;
}

Kgrid__V1__Record record_ended(uint64_t boot, uint64_t seq, uint64_t attempt, const char *outcome,
			       uint32_t samples)
{
	static Kgrid__V1__AttemptEnded b;
	Kgrid__V1__Record r = record(boot, seq, attempt);

	kgrid__v1__attempt_ended__init(&b);
	b.outcome = (char *)(uintptr_t)outcome;
	b.has_samples = 1;
	b.samples = samples;
	b.has_run_ns = 1;
	b.run_ns = 12345;
	r.body_case = KGRID__V1__RECORD__BODY_ATTEMPT_ENDED;
	r.attempt_ended = &b;
	return r;
}

Kgrid__V1__Record record_provenance(uint64_t boot, uint64_t seq, uint64_t attempt,
				    const char *phase, const char *const *facts)
{
	static Kgrid__V1__Provenance b;
	static Kgrid__V1__Fact fact[64], *refs[64];
	Kgrid__V1__Record r = record(boot, seq, attempt);

	kgrid__v1__provenance__init(&b);
	b.phase = (char *)(uintptr_t)phase;
	b.facts = refs;
	for (; facts[0]; facts += 2) {
		Kgrid__V1__Fact *x = refs[b.n_facts] = &fact[b.n_facts];

		assert_true(b.n_facts++ < 64);
		kgrid__v1__fact__init(x);
		x->name = (char *)(uintptr_t)facts[0];
		x->value = (char *)(uintptr_t)facts[1];
		x->reason = facts[1] ? NULL : (char *)(uintptr_t) "denied";
	}
	r.body_case = KGRID__V1__RECORD__BODY_PROVENANCE;
	r.provenance = &b;
	return r;
}

Kgrid__V1__Record record_document(uint64_t boot, uint64_t seq, const char *name, const char *text)
{
	static Kgrid__V1__Document b;
	static char digest[KG_SHA256_HEX_SIZE];
	static uint8_t stored[200000];
	Kgrid__V1__Record r = record(boot, seq, 0);
	size_t len = strlen(text), n = ZSTD_compress(stored, sizeof(stored), text, len, 3);

	assert_false(ZSTD_isError(n));
	assert_int_equal(kg_sha256_bytes(text, len, digest), 0);
	kgrid__v1__document__init(&b);
	b.name = (char *)(uintptr_t)name;
	b.digest = digest;
	b.has_text_bytes = b.has_stored_bytes = b.has_offset = b.has_data = 1;
	b.text_bytes = len;
	b.stored_bytes = n;
	b.data.data = stored;
	b.data.len = n;
	r.body_case = KGRID__V1__RECORD__BODY_DOCUMENT;
	r.document = &b;
	return r;
}

void check_accounting(struct fixture *f, uint64_t job, uint64_t slots)
{
	Kgrid__V1__Accounting *acc = NULL;
	struct kg_err err = {""};
	uint64_t sum;

	if (query_accounting(f->q, job, &acc, &err) < 0)
		fail_msg("%s", err.text);
	sum = acc->pending;
	for (size_t i = 0; i < acc->n_outcomes; i++)
		sum += acc->outcomes[i]->count;
	assert_int_equal(acc->slots, slots);
	assert_int_equal(sum, slots);
	kgrid__v1__accounting__free_unpacked(acc, NULL);
}
