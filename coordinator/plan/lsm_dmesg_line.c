/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a line of a log to the kernel's message in it. */
#include "coordinator/plan/lsm_dmesg_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DATE_MAX 48 /* bytes, more than any form of one */

static char *skip_spaces(char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* Removes escape sequences of colours, and all other control characters but tabs. */
static void clean(char *line)
{
	char *from = line, *to = line;

	while (*from) {
		if (from[0] == '\033' && from[1] == '[') {
			from += 2;
			while (*from && !(*from >= '@' && *from <= '~'))
				from++;
			from += *from != '\0';
			continue;
		}
		if (*from == '\t' || !iscntrl((unsigned char)*from))
			*to++ = *from;
		from++;
	}
	*to = '\0';
}

/* "12345.678901" in brackets; false for other numbers. */
static bool is_time(const char *p, const char *end, double *ret_s)
{
	char *stop;
	double v;

	while (p < end && *p == ' ')
		p++;
	if (p == end || !isdigit((unsigned char)*p))
		return false;
	v = strtod(p, &stop);
	if (stop > end || !memchr(p, '.', (size_t)(stop - p)))
		return false;
	*ret_s = v;
	/* dmesg -d: "[    1.234567 <    0.000012>]" */
	return stop == end || *stop == ' ' || *stop == '<';
}

/* "Tue Dec  1 10:00:00 2026" in any language, "Dec 1 10:00", "2026-12-01 10:00:00": there is a time
 * of day in it. */
static bool is_date(const char *p, const char *end)
{
	for (; end - p >= 4; p++)
		if (isdigit((unsigned char)p[0]) && p[1] == ':' && isdigit((unsigned char)p[2]) &&
		    isdigit((unsigned char)p[3]))
			return true;
	return false;
}

/* A group in brackets that stands in front of a message: a time, a caller ("T0", "C1", "T0@C0"), a
 * date. Returns what is behind it, or NULL. */
static char *skip_bracket(char *p, struct lsm_log_line *l)
{
	char *end = p[0] == '[' ? strchr(p, ']') : NULL;
	char *in = p + 1;
	double s;

	if (!end)
		return NULL;
	if (is_time(in, end, &s)) {
		l->has_time = true;
		l->time_s = s;
		return end + 1;
	}
	while (*in == ' ')
		in++;
	if (end - in < DATE_MAX && is_date(in, end))
		return end + 1;
	in += *in == 'T' || *in == 'C' || *in == '+' || *in == '<';
	return in < end && in + strspn(in, "0123456789.<> +@C") == end ? end + 1 : NULL;
}

/* "<6>" of a raw console, "6,339,5140900,-;" of /dev/kmsg. */
static char *skip_level(char *p, struct lsm_log_line *l)
{
	unsigned long long us;
	char *end;

	if (p[0] == '<' && isdigit((unsigned char)p[1])) {
		end = p + 1 + strspn(p + 1, "0123456789");
		return *end == '>' ? end + 1 : p;
	}
	end = p + strspn(p, "0123456789");
	if (end == p || *end != ',')
		return p;
	end++;
	end += strspn(end, "0123456789");
	if (*end != ',' || !isdigit((unsigned char)end[1]))
		return p;
	us = strtoull(end + 1, &end, 10);
	if (*end != ',' || !strchr(end, ';'))
		return p;
	l->has_time = true;
	l->time_s = (double)us / 1e6;
	return strchr(end, ';') + 1;
}

/* "2026-12-01T10:00:00,123456+00:00 " of dmesg and journalctl, "kern  :info  : " of dmesg -x. */
static char *skip_word(char *p)
{
	size_t len = strcspn(p, " ");
	char *end;

	if (isdigit((unsigned char)p[0]) && len > 16 && memchr(p, 'T', len) && memchr(p, ':', len))
		return p + len;
	if (strncmp(p, "kern ", 5) != 0 && strncmp(p, "kern:", 5) != 0)
		return p;
	end = strchr(p, ':');
	end = end ? strchr(end + 1, ':') : NULL;
	return end && end - p < 24 ? end + 1 : p;
}

/* "Dec  1 10:00:00 host kernel: ": the words before are a date and a host, no other program. NULL:
 * no such prefix. */
static char *skip_syslog(char *p)
{
	char *end = strstr(p, "kernel: ");

	if (!end || (end > p && end[-1] != ' ') || end - p > 256)
		return NULL;
	*end = '\0';
	if (strstr(p, ": ") || strchr(p, '=')) {
		*end = 'k';
		return NULL;
	}
	return end + strlen("kernel: ");
}

/* A time of the kernel anywhere in the line, behind a prefix that is not known. */
static char *find_time(char *p)
{
	double s;

	for (p = strchr(p, '['); p; p = strchr(p + 1, '[')) {
		char *end = strchr(p, ']');

		if (end && is_time(p + 1, end, &s) && (end[1] == ' ' || end[1] == '['))
			return p;
	}
	return NULL;
}

/* Everything that may stand in front, in any order that tools make of it. */
static char *skip_all(char *p, struct lsm_log_line *l)
{
	for (;;) {
		char *begin = p = skip_spaces(p);
		char *next;

		p = skip_level(p, l);
		p = skip_spaces(skip_word(p));
		next = skip_bracket(p, l);
		p = next ? next : p;
		if (p == begin)
			return p;
	}
}

bool lsm_log_line(char *line, struct lsm_log_line *ret)
{
	char *p, *next;

	ret->has_time = false;
	ret->time_s = 0;
	clean(line);
	p = skip_all(line, ret);
	next = skip_syslog(p);
	if (next) {
		p = skip_all(next, ret);
	} else if (!ret->has_time) {
		next = find_time(p);
		if (next && strstr(p, "]: ") && strstr(p, "]: ") < next)
			return false; /* "host dracut[12]: [    3.4] ..." */
		p = next ? skip_all(next, ret) : p;
	}
	ret->text = p;
	return true;
}
