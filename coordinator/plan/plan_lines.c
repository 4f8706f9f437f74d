/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines, the lists that they lead to, and settings: each made once and shared. */
#include <stdlib.h>
#include <string.h>

#include "coordinator/plan/plan_internal.h"

/* ---- what is written twice ---- */

static int same_lsms(struct plan_builder *b)
{
	struct plan_interned seen = {0};
	uint32_t *first = plan_scratch(b, b->job->n_lsms, sizeof(*first));
	uint32_t i, index, known;
	int rc = 0;

	b->same_lsm = plan_scratch(b, b->job->n_lsms, sizeof(*b->same_lsm));
	if (!first || !b->same_lsm)
		return plan_no_memory(b->err);
	for (i = 0; i < b->job->n_lsms && rc == 0; i++) {
		known = seen.n;
		rc = plan_intern(b, &seen, b->job->lsms[i].request, &index);
		if (rc == 0 && index == known)
			first[index] = i;
		if (rc == 0)
			b->same_lsm[i] = first[index];
	}
	free(seen.texts);
	return rc;
}

/* Words of the job and the variant, without blanks around and more than one between. */
static void add_words(struct kg_str *s, const char *words)
{
	bool quoted = false;

	for (; *words; words++) {
		if (*words == '"')
			quoted = !quoted;
		if (*words != ' ' || quoted)
			kg_str_addf(s, "%c", *words);
		else if (words[1] != ' ' && words[1] && s->len && s->text[s->len - 1] != ' ')
			kg_str_add(s, " ");
	}
}

static char *job_words(const struct plan_builder *b, uint32_t variant)
{
	const struct job_spec *j = b->job;
	const char *varied = b->variants[variant].words;
	struct kg_str s = {0};

	/* without a variant as it is written: identities of older jobs stay */
	if (!varied[0] || strspn(varied, " ") == strlen(varied)) {
		kg_str_add(&s, j->cmdline);
		return kg_str_take(&s);
	}
	add_words(&s, j->cmdline);
	if (s.len && s.text[s.len - 1] != ' ')
		kg_str_add(&s, " ");
	add_words(&s, varied);
	return kg_str_take(&s);
}

static int same_variants(struct plan_builder *b)
{
	struct plan_interned seen = {0};
	size_t n = b->n_variants;
	uint32_t *first = plan_scratch(b, n, sizeof(*first));
	uint32_t i, index, known;
	int rc = 0;

	b->same_variant = plan_scratch(b, n, sizeof(*b->same_variant));
	if (!first || !b->same_variant)
		return plan_no_memory(b->err);
	for (i = 0; i < n && rc == 0; i++) {
		char *words = job_words(b, i);

		known = seen.n;
		rc = words ? plan_intern(b, &seen, words, &index) : plan_no_memory(b->err);
		free(words);
		if (rc == 0 && index == known)
			first[index] = i;
		if (rc == 0)
			b->same_variant[i] = first[index];
	}
	free(seen.texts);
	return rc;
}

static int same_values(struct plan_builder *b)
{
	const struct job_spec *j = b->job;
	size_t i, k, n;

	b->same_value = plan_scratch(b, j->n_settings + 1, sizeof(*b->same_value));
	if (!b->same_value)
		return plan_no_memory(b->err);
	for (i = 0; i < j->n_settings; i++) {
		const struct job_texts *values = &j->settings[i].values;

		b->same_value[i] = plan_scratch(b, values->n + 1, sizeof(**b->same_value));
		if (!b->same_value[i])
			return plan_no_memory(b->err);
		for (n = 0; n < values->n; n++) {
			for (k = 0; strcmp(values->items[k].text, values->items[n].text) != 0; k++)
				;
			b->same_value[i][n] = (uint32_t)k;
		}
	}
	return 0;
}

/* ---- classes of machines ---- */

/* Whether a word of a line may change the list or the words that are added. Rather too often. */
static bool matters(const char *word, size_t len)
{
	static const char *const others[] = {"lsm", "security", "panic", "--"};
	size_t i, k;

	for (i = 0; i < 4 + LSM_COUNT; i++) {
		const char *name = i < 4 ? others[i] : lsm_name((enum lsm_id)(i - 4));
		size_t n = strlen(name);

		for (k = 0; k + n <= len; k++)
			if (strncmp(word + k, name, n) == 0)
				return true;
	}
	return false;
}

/* Machines whose lines differ in what does not matter, such as root=, are of one class. */
static int class_of(struct plan_builder *b, const struct plan_machine *m, uint32_t *ret_class)
{
	const char *base = m->base_cmdline ? m->base_cmdline : "";
	struct kg_str key = {0};
	int rc;

	if (strchr(base, '"')) { /* blanks may be part of a word */
		kg_str_add(&key, base);
		base = "";
	}
	for (; *base; base += strcspn(base, " "), base += *base == ' ')
		if (matters(base, strcspn(base, " ")))
			kg_str_addf(&key, "%.*s ", (int)strcspn(base, " "), base);
	rc = key.failed ? plan_no_memory(b->err)
			: plan_intern(b, &b->bases, kg_str_text(&key), ret_class);
	kg_str_deinit(&key);
	if (rc == 0 && !b->line_machines[*ret_class])
		b->line_machines[*ret_class] = m;
	return rc;
}

static int classify(struct plan_builder *b)
{
	size_t i, k;
	int rc = 0;

	b->line_machines = plan_scratch(b, b->in->n_machines + 1, sizeof(*b->line_machines));
	if (!b->line_machines)
		return plan_no_memory(b->err);
	for (i = 0; i < b->n_own && rc == 0; i++) {
		struct plan_column *c = &b->columns[i];

		rc = class_of(b, c->machine, &c->line_class);
		for (k = 0; k < c->n_peers && rc == 0; k++)
			if (c->peers[k].machine)
				rc = class_of(b, c->peers[k].machine, &c->peers[k].line_class);
	}
	return rc;
}

int plan_prepare_lines(struct plan_builder *b)
{
	size_t n = b->n_kernels * b->n_variants * b->job->n_lsms;
	int rc = same_lsms(b);

	if (rc == 0)
		rc = same_variants(b);
	if (rc == 0)
		rc = same_values(b);
	if (rc == 0)
		rc = classify(b);
	if (rc < 0)
		return rc;
	b->lines = plan_scratch(b, b->bases.n * n, sizeof(*b->lines));
	return b->lines ? 0 : plan_no_memory(b->err);
}

/* ---- lines ---- */

/* Predicts the list for the whole line and takes over the warnings. */
static int predict(struct plan_builder *b, const struct plan_selected *k, const char *base,
		   struct plan_line *x)
{
	struct kg_str line = {0};
	struct kg_err why = {{0}};
	struct lsm_list list;
	size_t i;
	int rc;

	if (!k->kernel->config || lsm_check_release(k->lsm.release, &why) < 0) /* none is known */
		return plan_intern(b, &b->effective, "", &x->effective);
	kg_str_addf(&line, "%s %s", base, x->cmdline);
	rc = line.failed ? plan_no_memory(b->err)
			 : lsm_resolve(&k->lsm, kg_str_text(&line), &list, b->err);
	kg_str_deinit(&line);
	if (rc < 0)
		return kg_err_wrap(b->err, rc, "kernel '%s'", k->shown);
	rc = plan_intern(b, &b->effective, list.effective, &x->effective);
	for (i = 0; i < list.warnings.n && rc == 0; i++)
		rc = plan_add_warning(b, "%s", list.warnings.items[i]);
	lsm_list_deinit(&list);
	return rc;
}

char *plan_variant_line(const struct plan_builder *b, const char *base, uint32_t variant,
			const char *request)
{
	char *words = job_words(b, variant);
	char *line = words ? plan_boot_cmdline(base, words, request) : NULL;

	free(words);
	return line;
}

static int make_line(struct plan_builder *b, const struct plan_selected *k, const char *base,
		     uint32_t variant, uint32_t lsm, struct plan_line *x)
{
	char *line = plan_variant_line(b, base, variant, b->job->lsms[lsm].request);
	int rc;

	if (!line)
		return plan_no_memory(b->err);
	x->len = strlen(line);
	x->cmdline = kg_arena_text(b->memory, line, x->len);
	free(line);
	if (!x->cmdline)
		return plan_no_memory(b->err);
	rc = predict(b, k, base, x);
	if (rc < 0)
		x->cmdline = NULL;
	return rc;
}

int plan_line_of(struct plan_builder *b, uint32_t line_class, uint32_t kernel, uint32_t variant,
		 uint32_t lsm, const struct plan_line **ret_line)
{
	const struct plan_machine *m = b->line_machines[line_class];
	struct plan_line *x =
		&b->lines[((line_class * b->n_kernels + kernel) * b->n_variants + variant) *
				  b->job->n_lsms +
			  lsm];

	*ret_line = x;
	if (x->cmdline)
		return 0;
	return make_line(b, &b->kernels[kernel], m->base_cmdline ? m->base_cmdline : "", variant,
			 lsm, x);
}

/* ---- settings ---- */

static int by_name(const void *a, const void *b)
{
	const struct kg_param_value *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static bool stops_kexec(const struct kg_param_value *v)
{
	if (strcmp(v->name, "sysctl.kernel.kexec_load_disabled") == 0)
		return strcmp(v->value, "0") != 0;
	return strcmp(v->name, "sysctl.kernel.kexec_load_limit_reboot") == 0 &&
	       strcmp(v->value, "0") == 0;
}

static int fill_settings(struct plan_builder *b, struct plan_settings *s)
{
	const struct job_spec *j = b->job;
	struct kg_str text = {0};
	size_t i;

	s->params.n = j->n_settings;
	s->params.items = plan_scratch(b, j->n_settings + 1, sizeof(*s->params.items));
	if (!s->params.items)
		return plan_no_memory(b->err);
	for (i = 0; i < j->n_settings; i++) {
		s->params.items[i].name = j->settings[i].name;
		s->params.items[i].value = j->settings[i].values.items[s->digits[i]].text;
		s->stops_kexec = s->stops_kexec || stops_kexec(&s->params.items[i]);
	}
	if (j->n_settings > 1)
		qsort(s->params.items, j->n_settings, sizeof(*s->params.items), by_name);
	for (i = 0; i < j->n_settings; i++)
		kg_str_addf(&text, "%s%s=%s", i ? "; " : "", s->params.items[i].name,
			    s->params.items[i].value);
	s->text = text.failed ? NULL : plan_keep(b, kg_str_text(&text));
	kg_str_deinit(&text);
	return s->text ? 0 : plan_no_memory(b->err);
}

int plan_settings_of(struct plan_builder *b, const uint32_t *digits, uint32_t *ret_index)
{
	size_t bytes = b->job->n_settings * sizeof(*digits);
	struct plan_settings *s;
	uint32_t *kept;
	int rc = plan_grow((void **)&b->settings, &b->size_settings, b->n_settings + 1,
			   sizeof(*b->settings));

	if (rc < 0)
		return plan_no_memory(b->err);
	s = &b->settings[b->n_settings];
	memset(s, 0, sizeof(*s));
	kept = plan_scratch(b, b->job->n_settings + 1, sizeof(*kept));
	if (!kept)
		return plan_no_memory(b->err);
	memcpy(kept, digits, bytes);
	s->digits = kept;
	rc = fill_settings(b, s);
	*ret_index = (uint32_t)b->n_settings;
	b->n_settings += rc == 0;
	return rc;
}

/* Whether a word is in a list that blanks separate; the brackets of sysfs do not count. */
static bool offers(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n;

		list += strspn(list, " [");
		n = strcspn(list, " ]");
		if (n == len && strncmp(list, word, n) == 0)
			return true;
		list += n;
		list += strspn(list, " ]");
	}
	return false;
}

static const char *offered(const struct plan_machine *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->n_settings; i++)
		if (strcmp(m->settings[i].name, name) == 0)
			return m->settings[i].value;
	return NULL;
}

static const char *not_offered(struct plan_builder *b, const struct plan_machine *m,
			       const struct kg_param_value *want)
{
	const char *values = offered(m, want->name);
	struct kg_str all = {0};
	const char *text;
	size_t i;

	if (values && values[0])
		return plan_text(b, "'%s' cannot be '%s' on '%s': it can be %s", want->name,
				 want->value, m->facts.name, values);
	for (i = 0; i < m->n_settings; i++)
		kg_str_addf(&all, "%s%s", i ? ", " : "", m->settings[i].name);
	text = plan_text(b, "'%s' cannot be set on '%s': what can is %s%ssysctl", want->name,
			 m->facts.name, kg_str_text(&all), all.len ? ", " : "");
	kg_str_deinit(&all);
	return text;
}

/* The first one that the machine does not offer; NULL: none. */
static const struct kg_param_value *first_missing(const struct plan_machine *m,
						  const struct plan_settings *s)
{
	size_t i;

	for (i = 0; i < s->params.n; i++) {
		const struct kg_param_value *want = &s->params.items[i];
		const char *values = offered(m, want->name);

		if (!kg_str_starts(want->name, "sysctl.") &&
		    !(values && offers(values, want->value)))
			return want;
	}
	return NULL;
}

bool plan_settings_possible(const struct plan_machine *m, const struct plan_settings *s)
{
	return s->params.n == 0 || (m->settings_known && !first_missing(m, s));
}

static int find_reason(struct plan_builder *b, const struct plan_machine *m,
		       const struct plan_settings *s, const char **ret)
{
	*ret = NULL;
	if (plan_settings_possible(m, s))
		return 0;
	*ret = m->settings_known
		       ? not_offered(b, m, first_missing(m, s))
		       : plan_text(b, "the agent of '%s' is too old to apply settings: update it",
				   m->facts.name);
	return *ret ? 0 : plan_no_memory(b->err);
}

int plan_settings_reason(struct plan_builder *b, struct plan_column *c,
			 const struct plan_machine *m, uint32_t settings, const char **ret)
{
	const struct plan_settings *s = &b->settings[settings];
	int rc;

	*ret = NULL;
	if (s->params.n == 0)
		return 0;
	if (m != c->machine) /* a server's are not kept */
		return find_reason(b, m, s, ret);
	if (settings < c->n_settings_reasons && c->settings_reasons[settings]) {
		*ret = c->settings_reasons[settings][0] ? c->settings_reasons[settings] : NULL;
		return 0;
	}
	rc = find_reason(b, m, s, ret);
	if (rc == 0 && settings < c->n_settings_reasons)
		c->settings_reasons[settings] = *ret ? *ret : "";
	return rc;
}

int plan_shown_variant(struct plan_builder *b, uint32_t variant, uint32_t settings,
		       const char **ret_text)
{
	const struct job_spec *j = b->job;
	const struct plan_settings *s = &b->settings[settings];
	const char *label = b->variants[variant].label;
	struct kg_str text = {0};
	size_t i;

	*ret_text = "";
	if (!label[0] && j->n_settings == 0)
		return 0;
	kg_str_add(&text, label);
	for (i = 0; i < j->n_settings; i++)
		if (j->settings[i].values.n > 1)
			kg_str_addf(&text, "%s%s=%s", text.len ? " " : "", j->settings[i].name,
				    j->settings[i].values.items[s->digits[i]].text);
	*ret_text = text.failed ? NULL : plan_keep(b, kg_str_text(&text));
	kg_str_deinit(&text);
	return *ret_text ? 0 : plan_no_memory(b->err);
}
