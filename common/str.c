/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"

void kg_str_deinit(struct kg_str *s)
{
	free(s->text);
	memset(s, 0, sizeof(*s));
}

void kg_str_clear(struct kg_str *s)
{
	s->len = 0;
	if (s->text)
		s->text[0] = '\0';
}

static bool reserve(struct kg_str *s, size_t more)
{
	size_t cap = s->cap ? s->cap : 64;
	char *p;

	if (s->failed || more > SIZE_MAX / 2 - s->len) {
		s->failed = true;
		return false;
	}
	while (cap < s->len + more + 1)
		cap *= 2;
	if (cap == s->cap)
		return true;
	p = realloc(s->text, cap);
	if (!p) {
		s->failed = true;
		return false;
	}
	s->text = p;
	s->cap = cap;
	return true;
}

void kg_str_addn(struct kg_str *s, const void *bytes, size_t len)
{
	if (!reserve(s, len))
		return;
	if (len > 0)
		memcpy(s->text + s->len, bytes, len);
	s->len += len;
	s->text[s->len] = '\0';
}

void kg_str_add(struct kg_str *s, const char *text)
{
	kg_str_addn(s, text, strlen(text));
}

void kg_str_addf(struct kg_str *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !reserve(s, (size_t)n))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(s->text + s->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->len += (size_t)n;
}

/* Length of the valid UTF-8 sequence at p (1..4), 0 if there is none. RFC 3629, section 4. */
static size_t utf8_seq(const unsigned char *p, size_t left)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t n, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (p[0] == 0xe0)
		lo = 0xa0;
	else if (p[0] == 0xed)
		hi = 0x9f;
	else if (p[0] == 0xf0)
		lo = 0x90;
	else if (p[0] == 0xf4)
		hi = 0x8f;
	if (left < n || p[1] < lo || p[1] > hi)
		return 0;
	for (i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return n;
}

bool kg_utf8_valid(const char *bytes, size_t len)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t i = 0;

	while (i < len) {
		size_t n = utf8_seq(p + i, len - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

/* Bytes of a sequence that begins at p and misses its end; 0: none. */
static size_t utf8_part(const unsigned char *p)
{
	size_t want = p[0] >= 0xf0 && p[0] <= 0xf4   ? 4
		      : p[0] >= 0xe0 && p[0] <= 0xef ? 3
		      : p[0] >= 0xc2 && p[0] <= 0xdf ? 2
						     : 0;
	size_t n = 1;

	while (n < want && (p[n] & 0xc0) == 0x80)
		n++;
	return n < want ? n : 0;
}

void kg_utf8_mend(char *text)
{
	const unsigned char *in = (const unsigned char *)text;
	size_t left = strlen(text);
	char *out = text;

	while (left > 0) {
		size_t n = utf8_seq(in, left);
		size_t part = n ? 0 : utf8_part(in);

		if (n) {
			memmove(out, in, n);
			out += n;
		} else if (!part) {
			*out++ = '?';
			n = 1;
		}
		in += n + part;
		left -= n + part;
	}
	*out = '\0';
}

void kg_str_add_json(struct kg_str *s, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t left = strlen(text);

	kg_str_add(s, "\"");
	while (left > 0) {
		size_t n = utf8_seq(p, left);

		if (n == 0)
			kg_str_add(s, "\\ufffd");
		else if (*p == '"' || *p == '\\')
			kg_str_addf(s, "\\%c", *p);
		else if (*p == '\n')
			kg_str_add(s, "\\n");
		else if (*p < 0x20 || *p == 0x7f)
			kg_str_addf(s, "\\u%04x", *p);
		else
			kg_str_addn(s, p, n);
		n = n ? n : 1;
		p += n;
		left -= n;
	}
	kg_str_add(s, "\"");
}

char *kg_str_take(struct kg_str *s)
{
	char *text;

	if (!s->failed && !s->text)
		(void)reserve(s, 0);
	if (s->failed) {
		kg_str_deinit(s);
		return NULL;
	}
	text = s->text;
	text[s->len] = '\0';
	memset(s, 0, sizeof(*s));
	return text;
}

const char *kg_str_text(const struct kg_str *s)
{
	return s->text ? s->text : "";
}

bool kg_streq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool kg_str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool kg_name_valid(const char *s)
{
	size_t i;

	if (!s[0] || s[0] == '.' || s[0] == '-')
		return false;
	for (i = 0; s[i]; i++)
		if (i >= 63 || !(isalnum((unsigned char)s[i]) || strchr("._+-", s[i])))
			return false;
	return true;
}

#define WORD_MAX 64 /* longer words get no suggestion */

/* Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);
	size_t i, j;

	if (la > WORD_MAX || lb > WORD_MAX)
		return SIZE_MAX;
	for (j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (i = 1; i <= la; i++) {
		const size_t *before = rows[(i + 1) % 3], *last = rows[(i - 1) % 3];
		size_t *row = rows[i % 3];

		row[0] = i;
		for (j = 1; j <= lb; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[la % 3][lb];
}

const char *kg_suggest(const char *word, const char *const *candidates, size_t n)
{
	size_t limit = strlen(word) / 3;
	const char *best = NULL;
	size_t best_distance;
	size_t i;

	best_distance = (limit < 1 ? 1 : limit) + 1;
	for (i = 0; i < n; i++) {
		size_t d = edit_distance(word, candidates[i]);

		if (d < best_distance) {
			best_distance = d;
			best = candidates[i];
		}
	}
	return best;
}

int kg_parse_u64(const char *s, uint64_t *ret)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return KG_EINVALID;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *end)
		return KG_EINVALID;
	*ret = v;
	return 0;
}

int kg_parse_i64(const char *s, int64_t *ret)
{
	const char *digits = s[0] == '-' ? s + 1 : s;
	long long v;
	char *end;

	if (!isdigit((unsigned char)digits[0]))
		return KG_EINVALID;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || *end)
		return KG_EINVALID;
	*ret = v;
	return 0;
}

int kg_parse_double(const char *s, double *ret)
{
	const char *p = s[0] == '-' || s[0] == '+' ? s + 1 : s;
	double v;
	char *end;

	if (!isdigit((unsigned char)p[0]) && !(p[0] == '.' && isdigit((unsigned char)p[1])))
		return KG_EINVALID;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		return KG_EINVALID;
	errno = 0;
	v = strtod(s, &end);
	if (*end || !isfinite(v))
		return KG_EINVALID;
	*ret = v;
	return 0;
}

struct unit {
	const char *suffix;
	uint64_t factor;
};

/* A decimal number followed by one of the units. */
static int parse_with_unit(const char *s, const struct unit *units, size_t n, uint64_t *ret)
{
	size_t digits = strspn(s, "0123456789.");
	char number[32];
	double v;
	size_t i;

	if (digits == 0 || digits >= sizeof(number))
		return KG_EINVALID;
	memcpy(number, s, digits);
	number[digits] = '\0';
	if (kg_parse_double(number, &v) < 0)
		return KG_EINVALID;
	for (i = 0; i < n; i++) {
		if (strcmp(s + digits, units[i].suffix) != 0)
			continue;
		v *= (double)units[i].factor;
		if (v >= 9.2e18)
			return KG_EINVALID;
		*ret = (uint64_t)llround(v);
		return 0;
	}
	return KG_EINVALID;
}

int kg_parse_bytes(const char *s, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"", 1},
		{"B", 1},
		{"KiB", 1024},
		{"MiB", 1024 * 1024ULL},
		{"GiB", 1024 * 1024 * 1024ULL},
		{"TiB", 1ULL << 40},
		{"kB", 1000},
		{"MB", 1000 * 1000ULL},
		{"GB", 1000 * 1000 * 1000ULL},
		{"TB", 1000 * 1000 * 1000 * 1000ULL},
	};

	return parse_with_unit(s, units, sizeof(units) / sizeof(units[0]), ret_bytes);
}

const char *kg_bytes_hint(const char *s)
{
	static const char *const hints[] = {
		"; 'kB' is 1000 bytes, 'KiB' is 1024",
		"; 'MB' is 1000 kB, 'MiB' is 1024 KiB",
		"; 'GB' is 1000 MB, 'GiB' is 1024 MiB",
		"; 'TB' is 1000 GB, 'TiB' is 1024 GiB",
	};
	static const char letters[] = "kmgtKMGT";
	size_t digits = strspn(s, "0123456789.");
	const char *unit = s + digits, *at = *unit ? strchr(letters, *unit) : NULL;
	uint64_t bytes;

	if (digits == 0 || !at || kg_parse_bytes(s, &bytes) == 0)
		return "";
	unit++;
	unit += *unit == 'i' || *unit == 'I';
	unit += *unit == 'b' || *unit == 'B';
	return *unit ? "" : hints[(at - letters) % 4];
}

int kg_parse_duration(const char *s, uint64_t *ret_ns)
{
	static const struct unit units[] = {
		{"", 1000000000ULL},
		{"s", 1000000000ULL},
		{"ms", 1000000ULL},
		{"us", 1000ULL},
		{"ns", 1ULL},
		{"m", 60 * 1000000000ULL},
		{"min", 60 * 1000000000ULL},
		{"h", 3600 * 1000000000ULL},
		{"d", 86400 * 1000000000ULL},
	};

	return parse_with_unit(s, units, sizeof(units) / sizeof(units[0]), ret_ns);
}
