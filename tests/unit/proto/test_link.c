/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/link.h"
#include "proto/messages.h"
#include "tests/lib/alloc_fault.h"

#define GUARD_MS 10000

/* One end with everything that happened to it. */
struct end {
	struct kg_link link;
	unsigned messages;
	unsigned closed;
	unsigned drained;
	unsigned in_pause; /* messages that came although the link was paused */
	int code;
	char reason[256];
	uint16_t last_type;
	uint32_t last_id;
	char error_text[256]; /* of the last ERROR */
	void (*hook)(struct end *e);
};

struct fixture {
	uv_loop_t loop;
	uv_timer_t guard;
	struct end a, b;
	int fd; /* the other end, where it is a bare socket; -1: none */
};

static struct fixture *fx;

static void on_message(struct kg_link *l, const struct kg_msg *m, uint32_t id)
{
	struct end *e = l->data;

	assert_int_equal(l->state, KG_LINK_OPEN);
	assert_int_equal(e->closed, 0);
	e->in_pause += l->paused;
	e->messages++;
	e->last_type = kg_msg_type(m);
	e->last_id = id;
	if (kg_msg_type(m) == KG_MSG_ERROR) {
		const Kgrid__V1__Error *error = (const Kgrid__V1__Error *)kg_msg_body(m);

		strncpy(e->error_text, error->text, sizeof(e->error_text) - 1);
	}
	if (e->hook)
		e->hook(e);
}

static void on_closed(struct kg_link *l, int code, const char *reason)
{
	struct end *e = l->data;

	e->closed++;
	e->code = code;
	strncpy(e->reason, reason, sizeof(e->reason) - 1);
	assert_int_equal(l->state, KG_LINK_CLOSED);
	kg_link_drop(l, KG_EBUSY, "after the end"); /* does nothing */
}

static void on_drained(struct kg_link *l)
{
	((struct end *)l->data)->drained++;
}

static const struct kg_link_ops ops = {on_message, on_closed, on_drained};
static const struct kg_link_limits defaults = {0};

static void on_guard(uv_timer_t *timer)
{
	(void)timer;
	fail_msg("nothing happens any more");
}

static int setup(void **state)
{
	(void)state;
	fx = calloc(1, sizeof(*fx));
	fx->fd = -1;
	fx->a.link.data = &fx->a;
	fx->b.link.data = &fx->b;
	assert_int_equal(uv_loop_init(&fx->loop), 0);
	assert_int_equal(uv_timer_init(&fx->loop, &fx->guard), 0);
	assert_int_equal(uv_timer_start(&fx->guard, on_guard, GUARD_MS, 0), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kg_link_drop(&fx->a.link, 0, "test is over");
	kg_link_drop(&fx->b.link, 0, "test is over");
	uv_close((uv_handle_t *)&fx->guard, NULL);
	assert_int_equal(uv_run(&fx->loop, UV_RUN_DEFAULT), 0);
	assert_int_equal(uv_loop_close(&fx->loop), 0);
	assert_int_equal(fx->a.closed, fx->a.link.ops ? 1 : 0);
	assert_int_equal(fx->b.closed, fx->b.link.ops ? 1 : 0);
	if (fx->fd >= 0)
		close(fx->fd);
	free(fx);
	return 0;
}

/* Runs the loop until a condition holds; the guard ends what never comes. */
#define run_until(condition)                            \
	do {                                            \
		while (!(condition))                    \
			uv_run(&fx->loop, UV_RUN_ONCE); \
	} while (0)

static void settle(void)
{
	int i;

	for (i = 0; i < 20; i++)
		uv_run(&fx->loop, UV_RUN_NOWAIT);
}

static void start_pipe(struct end *e, int fd, const struct kg_link_limits *limits)
{
	struct kg_err err;

	assert_int_equal(uv_pipe_init(&fx->loop, &e->link.u.pipe, 0), 0);
	assert_int_equal(uv_pipe_open(&e->link.u.pipe, fd), 0);
	assert_int_equal(kg_link_start(&e->link, &ops, limits, &err), 0);
}

/* Link a, and the other end as a bare, non-blocking socket. */
static void start_one(const struct kg_link_limits *limits)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	start_pipe(&fx->a, fds[0], limits);
	fx->fd = fds[1];
	assert_int_equal(fcntl(fx->fd, F_SETFL, O_NONBLOCK), 0);
}

static void start_both(const struct kg_link_limits *limits)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	start_pipe(&fx->a, fds[0], limits);
	start_pipe(&fx->b, fds[1], limits);
}

static int ping(struct end *e, uint32_t id)
{
	Kgrid__V1__Ping p = KGRID__V1__PING__INIT;

	p.has_token = 1;
	p.token = id;
	return kg_link_send(&e->link, KG_MSG_PING, id, &p.base);
}

/* A frame of `len` payload bytes of nothing in particular (a BlobChunk). */
static int chunk(struct end *e, size_t len)
{
	Kgrid__V1__BlobChunk c = KGRID__V1__BLOB_CHUNK__INIT;
	int rc;

	c.has_data = 1;
	c.data.len = len;
	c.data.data = calloc(1, len);
	rc = kg_link_send(&e->link, KG_MSG_BLOB_CHUNK, 0, &c.base);
	free(c.data.data);
	return rc;
}

/* `n` pings as bytes, each 14. */
#define PING_BYTES (KG_FRAME_HEADER_SIZE + 2)
static void put_pings(uint8_t *to, size_t n)
{
	struct kg_frame_header h = {.len_bytes = 2, .type = KG_MSG_PING};
	size_t i;

	for (i = 0; i < n; i++, to += PING_BYTES) {
		h.id = (uint32_t)i + 1;
		kg_frame_header_write(to, &h);
		to[KG_FRAME_HEADER_SIZE] = 0x08; /* token */
		to[KG_FRAME_HEADER_SIZE + 1] = 0x01;
	}
}

static void send_raw(const void *bytes, size_t len)
{
	assert_int_equal(write(fx->fd, bytes, len), len);
}

static void test_messages_arrive_in_order_with_their_ids(void **state)
{
	uint32_t i;

	(void)state;
	start_both(&defaults);
	for (i = 1; i <= 1000; i++)
		assert_int_equal(ping(&fx->a, i), 0);
	assert_int_equal(ping(&fx->b, 77), 0);
	run_until(fx->b.messages == 1000 && fx->a.messages == 1);
	assert_int_equal(fx->b.last_id, 1000);
	assert_int_equal(fx->b.last_type, KG_MSG_PING);
	assert_int_equal(fx->a.last_id, 77);
	assert_int_equal(fx->a.link.frames_out, 1000);
	assert_int_equal(fx->b.link.frames_in, 1000);
	assert_int_equal(fx->a.link.bytes_out, fx->b.link.bytes_in);
	assert_int_equal(kg_link_queued_bytes(&fx->a.link), 0);
}

static void test_frames_may_come_byte_by_byte(void **state)
{
	uint8_t bytes[3 * PING_BYTES];
	size_t i;

	(void)state;
	start_one(&defaults);
	put_pings(bytes, 3);
	for (i = 0; i < sizeof(bytes); i++) {
		send_raw(bytes + i, 1);
		settle();
	}
	assert_int_equal(fx->a.messages, 3);
	assert_int_equal(fx->a.last_id, 3);
}

static void test_flood_in_one_write_is_taken(void **state)
{
	enum { N = 4000 };
	static uint8_t bytes[N * PING_BYTES];

	(void)state;
	start_one(&defaults);
	put_pings(bytes, N);
	send_raw(bytes, sizeof(bytes));
	run_until(fx->a.messages == N);
	assert_int_equal(fx->a.last_id, N);
}

static void check_dropped(const void *bytes, size_t len, int code, const char *reason)
{
	send_raw(bytes, len);
	run_until(fx->a.closed);
	assert_int_equal(fx->a.code, code);
	assert_string_equal(fx->a.reason, reason);
}

static void test_oversize_before_hello_drops_the_peer(void **state)
{
	struct kg_frame_header h = {.len_bytes = KG_FRAME_MAX_HELLO + 1, .type = KG_MSG_HELLO};
	uint8_t bytes[KG_FRAME_HEADER_SIZE];

	(void)state;
	start_one(&defaults);
	kg_frame_header_write(bytes, &h);
	check_dropped(bytes, sizeof(bytes), KG_ELIMIT,
		      "peer declared a frame of 4097 bytes, at most 4096 are taken before HELLO");
	assert_int_equal(fx->a.messages, 0);
}

static void test_oversize_after_hello_drops_the_peer(void **state)
{
	struct kg_frame_header h = {.len_bytes = 2 * KG_FRAME_MAX, .type = KG_MSG_RECORD};
	uint8_t bytes[KG_FRAME_HEADER_SIZE];

	(void)state;
	start_one(&defaults);
	kg_link_authenticated(&fx->a.link);
	kg_frame_header_write(bytes, &h);
	check_dropped(bytes, sizeof(bytes), KG_ELIMIT,
		      "peer declared a frame of 2097152 bytes, at most 1048576 are taken");
}

static void authenticate(struct end *e)
{
	kg_link_authenticated(&e->link);
}

static void test_frame_behind_hello_may_be_large(void **state)
{
	(void)state;
	start_both(&defaults);
	fx->b.hook = authenticate; /* as a handler of HELLO does */
	assert_int_equal(ping(&fx->a, 1), 0);
	assert_int_equal(chunk(&fx->a, 500000), 0);
	run_until(fx->b.messages == 2);
	assert_int_equal(fx->b.last_type, KG_MSG_BLOB_CHUNK);
}

static void test_own_cap_on_frames_is_kept(void **state)
{
	struct kg_link_limits limits = {.frame_bytes = 100};

	(void)state;
	start_both(&limits);
	kg_link_authenticated(&fx->b.link);
	assert_int_equal(chunk(&fx->a, 200), 0);
	run_until(fx->b.closed);
	assert_int_equal(fx->b.code, KG_ELIMIT);
	run_until(fx->a.closed);
}

static void test_what_is_no_protocol_drops_the_peer(void **state)
{
	(void)state;
	start_one(&defaults);
	check_dropped("GET / HTTP/1.1\r\n\r\n", 18, KG_EPROTO,
		      "peer speaks framing version 47, this program 1 before HELLO");
}

static void test_unknown_message_drops_the_peer(void **state)
{
	struct kg_frame_header h = {.type = 9999};
	uint8_t bytes[KG_FRAME_HEADER_SIZE];

	(void)state;
	start_one(&defaults);
	kg_frame_header_write(bytes, &h);
	check_dropped(bytes, sizeof(bytes), KG_EPROTO,
		      "peer sent what is refused: unknown message type 9999");
}

static void test_undecodable_message_drops_the_peer(void **state)
{
	struct kg_frame_header h = {.type = KG_MSG_PING, .len_bytes = 1};
	uint8_t bytes[KG_FRAME_HEADER_SIZE + 1] = {0};

	(void)state;
	start_one(&defaults);
	kg_frame_header_write(bytes, &h);
	bytes[KG_FRAME_HEADER_SIZE] = 0xff;
	check_dropped(bytes, sizeof(bytes), KG_EPROTO,
		      "peer sent what is refused: PING of 1 bytes cannot be decoded");
}

static void test_peer_that_closes_is_told(void **state)
{
	uint8_t bytes[PING_BYTES];

	(void)state;
	start_one(&defaults);
	put_pings(bytes, 1);
	send_raw(bytes, sizeof(bytes));
	send_raw(bytes, 5); /* cut in the middle of a frame */
	close(fx->fd);
	fx->fd = -1;
	run_until(fx->a.closed);
	assert_int_equal(fx->a.messages, 1);
	assert_int_equal(fx->a.code, UV_EOF);
	assert_string_equal(fx->a.reason, "peer closed the connection");
}

static void test_peer_that_does_not_read_is_dropped_at_the_cap(void **state)
{
	struct kg_link_limits limits = {.send_queue_bytes = 300000};
	size_t most = 0;
	int rc, i;

	(void)state;
	start_one(&limits);
	for (i = 0; i < 1000; i++) {
		rc = chunk(&fx->a, 10000);
		if (rc < 0)
			break;
		most = kg_link_queued_bytes(&fx->a.link);
		assert_true(most <= limits.send_queue_bytes);
		settle();
	}
	assert_int_equal(rc, KG_ELIMIT);
	assert_true(most > limits.send_queue_bytes - 20000);
	assert_int_equal(fx->a.closed, 0); /* never from inside of send */
	assert_int_equal(ping(&fx->a, 1), KG_ESTATE);
	run_until(fx->a.closed);
	assert_int_equal(fx->a.code, KG_ELIMIT);
	assert_contains(fx->a.reason, "peer does not read: ");
	assert_contains(fx->a.reason, "at most 300000");
}

static void test_drained_comes_once_when_the_peer_reads_again(void **state)
{
	static char sink[65536];
	struct kg_link_limits limits = {.send_queue_bytes = 400000};

	(void)state;
	start_one(&limits);
	while (kg_link_queued_bytes(&fx->a.link) <= limits.send_queue_bytes / 2)
		assert_int_equal(chunk(&fx->a, 50000), 0);
	settle();
	assert_int_equal(fx->a.drained, 0);
	while (fx->a.drained == 0) {
		assert_true(read(fx->fd, sink, sizeof(sink)) != 0);
		settle();
	}
	assert_true(kg_link_queued_bytes(&fx->a.link) < limits.send_queue_bytes / 2);
	while (read(fx->fd, sink, sizeof(sink)) > 0)
		settle();
	assert_int_equal(fx->a.drained, 1);
}

static void drop_it(struct end *e)
{
	kg_link_drop(&e->link, KG_EREFUSED, "message %u is too much", e->messages);
}

static void test_drop_from_inside_of_on_message_ends_delivery(void **state)
{
	uint8_t bytes[10 * PING_BYTES];

	(void)state;
	start_one(&defaults);
	fx->a.hook = drop_it;
	put_pings(bytes, 10);
	send_raw(bytes, sizeof(bytes));
	run_until(fx->a.closed);
	settle();
	assert_int_equal(fx->a.messages, 1);
	assert_int_equal(fx->a.code, KG_EREFUSED);
	assert_string_equal(fx->a.reason, "message 1 is too much");
}

static void test_first_reason_stays_and_closed_comes_once(void **state)
{
	(void)state;
	start_one(&defaults);
	kg_link_drop(&fx->a.link, KG_EBUSY, "first");
	kg_link_drop(&fx->a.link, KG_EPROTO, "second");
	kg_link_refuse(&fx->a.link, KG_EPROTO, "third");
	assert_int_equal(fx->a.closed, 0);
	run_until(fx->a.closed);
	settle();
	assert_int_equal(fx->a.closed, 1);
	assert_int_equal(fx->a.code, KG_EBUSY);
	assert_string_equal(fx->a.reason, "first");
}

static void test_queued_frames_die_with_the_link(void **state)
{
	int i;

	(void)state;
	start_one(&defaults);
	for (i = 0; i < 20; i++)
		assert_int_equal(chunk(&fx->a, 100000), 0);
	assert_true(kg_link_queued_bytes(&fx->a.link) > 0);
	kg_link_drop(&fx->a.link, 0, "enough");
	run_until(fx->a.closed);
}

static void pause_it(struct end *e)
{
	kg_link_pause(&e->link);
}

static void test_pause_stops_delivery_at_once_and_resume_goes_on(void **state)
{
	uint8_t bytes[5 * PING_BYTES];
	unsigned i;

	(void)state;
	start_one(&defaults);
	fx->a.hook = pause_it;
	put_pings(bytes, 5);
	send_raw(bytes, sizeof(bytes));
	for (i = 1; i <= 5; i++) {
		run_until(fx->a.messages == i);
		settle();
		assert_int_equal(fx->a.messages, i);
		assert_int_equal(fx->a.last_id, i);
		kg_link_resume(&fx->a.link);
	}
	send_raw(bytes, PING_BYTES);
	run_until(fx->a.messages == 6);
	assert_int_equal(fx->a.in_pause, 0);
}

static void pause_and_resume(struct end *e)
{
	kg_link_pause(&e->link);
	kg_link_resume(&e->link);
	kg_link_resume(&e->link);
}

static void test_pause_and_resume_inside_of_on_message(void **state)
{
	uint8_t bytes[5 * PING_BYTES];

	(void)state;
	start_one(&defaults);
	fx->a.hook = pause_and_resume;
	put_pings(bytes, 5);
	send_raw(bytes, sizeof(bytes));
	run_until(fx->a.messages == 5);
	send_raw(bytes, PING_BYTES);
	run_until(fx->a.messages == 6);
}

static void test_drop_while_paused_frees_what_was_held(void **state)
{
	uint8_t bytes[5 * PING_BYTES];

	(void)state;
	start_one(&defaults);
	fx->a.hook = pause_it;
	put_pings(bytes, 5);
	send_raw(bytes, sizeof(bytes));
	run_until(fx->a.messages == 1);
	assert_non_null(fx->a.link.held);
	kg_link_drop(&fx->a.link, 0, "enough");
	run_until(fx->a.closed);
	assert_int_equal(fx->a.messages, 1);
}

static void drop_second(struct end *e)
{
	if (e->messages == 1)
		kg_link_pause(&e->link);
	else
		kg_link_drop(&e->link, KG_EREFUSED, "second");
}

static void test_drop_inside_of_resume(void **state)
{
	uint8_t bytes[5 * PING_BYTES];

	(void)state;
	start_one(&defaults);
	fx->a.hook = drop_second;
	put_pings(bytes, 5);
	send_raw(bytes, sizeof(bytes));
	run_until(fx->a.messages == 1);
	kg_link_resume(&fx->a.link);
	assert_int_equal(fx->a.messages, 2);
	run_until(fx->a.closed);
	assert_int_equal(fx->a.messages, 2);
}

static void refuse_it(struct end *e)
{
	kg_link_refuse(&e->link, KG_EVERSION, "versions do not meet");
}

static void drop_on_error(struct end *e)
{
	if (e->last_type == KG_MSG_ERROR)
		kg_link_drop(&e->link, KG_EREFUSED, "refused by the peer");
}

static void test_refused_peer_gets_the_reason(void **state)
{
	uint32_t i;

	(void)state;
	start_both(&defaults);
	fx->a.hook = refuse_it;
	fx->b.hook = drop_on_error;
	for (i = 0; i < 2000; i++) /* more than a reads before it refuses */
		assert_int_equal(ping(&fx->b, i), 0);
	run_until(fx->a.closed && fx->b.closed);
	assert_int_equal(fx->a.messages, 1);
	assert_int_equal(fx->a.code, KG_EVERSION);
	assert_string_equal(fx->a.reason, "versions do not meet");
	assert_string_equal(fx->b.error_text, "versions do not meet");
	assert_int_equal(fx->b.code, KG_EREFUSED);
}

/* Over TCP, closing with unread bytes would reset the connection and lose the Error. */
static void test_refused_peer_gets_the_reason_over_tcp(void **state)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};
	socklen_t len = sizeof(addr);
	uint8_t bytes[200 * PING_BYTES];
	struct kg_frame_decoder d = {.max_bytes = KG_FRAME_MAX};
	const uint8_t *p = bytes;
	int listener, fd;
	struct kg_frame f;
	struct kg_err err;
	ssize_t n;
	size_t left;

	(void)state;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	fx->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fx->fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	fd = accept(listener, NULL, NULL);
	close(listener);
	assert_int_equal(uv_tcp_init(&fx->loop, &fx->a.link.u.tcp), 0);
	assert_int_equal(uv_tcp_open(&fx->a.link.u.tcp, fd), 0);
	assert_int_equal(kg_link_start(&fx->a.link, &ops, &defaults, &err), 0);
	fx->a.hook = refuse_it;
	put_pings(bytes, 200);
	send_raw(bytes, sizeof(bytes));
	run_until(fx->a.link.state == KG_LINK_LINGER);
	send_raw(bytes, sizeof(bytes)); /* it sends on before it looks */
	settle();
	n = read(fx->fd, bytes, sizeof(bytes));
	assert_true(n > 0);
	left = (size_t)n;
	assert_int_equal(kg_frame_decoder_feed(&d, &p, &left, &f, &err), 1);
	assert_int_equal(f.type, KG_MSG_ERROR);
	assert_int_equal(read(fx->fd, bytes, sizeof(bytes)), 0); /* an orderly end, no reset */
	kg_frame_decoder_deinit(&d);
	close(fx->fd);
	fx->fd = -1;
	run_until(fx->a.closed);
	assert_int_equal(fx->a.code, KG_EVERSION);
}

static void test_refused_peer_that_stays_is_dropped_in_time(void **state)
{
	struct kg_link_limits limits = {.linger_ms = 20};

	(void)state;
	start_one(&limits);
	kg_link_refuse(&fx->a.link, KG_EBUSY, "go away");
	assert_int_equal(ping(&fx->a, 1), KG_ESTATE);
	run_until(fx->a.closed);
	assert_int_equal(fx->a.code, KG_EBUSY);
	assert_string_equal(fx->a.reason, "go away");
}

static void test_refused_peer_that_sends_on_is_dropped(void **state)
{
	static const char junk[65536];
	struct kg_link_limits limits = {.linger_ms = 10 * GUARD_MS};

	(void)state;
	start_one(&limits);
	kg_link_refuse(&fx->a.link, KG_EBUSY, "go away");
	while (!fx->a.closed) {
		(void)send(fx->fd, junk, sizeof(junk), MSG_NOSIGNAL);
		uv_run(&fx->loop, UV_RUN_NOWAIT);
	}
	assert_int_equal(fx->a.messages, 0);
}

static void test_drop_ends_lingering(void **state)
{
	struct kg_link_limits limits = {.linger_ms = 10 * GUARD_MS};

	(void)state;
	start_one(&limits);
	kg_link_refuse(&fx->a.link, KG_EBUSY, "go away");
	settle();
	assert_int_equal(fx->a.closed, 0);
	kg_link_drop(&fx->a.link, 0, "shutdown");
	run_until(fx->a.closed);
	assert_string_equal(fx->a.reason, "go away");
}

static void test_refuse_over_a_full_queue_drops(void **state)
{
	struct kg_link_limits limits = {.send_queue_bytes = 300000};

	(void)state;
	start_one(&limits);
	while (kg_link_queued_bytes(&fx->a.link) < 299980)
		assert_int_equal(chunk(&fx->a,
				       kg_link_queued_bytes(&fx->a.link) < 280000
					       ? 10000
					       : 299980 - kg_link_queued_bytes(&fx->a.link)),
				 0);
	kg_link_refuse(&fx->a.link, KG_EBUSY, "go away, and do not come back before you read");
	run_until(fx->a.closed);
	assert_int_equal(fx->a.code, KG_ELIMIT);
}

static void test_start_that_fails_can_be_dropped(void **state)
{
	struct kg_err err;

	(void)state;
	assert_int_equal(uv_pipe_init(&fx->loop, &fx->a.link.u.pipe, 0), 0); /* not connected */
	assert_true(kg_link_start(&fx->a.link, &ops, &defaults, &err) < 0);
	assert_contains(err.text, "cannot read from the connection: ");
	kg_link_drop(&fx->a.link, KG_EBUSY, "could not start");
	run_until(fx->a.closed);
}

static void test_link_that_was_never_started_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(ping(&fx->a, 1), KG_ESTATE);
	kg_link_drop(&fx->a.link, 0, "nothing to drop");
	kg_link_refuse(&fx->a.link, 0, "nothing to refuse");
	kg_link_pause(&fx->a.link);
	kg_link_resume(&fx->a.link);
	assert_int_equal(fx->a.closed, 0);
}

static void test_out_of_memory_while_sending(void **state)
{
	unsigned n;
	int rc;

	(void)state;
	for (n = 1;; n++) {
		if (n > 1)
			setup(state);
		start_both(&defaults);
		alloc_fault_arm(n);
		rc = ping(&fx->a, n);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, UV_ENOMEM);
		teardown(state);
	}
	assert_int_equal(rc, 0);
	assert_true(n >= 3);
	run_until(fx->b.messages == 1);
}

static void test_out_of_memory_while_receiving(void **state)
{
	uint8_t bytes[2 * PING_BYTES];
	unsigned n;
	bool failed;

	(void)state;
	for (n = 1;; n++) {
		if (n > 1)
			setup(state);
		start_one(&defaults);
		fx->a.hook = pause_it; /* so that something has to be held too */
		put_pings(bytes, 2);
		send_raw(bytes, sizeof(bytes));
		alloc_fault_arm(n);
		run_until(fx->a.messages == 1 || fx->a.closed);
		failed = alloc_fault_disarm();
		if (!failed)
			break;
		run_until(fx->a.closed);
		assert_int_equal(fx->a.code, UV_ENOMEM);
		teardown(state);
	}
	assert_true(n >= 4);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_messages_arrive_in_order_with_their_ids),
		TEST(test_frames_may_come_byte_by_byte),
		TEST(test_flood_in_one_write_is_taken),
		TEST(test_oversize_before_hello_drops_the_peer),
		TEST(test_oversize_after_hello_drops_the_peer),
		TEST(test_frame_behind_hello_may_be_large),
		TEST(test_own_cap_on_frames_is_kept),
		TEST(test_what_is_no_protocol_drops_the_peer),
		TEST(test_unknown_message_drops_the_peer),
		TEST(test_undecodable_message_drops_the_peer),
		TEST(test_peer_that_closes_is_told),
		TEST(test_peer_that_does_not_read_is_dropped_at_the_cap),
		TEST(test_drained_comes_once_when_the_peer_reads_again),
		TEST(test_drop_from_inside_of_on_message_ends_delivery),
		TEST(test_first_reason_stays_and_closed_comes_once),
		TEST(test_queued_frames_die_with_the_link),
		TEST(test_pause_stops_delivery_at_once_and_resume_goes_on),
		TEST(test_pause_and_resume_inside_of_on_message),
		TEST(test_drop_while_paused_frees_what_was_held),
		TEST(test_drop_inside_of_resume),
		TEST(test_refused_peer_gets_the_reason),
		TEST(test_refused_peer_gets_the_reason_over_tcp),
		TEST(test_refused_peer_that_stays_is_dropped_in_time),
		TEST(test_refused_peer_that_sends_on_is_dropped),
		TEST(test_drop_ends_lingering),
		TEST(test_refuse_over_a_full_queue_drops),
		TEST(test_start_that_fails_can_be_dropped),
		TEST(test_link_that_was_never_started_is_left_alone),
		TEST(test_out_of_memory_while_sending),
		TEST(test_out_of_memory_while_receiving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
