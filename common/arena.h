/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is freed all at once, within a budget of bytes. Small pieces are cut from blocks,
 * large ones are blocks of their own. All of it is zeroed, so that a pointer nobody set is NULL.
 */
#ifndef KG_COMMON_ARENA_H
#define KG_COMMON_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#define KG_ARENA_LARGE 1024 /* bytes from which a piece is a block of its own */

struct kg_arena_block;

/* Zero-initialised is valid, with a budget of 0; set `budget_bytes` first. */
struct kg_arena {
	struct kg_arena_block *blocks; /* owned, newest first */
	struct kg_arena_block *large;  /* owned, newest first */
	size_t held_bytes;	       /* blocks with their headers */
	size_t budget_bytes;
	bool over;   /* a request went over the budget */
	bool failed; /* the system had no memory */
};

void kg_arena_init(struct kg_arena *a, size_t budget_bytes);
void kg_arena_deinit(struct kg_arena *a);

/* Aligned for any type and zeroed. NULL: over the budget (then `over` is set) or out of memory. */
void *kg_arena_alloc(struct kg_arena *a, size_t size);
/* NUL-terminated copy of `len` bytes, or NULL. */
char *kg_arena_text(struct kg_arena *a, const char *bytes, size_t len);
/* Gives a large piece back early, if it is one of the latest; otherwise the piece stays until
 * kg_arena_deinit. Never reads what `piece` points at: any pointer is fine. */
void kg_arena_give_back(struct kg_arena *a, const void *piece);

#endif
