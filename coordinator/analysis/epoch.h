/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a machine is still the one it was. Pure.
 *
 * Facts of class machine are compared with the current epoch's; facts of class configuration with
 * those of the newest boot of the same kernel, list and command line in the current epoch, where
 * there is one. A fact that only one side has a row for says nothing (an older agent did not record
 * it); one that turned from a value to unsupported, or back, is a change.
 */
#ifndef KG_COORDINATOR_ANALYSIS_EPOCH_H
#define KG_COORDINATOR_ANALYSIS_EPOCH_H

#include <stdbool.h>
#include <stddef.h>

struct epoch_fact {
	const char *name;
	const char *value; /* NULL: unsupported */
};

struct epoch_facts {
	const struct epoch_fact *items; /* sorted by name */
	size_t n;
};

struct epoch_change {
	const char *name;  /* borrow from the inputs */
	const char *a, *b; /* before, now; NULL: unsupported */
};

/* Fills at most `max` changes, heaviest first (common/facts.h), and returns how many there are. */
size_t epoch_changes(const struct epoch_facts *before, const struct epoch_facts *now,
		     struct epoch_change *ret, size_t max);

#endif
