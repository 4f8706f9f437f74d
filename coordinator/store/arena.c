/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/store/arena.h"

#include <stdint.h>
#include <string.h>

void arena_deinit(struct arena *a)
{
	kg_arena_deinit(&a->mem);
	a->failed = false;
}

size_t arena_bytes(const struct arena *a)
{
	return a->mem.held_bytes;
}

void *arena_alloc(struct arena *a, size_t n, size_t size)
{
	size_t len;
	void *p = NULL;

	a->mem.budget_bytes = SIZE_MAX;
	if (!a->failed && !__builtin_mul_overflow(n, size, &len))
		p = kg_arena_alloc(&a->mem, len);
	if (!p)
		a->failed = true;
	return p;
}

void *arena_copy(struct arena *a, const void *src, size_t n, size_t size)
{
	void *p = arena_alloc(a, n, size);

	if (p && n && size)
		memcpy(p, src, n * size);
	return p;
}

const char *arena_text(struct arena *a, const char *s)
{
	return s ? arena_copy(a, s, strlen(s) + 1, 1) : NULL;
}

void *arena_push(struct arena *a, void *items, size_t *n, size_t size)
{
	unsigned char *base;

	memcpy(&base, items, sizeof(base)); /* whatever type the pointer has */
	if ((*n & (*n - 1)) == 0) {	    /* 0 or a power of two: full */
		unsigned char *grown = arena_alloc(a, *n ? 2 * *n : 1, size);

		if (!grown)
			return NULL;
		if (*n)
			memcpy(grown, base, *n * size);
		base = grown;
		memcpy(items, &base, sizeof(base));
	}
	return base + (*n)++ * size;
}

/* ---- deep copy by descriptor ---- */

static size_t element_size(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
	case PROTOBUF_C_TYPE_ENUM:
		return 4;
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return 8;
	}
}

/* `at` holds one value that still points into the original. */
static void own_value(struct arena *a, ProtobufCType type, void *at)
{
	void **p = at;

	if (type == PROTOBUF_C_TYPE_STRING && *p) {
		*p = arena_copy(a, *p, strlen(*p) + 1, 1);
	} else if (type == PROTOBUF_C_TYPE_MESSAGE && *p) {
		*p = arena_message(a, *p);
	} else if (type == PROTOBUF_C_TYPE_BYTES) {
		ProtobufCBinaryData *b = at;

		if (b->data)
			b->data = arena_copy(a, b->data, b->len, 1);
	}
}

static void own_field(struct arena *a, const ProtobufCFieldDescriptor *f, unsigned char *m)
{
	unsigned char *at = m + f->offset;
	size_t size = element_size(f->type), n;

	if (f->label != PROTOBUF_C_LABEL_REPEATED) {
		bool oneof = (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;

		if (oneof && *(uint32_t *)(void *)(m + f->quantifier_offset) != f->id)
			return;
		own_value(a, f->type, at);
		return;
	}
	n = *(size_t *)(void *)(m + f->quantifier_offset);
	if (n == 0)
		return;
	*(void **)(void *)at = arena_copy(a, *(void **)(void *)at, n, size);
	if (a->failed)
		return;
	for (size_t i = 0; i < n; i++)
		own_value(a, f->type, *(unsigned char **)(void *)at + i * size);
}

void *arena_message(struct arena *a, const ProtobufCMessage *m)
{
	const ProtobufCMessageDescriptor *d = m->descriptor;
	ProtobufCMessage *copy = arena_copy(a, m, 1, d->sizeof_message);

	if (!copy)
		return NULL;
	copy->n_unknown_fields = 0;
	copy->unknown_fields = NULL;
	for (unsigned i = 0; i < d->n_fields; i++)
		own_field(a, &d->fields[i], (unsigned char *)copy);
	return a->failed ? NULL : copy;
}
