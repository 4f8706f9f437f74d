/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/proto/fill.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t value_size(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return 4;
	}
}

static void fill_value(struct kg_arena *a, const ProtobufCFieldDescriptor *f, unsigned v, void *at)
{
	char text[64];
	double d;

	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
		(void)snprintf(text, sizeof(text), "%s \xc3\xa4 %u", f->name, v);
		*(char **)at = kg_arena_text(a, text, strlen(text));
		assert(*(char **)at);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		*(ProtobufCMessage **)at = fill_message(a, f->descriptor, v);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		((ProtobufCBinaryData *)at)->len = 1 + v % 7;
		((ProtobufCBinaryData *)at)->data = kg_arena_alloc(a, 1 + v % 7);
		assert(((ProtobufCBinaryData *)at)->data);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		d = v * 1.25;
		memcpy(at, &d, sizeof(d));
		break;
	case PROTOBUF_C_TYPE_BOOL:
		*(protobuf_c_boolean *)at = v % 2;
		break;
	default:
		if (value_size(f->type) == 8)
			*(uint64_t *)at = v % 3 ? v : UINT64_MAX - v;
		else
			*(uint32_t *)at = v;
	}
}

ProtobufCMessage *fill_message(struct kg_arena *a, const ProtobufCMessageDescriptor *d,
			       unsigned variant)
{
	char *m = kg_arena_alloc(a, d->sizeof_message);
	unsigned i;

	assert(m);
	d->message_init((ProtobufCMessage *)m);
	for (i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];
		size_t n = 1 + variant % 3, j;
		char *items;

		if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
			if (*(uint32_t *)(m + f->quantifier_offset) != 0 ||
			    (i + 1 < d->n_fields && (variant + i) % 7 != 0 &&
			     d->fields[i + 1].flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
				continue;
			*(uint32_t *)(m + f->quantifier_offset) = f->id;
			fill_value(a, f, variant + i, m + f->offset);
		} else if (f->label == PROTOBUF_C_LABEL_REPEATED) {
			items = kg_arena_alloc(a, n * value_size(f->type));
			assert(items);
			for (j = 0; j < n; j++)
				fill_value(a, f, variant + (unsigned)j,
					   items + j * value_size(f->type));
			*(size_t *)(m + f->quantifier_offset) = n;
			*(void **)(m + f->offset) = items;
		} else {
			if (f->type != PROTOBUF_C_TYPE_STRING && f->type != PROTOBUF_C_TYPE_MESSAGE)
				*(protobuf_c_boolean *)(m + f->quantifier_offset) = 1;
			fill_value(a, f, variant + i, m + f->offset);
		}
	}
	return (ProtobufCMessage *)m;
}
