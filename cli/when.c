/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/when.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/str.h"

#define YEAR_LEAST 1970
#define YEAR_MOST  2200 /* nanoseconds since 1970 end in 2262 */

/* Exactly `digits` digits at *p, which moves behind them. */
static bool take_digits(const char **p, int digits, int *ret)
{
	int v = 0;

	for (; digits > 0; digits--, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		v = v * 10 + (**p - '0');
	}
	*ret = v;
	return true;
}

static bool take(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* HH:MM or HH:MM:SS */
static bool take_clock(const char **p, struct tm *tm)
{
	if (!take_digits(p, 2, &tm->tm_hour) || !take(p, ':') || !take_digits(p, 2, &tm->tm_min))
		return false;
	return !take(p, ':') || take_digits(p, 2, &tm->tm_sec);
}

static int parse_date(const char *text, int64_t *ret_ns)
{
	struct tm tm = {.tm_isdst = -1}, asked;
	const char *p = text;
	bool utc = false;
	time_t t;

	if (!take_digits(&p, 4, &tm.tm_year) || !take(&p, '-') || !take_digits(&p, 2, &tm.tm_mon) ||
	    !take(&p, '-') || !take_digits(&p, 2, &tm.tm_mday))
		return KG_EINVALID;
	if (take(&p, 'T') || take(&p, ' ')) {
		if (!take_clock(&p, &tm))
			return KG_EINVALID;
		utc = take(&p, 'Z');
	}
	if (*p || tm.tm_year < YEAR_LEAST || tm.tm_year > YEAR_MOST || tm.tm_hour > 23 ||
	    tm.tm_min > 59 || tm.tm_sec > 60)
		return KG_EINVALID;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	asked = tm;
	t = utc ? timegm(&tm) : mktime(&tm);
	/* the 31st of a month with 30 days comes back as another day */
	if (tm.tm_mon != asked.tm_mon || tm.tm_mday != asked.tm_mday)
		return KG_EINVALID;
	*ret_ns = (int64_t)t * (int64_t)KG_NSEC_PER_SEC;
	return 0;
}

int when_parse(const char *text, int64_t now_ns, int64_t *ret_ns, struct kg_err *err)
{
	size_t len = strlen(text);
	uint64_t ago;

	if (parse_date(text, ret_ns) == 0)
		return 0;
	if (len > 0 && isalpha((unsigned char)text[len - 1]) &&
	    kg_parse_duration(text, &ago) == 0) {
		*ret_ns = ago < (uint64_t)now_ns ? now_ns - (int64_t)ago : 1;
		return 0;
	}
	return kg_err_set(err, KG_EINVALID,
			  "not a time: '%s'; a date such as 2026-11-30 or 2026-11-30T12:00, or how "
			  "long ago, such as 2d or 12h",
			  text);
}
