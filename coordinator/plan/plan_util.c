/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory, texts and tables of the planner. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

int plan_no_memory(struct kg_err *err)
{
	return kg_err_set(err, -ENOMEM, "out of memory");
}

const char *plan_text(struct plan_builder *b, const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	kg_utf8_mend(text);
	return kg_arena_text(b->memory, text, strlen(text));
}

const char *plan_keep(struct plan_builder *b, const char *text)
{
	return kg_arena_text(b->memory, text, strlen(text));
}

void *plan_scratch(struct plan_builder *b, size_t n, size_t size)
{
	if (n > SIZE_MAX / 4 / size)
		return NULL;
	return kg_arena_alloc(&b->scratch, n * size);
}

int plan_grow(void **items, size_t *size, size_t n, size_t item_bytes)
{
	size_t want = *size ? *size : 16;
	void *p;

	if (n <= *size)
		return 0;
	while (want < n)
		want *= 2;
	if (want > SIZE_MAX / item_bytes)
		return -ENOMEM;
	p = realloc(*items, want * item_bytes);
	if (!p)
		return -ENOMEM;
	*items = p;
	*size = want;
	return 0;
}

uint64_t plan_times(uint64_t a, uint64_t b)
{
	return a == 0 || b <= PLAN_HUGE / a ? a * b : PLAN_HUGE;
}

uint64_t plan_plus(uint64_t a, uint64_t b)
{
	return a > PLAN_HUGE - b ? PLAN_HUGE : a + b;
}

/* FNV-1a, 64 bit (draft-eastlake-fnv). */
uint64_t plan_hash_text(uint64_t h, const char *text)
{
	if (h == 0)
		h = UINT64_C(0xcbf29ce484222325);
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h * UINT64_C(0x100000001b3); /* the end counts, too */
}

/* The finaliser of splitmix64 (Vigna, public domain). */
uint64_t plan_hash_number(uint64_t h, uint64_t x)
{
	uint64_t z = h + x + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

int plan_table_init(struct plan_builder *b, struct plan_table *t, size_t n)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	t->at = plan_scratch(b, size, sizeof(*t->at));
	t->mask = size - 1;
	return t->at ? 0 : plan_no_memory(b->err);
}

/* Twice the room; the old table stays in the scratch memory. */
static int intern_grow(struct plan_builder *b, struct plan_interned *x)
{
	uint32_t size = x->size ? 2 * x->size : 64;
	const char **texts = realloc(x->texts, size * sizeof(*texts));
	uint32_t i;
	int rc;

	if (!texts)
		return plan_no_memory(b->err);
	x->texts = texts;
	rc = plan_table_init(b, &x->table, size);
	if (rc < 0)
		return rc;
	x->size = size;
	for (i = 0; i < x->n; i++) {
		size_t h = (size_t)plan_hash_number(0, plan_hash_text(0, texts[i]));

		while (x->table.at[h & x->table.mask])
			h++;
		x->table.at[h & x->table.mask] = i + 1;
	}
	return 0;
}

int plan_intern(struct plan_builder *b, struct plan_interned *x, const char *text,
		uint32_t *ret_index)
{
	size_t h = (size_t)plan_hash_number(0, plan_hash_text(0, text));
	uint32_t *at;

	if (x->n == x->size) {
		int rc = intern_grow(b, x);

		if (rc < 0)
			return rc;
	}
	for (; *(at = &x->table.at[h & x->table.mask]); h++) {
		if (strcmp(x->texts[*at - 1], text) != 0)
			continue;
		*ret_index = *at - 1;
		return 0;
	}
	x->texts[x->n] = plan_keep(b, text);
	if (!x->texts[x->n])
		return plan_no_memory(b->err);
	*ret_index = x->n++;
	*at = x->n;
	return 0;
}

int plan_add_warning(struct plan_builder *b, const char *fmt, ...)
{
	char text[1024];
	uint32_t index, known = b->warned.n;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	kg_utf8_mend(text);
	rc = plan_intern(b, &b->warned, text, &index);
	if (rc < 0 || index < known)
		return rc;
	return plan_texts_add(&b->p->warnings, text) < 0 ? plan_no_memory(b->err) : 0;
}

static bool named_in(const struct job_exclude *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strstr(list[i].text, name))
			return true;
	return false;
}

bool plan_asks_about(const struct job_spec *j, const char *name)
{
	return named_in(j->excludes, j->n_excludes, name) || named_in(j->onlys, j->n_onlys, name);
}
