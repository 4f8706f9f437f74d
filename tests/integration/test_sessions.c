/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may connect, and what a peer is dropped for. */
#include "tests/lib/cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include "common/err.h"
#include "proto/frame.h"
#include "proto/hello.h"
#include "tests/lib/grid.h"
#include "tests/lib/peer.h"

static int setup(void **state)
{
	struct grid *g = calloc(1, sizeof(*g));

	grid_init(g);
	grid_start(g, NULL);
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	struct grid *g = *state;

	assert_int_equal(grid_stop(g), 0); /* nothing that a peer did keeps the loop from closing */
	grid_deinit(g);
	free(g);
	return 0;
}

/* The line is written just after the peer sees its connection closed. */
static void expect_log(struct grid *g, const char *part)
{
	int i;

	for (i = 0; i < 500; i++) {
		char *log = grid_log(g);
		bool found = strstr(log, part) != NULL;

		free(log);
		if (found)
			return;
		(void)usleep(10000);
	}
	fail_msg("the log never says '%s'", part);
}

static void expect_closed(struct peer *p)
{
	struct kg_msg *m;

	while ((m = peer_next(p)))
		kg_msg_free(m);
}

static void test_client_over_unix_socket_gets_info(void **state)
{
	struct grid *g = *state;
	Kgrid__V1__InfoRequest rq = KGRID__V1__INFO_REQUEST__INIT;
	struct peer *p = peer_connect(g->socket);
	struct kg_msg *m;

	peer_hello_client(p);
	m = peer_call(p, KG_MSG_INFO, &rq.base, KG_MSG_INFO_REPLY);
	assert_string_equal(PEER_BODY(m, Kgrid__V1__InfoReply)->version, KGRID_VERSION);
	kg_msg_free(m);
	peer_close(p);
}

static void test_agent_of_another_protocol_version_is_told_both_windows(void **state)
{
	struct grid *g = *state;
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;
	struct peer *p = peer_connect(g->tcp);
	struct kg_msg *m;

	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_AGENT;
	h.version_min = 90;
	h.version_max = 91;
	h.machine = (char *)(uintptr_t) "a";
	peer_send(p, KG_MSG_HELLO, 0, &h.base);
	m = peer_expect(p, KG_MSG_ERROR);
	assert_int_equal(PEER_BODY(m, Kgrid__V1__Error)->code, KG_EVERSION);
	assert_true(PEER_BODY(m, Kgrid__V1__Error)->fatal);
	assert_contains(PEER_BODY(m, Kgrid__V1__Error)->text, "90");
	kg_msg_free(m);
	expect_closed(p);
	peer_close(p);
}

static void test_two_agents_with_the_same_name_the_second_is_refused(void **state)
{
	struct grid *g = *state;
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;
	struct peer *a = peer_connect(g->tcp), *b = peer_connect(g->tcp);
	struct kg_msg *m;

	peer_hello_agent(a, "twin", "state-a");
	peer_agent_ready(a, 0, 0);
	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_AGENT;
	h.version_min = KG_PROTO_MINOR_OLDEST;
	h.version_max = KG_PROTO_MINOR;
	h.machine = (char *)(uintptr_t) "twin";
	h.state_id = (char *)(uintptr_t) "state-b";
	peer_send(b, KG_MSG_HELLO, 0, &h.base);
	m = peer_expect(b, KG_MSG_ERROR);
	assert_int_equal(PEER_BODY(m, Kgrid__V1__Error)->code, KG_EEXISTS);
	assert_contains(PEER_BODY(m, Kgrid__V1__Error)->text, "twin");
	kg_msg_free(m);
	expect_closed(b);
	assert_true(peer_quiet(a, 100)); /* the first goes on undisturbed */
	peer_close(b);
	peer_close(a);
}

static void test_an_agent_that_comes_again_replaces_its_old_connection(void **state)
{
	struct grid *g = *state;
	struct peer *old = peer_connect(g->tcp), *new;

	peer_hello_agent(old, "m", "state-m");
	peer_agent_ready(old, 0, 0);
	new = peer_connect(g->tcp);
	peer_hello_agent(new, "m", "state-m");
	expect_closed(old);
	assert_true(peer_quiet(new, 100));
	peer_close(old);
	peer_close(new);
}

static void expect_state(struct peer *client, const char *machine, const char *want)
{
	Kgrid__V1__MachinesRequest rq = KGRID__V1__MACHINES_REQUEST__INIT;
	const char *got = "";
	struct kg_msg *m = NULL;

	for (int i = 0; i < 500; i++) {
		const Kgrid__V1__MachinesReply *r;

		kg_msg_free(m);
		m = peer_call(client, KG_MSG_MACHINES, &rq.base, KG_MSG_MACHINES_REPLY);
		r = PEER_BODY(m, Kgrid__V1__MachinesReply);
		got = "";
		for (size_t k = 0; k < r->n_machines; k++)
			if (strcmp(r->machines[k]->name, machine) == 0)
				got = r->machines[k]->state;
		if (strcmp(got, want) == 0)
			break;
		(void)usleep(10000);
	}
	assert_string_equal(got, want);
	kg_msg_free(m);
}

/* More agents than the table of names begins with, so that names share places and it grows. */
static void test_the_newest_connection_of_each_of_many_machines_counts(void **state)
{
	enum { MANY = 70, AGAIN = 3 };
	struct grid *g = *state;
	struct peer *agents[MANY], *c = peer_connect(g->socket);
	char name[16], id[24];

	peer_hello_client(c);
	for (int i = 0; i < MANY * AGAIN; i++) {
		int k = i % MANY;
		struct peer *new = peer_connect(g->tcp);

		(void)snprintf(name, sizeof(name), "m%d", k);
		(void)snprintf(id, sizeof(id), "state-%d", k);
		peer_hello_agent(new, name, id);
		peer_agent_ready(new, 0, 0);
		if (i >= MANY) { /* closed by the coordinator, not by us: the new one replaced it */
			expect_closed(agents[k]);
			peer_close(agents[k]);
		}
		agents[k] = new;
	}
	for (int k = 0; k < MANY; k++) {
		(void)snprintf(name, sizeof(name), "m%d", k);
		expect_state(c, name, "idle");
	}
	peer_close(agents[7]);
	expect_state(c, "m7", "offline");
	expect_state(c, "m8", "idle");
	agents[7] = peer_connect(g->tcp); /* what has closed does not hide what comes later */
	peer_hello_agent(agents[7], "m7", "another-state");
	peer_agent_ready(agents[7], 0, 0);
	expect_state(c, "m7", "idle");
	for (int k = 0; k < MANY; k++)
		peer_close(agents[k]);
	peer_close(c);
}

static void test_oversized_frame_is_dropped_with_a_logged_reason(void **state)
{
	struct grid *g = *state;
	uint8_t header[KG_FRAME_HEADER_SIZE];
	struct peer *p = peer_connect(g->tcp);

	peer_hello_agent(p, "big", "state-big");
	kg_frame_header_write(header, &(struct kg_frame_header){.len_bytes = 0xfffffff0u,
								.type = KG_MSG_RECORD});
	peer_send_raw(p, header, sizeof(header));
	expect_closed(p);
	peer_close(p);
	expect_log(g, "big (connection");
}

static void test_what_is_no_protocol_at_all_is_dropped(void **state)
{
	struct grid *g = *state;
	static const char http[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct peer *p = peer_connect(g->tcp);

	peer_send_raw(p, http, sizeof(http) - 1);
	expect_closed(p);
	peer_close(p);
}

static void test_first_message_must_be_hello(void **state)
{
	struct grid *g = *state;
	Kgrid__V1__InfoRequest rq = KGRID__V1__INFO_REQUEST__INIT;
	struct peer *p = peer_connect(g->tcp);

	peer_send(p, KG_MSG_INFO, 1, &rq.base);
	expect_closed(p);
	peer_close(p);
}

static void test_an_agent_may_not_submit_and_a_client_may_not_send_records(void **state)
{
	struct grid *g = *state;
	Kgrid__V1__SubmitRequest s = KGRID__V1__SUBMIT_REQUEST__INIT;
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	struct peer *a = peer_connect(g->tcp), *c = peer_connect(g->socket);
	struct kg_msg *m;

	peer_hello_agent(a, "sly", "state-sly");
	peer_send(a, KG_MSG_SUBMIT, 1, &s.base);
	m = peer_expect(a, KG_MSG_ERROR);
	assert_contains(PEER_BODY(m, Kgrid__V1__Error)->text, "may not send SUBMIT");
	kg_msg_free(m);
	peer_hello_client(c);
	peer_send(c, KG_MSG_RECORD, 1, &r.base);
	m = peer_expect(c, KG_MSG_ERROR);
	assert_contains(PEER_BODY(m, Kgrid__V1__Error)->text, "may not send RECORD");
	kg_msg_free(m);
	peer_close(a);
	peer_close(c);
}

static void test_bad_machine_name_is_refused(void **state)
{
	struct grid *g = *state;
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;
	struct peer *p = peer_connect(g->tcp);
	struct kg_msg *m;

	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_AGENT;
	h.version_min = h.version_max = KG_PROTO_MINOR;
	h.machine = (char *)(uintptr_t) "../../etc/passwd";
	peer_send(p, KG_MSG_HELLO, 0, &h.base);
	m = peer_expect(p, KG_MSG_ERROR);
	assert_true(PEER_BODY(m, Kgrid__V1__Error)->fatal);
	assert_contains(PEER_BODY(m, Kgrid__V1__Error)->text, "name");
	kg_msg_free(m);
	peer_close(p);
}

static void test_machine_is_listed_with_its_facts_and_state(void **state)
{
	struct grid *g = *state;
	Kgrid__V1__MachinesRequest rq = KGRID__V1__MACHINES_REQUEST__INIT;
	struct peer *a = peer_connect(g->tcp), *c = peer_connect(g->socket);
	const Kgrid__V1__MachinesReply *r;
	struct kg_msg *m;

	peer_hello_agent(a, "listed", "state-l");
	peer_agent_ready(a, 0, 0);
	grid_wait_count(g, "SELECT count(*) FROM machine WHERE cpu_vendor = 'GenuineIntel'", 1);
	peer_hello_client(c);
	m = peer_call(c, KG_MSG_MACHINES, &rq.base, KG_MSG_MACHINES_REPLY);
	r = PEER_BODY(m, Kgrid__V1__MachinesReply);
	assert_int_equal(r->n_machines, 1);
	assert_string_equal(r->machines[0]->name, "listed");
	assert_string_equal(r->machines[0]->state, "idle");
	assert_string_equal(r->machines[0]->cpu_vendor, "GenuineIntel");
	kg_msg_free(m);
	peer_close(a);
	peer_close(c);
}

static void ask_for_nothing(struct grid *g, const struct kg_msg_info *info)
{
	ProtobufCMessage *body = calloc(1, info->descriptor->sizeof_message);
	struct peer *p = peer_connect(g->socket);
	struct kg_msg *m;

	assert_non_null(body);
	protobuf_c_message_init(info->descriptor, body);
	peer_hello_client(p);
	peer_send(p, info->type, 1, body);
	m = peer_next(p);
	if (!m)
		fail_msg("no answer to %s", info->name);
	kg_msg_free(m);
	peer_close(p);
	free(body);
}

static void test_a_request_without_its_fields_is_answered(void **state)
{
	struct grid *g = *state;
	struct peer *a = peer_connect(g->tcp);
	unsigned asked = 0;

	peer_hello_agent(a, "m1", "state-1");
	peer_agent_ready(a, 0, 0);
	for (uint16_t type = KG_MSG_INFO; type < 200; type++) {
		const struct kg_msg_info *info = kg_msg_find(type);

		if (!info || info->senders != KG_FROM_CLIENT)
			continue;
		ask_for_nothing(g, info);
		asked++;
	}
	assert_true(asked > 30);
	peer_close(a);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_client_over_unix_socket_gets_info),
		T(test_agent_of_another_protocol_version_is_told_both_windows),
		T(test_two_agents_with_the_same_name_the_second_is_refused),
		T(test_an_agent_that_comes_again_replaces_its_old_connection),
		T(test_the_newest_connection_of_each_of_many_machines_counts),
		T(test_oversized_frame_is_dropped_with_a_logged_reason),
		T(test_what_is_no_protocol_at_all_is_dropped),
		T(test_first_message_must_be_hello),
		T(test_an_agent_may_not_submit_and_a_client_may_not_send_records),
		T(test_bad_machine_name_is_refused),
		T(test_a_request_without_its_fields_is_answered),
		T(test_machine_is_listed_with_its_facts_and_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
