/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/file.h"
#include "proto/messages.h"

static const struct {
	uint16_t type;
	const char *name;
} rows[] = {
#define X(number, NAME, type, prefix, from) {(number), #NAME},
	KG_MESSAGES(X)
#undef X
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static void test_table_is_sorted_and_every_row_is_found(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_ROWS; i++) {
		const struct kg_msg_info *info = kg_msg_find(rows[i].type);

		assert_non_null(info);
		assert_string_equal(info->name, rows[i].name);
		assert_int_not_equal(info->senders, 0);
		if (i > 0)
			assert_true(rows[i - 1].type < rows[i].type);
	}
	assert_null(kg_msg_find(0));
	assert_null(kg_msg_find(6));
	assert_null(kg_msg_find(0xffff));
}

static void check_not_recursive(const ProtobufCMessageDescriptor *d,
				const ProtobufCMessageDescriptor **above, size_t depth)
{
	size_t i;

	assert_true(depth < 16);
	for (i = 0; i < depth; i++)
		if (above[i] == d)
			fail_msg("%s contains itself", d->name);
	above[depth] = d;
	for (i = 0; i < d->n_fields; i++)
		if (d->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
			check_not_recursive(d->fields[i].descriptor, above, depth + 1);
}

/* protobuf-c has no recursion limit: a message that can contain itself is a stack overflow. */
static void test_no_message_contains_itself(void **state)
{
	const ProtobufCMessageDescriptor *above[16];
	size_t i;

	(void)state;
	for (i = 0; i < N_ROWS; i++)
		check_not_recursive(kg_msg_find(rows[i].type)->descriptor, above, 0);
}

static void check_labels(const ProtobufCMessageDescriptor *d)
{
	size_t i;

	for (i = 0; i < d->n_fields; i++) {
		if (d->fields[i].label == PROTOBUF_C_LABEL_REQUIRED)
			fail_msg("%s.%s is required", d->name, d->fields[i].name);
		if (d->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
			check_labels(d->fields[i].descriptor);
	}
}

static void test_nothing_is_required(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_ROWS; i++)
		check_labels(kg_msg_find(rows[i].type)->descriptor);
}

/* Whether a row "| 10 | FACTS |" or "| 3, 4 | PING, PONG |", or an answer "15 BLOB_CHUNK", has it. */
static bool is_documented(const char *text, uint16_t type, const char *name)
{
	const char *line, *end;
	size_t len = strlen(name);
	char number[8];
	int digits = snprintf(number, sizeof(number), "%u", type);

	for (line = text; line; line = end ? end + 1 : NULL) {
		bool has_number = false, has_name = false;
		const char *p;

		end = strchr(line, '\n');
		if (line[0] != '|')
			continue;
		for (p = line + 1; *p && p != end; p++) {
			bool starts = !isalnum((unsigned char)p[-1]) && p[-1] != '_';

			has_number =
				has_number || (starts && strncmp(p, number, (size_t)digits) == 0 &&
					       !isdigit((unsigned char)p[digits]));
			has_name = has_name || (starts && strncmp(p, name, len) == 0 &&
						!isalnum((unsigned char)p[len]) && p[len] != '_');
		}
		if (has_number && has_name)
			return true;
	}
	return false;
}

static void test_readme_has_every_message_and_record(void **state)
{
	const ProtobufCMessageDescriptor *record = &kgrid__v1__record__descriptor;
	struct kg_err err;
	char *text;
	size_t len, i;
	unsigned n = 0;

	(void)state;
	assert_int_equal(kg_file_read(KGRID_PROTO "/README.md", 1 << 20, &text, &len, &err), 0);
	for (i = 0; i < N_ROWS; i++)
		if (!is_documented(text, rows[i].type, rows[i].name))
			fail_msg("README.md lacks message %u %s", rows[i].type, rows[i].name);
	for (i = 0; i < record->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &record->fields[i];

		if (!(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
			continue;
		n++;
		if (!is_documented(text, (uint16_t)f->id, f->name))
			fail_msg("README.md lacks record %u %s", f->id, f->name);
	}
	assert_true(n > 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_sorted_and_every_row_is_found),
		cmocka_unit_test(test_no_message_contains_itself),
		cmocka_unit_test(test_nothing_is_required),
		cmocka_unit_test(test_readme_has_every_message_and_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
