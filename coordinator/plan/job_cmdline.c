/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `cmdline:`: words for every boot, and variants of them. */
#include "coordinator/plan/job_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cmdline.h"

#define PLAIN "plain" /* label of a variant without words */

struct raw_cmdline {
	const struct kg_yaml_node *base, *vary;
};

const struct kg_field job_cmdline_fields[] = {
	{.key = "base",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_cmdline, base),
	 .help = "words for the command line of every boot"},
	{.key = "vary",
	 .type = KG_FIELD_NODE,
	 .offset = offsetof(struct raw_cmdline, vary),
	 .help = "further words, each of which is tried"},
	{.key = NULL},
};

static int refuse(const struct job_input *in, const struct kg_yaml_node *n, const char *word,
		  const char *why)
{
	return kg_yaml_error(in->doc, n, in->err, "'cmdline': '%.64s' %s", word, why);
}

/* Words of the line that would fight with what kgrid adds itself. */
static int check_word(const struct job_input *in, const struct kg_yaml_node *n, const char *word)
{
	const struct job_spec *j = in->job;
	const char *name = word[0] == '"' ? word + 1 : word;
	bool lists = false;
	size_t i;

	for (i = 0; i < j->n_lsms; i++)
		lists = lists || strcmp(j->lsms[i].request, JOB_LSM_DEFAULT) != 0;
	if (kg_str_starts(name, "lsm="))
		return refuse(
			in, n, word,
			"belongs under 'lsm:', so that the list can be predicted and checked");
#ifdef KGRID_FAULTS /* a lab test switches a fault point of the agent on for one job */
	if (kg_str_starts(name, "kgrid.fault="))
		return 0;
#endif
	if (kg_str_starts(name, "kgrid."))
		return refuse(in, n, word,
			      "is refused: words that begin with 'kgrid.' are kgrid's own; leave "
			      "it out");
	if (kg_str_starts(name, "security=") && lists)
		return refuse(in, n, word,
			      "has no effect beside the lists of 'lsm:'; leave it out, or give "
			      "'lsm:' only the value 'default'");
	if (strcmp(word, "--") == 0)
		return kg_yaml_error(in->doc, n, in->err,
				     "'cmdline': what follows '--' goes to init and not to the "
				     "kernel; leave it out");
	return 0;
}

static int check_words(const struct job_input *in, const struct kg_yaml_node *n)
{
	struct kg_cmdline c;
	const char *p;
	size_t i, quotes = 0;
	int rc;

	if (n->kind != KG_YAML_SCALAR || job_is_null(n))
		return kg_yaml_error(in->doc, n, in->err,
				     "'cmdline': expected text such as 'mitigations=auto'");
	for (p = n->text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return kg_yaml_error(
				in->doc, n, in->err,
				"'cmdline': no control characters: a line break ends it");
		quotes += *p == '"';
	}
	if (quotes % 2)
		return kg_yaml_error(in->doc, n, in->err,
				     "'cmdline': the quotes in '%.64s' are not closed: the kernel "
				     "would take all that follows for one word",
				     n->text);
	rc = kg_cmdline_parse(n->text, &c);
	if (rc < 0)
		return rc == -ENOMEM ? job_no_memory(in->err)
				     : kg_yaml_error(in->doc, n, in->err,
						     "'cmdline': cannot be split into words");
	for (i = 0; i < c.n && rc == 0; i++)
		rc = check_word(in, n, c.words[i]);
	kg_cmdline_deinit(&c);
	return rc;
}

/* ---- variants ---- */

/* One blank between words and none around them: what is the same line is the same variant. */
static char *trimmed(const char *text)
{
	struct kg_str s = {0};
	bool quoted = false, blank = false;

	for (; *text; text++) {
		if (*text == ' ' && !quoted) {
			blank = s.len > 0;
			continue;
		}
		if (*text == '"')
			quoted = !quoted;
		kg_str_add(&s, blank ? " " : "");
		kg_str_addn(&s, text, 1);
		blank = false;
	}
	return kg_str_take(&s);
}

/* `label` NULL: the words are their own label. */
static int add_variant(const struct job_input *in, const struct kg_yaml_node *label,
		       const struct kg_yaml_node *words)
{
	struct job_spec *j = in->job;
	struct job_variant *v;
	char line[JOB_LINE_MAX];
	size_t i;
	int rc;

	if (words->kind != KG_YAML_SCALAR || job_is_null(words))
		return kg_yaml_error(in->doc, words, in->err,
				     "'cmdline.vary': expected words such as 'mitigations=off', or "
				     "\"\" for none");
	rc = check_words(in, words);
	if (rc == 0 && label && !kg_name_valid(label->text))
		rc = kg_yaml_error(in->doc, label, in->err,
				   "'cmdline.vary': '%.64s' is not a label: 1 to 63 letters, "
				   "digits and ._+- (not first . or -)",
				   label->text);
	if (rc < 0)
		return rc;
	v = realloc(j->variants, (j->n_variants + 1) * sizeof(*v));
	if (!v)
		return job_no_memory(in->err);
	j->variants = v;
	v = &v[j->n_variants++];
	*v = (struct job_variant){.at = job_place_of(in, label ? label : words)};
	v->words = trimmed(words->text);
	if (v->words)
		v->label = strdup(label ? label->text : v->words[0] ? v->words : PLAIN);
	if (!v->label)
		return job_no_memory(in->err);
	for (i = 0; i + 1 < j->n_variants; i++) {
		const struct job_variant *o = &j->variants[i];

		if (strcmp(o->label, v->label) == 0)
			return kg_yaml_error(in->doc, label ? label : words, in->err,
					     "'cmdline.vary': '%.64s' is there already, in %s",
					     v->label, job_line(&o->at, line, sizeof(line)));
		if (strcmp(o->words, v->words) == 0)
			return kg_yaml_error(in->doc, words, in->err,
					     "'cmdline.vary': '%.64s' has the words of '%.64s' in "
					     "%s: each variant needs its own",
					     v->label, o->label,
					     job_line(&o->at, line, sizeof(line)));
	}
	return 0;
}

static int read_vary(const struct job_input *in, const struct kg_yaml_node *n)
{
	size_t i;
	int rc = 0;

	if (n->kind == KG_YAML_SCALAR)
		return add_variant(in, NULL, n);
	if (n->n == 0)
		return kg_yaml_error(in->doc, n, in->err, "'cmdline.vary': the list is empty");
	rc = job_check_count(in, n, "cmdline.vary");
	for (i = 0; i < n->n && rc == 0; i++)
		rc = add_variant(in, n->kind == KG_YAML_MAP ? n->keys[i] : NULL, n->items[i]);
	return rc;
}

static int add_plain(const struct job_input *in)
{
	struct job_spec *j = in->job;

	j->variants = calloc(1, sizeof(*j->variants));
	if (!j->variants)
		return job_no_memory(in->err);
	j->n_variants = 1;
	j->variants[0].at = j->cmdline_at;
	j->variants[0].label = strdup("");
	j->variants[0].words = strdup("");
	return j->variants[0].label && j->variants[0].words ? 0 : job_no_memory(in->err);
}

int job_read_cmdline(const struct job_input *in, const struct kg_yaml_node *n,
		     const struct kg_yaml_node *extra)
{
	struct job_spec *j = in->job;
	struct raw_cmdline raw = {.base = n};
	struct job_place at = {0};
	char line[JOB_LINE_MAX];
	int rc = 0;

	if (n && n->kind == KG_YAML_MAP) {
		raw.base = NULL;
		rc = kg_yaml_read(in->doc, n, job_cmdline_fields, &raw, in->err);
	} else if (n && n->kind == KG_YAML_SEQ) {
		return kg_yaml_error(in->doc, n, in->err,
				     "'cmdline': expected text such as 'mitigations=auto', or "
				     "{base: words, vary: [words, words]}");
	}
	if (rc == 0 && raw.base) {
		j->cmdline_at = job_place_of(in, raw.base);
		rc = check_words(in, raw.base);
	}
	if (rc < 0)
		return rc;
	j->cmdline = strdup(raw.base ? raw.base->text : "");
	if (!j->cmdline)
		return job_no_memory(in->err);
	if (raw.vary)
		at = job_place_of(in, raw.vary);
	if (raw.vary && extra)
		return kg_yaml_error(in->doc, extra, in->err,
				     "'matrix.cmdline': 'cmdline.vary' is there already, in %s",
				     job_line(&at, line, sizeof(line)));
	if (raw.vary || extra)
		return read_vary(in, raw.vary ? raw.vary : extra);
	return add_plain(in);
}
