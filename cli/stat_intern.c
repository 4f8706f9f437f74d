/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stat_intern.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define SLOTS_FIRST 64

/* Multiply and fold, 8 bytes a step: files are no adversaries, and long runs of the same text never
 * come here. */
static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 29);
}

static uint64_t hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t h = len * UINT64_C(0xbf58476d1ce4e5b9);
	uint64_t v;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = mix(h, v);
	}
	v = 0;
	memcpy(&v, p, len);
	h = mix(h, v);
	return mix(h, h >> 32);
}

/* Doubles a table that is half full; `hash_of` gives the hash of an entry. */
static void slots_grow(uint32_t **slots, size_t *n_slots, size_t n,
		       uint64_t (*hash_of)(const void *table, size_t i), const void *table)
{
	size_t size = *n_slots ? 2 * *n_slots : SLOTS_FIRST;

	free(*slots);
	*slots = cli_alloc(size, sizeof(**slots));
	*n_slots = size;
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)hash_of(table, i) & (size - 1);

		while ((*slots)[at])
			at = (at + 1) & (size - 1);
		(*slots)[at] = (uint32_t)i + 1;
	}
}

static uint64_t text_hash(const void *table, size_t i)
{
	const struct intern *t = table;

	return hash_bytes(t->texts[i].text, t->texts[i].len);
}

uint32_t intern_add(struct intern *t, const char *text, size_t len)
{
	size_t at;

	if (t->n > 0 && t->texts[t->last].len == len &&
	    memcmp(t->texts[t->last].text, text, len) == 0)
		return t->last;
	if (2 * t->n >= t->n_slots)
		slots_grow(&t->slots, &t->n_slots, t->n, text_hash, t);
	at = (size_t)hash_bytes(text, len) & (t->n_slots - 1);
	for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1)) {
		uint32_t i = t->slots[at] - 1;

		if (t->texts[i].len == len && memcmp(t->texts[i].text, text, len) == 0)
			return t->last = i;
	}
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16;
		t->texts = cli_grow(t->texts, t->cap, sizeof(*t->texts));
	}
	t->texts[t->n] = (struct intern_text){text, len};
	t->last = (uint32_t)t->n++;
	t->slots[at] = t->last + 1;
	return t->last;
}

void intern_deinit(struct intern *t)
{
	free(t->texts);
	free(t->slots);
	*t = (struct intern){0};
}

static uint64_t tuple_hash(const void *table, size_t i)
{
	const struct intern_tuples *t = table;

	return hash_bytes(&t->items[i * t->width], t->width * sizeof(*t->items));
}

uint32_t intern_tuple(struct intern_tuples *t, const uint32_t *tuple)
{
	size_t bytes = t->width * sizeof(*tuple);
	size_t at;

	if (t->n > 0 && memcmp(&t->items[t->last * t->width], tuple, bytes) == 0)
		return t->last;
	if (2 * t->n >= t->n_slots)
		slots_grow(&t->slots, &t->n_slots, t->n, tuple_hash, t);
	at = (size_t)hash_bytes(tuple, bytes) & (t->n_slots - 1);
	for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1)) {
		uint32_t i = t->slots[at] - 1;

		if (memcmp(&t->items[i * t->width], tuple, bytes) == 0)
			return t->last = i;
	}
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16;
		t->items = cli_grow(t->items, t->cap * t->width, sizeof(*t->items));
	}
	memcpy(&t->items[t->n * t->width], tuple, bytes);
	t->last = (uint32_t)t->n++;
	t->slots[at] = t->last + 1;
	return t->last;
}

void intern_tuples_deinit(struct intern_tuples *t)
{
	free(t->items);
	free(t->slots);
	*t = (struct intern_tuples){.width = t->width};
}
