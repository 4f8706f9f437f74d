/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a machine as they are read: each a name of common/facts.h with a value of one line, or
 * with the reason why there is none. What a machine does not offer is never 0 and never "".
 */
#ifndef KG_AGENT_FACT_LIST_H
#define KG_AGENT_FACT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACT_VALUE_MAX 8192

/* Reasons, as the protocol names them. */
#define FACT_ABSENT "absent" /* the machine or this kernel has no such thing */
#define FACT_DENIED "denied" /* it has, and will not show it */
#define FACT_EMPTY  "empty"  /* it shows nothing */
#define FACT_FAILED "failed" /* it could not be read, or makes no sense */

struct fact {
	char *name;
	char *value;	    /* NULL: unsupported */
	const char *reason; /* then; static */
};

/* Zero-initialised is valid and empty. A failed allocation sets `failed`, and later calls do
 * nothing. */
struct fact_list {
	struct fact *items;
	size_t n, cap;
	bool failed;
};

void fact_list_deinit(struct fact_list *l);
/* By name; of two facts with one name the first stays. */
void fact_list_sort(struct fact_list *l);
const struct fact *fact_list_find(const struct fact_list *l, const char *name); /* or NULL */
/* NULL also for an unsupported one. */
const char *fact_list_value(const struct fact_list *l, const char *name);

/* A name that is not UTF-8 (of a file, say) makes no fact: the message it is in would be refused.
 * Blanks at the ends of a value go, other control characters become spaces. Not UTF-8 or too long: failed;
 * nothing left: empty. */
void fact_add(struct fact_list *l, const char *name, const char *value);
void fact_addf(struct fact_list *l, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void fact_unsupported(struct fact_list *l, const char *name, const char *reason);
/* `rc`: what fact_read returned. */
const char *fact_reason(int rc);

/*
 * A file below `root`, of at most `max` bytes, NUL-terminated behind them; owned (free). Pipes and
 * devices are refused, so that nothing blocks. 0 or a negative errno (-EISDIR for a folder);
 * KG_ELIMIT when longer.
 */
int fact_read(const char *root, const char *path, size_t max, char **ret_text, size_t *ret_len);
/* One small file as one fact. */
void fact_file(struct fact_list *l, const char *root, const char *name, const char *path);
/* The one of "a [b] c" that stands in brackets, or the whole. */
void fact_choice(struct fact_list *l, const char *root, const char *name, const char *path);
/* SHA-256 of a file's text, streamed. */
void fact_digest(struct fact_list *l, const char *root, const char *name, const char *path);
bool fact_exists(const char *root, const char *path);
/* Names in a folder (PREFIX and a number; "": all but hidden ones), sorted by number where they end
 * in one ("cpu2" before "cpu10"), else by name; at most 65,536. Owned, fact_names_free. None when
 * there is no such folder. */
char **fact_names(struct fact_list *l, const char *root, const char *path, const char *prefix,
		  size_t *ret_n);
void fact_names_free(char **names, size_t n);

#endif
