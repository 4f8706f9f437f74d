/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of words against each other: command lines and LSM lists. Pure. */
#ifndef KG_COORDINATOR_REPORT_WORDS_H
#define KG_COORDINATOR_REPORT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct words {
	char *text;   /* owned */
	char **items; /* owned array, borrow from text */
	size_t n;
};

void words_deinit(struct words *w);
/* Command line, as the kernel splits it; kgrid.boot= is left out, as it differs at every boot. -ENOMEM */
int words_cmdline(struct words *w, const char *line);
/* "a,b,c"; blanks and empty names are left out. -ENOMEM */
int words_list(struct words *w, const char *list);

/* Length of a command line word's key: up to "=", or all of it. */
size_t word_key(const char *word);
bool word_key_is(const char *word, const char *key); /* a dash equals an underscore */
/* How many words before `i` have the key of word `i`. */
size_t word_earlier(const struct words *w, size_t i);

/* Marks, as multisets, what only one side has: a_only[a->n], b_only[b->n], both owned by the caller.
 * -ENOMEM */
int words_compare(const struct words *a, const struct words *b, bool *a_only, bool *b_only);
/* Whether the words that both sides have stand in another order. */
bool words_reordered(const struct words *a, const struct words *b, const bool *a_only,
		     const bool *b_only);

#endif
