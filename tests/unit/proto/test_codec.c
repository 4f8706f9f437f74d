/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include <errno.h>

#include "proto/codec.h"
#include "proto/frame.h"
#include "proto/messages.h"
#include "tests/lib/alloc_fault.h"
#include "tests/unit/proto/fill.h"

#define FILL_BUDGET (64 * 1024 * 1024)

static const uint16_t types[] = {
#define X(number, NAME, type, prefix, from) (number),
	KG_MESSAGES(X)
#undef X
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

struct encoded {
	uint8_t *bytes;
	size_t len;
};

static struct encoded encode(uint16_t type, uint32_t id, const ProtobufCMessage *body)
{
	struct kg_err err = {{0}};
	struct encoded e;

	if (kg_msg_encode(type, id, body, &e.bytes, &e.len, &err) < 0)
		fail_msg("type %u: %s", type, err.text);
	return e;
}

static struct encoded encode_filled(uint16_t type, unsigned variant)
{
	struct kg_arena a;
	struct encoded e;

	kg_arena_init(&a, FILL_BUDGET);
	e = encode(type, variant, fill_message(&a, kg_msg_find(type)->descriptor, variant));
	kg_arena_deinit(&a);
	return e;
}

static struct kg_msg *decode(uint16_t type, const uint8_t *payload, size_t len)
{
	struct kg_err err = {{0}};
	struct kg_msg *m = NULL;

	if (kg_msg_decode(type, payload, len, &m, &err) < 0)
		fail_msg("type %u: %s", type, err.text);
	return m;
}

static void check_refused(uint16_t type, const void *payload, size_t len, int code,
			  const char *complaint)
{
	struct kg_err err = {{0}};
	struct kg_msg *m = NULL;

	assert_int_equal(kg_msg_decode(type, payload, len, &m, &err), code);
	assert_null(m);
	assert_contains(err.text, complaint);
}

static void test_every_message_round_trips(void **state)
{
	unsigned variant;
	size_t i;

	(void)state;
	for (i = 0; i < N_TYPES; i++) {
		for (variant = 0; variant < 8; variant++) {
			struct encoded e = encode_filled(types[i], variant), again;
			struct kg_frame_header h;
			struct kg_err err;
			struct kg_msg *m;

			assert_int_equal(kg_frame_header_read(e.bytes, KG_FRAME_MAX, &h, &err), 0);
			assert_int_equal(h.type, types[i]);
			assert_int_equal(h.id, variant);
			assert_int_equal(h.len_bytes + KG_FRAME_HEADER_SIZE, e.len);
			m = decode(h.type, e.bytes + KG_FRAME_HEADER_SIZE, h.len_bytes);
			assert_int_equal(kg_msg_type(m), types[i]);
			assert_ptr_equal(kg_msg_body(m)->descriptor,
					 kg_msg_find(types[i])->descriptor);
			assert_true(kg_msg_memory(m) <= KG_MSG_BUDGET(h.len_bytes) + 256);
			again = encode(types[i], variant, kg_msg_body(m));
			assert_int_equal(again.len, e.len);
			assert_memory_equal(again.bytes, e.bytes, e.len);
			kg_msg_free(m);
			free(again.bytes);
			free(e.bytes);
		}
	}
	kg_msg_free(NULL);
}

static void test_absent_differs_from_zero(void **state)
{
	Kgrid__V1__Ping ping = KGRID__V1__PING__INIT;
	struct encoded e = encode(KG_MSG_PING, 0, &ping.base);
	struct kg_msg *m = decode(KG_MSG_PING, e.bytes + KG_FRAME_HEADER_SIZE, 0);

	(void)state;
	assert_int_equal(e.len, KG_FRAME_HEADER_SIZE);
	assert_false(((const Kgrid__V1__Ping *)kg_msg_body(m))->has_token);
	kg_msg_free(m);
	free(e.bytes);
	ping.has_token = 1;
	e = encode(KG_MSG_PING, 0, &ping.base);
	m = decode(KG_MSG_PING, e.bytes + KG_FRAME_HEADER_SIZE, e.len - KG_FRAME_HEADER_SIZE);
	assert_true(((const Kgrid__V1__Ping *)kg_msg_body(m))->has_token);
	kg_msg_free(m);
	free(e.bytes);
}

static void test_truncated_at_every_byte_is_never_accepted_as_more(void **state)
{
	size_t i, len;

	(void)state;
	for (i = 0; i < N_TYPES; i++) {
		struct encoded e = encode_filled(types[i], 1);

		for (len = 0; len + KG_FRAME_HEADER_SIZE < e.len; len++) {
			/* a copy, so that a sanitizer sees a read behind the end */
			uint8_t *cut = malloc(len ? len : 1);
			struct kg_err err;
			struct kg_msg *m;
			int rc;

			assert_non_null(cut);
			memcpy(cut, e.bytes + KG_FRAME_HEADER_SIZE, len);
			rc = kg_msg_decode(types[i], cut, len, &m, &err);
			assert_true(rc == 0 || rc == KG_EPROTO);
			if (rc == 0)
				kg_msg_free(m);
			free(cut);
		}
		free(e.bytes);
	}
}

static void test_unknown_types_and_garbage_are_refused(void **state)
{
	static const uint8_t garbage[] = {0xff, 0xff, 0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0xff};

	(void)state;
	check_refused(0, "", 0, KG_EPROTO, "unknown message type 0");
	check_refused(9999, "", 0, KG_EPROTO, "unknown message type 9999");
	check_refused(KG_MSG_HELLO, garbage, sizeof(garbage), KG_EPROTO,
		      "HELLO of 10 bytes cannot be decoded");
	check_refused(KG_MSG_HELLO, garbage, KG_FRAME_MAX + 1, KG_ELIMIT, "at most 1048576");
}

static void test_field_number_zero_is_refused_however_written(void **state)
{
	static const uint8_t update[] = {0x1a, 0x06, 0x85, 0x00, 1, 2, 3, 4}; /* nested */

	(void)state;
	check_refused(KG_MSG_PING, "\x00\x01", 2, KG_EPROTO, "cannot be decoded");
	check_refused(KG_MSG_WATCH_UPDATE, update, sizeof(update), KG_EPROTO,
		      "WATCH_UPDATE: field with the number 0");
}

static void test_unknown_fields_are_kept_out_of_the_way(void **state)
{
	static const uint8_t newer[] = {0x08, 0x07, 0xf8, 0x7f, 0x01, 0xfa, 0x7f, 0x02, 'h', 'i'};
	struct kg_msg *m = decode(KG_MSG_PING, newer, sizeof(newer));
	const Kgrid__V1__Ping *ping = (const Kgrid__V1__Ping *)kg_msg_body(m);

	(void)state;
	assert_int_equal(ping->token, 7);
	kg_msg_free(m);
}

/* Repeats `pattern` over a whole frame. */
static void check_amplification(uint16_t type, const void *pattern, size_t size)
{
	uint8_t *payload = malloc(KG_FRAME_MAX);
	size_t i;

	assert_non_null(payload);
	for (i = 0; i + size <= KG_FRAME_MAX; i += size)
		memcpy(payload + i, pattern, size);
	check_refused(type, payload, i, KG_ELIMIT, "needs more than");
	free(payload);
}

static void test_amplification_is_refused(void **state)
{
	(void)state;
	check_amplification(KG_MSG_WATCH_UPDATE, "\x1a\x00", 2); /* empty sub-messages */
	check_amplification(KG_MSG_WATCH_UPDATE, "\x22\x00", 2); /* empty strings */
	check_amplification(KG_MSG_PING, "\xf8\x7f\x00", 3);	 /* unknown fields */
	check_amplification(KG_MSG_FACTS, "\x72\x00", 2);
}

static void test_a_table_of_pending_cells_fits(void **state)
{
	Kgrid__V1__CompareCell cell = KGRID__V1__COMPARE_CELL__INIT;
	Kgrid__V1__CompareCell *cells[2000];
	Kgrid__V1__CompareRow row = KGRID__V1__COMPARE_ROW__INIT;
	Kgrid__V1__CompareRow *rows[] = {&row};
	Kgrid__V1__CompareTable table = KGRID__V1__COMPARE_TABLE__INIT;
	Kgrid__V1__CompareTable *tables[] = {&table};
	Kgrid__V1__CompareReply reply = KGRID__V1__COMPARE_REPLY__INIT;
	struct encoded e;
	size_t i;

	(void)state;
	for (i = 0; i < 2000; i++)
		cells[i] = &cell;
	cell.has_present = cell.present = 1;
	row.n_cells = 2000;
	row.cells = cells;
	table.n_rows = 1;
	table.rows = rows;
	reply.n_tables = 1;
	reply.tables = tables;
	e = encode(KG_MSG_COMPARE_REPLY, 1, &reply.base);
	kg_msg_free(decode(KG_MSG_COMPARE_REPLY, e.bytes + KG_FRAME_HEADER_SIZE,
			   e.len - KG_FRAME_HEADER_SIZE));
	free(e.bytes);
}

static void test_full_frames_of_samples_and_rows_fit(void **state)
{
	Kgrid__V1__SampleRow row = KGRID__V1__SAMPLE_ROW__INIT;
	Kgrid__V1__SampleRow *rows[8000];
	Kgrid__V1__SamplesReply reply = KGRID__V1__SAMPLES_REPLY__INIT;
	struct encoded e;
	size_t i;

	(void)state;
	for (i = 0; i < 8000; i++)
		rows[i] = &row;
	row.machine = row.vendor = row.kernel = row.lsm = row.workload = row.params = row.metric =
		row.unit = row.direction = row.outcome = (char *)(uintptr_t) "12345678";
	row.has_block = row.has_boot = row.has_attempt = row.has_iteration = row.has_value = 1;
	row.has_warmup = row.has_monotonic_ns = 1;
	reply.n_rows = 8000;
	reply.rows = rows;
	e = encode(KG_MSG_SAMPLES_REPLY, 1, &reply.base);
	assert_true(e.len > KG_FRAME_MAX * 3 / 4);
	kg_msg_free(decode(KG_MSG_SAMPLES_REPLY, e.bytes + KG_FRAME_HEADER_SIZE,
			   e.len - KG_FRAME_HEADER_SIZE));
	free(e.bytes);
}

static void test_strings_must_be_utf8(void **state)
{
	static const uint8_t machine[] = {0x2a, 0x02, 'a', 0xff}; /* Hello.machine */
	static const uint8_t param[] = {0x92, 0x01, 0x03,
					0x0a, 0x01, 0x80}; /* facts.name, nested */
	uint8_t record[16] = {0x5a, sizeof(param)};

	(void)state;
	check_refused(KG_MSG_HELLO, machine, sizeof(machine), KG_EPROTO,
		      "HELLO: field 'machine' is not UTF-8");
	memcpy(record + 2, param, sizeof(param));
	check_refused(KG_MSG_RECORD, record, 2 + sizeof(param), KG_EPROTO,
		      "RECORD: field 'name' is not UTF-8");
}

static void test_sender_replaces_what_is_not_utf8(void **state)
{
	Kgrid__V1__BootEvidence evidence = KGRID__V1__BOOT_EVIDENCE__INIT;
	Kgrid__V1__Record record = KGRID__V1__RECORD__INIT;
	char cmdline[] = "ro x=\xe4\xc3\xa4\xff";
	const Kgrid__V1__Record *seen;
	struct encoded e;
	struct kg_msg *m;

	(void)state;
	evidence.cmdline = cmdline;
	record.body_case = KGRID__V1__RECORD__BODY_EVIDENCE;
	record.evidence = &evidence;
	e = encode(KG_MSG_RECORD, 0, &record.base);
	assert_string_equal(cmdline, "ro x=\xe4\xc3\xa4\xff"); /* the sender's stays */
	m = decode(KG_MSG_RECORD, e.bytes + KG_FRAME_HEADER_SIZE, e.len - KG_FRAME_HEADER_SIZE);
	seen = (const Kgrid__V1__Record *)kg_msg_body(m);
	assert_string_equal(seen->evidence->cmdline, "ro x=?\xc3\xa4?");
	kg_msg_free(m);
	free(e.bytes);
}

static void test_encode_refuses_what_does_not_fit_into_a_frame(void **state)
{
	Kgrid__V1__BlobChunk chunk = KGRID__V1__BLOB_CHUNK__INIT;
	struct kg_err err;
	uint8_t *bytes = NULL;
	size_t len;

	(void)state;
	chunk.has_data = 1;
	chunk.data.len = KG_FRAME_MAX;
	chunk.data.data = calloc(1, KG_FRAME_MAX);
	assert_int_equal(kg_msg_encode(KG_MSG_BLOB_CHUNK, 1, &chunk.base, &bytes, &len, &err),
			 KG_ELIMIT);
	assert_null(bytes);
	assert_int_equal(kg_msg_encode(KG_MSG_PING, 1, &chunk.base, &bytes, &len, &err), KG_EPROTO);
	chunk.data.len = KG_FRAME_MAX - 4; /* tag and length of the field */
	assert_int_equal(kg_msg_encode(KG_MSG_BLOB_CHUNK, 1, &chunk.base, &bytes, &len, &err), 0);
	assert_int_equal(len, KG_FRAME_MAX + KG_FRAME_HEADER_SIZE);
	free(bytes);
	free(chunk.data.data);
}

struct joined {
	uint8_t *bytes;
	size_t len, frames;
	uint16_t type; /* of the last frame, or what its part belongs to */
	bool last;
};

/* Decodes each frame as a client does, and joins the parts. */
static int join(void *arg, uint8_t *bytes, size_t len)
{
	struct joined *j = arg;
	struct kg_frame_header h;
	struct kg_err err;
	struct kg_msg *m;

	assert_int_equal(kg_frame_header_read(bytes, KG_FRAME_MAX, &h, &err), 0);
	assert_int_equal(h.id, 9);
	assert_int_equal(h.len_bytes + KG_FRAME_HEADER_SIZE, len);
	assert_false(j->last);
	j->frames++;
	j->type = h.type;
	j->last = true;
	if (h.type == KG_MSG_REPLY_PART) {
		const Kgrid__V1__ReplyPart *p;

		m = decode(h.type, bytes + KG_FRAME_HEADER_SIZE, h.len_bytes);
		p = (const Kgrid__V1__ReplyPart *)kg_msg_body(m);
		j->bytes = realloc(j->bytes, j->len + p->data.len);
		memcpy(j->bytes + j->len, p->data.data, p->data.len);
		j->len += p->data.len;
		j->type = (uint16_t)p->type;
		j->last = p->last;
		kg_msg_free(m);
	}
	free(bytes);
	return 0;
}

static void check_reply_of(size_t text_bytes, size_t frames)
{
	Kgrid__V1__ImportInfo info = KGRID__V1__IMPORT_INFO__INIT;
	Kgrid__V1__ImportInfo *infos[] = {&info};
	Kgrid__V1__ImportsReply reply = KGRID__V1__IMPORTS_REPLY__INIT;
	const Kgrid__V1__ImportsReply *seen;
	struct joined j = {0};
	struct kg_err err;
	struct kg_msg *m;

	info.text = malloc(text_bytes + 1);
	for (size_t i = 0; i < text_bytes; i++)
		info.text[i] = (char)('a' + i % 26);
	info.text[text_bytes / 2] = (char)0xff; /* is no UTF-8 */
	info.text[text_bytes] = '\0';
	reply.n_imports = 1;
	reply.imports = infos;
	assert_int_equal(kg_msg_encode_reply(KG_MSG_IMPORTS_REPLY, 9, &reply.base, join, &j, &err),
			 0);
	assert_int_equal(j.frames, frames);
	assert_int_equal(j.type, KG_MSG_IMPORTS_REPLY);
	assert_true(j.last);
	if (j.bytes) {
		assert_int_equal(kg_msg_decode_reply(j.type, j.bytes, j.len, &m, &err), 0);
		seen = (const Kgrid__V1__ImportsReply *)kg_msg_body(m);
		info.text[text_bytes / 2] = '?';
		assert_string_equal(seen->imports[0]->text, info.text);
		kg_msg_free(m);
	}
	free(j.bytes);
	free(info.text);
}

static void test_a_reply_larger_than_a_frame_comes_in_parts(void **state)
{
	const size_t around = 8; /* tags and lengths of text and import */

	(void)state;
	check_reply_of(1000, 1);
	check_reply_of(KG_FRAME_MAX - around, 1);
	check_reply_of(KG_FRAME_MAX - around + 1, 3);
	check_reply_of(5 * 1024 * 1024, 11);
}

static int refuse(void *arg, uint8_t *bytes, size_t len)
{
	(void)len;
	free(bytes);
	return ++*(int *)arg == 2 ? -ECONNRESET : 0;
}

static void test_parts_end_when_the_reader_has_gone(void **state)
{
	Kgrid__V1__Error reply = KGRID__V1__ERROR__INIT;
	char *lines[4];
	struct kg_err err;
	int calls = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		lines[i] = malloc(KG_FRAME_MAX);
		memset(lines[i], 'x', KG_FRAME_MAX - 1);
		lines[i][KG_FRAME_MAX - 1] = '\0';
	}
	reply.n_details = 4;
	reply.details = lines;
	assert_int_equal(kg_msg_encode_reply(KG_MSG_ERROR, 9, &reply.base, refuse, &calls, &err),
			 -ECONNRESET);
	assert_int_equal(calls, 2);
	for (size_t i = 0; i < 4; i++)
		free(lines[i]);
}

static void test_out_of_memory_leaks_nothing(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < N_TYPES; i++) {
		struct encoded e = encode_filled(types[i], 2);
		struct kg_msg *m = NULL;
		uint8_t *bytes = NULL;
		struct kg_err err;
		unsigned n;
		size_t len;
		int rc;

		for (n = 1;; n++) {
			alloc_fault_arm(n);
			rc = kg_msg_decode(types[i], e.bytes + KG_FRAME_HEADER_SIZE,
					   e.len - KG_FRAME_HEADER_SIZE, &m, &err);
			if (!alloc_fault_disarm())
				break;
			assert_int_equal(rc, -ENOMEM);
			assert_null(m);
		}
		assert_int_equal(rc, 0);
		alloc_fault_arm(1);
		assert_int_equal(kg_msg_encode(types[i], 0, kg_msg_body(m), &bytes, &len, &err),
				 -ENOMEM);
		assert_true(alloc_fault_disarm());
		kg_msg_free(m);
		free(e.bytes);
	}
}

static void test_replacing_leaks_nothing_out_of_memory(void **state)
{
	Kgrid__V1__Error error = KGRID__V1__ERROR__INIT;
	struct kg_err err;
	uint8_t *bytes;
	unsigned n;
	size_t len;
	int rc;

	(void)state;
	error.text = (char *)(uintptr_t) "\xff";
	for (n = 1;; n++) {
		bytes = NULL;
		alloc_fault_arm(n);
		rc = kg_msg_encode(KG_MSG_ERROR, 0, &error.base, &bytes, &len, &err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_null(bytes);
	}
	assert_int_equal(rc, 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_message_round_trips),
		cmocka_unit_test(test_absent_differs_from_zero),
		cmocka_unit_test(test_truncated_at_every_byte_is_never_accepted_as_more),
		cmocka_unit_test(test_unknown_types_and_garbage_are_refused),
		cmocka_unit_test(test_field_number_zero_is_refused_however_written),
		cmocka_unit_test(test_unknown_fields_are_kept_out_of_the_way),
		cmocka_unit_test(test_amplification_is_refused),
		cmocka_unit_test(test_a_table_of_pending_cells_fits),
		cmocka_unit_test(test_full_frames_of_samples_and_rows_fit),
		cmocka_unit_test(test_strings_must_be_utf8),
		cmocka_unit_test(test_sender_replaces_what_is_not_utf8),
		cmocka_unit_test(test_encode_refuses_what_does_not_fit_into_a_frame),
		cmocka_unit_test(test_a_reply_larger_than_a_frame_comes_in_parts),
		cmocka_unit_test(test_parts_end_when_the_reader_has_gone),
		cmocka_unit_test(test_out_of_memory_leaks_nothing),
		cmocka_unit_test(test_replacing_leaks_nothing_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
