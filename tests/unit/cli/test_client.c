/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/client.h"
#include "proto/frame.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/fake_coordinator.h"

static Kgrid__V1__InfoRequest question = KGRID__V1__INFO_REQUEST__INIT;

/* Opens, asks INFO, closes; the code, and whether it was the coordinator's answer. */
static int ask(const char *address, bool *ret_answered, struct kg_err *err)
{
	struct client *c = NULL;
	struct kg_msg *m = NULL;
	int rc = client_open(address, &c, err);

	*ret_answered = false;
	if (rc < 0)
		return rc;
	rc = client_call(c, KG_MSG_INFO, &question.base, KG_MSG_INFO_REPLY, 2000, &m, err);
	*ret_answered = client_answered(c);
	if (rc == 0)
		kg_msg_free(m);
	client_close(c);
	return rc;
}

static int answer_info(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		       void *ctx)
{
	Kgrid__V1__InfoReply r = KGRID__V1__INFO_REPLY__INIT;
	Kgrid__V1__Ping ping = KGRID__V1__PING__INIT;

	(void)body;
	(void)ctx;
	if (type == KG_MSG_PONG)
		return 0;
	assert_int_equal(type, KG_MSG_INFO);
	fake_send(f, KG_MSG_PING, 0, &ping.base);	    /* comes in between */
	fake_send(f, KG_MSG_INFO_REPLY, id + 100, &r.base); /* of somebody else */
	fake_send(f, KG_MSG_INFO_REPLY, id, &r.base);
	return 0;
}

static void test_answer_is_found_among_other_frames(void **state)
{
	struct fake *f = fake_start(answer_info, NULL);
	struct kg_err err;
	bool answered;

	(void)state;
	assert_int_equal(ask(fake_address(f), &answered, &err), 0);
	fake_stop(f);
}

static int send_part(void *arg, uint8_t *bytes, size_t len)
{
	Kgrid__V1__Ping ping = KGRID__V1__PING__INIT;

	fake_send_raw(arg, bytes, len);
	fake_send(arg, KG_MSG_PING, 0, &ping.base); /* comes between parts */
	free(bytes);
	return 0;
}

#define LARGE (3u << 20)

static int answer_large(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
			void *ctx)
{
	Kgrid__V1__InfoReply r = KGRID__V1__INFO_REPLY__INIT;
	struct kg_err err;

	(void)body;
	(void)ctx;
	if (type == KG_MSG_PONG)
		return 0;
	r.version = malloc(LARGE);
	memset(r.version, 'v', LARGE - 1);
	r.version[LARGE - 1] = '\0';
	assert_int_equal(kg_msg_encode_reply(KG_MSG_INFO_REPLY, id, &r.base, send_part, f, &err),
			 0);
	free(r.version);
	return 0;
}

static void test_a_reply_in_parts_is_one_answer(void **state)
{
	struct fake *f = fake_start(answer_large, NULL);
	struct client *c = NULL;
	struct kg_msg *m;
	struct kg_err err;

	(void)state;
	assert_int_equal(client_open(fake_address(f), &c, &err), 0);
	for (int i = 0; i < 2; i++) {
		if (client_call(c, KG_MSG_INFO, &question.base, KG_MSG_INFO_REPLY, 5000, &m, &err) <
		    0)
			fail_msg("%s", err.text);
		assert_int_equal(strlen(((const Kgrid__V1__InfoReply *)kg_msg_body(m))->version),
				 LARGE - 1);
		kg_msg_free(m);
	}
	client_close(c);
	fake_stop(f);
}

static int answer_error(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
			void *ctx)
{
	(void)type;
	(void)body;
	fake_error(f, id, *(int *)ctx, "no such job", NULL);
	return 0;
}

static void test_error_of_the_coordinator_keeps_its_code_and_text(void **state)
{
	int code = KG_ENOTFOUND;
	struct fake *f = fake_start(answer_error, &code);
	struct kg_err err;
	bool answered;

	(void)state;
	assert_int_equal(ask(fake_address(f), &answered, &err), KG_ENOTFOUND);
	assert_true(answered);
	assert_string_equal(err.text, "no such job");
	code = 7; /* is no code: never success */
	assert_int_equal(ask(fake_address(f), &answered, &err), KG_EREFUSED);
	fake_stop(f);
}

static int answer_other(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
			void *ctx)
{
	Kgrid__V1__JobsReply r = KGRID__V1__JOBS_REPLY__INIT;

	(void)type;
	(void)body;
	(void)ctx;
	fake_send(f, KG_MSG_JOBS_REPLY, id, &r.base);
	return 0;
}

static void test_answer_of_another_type_is_a_protocol_error(void **state)
{
	struct fake *f = fake_start(answer_other, NULL);
	struct kg_err err;
	bool answered;

	(void)state;
	assert_int_equal(ask(fake_address(f), &answered, &err), KG_EPROTO);
	assert_false(answered);
	assert_contains(err.text, "JOBS_REPLY");
	fake_stop(f);
}

static int vanish(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
		  void *ctx)
{
	/* header of a frame of 16 bytes, and three of them */
	static const uint8_t part[] = {0, 0, 0, 16, 1, 0, 0, 41, 0, 0, 0, 1, 'a', 'b', 'c'};

	(void)type;
	(void)id;
	(void)body;
	fake_send_raw(f, part, atomic_load((atomic_size_t *)ctx));
	return -1;
}

static void test_coordinator_that_vanishes_in_a_frame_is_unreachable(void **state)
{
	static const size_t cuts[] = {0, 1, 11, 12, 15};
	atomic_size_t len = 0; /* read by the other thread */
	size_t i;
	struct fake *f = fake_start(vanish, &len);
	struct kg_err err;
	bool answered;

	(void)state;
	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		atomic_store(&len, cuts[i]);
		assert_int_equal(ask(fake_address(f), &answered, &err), -EPIPE);
		assert_false(answered);
		assert_contains(err.text, "closed the connection");
	}
	fake_stop(f);
}

struct raw {
	const uint8_t *bytes;
	size_t len;
};

static void send_bytes(struct fake *f, int fd, void *ctx)
{
	const struct raw *r = ctx;
	char c;

	fake_send_raw(f, r->bytes, r->len);
	(void)shutdown(fd, SHUT_WR);
	while (recv(fd, &c, 1, 0) > 0)
		;
}

static int connect_raw(const uint8_t *bytes, size_t len, struct kg_err *err)
{
	struct raw r = {bytes, len};
	struct fake *f = fake_start_raw(send_bytes, &r);
	bool answered;
	int rc = ask(fake_address(f), &answered, err);

	assert_false(answered);
	fake_stop(f);
	return rc;
}

static void test_oversize_frame_is_refused_before_hello(void **state)
{
	static const uint8_t huge[] = {0x7f, 0xff, 0xff, 0xff, 1, 0, 0, 1, 0, 0, 0, 0};
	struct kg_err err;

	(void)state;
	assert_int_equal(connect_raw(huge, sizeof(huge), &err), KG_ELIMIT);
}

static void test_peer_that_speaks_something_else_is_refused(void **state)
{
	static const uint8_t http[] = "HTTP/1.1 400 Bad Request\r\n";
	static const uint8_t other_version[] = {0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0};
	struct kg_err err;

	(void)state;
	assert_true(connect_raw(http, sizeof(http) - 1, &err) < 0);
	assert_contains(err.text, "kgrid's protocol");
	assert_int_equal(connect_raw(other_version, sizeof(other_version), &err), KG_EPROTO);
}

static void test_peer_that_does_not_begin_with_hello_is_refused(void **state)
{
	static const uint8_t end[] = {0, 0, 0, 0, 1, 0, 0, 52, 0, 0, 0, 0};
	struct kg_err err;

	(void)state;
	assert_int_equal(connect_raw(end, sizeof(end), &err), KG_EPROTO);
	assert_contains(err.text, "HELLO");
}

static void test_nobody_at_the_address_is_an_errno(void **state)
{
	struct client *c;
	struct kg_err err;

	(void)state;
	assert_int_equal(client_open("/nonexistent/kgrid.sock", &c, &err), -ENOENT);
	assert_int_equal(client_open("127.0.0.1:1", &c, &err), -ECONNREFUSED);
	assert_int_equal(client_open("nowhere", &c, &err), KG_EINVALID);
}

static void test_silent_coordinator_times_out(void **state)
{
	int fds[2];
	struct client *c;
	struct kg_err err;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(client_open_fd(fds[0], 20, &c, &err), -ETIMEDOUT);
	close(fds[1]);
}

static int stream_three(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body,
			void *ctx)
{
	Kgrid__V1__WatchUpdate u = KGRID__V1__WATCH_UPDATE__INIT;
	int i;

	(void)type;
	(void)body;
	(void)ctx;
	for (i = 0; i < 3; i++)
		fake_send(f, KG_MSG_WATCH_UPDATE, id, &u.base);
	fake_end(f, id);
	return 0;
}

static void test_stream_ends_with_stream_end(void **state)
{
	struct fake *f = fake_start(stream_three, NULL);
	Kgrid__V1__WatchRequest q = KGRID__V1__WATCH_REQUEST__INIT;
	struct client *c;
	struct kg_msg *m;
	struct kg_err err;
	uint32_t id;
	int parts = 0;

	(void)state;
	assert_int_equal(client_open(fake_address(f), &c, &err), 0);
	assert_int_equal(client_send(c, KG_MSG_WATCH, &q.base, &id, &err), 0);
	while (client_next(c, id, 2000, &m, &err) == 1) {
		kg_msg_free(m);
		parts++;
	}
	assert_int_equal(parts, 3);
	client_close(c);
	fake_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_is_found_among_other_frames),
		cmocka_unit_test(test_a_reply_in_parts_is_one_answer),
		cmocka_unit_test(test_error_of_the_coordinator_keeps_its_code_and_text),
		cmocka_unit_test(test_answer_of_another_type_is_a_protocol_error),
		cmocka_unit_test(test_coordinator_that_vanishes_in_a_frame_is_unreachable),
		cmocka_unit_test(test_oversize_frame_is_refused_before_hello),
		cmocka_unit_test(test_peer_that_speaks_something_else_is_refused),
		cmocka_unit_test(test_peer_that_does_not_begin_with_hello_is_refused),
		cmocka_unit_test(test_nobody_at_the_address_is_an_errno),
		cmocka_unit_test(test_silent_coordinator_times_out),
		cmocka_unit_test(test_stream_ends_with_stream_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
