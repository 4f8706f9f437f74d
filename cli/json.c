/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *field_at(const ProtobufCMessage *m, size_t offset)
{
	return (const char *)m + offset;
}

static json_t *json_text(const char *text, size_t len)
{
	struct kg_str s = {0};
	json_t *j;
	size_t i;

	if (kg_utf8_valid(text, len))
		return json_stringn(text, len);
	for (i = 0; i < len;) { /* text_clean() would change control characters too */
		size_t n = 1;

		while (n < 4 && i + n <= len && !kg_utf8_valid(text + i, n))
			n++;
		if (i + n <= len && kg_utf8_valid(text + i, n)) {
			kg_str_addn(&s, text + i, n);
			i += n;
		} else {
			kg_str_add(&s, "\xef\xbf\xbd");
			i++;
		}
	}
	j = json_stringn(kg_str_text(&s), s.len);
	kg_str_deinit(&s);
	return j;
}

json_t *json_of_text(const char *text)
{
	return json_text(text, strlen(text));
}

static json_t *json_u64(uint64_t v)
{
	char text[24];

	if (v <= INT64_MAX)
		return json_integer((json_int_t)v);
	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	return json_string(text);
}

static json_t *json_enum(const ProtobufCFieldDescriptor *f, int v)
{
	const ProtobufCEnumValue *e = protobuf_c_enum_descriptor_get_value(f->descriptor, v);

	return e ? json_string(e->name) : json_integer(v);
}

/* One value at `p` of the field's type. */
static json_t *json_value(const ProtobufCFieldDescriptor *f, const void *p)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		return json_integer(*(const int32_t *)p);
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		return json_integer(*(const uint32_t *)p);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		return json_integer(*(const int64_t *)p);
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return json_u64(*(const uint64_t *)p);
	case PROTOBUF_C_TYPE_FLOAT:
		return isfinite(*(const float *)p) ? json_real((double)*(const float *)p)
						   : json_null();
	case PROTOBUF_C_TYPE_DOUBLE:
		return isfinite(*(const double *)p) ? json_real(*(const double *)p) : json_null();
	case PROTOBUF_C_TYPE_BOOL:
		return json_boolean(*(const protobuf_c_boolean *)p);
	case PROTOBUF_C_TYPE_ENUM:
		return json_enum(f, *(const int *)p);
	case PROTOBUF_C_TYPE_STRING: {
		const char *s = *(const char *const *)p;

		return s ? json_text(s, strlen(s)) : json_null();
	}
	case PROTOBUF_C_TYPE_BYTES: {
		const ProtobufCBinaryData *b = p;

		return json_text(b->data ? (const char *)b->data : "", b->len);
	}
	case PROTOBUF_C_TYPE_MESSAGE: {
		const ProtobufCMessage *m = *(const ProtobufCMessage *const *)p;

		return m ? json_of_message(m) : json_null();
	}
	}
	return json_null();
}

static size_t element_size(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return sizeof(uint64_t);
	case PROTOBUF_C_TYPE_DOUBLE:
		return sizeof(double);
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	default:
		return sizeof(uint32_t);
	}
}

/* Whether an optional field is there. Pointers say it themselves. */
static bool is_set(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	if (f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE)
		return true;
	return *(const protobuf_c_boolean *)(const void *)field_at(m, f->quantifier_offset);
}

json_t *json_of_message(const ProtobufCMessage *m)
{
	json_t *o = json_object();
	unsigned i;
	size_t k;

	for (i = 0; i < m->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
		const void *p = field_at(m, f->offset);
		json_t *v;

		if (f->label == PROTOBUF_C_LABEL_REPEATED) {
			size_t n = *(const size_t *)(const void *)field_at(m, f->quantifier_offset);
			const char *items = *(const char *const *)p;

			v = json_array();
			for (k = 0; k < n; k++)
				json_array_append_new(
					v, json_value(f, items + k * element_size(f->type)));
		} else {
			v = is_set(m, f) ? json_value(f, p) : json_null();
		}
		json_object_set_new(o, f->name, v);
	}
	return o;
}

void csv_text(struct kg_str *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		kg_str_add(out, text);
		return;
	}
	kg_str_add(out, "\"");
	for (; *text; text++)
		kg_str_addn(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
	kg_str_add(out, "\"");
}

void csv_double(struct kg_str *out, double v)
{
	char text[32];
	int digits;

	if (!isfinite(v))
		return;
	for (digits = 6; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, v);
		if (digits == 17 || strtod(text, NULL) == v)
			break;
	}
	kg_str_add(out, text);
}

static void names_below(struct kg_str *out, const ProtobufCMessageDescriptor *d, const char *prefix,
			bool *first)
{
	unsigned i;

	for (i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];

		if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
			kg_str_addf(out, "%s%s%s", *first ? "" : ",", prefix, f->name);
			*first = false;
		} else if (f->label != PROTOBUF_C_LABEL_REPEATED) {
			struct kg_str inner = {0};

			kg_str_addf(&inner, "%s%s_", prefix, f->name);
			names_below(out, f->descriptor, kg_str_text(&inner), first);
			kg_str_deinit(&inner);
		}
	}
}

void csv_names(struct kg_str *out, const ProtobufCMessageDescriptor *d)
{
	bool first = true;

	names_below(out, d, "", &first);
	kg_str_add(out, "\n");
}

static void add_scalar(struct kg_str *out, const ProtobufCFieldDescriptor *f, const void *p)
{
	json_t *j;

	if (f->type == PROTOBUF_C_TYPE_DOUBLE) {
		csv_double(out, *(const double *)p);
		return;
	}
	j = json_value(f, p);
	if (json_is_integer(j))
		kg_str_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(j));
	else if (json_is_string(j))
		kg_str_add(out, json_string_value(j));
	else if (json_is_boolean(j))
		kg_str_add(out, json_is_true(j) ? "true" : "false");
	json_decref(j);
}

static void row_below(struct kg_str *out, const ProtobufCMessageDescriptor *d,
		      const ProtobufCMessage *m, bool *first)
{
	unsigned i;
	size_t k;

	for (i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];
		bool many = f->label == PROTOBUF_C_LABEL_REPEATED;
		const void *p = m ? field_at(m, f->offset) : NULL;
		struct kg_str s = {0};

		if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
			if (!many)
				row_below(out, f->descriptor,
					  p ? *(const ProtobufCMessage *const *)p : NULL, first);
			continue;
		}
		kg_str_add(out, *first ? "" : ",");
		*first = false;
		if (m && many) {
			size_t n = *(const size_t *)(const void *)field_at(m, f->quantifier_offset);

			for (k = 0; k < n; k++) {
				kg_str_add(&s, k ? ";" : "");
				add_scalar(&s, f,
					   *(const char *const *)p + k * element_size(f->type));
			}
		} else if (m && is_set(m, f)) {
			add_scalar(&s, f, p);
		}
		csv_text(out, kg_str_text(&s));
		kg_str_deinit(&s);
	}
}

void csv_row(struct kg_str *out, const ProtobufCMessage *m)
{
	bool first = true;

	row_below(out, m->descriptor, m, &first);
	kg_str_add(out, "\n");
}

void csv_messages(struct kg_str *out, const ProtobufCMessageDescriptor *d, size_t n,
		  ProtobufCMessage *const *rows)
{
	size_t i;

	csv_names(out, d);
	for (i = 0; i < n; i++)
		csv_row(out, rows[i]);
}
