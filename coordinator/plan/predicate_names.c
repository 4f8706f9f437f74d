/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of a predicate and the values that they can have; what a wrong one was meant to be. */
#include "coordinator/plan/predicate_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "common/uarch.h"

static const char *const vendors[] = {"intel", "amd", "hygon", "centaur", "zhaoxin"};
static const char *const roles[] = {"client"};
static const char *const clocks[] = {"real", "instruction"};

static const struct {
	const char *name;
	enum kind kind;
	const char *const *choices;
	size_t n_choices;
	const char *help;
} subjects[SUBJ_COUNT] = {
	[SUBJ_NAME] = {"name", KIND_TEXT, NULL, 0, "its name"},
	[SUBJ_VENDOR] = {"vendor", KIND_TEXT, vendors, 5, "intel, amd, hygon, centaur or zhaoxin"},
	[SUBJ_FAMILY] = {"family", KIND_NUMBER, NULL, 0, "CPU family, as in /proc/cpuinfo"},
	[SUBJ_MODEL] = {"model", KIND_NUMBER, NULL, 0, "CPU model number"},
	[SUBJ_STEPPING] = {"stepping", KIND_NUMBER, NULL, 0, "CPU stepping"},
	[SUBJ_UARCH] = {"microarchitecture", KIND_TEXT, NULL, 0,
			"such as zen3 or cascadelake, see below"},
	[SUBJ_CPUS] = {"cpus", KIND_NUMBER, NULL, 0, "logical CPUs"},
	[SUBJ_SOCKETS] = {"sockets", KIND_NUMBER, NULL, 0, "CPU packages"},
	[SUBJ_NUMA_NODES] = {"numa_nodes", KIND_NUMBER, NULL, 0, "NUMA nodes"},
	[SUBJ_MEMORY] = {"memory", KIND_BYTES, NULL, 0, "bytes of memory; takes units, 8GiB"},
	[SUBJ_MICROCODE] = {"microcode", KIND_ANY, NULL, 0,
			    "revision, as in /proc/cpuinfo; hexadecimal ones have an order"},
	[SUBJ_CLOCK] = {"clock", KIND_TEXT, clocks, 2,
			"real, or instruction: a machine whose time counts instructions"},
	[SUBJ_TAGS] = {"tags", KIND_LIST, NULL, 0, "words that its owner gave it; nvme in tags"},
	[SUBJ_KERNEL] = {"kernel", KIND_LIST, NULL, 0, "its label or release"},
	[SUBJ_LSM] = {"lsm", KIND_TEXT, NULL, 0, "label under lsm"},
	[SUBJ_CMDLINE] = {"cmdline", KIND_LIST, NULL, 0,
			  "label of the variant, the whole variant, or one of its words"},
	[SUBJ_WORKLOAD] = {"workload", KIND_TEXT, NULL, 0, "name of the workload"},
	[SUBJ_SET] = {"set", KIND_TEXT, NULL, 0, "name of the set that the workload uses"},
	[SUBJ_ROLE] = {"role", KIND_TEXT, roles, 1, "client, absent without roles"},
	[SUBJ_PEER] = {"peer", KIND_TEXT, NULL, 0, "machine of the server, absent without roles"},
};

#define PARAM_PREFIX   "param."
#define SETTING_PREFIX "setting."

/* ---- finding ---- */

enum kind predicate_kind(enum subject s)
{
	return s >= SUBJ_COUNT ? KIND_ANY : subjects[s].kind;
}

const char *predicate_subject_name(const struct predicate *p)
{
	return p->subject >= SUBJ_COUNT ? p->param : subjects[p->subject].name;
}

static bool with_axes(const struct parser *p)
{
	return p->scope && p->scope->axes;
}

static size_t n_subjects(const struct parser *p)
{
	return with_axes(p) ? SUBJ_COUNT : SUBJ_KERNEL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

/* One of the job's own names; the lists are sorted. */
static const char *find_own(const char *word, const char *const *names, size_t n)
{
	const char *const *hit = n ? bsearch(word, names, n, sizeof(*names), by_text) : NULL;

	return hit ? *hit : NULL;
}

static bool find_param(const struct parser *p, const char *word, enum subject *ret_subject,
		       const char **ret_name)
{
	const char *name = find_own(word, p->scope->params, p->scope->n_params);

	if (!name && kg_str_starts(word, PARAM_PREFIX))
		name = find_own(word + strlen(PARAM_PREFIX), p->scope->params, p->scope->n_params);
	if (!name)
		return false;
	*ret_subject = SUBJ_PARAM;
	*ret_name = name;
	return true;
}

static bool find_setting(const struct parser *p, const char *word, enum subject *ret_subject,
			 const char **ret_name)
{
	const char *name = find_own(word, p->scope->settings, p->scope->n_settings);

	if (!name && kg_str_starts(word, SETTING_PREFIX))
		name = find_own(word + strlen(SETTING_PREFIX), p->scope->settings,
				p->scope->n_settings);
	if (!name)
		return false;
	*ret_subject = SUBJ_SETTING;
	*ret_name = name;
	return true;
}

bool predicate_find(const struct parser *p, const char *word, enum subject *ret_subject,
		    const char **ret_name)
{
	size_t i;

	for (i = 0; i < n_subjects(p); i++) {
		if (strcmp(subjects[i].name, word) == 0) {
			*ret_subject = (enum subject)i;
			*ret_name = subjects[i].name;
			return true;
		}
	}
	return with_axes(p) && (find_param(p, word, ret_subject, ret_name) ||
				find_setting(p, word, ret_subject, ret_name));
}

/* ---- names that are none ---- */

/* What people call them elsewhere. */
static const char *other_word(const char *word)
{
	static const char *const words[][2] = {
		{"uarch", "microarchitecture"},
		{"march", "microarchitecture"},
		{"ram", "memory"},
		{"machine", "name"},
		{"host", "name"},
		{"hostname", "name"},
		{"nodes", "numa_nodes"},
		{"tag", "tags"},
		{"cores", "cpus"},
		{"threads", "cpus"},
		{"parameters", "set"},
		{"server", "peer"},
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(words[i][0], word) == 0)
			return words[i][1];
	return NULL;
}

/* Also "VENDOR" and "numa". */
static const char *suggest(const char *word, const char *const *names, size_t n)
{
	const char *meant = kg_suggest(word, names, n);
	char lower[PREDICATE_WORD_MAX];
	size_t i, len = strlen(word);

	for (i = 0; i <= len; i++)
		lower[i] = (char)tolower((unsigned char)word[i]);
	if (!meant)
		meant = kg_suggest(lower, names, n);
	for (i = 0; !meant && len >= 3 && i < n; i++)
		if (kg_str_starts(names[i], lower))
			meant = names[i];
	return meant;
}

/* A sysctl that is named as sysctl(8) does, vm.swappiness. */
static const char *suggest_sysctl(const struct parser *p)
{
	const size_t len = strlen("sysctl.");
	size_t i;

	for (i = 0; i < p->scope->n_settings; i++)
		if (kg_str_starts(p->scope->settings[i], "sysctl.") &&
		    strcmp(p->scope->settings[i] + len, p->word) == 0)
			return p->scope->settings[i];
	return NULL;
}

static const char *suggest_name(const struct parser *p, const char *const *names, size_t n)
{
	const char *meant = suggest(p->word, names, n);
	const char *other = other_word(p->word);
	size_t i;

	for (i = 0; !meant && other && i < n; i++)
		if (strcmp(names[i], other) == 0)
			meant = names[i];
	if (!meant && with_axes(p))
		meant = suggest(p->word, p->scope->params, p->scope->n_params);
	if (!meant && with_axes(p))
		meant = suggest(p->word, p->scope->settings, p->scope->n_settings);
	if (!meant && with_axes(p))
		meant = suggest_sysctl(p);
	return meant;
}

/* "4 <= cpus", "intel == vendor": the token is the value. */
static bool is_turned_round(const struct parser *p)
{
	struct parser ahead = *p;
	struct kg_err unused;
	enum subject s;
	const char *name;

	ahead.err = &unused;
	return predicate_next(&ahead) == 0 && ahead.token == TOK_OP &&
	       predicate_next(&ahead) == 0 && ahead.token == TOK_WORD &&
	       predicate_find(&ahead, ahead.word, &s, &name);
}

/* Words that say what is wrong by themselves; NULL: none. */
static const char *known_slip(const struct parser *p, size_t n)
{
	enum subject s;
	const char *name;
	size_t i;

	if (p->token == TOK_QUOTED && predicate_find(p, p->word, &s, &name))
		return "a name stands without quotes";
	if (strcasecmp(p->word, "and") == 0 || strcasecmp(p->word, "or") == 0)
		return "a comparison is missing";
	if (strcasecmp(p->word, "not") == 0)
		return "write 'not' in small letters";
	if (is_turned_round(p))
		return "the name comes first, then the comparison and the value";
	for (i = SUBJ_KERNEL; n == SUBJ_KERNEL && i < SUBJ_COUNT; i++)
		if (strcmp(subjects[i].name, p->word) == 0)
			return "no fact of a machine; cells are chosen by it under 'exclude' and "
			       "'only'";
	return NULL;
}

int predicate_unknown(struct parser *p)
{
	const char *names[SUBJ_COUNT];
	size_t i, n = n_subjects(p), at = predicate_column(p, p->start);
	const char *meant, *slip = known_slip(p, n);
	struct kg_str all = {0};

	if (slip)
		return kg_err_set(p->err, KG_EINVALID, "column %zu: unknown name '%s': %s", at,
				  p->word, slip);
	for (i = 0; i < n; i++) {
		names[i] = subjects[i].name;
		kg_str_addf(&all, "%s%s", i ? ", " : "", names[i]);
	}
	meant = suggest_name(p, names, n);
	if (meant)
		kg_err_set(p->err, KG_EINVALID, "column %zu: unknown name '%s', did you mean '%s'?",
			   at, p->word, meant);
	else
		kg_err_set(p->err, KG_EINVALID, "column %zu: unknown name '%s', expected one of %s",
			   at, p->word, kg_str_text(&all));
	kg_str_deinit(&all);
	return KG_EINVALID;
}

/* ---- values that are none ---- */

/* The words that a subject can be equal to; n 0: any. */
static size_t choices_of(const struct parser *p, enum subject s, const char *const **ret_choices)
{
	if (s == SUBJ_LSM && p->scope->n_lsms > 0) {
		*ret_choices = p->scope->lsms;
		return p->scope->n_lsms;
	}
	if (s == SUBJ_WORKLOAD && p->scope->n_workloads > 0) {
		*ret_choices = p->scope->workloads;
		return p->scope->n_workloads;
	}
	if (s == SUBJ_SET && p->scope->n_sets > 0) {
		*ret_choices = p->scope->sets;
		return p->scope->n_sets;
	}
	if (s >= SUBJ_COUNT)
		return 0;
	*ret_choices = subjects[s].choices;
	return subjects[s].n_choices;
}

/* "Skylake client (Kaby, Coffee Lake)": names that are not told apart stand in parentheses. */
static bool stands_in_parentheses(const char *name, const char *folded)
{
	const char *p = strchr(name, '(');
	char one[PREDICATE_WORD_MAX];
	size_t len, n;

	for (p = p ? p + 1 : NULL; p && *p; p += len + strspn(p + len, " ,)")) {
		char word[32] = "";

		len = strcspn(p, " ,)");
		if (len >= sizeof(word))
			continue;
		memcpy(word, p, len);
		n = predicate_fold(word, one, sizeof(one));
		if (n >= 4 && strcmp(one, "lake") != 0 && strncmp(folded, one, n) == 0 &&
		    (!folded[n] || strcmp(folded + n, "lake") == 0))
			return true;
	}
	return false;
}

static const char *suggest_uarch(const char *word, const char *const *known, size_t n)
{
	char folded[PREDICATE_WORD_MAX], one_of[64];
	const char *one = one_of;
	const char *meant;
	size_t i;

	if (predicate_fold(word, folded, sizeof(folded)) == 0)
		return NULL;
	for (i = 0; i < n; i++)
		if (stands_in_parentheses(known[i], folded))
			return "Skylake client";
	meant = kg_suggest(word, known, n);
	for (i = 0; !meant && i < n; i++) { /* also without case, blanks and remarks */
		predicate_fold(known[i], one_of, sizeof(one_of));
		if (kg_suggest(folded, &one, 1))
			meant = known[i];
	}
	return meant;
}

/* A microarchitecture that nobody knows is a slip; families as numbers, 25-1-1, are taken. */
static int check_uarch(struct parser *p)
{
	const char *known[KG_UARCH_MAX];
	size_t n = kg_uarch_known(known, KG_UARCH_MAX);
	const char *meant;
	size_t i;

	for (i = 0; i < n; i++)
		if (predicate_uarch_is(known[i], p->word))
			return 0;
	if (p->word[0] >= '0' && p->word[0] <= '9')
		return 0;
	meant = suggest_uarch(p->word, known, n);
	return kg_err_set(p->err, KG_EINVALID,
			  "column %zu: there is no microarchitecture '%s'%s%s%s",
			  predicate_column(p, p->start), p->word,
			  meant ? ", did you mean '"
				: ", known are zen3, cascadelake and "
				  "others: see kgrid-job(5)",
			  meant ? meant : "", meant ? "'?" : "");
}

static int check_choice(struct parser *p, const struct predicate *node)
{
	const char *const *choices = NULL;
	size_t n = choices_of(p, node->subject, &choices);
	struct kg_str all = {0};
	const char *meant;
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(choices[i], p->word) == 0)
			return 0;
	if (n == 0)
		return 0;
	meant = suggest(p->word, choices, n);
	if (node->subject == SUBJ_VENDOR && predicate_vendor_word(p->word) != p->word)
		meant = predicate_vendor_word(p->word); /* GenuineIntel */
	for (i = 0; i < n; i++)
		kg_str_addf(&all, "%s%s", i ? ", " : "", choices[i]);
	if (meant)
		kg_err_set(p->err, KG_EINVALID,
			   "column %zu: '%s' is never '%s', did you mean '%s'?",
			   predicate_column(p, p->start), predicate_subject_name(node), p->word,
			   meant);
	else
		kg_err_set(p->err, KG_EINVALID,
			   "column %zu: '%s' is never '%s', expected one of %s",
			   predicate_column(p, p->start), predicate_subject_name(node), p->word,
			   kg_str_text(&all));
	kg_str_deinit(&all);
	return KG_EINVALID;
}

int predicate_check_value(struct parser *p, const struct predicate *node)
{
	return node->subject == SUBJ_UARCH ? check_uarch(p) : check_choice(p, node);
}

void predicate_manual(bool axes, struct kg_str *out)
{
	size_t i;

	for (i = axes ? SUBJ_KERNEL : 0; i < (axes ? SUBJ_COUNT : SUBJ_KERNEL); i++)
		kg_str_addf(out, ".TP\n\\fB%s\\fR\n%s.\n", subjects[i].name, subjects[i].help);
}
