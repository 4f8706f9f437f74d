/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ordered sets and hash tables whose nodes lie inside what they hold, so that putting in and taking
 * out never allocates and never fails. PURE.
 *
 * Tree: a treap (Aragon and Seidel, "Randomized search trees", 1989): expected O(log n); its weights
 * come from a counter, so that the same events give the same tree.
 * Hash: chains; the array of buckets grows when memory allows, else chains get longer.
 */
#ifndef KG_SCHEDULE_TREE_H
#define KG_SCHEDULE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_node {
	struct sched_node *left, *right, *up;
	uint32_t weight;
	bool in; /* in a tree */
};

struct sched_tree {
	struct sched_node *root;
	uint32_t count; /* of insertions ever */
};

/* Below 0: a before b. Never 0 for two different nodes. */
typedef int (*sched_order_fn)(const struct sched_node *a, const struct sched_node *b);
/* Whether the node lies at or behind what `arg` says; monotone over the order. */
typedef bool (*sched_bound_fn)(const struct sched_node *n, const void *arg);

void sched_tree_insert(struct sched_tree *t, struct sched_node *n, sched_order_fn order);
void sched_tree_remove(struct sched_tree *t, struct sched_node *n);
/* NULL: empty, or the last. */
struct sched_node *sched_tree_first(const struct sched_tree *t);
struct sched_node *sched_tree_next(const struct sched_node *n);
/* First node for which `bound` is true. */
struct sched_node *sched_tree_bound(const struct sched_tree *t, sched_bound_fn bound,
				    const void *arg);

struct sched_link {
	struct sched_link *next;
	uint64_t key;
};

#define SCHED_HASH_FIRST 16

struct sched_hash {
	struct sched_link *first[SCHED_HASH_FIRST];
	struct sched_link **buckets; /* owned; NULL: `first` */
	size_t bits, n;		     /* bits 0: not used yet */
};

void sched_hash_deinit(struct sched_hash *h);
void sched_hash_insert(struct sched_hash *h, struct sched_link *l, uint64_t key);
void sched_hash_remove(struct sched_hash *h, struct sched_link *l);
/* First of those with this key, or with the same bucket behind `after`; NULL: none. */
struct sched_link *sched_hash_find(const struct sched_hash *h, uint64_t key);
struct sched_link *sched_hash_again(const struct sched_link *after);
uint64_t sched_hash_text(const char *text);
uint64_t sched_hash_mix(uint64_t x);

#define sched_owner(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define sched_const_owner(ptr, type, member) \
	((const type *)(const void *)((const char *)(ptr)-offsetof(type, member)))

#endif
