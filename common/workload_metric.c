/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics of a declaration. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "common/workload_internal.h"

#define MAX_METRICS	 256
#define REGEX_MAX_LEN	 256
#define REGEX_MAX_REPEAT 1000 /* product of all {m,n}: glibc's regcomp copies what is repeated */

struct raw_metric {
	char *name, *unit;
	int direction, stream, which;
	double min_effect_pct;
	const struct kg_yaml_node *when;
	const struct kg_yaml_node *read;
};

static const char *const directions[] = {"none", "higher", "lower", NULL};
static const char *const streams[] = {"stdout", "stderr", NULL};
static const char *const whichs[] = {"one", "first", "last", "each", NULL};

static const struct kg_field metric_fields[] = {
	{.key = "name",
	 .type = KG_FIELD_NAME,
	 .offset = offsetof(struct raw_metric, name),
	 .required = true,
	 .help = "Name of the metric"},
	{.key = "unit",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_metric, unit),
	 .required = true,
	 .help = "Unit of its values"},
	{.key = "direction",
	 .type = KG_FIELD_CHOICE,
	 .offset = offsetof(struct raw_metric, direction),
	 .required = true,
	 .choices = directions,
	 .help = "Which values are better"},
	{.key = "min-effect",
	 .type = KG_FIELD_DOUBLE,
	 .offset = offsetof(struct raw_metric, min_effect_pct),
	 .min = 0.01,
	 .max = 100,
	 .preset = "1",
	 .help = "Smallest change that matters, in percent, until the machine's own A/A runs say "
		 "otherwise"},
	{.key = "when",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_metric, when),
	 .help = "Mapping of parameters to the values for which the metric exists"},
	{.key = "stream",
	 .type = KG_FIELD_CHOICE,
	 .offset = offsetof(struct raw_metric, stream),
	 .choices = streams,
	 .preset = "stdout",
	 .help = "Where it is printed"},
	{.key = "which",
	 .type = KG_FIELD_CHOICE,
	 .offset = offsetof(struct raw_metric, which),
	 .choices = whichs,
	 .preset = "one",
	 .help = "Which of several matches counts"},
	{.key = "read",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_metric, read),
	 .required = true,
	 .help = "One of {keyval: KEY}, {line: TEXT}, {regex: ERE}"},
	{0},
};

struct raw_read {
	char *keyval, *line, *regex;
	int which; /* may stand here as well */
};

static const struct kg_field read_fields[] = {
	{.key = "keyval",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_read, keyval),
	 .help = "A line KEY=number"},
	{.key = "line",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_read, line),
	 .help = "A whole line with {value} in the place of the number"},
	{.key = "regex",
	 .type = KG_FIELD_TEXT,
	 .offset = offsetof(struct raw_read, regex),
	 .help = "An extended regular expression with one group around the number"},
	{.key = "which",
	 .type = KG_FIELD_CHOICE,
	 .offset = offsetof(struct raw_read, which),
	 .choices = whichs,
	 .preset = "one",
	 .help = "Which of several matches counts"},
	{0},
};

/* Keeps regcomp and regexec within bounds for patterns that come from elsewhere. */
static const char *regex_refused(const char *pattern)
{
	unsigned long product = 1;
	const char *p;

	if (strlen(pattern) > REGEX_MAX_LEN)
		return "longer than 256 bytes";
	for (p = pattern; *p; p++) {
		if (*p == '\\' && p[1]) {
			if (p[1] >= '0' && p[1] <= '9')
				return "back references are not supported";
			p++;
		} else if (*p == '{') {
			unsigned long n = strtoul(p + 1, NULL, 10), m = 0;
			const char *comma = strchr(p, ',');

			if (comma)
				m = strtoul(comma + 1, NULL, 10);
			n = n > m ? n : m;
			if (n > REGEX_MAX_REPEAT || (product *= n ? n : 1) > REGEX_MAX_REPEAT)
				return "repeats too much: all {n} together at most 1000";
		}
	}
	return NULL;
}

static int check_regex(const struct kg_loader *l, const struct kg_yaml_node *n, const char *pattern)
{
	const char *why = regex_refused(pattern);
	char text[128];
	size_t groups;
	regex_t re;
	int rc;

	if (why)
		return kg_yaml_error(l->doc, n, l->err, "'regex': %s", why);
	rc = regcomp(&re, pattern, REG_EXTENDED | REG_NEWLINE);
	if (rc == REG_ESPACE)
		return kg_loader_no_memory(l);
	if (rc != 0) {
		(void)regerror(rc, &re, text, sizeof(text));
		return kg_yaml_error(l->doc, n, l->err, "'regex': %s", text);
	}
	groups = re.re_nsub;
	regfree(&re);
	if (groups != 1)
		return kg_yaml_error(l->doc, n, l->err,
				     "'regex': expected one group around the number, not %zu",
				     groups);
	return 0;
}

static int check_line(const struct kg_loader *l, const struct kg_yaml_node *n, const char *pattern)
{
	const char *value = strstr(pattern, "{value}");

	if (!value || strstr(value + 1, "{value}"))
		return kg_yaml_error(l->doc, n, l->err,
				     "'line': expected exactly one {value} in the text");
	if (strlen(pattern) > REGEX_MAX_LEN || strpbrk(pattern, "\r\n"))
		return kg_yaml_error(l->doc, n, l->err,
				     "'line': expected one line of at most 256 bytes");
	return 0;
}

static int fill_read(const struct kg_loader *l, const struct kg_yaml_node *n, struct raw_read *raw,
		     struct kg_metric_decl *m)
{
	int rc = 0;

	if (!!raw->keyval + !!raw->line + !!raw->regex != 1)
		return kg_yaml_error(l->doc, n, l->err,
				     "'read': expected exactly one of keyval, line, regex");
	if (raw->keyval) {
		m->read_kind = KG_READ_KEYVAL;
		m->pattern = kg_loader_take(&raw->keyval);
		if (!m->pattern[0] || strpbrk(m->pattern, "= \t\r\n"))
			rc = kg_yaml_error(l->doc, kg_yaml_get(n, "keyval"), l->err,
					   "'keyval': expected the word before '='");
	} else if (raw->line) {
		m->read_kind = KG_READ_LINE;
		m->pattern = kg_loader_take(&raw->line);
		rc = check_line(l, kg_yaml_get(n, "line"), m->pattern);
	} else {
		m->read_kind = KG_READ_REGEX;
		m->pattern = kg_loader_take(&raw->regex);
		rc = check_regex(l, kg_yaml_get(n, "regex"), m->pattern);
	}
	return rc;
}

static int fill_metric(const struct kg_loader *l, const struct kg_yaml_node *n,
		       struct raw_metric *raw, struct kg_metric_decl *m)
{
	struct raw_read read = {0};
	int rc;

	m->name = kg_loader_take(&raw->name);
	m->unit = kg_loader_take(&raw->unit);
	m->direction = (enum kg_direction)raw->direction;
	m->min_effect_pct = raw->min_effect_pct;
	m->from_stderr = raw->stream == 1;
	rc = kg_loader_conditions(l, raw->when, &m->when);
	if (rc < 0)
		return rc;
	rc = kg_yaml_read(l->doc, raw->read, read_fields, &read, l->err);
	if (rc < 0)
		return rc;
	rc = fill_read(l, raw->read, &read, m);
	m->which = (enum kg_read_which)(read.which ? read.which : raw->which);
	kg_yaml_release(read_fields, &read);
	if (rc == 0 && kg_yaml_get(n, "which") && kg_yaml_get(raw->read, "which"))
		rc = kg_yaml_error(l->doc, kg_yaml_get(n, "which"), l->err,
				   "'which' stands here and in 'read'");
	return rc;
}

int kg_loader_metrics(const struct kg_loader *l, const struct kg_yaml_node *list)
{
	struct kg_workload *w = l->w;
	size_t i;
	int rc;

	if (list->kind != KG_YAML_SEQ || list->n == 0 || list->n > MAX_METRICS)
		return kg_yaml_error(l->doc, list, l->err,
				     "'metrics': expected a list of 1 to %d metrics", MAX_METRICS);
	w->metrics = calloc(list->n, sizeof(*w->metrics));
	if (!w->metrics)
		return kg_loader_no_memory(l);
	for (i = 0; i < list->n; i++) {
		struct raw_metric raw = {0};

		rc = kg_yaml_read(l->doc, list->items[i], metric_fields, &raw, l->err);
		if (rc < 0)
			return rc;
		w->n_metrics++;
		rc = fill_metric(l, list->items[i], &raw, &w->metrics[i]);
		kg_yaml_release(metric_fields, &raw);
		if (rc < 0)
			return rc;
	}
	return 0;
}
