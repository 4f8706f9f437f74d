/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames as released versions wrote them (tests/data/frames). They must decode for ever, and what
 * is encoded today must be the same bytes. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>

#include "common/file.h"
#include "proto/codec.h"
#include "proto/frame.h"
#include "proto/messages.h"

#define TEXT(s) ((char *)(uintptr_t)(s))
#define NONCE	"0123456789abcdef0123456789abcdef"

struct golden {
	char *bytes;
	size_t len;
	struct kg_msg *m;
};

/* `version` is the folder: "v1" as 0.1.0 wrote them, "v1.2" what protocol 1.2 brought. */
static struct golden load_from(const char *version, const char *name, uint16_t type, uint32_t id)
{
	struct kg_frame_decoder d = {.max_bytes = KG_FRAME_MAX};
	struct kg_err err = {{0}};
	struct kg_frame f;
	struct golden g;
	const uint8_t *p;
	char path[512];
	size_t left;

	(void)snprintf(path, sizeof(path), "%s/frames/%s/%s.bin", KGRID_TEST_DATA, version, name);
	if (kg_file_read(path, 1 << 20, &g.bytes, &g.len, &err) < 0)
		fail_msg("%s", err.text);
	p = (const uint8_t *)g.bytes;
	left = g.len;
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &left, &f, &err), 1);
	assert_int_equal(left, 0);
	assert_int_equal(f.type, type);
	assert_int_equal(f.id, id);
	if (kg_msg_decode(f.type, f.payload, f.len_bytes, &g.m, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	kg_frame_decoder_deinit(&d);
	return g;
}

static struct golden load(const char *name, uint16_t type, uint32_t id)
{
	return load_from("v1", name, type, id);
}

/* Takes the golden frame. */
static void check_encodes_to(struct golden *g, uint16_t type, uint32_t id,
			     const ProtobufCMessage *body)
{
	struct kg_err err;
	uint8_t *bytes;
	size_t len;

	assert_int_equal(kg_msg_encode(type, id, body, &bytes, &len, &err), 0);
	assert_int_equal(len, g->len);
	assert_memory_equal(bytes, g->bytes, len);
	free(bytes);
	free(g->bytes);
	kg_msg_free(g->m);
}

static void test_hello(void **state)
{
	struct golden g = load("hello", KG_MSG_HELLO, 0);
	const Kgrid__V1__Hello *seen = (const Kgrid__V1__Hello *)kg_msg_body(g.m);
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;

	(void)state;
	assert_int_equal(seen->role, KGRID__V1__ROLE__ROLE_AGENT);
	assert_int_equal(seen->version_min, 1);
	assert_int_equal(seen->version_max, 1);
	assert_string_equal(seen->software, "kgrid-agent 0.1.0");
	assert_string_equal(seen->machine, "lab-intel");
	assert_string_equal(seen->instance, "a1b2c3d4");
	assert_string_equal(seen->host_boot_id, "3f2504e0-4f89-41d3-9a0c-0305e82c3301");
	assert_string_equal(seen->state_id, "5e6f");
	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_AGENT;
	h.version_min = h.version_max = 1;
	h.software = TEXT("kgrid-agent 0.1.0");
	h.machine = TEXT("lab-intel");
	h.instance = TEXT("a1b2c3d4");
	h.host_boot_id = TEXT("3f2504e0-4f89-41d3-9a0c-0305e82c3301");
	h.state_id = TEXT("5e6f");
	check_encodes_to(&g, KG_MSG_HELLO, 0, &h.base);
}

static void fill_run(Kgrid__V1__RunOrder *run, Kgrid__V1__Param **params)
{
	run->has_attempt = run->has_slot = run->has_iterations = run->has_timeout_seconds = 1;
	run->attempt = 1001;
	run->slot = 501;
	run->workload = TEXT("netperf");
	run->workload_digest = TEXT("c0ffee");
	run->n_params = 2;
	run->params = params;
	run->iterations = 5;
	run->timeout_seconds = 360;
}

static void test_boot_order(void **state)
{
	struct golden g = load("boot_order", KG_MSG_BOOT_ORDER, 0);
	const Kgrid__V1__BootOrder *seen = (const Kgrid__V1__BootOrder *)kg_msg_body(g.m);
	Kgrid__V1__BootOrder o = KGRID__V1__BOOT_ORDER__INIT;
	Kgrid__V1__Param size = KGRID__V1__PARAM__INIT, test = KGRID__V1__PARAM__INIT;
	Kgrid__V1__Param *params[] = {&size, &test};
	Kgrid__V1__RunOrder run = KGRID__V1__RUN_ORDER__INIT, *runs[] = {&run};
	Kgrid__V1__StageLimit limit = KGRID__V1__STAGE_LIMIT__INIT, *limits[] = {&limit};

	(void)state;
	assert_int_equal(seen->boot, 42);
	assert_int_equal(seen->lease_epoch, 3);
	assert_string_equal(seen->nonce, NONCE);
	assert_string_equal(seen->cmdline, "lsm=landlock,apparmor mitigations=auto panic=10");
	assert_string_equal(seen->expect_lsm, "capability,landlock,apparmor");
	assert_null(seen->expect_build_id);
	assert_int_equal(seen->n_runs, 1);
	assert_int_equal(seen->runs[0]->attempt, 1001);
	assert_int_equal(seen->runs[0]->n_params, 2);
	assert_string_equal(seen->runs[0]->params[1]->value, "UDP_RR");
	assert_int_equal(seen->n_limits, 1);
	assert_string_equal(seen->limits[0]->stage, "boot");
	o.has_boot = o.has_lease_epoch = 1;
	o.boot = 42;
	o.lease_epoch = 3;
	o.nonce = TEXT(NONCE);
	o.kernel_digest = TEXT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	o.cmdline = TEXT("lsm=landlock,apparmor mitigations=auto panic=10");
	o.expect_release = TEXT("6.12.117+deb12-cloud-amd64");
	o.expect_lsm = TEXT("capability,landlock,apparmor");
	size.name = TEXT("size");
	size.value = TEXT("64");
	test.name = TEXT("test");
	test.value = TEXT("UDP_RR");
	fill_run(&run, params);
	o.n_runs = 1;
	o.runs = runs;
	limit.stage = TEXT("boot");
	limit.has_seconds = 1;
	limit.seconds = 300;
	o.n_limits = 1;
	o.limits = limits;
	o.job_name = TEXT("lsm-cost");
	o.cell_name = TEXT("6.12 full");
	check_encodes_to(&g, KG_MSG_BOOT_ORDER, 0, &o.base);
}

static void test_record(void **state)
{
	struct golden g = load("record", KG_MSG_RECORD, 0);
	const Kgrid__V1__Record *seen = (const Kgrid__V1__Record *)kg_msg_body(g.m);
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__SampleBatch b = KGRID__V1__SAMPLE_BATCH__INIT;
	uint32_t index[] = {0, 1, 300}, metric[] = {1, 1, 2}, iteration[] = {1, 2, 2};
	int64_t delta[] = {5000000000, 1000000000, -1};
	double value[] = {16671.09, 16700.5, 0.25};

	(void)state;
	assert_int_equal(seen->boot, 42);
	assert_int_equal(seen->lease_epoch, 3);
	assert_int_equal(seen->seq, 7);
	assert_int_equal(seen->attempt, 1001);
	assert_int_equal(seen->realtime_ns, 1796052429823000000);
	assert_int_equal(seen->body_case, KGRID__V1__RECORD__BODY_SAMPLES);
	assert_int_equal(seen->samples->n_value, 3);
	assert_int_equal(seen->samples->index[2], 300);
	assert_true(seen->samples->time_delta_ns[2] == -1);
	assert_true(seen->samples->value[0] == 16671.09);
	assert_true(seen->samples->has_warmup && !seen->samples->warmup);
	r.has_boot = r.has_lease_epoch = r.has_seq = r.has_attempt = 1;
	r.has_monotonic_ns = r.has_realtime_ns = 1;
	r.boot = 42;
	r.lease_epoch = 3;
	r.seq = 7;
	r.attempt = 1001;
	r.monotonic_ns = 6000000000;
	r.realtime_ns = 1796052429823000000;
	r.body_case = KGRID__V1__RECORD__BODY_SAMPLES;
	r.samples = &b;
	b.n_index = b.n_metric = b.n_iteration = b.n_time_delta_ns = b.n_value = 3;
	b.index = index;
	b.metric = metric;
	b.iteration = iteration;
	b.time_delta_ns = delta;
	b.value = value;
	b.has_warmup = 1;
	check_encodes_to(&g, KG_MSG_RECORD, 0, &r.base);
}

/* ---- since 1.2 ---- */

static void fill_record(Kgrid__V1__Record *r, uint64_t seq)
{
	r->has_boot = r->has_lease_epoch = r->has_seq = 1;
	r->boot = 42;
	r->lease_epoch = 3;
	r->seq = seq;
}

static void test_provenance(void **state)
{
	struct golden g = load_from("v1.2", "provenance", KG_MSG_RECORD, 0);
	const Kgrid__V1__Record *seen = (const Kgrid__V1__Record *)kg_msg_body(g.m);
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__Provenance p = KGRID__V1__PROVENANCE__INIT;
	Kgrid__V1__Fact microcode = KGRID__V1__FACT__INIT, boost = KGRID__V1__FACT__INIT;
	Kgrid__V1__Fact *facts[] = {&microcode, &boost};

	(void)state;
	assert_int_equal(seen->body_case, KGRID__V1__RECORD__BODY_PROVENANCE);
	assert_int_equal(seen->seq, 2);
	assert_string_equal(seen->provenance->phase, "boot");
	assert_int_equal(seen->provenance->n_facts, 2);
	assert_string_equal(seen->provenance->facts[0]->value, "0xa0011d1");
	assert_null(seen->provenance->facts[1]->value); /* unsupported is not "" */
	assert_string_equal(seen->provenance->facts[1]->reason, "absent");
	fill_record(&r, 2);
	r.body_case = KGRID__V1__RECORD__BODY_PROVENANCE;
	r.provenance = &p;
	p.phase = TEXT("boot");
	p.n_facts = 2;
	p.facts = facts;
	microcode.name = TEXT("cpu.microcode");
	microcode.value = TEXT("0xa0011d1");
	boost.name = TEXT("turbo.boost");
	boost.reason = TEXT("absent");
	check_encodes_to(&g, KG_MSG_RECORD, 0, &r.base);
}

static void test_document(void **state)
{
	struct golden g = load_from("v1.2", "document", KG_MSG_RECORD, 0);
	const Kgrid__V1__Record *seen = (const Kgrid__V1__Record *)kg_msg_body(g.m);
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__Document d = KGRID__V1__DOCUMENT__INIT;
	uint8_t data[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00};

	(void)state;
	assert_int_equal(seen->body_case, KGRID__V1__RECORD__BODY_DOCUMENT);
	assert_string_equal(seen->document->name, "config");
	assert_int_equal(seen->document->text_bytes, 280123);
	assert_int_equal(seen->document->stored_bytes, 61234);
	assert_int_equal(seen->document->offset, 32768);
	assert_int_equal(seen->document->data.len, sizeof(data));
	assert_memory_equal(seen->document->data.data, data, sizeof(data));
	fill_record(&r, 3);
	r.body_case = KGRID__V1__RECORD__BODY_DOCUMENT;
	r.document = &d;
	d.name = TEXT("config");
	d.digest = TEXT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	d.has_text_bytes = d.has_stored_bytes = d.has_offset = d.has_data = 1;
	d.text_bytes = 280123;
	d.stored_bytes = 61234;
	d.offset = 32768;
	d.data.data = data;
	d.data.len = sizeof(data);
	check_encodes_to(&g, KG_MSG_RECORD, 0, &r.base);
}

static void test_compare_request(void **state)
{
	struct golden g = load_from("v1.2", "compare_request", KG_MSG_COMPARE, 7);
	const Kgrid__V1__CompareRequest *seen = (const Kgrid__V1__CompareRequest *)kg_msg_body(g.m);
	Kgrid__V1__CompareRequest c = KGRID__V1__COMPARE_REQUEST__INIT;
	Kgrid__V1__Selection s = KGRID__V1__SELECTION__INIT;
	uint64_t jobs[] = {3, 5};
	char *params[] = {TEXT("size=64")};

	(void)state;
	assert_int_equal(seen->select->n_jobs, 2);
	assert_int_equal(seen->select->jobs[1], 5);
	assert_string_equal(seen->select->machine, "lab-intel");
	assert_string_equal(seen->select->params[0], "size=64");
	assert_false(seen->has_job);
	assert_true(seen->has_alpha && seen->alpha == 0.005);
	assert_true(seen->gate && !seen->has_across_epochs);
	assert_string_equal(seen->correction, "holm");
	c.baseline = TEXT("6.1/full");
	c.select = &s;
	c.has_alpha = c.has_gate = c.gate = 1;
	c.alpha = 0.005;
	c.correction = TEXT("holm");
	s.n_jobs = 2;
	s.jobs = jobs;
	s.machine = TEXT("lab-intel");
	s.n_params = 1;
	s.params = params;
	s.has_since_ns = 1;
	s.since_ns = 1796052429823000000;
	check_encodes_to(&g, KG_MSG_COMPARE, 7, &c.base);
}

static void test_boot_order_with_settings_and_role(void **state)
{
	struct golden g = load_from("v1.3", "boot_order", KG_MSG_BOOT_ORDER, 0);
	const Kgrid__V1__BootOrder *seen = (const Kgrid__V1__BootOrder *)kg_msg_body(g.m);
	Kgrid__V1__BootOrder o = KGRID__V1__BOOT_ORDER__INIT;
	Kgrid__V1__Param size = KGRID__V1__PARAM__INIT, test = KGRID__V1__PARAM__INIT;
	Kgrid__V1__Param *params[] = {&size, &test};
	Kgrid__V1__RunOrder run = KGRID__V1__RUN_ORDER__INIT, *runs[] = {&run};
	Kgrid__V1__Setting s = KGRID__V1__SETTING__INIT, *settings[] = {&s};

	(void)state;
	assert_string_equal(seen->runs[0]->role, "client");
	assert_string_equal(seen->runs[0]->peer, "lab-amd");
	assert_int_equal(seen->n_settings, 1);
	assert_string_equal(seen->settings[0]->name, "sysctl.vm.swappiness");
	assert_string_equal(seen->settings[0]->value, "10");
	assert_true(seen->leave_by_reboot);
	fill_run(&run, params);
	size.name = TEXT("size");
	size.value = TEXT("64");
	test.name = TEXT("test");
	test.value = TEXT("UDP_RR");
	run.role = TEXT("client");
	run.peer = TEXT("lab-amd");
	o.has_boot = o.has_lease_epoch = o.has_leave_by_reboot = o.leave_by_reboot = 1;
	o.boot = 42;
	o.lease_epoch = 3;
	o.nonce = TEXT(NONCE);
	o.n_runs = 1;
	o.runs = runs;
	s.name = TEXT("sysctl.vm.swappiness");
	s.value = TEXT("10");
	o.n_settings = 1;
	o.settings = settings;
	check_encodes_to(&g, KG_MSG_BOOT_ORDER, 0, &o.base);
}

static void test_submit_with_files(void **state)
{
	struct golden g = load_from("v1.3", "submit", KG_MSG_SUBMIT, 9);
	const Kgrid__V1__SubmitRequest *seen = (const Kgrid__V1__SubmitRequest *)kg_msg_body(g.m);
	Kgrid__V1__SubmitRequest q = KGRID__V1__SUBMIT_REQUEST__INIT;
	Kgrid__V1__JobFile f = KGRID__V1__JOB_FILE__INIT, *files[] = {&f};

	(void)state;
	assert_int_equal(seen->n_files, 1);
	assert_string_equal(seen->files[0]->name, "lists.yaml");
	assert_string_equal(seen->user, "alice");
	assert_int_equal(seen->explain_cell, 3);
	q.text = TEXT("include: lists.yaml\n");
	q.file_name = TEXT("a.yaml");
	q.has_dry_run = q.dry_run = q.has_explain_cell = 1;
	q.explain_cell = 3;
	q.client_key = TEXT("k");
	q.user = TEXT("alice");
	q.n_files = 1;
	q.files = files;
	f.name = TEXT("lists.yaml");
	f.text = TEXT("lsm: {a: yama}\n");
	check_encodes_to(&g, KG_MSG_SUBMIT, 9, &q.base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_boot_order),
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_provenance),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_compare_request),
		cmocka_unit_test(test_boot_order_with_settings_and_role),
		cmocka_unit_test(test_submit_with_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
