/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/kernel_version.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum phase { PHASE_BEFORE, PHASE_RELEASE, PHASE_AFTER };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t digits(const char *s)
{
	size_t n = 0;

	while (is_digit(s[n]))
		n++;
	return n;
}

/* Numbers of any length, without their leading zeros. */
static int compare_numbers(const char *a, size_t na, const char *b, size_t nb)
{
	int rc;

	while (na && *a == '0') {
		a++;
		na--;
	}
	while (nb && *b == '0') {
		b++;
		nb--;
	}
	if (na != nb)
		return na < nb ? -1 : 1;
	rc = na ? memcmp(a, b, na) : 0;
	return (rc > 0) - (rc < 0);
}

/* Moves both over their dotted numbers, to what follows on them. */
static int compare_dotted(const char **a, const char **b)
{
	int rc = 0;

	for (;;) {
		size_t na = digits(*a), nb = digits(*b);

		if (na == 0 && nb == 0)
			return rc;
		if (rc == 0)
			rc = compare_numbers(*a, na, *b, nb);
		*a += na;
		*b += nb;
		*a += **a == '.' && is_digit((*a)[1]);
		*b += **b == '.' && is_digit((*b)[1]);
	}
}

/* The number of a release candidate in a suffix, NULL when there is none. */
static const char *candidate(const char *suffix)
{
	for (size_t i = 0; suffix[i]; i++) {
		if (suffix[i] == 'r' && suffix[i + 1] == 'c' && is_digit(suffix[i + 2]) &&
		    (i == 0 || !is_letter(suffix[i - 1])))
			return suffix + i + 2;
	}
	return NULL;
}

static enum phase phase_of(const char *suffix, const char *rc)
{
	if (rc || suffix[0] == '~')
		return PHASE_BEFORE;
	return suffix[0] ? PHASE_AFTER : PHASE_RELEASE;
}

/* Byte by byte, but runs of digits as numbers; a tilde comes before the end of a text. */
static int compare_suffix(const char *a, const char *b)
{
	while (*a || *b) {
		size_t na = digits(a), nb = digits(b);
		int rc;

		if (na && nb) {
			rc = compare_numbers(a, na, b, nb);
			if (rc)
				return rc;
			a += na;
			b += nb;
			continue;
		}
		if (*a != *b) {
			if (*a == '~' || *b == '~')
				return *a == '~' ? -1 : 1;
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		}
		a++;
		b++;
	}
	return 0;
}

int kernel_version_compare(const char *a, const char *b)
{
	const char *x = a ? a : "", *y = b ? b : "", *whole_x = x, *whole_y = y;
	const char *rc_x, *rc_y;
	enum phase px, py;
	int rc;

	if (is_digit(*x) != is_digit(*y))
		return is_digit(*x) ? 1 : -1;
	rc = compare_dotted(&x, &y);
	if (rc)
		return rc;
	rc_x = candidate(x);
	rc_y = candidate(y);
	px = phase_of(x, rc_x);
	py = phase_of(y, rc_y);
	if (px != py)
		return px < py ? -1 : 1;
	if (!rc_x != !rc_y)
		return rc_x ? 1 : -1; /* of two before the release, "~git" is the earlier */
	if (rc_x)
		rc = compare_numbers(rc_x, digits(rc_x), rc_y, digits(rc_y));
	if (rc == 0)
		rc = compare_suffix(x, y);
	if (rc == 0) /* 6.1 and 6.1.0, leading zeros */
		rc = strcmp(whole_x, whole_y);
	return (rc > 0) - (rc < 0);
}
