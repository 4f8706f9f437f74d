/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML by libyaml, read through tables: one table of fields parses a mapping, checks types and
 * ranges, fills a struct, makes the man page, and gives suggestions for unknown keys. Every error
 * is "NAME:LINE:COLUMN: text" (both from 1).
 */
#ifndef KG_COMMON_YAML_H
#define KG_COMMON_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/str.h"

enum kg_yaml_kind { KG_YAML_SCALAR, KG_YAML_SEQ, KG_YAML_MAP };

struct kg_yaml_node {
	enum kg_yaml_kind kind;
	const char *file;      /* name of its document: nodes of several may be put together */
	unsigned line, column; /* from 1 */
	bool quoted;	       /* scalar: had quotes, so it is text and never a number */
	const char *text;      /* scalar, UTF-8 without NUL inside */
	size_t n;	       /* items of a sequence, pairs of a mapping */
	struct kg_yaml_node **items; /* sequence: n items; mapping: n values */
	struct kg_yaml_node **keys;  /* mapping: n scalar keys, unique */
};

struct kg_yaml_doc {
	char *name; /* shown in errors */
	struct kg_yaml_node *root;
	void *memory; /* owned */
};

#define KG_YAML_MAX_BYTES (1024 * 1024)
#define KG_YAML_MAX_NODES 100000
#define KG_YAML_MAX_DEPTH 32

/* Parses one document. Refused, with a place: not UTF-8, larger than KG_YAML_MAX_BYTES, NUL bytes,
 * syntax errors, more than one document, tags, duplicate keys, keys that are not scalars, cyclic
 * aliases, more nodes than KG_YAML_MAX_NODES after aliases, deeper than KG_YAML_MAX_DEPTH, an empty
 * file. Anchors, aliases and merge keys are expanded within those limits (merge keys "<<" refused).
 * `ret_doc` is owned, kg_yaml_free. */
int kg_yaml_parse(const char *name, const char *text, size_t len, struct kg_yaml_doc **ret_doc,
		  struct kg_err *err);
int kg_yaml_parse_file(const char *path, struct kg_yaml_doc **ret_doc, struct kg_err *err);
void kg_yaml_free(struct kg_yaml_doc *doc);

/* Value of a key; NULL when absent. Borrows. */
struct kg_yaml_node *kg_yaml_get(const struct kg_yaml_node *map, const char *key);
/* Writes "name:line:col: text", with the name of the node's own document, and returns KG_EINVALID. */
int kg_yaml_error(const struct kg_yaml_doc *doc, const struct kg_yaml_node *node,
		  struct kg_err *err, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

enum kg_field_type {
	KG_FIELD_TEXT,	   /* char *, owned */
	KG_FIELD_NAME,	   /* char *, owned, kg_name_valid */
	KG_FIELD_INT,	   /* int64_t within min..max */
	KG_FIELD_DOUBLE,   /* double within min..max */
	KG_FIELD_BOOL,	   /* bool; true false yes no on off */
	KG_FIELD_BYTES,	   /* uint64_t bytes, "64KiB", within min..max */
	KG_FIELD_DURATION, /* uint64_t ns, "10s", "4h", within min..max seconds */
	KG_FIELD_CHOICE,   /* int: index into `choices` */
	KG_FIELD_TEXTS,	   /* struct kg_texts: a sequence of scalars, or one scalar */
	KG_FIELD_MAP,	   /* a nested struct at `offset`, described by `sub` */
	KG_FIELD_NODE,	   /* const struct kg_yaml_node *: the owner's code reads it */
};

struct kg_texts {
	char **items; /* owned, each too */
	size_t n;
};
void kg_texts_deinit(struct kg_texts *t);

struct kg_field {
	const char *key;
	enum kg_field_type type;
	size_t offset;
	bool required;
	double min, max;	    /* both 0: no limit */
	const char *const *choices; /* NULL-terminated */
	const struct kg_field *sub; /* ends with key NULL */
	const char *preset;	    /* default as it would be written in the file; NULL: zero */
	const char *help;	    /* one sentence for the man page */
};

/* Fills `out` (zeroed by the caller) from a mapping. Unknown key: error with a suggestion.
 * On failure everything owned was released and `out` is zero again. */
int kg_yaml_read(const struct kg_yaml_doc *doc, const struct kg_yaml_node *map,
		 const struct kg_field *fields, void *out, struct kg_err *err);
/* Releases what kg_yaml_read allocated. */
void kg_yaml_release(const struct kg_field *fields, void *out);
/* man(7) source lines (.TP ...) that describe the table. */
void kg_yaml_manual(const struct kg_field *fields, const char *prefix, struct kg_str *out);

#endif
