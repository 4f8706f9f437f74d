/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lib/cmocka_all.h"

#include "coordinator/artifact/blob.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/alloc_fault.h"
#include "tests/unit/artifact/sample.h"

#define LEN 1000u

struct fixture {
	char *dir;
	struct artifact_blobs *b;
	uint8_t bytes[LEN];
	char digest[KG_SHA256_HEX_SIZE];
	struct kg_err err;
};

static void reopen(struct fixture *f)
{
	artifact_blobs_free(f->b);
	assert_int_equal(artifact_blobs_open(f->dir, &f->b, &f->err), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	size_t i;

	assert_non_null(f);
	f->dir = sample_folder();
	for (i = 0; i < LEN; i++)
		f->bytes[i] = (uint8_t)(i * 7);
	assert_int_equal(kg_sha256_bytes(f->bytes, LEN, f->digest), 0);
	reopen(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	artifact_blobs_free(f->b);
	sample_remove(f->dir);
	free(f);
	return 0;
}

static int put(struct fixture *f, size_t offset, size_t len, struct artifact_progress *p)
{
	const struct artifact_chunk c = {.digest = f->digest,
					 .offset = offset,
					 .total_bytes = LEN,
					 .data = f->bytes + offset,
					 .len = len};

	return artifact_blobs_put(f->b, &c, p, &f->err);
}

static void put_all(struct fixture *f)
{
	struct artifact_progress p = {0};

	assert_int_equal(put(f, 0, LEN, &p), 0);
	assert_true(p.complete);
}

static void blob_file(const struct fixture *f, char path[300])
{
	(void)snprintf(path, 300, "%s/%.2s/%s", f->dir, f->digest, f->digest + 2);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void test_blob_put_in_chunks_is_read_back(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p = {0};
	uint8_t buf[LEN];
	uint64_t total;
	size_t len, at;

	assert_false(artifact_blobs_has(f->b, f->digest));
	for (at = 0; at < LEN; at += 100) {
		assert_false(p.complete);
		assert_int_equal(put(f, at, 100, &p), 0);
		assert_int_equal(p.next_offset, at + 100);
	}
	assert_true(p.complete);
	assert_true(artifact_blobs_has(f->b, f->digest));
	assert_int_equal(artifact_blobs_settle(f->b, &f->err), 0);
	assert_int_equal(artifact_blobs_read(f->b, f->digest, 300, buf, 200, &len, &total, &f->err),
			 0);
	assert_int_equal(len, 200);
	assert_int_equal(total, LEN);
	assert_memory_equal(buf, f->bytes + 300, 200);
	assert_int_equal(artifact_blobs_read(f->b, f->digest, 900, buf, LEN, &len, &total, &f->err),
			 0);
	assert_int_equal(len, 100);
	assert_int_equal(artifact_blobs_read(f->b, f->digest, LEN, buf, LEN, &len, &total, &f->err),
			 0);
	assert_int_equal(len, 0);
	assert_int_equal(artifact_blobs_read(f->b, f->digest, LEN + 1, buf, 1, &len, &total,
					     &f->err),
			 KG_EINVALID);
}

static void test_empty_blob_is_a_blob(void **state)
{
	struct fixture *f = *state;
	struct artifact_chunk c = {.data = "", .total_bytes = 0};
	struct artifact_progress p;
	char digest[KG_SHA256_HEX_SIZE];

	assert_int_equal(kg_sha256_bytes("", 0, digest), 0);
	c.digest = digest;
	assert_int_equal(artifact_blobs_put(f->b, &c, &p, &f->err), 0);
	assert_true(p.complete);
	assert_true(artifact_blobs_has(f->b, digest));
}

static void test_partial_blob_is_not_there(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;
	char path[300];
	uint64_t total;
	uint8_t buf[8];
	size_t len;

	assert_int_equal(put(f, 0, LEN - 1, &p), 0);
	assert_false(artifact_blobs_has(f->b, f->digest));
	assert_int_equal(artifact_blobs_settle(f->b, &f->err), 0);
	blob_file(f, path);
	assert_false(is_there(path));
	assert_int_equal(artifact_blobs_read(f->b, f->digest, 0, buf, 8, &len, &total, &f->err),
			 KG_ENOTFOUND);
}

static void test_chunk_at_another_place_is_told_where_to_go_on(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;

	assert_int_equal(put(f, 0, 400, &p), 0);
	assert_int_equal(put(f, 0, 400, &p), 0); /* again */
	assert_int_equal(p.next_offset, 400);
	assert_int_equal(put(f, 600, 100, &p), 0); /* a gap */
	assert_int_equal(p.next_offset, 400);
	assert_int_equal(put(f, 0, 0, &p), 0); /* asking */
	assert_int_equal(p.next_offset, 400);
	assert_false(p.complete);
	assert_int_equal(put(f, 400, 600, &p), 0);
	assert_true(p.complete);
}

static void test_upload_goes_on_after_a_restart(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;

	assert_int_equal(put(f, 0, 400, &p), 0);
	reopen(f);
	assert_int_equal(put(f, 0, 0, &p), 0);
	assert_int_equal(p.next_offset, 400);
	assert_int_equal(put(f, 400, 600, &p), 0);
	assert_true(p.complete);
}

static void test_many_uploads_at_once_all_end_well(void **state)
{
	struct fixture *f = *state;
	char digests[30][KG_SHA256_HEX_SIZE];
	struct artifact_progress p;
	unsigned i, at;

	for (i = 0; i < 30; i++)
		assert_int_equal(kg_sha256_bytes(f->bytes + i, 100, digests[i]), 0);
	for (at = 0; at < 100; at += 25) {
		for (i = 0; i < 30; i++) {
			const struct artifact_chunk c = {.digest = digests[i],
							 .offset = at,
							 .total_bytes = 100,
							 .data = f->bytes + i + at,
							 .len = 25};

			assert_int_equal(artifact_blobs_put(f->b, &c, &p, &f->err), 0);
			assert_int_equal(p.next_offset, at + 25);
		}
	}
	assert_int_equal(artifact_blobs_settle(f->b, &f->err), 0);
	for (i = 0; i < 30; i++)
		assert_true(artifact_blobs_has(f->b, digests[i]));
}

static void test_wrong_content_is_corrupt_and_starts_again(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;

	f->bytes[10] ^= 1;
	assert_int_equal(put(f, 0, LEN, &p), KG_ECORRUPT);
	assert_false(artifact_blobs_has(f->b, f->digest));
	f->bytes[10] ^= 1;
	assert_int_equal(put(f, 0, 0, &p), 0);
	assert_int_equal(p.next_offset, 0);
	put_all(f);
}

/* A power cut can leave the length of a part without its content. */
static void test_part_that_lost_its_content_is_corrupt(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;
	uint8_t zeros[400] = {0};
	char name[100];

	(void)snprintf(name, sizeof(name), "incoming/%s.part", f->digest);
	sample_write(f->dir, name, zeros, sizeof(zeros));
	reopen(f);
	assert_int_equal(put(f, 0, 0, &p), 0);
	assert_int_equal(p.next_offset, 400);
	assert_int_equal(put(f, 400, 600, &p), KG_ECORRUPT);
	put_all(f);
}

static void test_part_longer_than_the_blob_is_dropped(void **state)
{
	struct fixture *f = *state;
	uint8_t zeros[LEN + 1] = {0};
	char name[100];

	(void)snprintf(name, sizeof(name), "incoming/%s.part", f->digest);
	sample_write(f->dir, name, zeros, sizeof(zeros));
	reopen(f);
	put_all(f);
}

/* Done, not settled, then the power went: it is not believed without looking again. */
static void test_unsettled_blob_is_verified_again_after_a_restart(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;
	uint8_t zeros[LEN] = {0};
	char name[100];

	put_all(f);
	(void)snprintf(name, sizeof(name), "incoming/%s.done", f->digest);
	sample_write(f->dir, name, zeros, sizeof(zeros));
	reopen(f);
	assert_false(artifact_blobs_has(f->b, f->digest));
	assert_int_equal(put(f, 0, 0, &p), KG_ECORRUPT);
	put_all(f);
	reopen(f);
	assert_false(artifact_blobs_has(f->b, f->digest));
	assert_int_equal(put(f, 0, 0, &p), 0);
	assert_true(p.complete);
}

static void test_settled_blob_survives_a_restart(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;
	char path[300], got[300];
	uint64_t size;

	put_all(f);
	blob_file(f, path);
	assert_false(is_there(path));
	assert_int_equal(artifact_blobs_settle(f->b, &f->err), 0);
	assert_true(is_there(path));
	reopen(f);
	assert_true(artifact_blobs_has(f->b, f->digest));
	assert_int_equal(artifact_blobs_path(f->b, f->digest, got, sizeof(got), &size, &f->err), 0);
	assert_string_equal(got, path);
	assert_int_equal(size, LEN);
	assert_int_equal(put(f, 0, 10, &p), 0);
	assert_true(p.complete);
}

static void test_bad_chunk_is_refused(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;
	struct artifact_chunk c = {.digest = "../../../etc/passwd", .data = "", .total_bytes = 1};

	assert_int_equal(artifact_blobs_put(f->b, &c, &p, &f->err), KG_EINVALID);
	assert_false(artifact_blobs_has(f->b, "../../../etc/passwd"));
	c.digest = f->digest;
	c.offset = 2;
	assert_int_equal(artifact_blobs_put(f->b, &c, &p, &f->err), KG_EINVALID);
	c.offset = UINT64_MAX;
	c.len = 1;
	assert_int_equal(artifact_blobs_put(f->b, &c, &p, &f->err), KG_EINVALID);
	c.offset = 0;
	c.total_bytes = ARTIFACT_FILE_MAX + 1;
	assert_int_equal(artifact_blobs_put(f->b, &c, &p, &f->err), KG_ELIMIT);
}

static void test_missing_names_each_digest_once(void **state)
{
	struct fixture *f = *state;
	const struct artifact_file **files;
	struct artifact_manifest m = {0};
	struct artifact_file file = {.path = (char *)(uintptr_t) "a", .size_bytes = LEN};
	size_t n;

	memcpy(file.digest, f->digest, sizeof(file.digest));
	assert_int_equal(artifact_manifest_add(&m, &file, &f->err), 0);
	memset(file.digest, 'f', KG_SHA256_HEX_LEN);
	file.path = (char *)(uintptr_t) "b";
	assert_int_equal(artifact_manifest_add(&m, &file, &f->err), 0);
	file.path = (char *)(uintptr_t) "c";
	assert_int_equal(artifact_manifest_add(&m, &file, &f->err), 0);
	memset(file.digest, '0', KG_SHA256_HEX_LEN);
	assert_int_equal(artifact_manifest_add(&m, &file, &f->err), 0);
	put_all(f);
	assert_int_equal(artifact_blobs_missing(f->b, &m, &files, &n, &f->err), 0);
	assert_int_equal(n, 2);
	assert_ptr_equal(files[0], &m.files[1]);
	assert_ptr_equal(files[1], &m.files[3]);
	free(files);
	artifact_manifest_deinit(&m);
}

static bool keep_one(const char *digest, void *ctx)
{
	return strcmp(digest, ctx) == 0;
}

static bool keep_none(const char *digest, void *ctx)
{
	(void)digest;
	(void)ctx;
	return false;
}

static void test_removal_keeps_what_is_referred_to_or_young(void **state)
{
	struct fixture *f = *state;
	struct artifact_removal r = {.keep = keep_one, .ctx = f->digest};
	uint64_t bytes;
	size_t n;

	put_all(f);
	assert_int_equal(artifact_blobs_settle(f->b, &f->err), 0);
	assert_int_equal(artifact_blobs_remove_unreferenced(f->b, &r, &n, &bytes, &f->err), 0);
	assert_int_equal(n, 0);
	r.keep = keep_none;
	r.min_age_s = 1000;
	assert_int_equal(artifact_blobs_remove_unreferenced(f->b, &r, &n, &bytes, &f->err), 0);
	assert_int_equal(n, 0);
	r.min_age_s = 0;
	assert_int_equal(artifact_blobs_remove_unreferenced(f->b, &r, &n, &bytes, &f->err), 0);
	assert_int_equal(n, 1);
	assert_int_equal(bytes, LEN);
	assert_false(artifact_blobs_has(f->b, f->digest));
}

static void test_removal_leaves_running_uploads_and_strangers(void **state)
{
	struct fixture *f = *state;
	struct artifact_removal r = {.keep = keep_none};
	struct artifact_progress p;
	char name[100], path[300];
	size_t n;

	sample_write(f->dir, "ab/README", "x", 1);
	assert_int_equal(put(f, 0, 400, &p), 0);
	assert_int_equal(artifact_blobs_remove_unreferenced(f->b, &r, &n, NULL, &f->err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(put(f, 400, 600, &p), 0);
	assert_true(p.complete);
	(void)snprintf(path, sizeof(path), "%s/ab/README", f->dir);
	assert_true(is_there(path));

	memset(f->digest, 'e', KG_SHA256_HEX_LEN); /* a part of an earlier process */
	(void)snprintf(name, sizeof(name), "incoming/%s.part", f->digest);
	sample_write(f->dir, name, f->bytes, 10);
	assert_int_equal(artifact_blobs_remove_unreferenced(f->b, &r, &n, NULL, &f->err), 0);
	assert_int_equal(n, 2); /* the part, and what is done and not settled */
}

static void test_link_in_the_store_is_not_followed(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;
	char path[300];

	(void)snprintf(path, sizeof(path), "%s/incoming/%s.part", f->dir, f->digest);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_true(put(f, 0, LEN, &p) < 0);
	assert_false(artifact_blobs_has(f->b, f->digest));
}

static void test_store_that_cannot_be_opened_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct artifact_blobs *b;
	char path[300];

	sample_write(f->dir, "file", "x", 1);
	(void)snprintf(path, sizeof(path), "%s/file", f->dir);
	assert_true(artifact_blobs_open(path, &b, &f->err) < 0);
	assert_contains(f->err.text, "file");
}

static void test_blob_out_of_memory_is_returned(void **state)
{
	struct fixture *f = *state;
	struct artifact_progress p;
	unsigned n;
	int rc;

	for (n = 1; n < 100; n++) {
		artifact_blobs_free(f->b);
		f->b = NULL;
		alloc_fault_arm(n);
		rc = artifact_blobs_open(f->dir, &f->b, &f->err);
		rc = rc < 0 ? rc : put(f, 0, LEN, &p);
		rc = rc < 0 ? rc : artifact_blobs_settle(f->b, &f->err);
		if (!alloc_fault_disarm())
			break;
		assert_int_equal(rc, -ENOMEM);
	}
	assert_int_equal(rc, 0);
	assert_true(n > 3);
	assert_true(artifact_blobs_has(f->b, f->digest));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_blob_put_in_chunks_is_read_back),
		TEST(test_empty_blob_is_a_blob),
		TEST(test_partial_blob_is_not_there),
		TEST(test_chunk_at_another_place_is_told_where_to_go_on),
		TEST(test_upload_goes_on_after_a_restart),
		TEST(test_many_uploads_at_once_all_end_well),
		TEST(test_wrong_content_is_corrupt_and_starts_again),
		TEST(test_part_that_lost_its_content_is_corrupt),
		TEST(test_part_longer_than_the_blob_is_dropped),
		TEST(test_unsettled_blob_is_verified_again_after_a_restart),
		TEST(test_settled_blob_survives_a_restart),
		TEST(test_bad_chunk_is_refused),
		TEST(test_missing_names_each_digest_once),
		TEST(test_removal_keeps_what_is_referred_to_or_young),
		TEST(test_removal_leaves_running_uploads_and_strangers),
		TEST(test_link_in_the_store_is_not_followed),
		TEST(test_store_that_cannot_be_opened_is_an_error),
		TEST(test_blob_out_of_memory_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
