/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parser and the evaluation of predicates only. */
#ifndef KG_PLAN_PREDICATE_INTERNAL_H
#define KG_PLAN_PREDICATE_INTERNAL_H

#include "coordinator/plan/predicate.h"

/* What is compared; the machine's names first, then the axes, then names that a job brings. */
enum subject {
	SUBJ_NAME,
	SUBJ_VENDOR,
	SUBJ_FAMILY,
	SUBJ_MODEL,
	SUBJ_STEPPING,
	SUBJ_UARCH,
	SUBJ_CPUS,
	SUBJ_SOCKETS,
	SUBJ_NUMA_NODES,
	SUBJ_MEMORY,
	SUBJ_MICROCODE,
	SUBJ_CLOCK,
	SUBJ_TAGS,
	SUBJ_KERNEL,
	SUBJ_LSM,
	SUBJ_CMDLINE,
	SUBJ_WORKLOAD,
	SUBJ_SET,
	SUBJ_ROLE,
	SUBJ_PEER,
	SUBJ_PARAM,
	SUBJ_SETTING,
	SUBJ_COUNT = SUBJ_PARAM,
};

enum op { OP_OR, OP_AND, OP_NOT, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_IN, OP_NOT_IN };

struct value {
	char *text; /* owned */
	double number;
	bool is_number;
	bool has_unit; /* of time or bytes: a parameter's own unit decides */
};

struct predicate {
	enum op op;
	size_t start, end;		/* of a comparison, in `text` */
	char *text;			/* the root's: the whole, owned */
	struct predicate *left, *right; /* or, and; not: left. Owned */
	enum subject subject;
	char *param;	      /* SUBJ_PARAM, SUBJ_SETTING: its name, owned */
	struct value *values; /* owned */
	size_t n_values;
};

/* ---- predicate.c: words ---- */

#define PREDICATE_WORD_MAX 128

enum token { TOK_END, TOK_WORD, TOK_QUOTED, TOK_OPEN, TOK_CLOSE, TOK_COMMA, TOK_OP };

struct parser {
	const struct predicate_scope *scope;
	const char *text;
	size_t pos; /* behind the token */
	enum token token;
	size_t start; /* of the token */
	char word[PREDICATE_WORD_MAX];
	enum op op;
	unsigned depth;
	struct kg_err *err;
};

/* Columns count characters, as editors do; bytes of the text come in. */
size_t predicate_column(const struct parser *p, size_t at);
/* Sets "column N: text", returns KG_EINVALID. */
int predicate_fail(struct parser *p, size_t at, const char *text);
/* Goes to the next token. */
int predicate_next(struct parser *p);

/* ---- predicate_names.c: what can be named, and what was meant ---- */

enum kind { KIND_TEXT, KIND_NUMBER, KIND_BYTES, KIND_LIST, KIND_ANY };

enum kind predicate_kind(enum subject s);
/* What a word names here. `ret_name`: of a parameter or setting, without "param." and "setting."; it
 * borrows from the scope. */
bool predicate_find(const struct parser *p, const char *word, enum subject *ret_subject,
		    const char **ret_name);
const char *predicate_subject_name(const struct predicate *p);
/* The token names nothing: says so, and what may have been meant. */
int predicate_unknown(struct parser *p);
/* Refuses a value, the token, that the subject can never have. */
int predicate_check_value(struct parser *p, const struct predicate *node);

/* ---- predicate_match.c ---- */

/* A number as people write it in a predicate: decimal, hexadecimal, or with a unit of bytes. */
bool predicate_number(const char *text, double *ret);
/* Letters and digits in lower case, up to what is only a remark; returns how many. */
size_t predicate_fold(const char *text, char *buf, size_t size);
/* Whether a word means this microarchitecture: without case, blanks, '-', '_' and '+', and without what
 * stands in parentheses; of "Zen1/Zen+" either side will do; a word may leave the suffix of a server
 * or client away: cascadelake is "Cascade Lake-SP". */
bool predicate_uarch_is(const char *name, const char *word);

#endif
