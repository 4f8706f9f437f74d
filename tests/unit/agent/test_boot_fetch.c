/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/boot_fetch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/cache.h"
#include "artifact.h"
#include "common/file.h"

struct fixture {
	char dir[64];
	struct artifact a;
	struct boot_fetch *fetch;
	bool asked;
	char digest[KG_SHA256_HEX_SIZE];
	uint64_t offset;
	size_t requests;
	uint64_t sent_bytes;
	unsigned done;
	int code;
	char reason[KG_ERR_TEXT_MAX];
};

static void on_request(void *data, const char *digest, uint64_t offset, uint32_t max_bytes)
{
	struct fixture *f = data;

	assert_false(f->asked);
	assert_int_equal(max_bytes, BOOT_CHUNK_BYTES);
	f->asked = true;
	f->requests++;
	(void)snprintf(f->digest, sizeof(f->digest), "%s", digest);
	f->offset = offset;
}

static void on_done(void *data, int code, const char *reason)
{
	struct fixture *f = data;

	f->done++;
	f->code = code;
	(void)snprintf(f->reason, sizeof(f->reason), "%s", reason ? reason : "");
}

static const struct boot_fetch_ops ops = {.request = on_request, .done = on_done};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct kg_err err;

	assert_non_null(f);
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/kgrid-fetch-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(cache_init(f->dir, &err), 0);
	artifact_make(&f->a);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	boot_fetch_free(f->fetch);
	artifact_free(&f->a);
	assert_int_equal(kg_remove_tree(f->dir, NULL), 0);
	free(f);
	return 0;
}

static void begin(struct fixture *f, const char *module)
{
	char *names[] = {(char *)(uintptr_t)module};
	struct kg_texts modules = {names, 1};

	boot_fetch_free(f->fetch);
	f->asked = false;
	f->done = 0;
	f->fetch = boot_fetch_new(f->dir, f->a.blobs[0].digest, module ? &modules : NULL, &ops, f);
	assert_non_null(f->fetch);
	boot_fetch_resume(f->fetch);
}

/* Answers the request as a coordinator would; false when there is none. */
static bool answer(struct fixture *f)
{
	const struct artifact_blob *b;
	uint64_t offset = f->offset;
	size_t len;

	if (!f->asked)
		return false;
	f->asked = false;
	b = artifact_find(&f->a, f->digest);
	assert_non_null(b);
	len = b->len - (size_t)offset;
	if (len > BOOT_CHUNK_BYTES)
		len = BOOT_CHUNK_BYTES;
	f->sent_bytes += len;
	boot_fetch_chunk(f->fetch, b->digest, offset, b->len, b->bytes + offset, len);
	return true;
}

static void test_image_and_needed_modules_are_fetched(void **state)
{
	struct fixture *f = *state;
	struct boot_artifact got;
	char path[CACHE_PATH_SIZE], digest[KG_SHA256_HEX_SIZE];

	begin(f, "b");
	while (answer(f))
		;
	assert_int_equal(f->done, 1);
	assert_int_equal(f->code, 0);
	boot_fetch_artifact(f->fetch, &got);
	assert_int_equal(got.modules->n, 2);
	assert_string_equal(got.modules->items[0], "kernel/a.ko");
	assert_string_equal(got.modules->items[1], "kernel/net/b.ko");
	cache_blob_path(f->dir, boot_manifest_find(got.manifest, "vmlinuz")->digest, false, path);
	assert_int_equal(kg_sha256_file(path, digest, NULL), 0);
	assert_string_equal(digest, boot_manifest_find(got.manifest, "vmlinuz")->digest);
}

static void test_cached_kernel_needs_no_request(void **state)
{
	struct fixture *f = *state;

	begin(f, "b");
	while (answer(f))
		;
	f->requests = 0;
	begin(f, "b");
	assert_int_equal(f->done, 1);
	assert_int_equal(f->requests, 0);
}

static void test_without_overlay_only_manifest_and_image_come(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL);
	while (answer(f))
		;
	assert_int_equal(f->code, 0);
	assert_int_equal(f->sent_bytes, f->a.blobs[0].len + 600000);
}

static void test_broken_connection_goes_on_where_it_was(void **state)
{
	struct fixture *f = *state;
	uint64_t whole;
	size_t i, total = 0;

	for (i = 0; i < f->a.n; i++)
		total += f->a.blobs[i].len;
	whole = total;
	begin(f, "b");
	do {
		f->asked = false; /* the answer is lost with the connection */
		boot_fetch_resume(f->fetch);
	} while (answer(f));
	assert_int_equal(f->done, 1);
	assert_int_equal(f->code, 0);
	assert_int_equal(f->sent_bytes, whole); /* nothing twice */
}

static void test_part_file_survives_a_restart(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL);
	assert_true(answer(f)); /* manifest */
	assert_true(answer(f)); /* first chunk of the image */
	begin(f, NULL);
	assert_true(f->asked);
	assert_int_equal(f->offset, BOOT_CHUNK_BYTES);
	while (answer(f))
		;
	assert_int_equal(f->code, 0);
}

static void test_damaged_part_file_is_fetched_anew(void **state)
{
	struct fixture *f = *state;
	char path[CACHE_PATH_SIZE];
	FILE *file;

	begin(f, NULL);
	assert_true(answer(f));
	assert_true(answer(f));
	cache_blob_path(f->dir, f->a.blobs[f->a.n - 1].digest, true, path);
	file = fopen(path, "r+");
	assert_non_null(file);
	assert_int_equal(fputc('!', file), '!');
	assert_int_equal(fclose(file), 0);
	begin(f, NULL);
	while (answer(f))
		;
	assert_int_equal(f->done, 1);
	assert_int_equal(f->code, 0);
}

static void test_wrong_content_twice_is_given_up(void **state)
{
	struct fixture *f = *state;

	f->a.blobs[f->a.n - 1].bytes[5] ^= 1;
	begin(f, NULL);
	while (answer(f))
		;
	assert_int_equal(f->done, 1);
	assert_int_equal(f->code, KG_ECORRUPT);
	assert_non_null(strstr(f->reason, "another content"));
}

static void test_refusal_and_other_sizes_end_the_fetch(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL);
	boot_fetch_refused(f->fetch, KG_ENOTFOUND, "no such blob");
	assert_int_equal(f->code, KG_ENOTFOUND);
	assert_non_null(strstr(f->reason, "no such blob"));

	begin(f, NULL);
	assert_true(answer(f));
	assert_true(f->asked);
	boot_fetch_chunk(f->fetch, f->digest, 0, 599999, (const uint8_t *)"x", 1);
	assert_int_equal(f->done, 1);
	assert_int_equal(f->code, KG_EPROTO);
}

static void test_unasked_chunks_are_ignored(void **state)
{
	struct fixture *f = *state;

	begin(f, NULL);
	boot_fetch_chunk(f->fetch, f->a.blobs[3].digest, 0, 10, (const uint8_t *)"0123456789", 10);
	boot_fetch_chunk(f->fetch, f->digest, 7, 10, (const uint8_t *)"789", 3);
	assert_int_equal(f->done, 0);
	while (answer(f))
		;
	assert_int_equal(f->code, 0);
}

static void test_module_the_kernel_lacks_is_named(void **state)
{
	struct fixture *f = *state;

	begin(f, "nosuch");
	while (answer(f))
		;
	assert_int_equal(f->done, 1);
	assert_int_equal(f->code, KG_ENOTFOUND);
	assert_non_null(strstr(f->reason, "nosuch"));
}

static void put(const char *path, size_t len, time_t used)
{
	struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};
	char *bytes = calloc(1, len);

	assert_non_null(bytes);
	assert_int_equal(kg_file_replace(path, bytes, len, 0600, NULL), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	free(bytes);
}

static void test_least_recently_used_files_go_first(void **state)
{
	struct fixture *f = *state;
	char path[3][CACHE_PATH_SIZE];
	struct kg_err err;

	cache_initrd_path(f->dir, "old", path[0]);
	cache_initrd_path(f->dir, "newer", path[1]);
	cache_initrd_path(f->dir, "in-use", path[2]);
	put(path[0], 100000, 1000);
	put(path[1], 100000, 2000);
	put(path[2], 100000, 3000);
	assert_int_equal(cache_trim(f->dir, 250000, 3000, &err), 0);
	assert_int_equal(access(path[0], F_OK), -1);
	assert_int_equal(access(path[1], F_OK), 0);
	assert_true(cache_use(path[1]));
	assert_int_equal(cache_trim(f->dir, 0, 3000, &err), 0); /* both were used since */
	assert_int_equal(access(path[1], F_OK), 0);
	assert_int_equal(access(path[2], F_OK), 0);
	assert_false(cache_use(path[0]));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_image_and_needed_modules_are_fetched),
		T(test_cached_kernel_needs_no_request),
		T(test_without_overlay_only_manifest_and_image_come),
		T(test_broken_connection_goes_on_where_it_was),
		T(test_part_file_survives_a_restart),
		T(test_damaged_part_file_is_fetched_anew),
		T(test_wrong_content_twice_is_given_up),
		T(test_refusal_and_other_sizes_end_the_fetch),
		T(test_unasked_chunks_are_ignored),
		T(test_module_the_kernel_lacks_is_named),
		T(test_least_recently_used_files_go_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
