/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agents' end: sockets that block, one thread each. */
#include "bench_ingest.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/file.h"
#include "proto/codec.h"
#include "proto/frame.h"

struct bench_client {
	const struct bench *b;
	uint32_t agent;
	uint8_t *bytes; /* all frames */
	size_t *ends;	/* of each frame */
	uint16_t port;
	pthread_t thread;
};

static void fill_batch(const struct bench *b, uint32_t agent, uint32_t record,
		       Kgrid__V1__SampleBatch *s)
{
	for (uint32_t i = 0; i < b->per_record; i++) {
		s->index[i] = record * b->per_record + i;
		s->metric[i] = 0;
		s->iteration[i] = s->index[i] + 1;
		s->time_delta_ns[i] = BENCH_STEP_NS;
		s->value[i] = bench_value(agent, record, i);
	}
	s->time_delta_ns[0] = (int64_t)BENCH_STEP_NS * (record * b->per_record + 1);
	s->n_index = s->n_metric = s->n_iteration = s->n_time_delta_ns = s->n_value = b->per_record;
}

static void encode_all(struct bench_client *c)
{
	Kgrid__V1__Record r = KGRID__V1__RECORD__INIT;
	Kgrid__V1__SampleBatch s = KGRID__V1__SAMPLE_BATCH__INIT;
	size_t len = 0;
	struct kg_err err;

	s.index = calloc(c->b->per_record, sizeof(*s.index));
	s.metric = calloc(c->b->per_record, sizeof(*s.metric));
	s.iteration = calloc(c->b->per_record, sizeof(*s.iteration));
	s.time_delta_ns = calloc(c->b->per_record, sizeof(*s.time_delta_ns));
	s.value = calloc(c->b->per_record, sizeof(*s.value));
	r.has_boot = r.has_lease_epoch = r.has_seq = r.has_attempt = 1;
	r.boot = bench_boot(c->agent);
	r.attempt = bench_attempt(c->agent);
	r.lease_epoch = BENCH_EPOCH;
	r.body_case = KGRID__V1__RECORD__BODY_SAMPLES;
	r.samples = &s;
	for (uint32_t i = 0; i < c->b->records; i++) {
		uint8_t *frame;
		size_t n;

		fill_batch(c->b, c->agent, i, &s);
		r.seq = BENCH_FIRST_SEQ + i;
		if (kg_msg_encode(KG_MSG_RECORD, 0, &r.base, &frame, &n, &err) < 0)
			bench_die("cannot encode: %s", err.text);
		c->bytes = realloc(c->bytes, len + n);
		if (!c->bytes)
			bench_die("out of memory");
		memcpy(c->bytes + len, frame, n);
		len += n;
		c->ends[i] = len;
		free(frame);
	}
	free(s.index);
	free(s.metric);
	free(s.iteration);
	free(s.time_delta_ns);
	free(s.value);
}

struct bench_client *bench_client_new(const struct bench *b, uint32_t agent)
{
	struct bench_client *c = calloc(1, sizeof(*c));

	if (c)
		c->ends = calloc(b->records, sizeof(*c->ends));
	if (!c || !c->ends)
		bench_die("out of memory");
	c->b = b;
	c->agent = agent;
	encode_all(c);
	return c;
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		bench_die("cannot connect");
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* Blocks for at least one acknowledgement; the newest seq that came. */
static uint64_t read_acks(int fd, struct kg_frame_decoder *d)
{
	uint8_t buf[4096];
	uint64_t seq = 0;

	while (seq == 0) {
		ssize_t n = read(fd, buf, sizeof(buf));
		const uint8_t *at = buf;
		size_t left = n > 0 ? (size_t)n : 0;
		struct kg_frame f;
		struct kg_err err;

		if (n <= 0)
			bench_die("the coordinator's end is gone");
		while (kg_frame_decoder_feed(d, &at, &left, &f, &err) == 1) {
			struct kg_msg *m;

			if (kg_msg_decode(f.type, f.payload, f.len_bytes, &m, &err) < 0)
				bench_die("cannot decode: %s", err.text);
			seq = ((const Kgrid__V1__RecordAck *)(const void *)kg_msg_body(m))->seq;
			kg_msg_free(m);
		}
	}
	return seq;
}

static void *client_main(void *arg)
{
	struct bench_client *c = arg;
	struct kg_frame_decoder d;
	uint32_t sent = 0, acked = 0;
	int fd = connect_to(c->port);

	kg_frame_decoder_init(&d, KG_FRAME_MAX);
	while (acked < c->b->records) {
		uint32_t to = acked + c->b->window;

		to = to < c->b->records ? to : c->b->records;
		if (sent < to) {
			size_t begin = sent ? c->ends[sent - 1] : 0;

			if (kg_write_all(fd, c->bytes + begin, c->ends[to - 1] - begin) < 0)
				bench_die("cannot send");
			sent = to;
		}
		acked = (uint32_t)(read_acks(fd, &d) - BENCH_FIRST_SEQ + 1);
	}
	kg_frame_decoder_deinit(&d);
	(void)close(fd);
	return NULL;
}

void bench_client_start(struct bench_client *c, uint16_t port)
{
	c->port = port;
	if (pthread_create(&c->thread, NULL, client_main, c) != 0)
		bench_die("cannot start a thread");
}

void bench_client_join(struct bench_client *c)
{
	(void)pthread_join(c->thread, NULL);
	free(c->bytes);
	free(c->ends);
	free(c);
}
