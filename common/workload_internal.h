/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between workload*.c only. */
#ifndef KG_COMMON_WORKLOAD_INTERNAL_H
#define KG_COMMON_WORKLOAD_INTERNAL_H

#include "common/workload.h"

/* A declaration that is being read. */
struct kg_loader {
	const struct kg_yaml_doc *doc;
	struct kg_workload *w;
	struct kg_err *err;
};

int kg_loader_no_memory(const struct kg_loader *l);
/* Moves an owned text out of a struct that will be released. */
char *kg_loader_take(char **text);
/* `map` may be NULL. What was read stays in `out` on failure too; it belongs to the workload. */
int kg_loader_conditions(const struct kg_loader *l, const struct kg_yaml_node *map,
			 struct kg_conditions *out);
int kg_loader_metrics(const struct kg_loader *l, const struct kg_yaml_node *list);

struct kg_placeholder {
	const char *before; /* text up to the placeholder; borrows, {{ and }} not yet replaced */
	size_t before_len;
	char name[64];
};

/* Finds the next {name} from *p on and moves *p behind it. 1: found, 0: none is left (the rest is
 * `before`), negative: braces that do not fit. */
int kg_workload_placeholder(const char **p, struct kg_placeholder *ret_ph);

/* Names that are filled in by whoever runs the workload, not by parameters. */
bool kg_workload_builtin(const char *name);

const struct kg_param_decl *kg_workload_find_param(const struct kg_workload *w, const char *name);
const char *kg_workload_suggest(const struct kg_workload *w, const char *name);

/* A number of an int or bytes parameter. */
int kg_workload_number(enum kg_param_type type, const char *text, int64_t *ret);
/* What a choice or text value may look like: 1..256 bytes, no control characters, not beginning
 * with a dash (it would be taken for an option). */
bool kg_workload_text_ok(const char *text);
int kg_workload_normalise_decl(const struct kg_param_decl *d, const char *value, char **ret_value,
			       struct kg_err *err);
bool kg_conditions_hold(const struct kg_conditions *c, const struct kg_params *p);

#endif
