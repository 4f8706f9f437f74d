/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proto/messages.h"

#include <stddef.h>

static const struct kg_msg_info table[] = {
#define X(number, NAME, type, prefix, from) {(number), #NAME, &prefix##__descriptor, (from)},
	KG_MESSAGES(X)
#undef X
};

const struct kg_msg_info *kg_msg_find(uint16_t type)
{
	size_t lo = 0, hi = sizeof(table) / sizeof(table[0]);

	while (lo < hi) { /* the table is sorted by number */
		size_t mid = lo + (hi - lo) / 2;

		if (table[mid].type == type)
			return &table[mid];
		if (table[mid].type < type)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}
