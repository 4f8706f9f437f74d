/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growable text buffer and small text helpers. */
#ifndef KG_COMMON_STR_H
#define KG_COMMON_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is valid and empty. A failed allocation sets `failed` and later calls do
 * nothing, so a caller checks once at the end. `text` is NUL-terminated when not NULL. */
struct kg_str {
	char *text; /* owned */
	size_t len;
	size_t cap;
	bool failed;
};

void kg_str_deinit(struct kg_str *s);
void kg_str_clear(struct kg_str *s);
void kg_str_add(struct kg_str *s, const char *text);
void kg_str_addn(struct kg_str *s, const void *bytes, size_t len);
void kg_str_addf(struct kg_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* JSON string with quotes and escapes; invalid UTF-8 becomes U+FFFD. */
void kg_str_add_json(struct kg_str *s, const char *text);
/* Hands the text over (owned, free()); "" when empty, NULL when an allocation failed. */
char *kg_str_take(struct kg_str *s);
/* The text, never NULL. Borrows. */
const char *kg_str_text(const struct kg_str *s);

bool kg_streq(const char *a, const char *b); /* NULL equals only NULL */
bool kg_str_starts(const char *s, const char *prefix);
bool kg_utf8_valid(const char *bytes, size_t len);
/* Makes text UTF-8 in place: a character whose end is missing (a precision or a buffer cut it) goes,
 * any other byte that is none becomes '?'. Never longer than before. */
void kg_utf8_mend(char *text);

/* A name people give (machine, label, workload): 1..63 of [A-Za-z0-9._+-], not starting with a
 * dot or a dash. Such names are safe as file names and in tables. */
bool kg_name_valid(const char *s);

/* The candidate with the smallest edit distance to `word`, if close enough to be meant (distance
 * at most 1/3 of the length, at least 1); NULL otherwise. Borrows. */
const char *kg_suggest(const char *word, const char *const *candidates, size_t n);

/* "512", "64KiB", "1MiB", "2GiB", "1TiB", "10MB" -> bytes. Returns 0 or KG_EINVALID. */
int kg_parse_bytes(const char *s, uint64_t *ret_bytes);
/* For the end of a message: "; 'kB' is 1000 bytes, 'KiB' is 1024" of what looks like a size in another
 * spelling, such as "1KB" or "64k"; "" of anything else. */
const char *kg_bytes_hint(const char *s);
/* "10s", "5m", "4h", "2d", "250ms" or a plain number of seconds -> nanoseconds. */
int kg_parse_duration(const char *s, uint64_t *ret_ns);
/* Whole-string decimal integers and doubles (C locale, finite). */
int kg_parse_i64(const char *s, int64_t *ret);
int kg_parse_u64(const char *s, uint64_t *ret);
int kg_parse_double(const char *s, double *ret);

#endif
