/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/predicate_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/uarch.h"

#define MAX_DEPTH 32 /* parentheses and "not" inside each other */
#define MAX_WORD  128
#define MAX_TEXT  4096 /* bounds the depth of the tree, too */

enum kind { KIND_TEXT, KIND_NUMBER, KIND_BYTES, KIND_LIST, KIND_ANY };

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

/* ---- words ---- */

enum token { TOK_END, TOK_WORD, TOK_QUOTED, TOK_OPEN, TOK_CLOSE, TOK_COMMA, TOK_OP };

struct parser {
	const struct predicate_scope *scope;
	const char *text;
	size_t pos; /* behind the token */
	enum token token;
	size_t start; /* of the token */
	char word[MAX_WORD];
	enum op op;
	unsigned depth;
	struct kg_err *err;
};

/* Columns count characters, as editors do, bytes of the text come in. */
static size_t column(const struct parser *p, size_t at)
{
	size_t i, n = 1;

	for (i = 0; i < at && p->text[i]; i++)
		n += ((unsigned char)p->text[i] & 0xc0) != 0x80;
	return n;
}

static int fail(struct parser *p, size_t at, const char *text)
{
	return kg_err_set(p->err, KG_EINVALID, "column %zu: %s", column(p, at), text);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || strchr("._+-:/%@*", c);
}

static int read_quoted(struct parser *p)
{
	char quote = p->text[p->pos];
	const char *end = strchr(p->text + p->pos + 1, quote);
	size_t len;

	if (!end)
		return fail(p, p->pos, "the quotes are not closed");
	len = (size_t)(end - (p->text + p->pos + 1));
	if (len >= MAX_WORD)
		return fail(p, p->pos, "the text is too long");
	memcpy(p->word, p->text + p->pos + 1, len);
	p->word[len] = '\0';
	p->token = TOK_QUOTED;
	p->pos += len + 2;
	return 0;
}

/* A whole character, or the number of one that cannot be shown. */
static int no_meaning(struct parser *p)
{
	const char *at = p->text + p->pos;
	int len = 1;

	if ((unsigned char)at[0] < 0x20 || at[0] == 0x7f)
		return kg_err_set(p->err, KG_EINVALID,
				  "column %zu: the control character 0x%02x has no meaning here",
				  column(p, p->pos), (unsigned)(unsigned char)at[0]);
	while (((unsigned char)at[len] & 0xc0) == 0x80)
		len++;
	return kg_err_set(p->err, KG_EINVALID, "column %zu: '%.*s' has no meaning here%s",
			  column(p, p->pos), len, at,
			  (unsigned char)at[0] >= 0x80 ? "; put text with it in quotes" : "");
}

static int read_op(struct parser *p)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {{"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE},
		   {">=", OP_GE}, {"<", OP_LT},	 {">", OP_GT}};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!kg_str_starts(p->text + p->pos, ops[i].text))
			continue;
		p->token = TOK_OP;
		p->op = ops[i].op;
		p->pos += strlen(ops[i].text);
		return 0;
	}
	switch (p->text[p->pos]) {
	case '=':
		return fail(p, p->pos,
			    "'=' compares nothing: write '==', and a value with '=' in it in "
			    "quotes");
	case '&':
		return fail(p, p->pos, "write 'and' instead of '&'");
	case '|':
		return fail(p, p->pos, "write 'or' instead of '|'");
	case '!':
		return fail(p, p->pos, "write 'not' instead of '!'");
	default:
		return no_meaning(p);
	}
}

static int next(struct parser *p)
{
	size_t len = 0;
	char c;

	while (isspace((unsigned char)p->text[p->pos]))
		p->pos++;
	p->start = p->pos;
	c = p->text[p->pos];
	p->word[0] = '\0';
	if (c == '\0') {
		p->token = TOK_END;
		return 0;
	}
	if (c == '(' || c == ')' || c == ',') {
		p->token = c == '(' ? TOK_OPEN : c == ')' ? TOK_CLOSE : TOK_COMMA;
		p->pos++;
		return 0;
	}
	if (c == '"' || c == '\'')
		return read_quoted(p);
	while (p->text[p->pos + len] && is_word(p->text[p->pos + len]))
		len++;
	if (len == 0)
		return read_op(p);
	if (len >= MAX_WORD)
		return fail(p, p->pos, "the word is too long");
	memcpy(p->word, p->text + p->pos, len);
	p->word[len] = '\0';
	p->token = TOK_WORD;
	p->pos += len;
	return 0;
}

static bool at_word(const struct parser *p, const char *word)
{
	return p->token == TOK_WORD && strcmp(p->word, word) == 0;
}

/* ---- names and values ---- */

static size_t n_subjects(const struct parser *p)
{
	return p->scope && p->scope->axes ? SUBJ_COUNT : SUBJ_KERNEL;
}

static bool find_subject(const struct parser *p, const char *name, enum subject *ret_subject)
{
	size_t i;

	for (i = 0; i < n_subjects(p); i++) {
		if (strcmp(subjects[i].name, name) == 0) {
			*ret_subject = (enum subject)i;
			return true;
		}
	}
	for (i = 0; p->scope && p->scope->axes && i < p->scope->n_params; i++) {
		if (strcmp(p->scope->params[i], name) == 0) {
			*ret_subject = SUBJ_PARAM;
			return true;
		}
	}
	for (i = 0; p->scope && p->scope->axes && i < p->scope->n_settings; i++) {
		if (strcmp(p->scope->settings[i], name) == 0) {
			*ret_subject = SUBJ_SETTING;
			return true;
		}
	}
	return false;
}

/* Also "VENDOR", "numa" and "uarch". */
static const char *suggest(const char *word, const char *const *names, size_t n)
{
	const char *meant = kg_suggest(word, names, n);
	char lower[MAX_WORD];
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

static int unknown_name(struct parser *p)
{
	const char *names[SUBJ_COUNT];
	const char *meant;
	struct kg_str all = {0};
	size_t n = n_subjects(p);
	size_t i;

	for (i = 0; i < n; i++) {
		names[i] = subjects[i].name;
		kg_str_addf(&all, "%s%s", i ? ", " : "", names[i]);
	}
	meant = suggest(p->word, names, n);
	if (!meant && p->scope && p->scope->axes)
		meant = suggest(p->word, p->scope->params, p->scope->n_params);
	if (!meant && p->scope && p->scope->axes)
		meant = suggest(p->word, p->scope->settings, p->scope->n_settings);
	for (i = SUBJ_KERNEL; !meant && n == SUBJ_KERNEL && i < SUBJ_COUNT; i++)
		if (strcmp(subjects[i].name, p->word) == 0) {
			kg_str_deinit(&all);
			return kg_err_set(p->err, KG_EINVALID,
					  "column %zu: unknown name '%s': no fact of a machine; "
					  "cells are chosen "
					  "by it under 'exclude' and 'only'",
					  column(p, p->start), p->word);
		}
	if (meant)
		kg_err_set(p->err, KG_EINVALID, "column %zu: unknown name '%s', did you mean '%s'?",
			   column(p, p->start), p->word, meant);
	else
		kg_err_set(p->err, KG_EINVALID, "column %zu: unknown name '%s', expected one of %s",
			   column(p, p->start), p->word, kg_str_text(&all));
	kg_str_deinit(&all);
	return KG_EINVALID;
}

static enum kind kind_of(enum subject s)
{
	return s >= SUBJ_COUNT ? KIND_ANY : subjects[s].kind;
}

static const char *subject_name(const struct predicate *p)
{
	return p->subject >= SUBJ_COUNT ? p->param : subjects[p->subject].name;
}

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

static const char *suggest_uarch(const char *word, const char *const *known, size_t n)
{
	const char *meant = kg_suggest(word, known, n);
	char folded[MAX_WORD], one_of[64];
	const char *one = one_of;
	size_t i;

	if (meant || predicate_fold(word, folded, sizeof(folded)) == 0)
		return meant;
	for (i = 0; i < n; i++) { /* also without case, blanks and remarks */
		predicate_fold(known[i], one_of, sizeof(one_of));
		if (kg_suggest(folded, &one, 1))
			return known[i];
	}
	return NULL;
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
			  column(p, p->start), p->word,
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
			   column(p, p->start), subject_name(node), p->word, meant);
	else
		kg_err_set(p->err, KG_EINVALID,
			   "column %zu: '%s' is never '%s', expected one of %s",
			   column(p, p->start), subject_name(node), p->word, kg_str_text(&all));
	kg_str_deinit(&all);
	return KG_EINVALID;
}

/* A number as people write it in a predicate: decimal, hexadecimal, or with a unit of bytes. */
bool predicate_number(const char *text, double *ret)
{
	uint64_t bytes;
	char *end;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		*ret = (double)strtoull(text, &end, 16);
		return text[2] && *end == '\0';
	}
	if (kg_parse_double(text, ret) == 0)
		return true;
	if (kg_parse_bytes(text, &bytes) < 0)
		return false;
	*ret = (double)bytes;
	return true;
}

static bool ordering(enum op op)
{
	return op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
}

/* Takes the token as one more value of the comparison. */
static int add_value(struct parser *p, struct predicate *node)
{
	enum kind kind = kind_of(node->subject);
	struct value *values;
	struct value *v;
	int rc;

	if (p->token != TOK_WORD && p->token != TOK_QUOTED)
		return fail(p, p->start, "expected a value");
	values = realloc(node->values, (node->n_values + 1) * sizeof(*values));
	if (!values)
		return -ENOMEM;
	node->values = values;
	v = &values[node->n_values];
	memset(v, 0, sizeof(*v));
	v->text = strdup(p->word);
	if (!v->text)
		return -ENOMEM;
	node->n_values++;
	v->is_number = predicate_number(p->word, &v->number);
	if (!v->is_number && (kind == KIND_NUMBER || kind == KIND_BYTES || ordering(node->op)))
		return kg_err_set(p->err, KG_EINVALID, "column %zu: expected a number%s, not '%s'",
				  column(p, p->start), kind == KIND_BYTES ? " such as 8GiB" : "",
				  p->word);
	rc = node->subject == SUBJ_UARCH ? check_uarch(p) : check_choice(p, node);
	if (rc == 0)
		node->end = p->pos;
	return rc < 0 ? rc : next(p);
}

/* ---- grammar ---- */

static int parse_or(struct parser *p, struct predicate **ret);

static int parse_values(struct parser *p, struct predicate *node)
{
	int rc;

	if (p->token != TOK_OPEN)
		return fail(p, p->start,
			    "expected '(' and the values, as in 'vendor in (intel, amd)'");
	do {
		rc = next(p);
		if (rc == 0)
			rc = add_value(p, node);
		if (rc < 0)
			return rc;
	} while (p->token == TOK_COMMA);
	if (p->token != TOK_CLOSE)
		return fail(p, p->start, "expected ',' or ')'");
	node->end = p->pos;
	return next(p);
}

/* VALUE [not] in LIST, where the value has been read already. */
static int parse_member(struct parser *p, struct predicate *node, const char *value, size_t at)
{
	enum subject subject;

	if (p->token != TOK_WORD || !find_subject(p, p->word, &subject) ||
	    kind_of(subject) != KIND_LIST)
		return fail(p, p->start,
			    p->scope && p->scope->axes
				    ? "expected 'tags', 'cmdline', 'kernel' or '(' behind 'in'"
				    : "expected 'tags' or '(' behind 'in'");
	node->subject = subject;
	p->token = TOK_QUOTED;
	p->start = at;
	(void)snprintf(p->word, sizeof(p->word), "%s", value);
	return add_value(p, node); /* also goes to the token behind the list's name */
}

static int parse_name(struct parser *p, struct predicate *node)
{
	if (p->token != TOK_WORD || !find_subject(p, p->word, &node->subject))
		return unknown_name(p);
	if (node->subject >= SUBJ_COUNT) {
		node->param = strdup(p->word);
		if (!node->param)
			return -ENOMEM;
	}
	return next(p);
}

static int parse_operator(struct parser *p, struct predicate *node)
{
	size_t at = p->start;
	enum kind kind = kind_of(node->subject);

	if (p->token != TOK_OP)
		return fail(p, at, "expected a comparison: ==, !=, <, <=, >, >= or in");
	node->op = p->op;
	if (ordering(p->op) && (kind == KIND_TEXT || kind == KIND_LIST))
		return kg_err_set(p->err, KG_EINVALID,
				  "column %zu: '%s' is text and has no order, only ==, != and in",
				  column(p, at), subject_name(node));
	return next(p);
}

/* "in" or "not in"; *ret_found tells whether one stood there. */
static int parse_in(struct parser *p, struct predicate *node, bool *ret_found)
{
	int rc;

	*ret_found = true;
	node->op = OP_IN;
	if (at_word(p, "not")) {
		node->op = OP_NOT_IN;
		rc = next(p);
		if (rc < 0)
			return rc;
		if (!at_word(p, "in"))
			return fail(p, p->start, "expected 'in' behind 'not'");
	} else if (!at_word(p, "in")) {
		*ret_found = false;
		return 0;
	}
	return next(p);
}

static int parse_comparison(struct parser *p, struct predicate *node)
{
	struct parser start = *p;
	char first[MAX_WORD];
	bool is_in = false;
	int rc;

	if (p->token != TOK_WORD && p->token != TOK_QUOTED)
		return fail(p, p->start,
			    p->token == TOK_END ? "a comparison is missing" : "expected a name");
	node->start = p->start;
	memcpy(first, p->word, sizeof(first));
	rc = next(p);
	if (rc == 0)
		rc = parse_in(p, node, &is_in);
	if (rc < 0)
		return rc;
	if (is_in && p->token != TOK_OPEN)
		return parse_member(p, node, first, start.start);
	/* it is NAME op ...: read the name for good, then go on behind it */
	*p = start;
	rc = parse_name(p, node);
	if (rc < 0)
		return rc;
	if (is_in) {
		rc = parse_in(p, node, &is_in);
		return rc < 0 ? rc : parse_values(p, node);
	}
	rc = parse_operator(p, node);
	return rc < 0 ? rc : add_value(p, node);
}

static struct predicate *new_node(enum op op)
{
	struct predicate *node = calloc(1, sizeof(*node));

	if (node)
		node->op = op;
	return node;
}

/* On failure *ret may hold a part that the caller frees with the whole. */
static int parse_not(struct parser *p, struct predicate **ret)
{
	int rc;

	if (++p->depth > MAX_DEPTH)
		return fail(p, p->start, "too many parentheses inside each other");
	if (p->token == TOK_OPEN) {
		rc = next(p);
		if (rc == 0)
			rc = parse_or(p, ret);
		if (rc == 0 && p->token != TOK_CLOSE)
			rc = fail(p, p->start, "expected ')', 'and' or 'or'");
		if (rc == 0)
			rc = next(p);
	} else if (at_word(p, "not")) {
		*ret = new_node(OP_NOT);
		rc = *ret ? next(p) : -ENOMEM;
		if (rc == 0)
			rc = parse_not(p, &(*ret)->left);
	} else {
		*ret = new_node(OP_EQ);
		rc = *ret ? parse_comparison(p, *ret) : -ENOMEM;
	}
	p->depth--;
	return rc;
}

/* One level of left-associative "and" or "or". */
static int parse_chain(struct parser *p, const char *word, enum op op,
		       int (*lower)(struct parser *, struct predicate **), struct predicate **ret)
{
	int rc = lower(p, ret);

	while (rc == 0 && at_word(p, word)) {
		struct predicate *node = new_node(op);

		if (!node)
			return -ENOMEM;
		node->left = *ret;
		*ret = node;
		rc = next(p);
		if (rc == 0)
			rc = lower(p, &node->right);
	}
	return rc;
}

static int parse_and(struct parser *p, struct predicate **ret)
{
	return parse_chain(p, "and", OP_AND, parse_not, ret);
}

static int parse_or(struct parser *p, struct predicate **ret)
{
	return parse_chain(p, "or", OP_OR, parse_and, ret);
}

int predicate_parse(const char *text, const struct predicate_scope *scope, struct predicate **ret_p,
		    struct kg_err *err)
{
	struct parser p = {.scope = scope, .text = text, .err = err};
	struct predicate *root = NULL;
	int rc;

	if (strlen(text) > MAX_TEXT)
		return fail(&p, MAX_TEXT, "the predicate is too long");
	rc = next(&p);
	if (rc == 0 && p.token == TOK_END)
		rc = fail(&p, 0, "the predicate is empty");
	if (rc == 0)
		rc = parse_or(&p, &root);
	if (rc == 0 && p.token != TOK_END)
		rc = fail(&p, p.start, "expected 'and', 'or' or the end");
	if (rc == -ENOMEM)
		kg_err_set(err, rc, "out of memory");
	if (rc < 0) {
		predicate_free(root);
		return rc;
	}
	root->text = strdup(text);
	if (!root->text) {
		predicate_free(root);
		return kg_err_set(err, -ENOMEM, "out of memory");
	}
	*ret_p = root;
	return 0;
}

void predicate_manual(bool axes, struct kg_str *out)
{
	size_t i;

	for (i = axes ? SUBJ_KERNEL : 0; i < (axes ? SUBJ_COUNT : SUBJ_KERNEL); i++)
		kg_str_addf(out, ".TP\n\\fB%s\\fR\n%s.\n", subjects[i].name, subjects[i].help);
}

void predicate_free(struct predicate *p)
{
	size_t i;

	if (!p)
		return;
	predicate_free(p->left);
	predicate_free(p->right);
	for (i = 0; i < p->n_values; i++)
		free(p->values[i].text);
	free(p->values);
	free(p->param);
	free(p->text);
	free(p);
}
