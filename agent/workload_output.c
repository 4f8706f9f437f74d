/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Happy path: start, data, end of stream, close. Failure modes: over the limit, data is read and
 * counted only; out of memory counts as over the limit. */
#include "agent/workload_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BYTES 4096

static char scratch[4096]; /* what is over the limit goes here and is not looked at */

void workload_output_init(struct workload_output *o, size_t limit,
			  void (*changed)(struct workload_output *o), void *data)
{
	memset(o, 0, sizeof(*o));
	o->limit = limit;
	o->changed = changed;
	o->data = data;
}

static bool grow(struct workload_output *o)
{
	size_t cap = o->cap ? o->cap * 2 : FIRST_BYTES;
	char *bytes;

	if (cap > o->limit + 1)
		cap = o->limit + 1;
	if (cap <= o->len + 1)
		return false;
	bytes = realloc(o->bytes, cap);
	if (!bytes)
		return false;
	o->bytes = bytes;
	o->cap = cap;
	return true;
}

static void give_room(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	struct workload_output *o = h->data;

	(void)suggested;
	if (o->len + 1 >= o->cap && !grow(o)) {
		*buf = uv_buf_init(scratch, sizeof(scratch));
		return;
	}
	*buf = uv_buf_init(o->bytes + o->len, (unsigned)(o->cap - o->len - 1));
}

static void take_data(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct workload_output *o = s->data;
	ssize_t i;

	if (n == 0)
		return;
	if (n < 0) {
		workload_output_close(o);
		return;
	}
	if (buf->base == scratch) {
		bool first = o->dropped == 0;

		o->dropped += (uint64_t)n;
		if (first)
			o->changed(o);
		return;
	}
	/* What follows is read as text, which a NUL would end. */
	for (i = 0; i < n; i++)
		if (buf->base[i] == '\0')
			buf->base[i] = '?';
	o->len += (size_t)n;
	o->bytes[o->len] = '\0';
}

int workload_output_start(struct workload_output *o, uv_loop_t *loop, int *ret_write)
{
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	rc = uv_pipe_init(loop, &o->pipe, 0);
	if (rc < 0)
		goto close_fds;
	o->pipe.data = o;
	o->active = true;
	rc = uv_pipe_open(&o->pipe, fds[0]);
	if (rc < 0) {
		close(fds[0]);
		close(fds[1]);
		workload_output_close(o);
		return rc;
	}
	o->open = true;
	rc = uv_read_start((uv_stream_t *)&o->pipe, give_room, take_data);
	if (rc < 0) {
		workload_output_close(o);
		close(fds[1]);
		return rc;
	}
	*ret_write = fds[1];
	return 0;

close_fds:
	close(fds[0]);
	close(fds[1]);
	return rc;
}

static void on_closed(uv_handle_t *h)
{
	struct workload_output *o = h->data;

	o->active = false;
	o->changed(o);
}

void workload_output_close(struct workload_output *o)
{
	o->open = false;
	if (o->active && !uv_is_closing((uv_handle_t *)&o->pipe))
		uv_close((uv_handle_t *)&o->pipe, on_closed);
}

void workload_output_reset(struct workload_output *o)
{
	free(o->bytes);
	o->bytes = NULL;
	o->len = 0;
	o->cap = 0;
	o->dropped = 0;
}

const char *workload_output_text(const struct workload_output *o)
{
	return o->bytes ? o->bytes : "";
}
