/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages <-> bytes, with a memory budget. protobuf-c 1.4.1 leaves unknown_fields of a message
 * uninitialised when unpacking fails half-way (fixed in 1.5.1) and amplifies small inputs up to
 * 48 times; both are met here: a failed unpack is released by the budget, never by walking the
 * message, and memory is counted per message.
 */
#ifndef KG_PROTO_CODEC_H
#define KG_PROTO_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "common/err.h"

struct kg_msg; /* a decoded message and all of its memory */

/* Memory that decoding `len` bytes may take. The constant part leaves room for short messages that
 * grow honestly (an empty table cell is 6 bytes on the wire and 200 in memory); one message at a
 * time is decoded, so it is not multiplied by connections. */
#define KG_MSG_BUDGET(len) (8 * (size_t)(len) + 1024 * 1024)

/* Decodes a payload of message type `type` (proto/messages.h). Memory is at most KG_MSG_BUDGET;
 * more is KG_ELIMIT. Unknown type, undecodable, or a string that is not UTF-8: KG_EPROTO. */
int kg_msg_decode(uint16_t type, const uint8_t *payload, size_t len, struct kg_msg **ret_msg,
		  struct kg_err *err);
void kg_msg_free(struct kg_msg *m); /* frees the message and everything in it */
const ProtobufCMessage *kg_msg_body(const struct kg_msg *m); /* borrows */
uint16_t kg_msg_type(const struct kg_msg *m);
size_t kg_msg_memory(const struct kg_msg *m); /* bytes held */

/* Same for the payload of a whole reply, from a coordinator that one trusts: at most KG_REPLY_MAX
 * bytes, and memory of KG_REPLY_BUDGET. Empty cells grow most: from 6 bytes to some 300. */
#define KG_REPLY_BUDGET(len) (64 * (size_t)(len) + 1024 * 1024)
int kg_msg_decode_reply(uint16_t type, const uint8_t *payload, size_t len, struct kg_msg **ret_msg,
			struct kg_err *err);

/* A copy that outlives the message it is made of. -ENOMEM, or as kg_msg_decode. */
int kg_msg_copy(uint16_t type, const ProtobufCMessage *body, struct kg_msg **ret_msg,
		struct kg_err *err);

/* Whole frame (header and payload) of a message, owned (free). KG_ELIMIT over KG_FRAME_MAX. Bytes
 * in strings that are not UTF-8 (a kernel's or a program's words) become '?', because the peer
 * would refuse the whole message. */
int kg_msg_encode(uint16_t type, uint32_t id, const ProtobufCMessage *body, uint8_t **ret_bytes,
		  size_t *ret_len, struct kg_err *err);

/* Calls `put` with the frames of a reply: its own, or, when it is larger than KG_FRAME_MAX, those of
 * its parts in order. `put` takes the bytes always; the first code below 0 that it returns ends it.
 * KG_ELIMIT over KG_REPLY_MAX. */
typedef int (*kg_msg_put_fn)(void *arg, uint8_t *bytes, size_t len);
int kg_msg_encode_reply(uint16_t type, uint32_t id, const ProtobufCMessage *body, kg_msg_put_fn put,
			void *arg, struct kg_err *err);

#endif
