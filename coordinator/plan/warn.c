/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/plan/warn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

/* Takes `text` always; NULL means that it could not be made. */
static int add(struct kg_texts *t, char *text)
{
	char **items;

	if (!text)
		return -ENOMEM;
	items = realloc(t->items, (t->n + 1) * sizeof(*items));
	if (!items) {
		free(text);
		return -ENOMEM;
	}
	t->items = items;
	t->items[t->n++] = text;
	return 0;
}

int plan_texts_add(struct kg_texts *t, const char *text)
{
	return add(t, strdup(text));
}

int plan_warn(struct kg_texts *t, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	kg_utf8_mend(text);
	for (i = 0; i < t->n; i++)
		if (strcmp(t->items[i], text) == 0)
			return 0;
	return add(t, strdup(text));
}
