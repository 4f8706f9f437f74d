/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/predicate_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "common/workload.h"

#define MAX_DEPTH 32   /* parentheses and "not" inside each other */
#define MAX_TEXT  4096 /* bounds the depth of the tree, too */

/* ---- words ---- */

size_t predicate_column(const struct parser *p, size_t at)
{
	size_t i, n = 1;

	for (i = 0; i < at && p->text[i]; i++)
		n += ((unsigned char)p->text[i] & 0xc0) != 0x80;
	return n;
}

int predicate_fail(struct parser *p, size_t at, const char *text)
{
	return kg_err_set(p->err, KG_EINVALID, "column %zu: %s", predicate_column(p, at), text);
}

static int too_long(struct parser *p, size_t at, const char *what, int most)
{
	return kg_err_set(p->err, KG_EINVALID,
			  "column %zu: the %s is too long: it may have %d bytes",
			  predicate_column(p, at), what, most);
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
		return predicate_fail(p, p->pos, "the quotes are not closed");
	len = (size_t)(end - (p->text + p->pos + 1));
	if (len >= PREDICATE_WORD_MAX)
		return too_long(p, p->pos, "text", PREDICATE_WORD_MAX - 1);
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
				  predicate_column(p, p->pos), (unsigned)(unsigned char)at[0]);
	while (((unsigned char)at[len] & 0xc0) == 0x80)
		len++;
	return kg_err_set(p->err, KG_EINVALID, "column %zu: '%.*s' has no meaning here%s",
			  predicate_column(p, p->pos), len, at,
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
		return predicate_fail(
			p, p->pos,
			"'=' compares nothing: write '==', and a value with '=' in it in "
			"quotes");
	case '&':
		return predicate_fail(p, p->pos, "write 'and' instead of '&'");
	case '|':
		return predicate_fail(p, p->pos, "write 'or' instead of '|'");
	case '!':
		return predicate_fail(p, p->pos, "write 'not' instead of '!'");
	default:
		return no_meaning(p);
	}
}

int predicate_next(struct parser *p)
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
	if (len >= PREDICATE_WORD_MAX)
		return too_long(p, p->pos, "word", PREDICATE_WORD_MAX - 1);
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

/* ---- values ---- */

static bool ordering(enum op op)
{
	return op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
}

/* A number with a unit of time or bytes. */
static bool has_unit(const char *word)
{
	double number;

	return kg_workload_in_unit("s", word, &number) || kg_workload_in_unit("B", word, &number);
}

/* Takes the token as one more value of the comparison. */
static int add_value(struct parser *p, struct predicate *node)
{
	enum kind kind = predicate_kind(node->subject);
	struct value *values;
	struct value *v;
	int rc;

	if (p->token != TOK_WORD && p->token != TOK_QUOTED)
		return predicate_fail(p, p->start, "expected a value");
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
	v->has_unit = node->subject == SUBJ_PARAM && has_unit(p->word);
	if (!v->is_number && !v->has_unit &&
	    (kind == KIND_NUMBER || kind == KIND_BYTES || ordering(node->op)))
		return kg_err_set(p->err, KG_EINVALID,
				  "column %zu: expected a number%s, not '%s'%s",
				  predicate_column(p, p->start),
				  kind == KIND_BYTES		? " such as 8GiB"
				  : node->subject == SUBJ_PARAM ? " such as 64, 10s or 64KiB"
								: "",
				  p->word,
				  kind == KIND_BYTES || node->subject == SUBJ_PARAM
					  ? kg_bytes_hint(p->word)
					  : "");
	rc = predicate_check_value(p, node);
	if (rc == 0)
		node->end = p->pos;
	return rc < 0 ? rc : predicate_next(p);
}

/* ---- grammar ---- */

static int parse_or(struct parser *p, struct predicate **ret);

static int parse_values(struct parser *p, struct predicate *node)
{
	int rc;

	if (p->token != TOK_OPEN)
		return predicate_fail(
			p, p->start, "expected '(' and the values, as in 'vendor in (intel, amd)'");
	do {
		rc = predicate_next(p);
		if (rc == 0)
			rc = add_value(p, node);
		if (rc < 0)
			return rc;
	} while (p->token == TOK_COMMA);
	if (p->token != TOK_CLOSE)
		return predicate_fail(p, p->start, "expected ',' or ')'");
	node->end = p->pos;
	return predicate_next(p);
}

/* VALUE [not] in LIST, where the value has been read already. */
static int parse_member(struct parser *p, struct predicate *node, const char *value, size_t at)
{
	enum subject subject;
	const char *name;

	if (p->token != TOK_WORD || !predicate_find(p, p->word, &subject, &name) ||
	    predicate_kind(subject) != KIND_LIST)
		return predicate_fail(
			p, p->start,
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
	const char *name;

	if (p->token != TOK_WORD || !predicate_find(p, p->word, &node->subject, &name))
		return predicate_unknown(p);
	if (node->subject >= SUBJ_COUNT) {
		node->param = strdup(name);
		if (!node->param)
			return -ENOMEM;
	}
	return predicate_next(p);
}

static int parse_operator(struct parser *p, struct predicate *node)
{
	size_t at = p->start;
	enum kind kind = predicate_kind(node->subject);

	if (p->token != TOK_OP)
		return predicate_fail(p, at, "expected a comparison: ==, !=, <, <=, >, >= or in");
	node->op = p->op;
	if (ordering(p->op) && (kind == KIND_TEXT || kind == KIND_LIST))
		return kg_err_set(p->err, KG_EINVALID,
				  "column %zu: '%s' is text and has no order, only ==, != and in",
				  predicate_column(p, at), predicate_subject_name(node));
	return predicate_next(p);
}

/* "in" or "not in"; *ret_found tells whether one stood there. */
static int parse_in(struct parser *p, struct predicate *node, bool *ret_found)
{
	int rc;

	*ret_found = true;
	node->op = OP_IN;
	if (at_word(p, "not")) {
		node->op = OP_NOT_IN;
		rc = predicate_next(p);
		if (rc < 0)
			return rc;
		if (!at_word(p, "in"))
			return predicate_fail(p, p->start, "expected 'in' behind 'not'");
	} else if (!at_word(p, "in")) {
		*ret_found = false;
		return 0;
	}
	return predicate_next(p);
}

static int parse_comparison(struct parser *p, struct predicate *node)
{
	struct parser start = *p;
	char first[PREDICATE_WORD_MAX];
	bool is_in = false;
	int rc;

	if (p->token != TOK_WORD && p->token != TOK_QUOTED)
		return predicate_fail(p, p->start,
				      p->token == TOK_END ? "a comparison is missing"
							  : "expected a name");
	node->start = p->start;
	memcpy(first, p->word, sizeof(first));
	rc = predicate_next(p);
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

/* "16 GiB": the token is the unit. */
static bool is_unit_alone(const struct parser *p)
{
	char one[PREDICATE_WORD_MAX + 1];
	size_t at = p->start;

	if (p->token != TOK_WORD)
		return false;
	while (at > 0 && isspace((unsigned char)p->text[at - 1]))
		at--;
	(void)snprintf(one, sizeof(one), "1%s", p->word);
	return at > 0 && at < p->start && isdigit((unsigned char)p->text[at - 1]) && has_unit(one);
}

/* What stands where the whole, or what is in parentheses, could have ended. */
static int fail_behind(struct parser *p, const char *text)
{
	if (p->token == TOK_WORD && strcasecmp(p->word, "and") == 0)
		text = "write 'and' in small letters";
	else if (p->token == TOK_WORD && strcasecmp(p->word, "or") == 0)
		text = "write 'or' in small letters";
	else if (is_unit_alone(p))
		text = "a unit stands behind its number without a blank, as in 16GiB";
	return predicate_fail(p, p->start, text);
}

/* On failure *ret may hold a part that the caller frees with the whole. */
static int parse_not(struct parser *p, struct predicate **ret)
{
	int rc;

	if (++p->depth > MAX_DEPTH)
		return predicate_fail(p, p->start,
				      "too many parentheses and 'not' inside each other");
	if (p->token == TOK_OPEN) {
		rc = predicate_next(p);
		if (rc == 0)
			rc = parse_or(p, ret);
		if (rc == 0 && p->token != TOK_CLOSE)
			rc = fail_behind(p, "expected ')', 'and' or 'or'");
		if (rc == 0)
			rc = predicate_next(p);
	} else if (at_word(p, "not")) {
		*ret = new_node(OP_NOT);
		rc = *ret ? predicate_next(p) : -ENOMEM;
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
		rc = predicate_next(p);
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
		return too_long(&p, MAX_TEXT, "predicate", MAX_TEXT);
	rc = predicate_next(&p);
	if (rc == 0 && p.token == TOK_END)
		rc = predicate_fail(&p, 0, "the predicate is empty");
	if (rc == 0)
		rc = parse_or(&p, &root);
	if (rc == 0 && p.token != TOK_END)
		rc = fail_behind(&p, "expected 'and', 'or' or the end");
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
