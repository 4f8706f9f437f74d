/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proto/codec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/str.h"
#include "proto/frame.h"
#include "proto/messages.h"

#define PART_BYTES (512 * 1024)

struct kg_msg {
	uint16_t type;
	struct kg_arena arena;
	ProtobufCMessage *body; /* in the arena */
};

/* protobuf-c's allocator over the arena. A failed unpack makes protobuf-c walk the half-made
 * message and free what it finds: the arena's memory is zeroed, so what was never set is NULL, and
 * giving back an unknown pointer does nothing. Only the large scratch arrays that unpacking frees
 * again are worth giving back. */
static void *arena_alloc(void *data, size_t size)
{
	return kg_arena_alloc(data, size);
}

static void arena_free(void *data, void *piece)
{
	if (piece)
		kg_arena_give_back(data, piece);
}

static void *field_at(const ProtobufCMessage *m, size_t offset)
{
	return (void *)((uintptr_t)m + offset);
}

/* Whether a field of a oneof is the one that is set. */
static bool is_chosen(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	if (!(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
		return true;
	return *(const uint32_t *)field_at(m, f->quantifier_offset) == f->id;
}

/* Called for every message and string until one returns something else than 0. */
struct visitor {
	int (*message)(const ProtobufCMessage *m, struct kg_err *err); /* may be NULL */
	int (*string)(const ProtobufCFieldDescriptor *f, char *text, struct kg_err *err);
	struct kg_err *err;
};

/* Recursion ends: no message type contains itself (a test looks). */
static int visit_all(const ProtobufCMessage *m, const struct visitor *v)
{
	int rc = v->message ? v->message(m, v->err) : 0;
	unsigned i;

	for (i = 0; i < m->descriptor->n_fields && rc == 0; i++) {
		const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
		bool repeated = f->label == PROTOBUF_C_LABEL_REPEATED;
		size_t n = 1, j;
		void **items;

		if ((f->type != PROTOBUF_C_TYPE_STRING && f->type != PROTOBUF_C_TYPE_MESSAGE) ||
		    !is_chosen(m, f))
			continue;
		items = field_at(m, f->offset);
		if (repeated) {
			n = *(const size_t *)field_at(m, f->quantifier_offset);
			items = *(void ***)items;
		}
		for (j = 0; j < n && rc == 0; j++) {
			if (!items[j] || (!repeated && items[j] == f->default_value))
				continue;
			rc = f->type == PROTOBUF_C_TYPE_STRING ? v->string(f, items[j], v->err)
							       : visit_all(items[j], v);
		}
	}
	return rc;
}

/* No field has the number 0; protobuf-c takes it when its tag is written in more bytes than needed. */
static int refuse_field_zero(const ProtobufCMessage *m, struct kg_err *err)
{
	size_t i;

	for (i = 0; i < m->n_unknown_fields; i++)
		if (m->unknown_fields[i].tag == 0)
			return kg_err_set(err, KG_EPROTO, "field with the number 0");
	return 0;
}

static int refuse_not_utf8(const ProtobufCFieldDescriptor *f, char *text, struct kg_err *err)
{
	if (kg_utf8_valid(text, strlen(text)))
		return 0;
	return kg_err_set(err, KG_EPROTO, "field '%s' is not UTF-8", f->name);
}

static int replace_not_utf8(const ProtobufCFieldDescriptor *f, char *text, struct kg_err *err)
{
	size_t left = strlen(text);
	size_t n;

	(void)f;
	(void)err;
	while (left > 0) {
		for (n = 1; n <= 4 && n <= left; n++)
			if (kg_utf8_valid(text, n))
				break;
		if (n > 4 || n > left) {
			*text = '?';
			n = 1;
		}
		text += n;
		left -= n;
	}
	return 0;
}

static int unpack(const struct kg_msg_info *info, const uint8_t *payload, size_t len, size_t budget,
		  struct kg_msg **ret_msg, struct kg_err *err)
{
	struct kg_msg *m = calloc(1, sizeof(*m));
	ProtobufCAllocator allocator = {.alloc = arena_alloc, .free = arena_free};
	int rc;

	if (!m)
		return kg_err_set(err, -ENOMEM, "out of memory");
	m->type = info->type;
	kg_arena_init(&m->arena, budget);
	allocator.allocator_data = &m->arena;
	m->body = protobuf_c_message_unpack(info->descriptor, &allocator, len, payload);
	if (m->body) {
		*ret_msg = m;
		return 0;
	}
	if (m->arena.over)
		rc = kg_err_set(err, KG_ELIMIT,
				"%s of %zu bytes needs more than %zu bytes of memory", info->name,
				len, budget);
	else if (m->arena.failed)
		rc = kg_err_set(err, -ENOMEM, "out of memory");
	else
		rc = kg_err_set(err, KG_EPROTO, "%s of %zu bytes cannot be decoded", info->name,
				len);
	kg_msg_free(m);
	return rc;
}

static int decode(uint16_t type, const uint8_t *payload, size_t len, size_t max, size_t budget,
		  struct kg_msg **ret_msg, struct kg_err *err)
{
	const struct kg_msg_info *info = kg_msg_find(type);
	struct kg_err why = {{0}};
	const struct visitor check = {refuse_field_zero, refuse_not_utf8, &why};
	struct kg_msg *m;
	int rc;

	if (!info)
		return kg_err_set(err, KG_EPROTO, "unknown message type %u", type);
	if (len > max)
		return kg_err_set(err, KG_ELIMIT, "%s of %zu bytes, at most %zu", info->name, len,
				  max);
	rc = unpack(info, payload, len, budget, &m, err);
	if (rc < 0)
		return rc;
	rc = visit_all(m->body, &check);
	if (rc < 0) {
		kg_msg_free(m);
		return kg_err_set(err, rc, "%s: %s", info->name, why.text);
	}
	*ret_msg = m;
	return 0;
}

int kg_msg_decode(uint16_t type, const uint8_t *payload, size_t len, struct kg_msg **ret_msg,
		  struct kg_err *err)
{
	return decode(type, payload, len, KG_FRAME_MAX, KG_MSG_BUDGET(len), ret_msg, err);
}

int kg_msg_decode_reply(uint16_t type, const uint8_t *payload, size_t len, struct kg_msg **ret_msg,
			struct kg_err *err)
{
	return decode(type, payload, len, KG_REPLY_MAX, KG_REPLY_BUDGET(len), ret_msg, err);
}

void kg_msg_free(struct kg_msg *m)
{
	if (!m)
		return;
	kg_arena_deinit(&m->arena);
	free(m);
}

const ProtobufCMessage *kg_msg_body(const struct kg_msg *m)
{
	return m->body;
}

uint16_t kg_msg_type(const struct kg_msg *m)
{
	return m->type;
}

size_t kg_msg_memory(const struct kg_msg *m)
{
	return sizeof(*m) + m->arena.held_bytes;
}

static int pack(const struct kg_msg_info *info, uint32_t id, const ProtobufCMessage *body,
		size_t max, uint8_t **ret_bytes, size_t *ret_len, struct kg_err *err)
{
	size_t size = protobuf_c_message_get_packed_size(body);
	struct kg_frame_header h = {.type = info->type, .id = id};
	uint8_t *bytes;

	if (size > max)
		return kg_err_set(err, KG_ELIMIT, "%s of %zu bytes does not fit into a %s of %zu",
				  info->name, size, max > KG_FRAME_MAX ? "reply" : "frame", max);
	bytes = malloc(KG_FRAME_HEADER_SIZE + size);
	if (!bytes)
		return kg_err_set(err, -ENOMEM, "out of memory");
	h.len_bytes = (uint32_t)size;
	kg_frame_header_write(bytes, &h);
	if (size > 0)
		(void)protobuf_c_message_pack(body, bytes + KG_FRAME_HEADER_SIZE);
	*ret_bytes = bytes;
	*ret_len = KG_FRAME_HEADER_SIZE + size;
	return 0;
}

/* The same frame with '?' for bytes that are not UTF-8: `body` is not ours to change, so a copy of
 * it, which the packed bytes give, is changed and packed again. Rare. */
static int pack_cleaned(const struct kg_msg_info *info, uint32_t id, size_t max, uint8_t **bytes,
			size_t *len, struct kg_err *err)
{
	const struct visitor clean = {NULL, replace_not_utf8, NULL};
	struct kg_msg *copy;
	int rc = unpack(info, *bytes + KG_FRAME_HEADER_SIZE, *len - KG_FRAME_HEADER_SIZE, SIZE_MAX,
			&copy, err);

	free(*bytes);
	*bytes = NULL;
	if (rc < 0)
		return rc;
	(void)visit_all(copy->body, &clean);
	rc = pack(info, id, copy->body, max, bytes, len, err);
	kg_msg_free(copy);
	return rc;
}

static int encode(uint16_t type, uint32_t id, const ProtobufCMessage *body, size_t max,
		  uint8_t **ret_bytes, size_t *ret_len, struct kg_err *err)
{
	const struct kg_msg_info *info = kg_msg_find(type);
	const struct visitor check = {NULL, refuse_not_utf8, NULL};
	uint8_t *bytes;
	size_t len;
	int rc;

	if (!info || body->descriptor != info->descriptor)
		return kg_err_set(err, KG_EPROTO, "message does not belong to type %u", type);
	rc = pack(info, id, body, max, &bytes, &len, err);
	if (rc == 0 && visit_all(body, &check) < 0)
		rc = pack_cleaned(info, id, max, &bytes, &len, err);
	if (rc < 0)
		return rc;
	*ret_bytes = bytes;
	*ret_len = len;
	return 0;
}

int kg_msg_encode(uint16_t type, uint32_t id, const ProtobufCMessage *body, uint8_t **ret_bytes,
		  size_t *ret_len, struct kg_err *err)
{
	return encode(type, id, body, KG_FRAME_MAX, ret_bytes, ret_len, err);
}

static int put_part(uint16_t type, uint32_t id, const uint8_t *data, size_t len, bool last,
		    kg_msg_put_fn put, void *arg, struct kg_err *err)
{
	Kgrid__V1__ReplyPart part = KGRID__V1__REPLY_PART__INIT;
	uint8_t *bytes;
	size_t n;
	int rc;

	part.has_type = part.has_data = part.has_last = 1;
	part.type = type;
	part.data = (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)data, .len = len};
	part.last = last;
	rc = kg_msg_encode(KG_MSG_REPLY_PART, id, &part.base, &bytes, &n, err);
	return rc < 0 ? rc : put(arg, bytes, n);
}

int kg_msg_encode_reply(uint16_t type, uint32_t id, const ProtobufCMessage *body, kg_msg_put_fn put,
			void *arg, struct kg_err *err)
{
	uint8_t *bytes = NULL;
	size_t len = 0, at;
	int rc = encode(type, id, body, KG_REPLY_MAX, &bytes, &len, err);

	if (rc < 0)
		return rc;
	if (len <= KG_FRAME_HEADER_SIZE + KG_FRAME_MAX)
		return put(arg, bytes, len);
	for (at = KG_FRAME_HEADER_SIZE; rc >= 0 && at < len; at += PART_BYTES) {
		size_t n = len - at < PART_BYTES ? len - at : PART_BYTES;

		rc = put_part(type, id, bytes + at, n, at + n == len, put, arg, err);
	}
	free(bytes);
	return rc < 0 ? rc : 0;
}

int kg_msg_copy(uint16_t type, const ProtobufCMessage *body, struct kg_msg **ret_msg,
		struct kg_err *err)
{
	size_t len = protobuf_c_message_get_packed_size(body);
	uint8_t *bytes = malloc(len ? len : 1);
	int rc;

	if (!bytes)
		return kg_err_set(err, -ENOMEM, "out of memory");
	(void)protobuf_c_message_pack(body, bytes);
	rc = kg_msg_decode(type, bytes, len, ret_msg, err);
	free(bytes);
	return rc;
}
