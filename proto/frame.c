/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proto/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAYLOAD_CAP_FIRST 1024
#define PAYLOAD_CAP_KEPT  (16 * 1024) /* a larger buffer is freed after its frame */

static void put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put_u32(uint8_t *p, uint32_t v)
{
	put_u16(p, (uint16_t)(v >> 16));
	put_u16(p + 2, (uint16_t)v);
}

static uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)get_u16(p) << 16 | get_u16(p + 2);
}

void kg_frame_header_write(uint8_t ret_bytes[KG_FRAME_HEADER_SIZE], const struct kg_frame_header *h)
{
	put_u32(ret_bytes, h->len_bytes);
	ret_bytes[4] = KG_FRAME_VERSION;
	ret_bytes[5] = 0;
	put_u16(ret_bytes + 6, h->type);
	put_u32(ret_bytes + 8, h->id);
}

int kg_frame_header_read(const uint8_t bytes[KG_FRAME_HEADER_SIZE], size_t max_bytes,
			 struct kg_frame_header *ret_h, struct kg_err *err)
{
	struct kg_frame_header h = {
		.len_bytes = get_u32(bytes),
		.type = get_u16(bytes + 6),
		.id = get_u32(bytes + 8),
	};

	if (bytes[4] != KG_FRAME_VERSION)
		return kg_err_set(err, KG_EPROTO, "speaks framing version %u, this program %d",
				  bytes[4], KG_FRAME_VERSION);
	if (bytes[5] != 0)
		return kg_err_set(err, KG_EPROTO, "set unknown frame flags 0x%02x", bytes[5]);
	if (h.len_bytes > max_bytes)
		return kg_err_set(err, KG_ELIMIT,
				  "declared a frame of %u bytes, at most %zu are taken",
				  h.len_bytes, max_bytes);
	*ret_h = h;
	return 0;
}

void kg_frame_decoder_init(struct kg_frame_decoder *d, size_t max_bytes)
{
	memset(d, 0, sizeof(*d));
	d->max_bytes = max_bytes;
}

void kg_frame_decoder_deinit(struct kg_frame_decoder *d)
{
	free(d->payload);
	memset(d, 0, sizeof(*d));
}

/* Takes what is there of `want` more bytes. */
static size_t take(uint8_t *to, size_t want, const uint8_t **bytes, size_t *len)
{
	size_t n = want < *len ? want : *len;

	if (n > 0)
		memcpy(to, *bytes, n);
	*bytes += n;
	*len -= n;
	return n;
}

/* Room for `more` bytes of payload. It grows as bytes come, so that a peer that only declares a
 * large frame costs nothing. */
static int reserve(struct kg_frame_decoder *d, size_t more)
{
	size_t want = d->payload_len + more;
	size_t cap = d->payload_cap ? d->payload_cap : PAYLOAD_CAP_FIRST;
	uint8_t *p;

	if (want <= d->payload_cap)
		return 0;
	while (cap < want)
		cap *= 2;
	if (cap > d->h.len_bytes && want <= d->h.len_bytes)
		cap = d->h.len_bytes;
	p = realloc(d->payload, cap);
	if (!p)
		return -ENOMEM;
	d->payload = p;
	d->payload_cap = cap;
	return 0;
}

static int read_header(struct kg_frame_decoder *d, const uint8_t **bytes, size_t *len,
		       struct kg_err *err)
{
	int rc;

	d->header_len +=
		take(d->header + d->header_len, KG_FRAME_HEADER_SIZE - d->header_len, bytes, len);
	if (d->header_len < KG_FRAME_HEADER_SIZE)
		return 0;
	rc = kg_frame_header_read(d->header, d->max_bytes, &d->h, err);
	if (rc < 0)
		return rc;
	d->payload_len = 0;
	if (d->payload_cap > PAYLOAD_CAP_KEPT) {
		free(d->payload);
		d->payload = NULL;
		d->payload_cap = 0;
	}
	return 1;
}

/* Whether the payload is whole; it is then at *ret_payload. */
static int read_payload(struct kg_frame_decoder *d, const uint8_t **bytes, size_t *len,
			const uint8_t **ret_payload)
{
	static const uint8_t nothing[1];
	size_t want = d->h.len_bytes - d->payload_len;
	int rc;

	if (want == 0 && d->payload_len == 0) {
		*ret_payload = nothing;
		return 1;
	}
	if (d->payload_len == 0 && *len >= want) { /* all of it is there: nothing is copied */
		*ret_payload = *bytes;
		*bytes += want;
		*len -= want;
		return 1;
	}
	if (*len == 0)
		return 0;
	rc = reserve(d, want < *len ? want : *len);
	if (rc < 0)
		return rc;
	d->payload_len += take(d->payload + d->payload_len, want, bytes, len);
	*ret_payload = d->payload;
	return d->payload_len == d->h.len_bytes;
}

int kg_frame_decoder_feed(struct kg_frame_decoder *d, const uint8_t **bytes, size_t *len,
			  struct kg_frame *ret_frame, struct kg_err *err)
{
	const uint8_t *payload;
	int rc;

	if (d->failed)
		return kg_err_set(err, d->failed, "the stream was lost before: %s",
				  kg_strerror(d->failed));
	if (*len == 0)
		return 0;
	if (d->header_len < KG_FRAME_HEADER_SIZE) {
		rc = read_header(d, bytes, len, err);
		if (rc < 0)
			d->failed = rc;
		if (rc <= 0)
			return rc;
	}
	rc = read_payload(d, bytes, len, &payload);
	if (rc < 0)
		d->failed = kg_err_set(err, rc, "out of memory");
	if (rc <= 0)
		return rc;
	d->header_len = 0;
	*ret_frame = (struct kg_frame){
		.type = d->h.type,
		.id = d->h.id,
		.payload = payload,
		.len_bytes = d->h.len_bytes,
	};
	return 1;
}
