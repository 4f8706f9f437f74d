/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building replies out of malloc'ed parts, as protobuf-c frees them. */
#ifndef KG_COORDINATOR_REPORT_PARTS_H
#define KG_COORDINATOR_REPORT_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/str.h"
#include "proto/messages.h"

/* NULL leaves the field as it is; -ENOMEM */
int set_text(char **field, const char *text);
/* Takes the text of `s` and leaves it empty; an empty text leaves the field absent. -ENOMEM, also when
 * a part of `s` failed before. */
int set_str(char **field, struct kg_str *s);
/* Appends to a repeated field of messages, or of texts when `d` is NULL. Takes `item` always, frees it
 * on failure; NULL gives -ENOMEM. */
int push(void *items, size_t *n, void *item, const ProtobufCMessageDescriptor *d);
void *message_new(const ProtobufCMessageDescriptor *d); /* NULL: out of memory */
/* Appends a text to notes. -ENOMEM */
int add_text(char ***texts, size_t *n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "1 boot", "3 boots" */
const char *plural(unsigned long long n); /* "" or "s" */

/* An array that grows; elements are moved. Returns the new, zeroed element, or NULL. */
void *grow(void *items, size_t *n, size_t *cap, size_t size);

/* Numbers of people: "0.35", "12", "1234567". */
void add_number(struct kg_str *s, double v);

#endif
