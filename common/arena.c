/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN	256
#define BLOCK_MAX	(32 * 1024)
#define GIVE_BACK_STEPS 64 /* keeps a hostile order of frees from costing quadratic time */

struct kg_arena_block {
	struct kg_arena_block *next;
	size_t size; /* of data */
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

void kg_arena_init(struct kg_arena *a, size_t budget_bytes)
{
	memset(a, 0, sizeof(*a));
	a->budget_bytes = budget_bytes;
}

static void free_list(struct kg_arena_block *b)
{
	while (b) {
		struct kg_arena_block *next = b->next;

		free(b);
		b = next;
	}
}

void kg_arena_deinit(struct kg_arena *a)
{
	free_list(a->blocks);
	free_list(a->large);
	memset(a, 0, sizeof(*a));
}

/* A block with room for `size` bytes, and up to `wish` where the budget allows. */
static struct kg_arena_block *block_new(struct kg_arena *a, size_t size, size_t wish)
{
	size_t left = a->budget_bytes > a->held_bytes ? a->budget_bytes - a->held_bytes : 0;
	struct kg_arena_block *b;

	if (left < sizeof(*b) || size > left - sizeof(*b)) {
		a->over = true;
		return NULL;
	}
	if (wish > left - sizeof(*b))
		wish = left - sizeof(*b);
	if (wish > size)
		size = wish;
	b = calloc(1, sizeof(*b) + size);
	if (!b) {
		a->failed = true;
		return NULL;
	}
	b->size = size;
	a->held_bytes += sizeof(*b) + size;
	return b;
}

void *kg_arena_alloc(struct kg_arena *a, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct kg_arena_block *b = a->blocks;
	size_t wish;
	void *p;

	if (size > SIZE_MAX / 2) {
		a->over = true;
		return NULL;
	}
	size = size ? (size + align - 1) / align * align : align;
	if (size >= KG_ARENA_LARGE) {
		b = block_new(a, size, 0);
		if (!b)
			return NULL;
		b->next = a->large;
		a->large = b;
		return b->data;
	}
	if (!b || b->size - b->used < size) {
		wish = b ? 2 * b->size : BLOCK_MIN;
		b = block_new(a, size, wish < BLOCK_MAX ? wish : BLOCK_MAX);
		if (!b)
			return NULL;
		b->next = a->blocks;
		a->blocks = b;
	}
	p = b->data + b->used;
	b->used += size;
	return p;
}

char *kg_arena_text(struct kg_arena *a, const char *bytes, size_t len)
{
	char *p = len < SIZE_MAX ? kg_arena_alloc(a, len + 1) : NULL;

	if (p && len > 0)
		memcpy(p, bytes, len);
	return p;
}

void kg_arena_give_back(struct kg_arena *a, const void *piece)
{
	struct kg_arena_block **at = &a->large;
	int steps;

	for (steps = 0; *at && steps < GIVE_BACK_STEPS; steps++, at = &(*at)->next) {
		struct kg_arena_block *b = *at;

		if (b->data != piece)
			continue;
		*at = b->next;
		a->held_bytes -= sizeof(*b) + b->size;
		free(b);
		return;
	}
}
