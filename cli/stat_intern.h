/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts and tuples of numbers as small numbers, counted from 0 in order of appearance. Looking up
 * what was looked up last is a comparison; else a hash.
 */
#ifndef KG_CLI_STAT_INTERN_H
#define KG_CLI_STAT_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern_text {
	const char *text; /* borrows; not NUL-terminated */
	size_t len;
};

/* Zero-initialised is valid and empty. */
struct intern {
	struct intern_text *texts; /* owned array, the texts are borrowed */
	size_t n, cap;
	uint32_t *slots; /* owned; number + 1, 0: free */
	size_t n_slots;	 /* a power of two */
	uint32_t last;
};

/* The bytes must outlive `t`. */
uint32_t intern_add(struct intern *t, const char *text, size_t len);
void intern_deinit(struct intern *t);

#define INTERN_TUPLE_MAX 8

/* Tuples of `width` <= INTERN_TUPLE_MAX numbers; set width before the first use. */
struct intern_tuples {
	size_t width;
	uint32_t *items; /* owned; n * width */
	size_t n, cap;
	uint32_t *slots; /* owned */
	size_t n_slots;
	uint32_t last;
};

uint32_t intern_tuple(struct intern_tuples *t, const uint32_t *tuple);
void intern_tuples_deinit(struct intern_tuples *t);

#endif
