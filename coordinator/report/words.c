/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

void words_deinit(struct words *w)
{
	free(w->text);
	free(w->items);
	memset(w, 0, sizeof(*w));
}

static int words_alloc(struct words *w, const char *text)
{
	memset(w, 0, sizeof(*w));
	w->text = strdup(text);
	w->items = calloc(strlen(text) / 2 + 2, sizeof(*w->items)); /* a word and what parts it */
	if (w->text && w->items)
		return 0;
	words_deinit(w);
	return -ENOMEM;
}

/* End of a word: a blank that no double quotes protect. */
static char *word_end(char *s)
{
	bool quoted = false;

	for (; *s && (quoted || !is_blank(*s)); s++)
		quoted ^= *s == '"';
	return s;
}

int words_cmdline(struct words *w, const char *line)
{
	char *s;
	int rc = words_alloc(w, line);

	if (rc < 0)
		return rc;
	for (s = w->text; *s;) {
		char *word, *end;

		while (is_blank(*s))
			s++;
		if (!*s)
			break;
		word = s;
		end = word_end(s);
		s = *end ? end + 1 : end;
		*end = '\0';
		if (strncmp(word, "kgrid.boot=", 11) != 0)
			w->items[w->n++] = word;
	}
	return 0;
}

int words_list(struct words *w, const char *list)
{
	int rc = words_alloc(w, list);
	char *s;

	if (rc < 0)
		return rc;
	for (s = w->text; *s;) {
		char *word, *end;
		bool more;

		while (is_blank(*s) || *s == ',')
			s++;
		if (!*s)
			break;
		word = s;
		end = word + strcspn(word, ", \t\r\n\v\f");
		more = *end != '\0';
		*end = '\0';
		s = end + more;
		w->items[w->n++] = word;
	}
	return 0;
}

size_t word_key(const char *word)
{
	return strcspn(word, "=");
}

static char fold(char c)
{
	return c == '-' ? '_' : c;
}

static bool same_key(const char *a, size_t na, const char *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++) {
		if (fold(a[i]) != fold(b[i]))
			return false;
	}
	return true;
}

bool word_key_is(const char *word, const char *key)
{
	return same_key(word, word_key(word), key, strlen(key));
}

size_t word_earlier(const struct words *w, size_t i)
{
	const char *word = w->items[i];
	size_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += same_key(w->items[k], word_key(w->items[k]), word, word_key(word));
	return n;
}

static int order_refs(const void *a, const void *b)
{
	char *const *x = *(char *const *const *)a, *const *y = *(char *const *const *)b;
	int rc = strcmp(*x, *y);

	return rc ? rc : (x > y) - (x < y);
}

/* Places of the words, sorted by what they say and then where they stand. */
static char ***sorted(const struct words *w)
{
	char ***refs = calloc(w->n + 1, sizeof(*refs));

	for (size_t i = 0; refs && i < w->n; i++)
		refs[i] = &w->items[i];
	if (refs && w->n)
		qsort(refs, w->n, sizeof(*refs), order_refs);
	return refs;
}

int words_compare(const struct words *a, const struct words *b, bool *a_only, bool *b_only)
{
	char ***x = sorted(a), ***y = sorted(b);
	int failed = x && y ? 0 : -ENOMEM;
	size_t i = 0, k = 0;

	memset(a_only, true, a->n * sizeof(*a_only));
	memset(b_only, true, b->n * sizeof(*b_only));
	while (!failed && i < a->n && k < b->n) {
		int rc = strcmp(*x[i], *y[k]);

		if (rc == 0) {
			a_only[x[i] - a->items] = false;
			b_only[y[k] - b->items] = false;
		}
		i += rc <= 0;
		k += rc >= 0;
	}
	free(x);
	free(y);
	return failed;
}

bool words_reordered(const struct words *a, const struct words *b, const bool *a_only,
		     const bool *b_only)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < a->n && a_only[i])
			i++;
		while (k < b->n && b_only[k])
			k++;
		if (i == a->n || k == b->n)
			return false;
		if (strcmp(a->items[i++], b->items[k++]) != 0)
			return true;
	}
}
