/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the real program records of the machine, against a stand-in for the coordinator. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/state.h"
#include "common/file.h"
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

/* As a coordinator of that minor had given the order. */
static void order_of_minor(struct double_ *d, uint32_t minor, const char *document)
{
	struct agent_state s;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/state", d->state);
	assert_int_equal(agent_state_load(path, &s, NULL), 0);
	s.minor = minor;
	if (document) {
		size_t len = strlen(document);

		s.order = realloc(s.order, s.order_len + 2 + len);
		assert_non_null(s.order);
		s.order[s.order_len++] = 13 << 3 | 2; /* want_documents */
		s.order[s.order_len++] = (uint8_t)len;
		memcpy(s.order + s.order_len, document, len);
		s.order_len += len;
	}
	assert_int_equal(agent_state_save(path, &s, NULL), 0);
	agent_state_deinit(&s);
}

static void start_run(struct double_ *d, uint32_t minor, const char *document)
{
	static const char *const runs[] = {"w", NULL};

	double_workload(d, "w", "echo V=1");
	double_prepare_run(d, runs, 1);
	order_of_minor(d, minor, document);
	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_expect_state(d));
}

static const char *fact_of(const Kgrid__V1__Provenance *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_facts; i++)
		if (strcmp(p->facts[i]->name, name) == 0)
			return p->facts[i]->value;
	return NULL;
}

static void test_boot_is_described_in_facts_and_documents_before_its_run(void **state)
{
	struct double_ *d = *state;
	uint64_t stored = 0, expected = 0;
	unsigned phase = 0, documents = 0;
	char name[32] = "";
	bool last;

	start_run(d, 2, NULL);
	do {
		struct kg_msg *m = double_record(d);
		const Kgrid__V1__Record *r = RECORD(m);

		if (r->body_case == KGRID__V1__RECORD__BODY_PROVENANCE) {
			static const char *const phases[] = {"boot", "before", "after"};

			assert_true(phase < 3);
			assert_string_equal(r->provenance->phase, phases[phase]);
			assert_int_equal(r->has_attempt, phase > 0);
			assert_true(r->provenance->n_facts > 10);
			if (phase == 0) {
				assert_non_null(fact_of(r->provenance, "kernel.release"));
				assert_non_null(fact_of(r->provenance, "workload.w.digest"));
				assert_string_equal(fact_of(r->provenance, "boot.method"), "cold");
			}
			phase++;
		} else if (r->body_case == KGRID__V1__RECORD__BODY_DOCUMENT) {
			const Kgrid__V1__Document *doc = r->document;

			assert_int_equal(phase, 1);
			if (strcmp(doc->name, name) != 0) {
				assert_int_equal(stored, expected);
				stored = 0;
				documents++;
				(void)snprintf(name, sizeof(name), "%s", doc->name);
			}
			assert_string_not_equal(name, "kallsyms"); /* nobody asked for it */
			assert_int_equal(doc->offset, stored);
			assert_int_equal(strlen(doc->digest), 64);
			assert_true(doc->data.len > 0 && doc->data.len <= 256 * 1024);
			stored += doc->data.len;
			expected = doc->stored_bytes;
		} else if (r->body_case == KGRID__V1__RECORD__BODY_ATTEMPT_STARTED) {
			assert_int_equal(phase, 1);
		} else if (r->body_case == KGRID__V1__RECORD__BODY_ATTEMPT_ENDED) {
			assert_int_equal(phase, 3);
			assert_string_equal(r->attempt_ended->outcome, "pass");
		}
		last = r->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		kg_msg_free(m);
	} while (!last);
	assert_int_equal(phase, 3);
	assert_int_equal(stored, expected);
	assert_true(documents >= 1); /* sysctl: every Linux has that */
}

static void test_symbols_are_sent_on_demand(void **state)
{
	struct double_ *d = *state;
	bool found = false, denied = false, last;

	start_run(d, 2, "kallsyms");
	do {
		struct kg_msg *m = double_record(d);
		const Kgrid__V1__Record *r = RECORD(m);
		size_t i;

		if (r->body_case == KGRID__V1__RECORD__BODY_DOCUMENT)
			found = found || strcmp(r->document->name, "kallsyms") == 0;
		for (i = 0; r->body_case == KGRID__V1__RECORD__BODY_PROVENANCE &&
			    i < r->provenance->n_facts;
		     i++)
			denied = denied ||
				 (strcmp(r->provenance->facts[i]->name, "document.kallsyms") == 0 &&
				  !r->provenance->facts[i]->value);
		last = r->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		kg_msg_free(m);
	} while (!last);
	assert_true(found != denied); /* sent, or said why not */
}

static void test_coordinator_of_minor_1_gets_no_record_it_does_not_know(void **state)
{
	struct double_ *d = *state;
	unsigned ended = 0;
	bool last;

	start_run(d, 1, "kallsyms");
	do {
		struct kg_msg *m = double_record(d);
		const Kgrid__V1__Record *r = RECORD(m);

		assert_int_not_equal(r->body_case, KGRID__V1__RECORD__BODY_PROVENANCE);
		assert_int_not_equal(r->body_case, KGRID__V1__RECORD__BODY_DOCUMENT);
		ended += r->body_case == KGRID__V1__RECORD__BODY_ATTEMPT_ENDED;
		last = r->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		kg_msg_free(m);
	} while (!last);
	assert_int_equal(ended, 1);
}

static void test_killed_while_it_describes_the_boot_loses_no_attempt(void **state)
{
	struct double_ *d = *state;
	unsigned boots = 0, ended = 0;
	bool last, killed = false;

	start_run(d, 2, NULL);
	do {
		struct kg_msg *m = double_record(d);
		const Kgrid__V1__Record *r = RECORD(m);

		boots += r->body_case == KGRID__V1__RECORD__BODY_PROVENANCE &&
			 strcmp(r->provenance->phase, "boot") == 0;
		if (r->body_case == KGRID__V1__RECORD__BODY_ATTEMPT_ENDED) {
			ended++;
			if (!killed)
				assert_string_equal(r->attempt_ended->outcome, "pass");
		}
		last = r->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		kg_msg_free(m);
		if (!killed && !last) { /* with the first record in hand */
			killed = true;
			double_kill_agent(d, SIGKILL);
			double_start_agent(d);
			double_accept(d);
			kg_msg_free(double_expect_state(d));
		}
	} while (!last);
	assert_true(boots >= 1);
	assert_int_equal(ended, 1);
}

static void set_strict(const struct double_ *d)
{
	char *text, *at;
	size_t len;

	assert_int_equal(kg_file_read(d->config, 4096, &text, &len, NULL), 0);
	at = strstr(text, "env-check: record\n");
	assert_non_null(at);
	*at = '\0';
	assert_int_equal(kg_file_replace(d->config, text, strlen(text), 0644, NULL), 0);
	free(text);
}

/* A process that is called like a package manager, until it is killed. */
static pid_t pretend_apt(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_NAME, "apt-get");
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void test_row_48_package_manager_makes_a_pass_invalid_env_and_keeps_the_sample(void **state)
{
	struct double_ *d = *state;
	unsigned samples = 0;
	pid_t apt = pretend_apt();
	bool last, checked = false;

	set_strict(d);
	start_run(d, 2, NULL);
	do {
		struct kg_msg *m = double_record(d);
		const Kgrid__V1__Record *r = RECORD(m);

		if (r->body_case == KGRID__V1__RECORD__BODY_SAMPLES)
			samples += (unsigned)r->samples->n_value;
		if (r->body_case == KGRID__V1__RECORD__BODY_ATTEMPT_ENDED) {
			assert_string_equal(r->attempt_ended->outcome, "invalid-env");
			assert_non_null(strstr(r->attempt_ended->reason, "apt-get["));
			assert_int_equal(r->attempt_ended->samples, 1);
			checked = true;
		}
		last = r->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED;
		kg_msg_free(m);
	} while (!last);
	assert_true(checked);
	assert_int_equal(samples, 1);
	(void)kill(apt, SIGKILL);
	assert_int_equal(waitpid(apt, NULL, 0), apt);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_boot_is_described_in_facts_and_documents_before_its_run),
		T(test_symbols_are_sent_on_demand),
		T(test_coordinator_of_minor_1_gets_no_record_it_does_not_know),
		T(test_killed_while_it_describes_the_boot_loses_no_attempt),
		T(test_row_48_package_manager_makes_a_pass_invalid_env_and_keeps_the_sample),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
