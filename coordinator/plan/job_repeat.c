/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `repeat:` with its stop rule, and `when:`. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/warn.h"

#define UNTIL_PRESET "ci95 <= 1%"

/* "5", "5..12"; blanks around the dots are fine. */
static int parse_boots(const char *text, uint64_t *ret_from, uint64_t *ret_to)
{
	const char *dots = strstr(text, "..");
	char low[24];
	size_t len = dots ? (size_t)(dots - text) : strlen(text);

	while (len > 0 && text[len - 1] == ' ')
		len--;
	if (len == 0 || len >= sizeof(low))
		return KG_EINVALID;
	memcpy(low, text, len);
	low[len] = '\0';
	if (kg_parse_u64(low, ret_from) < 0)
		return KG_EINVALID;
	*ret_to = *ret_from;
	return dots ? kg_parse_u64(dots + 2 + strspn(dots + 2, " "), ret_to) : 0;
}

static int read_boots(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;
	uint64_t from, to;

	j->boots = j->boots_max = JOB_BOOTS;
	if (!n)
		return 0;
	if (n->kind != KG_YAML_SCALAR || parse_boots(n->text, &from, &to) < 0 || from < 1 ||
	    to > JOB_MAX_BOOTS || from > JOB_MAX_BOOTS)
		return kg_yaml_error(in->doc, n, in->err,
				     "'boots': expected a whole number from 1 to %d, or a range "
				     "such as 5..12",
				     JOB_MAX_BOOTS);
	if (from > to)
		return kg_yaml_error(in->doc, n, in->err,
				     "'boots': the range '%s' ends before it begins; write "
				     "'%llu..%llu'",
				     n->text, (unsigned long long)to, (unsigned long long)from);
	j->boots = (uint32_t)from;
	j->boots_max = (uint32_t)to;
	return 0;
}

/* "ci95 <= 1%": the interval of an effect is at most so wide, in percent. */
static bool parse_until(const char *text, double *ret_pct)
{
	char number[32];
	const char *p = text + strspn(text, " ");
	size_t len;

	if (strncmp(p, "ci95", 4) != 0)
		return false;
	p += 4;
	p += strspn(p, " ");
	if (strncmp(p, "<=", 2) != 0)
		return false;
	p += 2;
	p += strspn(p, " ");
	len = strcspn(p, " %");
	if (len == 0 || len >= sizeof(number))
		return false;
	memcpy(number, p, len);
	number[len] = '\0';
	p += len;
	p += strspn(p, " ");
	if (*p++ != '%' || p[strspn(p, " ")] != '\0' || kg_parse_double(number, ret_pct) < 0)
		return false;
	return *ret_pct > 0 && *ret_pct <= 100;
}

static int set_until(const struct job_input *in, const char *text)
{
	struct job_spec *j = in->job;

	j->until = strdup(text);
	return j->until ? 0 : job_no_memory(in->err);
}

static int read_until(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct job_spec *j = in->job;
	bool range = j->boots_max > j->boots;

	if (!n && !range)
		return 0;
	if (!n) {
		j->until_pct = 1;
		if (plan_warn(&j->warnings,
			      "repeat.boots: a range without 'until' goes on until '%s'; write one "
			      "number for a fixed number of boots",
			      UNTIL_PRESET) < 0)
			return job_no_memory(in->err);
		return set_until(in, UNTIL_PRESET);
	}
	if (n->kind != KG_YAML_SCALAR || !parse_until(n->text, &j->until_pct))
		return kg_yaml_error(in->doc, n, in->err,
				     "'until': expected 'ci95 <= N%%' with N over 0 and at most "
				     "100, not '%.64s'",
				     n->kind == KG_YAML_SCALAR ? n->text : "a list or a mapping");
	if (!range)
		return kg_yaml_error(in->doc, n, in->err,
				     "'until': a stop rule needs a range of boots to stop in, such "
				     "as 'boots: %u..%u'",
				     j->boots + 7 <= JOB_MAX_BOOTS ? j->boots : JOB_BOOTS,
				     j->boots + 7 <= JOB_MAX_BOOTS ? j->boots + 7 : j->boots);
	return set_until(in, n->text);
}

int job_read_repeat(const struct job_input *in, const struct job_repeat *r)
{
	int rc = read_boots(in, r->boots);

	in->job->iterations = (uint32_t)r->iterations;
	return rc < 0 ? rc : read_until(in, r->until);
}

/* ---- when ---- */

/* "03:30" -> 210. */
static bool parse_clock(const char *text, uint32_t *ret_minute)
{
	unsigned hour, minute;
	int end = 0;

	if (strspn(text, "0123456789:") != strlen(text) ||
	    sscanf(text, "%2u:%2u%n", &hour, &minute, &end) != 2 || text[end] || hour > 23 ||
	    minute > 59)
		return false;
	*ret_minute = hour * 60 + minute;
	return true;
}

int job_read_when(const struct job_input *in, const struct kg_yaml_node *n)
{
	static const char *const words[] = {"kernel added", "nightly"};
	struct job_spec *j = in->job;
	const struct kg_yaml_node *at;

	j->nightly_minute = JOB_NIGHTLY_MINUTE;
	if (!n)
		return 0;
	if (n->kind == KG_YAML_SCALAR && strcmp(n->text, "kernel added") == 0) {
		j->when = JOB_WHEN_KERNEL_ADDED;
		return 0;
	}
	if (n->kind == KG_YAML_SCALAR && strcmp(n->text, "nightly") == 0) {
		j->when = JOB_WHEN_NIGHTLY;
		return 0;
	}
	if (n->kind == KG_YAML_SCALAR && !job_is_null(n))
		return job_unknown(in, n, "'when': unknown occasion", words, 2);
	if (n->kind == KG_YAML_MAP && n->n == 1 && strcmp(n->keys[0]->text, "nightly") != 0)
		return job_unknown(in, n->keys[0], "'when': unknown key", &words[1], 1);
	at = n->kind == KG_YAML_MAP && n->n == 1 ? kg_yaml_get(n, "nightly") : NULL;
	if (!at || at->kind != KG_YAML_SCALAR || !parse_clock(at->text, &j->nightly_minute))
		return kg_yaml_error(in->doc, at ? at : n, in->err,
				     "'when': expected 'kernel added', 'nightly', or {nightly: "
				     "\"03:30\"}");
	j->when = JOB_WHEN_NIGHTLY;
	return 0;
}
