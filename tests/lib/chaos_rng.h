/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KG_TESTS_CHAOS_RNG_H
#define KG_TESTS_CHAOS_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct chaos_rng {
	uint64_t state;
};

static inline uint64_t chaos_below(struct chaos_rng *r, uint64_t n)
{
	uint64_t x = (r->state += 0x9e3779b97f4a7c15u);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (x ^ (x >> 31)) % n;
}

static inline bool chaos_one_in(struct chaos_rng *r, uint64_t n)
{
	return chaos_below(r, n) == 0;
}

#endif
