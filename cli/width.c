/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/width.h"

#include <string.h>

struct range {
	uint32_t first, last;
};

static const struct range zero_width[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
	{0x06d6, 0x06dc}, {0x0900, 0x0902}, {0x093c, 0x093c}, {0x0941, 0x0948}, {0x0e31, 0x0e31},
	{0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
	{0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

static const struct range double_width[] = {
	{0x1100, 0x115f},   {0x231a, 0x231b},	{0x2329, 0x232a},   {0x23e9, 0x23ec},
	{0x25fd, 0x25fe},   {0x2614, 0x2615},	{0x2648, 0x2653},   {0x26a1, 0x26a1},
	{0x2705, 0x2705},   {0x274c, 0x274c},	{0x2753, 0x2755},   {0x2757, 0x2757},
	{0x2795, 0x2797},   {0x2e80, 0x303e},	{0x3041, 0x33ff},   {0x3400, 0x4dbf},
	{0x4e00, 0x9fff},   {0xa000, 0xa4cf},	{0xa960, 0xa97f},   {0xac00, 0xd7a3},
	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},	{0xff00, 0xff60},   {0xffe0, 0xffe6},
	{0x16fe0, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static bool in_ranges(const struct range *r, size_t n, uint32_t c)
{
	size_t i;

	for (i = 0; i < n && r[i].first <= c; i++)
		if (c <= r[i].last)
			return true;
	return false;
}

static size_t char_width(uint32_t c)
{
	if (c < 0x300)
		return 1;
	if (in_ranges(zero_width, sizeof(zero_width) / sizeof(zero_width[0]), c))
		return 0;
	if (in_ranges(double_width, sizeof(double_width) / sizeof(double_width[0]), c))
		return 2;
	return 1;
}

/* Decodes one character; returns its length in bytes, 0 when there is no valid one. */
static size_t decode(const char *s, size_t len, uint32_t *ret_c)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c;
	size_t i;

	if (n > len || !kg_utf8_valid(s, n))
		return 0;
	c = p[0] & mask[n];
	for (i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fU);
	*ret_c = c;
	return n;
}

size_t text_fit(const char *s, size_t columns)
{
	size_t len = strlen(s), used = 0, i = 0;

	while (i < len) {
		uint32_t c = '?';
		size_t n = decode(s + i, len - i, &c);
		size_t w = char_width(c);

		if (used + w > columns)
			break;
		used += w;
		i += n ? n : 1;
	}
	return i;
}

size_t text_width(const char *s)
{
	size_t len = strlen(s), used = 0, i = 0;

	while (i < len) {
		uint32_t c = '?';
		size_t n = decode(s + i, len - i, &c);

		used += char_width(c);
		i += n ? n : 1;
	}
	return used;
}

static bool steers(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

void text_clean(struct kg_str *out, const char *s, size_t len, bool lines)
{
	size_t i = 0;

	while (i < len) {
		uint32_t c = 0;
		size_t n = decode(s + i, len - i, &c);

		if (n == 0)
			kg_str_add(out, "\xef\xbf\xbd");
		else if (steers(c) && !(lines && (c == '\n' || c == '\t')))
			kg_str_add(out, "?");
		else
			kg_str_addn(out, s + i, n);
		i += n ? n : 1;
	}
}
