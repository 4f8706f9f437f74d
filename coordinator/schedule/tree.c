/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/schedule/tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The finaliser of splitmix64 (Vigna, public domain, prng.di.unimi.it). */
uint64_t sched_hash_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* FNV-1a, 64 bits. */
uint64_t sched_hash_text(const char *text)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	return h;
}

static struct sched_node **place(struct sched_tree *t, struct sched_node *n)
{
	if (!n->up)
		return &t->root;
	return n->up->left == n ? &n->up->left : &n->up->right;
}

/* Turns the edge between a node and its parent: the node comes above it. */
static void rotate_up(struct sched_tree *t, struct sched_node *n)
{
	struct sched_node *p = n->up;
	struct sched_node *moved;

	*place(t, p) = n;
	n->up = p->up;
	if (p->left == n) {
		moved = n->right;
		n->right = p;
		p->left = moved;
	} else {
		moved = n->left;
		n->left = p;
		p->right = moved;
	}
	p->up = n;
	if (moved)
		moved->up = p;
}

void sched_tree_insert(struct sched_tree *t, struct sched_node *n, sched_order_fn order)
{
	struct sched_node **at = &t->root;
	struct sched_node *up = NULL;

	assert(!n->in);
	while (*at) {
		up = *at;
		at = order(n, up) < 0 ? &up->left : &up->right;
	}
	n->left = n->right = NULL;
	n->up = up;
	n->weight = (uint32_t)sched_hash_mix(t->count++);
	n->in = true;
	*at = n;
	while (n->up && n->up->weight < n->weight)
		rotate_up(t, n);
}

void sched_tree_remove(struct sched_tree *t, struct sched_node *n)
{
	struct sched_node *child;

	if (!n->in)
		return;
	while (n->left && n->right)
		rotate_up(t, n->left->weight > n->right->weight ? n->left : n->right);
	child = n->left ? n->left : n->right;
	*place(t, n) = child;
	if (child)
		child->up = n->up;
	memset(n, 0, sizeof(*n));
}

struct sched_node *sched_tree_first(const struct sched_tree *t)
{
	struct sched_node *n = t->root;

	while (n && n->left)
		n = n->left;
	return n;
}

struct sched_node *sched_tree_next(const struct sched_node *n)
{
	struct sched_node *next = n->right;

	if (next) {
		while (next->left)
			next = next->left;
		return next;
	}
	while (n->up && n->up->right == n)
		n = n->up;
	return n->up;
}

struct sched_node *sched_tree_bound(const struct sched_tree *t, sched_bound_fn bound,
				    const void *arg)
{
	struct sched_node *n = t->root;
	struct sched_node *found = NULL;

	while (n) {
		if (bound(n, arg)) {
			found = n;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	return found;
}

/* ---- hash ---- */

static struct sched_link *const *heads(const struct sched_hash *h)
{
	return h->buckets ? h->buckets : h->first;
}

static size_t bucket(uint64_t key, size_t bits)
{
	return (size_t)(sched_hash_mix(key) & (((uint64_t)1 << bits) - 1));
}

static size_t bits_of(const struct sched_hash *h)
{
	return h->bits ? h->bits : 4;
}

static void put(struct sched_link **to, struct sched_link *l, size_t bits)
{
	struct sched_link **at = &to[bucket(l->key, bits)];

	while (*at) /* the order of insertion is kept */
		at = &(*at)->next;
	l->next = NULL;
	*at = l;
}

static void grow(struct sched_hash *h)
{
	size_t bits = bits_of(h) + 2;
	struct sched_link **to = calloc((size_t)1 << bits, sizeof(struct sched_link *));
	size_t i;

	if (!to)
		return; /* chains get longer; the next insertion tries again */
	for (i = 0; i < (size_t)1 << bits_of(h); i++) {
		struct sched_link *l = heads(h)[i];

		while (l) {
			struct sched_link *next = l->next;

			put(to, l, bits);
			l = next;
		}
	}
	free(h->buckets);
	h->buckets = to;
	h->bits = bits;
}

void sched_hash_deinit(struct sched_hash *h)
{
	free(h->buckets);
	memset(h, 0, sizeof(*h));
}

void sched_hash_insert(struct sched_hash *h, struct sched_link *l, uint64_t key)
{
	if (h->n >= (size_t)1 << bits_of(h))
		grow(h);
	l->key = key;
	put(h->buckets ? h->buckets : h->first, l, bits_of(h));
	h->n++;
}

void sched_hash_remove(struct sched_hash *h, struct sched_link *l)
{
	struct sched_link **at = (h->buckets ? h->buckets : h->first);

	at = &at[bucket(l->key, bits_of(h))];
	while (*at && *at != l)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = l->next;
	l->next = NULL;
	h->n--;
}

static struct sched_link *same(struct sched_link *l, uint64_t key)
{
	while (l && l->key != key)
		l = l->next;
	return l;
}

struct sched_link *sched_hash_find(const struct sched_hash *h, uint64_t key)
{
	return same(heads(h)[bucket(key, bits_of(h))], key);
}

struct sched_link *sched_hash_again(const struct sched_link *after)
{
	return same(after->next, after->key);
}
