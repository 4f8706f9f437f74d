/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers out of a run's output. */
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/workload_internal.h"

#define LINE_MAX_BYTES (64 * 1024) /* of longer lines nothing is read */
#define VALUES_MAX     1000000

/* A line pattern, cut at {value}, blanks made single. */
struct line_pattern {
	char *before;
	char *after;
};

struct metric_reader {
	const struct kg_metric_decl *m;
	struct line_pattern line;
	regex_t regex;
	bool has_regex;
	char *buffer; /* one line, LINE_MAX_BYTES + 1 */
	double *values;
	size_t n, cap;
	size_t matches;
	unsigned first_line; /* of the first match, from 1 */
	struct kg_err *err;
};

bool kg_metric_applies(const struct kg_metric_decl *m, const struct kg_params *p)
{
	return kg_conditions_hold(&m->when, p);
}

static int no_memory(const struct metric_reader *r)
{
	return kg_err_set(r->err, -ENOMEM, "out of memory");
}

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\f' || ch == '\v';
}

/* Runs of blanks become one space; those at the ends go, where asked. */
static void squeeze(char *s, bool trim_start, bool trim_end)
{
	char *out = s, *in = s;

	while (trim_start && is_blank(*in))
		in++;
	for (; *in; in++) {
		if (is_blank(*in) && out > s && out[-1] == ' ')
			continue;
		*out++ = is_blank(*in) ? ' ' : *in;
	}
	if (trim_end && out > s && out[-1] == ' ')
		out--;
	*out = '\0';
}

static int value_push(struct metric_reader *r, double v)
{
	if (r->m->which == KG_READ_LAST)
		r->n = 0;
	if (r->n == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 8;
		double *values;

		if (cap > VALUES_MAX)
			return kg_err_set(r->err, KG_ELIMIT, "metric '%s': more than %d values",
					  r->m->name, VALUES_MAX);
		values = realloc(r->values, cap * sizeof(*values));
		if (!values)
			return no_memory(r);
		r->values = values;
		r->cap = cap;
	}
	r->values[r->n++] = v;
	return 0;
}

/* A match was found with `token` (changed) in the place of the number. */
static int found(struct metric_reader *r, unsigned line, char *token)
{
	double v;

	r->matches++;
	if (r->m->which == KG_READ_FIRST && r->matches > 1)
		return 0;
	if (r->m->which == KG_READ_ONE && r->matches > 1)
		return kg_err_set(
			r->err, KG_EINVALID,
			"metric '%s': expected once, found again in line %u (first in line %u)",
			r->m->name, line, r->first_line);
	r->first_line = line;
	if (kg_parse_double(token, &v) < 0)
		return kg_err_set(r->err, KG_EINVALID,
				  "metric '%s': line %u: '%.32s' is not a number", r->m->name, line,
				  token);
	if (signbit(v))
		return kg_err_set(r->err, KG_EINVALID, "metric '%s': line %u: '%.32s' is negative",
				  r->m->name, line, token);
	return value_push(r, v);
}

static int read_keyval(struct metric_reader *r, unsigned line, char *text)
{
	size_t len = strlen(r->m->pattern);
	char *value;

	squeeze(text, true, true);
	if (strncmp(text, r->m->pattern, len) != 0 || text[len] != '=')
		return 0;
	value = text + len + 1;
	value[strcspn(value, " ")] = '\0'; /* a unit may follow */
	return found(r, line, value);
}

static int read_line(struct metric_reader *r, unsigned line, char *text)
{
	size_t before = strlen(r->line.before), after = strlen(r->line.after);
	size_t len;
	char *value;

	squeeze(text, true, true);
	len = strlen(text);
	if (len <= before + after || memcmp(text, r->line.before, before) != 0 ||
	    memcmp(text + len - after, r->line.after, after) != 0)
		return 0;
	value = text + before;
	text[len - after] = '\0';
	if (strchr(value, ' '))
		return 0;
	return found(r, line, value);
}

static int read_regex(struct metric_reader *r, unsigned line, char *text)
{
	regmatch_t groups[2];
	size_t start, end;

	if (regexec(&r->regex, text, 2, groups, 0) != 0)
		return 0;
	if (groups[1].rm_so < 0)
		return kg_err_set(r->err, KG_EINVALID, "metric '%s': line %u: the group is empty",
				  r->m->name, line);
	start = (size_t)groups[1].rm_so;
	end = (size_t)groups[1].rm_eo;
	text[end] = '\0';
	return found(r, line, text + start);
}

static int read_lines(struct metric_reader *r, const char *output)
{
	unsigned line = 1;
	int rc = 0;

	for (; *output && rc == 0; line++) {
		size_t len = strcspn(output, "\n");

		if (len <= LINE_MAX_BYTES) {
			memcpy(r->buffer, output, len);
			r->buffer[len] = '\0';
			if (r->m->read_kind == KG_READ_KEYVAL)
				rc = read_keyval(r, line, r->buffer);
			else if (r->m->read_kind == KG_READ_LINE)
				rc = read_line(r, line, r->buffer);
			else
				rc = read_regex(r, line, r->buffer);
		}
		output += len;
		output += *output == '\n';
	}
	return rc;
}

static int prepare(struct metric_reader *r)
{
	const char *value;
	int rc;

	r->buffer = malloc(LINE_MAX_BYTES + 1);
	if (!r->buffer)
		return no_memory(r);
	if (r->m->read_kind == KG_READ_LINE) {
		value = strstr(r->m->pattern, "{value}");
		if (!value)
			return kg_err_set(r->err, KG_EINVALID,
					  "metric '%s': no {value} in its line", r->m->name);
		r->line.before = strndup(r->m->pattern, (size_t)(value - r->m->pattern));
		r->line.after = strdup(value + strlen("{value}"));
		if (!r->line.before || !r->line.after)
			return no_memory(r);
		squeeze(r->line.before, true, false);
		squeeze(r->line.after, false, true);
	}
	if (r->m->read_kind == KG_READ_REGEX) {
		rc = regcomp(&r->regex, r->m->pattern, REG_EXTENDED | REG_NEWLINE);
		if (rc == REG_ESPACE)
			return no_memory(r);
		if (rc != 0)
			return kg_err_set(r->err, KG_EINVALID, "metric '%s': bad regex",
					  r->m->name);
		r->has_regex = true;
	}
	return 0;
}

int kg_metric_read(const struct kg_metric_decl *m, const char *output, double **ret_values,
		   size_t *ret_n, struct kg_err *err)
{
	struct metric_reader r = {.m = m, .err = err};
	int rc = prepare(&r);

	if (rc == 0)
		rc = read_lines(&r, output);
	if (rc == 0 && r.matches == 0)
		rc = kg_err_set(err, KG_ENODATA,
				"metric '%s': not found in the output (%s '%.64s')", m->name,
				m->read_kind == KG_READ_KEYVAL ? "keyval"
				: m->read_kind == KG_READ_LINE ? "line"
							       : "regex",
				m->pattern);
	if (r.has_regex)
		regfree(&r.regex);
	free(r.buffer);
	free(r.line.before);
	free(r.line.after);
	if (rc < 0) {
		free(r.values);
		return rc;
	}
	*ret_values = r.values;
	*ret_n = r.n;
	return 0;
}
