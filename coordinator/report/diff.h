/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between two boots, kernels, machines or epochs, most likely cause first. Pure.
 *
 * Facts: by common/facts.h; volatile ones and those that only one side has a row for are no
 * differences, unsupported on one side is said as such. Config: the set difference of options with
 * their values; a `# CONFIG_X is not set` is n, and n and absent are the same to everything that is
 * built, so they are no difference. LSM list: added, removed, reordered. Command line: word by word
 * as a multiset; a changed value of one key is one item; order only where a key is repeated (the
 * last one wins). Documents (modules, packages, sysctl, vulnerabilities): line by line, by the name
 * the line begins with.
 *
 * Items are in the order of weight, then section, name, values: the same input gives the same bytes.
 */
#ifndef KG_COORDINATOR_REPORT_DIFF_H
#define KG_COORDINATOR_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "coordinator/analysis/epoch.h"
#include "proto/messages.h"

#define DIFF_ITEMS_MAX 20000 /* what lies behind is counted in a note */

struct diff_document {
	const char *name; /* "config", "sysctl", "modules", "packages" */
	const char *digest;
	const char *text; /* NULL: not known; need not end in a NUL */
	size_t len;
};

struct diff_side {
	const char *name; /* in words: "boot 12: 6.12 full on lab-intel" */
	/* Of all classes, in any order; the value of a name that is there twice is the last one. */
	const struct epoch_fact *facts;
	size_t n_facts;
	bool has_facts;	    /* false: none were recorded, or the thing has none (a kernel) */
	const char *config; /* text; NULL: not known */
	size_t config_len;
	const char *lsm;     /* effective list; NULL: not known */
	const char *cmdline; /* NULL: not known, as for a kernel */
	const struct diff_document *documents;
	size_t n_documents;
};

/* Fills a, b, items, notes and same. -ENOMEM. */
int report_diff(const struct diff_side *a, const struct diff_side *b, Kgrid__V1__DiffReply *reply,
		struct kg_err *err);

#endif
