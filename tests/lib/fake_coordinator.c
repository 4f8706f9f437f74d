/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/fake_coordinator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/frame.h"
#include "proto/hello.h"

struct fake {
	fake_fn *fn;
	fake_raw_fn *raw;
	void *ctx;
	char folder[32];
	char address[64];
	int listen_fd;
	int fd;
	atomic_uint connections;
	pthread_t thread;
};

static void give_up(const char *what)
{
	perror(what);
	abort();
}

void fake_send_raw(struct fake *f, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len > 0) {
		ssize_t n = send(f->fd, p, len, MSG_NOSIGNAL);

		if (n < 0)
			return; /* the command went away, which a test may want */
		p += n;
		len -= (size_t)n;
	}
}

void fake_send(struct fake *f, uint16_t type, uint32_t id, const ProtobufCMessage *body)
{
	struct kg_err err;
	uint8_t *bytes;
	size_t len;

	if (kg_msg_encode(type, id, body, &bytes, &len, &err) < 0)
		give_up(err.text);
	fake_send_raw(f, bytes, len);
	free(bytes);
}

void fake_error(struct fake *f, uint32_t id, int code, const char *text, const char *detail)
{
	Kgrid__V1__Error e = KGRID__V1__ERROR__INIT;
	char *details[1] = {(char *)(uintptr_t)detail};

	e.has_code = 1;
	e.code = code;
	e.text = (char *)(uintptr_t)text;
	e.n_details = detail ? 1 : 0;
	e.details = details;
	fake_send(f, KG_MSG_ERROR, id, &e.base);
}

void fake_end(struct fake *f, uint32_t id)
{
	Kgrid__V1__StreamEnd e = KGRID__V1__STREAM_END__INIT;

	fake_send(f, KG_MSG_STREAM_END, id, &e.base);
}

static void send_hello(struct fake *f)
{
	Kgrid__V1__Hello h = KGRID__V1__HELLO__INIT;

	h.has_role = h.has_version_min = h.has_version_max = 1;
	h.role = KGRID__V1__ROLE__ROLE_COORDINATOR;
	h.version_min = KG_PROTO_MINOR_OLDEST;
	h.version_max = KG_PROTO_MINOR;
	fake_send(f, KG_MSG_HELLO, 0, &h.base);
}

/* One message from the command to the test. */
static int dispatch(struct fake *f, const struct kg_frame *frame)
{
	struct kg_err err;
	struct kg_msg *m;
	int rc = 0;

	if (kg_msg_decode(frame->type, frame->payload, frame->len_bytes, &m, &err) < 0)
		give_up(err.text);
	if (frame->type == KG_MSG_HELLO)
		send_hello(f);
	else
		rc = f->fn(f, frame->type, frame->id, kg_msg_body(m), f->ctx);
	kg_msg_free(m);
	return rc;
}

static void serve(struct fake *f)
{
	struct kg_frame_decoder d;
	uint8_t buf[4096];
	ssize_t n;
	int rc = 0;

	kg_frame_decoder_init(&d, KG_FRAME_MAX);
	while (rc >= 0 && (n = recv(f->fd, buf, sizeof(buf), 0)) > 0) {
		const uint8_t *p = buf;
		size_t len = (size_t)n;
		struct kg_frame frame;
		struct kg_err err;

		while (rc >= 0 && kg_frame_decoder_feed(&d, &p, &len, &frame, &err) == 1)
			rc = dispatch(f, &frame);
	}
	kg_frame_decoder_deinit(&d);
}

static void *work(void *arg)
{
	struct fake *f = arg;

	while ((f->fd = accept(f->listen_fd, NULL, NULL)) >= 0) {
		atomic_fetch_add(&f->connections, 1);
		if (f->raw)
			f->raw(f, f->fd, f->ctx);
		else
			serve(f);
		close(f->fd);
	}
	return NULL;
}

static struct fake *start(fake_fn *fn, fake_raw_fn *raw, void *ctx)
{
	struct fake *f = calloc(1, sizeof(*f));
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	if (!f)
		give_up("calloc");
	f->fn = fn;
	f->raw = raw;
	f->ctx = ctx;
	(void)snprintf(f->folder, sizeof(f->folder), "/tmp/kgrid-fake-XXXXXX");
	if (!mkdtemp(f->folder))
		give_up("mkdtemp");
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/sock", f->folder);
	(void)snprintf(f->address, sizeof(f->address), "unix:%s/sock", f->folder);
	f->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (f->listen_fd < 0 || bind(f->listen_fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    listen(f->listen_fd, 8) < 0)
		give_up("listen");
	if (pthread_create(&f->thread, NULL, work, f) != 0)
		give_up("pthread_create");
	return f;
}

struct fake *fake_start(fake_fn *fn, void *ctx)
{
	return start(fn, NULL, ctx);
}

struct fake *fake_start_raw(fake_raw_fn *fn, void *ctx)
{
	return start(NULL, fn, ctx);
}

const char *fake_address(const struct fake *f)
{
	return f->address;
}

unsigned fake_connections(const struct fake *f)
{
	return atomic_load(&f->connections);
}

void fake_stop(struct fake *f)
{
	(void)shutdown(f->listen_fd, SHUT_RDWR); /* wakes accept() */
	pthread_join(f->thread, NULL);
	close(f->listen_fd);
	(void)unlink(f->address + 5);
	(void)rmdir(f->folder);
	free(f);
}
