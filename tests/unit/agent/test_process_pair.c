/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The real program as one side of a pair, and with settings, against a stand-in for the coordinator.
 * No test changes its host: what these ask for cannot be made, or is the agent's own. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/agent_double.h"
#include "tests/lib/cmocka_all.h"

/* A server that listens where it is told to, and leaves when it is spoken to. */
#define SERVER                                                                                     \
	"helper: [perl, -MIO::Socket::INET, -e, 'my $s = IO::Socket::INET->new(Listen => 5, "      \
	"LocalAddr => $ARGV[0], LocalPort => $ARGV[1], ReuseAddr => 1) or exit 3; while (my $c = " \
	"$s->accept) {{ my $w = <$c>; exit 0 if $w; }}', \"{host}\", \"{port}\"]\n"

#define WRONG 99U /* attempt */

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

/* ---- the other side ---- */

static void begin(struct double_ *d, const struct double_order *o)
{
	double_workload_more(d, "net", "echo V=2; echo to {host} {port}", SERVER "pair: true\n");
	double_workload(d, "w", "echo V=1");
	double_prepare_order(d, o);
	double_start_agent(d);
	double_accept(d);
	kg_msg_free(double_expect_state(d));
}

static void send_ready(struct double_ *d, uint64_t attempt, const char *address, uint32_t port)
{
	Kgrid__V1__PeerReady r = KGRID__V1__PEER_READY__INIT;

	r.has_boot = r.has_attempt = r.has_port = 1;
	r.boot = 7;
	r.attempt = attempt;
	r.address = (char *)(uintptr_t)address;
	r.port = port;
	double_send(d, KG_MSG_PEER_READY, 0, &r.base);
}

static void send_done(struct double_ *d, uint64_t attempt)
{
	Kgrid__V1__PeerDone p = KGRID__V1__PEER_DONE__INIT;

	p.has_boot = p.has_attempt = 1;
	p.boot = 7;
	p.attempt = attempt;
	double_send(d, KG_MSG_PEER_DONE, 0, &p.base);
}

static void expect_wanted(struct double_ *d, uint64_t attempt)
{
	struct kg_msg *m = double_expect(d, KG_MSG_PEER_WANTED);

	assert_int_equal(BODY(m, Kgrid__V1__PeerWanted)->boot, 7);
	assert_int_equal(BODY(m, Kgrid__V1__PeerWanted)->attempt, attempt);
	kg_msg_free(m);
}

/* The record of the stage comes before the message. */
static uint32_t expect_serving(struct double_ *d, uint64_t attempt)
{
	struct kg_msg *m = double_expect(d, KG_MSG_PEER_SERVING);
	const Kgrid__V1__PeerServing *p = BODY(m, Kgrid__V1__PeerServing);
	uint32_t port = p->port;

	assert_int_equal(p->boot, 7);
	assert_int_equal(p->attempt, attempt);
	kg_msg_free(m);
	assert_in_range(port, 1, 65535);
	return port;
}

/* Says a word to the helper; false: nobody listens. */
static bool speak(uint32_t port, const char *word)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool heard;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	heard = connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
		write(fd, word, strlen(word)) == (ssize_t)strlen(word);
	close(fd);
	return heard;
}

/* The next record of a kind; those before it are dropped. Owned. */
static struct kg_msg *next_of(struct double_ *d, Kgrid__V1__Record__BodyCase kind)
{
	struct kg_msg *m = double_record(d);

	while (RECORD(m)->body_case != kind) {
		if (RECORD(m)->body_case == KGRID__V1__RECORD__BODY_BOOT_ENDED)
			fail_msg("the boot ended: %s", RECORD(m)->boot_ended->reason);
		kg_msg_free(m);
		m = double_record(d);
	}
	return m;
}

static void expect_stage(struct double_ *d, const char *stage, uint64_t attempt)
{
	struct kg_msg *m = next_of(d, KGRID__V1__RECORD__BODY_STAGE);

	assert_string_equal(RECORD(m)->stage->stage, stage);
	assert_int_equal(RECORD(m)->attempt, attempt);
	kg_msg_free(m);
}

static void expect_end(struct double_ *d, uint64_t attempt, const char *outcome, const char *reason)
{
	struct kg_msg *m = next_of(d, KGRID__V1__RECORD__BODY_ATTEMPT_ENDED);
	const Kgrid__V1__AttemptEnded *e = RECORD(m)->attempt_ended;

	assert_int_equal(RECORD(m)->attempt, attempt);
	assert_string_equal(e->outcome, outcome);
	if (reason)
		assert_non_null(strstr(e->reason, reason));
	kg_msg_free(m);
}

static void expect_boot_end(struct double_ *d, const char *outcome, const char *reason)
{
	struct kg_msg *m = double_finish(d);

	assert_string_equal(RECORD(m)->boot_ended->outcome, outcome);
	if (reason)
		assert_non_null(strstr(RECORD(m)->boot_ended->reason, reason));
	kg_msg_free(m);
}

/* ---- client ---- */

static void test_client_waits_for_its_server_and_speaks_to_it(void **state)
{
	static const struct double_order o = {.runs = {{"net", "client"}}, .iterations = 2};
	struct double_ *d = *state;
	struct kg_msg *m;

	begin(d, &o);
	expect_wanted(d, 100);
	expect_stage(d, "pair", 100);
	double_drop(d);
	double_accept(d);
	expect_wanted(d, 100); /* what was said may be lost */
	send_ready(d, WRONG, "127.0.0.9", 9);
	send_ready(d, 100, "127.0.0.1", 7777);
	send_ready(d, 100, "127.0.0.9", 9); /* said twice */
	m = next_of(d, KGRID__V1__RECORD__BODY_LOG);
	assert_memory_equal(RECORD(m)->log->data.data, "V=2\nto 127.0.0.1 7777\n", 22);
	kg_msg_free(m);
	expect_end(d, 100, "pass", NULL);
	expect_boot_end(d, "pass", NULL);
}

static void test_client_takes_no_nonsense_for_an_address(void **state)
{
	static const struct double_order o = {.runs = {{"net", "client"}, {"w", NULL}},
					      .iterations = 1};
	struct double_ *d = *state;

	begin(d, &o);
	expect_wanted(d, 100);
	send_ready(d, 100, "-o", 7777);
	expect_end(d, 100, "harness-error", "address and port make no sense");
	expect_end(d, 101, "pass", NULL); /* the next run has nothing to do with it */
	expect_boot_end(d, "pass", NULL);
}

static void test_client_killed_while_it_waits_ends_as_infra(void **state)
{
	static const struct double_order o = {.runs = {{"net", "client"}, {"w", NULL}},
					      .iterations = 1};
	struct double_ *d = *state;

	begin(d, &o);
	expect_stage(d, "pair", 100);
	double_kill_agent(d, SIGKILL);
	double_start_agent(d);
	double_accept(d);
	expect_end(d, 100, "infra", "agent restarted during the run");
	expect_end(d, 101, "pass", NULL);
	expect_boot_end(d, "pass", NULL);
}

static void test_declaration_that_changed_while_a_client_waits_is_not_run(void **state)
{
	static const struct double_order o = {.runs = {{"net", "client"}}, .iterations = 1};
	struct double_ *d = *state;
	const Kgrid__V1__WorkloadOffer *offer;
	struct kg_msg *m;

	begin(d, &o);
	expect_stage(d, "pair", 100);
	double_workload_more(d, "net", "echo V=3; echo to {host} {port}", SERVER "pair: true\n");
	double_drop(d);
	double_accept(d);
	m = double_expect(d, KG_MSG_FACTS); /* the digest is of the old one */
	offer = BODY(m, Kgrid__V1__MachineFacts)->workloads[0];
	assert_string_equal(offer->name, "net");
	assert_null(offer->declaration);
	assert_false(offer->available);
	assert_non_null(strstr(offer->missing, "changed since the agent started"));
	kg_msg_free(m);
	send_ready(d, 100, "127.0.0.1", 7777);
	expect_end(d, 100, "invalid-env", "changed since this agent started");
	expect_boot_end(d, "pass", NULL);
}

static void send_fence(struct double_ *d)
{
	Kgrid__V1__FenceBoot f = KGRID__V1__FENCE_BOOT__INIT;

	f.has_boot = f.has_lease_epoch = 1;
	f.boot = 7;
	f.lease_epoch = 3;
	f.reason = (char *)(uintptr_t) "the server ended";
	double_send(d, KG_MSG_FENCE_BOOT, 0, &f.base);
}

static void test_fence_ends_the_wait_of_a_client(void **state)
{
	static const struct double_order o = {.runs = {{"net", "client"}}, .iterations = 1};
	struct double_ *d = *state;

	begin(d, &o);
	expect_stage(d, "pair", 100);
	send_fence(d);
	expect_end(d, 100, "infra", "the server ended");
	expect_boot_end(d, "infra", "the server ended");
}

/* ---- server ---- */

static void test_server_serves_until_the_client_is_done(void **state)
{
	static const struct double_order o = {.runs = {{"net", "server"}, {"w", NULL}},
					      .iterations = 5};
	struct double_ *d = *state;
	uint32_t port;

	begin(d, &o);
	expect_stage(d, "serve", 100);
	port = expect_serving(d, 100);
	assert_true(speak(port, ""));
	double_drop(d);
	double_accept(d);
	assert_int_equal(expect_serving(d, 100), port); /* what was said may be lost */
	send_done(d, WRONG);
	assert_true(speak(port, "")); /* another's end is none of its */
	send_done(d, 100);
	expect_end(d, 100, "pass", NULL);
	assert_false(speak(port, ""));
	expect_end(d, 101, "pass", NULL);
	expect_boot_end(d, "pass", NULL);
}

static void test_server_whose_helper_dies_ends_as_infra(void **state)
{
	static const struct double_order o = {.runs = {{"net", "server"}}, .iterations = 1};
	struct double_ *d = *state;

	begin(d, &o);
	expect_stage(d, "serve", 100);
	assert_true(speak(expect_serving(d, 100), "bye\n"));
	expect_end(d, 100, "infra", "helper 'perl' ended while its client ran");
	expect_boot_end(d, "pass", NULL); /* all attempts have an outcome of their own */
}

static void test_server_killed_leaves_no_helper_behind(void **state)
{
	static const struct double_order o = {.runs = {{"net", "server"}, {"net", "server"}},
					      .iterations = 1};
	struct double_ *d = *state;
	uint32_t port, again;

	begin(d, &o);
	expect_stage(d, "serve", 100);
	port = expect_serving(d, 100);
	double_kill_agent(d, SIGKILL);
	double_start_agent(d);
	double_accept(d);
	expect_end(d, 100, "infra", "agent restarted during the run");
	expect_stage(d, "serve", 101);
	again = expect_serving(d, 101);
	assert_true(again == port || !speak(port, ""));
	send_done(d, 101);
	expect_end(d, 101, "pass", NULL);
	expect_boot_end(d, "pass", NULL);
}

static void test_fence_ends_the_service(void **state)
{
	static const struct double_order o = {.runs = {{"net", "server"}}, .iterations = 1};
	struct double_ *d = *state;
	uint32_t port;

	begin(d, &o);
	expect_stage(d, "serve", 100);
	port = expect_serving(d, 100);
	send_fence(d);
	expect_end(d, 100, "infra", "the server ended");
	expect_boot_end(d, "infra", NULL);
	assert_false(speak(port, ""));
}

static void test_without_an_address_nobody_is_served(void **state)
{
	static const struct double_order o = {.runs = {{"net", "server"}}, .iterations = 1};
	struct double_ *d = *state;

	double_without(d, "address:");
	begin(d, &o);
	expect_end(d, 100, "harness-error", "no 'address'");
	expect_boot_end(d, "pass", NULL);
}

static void test_a_role_needs_a_workload_that_can_be_a_pair(void **state)
{
	static const struct double_order o = {
		.runs = {{"w", "server"}, {"w", "client"}, {"absent", "client"}}, .iterations = 1};
	struct double_ *d = *state;

	begin(d, &o);
	expect_end(d, 100, "harness-error", "pair: true");
	expect_end(d, 101, "harness-error", "pair: true"); /* without waiting for a server */
	expect_end(d, 102, "harness-error", "not declared");
	expect_boot_end(d, "pass", NULL);
}

/* ---- facts and settings ---- */

static void test_facts_tell_address_and_settings(void **state)
{
	struct double_ *d = *state;
	const Kgrid__V1__MachineFacts *f;
	struct kg_msg *m;

	double_start_agent(d);
	double_accept(d);
	m = double_expect(d, KG_MSG_FACTS);
	f = BODY(m, Kgrid__V1__MachineFacts);
	assert_string_equal(f->address, "127.0.0.1");
	assert_true(f->has_settings_known && f->settings_known);
	for (size_t i = 0; i < f->n_settings; i++)
		assert_true(f->settings[i]->name[0] && f->settings[i]->value[0]);
	kg_msg_free(m);
}

/* It would refuse what it does not know: for its eyes new keys are comments. */
static void test_a_coordinator_of_1_2_can_read_the_declaration(void **state)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;
	struct double_ *d = *state;
	const char *text;
	struct kg_msg *m;

	double_workload_more(d, "net", "echo V=2; echo to {host} {port} {{host}}",
			     SERVER "pair: true\ncanary: false\n");
	double_start_agent(d);
	double_accept_raw(d);
	kg_msg_free(double_next(d));
	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_COORDINATOR;
	h.version_min = 1;
	h.version_max = 2;
	double_send(d, KG_MSG_HELLO, 0, &h.base);
	m = double_expect(d, KG_MSG_FACTS);
	assert_true(BODY(m, Kgrid__V1__MachineFacts)->workloads[0]->available);
	text = BODY(m, Kgrid__V1__MachineFacts)->workloads[0]->declaration;
	assert_non_null(strstr(text, "\n#air: true\n#anary: false\n"));
	assert_non_null(strstr(text, "to <host> {port} {{host}}")); /* the last is no address */
	assert_non_null(strstr(text, "\"<host>\", \"{port}\""));
	kg_msg_free(m);
}

static void test_an_address_of_another_machine_is_not_told(void **state)
{
	struct double_ *d = *state;
	struct kg_msg *m;

	double_without(d, "address:");
	double_add_config(d, "address: 192.0.2.254\n");
	double_start_agent(d);
	double_accept(d);
	m = double_expect(d, KG_MSG_FACTS);
	assert_null(BODY(m, Kgrid__V1__MachineFacts)->address);
	kg_msg_free(m);
}

static void test_a_setting_that_cannot_be_made_lets_nothing_run(void **state)
{
	static const struct double_order o = {
		.runs = {{"w", NULL}},
		.iterations = 1,
		.settings = {"sysctl.kernel.no-such-thing", "17"},
	};
	struct double_ *d = *state;
	struct kg_msg *m;

	begin(d, &o);
	expect_stage(d, "settings", 0);
	m = double_record(d); /* the very next: neither facts nor a run come before it */
	assert_int_equal(RECORD(m)->body_case, KGRID__V1__RECORD__BODY_BOOT_ENDED);
	assert_string_equal(RECORD(m)->boot_ended->outcome, "invalid-env");
	assert_non_null(strstr(RECORD(m)->boot_ended->reason, "sysctl.kernel.no-such-thing"));
	assert_non_null(strstr(RECORD(m)->boot_ended->reason, "does not have it"));
	kg_msg_free(m);
}

static void test_settings_hold_until_a_run_is_over(void **state)
{
	static const struct double_order o = {
		.runs = {{"w", NULL}, {"other", NULL}},
		.iterations = 1,
		.settings = {"sysctl.kernel.hostname", "as-wanted"},
	};
	struct double_ *d = *state;
	struct kg_msg *m;

	if (!double_can_own_names())
		skip();
	d->own_names = true;
	double_workload(d, "other", "echo else >/proc/sys/kernel/hostname; echo V=1");
	double_workload(d, "w", "echo V=$(cat /proc/sys/kernel/hostname | wc -c)");
	double_prepare_order(d, &o);
	double_start_agent(d);
	double_accept(d);
	expect_stage(d, "settings", 0);
	m = next_of(d, KGRID__V1__RECORD__BODY_SAMPLES);
	assert_true(RECORD(m)->samples->value[0] == 10);
	kg_msg_free(m);
	expect_end(d, 100, "pass", NULL);
	expect_end(d, 101, "invalid-env", "wanted 'as-wanted', found 'else' after the run");
	expect_boot_end(d, "pass", NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_client_waits_for_its_server_and_speaks_to_it),
		T(test_client_takes_no_nonsense_for_an_address),
		T(test_client_killed_while_it_waits_ends_as_infra),
		T(test_declaration_that_changed_while_a_client_waits_is_not_run),
		T(test_fence_ends_the_wait_of_a_client),
		T(test_server_serves_until_the_client_is_done),
		T(test_server_whose_helper_dies_ends_as_infra),
		T(test_server_killed_leaves_no_helper_behind),
		T(test_fence_ends_the_service),
		T(test_without_an_address_nobody_is_served),
		T(test_a_role_needs_a_workload_that_can_be_a_pair),
		T(test_facts_tell_address_and_settings),
		T(test_a_coordinator_of_1_2_can_read_the_declaration),
		T(test_an_address_of_another_machine_is_not_told),
		T(test_a_setting_that_cannot_be_made_lets_nothing_run),
		T(test_settings_hold_until_a_run_is_over),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
