/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an operation or a snapshot holds, given back all at once: copies of texts, arrays, messages. */
#ifndef KG_COORDINATOR_STORE_ARENA_H
#define KG_COORDINATOR_STORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

#include "common/arena.h"

/* Zero-initialised is ready. A failed allocation sets `failed`; callers check once at the end. */
struct arena {
	struct kg_arena mem;
	bool failed;
};

void arena_deinit(struct arena *a);
size_t arena_bytes(const struct arena *a); /* held */
/* Zeroed; NULL sets failed. n * size is checked. */
void *arena_alloc(struct arena *a, size_t n, size_t size);
void *arena_copy(struct arena *a, const void *p, size_t n, size_t size);
const char *arena_text(struct arena *a, const char *s); /* NULL stays NULL */
/* Deep copy of a message without its unknown fields; never free it as a message. */
void *arena_message(struct arena *a, const ProtobufCMessage *m);

/* Growing array, capacity doubling: makes room for one more of `size` bytes and returns it zeroed.
 * *items is moved. NULL sets failed. Start with *items NULL and *n 0. */
void *arena_push(struct arena *a, void *items, size_t *n, size_t size);

#endif
