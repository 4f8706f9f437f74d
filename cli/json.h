/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages as JSON and CSV, by their descriptors: keys are the names of the .proto files. Every
 * key is present: null when not set, [] when a list is empty. Pure.
 */
#ifndef KG_CLI_JSON_H
#define KG_CLI_JSON_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "common/str.h"

/* Owned (json_decref). Numbers over INT64_MAX become strings; bytes become text, with U+FFFD where
 * they are no UTF-8; a NaN or infinite double becomes null. */
json_t *json_of_message(const ProtobufCMessage *m);

/* A string, with U+FFFD where it is no UTF-8. Owned. */
json_t *json_of_text(const char *text);

/* A line of names, then one line per message; nested messages are flattened as outer_inner,
 * lists of scalars joined by ';', lists of messages left out. RFC 4180, lines end in LF. */
void csv_names(struct kg_str *out, const ProtobufCMessageDescriptor *d);
void csv_row(struct kg_str *out, const ProtobufCMessage *m);
void csv_messages(struct kg_str *out, const ProtobufCMessageDescriptor *d, size_t n,
		  ProtobufCMessage *const *rows);
/* One value, quoted when it has to be. */
void csv_text(struct kg_str *out, const char *text);
/* A double as short as it reads back exactly; empty when not finite. */
void csv_double(struct kg_str *out, double v);

#endif
