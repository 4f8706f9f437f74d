/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents: whole, what their digest says, once; or a fault and nothing. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "common/sha256.h"
#include "coordinator/store/zstd_text.h"

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct answer a;

	fixture_init(f);
	fixture_open(f);
	fixture_kernels(f);
	fixture_job(f, 1, &a);
	assert_int_equal(fixture_boot(f, 1, 1, (uint64_t[]){1}, 1), 0);
	must_ingest(f, MACHINE, record_evidence(1, 1, 1));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_deinit(*state);
	free(*state);
	return 0;
}

/* A text that does not compress to nothing. */
static const char *lines(void)
{
	static char text[20000];
	unsigned x = 12345;

	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		x = x * 1103515245 + 12345;
		text[i] = i % 40 == 39 ? '\n' : (char)('a' + (x >> 16) % 26);
	}
	return text;
}

/* Piece `i` of `n` of a whole document. */
static Kgrid__V1__Record piece(Kgrid__V1__Record whole, uint64_t seq, size_t i, size_t n)
{
	static Kgrid__V1__Document part;
	size_t len = whole.document->data.len, from = len * i / n, to = len * (i + 1) / n;

	part = *whole.document;
	part.offset = from;
	part.data.data += from;
	part.data.len = to - from;
	whole.seq = seq;
	whole.document = &part;
	return whole;
}

static void expect_fault(struct fixture *f, Kgrid__V1__Record r, const char *text)
{
	struct answer a;
	const char *got;

	assert_int_equal(ingest(f, &a, &r), 0);
	assert_true(a.r.fault);
	assert_int_equal(a.r.last_seq, r.seq);
	got = fixture_sql(f,
			  "SELECT text FROM event WHERE kind = 'fault' ORDER BY id DESC LIMIT 1");
	if (!strstr(got, text))
		fail_msg("'%s' does not say '%s'", got, text);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM document_part"), 0);
}

struct got {
	char text[800000];
	size_t len;
	int parts;
};

static int collect(void *arg, const Kgrid__V1__ProvenanceReply *part)
{
	struct got *g = arg;

	g->parts++;
	assert_true(g->len + part->text.len < sizeof(g->text));
	assert_true(part->text.len < 1 << 20); /* what a frame holds */
	memcpy(g->text + g->len, part->text.data, part->text.len);
	g->len += part->text.len;
	return 0;
}

static void check_text(struct fixture *f, uint64_t boot, const char *name, const char *text)
{
	Kgrid__V1__ProvenanceRequest rq = KGRID__V1__PROVENANCE_REQUEST__INIT;
	struct got *g = calloc(1, sizeof(*g));
	struct kg_err err = {""};

	rq.has_boot = 1;
	rq.boot = boot;
	rq.document = (char *)(uintptr_t)name;
	if (query_provenance(f->q, &rq, collect, g, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(g->len, strlen(text));
	assert_string_equal(g->text, text);
	assert_true(g->parts >= 1);
	free(g);
}

static void test_pieces_become_the_text_also_over_a_restart(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record whole = record_document(1, 2, "config", lines());

	for (size_t i = 0; i < 7; i++) {
		must_ingest(f, MACHINE, piece(whole, 2 + i, i, 7));
		if (i == 3) {
			fixture_close(f);
			fixture_open(f);
			assert_int_equal(fixture_int(f, "SELECT count(*) FROM document"), 0);
			assert_int_equal(fixture_int(f, "SELECT count(*) FROM document_part"), 4);
		}
	}
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM document_part"), 0);
	check_text(f, 1, "config", lines());
}

static void test_long_text_comes_back_in_parts(void **state)
{
	struct fixture *f = *state;
	struct got *g = calloc(1, sizeof(*g));
	Kgrid__V1__ProvenanceRequest rq = KGRID__V1__PROVENANCE_REQUEST__INIT;
	char *text = calloc(1, 700032);
	struct kg_err err = {""};

	for (int i = 0; i < 35000; i++)
		(void)snprintf(text + (size_t)20 * (size_t)i, 32, "CONFIG_OPT_%06d=y\n", i);
	must_ingest(f, MACHINE, record_document(1, 2, "config", text));
	rq.has_boot = 1;
	rq.boot = 1;
	rq.document = (char *)(uintptr_t) "config";
	assert_int_equal(query_provenance(f->q, &rq, collect, g, &err), 0);
	assert_int_equal(g->parts, 3);
	assert_string_equal(g->text, text);
	free(text);
	free(g);
}

static void test_same_text_is_one_row(void **state)
{
	struct fixture *f = *state;
	bool has = false;
	struct kg_err err = {""};

	must_ingest(f, MACHINE, record_document(1, 2, "config", "CONFIG_X=y\n"));
	must_ingest(f, MACHINE, record_document(1, 3, "other", "CONFIG_X=y\n"));
	fixture_boot_pass(f, 1, NULL, 0);
	assert_int_equal(fixture_boot(f, 2, 1, NULL, 0), 0);
	must_ingest(f, MACHINE, record_document(2, 1, "config", "CONFIG_X=y\n"));
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM document"), 1);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot_document"), 3);
	check_text(f, 2, "config", "CONFIG_X=y\n");
	assert_int_equal(query_kernel_document(f->q, KERNEL_A, "config", &has, &err), 0);
	assert_true(has);
	assert_int_equal(query_kernel_document(f->q, KERNEL_A, "kallsyms", &has, &err), 0);
	assert_false(has);
	assert_int_equal(query_kernel_document(f->q, KERNEL_B, "config", &has, &err), 0);
	assert_false(has);
}

static void test_agent_that_starts_again_may_begin_anew(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record whole = record_document(1, 2, "sysctl", lines());

	must_ingest(f, MACHINE, piece(whole, 2, 0, 3));
	must_ingest(f, MACHINE, piece(whole, 3, 1, 3));
	must_ingest(f, MACHINE, piece(whole, 4, 0, 3));
	must_ingest(f, MACHINE, piece(whole, 5, 1, 3));
	must_ingest(f, MACHINE, piece(whole, 6, 2, 3));
	check_text(f, 1, "sysctl", lines());
	whole.seq = 7; /* and the whole of it once more */
	must_ingest(f, MACHINE, whole);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot_document"), 1);
}

static void test_empty_text_is_a_document(void **state)
{
	struct fixture *f = *state;

	must_ingest(f, MACHINE, record_document(1, 2, "modules", ""));
	check_text(f, 1, "modules", "");
}

static void test_wrong_pieces_are_faults_and_drop_what_came_before(void **state)
{
	static char other[KG_SHA256_HEX_SIZE];
	struct fixture *f = *state;
	Kgrid__V1__Record whole = record_document(1, 2, "config", lines()), r;

	must_ingest(f, MACHINE, piece(whole, 2, 0, 4));
	expect_fault(f, piece(whole, 3, 2, 4), "begins at");
	expect_fault(f, piece(whole, 4, 1, 4), "expected 0");
	r = whole;
	r.seq = 5;
	memset(other, 'a', sizeof(other) - 1);
	r.document->digest = other;
	expect_fault(f, r, "does not have the digest it claims");
	r = record_document(1, 6, "config", lines());
	r.document->text_bytes--;
	expect_fault(f, r, "zstd: ");
	r = record_document(1, 7, "config", lines());
	r.document->text_bytes++;
	expect_fault(f, r, "a text of 19999 bytes, not 20000");
	r = record_document(1, 8, "config", lines());
	r.document->data.data[10] ^= 0x55;
	expect_fault(f, r, "document 'config'");
	r = record_document(1, 9, "../config", "a");
	expect_fault(f, r, "without a name");
	r = record_document(1, 10, "config", "a");
	r.document->digest = (char *)(uintptr_t) "abc";
	expect_fault(f, r, "has no digest");
	r = record_document(1, 11, "config", "a");
	r.document->offset = UINT64_MAX;
	expect_fault(f, r, "does not fit");
	r = record_document(1, 12, "config", "a");
	r.document->stored_bytes = 1ULL << 40;
	expect_fault(f, r, "stored length");
	r = record_document(1, 13, "config", "a");
	r.document->text_bytes = 1ULL << 40;
	expect_fault(f, r, "no length");
	r = record_document(1, 14, "config", "a");
	r.document->data.len = 0;
	expect_fault(f, r, "does not fit");
	r = record_document(1, 15, "config", "a");
	r.has_attempt = 1;
	r.attempt = 100;
	expect_fault(f, r, "of no attempt");
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM document"), 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM boot_document"), 0);
}

static void test_fault_of_one_document_leaves_another_alone(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record whole = record_document(1, 2, "config", lines()), r;
	uint8_t *copy = malloc(whole.document->data.len);
	char digest[KG_SHA256_HEX_SIZE];
	struct answer a;

	memcpy(copy, whole.document->data.data, whole.document->data.len);
	(void)snprintf(digest, sizeof(digest), "%s", whole.document->digest);
	must_ingest(f, MACHINE, piece(whole, 2, 0, 2));
	r = piece(whole, 3, 1, 2);
	r.document->name = (char *)(uintptr_t) "sysctl";
	assert_int_equal(ingest(f, &a, &r), 0);
	assert_true(a.r.fault);
	must_ingest(f, MACHINE, piece(whole, 4, 1, 2));
	check_text(f, 1, "config", lines());
	free(copy);
}

static void test_bomb_is_refused_before_it_is_opened(void **state)
{
	struct fixture *f = *state;
	size_t len = ZSTD_TEXT_MAX, cap = 1 << 16, n;
	char *text = calloc(1, len), *stored = malloc(cap), *out = NULL;
	Kgrid__V1__Record r = record_document(1, 2, "config", "a");
	struct kg_err err = {""};

	n = ZSTD_compress(stored, cap, text, len, 1);
	assert_false(ZSTD_isError(n));
	assert_true(len / n > ZSTD_TEXT_RATIO);
	r.document->text_bytes = len;
	r.document->stored_bytes = n;
	r.document->data.data = (uint8_t *)stored;
	r.document->data.len = n;
	expect_fault(f, r, "are to become 67108864");
	/* One that lies about its length writes no further than it said. */
	assert_int_equal(zstd_text(stored, n, 1000, &out, &err), KG_EINVALID);
	assert_int_equal(zstd_text(stored, n, (size_t)ZSTD_TEXT_MAX + 1, &out, &err), KG_EINVALID);
	assert_null(out);
	free(text);
	free(stored);
}

static void test_parts_go_with_their_boot(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__Record whole = record_document(1, 2, "config", lines());
	Kgrid__V1__Record r;
	struct answer a;

	must_ingest(f, MACHINE, piece(whole, 2, 0, 2));
	fixture_boot_pass(f, 1, NULL, 0);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM document_part"), 0);
	r = piece(whole, 3, 1, 2);
	assert_int_equal(ingest(f, &a, &r), 0);
	assert_int_equal(a.r.ingest, STORE_INGEST_FENCED);
	assert_int_equal(fixture_int(f, "SELECT count(*) FROM document_part"), 0);
}

static void test_document_that_is_not_there_names_those_that_are(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__ProvenanceRequest rq = KGRID__V1__PROVENANCE_REQUEST__INIT;
	struct got *g = calloc(1, sizeof(*g));
	struct kg_err err = {""};

	must_ingest(f, MACHINE, record_document(1, 2, "config", "a"));
	must_ingest(f, MACHINE, record_document(1, 3, "sysctl", "b"));
	rq.has_boot = 1;
	rq.boot = 1;
	rq.document = (char *)(uintptr_t) "kallsyms";
	assert_int_equal(query_provenance(f->q, &rq, collect, g, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "boot 1 has no document 'kallsyms'; it has config, sysctl");
	free(g);
}

static int give_config(void *arg, const char *digest, char **ret_text, size_t *ret_len,
		       struct kg_err *err)
{
	(void)arg;
	(void)err;
	*ret_text = strdup(strcmp(digest, "packed") == 0 ? "CONFIG_X=y\n" : "?");
	*ret_len = strlen(*ret_text);
	return 0;
}

/* Debian's kernels show no config: what they were packed with is theirs all the same. */
static void test_config_comes_from_the_package_where_the_boot_shows_none(void **state)
{
	struct fixture *f = *state;
	const struct query_texts texts = {.read = give_config};
	Kgrid__V1__ProvenanceRequest rq = KGRID__V1__PROVENANCE_REQUEST__INIT;
	struct got *g = calloc(1, sizeof(*g));
	struct kg_err err = {""};

	query_set_texts(f->q, &texts);
	(void)fixture_sql(f, "UPDATE kernel SET config_digest = 'packed'");
	rq.has_boot = 1;
	rq.boot = 1;
	rq.document = (char *)(uintptr_t) "config";
	if (query_provenance(f->q, &rq, collect, g, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(g->text, "CONFIG_X=y\n");
	free(g);
}

static void test_a_document_taken_once_of_a_kernel_names_the_boot_that_has_it(void **state)
{
	struct fixture *f = *state;
	Kgrid__V1__ProvenanceRequest rq = KGRID__V1__PROVENANCE_REQUEST__INIT;
	struct got *g = calloc(1, sizeof(*g));
	struct kg_err err = {""};

	must_ingest(f, MACHINE, record_document(1, 2, "kallsyms", "a"));
	(void)fixture_sql(f, "INSERT INTO boot (id, job, machine, block, visit, lease_epoch, nonce,"
			     " kernel, lsm_request, lsm_effective, cmdline, stage, started_ns)"
			     " SELECT 77, job, machine, block, visit, lease_epoch, 'n77', kernel,"
			     " lsm_request, lsm_effective, cmdline, stage, started_ns"
			     " FROM boot WHERE id = 1");
	rq.has_boot = 1;
	rq.boot = 77;
	rq.document = (char *)(uintptr_t) "kallsyms";
	assert_int_equal(query_provenance(f->q, &rq, collect, g, &err), KG_ENOTFOUND);
	assert_string_equal(err.text, "boot 77 has no document 'kallsyms'; boot 1 of the same "
				      "kernel has 'kallsyms'");
	free(g);
}

#define T_(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_(test_pieces_become_the_text_also_over_a_restart),
		T_(test_long_text_comes_back_in_parts),
		T_(test_same_text_is_one_row),
		T_(test_agent_that_starts_again_may_begin_anew),
		T_(test_empty_text_is_a_document),
		T_(test_wrong_pieces_are_faults_and_drop_what_came_before),
		T_(test_fault_of_one_document_leaves_another_alone),
		T_(test_bomb_is_refused_before_it_is_opened),
		T_(test_parts_go_with_their_boot),
		T_(test_document_that_is_not_there_names_those_that_are),
		T_(test_config_comes_from_the_package_where_the_boot_shows_none),
		T_(test_a_document_taken_once_of_a_kernel_names_the_boot_that_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
