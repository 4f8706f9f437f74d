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

/* A number as people write it in a predicate: decimal, hexadecimal, or with a unit of bytes. */
bool predicate_number(const char *text, double *ret);
/* Letters and digits in lower case, up to what is only a remark; returns how many. */
size_t predicate_fold(const char *text, char *buf, size_t size);
/* Whether a word means this microarchitecture: without case, blanks, '-' and '_', and without what
 * follows a '/' or stands in parentheses; a word may leave the server's suffix away: cascadelake is
 * "Cascade Lake-SP". */
bool predicate_uarch_is(const char *name, const char *word);

#endif
