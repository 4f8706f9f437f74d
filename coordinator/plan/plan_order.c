/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of a machine's boots: all that depends on the seed. */
#include "coordinator/plan/plan_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

/* splitmix64 and xoshiro256** by David Blackman and Sebastiano Vigna, in the public domain:
 * https://prng.di.unimi.it/splitmix64.c and xoshiro256starstar.c */
static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

struct prng {
	uint64_t s[4];
};

static uint64_t rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint64_t prng_next(struct prng *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

/* FNV-1a, 64 bit (draft-eastlake-fnv): mixes the machine's name into the seed. */
static uint64_t fnv1a(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

static void prng_init(struct prng *r, uint64_t seed, const char *machine, uint32_t block)
{
	uint64_t state = seed;
	int i;

	state = splitmix(&state) ^ fnv1a(machine);
	state = splitmix(&state) ^ block;
	for (i = 0; i < 4; i++)
		r->s[i] = splitmix(&state);
}

/* Evenly from 0 to n - 1, by rejection. */
static uint64_t prng_below(struct prng *r, uint64_t n)
{
	uint64_t threshold = (UINT64_C(0) - n) % n;
	uint64_t x;

	do
		x = prng_next(r);
	while (x < threshold);
	return x % n;
}

static void shuffle(struct prng *r, size_t *items, size_t n)
{
	size_t i;

	for (i = n; i > 1; i--) {
		size_t k = (size_t)prng_below(r, i);
		size_t t = items[i - 1];

		items[i - 1] = items[k];
		items[k] = t;
	}
}

/* ---- visits ---- */

static void call(const struct plan_visits *v, size_t group, uint32_t block, size_t position,
		 uint32_t visit)
{
	const struct plan_slot at = {
		.block = block, .visit = visit, .position = (uint32_t)position};

	v->boot(v->arg, group, &at, position == 1 || position == v->n);
}

/* Each permutation starts from the file's order: it depends on no other block. */
static void visit_block(const struct plan_visits *v, uint32_t block, uint32_t *visit)
{
	struct prng r;
	size_t i;

	for (i = 0; i < v->n; i++)
		v->scratch[i] = i;
	if (v->order != JOB_GROUPED) {
		prng_init(&r, v->seed, v->machine, block);
		shuffle(&r, v->scratch, v->n_normal);
		shuffle(&r, v->scratch + v->n_normal, v->n - v->n_normal);
	}
	for (i = 0; i < v->n; i++)
		call(v, v->scratch[i], block, i + 1, ++*visit);
}

void plan_visit(const struct plan_visits *v)
{
	uint32_t visit = v->last_visit;
	uint32_t k;
	size_t i;

	if (v->order == JOB_GROUPED && v->first_block == 1) {
		for (i = 0; i < v->n; i++)
			for (k = 0; k < v->n_blocks; k++)
				call(v, i, k + 1, i + 1, ++visit);
		return;
	}
	for (k = 0; k < v->n_blocks; k++)
		visit_block(v, v->first_block + k, &visit);
}
