/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "coordinator/report/parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int set_text(char **field, const char *text)
{
	if (!text)
		return 0;
	*field = strdup(text);
	return *field ? 0 : -ENOMEM;
}

int set_str(char **field, struct kg_str *s)
{
	if (s->failed) {
		kg_str_deinit(s);
		return -ENOMEM;
	}
	if (s->len == 0)
		return 0;
	*field = kg_str_take(s);
	return *field ? 0 : -ENOMEM;
}

void *message_new(const ProtobufCMessageDescriptor *d)
{
	ProtobufCMessage *m = malloc(d->sizeof_message);

	if (m)
		protobuf_c_message_init(d, m);
	return m;
}

int push(void *items, size_t *n, void *item, const ProtobufCMessageDescriptor *d)
{
	void **array, **grown;

	if (!item)
		return -ENOMEM;
	memcpy(&array, items, sizeof(array));
	grown = realloc(array, (*n + 1) * sizeof(*grown));
	if (!grown) {
		if (d)
			protobuf_c_message_free_unpacked(item, NULL);
		else
			free(item);
		return -ENOMEM;
	}
	memcpy(items, &grown, sizeof(grown));
	memcpy(&grown[(*n)++], &item, sizeof(item));
	return 0;
}

int add_text(char ***texts, size_t *n, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = vasprintf(&text, fmt, ap);
	va_end(ap);
	return rc < 0 ? -ENOMEM : push(texts, n, text, NULL);
}

const char *plural(unsigned long long n)
{
	return n == 1 ? "" : "s";
}

void *grow(void *items, size_t *n, size_t *cap, size_t size)
{
	char *array, *grown;

	memcpy(&array, items, sizeof(array));
	if (*n == *cap) {
		size_t more = *cap ? 2 * *cap : 16;

		grown = more > SIZE_MAX / size ? NULL : realloc(array, more * size);
		if (!grown)
			return NULL;
		array = grown;
		memcpy(items, &array, sizeof(array));
		*cap = more;
	}
	memset(array + *n * size, 0, size);
	return array + (*n)++ * size;
}

void add_number(struct kg_str *s, double v)
{
	kg_str_addf(s, "%.3g", v);
}
