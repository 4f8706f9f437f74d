/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real program against a stand-in for the coordinator. No test lets it load a kernel. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "agent/spool.h"
#include "common/clock.h"
#include "common/file.h"
#include "proto/frame.h"
#include "tests/lib/agent_double.h"

static int setup(void **state)
{
	struct double_ *d = malloc(sizeof(*d));

	assert_non_null(d);
	double_init(d);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	double_deinit(*state);
	free(*state);
	return 0;
}

/* Number after `key` in a file of /proc. */
static size_t files_in(const struct double_ *d, const char *name)
{
	char path[160];
	struct dirent *e;
	size_t n = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/%s", d->state, name);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void test_says_hello_facts_and_state(void **state)
{
	struct double_ *d = *state;
	const Kgrid__V1__MachineFacts *f;
	struct kg_msg *m;

	double_workload(d, "w", "echo V=1");
	double_start_agent(d);
	double_accept(d);
	m = double_next(d);
	assert_non_null(m);
	assert_int_equal(kg_msg_type(m), KG_MSG_FACTS);
	f = BODY(m, Kgrid__V1__MachineFacts);
	assert_true(f->has_memory_bytes && f->memory_bytes > 0);
	assert_string_equal(f->clock, "real");
	assert_int_equal(f->n_workloads, 1);
	assert_string_equal(f->workloads[0]->name, "w");
	assert_true(f->workloads[0]->available);
	assert_non_null(strstr(f->workloads[0]->declaration, "echo V=1"));
	kg_msg_free(m);
	m = double_next(d);
	assert_non_null(m);
	assert_int_equal(kg_msg_type(m), KG_MSG_AGENT_STATE);
	assert_int_equal(BODY(m, Kgrid__V1__AgentState)->boot, 0);
	kg_msg_free(m);
}

static void test_runs_are_recorded_and_the_boot_forgotten_once_acknowledged(void **state)
{
	static const char *const runs[] = {"w", "w", NULL};
	struct double_ *d = *state;
	size_t samples = 0, ended = 0;
	struct kg_msg *m;

	double_workload(d, "w", "echo V=2.5");
	double_prepare_run(d, runs, 3);
	double_start_agent(d);
	double_accept(d);
	m = double_expect_state(d);
	assert_int_equal(BODY(m, Kgrid__V1__AgentState)->boot, 7);
	assert_string_equal(BODY(m, Kgrid__V1__AgentState)->stage, "run");
	kg_msg_free(m);
	for (;;) {
		const Kgrid__V1__Record *r;
		bool last;

		m = double_record(d);
		r = RECORD(m);
		if (r->body_case == KGRID__V1__RECORD__BODY_SAMPLES) {
			samples += r->samples->n_value;
			assert_true(r->samples->value[0] == 2.5);
			assert_int_equal(r->attempt, 100 + ended);
		} else if (r->body_case == KGRID__V1__RECORD__BODY_ATTEMPT_ENDED) {
			assert_string_equal(r->attempt_ended->outcome, "pass");
			assert_int_equal(r->attempt_ended->samples, 3);
			ended++;
		}
		last = r->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		kg_msg_free(m);
		if (last)
			break;
	}
	assert_int_equal(samples, 6);
	assert_int_equal(ended, 2);
	assert_int_equal(files_in(d, "spool"), 1);
	double_ack(d, d->last_seq);
	m = double_expect(d, KG_MSG_AGENT_STATE);
	assert_int_equal(BODY(m, Kgrid__V1__AgentState)->boot, 0);
	kg_msg_free(m);
	assert_int_equal(files_in(d, "spool"), 0);
}

static void test_killed_agent_ends_the_attempt_as_infra_and_goes_on(void **state)
{
	static const char *const runs[] = {"hang", "w", NULL};
	struct double_ *d = *state;
	const Kgrid__V1__Record *r;
	struct kg_msg *m;

	double_workload(d, "hang", "echo V=1; exec sleep 1000.25");
	double_workload(d, "w", "echo V=1");
	double_prepare_run(d, runs, 1);
	double_start_agent(d);
	double_accept(d);
	do { /* the run has begun */
		m = double_record(d);
		r = RECORD(m);
		if (r->body_case == KGRID__V1__RECORD__BODY_STAGE) {
			kg_msg_free(m);
			break;
		}
		kg_msg_free(m);
	} while (true);
	double_kill_agent(d, SIGKILL);
	double_start_agent(d);
	double_accept(d);
	m = double_record(d);
	r = RECORD(m);
	assert_int_equal(r->body_case, KGRID__V1__RECORD__BODY_ATTEMPT_ENDED);
	assert_int_equal(r->attempt, 100);
	assert_string_equal(r->attempt_ended->outcome, "infra");
	assert_string_equal(r->attempt_ended->reason, "agent restarted during the run");
	kg_msg_free(m);
	/* Nothing of the old run is left once the agent speaks again. */
	assert_int_not_equal(system("pgrep -f 'sleep 100[0].25' >/dev/null"), 0);
	m = double_finish(d);
	assert_string_equal(RECORD(m)->boot_ended->outcome, "pass");
	kg_msg_free(m);
}

static void test_lost_connection_loses_and_repeats_no_record(void **state)
{
	static const char *const runs[] = {"w", "w", "w", NULL};
	struct double_ *d = *state;
	struct kg_msg *m;
	int i;

	double_workload(d, "w", "echo V=1; sleep 0.1");
	double_prepare_run(d, runs, 3);
	double_start_agent(d);
	for (i = 0; i < 4; i++) {
		double_accept(d);
		kg_msg_free(double_expect_state(d));
		m = double_record(d); /* double_record checks that numbers follow each other */
		kg_msg_free(m);
		if (i == 1)
			double_ack(d, d->last_seq);
		double_drop(d);
	}
	double_accept(d);
	m = double_finish(d);
	assert_string_equal(RECORD(m)->boot_ended->outcome, "pass");
	kg_msg_free(m);
}

static void test_fence_ends_the_run(void **state)
{
	static const char *const runs[] = {"hang", "hang", NULL};
	Kgrid__V1__FenceBoot f = KGRID__V1__FENCE_BOOT__INIT;
	struct double_ *d = *state;
	struct kg_msg *m;

	double_workload(d, "hang", "echo V=1; exec sleep 1000.75");
	double_prepare_run(d, runs, 1);
	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_record(d));
	f.has_boot = f.has_lease_epoch = 1;
	f.boot = 7;
	f.lease_epoch = 3;
	f.reason = (char *)(uintptr_t) "job cancelled";
	double_send(d, KG_MSG_FENCE_BOOT, 0, &f.base);
	m = double_finish(d);
	assert_string_equal(RECORD(m)->boot_ended->outcome, "infra");
	assert_non_null(strstr(RECORD(m)->boot_ended->reason, "job cancelled"));
	kg_msg_free(m);
	m = double_expect(d, KG_MSG_AGENT_STATE);
	assert_int_equal(BODY(m, Kgrid__V1__AgentState)->boot, 0);
	kg_msg_free(m);
	assert_int_not_equal(system("pgrep -f 'sleep 100[0].75' >/dev/null"), 0);
}

/* An order whose kernel is asked for, and the answer to that. */
static void refuse_kernel(struct double_ *d, int32_t code)
{
	Kgrid__V1__BootOrder o = KGRID__V1__BOOT_ORDER__INIT;
	Kgrid__V1__Error e = KGRID__V1__ERROR__INIT;
	char digest[65];
	struct kg_msg *m;
	uint32_t id = 1;

	memset(digest, 'a', 64);
	digest[64] = '\0';
	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_expect_state(d));
	o.has_boot = o.has_lease_epoch = 1;
	o.boot = 7;
	o.lease_epoch = 3;
	o.nonce = (char *)(uintptr_t) "0123456789abcdef0123456789abcdef";
	o.kernel_digest = digest;
	double_send(d, KG_MSG_BOOT_ORDER, 0, &o.base);
	m = double_record(d);
	assert_string_equal(RECORD(m)->stage->stage, "fetch");
	kg_msg_free(m);
	m = double_expect(d, KG_MSG_BLOB_REQUEST);
	assert_string_equal(BODY(m, Kgrid__V1__BlobRequest)->digest, digest);
	kg_msg_free(m);
	e.has_code = 1;
	e.code = code;
	e.text = (char *)(uintptr_t) "no such blob";
	double_send(d, KG_MSG_ERROR, id, &e.base);
}

static void expect_boot_end(struct double_ *d, const char *outcome, const char *reason)
{
	struct kg_msg *m = double_finish(d);

	assert_string_equal(RECORD(m)->boot_ended->outcome, outcome);
	assert_non_null(strstr(RECORD(m)->boot_ended->reason, reason));
	kg_msg_free(m);
}

static void test_kernel_that_is_not_delivered_ends_the_boot(void **state)
{
	refuse_kernel(*state, KG_ENOTFOUND);
	expect_boot_end(*state, "harness-error", "no such blob");
}

static void test_error_with_a_code_of_no_error_is_one_all_the_same(void **state)
{
	refuse_kernel(*state, 5);
	expect_boot_end(*state, "infra", "no such blob");
}

/* Repeated fields without content take much more memory than bytes, and how much is allowed goes by the
 * bytes: those of a field said over and over are gone once it is kept. */
static uint8_t *padded_order(size_t *ret_len)
{
	enum { RUNS = 30000, PADS = 850, PAD = 1000 };
	Kgrid__V1__BootOrder o = KGRID__V1__BOOT_ORDER__INIT;
	Kgrid__V1__RunOrder run = KGRID__V1__RUN_ORDER__INIT;
	Kgrid__V1__RunOrder **runs = calloc(RUNS, sizeof(*runs));
	char digest[65] = "";
	uint8_t *frame;
	struct kg_frame_header h = {.type = KG_MSG_BOOT_ORDER};
	size_t len, i;

	assert_non_null(runs);
	for (i = 0; i < RUNS; i++)
		runs[i] = &run;
	memset(digest, 'a', 64);
	o.has_boot = o.has_lease_epoch = 1;
	o.boot = 7;
	o.lease_epoch = 3;
	o.nonce = (char *)(uintptr_t) "0123456789abcdef0123456789abcdef";
	o.kernel_digest = digest;
	o.runs = runs;
	o.n_runs = RUNS;
	len = kgrid__v1__boot_order__get_packed_size(&o);
	frame = malloc(KG_FRAME_HEADER_SIZE + len + PADS * (PAD + 3));
	assert_non_null(frame);
	(void)kgrid__v1__boot_order__pack(&o, frame + KG_FRAME_HEADER_SIZE);
	for (i = 0; i < PADS; i++) {
		uint8_t *at = frame + KG_FRAME_HEADER_SIZE + len;

		at[0] = 11 << 3 | 2; /* job_name */
		at[1] = (PAD & 0x7f) | 0x80;
		at[2] = PAD >> 7;
		memset(at + 3, 'x', PAD);
		len += PAD + 3;
	}
	h.len_bytes = (uint32_t)len;
	kg_frame_header_write(frame, &h);
	free(runs);
	*ret_len = KG_FRAME_HEADER_SIZE + len;
	return frame;
}

static void expect_dropped_and_idle(struct double_ *d)
{
	struct kg_msg *m;

	while ((m = double_next(d)))
		kg_msg_free(m);
	double_accept(d);
	m = double_expect_state(d);
	assert_int_equal(BODY(m, Kgrid__V1__AgentState)->boot, 0);
	kg_msg_free(m);
}

static void test_order_that_cannot_be_kept_is_refused(void **state)
{
	struct double_ *d = *state;
	uint8_t *frame;
	size_t len;

	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_expect_state(d));
	frame = padded_order(&len);
	assert_int_equal(kg_write_all(d->fd, frame, len), 0);
	free(frame);
	expect_dropped_and_idle(d);
}

/* It becomes a word of the command line. */
static void test_nonce_is_hex(void **state)
{
	Kgrid__V1__BootOrder o = KGRID__V1__BOOT_ORDER__INIT;
	struct double_ *d = *state;
	char digest[65] = "";

	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_expect_state(d));
	memset(digest, 'a', 64);
	o.has_boot = o.has_lease_epoch = 1;
	o.boot = 7;
	o.lease_epoch = 3;
	o.nonce = (char *)(uintptr_t) "0123456789abcdef lsm=0123456789a";
	o.kernel_digest = digest;
	double_send(d, KG_MSG_BOOT_ORDER, 0, &o.base);
	expect_dropped_and_idle(d);
}

/* A spool that has room for nothing but ends. */
static void fill_spool(const struct double_ *d, uint64_t limit)
{
	Kgrid__V1__LogChunk log = KGRID__V1__LOG_CHUNK__INIT;
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	char dir[128], *text = calloc(1, limit);
	struct kg_err err = {""};
	struct spool *s;
	uint8_t *bytes;
	size_t len;

	(void)snprintf(dir, sizeof(dir), "%s/spool", d->state);
	assert_int_equal(kg_mkdir_p(dir, 0700, &err), 0);
	assert_int_equal(spool_open(dir, 7, limit, true, &s, &err), 0);
	r.has_boot = r.has_lease_epoch = r.has_seq = 1;
	r.boot = 7;
	r.lease_epoch = 3;
	r.seq = 1;
	r.body_case = KGRID__V1__RECORD__BODY_LOG;
	r.log = &log;
	log.has_data = 1;
	log.data.data = (uint8_t *)text;
	log.data.len = limit - SPOOL_RESERVE_BYTES - 400;
	assert_int_equal(kg_msg_encode(KG_MSG_RECORD, 0, &r.base, &bytes, &len, &err), 0);
	assert_int_equal(spool_append(s, 1, AGENT_RUN, bytes, len, false, &err), 0);
	spool_free(s);
	free(bytes);
	free(text);
}

/* Each of them has an end to tell, and the reserve is not for all of them. */
static void test_nothing_begins_once_the_spool_is_full(void **state)
{
	static const struct double_order o = {
		.runs = {{"absent", NULL}}, .repeat = 1000, .iterations = 1};
	struct double_ *d = *state;
	struct kg_msg *m;

	double_add_config(d, "spool: 1MiB\n");
	double_prepare_order(d, &o);
	fill_spool(d, 1 << 20);
	double_start_agent(d);
	double_accept(d);
	m = double_record(d);
	assert_int_equal(RECORD(m)->body_case, KGRID__V1__RECORD__BODY_LOG);
	kg_msg_free(m);
	for (;;) {
		m = double_record(d);
		if (RECORD(m)->body_case == KGRID__V1__RECORD__BODY_ATTEMPT_ENDED)
			break;
		kg_msg_free(m);
	}
	assert_int_equal(RECORD(m)->attempt, 100);
	assert_string_equal(RECORD(m)->attempt_ended->outcome, "infra");
	assert_string_equal(RECORD(m)->attempt_ended->reason, "the spool is full");
	kg_msg_free(m);
	expect_boot_end(d, "infra", "the spool is full");
	assert_int_equal(d->last_seq, 3);
}

static void test_other_version_is_tried_again(void **state)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;
	struct double_ *d = *state;

	double_start_agent(d);
	double_accept_raw(d);
	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_COORDINATOR;
	h.version_min = h.version_max = 99;
	double_send(d, KG_MSG_HELLO, 0, &h.base);
	double_accept(d); /* the agent came again, and takes what fits */
	kg_msg_free(double_expect_state(d));
}

static void test_second_agent_on_the_same_state_refuses_to_start(void **state)
{
	struct double_ *d = *state;
	char command[512];

	double_start_agent(d);
	double_accept(d);
	(void)snprintf(command, sizeof(command), "%s --config %s 2>%s/second", KGRID_AGENT,
		       d->config, d->dir);
	assert_int_not_equal(system(command), 0);
	(void)snprintf(command, sizeof(command), "grep -q 'another agent uses' %s/second", d->dir);
	assert_int_equal(system(command), 0);
}

static void test_damaged_state_is_put_aside(void **state)
{
	static const char *const runs[] = {"w", NULL};
	struct double_ *d = *state;
	char path[128];
	struct kg_msg *m;

	double_prepare_run(d, runs, 1);
	(void)snprintf(path, sizeof(path), "%s/state", d->state);
	assert_int_equal(truncate(path, 40), 0);
	fill_spool(d, 1 << 20);
	double_start_agent(d);
	double_accept(d);
	m = double_expect_state(d);
	assert_int_equal(BODY(m, Kgrid__V1__AgentState)->boot, 0);
	kg_msg_free(m);
	(void)snprintf(path, sizeof(path), "%s/state.bad", d->state);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(files_in(d, "spool"), 0); /* nobody would ask for it again */
}

/* Small and quiet: anonymous memory idle, and wake-ups and writes while a workload runs. */
static void test_is_small_when_idle_and_quiet_during_a_run(void **state)
{
	static const char *const runs[] = {"w", NULL};
	struct double_ *d = *state;
	uint64_t switches, rss, began;
	struct kg_msg *m;

	double_workload(d, "w", "sleep 8; echo V=1");
	double_prepare_run(d, runs, 1);
	double_start_agent(d);
	double_accept(d);
	do {
		m = double_record(d);
		if (RECORD(m)->body_case == KGRID__V1__RECORD__BODY_STAGE)
			break;
		kg_msg_free(m);
	} while (true);
	kg_msg_free(m);
	double_ack(d, d->last_seq);
	(void)usleep(1500000); /* the beginning is over: measure the quiet part, by the clock */
	began = kg_monotonic_ns();
	switches = double_proc_number(d, "status", "\nvoluntary_ctxt_switches:");
	(void)usleep(2500000);
	switches = double_proc_number(d, "status", "\nvoluntary_ctxt_switches:") - switches;
	print_message("wake-ups during %.1f s of a run: %u\n",
		      (double)(kg_monotonic_ns() - began) / 1e9, (unsigned)switches);
	assert_true(switches <= 5);
	kg_msg_free(double_finish(d));
	kg_msg_free(double_expect(d, KG_MSG_AGENT_STATE));
	rss = double_proc_number(d, "smaps_rollup", "\nAnonymous:");
	print_message("anonymous memory, idle: %u kB\n", (unsigned)rss);
#ifndef KGRID_SANITIZED /* a sanitizer keeps books of its own */
	assert_true(rss <= 3 * 1024);
#endif
}

static void test_thousand_samples_a_second_all_arrive(void **state)
{
	static const char *const runs[] = {"w", NULL};
	struct double_ *d = *state;
	uint64_t samples = 0;
	char path[160], text[512];
	struct kg_msg *m;
	bool last;

	(void)snprintf(path, sizeof(path), "%s/w.yaml", d->workloads);
	(void)snprintf(text, sizeof(text),
		       "name: w\nparameters: {}\nrequires: [sh]\n"
		       "command: [sh, -c, 'seq -f V=%%.1f 1000; sleep 1']\n"
		       "metrics:\n  - {name: v, unit: s, direction: lower, which: each, "
		       "read: {keyval: V}}\n");
	assert_int_equal(kg_file_replace(path, text, strlen(text), 0644, NULL), 0);
	double_prepare_run(d, runs, 5);
	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_expect_state(d));
	do {
		m = double_record(d);
		if (RECORD(m)->body_case == KGRID__V1__RECORD__BODY_SAMPLES)
			samples += RECORD(m)->samples->n_value;
		last = RECORD(m)->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		kg_msg_free(m);
	} while (!last);
	assert_int_equal(samples, 5000);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_says_hello_facts_and_state),
		T(test_runs_are_recorded_and_the_boot_forgotten_once_acknowledged),
		T(test_killed_agent_ends_the_attempt_as_infra_and_goes_on),
		T(test_lost_connection_loses_and_repeats_no_record),
		T(test_fence_ends_the_run),
		T(test_kernel_that_is_not_delivered_ends_the_boot),
		T(test_error_with_a_code_of_no_error_is_one_all_the_same),
		T(test_nothing_begins_once_the_spool_is_full),
		T(test_order_that_cannot_be_kept_is_refused),
		T(test_nonce_is_hex),
		T(test_other_version_is_tried_again),
		T(test_second_agent_on_the_same_state_refuses_to_start),
		T(test_damaged_state_is_put_aside),
		T(test_is_small_when_idle_and_quiet_during_a_run),
		T(test_thousand_samples_a_second_all_arrive),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
