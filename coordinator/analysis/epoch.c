/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/analysis/epoch.h"

#include <string.h>

#include "common/facts.h"

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Heavier first; of the same weight by name. */
static bool before(const struct epoch_change *x, const struct epoch_change *y)
{
	unsigned wx = kg_fact_find(x->name)->weight, wy = kg_fact_find(y->name)->weight;

	return wx != wy ? wx > wy : strcmp(x->name, y->name) < 0;
}

/* Keeps the `max` heaviest, in order; what is lighter than those falls out at the end. */
static void keep(struct epoch_change *ret, size_t max, size_t have, const struct epoch_change *c)
{
	size_t at = have < max ? have : max;

	if (at == max) {
		if (max == 0 || !before(c, &ret[max - 1]))
			return;
		at--;
	}
	for (; at > 0 && before(c, &ret[at - 1]); at--)
		ret[at] = ret[at - 1];
	ret[at] = *c;
}

size_t epoch_changes(const struct epoch_facts *old, const struct epoch_facts *now,
		     struct epoch_change *ret, size_t max)
{
	size_t i = 0, j = 0, n = 0;

	while (i < old->n && j < now->n) {
		int order = strcmp(old->items[i].name, now->items[j].name);
		struct epoch_change c = {old->items[i].name, old->items[i].value,
					 now->items[j].value};

		if (order == 0 && !same(c.a, c.b))
			keep(ret, max, n++, &c);
		i += order <= 0;
		j += order >= 0;
	}
	return n;
}
