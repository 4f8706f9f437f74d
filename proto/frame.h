/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Framing: 12 bytes of header, then a protobuf message. All integers big-endian.
 *
 *   0..3   length of the payload in bytes (0 is allowed: a message without fields)
 *   4      framing version, 1
 *   5      flags, 0 (a receiver refuses bits it does not know)
 *   6..7   type, from proto/messages.h
 *   8..11  id: a request's number, repeated in its answers; 0 where nothing is answered
 *
 * The header is checked before anything is allocated. Pure: bytes in, frames out.
 */
#ifndef KG_PROTO_FRAME_H
#define KG_PROTO_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define KG_FRAME_HEADER_SIZE 12
#define KG_FRAME_VERSION     1
#define KG_FRAME_MAX	     (1024 * 1024)	 /* payload, once the peer is known */
#define KG_REPLY_MAX	     (256 * 1024 * 1024) /* payload of a reply that comes in parts */
#define KG_FRAME_MAX_HELLO   (4 * 1024)		 /* payload, before HELLO */

struct kg_frame_header {
	uint32_t len_bytes;
	uint16_t type;
	uint32_t id;
};

struct kg_frame {
	uint16_t type;
	uint32_t id;
	const uint8_t *payload; /* borrows from the decoder or from the bytes it was fed, until
				 * either changes */
	size_t len_bytes;
};

void kg_frame_header_write(uint8_t ret_bytes[KG_FRAME_HEADER_SIZE],
			   const struct kg_frame_header *h);
/* KG_EPROTO for another version or flags, KG_ELIMIT for a length over `max_bytes`. */
int kg_frame_header_read(const uint8_t bytes[KG_FRAME_HEADER_SIZE], size_t max_bytes,
			 struct kg_frame_header *ret_h, struct kg_err *err);

/* Incremental decoder: holds at most one unfinished frame, and of that no more than twice what has
 * come, whatever length was declared. Zero-initialised is ready once max_bytes is set. */
struct kg_frame_decoder {
	size_t max_bytes;
	uint8_t header[KG_FRAME_HEADER_SIZE];
	size_t header_len;
	struct kg_frame_header h;
	uint8_t *payload; /* owned */
	size_t payload_len;
	size_t payload_cap;
	int failed; /* sticky code */
};

void kg_frame_decoder_init(struct kg_frame_decoder *d, size_t max_bytes);
void kg_frame_decoder_deinit(struct kg_frame_decoder *d);

/* Takes bytes from *bytes (advancing *bytes and *len) until a frame is whole or they are used
 * up. Returns 1 with a frame, 0 when more bytes are needed, or a negative code, after which the
 * stream is lost. */
int kg_frame_decoder_feed(struct kg_frame_decoder *d, const uint8_t **bytes, size_t *len,
			  struct kg_frame *ret_frame, struct kg_err *err);

#endif
